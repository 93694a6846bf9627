"""Drafts and settings are written whole or not at all: what stood there stays until all of it is there."""

from __future__ import annotations

import errno
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.state import draft
from app.state import settings as settings_module
from app.state.settings import Settings
from engine.methods.catalogue import method
from engine.release.examples import plans
from engine.release.plan import Plan, Purpose


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every file end after half of what was to be written."""
    honest = settings_module.open_own

    class Half:
        def __init__(self, path: Path, **named: Any) -> None:
            self.file = honest(path, **named)

        def __enter__(self) -> Half:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def write(self, content: bytes) -> int:
            self.file.write(content[: len(content) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(settings_module, "open_own", Half)


def titled(title: str) -> Plan:
    return replace(plans(method("statistics.counts"))[0], purpose=Purpose(title=title))


def test_a_draft_that_does_not_fit_leaves_the_last_one(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    draft.save(titled("First"), frozenset(), folder=tmp_path)
    before = draft.path_of(tmp_path).read_bytes()
    request.getfixturevalue("full_disk")
    with pytest.raises(OSError, match="No space"):
        draft.save(titled("Second"), frozenset(), folder=tmp_path)
    assert draft.path_of(tmp_path).read_bytes() == before
    loaded = draft.load(folder=tmp_path)
    assert loaded is not None and loaded[0].purpose.title == "First"


def test_settings_that_do_not_fit_leave_those_that_were_there(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    settings = Settings(tmp_path)
    settings.set(theme="dark")
    (file,) = [path for path in tmp_path.iterdir() if path.is_file()]
    before = file.read_bytes()
    request.getfixturevalue("full_disk")
    with suppress(OSError):  # whether it is said or not
        settings.set(theme="light")
    assert file.read_bytes() == before
    assert Settings(tmp_path).get("theme") == "dark"
