"""The form of a preparation step, from its declaration; it makes the JSON that the plan records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from app import words
from app.parts.making import (
    STRETCH,
    add,
    hidden,
    make_button,
    make_column,
    make_field,
    make_grid,
    make_label,
    make_row,
)
from app.parts.prose import Prose
from engine.errors import EngineError
from engine.table.preparation.declarations import STEPS, Holds, Member
from engine.table.schema import Schema


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
        line = QHBoxLayout()
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
                read = _READ.get(member.holds, lambda text: text)
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
        example = words.say(text_of("example", self.kind, member.name))
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


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _mapped(text: str) -> dict[str, str]:
    pairs = (
        (old.strip(), new.strip()) for old, _, new in (line.partition("=") for line in text.splitlines())
    )
    return {old: new for old, new in pairs if old and new}


_READ: dict[Holds, Callable[[str], Any]] = {
    Holds.CELLS: _listed,
    Holds.EDGES: _listed,
    Holds.MAP: _mapped,
}
