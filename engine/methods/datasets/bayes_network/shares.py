"""How a budget is divided for a network: from public numbers alone, before a row is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from engine.once import once
from engine.privacy.events import Event, Sequential
from engine.privacy.mechanisms import Exponential, LaplaceCounts

SINGLE, STRUCTURE = Fraction(1, 10), Fraction(27, 100)
"""Shares of the budget for single columns and for choosing parents; the rest is for the tables."""
SCORE_MOVES = 2
"""One row moves a score by less: see `engine.methods.datasets.bayes_network.structure.score`."""
MOST_GROUPS = 8
MANY_COLUMNS = 30


@dataclass(frozen=True)
class Shares:
    """Which noise everything gets.

    Parameters
    ----------
    sizes
        Cells of every column.
    epsilon
        Of the whole network.
    moved
        Largest number of rows by which neighbouring tables differ.

    Notes
    -----
    J. Zhang et al., PrivBayes (2017), section 4, with a share for single columns, which say how parents are
    made coarser and how large tables may be.
    """

    sizes: tuple[int, ...]
    epsilon: Fraction
    moved: int

    @property
    def choices(self) -> int:
        """How often a column and its parents are chosen: the first column is drawn by lot."""
        return len(self.sizes) - 1

    @property
    def structure_share(self) -> Fraction:
        """Which share of the budget says what the parents are."""
        return STRUCTURE

    @property
    def most_parents(self) -> int:
        """How many parents a column may have."""
        return 3 if len(self.sizes) <= MANY_COLUMNS else 2

    @once
    def single(self) -> LaplaceCounts:
        """The noise of all single columns together."""
        share = SINGLE if self.choices else Fraction(1)
        return LaplaceCounts(len(self.sizes) * self.moved, share * self.epsilon)

    @once
    def tables(self) -> LaplaceCounts:
        """The noise of the tables of all columns with their parents together."""
        share = 1 - SINGLE - self.structure_share
        return LaplaceCounts(len(self.sizes) * self.moved, share * self.epsilon)

    @once
    def rate(self) -> Fraction:
        """Of every choice: P ∝ exp(rate · score)."""
        return self.structure_share * self.epsilon / (self.choices * 2 * SCORE_MOVES * self.moved)

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise of a cell of a table with parents, or of a column that is alone."""
        return sqrt(2) * float((self.tables if self.choices else self.single).scale)

    def room(self, total: float) -> float:
        """Return how many cells a table may have so that noise does not drown it, from a noisy total.

        Notes
        -----
        θ-usefulness of PrivBayes, θ = 4: an average count of at least 4 times its mean absolute noise, twice.
        """
        return total / (8 * float(self.tables.scale))

    @property
    def event(self) -> Event:
        """What the ledger reserves."""
        if not self.choices:
            return self.single.event
        choice = Exponential(1 / self.rate, Fraction(SCORE_MOVES * self.moved), count=self.choices)
        return Sequential((self.single.event, choice, self.tables.event))
