"""The chain: whatever is altered, removed, added or moved in the file is found, and named."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3

import numpy as np
import pytest

from engine import texts
from engine.errors import InputRefused, VerificationFailed
from engine.ledger import Ledger
from engine.ledger.journal import hash_row, write_canonical

SUMS = {"release_sums_hash": "a" * 64, "internal_sums_hash": "b" * 64}


@pytest.fixture
def used(ledger, holding, reserve):
    """A ledger with some history, its people, and a head from the middle of it."""
    rows = np.arange(1, 40, dtype=np.uint64) << np.uint64(57)
    people = ledger.person_digests(["anna", "ben", "carl"])
    ledger.attach(holding, "print", people, ["age"], rows=rows, contents=rows[:2])
    entry = reserve("0.25", expires="2027-01-31")
    ledger.spend(entry)
    ledger.complete(entry, **SUMS)
    reserve("0.5")
    ledger.decide("threshold overridden", "Board decision 12", holding=holding)
    return ledger


def alter(path, *statements, values=()):
    """Change the file behind the program's back, and leave its triggers as they were."""
    with sqlite3.connect(path) as db:
        triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            db.execute(statement, values)
        for _, sql in triggers:
            if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'journal'").fetchone():
                db.execute(sql)
    db.close()


def found(action, code):
    with pytest.raises(VerificationFailed) as caught:
        action()
    assert caught.value.code == f"ledger.{code}"
    texts.explain(caught.value)
    return caught.value.values


def test_every_event_is_journalled_in_order(used):
    kinds = [event["kind"] for event in used.journal()]
    assert kinds == [
        "begun",
        "holding_made",
        "table_attached",
        "reserved",
        "spent",
        "completed",
        "reserved",
        "decision",
    ]
    assert [event["sequence"] for event in used.journal()] == list(range(8))
    assert used.journal()[-1]["details"]["reason"] == "Board decision 12"
    assert used.verify_chain() == used.head()
    assert used.head().sequence == 7


def test_each_row_carries_the_hash_of_the_one_before(used, path):
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT previous, event, hash FROM journal ORDER BY sequence").fetchall()
    db.close()
    previous = "0" * 64
    for stated, event, own in rows:  # by hand, from the definition
        assert stated == previous
        assert write_canonical(json.loads(event)) == event
        previous = hashlib.sha256((previous + event).encode()).hexdigest()
        assert own == previous
    assert used.head().hash == previous


def test_two_ledgers_share_neither_chain_nor_key(tmp_path):
    one, two = Ledger(tmp_path / "1.sqlite"), Ledger(tmp_path / "2.sqlite")
    assert one.head().hash != two.head().hash
    assert one.person_digests(["anna"]) != two.person_digests(["anna"])
    assert one.input_name("a" * 64) != two.input_name("a" * 64)


@pytest.mark.parametrize("row", range(8))
@pytest.mark.parametrize(
    "statement, where",
    [
        ('UPDATE journal SET event = replace(event, \'"time":"2\', \'"time":"1\') WHERE sequence = ?', 0),
        ("UPDATE journal SET hash = substr(hash, 2) || '0' WHERE sequence = ?", 0),
        ("UPDATE journal SET previous = '' WHERE sequence = ?", 0),
        ("UPDATE journal SET event = '[]' WHERE sequence = ?", 0),
        ("UPDATE journal SET event = 7 WHERE sequence = ?", 0),
    ],
)
def test_the_first_altered_row_is_named(used, path, row, statement, where):
    alter(path, statement, values=(row,))
    assert found(used.verify_chain, "chain_broken")["row"] == row + where


@pytest.mark.parametrize("row", range(7))
def test_the_first_removed_row_is_named(used, path, row):
    alter(path, f"DELETE FROM journal WHERE sequence = {row}")
    assert found(used.verify_chain, "chain_broken")["row"] == row


@pytest.mark.parametrize("row", range(7))
def test_moved_rows_are_found(used, path, row):
    alter(
        path,
        f"UPDATE journal SET sequence = -1 WHERE sequence = {row}",
        f"UPDATE journal SET sequence = {row} WHERE sequence = {row + 1}",
        f"UPDATE journal SET sequence = {row + 1} WHERE sequence = -1",
    )
    assert found(used.verify_chain, "chain_broken")["row"] == row


@pytest.mark.parametrize("number", ["sequence + 3", "-1"])
def test_a_row_of_another_number_is_found(used, path, number):
    """The last one, too: its hash is right, and no other follows it."""
    last = used.head().sequence
    alter(path, f"UPDATE journal SET sequence = {number} WHERE sequence = {last}")
    assert found(used.verify_chain, "chain_broken")["row"] == (last if number != "-1" else 0)


