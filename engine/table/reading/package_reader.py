"""What a process of its own does: read SPSS, Stata and SAS files by a library that a torn file can end.

It imports nothing of this program, so that it starts quickly and from any place. It answers the process that
started it, by pipes: a request is a line of JSON with the name of a reader and what it is given, an answer a
line of JSON, followed by the columns that hold numbers alone, as bytes, in the order of the columns.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from contextlib import suppress
from typing import Any, BinaryIO

WORD = "--read-packages"
"""With which a built program, which has no Python to start, becomes this process."""
IDLE = 30.0
"""Seconds without a request after which the process ends by itself."""
ABOUT = (
    "column_names",
    "file_encoding",
    "original_variable_types",
    "readstat_variable_types",
    "variable_storage_width",
    "column_names_to_labels",
    "missing_user_values",
    "missing_ranges",
)
LABELS = "variable_value_labels"


def serve(asked: BinaryIO, told: BinaryIO) -> None:
    """Answer requests until there is none."""
    _leave_no_core()
    last = [time.monotonic()]
    threading.Thread(target=_end_idle, args=(last,), daemon=True).start()
    while line := asked.readline():
        last[0] = float("inf")
        answer, numbers = _answer(json.loads(line))
        with suppress(BrokenPipeError):
            told.write(json.dumps(answer).encode() + b"\n")
            for content in numbers:
                told.write(content)
            told.flush()
        last[0] = time.monotonic()


def _leave_no_core() -> None:
    """Let the system write no file of this process's memory, where the cells are, when it ends badly."""
    if os.name != "nt":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _end_idle(last: list[float]) -> None:
    while time.monotonic() - last[0] < IDLE:
        time.sleep(1.0)
    os._exit(0)


def _answer(request: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    import pyreadstat

    try:
        reader = getattr(pyreadstat, request["reader"])
        cells, about = reader(request["path"], output_format="dict", **request["given"])
    except UnicodeDecodeError:
        return {"failed": "encoding"}, []
    except MemoryError:
        return {"failed": "memory"}, []
    except Exception:  # a damaged file trips the reader in its own code, wherever it is damaged
        return {"failed": "damaged"}, []
    columns, numbers = [], []
    for name, column in cells.items():
        kinds = set(map(type, column))
        if kinds and kinds <= {float, int, type(None)}:
            import numpy as np

            whole = kinds == {int}
            content = np.array(column, np.int64 if whole else np.float64).tobytes()
            columns.append([name, "int64" if whole else "float64", len(content)])
            numbers.append(content)
        else:
            columns.append([name, "cells", column])
    told = {name: getattr(about, name, None) for name in ABOUT}
    labels = {
        name: list(map(list, found.items())) for name, found in (about.variable_value_labels or {}).items()
    }
    return {"columns": columns, "about": told, LABELS: labels}, numbers


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
