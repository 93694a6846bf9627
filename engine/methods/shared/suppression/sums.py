"""Which sums would tell what one contributor gave, and how far an attacker must stay from them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from engine.methods.shared.suppression.additive import Additive, Mask
from engine.methods.shared.suppression.contributions import Contributions
from engine.methods.shared.suppression.small_cells import weights
from engine.methods.shared.suppression.task import Floats, Requirement, Task

LARGEST = 1e6  # cells are scaled so that the largest is about this: solvers compare to some 1e-7


@dataclass(frozen=True)
class SumRules:
    """What was declared about sums.

    Parameters
    ----------
    threshold
        A sum over fewer people is hidden; who adds nothing makes no sum of others safer.
    width
        The interval of a sum that is hidden for this reason reaches at least this share of it to both sides.
    dominance
        (n, k): a sum of which the n largest contributions are more than k % is hidden. None: not asked.
    p_percent
        A sum from which the second largest contributor estimates the largest within this many per cent is
        hidden. None: not asked.
    alone
        Whether those who are alone in a cell count as attackers.
    by_people
        Whether as few people as possible are hidden, otherwise as few cells.
    """

    threshold: int
    width: Fraction = Fraction(1, 10)
    dominance: tuple[int, Fraction] | None = None
    p_percent: Fraction | None = None
    alone: bool = True
    by_people: bool = True

    @property
    def most(self) -> int:
        """How many of the largest contributions decide."""
        return max(2, self.dominance[0] if self.dominance is not None else 0)


def distances(found: Contributions, rules: SumRules) -> Floats:
    """Return how far every interval must reach to both sides, in steps; 0 for sums that may be printed.

    Notes
    -----
    A. Hundepool et al., "Statistical Disclosure Control" (2012), section 4.2.2: X the sum, x₁ ≥ x₂ ≥ … the
    contributions. Dominance: hidden if x₁ + … + xₙ > k/100 · X, and the interval has to reach to
    100/k · (x₁ + … + xₙ), above which the n are no longer dominant. p %: hidden if X − x₁ − x₂ < p/100 · x₁,
    and the interval has to reach p/100 · x₁ − (X − x₁ − x₂) further, so that x₂ and the end together leave
    p % above x₁. The same distances are asked below, as far as 0.
    """
    total = found.values.astype(np.float64)
    needed = np.zeros(len(total))
    few = (found.people < rules.threshold) & (found.people > 0)
    few |= (found.givers < rules.threshold) & (found.givers > 0)
    needed[few] = np.maximum(1.0, np.ceil(float(rules.width) * total[few]))
    if rules.dominance is not None:
        n, k = rules.dominance
        top = found.largest[:, :n].sum(axis=1).astype(np.float64)
        needed = np.maximum(needed, np.where(100 * top > float(k) * total, 100 / float(k) * top - total, 0.0))
    if rules.p_percent is not None:
        first, second = found.largest[:, 0].astype(np.float64), found.largest[:, 1].astype(np.float64)
        gap = float(rules.p_percent) / 100 * first - (total - first - second)
        needed = np.maximum(needed, np.maximum(gap, 0.0))
    return needed


def sum_task(additive: Additive, found: Contributions, printed: Mask, rules: SumRules) -> tuple[Task, float]:
    """Return what has to be hidden of a table of sums, and how many steps one of its units is.

    Notes
    -----
    A hidden sum is known to be at least 0. Sums over nobody are printed as 0; the total of the whole table is
    printed unless it has to be hidden itself. Who is alone in a cell must be left with an interval for every
    other primary sum that is as wide as the distance asked for it.
    """
    needed = distances(found, rules)
    total = found.values.astype(np.float64)
    unit = max(1.0, float(total.max(initial=0.0)) / LARGEST)
    primary = (needed > 0) & printed
    everyone = additive.summed.all(axis=1)
    wanted = []
    for cell in np.flatnonzero(primary).tolist():
        wanted.append(Requirement(cell, 1, needed[cell] / unit))
        if total[cell] > 0:
            wanted.append(Requirement(cell, -1, min(needed[cell], total[cell]) / unit))
    most = 2 * float(total.max(initial=0.0)) + 2 * float(needed.max(initial=0.0)) + 1
    task = Task(
        equations=additive.equations,
        values=total / unit,
        least=np.zeros(additive.size),
        most=np.full(additive.size, most / unit),
        fixed=printed & ((found.people == 0) | (everyone & ~primary)),
        free=~printed,
        weights=weights(found.people.astype(np.float64), by_people=rules.by_people),
        requirements=tuple(wanted),
        owners=np.where(printed & rules.alone, found.owners, -1),
        against_alone=np.where(primary, needed / unit, 0.0),
    )
    return task, unit
