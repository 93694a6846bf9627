"""Questions as chips: a menu answers one, its cross takes the answer back; without an answer all fits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import QPointF, QRectF, QSize, Signal
from PySide6.QtGui import QAction, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from app import words
from app.parts.making import name_widget
from app.parts.wrapping import Wrapping
from app.theme import polish, theme


class Chip(QPushButton):
    """One question. ``answered`` tells that it was answered, or that the answer was taken back."""

    answered = Signal()

    def __init__(self, base: str, question: str, answers: tuple[str, ...]) -> None:
        super().__init__()
        self.base, self.question, self.answer = f"{base}.{question}", question, ""
        self.setObjectName(f"ask-{question}")
        self.setProperty("look", "answer")
        self.menu_of_answers = QMenu(self)
        self.actions_of: dict[str, QAction] = {}
        for answer in answers:
            action = self.menu_of_answers.addAction(words.say(f"{self.base}.{answer}"))
            action.setObjectName(f"{question}-{answer}")
            action.triggered.connect(partial(self._answer, answer))
            self.actions_of[answer] = action
        self.clicked.connect(lambda checked=False: self._pressed())
        theme.changed.connect(self.update)
        self._show()

    def _pressed(self) -> None:
        if self.answer:
            self._answer("")
        else:
            self.menu_of_answers.popup(self.mapToGlobal(self.rect().bottomLeft()))

    def _answer(self, answer: str, checked: bool = False) -> None:
        self.answer = answer
        self._show()
        self.answered.emit()

    def _show(self) -> None:
        asked = words.say(f"{self.base}.chip")
        said = words.say(f"{self.base}.{self.answer}") if self.answer else ""
        self.setText(words.say("app.method.answered", question=asked, answer=said) if said else asked)
        whole = words.say(f"{self.base}.question")
        taken = words.say("app.method.take_back", question=whole, answer=said) if said else whole
        self.setAccessibleName(taken)
        self.setToolTip(words.tip(taken))
        self.setProperty("given", bool(said))
        polish(self)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        self.ensurePolished()
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + 46, 36)

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter, tokens = QPainter(self), theme.tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(tokens.colour("accent" if self.answer else "text"), 1.5))
        box = QRectF(self.width() - 24, self.height() / 2 - 4, 8, 8)
        if self.answer:
            painter.drawLine(box.topLeft(), box.bottomRight())
            painter.drawLine(box.topRight(), box.bottomLeft())
        else:
            middle = box.center()
            painter.drawPolyline(QPolygonF([middle + QPointF(*at) for at in ((-4, -2), (0, 2), (4, -2))]))
        painter.end()


class Answers(QWidget):
    """All chips in one line, or more; texts at ``BASE.QUESTION`` and below it."""

    answered = Signal()

    def __init__(self, base: str, questions: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__()
        line = Wrapping(self, spacing=8)
        self.chips = {name: Chip(base, name, answers) for name, answers in questions.items()}
        for chip in self.chips.values():
            chip.answered.connect(self.answered)
            line.addWidget(chip)
        name_widget(self, "answers")

    def answers(self) -> dict[str, str]:
        """Return the answers that were given, by question."""
        return {name: chip.answer for name, chip in self.chips.items() if chip.answer}

    def answer(self, question: str, given: str) -> None:
        """Answer a question as its menu does."""
        self.chips[question].actions_of[given].trigger()
