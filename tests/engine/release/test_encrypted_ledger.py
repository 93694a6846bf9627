"""The file of a ledger, encrypted as a whole: nothing of it can be read, forged or lost."""

from __future__ import annotations

import gzip
import multiprocessing
import os
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.computer import checks
from engine.errors import EngineError, InputRefused, VerificationFailed
from engine.ledger import Ledger, cipher, people_key, store
from engine.privacy import keys
from engine.release import sealing

WORDS = "a long passphrase"
NUMBERS = [str(number) for number in range(4_000_000_000, 4_000_000_400)]
NAMES = ("Oncology register", "agegroup", "recipient", "journal", "CREATE TABLE", "SQLite format 3")
KILLS = 200


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(keys, "_ARGON2", {"iterations": 1, "lanes": 1, "memory_cost": 64})
    yield
    start_anew()


def start_anew() -> None:
    """As it is when the program starts: no key is open."""
    people_key._opened.clear()
    cipher._keys.clear()
    cipher._seen.clear()


def known(path: Path) -> Ledger:
    """Return a ledger with a register and some people."""
    ledger = Ledger(path)
    ledger.create_holding("Oncology register", unit="person", neighbours="add_remove", epsilon=3)
    ledger.attach("Oncology register", "f" * 64, ledger.person_digests(NUMBERS[::7]), ["number", "agegroup"])
    return ledger


def sealed(path: Path, codes: list[str] | None = None) -> Ledger:
    """Return such a ledger, encrypted."""
    ledger = known(path)
    sealing.set_up(ledger, WORDS, (codes if codes is not None else []).append).encrypt(ledger)
    return ledger


def test_the_file_tells_nothing_and_opens_with_either_secret(tmp_path: Path) -> None:
    path, codes = tmp_path / "ledger.sqlite", []
    before = known(path)
    head, digests = before.head(), before.person_digests(NUMBERS).tolist()
    plain = path.read_bytes()
    assert all(name.encode() in plain for name in NAMES), "what is looked for is found where it lies open"
    sealing.set_up(before, WORDS, codes.append).encrypt(before)
    for one in tmp_path.rglob("*"):
        assert one.is_dir() or not [name for name in NAMES if name.encode() in one.read_bytes()], one.name
    assert path.stat().st_mode & 0o777 == 0o600 and before.head().sequence >= head.sequence
    for secret in (WORDS, codes[0]):
        start_anew()
        for ask in (lambda: Ledger(path), lambda: Ledger(path, read_only=True), before.holdings):
            with pytest.raises(InputRefused) as refused:
                ask()
            assert refused.value.code == "ledger.closed"
        with pytest.raises(InputRefused) as refused:
            sealing.open_ledger(path, "another passphrase")
        assert refused.value.code == "sealing.secret" and cipher.is_closed(path)
        ledger, _ = sealing.open_ledger(path, secret)
        assert ledger.person_digests(NUMBERS).tolist() == digests
        assert (
            "Oncology register" in {one.name for one in ledger.holdings()}
            and ledger.verify_chain().sequence > 0
        )
        ledger.create_holding(f"Later {len(ledger.holdings())}", unit="person", neighbours="add_remove")
    sealing.change(ledger, WORDS, "another passphrase")
    start_anew()
    assert len(sealing.open_ledger(path, "another passphrase", read_only=True)[0].holdings()) == 3


