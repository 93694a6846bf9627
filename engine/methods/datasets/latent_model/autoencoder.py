"""Rows as points of a small neural network, and what each cell is likely to be, given the point of a row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine import arrays
from engine.methods.datasets.latent_model.projection import Projection
from engine.privacy.noise import Noise

Codes = arrays.Integers
Floats = arrays.Floats


@dataclass(frozen=True)
class Layer:
    """Weights, shape (in, out), and what is added, shape (out,)."""

    weights: Floats
    bias: Floats

    def of(self, values: Floats) -> Floats:
        """Return values · weights + bias, added up in one order: no line depends on how many there are."""
        found = np.repeat(self.bias[None, :], len(values), axis=0)
        for value, weights in zip(values.T, self.weights, strict=True):
            found += value[:, None] * weights
        return found

    def of_cells(self, places: Codes) -> Floats:
        """Return the same of lines of zeros with ones at some places, shape (n, ones)."""
        found = np.repeat(self.bias[None, :], len(places), axis=0)
        for place in places.T:
            found += self.weights[place]
        return found


@dataclass(frozen=True)
class Autoencoder(Projection):
    """Draws every column anew from what a network says about the point of a seed.

    Parameters
    ----------
    encoder
        From cells to the hidden layer, and from there to points.
    decoder
        From points to the hidden layer, and from there to cells.
    points
        Of rows that nobody has, shape (n, dimensions): where rows from the model alone begin.

    Notes
    -----
    z = tanh(x W₁ + b₁) W₂ + b₂, and the shares of a column are the softmax over its cells of
    tanh(z W₃ + b₃) W₄ + b₄: V. Bindschaedler (2018), section 6.3.4, with one softmax a column in place of one
    logistic function a bit. A seed is read back from its point without noise, as there.

    Nothing that reads a seed multiplies matrices: the order in which such sums are added may depend on how
    many rows there are, and with it the last bit of the share of a row.
    """

    encoder: tuple[Layer, Layer]
    decoder: tuple[Layer, Layer]
    points: Floats

    def encoded(self, seeds: Codes) -> Floats:
        """Return the points of rows, shape (n, dimensions)."""
        first, second = self.encoder
        return second.of(np.tanh(first.of_cells(seeds + np.array(self.starts))))

    def decoded(self, points: Floats) -> Floats:
        """Return the shares of all cells, shape (n, cells of all columns)."""
        first, second = self.decoder
        found = second.of(np.tanh(first.of(points)))
        for start, size in zip(self.starts, self.sizes, strict=True):
            column = found[:, start : start + size]
            column = np.exp(column - column.max(axis=1, keepdims=True))
            found[:, start : start + size] = column / np.cumsum(column, axis=1)[:, -1:]
        return found

    def read_back(self, seeds: Codes) -> Floats:
        return self.decoded(self.encoded(seeds))

    def alone(self, n: int, noise: Noise) -> Codes:
        return self.drawn(self.decoded(self.points[noise.uniform_below(len(self.points), n)]), noise)
