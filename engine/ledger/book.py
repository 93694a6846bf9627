"""`Ledger`: the releases of each holding, from reservation to withdrawal."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any

from engine.errors import InputRefused
from engine.ledger import entries, holdings, journal, locks, services, store
from engine.ledger import staff as persons
from engine.ledger import told as told_kept
from engine.ledger.fields import check_words, hexadecimal, write_canonical, write_day, write_fraction
from engine.ledger.process import this_process
from engine.ledger.recognition import Recognition
from engine.ledger.values import Compose, Entry, Holding, Preview, Service, Status
from engine.policy import default_path

__all__ = ["Ledger", "default_path"]

Exact = Fraction | int | str


class Ledger(Recognition):
    """What has left about whom, what it spent, and what is left. It refuses what goes beyond.

    Parameters
    ----------
    path
        The SQLite file; made when there is none. Without it: `default_path`.
    read_only
        For an auditor's copy: nothing is made or changed, and a missing file is refused.
    timeout
        Seconds to wait for another window that is writing.

    Raises
    ------
    InputRefused
        ``ledger.newer_version``, ``ledger.read_only``, ``ledger.locked``, ``ledger.disk_full``,
        ``ledger.disk_error``, ``ledger.cannot_open``, ``ledger.missing``.
    VerificationFailed
        ``ledger.corrupted``, ``ledger.empty_file``, ``ledger.not_a_ledger``, ``ledger.removed``, and what
        `verify_chain` says about a ledger that was altered. Every call checks the chain first.

    Notes
    -----
    The object holds no connection: it may be used from any thread. All changes of one call are one
    transaction that takes the writer's lock first, so two windows cannot both pass.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(pathlib.Path(folder.name) / "ledger.sqlite")
    >>> registry = ledger.create_holding(
    ...     "Diabetes register", unit="person", neighbours="add_remove", epsilon="1")
    >>> def add(guarantees):
    ...     return sum((Fraction(one["epsilon"]) for one in guarantees), Fraction(0)), Fraction(0)
    >>> entry = ledger.reserve(
    ...     registry.id, plan_fingerprint="ab", title="Stays by age", recipient="University",
    ...     guarantee_json={"epsilon": "3/4"}, epsilon="3/4", delta=0,
    ...     unit="person", neighbours="add_remove", compose=add)
    >>> ledger.spend(entry)
    >>> ledger.complete(entry, release_sums_hash="0" * 64, internal_sums_hash="1" * 64)
    >>> ledger.status(registry.id).epsilon_left
    Fraction(1, 4)
    >>> folder.cleanup()
    """

    def reserve(
        self,
        holding: str,
        *,
        plan_fingerprint: str,
        title: str,
        recipient: str,
        guarantee_json: Mapping[str, Any],
        epsilon: Exact | None,
        delta: Exact | None,
        unit: str | None,
        neighbours: str | None,
        compose: Compose,
        request: str = "",
        agreement: str = "",
        expires: str | None = None,
        approver: str = "",
        tables: Sequence[str] = (),
        loss: str | None = None,
        parent: str | None = None,
        state_hash: str | None = None,
        questions: Sequence[str] = (),
        folder: str = "",
        money: Fraction | None = None,
        is_prepared: bool = False,
    ) -> str:
        """Enter a release before its first noise, if the budget of the holding bears it.

        Parameters
        ----------
        holding
            Id or name.
        guarantee_json
            What the release promises, as JSON values; handed to ``compose`` with those of all entries that
            count. Fields ``epsilon``, ``delta``, ``unit``, ``neighbours`` must agree with the arguments.
        epsilon, delta
            What the release spends, exact; None where no loss is stated: such a release is never over budget
            and not composed.
        unit, neighbours
            Must be those of the holding; the caller converts (add/remove to replace-one doubles ε).
        compose
            List of guarantee JSONs → total (ε, δ). Runs inside the transaction. Under a budget with δ it
            has to state ε at the holding's δ; for a visit, at the δ of its opening.
        request, agreement, expires, approver
            Purpose: request number, agreement, last day (ISO) or None, who approved.
        tables
            Fingerprints of the tables that are read; each must be attached to this holding.
        loss
            One of `LOSSES`. Left out: ``"bounded"`` with ε, else ``"unbounded"`` (private rows are read
            without a formal guarantee). ``"none"`` is for what reads no private row.
        parent
            Id of the complete entry that opened the service or exchange of which this is a visit. A visit
            with a bounded loss draws from what the opening reserved and not from the holding.
        state_hash
            SHA-256 of the state that the visit begins from: the one that the service was left in.
        questions
            Fingerprints of the questions that are paid for here; none that a visit has answered before.
        folder
            Working folder of this run, see `leftovers`.
        money
            What the release would cost in compensation, for the rule about a second person; None where
            nothing was said of it, which under a rule about money needs one.
        is_prepared
            Reserve for a second person to approve: nothing can be spent before `approve`.

        Returns
        -------
        str
            Id of the entry, now *reserved* or *prepared*.

        Raises
        ------
        InputRefused
            ``ledger.over_budget``, ``ledger.over_delta`` (what is asked, what is left),
            ``ledger.unit_differs``, ``ledger.neighbours_differ``, ``ledger.guarantee_differs``,
            ``ledger.not_attached``, and refusals of single fields. ``ledger.no_budget``: a loss is stated,
            and the holding has no ε. Of visits: ``ledger.not_open``, ``ledger.visit_underway``,
            ``ledger.other_state``, ``ledger.over_reserved``, ``ledger.over_reserved_delta``,
            ``ledger.paid_already``. ``staff.*``: nobody is there who may, or a second person is needed.
        """
        asked = entries.exact_request(guarantee_json, epsilon, delta, unit, neighbours, loss)
        begins_from = None if state_hash is None else hexadecimal(state_hash, "state_hash")
        paid = sorted({check_words(question, "question", required=True) for question in questions})
        row: dict[str, Any] = {
            "state": persons.PREPARED if is_prepared else "reserved",
            "title": check_words(title, "title"),
            "plan": check_words(plan_fingerprint, "plan"),
            "recipient": check_words(recipient, "recipient"),
            "request": check_words(request, "request"),
            "agreement": check_words(agreement, "agreement"),
            "expires": write_day(expires),
            "approver": check_words(approver, "approver"),
            "loss": asked.loss,
            "unit": asked.unit,
            "neighbours": asked.neighbours,
            "guarantee": write_canonical(asked.guarantee),
            "epsilon": write_fraction(asked.epsilon),
            "delta": write_fraction(asked.delta),
            "tables": journal.write_names(tables),
            "questions": journal.write_names(paid),
            "folder": check_words(folder, "folder"),
            "process": entries.process_text(this_process()),
            "reserved_at": journal.now(),
            "reason": "",
        }
        with self._transaction(write=True) as db:
            locks.refuse_without(self.path)
            payer = holdings.find(db, holding)
            holdings.refuse_detached(db, payer, tables)
            preview, visited = _weigh(db, payer, asked, compose, parent, begins_from)
            if preview.refusal is not None:
                raise preview.refusal
            if visited is not None:
                services.refuse_paid(visited, paid)
            identity = f"r{secrets.token_hex(8)}"
            number = journal.head(db).sequence + 1
            row |= {"holding": payer.id, "number": number, "parent": parent}
            kind, details = row["state"], {}
            rule = db.staff.rule(payer.id).tightened(persons.rule_of_computer())
            if money is not None and (db.staff.persons(payer.id) or rule != persons.Rule()):
                details = {"money": write_fraction(money)}
            if not is_prepared:
                _refuse_alone(db, payer, asked, money, parent)
            journal.change(db, kind, "entry", identity, row, **details)
            return identity

    def needs_second(
        self,
        holding: str | None,
        *,
        loss: str,
        epsilon: Fraction | None,
        money: Fraction | None = None,
        parent: str | None = None,
    ) -> str:
        """Say by which part of the rules a release needs a second person; empty where it needs none.

        ``holding`` is None of a register that is not made yet.
        """
        with self._transaction() as db:
            return db.staff.needs_second(
                None if holding is None else holdings.find(db, holding).id,
                loss=loss,
                epsilon=epsilon,
                money=money,
                parent=parent,
                policy=persons.rule_of_computer(),
            )

    def approve(
        self, entry: str, approval: Mapping[str, Any], *, folder: str = "", state_hash: str | None = None
    ) -> None:
        """Turn a prepared release into a reserved one, held by this process, with a second person's approval.

        ``state_hash`` is of the state that a visit begins from, as for `reserve`: it has to be the one in
        which the service is now.

        Raises
        ------
        InputRefused
            What `engine.ledger.staff.Staff.refuse_approval` says; ``ledger.other_state``,
            ``ledger.paid_already``.
        """
        with self._transaction(write=True) as db:
            found = entries.find_entry(db, entry)
            db.staff.refuse_approval(approval, entry)
            if found.parent is not None:
                visited = services.service(db, found.parent)
                services.refuse_other_state(visited, state_hash)
                services.refuse_paid(visited, found.questions)
            process = entries.process_text(this_process())
            changes = {"state": "reserved", "process": process, "folder": check_words(folder, "folder")}
            journal.change(db, persons.APPROVED, "entry", entry, changes, approval=dict(approval))

    def preview(
        self,
        holding: str,
        *,
        guarantee_json: Mapping[str, Any],
        epsilon: Exact | None,
        delta: Exact | None,
        unit: str | None,
        neighbours: str | None,
        compose: Compose,
        loss: str | None = None,
        parent: str | None = None,
        state_hash: str | None = None,
    ) -> Preview:
        """Return what `reserve` would say now, without reserving; parameters as there."""
        asked = entries.exact_request(guarantee_json, epsilon, delta, unit, neighbours, loss)
        with self._transaction() as db:
            payer = holdings.find(db, holding)
            return _weigh(db, payer, asked, compose, parent, state_hash and state_hash.lower())[0]

    def spend(self, entry: str) -> None:
        """Record that the first noise is about to be drawn, or without noise that the first byte is about to
        be written; call it before, not after.

        Only a reserved entry can be spent, and only once: a replay after a crash is refused with
        ``ledger.cannot_be_spent``. It is on the disk when this returns.
        """
        with self._transaction(write=True) as db:
            process = entries.process_text(this_process())
            entries.move(
                db, entry, "spent", "spent", allowed=["reserved"], spent_at=journal.now(), process=process
            )

    def free(self, entry: str, reason: str = "") -> None:
        """Give a reservation back: stopped before the first noise. Refused once the entry is spent."""
        why = check_words(reason, "reason")
        with self._transaction(write=True) as db:
            closed = {"closed_at": journal.now(), "reason": why, "folder": ""}
            entries.move(db, entry, "freed", "freed", allowed=["prepared", "reserved"], **closed)

    def complete(
        self,
        entry: str,
        *,
        release_sums_hash: str,
        internal_sums_hash: str,
        state_hash: str | None = None,
        told: bytes | None = None,
    ) -> None:
        """Close a spent entry with the SHA-256 of both ``SHA256SUMS`` of its bundle.

        ``state_hash`` is the SHA-256 of the state that a service is left in; the next visit begins from it.
        ``told`` is what the release says to everybody, for later ones that have to be compared with it.
        """
        changes = {
            "release_sums": hexadecimal(release_sums_hash, "release_sums_hash"),
            "internal_sums": hexadecimal(internal_sums_hash, "internal_sums_hash"),
            "closed_at": journal.now(),
            "folder": "",
        }
        if state_hash is not None:
            changes["state_hash"] = hexadecimal(state_hash, "state_hash")
        with self._transaction(write=True) as db:
            changes |= _keep(db, entry, told)
            entries.move(db, entry, "completed", "complete", allowed=["spent"], **changes)

    def told(self, entry: str) -> bytes | None:
        """Return what a release told, as it was kept with its entry; None where it was not.

        Raises
        ------
        VerificationFailed
            ``ledger.told_differs``.
        """
        with self._transaction() as db:
            return told_kept.read_told(db, entry, self.path)

    def keep_told(self, entry: str, told: bytes) -> None:
        """Keep what an earlier release told, once its folder was found; what is kept already stays."""
        with self._transaction(write=True) as db:
            if entries.find_entry(db, entry).told is None:
                changes = _keep(db, entry, told)
                if changes:
                    journal.change(db, "told_kept", "entry", entry, changes)

    def fail(self, entry: str, reason: str = "") -> None:
        """Close a spent entry that came to no bundle. Noise was drawn: it stays spent."""
        why = check_words(reason, "reason")
        with self._transaction(write=True) as db:
            closed = {"closed_at": journal.now(), "reason": why, "folder": ""}
            entries.move(db, entry, "failed", "failed", allowed=["spent"], **closed)

    def resolve(self, entry: str, reason: str) -> str:
        """Say what became of an entry whose process ended before it did.

        Parameters
        ----------
        entry
            An abandoned entry (`Entry.abandoned`).
        reason
            What the person knows; journalled.

        Returns
        -------
        str
            ``"freed"`` for a reservation: spending is on the disk before the first noise, so none was
            drawn. ``"failed"`` for a spent entry, which stays spent for ever.

        Raises
        ------
        InputRefused
            ``ledger.still_running``, ``ledger.cannot_be_resolved``, ``ledger.no_reason``.
        """
        why = check_words(reason, "reason", required=True)
        with self._transaction(write=True) as db:
            found = entries.find_entry(db, entry)
            if found.running:
                raise InputRefused("ledger.still_running", title=found.title, entry=found.id)
            to = "failed" if found.state == "spent" else "freed"
            if found.state not in ("prepared", "reserved", "spent"):
                raise InputRefused(
                    "ledger.cannot_be_resolved", title=found.title, entry=found.id, state=found.state
                )
            changes = {"state": to, "closed_at": journal.now(), "reason": why}
            journal.change(db, "resolved", "entry", found.id, changes)
            return to

    def withdraw(self, entry: str, reason: str) -> None:
        """Mark a completed release as withdrawn. What has left has left: nothing is refunded."""
        why = check_words(reason, "reason", required=True)
        now = journal.now()
        with self._transaction(write=True) as db:
            entries.move(
                db, entry, "withdrawn", "withdrawn", allowed=["complete"], withdrawn_at=now, reason=why
            )

    def leftovers(self) -> list[Entry]:
        """Return the entries whose process is gone, but whose working `folder` was never put away.

        A process that ends by itself removes its folder and closes its entry; one that was killed does
        neither. Whoever has removed such a folder says so with `swept`.
        """
        with self._transaction() as db:
            return entries.leftovers(db)

    def swept(self, entry: str) -> None:
        """Record that the working folder of a process that is gone has been removed."""
        with self._transaction(write=True) as db:
            if any(one.id == entry for one in entries.leftovers(db)):
                journal.change(db, "swept", "entry", entry, {"folder": ""})

    def entry(self, entry: str) -> Entry:
        """Return one entry; ``ledger.no_entry`` when there is none."""
        with self._transaction() as db:
            return entries.find_entry(db, entry)

    def find(self, entry: str) -> Entry | None:
        """Return one entry, or None when this ledger has none of that id."""
        with self._transaction() as db:
            return next((one for one in entries.of_holding(db, None) if one.id == entry), None)

    def entries(self, holding: str | None = None) -> list[Entry]:
        """Return the entries of a holding, or of all, in the order of their reservation."""
        with self._transaction() as db:
            return entries.of_holding(db, None if holding is None else holdings.find(db, holding).id)

    def service(self, opening: str, compose: Compose | None = None) -> Service:
        """Return an opened service or exchange: its visits, what they drew, and the state it was left in."""
        with self._transaction() as db:
            return services.service(db, opening, compose)

    def status(self, holding: str, compose: Compose | None = None) -> Status:
        """Return what has been spent on the people of a holding, and what is left.

        Without ``compose``, ε and δ are added up, which is valid and never less than what the accountant
        says; the screens pass the accountant that `reserve` gets.
        """
        with self._transaction() as db:
            return entries.status(db, holdings.find(db, holding), compose)

    def to_json(
        self, compose: Mapping[str, Compose] | None = None, *, sequence: int | None = None
    ) -> dict[str, Any]:
        """Return holdings and releases as JSON values, fractions as ``"p/q"``; no key, no digests.

        ``compose`` gives the accountant of each holding by its id; where there is none, ε and δ are added up.
        With a ``sequence`` all is told as it was after that row of the journal.
        """
        accountants = compose or {}
        with (
            self._transaction() as now,
            nullcontext(now) if sequence is None else store.replay_until(now, sequence) as db,
        ):
            head = journal.head(db)
            changes = budget_changes(journal.events(db))
            listed = [
                holding_to_json(
                    entries.status(db, holding, accountants.get(holding.id)),
                    entries.of_holding(db, holding.id),
                    holdings.tables(db, holding.id),
                    changes.get(holding.id, []),
                )
                for holding in holdings.all_holdings(db)
            ]
        return {
            "version": 1,
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "head": {"sequence": head.sequence, "hash": head.hash},
            "holdings": listed,
        }


def _keep(db: sqlite3.Connection, entry: str, told: bytes | None) -> dict[str, str]:
    """Keep what a release told, and return the change of its entry."""
    if told is None:
        return {}
    entries.find_entry(db, entry)
    digest = told_kept.keep(db, entry, told)
    return {} if digest is None else {"told": digest}


def _refuse_alone(
    db: journal.Connection, payer: Holding, asked: entries.Asked, money: Fraction | None, parent: str | None
) -> None:
    """Refuse what the rules of the register or of this computer leave to two persons."""
    part = db.staff.needs_second(
        payer.id,
        loss=asked.loss,
        epsilon=asked.epsilon,
        money=money,
        parent=parent,
        policy=persons.rule_of_computer(),
    )
    if part and not db.staff.persons(payer.id):
        raise InputRefused("staff.nobody_named", holding=payer.name)
    if part:
        raise InputRefused("staff.needs_second", holding=payer.name)


def _weigh(
    db: sqlite3.Connection,
    payer: Holding,
    asked: entries.Asked,
    compose: Compose,
    parent: str | None,
    state_hash: str | None,
) -> tuple[Preview, Service | None]:
    """Return what the ledger says to a release or a visit, and the service that is visited."""
    if parent is None:
        return entries.weigh(db, payer, asked, compose), None
    visited = services.service(db, parent)
    refusal = services.weigh(visited, payer, asked, compose, state_hash)
    if visited.opening.bounded or asked.epsilon is None:
        before = entries.status(db, payer, None)
        return Preview(before, before.epsilon_spent, before.delta_spent, refusal), visited
    preview = entries.weigh(db, payer, asked, compose)
    return replace(preview, refusal=refusal or preview.refusal), visited


# --- the ledger as plain JSON values --------------------------------------------------------------------


def holding_to_json(
    status: Status,
    entries: list[Entry],
    tables: list[dict[str, Any]],
    changes: list[dict[str, Any]],
) -> dict[str, Any]:
    """Return a holding with what was spent, what is left, and every release. Neither keys nor digests.

    ``changes`` are those of its budget, see `budget_changes`.
    """
    holding = status.holding
    return {
        "id": holding.id,
        "name": holding.name,
        "unit": holding.unit,
        "neighbours": holding.neighbours,
        "created": holding.created,
        "money": write_fraction(holding.money),
        "currency": holding.currency,
        "budget": {"epsilon": write_fraction(holding.epsilon), "delta": write_fraction(holding.delta)},
        "spent": {
            "epsilon": write_fraction(status.epsilon_spent),
            "delta": write_fraction(status.delta_spent),
        },
        "left": {"epsilon": write_fraction(status.epsilon_left), "delta": write_fraction(status.delta_left)},
        "totals": "composed" if status.composed else "added",
        "bounds_all": status.bounds_all,
        "budget_changes": changes,
        "tables": tables,
        "releases": [entry_to_json(entry) for entry in entries],
    }


def budget_changes(events: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return what was changed in the budget of each holding, by its id: when, what before and after, why.

    What it was before is what the rows before say, not what a row says of itself.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    known: dict[str, dict[str, Any]] = {}
    for event in events:
        before = known.get(event.get("row", ""), {})
        if event.get("table") == "holding":
            known[event["row"]] = before | event["changes"]
        if event["kind"] == "budget_changed":
            details = event.get("details", {})
            entry = {
                "time": event["time"],
                "before": {name: before.get(name) for name in event["changes"]},
                "after": event["changes"],
                "reason": details.get("reason", ""),
            }
            found.setdefault(event["row"], []).append(entry)
    return found


def entry_to_json(entry: Entry) -> dict[str, Any]:
    """Return one release: what was given, to whom, under which agreement, until when, what it spent."""
    return {
        "id": entry.id,
        "parent": entry.parent,
        "title": entry.title,
        "state": entry.state,
        "counts": entry.counts,
        "abandoned": entry.abandoned,
        "recipient": entry.recipient,
        "request": entry.request,
        "agreement": entry.agreement,
        "expires": entry.expires,
        "expired": entry.expired(date.today()),
        "approver": entry.approver,
        "plan": entry.plan,
        "loss": entry.loss,
        "unbounded": entry.loss == "unbounded",
        "spent": {"epsilon": write_fraction(entry.epsilon), "delta": write_fraction(entry.delta)},
        "unit": entry.unit,
        "neighbours": entry.neighbours,
        "guarantee": entry.guarantee,
        "reserved_at": entry.reserved_at,
        "spent_at": entry.spent_at,
        "closed_at": entry.closed_at,
        "withdrawn_at": entry.withdrawn_at,
        "reason": entry.reason,
        "release_sums": entry.release_sums,
        "internal_sums": entry.internal_sums,
        "state_hash": entry.state_hash,
    }
