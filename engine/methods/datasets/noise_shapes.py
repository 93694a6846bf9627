"""Which noise says least about a value at a given spread: without bounds, and within them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine import arrays

Floats = arrays.Floats
POINTS = 2000
"""Steps of a bounded density: its moments are right to about six digits."""


@dataclass(frozen=True)
class Shape:
    """Noise of one column, independent of the others.

    Parameters
    ----------
    variance
        E[n²].
    information
        Fisher information of a value that is seen with this noise: no unbiased guess of it has a variance
        below its inverse (Cramér and Rao).
    ends, chances
        Of a bounded one: points from end to end, and the chance to lie at most there. Empty for the normal
        one.
    """

    variance: float
    information: float
    ends: Floats
    chances: Floats

    def draw(self, count: int, chance: np.random.Generator) -> Floats:
        """Draw noise."""
        if not len(self.ends):
            return chance.normal(0.0, self.variance**0.5, count)
        return np.interp(chance.random(count), self.chances, self.ends)


def normal_shape(rho: float, weight: float = 1.0) -> Shape:
    """Return the normal noise that minimises w · I(p) + ρ E[n²].

    Parameters
    ----------
    rho
        ρ > 0: how much utility counts.
    weight
        w > 0: how much the privacy of this column counts.

    Notes
    -----
    F. Farokhi, theorem 2.4: V = W^½ / √ρ, which solves V⁻¹ W V⁻¹ = ρ I; here W is diagonal.

    Examples
    --------
    >>> found = normal_shape(4.0)
    >>> found.variance, found.information
    (0.5, 2.0)
    """
    variance = (weight / rho) ** 0.5
    return Shape(variance, 1 / variance, np.zeros(0), np.zeros(0))


def bounded_shape(rho: float, reach: float, weight: float = 1.0) -> Shape:
    """Return the noise from −reach to reach that minimises w · I(p) + ρ E[n²].

    Parameters
    ----------
    rho
        ρ >= 0: how much utility counts.
    reach
        Above 0: no value moves further.
    weight
        w > 0: how much the privacy of this column counts.

    Notes
    -----
    F. Farokhi, theorem 2.6: p = ψ², ψ the ground state of −4 w ψ'' + ρ n² ψ = μ ψ with ψ = 0 at both ends, by
    finite differences. For ρ = 0 it is cos²(π n / 2 reach) / reach; far inside wide ends it is the normal
    one. I(p) = 4 ∫ ψ'².

    Examples
    --------
    >>> found = bounded_shape(0.0, 1.0)  # the variance of cos² is 1/3 − 2/π², its information π²
    >>> round(found.variance, 5), round(found.information, 4)
    (0.13069, 9.8696)
    """
    from scipy.linalg import eigh_tridiagonal

    step = 2 * reach / POINTS
    inner = -reach + step * np.arange(1, POINTS)
    diagonal = 8 * weight / step**2 + rho * inner**2
    beside = np.full(POINTS - 2, -4 * weight / step**2)
    ground = eigh_tridiagonal(diagonal, beside, select="i", select_range=(0, 0))[1][:, 0]
    ground = np.concatenate([[0.0], np.abs(ground), [0.0]])
    ground /= (step * (ground**2).sum()) ** 0.5
    points = np.concatenate([[-reach], inner, [reach]])
    density = ground**2
    chances = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)]) * step
    information = 4 * float((np.diff(ground) ** 2).sum()) / step
    variance = float((density * points**2).sum()) * step
    return Shape(variance, information, points, chances / chances[-1])
