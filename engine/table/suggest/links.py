"""How several tables of one register may hang together: proposed by what their cells share, then counted.

Nobody is bound by a proposal: two columns of small numbers share much, too. What is returned is internal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from engine import arrays
from engine.table.declared import encoded_keys
from engine.table.encoded import Encoded
from engine.table.linked import link, link_within
from engine.table.schema import DETAILS, PEOPLE, RECORDS
from engine.table.table import Table

SHARED = 0.5
"""Part of the different values of a column that those of another one have at least, to hang on it."""
COVERED = 0.2
"""Part of that other one's values that occur at least where names differ: small numbers are everywhere."""
PEOPLE_SEEN = 2_000
"""People whose rows show which table hangs on another one."""
FEWEST, LOOKED_AT = 2, 20_000
"""Different values of a column: with fewer nothing hangs on another table, and of so many some are seen."""


@dataclass(frozen=True)
class Hanging:
    """What tables are, by their names, and by which columns they hang together.

    Parameters
    ----------
    parts
        What each is: `PEOPLE`, `RECORDS`, `DETAILS`; one that is absent is none of them.
    person
        The column of each that says whose a row is.
    record, record_of
        The column that numbers records, and that of the details which says of which record they are.
    """

    parts: Mapping[str, str]
    person: Mapping[str, str] = field(default_factory=dict)
    record: str = ""
    record_of: str = ""

    def named(self, part: str) -> str:
        """Return the table that is something; empty where none is."""
        return next((name for name, own in self.parts.items() if own == part), "")


@dataclass(frozen=True)
class Counted:
    """Rows of a table: all, those of nobody among the people, the most of one person, those of no record.

    ``without`` is None where it hangs on no record.
    """

    rows: int
    nobody: int
    most: int
    without: int | None = None


def propose_links(tables: Mapping[str, Table]) -> Hanging:
    """Return how tables may hang together.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"who": ["1", "2", "3"], "sex": ["m", "f", "f"]})
    >>> stays = pd.DataFrame({"stay": ["7", "8", "9", "7"], "who": ["1", "1", "3", "2"]})
    >>> found = propose_links({"b": Table(stays), "a": Table(people)})
    >>> found.parts, found.person
    ({'a': 'people', 'b': 'records'}, {'a': 'who', 'b': 'who'})
    """
    cells = {name: {one: encoded_keys(table, one) for one in table.names} for name, table in tables.items()}
    by_parent = {
        (name, key): _children(cells, name, key)
        for name, columns in cells.items()
        for key, own in columns.items()
        if _is_key(own)
    }
    if not any(by_parent.values()):
        return Hanging({next(iter(tables)): PEOPLE})
    # who hangs on nobody, and on whom most others hang; of several keys the one that is shared most
    (main, key), person = max(by_parent.items(), key=lambda one: (len(one[1]), sum(one[1].values())))
    columns = dict(person.keys())
    whose = {name: link(cells[name][column], cells[main][key]).parent for name, column in columns.items()}
    record = _propose_record(tables, columns, whose)
    first = record.above or min(columns, key=lambda name: len(tables[name]))
    parts = {main: PEOPLE, first: RECORDS} | ({record.below: DETAILS} if record.below else {})
    return Hanging(parts, {main: key, **columns}, record.record, record.record_of)


class _Record(NamedTuple):
    """Tables of records and of their details, and the columns by which these hang together."""

    above: str = ""
    record: str = ""
    below: str = ""
    record_of: str = ""


