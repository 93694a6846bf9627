"""The decision tree: by hand, sensitivity, transcript, odd tables."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.models.tree import LEVELS, Question, TreePlan, fit, leaf_of, reached
from engine.methods.protocol import Budget, Context
from engine.methods.shared import division
from engine.methods.shared.division import Division
from engine.privacy.accounting import certified_delta
from engine.privacy.events import Neighbours
from engine.table.schema import Schema
from engine.table.table import Table
from engine.views import BarsView, NumberView
from tests.engine.battery.transcript import transcript
from tests.engine.methods.models.test_naive_bayes import BUDGET, COLUMNS, GAUSS, table
from tests.noise_source import seeded_noise

ID = "models.tree"
SMALL = Fraction(1, 10**6)


def plan(delta=SMALL, *, cap=1, replace_one=False, epsilon=Fraction(1), depth=2):
    return TreePlan(2, (3, 5), (0, 4), depth, epsilon, delta, cap, replace_one)


def rows(n=2000, seed=1):
    """Class 1 where the second predictor is at least 2, and the first is not 0."""
    chance = np.random.default_rng(seed)
    codes = [chance.integers(0, 3, n), chance.integers(0, 5, n)]
    return ((codes[1] >= 2) & (codes[0] > 0)).astype(np.int64), codes


def run_of(given):
    return lambda data, noise: fit(*data, given, noise=noise)


def test_it_asks_what_parts_the_classes():
    target, codes = rows()
    found = fit(target, codes, plan(epsilon=Fraction(10**6)), noise=seeded_noise(1))
    first = found.questions[0][0]
    second = found.questions[1]
    assert {first.predictor} | {one.predictor for one in second if one} == {0, 1}
    assert Question(1, (0, 1)) in (first, *second)
    shares = found.leaves / found.leaves.sum(axis=1, keepdims=True).clip(1)
    assert (np.minimum(shares.min(axis=1), 0.01) == shares.min(axis=1)).all()


def test_without_rows_enough_nothing_is_asked():
    target, codes = rows(5)
    found = fit(target, codes, plan(epsilon=Fraction(1, 10)), noise=seeded_noise(1))
    assert found.questions == ((None,), (None, None))


@pytest.mark.parametrize("replace_one", [False, True])
@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_the_transcript_spends_what_was_promised_and_no_more(delta, replace_one):
    """Under replace-one the other row is of another class, so that no two of their cells are the same."""
    given = replace(plan(delta, replace_one=replace_one), sizes=(60, 5))
    target, codes = rows(300)
    other = (np.r_[1 - target[:1], target[1:]], [np.r_[(own[:1] + 1) % 3, own[1:]] for own in codes])
    neighbour = other if replace_one else (target[1:], [own[1:] for own in codes])
    found = transcript(run_of(given), (target, codes), neighbour, module=division, runs=40)
    level = found.gaussian_level if delta else found.laplace_level
    assert 0.9 * given.division.level < level < 1.05 * given.division.level


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_noise_divided_by_eleven_tenths_is_caught(delta, monkeypatch):
    given = replace(plan(delta), sizes=(60, 5))
    claimed, scale = given.division.level, Division.scale
    monkeypatch.setattr(Division, "scale", lambda self, name: scale(self, name) * Fraction(10, 11))
    target, codes = rows(300)
    fewer = (target[1:], [own[1:] for own in codes])
    found = transcript(run_of(given), (target, codes), fewer, module=division, runs=80)
    assert (found.gaussian_level if delta else found.laplace_level) > 1.05 * claimed


@pytest.mark.parametrize("seed", range(4))
def test_a_neighbour_moves_every_count_within_its_sensitivity(seed):
    given, (target, codes) = plan(), rows(200, seed)
    fewer = (target[1:], [own[1:] for own in codes])
    found = transcript(run_of(given), (target, codes), fewer, module=division, runs=1)
    levels, leaves = given.division.queries
    assert levels.name == LEVELS
    for query, moved in zip((levels, levels, leaves), found.moved, strict=True):
        assert moved @ moved == query.squared and np.abs(moved).sum() == query.ones


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


def request_for(given=None, budget=BUDGET):
    values = {"target": "state", "predictors": ["ward", "age"], **(given or {})}
    return method(ID).make_request({"people": Schema(COLUMNS)}, values, budget=budget)


def made(frame, given=None, budget=BUDGET):
    request, noise = request_for(given, budget), seeded_noise(7)
    assert not method(ID)(request).problems, method(ID)(request).problems
    release = method(ID)(request).run({"people": Table(frame)}, Context(noise, None, Path()))
    assert noise.counted == method(ID)(request).cost.drawn()
    return release.artefacts[0]


@pytest.mark.parametrize(("noise", "budget"), [("laplace", BUDGET), ("gaussian", GAUSS)])
def test_it_predicts_people_it_has_not_seen(noise, budget):
    unseen = table(2000, seed=2)
    found = made(table(), {"noise": noise}, budget)
    assert (found.predict(unseen) == unseen["state"]).mean() > 0.7 > (unseen["state"] == "well").mean()


def test_whatever_the_rows_hold_an_answer_comes_out():
    odd = pd.DataFrame(
        {
            "state": ["ill", "?", None, "well"],
            "ward": ["z", None, "", "a"],
            "age": [np.nan, -np.inf, 1e300, 3],
        }
    )
    for frame in (odd, odd.head(0), odd.head(1), table().assign(state="ill"), table().assign(age=5.0)):
        found = made(frame)
        content = json.loads(json.dumps(found.content, allow_nan=False))
        assert ((leaf_of(content, odd) >= 0) & (leaf_of(content, odd) < 8)).all()
        assert set(found.predict(odd)) <= {"ill", "well", "cured"}


def test_leaves_that_no_row_can_come_to_are_neither_shown_nor_counted():
    """Before, a tree that asked nothing printed all its leaves, and their noise made up rows of nobody."""
    for frame in (table(), table().head(3)):
        request, noise = request_for(), seeded_noise(7)
        release = method(ID)(request).run({"people": Table(frame)}, Context(noise, None, Path()))
        model = release.artefacts[0].content
        shown = next(one for one in release.views if getattr(one.title, "id", "").endswith("leaves.title"))
        (told,) = [one for one in release.views if isinstance(one, NumberView)]
        rows = {row[0]: row[1] for row in shown.rows}
        assert list(rows) == [leaf + 1 for leaf in reached(model)]
        assert told.value == sum(rows.values())
        grid = pd.DataFrame(product(["a", "b", "c", "d", "?"], range(0, 101, 2)), columns=["ward", "age"])
        assert {leaf + 1 for leaf in leaf_of(model, grid)} <= set(rows)
    assert len(rows) == 1, "of three rows nothing can be told apart"
    (drawn,) = [one for one in release.views if isinstance(one, BarsView)]
    assert drawn.values == tuple(list(shown.rows[0])[2:])


def test_what_stands_below_a_node_that_asks_nothing_is_reached_on_one_side():
    asked = [[{"predictor": 0}], [None, {"predictor": 1}], [None, {"predictor": 0}, {"predictor": 1}, None]]
    assert reached({"questions": asked}) == [0, 4, 5, 6]


@pytest.mark.parametrize(
    ("given", "budget", "code"),
    [
        ({"predictors": ["state", "age"]}, BUDGET, f"{ID}.predicts_itself"),
        ({"target": "one"}, BUDGET, f"{ID}.classes"),
        ({"predictors": ["code", "age"]}, BUDGET, f"{ID}.too_many_counts"),
        ({"predictors": ["never"]}, BUDGET, f"{ID}.no_edges"),
        ({"noise": "gaussian"}, BUDGET, "budget.delta_needed"),
        ({"noise": "gaussian"}, Budget(Fraction(1), SMALL), None),
    ],
)
def test_what_cannot_work_is_said_from_declarations_alone(given, budget, code):
    found = [problem.code for problem in method(ID)(request_for(given, budget)).problems]
    assert code in found if code else not found
