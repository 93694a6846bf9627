"""The private linear model: by hand, exact sensitivities, neighbours, limits, odd tables, its file."""

import itertools
import json
import math
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.evaluation.catalogue import measure
from engine.evaluation.protocol import Private
from engine.methods.catalogue import method
from engine.methods.models.descent import PRODUCTS
from engine.methods.models.linear_model import effects, effects_picture, effects_table, predict
from engine.methods.models.monomials import Monomials, largest_change, largest_squared_change
from engine.methods.models.points import PER_SIDE
from engine.methods.models.quadratic import solve
from engine.methods.models.written_cells import cell_labels, joined_intervals
from engine.methods.protocol import Budget, Context
from engine.privacy.promise import Neighbours
from engine.release.bundle import document_html
from engine.report.content.cover import accuracy
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from engine.views import NumberView, Text
from tests.engine.battery.checks import failing
from tests.engine.battery.distributions import laplace_law
from tests.engine.battery.subject import Subject as Tried
from tests.noise_source import seeded_noise

LINEAR = method("models.linear")
LARGE = Fraction(10**12)
ADD_REMOVE, REPLACE_ONE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


WORDS = "methods.models.linear"


def number(name, low=-1, high=1):
    domain = Domain(Fraction(low), Fraction(high))
    return Column(name, Role.OTHER, Kind.NUMBER, domain, Origin.DECLARED)


X, Y, STAY = number("x"), number("y"), number("stay", 0, 14)
WARD = Column("ward", Role.OTHER, Kind.CATEGORY, Domain(values=("a", "b")), Origin.DECLARED)
SCHEMA = Schema((X, Y, STAY, WARD))
SIX = pd.DataFrame({"x": [0.3, 0.4, 1, 0.6, 0.8, 0.25], "y": [0.5, 0.35, 0.9, 0.75, 0.7, 0.2]})


def asked(*predictors, target="y", epsilon=1, schema=SCHEMA, neighbours=ADD_REMOVE, delta=0, **given):
    budget = Budget(Fraction(epsilon), Fraction(delta), neighbours)
    parameters = {
        "target": target,
        "predictors": list(predictors),
        "about_rows": 2000,
        "fit": "sums",
        **given,
    }
    return LINEAR.make_request({"people": schema}, parameters, budget=budget)


def gaussian(*predictors, **given):
    return asked(*predictors, noise="gaussian", delta="1/1000000", **given)


def released(request, frame, seed=1):
    assert LINEAR(request).problems == []
    return LINEAR(request).run({"people": Table(frame)}, Context(seeded_noise(seed), None, Path("unused")))


def model(request, frame, seed=1):
    return released(request, frame, seed).artefacts[0].content


def mixed(rows=400, seed=3):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": random.uniform(-1, 1, rows), "ward": random.choice(["a", "b"], rows)})
    frame["stay"] = 7 + 3 * frame["x"] + 2 * (frame["ward"] == "a") + random.normal(0, 0.5, rows)
    return frame


# --- by hand ----------------------------------------------------------------------------------------


def test_six_points_give_the_printed_polynomial():
    """Srivastava (2016), chapter 4: 6 α² + 6.7 ωα − 6.8 α + 2.3125 ω² − 4.5 ω (+ 2.275, not released)."""
    request = asked("x")
    sums = LINEAR(request).coefficients(Table(SIX)) / LINEAR(request).per_side ** 2
    assert sums == pytest.approx([6, 6.7, 6.8, 2.3125, 4.5], abs=2e-3)  # on the grid of 4096 steps


def test_six_points_give_the_printed_optimum():
    gram, cross = Monomials((0,)).matrix(np.array([6, 6.7, 6.8, 2.3125, 4.5]))
    found = solve(gram, cross, Monomials((0,)), noise=0.0, penalty=0.0)
    assert found.weights[::-1] == pytest.approx([0.795476, 0.122526], abs=1e-6)
    assert found.lifted == 0


