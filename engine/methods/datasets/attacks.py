"""What somebody finds out about groups who knows how they were made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.methods.datasets.full_domain import Lattice
from engine.methods.datasets.grouping import Grouping, Written
from engine.methods.datasets.joining import ends_of_groups, row_loss
from engine.methods.datasets.recoding import Codes
from engine.methods.datasets.rollup import Steps
from engine.methods.shared.rows import hierarchy_of
from engine.risk.downcoding import downcoding
from engine.risk.encoding import EncodedColumn

MOST_COMBINATIONS = 2_000  # for which somebody looks: evenly spaced among all


@dataclass(frozen=True)
class Refinement:
    """What is gained by knowing that fine groups were made before coarse ones.

    Parameters
    ----------
    right
        Share of rows whose group is the least coarse one that their values fit.
    fit, left
        How many rows fit somebody's values as they are written, and how many are in the least coarse group
        that does: the mean over rows.
    known
        Share of rows of which a sensitive value is certain after that, and was not by the written values.
    """

    right: float
    fit: float
    left: float
    known: float


def refinement(
    grouping: Grouping, group: Codes, steps: Codes, sensitive: Sequence[EncodedColumn] = ()
) -> Refinement:
    """Look for everybody in the least coarse group that fits, as who knows the order of the work would.

    Parameters
    ----------
    grouping
        The table.
    group, steps
        The group of every combination, and the step of each group, shape (columns, groups).
    sensitive
        Released columns, one value for every row of the table.

    Notes
    -----
    In local recoding groups overlap: somebody of 34 fits the group 30 to 40 and the group of all ages. Groups
    are made in the order of what they lose, so that the fine one is the likelier (combinatorial refinement).
    Nothing beyond the released table and the rule is used.
    """
    of_class, first, step_of, loss = _classes(grouping, group, steps)
    rows = np.bincount(of_class[grouping.number], minlength=len(loss))
    spans = [_span(of_class[grouping.number], one, len(loss)) for one in sensitive]
    looked = np.unique(np.linspace(0, len(group) - 1, MOST_COMBINATIONS).astype(np.int64))
    weight = np.bincount(grouping.number, minlength=len(group))[looked]
    best = np.full(len(looked), -1, dtype=np.int64)
    fit = np.zeros(len(looked))
    low = [np.full(len(looked), np.iinfo(np.int64).max) for _ in sensitive]
    high = [np.full(len(looked), -1, dtype=np.int64) for _ in sensitive]
    for node in np.unique(step_of, axis=1).T:
        classes = np.flatnonzero((step_of == node[:, None]).all(axis=0))
        found = _matching(grouping, node, first[classes], looked)
        own = classes[found]
        fits = found >= 0
        fit[fits] += rows[own[fits]]
        better = fits & ((best < 0) | (loss[own] < loss[best]))
        best[better] = own[better]
        for place, (least, most) in enumerate(spans):
            low[place][fits] = np.minimum(low[place][fits], least[own[fits]])
            high[place][fits] = np.maximum(high[place][fits], most[own[fits]])
    right = best == of_class[looked]
    known = np.zeros(len(looked), dtype=bool)
    for place, (least, most) in enumerate(spans):
        known |= right & (least[best] == most[best]) & (low[place] < high[place])
    total = max(1, int(weight.sum()))
    return Refinement(
        right=float((right * weight).sum() / total),
        fit=float((fit * weight).sum() / total),
        left=float((rows[best] * weight).sum() / total),
        known=float((known * weight).sum() / total),
    )


def attack_by_downcoding(grouping: Grouping, read: Written, least: Codes) -> dict[str, float]:
    """Run the downcoding attack on groups that are written no coarser than they had to be.

    Somebody is taken to know which values occur in a column.

    Parameters
    ----------
    grouping
        The table; nobody has been left out.
    read
        What every combination reads in each identifying column.
    least
        The step of each of them below which nothing was to leave.
    """
    original = {
        column.name: np.array(ladder.values, dtype=object)[grouping.codes[grouping.number, place]]
        for place, (column, ladder) in enumerate(zip(grouping.identifying, grouping.ladders, strict=True))
    }
    found = downcoding(
        pd.DataFrame({name: texts[grouping.number] for name, texts in read.items()}),
        {one.name: hierarchy_of(one) for one in grouping.identifying if one.name not in grouping.ranged},
        {one.name: ladder.values for one, ladder in zip(grouping.identifying, grouping.ladders, strict=True)},
        least={one.name: int(step) for one, step in zip(grouping.identifying, least, strict=True)},
        original=pd.DataFrame(original),
    )
    alone = found.alone or 0
    return {
        "finer": round(found.finer, 4),
        "open_groups": found.open_groups,
        "predicates": found.predicates,
        "alone": alone,
    }


def _classes(grouping: Grouping, group: Codes, steps: Codes) -> tuple[Codes, Codes, Codes, np.ndarray]:
    """Put groups together that are written alike.

    Returns the class of every combination, one combination of each class, and its steps and loss.
    """
    low, high = ends_of_groups(group, grouping.codes)
    reads = np.array(
        [ladder.groups[steps[place], low[place]] for place, ladder in enumerate(grouping.ladders)]
    )
    _, kept, number = np.unique(
        np.concatenate([steps, reads]), axis=1, return_index=True, return_inverse=True
    )
    one = np.zeros(steps.shape[1], dtype=np.int64)
    one[group] = np.arange(len(group))
    loss = row_loss(grouping.ladders, low, high)
    return number.reshape(-1)[group], one[kept], steps[:, kept], loss[kept]


def _matching(grouping: Grouping, node: Codes, first: Codes, looked: Codes) -> Codes:
    """Return which of some combinations each looked-for one agrees with on the steps, -1 for none."""
    pairs = [
        (
            ladder.groups[step][grouping.codes[first, place]],
            ladder.groups[step][grouping.codes[looked, place]],
        )
        for place, (ladder, step) in enumerate(zip(grouping.ladders, node.tolist(), strict=True))
    ]
    both = np.array([np.concatenate(pair) for pair in pairs])
    number = np.unique(both, axis=1, return_inverse=True)[1].reshape(-1)
    place_of = np.full(int(number.max()) + 1, -1, dtype=np.int64)
    place_of[number[: len(first)]] = np.arange(len(first))
    return np.asarray(place_of[number[len(first) :]])


def _span(of_row: Codes, column: EncodedColumn, classes: int) -> tuple[Codes, Codes]:
    """Return the least and the largest rank of a sensitive value in every class."""
    rank = column.ranks[column.codes]
    least, most = np.full(classes, np.iinfo(np.int64).max), np.full(classes, -1, dtype=np.int64)
    np.minimum.at(least, of_row, rank)
    np.maximum.at(most, of_row, rank)
    return least, most


def given_away(lattice: Lattice, steps: Steps) -> int:
    """Return how many people the rule gives away as not diverse: the minimality attack.

    Parameters
    ----------
    lattice
        The table and what had to hold.
    steps
        What was chosen as the least coarse that holds.

    Returns
    -------
    int
        People in groups of the next finer tables that are large enough and fail a condition, where size alone
        would have let that table pass; the most over the columns. 0 where the rule tells nothing.

    Notes
    -----
    Who knows everybody's identifying values counts the groups of a finer table. Are they large enough, and
    was it not chosen, then the sensitive values of some of them failed (R. Wong et al., Minimality attack in
    privacy preserving data publishing, 2007, section 3).
    """
    most = 0
    for place, step in enumerate(steps):
        finer = (*steps[:place], step - 1, *steps[place + 1 :])
        if not step or not lattice.conditions:
            continue
        looked, sizes = lattice.look(finer), lattice.people.sizes(finer)
        large = sizes >= lattice.k
        if not looked.holds and lattice.left_out(finer, large, sizes) <= lattice.most_left_out:
            most = max(most, lattice.people_in(finer, large & ~looked.kept))
    return most
