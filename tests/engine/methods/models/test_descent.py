"""Noisy gradient descent and the logistic model: whole numbers, transcript, limits, odd tables."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.models import descent
from engine.methods.models.descent import DescentPlan, Slopes, fit, foreseen
from engine.methods.models.design import Design
from engine.methods.models.linear_model import effects, scores
from engine.methods.models.monomials import Monomials
from engine.methods.models.points import PER_SIDE, Points
from engine.methods.models.quadratic import centre_effects, discriminant, discriminant_products
from engine.methods.models.residuals import RESIDUAL_STEPS, weighted_residuals
from engine.methods.protocol import Budget, Context
from engine.methods.shared import division
from engine.methods.shared.division import Division
from engine.privacy.accounting import certified_delta, total
from engine.privacy.events import Neighbours
from engine.privacy.promise import Loss, Promise, Unit
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.engine.battery.transcript import transcript
from tests.noise_source import seeded_noise

ID = "models.logistic"
SMALL = Fraction(1, 10**6)
WIDTHS = (0, 4, 0)


def plan(delta=SMALL, *, epsilon=Fraction(1), cap=1, replace_one=False, classes=True, rows=200):
    return DescentPlan(WIDTHS, epsilon, delta, cap, replace_one, rows, classes)


def points(numbers, cells):
    return Points(
        np.asarray(np.asarray(numbers) * PER_SIDE, np.int16), (np.asarray(cells, np.int32),), WIDTHS
    )


def some_rows(n=600, seed=1, classes=True):
    chance = np.random.default_rng(seed)
    numbers, cells = chance.uniform(-1, 1, (n, 2)), chance.integers(0, 4, n)
    score = 2 * numbers[:, 0] - numbers[:, 1] + (cells - 1.5) * 0.7
    if classes:
        target = (score + chance.logistic(size=n) > 0) * RESIDUAL_STEPS
    else:
        target = np.rint(np.clip(score / 4, -1, 1) * RESIDUAL_STEPS)
    return points(numbers, cells), target.astype(np.int64)


# --- sensitivity and transcript ----------------------------------------------------------------------


MANY = (0, 160, 0)


def worst(given):
    """Rows at one corner, and one among them that no fit can please; and the neighbour."""
    n = 2000
    corner = Points(np.full((n, 2), PER_SIDE, np.int16), (np.ones(n, np.int32),), MANY)
    others = 0 if given.is_classes else (-1) ** np.arange(n - 1)
    target = np.append(np.broadcast_to(others, n - 1), 1) * np.int64(RESIDUAL_STEPS)
    if given.replace_one:
        return (corner, target), (corner, np.append(target[:-1], -RESIDUAL_STEPS))
    return (corner, target), (corner.where(np.arange(n) < n - 1), target[:-1])


def spent(given, runs=5):
    found = transcript(
        lambda rows, noise: fit(*rows, given, noise=noise), *worst(given), module=division, runs=runs
    )
    return found.gaussian_level if given.delta else found.laplace_level


@pytest.mark.parametrize("replace_one", [False, True])
@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_the_transcript_spends_what_was_promised_and_no_more(delta, replace_one):
    """The worst row moves every slope by its whole length; exchanged, neither products nor the mean."""
    given = replace(plan(delta, replace_one=replace_one, rows=700, classes=not replace_one), widths=MANY)
    level = given.division.level
    assert (0.88 if replace_one else 0.97) * level < spent(given) < 1.03 * level


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_noise_divided_by_eleven_tenths_is_caught(delta, monkeypatch):
    given = replace(plan(delta, rows=700), widths=MANY)
    level, scale = given.division.level, Division.scale
    monkeypatch.setattr(Division, "scale", lambda self, name: scale(self, name) * Fraction(10, 11))
    assert spent(given) > 1.05 * level


@pytest.mark.parametrize("classes", [False, True])
def test_no_row_moves_a_slope_further(classes):
    """Any table, any row: whole numbers, and a squared length within the sensitivity."""
    given = plan(classes=classes)
    every, target = some_rows(300, 5, classes)
    for gone in range(0, 300, 37):
        kept = np.arange(300) != gone
        found = transcript(
            lambda rows, noise: fit(*rows, given, noise=noise),
            (every, target),
            (every.where(kept), target[kept]),
            module=division,
            runs=1,
        )
        asked = [
            0,
            *[1] * given.turns,
        ]  # products, sums, of a number its limit before one of them and its mean
        if not classes:
            asked[1:] = [*[1] * given.bought, 2, *[1] * (given.turns - given.bought), 3]
        for query, moved in zip(asked, found.moved, strict=True):
            assert moved @ moved <= given.division.queries[query].squared
            assert np.abs(moved).sum() <= given.division.queries[query].ones


@pytest.mark.parametrize("replace_one", [False, True])
@pytest.mark.parametrize("cap", [1, 3])
@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_the_parts_cost_no_more_than_the_whole(delta, cap, replace_one):
    given = plan(delta, cap=cap, replace_one=replace_one)
    leaves = given.division.events.together(Neighbours.ADD_REMOVE)
    if delta:
        assert float(delta) / 2 < certified_delta(leaves, float(given.epsilon)) <= float(delta)
    else:
        assert Fraction(99, 100) * given.epsilon < sum(leaf.epsilon() for leaf in leaves) <= given.epsilon
    relation = Neighbours.REPLACE_ONE if replace_one else Neighbours.ADD_REMOVE
    kind = "approximate_dp" if delta else "pure_dp"
    loss = Loss(given.epsilon, delta, relation, given.division.events)
    assert total([Promise(kind, loss, Unit.ROW, 1)], delta=delta).epsilon <= given.epsilon


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
@pytest.mark.parametrize("n", [0, 1, 600])
def test_what_is_drawn_is_what_is_declared_whatever_the_rows_are(delta, n):
    every, target = some_rows()
    given, noise = plan(delta), seeded_noise(3)
    found = fit(every.where(np.arange(600) < n), target[:n], given, noise=noise)
    assert noise.counted == given.division.events.drawn()
    assert np.isfinite(found.solution.weights).all() and np.isfinite(found.solution.covariance).all()


def test_the_order_of_the_rows_changes_no_bit():
    every, target = some_rows()
    order = np.random.default_rng(0).permutation(600)
    shuffled = Points(every.numbers[order], (every.cells[0][order],), WIDTHS)
    one = fit(every, target, plan(), noise=seeded_noise(1)).solution.weights
    assert (one == fit(shuffled, target[order], plan(), noise=seeded_noise(1)).solution.weights).all()


def test_scores_and_sums_are_those_of_the_coordinates():
    every, _ = some_rows(50)
    dense = np.vstack(list(every.dense()))
    weights = np.random.default_rng(1).normal(size=every.size)
    steps = np.rint(weights * 4096)
    assert (every.scores(weights) == np.floor(dense @ steps / PER_SIDE)).all()
    left = np.random.default_rng(2).integers(-(2**14), 2**14, 50)
    assert (every.sums(left) == dense.T @ left).all()


# --- limits ------------------------------------------------------------------------------------------


def test_a_weighted_residual_is_true_on_average_and_reaches_one_half():
    """At every score of the grid and beyond: the weight is one half over the larger of both probabilities."""
    scores = np.r_[-(2**40), np.arange(-(8 << 12), (8 << 12) + 1), 2**40]
    second = 1 / (1 + np.exp(-np.clip(scores / 4096, -8, 8)))
    larger = np.maximum(second, 1 - second)
    missed = weighted_residuals(np.full(scores.size, RESIDUAL_STEPS), scores)
    hit = weighted_residuals(np.zeros(scores.size, np.int64), scores)
    assert missed.dtype == hit.dtype == np.int64
    assert missed.max() == -hit.min() == RESIDUAL_STEPS // 2 and missed.min() >= 0 >= hit.max()
    for left, exact in ((missed, (1 - second) / (2 * larger)), (hit, -second / (2 * larger))):
        assert left / RESIDUAL_STEPS == pytest.approx(exact, abs=2 / RESIDUAL_STEPS)
    assert np.abs(second * missed + (1 - second) * hit).max() <= 1


def test_without_noise_it_is_logistic_regression():
    """The probabilities of scikit-learn: weighting moves none of them, clipping at one half would."""
    from sklearn.linear_model import LogisticRegression

    every, target = some_rows(30_000)
    given = plan(epsilon=Fraction(10**5), rows=4000)
    found = fit(every, target, given, noise=seeded_noise(1)).solution.weights
    dense = np.vstack(list(every.dense())) / PER_SIDE
    peer = LogisticRegression(C=1e4, max_iter=500).fit(dense[:, 1:], target > 0)
    ours = 1 / (1 + np.exp(-dense @ found))
    assert np.abs(ours - peer.predict_proba(dense[:, 1:])[:, 1]).max() < 0.02
    assert np.abs(1 / (1 + np.exp(-1.5 * dense @ found)) - ours).max() > 0.05  # what the bound would see


def scaled_badly(n=12_000, seed=2):
    """Both numbers tell the class as well; the first fills a fiftieth of its declared range."""
    chance = np.random.default_rng(seed)
    told = chance.normal(size=(n, 2))
    numbers = np.clip(told * [0.02, 0.3] + [0.5, 0.0], -1, 1)
    second = told.sum(axis=1) + chance.logistic(size=n) > 0
    return points(numbers, chance.integers(0, 4, n)), second * np.int64(RESIDUAL_STEPS), told[:, 0]


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_a_column_that_fills_little_of_its_range_is_not_left_behind(delta, monkeypatch):
    """With steps of one length for all directions its part of the score would be near 0."""
    every, target, told = scaled_badly()
    given = plan(delta, epsilon=Fraction(4), rows=len(target))

    def part():
        """How much of the score goes with the first number; of logistic regression without noise 1."""
        fits = [fit(every, target, given, noise=seeded_noise(seed)).solution.weights for seed in range(3)]
        return np.mean([np.cov(every.scores(one) / 4096, told)[0, 1] for one in fits])

    of, found = Slopes.of, part()
    monkeypatch.setattr(
        Slopes,
        "of",
        lambda gram, plan: replace(of(gram, plan), lengths=np.full(6, of(gram, plan).lengths.min())),
    )
    assert found > (0.75 if delta else 0.35) and part() < 0.4 * found


def two_classes(n=20_000, seed=5, share=0.3):
    """Two normal clouds with one covariance, .3 of the rows in the second class; and their log-odds."""
    chance = np.random.default_rng(seed)
    second = chance.random(n) < share
    apart, covariance = np.array([0.2, -0.1]), np.array([[0.04, 0.015], [0.015, 0.05]])
    numbers = chance.multivariate_normal([0, 0], covariance, n) + np.outer(second - 0.4, apart)
    weights = np.linalg.solve(covariance, apart)
    odds = np.log(share / (1 - share)) - weights @ (0.1 * apart)  # in the middle between −.4 and .6
    return numbers, second, np.array([odds, *weights])


def products_of(numbers, second):
    """X'X and X's of numbers with the 1 in front."""
    dense = np.column_stack([np.ones(len(numbers)), numbers])
    return dense, dense.T @ dense, dense.T @ (2.0 * second - 1)


def test_sums_of_products_of_normal_rows_tell_their_log_odds():
    numbers, second, odds = two_classes(400_000)
    _, gram, cross = products_of(numbers, second)
    found = discriminant(gram, cross, Monomials((0, 0)), noise=1e-3).weights
    assert np.abs(found - odds).max() < 0.06 and np.abs(odds).max() > 3
    halves = discriminant_products(gram / gram[0, 0], np.r_[0.0, odds[1:]])
    again = discriminant(gram, gram[0, 0] * halves, Monomials((0, 0)), noise=1e-3).weights
    assert np.abs(again[1:] - odds[1:]).max() < 1e-6


@pytest.mark.parametrize("sites", [1, 3])
def test_bands_from_sums_are_the_spread_over_repetitions(sites):
    numbers, second, _ = two_classes(6000)
    _, gram, cross = products_of(numbers, second)
    monomials, chance, noise = Monomials((0, 0)), np.random.default_rng(6), 20.0 * np.sqrt(sites)
    whole = np.block([[gram, cross[:, None]], [cross[None, :], np.zeros((1, 1))]])
    exact = whole[monomials.places] * monomials.weights
    fits = []
    for _ in range(60):
        noisy = exact + sum(chance.laplace(scale=20 / np.sqrt(2), size=exact.size) for _ in range(sites))
        fits.append(discriminant(*monomials.matrix(noisy), monomials, noise=noise))
    told = np.mean([np.sqrt(np.diag(one.covariance)) for one in fits], axis=0)
    seen = np.std([one.weights for one in fits], axis=0)
    assert (seen / told > 0.6).all() and (seen / told < 1.6).all(), (seen, told)


def test_a_target_of_two_values_is_minus_one_and_one_and_nothing_where_it_has_neither():
    target = Column("t", kind=Kind.CATEGORY, domain=Domain(values=("a", "b")), domain_origin=Origin.DECLARED)
    number = Column(
        "x",
        kind=Kind.NUMBER,
        domain=Domain(minimum=Fraction(0), maximum=Fraction(2)),
        domain_origin=Origin.DECLARED,
    )
    frame = pd.DataFrame({"t": ["a", "b", "?", None], "x": [0, 2, 2, 2]})
    (rows,) = Design(target, (number,)).chunks(frame, per_side=64)
    assert rows.tolist() == [[64, -64, -64], [64, 64, 64], [0, 0, 0], [0, 0, 0]]


def test_without_noise_it_is_least_squares():
    every, target = some_rows(4000, classes=False)
    given = plan(epsilon=Fraction(10**5), rows=4000, classes=False)
    found = fit(every, target, given, noise=seeded_noise(1)).solution.weights
    dense = np.vstack(list(every.dense())) / PER_SIDE
    best = dense @ np.linalg.lstsq(dense, target / RESIDUAL_STEPS, rcond=None)[0]
    assert np.abs(dense @ found - best).max() < 0.01


def with_errors(target, deviation=0.08):
    errors = np.random.default_rng(4).normal(scale=deviation, size=len(target))
    return np.clip(target + np.rint(errors * RESIDUAL_STEPS), -RESIDUAL_STEPS, RESIDUAL_STEPS).astype(
        np.int64
    )


@pytest.mark.parametrize("classes", [False, True])
def test_the_bands_are_the_spread_over_repetitions(classes, monkeypatch):
    """16 fits: their standard deviation beside what is told where all that noise says of rows is believed."""
    monkeypatch.setattr(Slopes, "at_least", lambda self, _: self)
    every, target = some_rows(1500, classes=classes)
    target = target if classes else with_errors(target)
    given = plan(classes=classes, rows=2000)
    fits = [fit(every, target, given, noise=seeded_noise(seed)).solution for seed in range(16)]
    fits = [centre_effects(one, (1, 2, 6), WIDTHS, np.array([1.0, 0, 1, 1, 1, 1, 0])) for one in fits]
    told = np.mean([np.sqrt(np.diag(one.covariance)) for one in fits], axis=0)
    seen = np.std([one.weights for one in fits], axis=0)
    assert (seen / told > 0.6).all() and (seen / told < 1.6).all(), (seen, told)


def held(n, going, classes, delta, releases=40):
    """Return how often bands hold the mean over releases of the same six columns."""
    chance = np.random.default_rng(9)
    numbers = going * chance.normal(size=(n, 1)) + (1 - going) * chance.normal(size=(n, 6))
    numbers = np.clip(numbers / 4, -1, 1)
    score = 8 * numbers[:, 0] + 4 * numbers[:, 1] * numbers[:, 2]
    if classes:
        target = (score + chance.logistic(size=n) > 0) * np.int64(RESIDUAL_STEPS)
    else:
        left = np.clip((score + chance.normal(size=n)) / 8, -1, 1)
        target = np.rint(left * RESIDUAL_STEPS).astype(np.int64)
    every = Points(np.asarray(numbers * PER_SIDE, np.int16), (), (0,) * 6)
    given = replace(plan(delta, rows=n, classes=classes), widths=(0,) * 6)
    fits = [fit(every, target, given, noise=seeded_noise(seed)).solution for seed in range(releases)]
    about = np.array([one.weights for one in fits])[:, 1:]
    within = 1.96 * np.sqrt([np.diag(one.covariance)[1:] for one in fits])
    off = np.abs(about - about.mean(axis=0)) * np.sqrt(releases / (releases - 1))
    return float((off <= within).mean())


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.guarantee
def test_bands_are_rather_too_wide_than_too_narrow(classes):
    """Columns that say nearly the same: of where they differ noise said more than rows; 79 of 100 held."""
    assert min(held(800, 0.9, classes, delta) for delta in (SMALL, Fraction(0))) > 0.93


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_noise_of_products_alone_spreads_the_weights_too(delta, monkeypatch):
    """By the lengths of steps, of which a half and more is counted; before, bands counted nothing of it."""
    honest = Division.noisy
    monkeypatch.setattr(
        Division,
        "noisy",
        lambda self, name, exact, noise: (
            honest(self, name, exact, noise) if name == descent.PRODUCTS else np.asarray(exact, float)
        ),
    )
    monkeypatch.setattr(descent, "covariance", lambda *asked, **further: np.zeros((7, 7)))
    chance = np.random.default_rng(5)
    numbers = np.clip(chance.normal(0, 0.25, (455, 1)) + chance.normal(0, 0.15, (455, 6)), -1, 1)
    target = 8 * numbers[:, 0] + 4 * numbers[:, 1] + chance.logistic(size=455) > 0
    every = Points(np.asarray(numbers * PER_SIDE, np.int16), (), (0,) * 6)
    given = replace(plan(delta, rows=455), widths=(0,) * 6)
    fits = [
        fit(every, target * np.int64(RESIDUAL_STEPS), given, noise=seeded_noise(seed)).solution
        for seed in range(40)
    ]
    spread = np.array([one.weights for one in fits]).var(axis=0, ddof=1).sum()
    told = np.mean([np.diag(one.covariance).sum() for one in fits])
    assert 0.45 < told / spread < 1.3


def test_what_is_foreseen_is_what_happens():
    """Rows drawn from the invented moments lose as much as was foreseen of them."""
    every, target = some_rows(3000, classes=False)
    target = with_errors(target)
    dense = np.vstack(list(every.dense())) / PER_SIDE
    given = plan(classes=False, rows=2000)
    truth = np.linalg.lstsq(dense, target / RESIDUAL_STEPS, rcond=None)[0]
    moments = dense.T @ dense
    off, spread = foreseen(given, moments, truth, left=0.08)
    expected = np.sqrt((off @ moments @ off + np.sum(moments * spread)) / 3000)
    errors = []
    for seed in range(10):
        weights = fit(every, target, given, noise=seeded_noise(seed)).solution.weights
        errors.append(np.mean((dense @ (weights - truth)) ** 2))
    assert 0.6 < np.sqrt(np.mean(errors)) / expected < 1.6


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_what_few_steps_have_not_reached_is_foreseen_too(delta):
    """The limit is bought while predictions are still off: it is wider than for errors in the end."""
    chance = np.random.default_rng(1)
    numbers = chance.uniform(-1, 1, (6000, 12))
    score = numbers @ chance.normal(size=12) / np.sqrt(12)
    every = Points(np.asarray(numbers * PER_SIDE, np.int16), (), (0,) * 12)
    target = with_errors(np.rint(np.clip(score / 2, -1, 1) * RESIDUAL_STEPS))
    given = replace(plan(delta, classes=False, rows=6000), widths=(0,) * 12)
    dense = np.vstack(list(every.dense())) / PER_SIDE
    moments = dense.T @ dense
    truth = np.linalg.lstsq(dense, target / RESIDUAL_STEPS, rcond=None)[0]
    off, spread = foreseen(given, moments, truth, left=0.08)
    expected = np.sqrt((off @ moments @ off + np.sum(moments * spread)) / 6000)
    fits = [fit(every, target, given, noise=seeded_noise(seed)).solution.weights for seed in range(12)]
    errors = [np.mean((dense @ (weights - truth)) ** 2) for weights in fits]
    assert 0.7 < np.sqrt(np.mean(errors)) / expected < 1.3


# --- the method --------------------------------------------------------------------------------------


def declared(name, kind, **domain):
    return Column(name, Role.OTHER, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


COLUMNS = (
    declared("ill", Kind.CATEGORY, values=("no", "yes")),
    declared("ward", Kind.CATEGORY, values=("a", "b", "c")),
    declared("age", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(99)),
    declared("code", Kind.CATEGORY, values=tuple(map(str, range(600)))),
)
BUDGET = Budget(Fraction(1), SMALL)


def table(n=3000, seed=1):
    chance = np.random.default_rng(seed)
    ward, age = chance.choice(["a", "b", "c"], n), chance.integers(0, 100, n).astype(float)
    score = (ward == "b") * 1.5 + (age - 50) / 20 - 0.5
    ill = chance.random(n) < 1 / (1 + np.exp(-score))
    return pd.DataFrame({"ill": np.where(ill, "yes", "no"), "ward": ward, "age": age})


def request_for(given=None, budget=BUDGET):
    values = {"target": "ill", "predictors": ["ward", "age"], "about_rows": 3000, "noise": "gaussian"}
    return method(ID).make_request({"people": Schema(COLUMNS)}, values | (given or {}), budget=budget)


def made(frame, seed=7):
    request = request_for()
    assert not method(ID)(request).problems
    return method(ID)(request).run({"people": Table(frame)}, Context(seeded_noise(seed), None, Path()))


def test_it_predicts_people_it_has_not_seen_better_than_a_guess():
    unseen = table(2000, seed=2)
    predicted = made(table()).artefacts[0].predict(unseen)
    assert (predicted == unseen["ill"]).mean() > (unseen["ill"] == "no").mean() + 0.1


def test_the_file_alone_predicts_the_same_by_hand():
    model = json.loads(json.dumps(made(table()).artefacts[0].content))
    ward, age = model["predictors"]
    expected = model["intercept"] + ward["effects"][1] + (33 - age["middle"]) * age["coefficient"]
    row = pd.DataFrame({"ward": ["b"], "age": [33.0]})
    assert scores(model, row)[0] == pytest.approx(expected)
    assert sum(not one.is_nothing for one in effects(model, "x")) >= 3


def test_whatever_the_rows_hold_an_answer_comes_out():
    odd = pd.DataFrame(
        {"ill": ["yes", "?", None, "no"], "ward": ["z", None, "", "a"], "age": [np.nan, -np.inf, 1e300, 3.0]}
    )
    separable = pd.DataFrame({"ill": ["no", "yes"] * 50, "ward": ["a", "b"] * 50, "age": [1.0, 98.0] * 50})
    constant = table().assign(ill="yes")
    for frame in (odd, odd.head(0), odd.head(1), separable, constant):
        model = made(frame).artefacts[0]
        assert json.loads(json.dumps(model.content, allow_nan=False))
        assert set(model.predict(odd)) <= {"no", "yes"} and np.isfinite(scores(model.content, odd)).all()


@pytest.mark.parametrize(
    ("given", "budget", "code"),
    [
        ({"target": "ward", "predictors": ["age"]}, BUDGET, f"{ID}.two_values"),
        ({"predictors": ["ill", "age"]}, BUDGET, f"{ID}.predicts_itself"),
        ({"predictors": ["code", "age"]}, BUDGET, f"{ID}.too_many"),
        ({}, Budget(Fraction(1, 1000), SMALL), f"{ID}.nothing_left"),
        ({"noise": "laplace"}, Budget(Fraction(1, 100)), f"{ID}.nothing_left"),
        ({"noise": "laplace"}, BUDGET, "budget.delta_unused"),
    ],
)
def test_what_cannot_work_is_said_from_declarations_alone(given, budget, code):
    assert code in [problem.code for problem in method(ID)(request_for(given, budget)).problems]
