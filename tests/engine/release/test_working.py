"""What no ledger names goes with the process that works in it, and what a killed one left goes later."""

import os
import tempfile
import time

import pandas as pd
import pytest

from engine import library
from engine.errors import InputRefused
from engine.release.plan import Plan
from engine.release.working import COMPARED, DAY, TABLES, unrecorded


def leave(place, prefix):
    """Leave what processes that were killed two days and a minute ago left."""
    for name, age in {"old": 2 * DAY, "new": 60.0}.items():
        (place / f"{prefix}{name}").mkdir()
        (place / f"{prefix}{name}" / "rows").write_text("1")
        os.utime(place / f"{prefix}{name}", (time.time() - age,) * 2)


@pytest.mark.parametrize("is_beside", [False, True])
def test_what_killed_processes_left_goes_after_a_day(tmp_path, monkeypatch, is_beside):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    leave(tmp_path, COMPARED)
    (tmp_path / "other").mkdir()
    (tmp_path / f"{COMPARED}link").symlink_to(tmp_path / "other")
    os.utime(tmp_path / "other", (time.time() - 2 * DAY,) * 2)
    with unrecorded(COMPARED, beside=tmp_path if is_beside else None) as folder:
        assert folder.parent == tmp_path and folder.stat().st_mode & 0o077 == 0
        (folder / "rows").write_text("1")
        left = {path.name for path in tmp_path.iterdir()} - {folder.name}
    assert left == {f"{COMPARED}new", "other", f"{COMPARED}link"}
    assert not folder.exists()


def test_tables_that_a_killed_run_wrote_go_with_a_later_one_whatever_becomes_of_that(tmp_path):
    leave(tmp_path, TABLES)
    with pytest.raises(InputRefused):
        library.run(Plan(), pd.DataFrame({"a": [1]}), out=tmp_path / "out", ledger=tmp_path / "l.sqlite")
    assert {path.name for path in tmp_path.glob(".*")} == {f"{TABLES}new"}
