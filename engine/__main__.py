"""Command line: ``custos COMMAND``, in a checkout ``python -m engine COMMAND``; for auditors, servers, tests.

Exit status 0: done. 1: a verification failed. 2: the input was refused, with one clear message on standard
error, which asks what a misspelt name meant. JSON on standard output with ``--json``, else lines for people;
how far long work is stands on standard error, on a terminal alone.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
import warnings
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.later import import_later

# Before anything that imports them
for library in ("numpy", "numpy.typing", "pandas", "pyarrow", "pyarrow.compute"):
    import_later(library)

from engine import texts  # noqa: E402
from engine.commands.command import REFUSED, spoken_in  # noqa: E402
from engine.commands.parser import make_parser  # noqa: E402
from engine.commands.telling import Telling, meant  # noqa: E402
from engine.commands.values import open_people  # noqa: E402
from engine.errors import EngineError, InputRefused, VerificationFailed  # noqa: E402
from engine.memory import leave_no_core  # noqa: E402

FAILED = 1
KEPT = "\n\u00a0\u202f"  # ends of lines, and spaces that hold a number and its unit together


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    leave_no_core()
    _write_utf8()
    language = spoken_in(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(make_parser(language).parse_args(arguments))
    except KeyboardInterrupt:  # also while modules and texts are still coming in
        sys.stderr.write(texts.text("commands.stopped", language=language) + "\n")
        return REFUSED


def _write_utf8() -> None:
    """Write UTF-8 whatever the system's code page: not every one has an ε, and JSON is UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")


def _run(options: Namespace) -> int:
    # What libraries warn of and log would go to standard error, and may quote a cell
    warnings.simplefilter("ignore")
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        with Telling(options.language) as telling:
            options.progress = telling.progress
            open_people(options)
            answer, status = options.command(options)
    except VerificationFailed as error:
        _say(error, options.language)
        return FAILED
    except EngineError as error:
        _say(error, options.language)
        return REFUSED
    except KeyboardInterrupt:
        sys.stderr.write(texts.text("commands.stopped", language=options.language) + "\n")
        return REFUSED
    except MemoryError:
        _say(InputRefused("commands.memory"), options.language)
        return REFUSED
    except Exception as error:
        # What an exception says may quote a cell: name its kind and the place in our code, nothing else
        _say(InputRefused("commands.unexpected", **_place(error)), options.language)
        return REFUSED
    try:
        _print(answer, as_json=options.json, lines=options.lines, language=options.language)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has gone; say nothing more, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(status)


def _place(error: BaseException) -> dict[str, str]:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return {"kind": type(error).__name__, "place": f"{Path(last.filename).name}:{last.lineno}"}


def _say(error: EngineError, language: str) -> None:
    sentence = texts.explain_in_one(error, language=language)
    question = meant(error.values, language=language)
    words = f"{sentence} {question}".strip()
    sys.stderr.write(_plainly(words.replace("\n", " ") + "\n"))


def _print(answer: dict[str, Any], *, as_json: bool, lines: Any, language: str) -> None:
    if as_json or lines is None:
        sys.stdout.write(_plainly(json.dumps(answer, indent=2, ensure_ascii=False, default=str) + "\n"))
        return
    for line in lines(answer, language):
        sys.stdout.write(_plainly(line + "\n"))


def _plainly(words: str) -> str:
    """Keep names of files and columns from steering the terminal, and what no encoding can write out."""
    return "".join(sign if sign.isprintable() or sign in KEPT else "\ufffd" for sign in words)


if __name__ == "__main__":
    sys.exit(main())
