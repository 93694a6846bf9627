"""Whether the drive of a ledger keeps locks: where it does not, two windows would spend the same budget."""

from __future__ import annotations

import os
import sys
from collections import OrderedDict
from pathlib import Path
from threading import Lock

from engine.errors import InputRefused

RESERVED = 0x40000001
"""The byte that SQLite locks for who is about to write (its file format, section 1.3)."""
_MOST_OPEN = 8

_Seen = tuple[int, int]
_looked: OrderedDict[_Seen, int] = OrderedDict()
_looking = Lock()


def refuse_without(path: Path) -> None:
    """Refuse a ledger whose lock another could take while this process holds it.

    Call it inside a transaction that writes. It is tried once for each file in a process.

    Raises
    ------
    InputRefused
        ``ledger.no_locks``.
    """
    try:
        with _looking:
            status = path.stat()
            seen = (status.st_dev, status.st_ino)
            if seen in _looked:
                return
            free, number = _is_free(path)
            if not free:
                _remember(seen, number)
    except OSError as error:
        folder = str(path.parent)
        raise InputRefused("ledger.cannot_open", file=path.name, folder=folder) from error
    if free:
        raise InputRefused("ledger.no_locks", file=path.name, folder=str(path.parent))


def _remember(seen: _Seen, number: int) -> None:
    _looked[seen] = number
    while len(_looked) > _MOST_OPEN:
        _, oldest = _looked.popitem(last=False)
        if oldest >= 0:
            os.close(oldest)


def _is_free(path: Path) -> tuple[bool, int]:
    """Say whether the lock can be taken a second time, and which descriptor has to stay open (-1: none).

    Closing a descriptor of a file drops all POSIX locks that the process has on it, those of SQLite too.
    """
    if sys.platform == "win32":
        return _is_free_on_windows(path), -1
    import fcntl

    if not hasattr(fcntl, "F_OFD_SETLK"):
        return _is_free_for_a_child(path), -1
    number = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    if not _takes(number, fcntl.F_OFD_SETLK):
        return False, number
    return True, number


def _takes(number: int, command: int) -> bool:
    """Try for the lock as an owner of its own: locks of open files are apart from those of processes."""
    import fcntl
    import struct

    def request(kind: int) -> bytes:
        return struct.pack("hhqqi4x", kind, os.SEEK_SET, RESERVED, 1, 0)

    try:
        fcntl.fcntl(number, command, request(fcntl.F_WRLCK))
    except OSError:
        return False
    fcntl.fcntl(number, command, request(fcntl.F_UNLCK))
    return True


def _is_free_for_a_child(path: Path) -> bool:
    """Let a child process try for the lock; it does nothing else."""
    if sys.platform == "win32":
        return False
    import fcntl

    child = os.fork()
    if child == 0:
        code = 0
        try:
            number = os.open(path, os.O_RDWR)
            fcntl.lockf(number, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, RESERVED)
            code = 1
        except OSError:
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def _is_free_on_windows(path: Path) -> bool:
    """Try with a second handle: there a lock belongs to the handle that took it."""
    if sys.platform != "win32":
        return False
    import msvcrt

    number = os.open(path, os.O_RDWR | os.O_BINARY)
    try:
        os.lseek(number, RESERVED, os.SEEK_SET)
        msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        msvcrt.locking(number, msvcrt.LK_UNLCK, 1)
    except OSError:
        return False
    finally:
        os.close(number)
    return True
