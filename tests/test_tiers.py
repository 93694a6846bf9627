"""Which tests run when: nothing is lost, nothing is held to a time, what changed is tried."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import conftest, tiers
from tests.mutants import MUTANTS

ROOT = Path(__file__).resolve().parents[1]
DEAR = "tests/engine/risk/test_real_tables.py::test_of_this"
CLOCKS = {"perf_counter", "monotonic", "process_time", "perf_counter_ns", "monotonic_ns", "process_time_ns"}
WATCHES = {"watchdog", "worst"}
DRAWN_FROM_TIMES = {"test_a_run_killed_at_any_moment"}  # kills at moments of a run


@pytest.fixture
def costs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Let costs be those of one invented file, and what passed be kept elsewhere."""
    file = tmp_path / "costs.json"
    file.write_text(
        json.dumps({DEAR.partition("::")[0]: {"test_of_this": 4 * tiers.COMMIT, "test_long": 100}})
    )
    monkeypatch.setattr(tiers, "INHERITED", ("test_long",))
    monkeypatch.setattr(tiers, "COSTS", file)
    monkeypatch.setattr(tiers, "STATE", tmp_path / "kept" / "parts.json")
    tiers.costs.cache_clear()
    yield file
    tiers.costs.cache_clear()


def test_a_test_runs_in_the_sets_that_it_fits(costs: Path) -> None:
    long = DEAR.replace("of_this", "long")

    def sets(test: str, *markers: str, changed: tuple[str, ...] = ()) -> list[str]:
        return [tier for tier in tiers.TIERS if tiers.chosen(test, markers, tier, changed)]

    assert sets("tests/test_new.py::test_that_nobody_measured") == ["commit", "all", "release"]
    assert sets(DEAR) == ["all", "release"]
    assert sets(DEAR, "hypothesis") == ["commit", "all", "release"]  # a quarter of the examples
    assert sets(DEAR, "at_once") == ["commit", "all", "release"]
    assert sets(DEAR, changed=("tests/engine/risk",)) == ["commit", "all", "release"]
    assert sets(DEAR, changed=("tests/engine/table",)) == ["all", "release"]
    assert sets(long) == sets(long, changed=("tests/engine/risk",)) == ["release"]
    assert sets(long, "guarantee") == ["all", "release"]
    assert sets("tests/test_a.py::test_b", "slow") == ["all", "release"]
    assert sets("tests/test_a.py::test_b", "before_release") == ["release"]
    assert sets("tests/test_a.py::test_b", "benchmark") == []


def test_a_long_test_that_nobody_measured_is_told(costs: Path) -> None:
    known = DEAR.replace("of_this", "long")
    assert tiers.never_measured([(known, 100), ("tests/test_new.py::test_a", tiers.ALL)]) == []
    (said,) = tiers.never_measured([(known, 100), *((f"tests/test_new.py::test_{n}", 2) for n in "ab")])
    assert "2 tests that took 4 s" in said


