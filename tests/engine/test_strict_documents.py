"""Every document that is read back: each of its fields with values of every other kind is refused.

A place that is open to several kinds says so in `OPEN`. What stands below a place in `ELSEWHERE` is checked
where it is used: what a parameter, a step or a decision may hold is known to the method, the preparation and
the report alone.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from app.state.draft import load, path_of
from app.state.purposes import remembered_answers
from app.state.settings import Settings
from engine import texts
from engine.errors import InputRefused
from engine.methods.exchanges.kit import ONE_OF, Kit, Question
from engine.methods.services.asked import Query
from engine.methods.services.desk import Desk, Measurement
from engine.privacy.channels.sets import Sets
from engine.privacy.promise import Neighbours
from engine.release.plan import Plan, Purpose
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Schema

PLAN = Path(__file__).resolve().parents[2] / "resources" / "sample" / "plan.json"
WRONG: tuple[Any, ...] = (None, True, 7, 1.5, "abc", [], ["abc"], {}, {"abc": 1})
OPEN: dict[str, tuple[Any, ...]] = {
    # A number may be written as one or in digits; a budget or a price that is null is not decided yet.
    r"plan\.(budget|holding_budget)": (None,),
    r"plan\.(budget|holding_budget)\.(epsilon|delta)": (7, 1.5),
    r"plan\.price\.(budget|compensation|minimum|curvature|harmed|records|error)": (None, 7, 1.5),
    r"plan\.price\.\w+": (None, 7, 1.5),
    r"plan\.price\.(currency|anchor)": ("abc",),
    r"plan\.(declared_sizes|measures|preparation|decisions|candidates)": ([],),
    r"plan\.measures": (["abc"],),
    r"plan\.(files|schemas)": ({},),
    r"plan\.(files\.people\.options|parameters)": ({}, {"abc": 1}),
    r"plan\.price|plan\.purpose": ({},),
    r"plan\.(method_version|tried)": (7,),
    r"plan\.declared_sizes\[\d+\]": (7,),
    r"plan\.\w+|plan\.purpose\.\w+|plan\.files\.people\.path": ("abc",),
    r"(plan\.schemas\.people|schema)\.rows_per_person": (7,),
    r"(plan\.schemas\.people|schema)\.one_row_each": (True,),
    r"(plan\.schemas\.people|schema)\.(protected|protected_many)": ("abc",),
    r"(plan\.schemas\.people|schema)\.columns": ([],),
    r"(plan\.schemas\.people|schema)\.columns\[\d+\]\.(name|meaning|unit)": ("abc",),
    r"(plan\.schemas\.people|schema)\.columns\[\d+\]\.missing": ([], ["abc"]),
    r"(plan\.schemas\.people|schema)\.columns\[\d+\]\.(labels|domain)": ({},),
    r"(plan\.schemas\.people|schema)\.columns\[\d+\]\.domain\.values": ([], ["abc"]),
    r"(plan\.schemas\.people|schema)\.columns\[\d+\]\.domain\.(minimum|maximum|step)": (None, 7, 1.5),
    r".*\.(code_list|missing\[\d+\]|values\[\d+\]|labels\.\w+)": ("abc",),
    r"desk\.declared\.(columns|preparation|person_key)": ([], None),
    r"desk\.declared\.person_key": (["abc"],),
    r"desk\.declared\.person_key\[\d\]": ("abc",),
    r"desk\.declared\.rows_per_person|desk\.(questions|visits)|desk\.measured\[0\]\.(visit|questions|most)": (
        7,
    ),
    r"desk\.epsilon|desk\.measured\[0\]\.epsilon": (7, 1.5),
    r"desk\.(measured|asked)|desk\.measured\[0\]\.numbers": ([],),
    r"desk\.measured\[0\]\.numbers\[0\]": (7,),
    r"desk\.closed": (True,),
    r"kit\.(title|intro|reason)|kit\.questions\[0\]\.(text|levels\[\d\])": ("abc",),
    r"kit\.(respondents|waves)|kit\.questions\[0\]\.(epsilon|lowest|step)": (7, 1.5),
    r"kit\.questions\[0\]\.second_levels": ([],),
    r"kit\.device": ("abc",),
    r"kit\.shared": (True,),
    r"hierarchy\.(bands\[\d\]|start|cuts\[\d\]\[\d\])": (7, 1.5),
    r"hierarchy\.tree\.\w+\[\d\]": ("abc",),
    r"hierarchy\.tree\.\w+": (["abc"],),
    r"hierarchy\.(prefix|suffix)\[\d\]": (7,),
    r"draft\.open_questions(\[\d\])?": ([], ["abc"], "abc"),
}
NEVER = {r"kit\.(respondents|waves)": (1.5,)}
ELSEWHERE = re.compile(
    r"plan\.(files\.people\.options|preparation\[\d+\]|parameters|decisions\[\d+\]|candidates\[\d+\]|schemas)\W.*"
    r"|desk\.declared\.(columns|preparation)\[\d\].*|draft\.plan.*"
)
SCHEMA = {
    "version": 1,
    "rows_per_person": 2,
    "protected": "patient",
    "one_row_each": False,
    "columns": [
        {
            "name": "sex",
            "role": "identifying",
            "kind": "category",
            "domain": {"values": ["f", "m"]},
            "domain_origin": "declared",
            "missing": ["9"],
            "missing_origin": "copied",
            "labels": {"f": "female"},
            "meaning": "as told",
            "unit": "none",
        },
        {"name": "age", "kind": "integer", "domain": {"minimum": 0, "maximum": 99, "step": 1}},
        {"name": "ill", "kind": "category", "domain": {"code_list": "icd10"}},
    ],
}
ASKED = Query(Schema.from_json({"version": 1, "rows_per_person": 1, "columns": [{"name": "sex"}]}, file="x"))
DESK = Desk(
    {
        "columns": [{"name": "sex"}],
        "person_key": ["patient", "9"],
        "rows_per_person": 1,
        "preparation": [{"step": "drop"}],
    },
    Fraction(1),
    Neighbours.ADD_REMOVE,
    5,
    1,
    (Measurement((ASKED,), Fraction(1, 2), (3,), 1),),
    (ASKED,),
)
SMOKER = Question("Smoker?", ONE_OF, ("yes", "no"), Sets.at(2, 1, 1, Fraction(1)), Fraction(1))
KIT = Kit("Title", "Intro", (SMOKER,), 100)


def _plan(tree: Any) -> object:
    return Plan.loads(json.dumps(tree), file="doc.json")


def _schema(tree: Any) -> object:
    return Schema.loads(json.dumps(tree), file="doc.json")


def _hierarchy(tree: Any) -> object:
    return Hierarchy.from_json(tree, column="age", file="doc.json")


def _nothing(found: object) -> object:
    """Turn what says by None that it was not read into a refusal."""
    if found is None:
        raise InputRefused("document.missing", file="doc.json", field="")
    return found


DOCUMENTS: dict[str, tuple[Any, Callable[[Any], object]]] = {
    "plan": (json.loads(PLAN.read_text(encoding="utf-8")), _plan),
    "schema": (SCHEMA, _schema),
    "desk": (json.loads(DESK.dumps()), lambda tree: _nothing(Desk.loads(json.dumps(tree).encode()))),
    "kit": (json.loads(KIT.dumps()), lambda tree: _nothing(Kit.loads(json.dumps(tree).encode()))),
}
HIERARCHIES = (
    {"tree": {"a": ["x"], "b": ["x"]}},
    {"bands": [5, 10], "start": 0},
    {"cuts": [[1, 2], [2]]},
    {"prefix": [2, 1]},
    {"suffix": [2, 1]},
    {"calendar": ["month", "year"]},
    {"codes": "icd10"},
)


def places(tree: Any, path: str) -> Iterator[tuple[str, list[Any]]]:
    """Give every place of a document by its path, and the keys that lead there."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in pairs:
        inner = f"{path}[{key}]" if isinstance(tree, list) else f"{path}.{key}"
        yield inner, [key]
        for deeper, keys in places(value, inner):
            yield deeper, [key, *keys]


