"""What somebody finds out who holds a file about the same people: links by equal values, and by closeness.

Figures say how many people would be linked and, where it is known who is who, how many rightly. None of them
is a bound: another intruder may know other columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from engine import arrays
from engine.errors import InputRefused
from engine.numbers import nearest
from engine.progress import SILENT, Progress
from engine.risk.combinations import Numbers, dense, number_combinations
from engine.risk.encoding import EncodedTable
from engine.risk.groups import group_rows

ECCENTRICITY = 1.5
_CELLS_AT_ONCE = 1 << 21

Floats = arrays.Floats


@dataclass(frozen=True, eq=False)
class Linkage:
    """How many records of an intruder's file lead to rows of the table. Internal: from private rows.

    Parameters
    ----------
    columns
        The columns that both know.
    records
        Records of the intruder's file.
    candidates
        For every record, how many rows it agrees with.
    linked
        The row that a record is linked to, −1 for none.
    right
        Records that are linked to the row that is theirs; None where nobody says which that is.
    expected
        How many would be right, on average, who pick one of the rows that agree at random; without knowledge
        of who is who, at most.
    """

    columns: tuple[str, ...]
    records: int
    candidates: Numbers = field(repr=False)
    linked: Numbers = field(repr=False)
    right: int | None
    expected: float

    @property
    def found(self) -> int:
        """Records that agree with some row."""
        return int((self.candidates > 0).sum())

    @property
    def links(self) -> int:
        """Records that are linked."""
        return int((self.linked >= 0).sum())


def link_exactly(
    table: EncodedTable,
    intruder: EncodedTable,
    columns: Sequence[str],
    *,
    truth: Numbers | None = None,
    progress: Progress = SILENT,
) -> Linkage:
    """Link every record of an intruder's file that agrees with exactly one row of the table.

    Parameters
    ----------
    table
        The table, or what was released of it.
    intruder
        What somebody else holds, with the same columns.
    columns
        The columns that are compared.
    truth
        For every record of the intruder, its row in the table; −1 for people who are not in it.

    Returns
    -------
    Linkage

    Raises
    ------
    InputRefused
        ``risk.nothing_to_compare``: no column is named.

    Notes
    -----
    What is missing in the intruder's file is not known to them and excludes no row. What is missing in the
    table agrees with nothing that is known.

    Examples
    --------
    >>> import pandas as pd
    >>> from engine.risk.encoding import encode
    >>> from engine.table.schema import Column, Role, Schema
    >>> from engine.table.table import Table
    >>> schema = Schema((Column("age", Role.IDENTIFYING), Column("sex", Role.IDENTIFYING)))
    >>> table = encode(Table(pd.DataFrame({"age": [30, 30, 41], "sex": ["f", "m", "f"]})), schema)
    >>> other = encode(Table(pd.DataFrame({"age": [41, 30, 30], "sex": [None, "m", None]})), schema)
    >>> found = link_exactly(table, other, ["age", "sex"], truth=np.array([2, 1, 0]))
    >>> found.candidates.tolist(), found.linked.tolist(), found.right, found.expected
    ([1, 1, 2], [2, 1, -1], 2, 2.5)
    """
    names = tuple(columns)
    if not names:
        raise InputRefused("risk.nothing_to_compare")
    mine, theirs, widths = _common(table, intruder, names)
    candidates = np.zeros(intruder.n_rows, dtype=np.int64)
    linked = np.full(intruder.n_rows, -1, dtype=np.int64)
    agrees = np.zeros(intruder.n_rows, dtype=bool)
    known = np.column_stack([codes >= 0 for codes in theirs])
    patterns, which = np.unique(known, axis=0, return_inverse=True)
    for place, pattern in enumerate(patterns):
        progress.step(place / len(patterns), "risk.linkage")
        records = np.flatnonzero(which.reshape(-1) == place)
        seen = np.flatnonzero(pattern)
        both = [np.concatenate([theirs[p][records], mine[p]]) for p in seen]
        keys, count = dense(
            *number_combinations(both, [widths[p] for p in seen], len(records) + table.n_rows)
        )
        sought, rows = keys[: len(records)], keys[len(records) :]
        candidates[records] = np.bincount(rows, minlength=count)[sought]
        first = np.full(count, -1, dtype=np.int64)
        first[rows] = np.arange(table.n_rows)
        linked[records] = np.where(candidates[records] == 1, first[sought], -1)
        if truth is not None and table.n_rows:
            there = truth[records]
            agrees[records] = (there >= 0) & (rows[np.maximum(there, 0)] == sought)
    hits = candidates > 0 if truth is None else agrees
    expected = float((1.0 / candidates[hits]).sum())
    right = None if truth is None else int((linked[linked >= 0] == truth[linked >= 0]).sum())
    return Linkage(names, intruder.n_rows, candidates, linked, right, expected)


def link_by_score(
    table: EncodedTable,
    intruder: EncodedTable,
    columns: Sequence[str],
    *,
    tolerance: Mapping[str, float] | None = None,
    eccentricity: float = ECCENTRICITY,
    truth: Numbers | None = None,
    progress: Progress = SILENT,
) -> Linkage:
    """Link every record whose best row stands out clearly from the second best, errors allowed.

    Parameters
    ----------
    table, intruder, columns, truth
        As for `link_exactly`.
    tolerance
        Column of numbers → the difference at which two values have nothing in common; nearer ones agree in
        part. Others agree when they are equal.
    eccentricity
        By how many standard deviations of all scores the best must exceed the second best.

    Returns
    -------
    Linkage
        ``candidates`` counts the rows that share the best score.

    Notes
    -----
    Score of a row = Σ w · similarity over the columns that the intruder knows, w = 1 / ln(rows with that
    value), at least two rows; linked if (best − second) / σ exceeds the eccentricity, σ over all rows. Rare
    values weigh more.

    Source: A. Narayanan and V. Shmatikov, Robust de-anonymization of large sparse datasets, 2008, section 4.
    """
    names = tuple(columns)
    if not names:
        raise InputRefused("risk.nothing_to_compare")
    groups = group_rows(replace(table, people=None), names)  # rows are linked, whoever they belong to
    first = np.zeros(groups.count, dtype=np.int64)
    first[groups.number] = np.arange(table.n_rows)
    mine, theirs, widths = _common(table, intruder, names)
    near = {name: scale for name, scale in (tolerance or {}).items() if scale > 0}
    parts = [
        _Part(table, intruder, name, mine[p], theirs[p], widths[p], near.get(name))
        for p, name in enumerate(names)
    ]
    distinct, inverse = np.unique(np.column_stack(theirs), axis=0, return_inverse=True)
    counts = np.zeros(len(distinct), dtype=np.int64)
    best_row = np.full(len(distinct), -1, dtype=np.int64)
    best_group = np.zeros(len(distinct), dtype=np.int64)
    for start, scores in _scores(parts, distinct, first, progress):
        best = scores.max(axis=1)
        ties = scores == best[:, None]
        here = slice(start, start + len(scores))
        counts[here] = ties @ groups.rows
        best_group[here] = scores.argmax(axis=1)
        second = np.where(ties, -np.inf, scores).max(axis=1, initial=-np.inf)
        second = np.where(counts[here] > 1, best, second)
        mean = scores @ groups.rows / table.n_rows
        spread = np.sqrt(np.maximum(scores**2 @ groups.rows / table.n_rows - mean**2, 0.0))
        clear = (best > 0) & (best - np.where(np.isfinite(second), second, 0.0) > eccentricity * spread)
        best_row[here] = np.where(clear & (counts[here] == 1), first[best_group[here]], -1)
    linked, candidates = best_row[inverse.reshape(-1)], counts[inverse.reshape(-1)]
    right = None if truth is None else int((linked[linked >= 0] == truth[linked >= 0]).sum())
    expected = float((linked >= 0).sum()) if right is None else float(right)
    return Linkage(names, intruder.n_rows, candidates, linked, right, expected)


class _Part:
    """What one column adds to the scores."""

    def __init__(
        self,
        table: EncodedTable,
        intruder: EncodedTable,
        name: str,
        mine: Numbers,
        theirs: Numbers,
        width: int,
        tolerance: float | None,
    ) -> None:
        support = np.bincount(mine, minlength=width)
        self.weight = 1.0 / np.log(np.maximum(support, 2))
        self.codes, self.near = mine, None
        if tolerance is not None:
            values = np.full(width, np.nan)
            for source, codes in ((table, mine), (intruder, theirs)):
                column = source.columns[name]
                numbers = np.array([_number(value) for value in column.values])[column.codes]
                values[codes[codes >= 0]] = numbers[codes >= 0]
            gap = np.abs(values[:, None] - values[None, :])
            self.near = np.nan_to_num(np.maximum(0.0, 1.0 - gap / tolerance), nan=0.0)
            np.fill_diagonal(self.near, 1.0)

    def added(self, sought: Numbers, rows: Numbers) -> Floats:
        """Return the score between codes that are sought and rows, shape (sought, rows)."""
        codes = self.codes[rows]
        known = np.maximum(sought, 0)
        alike = (sought[:, None] == codes[None, :]).astype(np.float64)
        if self.near is not None:
            alike = self.near[known][:, codes]
        return np.where(sought[:, None] >= 0, alike * self.weight[known][:, None], 0.0)


def _scores(
    parts: Sequence[_Part], distinct: Numbers, rows: Numbers, progress: Progress
) -> Iterator[tuple[int, Floats]]:
    at_once = max(1, _CELLS_AT_ONCE // max(len(rows), 1))
    for start in range(0, len(distinct), at_once):
        progress.step(start / len(distinct), "risk.linkage")
        sought = distinct[start : start + at_once]
        scores = np.zeros((len(sought), len(rows)))
        for place, part in enumerate(parts):
            scores += part.added(sought[:, place], rows)
        yield start, scores


def _number(value: object) -> float:
    try:
        return nearest(str(value))
    except ValueError:
        return float("nan")


def _common(
    table: EncodedTable, intruder: EncodedTable, names: Sequence[str], *, unknown: int | None = -1
) -> tuple[list[Numbers], list[Numbers], list[int]]:
    """Return the codes of both files in common numbers, ``unknown`` where the intruder's cell is missing."""
    mine, theirs, widths = [], [], []
    for name in names:
        for source in (table, intruder):
            if name not in source.columns:
                raise InputRefused("risk.not_compared", column=name)
        own, other = table.columns[name], intruder.columns[name]
        places: dict[str, int] = {}
        for text in (*own.texts, *other.texts):
            places.setdefault(text, len(places))
        mine.append(np.array([places[text] for text in own.texts], dtype=np.int64)[own.codes])
        seen = [places[text] if text or unknown is None else unknown for text in other.texts]
        theirs.append(np.array(seen, dtype=np.int64)[other.codes])
        widths.append(len(places))
    return mine, theirs, widths


