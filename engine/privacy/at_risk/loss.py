"""The distribution of the privacy loss of one mechanism, whatever the mechanism is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.once import once
from engine.privacy.at_risk.inputs import Number, level, share
from engine.privacy.at_risk.inverse import Inverse
from engine.privacy.at_risk.lattice import Lattice

Array = arrays.Floats
NO_ATOMS: Array = np.zeros(0)


class Body(Protocol):
    """The part of a loss that is not listed atom by atom.

    ``below(x)`` is its mass at losses ≤ x under P (the data as they are); ``below_other(x)`` the same under
    Q (the neighbouring data), that is ∫ e^{−l} dP(l); ``excess(x)`` is ∫ (1 − e^{x−l})₊ dP(l), for x in the
    range of the body. All take and return arrays. Almost all of the body lies between ``low`` and ``high``.
    """

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...

    def below(self, x: Array) -> Array: ...

    def below_other(self, x: Array) -> Array: ...

    def excess(self, x: Array) -> Array: ...


@dataclass(frozen=True, eq=False)
class PrivacyLoss:
    """The privacy loss ln(P(output)/Q(output)) of worst neighbours, output drawn from P.

    Parameters
    ----------
    mechanism
        The accountant's word for it, for instance ``"discrete_laplace"``.
    losses, masses
        Atoms: values in ascending order and their probabilities under P.
    body
        The rest, or None.
    largest
        The privacy level ε0 of the mechanism, infinite for Gaussian noise.
    anchor, step
        Exact lattices: multiples of ``anchor`` hold the heavy atoms, multiples of ``step`` every value (None:
        there is no such lattice). Composition keeps them on its grid.
    envelope
        A loss that is at least as large as that of every pair, where no pair is the largest.
    lattice
        Confidences by whole numbers of steps, where the loss takes multiples of one step only. They are the
        worst case over *all* neighbours: closer ones can avoid [−ε, ε] better than the farthest.
    one_sided, two_sided
        Worst case over all neighbours where every ε has a worst pair of its own (exponential mechanism).

    Notes
    -----
    Atoms and body together have mass 1 under P and dominate every pair of neighbours for δ(ε). The
    distribution does not say what an attacker learns from other sources.

    Examples
    --------
    >>> from engine.privacy.at_risk.mechanisms import laplace
    >>> loss = laplace(epsilon0=1)
    >>> round(loss.confidence(0.6), 6), round(loss.delta(0.6), 6)
    (0.409365, 0.181269)
    """

    mechanism: str
    losses: Array
    masses: Array
    body: Body | None
    largest: float
    anchor: Fraction | None = None
    step: Fraction | None = None
    envelope: Body | None = None
    lattice: Lattice | None = field(default=None, repr=False)
    one_sided: Callable[[float], float] | None = field(default=None, repr=False)
    two_sided: Callable[[float], float] | None = field(default=None, repr=False)

    def confidence(self, epsilon: Number) -> float:
        """Return P(loss ≤ ε) for worst neighbours; 1 from ε0 on."""
        if self.lattice is not None:
            return self.lattice.confidence(epsilon)
        at = level(epsilon, name="epsilon")
        if at >= self.largest:
            return 1.0
        return self.one_sided(at) if self.one_sided else float(self.below(np.array([at]))[0])

    def confidence_two_sided(self, epsilon: Number) -> float:
        """Return P(|loss| ≤ ε) for worst neighbours; 1 from ε0 on."""
        if self.lattice is not None:
            return self.lattice.confidence(epsilon, two_sided=True)
        at = level(epsilon, name="epsilon")
        if at >= self.largest:
            return 1.0
        if self.two_sided:
            return self.two_sided(at)
        just_below = np.nextafter(-at, -math.inf)
        below = self.below(np.array([just_below, at]))
        return max(0.0, float(below[1] - below[0]))

    def confidences(self, epsilons: Array, *, two_sided: bool = False) -> Array:
        """Return the (two-sided) confidence at every ε above 0 of an array: quicker than one by one."""
        if self.lattice is not None:
            return self.lattice.confidences(epsilons, two_sided=two_sided)
        worst = self.two_sided if two_sided else self.one_sided
        if worst is not None:
            found = np.array([worst(float(e)) if e < self.largest else 1.0 for e in epsilons])
        elif two_sided:
            found = np.maximum(0.0, self.below(epsilons) - self.below(np.nextafter(-epsilons, -math.inf)))
        else:
            found = self.below(epsilons)
        return np.where(epsilons >= self.largest, 1.0, found)

    def delta(self, epsilon: Number) -> float:
        """Return the smallest δ for which the mechanism is (ε, δ)-differentially private."""
        at = level(epsilon, name="epsilon")
        if at >= self.largest:
            return 0.0
        return float(self.deltas(np.array([at]))[0])

    def below(self, x: Array) -> Array:
        """Return P(loss ≤ x) of this distribution at every x."""
        total = self._cumulative[_ranks(self.losses, x)]
        return np.minimum(1.0, total if self.body is None else total + self.body.below(x))

    def below_other(self, x: Array) -> Array:
        """Return Q(loss ≤ x) at every x: the same event under the neighbouring data."""
        total = self._cumulative_other[_ranks(self.losses, x)]
        return np.minimum(1.0, total if self.body is None else total + self.body.below_other(x))

    def worst_below(self, x: Array) -> Array:
        """Return a lower bound on P(loss ≤ x) at every x that holds for all pairs at once."""
        return self.below(x) if self.envelope is None else self.envelope.below(x)

    @once
    def _cumulative(self) -> Array:
        return np.concatenate(([0.0], np.cumsum(self.masses)))

    @once
    def _cumulative_other(self) -> Array:
        return np.concatenate(([0.0], np.cumsum(self.masses * np.exp(-self.losses))))

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest loss; for Gaussian noise all but 1e-30 of it."""
        ends = [float(self.losses[0]), float(self.losses[-1])] if self.losses.size else []
        if self.body is not None:
            ends += [self.body.low, self.body.high]
        return min(ends), max(ends)

    def deltas(self, x: Array) -> Array:
        """Return P(loss > x) − e^x Q(loss > x) at every x, also below zero."""
        above = self.losses[:, None] > x[None, :] if self.losses.size <= 64 else None
        if above is not None:
            # Few atoms: every term is positive, so small δ keep their digits.
            gaps = np.where(above, x[None, :] - self.losses[:, None], 0.0)
            total = self.masses @ -np.expm1(gaps)
        else:
            tilted = self.masses * np.exp(-self.losses)
            over = np.concatenate((np.cumsum(self.masses[::-1])[::-1], [0.0]))
            over_other = np.concatenate((np.cumsum(tilted[::-1])[::-1], [0.0]))
            ranks = _ranks(self.losses, x)
            total = over[ranks] - np.exp(x) * over_other[ranks]
        if self.body is not None:
            end = np.array([math.inf])
            # Below its range all of the body counts, above it nothing.
            whole = self.body.below(end) - np.exp(np.minimum(x, 0.0)) * self.body.below_other(end)
            inside = self.body.excess(np.clip(x, self.body.low, self.body.high))
            total = total + np.where(x < self.body.low, whole, np.where(x < self.body.high, inside, 0.0))
        return np.clip(total, 0.0, 1.0)

    def epsilon_for_confidence(self, confidence: Number, *, two_sided: bool = False) -> Inverse:
        """Return the smallest ε with at least this confidence, and whether only the atom at ε0 has it."""
        wanted = float(share(confidence, name="confidence"))
        if self.lattice is not None:
            return self.lattice.epsilon(wanted, two_sided=two_sided)
        reached = self.confidence_two_sided if two_sided else self.confidence
        smallest = 1e-9
        if reached(smallest) >= wanted:
            return Inverse(0.0, False)
        upper = self.largest * (1 - 1e-12)
        if math.isinf(upper):
            upper = 1.0
            while reached(upper) < wanted:
                upper *= 2
        elif reached(upper) < wanted:
            return Inverse(self.largest, True)
        return Inverse(_bisect(lambda x: reached(x) >= wanted, smallest, upper), False)

    def epsilon_for_delta(self, delta: Number) -> float:
        """Return the smallest ε for which the mechanism is (ε, δ)-differentially private."""
        wanted = float(share(delta, name="delta"))
        if self.deltas(np.zeros(1))[0] <= wanted:
            return 0.0
        upper = self.largest
        if math.isinf(upper):
            upper = 1.0
            while self.delta(upper) > wanted:
                upper *= 2
        return _bisect(lambda x: self.delta(x) <= wanted, 1e-12, upper)

    def expectation(self, function: Callable[[Array], Array]) -> float:
        """Return E[function(loss)] over this distribution; ``function`` takes and returns arrays."""
        total = float(self.masses @ function(self.losses)) if self.losses.size else 0.0
        if self.body is None:
            return total
        # Split at zero, where functions of |loss| have a kink.
        edges = [self.body.low, *([0.0] if self.body.low < 0 < self.body.high else []), self.body.high]
        for low, high in pairwise(edges):
            grid = np.linspace(low, high, 40_001)
            masses = np.diff(self.body.below(grid))
            # Simpson's weights of each cell, with the mass of the cell in place of its width.
            values, middles = function(grid), function((grid[1:] + grid[:-1]) / 2)
            total += float(masses @ ((values[1:] + values[:-1] + 4 * middles) / 6))
        return total


def _ranks(atoms: Array, x: Array) -> npt.NDArray[np.intp]:
    """Return how many atoms lie at or below each x; atoms that differ by rounding alone count as equal."""
    return np.searchsorted(atoms, x * (1 + np.sign(x) * 4e-15), side="right")


def _bisect(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return the smallest x in (low, high] from which on ``holds``, to 15 digits."""
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high) or high - low < 1e-15 * high:
            break
        if holds(middle):
            high = middle
        else:
            low = middle
    return high
