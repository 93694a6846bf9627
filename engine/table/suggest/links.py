"""How several tables of one register may hang together: proposed by what their cells share, then counted.

Nobody is bound by a proposal: two columns of small numbers share much, too. What is returned is internal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow.compute as pc

from engine import arrays
from engine.table.declared import encoded_keys
from engine.table.encoded import Encoded
from engine.table.linked import link, link_within
from engine.table.table import Table

PEOPLE, RECORDS, DETAILS = "people", "records", "details"
"""What a table may be: one row a person, what belongs to people, what belongs to one of these."""
SHARED = 0.5
"""Part of the different values of a column that those of another one have at least, to hang on it."""
COVERED = 0.2
"""Part of that other one's values that occur at least where names differ: small numbers are everywhere."""
FEWEST = 2


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
        if _is_unique(own.places)
    }
    if not any(by_parent.values()):
        return Hanging({next(iter(tables)): PEOPLE})
    # who hangs on nobody, and on whom most others hang; of several keys the one that is shared most
    (main, key), person = max(by_parent.items(), key=lambda one: (len(one[1]), sum(one[1].values())))
    columns = dict(person.keys())
    whose = {name: _parents(cells[name][column], cells[main][key]) for name, column in columns.items()}
    people = len(cells[main][key].places)
    best: tuple[float, str, str, str, str] = (0.0, "", "", "", "")
    for above in columns:
        for record, own in cells[above].items():
            if record == columns[above] or not _is_unique(_pairs(own.places, whose[above])):
                continue
            for name in columns.keys() - {above}:
                for record_of, other in cells[name].items():
                    if record_of == columns[name]:
                        continue
                    found = link_within(other, whose[name], own, whose[above], people=people)
                    shared = 1 - found.orphans / max(len(other.places), 1)
                    score = shared + _alike(record, record_of)
                    if shared >= SHARED and (score > 1 or _covers(found.children)) and score > best[0]:
                        best = score, above, record, name, record_of
    _, above, record, below, record_of = best
    first = above or min(columns, key=lambda name: len(tables[name]))
    parts = {main: PEOPLE, first: RECORDS} | ({below: DETAILS} if below else {})
    return Hanging(parts, {main: key, **columns}, record, record_of)


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
    for name in cells.keys() - {main}:
        best = 0.0, ""
        for column, own in cells[name].items():
            if len(own.distinct) < FEWEST:
                continue
            common = int(pc.sum(pc.is_in(own.distinct, value_set=above.cast(own.distinct.type))).as_py() or 0)
            shared, covered = common / len(own.distinct), common / len(above)
            score = shared + _alike(key, column)
            if shared >= SHARED and (score > 1 or covered >= COVERED):
                best = max(best, (score + covered, column))
        if best[1]:
            found[name, best[1]] = best[0]
    return found


def _alike(one: str, other: str) -> float:
    """Return 1 for columns of one name."""
    return float(one.strip().casefold() == other.strip().casefold())


def _covers(children: arrays.Integers) -> bool:
    return bool(np.mean(children > 0) >= COVERED)


def _parents(own: Encoded, above: Encoded) -> arrays.Integers:
    return link(own, above).parent


def _pairs(places: arrays.Whole, whose: arrays.Integers) -> arrays.Integers:
    """Return a number for each pair of value and person; −1 where one is missing."""
    several = int(places.max(initial=0)) + 1
    return np.where((places >= 0) & (whose >= 0), whose * several + places, -1)


def _is_unique(places: arrays.Whole) -> bool:
    """Say whether a column tells all rows apart that it fills, and fills most of them."""
    filled = places[places >= 0]
    return len(filled) >= max(FEWEST, len(places) // 2) and len(np.unique(filled)) == len(filled)
