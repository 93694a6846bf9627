"""What leaves is a function of the plan and of paid-for noisy numbers: of nothing else in the table."""

from __future__ import annotations

import json
from datetime import datetime as Clock
from pathlib import Path

import numpy as np
import pytest

from engine.ledger import Ledger
from engine.privacy import mechanisms
from engine.privacy.mechanisms.permute_and_flip import FlipChoice
from engine.progress import SILENT
from engine.release import write
from engine.release.plan import Plan
from engine.release.run import run_through
from tests.engine.adversarial.requests import ODD_ROWS, PARAMETERS, ROWS, plan_for, table
from tests.noise_source import seeded_noise

MANY = tuple("5,f,1,2.5,3,01/02/2020" for _ in range(10_000))
TABLES = {
    "base": ROWS,
    "no rows": (),
    "one row": ROWS[:1],
    "a person with 10,000 rows": ROWS + MANY,
    "missing keys only": ("-9,f,1,1,1,01/02/2020", ",m,1,1,1,01/02/2020"),
    "text, too": (*ROWS, ODD_ROWS["text in every column"]),
    "infinity, too": (*ROWS, ODD_ROWS["infinity"]),
    "every odd row, too": (*ROWS, *ODD_ROWS.values()),
    "odd rows only": tuple(ODD_ROWS.values()),
}


class _Noon(Clock):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 1, 1, 12, 0, tzinfo=tz)


@pytest.fixture
def paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fix everything that is paid for, drawn at random or told by the clock."""

    def numbers(self, values, noise):
        # What the accountant counts is drawn, and thrown away
        for draw, times in self.event.drawn().items():
            for _ in range(times):
                getattr(noise, draw.sampler)(draw.parameter, 1)
        return np.arange(values.size, dtype=np.int64).reshape(values.shape)

    def choice(self, scores, noise):
        honest(self, scores, noise)
        return scores.size // 2

    honest = FlipChoice.choose
    monkeypatch.setattr(mechanisms.LaplaceCounts, "release", numbers)
    monkeypatch.setattr(mechanisms.GaussianCounts, "release", numbers)
    monkeypatch.setattr(FlipChoice, "choose", choice)
    monkeypatch.setattr(write, "datetime", _Noon)
    monkeypatch.setattr("secrets.token_hex", lambda size: "0" * 2 * size)
    monkeypatch.setattr("engine.release.signing.new_key", lambda: bytes(range(32)))
    monkeypatch.setattr("engine.release.signing._now", lambda: "2026-01-01T12:00:00Z")
    monkeypatch.setattr(Ledger, "input_name", lambda *_, **__: "name")
    monkeypatch.setattr(Ledger, "chain", lambda self: "0" * 64)  # random, made with the ledger
    monkeypatch.setattr(Ledger, "continues", lambda *_: True)  # as heads are fixed
    head = Ledger.head
    monkeypatch.setattr(Ledger, "head", lambda self: type(head(self))(head(self).sequence, "0" * 64))


def released(plan: Plan, rows: tuple[str, ...], folder: Path) -> dict[str, bytes]:
    """Run a plan on some rows with a ledger of its own; return what is in ``release/``."""
    folder.mkdir()
    (folder / "people.csv").write_bytes(table(rows))
    ledger = Ledger(folder / "ledger.sqlite")
    run_through(
        plan, folder / "out", ledger, folder, "en", SILENT, lambda spend: seeded_noise(1, on_first_draw=spend)
    )
    assert [entry.state for entry in ledger.entries()] == ["complete"]
    return {path.name: path.read_bytes() for path in (folder / "out" / "release").iterdir()}


@pytest.mark.parametrize(("name", "cap"), [*((name, 2) for name in PARAMETERS), ("counts", None)])
def test_nothing_but_the_noisy_numbers_depends_on_the_rows(
    name: str, cap: int | None, tmp_path: Path, paid_for: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The reports are made from the evidence alone; the next test looks at them as well.
    for part in ("pdf", "html"):
        monkeypatch.setattr(f"engine.report.{part}.render", lambda *_, **__: b"")
    plan = plan_for(name, cap=cap)
    expected = released(plan, ROWS, tmp_path / "base")
    assert {"evidence.json", "SHA256SUMS", "data-dictionary.json", "README.txt"} < expected.keys()
    for place, (label, rows) in enumerate(TABLES.items()):
        found = released(plan, rows, tmp_path / str(place))
        different = {name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)}
        assert not different, label


@pytest.mark.parametrize("name", ["counts", "mean"])
def test_nor_does_anything_in_the_reports(name: str, tmp_path: Path, paid_for: None) -> None:
    plan = plan_for(name, cap=1)
    expected = released(plan, ROWS, tmp_path / "base")
    assert {"report-external.pdf", "report-external.html"} < expected.keys()
    for label in ("no rows", "odd rows only"):
        assert released(plan, TABLES[label], tmp_path / label) == expected


def test_the_comparison_sees_what_it_should(tmp_path: Path, paid_for: None) -> None:
    first = released(plan_for("counts"), ROWS, tmp_path / "first")
    other = released(plan_for("counts", declared_sizes=(7,)), ROWS, tmp_path / "other")
    assert first["evidence.json"] != other["evidence.json"]
    assert first["report-external.pdf"] != other["report-external.pdf"]
    assert json.loads(first["evidence.json"])["audience"] == "public"
