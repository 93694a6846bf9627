"""The parts of privacy losses that are not listed atom by atom; see `engine.privacy.at_risk.loss.Body`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from engine.privacy.at_risk.loss import Array


@dataclass(frozen=True)
class _Symmetric:
    """A body on (−ε0, ε0)."""

    high: float

    @property
    def low(self) -> float:
        return -self.high


@dataclass(frozen=True)
class Between(_Symmetric):
    """Laplace, output between the two answers: density ¼ e^{−(ε0−l)/2} on (−ε0, ε0)."""

    def below(self, x: Array) -> Array:
        at = np.clip(x, self.low, self.high)
        return np.asarray(0.5 * (np.exp((at - self.high) / 2) - math.exp(-self.high)))

    def below_other(self, x: Array) -> Array:
        at = np.clip(x, self.low, self.high)
        return np.asarray(0.5 * -np.expm1(-(self.high + at) / 2))

    def excess(self, x: Array) -> Array:
        return np.asarray(0.5 * np.expm1((x - self.high) / 2) ** 2)


@dataclass(frozen=True)
class Geometric:
    """Discrete Laplace with many atoms between −ε0 and ε0: (s − 2j) steps has mass ∝ q^j, 0 < j < D."""

    exact: Fraction
    size: int

    @property
    def high(self) -> float:
        return float(self.exact)

    @property
    def low(self) -> float:
        return -float(self.exact)

    def _first(self, x: Array) -> Array:
        """Return the smallest j in 1 … D with (D − 2j) steps ≤ x."""
        steps = x * (1 + np.sign(x) * 4e-15) / (float(self.exact) / self.size)
        return np.clip(np.ceil((self.size - steps) / 2), 1, self.size)

    def below(self, x: Array) -> Array:
        step = float(self.exact) / self.size
        at = np.exp(-step * self._first(x)) - math.exp(-float(self.exact))
        return np.asarray(at / (1 + math.exp(-step)))

    def below_other(self, x: Array) -> Array:
        # Under Q the atom j has the mass that D − j has under P.
        step = float(self.exact) / self.size
        at = math.exp(-step) - np.exp(-step * (self.size - self._first(x) + 1))
        return np.asarray(np.maximum(0.0, at) / (1 + math.exp(-step)))

    def excess(self, x: Array) -> Array:
        step, first = float(self.exact) / self.size, self._first(x)
        # Of all atoms above x, less the one at ε0, which is listed apart: both tails are geometric sums.
        tails = np.exp(-step * first) + np.exp(x - step * (self.size - first + 1))
        apart = -np.expm1(x - float(self.exact))
        return np.asarray(np.maximum(0.0, 1 - (tails + apart) / (1 + math.exp(-step))))


@dataclass(frozen=True)
class Normal:
    """Gaussian: normal with mean μ under P and −μ under Q, variance 2μ."""

    mean: float

    @property
    def low(self) -> float:
        return self.mean - 12 * math.sqrt(2 * self.mean)

    @property
    def high(self) -> float:
        return self.mean + 12 * math.sqrt(2 * self.mean)

    def below(self, x: Array) -> Array:
        from scipy.special import ndtr

        return np.asarray(ndtr((x - self.mean) / math.sqrt(2 * self.mean)))

    def below_other(self, x: Array) -> Array:
        from scipy.special import ndtr

        return np.asarray(ndtr((x + self.mean) / math.sqrt(2 * self.mean)))

    def excess(self, x: Array) -> Array:
        from scipy.special import log_ndtr

        width = math.sqrt(2 * self.mean)
        above, other = log_ndtr((self.mean - x) / width), log_ndtr(-(x + self.mean) / width)
        return np.asarray(np.exp(above) - np.exp(x + other))


@dataclass(frozen=True)
class RoundedNormal:
    """Discrete Gaussian of large scale: the normal distribution cut at half-integers of the noise."""

    width: float
    size: int

    @property
    def low(self) -> float:
        return (self.size**2 - 24 * self.size * self.width) / (2 * self.width**2)

    @property
    def high(self) -> float:
        return (self.size**2 + 24 * self.size * self.width) / (2 * self.width**2)

    def _noise(self, x: Array) -> Array:
        return np.asarray(np.floor((x * self.width**2) / self.size - self.size / 2 + 1e-9) + 0.5)

    def below(self, x: Array) -> Array:
        from scipy.special import ndtr

        return np.asarray(ndtr(self._noise(x) / self.width))

    def below_other(self, x: Array) -> Array:
        from scipy.special import ndtr

        return np.asarray(ndtr((self._noise(x) + self.size) / self.width))

    def excess(self, x: Array) -> Array:
        from scipy.special import log_ndtr

        noise = self._noise(x)
        above, other = log_ndtr(-noise / self.width), log_ndtr(-(noise + self.size) / self.width)
        return np.asarray(np.exp(above) - np.exp(x + other))


@dataclass(frozen=True)
class Bounded(_Symmetric):
    """The dominating loss of the exponential mechanism: density ∝ e^{l/2} on (−ε0, ε0)."""

    def below(self, x: Array) -> Array:
        at = np.clip(x, self.low, self.high)
        return np.asarray(1 - np.expm1((at - self.high) / 2) / math.expm1(-self.high))

    def below_other(self, x: Array) -> Array:
        at = np.clip(x, self.low, self.high)
        return np.asarray(np.expm1(-(self.high + at) / 2) / math.expm1(-self.high))

    def excess(self, x: Array) -> Array:
        return np.asarray(np.expm1((x - self.high) / 2) ** 2 / -math.expm1(-self.high))


@dataclass(frozen=True)
class Envelope:
    """The largest loss of the exponential mechanism over all pairs: P(loss ≤ x) = (e^x − 1)/(e^{ε0} − 1)."""

    high: float
    low: float = 0.0

    def below(self, x: Array) -> Array:
        at = np.clip(x, 0.0, self.high)
        return np.asarray(np.exp(at - self.high) * np.expm1(-at) / math.expm1(-self.high))

    def below_other(self, x: Array) -> Array:
        raise NotImplementedError("no pair of neighbours has this loss")

    def excess(self, x: Array) -> Array:
        raise NotImplementedError("no pair of neighbours has this loss")


@dataclass(frozen=True)
class Floor:
    """The largest loss of any pure mechanism: P(loss ≤ x) = (1 − e^{−x})/(e^{ε0} − e^{−x}) below ε0."""

    high: float
    low: float = 0.0

    def below(self, x: Array) -> Array:
        at = np.clip(x, 0.0, self.high)
        least = np.expm1(-at) * math.exp(-self.high) / np.expm1(-self.high - at)
        return np.where(x >= self.high, 1.0, least)

    def below_other(self, x: Array) -> Array:
        raise NotImplementedError("no pair of neighbours has this loss")

    def excess(self, x: Array) -> Array:
        raise NotImplementedError("no pair of neighbours has this loss")
