"""Where neighbouring data sets come from: a public table, declared domains, a fitted model, private rows.

The last, and what is fitted to them, make everything that is computed from them internal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import InputRefused
from engine.privacy.sampled_sensitivity import (
    Population,
    RecordOrigin,
    SimulatedPopulation,
    TablePopulation,
    fit_gaussian_copula,
)
from engine.risk.population_source import PopulationSource
from engine.risk.queries import Coded, Query, Rows, coded_rows
from engine.table import coding
from engine.table.schema import Kind

if TYPE_CHECKING:
    from engine.table.table import Table


@dataclass(frozen=True)
class Drawn:
    """A population, and how many rows of the table were left out because a number is missing."""

    population: Population
    left_out: int


@dataclass(frozen=True, eq=False)
class Prepared:
    """Another population whose records a query has prepared, each by itself."""

    drawn_from: Population
    prepare: Callable[[Rows], Rows]

    @property
    def origin(self) -> RecordOrigin:
        """Return where the rows come from."""
        return self.drawn_from.origin

    def draw(self, count: int, *, generator: np.random.Generator) -> Rows:
        """Return ``count`` prepared records, shape (count, columns)."""
        return self.prepare(self.drawn_from.draw(count, generator=generator))


def population_for(
    query: Query,
    source: PopulationSource,
    *,
    table: Table | None = None,
    distributions: Mapping[str, Any] | None = None,
) -> Drawn:
    """Return what the records of neighbouring data sets are drawn from, prepared for a query.

    Parameters
    ----------
    query
        From `engine.risk.queries.read_query`.
    source
        What the table is. It cannot be seen from a table whether it is public: the custodian says so.
    table
        For every source but `PopulationSource.SIMULATED`.
    distributions
        For `PopulationSource.SIMULATED`, by column, see `simulated_rows`.

    Returns
    -------
    Drawn
        Its origin is `RecordOrigin.PRIVATE` wherever private rows were read, a fitted model included.

    Raises
    ------
    InputRefused
        ``queries.no_table``, ``queries.no_rows``, and what the population itself refuses.
    """
    if source is PopulationSource.SIMULATED:
        make = simulated_rows(query.columns, distributions or {})
        return Drawn(Prepared(SimulatedPopulation(make), query.prepare), 0)
    if table is None:
        raise InputRefused("queries.no_table", found=source.value)
    coded = coded_rows(table.rows(), query.columns)
    complete = coded[~np.isnan(coded).any(axis=1)]
    left_out = len(coded) - len(complete)
    if not len(complete):
        raise InputRefused("queries.no_rows")
    if source in (PopulationSource.FITTED, PopulationSource.FITTED_PUBLIC):
        fitted = fit_gaussian_copula(complete, origin=source.origin)
        return Drawn(Prepared(fitted, query.prepare), left_out)
    return Drawn(TablePopulation(query.prepare(complete), origin=source.origin), left_out)


def simulated_rows(
    columns: Sequence[Coded], distributions: Mapping[str, Any]
) -> Callable[[np.random.Generator, int], Rows]:
    """Return a program that makes coded rows from declarations: columns are independent of each other.

    Parameters
    ----------
    columns
        Declared columns.
    distributions
        By column name. For numbers ``{"uniform": [low, high]}`` or ``{"normal": [mean, deviation]}``, clamped
        to the declared bounds; for levels ``{"LEVEL": weight, …}``. A column that is not named is
        uniform over its declared bounds, or over its declared levels.

    Raises
    ------
    InputRefused
        ``queries.distribution``, naming the column.

    Examples
    --------
    >>> from engine.table.schema import Column, Domain
    >>> sex = Coded(Column("sex", domain=Domain(values=("f", "m"))), True)
    >>> make = simulated_rows([sex], {"sex": {"m": 1}})
    >>> make(np.random.Generator(np.random.PCG64(1)), 3).ravel().tolist()
    [1.0, 1.0, 1.0]
    """
    unknown = set(distributions) - {one.column.name for one in columns}
    if unknown:
        raise InputRefused("queries.distribution", column=min(unknown))
    makers = [_maker(one, distributions.get(one.column.name)) for one in columns]

    def make(generator: np.random.Generator, count: int) -> Rows:
        if not makers:
            return np.zeros((count, 1))
        return np.column_stack([maker(generator, count) for maker in makers])

    return make


def _maker(one: Coded, given: Any) -> Callable[[np.random.Generator, int], Rows]:
    if one.as_level:
        return _levels(one, given)
    low, high = one.bounds
    kind, (first, second) = _two_numbers(one, {"uniform": [low, high]} if given is None else given)
    # A whole number is as likely as its neighbours at the ends of the range too.
    half = 0.5 if one.column.kind is Kind.INTEGER and kind == "uniform" else 0.0

    def make(generator: np.random.Generator, count: int) -> Rows:
        if kind == "normal":
            drawn = generator.normal(first, second, count)
        else:
            drawn = generator.uniform(first - half, second + half, count)
        return np.clip(np.rint(drawn) if one.column.kind is Kind.INTEGER else drawn, low, high)

    return make


def _levels(one: Coded, given: Any) -> Callable[[np.random.Generator, int], Rows]:
    names = [coding.text_of(level) for level in coding.levels(one.column)]
    weights = np.ones(len(names))
    if given is not None:
        usable = isinstance(given, Mapping) and all(
            _is_number(value) and value >= 0 for value in given.values()
        )
        if not usable or not set(given) <= set(names) or not sum(given.values()) > 0:
            raise InputRefused("queries.distribution", column=one.column.name)
        weights = np.array([float(given.get(name, 0)) for name in names])
    shares = weights / weights.sum()
    return lambda generator, count: generator.choice(len(names), size=count, p=shares).astype(np.float64)


def _two_numbers(one: Coded, given: Any) -> tuple[str, tuple[float, float]]:
    refusal = InputRefused("queries.distribution", column=one.column.name)
    if not isinstance(given, Mapping) or len(given) != 1:
        raise refusal
    ((kind, numbers),) = given.items()
    if not isinstance(numbers, list | tuple) or len(numbers) != 2 or not all(map(_is_number, numbers)):
        raise refusal
    first, second = float(numbers[0]), float(numbers[1])
    usable = {"uniform": first <= second, "normal": second >= 0}
    if not usable.get(str(kind), False):
        raise refusal
    return str(kind), (first, second)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(np.isfinite(value))
