"""Cheaper ways: what follows from other numbers is counted against every row, prices by hand."""

import random
import time
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

from engine.methods.budget import SMALLEST
from engine.methods.catalogue import method
from engine.methods.conditions import All, Not, parse, written
from engine.methods.protocol import MAIN
from engine.methods.services.asked import ID, Asked, level_for
from engine.methods.services.cheaper import Piece, follows
from engine.methods.services.desk import Answer, Desk, declared
from engine.methods.services.questions import Question
from engine.privacy.accuracy import laplace_accuracy
from engine.privacy.promise import Neighbours
from engine.table.schema import Schema
from tests.engine.methods.services.test_questions import SCHEMA, frame
from tests.ratios import TIMED, slack

ROWS = frame("sex", "band", "age")
CONDITIONS = (
    *("", "sex is f", "sex is m", "sex is other", "sex is missing", "sex in (f, m)", "not sex is f"),
    *("band is low", "band at least mid", "sex is f and band is low", "sex is f and not band is low"),
    *("age >= 3", "age < 3", "age is missing", "sex is f or band is low", "sex is m and age >= 3"),
    *("sex is f and age >= 3", "age >= 3 and sex in (f, m)", "not (sex is f or band is low)"),
)


def piece(where, by=None, lots=0, rows=ROWS, place=0):
    asked = Asked(Question(parse(where), SCHEMA, by), where, Fraction(1), None)
    return Piece(asked.question, Fraction(1), lots, tuple(asked.count(rows).tolist()), place)


def count(where, rows=ROWS):
    return int(Question(parse(where), SCHEMA).mask(rows).sum())


def test_a_sum_counts_what_is_asked_on_every_table():
    draw, found = random.Random(7), 0
    for _ in range(40):
        rows = ROWS.sample(draw.randrange(1, 150), random_state=draw.randrange(10**6))
        others = draw.sample(CONDITIONS, 5)
        pieces = [piece(where, draw.choice((None, None, "sex", "band")), 0, rows) for where in others]
        for where in CONDITIONS:
            if where in others:
                continue
            known = follows(Question(parse(where), SCHEMA), pieces)
            found += known is not None
            assert known is None or known.value == count(where, rows), (where, others)
    assert found > 30  # the search finds something to be right about


@pytest.mark.parametrize(
    ("where", "pieces", "draws"),
    [
        ("sex is f", [piece("", "sex")], 1),
        ("not sex is f", [piece("", "sex")], 4 - 1),
        ("", [piece("", "sex")], 4),
        ("sex is f and age >= 3", [piece("age >= 3", "sex")], 1),
        ("age >= 3", [piece("sex is f and age >= 3"), piece("age >= 3 and not sex is f")], 2),
        ("not sex is f", [piece("sex is f"), piece("")], 2),
        ("sex is f and age < 3", [piece("sex is f and age >= 3"), piece("sex is f")], None),  # missing ages
        ("sex is f", [piece("sex is m")], None),
        ("sex is f and band is low", [piece("", "sex")], None),
        ("not sex is f", [piece("sex is f", lots=1), piece("", lots=2)], None),  # other rows of a person
    ],
)
def test_what_follows_by_hand(where, pieces, draws):
    known = follows(Question(parse(where), SCHEMA), pieces)
    assert (known and known.draws) == draws
    if draws is not None:
        assert known.within == laplace_accuracy(Fraction(1), count=draws).limit


def test_the_widest_noise_stands_for_a_sum():
    wide = replace(piece("sex is f"), scale=Fraction(9))
    known = follows(Question(parse("not sex is f"), SCHEMA), [wide, piece("")])
    assert known.within == laplace_accuracy(Fraction(9), count=2).limit


@pytest.mark.parametrize("where", CONDITIONS)
def test_a_condition_is_written_as_it_was_read(where):
    tree = parse(where)
    assert parse(written(tree)) == tree
    if where:
        assert parse(written(Not(tree))) == Not(tree)


# --- at the desk ------------------------------------------------------------------------------------

COLUMNS = ("age", "band", "sex")


def request(questions, *answers, key=True):
    """Return the request of a visit to a desk that has given these answers."""
    columns = tuple(one for one in SCHEMA.columns if key or one.name != "person")
    schema = Schema(columns, 1)
    opening = method(ID).make_request({MAIN: schema}, {"columns": list(COLUMNS), "questions": 20})
    desk = Desk(declared(opening, COLUMNS), Fraction(5), Neighbours.ADD_REMOVE, 20)
    for where, by, counts in answers:
        asked = Question(parse(where), schema, by).key
        desk = desk.visited((Answer(asked, where, by, Fraction(1, 4), counts, desk.visits + 1),))
    made = method(ID).make_request({MAIN: schema}, {"questions": questions}, step="visit", state=desk.dumps())
    assert not method(ID)(made).problems
    return made


