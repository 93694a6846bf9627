"""Making widgets: what nearly every screen says of its buttons, fields, columns and rows, said once.

    self.change = make_button(words.say("app.load.change"), "change", self._change, look="link")
    self.body = make_column(self.title, 6, self.subtitle, (self.table, 1), left(self.change), spacing=8)

A part of a column or row is a widget, another layout, a number (pixels of air), `STRETCH` (what room is left
over), or a pair or triple: the part, its stretch, its alignment.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.parts.layouts import ColumnLayout, GridLayout, RowLayout
from app.theme import text_font


class Room(Enum):
    """What stands for the room that is left over."""

    STRETCH = 1


STRETCH = Room.STRETCH
READ_NEXT = "read_next"
"""Property of a widget: what lies over the page beside it, and is reached from it with Tab."""
Aligned = tuple[QWidget, int, Qt.AlignmentFlag]
Part = QWidget | QLayout | int | Room | tuple[QWidget | QLayout, int] | Aligned
W = TypeVar("W", bound=QWidget)
L = TypeVar("L", bound=QLayout)


# --- widgets --------------------------------------------------------------------------------------------


def name_widget(widget: W, name: str, spoken: str = "") -> W:
    """Return a widget with the name by which style, tests and programs find it, and what is spoken of it."""
    widget.setObjectName(name)
    if spoken:
        widget.setAccessibleName(spoken)
    return widget


def hidden(widget: W) -> W:
    """Return a widget that is not shown until something asks for it."""
    widget.hide()
    return widget


FIELD_EDGES = 40  # pixels beside what is written in a field: its frame, padding and room for the cursor


def make_button(
    text: str = "",
    name: str = "",
    press: Callable[[], object] | None = None,
    *,
    look: str = "",
    spoken: str = "",
    checkable: bool = False,
) -> QPushButton:
    """Return a button.

    Parameters
    ----------
    text, spoken
        What stands on it, and what a screen reader says instead where that alone means nothing.
    name
        By which tests and programs find it.
    press
        What a press does; it is not told whether the button is checked.
    look
        ``"link"``, ``"chip"``, ``"primary"`` and others, by the style sheet.
    """
    made = QPushButton(text)
    _name(made, name, spoken)
    if look:
        made.setProperty("look", look)
    if checkable:
        made.setCheckable(True)
    if press is not None:
        made.clicked.connect(lambda checked=False: press())
    return made


def make_field(
    name: str = "",
    spoken: str = "",
    edited: Callable[[], object] | None = None,
    *,
    placeholder: str = "",
    most: int | None = None,
    width: int | None = None,
    secret: bool = False,
) -> QLineEdit:
    """Return a field for one line; ``most`` letters, at most ``width`` pixels; ``edited`` once it is left.

    What is written in a ``secret`` field is not shown.
    """
    made = QLineEdit()
    _name(made, name, spoken)
    made.setPlaceholderText(placeholder)
    if secret:
        made.setEchoMode(QLineEdit.EchoMode.Password)
    if most is not None:
        made.setMaxLength(most)
    if width is not None:
        made.setMaximumWidth(wide_enough(made, width))
    if edited is not None:
        made.editingFinished.connect(edited)
    return made


def wide_enough(field: QLineEdit, width: int) -> int:
    """Return the width that a field may have, so that what is asked in it is read whole in every language."""
    field.ensurePolished()
    return max(width, field.fontMetrics().horizontalAdvance(field.placeholderText()) + FIELD_EDGES)


def make_choice(
    name: str = "",
    spoken: str = "",
    chosen: Callable[[int], object] | None = None,
    *,
    width: int | None = None,
) -> QComboBox:
    """Return a list to choose from; ``chosen`` is told the place that a person chose."""
    made = QComboBox()
    _name(made, name, spoken)
    made.setAccessibleDescription(spoken)  # on Linux the toolkit gives what is chosen as its name
    if width is not None:
        made.setMaximumWidth(width)
    if chosen is not None:
        made.activated.connect(chosen)
    return made


def make_label(
    text: str = "",
    name: str = "",
    *,
    pixels: int | None = None,
    weight: int = 400,
    tone: str = "",
    buddy: QWidget | None = None,
) -> QLabel:
    """Return a label of one line; ``buddy`` is the field that it names."""
    made = QLabel(text)
    _name(made, name, "")
    if pixels is not None:
        made.setFont(text_font(pixels, weight))
    if tone:
        made.setProperty("tone", tone)
    if buddy is not None:
        made.setBuddy(buddy)
    return made


def _name(widget: QWidget, name: str, spoken: str) -> None:
    if name:
        widget.setObjectName(name)
    if spoken:
        widget.setAccessibleName(spoken)


def ask_file(
    page: QWidget, title: str, act: Callable[[str], object], *, writes: str = "", folder: bool = False
) -> None:
    """Ask for a file that is there, for a folder, or for a place to write a file of this name."""
    dialog = QFileDialog(page, title)
    if writes:
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(Path(writes).suffix)
        dialog.selectFile(writes)
    elif folder:
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
    else:
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.fileSelected.connect(act)
    dialog.open()


# --- layouts --------------------------------------------------------------------------------------------

Margins = int | tuple[int, int, int, int]


def make_column(
    *parts: Part, inside: QWidget | None = None, spacing: int | None = None, margins: Margins | None = None
) -> QVBoxLayout:
    """Return parts below one another, as the layout of ``inside`` where that is given."""
    return _fill(ColumnLayout() if inside is None else ColumnLayout(inside), parts, spacing, margins)


def make_row(
    *parts: Part, inside: QWidget | None = None, spacing: int | None = None, margins: Margins | None = None
) -> QHBoxLayout:
    """Return parts side by side, as the layout of ``inside`` where that is given."""
    return _fill(RowLayout() if inside is None else RowLayout(inside), parts, spacing, margins)


def make_grid(
    inside: QWidget | None = None,
    *,
    across: int | None = None,
    down: int | None = None,
    margins: Margins | None = None,
) -> QGridLayout:
    """Return a grid, with so many pixels between its columns and between its lines."""
    made = GridLayout() if inside is None else GridLayout(inside)
    if across is not None:
        made.setHorizontalSpacing(across)
    if down is not None:
        made.setVerticalSpacing(down)
    return _fill(made, (), None, margins)


def make_group(layout: QLayout) -> QWidget:
    """Return a widget that is nothing but a layout, so that its parts are shown and hidden together."""
    made = QWidget()
    made.setLayout(layout)
    return made


def align_left(widget: QWidget) -> Aligned:
    """Return a part no wider than it needs, at the left."""
    return widget, 0, Qt.AlignmentFlag.AlignLeft


def turn(layout: QBoxLayout, beside: bool, *, upwards: bool = False) -> None:
    """Lay parts side by side, or below one another; ``upwards`` puts the last one on top then."""
    way = QBoxLayout.Direction
    layout.setDirection(way.LeftToRight if beside else way.BottomToTop if upwards else way.TopToBottom)


def add(layout: QLayout, *parts: Part) -> None:
    """Put parts at the end of a layout, in their order."""
    for part in parts:
        _add(layout, part)


def _fill(layout: L, parts: tuple[Part, ...], spacing: int | None, margins: Margins | None) -> L:
    if spacing is not None:
        layout.setSpacing(spacing)
    if margins is not None:
        layout.setContentsMargins(*((margins,) * 4 if isinstance(margins, int) else margins))
    add(layout, *parts)
    return layout


def _add(layout: QLayout, part: Part) -> None:
    if isinstance(part, QWidget):
        layout.addWidget(part)
        return
    assert isinstance(layout, QBoxLayout), "only a column or a row takes air, layouts and stretched parts"
    if isinstance(part, Room):
        layout.addStretch(1)
    elif isinstance(part, int):
        layout.addSpacing(part)
    elif isinstance(part, QLayout):
        layout.addLayout(part)
    elif len(part) == 3:
        layout.addWidget(*part)
    elif isinstance(part[0], QWidget):
        layout.addWidget(part[0], part[1])
    else:
        layout.addLayout(part[0], part[1])


def laid(layout: QLayout) -> list[tuple[int, QWidget]]:
    """Return the widgets that lie in a layout itself, with their places in it.

    Its items are not asked. What Python has seen of one it still takes for that item once the widget went,
    when something else stands in its place in memory: the program then ends.
    """
    parent = layout.parentWidget()
    children = [] if parent is None else [one for one in parent.children() if isinstance(one, QWidget)]
    places = ((layout.indexOf(one), one) for one in children)
    return sorted((pair for pair in places if pair[0] >= 0), key=lambda pair: pair[0])


def empty(layout: QLayout, kept: int = 0) -> None:
    """Remove what is in a layout, but for the first ``kept``; a removed widget is hidden at once.

    Out of its layout, a widget that waits to be deleted would lie over the others.
    """
    while layout.count() > kept:
        item = layout.takeAt(layout.count() - 1)
        widget = item.widget() if item is not None else None
        if widget is not None:
            widget.hide()
            widget.deleteLater()
