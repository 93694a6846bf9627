"""Queries on declared columns, as implicit and direct privacy at risk ask them of many small data sets.

A row is coded before anything is asked: a number is clamped to its declared bounds, a level becomes the place
of its declared cell. So a query sees arrays of one kind whatever the file holds, and its largest change
between neighbours follows from the declarations alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import arrays
from engine.errors import InputRefused
from engine.privacy.sampled_sensitivity import RidgeQuery, ridge_sensitivity_bounds, unit_rows
from engine.privacy.sampled_sensitivity.draws import Answers, position_chunks, record_chunks
from engine.privacy.sampled_sensitivity.populations import Population, TablePopulation
from engine.table import coding
from engine.table.schema import Column, Kind, Schema

if TYPE_CHECKING:
    import pandas

Rows = arrays.Floats
STATISTICS = ("count", "sum", "mean", "proportion", "quantile", "ridge")
MOST_CELLS = 10_000
PENALTY = Fraction(1, 100)


@dataclass(frozen=True)
class Coded:
    """A declared column as queries see it: the place of its cell, or its number within declared bounds."""

    column: Column
    as_level: bool

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the declared bounds of a number; for a level its first and last place."""
        if self.as_level:
            return 0.0, float(self.size - 1)
        domain = self.column.domain
        assert domain is not None  # `_number` has refused otherwise
        return float(domain.minimum), float(domain.maximum)  # type: ignore[arg-type]

    @property
    def size(self) -> int:
        """Return how many cells a level has, other and missing included."""
        return len(coding.cells(self.column))

    def values(self, series: pandas.Series) -> Rows:
        """Return a column of a table, coded, shape (n,); a number that is missing is NaN."""
        if self.as_level:
            return coding.codes(series, self.column).astype(np.float64)
        return np.clip(coding.numbers(series, self.column), *self.bounds)


@dataclass(frozen=True)
class Query:
    """A query that can be asked of any rows of a schema. Made by `read_query`.

    Parameters
    ----------
    written
        As it was asked.
    columns
        Which columns it reads, in the order of the coded rows.
    answer
        What `engine.privacy.sampled_sensitivity.sampled_sensitivity` calls, on prepared rows.
    prepare
        From coded rows to the rows that ``answer`` takes; each row by itself.
    proved
        Its sensitivity between neighbours that exchange one record, by norm (1 or 2): from declarations.
    outputs
        How many numbers an answer has.
    """

    written: str
    columns: tuple[Coded, ...]
    answer: Any
    prepare: Callable[[Rows], Rows]
    proved: Mapping[int, float]
    outputs: int = 1

    def rows(self, frame: pandas.DataFrame) -> tuple[Rows, int]:
        """Return the prepared rows of a table and how many rows were left out because a number is missing.

        Raises
        ------
        InputRefused
            ``queries.not_in_table``.
        """
        coded = coded_rows(frame, self.columns)
        complete = ~np.isnan(coded).any(axis=1)
        return self.prepare(coded[complete]), int((~complete).sum())


def coded_rows(frame: pandas.DataFrame, columns: Sequence[Coded]) -> Rows:
    """Return the columns of a table that a query reads, coded, shape (n, columns)."""
    for one in columns:
        if one.column.name not in frame:
            raise InputRefused("queries.not_in_table", column=one.column.name)
    if not columns:
        return np.zeros((len(frame), 1))
    return np.column_stack([one.values(frame[one.column.name]) for one in columns])


