"""Whether a model agrees with the noisy tables that it was fitted to: of released numbers alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from engine.methods.datasets.marginal_model.fitting import Measured, Model

FALSE_ALARMS = 0.05
LITTLE = 0.01
"""Share of the rows, beyond what noise puts there, by which a model may be off and nearly agree."""
LONGER = 3
"""Times that a fit goes on where its model does not agree yet."""


class Moments(NamedTuple):
    """Variance and third central moment of (noise/σ)², whose mean is 1."""

    variance: float
    third: float


GAUSSIAN, LAPLACE = Moments(2.0, 8.0), Moments(5.0, 74.0)


@dataclass(frozen=True)
class Agreement:
    """How far a fitted model is from its noisy tables, beside how far noise alone may put it.

    Parameters
    ----------
    distances
        Of every table: the sum over its cells of (model − noisy count)² / σ².
    beyond
        Of every table: the share of rows that the model has in other cells than the noisy counts, less what
        noise would make; 0 at least.
    cells
        Of every table.
    moments
        Of (noise/σ)²: `GAUSSIAN` or `LAPLACE`.

    Notes
    -----
    The noise of K cells adds up to K on average, with K times the variance and the third moment of one; the
    sum is close to a shifted gamma distribution with these three (exactly χ² with K degrees of freedom for
    Gaussian noise). With the first two alone it would have too short a tail for Laplace noise. A model that
    holds and is fitted to the end is nearer than the truth, as it follows a part of the noise: between 0 and
    1 per cell, about ½ where most cells are empty. A limit of the truth is therefore rather wide. All limits
    together are passed by the truth in about `FALSE_ALARMS` of all fits at most (Bonferroni): simulated, .02
    to .065 with 1 to 60 tables.
    """

    distances: tuple[float, ...]
    beyond: tuple[float, ...]
    cells: tuple[int, ...]
    moments: Moments

    @property
    def per_cell(self) -> tuple[float, ...]:
        """The distance of every table for each of its cells: 1 is that of the truth, on average."""
        return tuple(distance / size for distance, size in zip(self.distances, self.cells, strict=True))

    @property
    def all_per_cell(self) -> float:
        """The same of all tables together."""
        return sum(self.distances) / sum(self.cells)

    @cached_property
    def agrees(self) -> tuple[bool, ...]:
        """Whether every table is as near as noise alone would put it."""
        limits = self._limits(np.array(self.cells, dtype=np.float64))
        return tuple(bool(found) for found in np.array(self.distances) <= limits)

    @cached_property
    def agrees_as_a_whole(self) -> bool:
        """Whether all tables do, each by itself and all together."""
        whole = self._limits(np.array([sum(self.cells)], dtype=np.float64))
        return all(self.agrees) and bool(sum(self.distances) <= whole[0])

    def _limits(self, cells: np.ndarray) -> np.ndarray:
        from scipy.special import gammainccinv  # on first use

        share, (variance, third) = FALSE_ALARMS / (len(self.cells) + 1), self.moments
        shape, scale = 4 * variance**3 / third**2, third / (2 * variance)
        return np.asarray(cells * (1 - shape * scale) + gammainccinv(cells * shape, share) * scale)


def agreement(model: Model, measured: Sequence[Measured], *, is_gaussian: bool) -> Agreement:
    """Return how far a model is from the tables that it was fitted to.

    Examples
    --------
    >>> whole = (np.arange(2),)
    >>> model = Model((2,), 100.0)
    >>> found = agreement(model, [Measured((0,), whole, np.array([49.0, 53.0]), 2.0)], is_gaussian=True)
    >>> found.per_cell, [round(one, 6) for one in found.beyond], found.agrees_as_a_whole
    ((1.25,), [0.004042], True)
    """
    distances, beyond = [], []
    mean = sqrt(2 / pi) if is_gaussian else sqrt(1 / 2)
    for one in measured:
        off = np.abs(one.coarse(model.table(one.attributes)) - one.counts) / one.deviation
        distances.append(float(np.vdot(off, off)))
        beyond.append(max(0.0, float(off.sum()) - mean * off.size) * one.deviation / (2 * model.total))
    cells = tuple(one.counts.size for one in measured)
    return Agreement(tuple(distances), tuple(beyond), cells, GAUSSIAN if is_gaussian else LAPLACE)


def settle(model: Model, measured: Sequence[Measured], *, is_gaussian: bool, steps: int) -> None:
    """Fit on while a model is farther from its tables than noise would put it: where noise is small.

    Notes
    -----
    45,000 rows of 14 columns: with ε = 1 no fit goes on, with ε = 4 pairs are off by .0129 for .0138.
    """
    for _ in range(LONGER):
        if agreement(model, measured, is_gaussian=is_gaussian).agrees_as_a_whole:
            return
        model.fit(measured, steps=steps, enough=0.001)
