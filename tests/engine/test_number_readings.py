"""Numbers as people of several countries write them, and those that may be two."""

from __future__ import annotations

from fractions import Fraction

import pytest

from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.records import typed
from engine.numbers import readings, surely, unmistakable

SURE = {
    "250 000": 250_000,
    "250\u00a0000": 250_000,
    "250\u202f000": 250_000,
    "250\u2009000": 250_000,
    "250'000": 250_000,
    "250\u2019000": 250_000,
    "1.000.000": 10**6,
    "1,000,000": 10**6,
    "1 000 000,50": Fraction(2_000_001, 2),
    "1.000,50": Fraction(2001, 2),
    "1,000.50": Fraction(2001, 2),
    "CHF 1'250.50": Fraction(2501, 2),
    "250 Tsd.": 250_000,
    "1,5 Mio": 1_500_000,
    "2,5": Fraction(5, 2),
    "0,913": Fraction(913, 1000),
    "0.001": Fraction(1, 1000),
    "1234.567": Fraction(1_234_567, 1000),
    "1/3": Fraction(1, 3),
    "1e-6": Fraction(1, 10**6),
    "−5": -5,
    "250,-": 250,
    "50 %": 50,
}


@pytest.mark.parametrize("text", SURE)
def test_what_can_only_mean_one_number_is_read(text: str) -> None:
    assert surely(text) == SURE[text]


@pytest.mark.parametrize("text", ["250.000", "250,000", "€ 250.000", "250.000 €", "EUR 250,000"])
def test_three_digits_after_one_mark_may_be_two_numbers(text: str) -> None:
    assert readings(text) == (250_000, 250) and surely(text) is None


@pytest.mark.parametrize("text", ["", "soon", "12 34", "1.00.000", "1..000", "1,2,3", "nan", "1'00", "--5"])
def test_what_is_no_number_is_none(text: str) -> None:
    assert readings(text) == ()


@pytest.mark.parametrize(
    "value", [Fraction(9, 8), Fraction(250_000), Fraction(1, 3), Fraction(-1125, 1000), 0.5]
)
def test_a_number_is_shown_so_that_it_is_read_back(value: Fraction) -> None:
    assert surely(unmistakable(value)) == value


def test_a_parameter_takes_no_number_that_may_be_two() -> None:
    number = Parameter("bound", ParameterKind.NUMBER)
    assert typed(number, "2,5") == 2.5 and typed(number, "1 000") == 1000
    assert typed(number, "1.000") == "1.000", "left as text, so that the method refuses it in words"
