"""Which columns could tell whose a row is, with their counts: found by counting, not by names alone.

Whoever says that every row is another person says something that the rows can contradict. A column whose
values repeat, and whose rows agree in what a person has for good, is such a contradiction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.progress import SILENT, Progress
from engine.table.schema import Kind, Role
from engine.table.suggest.column_words import says, words
from engine.table.suggest.key_candidate import KeyCandidate
from engine.table.table import Table

FEWEST = 20
"""Different values that a number of people has at least: below, the column is a category."""
SHARE = 0.05
"""Different values by filled rows that a column has at least which nothing but counting speaks for."""
FEW_ROWS_EACH = 0.2
"""… from here on, five rows each at most, one column that stays the same is enough."""
AGREES = 0.95
"""Share of the repeated values within which a column has to stay the same to count as constant."""
RARE = 1e-3
"""Chance that all repeated values agree, above which their agreeing says nothing: there are too few."""
BY_CHANCE = 0.8
"""Above this share of repeated values that would agree by chance, agreeing says nothing."""
_ROWS = 100_000
_BY_ROLE = (Role.PERSON_KEY, Role.DIRECT_IDENTIFIER)
_NEVER = (Role.PLACE, Role.TIME, Role.WEIGHT, Role.DROPPED)
_KNOWN_OF_PEOPLE = ("birth", "age", "sex", "origin")
_NO_NUMBER = ("email", "phone", "web_address")

Codes = npt.NDArray[np.int64]


def key_candidates(
    table: Table, suggestions: Sequence[Any], *, progress: Progress = SILENT
) -> tuple[KeyCandidate, ...]:
    """Return the columns that could tell whose a row is, the likeliest first.

    Parameters
    ----------
    table
        The table; its rows are read. What is returned is internal.
    suggestions
        `engine.table.suggest.suggest.suggest` of the same table.
    progress
        Told after every column.

    Returns
    -------
    tuple of KeyCandidate
        The suggested key first, then what was recognised, then what only the counts speak for; within these
        by the number of columns that stay the same, and by the number of different values.

    Notes
    -----
    A column that nobody recognises is a candidate if it holds whole numbers or short codes that repeat, and
    within its repeated values either something stays the same that people have for good (sex, birth, origin,
    what others know of them), or at least half of all other columns, or a single one where its values have
    five rows each at most. What is built like a classification needs two things that people have for good: a
    diagnosis may go with a sex. A column that would agree by chance, as nearly all rows have one value or
    few values repeat, counts for nothing. Of a large table, all rows of so many values are looked at as have
    about 100,000 rows.
    """
    wanted = [one for one in suggestions if one.column in table.names and may_be_key(one)]
    frame = table.rows()
    found: list[tuple[tuple[int, int, int], KeyCandidate]] = []
    for place, one in enumerate(wanted):
        progress.step(place / len(wanted), "table.suggest")
        recognised = one.role in _BY_ROLE
        cells = frame[one.column]
        cells = cells.mask(cells.astype("str").isin(one.missing)) if one.missing else cells
        codes, values = pd.factorize(cells)
        people, rows = len(values), int((codes >= 0).sum())  # a preparation may have left rows out
        constant = _constant(frame, one.column, codes, people, suggestions)
        if not recognised and not _speaks(constant, people, rows, one, suggestions):
            continue
        rank = 0 if one.role is Role.PERSON_KEY else 1 if recognised else 2
        candidate = KeyCandidate(one.column, people, rows, recognised, constant)
        found.append(((rank, -len(constant), -people), candidate))
    return tuple(candidate for _, candidate in sorted(found, key=lambda pair: pair[0]))


def may_be_key(one: Any) -> bool:
    """Say whether a suggested column has the counts and the form of a number of people."""
    people, rows = int(one.values.get("different", 0)), int(one.values.get("filled", 0))
    if one.role is Role.PERSON_KEY:
        return people > 1
    if not FEWEST <= people < rows or one.values.get("identifier") in _NO_NUMBER:
        return False
    if one.role is Role.DIRECT_IDENTIFIER:
        return True
    is_number = one.kind in (Kind.INTEGER, Kind.TEXT, Kind.CATEGORY)
    known = one.role in _NEVER or one.values.get("meaning") in _KNOWN_OF_PEOPLE
    return is_number and not known and people >= SHARE * rows


def is_numbered_person(name: str) -> bool:
    """Say whether the name of a column alone says that it holds numbers of people.

    Examples
    --------
    >>> [is_numbered_person(name) for name in ("person_number", "PatientNbr", "visit_no")]
    [True, True, False]
    """
    parts = words(name)
    is_count = any(part in ("of", "per") for part in parts)
    person, number = (any(says(part, what) for part in parts) for what in ("person", "number"))
    return person and number and not is_count


def _speaks(constant: tuple[str, ...], people: int, rows: int, one: Any, suggestions: Sequence[Any]) -> bool:
    others = [other for other in suggestions if other.column != one.column and _tells(other)]
    told = {other.column for other in others if other.role is Role.IDENTIFYING}
    few = people >= FEW_ROWS_EACH * rows
    most = len(constant) >= 2 and 2 * len(constant) >= len(others)
    if (
        one.reason.endswith("_shape") or one.proposals
    ):  # built like codes of what people have, not who they are
        return len(told & set(constant)) >= 2
    return bool(told & set(constant)) or most or (few and bool(constant))


def _tells(other: Any) -> bool:
    """Say whether a column can speak for another one: it has several values, and does not name rows."""
    people, rows = int(other.values.get("different", 0)), int(other.values.get("filled", 0))
    return people > 1 and not other.differs_everywhere and rows > 0


def _constant(
    frame: pd.DataFrame, name: str, all_codes: Codes, people: int, suggestions: Sequence[Any]
) -> tuple[str, ...]:
    """Return the columns that stay the same within the repeated values of a column, more than by chance."""
    codes, rows = _repeat(all_codes, people)
    if not len(rows):
        return ()
    starts = np.concatenate(([0], np.flatnonzero(np.diff(codes)) + 1))
    sizes = np.diff(np.concatenate((starts, [len(codes)])))
    found = []
    for other in suggestions:
        if other.column == name or other.column not in frame or not _tells(other):
            continue
        cells = pd.factorize(frame[other.column].iloc[rows], use_na_sentinel=False)[0]
        shares = np.bincount(cells) / len(cells)
        expected = float((float((shares**2).sum()) ** (sizes - 1)).mean())
        same = np.minimum.reduceat(cells, starts) == np.maximum.reduceat(cells, starts)
        by_chance = expected > BY_CHANCE or expected ** len(sizes) > RARE
        if not by_chance and float(same.mean()) >= AGREES:
            found.append(other.column)
    return tuple(found)


def _repeat(codes: Codes, people: int) -> tuple[Codes, Codes]:
    """Return the codes of the cells that repeat, sorted, and the rows in which they stand."""
    counts = np.bincount(codes[codes >= 0], minlength=people)
    kept = counts > 1
    if counts[kept].sum() > _ROWS:  # whole groups of it, in the order in which they first appear
        kept &= np.cumsum(np.where(kept, counts, 0)) <= _ROWS
    rows = np.flatnonzero((codes >= 0) & kept[codes])
    order = np.argsort(codes[rows], kind="stable")
    return codes[rows][order].astype(np.int64), rows[order].astype(np.int64)