def ways(questions, *answers, **options):
    found = method(ID)(request(questions, *answers, **options)).cheaper
    return {way.said.id.rsplit(".", 1)[1]: way for way in found}


def test_what_was_answered_is_not_asked_again():
    answered = ("", "sex", (40, 50, 3, 0))
    found = ways([{"where": "sex is m", "epsilon": 0.5}, {"where": "age >= 3", "epsilon": 0.5}], answered)
    assert found["known"].said.values == {"question": 1, "value": 50, "within": 12}
    assert found["known"].epsilon == Fraction(1, 2)
    assert found["known"].given == {"questions": [{"where": "age >= 3", "epsilon": 0.5}]}
    alone = ways([{"where": "sex is m", "epsilon": 0.5}], answered)
    assert alone["known"].given is None and alone["known"].epsilon == 0


def test_answers_of_two_visits_are_put_together_only_where_rows_are_people():
    answers = (("sex is f", None, (40,)), ("", None, (93,)))
    asked = [{"where": "not sex is f", "epsilon": 0.5}]
    assert "known" not in ways(asked, *answers)  # each visit draws anew which rows of a person count
    assert ways(asked, *answers, key=False)["known"].said.values["value"] == 53


def test_questions_about_one_column_are_one_table():
    asked = [
        {"where": "sex is f and age >= 3", "epsilon": 0.5},
        {"where": "age >= 3 and not sex is f", "epsilon": 0.25},
        {"where": "band is low", "epsilon": 0.25},
    ]
    found = ways(asked)["table"]
    assert found.said.values == {"questions": "1, 2", "column": "sex", "cells": 4}
    assert found.epsilon == Fraction(3, 4)
    (table,) = [one for one in found.given["questions"] if "by" in one]
    assert table == {"where": "age at least 3", "by": "sex", "epsilon": 0.5}
    assert sum(method(ID)(request(found.given["questions"])).takes_each) == found.epsilon
    asked[1]["by"] = "band"
    assert "table" not in ways(asked)


def test_half_the_level_or_twice_the_margin():
    found = ways([{"where": "sex is f", "margin": 10}, {"where": "age >= 3", "epsilon": 0.5}])["wider"]
    assert found.given["questions"] == [
        {"where": "sex is f", "margin": 20},
        {"where": "age >= 3", "epsilon": 0.25},
    ]
    assert found.epsilon == level_for(20, 1) + Fraction(1, 4)
    smallest = {"where": "sex is f", "epsilon": str(SMALLEST)}
    assert "wider" not in ways([smallest])  # there is nothing below it


def test_a_question_that_follows_from_another_of_the_visit():
    found = ways([{"where": "sex is f", "epsilon": 0.5}, {"by": "sex", "epsilon": 0.5}])
    assert found["follows"].said.values == {"question": 1, "others": "2"}
    assert found["follows"].epsilon == Fraction(1, 2)
    free = ("sex is f", None, (40,))
    assert method(ID)(request([{"where": "sex = f"}, {"epsilon": 1}], free)).takes_each == (0, 1)


@TIMED
def test_a_long_list_is_looked_at_while_one_waits(timed):
    """Every pair of answers was compared in full: 3.5 s for twenty questions."""
    asked = [
        {"where": f"sex is {sex} and age >= {age} and band is {band}", "epsilon": "1/100"}
        for sex in ("f", "m")
        for age in range(1, 6)
        for band in ("low", "mid")
    ]
    made = request(asked)
    before = time.process_time()
    found = method(ID)(made).cheaper
    spent = time.process_time() - before
    names = [way.said.id.rsplit(".", 1)[1] for way in found]
    assert names == ["table"] * 4 + ["wider"] and found[0].epsilon == Fraction(19, 100)
    pieces = [piece(one["where"]) for one in asked]
    before = time.process_time()
    for first, second in combinations(pieces[:8], 2):  # 28 of 190 pairs, one comparison of six each
        _ = Question(All((first.question.condition, second.question.condition)), SCHEMA).canonical
    compared = time.process_time() - before
    assert not timed or spent < 100 * compared * slack()  # 15 times when nothing else runs, 650 times before
