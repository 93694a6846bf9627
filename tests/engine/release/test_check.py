"""Checking a plan is as strict as running it: what needs no row is refused before anything is reserved."""

from __future__ import annotations

import io
import shutil
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

from engine import texts
from engine.errors import EngineError, InputRefused
from engine.ledger import Ledger
from engine.methods.catalogue import method as find_method
from engine.methods.catalogue import methods
from engine.methods.protocol import MAIN, Budget
from engine.pricing.price import AllowedLevels, Price
from engine.release.check import check, state_of
from engine.release.examples import plans
from engine.release.foreseen import foresee
from engine.release.levels import allowed_levels
from engine.release.plan import FileReference, Plan, Purpose
from engine.release.preview import preview_json
from engine.release.run import run
from engine.table.reading.options import ReadOptions
from engine.table.reading.shape import contradictions
from engine.table.schema import Column, Domain, Kind, Origin, Schema
from tests.engine.adversarial.requests import OPTIONS, ROWS, plan_for, table

KEEP = {"step": "keep_rows_where", "column": "score"}
AGE = {"step": "age_at", "column": "seen", "date": "2020-01-01", "to": "age"}
BANDS = {"step": "bands", "column": "score", "edges": [0, 1], "to": "band"}
RECODE = {"step": "recode", "column": "sex", "map": {"f": "w"}, "to": "word"}
WRONG_STEPS: dict[str, tuple[str, dict[str, Any]]] = {
    "another word for a condition": ("bad_value", {**KEEP, "is": "equals", "value": 1}),
    "no condition": ("bad_value", KEEP),
    "no value": ("bad_value", {**KEEP, "is": "at_least"}),
    "no list of values": ("bad_value", {**KEEP, "is": "in", "values": "1"}),
    "a list in the list of values": ("bad_value", {**KEEP, "is": "in", "values": [[1]]}),
    "nothing in the list of values": ("bad_value", {**KEEP, "is": "in", "values": [None]}),
    "half a range": ("bad_value", {**KEEP, "is": "between", "minimum": 0}),
    "a range the wrong way round": ("bad_value", {**KEEP, "is": "between", "minimum": 2, "maximum": 1}),
    "a number beyond all numbers": ("bad_value", {**KEEP, "is": "at_least", "value": "1e400"}),
    "a number for a day": ("bad_value", {**KEEP, "column": "seen", "is": "at_least", "value": 2020}),
    "a word for a day": ("bad_value", {**KEEP, "column": "seen", "is": "at_least", "value": "today"}),
    "half a day": ("bad_value", {**KEEP, "column": "seen", "is": "at_least", "value": "2020-01"}),
    "a condition on no column": ("no_such_column", {**KEEP, "column": "nobody", "is": "missing"}),
    "a member that nobody knows": ("bad_value", {**KEEP, "is": "missing", "not": True}),
    "bands of no column": ("no_such_column", {**BANDS, "column": "nobody"}),
    "bands under a name in use": ("column_exists", {**BANDS, "to": "age"}),
    "edges beyond all numbers": ("bad_value", {**BANDS, "edges": [0, "1e400"]}),
    "labels that are none": ("bad_value", {**BANDS, "labels": [None]}),
    "an age at no day": ("bad_value", {**AGE, "date": "2020-02-30"}),
    "an age at two days": ("bad_value", {**AGE, "date_column": "seen"}),
    "an age at a column that is not there": ("no_such_column", {**AGE, "date": None, "date_column": "then"}),
    "ages the wrong way round": ("bad_value", {**AGE, "minimum": 9, "maximum": 1}),
    "words for nothing": ("bad_value", {**RECODE, "map": {"f": None}}),
    "a file that has no name": ("bad_value", {"step": "recode", "column": "sex", "file": "a\0b"}),
    "people without a key": ("no_person_key", {"step": "drop_people", "file": "list.csv"}),
}


def refused_alike(plan: Plan, folder: Path) -> str:
    """Return the code with which check and run refuse a plan before the ledger knows anything about it."""
    (folder / "people.csv").write_bytes(table(ROWS))
    ledger = Ledger(folder / "ledger.sqlite")
    (problem, *_) = preview_json(plan, ledger)["problems"]
    with pytest.raises(EngineError) as refused:
        run(plan, out=folder / "out", ledger=ledger, base=folder)
    assert all(texts.explain(refused.value))
    assert refused.value.code == problem["code"]
    assert not ledger.holdings() and not ledger.entries() and not (folder / "out").exists()
    return refused.value.code


