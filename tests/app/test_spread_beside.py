"""Original beside synthetic for any column or pair after a run: as a picture, as a table, at every size."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox

from app.frame.window import Window
from app.screens.release.spread_beside import SpreadBeside
from app.theme import theme
from app.work.releasing import Watch, release
from tests.app.fitting import faults
from tests.app.walking import example_plan, settle

SYNTHETIC = ("datasets.imputation", "datasets.marginals", "datasets.network", "datasets.seedbased")
SIZES = ((1366, 768), (911, 512))


@cache
def _released(method_id: str) -> tuple[Any, Any]:
    """Release the example of a method once for all tests here."""
    folder = Path(tempfile.mkdtemp(prefix="custos-test-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    plan = example_plan(method_id, folder)
    return plan, release(plan, folder / "out", watch=Watch(), ledger_path=folder / "ledger.sqlite")


def made(window: Window, qtbot: Any, method_id: str) -> SpreadBeside:
    """Show the release of the example of a method and return the card."""
    plan, outcome = _released(method_id)
    assert outcome.error is None, outcome.error
    window.study.open_plan(plan)
    window.study.store("bundle", outcome, window.study.plan)
    window.go("release")
    settle(qtbot, window, timeout=60_000)
    window.page("release").open_further.click()
    return window.page("release").spread


def choose(card: SpreadBeside, name: str, wanted: str) -> None:
    field = card.findChild(QComboBox, f"spread-{name}")
    assert field.findText(wanted) >= 0
    field.setCurrentText(wanted)


@pytest.mark.parametrize(
    "method_id", [*SYNTHETIC[:-1], pytest.param(SYNTHETIC[-1], marks=pytest.mark.guarantee)]
)
def test_every_method_with_synthetic_rows_shows_them_beside_the_original(
    window: Window, qtbot: Any, method_id: str
) -> None:
    card = made(window, qtbot, method_id)
    assert card.isVisible()
    found = window.study.result("bundle").bundle.spread
    names = list(found.columns)
    assert card.chosen == (max(names, key=found.apart),)  # the one that is kept worst
    for name in names:
        choose(card, "column", name)
        original, synthetic = found.shares(name)
        assert original.sum() == pytest.approx(1) and synthetic.sum() == pytest.approx(1)
        assert card.table.model().rowCount() == int(((original > 0) | (synthetic > 0)).sum())
        assert name in card.picture.accessibleName() and "%" in card.picture.accessibleDescription()
        assert found.apart(name) < 0.9  # both tables are read alike


def test_a_pair_is_two_grids_and_a_table_with_the_largest_difference_first(
    window: Window, qtbot: Any
) -> None:
    card = made(window, qtbot, "datasets.imputation")
    found = window.study.result("bundle").bundle.spread
    choose(card, "column", "age")
    one_tall = card.picture.height()
    choose(card, "second", "time_in_hospital")
    assert card.chosen == ("age", "time_in_hospital") and card.picture.height() > one_tall
    qtbot.mouseClick(card.as_table, Qt.MouseButton.LeftButton)
    assert card.table.isVisible()
    rows = card.table.model().rows
    original, synthetic = found.shares("age", "time_in_hospital")
    assert rows[0][-1].lstrip("+−") == f"{100 * abs(synthetic - original).max():.2f}"
    differences = [float(row[-1].lstrip("+−")) for row in rows]
    assert differences == sorted(differences, reverse=True)
    choose(card, "second", "age")  # a column with itself is that column
    assert card.chosen == ("age",)
    folder = window.study.result("bundle").bundle.folder
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files and not any(b'"spread"' in path.read_bytes() for path in files)


def test_it_fits_at_every_size_light_and_dark(window: Window, qtbot: Any) -> None:
    card = made(window, qtbot, "datasets.imputation")
    card.as_table.setChecked(True)
    look = theme.mode
    try:
        seen = set()
        for mode in ("light", "dark"):
            theme.choose(mode)
            for size in SIZES:
                window.resize(*size)
                for name, second in (
                    ("time_in_hospital", "none"),
                    ("medical_specialty", "none"),
                    ("medical_specialty", "race"),
                ):
                    choose(card, "column", name)
                    choose(card, "second", second)
                    window.page("release").ensureWidgetVisible(card.picture, 0, 0)
                    qtbot.waitUntil(lambda: not [one for one in faults(window) if "spread" in one])
                    assert card.picture.width() <= card.width()
                    image = card.picture.grab().toImage()
                    places = [(x, y) for x in range(0, image.width(), 7) for y in range(0, image.height(), 7)]
                    colours = {image.pixel(*place) for place in places}
                    assert len(colours) > 3  # bars or shades and words are there
                    seen.add((mode, size, name, second, frozenset(colours)))
        assert len(seen) == 12
    finally:
        theme.choose(look)


@pytest.mark.guarantee
def test_other_rows_and_earlier_releases_have_no_such_card(window: Window, qtbot: Any) -> None:
    card = made(window, qtbot, "datasets.k_anonymity")
    assert not card.isVisible() and window.page("release").beside.isVisible()
