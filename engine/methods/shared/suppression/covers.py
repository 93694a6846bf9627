"""Sufficient patterns out of the cuts themselves: cheap choices of cells that meet all cuts found so far.

Every sufficient pattern meets every cut. So a pattern that meets all known cuts is tried, the cuts that it
breaks are added, cells are added until it meets them too, and so on until it breaks none. In three dimensions
this gives cheaper patterns than one way after another does, and the cuts raise the bound.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.methods.shared.suppression.additive import Integers, Mask
from engine.methods.shared.suppression.attacker import Attacker
from engine.methods.shared.suppression.task import Floats, Requirement, Task

_MET = 1e-9


class Cuts:
    """Cuts c · x ≥ 1 over the cells that may be hidden, each once.

    Parameters
    ----------
    task
        What must be hidden and what is asked.
    open_cells
        The cells that may be hidden and need not be.
    """

    def __init__(self, task: Task, open_cells: Integers) -> None:
        self.task, self.open = task, open_cells
        self.rows: list[Floats] = []
        self._keys: set[bytes] = set()
        self._block = np.zeros((0, len(open_cells)))

    def separate(
        self, shares: Floats, among: list[Requirement], attacker: Attacker, tick: Callable[[], None]
    ) -> list[Floats]:
        """Add the cuts that a pattern breaks, and return them."""
        new = []
        attacker.look_at(shares)
        for one in among:
            tick()
            cut = attacker.reach(one).cut
            if cut is None or cut @ shares >= one.level * (1 - 1e-4):
                continue
            level = one.level - float(cut[self.task.must].sum())
            if level <= 0:
                continue
            row = np.minimum(cut[self.open], level) / level
            if (key := np.round(row, 6).tobytes()) not in self._keys:
                self._keys.add(key)
                new.append(row)
        self.rows += new
        return new

    @property
    def block(self) -> Floats:
        """All cuts, shape (cuts, open cells)."""
        known = len(self._block)
        if known < len(self.rows):
            self._block = np.concatenate([self._block, np.array(self.rows[known:])])
        return self._block

    def cover(self, start: Mask, costs: Floats) -> Mask:
        """Return open cells that meet all cuts, by most of what is missing for the cost; none is superfluous.

        Parameters
        ----------
        start
            Hidden to begin with, shape (open cells,).
        costs
            Of every open cell, above 0.
        """
        block, chosen = self.block, start.copy()
        missing = 1.0 - block @ chosen
        while (short := np.flatnonzero(missing > _MET)).size:
            gains = np.minimum(block[short], missing[short][:, None]).sum(axis=0)
            gains[chosen] = 0.0
            best = int((gains / costs).argmax())
            if not gains[best] > 0:
                return np.ones_like(chosen)
            chosen[best] = True
            missing -= block[:, best]
        weights = self.task.weights[self.open]
        for cell in sorted(np.flatnonzero(chosen).tolist(), key=lambda cell: -weights[cell]):
            if (missing + block[:, cell] <= _MET).all():
                chosen[cell] = False
                missing += block[:, cell]
        return chosen
