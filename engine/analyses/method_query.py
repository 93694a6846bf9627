"""The answer of any method of the catalogue as a query: what it gives on a small data set without noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engine.analyses.catalogue import chance, check_values
from engine.analyses.drawn import (
    DISTRIBUTIONS,
    DRAWS,
    MECHANISM,
    POPULATION,
    Asked,
    distributions,
    question_of,
)
from engine.analyses.protocol import Answer, Context
from engine.analyses.sampled_sensitivity import SampledSensitivity
from engine.errors import InputRefused
from engine.evaluation.numbers import LIMIT
from engine.evaluation.without_noise import exact_tables, has_exact_answer
from engine.methods.protocol import Method
from engine.privacy.sampled_sensitivity import Population, RecordOrigin, SimulatedPopulation, TablePopulation
from engine.progress import SILENT, Progress
from engine.risk.population_source import PopulationSource
from engine.risk.populations import simulated_rows
from engine.risk.queries import Coded, Rows
from engine.table import coding
from engine.table.schema import Column, Kind
from engine.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


@dataclass(frozen=True, eq=False)
class MethodQuery:
    """A method under a plan's parameters, asked without noise. Made by `method_query`.

    Parameters
    ----------
    subject
        The method and the request.
    frame_of
        From the records of a population to the rows of a table.

    Notes
    -----
    The answer is private; it is only ever compared with the answer on a neighbouring data set.
    """

    subject: Method
    frame_of: Callable[[np.ndarray], pd.DataFrame]

    def __call__(self, records: np.ndarray) -> Rows:
        """Return every released number of one data set, without those that state how accurate others are."""
        table = Table(self.frame_of(records), source="population")
        found = []
        for frame in exact_tables(self.subject, table).values():
            numbers = frame.select_dtypes("number")
            kept = [name for name in numbers.columns if LIMIT not in name]
            found.append(numbers[kept].to_numpy(dtype=np.float64).ravel())
        return np.concatenate(found) if found else np.zeros(0)


def ask_method(
    subject: Method, given: Mapping[str, Any], *, table: Table | None, progress: Progress = SILENT
) -> Answer:
    """Return the sampled sensitivity of a method under a plan's parameters, asked without noise.

    Parameters
    ----------
    subject
        The method, the request and the promise of a plan.
    given
        What was filled in of population, distributions and draws.
    table
        Prepared as the plan says; None for a simulated population.
    progress
        Of the draws.

    Raises
    ------
    InputRefused
        As `method_query`, and the first problem of what was filled in.
    """
    values = check_values((POPULATION, DISTRIBUTIONS, *DRAWS, MECHANISM), given, {})
    source = PopulationSource(values["population"])
    query, population = method_query(
        subject, source, table=table, distributions=distributions(values["distributions"] or ())
    )
    asked = Asked(query, population, source, {"query": subject.id, "by": []}, {})
    context = Context({}, chance(), progress)
    return SampledSensitivity().answer(asked, question_of(values), context)


def method_query(
    subject: Method,
    source: PopulationSource,
    *,
    table: Table | None = None,
    distributions: Mapping[str, Any] | None = None,
) -> tuple[MethodQuery, Population]:
    """Return a method's answer as a query, and the population that its data sets are drawn from.

    Parameters
    ----------
    subject
        The method, the request and the promise of a plan.
    source
        What the table is; a fitted model has no rows that a method could read.
    table
        Prepared as the plan says, for every source but `PopulationSource.SIMULATED`.
    distributions
        For `PopulationSource.SIMULATED`, see `engine.risk.populations.simulated_rows`.

    Raises
    ------
    InputRefused
        ``queries.no_exact_answer``: the method adds no noise to an exact answer. ``queries.no_table``,
        ``queries.no_rows``, ``queries.fitted_for_method``, ``queries.distribution``.

    Notes
    -----
    A record is a row. Where a plan protects people with several rows each, this is about one row of theirs.
    """
    if not has_exact_answer(subject.cost):
        raise InputRefused("queries.no_exact_answer", method=subject.id)
    if source in (PopulationSource.FITTED, PopulationSource.FITTED_PUBLIC):
        raise InputRefused("queries.fitted_for_method")
    if source is PopulationSource.SIMULATED:
        columns = tuple(_code(column) for column in subject.request.schema.columns if column.is_declared)
        population = SimulatedPopulation(simulated_rows(columns, distributions or {}))
        return MethodQuery(subject, lambda records: _decode(records, columns)), population
    if table is None:
        raise InputRefused("queries.no_table", found=source.value)
    frame = table.rows()
    if frame.empty:
        raise InputRefused("queries.no_rows")
    # The records are numbers of rows, so that a method sees the cells as they were read.
    places = np.arange(len(frame), dtype=np.int64)[:, None]
    origin = RecordOrigin.PUBLIC if source is PopulationSource.PUBLIC else RecordOrigin.PRIVATE
    query = MethodQuery(subject, lambda records: frame.take(records[:, 0]).reset_index(drop=True))
    return query, TablePopulation(places, origin=origin)


def _code(column: Column) -> Coded:
    bounded = column.domain is not None and column.domain.minimum is not None
    return Coded(column, not (bounded and column.kind in (Kind.INTEGER, Kind.NUMBER)))


def _decode(records: np.ndarray, columns: tuple[Coded, ...]) -> pd.DataFrame:
    """Return simulated records as the rows of a table: levels as they were declared, numbers as numbers."""
    cells = {}
    for place, one in enumerate(columns):
        values = records[:, place]
        if one.as_level:
            levels = np.array(coding.levels(one.column), dtype=object)
            cells[one.column.name] = pd.Series(levels[values.astype(np.int64)], dtype="str")
        else:
            cells[one.column.name] = pd.Series(values)
    return pd.DataFrame(cells)
