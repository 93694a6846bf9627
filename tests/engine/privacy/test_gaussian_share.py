"""Shares of Gaussian noise: their sum is one noise but for a deviation that is stated."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from engine.errors import InputRefused
from engine.privacy.mechanisms.discrete_gaussian import DiscreteGaussian, GaussianCounts
from engine.privacy.mechanisms.gaussian_share import GaussianShare, deviation_of_sum
from engine.privacy.mechanisms.laplace_share import shared
from tests.noise_source import seeded_noise


def law(variance: float, reach: int) -> np.ndarray:
    weights = np.exp(-(np.arange(-reach, reach + 1.0) ** 2) / (2 * variance))
    return weights / weights.sum()


def apart(variance: float, parts: int) -> float:
    """Return how far the laws are apart, by convolution, within six deviations: there nothing is lost."""
    reach = math.ceil(12 * math.sqrt(variance * parts)) + 2
    total = np.ones(1)
    for _ in range(parts):
        total = np.convolve(total, law(variance, reach))
        middle = len(total) // 2
        total = total[max(0, middle - reach) : middle + reach + 1]
    one = law(variance * parts, reach)
    near = slice(reach - math.ceil(6 * math.sqrt(variance * parts)), reach + 1)
    return float(np.abs(np.log(total[near] / one[near])).max())


@pytest.mark.parametrize("parts", [2, 3, 5, 10])
@pytest.mark.parametrize("variance", [0.25, 0.5, 1.0])
def test_the_deviation_bounds_what_convolution_finds(variance: float, parts: int) -> None:
    found, said = apart(variance, parts), deviation_of_sum(variance, parts)
    assert found <= said and (parts > 2 or said < 6 * found)


def test_a_fine_grid_has_no_deviation_and_a_coarse_one_no_shares() -> None:
    assert apart(4.0, 5) < 1e-12 and deviation_of_sum(4.0, 5) < 1e-14
    assert deviation_of_sum(0.2, 2) == math.inf
    assert shared(DiscreteGaussian(Fraction(2), Fraction(1)), 4) is None
    found = shared(DiscreteGaussian(Fraction(5), Fraction(1)), 4)
    assert isinstance(found, GaussianShare) and found.parts == 4 and found.deviation < 1e-12
    with pytest.raises(InputRefused, match=r"accounting\.unknown_event"):
        GaussianShare(Fraction(2), Fraction(1), parts=4)


def test_a_share_has_its_part_of_the_variance_and_is_counted_with_its_parts() -> None:
    size, noise = 40_000, seeded_noise(3)
    shares = [noise.gaussian_share(Fraction(36), 4, size) for _ in range(4)]
    for drawn, variance in ((shares[0], 9.0), (sum(shares), 36.0)):
        assert abs(float(np.var(drawn)) / variance - 1) < 5 * math.sqrt(2 / size)
    event = GaussianShare(Fraction(6), Fraction(1), parts=4, count=4)
    assert noise.counted == event.drawn() != DiscreteGaussian(Fraction(6), Fraction(1), count=4).drawn()
    with pytest.raises(InputRefused):
        noise.gaussian_share(1, 0, 1)


def test_what_a_share_loses_is_no_less_than_one_noise_and_hardly_more() -> None:
    one = DiscreteGaussian(Fraction(5), Fraction(1))
    share = GaussianShare(Fraction(5), Fraction(1), parts=5)
    for epsilon in (Fraction(1, 2), Fraction(1)):
        assert one.delta(epsilon) <= share.delta(epsilon) <= one.delta(epsilon) * (1 + 1e-9)
    assert one.concentrated() <= share.concentrated() <= one.concentrated() * Fraction(1_000_001, 1_000_000)
    known = share.stand_in()
    assert known is not None and known[0] == one and known[1] == share.deviation


@pytest.mark.parametrize(
    ("epsilon", "sites", "squared", "times"), [(1, 50, 9, 1.0), (2, 20, 12, 1.1), (3, 20, 27, 1.6)]
)
def test_where_the_grid_of_a_method_has_no_shares_laplace_noise_is_about_as_narrow(
    epsilon: int, sites: int, squared: int, times: float
) -> None:
    """That is why sums are on no finer grid: the widest shift without shares is worst for Laplace noise."""
    last, next_ = (
        GaussianCounts(one, Fraction(epsilon), Fraction(1, 10**6)) for one in (squared, squared + 1)
    )
    assert shared(last.event, sites - 1) is None and shared(next_.event, sites - 1) is not None
    q = math.exp(-epsilon / squared)  # a person in so many cells, once in each: the L1 distance too
    assert math.sqrt(2 * q) / (1 - q) / float(last.scale) == pytest.approx(times, abs=0.05)
