"""The additive model: whole numbers by rows alone, paid for what is drawn, an answer for every row."""

import json
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.filling import effects_told
from engine.methods.models import additive_steps
from engine.methods.models.additive import predict, probabilities, rows_margin, scores, unclip_shares
from engine.methods.models.additive_schedule import RESIDUAL_STEPS, Schedule
from engine.methods.models.additive_steps import Curve, fit, residuals
from engine.methods.models.limits import FULL, REACH
from engine.methods.models.monotone import _project, monotone_problems
from engine.methods.protocol import Budget, Context, DocumentArtefact
from engine.privacy.accounting import certified_delta, total
from engine.privacy.events import Neighbours
from engine.privacy.promise import Loss, Promise, Unit
from engine.release.bundle import document_html
from engine.report.words import word
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from engine.views import TableView, is_weak
from tests.noise_source import seeded_noise

ID = "models.additive"
SMALL = Fraction(1, 10**6)
SIZES, ORDERED = (5, 4, 9), (0, 3, 8)


def schedule(delta=SMALL, *, epsilon=Fraction(1), cap=1, replace_one=False, classes=True, rows=2000):
    return Schedule(SIZES, epsilon, delta, cap, replace_one, rows, classes)


def some_rows(n=2000, seed=1, classes=True):
    chance = np.random.default_rng(seed)
    codes = [chance.integers(0, size, n) for size in SIZES]
    score = (codes[0] - 2) * 0.8 + np.sin(codes[2]) + chance.logistic(size=n) * (0.5 if classes else 0.1)
    target = (score > 0) * RESIDUAL_STEPS if classes else np.rint(np.clip(score / 4, -1, 1) * RESIDUAL_STEPS)
    return codes, target.astype(np.int64)


@pytest.mark.parametrize("replace_one", [False, True])
@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_the_parts_cost_no_more_than_the_whole(delta, classes, replace_one):
    plan = schedule(delta, cap=3, replace_one=replace_one, classes=classes)
    leaves = plan.events.together(Neighbours.ADD_REMOVE)
    if delta:
        spent = certified_delta(leaves, float(plan.epsilon))
        assert float(delta) / 2 < spent <= float(delta)
    else:
        assert Fraction(99, 100) * plan.epsilon < sum(leaf.epsilon() for leaf in leaves) <= plan.epsilon


@pytest.mark.parametrize("delta", [Fraction(1, 1000), SMALL])
@pytest.mark.parametrize(("epsilon", "cap", "replace_one"), [(2, 1, True), (5, 1, True), (5, 3, False)])
def test_large_levels_are_borne_out_by_the_accountant_too(epsilon, cap, replace_one, delta):
    """Where little noise on whole numbers costs more than continuous noise: as `check` asks before a run."""
    plan = schedule(delta, epsilon=Fraction(epsilon), cap=cap, replace_one=replace_one).borne_out()
    relation = Neighbours.REPLACE_ONE if replace_one else Neighbours.ADD_REMOVE
    promise = Promise("approximate_dp", Loss(plan.epsilon, delta, relation, plan.events), Unit.ROW, 1)
    assert total([promise], delta=delta).epsilon <= plan.epsilon
    assert plan.level > 0.95 * schedule(delta, epsilon=Fraction(epsilon)).level