def read_query(
    written: str,
    schema: Schema,
    *,
    records: int,
    by: Sequence[str] = (),
    penalty: Fraction = PENALTY,
) -> Query:
    """Read a query: a statistic of declared columns, by group where groups are named, or a ridge regression.

    Parameters
    ----------
    written
        ``count``, ``sum:COLUMN``, ``mean:COLUMN``, ``proportion:COLUMN=VALUE``, ``quantile:SHARE:COLUMN`` or
        ``ridge:RESPONSE~COLUMN,COLUMN``.
    schema
        What is declared about the columns.
    records
        Number p ≥ 1 of records in each data set; public.
    by
        Columns whose declared levels make the groups; other and missing are groups too.
    penalty
        λ > 0 of a ridge regression, per record.

    Returns
    -------
    Query
        With its proved sensitivity.

    Raises
    ------
    InputRefused
        ``queries.…``: a query, column or value that is not known, a column without declared bounds or levels.

    Notes
    -----
    Neighbours exchange one record and p is public, so that one count of all records never moves. Without
    groups every record has a number (rows without one are left out of the population), and a mean moves by at
    most the range of the bounds over p; in a group it moves by the whole range, because a group can be small.
    An empty group stands in the middle of the bounds.

    A ridge regression puts every column on [0, 1] by its declared bounds, then scales each row of predictors
    to unit L2 norm, and fits no intercept. Source of that preparation: A. Dandekar, "Privacy risk of
    releasing data and models", NUS 2019, chapter 8 (ridge illustration).

    Examples
    --------
    >>> from engine.table.schema import Domain, Origin
    >>> bounds = Domain(minimum=Fraction(0), maximum=Fraction(100))
    >>> age = Column("age", kind=Kind.INTEGER, domain=bounds, domain_origin=Origin.DECLARED)
    >>> read_query("mean:age", Schema((age,)), records=50).proved[1]
    2.0
    """
    statistic, _, rest = written.partition(":")
    if statistic not in STATISTICS:
        raise InputRefused("queries.unknown", found=statistic, expected=", ".join(STATISTICS))
    groups = tuple(_level(schema, name) for name in by)
    if math.prod(group.size for group in groups) > MOST_CELLS:
        raise InputRefused("queries.too_many_groups", most=MOST_CELLS)
    if statistic == "ridge":
        return _ridge(written, rest, schema, records, penalty, groups)
    if statistic == "count":
        if rest:
            raise InputRefused("queries.form", found=statistic)
        return _cells(written, None, groups, 1.0, 1.0, None, by_count=True, records=records)
    if statistic == "proportion":
        return _proportion(written, rest, schema, records, groups)
    if statistic == "quantile":
        share, _, name = rest.partition(":")
        return _quantile(written, _share(share), _number(schema, name), groups)
    value = _number(schema, rest)
    low, high = value.bounds
    ratio = Ratio((low + high) / 2) if statistic == "mean" else None
    return _cells(written, value, groups, low, high, ratio, by_count=False, records=records)


def _cells(
    written: str,
    value: Coded | None,
    groups: tuple[Coded, ...],
    low: float,
    high: float,
    ratio: Ratio | None,
    *,
    by_count: bool,
    records: int,
    counted: int | None = None,
) -> Query:
    columns = (*(() if value is None else (value,)), *groups)
    sizes = tuple(group.size for group in groups)
    answer = CellQuery(None if value is None else 0, counted, len(columns) - len(groups), sizes, ratio)
    reach, furthest = high - low, max(abs(low), abs(high))
    if ratio is not None:
        # Half the range in each of two groups, or all of it in one.
        proved = {1: reach, 2: reach} if groups else {1: reach / records, 2: reach / records}
    elif by_count:
        proved = {1: 2.0, 2: math.sqrt(2.0)} if groups else {1: 0.0, 2: 0.0}
    elif groups:
        proved = {1: 2 * furthest, 2: max(reach, math.sqrt(2.0) * furthest)}
    else:
        proved = {1: reach, 2: reach}
    return Query(written, columns, answer, _as_they_are, proved, math.prod(sizes))


def _proportion(written: str, rest: str, schema: Schema, records: int, groups: tuple[Coded, ...]) -> Query:
    name, equals, wanted = rest.rpartition("=")
    if not equals or not name:
        raise InputRefused("queries.form", found="proportion")
    value = _level(schema, name)
    places = [coding.text_of(level) for level in coding.levels(value.column)]
    if coding.text_of(wanted) not in places:
        raise InputRefused("queries.not_a_level", column=name)
    counted = places.index(coding.text_of(wanted))
    return _cells(
        written, value, groups, 0.0, 1.0, Ratio(0.5), by_count=False, records=records, counted=counted
    )


