"""Choosing columns from one list: a tick, the role, what stands in it, and whether it is declared.

Space ticks what is selected, Shift selects several, Ctrl A ticks all that may leave. What only lacks declared
values waits for them (`show_waiting`); what never leaves has a lock, and the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyleOptionViewItem, QWidget

from app import words
from app.parts.form.parameter_columns import Unfit, fitting
from app.parts.form.parameter_fields import Field
from app.parts.making import (
    STRETCH,
    add,
    align_left,
    make_button,
    make_field,
    make_label,
    make_row,
    name_widget,
)
from app.parts.prose import Prose
from app.parts.table import DataTable, Index, LinesDelegate, LinesModel
from app.theme import mono_font, polish, text_font, theme
from app.words.columns import names_people, tells_apart, values_words
from engine.table.schema import Role, Schema

FIELDS = ("name", "role", "values", "state")
PICK = Qt.ItemDataRole.UserRole + 7
LINE, MOST = 30, 24  # height of a line, and how many are in view: a long list alone scrolls within its page
LEAST_VALUES = 96  # pixels under which nothing is said of what stands in a column
SEARCHED = 8  # columns from which a search helps
TICK = 16  # pixels of the box

TICKED, DECLARED, WAITING, FREE, UNFIT, OUT, NEVER = (
    *("ticked", "declared", "waiting", "free", "unfit"),
    *("out", "never"),
)
"""The states of a line; those from ``UNFIT`` on cannot be ticked."""


@dataclass(frozen=True)
class Pick:
    """One column as it stands in the list."""

    name: str
    role: str
    values: str
    state: str
    said: str
    why: str = ""
    guarded: bool = False
    """Whether it names people although it may leave."""

    @property
    def is_ticked(self) -> bool:
        """Whether it is chosen, or will be once it is declared."""
        return self.state in (TICKED, DECLARED, WAITING)

    @property
    def is_free(self) -> bool:
        """Whether it can be ticked, or is."""
        return self.state not in (UNFIT, OUT, NEVER)


class PicksModel(LinesModel):
    """Lines with ticks."""

    lines: list[Pick]

    def __init__(self) -> None:
        super().__init__(FIELDS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        pick, field = self.lines[index.row()], FIELDS[index.column()]
        if role == PICK:
            return pick
        written = {"name": pick.name, "role": pick.role, "values": pick.values, "state": pick.said}[field]
        if role == Qt.ItemDataRole.DisplayRole:
            return written
        if role == Qt.ItemDataRole.CheckStateRole and field == "name" and pick.is_free:
            return Qt.CheckState.Checked if pick.is_ticked else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.ToolTipRole:
            return words.tip(pick.why or written)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            why = f". {pick.why}" if field == "state" and pick.why else ""
            return words.pair(words.say(f"app.picker.head.{field}"), f"{written}{why}")
        return None


class PicksDelegate(LinesDelegate):
    """A box or a lock before the name, and the state as a pill at the right."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self.paint_ground(painter, option, index)
        pick, field = index.data(PICK), FIELDS[index.column()]
        never = pick.state == NEVER
        if field == "name":
            self._box(painter, option.rect, pick)
            painter.setFont(mono_font())
            colour = "text" if pick.is_free else "quiet"
            self._text(painter, option.rect.adjusted(34, 0, -6, 0), pick.name, colour)
        elif field == "state":
            self._state(painter, option.rect, pick)
        else:
            painter.setFont(text_font(12))
            colour = "wrong" if never and field == "role" else "quiet"
            self._text(painter, option.rect.adjusted(6, 0, -6, 0), str(index.data() or ""), colour)

    def _text(self, painter: QPainter, rect: QRect, written: str, colour: str) -> None:
        painter.setPen(theme.tokens().colour(colour))
        cut = painter.fontMetrics().elidedText(written, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), cut)

    def _box(self, painter: QPainter, rect: QRect, pick: Pick) -> None:
        tokens = theme.tokens()
        place = QRectF(rect.left() + 10.5, rect.center().y() - TICK / 2 + 0.5, TICK - 1, TICK - 1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if pick.state in (OUT, NEVER):
            colour = tokens.colour("wrong" if pick.state == NEVER else "quiet")
            painter.setPen(QPen(colour, 1.6))
            painter.drawArc(place.adjusted(4, 1, -4, -5), 0, 180 * 16)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawRoundedRect(place.adjusted(2.5, 6, -2.5, -1), 1.5, 1.5)
        elif pick.state != UNFIT:
            painter.setPen(QPen(tokens.colour("accent" if pick.is_ticked else "edge"), 1.5))
            painter.setBrush(tokens.colour("accent" if pick.is_ticked else "surface"))
            painter.drawRoundedRect(place, 4, 4)
            if pick.is_ticked:
                painter.setPen(QPen(tokens.colour("on_accent"), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                tick = ((3.5, 7.5), (6.5, 10.5), (11.5, 4.5))
                places = [place.topLeft() + QRectF(x, y, 0, 0).topLeft() for x, y in tick]
                painter.drawPolyline(QPolygonF(places))
        painter.restore()

    def _state(self, painter: QPainter, rect: QRect, pick: Pick) -> None:
        tokens = theme.tokens()
        pilled = pick.state in (TICKED, DECLARED, WAITING)
        bold = pilled or pick.state == NEVER or pick.guarded
        painter.setFont(text_font(12, 600 if bold else 400))
        right = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
        red = pick.state == NEVER or pick.guarded
        if not pilled:
            painter.setPen(tokens.colour("wrong" if red else "quiet"))
            room = rect.adjusted(4, 0, -12, 0)
            cut = painter.fontMetrics().elidedText(pick.said, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, right, cut)
            return
        wide = painter.fontMetrics().horizontalAdvance(pick.said) + 20
        place = QRectF(rect.right() - 11.5 - wide, rect.center().y() - 10.5, wide, 21)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if pick.state == WAITING:
            painter.setPen(QPen(tokens.colour("edge"), 1, Qt.PenStyle.DashLine))
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tokens.colour("wrong_soft" if pick.guarded else "accent_soft"))
        painter.drawRoundedRect(place, 10.5, 10.5)
        ink = "text" if pick.state == WAITING else "wrong" if pick.guarded else "accent"
        painter.setPen(tokens.colour(ink))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, pick.said)
        painter.restore()


class PickList(DataTable):
    """``pressed`` tells columns and whether they are wanted: on, off, or None for the other way round."""

    pressed = Signal(object, object)
    every = Signal()

    def __init__(self, name: str, most: int, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self._most = most
        self.setItemDelegate(PicksDelegate(self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().setDefaultSectionSize(LINE)
        self.horizontalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMouseTracking(True)
        self.picks = PicksModel()
        self.keep(self.picks)

    def names(self) -> list[str]:
        """Return the selected columns, in the order of the list."""
        places = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self.picks.lines[place].name for place in places]

    def current(self) -> str:
        """Return the column that the keyboard is at, or nothing."""
        place = self.currentIndex().row()
        return self.picks.lines[place].name if 0 <= place < len(self.picks.lines) else ""

    def show_picks(self, picks: Sequence[Pick]) -> None:
        """Show lines, as high as they need up to a limit."""
        self.picks.show_lines(picks)
        self.setFixedHeight(min(max(len(picks), 1), self._most) * LINE + 2)
        self.fit()

    def fit(self) -> None:
        """Share the width out: what narrows gives way from the middle."""
        width, picks = self.viewport().width(), self.picks.lines
        if width < 50 or not picks:
            return
        names, bold = QFontMetrics(mono_font()), QFontMetrics(text_font(12, 600))
        small = QFontMetrics(text_font(12))
        widths = {
            "name": max(names.horizontalAdvance(one.name) for one in picks) + 46,
            "state": max(bold.horizontalAdvance(one.said) for one in picks) + 40,
            "role": max(small.horizontalAdvance(one.role) for one in picks) + 16,
        }
        widths["state"] = min(widths["state"], round(width * 0.4))
        widths["name"] = min(widths["name"], width - widths["state"])
        rest = width - widths["name"] - widths["state"]
        shows_role = rest >= widths["role"] + LEAST_VALUES
        shows_values = rest >= LEAST_VALUES
        self.setColumnHidden(1, not shows_role)
        self.setColumnHidden(2, not shows_values)
        rest -= widths["role"] if shows_role else 0
        widths["name"] += 0 if shows_values else rest
        for place, field in enumerate(FIELDS):
            self.horizontalHeader().resizeSection(place, widths.get(field, rest))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self.currentIndex().isValid() and self.picks.lines:
            self.setCurrentIndex(self.picks.index(0, 0))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        held = event.modifiers()
        if event.button() != Qt.MouseButton.LeftButton or held & Qt.KeyboardModifier.ControlModifier:
            return
        if self.indexAt(event.position().toPoint()).isValid():
            several = bool(held & Qt.KeyboardModifier.ShiftModifier) or len(self.names()) > 1
            self.pressed.emit(self.names(), True if several else None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space:
            self.pressed.emit(self.names(), None)
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.every.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.ignore()  # the page goes on
        else:
            super().keyPressEvent(event)


class ColumnPicker(Field):
    """Several columns; those ticked first come first in what is released."""

    def build(self) -> None:
        self.chosen: list[str] = []
        self.waiting: tuple[str, ...] = ()
        self.seen: Mapping[str, Any] = {}
        self._schema = Schema()
        self._others: list[Unfit] = []
        name = self.parameter.name
        self.search = make_field(
            f"find-{name}",
            words.say("app.picker.find_name", field=self.spoken),
            placeholder=words.say("app.picker.find"),
            width=170,
        )
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(lambda text: self._show())
        every = words.say(f"app.picker.{'all_fitting' if self.parameter.optional else 'all'}")
        self.every = make_button(every, f"all-{name}", self.tick_all)
        self.every.setToolTip(words.tip(words.say("app.picker.all_tip")))
        self.count = make_label("", f"count-{name}", pixels=12, tone="quiet")
        self.list = name_widget(PickList(self.spoken, MOST), name)
        self.list.pressed.connect(self.press)
        self.list.every.connect(self.tick_all)
        self.list.selectionModel().currentRowChanged.connect(lambda *_: self._show_order())
        self.order = name_widget(Prose(tone="quiet", pixels=12), f"order-{name}")
        self.earlier = make_button(look="link", press=self._move)
        add(
            self.line,
            make_row(self.search, self.every, STRETCH, self.count, spacing=10),
            self.list,
            self.order,
            align_left(self.earlier),
        )

    # --- showing -----------------------------------------------------------------------------------

    def set_schema(self, schema: Schema) -> None:
        self._schema = schema
        _, self._others = fitting(self.parameter, schema)
        self._show()

    def show_value(self, value: Any) -> None:
        self.chosen = [str(name) for name in value] if isinstance(value, list | tuple) else []
        self._show()

    def show_waiting(self, names: Iterable[str]) -> None:
        """Show that columns are chosen, as soon as their values are declared."""
        self.waiting = tuple(names)
        self._show()

    def show_seen(self, suggestions: Mapping[str, Any]) -> None:
        """Say what stands in the columns, for the custodian's eyes: counts that are nowhere offered."""
        if suggestions != self.seen:
            self.seen = suggestions
            self._show()

    def value(self) -> Any:
        return list(self.chosen) if self.chosen else None

    def _show(self) -> None:
        picks = self._picks()
        free = sum(one.is_free for one in picks)
        ticked = sum(one.is_ticked for one in picks)
        most = None if self.parameter.maximum is None else int(self.parameter.maximum)
        told = "count" if most is None or free <= most else "count_most"
        self.count.setText(words.say(f"app.picker.{told}", ticked=ticked, free=free, most=most))
        tone = "wrong" if most is not None and ticked > most else "quiet"
        if self.count.property("tone") != tone:
            self.count.setProperty("tone", tone)
            polish(self.count)
        self.every.setVisible(most is None or free <= most)
        self.search.setVisible(len(picks) > SEARCHED)
        wanted = self.search.text().strip().casefold() if len(picks) > SEARCHED else ""
        self.list.show_picks([one for one in picks if wanted in one.name.casefold()])
        self._show_order()

    def _picks(self) -> list[Pick]:
        """Return what can be ticked, then what does not fit, then what stays, each as in the table."""
        others = {one.name: one for one in self._others}
        order = {state: place for place, state in enumerate((UNFIT, OUT, NEVER), 1)}
        found = [self._pick(column.name, others.get(column.name)) for column in self._schema.columns]
        return sorted(found, key=lambda one: order.get(one.state, 0))

    def _pick(self, name: str, other: Unfit | None) -> Pick:
        column = self._schema.column(name)
        suggestion = self.seen.get(name)
        role, values = words.say(f"app.roles.{column.role.value}.name"), values_words(column, suggestion)
        named = names_people(column, suggestion)
        guarded = named or (not self.parameter.needs_domain and tells_apart(column, suggestion))
        if name in self.chosen:
            state = DECLARED if self.parameter.needs_domain else TICKED
        elif name in self.waiting:
            state = WAITING
        elif other is None or other.declarable:
            state = FREE
        elif column.role in (Role.PERSON_KEY, Role.DIRECT_IDENTIFIER):
            state, role = NEVER, words.say("app.picker.names_people")
        else:
            state = OUT if column.role is Role.DROPPED else UNFIT
        said = words.say(f"app.picker.state.{state}")
        if guarded and state in (TICKED, DECLARED, FREE):
            said = words.say(f"app.picker.state.{'guarded' if named else 'apart'}")
        elif state == UNFIT and other is not None and other.short:
            said = other.short
        elif state == FREE and other is not None:
            said = words.say("app.picker.state.undeclared")
        return Pick(name, role, values, state, said, other.reason if other is not None else "", guarded)

    def _show_order(self) -> None:
        """Name the order, where there is one, and offer to change it."""
        several, at = len(self.chosen) > 1, self.list.current()
        self.order.setVisible(several)
        self.order.say(words.say("app.picker.order", columns=", ".join(self.chosen)) if several else "")
        movable = several and at in self.chosen[1:]
        self.earlier.setVisible(movable)
        if movable:
            self.earlier.setObjectName(f"earlier-{at}")
            self.earlier.setText(words.say("app.method.earlier_name", column=at))

    # --- choosing ----------------------------------------------------------------------------------

    def with_column(self, name: str, value: Any) -> list[str]:
        """Return what the value becomes with a column."""
        return [*(one for one in value or () if one != name), name]

    def press(self, names: Sequence[str], wanted: bool | None = None) -> None:
        """Tick columns, or take their ticks away; without a word the other way round."""
        picks = {one.name: one for one in self._picks() if one.is_free}
        free = [picks[name] for name in names if name in picks]
        on = wanted if wanted is not None else not all(one.is_ticked for one in free)
        changed = [one.name for one in free if one.is_ticked is not on]
        if not changed:
            return
        before, needs = list(self.chosen), {one.name for one in self._others}
        if on:
            self.chosen += [name for name in changed if name not in needs]
        else:
            self.chosen = [name for name in self.chosen if name not in changed]
        if self.chosen != before:
            self.say()
        for name in changed:
            if on and name in needs:
                self.declare_wanted.emit(name, self.with_column(name, self.chosen))
            elif not on and name not in before:
                self.declare_dropped.emit(name)
        self._show()

    def tick_all(self) -> None:
        """Tick all that may leave; what names people is ticked one by one."""
        self.press([one.name for one in self._picks() if one.is_free and not one.guarded], True)

    def _move(self) -> None:
        """Bring the column that the keyboard is at one place forward."""
        place = self.chosen.index(self.list.current())
        self.chosen[place - 1 : place + 1] = reversed(self.chosen[place - 1 : place + 1])
        self.say()
        self._show()
