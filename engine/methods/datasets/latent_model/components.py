"""Rows to points and back: what each cell is likely to be, given the point of a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine import arrays
from engine.methods.datasets.seeds.crowds import Crowd
from engine.methods.datasets.seeds.models import GRID, SeedModel
from engine.privacy.noise import Noise

Codes = arrays.Integers
Floats = arrays.Floats

FLOOR = 0.001
"""The smallest share that a cell of a column is given, before shares are made to add up."""
LOG_GRID = 2.0**36
"""Logarithms are whole parts of it: their sums are exact in whatever order they are added."""
_MOST_PAIRS = 1 << 22


@dataclass(frozen=True)
class Components(SeedModel):
    """Draws every column anew from what the point of a seed says about it.

    Parameters
    ----------
    sizes
        Cells of every column.
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
    (2018), section 6.3.2 with the components of 6.3.4. A row y has from a seed the likelihood of the product
    of its shares. Without a seed z is normal around 0 with the variances (section 6.3.3).
    """

    sizes: tuple[int, ...]
    mean: Floats
    axes: Floats
    variances: Floats

    @property
    def order(self) -> tuple[int, ...]:
        """Columns stay in their order."""
        return tuple(range(len(self.sizes)))

    def model(self, *, fewest: int, most: int) -> Components:
        """Return itself: every column is drawn anew."""
        return self

    def batch(self, seeds: int) -> int:
        return max(16, _MOST_PAIRS // max(1, seeds))

    def made(self, seeds: Codes, noise: Noise) -> Codes:
        return self._drawn(self.edges(self._read_back(seeds)), noise)

    def alone(self, n: int, noise: Noise) -> Codes:
        points = normal(noise, (n, len(self.variances))) * np.sqrt(self.variances)
        return self._drawn(self.edges(self.mean + points @ self.axes.T), noise)

    def crowds(self, seeds: Codes) -> Callable[[Codes, Codes], Crowd]:
        different, counts = np.unique(seeds, axis=0, return_counts=True)
        logs = self.logs(different) if len(different) else np.zeros((0, len(self.mean)))
        places = {row.tobytes(): place for place, row in enumerate(different)}

        def crowd(rows: Codes, of: Codes) -> Crowd:
            cells = np.zeros((len(rows), len(self.mean)))
            for start, column in zip(self._starts, rows.T, strict=True):
                cells[np.arange(len(rows)), start + column] = 1
            found = (cells @ logs.T) / LOG_GRID  # sums of whole numbers below 2^53: exact
            own = np.array([places[row.tobytes()] for row in np.ascontiguousarray(of)], dtype=np.int64)
            return Crowd(np.broadcast_to(counts, found.shape), found, own)

        return crowd

    def logs(self, seeds: Codes) -> Floats:
        """Return ln of the share of every cell from every seed, in whole parts of `LOG_GRID`."""
        edges = self.edges(self._read_back(seeds))
        weights = np.concatenate([np.diff(one, axis=1, prepend=0) for one in edges], axis=1)
        with np.errstate(divide="ignore"):
            logs = np.log(weights / GRID)
        return np.rint(np.maximum(logs, np.log(0.5 / GRID)) * LOG_GRID)

    def edges(self, read: Floats) -> list[Codes]:
        """Return for every column the shares of its cells added up, in parts of `GRID`."""
        found = []
        for start, size in zip(self._starts, self.sizes, strict=True):
            shares = np.maximum(read[:, start : start + size], FLOOR)
            shares = shares / shares.sum(axis=1, keepdims=True)
            edges = np.rint(np.minimum(np.cumsum(shares, axis=1), 1.0) * GRID).astype(np.int64)
            edges[:, -1] = GRID
            found.append(edges)
        return found

    @property
    def _starts(self) -> list[int]:
        return [0, *np.cumsum(self.sizes)[:-1].tolist()]

    def _read_back(self, seeds: Codes) -> Floats:
        """Return mean + (x − mean) W Wᵀ, row by row: no row's sums depend on how many others there are."""
        through = self.axes @ self.axes.T
        found = np.repeat((self.mean - self.mean @ through)[None, :], len(seeds), axis=0)
        for start, column in zip(self._starts, seeds.T, strict=True):
            found += through[start + column]
        return found

    def _drawn(self, edges: Sequence[Codes], noise: Noise) -> Codes:
        drawn = [
            (one <= noise.uniform_below(GRID, len(one))[:, None]).sum(axis=1).astype(np.int64)
            for one in edges
        ]
        return np.column_stack(drawn)


def components_of(shares: Sequence[Floats], spread: Floats, dimensions: int) -> Components:
    """Return the components along which a symmetric matrix of covariances is largest."""
    values, axes = np.linalg.eigh(spread)
    kept = np.argsort(-values)[: min(dimensions, len(values))]
    sizes = tuple(len(one) for one in shares)
    return Components(sizes, np.concatenate(shares), axes[:, kept], np.maximum(values[kept], 0.0))


def normal(noise: Noise, shape: tuple[int, int]) -> Floats:
    """Return normal numbers that no row decides: G. Box and M. Muller (1958)."""
    n = shape[0] * shape[1]
    first, second = ((noise.random_keys(2 * n) >> np.uint64(11)) + 0.5).reshape(2, n) * 2.0**-53
    return np.asarray(np.sqrt(-2 * np.log(first)) * np.cos(2 * np.pi * second)).reshape(shape)
