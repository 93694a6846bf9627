"""How many people are alone, or among few, by the columns that somebody else may know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.progress import SILENT, Progress
from engine.risk.combinations import (
    Codes,
    Numbers,
    begins,
    count_repeats,
    dense,
    narrow,
    number_combinations,
    order_of,
)
from engine.risk.encoding import IDENTIFYING, encode
from engine.table.schema import Schema
from engine.table.table import Table

THRESHOLDS = (3, 5, 11, 20)
_MOST_NUMBERS = 1 << 31
_ROOM = 63  # bits of a number that is not negative
_LONGEST_PACKED = 8
_FEW = 6  # rows of a person that are put in order by comparing them two and two
_NETWORKS = {
    2: ((0, 1),),
    3: ((0, 2), (0, 1), (1, 2)),
    4: ((0, 2), (1, 3), (0, 1), (2, 3), (1, 2)),
    5: ((0, 3), (1, 4), (0, 2), (1, 3), (0, 1), (2, 4), (1, 2), (3, 4), (2, 3)),
    6: (
        *((0, 5), (1, 3), (2, 4), (1, 2), (3, 4), (0, 3), (2, 5), (0, 1), (2, 3), (4, 5)),
        *((1, 2), (3, 4)),
    ),
}
"""Sorting networks with the fewest comparisons (Knuth 1998, 5.3.4)."""


@dataclass(frozen=True)
class GroupSizes:
    """Sizes of the groups of people who agree in all identifying columns. Internal: from private rows.

    Parameters
    ----------
    columns
        The identifying columns.
    people
        Number of people; rows where no person key is marked.
    groups
        Number of different combinations.
    alone
        People whose combination nobody else has.
    under
        Threshold k → people in groups of fewer than k.
    sizes
        Size of a group → number of people in groups of that size, in increasing order.
    because_of
        Column → how many more people are alone because of it, compared with the other columns only;
        empty where it was not asked.
    """

    columns: tuple[str, ...]
    people: int
    groups: int
    alone: int
    under: dict[int, int]
    sizes: dict[int, int]
    because_of: dict[str, int]


def group_sizes(
    table: Table,
    schema: Schema,
    *,
    columns: tuple[str, ...] | None = None,
    thresholds: tuple[int, ...] = THRESHOLDS,
    people: Codes | None = None,
    causes: bool = True,
    progress: Progress = SILENT,
) -> GroupSizes:
    """Count how many people are alone or in groups under k by the identifying columns.

    Parameters
    ----------
    table
        The table, after preparation.
    schema
        Says which columns identify (roles ``identifying``, ``time`` and ``place``) and, by the person key,
        which rows belong to one person.
    columns
        Instead of the columns of the schema.
    thresholds
        Group sizes k, each at least 2.
    people
        A number for each row's person, see `engine.table.declared.people_of`, where they are known already.
    causes
        Whether it is counted what is because of each column; it takes a count for each of them.

    Returns
    -------
    GroupSizes
        Counts of people. A missing value is a value of its own: it distinguishes like any other. An empty
        cell and a declared missing code are the same missing value, see `engine.risk.encoding.encode`.

    Raises
    ------
    InputRefused
        ``table.no_such_column``.

    Notes
    -----
    With a person key, a person is described by the *set* of all combinations on their rows: two people are in
    one group when somebody who knows all their visits could not tell them apart. Rows without a key are a
    person each. The figure says nothing about people outside the table.

    Source: L. Sweeney, k-anonymity: a model for protecting privacy, 2002, definition 3.

    Examples
    --------
    >>> import pandas as pd
    >>> from engine.table.schema import Column, Role
    >>> table = Table(pd.DataFrame({"age": [30, 30, 41], "sex": ["f", "f", "m"]}))
    >>> schema = Schema((Column("age", Role.IDENTIFYING), Column("sex", Role.IDENTIFYING)))
    >>> found = group_sizes(table, schema)
    >>> found.alone, found.groups, found.under[3], found.because_of
    (1, 2, 3, {'age': 0, 'sex': 0})
    """
    if columns is None:
        columns = tuple(column.name for column in schema.with_role(*IDENTIFYING))
    encoded = encode(table, schema, columns=columns, people=people, beside=True)
    coded: list[Codes] = [encoded.columns[name].codes for name in columns]
    person = None
    if encoded.people is not None:
        person = _Together.of(encoded.people)
        coded = [_small(codes).take(person.order) for codes in coded]
    total = _sizes(coded, person, table.n_rows)
    because_of = {}
    for place, name in enumerate(columns if causes else ()):
        progress.step(place / len(columns), "risk.group_sizes")
        others = [codes for index, codes in enumerate(coded) if index != place]
        because_of[name] = _alone(total) - _alone(_sizes(others, person, table.n_rows))
    by_size = np.bincount(total) * np.arange(int(total.max(initial=0)) + 1)
    return GroupSizes(
        columns=columns,
        people=int(total.sum()),
        groups=len(total),
        alone=_alone(total),
        under={k: int(total[total < k].sum()) for k in thresholds},
        sizes={int(size): int(by_size[size]) for size in np.flatnonzero(by_size)},
        because_of=because_of,
    )


def _small(codes: Codes) -> Codes:
    """Return codes in as few bytes as they need."""
    return codes.astype(np.min_scalar_type(int(codes.max(initial=0))))


@dataclass(frozen=True)
class _Together:
    """Rows with those of each person side by side: ``order`` says which, the rest where people begin and end.

    ``first`` and ``count`` are of each person: where the rows begin, and how many there are.
    """

    order: Codes
    first: Numbers
    count: Numbers

    @staticmethod
    def of(person: Numbers) -> _Together:
        """Find everybody's rows; people are numbered from 0 without gaps."""
        count = np.bincount(person)
        return _Together(order_of(person), np.cumsum(count) - count, count)

    def sort(self, numbers: Codes) -> None:
        """Put the numbers of each person in order, in place."""
        for rows in range(2, _FEW + 1):
            at = self.first[self.count == rows]
            own = [numbers.take(at + place) for place in range(rows)]
            for low, high in _NETWORKS[rows]:
                own[low], own[high] = np.minimum(own[low], own[high]), np.maximum(own[low], own[high])
            for place, one in enumerate(own):
                numbers[at + place] = one
        many = np.flatnonzero(self.count > _FEW)
        if many.size:
            count = self.count[many]
            at = np.repeat(self.first[many] - (np.cumsum(count) - count), count) + np.arange(count.sum())
            numbers[at] = numbers[at][np.lexsort((numbers[at], np.repeat(many, count)))]


