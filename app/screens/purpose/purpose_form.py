"""The questions about a request: what is needed at once, the rest in groups that unfold."""

from __future__ import annotations

from datetime import date

from PySide6.QtCore import QDate, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDateEdit, QGridLayout, QLabel, QLineEdit, QWidget

from app import words
from app.parts.cards import Card
from app.parts.making import (
    add,
    make_button,
    make_choice,
    make_column,
    make_field,
    make_grid,
    make_label,
    make_row,
    name_widget,
)
from app.parts.prose import Prose, tell_whole
from app.state.flow import REQUIRED
from app.state.purposes import DATES, GROUPS, REQUEST
from app.theme import text_font
from engine.release.plan import Purpose
from engine.risk.thresholds import CONTROLS, MOTIVES, SIZES, group_size, highest_risk, propose_threshold

# --- Motive and control ---------------------------------------------------------------------------------

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
        self.proposal = name_widget(Prose(tone="quiet"), "threshold-proposal")
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
        known = size in SIZES and self._threshold == write_threshold(size)
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
        found = propose_threshold(self._motive, self._control)
        self.take.setVisible(found is not None and size != found)
        if found is None:
            self.proposal.say(words.say("app.purpose.proposal_none"))
            return
        self.take.setText(words.say("app.purpose.take_threshold", size=found))
        values = {"size": found, "risk": words.signed(f"{float(highest_risk(found)):.2f}")}
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
            self.decided.emit("threshold", write_threshold(int(answer)) if answer else "")

    def _take(self) -> None:
        found = propose_threshold(self._motive, self._control)
        if found is not None:
            self._wants_own = False
            self.decided.emit("threshold", write_threshold(found))


def write_threshold(size: int) -> str:
    """Return a threshold with its source, as the plan and the internal report hold it."""
    risk = words.signed(f"{float(highest_risk(size)):.2f}")
    return words.say(
        "app.purpose.threshold", size=size, risk=risk, source=words.say(f"app.purpose.source.{size}")
    )


# --- A group of fields that lies folded until somebody opens it -----------------------------------------


