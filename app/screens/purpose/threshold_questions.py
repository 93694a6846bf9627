"""Motive and control: two questions that propose a group size with its source. Nothing is taken unasked."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from app import words
from app.parts.making import make_button, make_choice, make_grid, make_label, named
from app.parts.prose import Prose
from engine.release.plan import Purpose
from engine.risk.thresholds import CONTROLS, MOTIVES, SIZES, group_size, highest_risk, proposed

OWN = "own"


class ThresholdQuestions(QWidget):
    """Tells with ``decided`` the field of the purpose and what was answered."""

    decided = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = make_grid(self, across=16, down=4, margins=0)
        for side in (0, 1):
            self._grid.setColumnStretch(side, 1)
        self.fields: dict[str, QComboBox] = {}
        self._choice("motive", MOTIVES, 0, 0)
        self._choice("control", CONTROLS, 0, 1)
        self.proposal = named(Prose(tone="quiet"), "threshold-proposal")
        self._grid.addWidget(self.proposal, 2, 0, 1, 2)
        self.take = make_button("", "take-threshold", self._take)
        self._grid.addWidget(self.take, 3, 0, Qt.AlignmentFlag.AlignLeft)
        self._choice("threshold", (*map(str, SIZES), OWN), 4, 0)
        self.own = QLineEdit()
        self.own.setObjectName("threshold-own")
        self.own.setMaxLength(300)
        self.own.setAccessibleName(words.say("app.purpose.field.threshold.own"))
        self.own.setPlaceholderText(words.say("app.purpose.field.threshold.example"))
        self.own.editingFinished.connect(lambda: self.decided.emit("threshold", self.own.text().strip()))
        self._grid.addWidget(self.own, 5, 1)
        self._motive = self._control = self._threshold = ""
        self._wants_own = False

    def _choice(self, name: str, answers: tuple[str, ...], line: int, side: int) -> None:
        label = make_label(words.say(f"app.purpose.field.{name}.label"), pixels=12, tone="quiet")
        box = make_choice(f"purpose_{name}", label.text())
        box.addItem(words.say("app.purpose.unanswered"), "")
        for one in answers:
            box.addItem(words.say(f"app.purpose.field.{name}.{one}"), one)
        box.setMinimumContentsLength(12)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.activated.connect(lambda place, name=name: self._chosen(name))
        label.setBuddy(box)
        self._grid.addWidget(label, line, side)
        self._grid.addWidget(box, line + 1, side)
        self.fields[name] = box

    def show_purpose(self, purpose: Purpose) -> None:
        """Show what is answered, and what the answers propose."""
        self._motive, self._control, self._threshold = purpose.motive, purpose.control, purpose.threshold
        size = group_size(self._threshold)
        known = size in SIZES and self._threshold == written(size)
        if self._threshold:
            self._wants_own = not known
        shown = {
            "motive": self._motive,
            "control": self._control,
            "threshold": OWN if self._wants_own else str(size) if known else "",
        }
        for name, box in self.fields.items():
            with QSignalBlocker(box):
                if shown[name] and box.findData(shown[name]) < 0:
                    box.addItem(shown[name], shown[name])  # an answer in words, of a plan that was written
                box.setCurrentIndex(max(box.findData(shown[name]), 0))
        self.own.setVisible(self._wants_own)
        if not (self.own.hasFocus() and self.own.isModified()):
            self.own.setText(self._threshold if self._wants_own else "")
        found = proposed(self._motive, self._control)
        self.take.setVisible(found is not None and size != found)
        if found is None:
            self.proposal.say(words.say("app.purpose.proposal_none"))
            return
        self.take.setText(words.say("app.purpose.take_threshold", size=found))
        values = {"size": found, "risk": f"{float(highest_risk(found)):.2f}"}
        source = words.say(f"app.purpose.source.{found}")
        self.proposal.say(words.say("app.purpose.proposal", source=source, **values))

    def _chosen(self, name: str) -> None:
        answer = str(self.fields[name].currentData())
        if name != "threshold":
            self.decided.emit(name, answer)
            return
        self._wants_own = answer == OWN
        if answer == OWN:
            self.own.show()
            self.own.setFocus()
        else:
            self.decided.emit("threshold", written(int(answer)) if answer else "")

    def _take(self) -> None:
        found = proposed(self._motive, self._control)
        if found is not None:
            self._wants_own = False
            self.decided.emit("threshold", written(found))


def written(size: int) -> str:
    """Return a threshold with its source, as the plan and the internal report hold it."""
    risk = f"{float(highest_risk(size)):.2f}"
    return words.say(
        "app.purpose.threshold", size=size, risk=risk, source=words.say(f"app.purpose.source.{size}")
    )
