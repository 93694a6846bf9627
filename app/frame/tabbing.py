"""Tab goes in the order of reading: as the layouts lie, whatever was made last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QGridLayout,
    QLayout,
    QLineEdit,
    QWidget,
)

from app.parts.making import READ_NEXT, laid

WHOLE = (QComboBox, QLineEdit, QAbstractSpinBox)  # their inner parts are no stops of their own


def read_stops(part: QWidget) -> Iterator[QWidget]:
    """Yield what Tab stops at within a part, itself first, in the order of reading."""
    if not part.isVisible():
        return
    if part.isEnabled() and part.focusPolicy() & Qt.FocusPolicy.TabFocus and part.focusProxy() is None:
        yield part
    beside = part.property(READ_NEXT)
    if isinstance(beside, QWidget):
        yield from read_stops(beside)
    if isinstance(part, WHOLE):
        return
    if isinstance(part, QAbstractScrollArea):
        part = part.viewport()
    layout = part.layout()
    laid = list(_widgets_of(layout)) if layout is not None else []
    others = [one for one in part.children() if isinstance(one, QWidget) and not one.isWindow()]
    taken = [*laid, *(one.property(READ_NEXT) for one in part.findChildren(QLineEdit))]
    free = [one for one in others if one not in taken]
    for one in (*laid, *sorted(free, key=lambda one: (one.y(), one.x()))):
        yield from read_stops(one)


def _widgets_of(layout: QLayout) -> Iterator[QWidget]:
    """Yield the widgets of a layout and of those within it: a grid line by line."""
    found: dict[int, QWidget | QLayout] = dict(laid(layout))
    inner = [one for one in layout.children() if isinstance(one, QLayout)]
    found |= {layout.indexOf(one): one for one in inner}
    places = sorted(found)
    if isinstance(layout, QGridLayout):
        lines: dict[int, Any] = {place: layout.getItemPosition(place) for place in places}
        places.sort(key=lines.__getitem__)
    for place in places:
        one = found[place]
        if isinstance(one, QLayout):
            yield from _widgets_of(one)
        else:
            yield one


def step_focus(window: QWidget, *, forward: bool) -> bool:
    """Move the focus to the next stop or the one before, around the ends; False where there is none.

    From what has just been hidden, a button that was pressed for instance, it goes to what is beside it.
    """
    stops = list(read_stops(window))
    now: QWidget | None = window.focusWidget()
    if not stops:
        return False
    if now is not None and not now.isVisible():
        while now is not None and not (beside := [one for one in read_stops(now) if one is not now]):
            now = now.parentWidget()
        beside[0].setFocus(Qt.FocusReason.OtherFocusReason)
        return True
    while now is not None and now not in stops:  # within a part that stops as a whole
        now = now.parentWidget()
    place = stops.index(now) if now is not None else -1 if forward else 0
    reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
    stops[(place + (1 if forward else -1)) % len(stops)].setFocus(reason)
    return True
