"""A release that has been paid for is not lost over what is said about it."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import evidence
from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.release import bundle
from engine.release.run import run
from engine.release.verify import verify
from engine.release.working import sweep
from engine.report import content, drawing
from tests.engine.adversarial.requests import ROWS, plan_for, table


def fail(*_: object, **__: object) -> None:
    raise ZeroDivisionError("P1 is ill")


@pytest.mark.parametrize(("module", "name"), [(content, "_document"), (drawing, "draw")])
def test_a_report_that_cannot_be_made_says_so(
    module: object, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    ledger = Ledger(tmp_path / "ledger.sqlite")
    monkeypatch.setattr(module, name, fail)
    made = run(plan_for("counts"), out=tmp_path / "out", ledger=ledger, base=tmp_path)
    assert [entry.state for entry in ledger.entries()] == ["complete"]
    assert verify(made.folder, ledger=ledger).passed
    for report in ("release/report-external.html", "internal/report-internal.html"):
        written = (made.folder / report).read_text()
        assert "could not be made (ZeroDivisionError)" in written and "P1" not in written


def test_evidence_without_a_word_for_a_number_has_null() -> None:
    tree = {"a": [float("nan"), np.int64(3)], "b": float("inf"), "c": {"d": np.float64(0.5), "e": {1, 2}}}
    found = json.loads(evidence.dumps(tree))
    assert found == {"a": [None, 3], "b": None, "c": {"d": 0.5, "e": "set"}}
    assert json.loads(evidence.dumps({"a": np.float32("nan")})) == {"a": None}
    assert evidence.dumps({"a": "\ud800"}) == b'{\n  "a": "\\ud800"\n}\n'


@pytest.mark.parametrize(("of", "name"), [(bundle, "give_name"), (Ledger, "complete")])
@pytest.mark.parametrize("when", ["before", "after"])
def test_control_c_while_a_release_is_handed_over_comes_too_late(
    of: Any, name: str, when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    ledger, wanted = Ledger(tmp_path / "ledger.sqlite"), getattr(of, name)

    def disturbed(*args: Any, **more: Any) -> Any:
        if when == "before":
            signal.raise_signal(signal.SIGINT)
        found = wanted(*args, **more)
        if when == "after":
            signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(of, name, disturbed)
    handler = signal.getsignal(signal.SIGINT)
    made = run(plan_for("counts"), out=tmp_path / "out", ledger=ledger, base=tmp_path)
    assert [entry.state for entry in ledger.entries()] == ["complete"]
    assert verify(made.folder, ledger=ledger).passed
    assert signal.getsignal(signal.SIGINT) is handler


@pytest.fixture
def heeded() -> Iterator[None]:
    """Heed Ctrl-C as in front: a job in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded")
def test_a_second_control_c_leaves_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    ledger, wanted = Ledger(tmp_path / "ledger.sqlite"), shutil.rmtree

    def stopped(*_: Any, **__: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    def stopped_again(*args: Any, **more: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        wanted(*args, **more)

    monkeypatch.setattr(bundle, "write_sums", stopped)
    monkeypatch.setattr(shutil, "rmtree", stopped_again)
    with pytest.raises(KeyboardInterrupt):
        run(plan_for("counts"), out=tmp_path / "out", ledger=ledger, base=tmp_path)
    monkeypatch.undo()
    assert [entry.state for entry in ledger.entries()] == ["failed"]
    assert {path.name for path in tmp_path.iterdir()} == {"people.csv", "ledger.sqlite", "ledger.sqlite-keys"}


def test_a_bundle_whose_entry_cannot_be_completed_stays_and_is_entered_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    ledger = Ledger(tmp_path / "ledger.sqlite")

    def locked(*_: object, **__: object) -> None:
        raise InputRefused("ledger.locked")

    with monkeypatch.context() as held:
        held.setattr(Ledger, "complete", locked)
        with pytest.raises(InputRefused, match=r"run\.not_closed"):
            run(plan_for("counts"), out=tmp_path / "out", ledger=ledger, base=tmp_path)
    assert verify(tmp_path / "out").passed and [entry.state for entry in ledger.entries()] == ["spent"]
    monkeypatch.setattr("engine.ledger.entries.is_running", lambda _: False)  # the program is started again
    with monkeypatch.context() as held:
        held.setattr(Ledger, "complete", locked)  # nobody of the register is signed in yet
        sweep(ledger)
    sweep(ledger)
    assert verify(tmp_path / "out", ledger=ledger).passed
    assert [entry.state for entry in ledger.entries()] == ["complete"]
