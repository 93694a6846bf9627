"""No cell on standard error, in a message, in the ledger or in a report; no formula in what leaves."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from engine.methods.protocol import DictionaryEntry, TableArtefact
from engine.release.bundle import write_artefact
from engine.views import Text
from tests.engine.adversarial.requests import HEADER, ODD_ROWS, plan_for, table

SECRET = "987654321987"


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "engine", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )


def test_a_library_that_warns_with_cells_is_not_heard(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["person", "day"])
    book.active.append(["a", datetime(2020, 1, 1)])
    book.active.append(["b", int(SECRET)])
    book.active["B3"].number_format = "yyyy-mm-dd"
    book.save(tmp_path / "people.xlsx")
    said = command("inspect", tmp_path / "people.xlsx")
    assert said.returncode == 0 and said.stderr == ""
    assert SECRET not in said.stdout


@pytest.mark.parametrize("label", ["odd rows", "a secret everywhere"])
def test_a_run_on_odd_rows_says_nothing_of_them(tmp_path: Path, label: str) -> None:
    secret = ",".join([SECRET] * len(HEADER.split(",")))
    rows = tuple(ODD_ROWS.values()) if label == "odd rows" else (secret, *ODD_ROWS.values())
    (tmp_path / "people.csv").write_bytes(table(rows))
    (tmp_path / "plan.json").write_text(plan_for("counts", cap=1).dumps())
    said = command(
        "run", tmp_path / "plan.json", "--out", tmp_path / "out", "--ledger", tmp_path / "ledger.sqlite"
    )
    assert said.returncode == 0, said.stderr
    assert said.stderr == "" and SECRET not in said.stdout and "oops" not in said.stdout
    for path in (tmp_path / "out").rglob("*.*"):
        assert SECRET.encode() not in path.read_bytes(), path.name
    assert SECRET.encode() not in (tmp_path / "ledger.sqlite").read_bytes()


def test_a_declared_level_cannot_become_a_formula_at_the_recipients(tmp_path: Path) -> None:
    levels = ["=1+1", "@SUM(A1)", "-2+3+cmd|' /C calc'!A0", "\t=1", "-5 to <0", "+", "-", "f"]
    frame = pd.DataFrame({"=cmd": pd.array(levels, dtype="str"), "count": range(-4, 4)})
    entries = tuple(DictionaryEntry(name, Text("x"), "category") for name in frame.columns)
    write_artefact(tmp_path, TableArtefact("counts", (frame,), entries), "en")
    read = pd.read_csv(tmp_path / "counts.csv", keep_default_na=False)
    assert read.columns.tolist() == ["'=cmd", "count"]
    assert read["'=cmd"].tolist() == [*(f"'{level}" for level in levels[:4]), *levels[4:]]
    assert read["count"].tolist() == list(range(-4, 4))
