"""A ledger on a drive without working locks refuses to spend; where locks work it costs next to nothing."""

from __future__ import annotations

import sqlite3
import sys
import time

import pytest

from engine import texts
from engine.errors import InputRefused
from engine.ledger import Ledger, locks
from tests.ratios import slack


@pytest.fixture(autouse=True)
def forget():
    """Let every test look anew."""
    locks._looked.clear()
    yield
    locks._looked.clear()


def without_locks(monkeypatch):
    """Open every ledger as on a drive whose locks do nothing: SQLite takes none."""
    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda name, **options: real(f"{name}&nolock=1", **options))


def ways():
    return ["own"] if sys.platform == "win32" else ["own", "child"]


@pytest.fixture(params=ways())
def way(request, monkeypatch):
    """The way of this system, and that of one without locks of open files."""
    if request.param == "child":
        monkeypatch.setattr(locks, "_is_free", lambda path: (locks._is_free_for_a_child(path), -1))


def test_without_locks_nothing_is_reserved(way, ledger, holding, reserve, monkeypatch):
    without_locks(monkeypatch)
    for _ in range(2):
        with pytest.raises(InputRefused) as caught:
            reserve("0.1")
        assert caught.value.code == "ledger.no_locks"
    texts.explain(caught.value)
    assert Ledger(ledger.path, read_only=True).entries() == []


def test_with_locks_it_is_looked_at_once(way, ledger, holding, reserve, monkeypatch):
    seen = []
    real = locks._is_free
    monkeypatch.setattr(locks, "_is_free", lambda path: seen.append(path) or real(path))
    for _ in range(3):
        reserve("0.1")
    assert len(seen) == 1 and len(ledger.entries()) == 3


def test_looking_takes_no_lock_from_the_writer(ledger, holding, reserve):
    """Closing a file drops the locks of a process on it: the look must not."""
    with ledger._transaction(write=True):
        locks.refuse_without(ledger.path)
        assert locks._is_free_for_a_child(ledger.path) is False


@pytest.mark.benchmark
def test_the_look_is_cheap(ledger, holding):
    with ledger._transaction(write=True):
        begun = time.perf_counter()
        locks.refuse_without(ledger.path)
        assert time.perf_counter() - begun < 0.05 * slack()


def test_few_files_stay_open(tmp_path, asked):
    for number in range(12):
        one = Ledger(tmp_path / f"{number}.sqlite")
        with one._transaction(write=True):
            locks.refuse_without(one.path)
    assert len(locks._looked) == 8
