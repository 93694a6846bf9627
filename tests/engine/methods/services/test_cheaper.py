"""Cheaper ways: what need not be paid for, and what would take less."""

from fractions import Fraction

import pytest

from engine.methods.budget import SMALLEST
from engine.methods.catalogue import method
from engine.methods.conditions import Not, parse, write_condition
from engine.methods.protocol import MAIN
from engine.methods.services.asked import ID, Query
from engine.methods.services.desk import Desk, Measurement, declare_meanings
from engine.privacy.promise import Neighbours
from engine.table.schema import Schema
from tests.engine.methods.services.test_questions import SCHEMA

CONDITIONS = (
    *("", "sex is f", "sex is m", "sex is other", "sex is missing", "sex in (f, m)", "not sex is f"),
    *("band is low", "band at least mid", "sex is f and band is low", "sex is f and not band is low"),
    *("age >= 3", "age < 3", "age is missing", "sex is f or band is low", "sex is m and age >= 3"),
    *("sex is f and age >= 3", "age >= 3 and sex in (f, m)", "not (sex is f or band is low)"),
)
COLUMNS = ("age", "band", "sex")


@pytest.mark.parametrize("where", CONDITIONS)
def test_a_condition_is_written_as_it_was_read(where):
    tree = parse(where)
    assert parse(write_condition(tree)) == tree
    if where:
        assert parse(write_condition(Not(tree))) == Not(tree)


def request(questions, *answers, key=True):
    """Return the request of a visit to a desk that has given these answers."""
    columns = tuple(one for one in SCHEMA.columns if key or one.name != "person")
    schema = Schema(columns, 1)
    opening = method(ID).make_request({MAIN: schema}, {"columns": list(COLUMNS), "questions": 20})
    desk = Desk(declare_meanings(opening, COLUMNS), Fraction(5), Neighbours.ADD_REMOVE, 20)
    for where, by, counts in answers:
        query = Query(desk.schema, where=where, by=by)
        desk = desk.visited((Measurement((query,), Fraction(1, 4), counts, desk.visits + 1),), (query,))
    made = method(ID).make_request({MAIN: schema}, {"questions": questions}, step="visit", state=desk.dumps())
    assert not method(ID)(made).problems
    return made


def ways(questions, *answers, **options):
    found = method(ID)(request(questions, *answers, **options)).cheaper
    return {way.said.id.rsplit(".", 1)[1]: way for way in found}


def test_what_was_answered_is_not_paid_for_again():
    answered = ("", ("sex",), (40, 50, 3, 0))
    asked = [{"where": "sex is m", "epsilon": 0.5}, {"where": "age >= 3", "epsilon": 0.5}]
    found = ways(asked, answered, key=False)["known"]
    assert found.said.values == {"question": 1} and found.epsilon == Fraction(1, 2)
    left = found.given["questions"]
    assert left[0] == {"kind": "count", "of": "rows", "where": "sex is m"} and left[1]["epsilon"] == 0.5
    assert method(ID)(request(left, answered, key=False)).takes_each == (0, Fraction(1, 2))


def test_answers_of_two_visits_are_put_together_only_where_rows_are_people():
    answers = (("sex is f", (), (40,)), ("", (), (93,)))
    asked = [{"where": "not sex is f", "epsilon": 0.5}]
    assert "known" not in ways(asked, *answers)  # each visit draws anew which rows of a person count
    assert ways(asked, *answers, key=False)["known"].epsilon == 0


def test_half_the_level_or_twice_the_margin():
    found = ways([{"where": "sex is f", "margin": 10}, {"where": "age >= 3", "epsilon": 0.5}])["wider"]
    first, second = found.given["questions"]
    assert (first["margin"], second["epsilon"]) == (20, 0.25) and "epsilon" not in first
    assert found.epsilon == sum(method(ID)(request([first, second])).takes_each)
    smallest = {"where": "sex is f", "epsilon": str(SMALLEST)}
    assert "wider" not in ways([smallest])  # there is nothing below it


def test_a_question_that_follows_from_another_of_the_visit():
    found = ways([{"where": "sex is f", "epsilon": 0.5}, {"by": ["sex"], "epsilon": 0.5}])["follows"]
    assert found.said.values == {"question": 1} and found.epsilon == Fraction(1, 2)
    assert method(ID)(request(found.given["questions"])).takes_each == (0, Fraction(1, 2))
    free = ("sex is f", (), (40,))
    assert method(ID)(request([{"where": "sex = f"}, {"epsilon": 1}], free)).takes_each == (0, 1)
