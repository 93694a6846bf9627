"""A file for whoever helps: plain JSON to be looked into before it is sent; no cell, no name of a table."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from engine.bounded import DOCUMENT, read_text
from engine.computer.checks import check_computer
from engine.errors import EngineError
from engine.ledger import Ledger, default_path
from engine.policy import place, policy
from engine.progress import SILENT, Progress

MOST_LINES = 400
LOG = "problems.log"


def support(*, ledger: Path | None = None, progress: Progress = SILENT) -> bytes:
    """Return the file: what the checks found, libraries, rules, numbers of releases by state, the log.

    Parameters
    ----------
    ledger
        As for `engine.computer.checks.check_computer`.
    """
    tree: dict[str, Any] = {
        "check": check_computer(ledger=ledger, progress=progress).to_json(),
        "libraries": dict(sorted((one.name, one.version) for one in distributions())),
        "policy": _policy(),
        "ledger": _ledger(ledger if ledger is not None else default_path()),
        "log": _log(),
    }
    return (json.dumps(tree, indent=2, ensure_ascii=True) + "\n").encode()


def _policy() -> dict[str, Any]:
    try:
        return {"file": str(place()), "set": policy().named()}
    except EngineError as error:
        return {"file": str(place()), "refused": error.code}


def _ledger(path: Path) -> dict[str, Any]:
    """Return numbers alone: names of registers and titles of releases are the custodian's."""
    if not path.exists():
        return {}
    try:
        book = Ledger(path, read_only=True)
        states = Counter(entry.state for entry in book.entries())
        return {"rows": book.verify_chain().sequence + 1, "registers": len(book.holdings()), **states}
    except EngineError as error:
        return {"refused": error.code}


def _log() -> list[str]:
    """Return the end of the window's log, which names kinds and places in the code and nothing else."""
    from platformdirs import user_data_path

    with suppress(OSError, ValueError):
        text = read_text(user_data_path("custos", appauthor=False) / LOG, DOCUMENT)
        return text.splitlines()[-MOST_LINES:]
    return []