@pytest.mark.parametrize("label", WRONG_STEPS)
def test_a_step_that_could_not_be_applied_is_refused_by_both(label: str, tmp_path: Path) -> None:
    code, step = WRONG_STEPS[label]
    steps = (
        (AGE, step) if step.get("to") == "age" and step is not AGE and code == "column_exists" else (step,)
    )
    assert refused_alike(plan_for("counts", preparation=steps), tmp_path) == f"preparation.{code}"


def test_conditions_see_what_steps_make_wherever_they_stand(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    steps = ({**KEEP, "column": "band", "is": "in", "values": ["[0-1)"]}, BANDS)
    plan = plan_for(
        "counts", preparation=steps, budget=Budget(Fraction(10**5)), holding_budget=Budget(Fraction(10**6))
    )
    ledger = Ledger(tmp_path / "ledger.sqlite")
    assert preview_json(plan, ledger)["problems"] == []
    made = run(plan, out=tmp_path / "out", ledger=ledger, base=tmp_path)
    lines = (made.folder / "release" / "counts.csv").read_text().splitlines()[1:]
    assert sum(int(line.split(",")[2]) for line in lines) == 4


MONEY = Price(people=6, compensation=Fraction(500))
WRONG_PLANS: dict[str, tuple[str, Plan]] = {
    "no file": ("reading.no_file", plan_for("counts", files={})),
    "no name of a file": (
        "reading.no_file",
        plan_for("counts", files={MAIN: FileReference("a\0b", OPTIONS)}),
    ),
    "no register": ("charge.no_holding", plan_for("counts", holding=" ")),
    "a register with no name": ("ledger.bad_text", plan_for("counts", holding="x" * 100_000)),
    "a title that nobody reads": ("ledger.bad_text", plan_for("counts", purpose=Purpose("x" * 100_000))),
    "a day that is none": ("ledger.bad_day", plan_for("counts", purpose=Purpose(expires="soon"))),
    "a budget with no level": ("ledger.bad_epsilon", plan_for("counts", holding_budget=Budget(Fraction(-1)))),
    "a fine beyond all money": (
        "at_risk.too_large",
        plan_for("counts", price=Price(fine=Fraction(10) ** 500)),
    ),
    "an error beyond all numbers": (
        "at_risk.too_large",
        plan_for("counts", price=replace(MONEY, largest_error=Fraction(10) ** 400)),
    ),
    "a group beyond all people": ("run.not_computable", plan_for("counts", declared_sizes=(10**400,))),
    "a level at which nothing can be read": (
        "at_risk.too_large",
        plan_for("counts", budget=Budget(Fraction(10**11)), holding_budget=Budget(Fraction(10**12))),
    ),
}


@pytest.mark.parametrize("label", WRONG_PLANS)
def test_what_could_not_be_said_afterwards_is_refused_by_both(label: str, tmp_path: Path) -> None:
    code, plan = WRONG_PLANS[label]
    assert refused_alike(plan, tmp_path) == code


LARGE = {"budget": Budget(Fraction(10**6)), "holding_budget": Budget(Fraction(10**7))}
EXTREME = {
    "a steep curve": plan_for("counts", price=replace(MONEY, curvature=Fraction(1000))),
    "one person at a cent": plan_for("counts", price=Price(people=1, compensation=Fraction(1, 100))),
    "a tiny level": plan_for("counts", price=MONEY, budget=Budget(Fraction(1, 10**6))),
    "a huge level": plan_for("sum", price=MONEY, **LARGE),
    "a huge level, two rows a person": plan_for("sum", cap=2, **LARGE),
    "a huge level and a ratio": plan_for("mean", **LARGE),
    "the largest error of money": plan_for("counts", price=replace(MONEY, largest_error=Fraction(10**15))),
    "a cap of a thousand million rows": plan_for("counts", cap=10**9),
}


@pytest.mark.parametrize("label", EXTREME)
def test_a_plan_that_is_accepted_is_not_lost(label: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    ledger = Ledger(tmp_path / "ledger.sqlite")
    assert preview_json(EXTREME[label], ledger)["problems"] == []
    run(EXTREME[label], out=tmp_path / "out", ledger=ledger, base=tmp_path)
    assert [entry.state for entry in ledger.entries()] == ["complete"]


LEVELS_OF_NOTHING: dict[str, dict[str, Any]] = {
    "datasets.pseudonyms": {"columns": ["sex"]},
    "statistics.protected_table": {"columns": ["sex", "visits"], "form": "random_rounding"},
}


@pytest.mark.parametrize("method", LEVELS_OF_NOTHING)
def test_a_largest_error_said_for_another_method_refuses_nothing(method: str, tmp_path: Path) -> None:
    """What was said of the privacy level stays in the plan when a method is chosen that has none."""
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    price = replace(MONEY, largest_error=Fraction(10), budget=Fraction(1000))
    plan = plan_for("counts", price=price, method=method, parameters=LEVELS_OF_NOTHING[method])
    ledger = Ledger(tmp_path / "ledger.sqlite")
    assert preview_json(plan, ledger)["problems"] == []
    assert allowed_levels(plan) == AllowedLevels()
    run(plan, out=tmp_path / "out", ledger=ledger, base=tmp_path)
    assert [entry.state for entry in ledger.entries()] == ["complete"]


@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in ("format", "multiline")])
def test_every_option_of_reading_has_to_be_said(name: str, tmp_path: Path) -> None:
    options = {key: value for key, value in OPTIONS.items() if key != name}
    plan = plan_for("counts", files={MAIN: FileReference("people.csv", options)})
    assert refused_alike(plan, tmp_path) == "reading.options_open"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"encoding": "klingon"}, "table.unknown_encoding"),
        ({"encoding": "rot13"}, "table.unknown_encoding"),
        ({"encoding": "Punycode"}, "table.unknown_encoding"),
        ({"encoding": "a\0b"}, "table.unknown_encoding"),
        ({"delimiter": '"'}, "table.bad_option"),
        ({"delimiter": "\n"}, "table.bad_option"),
        ({"escape": ","}, "table.bad_option"),
        ({"decimal": ",", "thousands": ","}, "table.bad_option"),
    ],
)
def test_options_with_which_nothing_can_be_read(change: dict[str, str], code: str, tmp_path: Path) -> None:
    plan = plan_for("counts", files={MAIN: FileReference("people.csv", OPTIONS | change)})
    assert refused_alike(plan, tmp_path) == code


