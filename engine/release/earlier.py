"""Earlier releases of a register, from which a new one could be subtracted: none is passed over in silence.

What a release told is public, so the ledger keeps it with the entry. Where it does not (an entry of an older
program, a table that is too large), the folder has to be at hand, or the custodian says with a reason why the
release is made all the same.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from engine import bounded, strict_json
from engine.bounded import EVIDENCE, read_bytes, read_text
from engine.errors import InputRefused
from engine.ledger import Entry, Holding, Ledger
from engine.ledger.staff import APPROVED
from engine.methods.catalogue import method as find_method
from engine.methods.earlier import NOTHING, Earlier, EarlierRelease, Shared
from engine.methods.protocol import MAIN, Method, Rows, Spends
from engine.methods.values import columns_named
from engine.release import charge
from engine.release.bundle import INTERNAL, RELEASE, SUMS
from engine.release.nearby import find_bundles
from engine.release.plan import Plan
from engine.release.reading import PreparedTable, person_keys
from engine.report.content.shared import day
from engine.table.coding import text_of
from engine.table.schema import Origin
from engine.views import Label, Text

EARLIER_MISSING = "earlier_missing"
"""The decision to release without a comparison that could not be made; it needs a reason."""
OTHER_PEOPLE = "other_people"
"""The decision that a table is about other people than one that looks nearly the same; it needs a reason."""
NAMED = 5
LARGEST = 1 << 26


def earlier(
    plan: Plan,
    ledger: Ledger,
    holding: Holding,
    method: type[Method],
    prepared: PreparedTable | None,
    *,
    entry: str,
    places: Iterable[Path],
) -> Earlier:
    """Return what a method released of a register before; call it before anything is spent.

    Parameters
    ----------
    plan
        Of the new release: it may hold a reason for what is missing.
    ledger, holding
        Which releases there were, and what they told.
    method
        Of the new release; only its own earlier releases are looked at.
    prepared
        Its table, to know whether it is about the people of earlier ones.
    entry
        That of the new release, reserved: of two that are made at once the later one gives way.
    places
        Folders of releases, and folders that may hold some, for what the ledger did not keep. What is found
        there is kept in the ledger from now on.

    Raises
    ------
    InputRefused
        ``run.earlier_underway``, ``run.earlier_unresolved``: another release of this kind is not closed.
        ``run.earlier_missing``: what one told is neither in the ledger nor in any of the folders, and no
        reason is given.

    Notes
    -----
    What the recipient was told to delete (a withdrawn release) may be kept all the same, so it is looked at
    too; so is one whose process was killed, when nobody knows whether it has left.
    """
    if not method.compares:
        return NOTHING
    _refuse_open(ledger, holding, method, entry)
    found, absent = _looked_for(ledger, holding, method, places, keep=True)
    reason = charge.reason_of(plan, EARLIER_MISSING)
    if absent and not reason:
        raise InputRefused(
            "run.earlier_missing",
            holding=holding.name,
            count=len(absent),
            titles=titles_of(absent),
            decision=EARLIER_MISSING,
        )
    if absent:
        ledger.decide(EARLIER_MISSING, reason, holding=holding.id, entry=entry)
    others = charge.reason_of(plan, OTHER_PEOPLE)
    if found and others:
        ledger.decide(OTHER_PEOPLE, others, holding=holding.id, entry=entry)
    related, shared = _beside(found, ledger, prepared)
    secret = ledger.register_key(holding.id)
    return Earlier(related, len(absent), secret, bool(reason), bool(others), shared)


def missing_releases(plan: Plan, ledger: Ledger | None, *, places: Iterable[Path]) -> dict[str, Any]:
    """Return what `earlier` would ask a reason for, count and titles, or nothing; nothing is written."""
    method = find_method(plan.method)
    holding = charge.known_holding(plan, ledger) if ledger is not None and method.compares else None
    if ledger is None or holding is None:
        return {}
    _, absent = _looked_for(ledger, holding, method, places, keep=False)
    return {"count": len(absent), "titles": titles_of(absent)} if absent else {}


def refuse_missing(plan: Plan, ledger: Ledger, holding: Holding, *, places: Iterable[Path]) -> None:
    """Refuse what `earlier` would, where what an earlier release told is missing; nothing is written.

    Raises
    ------
    InputRefused
        ``run.earlier_missing``.
    """
    found = missing_releases(plan, ledger, places=places)
    if found and not charge.reason_of(plan, EARLIER_MISSING):
        raise InputRefused("run.earlier_missing", **found, holding=holding.name, decision=EARLIER_MISSING)


def shows_rows(method: type[Method]) -> bool:
    """Say whether rows leave that are people's, at least in part, or of a model of them without noise."""
    return method.rows is not Rows.NONE and not (method.invented and method.spends is not Spends.NOTHING)