def _propose_record(
    tables: Mapping[str, Table], columns: Mapping[str, str], whose: Mapping[str, arrays.Integers]
) -> _Record:
    """Return which of the tables that hang on people hangs on another one, as some people show it."""
    seen = {name: np.flatnonzero((own >= 0) & (own < PEOPLE_SEEN)) for name, own in whose.items()}
    few = {name: tables[name].with_rows(tables[name].rows().iloc[seen[name]]) for name in columns}
    cells = {name: {one: encoded_keys(table, one) for one in table.names} for name, table in few.items()}
    whose = {name: whose[name][places] for name, places in seen.items()}
    best, found = 0.0, _Record()
    for above in columns:
        for record, own in cells[above].items():
            if record == columns[above] or not _is_unique(_pairs(own.places, whose[above])):
                continue
            for below in (name for name in columns if name != above):
                for record_of, other in cells[below].items():
                    if record_of == columns[below] or _share(other, own) < SHARED:
                        continue
                    links = link_within(other, whose[below], own, whose[above], people=PEOPLE_SEEN)
                    shared = 1 - links.orphans / max(len(other.places), 1)
                    score = shared + _alike(record, record_of)
                    fits = shared >= SHARED and (score > 1 or _covers(links.children))
                    if fits and score > best:
                        best, found = score, _Record(above, record, below, record_of)
    return found


def count_links(tables: Mapping[str, Table], hanging: Hanging) -> dict[str, Counted]:
    """Return how the rows of tables hang together, by the names of those that hang on people."""
    main, records = hanging.named(PEOPLE), hanging.named(RECORDS)
    people = _key(tables, main, hanging.person.get(main))
    whose, found = dict[str, arrays.Integers](), dict[str, Counted]()
    for name, part in hanging.parts.items():
        own = _key(tables, name, hanging.person.get(name))
        if part not in (RECORDS, DETAILS) or people is None or own is None:
            continue
        links = link(own, people)
        whose[name] = links.parent
        most = int(links.children.max(initial=0))
        found[name] = Counted(len(links.parent), links.orphans, most)
    details = hanging.named(DETAILS)
    own, above = _key(tables, details, hanging.record_of), _key(tables, records, hanging.record)
    if own is not None and above is not None and people is not None and {details, records} <= found.keys():
        below = link_within(own, whose[details], above, whose[records], people=len(people.places))
        one = found[details]
        found[details] = Counted(one.rows, one.nobody, one.most, below.orphans)
    return found


def _key(tables: Mapping[str, Table], name: str, column: str | None) -> Encoded | None:
    return encoded_keys(tables[name], column) if name in tables and column in tables[name].names else None


def _children(
    cells: Mapping[str, Mapping[str, Encoded]], main: str, key: str
) -> dict[tuple[str, str], float]:
    """Return the column of each other table that hangs on a key, the one with most in common."""
    found = dict[tuple[str, str], float]()
    above = cells[main][key].distinct
    for name in (name for name in cells if name != main):
        best = 0.0, ""
        for column, own in cells[name].items():
            shared = _share(own, cells[main][key])
            covered = shared * len(own.distinct) / len(above)
            score = shared + _alike(key, column)
            if shared >= SHARED and (score > 1 or covered >= COVERED):
                best = max(best, (score + covered, column))
        if best[1]:
            found[name, best[1]] = best[0]
    return found


def _share(own: Encoded, above: Encoded) -> float:
    """Return which part of the different values of a column another one has, by some of many."""
    looked = own.distinct[:LOOKED_AT]
    if len(looked) < FEWEST:
        return 0.0
    found = pc.sum(pc.is_in(above.distinct.cast(looked.type), value_set=looked)).as_py()
    return int(found or 0) / len(looked)


def _alike(one: str, other: str) -> float:
    """Return 1 for columns of one name."""
    return float(one.strip().casefold() == other.strip().casefold())


def _covers(children: arrays.Integers) -> bool:
    return bool(np.mean(children > 0) >= COVERED)


def _pairs(places: arrays.Whole, whose: arrays.Integers) -> arrays.Integers:
    """Return a number for each pair of value and person; −1 where one is missing."""
    several = int(places.max(initial=0)) + 1
    return np.where((places >= 0) & (whose >= 0), whose * several + places, -1)


def _is_key(own: Encoded) -> bool:
    """Say whether a column tells all rows apart that it fills, and fills most of them."""
    filled = int(np.count_nonzero(own.places >= 0))
    return filled == len(own.distinct) and filled >= max(FEWEST, len(own.places) // 2)


def _is_unique(places: arrays.Whole) -> bool:
    """Say the same of numbers of values."""
    filled = places[places >= 0]
    return len(filled) >= max(FEWEST, len(places) // 2) and len(np.unique(filled)) == len(filled)
