"""From suggestions to the schema, and which of them a person has to confirm. No Qt."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.state.draft import without_copies
from app.state.flow import ROWS_PER_PERSON, UNIT
from app.state.settings import data_folder, write_aside
from engine import texts
from engine.bounded import read_text
from engine.errors import InputRefused
from engine.release.plan import Plan
from engine.table.code_lists import code_list
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema

ANSWERS = tuple(role for role in Role if role is not Role.NOT_RECOGNISED)
NUMERIC = (Kind.INTEGER, Kind.NUMBER)
LISTED = (Kind.CATEGORY, Kind.ORDINAL)


def question(name: str) -> str:
    """Return the open question about a column."""
    return f"column:{name}"


def column_of(suggestion: Any) -> Column:
    """Return a suggested column without what was copied from the rows: the plan holds no cell."""
    column: Column = suggestion.to_column()
    if column.domain_origin is Origin.COPIED:
        column = replace(column, domain=None, domain_origin=None)
    return column


def start(
    plan: Plan, questions: frozenset[str], names: Sequence[str], suggestions: Iterable[Any]
) -> tuple[Schema, frozenset[str]]:
    """Return schema and open questions after a table was read.

    A schema that fits the table stays as it is. Columns that it lacks are suggested only when it is empty or
    belongs to another file; columns that the table lacks go.
    """
    schema = plan.schema
    strange = any(column.name not in names for column in schema.columns)
    if schema.columns and not strange:
        return schema, questions
    kept = {column.name: column for column in schema.columns if column.name in names}
    asked = {entry for entry in questions if entry.removeprefix("column:") in names}
    columns = []
    for suggestion in suggestions:
        column = kept.get(suggestion.column)
        if column is None:
            column = column_of(suggestion)
            if column.role is Role.PERSON_KEY and any(one.role is Role.PERSON_KEY for one in kept.values()):
                column = replace(column, role=Role.DIRECT_IDENTIFIER)
            if suggestion.asked:
                asked.add(question(column.name))
        columns.append(column)
    made = replace(schema, columns=tuple(columns))
    if made.person_key is not None and (schema.person_key is None or ROWS_PER_PERSON in questions):
        asked.add(ROWS_PER_PERSON)
    if made.person_key is None and not made.one_row_each:
        asked.add(UNIT)  # no table says by itself that nobody stands in it twice
    return made, frozenset(asked)


def without_key(schema: Schema, *, one_row_each: bool) -> Schema:
    """Return a schema in which no column says whose a row is, as the custodian says.

    ``one_row_each`` where every row is another person.
    """
    return replace(with_person_key(schema, ""), one_row_each=one_row_each)


def with_person_key(schema: Schema, name: str, *, former: Role = Role.DIRECT_IDENTIFIER) -> Schema:
    """Return a schema in which this column says whose a row is, or none where it is empty.

    Another one that said it until now has the role ``former``.
    """

    def role(column: Column) -> Role:
        if column.name == name:
            return Role.PERSON_KEY
        return former if column.role is Role.PERSON_KEY else column.role

    return replace(schema, columns=tuple(replace(one, role=role(one)) for one in schema.columns))


def with_roles(schema: Schema, names: Iterable[str], role: Role) -> Schema:
    """Return a schema in which columns have a role; only one column can be the person key."""
    wanted = set(names)
    columns = []
    for column in schema.columns:
        if column.name in wanted:
            column = replace(column, role=role)
        elif role is Role.PERSON_KEY and column.role is Role.PERSON_KEY:
            column = replace(column, role=Role.DIRECT_IDENTIFIER)
        columns.append(column)
    known = {column.name for column in schema.columns}
    columns += [Column(name, role) for name in wanted if name not in known]
    one_row_each = schema.one_row_each and role is not Role.PERSON_KEY
    return replace(schema, columns=tuple(columns), one_row_each=one_row_each)


def with_kind(column: Column, kind: Kind) -> Column:
    """Return a column of another kind; allowed values that no longer make sense go."""
    fits = column.domain is not None and (
        (column.domain.values is not None or column.domain.code_list is not None) == (kind in LISTED)
    )
    if fits and kind in (*NUMERIC, *LISTED) and column.kind in (*NUMERIC, *LISTED):
        return replace(column, kind=kind)
    return replace(column, kind=kind, domain=None, domain_origin=None)


def alike(columns: Sequence[Column], suggestions: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the others of each group of columns that look alike and have one role, by its first column."""
    groups: dict[tuple[str, Role], list[str]] = {}
    for column in columns:
        suggestion = suggestions.get(column.name)
        if suggestion is not None and suggestion.alike:
            groups.setdefault((suggestion.alike, column.role), []).append(column.name)
    return {names[0]: tuple(names[1:]) for names in groups.values() if len(names) > 1}


