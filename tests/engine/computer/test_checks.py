"""Check this computer: it passes here, and each of its checks can fail."""

from __future__ import annotations

import json
import math
import socket
import stat
import sys
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from engine import texts
from engine.__main__ import main
from engine.computer import checks, noise_battery
from engine.computer.page import page
from engine.computer.silence import SECCOMP, silent
from engine.ledger import Ledger, locks
from engine.privacy.noise import Noise

CHECKS = ["sums", "noise", "sample", "sockets", "disk", "locks", "clock", "permissions", "memory", "fonts"]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> checks.Report:
    return checks.check_computer(ledger=tmp_path_factory.mktemp("own") / "ledger.sqlite")


@pytest.mark.with_reports
def test_it_passes_here_and_says_of_everything_what_it_found(tmp_path: Path, capsys: Any) -> None:
    answer = main(
        ["check", "--json", "--ledger", str(tmp_path / "l.sqlite"), "--pdf", str(tmp_path / "a.pdf")]
    )
    found = json.loads(capsys.readouterr().out)
    assert answer == 0 and found["passed"]
    assert [one["id"] for one in found["checks"]] == CHECKS
    assert {one["state"] for one in found["checks"]} <= {"right", "unknown"} and all(
        one["what"] for one in found["checks"]
    )
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert not list(tmp_path.glob(".custos-check-*")) and not (tmp_path / "l.sqlite").exists()


@pytest.mark.with_reports
def test_the_page_for_it_is_one_page_and_holds_the_version_and_what_was_found(report: checks.Report) -> None:
    from pypdf import PdfReader

    pages = PdfReader(BytesIO(page(report))).pages
    assert len(pages) == 1
    said = " ".join(pages[0].extract_text().split())
    assert texts.text("computer.passed") in said and str(report.program["version"]) in said
    for name in CHECKS:
        assert texts.text(f"computer.names.{name}") in said


def test_every_state_of_every_check_has_its_sentence() -> None:
    for name in CHECKS:
        kinds = [one for one in texts.catalogue() if one.startswith(f"computer.{name}.")]
        assert len(kinds) >= 2 and texts.has(f"computer.names.{name}")


# --- noise ----------------------------------------------------------------------------------------------


def scaled(name: str, by: Fraction) -> Any:
    """Return a door whose one constant is another."""
    drawn = getattr(Noise, name)
    return lambda self, constant, *rest, **named: drawn(self, constant * by, *rest, **named)


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("discrete_laplace", "laplace"),
        ("discrete_gaussian", "gaussian"),
        ("bernoulli", "bernoulli"),
        ("bernoulli_exp_minus", "exp_minus"),
    ],
)
@pytest.mark.parametrize("by", [Fraction(95, 100), Fraction(105, 100)])
def test_one_changed_constant_of_the_noise_shows(
    monkeypatch: pytest.MonkeyPatch, name: str, law: str, by: Fraction
) -> None:
    monkeypatch.setattr(Noise, name, scaled(name, by))
    assert law in noise_battery.wrong()
    assert checks.noise().state == checks.WRONG


