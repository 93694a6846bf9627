"""The chapter on the price: where every constant comes from, what is uncertain, and what decided."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from engine import texts
from engine.evidence import InternalEvidence
from engine.pricing.price import Price
from engine.pricing.statement import cost_of, price_statement
from engine.privacy.mechanisms import DiscreteLaplace
from engine.privacy.promise import Loss, Neighbours, Promise, Unit
from engine.release.plan import Plan
from engine.report.content import price as price_chapter
from engine.report.content.private import assumption
from engine.report.words import word
from engine.views import CurveView, Text

PRICE = Price(people=100, compensation=Fraction(5500))


def guarantee(neighbours=Neighbours.ADD_REMOVE):
    event = DiscreteLaplace(Fraction(2), Fraction(1))
    return Promise("pure_dp", Loss(Fraction(1, 2), Fraction(0), neighbours, event), Unit.PERSON, 1)


def kept(*, neighbours=Neighbours.ADD_REMOVE, window=None, **changes):
    found = price_statement(guarantee(neighbours), replace(PRICE, **changes))
    return InternalEvidence({}, {}, price=found if window is None else found | {"window": window})


def words(private):
    """Every sentence of the chapter, tables and notes included."""
    found = []

    def collect(value):
        if isinstance(value, Text):
            found.extend([word(value, "en")] if texts.has(value.id) else [])
        elif hasattr(value, "__dataclass_fields__"):
            for name in value.__dataclass_fields__:
                collect(getattr(value, name))
        elif isinstance(value, list | tuple):
            for item in value:
                collect(item)

    collect(price_chapter.chapter(private))
    return " ".join(found).replace("\u00a0", " ")


def test_a_precedent_is_named_with_its_case_and_date():
    said = words(kept(anchor="bgh_2024"))
    assert "Bundesgerichtshof VI ZR 10/24" in said and "DE, 2024" in said
    assert "read on 21 November 2026" in said and "have a lawyer check this" in said
    assert "year not reported" in words(kept(anchor="health_insurer_email"))
    assert "Anchor: my own reasoning" in words(kept(anchor="my own reasoning"))


def test_a_defended_point_is_named_and_used():
    private = kept(calibrated_epsilon=Fraction(1), calibrated_share=Fraction(3, 10))
    assert "at ε = 1 a share of 0.3 of the liability is accepted" in words(private)
    assert private.price["constants"]["curvature"] == pytest.approx(1.203973, abs=5e-7)
    assert "1.204" in words(private)
    half = replace(PRICE, calibrated_epsilon=Fraction(1))
    assert cost_of(half).c == 1  # one part of a point is none


def test_what_is_uncertain_is_a_band():
    said = words(kept())
    assert "With c between 0.5 and 2, the price lies between" in said
    private = kept(people_low=Fraction(50), people_high=Fraction(200), compensation_high=Fraction(6000))
    band = private.price["band"]
    assert band["upper"] == pytest.approx(200 * 6000 * 2.718281828 ** (-0.5 / 0.5))
    assert "between 50 and 200 people" in words(private)
    curve = next(part for part in price_chapter.chapter(private) if isinstance(part, CurveView))
    lower, upper = curve.band
    assert all(low < high for low, high in zip(lower.y, upper.y, strict=True))


@pytest.mark.parametrize(
    ("window", "said"),
    [
        ({"lower": 0.2, "upper": 0.7, "reason": None}, "leave ε from 0.2 to 0.7"),
        ({"lower": 0.2, "upper": None, "reason": None}, "needs ε of at least 0.2"),
        ({"lower": None, "upper": 0.7, "reason": None}, "allows ε up to 0.7"),
        ({"lower": None, "upper": None, "reason": "error"}, "the error has to give"),
        ({"lower": None, "upper": None, "reason": "money"}, "the money has to give"),
        ({"lower": 0.9, "upper": 0.7, "reason": "both"}, "one of the two has to give"),
    ],
)
def test_the_window_says_which_has_to_give(window, said):
    assert said in words(kept(window=window))


def test_the_second_model_and_whether_it_decides_otherwise():
    changes = words(kept(budget=Fraction(80_000)))
    assert "The models disagree" in changes and "no constant c" in changes
    stays = words(kept(budget=Fraction(1000), neighbours=Neighbours.REPLACE_ONE))
    assert "Both models agree: ε = 0.5 is above what" in stays


def test_money_that_covers_the_claims_of_everybody_sets_no_limit():
    """The end of the window is then that of the register, and no model allows an infinite level."""
    window = {"lower": None, "upper": 20, "reason": None}
    said = words(kept(budget=Fraction(550_000), window=window))
    assert "EUR 550,000 is at least what claims of everybody would cost" in said
    assert "sets no limit to ε" in said and "up to 20" not in said and "∞" not in said


def test_without_a_bound_there_is_nothing_to_price_whatever_was_stated():
    (said,) = price_chapter.chapter(InternalEvidence({}, {}), bounded=False)
    assert "Nothing bounds" in word(said, "en") and "stated" not in word(said, "en")
    (said,) = price_chapter.chapter(InternalEvidence({}, {}))
    assert "was stated" in word(said, "en")


def test_the_curve_as_printed_stands_beside_the_corrected_one():
    private = kept(minimum=Fraction(500))
    assert private.price["printed"] > private.price["budget"]
    assert "as its source prints it" in words(private)
    assert "as its source prints it" not in words(kept())


def test_fine_and_incident_are_apart():
    said = words(kept(fine=Fraction(1_000_000), incident=Fraction(20_000)))
    assert "Administrative fine (Article 83)" in said and "never added" in said


def blanks(said):
    return said.replace("\u00a0", " ").replace("\u202f", " ")


@pytest.mark.parametrize("language", ["en", "de", "fr"])
@pytest.mark.parametrize("amount", ["0.01", "0.4", "2.5", "12.75", "500.5", "1999.99"])
def test_what_was_stated_is_printed_as_stated(amount, language):
    """E = 2 in place of 2.5 beside N · E = 125: nobody gets the printed price out of the printed formula."""
    private = kept(people=50, compensation=Fraction(amount), budget=Fraction(amount), people_high=None)
    number = blanks(texts.number(float(amount), language=language))
    written = f"EUR {number}" if language == "en" else f"{number} EUR"
    for name in ("compensation", "budget"):
        assert blanks(word(price_chapter.stated(private, name), language)) == written
    (row,) = assumption(private)
    assert number in blanks(word(row.value, language))
    assert f"E = EUR {number}" in words(private) or language != "en"


@pytest.mark.parametrize(("amount", "shown"), [(2.494, 2.49), (0.4, 0.4), (99.999, 100), (16917.6, 16918)])
def test_a_small_price_is_not_printed_as_none(amount, shown):
    assert price_chapter.in_units(amount) == shown


def test_a_plan_carries_all_of_it():
    price = replace(
        PRICE,
        calibrated_epsilon=Fraction(1, 3),
        calibrated_share=Fraction(1, 10),
        people_high=Fraction(200),
        anchor="bgh_2024",
    )
    plan = Plan(price=price)
    assert Plan.loads(plan.dumps()).price == price
