"""How the tables of a plan hang together: which rows belong to which, and which to none. Stays inside."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from engine import arrays
from engine.errors import InputRefused
from engine.methods.catalogue import method as find_method
from engine.methods.protocol import MAIN
from engine.progress import SILENT, Progress
from engine.release.plan import Plan
from engine.release.reading import PreparedTable, filter_source, read
from engine.table.declared import key_column, people_of
from engine.table.encoded import Encoded
from engine.table.linked import Links, link, link_within
from engine.table.table import Table
from engine.views import TableView, Text

WORDS = "linked.hanging"
HEADINGS = ("table", "below", "rows", "orphans", "parents", "none", "one", "two", "more", "most")
MANY = 3
"""Children from which parents are counted together."""


def hang_together(plan: Plan, *, base: Path = Path(), progress: Progress = SILENT) -> TableView:
    """Return which rows of the private tables of a plan belong to which: it stays inside.

    Raises
    ------
    InputRefused
        ``reading.not_linked``: fewer than two of them are there with a person key, or none is that of the
        people; or whatever the reader refuses.
    """
    private = [one.name for one in find_method(plan.method).reads(plan.step) if one.shape.is_private]
    names = [name for name in private if plan.files_of(name) and plan.prepared(name).person_key is not None]
    if MAIN not in names or len(names) < 2:
        raise InputRefused("reading.not_linked")
    tables = {
        name: read(
            plan, source=name, base=base, progress=progress.part(at / len(names), (at + 1) / len(names))
        )
        for at, name in enumerate(names)
    }
    people = {name: _people(one) for name, one in tables.items()}
    everybody = link(people[MAIN], people[MAIN])
    # rows of one person in the first table are one parent
    found = [(name, MAIN, link(people[name], people[MAIN])) for name in names if name != MAIN]
    lines = [_line(*one, rows=arrays.distinct(everybody.parent[everybody.parent >= 0])) for one in found]
    record, record_of = plan.parameters.get("record"), plan.parameters.get("record_of")
    if len(names) > 2 and _holds(tables[names[1]], record) and _holds(tables[names[2]], record_of):
        whose = {name: links.parent for name, _, links in found}
        below = link_within(
            _numbers(tables[names[2]], str(record_of)),
            whose[names[2]],
            _numbers(tables[names[1]], str(record)),
            whose[names[1]],
            people=everybody.parents,
        )
        lines.append(_line(names[2], names[1], below, rows=np.arange(below.parents)))
    said = tuple(Text(f"{WORDS}.{name}") for name in HEADINGS)
    return TableView(Text(f"{WORDS}.title"), said, tuple(lines), Text(f"{WORDS}.note"))


def _line(table: str, below: str, links: Links, *, rows: np.ndarray) -> tuple[str | int, ...]:
    each = links.children[rows]
    few = [int((each == count).sum()) for count in range(MANY)]
    more = int((each >= MANY).sum())
    return table, below, len(links.parent), links.orphans, len(rows), *few, more, int(each.max(initial=0))


def _rows(prepared: PreparedTable) -> Table:
    """Return the rows that fulfil the conditions, those without a person too."""
    return filter_source(prepared)


def _people(prepared: PreparedTable) -> Encoded:
    key = prepared.schema.person_key
    assert key is not None
    return people_of(_rows(prepared), key)


def _holds(prepared: PreparedTable, name: object) -> bool:
    return isinstance(name, str) and name in prepared.schema


def _numbers(prepared: PreparedTable, name: str) -> Encoded:
    return Encoded.of(key_column(_rows(prepared).rows()[name]))
