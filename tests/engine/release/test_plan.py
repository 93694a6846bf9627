"""Plans: the same after writing and reading, refused in words when they are not plans."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from engine import texts
from engine.errors import InputRefused
from engine.methods.protocol import MAIN, Budget
from engine.pricing.price import Price
from engine.release.plan import FileReference, Plan, Purpose
from engine.release.preview import preview_json

SAMPLE = Path(__file__).resolve().parents[3] / "resources" / "sample" / "plan.json"


def test_a_plan_is_the_same_after_writing_and_reading(plan: Plan) -> None:
    assert Plan.loads(plan.dumps()) == plan
    assert Plan.loads(plan.dumps()).fingerprint == plan.fingerprint


def test_the_sample_is_as_the_program_writes_it() -> None:
    assert Plan.read(SAMPLE).dumps() == SAMPLE.read_text(encoding="utf-8")


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(1, 10), Fraction(7), Fraction(1, 10**9)])
def test_budgets_stay_exact(plan: Plan, epsilon: Fraction) -> None:
    changed = replace(plan, budget=Budget(epsilon, Fraction(1, 10**6)))
    assert Plan.loads(changed.dumps()).budget == changed.budget


def test_every_decision_changes_the_fingerprint(plan: Plan) -> None:
    changes = {
        "method": "statistics.means",
        "method_version": 2,
        "files": {},
        "schemas": {},
        "preparation": ({"step": "bands"},),
        "parameters": {"columns": ["ward"]},
        "declared_sizes": (7,),
        "budget": Budget(Fraction(1)),
        "purpose": Purpose(title="Another"),
        "price": Price(people=7),
        "holding": "Another",
        "holding_budget": None,
        "measures": ("m",),
        "decisions": ({"decision": "d"},),
        "continues": "r1",
    }
    prints = {replace(plan, **{name: value}).fingerprint for name, value in changes.items()}
    assert len(prints | {plan.fingerprint}) == len(changes) + 1


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"version": 99}, "plan.newer_version"),
        ({"version": "1"}, "plan.no_version"),
        ({"colour": "blue"}, "plan.unknown_field"),
        ({"budget": {"epsilon": "lots"}}, "document.number"),
        ({"budget": {"epsilon": "1/0"}}, "document.number"),
        ({"budget": {"epsilon": 1, "neighbours": "cousins"}}, "document.word"),
        ({"declared_sizes": [0]}, "document.whole"),
        ({"declared_sizes": 5}, "document.list"),
        ({"declared_sizes": [1] * 101}, "plan.bad_field"),
        ({"files": {"people": {}}}, "document.missing"),
        ({"price": {"people": 0}}, "document.whole"),
        ({"price": {"colour": 1}}, "document.unknown"),
        ({"purpose": {"colour": 1}}, "document.unknown"),
        ({"schemas": {"people": {"version": 9, "columns": []}}}, "schema.newer_version"),
    ],
)
def test_what_is_no_plan_is_said_in_words(plan: Plan, change: dict, code: str) -> None:
    with pytest.raises(InputRefused) as refusal:
        Plan.loads(json.dumps(plan.to_json() | change), file="request.json")
    assert refusal.value.code == code
    what, do = texts.explain(refusal.value)
    assert "request.json" in what
    assert do


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"version": 1, "budget": {"epsilon": NaN}}'])
def test_what_is_no_json_is_said_in_words(text: str) -> None:
    with pytest.raises(InputRefused) as refusal:
        Plan.loads(text, file="request.json")
    assert refusal.value.code in ("plan.not_json", "plan.no_version")


def test_a_plan_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputRefused) as refusal:
        Plan.read(tmp_path / "nothing.json")
    assert refusal.value.code == "plan.not_readable"
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InputRefused):
        Plan.read(tmp_path / "binary.json")


def test_checking_a_plan_names_options_that_its_file_contradicts(plan: Plan, folder: Path) -> None:
    assert preview_json(plan, None, base=folder)["problems"] == []
    options = dict(plan.files[MAIN].options) | {"width": 50}
    wrong = replace(plan, files={MAIN: FileReference("stays.csv", options)})
    (problem,) = preview_json(wrong, None, base=folder)["problems"]
    assert problem["code"] == "table.option_contradicted" and "50" in problem["what"]
    gone = replace(plan, files={MAIN: FileReference("gone.csv", options)})
    assert preview_json(gone, None, base=folder)["problems"][0]["code"] == "table.not_found"
