"""Noise of any direction and a length with exponential tails, on whole numbers: how draws are proposed.

The law is P(z) ∝ e^(−‖z‖/s) for z in Z^d. The lattice is cut into shells first ≤ ‖y‖² < end of a coarser
copy z = 2^m y + u, each with a Gaussian of whole numbers that proposes points in it. All bounds are those of
exact integers; what is drawn is decided in `engine.privacy.exact_vector`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import count

import numpy as np

from engine.privacy.exact_exponential import WORD_BITS, exp_minus_bracket, word_brackets
from engine.privacy.trials import Integers

THICKNESS = 1.2  # of a shell, in standard deviations of the squared length that its Gaussian proposes
SHELL_BITS = 60  # digits of the probabilities of shells
ROOT_BITS = 40


@dataclass(frozen=True)
class Shell:
    """Points y with first ≤ ‖y‖² < end, proposed coordinate by coordinate with probability ∝ e^(−rate y²).

    Parameters
    ----------
    lift
        An upper bound of rate ‖y‖² − ‖z‖/s in the shell.
    """

    first: int
    end: int
    rate: Fraction
    lift: Fraction

    @property
    def reach(self) -> int:
        """The largest coordinate of a point in the shell."""
        return math.isqrt(self.end - 1)

    @cached_property
    def weight(self) -> int:
        """The sum of the weights of all coordinates: an upper bound of each, as `coordinate_weights` has."""
        upper = _brackets(self.rate, self.reach)[1]
        return 2 * int(upper.sum()) - int(upper[0])


@dataclass(frozen=True)
class Shells:
    """The shells of one law, and the whole numbers that they are drawn by.

    Parameters
    ----------
    digits
        m: the coarse copy has steps of 2^m.
    squared
        The squared scale in coarse steps, (s/2^m)².
    dimension
        d.
    inner
        All shells but the far ones, which double the length without end.
    top
        At least the largest lift.
    shift
        Weights are multiplied by 2^shift.
    units
        How many whole numbers every shell may take, then one for all far shells.
    """

    digits: int
    squared: Fraction
    dimension: int
    inner: tuple[Shell, ...]
    top: Fraction
    shift: int
    units: tuple[int, ...]

    @cached_property
    def ends(self) -> Integers:
        """Where the whole numbers of every shell end."""
        return np.cumsum(np.array(self.units, dtype=np.int64))

    def far(self, doublings: int) -> Shell:
        """Return a shell beyond the inner ones."""
        first = self.inner[-1].end << 2 * doublings
        return _shell(first, 4 * first, self.squared, self.dimension, self.digits > 0)

    def factor(self, shell: Shell, doublings: int | None = None) -> Fraction:
        """Return what e^(lift − top) is multiplied by to give units: for far shells, of each its own."""
        found = Fraction(shell.weight, 1 << WORD_BITS) ** self.dimension * Fraction(2) ** self.shift
        return found if doublings is None else found * 2 ** (doublings + 1)


@lru_cache(maxsize=64)
def shells_of(squared_scale: Fraction, dimension: int) -> Shells:
    """Return the shells for a squared scale s² and a dimension.

    Notes
    -----
    The coarse step 2^m is at most s/(2√d), so that u changes ‖z‖/s by little: an exponential of −1/4 at most.
    A shell weighs (Σ_y e^(−rate y²))^d e^lift, the sum rounded up. Far shells are reached with a probability
    of about 2^-60; each may take half of what is left, and weighs less: they begin at √first ≥ 4 d s, and
    twice the length multiplies the first factor by about 2^d, the second by e^(−√first/s) ≤ e^(−4d).
    """
    digits, squared = 0, squared_scale
    while squared >= 16 * dimension:
        digits, squared = digits + 1, squared / 4
    inner: list[Shell] = []
    total, first = -math.inf, 0
    while True:
        thick = max(1, math.floor(THICKNESS * first * math.sqrt(2 / dimension)))
        inner.append(_shell(first, first + thick, squared, dimension, digits > 0))
        first += thick
        total = np.logaddexp(total, _logarithm(inner[-1], dimension))
        far = _shell(first, 4 * first, squared, dimension, digits > 0)
        is_far = first >= 16 * dimension**2 * squared
        if is_far and _logarithm(far, dimension) < total - (SHELL_BITS + 8) * math.log(2):
            break
    top = max(shell.lift for shell in inner)
    shift = math.floor(SHELL_BITS - (float(total) - float(top)) / math.log(2))
    shells = Shells(digits, squared, dimension, tuple(inner), top, shift, ())
    units = [floor_of(shells.factor(shell), top - shell.lift) + 1 for shell in inner]
    return Shells(digits, squared, dimension, tuple(inner), top, shift, (*units, 1))


@lru_cache(maxsize=16)
def coordinate_weights(rate: Fraction, reach: int) -> tuple[Integers, Integers]:
    """Return a lower bound of 2^32 e^(−rate y²) for y = −reach … reach, and sums of an upper bound.

    Kept for few shells, those that draws come from: of all shells of 1,000 dimensions it is 700 MB.
    """
    both = [np.concatenate([side[:0:-1], side]) for side in _brackets(rate, reach)]
    return both[0], np.cumsum(both[1])


def _brackets(rate: Fraction, reach: int) -> tuple[Integers, Integers]:
    """Return whole numbers around 2^32 e^(−rate y²) for y = 0 … reach."""
    squares = np.arange(reach + 1, dtype=np.float64) ** 2
    return word_brackets(squares * float(rate))


def scaled_bracket(factor: Fraction, gamma: Fraction, bits: int) -> tuple[int, int]:
    """Return integers around 2^bits · factor · e^(−γ), which lies between them.

    Examples
    --------
    >>> scaled_bracket(Fraction(3), Fraction(1), 20)  # 3 · 2^20 / e = 1,157,248.4...
    (1157248, 1157249)
    """
    spare = max(0, math.ceil(factor).bit_length()) + 4
    low, high = exp_minus_bracket(gamma, bits + spare)
    below = factor.denominator << spare
    return factor.numerator * low // below, -(-factor.numerator * high // below)


def floor_of(factor: Fraction, gamma: Fraction) -> int:
    """Return ⌊factor · e^(−γ)⌋.

    Examples
    --------
    >>> floor_of(Fraction(7), Fraction(1)), floor_of(Fraction(7), Fraction(0))
    (2, 7)
    """
    for spare in count(32, 32):
        low, high = scaled_bracket(factor, gamma, spare)
        # e^−γ is irrational unless γ = 0, so that both sides agree after finitely many digits
        if low >> spare == (high - 1) >> spare or gamma == 0:
            return low >> spare
    raise AssertionError


def root_bracket(square: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Return fractions around a square root, 2^-bits apart.

    Examples
    --------
    >>> root_bracket(Fraction(2), 2)
    (Fraction(5, 4), Fraction(3, 2))
    """
    root = math.isqrt((square.numerator << 2 * bits) // square.denominator)
    return Fraction(root, 1 << bits), Fraction(root + 1, 1 << bits)


def _shell(first: int, end: int, squared: Fraction, dimension: int, is_coarse: bool) -> Shell:
    """Return a shell with the rate whose Gaussian has its mean squared length.

    The lift: rate t − √(t/s²) is convex in t = ‖y‖², so that it is largest at an end; of a coarse copy
    ‖z‖ ≥ 2^m (‖y‖ − √d/2).
    """
    rate = _rate((first + end - 1) / (2 * dimension))
    more = root_bracket(Fraction(dimension, 4) / squared, ROOT_BITS)[1] if is_coarse else Fraction(0)
    lift = max(rate * t - root_bracket(t / squared, ROOT_BITS)[0] for t in (first, end - 1)) + more
    grid = 1 << ROOT_BITS
    return Shell(first, end, rate, Fraction(math.ceil(lift * grid), grid))


def _rate(mean: float) -> Fraction:
    """Return about the rate at which e^(−rate y²) on whole numbers has a mean square."""
    if mean == 0:
        return Fraction(1)
    return Fraction(1 / (2 * mean) if mean >= 0.3 else math.log(2 * (1 - mean) / mean))


def _logarithm(shell: Shell, dimension: int) -> float:
    """Return about the logarithm of the weight of a shell."""
    rate = float(shell.rate)
    steps = np.arange(1, math.ceil(7 / math.sqrt(rate)) + 1, dtype=np.float64) if rate > 0.01 else None
    one = math.sqrt(math.pi / rate) if steps is None else 1 + 2 * float(np.exp(-rate * steps**2).sum())
    return dimension * math.log(one) + float(shell.lift)
