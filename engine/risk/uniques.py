"""Which columns make people stand out: every set of a few columns, and the smallest that single somebody out.

A row is singled out by a set of columns when nobody else has its values there; the set is *minimal* for the
row when no smaller part of it does so already.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.errors import InputRefused
from engine.progress import SILENT, Progress
from engine.risk.combinations import MOST_COUNTED, Codes, Numbers, dense, find_alone, number_combinations
from engine.risk.encoding import EncodedTable

MOST_SETS = 20_000
LARGEST = 4
_MOST_WORK = 10**9  # rows times sets: some ten seconds
_MOST_PACKED = 1 << 40  # what a key may grow to before keys are numbered anew
Bits = arrays.Bytes
"""A flag for each row, eight in a byte: of hundreds of sets they have room."""


@dataclass(frozen=True)
class ColumnSet:
    """How far a set of columns tells rows apart. Internal: from private rows.

    Parameters
    ----------
    columns
        Names.
    groups
        Different combinations of values.
    alone
        Rows whose combination no other row has.
    distinction
        Share of different combinations among the rows.
    separation
        Share of pairs of rows that differ in some column of the set.
    """

    columns: tuple[str, ...]
    groups: int
    alone: int
    distinction: float
    separation: float


def column_sets(
    table: EncodedTable,
    columns: Sequence[str] | None = None,
    *,
    largest: int = LARGEST,
    progress: Progress = SILENT,
) -> tuple[ColumnSet, ...]:
    """Return distinction and separation of every set of columns up to a size.

    Parameters
    ----------
    table
        From `engine.risk.encoding.encode`.
    columns
        Names; by default the identifying columns.
    largest
        Largest number of columns in a set.

    Returns
    -------
    tuple of ColumnSet
        Small sets first, in the order of the columns.

    Raises
    ------
    InputRefused
        ``risk.too_many_sets``.

    Notes
    -----
    Source: R. Motwani and Y. Xu, Efficient algorithms for masking and finding quasi-identifiers, 2007. Rows
    are compared, whoever they belong to.
    """
    names = table.identifying if columns is None else tuple(columns)
    total = _number_of_sets(len(names), largest)
    n = table.n_rows
    found = {}
    for done, (chosen, counted) in enumerate(_counted_sets(table, names, largest)):
        if done % 64 == 0:
            progress.step(done / total, "risk.column_sets")
        groups, alone, squares = counted
        found[chosen] = ColumnSet(
            columns=tuple(names[place] for place in chosen),
            groups=groups,
            alone=alone,
            distinction=groups / n if n else 0.0,
            separation=1.0 - (squares - n) / (n * (n - 1)) if n > 1 else 0.0,
        )
    return tuple(found[chosen] for chosen in sorted(found, key=lambda chosen: (len(chosen), chosen)))


@dataclass(frozen=True, eq=False)
class MinimalUniques:
    """The smallest sets of columns that single rows out. Internal: from private rows.

    Parameters
    ----------
    columns
        The columns that were looked at.
    by_size
        Number of columns → how many pairs of a row and a minimal set of that size there are.
    by_set
        Set of columns → rows for which it is minimal; sets without any are left out.
    contribution
        Column → its part of the score of all rows, between 0 and 1; parts overlap and do not add up to 1.
    score
        For every row, how easily it is singled out; 0 where no set of at most ``largest`` columns does.
    smallest
        For every row the size of its smallest set, 0 where there is none.
    """

    columns: tuple[str, ...]
    by_size: dict[int, int]
    by_set: dict[tuple[str, ...], int]
    contribution: dict[str, float]
    score: npt.NDArray[np.float64] = field(repr=False)
    smallest: npt.NDArray[np.int8] = field(repr=False)
    _rows: Mapping[tuple[int, ...], Bits] = field(repr=False)

    @property
    def singled_out(self) -> Mapping[tuple[int, ...], Bits]:
        """Places of columns → the rows for which the set is minimal, as bits in their order."""
        return self._rows

    def sets_of(self, row: int) -> tuple[tuple[str, ...], ...]:
        """Return the minimal sets of one row, the smallest first."""
        return tuple(
            tuple(self.columns[place] for place in chosen)
            for chosen, rows in self._rows.items()
            if rows[row >> 3] << (row & 7) & 128
        )


def minimal_uniques(
    table: EncodedTable,
    columns: Sequence[str] | None = None,
    *,
    largest: int = LARGEST,
    progress: Progress = SILENT,
) -> MinimalUniques:
    """Find for every row the smallest sets of columns that single it out.

    Parameters
    ----------
    table
        From `engine.risk.encoding.encode`.
    columns
        Names; by default the identifying columns.
    largest
        Largest number of columns in a set.

    Returns
    -------
    MinimalUniques
        Somebody with several rows is singled out where no *other* person has the values of the row.

    Raises
    ------
    InputRefused
        ``risk.too_many_sets``.

    Notes
    -----
    Source: M. Elliot, A. Manning and R. Ford, A computational algorithm for handling the special uniques
    problem, 2002; the score is that of A. Manning, D. Haglin and J. Keane, A recursive search algorithm for
    statistical disclosure assessment, 2008: see `set_score`. Rows that a part of a set singles out already
    are not looked at: they differ from all others anyway, so that leaving them out changes nothing for these.

    Examples
    --------
    >>> import pandas as pd
    >>> from engine.risk.encoding import encode
    >>> from engine.table.schema import Column, Role, Schema
    >>> from engine.table.table import Table
    >>> rows = pd.DataFrame({"age": [1, 1, 2, 2], "sex": ["f", "m", "f", "m"], "zip": [1, 1, 1, 9]})
    >>> schema = Schema(tuple(Column(name, Role.IDENTIFYING) for name in rows))
    >>> found = minimal_uniques(encode(Table(rows), schema))
    >>> found.by_size[1], found.by_size[2], found.by_set[("zip",)], found.sets_of(3)
    (1, 6, 1, (('zip',), ('age', 'sex')))
    """
    names = table.identifying if columns is None else tuple(columns)
    largest = min(largest, len(names))
    total = _number_of_sets(len(names), largest)
    n, done = table.n_rows, 0
    codes = [table.columns[name].codes for name in names]
    widths = [table.columns[name].size for name in names]
    owners: Codes | None = None if table.people is None else table.people.astype(np.int32)
    finer: dict[tuple[int, ...], Bits] = {(): np.zeros((n + 7) // 8, dtype=np.uint8)}
    found = _Found(names, n, largest)
    beginning: tuple[int, ...] | None = None
    for size in range(1, largest + 1):
        coarser, finer = finer, {}
        for chosen in combinations(range(len(names)), size):
            if done % 64 == 0:
                progress.step(done / total, "risk.minimal_uniques")
            done += 1
            out = _singled_out(coarser, chosen)
            active = np.flatnonzero(~np.unpackbits(out, count=n).astype(bool))
            if chosen[:-1] != beginning:
                beginning = chosen[:-1]
                keys, most = number_combinations(
                    [codes[p] for p in beginning], [widths[p] for p in beginning], n
                )
            last = chosen[-1]
            if most * widths[last] > _MOST_PACKED:
                keys, most = dense(keys, most)
            longer = keys.take(active) * widths[last] + codes[last].take(active)
            people = None if owners is None else owners.take(active)
            rows = active.take(find_alone(longer, most * widths[last], people))
            if len(rows):
                alone = found.add(chosen, rows)
                out |= alone
            if size < largest:
                finer[chosen] = out
    return found.summary()


def set_score(size: int, columns: int, largest: int) -> int:
    """Return what a minimal set of a size adds to the score of a row: Π_{i=size}^{largest−1} (columns − i).

    Notes
    -----
    The number of ways to add columns up to the largest size, in order: the fewer columns single a row out,
    the more it counts.

    Examples
    --------
    >>> [set_score(size, 8, 3) for size in (1, 2, 3)]
    [42, 6, 1]
    """
    return math.prod(columns - i for i in range(size, largest))


class _Found:
    """Takes rows that a set singles out, set by set, and adds up what they say."""

    def __init__(self, names: tuple[str, ...], n_rows: int, largest: int) -> None:
        self._names, self._largest = names, largest
        self._score, self._smallest = np.zeros(n_rows), np.zeros(n_rows, dtype=np.int8)
        self._count: dict[tuple[int, ...], int] = {}
        self._rows: dict[tuple[int, ...], Bits] = {}

    def add(self, chosen: tuple[int, ...], rows: Numbers) -> Bits:
        """Take the rows for which a set is minimal, small sets first, and return them as bits."""
        self._score[rows] += set_score(len(chosen), len(self._names), self._largest)
        before = self._smallest[rows]
        self._smallest[rows] = np.where(before == 0, len(chosen), before)
        self._count[chosen] = len(rows)
        flags = np.zeros(len(self._smallest), dtype=bool)
        flags[rows] = True
        self._rows[chosen] = np.packbits(flags)
        return self._rows[chosen]

    def summary(self) -> MinimalUniques:
        by_size = dict.fromkeys(range(1, self._largest + 1), 0)
        part = dict.fromkeys(self._names, 0.0)
        for chosen, rows in self._count.items():
            by_size[len(chosen)] += rows
            for place in chosen:
                part[self._names[place]] += set_score(len(chosen), len(self._names), self._largest) * rows
        total = float(self._score.sum())
        contribution = {name: value / total if total else 0.0 for name, value in part.items()}
        by_set = {tuple(self._names[place] for place in chosen): rows for chosen, rows in self._count.items()}
        return MinimalUniques(
            self._names, by_size, by_set, contribution, self._score, self._smallest, self._rows
        )


def largest_size(columns: int, rows: int) -> int:
    """Return the largest size, at most four, of which all sets of columns can be looked at within seconds.

    Examples
    --------
    >>> largest_size(10, 10**6), largest_size(100, 10**4), largest_size(30, 10**6)
    (4, 2, 2)
    """
    most = min(MOST_SETS, max(columns, _MOST_WORK // max(rows, 1)))
    largest = 1
    while largest < LARGEST and sum(math.comb(columns, i) for i in range(1, largest + 2)) <= most:
        largest += 1
    return largest


def _number_of_sets(columns: int, largest: int) -> int:
    if not columns:
        raise InputRefused("risk.nothing_identifying")
    total = sum(math.comb(columns, size) for size in range(1, largest + 1))
    if total > MOST_SETS:
        raise InputRefused("risk.too_many_sets", columns=columns, sets=total, most=MOST_SETS)
    return total


def _singled_out(coarser: Mapping[tuple[int, ...], Bits], chosen: tuple[int, ...]) -> Bits:
    """Return the rows, as bits, that a part of a set singles out already."""
    out = coarser[chosen[1:]].copy()
    for place in range(1, len(chosen)):
        out |= coarser[chosen[:place] + chosen[place + 1 :]]
    return out


def _counted_sets(
    table: EncodedTable, names: tuple[str, ...], largest: int
) -> Iterator[tuple[tuple[int, ...], tuple[int, int, int]]]:
    """Yield every set with its number of groups, of rows alone, and the sum of the squared sizes.

    A set continues the keys of its beginning; rows that are alone there stay alone and are not carried along.
    Columns with many values come first in the beginnings: they leave the fewest rows to carry. The last of a
    set is counted by key, where keys are fewer than rows, without asking for the size of each row's group.
    """
    order = sorted(range(len(names)), key=lambda place: -table.columns[names[place]].size)
    codes = [table.columns[names[place]].codes for place in order]
    widths = [table.columns[names[place]].size for place in order]

    def deeper(
        chosen: tuple[int, ...], rows: Numbers | None, keys: Numbers, most: int
    ) -> Iterator[tuple[tuple[int, ...], tuple[int, int, int]]]:
        left = table.n_rows - len(keys)
        for place in range(chosen[-1] + 1 if chosen else 0, len(names)):
            longer = keys * widths[place]
            longer += codes[place] if rows is None else codes[place].take(rows)
            wider = most * widths[place]
            if wider > MOST_COUNTED * len(keys) + 1024:
                longer, wider = dense(longer, wider)
            counts = np.bincount(longer, minlength=wider)
            goes_on = len(chosen) + 1 < largest and place + 1 < len(names)
            sizes = counts.take(longer) if goes_on or wider > len(keys) else counts
            squares = int(sizes.sum() if sizes is not counts else (counts * counts).sum())
            groups, alone = int(np.count_nonzero(counts)), int(np.count_nonzero(sizes == 1))
            columns = tuple(sorted(order[each] for each in (*chosen, place)))
            yield columns, (groups + left, alone + left, squares + left)
            if goes_on:
                shared = np.flatnonzero(sizes > 1)
                inside = shared if rows is None else rows.take(shared)
                carried = _carry(longer.take(shared), counts)
                yield from deeper((*chosen, place), inside, *carried)

    return deeper((), None, np.zeros(table.n_rows, dtype=np.int64), 1)


def _carry(keys: Numbers, counts: Numbers) -> tuple[Numbers, int]:
    """Number the keys that several rows have without gaps, unless there are few keys anyway."""
    if len(counts) <= len(keys) // 10:
        return keys, len(counts)
    places = np.cumsum(counts > 1)
    return places.take(keys) - 1, int(places[-1])
