"""The key by which a ledger knows people: locked, its file tells nobody who is in a table."""

from __future__ import annotations

import gzip
import os
import random
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from engine.__main__ import main
from engine.errors import InputRefused, VerificationFailed
from engine.ledger import Ledger, people, people_key
from engine.privacy import keys
from engine.release import sealing

WORDS = "a long passphrase"
NUMBERS = [str(number) for number in range(4_000_000_000, 4_000_000_400)]
KILLS = 200


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(keys, "_ARGON2", {"iterations": 1, "lanes": 1, "memory_cost": 64})
    yield
    people_key._opened.clear()


def known(path: Path) -> Ledger:
    """Return a ledger that knows some people."""
    ledger = Ledger(path)
    ledger.create_holding("Register", unit="person", neighbours="add_remove")
    ledger.attach("Register", "f" * 64, ledger.person_digests(NUMBERS[::7]), ["number", "age"])
    return ledger


def tried_out(path: Path) -> set[str]:
    """Return who is found by somebody who has the file alone, and tries every number with every 32 bytes."""
    db = sqlite3.connect(path)
    key = bytes(db.execute("SELECT key FROM secret").fetchone()[0])
    kept = np.frombuffer(db.execute("SELECT people FROM trace").fetchone()[0], dtype="<u8")
    db.close()
    content = path.read_bytes()
    at = [place for place in range(len(content)) if content.startswith(key[:8], place)]
    guesses = {key, key[:32], key[-32:], *(content[place : place + 32] for place in at)}
    found = set()
    for guess in guesses:
        of = people.digest_of_each(guess, pa.chunked_array([NUMBERS]))
        found |= {number for number, one in zip(NUMBERS, of, strict=True) if one in kept}
    return found