BY_SEX: dict[str, dict[str, Any]] = {
    "statistics.counts": {"columns": ["sex"]},
    "statistics.histogram": {"column": "score", "edges": [0, 1], "by": ["sex"]},
    "statistics.margins": {"columns": ["sex", "visits"]},
    "statistics.means": {"statistic": "mean", "value": "score", "by": ["sex"]},
    "statistics.quantiles": {"value": "score", "by": ["sex"]},
}


@pytest.mark.parametrize("extra", ["missing", "left_out"])
@pytest.mark.parametrize("method", BY_SEX)
def test_a_list_of_no_values_is_refused_by_both(method: str, extra: str, tmp_path: Path) -> None:
    plan = plan_for("counts", cap=1, method=method, parameters=BY_SEX[method] | {"extra_cells": extra})
    people = plan.schemas[MAIN]
    empty = replace(people.column("sex"), domain=Domain(values=()), domain_origin=Origin.DECLARED)
    assert refused_alike(plan.with_schema(people.with_column(empty)), tmp_path) == "table.no_levels"


def place(folder: Path, kind: str) -> Path:
    """Make something in the place of the bundle."""
    target = folder / "target"
    if kind == "a link to an empty folder":
        (folder / "elsewhere").mkdir()
        target.symlink_to(folder / "elsewhere", target_is_directory=True)
    elif kind == "a link to nothing":
        target.symlink_to(folder / "nowhere")
    elif kind == "a file":
        target.write_text("keep me")
    elif kind == "too long a name":
        target = folder / ("x" * 300)
    elif kind == "a name with nothing in it":
        target = folder / "a\0b"
    elif kind == "below a file":
        (folder / "file").write_text("keep me")
        target = folder / "file" / "target"
    return target


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights of their own there")
@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("a link to an empty folder", "bundle.link"),
        ("a link to nothing", "bundle.link"),
        ("a file", "bundle.exists"),
        ("too long a name", "bundle.not_writable"),
        ("a name with nothing in it", "bundle.not_writable"),
        ("below a file", "bundle.not_writable"),
    ],
)
def test_a_target_that_could_not_become_a_bundle_costs_nothing(kind: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(InputRefused) as refused:
        run(plan_for("counts"), out=place(tmp_path, kind), ledger=ledger, base=tmp_path)
    assert refused.value.code == code and all(texts.explain(refused.value))
    assert not ledger.holdings()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights of their own there")
@pytest.mark.parametrize(
    "target",
    ["first/next", "first/release/next", "first/internal/a/b/next", "handed/next", "linked/next", "first"],
)
def test_a_target_inside_a_release_is_refused(target: str, tmp_path: Path) -> None:
    """Else what stays inside, and keys, would lie in a folder that is handed over."""
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    ledger = Ledger(tmp_path / "ledger.sqlite")
    first = run(plan_for("counts"), out=tmp_path / "first", ledger=ledger, base=tmp_path)
    shutil.copytree(first.folder / "release", tmp_path / "handed")  # what a recipient has, under another name
    (tmp_path / "linked").symlink_to(first.folder / "release", target_is_directory=True)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputRefused) as refused:
        run(plan_for("counts"), out=tmp_path / target, ledger=ledger, base=tmp_path)
    assert refused.value.code == ("bundle.exists" if target == "first" else "bundle.inside")
    assert all(texts.explain(refused.value))
    assert sorted(tmp_path.rglob("*")) == before and len(ledger.entries()) == 1
    (tmp_path / "SHA256SUMS").touch()  # of a download, say: no release
    run(plan_for("counts"), out=tmp_path / "next", ledger=ledger, base=tmp_path)


