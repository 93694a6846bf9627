"""What the ledger keeps of an attached table to know it again, and how a table relates to each register.

All of it is keyed digests (of people, of parts of rows, of the content of columns)
and the names of columns. The digests lie outside the journal, which holds their hash: none can be added,
changed or removed unnoticed, and every comparison looks.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import VerificationFailed
from engine.ledger import people
from engine.ledger.fields import check_words
from engine.ledger.people import NONE, Digests, among, distinct
from engine.ledger.values import Holding, Match

_ALIKE = 3  # names that two tables share at least, where not all are the same


@dataclass(frozen=True)
class Traces:
    """What a table shows of itself to the ledger.

    Attributes
    ----------
    people
        Digests of its people.
    plain_rows, rows
        Hashes of parts of rows, sorted, and their keyed digests in the same order.
    contents
        Keyed digests of whole columns.
    """

    fingerprint: str
    people: Digests
    columns: tuple[str, ...]
    plain_rows: Digests
    rows: Digests
    contents: Digests

    @property
    def size(self) -> int:
        """Return how many people the table has; about, where a sample of them is kept."""
        return int(self.people.size) << people.halvings(self.people)

    @property
    def sampled(self) -> int:
        """Return n where all row hashes are below 2^(64 − n)."""
        return 64 - int(self.plain_rows[-1]).bit_length() if self.plain_rows.size else 0

    def rows_below(self, sampled: int) -> Digests:
        """Return the keyed digests of the rows whose hash is below 2^(64 − sampled), sorted.

        Large tables keep a sample of their row parts, chosen by the hash itself; two tables are compared
        where both were sampled.
        """
        limit = np.uint64((1 << (64 - sampled)) - 1)
        return distinct(self.rows[: np.searchsorted(self.plain_rows, limit, side="right")])


@dataclass(frozen=True)
class Known:
    """An attached table as the ledger kept it.

    ``number`` is the row of the journal that attached it, ``key`` the column that named its people, ``size``
    how many there were. Older programs kept only those of its people who were new with it; of a table that
    memory did not hold a sample is kept, of which two tables have the same part, see `people.halvings`.
    """

    number: int
    key: str
    size: int
    fingerprint: str
    columns: frozenset[str]
    people: Digests
    sampled: int
    rows: Digests
    contents: Digests


def traces_of(
    key: bytes, fingerprint: str, person_digests: Any, columns: Sequence[str], rows: Any, contents: Any
) -> Traces:
    """Return the traces of a table, checked, keyed and in order."""
    plain_rows = people.check_digests(rows)
    return Traces(
        check_words(fingerprint, "fingerprint", required=True),
        people.check_digests(person_digests),
        tuple(sorted({check_words(column, "column") for column in columns})),
        plain_rows,
        people.hash_keyed(key, b"row", plain_rows.astype(str).tolist()),
        distinct(people.hash_keyed(key, b"content", people.check_digests(contents).astype(str).tolist())),
    )


def known_tables(db: sqlite3.Connection, path: Path) -> dict[str, list[Known]]:
    """Return what is kept of each holding's tables.

    Raises
    ------
    VerificationFailed
        ``ledger.people_differ``: it is not what the journal says.
    """
    found: dict[str, list[Known]] = {}
    kept = {row["attached"]: row for row in db.execute("SELECT * FROM trace")}
    names = {row["id"]: row["name"] for row in db.execute("SELECT id, name FROM holding")}
    for row in db.execute("SELECT * FROM attached ORDER BY number"):
        trace = kept.pop(row["id"], None)
        if trace is None or _hash(trace) != row["traces_hash"]:
            raise VerificationFailed("ledger.people_differ", file=path.name, holding=names[row["holding"]])
        blobs = (np.frombuffer(trace[name], dtype="<u8") for name in ("people", "rows", "contents"))
        persons, rows, contents = (blob.astype(np.uint64, copy=False) for blob in blobs)
        columns = frozenset(map(letters_of, json.loads(row["columns"])))
        about = (row["number"], row["key"], row["people"], row["fingerprint"])
        one = Known(*about, columns, persons, trace["sampled"], rows, contents)
        found.setdefault(row["holding"], []).append(one)
    if kept:
        raise VerificationFailed("ledger.people_differ", file=path.name, holding="?")
    return found


def keep(db: sqlite3.Connection, attached: str, table: Traces) -> str:
    """Keep a table's traces under the id of its attachment; return the hash for the journal."""
    parts = (table.people, table.rows_below(table.sampled), table.contents)
    blobs = (part.astype("<u8").tobytes() for part in parts)
    trace = dict(zip(("people", "rows", "contents"), blobs, strict=True)) | {"sampled": table.sampled}
    db.execute(
        "INSERT INTO trace (attached, people, sampled, rows, contents) "
        "VALUES (:attached, :people, :sampled, :rows, :contents)",
        trace | {"attached": attached},
    )
    return _hash(trace)


