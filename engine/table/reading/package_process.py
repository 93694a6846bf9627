"""The process that reads SPSS, Stata and SAS files, seen from the one that wants them; see `package_reader`.

Their library is written in C, and a file that is torn in the right place ends the process that reads it.
Here that is a refusal, and nothing else is lost.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from engine.errors import InputRefused
from engine.progress import SILENT, Progress
from engine.stopping import ended_by_stop
from engine.table.reading import package_reader

_MOST_IDLE = 2


class Ended(Exception):
    """The process ended before it had answered."""


class _Process:
    def __init__(self) -> None:
        if getattr(sys, "frozen", False):
            command = [sys.executable, package_reader.WORD]
        else:
            # -P: nothing is imported from where the file lies
            command = [sys.executable, "-P", str(Path(package_reader.__file__).resolve())]
        self.owner = os.getpid()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )

    def ask(self, request: Mapping[str, Any], progress: Progress) -> tuple[dict[str, Any], list[np.ndarray]]:
        asked, told = self._process.stdin, self._process.stdout
        assert asked is not None and told is not None
        with ended_by_stop(progress, self._process.kill, Ended):
            try:
                asked.write(json.dumps(request).encode() + b"\n")
                asked.flush()
            except OSError:
                raise Ended from None
            line = told.readline()
            if not line.endswith(b"\n"):
                raise Ended
            answer: dict[str, Any] = json.loads(line)
            numbers = []
            for _, kind, size in answer.get("columns", ()):
                if kind == "cells":
                    continue
                content = told.read(size)
                if len(content) < size:
                    raise Ended
                numbers.append(np.frombuffer(content, dtype=kind))
            return answer, numbers

    def close(self) -> None:
        """End it, whatever it does."""
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                assert pipe is not None
                pipe.close()
        self._process.kill()
        self._process.wait()


_idle: list[_Process] = []
_taking = threading.Lock()


def read_apart(
    path: Path, reader: str, given: Mapping[str, Any], *, kind: str, progress: Progress = SILENT
) -> tuple[pd.DataFrame, Any]:
    """Return the rows of a file and what it says about itself, read by a process of its own.

    Parameters
    ----------
    path
        The file.
    reader
        Name of a function of pyreadstat.
    given
        What that is called with, beside the path.
    kind
        The format, for what is refused.
    progress
        By which the process is ended when Stop was pressed.

    Raises
    ------
    InputRefused
        ``table.package_encoding``, ``table.package_damaged``, ``table.package_ended``: the process ended over
        the file.
    MemoryError
        The process had too little.
    """
    request = {"reader": reader, "path": str(path.absolute()), "given": dict(given)}
    try:
        answer, numbers = _ask(request, progress)
    except Ended:
        raise InputRefused("table.package_ended", file=path.name, format=kind) from None
    failed = answer.get("failed")
    if failed == "encoding":
        raise InputRefused("table.package_encoding", file=path.name)
    if failed == "memory":
        raise MemoryError
    if failed:
        raise InputRefused("table.package_damaged", file=path.name, format=kind)
    ready = iter(numbers)
    columns = {name: cells if form == "cells" else next(ready) for name, form, cells in answer["columns"]}
    about = SimpleNamespace(**answer["about"])
    about.variable_value_labels = {
        name: dict(map(tuple, found)) for name, found in answer[package_reader.LABELS].items()
    }
    return pd.DataFrame(columns), about


def _ask(request: Mapping[str, Any], progress: Progress) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Ask a process that waits; one that ended may have waited too long, so that a new one is asked then."""
    with _taking:
        waiting = [one for one in _idle if one.owner == os.getpid()]
        _idle[:] = waiting[:-1]
    for one in (*waiting[-1:], None):
        process = one or _Process()
        try:
            found = process.ask(request, progress)
        except Ended:
            process.close()
            if one is None:
                raise
            continue
        except BaseException:
            process.close()
            raise
        with _taking:
            _idle.append(process)
            spare = _idle[:-_MOST_IDLE]
            del _idle[:-_MOST_IDLE]
        for unused in spare:
            unused.close()
        return found
    raise Ended


@atexit.register
def end_all() -> None:
    """End the processes that wait."""
    with _taking:
        while _idle:
            one = _idle.pop()
            if one.owner == os.getpid():
                one.close()