def test_an_effect_in_units_of_the_columns():
    """stay = 7 + 3 x exactly: 3 days for one unit of x, 7 in the middle."""
    frame = pd.DataFrame({"x": [-1.0, 0.0, 1.0, 0.5], "stay": [4.0, 7.0, 10.0, 8.5]})
    found = model(asked("x", target="stay", epsilon=LARGE), frame)
    assert found["predictors"][0]["coefficient"] == pytest.approx(3, abs=0.01)
    assert found["intercept"] == pytest.approx(7, abs=0.01)


# --- sensitivity ------------------------------------------------------------------------------------


def every_row(widths, grid):
    """Every row of a design on a grid, as coordinates."""
    parts = [
        [(value,) for value in grid] if width == 0 else [tuple(row) for row in np.eye(width)]
        for width in widths
    ]
    rows = itertools.product(*parts, [(value,) for value in grid])
    return np.array([[1.0, *itertools.chain.from_iterable(row)] for row in rows])


@pytest.mark.parametrize(
    "widths", [(0,), (0, 0), (0, 0, 0), (2,), (3,), (0, 3), (3, 3), (0, 0, 2), (0, 3, 2), (2, 2, 2)], ids=str
)
def test_sensitivities_are_reached_and_never_exceeded(widths):
    monomials = Monomials(widths)
    shape = {"numbers": widths.count(0), "blocks": sum(width > 0 for width in widths)}
    grid = (-1, -0.5, 0, 0.5, 1) if len(widths) < 3 else (-1, 0, 1)
    moved = np.array([monomials.sums([2 * row[None]]) / 4 for row in every_row(widths, grid)])
    apart = np.abs(moved[:, None] - moved)
    ones, squares = np.abs(moved).sum(axis=1).max(), (moved**2).sum(axis=1).max()
    assert largest_change(**shape, replace_one=False) == ones
    assert largest_squared_change(**shape, replace_one=False) == squares
    assert largest_change(**shape, replace_one=True) == max(ones, apart.sum(axis=2).max())
    assert largest_squared_change(**shape, replace_one=True) == max(squares, (apart**2).sum(axis=2).max())


@pytest.mark.parametrize("numbers", [1, 2, 3, 11])
def test_replacing_one_row_is_half_of_what_was_published(numbers):
    exact = largest_change(numbers=numbers, blocks=0, replace_one=True)
    assert exact == (numbers + 2) ** 2 < 2 * (numbers**2 + 4 * numbers + 3)


def coefficients(monomials, row):
    """What one row adds, as the definition says."""
    rows, columns = monomials.places
    return row[rows] * row[columns] * monomials.weights


@pytest.mark.parametrize("widths", [(0, 0), (0, 3), (3, 2)], ids=str)
@pytest.mark.parametrize("replace_one", [False, True])
def test_no_search_between_grid_points_exceeds_them(widths, replace_one):
    """A thousand random pairs, each climbed from: nothing lies above the stated maximum."""
    random = np.random.default_rng(5)
    monomials = Monomials(widths)
    shape = {"numbers": widths.count(0), "blocks": sum(width > 0 for width in widths)}
    number_places = np.flatnonzero(~monomials.is_cell)[1:]
    tops = (
        largest_change(**shape, replace_one=replace_one),
        largest_squared_change(**shape, replace_one=replace_one),
    )

    def change(pair):
        first, second = (coefficients(monomials, row) for row in pair)
        moved = np.abs(first - second) if replace_one else np.abs(first)
        return moved.sum(), (moved**2).sum()

    cells = every_row(widths, (0,))
    for _ in range(300):
        pair = cells[random.integers(len(cells), size=2)].copy()
        pair[:, number_places] = random.uniform(-1, 1, (2, number_places.size))
        best = change(pair)
        for _ in range(20):
            tried = pair.copy()
            tried[:, number_places] += random.normal(0, 0.3, (2, number_places.size))
            tried[:, number_places] = np.clip(tried[:, number_places], -1, 1)
            if sum(change(tried)) > sum(best):
                pair, best = tried, change(tried)
        assert best[0] <= tops[0] + 1e-9 and best[1] <= tops[1] + 1e-9


