"""What a comparison works in goes with it, and what a killed one left goes later."""

import os
import tempfile
import time

from engine.release.working import COMPARED, DAY, for_comparing


def test_what_killed_comparisons_left_goes_after_a_day(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ages = {"old": 2 * DAY, "new": 60.0}
    for name, age in ages.items():
        (tmp_path / f"{COMPARED}{name}").mkdir()
        (tmp_path / f"{COMPARED}{name}" / "rows").write_text("1")
        os.utime(tmp_path / f"{COMPARED}{name}", (time.time() - age,) * 2)
    (tmp_path / "other").mkdir()
    (tmp_path / f"{COMPARED}link").symlink_to(tmp_path / "other")
    os.utime(tmp_path / "other", (time.time() - 2 * DAY,) * 2)
    with for_comparing() as folder:
        assert folder.parent == tmp_path and folder.stat().st_mode & 0o077 == 0
        (folder / "rows").write_text("1")
        left = {path.name for path in tmp_path.iterdir()} - {folder.name}
    assert left == {f"{COMPARED}new", "other", f"{COMPARED}link"}
    assert not folder.exists()
