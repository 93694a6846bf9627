"""The program for people without Python: built, then used as they would, far from the source tree."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.before_release,
    pytest.mark.skipif(find_spec("PyInstaller") is None, reason="the extra `build` is not installed"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build in a folder whose name has a space and an umlaut, with the Python of the tests."""
    folder = tmp_path_factory.mktemp("Größe und Platz")
    code = (
        "import sys; from pathlib import Path; import build; sys.exit(build.build(*map(Path, sys.argv[1:])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, sys.executable, str(folder)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "packaging")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    size = sum(path.stat().st_size for path in folder.rglob("*") if not path.is_symlink())
    print(f"built: {size / 1e6:.0f} MB")
    return folder / "custos"


def ran(built: Path, name: str, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a frozen program as somebody whose home is empty, with nothing of this Python in reach."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "QT_QPA_PLATFORM": "offscreen",
        "LANG": "C.UTF-8",
    }
    return subprocess.run(
        [str(built / name), *arguments],
        cwd=home,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_sample_from_the_frozen_command_line(built: Path, tmp_path: Path) -> None:
    plan = built / "_internal" / "resources" / "sample" / "plan.json"
    bundle, ledger = str(tmp_path / "bundle"), str(tmp_path / "ledger.sqlite")
    done = ran(built, "custos", "run", str(plan), "--out", bundle, "--ledger", ledger, home=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in ("counts.csv", "report-external.pdf", "report-external.html", "evidence.json"):
        assert (tmp_path / "bundle" / "release" / name).stat().st_size > 0
    done = ran(built, "custos", "verify", bundle, "--ledger", ledger, home=tmp_path)
    assert done.returncode == 0, done.stderr
    evidence = (tmp_path / "bundle" / "release" / "evidence.json").read_text()
    assert "absent" not in evidence  # every library is named with its version


def test_the_frozen_command_line_finds_every_method(built: Path, tmp_path: Path) -> None:
    here = subprocess.run(
        [sys.executable, "-m", "engine", "methods"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran(built, "custos", "methods", home=tmp_path).stdout == here.stdout != ""


def test_the_frozen_window_opens_and_stays(built: Path, tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        subprocess.run(
            [str(built / "custos-desktop")],
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"},
            capture_output=True,
            timeout=8,
            check=False,
        )
    said = (caught.value.stderr or b"").decode()
    assert "Traceback" not in said and "Error" not in said, said


def test_sums_name_every_file_and_hold(built: Path) -> None:
    done = subprocess.run(
        ["sha256sum", "--check", "--quiet", "SHA256SUMS"],
        cwd=built,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    named = {line.split("  ", 1)[1] for line in (built / "SHA256SUMS").read_text().splitlines()}
    there = {path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file()}
    assert there - named == {"SHA256SUMS"}


def test_no_library_that_reaches_a_network_is_inside(built: Path) -> None:
    names = {path.name for path in built.rglob("*")}
    for part in ("Qt6Network", "arrow_flight", "arrow_s3", "_s3fs", "_gcsfs", "Qt6WebEngine"):
        assert not [name for name in names if part in name and not name.endswith((".pyx", ".pxd", ".py"))]
    assert not [path for path in built.rglob("*") if path.is_symlink() and not path.exists()]