def test_a_removed_last_row_is_found_when_it_changed_a_table(used, path, reserve):
    entry = reserve("0.1")
    alter(path, f"DELETE FROM journal WHERE sequence = {used.head().sequence}")
    assert found(used.verify_chain, "entry_differs")["row"] == entry


def test_an_empty_journal_is_found(used, path):
    alter(path, "DELETE FROM journal")
    assert found(used.verify_chain, "chain_broken")["row"] == 0


@pytest.mark.parametrize(
    "said",
    [
        {"table": "money", "row": "1"},
        {"table": "money", "row": "1", "changes": {}},
        {"table": ["entry"], "row": "1", "changes": {}},
        {"table": "holding", "changes": {"name": "x"}},
        {"table": "holding", "row": ["1"], "changes": {"name": "x"}},
        {"table": "holding", "row": {}, "changes": {"name": "x"}},
        {"table": "holding", "row": "1", "changes": "x"},
    ],
    ids=str,
)
def test_a_row_with_right_hashes_but_impossible_content_is_found(used, path, said):
    head = used.head()
    event = write_canonical({"sequence": head.sequence + 1, "kind": "x", **said})
    values = (head.sequence + 1, head.hash, event, hash_row(head.hash, event))
    alter(path, "INSERT INTO journal VALUES (?, ?, ?, ?)", values=values)
    assert found(used.verify_chain, "chain_broken")["row"] == head.sequence + 1


COLUMNS = (
    "number, holding, parent, state, title, plan, recipient, request, agreement, expires, approver, loss, "
    "unit, neighbours, guarantee, epsilon, delta, tables, questions, folder, process, reserved_at, spent_at, "
    "closed_at, withdrawn_at, reason, release_sums, internal_sums, state_hash"
)
COPY_OF_AN_ENTRY = f"INSERT INTO entry (id, {COLUMNS}) SELECT 'r1', {COLUMNS} FROM entry LIMIT 1"
ALTERATIONS = [
    ("UPDATE entry SET epsilon = '1/100'", "entry"),
    ("UPDATE entry SET state = 'freed' WHERE state = 'reserved'", "entry"),
    ("UPDATE entry SET recipient = 'Nobody'", "entry"),
    ("UPDATE entry SET epsilon = 'nonsense'", "entry"),
    ("UPDATE entry SET guarantee = '{'", "entry"),
    ("DELETE FROM entry WHERE state = 'complete'", "entry"),
    ("UPDATE entry SET loss = 'none'", "entry"),
    ("UPDATE entry SET parent = (SELECT max(id) FROM entry) WHERE state = 'complete'", "entry"),
    ("UPDATE entry SET state_hash = release_sums", "entry"),
    ("UPDATE entry SET questions = '[\"q\"]'", "entry"),
    (COPY_OF_AN_ENTRY, "entry"),
    ("UPDATE holding SET epsilon = '100/1'", "holding"),
    ("UPDATE holding SET delta = '1/2'", "holding"),
    ("UPDATE holding SET neighbours = 'replace_one'", "holding"),
    ("DELETE FROM holding", "holding"),
    ("UPDATE attached SET people = 1", "attached"),
    ("UPDATE attached SET key = 'visit'", "attached"),
    ("UPDATE attached SET traces_hash = id", "attached"),
    ("DELETE FROM attached", "attached"),
]  # fmt: skip


@pytest.mark.parametrize("statement, table", ALTERATIONS)
def test_tables_that_disagree_with_the_journal_are_found_before_anything_else(
    used, path, holding, reserve, statement, table
):
    alter(path, statement)
    found(used.verify_chain, f"{table}_differs")
    found(lambda: reserve("0.01"), f"{table}_differs")
    found(lambda: used.status(holding), f"{table}_differs")
    found(used.to_json, f"{table}_differs")
    found(lambda: Ledger(path), f"{table}_differs")


PEOPLE_ALTERED = [
    "DELETE FROM trace",
    "UPDATE trace SET people = zeroblob(24)",
    "UPDATE trace SET people = substr(people, 9)",
    "UPDATE trace SET rows = x''",
    "UPDATE trace SET contents = people",
    "UPDATE trace SET sampled = 2",
    "UPDATE trace SET people = 'x'",
    "UPDATE trace SET rows = 7",
    "UPDATE trace SET contents = ''",
    "INSERT INTO trace SELECT 't1', people, sampled, rows, contents FROM trace",
]


