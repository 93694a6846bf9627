"""From what was filled in to the values that a method works with: checked, converted, completed, once.

Methods, evidence and reports read the same values. Nothing here reads a row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import Any

from engine.errors import InputRefused
from engine.methods.parameters import UNFILLED, Parameter, ParameterKind, Problem, applies, value_of
from engine.numbers import exact, shortest_json
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Role, Schema

NOTHING = Schema(())
_NAMELESS = (Role.DIRECT_IDENTIFIER, Role.PERSON_KEY, Role.DROPPED)


class _Wrong(Exception):
    def __init__(self, problem: Problem) -> None:
        self.problem = problem


def resolve(
    parameters: tuple[Parameter, ...], given: Mapping[str, Any], schemas: Mapping[str, Schema]
) -> tuple[dict[str, Any], list[Problem]]:
    """Return the values of all parameters, and what is wrong with what was filled in.

    Parameters
    ----------
    parameters
        The declarations.
    given
        JSON values by name.
    schemas
        What was declared about each source.

    Returns
    -------
    values
        By name, as `ParameterKind` says; None for what does not apply, and for an optional one that is empty.
        Those with a problem are absent.
    problems
        In the order of the declarations; empty when everything fits.

    Examples
    --------
    >>> depth = Parameter("depth", ParameterKind.INTEGER, default=3, maximum=9)
    >>> resolve((depth,), {}, {})
    ({'depth': 3}, [])
    >>> resolve((depth,), {"depth": 12}, {})[1][0].code
    'parameters.too_large'
    """
    known = {parameter.name for parameter in parameters}
    problems = [
        Problem("parameters.unknown", {"parameter": name, "known": ", ".join(sorted(known))}, name)
        for name in given
        if name not in known
    ]
    values: dict[str, Any] = {}
    for parameter in parameters:
        try:
            values[parameter.name] = _resolve(parameter, parameters, given, schemas)
        except _Wrong as wrong:
            problems.append(wrong.problem)
    return values, problems


def to_json(value: Any) -> Any:
    """Return a value as it is written in JSON, exact numbers as text where a float would round them."""
    if isinstance(value, Fraction):
        return shortest_json(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): to_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return value


def columns_named(parameters: tuple[Parameter, ...], values: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return, by source, the columns that parameters name, each once, in the order of the declarations."""
    found: dict[str, dict[str, None]] = {}
    for parameter in parameters:
        value = values.get(parameter.name)
        if value is None:
            continue
        names = found.setdefault(parameter.source, {})
        for name in _names(parameter, value):
            names[name] = None
    return {source: tuple(names) for source, names in found.items() if names}


def _names(parameter: Parameter, value: Any) -> list[str]:
    if parameter.each:
        return list(value)
    if parameter.kind is ParameterKind.COLUMN:
        return [value]
    if parameter.kind is ParameterKind.COLUMNS:
        return list(value)
    if parameter.kind is ParameterKind.RECORDS:
        return [
            name
            for record in value
            for names in columns_named(parameter.fields, record).values()
            for name in names
        ]
    if parameter.kind is ParameterKind.CONDITION and isinstance(value, Mapping):
        return [str(value["column"])] if "column" in value else []
    return []


def _resolve(
    parameter: Parameter,
    parameters: tuple[Parameter, ...],
    given: Mapping[str, Any],
    schemas: Mapping[str, Schema],
) -> Any:
    if not applies(parameter, parameters, given):
        return None
    value = value_of(parameters, given, parameter.name)
    if value is UNFILLED or value in ([], "", {}, ()):
        if not parameter.optional:
            raise _wrong(parameter, "unfilled")
        several = parameter.kind in (ParameterKind.COLUMNS, ParameterKind.RECORDS, ParameterKind.TEXTS)
        return {} if parameter.each else () if several else None
    schema = schemas.get(parameter.source, NOTHING)
    if not parameter.each:
        return _READERS[parameter.kind](parameter, value, schema)
    if not isinstance(value, Mapping):
        raise _wrong(parameter, "not_by_column")
    found = {}
    for name, item in value.items():
        column = schema.column(_column(parameter, name, schema))
        found[name] = _READERS[parameter.kind](parameter, item, schema)
        if parameter.kind is ParameterKind.HIERARCHY:
            from engine.table.fitting import check_hierarchy  # on first use: it brings pandas along

            with _tell(parameter):
                check_hierarchy(Hierarchy.from_json(found[name], column=name, file="plan"), column)
    return found


