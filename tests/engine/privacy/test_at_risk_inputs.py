"""What a person may type as a level, a share or a whole number."""

from fractions import Fraction

import numpy as np
import pytest

from engine.errors import InputRefused
from engine.privacy.at_risk import inputs
from engine.texts import explain


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("nan", "not_a_number"),
        (float("nan"), "not_a_number"),
        ("inf", "not_a_number"),
        ("-inf", "not_a_number"),
        ("abc", "not_a_number"),
        ("", "not_a_number"),
        ("1,5", "not_a_number"),
        (True, "not_a_number"),
        ("1" * 5000, "not_a_number"),
        (0, "not_positive"),
        ("-0.0", "not_positive"),
        (-1, "not_positive"),
        ("-1e999999999", "not_positive"),
        ("1e999999999", "too_large"),
        (1e7, "too_large"),
        ("1e-999999999", "not_positive"),
        (1e-13, "too_small"),
    ],
)
def test_levels_that_are_refused_with_a_sentence(value, code):
    with pytest.raises(InputRefused) as refused:
        inputs.positive(value, name="epsilon")
    assert refused.value.code == f"at_risk.{code}"
    what, do = explain(refused.value)
    assert "epsilon" in what and do


@pytest.mark.parametrize("value", [0, 1, 1.5, -0.1, "1", 1e-400, "0.99999999999999999999"])
def test_shares_that_are_refused(value):
    with pytest.raises(InputRefused) as refused:
        inputs.share(value, name="confidence")
    assert all(explain(refused.value))


@pytest.mark.parametrize("value", [0, 1.5, "2.5", -3, 10**16])
def test_whole_numbers_that_are_refused(value):
    with pytest.raises(InputRefused) as refused:
        inputs.whole(value, name="dimensions")
    assert all(explain(refused.value))


def test_floats_are_read_as_the_decimals_that_they_print_as():
    assert inputs.positive(0.6, name="e") == inputs.positive("0.6", name="e") == Fraction(3, 5)
    assert inputs.positive(np.float64(0.1), name="e") == Fraction(1, 10)
    assert inputs.level(np.float64(0.1), name="e") == 0.1
    assert inputs.whole(3.0, name="k") == inputs.whole("3", name="k") == 3
