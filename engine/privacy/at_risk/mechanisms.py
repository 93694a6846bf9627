"""The privacy loss of every mechanism that the engine runs, from its declared noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from engine.errors import InputRefused
from engine.privacy.at_risk import discrete_laplace as _discrete_laplace
from engine.privacy.at_risk import laplace as _laplace
from engine.privacy.at_risk.inputs import Number, positive, share, whole
from engine.privacy.at_risk.lattice import MOST_RISES, Lattice
from engine.privacy.at_risk.loss import NO_ATOMS, Array, PrivacyLoss

MECHANISMS = (
    "laplace",
    "discrete_laplace",
    "gaussian",
    "discrete_gaussian",
    "randomised_response",
    "exponential",
    "permute_and_flip",
)
LISTED_ATOMS = 20_000
"""Up to so many values a loss is listed atom by atom; above, its closed form is used."""


def loss_of(mechanism: str, *, scale: Number, sensitivity: Number, monotone: bool = False) -> PrivacyLoss:
    """Return the privacy loss of a mechanism by the words of the accountant.

    Parameters
    ----------
    mechanism
        One of `MECHANISMS`.
    scale
        Laplace (both): scale of the noise; Gaussian (both): standard deviation; exponential: s in
        P(i) ∝ e^{score_i / s}; randomised response: probability of the true answer.
    sensitivity
        In the units of the noise; for randomised response the number of possible answers.
    monotone
        Exponential mechanism only: adding a person never lowers a score.

    Raises
    ------
    InputRefused
        ``at_risk.unknown_mechanism``, or a number that cannot be used.

    Examples
    --------
    >>> round(loss_of("laplace", scale=1, sensitivity=1).confidence(0.6), 6)
    0.409365
    """
    width = positive(scale, name="scale", largest=10**30)
    if mechanism == "laplace":
        return laplace(epsilon0=positive(sensitivity, name="sensitivity", largest=10**30) / width)
    if mechanism == "discrete_laplace":
        size = whole(sensitivity, name="sensitivity")
        return discrete_laplace(epsilon0=Fraction(size) / width, sensitivity=size)
    if mechanism == "gaussian":
        return gaussian(scale=width, sensitivity=sensitivity)
    if mechanism == "discrete_gaussian":
        return discrete_gaussian(scale=width, sensitivity=whole(sensitivity, name="sensitivity"))
    if mechanism == "randomised_response":
        return randomised_response(
            truth=share(width, name="scale"), answers=whole(sensitivity, name="sensitivity")
        )
    if mechanism == "exponential":
        change = positive(sensitivity, name="sensitivity", largest=10**30)
        return exponential(epsilon0=change / width * (1 if monotone else 2))
    if mechanism == "permute_and_flip":
        change = positive(sensitivity, name="sensitivity", largest=10**30)
        return permute_and_flip(epsilon0=2 * change / width)
    raise InputRefused("at_risk.unknown_mechanism", found=mechanism, expected=", ".join(MECHANISMS))


def laplace(*, epsilon0: Number) -> PrivacyLoss:
    """Return the loss of the continuous Laplace mechanism: ½ at ε0, ½ e^{−ε0} at −ε0, the rest between.

    Examples
    --------
    >>> round(laplace(epsilon0=1).confidence_two_sided(0.6), 6)
    0.184701
    """
    exact = positive(epsilon0, name="epsilon0")
    full = float(exact)
    return PrivacyLoss(
        "laplace",
        np.array([-full, full]),
        np.array([0.5 * math.exp(-full), 0.5]),
        Between(full),
        full,
        anchor=exact,
        # ½ (e^{−(ε0−ε)/2} − e^{−(ε0+ε)/2}), written so that no digit is lost for small ε.
        two_sided=lambda x: -0.5 * math.exp((x - full) / 2) * math.expm1(-x),
    )


def discrete_laplace(*, epsilon0: Number, sensitivity: int = 1) -> PrivacyLoss:
    """Return the loss of the discrete Laplace mechanism with integer sensitivity D and scale D/ε0.

    Examples
    --------
    >>> round(discrete_laplace(epsilon0=1).confidence(0.6), 6)
    0.268941
    """
    exact, size = positive(epsilon0, name="epsilon0"), whole(sensitivity, name="sensitivity")
    full, step = float(exact), float(exact) / size
    q = math.exp(-step)
    ends = np.array([math.exp(-full) / (1 + q), 1 / (1 + q)])
    losses, masses, body = np.array([-full, full]), ends, None
    if 1 < size <= LISTED_ATOMS:
        inner = np.arange(1.0, size)[::-1]
        losses = np.concatenate(([-full], (size - 2 * inner) * step, [full]))
        masses = np.concatenate((ends[:1], -math.expm1(-step) / (1 + q) * np.exp(-step * inner), ends[1:]))
    elif size > LISTED_ATOMS:
        body = Geometric(exact, size)
    return PrivacyLoss(
        "discrete_laplace",
        losses,
        masses,
        body,
        full,
        anchor=exact,
        step=exact / size,
        lattice=_discrete_laplace.lattice(exact, size),
    )


def gaussian(*, scale: Number, sensitivity: Number = 1) -> PrivacyLoss:
    """Return the loss of the Gaussian mechanism: normal with mean μ = Δ²/2σ² and variance 2μ.

    Examples
    --------
    >>> loss = gaussian(scale=1)
    >>> round(loss.confidence(0.5), 6), round(loss.delta(1), 6)
    (0.5, 0.126937)
    """
    ratio = positive(sensitivity, name="sensitivity", largest=10**30) / positive(
        scale, name="scale", largest=10**30
    )
    return PrivacyLoss("gaussian", NO_ATOMS, NO_ATOMS, Normal(float(ratio) ** 2 / 2), math.inf)


def discrete_gaussian(*, scale: Number, sensitivity: int = 1) -> PrivacyLoss:
    """Return the loss of the discrete Gaussian mechanism for a change of D steps in one output.

    Notes
    -----
    Noise P(z) ∝ e^{−z²/2σ²} on the integers; the loss is (D² + 2Dz)/2σ². A change that spreads over several
    outputs has a finer lattice and is not covered by this worst case; account for each output on its own, or
    with the continuous form.

    Examples
    --------
    >>> round(discrete_gaussian(scale=3).confidence(0.5), 6)
    0.934094
    """
    width, size = positive(scale, name="scale", largest=10**12), whole(sensitivity, name="sensitivity")
    variance = width**2
    from scipy.special import ndtr

    if width > LISTED_ATOMS // 25:
        # Sum and integral of the density between half-integers differ by less than 1/(24 σ²) < 1e-7.
        body = RoundedNormal(float(width), size)
        steps = _gaussian_lattice(variance, size, lambda z: np.asarray(ndtr((z + 0.5) / float(width))))
        return PrivacyLoss("discrete_gaussian", NO_ATOMS, NO_ATOMS, body, math.inf, lattice=steps)
    noise, probabilities = _discrete_normal(float(width))
    losses = (size**2 + 2 * size * noise) / float(2 * variance)
    sums = np.concatenate(([0.0], np.cumsum(probabilities)))

    def below(z: Array) -> Array:
        return sums[np.clip(z - noise[0] + 1, 0, noise.size).astype(np.intp)]

    return PrivacyLoss(
        "discrete_gaussian",
        losses,
        probabilities,
        None,
        math.inf,
        step=Fraction(size * math.gcd(size, 2)) / (2 * variance),
        lattice=_gaussian_lattice(variance, size, below),
    )


def randomised_response(*, truth: Number, answers: int = 2) -> PrivacyLoss:
    """Return the loss of randomised response: the true answer with a probability, else one of the others.

    Parameters
    ----------
    truth
        Probability of the true answer, above 1/answers.
    answers
        How many answers are possible, at least 2.

    Examples
    --------
    >>> round(randomised_response(truth=0.75).largest, 6)
    1.098612
    """
    p, count = share(truth, name="truth"), whole(answers, name="answers")
    if count < 2 or p * count <= 1:
        raise InputRefused("at_risk.no_response", truth=float(p), answers=count)
    other = (1 - p) / (count - 1)
    full = math.log(p / other)
    return _response(Fraction(full), float(p), float(other), count)


def randomised_response_at(*, epsilon0: Number, answers: int = 2) -> PrivacyLoss:
    """Return the loss of randomised response whose privacy level is ε0.

    Examples
    --------
    >>> round(randomised_response_at(epsilon0=1, answers=2).confidence(0.5), 6)
    0.268941
    """
    exact, count = positive(epsilon0, name="epsilon0", largest=700), whole(answers, name="answers")
    if count < 2:
        raise InputRefused("at_risk.no_response", truth=1.0, answers=count)
    full = float(exact)
    other = math.exp(-full) / (1 + (count - 1) * math.exp(-full))
    loss = _response(exact, 1 / (1 + (count - 1) * math.exp(-full)), other, count)
    return replace(loss, anchor=exact, step=exact)


def exponential(*, epsilon0: Number) -> PrivacyLoss:
    """Return the loss of the exponential mechanism (choice by score) of privacy level ε0.

    Notes
    -----
    All losses of one pair of neighbours lie in an interval of length ε0, from t − ε0 to t. The worst pair
    depends on the question: for P(loss ≤ ε) it has t just above ε, so the exact confidence is the infimum
    (e^ε − 1)/(e^{ε0} − 1); two-sided it is 0 below ε0/2. For δ(ε) it has t = (ε0 + ε)/2, which gives
    δ = (1 − e^{(ε−ε0)/2})² / (1 − e^{−ε0}); the distribution kept here is the one with exactly that δ at
    every ε, so it dominates every pair and may be composed.

    Source: Dong, Durfee and Rogers, "Optimal differential privacy composition for exponential mechanisms",
    ICML 2020 (bounded range).

    Examples
    --------
    >>> round(exponential(epsilon0=1).confidence(0.6), 6), round(exponential(epsilon0=1).delta(0.6), 6)
    (0.478454, 0.051981)
    """
    exact = positive(epsilon0, name="epsilon0", largest=700)
    full = float(exact)

    def one_sided(x: float) -> float:
        return math.exp(x - full) * math.expm1(-x) / math.expm1(-full)

    return PrivacyLoss(
        "exponential",
        NO_ATOMS,
        NO_ATOMS,
        Bounded(full),
        full,
        envelope=Envelope(full),
        one_sided=one_sided,
        two_sided=lambda x: one_sided(x) if 2 * x >= full else 0.0,
    )


def permute_and_flip(*, epsilon0: Number) -> PrivacyLoss:
    """Return a loss that no choice by permute-and-flip of privacy level ε0 exceeds.

    Notes
    -----
    Losses of one pair of neighbours may lie anywhere in [−ε0, ε0] (unlike those of the exponential
    mechanism), and the worst pairs are not known: what holds for every ε0-differentially private mechanism
    is given.
    P(loss ≤ ε) ≥ (1 − e^{−ε})/(e^{ε0} − e^{−ε}), see `engine.privacy.at_risk.laplace.floor`; two-sided 0. For
    δ(ε) randomised response with two answers dominates every such mechanism.

    Source: Kairouz, Oh and Viswanath, "The composition theorem for differential privacy", ICML 2015,
    theorem 3.1 (randomised response dominates).

    Examples
    --------
    >>> loss = permute_and_flip(epsilon0=1)
    >>> round(loss.confidence(0.6), 6), round(loss.delta(0.6), 6)
    (0.207972, 0.241015)
    """
    full = float(positive(epsilon0, name="epsilon0", largest=700))
    share = 1 / (1 + math.exp(-full))
    return PrivacyLoss(
        "permute_and_flip",
        np.array([-full, full]),
        np.array([1 - share, share]),
        None,
        full,
        envelope=Floor(full),
        one_sided=lambda x: _laplace.floor(x, epsilon0=full),
        two_sided=lambda x: 0.0,
    )


def staircase(*, epsilon0: Number, sensitivity: int, plateau: int) -> PrivacyLoss:
    """Return the loss of the discrete staircase mechanism of privacy level ε0.

    Parameters
    ----------
    sensitivity, plateau
        Δ and r of `engine.privacy.noise.Noise.staircase`.

    Notes
    -----
    Two numbers that lie at most Δ apart are one stair apart at most, so that the loss is −ε0, 0 or ε0. It is
    ε0 with probability t/(1 − e^−ε0), t the total variation between the answers. t grows with their distance,
    as probabilities fall from 0 to both sides, and is P(−Δ/2 < Z < Δ/2) at distance Δ, with one end for an
    even Δ.

    Examples
    --------
    >>> loss = staircase(epsilon0=1, sensitivity=10, plateau=4)
    >>> round(loss.confidence(0.6), 6), round(loss.delta(0.6), 6)
    (0.312227, 0.226745)
    """
    exact, size = positive(epsilon0, name="epsilon0", largest=700), whole(sensitivity, name="sensitivity")
    first = whole(plateau, name="plateau", largest=size)
    full = float(exact)
    b = math.exp(-full)
    half = size // 2

    def weight(reach: int) -> float:
        """Weigh all magnitudes up to one below Δ."""
        return 1 + 2 * (min(reach, first - 1) + b * max(0, reach - first + 1)) if reach >= 0 else 0.0

    between = weight(half) if size % 2 else (weight(half) + weight(half - 1)) / 2
    above = between / (2 * (first + size / math.expm1(full)) - 1) / -math.expm1(-full)
    middle = max(0.0, 1 - above * (1 + b))
    lattice = Lattice(
        exact,
        1,
        lambda steps: np.full(steps.shape, 1 - above),
        lambda steps: np.full(steps.shape, middle),
        lambda two_sided: NO_ATOMS,
    )
    return PrivacyLoss(
        "staircase",
        np.array([-full, 0.0, full]),
        np.array([above * b, middle, above]),
        None,
        full,
        anchor=exact,
        step=exact,
        lattice=lattice,
    )


def _response(exact: Fraction, p: float, other: float, count: int) -> PrivacyLoss:
    full, middle = float(exact), (count - 2) * other
    losses = np.array([-full, 0.0, full]) if count > 2 else np.array([-full, full])
    masses = np.array([other, middle, p]) if count > 2 else np.array([other, p])
    lattice = Lattice(
        exact,
        1,
        lambda steps: np.full(steps.shape, 1 - p),
        lambda steps: np.full(steps.shape, middle),
        lambda two_sided: NO_ATOMS,
    )
    return PrivacyLoss("randomised_response", losses, masses, None, full, lattice=lattice)


@lru_cache(maxsize=32)
def _discrete_normal(width: float) -> tuple[Array, Array]:
    """Return the integers that carry all but 1e-30 of the noise, and their probabilities."""
    reach = math.ceil(12 * width) + 1
    noise = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-(noise**2) / (2 * width**2))
    return noise, weights / weights.sum()


def _gaussian_lattice(variance: Fraction, size: int, below: Callable[[Array], Array]) -> Lattice:
    """Return the confidences of discrete Gaussian noise; ``below(z)`` is the probability of at most z.

    Between answers s apart the loss is (s² + 2sz)/2σ²: with 1/2σ² as the step, whole numbers throughout.
    """

    def one_sided(steps: Array) -> Array:
        return below(np.floor((steps - size**2) / (2 * size)))

    def two_sided(steps: Array) -> Array:
        return np.array([_avoid(float(m), below, size) for m in steps])

    def rises(two: bool) -> Array | None:
        # All but 1e-30 of the noise is below twelve standard deviations.
        most = math.ceil(12 * math.sqrt(variance))
        if two:
            reach = size**2 + 2 * size * most
            return np.arange(1.0, reach + 1) if reach <= MOST_RISES else None
        if most > MOST_RISES:
            return None
        found: Array = size**2 + 2.0 * size * np.arange(-((size + 1) // 2), most + 1, dtype=np.float64)
        return found[found > 0]

    return Lattice(1 / (2 * variance), None, one_sided, two_sided, rises)


def _avoid(steps: float, below: Callable[[Array], Array], size: int) -> float:
    """Return the least P(|loss| ≤ steps/2σ²) over all changes of 1 … D (the 4,096 farthest of them)."""
    changes = np.arange(max(1, size - 4095), size + 1, dtype=np.float64)
    # |s² + 2sz| ≤ steps, solved for the noise z.
    first = np.ceil((-steps - changes**2) / (2 * changes))
    last = np.floor((steps - changes**2) / (2 * changes))
    return max(0.0, float((below(last) - below(np.minimum(first - 1, last))).min()))


# --- parts of privacy losses that are not listed atom by atom --------------------------------------------
# See `engine.privacy.at_risk.loss.Body`.


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
