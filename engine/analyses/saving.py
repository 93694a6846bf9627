"""An answer as a file: a report with everything in it, or one table for other programs."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.analyses.protocol import Analysis, Answer
from engine.errors import InputRefused
from engine.views import TableView, Text

WORDS = "app.explore.report"
ENDINGS = (".pdf", ".csv")


def save_answer(
    asked: Analysis, given: Mapping[str, Any], answer: Answer, path: Path, *, language: str, stays: bool
) -> Path:
    """Write an answer: as a PDF report with its values and figures attached, or its table as CSV.

    Parameters
    ----------
    asked, given, answer
        The analysis, what was filled in, and what it said.
    path
        Ends in ``.pdf`` or ``.csv``.
    language
        Of the words.
    stays
        Whether it was computed from rows and may not leave.

    Raises
    ------
    InputRefused
        ``analyses.stays``: it was computed from rows and the place is the folder of a release for outside;
        ``analyses.ending``: another kind of file, or a table of an answer that has none;
        ``plan.not_writable``.
    """
    if stays and _is_outside(path):
        raise InputRefused("analyses.stays", folder=path.parent.name)
    content = _content(asked, given, answer, path, language=language, stays=stays)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(path, flags, 0o600 if stays else 0o666), "wb") as file:
            file.write(content)
    except OSError as error:
        raise InputRefused("plan.not_writable", file=path.name, folder=str(path.parent)) from error
    return path


def _content(
    asked: Analysis, given: Mapping[str, Any], answer: Answer, path: Path, *, language: str, stays: bool
) -> bytes:
    if path.suffix.lower() == ".pdf":
        return _report(asked, given, answer, language=language, stays=stays)
    tables = [view for view in answer.views if isinstance(view, TableView)]
    table = answer.table or next(iter(tables), None)
    if path.suffix.lower() != ".csv" or table is None:
        raise InputRefused("analyses.ending", file=path.name, known=", ".join(ENDINGS))
    from engine.report.figures import as_csv  # on first use: it brings matplotlib along

    return as_csv(table, language=language, stays=stays).encode()


def _report(
    asked: Analysis, given: Mapping[str, Any], answer: Answer, *, language: str, stays: bool
) -> bytes:
    from engine.report.document import Document, Section
    from engine.report.pdf import render

    sentences, *views = answer.views
    moment = datetime.now().astimezone().isoformat(timespec="seconds")
    side = "internal" if stays else "public"
    tree = {
        "analysis": {"id": asked.id, "version": asked.version},
        "values": dict(given),
        "figures": dict(answer.figures),
        "made_at": moment,
    }
    evidence = json.dumps(tree, indent=2, ensure_ascii=False, default=str).encode()
    document = Document(
        title=Text(f"analyses.{asked.id}.title"),
        subtitle=Text(f"{WORDS}.subtitle_{side}"),
        audience=Text(f"{WORDS}.audience_{side}"),
        stays=stays,
        bundle_id=hashlib.sha256(evidence).hexdigest()[:32],
        made_at=moment,
        cover=(Text(f"analyses.{asked.id}.summary"), *getattr(sentences, "paragraphs", ())),
        sections=(Section(Text(f"{WORDS}.figures"), tuple(views)),) if views else (),
    )
    return render(document, evidence=evidence, language=language)


def _is_outside(path: Path) -> bool:
    """Say whether a place is, or lies in, the folder of a bundle that leaves."""
    places = path.absolute().parents
    return any(one.name == "release" and (one / "SHA256SUMS").exists() for one in places)