def test_a_person_with_more_rows_costs_more():
    person = Column("person", Role.PERSON_KEY, Kind.TEXT)
    capped = Schema((*SCHEMA.columns, person), 3)
    one, three = (LINEAR(asked("x", schema=schema)).mechanism for schema in (SCHEMA, capped))
    assert one.sensitivity == 8 * 4096**2 and three.sensitivity == 3 * 8 * 2048**2
    request = gaussian("x", schema=capped)
    assert LINEAR(request).mechanism.squared_sensitivity == 9 * 14 * 2048**4


# --- promise ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE_ONE])
def test_the_cost_is_exactly_the_budget(neighbours):
    request = asked("x", "ward", target="stay", epsilon="7/30", neighbours=neighbours)
    cost = LINEAR(request).cost
    assert cost.loss.events.epsilon() == cost.loss.epsilon == Fraction(7, 30)
    assert released(request, mixed()).promise == cost


def test_gaussian_noise_holds_its_delta():
    cost = LINEAR(gaussian("x", "ward", target="stay")).cost
    assert cost.kind == "approximate_dp"
    assert 0.99e-6 < cost.loss.events.delta(Fraction(1)) <= 1e-6


def test_what_is_drawn_is_what_was_promised():
    for request in (asked("x", "ward"), gaussian("x", "ward")):
        noise = seeded_noise(1)
        frame = mixed().assign(y=0.5)
        LINEAR(request).run({"people": Table(frame)}, Context(noise, None, Path("unused")))
        assert noise.counted == LINEAR(request).cost.drawn()


def query(request):
    """Return the exact answer for rows (x, y); what was asked once is remembered."""
    known = {}

    def of(data):
        if data.tobytes() not in known:
            frame = pd.DataFrame({"x": data[:, 0], "y": data[:, 1]})
            known[data.tobytes()] = LINEAR(request).coefficients(Table(frame))
        return known[data.tobytes()]

    return of


PAIR = np.array([[0.2, 0.1], [math.nan, 0.3], [-1.0, 1.0]])


def tried(request, claimed):
    """The noisy coefficients of three rows; the row that leaves is the worst there is."""
    mechanism, exact = LINEAR(request).mechanism, query(request)
    assert np.abs(exact(PAIR) - exact(PAIR[:-1])).sum() == mechanism.sensitivity
    return Tried(
        release=lambda data, noise: mechanism.release(exact(data), noise),
        epsilon=claimed,
        pair=(PAIR, PAIR[:-1]),
        query=exact,
        sensitivity=mechanism.sensitivity,
        step=Fraction(1),
        law=laplace_law(mechanism.scale),
        audit_runs=1_000,
    )


def audited(request, claimed):
    """The audit alone, on the likelihood ratio up to its scale: the sharpest number that there is."""
    whole, less = query(request)(PAIR), query(request)(PAIR[:-1])

    def often(data, noise, runs):
        draws = noise.discrete_laplace(LINEAR(request).mechanism.scale, 5 * runs).reshape(runs, 5)
        found = query(request)(data) + draws
        return (np.abs(found - less) - np.abs(found - whole)).sum(axis=1)

    alone = replace(tried(request, claimed), law=None, query=None, rows_removed=None)
    return replace(alone, release_often=often, audit_runs=40_000)


def test_passes_the_battery():
    assert failing(tried(asked("x"), Fraction(1))) == {}
    assert failing(audited(asked("x"), Fraction(1))) == {}


def test_the_audit_catches_too_little_noise():
    assert "audit" in failing(audited(asked("x", epsilon="3/2"), Fraction(1)))


def test_one_row_leaves_every_other_one_as_it_was():
    """Thousands of rows: their sum moves by exactly what the one row adds, in whole steps."""
    request = asked("x", "ward", target="stay")
    frame = mixed(40_000)
    others, one = frame.iloc[1:], frame.iloc[:1]
    exact = [LINEAR(request).coefficients(Table(part)) for part in (frame, others, one)]
    assert np.array_equal(exact[0], exact[1] + exact[2])
    shuffled = LINEAR(request).coefficients(Table(frame.sample(frac=1, random_state=1)))
    assert np.array_equal(exact[0], shuffled)
    assert np.abs(exact[0] - exact[1]).sum() <= LINEAR(request).mechanism.sensitivity


