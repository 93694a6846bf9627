"""Naive Bayes: the printed example, exact sensitivities, the transcript, odd tables, its file."""

import itertools
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.models.class_tables import Rows, TablesPlan, fit, normal, shares
from engine.methods.models.naive_bayes import log_odds, probabilities
from engine.methods.protocol import Budget, Context
from engine.methods.shared import division
from engine.methods.shared.division import Division
from engine.privacy.accounting import certified_delta
from engine.privacy.events import Neighbours
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.engine.battery.transcript import exact_sums, transcript
from tests.noise_source import seeded_noise

ID = "models.naive_bayes"
SMALL = Fraction(1, 10**6)


def plan(delta=SMALL, *, sizes=(3, 2), numbers=1, cap=1, replace_one=False):
    return TablesPlan(2, sizes, numbers, Fraction(1), delta, cap, replace_one)


def run_of(given):
    return lambda rows, noise: fit([Rows(*rows)], given, noise=noise)


# --- by hand ------------------------------------------------------------------------------------------


def test_ten_mortgages():
    """Four of ten missed; (Young, Medium, Female): .4·2/4·1/4·2/4 = .025 beside .6·1/6·1/6·2/6 = .0056."""
    model = {
        "target": {"values": ["missed", "paid"]},
        "shares": shares(np.array([4.0, 6.0]), smoothing=0).tolist(),
        "predictors": [
            {
                "name": name,
                "kind": "levels",
                "levels": [value],
                "missing": [],
                "shares": shares(np.array(counts, float), smoothing=0).tolist(),
            }
            for name, value, counts in (
                ("age", "Young", [[2, 1, 1], [1, 4, 1]]),
                ("income", "Medium", [[1, 2, 1], [1, 4, 1]]),
                ("sex", "Female", [[2, 1, 1], [2, 3, 1]]),
            )
        ],
    }
    row = pd.DataFrame({"age": ["Young"], "income": ["Medium"], "sex": ["Female"]})
    assert np.exp(log_odds(model, row))[0] == pytest.approx([0.025, 1 / 180])
    assert round(1 / 180, 4) == 0.0056


def test_mean_and_variance_are_those_of_the_rows():
    values = np.array([-1.0, 0.5, 0.25, np.nan, 1.0])
    given = plan(sizes=(), numbers=1)
    _, moments = exact_sums(run_of(given), (np.zeros(5, np.int64), [], [values]), module=division)
    mean, variance = normal(np.array([[1.0, 4.0], [0.0, 0.0]]), moments.reshape(2, 2) / 1024)
    assert mean[0] == pytest.approx(np.nanmean(values)) and variance[0] == pytest.approx(np.nanvar(values))


# --- sensitivity --------------------------------------------------------------------------------------

GRID = (-1.0, -0.5, -0.25, 0.0, 0.5, 1.0, np.nan)


@pytest.mark.parametrize("replace_one", [False, True])
@pytest.mark.parametrize(("sizes", "numbers"), [((3, 2), 0), ((2,), 1), ((), 2)])
def test_sensitivities_are_reached_and_never_exceeded(sizes, numbers, replace_one):
    """Every row on a grid, alone and beside every other one."""
    given = plan(sizes=sizes, numbers=numbers, replace_one=replace_one)
    parts = [range(2), *map(range, sizes), *[GRID] * numbers]
    sums = []
    for row in itertools.product(*parts):
        codes = [np.array([one]) for one in row[1 : 1 + len(sizes)]]
        values = [np.array([one]) for one in row[1 + len(sizes) :]]
        sums.append(exact_sums(run_of(given), (np.array([row[0]]), codes, values), module=division))
    for query, found in zip(given.division.queries, zip(*sums, strict=True), strict=True):
        moved = np.array(found).astype(float)
        if replace_one:
            moved = (moved[:, None] - moved).reshape(-1, moved.shape[1])
        assert np.abs(moved).sum(axis=1).max() == query.ones
        assert (moved**2).sum(axis=1).max() == query.squared


def test_a_published_variance_sensitivity_is_exceeded():
    """n (u − l)/(n + 1) for the summed variance of a class: one row moves it by nearly (u − l)² n/(n + 1)."""
    rows = np.r_[np.zeros(1000)]
    with_one = np.r_[rows, 1000.0]
    moved = with_one.var() - rows.var()
    n = len(rows)
    assert moved > n * 1000 / (n + 1) / n and moved == pytest.approx(n * 1000**2 / (n + 1) ** 2)


def test_a_person_with_more_rows_costs_more():
    one, three = plan().division, plan(cap=3).division
    assert [query.ones * 3 for query in one.queries] == [query.ones for query in three.queries]
    assert [query.squared * 9 for query in one.queries] == [query.squared for query in three.queries]


# --- transcript ---------------------------------------------------------------------------------------


def spent(given, runs=4):
    """The row at the end: its number at the end of the range; exchanged, for one of another class."""
    n, wide = 50, 400
    target = np.array([0] * (n - 1) + [1])
    codes = [np.zeros(n, np.int64)]
    rows = (target, codes, [np.ones(n)])
    less = (target[:-1], [codes[0][:-1]], [np.ones(n - 1)])
    other = (np.zeros(n, np.int64), codes, [np.append(np.ones(n - 1), -1.0)])
    wide_plan = replace(given, sizes=(wide,))
    neighbour = other if given.replace_one else less
    found = transcript(run_of(wide_plan), rows, neighbour, module=division, runs=runs)
    level = found.gaussian_level if given.delta else found.laplace_level
    return level / wide_plan.division.level


