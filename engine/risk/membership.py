"""How well a score tells people who were used from people who were not."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from engine.privacy.accuracy import NORMAL_WITHIN
from engine.risk.copies import Floats, Rate, membership

FALSE_SHARE = 0.01


@dataclass(frozen=True)
class Telling:
    """What a score tells of membership.

    Parameters
    ----------
    area
        Under the curve: .5 for nothing, 1 for everything.
    interval
        95 % bounds of it.
    found
        Members found where 1 of 100 others is taken for one.
    """

    area: float
    interval: tuple[float, float]
    found: Rate


def telling(members: Floats, others: Floats) -> Telling:
    """Judge a score that is smaller for members.

    Parameters
    ----------
    members, others
        Scores, such as distances to the nearest released row, shapes (people,).

    Notes
    -----
    The interval of the area: J. Hanley and B. McNeil, Radiology 143 (1982), which needs no law of the scores.
    Equal scores help nobody: where more than 1 of 100 others have the smallest score, no member is found.

    Examples
    --------
    >>> found = telling(np.array([0.0, 0.1, 0.9]), np.arange(1.0, 101.0))
    >>> found.area, found.found
    (1.0, Rate(successes=3, attacks=3))
    """
    area = membership(members, others)
    n, m = len(members), len(others)
    one, two = area / (2 - area), 2 * area**2 / (1 + area)
    square = area * (1 - area) + (n - 1) * (one - area**2) + (m - 1) * (two - area**2)
    half = NORMAL_WITHIN * sqrt(max(square, 0.0) / (n * m))
    # at most 1 of 100 others stand below the threshold
    threshold = np.sort(others)[int(FALSE_SHARE * m)]
    found = Rate(int((members < threshold).sum()), n)
    return Telling(area, (max(0.0, area - half), min(1.0, area + half)), found)
