"""Every kind of question: by hand, its loss on neighbours of every sort, its margin against many draws."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.methods.services.asked import (
    ABOVE,
    MEAN,
    PEOPLE,
    QUANTILE,
    ROWS,
    SHARE,
    SUM,
    TABLE,
    Query,
    Terms,
    level_for,
    query_of,
)
from engine.methods.services.combining import answer, follow
from engine.methods.services.desk import Desk, Measurement
from engine.methods.services.questions import Coded
from engine.privacy.promise import Neighbours
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from tests.noise_source import seeded_noise

DECLARED, DELTA = Origin.DECLARED, Fraction(1, 10**6)
SEX = Column("sex", Role.IDENTIFYING, Kind.CATEGORY, Domain(values=("f", "m")), DECLARED)
WARD = Column("ward", Role.OTHER, Kind.CATEGORY, Domain(values=("a", "b", "c")), DECLARED)
AGE = Column("age", Role.IDENTIFYING, Kind.INTEGER, Domain(Fraction(-3), Fraction(5)), DECLARED)
PERSON = Column("person", Role.PERSON_KEY, Kind.TEXT)
SCHEMA = Schema((SEX, WARD, AGE, PERSON), 2)
ROW_SCHEMA = Schema((SEX, WARD, AGE))
CUTS = (("sex", ("sex is f",)), ("age", ("age at least 0", "age is missing")))
QUERIES = {
    "count": Query(SCHEMA, where="sex is f"),
    "counts": Query(SCHEMA, where="age >= 0", by=("sex", "ward")),
    "sum": Query(SCHEMA, SUM, where="sex is f", value="age"),
    "sums": Query(SCHEMA, SUM, value="age", by=("ward",)),
    "mean": Query(SCHEMA, MEAN, where="ward is not a", value="age"),
    "means": Query(SCHEMA, MEAN, value="age", by=("sex",)),
    "share": Query(SCHEMA, SHARE, where="sex is f", part="age >= 2 or ward is b"),
    "shares": Query(SCHEMA, SHARE, part="age >= 2", by=("ward",)),
    "table": Query(SCHEMA, TABLE, cuts=CUTS),
    "people": Query(SCHEMA, of=PEOPLE, where="sex is f and age >= 1"),
    "share of people": Query(SCHEMA, SHARE, PEOPLE, "sex is f", part="age >= 1"),
}
VALUES = (["f", "m", "x", None], ["a", "c", "?", None], [-9.0, -3.0, 0.0, 2.0, 7.0, np.nan, np.inf])
EVERY_ROW = list(product(*VALUES))


def frame(rows):
    """Return rows of (person, sex, ward, age) as a table."""
    columns = list(zip(*rows, strict=True)) if rows else [[], [], [], []]
    names = ("person", "sex", "ward", "age")
    kinds = (object, object, object, float)
    return pd.DataFrame(
        {
            name: pd.Series(list(part), dtype=kind)
            for name, part, kind in zip(names, columns, kinds, strict=True)
        }
    )


def numbers(query, rows):
    return query.numbers(Coded(frame(rows))).astype(object)


def terms(*, rows=2, replace_one=False, by_person=True, delta=Fraction(0)):
    return Terms(SCHEMA if by_person else ROW_SCHEMA, rows, replace_one, by_person, delta)


# --- by hand ----------------------------------------------------------------------------------------

BY_HAND = [
    ("p", "f", "a", 2.0), ("p", "f", "b", np.nan), ("q", "m", "b", -9.0),
    ("r", "f", "c", 5.0), ("r", "m", "c", 9.0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("count", [3]),
        ("sum", [2 + 5]),
        ("sums", [2, -3, 5 + 5, 0, 0]),
        # ward is not a: ages −3, 5, 5 above −3 and below 5
        ("mean", [0 + 8 + 8, 8 + 0 + 0]),
        ("share", [3, 0]),
        ("table", [0, 2, 1, 1, 1, 0]),
        ("people", [2]),
        ("share of people", [2, 0]),
    ],
)
def test_numbers_by_hand(name, expected):
    assert numbers(QUERIES[name], BY_HAND).tolist() == expected


def measured(query, epsilon, rows, at, *, seed=1, visit=1):
    """Return a measurement with noise."""
    noise = seeded_noise(seed)
    exact = query.numbers(Coded(frame(rows)))
    if query.kind == QUANTILE:
        found = query.chosen(exact, epsilon, at, noise)
    else:
        found = query.noise(epsilon, at).release(exact, noise)
    return Measurement((query,), epsilon, tuple(map(int, found)), visit)


def answered(query, known, at):
    (how,) = follow([query], known, at)
    return answer(query, how, known, at)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("count", [3]),
        ("sum", [7]),
        ("mean", [7 / 3]),
        ("share", [1]),
        ("people", [2]),
        ("share of people", [1]),
    ],
)
def test_answers_with_next_to_no_noise_are_the_exact_ones(name, expected):
    found = answered(QUERIES[name], [measured(QUERIES[name], Fraction(10**6), BY_HAND, terms())], terms())
    assert list(found.values) == pytest.approx(expected) and max(found.within) < 1e-2


def test_a_quantile_is_a_value_of_the_grid_near_it():
    query = Query(SCHEMA, QUANTILE, value="age", quantile=Fraction(1, 2), by=("sex",))
    rows = [("p", "f", "a", float(n % 9 - 3)) for n in range(90)] + [("q", "m", "a", 4.0)] * 30
    found = answered(query, [measured(query, Fraction(1000), rows, terms())], terms())
    assert found.values[:2] == (1, 4) and found.within[0] <= 1
    assert all(-3 <= value <= 5 for value in found.values)


# --- loss -------------------------------------------------------------------------------------------


def neighbours(rows_per_person):
    """Give what a person may add: every single row, and several rows that differ."""
    for row in EVERY_ROW:
        yield [row]
    draw = np.random.default_rng(5)
    for _ in range(150):
        yield [EVERY_ROW[place] for place in draw.integers(len(EVERY_ROW), size=rows_per_person)]
    for row in EVERY_ROW[::3]:
        yield [row] * rows_per_person


@pytest.mark.guarantee
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.at_once] if one == "mean" else []) for one in QUERIES]
)
@pytest.mark.parametrize("replace_one", [False, True])
def test_what_a_person_moves_is_what_is_claimed_and_no_more(name, replace_one):
    """Whatever is in their rows, in every column; and somebody moves as much."""
    query, at = QUERIES[name], terms(replace_one=replace_one)
    cap = 6 if query.of == PEOPLE else 2  # of people all rows are read
    others = [(f"o{place}", *row) for place, row in enumerate(EVERY_ROW[::5])]
    base = numbers(query, others)
    moved = [numbers(query, [*others, *(("new", *row) for row in rows)]) - base for rows in neighbours(cap)]
    found = [np.abs(one).sum() for one in moved]
    if replace_one:
        far = [one for one in moved if np.abs(one).sum() == max(found)][:40] + moved[:20]
        found += [np.abs(one - other).sum() for one in far for other in moved]
    claimed = query.sensitivity(at)
    assert max(found) <= claimed
    single = query.size == 1 and replace_one and name == "count"  # whoever goes and whoever comes: one number
    assert max(found) == (claimed // 2 if single else claimed)
    squares = [int((one.astype(object) ** 2).sum()) for one in moved]
    if replace_one:
        far = [moved[place] for place in np.argsort(squares)[-40:]] + moved[:20]
        squares += [int(((one - other).astype(object) ** 2).sum()) for one in far for other in moved]
    assert max(squares) == query.squared_sensitivity(at)


@pytest.mark.parametrize("name", [*QUERIES, "quantile"])
def test_the_event_of_a_question_costs_its_level(name):
    quantile = Query(SCHEMA, QUANTILE, value="age", quantile=Fraction(1, 4), by=("sex",))
    query = quantile if name == "quantile" else QUERIES[name]
    for replace_one in (False, True):
        at = terms(replace_one=replace_one)
        assert query.event(Fraction(2, 7), at).epsilon() == Fraction(2, 7)
        found = query.event(Fraction(2, 7), replace(at, delta=DELTA))
        assert found.concentrated() == Fraction(2, 7) ** 2 / 2
        assert (found.epsilon() is None) == query.is_linear


def test_a_pair_that_forgot_the_value_would_be_seen():
    """A mean by its sum and a count moves by more than the range: what the claim of the pair excludes."""
    query, at = QUERIES["mean"], terms()
    broken = [np.array([int(6 + row[2]), 1]) for row in EVERY_ROW if row[2] == row[2] and abs(row[2]) < 6]
    assert max(np.abs(one).sum() for one in broken) * at.rows > query.sensitivity(at)


# --- margins ----------------------------------------------------------------------------------------


@pytest.mark.at_once
@pytest.mark.parametrize("delta", [Fraction(0), DELTA])
@pytest.mark.parametrize("name", ["count", "sum", "mean", "share", "people", "share of people"])
def test_margins_cover_the_exact_answer_in_95_of_100(name, delta):
    rows = [(f"p{place}", *EVERY_ROW[place % len(EVERY_ROW)]) for place in range(900)]
    query, epsilon, at = QUERIES[name], Fraction(1, 10), terms(delta=delta)
    numbers, noise = query.numbers(Coded(frame(rows))), query.noise(epsilon, at)

    def told(released):
        return answered(query, [Measurement((query,), epsilon, tuple(map(int, released)), 1)], at)

    exact = told(numbers).values[0]
    inside, runs, door = 0, 600, seeded_noise(3)
    for _ in range(runs):
        found = told(noise.release(numbers, door))
        inside += abs(found.values[0] - exact) <= found.within[0] + 1e-9
    assert 0.925 <= inside / runs <= (1 if query.is_pair else 0.985)


@pytest.mark.parametrize(
    ("name", "margin", "size"), [("sum", 40, None), ("mean", 1, 500), ("share", "1/20", 500)]
)
def test_a_margin_buys_the_smallest_level_that_keeps_it(name, margin, size):
    query, at = QUERIES[name], terms()
    level = level_for(Fraction(margin), lambda one: query.limit(one, at, size=size))
    assert query.limit(level, at, size=size) <= float(Fraction(margin)) * (1 + 1e-9)
    assert query.limit(level * Fraction(99, 100), at, size=size) > float(Fraction(margin))


# --- fingerprints and memory ------------------------------------------------------------------------


def test_the_same_question_has_one_key_in_ten_wordings():
    def key(**said):
        return query_of({"where": "", **said}, SCHEMA).key

    same = [
        {"where": "sex is f", "by": ("ward", "sex")}, {"where": "sex = f", "by": ("sex", "ward")},
        {"where": "not (sex is m or sex is other or sex is missing)", "by": ("ward", "sex"), "of": ROWS},
        {"where": "sex in (f)", "by": ("sex", "ward"), "kind": "count", "quantile": Fraction(1, 2)},
    ]  # fmt: skip
    assert len({key(**one) for one in same}) == 1
    shares = [
        {"kind": SHARE, "where": "age >= 0", "part": "sex is f"},
        {"kind": SHARE, "where": "not age < 0 and not age is missing", "part": "sex is f or age is missing"},
    ]
    assert len({key(**one) for one in shares}) == 1
    others = [
        {}, {"of": PEOPLE}, {"kind": SUM, "value": "age"}, {"kind": MEAN, "value": "age"},
        *same[:1], *shares[:1],
        {"kind": QUANTILE, "value": "age", "quantile": Fraction(1, 2)},
        {"kind": QUANTILE, "value": "age", "quantile": Fraction(1, 3)},
        {"kind": ABOVE, "threshold": 3}, {"kind": ABOVE, "threshold": 4},
        {"kind": ABOVE, "threshold": 4, "of": PEOPLE},
    ]  # fmt: skip
    assert len({key(**one) for one in others}) == len(others)


@pytest.mark.parametrize(
    "query", [*QUERIES.values(), query_of({"where": "", "kind": ABOVE, "threshold": 3}, SCHEMA)]
)
def test_a_question_is_remembered_as_it_was_asked(query):
    tree = json.loads(json.dumps(query.to_json()))
    assert Query.from_json(tree, "query", SCHEMA) == query


@pytest.mark.parametrize(
    ("query", "code"),
    [
        (Query(SCHEMA, of=PEOPLE, by=("sex",)), "people_by"),
        (Query(SCHEMA, SHARE, where="sex is f", part="not sex is m"), "whole_share"),
        (Query(SCHEMA, SHARE, where="sex is f", part="sex is m"), "nobody"),
        (Query(SCHEMA, SUM, value="ward"), "no_bounds"),
        (Query(SCHEMA, QUANTILE, value="age", quantile=Fraction(1)), "not_a_quantile"),
    ],
)
def test_what_cannot_be_answered_is_refused_on_declarations(query, code):
    with pytest.raises(InputRefused) as refused:
        query.refuse(("sex", "ward", "age"), terms())
    assert refused.value.code.endswith(code)


def test_people_are_counted_only_where_it_is_said_whose_a_row_is():
    with pytest.raises(InputRefused, match="no_people"):
        Query(ROW_SCHEMA, of=PEOPLE).refuse(("sex",), terms(by_person=False))


FIRST = """{"version": 1, "declared": {"columns": [
 {"name": "sex", "kind": "category", "domain": {"values": ["f", "m"]},
 "domain_origin": "declared"}], "person_key": ["person"], "rows_per_person": 2, "preparation": []},
 "epsilon": "1/2", "neighbours": "replace_one", "questions": 5, "visits": 2, "answers": [
 {"key": "x", "where": "sex is f", "by": null, "epsilon": "1/8", "counts": [21], "visit": 1},
 {"key": "y", "where": "", "by": "sex", "epsilon": "1/16", "counts": [20, 17, 1, 0], "visit": 2}],
 "closed": false}"""


def test_a_desk_of_the_first_version_is_read():
    desk = Desk.loads(FIRST.encode())
    assert (desk.left, desk.paid, desk.neighbours) == (Fraction(5, 16), 2, Neighbours.REPLACE_ONE)
    assert [one.numbers for one in desk.measured] == [(21,), (20, 17, 1, 0)]
    assert [one.query.noise(one.epsilon, desk.terms).scale for one in desk.measured] == [4 * 8, 4 * 16]
    found = answered(replace(desk.asked[0], where="sex = f"), desk.measured, desk.terms)
    assert found.values == (21,) and found.places == (0,)  # another visit's rows are others
    assert Desk.loads(desk.dumps()) == desk


@pytest.mark.parametrize(
    "change",
    [
        ("[21]", "[21, 3]"),
        ('"1/8"', '"-1/8"'),
        ('"sex is f"', '"age is 3"'),
        ('"visits": 2', '"visits": 2.5'),
    ],
)
def test_a_state_that_does_not_fit_itself_is_no_state(change):
    assert Desk.loads(FIRST.replace(*change).encode()) is None
