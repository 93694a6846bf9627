"""One privacy level in the views that people can judge, by hand and against the published figures."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from engine import texts
from engine.errors import InputRefused
from engine.methods.catalogue import method
from engine.pricing.posterior import posterior
from engine.pricing.price import Price
from engine.pricing.statement import (
    at_risk,
    exceeding_by_a_tenth,
    excess_probability,
    price_statement,
    privacy_statement,
)
from engine.privacy.events import Additive, Mechanism, Sequential
from engine.privacy.mechanisms import (
    DiscreteLaplace,
    Exponential,
    GaussianCounts,
    Laplace,
    PermuteAndFlip,
    Staircase,
    Stated,
)
from engine.privacy.promise import Loss, Neighbours, Promise, Unit
from engine.release.examples import plans


def guarantee(
    epsilon: Fraction, *, neighbours: Neighbours = Neighbours.ADD_REMOVE, noise: type[Additive] = Laplace
) -> Promise:
    event = noise(1 / epsilon, Fraction(1))
    return Promise("pure_dp", Loss(epsilon, Fraction(0), neighbours, event), Unit.PERSON, 1)


def test_posteriors_by_hand() -> None:
    assert posterior(0.5, 0) == 0.5 and posterior(0.5, math.inf) == 1
    assert posterior(0.5, math.log(3)) == pytest.approx(0.75)
    assert posterior(0.01, 1) == pytest.approx(0.027, abs=1e-3)
    for epsilon in (-1, math.nan):
        with pytest.raises(InputRefused):
            posterior(0.5, epsilon)


@pytest.mark.parametrize("square", [1, 2, 3, 4, 8, 9, 50])
def test_gaussian_noise_on_rows_that_are_exchanged(square: int) -> None:
    """Any number of rows a person, under either relation: the shift is a root, seldom a whole number."""
    delta = Fraction(1, 10**6)
    event = GaussianCounts(square, Fraction(1), delta).event
    promised = Promise(
        "approximate_dp", Loss(Fraction(1), delta, Neighbours.REPLACE_ONE, event), Unit.PERSON, 1
    )
    found = at_risk(promised, read_at=Fraction(1, 2))
    assert 0.9 < found["exact"]["confidence"] < 1
    assert found["published"] is None
    # What the loss exceeds ε by is at most how often it does.
    assert 0 < found["certified"]["delta"] <= 1 - found["exact"]["confidence"] or square > 3
    assert delta < found["certified"]["delta"] < 0.05


def test_what_a_theorem_alone_bounds_says_how_often_a_tenth_is_exceeded() -> None:
    """Here the probability of any excess is not known: it would be said to be 1 in 1."""
    one = method("datasets.latent")
    promise = one(plans(one)[0].request).cost
    assert promise.loss is not None and excess_probability(promise.loss) == 1
    sentence = privacy_statement(promise)["sentence"]
    assert sentence["id"] == "statement.add_remove.person_theorem"
    delta = float(promise.loss.delta) * (1 + math.exp(float(promise.loss.epsilon)))
    assert sentence["values"]["exceed"] == pytest.approx(22 * delta) and sentence["values"]["exceed"] < 1e-6
    said = texts.text(sentence["id"], **sentence["values"])
    assert "by a tenth or more" in said and "1 in 1." not in said
    wide = replace(promise.loss, delta=Fraction(1, 10))
    assert privacy_statement(replace(promise, loss=wide))["sentence"]["id"].endswith("_slack")


@pytest.mark.parametrize("seed", range(20))
def test_epsilon_and_delta_bound_how_often_a_tenth_is_exceeded(seed: int) -> None:
    """Of two distributions drawn at random, with the δ that belongs to them at ε."""
    chance = np.random.default_rng(seed)
    one, other = (chance.dirichlet(np.full(40, 0.7)) for _ in range(2))
    for epsilon in (0.2, 1.0, 2.0):
        grown = math.exp(epsilon)
        delta = max(np.maximum(a - grown * b, 0).sum() for a, b in ((one, other), (other, one)))
        beyond = (one > 1.1 * grown * other) | (other > 1.1 * grown * one)
        bounded = Loss(Fraction(epsilon), Fraction(delta), Neighbours.REPLACE_ONE, Laplace(1, 1))
        assert one[beyond].sum() <= exceeding_by_a_tenth(bounded) == min(1, 22 * delta)


def test_a_known_persons_value_costs_twice_under_add_remove() -> None:
    statement = privacy_statement(guarantee(Fraction(1)))
    assert statement["posterior"]["presence"] == pytest.approx(0.7311, abs=5e-5)
    assert statement["posterior"]["value"] == pytest.approx(0.8808, abs=5e-5)
    replaced = privacy_statement(guarantee(Fraction(1), neighbours=Neighbours.REPLACE_ONE))
    assert replaced["posterior"]["value"] == pytest.approx(0.7311, abs=5e-5)


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("unit", Unit)
def test_a_delta_is_said_where_the_bound_is(neighbours: Neighbours, unit: Unit) -> None:
    for delta in (Fraction(0), Fraction(1, 10**6)):
        promised = guarantee(Fraction(1), neighbours=neighbours)
        promised = replace(promised, loss=replace(promised.loss, delta=delta), unit=unit)
        sentence = privacy_statement(promised)["sentence"]
        assert ("δ = 0.000001" in texts.text(sentence["id"], **sentence["values"])) == (delta > 0)


def test_published_exact_and_certified_stand_together() -> None:
    found = at_risk(guarantee(Fraction(1)), read_at=Fraction(3, 5))
    assert found["published"]["confidence"] == pytest.approx(0.713769, abs=1e-6)
    assert found["exact"]["confidence"] == pytest.approx(0.409365, abs=1e-6)
    assert found["exact"]["confidence_two_sided"] == pytest.approx(0.184701, abs=1e-6)
    assert found["certified"]["delta"] == pytest.approx(0.181269, abs=1e-6)


def test_the_integer_mechanism_is_stated_as_it_runs() -> None:
    found = at_risk(guarantee(Fraction(1), noise=DiscreteLaplace), read_at=Fraction(3, 5))
    assert found["exact"]["confidence"] == pytest.approx(0.268941, abs=1e-6)
    assert found["exact"]["confidence_two_sided"] == 0


def test_the_warning_stands_above_ln_3() -> None:
    assert not at_risk(guarantee(Fraction(109, 100)))["above_ln3"]
    assert at_risk(guarantee(Fraction(110, 100)))["above_ln3"]


def test_a_composition_has_no_published_form() -> None:
    half = DiscreteLaplace(Fraction(2), Fraction(1))
    both = Promise(
        "pure_dp",
        Loss(Fraction(1), Fraction(0), Neighbours.ADD_REMOVE, Sequential((half, half))),
        Unit.PERSON,
        1,
    )
    found = at_risk(both, read_at=Fraction(3, 5))
    assert found["published"] is None
    # Losses ±½ and ±½: the sum is 1, 0 or −1 with probabilities p², 2pq, q², p = e^½/(1+e^½).
    p = 1 / (1 + math.exp(-0.5))
    assert found["exact"]["confidence"] == pytest.approx(1 - p * p, abs=1e-9)


def test_without_a_guarantee_no_number_is_given() -> None:
    none = Promise("none", None, Unit.ROW, 1)
    statement = privacy_statement(none)
    assert "epsilon" not in statement
    assert texts.text(statement["sentence"]["id"])
    assert price_statement(none, Price(people=1, compensation=Fraction(1))) == {}


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("unit", list(Unit))
def test_every_sentence_can_be_said(neighbours: Neighbours, unit: Unit) -> None:
    event = Laplace(Fraction(1), Fraction(1))
    found = Promise("pure_dp", Loss(Fraction(1), Fraction(0), neighbours, event), unit, 1)
    sentence = privacy_statement(found)["sentence"]
    said = texts.text(sentence["id"], **sentence["values"])
    assert "2.72" in said
    assert ("88.1\u00a0%" if neighbours is Neighbours.ADD_REMOVE else "73.2\u00a0%") in said


def test_the_price_has_its_published_figures() -> None:
    price = Price(people=100, compensation=Fraction(5500), budget=Fraction(55_000))
    found = price_statement(guarantee(Fraction(1, 2)), price)
    assert found["budget"] == pytest.approx(74_434.41, abs=0.01)
    assert found["published"]["epsilon"] == pytest.approx(0.274115, abs=1e-6)
    assert found["published"]["saving"] == pytest.approx(36_628.55, abs=0.01)
    assert found["exact"]["saving"] == pytest.approx(30_955.35, abs=0.01)
    assert found["expected"] == pytest.approx(63_894.00, abs=0.01)
    assert found["affordable"] == pytest.approx(0.43, abs=0.005)


def test_no_money_no_price() -> None:
    assert price_statement(guarantee(Fraction(1)), Price()) == {}


@pytest.mark.parametrize(
    "event",
    [
        PermuteAndFlip(Fraction(1), "1/48"),
        Stated("adaptive_composition", Fraction(1)),
        Exponential(Fraction(2), Fraction(1)),
        Staircase(1, 1, Fraction(1, 2), stairs=2),
    ],
)
def test_what_only_dominates_a_mechanism_is_not_its_exact_loss(event: Mechanism) -> None:
    """How often the loss stays within some ε is not told where its own distribution is not known."""
    for run in (event, Sequential((event, DiscreteLaplace(Fraction(4), Fraction(1))))):
        level = run.epsilon()
        promised = Promise("pure_dp", Loss(level, Fraction(0), Neighbours.REPLACE_ONE, run), Unit.PERSON, 1)
        assert at_risk(promised) is None
        priced = price_statement(promised, Price(people=100, compensation=100))
        assert priced.get("exact") is None and priced["expected"] is None and priced["budget"] > 0
    assert at_risk(guarantee(Fraction(1), noise=DiscreteLaplace)) is not None
