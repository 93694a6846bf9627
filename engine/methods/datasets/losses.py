"""What a table loses when it grows coarser: six measures, each with a bound that only rises.

A loss has two parts. What the steps alone lose is known before any group is counted, or never falls when a
column grows coarser, and bounds the loss of every coarser table from below. Rows that are left out are
charged on top of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from engine import arrays
from engine.methods.datasets.recoding import Codes, Ladder

Floats = arrays.Floats
Kept = arrays.Bools


class Loss(StrEnum):
    """The measures by name."""

    CERTAINTY = "certainty"
    ENTROPY = "entropy"
    DISCERNIBILITY = "discernibility"
    GROUP_SIZE = "group_size"
    TARGET = "target"


@dataclass(frozen=True)
class ColumnLoss:
    """A loss that is a sum over the cells of the table.

    Parameters
    ----------
    totals
        One array a column, shape (steps,): what all rows lose on each step.
    rests
        For each column and step, shape (groups of the step,): what a row loses further when it is left out.
    """

    totals: tuple[Floats, ...]
    rests: tuple[tuple[Floats, ...], ...]

    def bounds(self) -> Floats:
        """Return what the steps alone lose, one number for every combination of steps."""
        found: Floats = np.zeros(())
        for total in self.totals:
            found = found[..., None] + total
        return found

    def charged(self, steps: Sequence[int], digits: Codes, rows: Codes) -> float:
        """Return what leaving groups out adds, given what they read and how many rows each has."""
        rest = sum(
            self.rests[place][step][digit]
            for place, (step, digit) in enumerate(zip(steps, digits, strict=True))
        )
        return float((rest * rows).sum())  # no BLAS: its threads cost more than the sum


@dataclass(frozen=True)
class GroupLoss:
    """A loss of the sizes of groups, or of `target`, for which two rows of numbers stand for the sizes.

    Parameters
    ----------
    bound
        From the sizes of all groups, what is lost at least, here and on every coarser combination.
    charged
        From the sizes and which groups stay, the loss.
    cut
        From the shares of the groups of one column, how finely it cuts: adds up over columns to an estimate
        by which combinations are taken in order.
    """

    bound: Callable[[Codes], float]
    charged: Callable[[Codes, Kept], float]
    cut: Callable[[Floats], float]


def certainty(ladders: Sequence[Ladder], codes: Codes, rows: Codes) -> ColumnLoss:
    """Return the normalised certainty penalty: share of the other values a cell can no longer be told from.

    Mean over all cells by the weight of their column; a row that is left out loses 1 in each (Xu et al. 2006,
    equation 2).
    """
    cells = sum(ladder.weight for ladder in ladders) * max(1, int(rows.sum()))
    totals, rests = [], []
    for place, ladder in enumerate(ladders):
        weight = ladder.weight / cells
        of_value = np.bincount(codes[:, place], rows, ladder.groups.shape[1])
        totals.append(ladder.losses @ of_value * weight)
        rests.append(tuple((1 - _of_group(ladder, step)) * weight for step in range(len(ladder.groups))))
    return ColumnLoss(tuple(totals), tuple(rests))


def entropy(ladders: Sequence[Ladder], codes: Codes, rows: Codes) -> ColumnLoss:
    """Return the non-uniform entropy in bits: −log2 of the share of the value in its group, over all cells.

    Gionis and Tassa (2009), definition 4.3, each column times its weight. A row that is left out loses as on
    the last step.
    """
    totals, rests = [], []
    for place, ladder in enumerate(ladders):
        of_value = np.bincount(codes[:, place], rows, ladder.groups.shape[1])
        bits = [np.log2(np.maximum(1, np.bincount(groups, of_value))) for groups in ladder.groups]
        own = np.log2(np.maximum(1, of_value))
        lost = [np.dot(of_value, one[groups] - own) for one, groups in zip(bits, ladder.groups, strict=True)]
        totals.append(np.array(lost) * ladder.weight)
        rests.append(tuple((np.log2(max(1, of_value.sum())) - one) * ladder.weight for one in bits))
    return ColumnLoss(tuple(totals), tuple(rests))


def discernibility(rows: int) -> GroupLoss:
    """Return the sum of squared sizes; a row left out counts as many rows as there are.

    Bayardo and Agrawal (2005), equation 1.
    """

    def charged(sizes: Codes, kept: Kept) -> float:
        stay = sizes[kept].astype(np.float64)
        return float((stay**2).sum() + rows * (rows - stay.sum()))

    return GroupLoss(
        lambda sizes: float((sizes.astype(np.float64) ** 2).sum()),
        charged,
        lambda shares: -float(np.log((shares**2).sum())),
    )


def group_size(rows: int) -> GroupLoss:
    """Return the mean size of a group, all rows that are left out being one more group."""

    def charged(sizes: Codes, kept: Kept) -> float:
        return rows / max(1, int(kept.sum()) + (not kept.all()))

    return GroupLoss(
        lambda sizes: rows / (len(sizes) + 1), charged, lambda shares: float(np.log(len(shares)))
    )


def target(rows: int) -> GroupLoss:
    """Return the share of rows that the most frequent target value of their group says wrongly.

    Iyengar (2002), section 4.2 (classification metric): a row that is left out counts as wrong. Instead of
    sizes it takes shape (2, groups): rows, and those of them without the most frequent value. Where groups
    are merged the wrong ones only grow more.
    """

    def charged(counts: Codes, kept: Kept) -> float:
        return float(counts[1][kept].sum() + counts[0][~kept].sum()) / rows

    return GroupLoss(
        lambda counts: float(counts[1].sum()) / rows, charged, lambda shares: float(np.log(len(shares)))
    )


def loss_of(name: Loss, ladders: Sequence[Ladder], codes: Codes, rows: Codes) -> ColumnLoss | GroupLoss:
    """Return a loss by its name, for rows ``codes`` that occur ``rows`` times."""
    if name is Loss.CERTAINTY:
        return certainty(ladders, codes, rows)
    if name is Loss.ENTROPY:
        return entropy(ladders, codes, rows)
    everybody = max(1, int(rows.sum()))
    if name is Loss.TARGET:
        return target(everybody)
    return discernibility(everybody) if name is Loss.DISCERNIBILITY else group_size(everybody)


def _of_group(ladder: Ladder, step: int) -> Floats:
    """Return the certainty penalty of every group of a step: the same for all its values."""
    found = np.zeros(int(ladder.groups[step].max(initial=0)) + 1)
    found[ladder.groups[step]] = ladder.losses[step]
    return found
