"""What the integer samplers must follow, and the tests that say whether draws do.

False-alarm rate of each test: `ALPHA`. A false alarm cannot come and go, because the tests draw from the
seeded source.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

ALPHA = 1e-6


class CheckFailed(AssertionError):
    """A check of the battery found the thing under test to be wrong."""


@dataclass(frozen=True)
class Law:
    """A distribution over the integers, as exact as doubles are.

    Parameters
    ----------
    below
        P(Z <= z) for an array of integers given as floats.
    residues
        P(Z mod m = r) for r = 0 … m − 1, given m.
    variance, fourth
        Second and fourth moment; all odd moments are 0.
    spread
        A length over which the distribution changes little.
    """

    below: Callable[[NDArray], NDArray]
    residues: Callable[[int], NDArray]
    variance: float
    fourth: float
    spread: float


def laplace_law(scale: Fraction | int) -> Law:
    """Return the discrete Laplace law: P(z) = (1 − q) / (1 + q) · q^|z|, q = e^(−1/scale), in closed form."""
    rate = float(1 / Fraction(scale))
    q, lack = math.exp(-rate), -math.expm1(-rate)

    def below(z: NDArray) -> NDArray:
        left = np.exp(np.minimum(z, 0) * rate) / (1 + q)
        right = 1 - np.exp(-(np.maximum(z, 0) + 1) * rate) / (1 + q)
        return np.where(z < 0, left, right)

    def residues(modulus: int) -> NDArray:
        r = np.arange(modulus)
        both = np.exp(-r * rate) + np.exp(-(modulus - r) * rate)
        return lack / (1 + q) * both / -math.expm1(-modulus * rate)

    variance = 2 * q / lack**2
    fourth = 2 * q * (1 + 10 * q + q * q) / lack**4  # Σ z⁴ q^z by Eulerian numbers, both signs
    return Law(below, residues, variance, fourth, 1 / rate)


def gaussian_law(variance: Fraction | int) -> Law:
    """Return the discrete Gaussian law; for a standard deviation above 1e4 the continuous one.

    There the sum of e^(−z²/2σ²) over a to b is the integral from a − 1/2 to b + 1/2 up to a share of
    1/(24 σ²), below 1e-9 and far below what a million draws can see.
    """
    squared = float(Fraction(variance))
    deviation = math.sqrt(squared)
    if deviation > 1e4:
        from scipy.special import ndtr

        return Law(
            lambda z: ndtr((z + 0.5) / deviation),
            lambda modulus: np.full(modulus, 1 / modulus),
            squared,
            3 * squared**2,
            deviation,
        )
    reach = math.ceil(40 * deviation) + 5
    z = np.arange(-reach, reach + 1)
    return listed_law(np.exp(-(z.astype(float) ** 2) / (2 * squared)))


def staircase_law(sensitivity: int, plateau: int, epsilon: Fraction | int) -> Law:
    """Return the discrete staircase law: P(z) ∝ e^(−ε stair(|z|)), stairs Δ wide from r on."""
    reach = math.ceil(plateau + sensitivity * (700 / max(700.0, float(epsilon)) + 40 / float(epsilon)))
    magnitudes = np.abs(np.arange(-reach, reach + 1))
    stairs = np.where(magnitudes < plateau, 0, 1 + (magnitudes - plateau) // sensitivity)
    return listed_law(np.exp(-float(epsilon) * stairs))


def listed_law(weights: NDArray) -> Law:
    """Return the law of weights of the whole numbers around 0, an odd number of them."""
    reach = weights.size // 2
    z = np.arange(-reach, reach + 1)
    masses = weights / weights.sum()
    sums = np.cumsum(masses)

    def below(at: NDArray) -> NDArray:
        return sums[np.clip(at.astype(np.int64) + reach, 0, 2 * reach)]

    def residues(modulus: int) -> NDArray:
        return np.bincount(z % modulus, weights=masses, minlength=modulus)

    variance, fourth = (float(masses @ z.astype(float) ** power) for power in (2, 4))
    return Law(below, residues, variance, fourth, math.sqrt(variance))


def check_pmf(draws: NDArray[np.int64], law: Law, *, cells: int = 400) -> None:
    """χ² test of the probability of each integer, or of each short run of integers where there are many.

    Cells that expect fewer than 20 draws are joined with their neighbours.
    """
    width = max(1, round(12 * law.spread / cells))
    edges = np.arange(-(cells // 2), cells // 2 + 1, dtype=np.int64) * width
    masses = np.diff(np.concatenate(([0.0], law.below(edges.astype(float)), [1.0])))
    counts = np.bincount(np.searchsorted(edges, draws, side="left"), minlength=edges.size + 1)
    _chi_square(counts, masses * draws.size, "probabilities")


def check_residues(draws: NDArray[np.int64], law: Law, *, modulus: int = 256) -> None:
    """χ² test of the last binary digits, which a test of the rough shape cannot see."""
    counts = np.bincount(draws % modulus, minlength=modulus)
    _chi_square(counts, law.residues(modulus) * draws.size, "last digits")


def check_moments(draws: NDArray[np.int64], law: Law) -> None:
    """Test mean and variance against their standard errors, by the central limit theorem."""
    values, count = draws.astype(np.float64), draws.size
    limit = _normal_limit()
    mean = values.mean() / math.sqrt(law.variance / count)
    if abs(mean) > limit:
        raise CheckFailed(f"mean {mean:.1f} standard errors from 0")
    second = ((values**2).mean() - law.variance) / math.sqrt((law.fourth - law.variance**2) / count)
    if abs(second) > limit:
        raise CheckFailed(f"variance {second:.1f} standard errors off")


def check_tails(draws: NDArray[np.int64], law: Law) -> None:
    """Test, exactly, how many draws lie beyond points that one in 1,000 and one in 20,000 pass."""
    from scipy.stats import binomtest

    for share in (1e-3, 5e-5):
        at = _point_passed_by(law, share / 2)
        beyond = 2 * (1 - float(law.below(np.array([float(at)]))[0]))
        counted = int((np.abs(draws) > at).sum())
        if binomtest(counted, draws.size, beyond).pvalue < ALPHA:
            raise CheckFailed(
                f"{counted} draws beyond the point of {share}, {beyond * draws.size:.0f} expected"
            )


def check_same(first: NDArray, second: NDArray, *, cells: int = 60) -> None:
    """Two-sample χ² test: do both follow one distribution, whatever it is?"""
    pooled = np.concatenate([first, second])
    edges = np.unique(np.quantile(pooled, np.linspace(0, 1, cells + 1)[1:-1], method="inverted_cdf"))
    tables = [np.bincount(np.searchsorted(edges, x), minlength=edges.size + 1) for x in (first, second)]
    both = tables[0] + tables[1]
    used = both > 0
    statistic, freedom = 0.0, int(used.sum()) - 1
    for table, size in zip(tables, (first.size, second.size), strict=True):
        expected = both[used] * (size / pooled.size)
        statistic += float(((table[used] - expected) ** 2 / expected).sum())
    _judge(statistic, freedom, "two samples")


def check_all(draws: NDArray[np.int64], law: Law) -> None:
    """Put draws through every test of this module."""
    check_pmf(draws, law)
    check_residues(draws, law)
    check_moments(draws, law)
    check_tails(draws, law)


def _point_passed_by(law: Law, share: float) -> int:
    low, high = 0, round(200 * law.spread) + 20
    while low < high:
        middle = (low + high) // 2
        if 1 - float(law.below(np.array([float(middle)]))[0]) > share:
            low = middle + 1
        else:
            high = middle
    return low


def _normal_limit() -> float:
    from scipy.stats import norm

    return float(norm.isf(ALPHA / 2))


def _chi_square(counts: NDArray, expected: NDArray, what: str) -> None:
    starts, running = [0], 0.0
    for place, value in enumerate(expected):
        running += value
        if running >= 20 and expected[place + 1 :].sum() >= 20:
            starts.append(place + 1)
            running = 0.0
    seen, hoped = np.add.reduceat(counts, starts), np.add.reduceat(expected, starts)
    _judge(float(((seen - hoped) ** 2 / hoped).sum()), len(starts) - 1, what)


def _judge(statistic: float, freedom: int, what: str) -> None:
    from scipy.stats import chi2

    if freedom > 0 and chi2.sf(statistic, freedom) < ALPHA:
        raise CheckFailed(f"{what}: χ² {statistic:.1f} at {freedom} degrees of freedom")
