"""The file: made once, refused in words when it cannot be used, never replaced by a forgetful new one."""

from __future__ import annotations

import argparse
import errno
import os
import sqlite3
import stat
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine import texts
from engine.__main__ import main
from engine.commands.values import existing_ledger
from engine.errors import InputRefused, VerificationFailed
from engine.ledger import Ledger, store
from engine.policy import keys_folder


@contextmanager
def refused(code, kind=InputRefused):
    with pytest.raises(kind) as caught:
        yield
    assert caught.value.code == f"ledger.{code}"
    texts.explain(caught.value)


def set_pragma(path, statement):
    with sqlite3.connect(path) as db:
        db.execute(statement)
    db.close()


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_a_new_ledger_is_its_owners_alone_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "folder" / "of mine #1?" / "ledger.sqlite"
    Ledger(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["ledger.sqlite"]


def test_opening_again_changes_nothing(ledger, holding, path):
    before = path.read_bytes()
    assert Ledger(path).holdings() == ledger.holdings()
    assert Ledger(path, read_only=True).holdings() == ledger.holdings()
    assert path.read_bytes() == before


def test_a_newer_ledger_is_refused_and_not_changed(ledger, path):
    set_pragma(path, f"PRAGMA user_version = {store.VERSION + 1}")
    before = path.read_bytes()
    with refused("newer_version"):
        Ledger(path)
    with refused("newer_version"):
        ledger.create_holding("Register", unit="row", neighbours="add_remove", epsilon=1)
    assert path.read_bytes() == before


def test_a_version_that_never_was_is_refused(ledger, path):
    set_pragma(path, "PRAGMA user_version = 0")
    with refused("corrupted", VerificationFailed):
        Ledger(path)


def test_another_database_is_not_a_ledger(path):
    set_pragma(path, "CREATE TABLE patients (name)")
    with refused("not_a_ledger", VerificationFailed):
        Ledger(path)


@pytest.mark.parametrize("content", [b"name;age\nAnna;7\n" * 200, b"\0" * 5000])
def test_another_file_is_not_a_ledger(path, content):
    path.write_bytes(content)
    with pytest.raises(VerificationFailed) as caught:
        Ledger(path)
    assert caught.value.code in ("ledger.corrupted", "ledger.not_a_ledger")
    assert "Anna" not in " ".join(texts.explain(caught.value))
    assert path.read_bytes() == content


def test_an_empty_file_is_a_damaged_ledger_not_a_new_one(path):
    path.touch()
    with refused("empty_file", VerificationFailed):
        Ledger(path)
    assert path.stat().st_size == 0


def test_a_ledger_removed_in_the_middle_of_a_change_is_not_made_anew(path):
    path.with_name(path.name + "-journal").write_bytes(b"left by a killed process")
    with refused("removed", VerificationFailed):
        Ledger(path)
    assert not path.exists()


def test_a_ledger_that_vanishes_while_open_is_not_made_anew(ledger, path, reserve, holding):
    path.unlink()
    with refused("cannot_open"):
        reserve("0.1")
    assert not path.exists()


@pytest.mark.parametrize("place", [".", "/", ""])
def test_a_folder_as_a_whole_is_no_ledger(
    place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for read_only in (True, False):
        with refused("cannot_open"):
            Ledger(Path(place), read_only=read_only)
    monkeypatch.setenv("CUSTOS_SEAL_PASSPHRASE_FILE", "words")
    assert main(["ledger", "--ledger", place]) == 2


def test_every_truncation_is_found(ledger, holding, reserve, path, tmp_path):
    for number in range(20):
        reserve("0.01", title=f"Release {number}")
    whole = path.read_bytes()
    copy = tmp_path / "copy.sqlite"
    for size in range(4096, len(whole), 4096):
        copy.write_bytes(whole[:size])
        with pytest.raises(VerificationFailed):
            Ledger(copy).verify_chain()


def test_a_flipped_byte_is_found_or_was_never_read(ledger, holding, reserve, path, tmp_path):
    ledger.attach(holding, "print", ledger.person_digests(map(str, range(50))), ["age"])
    reserve("0.25")
    whole = path.read_bytes()
    truth = ledger.to_json()
    truth.pop("written")
    copy = tmp_path / "copy.sqlite"
    detected = 0
    for place in range(0, len(whole), 61):
        altered = bytearray(whole)
        altered[place] ^= 0x15
        copy.write_bytes(altered)
        try:
            opened = Ledger(copy)
            opened.verify_chain()
            seen = opened.to_json()
        except (VerificationFailed, InputRefused) as error:
            texts.explain(error)
            detected += 1
            continue
        seen.pop("written")
        assert seen == truth
    assert detected > 50


def test_a_missing_ledger_is_not_made_for_an_auditor(path):
    with refused("missing"):
        Ledger(path, read_only=True)
    assert not path.exists()


def test_an_auditors_copy_is_read_and_not_written(ledger, holding, reserve, path):
    entry = reserve("0.5")
    before = path.read_bytes()
    copy = Ledger(path, read_only=True)
    copy.verify_chain()
    assert copy.match("print", ledger.person_digests(["anna"]), ["age"]) == []
    with refused("read_only"):
        copy.spend(entry)
    assert path.read_bytes() == before


def test_a_folder_in_the_place_of_the_file(tmp_path):
    with refused("cannot_open"):
        Ledger(tmp_path)


def test_a_file_in_the_place_of_the_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputRefused) as caught:
        Ledger(tmp_path / "file" / "ledger.sqlite")
    assert caught.value.code in ("ledger.read_only", "ledger.cannot_open")
    texts.explain(caught.value)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with refused("read_only"):
            Ledger(tmp_path / "ledger.sqlite")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_folder_into_which_one_may_not_look(tmp_path, monkeypatch, read_only):
    """It is the folder of another user of the same computer; a command asks first whether a file is there."""
    place, look = tmp_path / "ledger.sqlite", Path.stat

    def stat_outside(path, **how):
        if tmp_path in path.parents:
            raise PermissionError(errno.EACCES, "not allowed", str(path))
        return look(path, **how)

    monkeypatch.setattr(Path, "stat", stat_outside)
    with refused("cannot_open"):
        Ledger(place, read_only=read_only)
    with refused("cannot_open"):
        existing_ledger(argparse.Namespace(ledger=str(place)))


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder that even root cannot write")  # noqa: PTH112
def test_a_folder_in_which_nothing_can_be_made():
    with pytest.raises(InputRefused) as caught:
        Ledger(Path("/proc/self/ledger.sqlite"))
    assert caught.value.code in ("ledger.read_only", "ledger.disk_error")
    texts.explain(caught.value)


def test_a_file_that_turned_read_only(ledger, holding, reserve, monkeypatch):
    reserve("0.1")
    before = ledger.to_json()["holdings"]
    with_pragma(monkeypatch, "PRAGMA query_only = ON")  # SQLite answers as for a read-only file
    with refused("read_only"):
        reserve("0.1")
    monkeypatch.undo()
    assert ledger.to_json()["holdings"] == before


def test_a_full_disk_leaves_the_ledger_as_it_was(ledger, holding, reserve, path, monkeypatch):
    reserve("0.1")
    before = ledger.to_json()["holdings"]
    digests = ledger.person_digests(map(str, range(20_000)))
    pages = path.stat().st_size // 4096
    with_pragma(monkeypatch, f"PRAGMA max_page_count = {pages + 2}")  # SQLite answers as on a full disk
    with refused("disk_full"):
        ledger.attach(holding, "print", digests, ["age"])
    monkeypatch.undo()
    assert ledger.to_json()["holdings"] == before
    ledger.verify_chain()


def test_a_full_disk_while_the_ledger_is_made_leaves_nothing(path, monkeypatch):
    with_pragma(monkeypatch, "PRAGMA max_page_count = 3")
    with refused("disk_full"):
        Ledger(path)
    assert list(path.parent.iterdir()) == []


def with_pragma(monkeypatch, statement):
    real = store.open_connection

    @contextmanager
    def connected(*args, **options):
        with real(*args, **options) as db:
            db.execute(statement)
            yield db

    monkeypatch.setattr(store, "open_connection", connected)


def test_a_locked_ledger_is_refused_after_the_wait(ledger, holding, reserve, path):
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    impatient = Ledger(path, timeout=0.05)
    with refused("locked"):
        reserve("0.1", of=impatient)
    assert impatient.entries() == []  # reading goes on
    other.execute("ROLLBACK")
    other.close()
    reserve("0.1", of=impatient)


def test_errors_say_nothing_of_what_is_inside(ledger, holding, reserve, path):
    reserve("0.1", recipient="Secret University")
    path.write_bytes(path.read_bytes().replace(b"Secret University", b"Public University"))
    with pytest.raises(VerificationFailed) as caught:
        ledger.verify_chain()
    assert "University" not in f"{caught.value} {texts.explain(caught.value)}"


def test_a_ledger_that_was_removed_from_beside_its_keys_is_not_made_anew(path):
    """Else a file that somebody took away gives the whole budget back."""
    Ledger(path)
    keys = keys_folder(path)
    keys.mkdir()
    (keys / "key.json").write_text("{}")
    path.unlink()
    for read_only in (False, True):
        with pytest.raises(VerificationFailed, match=r"ledger\.removed_keys"):
            Ledger(path, read_only=read_only)
    assert not path.exists()
    keys.rename(keys.with_name("earlier"))
    assert Ledger(path).holdings() == []


def test_who_may_not_look_beside_the_keys_reads_and_gets_every_other_answer_in_words(
    ledger, holding, path, monkeypatch
):
    """On a shared folder an auditor's own user has no right to the folder of the keys."""
    keys = keys_folder(path)
    keys.mkdir(mode=0o700)
    is_file, scandir = Path.is_file, os.scandir

    def refuse(place):
        if str(place).startswith(str(keys)):
            raise PermissionError(errno.EACCES, "Permission denied", str(place))

    monkeypatch.setattr(Path, "is_file", lambda self: refuse(self) or is_file(self))
    monkeypatch.setattr(os, "scandir", lambda place=".": refuse(place) or scandir(place))
    assert [one.id for one in Ledger(path, read_only=True).holdings()] == [holding]
    with pytest.raises(InputRefused) as refused:
        ledger.create_holding("Other", unit="person", neighbours="add_remove", epsilon="1")
    assert refused.value.code == "ledger.read_only"
    path.unlink()  # nor is a new one made where nobody can say that there are no keys of an earlier one
    with pytest.raises(VerificationFailed) as removed:
        Ledger(path)
    assert removed.value.code == "ledger.removed_keys"
