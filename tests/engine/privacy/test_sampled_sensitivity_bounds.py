"""What sampled pairs allow to say: by hand, at the limits, and in simulation at the stated level."""

import math

import numpy as np
import pytest
from scipy.stats import beta, binom

from engine.errors import InputRefused
from engine.privacy.sampled_sensitivity import Sides, dkw_probability, implicit_confidence, plan_pairs
from engine.privacy.sampled_sensitivity.bounds import empirical_quantile, order_of_quantile

FALSE_ALARM = 1e-6


def test_dkw_by_hand():
    assert dkw_probability(1, 1.0) == pytest.approx(1 - 2 * math.exp(-2))
    assert dkw_probability(100, 0.1, sides=Sides.ONE) == pytest.approx(1 - math.exp(-2))
    assert dkw_probability(100, 0.01) == 0.0  # the formula would be negative
    assert dkw_probability(100, 0.05, sides=Sides.ONE) == 0.0  # Massart's condition does not hold


@pytest.mark.parametrize("sides", list(Sides))
@pytest.mark.parametrize(("tolerance", "probability"), [(0.01, 0.9), (0.05, 0.99), (0.002, 0.6)])
def test_planner_is_the_inverse_and_asks_for_no_pair_too_many(sides, tolerance, probability):
    plan = plan_pairs(tolerance=tolerance, probability=probability, sides=sides)
    assert plan.probability >= probability
    assert dkw_probability(plan.pairs - 1, tolerance, sides=sides) < probability
    back = plan_pairs(pairs=plan.pairs, probability=plan.probability, sides=sides)
    assert back.tolerance == pytest.approx(tolerance, rel=1e-9)
    forward = plan_pairs(pairs=plan.pairs, tolerance=tolerance, sides=sides)
    assert forward.probability == plan.probability


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "two_of_three"),
        ({"pairs": 10}, "two_of_three"),
        ({"pairs": 10, "tolerance": 0.1, "probability": 0.9}, "two_of_three"),
        ({"pairs": 0, "tolerance": 0.1}, "too_few_pairs"),
        ({"pairs": 1, "probability": 0.9}, "too_few_pairs"),
        ({"pairs": 10, "tolerance": 0.0}, "tolerance_out_of_range"),
        ({"pairs": 10, "tolerance": float("nan")}, "tolerance_out_of_range"),
        ({"tolerance": 0.1, "probability": 1.0}, "probability_out_of_range"),
        ({"tolerance": 0.1, "probability": 0.4, "sides": Sides.ONE}, "probability_out_of_range"),
    ],
)
def test_planner_refuses(given, code):
    with pytest.raises(InputRefused) as refused:
        plan_pairs(**given)
    assert refused.value.code == f"sampled_sensitivity.{code}"


@pytest.mark.parametrize(
    ("pairs", "share", "order"),
    [
        (10, 0.9, 9),
        (10, 0.91, 10),
        (10, 1.0, 10),
        (10, 1e-9, 1),
        (3, 1 / 3, 1),
        (100, 0.07, 7),
        (1, 0.5, 1),
        (15_000, 0.7, 10_500),
    ],
)
def test_quantile_is_the_smallest_value_that_reaches_the_share(pairs, share, order):
    assert order_of_quantile(pairs, share) == order
    assert empirical_quantile(np.arange(1.0, pairs + 1), share) == order


def test_quantile_agrees_with_numpys_inverted_distribution_function():
    generator = np.random.Generator(np.random.PCG64(1))
    values = np.sort(generator.integers(0, 9, size=137)).astype(float)
    for share in np.arange(1, 138) / 137:
        assert empirical_quantile(values, share) == np.quantile(values, share, method="inverted_cdf")


def test_exact_limit_is_the_beta_quantile_and_never_below_the_corrected_bound():
    for pairs, share, tolerance in [(15_000, 0.9, 0.01), (100, 0.9, 0.1), (50, 1.0, 0.2), (100, 0.05, 0.1)]:
        found = implicit_confidence(pairs, quantile=share, tolerance=tolerance)
        order = order_of_quantile(pairs, share)
        assert found.exact == pytest.approx(beta.ppf(1 - found.probability, order, pairs + 1 - order))
        assert found.exact >= found.corrected


def test_no_bound_where_the_probability_is_nothing():
    found = implicit_confidence(10, quantile=0.9, tolerance=0.01)
    assert (found.printed, found.unconditional, found.exact, found.probability) == (0.0, 0.0, 0.0, 0.0)


# S = |U − V| for two uniforms has distribution function 1 − (1 − s)².
def _true_confidences(repetitions, pairs, share, seed):
    generator = np.random.Generator(np.random.PCG64(seed))
    sensitivities = np.abs(np.diff(generator.random((repetitions, pairs, 2)), axis=2))[:, :, 0]
    sampled = np.sort(sensitivities, axis=1)[:, order_of_quantile(pairs, share) - 1]
    return 1.0 - (1.0 - sampled) ** 2


REPETITIONS = 4_000


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_corrected_bounds_hold_at_their_level(share):
    pairs, tolerance = 100, 0.1
    found = implicit_confidence(pairs, quantile=share, tolerance=tolerance)
    true = _true_confidences(REPETITIONS, pairs, share, seed=11)
    allowed = binom.ppf(1 - FALSE_ALARM, REPETITIONS, 1 - found.probability)
    assert np.sum(true < found.corrected) <= allowed
    assert np.sum(true < found.exact) <= allowed
    # The exact limit is exact: it fails about as often as it says, not much less often.
    assert np.sum(true < found.exact) >= binom.ppf(FALSE_ALARM, REPETITIONS, 1 - found.probability)
    # Over the pairs and a fresh pair together; a mean of shares has a standard error below .5/√repetitions.
    assert true.mean() + 5 * 0.5 / math.sqrt(REPETITIONS) >= found.unconditional


def test_printed_bound_fails_where_the_tolerance_is_chosen_large():
    """A hundred pairs and ρ = .5: the printed form claims γ₂ itself; every other run breaks it."""
    pairs, share = 100, 0.9
    found = implicit_confidence(pairs, quantile=share, tolerance=0.5)
    assert found.printed == pytest.approx(share, abs=1e-15)
    true = _true_confidences(REPETITIONS, pairs, share, seed=12)
    broken = np.sum(true < found.printed)
    assert broken >= binom.ppf(FALSE_ALARM, REPETITIONS, 0.45)
    assert np.all(true >= found.corrected)
    # Not even on average: a fresh pair keeps to the 90th of 100 values with probability 90/101.
    assert found.printed > 90 / 101
    assert true.mean() == pytest.approx(90 / 101, abs=5 * 0.03 / math.sqrt(REPETITIONS))


def test_printed_bound_fails_at_the_authors_number_of_pairs_too():
    """With 15,000 pairs the printed form breaks as soon as ρ is set to .03 instead of .01."""
    found = implicit_confidence(15_000, quantile=0.9, tolerance=0.03)
    below = beta.cdf(found.printed, 13_500, 1_501)  # F(Δ_S) is Beta(13500, 1501) for a continuous F
    assert 0.45 < below < 0.55
    assert found.corrected_two_sided_probability > 1 - 1e-11
