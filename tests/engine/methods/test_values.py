"""Numbers that are filled in: only those with which rows can be compared."""

from fractions import Fraction

import pytest

from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.values import edge_of, resolve
from engine.numbers import exact, shortest_json

EDGES = Parameter("edges", ParameterKind.EDGES)


@pytest.mark.parametrize("edges", [[0, "1e400"], ["-1e400", 0], [0, "9" * 400], [0, "9" * 400 + "/7"]])
def test_what_no_float_can_hold_is_no_number(edges):
    values, problems = resolve((EDGES,), {"edges": edges}, {})
    assert values == {} and [problem.code for problem in problems] == ["parameters.not_a_number"]


def test_the_largest_and_the_smallest_are_numbers():
    assert edge_of("1e308") == 10**308 and edge_of("1e-400") == Fraction(1, 10**400)


@pytest.mark.parametrize("text", ["9" * 400 + "/7", "-" + "9" * 400 + "/7", "1e-400", "1/3"])
def test_what_is_written_can_be_read_again(text):
    assert exact(shortest_json(exact(text))) == Fraction(text)