def changed(tree: Any, keys: list[Any], value: Any) -> Any:
    whole = copy.deepcopy(tree)
    at = whole
    for key in keys[:-1]:
        at = at[key]
    at[keys[-1]] = value
    return whole


def is_open(path: str, value: Any) -> bool:
    def listed(table: dict[str, tuple[Any, ...]]) -> bool:
        return any(
            re.fullmatch(pattern, path) and any(type(one) is type(value) and one == value for one in values)
            for pattern, values in table.items()
        )

    return listed(OPEN) and not listed(NEVER)


def wrong_values(name: str, tree: Any) -> list[tuple[str, list[Any], Any]]:
    return [
        (path, keys, value)
        for path, keys in places(tree, name)
        if not ELSEWHERE.fullmatch(path)
        for value in WRONG
        if not is_open(path, value)
    ]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_value_of_another_kind_is_refused_and_named(name: str) -> None:
    tree, read = DOCUMENTS[name]
    read(tree)
    taken, dumb = [], []
    for path, keys, value in wrong_values(name, tree):
        try:
            read(changed(tree, keys, value))
            taken.append((path, value))
        except InputRefused as refusal:
            what, do = texts.explain(refusal)
            named = str([key for key in keys if isinstance(key, str)][-1])
            if name in ("plan", "schema") and not ("doc.json" in what and do and named[:6] in what + do):
                dumb.append((path, value, what))
    assert not taken, taken
    assert not [one for one in dumb if not one[0].endswith(("name", "version", "role", "kind"))]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_an_unknown_member_is_refused_everywhere(name: str) -> None:
    tree, read = DOCUMENTS[name]
    at = [(name, [])] + [(path, keys) for path, keys in places(tree, name)]
    for path, keys in at:
        inner = tree
        for key in keys:
            inner = inner[key]
        is_free = re.search(r"options$|parameters$|labels$|(files|schemas)$|preparation\[|decisions\[", path)
        if isinstance(inner, dict) and not is_free and not ELSEWHERE.fullmatch(path):
            with pytest.raises(InputRefused):
                read({**tree, "colour": 1} if not keys else changed(tree, keys, {**inner, "colour": 1}))


