"""What invented rows tell of the people they were made from: more than of others is the leak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd

from engine import arrays
from engine.privacy.accuracy import NORMAL_WITHIN

Codes = arrays.Integers
Floats = arrays.Floats

MOST_COMPARED = 2_000
MOST_INDICATORS = 500
MOST_ADDED = 3
"""Columns that a set grows to by which something is guessed."""
MOST_LOOKED, MOST_JOINED = 40, 8
"""Columns that are tried alone, and those of them that are tried together."""
CLEARLY = 3
"""Standard errors by which a set of columns has to be stronger than all of them together."""


@dataclass(frozen=True)
class Rate:
    """How often something succeeded, with the 95 % interval of Wilson (1927)."""

    successes: int
    attacks: int

    @property
    def share(self) -> float:
        """Successes of all attacks; 0 without any."""
        return self.successes / self.attacks if self.attacks else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Bounds of the share.

        Examples
        --------
        >>> low, high = Rate(5, 10).interval
        >>> round(low, 3), round(high, 3)
        (0.237, 0.763)
        """
        if not self.attacks:
            return 0.0, 1.0
        z, n, p = NORMAL_WITHIN, self.attacks, self.share
        middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        low, high = (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
        # at the ends the formula gives 0 and 1, but for what rounding leaves of them
        return (low if self.successes else 0.0), (high if self.successes < n else 1.0)


def copied_rows(released: Mapping[str, Codes], original: Mapping[str, Codes]) -> Rate:
    """Count released rows that equal an original row that no other original row equals.

    Parameters
    ----------
    released, original
        Codes by column, the same ones; equal codes are equal cells.

    Notes
    -----
    Rows of people who were not used equal some original rows by chance: compare with their rate.

    Examples
    --------
    >>> copied_rows({"a": np.array([1, 2, 3])}, {"a": np.array([1, 1, 2])})
    Rate(successes=1, attacks=3)
    """
    one, other = number_rows(released, original)
    counts = np.bincount(other, minlength=int(max(one.max(initial=0), other.max(initial=0))) + 1)
    return Rate(int((counts[one] == 1).sum()), len(one))


def rate_told(
    released: Mapping[str, Codes], people: Mapping[str, Codes], *, known: Sequence[str], asked: str
) -> Rate:
    """Count people whose value is guessed rightly from released rows that agree in what is known.

    Parameters
    ----------
    released, people
        Codes by column.
    known
        Columns that an intruder knows of a person.
    asked
        The column that is guessed: the most frequent value among agreeing rows, among all where none agrees.

    Examples
    --------
    >>> table = {"age": np.array([0, 0, 1]), "ill": np.array([1, 1, 0])}
    >>> rate_told(table, table, known=["age"], asked="ill")
    Rate(successes=3, attacks=3)
    """
    cells, own = number_rows({n: released[n] for n in known}, {n: people[n] for n in known})
    size = int(max(released[asked].max(initial=0), people[asked].max(initial=0))) + 1
    pairs, counts = np.unique(cells * size + released[asked], return_counts=True)
    best = np.full(int(max(cells.max(initial=0), own.max(initial=0))) + 1, -1)
    order = np.argsort(counts, kind="stable")  # the most frequent is written last
    best[pairs[order] // size] = pairs[order] % size
    guess = best[own]
    guess[guess < 0] = np.bincount(released[asked]).argmax()
    return Rate(int((guess == people[asked]).sum()), len(own))


@dataclass(frozen=True)
class Guesses:
    """Guesses of a column of people used, and of people not used.

    Parameters
    ----------
    released, people, others
        Codes by column; ``others`` None where nobody was kept apart.
    asked
        The column that is guessed.
    """

    released: Mapping[str, Codes]
    people: Mapping[str, Codes]
    others: Mapping[str, Codes] | None
    asked: str

    def by(self, known: Sequence[str]) -> tuple[Rate, Rate | None]:
        """Return how often somebody who looks at some columns guesses rightly: people used, and others."""
        sides = [
            None if side is None else rate_told(self.released, side, known=known, asked=self.asked)
            for side in (self.people, self.others)
        ]
        assert sides[0] is not None
        return sides[0], sides[1]


def strongest_guess(
    guesses: Guesses, columns: Sequence[str], kept: Sequence[str]
) -> tuple[tuple[str, ...], int]:
    """Return the columns by which most is guessed of people used beyond others, and how many sets were tried.

    Parameters
    ----------
    guesses
        What is guessed.
    columns
        What an intruder knows of a person.
    kept
        Those of them that no released row has otherwise than the row that it was made from.

    Notes
    -----
    Tried: all columns, those kept, each alone (at most `MOST_LOOKED`, those kept first), and of the
    `MOST_JOINED` strongest of these the one more that adds most, up to `MOST_ADDED` together. A set
    other than all counts as stronger only where it is so by `CLEARLY` standard errors: of many sets one is
    the strongest by chance.

    Examples
    --------
    >>> own = {"age": np.arange(4), "sex": np.array([0, 1, 0, 1]), "ill": np.array([0, 0, 1, 1])}
    >>> made = own | {"sex": np.array([1, 0, 1, 0])}
    >>> strongest_guess(Guesses(made, own, None, "ill"), ["age", "sex"], ["age"])[0]
    ('age',)
    """
    found: dict[tuple[str, ...], tuple[float, float]] = {}

    def gained(some: tuple[str, ...]) -> float:
        if some not in found:
            used, others = guesses.by(some)
            error = sum(one.share * (1 - one.share) / one.attacks for one in (used, others) if one)
            found[some] = used.share - (others.share if others else 0.0), sqrt(error)
        return found[some][0]

    everything = tuple(columns)
    base = gained(everything)
    if 0 < len(kept) < len(columns):
        gained(tuple(kept))
    first = sorted(columns, key=lambda name: name not in kept)[:MOST_LOOKED]
    alone = sorted(first, key=lambda name: -gained((name,)))[:MOST_JOINED]
    chosen: tuple[str, ...] = ()
    while len(chosen) < min(MOST_ADDED, len(columns) - 1):
        further = [(*chosen, name) for name in alone if name not in chosen]
        best = max(further, key=gained)
        if chosen and gained(best) <= gained(chosen):
            break
        chosen = best
    clear = [some for some, (gap, error) in found.items() if gap - CLEARLY * error > base]
    return max(clear, key=gained, default=everything), len(found)


def nearest(released: Floats, people: Floats) -> Floats:
    """Return each person's distance to the nearest released row.

    Parameters
    ----------
    released, people
        Shape (rows, coordinates), see `coordinates`.
    """
    from sklearn.neighbors import NearestNeighbors  # on first use

    return np.asarray(NearestNeighbors(n_neighbors=1).fit(released).kneighbors(people)[0][:, 0])


def membership(members: Floats, others: Floats) -> float:
    """Return how well distances tell members from others: the area under the curve, .5 for not at all.

    Examples
    --------
    >>> membership(np.array([0.0, 0.0]), np.array([1.0, 0.0]))
    0.75
    """
    ranks = pd.Series(np.concatenate([members, others])).rank().to_numpy()
    above = ranks[len(members) :].sum() - len(others) * (len(others) + 1) / 2
    return float(above / (len(members) * len(others)))


def coordinates(
    table: Mapping[str, Codes], sizes: Mapping[str, int], is_amount: Mapping[str, bool]
) -> Floats:
    """Return rows as points: amounts by their class from 0 to 1, names by an indicator each.

    Two names that differ are as far apart as the ends of an amount. Many names make a sparse matrix:
    indicators of ten thousand names for every row would not fit into memory.
    """
    if sum(size for name, size in sizes.items() if not is_amount[name]) > MOST_INDICATORS:
        return _sparse_coordinates(table, sizes, is_amount)
    parts = []
    for name, codes in table.items():
        if is_amount[name]:
            parts.append((codes / max(sizes[name] - 1, 1))[:, None])
        else:
            parts.append((codes[:, None] == np.arange(sizes[name])) * np.sqrt(0.5))
    return np.hstack(parts).astype(np.float64)


def _sparse_coordinates(
    table: Mapping[str, Codes], sizes: Mapping[str, int], is_amount: Mapping[str, bool]
) -> Any:
    from scipy.sparse import csr_matrix  # on first use

    first, places, values = 0, [], []
    for name, codes in table.items():
        places.append(np.full(len(codes), first) if is_amount[name] else first + codes)
        scaled = codes / max(sizes[name] - 1, 1)
        values.append(scaled if is_amount[name] else np.full(len(codes), np.sqrt(0.5)))
        first += 1 if is_amount[name] else sizes[name]
    rows = np.tile(np.arange(len(places[0])), len(places))
    stored = (np.concatenate(values), (rows, np.concatenate(places)))
    return csr_matrix(stored, shape=(len(places[0]), first))


def number_rows(one: Mapping[str, Codes], other: Mapping[str, Codes]) -> tuple[Codes, Codes]:
    """Number the different rows of two tables together: equal numbers are equal rows.

    Examples
    --------
    >>> number_rows({"a": np.array([7, 9])}, {"a": np.array([9])})
    (array([0, 1]), array([1]))
    """
    length = len(next(iter(one.values())))
    number, largest = np.zeros(length + len(next(iter(other.values()))), dtype=np.int64), 0
    for name in one:
        both = np.concatenate([one[name], other[name]])
        size = int(both.max(initial=0)) + 1
        if (largest + 1) * size >= 2**62:  # sorting costs most: only where the numbers would not fit
            number = np.unique(number, return_inverse=True)[1]
            largest = int(number.max(initial=0))
        number, largest = number * size + both, (largest + 1) * size - 1
    number = np.unique(number, return_inverse=True)[1]
    return number[:length], number[length:]
