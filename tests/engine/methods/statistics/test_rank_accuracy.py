"""The stated ranks against draws: evenly spread values, and the worst values there are."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from engine.methods.shared.rank_accuracy import any_limits, even_errors
from engine.methods.shared.rank_choices import choices, choose_quantiles
from engine.privacy.mechanisms.permute_and_flip import FlipChoice
from tests.engine.flip import flip_probabilities
from tests.engine.methods.statistics.ranks_by_hand import ranks_off, spread_evenly
from tests.noise_source import seeded_noise

MEDIAN = (Fraction(1, 2),)
QUARTILES = tuple(Fraction(place, 4) for place in (1, 2, 3))


def errors(wanted, roots, counts, runs, *, parts=64):
    noise = seeded_noise(7)
    found = np.array([choose_quantiles(roots, counts, parts=parts, noise=noise) for _ in range(runs)])
    off = [ranks_off(counts, wanted=each) for each in wanted]
    return np.array([each[at] for each, at in zip(off, found.T, strict=True)])


@pytest.mark.parametrize(
    ("wanted", "size", "candidates"),
    [
        (MEDIAN, 20, 29),
        (MEDIAN, 1000, 1001),
        (MEDIAN, 300, 2001),
        (QUARTILES, 100, 29),
        (QUARTILES, 1000, 1001),
    ],
)
@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(1)])
def test_the_forecast_holds_for_evenly_spread_values(wanted, size, candidates, epsilon):
    """Errors are whole ranks: the limit covers 95 of 100 and one rank less does not; false alarm 1e-6."""
    roots, runs = choices(wanted, epsilon, rows=1, groups=1, replace_one=False), 600
    drawn = errors(wanted, roots, spread_evenly(size, candidates), runs)
    forecast = even_errors(roots, size=size, candidates=candidates)
    for own, (median, limit) in zip(drawn, forecast, strict=True):
        for reach, share in ((median, 0.5), (limit, 0.95)):
            assert (own <= reach).sum() >= binom.ppf(1e-6, runs, share - 0.01)
            together = max(1.0, size / candidates)
            assert (own <= reach - 1 - together).sum() <= binom.ppf(1 - 1e-6, runs, share + 0.01)


@pytest.mark.parametrize("wanted", [MEDIAN, QUARTILES])
def test_the_released_limit_covers_95_in_100_where_values_are_dense(wanted):
    """Between 94.5 and 96 in 100 at a rate where a whole rank matters little."""
    roots, runs = choices(wanted, Fraction(1, 20), rows=1, groups=1, replace_one=False), 4000
    drawn = errors(wanted, roots, spread_evenly(6000, 6000), runs, parts=4)
    covered = np.array(
        [(own <= limit).sum() for own, (_, limit) in zip(drawn, even_errors(roots), strict=True)]
    )
    assert (covered >= binom.ppf(1e-5, runs, 0.945)).all() and (
        covered <= binom.ppf(1 - 1e-5, runs, 0.96)
    ).all()


def test_the_limit_for_any_values_is_reached_by_the_worst_and_never_missed():
    choice = FlipChoice(1, Fraction(1))
    limit = choice.score_limit(80, share=0.95)
    for gap in np.linspace(0.1, 30, 300):
        for count in (1, 20, 79):
            scores = np.r_[np.zeros(80 - count), np.full(count, -gap)]
            within = flip_probabilities(scores, float(choice.rate))[scores >= -limit].sum()
            assert within >= 0.95 - 1e-9
    worst = np.r_[0.0, np.full(79, -limit * 1.001)]
    assert flip_probabilities(worst, float(choice.rate))[0] == pytest.approx(0.95, abs=1e-3)


@pytest.mark.parametrize("wanted", [MEDIAN, QUARTILES])
@pytest.mark.parametrize("shape", ["one", "ends", "even", "most on one"])
def test_the_limit_for_any_values_holds(wanted, shape):
    counts = {
        "one": np.r_[np.zeros(14), 60, np.zeros(14)],
        "ends": np.r_[30, np.zeros(27), 30],
        "even": spread_evenly(60, 29),
        "most on one": np.r_[45, np.zeros(13), np.ones(15)],
    }[shape].astype(np.int64)
    roots, runs = choices(wanted, Fraction(1, 2), rows=1, groups=1, replace_one=False), 300
    limits = any_limits(roots, candidates=29, parts=64, share=0.95)
    for own, limit in zip(errors(wanted, roots, counts, runs), limits, strict=True):
        assert (own <= limit).sum() >= binom.ppf(1e-6, runs, 0.95)


def test_more_budget_means_fewer_ranks():
    before = None
    for power in range(-4, 4):
        roots = choices(QUARTILES, Fraction(4) ** power, rows=1, groups=1, replace_one=False)
        now = even_errors(roots)
        assert before is None or all(
            a <= b for one, two in zip(now, before, strict=True) for a, b in zip(one, two, strict=True)
        )
        before = now
