"""How tables hang together: counted from an example with rows that belong to nobody."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pandas as pd
import pytest

from engine.__main__ import main
from engine.errors import InputRefused
from engine.methods.catalogue import method
from engine.release.examples import plans
from engine.release.plan import Plan
from engine.release.table_links import HEADINGS, hang_together

SAMPLE = Path(str(files("resources"))) / "sample"


def plan_of() -> tuple[Plan, Path]:
    (plan,) = plans(method("datasets.linked"))
    return plan, Path(str(files("resources"))) / "examples"


def test_rows_without_a_parent_and_rows_of_each_are_counted() -> None:
    plan, base = plan_of()
    view = hang_together(plan, base=base)
    stays = pd.read_csv(SAMPLE / "register_stays.csv", dtype=str)
    below = pd.read_csv(SAMPLE / "register_diagnoses.csv", dtype=str)
    people = pd.read_csv(SAMPLE / "register_people.csv", dtype=str)
    found = {(row[0], row[1]): dict(zip(HEADINGS[2:], row[2:], strict=True)) for row in view.rows}
    own = stays[stays["patient_nbr"].isin(people["patient_nbr"])].groupby("patient_nbr").size()
    assert found["records", "people"] == {
        "rows": len(stays),
        "orphans": 2,
        "parents": len(people),
        "none": len(people) - len(own),
        "one": int((own == 1).sum()),
        "two": int((own == 2).sum()),
        "more": int((own > 2).sum()),
        "most": int(own.max()),
    }
    each = below.groupby("stay_nbr").size()
    assert found["details", "records"]["orphans"] == 0
    assert found["details", "records"]["none"] == len(stays) - len(each)
    assert found["details", "records"]["most"] == each.max()
    assert found["details", "people"]["rows"] == len(below)


def test_fewer_than_two_tables_of_people_are_refused() -> None:
    plan, base = plan_of()
    alone = replace(plan, files={"people": plan.files["people"]})
    with pytest.raises(InputRefused, match=r"reading\.not_linked"):
        hang_together(alone, base=base)


def test_the_command_says_what_the_window_shows(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    plan, base = plan_of()
    absolute = {name: replace(one, path=str((base / one.path).resolve())) for name, one in plan.files.items()}
    (tmp_path / "plan.json").write_text(replace(plan, files=absolute).dumps(), encoding="utf-8")
    assert main(["plan", "links", str(tmp_path / "plan.json"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["tables"]
    assert [tuple(one.values()) for one in told] == list(hang_together(plan, base=base).rows)
    assert main(["plan", "links", str(tmp_path / "plan.json")]) == 0
    assert "Without a row there" in capsys.readouterr().out
