"""Files dropped on the window, by the events that a file manager causes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QWidget

from app.frame.window import Window
from app.state import files
from engine.methods.protocol import MAIN
from engine.release.plan import FileReference, Plan
from tests.app.walking import open_table, settle, walk_to, write_people


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write_people(tmp_path / "people.csv")


def drop(place: QWidget, *paths: Path) -> bool:
    """Drop files as a file manager does: on whatever lies under the pointer; say whether they were taken."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    data.setText("\n".join(str(path) for path in paths))
    ways = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    enter = QDragEnterEvent(QPoint(5, 5), *ways)
    QApplication.sendEvent(place, enter)
    if enter.isAccepted():
        QApplication.sendEvent(place, QDropEvent(QPointF(5, 5), *ways))
    return enter.isAccepted()


@pytest.mark.parametrize("step", ["start", "load"])
@pytest.mark.parametrize("where", ["page", "side", "panel", "footer"])
def test_a_file_may_be_dropped_anywhere_on_the_window(
    window: Window, qtbot: Any, people: Path, step: str, where: str
) -> None:
    window.go(step)
    place = window.page(step).choose if (step, where) == ("load", "page") else None
    if place is None:
        place = window.page(step).viewport() if where == "page" else getattr(window, where)
    assert drop(place, people)
    settle(qtbot, window)
    page = window.page("load")
    assert window.step == "load" and page.loaded.isVisible() and not page.drop.isVisible()
    assert "60 rows" in page.subtitle.plain() and "6 columns" in page.subtitle.plain()
    assert page.rows.model().rowCount() == 60


def test_another_table_dropped_on_a_field_is_read_and_not_written_there(
    window: Window, qtbot: Any, people: Path, tmp_path: Path
) -> None:
    open_table(qtbot, window, people)
    window.page("load").options.change.click()  # the fields for reading lie folded
    field = next(one for one in window.page("load").findChildren(QLineEdit) if one.isVisible())
    assert drop(field, write_people(tmp_path / "others.csv", people=20))
    settle(qtbot, window)
    assert field.text() == "" and "30 rows" in window.page("load").subtitle.plain()


def test_a_plan_is_dropped_a_plan_beside_a_table_and_later_steps_take_none(
    window: Window, qtbot: Any, people: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    files.save_plan(Plan(files={MAIN: FileReference(str(people))}, holding="Register"), plan)
    assert not drop(window, people, plan), "one plan at a time"
    window.go("load")
    assert not drop(window, people, plan) and window.study.table is None
    assert drop(window, plan)
    settle(qtbot, window)
    assert window.study.plan.holding == "Register"
    walk_to(qtbot, window, people, "risk")
    before = window.study.plan
    assert not drop(window, plan) and window.study.plan == before


def test_a_release_in_one_file_is_opened_at_what_verifies_it(
    released: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    """As a double click opens it; on the first screen and on Load a drop does the same."""
    window.go("report")
    report = window.page("report")
    file = tmp_path / f"stays{files.RELEASE}"
    assert report.findChild(QPushButton, "one-file").isEnabled()
    report._pack(file)
    settle(qtbot, window)
    assert file.is_file() and file.name in window.notice.words()
    for way in ("opened", "dropped"):
        window.go("start")
        if way == "opened":
            window.open_file(str(file))
        else:
            assert drop(window.page("start").viewport(), file)
        settle(qtbot, window)
        page = window.page("releases")
        assert window.step == "releases" and page.verify.answer.text().startswith("Yes.")
        assert file.name in page.verify.button.text()
    page.table.selectRow(0)
    assert file.name not in page.verify.button.text(), "another release is meant now"
    file.write_bytes(file.read_bytes()[:-1000])
    window.open_file(str(file))
    settle(qtbot, window)
    assert "not a release in one file" in window.notice.words()


def test_a_plan_is_saved_with_the_ending_that_systems_know_it_by(
    window: Window, qtbot: Any, people: Path, tmp_path: Path
) -> None:
    open_table(qtbot, window, people)
    place = tmp_path / f"mine{files.PLAN}"
    window.save_plan(str(place))
    assert Plan.read(place) == Plan.loads(place.read_text(encoding="utf-8"))
    window.study.open_plan(Plan())
    window.open_file(str(place))
    settle(qtbot, window)
    assert Path(window.study.plan.files[MAIN].path).name == people.name
