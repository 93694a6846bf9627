"""Entries of releases: how one is weighed against the budget, and which state may follow which.

prepared ──▶ (approved by a second person) ──▶ reserved; or freed
reserved ──▶ spent ──▶ complete ──▶ withdrawn
    │          └─────▶ failed
    └────────▶ freed                      every state but *freed* counts against the budget
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Any

from engine.errors import InputRefused
from engine.ledger import journal
from engine.ledger.fields import exact, write_at_least, write_at_most, write_canonical
from engine.ledger.process import Process, is_running
from engine.ledger.values import LOSSES, Compose, Entry, Holding, Preview, Status


@dataclass(frozen=True)
class Asked:
    """What a release asks of a holding; ε and δ are None unless its loss is bounded."""

    guarantee: dict[str, Any]
    loss: str
    epsilon: Fraction | None
    delta: Fraction | None
    unit: str | None
    neighbours: str | None


def exact_request(
    guarantee_json: Mapping[str, Any],
    epsilon: object,
    delta: object,
    unit: str | None,
    neighbours: str | None,
    loss: str | None,
) -> Asked:
    """Return what is asked, as exact numbers, after comparing it with the guarantee that states it."""
    loss = loss or ("unbounded" if epsilon is None else "bounded")
    if loss not in LOSSES or (loss == "bounded") != (epsilon is not None):
        raise InputRefused("ledger.bad_loss", loss=loss)
    try:
        guarantee = json.loads(write_canonical(guarantee_json))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputRefused("ledger.bad_guarantee") from error
    found = Asked(
        guarantee=guarantee,
        loss=loss,
        epsilon=None if epsilon is None else exact(epsilon, "ledger.bad_epsilon"),
        delta=None if epsilon is None else exact(delta, "ledger.bad_delta", zero=True, below_one=True),
        unit=None if unit is None else str(unit),
        neighbours=None if neighbours is None else str(neighbours),
    )
    if loss == "none":  # what it promises is not about the rows of this register
        return found
    inner = guarantee.get("loss")
    for stated in (guarantee, inner if isinstance(inner, dict) else {}):
        for name in ("epsilon", "delta", "unit", "neighbours") if loss == "bounded" else ("epsilon",):
            if name in stated and not _same(stated[name], getattr(found, name)):
                raise InputRefused("ledger.guarantee_differs", field=name)
    return found


def _same(stated: object, given: str | Fraction | None) -> bool:
    if isinstance(given, Fraction):
        code = "ledger.bad_guarantee"
        return stated is not None and exact(stated, code, zero=True) == given
    return stated == given


def weigh(db: sqlite3.Connection, holding: Holding, request: Asked, compose: Compose) -> Preview:
    """Return what the ledger says to a release, inside the caller's transaction."""
    before = status(db, holding, compose)
    if request.epsilon is None or request.delta is None:
        return Preview(before, before.epsilon_spent, before.delta_spent, None)
    refusal = refusal_of_other_kind(holding, request)
    if refusal is None and holding.epsilon is None:
        refusal = InputRefused("ledger.no_budget", holding=holding.name)
    if refusal is not None or holding.epsilon is None:
        return Preview(before, before.epsilon_spent, before.delta_spent, refusal)
    counted = [dict(entry.guarantee) for entry in entries_that_pay(of_holding(db, holding.id), compose)]
    epsilon, delta = exact_total(compose, [*counted, request.guarantee])
    named = {"holding": holding.name}
    if epsilon > holding.epsilon:
        refusal = InputRefused(
            "ledger.over_budget",
            **named,
            asked=write_at_least(request.epsilon),
            total=write_at_least(epsilon),
            left=write_at_most(before.epsilon_left or Fraction(0)),
            budget=write_at_most(holding.epsilon),
        )
    elif delta > holding.delta:
        refusal = InputRefused(
            "ledger.over_delta",
            **named,
            asked=write_at_least(request.delta),
            total=write_at_least(delta),
            left=write_at_most(before.delta_left),
            budget=write_at_most(holding.delta),
        )
    return Preview(before, epsilon, delta, refusal)


def entries_that_pay(listed: Sequence[Entry], compose: Compose | None = None) -> list[Entry]:
    """Return the entries whose loss counts against the budget of their register.

    A visit draws from what its opening reserved, which is counted there once and for all. One that no
    program enters pays itself: of what is a visit, and beyond what was reserved, alone or after others.

    Parameters
    ----------
    listed
        In the order of their reservation.
    compose
        The accountant of the register.
    """
    bounded = [entry for entry in listed if entry.counts and entry.bounded]
    visits: dict[str, list[Entry]] = {entry.id: [] for entry in bounded if entry.parent is None}
    for entry in bounded:
        visits.get(entry.parent or "", []).append(entry)
    draw = {
        one.id
        for opening in bounded
        if visits.get(opening.id)
        for one in _drawn_from(opening, visits[opening.id], compose)
    }
    return [entry for entry in bounded if entry.id not in draw]


def _drawn_from(opening: Entry, visits: list[Entry], compose: Compose | None) -> list[Entry]:
    """Return the visits that take no more than their opening reserved, together with those before them."""
    if _covers(opening, visits, compose):
        return visits
    found: list[Entry] = []
    for one in visits:
        if _covers(opening, [*found, one], compose):
            found.append(one)
    return found