@pytest.mark.parametrize("lied", ["sum_scale", "count_scale", "together_scale", "rounds"])
def test_less_noise_than_was_paid_for_is_found_by_the_accountant(lied):
    plan, less = schedule(), schedule()
    honest = {name: getattr(plan, name) for name in ("sum_scale", "count_scale", "together_scale", "rounds")}
    less.__dict__.update(honest)
    less.__dict__[lied] = plan.rounds + 2 if lied == "rounds" else less.__dict__[lied] * Fraction(10, 11)
    if lied in ("count_scale", "together_scale"):
        less.__dict__[lied] = honest[lied] / 2
    leaves = less.events.together(Neighbours.ADD_REMOVE)
    assert certified_delta(leaves, float(plan.epsilon)) > float(SMALL)


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
@pytest.mark.parametrize("n", [0, 1, 2000])
def test_what_is_drawn_is_what_is_declared_whatever_the_rows_are(delta, n):
    codes, target = some_rows()
    plan, noise = schedule(delta), seeded_noise(3)
    fitted = fit([own[:n] for own in codes], target[:n], plan, ordered=ORDERED, noise=noise)
    assert noise.counted == plan.events.drawn()
    assert all(
        np.isfinite(curve.effects).all() and np.isfinite(curve.spread).all() for curve in fitted.curves
    )


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_a_row_moves_every_sum_by_its_reach_at_most_and_no_other_row(monkeypatch, seed, classes):
    """With the same answers a neighbour's sums differ by one clipped residual in one cell, nothing else."""
    codes, target = some_rows(300, seed, classes)
    fewer = [own[1:] for own in codes], target[1:]
    plan, exact, answers = schedule(classes=classes), [[], []], []
    drawn = additive_steps.add_noise

    def recorded(values, noise):
        exact[0].append(values.copy())
        answers.append(drawn(values, noise))
        return answers[-1]

    def replayed(values, noise):
        exact[1].append(values.copy())
        return answers[len(exact[1]) - 1]

    monkeypatch.setattr(additive_steps, "add_noise", recorded)
    fit(codes, target, plan, ordered=ORDERED, noise=seeded_noise(seed))
    monkeypatch.setattr(additive_steps, "add_noise", replayed)
    fit(*fewer, plan, ordered=ORDERED, noise=seeded_noise(seed))
    bought = 0 if classes else 1
    assert len(exact[0]) == len(exact[1]) == 2 + plan.rounds * len(SIZES) + 2 * bought
    moved = [np.abs(one - other) for one, other in zip(*exact, strict=True)]
    together = moved.pop(1 + plan.rounds * len(SIZES) + bought)
    assert together.tolist() == [1, 1, 1]  # a row has equal halves of two columns or unequal ones
    assert moved[0].sum() == len(SIZES)
    squared = [moved.pop(1 + len(SIZES)) for _ in range(bought)]  # after the first round
    assert all(one.shape == (1,) and one[0] <= FULL for one in squared)
    assert all(one.dtype == np.int64 and (one > 0).sum() <= 1 for one in moved[1:])
    assert max(one.max() for one in moved[1:]) <= REACH


def test_the_order_of_the_rows_changes_no_bit():
    codes, target = some_rows(500)
    order = np.random.default_rng(0).permutation(500)
    one = fit(codes, target, schedule(), ordered=ORDERED, noise=seeded_noise(1))
    other = fit(
        [own[order] for own in codes], target[order], schedule(), ordered=ORDERED, noise=seeded_noise(1)
    )
    assert one.intercept == other.intercept
    assert all((a.effects == b.effects).all() for a, b in zip(one.curves, other.curves, strict=True))


