"""The ways to noise a sum, a mean or a proportion: for each its mechanisms, its error and its numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.methods.shared.quantity import Quantity
from engine.methods.shared.ratio import RatioError, RatioNoise, ratio_and_margin, ratio_errors, whole_errors
from engine.methods.shared.sensitivity import means_sensitivity, sum_sensitivity
from engine.privacy.accuracy import Accuracy, Floats, laplace_accuracy, sites_that_add
from engine.privacy.mechanisms import Integers, LaplaceCounts

if TYPE_CHECKING:
    from engine.privacy.noise import Noise

HALF_RANGE = 10**10  # steps of the grid of a finished mean in half the declared range
VALUE, WITHIN = "value", "within_95"
_ROOM = 2.0**62


@dataclass(frozen=True)
class Form(ABC):
    """How one request is answered.

    Parameters
    ----------
    quantity
        What is summed.
    epsilon
        The whole budget.
    rows
        Cap on the rows of one person.
    replace_one
        Whether neighbouring data sets exchange a person.
    groups
        How many groups were declared.
    """

    quantity: Quantity
    epsilon: Fraction
    rows: int
    replace_one: bool
    groups: int

    @property
    def moved(self) -> int:
        """The largest total weight, in its steps, of the rows in which neighbouring data sets differ."""
        return self.rows * (2 if self.replace_one else 1) * self.quantity.heaviest

    @property
    def grid(self) -> Fraction:
        """One step of a sum in the units of the answer."""
        return self.quantity.step * self.quantity.weight_step

    @property
    def range(self) -> float:
        """The declared range in the units of the value."""
        return float(self.quantity.reach * self.quantity.step)

    @property
    def ends(self) -> tuple[float, float]:
        """Where the answer must lie by what was declared."""
        return float(self.quantity.low * self.quantity.step), float(self.quantity.high * self.quantity.step)

    @property
    def is_clamped(self) -> bool:
        """Whether an answer beyond the ends was set to the nearest, after the noise."""
        return True

    @property
    @abstractmethod
    def parts(self) -> tuple[LaplaceCounts, ...]:
        """The mechanisms that run one after the other; their epsilons add up to the budget."""

    @abstractmethod
    def errors(self, sizes: tuple[int, ...]) -> list[tuple[float, float]]:
        """Return median and 95 % limit of the error of the answer for every size, in its units."""

    @property
    def count_error(self) -> tuple[float, float] | None:
        """Median and 95 % limit of the error of the released count, None where there is none."""
        return None

    @abstractmethod
    def numbers(self, sums: Integers, counts: Integers, noise: Noise) -> dict[str, Any]:
        """Return the released numbers of every group from its exact sum and count, both in whole steps."""

    @property
    def count_name(self) -> str:
        """What the released count counts."""
        return "count" if self.quantity.weight is None else "weight_total"


@dataclass(frozen=True)
class PlainSum(Form):
    """Σ value with noise once; the sensitivity is that of `sum_sensitivity`."""

    @property
    def is_clamped(self) -> bool:
        return False

    @property
    def parts(self) -> tuple[LaplaceCounts, ...]:
        one = sum_sensitivity(
            self.quantity.low,
            self.quantity.high,
            rows=self.rows,
            replace_one=self.replace_one,
            groups=self.groups,
        )
        return (LaplaceCounts(one * self.quantity.heaviest, self.epsilon, self.grid),)

    def errors(self, sizes: tuple[int, ...]) -> list[tuple[float, float]]:
        one, step = self.parts[0].accuracy(), float(self.grid)
        return [(one.median * step, one.limit * step)] * len(sizes)

    def numbers(self, sums: Integers, counts: Integers, noise: Noise) -> dict[str, Any]:
        step = float(self.grid)
        noisy = self.parts[0].release(sums, noise)
        return {VALUE: noisy * step, WITHIN: self.parts[0].accuracy().limit * step}


@dataclass(frozen=True)
class Ratio(Form):
    """A ratio of two noisy numbers: A/(A + B), see `engine.methods.shared.ratio`."""

    @property
    @abstractmethod
    def ratio_noise(self) -> RatioNoise:
        """The noise of A − p (A + B)."""

    def errors(self, sizes: tuple[int, ...]) -> list[tuple[float, float]]:
        weight = self.quantity.weight
        typical = (weight.low + weight.high) / 2 if weight else 1.0
        totals = tuple(max(1, round(max(size, 1) * typical)) * self.quantity.reach for size in sizes)
        return self.in_units(ratio_errors(self.ratio_noise, totals))

    def in_units(self, errors: tuple[RatioError, ...]) -> list[tuple[float, float]]:
        """Return shares of the declared range as values."""
        return [(error.median * self.range, error.limit * self.range) for error in errors]

    @property
    @abstractmethod
    def count_steps(self) -> Accuracy:
        """Accuracy of the released count in its steps."""

    @property
    def count_error(self) -> tuple[float, float]:
        step = float(self.quantity.weight_step)
        return self.count_steps.median * step, self.count_steps.limit * step

    def divided(self, above: Floats, below: Floats, counts: Integers) -> dict[str, Any]:
        """Return the released numbers from noisy ones: the division comes last."""
        ratio, margin = ratio_and_margin(above, below, self.ratio_noise)
        step, limit = self.quantity.weight_step, self.count_steps.limit
        return {
            VALUE: float(self.quantity.low * self.quantity.step) + ratio * self.range,
            WITHIN: margin * self.range,
            self.count_name: counts if step == 1 else counts * float(step),
            f"{self.count_name}_{WITHIN}": limit if step == 1 else limit * float(step),
        }


@dataclass(frozen=True)
class TwoSums(Ratio):
    """A = Σ (value − low) and B = Σ (high − value), noised as one vector.

    Notes
    -----
    A row adds at least 0 to both and exactly the range R to their sum, so that it moves the vector (A, B) by
    exactly R in L1, whatever its value: the privacy loss of a sum of centred values and of a count, each
    with a share of the budget, could not be reached by any row. (A + B)/R is the count.

    This is the K-norm mechanism for the convex hull of what a row can add.

    Source: M. Hardt and K. Talwar, "On the geometry of differential privacy", STOC 2010, section 4; that the
    hull of the differences is the norm to choose: J. Awan and A. Slavković, "Structure and sensitivity in
    differential privacy", Journal of the American Statistical Association 116 (2021), section 3.
    """

    @property
    def parts(self) -> tuple[LaplaceCounts, ...]:
        return (LaplaceCounts(self.moved * self.quantity.reach, self.epsilon, self.grid),)

    @property
    def ratio_noise(self) -> RatioNoise:
        return RatioNoise(self.parts[0].scale, sites=sites_that_add())

    @property
    def count_steps(self) -> Accuracy:
        """|rounded (X + Y)/R| ≤ L where |X + Y| < R (L + ½)."""
        two, reach = laplace_accuracy(self.parts[0].scale, count=2), self.quantity.reach
        return Accuracy(
            *(max(0, ceil(Fraction(2 * steps + 1 - reach, 2 * reach))) for steps in (two.median, two.limit))
        )

    def numbers(self, sums: Integers, counts: Integers, noise: Noise) -> dict[str, Any]:
        # Python integers: a bound far from zero times a count need not fit 64 bits
        sums, counts = sums.astype(object), counts.astype(object)
        exact = np.concatenate([sums - self.quantity.low * counts, self.quantity.high * counts - sums])
        above, below = self.parts[0].release(exact, noise).astype(np.float64).reshape(2, -1)
        # From here on only noisy numbers.
        noisy = np.clip(np.rint((above + below) / self.quantity.reach), -_ROOM, _ROOM).astype(np.int64)
        return self.divided(above, below, noisy)


@dataclass(frozen=True)
class SumAndCount(Ratio):
    """Σ (value − middle of the range) and the count, each noised with its share of the budget.

    Notes
    -----
    The published "perturb, then compose". Sensitivities: rows moved × half the range, and rows moved.
    """

    shares: tuple[Fraction, Fraction]

    @property
    def parts(self) -> tuple[LaplaceCounts, ...]:
        to_sum, to_count = (share * self.epsilon for share in self.shares)
        return (
            LaplaceCounts(self.moved * self.quantity.reach, to_sum, self.grid / 2),
            LaplaceCounts(self.moved, to_count, self.quantity.weight_step),
        )

    @property
    def ratio_noise(self) -> RatioNoise:
        return RatioNoise(self.parts[0].scale, self.parts[1].scale, self.quantity.reach, sites_that_add())

    @property
    def count_steps(self) -> Accuracy:
        return self.parts[1].accuracy()

    def numbers(self, sums: Integers, counts: Integers, noise: Noise) -> dict[str, Any]:
        centred = self.parts[0].release(self.quantity.centred(sums, counts), noise).astype(np.float64)
        noisy = self.parts[1].release(counts, noise)
        size = self.quantity.reach * np.maximum(noisy, 1).astype(np.float64)
        return self.divided((size + centred) / 2, (size - centred) / 2, noisy)


@dataclass(frozen=True)
class WholeMean(Form):
    """The finished means, rounded to 10^10 steps in half the range, noised as one vector.

    Notes
    -----
    The published "compose, then perturb", with the sensitivity of `means_sensitivity`: half the range for one
    row and one group, however large the group is, so that the noise is of the order of the range.
    """

    @property
    def mean_grid(self) -> Fraction:
        """One step of a finished mean."""
        return self.quantity.reach * self.quantity.step / (2 * HALF_RANGE)

    @property
    def parts(self) -> tuple[LaplaceCounts, ...]:
        sensitivity = means_sensitivity(
            half_range=HALF_RANGE,
            groups=self.groups,
            rows=self.rows,
            replace_one=self.replace_one,
            weighted=self.quantity.weight is not None,
        )
        return (LaplaceCounts(sensitivity, self.epsilon, self.mean_grid),)

    def errors(self, sizes: tuple[int, ...]) -> list[tuple[float, float]]:
        error = whole_errors(self.parts[0].scale, reach=2 * HALF_RANGE)
        return [(error.median * self.range, error.limit * self.range)] * len(sizes)

    def numbers(self, sums: Integers, counts: Integers, noise: Noise) -> dict[str, Any]:
        finished = finished_means(sums, counts, low=self.quantity.low, reach=self.quantity.reach)
        noisy = self.parts[0].release(finished, noise)
        low, high = self.ends
        step = float(self.mean_grid)
        within = min(self.parts[0].accuracy().limit * step, self.range)
        return {VALUE: np.clip(low + noisy * step, low, high), WITHIN: within}


@dataclass(frozen=True)
class DeclaredNumber(Form):
    """Σ (value − middle) with noise once, over a number of rows that everybody knows; for one group.

    Notes
    -----
    Exchanging a row moves the centred sum by at most the range. The number only divides, after the noise: a
    wrong one spoils the answer and not the privacy. A row without a value adds 0, as if it had the middle.
    """

    number: int
    is_sum: bool

    @property
    def ends(self) -> tuple[float, float]:
        low, high = super().ends
        return (low * self.number, high * self.number) if self.is_sum else (low, high)

    @property
    def parts(self) -> tuple[LaplaceCounts, ...]:
        return (LaplaceCounts(self.moved * self.quantity.reach, self.epsilon, self.grid / 2),)

    def errors(self, sizes: tuple[int, ...]) -> list[tuple[float, float]]:
        error = whole_errors(self.parts[0].scale, reach=2 * self.quantity.reach * self.number)
        low, high = self.ends
        return [(error.median * (high - low), error.limit * (high - low))] * len(sizes)

    def numbers(self, sums: Integers, counts: Integers, noise: Noise) -> dict[str, Any]:
        noisy = self.parts[0].release(self.quantity.centred(sums, counts), noise)
        low, high = self.ends
        step = float(self.grid / 2 if self.is_sum else self.grid / (2 * self.number))
        within = min(self.parts[0].accuracy().limit * step, high - low)
        return {VALUE: np.clip((low + high) / 2 + noisy * step, low, high), WITHIN: within}


def finished_means(sums: Integers, counts: Integers, *, low: int, reach: int) -> Integers:
    """Return the exact means rounded to the grid 0 … 2 · HALF_RANGE; an empty group is in the middle.

    Examples
    --------
    >>> finished_means(np.array([3, 0]), np.array([2, 0]), low=1, reach=2).tolist()
    [5000000000, 10000000000]
    """
    found = np.full(len(counts), HALF_RANGE, dtype=np.int64)
    for place in np.flatnonzero(counts):
        above, count = int(sums[place]) - low * int(counts[place]), int(counts[place])
        # round(2N · above / (reach · count)), halves up, in integers
        found[place] = (4 * HALF_RANGE * above + reach * count) // (2 * reach * count)
    return found