def _sizes(coded: Sequence[Codes], person: _Together | None, n_rows: int) -> Numbers:
    """Return the number of people of every group; the rows of each person lie side by side."""
    joined: Codes
    joined, most = number_combinations(coded, [int(codes.max(initial=0)) + 1 for codes in coded], n_rows)
    if person is None:
        return count_repeats(joined, int(joined.max(initial=0)).bit_length())
    if most > _MOST_NUMBERS:  # several of a person have to find room in one number
        joined, most = dense(joined, most)
    bits = int(joined.max(initial=0)).bit_length()
    joined = narrow(joined, bits)
    person.sort(joined)
    kept = begins(joined)
    kept[person.first] = True
    again = np.flatnonzero(~kept)
    if not again.size:
        return _sizes_of_sets(joined, person.first, person.count, bits)
    owner = np.searchsorted(person.first, again, side="right") - 1
    count = person.count - np.bincount(owner, minlength=len(person.count))
    return _sizes_of_sets(joined[kept], np.cumsum(count) - count, count, bits)


def _sizes_of_sets(combination: Codes, first: Numbers, count: Numbers, bits: int) -> Numbers:
    """Return how many people have each set of so many combinations, of which ``first`` are the first ones.

    Sets are equal where their lists in order are. Only people with as many combinations are compared, short
    lists packed into single numbers.
    """
    sizes = []
    for length in range(1, _LONGEST_PACKED + 1):
        of_length = first[count == length]
        packed, used = combination[of_length].astype(np.int64), bits
        for place in range(1, length):
            if used + bits > _ROOM:
                packed, different = dense(packed, 1 << used)
                used = different.bit_length()
            packed = packed << bits | combination[of_length + place]
            used += bits
        sizes.append(count_repeats(packed, used))
    long_ = np.flatnonzero(count > _LONGEST_PACKED)
    ends = (first[long_] + count[long_]).tolist()
    lists = (combination[begin:end].tobytes() for begin, end in zip(first[long_].tolist(), ends, strict=True))
    return np.concatenate([*sizes, np.array(list(Counter(lists).values()), dtype=np.int64)])


def _alone(sizes: Numbers) -> int:
    return int((sizes == 1).sum())
