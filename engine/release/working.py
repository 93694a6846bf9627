"""Where a release is made: one folder beside its target, recorded in the ledger before it is there.

A process that is killed cannot tidy up. So the entry that pays names the folder that its process works in,
and the next run, or the window when it opens, takes away what a dead process left.
"""

from __future__ import annotations

import json
import os
import platform
import secrets
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from engine import strict_json
from engine.bounded import EVIDENCE, read_bytes, read_text, sha256
from engine.errors import EngineError, InputRefused
from engine.ledger import Entry, Ledger
from engine.ledger.process import Process, is_running, this_process
from engine.release.bundle import INTERNAL, RELEASE, STATE, SUMS
from engine.release.earlier import read_told
from engine.release.verify import verify

PREFIX = ".custos-"
ROWS, PROCESS = ".rows-", "process"
LARGEST_NAME = 1 << 12
COMPUTER = "computer"
ROOM, ROOM_BYTES = "room", 8 << 20
"""Kept free for the bundle from before the first noise until it is written; a usual one takes a third."""
COMPARED, TABLES = "custos-compared-", ".custos-tables-"
"""Of a candidate of a comparison, which nothing pays for; of tables that somebody has in memory."""
DAY = 86_400.0
SHORTLY = 60.0
"""Seconds after which a ledger that nobody finished making is taken as left by a dead process."""


def name_for(target: Path) -> Path:
    """Return a new name beside a target, on the same disk, for the ledger to record."""
    return target.absolute().parent / f"{PREFIX}{secrets.token_hex(8)}"


@contextmanager
def make_working_folder(folder: Path) -> Iterator[Path]:
    """Make a recorded folder, for its owner alone; it vanishes at the end unless it was renamed.

    Raises
    ------
    InputRefused
        ``bundle.not_writable``: the disk is full or the place went away.
    """
    try:
        try:
            folder.mkdir(mode=0o700)
            with os.fdopen(os.open(folder / COMPUTER, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                file.write(platform.node().encode())
            _keep_room(folder / ROOM)
        except OSError as error:
            name, reason = folder.parent.name, error.strerror or ""
            raise InputRefused("bundle.not_writable", folder=name, reason=reason) from error
        yield folder
    finally:
        with hold_interrupts():
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def hold_interrupts() -> Iterator[None]:
    """Pass over Ctrl-C while what belongs together is done: name and entry of a bundle, or what is put away.

    It came too late: what was made has been handed over, or is on its way out already. Python tells only the
    main thread of it; a release that is made in another one is not disturbed anyway.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _keep_room(path: Path) -> None:
    with path.open("wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, ROOM_BYTES)
        else:
            file.write(bytes(ROOM_BYTES))


def give_room(folder: Path) -> None:
    """Give the room of a working folder to the bundle that is written now."""
    (folder / ROOM).unlink(missing_ok=True)


def new_folder(folder: Path) -> Path:
    """Return a new empty folder inside a working folder: for one method or measure, gone with the rest."""
    return Path(tempfile.mkdtemp(prefix="work-", dir=folder))


@contextmanager
def rows_on_disk(ledger: Ledger) -> Iterator[Callable[[], Path]]:
    """Give a call that makes a folder for rows beside the ledger, for its owner alone; all go at the end.

    What a killed process left is taken away by `sweep`.
    """
    made: list[Path] = []

    def folder() -> Path:
        made.append(ledger.path.parent / f"{ROWS}{secrets.token_hex(8)}")
        made[-1].mkdir(mode=0o700)
        for name, said in ((PROCESS, json.dumps(asdict(this_process()))), (COMPUTER, platform.node())):
            with os.fdopen(os.open(made[-1] / name, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                file.write(said.encode())
        return made[-1]

    try:
        yield folder
    finally:
        with hold_interrupts():
            for one in made:
                shutil.rmtree(one, ignore_errors=True)


def _sweep_rows(folder: Path) -> None:
    """Take away rows that a killed process of this computer left."""
    try:
        runs = is_running(Process(**json.loads(read_text(folder / PROCESS, LARGEST_NAME))))
    except (OSError, ValueError, TypeError):
        runs = time.time() - folder.stat().st_mtime < SHORTLY  # somebody may be making it
    if not runs and not folder.is_symlink() and _is_ours(folder):
        shutil.rmtree(folder, ignore_errors=True)


def sweep(ledger: Ledger) -> int:
    """Take away what killed processes of this computer left, and close entries whose bundle is whole.

    Parameters
    ----------
    ledger
        Open for writing.

    Returns
    -------
    int
        How many working folders were taken away.
    """
    swept = 0
    for entry in ledger.leftovers():
        folder, is_waiting = Path(entry.folder), False
        if folder.is_dir() and not folder.is_symlink() and folder.name.startswith(PREFIX):
            if not _is_ours(folder):
                continue
            shutil.rmtree(folder, ignore_errors=True)
            swept += 1
        elif entry.state == "spent":
            is_waiting = not _complete(entry, folder.parent, ledger)
        if not folder.exists() and not is_waiting:
            ledger.swept(entry.id)
    for rows in ledger.path.parent.glob(f"{ROWS}*"):
        with suppress(OSError):
            _sweep_rows(rows)
    for half in ledger.path.parent.glob(".ledger-*"):  # a ledger that was never finished: it holds a key
        with suppress(OSError):
            if time.time() - half.stat().st_mtime > SHORTLY:
                half.unlink()
    return swept


@contextmanager
def unrecorded(prefix: str, *, beside: Path | None = None) -> Iterator[Path]:
    """Make a folder that no ledger names, for its owner alone; it vanishes at the end.

    One of the same prefix and place that a killed process left is taken away a day later: by then nobody
    needs it any more. ``beside`` is another place than that of temporary files.
    """
    for left in Path(beside or tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):
            if not left.is_symlink() and time.time() - left.stat().st_mtime > DAY:
                shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=beside, ignore_cleanup_errors=True) as name:
        yield Path(name)


def _is_ours(folder: Path) -> bool:
    """Whether the folder was made on this computer: what runs on another one that shares it, nobody knows."""
    try:
        return read_text(folder / COMPUTER, LARGEST_NAME) in ("", platform.node())
    except FileNotFoundError:
        return True  # killed before it could say so, as where nothing stands in it yet
    except (OSError, ValueError):
        return False


def _complete(entry: Entry, place: Path, ledger: Ledger) -> bool:
    """Complete an entry whose bundle got its name before the process was killed: it has been paid for.

    Returns
    -------
    bool
        False where the bundle is there and cannot be entered yet: nobody of its register is signed in, or the
        ledger is in use. It stays on the list until it can be.
    """
    is_there = False
    with suppress(EngineError, OSError):
        for folder in sorted(path for path in place.iterdir() if (path / RELEASE / SUMS).is_file()):
            if _entry_of(folder) == entry.id and verify(folder).passed:
                is_there = True
                hashes = [sha256(folder / part / SUMS) for part in (RELEASE, INTERNAL)]
                state = folder / INTERNAL / STATE
                left = sha256(state) if state.is_file() else None
                ledger.complete(
                    entry.id,
                    release_sums_hash=hashes[0],
                    internal_sums_hash=hashes[1],
                    state_hash=left,
                    told=read_told(folder),
                )
                return True
    return not is_there


def _entry_of(folder: Path) -> str:
    try:
        tree = strict_json.loads(read_bytes(folder / INTERNAL / "evidence.json", EVIDENCE))
        return str(tree["ledger"]["entry"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
