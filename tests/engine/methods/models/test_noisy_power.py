"""Noisy power steps for components of very many coordinates: lengths, transcript, limits, memory."""

import json
import tracemalloc
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.analyses.noise_audit import NoiseAudit
from engine.methods.catalogue import method
from engine.methods.models import noisy_power
from engine.methods.models.components import project
from engine.methods.models.noisy_power import ROUNDS, PowerPlan, noisy_components, places
from engine.methods.models.points import PER_SIDE, Points
from engine.methods.protocol import Budget, Context
from engine.methods.shared import division
from engine.methods.shared.division import Division
from engine.privacy.accounting import certified_delta
from engine.privacy.events import Neighbours
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.engine.battery.transcript import transcript
from tests.noise_source import seeded_noise

ID = "models.pca"
SMALL = Fraction(1, 10**6)
WIDTHS = (0, 300, 0, 300)


def plan(*, epsilon=Fraction(1), cap=1, replace_one=False, components=2, widths=WIDTHS):
    return PowerPlan(widths, components, epsilon, SMALL, cap, replace_one)


def points(numbers, cells, widths=WIDTHS):
    return Points(np.asarray(numbers, np.int16), tuple(np.asarray(own, np.int32) for own in cells), widths)


def rows_at_ends(n=2000):
    """Half of the rows at one end of every range, half at the other; the last is at the first end."""
    high = np.arange(n) % 2 == n % 2
    high[-1] = True
    ends = np.where(high, PER_SIDE, -PER_SIDE)
    return points(np.stack([ends, ends], 1), (~high, ~high))


def few_classes(n=20_000, columns=10, width=60, seed=1):
    """Levels that go together in three groups of rows: nearly everything is along two directions."""
    chance = np.random.default_rng(seed)
    group = chance.integers(0, 3, n)
    cells = [
        np.where(chance.random(n) < 0.7, (group * 7 + column) % width, chance.integers(0, width, n))
        for column in range(columns)
    ]
    return points(np.zeros((n, 0)), cells, (width,) * columns)


def covariance(rows):
    dense = np.vstack(list(rows.dense()))[:, 1:] / PER_SIDE
    return np.cov(dense.T, bias=True)


# --- what one row moves -------------------------------------------------------------------------------


def far_rows(seed, n=400):
    chance = np.random.default_rng(seed)
    ends = chance.choice([-PER_SIDE, 0, 513, PER_SIDE], (n, 2))
    return points(ends, chance.integers(0, 300, (2, n)))


def any_directions(seed, columns=6):
    chance = np.random.default_rng(seed)
    along = np.linalg.qr(chance.normal(size=(602, columns)) * chance.choice([1.0, 50.0], (602, 1)))[0]
    weights = np.rint(along * 2**noisy_power.FINE).astype(np.int64)
    return weights, chance.integers(-2000, 2000, columns)


@pytest.mark.parametrize("seed", range(5))
def test_no_row_reaches_further_than_its_sensitivity_whatever_is_asked(seed):
    given, (weights, middle), rows = plan(), any_directions(seed), far_rows(seed)
    means, turns, squares = given.division.queries
    for place in range(len(rows)):
        one = rows.where(np.arange(len(rows)) == place)
        moved = noisy_power._turn(one, weights, middle, given.reach).ravel()
        assert moved @ moved <= turns.squared and np.abs(moved).sum() <= turns.ones
        own = noisy_power._means(one, given)
        assert own @ own <= means.squared and np.abs(own).sum() <= means.ones
        along = places(one, weights, middle, given.reach_of_squares) ** 2
        assert along[0] @ along[0] <= squares.squared and along.sum() <= squares.ones


@pytest.mark.parametrize("seed", range(3))
def test_where_a_row_lies_does_not_depend_on_other_rows(seed):
    (weights, middle), rows = any_directions(seed), far_rows(seed)
    together = places(rows, weights, middle, 300)
    assert together.dtype == np.int64 and (np.abs(together).max(axis=1) > 0).any()
    for place in range(0, 400, 7):
        assert (places(rows.where(np.arange(400) == place), weights, middle, 300)[0] == together[place]).all()
    dense = (np.vstack(list(rows.dense()))[:, 1:].astype(np.int64) @ weights >> noisy_power.FINE) - middle
    assert (places(rows, weights, middle, 10**9) == dense).all()


def heard(given, runs=40):
    rows = rows_at_ends()
    other = rows.where(np.arange(len(rows)) < len(rows) - 1)
    if given.replace_one:
        last = points(-rows.numbers[-1:], [1 - own[-1:] for own in rows.cells])
        other = points(
            np.r_[other.numbers, last.numbers],
            [np.r_[one, two] for one, two in zip(other.cells, last.cells, strict=True)],
        )
    return transcript(
        lambda table, noise: noisy_components(lambda: [table], given, noise=noise),
        rows,
        other,
        module=division,
        runs=runs,
    )


