"""Which process holds an entry, and whether it is still alive: process id, its start time, the boot."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """A process on one machine during one boot; a process id alone is used again by others.

    Attributes
    ----------
    number
        Process id.
    started
        When it started, in the words of the operating system; empty when that cannot be told.
    boot
        Which run of which machine; empty where ``started`` is an absolute time.
    """

    number: int
    started: str
    boot: str


def this_process() -> Process:
    """Return the process that runs this code."""
    return Process(number=os.getpid(), started=_started(os.getpid()), boot=_boot())


def is_running(process: Process) -> bool:
    """Say whether a process is known to be alive on this machine now.

    Notes
    -----
    False can also mean that it runs on another machine that shares the ledger's folder. That does no harm:
    an entry that was resolved meanwhile refuses to be spent.
    """
    return bool(process.started) and process.boot == _boot() and process.started == _started(process.number)


def _boot() -> str:
    if sys.platform.startswith("linux"):
        return _read(Path("/proc/sys/kernel/random/boot_id")).strip()
    return ""


def _started(number: int) -> str:
    if sys.platform.startswith("linux"):
        # Field 22 of proc(5) stat, in ticks since boot; the name in parentheses may itself hold blanks. A
        # zombie (state Z or X) runs no more, although its parent has not collected it.
        fields = _read(Path(f"/proc/{number}/stat")).rpartition(")")[2].split()
        return "" if len(fields) < 20 or fields[0] in "ZX" else fields[19]
    if sys.platform == "win32":
        return _started_on_windows(number)
    answer = subprocess.run(
        ["/bin/ps", "-o", "lstart=", "-p", str(number)],
        capture_output=True,
        text=True,
        check=False,
        env={"LC_ALL": "C", "TZ": "UTC"},
    )
    return answer.stdout.strip()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _started_on_windows(number: int) -> str:
    if sys.platform != "win32":
        return ""
    import ctypes
    from ctypes import wintypes

    kernel = ctypes.WinDLL("kernel32")
    kernel.OpenProcess.restype = wintypes.HANDLE
    kernel.CloseHandle.argtypes = [wintypes.HANDLE]
    kernel.GetProcessTimes.argtypes = [wintypes.HANDLE, *[ctypes.POINTER(wintypes.FILETIME)] * 4]
    handle = kernel.OpenProcess(0x1000, False, number)  # PROCESS_QUERY_LIMITED_INFORMATION
    if not handle:
        return ""
    try:
        times = [wintypes.FILETIME() for _ in range(4)]  # created, ended, kernel, user
        if not kernel.GetProcessTimes(handle, *[ctypes.byref(time) for time in times]):
            return ""
        if times[1].dwHighDateTime or times[1].dwLowDateTime:
            return ""
        return str((times[0].dwHighDateTime << 32) + times[0].dwLowDateTime)
    finally:
        kernel.CloseHandle(handle)
