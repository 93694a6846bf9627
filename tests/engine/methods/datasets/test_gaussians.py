"""Invented rows from bell curves: near where there is room, declared values only, refused without a row."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.datasets.gaussian_cells.shapes import (
    SMALLEST,
    brought,
    correlate_clamped,
    merge_sums,
    moments,
    normal_of,
)
from engine.methods.protocol import Budget, Context
from engine.methods.shared.division import Division
from engine.privacy.promise import Neighbours
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from tests.engine.methods.datasets.test_seedbased import HARD, declared
from tests.noise_source import seeded_noise

ID = "datasets.gaussians"
NUMBERS = ["age", "bmi", "dose", "stay", "pain"]
SCHEMA = Schema(
    (
        declared("age", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(100)),
        declared("bmi", Kind.NUMBER, minimum=Fraction(10), maximum=Fraction(60)),
        declared("dose", Kind.NUMBER, minimum=Fraction(0), maximum=Fraction(4), step=Fraction(1, 2)),
        declared("stay", Kind.INTEGER, minimum=Fraction(1), maximum=Fraction(30)),
        declared("pain", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(10)),
        declared("ill", Kind.CATEGORY, values=("yes", "no")),
    )
)
BUDGET = Budget(Fraction(1))
GIVEN = {"columns": NUMBERS, "label": "ill", "about_rows": 4000}
SETS = [{"together": ["age", "bmi"]}, {"together": ["dose", "stay"]}]


def some_rows(n=4000, seed=1):
    """Two classes; age goes with bmi, dose against stay; pain by itself, unknown for every fifth."""
    chance = np.random.default_rng(seed)
    ill, both, against = chance.random(n) < 0.3, chance.normal(size=n), chance.normal(size=n)
    frame = pd.DataFrame(
        {
            "age": 45 + 15 * ill + 10 * both,
            "bmi": 28 + 4 * both + 2 * chance.normal(size=n),
            "dose": 2 + 0.6 * against,
            "stay": 15 - 4 * against + chance.normal(size=n),
            "pain": np.where(chance.random(n) < 0.2, np.nan, 5 + chance.normal(size=n)),
        }
    ).round({"age": 0, "bmi": 1, "stay": 0, "pain": 0})
    frame["ill"] = np.where(ill, "yes", "no")
    return frame


def request_for(given=None, budget=BUDGET, schema=SCHEMA):
    return method(ID).make_request({"people": schema}, GIVEN | (given or {}), budget=budget)


def made(frame, given=None, seed=5, **options):
    request = request_for(given, **options)
    assert not method(ID)(request).problems, method(ID)(request).problems
    noise = seeded_noise(seed)
    release = method(ID)(request).run({"people": Table(frame)}, Context(noise, None, Path()))
    assert noise.counted == release.promise.drawn()
    return release


def table_of(*arguments, **options):
    frame = made(*arguments, **options).artefacts[0].frame
    return frame.assign(**{name: pd.to_numeric(frame[name]) for name in NUMBERS if name in frame})


# --- what comes out ---------------------------------------------------------------------------------


def test_means_spreads_classes_missing_ones_and_relations_within_a_set_are_kept():
    real, found = some_rows(), table_of(some_rows(), {"sets": SETS}, budget=Budget(Fraction(4)))
    assert len(found) == pytest.approx(len(real), rel=0.02)
    for label in ("yes", "no"):
        before, after = real[real["ill"] == label], found[found["ill"] == label]
        assert len(after) / len(found) == pytest.approx(len(before) / len(real), abs=0.02)
        for name in NUMBERS:
            assert after[name].mean() == pytest.approx(before[name].mean(), abs=0.3 * before[name].std())
            assert after[name].std() == pytest.approx(before[name].std(), rel=0.4)
    relations = found[NUMBERS].corr()
    assert relations.loc["age", "bmi"] > 0.5 and relations.loc["dose", "stay"] < -0.5
    assert abs(relations.loc["bmi", "dose"]) < 0.2  # of two sets
    assert found["pain"].isna().mean() == pytest.approx(0.2, abs=0.03)


def test_all_columns_are_one_set_where_none_is_declared_and_noise_leaves_their_relations():
    view, _relations = made(some_rows(), budget=Budget(Fraction(4))).views
    assert [row[0] for row in view.rows] == [", ".join(NUMBERS)]
    little = Budget(Fraction(1, 20))
    (view,) = made(some_rows(), budget=little).views  # where none was measured, none is drawn
    assert [row[0] for row in view.rows] == NUMBERS
    assert method(ID)(request_for(budget=little)).forecast.notes[-1].id.endswith("notes.apart")
    alone = {"sets": [{"together": ["age"]}]}
    assert method(ID)(request_for(alone)).forecast.notes[-1].id.endswith("notes.declared_apart")


EDGES = {
    "rare": (0, 60),
    "stay": (1, 14),
    "share": (0, 1),
    "cost": (0, 20_000),
    "few": (0, 6),
    "dose": (0, 8),
    "age": (18, 100),
}


def at_the_edges(n=4000):
    """Counts and amounts that crowd at an end of their range, each related to others; one of them binary."""
    chance = np.random.default_rng(11)
    ill = chance.normal(size=n)
    return pd.DataFrame(
        {
            "rare": np.minimum(chance.poisson(0.4 * np.exp(0.5 * ill)), 60),
            "stay": np.clip(np.rint(np.exp(1 + 0.5 * ill + 0.4 * chance.normal(size=n))), 1, 14),
            "share": (ill + chance.normal(size=n) > 1.5).astype(float),
            "cost": np.clip(np.rint(np.exp(6 + 0.6 * ill + 0.5 * chance.normal(size=n))), 0, 20_000),
            "few": np.minimum(chance.poisson(1.3, n), 6),
            "dose": np.clip(np.rint(3 - ill + 0.8 * chance.normal(size=n)), 0, 8),
            "age": np.clip(np.rint(60 + 8 * ill + 9 * chance.normal(size=n)), 18, 100),
        },
        columns=list(EDGES),
    ).astype(float)


def of_the_edges(epsilon, *, columns=None, delta=0, seed=1, **given):
    names = list(EDGES if columns is None else columns)
    schema = Schema(
        tuple(
            declared(name, Kind.INTEGER, minimum=Fraction(low), maximum=Fraction(high))
            for name, (low, high) in EDGES.items()
        )
    )
    given = {"columns": names, "label": None, "about_rows": 4000} | given
    budget = Budget(Fraction(epsilon), Fraction(delta).limit_denominator(10**9))
    release = made(at_the_edges(), given, seed=seed, schema=schema, budget=budget)
    return release.artefacts[0].frame.apply(pd.to_numeric), release


@pytest.mark.parametrize("columns", [list(EDGES)[:3], list(EDGES)[:6], list(EDGES)])
def test_with_hardly_any_noise_every_moment_is_that_of_the_rows(columns):
    """Whatever lies at an end of its range, and however many columns there are: with 20,000 rows drawn, three
    standard errors of a correlation are .02; series and whole steps take the rest."""
    found, _ = of_the_edges(10**5, columns=columns, rows=20_000, group_rows=4000)
    real = at_the_edges()[columns]
    assert (((found.mean() - real.mean()) / real.std()).abs() < 0.06).all()
    assert (found.std() / real.std()).between(0.9, 1.1).all()
    assert np.abs(found.corr() - real.corr()).to_numpy().max() < 0.08


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_larger_budget_is_nearer_in_means_spreads_and_relations(delta):
    real = at_the_edges()
    apart = ~np.eye(len(EDGES), dtype=bool)

    def off(epsilon):
        tables = [of_the_edges(epsilon, delta=delta, seed=seed)[0] for seed in range(4)]
        means = np.mean([((found.mean() - real.mean()) / real.std()).abs().max() for found in tables])
        relations = [np.abs(found.corr().fillna(0) - real.corr()).to_numpy()[apart] for found in tables]
        return means, np.mean(relations), np.mean([one.max() for one in relations])

    small, usual, large = off("1/2"), off(2), off(16)
    assert all(after < 0.85 * before for before, after in zip(small[:2], usual[:2], strict=True))
    assert all(after < 0.7 * before for before, after in zip(usual, large, strict=True))
    assert large[0] < 0.15 and large[1] < 0.1


def test_where_the_table_says_nothing_is_said_with_it():
    """The rare count spreads over a sixtieth of its range, of which noise at ε = 1 hides all."""
    _, release = of_the_edges(1)
    said = {note.id.rsplit(".", 1)[1]: note.values for note in release.notes}
    assert "rare" in said["drowned"]["columns"] and "age" not in said["drowned"]["columns"]
    assert any("rare" in name.split(" × ") for name in said["some"]["drowned"].values["names"])
    _, release = of_the_edges(10**4)
    said = {note.id.rsplit(".", 1)[1]: note.values for note in release.notes}
    assert "drowned" not in said


def test_noise_follows_what_the_budget_allows():
    small = Fraction(1, 10**6)
    words = {
        (noise, delta): method(ID)(request_for({"noise": noise}, Budget(Fraction(1), delta))).plan.division
        for noise, delta in [("fitting", 0), ("fitting", small), ("laplace", 0), ("gaussian", small)]
    }
    assert [one.word("cells") for one in words.values()][1::2] == ["discrete_gaussian"] * 2
    assert words["fitting", 0].word("cells") == words["laplace", 0].word("cells")
    one_class = method(ID)(request_for({"label": None})).plan.division
    laplace = np.sqrt(2) * one_class.queries[0].ones
    assert one_class.word("cells") == "vector" and one_class.deviation("cells") < 0.81 * laplace


def test_values_are_steps_between_declared_bounds():
    found = table_of(some_rows(), budget=Budget(Fraction(1, 10)))
    assert set(found["dose"].dropna()) <= set(np.arange(0, 4.5, 0.5))
    assert found["age"].between(0, 100).all() and (found["age"] % 1 == 0).all()
    assert set(found["ill"]) <= {"yes", "no", "other", ""}
    assert found["bmi"].dropna().between(10, 60).all()


def test_no_invented_column_is_a_column_of_the_rows():
    """Neither as it stands nor in another order: no column passes through."""
    real, found = some_rows(), table_of(some_rows(), {"rows": 4000}, budget=Budget(Fraction(50)))
    for name in NUMBERS:
        assert sorted(found[name].dropna()) != sorted(real[name].dropna())
        both = pd.concat([found[name], real[name]], axis=1).dropna()
        assert abs(np.corrcoef(both.T)[0, 1]) < 0.1  # row i has nothing of row i


def test_a_larger_budget_is_nearer():
    real = some_rows()

    def off(epsilon):
        tables = [table_of(real, seed=seed, budget=Budget(Fraction(epsilon))) for seed in range(3)]
        return np.mean([abs(found[name].mean() - real[name].mean()) for found in tables for name in NUMBERS])

    assert off(10) < off("1/20") / 4


def test_one_column_without_a_class_and_gaussian_noise():
    small = Budget(Fraction(1), Fraction(1, 10**6))
    given = {"columns": ["age"], "label": None, "noise": "gaussian"}
    found = table_of(some_rows(), given, budget=small)
    assert list(found.columns) == ["age"] and found["age"].mean() == pytest.approx(49.5, abs=2)


HARD_ROWS = {
    "none": some_rows(0),
    "one": some_rows(1),
    "all alike": some_rows(1).iloc[[0] * 500].reset_index(drop=True),
    "all missing": some_rows(50).assign(**dict.fromkeys(NUMBERS, np.nan), ill=None),
    "odd": pd.DataFrame({name: pd.Series(HARD, dtype=float) for name in NUMBERS}).assign(ill="nobody"),
}


@pytest.mark.parametrize("name", HARD_ROWS)
@pytest.mark.parametrize("epsilon", ["1/1000", 1, 10**6])
def test_whatever_the_rows_hold_a_finite_table_comes_out(name, epsilon):
    found = table_of(HARD_ROWS[name], budget=Budget(Fraction(epsilon)))
    assert 1 <= len(found) <= 40_000
    assert np.isfinite(found[NUMBERS].to_numpy(float, na_value=0.0)).all()


def test_rows_that_are_all_alike_come_out_alike():
    found = table_of(HARD_ROWS["all alike"], budget=Budget(Fraction(10**6)))
    assert found["age"].nunique() <= 5 and found["ill"].nunique() == 1


@pytest.mark.guarantee
def test_the_number_of_rows_is_not_the_true_one_unless_declared():
    assert len(table_of(some_rows(500), {"rows": 321})) == 321
    assert {len(table_of(some_rows(n))) for n in (2000, 2001)} != {2000, 2001}
    little = Budget(Fraction(1, 10**6))
    assert len(table_of(some_rows(20), {"about_rows": 20}, budget=little)) <= 200


# --- what is declared -----------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", Neighbours)
def test_people_with_several_rows_and_both_relations_are_paid_for(relation):
    schema = Schema((Column("pid", Role.PERSON_KEY), *SCHEMA.columns), rows_per_person=3)
    request = request_for(budget=Budget(Fraction(3), Fraction(0), relation), schema=schema)
    assert not method(ID)(request).problems
    assert 3 - 1e-4 < method(ID)(request).cost.loss.events.epsilon() <= 3
    assert method(ID)(request).cost.loss.epsilon == 3


@pytest.mark.parametrize(
    ("given", "budget", "code"),
    [
        ({"columns": None}, BUDGET, "parameters.unfilled"),
        ({}, None, "budget.missing"),
        ({"noise": "laplace"}, Budget(Fraction(1), Fraction(1, 10**6)), "budget.delta_unused"),
        ({"noise": "gaussian"}, BUDGET, "budget.delta_needed"),
        ({"columns": ["bare"]}, BUDGET, "parameters.domain_missing"),
        ({"columns": ["flat"]}, BUDGET, f"{ID}.no_bounds"),
        ({"columns": ["between"]}, BUDGET, f"{ID}.no_bounds"),
        ({"label": "age"}, BUDGET, f"{ID}.label_twice"),
        ({"label": "many"}, BUDGET, f"{ID}.too_many_classes"),
        ({"label": "empty"}, BUDGET, "table.no_levels"),
        ({"sets": [{"together": ["age"]}, {"together": ["age"]}]}, BUDGET, f"{ID}.sets"),
        ({"columns": ["age", "bmi"], "sets": [{"together": ["dose"]}]}, BUDGET, f"{ID}.sets"),
    ],
)
def test_what_cannot_work_is_said_from_declarations_alone(given, budget, code):
    further = (
        Column("bare", kind=Kind.NUMBER),
        declared("flat", Kind.NUMBER, minimum=Fraction(1), maximum=Fraction(1)),
        declared("between", Kind.INTEGER, minimum=Fraction(1, 4), maximum=Fraction(3, 4)),
        declared("many", Kind.CATEGORY, values=tuple(f"v{place}" for place in range(30))),
        declared("empty", Kind.CATEGORY, values=()),
    )
    request = request_for(given, budget=budget, schema=Schema((*SCHEMA.columns, *further)))
    assert code in [problem.code for problem in method(ID)(request).problems]


@pytest.mark.parametrize(
    ("rows", "epsilon", "verdict"), [(200, "1/2", "nothing"), (4000, "1/2", "one"), (10**6, 1, "groups")]
)
def test_it_is_said_beforehand_for_how_much_there_is_room(rows, epsilon, verdict):
    request = request_for({"about_rows": rows, "sets": SETS}, budget=Budget(Fraction(epsilon)))
    judged = method(ID)(request).judged(rows)
    assert judged.said.id == f"methods.{ID}.judged.{verdict}" and judged.is_useless == (verdict == "nothing")
    note = method(ID)(request).forecast.notes[-1].id.rsplit(".", 1)[1]
    assert note == ("groups" if verdict == "groups" else "one")


def test_means_are_as_exact_as_the_forecast_says():
    """One group: the mean of a column is off by the noise alone, of which the limit holds 95 of 100."""
    given = {"columns": ["age", "bmi"], "label": None, "about_rows": 1000, "group_rows": 1000, "rows": 20_000}
    real = some_rows(1000)
    forecast = method(ID)(request_for(given)).forecast.errors[0]
    off = []
    for seed in range(25):
        found = table_of(real, given, seed=seed)
        off += [abs(found["age"].mean() - real["age"].mean()) / 50, abs(found["bmi"].mean() - 27.98) / 25]
    assert np.mean(100 * np.array(off) <= forecast.limit) > 0.85
    assert np.median(off) * 100 == pytest.approx(forecast.median, rel=0.5)


# --- nothing of a row but by noise -------------------------------------------------------------------------


def test_nothing_but_paid_numbers_steers_what_leaves(monkeypatch):
    """Neither sets nor groups nor the number of rows come from the table on another way."""
    given = {"columns": ["age", "bmi", "dose", "pain"], "about_rows": 20_000}
    paid = lambda one, name, sums, noise: np.arange(sums.size) * 2**30 % 10**12  # noqa: E731
    monkeypatch.setattr(Division, "noisy", paid)
    found = []
    for frame in (some_rows(300), some_rows(299, 2), HARD_ROWS["odd"]):
        context = Context(seeded_noise(3), None, Path())
        release = method(ID)(request_for(given)).run({"people": Table(frame)}, context)
        found.append((release.artefacts[0].frame.to_csv(), release.views))
    assert all(one == found[0] for one in found[1:])


# --- parts ---------------------------------------------------------------------------------------------


def test_without_noise_a_group_is_its_mean_and_covariance():
    points = np.random.default_rng(4).uniform(-0.9, 0.9, (500, 2))
    points[:, 1] = 0.5 * points[:, 0]
    first, second = np.triu_indices(2)
    line = [500, 0, 0, *points.sum(axis=0), *(points[:, first] * points[:, second]).sum(axis=0)]
    found = normal_of(np.array(line), 2, deviation=0.0)
    assert found.mean == pytest.approx(points.mean(axis=0))
    assert found.covariance == pytest.approx(np.cov(points.T, ddof=0), rel=0.003)  # on a line, nearly
    assert np.linalg.eigvalsh(found.covariance).min() > 0


def test_the_variance_of_nonsense_is_between_its_limits():
    chance = np.random.default_rng(5)
    for line in chance.normal(size=(200, 1 + 6 + 6)) * 1000:
        found = normal_of(line, 3, deviation=1000.0)
        variances = np.diag(found.covariance)
        assert variances.min() >= SMALLEST * (1 - 1e-9) and variances.max() <= 1
        assert np.linalg.eigvalsh(found.covariance).min() > 0
        assert (np.abs(found.mean) <= 1).all() and (found.missing <= 1).all() and found.rows >= 0


def test_groups_that_are_too_small_join_the_nearest():
    table = np.array([[100.0, 1.0], [-5.0, 2.0], [30.0, 3.0], [200.0, 4.0]])
    centres = np.array([[0], [10], [12], [100]])
    assert merge_sums(table, centres, least=50.0).tolist() == [[125.0, 6.0], [200.0, 4.0]]


def test_brought_to_the_ends_moments_are_those_that_were_asked_for():
    chance = np.random.default_rng(6)
    mean = chance.uniform(-0.999, 0.999, 300)
    variance = chance.uniform(1e-5, 0.99, 300) * (1 - mean**2)
    found = moments(*brought(mean, variance))
    assert found[0] == pytest.approx(mean, abs=1e-6)
    assert found[1] == pytest.approx(variance, abs=1e-6, rel=1e-3)


def test_brought_to_the_ends_relations_are_those_that_were_asked_for():
    place, spread = brought(np.array([-0.95, 0.2, 0.6]), np.array([0.01, 0.1, 0.3]))
    wanted = np.array([[1, 0.4, -0.2], [0.4, 1, 0.3], [-0.2, 0.3, 1]])
    root = np.sqrt([0.01, 0.1, 0.3])
    latent = correlate_clamped(place, spread, wanted * np.outer(root, root))
    points = np.random.default_rng(7).multivariate_normal(np.zeros(3), latent, 200_000)
    found = np.corrcoef(np.clip(place + spread * points, -1, 1).T)
    assert found == pytest.approx(wanted, abs=0.02)