def spent(given):
    """The level of everything, measured."""
    return heard(given).gaussian_level / given.division.level


@pytest.mark.parametrize("replace_one", [False, True])
def test_the_transcript_spends_what_was_promised_and_no_more(replace_one):
    """The row is at the end of every range and clipped in every turn."""
    given = plan(replace_one=replace_one)
    found = heard(given)
    means, turns, squares = given.division.queries
    for query, moved in zip((means, *[turns] * ROUNDS, squares), found.moved, strict=True):
        assert moved @ moved <= query.squared and np.abs(moved).sum() <= query.ones
    assert found.moved[0] @ found.moved[0] > 0.98 * means.squared or replace_one
    for moved in found.moved[2 : 1 + ROUNDS]:
        assert moved @ moved > 0.95 * turns.squared * (0.25 if replace_one else 1)
    assert (0.4 if replace_one else 0.9) < found.gaussian_level / given.division.level < 1.03


def test_noise_divided_by_eleven_tenths_is_caught(monkeypatch):
    given, scale = plan(), Division.scale
    before = spent(given)
    assert before < 1.03
    monkeypatch.setattr(Division, "scale", lambda self, name: scale(self, name) * Fraction(10, 11))
    assert spent(given) > 1.04 and spent(given) == pytest.approx(1.1 * before, rel=0.02)


@pytest.mark.parametrize("fault", ["no_clipping", "one_turn_too_few"])
def test_faults_are_caught(fault, monkeypatch):
    """A row that is not clipped moves a turn further; a turn that is not counted is not paid for."""
    given = plan()
    if fault == "no_clipping":
        monkeypatch.setattr(noisy_power, "places", lambda *given: places(*given[:3], 10**9))
    else:
        paid = tuple(replace(one, count=max(one.count - 1, 1)) for one in given.division.queries)
        cheaper = replace(given.division, queries=paid)
        monkeypatch.setattr(PowerPlan, "division", cheaper)
    assert spent(plan()) > 1.1  # of a new plan: the first remembers its division


@pytest.mark.parametrize("replace_one", [False, True])
@pytest.mark.parametrize("cap", [1, 3])
def test_the_parts_cost_no_more_than_the_whole(cap, replace_one):
    given = plan(cap=cap, replace_one=replace_one)
    leaves = given.division.events.together(Neighbours.ADD_REMOVE)
    assert float(SMALL) / 2 < certified_delta(leaves, 1.0) <= float(SMALL)


@pytest.mark.parametrize("n", [0, 1, 600])
def test_what_is_drawn_is_what_is_declared_whatever_the_rows_are(n):
    given, noise = plan(), seeded_noise(3)
    found = noisy_components(lambda: [rows_at_ends(600).where(np.arange(600) < n)], given, noise=noise)
    assert noise.counted == given.division.events.drawn()
    assert np.isfinite(found.directions).all() and np.isfinite(found.variances).all()


def test_neither_order_nor_parts_of_the_rows_change_a_bit():
    rows, given = few_classes(3000), plan(widths=(60,) * 10)
    order = np.random.default_rng(0).permutation(3000)
    halves = [rows.where(order < 1400), rows.where(order >= 1400)]
    one = noisy_components(lambda: [rows], given, noise=seeded_noise(1))
    other = noisy_components(lambda: halves, given, noise=seeded_noise(1))
    assert (one.directions == other.directions).all() and (one.variances == other.variances).all()


# --- limits -------------------------------------------------------------------------------------------


def test_with_little_noise_it_finds_the_components_and_their_variances():
    rows = few_classes()
    exact = covariance(rows)
    values = np.linalg.eigvalsh(exact)[::-1]
    found = noisy_components(
        lambda: [rows], plan(epsilon=Fraction(10**4), widths=(60,) * 10), noise=seeded_noise(1)
    )
    assert np.trace(found.directions @ exact @ found.directions.T) > 0.99 * values[:2].sum()
    assert found.variances == pytest.approx(values[:2], rel=0.05)
    assert found.total == pytest.approx(np.trace(exact), rel=0.02)
    assert found.directions @ found.directions.T == pytest.approx(np.eye(2), abs=1e-9)


