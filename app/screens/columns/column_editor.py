"""The right-hand side of the columns screen: what a column is, does to the risk, and may hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QIntValidator, QPainter, QResizeEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton, QWidget

from app import words
from app.parts.form.coarsening import summary
from app.parts.form.domain_editor import DomainEditor
from app.parts.layouts import ColumnLayout
from app.parts.making import add, align_left, empty, make_button, make_choice, make_column, make_label
from app.parts.plot import Painted, cut
from app.parts.prose import Heading, Prose
from app.theme import text_font, theme
from app.words.columns import mistaken_words
from engine.numbers import shortest_json, surely
from engine.table.schema import MOST_LETTERS, Column, Domain, Kind, Role
from engine.views import BarsView, View

# --- A few bars without axes, for the side of a screen --------------------------------------------------


BARS, LABEL = 60, 16  # pixels of height: the bars, and a line of labels below them


class MiniBars(Painted):
    """Bars of one view; the first and the last label below, on a line each where one has no room for both."""

    OPENS = True

    def __init__(self, view: BarsView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = view
        self._fit()
        spoken = "; ".join(self._spoken(place) for place in range(len(view.values)))
        self.setAccessibleName(words.say("app.columns.bars_name", column=words.label(view.title)))
        self.setAccessibleDescription(spoken)

    def sizeHint(self) -> QSize:
        return QSize(224, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def ends(self) -> tuple[str, ...]:
        """Return the labels that are written below the bars."""
        labels = self.view.labels if self.view.values else ()
        return tuple(words.label(one) for one in (*labels[:1], *labels[1:][-1:]))

    def _fit(self) -> None:
        """Be as high as the bars and their labels."""
        metrics = QFontMetrics(text_font(11))
        wide = sum(metrics.horizontalAdvance(one) + 6 for one in self.ends()) > self._used()
        self.lines = 2 if wide and len(self.ends()) > 1 else 1
        self.setFixedHeight(BARS + LABEL * self.lines + 2)

    def _used(self) -> int:
        """Return the width that the bars take: labels stand below them."""
        slots = self._slots()
        return max(min(self.width(), int(slots[-1].right())) if slots else 0, 60)

    def picture(self) -> View | None:
        return self.view if self.view.values else None

    def _spoken(self, place: int) -> str:
        count = words.number(int(self.view.values[place]))
        return words.pair(words.label(self.view.labels[place]), f"{count} {words.label(self.view.axis)}")

    def _slots(self) -> list[QRectF]:
        values = self.view.values
        if not values:
            return []
        width = (self.width() - 4 * (len(values) - 1)) / len(values)
        width, top = min(width, 40.0), max(values) or 1
        made = []
        for place, value in enumerate(values):
            height = max(2.0, 54 * value / top) if value else 1.0
            made.append(QRectF(place * (width + 4), 56 - height, width, height))
        return made

    def paint(self, painter: QPainter) -> None:
        tokens = theme.tokens()
        slots = self._slots()
        fill = tokens.colour("accent")
        fill.setAlphaF(0.75)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        for slot in slots:
            painter.drawRoundedRect(slot, 2, 2)
        painter.setPen(tokens.colour("quiet"))
        sides = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight)
        for place, written in enumerate(self.ends()):
            wide = self._used() if self.lines == 1 else self.width()
            line = QRectF(0, BARS + LABEL * min(place, self.lines - 1), wide, LABEL)
            written = cut(painter, written, wide)
            painter.drawText(line, sides[place] | Qt.AlignmentFlag.AlignVCenter, written)

    def tip_at(self, place: QPointF) -> str | None:
        slots = enumerate(self._slots())
        return next(
            (self._spoken(at) for at, one in slots if one.left() - 2 <= place.x() <= one.right() + 2), None
        )


MOST_ROWS_PER_PERSON = 10_000
MOST_PROPOSALS, MOST_MEANINGS = 2, 8


class ColumnEditor(QWidget):
    """Shows the columns that are selected; emits what the custodian decides about them."""

    role_chosen = Signal(object)
    accepted = Signal()
    list_taken = Signal(str)
    kind_chosen = Signal(object)
    domain_wanted = Signal()
    domain_declared = Signal(object, bool)
    missing_given = Signal(tuple)
    steps_wanted = Signal()
    cap_given = Signal(object)
    described = Signal(str, str)  # meaning and unit
    labelled = Signal(str)  # what values mean, as it is written
    book_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.names: tuple[str, ...] = ()
        self.one = True
        self._bars: BarsView | None = None
        self._domain: DomainEditor | None = None
        self._labels = ""  # as they were shown
        self._begun: dict[str, tuple[Column, DomainEditor]] = {}  # not yet declared, of other columns
        self._box = make_column(inside=self, spacing=4, margins=0)
        self._bars_place = ColumnLayout()
        self._box.addLayout(self._bars_place)
        self.role = self._combo("role", [(words.say(f"app.roles.{role.value}.name"), role) for role in Role])
        self.role.activated.connect(lambda place: self.role_chosen.emit(Role(self.role.currentData())))
        self.accept = make_button(words.say("app.columns.accept_one"), "column_accept", self.accepted.emit)
        self.means = Prose()
        self.why = Prose(tone="quiet")
        add(self._box, 4, align_left(self.accept), 4, self.means, self.why, 8)
        self.what_if_heading = Heading(size="card")
        self.what_if = Prose()
        add(self._box, self.what_if_heading, self.what_if, 8)
        self._build_cap()
        self.kind = self._combo("kind", [(words.say(f"app.kinds.{kind.value}"), kind) for kind in Kind])
        self.kind.activated.connect(lambda place: self.kind_chosen.emit(Kind(self.kind.currentData())))
        self._box.addSpacing(8)
        self._build_domain()
        self._build_missing()
        self._build_steps()
        self._build_words()

    def _combo(self, name: str, choices: Sequence[tuple[str, Any]]) -> QComboBox:
        label = make_label(words.say(f"app.columns.head.{name}"), pixels=13, weight=600)
        field = make_choice(f"column_{name}", label.text())
        # as wide as its place: a long word of another language is shortened when closed, not when open
        field.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        field.setMinimumContentsLength(12)
        for text, value in choices:
            field.addItem(text, value)
        label.setBuddy(field)
        add(self._box, label, field)
        return field

    def _build_cap(self) -> None:
        self.cap_heading = Heading(words.say("app.columns.cap.heading"), size="card")
        self.cap_why = Prose(words.say("app.columns.cap.why"))
        self.cap = QLineEdit()
        self.cap.setObjectName("rows_per_person")
        self.cap.setAccessibleName(words.say("app.columns.cap.heading"))
        self.cap.setPlaceholderText(words.say("app.columns.cap.placeholder"))
        self.cap.setValidator(QIntValidator(1, MOST_ROWS_PER_PERSON, self.cap))
        self.cap.editingFinished.connect(self._cap_edited)
        add(self._box, self.cap_heading, self.cap_why, self.cap, 8)

    def _build_domain(self) -> None:
        self.domain_heading = Heading(words.say("app.columns.domain.heading"), size="card")
        self.domain_words = Prose()
        self.change = make_button(
            words.say("app.columns.domain.change"), "domain_change", self.domain_wanted.emit, look="link"
        )
        add(self._box, self.domain_heading, self.domain_words, align_left(self.change))
        self._proposals_place = make_column(spacing=4)
        self._box.addLayout(self._proposals_place)
        self._proposals: tuple[Any, ...] = ()
        self._domain_place = ColumnLayout()
        self._box.addLayout(self._domain_place)

    def _build_steps(self) -> None:
        self.steps_heading = Heading(words.say("app.coarsening.heading"), size="card")
        self.steps_words = Prose()
        self.steps = make_button(
            words.say("app.coarsening.change"), "steps_change", self.steps_wanted.emit, look="link"
        )
        add(self._box, 8, self.steps_heading, self.steps_words, align_left(self.steps))

    def _build_missing(self) -> None:
        self.missing_heading = Heading(words.say("app.columns.missing.heading"), size="card")
        self.missing = QLineEdit()
        self.missing.setObjectName("column_missing")
        self.missing.setAccessibleName(words.say("app.columns.missing.heading"))
        self.missing.setPlaceholderText(words.say("app.columns.missing.placeholder"))
        self.missing.editingFinished.connect(self._missing_edited)
        self.mistaken = Prose(tone="care")
        add(self._box, 8, self.missing_heading, self.missing, self.mistaken)

    def _build_words(self) -> None:
        """What the recipient reads about the column: public words, never a cell."""
        self.words_heading = Heading(words.say("app.columns.words.heading"), size="card")
        self.words_why = Prose(words.say("app.columns.words.why"), tone="quiet", pixels=12)
        self.meaning, self.unit, self.labels = QLineEdit(), QLineEdit(), QLineEdit()
        self.meaning.setMaxLength(MOST_LETTERS)
        self.unit.setMaxLength(40)
        for name, field in (("meaning", self.meaning), ("unit", self.unit), ("labels", self.labels)):
            field.setObjectName(f"column_{name}")
            field.setAccessibleName(words.say(f"app.columns.words.{name}"))
            field.setPlaceholderText(words.say(f"app.columns.words.{name}_placeholder"))
            field.editingFinished.connect(self._labels_edited if field is self.labels else self._words_edited)
        self.book = make_button(
            words.say("app.columns.book"), "code_book", self.book_wanted.emit, look="link"
        )
        add(self._box, 8, self.words_heading, self.words_why, self.meaning, self.unit, self.labels)
        add(self._box, align_left(self.book))

    def show_columns(self, columns: Sequence[Column]) -> None:
        """Show how the columns are marked now; fields in use are left alone while the columns stay."""
        names = tuple(column.name for column in columns)
        if names != self.names:
            self._put_domain_aside()
            self.names, self.one = names, len(columns) == 1
            for field in (self.cap, self.missing, self.meaning, self.unit, self.labels):
                field.setModified(False)
        roles = {column.role for column in columns}
        kinds = {column.kind for column in columns}
        for box, found in ((self.role, roles), (self.kind, kinds)):
            with QSignalBlocker(box):
                box.setCurrentIndex(box.findData(next(iter(found))) if len(found) == 1 else -1)
        role = next(iter(roles)) if len(roles) == 1 else None
        self.means.setVisible(role is not None)
        self.means.say(words.say(f"app.roles.{role.value}.means") if role is not None else "")
        first = columns[0]
        for part in (self.domain_heading, self.domain_words, self.change, self.missing, self.missing_heading):
            part.setVisible(self.one and role not in (Role.PERSON_KEY, Role.DIRECT_IDENTIFIER, Role.DROPPED))
        for part in (self.steps_heading, self.steps_words, self.steps):
            part.setVisible(not self.domain_words.isHidden())
        self.steps_words.say(summary(first.hierarchy))
        for part in (self.missing, self.missing_heading, self.words_heading, self.words_why, self.meaning):
            part.setVisible(self.one)
        self.unit.setVisible(self.one and first.kind in (Kind.INTEGER, Kind.NUMBER))
        self.labels.setVisible(self.one and first.kind in (Kind.CATEGORY, Kind.ORDINAL))
        self._labels = "; ".join(f"{code} = {label}" for code, label in first.labels.items())
        mistaken = mistaken_words(first) if self.one else ""
        self.mistaken.say(mistaken)
        self.mistaken.setVisible(bool(mistaken))
        for field, text in (
            (self.meaning, first.meaning),
            (self.unit, first.unit),
            (self.labels, self._labels),
        ):
            if not (field.hasFocus() and field.isModified()):
                field.setText(text)
        for part in (self.cap_heading, self.cap_why, self.cap):
            part.setVisible(self.one and role is Role.PERSON_KEY)
        if not (self.missing.hasFocus() and self.missing.isModified()):
            self.missing.setText("  ".join(first.missing))
        self.change.setVisible(
            not self.domain_words.isHidden() and first.kind is not Kind.TEXT and not self._domain
        )
        self.domain_words.say(domain_words(first))
        self._take_up(first)

    def show_accept(self, waiting: bool) -> None:
        """Offer to accept the suggestion while it waits for that."""
        self.accept.setVisible(waiting)

    def show_why(self, reason: str, *, is_warning: bool = False) -> None:
        """Say why the role was suggested, or warn of the one that was chosen."""
        self.why.setVisible(bool(reason))
        self.why.set_tone("wrong" if is_warning else "quiet")
        self.why.say(reason)

    def show_proposals(self, proposals: Sequence[Any]) -> None:
        """Propose code lists, each with what it would say and of how many rows."""
        if tuple(proposals) == self._proposals:
            return
        from engine.table.code_lists import code_list

        self._proposals = tuple(proposals)
        empty(self._proposals_place)
        for proposal in self._proposals[:MOST_PROPOSALS]:
            entry = code_list(proposal.code_list)
            meanings = "\n\n".join(
                words.say("app.columns.proposal.meaning", code=code, meaning=entry.say(code), rows=rows)
                for code, _, rows in proposal.meanings[:MOST_MEANINGS]
            )
            said = Prose()
            said.say(words.say("app.columns.proposal.what", title=entry.named()) + "\n\n" + meanings)
            take = QPushButton(words.say("app.columns.proposal.take"))
            take.setObjectName(f"take_{proposal.code_list}")
            take.clicked.connect(lambda checked=False, name=proposal.code_list: self.list_taken.emit(name))
            add(self._proposals_place, said, align_left(take))

    def show_bars(self, view: BarsView | None) -> None:
        """Show the column as bars."""
        if view is self._bars:
            return
        self._bars = view
        empty(self._bars_place)
        if view is not None and view.values:
            add(self._bars_place, MiniBars(view), 6)

    def show_what_if(self, heading: str, sentence: str) -> None:
        """Say what marking the column does to the number of people who stand alone."""
        self.what_if_heading.setText(heading)
        self.what_if_heading.setVisible(bool(sentence))
        self.what_if.setVisible(bool(sentence))
        self.what_if.say(sentence)

    def show_cap(self, rows: int | None) -> None:
        """Show how many rows of a person a release may use; None while nobody said."""
        if not (self.cap.hasFocus() and self.cap.isModified()):
            self.cap.setText("" if rows is None else str(rows))

    def open_domain(self, column: Column, found: Domain | None, lists: Any) -> None:
        """Show the editor of allowed values below their summary."""
        self.close_domain()
        self._domain = DomainEditor(column, found, lists)
        self._domain_of = column
        self._domain.declared.connect(self.domain_declared)
        self._domain_place.addWidget(self._domain)
        self._domain.first_field().setFocus(Qt.FocusReason.OtherFocusReason)
        self.change.hide()

    def close_domain(self) -> None:
        """Hide the editor of allowed values."""
        if self._domain is not None:
            self._domain.hide()
            self._domain.deleteLater()
            self._domain = None

    def _put_domain_aside(self) -> None:
        """Keep what was begun to be declared, for when its column is in view again."""
        if self._domain is not None:
            self._domain.hide()
            self._begun[self._domain_of.name] = self._domain_of, self._domain
            self._domain = None

    def _take_up(self, column: Column) -> None:
        """Show what was begun about the column in view, unless it has been declared or marked otherwise."""
        if not self.one or self._domain is not None or column.name not in self._begun:
            return
        asked_of, editor = self._begun.pop(column.name)
        if (asked_of.kind, asked_of.domain) != (column.kind, column.domain) or self.domain_words.isHidden():
            editor.deleteLater()
            return
        self._domain, self._domain_of = editor, column
        editor.show()
        self.change.hide()

    def _cap_edited(self) -> None:
        number = surely(self.cap.text().strip())
        self.cap_given.emit(int(number) if number is not None and number.denominator == 1 else None)

    def _words_edited(self) -> None:
        self.described.emit(*(" ".join(field.text().split()) for field in (self.meaning, self.unit)))

    def _labels_edited(self) -> None:
        self.labels.setModified(False)
        written = self.labels.text().strip()
        if written != self._labels:  # a label may hold signs that part labels, and is not read back unasked
            self.labelled.emit(written)

    def _missing_edited(self) -> None:
        self.missing_given.emit(tuple(self.missing.text().split()))


def domain_words(column: Column) -> str:
    """Return the allowed values of a column in words, and whether they may be used."""
    said = _domain_words(column)
    if column.domain is None or column.is_declared:
        return said
    return said + "\n\n" + words.say("app.columns.domain.copied")


def _domain_words(column: Column) -> str:
    domain = column.domain
    if domain is None:
        key = "text" if column.kind is Kind.TEXT else "none"
        return words.say(f"app.columns.domain.{key}")
    if domain.code_list:
        from engine.table.code_lists import code_lists

        entry = code_lists().get(domain.code_list)
        title = entry.named() if entry is not None else domain.code_list
        return words.say("app.columns.domain.from_list", title=title)
    if domain.values is not None:
        shown = ", ".join(domain.values[:6])
        key = "values_few" if len(domain.values) <= 6 else "values_many"
        return words.say(f"app.columns.domain.{key}", values=shown, count=len(domain.values))
    low, high = (
        shortest_json(value) if not isinstance(value, str) and value is not None else value
        for value in (domain.minimum, domain.maximum)
    )
    return words.say("app.columns.domain.bounds", low=low, high=high)
