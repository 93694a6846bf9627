"""Neighbouring data sets for hypothesis, with every value that has broken an implementation before."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

HARD = (math.nan, math.inf, -math.inf, -0.0, 0.0, 5e-324, -5e-324, 2.2e-308, 1e308, -1e308, 2.0**53, 0.1, 0.5)
HARD_INTEGERS = (2**53 + 1, -(2**53) - 1, 2**62, -(2**62), 0, 1)


COLUMNS = ([1, 2, 3], [0.5, 4.9, -7.0])


@dataclass(frozen=True)
class Neighbours:
    """Pairs of neighbouring data sets: some that are always tried, and all that hypothesis makes.

    What hypothesis makes depends on the constants of all modules that are loaded, so that among 150 pairs
    there may be none at all where, for instance, a NaN comes in.
    """

    strategy: SearchStrategy
    certain: tuple[tuple[Any, Any], ...] = ()


def numbers() -> SearchStrategy:
    """Return single values: anything a double can be, near values, and the hard ones."""
    return st.one_of(st.floats(), st.floats(-20, 20), st.sampled_from(HARD))


def columns() -> SearchStrategy:
    """Return lists of values: empty, one row, many, duplicates, constants, integers only."""
    return st.one_of(
        st.lists(numbers(), max_size=25),
        st.builds(lambda value, count: [value] * count, numbers(), st.integers(0, 25)),
        st.lists(st.sampled_from(HARD), max_size=25),
        st.lists(st.one_of(st.integers(-20, 20), st.sampled_from(HARD_INTEGERS)), max_size=25),
    )


def added_rows() -> Neighbours:
    """Return pairs of arrays, the second with one row more somewhere.

    Arrays of integers stay integers while no other value comes in, as in a reader: the row that comes in may
    change how all the others are stored.
    """

    def insert(column: list, value: float, place: int) -> tuple[np.ndarray, np.ndarray]:
        place = min(place, len(column))
        return as_read(column), as_read([*column[:place], value, *column[place:]])

    values = st.one_of(numbers(), st.sampled_from(HARD_INTEGERS))
    return Neighbours(
        st.builds(insert, columns(), values, st.integers(0, 25)),
        tuple(insert(column, value, 1) for column in COLUMNS for value in (*HARD, *HARD_INTEGERS)),
    )


def replaced_rows() -> Neighbours:
    """Return pairs of arrays of one size that differ in one row."""

    def replace(column: list, value: float, place: int) -> tuple[np.ndarray, np.ndarray]:
        if not column:
            return as_read(column), as_read(column)
        place %= len(column)
        return as_read(column), as_read([*column[:place], value, *column[place + 1 :]])

    values = st.one_of(numbers(), st.sampled_from(HARD_INTEGERS))
    return Neighbours(
        st.builds(replace, columns(), values, st.integers(0, 25)),
        tuple(replace(column, value, 1) for column in COLUMNS for value in (*HARD, *HARD_INTEGERS)),
    )


def coded_rows(levels: int) -> Neighbours:
    """Return pairs of arrays of cell numbers 0 … levels − 1, the second with one row more."""
    cells = st.lists(st.integers(0, levels - 1), max_size=25)
    return Neighbours(
        st.builds(
            lambda column, cell: (
                np.array(column, dtype=np.int64),
                np.array([*column, cell], dtype=np.int64),
            ),
            cells,
            st.integers(0, levels - 1),
        )
    )


def as_read(column: list) -> np.ndarray:
    """Return a column as a reader would store it: integers while every cell is one, doubles otherwise."""
    if column and all(isinstance(value, int) for value in column):
        return np.array(column, dtype=np.int64)
    return np.array([float(value) for value in column], dtype=np.float64)
