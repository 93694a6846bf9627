"""Tables that were opened together, side by side from people to details: what each is, by what it hangs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QComboBox, QFrame, QWidget

from app import words
from app.parts.cards import Card
from app.parts.exact_field import ExactField
from app.parts.layouts import LineLayout
from app.parts.making import (
    STRETCH,
    add,
    empty,
    make_button,
    make_choice,
    make_column,
    make_label,
    make_row,
    name_widget,
    turn,
)
from app.parts.prose import Heading, Prose
from app.work.together import PARTS, One, Together
from engine.methods.protocol import MAIN
from engine.release.plan import Plan
from engine.table.schema import LINKED

SIDE_BY_SIDE = 200  # pixels of a table, at least


class TogetherCard(Card):
    """``part`` tells what a table is, ``person``, ``record`` by what it hangs, ``cap`` what rows count."""

    part = Signal(str, str)
    person = Signal(str, str)
    record = Signal(str, str)
    cap = Signal(str, int)
    alone = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.load.together.heading"), parent=parent)
        self.setObjectName("together")
        self.fields: list[QWidget] = []
        self._line = LineLayout(QBoxLayout.Direction.LeftToRight)
        self._line.setSpacing(16)
        leave = make_button(
            words.say("app.load.together.alone"), "together-alone", self.alone.emit, look="link"
        )
        about = Prose(words.say("app.load.together.about"), tone="quiet")
        add(self.body, self._line, make_row((about, 1), leave))
        self.hide()

    def show_together(self, together: Together | None, plan: Plan) -> None:
        """Show the tables in the order in which they hang; hide where there is one alone."""
        self.setVisible(together is not None)
        before = next((one.objectName() for one in self.fields if one.hasFocus()), "")
        empty(self._line)
        self.fields = []
        if together is None:
            return
        order = sorted(together.tables.values(), key=lambda one: _place(together, one.name))
        for place, one in enumerate(order):
            if place:
                edge = QFrame()
                edge.setProperty("edge", "true")
                self._line.addWidget(edge)
            add(self._line, (self._table(together, one, plan), 1))
        self._turn()
        again = next((one for one in self.fields if before and one.objectName() == before), None)
        if again is not None:
            again.setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn()

    def _turn(self) -> None:
        tables = (self._line.count() + 1) // 2
        turn(self._line, self.width() >= SIDE_BY_SIDE * tables)

    def _table(self, together: Together, one: One, plan: Plan) -> QWidget:
        part = together.hanging.parts.get(one.name, "")
        box = name_widget(QWidget(), f"together-{one.name}")
        count = {"rows": one.table.n_rows, "columns": len(one.table.names)}
        about = Prose(words.say("app.load.together.size", **count), tone="quiet", pixels=12)
        column = make_column(Heading(one.name, size="card"), about, inside=box, spacing=4, margins=0)
        parts = ("", *PARTS)
        said = [words.say(f"app.load.together.part.{name or 'none'}") for name in parts]
        self._choice(
            column, one, "part", said, parts.index(part), lambda at: self.part.emit(one.name, parts[at])
        )
        if part in LINKED:
            names = ("", *one.table.names)
            at = _index(names, together.hanging.person.get(one.name, ""))
            self._choice(
                column, one, "person", _named(names), at, lambda at: self.person.emit(one.name, names[at])
            )
        if part in LINKED and part != MAIN:
            self._hangs(column, together, one, part, plan)
        add(column, STRETCH)
        return box

    def _hangs(self, column: QBoxLayout, together: Together, one: One, part: str, plan: Plan) -> None:
        """Say by which column a table hangs on records, what belongs to nobody, and how many rows count."""
        hanging, counted, names = together.hanging, together.counted.get(one.name), ("", *one.table.names)
        if part == "details" or hanging.named("details"):
            own = hanging.record if part == "records" else hanging.record_of
            what = "record" if part == "records" else "record_of"
            self._choice(
                column,
                one,
                what,
                _named(names),
                _index(names, own),
                lambda at: self.record.emit(part, names[at]),
            )
        if counted is None:
            return
        lines = [words.say("app.load.together.nobody", count=counted.nobody, rows=counted.rows)]
        if counted.without is not None:
            lines.append(words.say("app.load.together.without", count=counted.without, rows=counted.rows))
        tone = "care" if counted.nobody or counted.without else "quiet"
        column.addWidget(name_widget(Prose(" ".join(lines), tone=tone, pixels=12), f"orphans-{part}"))
        label = words.say("app.load.together.cap")
        field = name_widget(ExactField(label, smallest=1, largest=100_000), f"cap-{part}")
        schema = plan.schemas.get(part)
        field.show_number(None if schema is None else Fraction(schema.rows_per_person))
        field.decided.connect(lambda number: self._capped(part, number))
        most = make_button(
            words.say("app.load.together.most", count=counted.most),
            f"most-{part}",
            lambda: self.cap.emit(part, max(counted.most, 1)),
            look="chip",
        )
        self.fields += [field, most]
        add(
            column,
            make_label(label, pixels=12, tone="quiet", buddy=field),
            make_row(field, most, STRETCH, spacing=8),
        )

    def _capped(self, part: str, number: Fraction | None) -> None:
        if number is not None and number.denominator == 1:
            self.cap.emit(part, int(number))

    def _choice(
        self,
        column: QBoxLayout,
        one: One,
        what: str,
        said: Sequence[str],
        at: int,
        chosen: Callable[[int], None],
    ) -> None:
        label = words.say(
            f"app.load.together.{what}_label" if what == "part" else f"app.load.together.{what}"
        )
        field: QComboBox = make_choice(f"{what}-{one.name}", words.pair(label, one.name), chosen)
        field.addItems(list(said))
        field.setCurrentIndex(at)
        field.setMinimumContentsLength(8)
        self.fields.append(field)
        add(column, make_label(label, pixels=12, tone="quiet", buddy=field), field)


def _place(together: Together, name: str) -> int:
    part = together.hanging.parts.get(name, "")
    return PARTS.index(part) if part else len(PARTS)


def _named(columns: Sequence[str]) -> list[str]:
    return [name or words.say("app.load.together.no_column") for name in columns]


def _index(columns: Sequence[str], name: str) -> int:
    return columns.index(name) if name in columns else 0
