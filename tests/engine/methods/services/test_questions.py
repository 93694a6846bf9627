"""Conditions by hand, against every row that there can be, and in words that cannot be understood."""

import random
import time
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.errors import InputRefused
from engine.methods.conditions import MOST_COMPARISONS, parse
from engine.methods.services.questions import EVERYWHERE, NOWHERE, Coded, Question
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from tests.ratios import TIMED, slack

DECLARED = Origin.DECLARED
SCHEMA = Schema(
    (
        Column("sex", Role.IDENTIFYING, Kind.CATEGORY, Domain(values=("f", "m")), DECLARED, missing=("?",)),
        Column("band", Role.OTHER, Kind.ORDINAL, Domain(values=("low", "mid", "high")), DECLARED),
        Column("age", Role.IDENTIFYING, Kind.INTEGER, Domain(Fraction(0), Fraction(6)), DECLARED),
        Column("bmi", Role.OTHER, Kind.NUMBER, Domain(Fraction(10), Fraction(13)), DECLARED),
        Column("stay", Role.OTHER, Kind.NUMBER, Domain(Fraction(0), Fraction(1), Fraction(1, 5)), DECLARED),
        Column("size", Role.OTHER, Kind.NUMBER),
        Column("parts", Role.OTHER, Kind.INTEGER, Domain(values=("1", "2", "10")), DECLARED),
        Column("seen on", Role.TIME, Kind.DATE),
        Column("seen copy", Role.OTHER, Kind.CATEGORY, Domain(values=("a",)), Origin.COPIED),
        Column("note", Role.OTHER, Kind.TEXT),
        Column("person", Role.PERSON_KEY, Kind.TEXT),
    )
)
VALUES = {
    "sex": ["f", " m", "x", "?", None],
    "band": ["low", "mid", "high", "none", None],
    "age": [-3.0, 0.0, 1.0, 2.0, 3.0, 4.0, 4.5, 5.0, 6.0, 99.0, np.nan],
    "bmi": [9.0, 10.0, 10.5, 11.0, 11.00000001, 12.0, 13.0, 14.0, np.nan],
    "stay": [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0, 7.0, np.nan],
    "size": [-1e9, -0.5, 0.0, 0.1, 1.0, 1e9, np.inf, np.nan],
    "parts": [1.0, 2.0, 10.0, 3.0, np.nan],
    "seen on": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03", None]),
}


def frame(*names):
    """Return every combination of the values of some columns."""
    rows = list(product(*(VALUES[name] for name in names)))
    return pd.DataFrame({name: pd.Series([row[place] for row in rows]) for place, name in enumerate(names)})


def taken(text, name):
    """Return the values of a column that a condition takes."""
    rows = frame(name)
    mask = Question(parse(text), SCHEMA).mask(Coded(rows))
    return [VALUES[name][place] for place in np.flatnonzero(mask)]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("sex is f", "sex", ["f"]),
        ("sex is not f", "sex", [" m", "x", "?", None]),
        ("sex in (f, m)", "sex", ["f", " m"]),
        ("sex is missing", "sex", ["?", None]),
        ("sex is other", "sex", ["x"]),
        ("SEX_ is f", "sex", None),
        ("band at least mid", "band", ["mid", "high"]),
        ("band below mid", "band", ["low"]),
        ("band between low and mid", "band", ["low", "mid"]),
        ("age at least 5", "age", [5.0, 6.0, 99.0]),
        ("age at most 0", "age", [-3.0, 0.0]),
        ("age = 4", "age", [4.0, 4.5]),  # between two levels: the lower one
        ("age >= 4.2", "age", [5.0, 6.0, 99.0]),
        ("age > 6", "age", []),
        ("bmi above 11", "bmi", [11.00000001, 12.0, 13.0, 14.0]),
        ("bmi <= 10", "bmi", [9.0, 10.0]),
        ("bmi = 13", "bmi", [13.0, 14.0]),
        ("stay at least 3/5", "stay", [0.6000000000000001, 0.8, 1.0, 7.0]),
        ("stay is 0.2", "stay", [0.2]),
        ("size at least 0.1", "size", [0.1, 1.0, 1e9]),
        ("size is missing", "size", [np.inf, np.nan]),
        ("parts above 2", "parts", [10.0]),
        ("parts is other", "parts", [3.0]),
        ('"seen on" at least 2020-01-02', "seen on", list(VALUES["seen on"][1:3])),
        ('"seen on" above 2020-01-02', "seen on", [VALUES["seen on"][2]]),
    ],
)
def test_rows_by_hand(text, name, expected):
    if expected is None:
        with pytest.raises(InputRefused, match="no_such_column"):
            taken(text, name)
        return
    if text == "age > 6":
        assert Question(parse(text), SCHEMA).canonical == NOWHERE
    found = taken(text, name)
    assert repr(found) == repr(expected)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sex is f and age >= 3", "age above 2 and sex = f"),
        ("sex in (m, f, f)", "sex is m or sex is f"),
        ("not (sex is f or sex is m)", "sex is missing or sex is other"),
        ("age between 0 and 6", "age is not missing"),
        ("bmi < 11.0", "bmi below 22/2"),
        ("bmi < 11", "not bmi >= 11 and bmi is not missing"),
        ("band in (low, mid)", "band at most mid"),
        ("parts at most 2.0", "parts in (1, 2.0)"),
        ('"seen on" >= 2020-01-02', "“seen on” > 2020-01-01"),
        ("sex=f and (age<2 or bmi>11)", "(bmi above 11 and sex in (f)) or (sex=f and age at most 1)"),
        ("", "age is missing or age >= -4"),
        ("sex is f", "(sex is f and age >= 3) or (sex is f and not age >= 3)"),
        ('"sex" is "f"', "sex≠m and sex is not other and sex is not missing"),
    ],
)
def test_the_same_question_in_other_words(one, other):
    assert Question(parse(one), SCHEMA).key == Question(parse(other), SCHEMA).key
    assert Question(parse(one), SCHEMA, ("sex",)).key != Question(parse(one), SCHEMA).key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bmi < 11", "bmi <= 11"),
        ("bmi < 11", "not bmi >= 11"),  # who has no value is not at least 11 either
        ("sex is missing", "sex is other"),
        ("size > 0.1", "size > 0.10000000000000001"),
        ("sex is f or age > 3 and bmi > 11", "(sex is f or age > 3) and bmi > 11"),
    ],
)
def test_other_questions(one, other):
    assert Question(parse(one), SCHEMA).key != Question(parse(other), SCHEMA).key


