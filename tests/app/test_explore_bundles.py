"""Released bundles put together in the window: added, chosen from, answered, saved, and refused in words."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QAbstractButton, QLineEdit

from app import words
from app.frame.window import Window
from engine.report.embedded import embedded_evidence
from tests.app.fitting import faults
from tests.app.walking import settle, write
from tests.site_releases import COUNTS, MEANS, NAMES, release

SITES = NAMES[:3]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Release means of three sites, side by side in one folder, and counts of one beside."""
    folder = tmp_path_factory.mktemp("sites")
    for place, name in enumerate(SITES):
        release(folder / "means" / name, MEANS, name=name, seed=place)
    release(folder / "counts", COUNTS, name="Isle", seed=7)
    return folder


@pytest.fixture
def page(window: Window, qtbot: Any) -> Any:
    window.go("explore")
    settle(qtbot, window)
    found = window.page("explore")
    found.findChild(QAbstractButton, "analysis-meta_analysis").click()
    return found


def add(page: Any, window: Window, qtbot: Any, folder: Path) -> None:
    page.bundles.wanted.emit(str(folder))
    settle(qtbot, window, timeout=60_000)


def compute(window: Window, qtbot: Any) -> None:
    window.footer.next.click()
    settle(qtbot, window, timeout=60_000)


@pytest.mark.guarantee
def test_bundles_are_added_chosen_from_answered_and_saved(
    page: Any, window: Window, qtbot: Any, released: Path, tmp_path: Path
) -> None:
    add(page, window, qtbot, released / "means")
    assert [one.name for one in page.read] == sorted(SITES)
    shown = [page.bundles.findChild(QAbstractButton, f"remove-bundle-{place}") for place in range(3)]
    assert all(one.isVisible() for one in shown)
    group = page.bundles.group
    assert [group.itemData(place) for place in range(group.count())] == ["sex = f", "sex = m"]
    group.setCurrentIndex(1)
    group.activated.emit(1)
    compute(window, qtbot)
    asked = window.notice.words()
    assert page.answer is None and words.say("errors.analyses.deviation_wanted.what") in asked
    write(qtbot, page.findChild(QLineEdit, "deviation"), "6")
    assert not faults(window)
    compute(window, qtbot)
    assert page.answer is not None and page.answer.figures["figure"]["group"] == "sex = m"
    assert not page.answer.stays and not page.stays.isVisible()
    assert [one["name"] for one in page.answer.figures["sites"]] == sorted(SITES)
    page.save_as(str(tmp_path / "answer.pdf"))
    settle(qtbot, window, timeout=60_000)
    kept = json.loads(embedded_evidence((tmp_path / "answer.pdf").read_bytes()))
    assert kept["figures"]["random"] == page.answer.figures["random"]
    assert str(released) not in json.dumps(kept), "no place of this computer"
    page.save_as(str(tmp_path / "answer.csv"))
    settle(qtbot, window)
    rows = list(csv.reader((tmp_path / "answer.csv").read_text("utf-8").splitlines()))
    assert [one[0] for one in rows[1:]] == sorted(SITES)
    page.bundles.findChild(QAbstractButton, "remove-bundle-0").click()
    assert page.answer is None and len(page.read) == 2
    compute(window, qtbot)
    assert page.answer is None and window.notice.words()


def test_what_is_damaged_or_there_already_is_not_added(
    page: Any, window: Window, qtbot: Any, released: Path, tmp_path: Path
) -> None:
    shutil.copytree(next((released / "means" / SITES[0]).glob(f"{SITES[0]}-*/release")), tmp_path / "damaged")
    (tmp_path / "damaged" / "means.csv").write_text("sex,mean\n")
    add(page, window, qtbot, tmp_path / "damaged")
    assert page.read == () and "damaged" in window.notice.words()
    add(page, window, qtbot, released / "means")
    add(page, window, qtbot, released / "means" / SITES[0])
    assert len(page.read) == 3 and window.notice.words()


def test_typed_numbers_stay_a_way_in(page: Any, window: Window, qtbot: Any, released: Path) -> None:
    assert "sites" in page.form.lines and "deviation" not in page.form.lines
    add(page, window, qtbot, released / "counts")
    assert not {"sites", "deviation"} & set(page.form.lines) and "told" in page.form.lines
    assert page.bundles.figure.count() == 4
    page.bundles.findChild(QAbstractButton, "remove-bundle-0").click()
    assert "sites" in page.form.lines and not page.bundles.which.isVisible()
    page.fill.click()
    compute(window, qtbot)
    assert page.answer is not None and "bundles" not in page.answer.figures


@pytest.mark.parametrize("language", ["de", "fr"])
def test_in_german_and_french(window: Window, qtbot: Any, released: Path, language: str) -> None:
    window.use_language(language)
    try:
        window.go("explore")
        settle(qtbot, window)
        page = window.page("explore")
        page.findChild(QAbstractButton, "analysis-meta_analysis").click()
        add(page, window, qtbot, released / "means")
        assert len(page.read) == 3 and not faults(window)
    finally:
        window.use_language("en")
