"""That every row is another person is asked the reason of wherever a column could deny it."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.__main__ import main
from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.methods.protocol import MAIN
from engine.release import examples
from engine.release.bundle import Bundle
from engine.release.decisions import ONE_ROW_EACH
from engine.release.each_row import declared_against, reason_given
from engine.release.plan import Plan
from engine.release.reasons import with_reasons
from engine.release.run import run
from engine.table.schema import Column, Kind, Role, Schema

ROWS_OF_PEOPLE, COUNTS = "datasets.k_anonymity", "statistics.counts"
WHY = "one row a person, by the registry's rules"


def plan_with(
    asked: str, folder: Path, *, name: str = "zz", role: Role = Role.OTHER, repeats: bool = True
) -> Plan:
    """Return an example in which every row is said to be another person, with a number that may repeat.

    Two rows with one number are the same line of the table but for it: they agree in all a person has.
    """
    plan = examples._bring(examples.plans(method(asked))[0], folder)
    path = folder / plan.files[MAIN].path
    with path.open(newline="", encoding="utf-8") as file:
        head, *lines = list(csv.reader(file))
    schema = plan.schemas[MAIN]
    keys = [head.index(one.name) for one in schema.with_role(Role.PERSON_KEY, Role.DIRECT_IDENTIFIER)]
    half = lines[: len(lines) // 2]
    pairs = [line for line in half for _ in range(2)] if repeats else lines
    pairs = [
        [str(800_000 + row) if at in keys else cell for at, cell in enumerate(line)]
        for row, line in enumerate(pairs)
    ]
    rows = [[*line, str(400_000 + 7 * (place // (2 if repeats else 1)))] for place, line in enumerate(pairs)]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([[*head, name], *rows])
    columns = tuple(
        replace(one, role=Role.DROPPED) if one.role in (Role.PERSON_KEY, Role.DIRECT_IDENTIFIER) else one
        for one in schema.columns
    )
    schema = replace(schema, columns=(*columns, Column(name, role, Kind.INTEGER)), one_row_each=True)
    reference = plan.files[MAIN]
    options: Any = {**reference.options, "width": len(head) + 1}
    return replace(
        plan,
        schemas={**plan.schemas, MAIN: schema},
        files={**plan.files, MAIN: replace(reference, options=options)},
    )


def made(plan: Plan, folder: Path, **options: Any) -> Bundle:
    return run(plan, out=folder / "out", ledger=Ledger(folder / "ledger.sqlite"), base=folder, **options)


@pytest.mark.guarantee
def test_rows_of_people_are_counted_before_anything_is_reserved(tmp_path: Path) -> None:
    plan = plan_with(ROWS_OF_PEOPLE, tmp_path)
    with pytest.raises(InputRefused) as refused:
        made(plan, tmp_path)
    assert refused.value.code == "run.one_row_each_counted"
    values = refused.value.values
    assert values["column"] == "zz" and values["rows"] == 2 * values["numbers"]
    assert not (tmp_path / "out").exists() and not Ledger(tmp_path / "ledger.sqlite").entries()


@pytest.mark.guarantee
@pytest.mark.parametrize("asked", [ROWS_OF_PEOPLE, COUNTS])
def test_with_a_reason_it_is_made_and_both_reports_say_so(asked: str, tmp_path: Path) -> None:
    plan = with_reasons(plan_with(asked, tmp_path, role=Role.DIRECT_IDENTIFIER), {ONE_ROW_EACH: WHY})
    assert reason_given(plan) and Plan.loads(plan.dumps()) == plan
    folder = made(plan, tmp_path, wants_reasons=True).folder
    public = (folder / "release" / "evidence.json").read_text(encoding="utf-8")
    assert "report.columns.one_row_each" in [one["id"] for one in json.loads(public)["notes"]]
    assert WHY not in public and "zz" not in (folder / "release" / "report-external.html").read_text("utf-8")
    assert "could tell whose a row is" in (folder / "release" / "report-external.html").read_text("utf-8")
    inside = (folder / "internal" / "report-internal.html").read_text(encoding="utf-8")
    assert "by the registry" in inside and "could tell whose a row is" in inside


@pytest.mark.guarantee
def test_where_the_number_differs_in_every_row_nothing_is_asked(tmp_path: Path) -> None:
    assert made(plan_with(ROWS_OF_PEOPLE, tmp_path, repeats=False), tmp_path).folder.is_dir()


@pytest.mark.guarantee
def test_a_bounded_loss_is_refused_on_declarations_only(tmp_path: Path) -> None:
    """The rows must not decide: the same answer whether the number repeats or not."""
    for place, repeats in enumerate((True, False)):
        folder = tmp_path / str(place)
        folder.mkdir()
        declared = plan_with(COUNTS, folder, role=Role.DIRECT_IDENTIFIER, repeats=repeats)
        with pytest.raises(InputRefused, match=r"run\.one_row_each"):
            made(declared, folder, wants_reasons=True)
        assert made(declared, folder).folder.is_dir(), "no row is looked at"


def test_a_column_that_a_plan_does_not_declare_is_looked_at_by_its_name(tmp_path: Path) -> None:
    """Else a plan that leaves out the number of the patient was believed that every row is another one."""
    plan = plan_with(COUNTS, tmp_path, name="patient_nbr")
    columns = tuple(one for one in plan.schema.columns if one.role is not Role.DROPPED)[:-1]
    left_out = replace(plan, schemas={**plan.schemas, MAIN: replace(plan.schema, columns=columns)})
    assert not declared_against(left_out.schema)
    with pytest.raises(InputRefused, match=r"run\.one_row_each"):
        made(left_out, tmp_path, wants_reasons=True)
    assert not (tmp_path / "out").exists() and not Ledger(tmp_path / "ledger.sqlite").entries()


def test_names_of_columns_are_looked_at_whatever_their_role() -> None:
    columns = (Column("person_number", Role.SENSITIVE), Column("age", Role.IDENTIFYING))
    assert declared_against(Schema(columns, one_row_each=True)) == ("person_number",)


@pytest.mark.guarantee
def test_the_command_line_asks_when_a_plan_is_checked_and_when_it_is_run(tmp_path: Path, capsys: Any) -> None:
    plan = plan_with(COUNTS, tmp_path, role=Role.DIRECT_IDENTIFIER)
    path = tmp_path / "plan.json"
    path.write_text(plan.dumps(), encoding="utf-8")
    ledger = f"--ledger={tmp_path / 'ledger.sqlite'}"
    making = ["run", str(path), f"--out={tmp_path / 'out'}", ledger]
    assert main(["plan", "check", str(path), ledger, "--json"]) == 2
    assert [one["code"] for one in json.loads(capsys.readouterr().out)["problems"]] == ["run.one_row_each"]
    assert main(making) == 2
    assert f"--reason {ONE_ROW_EACH}=" in capsys.readouterr().err and not (tmp_path / "out").exists()
    reason = f"--reason={ONE_ROW_EACH}={WHY}"
    assert main(["plan", "check", str(path), ledger, reason]) == 0
    assert main([*making, reason]) == 0 and (tmp_path / "out" / "release").is_dir()
