"""The flow without a window: every step, what completes it, and what stands in the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import pytest

from app import words
from app.state.flow import (
    BESIDE,
    ROWS_PER_PERSON,
    STEPS,
    State,
    complete,
    following,
    furthest,
    has_terms,
    only_what_is_read,
    path,
    preceding,
    reachable,
    thresholds,
    why_not,
)
from engine.methods import option
from engine.methods.catalogue import methods
from engine.methods.parameters import Problem
from engine.methods.protocol import Budget, Context, Method, Release, Shape, Source, Spends, Step
from engine.once import once
from engine.privacy.promise import Promise
from engine.release.plan import FileReference, Plan, Purpose
from engine.table.schema import Column, Role, Schema
from engine.table.table import Table


class Chosen(Method):
    """Somebody chooses the level."""

    id = "a.chosen"
    promises = ("pure_dp",)

    @once
    def cost(self) -> Promise:
        raise AssertionError("the flow asks declarations alone")

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        raise AssertionError("the flow asks declarations alone")


class Follows(Chosen):
    """The level follows from parameters."""

    id = "a.follows"
    spends = Spends.FOLLOWS
    promises = ("plausible_deniability",)


class Coarser(Chosen):
    """Nothing is spent; the promise has thresholds."""

    id = "a.coarser"
    spends = Spends.NOTHING
    promises = ("k_anonymity",)

    class Options(option.Options):
        columns: option.Names = option.columns()
        k: int = option.integer()
        width: int = option.integer()


class Bare(Chosen):
    """Nothing is spent and nothing is promised."""

    id = "a.bare"
    spends = Spends.NOTHING
    promises = ("none",)


class Kit(Bare):
    """Reads nothing."""

    id = "a.kit"
    sources: ClassVar = ()


class Second(Chosen):
    """Reads a public table besides."""

    id = "a.second"
    sources = (Source(), Source("register", Shape.PUBLIC), Source("hint", Shape.PUBLIC, required=False))


class Collection(Bare):
    """Reads what others sent, and no table of people."""

    id = "a.collection"
    sources = (Source("reports", Shape.RECEIVED, many=True),)


class Desk(Chosen):
    """Answers in visits."""

    id = "a.desk"
    steps = (Step("visit"),)


PEOPLE = Schema((Column("patient", Role.PERSON_KEY), Column("age", Role.IDENTIFYING)))
WHOLE = State(
    method=Chosen,
    plan=Plan(
        method="a.chosen",
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


BEFORE = ("start", "load", "columns", "risk", "purpose", "method")
PATHS = [
    (None, (*BEFORE, "budget", "preview", "release", "report")),
    (Chosen, (*BEFORE, "budget", "preview", "release", "report")),
    (Follows, (*BEFORE, "terms", "preview", "release", "report")),
    (Coarser, (*BEFORE, "terms", "preview", "release", "report")),
    (Bare, (*BEFORE, "preview", "release", "report")),
    (Kit, ("start", "purpose", "method", "preview", "release", "report")),
    (Second, (*BEFORE, "tables", "budget", "preview", "release", "report")),
    (Collection, ("start", "purpose", "method", "tables", "preview", "release", "report")),
    (Desk, (*BEFORE, "budget", "preview", "release", "visit", "report")),
]
NAMES = ["nothing chosen", *(method.id for method, _ in PATHS[1:])]


def test_every_step_is_on_some_path() -> None:
    compared = State(plan=Plan(candidates=({"parameters": {}},)))
    assert {step for _, steps in PATHS for step in steps} | set(path(compared)) == set(STEPS)


@pytest.mark.parametrize(("method", "steps"), PATHS, ids=NAMES)
def test_the_steps_follow_from_what_the_method_declares(method: Method, steps: tuple[str, ...]) -> None:
    state = replace(WHOLE, method=method)
    assert path(state) == steps
    for earlier, later in pairwise(steps):
        assert following(earlier, state) == later
        assert preceding(later, state) == earlier
    assert preceding("start", state) is None
    assert following("report", state) is None
    for step in set(STEPS) - set(steps):
        assert not reachable(step, state), step


@pytest.mark.parametrize(("method", "steps"), PATHS[1:], ids=NAMES[1:])
def test_the_whole_path_is_open_when_nothing_is_missing(method: Method, steps: tuple[str, ...]) -> None:
    tables = dict.fromkeys(("people", "register", "reports"), PEOPLE)
    state = replace(WHOLE, method=method, plan=replace(WHOLE.plan, schemas=tables))
    for step in steps:
        assert complete(step, state), step
        assert reachable(step, state), step
    assert furthest(state) == "report"


@pytest.mark.parametrize("method", methods(), ids=lambda method: method.id)
def test_a_budget_is_asked_for_exactly_where_somebody_chooses_one(method: Method) -> None:
    steps = path(replace(WHOLE, method=method))
    assert ("budget" in steps) == (method.spends is Spends.CHOSEN)
    assert ("terms" in steps) == has_terms(method)
    assert ("visit" in steps) == bool(method.steps)
    assert ("load" in steps) == any(source.name == "people" for source in method.sources)


def test_an_empty_study_stands_at_load() -> None:
    assert furthest(State()) == "load"
    assert [step for step in STEPS if reachable(step, State())] == ["start", "load"]


def test_begun_without_a_table_the_purpose_comes_first_until_a_method_reads_one() -> None:
    begun = State(without_table=True)
    assert path(begun)[:3] == ("start", "purpose", "method") and furthest(begun) == "purpose"
    assert furthest(replace(begun, method=Chosen)) == "load"
    assert "load" not in path(replace(begun, method=Kit))


def test_a_threshold_is_asked_for_where_the_promise_is_shown() -> None:
    assert [one.name for one in thresholds(Coarser)] == ["k"]
    state = replace(WHOLE, method=Coarser, problems=(Problem("parameters.unfilled", {}, "k"),))
    assert complete("method", state) and furthest(state) == "terms"
    other = replace(state, problems=(Problem("parameters.unfilled", {}, "width"),))
    assert furthest(other) == "method"


def test_what_the_method_does_not_read_has_no_part_in_the_release() -> None:
    files = {name: FileReference(f"{name}.csv") for name in ("people", "reports", "reports.2", "register")}
    step = {"step": "bands", "column": "age"}
    plan = Plan(files=files, schemas=dict.fromkeys(files, PEOPLE), preparation=(step,))
    assert only_what_is_read(plan, None) == plan
    kept = only_what_is_read(plan, Collection)
    assert list(kept.files) == ["reports", "reports.2"] and list(kept.schemas) == ["reports"]
    assert kept.preparation == ()
    assert only_what_is_read(plan, Second).preparation == (step,)
    assert only_what_is_read(plan, Kit).files == {}
    of_farms = plan.with_schema(Schema(protected="farm"))
    assert only_what_is_read(of_farms, Collection).schema.words.one == "farm"  # whose rows others have read


@pytest.mark.parametrize("beside", BESIDE)
def test_what_stands_beside_the_steps_is_always_open(beside: str) -> None:
    assert reachable(beside, State())
    assert preceding(beside, State()) == "start"
    assert following(beside, State()) is None


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
    ("method", "no_method", replace(WHOLE, method=None)),
    ("tables", "no_further_table", replace(WHOLE, method=Second)),
    ("terms", "terms_problems", replace(WHOLE, method=Follows, problems=(Problem("a", {}, "budget"),))),
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
    steps = path(state)
    place = steps.index(step)
    assert all(reachable(earlier, state) for earlier in steps[: place + 1])
    assert not any(reachable(later, state) for later in steps[place + 1 :])


def test_rows_per_person_is_asked_only_where_a_person_key_is_marked() -> None:
    rows = Schema((Column("age", Role.IDENTIFYING),))
    state = replace(WHOLE, plan=WHOLE.plan.with_schema(rows), open_questions=frozenset({ROWS_PER_PERSON}))
    assert complete("columns", state)


@pytest.mark.parametrize("method", [None, Coarser, Bare])
def test_a_new_register_needs_no_budget_while_nothing_is_spent(method: Method | None) -> None:
    assert complete("purpose", replace(WHOLE, method=method, new_holding=True))


def test_a_new_register_with_a_budget_passes() -> None:
    state = replace(without(holding_budget=Budget(Fraction(2))), new_holding=True)
    assert complete("purpose", state)


def test_a_new_register_can_be_spent_to_the_last_and_not_beyond() -> None:
    for total, is_enough in ((Fraction(1), True), (Fraction(1) - Fraction(1, 10**9), False)):
        given = without(holding_budget=Budget(total), budget=Budget(Fraction(1)))
        state = replace(given, new_holding=True)
        found = why_not("budget", state)
        assert complete("budget", state) is is_enough
        assert is_enough or (found is not None and found.id == "app.flow.too_much")