def read_told(folder: Path) -> bytes | None:
    """Return what a bundle tells everybody, for the ledger to keep; of rows the names of columns alone.

    Of those that leave, and of those that they were made of. None where its method compares with nothing and
    shows no rows, and where its files are not those that its sums name.
    """
    try:
        lines = read_text(folder / RELEASE / SUMS, bounded.SUMS).splitlines()
        listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}

        def content(name: str) -> bytes:
            data = read_bytes(folder / RELEASE / name, LARGEST)
            if hashlib.sha256(data).hexdigest() != listed[name]:
                raise ValueError(name)
            return data

        tree = strict_json.loads(content("evidence.json"))
        method = find_method(str(tree["method"]["id"]))
        if not (method.compares or shows_rows(method)):
            return None
        parameters = dict(tree["decided"]["parameters"])
        if not method.compares:
            columns = {str(name) for one in tree["artefacts"] for name in one.get("columns", ())}
            made_of = columns_named(method.parameters, parameters).get(MAIN, ())  # features have other names
            parameters = {"columns": sorted(columns.union(made_of))}
        told = {
            "version": 1,
            "method": method.id,
            "parameters": parameters,
            "made": {
                str(step["to"]): str(step["column"])
                for step in tree["decided"].get("preparation", ())
                if {"to", "column"} <= step.keys()
            },
            "chosen": any(
                step.get("step") in ("keep_rows_where", "drop_people")
                for step in tree["decided"].get("preparation", ())
            ),
            "conditions": _conditions(folder, tree),
            "files": {name: content(name).decode() for name in listed if method.compares and _is_table(name)},
        }
        return json.dumps(told, sort_keys=True, ensure_ascii=False).encode()
    except (OSError, KeyError, TypeError, ValueError, InputRefused):
        return None


