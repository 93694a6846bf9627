"""Rows beside a table that hides something of the same people: they may show what it hides.

The two are not compared: what rows show of a cell would have to be worked out for each way of making them
coarser. So whoever releases the second of them says why both may be known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
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


def refuse_rows_beside(
    plan: Plan,
    ledger: Ledger,
    holding: Holding,
    design: Method,
    prepared: PreparedTable | None,
    *,
    entry: str,
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
        That of the new release, reserved.
    places
        Folders of releases, and folders that may hold some, for what the ledger did not keep.

    Raises
    ------
    InputRefused
        ``run.rows_beside``.
    """
    found, absent = _beside(plan, ledger, holding, design, places, entry=entry)
    if found and prepared is not None:
        found = _of_the_same(found, ledger, prepared)
    if not found and not absent:
        return
    reason = charge.reason_of(plan, ROWS_BESIDE)
    if not reason:
        told = _told([*found, *absent])
        raise InputRefused("run.rows_beside", **told, holding=holding.name, decision=ROWS_BESIDE)
    ledger.decide(ROWS_BESIDE, reason, holding=holding.id, entry=entry)


def beside(plan: Plan, ledger: Ledger, design: Method, *, places: Iterable[Path]) -> dict[str, Any]:
    """Return what `refuse_rows_beside` may ask a reason for: count and titles, or nothing; no row is read."""
    holding = charge.known_holding(plan, ledger)
    if holding is None:
        return {}
    found, absent = _beside(plan, ledger, holding, design, places)
    return _told([*found, *absent]) if found or absent else {}


def _told(entries: list[Entry]) -> dict[str, Any]:
    return {"count": len(entries), "titles": titles_of(entries)}


def _beside(
    plan: Plan, ledger: Ledger, holding: Holding, design: Method, places: Iterable[Path], *, entry: str = ""
) -> tuple[list[Entry], list[Entry]]:
    """Return earlier releases of the other kind that have columns with it, and those of unknown columns.

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
        one
        for one in unbounded
        if one.id in found
        and is_other(find_method(found[one.id].method))
        and _share_columns(own, made, found[one.id], cells)
    ]
    if absent:
        kinds = {kind for other in methods() if is_other(other) for kind in other.promises}
        absent = [one for one in absent if one.guarantee.get("kind") in kinds]
    return kept, absent


def _share_columns(
    own: Iterable[str], made: Mapping[str, str], other: EarlierRelease, cells: Collection[str] | None
) -> bool:
    """Say whether rows have two columns of a table, or all of its cells; what was made counts as its source.

    A name is the same however its capitals, accents and blanks are written, as each export has its own way.
    What a table sums is a column of it, too. ``cells`` are the columns of the cells of the table, None where
    it is the other one.
    """
    method = find_method(other.method)
    named = columns_named(method.parameters, other.parameters) if method.compares else {}
    mine = {_first(name, made) for name in own}
    theirs = {_first(str(name), other.made) for name in named.get(MAIN, other.parameters["columns"])}
    alike = {letters_of(name) for name in mine} & {letters_of(name) for name in theirs}
    shared = max(len(mine & theirs), len(alike))
    return shared >= min(2, len(other.parameters["columns"] if cells is None else cells))


def _first(name: str, made: Mapping[str, str]) -> str:
    for _ in made:
        name = made.get(name, name)
    return name


def _of_the_same(found: list[Entry], ledger: Ledger, prepared: PreparedTable) -> list[Entry]:
    """Return those that are about some of the people of a table, or of which nobody knows it."""
    column, known = prepared.schema.person_key, prepared.fingerprints
    people: pa.ChunkedArray = person_keys(prepared.table, prepared.schema)
    key = "" if column is None else column.name
    kin, _ = ledger.kin([one.id for one in found], known.fingerprint, people, rows=known.rows, key=key)
    return [
        one
        for one, its in zip(found, kin, strict=True)
        if its.strangers is None or not its.strangers.all() or its.alike >= HARDLY
    ]
