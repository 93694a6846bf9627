"""Who is alone in the population, estimated: on samples of Adult and on draws from each model."""

import gzip
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.risk.population_uniqueness import (
    Classes,
    Pitman,
    fit_pitman,
    population_uniqueness,
    slide_negative_binomial,
    zayatz,
)

ADULT = Path(__file__).resolve().parents[2] / "data" / "adult.csv.gz"
THREE = ["age", "sex", "race"]
FIVE = [*THREE, "education", "marital_status"]
EIGHT = [*FIVE, "occupation", "workclass", "native_country"]
DRAWS = 8


def sizes_of(numbers):
    sizes = np.bincount(np.unique(numbers, return_counts=True)[1])
    return {int(size): int(sizes[size]) for size in np.flatnonzero(sizes)}


@pytest.fixture(scope="module")
def adult():
    return pd.read_csv(gzip.open(ADULT), skipinitialspace=True)


def drawn(adult, columns, fraction, seed):
    """Return the truth in all of Adult, and the estimates from samples of it."""
    groups = adult.groupby(columns).ngroup().to_numpy()
    truth = float((np.bincount(groups) == 1).sum() / len(groups))
    made = np.random.default_rng(seed)
    rows = int(fraction * len(groups))
    samples = [groups[made.choice(len(groups), rows, replace=False)] for _ in range(DRAWS)]
    return truth, [population_uniqueness(sizes_of(one), population=len(groups)) for one in samples]


@pytest.mark.slow
@pytest.mark.parametrize("fraction", [0.05, 0.1])
@pytest.mark.parametrize("columns", [THREE, FIVE, EIGHT], ids=["3", "5", "8"])
def test_error_of_pitman_on_samples_of_a_twentieth_and_a_tenth(adult, columns, fraction):
    truth, found = drawn(adult, columns, fraction, seed=11)
    error = math.sqrt(np.mean([(one.models["pitman"] - truth) ** 2 for one in found]))
    naive = math.sqrt(np.mean([(one.sample_uniqueness - truth) ** 2 for one in found]))
    print(f"{len(columns)} columns, {fraction:.0%}: {truth:.4f}, error {error:.4f}, sample {naive:.4f}")
    assert error <= 0.05
    assert error < naive / 5
    assert all(one.rule == "pitman" and one.estimate == one.models["pitman"] for one in found)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [FIVE, EIGHT], ids=["5", "8"])
def test_a_hundredth_gives_a_range_and_no_number(adult, columns):
    truth, found = drawn(adult, columns, 0.01, seed=5)
    assert all(one.estimate is None for one in found)
    covered = sum(one.low <= truth <= one.high for one in found)
    widths = [one.high - one.low for one in found]
    print(f"{len(columns)} columns: {truth:.4f} in {covered} of {DRAWS}, mean width {np.mean(widths):.3f}")
    assert covered >= DRAWS - 1
    assert all(one.high < one.sample_uniqueness for one in found)


@pytest.mark.parametrize(("theta", "alpha"), [(20.0, 0.6), (500.0, 0.2), (2.0, 0.9)])
def test_pitman_finds_its_own_parameters_and_its_share(theta, alpha):
    made = np.random.default_rng(3)
    people, groups = 4000, []
    for present in range(people):  # the Chinese restaurant: a new group with (θ + α J) / (θ + n)
        if made.random() * (theta + present) < theta + alpha * len(groups):
            groups.append(1)
        else:
            weights = np.array(groups) - alpha
            groups[made.choice(len(groups), p=weights / weights.sum())] += 1
    counted = np.bincount(groups)
    seen = Classes({int(size): int(counted[size]) for size in np.flatnonzero(counted)}, people)
    fitted = fit_pitman(seen)
    assert fitted.alpha == pytest.approx(alpha, abs=0.08)
    assert fitted.unique_share(people) == pytest.approx(seen.sizes[1] / people, abs=0.02)
    assert Pitman(theta + alpha, alpha).unique_share(people) == pytest.approx(
        seen.sizes[1] / people, abs=0.06
    )


@pytest.mark.parametrize(("groups", "a", "b"), [(20_000, 0.5, 0.2), (20_000, 0.1, 0.05), (20_000, 2.0, 0.2)])
@pytest.mark.parametrize("fraction", [0.1, 0.3])
def test_the_slide_negative_binomial_on_draws_from_itself(groups, a, b, fraction):
    made = np.random.default_rng(1)
    population = 1 + made.negative_binomial(a, b, groups)
    truth = (population == 1).sum() / population.sum()
    seen = made.binomial(population, fraction)
    counted = np.bincount(seen[seen > 0])
    sizes = {int(size): int(counted[size]) for size in np.flatnonzero(counted)}
    found = slide_negative_binomial(Classes(sizes, int(population.sum())))
    assert found == pytest.approx(truth, abs=0.03)


def test_zayatz_by_hand():
    # N = 10, n = 5: P(1|i) is i C(10 − i, 4) / C(10, 5)
    sizes = {1: 3, 2: 1}
    first, second = 3 * 1 * math.comb(9, 4), 1 * 2 * math.comb(8, 4)
    assert zayatz(Classes(sizes, 10)) == pytest.approx(first / (first + second) * 3 / 5)


def test_the_whole_population_needs_no_model():
    found = population_uniqueness({1: 3, 4: 1}, population=7)
    assert (found.rule, found.estimate, found.low, found.high) == ("whole", 3 / 7, 3 / 7, 3 / 7)


def test_the_rule_above_a_tenth_takes_the_smaller():
    found = population_uniqueness({1: 300, 2: 100, 9: 40}, population=3000)
    others = [found.models[name] for name in ("zayatz", "snb") if found.models[name] is not None]
    assert found.estimate == min(others) and found.rule in ("zayatz", "snb")


@pytest.mark.parametrize("sizes", [{1: 50}, {50: 1}, {2: 25}, {1: 1}])
@pytest.mark.parametrize("times", [1, 2, 1000, 10**7])
def test_degenerate_samples_give_a_range(sizes, times):
    found = population_uniqueness(sizes, population=times * sum(size * n for size, n in sizes.items()))
    assert 0 <= found.low <= found.high <= found.sample_uniqueness
    assert found.estimate is None or found.low <= found.estimate <= found.high


def test_a_population_smaller_than_the_table():
    for sizes, population in (({1: 5}, 4), ({}, 10)):
        with pytest.raises(InputRefused, match=r"risk\.population_size"):
            population_uniqueness(sizes, population=population)
