"""A file that ends the library of statistics packages ends a process of its own, and no window."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

from engine.errors import Cancelled, InputRefused
from engine.progress import Progress
from engine.table.reading import package_process, package_reader
from engine.table.reading.readers import read_table

ROOT = Path(__file__).resolve().parents[4]
_VARIABLE = b"\x02\x00\x00\x00"


def sav(folder: Path, rows: int = 3) -> Path:
    path = folder / "a.sav"
    frame = pd.DataFrame({"person": [f"P{row}" for row in range(rows)], "age": 40.0, "t": "x" * 90})
    pyreadstat.write_sav(frame, path, variable_value_labels={"age": {1.0: "one"}})
    return path


def torn(folder: Path) -> Path:
    """Return a file that says a number with labels is a wide text: the library ends over it."""
    path = sav(folder)
    content = bytearray(path.read_bytes())
    at = content.index(b"AGE     ") - 24
    assert content[at : at + 4] == _VARIABLE
    content[at + 4 : at + 8] = (0x8F00).to_bytes(4, "little")
    path.write_bytes(content)
    return path


def test_a_file_that_ends_the_library_is_refused(tmp_path: Path) -> None:
    """In a process of its own, which would be lost with it."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom engine.errors import InputRefused\n"
        "from engine.table.reading.readers import read_table\n"
        "try:\n    read_table(Path(sys.argv[1]))\nexcept InputRefused as refused:\n    print(refused.code)\n"
    )
    command = [sys.executable, "-c", code, str(torn(tmp_path))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "table.package_ended\n")


def test_what_is_read_afterwards_is_read(tmp_path: Path) -> None:
    (tmp_path / "torn").mkdir()
    bad, good = torn(tmp_path / "torn"), sav(tmp_path)
    for _ in range(2):
        with pytest.raises(InputRefused) as refused:
            read_table(bad)
        assert refused.value.code == "table.package_ended"
        assert read_table(good).n_rows == 3


def test_a_process_that_waited_too_long_is_replaced(tmp_path: Path) -> None:
    path = sav(tmp_path)
    read_table(path)
    (waiting,) = package_process._idle
    waiting._process.kill()
    waiting._process.wait()
    assert read_table(path).n_rows == 3
    assert package_process._idle != [waiting]


def test_stop_ends_it_within_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "reader.py"
    slow.write_text('import time\ntime.sleep(30)\nprint(\'{"failed": "damaged"}\', flush=True)\n')
    package_process.end_all()
    monkeypatch.setattr(package_reader, "__file__", str(slow))
    asked = iter((False, False))  # not before the process is asked
    with pytest.raises(Cancelled):
        package_process.read_apart(
            sav(tmp_path),
            "read_sav",
            {},
            kind="spss",
            progress=Progress(stopped=lambda: next(asked, True)),
        )


def test_nothing_is_imported_from_where_the_file_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyreadstat.py").write_text("raise SystemExit(3)\n")
    package_process.end_all()
    monkeypatch.chdir(tmp_path)
    assert read_table(sav(tmp_path)).n_rows == 3
    package_process.end_all()


@pytest.mark.skipif(os.name == "nt", reason="no such limit")
def test_it_leaves_no_file_of_its_memory(tmp_path: Path) -> None:
    read_table(sav(tmp_path))
    limits = Path(f"/proc/{package_process._idle[-1]._process.pid}/limits")
    if not limits.exists():
        pytest.skip("this system does not tell the limits of a process")
    (core,) = [line for line in limits.read_text().splitlines() if "core file" in line]
    assert core.split()[4:6] == ["0", "0"]


@pytest.mark.parametrize("script", ["launch_window.py", "launch_command_line.py"])
def test_a_built_program_becomes_this_process(tmp_path: Path, script: str) -> None:
    request = {"reader": "read_sav", "path": str(sav(tmp_path)), "given": {}}
    done = subprocess.run(
        [sys.executable, str(ROOT / "packaging" / script), package_reader.WORD],
        input=json.dumps(request).encode() + b"\n",
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=120,
        check=True,
    )
    answer = json.loads(done.stdout.split(b"\n")[0])
    assert [name for name, *_ in answer["columns"]] == ["person", "age", "t"]