def test_an_empty_folder_becomes_the_bundle(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    (tmp_path / "out").mkdir()
    made = run(plan_for("counts"), out=tmp_path / "out", ledger=Ledger(tmp_path / "l.sqlite"), base=tmp_path)
    assert {path.name for path in made.folder.iterdir()} == {"release", "internal"}


def test_a_language_without_texts_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(InputRefused, match=r"run\.unknown_language"):
        run(plan_for("counts"), out=tmp_path / "out", ledger=ledger, base=tmp_path, language="xx")
    assert not ledger.holdings()


def test_the_first_rows_of_a_file_that_cannot_be_called_so() -> None:
    with pytest.raises(InputRefused) as refused:
        contradictions(Path("a\0b.csv"), ReadOptions())
    assert refused.value.code == "table.not_found" and all(texts.explain(refused.value))


@pytest.mark.parametrize("path", ["x" * 300, "x" * 300 + ".csv", "nowhere.csv", "empty"])
def test_a_file_that_cannot_be_there_costs_nothing(path: str, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    (tmp_path / "empty").mkdir()
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    steps = ({"step": "drop_people", "file": path},)
    for plan in (
        plan_for("counts", files={MAIN: FileReference(path, OPTIONS)}),
        plan_for("counts", cap=1, preparation=steps),
    ):
        with pytest.raises(InputRefused) as refused:
            run(plan, out=tmp_path / "out", ledger=ledger, base=tmp_path)
        assert all(texts.explain(refused.value)) and not ledger.holdings()


BESIDE: dict[str, tuple[str, dict[str, Any]]] = {
    "a column of the step": ("reading.column_missing", {**BANDS, "column": "ghost"}),
    "a list of words": (
        "reading.not_there",
        {"step": "recode", "column": "sex", "file": "no.csv", "to": "word"},
    ),
    "a list of people": ("reading.not_there", {"step": "drop_people", "file": "no.csv"}),
    "a step": ("preparation.bad_step", {}),
    "a free name": ("preparation.column_exists", {**BANDS, "to": "unlisted"}),
    "a name of a list": ("preparation.bad_value", {"step": "drop_people", "file": 5}),
}


@pytest.mark.parametrize("label", BESIDE)
def test_what_is_not_there_is_missed_by_who_looks_at_the_files_too(label: str, tmp_path: Path) -> None:
    code, step = BESIDE[label]
    header, *rows = table(ROWS).decode().splitlines()
    wider = [f"{header},unlisted", *(f"{row},1" for row in rows)]
    (tmp_path / "people.csv").write_text("\n".join(wider) + "\n")
    options = OPTIONS | {"width": OPTIONS["width"] + 1}
    files = {MAIN: FileReference("people.csv", options)}
    plan = plan_for("counts", cap=1, preparation=(step,), files=files)
    people = plan.schemas[MAIN]
    if code == "reading.column_missing":
        plan = plan.with_schema(people.with_column(Column("ghost", kind=Kind.NUMBER)))
    ledger = Ledger(tmp_path / "ledger.sqlite")
    assert [one["code"] for one in preview_json(plan, ledger, base=tmp_path)["problems"]] == [code]
    with pytest.raises(InputRefused):
        run(plan, out=tmp_path / "out", ledger=ledger, base=tmp_path)
    assert not ledger.holdings() and not ledger.entries()


@pytest.mark.parametrize("ending", ["parquet", "sav", "dta", "xpt"])
@pytest.mark.parametrize("label", ["a column of the step", "a free name"])
def test_files_that_say_their_columns_themselves_are_asked_too(
    label: str, ending: str, tmp_path: Path
) -> None:
    code, step = BESIDE[label]
    place = tmp_path / f"people.{ending}"
    frame = pd.read_csv(io.BytesIO(table(ROWS)), dtype=str).rename(columns=str.lower).assign(unlisted="1")
    writers = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta, "xpt": pyreadstat.write_xport}
    frame.to_parquet(place) if ending == "parquet" else writers[ending](frame, str(place))
    plan = plan_for("counts", cap=1, preparation=(step,), files={MAIN: FileReference(place.name)})
    if code == "reading.column_missing":
        plan = plan.with_schema(plan.schema.with_column(Column("ghost", kind=Kind.NUMBER)))
    problems = preview_json(plan, Ledger(tmp_path / "ledger.sqlite"), base=tmp_path)["problems"]
    assert [one["code"] for one in problems] == [code]


@pytest.mark.parametrize("domain", [{"maximum": "1e400"}, {"minimum": "-1e400"}, {"step": "1e-400"}])
def test_bounds_with_which_no_cell_could_be_compared_are_none(domain: dict[str, str]) -> None:
    column = {"name": "score", "kind": "number", "domain": {"minimum": 0, "maximum": 3, "step": 1} | domain}
    with pytest.raises(InputRefused, match=r"schema\.bad_domain"):
        Schema.from_json({"columns": [column]})


@pytest.mark.parametrize(
    "domain",
    [
        {"maximum": "2020-W01-1"},
        {"minimum": "soon"},
        {"minimum": 20200101},
        {"minimum": "2020-02-30"},
        {"minimum": "2020-02-02", "maximum": "2020-02-01"},
        {"maximum": "2020-01-01T00:00"},
    ],
)
def test_days_with_which_no_cell_could_be_compared_are_none(domain: dict[str, Any]) -> None:
    with pytest.raises(InputRefused, match=r"schema\.bad_days"):
        Schema.from_json({"columns": [{"name": "seen", "kind": "date", "domain": domain}]})


@pytest.mark.parametrize("name", ["state\0.bin", "state\ud800.bin", "s" * 5000])
def test_a_state_that_no_file_can_be_called_is_refused_in_words(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputRefused) as refusal:
        state_of(Plan(state=name), tmp_path)
    assert refusal.value.code in ("reading.not_there", "reading.not_readable")
    assert texts.has(f"errors.{refusal.value.code}.what") and len(str(refusal.value.values["file"])) <= 100


def test_a_largest_error_says_nothing_of_a_release_without_a_number() -> None:
    """A plan may carry one from another method: what forecasts no number is not refused for it."""
    plan = plans(find_method("datasets.seedbased"))[0]
    price = replace(plan.price, largest_error=Fraction(3), budget=None)
    plan = replace(plan, price=price, parameters={**plan.parameters, "model": "nobody"})
    assert allowed_levels(plan) == AllowedLevels()
    assert foresee(plan, check(plan)).forecast.errors == ()


def test_examples_say_how_wide_their_tables_are() -> None:
    """A width that is too large reads columns that the file does not have."""
    folder = Path(__file__).parents[3] / "resources" / "examples"
    told = 0
    for one in (plan for subject in methods() for plan in plans(subject)):
        for file in one.files.values():
            if "width" in file.options and file.path.endswith(".csv"):
                head = (folder / file.path).open(encoding="utf-8").readline()
                assert head.count(file.options.get("delimiter", ",")) + 1 == file.options["width"], file.path
                told += 1
    assert told > 20


@pytest.mark.parametrize("level", ["1/2", b"1", None, [1], 1j, 0.5, True, float("nan")], ids=repr)
@pytest.mark.parametrize("name", ["epsilon", "delta"])
def test_a_budget_that_is_no_exact_number_is_refused_in_words(name: str, level: Any) -> None:
    plan = plans(find_method("statistics.counts"))[0]
    with pytest.raises(InputRefused, match=r"budget\.not_a_number"):
        check(replace(plan, budget=Budget(**{"epsilon": Fraction(1), name: level})))


def test_a_whole_number_is_an_exact_budget_and_loses_nothing_to_a_late_refusal() -> None:
    assert [type(one) for one in (Budget(1, 0).epsilon, Budget(1, 0).delta)] == [Fraction, Fraction]  # type: ignore[arg-type]
    assert Budget(2) == Budget(Fraction(2))  # type: ignore[arg-type]
