"""The planner: no question less exact than alone, for much less; what is paid is what the tables lose."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.conditions import write_condition
from engine.methods.protocol import MAIN, Budget, Context
from engine.methods.services import asked as asked_module
from engine.methods.services.asked import ID, MOST_TOGETHER, SHARE, Query, Terms, Together
from engine.methods.services.combining import follow, limits, variances
from engine.methods.services.planning import Wanted, plan_for
from engine.methods.services.questions import NOWHERE, Coded
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.noise_source import seeded_noise

DECLARED = Origin.DECLARED
LISTED = {"sex": ("f", "m"), "ward": tuple("abcd"), "back": ("no", "late", "early"), "drug": ("yes", "no")}
SCHEMA = Schema(
    (
        *(
            Column(name, Role.OTHER, Kind.CATEGORY, Domain(values=some), DECLARED)
            for name, some in LISTED.items()
        ),
        Column("age", Role.OTHER, Kind.INTEGER, Domain(Fraction(0), Fraction(110)), DECLARED),
        Column("stay", Role.OTHER, Kind.INTEGER, Domain(Fraction(1), Fraction(14)), DECLARED),
    )
)
TERMS = Terms(SCHEMA, 1, replace_one=False, by_person=False)
TYPICAL = (
    *(
        "",
        "sex is f",
        "sex is m",
        "age >= 65",
        "age >= 80",
        "sex is f and age >= 65",
        "sex is m and age >= 65",
    ),
    *(
        "ward is a",
        "ward in (a, b)",
        "ward is a and age >= 65",
        "back is early",
        "back is early and age >= 65",
    ),
    *("back is early and sex is f", "stay >= 7", "stay >= 7 and age >= 65", "stay >= 7 and back is early"),
    *(
        "drug is yes",
        "drug is yes and age >= 65",
        "drug is yes and back is early",
        "ward is b and back is early",
    ),
)


def wanted(conditions, level=Fraction(1, 20)):
    return [Wanted(Query(SCHEMA, where=where), level) for where in conditions]


def deviation(asked, plan):
    """Return the root of the mean variance of the questions, at ε = 1 in all."""
    found = follow([one.query for one in asked], plan, TERMS)
    all_of_them = [variances(one.query, how, plan, TERMS) for one, how in zip(asked, found, strict=True)]
    return float(np.sqrt(np.mean(np.concatenate(all_of_them)))) * float(sum(one.epsilon for one in plan))


def test_twenty_typical_questions():
    """Alone at ε = 1 in all each is off by 28 (standard deviation); together by less than 8."""
    asked = wanted(TYPICAL)
    plan = plan_for(asked, TERMS, visit=1)
    assert len(plan) <= 5 and deviation(asked, plan) < 8
    assert sum(one.epsilon for one in plan) < Fraction(2, 5)
    assert [one.questions for one in plan] == [20, *[0] * (len(plan) - 1)]


def test_with_a_delta_no_question_is_less_exact_and_squares_are_what_is_made_small():
    asked, at = wanted(TYPICAL, Fraction(1, 10)), replace(TERMS, delta=Fraction(1, 10**6))
    plan = plan_for(asked, at, visit=1)
    found = follow([one.query for one in asked], plan, at)
    for one, how in zip(asked, found, strict=True):
        alone = float(one.query.noise(one.alone, at).scale) ** 2
        assert variances(one.query, how, plan, at).max() <= alone * (1 + 1e-6)
    apart, together = (
        at.takes(levels) for levels in ([one.alone for one in asked], [p.epsilon for p in plan])
    )
    assert together < apart / 2
    assert at.together(one.epsilon for one in plan) < Fraction(3, 5) * at.together(one.alone for one in asked)


def random_conditions(seed, count=20):
    draw = np.random.default_rng(seed)
    parts = [f"{name} is {value}" for name, some in LISTED.items() for value in some]
    parts += ["age >= 65", "age < 18", "stay >= 7", "stay <= 2", "ward in (c, d)", "not back is no"]
    found = set()
    while len(found) < count:
        where = " and ".join(sorted(draw.choice(parts, int(draw.integers(1, 4)), replace=False)))
        if Query(SCHEMA, where=where).question.canonical != NOWHERE:
            found.add(where)
    return sorted(found)


@pytest.mark.parametrize("seed", range(6))
def test_no_question_is_less_exact_than_alone(seed):
    """Whatever is asked, how exactly, and whatever else: by variance and by margin."""
    draw = np.random.default_rng(seed)
    asked = [
        Wanted(Query(SCHEMA, where=where), Fraction(int(draw.integers(1, 9)), 100))
        for where in random_conditions(seed, 12)
    ]
    asked += [
        Wanted(Query(SCHEMA, by=("ward",), where="age >= 65"), Fraction(1, 20)),
        Wanted(Query(SCHEMA, SHARE, where="stay >= 7", part="sex is f"), Fraction(1, 30)),
    ]
    plan = plan_for(asked, TERMS, visit=1)
    assert plan and sum(one.epsilon for one in plan) < sum(one.alone for one in asked)
    for one, how in zip(asked, follow([one.query for one in asked], plan, TERMS), strict=True):
        alone = 2 * float(one.query.noise(one.alone, TERMS).scale) ** 2
        assert (variances(one.query, how, plan, TERMS) <= alone * (1 + 1e-6)).all()
        if not one.query.is_pair:
            assert max(limits(one.query, how, plan, TERMS)) <= one.query.limit(one.alone, TERMS) + 1


@pytest.mark.parametrize("seed", range(4))
def test_a_random_list_takes_less_than_half(seed):
    asked = wanted(random_conditions(seed))
    plan = plan_for(asked, TERMS, visit=1)
    assert sum(one.epsilon for one in plan) < Fraction(1, 2)


def test_what_gains_nothing_is_not_planned():
    assert plan_for(wanted(["sex is f"]), TERMS, visit=1) == ()
    apart = [*wanted(["sex is f"], Fraction(1, 2)), *wanted(["age >= 65"], Fraction(1, 100))]
    assert plan_for(apart, TERMS, visit=1) == ()  # as one table they would need √2 · 1/2


# --- at the desk ------------------------------------------------------------------------------------


def visited(questions, rows, *, planned=True, seed=1):
    """Return the design of a visit to a new desk, and its release."""
    desk = method(ID)
    opening = desk.make_request(
        {MAIN: SCHEMA},
        {"columns": [one.name for one in SCHEMA.columns], "questions": 30},
        budget=Budget(Fraction(10**4)),
    )
    state = desk(opening).run({}, Context(seeded_noise(1), None, Path("unused"))).state
    given = {"questions": questions, "planned": planned}
    design = desk(desk.make_request({MAIN: SCHEMA}, given, step="visit", state=state))
    assert not design.problems
    noise = seeded_noise(seed)
    return (
        design,
        design.step("visit", {MAIN: Table(rows)}, state, Context(noise, None, Path("unused"))),
        noise,
    )


def people(count=400):
    draw = np.random.default_rng(1)
    columns = {name: draw.choice(np.array([*some, "?"]), count) for name, some in LISTED.items()}
    ages = {
        "age": draw.integers(0, 111, count).astype(float),
        "stay": draw.integers(1, 15, count).astype(float),
    }
    return pd.DataFrame(columns | ages)


def test_a_planned_visit_pays_for_its_tables_and_answers_every_question():
    questions = [{"where": where, "epsilon": "1/20"} for where in TYPICAL]
    questions += [{"kind": "mean", "value": "age", "epsilon": "1/50"}, {"where": "sex is f"}]
    design, release, noise = visited(questions, people())
    tables = design.plan
    assert sum(one.epsilon for one in tables) + Fraction(1, 50) == design.cost.loss.epsilon
    assert noise.counted == design.cost.drawn() and sum(design.takes_each) == design.cost.loss.epsilon
    frame = release.artefacts[0].frame
    assert frame["question"].tolist() == list(range(1, 23)) and frame["answer"].notna().all()
    by_words = dict(zip(frame["where"], frame["answer"], strict=True))
    assert by_words["sex is f and age >= 65"] <= by_words["age >= 65"] + 100
    assert sum(map(Fraction, release.artefacts[1].frame["epsilon"])) == design.stated.loss.epsilon
    alone = visited(questions, people(), planned=False)[0]
    assert alone.cost.loss.epsilon > 2 * design.cost.loss.epsilon


@pytest.mark.parametrize("planned", [True, False])
def test_margins_that_are_said_before_are_those_of_the_answers(planned):
    """Of every question, alone and from the tables of a plan; none of what hangs on what is answered."""
    questions = [{"where": where, "epsilon": "1/20"} for where in TYPICAL]
    questions += [{"by": ["ward"], "where": "age >= 65", "epsilon": "1/20"}]
    questions += [{"kind": "sum", "value": "age", "where": "sex is f", "epsilon": "1/50"}]
    unsaid = [{"kind": SHARE, "where": "ward is a", "part": "sex is f", "epsilon": "1/20"}]
    unsaid += [{"kind": "quantile", "value": "age", "quantile": "1/2", "epsilon": "1/50"}]
    design, release, _ = visited([*questions, *unsaid], people(), planned=planned)
    answered = release.artefacts[0].frame.groupby("question")["within_95"].max().astype(float).tolist()
    *said, of_a_share, of_a_quantile = design.within_each
    assert bool(design.plan) is planned and said == pytest.approx(answered[: len(questions)])
    assert of_a_share is of_a_quantile is None
    ways = [way.said for way in design.cheaper if way.said.id.endswith("together_within")]
    assert len(ways) == (not planned)
    for way in ways:
        counted = [one.query for one in design.asked][: len(TYPICAL) + 1]
        alone = max(query.limit(Fraction(1, 20), TERMS) for query in counted)
        assert way.values["alone"] == pytest.approx(alone, abs=0.5)
        assert max(said[:-1]) == pytest.approx(alone) and way.values["within"] <= alone + 1


def asked_at(state, questions, *, planned):
    """Return the design of a further visit to a desk."""
    given = {"questions": questions, "planned": planned}
    design = method(ID)(method(ID).make_request({MAIN: SCHEMA}, given, step="visit", state=state))
    assert not design.problems
    return design


@pytest.mark.parametrize("exact", [{"epsilon": "1/20"}, {"margin": 60}])
@pytest.mark.parametrize("planned", [True, False])
def test_what_a_plan_answered_is_free_in_any_words_and_only_what_is_more_exact_is_paid_for(exact, planned):
    questions = [{"where": where, **exact} for where in TYPICAL]
    questions += [{"kind": SHARE, "where": "ward is a", "part": "sex is f", "epsilon": "1/20"}]
    state = visited(questions, people())[1].state
    again = asked_at(state, questions, planned=planned)
    assert again.cost.loss.epsilon == 0 == sum(again.takes_each) and again.plan == again.new == ()
    other = [{"where": "age > 64 and not (sex is m or sex is missing or sex is other)", **exact}]
    assert asked_at(state, other, planned=planned).cost.loss.epsilon == 0
    less = [{**one, **({"epsilon": "1/21"} if "epsilon" in one else {"margin": 61})} for one in questions]
    assert asked_at(state, less, planned=planned).cost.loss.epsilon == 0
    more = [{"where": "sex is f and age >= 65", "epsilon": 2}]
    assert asked_at(state, more, planned=planned).cost.loss.epsilon == 2


def test_answers_of_a_plan_are_the_exact_ones_where_there_is_next_to_no_noise():
    rows = people()
    questions = [{"where": where, "epsilon": 100} for where in (*TYPICAL, "sex is other and not ward is a")]
    frame = visited(questions, rows)[1].artefacts[0].frame
    found = dict(zip(frame["where"], frame["answer"].astype(float), strict=True))
    assert found[""] == pytest.approx(len(rows), abs=0.6)
    exact = ((rows["sex"] == "f") & (rows["age"] >= 65)).sum()
    assert found["sex is f and age >= 65"] == pytest.approx(exact, abs=0.6)
    other = ((rows["sex"] == "?") & (rows["ward"] != "a")).sum()
    assert found["sex is other and not ward is a"] == pytest.approx(other, abs=0.6)


def counted(schema, query, rows, many):
    """Return what a table counts, row by row from the condition of each of its cuts."""
    flat = np.zeros(many, dtype=int)
    for side in query.sides:
        held = [Query(schema, where=write_condition(one)).question.mask(rows) for one in side.cuts]
        flat = flat * side.size + [side.classes[tuple(one)] for one in np.array(held).T.tolist()]
    return np.bincount(flat, minlength=query.size)


@pytest.mark.parametrize("most", [MOST_TOGETHER, 200, 30])
def test_tables_that_are_counted_in_one_pass_are_those_that_are_counted_by_hand(most, monkeypatch):
    """However many groups may be made: of cells of axes, of cells of tables, or of each table alone."""
    monkeypatch.setattr(asked_module, "MOST_TOGETHER", most)
    chance = np.random.default_rng(3)
    frame = pd.DataFrame({name: chance.choice([*some, "odd", None], 900) for name, some in LISTED.items()})
    frame["age"] = chance.choice([*map(str, range(-5, 120)), "", None], 900)
    frame["stay"] = chance.choice([*map(str, range(16)), None], 900)
    plan = plan_for(wanted(TYPICAL), TERMS, visit=1)
    tables = [one.query for one in plan]
    rows = Coded(frame)
    for query, found in zip(tables, Together(tuple(tables)).count(rows), strict=True):
        assert (found == counted(SCHEMA, query, rows, len(frame))).all() and found.sum() == len(frame)
        assert (found == query.numbers(rows)).all()


def test_numbers_of_every_kind_of_line_are_in_the_cell_that_a_condition_says():
    """Steps that are no whole ones, a grid that ends before its bound, none at all, days, listed numbers."""

    def column(name, kind, *bounds, values=None):
        return Column(name, Role.OTHER, kind, Domain(*bounds, values=values), DECLARED)

    schema = Schema(
        (
            column("dose", Kind.NUMBER, Fraction(-1), Fraction(1), Fraction(1, 4)),
            column("odd", Kind.NUMBER, Fraction(1, 10), Fraction(2), Fraction(3, 10)),
            column("fine", Kind.NUMBER, Fraction(0), Fraction(10**6), Fraction(1, 1000)),
            column("open", Kind.NUMBER, Fraction(0), Fraction(1)),
            column("day", Kind.DATE, "2024-01-01", "2024-12-31"),
            column("score", Kind.INTEGER, values=("1", "2", "10")),
        )
    )
    tables = [
        Query(schema, kind="table", cuts=cuts)
        for cuts in (
            (("dose", ("dose > 0.1", "dose is missing", "dose <= -1")), ("odd", ("odd >= 1", "odd < 1.9"))),
            (
                ("fine", ("fine above 12.0004", "fine is missing")),
                ("open", ("open >= 0.5", "open above 0.5")),
            ),
            (("day", ("day >= 2024-03-01", "day is missing")), ("score", ("score is 10", "score is other"))),
            (("odd", ("odd is missing", "odd is 0.4")), ("day", ("day above 2024-11-30",))),
        )
    ]
    chance = np.random.default_rng(4)
    odd = ["", "x", "nan", "-9", "1e9"]
    frame = pd.DataFrame(
        {
            "dose": chance.choice([*map(str, np.arange(-1.5, 1.6, 0.125)), *odd], 700),
            "odd": chance.choice([*(f"{number:.2f}" for number in np.arange(0, 2.3, 0.05)), *odd], 700),
            "fine": chance.choice(["12.0004", "12", "12.001", "13", "1000000", *odd], 700),
            "open": chance.choice(["0", "0.5", "0.50001", "1", "0.49", *odd], 700),
            "day": chance.choice(
                ["2024-02-29", "2024-03-01", "2024-12-01", "2023-01-01", "2025-01-01", ""], 700
            ),
            "score": chance.choice(["1", "2", "10", "3", ""], 700),
        }
    )
    rows = Coded(frame)
    for query, found in zip(tables, Together(tuple(tables)).count(rows), strict=True):
        assert (found == counted(schema, query, rows, len(frame))).all() and found.sum() == len(frame)
        assert np.count_nonzero(found) > 3, "there is something in the cells"
