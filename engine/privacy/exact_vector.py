"""Uniform numbers, choices, staircase and vector noise, exactly.

A base of the noise door (`engine.privacy.noise`), which alone says where the bytes come from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import count

import numpy as np
import numpy.typing as npt

from engine.errors import InputRefused
from engine.once import once
from engine.privacy.draw import Draw
from engine.privacy.exact_exponential import (
    WORD_BITS,
    compare_words,
    exp_minus_bracket,
    is_below,
    word_brackets,
)
from engine.privacy.trials import (
    CHUNK,
    LARGEST_SCALE,
    LARGEST_VALUE,
    ExactTrials,
    Integers,
    checked_size,
    exact,
    positive,
    whole_numbers,
)

# --- uniform numbers, and choices by score ---------------------------------------------------------------


class ExactChoices(ExactTrials):
    """Choices in which every outcome has exactly the stated probability."""

    def uniform_below(self, n: int, size: int) -> Integers:
        """Draw whole numbers 0 … n − 1, each equally likely: int64, shape (size,); 1 <= n <= 2^62.

        Raises
        ------
        InputRefused
            ``noise.exact``, ``noise.choices`` (n outside its range), ``noise.size``.

        Notes
        -----
        Up to 2^32 by multiplication with rejection (D. Lemire, "Fast random integer generation in an
        interval", ACM TOMACS 2019, algorithm 5), above by rejection of numbers of as many bits.
        """
        bound, size = exact(n), checked_size(size)
        if bound.denominator != 1 or not 1 <= bound <= LARGEST_VALUE:
            raise InputRefused("noise.choices")
        return self._fill(size, lambda count: self._uniform_candidates(int(bound), count))

    def exponential_choice(self, scores: Integers, *, rate: Fraction | int) -> int:
        """Choose one candidate by the exponential mechanism.

        Parameters
        ----------
        scores
            Integer score of each candidate, shape (n,), n >= 1; higher is better.
        rate
            P(i) ∝ exp(rate · score_i), rate >= 0: ε / (2 · sensitivity) for ε-differential privacy,
            twice that where adding a person never lowers a score.

        Returns
        -------
        int
            Position of the chosen candidate.

        Raises
        ------
        InputRefused
            ``noise.exact``, ``noise.rate`` (below 0), ``noise.choices`` (no candidate).

        Notes
        -----
        F. McSherry, K. Talwar, "Mechanism design via differential privacy", FOCS 2007, definition 2. Exact by
        rejection: a candidate drawn uniformly is accepted with probability exp(−rate · (max − score)). Eight
        trials for each candidate are drawn at once, so that the time hardly depends on the scores.
        """
        gaps, rate = self._gaps(scores, rate)
        self._count(Draw("exponential_choice", rate))
        chosen = -1
        while chosen < 0:
            left = 8 * gaps.size + 64
            while left:  # to the end, whether or not one has been accepted
                candidates = self.uniform_below(gaps.size, min(left, CHUNK))
                accepted = self._flip(gaps[candidates], rate)
                if chosen < 0 and accepted.any():
                    chosen = int(candidates[np.argmax(accepted)])
                left -= candidates.size
        return chosen

    def permute_and_flip(self, scores: Integers, *, rate: Fraction | int) -> int:
        """Choose one candidate by permute-and-flip.

        Parameters
        ----------
        scores
            Integer score of each candidate, shape (n,), n >= 1; higher is better.
        rate
            A candidate is accepted with probability exp(−rate · (max − score)), rate >= 0. The choice loses
            at most ε where no two scores move apart by more than ε/rate between neighbouring data sets.

        Returns
        -------
        int
            Position of the chosen candidate.

        Raises
        ------
        InputRefused
            ``noise.exact``, ``noise.rate`` (below 0), ``noise.choices`` (no candidate).

        Notes
        -----
        R. McKenna, D. Sheldon, "Permute-and-flip: a new mechanism for differentially private selection",
        NeurIPS 2020, algorithm 1: candidates in random order, the first accepted is chosen. Every candidate
        is tried here, and one of the accepted is chosen with equal probability, which is the same: the trials
        do not depend on the order. So the number of trials tells nothing about the scores; how many uniform
        numbers need more than 32 bits, and how often the last draw is repeated, hardly does.

        The loss: the choice is the largest of rate · score + (exponential noise of mean 1). Let scores move
        by something in [−w, 0] after a common shift, which changes nothing. Whoever is chosen is no less
        likely where the others fall, and e^(rate · w) times less likely at most where its own score falls
        by w.
        """
        gaps, rate = self._gaps(scores, rate)
        self._count(Draw("permute_and_flip", rate))
        accepted = [
            start + np.flatnonzero(self._flip(gaps[start : start + CHUNK], rate))
            for start in range(0, gaps.size, CHUNK)
        ]
        standing = np.concatenate(accepted)
        return int(standing[int(self.uniform_below(standing.size, 1)[0])])

    @staticmethod
    def _gaps(scores: Integers, rate: Fraction | int) -> tuple[Integers, Fraction]:
        """Return how far each score lies below the best, and the rate, both checked."""
        scores, rate = whole_numbers(scores), exact(rate)
        if rate < 0:
            raise InputRefused("noise.rate")
        if scores.ndim != 1 or scores.size == 0:
            raise InputRefused("noise.choices")
        if int(scores.max()) - int(scores.min()) >= LARGEST_VALUE:
            raise OverflowError("the scores lie further apart than 2^62")
        return scores.max() - scores, rate

    def _flip(self, gaps: Integers, rate: Fraction) -> npt.NDArray[np.bool_]:
        """Succeed with probability exp(−rate · gap), one trial for each gap."""
        factor = float(min(rate, Fraction(1 << 60)))  # beyond it every gap of 1 is far past LARGEST anyway
        return self._accept(gaps * factor, lambda place: int(gaps[place]) * rate)

    def _uniform_candidates(self, n: int, count: int) -> Integers:
        """Return up to ``count`` independent whole numbers below n."""
        if n > 1 << WORD_BITS:
            drawn = self._digits((n - 1).bit_length(), count)
            return drawn[drawn < n]
        products = self._words(count).astype(np.uint64) * np.uint64(n)
        keep = (products & np.uint64(0xFFFFFFFF)) >= (1 << WORD_BITS) % n
        return (products[keep] >> np.uint64(WORD_BITS)).astype(np.int64)


# --- staircase noise -------------------------------------------------------------------------------------


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
        self._count(Draw("staircase", epsilon, (step, first)), size)
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


# --- noise of any direction on whole numbers -------------------------------------------------------------


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
        away. See `engine.privacy.exact_vector`.

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
        self._count(Draw("vector", squared, (int(length),)), size)
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
        vectors = _join(points[kept], fine, shells.digits)
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


def _join(points: Integers, fine: Integers, digits: int) -> Integers:
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


# --- shells of the lattice: how draws are proposed -------------------------------------------------------
# The law is P(z) ∝ e^(−‖z‖/s) for z in Z^d. The lattice is cut into shells first ≤ ‖y‖² < end of a
# coarser copy z = 2^m y + u, each with a Gaussian of whole numbers that proposes points in it. All
# bounds are those of exact integers; what is drawn is decided in `ExactVector`.


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

    @once
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

    @once
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