# --- limits -----------------------------------------------------------------------------------------


def test_without_noise_it_is_least_squares():
    frame = mixed()
    found = predict(model(asked("x", "ward", target="stay", epsilon=LARGE), frame), frame)
    plain = np.c_[np.ones(len(frame)), frame["x"], frame["ward"] == "a"]
    best = plain @ np.linalg.lstsq(plain, frame["stay"], rcond=None)[0]
    assert np.abs(found - best).max() < 2e-3  # the grid


def test_ridge_by_hand():
    """One predictor: (Σx² − …) solved with the penalty on the slope alone."""
    frame = pd.DataFrame({"x": [-1.0, 1.0, -0.5, 0.5], "y": [-0.5, 0.5, -0.25, 0.25]})
    found = model(asked("x", epsilon=LARGE, penalty=2.5), frame)
    assert found["predictors"][0]["coefficient"] == pytest.approx(1.25 / (2.5 + 2.5), rel=1e-6)


@pytest.mark.parametrize("absolute", [1, 0.5])
def test_lasso_and_elastic_net_are_those_of_scikit_learn(absolute):
    """Without noise; scikit-learn's α is the penalty over 2 n, its second share counts twice."""
    from sklearn.linear_model import ElasticNet

    frame = mixed(500).assign(y=lambda rows: rows["x"] * 0.4 - 0.1)
    frame["z"] = np.random.default_rng(8).uniform(-1, 1, 500)
    schema, penalty = Schema((X, number("z"), Y)), 60
    request = asked("x", "z", epsilon=LARGE, schema=schema, penalty=penalty, absolute=absolute)
    found = [one["coefficient"] for one in model(request, frame)["predictors"]]
    ones, squares = absolute * penalty, (1 - absolute) * penalty
    alpha = (ones + 2 * squares) / (2 * 500)
    peer = ElasticNet(alpha=alpha, l1_ratio=ones / (ones + 2 * squares), tol=1e-10)
    assert found == pytest.approx(peer.fit(frame[["x", "z"]], frame["y"]).coef_, abs=2e-3)
    assert found[1] == 0 if absolute == 1 else found[0] > 0


def test_gaussian_and_laplace_come_close_to_the_truth_with_many_rows():
    frame = mixed(20_000)
    for request in (asked("x", "ward", target="stay"), gaussian("x", "ward", target="stay")):
        found = model(request, frame)
        assert found["predictors"][0]["coefficient"] == pytest.approx(3, abs=0.15)
        a, b, *_ = found["predictors"][1]["effects"]
        assert a - b == pytest.approx(2, abs=0.3)


def test_bands_cover_what_they_say():
    """Coverage of 95 % bands over 200 releases with many rows: below 176 has probability under 1e-4."""
    request = asked("x", target="stay")
    table = Table(mixed(20_000))
    exact, noise, inside = LINEAR(request).coefficients(table), seeded_noise(11), 0
    truth = LINEAR(request).released(exact).artefacts[0].content["predictors"][0]["coefficient"]
    for _ in range(200):
        noised = LINEAR(request).mechanism.release(exact, noise)
        one = LINEAR(request).released(noised).artefacts[0].content["predictors"][0]
        inside += abs(one["coefficient"] - truth) <= one["within_95"]
    assert 176 <= inside <= 199


@pytest.mark.parametrize("ask", [asked, gaussian])
@pytest.mark.parametrize("fit", ["sums", "steps"])
def test_the_number_of_rows_lies_within_its_margin(ask, fit):
    """Of 400 draws at 95 of 100, fewer than 361 or more than 396 have a probability below 1e-3 together."""
    request, noise = ask("x", target="stay", fit=fit), seeded_noise(4)
    nothing = np.zeros_like(LINEAR(request).coefficients(Table(mixed(3))))
    within = LINEAR(request).rows_within
    if fit == "sums":
        drawn = [LINEAR(request).mechanism.release(nothing, noise)[0] for _ in range(400)]
        off = np.array(drawn) / LINEAR(request).per_side ** 2
    else:
        plan = LINEAR(request).plan
        none = np.zeros_like(plan.monomials.sums([np.zeros((1, plan.size), dtype=np.int64)]))
        off = np.array([plan.division.noisy(PRODUCTS, none, noise)[0] for _ in range(400)]) / PER_SIDE**2
    assert 361 <= (np.abs(off) <= within).sum() <= 396


