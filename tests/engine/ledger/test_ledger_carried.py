"""Ledgers that earlier states of the program wrote: nothing that was spent is forgotten, the old file stays.

``earlier/commit-N.sqlite.gz`` was written by the code of the N-th commit: a register of 40 people with
ε = 2, δ = 10⁻⁶; entries of ε = 1/2 (complete), 1/4 (failed after the first noise), 1 (freed), and one without
a guarantee (complete).
"""

from __future__ import annotations

import gzip
import sqlite3
import stat
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from engine import texts
from engine.errors import InputRefused, VerificationFailed
from engine.ledger import Ledger, journal, store
from engine.release.charge import make_composer

KEPT = sorted((Path(__file__).parent / "earlier").glob("*.gz"))
NAME = "Diabetes register (old)"
SPENT = Fraction(3, 4)


@pytest.fixture(params=KEPT, ids=lambda path: path.name.removesuffix(".sqlite.gz"))
def old(request, tmp_path) -> Path:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(gzip.decompress(request.param.read_bytes()))
    return path


def head_of(path):
    with sqlite3.connect(path) as db:
        return db.execute("SELECT sequence, hash FROM journal ORDER BY sequence DESC").fetchone()


def content_of(path):
    with sqlite3.connect(path) as db:
        return [*db.iterdump(), *db.execute("PRAGMA user_version")]


def test_there_are_ledgers_of_every_format():
    assert len(KEPT) >= 5


def test_what_was_spent_is_spent_still(old):
    before, whole = head_of(old), content_of(old)
    version = sqlite3.connect(old).execute("PRAGMA user_version").fetchone()[0]
    ledger = Ledger(old)
    ledger.verify_chain()
    status = ledger.status(NAME)
    assert (status.epsilon_spent, status.epsilon_left) == (SPENT, 2 - SPENT)
    assert (status.holding.delta, status.holding.money) == (Fraction(1, 10**6), 400_000)
    assert status.releases == 3 and not status.bounds_all
    assert 0 < ledger.status(NAME, make_composer(status.holding)).epsilon_spent <= SPENT
    assert ledger.continues(*before)  # bundles of then still belong to it
    event = next(one for one in ledger.journal() if one["kind"] == journal.CARRIED_OVER)
    assert event["details"]["head"] == {"sequence": before[0], "hash": before[1]}
    assert event["details"]["from"] == version
    kept = old.with_name(f"ledger-format-{version}.sqlite")
    assert content_of(kept) == whole
    if sys.platform != "win32":
        assert stat.S_IMODE(kept.stat().st_mode) == stat.S_IMODE(old.stat().st_mode) & 0o600


def test_it_is_carried_over_once_and_goes_on(old):
    ledger = Ledger(old)
    names, head = sorted(path.name for path in old.parent.iterdir()), ledger.head()
    again = Ledger(old)
    assert again.head() == head and sorted(path.name for path in old.parent.iterdir()) == names
    entry = again.reserve(
        NAME,
        plan_fingerprint="p",
        title="Later",
        recipient="University",
        guarantee_json={"epsilon": "1/4"},
        epsilon="1/4",
        delta=0,
        unit="person",
        neighbours="add_remove",
        compose=lambda all_: (sum((Fraction(one["epsilon"]) for one in all_), Fraction(0)), Fraction(0)),
    )
    again.spend(entry)
    again.complete(entry, release_sums_hash="a" * 64, internal_sums_hash="b" * 64, told=b"numbers")
    assert again.status(NAME).epsilon_left == 1 and again.told(entry) == b"numbers"
    again.verify_chain()


def test_its_table_is_known_again(old):
    ledger = Ledger(old)
    found = ledger.match(
        "new", ledger.person_digests(["1", "2"]), ["patient_nbr", "age", "gender", "readmitted"]
    )
    assert found and found[0].holding.name == NAME


def test_who_may_only_read_sees_the_same_and_changes_nothing(old):
    before = old.read_bytes()
    ledger = Ledger(old, read_only=True)
    ledger.verify_chain()
    assert ledger.status(NAME).epsilon_spent == SPENT and ledger.continues(*head_of(old))
    assert old.read_bytes() == before and [path.name for path in old.parent.iterdir()] == ["ledger.sqlite"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entry SET epsilon = '1/100' WHERE epsilon = '1/2'",
        "UPDATE holding SET epsilon = '20/1'",
        "DELETE FROM entry WHERE epsilon = '1/2'",
        "DROP TRIGGER journal_not_removed",
        "CREATE TRIGGER more AFTER INSERT ON entry BEGIN SELECT 1; END",
    ],
)
def test_one_that_was_altered_is_not_carried_over(old, statement):
    with sqlite3.connect(old) as db:
        db.execute(statement)
    db.close()
    before = old.read_bytes()
    for read_only in (False, True):
        with pytest.raises(VerificationFailed) as caught:
            Ledger(old, read_only=read_only)
        texts.explain(caught.value)
    assert old.read_bytes() == before and [path.name for path in old.parent.iterdir()] == ["ledger.sqlite"]


def test_a_failure_in_the_middle_leaves_it_as_it_was(old, monkeypatch):
    before = old.read_bytes()

    def refuse(*_):
        raise InputRefused("ledger.disk_error", file="", folder="")

    monkeypatch.setattr(store, "check_format", refuse)
    with pytest.raises(InputRefused):
        Ledger(old)
    monkeypatch.undo()
    assert old.read_bytes() == before
    assert Ledger(old).status(NAME).epsilon_spent == SPENT


@pytest.mark.parametrize(
    "change",
    [
        lambda sql: " ".join(sql.split()).replace("; ", ";\n").replace("END;", "END;\n"),
        lambda sql: sql.replace(
            "title TEXT NOT NULL, plan TEXT NOT NULL", "plan TEXT NOT NULL, title TEXT NOT NULL"
        ),
        lambda sql: sql + "CREATE INDEX by_holding ON entry (holding);",
        lambda sql: sql.replace("CREATE TABLE entry (", "CREATE TABLE entry ( -- one release each\n"),
    ],
    ids=["layout", "order", "index", "comment"],
)
def test_a_harmless_edit_of_the_statements_reads_the_same_file(ledger, holding, path, monkeypatch, change):
    """The program of tomorrow writes its tables in other words and opens the ledger of today."""
    store.expected_structure.cache_clear()
    monkeypatch.setattr(store, "SCHEMA", change(store.SCHEMA))
    try:
        assert Ledger(path).holding(holding).name
        Ledger(path.with_name("other.sqlite")).verify_chain()
    finally:
        store.expected_structure.cache_clear()
