"""How the register of a plan stands: what was spent, what is left. Asks the ledger; computes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from app.state.study import Study
from app.work.jobs import JobRunner
from engine.progress import SILENT, Progress
from engine.release.plan import Plan


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
    from engine.ledger import Ledger, default_path, is_there

    place = ledger_path if ledger_path is not None else default_path()
    if not name or not is_there(place):
        return None
    from engine.ledger.holdings import called
    from engine.release.charge import make_composer

    ledger = Ledger(place, read_only=True)
    found = called(ledger.holdings(), name)
    if found is None:
        return None
    status = ledger.status(found.id, make_composer(found))
    return Standing(found.name, found.epsilon, status.epsilon_spent, status.bounds_all, status.releases)


@dataclass(frozen=True)
class Takes:
    """What a release takes from its register: left before, spent by it, left after; None where not known."""

    before: Fraction | None
    spends: Fraction | None
    after: Fraction | None
    whole: Fraction | None

    @property
    def share(self) -> str:
        """``"more"`` than was left, ``"all"`` of it, more than ``"half"`` of it, or ``""``.

        Examples
        --------
        >>> Takes(Fraction(2), Fraction(2), Fraction(0), Fraction(3)).share
        'all'
        >>> Takes(Fraction(2), Fraction(1), Fraction(1), Fraction(3)).share
        ''
        >>> Takes(Fraction(1), Fraction(2), Fraction(0), Fraction(3)).share
        'more'
        """
        if self.before is None or self.after is None or not self.spends:
            return ""
        if self.spends > self.before:
            return "more"
        if self.after < self.before / NOTHING_LEFT:
            return "all"
        return "half" if self.after < self.before / 2 else ""

    @property
    def part(self) -> Fraction:
        """Which part of what was left it takes, from 0 to 1."""
        return self.spends / self.before if self.spends and self.before else Fraction(0)


MUCH = Fraction(1, 4)  # of what is left: from here on it is asked before it goes
NOTHING_LEFT = 100  # less than this part of what was left is nothing


def takes(plan: Plan, preview: Any) -> Takes:
    """Return what a plan takes from its register, by what the ledger said of it."""
    loss = None if preview is None or preview.promise is None else preview.promise.loss
    spends = None if loss is None else loss.epsilon
    if preview is not None and preview.ledger is not None:
        before = preview.ledger.before
        return Takes(before.epsilon_left, spends, preview.ledger.epsilon_after, before.holding.epsilon)
    budget = plan.holding_budget
    if budget is None or spends is None:
        return Takes(None, spends, None, None)
    return Takes(budget.epsilon, spends, max(budget.epsilon - spends, Fraction(0)), budget.epsilon)


def in_money(plan: Plan, epsilon: Fraction | None) -> float | None:
    """Return the modelled claims of a level by what was said about money; None where too little was said."""
    from engine.pricing.statement import cost_of

    cost = None if epsilon is None else cost_of(plan.price)
    return None if cost is None or epsilon is None else cost.at(float(epsilon))


def money_left(plan: Plan, found: Takes) -> float | None:
    """Return what stays of the money of a new register after a release; None where nobody said the sum."""
    if plan.price.register is None or found.whole is None or found.after is None:
        return None
    together = in_money(plan, found.whole - found.after)
    return None if together is None else max(float(plan.price.register) - together, 0.0)


CHANGES = frozenset(("holding", "holding_budget", "ledger", "bundle"))


class RegisterWatch:
    """Tells how the register of a study stands, after everything that may have changed it."""

    def __init__(self, study: Study, runner: JobRunner, tell: Callable[[Standing | None], None]) -> None:
        self.study, self.runner, self._tell = study, runner, tell
        study.listen(self._changed)

    def tell(self) -> None:
        """Tell it once more: to a part that was made anew."""
        self._changed(CHANGES)

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
