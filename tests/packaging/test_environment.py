"""The set-up with a stubbed apt and a stubbed pip: what is asked of the system, and in which words."""

from __future__ import annotations

import importlib.util
import os
import stat
import subprocess
import sys
import threading
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
        "-o DPkg::Lock::Timeout=300 update -q",
        "-o DPkg::Lock::Timeout=300 install -y --no-install-recommends python3-venv libegl1",
    ]


def test_a_failed_install_stops(
    environment: ModuleType, apt: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment.os, "geteuid", lambda: 0)
    monkeypatch.setenv("APT_STATUS", "100")
    assert not environment.install_packages(["libegl1"])
    wait = "-o DPkg::Lock::Timeout=300"
    line = f"apt-get {wait} update -q && apt-get {wait} install -y --no-install-recommends libegl1\n"
    assert line in capsys.readouterr().out


def test_others_get_the_one_line(
    environment: ModuleType, apt: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment.os, "geteuid", lambda: 1000)
    assert not environment.install_packages(["python3-venv", "libegl1"])
    said = capsys.readouterr().out
    wait = "-o DPkg::Lock::Timeout=300"
    install = f"apt-get {wait} install -y --no-install-recommends python3-venv libegl1"
    assert f"\n  apt-get {wait} update -q && {install}\n" in said
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


