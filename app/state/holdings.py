"""What the ledger knows that the purpose screen needs, in one job. Orders engine calls; computes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from engine.progress import SILENT, Progress
from engine.release.plan import Plan


@dataclass(frozen=True)
class Holdings:
    """The registers of the ledger with what is left of each, and those that this table seems to belong to.

    ``keys`` gives for each register of persons, by its id, the column that last named its people.
    """

    statuses: tuple[Any, ...] = ()
    matches: tuple[Any, ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """Names of all registers."""
        return frozenset(status.holding.name for status in self.statuses)

    def paying(self, plan: Plan) -> Any:
        """Return how the register stands from which a plan pays; None where the ledger does not know it."""
        wanted = plan.holding.strip().casefold()
        return next((one for one in self.statuses if one.holding.name.casefold() == wanted), None)

    def asked(self, plan: Plan) -> Any:
        """Return the match about which the ledger asks, of people who are charged elsewhere, or None."""
        wanted = plan.holding.strip().casefold()
        best = [one for one in self.matches if one.strength == self.matches[0].strength]
        own = next((one for one in best if one.holding.name.casefold() == wanted), None)
        return next(iter(best), None) if own is None else own.further

    def unanswered(self, plan: Plan) -> Any:
        """Return the match that is a question still: not taken, and no reason given for another register."""
        return None if reason_said(plan, NEW_HOLDING) else self.asked(plan)

    def question(self, plan: Plan) -> str:
        """Return what the ledger asks and the plan does not answer, or nothing."""
        if self.unanswered(plan) is not None:
            return "register_question"
        return "key_question" if self.other_key(plan) is not None and not reason_said(plan, OTHER_KEY) else ""

    def other_key(self, plan: Plan) -> tuple[str, str] | None:
        """Return the column by which the register knew its people and the table's own, if they differ."""
        paying = self.paying(plan)
        key = plan.schema.person_key if plan.schemas else None
        before = "" if paying is None else self.keys.get(paying.holding.id, "")
        if not before or key is None or key.name.casefold() == before.casefold():
            return None
        return before, key.name


NEW_HOLDING, OTHER_KEY = "new_holding", "other_key"


def reason_said(plan: Plan, decision: str) -> str:
    """Return the reason that was given for a decision, or nothing."""
    found = (str(one.get("reason", "")) for one in plan.decisions if one.get("decision") == decision)
    return next(found, "").strip()


def epsilon_of_money(plan: Plan) -> Fraction | None:
    """Return the budget ε of a new register that its money allows; None where too little was said."""
    from engine.release.levels import epsilon_for_money

    amount = plan.price.register
    return None if amount is None else epsilon_for_money(plan, amount)


def look_up(
    plan: Plan, raw: Any, *, ledger_path: Path | None = None, progress: Progress = SILENT
) -> Holdings:
    """Ask the ledger; one that does not exist yet is not made."""
    from engine.ledger import Ledger, default_path, is_there

    path = ledger_path if ledger_path is not None else default_path()
    if not is_there(path):
        return Holdings()
    from engine.release.charge import make_composer, trace_table
    from engine.table.fingerprint import fingerprints
    from engine.table.preparation.prepare import prepare, split

    ledger = Ledger(path)
    statuses = tuple(ledger.status(one.id, make_composer(one)) for one in ledger.holdings())
    keys = {one.id: ledger.person_key(one.id) for one in ledger.holdings() if one.unit == "person"}
    if not statuses or raw is None:
        return Holdings(statuses, (), keys)
    progress.step(0.3, "table.fingerprint")
    # As a release charges the table: as it was read, with the people who are left after the steps.
    changes, _ = split(plan.preparation)
    table, schema = prepare(raw, changes, plan.schema) if changes else (raw, plan.schema)
    found = trace_table(ledger, table, schema, fingerprints(raw), raw.names)
    progress.step(0.7, "table.digests")
    return Holdings(statuses, tuple(found.matches(ledger)), keys)
