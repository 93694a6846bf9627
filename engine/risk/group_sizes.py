"""How many people are alone, or among few, by the columns that somebody else may know."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.errors import InputRefused
from engine.progress import SILENT, Progress
from engine.table.declared import person_codes
from engine.table.schema import Role, Schema
from engine.table.table import Table

THRESHOLDS = (3, 5, 11, 20)
_MOST_NUMBERS = 1 << 31


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
        Column → how many more people are alone because of it, compared with the other columns only.
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
    people: npt.NDArray[np.int64] | None = None,
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
        `engine.table.declared.person_codes` of the table, where they are known already.

    Returns
    -------
    GroupSizes
        Counts of people. A missing value is a value of its own: it distinguishes like any other.

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
    >>> from engine.table.schema import Column
    >>> table = Table(pd.DataFrame({"age": [30, 30, 41], "sex": ["f", "f", "m"]}))
    >>> schema = Schema((Column("age", Role.IDENTIFYING), Column("sex", Role.IDENTIFYING)))
    >>> found = group_sizes(table, schema)
    >>> found.alone, found.groups, found.under[3], found.because_of
    (1, 2, 3, {'age': 0, 'sex': 0})
    """
    if columns is None:
        marked = schema.with_role(Role.IDENTIFYING, Role.TIME, Role.PLACE)
        columns = tuple(column.name for column in marked)
    for name in columns:
        if name not in table:
            raise InputRefused("table.no_such_column", file=table.source, column=name)
    person = _each_somebody(_people(table, schema) if people is None else people)
    frame = table.rows()
    coded = [pd.factorize(frame[name], use_na_sentinel=False)[0] for name in columns]
    total = _sizes(coded, person, table.n_rows)
    because_of = {}
    for place, name in enumerate(columns):
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


def _people(table: Table, schema: Schema) -> npt.NDArray[np.int64] | None:
    key = schema.person_key
    if key is None or key.name not in table:
        return None
    return person_codes(table.rows()[key.name], key.missing)


def _each_somebody(person: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64] | None:
    """Let every row without a key be a person of its own."""
    if person is None or not (nobody := person < 0).any():
        return person
    own = person.max(initial=-1) + 1 + np.arange(int(nobody.sum()))
    person = person.copy()
    person[nobody] = own
    return person


def _sizes(
    coded: list[npt.NDArray[np.int64]], person: npt.NDArray[np.int64] | None, n_rows: int
) -> npt.NDArray[np.int64]:
    """Return the number of people of every group."""
    combination = _combined(coded, n_rows)
    if person is not None:
        combination = _described(combination, person)
    sizes = np.bincount(combination) if len(combination) else np.zeros(0, dtype=np.int64)
    return sizes[sizes > 0]


def _combined(coded: list[npt.NDArray[np.int64]], n_rows: int) -> npt.NDArray[np.int64]:
    """Number the different combinations of several codings; not every number need occur."""
    combination, numbers = np.zeros(n_rows, dtype=np.int64), 1
    for codes in coded:
        width = int(codes.max(initial=0)) + 1
        if numbers * width > _MOST_NUMBERS:
            combination = _dense(combination)
            numbers = int(combination.max(initial=0)) + 1
        combination = combination * width + codes
        numbers *= width
    return combination if numbers <= 4 * n_rows + 1024 else _dense(combination)


def _dense(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.asarray(pd.factorize(numbers)[0], dtype=np.int64)


def _described(combination: npt.NDArray[np.int64], person: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Number the different sets of combinations that people have: one number per person."""
    person, combination = _unique_pairs(person, combination)
    count = np.bincount(person)
    first = np.concatenate([[0], np.cumsum(count)[:-1]])
    described = count.astype(np.int64)
    # Refine by the first, second, … combination of each person; the sorted lists agree when the sets do.
    # People with different numbers of combinations differ already: only those who have one more are refined.
    for place in range(int(count.max(initial=0))):
        active = np.flatnonzero(count > place)
        refined = _combined([described[active], combination[first[active] + place]], len(active))
        described[active] = refined + int(described.max()) + 1
    return _dense(described)


def _unique_pairs(
    person: npt.NDArray[np.int64], combination: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    width = int(combination.max(initial=0)) + 1
    joined = np.sort(person * width + combination)  # sorting is faster here than looking for repeats
    joined = joined[np.append(True, joined[1:] != joined[:-1])] if len(joined) else joined
    return joined // width, joined % width


def _alone(sizes: npt.NDArray[np.int64]) -> int:
    return int((sizes == 1).sum())
