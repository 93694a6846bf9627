"""How the register of a plan stands: what was spent, what is left. Asks the ledger; computes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from app.state.study import Study
from app.work.jobs import JobRunner
from engine.progress import SILENT, Progress


@dataclass(frozen=True)
class Standing:
    """A register of people as the ledger knows it.

    Parameters
    ----------
    name
        As it was named once.
    whole, spent
        Its budget, None where it has none, and what all its releases have spent of it together.
    bounds_all
        False where a release without a bound is among them.
    releases
        How many there are.
    """

    name: str
    whole: Fraction | None
    spent: Fraction = Fraction(0)
    bounds_all: bool = True
    releases: int = 0

    @property
    def left(self) -> Fraction:
        """What further releases may spend."""
        return max((self.whole or Fraction(0)) - self.spent, Fraction(0))


def standing(name: str, ledger_path: Path | None = None, *, progress: Progress = SILENT) -> Standing | None:
    """Return how a register stands; None where the ledger does not know it yet."""
    from engine.ledger import Ledger, default_path

    place = ledger_path if ledger_path is not None else default_path()
    if not name or not place.exists():
        return None
    from engine.release.charge import composer

    ledger = Ledger(place, read_only=True)
    wanted = name.strip().casefold()
    found = next((one for one in ledger.holdings() if one.name.casefold() == wanted), None)
    if found is None:
        return None
    status = ledger.status(found.id, composer(found))
    return Standing(found.name, found.epsilon, status.epsilon_spent, status.bounds_all, status.releases)


CHANGES = frozenset(("holding", "holding_budget", "ledger", "bundle"))


class RegisterWatch:
    """Tells how the register of a study stands, after everything that may have changed it."""

    def __init__(self, study: Study, runner: JobRunner, tell: Callable[[Standing | None], None]) -> None:
        self.study, self.runner, self._tell = study, runner, tell
        study.listen(self._changed)

    def _changed(self, names: frozenset[str]) -> None:
        if not names & CHANGES:
            return
        name = self.study.plan.holding.strip()
        if not name:
            self._tell(None)
            return
        self.runner.start(
            standing,
            name,
            self.study.ledger_path,
            done=self._known,
            failed=lambda error: self._tell(None),  # whoever opens the releases is told what is wrong
            slot="register",
        )

    def _known(self, found: Standing | None) -> None:
        """Show what the ledger says, or, of a register that is to be made, what the plan says."""
        plan = self.study.plan
        if not plan.holding.strip():
            self._tell(None)
        elif found is not None:
            self._tell(found)
        else:
            whole = plan.holding_budget.epsilon if plan.holding_budget is not None else None
            self._tell(Standing(plan.holding.strip(), whole))
