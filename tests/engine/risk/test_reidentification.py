"""Probabilities to be found: by hand, against summing over the model, and limits."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import nbinom

from engine.errors import InputRefused
from engine.risk.disclosure import disclosure
from engine.risk.encoding import encode
from engine.risk.groups import group_rows
from engine.risk.reidentification import (
    estimate_journalist_risk,
    journalist,
    marketer,
    population_sizes,
    prosecutor,
)
from engine.table.schema import Column, Role, Schema
from engine.table.table import Table
from tests.engine.risk.tables import encoded, schema_of

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
    assert estimate_journalist_risk(np.array([f]), fraction).highest == pytest.approx(expected, rel=1e-9)


def test_the_whole_population_is_the_prosecutor():
    assert estimate_journalist_risk(SIZES, 1.0).average == pytest.approx(prosecutor(SIZES).average)
    assert journalist(SIZES, SIZES) == prosecutor(SIZES)


@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.5])
def test_a_fraction_that_is_none(fraction):
    with pytest.raises(InputRefused, match=r"risk\.fraction"):
        estimate_journalist_risk(SIZES, fraction)


def test_a_threshold_that_is_none():
    with pytest.raises(InputRefused, match=r"risk\.threshold"):
        prosecutor(SIZES, thresholds=(0.0,))


def test_the_population_is_looked_up_by_value():
    table = encoded({"age": [30, 30, 41], "sex": ["f", "f", None]})
    people = encoded({"age": ["30", "30 ", "41", "41", "7"], "sex": ["f", "f", "", "m", "f"]})
    groups = group_rows(table)
    assert population_sizes(table, groups, people)[groups.number].tolist() == [2, 2, 1]


@pytest.mark.parametrize("seed", range(4))
def test_a_population_of_people_with_several_rows(seed):
    made = np.random.default_rng(seed)
    everybody = pd.DataFrame(
        {"p": made.integers(0, 60, 150), "age": made.integers(0, 3, 150), "sex": made.choice(["f", "m"], 150)}
    )
    rows = everybody[everybody["p"] < 25].reset_index(drop=True)
    schema = Schema((*schema_of(["age", "sex"]).columns, Column("p", Role.PERSON_KEY)))
    table, people = (encode(Table(one), schema) for one in (rows, everybody))
    groups = group_rows(table)

    def described(frame):
        pairs = frame.groupby("p")[["age", "sex"]]
        return pairs.apply(lambda own: frozenset(own.itertuples(index=False, name=None)))

    counts = described(everybody).value_counts()
    expected = rows["p"].map(described(rows)).map(counts)
    assert population_sizes(table, groups, people)[groups.number].tolist() == expected.tolist()
    found = disclosure(table, population=people).population
    assert found.people == everybody["p"].nunique() and found.not_in_population == 0
    by_person = described(rows).map(counts)
    assert found.marketer == pytest.approx((1 / by_person).mean())
    assert found.journalist.highest == 1 / by_person.min()


def test_nobody():
    assert prosecutor(np.array([], dtype=np.int64)).highest == 0.0
    assert marketer(np.array([], dtype=np.int64)) == 0.0
