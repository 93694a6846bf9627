"""A share of discrete Laplace noise: the shares of several sites add up to the noise of one."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from engine.privacy.draw import Draw
from engine.privacy.events import Event, Sequential
from engine.privacy.mechanisms.discrete_gaussian import DiscreteGaussian
from engine.privacy.mechanisms.discrete_laplace import DiscreteLaplace
from engine.privacy.mechanisms.gaussian_share import MOST_DEVIATION, GaussianShare, deviation_of_sum

if TYPE_CHECKING:
    from engine.privacy.at_risk.loss import PrivacyLoss


@dataclass(frozen=True)
class LaplaceShare(DiscreteLaplace):
    """ε = Δ/b of the total, as long as ``parts`` shares are drawn by sites that keep them to themselves.

    Parameters
    ----------
    parts
        How many shares add up to discrete Laplace noise of the scale. More of them are more noise.

    Notes
    -----
    The loss is that of the total: of the noise of any further share nothing is counted. Goryczka and Xiong
    (2017), section 4.3, on the integers: the law of a sum of two-sided negative binomials.
    """

    word = "laplace_share"

    parts: int = 1

    def is_sound(self) -> bool:
        return super().is_sound() and self.parts >= 1

    def loss(self) -> tuple[PrivacyLoss, int]:
        return DiscreteLaplace(self.scale, self.sensitivity, self.grid).loss()

    def drawn(self) -> Counter[Draw]:
        return Counter({Draw("laplace_share", self.scale, (self.parts,)): self.count})


_MOST_POINTS = 1 << 20


def shared(event: Event, parts: int) -> Event | None:
    """Return what a site draws where so many shares take the place of one noise; None where none can.

    Examples
    --------
    >>> from fractions import Fraction
    >>> shared(DiscreteLaplace(Fraction(2), Fraction(1)), 3).drawn()
    Counter({Draw(sampler='laplace_share', parameter=Fraction(2, 1), shape=(3,)): 1})
    """
    if isinstance(event, Sequential):
        found = [shared(part, parts) for part in event.parts]
        return None if None in found else replace(event, parts=tuple(one for one in found if one is not None))
    if type(event) is DiscreteGaussian:
        each = deviation_of_sum(event.scale**2 / parts, parts)
        if 2 * each * event.squared_sensitivity > MOST_DEVIATION:
            return None
        return GaussianShare(event.scale, event.sensitivity, event.grid, count=event.count, parts=parts)
    if type(event) is not DiscreteLaplace:
        return None
    return LaplaceShare(event.scale, event.sensitivity, event.grid, count=event.count, parts=parts)


def level_alone(event: LaplaceShare, cells: int = 1) -> float:
    """Return the ε of one share by itself, at most: where it is all that stands before a site's sums.

    Parameters
    ----------
    event
        The share.
    cells
        Over how many numbers a person may spread what they move.

    Notes
    -----
    g(δ), the logarithm of the ratio of the probabilities of 0 and δ, is the largest for two numbers δ apart,
    and falls off as δ grows: so that to move many cells a little tells more than to move one far, and n cells
    tell n g(Δ/n) at most. Up to a million steps from the law of a share, whose characteristic function is
    that of one noise to the power of a = 1/parts. Beyond, P(0) = (1−q)^2a F(a, a; 1; q²), and at δ the
    density of the same power of continuous noise.

    Examples
    --------
    >>> from fractions import Fraction
    >>> round(level_alone(LaplaceShare(Fraction(1), Fraction(1), parts=5)), 2)
    2.6
    """
    moved = max(1, math.ceil(event.sensitivity))
    parts = min(max(1, cells), moved)
    return parts * _ratio(float(event.scale), -(-moved // parts), 1 / event.parts) * event.count


_ROUNDING = 1e-11
"""Relative; probabilities below it are rounding of the transform."""


def _ratio(scale: float, moved: int, power: float) -> float:
    """Return the logarithm of P(0)/P(moved) of a share."""
    q = math.exp(-1 / scale)
    points = 1 << max(12, math.ceil(math.log2(64 * (scale + moved + 1))))
    if points <= _MOST_POINTS:
        angle = 2 * np.pi * np.arange(points // 2 + 1) / points
        law = np.fft.irfft(((1 - q) ** 2 / (1 - 2 * q * np.cos(angle) + q * q)) ** power, points)
        if law[moved] > _ROUNDING * law[0]:
            return float(np.log(law[0] / law[moved]))
    from scipy.special import ellipkm1, gammaln, hyp2f1, kve  # on first use: it takes long to import

    if points <= _MOST_POINTS:  # one side at δ and the other at 0 has no more than the whole probability of δ
        one_side = gammaln(moved + power) - gammaln(power) - gammaln(moved + 1) - moved / scale
        return float(np.log(law[0]) - 2 * power * math.log1p(-q) - one_side)
    near = -math.expm1(-2 / scale)  # 1 − q²
    peak = 2 / math.pi * ellipkm1(near) if power == 0.5 else hyp2f1(power, power, 1.0, 1 - near)
    at_zero = 2 * power * math.log(-math.expm1(-1 / scale)) + math.log(peak)
    far = (moved + 0.5) / scale  # half a step further, where the density is no more than the probability
    at_moved = -0.5 * math.log(math.pi) - gammaln(power) - math.log(scale)
    at_moved += (power - 0.5) * math.log(far / 2) + math.log(kve(power - 0.5, far)) - far
    return float(at_zero - at_moved)
