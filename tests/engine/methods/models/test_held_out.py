"""The score on held-out people that leaves: what one person moves, what it costs, what it says."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.models import held_out
from engine.methods.models.held_out import SCORE, query, score_division, score_sums
from engine.methods.models.held_out_told import FULL, ROW, guess_of, score_as_json
from engine.methods.protocol import MAIN, Budget, Context
from engine.methods.shared.division import Division
from engine.privacy.accounting import total
from engine.privacy.events import Neighbours
from engine.release.examples import plans
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.engine.battery.distributions import CheckFailed
from tests.engine.battery.loss import claimed, loss
from tests.engine.methods.examples_run import evidence, run_on_named_columns
from tests.noise_source import seeded_noise

SMALL = Fraction(1, 10**6)
ADD, EXCHANGE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


def declared(name, kind, **domain):
    return Column(name, Role.OTHER, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


ENDS = {"minimum": Fraction(-1), "maximum": Fraction(1)}
SCHEMA = Schema(
    (
        declared("first", Kind.NUMBER, **ENDS),
        declared("number", Kind.NUMBER, **ENDS),
        declared("level", Kind.CATEGORY, values=("a", "b", "c")),
        declared("class", Kind.CATEGORY, values=("no", "yes")),
        Column("who", Role.PERSON_KEY, Kind.INTEGER),
    )
)
MODELS = {
    "linear": {"target": "number", "about_rows": 20_000},
    "linear, sums": {"target": "number", "about_rows": 20_000, "fit": "sums"},
    "additive": {"target": "class", "about_rows": 20_000},
    "additive, number": {"target": "number", "about_rows": 20_000},
    "additive, sums": {"target": "number", "about_rows": 20_000, "fit": "sums"},
    "logistic": {"target": "class", "about_rows": 20_000},
    "naive_bayes": {"target": "level", "predictors": ("first", "class")},
    "tree": {"target": "level", "predictors": ("first", "class"), "depth": 2},
}
EVERY = pytest.mark.parametrize("name", MODELS)


def way_and_request(name, *, percent=20, delta=SMALL, neighbours=ADD, cap=1, epsilon=1):
    way = method(f"models.{name.partition(',')[0]}")
    given = {"predictors": ("first", "level")} | MODELS[name]
    given |= {"noise": "gaussian" if delta else "laplace", "held_out_percent": percent}
    schema = replace(SCHEMA, rows_per_person=cap)
    budget = Budget(Fraction(epsilon), Fraction(delta), neighbours)
    request = way.make_request({MAIN: schema}, given, budget=budget)
    assert not way(request).problems, way(request).problems
    return way, request


def people(rows=400, seed=0):
    chance = np.random.default_rng(seed)
    first = chance.uniform(-1, 1, rows)
    return pd.DataFrame(
        {
            "first": first,
            "number": np.clip(0.6 * first + chance.normal(scale=0.2, size=rows), -1, 1),
            "level": chance.choice(["a", "b", "c", "other", ""], rows, p=[0.5, 0.3, 0.1, 0.05, 0.05]),
            "class": np.where(first + chance.normal(size=rows) > 0, "yes", "no"),
            "who": np.arange(rows),
        }
    )


def fit_events(way, request):
    return way(request).cost.loss.events.parts[0]


def released(way, request, fitted, away, noise):
    context = Context(noise, None, Path(), held_out={MAIN: Table(away)})
    return way(request).run({MAIN: Table(fitted)}, context)


# --- what one person moves ---------------------------------------------------------------------------


CLASSES = {"target": {"kind": "classes", "values": ["no", "yes"]}, "intercept": -1.0}
NUMBER = {"target": {"kind": "number", "minimum": -1.0, "maximum": 1.0}, "intercept": -1.0}


def said(model, frame):
    """Predict what the rows say."""
    return frame["said"].to_numpy()


def sums(model, target, rows):
    frame = pd.DataFrame(rows, columns=["said", target])
    return score_sums(model, said, SCHEMA.column(target), frame)


@pytest.mark.parametrize("cap", [1, 2])
@pytest.mark.parametrize("neighbours", [ADD, EXCHANGE])
@pytest.mark.parametrize("target", ["class", "number"])
def test_the_sensitivity_is_reached_and_never_exceeded(target, neighbours, cap):
    """Every person with rows of a grid; exchanged for every other, or for none."""
    is_class = target == "class"
    grid = list(
        product(("no", "yes"), ("no", "yes", None)) if is_class else product((-1.0, 0.0, 1.0), repeat=2)
    )
    grid += [] if is_class else [(1.0, np.nan), (0.2, 0.9), (-1.0, -0.75), (np.nan, np.nan)]
    model = CLASSES if is_class else NUMBER
    one = [sums(model, target, [row]) for row in grid]
    persons = [np.sum(rows, axis=0) for rows in product(one, repeat=cap)] + [np.zeros_like(one[0])]
    others = persons if neighbours is EXCHANGE else [np.zeros_like(one[0])]
    moved = np.array([person - other for person in persons for other in others])
    _, request = way_and_request("additive" if is_class else "linear", neighbours=neighbours, cap=cap)
    asked = query(request)
    assert np.abs(moved).sum(axis=1).max() == asked.ones
    assert (moved**2).sum(axis=1).max() == asked.squared


@EVERY
def test_every_row_counts_by_itself(name):
    """What a row adds is a whole number that no other row changes by a bit."""
    way, request = way_and_request(name)
    release = released(way, request, people(), people(0), seeded_noise(1))
    model, of = release.artefacts[0].content, release.artefacts[0].predict.func
    target, rows = request.schema.column(request.values["target"]), people(12, 5)
    alone = sum(score_sums(model, of, target, rows.iloc[[place]]) for place in range(len(rows)))
    assert (alone == score_sums(model, of, target, rows)).all()


def test_a_million_rows_are_read_in_parts(monkeypatch):
    way, request = way_and_request("linear")
    model = released(way, request, people(), people(0), seeded_noise(1)).artefacts[0]
    target, rows = request.schema.column("number"), people(500, 2)
    whole = score_sums(model.content, model.predict.func, target, rows)
    monkeypatch.setattr(held_out, "_CHUNK", 64)
    assert (whole == score_sums(model.content, model.predict.func, target, rows)).all()


# --- what it costs -----------------------------------------------------------------------------------


def shares(name, *, fitted=False, away=True, delta=SMALL, neighbours=ADD):
    """Return by kind of noise which part of the claim for the score alone, and for all, a person uses."""
    way, request = way_and_request(name, delta=delta, neighbours=neighbours)
    table, others = people(), people(90, 3)
    worst = {"first": 1.0, "number": -1.0, "level": "c", "class": "no"}
    table.loc[0, list(worst)] = others.loc[0, list(worst)] = list(worst.values())

    def run(rows, noise):
        kept, held = rows
        release = released(way, request, kept, held, noise)
        return json.dumps(release.artefacts[0].content)

    gone = (table.iloc[1:] if fitted else table, others.iloc[1:] if away else others)
    found = loss(run, (table, others), gone, rows=len(table))
    events = way(request).cost.loss.events
    return found.shares_of(claimed(events.parts[1])), found.shares_of(claimed(events))


@EVERY
@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_who_is_held_out_costs_the_score_and_no_more(name, delta):
    """With the answers frozen the exact sums move by what was declared; the fit does not move."""
    score, _ = shares(name, delta=delta)
    assert score and all(0.2 < share < 1 + 1e-9 for share in score.values())
    assert "class" not in MODELS[name]["target"] or all(share > 0.999 for share in score.values())


@EVERY
@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_even_somebody_in_both_parts_costs_no_more_than_the_release(name, delta):
    _, whole = shares(name, fitted=True, delta=delta)
    assert whole and all(0.2 < share < 1 + 1e-9 for share in whole.values())


class Louder(Division):
    """Noise divided by 1.1."""

    def scale(self, name):
        return super().scale(name) * Fraction(10, 11)


def louder(real):
    return lambda *given: Louder(**{name: getattr(real(*given), name) for name in Division.__match_args__})


def by_the_rows(real):
    return lambda self, name, sums, noise: (
        real(self, name, sums, noise) + int(name == SCORE and sums.sum() > 80)
    )


MUTANTS = {
    "noise divided by 1.1": (held_out, "score_division", louder),
    "every row counted twice": (held_out, "score_sums", lambda real: lambda *given: 2 * real(*given)),
    "a number by the rows": (Division, "noisy", by_the_rows),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_score_that_tells_more_is_caught(mutant, monkeypatch):
    way, request = way_and_request("logistic")
    claim = claimed(way(request).cost.loss.events.parts[1])
    place, word, change = MUTANTS[mutant]
    monkeypatch.setattr(place, word, change(getattr(place, word)))
    table, others = people(), people(90, 3)

    def run(rows, noise):
        return json.dumps(released(way, request, table, rows, noise).artefacts[0].content)

    if "number" in mutant:
        others.loc[1:9, "class"] = ""  # 81 rows with a class, and 80
        with pytest.raises(CheckFailed):
            loss(run, others, others.iloc[1:], rows=len(others))
        return
    spent = loss(run, others, others.iloc[1:], rows=len(others))
    assert spent.shares_of(claim)["gaussian"] > 1.2


@pytest.mark.parametrize(
    "name, epsilon, delta, neighbours, percent",
    [
        ("linear, sums", 1, SMALL, ADD, 5),
        ("linear, sums", 20, Fraction(1, 10**12), EXCHANGE, 1),
        ("linear, sums", "1/10", Fraction(1, 10**14), ADD, 1),
        ("logistic", 1, Fraction(1, 10**15), ADD, 10),
        ("tree", "1/10", SMALL, ADD, 50),
        ("tree", 1, SMALL, EXCHANGE, 5),
        *(("tree", epsilon, 0, neighbours, 5) for epsilon in ("1/10", 20) for neighbours in (ADD, EXCHANGE)),
    ],
)
def test_fit_and_score_cost_no_more_than_the_whole_together(name, epsilon, neighbours, delta, percent):
    """The accountant bears it out from the events alone, and hardly anything is thrown away."""
    way, request = way_and_request(name, percent=percent, delta=delta, neighbours=neighbours, epsilon=epsilon)
    promise = way(request).cost
    found = total([promise], delta=delta, neighbours=neighbours)
    assert found.epsilon <= promise.loss.epsilon == Fraction(epsilon)
    fit, score = fit_events(way, request), score_division(request, fit_events(way, request))
    assert promise.loss.events.parts == (fit, score.events)
    if delta:
        assert score.margin < 0.31 or delta < SMALL / 10**6
    else:
        assert found.epsilon > 0.9 * promise.loss.epsilon  # scales are rounded up


@EVERY
def test_without_a_score_nothing_is_different(name):
    way, request = way_and_request(name, percent=0)
    release = released(way, request, people(), people(90, 3), seeded_noise(4))
    assert "held_out" not in release.artefacts[0].content and not way(request).scores
    assert way(request).cost.loss.epsilon == 1 and request.budget.epsilon == 1
    again = way(request).run({MAIN: Table(people())}, Context(seeded_noise(4), None, Path()))
    assert again.artefacts[0].content == release.artefacts[0].content


# --- what it says ------------------------------------------------------------------------------------


def covered(*, pure, is_classes, rows, cap, deviation, runs=2000):
    """Return how often every interval holds what all people of an invented population would give."""
    chance = np.random.default_rng(9)
    people_drawn = rows // cap
    found: dict[str, int] = {}
    for _ in range(runs):
        if is_classes:
            of = np.repeat(chance.choice(4, people_drawn, p=[0.1, 0.05, 0.25, 0.6]), cap)
            exact, model = np.bincount(of, minlength=4), CLASSES
            truth = {"right": 0.85, "guess_right": 0.65}
        else:
            own, guess = np.repeat(chance.beta([2, 3], [14, 9], (people_drawn, 2)), cap, axis=0).T
            exact = np.array(
                [ROW * len(own), *(np.rint(FULL * one).sum() for one in (own, guess))], dtype=np.int64
            )
            truth = {"error": 0.5 * np.sqrt(1 / 8), "guess_error": 0.5 * np.sqrt(1 / 4), "explained": 0.5}
            model = NUMBER
        scale = deviation * (1 if is_classes else FULL)
        drawn = (
            chance.laplace(scale=scale / np.sqrt(2), size=exact.size)
            if pure
            else chance.normal(scale=scale, size=exact.size)
        )
        noisy = exact + np.rint(drawn).astype(np.int64)
        score = score_as_json(noisy, model, deviation=scale, rows_per_person=cap, pure=pure)
        for name, value in truth.items():
            found[name] = found.get(name, 0) + (score[name]["low"] <= value <= score[name]["high"])
    return {name: count / runs for name, count in found.items()}


@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("is_classes", [False, True])
@pytest.mark.parametrize(
    "rows, cap, deviation", [(1000, 1, 2.0), (1000, 1, 40.0), (300, 3, 10.0), (60, 1, 30.0)]
)
def test_intervals_hold_what_all_people_would_give(is_classes, pure, rows, cap, deviation):
    """At least 95 of 100; 2000 draws with less than 93.5 % have a chance below 1 in 500 at 95 %."""
    found = covered(pure=pure, is_classes=is_classes, rows=rows, cap=cap, deviation=deviation)
    assert all(share > 0.935 for share in found.values()), found


@pytest.mark.parametrize("target, size", [("class", 4), ("number", 3)])
def test_noise_alone_says_nothing(target, size):
    """No rows, or noisy numbers of rows below 0: finite, within their ends, and wide."""
    model = CLASSES if target == "class" else NUMBER
    for sums_of in (np.zeros(size), np.full(size, -50_000), np.full(size, 3), -(2**40) * np.ones(size)):
        found = score_as_json(
            sums_of.astype(np.int64), model, deviation=30_000.0, rows_per_person=2, pure=True
        )
        for name, one in found.items():
            if isinstance(one, dict):
                assert np.isfinite([*one.values()]).all() and one["low"] <= one["high"], name
        first = found["right"] if target == "class" else found["explained"]
        assert first["high"] - first["low"] > 0.9


def test_the_guess_is_what_the_noisy_model_knows():
    leaves = [{"rows": 10, "shares": [0.9, 0.1]}, {"rows": 100, "shares": [0.2, 0.8]}]
    classes = {"target": {"kind": "classes", "values": ["no", "yes"]}}
    assert guess_of(classes | {"leaves": leaves}) == "yes"
    assert guess_of(classes | {"shares": [0.7, 0.3]}) == "no"
    assert guess_of(classes | {"intercept": 0.1}) == "yes"
    assert guess_of({"target": {"minimum": 0, "maximum": 9}, "intercept": 3.5}) == 3.5
    assert guess_of({"target": {"minimum": 0, "maximum": 9}, "intercept": 62}) == 9


@EVERY
def test_with_little_noise_the_score_is_that_of_the_people(name):
    way, request = way_and_request(name, epsilon=10**5, delta=0)
    away = people(5000, 8)
    release = released(way, request, people(3000, 7), away, seeded_noise(2))
    model = release.artefacts[0]
    score, predicted = model.content["held_out"], model.predict(away)
    target = request.values["target"]
    known = ~away[target].isin(["", "other"]).to_numpy()
    truth = away[target].to_numpy()[known]
    assert score["rows"] == known.sum()
    if target == "number":
        error = np.minimum(np.abs(predicted.astype(float) - truth), 0.5)
        guess = np.minimum(np.abs(truth - score["guess"]), 0.5)
        assert score["error"]["value"] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-3)
        assert score["explained"]["value"] == pytest.approx(1 - np.sum(error**2) / np.sum(guess**2), abs=1e-3)
    else:
        assert score["right"]["value"] == pytest.approx(np.mean(predicted[known] == truth), abs=1e-3)
        assert score["guess_right"]["value"] == pytest.approx(np.mean(truth == score["guess"]), abs=1e-3)


@pytest.mark.parametrize("name", ["linear, sums", "logistic", "tree"])
def test_the_forecast_says_how_far_off_it_will_be(name):
    way, request = way_and_request(name, percent=10)
    assert [one.size for one in way(request).forecast.errors if one.of == "score"] == list(request.sizes)
    small, large = (
        next(one for one in way(replace(request, sizes=(size,))).forecast.errors if one.of == "score")
        for size in (1000, 10**6)
    )
    assert large.limit < 2 < small.limit <= 100
    _, without = way_and_request(name, percent=0)
    assert not [one for one in way(without).forecast.errors if one.of == "score"]


# --- through a release -------------------------------------------------------------------------------


def test_it_leaves_with_the_release(monkeypatch, tmp_path):
    """By the way that every release goes: capped held-out people, evidence, card, model and the check."""
    way = method("models.naive_bayes")
    plan = plans(way)[0]
    plan = replace(plan, parameters=dict(plan.parameters) | {"held_out_percent": 10})
    monkeypatch.setattr(way, "examples", lambda: ())
    monkeypatch.setattr("engine.release.examples.plans", lambda given: [plan])
    run_on_named_columns(way, tmp_path / "examples")  # and not the examples that all tests share
    folder = tmp_path / "examples" / "example"
    model = json.loads((folder / "release" / "model.json").read_text())
    score = model["held_out"]
    assert score["percent_of_budget"] == 10 and 0 <= score["right"]["low"] <= score["right"]["high"] <= 1
    assert str(score["guess"]) in (folder / "release" / "model-card.html").read_text()
    found = evidence(folder)
    assert "held_out_percent" in json.dumps(found)