def test_the_margin_of_the_number_of_rows_is_shown():
    request = asked("x", target="stay")
    views = released(request, mixed(400)).views
    shown = {view.title.id.split(".")[-2]: view.value for view in views if isinstance(view, NumberView)}
    assert shown["rows_within"] == math.ceil(LINEAR(request).rows_within) > 0


# --- odd tables -------------------------------------------------------------------------------------

ODD = {
    "no rows": pd.DataFrame({"x": [], "ward": [], "stay": []}, dtype=object),
    "one row": pd.DataFrame({"x": [0.5], "ward": ["a"], "stay": [3.0]}),
    "constant": pd.DataFrame({"x": [1.0] * 9, "ward": ["a"] * 9, "stay": [7.0] * 9}),
    "nothing known": pd.DataFrame({"x": [None] * 4, "ward": [None] * 4, "stay": [None] * 4}),
    "outside": pd.DataFrame(
        {"x": [1e308, -math.inf, math.nan], "ward": ["z", "5", None], "stay": ["1e300", "-5", "long"]}
    ),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("ask", [asked, gaussian])
def test_any_rows_give_a_finite_model(name, ask):
    found = model(ask("x", "ward", target="stay"), ODD[name])
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    frame = pd.DataFrame({"x": [0.0, math.nan, 1e308, None], "ward": ["a", None, "zz", "b"]})
    assert ((predict(found, frame) >= 0) & (predict(found, frame) <= 14)).all()


# --- what leaves ------------------------------------------------------------------------------------


def test_the_file_predicts_what_the_model_predicts():
    release = released(asked("x", "ward", target="stay"), mixed())
    artefact = release.artefacts[0]
    read = json.loads(json.dumps(artefact.content))
    fresh = pd.DataFrame({"x": [0.1, None, 7.0], "ward": ["a", "other", None]})
    assert np.array_equal(predict(read, fresh), artefact.predict(fresh))


def test_a_prediction_by_hand_from_the_file():
    found = model(asked("x", "ward", target="stay"), mixed())
    number_part, level_part = found["predictors"]
    by_hand = found["intercept"] + 0.25 * number_part["coefficient"] + level_part["effects"][1]
    row = pd.DataFrame({"x": [0.25], "ward": ["b"]})
    assert predict(found, row)[0] == pytest.approx(min(max(by_hand, 0), 14), rel=1e-12)


def test_what_cannot_be_told_from_nothing_is_marked():
    few, many = (list(effects(model(asked("x", target="stay"), mixed(rows)), "w")) for rows in (20, 20_000))
    assert few[0].is_nothing
    assert not many[0].is_nothing


def test_the_card_is_written_in_words():
    card = released(asked("x", "ward", target="stay"), mixed()).artefacts[1]
    page = document_html(card).decode()
    assert "Model card: linear model of “stay”" in page and "methods.models" not in page


def test_codes_that_were_seen_in_the_rows_do_not_leave():
    seen = replace(X, missing=("-9",), missing_origin=Origin.COPIED)
    found = model(asked("x", target="stay", schema=SCHEMA.with_column(seen)), mixed())
    assert found["predictors"][0]["missing"] == []


# --- refusals and forecast --------------------------------------------------------------------------


def test_refuses_on_declarations_only():
    copied = replace(X, domain_origin=Origin.COPIED)
    many = replace(WARD, domain=Domain(values=tuple(map(str, range(600)))))
    codes = {
        "models.linear.predicts_itself": asked("y"),
        "models.linear.no_bounds": asked("x", schema=SCHEMA.with_column(number("x", 1, 1))),
        "models.linear.too_many": asked("ward", schema=SCHEMA.with_column(many)),
        "parameters.domain_copied": asked("x", schema=SCHEMA.with_column(copied)),
        "budget.delta_needed": asked("x", noise="gaussian"),
        "budget.delta_unused": asked("x", noise="laplace", delta="1/10"),
    }
    assert {code: LINEAR(request).problems[0].code for code, request in codes.items()} == {
        code: code for code in codes
    }


def test_the_forecast_falls_with_budget_and_rows():
    def limits(epsilon):
        forecast = LINEAR(replace(asked("x", "ward", epsilon=epsilon), sizes=(100, 10_000))).forecast
        return [one.limit for one in forecast.errors if one.of == "prediction"]

    few, many = limits(1)
    assert many < few / 3
    assert all(left > right for left, right in itertools.pairwise(limits(e)[1] for e in ("1/10", 1, 10)))


def test_the_forecast_is_what_happens_on_such_people():
    """Invented rows as the forecast imagines them: the root mean square error within a half of it."""
    random, rows, request = np.random.default_rng(2), 5_000, replace(asked("x", "stay"), sizes=(5_000,))
    x, stay = random.normal(0, 0.3, rows), random.normal(0, 0.3, rows)
    slope = math.sqrt(0.15)
    frame = pd.DataFrame({"x": x, "stay": 7 + 7 * stay})
    frame["y"] = slope * (x + stay) + random.normal(0, 0.25, rows)
    exact, noise = LINEAR(request).coefficients(Table(frame)), seeded_noise(7)
    squares = []
    for _ in range(60):
        found = LINEAR(request).released(LINEAR(request).mechanism.release(exact, noise)).artefacts[0]
        squares.append(np.mean((found.predict(frame) - slope * (x + stay)) ** 2))
    said = LINEAR(request).forecast.errors[0].median / 0.6745
    assert 0.5 * said < math.sqrt(np.mean(squares)) < 1.5 * said


# --- the score on held-out people -------------------------------------------------------------------


def score(request, fitted, held_out):
    release = released(request, fitted)
    subject = LINEAR(request)
    poisoned = None  # the measure does not say that it needs the table before the cap: it must not read it
    context = Private(subject, poisoned, SCHEMA, Table(fitted), release, held_out=Table(held_out))
    return measure("utility.held_out_score").evaluate(context).figures["model"]


def test_the_score_by_hand():
    fitted = pd.DataFrame({"x": [-1.0, 1.0] * 50, "stay": [4.0, 10.0] * 50})
    held_out = pd.DataFrame({"x": [1.0, -1.0, 0.0], "stay": [10.0, 4.0, None]})
    found = score(asked("x", target="stay", epsilon=LARGE), fitted, held_out)
    assert found["rows"] == 2
    assert found["guess"] == pytest.approx(3)  # the mean is 7
    assert found["error"] == pytest.approx(0, abs=0.01)
    assert found["explained"] == pytest.approx(1, abs=1e-4)


def test_the_score_stands_beside_the_fit_without_noise():
    found = score(asked("x", "ward", target="stay"), mixed(500), mixed(200, seed=9))
    assert found["without_noise"] == pytest.approx(0.5, abs=0.1)
    assert found["without_noise"] < found["error"]


def test_without_held_out_people_there_is_no_score():
    release = released(asked("x"), SIX)
    subject = LINEAR(asked("x"))
    context = Private(subject, Table(SIX), SCHEMA, Table(SIX), release)
    assert measure("utility.held_out_score").evaluate(context).figures == {}


# --- the report -------------------------------------------------------------------------------------


def test_the_first_page_speaks_of_predictions_not_of_groups():
    for sizes, name in (((1000, 10_000), "exact_range_prediction"), ((1000,), "exact_prediction")):
        forecast = LINEAR(replace(asked("x", target="stay"), sizes=sizes)).forecast
        lines = tuple(asdict(one) | {"quantity": one.quantity.id} for one in forecast.errors)
        (said,) = accuracy(
            SimpleNamespace(
                expected=lines, measures={}, views=(), decided={}, promise=SimpleNamespace(loss=None)
            )
        )
        assert said.id == f"report.cover.{name}" and "1,000" in texts.text(said.id, **said.values)


# --- small steps ------------------------------------------------------------------------------------


def stepped(*predictors, epsilon=1, **given):
    return gaussian(*predictors, target="stay", epsilon=epsilon, fit="steps", **given)


def test_steps_explain_more_than_sums_where_the_noise_is_large():
    """Medians over seeds of the mean squared error on the same 2,000 rows at ε = 0.3."""
    frame, errors = mixed(2000), {}
    for fit in ("steps", "sums"):
        request = gaussian("x", "ward", target="stay", epsilon="3/10", fit=fit)
        found = [predict(model(request, frame, seed), frame) for seed in range(9)]
        errors[fit] = np.median([np.mean((one - frame["stay"]) ** 2) for one in found])
    assert errors["steps"] < errors["sums"] < frame["stay"].var()


@pytest.mark.parametrize("name", ODD)
def test_any_rows_give_a_finite_model_by_steps(name):
    found = model(stepped("x", "ward"), ODD[name])
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_steps_draw_what_they_promise():
    request, noise = stepped("x", "ward"), seeded_noise(1)
    LINEAR(request).run({"people": Table(mixed())}, Context(noise, None, Path("unused")))
    assert noise.counted == LINEAR(request).cost.drawn()


@pytest.mark.parametrize(
    ("given", "code"),
    [({"penalty": 5}, "models.linear.no_penalty"), ({"epsilon": "1/1000"}, "models.linear.nothing_left")],
)
def test_steps_that_cannot_work_are_said_from_declarations_alone(given, code):
    assert code in [problem.code for problem in LINEAR(stepped("x", "ward", **given)).problems]


def test_a_value_of_a_column_is_named_as_tables_write_it():
    """A year has no sign between its thousands, and an interval of one value is no interval."""
    year = {
        "name": "born",
        "kind": "number",
        "middle": 1970.0,
        "maximum": 2010.0,
        "coefficient": 1.0,
        "within_95": 0.1,
    }
    (shown,) = effects({"predictors": [year]}, "methods.models.linear.views")
    assert texts.text(shown.value.id, **shown.value.values) == "to 2010"
    graded = {"kind": "number", "of": "integer", "edges": [0, 9, 10, 10]}
    labels = cell_labels(graded, "methods.models.additive.views")[:3]
    assert [texts.text(one.id, **one.values) if isinstance(one, Text) else one for one in labels] == [
        "0 to <9",
        "9 to <10",
        "10",
    ]
    assert joined_intervals(labels[0], labels[1]) == Text(
        "statistics.labels.below", {"low": "0", "high": "10"}
    )
    assert joined_intervals(labels[0], labels[2]) == Text(
        "statistics.labels.up_to", {"low": "0", "high": "10"}
    )


def test_a_value_that_perhaps_nobody_has_is_in_the_table_and_never_drawn():
    """Nothing released tells how many have an undeclared value, or none: noise may have made it all."""
    sizes = {"effects": [5.0, -5.0, -90.0, 2.0], "within_95": [1.0, 1.0, 30.0, 40.0]}
    found = list(
        effects({"predictors": [{"name": "sex", "kind": "levels", "levels": ["f", "m"], **sizes}]}, WORDS)
    )
    picture, table = effects_picture(found, WORDS, "x"), effects_table(found, WORDS)
    assert picture.centres == (5.0, -5.0)
    marks = [row[5] and row[5].id for row in table.rows]
    assert marks == [None, None, "models.effects.aside", f"{WORDS}.nothing"]
    assert [row[3] for row in table.rows] == [4.0, -6.0, -120.0, -38.0]


def test_an_effect_and_its_limits_give_one_margin_however_large():
    """Limits of four digits were ± 11,626 about an effect that the model has as ± 11,622."""
    sizes = {"effects": [9493.97, -72.3, 0.5, 0.5], "within_95": [11622.41, 9261.78, 9.0, 9.0]}
    found = list(
        effects({"predictors": [{"name": "sex", "kind": "levels", "levels": ["f", "m"], **sizes}]}, WORDS)
    )
    picture = effects_picture(found, WORDS, "x")
    for value, low, high, within in zip(
        picture.centres, picture.low, picture.high, sizes["within_95"], strict=False
    ):
        assert max(high - value, value - low) == pytest.approx(within, abs=0.2)
