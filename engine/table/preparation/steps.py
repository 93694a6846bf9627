"""The form of recorded steps and what they declare, without reading a row; see `prepare.py`."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import Any

from engine.errors import InputRefused
from engine.numbers import exact, shortest_json
from engine.table.coding import levels, text_of
from engine.table.patterns import is_day
from engine.table.preparation.declarations import MAKING, STEPS, Holds, Step
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema


def check(
    steps: Sequence[Step], schema: Schema, *, columns: Collection[str] | None = None, file: str = "plan"
) -> Schema:
    """Refuse steps that could not be applied, whatever the rows; reads no row and no list.

    Parameters
    ----------
    steps
        All of them: conditions are checked, as they are applied, after what the other steps make.
    schema
        Of the table as it is read.
    columns
        Names of the columns that there are before the first step; None where that is not known yet: then
        only the form is checked.
    file
        Where the steps stand, for messages.

    Returns
    -------
    Schema
        The declarations after the steps: what a step makes is declared by the step, unless the schema
        already declares the new column. A list in a file declares nothing here.

    Raises
    ------
    InputRefused
        ``preparation.bad_step``, ``preparation.bad_value``, ``preparation.edges_not_increasing``,
        ``preparation.labels_do_not_match``, ``preparation.no_such_column``, ``preparation.column_exists``,
        ``preparation.no_person_key``, ``preparation.person_key``: who is who is never remade.

    Examples
    --------
    >>> steps = [{"step": "bands", "column": "age", "edges": [0, 10, 20], "to": "band"}]
    >>> check(steps, Schema((Column("age"),)), columns=["age"]).column("band").domain.values
    ('[0-10)', '[10-20)')
    """
    for place, step in enumerate(steps, 1):
        kind = step.get("step") if isinstance(step, Mapping) else None
        if not isinstance(kind, str) or kind not in STEPS:
            raise InputRefused("preparation.bad_step", file=file, place=place, known=", ".join(STEPS))
        _check_form(step, _refusing(file, place), place)
    there = None if columns is None else set(columns)
    for place, step in enumerate(steps, 1):
        if step["step"] in MAKING:
            _check_names(step, place, schema, there)
            schema = declared_by(step, schema)
        elif step["step"] == "drop_people" and columns is not None and schema.person_key is None:
            raise InputRefused("preparation.no_person_key", place=place)
    for place, step in enumerate(steps, 1):
        if step["step"] == "keep_rows_where":
            _refuse_absent(step["column"], place, there)
            _check_condition(step, schema.column(step["column"]).kind, _refusing(file, place))
    return schema


def columns_of(steps: Sequence[Step], schema: Schema) -> frozenset[str]:
    """Return the columns of a schema that no step makes: those that a file has to have for the steps.

    Examples
    --------
    >>> steps = [{"step": "bands", "column": "age", "edges": [0, 10], "to": "band"}]
    >>> sorted(columns_of(steps, Schema((Column("age"), Column("band")))))
    ['age']
    """
    making = [step for step in steps if isinstance(step, Mapping) and step.get("step") in MAKING]
    made = [step.get("to") for step in making if step.get("to") != step.get("column")]
    return frozenset(column.name for column in schema.columns if column.name not in made)


def made_name(step: Step) -> str:
    """Return the column that a step makes or replaces."""
    return str(step.get("to") or step["column"])


def declared_by(step: Step, schema: Schema, mapping: Mapping[str, str] | None = None) -> Schema:
    """Return the schema after one step that makes a column.

    Parameters
    ----------
    step
        Its form has been checked.
    schema
        Before it. A new column that is declared there already stays as the custodian declared it.
    mapping
        What a recode maps, read from its file; None where the file was not read.
    """
    name, source = made_name(step), schema.column(step["column"])
    domain, kind = _domain_of(step, source, mapping)
    role = source.role
    if role in (Role.PERSON_KEY, Role.DIRECT_IDENTIFIER):
        # What keeps the cells of a column that names somebody names somebody too, whatever it is called. Only
        # where every cell becomes one of declared values it does not any more.
        keeps = step["step"] == "recode" and (step.get("others", "keep") == "keep" or "file" in step)
        role = Role.DIRECT_IDENTIFIER if keeps or domain is None else Role.IDENTIFYING
    if name != step["column"] and name in schema:
        names = role is Role.DIRECT_IDENTIFIER and schema.column(name).role is not Role.DROPPED
        return schema.with_column(replace(schema.column(name), role=role)) if names else schema
    return schema.with_column(Column(name, role, kind, domain, Origin.DECLARED if domain else None))


def mapping_of(step: Step) -> dict[str, str]:
    """Return what a recode without a file maps, cells in one form."""
    return {text_of(old): str(new) for old, new in step["map"].items()}


def band_labels(step: Step) -> tuple[str, ...]:
    """Return the labels of a step of bands: its own, or the bands in brackets.

    Examples
    --------
    >>> band_labels({"edges": [0, 17.5, 65]})
    ('[0-17.5)', '[17.5-65)')
    """
    if step.get("labels"):
        return tuple(str(label) for label in step["labels"])
    edges = [shortest_json(exact(edge)) for edge in step["edges"]]
    return tuple(f"[{low}-{high})" for low, high in pairwise(edges))


def _domain_of(step: Step, source: Column, mapping: Mapping[str, str] | None) -> tuple[Domain | None, Kind]:
    if step["step"] == "bands":
        return Domain(values=band_labels(step)), Kind.ORDINAL
    if step["step"] == "age_at":
        if step.get("minimum") is None or step.get("maximum") is None:
            return None, Kind.INTEGER
        return Domain(exact(step["minimum"]), exact(step["maximum"]), Fraction(1)), Kind.INTEGER
    if mapping is None and "file" not in step:
        mapping = mapping_of(step)
    if mapping is None:
        return None, Kind.CATEGORY
    if step.get("others", "keep") == "keep":
        return _mapped_domain(source, mapping), Kind.CATEGORY
    further = [step["label"]] if step["others"] == "label" else []
    return Domain(values=tuple(dict.fromkeys([*mapping.values(), *further]))), Kind.CATEGORY


def _mapped_domain(source: Column, mapping: Mapping[str, str]) -> Domain | None:
    """Return the declared values after the list, or None where the rows decide."""
    if not source.is_declared or source.domain is None:
        return None
    try:
        declared = levels(source)
    except InputRefused:
        return None
    return Domain(values=tuple(dict.fromkeys(mapping.get(text_of(level), level) for level in declared)))


Refuse = Callable[[bool, str], None]


def _refusing(file: str, place: int) -> Refuse:
    def refuse_unless(good: bool, name: str) -> None:
        if not good:
            raise InputRefused("preparation.bad_value", file=file, place=place, name=name[:100])

    return refuse_unless


def _check_form(step: Step, refuse_unless: Refuse, place: int) -> None:
    members = STEPS[step["step"]]
    known = {"step", *(member.name for member in members)}
    for name in step:
        refuse_unless(name in known, str(name))
    for member in members:
        given = step.get(member.name)
        if member.instead:
            refuse_unless((given is None) == (step.get(member.instead) is not None), member.name)
        if given is not None and member.applies(step):
            refuse_unless(_GOOD[member.holds](given) and given in (member.choices or (given,)), member.name)
        elif member.applies(step):
            refuse_unless(member.optional or bool(member.instead), member.name)
    if step["step"] == "age_at":
        _check_ends(step, refuse_unless, empty=False)
    elif step["step"] == "bands":
        _check_bands(step, place)


def _check_ends(step: Step, refuse_unless: Refuse, *, empty: bool) -> None:
    """Check the order of ``minimum`` and ``maximum``; ``empty``: whether they may be the same."""
    if step.get("minimum") is not None and step.get("maximum") is not None:
        low, high = (_comparable(step[name]) for name in ("minimum", "maximum"))
        refuse_unless(low < high or (empty and low == high), "maximum")


def _comparable(value: Any) -> Any:
    return date.fromisoformat(value) if is_day(value) else exact(value)


def _check_bands(step: Step, place: int) -> None:
    increasing = [exact(edge) for edge in step["edges"]]
    if any(low >= high for low, high in pairwise(increasing)):
        raise InputRefused("preparation.edges_not_increasing", place=place, column=step["column"])
    found, expected = len(set(band_labels(step))), len(increasing) - 1
    if found != expected or len(band_labels(step)) != expected:
        raise InputRefused(
            "preparation.labels_do_not_match",
            place=place,
            column=step["column"],
            found=found,
            expected=expected,
        )


def _check_names(step: Step, place: int, schema: Schema, there: set[str] | None) -> None:
    name, key = made_name(step), schema.person_key
    if key is not None and name == key.name:
        raise InputRefused("preparation.person_key", place=place, column=name)
    _refuse_absent(step["column"], place, there)
    if step.get("date_column") is not None:
        _refuse_absent(step["date_column"], place, there)
    if there is None:
        return
    if name != step["column"] and name in there:
        raise InputRefused("preparation.column_exists", place=place, column=name)
    there.add(name)


def _refuse_absent(name: str, place: int, there: set[str] | None) -> None:
    if there is not None and name not in there:
        raise InputRefused("preparation.no_such_column", place=place, column=name)


def _check_condition(step: Step, kind: Kind, refuse_unless: Refuse) -> None:
    """Check what depends on the kind of the column: days for days, numbers for all others."""
    good = is_day if kind is Kind.DATE else _is_number
    ends = [one for one in STEPS["keep_rows_where"] if one.holds is Holds.END and one.applies(step)]
    for member in ends:
        refuse_unless(good(step[member.name]), member.name)
    if step["is"] == "between":
        _check_ends(step, refuse_unless, empty=True)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value) and "\0" not in value


def _is_cell(value: Any) -> bool:
    """Whether a value can be compared with cells: text or a finite number."""
    return isinstance(value, str) or (_is_number(value) and not isinstance(value, Fraction))


def _is_number(value: Any) -> bool:
    """Whether a value is a finite number, also as the computer calculates with it."""
    try:
        return math.isfinite(float(exact(value)))
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        return False


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


_GOOD: Mapping[Holds, Callable[[Any], bool]] = {
    Holds.COLUMN: _is_name,
    Holds.NAME: _is_name,
    Holds.HEADING: lambda value: value == "" or _is_name(value),
    Holds.FILE: _is_name,
    Holds.CHOICE: lambda value: isinstance(value, str),
    Holds.NUMBER: _is_number,
    Holds.DAY: is_day,
    Holds.END: lambda value: _is_number(value) or is_day(value),
    Holds.CELLS: lambda value: _is_list(value) and all(map(_is_cell, value)),
    Holds.EDGES: lambda value: _is_list(value) and len(value) >= 2 and all(map(_is_number, value)),
    Holds.MAP: lambda value: (
        isinstance(value, Mapping) and bool(value) and all(map(_is_cell, (*value, *value.values())))
    ),
}
