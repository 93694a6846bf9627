"""A share of discrete Laplace noise: the shares of several sites add up to the noise of one."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from engine.privacy.draw import Draw
from engine.privacy.events import Event, Sequential
from engine.privacy.mechanisms.discrete_laplace import DiscreteLaplace

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
    if type(event) is not DiscreteLaplace:
        return None
    return LaplaceShare(event.scale, event.sensitivity, event.grid, count=event.count, parts=parts)


def level_alone(event: LaplaceShare) -> float:
    """Return the ε of one share by itself: for a site whose share is all that stands before its sums.

    Notes
    -----
    The largest logarithm of the ratio of two probabilities of a share that lie the sensitivity apart, read
    off the law of a share: the characteristic function of one noise to the power of 1/parts.

    Examples
    --------
    >>> from fractions import Fraction
    >>> round(level_alone(LaplaceShare(Fraction(1), Fraction(1), parts=5)), 2)
    2.6
    """
    q, moved = math.exp(-1 / float(event.scale)), int(event.sensitivity)
    points = 1 << max(12, math.ceil(math.log2(64 * (float(event.scale) + moved + 1))))
    angle = 2 * np.pi * np.arange(points // 2 + 1) / points
    transform = ((1 - q) ** 2 / (1 - 2 * q * np.cos(angle) + q * q)) ** (1 / event.parts)
    law = np.fft.irfft(transform, points)
    seen = max(moved + 1, math.ceil(6 * float(event.scale)))
    law = np.concatenate([law[-seen:], law[: seen + 1]])
    return float(np.abs(np.log(law[moved:]) - np.log(law[:-moved])).max()) * event.count