@pytest.mark.parametrize("replace_one", [False, True])
@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_the_transcript_spends_what_was_promised_and_no_more(delta, replace_one):
    """Four moments in each run are few numbers: 60 runs leave an error of some percent of a fifth."""
    assert 0.9 < spent(plan(delta, replace_one=replace_one), runs=60) < 1.05


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_noise_divided_by_eleven_tenths_is_caught(delta, monkeypatch):
    scale = Division.scale
    monkeypatch.setattr(Division, "scale", lambda self, name: scale(self, name) * Fraction(10, 11))
    assert spent(plan(delta), runs=60) > 1.05


@pytest.mark.parametrize("replace_one", [False, True])
@pytest.mark.parametrize("cap", [1, 3])
@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_the_parts_cost_no_more_than_the_whole(delta, cap, replace_one):
    given = plan(delta, cap=cap, replace_one=replace_one)
    leaves = given.division.events.together(Neighbours.ADD_REMOVE)
    if delta:
        assert float(delta) / 2 < certified_delta(leaves, 1.0) <= float(delta)
    else:
        assert Fraction(99, 100) < sum(leaf.epsilon() for leaf in leaves) <= 1


# --- the method ---------------------------------------------------------------------------------------


def declared(name, kind, **domain):
    return Column(name, Role.OTHER, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


COLUMNS = (
    declared("state", Kind.CATEGORY, values=("ill", "well", "cured")),
    declared("one", Kind.CATEGORY, values=("a",)),
    declared("ward", Kind.CATEGORY, values=("a", "b", "c")),
    declared("age", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(99)),
    declared("code", Kind.CATEGORY, values=tuple(map(str, range(40_000)))),
    declared("never", Kind.INTEGER, minimum=Fraction(1, 3), maximum=Fraction(1, 2)),
)
BUDGET = Budget(Fraction(1))


def table(n=4000, seed=1):
    chance = np.random.default_rng(seed)
    state = chance.choice(["ill", "well", "cured"], n, p=[0.2, 0.5, 0.3])
    ward = np.where(chance.random(n) < 0.7, np.where(state == "ill", "a", "b"), "c")
    age = chance.normal(np.where(state == "cured", 70, 40), 12).clip(0, 99)
    return pd.DataFrame({"state": state, "ward": ward, "age": age})


def request_for(given=None, budget=BUDGET):
    values = {"target": "state", "predictors": ["ward", "age"], **(given or {})}
    return method(ID).make_request({"people": Schema(COLUMNS)}, values, budget=budget)


def made(frame, given=None, budget=BUDGET, seed=7):
    request, noise = request_for(given, budget), seeded_noise(seed)
    assert not method(ID)(request).problems, method(ID)(request).problems
    release = method(ID)(request).run({"people": Table(frame)}, Context(noise, None, Path()))
    assert noise.counted == method(ID)(request).cost.drawn()
    return release.artefacts[0]


GAUSS = Budget(Fraction(1), SMALL)


@pytest.mark.parametrize("numbers", ["bins", "normal"])
@pytest.mark.parametrize(("noise", "budget"), [("laplace", BUDGET), ("gaussian", GAUSS)])
def test_it_predicts_people_it_has_not_seen(numbers, noise, budget):
    unseen = table(2000, seed=2)
    found = made(table(), {"numbers": numbers, "noise": noise}, budget)
    assert (found.predict(unseen) == unseen["state"]).mean() > 0.78 > (unseen["state"] == "well").mean()
    assert probabilities(found.content, unseen).sum(axis=1) == pytest.approx(1)


def test_without_noise_it_is_the_naive_bayes_of_scikit_learn():
    from sklearn.naive_bayes import CategoricalNB, GaussianNB

    frame, much = table(), Budget(Fraction(10**6))
    for numbers, peer, columns in (("bins", CategoricalNB(), ["ward"]), ("normal", GaussianNB(), ["age"])):
        found = made(frame, {"predictors": columns, "numbers": numbers}, much)
        codes = frame[columns].apply(lambda c: c if c.name == "age" else pd.factorize(c, sort=True)[0])
        fitted = peer.fit(codes, frame["state"])
        order = [list(fitted.classes_).index(one) for one in found.content["target"]["values"]]
        expected = fitted.predict_proba(codes)[:, order]
        assert probabilities(found.content, frame) == pytest.approx(expected, abs=5e-3)


@pytest.mark.parametrize("numbers", ["bins", "normal"])
def test_whatever_the_rows_hold_an_answer_comes_out(numbers):
    odd = pd.DataFrame(
        {
            "state": ["ill", "?", None, "well"],
            "ward": ["z", None, "", "a"],
            "age": [np.nan, -np.inf, 1e300, 3],
        }
    )
    for frame in (odd, odd.head(0), odd.head(1), table().assign(state="ill"), table().assign(age=5.0)):
        found = made(frame, {"numbers": numbers})
        content = json.loads(json.dumps(found.content, allow_nan=False))
        assert np.isfinite(log_odds(content, odd)).all()
        assert set(found.predict(odd)) <= {"ill", "well", "cured"}


@pytest.mark.parametrize(
    ("given", "budget", "code"),
    [
        ({"predictors": ["state", "age"]}, BUDGET, f"{ID}.predicts_itself"),
        ({"target": "one"}, BUDGET, f"{ID}.classes"),
        ({"predictors": ["code", "age"]}, BUDGET, f"{ID}.too_many_counts"),
        ({"predictors": ["never"]}, BUDGET, f"{ID}.no_edges"),
        ({"noise": "gaussian"}, BUDGET, "budget.delta_needed"),
    ],
)
def test_what_cannot_work_is_said_from_declarations_alone(given, budget, code):
    assert code in [problem.code for problem in method(ID)(request_for(given, budget)).problems]
