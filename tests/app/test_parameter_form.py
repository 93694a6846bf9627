"""The form of a method: a field for every kind of parameter, with its problem beside it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QWidget

from app import words
from app.widgets.parameter_form import ParameterForm
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.values import resolve
from engine.table.schema import Column, Domain, Kind, Origin, Schema


def write(qtbot: Any, field: QLineEdit, text: str) -> None:
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.wait(1)


def visible(root: QWidget, name: str) -> Any:
    QApplication.processEvents()
    return next(one for one in root.findChildren(QAbstractButton, name) if one.isVisible())


SCHEMA = Schema(
    (
        Column("sex", kind=Kind.CATEGORY, domain=Domain(values=("f", "m")), domain_origin=Origin.DECLARED),
        Column("ward", kind=Kind.CATEGORY, domain=Domain(values=("a", "b")), domain_origin=Origin.DECLARED),
        Column("stay", kind=Kind.INTEGER),
        Column("note", kind=Kind.TEXT),
    )
)
EVERY_KIND = (
    Parameter("number", ParameterKind.NUMBER, minimum=0, unit="days"),
    Parameter("integer", ParameterKind.INTEGER),
    Parameter("choice", ParameterKind.CHOICE, choices=("one", "two")),
    Parameter("boolean", ParameterKind.BOOLEAN),
    Parameter("text", ParameterKind.TEXT),
    Parameter("texts", ParameterKind.TEXTS),
    Parameter("each", ParameterKind.NUMBER, each=True),
    Parameter("column", ParameterKind.COLUMN, column_kinds=(Kind.CATEGORY,), needs_domain=True),
    Parameter("columns", ParameterKind.COLUMNS, minimum=1, column_kinds=(Kind.CATEGORY,)),
    Parameter("edges", ParameterKind.EDGES, minimum=2),
    Parameter("shares", ParameterKind.SHARES),
    Parameter("condition", ParameterKind.CONDITION),
    Parameter("hierarchy", ParameterKind.HIERARCHY),
    Parameter("source", ParameterKind.SOURCE),
    Parameter("records", ParameterKind.RECORDS, fields=(Parameter("value", ParameterKind.TEXT),)),
    Parameter("extra", ParameterKind.NUMBER, when=("choice", ("two",))),
)


class Form:
    """A form with its values, as the page keeps them."""

    def __init__(self, qtbot: Any) -> None:
        self.form = ParameterForm()
        self.form.changed.connect(self._take)
        self.values: dict[str, Any] = {}
        qtbot.addWidget(self.form)
        self.form.resize(700, 900)
        self.form.show()
        self.show()

    def _take(self, name: str, value: Any) -> None:
        self.values[name] = value
        self.values = {name: value for name, value in self.values.items() if value is not None}
        self.show()

    def show(self) -> None:
        _, problems = resolve(EVERY_KIND, self.values, {"people": SCHEMA})
        self.form.show_form("methods.of.a.test", EVERY_KIND, self.values, {"people": SCHEMA}, problems)

    def field(self, name: str) -> Any:
        return self.form.lines[name].field

    def problem(self, name: str) -> str:
        line = self.form.lines[name].problem
        return line.plain() if not line.isHidden() else ""


def test_every_kind_of_parameter_has_a_field_that_starts_unfilled(qtbot: Any) -> None:
    made = Form(qtbot)
    assert set(made.form.lines) == {parameter.name for parameter in EVERY_KIND}
    assert {parameter.kind for parameter in EVERY_KIND} == set(ParameterKind)
    for name, line in made.form.lines.items():
        assert line.field.value() is None, name
        assert made.problem(name) in ("", words.say("app.method.undecided"))
    assert made.form.lines["extra"].part.isHidden()


def test_fields_write_the_json_values_of_the_declaration(qtbot: Any) -> None:
    made = Form(qtbot)
    for name, text, value in (
        ("number", "1/3", "1/3"),
        ("integer", "12", 12),
        ("text", "some words", "some words"),
        ("texts", "yes; not now, thanks", ["yes", "not now, thanks"]),
        ("each", '{"sex": 1}', {"sex": 1}),
        ("edges", "0, 10, 20.5", [0, 10, 20.5]),
        ("shares", "3/4; 1/4", ["3/4", "1/4"]),
        ("condition", '{"column": "sex"}', {"column": "sex"}),
        ("hierarchy", "regions", "regions"),
    ):
        write(qtbot, made.field(name).edit, text)
        assert made.values[name] == value, name
    qtbot.mouseClick(made.field("choice").group.buttons()[1], Qt.MouseButton.LeftButton)
    assert made.values["choice"] == "two" and not made.form.lines["extra"].part.isHidden()
    made.field("boolean").box.click()
    assert made.values["boolean"] is True
    made.field("source").combo.setEditText("events")
    assert made.values["source"] == "events"
    made.field("records").add.click()
    made.form.findChild(QLineEdit, "value").setText("NO")
    made.form.findChild(QLineEdit, "value").textEdited.emit("NO")
    assert made.values["records"] == [{"value": "NO"}]


def test_columns_are_ordered_and_those_that_do_not_fit_say_why(qtbot: Any) -> None:
    made = Form(qtbot)
    combo = made.field("columns").combo
    names = [combo.itemText(place) for place in range(combo.count())]
    enabled = [bool(combo.model().item(place).isEnabled()) for place in range(combo.count())]
    assert dict(zip(names, enabled, strict=True)) == {"sex": True, "ward": True, "stay": False, "note": False}
    reason = combo.itemData(names.index("note"), Qt.ItemDataRole.ToolTipRole)
    assert "kind does not fit" in reason
    for name in ("sex", "ward"):
        combo.activated.emit(combo.findData(name))
    assert made.values["columns"] == ["sex", "ward"]
    visible(made.form, "earlier-ward").click()
    assert made.values["columns"] == ["ward", "sex"]
    visible(made.form, "remove-sex").click()
    assert made.values["columns"] == ["ward"]


def test_a_problem_stands_beside_its_field_in_the_words_of_the_label(qtbot: Any) -> None:
    made = Form(qtbot)
    write(qtbot, made.field("number").edit, "soon")
    assert "not a finite number" in made.problem("number")
    write(qtbot, made.field("number").edit, "-1")
    assert "below the smallest value, 0" in made.problem("number")
    write(qtbot, made.field("number").edit, "2")
    assert made.problem("number") == ""
    write(qtbot, made.field("shares").edit, "1/2, 1/4")
    assert "add up" in made.problem("shares")
