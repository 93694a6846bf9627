"""Plans written by ``plan new``: all that a plan can say, for every example that comes with a method."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.__main__ import main
from engine.methods.catalogue import method, methods
from engine.release.examples import plans
from engine.release.plan import FileReference, Plan

EXAMPLES = Path(__file__).parents[3] / "resources" / "examples"
WANTED = [(one.id, place) for one in methods() for place in range(len(plans(one)))]
CANDIDATE = {"parameters": {"columns": ["age"], "k": 3}}


def beside(plan: Plan, folder: Path) -> Plan:
    """Return a plan over copies of its tables in a folder."""
    files = {}
    for name, file in plan.files.items():
        source = EXAMPLES / file.path
        shutil.copy(source, folder / source.name)
        files[name] = FileReference(source.name, file.options)
    return replace(plan, files=files)


def arguments(plan: Plan, folder: Path) -> list[str]:
    """Return what a person writes to get a plan."""
    said = [f"--method={plan.method}", f"--holding={plan.holding}"]
    for name, file in plan.files.items():
        said.append(f"--table={name.split('.')[0]}={folder / file.path}")
        said.append(f"--read={name}={json.dumps(dict(file.options))}")
    for name, schema in plan.schemas.items():
        bare = replace(schema, columns=tuple(replace(column, hierarchy=None) for column in schema.columns))
        (folder / f"{name}.schema.json").write_text(json.dumps(bare.to_json()))
        said.append(f"--table-schema={name}={folder / name}.schema.json")
        for column in schema.columns:
            if column.hierarchy is not None:
                place = folder / f"{name}-{column.name}.json"
                place.write_text(json.dumps(column.hierarchy.to_json()))
                said.append(f"--hierarchy={column.name}={place}")
    if plan.preparation:
        (folder / "steps.json").write_text(json.dumps([dict(step) for step in plan.preparation]))
        said.append(f"--prepare={folder / 'steps.json'}")
    tree = plan.to_json()
    said += [f"--set={name}={json.dumps(value)}" for name, value in tree["parameters"].items()]
    said += [f"--purpose={name}={text}" for name, text in tree["purpose"].items() if text]
    said += [f"--price={name}={json.dumps(value)}" for name, value in tree["price"].items()]
    for option, given in (("", tree["budget"]), ("holding-", tree["holding_budget"])):
        if given is not None:
            said += [f"--{option}epsilon={given['epsilon']}", f"--{option}delta={given['delta']}"]
            said.append(f"--neighbours={given['neighbours']}")
    said.append(f"--sizes={','.join(map(str, plan.declared_sizes))}")
    said += [f"--candidate={json.dumps(one)}" for one in tree["candidates"]]
    said += [f"--measure={one}" for one in plan.measures]
    said += [f"--reason={one['decision']}={one['reason']}" for one in plan.decisions]
    said += [f"--{name}={getattr(plan, name)}" for name in ("step", "continues") if getattr(plan, name)]
    return said + ([f"--state={folder / plan.state}"] if plan.state else [])


def written(plan: Plan, folder: Path, capsys: Any) -> Plan:
    out = folder / "plan.json"
    status = main(["plan", "new", *arguments(plan, folder), "--out", str(out)])
    assert status == 0, capsys.readouterr().err
    return Plan.read(out)


@pytest.mark.parametrize(("method_id", "place"), WANTED)
def test_every_example_can_be_written(method_id: str, place: int, tmp_path: Path, capsys: Any) -> None:
    wanted = beside(plans(method(method_id))[place], tmp_path)
    found = written(wanted, tmp_path, capsys).to_json()
    for decision in found["decisions"]:
        # When a reason was given is written beside it, and that nothing had asked for it yet.
        assert decision.pop("at") and decision.pop("ahead") is True
    assert found == wanted.to_json()


def test_a_visit_names_what_it_goes_on_from(tmp_path: Path, capsys: Any) -> None:
    opening, visit = (beside(one, tmp_path) for one in plans(method("services.private_queries"))[:2])
    assert not opening.step
    visit = replace(visit, continues="entry-1", state="first/internal/state")
    assert written(visit, tmp_path, capsys).to_json() == visit.to_json()


def test_questions_come_from_a_file(tmp_path: Path, capsys: Any) -> None:
    visit = beside(plans(method("services.private_queries"))[1], tmp_path)
    visit = replace(visit, continues="entry-1", state="first/internal/state")
    (tmp_path / "list.csv").write_text("where,by,epsilon\ngender is Female,,1/10\n,age,0.05\n")
    said = [one for one in arguments(visit, tmp_path) if not one.startswith("--set=questions")]
    out = tmp_path / "plan.json"
    assert main(["plan", "new", *said, f"--set=questions=@{tmp_path}/list.csv", "--out", str(out)]) == 0
    asked = [{"where": "gender is Female", "epsilon": 0.1}, {"by": ["age"], "epsilon": 0.05}]
    assert Plan.read(out).parameters == {"questions": asked}
    assert main(["plan", "new", *said, f"--set=questions=@{tmp_path}/none.csv", "--out", str(out)]) == 2
    assert "none.csv" in capsys.readouterr().err


def test_several_files_candidates_and_measures(tmp_path: Path, capsys: Any) -> None:
    plan = beside(plans(method("datasets.k_anonymity"))[0], tmp_path)
    second = FileReference("more.csv", plan.files["people"].options)
    shutil.copy(tmp_path / plan.files["people"].path, tmp_path / "more.csv")
    wanted = replace(
        plan,
        files={**plan.files, "people.2": second},
        candidates=(CANDIDATE, {"method": "datasets.pseudonyms"}),
        measures=("risk.small_groups",),
        preparation=({"step": "bands", "column": "time_in_hospital", "edges": [1, 3, 14], "to": "stay"},),
    )
    assert written(wanted, tmp_path, capsys).to_json() == wanted.to_json()


def test_reading_options_of_every_table_are_said(tmp_path: Path, capsys: Any) -> None:
    """What no option says is found in the file now, of every table and not of the people alone."""
    reports = plans(method("exchanges.survey"))[1]
    wanted = beside(reports, tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps(wanted.schemas["reports"].to_json()))
    table, out = tmp_path / wanted.files["reports"].path, tmp_path / "plan.json"
    said = ["--method=exchanges.survey", "--step=collect", f"--schema={tmp_path}/schema.json", f"--out={out}"]
    said.append('--read=reports={"header": true}')  # one column of words could as well have none
    assert main(["plan", "new", str(table), *said]) == 0, capsys.readouterr().err
    assert Plan.read(out).files["reports"] == wanted.files["reports"]


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (("--table=nothing=people.csv",), "nothing"),
        (("--table-schema=nothing=schema.json",), "nothing"),
        (("--step=visit",), "visit"),
        (("--hierarchy=height=tree.json",), "height"),
        (("--hierarchy=age=tree.json",), "tree.json"),
        (("--candidate=[1]",), "candidate"),
        (("--read=nothing={}",), "nothing"),
        (("--sizes=5,some",), "sizes"),
    ],
)
def test_what_does_not_fit_is_said(
    more: tuple[str, ...], word: str, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    wanted = beside(plans(method("statistics.counts"))[0], tmp_path)
    said = arguments(wanted, tmp_path)
    monkeypatch.chdir(tmp_path)
    shutil.copy("people.schema.json", "schema.json")
    (tmp_path / "tree.json").write_text('{"trees": {}}')
    assert main(["plan", "new", *said, *more, "--out", "plan.json"]) == 2
    assert word in capsys.readouterr().err
    assert not (tmp_path / "plan.json").exists()
