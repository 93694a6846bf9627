"""What of a window's text does not fit: the room that each label, button and field needs and what it has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QFontMetrics, Qt, QTextDocument, QTextOption
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QStyle,
    QStyleOptionComboBox,
    QStyleOptionFrame,
    QTableView,
    QTextEdit,
    QToolButton,
    QWidget,
)

from app.theme import text_font

FIELD_MARGIN = 2  # pixels that Qt leaves on either side within a field
HEADING_PADDING = 12
CLEAR = 24  # the button that empties a field


def faults(window: QWidget) -> list[str]:
    """Return every text in view that is cut, and every part that sticks out of what it lies in."""
    found = []
    for part in in_view(window):
        what = sticks_out(part) or cut(part)
        if what:
            found.append(f"{_path(part, window)}: {what}")
    return found


def in_view(window: QWidget) -> Iterator[QWidget]:
    """Return all visible parts but the insides of tables and text fields, which scroll, and Qt's own."""
    for part in window.findChildren(QWidget):
        if not part.isVisible() or part.isWindow() or part.objectName().startswith("qt_"):
            continue
        if any(isinstance(one, QAbstractItemView | QPlainTextEdit | QTextEdit) for one in _around(part)):
            continue
        if any(isinstance(one, QLineEdit | QComboBox) for one in _around(part)):
            continue
        yield part


def sticks_out(part: QWidget) -> str:
    """Say how far a part lies outside of its parent; below and above only where nothing scrolls there."""
    parent = part.parentWidget()
    if parent is None:
        return ""
    place, area = part.geometry(), parent.parentWidget()
    left, right = -place.left(), place.right() + 1 - parent.width()
    if left > 0 or right > 0:
        return f"sticks out by {left} left, {right} right"
    if isinstance(area, QAbstractScrollArea) and parent is area.viewport():
        return ""
    above, below = -place.top(), place.bottom() + 1 - parent.height()
    return f"sticks out by {above} above, {below} below" if above > 0 or below > 0 else ""


def cut(part: QWidget) -> str:
    """Say what of a part's text does not fit; a text that its tooltip has in full may be shortened."""
    if isinstance(part, QLabel):
        return _label(part)
    if isinstance(part, QAbstractButton):
        return _button(part)
    if isinstance(part, QComboBox):
        option = QStyleOptionComboBox()
        part.initStyleOption(option)
        room = part.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, part
        )
        return _line(part, part.currentText(), room.width())
    if isinstance(part, QLineEdit):
        return _line(part, part.text() or part.placeholderText(), _room(part))
    if isinstance(part, QTableView):
        return "; ".join(_headings(part))
    return ""


def _label(label: QLabel) -> str:
    if not label.text() or _is_told(label, label.text()):
        return ""
    if not label.wordWrap():
        needed = QLabel.sizeHint(label)
        return _too_small(label, needed, label.text())
    inside = label.contentsRect().adjusted(label.margin(), label.margin(), -label.margin(), -label.margin())
    rich = label.textFormat() == Qt.TextFormat.RichText or (
        label.textFormat() == Qt.TextFormat.AutoText and Qt.mightBeRichText(label.text())
    )
    document = QTextDocument()
    document.setDocumentMargin(0)
    document.setDefaultFont(label.font())
    option = QTextOption(document.defaultTextOption())
    option.setWrapMode(QTextOption.WrapMode.WordWrap)
    document.setDefaultTextOption(option)
    if rich:
        document.setHtml(label.text())
    else:
        document.setPlainText(label.text())
    document.setTextWidth(inside.width())
    if document.idealWidth() > inside.width() + 1:
        return f"a word needs {document.idealWidth():.0f}, has {inside.width()}: {_short(label.text())}"
    needed = QLabel.heightForWidth(label, label.width())  # asked of Qt, not of what a label remembers
    if label.height() < needed - 1:
        return f"needs {needed} in height, has {label.height()}: {_short(label.text())}"
    return ""


def _button(button: QAbstractButton) -> str:
    if not button.text() or _is_told(button, button.text()):
        return ""
    if not isinstance(button, QPushButton | QCheckBox | QRadioButton | QToolButton):
        return ""  # drawn by itself
    if isinstance(button, QToolButton) and button.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly:
        return "" if not button.icon().isNull() else _too_small(button, button.sizeHint(), button.text())
    return _too_small(button, type(button).sizeHint(button), button.text())


def _too_small(part: QWidget, needed: QSize, text: str) -> str:
    if part.width() < needed.width() - 1 or part.height() < needed.height() - 1:
        has = f"{part.width()} × {part.height()}"
        return f"needs {needed.width()} × {needed.height()}, has {has}: {_short(text)}"
    return ""


