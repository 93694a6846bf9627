"""What the settings give on the custodian's own rows, each kind of answer drawn in its own way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app import words
from app.parts.cards import Card, pill
from app.parts.form.parameter_fields import empty
from app.parts.prose import Heading, Prose
from app.parts.trial.choices_view import ChoicesView
from app.parts.trial.count_view import CountView
from app.parts.trial.solution_view import SolutionView
from app.parts.trial.standing_view import StandingView
from engine.methods.trying import Choices, CountTables, SolutionMap, Standing, Tried


class AnswerView(Protocol):
    """A widget for one kind of answer; its signal ``taken`` tells parameters that somebody chose in it."""

    taken: Any

    def show_answer(self, shown: Tried) -> None: ...


VIEWS: dict[type, Callable[[], Any]] = {
    SolutionMap: SolutionView,
    Standing: StandingView,
    Choices: ChoicesView,
    CountTables: CountView,
}
"""The widget of each kind of answer: a new kind is one line here."""


class TrialCard(Card):
    """``taken`` tells parameters; ``wanted`` that figures are asked for, ``stopped`` that they are not."""

    taken = Signal(object)
    ticked = Signal(str, object, object, bool)
    wanted = Signal()
    stopped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("trial")
        self._views: dict[type, Any] = {}
        line = QHBoxLayout()
        line.addWidget(Heading(words.say("app.trying.heading"), size="card"), 1)
        line.addWidget(pill(words.say("app.trying.inside")))
        self.body.addLayout(line)
        self.note = Prose(tone="quiet", pixels=12)
        self.note.setObjectName("trial-note")
        self.body.addWidget(self.note)
        self.ask = QPushButton()
        self.ask.setObjectName("trial-ask")
        self.ask.clicked.connect(lambda checked=False: self._press())
        self.body.addWidget(self.ask, 0, Qt.AlignmentFlag.AlignLeft)
        self._parts = QWidget()
        self._column = QVBoxLayout(self._parts)
        self._column.setContentsMargins(0, 6, 0, 0)
        self._column.setSpacing(18)
        self.body.addWidget(self._parts)
        self._busy = False
        self.hide()

    def show_answers(self, answers: Sequence[Tried], note: str) -> None:
        """Show what was found; a widget that is there already goes on, so that it keeps the focus."""
        kinds = [type(one) for one in answers]
        if list(self._views) != kinds:
            empty(self._column)
            self._views = {}
            for kind in kinds:
                view = VIEWS[kind]()
                view.taken.connect(self.taken)
                if isinstance(view, ChoicesView):
                    view.ticked.connect(self.ticked)
                self._views[kind] = view
                self._column.addWidget(view)
        for one in answers:
            self._views[type(one)].show_answer(one)
        self._parts.setVisible(bool(answers))
        self._parts.setEnabled(True)
        self._say(note, ask="")

    def barred(self) -> QWidget | None:
        """Return what leads on where something is shown that cannot leave; None otherwise."""
        shown = (one for one in self._views.values() if isinstance(one, SolutionView) and one.is_barred)
        found = next(shown, None) if self._parts.isVisible() else None
        return None if found is None else found.back

    def show_waiting(self, note: str) -> None:
        """Say what is still missing; nothing is shown that belongs to other settings."""
        self._parts.hide()
        self._say(note, ask="")

    def show_asking(self, note: str) -> None:
        """Offer to look, where that takes long."""
        self._parts.hide()
        self._say(note, ask=words.say("app.trying.ask"))

    def show_busy(self, *, stoppable: bool) -> None:
        """Say that it is being counted; what stands there belongs to the settings before."""
        self._say(words.say("app.trying.counting"), ask=words.say("app.trying.stop") if stoppable else "")
        self._busy = stoppable

    def _say(self, note: str, *, ask: str) -> None:
        self._busy = False
        self.note.say(note)
        self.note.setVisible(bool(note))
        self.ask.setText(ask)
        self.ask.setVisible(bool(ask))
        self.show()

    def _press(self) -> None:
        (self.stopped if self._busy else self.wanted).emit()
