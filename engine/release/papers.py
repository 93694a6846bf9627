"""The papers of a bundle as files, in a new folder: what stays and what may be handed over apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine import strict_json, texts
from engine.bounded import EVIDENCE as LARGEST_EVIDENCE
from engine.bounded import read_bytes
from engine.errors import EngineError, InputRefused
from engine.evidence import InternalEvidence, PublicEvidence, read_internal, read_public
from engine.ledger import Ledger
from engine.release import bundle, sealing
from engine.release.verify import verify
from engine.report import docx
from engine.report.content.papers import LEAVES, STAYS, papers_of, why_not


@dataclass(frozen=True)
class Written:
    """What became of a paper: where it is, how many fields are filled in, or why it was not written."""

    paper: str
    leaves: bool
    file: str = ""
    filled: int = 0
    fields: int = 0
    why_not: str = ""


def write_papers(
    folder: Path, out: Path, *, ledger: Ledger | None = None, language: str = "en"
) -> tuple[Written, ...]:
    """Write the papers of a bundle into a new folder: what stays and what may be handed over apart.

    Parameters
    ----------
    folder
        The bundle, or its folder *release* alone: then only what may be handed over is written.
    out
        Absent or empty: a paper that somebody went on writing is never written over.
    ledger
        Its register's answers fill in what no plan says; without one these are left open.

    Raises
    ------
    InputRefused
        ``bundle.no_bundle``, ``sealing.is_sealed``, and what `engine.release.bundle.check_target` refuses.
    VerificationFailed
        The bundle does not agree with itself: papers rest on nothing that was changed.
    """
    if sealing.is_sealed(folder):
        raise InputRefused("sealing.is_sealed", folder=folder.name)
    bundle.check_target(out)
    for problem in verify(folder, ledger=ledger).problems:
        raise problem
    evidence, kept = read_evidence(folder)
    answers = register_answers(evidence, ledger)
    found = []
    with bundle.explain_disk_errors(out):
        for paper, sheet in papers_of(evidence, kept, answers, language=language):
            if sheet is None:
                reason = why_not(paper, evidence, has_internal=kept is not None)
                found.append(Written(paper.id, paper.leaves, why_not=reason))
                continue
            place = out / texts.text(f"papers.folder.{LEAVES if paper.leaves else STAYS}", language=language)
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            bundle.write(place / paper.file, docx.render(sheet))
            lines = [line for _, section in sheet.sections[:-1] for line in section]
            filled = sum(bool(line.answer) for line in lines)
            file = (place / paper.file).relative_to(out).as_posix()
            found.append(Written(paper.id, paper.leaves, file, filled, len(lines)))
    return tuple(found)


def read_evidence(folder: Path) -> tuple[PublicEvidence, InternalEvidence | None]:
    """Return what a bundle says of itself; nothing of what stays where that folder is not there.

    Raises
    ------
    InputRefused
        ``bundle.no_bundle``.
    """
    inside = folder / bundle.INTERNAL / bundle.EVIDENCE
    whole = folder / bundle.RELEASE / bundle.EVIDENCE
    public = whole if whole.is_file() else folder / bundle.EVIDENCE
    try:
        tree = strict_json.loads(read_bytes(public, LARGEST_EVIDENCE))
        evidence = read_public(tree)
        if tree["audience"] != "public":
            raise ValueError("no release")
        kept = None
        if inside.is_file():
            kept = read_internal(strict_json.loads(read_bytes(inside, LARGEST_EVIDENCE)))
        return evidence, kept
    except (OSError, ValueError, KeyError, TypeError, EngineError) as error:
        name = f"{bundle.RELEASE}/{bundle.EVIDENCE}"
        raise InputRefused("bundle.no_bundle", folder=folder.name, file=name) from error


def register_answers(evidence: PublicEvidence, ledger: Ledger | None) -> dict[str, str]:
    """Return what was answered once for the register that paid; nothing where the ledger knows it not."""
    if ledger is None or (entry := ledger.find(str(evidence.ledger["entry"]))) is None:
        return {}
    return ledger.answers(entry.holding)
