"""Any method of the catalogue as a query: its answer without noise on drawn neighbours."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from engine.analyses.method_query import method_query
from engine.errors import InputRefused
from engine.methods.catalogue import method
from engine.methods.protocol import MAIN, Budget, Method
from engine.privacy.mechanisms import RandomisedResponse
from engine.privacy.noise import Noise as Door
from engine.privacy.promise import Loss, Neighbours, Promise, Unit
from engine.privacy.sampled_sensitivity import InternalSampledSensitivity, RecordOrigin, sampled_sensitivity
from engine.risk.population_source import PopulationSource
from engine.risk.queries import read_query
from engine.table.schema import Column, Domain, Origin, Schema
from engine.table.schema import Kind as ColumnKind
from engine.table.table import Table
from engine.texts import explain

SCHEMA = Schema(
    (
        Column(
            "sex",
            kind=ColumnKind.CATEGORY,
            domain=Domain(values=("f", "m")),
            domain_origin=Origin.DECLARED,
        ),
        Column(
            "stay",
            kind=ColumnKind.INTEGER,
            domain=Domain(minimum=Fraction(0), maximum=Fraction(30), step=Fraction(1)),
            domain_origin=Origin.DECLARED,
        ),
    )
)
GENERATOR = np.random.Generator(np.random.PCG64(5))
ROWS = pd.DataFrame({"sex": GENERATOR.choice(["f", "m"], 60), "stay": GENERATOR.integers(0, 31, 60)})
TABLE = Table(ROWS, source="stays.csv")

METHODS = {
    "statistics.counts": {"columns": ["sex"], "totals": False},
    "statistics.means": {"statistic": "sum", "value": "stay", "by": ["sex"]},
    "statistics.quantiles": {"value": "stay", "quantiles": ["1/2"]},
}


def subject(name: str) -> Method:
    found = method(name)
    budget = Budget(Fraction(1), neighbours=Neighbours.REPLACE_ONE)
    request = found.make_request({MAIN: SCHEMA}, METHODS[name], budget=budget)
    assert not found(request).problems
    return found(request)


def sampled(name: str, source: PopulationSource, pairs: int = 40):
    query, population = method_query(subject(name), source, table=TABLE)
    return sampled_sensitivity(
        query, population, pairs=pairs, records=12, generator=Door().internal_generator()
    )


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("source", [PopulationSource.PRIVATE, PopulationSource.SIMULATED])
def test_every_method_answers(name: str, source: PopulationSource) -> None:
    sample = sampled(name, source)
    assert isinstance(sample, InternalSampledSensitivity) is (source is PopulationSource.PRIVATE)
    assert sample.origin is source.origin
    assert sample.values[0] >= 0 and sample.values[-1] > 0


def test_a_method_moves_as_its_query_does() -> None:
    """Counts by sex: as the named query without the two cells that no row is in; sums stay within bounds."""
    assert set(sampled("statistics.counts", PopulationSource.PRIVATE).values) <= {0.0, 2.0}
    sums = sampled("statistics.means", PopulationSource.PRIVATE).values
    assert sums[-1] <= read_query("sum:stay", SCHEMA, records=12, by=["sex"]).proved[1]
    public, population = method_query(subject("statistics.counts"), PopulationSource.PUBLIC, table=TABLE)
    assert population.origin is RecordOrigin.PUBLIC
    counted = public(np.arange(60)[:, None])
    assert sorted(counted)[-2:] == sorted(ROWS["sex"].value_counts().tolist())


def test_refusals() -> None:
    counts = subject("statistics.counts")

    class Coins(type(counts)):  # type: ignore[misc]
        cost = Promise(
            "local_dp",
            Loss(Fraction(1), Fraction(0), Neighbours.REPLACE_ONE, RandomisedResponse(Fraction(3, 4), 2)),
            Unit.ROW,
            1,
        )

    drawn = Coins(counts.request)
    for one, source, table, code in (
        (counts, PopulationSource.PRIVATE, None, "queries.no_table"),
        (counts, PopulationSource.PRIVATE, TABLE.with_rows(ROWS.iloc[:0]), "queries.no_rows"),
        (counts, PopulationSource.FITTED, TABLE, "queries.fitted_for_method"),
        (drawn, PopulationSource.PRIVATE, TABLE, "queries.no_exact_answer"),
    ):
        with pytest.raises(InputRefused) as refused:
            method_query(one, source, table=table)
        assert refused.value.code == code and all(explain(refused.value))
