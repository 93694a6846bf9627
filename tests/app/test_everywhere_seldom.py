"""The screens that few ways have: the checks of `test_everywhere`, each with what is found there in it."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from app.frame.window import Window
from app.state import flow
from tests.app import test_everywhere, test_everywhere_deciding
from tests.app.test_compare_page import at_compare, coarser
from tests.app.test_flow import Second
from tests.app.test_trial_card import KA, at_trial
from tests.app.test_visit_page import opened
from tests.app.walking import settle, walk_to, write_people

pytestmark = pytest.mark.guarantee


def terms(window: Window, qtbot: Any, folder: Path, patch: pytest.MonkeyPatch) -> None:
    at_trial(window, qtbot, KA, folder)


def compare(window: Window, qtbot: Any, folder: Path, patch: pytest.MonkeyPatch) -> None:
    at_compare(window, qtbot, coarser(folder, (3, 0.02)))
    settle(qtbot, window, timeout=60_000)


def visit(window: Window, qtbot: Any, folder: Path, patch: pytest.MonkeyPatch) -> None:
    opened(window, qtbot, "services.private_queries", folder)


def tables(window: Window, qtbot: Any, folder: Path, patch: pytest.MonkeyPatch) -> None:
    walk_to(qtbot, window, write_people(folder / "people.csv"), "method")
    patch.setattr("app.state.study._method", lambda name: Second)
    patch.setattr(type(window.study), "problems", lambda study: ())
    window.study.decide(method="a.test")
    window.go("tables")
    settle(qtbot, window)


CHECKS: tuple[Callable[..., None], ...] = (
    test_everywhere.test_every_control_has_a_name,
    test_everywhere.test_whatever_tab_stops_at_says_what_it_is,
    test_everywhere.test_every_control_is_reached_by_tab,
    test_everywhere.test_tab_goes_in_the_order_of_reading,
    test_everywhere.test_what_goes_on_is_reached_within_three_keys,
)
"""One after the other on a screen that is opened once: opening one takes longer than all of them."""
SELDOM: dict[str, Callable[..., None]] = {
    "terms": terms,
    "compare": compare,
    "visit": visit,
    "tables": tables,
}


@pytest.mark.parametrize("step", SELDOM)
def test_a_screen_that_few_ways_have_is_for_keys_and_ears(
    step: str, window: Window, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SELDOM[step](window, qtbot, tmp_path, monkeypatch)
    assert window.step == step, window.notice.words()
    given = {"step": step, "window": window, "qtbot": qtbot}
    for check in CHECKS:
        check(**{name: given[name] for name in signature(check).parameters})


def test_no_screen_is_left_out() -> None:
    seen = {*test_everywhere.STEPS, *test_everywhere_deciding.DECIDING, *SELDOM}
    assert seen == {*flow.STEPS, *flow.BESIDE}
