"""Which share of the rows is from the model alone: before and after a release, and no seed is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, prod

import numpy as np

from engine import arrays
from engine.methods.datasets.seeds.making import score
from engine.methods.datasets.seeds.models import SeedModel
from engine.privacy.mechanisms.seeded_rows import SeededRows
from engine.privacy.noise import Noise

Codes = arrays.Integers

TRIES = 512
TOO_LOW = 0.4
"""By so much the share may be higher than `share_alone` says."""
TOO_HIGH = 0.5
"""By so much of itself it may be lower where all rows are from the model alone, which are further apart than
seeds: 52 to 80 of 100 where 80 to 99 was said, in seven releases of 25 rows."""
RATE, POWER = 0.35, 1.5
"""How fast fewer rows pass, the more of the seeds have to be a crowd: by columns and dimensions of points.
From releases of Adult, of hospital encounters and of a table of four columns, most within a factor of 2."""


def share_alone(model: SeedModel, released: Codes, seeds: int, test: SeededRows, noise: Noise) -> float:
    """Return roughly which share of the rows that leave no seed has a part in.

    Parameters
    ----------
    model
        Paid for, or learnt from nobody.
    released
        The rows that leave, shape (rows, columns), as the model made them.
    seeds
        How many there are, from declarations.
    test
        The declared test.
    noise
        The noise door.

    Notes
    -----
    The rows that leave stand for the seeds, and are put to the same test: each crowd without the row's own
    pretended seed, times how many seeds there are for each row that leaves. Where a share p of the tries
    passes, and q tries from the model alone stand beside each seed, q / (q + p) of the rows are from the
    model alone. It reads what leaves and declarations. What left had passed, and lies closer together than
    the seeds: on real tables the true share was up to 41 points higher, and hardly ever lower. (Rows of the
    model alone in the place of those that leave are too far apart: 100 % where it was 4.)
    """
    tries = min(TRIES, model.batch(released))
    of = released[noise.uniform_below(len(released), tries)]
    crowd = model.crowds(released)(model.made(of, noise), of)
    counts, own = np.array(crowd.counts, dtype=np.float64), (np.arange(tries), crowd.own)
    counts[own] -= 1
    counts *= max(seeds - 1, 0) / max(len(released) - 1, 1)
    counts[own] += 1
    scores = score(replace(crowd, counts=np.floor(counts).astype(np.int64)), test)
    passing = sum(test.chance(int(one)) for one in scores) / tries
    return float(test.alone) / (float(test.alone) + passing)


def alone_of(passing: float, alone: float) -> float:
    """Return which share of the rows is from the model alone, where so many of the tries from seeds pass.

    Examples
    --------
    >>> round(alone_of(1.0, 0.05), 3), alone_of(0.0, 0.05)
    (0.048, 1.0)
    """
    return alone / (alone + passing)


def passing_points(columns: int, dimensions: int, crowd: float, *, flatter: float) -> tuple[float, float]:
    """Return between which shares of the rows pass that are read back from points of few dimensions.

    Parameters
    ----------
    columns
        That are read back: the more, the further apart the likelihoods of seeds are.
    dimensions
        Of the points.
    crowd
        Which share of the seeds has to have been about as likely to lead to a row.
    flatter
        By what factor seeds are nearer to each other than by principal components.

    Examples
    --------
    >>> [round(share, 2) for share in passing_points(4, 1, 0.1, flatter=1)]
    [0.76, 0.93]
    >>> [round(share, 2) for share in passing_points(9, 4, 0.1, flatter=1)]
    [0.01, 0.28]
    """
    rate = RATE * columns * dimensions**POWER * flatter
    return exp(-2 * rate * crowd), exp(-rate * crowd / 2)


def passing_kept(sizes: Sequence[int], drawn: tuple[int, int], crowd: float) -> tuple[float, float]:
    """Return between which shares of the rows pass that keep some columns of their seed.

    Parameters
    ----------
    sizes
        Cells of every column.
    drawn
        How many columns are drawn anew, at least and at most: each number of them is equally likely.
    crowd
        Which share of the seeds has to be as one in what is kept.

    Notes
    -----
    Two people have the same of s declared cells of a column with a chance between s^−¾ and s^−¼.

    Examples
    --------
    >>> passing_kept([10] * 6, (4, 6), 0.2)
    (0.3333333333333333, 1.0)
    """
    kept = [len(sizes) - number for number in range(drawn[0], drawn[1] + 1)]
    found = []
    for power in (0.75, 0.25):
        alike = prod(sizes) ** (-power / len(sizes))
        found.append(sum(alike**number >= crowd for number in kept) / len(kept))
    return found[0], found[1]


def passing_boxes(sizes: Sequence[int], reach: int, crowd: float) -> tuple[float, float]:
    """Return between which shares of the points pass that are moved by lot within a box.

    Parameters
    ----------
    sizes
        Steps of every coordinate, with one for what is missing.
    reach
        How far a point is moved.
    crowd
        Which share of the seeds has to be in the box around it.

    Notes
    -----
    A box holds its share of the steps were seeds spread evenly, and the fourth root of that where they crowd.

    Examples
    --------
    >>> passing_boxes([17, 17], 2, 0.2), passing_boxes([17, 17], 8, 0.2)
    ((0.0, 1.0), (1.0, 1.0))
    """
    even = prod(min(1.0, (2 * reach + 1) / max(size - 1, 1)) for size in sizes)
    return float(even >= crowd), float(even**0.25 >= crowd)