def _conditions(folder: Path, public: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the conditions on the rows of a release, as far as a later one may be compared by them.

    Values stand in them that were declared, and ends that were decided, but no other cell. Of a bundle whose
    folder of what stays is sealed or elsewhere only the columns are known.
    """
    named = [
        {"column": str(step["column"])}
        for step in public["decided"].get("preparation", ())
        if step.get("step") == "keep_rows_where"
    ]
    try:
        inside = strict_json.loads(read_bytes(folder / INTERNAL / "evidence.json", EVIDENCE))
        plan = Plan.loads(json.dumps(inside["internal"]["plan"]))
        return [_declared(step, plan) for step in plan.preparation if step["step"] == "keep_rows_where"]
    except (OSError, KeyError, TypeError, ValueError, InputRefused):
        return named


def _declared(step: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """Return a condition with those of its values alone that its column declares."""
    prepared = plan.prepared(str(step.get("source", MAIN)))
    column = prepared.column(step["column"]) if step["column"] in prepared else None
    if column is None or column.domain is None or column.domain_origin is not Origin.DECLARED:
        return {"column": str(step["column"])}
    if "values" not in step:
        return dict(step)
    declared = {text_of(value) for value in column.domain.values or ()}
    return {**step, "values": [value for value in step["values"] if text_of(value) in declared]}


def _beside(
    found: Mapping[str, EarlierRelease], ledger: Ledger, prepared: PreparedTable | None
) -> tuple[tuple[EarlierRelease, ...], tuple[Shared, ...]]:
    """Return earlier releases with what the ledger knows of their people and rows beside those of a table.

    And who is in which of all together: nothing where conditions on rows chose among them.
    """
    releases = tuple(found.values())
    if prepared is None or not releases:
        return releases, ()
    column, known = prepared.schema.person_key, prepared.fingerprints
    people = person_keys(prepared.table, prepared.schema)
    keys, key = people.combine_chunks(), "" if column is None else column.name
    together = len(found) > 1 and not prepared.filters and not any(one.chosen for one in releases)
    kin, groups = ledger.kin(
        tuple(found), known.fingerprint, people, rows=known.rows, key=key, together=together
    )
    related = tuple(
        replace(
            one,
            alike=its.alike,
            strangers=None if its.strangers is None else keys.filter(pa.array(its.strangers)),
        )
        for one, its in zip(releases, kin, strict=True)
    )
    return related, tuple(
        Shared(tables, sizes, places, None if places is None else keys) for tables, sizes, places in groups
    )


def _refuse_open(ledger: Ledger, holding: Holding, method: type[Method], entry: str) -> None:
    """Refuse while another one that began before is not closed.

    What was prepared begins when it goes on: until then others may have been made, or killed.
    """
    waiting = [
        one
        for one in ledger.entries(holding.id)
        if one.id != entry and one.state in ("reserved", "spent") and _is_of(one, method)
    ]
    if not waiting:
        return
    went_on = {one["row"]: int(one["sequence"]) for one in ledger.journal() if one["kind"] == APPROVED}
    own = went_on.get(entry, ledger.entry(entry).number)
    for one in waiting:
        if went_on.get(one.id, one.number) < own:
            code = "earlier_unresolved" if one.abandoned else "earlier_underway"
            raise InputRefused(f"run.{code}", title=one.title, holding=holding.name, entry=one.id)


def look_for_told(
    ledger: Ledger, entries: Iterable[Entry], places: Iterable[Path], *, keep: bool
) -> tuple[dict[str, EarlierRelease], list[Entry]]:
    """Return what releases told that may have left, by their entry, and those of which nothing is known."""
    closed = ("complete", "withdrawn", "failed")
    wanted = [one for one in entries if one.state in closed and one.may_have_left]
    told = {one.id: ledger.told(one.id) for one in wanted}
    if any(content is None for content in told.values()):
        lying = {sums: folder for folder, sums in find_bundles(places)}
        for one in wanted:
            if told[one.id] is None and one.release_sums in lying:
                content = told[one.id] = read_told(lying[one.release_sums])
                if content is not None and keep and not ledger.read_only:
                    ledger.keep_told(one.id, content)
    read = {one.id: _release(told[one.id], one) for one in wanted}
    found = {entry: one for entry, one in read.items() if one is not None}
    return found, [one for one in wanted if read[one.id] is None]


def _looked_for(
    ledger: Ledger, holding: Holding, method: type[Method], places: Iterable[Path], *, keep: bool
) -> tuple[dict[str, EarlierRelease], list[Entry]]:
    """Return the earlier releases of a method by entry, and the entries about which nothing is known."""
    wanted = (one for one in ledger.entries(holding.id) if _is_of(one, method))
    found, absent = look_for_told(ledger, wanted, places, keep=keep)
    return {entry: one for entry, one in found.items() if one.method == method.id}, absent


def _is_of(entry: Entry, method: type[Method]) -> bool:
    """Say whether an entry can be a release of the method: whether it makes such promises."""
    return entry.guarantee.get("kind") in method.promises


def _release(content: bytes | None, entry: Entry) -> EarlierRelease | None:
    """Return a release from what it told; None where that cannot be read."""
    if content is None:
        return None
    try:
        tree = strict_json.loads(content)
        frames = {
            str(name): pd.read_csv(io.StringIO(text), dtype="str", keep_default_na=False)
            for name, text in tree["files"].items()
        }
        made = dict(tree.get("made", {}))  # what older programs kept does not say it
        chosen = bool(tree.get("chosen", True))
        conditions = tuple(dict(step) for step in tree.get("conditions", ()))
        about = (entry.title, str(tree["method"]), dict(tree["parameters"]))
        return EarlierRelease(*about, frames, made, chosen=chosen, conditions=conditions)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def titles_of(absent: list[Entry]) -> list[Label]:
    """Return titles and days of some releases, for people."""
    named: list[Label] = [
        Text("bundle.dated", {"title": one.title, "day": day(one.reserved_at[:10])}) for one in absent
    ]
    return named if len(named) <= NAMED else [*named[:NAMED], "…"]


def _is_table(name: str) -> bool:
    return name.endswith(".csv") and "/" not in name and "\\" not in name