@pytest.mark.parametrize("state", ["nothing", "no pip", "its Python has moved away"])
def test_an_environment_that_does_not_work_is_made_again(
    environment: ModuleType, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    python = environment.VENV / "bin" / "python"
    if state != "nothing":
        python.parent.mkdir(parents=True)
        python.symlink_to("/bin/false" if state == "no pip" else "/no/such/python")
    asked: list[list[str]] = []

    def stub(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(environment.subprocess, "run", stub)
    assert environment.prepare(libraries={}, tools={}) is None
    clear = [] if state == "no pip" else ["--clear"]
    assert asked[-1] == [sys.executable, "-I", "-m", "venv", *clear, str(environment.VENV)]


@pytest.fixture
def asked(environment: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the commands that setting up asks for, each of which does nothing and ends well."""
    commands: list[list[str]] = []

    def stub(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        environment.VENV.mkdir(exist_ok=True)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(environment.subprocess, "run", stub)
    return commands


def test_wheels_from_a_folder_need_no_index(
    environment: ModuleType, asked: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CUSTOS_WHEELS", str(tmp_path))
    assert environment.prepare(libraries={}, tools={}) is not None
    install = asked[-1]
    assert install[install.index("--no-index") + 1 :][:2] == ["--find-links", str(tmp_path)]


def test_only_what_is_for_work_on_it_is_compiled_when_it_is_first_used(
    environment: ModuleType, asked: list[list[str]]
) -> None:
    for extras in ((), ("test",)):
        assert environment.prepare(libraries={}, tools={}, extras=extras) is not None
        assert ("--no-compile" in asked[-1]) == bool(extras)


def test_nothing_of_the_folder_in_which_it_is_set_up_runs(
    environment: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Every Python that is started reads its modules from nowhere but itself and the project."""
    hostile = tmp_path / "data"
    hostile.mkdir()
    for name in ("pip", "venv", "engine", "app", "subprocess", "ensurepip"):
        (hostile / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(hostile)
    real, started = subprocess.run, []

    def stub(command: list[str], **named: object) -> subprocess.CompletedProcess[str]:
        """Let each Python look for its module, as the very call does, and do nothing with it."""
        started.append(command)
        environment.VENV.mkdir(exist_ok=True)
        flags = [one for one in command[1:] if one.startswith("-I")]
        place = command[command.index("-m") + 1] if "-m" in command else "pip"
        look = f"import importlib.util as i; print(i.find_spec({place!r}).origin)"
        done = real(
            [sys.executable, *flags, "-c", look], capture_output=True, text=True, cwd=named.get("cwd")
        )
        assert str(hostile) not in done.stdout, command
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(environment.subprocess, "run", stub)
    assert environment.prepare(libraries={}, tools={}) is not None
    monkeypatch.setattr(environment, "ROOT", PACKAGING.parent)
    environment.run(Path(sys.executable), "-m", "engine", "methods")
    environment._has_pip(Path(sys.executable))
    assert [command[command.index("-m") + 1] for command in started if "-m" in command] == [
        "venv",
        "pip",
        "engine",
    ]
    assert not (tmp_path / "ran").exists()


def loaded(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return a script of the folder as a module."""
    monkeypatch.syspath_prepend(str(PACKAGING))
    spec = importlib.util.spec_from_file_location(name, PACKAGING / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is always a screen")
def test_without_a_screen_the_start_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    start = loaded("start", monkeypatch)
    ran: list[tuple[str, ...]] = []
    monkeypatch.setattr(start.environment, "prepare", lambda **_: Path("python"))
    monkeypatch.setattr(start.environment, "run", lambda _, *arguments: ran.append(arguments) or 0)
    monkeypatch.setattr(sys, "argv", ["start.py"])
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert start.main() == 1
    assert "no screen" in capsys.readouterr().out and ran == []
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert start.main() == 0 and ran == [("-m", "app")]


@pytest.mark.parametrize(
    ("answers", "status", "runs"),
    [([0], 0, 1), ([1, 0], 0, 2), ([1, 1, 1, 0], 0, 4), ([1, 1, 1, 1], 1, 4), ([2], 2, 1), ([1, 5], 5, 2)],
)
def test_a_ratio_fails_beyond_twice_its_limit_three_times(
    monkeypatch: pytest.MonkeyPatch, answers: list[int], status: int, runs: int
) -> None:
    check = loaded("check", monkeypatch)
    asked: list[tuple[str, ...]] = []
    widened: list[str] = []
    monkeypatch.setenv("CUSTOS_RATIO_SLACK", "1")

    def run(_: Path, *arguments: str) -> int:
        asked.append(arguments)
        widened.append(os.environ["CUSTOS_RATIO_SLACK"])
        return answers[len(asked) - 1]

    monkeypatch.setattr(check.environment, "run", run)
    assert check.benchmarks(Path("python")) == status
    assert len(asked) == runs
    assert ["--last-failed" in arguments for arguments in asked] == [False, True, True, True][:runs]
    assert widened == ["1", "2", "2", "2"][:runs]  # what misses its limit is only reported: twice it fails


def asked_of(check: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: str, failing: str = "") -> tuple:
    """Return the exit status of the check, and what it ran instead of running it."""
    ran: list[tuple[str, ...]] = []

    def run(_: Path, *command: str) -> int:
        ran.append(command)
        return 3 if failing and failing in command else 0

    monkeypatch.setattr(check.environment, "prepare", lambda **_: Path("python"))
    monkeypatch.setattr(check.environment, "run", run)
    monkeypatch.setattr(sys, "argv", ["check.py", *arguments])
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("CUSTOS_EXAMPLES", "all")
    monkeypatch.delenv("CUSTOS_EXAMPLES")
    return check.main(), ran


@pytest.mark.parametrize("failing", ["mypy", "ruff", "pytest"])
def test_one_failed_step_fails_the_check_and_hides_no_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], failing: str
) -> None:
    check = loaded("check", monkeypatch)
    status, ran = asked_of(check, monkeypatch, "--all", failing=failing)
    assert status == 3 and len(ran) == len(check.STATIC) + 1
    out = capsys.readouterr().out
    said = [line.split()[0] for line in out.splitlines() if line[:2] in ("ok", "fa")]
    assert len(said) == len(check.STATIC) and ("failed" in said) == (failing != "pytest")
    # What went wrong beside the tests is said again below their summary, which is the last line otherwise.
    assert out.endswith("said above\n") == (failing != "pytest")


def test_types_are_checked_while_the_tests_run(monkeypatch: pytest.MonkeyPatch) -> None:
    check = loaded("check", monkeypatch)
    monkeypatch.setattr(check.environment, "prepare", lambda **_: Path("python"))
    together, each = threading.Barrier(2), {name: [] for name in ("mypy", "pytest")}

    def run(_: Path, *command: str) -> int:
        if met := each.keys() & {*command}:
            together.wait(timeout=30)
            each[met.pop()].append(command)
        return 0

    monkeypatch.setattr(check.environment, "run", run)
    monkeypatch.setattr(sys, "argv", ["check.py", "--all"])
    monkeypatch.setenv("CUSTOS_EXAMPLES", "all")
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert check.main() == 0
    assert all(len(found) == 1 for found in each.values())


def test_each_set_runs_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    check = loaded("check", monkeypatch)

    def sets(*arguments: str) -> list[str]:
        status, ran = asked_of(check, monkeypatch, *arguments)
        assert status == 0
        return [" ".join(one) for one in ran]

    (alone,) = sets()
    assert "--tier commit" in alone and "not benchmark" in alone
    assert os.environ["CUSTOS_EXAMPLES"] == "commit"
    (last,) = [one for one in sets("--all") if "pytest" in one]
    assert "--tier all" in last and os.environ["CUSTOS_EXAMPLES"] == "all"
    (ratios,) = sets("--ratios")
    assert ratios.endswith("-m benchmark")
    whole = sets("--before-release")
    assert "--tier release" in whole[-1]
    assert (
        "tests/mutants.py" in whole
        and ratios in whole
        and set(map(" ".join, check.STATIC.values())) < {*whole}
    )
    (some,) = sets("tests/test_layout.py", "-x")
    assert some.endswith("not benchmark tests/test_layout.py -x")
    sets("--thorough")
    assert os.environ["CUSTOS_EXAMPLES"] == "thorough"


@pytest.mark.parametrize("script", ["start.py", "check.py", "environment.py"])
def test_only_the_standard_library_before_the_environment_exists(script: str) -> None:
    source = (PACKAGING / script).read_text()
    imported = {
        line.split()[1].split(".")[0] for line in source.splitlines() if line.startswith(("import ", "from "))
    }
    assert imported <= set(sys.stdlib_module_names) | {"environment"}


def test_packaging_is_no_package() -> None:
    assert not (PACKAGING / "__init__.py").exists()
