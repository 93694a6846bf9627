"""Groups of rows that agree in their identifying columns, and how many people stand in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from engine.errors import InputRefused
from engine.once import once
from engine.progress import SILENT, Progress
from engine.risk.combinations import Numbers, dense, number_combinations, number_sets
from engine.risk.encoding import EncodedTable


class Missing(StrEnum):
    """What a missing value of an identifying column does."""

    OWN_VALUE = "own_value"  # it distinguishes like any other value
    MATCHES = "matches"  # whoever does not know it cannot exclude anybody: it agrees with everything


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows by the group that they are in. Internal: from private rows.

    Parameters
    ----------
    columns
        The columns in which a group agrees.
    number
        The group of every row, from 0 without gaps.
    people
        Number of people of every group, shape (groups,).
    rows
        Number of rows of every group.
    """

    columns: tuple[str, ...]
    number: Numbers = field(repr=False)
    people: Numbers = field(repr=False)
    rows: Numbers = field(repr=False)

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.people)

    @property
    def smallest(self) -> int:
        """People in the smallest group: the k of k-anonymity; 0 in an empty table."""
        return int(self.people.min()) if len(self.people) else 0

    @property
    def alone(self) -> int:
        """People who are a group of their own."""
        return int((self.people == 1).sum())

    @once
    def distribution(self) -> dict[int, int]:
        """Size of a group → people in groups of that size, in increasing order."""
        groups = np.bincount(self.people)
        return {int(size): int(size * groups[size]) for size in np.flatnonzero(groups)}

    def under(self, thresholds: Sequence[int]) -> dict[int, int]:
        """Return by threshold k how many people are in groups of fewer than k."""
        return {k: int(self.people[self.people < k].sum()) for k in thresholds}

    def sums(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the sum of a value over the rows of every group, for instance of weights."""
        found = np.bincount(self.number, weights=values, minlength=self.count)
        return np.asarray(found, dtype=np.float64)


def group_rows(table: EncodedTable, columns: Sequence[str] | None = None) -> Groups:
    """Put rows into groups that agree in some columns.

    Parameters
    ----------
    table
        From `engine.risk.encoding.encode`.
    columns
        Names; by default the identifying columns.

    Returns
    -------
    Groups
        A missing value is a value of its own.

    Raises
    ------
    InputRefused
        ``risk.nothing_identifying``: no column is named and none is marked.

    Notes
    -----
    A person with several rows is described by the *set* of combinations on them; all their rows are in the
    group of people who have the same set.

    Source: L. Sweeney, k-anonymity: a model for protecting privacy, 2002, definition 3.

    Examples
    --------
    >>> import pandas as pd
    >>> from engine.risk.encoding import encode
    >>> from engine.table.schema import Column, Role, Schema
    >>> from engine.table.table import Table
    >>> people = Table(pd.DataFrame({"age": [30, 30, 41]}))
    >>> found = group_rows(encode(people, Schema((Column("age", Role.IDENTIFYING),))))
    >>> found.smallest, found.alone, found.distribution
    (1, 1, {1: 1, 2: 2})
    """
    names = table.identifying if columns is None else tuple(columns)
    if not names and columns is None:
        raise InputRefused("risk.nothing_identifying")
    chosen = [table.columns[name] for name in names]
    keys = number_combinations([one.codes for one in chosen], [one.size for one in chosen], table.n_rows)
    number, count = dense(*keys)
    if table.people is None:
        rows = np.bincount(number, minlength=count)
        return Groups(names, number, rows, rows)
    description = number_sets(number, table.people)
    number = description[table.people]
    return Groups(names, number, np.bincount(description), np.bincount(number))


def matching_sizes(
    table: EncodedTable, columns: Sequence[str] | None = None, *, progress: Progress = SILENT
) -> Numbers:
    """Return for every row how many rows it cannot be told apart from, a missing value matching everything.

    Parameters
    ----------
    table, columns
        As for `group_rows`.

    Returns
    -------
    array of int64, shape (n,)
        Each row counts itself. Sizes are not sizes of groups: a may match b and b match c without a
        matching c.

    Raises
    ------
    InputRefused
        ``risk.matches_needs_one_row``: some person has several rows.

    Notes
    -----
    Two rows match when in every column they agree or one of them is missing (the frequency counts of
    M. Templ, A. Kowarik and B. Meindl, Statistical disclosure control for micro-data using the R package
    sdcMicro, 2015, section 3.1). Rows are put together by which columns are missing; a row with the missing
    columns P meets one with Q on the columns outside P ∪ Q.
    """
    if table.people is not None:
        raise InputRefused("risk.matches_needs_one_row")
    groups = group_rows(table, columns)
    chosen = [table.columns[name] for name in groups.columns]
    first = np.zeros(groups.count, dtype=np.int64)
    first[groups.number] = np.arange(table.n_rows)  # one row of each group stands for it
    codes = [one.codes[first].astype(np.int64) for one in chosen]
    members = _by_missing([own == one.missing for own, one in zip(codes, chosen, strict=True)], groups.count)
    found = np.zeros(groups.count, dtype=np.int64)
    for done, (own, mine) in enumerate(members.items()):
        progress.step(done / len(members), "risk.matching_sizes")
        for union, others in _by_union(own, members).items():
            seen = [place for place in range(len(chosen)) if not union >> place & 1]
            both = np.concatenate([mine, others])
            keys = number_combinations(
                [codes[p][both] for p in seen], [chosen[p].size for p in seen], len(both)
            )
            number, count = dense(*keys)
            sizes = np.bincount(number[len(mine) :], weights=groups.people[others], minlength=count)
            found[mine] += sizes[number[: len(mine)]].astype(np.int64)
    return found[groups.number]


def _by_missing(absent: Sequence[npt.NDArray[np.bool_]], count: int) -> dict[int, npt.NDArray[np.int64]]:
    """Return the places that lack the same columns, by these columns as the bits of a number."""
    pattern, patterns = dense(
        *number_combinations([each.astype(np.int8) for each in absent], [2] * len(absent), count)
    )
    found = {}
    for each in range(patterns):
        places = np.flatnonzero(pattern == each)
        found[sum(1 << bit for bit, own in enumerate(absent) if own[places[0]])] = places
    return found


def _by_union(own: int, members: Mapping[int, npt.NDArray[np.int64]]) -> dict[int, npt.NDArray[np.int64]]:
    together: dict[int, list[npt.NDArray[np.int64]]] = {}
    for pattern, places in members.items():
        together.setdefault(own | pattern, []).append(places)
    return {union: np.concatenate(listed) for union, listed in together.items()}