def test_faults_inside_the_door_show(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates, accept = Noise._laplace_candidates, Noise._accept
    with monkeypatch.context() as patched:  # as if the coin fell on one side a little more often
        patched.setattr(Noise, "_coins", lambda self, size: self.bernoulli(Fraction(53, 100), size))
        assert "laplace" in noise_battery.wrong()
    with monkeypatch.context() as patched:
        patched.setattr(
            Noise, "_laplace_candidates", lambda self, scale, count: candidates(self, scale, count) + 1
        )
        assert {"laplace", "gaussian"} <= set(noise_battery.wrong())
    with monkeypatch.context() as patched:
        patched.setattr(
            Noise, "_accept", lambda self, exponents, exact: accept(self, exponents * 1.05, exact)
        )
        assert "gaussian" in noise_battery.wrong()
    with monkeypatch.context() as patched:
        patched.setattr(Noise, "staircase", lambda self, *_, size, **__: self.discrete_laplace(5, size))
        assert noise_battery.wrong() == ("staircase",)


def test_thresholds_are_fixed_before_and_laws_are_whole() -> None:
    assert noise_battery.ERROR <= 1e-6
    for one in noise_battery.laws():
        assert 0 < math.fsum(one.law.values()) <= 1 + 1e-9, one.id


# --- the rest -------------------------------------------------------------------------------------------


def test_another_figure_of_the_sample_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = json.loads((Path(__file__).parents[3] / "resources" / "sample" / "figures.json").read_text())
    monkeypatch.setattr(checks, "_figures_now", lambda: recorded | {"alone": 423})
    found = checks.sample()
    assert (found.state, found.values["figures"]) == (checks.WRONG, "alone")
    monkeypatch.setattr(checks, "_figures_now", lambda: 1 / 0)
    (broken,) = checks._done("sample", checks.sample)
    assert broken.state == checks.WRONG and broken.values["code"] == "ZeroDivisionError"
    assert texts.text(broken.text_id, **broken.values)


def test_a_socket_shows_and_cannot_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def calls_home() -> dict[str, Any]:
        try:
            socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()
        except OSError:
            return {"refused": True}
        return {"refused": False}

    found = silent(calls_home)
    assert found.seen == 1 and found.value["refused"] == (found.by == SECCOMP)
    assert silent(lambda: 1).seen == 0
    socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()  # of other threads nothing is refused or said
    monkeypatch.setattr(checks, "_figures_now", calls_home)
    (sockets,) = [one for one in checks._done("sample", checks.sample) if one.id == "sockets"]
    assert sockets.state == checks.WRONG and texts.text(sockets.text_id, **sockets.values)


def test_a_changed_or_missing_file_of_the_program_shows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import hashlib

    (tmp_path / "a.so").write_bytes(b"as delivered")
    digest = hashlib.sha256(b"as delivered").hexdigest()
    (tmp_path / "SHA256SUMS").write_text(f"{digest}  a.so\n")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "custos"))
    assert checks.own_sums() == checks.Checked("sums", checks.RIGHT, {"count": 1})
    (tmp_path / "a.so").write_bytes(b"as changed")
    assert checks.own_sums().values == {"count": 1, "first": "a.so"}
    (tmp_path / "a.so").unlink()
    assert checks.own_sums().state == checks.WRONG


def test_a_drive_without_locks_shows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert checks.locks(tmp_path / "not" / "yet").state == checks.RIGHT
    monkeypatch.setattr(locks, "_is_free", lambda path: (True, -1))
    (found,) = checks._done("locks", lambda: checks.locks(tmp_path))
    assert found.values == {"kind": "refused", "code": "ledger.no_locks"}


def test_a_clock_behind_the_ledger_shows(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    now = datetime.now(UTC)
    assert checks.clock(ledger.path, now).state == checks.RIGHT
    assert checks.clock(ledger.path, now - timedelta(days=2)).state == checks.WRONG
    assert checks.clock(tmp_path / "none.sqlite", datetime(2025, 1, 1, tzinfo=UTC)).state == checks.WRONG


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_what_others_can_read_shows(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    keys = tmp_path / "ledger.sqlite-keys"
    keys.mkdir(mode=0o700)
    assert checks.permissions(ledger.path).state == checks.RIGHT
    (keys / "h1.json").touch(mode=0o644)
    (keys / "h1.json").chmod(stat.S_IRUSR | stat.S_IWUSR | stat.S_IROTH)
    assert checks.permissions(ledger.path).values == {"names": "h1.json"}


def test_a_full_disk_and_little_memory_show(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert checks.disk(tmp_path).values["free"] > 0
    monkeypatch.setattr(checks, "LEAST_DISK", 1 << 80)
    monkeypatch.setattr(checks, "LEAST_MEMORY", 1 << 61)
    for found in (checks.disk(tmp_path), checks.memory()):
        assert found.state == checks.WRONG and texts.text(found.text_id, **found.values)
