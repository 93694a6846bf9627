"""What has to be hidden, what may be, and how far an attacker must stay from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine import arrays
from engine.methods.shared.suppression.additive import Integers, Mask

if TYPE_CHECKING:
    from scipy import sparse

Floats = arrays.Floats
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Requirement:
    """How far an attacker's interval of one cell has to reach.

    Parameters
    ----------
    cell
        Of which cell.
    side
        1: at least ``level`` above the value; −1: below it; 0: at least ``level`` wide in all.
    level
        Above 0.
    known
        Cells whose value the attacker knows: somebody who is alone in each of them.
    """

    cell: int
    side: int
    level: float
    known: tuple[int, ...] = ()


@dataclass(frozen=True)
class Task:
    """A table to be protected; arrays have one value a cell, shape (n,).

    Parameters
    ----------
    equations
        M of M · values = 0.
    values
        The true cells, totals included.
    least, most
        Between which numbers everybody knows that a hidden cell lies.
    fixed
        Cells that are printed in any case (zeros, where these are printed).
    free
        Cells that are printed in no case; nothing is asked of them.
    weights
        What hiding a cell costs, above 0.
    requirements
        Of the primary cells; the cells that they name are hidden.
    owners
        For a cell with a single contributor, of whom it must be assumed that they know it, the number of this
        contributor; −1 for all others.
    against_alone
        How wide the interval of a primary cell must stay for contributors who are alone in others.
    """

    equations: sparse.csr_array
    values: Floats
    least: Floats
    most: Floats
    fixed: Mask
    free: Mask
    weights: Floats
    requirements: tuple[Requirement, ...]
    owners: Integers
    against_alone: Floats

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.values)

    @property
    def primary(self) -> Integers:
        """The cells that are too small, or that a contributor could find."""
        return np.unique(np.array([one.cell for one in self.requirements], dtype=np.int64))

    @property
    def must(self) -> Mask:
        """Cells that are hidden in every pattern."""
        hidden = self.free.copy()
        hidden[self.primary] = True
        return hidden

    @property
    def up(self) -> Floats:
        """How far a cell can rise as far as everybody knows."""
        return np.maximum(self.most - self.values, 0.0)

    @property
    def down(self) -> Floats:
        """How far a cell can fall."""
        return np.maximum(self.values - self.least, 0.0)

    def pairs(self) -> tuple[Requirement, ...]:
        """Return what is asked against contributors who are alone in a cell."""
        found = []
        for known in self.known().values():
            others = [cell for cell in self.primary.tolist() if cell not in known]
            found += [Requirement(cell, 0, float(self.against_alone[cell]), known) for cell in others]
        return tuple(found)

    def known(self) -> dict[int, tuple[int, ...]]:
        """Return, for each contributor who is alone somewhere, the cells that they know."""
        found: dict[int, tuple[int, ...]] = {}
        for cell in np.flatnonzero(self.owners >= 0).tolist():
            owner = int(self.owners[cell])
            found[owner] = (*found.get(owner, ()), cell)
        return found

    def cost(self, hidden: Mask) -> float:
        """Return what the hidden cells cost that are not primary."""
        return float(self.weights[hidden & ~self.must].sum())
