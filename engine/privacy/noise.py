"""The noise door: the only place in the engine that draws random numbers.

Every outcome is exact: integers and fractions decide, a uniform number is refined bit by bit where the
first 32 bits do not decide. The randomness is the operating system's. There is no seed.

Threat model: one release at a time on a trusted machine. The time that rejection takes is not hidden from
somebody who watches the running machine.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import InputRefused
from engine.privacy.draw import Draw
from engine.privacy.exact_exponential import WORD_BITS, is_below, word_threshold
from engine.privacy.exact_vector import ExactVector
from engine.privacy.trials import (
    LARGEST_SCALE,
    Integers,
    checked_size,
    exact,
    is_below_rational,
    positive,
    whole_numbers,
)

COINS = 1 << 23  # at a time: a megabyte
URN = 64  # scale of the noise that is drawn ball by ball
SMALLEST_VARIANCE = Fraction(1, 1 << 200)  # below it doubles could underflow: exact arithmetic only


class Noise(ExactVector):
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
        self._count(Draw("discrete_laplace", scale))
        return self._laplace(scale, size)

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
        self._count(Draw("discrete_gaussian", variance))
        return self._gaussian(variance, size)

    def _gaussian(self, variance: Fraction, size: int) -> Integers:
        t = math.isqrt(math.floor(variance)) + 1  # ⌊σ⌋ = ⌊√⌊σ²⌋⌋
        if t > LARGEST_SCALE:
            return self._one_by_one(lambda: self._one_gaussian(variance, t), size)
        return self._fill(size, lambda count: self._gaussian_candidates(variance, t, count))

    def laplace_share(self, scale: Fraction | int, parts: int, size: int) -> Integers:
        """Draw one of ``parts`` shares whose sum is discrete Laplace noise.

        Parameters
        ----------
        scale
            b > 0 of the sum, see `discrete_laplace`; at most 2^52.
        parts
            n: how many independent shares make up the noise, at least 1.
        size
            How many draws, at least 0.

        Returns
        -------
        ndarray of int64, shape (size,)

        Raises
        ------
        InputRefused
            ``noise.exact``, ``noise.scale``, ``noise.choices`` (``parts`` below 1), ``noise.size``.

        Notes
        -----
        A share is the difference of two numbers of the law NB(1/n, e^(−1/b)), n of which sum to the geometric
        number of one side. One is drawn by Pólya's urn: of G balls, G geometric, ball t comes to us with
        probability (1 + n · ours) / (n (1 + t)), exactly. For b above `URN`, G = U + 2^k V: V is shared, and
        U, of less than 2^k, is kept whole by everybody: with n shares of others the total is the noise of one
        and independent noise besides, of at most n · 4^k ≤ n (b/`URN`)² for each of both sides.
        """
        scale, size, whole = positive(scale, "noise.scale"), checked_size(size), exact(parts)
        if scale > LARGEST_SCALE:
            raise InputRefused("noise.scale")
        if whole.denominator != 1 or whole < 1:
            raise InputRefused("noise.choices")
        self._count(Draw("laplace_share", scale, (int(whole),)))
        return self._one_side(scale, int(whole), size) - self._one_side(scale, int(whole), size)

    def gaussian_share(self, variance: Fraction | int, parts: int, size: int) -> Integers:
        """Draw one of ``parts`` shares whose sum is nearly discrete Gaussian noise.

        Parameters
        ----------
        variance
            σ² > 0 of the sum, see `discrete_gaussian`.
        parts
            n: how many independent shares make up the noise, at least 1.
        size
            How many draws, at least 0.

        Raises
        ------
        InputRefused
            ``noise.exact``, ``noise.variance``, ``noise.choices`` (``parts`` below 1), ``noise.size``.

        Notes
        -----
        A share is discrete Gaussian noise of variance σ²/n. How far the law of their sum is from that of one
        is said by `engine.privacy.mechanisms.gaussian_share.deviation_of_sum`.
        """
        variance, size, whole = positive(variance, "noise.variance"), checked_size(size), exact(parts)
        if whole.denominator != 1 or whole < 1:
            raise InputRefused("noise.choices")
        self._count(Draw("gaussian_share", variance, (int(whole),)))
        return self._gaussian(variance / whole, size)

    # --- trials and choices -------------------------------------------------------------------------

    def bernoulli(self, p: Fraction | int, size: int) -> npt.NDArray[np.bool_]:
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

    def bernoulli_exp_minus(self, gamma: Fraction | int, size: int) -> npt.NDArray[np.bool_]:
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

    def bernoulli_exp_minus_each(self, numerators: Integers, denominator: int) -> npt.NDArray[np.bool_]:
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

    def sparse_vector(
        self, scores: Integers, *, threshold: Fraction | int, each: Fraction | int, most: int
    ) -> npt.NDArray[np.int8]:
        """Say which scores are at least 0, one after the other, until ``most`` of them were.

        Parameters
        ----------
        scores
            Integers, shape (n,): how far each exact answer is above its own public threshold.
        threshold
            Scale of the discrete Laplace noise that all scores are compared with, drawn once.
        each
            Scale of the discrete Laplace noise of every score, drawn anew for each.
        most
            After so many scores that were at least 0 nothing more is said, at least 1.

        Returns
        -------
        array of int8, shape (n,)
            1 for at least 0, 0 for below, −1 for a score that was not reached.

        Raises
        ------
        InputRefused
            ``noise.exact``, ``noise.scale``, ``noise.choices`` (``most`` below 1).

        Notes
        -----
        M. Lyu, D. Su, N. Li, "Understanding the sparse vector technique for differential privacy", VLDB 2017,
        algorithm 7 without its third part: no number is given. Where scores move by at most Δ between
        neighbouring data sets it loses at most Δ/threshold + 2·most·Δ/each, or with most·Δ/each where all of
        them move in one direction (theorems 4 and 5; nothing in the proof needs numbers that are not whole).
        The noise of every score is drawn, also of those that are not reached.
        """
        scores = whole_numbers(scores)
        if not exact(most) >= 1 or exact(most).denominator != 1:
            raise InputRefused("noise.choices")
        scales = (positive(threshold, "noise.scale"), positive(each, "noise.scale"))
        shape = (scales[0].numerator, scales[0].denominator, int(most), scores.size)
        self._count(Draw("sparse_vector", scales[1], shape))
        shared, noise = (
            self._laplace(scale, size) for scale, size in zip(scales, (1, scores.size), strict=True)
        )
        is_above = scores.astype(object) + noise.astype(object) >= int(shared[0])
        found = np.asarray(is_above, dtype=np.int8)
        reached = np.flatnonzero(found)[int(most) - 1 : int(most)]
        found[int(reached[0]) + 1 if reached.size else scores.size :] = -1
        return found

    def clear_counts(
        self,
        cells: npt.NDArray[Any],
        counts: Integers,
        *,
        scale: Fraction | int,
        threshold: int,
        size: int = 0,
    ) -> tuple[npt.NDArray[Any], Integers]:
        """Return the cells whose counts reach a threshold after noise, with these counts, ordered by cell.

        Parameters
        ----------
        cells
            The different cells that somebody is in; whole numbers below ``size`` where there is one.
        counts
            How many are in each, at least 1: whole numbers, shape of ``cells``.
        scale
            b > 0 of the discrete Laplace noise of every count, see `discrete_laplace`.
        threshold
            From which count on a cell leaves, at least 1.
        size
            How many cells there can be. The law is then that of noise on the counts of all of them, of which
            those below the threshold are dropped. 0: nobody knows which there can be, and a cell that nobody
            is in never leaves.

        Raises
        ------
        InputRefused
            ``noise.exact``, ``noise.scale``, ``noise.choices`` (a threshold below 1), ``noise.size``.

        Notes
        -----
        An empty cell reaches τ with probability α^τ/(1 + α), α = e^(−1/b). How many do is drawn exactly: of a
        number below e^(−τ/b) the first k digits are 0, which a coin for each of k digits decides for all
        cells that are left; the others are decided one by one, and 1/(1 + α) by a coin and a trial, again and
        again. Their values are τ and a geometric number. G. Cormode, C. Procopiuc, D. Srivastava, T. Tran,
        "Differentially private summaries for sparse data", ICDT 2012. How long it takes tells how many cells
        somebody is in.

        Examples
        --------
        >>> cells, counts = np.array([3, 8]), np.array([500, 2])
        >>> found, values = Noise().clear_counts(cells, counts, scale=1, threshold=60, size=100)
        >>> found.tolist(), bool(abs(values[0] - 500) < 60)
        ([3], True)
        """
        counts, scale, size = whole_numbers(counts), positive(scale, "noise.scale"), checked_size(size)
        if scale > LARGEST_SCALE:
            raise InputRefused("noise.scale")
        if not exact(threshold) >= 1 or exact(threshold).denominator != 1:
            raise InputRefused("noise.choices")
        self._count(Draw("clear_counts", scale, (int(threshold), size)))
        values = counts + self._laplace(scale, counts.size)
        kept = values >= threshold
        cells, values, known = cells[kept], values[kept], cells
        if size:
            more = self._clear_by_noise(scale, int(threshold), size - known.size)
            found = self._empty_cells(known, size, more)
            tails = self._fill(more, lambda count: self._geometric_candidates(scale, count))
            cells, values = np.concatenate([cells, found]), np.concatenate([values, threshold + tails])
        order = np.argsort(cells, kind="stable")
        return cells[order], values[order]

    def random_keys(self, size: int) -> npt.NDArray[np.uint64]:
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

    # --- inside: counts of many cells ---------------------------------------------------------------

    def _clear_by_noise(self, scale: Fraction, threshold: int, empty: int) -> int:
        """Return how many empty cells reach a threshold: binomial, with α^τ/(1 + α), exactly."""
        gamma, digits, left = threshold / scale, 0, empty
        # e^−γ < 2^−digits by far: whoever is below it has so many digits 0
        while left and gamma > 3 * (digits + 1) / Fraction(4):
            left, digits = self._heads(left), digits + 1
        below = sum(self._refine(0, partial(is_below, gamma=gamma), bits=digits) for _ in range(left))
        return sum(self._one_side_alone(1 / scale) for _ in range(below))

    def _heads(self, size: int) -> int:
        """Return how many of so many coins show heads."""
        found = 0
        while size > 0:
            part = min(size, COINS)
            drawn = np.frombuffer(self._bytes(-(-part // 8)), dtype=np.uint8)
            found += int(np.bitwise_count(drawn).sum(dtype=np.int64))
            spare = -part % 8  # digits of the last byte that nobody asked for
            found -= int(drawn[-1] & ((1 << spare) - 1)).bit_count()
            size -= part
        return found

    def _one_side_alone(self, gamma: Fraction) -> bool:
        """Succeed with probability 1/(1 + e^−γ)."""
        while True:
            if self._integer(1):
                return True
            if self._one_exp_minus(gamma):
                return False

    def _empty_cells(self, known: npt.NDArray[Any], size: int, count: int) -> Integers:
        """Return so many different cells, each set of those that are not known equally likely."""
        taken, found = np.sort(known), set[int]()
        while len(found) < count:
            cell = self._one_below(size)
            at = int(np.searchsorted(taken, cell))
            if at == taken.size or taken[at] != cell:
                found.add(cell)
        return np.array(sorted(found), dtype=np.int64)

    # --- inside: shares -----------------------------------------------------------------------------

    def _one_side(self, scale: Fraction, parts: int, size: int) -> Integers:
        """Return shares of geometric numbers."""
        balls = self._fill(size, lambda count: self._geometric_candidates(scale, count))
        digits = max(math.floor(scale / URN).bit_length() - 1, 0)
        low, left = balls & ((1 << digits) - 1), balls >> digits
        ours = np.zeros(size, dtype=np.int64)
        drawn, alive = 0, np.flatnonzero(left > 0)
        while alive.size:
            bound = parts * (1 + drawn)
            lots = self._fill(alive.size, partial(self._uniform_candidates, bound))
            ours[alive] += lots < 1 + parts * ours[alive]
            drawn += 1
            alive = alive[left[alive] > drawn]
        return (ours << digits) + low

    # --- inside: candidates -------------------------------------------------------------------------

    def _laplace(self, scale: Fraction, size: int) -> Integers:
        if scale > LARGEST_SCALE:
            return self._one_by_one(lambda: self._one_laplace(scale), size)
        return self._fill(size, lambda count: self._laplace_candidates(scale, count))

    def _laplace_candidates(self, scale: Fraction, count: int) -> Integers:
        """Return up to ``count`` independent discrete Laplace draws; scale at most 2^52."""
        magnitude = self._geometric_candidates(scale, count)
        negative = self._coins(magnitude.size)
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

    # --- inside: one at a time, in Python integers, for any scale -----------------------------------

    def _one_laplace(self, scale: Fraction) -> int:
        while True:
            magnitude, negative = self._one_geometric(scale), self._integer(1)
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