def _wrong(parameter: Parameter, code: str, **values: Any) -> _Wrong:
    return _Wrong(Problem(f"parameters.{code}", {"parameter": parameter.name, **values}, parameter.name))


def _exact(value: Any) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        return None
    try:
        number = exact(value)
        float(number)  # rows are compared with it as floats
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    return number


def _within(parameter: Parameter, size: Fraction | int) -> None:
    low, high = parameter.minimum, parameter.maximum
    if low is not None and size < low:
        raise _wrong(parameter, "too_small", minimum=low)
    if high is not None and size > high:
        raise _wrong(parameter, "too_large", maximum=high)


def _number(parameter: Parameter, value: Any, schema: Schema) -> Fraction | int:
    number = _exact(value)
    if number is None:
        raise _wrong(parameter, "not_a_number")
    if parameter.kind is ParameterKind.INTEGER and number.denominator != 1:
        raise _wrong(parameter, "not_whole")
    _within(parameter, number)
    return int(number) if parameter.kind is ParameterKind.INTEGER else number


def _choice(parameter: Parameter, value: Any, schema: Schema) -> str:
    for choice, code in parameter.withdrawn:
        if value == choice:
            raise _Wrong(Problem(code, {"parameter": parameter.name}, parameter.name))
    if value not in parameter.choices:
        raise _wrong(parameter, "not_a_choice", choices=", ".join(parameter.choices))
    return str(value)


def _boolean(parameter: Parameter, value: Any, schema: Schema) -> bool:
    if not isinstance(value, bool):
        raise _wrong(parameter, "not_yes_or_no")
    return value


def _text(parameter: Parameter, value: Any, schema: Schema) -> str:
    if not isinstance(value, str):
        raise _wrong(parameter, "not_text")
    return value


def _list(parameter: Parameter, value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise _wrong(parameter, "not_a_list")
    return list(value)


def _texts(parameter: Parameter, value: Any, schema: Schema) -> tuple[str, ...]:
    found = tuple(_text(parameter, item, schema) for item in _list(parameter, value))
    _within(parameter, len(found))
    return found


def _column(parameter: Parameter, value: Any, schema: Schema) -> str:
    if not isinstance(value, str) or value not in schema:
        known = ", ".join(one.name for one in schema.columns)
        raise _wrong(parameter, "no_such_column", column=str(value)[:100], known=known)
    column = schema.column(value)
    if column.role is Role.NOT_RECOGNISED:
        raise _wrong(parameter, "not_recognised", column=value)
    if column.role in _NAMELESS and column.role not in parameter.column_roles:
        is_left_out = column.role is Role.DROPPED  # by the custodian: it need not name anybody
        raise _wrong(parameter, "left_out" if is_left_out else "identifier", column=value)
    if parameter.column_kinds and column.kind not in parameter.column_kinds:
        raise _wrong(parameter, "kind", column=value, kinds=", ".join(parameter.column_kinds))
    if parameter.column_roles and column.role not in parameter.column_roles:
        raise _wrong(parameter, "role", column=value, roles=", ".join(parameter.column_roles))
    if parameter.needs_domain and not column.is_declared:
        raise _wrong(parameter, "domain_copied" if column.domain else "domain_missing", column=value)
    return value


def _columns(parameter: Parameter, value: Any, schema: Schema) -> tuple[str, ...]:
    names = _list(parameter, value)
    if len(set(map(str, names))) != len(names):
        raise _wrong(parameter, "twice")
    found = tuple(_column(parameter, name, schema) for name in names)
    _within(parameter, len(found))
    return found


_DAY = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}")


