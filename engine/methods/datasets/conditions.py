"""What a group has to fulfil beside its size, over the sensitive values of its people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.methods.datasets.recoding import Codes
from engine.methods.datasets.rollup import Cells


@dataclass(frozen=True)
class Condition:
    """One sensitive attribute and what its values in a group have to fulfil.

    Parameters
    ----------
    combination, value, count
        One entry for every combination of values and sensitive value: places among the combinations, the
        sensitive value as a number from 0, and how many people have both.
    values
        How many sensitive values there are.
    test
        For cells whose further digit is the sensitive value, says of every group whether it holds.
    monotone
        Whether merging two groups, one of which holds, gives one that holds.
    monotone_alone
        Whether merging two groups that hold gives one that holds.
    """

    combination: Codes
    value: Codes
    count: Codes
    values: int
    test: Callable[[Cells], npt.NDArray[np.bool_]]
    monotone: bool
    monotone_alone: bool

    def holds(self, cells: Cells) -> npt.NDArray[np.bool_]:
        """Say of every group whether it holds."""
        return self.test(cells)


def distinct(least: int) -> Callable[[Cells], npt.NDArray[np.bool_]]:
    """Return the test for at least so many different values (distinct l-diversity)."""
    return lambda cells: np.bincount(cells.group, minlength=cells.groups) >= least


def entropy(least: float) -> Callable[[Cells], npt.NDArray[np.bool_]]:
    """Return the test for an entropy of at least log(l) (Machanavajjhala et al. 2007, definition 4.1)."""

    def test(cells: Cells) -> npt.NDArray[np.bool_]:
        size = cells.sizes().astype(np.float64)
        sums = np.bincount(cells.group, cells.count * np.log(cells.count), cells.groups)
        found: npt.NDArray[np.bool_] = np.log(size) - sums / size >= np.log(least) - 1e-12
        return found

    return test


def close(share: npt.NDArray[np.float64], most: float) -> Callable[[Cells], npt.NDArray[np.bool_]]:
    """Return the test for a distance of at most t to everybody, all values being equally far apart."""

    def test(cells: Cells) -> npt.NDArray[np.bool_]:
        own = cells.count / cells.sizes()[cells.group]
        expected = share[cells.further]
        # ½ Σ |q − p|, over the values that are present: the others add their share of everybody
        sums = np.bincount(cells.group, np.abs(own - expected) - expected, cells.groups)
        found: npt.NDArray[np.bool_] = (1 + sums) / 2 <= most + 1e-12
        return found

    return test
