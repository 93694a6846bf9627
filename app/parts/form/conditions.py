"""Conditions as lines of a sentence: column, operator, values; from text and back. No Qt.

What a person chooses from lists becomes the text that a method reads, and a text becomes lines again where it
has no brackets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import InputRefused
from engine.table.schema import Column, Kind

WITHOUT_VALUE = ("missing", "not_missing", "other")
ORDERED = ("at_least", "above", "at_most", "below", "between")
SEVERAL = ("in", "not_in")
_TURNED = {"not_in": "in", "not_missing": "missing"}  # operator of a line → what it says is not so


@dataclass(frozen=True)
class Clause:
    """One line: it counts together with those before it, or as another way of being counted."""

    column: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()
    joined: str = "and"

    @property
    def whole(self) -> bool:
        """Whether nothing has to be chosen any more."""
        if not self.column or not self.operator:
            return False
        needed = 0 if self.operator in WITHOUT_VALUE else 2 if self.operator == "between" else 1
        return len(self.values) >= needed and all(self.values)


def operators(column: Column, *, is_listed: bool) -> tuple[str, ...]:
    """Return the operators that fit a column in a question.

    Examples
    --------
    >>> operators(Column("sex", kind=Kind.CATEGORY), is_listed=True)
    ('in', 'not_in', 'missing', 'not_missing', 'other')
    """
    if is_listed:
        ordered = ORDERED if column.kind in (Kind.ORDINAL, Kind.INTEGER, Kind.NUMBER) else ()
        return (*SEVERAL, *ordered, *WITHOUT_VALUE)
    return (*ORDERED, *SEVERAL, "missing", "not_missing")


def step_operators(column: Column, *, is_listed: bool) -> tuple[str, ...]:
    """Return the operators that fit a column in a recorded condition on rows.

    Examples
    --------
    >>> step_operators(Column("age", kind=Kind.INTEGER), is_listed=False)
    ('at_least', 'at_most', 'between', 'in', 'not_in', 'missing', 'not_missing')
    """
    ordered = column.kind in (Kind.INTEGER, Kind.NUMBER, Kind.DATE)
    return (
        *(("at_least", "at_most", "between") if ordered else ()),
        *SEVERAL,
        "missing",
        "not_missing",
    )


def text_of(clauses: Sequence[Clause]) -> str:
    """Return lines as a text; one that is not whole leaves a gap, which is refused as unfinished.

    Examples
    --------
    >>> text_of([Clause("sex", "in", ("f",)), Clause("age", "at_least", ("60",), "or")])
    'sex is f or age at least 60'
    >>> text_of([Clause("unit name", "not_in", ("a", "is"))])
    '"unit name" not in (a, "is")'
    """
    return " ".join(
        f"{clause.joined} {_one(clause)}" if place else _one(clause) for place, clause in enumerate(clauses)
    )


def _one(clause: Clause) -> str:
    from engine.methods.conditions import GAP, Comparison, Not, write_condition

    if not clause.whole:
        return GAP
    operator, turned = _TURNED.get(clause.operator, clause.operator), clause.operator in _TURNED
    one = Comparison(clause.column, operator.replace("_", " "), clause.values)
    return write_condition(Not(one) if turned else one)


def clauses_of(text: str) -> tuple[Clause, ...] | None:
    """Return the lines of a text; None where it cannot be understood, or has brackets that lines cannot say.

    Examples
    --------
    >>> clauses_of("sex is not f and age between 20 and 30")
    (Clause(column='sex', operator='not_in', values=('f',), joined='and'), Clause(column='age', ...
    >>> clauses_of("sex is f and (age at least 60 or age below 20)") is None
    True
    """
    from engine.methods.conditions import AnyOf, parse  # on first use: methods take their time

    try:
        tree = parse(text)
    except InputRefused:
        return None
    found: list[Clause] = []
    for either in tree.parts if isinstance(tree, AnyOf) else (tree,):
        group = _together(either)
        if group is None:
            return None
        joined = "or" if found else "and"
        found += [Clause(one.column, one.operator, one.values, joined) for one in group[:1]] + group[1:]
    return tuple(found)


def _together(tree: Any) -> list[Clause] | None:
    from engine.methods.conditions import All, Comparison, Not

    found = []
    for part in tree.parts if isinstance(tree, All) else (tree,):
        turned = isinstance(part, Not)
        one = part.part if isinstance(part, Not) else part
        if not isinstance(one, Comparison):
            return None
        operator = one.operator.replace(" ", "_")
        if turned:
            operator = {name: line for line, name in _TURNED.items()}.get(operator, "")
        if not operator:
            return None
        found.append(Clause(one.column, operator, one.values))
    return found


def condition_of(clause: Clause, column: Column) -> dict[str, Any] | None:
    """Return a line as a recorded condition on rows; None while it is not whole.

    Examples
    --------
    >>> condition_of(Clause("age", "between", ("18", "65")), Column("age", kind=Kind.INTEGER))
    {'column': 'age', 'is': 'between', 'minimum': 18, 'maximum': 65}
    """
    if not clause.column:
        return None
    found: dict[str, Any] = {"column": clause.column, "is": clause.operator}
    values: list[Any] = list(clause.values)
    if column.kind in (Kind.INTEGER, Kind.NUMBER):
        values = [_number(value) for value in values]
    if clause.operator in SEVERAL:
        found["values"] = values
    elif clause.operator == "between":
        found |= dict(zip(("minimum", "maximum"), values, strict=False))
    elif clause.operator not in WITHOUT_VALUE and values:
        found["value"] = values[0]
    return found


def clause_of(condition: Mapping[str, Any]) -> Clause:
    """Return a recorded condition on rows as a line."""
    values = condition.get("values")
    if not isinstance(values, list | tuple):
        values = [
            condition[name] for name in ("value", "minimum", "maximum") if condition.get(name) is not None
        ]
    return Clause(str(condition.get("column", "")), str(condition.get("is", "")), tuple(map(str, values)))


def _number(text: str) -> Any:
    from engine.numbers import shortest_json, surely

    found = surely(text)
    return text if found is None else shortest_json(found)
