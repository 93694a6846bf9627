"""Conditions and hierarchies against the declarations of the column that they are about."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from engine import texts
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.values import resolve
from engine.table.fitting import unplaced_values
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema


def declared(name: str, kind: Kind, domain: Domain | None = None, role: Role = Role.IDENTIFYING) -> Column:
    return Column(name, role, kind, domain, Origin.DECLARED if domain else None, missing=("?",))


SCHEMA = Schema(
    (
        declared("sex", Kind.CATEGORY, Domain(values=("f", "m"))),
        declared("age", Kind.INTEGER, Domain(Fraction(0), Fraction(120), Fraction(1))),
        declared("weight", Kind.NUMBER),
        declared("born", Kind.DATE),
        declared("town", Kind.TEXT),
        declared("chapter", Kind.CATEGORY, Domain(code_list="sex_letters")),
        declared("person", Kind.INTEGER, role=Role.PERSON_KEY),
    )
)


def found(kind: ParameterKind, value: Any, *, each: bool = False) -> tuple[Any, str]:
    """Return what a parameter resolves to, and the code of the first problem."""
    values, problems = resolve((Parameter("it", kind, each=each),), {"it": value}, {"people": SCHEMA})
    if problems:
        assert problems[0].parameter == "it"
        texts.sentences(problems[0].code, problems[0].values)  # every value of the sentences is there
    return values.get("it"), problems[0].code if problems else ""


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ({"column": "age", "is": "at_least", "value": 18}, ""),
        ({"column": "age", "is": "between", "minimum": 18, "maximum": 65}, ""),
        ({"column": "sex", "is": "in", "values": ["f", "?"]}, ""),
        ({"column": "weight", "is": "in", "values": [70.5, "80"]}, ""),
        ({"column": "born", "is": "at_most", "value": "2020-12-31"}, ""),
        ({"column": "town", "is": "not_in", "values": ["Graz"]}, ""),
        ({"column": "town", "is": "missing"}, ""),
        ({"column": "height", "is": "missing"}, "parameters.no_such_column"),
        ({"is": "missing"}, "parameters.no_such_column"),
        ({"column": "person", "is": "in", "values": [1]}, "parameters.identifier"),
        ({"column": "age", "is": "about", "value": 18}, "preparation.bad_value"),
        ({"column": "age", "is": "at_least"}, "preparation.bad_value"),
        ({"column": "age", "is": "at_least", "value": "old"}, "preparation.bad_value"),
        ({"column": "age", "is": "between", "minimum": 65, "maximum": 18}, "preparation.bad_value"),
        ({"column": "born", "is": "at_most", "value": 2020}, "preparation.bad_value"),
        ({"column": "sex", "is": "in"}, "preparation.bad_value"),
        ({"column": "sex", "is": "in", "values": ["f"], "also": 1}, "preparation.bad_value"),
        ({"column": "sex", "is": "at_least", "value": 1}, "conditions.no_order"),
        ({"column": "town", "is": "at_least", "value": 1}, "conditions.no_order"),
        ({"column": "sex", "is": "in", "values": ["f", "x"]}, "conditions.undeclared"),
        ({"column": "chapter", "is": "not_in", "values": ["no such code"]}, "conditions.undeclared"),
        ({"column": "age", "is": "in", "values": [121]}, "conditions.undeclared"),
        ({"column": "weight", "is": "in", "values": ["heavy"]}, "conditions.undeclared"),
        ({"column": "born", "is": "in", "values": ["soon"]}, "conditions.undeclared"),
        ([1], "parameters.not_an_object"),
    ],
)
def test_a_condition_is_checked_as_a_run_would(condition: Any, code: str) -> None:
    value, problem = found(ParameterKind.CONDITION, condition)
    assert problem == code
    assert code or value == condition


WHOLE = {"tree": {"f": ["both"], "m": ["both"]}}


@pytest.mark.parametrize(
    ("hierarchy", "code"),
    [
        ({"sex": WHOLE, "age": {"bands": [5, 10]}}, ""),
        ({"born": {"calendar": ["month", "year"]}, "town": {"prefix": [3, 1]}}, ""),
        ({"sex": {"tree": {"f": ["both"]}}}, "hierarchies.levels"),
        ({"sex": {"bands": [5]}}, "hierarchies.bands"),
        ({"age": {"calendar": ["year"]}}, "hierarchies.calendar"),
        ({"weight": {"prefix": [1]}}, "hierarchies.prefix"),
        ({"age": {"bands": [5, 7]}}, "schema.hierarchy_bad"),
        ({"age": {"widths": [5]}}, "schema.hierarchy_form"),
        ({"age": [5]}, "parameters.not_an_object"),
        ({"height": {"bands": [5]}}, "parameters.no_such_column"),
        ({"person": {"bands": [5]}}, "parameters.identifier"),
        ([5], "parameters.not_by_column"),
    ],
)
def test_a_hierarchy_of_each_column_is_checked(hierarchy: Any, code: str) -> None:
    value, problem = found(ParameterKind.HIERARCHY, hierarchy, each=True)
    assert problem == code
    if not code and "sex" in hierarchy:
        assert value == {"sex": WHOLE, "age": {"bands": [5, 10], "start": 0}}


def test_a_hierarchy_alone_is_checked_for_its_form() -> None:
    assert found(ParameterKind.HIERARCHY, WHOLE) == (WHOLE, "")
    assert found(ParameterKind.HIERARCHY, {"bands": [10, 5]})[1] == "schema.hierarchy_bad"


def test_values_without_a_place_are_named() -> None:
    tree = Hierarchy(tree={"m": ("both",)})
    assert unplaced_values(tree, SCHEMA.column("sex")) == ("f",)
    assert unplaced_values(tree, SCHEMA.column("town")) == ()
    assert unplaced_values(Hierarchy(prefix=(1,)), SCHEMA.column("sex")) == ()
