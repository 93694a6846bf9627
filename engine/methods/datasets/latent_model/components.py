"""Rows as points along principal axes, and what each cell is likely to be, given the point of a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine import arrays
from engine.methods.datasets.latent_model.projection import Projection, normal
from engine.privacy.noise import Noise

Codes = arrays.Integers
Floats = arrays.Floats


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
