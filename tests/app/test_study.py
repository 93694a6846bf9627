"""The study: which result each decision drops, and that nothing stale is ever shown."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.state.study import RESULTS, Study, fingerprint
from engine.methods.protocol import Budget
from engine.pricing.price import Price
from engine.privacy.promise import Neighbours
from engine.release.plan import FileReference, Plan, Purpose
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from tests.examples import many

START = Plan(
    files={"people": FileReference("people.csv")},
    schemas={"people": Schema((Column("patient", Role.PERSON_KEY), Column("age", Role.IDENTIFYING)))},
)

EDITS: dict[str, st.SearchStrategy[Any]] = {
    "method": st.sampled_from(["", "statistics.none", "statistics.other"]),
    "method_version": st.integers(1, 3),
    "files": st.builds(
        lambda path, decimal: {"people": FileReference(path, {"decimal": decimal})},
        st.sampled_from(["a.csv", "b.csv"]),
        st.sampled_from([".", ","]),
    ),
    "schemas": st.builds(
        lambda role, kind, cap, values: {
            "people": Schema(
                (
                    Column("patient", Role.PERSON_KEY),
                    Column("age", role, kind, Domain(values=values), Origin.DECLARED),
                ),
                cap,
            )
        },
        st.sampled_from(list(Role)),
        st.sampled_from(list(Kind)),
        st.integers(1, 4),
        st.sampled_from([("a",), ("a", "b")]),
    ),
    "preparation": st.sampled_from([(), ({"step": "keep"},)]),
    "tried": st.integers(0, 2),
    "also": st.sampled_from([(), ("sav",)]),
    "sample": st.sampled_from([None, Fraction(1, 10)]),
    "parameters": st.sampled_from([{}, {"columns": ["age"]}]),
    "declared_sizes": st.sampled_from([(5,), (5, 20)]),
    "budget": st.sampled_from(
        [None, Budget(Fraction(1, 2)), Budget(Fraction(1, 2), Fraction(0), Neighbours.REPLACE_ONE)]
    ),
    "purpose": st.builds(Purpose, title=st.sampled_from(["", "Stays"])),
    "price": st.builds(Price, people=st.sampled_from([None, 100])),
    "holding": st.sampled_from(["", "Register"]),
    "holding_budget": st.sampled_from([None, Budget(Fraction(2))]),
    "measures": st.sampled_from([(), ("risk.linkage",)]),
    "decisions": st.sampled_from([(), ({"decision": "new"},)]),
    "candidates": st.sampled_from([(), ({"parameters": {"columns": []}},)]),
    "continues": st.sampled_from(["", "e1"]),
    "step": st.sampled_from(["", "visit"]),
    "state": st.sampled_from(["", "state.bin"]),
}


READ = {"detection", "raw", "suggestions"}  # follow from the file alone


def test_every_field_of_a_plan_is_edited_below() -> None:
    assert set(EDITS) == {part.name for part in fields(Plan)}


@settings(max_examples=many(200), deadline=None)
@given(
    st.lists(
        st.sampled_from(sorted(EDITS)).flatmap(lambda name: EDITS[name].map(lambda value: (name, value))),
        max_size=6,
    )
)
def test_a_result_is_kept_exactly_while_its_inputs_are_the_same(edits: list[tuple[str, Any]]) -> None:
    study = Study(START)
    for name in RESULTS:
        assert study.store(name, f"value of {name}", study.plan)
    for field_name, value in edits:
        before = study.plan
        kept = {name for name in RESULTS if study.result(name) is not None}
        told: list[frozenset[str]] = []
        study._listeners = [told.append]
        study.decide(**{field_name: value})
        for name in RESULTS:
            same = fingerprint(name, before) == fingerprint(name, study.plan)
            assert (study.result(name) is not None) == (name in kept and same), name
            # What is dropped is said, so that the page in view can show it.
            if name in kept and not same:
                assert any(name in names for names in told)


@pytest.mark.parametrize(
    ("edit", "dropped"),
    [
        ({"purpose": Purpose(title="Stays")}, {"bundle"}),
        ({"holding": "Register"}, {"ledger", "bundle"}),
        ({"budget": Budget(Fraction(1))}, {"price", "forecast", "promised", "ledger", "trial", "bundle"}),
        ({"parameters": {"columns": ["age"]}}, {"forecast", "promised", "ledger", "trial", "bundle"}),
        (
            {"preparation": ({"step": "keep"},)},
            set(RESULTS) - {"detection", "raw", "suggestions", "part", "looked", "values", "price"},
        ),
        ({"files": {}}, set(RESULTS) - {"price", "promised", "forecast"}),
        ({"price": Price(people=3)}, {"price", "promised", "bundle"}),
        ({"step": "visit"}, {"forecast", "promised", "ledger", "trial", "bundle"}),
        ({"state": "state.bin"}, {"forecast", "promised", "ledger", "trial", "bundle"}),
    ],
)
def test_by_hand_which_decision_drops_what(edit: dict[str, Any], dropped: set[str]) -> None:
    study = Study(START)
    for name in RESULTS:
        study.store(name, name, study.plan)
    study.decide(**edit)
    assert {name for name in RESULTS if study.result(name) is None} == dropped


def test_another_domain_does_not_drop_group_sizes_but_another_role_does() -> None:
    study = Study(START)
    study.store("group_sizes", 260, study.plan)
    age = replace(
        study.plan.schema.column("age"), domain=Domain(values=("a",)), domain_origin=Origin.DECLARED
    )
    study.decide(schemas=study.plan.with_schema(study.plan.schema.with_column(age)).schemas)
    assert study.result("group_sizes") == 260
    age = replace(age, role=Role.SENSITIVE)
    study.decide(schemas=study.plan.with_schema(study.plan.schema.with_column(age)).schemas)
    assert study.result("group_sizes") is None


def test_a_result_for_an_older_plan_is_refused() -> None:
    study = Study(START)
    older = study.plan
    study.decide(budget=Budget(Fraction(1)))
    assert not study.store("forecast", "stale", older)
    assert study.result("forecast") is None
    assert study.store("forecast", "fresh", study.plan)


def test_going_back_to_a_former_decision_does_not_bring_a_result_back() -> None:
    study = Study(START)
    study.store("forecast", "first", study.plan)
    study.decide(budget=Budget(Fraction(1)))
    study.decide(budget=None)
    assert study.result("forecast") is None


def test_no_change_tells_nobody() -> None:
    study = Study(START)
    told: list[frozenset[str]] = []
    study.listen(told.append)
    study.decide(holding="", budget=None)
    study.answer("column:age")
    assert told == []


def test_results_of_several_keys_live_and_go_together() -> None:
    study = Study(START)
    study.store("what_if", 1, study.plan, key="race")
    study.store("what_if", 2, study.plan, key="sex")
    assert (study.result("what_if", "race"), study.result("what_if", "sex")) == (1, 2)
    study.decide(files={})
    assert (study.result("what_if", "race"), study.result("what_if", "sex")) == (None, None)


def test_a_recorded_step_answers_what_was_missing() -> None:
    """A method sees the declarations as the recorded steps leave them, so they decide what is wrong."""
    counts = {"method": "statistics.counts", "parameters": {"columns": ["band"]}}
    study = Study(replace(START, **counts, budget=Budget(Fraction(1))))
    assert [problem.code for problem in study.problems()] == ["parameters.no_such_column"]
    study.decide(preparation=({"step": "bands", "column": "age", "edges": [0, 50, 100], "to": "band"},))
    assert study.problems() == ()


def test_an_unknown_method_is_a_problem_not_a_failure() -> None:
    study = Study(replace(START, method="statistics.nothing_of_this_name"))
    assert [problem.code for problem in study.problems()] == ["plan.unknown_method"]
    assert study.state.problems == study.problems()
