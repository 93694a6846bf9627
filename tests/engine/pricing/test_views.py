"""The picture of what levels cost: the chosen one, what is allowed, the band, precedents, and its reach."""

from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import pytest

from engine.pricing.anchors import read_anchors
from engine.pricing.price import AllowedLevels, Price
from engine.pricing.statement import cost_of, price_statement
from engine.pricing.views import cost_curve, reach
from engine.privacy.mechanisms import Laplace
from engine.privacy.promise import Loss, Neighbours, Promise, Unit
from engine.views import CurveView

SAID = Price(people=4259, compensation=Fraction(500))
LEVEL = Fraction(1, 2)
PROMISE = Promise(
    "pure_dp",
    Loss(LEVEL, Fraction(0), Neighbours.ADD_REMOVE, Laplace(Fraction(1), LEVEL)),
    Unit.PERSON,
    1,
)


def drawn(price: Price = SAID, **options: Any) -> CurveView:
    view = cost_curve(price, epsilon=LEVEL, **{"precedents": (), **options})
    assert view is not None
    return view


def test_nothing_is_drawn_while_too_little_was_said() -> None:
    assert cost_curve(Price(people=4259), epsilon=LEVEL) is None


def test_the_chosen_level_stands_on_the_curve_of_the_price() -> None:
    cost, view = cost_of(SAID), drawn()
    assert cost is not None and [one.label.id for one in view.series] == ["choice.series.price"]
    assert (view.marks[0].x, view.marks[0].y) == (0.5, pytest.approx(cost.at(0.5) / 1000))
    for x, y in zip(view.series[0].x, view.series[0].y, strict=True):
        assert y == pytest.approx(cost.at(x) / 1000)
    few = drawn(replace(SAID, people=4))
    assert few.y_axis.id == "choice.axis.money" and view.y_axis.id == "choice.axis.thousands"


def test_what_is_allowed_is_shaded_as_far_as_the_drawing_goes() -> None:
    assert drawn().shade is None
    both = drawn(allowed=AllowedLevels(Fraction(1, 5), Fraction(3, 5)))
    assert both.shade == (0.2, 0.6)
    below = drawn(allowed=AllowedLevels(Fraction(1, 5), None))
    assert below.shade == (0.2, below.series[0].x[-1])
    assert drawn(allowed=AllowedLevels(Fraction(3, 5), Fraction(1, 5), "both")).shade is None


def test_reach() -> None:
    """Room beside the chosen level and the allowed ones, but no far end, nor more than the screen has."""
    assert reach(0.5, AllowedLevels()) == 1.0
    assert reach(0.5, AllowedLevels(None, Fraction(2))) == 3.0
    assert reach(0.5, AllowedLevels(Fraction(19), None)) == 3.0
    assert reach(15.0, AllowedLevels()) == 20.0


def test_the_band_of_uncertain_constants_holds_the_curve() -> None:
    view = drawn(uncertain=True)
    assert view.band is not None and drawn().band is None
    for low, own, high in zip(view.band[0].y, view.series[0].y, view.band[1].y, strict=True):
        assert low < own < high


def test_the_band_is_that_of_the_figures_where_one_end_alone_is_said() -> None:
    said = replace(SAID, curvature_high=Fraction(3), people_low=4000)
    prices = price_statement(PROMISE, said, readings=False)
    view = drawn(said, uncertain=True)
    assert view.band is not None
    places = [one.x.index(pytest.approx(0.5)) for one in view.band]
    low, high = (one.y[place] for one, place in zip(view.band, places, strict=True))
    assert (low, high) == pytest.approx((prices["band"]["lower"] / 1000, prices["band"]["upper"] / 1000))


def test_curves_at_risk_end_at_the_level_and_mark_what_they_save() -> None:
    prices = price_statement(PROMISE, SAID)
    view = drawn(loss=PROMISE.loss, at_risk=prices)
    assert [one.label.id for one in view.series[1:]] == ["choice.series.published", "choice.series.exact"]
    assert all(one.x[-1] == 0.5 for one in view.series[1:])
    saving = {name for name in ("published", "exact") if prices[name]["saving"] > 0}
    assert saving and {mark.label.id.rsplit(".", 1)[1] for mark in view.marks[1:]} == saving


def test_precedents_of_the_same_currency_become_marks() -> None:
    told = replace(
        read_anchors().anchors[0], quantity="compensation", currency="EUR", year=2020, read=date.today()
    )
    anchors = [replace(told, amount=Fraction(amount)) for amount in (100, 500, 700, 10**9)]
    view = drawn(precedents=(*anchors, replace(told, amount=Fraction(200), currency="USD")))
    cost = cost_of(SAID)
    assert cost is not None
    paid = [replace(cost, compensation=Fraction(amount)).at(0.5) / 1000 for amount in (100, 700)]
    # What the custodian took is the curve itself, and a mark above the drawing is none.
    assert [mark.y for mark in view.marks[1:]] == pytest.approx(paid)
