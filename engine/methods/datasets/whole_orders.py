"""Whole orders of places: those that noisy tables foresee, and those that invented people go through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from engine import arrays
from engine.methods.shared.histories import Weighing, project_table, sequence_of

Floats = arrays.Floats
Integers = arrays.Integers

LEAST_CHANCE = 1e-6
"""An order that fewer histories are foreseen to have is not counted by itself."""
MOST_FORESEEN = 200_000
"""Orders of each length that are gone on from: the likeliest."""
ROWS_AT_ONCE = 20_000


@dataclass(frozen=True)
class Foreseen:
    """Whole orders that noisy tables foresee, with the count that each needs to be kept.

    Parameters
    ----------
    cells
        Of `Histories.whole`, rising, shape (orders,).
    thresholds
        Whole numbers from 1 on: noise alone lifts so many of the orders to theirs on average as was allowed.
    """

    cells: Integers
    thresholds: Integers

    @staticmethod
    def of(tables: Mapping[str, Floats], longest: int, scale: Fraction, *, invented: float) -> Foreseen:
        """Return what noisy beginnings, moves and lengths foresee: it reads nothing else.

        Parameters
        ----------
        tables
            ``starts``, ``moves`` and ``lengths`` with noise, shapes (places, slots), (places, places + 1) and
            (longest history,).
        longest
            Places of the longest order that is counted.
        scale
            b of the discrete Laplace noise that counts of orders get.
        invented
            How many orders that nobody has noise may make on average, above 0.

        Notes
        -----
        The chance of an order is that of a chain of last places, times how much more histories there are of
        its length than the chain makes. An order that is likely needs fewer people to be believed: each has
        a share q of the invented ones that is as large as its chance, and is kept from
        τ = ⌈b ln(1/(q (1 + α)))⌉ on, as P(noise ≥ τ) = α^τ/(1 + α), α = e^(−1/b). Genovese, Roeder and
        Wasserman, "False discovery control with p-value weighting" (2006), for weights on tests.
        """
        moves, first = project_table(tables["moves"]), project_table(tables["starts"].sum(axis=1))
        sums = moves.sum(axis=1, keepdims=True)
        following = np.divide(moves, sums, out=np.zeros_like(moves), where=sums > 0)
        lengths = project_table(tables["lengths"])
        shares = lengths / lengths.sum()
        places, cells, chances = len(first), [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        offset = 0
        for codes, found in _grow(first / first.sum(), following, longest):
            length, total = len(cells), float(found.sum())
            cells.append(offset + codes)
            chances.append(found * (shares[length - 1] / total if total > 0 else 0.0))
            offset += places**length
        cell, chance = np.concatenate(cells), np.concatenate(chances)
        cell, chance = cell[chance > 0], chance[chance > 0]
        order = np.argsort(cell)
        share = np.minimum(invented * chance[order] / max(float(chance.sum()), 1e-300), 1.0)
        thresholds = float(scale) * -np.log(share * (1 + np.exp(-1 / float(scale))))
        return Foreseen(cell[order], np.maximum(1, np.ceil(thresholds + 1e-9)).astype(np.int64))

    def counts(self, cells: Integers, counts: Integers) -> Integers:
        """Return how many have each of the orders, by the cells that somebody is in and their counts.

        Examples
        --------
        >>> Foreseen(np.array([2, 5]), np.array([9, 9])).counts(np.array([0, 5]), np.array([7, 3])).tolist()
        [0, 3]
        """
        found = np.zeros(len(self.cells), dtype=np.int64)
        place = np.searchsorted(self.cells, cells)
        known = self.has(cells)
        found[place[known]] = counts[known]
        return found

    def has(self, cells: Integers) -> arrays.Bools:
        """Return which of some cells are among the orders."""
        if not len(self.cells):
            return np.zeros(len(cells), dtype=bool)
        place = np.minimum(np.searchsorted(self.cells, cells), len(self.cells) - 1)
        return np.asarray(self.cells[place] == cells)

    def kept(self, noisy: Integers) -> tuple[Integers, Integers]:
        """Return the orders that reach the count that they need, and their noisy counts."""
        clear = noisy >= self.thresholds
        return self.cells[clear], noisy[clear]


def _grow(first: Floats, following: Floats, longest: int) -> Iterator[tuple[Integers, Floats]]:
    """Give for every length the likely orders, in digits of places, and their chances to end there."""
    places, ends = len(first), following[:, -1]
    likely = np.flatnonzero(first >= LEAST_CHANCE)
    codes, last, chances = likely.astype(np.int64), likely, first[likely]
    for length in range(1, longest + 1):
        yield codes, chances * ends[last]
        if length == longest:
            return
        grown = []
        for start in range(0, len(codes), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            reached = chances[part, None] * following[last[part], :-1]
            row, place = np.nonzero(reached >= LEAST_CHANCE)
            grown.append((codes[part][row] * places + place, place, reached[row, place]))
        if not grown:
            return
        codes, last, chances = (np.concatenate(parts) for parts in zip(*grown, strict=True))
        if len(codes) > MOST_FORESEEN:
            likeliest = np.argsort(-chances, kind="stable")[:MOST_FORESEEN]
            codes, last, chances = codes[likeliest], last[likeliest], chances[likeliest]


@dataclass(frozen=True)
class Orders:
    """Whole orders of places that so many invented people go through.

    Parameters
    ----------
    plans
        The places of every such person, filled up with −1, shape (people, longest order).
    places
        How many places there are.
    """

    plans: Integers
    places: int

    @staticmethod
    def of(cells: Integers, counts: Integers, places: int, *, total: int, people: int) -> Orders:
        """Return the orders of cells of `Histories.whole`, each as often as its noisy count says.

        Parameters
        ----------
        cells, counts
            Whole numbers, shape (orders,); counts at least 1.
        places
            How many places there are.
        total, people
            How many people there are by the noisy lengths, and how many are invented.
        """
        own = [sequence_of(int(cell), places) for cell in cells]
        plans = np.full((len(own), max(map(len, own), default=1)), -1, dtype=np.int64)
        for plan, one in zip(plans, own, strict=True):
            plan[: len(one)] = one
        up_to = np.cumsum(counts.astype(np.float64))
        share = min(1.0, people / max(1, total), people / max(1.0, up_to[-1] if len(up_to) else 0.0))
        times = np.diff(np.floor(up_to * share + 1e-6), prepend=0).astype(np.int64)
        return Orders(np.repeat(plans, times, axis=0), places)

    @property
    def people(self) -> int:
        """How many people go through them."""
        return len(self.plans)

    def taken_out(self, tables: Mapping[str, Floats], weighing: Weighing) -> dict[str, Floats]:
        """Return the tables of everybody else: what these people are in is taken out.

        In beginnings, whose slots these people share with all others of the same first place, so that each
        slot loses the same share.
        """
        if not self.people:
            return dict(tables)
        lengths = (self.plans >= 0).sum(axis=1)
        weights = weighing.weights(lengths)
        moves = tables["moves"].copy()
        for step in range(self.plans.shape[1]):
            there = lengths > step
            last = lengths == step + 1
            after = self.plans[:, min(step + 1, self.plans.shape[1] - 1)]
            after = np.where(last, self.places, after)
            np.subtract.at(moves, (self.plans[there, step], after[there]), weights[there])
        gone = np.bincount(lengths - 1, minlength=len(tables["lengths"]))
        first = np.bincount(self.plans[:, 0], minlength=self.places)
        all_first = np.maximum(tables["starts"].sum(axis=1), 1.0)
        left = np.clip(1 - first / all_first, 0.0, 1.0)
        return {
            **tables,
            "lengths": tables["lengths"] - gone,
            "moves": moves,
            "starts": tables["starts"] * left[:, None],
        }