def test_with_noise_it_keeps_nearly_all_of_the_variance():
    """At ε = 1, and what it says of variances is what they are."""
    rows = few_classes()
    exact = covariance(rows)
    best = np.linalg.eigvalsh(exact)[::-1][:2].sum()
    for seed in range(3):
        found = noisy_components(lambda: [rows], plan(widths=(60,) * 10), noise=seeded_noise(seed))
        kept = np.trace(found.directions @ exact @ found.directions.T)
        assert kept > 0.9 * best
        assert found.variances.sum() == pytest.approx(kept, rel=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_thousands_of_empty_cells_make_no_differences_out_of_noise(seed):
    """The noise of each is small beside the rows, that of all of them together is not."""
    chance, widths = np.random.default_rng(seed), (0, 0, 5000)
    numbers = chance.integers(-PER_SIDE, PER_SIDE + 1, (10_000, 2))
    rows = points(numbers, [np.minimum(chance.geometric(0.2, 10_000), 4999)], widths)
    shares = np.bincount(rows.cells[0], minlength=5000) / 10_000
    whole = np.var(numbers / PER_SIDE, axis=0).sum() + 1 - shares @ shares
    found = noisy_components(lambda: [rows], plan(widths=widths), noise=seeded_noise(seed))
    assert found.total == pytest.approx(whole, rel=0.1)


def test_no_matrix_of_all_products_is_formed():
    """8,000 coordinates: their products alone would be 512 MB."""
    rows = few_classes(2000, columns=10, width=800)
    tracemalloc.start()
    found = noisy_components(lambda: [rows], plan(widths=(800,) * 10), noise=seeded_noise(1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.directions.shape == (2, 8000) and peak < 60 * 2**20


# --- the method ---------------------------------------------------------------------------------------


def declared(name, kind, **domain):
    return Column(name, Role.OTHER, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


LEVELS = tuple(map(str, range(300)))
COLUMNS = (
    declared("x", Kind.NUMBER, minimum=Fraction(-2), maximum=Fraction(2)),
    declared("first", Kind.CATEGORY, values=LEVELS),
    declared("second", Kind.CATEGORY, values=LEVELS),
)


def frame(n=20_000, seed=1):
    chance = np.random.default_rng(seed)
    group = chance.integers(0, 2, n)
    level = np.where(chance.random((2, n)) < 0.8, group * 5, chance.integers(0, 300, (2, n))).astype(str)
    return pd.DataFrame({"x": group * 2.0 - 1, "first": level[0], "second": level[1]})


def made(table, seed=1, epsilon=1):
    given = {"columns": ["x", "first", "second"], "components": 1, "noise": "gaussian"}
    way, budget = method(ID), Budget(Fraction(epsilon), SMALL)
    request = way.make_request({"people": Schema(COLUMNS)}, given, budget=budget)
    assert not way(request).problems
    return way(request).run({"people": Table(table)}, Context(seeded_noise(seed), None, Path()))


def test_an_audit_of_the_plan_hears_nearly_all_that_is_claimed():
    """On worst rows of its own shape, by what this machine draws."""
    given = {"columns": ["x", "first", "second"], "components": 1, "noise": "gaussian"}
    request = method(ID).make_request({"people": Schema(COLUMNS)}, given, budget=Budget(Fraction(1), SMALL))
    found = NoiseAudit().of_plan(method(ID)(request), runs=20).figures
    assert not found["too_little_noise"] and found["same_questions"]
    assert 0.9 < found["measured"] / found["claimed"] < 1.03


def test_a_release_tells_its_steps_and_projects_new_rows():
    release = made(frame())
    model = json.loads(release.artefacts[0].content)
    assert model["rounds"] == ROUNDS and set(model["noise"]) == {
        "distribution",
        "deviation_of_means",
        "deviation_of_turns",
        "deviation_of_squares",
    }
    unseen = frame(2000, seed=2)
    along = project(model, unseen)[:, 0]
    exactly = json.loads(made(frame(), epsilon=10**4).artefacts[0].content)
    assert abs(np.corrcoef(along, project(exactly, unseen)[:, 0])[0, 1]) > 0.98
    assert model["variances"][0] == pytest.approx(along.var(), rel=0.1)
    assert model["variances"][0] > model["variance_of_noise"]


def test_a_column_of_very_many_values_needs_no_square_of_them_in_memory():
    """18,000 values: a matrix with a row and a column for each would be 2.6 GB, in the fit or in a file."""
    many = declared("first", Kind.CATEGORY, values=tuple(map(str, range(18_000))))
    given = {"columns": ["x", "first"], "components": 1, "noise": "gaussian"}
    way, budget = method(ID), Budget(Fraction(1), SMALL)
    request = way.make_request({"people": Schema((COLUMNS[0], many))}, given, budget=budget)
    tracemalloc.start()
    release = way(request).run({"people": Table(frame(500))}, Context(seeded_noise(1), None, Path()))
    along = project(json.loads(release.artefacts[0].content), frame(500, seed=2))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert along.shape == (500, 1) and peak < 100 * 2**20


def test_whatever_the_rows_hold_an_answer_comes_out():
    odd = pd.DataFrame({"x": [np.nan, np.inf, 1e300], "first": ["?", None, "3"], "second": ["z", None, "1"]})
    for table in (odd, odd.head(0), odd.head(1), frame().assign(x=1.0, first="1", second="1")):
        assert json.loads(made(table).artefacts[0].content)["variances"][0] >= 0
