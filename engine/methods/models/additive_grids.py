"""What two predictors add together beyond their curves: a table of points over groups of their cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine import arrays

Floats = arrays.Floats


@dataclass(frozen=True)
class Grid:
    """The shape of a table of points.

    Parameters
    ----------
    shape
        Groups of the first and of the second predictor.
    ordered
        Of each, how many of its first groups have an order; neighbours there are smoothed.
    """

    shape: tuple[int, int]
    ordered: tuple[int, int] = (0, 0)

    @property
    def size(self) -> int:
        """How many cells there are, row by row."""
        return self.shape[0] * self.shape[1]

    @property
    def penalty(self) -> Floats:
        """What jumps cost, along rows and along columns, and any effect at all; shape (size, size)."""
        first, second = (jumps(size, order) for size, order in zip(self.shape, self.ordered, strict=True))
        along = np.kron(first, np.eye(self.shape[1])) + np.kron(np.eye(self.shape[0]), second)
        smoothed = np.diag(along) > 0
        return np.asarray(np.diag(np.where(smoothed, 0.5, 1.0)) + along)

    def beyond(self, rows: Floats) -> Floats:
        """Return the tables that say nothing of one predictor alone: a basis, shape (size, how many).

        Parameters
        ----------
        rows
            Noisy number of rows in each cell, none below 0.

        Notes
        -----
        Along every row such a table averages to 0, and along every column, where a group weighs as much as
        it has rows: the analysis of variance of functions, with the weights of both predictors multiplied, as
        those of single cells are mostly noise. A group without rows counts as one row.
        """
        table = rows.reshape(self.shape)
        return np.asarray(np.kron(*(_averaging_out(np.maximum(table.sum(axis=one), 1.0)) for one in (1, 0))))

    def inverse(self, rows: Floats, curvature: Floats) -> Floats:
        """Return the inverse of a curvature among the tables that `beyond` spans; shape (size, size)."""
        basis = self.beyond(rows)
        return np.asarray(basis @ np.linalg.solve(basis.T @ curvature @ basis, basis.T))


def _averaging_out(weights: Floats) -> Floats:
    """Return a basis of what averages to 0 by weights, of length 1 and at right angles."""
    whole, _ = np.linalg.qr((weights / weights.sum())[:, None], mode="complete")
    return np.asarray(whole[:, 1:])


def jumps(cells: int, ordered: int) -> Floats:
    """Return the squared jumps between neighbours among the first cells, four times; shape (cells, cells)."""
    found = np.zeros((cells, cells))
    if ordered > 1:
        steps = np.diff(np.eye(ordered), axis=0)
        found[:ordered, :ordered] = 4 * steps.T @ steps
    return found
