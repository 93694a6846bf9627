"""The shortest way to groups of k people: which columns to leave out or to make coarser, and who stays alone.

Merging values merges groups, so nobody stands out more than before. Of all ways that touch the same columns,
the one that leaves them out therefore leaves the fewest people alone, and of those that lose no column the
one with every column at its coarsest step. So few sets have to be counted, and the answer is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, prod

from engine.progress import SILENT, Progress
from engine.risk.encoding import EncodedTable
from engine.risk.trying import LEFT_OUT, Trials, Tried, hierarchy_to_try

MOST_ROWS, MOST_SETS = 60_000_000, 2_000
"""How many rows are put into groups in all, and how many sets of columns are counted, at most."""
MOST_STEPS = 256


@dataclass(frozen=True)
class Way:
    """Some columns changed together, and who stands out then. Internal: from private rows.

    Parameters
    ----------
    changes
        Column → step of its hierarchy, or `LEFT_OUT`.
    tried
        Who stands out with them.
    """

    changes: Mapping[str, int]
    tried: Tried

    @property
    def lost(self) -> int:
        """How many columns are left out."""
        return sum(step == LEFT_OUT for step in self.changes.values())


@dataclass(frozen=True)
class Ways:
    """The best ways, the one that leaves the fewest people in small groups first.

    Parameters
    ----------
    ways
        For each number of columns the best that leaves out so many, up to the first with nobody below the
        limit; and the best that loses no column.
    counted
        How many ways were counted for it.
    is_complete
        False where more would have to be counted than is counted in a moment.
    """

    ways: tuple[Way, ...]
    counted: int
    is_complete: bool


def shortest_ways(
    table: EncodedTable, *, limit: int, trials: Trials | None = None, progress: Progress = SILENT
) -> Ways:
    """Return the shortest ways to groups of a size.

    Parameters
    ----------
    table
        From `engine.risk.encoding.encode`.
    limit
        Group size k.
    trials
        Of the table, where some were counted already.

    Returns
    -------
    Ways
        Best are the fewest people in groups below the limit, then the fewest alone, then what comes first in
        the order of the columns.

    Notes
    -----
    Exact as far as it counts: `Ways.is_complete` says whether that is all.

    Examples
    --------
    >>> import pandas as pd
    >>> from engine.risk.encoding import encode
    >>> from engine.table.schema import Column, Kind, Role, Schema
    >>> from engine.table.table import Table
    >>> people = Table(pd.DataFrame({"age": [31, 33, 47, 48], "sex": ["f", "f", "m", "m"]}))
    >>> marked = (Column("age", Role.IDENTIFYING, Kind.INTEGER), Column("sex", Role.IDENTIFYING))
    >>> found = shortest_ways(encode(people, Schema(marked)), limit=2)
    >>> [(dict(one.changes), one.tried) for one in found.ways]
    [({'age': 1}, Tried(alone=0, under=0)), ({'age': -1}, Tried(alone=0, under=0))]
    """
    search = _Search(trials or Trials(table), limit)
    names = table.identifying
    top = {name: hierarchy_to_try(table.columns[name].column).height - 1 for name in names}
    coarse = {name: step for name, step in top.items() if step > 0}
    out = list(search.best_of(dict.fromkeys(names, LEFT_OUT), progress.part(0.0, 0.6)))
    coarser = list(search.best_of(coarse, progress.part(0.6, 0.9)))
    found = [*out, *(search.finest(one) for one in coarser[-1:])]
    found.sort(key=lambda one: (one.tried.under, one.tried.alone, one.lost, len(one.changes)))
    return Ways(tuple(found), search.counted, search.is_complete)


class _Search:
    def __init__(self, trials: Trials, limit: int) -> None:
        self.trials, self.limit = trials, limit
        self.counted, self.is_complete = 0, True
        table = trials.table
        self._most = max(min(MOST_SETS, MOST_ROWS // max(table.n_rows, 1)), len(table.identifying))

    def try_with(self, changes: Mapping[str, int]) -> Way:
        """Count who stands out with these changes."""
        self.counted += 1
        return Way(dict(changes), self.trials.count(changes, limit=self.limit))

    def best_of(self, changes: Mapping[str, int], progress: Progress) -> Iterator[Way]:
        """Yield for each number of columns the best set of them, until nobody is below the limit."""
        before, used = None, 0
        for touched in range(1, len(changes) + 1):
            used += comb(len(changes), touched)
            if used > self._most:
                self.is_complete = False
                return
            sets = combinations(changes, touched)
            tried = (self.try_with({name: changes[name] for name in one}) for one in sets)
            best = min(tried, key=_key)
            progress.step(touched / len(changes), "risk.group_sizes")
            if before is None or _key(best) < _key(before):
                yield best
            before = best
            if not best.tried.under:
                return

    def finest(self, way: Way) -> Way:
        """Return a way with finer steps of the same columns and as few people in small groups.

        Of few steps all are counted, the finest in all first; of many each column is taken back by itself.
        """
        tops = [range(1, step + 1) for step in way.changes.values()]
        if prod(map(len, tops)) <= MOST_STEPS:
            every = sorted(product(*tops), key=lambda one: (sum(one), one))
            tried = (self.try_with(dict(zip(way.changes, steps, strict=True))) for steps in every)
            return next((one for one in tried if _key(one) == _key(way)), way)
        for name, top in way.changes.items():
            tried = (self.try_with({**way.changes, name: step}) for step in range(1, top))
            way = next((one for one in tried if _key(one) == _key(way)), way)
        return way


def _key(way: Way) -> tuple[int, int]:
    return way.tried.under, way.tried.alone
