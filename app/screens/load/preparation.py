"""The recorded steps before anything is computed: keep rows, leave people out, ages, bands, recoding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFrame,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from app import words
from app.parts.cards import Card, Rule
from app.parts.layouts import ColumnLayout, RowLayout
from app.parts.making import (
    STRETCH,
    add,
    empty,
    hidden,
    make_button,
    make_column,
    make_field,
    make_grid,
    make_label,
    make_row,
)
from app.parts.prose import Prose
from app.parts.wrapping import Wrapping
from engine.errors import EngineError
from engine.table.preparation.declarations import STEPS, Holds, Member
from engine.table.schema import Schema

# --- The form of a preparation step, from its declaration -----------------------------------------------


class StepForm(QFrame):
    """Fields, "Add this step" and "Never mind"; what does not fit is said below the fields."""

    made = Signal(dict)
    dropped = Signal()

    def __init__(self, kind: str, columns: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.kind, self.columns = kind, tuple(columns)
        self.members = tuple(member for member in STEPS[kind] if member.shown)
        self.fields: dict[str, Any] = {}
        self._labels: dict[str, QLabel] = {}
        box = make_column(inside=self, spacing=8, margins=(0, 4, 0, 4))
        self.grid = make_grid(across=16, down=4)
        box.addLayout(self.grid)
        for member in self.members:
            self._place(member)
        for column in range(self.grid.columnCount()):
            self.grid.setColumnStretch(column, 1)
        self._fit()
        self.wrong = hidden(Prose(tone="wrong", pixels=12))
        box.addWidget(self.wrong)
        line = RowLayout()
        make = make_button(words.say("app.preparation.add"), "step_add", self._make)
        drop = make_button(words.say("app.preparation.drop"), "step_drop", self.dropped.emit, look="link")
        add(line, make, drop, STRETCH)
        box.addLayout(line)

    def focus_first(self) -> None:
        """Put the cursor into the first field."""
        next(iter(self.fields.values())).setFocus()

    def step(self) -> dict[str, Any]:
        """Return the step as it is filled in; what is left empty is not in it."""
        step: dict[str, Any] = {"step": self.kind}
        for member in self.members:
            if member.applies(step):
                read = _READ.get(member.holds, words.read_day if member.name == "date" else str)
                step[member.name] = read(self._text(member.name)) or member.suggested.format(**step)
        return {name: value for name, value in step.items() if value}

    def _text(self, name: str) -> str:
        field = self.fields[name]
        if isinstance(field, QComboBox):
            return str(field.currentData() or field.currentText())
        return str(field.toPlainText() if isinstance(field, QPlainTextEdit) else field.text()).strip()

    def _make(self) -> None:
        from engine.table.preparation.steps import check

        step = self.step()
        try:
            check([step], Schema())
        except EngineError as error:
            self.wrong.say(" ".join(words.explain(error)))
            self.wrong.show()
            return
        self.made.emit(step)

    def _fit(self) -> None:
        """Show what is asked for, given the choices."""
        step = {name: self._text(name) for name in self.fields}
        for member in self.members:
            self.fields[member.name].setVisible(member.applies(step))
            self._labels[member.name].setVisible(member.applies(step))

    def _place(self, member: Member) -> None:
        field = self._field(member)
        label = make_label(
            words.say(text_of("field", self.kind, member.name)), pixels=12, tone="quiet", buddy=field
        )
        field.setObjectName(f"step_{member.name}")
        field.setAccessibleName(label.text())
        place = len(self.fields)
        self.grid.addWidget(label, 2 * (place // 3), place % 3)
        shown = (
            self._with_button(field) if isinstance(field, QLineEdit) and member.holds is Holds.FILE else field
        )
        self.grid.addWidget(shown, 2 * (place // 3) + 1, place % 3, Qt.AlignmentFlag.AlignTop)
        self.fields[member.name], self._labels[member.name] = field, label

    def _field(self, member: Member) -> QComboBox | QPlainTextEdit | QLineEdit:
        if member.holds in (Holds.COLUMN, Holds.CHOICE):
            choice = QComboBox()
            choice.setMinimumContentsLength(10)
            if member.holds is Holds.COLUMN:
                choice.addItems([*([""] if member.optional else []), *self.columns])
            for name in member.choices:
                choice.addItem(words.say(f"app.preparation.choice.{member.name}.{name}"), name)
            choice.currentIndexChanged.connect(lambda place: self._fit())
            return choice
        example = words.typed_day(words.say(text_of("example", self.kind, member.name)))
        if member.holds is Holds.MAP:
            lines = QPlainTextEdit()
            lines.setPlaceholderText(example)
            lines.setTabChangesFocus(True)
            lines.setFixedHeight(96)
            return lines
        return make_field(placeholder=example)

    def _with_button(self, field: Any) -> QWidget:
        """Return a field for a file beside the button that looks for one."""
        both = QWidget()
        line = make_row((field, 1), inside=both, margins=0)
        choose = make_button(words.say("app.load.choose"), press=lambda: self._ask(field))
        line.addWidget(choose)
        return both

    def _ask(self, field: Any) -> None:
        dialog = QFileDialog(self, words.say("app.load.choose"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(field.setText)
        dialog.open()


def text_of(what: str, kind: str, name: str) -> str:
    """Return the id of a field's label or example: that of the step where it has one of its own."""
    own = f"app.preparation.{kind}.{what}.{name}"
    return own if words.has(own) else f"app.preparation.{what}.{name}"


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _map(text: str) -> dict[str, str]:
    pairs = (
        (old.strip(), new.strip()) for old, _, new in (line.partition("=") for line in text.splitlines())
    )
    return {old: new for old, new in pairs if old and new}


