"""What people contribute to every cell of a table, and who is alone in one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.methods.shared.suppression.additive import Additive, Integers


@dataclass(frozen=True)
class Contributions:
    """What stands in each cell, totals included, in whole steps.

    Parameters
    ----------
    values
        The sum of all contributions, shape (n,).
    people
        How many different people have rows in it, shape (n,).
    givers
        How many of them add anything, shape (n,).
    owners
        The number of the contributor where there is one alone, otherwise −1, shape (n,).
    largest
        The largest contributions, falling, 0 where there are fewer; shape (n, m).
    """

    values: Integers
    people: Integers
    givers: Integers
    owners: Integers
    largest: Integers


def count_contributions(additive: Additive, inner: Integers) -> Contributions:
    """Return what people contribute where each of them is one row in one cell, from the table of counts."""
    counts = additive.with_totals(inner)
    own = np.where(inner == 1, np.arange(inner.size), 0)  # nobody but them is in the cell
    owners = np.where(counts == 1, additive.with_totals(own), -1)
    return Contributions(counts, counts, counts, owners, np.minimum(counts, 1)[:, None])


def sum_contributions(
    additive: Additive, codes: Integers, person: Integers, amounts: Integers, *, most: int
) -> Contributions:
    """Return what people contribute who may have several rows.

    Parameters
    ----------
    additive
        The table with its totals.
    codes
        The cell of every row in the table without totals, below 0 for none; shape (rows,).
    person
        Whose row it is, shape (rows,).
    amounts
        What it adds, at least 0, shape (rows,).
    most
        How many of the largest contributions are kept.
    """
    kept = codes >= 0
    places = np.array(np.unravel_index(codes[kept], additive.levels)).reshape(len(additive.levels), -1)
    people, owners = np.zeros(additive.size, dtype=np.int64), np.zeros(additive.size, dtype=np.int64)
    values, givers = np.zeros(additive.size, dtype=np.int64), np.zeros(additive.size, dtype=np.int64)
    largest = np.zeros((additive.size, most), dtype=np.int64)
    for kind in np.ndindex(*(2,) * len(additive.levels)):  # 1 where the axis is summed
        summed = np.array(kind, dtype=bool)[:, None]
        own = np.where(summed, np.array(additive.levels)[:, None], places)
        cell = np.ravel_multi_index(tuple(own), additive.shape)
        pairs, number = np.unique(np.column_stack([cell, person[kept]]), axis=0, return_inverse=True)
        amount = np.zeros(len(pairs), dtype=np.int64)
        np.add.at(amount, number.reshape(-1), amounts[kept])
        people += np.bincount(pairs[:, 0], minlength=additive.size)
        givers += np.bincount(pairs[amount > 0, 0], minlength=additive.size)
        np.add.at(owners, pairs[:, 0], pairs[:, 1])
        np.add.at(values, pairs[:, 0], amount)
        order = np.lexsort((-amount, pairs[:, 0]))
        at = pairs[order, 0]
        rank = np.arange(len(at)) - np.searchsorted(at, at)
        among = rank < most
        largest[at[among], rank[among]] = amount[order][among]
    return Contributions(values, people, givers, np.where(people == 1, owners, -1), largest)
