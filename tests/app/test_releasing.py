"""Looking at the releases takes away what a killed run left."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from app.frame.window import Window
from app.state import flow
from app.work.releasing import Watch, listing, proposed_folder, release
from engine import texts
from engine.ledger import Ledger, entries
from engine.release.bundle import bundle_around
from engine.release.plan import FileReference
from engine.release.reading import file_hash
from engine.release.run import check
from engine.release.working import name_for
from tests.app.walking import sample_plan, settle
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


def test_a_table_that_changed_since_it_was_loaded_is_not_released_unseen(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    small = {"columns": ["gender"], "extra_cells": "left_out"}
    window.study.open_plan(replace(sample_plan(tmp_path), parameters=small))

    def press_release() -> None:
        for step in flow.path(window.study.state):
            window.go(step)
            settle(qtbot, window)
            if step == "preview":
                break
        window.page("preview").folder.setText(str(tmp_path / "out"))
        window.footer.next.click()
        settle(qtbot, window, timeout=60_000)

    window.go("load")
    settle(qtbot, window)
    rows = window.study.table.n_rows
    table = Path(window.study.plan.files["people"].path)
    lines = table.read_text().splitlines(keepends=True)
    table.write_text("".join(lines[:-1]))  # somebody asked to be taken out
    press_release()
    assert window.step == "release" and window.study.result("bundle") is None
    assert table.name in window.notice.words() and "changed since" in window.notice.words()
    assert Ledger(window.study.ledger_path).entries() == [] and not (tmp_path / "out").exists()
    window.go("load")
    settle(qtbot, window)
    window.page("load").open_path(str(table))
    settle(qtbot, window)
    assert window.study.table.n_rows == rows - 1  # it was read again
    press_release()
    assert window.study.result("bundle") is not None, window.notice.words()


def test_what_was_seen_of_each_table_is_compared(tmp_path: Path) -> None:
    plan = sample_plan(tmp_path)
    path = plan.files["people"].path
    digest = file_hash(Path(path))
    ledger = tmp_path / "ledger.sqlite"
    other = {path: "0" * 64, str(tmp_path / "no table of the plan.csv"): digest}
    refused = release(plan, tmp_path / "out", watch=Watch(), ledger_path=ledger, seen=other)
    assert refused.error is not None and refused.error.code == "reading.not_as_seen"
    assert refused.state == "" and all(texts.explain(refused.error))
    done = release(plan, tmp_path / "out", watch=Watch(), ledger_path=ledger, seen={path: digest})
    assert done.state == "complete"
