"""The limit of what is left of a number: bought with noise, the same questions whatever it is."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.models import additive_steps
from engine.methods.models.additive_schedule import Schedule
from engine.methods.models.descent import DescentPlan
from engine.methods.models.limits import (
    FULL,
    REACH,
    SPREAD,
    SPREAD_SHARE,
    level_query,
    level_shift,
    limit_of,
    parts_of,
    spread_query,
    squares,
)
from engine.methods.models.residuals import RESIDUAL_STEPS, WHOLE, residuals
from engine.methods.protocol import MAIN, Budget, Context
from engine.methods.shared.division import Division
from engine.privacy.events import Neighbours
from engine.report.words import word
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from engine.views import Text
from tests.engine.battery.distributions import CheckFailed
from tests.engine.battery.loss import claimed, loss
from tests.noise_source import seeded_noise

SMALL = Fraction(1, 10**6)
ADD, EXCHANGE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
BOTH = pytest.mark.parametrize("name", ["linear", "additive"])


# --- what a row adds ---------------------------------------------------------------------------------


GRID = [-2 * REACH, -REACH, -REACH + 1, -1, 0, 1, 5000, REACH - 1, REACH, 2**40]


def of(rows):
    return squares(np.clip(np.array(rows, dtype=np.int64), -REACH, REACH))


@pytest.mark.parametrize("cap", [1, 2])
def test_the_sensitivity_is_reached_and_never_exceeded(cap):
    """Every person with rows of a grid, beside nobody and beside every other: the same bound for both."""
    persons = [of(rows) for rows in product(GRID, repeat=cap)] + [of([])]
    query = spread_query(cap)
    for others in (persons, [of([])]):
        moved = np.array([one - other for one in persons for other in others])
        assert np.abs(moved).sum(axis=1).max() == query.ones == cap * FULL
        assert (moved**2).sum(axis=1).max() == query.squared


def test_every_row_counts_by_itself_in_whole_numbers():
    left = np.random.default_rng(1).integers(-REACH, REACH + 1, 1000)
    assert squares(left).dtype == np.int64
    assert squares(left) == sum(of([one]) for one in left) == squares(left[::-1])
    assert squares(left)[0] / FULL == pytest.approx(np.sum((left / REACH) ** 2), rel=1e-4)


@pytest.mark.parametrize("parts", [4, 5, 9, 33, 128])
def test_a_narrower_limit_is_in_the_same_whole_numbers(parts):
    """At every limit a row reaches as far, and no further, and is counted as finely as its score is."""
    target = np.array([-RESIDUAL_STEPS, -300, 0, 300, RESIDUAL_STEPS], dtype=np.int64)
    for score in (-(2**40), -4096, 0, 17, 4096, 2**40):
        left = residuals(target, np.full(5, score), is_classes=False, reach=REACH, parts=parts)
        assert left.dtype == np.int64 and np.abs(left).max() <= REACH
        exact = (target - np.clip(score, -(2**15), 2**15) * 8) / RESIDUAL_STEPS
        limit = float(limit_of(parts))
        read = left * (WHOLE / parts) / RESIDUAL_STEPS
        assert read == pytest.approx(np.clip(exact, -limit, limit), abs=2 / RESIDUAL_STEPS)
    ends = residuals(target, np.zeros(5, np.int64), is_classes=False, reach=REACH, parts=parts)
    assert ends[0] == -REACH and ends[-1] == REACH


# --- what follows from the answer --------------------------------------------------------------------


def parts(squared, deviation=0.0, rows=100, multiple=1.5):
    return parts_of(squared, deviation=deviation, rows=rows, multiple=multiple)


def test_limits_by_hand():
    """100 rows with residuals of .1: typical .1, limit .15, of which 2/.15 = 13 parts make 2/13 = .154."""
    squared = 100 * (0.1 / 0.5) ** 2 * FULL
    assert parts(squared) == 13 and limit_of(13) == Fraction(2, 13)
    # The deviation is added: with three times as much again the limit is twice as wide
    assert parts(squared, deviation=3 * squared) == 6
    assert parts(100 * FULL) == parts(0.0, deviation=100.0 * FULL) == WHOLE
    assert limit_of(WHOLE) == Fraction(1, 2) and limit_of(128) == Fraction(1, 64)


@pytest.mark.parametrize("squared", [-(10**12), -1, 0, 1, 10**9, 10**30])
@pytest.mark.parametrize("rows", [-5.0, 0.0, 1.0, 1e9])
def test_whatever_is_answered_there_is_a_limit(squared, rows):
    assert WHOLE <= parts(squared, deviation=7.0, rows=rows) <= 128


# --- what the whole spends ---------------------------------------------------------------------------


def declared(name, kind, **domain):
    return Column(name, Role.OTHER, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


ENDS = {"minimum": Fraction(-1), "maximum": Fraction(1)}
SCHEMA = Schema(
    (
        declared("first", Kind.NUMBER, **ENDS),
        declared("level", Kind.CATEGORY, values=("a", "b", "c")),
        declared("number", Kind.NUMBER, minimum=Fraction(0), maximum=Fraction(200)),
        declared("class", Kind.CATEGORY, values=("no", "yes")),
        Column("who", Role.PERSON_KEY, Kind.INTEGER),
    )
)


def people(rows=4000, spread=4.0):
    chance = np.random.default_rng(4)
    first, level = chance.uniform(-1, 1, rows), chance.choice(["a", "b", "c"], rows)
    number = 100 + 8 * first + chance.normal(scale=spread, size=rows)
    return pd.DataFrame(
        {
            "first": first,
            "level": level,
            "number": np.clip(number, 0, 200),
            "class": np.where(first > 0, "yes", "no"),
            "who": np.arange(rows),
        }
    )


def asked(name, *, delta=SMALL, neighbours=ADD, cap=1, target="number", epsilon=1):
    way = method(f"models.{name}")
    given = {"target": target, "predictors": ("first", "level"), "about_rows": 2000}
    given |= {"noise": "gaussian" if delta else "laplace"}
    schema = replace(SCHEMA, rows_per_person=cap)
    request = way.make_request(
        {MAIN: schema}, given, budget=Budget(Fraction(epsilon), Fraction(delta), neighbours)
    )
    assert not way(request).problems, way(request).problems
    return way, request


def made(name, frame, noise, **options):
    way, request = asked(name, **options)
    return way(request).run({MAIN: Table(frame)}, Context(noise, None, Path()))


def shares(name, **options):
    """Return by kind of noise which part of what is claimed the worst person uses of a narrowed fit."""
    way, request = asked(name, **options)
    cap = options.get("cap", 1)
    table = people()
    worst = {"first": 1.0, "level": "c", "number": 200.0, "who": 0}
    table.loc[: cap - 1, list(worst)] = list(worst.values())
    gone = table.iloc[cap:]
    if options.get("neighbours") is EXCHANGE:
        gone = table.copy()
        gone.loc[: cap - 1, "number"] = 0.0

    def run(rows, noise):
        content = made(name, rows, noise, **options).artefacts[0].content
        assert Fraction(content["clipping"]) < Fraction(1, 2), "this fit is narrowed"
        return json.dumps(content)

    found = loss(run, table, gone, rows=len(table))
    return found.shares_of(claimed(way(request).cost.loss.events))


@BOTH
@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
@pytest.mark.parametrize("neighbours, cap", [(ADD, 1), (ADD, 2), (EXCHANGE, 1)])
def test_a_narrowed_fit_spends_what_is_claimed_and_no_more(name, delta, neighbours, cap):
    """With the answers frozen the worst person moves every sum as far as declared; the limit stays."""
    share = max(shares(name, delta=delta, neighbours=neighbours, cap=cap).values())
    assert (0.8 if neighbours is ADD else 0.5) < share < 1 + 1e-9


@BOTH
@pytest.mark.parametrize("delta", [SMALL, Fraction(0)])
def test_what_is_drawn_is_what_is_declared(name, delta):
    way, request = asked(name, delta=delta)
    for rows in (0, 1, 4000):
        noise = seeded_noise(2)
        made(name, people().head(rows), noise, delta=delta)
        assert noise.counted == way(request).cost.loss.events.drawn()


@BOTH
def test_a_limit_that_is_not_paid_for_is_caught(name, monkeypatch):
    """The sum of squares is asked for, but nothing is reserved for it."""
    real = Division.events.fget if name == "linear" else Schedule.events.fget
    owner = Division if name == "linear" else Schedule

    def fewer(self):
        events = real(self)
        return replace(events, parts=events.parts[:-1])

    monkeypatch.setattr(owner, "events", property(fewer))
    way, request = asked(name)
    noise = seeded_noise(2)
    made(name, people(), noise)
    assert noise.counted != way(request).cost.loss.events.drawn()
    assert max(shares(name).values()) > 1.005


@BOTH
def test_a_limit_from_exact_rows_is_caught(name, monkeypatch):
    """Who looks at the rows for the limit moves everybody's part where one row changes it."""
    seen = []
    real = squares

    def watched(left):
        seen.append(real(left)[0])
        return real(left)

    where = "engine.methods.models.descent" if name == "linear" else additive_steps.__name__
    monkeypatch.setattr(f"{where}.squares", watched)
    plan = DescentPlan if name == "linear" else Schedule
    # Fine enough that one row among 2,000 changes it
    monkeypatch.setattr(plan, "parts", lambda self, squared, rows: 5 + int(sum(seen[-1:])) % 7)
    with pytest.raises((CheckFailed, AssertionError)):
        assert max(shares(name).values()) < 1 + 1e-9


