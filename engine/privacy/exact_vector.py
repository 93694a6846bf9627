"""Vector noise, exactly. A base of the noise door (`engine.privacy.noise`)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from engine.errors import InputRefused
from engine.privacy.draw import Draw
from engine.privacy.exact_exponential import compare_words, exp_minus_bracket, is_below
from engine.privacy.exact_shells import (
    Shell,
    Shells,
    coordinate_weights,
    root_bracket,
    scaled_bracket,
    shells_of,
)
from engine.privacy.exact_staircase import ExactStaircase
from engine.privacy.trials import CHUNK, LARGEST_VALUE, Integers, checked_size, exact, positive

LARGEST_DIMENSION = 1000
SMALLEST_SQUARE = Fraction(1, 1 << 900)  # below it doubles would overflow
ARRAY_DIGITS = 40  # up to so many fine digits vectors fit arrays of int64: coarse coordinates below 2^22


Decided = Callable[[int], tuple[Fraction, Fraction]]


class ExactVector(ExactStaircase):
    """Noise that has every direction and an exponential tail in its length."""

    def vector(self, squared_scale: Fraction | int, dimension: int, *, size: int) -> Integers:
        """Draw whole vectors whose probability falls exponentially with their Euclidean length.

        Parameters
        ----------
        squared_scale
            s² > 0 in P(z) ∝ e^(−‖z‖/s), z in Z^d.
        dimension
            d, 1 to 1,000.
        size
            How many vectors, at least 0.

        Returns
        -------
        ndarray of int64, shape (size, dimension)
            For scales of more than 2^41 √d or so an array of Python integers (dtype object) instead.

        Raises
        ------
        InputRefused
            ``noise.exact``, ``noise.scale`` (s² not above 0, or below 2^-900), ``noise.dimension``,
            ``noise.size``.

        Notes
        -----
        A shell is drawn, then a point by its Gaussian, then the fine digits u. It stays where it lies in the
        shell, with probability exp(rate ‖y‖² − ‖z‖/s − lift) ≤ 1. So every point of every shell has the
        same weight times e^(−‖z‖/s). Where weights had been rounded up, a further trial takes the excess
        away. See `engine.privacy.exact_shells`.

        Examples
        --------
        >>> from engine.privacy.noise import Noise
        >>> Noise().vector(100, 3, size=5).shape
        (5, 3)
        """
        squared, size = positive(squared_scale, "noise.scale"), checked_size(size)
        if squared < SMALLEST_SQUARE:
            raise InputRefused("noise.scale")
        length = exact(dimension)
        if length.denominator != 1 or not 1 <= length <= LARGEST_DIMENSION:
            raise InputRefused("noise.dimension")
        shells = shells_of(squared, int(length))
        self._counted[Draw("vector", squared, (int(length),))] += size
        drawn: list[Integers] = []
        left = size
        while left:
            found = self._vector_candidates(shells, min(CHUNK // int(length) + 1, 5 * left + 8))[:left]
            drawn.append(found)
            left -= len(found)
        kind = object if shells.digits > ARRAY_DIGITS else np.int64
        return np.concatenate([np.empty((0, int(length)), dtype=kind), *drawn])

    def _vector_candidates(self, shells: Shells, count: int) -> Integers:
        """Return up to ``count`` independent draws."""
        units = self._fill(count, lambda left: self._uniform_candidates(int(shells.ends[-1]), left))
        chosen = np.searchsorted(shells.ends, units, side="right")
        points = np.zeros((count, shells.dimension), dtype=np.int64)
        keep = np.zeros(count, dtype=bool)
        exponents = np.zeros(count)
        used: list[Shell] = list(shells.inner)
        for place in np.flatnonzero(units + 1 == shells.ends[chosen]):
            chosen[place] = self._last_unit(shells, int(chosen[place]), used)
        for one in np.unique(chosen[chosen >= 0]).tolist():
            rows, shell = np.flatnonzero(chosen == one), used[one]
            points[rows], whole = self._points(shell, rows.size, shells.dimension)
            squares = (points[rows] ** 2).sum(axis=1)
            keep[rows] = whole & (squares >= shell.first) & (squares < shell.end)
            exponents[rows] = float(shell.lift) - float(shell.rate) * squares
        kept = np.flatnonzero(keep)
        fine = self._fine(shells.digits, (kept.size, shells.dimension))
        lengths = np.sqrt(((points[kept] + _shares(fine, shells.digits)) ** 2).sum(axis=1))
        gammas = lengths / float(shells.squared) ** 0.5 + exponents[kept]
        vectors = _joined(points[kept], fine, shells.digits)
        # Rounding: with u = 2^-53, that of length, root and quotient is below (d/2 + 6) u of the quotient,
        # that of the exponent below 3 u (rate ‖y‖² + |exponent|), and rate ‖y‖² is below 4 d in every shell.
        largest = max(gammas.max(initial=0.0), 0.0) + 2 * np.abs(exponents[kept]).max(initial=0.0)
        slack = float(largest + 4 * shells.dimension) * (shells.dimension + 20) * 2.0**-52

        def decided(place: int) -> tuple[Fraction, Fraction]:
            shell = used[int(chosen[kept[place]])]
            whole = sum(int(value) ** 2 for value in points[kept[place]])
            square = Fraction(sum(int(value) ** 2 for value in vectors[place]), 4**shells.digits)
            return square / shells.squared, shell.lift - shell.rate * whole

        return vectors[self._below_roots(gammas, slack, decided)]

    def _last_unit(self, shells: Shells, chosen: int, used: list[Shell]) -> int:
        """Return the shell of the last unit of one, or −1 for the part of the unit that the shell has not."""
        doublings, whole = None, shells.units[chosen] - 1
        if chosen == len(shells.inner):
            doublings = 0
            while self._integer(1):
                doublings += 1
            used.append(shells.far(doublings))
            chosen, whole = len(used) - 1, 0
        shell = used[chosen]
        decide = partial(
            _is_below_scaled,
            factor=shells.factor(shell, doublings),
            gamma=shells.top - shell.lift,
            whole=whole,
        )
        return chosen if self._refine(0, decide, bits=0) else -1

    def _points(self, shell: Shell, count: int, dimension: int) -> tuple[Integers, npt.NDArray[np.bool_]]:
        """Return coordinates, and which points keep clear of what the weights were rounded up by."""
        lower, ends = coordinate_weights(shell.rate, shell.reach)
        units = self._fill(count * dimension, lambda left: self._uniform_candidates(int(ends[-1]), left))
        places = np.searchsorted(ends, units, side="right")
        starts = np.where(places > 0, ends[places - 1], 0)
        whole = np.ones(units.size, dtype=bool)
        for at in np.flatnonzero(units - starts >= lower[places]):
            square = (int(places[at]) - shell.reach) ** 2
            prefix = int(units[at] - starts[at])
            # a number of 32 digits and more from here on: it stays where it is below e^(−rate y²)
            whole[at] = self._refine(prefix, partial(is_below, gamma=shell.rate * square))
        shape = count, dimension
        return (places - shell.reach).reshape(shape), np.all(whole.reshape(shape), axis=1)

    def _fine(self, digits: int, shape: tuple[int, int]) -> Integers:
        """Return uniform whole numbers u, −2^(m−1) ≤ u < 2^(m−1)."""
        size = shape[0] * shape[1]
        if digits > ARRAY_DIGITS:
            drawn = self._one_by_one(lambda: self._integer(digits), size)
        else:
            drawn = self._digits(digits, size)
        return (drawn - ((1 << digits) >> 1)).reshape(shape)

    def _below_roots(
        self, floats: npt.NDArray[np.float64], slack: float, decided: Decided
    ) -> npt.NDArray[np.bool_]:
        """Succeed with probability exp(−√a − b): ``floats`` are within ``slack``, `decided` gives a and b."""
        words = self._words(floats.size)
        below, unsure = compare_words(words, floats + slack)
        above, unclear = compare_words(words, np.maximum(floats - slack, 0.0))
        for place in np.flatnonzero(unsure | unclear | (below != above)):
            square, more = decided(int(place))
            decide = partial(_is_below_root, square=square, more=more)
            below[place] = self._refine(int(words[place]), decide)
        return below


def _shares(fine: Integers, digits: int) -> npt.NDArray[np.float64]:
    """Return u / 2^m."""
    return np.asarray(fine / (1 << digits), dtype=np.float64)


def _joined(points: Integers, fine: Integers, digits: int) -> Integers:
    """Return 2^m y + u."""
    if digits > ARRAY_DIGITS:
        return np.asarray(points.astype(object) * (1 << digits) + fine)
    if points.size and int(np.abs(points).max()) >= (LARGEST_VALUE >> digits) - 1:
        raise OverflowError("a draw does not fit 62 bits")  # less likely than exp(-500)
    return (points << digits) + fine


def _is_below_scaled(prefix: int, bits: int, factor: Fraction, gamma: Fraction, whole: int) -> bool | None:
    """Say whether whole + U < factor · e^(−γ) for every U that starts with ``prefix``; None: more bits."""
    low, high = scaled_bracket(factor, gamma, bits)
    if low > (whole + 1) << bits:
        raise ArithmeticError("a shell weighs more than it may take")
    if prefix < low - (whole << bits):
        return True
    return False if prefix >= high - (whole << bits) else None


def _is_below_root(prefix: int, bits: int, square: Fraction, more: Fraction) -> bool | None:
    """Say whether U < exp(−√square − more) for every U that starts with ``prefix``; None: more bits."""
    least, most = (max(root + more, Fraction(0)) for root in root_bracket(square, bits + 8))
    if prefix < exp_minus_bracket(most, bits)[0]:
        return True
    return False if prefix >= exp_minus_bracket(least, bits)[1] else None
