"""Pairs of an additive model: declared cells, paid like one more curve, only what both do together."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import count, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.methods.catalogue import method
from engine.methods.models import additive_steps
from engine.methods.models.additive import scores
from engine.methods.models.additive_grids import Grid, jumps
from engine.methods.models.additive_pairs import Pair, Side, pair_scores
from engine.methods.models.additive_schedule import Schedule
from engine.methods.models.limits import REACH
from engine.methods.protocol import MAIN, Budget, Context
from engine.methods.shared.cell_search import SEARCH_SHARE
from engine.methods.shared.column_cells import cells_of
from engine.privacy.events import Neighbours
from engine.report.words import word
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from engine.views import HeatmapView, TableView, Text, is_weak
from tests.engine.battery.loss import claimed, loss
from tests.noise_source import seeded_noise
from tests.peers import private_models_here as here
from tests.peers.model_tables import wine

ID = "models.additive"
SMALL = Fraction(1, 10**6)
ADD, EXCHANGE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE


def declared(name, kind, **domain):
    return Column(name, Role.OTHER, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


AGE = declared("age", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(99))
STEPS = declared("steps", Kind.ORDINAL, values=tuple("abcdefghijk"))
WARD = declared("ward", Kind.CATEGORY, values=("a", "b", "c"))
SCHEMA = Schema(
    (
        declared("ill", Kind.CATEGORY, values=("no", "yes")),
        declared("cost", Kind.NUMBER, minimum=Fraction(0), maximum=Fraction(200)),
        WARD,
        AGE,
        declared("dose", Kind.NUMBER, minimum=Fraction(0), maximum=Fraction(10)),
        declared("seen", Kind.DATE, minimum="2020-01-01", maximum="2020-12-31"),
        STEPS,
        declared("town", Kind.CATEGORY, values=tuple(f"t{place}" for place in range(24))),
        Column("who", Role.PERSON_KEY, Kind.INTEGER),
    )
)


def table(n=4000, seed=1):
    """Rows in which age and dose decide together, and neither alone."""
    chance = np.random.default_rng(seed)
    age, dose = chance.integers(0, 100, n), chance.uniform(0, 10, n)
    score = 2.0 * np.where((age >= 50) == (dose >= 5), 1, -1)
    return pd.DataFrame(
        {
            "ill": np.where(score + chance.logistic(size=n) > 0, "yes", "no"),
            "cost": np.clip(100 + 8 * score + chance.normal(scale=5, size=n), 0, 200),
            "ward": chance.choice(["a", "b", "c"], n),
            "age": age,
            "dose": dose,
            "seen": pd.to_datetime("2020-01-01") + pd.to_timedelta(chance.integers(0, 366, n), "D"),
            "steps": chance.choice(list("abcdefghijk"), n),
            "town": "t1",
            "who": np.arange(n),
        }
    )


PAIR = [{"first": "age", "second": "dose"}]


def asked(*, delta=SMALL, neighbours=ADD, cap=1, epsilon=1, **given):
    values = {"target": "ill", "predictors": ["ward", "age", "dose"], "about_rows": 4000, "pairs": PAIR}
    values |= {"noise": "gaussian" if delta else "laplace"} | given
    schema = replace(SCHEMA, rows_per_person=cap)
    budget = Budget(Fraction(epsilon), Fraction(delta), neighbours)
    return method(ID).make_request({MAIN: schema}, values, budget=budget)


def made(request, frame, noise=None):
    assert not method(ID)(request).problems, method(ID)(request).problems
    context = Context(noise or seeded_noise(7), None, Path())
    return method(ID)(request).run({MAIN: Table(frame)}, context)


def model_of(frame, **given):
    return made(asked(**given), frame).artefacts[0].content


# --- shapes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "bins", "groups"),
    [
        (AGE, 4, (0, 1, 2, 3, 4)),
        (AGE, 10, (0, 0, 1, 2, 3, 4, 4, 5, 6, 7, 8)),
        (AGE, 20, (0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5, 5, 6, 6, 6, 7, 7, 8)),
        (WARD, 16, (0, 1, 2, 3, 4)),
        (STEPS, 16, (0, 0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 9)),
    ],
)
def test_neighbouring_cells_are_put_together_by_declarations_alone(column, bins, groups):
    """At most eight groups of what has an order; what has none, others and missing ones stay apart."""
    side = Side(cells_of(column, bins=bins))
    assert side.groups == groups and side.size == max(groups) + 1
    assert side.ordered == (0 if column is WARD else min(8, bins))


def test_a_row_is_in_the_cell_of_its_two_groups_whatever_it_holds():
    pair = Pair(Side(cells_of(AGE, bins=20)), Side(cells_of(WARD, bins=16)))
    values = [(-5.0, 0), (0.0, 0), (14.9, 0), (15.0, 1), (99.0, 7), (1e300, 7), (np.nan, 8)]
    names = [("a", 0), ("c", 2), ("z", 3), (None, 4)]
    frame = pd.DataFrame([{"age": age, "ward": ward} for (age, _), (ward, _) in product(values, names)])
    expected = [5 * row + column for (_, row), (_, column) in product(values, names)]
    assert pair.codes(frame).tolist() == expected and pair.codes(frame).dtype == np.uint8
    assert pair.grid.shape == (9, 5) and pair.grid.ordered == (8, 0) and pair.grid.size == 45


def test_jumps_are_counted_along_rows_and_along_columns():
    """A table of 3 × 3, of which two rows and all columns have an order: by adding up every jump."""
    grid, chance = Grid((3, 3), (2, 3)), np.random.default_rng(2)
    for _ in range(5):
        points = chance.normal(size=(3, 3))
        down = (points[1] - points[0]) ** 2
        across = (np.diff(points, axis=1)) ** 2
        expected = 4 * (down.sum() + across.sum()) + (points**2).sum() / 2
        assert points.ravel() @ grid.penalty @ points.ravel() == pytest.approx(expected)
    assert (Grid((2, 4)).penalty == np.eye(8)).all()
    assert (jumps(3, 1) == 0).all()


@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (9, 10)])
def test_a_step_is_the_best_one_that_says_nothing_of_one_predictor_alone(shape):
    """Beside a minimum under constraints, by a system with one multiplier for every row and column."""
    grid, chance = Grid(shape), np.random.default_rng(3)
    rows = np.maximum(chance.normal(scale=50, size=shape), 0.0)
    half = chance.normal(size=(grid.size, grid.size))
    curvature, sums = half @ half.T + np.eye(grid.size), chance.normal(size=grid.size)
    first, second = (np.maximum(rows.sum(axis=one), 1.0) for one in (1, 0))
    alone = [np.outer(np.eye(shape[0])[row], second).ravel() for row in range(shape[0])]
    alone += [np.outer(first, np.eye(shape[1])[column]).ravel() for column in range(shape[1])]
    alone = np.array(alone)[:-1] / np.abs(alone).max()
    system = np.block([[curvature, alone.T], [alone, np.zeros((len(alone), len(alone)))]])
    best = np.linalg.solve(system, np.concatenate([sums, np.zeros(len(alone))]))[: grid.size]
    found = grid.inverse(rows.ravel(), curvature) @ sums
    assert found == pytest.approx(best, abs=1e-9)
    assert np.abs(alone @ found).max() < 1e-9
    assert grid.beyond(rows.ravel()).shape[1] == (shape[0] - 1) * (shape[1] - 1)


# --- what it spends ------------------------------------------------------------------------------------


def shares(**options):
    """Return by kind of noise which part of what is claimed the worst person uses."""
    request = asked(**options)
    cap, frame = options.get("cap", 1), table(1500)
    worst = {"age": 99, "dose": 0.0, "ward": "c", "ill": "yes", "cost": 200.0, "who": 0}
    # Everybody else in that cell says the contrary, so that what is left of the worst is large throughout
    alike = (frame["age"] > 50) & (frame["dose"] < 5)
    frame.loc[alike, ["ill", "cost"]] = ["no", 0.0]
    frame.loc[: cap - 1, list(worst)] = list(worst.values())
    gone = frame.iloc[cap:]
    if options.get("neighbours") is EXCHANGE:
        gone = frame.copy()
        gone.loc[: cap - 1, ["ill", "cost"]] = ["no", 0.0]  # in the same cells: sums move twice as far

    def run(rows, noise):
        return json.dumps(made(request, rows, noise).artefacts[0].content)

    found = loss(run, frame, gone, rows=len(frame))
    return found.shares_of(claimed(method(ID)(request).cost.loss.events))


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
@pytest.mark.parametrize("neighbours, cap", [(ADD, 1), (ADD, 2), (EXCHANGE, 1)])
def test_a_fit_with_a_pair_spends_what_is_claimed_and_no_more(delta, neighbours, cap):
    """With the answers frozen the worst person moves every sum as far as declared; exchanged, no count."""
    share = max(shares(delta=delta, neighbours=neighbours, cap=cap, target="cost").values())
    still = 0.75 * (1 - SEARCH_SHARE)  # fine counts do not move either
    assert (0.999 if neighbours is ADD else still) < share < 1 + 1e-9


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_of_classes_too(delta):
    assert 0.9 < max(shares(delta=delta, epsilon=4).values()) < 1 + 1e-9


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_what_is_drawn_is_what_is_declared(delta):
    pairs = [*PAIR, {"first": "ward", "second": "age"}]
    request = asked(delta=delta, pairs=pairs, about_rows=20_000)
    for rows in (0, 1, 2000):
        noise = seeded_noise(2)
        made(request, table().head(rows), noise)
        assert noise.counted == method(ID)(request).cost.loss.events.drawn()


def test_a_row_moves_one_cell_of_the_sums_of_a_pair_by_its_reach_at_most():
    """Played back without one row, in the sums of every round."""
    request, frame = asked(), table(300)
    schedule = method(ID)(request).schedule
    size = schedule.sizes[-1]
    assert size == 81 and len(schedule.sizes) == 4
    exact, answers = [[], []], []
    real = additive_steps.add_noise

    def recorded(values, noise):
        exact[0].append(values.copy())
        answers.append(real(values, noise))
        return answers[-1]

    def replayed(values, noise):
        exact[1].append(values.copy())
        return answers[len(exact[1]) - 1]

    for way, rows in ((recorded, frame), (replayed, frame.iloc[1:])):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(additive_steps, "add_noise", way)
            made(request, rows)
    moved = [np.abs(one - other) for one, other in zip(*exact, strict=True)]
    assert moved[0].sum() == len(schedule.sizes) and moved[0][-size:].sum() == 1
    of_pair = moved[4::4][: schedule.rounds]
    assert len(of_pair) == schedule.rounds and all(one.size == size for one in of_pair)
    assert all((one > 0).sum() <= 1 and one.max() <= REACH for one in of_pair)
    assert sum(one.max() for one in of_pair) > 0


def halved(monkeypatch):
    """The sensitivity of the pair is taken for half of what it is: its sums get half the noise."""
    real = additive_steps._noisy

    def fewer(exact, schedule, noise):
        if exact.size != schedule.sizes[-1]:
            return real(exact, schedule, noise)
        less = replace(schedule)
        less.__dict__["sum_scale"] = schedule.sum_scale / 2
        return real(exact, less, noise)

    monkeypatch.setattr(additive_steps, "_noisy", fewer)


def not_accounted(monkeypatch):
    """The pair is fitted, and noise and ledger are those of the curves alone."""
    way = method(ID)
    real = way.schedule.func

    def alone(design):
        return real(design.but(values={**design.values, "pairs": ()}))

    def fewer(self):
        less = alone(self)
        for name in (
            "sum_scale",
            "count_scale",
        ):  # of the class: what was found of cells makes another schedule
            monkeypatch.setattr(Schedule, name, getattr(less, name))
        return real(self)

    monkeypatch.setattr(way, "schedule", property(fewer))
    monkeypatch.setattr(way, "fit_events", property(lambda self: alone(self).events))


def not_divided(monkeypatch):
    """Neither the noise nor the ledger knows of the sums of the pair; only its counts are reserved."""
    real = Schedule.events.fget

    def fewer(self):
        counts, sums, *rest = real(self).parts
        less = replace(sums, count=self.rounds * (len(self.sizes) - 1))
        return replace(real(self), parts=(counts, less, *rest))

    monkeypatch.setattr(Schedule, "events", property(fewer))


def in_two_cells(monkeypatch):
    """A row counts at its own place and at the next one: its pair is moved twice."""
    real = additive_steps._State.sums

    def more(self, place, schedule, parts):
        found = real(self, place, schedule, parts)
        return found + np.roll(found, 1) if place == len(schedule.sizes) - 1 else found

    monkeypatch.setattr(additive_steps._State, "sums", more)


@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
@pytest.mark.parametrize("mutant", [halved, not_accounted, not_divided, in_two_cells])
def test_a_pair_that_is_not_paid_for_is_caught(mutant, delta, monkeypatch):
    """Each is seen in what the worst person tells, and all but the last in what is drawn too."""
    mutant(monkeypatch)
    assert max(shares(delta=delta, target="cost").values()) > 1.005
    request, noise = asked(delta=delta, target="cost"), seeded_noise(2)
    made(request, table(500), noise)
    drawn = noise.counted == method(ID)(request).cost.loss.events.drawn()
    assert drawn == (mutant is in_two_cells)


# --- what it fits --------------------------------------------------------------------------------------


def area(model, frame):
    """Return the area under the curve of true and false alarms: how often a pair of rows is in order."""
    found = pd.Series(scores(model, frame)).rank().to_numpy()
    ill = (frame["ill"] == "yes").to_numpy()
    return (found[ill].mean() - (ill.sum() + 1) / 2) / (~ill).sum()


def test_what_two_columns_do_together_is_found_where_each_alone_says_nothing():
    """Median of five tables; a guess has 1/2, and the truth itself about .88."""
    new, seeds = table(4000, seed=99), range(5)

    def median(**given):
        found = [made(asked(**given), table(seed=seed), seeded_noise(seed)) for seed in seeds]
        return np.median([area(one.artefacts[0].content, new) for one in found])

    assert median(pairs=[]) < 0.55 < 0.75 < median()


def test_without_noise_to_speak_of_the_pair_is_the_truth():
    """ε of a million: ± 16 in every cell that is not cut by 50 or 5, and curves of next to nothing."""
    model = model_of(table(40_000), epsilon=10**6, target="cost", about_rows=40_000)
    (pair,) = model["pairs"]
    effects = np.array(pair["effects"])[:8, :8]
    sure = [0, 1, 2, 5, 6, 7]
    side = np.where(np.arange(8) < 4, -1, 1)
    expected = 16 * np.outer(side, side)[np.ix_(sure, sure)]
    assert effects[np.ix_(sure, sure)] == pytest.approx(expected, abs=2.5)
    assert max(np.abs(one["effects"][:-1]).max() for one in model["predictors"]) < 2.5


@pytest.mark.parametrize("target", ["ill", "cost"])
def test_the_table_of_a_pair_says_nothing_of_one_column_alone(target):
    """Along every row and column it averages to 0, by the noisy rows of the groups across."""
    (pair,) = model_of(table(), target=target)["pairs"]
    effects, rows = np.array(pair["effects"]), np.array(pair["rows"])
    assert np.abs(effects).max() > 0.1
    for points, weights in ((effects, rows.sum(axis=0)), (effects.T, rows.sum(axis=1))):
        means = points @ np.maximum(weights, 1) / np.maximum(weights, 1).sum()
        assert np.abs(means).max() < 0.02 * np.abs(effects).max()  # rows are written as whole numbers


def test_the_band_of_a_pair_is_its_spread_over_repetitions():
    """40 fits of errors alone: the mean square of z is 1, with a standard error below .05 over the cells."""
    frame = table(2000)
    errors = np.random.default_rng(3).normal(scale=20, size=2000)
    frame["cost"] = np.clip(100 + errors, 0, 200)
    request = asked(target="cost", epsilon=Fraction(1, 2), about_rows=2000)
    effects, spreads = [], []
    for seed in range(40):
        (pair,) = made(request, frame, seeded_noise(seed)).artefacts[0].content["pairs"]
        effects.append(np.ravel(pair["effects"]))
        spreads.append(np.ravel(pair["within_95"]) / 1.959963984540054)
    about = np.array(effects) - np.mean(effects, axis=0)
    assert 0.6 < np.mean((about / spreads) ** 2) < 1.4


def test_the_order_of_the_rows_changes_no_bit():
    frame = table(500)
    other = frame.sample(frac=1, random_state=1)
    assert json.dumps(model_of(frame)) == json.dumps(model_of(other))


def test_whatever_the_rows_hold_an_answer_comes_out():
    odd = pd.DataFrame(
        {
            "ill": ["yes", "?", None, "no"],
            "cost": [np.nan, np.inf, -1e300, 5.0],
            "ward": ["z", None, "", "a"],
            "age": [np.nan, -np.inf, 1e300, 3.0],
            "dose": [np.inf, None, -1.0, 1e9],
        }
    )
    for frame, target in product((odd, odd.head(0), odd.head(1)), ("ill", "cost")):
        assert np.isfinite(scores(model_of(frame, target=target), odd)).all()


# --- the file and what people see ----------------------------------------------------------------------


def test_the_file_alone_predicts_the_same_by_hand():
    model = json.loads(json.dumps(model_of(table())))
    (pair,) = model["pairs"]
    assert pair["predictors"] == ["age", "dose"] and [max(one) for one in pair["groups"]] == [8, 8]
    ward, age, dose = model["predictors"]
    row = {"ward": "b", "age": 33.0, "dose": 9.9}
    places = [sum(edge <= row[one["name"]] for edge in one["edges"][1:-1]) for one in (age, dose)]
    first, second = (groups[place] for groups, place in zip(pair["groups"], places, strict=True))
    expected = model["intercept"] + ward["effects"][1] + age["effects"][places[0]]
    expected += dose["effects"][places[1]] + pair["effects"][first][second]
    assert scores(model, pd.DataFrame([row]))[0] == pytest.approx(expected)
    assert pair_scores(model, pd.DataFrame([row]))[0] == pair["effects"][first][second]


def test_a_model_without_pairs_says_nothing_of_them():
    release = made(asked(pairs=[]), table(1000))
    assert "pairs" not in release.artefacts[0].content
    assert not any(isinstance(view, HeatmapView) for view in release.views)


def card(release):
    return " ".join(word(text, "en") for text in release.artefacts[1].parts if isinstance(text, Text))


def test_the_card_says_what_was_declared():
    said = card(made(asked(rising=["steps"], predictors=["steps", "age", "dose", "ward"]), table()))
    assert "age × dose" in said and "a higher value of steps never lowers" in said
    assert "never raises" not in said
    said = card(made(asked(pairs=[], falling=["age", "dose"]), table()))
    assert "a higher value of age, dose never raises" in said and "×" not in said


def test_a_pair_is_shown_with_its_groups_and_in_brackets_where_it_may_be_nothing():
    release = made(asked(pairs=[{"first": "age", "second": "ward"}, *PAIR]), table())
    by_hand = np.array(release.artefacts[0].content["pairs"][1]["effects"])
    grids = [view for view in release.views if isinstance(view, HeatmapView)]
    assert grids[0].column_labels[:3] == ("a", "b", "c") and len(grids[0].column_labels) == 5
    first, second = (texts.text(one.id, **one.values) for one in grids[1].row_labels[:2])
    assert (first, second) == ("0 to <14", "14 to <28") and len(grids[1].row_labels) == 9
    assert np.array(grids[1].values) == pytest.approx(by_hand, rel=0.01)
    tables = [view for view in release.views if isinstance(view, TableView)][-2:]
    cells = [[is_weak(one) for one in row[1:]] for row in tables[1].rows]
    within = np.array(release.artefacts[0].content["pairs"][1]["within_95"])
    assert (np.array(cells) == (np.abs(np.array(grids[1].values)) <= within)).all()
    assert 0 < np.mean(cells) < 1
    assert "[" in word(tables[1].rows[8][9], "en") or "(" in word(tables[1].rows[8][9], "en")


def test_the_price_of_pairs_is_said_before_anything_is_spent():
    """One more curve of the same kind makes as much noise; the note says both numbers of rows."""
    way, request = method(ID), replace(asked(), sizes=(1000,))
    alone = replace(asked(pairs=[]), sizes=(1000,))
    found, without = way(request).forecast, way(alone).forecast
    assert found.errors[0].median > without.errors[0].median
    note = next(one for one in found.notes if one.id.endswith("notes.pairs"))
    assert note.values["without"] == round(way(alone).schedule.needed_rows)
    assert note.values["pairs"] == ["age × dose"] and not [
        one for one in without.notes if one.id.endswith("notes.pairs")
    ]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"pairs": [{"first": "age", "second": "seen"}]}, f"{ID}.pair_unknown"),
        ({"pairs": [{"first": "age", "second": "ill"}]}, f"{ID}.pair_unknown"),
        ({"pairs": [{"first": "age", "second": "age"}]}, f"{ID}.pair_of_itself"),
        ({"pairs": [*PAIR, {"first": "dose", "second": "age"}]}, f"{ID}.pair_twice"),
        ({"falling": ["dose"]}, f"{ID}.pair_one_way"),
        ({"rising": ["age"]}, f"{ID}.pair_one_way"),
        (
            {"predictors": ["town", "age"], "pairs": [{"first": "town", "second": "age"}]},
            f"{ID}.pair_too_large",
        ),
        ({"pairs": [{"first": "age", "second": "nowhere"}]}, "parameters.no_such_column"),
        ({"pairs": [{"first": "age"}]}, "parameters.unfilled"),
    ],
)
def test_what_cannot_work_is_said_from_declarations_alone(given, code):
    assert code in [problem.code for problem in method(ID)(asked(**given)).problems]


@pytest.mark.slow
def test_where_columns_add_up_a_pair_gains_nothing(monkeypatch):
    """White wine at ε = 1, twelve splits: with a pair of strong predictors the fit is little worse."""
    case, seeds = wine(), count()
    monkeypatch.setattr(here, "Noise", lambda: seeded_noise(next(seeds)))
    pairs = [{"first": "alcohol", "second": "volatile acidity"}]

    def median(**given):
        found = []
        for seed in range(12):
            inside = case.inside(seed)
            model = here.release("additive", case, case.frame[inside], {"noise": "gaussian"} | given)
            said = np.clip(scores(model.artefacts[0].content, case.frame[~inside]), *case.ends)
            found.append(1 - np.mean((said - case.truth[~inside]) ** 2) / case.truth[~inside].var())
        return np.median(found)

    alone, together = median(), median(pairs=pairs)
    assert alone - 0.03 < together < alone + 0.02 and alone > 0.24
