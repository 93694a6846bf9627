"""Association rules of a table: which values come together often, and one with the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from engine import arrays

Places = arrays.Integers
Item = tuple[int, int]
"""A column and the place of a value in it."""
Items = frozenset[Item]
MOST_SETS = 20_000


@dataclass(frozen=True)
class Rule:
    """Who has all of ``when`` has all of ``then``, too."""

    when: Items
    then: Items

    @property
    def both(self) -> Items:
        """All its values."""
        return self.when | self.then


@dataclass(frozen=True)
class Found:
    """How many rows have all values of a rule, and how many those that it begins with."""

    both: int
    when: int

    @property
    def confidence(self) -> float:
        """The share of those who have the first values that have the others."""
        return self.both / self.when if self.when else 0.0


class Baskets:
    """The rows of a table as combinations of values, each with its number of rows.

    Parameters
    ----------
    codes
        Shape (rows, columns): places of values, −1 for none.
    """

    def __init__(self, codes: Places) -> None:
        self.codes, self.rows = np.unique(codes, axis=0, return_counts=True)
        self.total = len(codes)

    def having(self, items: Items) -> npt.NDArray[np.bool_]:
        """Return which combinations have all the values."""
        return having(self.codes, items)

    def count(self, items: Items) -> int:
        """Return how many rows have all the values."""
        return int(self.rows[self.having(items)].sum())

    def found(self, rule: Rule) -> Found:
        """Return how often a rule holds."""
        return Found(self.count(rule.both), self.count(rule.when))

    def frequent(self, least: int, longest: int) -> dict[Items, int] | None:
        """Return every set of values that at least so many rows have, with their number.

        Parameters
        ----------
        least
            Rows, at least 1.
        longest
            Values in a set.

        Returns
        -------
        dict or None
            None where there are more than `MOST_SETS`.

        Notes
        -----
        R. Agrawal and R. Srikant, "Fast algorithms for mining association rules", VLDB 1994: a set is
        frequent only if all its parts are.
        """
        masks: dict[Items, npt.NDArray[np.bool_]] = {}
        counts: dict[Items, int] = {}
        for column in range(self.codes.shape[1]):
            own = self.codes[:, column]
            sizes = np.bincount(own + 1, weights=self.rows)[1:]
            for value in np.flatnonzero(sizes >= least).tolist():
                one: Items = frozenset({(column, value)})
                masks[one], counts[one] = own == value, int(sizes[value])
        single, level = dict(masks), dict(masks)
        for _ in range(longest - 1):
            level = self._longer(level, single, counts, least)
            if len(counts) > MOST_SETS:
                return None
        return counts

    def _longer(
        self,
        level: dict[Items, npt.NDArray[np.bool_]],
        single: dict[Items, npt.NDArray[np.bool_]],
        counts: dict[Items, int],
        least: int,
    ) -> dict[Items, npt.NDArray[np.bool_]]:
        longer: dict[Items, npt.NDArray[np.bool_]] = {}
        for items, mask in level.items():
            last = max(items)
            for one, own in single.items():
                (item,) = one
                # Each set is made once, from the part without its last value
                if item[0] <= last[0] or any(items - {part} | one not in counts for part in items):
                    continue
                both = mask & own
                count = int(self.rows[both].sum())
                if count >= least:
                    longer[items | one], counts[items | one] = both, count
                    if len(counts) > MOST_SETS:
                        return longer
        return longer


def having(codes: Places, items: Items) -> npt.NDArray[np.bool_]:
    """Return which rows have all the values."""
    found = np.ones(len(codes), dtype=bool)
    for column, value in items:
        found &= codes[:, column] == value
    return found


def rules(counts: dict[Items, int], confidence: float) -> dict[Rule, Found]:
    """Return the rules of frequent sets that hold with at least a confidence.

    Examples
    --------
    >>> baskets = Baskets(np.array([[0, 0], [0, 0], [0, 1], [1, 1]]))
    >>> found = rules(baskets.frequent(2, 2), 0.9)
    >>> [(sorted(rule.when), sorted(rule.then), one.confidence) for rule, one in found.items()]
    [([(1, 0)], [(0, 0)], 1.0)]
    """
    found = {}
    for items, count in counts.items():
        for rule in splits(items):
            one = Found(count, counts[rule.when])
            if one.confidence >= confidence:
                found[rule] = one
    return found


def splits(items: Items) -> Sequence[Rule]:
    """Return every rule that a set of values can be read as."""
    listed = sorted(items)
    return [
        Rule(frozenset(part), items - frozenset(part))
        for size in range(1, len(listed))
        for part in combinations(listed, size)
    ]
