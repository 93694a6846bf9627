"""Numbers as people of several countries write them, and those that may be two."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest

from engine import strict_json
from engine.commands.values import number_option, sizes
from engine.errors import InputRefused
from engine.ledger.fields import exact as spent
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.records import parse_typed
from engine.methods.values import edge_of, resolve
from engine.numbers import exact, nearest, readings, surely, unmistakable, whole
from engine.table.coding import codes
from engine.table.schema import Column, Domain, Kind, Origin

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
    assert parse_typed(number, "2,5") == 2.5 and parse_typed(number, "1 000") == 1000
    assert parse_typed(number, "1.000") == "1.000", "left as text, so that the method refuses it in words"


# What Python reads as a number and nobody means by it.
STRANGE = ["1_0", "1_000.5", "1_0/3", "1/1_0", "1e1_0", "nan", "inf", "-Infinity", "0x10", "1e", "1 0/3"]
STRANGE += ["\u0663", "\u0661\u0660", "1\u00b2", "\uff11\uff10"]  # three and ten in Arabic, a power, wide


@pytest.mark.parametrize("text", STRANGE)
def test_every_door_reads_a_number_by_one_rule(text: str) -> None:
    """Parameters, options, plans, the ledger, fields of the window, edges: none takes ten for 1_0."""
    for read in (exact, whole, nearest):
        with pytest.raises(ValueError):
            read(text)
    assert readings(text) == () and surely(text) is None and edge_of(text) is None
    for kind in (ParameterKind.NUMBER, ParameterKind.INTEGER):
        assert resolve((Parameter("n", kind),), {"n": text}, {})[1][0].code == "parameters.not_a_number"
    assert resolve((Parameter("n", ParameterKind.EDGES),), {"n": [text]}, {})[1]
    assert resolve((Parameter("n", ParameterKind.SHARES),), {"n": [text]}, {})[1]
    with pytest.raises(InputRefused, match=r"commands\.not_a_number"):
        number_option(text, "--epsilon")
    with pytest.raises(InputRefused, match=r"commands\.not_a_number"):
        sizes(f"5,{text}")
    with pytest.raises(InputRefused, match=r"ledger\.bad_epsilon"):
        spent(text, "ledger.bad_epsilon")
    with pytest.raises(strict_json.Wrong):
        strict_json.number(text, "budget.epsilon")


@pytest.mark.parametrize("text", ["1e400", "-1e999", '{"set": [1e309]}'])
def test_no_document_holds_a_number_that_is_infinite_as_it_is_read(text: str) -> None:
    with pytest.raises(ValueError):
        strict_json.loads(text)


def test_a_level_is_another_one_where_python_would_read_the_same_number() -> None:
    """A column of numbers has the levels 10 and 3 in it; 1_0 and the Arabic three are names."""
    column = Column(
        "n", kind=Kind.CATEGORY, domain=Domain(values=("1_0", "٣", "7.0")), domain_origin=Origin.DECLARED
    )
    assert codes(pd.Series([10, 3, 7]), column).tolist() == [3, 3, 2]
