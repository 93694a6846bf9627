"""The log: places and types of what went wrong, never what an exception says (it may quote a cell)."""

from __future__ import annotations

import os
import platform
import sys
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from app.state.settings import data_folder, make_own, open_own

MOST_BYTES = 200_000
DEBUG = "CUSTOS_DEBUG"
"""Set in the environment (``--debug`` does it), what goes wrong is printed in full, for developers."""


def where(error: BaseException) -> str:
    """Return the type of an exception and the places it came through; nothing of what it says.

    >>> try:
    ...     {}["Mrs Smith"]
    ... except KeyError as error:
    ...     "Smith" in where(error)
    False
    """
    lines = [type(error).__name__]
    for place in traceback.extract_tb(error.__traceback__):
        lines.append(f"  {Path(place.filename).name}:{place.lineno} {place.name}")
    return "\n".join(lines)


def report(error: BaseException) -> str:
    """Return what could be passed to whoever maintains the program: versions, types, places."""
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return f"Custos on {system}\n{where(error)}\n"


def show(error: BaseException) -> None:
    """Print everything about an exception, for developers: it may quote a cell, so it is never kept."""
    print("".join(traceback.format_exception(error)), file=sys.stderr, end="", flush=True)


def keep(error: BaseException, *, folder: Path | None = None) -> None:
    """Append to the log; a full disk or a read-only folder changes nothing for the person."""
    if os.environ.get(DEBUG):
        show(error)
    path = (folder if folder is not None else data_folder()) / "problems.log"
    try:
        make_own(path.parent)
        if path.exists() and path.stat().st_size > MOST_BYTES:
            path.replace(path.with_name("problems-older.log"))
        with open_own(path, append=True) as file:
            file.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {report(error)}".encode())
        with suppress(OSError):
            path.chmod(0o600)  # an earlier version left it open
    except OSError:
        return
