"""Who is protected: one question in words, asked before anything else and folded to a sentence afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.parts.cards import Card
from app.parts.prose import Prose, tell_whole
from app.screens.columns.cap_table import CapTable
from app.screens.columns.figures import CapLine
from app.theme import text_font
from engine.protected import Protected
from engine.table.schema import MOST_LETTERS, MOST_LETTERS_OF_A_WORD

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

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("unit")
        self.body.setContentsMargins(16, 12, 16, 12)
        self._room = 16_777_215
        self._build_folded()
        self._build_open()
        self.unfold(True)

    def _build_folded(self) -> None:
        self.folded = QWidget()
        line = QHBoxLayout(self.folded)
        line.setContentsMargins(0, 0, 0, 0)
        self.sentence = Prose()
        self.change = QPushButton(words.say("app.columns.unit.change"))
        self.change.setObjectName("unit_change")
        self.change.setAccessibleName(words.say("app.columns.unit.change_name"))
        self.change.setProperty("look", "link")
        self.change.clicked.connect(lambda checked=False: self.unfold(True))
        line.addWidget(self.sentence, 1)
        line.addWidget(self.change, 0, Qt.AlignmentFlag.AlignTop)
        self.body.addWidget(self.folded)

    def _build_open(self) -> None:
        self.open = QWidget()
        self._across = QBoxLayout(QBoxLayout.Direction.LeftToRight, self.open)
        self._across.setContentsMargins(0, 0, 0, 0)
        self._across.setSpacing(20)
        left = QVBoxLayout()
        left.setSpacing(6)
        left.addLayout(self._build_word())
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
        left.addWidget(self.means)
        left.addStretch(1)
        right = QVBoxLayout()
        right.setSpacing(4)
        self.caps = CapTable()
        self.caps.chosen.connect(self.cap_chosen)
        self.note = Prose(words.say("app.columns.unit.note"), tone="quiet", pixels=12)
        right.addWidget(self.caps)
        right.addWidget(self.note)
        right.addLayout(self._build_reason())
        right.addStretch(1)
        self._across.addLayout(left, 4)
        self._across.addLayout(right, 5)
        self.body.addWidget(self.open)

    def _build_word(self) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setSpacing(8)
        label = QLabel(words.say("app.columns.unit.word"))
        label.setFont(text_font(13, 600))
        self.word = QComboBox()
        self.word.setObjectName("unit_word")
        self.word.setEditable(True)
        self.word.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.word.setMinimumContentsLength(8)
        self.word.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.word.setMinimumWidth(96)
        self.word.setAccessibleName(words.say("app.columns.unit.word_name"))
        field = self.word.lineEdit()
        assert field is not None
        field.setMaxLength(MOST_LETTERS_OF_A_WORD)
        for word in WORDS:
            self.word.addItem(words.say(f"app.columns.unit.words.{word}"))
        self.word.activated.connect(lambda place: self._word())
        field.editingFinished.connect(self._word)
        label.setBuddy(self.word)
        line.addWidget(label)
        line.addWidget(self.word, 3)
        many = QLabel(words.say("app.columns.unit.many"))
        many.setFont(text_font(13))
        self.many = QLineEdit()
        self.many.setObjectName("unit_many")
        self.many.setMaxLength(MOST_LETTERS_OF_A_WORD)
        self.many.setMinimumWidth(72)
        self.many.setAccessibleName(words.say("app.columns.unit.many_name"))
        self.many.editingFinished.connect(lambda: self.many_chosen.emit(" ".join(self.many.text().split())))
        tell_whole(self.many)
        many.setBuddy(self.many)
        line.addWidget(many)
        line.addWidget(self.many, 2)
        return line

    def _build_key(self) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setContentsMargins(30, 0, 0, 0)
        self.key = QComboBox()
        self.key.setObjectName("unit_column")
        self.key.setAccessibleName(words.say("app.columns.unit.column_name"))
        self.key.setPlaceholderText(words.say("app.columns.unit.column"))
        self.key.setMinimumContentsLength(14)
        self.key.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.key.activated.connect(lambda place: self.key_chosen.emit(self.key.currentData()))
        line.addWidget(self.key, 1)
        return line

    def _build_reason(self) -> QVBoxLayout:
        """What denies that every row is another person, and the line in which it is said why all the same."""
        lines = QVBoxLayout()
        lines.setSpacing(6)
        self.denied = Prose(tone="wrong", pixels=12)
        self.denied.setObjectName("unit_denied")
        self.reason = QLineEdit()
        self.reason.setObjectName("unit_reason")
        self.reason.setMaxLength(MOST_LETTERS)
        self.reason.setPlaceholderText(words.say("app.columns.unit.reason"))
        self.reason.setAccessibleName(words.say("app.columns.unit.reason_name"))
        self.reason.editingFinished.connect(
            lambda: self.reason_given.emit(" ".join(self.reason.text().split()))
        )
        lines.addWidget(self.denied)
        lines.addWidget(self.reason)
        return lines

    def lay(self, room: int) -> None:
        """Put the table of caps beside the question, or below it where both do not fit into so many dots."""
        self._room = room
        left = max(button.minimumSizeHint().width() for button in self.ways.values())
        margins = self.body.contentsMargins().left() + self.body.contentsMargins().right()
        across = left + self._across.spacing() + self.caps.minimumSizeHint().width() + margins <= room
        down, beside = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._across.setDirection(beside if across else down)

    def unfold(self, wanted: bool) -> None:
        """Show the question, or only its answer."""
        self.folded.setVisible(not wanted)
        self.open.setVisible(wanted)

    def show_answer(
        self, way: str, said: Protected, key: str, columns: Mapping[str, str], sentence: str
    ) -> None:
        """Show what was said: ``way`` is "" while nobody answered; columns by name, with their counts."""
        with QSignalBlocker(self.word):
            if not self.word.hasFocus():
                self.word.setCurrentText(said.one)
        with QSignalBlocker(self.many):
            if not self.many.hasFocus():
                self.many.setText(said.several)
                self.many.setToolTip(said.several)
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

    def _word(self) -> None:
        self.word_chosen.emit(" ".join(self.word.currentText().split()))
