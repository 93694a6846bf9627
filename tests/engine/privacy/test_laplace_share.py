"""Shares of noise: what several sites draw adds up to the noise of one, exactly."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2, nbinom

from engine.errors import InputRefused
from engine.privacy.mechanisms.discrete_laplace import DiscreteLaplace
from engine.privacy.mechanisms.laplace_share import LaplaceShare, level_alone
from engine.privacy.noise import URN
from tests.noise_source import seeded_noise

REACH = 600


def one_share(scale: float, parts: int) -> np.ndarray:
    """Return the probabilities of −REACH … REACH of one share, from the law of its two sides."""
    side = nbinom.pmf(np.arange(REACH + 1), 1 / parts, 1 - np.exp(-1 / scale))
    return np.convolve(side, side[::-1])


def laplace(scale: float) -> np.ndarray:
    q = np.exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** np.abs(np.arange(-REACH, REACH + 1.0))


@pytest.mark.parametrize("parts", [1, 2, 3, 5, 20])
@pytest.mark.parametrize("scale", [0.5, 4, 20])
def test_shares_have_the_mass_function_of_one_noise(scale: float, parts: int) -> None:
    """By convolution, number for number: nothing is drawn here."""
    total = np.ones(1)
    for _ in range(parts):
        total = np.convolve(total, one_share(scale, parts))
        middle = len(total) // 2
        total = total[max(0, middle - REACH) : middle + REACH + 1]
    assert np.abs(total - laplace(scale)).max() < 1e-12


@pytest.mark.parametrize(("scale", "parts"), [(1, 2), (4, 5), (20, 20)])
def test_what_is_drawn_has_the_law_of_a_share_and_of_the_total(scale: int, parts: int) -> None:
    """χ² at 1e-6, of one share and of the sum of all."""
    size = 20_000
    noise = seeded_noise(28 + scale)
    shares = [noise.laplace_share(Fraction(scale), parts, size) for _ in range(parts)]
    for drawn, law in ((shares[0], one_share(scale, parts)), (sum(shares), laplace(scale))):
        seen = np.bincount(np.clip(drawn, -REACH, REACH) + REACH, minlength=2 * REACH + 1)
        middle = len(law) // 2
        expected = size * law[middle - REACH : middle + REACH + 1]
        often = expected >= 10
        rest = max(size - expected[often].sum(), 1e-9)
        statistic = ((seen[often] - expected[often]) ** 2 / expected[often]).sum()
        statistic += (seen[~often].sum() - rest) ** 2 / rest if rest > 5 else 0
        assert chi2.sf(statistic, int(often.sum())) > 1e-6


def test_fewer_balls_or_a_part_of_them_would_be_seen() -> None:
    """The test above can fail: a share of four parts is none of five."""
    size = 20_000
    drawn = sum(seeded_noise(place).laplace_share(4, 4, size) for place in range(5))
    assert drawn.var() > 1.15 * 2 * 4**2


def test_wide_noise_is_that_of_one_and_a_little_more() -> None:
    scale, parts, size = 100 * URN, 4, 20_000
    noise = seeded_noise(5)
    total = sum(noise.laplace_share(scale, parts, size) for _ in range(parts))
    assert 1 - 0.06 < total.var() / (2 * scale**2) < 1.06  # 4 standard errors of a variance


def test_a_share_is_counted_with_its_parts() -> None:
    noise = seeded_noise(1)
    noise.laplace_share(Fraction(4), 3, 10)
    event = LaplaceShare(Fraction(4), Fraction(1), parts=3)
    assert noise.counted == event.drawn() != DiscreteLaplace(Fraction(4), Fraction(1)).drawn()
    assert event.epsilon() == Fraction(1, 4)
    assert Counter(event.drawn()) == Counter(dict(event.drawn()))


@pytest.mark.parametrize(("scale", "parts"), [(0, 2), (1, 0), (1, Fraction(3, 2)), (Fraction(2**53), 2)])
def test_what_makes_no_share_is_refused(scale: Fraction, parts: int) -> None:
    with pytest.raises(InputRefused):
        seeded_noise(1).laplace_share(scale, parts, 1)


@pytest.mark.parametrize("parts", [0.5, 2.0])
def test_floats_are_refused(parts: float) -> None:
    with pytest.raises(InputRefused):
        seeded_noise(1).laplace_share(1, parts, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("parts", [2, 5])
def test_the_level_of_a_share_is_a_number_however_little_noise_it_is(parts: int) -> None:
    """Before, from ε = 40 on a probability was rounded to 0, and the level that stands on the screen to ∞."""
    levels = [level_alone(shared_noise(epsilon, parts)) for epsilon in (10, 20, 24, 28, 40, 100, 600)]
    over = [level - epsilon for level, epsilon in zip(levels, (10, 20, 24, 28, 40, 100, 600), strict=True)]
    assert over == pytest.approx([np.log(parts)] * len(over), abs=1e-3)


def shared_noise(epsilon: int, parts: int) -> LaplaceShare:
    return LaplaceShare(Fraction(1, epsilon), Fraction(1), parts=parts)


@pytest.mark.parametrize(
    ("honest", "level"), [(6, 0.834), (5, 1.0), (4, 1.21), (2, 1.90), (1, 2.598)], ids=lambda one: str(one)
)
def test_what_a_coalition_of_sites_and_all_holders_infers(honest: int, level: float) -> None:
    """Of noise that five shares make at ε = 1, so many honest sites keep this much: exactly, and as drawn.

    From five honest sites on it is what was published or less; a coordinator with all holders sees one share.
    """
    total = np.ones(1)
    for _ in range(honest):
        total = np.convolve(total, one_share(1.0, 5))
    middle = len(total) // 2
    kept = total[middle - 20 : middle + 21]
    exact = float(np.max(np.abs(np.log(kept[1:] / kept[:-1]))))
    assert exact == pytest.approx(max(level, 1.0), abs=0.02)  # far out the tail of one noise, e⁻¹ a step
    near = float(np.log(total[middle] / total[middle + 1]))
    assert near == pytest.approx(level, abs=0.01)
    size, noise = 40_000, seeded_noise(honest)
    drawn = np.asarray(sum(noise.laplace_share(Fraction(1), 5, size) for _ in range(honest)))
    zeros, ones = int((drawn == 0).sum()), int((np.abs(drawn) == 1).sum()) / 2
    error = np.sqrt(1 / zeros + 1 / (2 * ones))
    assert abs(np.log(zeros / ones) - level) < 5 * error + 0.01  # 6e-7 by chance; the draws are fixed
    if honest == 1:
        assert level_alone(LaplaceShare(Fraction(1), Fraction(1), parts=5)) == pytest.approx(exact, abs=1e-3)
