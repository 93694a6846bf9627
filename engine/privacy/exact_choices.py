"""Lots and choices among candidates, exactly: uniform numbers, choices by score.

A base of the noise door (`engine.privacy.noise`), which alone says where the bytes come from.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from engine.errors import InputRefused
from engine.privacy.draw import Draw
from engine.privacy.exact_exponential import WORD_BITS
from engine.privacy.trials import (
    CHUNK,
    LARGEST_VALUE,
    ExactTrials,
    Integers,
    checked_size,
    exact,
    whole_numbers,
)


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
        self._counted[Draw("exponential_choice", rate)] += 1
        chosen = -1
        while chosen < 0:
            left = 8 * gaps.size + 64
            while left:  # to the end, whether or not one has been accepted
                candidates = self.uniform_below(gaps.size, min(left, CHUNK))
                accepted = self._flipped(gaps[candidates], rate)
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
        self._counted[Draw("permute_and_flip", rate)] += 1
        accepted = [
            start + np.flatnonzero(self._flipped(gaps[start : start + CHUNK], rate))
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

    def _flipped(self, gaps: Integers, rate: Fraction) -> npt.NDArray[np.bool_]:
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
