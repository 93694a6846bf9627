"""Probabilities to be found: by hand, against summing over the model, and limits."""

import numpy as np
import pytest
from scipy.stats import nbinom

from engine.errors import InputRefused
from engine.risk.groups import group_rows
from engine.risk.reidentification import estimated, journalist, marketer, population_sizes, prosecutor
from tests.engine.risk.tables import encoded

SIZES = np.array([1, 2, 2, 5, 5, 5, 5, 5])


def test_prosecutor_by_hand():
    found = prosecutor(SIZES, thresholds=(0.09, 0.2, 0.33, 0.5, 1.0))
    assert found.highest == 1.0
    assert found.average == pytest.approx(3 / 8)  # groups / people
    assert found.above == {0.09: 1.0, 0.2: 3 / 8, 0.33: 3 / 8, 0.5: 1 / 8, 1.0: 0.0}


def test_journalist_by_hand():
    # Three groups with 1, 2, 5 people here and 10, 4, 5 in the population
    population = np.array([10, 4, 4, 5, 5, 5, 5, 5])
    found = journalist(SIZES, population, thresholds=(0.2,))
    assert found.highest == 0.25
    assert found.average == pytest.approx(max(3 / 19, (1 / 10 + 2 / 4 + 5 / 5) / 8))
    assert found.above == {0.2: 2 / 8}
    assert marketer(population) == pytest.approx((1 / 10 + 2 / 4 + 5 / 5) / 8)


def test_the_larger_form_of_the_average():
    # groups / population is larger than the mean over people where the large group is rare in the population
    sizes, population = np.array([1, 1, 2, 2]), np.array([1, 1, 100, 100])
    assert journalist(sizes, population).average == pytest.approx(max(3 / 102, (1 + 1 + 2 / 100) / 4))


@pytest.mark.parametrize("f", [1, 2, 7, 40, 300])
@pytest.mark.parametrize("fraction", [0.001, 0.1, 0.5, 0.97])
def test_the_expectation_against_the_sum_over_the_model(f, fraction):
    far = int(nbinom.isf(1e-15, f, fraction)) + 10
    misses = np.arange(far)
    expected = float((nbinom.pmf(misses, f, fraction) / (f + misses)).sum())
    assert estimated(np.array([f]), fraction).highest == pytest.approx(expected, rel=1e-9)


def test_the_whole_population_is_the_prosecutor():
    assert estimated(SIZES, 1.0).average == pytest.approx(prosecutor(SIZES).average)
    assert journalist(SIZES, SIZES) == prosecutor(SIZES)


@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.5])
def test_a_fraction_that_is_none(fraction):
    with pytest.raises(InputRefused, match=r"risk\.fraction"):
        estimated(SIZES, fraction)


def test_a_threshold_that_is_none():
    with pytest.raises(InputRefused, match=r"risk\.threshold"):
        prosecutor(SIZES, thresholds=(0.0,))


def test_the_population_is_looked_up_by_value():
    table = encoded({"age": [30, 30, 41], "sex": ["f", "f", None]})
    people = encoded({"age": ["30", "30 ", "41", "41", "7"], "sex": ["f", "f", "", "m", "f"]})
    groups = group_rows(table)
    assert population_sizes(table, groups, people)[groups.number].tolist() == [2, 2, 1]


def test_nobody():
    assert prosecutor(np.array([], dtype=np.int64)).highest == 0.0
    assert marketer(np.array([], dtype=np.int64)) == 0.0
