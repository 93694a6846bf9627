"""The screens from method to releases: the checks of `test_everywhere`, with a real release behind them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.frame.window import Window
from app.work.releasing import Watch
from app.work.releasing import release as make_release
from engine.release.plan import FileReference, Plan
from tests.app.test_everywhere import (  # noqa: F401
    test_every_control_has_a_name,
    test_every_control_is_reached_by_tab,
    test_it_fits_and_no_text_is_cut,
    test_tab_goes_in_the_order_of_reading,
    test_what_goes_on_is_reached_within_three_keys,
    test_whatever_tab_stops_at_says_what_it_is,
)
from tests.app.walking import settle

SAMPLE = Path(__file__).parents[2] / "resources" / "sample"
DECIDING = ("method", "budget", "preview", "release", "report", "releases", "explore", "sites")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, Path, Any]:
    """Make one small release for all screens of this file."""
    folder = tmp_path_factory.mktemp("kept")
    table = folder / "diabetes_encounters.csv"
    shutil.copy(SAMPLE / table.name, table)
    plan = Plan.read(SAMPLE / "plan.json")
    plan = replace(
        plan,
        files={"people": FileReference(str(table), plan.files["people"].options)},
        parameters={"columns": ["gender"], "extra_cells": "left_out"},
    )
    ledger = folder / "ledger.sqlite"
    return plan, ledger, make_release(plan, folder / "out", watch=Watch(), ledger_path=ledger)


@pytest.fixture(params=DECIDING)
def step(
    request: pytest.FixtureRequest, kept: tuple[Plan, Path, Any], window: Window, qtbot: Any, tmp_path: Path
) -> str:
    """Open every screen with a table, and where it belongs a release, behind it."""
    plan, ledger, outcome = kept
    wanted: str = request.param
    window.study.ledger_path = tmp_path / "ledger.sqlite"
    shutil.copy(ledger, window.study.ledger_path)
    shutil.copytree(f"{ledger}-keys", f"{window.study.ledger_path}-keys")
    window.study.open_plan(plan)
    for one in ("load", "risk", "preview"):
        window.go(one)
        settle(qtbot, window)
    if wanted in ("release", "report", "releases"):
        window.study.store("bundle", outcome, plan)
    window.go(wanted)
    settle(qtbot, window)
    page = window.page(wanted)
    if wanted == "budget":
        page.further.unfold()
        page.further.band.setChecked(True)
    if wanted == "release":
        page.open_further.click()
        qtbot.waitUntil(lambda: not page.views._waiting and not page.inside._waiting)
    if wanted == "releases":
        page.table.selectRow(0)
    if wanted == "sites":
        page.training.click()
    settle(qtbot, window)
    assert window.step == wanted, window.notice.words()
    return wanted
