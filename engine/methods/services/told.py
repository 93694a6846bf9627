"""What leaves a desk: answers, what they rest on, and what may be asked about."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pandas as pd

from engine.methods.conditions import parse, say_condition
from engine.methods.protocol import DictionaryEntry, TableArtefact
from engine.methods.services.asked import ABOVE, COUNT, ID, MEAN, QUANTILE, SHARE, SUM, Query
from engine.methods.services.combining import Answer
from engine.methods.services.desk import Measurement
from engine.methods.services.questions import axis_of
from engine.methods.shared.tables import with_weak
from engine.table.schema import Schema
from engine.texts import plainly
from engine.views import BarsView, TableView, Text, View, aside, share, weak

MOST_BARS = 60
BARS = f"methods.{ID}.views.bars"
_COLUMNS = {
    "question": "integer",
    "kind": "category",
    "of": "category",
    "where": "text",
    "about": "text",
    "by": "text",
    "value": "category",
    "answer": "number",
    "within_95": "number",
    "rests_on": "text",
}
_PAID = {"measurement": "integer", "visit": "integer", "what": "text", "epsilon": "text"}

Told = Sequence[tuple[Query, "Answer | None"]]


def rounded_level(epsilon: Fraction, *, down: bool = False) -> float:
    """Return a level as people read it: what was lost is never told smaller, what is left never larger."""
    return plainly(float(epsilon), up=not down, down=down)


def columns_table(schema: Schema, names: tuple[str, ...]) -> TableArtefact:
    """Return what may be asked about: declarations only."""
    columns = [schema.column(name) for name in names]
    cells = {
        "column": [column.name for column in columns],
        "kind": [column.kind.value for column in columns],
        "values": [axis_of(schema, column.name).described for column in columns],
    }
    kinds = {"column": "category", "kind": "category", "values": "text"}
    entries = tuple(DictionaryEntry(name, _meaning(f"columns.{name}"), kind) for name, kind in kinds.items())
    return TableArtefact("columns", (pd.DataFrame(cells, dtype="str"),), entries)


def answers_table(told: Told) -> TableArtefact:
    """Return answers as a table, each group of each question a line."""
    lines: list[dict[str, Any]] = []
    for place, (query, found) in enumerate(told, 1):
        for at, group in enumerate(query.cells.labels()):
            has_margin = found is not None and query.kind != ABOVE
            lines.append(
                {
                    "question": place,
                    "kind": query.kind,
                    "of": query.of,
                    "where": query.where,
                    "about": _about(query),
                    "by": "; ".join(query.by),
                    "value": " · ".join(group),
                    "answer": None if found is None else _number(found.values[at]),
                    "within_95": _number(found.within[at]) if found is not None and has_margin else None,
                    "rests_on": "" if found is None else "; ".join(str(one + 1) for one in found.places),
                }
            )
    types = {"integer": "int64", "number": "object"}
    has_margins = not lines or any(line["within_95"] is not None for line in lines)
    kinds = {name: kind for name, kind in _COLUMNS.items() if has_margins or name != "within_95"}
    columns = {
        name: pd.Series([line[name] for line in lines], dtype=types.get(kind, "str"))
        for name, kind in kinds.items()
    }
    frame = pd.DataFrame(columns)
    return TableArtefact("answers", (frame,), _entries("answers", kinds))


def paid_table(paid: Sequence[tuple[int, Measurement]]) -> TableArtefact:
    """Return what was paid for the answers, each by its number at the desk: the levels add up."""
    lines = [
        {"measurement": place, "visit": one.visit, "what": _what(one), "epsilon": str(one.epsilon)}
        for place, one in paid
    ]
    frame = pd.DataFrame(lines, columns=list(_PAID))
    frame = frame.astype({"measurement": "int64", "visit": "int64", "what": "str", "epsilon": "str"})
    return TableArtefact("paid", (frame,), _entries("paid", _PAID))


def _entries(table: str, columns: dict[str, str]) -> tuple[DictionaryEntry, ...]:
    return tuple(DictionaryEntry(name, _meaning(f"{table}.{name}"), kind) for name, kind in columns.items())


def _meaning(name: str) -> Text:
    return Text(f"methods.{ID}.dictionary.{name}")


def _about(query: Query) -> str:
    """Return what a question is about besides its condition, as it was asked."""
    if query.kind == SHARE:
        return query.part
    if query.kind == ABOVE:
        return str(query.threshold)
    return f"{query.quantile} of {query.value}" if query.kind == QUANTILE else query.value


def _what(measured: Measurement) -> str:
    """Return what was measured, as it was asked."""
    query = measured.query
    if len(measured.queries) > 1:
        return f"{query.kind} ({len(measured.queries)})"
    said = [
        query.kind,
        _about(query),
        query.where,
        "; ".join(column for column, _ in query.cuts),
        "; ".join(query.by),
    ]
    return " | ".join(part for part in said if part)


def _number(value: float) -> float | int:
    """Return a number as it is written: whole ones without a point, others with nine digits."""
    return int(value) if float(value).is_integer() else float(f"{value:.9g}")


# --- views ------------------------------------------------------------------------------------------


def views_of(told: Told, *, by_visit: bool, newest_first: bool = False) -> tuple[View, ...]:
    """Return answers for people: a table, and as bars with margins the counts, or what else can be compared.

    ``by_visit`` says that rows are drawn anew in every visit, so that their numbers are combined within one.
    """
    rows = [row for place, one in enumerate(told, 1) for row in _rows(place, *one)]
    words = f"methods.{ID}.views"
    names = ["question", "asked", "where", "value", "answer", "within_95", "share"]
    if not any(query.by for query, _ in told):  # nothing was told apart: the room is for the margins
        at = names.index("value")
        names, rows = names[:at] + names[at + 1 :], [row[:at] + row[at + 1 :] for row in rows]
    headings = tuple(Text(f"methods.{ID}.headings.{name}") for name in names)
    shown = tuple(reversed(rows)) if newest_first else tuple(rows)
    note = with_weak(Text(f"{words}.table.note{'_by_visit' if by_visit else ''}"), shown)
    views: list[View] = [TableView(Text(f"{words}.table.title"), headings, shown, note)]
    axis, compared = _compared(told)
    drawn = [
        (_label(place, query, " · ".join(group)), value, limit)
        for place, query, found in compared
        for group, value, limit in zip(query.cells.labels(), found.values, found.within, strict=True)
    ]
    if 0 < len(drawn) <= MOST_BARS:
        views.append(
            BarsView(
                Text(f"{words}.bars.title"),
                tuple(label for label, _, _ in drawn),
                tuple(float(value) for _, value, _ in drawn),
                axis,
                tuple(float(value - limit) for _, value, limit in drawn),
                tuple(float(value + limit) for _, value, limit in drawn),
                Text(f"{words}.bars.note"),
            )
        )
    return tuple(views)


def _compared(told: Told) -> tuple[Text, list[tuple[int, Query, Answer]]]:
    """Return the answers that one axis holds, and the axis: all counts, else those of one other question."""
    given = [(place, query, found) for place, (query, found) in enumerate(told, 1) if found is not None]
    counts = [one for one in given if one[1].kind == COUNT]
    if counts:
        return Text(f"methods.{ID}.numbers.count.label"), counts
    others = [one for one in given if one[1].kind in (SUM, MEAN, SHARE)]
    most = max(others, key=lambda one: len(one[2].values), default=None)
    return (_ask(most[1], 0), [most]) if most else (Text(f"methods.{ID}.numbers.count.label"), [])


def _label(place: int, query: Query, group: str) -> Text:
    """Return what stands beside a bar: the number of the question, and what it asks."""
    where = say_condition(parse(query.where))
    said = (
        Text(f"{BARS}.in_group", {"condition": where, "group": group}) if where and group else where or group
    )
    name = f"{'some' if said else 'all'}_{query.of}"
    return Text(f"{BARS}.{name}", {"question": place, "condition": said})


def _rows(place: int, query: Query, found: Answer | None) -> list[tuple[Any, ...]]:
    ranks = int(max(found.within)) if found is not None and query.kind == QUANTILE else 0
    asked, rows = _ask(query, ranks), list[tuple[Any, ...]]()
    where = say_condition(parse(query.where)) or Text(f"methods.{ID}.asked.everybody")
    for at, group in enumerate(query.cells.labels()):
        value: Any = ""
        within: Any = None
        part: Any = None
        if found is None:
            value = Text(f"methods.{ID}.above.not_reached")
        elif query.kind == ABOVE:
            value = Text(f"methods.{ID}.above.{'yes' if found.values[0] else 'no'}")
        else:
            number, limit = found.values[at], found.within[at]
            if query.kind != QUANTILE:
                within = float(f"{limit:.3g}") if limit < 1 else rounded(limit)
            value = weak(rounded(number)) if _says_nothing(query, number, limit) else rounded(number)
            if query.kind in (COUNT, SUM):
                part = share(abs(limit / number) if number else 1)
        rows.append((place, asked, where, _named(query, group), value, within, part))
    return rows


def _named(query: Query, group: tuple[str, ...]) -> Text | str:
    """Return the values of a group; one of missing or undeclared values stands for completeness only."""
    asides, label = query.cells.asides, " · ".join(group)
    pairs = zip(query.by, group, strict=True)
    return aside(label) if any(value in asides[name] for name, value in pairs) else label


def _ask(query: Query, ranks: int) -> Text:
    """Return what was asked, in words; the condition stands beside. The margin of a quantile is in ranks."""
    values = {"value": query.value, "quantile": str(query.quantile), "ranks": ranks}
    values["part"] = say_condition(parse(query.part))
    name = f"{query.kind}_{query.of}" if query.kind in (COUNT, SHARE, ABOVE) else query.kind
    return Text(f"methods.{ID}.asked.{name}", values | {"threshold": query.threshold or 0})


def rounded(number: float) -> float | int:
    """Return a number as people read it: counts whole, small ones with three digits."""
    return round(number) if abs(number) >= 100 or float(number).is_integer() else float(f"{number:.3g}")


def _says_nothing(query: Query, number: float, limit: float) -> bool:
    """Say whether a number is no better than a guess."""
    if query.kind == COUNT or (query.kind == SUM and query.grid.low >= 0):
        return limit >= number  # below its margin under zero nothing that is possible is left
    if query.kind == SUM:
        return limit >= abs(number)
    if query.kind == QUANTILE:
        return False
    low, high = (
        (0.0, 1.0)
        if query.kind == SHARE
        else (float(one * query.step) for one in (query.grid.low, query.grid.high))
    )
    slack = 1e-9 * (high - low)
    return number - limit <= low + slack and number + limit >= high - slack