ATOMS = (
    "sex is f", "sex is not m", "sex is missing", "sex in (f, m)", "band at least mid", "band below high",
    "band is other", "age >= 3", "age > 2", "age < 3", "age between 1 and 4", "age is missing", "age = 3",
)  # fmt: skip


def written(chance, depth):
    if depth == 0 or chance.random() < 0.2:
        return chance.choice(ATOMS)
    if chance.random() < 0.25:
        return f"not ({written(chance, depth - 1)})"
    sign = chance.choice((" and ", " or "))
    return "(" + sign.join(written(chance, depth - 1) for _ in range(2)) + ")"


def test_two_questions_are_the_same_if_and_only_if_they_take_the_same_rows():
    """Over all rows that there can be (5 · 5 · 11 values), for 700 random conditions in pairs."""
    chance, rows = random.Random(7), frame("sex", "band", "age")
    by_rows, by_key = {}, {}
    for _ in range(700):
        question = Question(parse(written(chance, 3)), SCHEMA)
        mask = question.mask(Coded(rows)).tobytes()
        assert by_rows.setdefault(mask, question.key) == question.key
        assert by_key.setdefault(question.key, mask) == mask
        assert (question.canonical == EVERYWHERE) == (b"\0" not in mask)
        assert (question.canonical == NOWHERE) == (b"\1" not in mask)
    assert len(by_rows) > 150  # enough different ones, and enough that came twice
    assert len(by_rows) < 600


def test_a_row_is_decided_by_itself_alone():
    rows = frame("sex", "age", "bmi")
    question = Question(parse("sex is f and (age > 2 or not bmi between 10.5 and 12)"), SCHEMA)
    whole = question.mask(Coded(rows))
    single = [question.mask(Coded(rows.iloc[[place]]))[0] for place in range(0, len(rows), 7)]
    assert single == whole[::7].tolist()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("sex", "unfinished"), ("sex is", "unfinished"), ("sex is f and", "unfinished"),
        ("(sex is f", "unfinished"), ("sex is f)", "condition"), ("sex in f", "condition"),
        ("sex in (f", "unfinished"), ('"sex is f', "condition"),
        ("sex is f sex is m", "condition"), ("= f", "condition"), ("age between 1 or 2", "condition"),
        ("(" * 200 + "sex is f" + ")" * 200, "condition"), ("not " * 500 + "sex is f", "condition"),
        ("x" * 5000, "too_long"),
        (" or ".join(["sex is f"] * (MOST_COMPARISONS + 1)), "too_many_comparisons"),
        ("nothing is f", "no_such_column"), ("person is p1", "identifier"), ('"seen copy" is a', "copied"),
        ("note is a", "not_declared"), ("sex is x", "undeclared"), ("sex above f", "no_order"),
        ("age is 7", "undeclared"), ("age is 2.5", "undeclared"), ("age is old", "no_number"),
        ("parts > old", "no_number"), ('"seen on" is soon', "no_day"), ('"seen on" is 3', "no_day"),
        ("age is 2020-01-01", "no_number"), ("age is other", "no_other"), ("band above none", "undeclared"),
        ("bmi is 14", "undeclared"), ("age > 1e999999999", "no_number"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_in_words(text, code):
    with pytest.raises(InputRefused) as refused:
        _ = Question(parse(text), SCHEMA).key
    assert refused.value.code == f"services.private_queries.{code}"
    sentence = texts.explain(refused.value)
    assert "{" not in f"{sentence}"


@TIMED
def test_the_worst_condition_takes_a_moment_only(timed):
    columns = [Column(f"{c}{n}", Role.OTHER, Kind.CATEGORY, Domain(values=("a",)), DECLARED)
               for c in "xy" for n in range(10)]  # fmt: skip
    text = " or ".join(f"(x{n} is a and y{n} is a)" for n in range(MOST_COMPARISONS // 2))
    began = time.process_time()
    assert len(Question(parse(text), Schema(tuple(columns))).key) == 64
    assert not timed or time.process_time() - began < 10 * slack()