def keep_nothing(db: sqlite3.Connection, attached: str) -> str:
    """Keep that nothing is kept of a table by which this format would know its people; return the hash."""
    trace = {"people": b"", "sampled": 0, "rows": b"", "contents": b""}
    db.execute(
        "INSERT INTO trace (attached, people, sampled, rows, contents) "
        "VALUES (:attached, :people, :sampled, :rows, :contents)",
        trace | {"attached": attached},
    )
    return _hash(trace)


def _hash(trace: Mapping[str, Any] | sqlite3.Row) -> str:
    """Return the hash of what is kept of a table; empty where a cell holds something that never was kept."""
    if not all(isinstance(trace[name], bytes) for name in ("people", "rows", "contents")):
        return ""
    total = hashlib.sha256(str(trace["sampled"]).encode())
    for name in ("people", "rows", "contents"):
        total.update(b"\0" + str(len(trace[name])).encode() + b"\0" + trace[name])
    return total.hexdigest()


def all_people(tables: Sequence[Known]) -> Digests:
    """Return all people of a holding, sorted and distinct."""
    return distinct(np.concatenate([NONE, *(one.people for one in tables)]))


@dataclass(frozen=True)
class Kin:
    """How a table relates to those of one earlier release.

    Attributes
    ----------
    alike
        Share of its parts of rows that one of them has too; 1 for the same table, 0 where nothing is known.
    strangers
        Of each of its people, whether they surely were in none of them; None where nobody can say it: other
        columns named the people, none did, or not all who were attached before are kept.
    columns
        The names of the columns of its tables, as `letters_of` has them.
    contents
        How many of its columns have the content of a column of one of them, whatever they are called; the
        number of rows is the same then.
    """

    alike: float = 0.0
    strangers: npt.NDArray[np.bool_] | None = None
    columns: frozenset[str] = frozenset()
    contents: int = 0


def relate_tables(
    tables: Sequence[Known],
    fingerprints: Collection[str],
    before: int,
    table: Traces,
    each: Digests,
    key: str,
) -> Kin:
    """Return how a table relates to those of an earlier release of its register.

    Parameters
    ----------
    tables
        All that were attached to the register.
    fingerprints, before
        Of the tables of the release, and the row of the journal that reserved it.
    table, each, key
        Its traces, the digest of each of its people, and the column that names them.
    """
    past = [one for one in tables if one.number < before]
    own = [one for one in past if one.fingerprint in fingerprints]
    if not own:
        return Kin()
    alike = max(1.0 if one.fingerprint == table.fingerprint else _share(_rows(table, one)) for one in own)
    kin = Kin(
        alike,
        columns=frozenset[str]().union(*(one.columns for one in own)),
        contents=max(int(among(table.contents, one.contents).sum()) for one in own),
    )
    is_named = bool(key) and all(one.key.casefold() == key.casefold() for one in own)
    is_sampled = any(people.halvings(kept) for kept in (table.people, *(one.people for one in past)))
    nothing = any(one.size and not (one.people.size or one.rows.size) for one in past)
    if not is_named or nothing or is_sampled:
        return kin
    strangers = np.ones(each.size, dtype=bool)
    for one in own:
        is_whole = one.people.size == one.size  # else some of its people were known before
        had = one.people if is_whole else all_people([other for other in past if other.number <= one.number])
        strangers &= ~among(each, had)
    return replace(kin, strangers=strangers)


Groups = tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64], npt.NDArray[np.int64] | None]


def shared(
    tables: Sequence[Known],
    releases: Sequence[tuple[Collection[str], int]],
    table: Traces,
    each: Digests,
    key: str,
) -> list[Groups]:
    """Return who is in which of a table and earlier releases.

    Parameters
    ----------
    tables, table, each, key
        As for `relate_tables`.
    releases
        Of each one the fingerprints of its tables, and the row of the journal that reserved it.

    Returns
    -------
    list of tuple
        Groups by the tables that have them, as `engine.methods.earlier.Shared` takes them: of people where
        one column named them in all tables and all of them are kept; of parts of rows, without places, where
        all tables have some that were sampled alike.
    """
    own = [
        [one for one in tables if one.number < before and one.fingerprint in fingerprints]
        for fingerprints, before in releases
    ]
    every = [one for some in own for one in some]
    found: list[Groups] = []
    if not all(own):
        return found
    is_whole = all(one.key.casefold() == key.casefold() and one.people.size == one.size for one in every)
    if key and is_whole and not people.halvings(table.people):
        members, units = _grouped([table.people, *(all_people(some) for some in own)])
        is_in, places, sizes = members
        found.append((is_in, sizes, places[np.searchsorted(units, each)]))
    sampled = max(one.sampled for one in every)
    if all(one.rows.size and one.sampled == sampled for one in every) and table.sampled <= sampled:
        parts = (distinct(np.concatenate([one.rows for one in some])) for some in own)
        (is_in, _, sizes), _ = _grouped([table.rows_below(sampled), *parts])
        found.append((is_in, sizes, None))
    return found


