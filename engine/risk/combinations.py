"""Numbers for combinations of coded columns, and for the sets of combinations that people have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays

Codes = arrays.Whole
Numbers = arrays.Integers

MOST_NUMBERS = 1 << 62
MOST_COUNTED = 16  # keys are counted in a table of so many places a row, at most
FEW = 1 << 17  # numbers that are sorted as quickly as they are counted, or nearly
_ODD = 0x9E3779B97F4A7C15  # multiplied by it, numbers that lie side by side fall far apart


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


def find_alone(keys: Numbers, most: int, people: Codes | None) -> Numbers:
    """Return the places of the rows whose key no other person has, in their order.

    Parameters
    ----------
    keys
        Of every row, from 0.
    most
        Above all keys.
    people
        The person of every row; None where every row is about a person of its own.

    Examples
    --------
    >>> find_alone(np.array([4, 1, 4, 2, 2]), 5, None).tolist()
    [1]
    >>> find_alone(np.array([4, 1, 4, 2, 2]), 5, np.array([0, 0, 1, 2, 2])).tolist()
    [1, 3, 4]
    """
    shared = find_near(keys, most, people)
    if most > MOST_COUNTED * len(keys) + 1024:
        near = np.flatnonzero(shared)
        own = None if people is None else people.take(near)
        shared[near] = _shared(*dense(keys.take(near), most), own)
    return np.flatnonzero(~shared)


def find_near(keys: Numbers, most: int, people: Codes | None) -> npt.NDArray[np.bool_]:
    """Say of each row whether another person may have its key: False only where nobody has.

    Notes
    -----
    Exact where a table has room for all keys. Where it has not, keys are thrown into fewer places: whoever
    has a place to themselves is alone.

    Examples
    --------
    >>> find_near(np.array([4, 1, 4, 2, 2]), 5, None).tolist()
    [True, False, True, True, True]
    """
    if most <= MOST_COUNTED * len(keys) + 1024:
        return _shared(keys, most, people)
    bits = len(keys).bit_length() + 2
    places = (keys.view(np.uint64) * np.uint64(_ODD) >> np.uint64(64 - bits)).view(np.int64)
    return _shared(places, 1 << bits, people)


def _shared(keys: Numbers, most: int, people: Codes | None) -> npt.NDArray[np.bool_]:
    """Say of each row whether somebody else has its key."""
    if people is None:
        return np.asarray((np.bincount(keys, minlength=most) > 1).take(keys))
    somebody = np.zeros(most, dtype=people.dtype)
    somebody[keys] = people
    shared = np.zeros(most, dtype=bool)
    shared[keys.compress(somebody.take(keys) != people)] = True
    return np.asarray(shared.take(keys))


def count_repeats(numbers: Codes, bits: int) -> Numbers:
    """Return how often each number of so many bits occurs.

    Examples
    --------
    >>> count_repeats(np.array([3, 1, 3]), 2)
    array([1, 2])
    """
    if 1 << bits <= 4 * len(numbers) + 1024:
        counts = np.bincount(numbers)
        return counts[counts > 0]
    places = np.flatnonzero(begins(np.sort(narrow(numbers, bits))))
    return np.diff(places, append=len(numbers))


def narrow(numbers: Codes, bits: int) -> Codes:
    """Return numbers of at most 32 bits in as many: they are sorted in half the time."""
    return numbers.astype(np.uint32) if bits <= 32 else numbers


def begins(ordered: Codes) -> npt.NDArray[np.bool_]:
    """Say of each number whether another one stands before it."""
    return np.append(True, ordered[1:] != ordered[:-1]) if len(ordered) else np.zeros(0, dtype=bool)


def order_of(numbers: Codes) -> Codes:
    """Return the places of whole numbers in their order, equal ones as they stand.

    Notes
    -----
    As a matrix of rows turns into one of columns: each number is counted, and none is compared. Few numbers
    are sorted, which takes less than to load what turns matrices.

    Examples
    --------
    >>> order_of(np.array([2, 0, 2, 1])).tolist()
    [1, 3, 0, 2]
    """
    count = len(numbers)
    if count <= FEW:
        return np.argsort(numbers, kind="stable").astype(np.int32)
    from scipy.sparse import csr_array  # on first use: it takes .1 s to load

    shape = count, int(numbers.max(initial=-1)) + 1
    begins_at = np.arange(count + 1, dtype=np.int32 if count < 1 << 31 else np.int64)
    at = numbers.astype(begins_at.dtype)
    return np.asarray(csr_array((np.ones(count, bool), at, begins_at), shape=shape).tocsc().indices)


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
