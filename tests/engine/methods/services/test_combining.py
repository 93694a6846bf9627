"""Answers from all answers: what follows is right, agrees, and is as exact as it says."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from engine.methods.services import combining
from engine.methods.services.asked import MEAN, PEOPLE, QUANTILE, SHARE, SUM, TABLE, Query, Terms, query_of
from engine.methods.services.combining import answer, follow, limits
from engine.methods.services.desk import Measurement
from engine.methods.services.questions import Coded
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from tests.engine.methods.services.test_kinds import SCHEMA as PERSONS
from tests.engine.methods.services.test_kinds import frame, measured
from tests.engine.methods.services.test_kinds import terms as person_terms

DECLARED = Origin.DECLARED
SEX = Column("sex", Role.IDENTIFYING, Kind.CATEGORY, Domain(values=("f", "m")), DECLARED)
WARD = Column("ward", Role.OTHER, Kind.CATEGORY, Domain(values=("a", "b", "c")), DECLARED)
AGE = Column("age", Role.IDENTIFYING, Kind.INTEGER, Domain(Fraction(0), Fraction(9)), DECLARED)
SCHEMA = Schema((SEX, WARD, AGE))
TERMS = Terms(SCHEMA, 1, replace_one=False, by_person=False)
QUERIES = {
    "everybody": Query(SCHEMA),
    "women": Query(SCHEMA, where="sex is f"),
    "others": Query(SCHEMA, where="not sex is f"),
    "old women": Query(SCHEMA, where="sex is f and age >= 5"),
    "women who are not old": Query(SCHEMA, where="sex is f and not age >= 5"),
    "by sex": Query(SCHEMA, by=("sex",)),
    "by ward and sex": Query(SCHEMA, by=("ward", "sex")),
    "old by sex": Query(SCHEMA, where="age >= 5", by=("sex",)),
    "sum": Query(SCHEMA, SUM, value="age"),
    "sum by sex": Query(SCHEMA, SUM, value="age", by=("sex",)),
    "mean of women": Query(SCHEMA, MEAN, where="sex is f", value="age"),
    "mean by sex": Query(SCHEMA, MEAN, value="age", by=("sex",)),
    "share of women": Query(SCHEMA, SHARE, part="sex is f"),
    "share of old": Query(SCHEMA, SHARE, where="sex is f", part="age >= 5"),
    "with an age": Query(SCHEMA, where="age is not missing"),
    "table": Query(SCHEMA, TABLE, cuts=(("sex", ("sex is f",)), ("age", ("age >= 5", "age is missing")))),
}


def rows_of(seed, count=300):
    """Return rows with odd values among them."""
    draw = np.random.default_rng(seed)
    return Coded(
        pd.DataFrame(
            {
                "sex": draw.choice(
                    np.array(["f", "m", "x", None], dtype=object), count, p=[0.5, 0.4, 0.05, 0.05]
                ),
                "ward": draw.choice(np.array(["a", "b", "c", None], dtype=object), count),
                "age": draw.choice([-4.0, 0, 1, 2, 3, 5, 6, 9, 44, np.nan, np.inf, -np.inf], count),
            }
        )
    )


def exactly(query, rows, level=Fraction(1)):
    return Measurement((query,), level, tuple(map(int, query.numbers(rows))), 1)


def noisy(query, rows, level, seed):
    from tests.noise_source import seeded_noise

    found = query.noise(level, TERMS).release(query.numbers(rows), seeded_noise(seed))
    return Measurement((query,), level, tuple(map(int, found)), 1)


def test_what_follows_is_exact_on_every_table():
    """Without noise whatever is said to follow has to be what is counted: brute force over many desks."""
    draw, names = np.random.default_rng(3), list(QUERIES)
    found = 0
    for turn in range(60):
        rows = rows_of(turn, int(draw.integers(1, 60)))
        some = [names[place] for place in draw.choice(len(names), 4, replace=False)]
        known = [exactly(QUERIES[name], rows, Fraction(int(draw.integers(1, 50)), 20)) for name in some]
        for name, how in zip(names, follow(list(QUERIES.values()), known, TERMS), strict=True):
            if how is None:
                continue
            query = QUERIES[name]
            total = combining._numbers(query, how, known)
            assert total == pytest.approx(query.numbers(rows).astype(float), abs=1e-6), (name, some)
            found += name not in some
    assert found > 100  # there is something to be right about


@pytest.mark.parametrize(
    ("name", "known", "follows"),
    [
        ("women", ["by sex"], True),
        ("others", ["everybody", "women"], True),
        ("women", ["old women", "women who are not old"], True),
        ("women", ["by ward and sex"], True),
        ("by sex", ["by ward and sex"], True),
        ("by ward and sex", ["by sex"], False),
        ("sum by sex", ["mean by sex"], True),
        ("with an age", ["mean by sex"], True),
        ("women", ["mean by sex"], False),  # those without an age are not in it
        ("mean of women", ["sum by sex", "women"], False),
        ("share of women", ["by sex"], True),
        ("old women", ["share of old"], True),
        ("share of old", ["old by sex", "women"], True),
        ("table", ["by sex"], False),
        ("women who are not old", ["table"], True),
        ("sum", ["everybody"], False),
    ],
)
def test_what_follows_by_hand(name, known, follows):
    (how,) = follow([QUERIES[name]], [exactly(QUERIES[one], rows_of(1)) for one in known], TERMS)
    assert (how is not None) == follows


def test_weights_are_those_of_the_smallest_variance():
    """Two numbers of one count: by the inverse of their variances, worked out by hand."""
    known = [Measurement((QUERIES["women"],), Fraction(1, 10), (100,), 1)]
    known.append(Measurement((QUERIES["by sex"],), Fraction(2, 10), (130, 50, 0, 0), 1))
    (how,) = follow([QUERIES["women"]], known, TERMS)
    found = answer(QUERIES["women"], how, known, TERMS)
    assert found.values == (pytest.approx((100 * 1 + 130 * 4) / 5),) and found.places == (0, 1)
    alone = answer(QUERIES["women"], follow([QUERIES["women"]], known[1:], TERMS)[0], known[1:], TERMS)
    assert found.within[0] < alone.within[0]


def test_answers_agree_and_get_more_exact():
    rows = rows_of(8)
    asked = [
        "everybody",
        "women",
        "others",
        "by sex",
        "by ward and sex",
        "old women",
        "women who are not old",
    ]
    known = [noisy(QUERIES[name], rows, Fraction(1, 10), place) for place, name in enumerate(asked)]
    said = {
        name: answer(QUERIES[name], how, known, TERMS)
        for name, how in zip(asked, follow([QUERIES[one] for one in asked], known, TERMS), strict=True)
    }
    assert said["women"].values[0] + said["others"].values[0] == pytest.approx(said["everybody"].values[0])
    assert sum(said["by sex"].values) == pytest.approx(said["everybody"].values[0])
    assert sum(said["by ward and sex"].values) == pytest.approx(said["everybody"].values[0])
    parts = said["old women"].values[0] + said["women who are not old"].values[0]
    assert parts == pytest.approx(said["women"].values[0])
    for place, name in enumerate(asked[:4]):
        (how,) = follow([QUERIES[name]], [known[place]], TERMS)
        alone = answer(QUERIES[name], how, [known[place]], TERMS)
        assert said[name].within[0] < alone.within[0] and len(said[name].places) > 1


KNOWN = (
    ("everybody", 1),
    ("women", 1),
    ("by sex", 2),
    ("old by sex", 3),
    ("mean by sex", 4),
    ("sum", 1),
    ("share of old", 1),
)
WANTED = ("women", "others", "old women", "women who are not old", "sum", "mean of women", "share of old")


@pytest.mark.parametrize("at", [TERMS, replace(TERMS, delta=Fraction(1, 10**6))], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("name", WANTED)
def test_margins_of_combined_answers_cover_the_exact_one_in_95_of_100(name, at):
    """1,500 draws of the noise: .95 give or take three standard errors, of a ratio a little more."""
    rows, runs, query = rows_of(4, 2000), 1500, QUERIES[name]
    known = [Measurement((QUERIES[one],), Fraction(share, 10), (), 1) for one, share in KNOWN]
    (how,) = follow([query], known, at)
    assert how is not None and len(how.places) > 1
    exact = [QUERIES[one].numbers(rows) for one, _ in KNOWN]
    perfect = [
        Measurement(one.queries, one.epsilon, tuple(map(int, numbers)), 1)
        for one, numbers in zip(known, exact, strict=True)
    ]
    truth = answer(query, how, perfect, at).values[0]
    draw, inside = np.random.default_rng(11), 0
    scales = [float(one.query.noise(one.epsilon, at).scale) for one in known]
    for _ in range(runs):
        made = []
        for one, numbers, scale in zip(known, exact, scales, strict=True):
            p, size = 1 - np.exp(-1 / scale), len(numbers)
            noise = draw.geometric(p, size) - draw.geometric(p, size)
            if at.is_gaussian:
                noise = np.rint(draw.normal(0, scale, size)).astype(np.int64)
            made.append(Measurement(one.queries, one.epsilon, tuple(map(int, numbers + noise)), 1))
        found = answer(query, how, made, at)
        inside += abs(found.values[0] - truth) <= found.within[0] + 1e-9
    error = 3 * (0.95 * 0.05 / runs) ** 0.5
    assert 0.95 - error <= inside / runs <= 0.95 + error + (0.03 if query.is_pair else 0)


OF_PEOPLE = {
    "women": Query(PERSONS, of=PEOPLE, where="sex is f"),
    "older": Query(PERSONS, of=PEOPLE, where="age >= 1"),
    "older women": Query(PERSONS, of=PEOPLE, where="sex is f and age >= 1"),
    "share of women": Query(PERSONS, SHARE, PEOPLE, "sex is f", part="age >= 1"),
    "everybody": Query(PERSONS, of=PEOPLE),
}
KNOWN_OF_PEOPLE = (("women", 1), ("older", 1), ("share of women", 2), ("older women", 3), ("everybody", 1))


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10**6)], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("replace_one", [False, True], ids=["added", "exchanged"])
@pytest.mark.parametrize("of", ["rows", "people"])
def test_margins_of_sums_of_answers_cover_between_94_and_96_of_100(of, replace_one, delta):
    """40,000 draws: the share has a standard error of .0011, and lies within .94 and .96 without it."""
    if of == "rows":
        queries, levels, wanted, at = QUERIES, KNOWN, WANTED, TERMS
        visits = dict.fromkeys(QUERIES, 1)
    else:  # each in a visit of its own
        queries, levels, wanted, at = OF_PEOPLE, KNOWN_OF_PEOPLE, ("women", "older women"), person_terms()
        visits = {name: visit for visit, name in enumerate(OF_PEOPLE, 1)}
    at = replace(at, replace_one=replace_one, delta=delta)
    draw, runs, noises = np.random.default_rng(12), 40_000, []
    known = [Measurement((queries[name],), Fraction(share, 10), (), visits[name]) for name, share in levels]
    for one in known:
        scale, size = float(one.query.noise(one.epsilon, at).scale), (runs, one.query.size)
        p = 1 - np.exp(-1 / scale)
        laplace = draw.geometric(p, size) - draw.geometric(p, size)
        noises.append(np.rint(draw.normal(0, scale, size)) if at.is_gaussian else laplace)
    nothing = [replace(one, numbers=(0,) * one.query.size) for one in known]
    for query in (queries[name] for name in wanted if not queries[name].is_pair):
        (how,) = follow([query], known, at)
        assert len(how.places) > 1
        within = answer(query, how, nothing, at).within[0]
        off = sum(
            noises[place] @ (np.eye(known[place].query.size) if weights is None else weights)[0]
            for place, weights in how.weights.items()
        )
        assert 0.94 <= (abs(off) * float(query.step) <= within + 1e-9).mean() <= 0.96


def test_a_margin_is_known_before_anything_is_drawn():
    known = [Measurement((QUERIES[name],), Fraction(1, 5), (), 1) for name in ("women", "by sex")]
    (how,) = follow([QUERIES["women"]], known, TERMS)
    drawn = [noisy(one.query, rows_of(1), one.epsilon, 5) for one in known]
    assert limits(QUERIES["women"], how, known, TERMS) == answer(QUERIES["women"], how, drawn, TERMS).within


# --- rows of people, and people ---------------------------------------------------------------------


def test_rows_of_different_visits_are_not_put_together_where_people_have_several():
    at, everybody, women = person_terms(), Query(PERSONS), Query(PERSONS, where="sex is f")
    others = Query(PERSONS, where="not sex is f")
    known = [measured(everybody, Fraction(1), [], at, visit=1), measured(women, Fraction(1), [], at, visit=2)]
    assert follow([others], known, at) == (None,)
    known[1] = measured(women, Fraction(1), [], at, visit=1)
    assert follow([others], known, at)[0].places == (0, 1)


def test_people_of_different_visits_are():
    at, rows = person_terms(), [("p", "f", "a", 1.0), ("p", "f", "b", -2.0), ("q", "f", "b", -1.0)]
    share, old = (
        Query(PERSONS, SHARE, PEOPLE, "sex is f", part="age >= 0"),
        Query(PERSONS, of=PEOPLE, where="sex is f and age >= 0"),
    )
    known = [
        measured(share, Fraction(10**6), rows, at, visit=1),
        measured(old, Fraction(10**6), rows, at, visit=2),
    ]
    (how,) = follow([old], known, at)
    assert how.places == (0, 1) and answer(old, how, known, at).values == (1,)
    assert follow([Query(PERSONS, where="sex is f and age >= 0")], known, at) == (
        None,
    )  # rows are another thing


def test_a_group_in_which_nobody_can_be_is_nobody_without_a_margin():
    query, known = Query(SCHEMA, where="sex is f", by=("sex",)), [exactly(QUERIES["women"], rows_of(3))]
    (how,) = follow([query], known, TERMS)
    found = answer(query, how, known, TERMS)
    assert found.values[1:] == (0, 0, 0) and found.within[1:] == (0, 0, 0) and found.within[0] > 0


# --- limits of the work -----------------------------------------------------------------------------


def test_what_is_too_much_to_combine_keeps_its_own_answer(monkeypatch):
    known = [exactly(QUERIES[name], rows_of(2)) for name in ("women", "by ward and sex", "old by sex")]
    monkeypatch.setattr(combining, "MOST_ATOMS", 6)
    queries = [QUERIES["by ward and sex"], QUERIES["women"], QUERIES["others"]]
    wide, narrow, none = follow(queries, known, TERMS)
    assert wide.places == (1,) and narrow.places == (0,) and none is None
    found = answer(queries[0], wide, known, TERMS)
    assert found.values == tuple(QUERIES["by ward and sex"].numbers(rows_of(2)).tolist())


def test_what_follows_is_found_at_a_desk_with_many_large_tables():
    ages = tuple(
        Query(SCHEMA, where=f"ward is {ward} and not sex is {sex}", by=("age",))
        for ward in "abc"
        for sex in "fm"
    )
    small = tuple(
        Query(SCHEMA, where=f"age >= {age} and sex is {sex}") for age in range(1, 9) for sex in "fm"
    )
    known = [Measurement((query,), Fraction(1, 10), (), 1) for query in (*ages * 12, *small)]
    found = follow([*ages, *small, Query(SCHEMA, where="not age >= 3")], known, TERMS)
    assert None not in found[:-1]


def test_the_same_table_with_its_columns_in_another_order_has_its_own_cells():
    rows = rows_of(5)
    first, second = (query_of({"where": "", "by": by}, SCHEMA) for by in (("ward", "sex"), ("sex", "ward")))
    known = [exactly(first, rows)]
    (how,) = follow([second], known, TERMS)
    assert first.key == second.key
    assert answer(second, how, known, TERMS).values == tuple(second.numbers(rows).tolist())
    (how,) = follow([QUERIES["by ward and sex"]], known, TERMS)  # however it was kept
    found = answer(QUERIES["by ward and sex"], how, known, TERMS).values
    assert found == tuple(QUERIES["by ward and sex"].numbers(rows).tolist())


def test_a_quantile_follows_from_itself_alone():
    query = Query(PERSONS, QUANTILE, value="age", quantile=Fraction(1, 2))
    at = person_terms()
    known = [measured(Query(PERSONS), Fraction(1), [], at), measured(query, Fraction(1), [], at)]
    assert follow([query], known, at)[0].places == (1,)
    assert follow([query], known[:1], at) == (None,)
    assert frame([]).empty
