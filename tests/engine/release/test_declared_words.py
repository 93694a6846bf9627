"""What the custodian says that a column means, and its unit, reach the recipient; from no row."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.methods.catalogue import method as find
from engine.methods.protocol import MAIN, Spends
from engine.release.plan import Plan
from engine.table.schema import Column, Role, Schema
from tests.engine.release.conftest import Runner

MEANING, UNIT = "Ward to which the person came first", "building"


def test_meaning_and_unit_reach_the_recipient_and_verify_agrees(run: Runner, plan: Plan) -> None:
    ward = replace(plan.schema.column("ward"), meaning=MEANING, unit=UNIT)
    made = run(schemas={MAIN: plan.schema.with_column(ward)})
    release = made.folder / "release"
    [table] = json.loads((release / "data-dictionary.json").read_text(encoding="utf-8"))
    lines = {line["name"]: line for line in table["columns"]}
    assert lines["ward"]["meaning"].startswith(f"{MEANING}. ") and lines["ward"]["unit"] == UNIT
    assert "unit" not in lines["sex"] and MEANING not in lines["sex"]["meaning"]
    assert f"  ward: {MEANING} ({UNIT})" in (release / "README.txt").read_text(encoding="utf-8")
    assert f"ward: {MEANING} ({UNIT})" in (release / "report-external.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("method", "parameters", "numbers"),
    [
        ("statistics.means", {"statistic": "mean", "value": "stay"}, {"mean", "within_95"}),
        ("statistics.quantiles", {"value": "stay", "quantiles": ["0.5"]}, {"value"}),
    ],
)
def test_released_numbers_have_the_unit_of_their_column(
    run: Runner, plan: Plan, method: str, parameters: dict[str, object], numbers: set[str]
) -> None:
    stay = replace(plan.schema.column("stay"), unit="days")
    version = find(method).version
    made = run(
        method=method,
        method_version=version,
        parameters=parameters,
        schemas={MAIN: plan.schema.with_column(stay)},
    )
    [table] = json.loads((made.folder / "release" / "data-dictionary.json").read_text(encoding="utf-8"))
    assert {line["name"] for line in table["columns"] if line.get("unit") == "days"} == numbers


LABELS = {"f": "woman", "m": "man"}
LABELLED = (
    ("statistics.counts", {"columns": ["sex", "ward"], "extra_cells": "separate"}),
    ("statistics.margins", {"columns": ["sex", "ward"]}),
    ("statistics.means", {"statistic": "mean", "value": "stay", "by": ["sex"]}),
    ("datasets.pseudonyms", {"columns": ["sex", "ward"]}),
)


@pytest.mark.parametrize(("method", "parameters"), LABELLED)
def test_what_values_mean_reaches_whoever_loads_them(
    run: Runner, plan: Plan, method: str, parameters: dict[str, object]
) -> None:
    """Each cell of a category is one of those that the package lists, and each is loaded as it stands."""
    sex = replace(plan.schema.column("sex"), labels={**LABELS, "never": "declared"})
    version = find(method).version
    schemas = {MAIN: plan.schema.with_column(sex)}
    bounded = find(method).spends is not Spends.NOTHING
    made = run(
        method=method,
        method_version=version,
        parameters=parameters,
        schemas=schemas,
        budget=plan.budget if bounded else None,
    )
    release = made.folder / "release"
    assert "f = woman · m = man" in (release / "report-external.html").read_text(encoding="utf-8")
    loader = {"__file__": str(release / "read.py"), "__name__": "read"}
    exec((release / "read.py").read_text(encoding="utf-8"), loader)
    seen = False
    for one in json.loads((release / "datapackage.json").read_text(encoding="utf-8"))["resources"]:
        for field in one.get("schema", {}).get("fields", ()):
            cells = pd.read_csv(release / one["path"], dtype=str, keep_default_na=False)[field["name"]]
            listed = {level["value"]: level["label"] for level in field.get("categories", ())}
            if listed:
                assert set(cells) - {""} <= set(listed)
                loaded = loader["load"](one["path"])
                assert list(loaded[field["name"]].dropna()) == [cell for cell in cells if cell]
            if field["name"] == "sex":
                seen = True
                assert {LABELS.get(value, value) for value in LABELS} <= set(listed.values())
                said = {value: label for value, label in listed.items() if value != label}
                assert loaded.attrs["labels"]["sex"] == said
                script = (release / "read.R").read_text(encoding="utf-8")
                assert all(f'"{value}" = "{label}"' in script for value, label in said.items())
    assert seen and "never" not in (release / "datapackage.json").read_text(encoding="utf-8")


def test_a_schema_keeps_the_words_and_nothing_else_where_there_are_none() -> None:
    schema = Schema((Column("a", meaning="Sugar in the blood", unit="mg/dl"), Column("b")))
    assert Schema.from_json(schema.to_json()) == schema
    assert schema.column("a").without_copied() == schema.column("a")
    assert not {"meaning", "unit"} & set(schema.to_json()["columns"][1])


def test_words_are_one_line() -> None:
    tree = {"columns": [{"name": "a", "meaning": "Sugar \n in\tthe blood"}]}
    assert Schema.from_json(tree).column("a").meaning == "Sugar in the blood"


@pytest.mark.parametrize("found", [3, None, ["x"], "x" * 301])
def test_words_that_are_none_are_refused(found: object) -> None:
    with pytest.raises(InputRefused) as refused:
        Schema.from_json({"columns": [{"name": "a", "unit": found}]}, file="schema.json")
    assert refused.value.code == "schema.long_words" and refused.value.values["column"] == "a"


def test_the_word_for_who_is_protected_is_the_word_of_the_report(run: Runner, plan: Plan) -> None:
    made = run(schemas={MAIN: replace(plan.schema, protected="patient")})
    report = (made.folder / "release" / "report-external.html").read_text(encoding="utf-8")
    assert "Every patient, with one row each" in report and "Every person" not in report
    assert "half sure that a certain patient is in the table" in report


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (Schema(), "Every row. A person with several rows is protected less"),
        (Schema(one_row_each=True), "Every person: each row is another one, as the custodian says"),
        (Schema(protected="household", one_row_each=True), "Every household: each row is another one"),
    ],
)
def test_that_each_row_is_another_person_is_said_by_the_custodian_only(
    run: Runner, plan: Plan, said: Schema, sentence: str
) -> None:
    columns = tuple(column for column in plan.schema.columns if column.role is not Role.PERSON_KEY)
    made = run(schemas={MAIN: replace(said, columns=columns)})
    assert sentence in (made.folder / "release" / "report-external.html").read_text(encoding="utf-8")


def test_who_is_protected_is_kept_and_checked() -> None:
    schema = Schema((Column("a"),), protected="household", one_row_each=True)
    assert Schema.from_json(schema.to_json()) == schema
    assert not {"protected", "one_row_each"} & set(Schema((Column("a"),)).to_json())
    for name, found in (("protected", "x" * 41), ("protected", 3), ("one_row_each", 1)):
        with pytest.raises(InputRefused) as refused:
            Schema.from_json({"columns": [], name: found})
        assert refused.value.code == f"schema.{name}"