def test_a_field_of_a_purpose_that_does_not_exist_is_refused_with_those_that_do() -> None:
    tree, read = DOCUMENTS["plan"]
    with pytest.raises(InputRefused) as refusal:
        read(tree | {"purpose": {"titel": "a"}})
    said = " ".join(texts.explain(refusal.value))
    assert "purpose.titel" in said
    assert all(name in said for name in ("title", "recipient", "withdrawal"))


@pytest.mark.parametrize("tree", HIERARCHIES, ids=lambda tree: next(iter(tree)))
def test_a_hierarchy_of_another_kind_is_refused(tree: dict[str, Any]) -> None:
    if tree != {"codes": "icd10"}:  # which lists there are is another matter
        _hierarchy(tree)
    for path, keys, value in wrong_values("hierarchy", tree):
        try:
            found = _hierarchy(changed(tree, keys, value))
        except InputRefused:
            continue
        raise AssertionError((path, value, found))
    with pytest.raises(InputRefused):
        _hierarchy(tree | {"colour": 1})


def test_a_draft_of_another_kind_is_no_draft(tmp_path: Path) -> None:
    whole = {"plan": DOCUMENTS["plan"][0], "open_questions": ["a"]}
    place = path_of(tmp_path)
    place.write_text(json.dumps(whole))
    assert load(folder=tmp_path) is not None
    for path, keys, value in wrong_values("draft", whole):
        place.write_text(json.dumps(changed(whole, keys, value)))
        assert load(folder=tmp_path) is None, (path, value)
    place.write_text(json.dumps(whole | {"colour": 1}))
    assert load(folder=tmp_path) is None


def test_settings_of_another_kind_are_as_none(tmp_path: Path) -> None:
    place = tmp_path / "settings.json"
    for value in WRONG:
        place.write_text(json.dumps(dict.fromkeys(("width", "remember_files", "recent", "desks"), value)))
        settings = Settings(tmp_path)
        assert type(settings.get("width", 1366)) is int
        assert settings.get("remember_files", False) in (True, False)
    place.write_text(json.dumps({"remember_files": True, "recent": [1, "a"], "desks": {"x": None, "y": "b"}}))
    assert Settings(tmp_path).recent() == ("a",) and Settings(tmp_path).desks() == {"y": "b"}


def test_what_is_remembered_of_a_purpose_is_text(tmp_path: Path) -> None:
    (tmp_path / "last-purposes.json").write_text(json.dumps([{"organisation": "A", "approver": None}]))
    assert remembered_answers(Purpose(), folder=tmp_path) == {"organisation": "A"}
