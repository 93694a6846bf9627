"""Bundles of earlier states are genuine for ever, and a forged byte in one of them is found."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from engine import texts
from engine.__main__ import main
from engine.computer.update import unpack_tar
from engine.evaluation.released_estimates import Unusable
from engine.ledger import Ledger
from engine.release.bundle import SUMS
from engine.release.plan import Plan
from engine.release.released_bundle import read_bundle
from engine.release.verify import verify

KEPT = sorted((Path(__file__).parent / "kept").glob("*.tar.xz"))
pytestmark = pytest.mark.with_reports  # verifying writes each report again


@pytest.fixture(params=KEPT, ids=lambda path: path.name.split(".")[0])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    with tarfile.open(request.param) as packed:
        unpack_tar(packed, tmp_path)
    return tmp_path


def test_there_are_at_least_five() -> None:
    assert len(KEPT) >= 5


def test_a_genuine_bundle_is_called_genuine(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = Ledger(kept / "ledger.sqlite", read_only=True)
    for folder in (kept / "bundle", kept / "bundle" / "release"):
        found = verify(folder, ledger=ledger)
        assert found.passed, found.problems
        assert found.chain_checked
    assert main(["verify", str(kept / "bundle"), "--ledger", str(kept / "ledger.sqlite")]) == 0
    said = capsys.readouterr().out
    assert texts.text("commands.verify_passed") in said
    for paper in verify(kept / "bundle", ledger=ledger).unchecked:
        assert paper in said


def test_a_forged_byte_is_found(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the sums alone: nothing has to be made again for it."""
    monkeypatch.setattr("engine.release.verify.describe_files", lambda written, language: {})
    for path in sorted((kept / "bundle").glob("*/*")):
        content = path.read_bytes()
        path.write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
        problems = verify(kept / "bundle").problems
        named = " ".join(str(one.values.get("file")) for one in problems)
        assert problems and (path.name in named or path.name == SUMS), path.name  # a sum names its file
        path.write_bytes(content)


def test_its_figures_are_still_read_beside_those_of_other_sites(kept: Path) -> None:
    found = read_bundle(kept / "bundle" / "release")
    assert found.bundle_id and found.figures.labels
    for name, group in found.figures.estimates:
        try:
            one = found.figures.estimate(name, group)
            assert abs(one.value - 0.5) < 1 and one.noise and one.noise < 0.2
        except Unusable as why:
            assert why.reason in ("drowned", "kept_positive")


def test_its_plan_is_still_read(kept: Path) -> None:
    assert Plan.read(kept / "plan.json").method == "statistics.counts"
