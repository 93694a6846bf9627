"""Hands that count: every click and every key from a file to its bundle."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLineEdit, QWidget

from app.frame.window import Window
from app.parts.form.column_picker import PickList
from app.screens.columns.column_table import FIELDS
from engine.table.schema import Role
from tests.app.walking import settle

PILLS = FIELDS.index("role")


def place_of(view: PickList, column: str) -> QPoint:
    """Return where a column stands in a list, brought into view."""
    place = next(at for at, one in enumerate(view.picks.lines) if one.name == column)
    view.scrollTo(view.picks.index(place, 0))
    return view.visualRect(view.picks.index(place, 0)).center()


class Hands:
    """What a person does with mouse and keyboard, and how much of it."""

    def __init__(self, qtbot: Any, window: Window) -> None:
        self.qtbot, self.window = qtbot, window
        self.clicks = self.keys = 0

    def part(self, kind: type, name: str) -> Any:
        """Find what can be seen by its name."""
        found = [one for one in self.window.findChildren(kind, name) if one.isVisible()]
        assert len(found) == 1, (name, len(found), self.window.step, self.window.notice.words())
        return found[0]

    def click(self, widget: QWidget | str) -> None:
        """Click on something, by its name or itself: on the mark of a box or circle, else in the middle."""
        one = self.part(QAbstractButton, widget) if isinstance(widget, str) else widget
        assert one.isVisible() and one.isEnabled(), one.objectName()
        place = QPoint(min(14, one.width() // 2), one.height() // 2)
        self.qtbot.mouseClick(one, Qt.MouseButton.LeftButton, pos=place)
        self.clicks += 1
        settle(self.qtbot, self.window)

    def type(self, name: str, text: str) -> None:
        """Reach a field with Tab, type, and leave it with Enter."""
        field = self.part(QLineEdit, name)
        field.setFocus(Qt.FocusReason.TabFocusReason)
        field.selectAll()
        self.qtbot.keyClicks(field, text)
        self.qtbot.keyClick(field, Qt.Key.Key_Return)
        self.keys += len(text) + 2
        settle(self.qtbot, self.window)

    def key(
        self, key: Qt.Key, widget: QWidget, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
    ) -> None:
        """Press one key; one that is held meanwhile counts, too."""
        self.qtbot.keyClick(widget, key, held)
        self.keys += 1 + (held != Qt.KeyboardModifier.NoModifier)
        settle(self.qtbot, self.window)

    def tick(self, name: str, *columns: str) -> None:
        """Tick columns in a list by one click each."""
        view = self.part(PickList, name)
        for column in columns:
            self.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place_of(view, column))
            self.clicks += 1
            settle(self.qtbot, self.window)

    def tick_range(self, name: str, first: str, last: str) -> None:
        """Tick columns that stand together: a click on the first, one with Shift on the last."""
        self.tick(name, first)
        view, held = self.part(PickList, name), Qt.KeyboardModifier.ShiftModifier
        place = place_of(view, last)
        self.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, held, place)
        self.clicks += 1
        settle(self.qtbot, self.window)

    def answer(self, name: str, role: Role) -> None:
        """Press the pill of a role in the line of a column."""
        table = self.window.page("columns").table
        row = next(at for at, line in enumerate(table.columns.lines) if line.name == name)
        index = table.columns.index(row, PILLS)
        table.scrollTo(index)
        place = dict(table.pills_of(index))[role].center().toPoint()
        self.qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        self.clicks += 1
        settle(self.qtbot, self.window)

    def pick(self, name: str, data: object) -> None:
        """Open a list and choose an entry: two clicks."""
        field = self.part(QComboBox, name)
        place = field.findData(data)
        assert place >= 0, (name, data, [field.itemData(one) for one in range(field.count())])
        field.setCurrentIndex(place)
        field.activated.emit(place)
        self.clicks += 2
        settle(self.qtbot, self.window)

    def pick_by_keys(self, name: str, text: str) -> None:
        """Reach a list with Tab, open it with F4, type the beginning of an entry, press Enter."""
        field = self.part(QComboBox, name)
        field.setFocus(Qt.FocusReason.TabFocusReason)
        self.qtbot.keyClick(field, Qt.Key.Key_F4)
        view = field.view()
        self.qtbot.waitUntil(view.isVisible)
        # What follows sooner would go on with the word before.
        self.qtbot.wait(QApplication.keyboardInputInterval() + 50)
        self.qtbot.keyClicks(view, text)
        self.qtbot.keyClick(view, Qt.Key.Key_Return)
        self.keys += len(text) + 3
        settle(self.qtbot, self.window)

    def next(self, to: str) -> None:
        """Press the button at the lower right and arrive."""
        self.click(self.window.footer.findChild(QAbstractButton, "next"))
        assert self.window.step == to, (self.window.step, self.window.notice.words())
