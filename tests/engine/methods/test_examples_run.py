"""Worked examples are made once a run, whichever worker asks first, and by another where that one fails."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

import pytest

from tests.engine.methods import examples_run

ROOT = Path(__file__).resolve().parents[3]
ASKING = """
import sys, time
from pathlib import Path
from tests.engine.methods.examples_run import _made_once

def made_in(folder):
    with open(sys.argv[1], "a") as file:
        file.write("made\\n")
    time.sleep(0.3)
    folder.mkdir()
    (folder / "there").touch()

folder = _made_once("one", made_in)
assert (folder / "there").exists()
print(folder)
"""


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let this be a worker of a run of its own, and return the folder of that run."""
    monkeypatch.setenv("PYTEST_XDIST_TESTRUNUID", uuid.uuid4().hex)
    folder = examples_run.shared_folder()
    assert folder is not None
    yield folder
    rmtree(folder, ignore_errors=True)


@pytest.mark.guarantee
def test_workers_make_it_once(shared: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", ASKING, str(tmp_path / "made")]
    workers = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = [worker.communicate()[0].strip() for worker in workers]
    assert said == [str(shared / "one")] * 3
    assert (tmp_path / "made").read_text() == "made\n"
    assert [path.name for path in shared.iterdir()] == ["one"]


def test_who_asks_later_finds_what_was_made(shared: Path) -> None:
    def never(folder: Path) -> None:
        raise AssertionError("made again")

    assert examples_run._made_once("one", Path.mkdir) == examples_run._made_once("one", never)


def test_where_one_fails_the_next_makes_it(shared: Path) -> None:
    def fails(folder: Path) -> None:
        raise ValueError("no room")

    with pytest.raises(ValueError, match="no room"):
        examples_run._made_once("one", fails)
    assert examples_run._made_once("one", Path.mkdir) == shared / "one"


def test_who_comes_too_late_keeps_its_own(shared: Path) -> None:
    def overtaken(folder: Path) -> None:
        folder.mkdir()
        (shared / "one").mkdir()
        (shared / "one" / "there").touch()

    found = examples_run._made_once("one", overtaken)
    assert found != shared / "one" and found.exists()
