"""Whether a condition or a hierarchy fits the column that it is about: from declarations, without a row."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import Any

from engine.errors import InputRefused
from engine.numbers import exact
from engine.table.coding import levels, text_of
from engine.table.hierarchies import Hierarchy
from engine.table.preparation.steps import check
from engine.table.schema import Column, Kind, Schema

NUMERIC = (Kind.INTEGER, Kind.NUMBER)
_ORDERED = ("at_least", "at_most", "between")
_WORDS = (Kind.CATEGORY, Kind.INTEGER, Kind.TEXT)
_KINDS = {
    "bands": NUMERIC,
    "cuts": NUMERIC,
    "calendar": (Kind.DATE,),
    "prefix": _WORDS,
    "suffix": _WORDS,
    "codes": (Kind.CATEGORY, Kind.ORDINAL, Kind.TEXT),
}
SHOWN = 5  # values that a message names


def list_declared(column: Column) -> tuple[str, ...]:
    """Return the declared values of a column, one by one; empty where none or only bounds are declared.

    Examples
    --------
    >>> from engine.table.schema import Domain, Origin
    >>> list_declared(Column("sex", domain=Domain(values=("f", "m")), domain_origin=Origin.DECLARED))
    ('f', 'm')
    """
    if not column.is_declared or column.domain is None:
        return ()
    return levels(column) if column.domain.values is not None or column.domain.code_list is not None else ()


def check_condition(condition: Mapping[str, Any], schema: Schema, *, file: str = "plan") -> None:
    """Refuse a condition on rows that could hold for none of the declared values, or for the wrong ones.

    Parameters
    ----------
    condition
        As in a step of preparation: ``{"column": C, "is": "in", "values": […]}``.
    schema
        What is declared about the table.
    file
        Where the condition stands, for messages.

    Raises
    ------
    InputRefused
        ``preparation.*``: its form is wrong, or its column is not there. ``conditions.no_order``: the column
        has no numbers or days to compare. ``conditions.undeclared``: a value that was not declared.

    Examples
    --------
    >>> adults = {"column": "age", "is": "at_least", "value": 18}
    >>> check_condition(adults, Schema((Column("age", kind=Kind.INTEGER),)))
    """
    names = [column.name for column in schema.columns]
    check([{**condition, "step": "keep_rows_where"}], schema, columns=names, file=file)
    column = schema.column(condition["column"])
    if condition["is"] in _ORDERED and column.kind not in (*NUMERIC, Kind.DATE):
        raise InputRefused("conditions.no_order", column=column.name)
    for value in condition.get("values", ()) if condition["is"] in ("in", "not_in") else ():
        if not is_declared_value(text_of(value), column):
            raise InputRefused("conditions.undeclared", column=column.name, value=text_of(value)[:100])


def is_declared_value(value: str, column: Column) -> bool:
    """Whether a value fits what is declared of a column: its values, its bounds, or else its kind.

    Examples
    --------
    >>> from engine.table.schema import Domain, Origin
    >>> age = Column("age", kind=Kind.INTEGER, domain=Domain(Fraction(0), Fraction(9)),
    ...     domain_origin=Origin.DECLARED)
    >>> [is_declared_value(value, age) for value in ("3", "12", "old")]
    [True, False, False]
    """
    known = {text_of(one) for one in (*list_declared(column), *column.missing)}
    if value in known or list_declared(column):
        return value in known
    if column.kind is Kind.DATE:
        return _day(value) is not None
    if column.kind not in NUMERIC:
        return True  # nothing is declared that it could contradict
    try:
        number = exact(value)
    except (ValueError, ZeroDivisionError):
        return False
    return not column.is_declared or _inside(number, column)


def _inside(number: Fraction, column: Column) -> bool:
    domain = column.domain
    low, high = (None, None) if domain is None else (domain.minimum, domain.maximum)
    return (not isinstance(low, Fraction) or low <= number) and (
        not isinstance(high, Fraction) or number <= high
    )


def _day(value: str) -> date | None:
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None


def check_hierarchy(hierarchy: Hierarchy, column: Column) -> None:
    """Refuse a hierarchy that would make values of a column one for all without saying so.

    Raises
    ------
    InputRefused
        ``hierarchies.*``: bands of what are no numbers, periods of what are no days; ``hierarchies.levels``:
        a tree without some of the declared values.

    Examples
    --------
    >>> check_hierarchy(Hierarchy(bands=(Fraction(5),)), Column("age", kind=Kind.INTEGER))
    """
    form = next(iter(hierarchy.to_json()))
    kinds = _KINDS.get(form)
    if kinds is not None and column.kind not in kinds:
        raise InputRefused(f"hierarchies.{form}", column=column.name)
    without = unplaced_values(hierarchy, column)
    if without:
        more = "" if len(without) <= SHOWN else " …"
        raise InputRefused(
            "hierarchies.levels",
            column=column.name,
            values=", ".join(without[:SHOWN]) + more,
            count=len(without),
        )


def unplaced_values(hierarchy: Hierarchy, column: Column) -> tuple[str, ...]:
    """Return the declared values that have no place in a hierarchy."""
    return tuple(value for value in hierarchy.misses(list_declared(column)) if value not in column.missing)