@pytest.mark.parametrize("first", ["plain", "encrypted"])
def test_a_file_is_not_taken_for_another_one_that_is_gone(
    first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A system gives the number of a file that is gone to the next one: that of a check, or of a copy."""
    path, gone = tmp_path / "ledger.sqlite", tmp_path / "gone" / "ledger.sqlite"
    gone.parent.mkdir()
    if first == "plain":
        sealed(path)
    else:
        sealing.set_up(known(path), WORDS, lambda code: None)
        sealed(gone)
    start_anew()
    real, number = cipher.file_of, cipher.file_of(path)
    monkeypatch.setattr(cipher, "file_of", lambda one: number if one == gone else real(one))
    if first == "plain":
        known(gone)
    else:
        sealing.open_ledger(gone, WORDS)
    gone.unlink()
    assert sealing.open_ledger(path, WORDS)[0].verify_chain().sequence > 0


@pytest.mark.parametrize("at", [0, 20, 4100, -40])
def test_a_changed_byte_is_no_ledger(at: int, tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    sealed(path)
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)
    start_anew()
    with pytest.raises(VerificationFailed) as failed:
        sealing.open_ledger(path, WORDS)[0].verify_chain()
    assert failed.value.code == "ledger.corrupted"


def test_what_another_key_encrypted_is_no_ledger_and_nothing_is_made_in_its_place(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other").mkdir()
    path = tmp_path / "ledger.sqlite"
    sealed(path)
    sealed(tmp_path / "other" / "ledger.sqlite").path.replace(path)
    content = path.read_bytes()
    for fresh in (True, False):
        if fresh:
            start_anew()
        with pytest.raises(VerificationFailed) as failed:
            sealing.open_ledger(path, WORDS)
        assert failed.value.code == "ledger.corrupted"
    assert path.read_bytes() == content
    assert capfd.readouterr() == ("", ""), "the library says nothing itself"


def test_pages_of_an_earlier_state_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = sealed(path)
    before = path.read_bytes()
    for number in range(30):
        ledger.create_holding(f"Register {number}", unit="person", neighbours="add_remove")
    after = bytearray(path.read_bytes())
    changed = [at for at in range(0, len(before), 4096) if before[at : at + 4096] != after[at : at + 4096]]
    assert changed
    for at in changed:
        path.write_bytes(after[:at] + before[at : at + 4096] + after[at + 4096 :])
        start_anew()
        with pytest.raises(VerificationFailed):
            sealing.open_ledger(path, WORDS)[0].verify_chain()


def test_the_check_of_a_computer_says_that_it_was_not_opened(tmp_path: Path) -> None:
    path, now = tmp_path / "ledger.sqlite", datetime.now(UTC)
    sealed(path)
    assert checks.clock(path, now).state == checks.RIGHT
    start_anew()
    assert checks.clock(path, now).state == checks.UNKNOWN
    assert checks.clock(path, datetime(2020, 1, 1, tzinfo=UTC)).state == checks.WRONG


@pytest.mark.parametrize("commit", [60, 540])
def test_the_file_of_an_older_format_beside_it_is_encrypted_too(commit: int, tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    earlier = Path(__file__).parents[1] / "ledger" / "earlier" / f"commit-{commit}.sqlite.gz"
    path.write_bytes(gzip.decompress(earlier.read_bytes()))
    ledger = Ledger(path)
    sealing.set_up(ledger, WORDS, lambda code: None).encrypt(ledger)
    files = sorted(tmp_path.glob("*.sqlite"))
    assert len(files) == 2 and all(not one.read_bytes().startswith(b"SQLite") for one in files)
    with store.open_connection(files[0], read_only=True, timeout=1) as old:
        assert old.execute("SELECT count(*) FROM journal").fetchone()[0] > 0


def test_an_encrypted_ledger_of_an_older_format_is_carried_over_encrypted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.sqlite"
    sealed(path)
    monkeypatch.setattr(store, "VERSION", store.VERSION + 1)
    read = Ledger(path, read_only=True)
    assert read.holdings()[0].name == "Oncology register"
    assert not [one for one in Path(read._copy.name).iterdir() if b"Oncology" in one.read_bytes()]  # type: ignore[union-attr]
    start_anew()
    ledger, _ = sealing.open_ledger(path, WORDS)
    assert ledger.holdings()[0].name == "Oncology register"
    files = sorted(tmp_path.glob("*.sqlite"))
    assert len(files) == 2 and not [one for one in files if b"Oncology" in one.read_bytes()]


def wait_and_write(path: Path, begun: multiprocessing.synchronize.Event, told: multiprocessing.Queue) -> None:
    """Open the plain file, wait for its lock, and write when it is free."""
    opened = store.open_connection

    def told_of(*args: object, **more: object) -> object:
        connection = opened(*args, **more)  # type: ignore[arg-type]
        begun.set()
        return connection

    store.open_connection = told_of  # type: ignore[assignment]
    try:
        with store.transaction(path, write=True, timeout=6):
            told.put("wrote")
    except EngineError as error:
        told.put(error.code)


@pytest.mark.guarantee
@pytest.mark.skipif(os.name == "nt", reason="there a file that is open keeps its name")
def test_who_waited_for_the_plain_file_writes_nothing_into_it(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = known(path)
    sealer = sealing.set_up(ledger, WORDS, lambda code: None)
    ledger.lock_people(sealer.people)
    waits = multiprocessing.get_context("fork")
    begun, told = waits.Event(), waits.Queue()
    holds = sqlite3.connect(path, isolation_level=None)
    holds.execute("BEGIN EXCLUSIVE")
    process = waits.Process(target=wait_and_write, args=(path, begun, told))
    process.start()
    assert begun.wait(20)
    time.sleep(0.3)
    made = cipher.write_encrypted(holds, path, sealer.file, 5)
    cipher.put_in_place(made, path)
    holds.rollback()
    assert told.get(timeout=30) == "ledger.locked"
    process.join()
    holds.close()


def test_threads_of_one_window_keep_their_locks(tmp_path: Path) -> None:
    """Two libraries, or a look at the file, would drop the lock that another thread holds on it."""
    path = tmp_path / "ledger.sqlite"
    ledger = sealed(path)
    failed: list[BaseException] = []

    def write(name: str) -> None:
        try:
            for number in range(15):
                Ledger(path, timeout=60).create_holding(
                    f"{name} {number}", unit="person", neighbours="add_remove"
                )
                people_key.is_closed(path)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and len(ledger.holdings()) == 46 and ledger.verify_chain()


def test_where_an_open_file_keeps_its_name_it_is_moved_aside_first(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = known(path)
    sealer = sealing.set_up(ledger, WORDS, lambda code: None)
    with store.open_connection(path, read_only=False, timeout=1) as db:
        made = cipher.write_encrypted(db, path, sealer.file, 1)
        was = cipher.written_at(path)
    ledger.create_holding("Written meanwhile", unit="person", neighbours="add_remove")
    with pytest.raises(InputRefused):
        cipher.put_in_place_closed(made, path, was)
    assert len(Ledger(path).holdings()) == 2, "what was written meanwhile is there"
    path.rename(tmp_path / "ledger.sqlite-encrypting")  # killed between the two
    assert len(Ledger(path).holdings()) == 2, "and no empty ledger took its place"
    with store.open_connection(path, read_only=False, timeout=1) as db:
        made.unlink()
        made = cipher.write_encrypted(db, path, sealer.file, 1)
        was = cipher.written_at(path)
    cipher.put_in_place_closed(made, path, was)
    assert [one.name for one in tmp_path.glob("ledger.sqlite*") if one.is_file()] == ["ledger.sqlite"]
    assert len(sealing.open_ledger(path, WORDS)[0].holdings()) == 2


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks")
def test_kills_while_it_is_encrypted_and_written_lose_nothing(tmp_path: Path) -> None:
    """200 kills at random moments: the ledger is there, plain or encrypted, with every confirmed row."""
    path = tmp_path / "ledger.sqlite"
    ledger = known(path)
    sealer = sealing.set_up(ledger, WORDS, lambda code: None)
    plain, chance, states = path.read_bytes(), random.Random(22), set()
    begin = time.perf_counter()
    sealer.encrypt(ledger)
    most = 2.5 * (time.perf_counter() - begin)
    for kill in range(KILLS):
        for one in tmp_path.glob(".ledger-*"):
            one.unlink()
        start_anew()
        path.unlink()
        path.with_name(f"{path.name}-journal").unlink(missing_ok=True)
        path.write_bytes(plain)
        cipher.whole_mark(path).unlink(missing_ok=True)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                if kill == 0:  # one falls before it is encrypted for certain
                    signal.pause()
                again = Ledger(path)
                sealer.encrypt(again)
                for number in range(1000):
                    again.create_holding(f"Register {number}", unit="person", neighbours="add_remove")
                    os.write(writing, b".")
            finally:
                os._exit(0)
        os.close(writing)
        confirmed = len(os.read(reading, 1)) if kill == 1 else 0  # and one after rows were written
        time.sleep(chance.uniform(0, most))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        confirmed += len(os.read(reading, 2000))
        os.close(reading)
        states.add((cipher.is_encrypted(path), confirmed > 0))
        opened, _ = sealing.open_ledger(path, WORDS)
        assert 0 <= len(opened.holdings()) - 1 - confirmed <= 1
        assert opened.verify_chain().sequence > 0
    assert states >= {(False, False), (True, True)}, "kills fell before and after"


@pytest.mark.slow
def test_commands_want_what_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, words = tmp_path / "ledger.sqlite", tmp_path / "words"
    words.write_text(WORDS + "\n")
    with_secret = ["--passphrase-file", str(words), "--ledger", str(path)]
    assert main(["seal", "--set-up", str(tmp_path / "code"), "--whole-ledger", *with_secret]) == 0
    assert "whole ledger" in capsys.readouterr().out and cipher.is_encrypted(path)
    start_anew()
    plan = str(Path(__file__).parents[3] / "resources" / "sample" / "plan.json")
    run = ["run", plan, "--ledger", str(path), "--out", str(tmp_path / "out")]
    for closed in (run, ["ledger", "--ledger", str(path)], ["ledger", "check", "--ledger", str(path)]):
        assert main(closed) == 2 and not (tmp_path / "out").exists()
        assert "CUSTOS_SEAL_PASSPHRASE_FILE" in capsys.readouterr().err
    monkeypatch.setenv("CUSTOS_SEAL_PASSPHRASE_FILE", str(words))
    for does in (run, ["verify", str(tmp_path / "out"), "--ledger", str(path)]):
        start_anew()
        assert main(does) == 0
    monkeypatch.delenv("CUSTOS_SEAL_PASSPHRASE_FILE")
    start_anew()
    assert main(["seal", str(tmp_path / "out"), *with_secret]) == 0, "the passphrase that seals opens it too"
    start_anew()
    capsys.readouterr()
    assert main(["verify", str(tmp_path / "out" / "release")]) == 0, "a recipient needs no ledger"


def test_a_plain_copy_from_before_is_not_used_in_its_place(tmp_path: Path) -> None:
    """Else whoever writes in a shared folder has everything written openly again, and nobody is told."""
    path = tmp_path / "ledger.sqlite"
    ledger = known(path)
    before = path.read_bytes()
    sealer = sealing.set_up(ledger, WORDS, [].append)
    sealer.encrypt(ledger)
    encrypted = path.read_bytes()
    path.unlink()
    path.write_bytes(before)
    start_anew()
    for opened in (lambda: Ledger(path), lambda: sealing.open_ledger(path, WORDS)):
        with pytest.raises(VerificationFailed, match=r"ledger\.not_encrypted"):
            opened()
    assert path.read_bytes() == before
    path.unlink()
    path.write_bytes(encrypted)
    start_anew()
    sealing.open_ledger(path, WORDS)[0].create_holding("Another", unit="row", neighbours="add_remove")


def test_one_that_an_earlier_version_encrypted_is_marked_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    sealed(path)
    cipher.whole_mark(path).unlink()
    start_anew()
    sealing.open_ledger(path, WORDS)
    assert cipher.whole_mark(path).is_file()


def test_without_the_locks_of_its_key_nothing_is_encrypted(tmp_path: Path) -> None:
    """Whoever took the key from elsewhere would have a ledger that no passphrase opens."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    before = ledger.path.read_bytes()
    with pytest.raises(InputRefused, match=r"sealing\.not_set_up"):
        ledger.encrypt(bytes(32), bytes(range(32)))
    assert not cipher.is_encrypted(ledger.path) and ledger.path.read_bytes() == before