@dataclass(frozen=True)
class Matching:
    """How often people of the table are found in what was released. Internal: from private rows.

    Parameters
    ----------
    people
        People who are sought: rows of the table.
    found
        Share of them whose values occur in the release.
    expected_right
        Share who are found rightly, on average, by picking one of the likeliest rows.
    true_rate
        Share for whom one row alone is likeliest and is theirs.
    false_rate
        Of those for whom one row alone is likeliest, the share for whom it is another's.
    """

    people: int
    found: float
    expected_right: float
    true_rate: float
    false_rate: float


def match_release(
    table: EncodedTable,
    released: Sequence[EncodedTable],
    columns: Sequence[str],
    *,
    truth: Numbers | None = None,
    progress: Progress = SILENT,
) -> Matching:
    """Seek every person of the table in released tables whose rows belong to known people.

    Parameters
    ----------
    table
        The original rows: the intruder is taken to know their values.
    released
        One or several released tables (partly synthetic, masked), all with rows in the same order.
    columns
        The columns that the intruder knows.
    truth
        For every row of the table its row in the released ones; by default the same place.

    Returns
    -------
    Matching

    Raises
    ------
    InputRefused
        ``risk.other_rows``: without ``truth`` the tables have different numbers of rows.

    Notes
    -----
    The probability that a released row is the person is the mean over the tables of 1 / (rows that agree), or
    0. With c rows of the largest probability and the right one among them (I) or not: expected Σ I / c, true
    rate Σ [c I = 1] / people, false rate Σ [c (1 − I) = 1] / Σ [c = 1].

    Source: J. P. Reiter and R. Mitra, Estimating risks of identification disclosure in partially synthetic
    data, 2009, section 2. A copy finds everybody; where all rows are alike nobody is found alone.
    """
    n = table.n_rows
    size = released[0].n_rows
    if any(one.n_rows != size for one in released) or (truth is None and size != n):
        raise InputRefused("risk.other_rows")
    there = np.arange(n) if truth is None else truth
    pairs = [_keys_of(table, one, columns) for one in released]
    sought, inverse = np.unique(np.column_stack([pair[0] for pair in pairs]), axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    order = np.argsort(inverse, kind="stable")
    ends = np.searchsorted(inverse[order], np.arange(len(sought) + 1))
    ways, hit = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool)
    rows_of = [_rows_by_key(keys) for _, keys in pairs]
    for place, keys in enumerate(sought):
        if place % 1024 == 0:
            progress.step(place / len(sought), "risk.linkage")
        people = order[ends[place] : ends[place + 1]]
        likeliest = _likeliest([rows(key) for rows, key in zip(rows_of, keys, strict=True)])
        ways[people] = len(likeliest)
        hit[people] = np.isin(there[people], likeliest)
    one = ways == 1
    return Matching(
        people=n,
        found=float((ways > 0).mean()) if n else 0.0,
        expected_right=float(np.where(hit, 1.0 / np.maximum(ways, 1), 0.0).mean()) if n else 0.0,
        true_rate=float((one & hit).mean()) if n else 0.0,
        false_rate=float((one & ~hit).sum() / one.sum()) if one.any() else 0.0,
    )