@pytest.mark.parametrize(("tier", "is_kept"), [("all", True), ("commit", False)])
def test_a_whole_run_writes_down_what_its_tests_took(
    tier: str, is_kept: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """So that what nobody measured, because it is new or was renamed, is noted by one command."""
    monkeypatch.setattr(tiers, "TOOK", tmp_path / "cache" / "took.tsv")
    asked = SimpleNamespace(tier=tier, changed="", costs=None)
    config = SimpleNamespace(option=asked, args=[str(ROOT / "tests")], add_cleanup=lambda _: None)
    config.getini = lambda _: [ROOT / "tests"]
    monkeypatch.setenv("XDG_STATE_HOME", "")  # is set anew, and put back afterwards
    conftest.pytest_configure(config)  # type: ignore[arg-type]
    assert asked.costs == (str(tiers.TOOK) if is_kept else None) and tiers.TOOK.exists() == is_kept


def test_what_all_share_is_counted_for_no_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else whichever test came first would be left out for what the next one makes in its place."""
    clock = iter([10.0, 14.0, 20.0, 21.0])  # what the process and those it waited for have taken
    monkeypatch.setattr(tiers.os, "times", lambda: (next(clock), 0.0, 0.0, 0.0, 0.0))
    monkeypatch.setattr(tiers, "_of_all", [0.0])
    before = tiers.spent()
    with tiers.made_for_all():
        pass  # from 14 to 20
    assert tiers.spent() - before == (21 - 10) - (20 - 14)


def test_workers_are_told_what_was_found_out_where_they_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else none would run the longer tests of a part that has changed, nor write down what they took."""
    monkeypatch.setenv("XDG_STATE_HOME", "")  # is set anew, and put back afterwards
    started = SimpleNamespace(
        option=SimpleNamespace(tier="all", changed="engine/ledger", costs="took.tsv"), stash={}
    )
    node = SimpleNamespace(config=started, workerinput={"testrunuid": "run"})
    conftest.pytest_configure_node(node)
    asked = SimpleNamespace(tier="all", changed=None, costs=None)  # what the command line of a worker says
    worker = SimpleNamespace(option=asked, workerinput=node.workerinput, add_cleanup=lambda _: None)
    conftest.pytest_configure(worker)  # type: ignore[arg-type]
    assert (asked.changed, asked.costs) == ("engine/ledger", "took.tsv")


def test_a_class_of_guarantees_that_is_missing_is_named() -> None:
    every = [place for places in tiers.CLASSES.values() for place in places]
    assert tiers.missing_classes(every) == []
    assert tiers.missing_classes(every[:-1]) == ["rules of the tree"]
    for place in every:  # that it names something
        assert (ROOT / place.partition("::")[0]).exists() or list(ROOT.glob(f"{place}*")), place
        file, _, name = place.partition("::")
        assert not name or f"def {name.rstrip('[')}" in (ROOT / file).read_text(encoding="utf-8"), place


def test_every_fault_made_by_hand_can_still_be_made() -> None:
    """Its text stands once in its file, and its tests are there: else it is tried against nothing."""
    for one in MUTANTS:
        assert (ROOT / one.file).read_text(encoding="utf-8").count(one.text) == 1, one.title
        assert one.tests and all((ROOT / test).exists() for test in one.tests), one.title
        assert one.tier in tiers.TIERS, one.title


def test_every_part_has_files_and_every_test_file_a_part() -> None:
    for part, folders in tiers.PARTS.items():
        assert all((ROOT / folder).is_dir() for folder in (*folders, part)), part
        assert tiers.files_of(part)
    alone = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("test_*.py")
        if not tiers.part_of(f"{path.relative_to(ROOT).as_posix()}::test")
    }
    assert alone == {"tests/test_layout.py", "tests/test_tiers.py"} | {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / "benchmarks").glob("test_*.py")
    }


@pytest.mark.before_release
def test_what_was_measured_is_still_there() -> None:
    """A test that was renamed is new, and would run on every commit whatever it takes."""
    measured = json.loads(tiers.COSTS.read_text(encoding="utf-8"))
    gone = {file: tests.keys() - tiers.still_there(file, tests).keys() for file, tests in measured.items()}
    assert not {
        file: names for file, names in gone.items() if names
    }  # measure again: tests/tiers.py says how


def test_what_changed_since_it_passed_is_tried(costs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = dict.fromkeys(tiers.PARTS, "1")
    monkeypatch.setattr(tiers, "uncommitted", list)
    assert tiers.changed_parts(now) == []  # as it was committed, and so as it passed there
    monkeypatch.setattr(tiers, "uncommitted", lambda: ["engine/risk/groups.py"])
    assert {"tests/engine/risk", "tests/engine", "tests/app"} <= set(tiers.changed_parts(now))
    assert "tests/engine/table" not in tiers.changed_parts(now)
    tiers.keep(now)
    assert tiers.changed_parts(now) == []  # passed since, committed or not
    assert tiers.changed_parts(now | {"tests/engine/table": "2"}) == ["tests/engine/table"]
    tiers.STATE.write_text("{")
    assert "tests/engine/risk" in tiers.changed_parts(now)


def test_another_byte_is_another_digest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tiers, "ROOT", tmp_path)
    monkeypatch.setattr(tiers, "PARTS", {"tests/a": ("engine/a",)})
    for folder in ("tests/a", "engine/a/deep"):
        (tmp_path / folder).mkdir(parents=True)
    found = set()
    for file, content in (("engine/a/deep/x.py", "1"), ("engine/a/deep/x.py", "2"), ("tests/a/y.json", "2")):
        (tmp_path / file).write_text(content)
        tiers.digest_of_file.cache_clear()
        found.add(tiers.digest_of("tests/a"))
    assert len(found) == 3
    tiers.digest_of_file.cache_clear()


