"""The form of a method: a field for every kind of parameter, with its problem beside it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QLineEdit, QWidget

from app import words
from app.parts.form.hierarchy_editor import HierarchyEditor
from app.parts.form.parameter_columns import fitting
from app.parts.form.parameter_fields import Field
from app.parts.form.parameter_form import ParameterForm
from app.parts.form.sentence_field import ValuesButton
from engine.methods.catalogue import method
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.values import resolve
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema


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
        Column("stay", kind=Kind.INTEGER, hierarchy=Hierarchy(bands=(Fraction(7), Fraction(14)))),
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
    Parameter("where", ParameterKind.WHERE, optional=True),
    Parameter("condition", ParameterKind.CONDITION),
    Parameter("hierarchy", ParameterKind.HIERARCHY),
    Parameter("hierarchies", ParameterKind.HIERARCHY, each=True),
    Parameter("records", ParameterKind.RECORDS, fields=(Parameter("value", ParameterKind.TEXT),)),
    Parameter("extra", ParameterKind.NUMBER, when=("choice", ("two",))),
)


@pytest.mark.parametrize("role", list(Role))
def test_a_column_is_said_to_name_somebody_only_where_it_does(role: Role) -> None:
    """What the custodian left out need not be a name: the reason tells the role, whatever it is."""
    schema = Schema((Column("remarks", role, Kind.CATEGORY),))
    fits, others = fitting(Parameter("columns", ParameterKind.COLUMNS), schema)
    assert fits == ["remarks"] or others
    names = role in (Role.DIRECT_IDENTIFIER, Role.PERSON_KEY)
    said = [one.short for one in others]
    assert said.count(words.say("app.method.unfit.identifier")) == names, said
    assert said.count(words.say("app.method.unfit.left_out")) == (role is Role.DROPPED), said
    assert all("which identifies" not in one.reason for one in others if not names)


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
        ("edges", "0, 10, 20.5", [0, 10, 20.5]),
        ("shares", "3/4; 1/4", ["3/4", "1/4"]),
    ):
        write(qtbot, made.field(name).edit, text)
        assert made.values[name] == value, name
    qtbot.mouseClick(made.field("choice").group.buttons()[1], Qt.MouseButton.LeftButton)
    assert made.values["choice"] == "two" and not made.form.lines["extra"].part.isHidden()
    made.field("boolean").box.click()
    assert made.values["boolean"] is True
    made.field("records").add.click()
    made.form.findChild(QLineEdit, "value").setText("NO")
    made.form.findChild(QLineEdit, "value").textEdited.emit("NO")
    assert made.values["records"] == [{"value": "NO"}]


def test_columns_are_ordered_and_those_that_do_not_fit_say_why(qtbot: Any) -> None:
    made = Form(qtbot)
    picker = made.field("columns")
    picks = {one.name: one for one in picker.list.picks.lines}
    assert {name: one.is_free for name, one in picks.items()} == {
        **dict.fromkeys(("sex", "ward"), True),
        **dict.fromkeys(("stay", "note"), False),
    }
    assert picks["note"].said == words.say("app.method.unfit.kind")
    assert "kind does not fit" in picks["note"].why
    spoken = picker.list.picks.index(list(picks).index("note"), 3).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "kind does not fit" in spoken
    for name in ("sex", "ward"):
        picker.press([name])
    assert made.values["columns"] == ["sex", "ward"]
    picker.list.setCurrentIndex(picker.list.picks.index(list(picks).index("ward"), 0))
    visible(made.form, "earlier-ward").click()
    assert made.values["columns"] == ["ward", "sex"]
    picker.press(["sex"])
    assert made.values["columns"] == ["ward"]


def test_a_long_text_is_read_from_its_beginning(qtbot: Any) -> None:
    field = Form(qtbot).field("text")
    field.show_value("word " * 60)
    assert field.edit.cursorPosition() == 0 and len(field.edit.text()) > 200


def test_a_guarded_column_is_no_part_of_all_that_may_leave(qtbot: Any) -> None:
    """What names people is ticked one by one, and stands in red."""
    made = Form(qtbot)
    picker = made.field("columns")

    class Seen:
        role, differs_everywhere, values, differs_nearly = Role.OTHER, True, (), True

    picker.show_seen({"ward": Seen()})
    picker.tick_all()
    assert made.values["columns"] == ["sex"]
    pick = next(one for one in picker.list.picks.lines if one.name == "ward")
    assert pick.guarded and pick.said == words.say("app.picker.state.guarded")
    picker.press(["ward"])
    assert made.values["columns"] == ["sex", "ward"]


def test_values_that_nearly_all_differ_are_no_part_of_all_that_may_leave(qtbot: Any) -> None:
    made = Form(qtbot)
    picker = made.field("columns")

    class Seen:
        role, differs_everywhere, values, differs_nearly = Role.OTHER, False, (), True

    picker.show_seen({"ward": Seen()})
    role = SCHEMA.column("ward").role
    assert role in (Role.SENSITIVE, Role.OTHER), "what is identifying is made coarser"
    picker.tick_all()
    assert made.values["columns"] == ["sex"]
    pick = next(one for one in picker.list.picks.lines if one.name == "ward")
    assert pick.guarded and pick.said == words.say("app.picker.state.apart")


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


def choose(combo: QComboBox, data: str) -> None:
    """Choose from a list as a person does."""
    place = combo.findData(data)
    assert place >= 0, [combo.itemData(one) for one in range(combo.count())]
    combo.setCurrentIndex(place)
    combo.activated.emit(place)


def part(root: QWidget, kind: Any, name: str) -> Any:
    """Return the visible part of a name."""
    QApplication.processEvents()
    return next(one for one in root.findChildren(kind, name) if one.isVisible())


def select(editor: HierarchyEditor, *places: tuple[int, int]) -> None:
    """Select cells of the table of steps."""
    model = editor.table.selectionModel()
    model.clear()
    for row, column in places:
        model.select(editor.table.model().index(row, column), model.SelectionFlag.Select)


def test_a_value_for_each_column_has_a_field_of_its_own(qtbot: Any) -> None:
    made = Form(qtbot)
    field = made.field("each")
    choose(field.combo, "sex")
    choose(field.combo, "stay")
    write(qtbot, field.fields["sex"].edit, "1/3")
    write(qtbot, field.fields["stay"].edit, "2")
    assert made.values["each"] == {"sex": "1/3", "stay": 2} and not made.problem("each")
    assert field.combo.findData("sex") < 0  # named once
    part(field, QAbstractButton, "remove-sex").click()
    assert made.values["each"] == {"stay": 2}


def test_a_condition_is_chosen_from_what_fits_the_column(qtbot: Any) -> None:
    made = Form(qtbot)
    field = made.field("condition")
    choose(part(field, QComboBox, "clause-column"), "sex")
    operators = part(field, QComboBox, "clause-operator")
    offered = [operators.itemData(place) for place in range(operators.count())]
    assert offered == ["in", "not_in", "missing", "not_missing"]  # no order among categories
    part(field, ValuesButton, "values").model.item(1).setCheckState(Qt.CheckState.Checked)
    assert made.values["condition"] == {"column": "sex", "is": "in", "values": ["m"]}
    choose(part(field, QComboBox, "clause-column"), "stay")
    choose(part(field, QComboBox, "clause-operator"), "between")
    write(qtbot, part(field, QLineEdit, "value-0"), "3")
    assert made.problem("condition")  # one end is missing
    write(qtbot, part(field, QLineEdit, "value-1"), "9")
    assert made.values["condition"] == {"column": "stay", "is": "between", "minimum": 3, "maximum": 9}
    assert not made.problem("condition")


def test_a_sentence_with_brackets_is_written_as_text(qtbot: Any) -> None:
    made = Form(qtbot)
    visible(made.form, "further").click()
    field = made.field("where")
    field.show_value("sex is f and (ward is a or stay above 3)")
    assert field.by_hand.isChecked() and not field.edit.isHidden()
    write(qtbot, field.edit, "sex is f or stay above 3")
    assert made.values["where"] == "sex is f or stay above 3"
    field.by_hand.click()
    assert [one.column for one in field.clauses] == ["sex", "stay"]
    part(field, QAbstractButton, "remove-clause-0").click()
    assert made.values["where"] == "stay above 3"


def test_values_are_put_into_groups_step_by_step(qtbot: Any) -> None:
    made = Form(qtbot)
    field = made.field("hierarchies")
    choose(field.combo, "ward")
    editor = field.fields["ward"].editor
    choose(editor.form, "tree")
    assert "hierarchies" not in made.values
    assert "2 of 2" in editor.note.plain()
    select(editor, (0, 1), (1, 1))
    editor.group.setText("surgical")
    editor.put.click()
    assert made.values["hierarchies"] == {"ward": {"tree": {"a": ["surgical"], "b": ["surgical"]}}}
    editor.more.click()
    model = editor.table.model()
    assert model.columnCount(QModelIndex()) == 3
    model.setData(model.index(0, 2), "all")  # who is in one group goes together
    assert made.values["hierarchies"]["ward"] == {
        "tree": {"a": ["surgical", "all"], "b": ["surgical", "all"]}
    }
    assert not made.problem("hierarchies")


def test_a_hierarchy_is_read_from_a_file_and_taken_from_another_column(qtbot: Any, tmp_path: Path) -> None:
    made = Form(qtbot)
    field = made.field("hierarchies")
    choose(field.combo, "ward")
    file = tmp_path / "ward.csv"
    file.write_text("a;north;*\nb;south;*\n")
    field.fields["ward"].editor.read_file(str(file))
    assert made.values["hierarchies"] == {"ward": {"tree": {"a": ["north"], "b": ["south"]}}}
    file.write_text("a;north;*\nc;south;*\n")
    field.fields["ward"].editor.read_file(str(file))
    without_b = {"ward": {"tree": {"a": ["north"], "c": ["south"]}}}
    assert made.values["hierarchies"] == without_b
    assert "declared values: b" in made.problem("hierarchies")
    file.write_text("a;north;*\nb\n")
    field.fields["ward"].editor.read_file(str(file))
    assert "line 2" in field.fields["ward"].editor.wrong.plain()
    assert made.values["hierarchies"] == without_b  # what was there stays
    field.fields["ward"].editor.read_file(str(tmp_path / "nothing.csv"))
    assert "nothing.csv" in field.fields["ward"].editor.wrong.plain()
    single = made.field("hierarchy").editor
    choose(single.form, "like:stay")
    assert made.values["hierarchy"] == {"bands": [7, 14], "start": 0}


def test_intervals_are_typed_and_shown_beside_the_values(qtbot: Any) -> None:
    made = Form(qtbot)
    field = made.field("hierarchies")
    choose(field.combo, "stay")
    editor = field.fields["stay"].editor
    choose(editor.form, "bands")
    write(qtbot, editor.widths, "5, 10")
    assert made.values["hierarchies"] == {"stay": {"bands": [5, 10], "start": 0}}
    model = editor.table.model()
    row = next(place for place in range(model.rowCount()) if model.written(place, 0) == "7")
    assert [model.written(row, column) for column in range(3)] == ["7", "[5, 10)", "[0, 10)"]
    write(qtbot, editor.widths, "5, 7")
    assert not editor.wrong.isHidden() and made.problem("hierarchies")


def test_a_further_line_leaves_those_before_it_alone(qtbot: Any) -> None:
    made = Form(qtbot)
    field = made.field("records")
    for text in ("a", "b", "c"):
        field.add.click()
        edit = [one for one in made.form.findChildren(QLineEdit, "value") if not one.isHidden()][-1]
        write(qtbot, edit, text)
    assert made.values["records"] == [{"value": "a"}, {"value": "b"}, {"value": "c"}]
    lines = [field.rows.itemAt(place).widget() for place in range(3)]
    field.add.click()
    assert [field.rows.itemAt(place).widget() for place in range(3)] == lines
    removes = [one for one in lines[1].findChildren(QAbstractButton) if one.text() == "Remove"]
    removes[-1].click()
    assert field.rows.itemAt(0).widget() is lines[0] and field.rows.count() == 3
    assert made.values["records"] == [{"value": "a"}, {"value": "c"}, {}]
    texts = [field.rows.itemAt(place).widget().findChild(QLineEdit, "value").text() for place in range(3)]
    assert texts == ["a", "c", ""]


def test_a_record_asks_only_what_belongs_to_its_choice(qtbot: Any) -> None:
    """Fields come and go with the choice that they hang on; what stood in those that went is forgotten."""
    steps = method("datasets.masking").parameters[1]
    form = ParameterForm()
    qtbot.addWidget(form)
    taken: list[Any] = []
    form.changed.connect(lambda name, value: taken.append(value))
    form.show_form("methods.datasets.masking", (steps,), {}, {"people": SCHEMA})
    field = form.lines["steps"].field
    field.add.click()
    assert {one.parameter.name for one in field.findChildren(Field)} == {"step"}
    chosen = field.findChild(QComboBox, "step")
    for kind, names in (("noise", {"column", "distribution", "standard_deviation"}), ("sample", {"share"})):
        chosen.setCurrentIndex(chosen.findData(kind))
        chosen.activated.emit(chosen.currentIndex())
        qtbot.wait(1)
        asked = [one for one in field.findChildren(Field) if not one.isHidden()]
        assert {one.parameter.name for one in asked} == {"step", *names}
        chosen = field.findChild(QComboBox, "step")
        if kind == "noise":
            edit = next(one for one in asked if one.parameter.name == "standard_deviation").edit
            write(qtbot, edit, "2")
            assert taken[-1] == [{"step": "noise", "standard_deviation": 2}]
    assert taken[-1] == [{"step": "sample"}]


NEEDS = {"column_kinds": (Kind.CATEGORY,), "needs_domain": True}
MISSED = Schema((*SCHEMA.columns, Column("race", kind=Kind.CATEGORY)))


def test_a_column_can_be_declared_wherever_it_is_missed(qtbot: Any) -> None:
    """In one value for each column, in a part of a record, in a condition: the value with it is said."""
    parameters = (
        Parameter("each", ParameterKind.NUMBER, each=True, **NEEDS),
        Parameter(
            "records",
            ParameterKind.RECORDS,
            fields=(Parameter("value", ParameterKind.TEXT), Parameter("by", ParameterKind.COLUMN, **NEEDS)),
        ),
        Parameter("where", ParameterKind.WHERE, optional=True, **NEEDS),
    )
    form = ParameterForm()
    qtbot.addWidget(form)
    wanted: list[Any] = []
    form.declare_wanted.connect(lambda *said: wanted.append(said))
    values = {"each": {"sex": 2}, "records": [{"value": "a", "by": "sex"}, {"value": "b"}]}
    form.show_form("methods.of.a.test", parameters, values, {"people": MISSED}, ())
    form.show()
    choose(form.lines["each"].field.combo, "race")
    assert wanted.pop() == ("each", "race", {"sex": 2, "race": None})
    records = form.lines["records"].field
    choose(records.rows.itemAt(1).widget().findChild(QComboBox, "by"), "race")
    assert wanted.pop() == ("records", "race", [{"value": "a", "by": "sex"}, {"value": "b", "by": "race"}])
    condition = form.lines["where"].field
    condition.more["add"].click()
    choose(condition.findChild(QComboBox, "clause-column"), "race")
    assert wanted.pop() == ("where", "race", "…")  # the line that is not whole yet stays
    assert not wanted


def test_a_condition_behind_its_label_does_not_begin_again(qtbot: Any) -> None:
    """It said: Who has, who have."""
    fields = (Parameter("when", ParameterKind.WHERE), Parameter("then", ParameterKind.WHERE))
    rules = Parameter("rules", ParameterKind.RECORDS, fields=fields)
    form = ParameterForm()
    qtbot.addWidget(form)
    given: dict[str, Any] = {"rules": [{"when": "sex is f", "then": "ward is a"}]}
    given["where"] = "sex is m"
    form.show_form("methods.of.a.test", (rules, *EVERY_KIND[11:12]), given, {"people": SCHEMA}, ())
    said = [one.text() for one in form.lines["rules"].field.findChildren(QLabel)]
    alone = [one.text() for one in form.lines["where"].field.findChildren(QLabel)]
    who = words.say("app.conditions.who")
    assert who not in said and who in alone


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1)])
def test_every_question_of_the_longest_survey_stands_on_the_page(qtbot: Any, share: Fraction) -> None:
    found = method("exchanges.survey")
    asked = next(one for one in found.parameters if one.kind is ParameterKind.RECORDS and one.maximum)
    count = int(asked.maximum * share)
    form = ParameterForm()
    qtbot.addWidget(form)
    form.resize(900, 2400)
    lines = [{"text": f"Question {place}?", "kind": "one_of"} for place in range(count)]
    form.show_form(f"methods.{found.id}", [asked], {asked.name: lines}, {}, [])
    form.show()
    qtbot.wait(20)
    table = form.lines[asked.name].field.table
    assert table.model().rowCount() == count > 20
    assert table.verticalScrollBar().maximum() == 0, "it does not scroll within itself"
