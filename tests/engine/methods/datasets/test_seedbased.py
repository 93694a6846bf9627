"""Invented rows from seeds: declared cells only, as many rows as planned, refused without a row."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.methods.catalogue import method
from engine.methods.protocol import Budget, Context
from engine.privacy.accounting import total
from engine.privacy.event_json import event_from_json, event_to_json
from engine.privacy.events import Parallel
from engine.privacy.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    GeometricThreshold,
    LaplaceThreshold,
    SeededRows,
)
from engine.privacy.promise import Neighbours
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from engine.views import Text
from tests.noise_source import seeded_noise

ID = "datasets.seedbased"


def declared(name, kind, **domain):
    return Column(name, Role.OTHER, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


COLUMNS = (
    declared("sex", Kind.CATEGORY, values=("f", "m")),
    declared("ward", Kind.CATEGORY, values=("a", "b", "c")),
    declared("age", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(99)),
    declared("bmi", Kind.NUMBER, minimum=Fraction(10), maximum=Fraction(60)),
)
ALL = ["sex", "ward", "age", "bmi"]
BUDGET = Budget(Fraction(2), Fraction(1, 10**9))
GIVEN = {"columns": ALL, "about_rows": 4000, "rows": 50, "bins": 8, "model": "columns"}


def request_for(given=None, budget=BUDGET, schema=None):
    return method(ID).make_request(
        {"people": schema or Schema(COLUMNS)}, GIVEN | (given or {}), budget=budget
    )


def some_rows(n=4000, seed=1):
    chance = np.random.default_rng(seed)
    sex = chance.choice(["f", "m"], n)
    return pd.DataFrame(
        {
            "sex": sex,
            "ward": np.where(sex == "m", "a", chance.choice(["b", "c"], n)),
            "age": chance.integers(20, 90, n).astype(float),
            "bmi": np.where(sex == "m", 28, 23) + chance.normal(size=n),
        }
    )


def made(frame, given=None, **options):
    request = request_for(given, **options)
    assert not method(ID)(request).problems, method(ID)(request).problems
    noise = seeded_noise(5)
    release = method(ID)(request).run({"people": Table(frame)}, Context(noise, None, Path()))
    assert noise.counted == release.promise.drawn()
    return release


@pytest.mark.parametrize("model", ["pairs", "network", "correlation", "columns", "nobody"])
@pytest.mark.parametrize(
    ("crowd", "test"),
    [("weighted", "lot"), ("bins", "lot"), ("weighted", "geometric"), ("bins", "laplace")],
)
def test_as_many_rows_of_declared_cells_as_planned(model, crowd, test):
    release = made(some_rows(), {"model": model, "crowd": crowd, "test": test})
    frame = release.artefacts[0].frame
    assert len(frame) == 50 and list(frame) == ALL
    assert set(frame["sex"]) <= {"f", "m", "other", ""} and set(frame["ward"]) <= {"a", "b", "c", "other", ""}
    assert pd.to_numeric(frame["age"][frame["age"] != ""]).between(0, 99).all()
    assert total([release.promise], delta=BUDGET.delta).epsilon <= BUDGET.epsilon


HARD = [np.nan, np.inf, -np.inf, -1e300, 1e300, 5e-324, 0.0]


@pytest.mark.parametrize("n", [0, 1, 7])
def test_whatever_the_rows_hold_as_many_come_out(n):
    """True with no seed at all, and with seeds that are all different: failures are not to be seen."""
    frame = pd.DataFrame(
        {
            "sex": pd.Series(["x", "", None, "f", "1", "F ", "nan"][:n], dtype="object"),
            "ward": pd.Series(["a", "a", None, "f", "1", "F ", "nan"][:n], dtype="object"),
            "age": pd.Series(HARD[:n], dtype=float),
            "bmi": pd.Series(HARD[:n][::-1], dtype=float),
        }
    )
    found = made(frame, {"fewest_drawn": 0, "most_drawn": 0})
    assert len(found.artefacts[0].frame) == 50
    assert found.inside.figures["from_model_alone"] == 50


def test_what_is_kept_of_a_seed_keeps_what_belongs_together():
    given = {"model": "nobody", "fewest_drawn": 2, "most_drawn": 2, "rows": 400, "about_rows": 40_000}
    budget = Budget(Fraction(20), Fraction(1, 10**6))
    frame = made(some_rows(8000), given, budget=budget).artefacts[0].frame
    men = frame[frame["sex"] == "m"]
    assert len(men) > 100 and (men["ward"] == "a").mean() > 0.9


def test_nobody_is_in_two_parts_and_the_largest_loss_counts():
    promised = method(ID)(request_for({"model": "columns"})).cost
    events = promised.loss.events
    assert isinstance(events, Parallel)
    test, learnt = events.parts
    assert isinstance(test, SeededRows) and isinstance(learnt, DiscreteLaplace)
    assert events.together(Neighbours.ADD_REMOVE) == (test,)
    assert learnt.epsilon() <= test.stated()[0] <= BUDGET.epsilon and test.stated()[1] <= BUDGET.delta
    assert learnt.sensitivity == len(ALL)  # every row counts once in each column


def test_normal_noise_of_the_model_fits_beside_the_test_too():
    promised = method(ID)(request_for({"model": "pairs"})).cost
    test, learnt = promised.loss.events.parts
    assert {leaf.word for leaf, _ in learnt.leaves()} == {"discrete_gaussian", "exponential"}
    assert promised.loss.events.together(Neighbours.ADD_REMOVE) == (test,)
    louder = DiscreteGaussian(Fraction(1, 10), Fraction(1))
    assert set(Parallel((test, louder)).together(Neighbours.ADD_REMOVE)) == {test, louder}


def test_a_part_that_costs_more_is_not_covered():
    test = method(ID)(request_for({"model": "nobody"})).cost.loss.events
    louder = DiscreteLaplace(Fraction(1, 10), Fraction(1))
    assert set(Parallel((test, louder)).together(Neighbours.ADD_REMOVE)) == {test, louder}


def test_bins_promise_a_crowd_and_weights_do_not():
    found = method(ID)(request_for({"crowd": "bins", "ratio": 3})).cost
    test = found.loss.events.parts[0]
    assert found.kind == "plausible_deniability"
    assert found.terms == {"k": test.least, "gamma": Fraction(3)}
    assert method(ID)(request_for()).cost.kind == "approximate_dp"


@pytest.mark.parametrize(("test", "kind"), [("laplace", LaplaceThreshold), ("geometric", GeometricThreshold)])
def test_with_noise_on_the_threshold_no_crowd_is_promised(test, kind):
    found = method(ID)(request_for({"crowd": "bins", "ratio": 3, "test": test})).cost
    assert found.kind == "approximate_dp" and not found.terms
    event = found.loss.events.parts[0]
    assert type(event) is kind and event_from_json(event_to_json(event)) == event
    assert event != method(ID)(request_for({"crowd": "bins", "ratio": 3})).cost.loss.events.parts[0]
    said = [row[0].id for row in method(ID)(request_for({"test": test})).forecast.views[0].rows]
    assert sum(name.endswith("_noisy") for name in said) == 3
    for name in said:
        assert name in texts.catalogue()


def test_copies_leave_where_enough_have_the_same_row():
    """Nothing is drawn anew: with two columns there are crowds. The forecast says what that means."""
    given = {"columns": ["sex", "ward"], "fewest_drawn": 0, "most_drawn": 0, "rows": 10}
    frame = made(some_rows(), given).artefacts[0].frame
    assert (frame["ward"][frame["sex"] == "m"] == "a").mean() > 0.9
    assert method(ID)(request_for(given)).forecast.notes[-1].id.endswith("notes.copies")
    mixed = request_for(given | {"anew_share": Fraction(1, 4)})
    assert method(ID)(mixed).forecast.notes[-1].id.endswith("notes.model_columns")
    assert len(made(some_rows(), given | {"anew_share": Fraction(1, 4)}).artefacts[0].frame) == 10


def test_what_a_sharp_threshold_would_let_through_is_told_inside_alone():
    release = made(some_rows(), {"test": "laplace"})
    figures = release.inside.figures
    assert 0 < figures["sharp"] <= figures["tried"]
    assert "sharp" not in str([release.views, release.notes, release.promise])


def test_the_guarantee_of_one_row_never_stands_alone():
    request = request_for()
    for view in (*method(ID)(request).forecast.views, *made(some_rows()).views):
        first, second = view.rows[:2]
        assert first[0].id.endswith("plan.table") and second[0].id.endswith("plan.each")
        assert first[1].values["epsilon"] == float(BUDGET.epsilon)
        assert second[1].values["epsilon"] < first[1].values["epsilon"]
        assert "says nothing about a table" in texts.catalogue()[view.note.id]


def test_other_ways_of_adding_up_are_shown_and_never_better():
    for rows in (2, 50, 200):
        view = method(ID)(request_for({"rows": rows})).forecast.views[0]
        said = {line[0].id.rsplit(".", 1)[1]: line[1].values for line in view.rows[:4] if line[1].values}
        assert said["added"]["epsilon"] == pytest.approx(rows * said["each"]["epsilon"])
        assert said["table"]["epsilon"] <= min(said["added"]["epsilon"], said["advanced"]["epsilon"]) * 1.001
    (view,) = method(ID)(request_for({"rows": 1})).forecast.views
    assert not [line for line in view.rows if line[0].id.endswith(("added", "advanced"))]


PERSONS = Schema((Column("pid", Role.PERSON_KEY), *COLUMNS), rows_per_person=2)


@pytest.mark.parametrize(
    ("given", "options", "code"),
    [
        ({"columns": None}, {}, "parameters.unfilled"),
        ({"rows": None}, {}, "parameters.unfilled"),
        ({}, {"budget": None}, "budget.missing"),
        ({}, {"budget": Budget(Fraction(1))}, "budget.delta_needed"),
        (
            {},
            {"budget": Budget(Fraction(1), Fraction(1, 10**9), Neighbours.REPLACE_ONE)},
            f"{ID}.replace_one",
        ),
        ({}, {"schema": PERSONS}, f"{ID}.several_rows"),
        ({"fewest_drawn": 3, "most_drawn": 2}, {}, f"{ID}.drawn"),
        ({"most_drawn": 5}, {}, f"{ID}.drawn"),
        ({"columns": ["flat"]}, {}, f"{ID}.no_edges"),
        ({"columns": ["many"]}, {}, f"{ID}.too_many_cells"),
        ({"rows": 5000}, {}, f"{ID}.crowd"),
        ({"about_rows": 20}, {}, f"{ID}.no_crowd"),
        ({"about_rows": 10, "rows": 100_000}, {}, f"{ID}.no_crowd"),
        ({}, {"budget": Budget(Fraction(1, 10**6), Fraction(1, 10**9))}, f"{ID}.no_crowd"),
    ],
)
def test_what_cannot_work_is_said_from_declarations_alone(given, options, code):
    further = (
        declared("flat", Kind.NUMBER, minimum=Fraction(1), maximum=Fraction(1)),
        declared("many", Kind.CATEGORY, values=tuple(f"v{place}" for place in range(6000))),
    )
    schema = options.pop("schema", Schema((*COLUMNS, *further)))
    found = method(ID)(request_for(given, schema=schema, **options)).problems
    assert [problem.code for problem in found] == [code]
    if code.startswith(ID):
        texts.text(f"methods.{ID}.problems.{code.removeprefix(f'{ID}.')}.what", **found[0].values)


def test_the_ways_out_lead_out():
    """Fewer rows, and a larger ε, as the refusal names them."""
    (refused,) = method(ID)(request_for({"rows": 5000})).problems
    most, epsilon = refused.values["most"], Fraction(str(refused.values["epsilon"]))
    assert not method(ID)(request_for({"rows": most})).problems
    assert method(ID)(request_for({"rows": most + 1})).problems
    assert not method(ID)(request_for({"rows": 5000}, budget=Budget(epsilon, BUDGET.delta))).problems
    assert method(ID)(request_for({"rows": 5000}, budget=Budget(epsilon * 9 / 10, BUDGET.delta))).problems


def test_how_often_rows_passed_stays_inside():
    release = made(some_rows())
    said = str([release.views, release.notes, release.promise])
    assert not any(name in said for name in release.inside.figures)
    assert release.inside.figures["seeds"] + release.inside.figures["model_rows"] == 4000
    assert all(isinstance(row[0], Text) for row in release.inside.views[0].rows)


@pytest.mark.parametrize(
    ("model", "test"), [("pairs", "lot"), ("nobody", "laplace"), ("nobody", "geometric")]
)
@pytest.mark.parametrize("rows", [1, 20])
def test_whatever_the_level_the_claim_holds_and_the_forecast_answers(model, test, rows):
    """Screens ask at levels that nobody would choose, and a level may be as large as a budget can be."""
    for epsilon in (Fraction(1, 10**6), Fraction(1), Fraction(1000), Fraction(10**12)):
        for delta in (Fraction(1, 10**15), Fraction(1, 3)):
            request = request_for({"model": model, "rows": rows, "test": test}, Budget(epsilon, delta))
            assert len(method(ID)(request).forecast.errors) == (model == "pairs")
            if not method(ID)(request).problems:
                assert total([method(ID)(request).cost], delta=delta).epsilon <= epsilon


def test_the_promise_says_that_rows_may_come_from_nobody():
    """Of an empty table nobody could have led to a row: all are from the model alone."""
    request = request_for({"crowd": "bins", "most_drawn": 2})
    assert not method(ID)(request).problems
    release = method(ID)(request).run({"people": Table(some_rows(0))}, Context(seeded_noise(1), None, Path()))
    assert release.promise.kind == "plausible_deniability" and release.promise.terms["k"] > 1
    assert release.inside.figures["from_model_alone"] == GIVEN["rows"]
    for name in ("sentence", "recipient", "terms.k.what"):
        assert "model alone" in texts.text(f"promises.plausible_deniability.{name}")
