"""The noise door: the only place in the engine that draws random numbers.

Every outcome is exact: integers and fractions decide, a uniform number is refined bit by bit where the
first 32 bits do not decide. The randomness is the operating system's. There is no seed.

Threat model: one release at a time on a trusted machine. The time that rejection takes is not hidden from
somebody who watches the running machine.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputRefused
from engine.privacy.events import Draw
from engine.privacy.exact_exponential import WORD_BITS, word_threshold
from engine.privacy.trials import (
    CHUNK,
    ExactTrials,
    Integers,
    checked_size,
    exact,
    is_below_rational,
    positive,
    whole_numbers,
)

LARGEST_SCALE = 1 << 52  # above it draws are Python integers
SMALLEST_VARIANCE = Fraction(1, 1 << 200)  # below it doubles could underflow: exact arithmetic only
LARGEST_VALUE = 1 << 62


class Noise(ExactTrials):
    """Draws random numbers for releases.

    Parameters
    ----------
    random_bytes
        Gives that many uniform random bytes. Only tests ever pass anything but the operating system's.
    on_first_draw
        Called once, before the first byte is drawn: the ledger marks the budget as spent there. Where it
        raises, nothing is drawn.

    Notes
    -----
    Scales and probabilities are `int` or `fractions.Fraction`; a float is refused (``noise.exact``),
    because 0.1 is not one tenth.
    """

    def __init__(
        self,
        random_bytes: Callable[[int], bytes] = os.urandom,
        *,
        on_first_draw: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(random_bytes, on_first_draw)
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

    # --- integer noise ------------------------------------------------------------------------------

    def discrete_laplace(self, scale: Fraction | int, size: int) -> Integers:
        """Draw from the discrete Laplace distribution, also called two-sided geometric.

        Parameters
        ----------
        scale
            b > 0 in P(z) = (e^(1/b) − 1) / (e^(1/b) + 1) · e^(−|z| / b); sensitivity / ε for ε-differential
            privacy of an integer answer with that L1 sensitivity.
        size
            How many draws, at least 0.

        Returns
        -------
        ndarray of int64, shape (size,)
            For a scale above 2^52 an array of Python integers (dtype object) instead, which cannot overflow.

        Raises
        ------
        InputRefused
            ``noise.exact`` (a float or no number), ``noise.scale`` (not above 0), ``noise.size``.

        Notes
        -----
        C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020,
        algorithm 2, with blocks of a power of two, 2^d <= b, in place of blocks of s: |z| = u + 2^d · v.

        Examples
        --------
        >>> Noise().discrete_laplace(Fraction(1, 2), 3).shape
        (3,)
        """
        scale = positive(scale, "noise.scale")
        size = checked_size(size)
        self._counted[Draw("discrete_laplace", scale)] += 1
        if scale > LARGEST_SCALE:
            return self._one_by_one(lambda: self._one_laplace(scale), size)
        return self._fill(size, lambda count: self._laplace_candidates(scale, count))

    def discrete_gaussian(self, variance: Fraction | int, size: int) -> Integers:
        """Draw from the discrete Gaussian distribution.

        Parameters
        ----------
        variance
            σ² > 0 in P(z) ∝ e^(−z² / 2σ²), z an integer. The variance of the draws is at most σ².
        size
            How many draws, at least 0.

        Returns
        -------
        ndarray of int64, shape (size,)
            For σ of about 2^52 or more an array of Python integers (dtype object) instead.

        Raises
        ------
        InputRefused
            ``noise.exact``, ``noise.variance``, ``noise.size``.

        Notes
        -----
        Canonne, Kamath and Steinke 2020, algorithm 3: discrete Laplace of scale t = ⌊σ⌋ + 1, accepted with
        probability exp(−(|z| − σ²/t)² / 2σ²).
        """
        variance = positive(variance, "noise.variance")
        size = checked_size(size)
        self._counted[Draw("discrete_gaussian", variance)] += 1
        t = math.isqrt(math.floor(variance)) + 1  # ⌊σ⌋ = ⌊√⌊σ²⌋⌋
        if t > LARGEST_SCALE:
            return self._one_by_one(lambda: self._one_gaussian(variance, t), size)
        return self._fill(size, lambda count: self._gaussian_candidates(variance, t, count))

    # --- trials and choices -------------------------------------------------------------------------

    def bernoulli(self, p: Fraction | int, size: int) -> NDArray[np.bool_]:
        """Draw trials that succeed with probability exactly ``p``, 0 <= p <= 1: shape (size,).

        Raises
        ------
        InputRefused
            ``noise.exact``, ``noise.probability``, ``noise.size``.
        """
        p, size = exact(p), checked_size(size)
        if not 0 <= p <= 1:
            raise InputRefused("noise.probability")
        threshold = math.floor(p * (1 << WORD_BITS))
        words = self._words(size)
        below = words < threshold
        if p.denominator > 1 << WORD_BITS or (1 << WORD_BITS) % p.denominator:
            for place in np.flatnonzero(words == threshold):
                below[place] = self._refine(threshold, partial(is_below_rational, p=p))
        return below

    def bernoulli_exp_minus(self, gamma: Fraction | int, size: int) -> NDArray[np.bool_]:
        """Draw trials that succeed with probability exactly exp(−γ), γ >= 0: shape (size,).

        Raises
        ------
        InputRefused
            ``noise.exact``, ``noise.exponent`` (below 0), ``noise.size``.
        """
        gamma, size = exact(gamma), checked_size(size)
        if gamma < 0:
            raise InputRefused("noise.exponent")
        return self._below_exp_minus(gamma, word_threshold(gamma), size)

    def bernoulli_exp_minus_each(self, numerators: Integers, denominator: int) -> NDArray[np.bool_]:
        """Draw one trial for each integer n_i >= 0 that succeeds with probability exp(−n_i / denominator).

        Raises
        ------
        InputRefused
            ``noise.exact`` (not integers), ``noise.exponent`` (below 0, or a denominator below 1).
        """
        numerators = whole_numbers(numerators)
        step = 1 / positive(denominator, "noise.exponent")
        if numerators.size and numerators.min() < 0:
            raise InputRefused("noise.exponent")
        return self._accept(
            numerators * float(step),
            lambda place: int(numerators[place]) * step,
        )

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

    def random_keys(self, size: int) -> NDArray[np.uint64]:
        """Draw independent uniform 64-bit keys, shape (size,): whoever sorts by them draws lots."""
        return self._long_words(checked_size(size))

    def shuffled(self, n: int) -> Integers:
        """Draw a random order of 0 … n − 1, all n! equally likely: int64, shape (n,)."""
        while True:
            keys = self.random_keys(n)
            order = np.argsort(keys)
            ranked = keys[order]
            if not (ranked[1:] == ranked[:-1]).any():  # given that all differ, every order is equally likely
                return order.astype(np.int64)

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
        scores, rate = whole_numbers(scores), exact(rate)
        if rate < 0:
            raise InputRefused("noise.rate")
        if scores.ndim != 1 or scores.size == 0:
            raise InputRefused("noise.choices")
        if int(scores.max()) - int(scores.min()) >= LARGEST_VALUE:
            raise OverflowError("the scores lie further apart than 2^62")
        self._counted[Draw("exponential_choice", rate)] += 1
        gaps = scores.max() - scores
        factor = float(min(rate, Fraction(1 << 60)))  # beyond it every gap of 1 is far past LARGEST anyway
        chosen = -1
        while chosen < 0:
            left = 8 * scores.size + 64
            while left:  # to the end, whether or not one has been accepted
                candidates = self.uniform_below(scores.size, min(left, CHUNK))
                below_best = gaps[candidates]
                accepted = self._accept(below_best * factor, self._gap_exponent(below_best, rate))
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
        scores, rate = whole_numbers(scores), exact(rate)
        if rate < 0:
            raise InputRefused("noise.rate")
        if scores.ndim != 1 or scores.size == 0:
            raise InputRefused("noise.choices")
        if int(scores.max()) - int(scores.min()) >= LARGEST_VALUE:
            raise OverflowError("the scores lie further apart than 2^62")
        self._counted[Draw("permute_and_flip", rate)] += 1
        gaps = scores.max() - scores
        factor = float(min(rate, Fraction(1 << 60)))  # beyond it every gap of 1 is far past LARGEST anyway
        accepted = []
        for start in range(0, gaps.size, CHUNK):
            some = gaps[start : start + CHUNK]
            accepted.append(
                start + np.flatnonzero(self._accept(some * factor, self._gap_exponent(some, rate)))
            )
        standing = np.concatenate(accepted)
        return int(standing[int(self.uniform_below(standing.size, 1)[0])])

    # --- inside the house ---------------------------------------------------------------------------

    def internal_generator(self) -> np.random.Generator:
        """Return numpy's generator for an analysis that stays inside: never for anything that leaves.

        Returns
        -------
        numpy.random.Generator
            Philox, keyed with 128 bits from this door.

        Raises
        ------
        RuntimeError
            This is the door of a release, or numbers have been drawn from it. A release draws from the door
            itself: floating-point draws are not exact, and their low digits can give away the answer.

        Notes
        -----
        For drawing neighbours and simulating losses (privacy at risk that is implicit or measured directly):
        millions of draws whose result is a figure about a mechanism, not the output of one.

        Examples
        --------
        >>> Noise().internal_generator().integers(6, size=3).shape
        (3,)
        """
        if self._on_first_draw is not None or self._drawn:
            raise RuntimeError("a release draws from the door alone")
        return np.random.Generator(np.random.Philox(key=int.from_bytes(self._bytes(16), "little")))

    # --- inside: candidates -------------------------------------------------------------------------

    def _laplace_candidates(self, scale: Fraction, count: int) -> Integers:
        """Return up to ``count`` independent discrete Laplace draws; scale at most 2^52."""
        digits, rate = _block(scale), 1 / scale
        low = self._digits(digits, count)
        if digits:  # γ = low / scale < 1 as low < 2^digits <= scale; three roundings: error below 2^-50
            low = low[self._accept(low * float(rate), lambda place: int(low[place]) * rate)]
        high = self._geometric(rate * (1 << digits), low.size)
        if high.size and int(high.max()) >= LARGEST_VALUE >> digits:
            raise OverflowError("a draw does not fit 62 bits")  # less likely than exp(-500)
        magnitude = low + (high << digits)
        negative = self._coins(low.size)
        # Zero would count twice: the negative one is drawn again
        return np.where(negative, -magnitude, magnitude)[~(negative & (magnitude == 0))]

    def _gaussian_candidates(self, variance: Fraction, t: int, count: int) -> Integers:
        """Return up to ``count`` independent discrete Gaussian draws."""
        drawn = self._laplace_candidates(Fraction(t), count)
        shift, half = variance / t, 1 / (2 * variance)

        def gamma(place: int) -> Fraction:
            return (abs(int(drawn[place])) - shift) ** 2 * half

        if variance < SMALLEST_VARIANCE:
            keep = np.array([self._one_exp_minus(gamma(place)) for place in range(drawn.size)], dtype=bool)
            return drawn[keep]
        # Error of the float exponent where it is below 25: u = 2^-53, |δ| = ||z| − σ²/t| < 7.1 σ.
        # σ >= 1: t <= 2σ, error of δ < u (|z| + σ²/t + |δ|) < 17 u t < 34 u σ.
        # σ < 1: t = 1, z is exact, error of δ < u (σ² + |δ|) < 9 u σ.
        # Either way the error of γ < 7.1 · 34 u + 4 · 25 u < 2^-40.
        distance = np.abs(drawn) - float(shift)
        return drawn[self._accept(distance * distance * float(half), gamma)]

    @staticmethod
    def _gap_exponent(gaps: Integers, rate: Fraction) -> Callable[[int], Fraction]:
        return lambda place: int(gaps[place]) * rate

    def _uniform_candidates(self, n: int, count: int) -> Integers:
        """Return up to ``count`` independent whole numbers below n."""
        if n > 1 << WORD_BITS:
            drawn = self._digits((n - 1).bit_length(), count)
            return drawn[drawn < n]
        products = self._words(count).astype(np.uint64) * np.uint64(n)
        keep = (products & np.uint64(0xFFFFFFFF)) >= (1 << WORD_BITS) % n
        return (products[keep] >> np.uint64(WORD_BITS)).astype(np.int64)

    def _geometric(self, gamma: Fraction, size: int) -> Integers:
        """Count the successes, each with probability exp(−γ), before the first failure."""
        counts = np.zeros(size, dtype=np.int64)
        threshold = word_threshold(gamma)
        alive = np.flatnonzero(self._below_exp_minus(gamma, threshold, size))
        while alive.size:
            counts[alive] += 1
            alive = alive[self._below_exp_minus(gamma, threshold, alive.size)]
        return counts

    # --- inside: one at a time, in Python integers, for any scale -----------------------------------

    def _one_by_one(self, draw: Callable[[], int], size: int) -> NDArray:
        values = np.empty(size, dtype=object)
        for place in range(size):
            values[place] = draw()
        return values

    def _one_laplace(self, scale: Fraction) -> int:
        digits, rate = _block(scale), 1 / scale
        while True:
            low = self._integer(digits)
            if not self._one_exp_minus(low * rate):
                continue
            high = 0
            while self._one_exp_minus(rate * (1 << digits)):
                high += 1
            magnitude, negative = low + (high << digits), self._integer(1)
            if magnitude or not negative:
                return -magnitude if negative else magnitude

    def _one_gaussian(self, variance: Fraction, t: int) -> int:
        while True:
            drawn = self._one_laplace(Fraction(t))
            if self._one_exp_minus((abs(drawn) - variance / t) ** 2 / (2 * variance)):
                return drawn


def ordinary_generator() -> np.random.Generator:
    """Return an ordinary generator, for releases whose promise bounds no loss; `engine.release` alone asks.

    Notes
    -----
    Keyed with 128 bits of the operating system's randomness that nobody keeps. Its floating-point draws prove
    nothing: where a loss is bounded, a method draws from `Noise`.
    """
    return np.random.Generator(np.random.Philox(key=int.from_bytes(os.urandom(16), "little")))


def _block(scale: Fraction) -> int:
    """Return d of the largest block 2^d <= scale, 0 where the scale is below 1."""
    return max(math.floor(scale).bit_length() - 1, 0)
