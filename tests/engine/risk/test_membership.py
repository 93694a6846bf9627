"""What a score tells of membership: by hand and by simulation."""

import numpy as np
import pytest

from engine.risk.copies import Rate
from engine.risk.membership import telling


def test_equal_scores_tell_nothing_and_find_nobody():
    found = telling(np.zeros(50), np.zeros(200))
    assert found.area == 0.5 and found.found == Rate(0, 50)


def test_the_smallest_of_others_bound_who_is_found():
    """One of 100 others may be taken wrongly: the second smallest of them is the threshold."""
    others = np.arange(100.0)
    members = np.array([-1.0, 0.5, 1.0, 7.0])
    assert telling(members, others).found == Rate(2, 4)


@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_the_interval_covers_the_true_area(shift):
    """400 repetitions: 95 % ± 3 standard errors of .011; the area of two normals is Φ(shift / √2)."""
    from scipy.special import ndtr

    chance = np.random.default_rng(3)
    true = ndtr(shift / np.sqrt(2))
    inside = 0
    for _ in range(400):
        found = telling(chance.normal(size=60) - shift, chance.normal(size=90))
        inside += found.interval[0] <= true <= found.interval[1]
    assert 0.917 < inside / 400 < 0.983
