"""The flow without a window: every step, what completes it, and what stands in the way."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

from app import words
from app.flow import (
    BESIDE,
    ROWS_PER_PERSON,
    STEPS,
    State,
    complete,
    following,
    furthest,
    preceding,
    reachable,
    why_not,
)
from engine.methods.parameters import Problem
from engine.methods.protocol import Budget
from engine.release.plan import FileReference, Plan, Purpose
from engine.table.schema import Column, Role, Schema

PEOPLE = Schema((Column("patient", Role.PERSON_KEY), Column("age", Role.IDENTIFYING)))
WHOLE = State(
    plan=Plan(
        method="statistics.counts",
        files={"people": FileReference("people.csv")},
        schemas={"people": PEOPLE},
        budget=Budget(Fraction(1, 2)),
        purpose=Purpose(title="Stays", recipient="University", expires="2027-01-31"),
        holding="Register",
    ),
    results=frozenset({"table", "group_sizes", "forecast", "bundle"}),
)


def without(**changes: object) -> State:
    return replace(WHOLE, plan=replace(WHOLE.plan, **changes))


def test_the_whole_path_is_open_when_nothing_is_missing() -> None:
    for step in STEPS:
        assert complete(step, WHOLE), step
        assert reachable(step, WHOLE), step
    assert furthest(WHOLE) == "report"


def test_an_empty_study_stands_at_load() -> None:
    assert furthest(State()) == "load"
    assert [step for step in STEPS if reachable(step, State())] == ["start", "load"]


def test_each_step_follows_the_one_before() -> None:
    for earlier, later in pairwise(STEPS):
        assert following(earlier) == later
        assert preceding(later) == earlier
    assert preceding("start") is None
    assert following("report") is None


@pytest.mark.parametrize("beside", BESIDE)
def test_what_stands_beside_the_steps_is_always_open(beside: str) -> None:
    assert reachable(beside, State())
    assert preceding(beside) == "start"
    assert following(beside) is None


BROKEN = [
    ("load", "no_file", without(files={})),
    ("load", "not_read", replace(WHOLE, results=WHOLE.results - {"table"})),
    ("columns", "no_columns", without(schemas={})),
    ("columns", "undecided_column", replace(WHOLE, open_questions=frozenset({"column:age"}))),
    (
        "columns",
        "undecided_columns",
        replace(WHOLE, open_questions=frozenset({"column:age", "column:patient"})),
    ),
    (
        "columns",
        "undecided_column",
        without(schemas={"people": PEOPLE.with_column(Column("q7", Role.NOT_RECOGNISED))}),
    ),
    ("columns", "rows_per_person", replace(WHOLE, open_questions=frozenset({ROWS_PER_PERSON}))),
    ("risk", "risk_not_computed", replace(WHOLE, results=WHOLE.results - {"group_sizes"})),
    ("purpose", "purpose_title", without(purpose=Purpose(title=" ", recipient="University"))),
    ("purpose", "purpose_recipient", without(purpose=Purpose(title="Stays"))),
    (
        "purpose",
        "purpose_expires",
        without(purpose=Purpose(title="Stays", recipient="University", expires="31/1/2027")),
    ),
    ("purpose", "no_holding", without(holding="")),
    ("purpose", "no_holding_budget", replace(WHOLE, new_holding=True)),
    ("purpose", "register_question", replace(WHOLE, question="register_question")),
    ("purpose", "key_question", replace(WHOLE, question="key_question")),
    ("method", "no_method", without(method="")),
    ("method", "method_problems", replace(WHOLE, problems=(Problem("parameters.unfilled"),))),
    ("budget", "no_budget", without(budget=None)),
    ("budget", "no_budget", without(budget=Budget(Fraction(0)))),
    ("preview", "not_forecast", replace(WHOLE, results=WHOLE.results - {"forecast"})),
    ("preview", "refused", replace(WHOLE, refused=True)),
    ("release", "not_released", replace(WHOLE, results=WHOLE.results - {"bundle"})),
]


@pytest.mark.parametrize(
    ("step", "reason", "state"), BROKEN, ids=[f"{step}-{why}" for step, why, _ in BROKEN]
)
def test_what_is_missing_stops_at_its_step_with_a_sentence(step: str, reason: str, state: State) -> None:
    found = why_not(step, state)
    assert found is not None and found.id == f"app.flow.{reason}"
    assert words.label(found).endswith(".")
    assert furthest(state) == step
    place = STEPS.index(step)
    assert all(reachable(earlier, state) for earlier in STEPS[: place + 1])
    assert not any(reachable(later, state) for later in STEPS[place + 1 :])


def test_rows_per_person_is_asked_only_where_a_person_key_is_marked() -> None:
    rows = Schema((Column("age", Role.IDENTIFYING),))
    state = replace(WHOLE, plan=WHOLE.plan.with_schema(rows), open_questions=frozenset({ROWS_PER_PERSON}))
    assert complete("columns", state)


def test_a_new_register_with_a_budget_passes() -> None:
    state = replace(without(holding_budget=Budget(Fraction(2))), new_holding=True)
    assert complete("purpose", state)