@pytest.mark.parametrize("classes", [False, True])
def test_residuals_are_clipped_whole_numbers(classes):
    plan = schedule(classes=classes)
    wide = np.array([-(2**40), -1, 0, 1, 2**40])
    for target in (0, RESIDUAL_STEPS, -RESIDUAL_STEPS):
        left = residuals(np.full(5, target), wide, plan)
        assert left.dtype == np.int64 and np.abs(left).max() <= REACH
    middle = residuals(np.array([RESIDUAL_STEPS]), np.array([0]), replace(plan, epsilon=Fraction(2)))
    assert middle[0] == (RESIDUAL_STEPS // 2 if classes else REACH)


def test_the_band_is_the_spread_over_repetitions():
    """40 fits without relation: the mean square of z is 1 with a standard error below .07 over the cells."""
    codes, _ = some_rows(2000)
    errors = np.clip(np.random.default_rng(3).normal(scale=0.2, size=2000), -1, 1)
    target = np.rint(errors * RESIDUAL_STEPS).astype(np.int64)
    effects, spreads = [], []
    plan = schedule(classes=False, epsilon=Fraction(1, 2))
    for seed in range(40):
        fitted = fit(codes, target, plan, ordered=ORDERED, noise=seeded_noise(seed))
        effects.append(np.concatenate([curve.effects for curve in fitted.curves]))
        spreads.append(np.concatenate([curve.spread for curve in fitted.curves]))
    about = np.array(effects) - np.mean(effects, axis=0)  # what chance among the rows gives stays the same
    assert 0.6 < np.mean((about / spreads) ** 2) < 1.4


@pytest.mark.parametrize(
    ("rows", "epsilon"), [(2000, Fraction(1)), (8000, Fraction(1)), (8000, Fraction(1, 2))]
)
def test_what_is_foreseen_of_a_number_is_what_a_fit_with_such_errors_says(rows, epsilon):
    """Errors of a quarter of half the range: at the limit that they buy, not at the widest."""
    chance = np.random.default_rng(5)
    codes = [chance.integers(0, size - 1, rows) for size in (5, 5, 5)]
    errors = np.clip(chance.normal(scale=0.25, size=rows), -1, 1)
    plan = Schedule((5, 5, 5), Fraction(epsilon), SMALL, 1, False, rows, False).borne_out()
    target = np.rint(errors * RESIDUAL_STEPS).astype(np.int64)
    fitted = fit(codes, target, plan, ordered=(4, 4, 4), noise=seeded_noise(3))
    assert fitted.parts > 4
    said = np.mean([curve.spread[:4] for curve in fitted.curves])
    assert 0.7 < plan.foreseen(rows // 4) / said < 1.4
    wide = np.sqrt(plan.needed_rows) / (rows // 4)
    assert plan.foreseen(rows // 4) < 0.95 * wide
    # With the rows that are said to be needed, noise and chance among people are level
    rows_said, noisy_each = plan.rows_at(fitted.parts), said * (rows / 4)
    assert 0.5 < (noisy_each / rows_said) / (0.25 / np.sqrt(rows_said)) < 2
    classes = Schedule((5, 5, 5), Fraction(epsilon), SMALL, 1, False, rows, True)
    assert classes.rows_at(4) == classes.needed_rows
    assert classes.foreseen(100) == pytest.approx(np.sqrt(classes.needed_rows * 4) / 100)


def test_the_nearest_curve_that_goes_one_way_by_hand():
    """Weights 1, 3, 1, 1: 4 and 2 meet at (4 + 3 · 2) / 4; the cell outside the order stays."""
    given = Curve(np.array([4.0, 2.0, 3.0, 9.0]), np.ones(4), np.array([1.0, 3.0, 1.0, 1.0]))
    assert _project(given, 3, 1).effects == pytest.approx([2.5, 2.5, 3.0, 9.0])
    assert _project(given, 3, -1).effects == pytest.approx([4.0, 2.25, 2.25, 9.0])
    assert _project(given, 3, 0) is given


# --- the method -----------------------------------------------------------------------------------


def declared(name, kind, role=Role.OTHER, **domain):
    return Column(name, role, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


COLUMNS = (
    declared("ill", Kind.CATEGORY, values=("no", "yes")),
    declared("cost", Kind.NUMBER, minimum=Fraction(0), maximum=Fraction(100)),
    declared("ward", Kind.CATEGORY, values=("a", "b", "c")),
    declared("age", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(99)),
    declared("seen", Kind.DATE, minimum="2020-01-01", maximum="2020-12-31"),
)
PREDICTORS = ["ward", "age", "seen"]


def table(n=3000, seed=1):
    chance = np.random.default_rng(seed)
    ward, age = chance.choice(["a", "b", "c"], n), chance.integers(0, 100, n).astype(float)
    score = (ward == "b") * 1.5 + (age - 50) / 20 - 0.5
    ill = chance.random(n) < 1 / (1 + np.exp(-score))
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(chance.integers(0, 366, n), "D")
    cost = 40 + 8 * score + chance.normal(size=n) * 5
    return pd.DataFrame(
        {"ill": np.where(ill, "yes", "no"), "cost": cost, "ward": ward, "age": age, "seen": days}
    )


BUDGET = Budget(Fraction(1), SMALL)


def request_for(given, budget=BUDGET):
    values = {"predictors": PREDICTORS, "about_rows": 3000, "noise": "gaussian", **given}
    return method(ID).make_request({"people": Schema(COLUMNS)}, values, budget=budget)


def made(frame, given):
    request = request_for(given)
    assert not method(ID)(request).problems, method(ID)(request).problems
    return method(ID)(request).run({"people": Table(frame)}, Context(seeded_noise(7), None, Path()))


@pytest.mark.parametrize("target", ["ill", "cost"])
def test_it_predicts_people_it_has_not_seen_better_than_a_guess(target):
    model = made(table(), {"target": target}).artefacts[0]
    unseen = table(2000, seed=2)
    predicted = model.predict(unseen)
    if target == "ill":
        assert (predicted == unseen["ill"]).mean() > (unseen["ill"] == "no").mean() + 0.1
    else:
        error = np.mean((predicted - unseen["cost"]) ** 2)
        assert error < 0.6 * unseen["cost"].var()


@pytest.mark.parametrize("clipping", [0.5, 0.75, 1.0])
def test_clipped_residuals_cancel_where_the_corrected_share_is(clipping):
    """By search: the mean of min(1 − p, c) of the second class and of −min(p, c) of the first is 0."""
    share = np.arange(1, 100) / 100
    low, high = np.zeros_like(share), np.ones_like(share)
    for _ in range(60):
        middle = (low + high) / 2
        left = share * np.minimum(1 - middle, clipping) - (1 - share) * np.minimum(middle, clipping)
        low, high = np.where(left > 0, middle, low), np.where(left > 0, high, middle)
    assert unclip_shares(low, clipping) == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize("below", [0.0, 2.5, -2.0])
@pytest.mark.parametrize(("epsilon", "noise"), [("99/100", "gaussian"), (4, "gaussian"), (4, "laplace")])
def test_probabilities_are_right_on_average_and_in_every_third(epsilon, noise, below):
    """For frequent and rare classes, of people it has not seen; fixed draws.

    Noise of the Laplace kind pays for four rounds only, whose curves are too flat: there the mean is right.
    """
    chance = np.random.default_rng(5)

    def people(n):
        age, ward = chance.integers(0, 100, n), chance.choice(["a", "b", "c"], n)
        likely = 1 / (1 + np.exp(-((age - 50) / 25 + (ward == "b") - below)))
        days = pd.to_datetime("2020-01-01") + pd.to_timedelta(chance.integers(0, 366, n), "D")
        frame = pd.DataFrame({"ward": ward, "age": age.astype(float), "seen": days, "cost": 0.0})
        return frame.assign(ill=np.where(chance.random(n) < likely, "yes", "no")), likely

    (frame, _), (unseen, likely) = people(20_000), people(5_000)
    given = {"target": "ill", "about_rows": 20_000, "noise": noise}
    budget = Budget(Fraction(epsilon), SMALL if noise == "gaussian" else Fraction(0))
    request = request_for(given, budget=budget)
    release = method(ID)(request).run({"people": Table(frame)}, Context(seeded_noise(7), None, Path()))
    said = probabilities(release.artefacts[0].content, unseen)
    assert said.mean() == pytest.approx(likely.mean(), abs=0.015)
    for third in np.array_split(np.argsort(said), 3 if noise == "gaussian" else 1):
        assert said[third].mean() == pytest.approx(likely[third].mean(), abs=0.05)


def test_a_column_that_is_declared_to_raise_it_never_lowers_it():
    """With the same noise: age raises it in truth, days do nothing; what is drawn and claimed stays."""
    frame = table(600)

    def effects(**given):
        release = made(frame, {"target": "ill"} | given)
        model = next(one for one in release.artefacts if one.files[0] == "model.json").content
        return model, {one["name"]: np.array(one["effects"]) for one in model["predictors"]}

    free, plain = effects()
    told, bound = effects(rising=["age"], falling=["seen"])
    assert (np.diff(plain["age"][:-1]) < 0).any() and (np.diff(plain["seen"][:-1]) > 0).any()
    assert (np.diff(bound["age"][:-1]) >= -1e-9).all() and (np.diff(bound["seen"][:-1]) <= 1e-9).all()
    assert (bound["ward"] == plain["ward"]).all() and bound["age"][-1] == plain["age"][-1]
    assert told["noise"] == free["noise"] and told["intercept"] == free["intercept"]
    assert (told["rising"], told["falling"]) == (["age"], ["seen"]) and "rising" not in free


@pytest.mark.parametrize("target", ["ill", "cost"])
def test_the_file_alone_predicts_the_same_by_hand(target):
    artefact = made(table(), {"target": target}).artefacts[0]
    model = json.loads(json.dumps(artefact.content))
    row = {"ward": "b", "age": 33.0, "seen": pd.Timestamp("2020-05-05")}
    by_name = {one["name"]: one for one in model["predictors"]}
    age = by_name["age"]
    place = sum(edge <= 33 for edge in age["edges"][1:-1])
    day = by_name["seen"]
    when = sum(edge <= (pd.Timestamp("2020-05-05") - pd.Timestamp(0)).days for edge in day["edges"][1:-1])
    expected = (
        model["intercept"] + by_name["ward"]["effects"][1] + age["effects"][place] + day["effects"][when]
    )
    assert scores(model, pd.DataFrame([row]))[0] == pytest.approx(expected)


def test_whatever_the_rows_hold_an_answer_comes_out():
    odd = pd.DataFrame(
        {
            "ill": ["yes", "?", None, "no"],
            "cost": [np.nan, np.inf, -1e300, 5.0],
            "ward": ["z", None, "", "a"],
            "age": [np.nan, -np.inf, 1e300, 3.0],
            "seen": pd.to_datetime([None, "1900-01-01", "2200-01-01", "2020-02-02"]),
        }
    )
    for target in ("ill", "cost"):
        for frame in (odd, odd.head(0), odd.head(1)):
            model = made(frame, {"target": target}).artefacts[0]
            assert len(predict(model.content, odd)) == 4
            assert np.isfinite(scores(model.content, odd)).all()


@pytest.mark.parametrize(
    ("given", "budget", "code"),
    [
        ({"target": "ward", "predictors": ["age"]}, Budget(Fraction(1), SMALL), f"{ID}.two_values"),
        ({"target": "age"}, Budget(Fraction(1), SMALL), f"{ID}.predicts_itself"),
        ({"target": "ill"}, Budget(Fraction(1, 1000), SMALL), f"{ID}.nothing_left"),
        ({"target": "ill", "noise": "laplace"}, Budget(Fraction(1), SMALL), "budget.delta_unused"),
        ({"target": "ill", "rising": ["ward"]}, Budget(Fraction(1), SMALL), f"{ID}.no_order"),
        ({"target": "ill", "falling": ["cost"]}, Budget(Fraction(1), SMALL), f"{ID}.no_order"),
        (
            {"target": "ill", "rising": ["age"], "falling": ["age"]},
            Budget(Fraction(1), SMALL),
            f"{ID}.both_ways",
        ),
        ({"target": "ill", "edges": {"ward": [0, 1]}}, Budget(Fraction(1), SMALL), f"{ID}.no_edges"),
    ],
)
def test_what_cannot_work_is_said_from_declarations_alone(given, budget, code):
    request = request_for(given, budget)
    assert code in [problem.code for problem in method(ID)(request).problems]


@pytest.mark.parametrize(
    ("kind", "values", "ascends"),
    [
        (Kind.INTEGER, ("3", "10", "2", "1"), False),
        (Kind.INTEGER, ("1", "2", "10"), True),
        (Kind.NUMBER, ("10", "9", "1.5"), False),
        (Kind.ORDINAL, ("low", "high"), True),
    ],
)
def test_declared_values_have_to_stand_in_their_own_order_to_rise(kind, values, ascends):
    column = declared("steps", kind, values=values)
    found = monotone_problems(
        SimpleNamespace(values={"rising": ["steps"], "falling": []}),
        [SimpleNamespace(column=column, ordered=len(values))],
        method=ID,
    )
    assert (found == []) is ascends


@pytest.mark.parametrize("replace_one", [False, True])
@pytest.mark.parametrize(
    "sizes, epsilon, delta, cap",
    [
        ((5, 50), Fraction(50), Fraction(1, 10**9), 10),
        ((4,) * 14, Fraction(1, 3), Fraction(1, 10**15), 1),
        ((4,) * 3, Fraction(1, 10**6), Fraction(0), 10_000),
    ],
)
def test_extreme_levels_are_borne_out_by_the_accountant_too(sizes, epsilon, delta, cap, replace_one):
    plan = Schedule(sizes, epsilon, delta, cap, replace_one, 100_000, True).borne_out()
    relation = Neighbours.REPLACE_ONE if replace_one else Neighbours.ADD_REMOVE
    loss = Loss(epsilon, delta, relation, plan.events)
    assert total([Promise("approximate_dp", loss, Unit.ROW, 1)], delta=delta).epsilon <= epsilon


# --- what is said of effects ---------------------------------------------------------------------------


def shown(given, frame=None):
    """Return the table and the picture of the effects of a model."""
    views = made(table() if frame is None else frame, given).views
    return next(one for one in views if isinstance(one, TableView)), views[0]


@pytest.mark.parametrize(("target", "unit"), [("ill", "log-odds"), ("cost", "EUR")])
def test_effects_say_what_they_are_in_and_how_many_lie_outside(monkeypatch, target, unit):
    columns = tuple(replace(one, unit="EUR") if one.name == "cost" else one for one in COLUMNS)
    monkeypatch.setattr(sys.modules[__name__], "COLUMNS", columns)
    effects, picture = shown({"target": target})
    assert word(effects.headings[2], "en").endswith(f", in {unit}")
    assert word(picture.axis, "en").endswith(f", in {unit}")
    limited = sum(row[3] is not None for row in effects.rows)
    note = word(effects.note, "en")
    assert f"Of these {limited} effects about {max(1, round(limited / 20))} lie outside" in note
    assert "do not hold what that takes away" in note and "pulled towards zero" in note
    card = next(
        one for one in made(table(), {"target": target}).artefacts if isinstance(one, DocumentArtefact)
    )
    page = document_html(card).decode()
    assert "Text(" not in page and f"Adds, in {unit}" in page and "lie outside their limits" in page
    errors = method(ID)(request_for({"target": target})).forecast.errors
    assert {one.unit for one in errors if one.of == "cell"} == {unit}


def test_a_value_that_nobody_has_gets_no_limits_and_says_so():
    """None of 3,000 rows has another ward or no age; with noise each cell has an effect all the same."""
    effects, picture = shown({"target": "ill"})
    empty = {(row[0], word(row[1], "en")): row for row in effects.rows if row[3] is None}
    assert {("ward", "other values"), ("ward", "missing"), ("age", "missing")} <= set(empty)
    for row in empty.values():
        assert row[4] is None and is_weak(row[2]) and "hardly anybody" in word(row[5], "en")
    assert ("ward", "b") not in empty
    assert not any("other values" in word(label, "en") for label in picture.labels)


@pytest.mark.parametrize(("epsilon", "noise"), [("1/30", "gaussian"), ("1/100", "laplace")])
def test_of_a_release_that_was_foreseen_as_noise_hardly_any_effect_is_called_told(epsilon, noise):
    """Before, whatever had no limits counted as told, and more so the more noise there was."""
    given = request_for(
        {"target": "cost", "noise": noise}, Budget(Fraction(epsilon), SMALL if noise == "gaussian" else 0)
    )
    assert method(ID)(given).judged(3000).is_useless
    made_of = method(ID)(given).run({"people": Table(table())}, Context(seeded_noise(7), None, Path()))
    count, of = effects_told(made_of.views)
    assert count <= of / 10
    empty = sum(one[3] is None for view in made_of.views if isinstance(view, TableView) for one in view.rows)
    assert empty > of / 3


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_cells_are_called_empty_by_the_noise_of_their_counts(noise):
    draws = np.random.default_rng(1)
    width = draws.normal(0, 7, 200_000) if noise == "gaussian" else draws.laplace(0, 7, 200_000)
    told = {"distribution": f"discrete_{noise}", "scale_of_counts": "7"}
    assert (np.abs(width) <= rows_margin({"noise": told})).mean() == pytest.approx(0.95, abs=0.003)


# --- weak models ----------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
@pytest.mark.parametrize("exchange", [False, True])
def test_where_noise_is_wider_than_the_range_the_mean_alone_is_fitted(delta, exchange):
    """No row of 3,000 is lost, and noise that hides every curve leaves their mean near what it is."""
    relation = Neighbours.REPLACE_ONE if exchange else Neighbours.ADD_REMOVE
    budget = Budget(Fraction(1, 100 if delta else 25), delta, relation)
    given = {"target": "cost", "noise": "gaussian" if delta else "laplace"}
    design, noise, frame = method(ID)(request_for(given, budget)), seeded_noise(5), table()
    assert design.schedule.mean_alone and not design.problems
    release = design.run({"people": Table(frame)}, Context(noise, None, Path()))
    model = release.artefacts[0].content
    assert noise.counted == design.cost.loss.events.drawn()
    assert model["mean_alone"] and not any(any(one["effects"]) for one in model["predictors"])
    assert np.ptp(release.artefacts[0].predict(frame)) == 0
    noise_of_mean = design.schedule.deviation(design.schedule.level_scale) / RESIDUAL_STEPS / 2 / 3000
    assert noise_of_mean < 0.25  # of the range of 100
    assert model["intercept"] == pytest.approx(frame["cost"].mean(), abs=2.6 * 100 * noise_of_mean)
    assert design.judged(3000).said.id.endswith("mean_alone") and design.judged(3000).is_useless
    assert not method(ID)(request_for(given | {"about_rows": 10**6}, budget)).schedule.mean_alone


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
@pytest.mark.parametrize("exchange", [False, True])
def test_a_mean_alone_spends_what_is_claimed_and_no_more(delta, exchange, monkeypatch):
    """Of the two sums of any rows, one more or another moves both together by the declared range at most."""
    plan = replace(
        schedule(delta, epsilon=Fraction(1, 30), classes=False, replace_one=exchange), mean_alone=True
    )
    leaves = plan.events.together(Neighbours.ADD_REMOVE)
    if delta:
        assert float(delta) / 2 < certified_delta(leaves, 1 / 30) <= float(delta)
    else:
        assert Fraction(99, 100) * plan.epsilon < sum(leaf.epsilon() for leaf in leaves) <= plan.epsilon
    seen, codes, ends = [], [np.zeros(3, np.int64)] * len(SIZES), (-RESIDUAL_STEPS, 7, RESIDUAL_STEPS)
    monkeypatch.setattr(additive_steps, "add_noise", lambda sums, noise: seen.append(sums) or sums)
    for value in ends:
        for rows in (3, 2):
            target = np.array([value, 5, -5])[3 - rows :]
            fit([own[:rows] for own in codes], target, plan, ordered=ORDERED, noise=seeded_noise(1))
    found = [sums for sums in seen if sums.size == 2]
    moved = [np.abs(one - other).sum() for one, other in zip(found[::2], found[1::2], strict=True)]
    assert moved == [2 * RESIDUAL_STEPS] * 3
    apart = max(np.abs(one - other).sum() for one in found[::2] for other in found[::2])
    assert apart == 4 * RESIDUAL_STEPS <= 2 * 2 * RESIDUAL_STEPS


@pytest.mark.parametrize("rows", [60, 200, 1000, 5000])
@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_of_classes_only_what_chance_equals_is_refused_and_the_rest_is_told_its_skill(rows, delta):
    skills = []
    for epsilon in ("1/1000", "1/20", "1/4", "1", "4"):
        given = {"target": "ill", "about_rows": rows, "noise": "gaussian" if delta else "laplace"}
        design = method(ID)(request_for(given, Budget(Fraction(epsilon), delta)))
        refused = [problem.code for problem in design.problems] == [f"{ID}.nothing_left"]
        assert refused == (design.skill < 0.55)
        skills.append(design.skill)
        said = design.judged(rows).said
        assert said.values["percent"] == round(100 * design.skill)
        assert design.judged(rows).is_useless == (said.id.endswith("few_pairs"))
    assert skills == sorted(skills) and 0.5 <= skills[0] < 0.55 and skills[-1] <= 0.75


def test_a_model_of_few_rows_that_was_refused_for_its_weak_curves_ranks():
    """Cells of fewer rows than an effect needs: each curve is mostly noise, all of them together are not."""
    codes, target = some_rows(400, seed=4)
    plan = schedule(epsilon=Fraction(1, 2), rows=400)
    assert 2 * plan.needed_rows > 400
    assert additive_steps.foreseen_skill(plan, ORDERED, []) > 0.55
    found = []
    for seed in range(12):
        fitted = fit(codes, target, plan, ordered=ORDERED, noise=seeded_noise(seed))
        score = sum(curve.effects[own] for curve, own in zip(fitted.curves, codes, strict=True))
        ranks = pd.Series(score).rank().to_numpy()
        second = target > 0
        above = ranks[second].sum() - second.sum() * (second.sum() + 1) / 2
        found.append(above / (second.sum() * (~second).sum()))
    assert np.mean(found) > 0.55
