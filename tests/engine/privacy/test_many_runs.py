"""Levels of many runs together: against direct sums, and in both directions."""

import math

import pytest

from engine.privacy.many_runs import excess, largest_level, level_together


def by_definition(each, count, total):
    """Enumerate the outcomes of ``count`` answers of randomised response under both inputs."""
    found = 0.0
    for flipped in range(count + 1):
        one = math.comb(count, flipped) * math.exp((count - flipped) * each) / (1 + math.exp(each)) ** count
        other = math.comb(count, flipped) * math.exp(flipped * each) / (1 + math.exp(each)) ** count
        found += max(0.0, one - math.exp(total) * other)
    return found


@pytest.mark.parametrize("count", [1, 2, 7, 40])
@pytest.mark.parametrize("each", [0.01, 0.3, 2.0])
def test_the_excess_is_that_of_randomised_response(count, each):
    for share in (0.0, 0.1, 0.5, 0.9):
        exact = by_definition(each, count, share * count * each)
        assert (
            exact * (1 - 1e-9) - 1e-15 <= excess(each, count, share * count * each) <= exact * 1.00001 + 1e-15
        )
    assert excess(each, count, count * each) == 0


@pytest.mark.parametrize("count", [2, 50, 3000])
def test_a_level_for_each_and_the_level_together_are_inverse(count):
    each = largest_level(count, 1.0, 1e-9)
    assert each >= 1 / count and level_together(each, count, 1e-9) == pytest.approx(1, rel=1e-6)
    assert excess(each, count, 1.0) <= 1e-9 < excess(each * 1.001, count, 1.0) or count < 20


def test_more_runs_leave_each_less():
    levels = [largest_level(count, 1.0, 1e-9) for count in (1, 10, 100, 1000, 10_000, 100_000)]
    assert levels == sorted(levels, reverse=True)
    # the advanced composition of Dwork and Roth (2014), theorem 3.20, is no better
    for count, each in zip((100, 1000, 10_000), levels[2:], strict=False):
        advanced = each * math.sqrt(2 * count * math.log(1e9)) + count * each * math.expm1(each)
        assert advanced > 1


def test_levels_that_give_everything_away_are_added():
    assert largest_level(10, 1e6, 1e-6) == 1e5 and level_together(1e5, 10, 1e-6) == 1e6