def never_asked(columns: Iterable[Column], suggestions: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns that were taken as nobody can know them of a person, without asking anybody."""
    return tuple(
        column.name
        for column in columns
        if column.role in (Role.SENSITIVE, Role.OTHER)
        and (suggestion := suggestions.get(column.name)) is not None
        and not suggestion.asked
        and suggestion.role is column.role
    )


def with_plain_list(column: Column, suggestion: Any) -> Column:
    """Return a column with the code list that was proposed, where each of its codes says what it means.

    A list that gives a meaning to 0 and 1, or to letters, is only taken where somebody chooses it.
    """
    first = next(iter(suggestion.proposals), None) if suggestion is not None else None
    if first is None or not first.plain or column.domain is not None or column.kind not in LISTED:
        return column
    return replace(column, domain=Domain(code_list=first.code_list), domain_origin=Origin.CODE_LIST)


def declare_values(column: Column, domain: Domain | None, *, language: str = texts.FALLBACK) -> Column:
    """Return a column with allowed values that the custodian declared.

    A code list whose own words are English brings those of the language that is spoken, where the column has
    none: they are released with it, and stand in the field where they can be changed.
    """
    labels = {} if _are_of_a_list(column) else dict(column.labels)
    if domain is None:
        return replace(column, domain=None, domain_origin=None, labels=labels)
    if domain.code_list is None:
        return replace(column, domain=domain, domain_origin=Origin.DECLARED, labels=labels)
    labels = labels or code_list(domain.code_list).labels_in(language)
    return replace(column, domain=domain, domain_origin=Origin.CODE_LIST, labels=labels)


def _are_of_a_list(column: Column) -> bool:
    """Whether the labels of a column came with its code list, in whatever language."""
    if column.domain is None or column.domain.code_list is None:
        return False
    listed = code_list(column.domain.code_list)
    return any(dict(column.labels) == listed.labels_in(one) for one in texts.languages())


def seen(column: Column, suggestion: Any) -> Domain | None:
    """Return what was seen in the rows, as a start for what can be declared; None where it does not fit."""
    if suggestion is None or suggestion.domain_origin is not Origin.COPIED:
        return None
    domain: Domain | None = suggestion.domain
    listed = domain is not None and domain.values is not None
    return domain if listed == (column.kind in LISTED) else None


def vouch_for_values(
    decisions: Iterable[Mapping[str, Any]], column: str, reason: str
) -> tuple[Mapping[str, Any], ...]:
    """Return the decisions with the one that a column's values are known without its rows."""
    entry = {"decision": "values_vouched", "column": column, "reason": reason}
    same = (entry["decision"], column)
    return (*(one for one in decisions if (one.get("decision"), one.get("column")) != same), entry)


def last_schema_path(folder: Path | None = None) -> Path:
    """Return where the last schema is kept: names, roles and declared values, nothing of the rows."""
    return (folder if folder is not None else data_folder()) / "last-schema.json"


def keep_last_schema(schema: Schema, *, folder: Path | None = None) -> None:
    """Keep a schema for the next table of the same kind; a folder that cannot be written changes nothing."""
    try:
        write_aside(last_schema_path(folder), json.dumps(without_copies(schema).to_json(), indent=2) + "\n")
    except OSError:
        return


def last_schema(*, folder: Path | None = None) -> Schema | None:
    """Return the last schema, or None."""
    try:
        return Schema.loads(read_text(last_schema_path(folder)))
    except (OSError, ValueError, InputRefused):
        return None


def reuse(schema: Schema, last: Schema) -> tuple[Schema, frozenset[str]]:
    """Return a schema marked as the last one was, and the names of the columns that this decided."""
    known: Mapping[str, Column] = {column.name: column for column in last.columns}
    columns = tuple(known.get(column.name, column) for column in schema.columns)
    decided = frozenset(column.name for column in schema.columns if column.name in known)
    has_key = any(column.role is Role.PERSON_KEY for column in columns if column.name in decided)
    return replace(
        schema,
        columns=columns,
        rows_per_person=last.rows_per_person if has_key else schema.rows_per_person,
        protected=schema.protected or last.protected,
        protected_many=schema.protected_many if schema.protected else last.protected_many,
        # That each row is another person was said of these columns, not of a table with others.
        one_row_each=last.one_row_each and not has_key and len(decided) == len(schema.columns),
    ), decided
