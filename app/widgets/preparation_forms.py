"""One small form for each kind of preparation step; each makes the JSON that the plan records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.theme import text_font
from app.widgets.prose import Prose
from engine.errors import EngineError
from engine.table.schema import Schema

CONDITIONS = ("in", "not_in", "at_least", "at_most", "between", "missing", "not_missing")


class StepForm(QFrame):
    """Fields, "Add this step" and "Never mind"; what does not fit is said below the fields."""

    kind = ""
    made = Signal(dict)
    dropped = Signal()

    def __init__(self, columns: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        self.fields: dict[str, Any] = {}
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 4, 0, 4)
        box.setSpacing(8)
        self.grid = QGridLayout()
        self.grid.setHorizontalSpacing(16)
        self.grid.setVerticalSpacing(4)
        box.addLayout(self.grid)
        self.build()
        for column in range(self.grid.columnCount()):
            self.grid.setColumnStretch(column, 1)
        self.wrong = Prose(tone="wrong", pixels=12)
        self.wrong.hide()
        box.addWidget(self.wrong)
        line = QHBoxLayout()
        add = QPushButton(words.say("app.preparation.add"))
        add.setObjectName("step_add")
        add.clicked.connect(lambda checked=False: self._make())
        drop = QPushButton(words.say("app.preparation.drop"))
        drop.setObjectName("step_drop")
        drop.setProperty("look", "link")
        drop.clicked.connect(lambda checked=False: self.dropped.emit())
        line.addWidget(add)
        line.addWidget(drop)
        line.addStretch(1)
        box.addLayout(line)

    def build(self) -> None:
        """Make the fields."""

    def step(self) -> dict[str, Any]:
        """Return the step as it is filled in."""
        raise NotImplementedError

    def focus_first(self) -> None:
        """Put the cursor into the first field."""
        next(iter(self.fields.values())).setFocus()

    def _make(self) -> None:
        from engine.table.preparation.steps import check

        step = {name: value for name, value in self.step().items() if value not in ("", None)}
        try:
            check([step], Schema())
        except EngineError as error:
            self.wrong.say(" ".join(words.explain(error)))
            self.wrong.show()
            return
        self.made.emit(step)

    def _place(self, name: str, field: Any) -> Any:
        label = QLabel(words.say(f"app.preparation.field.{name}"))
        label.setFont(text_font(12))
        label.setProperty("tone", "quiet")
        label.setBuddy(field)
        field.setObjectName(f"step_{name}")
        field.setAccessibleName(label.text())
        place = len(self.fields)
        self.grid.addWidget(label, 2 * (place // 3), place % 3)
        self.grid.addWidget(field, 2 * (place // 3) + 1, place % 3, Qt.AlignmentFlag.AlignTop)
        self.fields[name] = field
        return field

    def add_column(self, name: str = "column") -> None:
        """Add a choice among the columns of the table."""
        field = QComboBox()
        field.setMinimumContentsLength(10)
        field.addItems(self.columns)
        self._place(name, field)

    def add_line(self, name: str) -> None:
        """Add a line of text, with an example in it."""
        field = QLineEdit()
        field.setPlaceholderText(words.say(f"app.preparation.example.{name}"))
        self._place(name, field)

    def text(self, name: str) -> str:
        """Return what a field says."""
        field = self.fields[name]
        if isinstance(field, QComboBox):
            return str(field.currentData() or field.currentText())
        if isinstance(field, QPlainTextEdit):
            return field.toPlainText().strip()
        return str(field.text()).strip()

    def listed(self, name: str) -> list[str]:
        """Return what stands between commas."""
        return [part.strip() for part in self.text(name).split(",") if part.strip()]


class KeepRows(StepForm):
    """Only rows that meet a condition."""

    kind = "keep_rows_where"

    def build(self) -> None:
        self.add_column()
        condition = QComboBox()
        for name in CONDITIONS:
            condition.addItem(words.say(f"app.preparation.condition.{name}"), name)
        condition.currentIndexChanged.connect(lambda place: self._fit())
        self._place("is", condition)
        self.add_line("values")
        self._fit()

    def _fit(self) -> None:
        field, condition = self.fields["values"], self.text("is")
        field.setEnabled(condition not in ("missing", "not_missing"))
        example = {"between": "between", "at_least": "value", "at_most": "value"}.get(condition, "values")
        field.setPlaceholderText(words.say(f"app.preparation.example.{example}"))

    def step(self) -> dict[str, Any]:
        step: dict[str, Any] = {"step": self.kind, "column": self.text("column"), "is": self.text("is")}
        given = self.listed("values")
        if step["is"] in ("in", "not_in"):
            step["values"] = given or None
        elif step["is"] in ("at_least", "at_most"):
            step["value"] = given[0] if given else None
        elif step["is"] == "between":
            step["minimum"], step["maximum"] = (*given, None, None)[:2]
        return step


class DropPeople(StepForm):
    """People in a list, for instance those who objected."""

    kind = "drop_people"

    def build(self) -> None:
        self.add_line("file")
        choose = QPushButton(words.say("app.load.choose"))
        choose.clicked.connect(lambda checked=False: self._ask())
        self.add_line("list_column")
        self.grid.addWidget(choose, 1, 2)

    def _ask(self) -> None:
        dialog = QFileDialog(self, words.say("app.preparation.drop_people.button"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.fields["file"].setText)
        dialog.open()

    def step(self) -> dict[str, Any]:
        return {"step": self.kind, "file": self.text("file"), "column": self.text("list_column")}


class AgeAt(StepForm):
    """Completed years at a date."""

    kind = "age_at"

    def build(self) -> None:
        self.add_column()
        self.add_line("date")
        self.add_line("to")
        self.add_line("minimum")
        self.add_line("maximum")

    def step(self) -> dict[str, Any]:
        date = self.text("date")
        key = "date_column" if date in self.columns else "date"
        return {
            "step": self.kind,
            "column": self.text("column"),
            key: date,
            "to": self.text("to") or "age",
            "minimum": self.text("minimum"),
            "maximum": self.text("maximum"),
        }


class Bands(StepForm):
    """A number in half-open bands with declared edges."""

    kind = "bands"

    def build(self) -> None:
        self.add_column()
        self.add_line("edges")
        self.add_line("to")

    def step(self) -> dict[str, Any]:
        column = self.text("column")
        to = self.text("to") or f"{column}_band"
        return {"step": self.kind, "column": column, "edges": self.listed("edges"), "to": to}


class Recode(StepForm):
    """Values replaced by a list."""

    kind = "recode"

    def build(self) -> None:
        self.add_column()
        pairs = QPlainTextEdit()
        pairs.setPlaceholderText(words.say("app.preparation.example.map"))
        pairs.setTabChangesFocus(True)
        pairs.setFixedHeight(96)
        self._place("map", pairs)
        others = QComboBox()
        for name in ("keep", "missing", "label"):
            others.addItem(words.say(f"app.preparation.others.{name}"), name)
        self._place("others", others)
        self.add_line("to")
        self.add_line("label")

    def step(self) -> dict[str, Any]:
        column = self.text("column")
        pairs: Mapping[str, str] = {
            old.strip(): new.strip()
            for old, mark, new in (line.partition("=") for line in self.text("map").splitlines())
            if mark and old.strip() and new.strip()
        }
        others = self.text("others")
        return {
            "step": self.kind,
            "column": column,
            "map": dict(pairs),
            "others": others,
            "label": self.text("label") if others == "label" else None,
            "to": self.text("to") or f"{column}_recoded",
        }


FORMS: Mapping[str, type[StepForm]] = {
    form.kind: form for form in (KeepRows, DropPeople, AgeAt, Bands, Recode)
}
