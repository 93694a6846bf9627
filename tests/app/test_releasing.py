"""Looking at the releases takes away what a killed run left."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from app.work.releasing import listing
from engine.ledger import Ledger, entries
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
