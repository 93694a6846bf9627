"""Checking this computer. Orders engine calls; computes nothing itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.errors import InputRefused
from engine.progress import SILENT, Progress


def check_computer(ledger_path: Path | None = None, *, progress: Progress = SILENT) -> Any:
    """Return what the checks of program and computer found."""
    from engine.computer.checks import check_computer as check

    return check(ledger=ledger_path, progress=progress)


def save_page(report: Any, path: Path, *, language: str = "en") -> str:
    """Write what was found as one page and return the name of the file."""
    from engine.computer.page import page

    try:
        path.write_bytes(page(report, language=language))
    except OSError as error:
        raise InputRefused("commands.not_writable", file=path.name, reason=error.strerror or "") from error
    return path.name
