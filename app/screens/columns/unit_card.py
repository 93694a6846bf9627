"""Who is protected: one question in words, asked before anything else and folded to a sentence afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

from PySide6.QtCore import QPointF, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QHBoxLayout,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.parts.cards import Card
from app.parts.making import (
    STRETCH,
    add,
    empty,
    make_button,
    make_choice,
    make_column,
    make_field,
    make_group,
    make_label,
    make_row,
    name_widget,
    turn,
)
from app.parts.prose import Prose, tell_whole
from app.parts.roles import Role
from app.screens.columns.figures import CapLine
from app.theme import polish, text_font, theme
from engine import languages
from engine.protected import Protected
from engine.table.schema import MOST_LETTERS, MOST_LETTERS_OF_A_WORD

# --- How many rows of each person may count -------------------------------------------------------------

HEAD, LINE = 38, 28
PLACES = (0.0, 0.22, 0.56, 0.76)
"""Where the four columns begin, as a share of the width."""
NAMES = ("cap", "left_out", "losing", "error")


class CapTable(QWidget):
    """Emits ``chosen`` with a cap. Keys: up and down move, Space or Enter chooses."""

    chosen = Signal(int)
    SPOKEN_AS: ClassVar = Role.List

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("caps")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.lines: tuple[CapLine, ...] = ()
        self.cap: int | None = None
        self._at, self._rows = 0, 0
        theme.changed.connect(self.update)

    def show_lines(self, lines: Sequence[CapLine], *, rows: int, cap: int | None) -> None:
        """Show what each cap does; ``cap`` is the one that was chosen, ``rows`` how many there are in all."""
        self.setAccessibleName(words.say("app.columns.unit.caps_name"))
        found = (tuple(lines), rows, cap)
        if found == (self.lines, self._rows, self.cap):
            return
        self.lines, self._rows, self.cap = found
        self._at = next((at for at, line in enumerate(self.lines) if line.cap == cap), 0)
        self.setFixedHeight(HEAD + LINE * len(self.lines))
        self.setAccessibleDescription(" ".join(self.spoken(line) for line in self.lines))
        self.update()

    def spoken(self, line: CapLine) -> str:
        """Return a line as a sentence."""
        return words.say(
            "app.columns.unit.spoken",
            cap=line.cap,
            left_out=line.left_out,
            losing=line.losing,
            error=line.error,
        )

    def sizeHint(self) -> QSize:
        return QSize(440, HEAD + LINE * len(self.lines))

    def minimumSizeHint(self) -> QSize:
        return QSize(340, HEAD + LINE * len(self.lines))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = int((event.position().y() - HEAD) // LINE)
        if 0 <= at < len(self.lines):
            self._choose(at)
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), 0)
        if step and self.lines:
            self._at = min(max(self._at + step, 0), len(self.lines) - 1)
            self.update()
        elif event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.lines:
            self._choose(self._at)
        else:
            super().keyPressEvent(event)

    def _choose(self, at: int) -> None:
        self._at = at
        self.chosen.emit(self.lines[at].cap)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, tokens = QPainter(self), theme.tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(text_font(12, 600))
        painter.setPen(tokens.colour("quiet"))
        for name, (left, width) in zip(NAMES, self._columns(), strict=True):
            said = words.say(f"app.columns.unit.head.{name}", rows=self._rows)
            place = QRectF(left + 4, 0, width - 8, HEAD - 4)
            flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom | Qt.TextFlag.TextWordWrap
            painter.drawText(place, int(flags), said)
        most = max((line.left_out for line in self.lines), default=0) or 1
        worst = max((line.error for line in self.lines), default=0) or 1
        for at, line in enumerate(self.lines):
            top = HEAD + at * LINE
            self._line(painter, line, top, focused=self.hasFocus() and at == self._at)
            (second, wide), (third, narrow), (fourth, last) = self._columns()[1:]
            self._number(painter, second, top, line.left_out)
            self._bar(painter, second + 56, top, wide - 72, line.left_out / most, "care")
            self._number(painter, third, top, line.losing, room=narrow)
            self._number(painter, fourth, top, line.error, sign="± ")
            self._bar(painter, fourth + 56, top, last - 64, line.error / worst, "accent")
        painter.end()

    def _columns(self) -> list[tuple[float, float]]:
        ends = (*PLACES[1:], 1.0)
        width = self.width()
        return [(width * begin, width * (end - begin)) for begin, end in zip(PLACES, ends, strict=True)]

    def _line(self, painter: QPainter, line: CapLine, top: float, *, focused: bool) -> None:
        tokens, chosen = theme.tokens(), line.cap == self.cap
        whole = QRectF(0, top, self.width(), LINE)
        if chosen:
            painter.fillRect(whole, tokens.colour("accent_soft"))
        painter.setPen(QPen(tokens.colour("line"), 1))
        painter.drawLine(whole.topLeft(), whole.topRight())
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if focused:
            painter.setPen(QPen(tokens.colour("accent"), 1.5))
            painter.drawRect(whole.adjusted(1, 1, -1, -1))
        middle = QPointF(14, top + LINE / 2)
        painter.setPen(QPen(tokens.colour("accent" if chosen else "quiet"), 1.3))
        painter.drawEllipse(middle, 6.5, 6.5)
        if chosen:
            painter.setBrush(tokens.colour("accent"))
            painter.drawEllipse(middle, 3.2, 3.2)
        painter.setFont(text_font(13, 600 if chosen else 400))
        painter.setPen(tokens.colour("text"))
        name = words.say("app.columns.unit.all", cap=line.cap) if line.is_all else words.number(line.cap)
        place = QRectF(30, top, self._columns()[0][1] - 30, LINE)
        painter.drawText(place, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), name)

    def _number(
        self, painter: QPainter, left: float, top: float, value: int, *, room: float = 0.0, sign: str = ""
    ) -> None:
        painter.setPen(theme.tokens().colour("text"))
        painter.setFont(text_font())
        said = sign + words.number(value) if value or sign else words.say("app.columns.unit.none")
        place = QRectF(left, top, max(room - 24, 50), LINE)
        painter.drawText(place, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), said)

    @staticmethod
    def _bar(painter: QPainter, left: float, top: float, width: float, share: float, colour: str) -> None:
        if width < 20:
            return
        tokens = theme.tokens()
        painter.setPen(Qt.PenStyle.NoPen)
        for name, length in (("line", width), (colour, width * share)):
            painter.setBrush(tokens.colour(name))
            painter.drawRoundedRect(QRectF(left, top + LINE / 2 - 3, length, 6), 3, 3)


EACH, KEY, NOBODY = "each", "key", "nobody"
WAYS = (EACH, KEY, NOBODY)
WORDS = ("person", "patient", "client", "employee", "pupil", "household")


class UnitCard(Card):
    """Emits what the custodian says about a row."""

    way_chosen = Signal(str)  # EACH or NOBODY
    key_chosen = Signal(str)
    word_chosen = Signal(str)
    many_chosen = Signal(str)
    cap_chosen = Signal(int)
    reason_given = Signal(str)
    change_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("unit")
        self.body.setContentsMargins(16, 12, 16, 12)
        self._room, self._is_low = 16_777_215, False
        self._build_folded()
        self._build_open()
        self.unfold(True)

    def _build_folded(self) -> None:
        self.folded = QWidget()
        line = make_row(inside=self.folded, spacing=8, margins=0)
        self.sentence = name_widget(Prose(), "unit_sentence")
        self.short = make_group(make_row(spacing=8, margins=0))
        self._short: tuple[CapLine, ...] = ()
        self.change = QPushButton(words.say("app.columns.unit.change"))
        self.change.setObjectName("unit_change")
        self.change.setAccessibleName(words.say("app.columns.unit.change_name"))
        self.change.setProperty("look", "link")
        self.change.clicked.connect(lambda checked=False: self._change())
        add(line, (self.sentence, 1), self.short, self.change)
        self.body.addWidget(self.folded)

    def _build_open(self) -> None:
        self.open = QWidget()
        self._across = make_row(inside=self.open, spacing=20, margins=0)
        left = make_column(self._build_word(), spacing=6)
        self.group = QButtonGroup(self)
        self.ways: dict[str, QRadioButton] = {}
        for way in WAYS:
            button = self.ways[way] = QRadioButton()
            button.setObjectName(f"unit_{way}")
            self.group.addButton(button)
            button.clicked.connect(lambda checked=False, way=way: self._way(way))
            left.addWidget(button)
            if way == KEY:
                left.addLayout(self._build_key())
        self.means = Prose(tone="quiet", pixels=12)
        add(left, self.means, STRETCH)
        right = make_column(spacing=4)
        self.caps = CapTable()
        self.caps.chosen.connect(self.cap_chosen)
        self.note = Prose(words.say("app.columns.unit.note"), tone="quiet", pixels=12)
        add(right, self.caps, self.note, self._build_reason(), STRETCH)
        add(self._across, (left, 4), (right, 5))
        self.body.addWidget(self.open)

    def _build_word(self) -> QHBoxLayout:
        self._shown_many = ""
        line = make_row(spacing=8)
        label = make_label(words.say("app.columns.unit.word"), pixels=13, weight=600)
        self.word = make_choice("unit_word", words.say("app.columns.unit.word_name"))
        self.word.setEditable(True)
        self.word.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.word.setMinimumContentsLength(8)
        self.word.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.word.setMinimumWidth(152)
        field = self.word.lineEdit()
        assert field is not None
        field.setMaxLength(MOST_LETTERS_OF_A_WORD)
        for word in WORDS:
            self.word.addItem(words.say(f"app.columns.unit.words.{word}"))
        self.word.activated.connect(lambda place: self._word())
        field.editingFinished.connect(self._word)
        label.setBuddy(self.word)
        add(line, label, (self.word, 3))
        many = make_label(words.say("app.columns.unit.many"), pixels=13)
        self.many = make_field(
            "unit_many", words.say("app.columns.unit.many_name"), most=MOST_LETTERS_OF_A_WORD
        )
        self.many.setMinimumWidth(112)
        self.many.editingFinished.connect(self._many)
        tell_whole(self.many)
        many.setBuddy(self.many)
        add(line, many, (self.many, 2))
        return line

    def _build_key(self) -> QHBoxLayout:
        line = make_row(margins=(30, 0, 0, 0))
        self.key = make_choice("unit_column", words.say("app.columns.unit.column_name"))
        self.key.setPlaceholderText(words.say("app.columns.unit.column"))
        self.key.setMinimumContentsLength(14)
        self.key.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.key.activated.connect(lambda place: self.key_chosen.emit(self.key.currentData()))
        line.addWidget(self.key, 1)
        return line

    def _build_reason(self) -> QVBoxLayout:
        """What denies that every row is another person, and the line in which it is said why all the same."""
        self.denied = name_widget(Prose(tone="wrong", pixels=12), "unit_denied")
        self.reason = make_field(
            "unit_reason",
            words.say("app.columns.unit.reason_name"),
            lambda: self.reason_given.emit(" ".join(self.reason.text().split())),
            placeholder=words.say("app.columns.unit.reason"),
            most=MOST_LETTERS,
        )
        return make_column(self.denied, self.reason, spacing=6)

    def lay(self, room: int) -> None:
        """Put the table of caps beside the question, or below it where both do not fit into so many dots."""
        self._room = room
        left = max(button.minimumSizeHint().width() for button in self.ways.values())
        margins = self.body.contentsMargins().left() + self.body.contentsMargins().right()
        across = left + self._across.spacing() + self.caps.minimumSizeHint().width() + margins <= room
        turn(self._across, across)

    def set_low(self, wanted: bool) -> None:
        """Stand in a low window, whose lines go to what follows."""
        self._is_low = wanted
        self.setProperty("low", wanted)
        polish(*self.findChildren(QPushButton))
        self.unfold(not self.open.isHidden())

    def _change(self) -> None:
        self.change_wanted.emit()
        self.unfold(True)

    def unfold(self, wanted: bool) -> None:
        """Show the question, or only its answer; the focus is kept on what there is to answer."""
        focus = self.focusWidget()
        was_inside = focus is not None and self.open.isAncestorOf(focus) and focus.hasFocus()
        self.folded.setVisible(not wanted)
        self.open.setVisible(wanted)
        edge = 12 if wanted else 0 if self._is_low else 4
        self.body.setContentsMargins(16, edge, 16 if wanted else 10, edge)
        if was_inside and not wanted:
            asked = self.short.findChildren(QPushButton) if not self.short.isHidden() else []
            (asked[0] if asked else self.change).setFocus(Qt.FocusReason.OtherFocusReason)

    def ask_cap(self, lines: Sequence[CapLine]) -> None:
        """Ask in the folded line how many rows of each may count: one or all; others stand unfolded."""
        asked = tuple(dict.fromkeys((lines[0], lines[-1]))) if lines else ()
        self.short.setVisible(bool(asked))
        if asked == self._short:
            return
        self._short = asked
        row = self.short.layout()
        assert row is not None
        empty(row)
        for line in asked:
            said = words.say(f"app.columns.unit.short{'_all' if line.is_all else ''}", count=line.cap)
            button = make_button(
                said, f"cap_{line.cap}", partial(self.cap_chosen.emit, line.cap), look="chip"
            )
            button.setToolTip(words.tip(self.caps.spoken(line)))
            button.setAccessibleDescription(self.caps.spoken(line))
            row.addWidget(button)

    def show_answer(
        self, way: str, said: Protected, key: str, columns: Mapping[str, str], sentence: str
    ) -> None:
        """Show what was said: ``way`` is "" while nobody answered; columns by name, with their counts.

        ``key`` without an answer is the column that is likely: pressing the answer above it takes it.
        """
        spoken = languages.find(words.language())
        with QSignalBlocker(self.word):
            if not self.word.hasFocus():
                self.word.setCurrentText(said.said("person", spoken))
                if (field := self.word.lineEdit()) is not None:
                    field.setCursorPosition(0)
        with QSignalBlocker(self.many):
            if not self.many.hasFocus():
                self.many.setText(said.said("people", spoken))
                self.many.setToolTip(self.many.text())
                self.many.setCursorPosition(0)
        self._shown_many = said.said("people", spoken)
        with QSignalBlocker(self.key):
            if [self.key.itemText(place) for place in range(self.key.count())] != list(columns.values()):
                self.key.clear()
                for name, text in columns.items():
                    self.key.addItem(text, name)
            self.key.setCurrentIndex(self.key.findData(key) if key else -1)
        self.group.setExclusive(False)
        for name, button in self.ways.items():
            button.setText(words.say(f"app.columns.unit.ways.{name}"))
            button.setChecked(name == way)
        self.group.setExclusive(True)
        self.sentence.say(sentence)
        self.lay(self._room)  # a longer word takes more room

    def show_means(self, sentence: str) -> None:
        """Say what the answer means, with the figures of the table."""
        self.means.say(sentence)
        self.means.setVisible(bool(sentence))

    def show_denied(self, sentence: str, reason: str) -> None:
        """Say what denies that every row is another person, and ask why it is said; nothing hides both."""
        self.denied.say(sentence)
        for part in (self.denied, self.reason):
            part.setVisible(bool(sentence))
        self.reason.setPlaceholderText(words.say("app.columns.unit.reason"))  # in the words of today
        self.reason.setAccessibleName(words.say("app.columns.unit.reason_name"))
        if not (self.reason.hasFocus() and self.reason.isModified()):
            self.reason.setText(reason)

    def show_caps(self, lines: Sequence[CapLine], *, rows: int, cap: int | None) -> None:
        """Show the figures by cap; none hides them."""
        self.caps.setVisible(bool(lines))
        self.note.setVisible(bool(lines))
        self.caps.show_lines(lines, rows=rows, cap=cap)

    def _way(self, way: str) -> None:
        if way == KEY:
            if self.key.currentIndex() >= 0:
                self.key_chosen.emit(self.key.currentData())
            else:
                self.key.setFocus(Qt.FocusReason.OtherFocusReason)
                self.key.showPopup()
        else:
            self.way_chosen.emit(way)

    def _many(self) -> None:
        said = " ".join(self.many.text().split())
        if (
            said != self._shown_many
        ):  # the language's own word that stands there is not taken for the custodian's
            self.many_chosen.emit(said)

    def _word(self) -> None:
        said = " ".join(self.word.currentText().split())
        is_usual = (
            said == languages.find(words.language()).one
        )  # whoever has named nobody: no word of their own
        self.word_chosen.emit(Protected().one if is_usual else said)
