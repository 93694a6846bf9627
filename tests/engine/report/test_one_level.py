"""One privacy level is one number in all papers, and none is told smaller than it is."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from engine import texts
from engine.report.content.cover import total

SPENT = Fraction(415738541305379240960, 415743955068776512197)


def test_what_was_spent_is_told_as_the_level_is() -> None:
    register = {"epsilon": "2", "epsilon_spent": str(SPENT), "delta": "0", "releases": 1}
    said = total(register)
    assert "ε = 1 of 2" in texts.text(said.id, **said.values)


@pytest.mark.parametrize("epsilon", [SPENT, Fraction("0.99994"), Fraction("0.12341"), Fraction("1.00001")])
def test_a_statement_never_tells_a_level_smaller(epsilon: Fraction) -> None:
    values = {"epsilon": float(epsilon), "factor": 2.72, "presence": 0.7, "value": 0.8}
    said = texts.text("statement.add_remove.person", **values)
    found = re.search(r"ε = ([0-9.]*[0-9])", said)
    assert found is not None
    assert epsilon <= Fraction(found[1]) < epsilon * Fraction("1.001")


def test_no_sentence_rounds_a_level_to_the_nearest() -> None:
    """A format of its own for ε rounds down as often as up."""
    for text_id, sentence in texts.catalogue("en").items():
        if text_id.startswith(("statement.", "promises.", "report.")):
            assert not re.search(r"\{epsilon[a-z0-9_]*:\.", sentence), text_id
