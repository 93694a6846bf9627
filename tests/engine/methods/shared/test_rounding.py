"""Rounded tables: multiples near the counts, margins that add up, right on average, and quick enough."""

import time

import numpy as np
import pytest

from engine.methods.shared.suppression.additive import Additive
from engine.methods.shared.suppression.rounding import controlled_rounding, random_rounding
from tests.ratios import TIMED, slack


def counts_of(shape, seed=1, mean=12):
    chance = np.random.default_rng(seed)
    additive = Additive(shape)
    inner = chance.negative_binomial(1, 1 / (mean + 1), size=shape).ravel()
    return additive, additive.with_totals(inner), chance


@pytest.mark.parametrize("shape", [(1,), (7,), (4, 3), (12, 9), (1, 5)])
@pytest.mark.parametrize("base", [2, 3, 5, 10, 97])
def test_one_and_two_dimensions_add_up_between_the_neighbours(shape, base):
    additive, counts, chance = counts_of(shape)
    found = controlled_rounding(additive, counts, base=base, chance=chance)
    assert not (found.values % base).any() and not (additive.equations @ found.values).any()
    assert (np.abs(found.values - counts) < base).all() and found.beyond == 0
    assert (found.values[counts % base == 0] == counts[counts % base == 0]).all()


@pytest.mark.parametrize("shape", [(3, 3, 3), (4, 3, 3), (2, 3, 2, 2)])
def test_more_dimensions_add_up_and_what_goes_further_is_counted(shape):
    additive, counts, chance = counts_of(shape)
    found = controlled_rounding(additive, counts, base=5, chance=chance, seconds=20)
    assert not (found.values % 5).any() and not (additive.equations @ found.values).any()
    assert (found.values >= 0).all()
    assert found.beyond == (np.abs(found.values - counts) >= 5).sum() <= 0.05 * additive.size


@pytest.mark.parametrize("base", [3, 5])
@pytest.mark.parametrize("is_controlled", [True, False])
def test_every_cell_and_total_is_right_on_average(base, is_controlled):
    """1,500 lots; the mean of each cell within 4.5 standard errors: false alarm below 1 in 5,000."""
    additive, counts, chance = counts_of((3, 4))
    total, lots = np.zeros(additive.size), 1500
    for _ in range(lots):
        if is_controlled:
            total += controlled_rounding(additive, counts, base=base, chance=chance).values
        else:
            total += random_rounding(counts, base=base, chance=chance).values
    up = (counts % base) / base
    error = base * np.sqrt(up * (1 - up) / lots)
    assert (np.abs(total / lots - counts) <= 4.5 * error + 1e-12).all()


def test_the_base_tables_add_up_to_the_counts():
    """The last of the tables that are drawn among is what is left: a lot that always takes it returns it."""

    class Last:
        def __init__(self):
            self.chance = np.random.default_rng(1)

        def integers(self, low, high):
            return high - 1

        def standard_normal(self, size):
            return self.chance.standard_normal(size)

    additive, counts, _ = counts_of((5, 4), seed=3)
    found = controlled_rounding(additive, counts, base=4, chance=Last())
    assert not (additive.equations @ found.values).any() and (np.abs(found.values - counts) < 4).all()


@TIMED
def test_five_thousand_cells_are_rounded_in_a_second(timed):
    additive, counts, chance = counts_of((70, 70))
    assert additive.size == 5041 and additive.equations.shape == (142, 5041)
    best = min(_seconds(additive, counts, chance) for _ in range(3 if timed else 1))
    assert not timed or best < 1.0 * slack()


def _seconds(additive, counts, chance):
    start = time.process_time()
    controlled_rounding(additive, counts, base=5, chance=chance)
    return time.process_time() - start