# --- the models --------------------------------------------------------------------------------------


@BOTH
def test_a_model_says_its_limit_and_that_it_was_bought(name):
    """Errors of 4 in a declared range of 200: a limit of a few times that, instead of 50."""
    release = made(name, people(), seeded_noise(1))
    model = release.artefacts[0].content
    assert 4 < model["limit"] < 20
    assert Fraction(model["clipping"]) * 100 == pytest.approx(model["limit"], rel=1e-3)
    card = " ".join(word(text, "en") for text in release.artefacts[1].parts if isinstance(text, Text))
    assert f"took {100 * SPREAD_SHARE:.0f}" in card and f"{model['limit']:g}" in card
    assert any(getattr(view, "value", None) == model["limit"] for view in release.views)


def test_classes_buy_no_limit():
    for name in ("logistic", "additive"):
        model = made(name, people(), seeded_noise(1), target="class").artefacts[0].content
        assert "limit" not in model and model["clipping"] in ("1/2", "3/4")
    plan = DescentPlan((0, 3), Fraction(1), SMALL, 1, False, 2000, True)
    assert plan.bought is None and SPREAD not in {query.name for query in plan.division.queries}


@BOTH
def test_where_errors_are_small_narrower_limits_predict_better(name, monkeypatch):
    """Median of seven fits, beside the same without a limit of their own."""
    new = people(6000).iloc[4000:]

    def error():
        found = []
        for seed in range(7):
            model = made(name, people(), seeded_noise(seed)).artefacts[0]
            found.append(np.mean((model.predict(new) - new["number"]) ** 2) / new["number"].var())
        return np.median(found)

    narrow = error()
    plan = DescentPlan if name == "linear" else Schedule
    monkeypatch.setattr(plan, "parts", lambda self, squared, rows: WHOLE)
    assert narrow < error()