def _keys_of(table: EncodedTable, released: EncodedTable, columns: Sequence[str]) -> tuple[Numbers, Numbers]:
    """Return a number for the values of every row of both, equal where all columns agree."""
    theirs, mine, widths = _common(released, table, columns, unknown=None)
    both = [np.concatenate(pair) for pair in zip(mine, theirs, strict=True)]
    keys, _ = dense(*number_combinations(both, widths, table.n_rows + released.n_rows))
    return keys[: table.n_rows], keys[table.n_rows :]


def _rows_by_key(keys: Numbers) -> _Rows:
    order = np.argsort(keys, kind="stable")
    return _Rows(order, keys[order])


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows by the number of their values."""

    order: Numbers
    keys: Numbers

    def __call__(self, key: int) -> Numbers:
        low, high = np.searchsorted(self.keys, [key, key + 1])
        return self.order[low:high]


def _likeliest(agreeing: Sequence[Numbers]) -> Numbers:
    if len(agreeing) == 1:
        return agreeing[0]
    rows = np.concatenate(agreeing)
    if not len(rows):
        return rows
    weights = np.concatenate([np.full(len(each), 1.0 / max(len(each), 1)) for each in agreeing])
    distinct, place = np.unique(rows, return_inverse=True)
    total = np.bincount(place, weights=weights)
    return distinct[total > total.max() - 1e-9]
