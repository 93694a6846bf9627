"""Noisy counts of all cells and all pairs of cells together: what principal components are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, sqrt

import numpy as np

from engine import arrays
from engine.methods.datasets.bayes_network.learning import project_counts
from engine.methods.datasets.latent_model.projection import Projection, normal
from engine.methods.datasets.marginal_model.agreement import GAUSSIAN
from engine.methods.datasets.synthesis.related import Relations, above_noise
from engine.once import once
from engine.privacy.gaussian import concentrated_budget
from engine.privacy.mechanisms import DiscreteGaussian, root_above
from engine.privacy.mechanisms.integers import add_noise
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress

Codes = arrays.Integers
Floats = arrays.Floats

_PRECISION = 2**20
LARGEST_LEVEL = 1e5
"""Beyond it there is no noise worth the name."""


@dataclass(frozen=True)
class Moments:
    """How principal components are learnt, from declarations alone.

    Parameters
    ----------
    sizes
        Cells of every column.
    epsilon, delta
        What it may cost.
    dimensions
        How many components are kept.
    about_rows
        Roughly how many rows they are learnt from.

    Notes
    -----
    A row is a vector of zeros and ones with a one for each of its d cells. The upper half of the sum of the
    squares of these vectors counts cells and pairs of cells: one row adds d + d (d − 1) / 2 ones. Normal
    noise on it: C. Dwork, K. Talwar, A. Thakurta, L. Zhang, "Analyze Gauss" (2014), in whole numbers.
    """

    sizes: tuple[int, ...]
    epsilon: Fraction
    delta: Fraction
    dimensions: int
    about_rows: int

    @property
    def squared(self) -> int:
        """The largest squared distance between the counts of neighbouring tables."""
        columns = len(self.sizes)
        return columns * (columns + 1) // 2

    @once
    def scale(self) -> Fraction:
        """The standard deviation of the noise of a count, rounded up: ρ = S / 2σ²."""
        level = min(float(self.epsilon), LARGEST_LEVEL)
        budget = concentrated_budget(level, float(self.delta)) * (1 - 1e-9)
        return Fraction(ceil(sqrt(self.squared / (2 * budget)) * _PRECISION), _PRECISION)

    @property
    def event(self) -> DiscreteGaussian:
        """What the ledger reserves."""
        return DiscreteGaussian(self.scale, root_above(self.squared))

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise of a count."""
        return float(self.scale)

    def learnt(self, codes: Codes, noise: Noise, *, progress: Progress = SILENT) -> Components:
        """Return the components of rows, shape (columns, n)."""
        progress.step(0.0, "synthesis.fit")
        blocks = count_pairs(codes, self.sizes)
        exact = np.concatenate([block.ravel() for block in blocks.values()])
        noisy = add_noise(exact, noise.discrete_gaussian(self.scale**2, exact.size)).astype(np.float64)
        parts = np.split(noisy, np.cumsum([block.size for block in blocks.values()])[:-1])
        tables = {
            place: part.reshape(block.shape)
            for (place, block), part in zip(blocks.items(), parts, strict=True)
        }
        return self._components(tables)

    def _components(self, tables: dict[tuple[int, int], Floats]) -> Components:
        """Return the principal components of noisy tables: nothing here has seen a row."""
        columns = range(len(self.sizes))
        weights = np.array([1 / size for size in self.sizes])
        sums = np.array([tables[one, one].sum() for one in columns])
        total = max(1.0, float((weights * sums).sum() / weights.sum()))
        shares = [project_counts(tables[one, one].ravel(), total) / total for one in columns]
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        spread = np.zeros((starts[-1], starts[-1]))
        for (one, other), table in tables.items():
            rows, lines = slice(starts[one], starts[one + 1]), slice(starts[other], starts[other + 1])
            if one == other:
                spread[rows, rows] = np.diag(shares[one]) - np.outer(shares[one], shares[one])
            else:
                spread[rows, lines] = table / total - np.outer(shares[one], shares[other])
                spread[lines, rows] = spread[rows, lines].T
        shown = [
            (pair, above_noise(table, deviation=self.deviation, moments=GAUSSIAN))
            for pair, table in tables.items()
            if pair[0] != pair[1]
        ]
        return replace(components_of(shares, spread, self.dimensions), relations=Relations.of(shown))


def count_pairs(codes: Codes, sizes: tuple[int, ...]) -> dict[tuple[int, int], Codes]:
    """Return the counts of every column, and of every pair of columns, by their places.

    Examples
    --------
    >>> found = count_pairs(np.array([[0, 1, 1], [0, 0, 1]]), (2, 2))
    >>> found[0, 0].tolist(), found[0, 1].tolist()
    ([1, 2], [[1, 0], [1, 1]])
    """
    found = {}
    for one in range(len(sizes)):
        found[one, one] = np.bincount(codes[one], minlength=sizes[one]).astype(np.int64)
        for other in range(one + 1, len(sizes)):
            cells = sizes[one] * sizes[other]
            pairs = np.bincount(codes[one] * sizes[other] + codes[other], minlength=cells)
            found[one, other] = pairs.reshape(sizes[one], sizes[other]).astype(np.int64)
    return found


# --- principal axes --------------------------------------------------------------------------------------
# Rows as points along them, and what each cell is likely to be, given the point of a row.


@dataclass(frozen=True)
class Components(Projection):
    """Draws every column anew from what the point of a seed says about it.

    Parameters
    ----------
    mean
        Share of every cell, shape (cells of all columns,).
    axes
        Principal axes, shape (cells, dimensions).
    variances
        Along each of them, at least 0.

    Notes
    -----
    A row x of zeros and ones becomes the point z = (x − mean) W and is read back as mean + z Wᵀ, whose cells,
    clipped and made to add up in each column, are the shares that a row is drawn from: V. Bindschaedler
    (2018), section 6.3.2 with the components of 6.3.4. Without a seed z is normal around 0 with the variances
    (section 6.3.3).
    """

    mean: Floats
    axes: Floats
    variances: Floats

    def alone(self, n: int, noise: Noise) -> Codes:
        points = normal(noise, (n, len(self.variances))) * np.sqrt(self.variances)
        return self.drawn(self.mean + points @ self.axes.T, noise)

    def read_back(self, seeds: Codes) -> Floats:
        """Return mean + (x − mean) W Wᵀ, row by row: no row's sums depend on how many others there are."""
        through = self.axes @ self.axes.T
        found = np.repeat((self.mean - self.mean @ through)[None, :], len(seeds), axis=0)
        for start, column in zip(self.starts, seeds.T, strict=True):
            found += through[start + column]
        return found


def components_of(shares: Sequence[Floats], spread: Floats, dimensions: int) -> Components:
    """Return the components along which a symmetric matrix of covariances is largest."""
    values, axes = np.linalg.eigh(spread)
    kept = np.argsort(-values)[: min(dimensions, len(values))]
    sizes = tuple(len(one) for one in shares)
    return Components(sizes, np.concatenate(shares), axes[:, kept], np.maximum(values[kept], 0.0))
