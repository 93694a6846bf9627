"""What is likely to become of a seed, column by column: rows drawn by lot, and the crowd of each, exactly."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from engine import arrays
from engine.methods.datasets.seeds.crowds import Crowd
from engine.methods.datasets.seeds.models import GRID, SeedModel
from engine.methods.datasets.synthesis.related import NOT_ASKED, Relations
from engine.privacy.noise import Noise

Codes = arrays.Integers
Floats = arrays.Floats

FLOOR = 0.001
"""The smallest share that a cell of a column is given, before shares are made to add up."""
LOG_GRID = 2.0**36
"""Logarithms are whole parts of it: their sums are exact in whatever order they are added."""
_MOST_PAIRS = 1 << 22


@dataclass(frozen=True)
class Projection(SeedModel):
    """Draws every column anew from the shares of its cells that a seed leads to.

    Parameters
    ----------
    sizes
        Cells of every column.
    relations
        Between columns, as far as what it was learnt from lets them be told.

    Notes
    -----
    Probabilistic projection: V. Bindschaedler (2018), section 6.3.2. A row y has from a seed the likelihood
    of the product of the shares of its cells, which are whole parts of `GRID`: what is drawn has exactly the
    likelihood that is computed. A model below says what shares a seed leads to.
    """

    sizes: tuple[int, ...]
    relations: Relations = field(default=NOT_ASKED, kw_only=True)

    @property
    def order(self) -> tuple[int, ...]:
        """Columns stay in their order."""
        return tuple(range(len(self.sizes)))

    def model(self, *, fewest: int, most: int) -> Projection:
        """Return itself: every column is drawn anew."""
        return self

    @abstractmethod
    def read_back(self, seeds: Codes) -> Floats:
        """Return of every seed what its point says of every cell, shape (n, cells of all columns).

        No bit of one line may depend on which other seeds there are: sums go row by row, in a fixed order.
        """

    def batch(self, seeds: Codes) -> int:
        return max(16, _MOST_PAIRS // max(1, len(np.unique(seeds, axis=0))))

    def made(self, seeds: Codes, noise: Noise) -> Codes:
        return self.drawn(self.read_back(seeds), noise)

    def drawn(self, read: Floats, noise: Noise) -> Codes:
        """Return a row for every line of what points say, shape (n, columns)."""
        drawn = [
            (one <= noise.uniform_below(GRID, len(one))[:, None]).sum(axis=1).astype(np.int64)
            for one in self.edges(read)
        ]
        return np.column_stack(drawn)

    def crowds(self, seeds: Codes) -> Callable[[Codes, Codes], Crowd]:
        different, counts = np.unique(seeds, axis=0, return_counts=True)
        logs = self.logs(different) if len(different) else np.zeros((0, sum(self.sizes)))
        places = {row.tobytes(): place for place, row in enumerate(different)}

        def crowd(rows: Codes, of: Codes) -> Crowd:
            cells = np.zeros((len(rows), sum(self.sizes)))
            for start, column in zip(self.starts, rows.T, strict=True):
                cells[np.arange(len(rows)), start + column] = 1
            found = (cells @ logs.T) / LOG_GRID  # sums of whole numbers below 2^53: exact
            own = np.array([places[row.tobytes()] for row in np.ascontiguousarray(of)], dtype=np.int64)
            return Crowd(np.broadcast_to(counts, found.shape), found, own)

        return crowd

    def logs(self, seeds: Codes) -> Floats:
        """Return ln of the share of every cell from every seed, in whole parts of `LOG_GRID`."""
        edges = self.edges(self.read_back(seeds))
        weights = np.concatenate([np.diff(one, axis=1, prepend=0) for one in edges], axis=1)
        with np.errstate(divide="ignore"):
            logs = np.log(weights / GRID)
        return np.rint(np.maximum(logs, np.log(0.5 / GRID)) * LOG_GRID)

    def edges(self, read: Floats) -> list[Codes]:
        """Return for every column the shares of its cells added up, in parts of `GRID`."""
        found = []
        for start, size in zip(self.starts, self.sizes, strict=True):
            shares = np.maximum(read[:, start : start + size], FLOOR)
            shares = shares / shares.sum(axis=1, keepdims=True)
            edges = np.rint(np.minimum(np.cumsum(shares, axis=1), 1.0) * GRID).astype(np.int64)
            edges[:, -1] = GRID
            found.append(edges)
        return found

    @property
    def starts(self) -> list[int]:
        """Where the cells of every column begin."""
        return [0, *np.cumsum(self.sizes)[:-1].tolist()]


def normal(noise: Noise, shape: tuple[int, int]) -> Floats:
    """Return normal numbers that no row decides: G. Box and M. Muller (1958)."""
    n = shape[0] * shape[1]
    first, second = ((noise.random_keys(2 * n) >> np.uint64(11)) + 0.5).reshape(2, n) * 2.0**-53
    return np.asarray(np.sqrt(-2 * np.log(first)) * np.cos(2 * np.pi * second)).reshape(shape)
