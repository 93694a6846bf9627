"""What a release costs beside what it cannot do without: importing pandas and reading the table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ratios import slack

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "resources" / "sample"
ROUNDS = 3
MOST = 4.5  # measured 3.7; with two libraries that draw and a layout engine of our own it was 10
MOST_METHODS = 1.0  # measured .65: neither numpy nor pandas is loaded for declarations

pytestmark = pytest.mark.benchmark

BARE = (
    "import pandas;"
    f"pandas.read_csv({str(SAMPLE / 'diabetes_encounters.csv')!r}, dtype=str, keep_default_na=False)"
)


def cost(*arguments: str) -> float:
    """Return the least processor time, in seconds, of a fresh process over some rounds."""
    found = []
    for _ in range(ROUNDS):
        before = os.times()
        subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, capture_output=True)
        after = os.times()
        found.append(
            after.children_user + after.children_system - before.children_user - before.children_system
        )
    return min(found)


def test_a_release_with_both_reports_costs_little_beside_reading(tmp_path: Path) -> None:
    plan = json.loads((SAMPLE / "plan.json").read_text())
    plan["files"]["people"]["path"] = str(SAMPLE / "diabetes_encounters.csv")
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    found = []
    for number in range(ROUNDS):
        code = (
            "from engine.__main__ import main; import sys;"
            f"sys.exit(main(['run', {str(tmp_path / 'plan.json')!r}, '--out',"
            f" {str(tmp_path / f'out{number}')!r}, '--ledger', {str(tmp_path / f'ledger{number}')!r}]))"
        )
        before = os.times()
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)
        after = os.times()
        found.append(
            after.children_user + after.children_system - before.children_user - before.children_system
        )
    assert min(found) <= slack() * MOST * cost("-c", BARE)


def test_the_list_of_methods_costs_less_than_importing_pandas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both from modules that are compiled already, as on a machine where they are run a second time."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path))
    assert cost("-m", "engine", "methods") <= slack() * MOST_METHODS * cost("-c", "import pandas")
