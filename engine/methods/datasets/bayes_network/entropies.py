"""Entropies as whole numbers that one row moves by no more than is declared, whatever the rows are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import e, floor, log2

import numpy as np

from engine import arrays

Codes = arrays.Integers
Floats = arrays.Floats

_FINEST = 2**20
_EXACT = 2**50
"""Up to here c log₂ c is off by less than half a step in floating point."""
_ROUNDING = 5
"""Four rounded terms, each off by at most one step, and the steepest step, rounded down."""


@dataclass(frozen=True)
class Entropies:
    """How entropies of about so many rows become whole numbers.

    Parameters
    ----------
    rows
        About how many rows there are: declared, at least 2.

    Notes
    -----
    With counts c of n rows, n H = n log₂ n − Σ c log₂ c. One more row in a cell of c raises it by
    d(n) − d(c), d(c) = (c+1) log₂(c+1) − c log₂ c, which rises with c from 0: by 0 at least, and by
    log₂ n + log₂ e at most, which has no bound that holds for every n. Therefore c log₂ c goes on in a
    straight line above the declared number of rows, so that d stays below L = log₂ rows + log₂ e for every
    table. Then L/2 is taken off for every row, and one row moves what is left by L/2 in either direction.

    V. Bindschaedler (2018), lemma A.1, bounds H itself, by (2 + 1/ln 2 + 2 log₂ n)/n for an exchanged row and
    for an n that is known; there the noise follows from a noisy n, and is too small where that is too large.
    """

    rows: int

    @cached_property
    def grid(self) -> int:
        """How many steps a bit of one row has."""
        fine = _FINEST
        while fine * self.rows * log2(self.rows) > _EXACT:
            fine //= 2
        return fine

    @cached_property
    def steepest(self) -> int:
        """By how many steps one row raises n H, at most."""
        return floor(self.grid * (log2(self.rows) + log2(e)))

    @property
    def sensitivity(self) -> int:
        """By how many steps one row moves one sum, at most."""
        return self.steepest - self.steepest // 2 + _ROUNDING

    def steps(self, counts: Codes) -> int:
        """Return n H of the counts of cells in steps, less half the steepest step for every row."""
        n = int(counts.sum())
        return int(self._curved(np.array([n]))[0] - self._curved(counts).sum()) - self.steepest // 2 * n

    def bits(self, steps: Floats, total: float) -> Floats:
        """Return the entropies of which the steps are, from a number of rows."""
        return np.asarray((steps / total + self.steepest // 2) / self.grid)

    def _curved(self, counts: Codes) -> Codes:
        """Return c log₂ c in steps, in a straight line above the declared number of rows."""
        within = np.minimum(counts, self.rows)
        bent = np.rint(self.grid * (within * np.log2(np.maximum(within, 1)))).astype(np.int64)
        return np.asarray(bent + (counts - within) * self.steepest)
