"""Numbers for combinations of coded columns, and for the sets of combinations that people have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from engine import arrays

Codes = arrays.Whole
Numbers = arrays.Integers

MOST_NUMBERS = 1 << 62


def number_combinations(coded: Sequence[Codes], widths: Sequence[int], n_rows: int) -> tuple[Numbers, int]:
    """Number the combinations of several codings, as digits of one number.

    Parameters
    ----------
    coded
        Codes of each column, shape (n_rows,), from 0.
    widths
        How many codes each column has.
    n_rows
        Number of rows; needed where there is no column.

    Returns
    -------
    numbers, most
        A number below ``most`` for every row, equal where the rows agree; not every number need occur.

    Examples
    --------
    >>> number_combinations([np.array([0, 1, 1]), np.array([2, 0, 2])], [2, 3], 3)
    (array([2, 3, 5]), 6)
    """
    numbers, most = np.zeros(n_rows, dtype=np.int64), 1
    for codes, width in zip(coded, widths, strict=True):
        if most * width > MOST_NUMBERS:
            numbers, most = dense(numbers, most)
        if width > 1:
            numbers *= width
            numbers += codes
            most *= width
    return numbers, most


def dense(numbers: Numbers, most: int) -> tuple[Numbers, int]:
    """Number the numbers that occur from 0 without gaps.

    Returns
    -------
    numbers, count
        The new number of every row, and how many there are.

    Examples
    --------
    >>> dense(np.array([7, 2, 7]), 8)
    (array([1, 0, 1]), 2)
    """
    if most <= 4 * len(numbers) + 1024:
        occurs = np.zeros(most, dtype=bool)
        occurs[numbers] = True
        places = np.cumsum(occurs) - 1
        return places[numbers], int(places[-1]) + 1 if most else 0
    found, uniques = pd.factorize(numbers)
    return np.asarray(found, dtype=np.int64), len(uniques)


def number_sets(combination: Numbers, person: Numbers) -> Numbers:
    """Number the different sets of combinations that people have.

    Parameters
    ----------
    combination, person
        Of every row; persons are numbered from 0 without gaps.

    Returns
    -------
    array, shape (number of persons,)
        The same number for two people exactly when somebody who knows all their rows could not tell them
        apart.

    Examples
    --------
    >>> number_sets(np.array([0, 1, 1, 0, 0]), np.array([0, 0, 1, 2, 2]))
    array([2, 1, 0])
    """
    person, combination = _unique_pairs(person, combination)
    count = np.bincount(person)
    first = np.concatenate([[0], np.cumsum(count)[:-1]])
    found = count.astype(np.int64)
    # Refine by the first, second, … combination of each person; the sorted lists agree when the sets do.
    # People with different numbers of combinations differ already: only those who have one more are refined.
    width = int(combination.max(initial=0)) + 1
    for place in range(int(count.max(initial=0))):
        active = np.flatnonzero(count > place)
        pair = [found[active], combination[first[active] + place]]
        refined = number_combinations(pair, [int(found.max()) + 1, width], len(active))
        found[active] = dense(*refined)[0] + int(found.max()) + 1
    return dense(found, int(found.max(initial=0)) + 1)[0]


def _unique_pairs(person: Numbers, combination: Numbers) -> tuple[Numbers, Numbers]:
    width = int(combination.max(initial=0)) + 1
    joined = np.sort(person * width + combination)  # sorting is faster here than looking for repeats
    joined = joined[np.append(True, joined[1:] != joined[:-1])] if len(joined) else joined
    return joined // width, joined % width