def _line(field: QWidget, text: str, room: int) -> str:
    needed = field.fontMetrics().horizontalAdvance(text)
    if needed <= room or _is_told(field, text):
        return ""
    return f"needs {needed}, has {room}: {_short(text)}"


def _room(field: QLineEdit) -> int:
    """Return the width for the text of a field."""
    option = QStyleOptionFrame()
    field.initStyleOption(option)
    inside = field.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, field)
    margins = field.textMargins()
    width = inside.width() - margins.left() - margins.right() - 2 * FIELD_MARGIN
    buttons = [one for one in field.findChildren(QToolButton) if one.isVisible()]
    return width - CLEAR * len(buttons)


def _headings(table: QTableView) -> list[str]:
    """Say which headings of a table are cut and have no tooltip."""
    header, model = table.horizontalHeader(), table.model()
    if model is None or not header.isVisible():
        return []
    found = []
    for place in range(model.columnCount()):
        text = model.headerData(place, Qt.Orientation.Horizontal)
        told = model.headerData(place, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
        if table.isColumnHidden(place) or not isinstance(text, str) or not text or told:
            continue
        align = model.headerData(place, Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole)
        wraps = align is not None and bool(int(align) & int(Qt.TextFlag.TextWordWrap))
        needed, room = _heading(text, on_two_lines=wraps), header.sectionSize(place)
        if room < needed - 1:
            found.append(f"heading needs {needed}, has {room}: {_short(text)}")
    return found


def _heading(text: str, *, on_two_lines: bool = False) -> int:
    """Return the width of a heading as the style sheet has it; Qt's own hint reckons with bolder letters.

    A heading is as high as two lines: one that wraps needs the width of the longer of them.
    """
    metrics, words = QFontMetrics(text_font(12, 600)), text.split(" ")
    splits = [(words[:at], words[at:]) for at in range(len(words) if on_two_lines else 1)]
    across = min(max(metrics.horizontalAdvance(" ".join(line)) for line in lines) for lines in splits)
    return across + 2 * HEADING_PADDING


def _is_told(part: QWidget, text: str) -> bool:
    """Say whether the tooltip has the whole text."""
    return text.strip() in part.toolTip()


def _around(part: QWidget) -> Iterator[QWidget]:
    parent = part.parentWidget()
    while parent is not None:
        yield parent
        parent = parent.parentWidget()


def _path(part: QWidget, window: QWidget) -> str:
    names = [part.objectName() or type(part).__name__]
    for one in _around(part):
        if one is window:
            break
        if isinstance(one, QScrollArea) or one.objectName():
            names.append(one.objectName() or type(one).__name__)
    corner = part.mapTo(window, QPoint(0, 0))
    return f"{type(part).__name__} {' < '.join(names[:4])} at {corner.x()}, {corner.y()}"


def _short(text: Any) -> str:
    return " ".join(str(text).split())[:70]


def wrong_steps_of_tab(qtbot: Any, page: QWidget) -> list[str]:
    """Press Tab around the window, and return where it goes back in a page.

    Back is what stands wholly above and not to the right, or left on the same line.
    """
    window = page.window()
    qtbot.keyClick(window.focusWidget() or window, Qt.Key.Key_Tab)
    first = window.focusWidget()
    chain = [first]
    for _ in range(300):
        qtbot.keyClick(chain[-1], Qt.Key.Key_Tab)
        now = window.focusWidget()
        assert now is not chain[-1], f"Tab stays at {_said(now)}"
        if now is first:
            break
        chain.append(now)
    assert now is first, "Tab comes around"
    first_on_page = next(place for place, one in enumerate(chain) if not page.isAncestorOf(one))
    chain = [one for one in (*chain[first_on_page:], *chain[:first_on_page]) if page.isAncestorOf(one)]
    assert chain
    wrong = []
    for before, after in pairwise(chain):
        if before.isAncestorOf(after) or after.isAncestorOf(before):
            continue
        one, two = (QRect(part.mapTo(page, part.rect().topLeft()), part.size()) for part in (before, after))
        goes_up = two.bottom() <= one.top() and two.left() <= one.left()
        goes_left = two.right() <= one.left() and two.top() < one.bottom() and two.bottom() > one.top()
        if goes_up or (goes_left and abs(two.center().y() - one.center().y()) < one.height() / 2):
            wrong.append(f"{_said(before)} {one.getRect()} -> {_said(after)} {two.getRect()}")
    return wrong


def _said(part: QWidget) -> str:
    return f"{type(part).__name__} {part.objectName()} “{part.accessibleName()[:30]}”"
