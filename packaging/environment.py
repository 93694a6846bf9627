"""Make ``.venv`` and fill it. Standard library only: this runs before anything is installed."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"

# Library that must load -> Debian package that has it. Everything else comes with the wheels.
DRAWING = {
    "libglib-2.0.so.0": "libglib2.0-0",
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
}
WINDOW = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
TOOLS = {"strace": "strace"}
BUILDING = {"objdump": "binutils", "zstd": "zstd"}
LOCK = ("-o", "DPkg::Lock::Timeout=300")  # seconds: upgrades that run by themselves hold it for minutes


def python_library() -> dict[str, str]:
    """Return Debian's shared library of Python, which a build needs: Debian's own python3 does without."""
    if sys.platform != "linux" or sys.base_prefix != "/usr":
        return {}
    name = f"libpython3.{sys.version_info.minor}"
    return {f"{name}.so.1.0": name}


def missing_packages(libraries: dict[str, str], tools: dict[str, str]) -> list[str]:
    """Return the Debian packages that are needed and not there."""
    packages = [] if importlib.util.find_spec("ensurepip") else ["python3-venv"]
    packages += [package for library, package in libraries.items() if not _loads(library)]
    return packages + [package for tool, package in tools.items() if shutil.which(tool) is None]


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def install_packages(packages: list[str]) -> bool:
    """Install Debian packages as root; otherwise print the one line that does it. Say whether to go on."""
    if not packages:
        return True
    update = ["apt-get", *LOCK, "update", "-q"]
    install = ["apt-get", *LOCK, "install", "-y", "--no-install-recommends", *packages]
    line = f"{' '.join(update)} && {' '.join(install)}"
    if os.name != "posix" or os.geteuid() != 0 or shutil.which("apt-get") is None:
        print(f"Something of the system is missing. As root, run this line and start again:\n\n  {line}\n")
        return False
    print(f"Installing: {' '.join(packages)}", flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(update, env=environment, stdout=subprocess.DEVNULL, check=False)
    done = subprocess.run(install, env=environment, stdout=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        print(f"This line failed. Run it by hand to see why:\n\n  {line}\n")
    return done.returncode == 0


def requirements(extras: Iterable[str]) -> list[str]:
    """Return what ``pyproject.toml`` asks for."""
    import tomllib  # from 3.11 on: an older Python gets as far as the sentence that says so

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project["dependencies"] + [
        item for extra in extras for item in project["optional-dependencies"][extra]
    ]


def prepare(*, libraries: dict[str, str], tools: dict[str, str], extras: tuple[str, ...] = ()) -> Path | None:
    """Make ``.venv`` with everything in it and return its Python, or None when a person has to act first.

    ``CUSTOS_WHEELS`` names a folder of wheels for a machine without a network.
    """
    if sys.version_info < (3, 11):  # noqa: UP036
        print(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}.")
        return None
    if not install_packages(missing_packages(libraries, tools)):
        return None
    python = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    wanted = requirements(extras)
    stamp = VENV / f"installed-{'-'.join(extras) or 'run'}"
    digest = hashlib.sha256("\n".join([sys.version, *wanted]).encode()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text() == digest:
        return python
    if not _has_pip(python):
        print("Making .venv", flush=True)
        # What hangs on a Python that has moved away is made anew; where only pip is missing, it is added.
        command = [sys.executable, "-I", "-m", "venv", *([] if python.exists() else ["--clear"]), str(VENV)]
        if subprocess.run(command, check=False).returncode != 0:
            print("The folder .venv could not be made. Is this folder yours, and is there room on the disk?")
            return None
    print("Installing the libraries (once; some minutes on a slow line)", flush=True)
    wheels = os.environ.get("CUSTOS_WHEELS")
    source = ["--no-index", "--find-links", wheels] if wheels else []
    # Compiling everything takes longer than what the tests use of it. A program that somebody else has
    # installed may not write what it compiles: there it is done here.
    later = ["--no-compile"] if extras else []
    command = [
        str(python),
        "-I",  # or a file pip.py in the folder where this was started would run
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        *later,
        *source,
        *wanted,
    ]
    if subprocess.run(command, check=False).returncode != 0:
        print("The libraries could not be installed. Without a network: CUSTOS_WHEELS=folder-of-wheels.")
        return None
    stamp.write_text(digest)
    return python


def _has_pip(python: Path) -> bool:
    """Say whether ``.venv`` works: not when making it broke off, or when its Python has moved away."""
    if not python.exists():
        return False
    return (
        subprocess.run([str(python), "-I", "-c", "import pip"], capture_output=True, check=False).returncode
        == 0
    )


def run(python: Path, *arguments: str) -> int:
    """Run a module of the project and return its exit status."""
    return subprocess.run([str(python), *arguments], cwd=ROOT, check=False).returncode