def edge_of(value: Any) -> Fraction | date | None:
    """Return an edge as an exact number or a day; None where it is neither.

    Examples
    --------
    >>> edge_of("1/2"), edge_of("1970-01-03"), edge_of("soon")
    (Fraction(1, 2), datetime.date(1970, 1, 3), None)
    """
    number = _exact(value)
    if number is not None or not isinstance(value, str):
        return number
    try:
        return date.fromisoformat(value.strip())
    except ValueError:
        return None


def edge_number(edge: Fraction | date) -> Fraction:
    """Return an edge as a number, a day as its number since 1 January 1970."""
    return edge if isinstance(edge, Fraction) else Fraction((edge - date(1970, 1, 1)).days)


def _edges(parameter: Parameter, value: Any, schema: Schema) -> tuple[Fraction | date, ...]:
    edges = []
    for item in _list(parameter, value):
        edge = edge_of(item)
        if edge is None:
            is_day = isinstance(item, str) and _DAY.fullmatch(item.strip())
            raise _wrong(parameter, "not_a_day" if is_day else "not_a_number")
        edges.append(edge)
    if any(left >= right for left, right in pairwise(map(edge_number, edges))):
        raise _wrong(parameter, "not_increasing")
    _within(parameter, len(edges))
    return tuple(edges)


def _shares(parameter: Parameter, value: Any, schema: Schema) -> tuple[Fraction, ...]:
    found = []
    for item in _list(parameter, value):
        share = _exact(item)
        if share is None or share <= 0:
            raise _wrong(parameter, "not_positive")
        found.append(share)
    if sum(found) != 1:
        raise _wrong(parameter, "not_one")
    return tuple(found)


def _mapping(parameter: Parameter, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(parameter, "not_an_object")
    return dict(value)


def _condition(parameter: Parameter, value: Any, schema: Schema) -> Mapping[str, Any]:
    from engine.table.fitting import check_condition  # on first use: it brings pandas along

    found = _mapping(parameter, value)
    _column(parameter, found.get("column"), schema)
    with _tell(parameter):
        check_condition(found, schema)
    return found


def _hierarchy(parameter: Parameter, value: Any, schema: Schema) -> Mapping[str, Any]:
    found = _mapping(parameter, value)
    with _tell(parameter):
        return Hierarchy.from_json(found, column=parameter.name, file="plan").to_json()


@contextmanager
def _tell(parameter: Parameter) -> Iterator[None]:
    """Turn a refusal into a problem of a parameter."""
    try:
        yield
    except InputRefused as error:
        raise _Wrong(Problem(error.code, error.values, parameter.name)) from error


def _records(parameter: Parameter, value: Any, schema: Schema) -> tuple[Mapping[str, Any], ...]:
    records = _list(parameter, value)
    if not all(isinstance(item, Mapping) for item in records):
        raise _wrong(parameter, "not_a_list")
    found = []
    for item in records:
        values, problems = resolve(parameter.fields, item, {parameter.source: schema})
        if problems:
            raise _Wrong(problems[0])
        asked = [one.name for one in parameter.fields if applies(one, parameter.fields, item)]
        found.append({name: values[name] for name in asked})
    _within(parameter, len(found))
    return tuple(found)


_READERS: dict[ParameterKind, Callable[[Parameter, Any, Schema], Any]] = {
    ParameterKind.NUMBER: _number,
    ParameterKind.INTEGER: _number,
    ParameterKind.CHOICE: _choice,
    ParameterKind.BOOLEAN: _boolean,
    ParameterKind.TEXT: _text,
    ParameterKind.TEXTS: _texts,
    ParameterKind.COLUMN: _column,
    ParameterKind.COLUMNS: _columns,
    ParameterKind.EDGES: _edges,
    ParameterKind.SHARES: _shares,
    ParameterKind.WHERE: _text,
    ParameterKind.CONDITION: _condition,
    ParameterKind.HIERARCHY: _hierarchy,
    ParameterKind.RECORDS: _records,
}
