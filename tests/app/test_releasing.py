"""Looking at the releases takes away what a killed run left."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

from app.work.releasing import listing, proposed_folder
from engine.ledger import Ledger, entries
from engine.release.bundle import bundle_around
from engine.release.plan import FileReference
from engine.release.run import check
from engine.release.working import name_for
from tests.engine.adversarial.requests import plan_for


def test_a_killed_run_leaves_no_folder_once_somebody_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    register = ledger.create_holding("Register", unit="row", neighbours="add_remove", epsilon=1)
    folder = name_for(tmp_path / "bundle")
    (folder / "internal").mkdir(parents=True)
    (folder / "internal" / "evidence.json").write_text("a draft")
    terms = {"epsilon": "1", "delta": "0", "unit": "row", "neighbours": "add_remove"}
    promise = check(plan_for("counts")).cost.to_json()
    ledger.reserve(
        register.id,
        plan_fingerprint="ab",
        title="A release",
        recipient="",
        guarantee_json=promise,
        compose=lambda guarantees: (Fraction(1), Fraction(0)),
        folder=str(folder),
        **terms,
    )
    listing(ledger.path)
    assert folder.is_dir()  # the run is still at work
    monkeypatch.setattr(entries, "is_running", lambda process: False)
    found = listing(ledger.path)
    assert not folder.exists()
    (release,) = found["holdings"][0]["releases"]
    assert release["state"] == "reserved"  # what becomes of the budget, a person says


@pytest.mark.parametrize("place", ["", "release", "release/deeper"])
def test_no_folder_is_proposed_inside_a_release_whose_table_is_opened(place: str, tmp_path: Path) -> None:
    first = tmp_path / "first"
    (first / place).mkdir(parents=True)
    (first / "release").mkdir(exist_ok=True)
    (first / "release" / "SHA256SUMS").touch()
    table = first / place / "table.csv"
    plan = replace(plan_for("counts"), files={"people": FileReference(str(table))})
    proposed = proposed_folder(plan, date(2026, 11, 26))
    assert proposed.parent == tmp_path and bundle_around(proposed) is None
