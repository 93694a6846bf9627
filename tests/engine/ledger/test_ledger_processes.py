"""Two windows at once, and windows that are killed at every point."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from fractions import Fraction
from pathlib import Path

import pytest

from engine import texts
from engine.errors import EngineError, InputRefused
from engine.ledger import Ledger
from engine.ledger.process import Process, is_running, this_process

ROOT = Path(__file__).parents[3]

PREPARED = """
    import os, signal, sys, time
    from fractions import Fraction
    from pathlib import Path
    from engine.errors import EngineError
    from engine.ledger import Ledger

    def add(guarantees):
        return sum((Fraction(one["epsilon"]) for one in guarantees), Fraction(0)), Fraction(0)

    def reserve(ledger, epsilon, compose=add, folder=""):
        return ledger.reserve("Diabetes register", plan_fingerprint="p", title="Killed", recipient="R",
            guarantee_json={"epsilon": epsilon, "delta": "0"}, epsilon=epsilon, delta="0", unit="person",
            neighbours="add_remove", compose=compose, folder=folder)

    def die():
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)

    ledger = Ledger(Path(sys.argv[1]))
"""


def start(path, script, *arguments):
    code = textwrap.dedent(PREPARED) + textwrap.dedent(script)
    return subprocess.Popen(
        [sys.executable, "-c", code, str(path), *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def killed(path, script):
    """Run a script that kills itself; return the last word it wrote."""
    process = start(path, script)
    out, err = process.communicate(timeout=60)
    assert process.returncode not in (0, 1), err
    return out.strip()


def refused(code, action):
    with pytest.raises(InputRefused) as caught:
        action()
    assert caught.value.code == f"ledger.{code}"
    texts.explain(caught.value)


def test_killed_between_reserve_and_spend(ledger, holding, reserve, path):
    entry = killed(path, 'print(reserve(ledger, "0.75")); die()')
    found = ledger.entry(entry)
    assert (found.state, found.abandoned) == ("reserved", True)
    assert ledger.status(holding).epsilon_left == Fraction(1, 4)  # counts as spent
    assert [one.id for one in ledger.status(holding).abandoned] == [entry]
    refused("over_budget", lambda: reserve("0.5"))
    assert ledger.resolve(entry, "The computer lost power before the release started") == "freed"
    assert ledger.status(holding).epsilon_left == 1
    assert ledger.journal()[-1]["kind"] == "resolved"
    assert "lost power" in ledger.journal()[-1]["changes"]["reason"]
    refused("cannot_be_spent", lambda: ledger.spend(entry))  # whoever still held it gets no noise
    reserve("0.5")
    ledger.verify_chain()


def test_killed_between_spend_and_complete(ledger, holding, reserve, path):
    entry = killed(path, 'one = reserve(ledger, "0.75"); ledger.spend(one); print(one); die()')
    assert ledger.entry(entry).abandoned
    refused("cannot_be_spent", lambda: ledger.spend(entry))  # the replay
    refused("cannot_be_freed", lambda: ledger.free(entry))
    assert ledger.resolve(entry, "The computer lost power") == "failed"
    assert ledger.status(holding).epsilon_left == Fraction(1, 4)  # for ever
    assert ledger.status(holding).abandoned == ()
    ledger.verify_chain()


def test_killed_inside_the_transaction(ledger, holding, path):
    before = ledger.head()
    killed(path, 'reserve(ledger, "0.75", compose=lambda guarantees: die())')
    assert ledger.entries() == []
    assert ledger.verify_chain() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a process in the middle of a write")
def test_killed_while_the_file_is_half_written(ledger, holding, path):
    """A large attachment spills to the file before it is committed; the next reader undoes it."""
    before = ledger.head()
    killed(
        path,
        """
        from engine.ledger import journal
        journal.change = lambda *given, **named: die()  # after its people were written, before its row
        from engine.ledger import store
        opened = store.sqlite3.connect
        def small(*given, **named):
            db = opened(*given, **named)
            db.execute("PRAGMA cache_size = 10")
            return db
        store.sqlite3.connect = small
        ledger.attach("Diabetes register", "print", ledger.person_digests(map(str, range(60000))), ["age"])
        """,
    )
    assert path.with_name(path.name + "-journal").stat().st_size > 0
    assert path.stat().st_size > 300_000
    auditor = Ledger(path, read_only=True)  # writes nothing of its own, and is not kept out
    assert auditor.verify_chain() == before and not path.with_name(path.name + "-journal").exists()
    assert ledger.verify_chain() == before
    assert ledger.match("print", ledger.person_digests(["1"]), ["age"]) == []


def test_of_many_processes_only_as_many_pass_as_the_budget_bears(ledger, holding, path):
    script = """
        while not Path(sys.argv[1] + ".go").exists():
            time.sleep(0.002)
        def slowly(guarantees):
            time.sleep(0.1)
            return add(guarantees)
        try:
            print("passed", reserve(ledger, "0.4", compose=slowly))
        except EngineError as error:
            print(error.code)
    """
    processes = [start(path, script) for _ in range(4)]
    path.with_name(path.name + ".go").touch()
    words = [process.communicate(timeout=60)[0].split()[0] for process in processes]
    assert sorted(words) == ["ledger.over_budget", "ledger.over_budget", "passed", "passed"]
    assert ledger.status(holding).epsilon_spent == Fraction(8, 10)


def test_of_many_threads_only_as_many_pass_as_the_budget_bears(ledger, holding, reserve, path):
    barrier = threading.Barrier(8)
    results = []

    def window():
        own = Ledger(path, timeout=60)
        barrier.wait()
        try:
            results.append(reserve("0.15", of=own))
        except EngineError as error:
            results.append(error.code)

    threads = [threading.Thread(target=window) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results.count("ledger.over_budget") == 2
    assert ledger.status(holding).epsilon_spent == Fraction(9, 10)


def test_one_entry_is_spent_by_one_of_many_threads(ledger, holding, reserve):
    entry = reserve("0.5")
    barrier = threading.Barrier(6)
    results = []

    def window():
        barrier.wait()
        try:
            results.append(ledger.spend(entry))
        except EngineError as error:
            results.append(error.code)

    threads = [threading.Thread(target=window) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results.count(None) == 1
    assert results.count("ledger.cannot_be_spent") == 5


def test_many_processes_make_one_ledger(path):
    script = 'print(ledger.head().hash, end="")'
    processes = [start(path, script) for _ in range(4)]
    hashes = {process.communicate(timeout=60)[0] for process in processes}
    assert hashes == {Ledger(path).head().hash}
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_this_process_runs_and_others_do_not():
    here = this_process()
    assert is_running(here)
    assert not is_running(Process(here.number, here.started + "0", here.boot))  # same number, used again
    assert not is_running(Process(here.number, "", here.boot))
    assert not is_running(Process(here.number, here.started, here.boot + "other"))
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    from engine.ledger import process as module

    other = Process(child.pid, module._started(child.pid), here.boot)
    assert is_running(other)
    child.send_signal(signal.SIGTERM)
    try:
        # Not yet collected, it is a zombie on Linux for a moment: that is not running either.
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT) if hasattr(os, "waitid") else child.wait()
        assert not is_running(other)
    finally:
        child.wait()
    assert not is_running(other)