def _quantile(written: str, share: float, value: Coded, groups: tuple[Coded, ...]) -> Query:
    low, high = value.bounds
    sizes = tuple(group.size for group in groups)
    answer = QuantileQuery(share, sizes, (low + high) / 2)
    reach = high - low  # one record can carry a quantile from end to end, in each group that it touches
    proved = {1: 2 * reach, 2: math.sqrt(2.0) * reach} if groups else {1: reach, 2: reach}
    return Query(written, (value, *groups), answer, _as_they_are, proved, math.prod(sizes))


def _ridge(
    written: str,
    rest: str,
    schema: Schema,
    records: int,
    penalty: Fraction,
    groups: tuple[Coded, ...],
) -> Query:
    response, tilde, names = rest.partition("~")
    if not tilde or not names or groups:
        raise InputRefused("queries.form", found="ridge")
    columns = tuple(_number(schema, name) for name in (*names.split(","), response))
    ends = np.array([one.bounds for one in columns])

    def prepared(coded: Rows) -> Rows:
        scaled = (coded - ends[:, 0]) / (ends[:, 1] - ends[:, 0])
        return np.column_stack([unit_rows(scaled[:, :-1]), scaled[:, -1]])

    bounds = ridge_sensitivity_bounds(records, len(columns) - 1, penalty=float(penalty))
    proved = min(bounds.gradients, bounds.update)
    norms = {
        1: proved,
        2: proved / math.sqrt(len(columns) - 1),
    }  # both bound the L2 norm first, by that factor
    answer = RidgeQuery(float(penalty) * records)
    return Query(written, columns, answer, prepared, norms, len(columns) - 1)


def _as_they_are(coded: Rows) -> Rows:
    return coded


def _level(schema: Schema, name: str) -> Coded:
    column = _declare(schema, name)
    coding.levels(column)  # refuses a declaration that names no levels
    return Coded(column, True)


def _number(schema: Schema, name: str) -> Coded:
    column = _declare(schema, name)
    domain = column.domain
    bounded = (
        domain is not None and isinstance(domain.minimum, Fraction) and isinstance(domain.maximum, Fraction)
    )
    if column.kind not in (Kind.INTEGER, Kind.NUMBER) or not bounded:
        raise InputRefused("queries.no_bounds", column=name)
    return Coded(column, False)


def _declare(schema: Schema, name: str) -> Column:
    if name not in schema:
        raise InputRefused("queries.no_column", column=name)
    column = schema.column(name)
    if not column.is_declared:  # bounds taken from the rows would prove nothing
        raise InputRefused("queries.no_domain", column=name)
    return column


def _share(written: str) -> float:
    try:
        share = float(Fraction(written))
    except (ValueError, ZeroDivisionError) as error:
        raise InputRefused("queries.form", found="quantile") from error
    if not 0.0 < share < 1.0:
        raise InputRefused("queries.form", found="quantile")
    return share


# --- many pairs of neighbours at once --------------------------------------------------------------------


Places = arrays.Integers


@dataclass(frozen=True)
class Ratio:
    """The sum is divided by the number of records in the group; ``empty`` stands where there is none."""

    empty: float


