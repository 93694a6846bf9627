"""Whether a table has what a way of releasing asks for, by its marked columns. Light: no row, no library.

Where nothing was declared of a column yet, a stand-in is: no value of a row is ever looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from engine.methods.parameters import UNFILLED, Parameter, ParameterKind, applies
from engine.methods.protocol import MAIN, Method
from engine.methods.values import resolve
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema

LETTERS = ("A", "B")
NUMBERS = (Kind.INTEGER, Kind.NUMBER)
NEVER = (Role.PERSON_KEY, Role.DIRECT_IDENTIFIER, Role.DROPPED, Role.NOT_RECOGNISED, Role.WEIGHT)
OF_COLUMNS = (ParameterKind.COLUMN, ParameterKind.COLUMNS)


def stand_in(column: Column) -> Column:
    """Return a column with values to invent from: its own where they were declared, otherwise stand-ins.

    Examples
    --------
    >>> stand_in(Column("ward", kind=Kind.CATEGORY)).domain.values
    ('A', 'B')
    """
    column = column.without_copied()
    if column.is_declared or column.kind is Kind.TEXT:
        return column
    if column.kind is Kind.DATE:
        domain = Domain(minimum="2020-01-01", maximum="2020-12-31")
    elif column.kind in NUMBERS:
        domain = Domain(minimum=Fraction(0), maximum=Fraction(100), step=Fraction(1))
    else:
        domain = Domain(values=LETTERS)
    return replace(column, domain=domain, domain_origin=Origin.DECLARED)


def usable_columns(schema: Schema) -> tuple[Column, ...]:
    """Return the columns that may have a part in a release, each with values to invent from."""
    found = (one for one in schema.columns if one.role not in NEVER and one.kind is not Kind.TEXT)
    return tuple(stand_in(one) for one in found)


@dataclass(frozen=True)
class Lacks:
    """What a table lacks for a way: ``kinds`` of column that a parameter takes and no column has, or rows.

    ``rows`` says that the way needs rows of the table, and a server only counts what is in them.
    """

    parameter: str
    kinds: tuple[Kind, ...]
    wanted: int
    rows: bool = False


NO_ROWS = Lacks("", (), 0, rows=True)
"""What a table on a server lacks for a way that needs more than counts and sums."""


def lacks(method: type[Method], schema: Schema) -> Lacks | None:
    """Return what a table lacks for a way, by its marked columns; None where it has all.

    Examples
    --------
    >>> from engine.methods.catalogue import method
    >>> wards = Schema((Column("ward", Role.IDENTIFYING, Kind.CATEGORY),))
    >>> lacks(method("statistics.counts"), wards) is None
    True
    >>> lacks(method("statistics.means"), Schema((Column("day", Role.TIME, Kind.DATE),))).parameter
    'value'
    """
    main = [one for one in method.sources if one.name == MAIN]
    if not main:
        return None
    schemas = {MAIN: Schema(usable_columns(schema), one_row_each=True)}
    found: list[Lacks | None] = []
    for given in _forms(method.parameters):
        needed = [
            one
            for one in method.parameters
            if one.kind in OF_COLUMNS
            and one.source == MAIN
            and not one.optional
            and one.default is UNFILLED
            and applies(one, method.parameters, given)
        ]
        found.append(next((lack for one in needed if (lack := _lack(one, schemas))), None))
    return None if None in found else found[0]


def _forms(parameters: tuple[Parameter, ...]) -> Iterable[Mapping[str, Any]]:
    """Return what the choices may be on which columns depend: a way fits where one of them does."""
    on = {one.when[0] for one in parameters if one.when and one.kind in OF_COLUMNS and not one.optional}
    for name in on:
        decides = next(one for one in parameters if one.name == name)
        if decides.default is UNFILLED:
            return [{name: choice} for choice in decides.choices or (True,)]
    return [{}]


def _lack(parameter: Parameter, schemas: Mapping[str, Schema]) -> Lacks | None:
    wanted = 1
    if parameter.kind is ParameterKind.COLUMNS:
        wanted = max(1, int(parameter.minimum or 1))
    if len(fitting_columns(parameter, schemas)) >= wanted:
        return None
    return Lacks(parameter.name, parameter.column_kinds, wanted)


def fitting_columns(parameter: Parameter, schemas: Mapping[str, Schema]) -> list[str]:
    """Return the columns that a parameter takes, each by itself."""
    probe = replace(
        parameter, kind=ParameterKind.COLUMN, when=None, minimum=None, maximum=None, default=None, each=False
    )
    return [
        column.name
        for column in schemas[MAIN].columns
        if not resolve((probe,), {probe.name: column.name}, schemas)[1]
    ]
