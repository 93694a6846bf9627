"""Shares from which rows are drawn, where next to nobody was there to learn them from."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

from engine.methods.datasets.seeds.learning import PAIRS, Learning
from engine.methods.datasets.seeds.models import GRID, Conditional
from tests.noise_source import seeded_noise


def test_a_line_without_numbers_becomes_even():
    shares = np.array([[np.nan, np.nan], [0.25, 0.75]])
    assert Conditional.of(shares).edges.tolist() == [[GRID // 2, GRID], [GRID // 4, GRID]]


@pytest.mark.parametrize("seed", [7, 38])
def test_a_model_that_nobody_taught_draws_declared_cells(seed):
    """With these seeds noise alone was so far off that a fit had no numbers any more."""
    learning = Learning(PAIRS, (4, 4, 10, 10), (0, 0, 8, 8), Fraction(1), Fraction(1, 10**6), 2000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = learning.learnt(np.zeros((4, 0), dtype=np.int64), seeded_noise(seed))
    rows = found.model(fewest=4, most=4).alone(500, seeded_noise(1))
    sizes = np.array(learning.sizes)[list(found.order)]
    assert (rows >= 0).all() and (rows < sizes).all()