class Fold(QWidget):
    """A line that opens and closes ``body``."""

    def __init__(self, name: str, heading: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._heading = heading
        column = make_column(inside=self, spacing=4, margins=0)
        self.line = make_button("", f"fold_{name}", look="link", checkable=True)
        column.addWidget(self.line)
        self.body = QWidget()
        self.grid = make_grid(self.body, across=16, down=4, margins=(0, 0, 0, 8))
        for side in (0, 1):
            self.grid.setColumnStretch(side, 1)
        self.body.hide()
        column.addWidget(self.body)
        self.line.toggled.connect(self._toggled)
        self._answered = (0, 0)
        self._say()

    def show_answered(self, count: int, whole: int) -> None:
        """Say how many of the fields are answered."""
        self._answered = (count, whole)
        self._say()

    def unfold(self) -> None:
        """Open it."""
        self.line.setChecked(True)

    def _toggled(self, on: bool) -> None:
        self.body.setVisible(on)
        self._say()

    def _say(self) -> None:
        count, whole = self._answered
        values = {"heading": self._heading, "count": count, "whole": whole}
        self.line.setText(
            words.say(f"app.purpose.fold_{'open' if self.line.isChecked() else 'shut'}", **values)
        )


YES = "yes"


class DateField(QWidget):
    """A date or none. Tells with ``decided`` the day as ISO text, or nothing."""

    decided = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        line = make_row(inside=self, spacing=12, margins=0)
        self.wanted = QCheckBox(words.say(f"app.purpose.field.{name}.ends"))
        self.wanted.setObjectName("purpose_ends" if name == "expires" else f"purpose_{name}_wanted")
        self.day = name_widget(QDateEdit(), f"purpose_{name}", words.say(f"app.purpose.field.{name}.label"))
        self.day.setCalendarPopup(True)
        self.day.setDisplayFormat(words.say("app.purpose.day_pattern"))
        self.day.setDate(QDate.currentDate().addYears(1))
        self.wanted.toggled.connect(lambda on: self._decide())
        self.day.dateChanged.connect(lambda day: self._decide())
        add(line, self.wanted, (self.day, 1))

    def show_day(self, written: str) -> None:
        """Show a day, or that there is none."""
        try:
            day = date.fromisoformat(written)
        except ValueError:
            day = None
        with QSignalBlocker(self.wanted), QSignalBlocker(self.day):
            self.wanted.setChecked(day is not None)
            self.day.setEnabled(day is not None)
            if day is not None:
                self.day.setDate(QDate(day.year, day.month, day.day))

    def _decide(self) -> None:
        day = self.day.date().toPython() if self.wanted.isChecked() else None
        self.decided.emit(day.isoformat() if isinstance(day, date) else "")


class PurposeForm(QWidget):
    """Tells with ``decided`` the field and what was answered; ``filled`` when earlier answers are wanted."""

    decided = Signal(str, str)
    filled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.fields: dict[str, QLineEdit] = {}
        self.days: dict[str, DateField] = {}
        self.folds: dict[str, Fold] = {}
        column = make_column(inside=self, spacing=16, margins=0)
        self.request = Card(words.say("app.purpose.request"))
        self.fill = make_button("", "fill-in", self.filled.emit, look="link")
        self.request.body.addWidget(self.fill)
        grid = make_grid(across=16, down=4)
        for side in (0, 1):
            grid.setColumnStretch(side, 1)
        for place, name in enumerate(REQUEST):
            self._add(grid, name, place)
        self.request.body.addLayout(grid)
        column.addWidget(self.request)
        self.further = Card(words.say("app.purpose.further"))
        self.further.body.setSpacing(2)

    def build_groups(self) -> None:
        """Make what is asked further: as much again, for which a page may want a breath."""
        for group, names in GROUPS.items():
            fold = Fold(group, words.say(f"app.purpose.group.{group}"))
            self.folds[group] = fold
            if group == "limits":
                self.limits = ThresholdQuestions()
                self.limits.decided.connect(self.decided)
                fold.grid.addWidget(self.limits, 0, 0, 1, 2)
            else:
                for place, name in enumerate(names):
                    self._add(fold.grid, name, place)
            self.further.body.addWidget(fold)

    def _add(self, grid: QGridLayout, name: str, place: int) -> None:
        line, side = 3 * (place // 2), place % 2
        grid.setRowMinimumHeight(line + 2, 6)
        if name == "states_total":
            self.total = QCheckBox(words.say("app.purpose.field.states_total.label"))
            self.total.setObjectName("purpose_states_total")
            self.total.toggled.connect(lambda on: self.decided.emit("states_total", YES if on else ""))
            grid.addWidget(self.total, line + 1, side)
            return
        label = QLabel(words.say(f"app.purpose.field.{name}.label"))
        if name in REQUIRED:
            label.setText(words.say("app.window.required", label=label.text()))
        label.setFont(text_font(12))
        label.setProperty("tone", "quiet")
        grid.addWidget(label, line, side)
        if name in DATES:
            self.days[name] = DateField(name)
            self.days[name].decided.connect(lambda day: self.decided.emit(name, day))
            label.setBuddy(self.days[name].day)
            grid.addWidget(self.days[name], line + 1, side)
            return
        field = make_field(f"purpose_{name}")
        tell_whole(field)
        field.setAccessibleName(label.text())
        field.setPlaceholderText(words.say(f"app.purpose.field.{name}.example"))
        field.setMaxLength(300)
        field.editingFinished.connect(lambda: self.decided.emit(name, field.text().strip()))
        label.setBuddy(field)
        self.fields[name] = field
        grid.addWidget(field, line + 1, side)

    def topics(self) -> list[tuple[QWidget, str]]:
        """Return every field with the name under which it is explained."""
        found: list[tuple[QWidget, str]] = [(field, name) for name, field in self.fields.items()]
        for name, day in self.days.items():
            found += [(day.wanted, name), (day.day, name)]
        found += [(box, name) for name, box in self.limits.fields.items()]
        found += [(fold.line, f"group.{name}") for name, fold in self.folds.items()]
        return [*found, (self.total, "states_total"), (self.limits.own, "threshold"), (self.fill, "fill")]

    def show_purpose(self, purpose: Purpose, offered: dict[str, str]) -> None:
        """Show what is answered; ``offered`` are answers of an earlier release that could be taken."""
        for name, field in self.fields.items():
            if not (field.hasFocus() and field.isModified()):
                field.setText(getattr(purpose, name))
                field.setCursorPosition(0)  # a long answer is read from its beginning
        for name, day in self.days.items():
            day.show_day(getattr(purpose, name))
        with QSignalBlocker(self.total):
            self.total.setChecked(purpose.states_total == YES)
        self.limits.show_purpose(purpose)
        for group, names in GROUPS.items():
            answered = sum(bool(getattr(purpose, name).strip()) for name in names)
            self.folds[group].show_answered(answered, len(names))
        self.fill.setVisible(bool(offered))
        if offered:
            organisation = offered.get("organisation") or purpose.organisation
            count = len(offered)
            self.fill.setText(words.say("app.purpose.fill", organisation=organisation, count=count))

    def unfold_to(self, name: str) -> None:
        """Open the group that asks for a field."""
        for group, names in GROUPS.items():
            if name in names:
                self.folds[group].unfold()
