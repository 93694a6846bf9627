"""A column in a few words: what it holds, why it was suggested, what marking it does. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from app import words
from engine.methods.protocol import Method, Rows
from engine.release.plan import Plan
from engine.table.missing_words import missing_words
from engine.table.schema import Column, Role


def values_words(column: Column, suggestion: Any) -> str:
    """Return what a column holds, in a few words."""
    seen = dict(suggestion.values) if suggestion is not None else {}
    rows, filled, different = (seen.get(name, 0) for name in ("rows", "filled", "different"))
    if column.role is Role.PERSON_KEY and seen:
        return words.say("app.columns.values.people", people=different, rows=rows)
    domain = column.domain
    if domain is None:
        parts = [words.say("app.columns.values.different", count=different)] if seen else []
    elif domain.code_list:
        parts = [words.say("app.columns.values.code_list", title=seen.get("code_list") or domain.code_list)]
    elif domain.values is not None:
        name = "declared" if column.is_declared else "copied_values"
        parts = [words.say(f"app.columns.values.{name}", count=len(domain.values))]
    else:
        name = "bounds" if column.is_declared else "copied_bounds"
        parts = [
            words.say(f"app.columns.values.{name}", low=_plain(domain.minimum), high=_plain(domain.maximum))
        ]
    if rows and filled < rows:
        parts.append(words.say("app.columns.values.missing", percent=_percent(rows - filled, rows)))
    return " · ".join(parts)


def _percent(part: int, whole: int) -> str:
    share = 100 * part / whole
    return "<1" if share < 1 else str(min(round(share), 99 if part < whole else 100))


def _plain(value: Any) -> Any:
    return value if value is not None else "…"


NAMELESS = (Role.PERSON_KEY, Role.DIRECT_IDENTIFIER, Role.DROPPED, Role.NOT_RECOGNISED)
"""What never leaves as it stands."""


def names_people(column: Column, suggestion: Any) -> bool:
    """Say whether a column that may leave was taken for a name or number of single people."""
    return (
        suggestion is not None
        and column.role not in NAMELESS
        and (suggestion.role is Role.DIRECT_IDENTIFIER or suggestion.differs_everywhere)
    )


def tells_apart(column: Column, suggestion: Any) -> bool:
    """Say whether rows with a column as it stands are refused because nearly every value of it differs.

    What is identifying, a place or a time is made coarser or asked about by its role.
    """
    return (
        suggestion is not None
        and column.role in (Role.SENSITIVE, Role.OTHER)
        and bool(suggestion.differs_nearly)
    )


def naming_words(plan: Plan, method: type[Method], suggestions: Iterable[Any]) -> str:
    """Name the chosen columns that name people, where rows leave with values as they stand; none: nothing."""
    if method.rows not in (Rows.REAL, Rows.COARSER):
        return ""
    known = {one.column: one for one in suggestions}
    columns = {column.name: column for column in plan.schema.columns}
    chosen = (name for name in plan.parameters.get("columns") or () if name in columns)
    found = [
        name
        for name in chosen
        if names_people(columns[name], known.get(name)) or tells_apart(columns[name], known.get(name))
    ]
    told = ", ".join(found)
    return words.say("app.method.names_people", columns=told, count=len(found)) if found else ""


def mistaken_words(column: Column) -> str:
    """Warn of values that other programs read as missing, where the column may leave; nothing elsewhere."""
    domain = column.domain
    if domain is None or domain.values is None or column.role in NAMELESS:
        return ""
    found = missing_words(set(domain.values).difference(column.missing))
    if not found:
        return ""
    return words.say("app.columns.missing.mistaken", values=list(found), count=len(found))


def outside_words(names: Sequence[str]) -> str:
    """Say that columns which nobody was asked about are in no count of risk; nothing where there are none."""
    if not names:
        return ""
    key = "outside_one" if len(names) == 1 else "outside"
    return words.say(f"app.columns.{key}", count=len(names), column=names[0])


def why(column: Column, suggestion: Any) -> str:
    """Return why a role was suggested, or that the custodian decided otherwise."""
    if suggestion is None:
        return words.say("app.columns.why.made")
    if names_people(column, suggestion):
        return words.say("app.columns.why.names_people")
    if suggestion.role is not column.role:
        return words.say("app.columns.why.yours")
    values = dict(suggestion.values)
    if "meaning" in values:
        values["meaning"] = words.say(f"suggestions.meaning.{values['meaning']}")
    if suggestion.reason == "identifier":
        return words.say(
            "app.columns.why.identifier", name=words.say(f"suggestions.identifier.{values['identifier']}")
        )
    return words.say(f"suggestions.role.{suggestion.reason}", **values)


def what_if_words(column: Column, now: Any, then: Any) -> tuple[str, str]:
    """Return a heading and what marking the column does to the number of people who stand alone."""
    if now is None or then is None or column.role in (Role.PERSON_KEY, Role.DIRECT_IDENTIFIER):
        return "", ""
    marked = column.name in now.columns
    key = "unmarked" if marked else "marked"
    body = "same" if then.alone == now.alone else f"{key}_body"
    return words.say(f"app.columns.what_if.{key}"), words.say(
        f"app.columns.what_if.{body}", alone=then.alone, people=now.people, now=now.alone
    )