def _grouped(
    sets: Sequence[Digests],
) -> tuple[tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64], npt.NDArray[np.int64]], Digests]:
    """Return the groups of all members by the sets that have them, the group of each, sizes, and members."""
    units = distinct(np.concatenate(sets))
    is_in = np.stack([among(units, one) for one in sets], axis=1)
    groups, places, sizes = np.unique(is_in, axis=0, return_inverse=True, return_counts=True)
    return (groups, places.reshape(-1), sizes), units


def matches(holdings: Sequence[Holding], kept: Mapping[str, list[Known]], table: Traces) -> list[Match]:
    """Return how the table relates to each holding that it shares anything with, the strongest first."""
    related = [_match(holding, kept.get(holding.id, []), table) for holding in holdings]
    found = sorted((one for one in related if one.grounds), key=lambda one: one.strength, reverse=True)
    return [
        replace(one, further=_further(one, related, kept, table))
        if one.strength == found[0].strength
        else one
        for one in found
    ]


def _further(
    own: Match, related: Sequence[Match], kept: Mapping[str, list[Known]], table: Traces
) -> Match | None:
    """Return the strongest relation to another holding of the people, or rows, that one does not know."""
    rest = _beyond(table, kept.get(own.holding.id, []))
    others = [_match(one.holding, kept.get(one.holding.id, []), rest) for one in related if one is not own]
    sure = [one for one in others if one.grounds[:1] in (("people",), ("rows",))]
    strongest = max(sure, key=lambda one: one.strength, default=None)
    return None if strongest is None else replace(strongest, people=own.people)


def _beyond(table: Traces, tables: Sequence[Known]) -> Traces:
    """Return what a table has beyond known ones: people, and parts of rows."""
    below = len(table.rows_below(max((one.sampled for one in tables), default=0)))
    rows, plain_rows = table.rows[:below], table.plain_rows[:below]
    persons = people.below(table.people, max((people.halvings(one.people) for one in tables), default=0))
    is_new = ~among(rows, distinct(np.concatenate([NONE, *(one.rows for one in tables)])))
    return replace(
        table,
        fingerprint="",
        people=persons[~among(persons, all_people(tables))],
        columns=(),
        plain_rows=plain_rows[is_new],
        rows=rows[is_new],
        contents=NONE,
    )


def _match(holding: Holding, tables: list[Known], table: Traces) -> Match:
    people_shared, chance = _people(table, tables)
    rows_shared, rows = max((_rows(table, one) for one in tables), key=_share, default=(0, 0))
    names = frozenset(map(letters_of, table.columns))
    return Match(
        holding=holding,
        same_table=any(one.fingerprint == table.fingerprint for one in tables),
        people=table.size,
        people_shared=people_shared,
        chance=chance,
        rows=rows,
        rows_shared=rows_shared,
        contents=int(table.contents.size),
        contents_shared=max((int(among(table.contents, one.contents).sum()) for one in tables), default=0),
        columns=len(names),
        columns_shared=max((_alike(names, one.columns) for one in tables), default=0),
        same_columns=bool(names) and any(one.columns == names for one in tables),
    )


def _people(table: Traces, tables: list[Known]) -> tuple[int, float]:
    """Return how many people of the table some known ones have, and the chance that it is coincidence.

    Where a sample is kept of a table only the part is compared that every table has of its own people, and
    what is shared is as many times more; without the tables of which less is kept it may tell more.
    """
    own = people.halvings(table.people)
    found = [(0, 1.0)]
    for most in sorted({people.halvings(one.people) for one in tables}):
        halved = max(own, most)
        known = all_people([one for one in tables if people.halvings(one.people) <= most])
        persons, compared = people.below(known, halved), people.below(table.people, halved)
        shared = compared[among(compared, persons)]
        chance = people.chance_of_coincidence(compared, persons, shared, halved)
        found.append((min(int(shared.size) << halved, table.size), chance))
    return min(found, key=lambda one: (one[1], -one[0]))


def _rows(table: Traces, one: Known) -> tuple[int, int]:
    """Return how many row parts of the table a known one has, and of how many."""
    compared = table.rows_below(max(table.sampled, one.sampled))
    return int(among(compared, one.rows).sum()), int(compared.size)


def _share(part_of: tuple[int, int]) -> float:
    return part_of[0] / part_of[1] if part_of[1] else 0.0


def letters_of(name: str) -> str:
    """Return the letters and digits of a name, whichever way capitals, accents and widths are written.

    Examples
    --------
    >>> {letters_of(name) for name in ("Dur\u00e9e", "dure\u0301e_", " DUR\u00c9E", "\uff44uree")}
    {'duree'}
    """
    plain = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in plain.casefold() if letter.isalnum()) or name


def _alike(names: frozenset[str], others: frozenset[str]) -> int:
    """Return how many names two tables share, where that means something: contained, or half of all."""
    shared = len(names & others)
    contained = shared == min(len(names), len(others))
    means = names == others or (shared >= _ALIKE and (contained or 2 * shared >= len(names | others)))
    return shared if means else 0