@dataclass(frozen=True)
class CellQuery:
    """Count, sum, mean or proportion in every group.

    Parameters
    ----------
    value
        Column of the coded rows that is added up; None to count records.
    counted
        A place: each record adds 1 if its value is that place, else 0.
    first
        Where the columns of the groups begin.
    sizes
        How many cells each of them has; empty for one answer about all records.
    ratio
        Divide by the number of records.

    Examples
    --------
    >>> rows = np.array([[3.0, 0.0], [5.0, 0.0], [4.0, 1.0]])
    >>> CellQuery(0, None, 1, (3,), Ratio(9.0))(rows).tolist()
    [4.0, 4.0, 9.0]
    """

    value: int | None
    counted: int | None
    first: int
    sizes: tuple[int, ...]
    ratio: Ratio | None

    def __call__(self, rows: Rows) -> Rows:
        """Return the answer on one data set, shape (groups,)."""
        added, places = self._terms(rows)
        return self._finished(*self._sums(added[None, :], places[None, :]))[0]

    def answer_pairs(
        self, population: Population, *, pairs: int, records: int, generator: np.random.Generator
    ) -> Iterator[Answers]:
        """Yield the answers on both data sets of some pairs at a time, each of shape (some pairs, groups)."""
        if isinstance(population, TablePopulation):
            added, places = self._terms(np.asarray(population.rows, dtype=np.float64))
            for common, ends in position_chunks(
                population, pairs=pairs, records=records, generator=generator
            ):
                yield self._both(added[common], places[common], added[ends], places[ends])
            return
        for chunk in record_chunks(population, pairs=pairs, records=records, generator=generator):
            flat, cells = self._terms(chunk.reshape(-1, chunk.shape[-1]))
            added, places = flat.reshape(chunk.shape[:2]), cells.reshape(chunk.shape[:2])
            yield self._both(added[:, :-2], places[:, :-2], added[:, -2:], places[:, -2:])

    def _both(self, added: Rows, places: Places, end: Rows, end_places: Places) -> Answers:
        sums, counts = self._sums(added, places)
        pair = np.arange(len(sums))
        answers = []
        for which in (0, 1):
            with_one, one_more = sums.copy(), counts.copy()
            with_one[pair, end_places[:, which]] += end[:, which]
            one_more[pair, end_places[:, which]] += 1.0
            answers.append(self._finished(with_one, one_more))
        return answers[0], answers[1]

    def _terms(self, rows: Rows) -> tuple[Rows, Places]:
        """Return what each row adds, and to which group."""
        added = np.ones(len(rows)) if self.value is None else rows[:, self.value]
        if self.counted is not None:
            added = (added == self.counted).astype(np.float64)
        return added, group_of(rows, self.first, self.sizes)

    def _sums(self, added: Rows, places: Places) -> tuple[Rows, Rows]:
        pairs, groups = len(added), math.prod(self.sizes)
        flat = (places + groups * np.arange(pairs)[:, None]).ravel()
        shape = (pairs, groups)
        sums = np.bincount(flat, weights=added.ravel(), minlength=pairs * groups)
        counts = np.bincount(flat, minlength=pairs * groups)
        return sums.astype(np.float64).reshape(shape), counts.astype(np.float64).reshape(shape)

    def _finished(self, sums: Rows, counts: Rows) -> Rows:
        if self.ratio is None:
            return sums
        return np.divide(sums, counts, out=np.full_like(sums, self.ratio.empty), where=counts > 0)


@dataclass(frozen=True)
class QuantileQuery:
    """The smallest value that a share of the records of a group keep to; the value is the first column."""

    share: float
    sizes: tuple[int, ...]
    empty: float

    def __call__(self, rows: Rows) -> Rows:
        """Return the answer on one data set, shape (groups,)."""
        places = group_of(rows, 1, self.sizes)
        order = np.lexsort((rows[:, 0], places))
        groups = math.prod(self.sizes)
        counts = np.bincount(places, minlength=groups)
        starts = np.cumsum(counts) - counts
        # The rank may come out a rounding above a whole number: .9 × 10 is 9, not 9.000000000000002.
        ranks = np.ceil(self.share * counts - 1e-9).astype(np.int64)
        found = np.full(groups, self.empty)
        filled = counts > 0
        found[filled] = rows[order, 0][starts[filled] + np.maximum(ranks[filled], 1) - 1]
        return found


def group_of(rows: Rows, first: int, sizes: tuple[int, ...]) -> Places:
    """Return each row's group: its cells counted like digits."""
    places = np.zeros(len(rows), dtype=np.int64)
    for offset, size in enumerate(sizes):
        places = places * size + rows[:, first + offset].astype(np.int64)
    return places
