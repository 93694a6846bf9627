"""Reports that the program makes itself: the same document as HTML and as PDF, for outside and for inside."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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

    bare = partial(content.bare, evidence, stays=False)
    _write(folder, "report-external", partial(content.external, evidence), bare, written, language)


def write_internal(
    folder: Path, evidence: PublicEvidence, kept: InternalEvidence, written: bytes, *, language: str = "en"
) -> None:
    """Write ``report-internal.pdf`` and ``.html``; see `write_external`."""
    from engine.report import content

    bare = partial(content.bare, evidence, stays=True)
    _write(folder, "report-internal", partial(content.internal, evidence, kept), bare, written, language)


def _write(
    folder: Path,
    name: str,
    make: Callable[[], Document],
    bare: Callable[[str], Document],
    written: bytes,
    language: str,
) -> None:
    """Write both files; one that cannot be made says so: the release has been paid for, and is not lost."""
    from engine.release import bundle
    from engine.report import html, pdf

    for ending, render in (("pdf", pdf.render), ("html", html.render)):
        try:
            content = render(make(), evidence=written, language=language)
        except Exception as error:
            content = render(bare(type(error).__name__), evidence=written, language=language)
        bundle.write(folder / f"{name}.{ending}", content)