def test_costs_are_written_as_they_are_read(costs: Path) -> None:
    new = "tests/test_layout.py::test_modules_import_what_is_listed_and_nothing_else[x::y]"
    tiers.write_costs([(new, 2.04), (DEAR, 0.01)])
    tiers.costs.cache_clear()
    assert tiers.costs() == {DEAR.replace("of_this", "long"): 100, new: 2.04}


# --- times ----------------------------------------------------------------------------------------


def reads_a_clock(node: ast.AST, names: set[str]) -> bool:
    """Say whether an expression reads a clock, or a name that was made from one."""
    return any(
        (isinstance(one, ast.Attribute) and one.attr in CLOCKS | WATCHES)
        or (isinstance(one, ast.Name) and one.id in CLOCKS | names)
        for one in ast.walk(node)
    )


def returns_a_time(function: ast.FunctionDef) -> bool:
    """Say whether a function gives back what it read of a clock."""
    given = [one.value for one in ast.walk(function) if isinstance(one, ast.Return) and one.value]
    return any(reads_a_clock(value, set()) for value in given)


def held_to_a_time(tree: ast.Module) -> list[str]:
    """Return the tests that assert something about a time that they measured and are not marked for it."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    measuring = {one.name for one in functions if not one.name.startswith("test_") and returns_a_time(one)}
    found = []
    for one in functions:
        marks = " ".join(map(ast.unparse, one.decorator_list))
        if not one.name.startswith("test_") or "benchmark" in marks or one.name in DRAWN_FROM_TIMES:
            continue
        names = set(measuring)
        for node in ast.walk(one):
            if isinstance(node, ast.Assign) and reads_a_clock(node.value, names):
                targets = [n for target in node.targets for n in ast.walk(target)]
                names |= {n.id for n in targets if isinstance(n, ast.Name)}
        held = [n for n in ast.walk(one) if isinstance(n, ast.Assert) and reads_a_clock(n.test, names)]
        if any("TIMED" not in marks or "not timed or" not in ast.unparse(n) for n in held):
            found.append(one.name)
    return found


@pytest.mark.guarantee
def test_only_what_is_marked_is_held_to_a_time() -> None:
    """A limit on times is missed now and then on a busy computer: such tests run alone, with --ratios."""
    found = [
        f"{path.relative_to(ROOT)}::{name}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if "benchmarks" not in path.parts
        and any(word in (source := path.read_text(encoding="utf-8")) for word in CLOCKS | WATCHES)
        for name in held_to_a_time(ast.parse(source))
    ]
    assert not found


def test_a_time_that_is_held_is_seen() -> None:
    source = "import time\ndef test_a():\n    s = time.perf_counter()\n    work()\n    {}"
    assert held_to_a_time(ast.parse(source.format("assert time.perf_counter() - s < 1"))) == ["test_a"]
    assert held_to_a_time(ast.parse(source.format("t = [s]\n    assert max(t) < 1"))) == ["test_a"]
    timed = "assert not timed or time.perf_counter() - s < 1"
    assert held_to_a_time(ast.parse(source.format(timed))) == ["test_a"]
    assert held_to_a_time(ast.parse(source.format(timed).replace("def", "@TIMED\ndef"))) == []
    assert held_to_a_time(ast.parse(source.format("print(time.perf_counter() - s)\n    assert work()"))) == []
