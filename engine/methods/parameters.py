"""Parameter: one declaration from which the form, the command line, the help and the check are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from typing import Any

from engine.table.schema import Kind, Role, Schema, exact

UNFILLED = None


class ParameterKind(StrEnum):
    """What a parameter holds; its JSON form in brackets."""

    NUMBER = "number"  # 0.1 or "1/3"
    INTEGER = "integer"
    CHOICE = "choice"  # one of the choices
    BOOLEAN = "boolean"
    TEXT = "text"
    COLUMN = "column"  # a name
    COLUMNS = "columns"  # names, in their order
    EDGES = "edges"  # increasing numbers, or increasing days as "2021-12-31"
    SHARES = "shares"  # numbers that sum to 1
    CONDITION = "condition"
    HIERARCHY = "hierarchy"
    SOURCE = "source"
    RECORDS = "records"  # a small table: objects with the fields


@dataclass(frozen=True)
class Parameter:
    """One thing to decide.

    Parameters
    ----------
    name
        Key in ``Request.parameters`` and in the texts (``parameters.NAME.label`` and ``.help``).
    kind
        What it holds.
    default
        Used when nothing was filled in; `UNFILLED` where a default would decide for the person.
    optional
        May stay unfilled.
    minimum, maximum
        Bounds of a number (inclusive), or of the count of columns, edges or records.
    choices
        For a choice; each has a text ``parameters.NAME.choices.CHOICE``.
    unit
        Printed after the field.
    when
        ``(name, values)``: applies only while another parameter has one of the values.
    column_kinds, column_roles
        Which columns may be named; empty means any.
    needs_domain
        The columns must have a domain that was declared or comes from a code list.
    fields
        Of records.
    """

    name: str
    kind: ParameterKind
    default: Any = UNFILLED
    optional: bool = False
    minimum: Fraction | int | None = None
    maximum: Fraction | int | None = None
    choices: tuple[str, ...] = ()
    unit: str = ""
    when: tuple[str, tuple[Any, ...]] | None = None
    column_kinds: tuple[Kind, ...] = ()
    column_roles: tuple[Role, ...] = ()
    needs_domain: bool = False
    fields: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class Problem:
    """Why a method cannot run yet. ``code`` and ``values`` find the sentences as those of an error do."""

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)
    parameter: str | None = None


def value_of(parameters: tuple[Parameter, ...], given: Mapping[str, Any], name: str) -> Any:
    """Return what was filled in, or the default of the declaration."""
    if given.get(name) is not UNFILLED:
        return given[name]
    return next(parameter.default for parameter in parameters if parameter.name == name)


def applies(parameter: Parameter, parameters: tuple[Parameter, ...], given: Mapping[str, Any]) -> bool:
    """Say whether a parameter is asked for, given the others."""
    if parameter.when is None:
        return True
    name, values = parameter.when
    return value_of(parameters, given, name) in values


def check_parameters(
    parameters: tuple[Parameter, ...], given: Mapping[str, Any], schema: Schema
) -> list[Problem]:
    """Check filled-in values against their declarations and the schema; reads no row.

    Returns
    -------
    list of Problem
        In the order of the declarations; empty when everything fits.
    """
    known = {parameter.name for parameter in parameters}
    found = [Problem("parameters.unknown", {"parameter": name}, name) for name in given if name not in known]
    for parameter in parameters:
        if applies(parameter, parameters, given):
            found += _check(parameter, value_of(parameters, given, parameter.name), schema)
    return found


def _check(parameter: Parameter, value: Any, schema: Schema) -> list[Problem]:
    if value is UNFILLED or value == [] or value == "":
        if parameter.optional:
            return []
        return [Problem("parameters.unfilled", {"parameter": parameter.name}, parameter.name)]
    problem = _CHECKS.get(parameter.kind, _accept)(parameter, value, schema)
    return [] if problem is None else [problem]


def _wrong(parameter: Parameter, code: str, **values: Any) -> Problem:
    return Problem(f"parameters.{code}", {"parameter": parameter.name, **values}, parameter.name)


def _accept(parameter: Parameter, value: Any, schema: Schema) -> Problem | None:
    return None


def _number(value: Any) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        return None
    try:
        return exact(value)
    except (ValueError, ZeroDivisionError):
        return None


def _outside(parameter: Parameter, size: Fraction | int) -> Problem | None:
    low, high = parameter.minimum, parameter.maximum
    if low is not None and size < low:
        return _wrong(parameter, "too_small", minimum=low)
    if high is not None and size > high:
        return _wrong(parameter, "too_large", maximum=high)
    return None


def _check_number(parameter: Parameter, value: Any, schema: Schema) -> Problem | None:
    number = _number(value)
    if number is None or (parameter.kind is ParameterKind.INTEGER and number.denominator != 1):
        return _wrong(parameter, "not_a_number" if number is None else "not_whole")
    return _outside(parameter, number)


def _check_choice(parameter: Parameter, value: Any, schema: Schema) -> Problem | None:
    return (
        None
        if value in parameter.choices
        else _wrong(parameter, "not_a_choice", choices=", ".join(parameter.choices))
    )


def _check_boolean(parameter: Parameter, value: Any, schema: Schema) -> Problem | None:
    return None if isinstance(value, bool) else _wrong(parameter, "not_yes_or_no")


def _check_text(parameter: Parameter, value: Any, schema: Schema) -> Problem | None:
    return None if isinstance(value, str) else _wrong(parameter, "not_text")


def _check_column(parameter: Parameter, value: Any, schema: Schema) -> Problem | None:
    if not isinstance(value, str) or value not in schema:
        return _wrong(parameter, "no_such_column")
    column = schema.column(value)
    if column.role in (Role.DIRECT_IDENTIFIER, Role.PERSON_KEY, Role.DROPPED):
        return _wrong(parameter, "identifier", column=value)
    if parameter.column_kinds and column.kind not in parameter.column_kinds:
        return _wrong(parameter, "kind", column=value, kinds=", ".join(parameter.column_kinds))
    if parameter.column_roles and column.role not in parameter.column_roles:
        return _wrong(parameter, "role", column=value, roles=", ".join(parameter.column_roles))
    if parameter.needs_domain and not column.is_declared:
        return _wrong(parameter, "domain_copied" if column.domain else "domain_missing", column=value)
    return None


def _check_columns(parameter: Parameter, value: Any, schema: Schema) -> Problem | None:
    if not isinstance(value, list | tuple):
        return _wrong(parameter, "not_a_list")
    if len(set(map(str, value))) != len(value):
        return _wrong(parameter, "twice")
    problems = (_check_column(parameter, name, schema) for name in value)
    return next(filter(None, problems), None) or _outside(parameter, len(value))


def edge_of(value: Any) -> Fraction | None:
    """Return an edge as an exact number, a day as its number since 1 January 1970; None where it is neither.

    Examples
    --------
    >>> edge_of("1/2"), edge_of("1970-01-03"), edge_of("soon")
    (Fraction(1, 2), Fraction(2, 1), None)
    """
    number = _number(value)
    if number is not None or not isinstance(value, str):
        return number
    try:
        return Fraction((date.fromisoformat(value.strip()) - date(1970, 1, 1)).days)
    except ValueError:
        return None


def _check_edges(parameter: Parameter, value: Any, schema: Schema) -> Problem | None:
    if not isinstance(value, list | tuple):
        return _wrong(parameter, "not_a_list")
    edges = [edge_of(item) for item in value]
    if any(edge is None for edge in edges):
        return _wrong(parameter, "not_a_number")
    if any(left >= right for left, right in pairwise(edges)):  # type: ignore[operator]
        return _wrong(parameter, "not_increasing")
    return _outside(parameter, len(edges))


def _check_shares(parameter: Parameter, value: Any, schema: Schema) -> Problem | None:
    if not isinstance(value, list | tuple):
        return _wrong(parameter, "not_a_list")
    shares = [_number(item) for item in value]
    if any(share is None or share <= 0 for share in shares):
        return _wrong(parameter, "not_positive")
    return None if sum(filter(None, shares)) == 1 else _wrong(parameter, "not_one")


def _check_records(parameter: Parameter, value: Any, schema: Schema) -> Problem | None:
    if not isinstance(value, list | tuple) or not all(isinstance(item, Mapping) for item in value):
        return _wrong(parameter, "not_a_list")
    for item in value:
        problems = check_parameters(parameter.fields, item, schema)
        if problems:
            return problems[0]
    return _outside(parameter, len(value))


_CHECKS = {
    ParameterKind.NUMBER: _check_number,
    ParameterKind.INTEGER: _check_number,
    ParameterKind.CHOICE: _check_choice,
    ParameterKind.BOOLEAN: _check_boolean,
    ParameterKind.TEXT: _check_text,
    ParameterKind.COLUMN: _check_column,
    ParameterKind.COLUMNS: _check_columns,
    ParameterKind.EDGES: _check_edges,
    ParameterKind.SHARES: _check_shares,
    ParameterKind.RECORDS: _check_records,
}
