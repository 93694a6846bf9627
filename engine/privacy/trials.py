"""Uniform numbers from a source of bytes, and trials decided exactly by them.

The base of the noise door (`engine.privacy.noise`), which alone says where the bytes come from.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from numbers import Rational

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.errors import InputRefused
from engine.privacy.draw import Draw
from engine.privacy.exact_exponential import WORD_BITS, compare_words, is_below, word_threshold

Integers = arrays.Integers
LARGEST_SCALE = 1 << 52  # above it draws are Python integers
LARGEST_VALUE = 1 << 62
CHUNK = 1 << 16  # candidates at a time: the arrays stay in the processor's cache


class ExactTrials:
    """Uniform words, digits and coins, and trials that succeed with exactly the stated probability."""

    def __init__(
        self,
        random_bytes: Callable[[int], bytes],
        on_first_draw: Callable[[], None] | None,
    ) -> None:
        self._random_bytes = random_bytes
        self._on_first_draw = on_first_draw
        self._drawn = False
        self._counted: Counter[Draw] = Counter()

    @property
    def counted(self) -> Counter[Draw]:
        """How often each mechanism was asked for, with its exact parameter; lots and coins are none.

        Notes
        -----
        `engine.release.run` compares it with what the promise declares (`Event.drawn`): a method that draws
        more, less or something else than it said makes no release.
        """
        return self._counted.copy()

    @property
    def drawn(self) -> bool:
        """Whether any mechanism was asked, or a random byte drawn: from then on the budget is spent."""
        return self._drawn

    def _count(self, draw: Draw, times: int = 1) -> None:
        """Note that a mechanism was asked: that spends, also where there is no number for it to draw."""
        self._begin()
        self._counted[draw] += times

    def _begin(self) -> None:
        if not self._drawn:
            if self._on_first_draw is not None:
                self._on_first_draw()
            self._drawn = True

    def _bytes(self, count: int) -> bytes:
        if count == 0:
            return b""
        self._begin()
        drawn = self._random_bytes(count)
        if len(drawn) != count:
            raise OSError("the source of randomness gave too few bytes")
        return drawn

    def _words(self, size: int) -> npt.NDArray[np.uint32]:
        return np.frombuffer(self._bytes(4 * size), dtype="<u4")

    def _long_words(self, size: int) -> npt.NDArray[np.uint64]:
        return np.frombuffer(self._bytes(8 * size), dtype="<u8")

    def _coins(self, size: int) -> npt.NDArray[np.bool_]:
        drawn = np.frombuffer(self._bytes(-(-size // 8)), dtype=np.uint8)
        return np.unpackbits(drawn, count=size).astype(bool)

    def _digits(self, digits: int, size: int) -> Integers:
        """Return uniform whole numbers of that many binary digits, at most 62."""
        if digits == 0:
            return np.zeros(size, dtype=np.int64)
        if digits <= WORD_BITS:
            return (self._words(size) >> np.uint32(WORD_BITS - digits)).astype(np.int64)
        return (self._long_words(size) >> np.uint64(64 - digits)).astype(np.int64)

    def _integer(self, digits: int) -> int:
        """Return one uniform whole number of that many binary digits."""
        count = -(-digits // 8)
        return int.from_bytes(self._bytes(count), "little") >> (8 * count - digits)

    def _fill(self, size: int, propose: Callable[[int], Integers]) -> Integers:
        """Collect candidates in the order drawn until there are ``size``."""
        drawn = np.empty(size, dtype=np.int64)
        filled = 0
        while filled < size:
            candidates = propose(min(CHUNK, (size - filled) * 3 // 2 + 8))
            taken = candidates[: size - filled]
            drawn[filled : filled + taken.size] = taken
            filled += taken.size
        return drawn

    # --- trials ----------------------------------------------------------------------------------------

    def _below_exp_minus(self, gamma: Fraction, threshold: int, size: int) -> npt.NDArray[np.bool_]:
        words = self._words(size)
        below = words < threshold
        for place in np.flatnonzero(words == threshold):
            below[place] = self._refine(threshold, partial(is_below, gamma=gamma))
        return below

    def _accept(
        self, floats: npt.NDArray[np.floating], gamma: Callable[[int], Fraction]
    ) -> npt.NDArray[np.bool_]:
        """Succeed with probability exp(−γ_i); ``floats`` are close to γ_i, ``gamma`` gives one exactly."""
        words = self._words(floats.size)
        below, unsure = compare_words(words, floats)
        for place in np.flatnonzero(unsure):
            below[place] = self._refine(int(words[place]), partial(is_below, gamma=gamma(int(place))))
        return below

    def _refine(self, prefix: int, decide: Callable[[int, int], bool | None], bits: int = WORD_BITS) -> bool:
        """Draw further bits of a uniform number until they decide."""
        while (answer := decide(prefix, bits)) is None:
            prefix, bits = prefix << 64 | self._integer(64), bits + 64
        return answer

    def _one_exp_minus(self, gamma: Fraction) -> bool:
        return self._refine(0, partial(is_below, gamma=gamma), bits=0)

    # --- geometric numbers -----------------------------------------------------------------------------

    def _geometric_candidates(self, scale: Fraction, count: int) -> Integers:
        """Return up to ``count`` independent draws of P(k) ∝ exp(−k / scale), k >= 0; scale at most 2^52."""
        digits, rate = _block(scale), 1 / scale
        low = self._digits(digits, count)
        if digits:  # γ = low / scale < 1 as low < 2^digits <= scale; three roundings: error below 2^-50
            low = low[self._accept(low * float(rate), lambda place: int(low[place]) * rate)]
        high = self._geometric(rate * (1 << digits), low.size)
        if high.size and int(high.max()) >= LARGEST_VALUE >> digits:
            raise OverflowError("a draw does not fit 62 bits")  # less likely than exp(-500)
        return low + (high << digits)

    def _geometric(self, gamma: Fraction, size: int) -> Integers:
        """Count the successes, each with probability exp(−γ), before the first failure."""
        counts = np.zeros(size, dtype=np.int64)
        threshold = word_threshold(gamma)
        alive = np.flatnonzero(self._below_exp_minus(gamma, threshold, size))
        while alive.size:
            counts[alive] += 1
            alive = alive[self._below_exp_minus(gamma, threshold, alive.size)]
        return counts

    # --- one at a time, in Python integers, for any scale ----------------------------------------------

    def _one_by_one(self, draw: Callable[[], int], size: int) -> npt.NDArray:
        values = np.empty(size, dtype=object)
        for place in range(size):
            values[place] = draw()
        return values

    def _one_geometric(self, scale: Fraction) -> int:
        """Return one draw of P(k) ∝ exp(−k / scale), k >= 0."""
        digits, rate = _block(scale), 1 / scale
        while True:
            low = self._integer(digits)
            if self._one_exp_minus(low * rate):
                break
        high = 0
        while self._one_exp_minus(rate * (1 << digits)):
            high += 1
        return low + (high << digits)

    def _one_below(self, n: int) -> int:
        """Return one whole number below n, each equally likely."""
        while (drawn := self._integer((n - 1).bit_length())) >= n:
            pass
        return drawn


def exact(value: Fraction | int) -> Fraction:
    """Return a whole number or fraction as a `Fraction`; refuse everything else, floats above all."""
    if isinstance(value, bool) or not isinstance(value, Rational):
        raise InputRefused("noise.exact")
    return Fraction(int(value.numerator), int(value.denominator))


def positive(value: Fraction | int, code: str) -> Fraction:
    """Return `exact` of a value above 0, otherwise refuse with ``code``."""
    number = exact(value)
    if number <= 0:
        raise InputRefused(code)
    return number


def checked_size(size: int) -> int:
    """Return how many draws are asked for; refuse what is not a whole number of at least 0."""
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
        raise InputRefused("noise.size")
    return int(size)


def whole_numbers(values: Integers) -> Integers:
    """Return an array of integers as int64; refuse floats and everything else."""
    array = np.asarray(values)
    if array.dtype.kind != "i":
        raise InputRefused("noise.exact")
    return array.astype(np.int64)


def is_below_rational(prefix: int, bits: int, p: Fraction) -> bool | None:
    """Say whether U < p for every U that starts with ``prefix``; None where more bits are needed."""
    low, rest = divmod(p.numerator << bits, p.denominator)
    if prefix < low:
        return True
    return False if prefix > low or rest == 0 else None


def _block(scale: Fraction) -> int:
    """Return d of the largest block 2^d <= scale, 0 where the scale is below 1."""
    return max(math.floor(scale).bit_length() - 1, 0)
