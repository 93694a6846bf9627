"""Invented rows from points: declared cells only, as many as planned, refused without a row."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.datasets.latent_model import teaching
from engine.methods.protocol import Budget, Context
from engine.privacy.accounting import total
from engine.privacy.mechanisms import DiscreteGaussian, SeededRows
from engine.privacy.promise import Neighbours
from engine.report.words import word
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from tests.engine.methods.datasets.test_seedbased import ALL, BUDGET, COLUMNS, HARD, declared, some_rows
from tests.noise_source import seeded_noise

ID = "datasets.latent"
GIVEN = {"columns": ALL, "about_rows": 4000, "rows": 20, "bins": 8, "dimensions": 2, "model": "components"}
MODELS = pytest.mark.parametrize("model", ["components", "autoencoder"])


@pytest.fixture(autouse=True)
def short_training(monkeypatch):
    """How well a network is taught is tested beside it."""
    monkeypatch.setattr(teaching, "EPOCHS", 6)


def request_for(given=None, budget=BUDGET, schema=None):
    return method(ID).make_request(
        {"people": schema or Schema(COLUMNS)}, GIVEN | (given or {}), budget=budget
    )


def made(frame, given=None, budget=BUDGET):
    request = request_for(given, budget)
    assert not method(ID)(request).problems, method(ID)(request).problems
    noise = seeded_noise(5)
    release = method(ID)(request).run({"people": Table(frame)}, Context(noise, None, Path()))
    assert noise.counted == release.promise.drawn()
    return release


@MODELS
def test_as_many_rows_of_declared_cells_as_planned(model):
    release = made(some_rows(), {"rows": 60, "model": model}, Budget(Fraction(20), Fraction(1, 10**6)))
    frame = release.artefacts[0].frame
    assert len(frame) == 60 and set(frame["sex"]) <= {"f", "m", "other", ""}
    assert pd.to_numeric(frame["age"][frame["age"] != ""]).between(0, 99).all()
    # seeds take part, and what belongs together stays together
    assert release.inside.figures["from_model_alone"] < 30
    assert (frame["ward"][frame["sex"] == "m"] == "a").mean() > 0.6


@MODELS
@pytest.mark.parametrize(
    ("rows", "epsilon", "dimensions"), [(60, 2, 1), (200, 4, 2), (500, 6, 2), (200, 4, 6), (300, 4, 4)]
)
def test_the_release_tells_about_which_share_of_the_rows_no_seed_has_a_part_in(
    model, rows, epsilon, dimensions
):
    """From declarations before, and from what leaves: beside what the custodian sees."""
    given = {"rows": rows, "dimensions": dimensions, "model": model}
    budget = Budget(Fraction(epsilon), Fraction(1, 10**6))
    release = made(some_rows(), given, budget)
    note, *_ = release.notes
    low, high = note.values["percent"], note.values["highest"]
    real, slack = 100 * release.inside.figures["from_model_alone"] / rows, 20
    assert low - slack <= real <= high + slack and str(low) in word(note, "en")
    foreseen = method(ID)(request_for(given, budget)).forecast.notes[0]
    assert foreseen.values["low"] - slack <= real <= foreseen.values["high"] + slack
    assert foreseen.values["low"] < foreseen.values["high"]


@pytest.mark.parametrize("name", ["datasets.seedbased", "datasets.codes"])
def test_other_ways_of_seeds_foresee_it_too(name):
    """Rows that keep nothing pass; of those that keep all of many columns hardly one does."""
    found, budget = method(name), Budget(Fraction(4), Fraction(1, 10**6))
    more = [declared(f"c{at}", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(99)) for at in range(8)]
    names = [one.name for one in more]
    ways = ({"fewest_drawn": 8, "most_drawn": 8}, {"fewest_drawn": 0, "most_drawn": 0})
    if name.endswith("codes"):
        ways = ({"reach": 16, "bins": 16}, {"reach": 1, "bins": 64})
    judged = []
    for way in ways:
        given = {"columns": names, "about_rows": 8000, "rows": 100, **way}
        request = found.make_request({"people": Schema(tuple(more))}, given, budget=budget)
        assert not found(request).problems
        note = found(request).forecast.notes[0]
        assert note.id.endswith("foreseen" if way is ways[0] else "foreseen_mostly")
        judged.append(found(request).judged(None))
    assert not judged[0].is_useless and judged[1].is_useless


def test_seeds_that_would_serve_nothing_are_not_taken():
    budget = Budget(Fraction(4), Fraction(1, 10**6))
    (problem,) = method(ID)(request_for({"rows": 300, "dimensions": 6}, budget)).problems
    assert problem.code == "datasets.seedbased.all_alone" and problem.parameter == "rows"
    assert not method(ID)(request_for({"rows": 200, "dimensions": 2}, budget)).problems


@MODELS
@pytest.mark.parametrize("n", [0, 1, 7])
def test_whatever_the_rows_hold_as_many_come_out(n, model):
    frame = pd.DataFrame(
        {
            "sex": pd.Series(["x", "", None, "f", "1", "F ", "nan"][:n], dtype="object"),
            "ward": pd.Series(["a", "a", None, "f", "1", "F ", "nan"][:n], dtype="object"),
            "age": pd.Series(HARD[:n], dtype=float),
            "bmi": pd.Series(HARD[:n][::-1], dtype=float),
        }
    )
    assert len(made(frame, {"model": model}).artefacts[0].frame) == 20


def test_both_parts_are_paid_for_and_the_largest_counts():
    promised = method(ID)(request_for()).cost
    test, learnt = promised.loss.events.parts
    assert isinstance(test, SeededRows) and isinstance(learnt, DiscreteGaussian)
    assert promised.loss.events.together(Neighbours.ADD_REMOVE) == (test,)
    assert total([promised], delta=BUDGET.delta).epsilon <= BUDGET.epsilon
    assert promised.kind == "plausible_deniability" and promised.terms["k"] == test.least
    assert learnt.sensitivity**2 >= 4 * 5 // 2


def test_a_network_costs_what_the_tables_of_pairs_cost():
    promised = method(ID)(request_for({"model": "autoencoder"})).cost
    test, learnt = promised.loss.events.parts
    assert isinstance(test, SeededRows) and {type(leaf).__name__ for leaf, _ in learnt.leaves()} == {
        "DiscreteGaussian",
        "Exponential",
    }
    assert promised.loss.events.together(Neighbours.ADD_REMOVE) == (test,)
    assert total([promised], delta=BUDGET.delta).epsilon <= BUDGET.epsilon
    assert promised.kind == "plausible_deniability" and promised.terms["k"] == test.least


@pytest.mark.parametrize(
    ("given", "options", "code"),
    [
        ({"rows": None}, {}, "parameters.unfilled"),
        ({}, {"budget": Budget(Fraction(1))}, "budget.delta_needed"),
        ({"columns": ["many", "sex"]}, {}, f"{ID}.too_many_cells"),
        ({"columns": ["flat"]}, {}, "datasets.seedbased.no_edges"),
        ({"rows": 5000}, {}, "datasets.seedbased.crowd"),
        (
            {},
            {"schema": Schema((Column("pid", Role.PERSON_KEY), *COLUMNS), rows_per_person=2)},
            "datasets.seedbased.several_rows",
        ),
    ],
)
def test_what_cannot_work_is_said_from_declarations_alone(given, options, code):
    further = (
        declared("flat", Kind.NUMBER, minimum=Fraction(1), maximum=Fraction(1)),
        declared("many", Kind.CATEGORY, values=tuple(f"v{place}" for place in range(1600))),
    )
    options = {"schema": Schema((*COLUMNS, *further))} | options
    found = method(ID)(request_for(given, **options)).problems
    assert [problem.code for problem in found] == [code]


def test_the_forecast_needs_no_row():
    far = Budget(Fraction(10**12), Fraction(1, 10**15))
    assert method(ID)(request_for(budget=far)).forecast.errors
    taught = request_for({"model": "autoencoder"})
    of_counts = 100 * method(ID)(taught).learning.deviation / 2000
    assert method(ID)(taught).forecast.errors[0].limit > 1.96 * of_counts > 0
    forecast = method(ID)(request_for()).forecast
    assert forecast.errors[0].limit > 0 and forecast.notes[-1].values == {"dimensions": 2}
    assert np.isfinite(forecast.errors[0].limit)
