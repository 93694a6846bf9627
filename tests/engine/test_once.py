"""What is worked out once by several threads: nobody waits for ever, and everybody gets the same."""

from __future__ import annotations

import ast
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from engine.once import once

ROOT = Path(__file__).parents[2]
LONG = 10.0  # seconds: a thread that takes longer waits for another one


class Crossing:
    """Two properties, each of which asks another object of the class for the other one."""

    def __init__(self) -> None:
        self.other: Crossing | None = None
        self.met: Barrier | None = None

    def _meet(self) -> None:
        if self.met is not None:
            self.met.wait(LONG)

    @once
    def first(self) -> list[str]:
        self._meet()
        return ["first", *(self.other.second if self.other is not None else ())]

    @once
    def second(self) -> list[str]:
        self._meet()
        return ["second", *(self.other.first if self.other is not None else ())]


def together(*asked: Any) -> list[Any]:
    found: list[Any] = [None] * len(asked)

    def ask(at: int) -> None:
        found[at] = asked[at]()

    threads = [Thread(target=ask, args=(at,), daemon=True) for at in range(len(asked))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    return found


def test_properties_that_ask_for_each_other_from_two_threads_end() -> None:
    one, two, met = Crossing(), Crossing(), Barrier(2)
    one.other, two.other = Crossing(), Crossing()
    one.met = two.met = met
    assert together(lambda: one.first, lambda: two.second) == [["first", "second"], ["second", "first"]]


def test_who_asks_at_the_same_moment_gets_the_same_object() -> None:
    one, met = Crossing(), Barrier(2)
    one.met = met
    left, right = together(lambda: one.first, lambda: one.first)
    assert left is right is one.first and left == ["first"]


class More(Crossing):
    @once
    def first(self) -> list[str]:
        return [*super().first, "more"]


def test_what_a_class_adds_to_the_one_above_is_kept_whole() -> None:
    one = More()
    assert one.first == ["first", "more"] and one.first is one.first


@pytest.mark.guarantee
def test_nothing_is_worked_out_under_a_lock_that_a_class_shares() -> None:
    for path in sorted((*ROOT.glob("engine/**/*.py"), *ROOT.glob("app/**/*.py"))):
        source = path.read_text(encoding="utf-8")
        if path.name != "once.py" and "cached_property" in source:  # in a comment it may stand
            tree = ast.parse(source)
            names = {
                a.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for a in node.names
            }
            assert "cached_property" not in names, f"{path}: take engine.once, which holds no lock"
