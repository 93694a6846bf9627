"""Staircase noise, exactly. A base of the noise door (`engine.privacy.noise`)."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from engine.errors import InputRefused
from engine.privacy.draw import Draw
from engine.privacy.exact_choices import ExactChoices
from engine.privacy.exact_exponential import WORD_BITS, exp_minus_bracket
from engine.privacy.trials import (
    LARGEST_SCALE,
    LARGEST_VALUE,
    Integers,
    checked_size,
    exact,
    positive,
)


class ExactStaircase(ExactChoices):
    """Noise whose probabilities fall in steps as wide as the sensitivity."""

    def staircase(self, sensitivity: int, plateau: int, *, epsilon: Fraction | int, size: int) -> Integers:
        """Draw from the discrete staircase distribution.

        Parameters
        ----------
        sensitivity
            Δ >= 1, the width of a stair in whole steps.
        plateau
            r, 1 <= r <= Δ: how many magnitudes 0 … r − 1 are on the highest stair.
        epsilon
            ε > 0 in P(z) ∝ e^(−ε · stair(|z|)), stair(i) = 0 for i < r and 1 + ⌊(i − r) / Δ⌋ from r on.
        size
            How many draws, at least 0.

        Returns
        -------
        ndarray of int64, shape (size,)
            For Δ/ε above 2^52 an array of Python integers (dtype object) instead.

        Raises
        ------
        InputRefused
            ``noise.exact``, ``noise.scale`` (ε not above 0), ``noise.staircase`` (Δ or r), ``noise.size``.

        Notes
        -----
        All magnitudes below the highest stair together weigh x = Δ/(e^ε − 1). One of r + ⌊x⌋ + 1 places is
        drawn: the first r are magnitudes; the last counts with probability x − ⌊x⌋ only; at any other one a
        stair is drawn (geometric) and a place on it (uniform). At least every second try is a draw.

        Source of the law: Q. Geng, P. Viswanath, "The optimal noise-adding mechanism in differential
        privacy", IEEE Transactions on Information Theory 62(2), 2016, its form on the integers.

        Examples
        --------
        >>> from engine.privacy.noise import Noise
        >>> Noise().staircase(10, 3, epsilon=2, size=4).shape
        (4,)
        """
        epsilon, size = positive(epsilon, "noise.scale"), checked_size(size)
        wide, high = exact(sensitivity), exact(plateau)
        if wide.denominator != 1 or high.denominator != 1 or not 1 <= high <= wide:
            raise InputRefused("noise.staircase")
        step, first = int(wide), int(high)
        self._counted[Draw("staircase", epsilon, (step, first))] += size
        if step > LARGEST_SCALE * min(epsilon, Fraction(1)):
            return self._one_by_one(lambda: self._one_staircase(step, first, epsilon), size)
        return self._fill(size, lambda count: self._staircase_candidates(step, first, epsilon, count))

    def _staircase_candidates(self, step: int, first: int, epsilon: Fraction, count: int) -> Integers:
        """Return up to ``count`` independent draws."""
        whole = whole_weight(step, epsilon)
        places = self._fill(count, lambda left: self._uniform_candidates(first + whole + 1, left))
        counts = np.ones(count, dtype=bool)
        last = np.flatnonzero(places == first + whole)
        counts[last] = self._last_place(step, epsilon, last.size)
        below = counts & (places >= first)
        some = int(below.sum())
        stairs = self._fill(some, lambda left: self._geometric_candidates(1 / epsilon, left))
        if some and int(stairs.max()) >= LARGEST_VALUE // step - 2:
            raise OverflowError("a draw does not fit 62 bits")  # less likely than exp(-500)
        magnitude = places.copy()
        magnitude[below] = (
            first + step * stairs + self._fill(some, lambda left: self._uniform_candidates(step, left))
        )
        negative = self._coins(count)
        # Zero would count twice: the negative one is drawn again
        return np.where(negative, -magnitude, magnitude)[counts & ~(negative & (magnitude == 0))]

    def _last_place(self, step: int, epsilon: Fraction, size: int) -> npt.NDArray[np.bool_]:
        """Succeed with probability x − ⌊x⌋, x = Δ/(e^ε − 1): shape (size,)."""
        threshold = rest_threshold(step, epsilon)
        words = self._words(size)
        below = words < threshold
        for place in np.flatnonzero(words == threshold):
            below[place] = self._refine(threshold, partial(_is_below_rest, step=step, epsilon=epsilon))
        return below

    def _one_staircase(self, step: int, first: int, epsilon: Fraction) -> int:
        whole = whole_weight(step, epsilon)
        while True:
            magnitude = self._one_below(first + whole + 1)
            if magnitude == first + whole and not self._last_place(step, epsilon, 1)[0]:
                continue
            if magnitude >= first:
                magnitude = first + step * self._one_geometric(1 / epsilon) + self._one_below(step)
            negative = self._integer(1)
            if magnitude or not negative:
                return -magnitude if negative else magnitude


def weight_bracket(step: int, epsilon: Fraction, bits: int) -> tuple[int, int]:
    """Return integers around 2^bits · Δ/(e^ε − 1), which lies between them.

    Examples
    --------
    >>> weight_bracket(1, Fraction(1), 20)  # 2^20 · 0.58197...
    (610246, 610247)
    """
    # b = e^−ε is known to 2^−digits, so that b/(1 − b) is off by less than 2^(3 − digits)/(1 − b)²
    lack = max(0, (epsilon.denominator // epsilon.numerator).bit_length() + 1)  # 1 − b > 2^−lack
    digits = bits + 2 * lack + step.bit_length() + 8
    low, high = exp_minus_bracket(epsilon, digits)
    one = 1 << digits
    return (step * low << bits) // (one - low), -((-step * high << bits) // (one - high))


def whole_weight(step: int, epsilon: Fraction) -> int:
    """Return ⌊Δ/(e^ε − 1)⌋.

    Examples
    --------
    >>> whole_weight(10, Fraction(1))
    5
    """
    return _floor_of_weight(step, epsilon, 0)


def rest_threshold(step: int, epsilon: Fraction) -> int:
    """Return ⌊2^32 (x − ⌊x⌋)⌋, x = Δ/(e^ε − 1): a smaller word is below the rest, a larger one is not."""
    return _floor_of_weight(step, epsilon, WORD_BITS) - (whole_weight(step, epsilon) << WORD_BITS)


@lru_cache(maxsize=256)
def _floor_of_weight(step: int, epsilon: Fraction, shift: int) -> int:
    """Return ⌊2^shift · Δ/(e^ε − 1)⌋."""
    spare = 32
    while True:
        low, high = weight_bracket(step, epsilon, shift + spare)
        # e^ε is irrational, so that both sides agree after finitely many digits
        if low >> spare == (high - 1) >> spare:
            return low >> spare
        spare += 32


def _is_below_rest(prefix: int, bits: int, step: int, epsilon: Fraction) -> bool | None:
    """Say whether U < x − ⌊x⌋ for every U that starts with ``prefix``; None where more bits are needed."""
    low, high = weight_bracket(step, epsilon, bits)
    whole = whole_weight(step, epsilon) << bits
    if prefix < low - whole:
        return True
    return False if prefix >= high - whole else None
