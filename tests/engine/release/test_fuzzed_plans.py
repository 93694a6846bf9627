"""No plan that is checked without a problem is refused or lost later for a reason that needs no row."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from engine import texts
from engine.errors import InputRefused
from engine.evidence import dumps
from engine.ledger import Ledger
from engine.methods.protocol import MAIN
from engine.privacy.noise import Noise
from engine.release import promised, reading
from engine.release.check import check, check_and_foresee
from engine.release.make import make
from engine.release.plan import Plan
from engine.release.preview import preview_json
from engine.release.run import run
from engine.views import to_json
from tests.engine.adversarial.requests import ROWS, table
from tests.engine.release.plans import a_plan

FEW, MANY = 200, 6_000
IN_FILES = (
    *("reading.column_missing", "reading.not_there", "reading.not_readable"),
    *("table.not_found", "table.unreadable", "table.damaged", "table.empty_file", "table.folder"),
    *("table.no_such_column", "table.unknown_format", "table.excel_damaged"),
    *("preparation.list_without_keys", "preparation.list_changed", "preparation.column_exists"),
)


def read(text: str) -> Plan | None:
    """Return the plan of a file, or None where the file is refused, in words."""
    try:
        return Plan.loads(text)
    except InputRefused as refused:
        assert all(texts.explain(refused))
        return None


def is_accepted(plan: Plan) -> bool:
    """Say whether a check finds nothing wrong; what it says otherwise is in words."""
    found = preview_json(plan, None)
    assert all(problem["what"] and problem["do"] for problem in found["problems"])
    return not found["problems"]


def run_without_rows(plan: Plan, folder: Path) -> None:
    """Do what a run does with a table that has the columns, but no row: all but ledger and reports."""
    design = check(plan)
    check_and_foresee(plan, design)
    held = reading.read(plan, base=folder)
    empty = replace(held, table=held.table.with_rows(held.table.rows().head(0)), options=held.options)
    promised.refuse_other(plan, design, {MAIN: empty})
    draft = make(design, {MAIN: empty}, Noise(on_first_draw=lambda: None), folder=folder)
    dumps(to_json([draft.release.views, draft.release.notes]))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    (tmp_path / "objected.csv").write_text("3\n")
    (tmp_path / "words.csv").write_text("1,one\n2,two\n")
    return tmp_path


def run_whole(plan: Plan, place: Path, number: int) -> None:
    """Run a plan from its file to its bundle: refused for its files alone, and never lost."""
    ledger = Ledger(place / f"ledger-{number}.sqlite")
    try:
        run(plan, out=place / f"bundle-{number}", ledger=ledger, base=place)
    except InputRefused as refused:
        assert refused.code in IN_FILES, refused.code
        assert not ledger.holdings()
        return
    assert [entry.state for entry in ledger.entries()] == ["complete"]


def fuzz(place: Path, seed: int, count: int, *, whole: int) -> Counter[str]:
    """Check random plans; run the accepted ones without rows, and one in ``whole`` of them from the file."""
    draw, found = random.Random(seed), Counter[str]()
    for _ in range(count):
        text = a_plan(draw)
        plan = read(text)
        if plan is None:
            found["no plan"] += 1
        elif not is_accepted(plan):
            found["refused"] += 1
        else:
            found["accepted"] += 1
            try:
                run_without_rows(plan, place)
            except InputRefused as refused:
                assert refused.code in IN_FILES, (refused.code, text)
            if found["accepted"] % whole == 0:
                found["run"] += 1
                run_whole(plan, place, found["run"])
    return found


def test_what_is_accepted_can_be_run(place: Path) -> None:
    found = fuzz(place, 1, FEW, whole=20)
    assert found["accepted"] > FEW / 10 and found["refused"] > FEW / 10 and found["run"] > 1


@pytest.mark.slow
def test_what_is_accepted_can_be_run_of_very_many(place: Path) -> None:
    found = fuzz(place, 2, MANY, whole=200)
    print(dict(found))
    assert found["accepted"] > MANY / 10 and found["refused"] > MANY / 10
