"""Reports that the program makes itself: the same document as HTML and as PDF, for outside and for inside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.release.evidence import InternalEvidence, PublicEvidence
    from engine.report.document import Document


def write_external(folder: Path, evidence: PublicEvidence, written: bytes, *, language: str = "en") -> None:
    """Write ``report-external.pdf`` and ``.html``.

    Parameters
    ----------
    folder
        The folder ``release/`` of a bundle.
    evidence
        Public evidence: nothing else may be printed outside.
    written
        The bytes of ``evidence.json`` of the same folder; both files carry them.
    language
        Of the words.
    """
    from engine.report import content

    _write(folder, "report-external", content.external(evidence), written, language)


def write_internal(
    folder: Path, evidence: PublicEvidence, kept: InternalEvidence, written: bytes, *, language: str = "en"
) -> None:
    """Write ``report-internal.pdf`` and ``.html``; see `write_external`."""
    from engine.report import content

    _write(folder, "report-internal", content.internal(evidence, kept), written, language)


def _write(folder: Path, name: str, document: Document, written: bytes, language: str) -> None:
    from engine.release import bundle
    from engine.report import html, pdf

    bundle.write(folder / f"{name}.pdf", pdf.render(document, evidence=written, language=language))
    bundle.write(folder / f"{name}.html", html.render(document, evidence=written, language=language))
