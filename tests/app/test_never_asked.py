"""What was taken as sensitive or other without asking is outside every count of risk, and it is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QAbstractButton

from app.frame.window import Window
from engine.table.schema import Role
from tests.app.hands import Hands
from tests.app.walking import decide_columns, open_table, settle, write_people


def test_columns_and_risk_say_it_and_lead_there(window: Window, qtbot: Any, tmp_path: Path) -> None:
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    decide_columns(qtbot, window)
    schema, asked = window.study.plan.schema, window.study.result("suggestions")
    silent = [one.column for one in asked if not one.asked]
    assert len(silent) == 2 and {schema.column(name).role for name in silent} <= {Role.SENSITIVE, Role.OTHER}
    page = window.page("columns")
    assert page.outside.isVisible() and page.outside.plain().startswith("2 columns were not asked")
    hands = Hands(qtbot, window)
    hands.next("risk")
    risk = window.page("risk")
    assert risk.outside.isVisible() and risk.outside.plain() == page.outside.plain()
    assert not set(silent) & set(window.study.result("group_sizes").columns)
    hands.click("outside-look")
    assert window.step == "columns"
    assert [line.name for line in page.table.columns.lines] == silent
    hands.answer(silent[0], Role.IDENTIFYING)
    assert silent[1] in page.outside.plain(), "one that is left is named"
    hands.answer(silent[1], Role.IDENTIFYING)
    assert page.outside.isHidden() and page.outside.plain() == ""
    window.go("risk")
    settle(qtbot, window)
    assert set(silent) <= set(window.study.result("group_sizes").columns) and risk.outside.isHidden()
    assert not risk.findChild(QAbstractButton, "outside-look").isVisible()
