"""What was good in the window from the beginning: figures early, precedents, what stays here."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QLabel

from app import words
from app.frame.window import Window
from app.screens.risk import page as risk
from tests.app.walking import decide_columns, open_table, settle, write_people


def test_the_first_figure_of_risk_stands_while_the_rest_is_counted(
    window: Window, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, go_on, measure = threading.Event(), threading.Event(), risk.measure

    def slow(*given: Any, **more: Any) -> Any:
        reached.set()
        assert go_on.wait(30)
        return measure(*given, **more)

    monkeypatch.setattr(risk, "measure", slow)
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    decide_columns(qtbot, window)
    window.go("risk")
    try:
        qtbot.waitUntil(reached.is_set, timeout=20_000)
        page, sizes = window.page("risk"), window.study.result("group_sizes")
        assert window.runner.busy() and window.study.result("risk_today") is None
        assert page.alone.isVisible() and f"{min(sizes.sizes)} people" in page.alone.accessibleName()
        assert window.footer.next.isEnabled()
    finally:
        go_on.set()
    settle(qtbot, window)
    assert window.study.result("risk_today") is not None


def test_amounts_that_courts_gave_are_offered_with_where_they_come_from(
    at: Any, window: Window, qtbot: Any
) -> None:
    owed = at("budget").owed
    listed = {
        owed.anchor.itemData(place): owed.anchor.itemText(place) for place in range(owed.anchor.count())
    }
    assert len(owed.anchors) >= 4
    assert all(words.label(one.say("case")) in listed[one.name] for one in owed.anchors)
    wanted = next(one for one in owed.anchors if one.amount != window.study.plan.price.compensation)
    place = owed.anchor.findData(wanted.name)
    owed.anchor.setCurrentIndex(place)
    owed.anchor.activated.emit(place)
    settle(qtbot, window)
    assert window.study.plan.price.compensation == wanted.amount


def test_whatever_was_read_from_the_rows_says_that_it_stays_here(
    released: Any, window: Window, qtbot: Any
) -> None:
    window.go("release")
    settle(qtbot, window)
    page = window.page("release")
    page.open_further.click()
    settle(qtbot, window)
    said = words.say("app.release.pill.stays")
    for part, stays in ((page.left, False), (page.good, True), (page.stays, True)):
        assert part.isVisible()
        assert (said in [one.text() for one in part.findChildren(QLabel)]) == stays, part.objectName()
    assert page.inside.views and page.inside._stays and not page.views._stays, "and so does a saved picture"