def _covers(opening: Entry, visits: Sequence[Entry], compose: Compose | None) -> bool:
    """Say whether what an opening reserved covers visits, each by itself and all together.

    Pure levels add up. With a δ squares of levels do, which the accountant knows: without one each visit is
    looked at alone. It counts at the δ of the register, which is no smaller than that of the opening, so that
    no visit which was weighed at the opening's own is found to be more.
    """
    epsilon, delta = opening.epsilon or Fraction(0), opening.delta or Fraction(0)
    spent = [(one.epsilon or Fraction(0), one.delta or Fraction(0)) for one in visits]
    if any(one[0] > epsilon or one[1] > delta for one in spent):
        return False
    if sum(one[0] for one in spent) <= epsilon:
        return True
    if not delta:
        return False
    return compose is None or exact_total(compose, [dict(one.guarantee) for one in visits])[0] <= epsilon


def refusal_of_other_kind(holding: Holding, request: Asked) -> InputRefused | None:
    """Return the refusal of a loss in another unit or relation than the register counts in."""
    if request.unit != holding.unit:
        return InputRefused(
            "ledger.unit_differs", holding=holding.name, found=request.unit, expected=holding.unit
        )
    if request.neighbours != holding.neighbours:
        return InputRefused(
            "ledger.neighbours_differ",
            holding=holding.name,
            found=str(request.neighbours).replace("_", "/"),
            expected=holding.neighbours.replace("_", "/"),
        )
    return None


def exact_total(compose: Compose, guarantees: list[dict[str, Any]]) -> tuple[Fraction, Fraction]:
    """Return the accountant's exact total; anything but two exact numbers is refused, never rounded."""
    found = compose(guarantees)
    if not isinstance(found, tuple) or len(found) != 2:
        raise InputRefused("ledger.bad_total", found=type(found).__name__)
    return (
        exact(found[0], "ledger.bad_total", zero=True),
        exact(found[1], "ledger.bad_total", zero=True),
    )


def status(db: sqlite3.Connection, holding: Holding, compose: Compose | None) -> Status:
    """Return what has been spent; without an accountant ε and δ are added up."""
    counted = [entry for entry in of_holding(db, holding.id) if entry.counts]
    bounded = entries_that_pay(counted, compose)
    if compose is not None and bounded:
        epsilon, delta = exact_total(compose, [dict(entry.guarantee) for entry in bounded])
    else:
        epsilon = sum((entry.epsilon or Fraction(0) for entry in bounded), Fraction(0))
        delta = sum((entry.delta or Fraction(0) for entry in bounded), Fraction(0))
    return Status(
        holding=holding,
        epsilon_spent=epsilon,
        delta_spent=delta,
        composed=compose is not None,
        releases=len(counted),
        bounds_all=not any(entry.may_have_left for entry in counted if entry.loss == "unbounded"),
        abandoned=tuple(entry for entry in counted if entry.abandoned),
    )


def move(
    db: journal.Connection,
    entry_id: str,
    kind: str,
    to: str,
    *,
    allowed: Sequence[str],
    **changes: Any,
) -> None:
    """Bring an entry into its next state, or say why not."""
    found = find_entry(db, entry_id)
    if found.state not in allowed:
        raise InputRefused(f"ledger.cannot_be_{to}", entry=found.id, title=found.title, state=found.state)
    journal.change(db, kind, "entry", found.id, {"state": to, **changes})


def find_entry(db: sqlite3.Connection, entry_id: str) -> Entry:
    """Return an entry by its id."""
    row = db.execute("SELECT * FROM entry WHERE id = ?", (entry_id,)).fetchone()
    if row is None:
        raise InputRefused("ledger.no_entry", entry=entry_id)
    return _entry(row)


def of_holding(db: sqlite3.Connection, holding: str | None) -> list[Entry]:
    """Return the entries of one holding (of all, with None), in the order of their reservation."""
    where, values = ("", ()) if holding is None else ("WHERE holding = ?", (holding,))
    return [_entry(row) for row in db.execute(f"SELECT * FROM entry {where} ORDER BY number", values)]


_PLAIN = tuple(
    field.name
    for field in fields(Entry)
    if field.name not in ("guarantee", "epsilon", "delta", "tables", "questions", "running")
)


def _entry(row: sqlite3.Row) -> Entry:
    return Entry(
        **{name: row[name] for name in _PLAIN},
        guarantee=json.loads(row["guarantee"]),
        epsilon=None if row["epsilon"] is None else Fraction(row["epsilon"]),
        delta=None if row["delta"] is None else Fraction(row["delta"]),
        tables=tuple(json.loads(row["tables"])),
        questions=tuple(json.loads(row["questions"])),
        running=row["state"] in ("reserved", "spent") and is_running(Process(**json.loads(row["process"]))),
    )


def leftovers(db: sqlite3.Connection) -> list[Entry]:
    """Return the entries whose process is gone, but whose working folder was never put away."""
    rows = db.execute("SELECT * FROM entry WHERE folder != '' ORDER BY number").fetchall()
    return [_entry(row) for row in rows if not is_running(Process(**json.loads(row["process"])))]


def refuse_underway(db: sqlite3.Connection, holding: str | None = None) -> None:
    """Refuse a change after which a release that is being made could not be closed by its process.

    Parameters
    ----------
    db
        The ledger.
    holding
        Whose releases are meant; all by default.

    Raises
    ------
    InputRefused
        ``ledger.underway`` names the first.
    """
    for one in of_holding(db, holding):
        if one.running and one.state in ("reserved", "spent"):
            raise InputRefused("ledger.underway", title=one.title, entry=one.id)


def process_text(process: Process) -> str:
    """Return a process as the text that is stored with an entry."""
    return write_canonical(asdict(process))
