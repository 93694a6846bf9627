"""The ridge query: against scikit-learn, by hand, and its sensitivity bounds against a search."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from engine.errors import InputRefused
from engine.privacy.sampled_sensitivity import (
    RecordOrigin,
    RidgeQuery,
    SimulatedPopulation,
    TablePopulation,
    ridge_sensitivity_bounds,
    sampled_sensitivity,
    unit_rows,
)
from engine.privacy.sampled_sensitivity import ridge as ridge_module
from engine.privacy.sampled_sensitivity.draws import record_chunks


def seeded(seed=1):
    return np.random.Generator(np.random.PCG64(seed))


def table(rows, attributes, seed=2):
    generator = seeded(seed)
    predictors = unit_rows(generator.normal(size=(rows, attributes)) + 0.4)
    response = np.clip(predictors.mean(axis=1) + 0.2 * generator.normal(size=rows), 0.0, 1.0)
    return np.column_stack([predictors, response])


def refits(population, query, *, pairs, records, generator):
    """Draw the same pairs and fit both models with scikit-learn."""

    def fit(rows):
        others = np.delete(rows, query.target % rows.shape[1], axis=1)
        model = Ridge(alpha=query.penalty, fit_intercept=query.intercept, solver="cholesky")
        model.fit(others, rows[:, query.target])
        released = [model.intercept_] if query.intercept and query.release_intercept else []
        return np.concatenate([model.coef_, released])

    answers = []
    for chunk in record_chunks(population, pairs=pairs, records=records, generator=generator):
        for drawn in chunk:
            answers.append((fit(drawn[:-1]), fit(np.concatenate([drawn[:-2], drawn[-1:]]))))
    return np.array(answers)


QUERIES = [
    RidgeQuery(0.02),
    RidgeQuery(3.0, target=0),
    RidgeQuery(0.02, intercept=True),
    RidgeQuery(3.0, intercept=True, release_intercept=False, target=1),
]


@pytest.mark.parametrize("query", QUERIES, ids=str)
@pytest.mark.parametrize(
    ("rows", "attributes", "records", "pairs"),
    [
        (900, 5, 60, 40),  # by rows, two rows side by side, an odd number of common records
        (900, 5, 61, 40),
        (900, 6, 60, 40),  # by rows, eight columns
        (900, 1, 3, 40),
        (900, 5, 700, 40),  # by counts, the last piece smaller than the others
        (513, 4, 2_000, 17),  # by counts, more records than rows
        (3, 2, 2, 10),
    ],
)
def test_same_answers_as_refits_on_the_same_pairs(query, rows, attributes, records, pairs):
    population = TablePopulation(table(rows, attributes), origin=RecordOrigin.SIMULATED)
    options = {"pairs": pairs, "records": records}
    answers = list(query.answer_pairs(population, generator=seeded(9), **options))
    fast = np.stack([np.concatenate(side) for side in zip(*answers, strict=True)], axis=1)
    assert np.abs(fast - refits(population, query, generator=seeded(9), **options)).max() < 1e-8


def test_both_ways_of_answering_are_used(monkeypatch):
    used = []
    for name in ("_by_rows", "_by_counts"):
        original = getattr(ridge_module, name)
        monkeypatch.setattr(
            ridge_module, name, lambda *given, name=name, do=original: used.append(name) or do(*given)
        )
    population = TablePopulation(table(900, 5), origin=RecordOrigin.PUBLIC)
    for records in (60, 700):
        list(RidgeQuery(1.0).answer_pairs(population, pairs=3, records=records, generator=seeded()))
    assert used == ["_by_rows", "_by_counts"]


def test_a_table_too_wide_to_count_is_gathered_and_gives_the_same(monkeypatch):
    population = TablePopulation(table(400, 5), origin=RecordOrigin.PUBLIC)
    options = {"pairs": 30, "records": 300}
    counted = sampled_sensitivity(RidgeQuery(1.0), population, generator=seeded(), **options)
    monkeypatch.setattr(ridge_module, "PRODUCTS_AT_MOST", 0)
    gathered = sampled_sensitivity(RidgeQuery(1.0), population, generator=seeded(), **options)
    assert np.allclose(counted.values, gathered.values, rtol=1e-9, atol=0)


def test_number_of_cores_changes_nothing(monkeypatch):
    population = TablePopulation(table(5_000, 5), origin=RecordOrigin.PUBLIC)
    for records in (400, 4_000):  # by rows, by counts
        runs = []
        for cores in (1, 3, None):
            monkeypatch.setattr(ridge_module.os, "cpu_count", lambda cores=cores: cores)
            runs.append(
                sampled_sensitivity(
                    RidgeQuery(1.0), population, pairs=1_500, records=records, generator=seeded()
                ).values
            )
        assert np.array_equal(runs[0], runs[1]) and np.array_equal(runs[0], runs[2])


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_a_simulated_population_and_a_plain_function_agree(query):
    population = SimulatedPopulation(
        lambda generator, count: np.column_stack([generator.normal(size=(count, 3)), generator.random(count)])
    )
    options = {"pairs": 25, "records": 30}
    fast = sampled_sensitivity(query, population, generator=seeded(), **options)
    plain = sampled_sensitivity(lambda rows: query(rows), population, generator=seeded(), **options)
    assert np.allclose(fast.values, plain.values, rtol=1e-9, atol=1e-12)


def test_one_predictor_by_hand():
    # β = Σxy/(Σx² + a): common record (1, 1), then (1, 0) against (1, 1); a = 1: 1/3 against 2/3.
    rows = np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    assert RidgeQuery(1.0)(rows[:2])[0] == pytest.approx(1 / 3)
    population = TablePopulation(rows[:2], origin=RecordOrigin.PUBLIC)
    sample = sampled_sensitivity(RidgeQuery(1.0), population, pairs=100, records=2, generator=seeded())
    assert np.unique(sample.values.round(12)).tolist() == [0.0, round(1 / 3, 12)]


def test_unit_rows():
    rows = unit_rows(np.array([[2.0, 0.0], [0.0, 0.0], [1.0, -1.0]]))
    assert np.linalg.norm(rows, axis=1).tolist() == pytest.approx([1.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("penalty", lambda: RidgeQuery(0.0)),
        ("penalty", lambda: RidgeQuery(float("inf"))),
        ("too_few_columns", lambda: RidgeQuery(1.0)(np.ones((3, 1)))),
        ("too_few_columns", lambda: RidgeQuery(1.0, target=5)(np.ones((3, 2)))),
        ("not_numbers", lambda: RidgeQuery(1.0)(np.array([["a", "b"]]))),
        (
            "too_few_records",
            lambda: sampled_sensitivity(
                RidgeQuery(1.0),
                TablePopulation(np.ones((3, 2)), origin=RecordOrigin.PUBLIC),
                pairs=2,
                records=1,
                generator=seeded(),
            ),
        ),
        ("too_few_records", lambda: ridge_sensitivity_bounds(0, 1, penalty=1.0)),
        ("too_few_columns", lambda: ridge_sensitivity_bounds(1, 0, penalty=1.0)),
        ("penalty", lambda: ridge_sensitivity_bounds(1, 1, penalty=0.0)),
        ("response_bound", lambda: ridge_sensitivity_bounds(1, 1, penalty=1.0, response_bound=-1.0)),
    ],
)
def test_refusals(code, call):
    with pytest.raises(InputRefused) as refused:
        call()
    assert refused.value.code == f"sampled_sensitivity.{code}"


# Bounds on the sensitivity


def moved(points, records, attributes, total):
    """How far the coefficients move between the first p rows and the first p − 1 with the last one."""
    rows = points.reshape(records + 1, attributes + 1)
    lengths = np.linalg.norm(rows[:, :-1], axis=1, keepdims=True)
    rows = np.column_stack([rows[:, :-1] / np.maximum(1.0, lengths), np.clip(rows[:, -1], -1.0, 1.0)])
    query = RidgeQuery(total)
    return np.abs(query(rows[:-1]) - query(np.delete(rows, -2, axis=0))).sum()


@pytest.mark.parametrize("attributes", [1, 2])
@pytest.mark.parametrize("records", [1, 3])
@pytest.mark.parametrize("penalty", [0.1, 3.0])
def test_no_search_passes_the_proved_bounds(attributes, records, penalty):
    generator = seeded(attributes * 100 + records)
    bounds = ridge_sensitivity_bounds(records, attributes, penalty=penalty)
    total = penalty * records
    largest = 0.0
    for _ in range(6):
        start = generator.normal(size=(records + 1) * (attributes + 1))
        found = minimize(
            lambda points: -moved(points, records, attributes, total),
            start,
            method="Powell",
            options={"maxiter": 20},
        )
        largest = max(largest, -found.fun)
    proved = min(bounds.loss_values, bounds.gradients, bounds.update)
    assert (
        0.4 * bounds.update < largest <= proved * (1 + 1e-12)
    )  # the search comes near, so it means something


def test_update_bound_is_reached_by_one_record():
    for attributes, penalty in [(1, 1.0), (4, 2.0), (9, 5.0)]:
        direction = np.full(attributes, attributes**-0.5)
        query = RidgeQuery(penalty)
        one, other = (query(np.append(direction, response)[None, :]) for response in (1.0, -1.0))
        reached = np.abs(one - other).sum()
        assert reached == pytest.approx(ridge_sensitivity_bounds(1, attributes, penalty=penalty).update)


@pytest.mark.parametrize(("records", "penalty"), [(5, 0.2), (50, 0.1), (400, 0.01)])
def test_update_bound_counts_the_longest_fit_of_the_common_records(records, penalty):
    # p − 1 equal records (x, 1) with (p − 1) x² = pλ: no data set has a longer fit, √(p−1)/(2√(pλ)).
    total = records * penalty
    x = (total / (records - 1)) ** 0.5
    longest = RidgeQuery(total)(np.tile([x, 1.0], (records - 1, 1)))[0]
    update = ridge_sensitivity_bounds(records, 1, penalty=penalty).update
    assert update == pytest.approx(2 / (total + 1) * (1 + longest))


def test_bounds_are_proportional_to_the_response():
    one, three = (ridge_sensitivity_bounds(50, 3, penalty=0.1, response_bound=b) for b in (1.0, 3.0))
    for name in ("thesis", "loss_values", "gradients", "update"):
        assert getattr(three, name) == pytest.approx(3 * getattr(one, name))


def test_the_thesis_form_is_no_bound_for_one_attribute():
    # Six records, all predictors 0 but one: β = y/(1 + 6·3); y from 1 to −1 moves it by 2/19.
    rows = np.zeros((6, 2))
    rows[-1] = [1.0, 1.0]
    other = rows.copy()
    other[-1, 1] = -1.0
    query = RidgeQuery(6 * 3.0)
    reached = np.abs(query(rows) - query(other)).sum()
    bounds = ridge_sensitivity_bounds(6, 1, penalty=3.0)
    assert reached == pytest.approx(2 / 19)
    assert bounds.thesis < reached <= bounds.update


def test_the_thesis_form_does_not_cover_the_fit_of_its_authors():
    """Their program takes the bound for a penalty λ per record and fits with 2λ in all."""
    rows = np.zeros((16_000, 6))
    rows[:, 0] = 1.0
    rows[-1] = [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    other = rows.copy()
    other[-1, -1] = 0.0
    query = RidgeQuery(2 * 0.01)
    reached = np.abs(query(rows) - query(other)).sum()
    assert reached == pytest.approx(1 / 1.02)
    assert ridge_sensitivity_bounds(16_000, 5, penalty=0.01).thesis == pytest.approx(0.34375)