@pytest.mark.parametrize("statement", PEOPLE_ALTERED)
def test_changed_people_are_found_by_whoever_asks_for_them(used, path, holding, statement):
    """Not only by the auditor: the very release that would profit from it is refused."""
    alter(path, "PRAGMA foreign_keys = OFF", statement)
    found(used.verify_chain, "people_differ")
    nobody = used.person_digests([])
    found(lambda: used.match("later", nobody, ["x"]), "people_differ")
    found(lambda: used.attach(holding, "later", nobody, ["x"]), "people_differ")


@pytest.mark.parametrize("statement", ["UPDATE secret SET key = zeroblob(32)", "DELETE FROM secret"])
def test_another_key_is_found(used, path, statement):
    alter(path, statement)
    found(used.head, "key_differs")


@pytest.mark.parametrize("table", ["journal", "entry", "holding", "attached", "secret"])
def test_a_missing_table_is_found(used, path, table):
    alter(path, "PRAGMA foreign_keys = OFF", f"DROP TABLE {table}")
    found(used.head, "corrupted")


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER journal_not_changed",
        "ALTER TABLE entry RENAME COLUMN withdrawn_at TO withdrawn",
        "CREATE TRIGGER forget AFTER INSERT ON entry BEGIN DELETE FROM trace; END",
        "CREATE VIEW spent AS SELECT * FROM entry",
        "ALTER TABLE entry ADD COLUMN refund TEXT",
    ],
)
def test_another_structure_is_found(used, path, statement):
    with sqlite3.connect(path) as db:
        db.execute(statement)
    db.close()
    found(used.head, "corrupted")


def test_the_file_itself_refuses_to_change_the_journal(used, path):
    with sqlite3.connect(path) as db:
        for statement in ("DELETE FROM journal", "UPDATE journal SET event = ''"):
            with pytest.raises(sqlite3.IntegrityError):
                db.execute(statement)
    db.close()


def test_a_head_is_known_to_every_later_ledger_and_to_no_older_one(used, path, reserve, tmp_path):
    older = tmp_path / "older.sqlite"
    shutil.copy(path, older)
    at_release = used.head()
    reserve("0.1")
    later = used.head()
    assert used.continues(at_release.sequence, at_release.hash)
    assert used.continues(later.sequence, later.hash)
    # What cannot be seen from inside: the older copy is consistent in itself, and lacks the later head.
    assert Ledger(older).verify_chain() == at_release
    assert not Ledger(older).continues(later.sequence, later.hash)
    assert not used.continues(at_release.sequence, later.hash)
    assert not used.continues(10**6, at_release.hash)


def test_the_input_is_named_by_a_keyed_hash(ledger):
    digest = hashlib.sha256(b"a table").hexdigest()
    name = ledger.input_name(digest)
    assert len(name) == 64
    assert name == ledger.input_name(digest.upper()) != digest
    assert name != ledger.input_name("0" * 64)
    with pytest.raises(InputRefused) as caught:
        ledger.input_name("C:/patients.csv")
    assert caught.value.code == "ledger.bad_hash"
    assert "patients" not in " ".join(texts.explain(caught.value))


def test_what_a_release_told_is_kept_and_checked(used, path, holding, reserve):
    entry = reserve("0.1")
    used.spend(entry)
    used.complete(entry, **SUMS, told=b"public numbers" * 1000)
    assert used.told(entry) == b"public numbers" * 1000 and used.entry(entry).told
    used.verify_chain()
    alter(path, "UPDATE told SET content = x'00'")
    assert found(lambda: used.told(entry), "told_differs")["row"] == entry
    found(used.verify_chain, "told_differs")
    alter(path, "DELETE FROM told")
    found(lambda: used.told(entry), "told_differs")
    alter(path, "INSERT INTO told (entry, content) VALUES ('r1', x'00')")
    found(used.verify_chain, "told_differs")


def test_what_is_too_much_is_not_kept(used, reserve, monkeypatch):
    monkeypatch.setattr("engine.ledger.told.MOST_BYTES", 10)
    entry = reserve("0.1")
    used.spend(entry)
    used.complete(entry, **SUMS, told=b"public numbers")
    assert used.told(entry) is None and used.entry(entry).state == "complete"
    monkeypatch.undo()
    used.keep_told(entry, b"found in its folder")
    used.keep_told(entry, b"another")
    assert used.told(entry) == b"found in its folder"
    used.verify_chain()
