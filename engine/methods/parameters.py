"""Parameter: one declaration from which the form, the command line, the help and the check are made.

What is filled in is checked and converted once, in `engine.methods.values`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from engine.table.schema import Kind, Role

UNFILLED = None


class ParameterKind(StrEnum):
    """What a parameter holds: what is written in JSON → what the method gets."""

    NUMBER = "number"  # 0.1 or "1/3" → Fraction
    INTEGER = "integer"  # → int
    CHOICE = "choice"  # one of the choices → str
    BOOLEAN = "boolean"  # → bool
    TEXT = "text"  # → str
    TEXTS = "texts"  # → tuple of str
    COLUMN = "column"  # a name → str
    COLUMNS = "columns"  # names, in their order → tuple of str
    EDGES = "edges"  # increasing numbers, or increasing days as "2021-12-31" → tuple of Fraction or of date
    SHARES = "shares"  # numbers that sum to 1 → tuple of Fraction
    CONDITION = "condition"  # as a step of preparation → Mapping
    WHERE = "where"  # conditions on several columns in words, see methods.conditions → str
    HIERARCHY = "hierarchy"  # → Mapping
    RECORDS = "records"  # a small table: objects with the fields → tuple of Mapping


@dataclass(frozen=True)
class Parameter:
    """One thing to decide.

    Parameters
    ----------
    name
        Key in ``Request.values`` and in the texts (``parameters.NAME.label`` and ``.help``).
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
    withdrawn
        Choices that older plans may name, each with the code of the sentences that say why it is refused.
    unit
        Printed after the field.
    when
        ``(name, values)``: applies only while another parameter has one of the values.
    beside
        Name of another parameter: without a value of that one it had no part in a release.
    column_kinds, column_roles
        Which columns may be named; empty means any.
    needs_domain
        The columns must have a domain that was declared or comes from a code list.
    fields
        Of records.
    source
        The source whose columns are named.
    each
        One value for each of several columns: an object from column to value.
    inside
        The value stays with the custodian: it is not in the evidence that leaves.
    by_file
        Filled in by a file only: not asked for where it is empty.
    presets
        Values offered by name, ``BASE.parameters.NAME.presets.VALUE``, beside the field.
    """

    name: str
    kind: ParameterKind
    default: Any = UNFILLED
    optional: bool = False
    minimum: Fraction | int | None = None
    maximum: Fraction | int | None = None
    choices: tuple[str, ...] = ()
    withdrawn: tuple[tuple[str, str], ...] = ()
    unit: str = ""
    when: tuple[str, tuple[Any, ...]] | None = None
    column_kinds: tuple[Kind, ...] = ()
    column_roles: tuple[Role, ...] = ()
    needs_domain: bool = False
    fields: tuple[Parameter, ...] = ()
    source: str = "people"
    each: bool = False
    inside: bool = False
    by_file: bool = False
    presets: tuple[Any, ...] = ()
    beside: str = ""


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
    """Say whether a parameter is asked for, given the others: never where the one it hangs on is not."""
    if parameter.when is None:
        return True
    name, values = parameter.when
    decides = next(other for other in parameters if other.name == name)
    return applies(decides, parameters, given) and value_of(parameters, given, name) in values
