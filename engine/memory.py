"""The memory of this computer: how much there is, and what nothing uses any more given back."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache

_WORTH = 64 << 20
"""Bytes of columns that were held at once: below, nothing worth the time of looking can be free."""


def give_back() -> None:
    """Give back what is free: without a word it stays with the program, scattered among what is in use.

    Notes
    -----
    After each stage of a run that leaves much behind; a call takes some thousandths of a second, and some
    hundredths where much is free. It does nothing while the columns held at once never came to 64 megabytes.
    """
    import pyarrow as pa

    pool = pa.default_memory_pool()
    most = pool.max_memory()
    if most is None or most >= _WORTH:  # not every pool counts
        pool.release_unused()


def leave_no_core() -> None:
    """Let the system write no file of this process's memory where it ends badly: cells and keys are in it.

    Windows writes none unless an administrator asked for it.
    """
    if sys.platform != "win32":
        import resource

        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


@cache
def physical() -> int:
    """Return the bytes of memory that this computer has; more than any where it does not say."""
    try:
        if sys.platform == "win32":
            return _on_windows()
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 1 << 62


def _on_windows() -> int:
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((f"size{place}", ctypes.c_ulonglong) for place in range(7)),
        )

    status = Status(length=ctypes.sizeof(Status))
    if not ctypes.WinDLL("kernel32").GlobalMemoryStatusEx(ctypes.byref(status)):  # type: ignore[attr-defined, unused-ignore]
        return 1 << 62
    return int(status.size0)