_READ: dict[Holds, Callable[[str], Any]] = {
    Holds.CELLS: _list,
    Holds.EDGES: _list,
    Holds.MAP: _map,
}


class PreparationSteps(Card):
    """A list of steps in their order, and a form for one more. Emits ``changed`` with all steps."""

    changed = Signal(tuple)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.load.preparation"), parent=parent)
        self.setObjectName("preparation")
        self._steps: tuple[Mapping[str, Any], ...] = ()
        self._columns: tuple[str, ...] = ()
        self.form: StepForm | None = None
        self.intro = Prose(words.say("app.load.preparation_intro"), tone="quiet")
        self.body.addWidget(self.intro)
        self._lines = make_column(spacing=0)
        self.body.addLayout(self._lines)
        self._form_place = ColumnLayout()
        self.body.addLayout(self._form_place)
        self.buttons: dict[str, QPushButton] = {}
        line = Wrapping()
        for kind in STEPS:
            button = QPushButton(words.say(f"app.preparation.{kind}.button"))
            button.setObjectName(f"add_{kind}")
            button.setProperty("look", "chip")
            button.clicked.connect(lambda checked=False, kind=kind: self.add(kind))
            self.buttons[kind] = button
            line.addWidget(button)
        self.body.addLayout(line)

    def show_steps(self, steps: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
        """Show the steps of a plan, for a table with these columns."""
        self._columns = tuple(columns)
        if tuple(steps) == self._steps and self._lines.count() == 2 * len(self._steps):
            return
        self._steps = tuple(steps)
        empty(self._lines)
        for place, step in enumerate(self._steps):
            add(self._lines, self._line(place, step), Rule())
        self.intro.setVisible(not self._steps)

    def _line(self, place: int, step: Mapping[str, Any]) -> QWidget:
        part = QWidget()
        row = make_row(inside=part, margins=(0, 2, 0, 2))
        sentence = step_words(step)
        remove = QPushButton(words.say("app.load.remove_step"))
        remove.setObjectName(f"remove_{place}")
        remove.setAccessibleName(words.say("app.load.remove_step_name", step=sentence))
        remove.setProperty("look", "link")
        remove.clicked.connect(
            lambda checked=False: self._emit(self._steps[:place] + self._steps[place + 1 :])
        )
        add(row, (Prose(f"{place + 1}. {sentence}"), 1), (remove, 0, Qt.AlignmentFlag.AlignTop))
        return part

    def add(self, kind: str) -> None:
        """Open the form of one kind of step."""
        self._close()
        self.form = StepForm(kind, self._columns)
        self.form.made.connect(lambda step: self._emit((*self._steps, step)))
        self.form.dropped.connect(self._close)
        self._form_place.addWidget(self.form)
        self.form.focus_first()

    def _close(self) -> None:
        if self.form is not None:
            self.form.hide()
            self.form.deleteLater()
            self.form = None

    def _emit(self, steps: tuple[Mapping[str, Any], ...]) -> None:
        self._close()
        self.changed.emit(steps)


def step_words(step: Mapping[str, Any]) -> str:
    """Return a recorded step as a sentence; it holds what the custodian wrote, nothing of the rows."""
    kind = str(step.get("step"))
    values = {name: value for name, value in step.items() if isinstance(value, str | int | float)}
    values["to"] = step.get("to") or step.get("column", "")
    if kind == "keep_rows_where":
        values["values"] = ", ".join(map(str, step.get("values", ())))
        return words.say(f"app.preparation.keep_rows_where.is.{step['is']}", **values)
    if step.get("file"):
        values["file"] = Path(str(step["file"])).name
    if kind == "age_at":
        values["date"] = step.get("date") or step.get("date_column", "")
    if kind == "bands":
        values["edges"] = ", ".join(map(str, step.get("edges", ())))
    if kind == "recode" and not step.get("map"):
        return words.say("app.preparation.recode.sentence_file", **values)
    return words.say(f"app.preparation.{kind}.sentence", count=len(step.get("map", ())), **values)
