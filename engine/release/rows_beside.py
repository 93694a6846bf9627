"""Rows beside a table that hides something of the same people: they may show what it hides.

The two are not compared: what rows show of a cell would have to be worked out for each way of making them
coarser. So whoever releases the second of them says why both may be known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from engine.errors import InputRefused
from engine.ledger import Entry, Holding, Ledger
from engine.ledger.traces import letters_of
from engine.methods.catalogue import method as find_method
from engine.methods.catalogue import methods
from engine.methods.earlier import EarlierRelease
from engine.methods.protocol import MAIN, Method
from engine.methods.values import columns_named
from engine.release import charge
from engine.release.earlier import look_for_told, shows_rows, titles_of
from engine.release.plan import Plan
from engine.release.reading import PreparedTable, person_keys
from engine.table.preparation.steps import made_name

ROWS_BESIDE = "rows_beside"
"""The decision that rows leave beside a table that hides something of the same people; it needs a reason."""
HARDLY = 0.1
"""Share of the parts of rows of an earlier table, below which rows are others."""
SURELY = 2
"""Columns with the content of one of an earlier table, from which on it is the same under other numbers:
of few columns no part of a row tells it."""


def refuse_rows_beside(
    plan: Plan,
    ledger: Ledger,
    holding: Holding,
    design: Method,
    prepared: PreparedTable | None,
    *,
    entry: str = "",
    places: Iterable[Path],
) -> None:
    """Refuse rows beside a table that hides something of the same people, and the reverse, without a reason.

    Parameters
    ----------
    plan, ledger, holding, design
        Of the new release.
    prepared
        Its table, to know whether it is about the people of earlier ones.
    entry
        That of the new release, reserved; empty before it is, when nothing is journalled either.
    places
        Folders of releases, and folders that may hold some, for what the ledger did not keep.

    Raises
    ------
    InputRefused
        ``run.rows_beside``.
    """
    others, absent = _beside(plan, ledger, holding, design, places, entry=entry)
    if prepared is None:
        found = [one.entry for one in others if one.is_shared()]
    else:
        found = _of_the_same(others, ledger, prepared)
    if not found and not absent:
        return
    reason = charge.reason_of(plan, ROWS_BESIDE)
    if not reason:
        told = _told([*found, *absent])
        raise InputRefused("run.rows_beside", **told, holding=holding.name, decision=ROWS_BESIDE)
    if entry:
        ledger.decide(ROWS_BESIDE, reason, holding=holding.id, entry=entry)


def beside(
    plan: Plan, ledger: Ledger, design: Method, *, places: Iterable[Path], was_refused: bool = False
) -> dict[str, Any]:
    """Return what `refuse_rows_beside` may ask a reason for: count and titles, or nothing; no row is read.

    Whether columns have other names now is seen in the rows alone: once the release ``was_refused``, every
    earlier one of the other kind is named.
    """
    holding = charge.known_holding(plan, ledger)
    if holding is None:
        return {}
    others, absent = _beside(plan, ledger, holding, design, places)
    found = [one.entry for one in others if one.is_shared()]
    found = found or [one.entry for one in others if was_refused]
    return _told([*found, *absent]) if found or absent else {}


def _told(entries: list[Entry]) -> dict[str, Any]:
    return {"count": len(entries), "titles": titles_of(entries)}


@dataclass(frozen=True)
class _Other:
    """An earlier release of the other kind: its columns and those of the new one, and how many say enough.

    A name is the same however its capitals, accents and blanks are written, as each export has its own way.
    """

    entry: Entry
    mine: frozenset[str]
    theirs: frozenset[str]
    enough: int

    def is_shared(self, file: frozenset[str] = frozenset(), earlier: frozenset[str] = frozenset()) -> bool:
        """Say whether the two have so many columns in common.

        ``file`` and ``earlier`` are all names of the tables that they are made of, once it is known that
        columns of one are in the other under other names: each that the other table has not may be one.
        """
        mine, theirs = (frozenset(map(letters_of, names)) for names in (self.mine, self.theirs))
        named = max(len(self.mine & self.theirs), len(mine & theirs))
        renamed = min(len(mine - earlier), len(theirs - file)) if earlier else 0
        return named + renamed >= self.enough


def _beside(
    plan: Plan, ledger: Ledger, holding: Holding, design: Method, places: Iterable[Path], *, entry: str = ""
) -> tuple[list[_Other], list[Entry]]:
    """Return earlier releases of the other kind with their columns, and those of unknown columns.

    Of one that is being made at the same moment, or was killed, the columns are not known.
    """
    method = type(design)
    if not (method.compares or shows_rows(method)):
        return [], []
    unbounded = [one for one in ledger.entries(holding.id) if one.loss == "unbounded" and one.id != entry]
    found, absent = look_for_told(ledger, unbounded, places, keep=bool(entry))
    absent += [one for one in unbounded if one.state in ("reserved", "spent")]

    def is_other(other: type[Method]) -> bool:
        return shows_rows(other) if method.compares else other.compares

    made = {made_name(step): str(step["column"]) for step in plan.preparation if "to" in step}
    own = design.uses.get(MAIN, ())
    cells = design.request.values["columns"] if method.compares else None
    kept = [
        _other(one, own, made, found[one.id], cells)
        for one in unbounded
        if one.id in found and is_other(find_method(found[one.id].method))
    ]
    if absent:
        kinds = {kind for other in methods() if is_other(other) for kind in other.promises}
        absent = [one for one in absent if one.guarantee.get("kind") in kinds]
    return kept, absent


def _other(
    entry: Entry,
    own: Iterable[str],
    made: Mapping[str, str],
    other: EarlierRelease,
    cells: Collection[str] | None,
) -> _Other:
    """Return an earlier release beside the new one; what was made of a column counts as its source.

    Enough are two columns, or all of the cells of the table. What a table sums is a column of it, too.
    ``cells`` are the columns of the cells of the table, None where it is the other one.
    """
    method = find_method(other.method)
    named = columns_named(method.parameters, other.parameters) if method.compares else {}
    mine = frozenset(_first(name, made) for name in own)
    theirs = named.get(MAIN, other.parameters["columns"])
    return _Other(
        entry,
        mine,
        frozenset(_first(str(name), other.made) for name in theirs),
        min(2, len(other.parameters["columns"] if cells is None else cells)),
    )


def _first(name: str, made: Mapping[str, str]) -> str:
    for _ in made:
        name = made.get(name, name)
    return name


def _of_the_same(others: list[_Other], ledger: Ledger, prepared: PreparedTable) -> list[Entry]:
    """Return those with columns in common about some of the people of a table, or of whom nobody knows it.

    Parts of rows, and the content of columns, are known again whatever the names of the columns are.
    """
    if not others:
        return []
    column, known = prepared.schema.person_key, prepared.fingerprints
    people: pa.ChunkedArray = person_keys(prepared.table, prepared.schema)
    key = "" if column is None else column.name
    entries = [one.entry.id for one in others]
    kin, _ = ledger.kin(entries, known.fingerprint, people, rows=known.rows, contents=known.contents, key=key)
    file = frozenset(map(letters_of, prepared.columns))
    found = []
    for one, its in zip(others, kin, strict=True):
        is_same = its.alike >= HARDLY or its.contents >= SURELY
        is_about = is_same or its.strangers is None or not its.strangers.all()
        if is_about and (one.is_shared() or (is_same and one.is_shared(file, its.columns))):
            found.append(one.entry)
    return found
