"""Conditions in words: in English as they are written and read, in every other language as it says them."""

from __future__ import annotations

import re

import pytest

from engine import texts
from engine.methods.conditions import parse, say_condition, write_condition
from engine.report.words import word

WRITTEN = [
    "sex is f",
    "sex is not f and age at least 60",
    "ward in (a, b) or ward not in (c, d) or not (age above 5 and age at most 9)",
    '(a below 3 or b between 1 and 2) and "unit name" is "is"',
    "a is missing and b is not missing and (c is other or c is not other)",
    "not (a is x or b is y)",
]


@pytest.mark.parametrize("written", WRITTEN)
def test_a_condition_is_said_in_english_as_it_is_read(written: str) -> None:
    condition = parse(written)
    said = word(say_condition(condition), "en")
    assert said == write_condition(condition)
    assert parse(said) == condition


@pytest.mark.parametrize("language", [one for one in texts.languages() if one != texts.FALLBACK])
@pytest.mark.parametrize("written", WRITTEN)
def test_no_word_of_it_stays_english(language: str, written: str) -> None:
    said = word(say_condition(parse(written)), language)
    own = set(re.findall(r"\w+", re.sub(r'"[^"]*"', " ", said)))
    english = {
        "and",
        "or",
        "not",
        "is",
        "at",
        "least",
        "most",
        "above",
        "below",
        "between",
        "missing",
        "other",
    }
    assert not own & english, said
    assert said.count("(") == write_condition(parse(written)).count("(")


def test_everybody_is_said_without_a_word() -> None:
    assert say_condition(parse("")) == ""
