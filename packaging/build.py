"""Build the program for people without Python: ``python3 packaging/build.py [FOLDER]``.

Writes ``FOLDER/custos`` (default ``dist/custos``) with the window ``custos-desktop``, the command
line ``custos`` and ``SHA256SUMS``. Two builds of the same state on the same machine are the same, byte for
byte.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import environment

SPEC = environment.ROOT / "packaging" / "custos.spec"
WHEN = "1767225600"  # what stands where a time would stand: the first second of 2026


def main() -> int:
    """Set up, build and return the exit status."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else environment.ROOT / "dist").absolute()
    python = prepare()
    return 1 if python is None else build(python, folder)


def prepare() -> Path | None:
    """Set up what building needs and return the Python that has it, see `environment.prepare`."""
    return environment.prepare(
        libraries=environment.DRAWING | environment.WINDOW | environment.python_library(),
        tools=environment.BUILDING,
        extras=("build",),
    )


def run_prepared(main: Callable[[], int]) -> int:
    """Run a script's ``main`` in a Python with everything: licences are told by what is installed there."""
    if importlib.util.find_spec("PyInstaller") is not None:
        return main()
    python = prepare()
    return 1 if python is None else subprocess.run([str(python), *sys.argv], check=False).returncode


def build(python: Path, folder: Path) -> int:
    """Build with this Python into the folder and return PyInstaller's exit status."""
    os.environ.update(PYTHONHASHSEED="1", SOURCE_DATE_EPOCH=WHEN)
    with tempfile.TemporaryDirectory() as work:
        status = environment.run(
            python,
            *("-m", "PyInstaller", str(SPEC), "--noconfirm", "--clean", "--log-level", "WARN"),
            *("--distpath", str(folder), "--workpath", work),
        )
    if status == 0:
        write_sums(folder / "custos")
    return status


def write_sums(folder: Path) -> None:
    """Write ``SHA256SUMS`` of every file in the folder."""
    sums = folder / "SHA256SUMS"
    sums.unlink(missing_ok=True)
    lines = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            lines.append(f"{digest}  {path.relative_to(folder).as_posix()}\n")
    sums.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