def test_the_file_alone_tells_who_is_in_a_table_until_its_key_is_locked(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = known(path)
    before = people_key.read_stored_key(sqlite3.connect(path))
    assert tried_out(path) == set(NUMBERS[::7]), "the attack works where nothing is locked"
    sealer = sealing.set_up(ledger, WORDS, lambda code: None)
    ledger.lock_people(sealer.people)
    assert tried_out(path) == set()
    assert before not in path.read_bytes(), "no page keeps the open key"
    assert all(before not in one.read_bytes() for one in tmp_path.rglob("*") if one.is_file())
    ledger.lock_people(sealer.people)  # twice changes nothing
    assert ledger.match("f" * 64, ledger.person_digests(NUMBERS[::7]), ["number", "age"])[0].same_table


@pytest.mark.parametrize("commit", [60, 540])
def test_the_file_of_an_older_format_beside_it_has_no_open_key_either(commit: int, tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    earlier = Path(__file__).parents[1] / "ledger" / "earlier" / f"commit-{commit}.sqlite.gz"
    path.write_bytes(gzip.decompress(earlier.read_bytes()))
    ledger = Ledger(path)
    key = people_key.read_stored_key(sqlite3.connect(path))
    assert sum(key in one.read_bytes() for one in tmp_path.glob("*.sqlite")) == 2
    ledger.lock_people(sealing.set_up(ledger, WORDS, lambda code: None).people)
    assert not [one.name for one in tmp_path.rglob("*") if one.is_file() and key in one.read_bytes()]
    people_key._opened.clear()
    sealing.opened(ledger, WORDS)
    assert ledger.person_digests(["7"]).size == 1


def test_nothing_is_recognised_until_either_secret_opens_it_and_the_rest_stays_readable(
    tmp_path: Path,
) -> None:
    path, codes = tmp_path / "ledger.sqlite", []
    ledger = known(path)
    digests = ledger.person_digests(NUMBERS).tolist()
    ledger.lock_people(sealing.set_up(ledger, WORDS, codes.append).people)
    for secret in (WORDS, codes[0]):
        people_key._opened.clear()  # another process
        assert people_key.is_closed(path)
        for ask in (
            lambda: ledger.person_digests(NUMBERS),
            lambda: ledger.register_key("Register"),
            lambda: ledger.attach("Register", "e" * 64, people.NONE, ["a"]),
            lambda: ledger.match("e" * 64, people.NONE, ["a"]),
        ):
            with pytest.raises(InputRefused) as refused:
                ask()
            assert refused.value.code == "ledger.people_locked"
        assert ledger.verify_chain().sequence > 0 and ledger.holdings()[0].name == "Register"
        with pytest.raises(InputRefused):
            sealing.opened(ledger, "another passphrase")
        assert people_key.is_closed(path)
        sealing.opened(ledger, secret)
        assert ledger.person_digests(NUMBERS).tolist() == digests
    sealing.change(ledger, WORDS, "another passphrase")
    people_key._opened.clear()
    sealing.opened(ledger, "another passphrase")
    assert ledger.person_digests(NUMBERS).tolist() == digests


@pytest.mark.parametrize("what", ["flipped", "cut", "of_another", "none", "open_of_another"])
def test_a_key_that_was_put_in_its_place_is_refused(what: str, tmp_path: Path) -> None:
    path, other = tmp_path / "ledger.sqlite", known(tmp_path / "other.sqlite")
    ledger = known(path)
    sealer = sealing.set_up(ledger, WORDS, lambda code: None)
    ledger.lock_people(sealer.people)
    others = people_key.read_stored_key(sqlite3.connect(other.path))
    other.lock_people(sealer.people)  # the same lock over the key of another ledger
    locked = people_key.read_stored_key(sqlite3.connect(path))
    put = {
        "flipped": locked[:-1] + bytes([locked[-1] ^ 1]),
        "cut": locked[:-20],
        "of_another": people_key.read_stored_key(sqlite3.connect(other.path)),
        "none": b"",
        "open_of_another": others,
    }[what]
    db = sqlite3.connect(path)
    db.execute("UPDATE secret SET key = ?", (put,))
    db.commit()
    db.close()
    people_key._opened.clear()
    with pytest.raises(VerificationFailed) as failed:
        sealing.opened(ledger, WORDS)
    assert failed.value.code == "ledger.key_differs"
    assert os.path.realpath(path) not in people_key._opened


def test_another_ledger_in_the_place_of_an_open_one_is_not_open(tmp_path: Path) -> None:
    path, other = tmp_path / "ledger.sqlite", known(tmp_path / "other.sqlite")
    ledger = known(path)
    sealer = sealing.set_up(ledger, WORDS, lambda code: None)
    ledger.lock_people(sealer.people)
    other.lock_people(sealer.people)
    other.path.replace(path)
    with pytest.raises(InputRefused):
        ledger.person_digests(NUMBERS)
    sealing.opened(ledger, WORDS)
    ledger.person_digests(NUMBERS)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks")
def test_kills_while_it_is_locked_lose_nothing(tmp_path: Path) -> None:
    """200 kills at random moments: each time the key is there, open or locked, and it is the same."""
    path = tmp_path / "ledger.sqlite"
    ledger = known(path)
    digests = ledger.person_digests(NUMBERS).tolist()
    sealer = sealing.set_up(ledger, WORDS, lambda code: None)
    plain, chance, states = path.read_bytes(), random.Random(22), set()
    begin = time.perf_counter()
    ledger.lock_people(sealer.people)
    most = 1.5 * (time.perf_counter() - begin)
    for _ in range(KILLS):
        path.write_bytes(plain)
        people_key._opened.clear()
        child = os.fork()
        if child == 0:
            try:
                ledger.lock_people(sealer.people)
            finally:
                os._exit(0)
        time.sleep(chance.uniform(0, most))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        ledger.open_people(sealer.people)
        states.add(people_key.locked_at(path))
        assert ledger.person_digests(NUMBERS).tolist() == digests
    assert states == {True, False}, "kills fell before and after"


@pytest.mark.slow
def test_commands_open_it_with_what_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, words, sample = tmp_path / "ledger.sqlite", tmp_path / "words", Path("resources/sample/plan.json")
    words.write_text(WORDS + "\n")
    set_up = ["seal", "--set-up", str(tmp_path / "code"), "--people", "--passphrase-file", str(words)]
    assert main([*set_up, "--ledger", str(path)]) == 0
    assert "encrypted" in capsys.readouterr().out and people_key.locked_at(path)
    people_key._opened.clear()
    plan = str(Path(__file__).parents[3] / sample)
    run = ["run", plan, "--ledger", str(path), "--out", str(tmp_path / "out")]
    assert main(run) == 2 and not (tmp_path / "out").exists()
    assert "CUSTOS_SEAL_PASSPHRASE_FILE" in capsys.readouterr().err
    monkeypatch.setenv("CUSTOS_SEAL_PASSPHRASE_FILE", str(words))
    assert main(run) == 0
    monkeypatch.delenv("CUSTOS_SEAL_PASSPHRASE_FILE")
    people_key._opened.clear()
    for reads in (["verify", str(tmp_path / "out")], ["ledger"]):
        assert main([*reads, "--ledger", str(path)]) == 0, (
            "what was given can be read and verified all the same"
        )
