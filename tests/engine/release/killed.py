"""Runs that are killed: in forks of one warm process, at a numbered touch of the disk or at a moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from engine.ledger import Ledger
from engine.release import run, working
from engine.release.plan import Plan

ROOT = Path(__file__).parents[3]
TOUCHES = frozenset(
    ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.chmod", "sqlite3.connect")
)


class Warm:
    """A process that has imported everything, in whose forks runs are killed.

    Parameters
    ----------
    place
        Where it works: temporary files go to a folder in it.
    """

    def __init__(self, place: Path) -> None:
        self.temporary = place / "temporary"
        self.temporary.mkdir()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.engine.release.killed"],
            cwd=ROOT,
            env={**os.environ, "TMPDIR": str(self.temporary)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def kill(self, folder: Path, how: str, number: float) -> int:
        """Kill the run of the plan in a folder; return its exit status, 0 where it finished first."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(folder, how, number, file=self.process.stdin, flush=True)
        return int(self.process.stdout.readline())

    def end(self) -> None:
        """End the process, which has no more to do."""
        self.process.communicate()


def killed(folder: Path, plan: Plan, *, at: int | None, after: float | None) -> int:
    """Run a plan in a fork and kill it before its touch number ``at``, or so many seconds after its start.

    Returns
    -------
    int
        The exit status of the fork: 0 when it finished first.
    """

    def release() -> None:
        if at is not None:
            _kill_at(at, folder)
        run.run(plan, out=folder / "bundle", ledger=Ledger(folder / "ledger.sqlite"), base=folder)

    child = _fork(release)
    if after is not None:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _fork(do: Callable[[], object]) -> int:
    """Start a fork that does something and exits with 0, or with 3 where it fails."""
    child = os.fork()
    if child == 0:
        try:
            do()
        except BaseException:
            os._exit(3)
        os._exit(0)
    return child


def _kill_at(number: int, folder: Path) -> None:
    left = number

    def hook(event: str, args: tuple[object, ...]) -> None:
        nonlocal left
        if event in TOUCHES and args and str(args[0]).startswith(str(folder)):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def serve() -> None:
    """Do what each line of the standard input says: FOLDER, then ``at N`` or ``after SECONDS``."""
    working.SHORTLY = -1.0
    for line in sys.stdin:
        name, how, number = line.split()
        folder = Path(name)
        plan = Plan.read(folder / "plan.json")
        status = killed(
            folder,
            plan,
            at=int(number) if how == "at" else None,
            after=float(number) if how == "after" else None,
        )
        if (folder / "ledger.sqlite").exists() or list(folder.glob(".ledger-*")):
            # In a fork too: it may set a paper, and no later fork has the threads that typesetting began.
            child = _fork(partial(working.sweep, Ledger(folder / "ledger.sqlite")))
            status = status if os.waitpid(child, 0)[1] == 0 else 4
        print(status, flush=True)


if __name__ == "__main__":
    serve()
