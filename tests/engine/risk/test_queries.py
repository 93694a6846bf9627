"""Queries on coded rows: by hand, against pandas, and against the largest change that is proved for them."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.privacy.noise import Noise
from engine.privacy.sampled_sensitivity import (
    InternalSampledSensitivity,
    RecordOrigin,
    SampledSensitivity,
    sampled_sensitivity,
)
from engine.risk.population_source import PopulationSource
from engine.risk.populations import population_for, simulated_rows
from engine.risk.queries import read_query
from engine.table.schema import Column, Domain, Kind, Origin, Schema
from engine.table.table import Table
from engine.texts import explain


def column(name, kind, **domain):
    return Column(name, kind=kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


SCHEMA = Schema(
    (
        column("sex", Kind.CATEGORY, values=("f", "m")),
        column("age", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(100)),
        column("stay", Kind.NUMBER, minimum=Fraction(-1), maximum=Fraction(3)),
        Column("copied", kind=Kind.INTEGER, domain=Domain(values=("1",)), domain_origin=Origin.COPIED),
        Column("note"),
    )
)
FRAME = pd.DataFrame(
    {
        "sex": ["f", "m", "m", "?", "f", None],
        "age": [10, 40, 250, 30, None, 60],
        "stay": [0.5, 1.5, 2.5, -4.0, 1.0, 3.0],
    }
)
TABLE = Table(FRAME, source="stays.csv")


def seeded(seed=1):
    return np.random.Generator(np.random.PCG64(seed))


def answer(written, *, by=(), records=6):
    query = read_query(written, SCHEMA, records=records, by=by)
    rows, left_out = query.rows(FRAME)
    return query.answer(rows).tolist(), left_out


def test_answers_by_hand():
    assert answer("count") == ([6.0], 0)
    assert answer("count", by=["sex"]) == ([2.0, 2.0, 1.0, 1.0], 0)  # f, m, other, missing
    assert answer("sum:age") == ([240.0], 1)  # 250 is clamped to 100, the row without an age is left out
    assert answer("mean:age") == ([48.0], 1)
    assert answer("mean:age", by=["sex"]) == ([10.0, 70.0, 30.0, 60.0], 1)
    assert answer("proportion:sex=m")[0] == [pytest.approx(1 / 3)]
    assert answer("quantile:0.5:stay") == ([1.0], 0)  # -1 .5 1 1.5 2.5 3
    assert answer("quantile:0.5:stay", by=["sex"]) == ([0.5, 1.5, -1.0, 3.0], 0)


def test_an_empty_group_stands_in_the_middle():
    query = read_query("mean:age", SCHEMA, records=1, by=["sex"])
    assert query.answer(np.array([[20.0, 0.0]])).tolist() == [20.0, 50.0, 50.0, 50.0]
    query = read_query("quantile:0.9:age", SCHEMA, records=1, by=["sex"])
    assert query.answer(np.array([[20.0, 1.0]])).tolist() == [50.0, 20.0, 50.0, 50.0]


def test_ridge_is_prepared_as_the_illustration_says():
    query = read_query("ridge:stay~age,stay", SCHEMA, records=5)
    rows, left_out = query.rows(FRAME)
    assert left_out == 1 and rows.shape == (5, 3)
    assert np.allclose(np.linalg.norm(rows[:, :-1], axis=1), 1.0)
    assert rows[:, -1].tolist() == [0.375, 0.625, 0.875, 0.0, 1.0]
    from sklearn.linear_model import Ridge

    fitted = Ridge(alpha=0.05, fit_intercept=False).fit(rows[:, :-1], rows[:, -1])
    assert query.answer(rows) == pytest.approx(fitted.coef_, abs=1e-10)
    assert query.outputs == 2


QUERIES = [
    ("count", ()),
    ("count", ("sex",)),
    ("sum:stay", ()),
    ("sum:stay", ("sex",)),
    ("mean:age", ()),
    ("mean:age", ("sex",)),
    ("proportion:sex=f", ()),
    ("proportion:sex=f", ("sex",)),
    ("quantile:0.5:age", ()),
    ("quantile:0.25:age", ("sex",)),
    ("ridge:stay~age,stay", ()),
]


@pytest.mark.parametrize(("written", "by"), QUERIES)
def test_proved_sensitivity_by_trying_every_pair_of_corners(written, by):
    """Two records in common at most, every record at an end of its domains: there are the worst pairs."""
    for records in (1, 2, 3):
        query = read_query(written, SCHEMA, records=records, by=by)
        ends = [(0.0, 1.0, 2.0, 3.0) if one.as_level else one.bounds for one in query.columns]
        corners = query.prepare(np.array(list(itertools.product(*ends)) or [(0.0,)]))
        largest = {1: 0.0, 2: 0.0}
        for places in itertools.product(range(len(corners)), repeat=records - 1):
            common = [corners[place] for place in places]
            answers = np.array([query.answer(np.array([*common, corner])) for corner in corners])
            moved = answers[:, None] - answers[None]
            for norm in (1, 2):
                largest[norm] = max(largest[norm], np.linalg.norm(moved, ord=norm, axis=2).max())
        for norm in (1, 2):
            assert largest[norm] <= query.proved[norm] * (1 + 1e-9)
        if not written.startswith(("ridge", "proportion")) and records > 1:
            assert largest[1] >= 0.49 * query.proved[1]  # the bound is no more than twice too large


@pytest.mark.parametrize(("written", "by"), [query for query in QUERIES if query[0][0] in "csmp"])
@pytest.mark.parametrize("source", [PopulationSource.PUBLIC, PopulationSource.SIMULATED])
def test_many_pairs_at_once_are_what_one_by_one_gives(written, by, source):
    query = read_query(written, SCHEMA, records=7, by=by)
    population = population_for(query, source, table=TABLE).population
    fast = sampled_sensitivity(query.answer, population, pairs=60, records=7, generator=seeded())
    slow = sampled_sensitivity(
        lambda rows: query.answer(rows), population, pairs=60, records=7, generator=seeded()
    )
    assert np.allclose(fast.values, slow.values, atol=1e-9)


@pytest.mark.parametrize("written", ["sum:age", "quantile:0.5:age", "ridge:stay~age,stay"])
def test_origin_decides_what_the_sample_may_be_used_for(written):
    query = read_query(written, SCHEMA, records=4)
    for source in PopulationSource:
        drawn = population_for(query, source, table=TABLE)
        sample = sampled_sensitivity(
            query.answer, drawn.population, pairs=20, records=4, generator=Noise().internal_generator()
        )
        private = source in (PopulationSource.PRIVATE, PopulationSource.FITTED)
        assert type(sample) is (InternalSampledSensitivity if private else SampledSensitivity)
        assert drawn.left_out == (0 if source is PopulationSource.SIMULATED else 1)
    fitted = population_for(query, PopulationSource.FITTED_PUBLIC, table=TABLE).population
    assert fitted.origin is RecordOrigin.FITTED


def test_simulated_columns_follow_what_was_declared():
    query = read_query("mean:age", SCHEMA, records=4, by=["sex"])
    rows = simulated_rows(query.columns, {})(seeded(), 50_000)
    # Uniform on 0 … 100 and on the declared levels; five standard errors.
    assert rows[:, 0].mean() == pytest.approx(50, abs=5 * 29.2 / 50_000**0.5)
    assert set(np.unique(rows[:, 1])) == {0.0, 1.0}
    ends = np.bincount(rows[:, 0].astype(int), minlength=101)[[0, 50, 100]]
    assert np.all(np.abs(ends - 50_000 / 101) < 5 * (50_000 / 101) ** 0.5)
    given = {"age": {"normal": [90, 30]}, "sex": {"f": 3, "m": 1}}
    rows = simulated_rows(query.columns, given)(seeded(), 50_000)
    assert rows[:, 0].max() == 100 and rows[:, 0].min() >= 0
    assert (rows[:, 1] == 0).mean() == pytest.approx(0.75, abs=0.01)


@pytest.mark.parametrize(
    ("written", "by", "code"),
    [
        ("median:age", (), "queries.unknown"),
        ("count:age", (), "queries.form"),
        ("proportion:sex", (), "queries.form"),
        ("quantile:2:age", (), "queries.form"),
        ("quantile:x:age", (), "queries.form"),
        ("ridge:age", (), "queries.form"),
        ("ridge:age~stay", ("sex",), "queries.form"),
        ("proportion:sex=x", (), "queries.not_a_level"),
        ("mean:height", (), "queries.no_column"),
        ("mean:note", (), "queries.no_domain"),
        ("count", ("copied",), "queries.no_domain"),
        ("mean:sex", (), "queries.no_bounds"),
        ("count", ("stay",), "table.no_levels"),
        ("count", ("age", "age", "age"), "queries.too_many_groups"),
    ],
)
def test_refusals_name_what_is_wrong(written, by, code):
    with pytest.raises(InputRefused) as refused:
        read_query(written, SCHEMA, records=5, by=by)
    assert refused.value.code == code and all(explain(refused.value))


@pytest.mark.parametrize(
    "given",
    [
        {"age": {"normal": [1]}},
        {"age": {"uniform": [3, 1]}},
        {"age": {"gamma": [1, 2]}},
        {"age": {"normal": [1, float("nan")]}},
        {"age": "uniform"},
        {"sex": {"x": 1}},
        {"sex": {"f": -1, "m": 2}},
        {"sex": {"f": 0}},
        {"stay": {"uniform": [0, 1]}},
    ],
)
def test_distributions_that_cannot_be_used(given):
    query = read_query("mean:age", SCHEMA, records=4, by=["sex"])
    with pytest.raises(InputRefused, match=r"queries\.distribution"):
        population_for(query, PopulationSource.SIMULATED, distributions=json.loads(json.dumps(given)))


def test_populations_without_rows_or_columns():
    query = read_query("mean:age", SCHEMA, records=4)
    for table, code in (
        (None, "queries.no_table"),
        (TABLE.with_rows(FRAME[["sex"]]), "queries.not_in_table"),
        (TABLE.with_rows(FRAME.iloc[4:5]), "queries.no_rows"),
    ):
        with pytest.raises(InputRefused) as refused:
            population_for(query, PopulationSource.PRIVATE, table=table)
        assert refused.value.code == code and all(explain(refused.value))
