"""The set-up with a stubbed apt and a stubbed pip: what is asked of the system, and in which words."""

from __future__ import annotations

import importlib.util
import os
import stat
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("environment", PACKAGING / "environment.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    return module


@pytest.fixture
def apt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Put an apt-get on the path that only writes down what it was asked."""
    asked = tmp_path / "asked"
    stub = tmp_path / "bin" / "apt-get"
    stub.parent.mkdir()
    stub.write_text(f'#!/bin/sh\necho "$@" >> {asked}\nexit "${{APT_STATUS:-0}}"\n')
    stub.chmod(stub.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{stub.parent}{os.pathsep}{os.environ['PATH']}")
    asked.write_text("")
    return asked


def test_nothing_missing_asks_nothing(environment: ModuleType, apt: Path) -> None:
    assert environment.install_packages([])
    assert apt.read_text() == ""


def test_a_missing_library_names_its_package(environment: ModuleType) -> None:
    missing = environment.missing_packages({"libnothing-of-this-name.so.9": "libnothing9"}, {})
    assert missing == ["libnothing9"]


def test_a_missing_tool_names_its_package(environment: ModuleType) -> None:
    assert environment.missing_packages({}, {"no-such-tool-here": "no-such-package"}) == ["no-such-package"]


def test_root_installs(environment: ModuleType, apt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment.os, "geteuid", lambda: 0)
    assert environment.install_packages(["python3-venv", "libegl1"])
    assert apt.read_text().splitlines() == [
        "update -q",
        "install -y --no-install-recommends python3-venv libegl1",
    ]


def test_a_failed_install_stops(
    environment: ModuleType, apt: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment.os, "geteuid", lambda: 0)
    monkeypatch.setenv("APT_STATUS", "100")
    assert not environment.install_packages(["libegl1"])
    assert "apt-get install -y --no-install-recommends libegl1" in capsys.readouterr().out


def test_others_get_the_one_line(
    environment: ModuleType, apt: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment.os, "geteuid", lambda: 1000)
    assert not environment.install_packages(["python3-venv", "libegl1"])
    assert "  apt-get install -y --no-install-recommends python3-venv libegl1\n" in capsys.readouterr().out
    assert apt.read_text() == ""


def test_requirements_are_those_of_the_project(environment: ModuleType) -> None:
    wanted = environment.requirements(["test"])
    assert any(item.startswith("PySide6-Essentials") for item in wanted)
    assert any(item.startswith("pytest") for item in wanted)


def test_a_second_start_installs_nothing(environment: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []

    def stub(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        ran.append(command)
        if "venv" in command:
            python = environment.VENV / "bin" / "python"
            python.parent.mkdir(parents=True)
            python.write_text("")
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(environment.subprocess, "run", stub)
    first = environment.prepare(libraries={}, tools={})
    count = len(ran)
    assert environment.prepare(libraries={}, tools={}) == first
    assert count == 2
    assert len(ran) == count


@pytest.mark.parametrize("script", ["start.py", "check.py", "environment.py"])
def test_only_the_standard_library_before_the_environment_exists(script: str) -> None:
    source = (PACKAGING / script).read_text()
    imported = {
        line.split()[1].split(".")[0] for line in source.splitlines() if line.startswith(("import ", "from "))
    }
    assert imported <= set(sys.stdlib_module_names) | {"environment"}


def test_packaging_is_no_package() -> None:
    assert not (PACKAGING / "__init__.py").exists()
