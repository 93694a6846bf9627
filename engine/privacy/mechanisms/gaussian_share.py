"""A share of discrete Gaussian noise: the shares of several sites add up to nearly the noise of one."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from engine.privacy.draw import Draw
from engine.privacy.mechanisms.discrete_gaussian import DiscreteGaussian
from engine.privacy.mechanisms.integers import root_above

if TYPE_CHECKING:
    from engine.privacy.at_risk.loss import PrivacyLoss
    from engine.privacy.events import Mechanism

MOST_DEVIATION = 1e-12
"""What the law of a sum of shares may add to ε: where it would be more, the grid is too coarse for shares."""


@dataclass(frozen=True)
class GaussianShare(DiscreteGaussian):
    """A curve of (ε, δ) of the total, as long as ``parts`` shares are drawn by sites that keep them.

    Parameters
    ----------
    parts
        How many shares add up to noise of the scale. More of them are more noise.

    Notes
    -----
    The sum of discrete Gaussians is none, but on a grid that is fine for a share its law is within e^±τ of
    one in every number; see `deviation_of_sum`. A person who moves S coordinates at most adds 2 τ S to ε. Of
    the noise of any further share nothing is counted. Source: P. Kairouz, Z. Liu and T. Steinke, The
    distributed discrete Gaussian mechanism, 2021, theorem 1, for the coordinates that move.

    Sums keep the grid of their method. On one 256 times finer every noise would have shares; but where a
    person moves so little that this grid has none, Laplace noise, whose shares are exact, is about as narrow:
    among 20 sites at most 1.1 times wider up to ε = 2, and 1.6 times at ε = 3 (δ = 1e-6).
    """

    word = "gaussian_share"

    parts: int = 1

    def is_sound(self) -> bool:
        return super().is_sound() and self.parts >= 1 and self.deviation <= MOST_DEVIATION

    @property
    def deviation(self) -> float:
        """What one run adds to ε, and relatively to δ, beyond discrete Gaussian noise of the scale."""
        each = deviation_of_sum(self.scale**2 / self.parts, self.parts)
        return 2 * each * self.squared_sensitivity

    @property
    def is_exact(self) -> bool:
        return False

    def _of_one(self) -> DiscreteGaussian:
        return DiscreteGaussian(self.scale, self.sensitivity, self.grid, count=self.count)

    def loss(self) -> tuple[PrivacyLoss, int]:
        return self._of_one().loss()

    def stand_in(self) -> tuple[Mechanism, float] | None:
        found = self._of_one().stand_in()
        return None if found is None else (found[0], found[1] + self.count * self.deviation)

    def delta(self, epsilon: Fraction) -> float:
        left = max(epsilon - Fraction(self.deviation), Fraction(0))
        return self._of_one().delta(left) * math.exp(self.deviation)

    def concentrated(self) -> Fraction:
        each = Fraction(deviation_of_sum(self.scale**2 / self.parts, self.parts))
        further = each * root_above(self.squared_sensitivity)
        return self.count * (self.sensitivity / self.scale + further) ** 2 / 2

    def drawn(self) -> Counter[Draw]:
        return Counter({Draw("gaussian_share", self.scale**2, (self.parts,)): self.count})


def deviation_of_sum(variance: Fraction | float, parts: int) -> float:
    """Return τ: how far the logarithms of the law of a sum of shares, and of one noise, are apart at most.

    Parameters
    ----------
    variance
        Of a share, in squared steps.
    parts
        How many shares there are.

    Examples
    --------
    >>> deviation_of_sum(1, 5) < 0.01, deviation_of_sum(4, 5) < 1e-14, deviation_of_sum(0.2, 1)
    (True, True, 0)
    """
    reach = 2 * math.pi**2 * float(variance)
    if float(variance) < 0.25 and parts > 1:
        return math.inf  # below σ = 1/2 the theorem says nothing
    return 10 * sum(math.exp(-reach * k / (k + 1)) for k in range(1, parts))
