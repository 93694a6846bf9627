"""Which cells of a table of counts are too small, and how far an attacker must stay from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.methods.shared.suppression.additive import Additive, Integers, Mask
from engine.methods.shared.suppression.contributions import Contributions
from engine.methods.shared.suppression.task import Floats, Requirement, Task


@dataclass(frozen=True)
class Rules:
    """What was declared about small cells.

    Parameters
    ----------
    threshold
        A cell of fewer people is hidden.
    zeros
        Whether cells of nobody are hidden too; otherwise they are printed, and everybody knows that a hidden
        cell holds somebody.
    alone
        Whether nobody who is alone in a hidden cell may work out another one exactly.
    by_people
        Whether as few people as possible are hidden, otherwise as few cells.
    """

    threshold: int
    zeros: bool = False
    alone: bool = True
    by_people: bool = True

    @property
    def least(self) -> int:
        """What everybody knows of a hidden cell at least."""
        return 0 if self.zeros else 1


def is_small(people: Integers, rules: Rules) -> Mask:
    """Say which cells hold too few people."""
    return (people < rules.threshold) & (people >= rules.least)


def count_task(additive: Additive, found: Contributions, printed: Mask, rules: Rules) -> Task:
    """Return what has to be hidden of a table of counts.

    Parameters
    ----------
    additive
        Its cells and equations.
    found
        What it shows, and of how many people.
    printed
        Which cells the table shows, shape (n,).
    rules
        What was declared.

    Notes
    -----
    An attacker's interval of a cell of c < threshold people has to reach at least to the threshold, and at
    least one below the value where less than the value is possible at all. The total of the whole table is
    printed unless it is small itself: how many people there are is usually known.
    """
    counts, people = found.values, found.people
    values = counts.astype(np.float64)
    everyone = additive.summed.all(axis=1)
    hides = np.flatnonzero(is_small(people, rules) & printed)
    wanted = []
    for cell in hides.tolist():
        wanted.append(Requirement(cell, 1, float(rules.threshold - people[cell])))
        if counts[cell] > rules.least:
            wanted.append(Requirement(cell, -1, 1.0))
    return Task(
        equations=additive.equations,
        values=values,
        least=np.where(printed, float(rules.least), 0.0),
        most=np.full(additive.size, 2.0 * values.max(initial=0) + rules.threshold),
        fixed=printed & ((counts < rules.least) | (everyone & ~is_small(people, rules))),
        free=~printed,
        weights=weights(values, by_people=rules.by_people),
        requirements=tuple(wanted),
        owners=np.where(printed & rules.alone, found.owners, -1),
        against_alone=np.ones(additive.size),
    )


def weights(values: Floats, *, by_people: bool) -> Floats:
    """Return what hiding a cell costs; among equal numbers of cells those of fewer people are hidden."""
    if by_people:
        return np.maximum(values, 1.0)
    return 1.0 + values / (1.0 + len(values) * values.max(initial=0))
