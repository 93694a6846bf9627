"""Votes of similar rows: what a row adds at most, what the noise does to predictions, and what they are."""

import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.methods.catalogue import method
from engine.methods.models import kernel_classes
from engine.methods.models.held_out_told import guess_of
from engine.methods.models.kernel_classes import (
    FINE,
    PER_TURN,
    VOTES,
    drawn_frequencies,
    predict,
    votes,
    waves,
)
from engine.methods.protocol import MAIN, Budget, Context
from engine.privacy.promise import Neighbours
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.noise_source import seeded_noise

GAUSSIAN = Budget(Fraction(1), Fraction(1, 10**6))


def declared(name, kind, **domain):
    return Column(name, Role.OTHER, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


BOX = {"minimum": Fraction(-2), "maximum": Fraction(6)}
SCHEMA = Schema(
    (
        declared("ill", Kind.CATEGORY, values=("no", "yes")),
        declared("ward", Kind.CATEGORY, values=("a", "b", "c")),
        declared("x", Kind.NUMBER, **BOX),
        declared("y", Kind.NUMBER, **BOX),
    )
)


def design(*predictors, budget=GAUSSIAN, schema=SCHEMA, **given):
    given = {"target": "ill", "predictors": list(predictors or ("x", "y")), **given}
    kind = method("models.kernel_classes")
    return kind(kind.make_request({MAIN: schema}, given, budget=budget))


def rows(count, seed=1):
    chance = np.random.default_rng(seed)
    x, y = chance.uniform(-2, 6, (2, count))
    ill = np.where((x > 2) != (y > 2), "yes", "no")
    return pd.DataFrame({"ill": ill, "ward": chance.choice(["a", "b", "c"], count), "x": x, "y": y})


def test_what_a_row_adds_is_never_more_than_declared_and_may_be_all_of_it():
    cosine, sine = waves()
    assert max(cosine**2 + sine**2) <= FINE**2 + 2 * FINE + 1
    for neighbours, cap in product(Neighbours, (1, 3)):
        budget = Budget(Fraction(1), Fraction(1, 10**6), neighbours)
        key = Column("person", Role.PERSON_KEY, Kind.INTEGER)
        schema = Schema((key, *SCHEMA.columns), rows_per_person=cap)
        found = design("x", "ward", budget=budget, schema=schema, waves=7)
        (query,) = found.division.queries
        frame = rows(50)
        added = np.array([found.exact(Table(frame[at : at + 1])) for at in range(len(frame))])
        lengths, ones = (added**2).sum(axis=1), abs(added).sum(axis=1)
        times = cap * (2 if neighbours is Neighbours.REPLACE_ONE else 1)
        assert lengths.max() * times**2 <= query.squared and ones.max() * times <= query.ones
        at_once = 7 * max(cosine**2 + sine**2), 7 * max(abs(cosine) + abs(sine))
        assert (query.squared, query.ones) == (at_once[0] * times**2, at_once[1] * times)


def test_somebody_exchanged_for_the_other_value_at_the_same_place_moves_twice_as_far():
    found = design(budget=Budget(Fraction(1), Fraction(1, 10**6), Neighbours.REPLACE_ONE), waves=9)
    one = rows(1)
    other = one.assign(ill="yes" if one.ill[0] == "no" else "no")
    moved = found.exact(Table(one)) - found.exact(Table(other))
    assert 0.99 < (moved**2).sum() / found.division.queries[0].squared <= 1


def test_what_a_row_adds_follows_from_it_alone_however_the_rows_are_cut():
    found, frame = design("x", "ward", "y"), rows(700)
    whole = found.exact(Table(frame))
    parts = sum(found.exact(Table(frame[at : at + 37])) for at in range(0, len(frame), 37))
    turned = found.exact(Table(frame.sample(frac=1, random_state=2)))
    assert (whole == parts).all() and (whole == turned).all()


def test_rows_without_one_of_the_values_add_nothing():
    found, frame = design(), rows(50)
    strange = frame.assign(ill=["maybe", None] * 25)
    assert not found.exact(Table(strange)).any()
    assert (found.exact(Table(pd.concat([frame, strange]))) == found.exact(Table(frame))).all()


@pytest.mark.parametrize("width", [0.2, 0.5])
def test_many_waves_are_the_kernel_they_are_drawn_for(width):
    own = drawn_frequencies(20_000, 2, width) * (2 * np.pi / PER_TURN)
    apart = np.random.default_rng(4).uniform(-1, 1, (40, 2))
    similar = np.cos(apart @ own)[:, 1:].mean(axis=1)
    assert similar == pytest.approx(np.exp(-(apart**2).sum(axis=1) / (2 * width**2)), abs=5 * 20_000**-0.5)


def test_it_is_the_support_vector_machine_as_long_as_no_error_weighs_more_than_one():
    """The dual of the hinge loss over a box, by brute force: every weight is at its end for C·κ ≤ 1 alone."""
    frame = rows(60)
    found = design(waves=30)
    signs = np.where(frame.ill == "yes", 1.0, -1.0)
    features = np.array([found.exact(Table(frame[at : at + 1])) for at in range(60)]) / (FINE * 30**0.5)
    gram = features @ features.T  # every row has its sign in it
    at_the_end = {}
    for weight in (1.0, 30.0):
        own = np.random.default_rng(5).uniform(0, weight / 60, 60)
        for _ in range(1000):
            own = np.clip(own + (1 - gram @ own) / np.linalg.norm(gram, 2), 0, weight / 60)
        at_the_end[weight] = (own > weight / 60 * (1 - 1e-9)).mean()
    assert at_the_end[1.0] == 1 and at_the_end[30.0] < 1
    model = found.content(found.exact(Table(frame)))
    said = votes(model, frame) * signs
    assert said == pytest.approx(gram.sum(axis=0), abs=0.05 * 60)  # places of a turn are rounded


def test_the_noise_of_any_predictions_is_that_of_the_kernel():
    """465 covariances of 30 predictions over 3,000 draws: z below 4.6 (by chance 1 in 500)."""
    found, asked, draws = design("x", "ward", waves=10), rows(30, seed=6), 3000
    scale = found.division.scale(VOTES)
    noise = seeded_noise(8).discrete_gaussian(scale**2, draws * 20).reshape(draws, 20)
    basis = np.array([votes(found.content(one), asked) for one in np.eye(20, dtype=np.int64)])
    seen = noise @ basis
    exact = basis.T @ basis * float(scale) ** 2
    spread = np.sqrt((np.outer(exact.diagonal(), exact.diagonal()) + exact**2) / draws)
    z = (seen.T @ seen / draws - exact) / spread
    assert abs(z[np.triu_indices(30)]).max() < 4.6
    assert np.sqrt(exact.diagonal()) == pytest.approx(np.full(30, found.votes_of_noise))


def test_ten_thousand_predictions_in_any_order_are_the_same_from_the_file_alone():
    found = design("x", "ward", "y")
    released = found.run({MAIN: Table(rows(400))}, Context(seeded_noise(9), None, Path()))
    model = next(one.content for one in released.artefacts if one.files[0] == "model.json")
    copied, asked = json.loads(json.dumps(model)), rows(10_000, seed=10)
    order = np.random.default_rng(11).permutation(len(asked))
    first, again = votes(model, asked), votes(copied, asked.iloc[order])
    assert (first[order].round(9) == again.round(9)).all() and (
        predict(model, asked)[order] == predict(copied, asked.iloc[order])
    ).all()


def test_it_tells_what_no_straight_formula_tells():
    found = design(budget=Budget(Fraction(1), Fraction(1, 10**6)))
    released = found.run({MAIN: Table(rows(600))}, Context(seeded_noise(12), None, Path()))
    model = next(one.content for one in released.artefacts if one.files[0] == "model.json")
    asked = rows(2000, seed=13)
    assert (predict(model, asked) == asked.ill.to_numpy()).mean() > 0.9


def test_where_no_row_is_similar_the_more_frequent_value_is_said():
    found, frame = design(similar="narrow", waves=200), rows(3000)
    frame = frame[(frame.x < 0) & (frame.y < 0) | (frame.x < 0) & (frame.y > 5)]
    frequent = frame.ill.mode()[0]
    model = found.content(found.exact(Table(frame)))
    far = pd.DataFrame({"x": np.linspace(3, 6, 20), "y": np.linspace(2, 3, 20)})
    assert (predict(model, far) == frequent).mean() > 0.9 and guess_of(model) == frequent


def test_the_forecast_is_the_noise_beside_what_invented_people_say():
    found = design(similar="wide")
    chance = np.random.default_rng(14)
    scaled = chance.normal(0, 0.3, (2, 400, 2))
    own = np.array([one[0] for one in found.frequencies]) * (2 * np.pi / PER_TURN)
    alike = np.cos((scaled[0][:, None] - scaled[1][None]) @ own).mean()
    assert found.alike == pytest.approx(alike - 1 / found.options.waves, abs=0.03)
    said = found.judged(500)
    assert 0 < said.share < 1 and texts.text(said.said.id, **said.said.values)
    assert design(budget=Budget(Fraction(1, 1000), Fraction(1, 10**6))).judged(500).is_useless


def test_it_refuses_by_declarations_alone_and_says_why():
    many = Schema((*SCHEMA.columns, declared("code", Kind.CATEGORY, values=tuple(map(str, range(600))))))
    for given, schema, code in (
        ({"predictors": ["ill", "x"]}, SCHEMA, "predicts_itself"),
        ({"target": "ward"}, SCHEMA, "two_values"),
        ({"predictors": ["code"]}, many, "too_many"),
    ):
        (problem,) = design(schema=schema, **given).problems
        assert problem.code == f"{kernel_classes.ID}.{code}"
        assert texts.sentences(problem.code, problem.values)
