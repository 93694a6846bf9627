"""What the ledger knows that the purpose screen needs, in one job. Orders engine calls; computes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.progress import SILENT, Progress
from engine.release.plan import Plan


@dataclass(frozen=True)
class Holdings:
    """The registers of the ledger with what is left of each, and those that this table seems to belong to."""

    statuses: tuple[Any, ...]
    matches: tuple[Any, ...]

    @property
    def names(self) -> frozenset[str]:
        """Names of all registers."""
        return frozenset(status.holding.name for status in self.statuses)


def look_up(
    plan: Plan, raw: Any, *, ledger_path: Path | None = None, progress: Progress = SILENT
) -> Holdings:
    """Ask the ledger; one that does not exist yet is not made."""
    from engine.ledger import Ledger, default_path

    path = ledger_path if ledger_path is not None else default_path()
    if not path.exists():
        return Holdings((), ())
    from engine.release.charge import composer, shown
    from engine.table.fingerprint import marks
    from engine.table.preparation import prepare, split

    ledger = Ledger(path)
    statuses = tuple(ledger.status(one.id, composer(one)) for one in ledger.holdings())
    if not statuses or raw is None:
        return Holdings(statuses, ())
    progress.step(0.3, "table.fingerprint")
    # As a release charges the table: as it was read, with the people who are left after the steps.
    changes, _ = split(plan.preparation)
    table, schema = prepare(raw, changes, plan.schema) if changes else (raw, plan.schema)
    found = shown(ledger, table, schema, marks(raw), raw.names)
    progress.step(0.7, "table.digests")
    return Holdings(statuses, tuple(found.matches(ledger)))
