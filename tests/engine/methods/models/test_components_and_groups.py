"""Principal components and k-means: sensitivity, transcript, limits, odd tables."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.models.components import project
from engine.methods.models.k_means import PER_SIDE, RADIUS, SUMS, CentresPlan, _steps, fit, nearest_groups
from engine.methods.protocol import Budget, Context
from engine.methods.shared import division
from engine.methods.shared.division import Division
from engine.privacy.accounting import certified_delta
from engine.privacy.events import Neighbours
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.engine.battery.transcript import transcript
from tests.noise_source import seeded_noise

GROUPS, COMPONENTS = "models.k_means", "models.pca"
SMALL = Fraction(1, 10**6)


def plan(delta=SMALL, *, columns=2, cap=1, replace_one=False, rows=3000):
    return CentresPlan(columns, 3, Fraction(1), delta, cap, replace_one, rows)


def clouds(n=3000, seed=1):
    """Three clouds in the plane, in steps."""
    chance = np.random.default_rng(seed)
    middles = np.array([[-600, -600], [600, -500], [0, 600]])
    rows = middles[chance.integers(0, 3, n)] + chance.normal(size=(n, 2)) * 100
    return np.clip(np.rint(rows), -PER_SIDE, PER_SIDE).astype(np.int64)


def inertia(rows, centres):
    return ((rows[:, None, :] - centres) ** 2).sum(axis=2).min(axis=1).mean()


# --- what one row moves -------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_no_way_is_longer_than_its_sensitivity_and_some_are_as_long(columns):
    """All rows of a grid about all centres of it: the sum of one row."""
    line = np.arange(-PER_SIDE, PER_SIDE + 1, 128)
    rows = np.stack(np.meshgrid(*[line] * columns), axis=-1).reshape(-1, columns)
    query = {one.name: one for one in plan(columns=columns).division.queries}[SUMS]
    squares, ones = 0, 0
    for centre in (np.zeros(columns, np.int64), np.full(columns, -PER_SIDE)):
        ways = np.array([_steps(row[None], centre[None].astype(np.int64))[1][0] for row in rows])
        squares = max(squares, (ways**2).sum(axis=1).max())
        ones = max(ones, np.abs(ways).sum(axis=1).max())
    assert squares == query.squared == RADIUS**2
    assert query.ones - columns <= ones <= query.ones


def spent(given, monkeypatch=None):
    """Every row at one corner but the last, which is as far away as can be, in the group of nobody else."""
    n = 400
    rows = np.full((n, given.columns), PER_SIDE, np.int64)
    rows[-1] = -PER_SIDE
    found = transcript(
        lambda rows, noise: fit(rows, given, noise=noise), rows, rows[:-1], module=division, runs=40
    )
    return (found.gaussian_level if given.delta else found.laplace_level) / given.division.level


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_the_transcript_of_groups_spends_no_more_than_was_promised(delta, monkeypatch):
    given = plan(delta, rows=400)
    assert 0.5 < spent(given) < 1.03


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


@pytest.mark.parametrize("seed", range(4))
def test_a_neighbour_moves_every_sum_within_its_sensitivity(seed):
    given, rows = plan(), clouds(400, seed)
    found = transcript(
        lambda rows, noise: fit(rows, given, noise=noise), rows, rows[1:], module=division, runs=1
    )
    grid, counts, sums = given.division.queries
    for query, moved in zip((grid, *(counts, sums) * 3), found.moved, strict=True):
        assert moved @ moved <= query.squared and np.abs(moved).sum() <= query.ones


# --- limits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_groups_are_nearly_as_tight_as_those_of_scikit_learn(delta):
    from sklearn.cluster import KMeans

    rows = clouds(6000)
    best = KMeans(3, n_init=5, random_state=0).fit(rows)
    found = [fit(rows, plan(delta, rows=6000), noise=seeded_noise(seed)) for seed in range(5)]
    assert np.median([inertia(rows, one.centres) for one in found]) < 1.02 * best.inertia_ / len(rows)


@pytest.mark.parametrize(
    "rows", [np.zeros((0, 2), np.int64), np.zeros((1, 2), np.int64), np.full((50, 2), PER_SIDE)]
)
def test_groups_of_nothing_one_and_equal_rows(rows):
    for delta in (SMALL, Fraction(0)):
        given, noise = plan(delta), seeded_noise(3)
        found = fit(rows.astype(np.int64), given, noise=noise)
        assert np.isfinite(found.centres).all() and np.abs(found.centres).max() <= PER_SIDE
        assert noise.counted == given.division.events.drawn()


# --- the methods --------------------------------------------------------------------------------------


def declared(name, kind, **domain):
    return Column(name, Role.OTHER, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


COLUMNS = (
    *(declared(name, Kind.NUMBER, minimum=Fraction(-2), maximum=Fraction(2)) for name in "xyz"),
    declared("ward", Kind.CATEGORY, values=("a", "b")),
    declared("code", Kind.CATEGORY, values=tuple(map(str, range(600)))),
    declared("codes", Kind.CATEGORY, values=tuple(map(str, range(20_000)))),
    declared("stay", Kind.INTEGER, values=("1", "2")),
)


def table(n=4000, seed=1):
    chance = np.random.default_rng(seed)
    x = np.clip(chance.normal(size=n), -2, 2)
    y, z = np.clip(0.8 * x + chance.normal(size=n) * 0.2, -2, 2), chance.uniform(-0.3, 0.3, n)
    return pd.DataFrame({"x": x, "y": y, "z": z, "ward": np.where(x > 0, "a", "b")})


GIVEN = {
    GROUPS: {"columns": ["x", "y"], "groups": 2, "about_rows": 4000},
    COMPONENTS: {"columns": ["x", "y", "z", "ward"], "components": 3},
}


def request_for(name, given=None, budget=None):
    schemas = {"people": Schema(COLUMNS)}
    return method(name).make_request(
        schemas, GIVEN[name] | (given or {}), budget=budget or Budget(Fraction(1))
    )


def made(name, frame, given=None, budget=None, seed=7):
    request, noise = request_for(name, given, budget), seeded_noise(seed)
    assert not method(name)(request).problems, method(name)(request).problems
    release = method(name)(request).run({"people": Table(frame)}, Context(noise, None, Path()))
    assert noise.counted == method(name)(request).cost.drawn()
    assert release.views and not hasattr(release.artefacts[0], "frame")
    return json.loads(release.artefacts[0].content)


def test_without_noise_components_are_those_of_the_covariance():
    frame = table()
    model = made(COMPONENTS, frame, budget=Budget(Fraction(10**6)))
    cells = np.c_[frame["ward"] == "a", frame["ward"] == "b", np.zeros(len(frame)), np.zeros(len(frame))]
    coordinates = np.c_[frame[["x", "y", "z"]] / 2, cells]
    values = np.linalg.eigvalsh(np.cov(coordinates.T, bias=True))[::-1]
    assert model["variances"] == pytest.approx(values[:3], abs=1e-3)
    along = project(model, frame)
    assert along.var(axis=0) == pytest.approx(values[:3], abs=1e-3)
    assert along.mean(axis=0) == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize(
    ("given", "budget"), [({}, None), ({"noise": "gaussian"}, Budget(Fraction(1), SMALL))]
)
def test_components_keep_nearly_all_of_the_variance(given, budget):
    frame = table()
    best = made(COMPONENTS, frame, {"components": 1}, Budget(Fraction(10**6)))
    found = made(COMPONENTS, frame, {"components": 1, **given}, budget)
    assert project(found, frame).var() > 0.95 * project(best, frame).var()


@pytest.mark.parametrize("columns", [["x", "y"], ["ward", "x"], ["x", "y", "z", "ward"]])
def test_the_foreseen_error_of_a_share_is_that_of_releases(columns):
    """Half of 40 releases are within the median or twice as much, and nearly all within the limit."""
    chance = np.random.default_rng(2)
    frame = pd.DataFrame({name: np.clip(chance.normal(size=4000) * 0.6, -2, 2) for name in "xyz"})
    frame["y"] = (frame["x"] + frame["y"]) / np.sqrt(2)
    frame["ward"] = np.where(chance.random(4000) < 0.5, "a", "b")
    given = {"columns": columns, "components": 2}

    def shares(budget, seed):
        model = made(COMPONENTS, frame, given, budget, seed)
        return 100 * np.array(model["variances"]) / model["total_variance"]

    exact = shares(Budget(Fraction(10**6)), 1)
    off = np.concatenate([np.abs(shares(None, seed) - exact) for seed in range(40)])
    foreseen = method(COMPONENTS)(replace(request_for(COMPONENTS, given), sizes=(4000,))).forecast.errors[0]
    assert foreseen.median / 2 < np.median(off) < 2 * foreseen.median
    assert (off <= foreseen.limit).mean() > 0.85


def test_new_rows_are_sorted_to_the_nearest_centre():
    model = made(GROUPS, table())
    groups = nearest_groups(model, pd.DataFrame({"x": [1.0, -1.0, np.nan, 9.0], "y": [1.0, -1.0, 0.0, 9.0]}))
    assert groups[0] != groups[1] and groups[2] == -1 and groups[3] == groups[0]


@pytest.mark.parametrize("name", [GROUPS, COMPONENTS])
def test_whatever_the_rows_hold_an_answer_comes_out(name):
    odd = pd.DataFrame(
        {"x": [np.nan, np.inf, 1e300], "y": ["?", None, "3"], "z": [0, 0, 0], "ward": ["z", None, "a"]}
    )
    for frame in (odd, odd.head(0), odd.head(1), table().assign(x=1.0, y=1.0, z=1.0)):
        made(name, frame)


@pytest.mark.parametrize(
    ("name", "given", "budget", "code"),
    [
        (GROUPS, {"columns": ["stay"]}, None, f"{GROUPS}.no_bounds"),
        (GROUPS, {}, Budget(Fraction(1, 1000)), f"{GROUPS}.nothing_left"),
        (COMPONENTS, {"columns": ["code", "x"]}, None, f"{COMPONENTS}.needs_gaussian"),
        (COMPONENTS, {"columns": ["codes", "x"]}, None, f"{COMPONENTS}.coordinates"),
        (COMPONENTS, {"columns": ["x", "y"], "components": 3}, None, f"{COMPONENTS}.coordinates"),
        (COMPONENTS, {"noise": "gaussian"}, None, "budget.delta_needed"),
    ],
)
def test_what_cannot_work_is_said_from_declarations_alone(name, given, budget, code):
    assert code in [problem.code for problem in method(name)(request_for(name, given, budget)).problems]


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_noise_divided_by_eleven_tenths_is_caught(delta, monkeypatch):
    """A row at an end of every range moves every product by the most there is."""
    given = {"noise": "gaussian" if delta else "laplace"}
    request = request_for(COMPONENTS, given, Budget(Fraction(1), delta))
    frame = pd.DataFrame({"x": [2.0, 2.0], "y": [2.0, -2.0], "z": [2.0, 2.0], "ward": ["a", "b"]})

    def run(rows, noise):
        method(COMPONENTS)(request).run({"people": Table(rows)}, Context(noise, None, Path()))

    def level():
        found = transcript(run, frame, frame.head(1), module=division, runs=120)
        return found.gaussian_level if delta else found.laplace_level

    claimed, scale = method(COMPONENTS)(request).division.level, Division.scale
    assert 0.95 * claimed < level() < 1.04 * claimed
    monkeypatch.setattr(Division, "scale", lambda self, name: scale(self, name) * Fraction(10, 11))
    assert level() > 1.05 * claimed
