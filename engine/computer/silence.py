"""Work in a thread that can open no connection to another computer, and what was seen of one that tried."""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

SECCOMP, AUDIT = "seccomp", "audit"
THREAD = "custos-check"
_LOCAL = 1  # AF_UNIX
# Number of the system call ``socket`` and name of the machine in Linux' audit.h, by the kind of machine.
_MACHINES = {"x86_64": (41, 0xC000003E), "aarch64": (198, 0xC00000B7)}


@dataclass(frozen=True)
class Watched:
    """What came of work that was watched: ``seen`` counts sockets that were asked for."""

    value: Any
    seen: int
    by: str


def silent(work: Callable[[], Any]) -> Watched:
    """Do work in a thread of its own without a network, and return what it returns.

    Notes
    -----
    On Linux the kernel refuses every socket but local ones to the thread and to what it starts (seccomp);
    elsewhere only what Python itself is asked for is seen.
    """
    found: dict[str, Any] = {"by": AUDIT}

    def run() -> None:
        try:
            found["by"] = SECCOMP if _refuse_sockets() else AUDIT
            found["value"] = work()
        except BaseException as error:
            found["error"] = error

    seen = _listening()
    thread = threading.Thread(target=run, name=THREAD)
    thread.start()
    thread.join()
    asked = len(seen)
    seen.clear()
    if "error" in found:
        raise found["error"]
    return Watched(found["value"], asked, found["by"])


@cache
def _listening() -> list[str]:
    """Note every socket that is asked for in the thread of a check, from the first check on."""
    seen: list[str] = []

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        is_ours = event == "socket.__new__" and threading.current_thread().name == THREAD
        if is_ours and arguments[1] != _LOCAL:
            seen.append(event)

    sys.addaudithook(hook)
    return seen


def _refuse_sockets() -> bool:
    """Have the kernel refuse sockets to this thread; say whether it does."""
    import platform

    known = _MACHINES.get(platform.machine())
    if sys.platform != "linux" or known is None:
        return False
    call, machine = known
    # Load the machine; another one passes. Load the call; another one passes. Load the family; a local one
    # passes; any other fails as if it were not allowed (EACCES).
    program = b"".join(
        struct.pack("=HBBI", *line)
        for line in (
            (0x20, 0, 0, 4),
            (0x15, 0, 5, machine),
            (0x20, 0, 0, 0),
            (0x15, 0, 3, call),
            (0x20, 0, 0, 16),
            (0x15, 1, 0, _LOCAL),
            (0x06, 0, 0, 0x00050000 | 13),
            (0x06, 0, 0, 0x7FFF0000),
        )
    )
    kept = ctypes.create_string_buffer(program)
    described = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(kept))
    library = ctypes.CDLL(None, use_errno=True)
    return bool(library.prctl(38, 1, 0, 0, 0) == 0 and library.prctl(22, 2, described, 0, 0) == 0)
