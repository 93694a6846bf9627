"""Mechanisms of the literature that no survey of this program uses, to put beside those that it does.

Each is given by its channel, so that what it tells can be worked out cell by cell, and by n times the
variance of what is estimated. None of them draws anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from math import comb, exp

import numpy as np

from engine import arrays
from engine.privacy.channels.channel import Channel
from engine.privacy.channels.choosing import Chosen, best_geometry, for_choice, for_mean, for_number
from engine.privacy.channels.geometry import Geometry
from engine.privacy.channels.sets import Sets

Array = arrays.Anything
Support = tuple[float, float]
"""p and q: how often a report supports a true answer, and any other one."""


@dataclass(frozen=True)
class Specimen:
    """One mechanism.

    Parameters
    ----------
    word
        Its name in ``analyses.local_mechanisms.names``.
    variance
        From size and ε to n times the variance of one estimate.
    matrix
        From size and ε to the probabilities of outcomes, a row each true answer; None where they are no list.
    largest
        Up to which size the channel is looked at.
    bits
        From size and ε to the length of a report.
    taken
        Whether surveys use it.
    """

    word: str
    variance: Callable[[int, float], float]
    matrix: Callable[[int, float], Array] | None = None
    largest: int = 6
    bits: Callable[[int, float], float] | None = None
    taken: bool = False

    def told(self, size: int, epsilon: float) -> float | None:
        """Return the ε of the channel itself, counted over its cells; None where it has no list of them."""
        if self.matrix is None:
            return None
        return largest_log_ratio(self.matrix(min(size, self.largest), epsilon))


def largest_log_ratio(matrix: Array) -> float:
    """Return the largest logarithm of the ratio of two cells of one column; infinite where only one is 0.

    Examples
    --------
    >>> round(largest_log_ratio(np.array([[0.75, 0.25], [0.25, 0.75]])), 4)
    1.0986
    """
    came = matrix[:, matrix.max(axis=0) > 0]
    if (came <= 0).any():
        return math.inf
    return float(np.log(came.max(axis=0) / came.min(axis=0)).max())


# --- choices ---------------------------------------------------------------------------------------


def _supported(support: Callable[[int, float], Support]) -> Callable[[int, float], float]:
    """Return n times the variance of one share, where all answers are alike common."""

    def variance(k: int, epsilon: float) -> float:
        p, q = support(k, epsilon)
        named = q + (p - q) / k
        return named * (1 - named) / (p - q) ** 2

    return variance


def direct(k: int, epsilon: float) -> Support:
    """Randomised response: Kairouz, Oh and Viswanath (2016)."""
    return exp(epsilon) / (exp(epsilon) + k - 1), 1 / (exp(epsilon) + k - 1)


def symmetric_unary(k: int, epsilon: float) -> Support:
    """Every bit is turned round alike: Erlingsson, Pihur and Korolova (2014), basic one-time RAPPOR."""
    p = exp(epsilon / 2) / (exp(epsilon / 2) + 1)
    return p, 1 - p


def optimal_unary(k: int, epsilon: float) -> Support:
    """Zeros are kept better than the one: Wang et al. (2017), section 4.3."""
    return 0.5, 1 / (exp(epsilon) + 1)


def thresholding(k: int, epsilon: float) -> Support:
    """A bit with Laplace noise, told above the best threshold: Wang et al. (2017), section 4.2."""

    def at(threshold: float) -> Support:
        return 1 - exp(epsilon / 2 * (threshold - 1)) / 2, exp(-epsilon / 2 * threshold) / 2

    def variance(pair: Support) -> float:
        return pair[1] * (1 - pair[1]) / (pair[0] - pair[1]) ** 2

    return min((at(one) for one in np.linspace(0.5, 1, 501)), key=variance)


def hashing(k: int, epsilon: float) -> Support:
    """An answer is hashed to about e^ε + 1 values, one of which is told: Wang et al. (2017), section 4.4."""
    g = _hashed_to(epsilon)
    return exp(epsilon) / (exp(epsilon) + g - 1), 1 / g


def _hashed_to(epsilon: float) -> int:
    """Return the better of the two whole numbers next to e^ε + 1."""

    def variance(g: int) -> float:
        p, q = exp(epsilon) / (exp(epsilon) + g - 1), 1 / g
        return q * (1 - q) / (p - q) ** 2

    return min((max(2, math.floor(exp(epsilon) + 1)), math.ceil(exp(epsilon) + 1)), key=variance)


def hadamard(k: int, epsilon: float) -> Support:
    """Half of the columns fit: Acharya, Sun and Zhang (2019), section 4."""
    return exp(epsilon) / (exp(epsilon) + 1), 0.5


def _summation(k: int, epsilon: float) -> float:
    """Every bit gets Laplace noise of scale 2/ε: Wang et al. (2017), section 4.2."""
    return 8 / epsilon**2 + (1 - 1 / k) / k


def _exactly(epsilon: float) -> Fraction:
    return Fraction(epsilon).limit_denominator(1000)


def _geometry(k: int, epsilon: float) -> Geometry:
    return best_geometry(k, _exactly(epsilon))


def _take(k: int, epsilon: float) -> Support:
    channel = for_choice(k, _exactly(epsilon)).channel
    assert isinstance(channel, Sets | Geometry)
    return float(channel.shares().own), float(channel.shares().other)


def _near(k: int, epsilon: float) -> Support:
    shares = _geometry(k, epsilon).shares()
    return float(shares.own), float(shares.other)


def _direct_matrix(k: int, epsilon: float) -> Array:
    p, q = direct(k, epsilon)
    return np.full((k, k), q) + (p - q) * np.eye(k)


def _unary_matrix(support: Callable[[int, float], Support], k: int, epsilon: float) -> Array:
    """Return the channel of a report of one bit for each answer."""
    p, q = support(k, epsilon)
    bits = np.array(list(product((0, 1), repeat=k)))
    found = []
    for truth in range(k):
        chances = np.full(k, q)
        chances[truth] = p
        found.append(np.where(bits == 1, chances, 1 - chances).prod(axis=1))
    return np.array(found)


def _hashing_matrix(k: int, epsilon: float) -> Array:
    """Return the channel where every function to g values is as likely, and told with the value."""
    g = _hashed_to(epsilon)
    functions = np.array(list(product(range(g), repeat=k)))
    p, other = exp(epsilon) / (exp(epsilon) + g - 1), 1 / (exp(epsilon) + g - 1)
    cells = [np.where(functions == value, p, other).T / len(functions) for value in range(g)]
    return np.concatenate(cells, axis=1)


def _hadamard_matrix(k: int, epsilon: float) -> Array:
    size = 2 ** math.ceil(math.log2(k + 1))
    rows, columns = range(1, k + 1), range(size)
    signs = np.array([[(-1) ** (row & column).bit_count() for column in columns] for row in rows])
    p = exp(epsilon) / (exp(epsilon) + 1)
    return np.where(signs == 1, p, 1 - p) * 2 / size


def _own_matrix(k: int, epsilon: float, near: bool = False) -> Array:
    channel: Channel = _geometry(k, epsilon) if near else for_choice(k, _exactly(epsilon)).channel
    outcomes = list(channel.outcomes())
    return np.array([[float(channel.chance(truth, one)) for one in outcomes] for truth in channel.truths()])


def _set_bits(k: int, epsilon: float) -> float:
    channel = for_choice(k, _exactly(epsilon)).channel
    return math.log2(channel.marked + channel.unmarked)


def _point_bits(k: int, epsilon: float) -> float:
    return math.log2(_geometry(k, epsilon).points)


CHOICES = (
    Specimen("set", _supported(_take), _own_matrix, bits=_set_bits, taken=True),
    Specimen("geometry", _supported(_near), partial(_own_matrix, near=True), bits=_point_bits, taken=True),
    Specimen("direct", _supported(direct), _direct_matrix, bits=lambda k, e: math.log2(k)),
    *(
        Specimen(word, _supported(support), partial(_unary_matrix, support), bits=lambda k, e: k)
        for word, support in (
            ("symmetric_unary", symmetric_unary),
            ("optimal_unary", optimal_unary),
            ("thresholding", thresholding),
        )
    ),
    Specimen("summation", _summation, bits=lambda k, e: 64 * k),
    Specimen("hashing", _supported(hashing), _hashing_matrix, 3, lambda k, e: 64 + math.log2(_hashed_to(e))),
    Specimen(
        "hadamard", _supported(hadamard), _hadamard_matrix, bits=lambda k, e: math.ceil(math.log2(k + 1))
    ),
)

# --- one number of −1 … 1 --------------------------------------------------------------------------

LEVELS = 21
"""So many values between −1 and 1 are looked at."""


def slope(epsilon: float) -> float:
    """Return (e^ε + 1)/(e^ε − 1), what one bit is multiplied by."""
    return (exp(epsilon) + 1) / (exp(epsilon) - 1)


def _laplace(_: int, epsilon: float) -> float:
    return 8 / epsilon**2


def _one_bit(_: int, epsilon: float) -> float:
    return slope(epsilon) ** 2


def piecewise_at(x: float, epsilon: float) -> float:
    """Return the variance of the piecewise mechanism at a value: Wang et al. (2019), lemma 1."""
    half = exp(epsilon / 2)
    return x**2 / (half - 1) + (half + 3) / (3 * (half - 1) ** 2)


def piecewise_density(x: float, t: Array, epsilon: float) -> Array:
    """Return its density at points between −C and C, C = (e^(ε/2) + 1)/(e^(ε/2) − 1): algorithm 2."""
    half = exp(epsilon / 2)
    edge = (half + 1) / (half - 1)
    left = (edge + 1) / 2 * x - (edge - 1) / 2
    high = half * (half - 1) / (2 * (half + 1))
    inside = (t >= left) & (t <= left + edge - 1)
    return np.where(inside, high, high / exp(epsilon)) * (np.abs(t) <= edge)


def hybrid_at(x: float, epsilon: float) -> float:
    """Return the variance of the hybrid of both: Wang et al. (2019), section 3.3."""
    part = 1 - exp(-epsilon / 2) if epsilon > 0.61 else 0.0
    return part * piecewise_at(x, epsilon) + (1 - part) * (slope(epsilon) ** 2 - x**2)


def _wave(_: int, epsilon: float) -> float:
    return for_number(100, _exactly(epsilon)).risk


def _mean(_: int, epsilon: float) -> float:
    return for_mean(100, _exactly(epsilon)).risk


def _number_matrix(epsilon: float, of: Callable[[int, Fraction], Chosen]) -> Array:
    channel = of(LEVELS, _exactly(epsilon)).channel
    outcomes = list(channel.outcomes())
    return np.array([[float(channel.chance(truth, one)) for one in outcomes] for truth in channel.truths()])


def _bit_matrix(_: int, epsilon: float) -> Array:
    high = (1 + np.linspace(-1, 1, LEVELS) / slope(epsilon)) / 2
    return np.stack((high, 1 - high), axis=1)


def _piecewise_matrix(_: int, epsilon: float) -> Array:
    edge = (exp(epsilon / 2) + 1) / (exp(epsilon / 2) - 1)
    points = np.linspace(-edge, edge, 401)
    return np.array([piecewise_density(x, points, epsilon) for x in np.linspace(-1, 1, LEVELS)])


def _hybrid_matrix(_: int, epsilon: float) -> Array:
    # Which of the two was drawn shows: both have to keep ε
    return np.concatenate((_piecewise_matrix(0, epsilon), _bit_matrix(0, epsilon)), axis=1)


NUMBERS = (
    Specimen("wave", _wave, lambda _, e: _number_matrix(e, for_number), taken=True),
    Specimen("mean", _mean, lambda _, e: _number_matrix(e, for_mean), taken=True),
    Specimen("laplace", _laplace),
    Specimen("one_bit", _one_bit, _bit_matrix),
    Specimen("piecewise", lambda _, e: max(piecewise_at(x, e) for x in (0, 1)), _piecewise_matrix),
    Specimen("hybrid", lambda _, e: max(hybrid_at(x, e) for x in (0, 1)), _hybrid_matrix),
)

# --- many numbers at once --------------------------------------------------------------------------


def signs_slope(d: int) -> float:
    """Return by how much signs are stretched: 2^(d−1)/C(d−1, ⌊d/2⌋), ties shared by lot."""
    return 2 ** (d - 1) / comb(d - 1, d // 2)


def _signs_matrix(d: int, epsilon: float, *, ties: str = "shared") -> Array:
    """Return the channel of the signs of all numbers: a row each corner, a column each told vector of signs.

    ``ties``, of vectors that stand upright on the true one: shared by both halves, which is right; in both,
    each of which is drawn from as a whole; or all in the half that does not fit. The last two are printed.
    """
    corners = np.array(list(product((-1, 1), repeat=d)))
    products = corners @ corners.T
    fit = products > 0
    p = exp(epsilon) / (exp(epsilon) + 1)
    if ties == "shared":
        return np.where(products == 0, 0.5, np.where(fit, p, 1 - p)) / 2 ** (d - 1)
    if ties == "both":
        half = (products >= 0).sum(axis=1, keepdims=True)
        return (np.where(products >= 0, p, 0) + np.where(products <= 0, 1 - p, 0)) / half
    inside = fit.sum(axis=1, keepdims=True)
    return np.where(fit, p / inside, (1 - p) / (2**d - inside))


MANY = (
    Specimen(
        "drawn_mean", lambda d, e: d * _mean(0, e), lambda _, e: _number_matrix(e, for_mean), taken=True
    ),
    Specimen("split_mean", lambda d, e: _mean(0, e / d), taken=True),
    Specimen("one_bit_sampling", lambda d, e: d * slope(e) ** 2, _bit_matrix),
    Specimen("signs", lambda d, e: (signs_slope(d) * slope(e)) ** 2, _signs_matrix),
    Specimen("drawn_piecewise", lambda d, e: d * max(piecewise_at(x, e) for x in (0, 1)), _piecewise_matrix),
    Specimen("drawn_hybrid", lambda d, e: d * max(hybrid_at(x, e) for x in (0, 1)), _hybrid_matrix),
    Specimen("split_laplace", lambda d, e: 8 * d**2 / e**2),
)

# --- forms in print that do not keep what they state -----------------------------------------------

TRUTH = 0.2
"""A share, or a number, of which is said what is estimated of it."""


@dataclass(frozen=True)
class Printed:
    """A form as it is printed.

    Parameters
    ----------
    word
        Its name in ``analyses.local_mechanisms.names``.
    matrix
        From ε to the probabilities of outcomes; None where these are right: only estimates are not.
    estimated
        From ε to what the printed estimate says of `TRUTH`, on average; None where others decide it.
    """

    word: str
    matrix: Callable[[float], Array] | None = None
    estimated: Callable[[float], float] | None = None

    def told(self, epsilon: float) -> float:
        """Return the ε of the form itself: infinite where an outcome rules a true answer out."""
        return epsilon if self.matrix is None else largest_log_ratio(self.matrix(epsilon))


def _two_coins(epsilon: float) -> Array:
    """The first coin says true, the second yes, both with probability p; ln(p/(1 − p)) is stated."""
    p = exp(epsilon) / (exp(epsilon) + 1)
    yes = p + (1 - p) * p
    return np.array([[yes, 1 - yes], [(1 - p) * p, 1 - (1 - p) * p]])


def _shifted_direct(epsilon: float, *, k: int = 4) -> Array:
    """Another answer is one of the next k − 1, counted from the true one: the one before is never given."""
    p, q = direct(k, epsilon)
    steps = np.array([p + q, *[q] * (k - 2), 0.0])
    return np.array([np.roll(steps, answer) for answer in range(k)])


def printed_signs_slope(d: int) -> float:
    """Return by how much signs of an even number of numbers are stretched in print."""
    return (2 ** (d - 1) + comb(d, d // 2) / 2) / comb(d - 1, d // 2)


def _signs_estimate(epsilon: float, *, d: int = 2, ties: str) -> float:
    """Return what signs as printed say of `TRUTH`: the mean of the first sign at a corner, stretched."""
    corners = np.array(list(product((-1, 1), repeat=d)))
    mean = (_signs_matrix(d, epsilon, ties=ties) @ corners)[-1, 0]
    return float(TRUTH * mean * printed_signs_slope(d) * slope(epsilon))


def printed_piecewise_density(x: float, t: Array, epsilon: float) -> Array:
    """Return the density of a piecewise form that takes each tail half of the times, however long it is."""
    half = exp(epsilon / 2)
    edge = (half + 1) / (half - 1)
    left = (edge + 1) / 2 * x - (edge - 1) / 2
    right = left + edge - 1
    with np.errstate(divide="ignore"):
        tails = [1 / (2 * (half + 1)) / np.float64(length) for length in (left + edge, edge - right)]
    inside = half / (half + 1) / (edge - 1)
    return np.where(t < left, tails[0], np.where(t < right, inside, tails[1]))


def _printed_piecewise(epsilon: float) -> Array:
    edge = (exp(epsilon / 2) + 1) / (exp(epsilon / 2) - 1)
    points = np.linspace(-edge, edge, 401)
    return np.array([printed_piecewise_density(x, points, epsilon) for x in np.linspace(-1, 1, LEVELS)])


def _thresholded(epsilon: float, *, half: bool, threshold: float = 0.75) -> float:
    """Return what bits of noise above a threshold say of `TRUTH` with p, or p and q, as they are printed."""
    p, q = 1 - exp(epsilon / 2 * (threshold - 1)) / 2, exp(-epsilon / 2 * threshold) / 2
    own, other = 1 - exp(epsilon / 2 * (1 - threshold)) / 2, q if half else 2 * q
    return (TRUTH * p + (1 - TRUTH) * q - other) / (own - other)


def _tails_alike(epsilon: float) -> float:
    half = exp(epsilon / 2)
    return TRUTH * (half**2 + half / 2) / (half**2 - 1)


def _drawn_twice(epsilon: float, *, d: int = 4) -> float:
    """Return what numbers say that may be drawn twice, and then count once: right while one is drawn."""
    k = max(1, min(d, math.floor(epsilon / 2.5)))
    return TRUTH * d / k * (1 - (1 - 1 / d) ** k)


PRINTED = (
    Printed("two_coins", _two_coins),
    Printed("shifted_direct", _shifted_direct),
    Printed("threshold_text", None, partial(_thresholded, half=False)),
    Printed("threshold_listing", None, partial(_thresholded, half=True)),
    Printed(
        "signs_in_both", lambda e: _signs_matrix(2, e, ties="both"), partial(_signs_estimate, ties="both")
    ),
    Printed(
        "signs_with_ties",
        lambda e: _signs_matrix(2, e, ties="outside"),
        partial(_signs_estimate, ties="outside"),
    ),
    Printed("tails_alike", _printed_piecewise, _tails_alike),
    Printed("drawn_twice", None, _drawn_twice),
)