@BOTH
def test_a_skewed_number_is_right_on_average(name):
    """Limits cut the long tail of a few; what is left on average comes back. Mean of seven fits, 2 %."""
    chance = np.random.default_rng(8)
    frame = people(8000)
    frame["number"] = np.minimum(chance.exponential(6.0 + 4 * (frame["first"] > 0)), 200)
    found = []
    for seed in range(7):
        model = made(name, frame, seeded_noise(seed), epsilon=4).artefacts[0]
        found.append(float(model.predict(frame).mean()) / frame["number"].mean() - 1)
    assert abs(np.mean(found)) < 0.02


def test_the_mean_moves_where_noise_cannot_have_made_it():
    assert level_shift(100.0 * RESIDUAL_STEPS, deviation=0.0, rows=1000) == pytest.approx(0.1)
    assert level_shift(-1.9, deviation=1.0, rows=10) == level_shift(0.0, deviation=1.0, rows=10) == 0
    assert level_shift(4.0 * RESIDUAL_STEPS, deviation=RESIDUAL_STEPS, rows=1) == pytest.approx(3)


@pytest.mark.parametrize("cap", [1, 2])
def test_a_row_moves_the_mean_by_its_limit_at_most(cap):
    query = level_query(cap)
    ends = residuals(np.array([-(2**40), 2**40]), np.zeros(2, np.int64), is_classes=False, reach=REACH)
    assert max(abs(sum(rows)) for rows in product(ends, repeat=cap)) == query.ones
    assert query.squared == query.ones**2
