"""Whether a bundle is what it says it is, without the data, and with or without the ledger."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import strict_json
from engine.errors import EngineError, InputRefused, VerificationFailed
from engine.ledger import Ledger
from engine.release.bundle import INTERNAL, RELEASE, SUMS
from engine.release.program import program
from engine.release.readme import described, fingerprint

AUDIENCES = {RELEASE: "public", INTERNAL: "internal"}
OWN_FILES = {
    "public": frozenset(
        [SUMS, "evidence.json", "data-dictionary.json", "README.txt", "verify.html"]
        + [f"report-external.{ending}" for ending in ("pdf", "html")]
    ),
    "internal": frozenset((SUMS, "evidence.json", "report-internal.pdf", "report-internal.html")),
}
LARGEST_REPORT = 1 << 28
_LINE = re.compile(r"([0-9a-f]{64})  ([^/\\\x00-\x1f]+)")


@dataclass(frozen=True)
class Check:
    """One thing that was checked: the id of its sentence, and what is wrong, if anything."""

    id: str
    problems: tuple[EngineError, ...] = ()


@dataclass(frozen=True)
class Verification:
    """Everything that was checked.

    Parameters
    ----------
    folder, checks
        Its name, and what was checked.
    chain_checked
        False without a ledger: then the files agree with one another, and nothing more is known.
    compared
        Whether README, dictionary and reports were made again from the evidence; not where another version
        of the program or of its libraries made them.
    fingerprint
        Of SHA256SUMS of the release, to be compared with the custodian's over another way.
    """

    folder: str
    checks: tuple[Check, ...]
    chain_checked: bool
    compared: bool = False
    fingerprint: str = ""

    @property
    def problems(self) -> tuple[EngineError, ...]:
        """Everything that is wrong, in order."""
        return tuple(problem for check in self.checks for problem in check.problems)

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def verify(folder: Path, *, ledger: Ledger | None = None) -> Verification:
    """Check a bundle's sums, its evidence, the evidence inside its reports and, with a ledger, the entry.

    Parameters
    ----------
    folder
        The bundle, or the ``release`` folder alone as a recipient has it.
    ledger
        An open `engine.ledger.Ledger`, or None: then the chain is not checked and the result says so.

    Returns
    -------
    Verification
        With every problem, each naming its file.

    Raises
    ------
    InputRefused
        ``bundle.no_bundle``: there is nothing to check.

    Notes
    -----
    Sums show that files fit together as they were written. Whoever can replace the whole folder can also
    write fitting sums: only the custodian's ledger shows that this is the release that was paid for.
    """
    parts = _parts(folder)
    beside = tuple(_check_beside(folder, parts))
    compared = False
    checks = [Check("sums", beside)] if beside else []
    for name, part in parts.items():
        odd = tuple(_odd_entries(name, part))
        if odd:  # nothing below opens what is no plain file: it may lead elsewhere, or never end
            checks.append(Check("sums", odd))
            continue
        sums = tuple(_check_sums(name, part))
        said = {problem.values.get("file") for problem in sums}
        checks.append(Check("sums", sums))
        found = (problem for problem in _check_evidence(name, part) if problem.values["file"] not in said)
        checks.append(Check("evidence", tuple(found)))
        checks.append(Check("reports", tuple(_check_reports(name, part))))
        again = _made_again(part)
        if again is not None:
            said |= {problem.values.get("file") for check in checks for problem in check.problems}
            compared = True
            checks.append(Check("words", tuple(_check_words(name, part, again, said))))
    if len(parts) == 2 and not any(_is_odd(check) for check in checks):
        checks.append(Check("evidence", tuple(_check_parts(parts))))
    if ledger is not None and all(check.id != "sums" or not _is_odd(check) for check in checks):
        checks.append(Check("ledger", tuple(_check_ledger(parts, ledger))))
    first = b"" if any(map(_is_odd, checks)) else (next(iter(parts.values())) / SUMS).read_bytes()
    return Verification(folder.name, tuple(checks), ledger is not None, compared, fingerprint(first))


def _parts(folder: Path) -> dict[str, Path]:
    if (folder / RELEASE / SUMS).is_file():
        inner = {RELEASE: folder / RELEASE}
        return inner | ({INTERNAL: folder / INTERNAL} if (folder / INTERNAL).exists() else {})
    if (folder / SUMS).is_file():
        return {folder.name: folder}
    raise InputRefused("bundle.no_bundle", folder=folder.name, file=f"{RELEASE}/{SUMS}")


def _check_beside(folder: Path, parts: Mapping[str, Path]) -> list[EngineError]:
    """Name what a bundle has beside its two folders, and a folder that is a link to another place."""
    if parts.get(RELEASE) != folder / RELEASE:  # a release folder alone, whatever its name
        return []
    problems: list[EngineError] = []
    for entry in sorted(folder.iterdir()):
        if entry.name not in parts:
            problems.append(VerificationFailed("bundle.not_recorded", file=entry.name))
        elif entry.is_symlink():
            problems.append(VerificationFailed("bundle.not_a_file", file=entry.name))
    return problems


def _check_parts(parts: Mapping[str, Path]) -> list[EngineError]:
    """Compare what both folders say of the release: the one inside has all of the other, and more."""
    public, internal = (_evidence(parts[name]) for name in (RELEASE, INTERNAL))
    if public is None or internal is None:  # said already
        return []
    own = {"audience", "internal"}
    kept, left = ({name: tree[name] for name in tree.keys() - own} for tree in (internal, public))
    if kept == left:
        return []
    return [VerificationFailed("bundle.parts_differ", file=f"{INTERNAL}/evidence.json")]


def _odd_entries(name: str, part: Path) -> list[EngineError]:
    """Name what is neither a plain file nor absent: links, folders, pipes."""
    try:
        entries = sorted(part.iterdir())
    except OSError:
        return [VerificationFailed("bundle.not_a_file", file=name)]
    return [
        VerificationFailed("bundle.not_a_file", file=f"{name}/{entry.name}")
        for entry in entries
        if entry.is_symlink() or not entry.is_file()
    ]


def _is_odd(check: Check) -> bool:
    return any(problem.code == "bundle.not_a_file" for problem in check.problems)


def _check_sums(name: str, part: Path) -> list[EngineError]:
    try:
        lines = (part / SUMS).read_bytes().decode("utf-8").splitlines(keepends=True)
    except (OSError, UnicodeDecodeError):
        return [VerificationFailed("bundle.bad_sums", file=f"{name}/{SUMS}")]
    recorded: dict[str, str] = {}
    problems: list[EngineError] = []
    for line in lines:
        match = _LINE.fullmatch(line.removesuffix("\n"))
        if match is None or not line.endswith("\n") or match[2] in recorded:
            return [VerificationFailed("bundle.bad_sums", file=f"{name}/{SUMS}")]
        recorded[match[2]] = match[1]
    present = {path.name for path in part.iterdir()} - {SUMS}
    for file in sorted(recorded.keys() | present):
        if file not in present:
            problems.append(VerificationFailed("bundle.missing", file=f"{name}/{file}"))
        elif file not in recorded:
            problems.append(VerificationFailed("bundle.not_recorded", file=f"{name}/{file}"))
        elif _sha256(part / file) != recorded[file]:
            problems.append(VerificationFailed("bundle.changed", file=f"{name}/{file}"))
    return problems


def _check_evidence(name: str, part: Path) -> list[EngineError]:
    tree = _evidence(part)
    if tree is None:
        return [VerificationFailed("bundle.bad_evidence", file=f"{name}/evidence.json")]
    audience = tree.get("audience")
    if (
        not isinstance(audience, str)
        or audience not in OWN_FILES
        or (name in AUDIENCES and audience != AUDIENCES[name])
    ):
        return [VerificationFailed("bundle.wrong_audience", file=f"{name}/evidence.json")]
    kept = _kept(tree) if audience == "internal" else tree["artefacts"]
    listed = {str(one["file"]): one["sha256"] for one in kept}
    present = {path.name for path in part.iterdir()}
    problems: list[EngineError] = []
    for file in sorted(listed.keys() | OWN_FILES[audience] | present):
        if file not in present:
            problems.append(VerificationFailed("bundle.missing", file=f"{name}/{file[:100]}"))
        elif file not in listed.keys() | OWN_FILES[audience]:
            problems.append(VerificationFailed("bundle.not_in_evidence", file=f"{name}/{file}"))
        elif file in listed and _sha256(part / file) != listed[file]:
            problems.append(VerificationFailed("bundle.changed", file=f"{name}/{file}"))
    return problems


def _check_reports(name: str, part: Path) -> list[EngineError]:
    from engine.report.embedded import embedded_evidence

    wanted = (part / "evidence.json").read_bytes() if (part / "evidence.json").is_file() else b""
    return [
        VerificationFailed("bundle.evidence_differs", file=f"{name}/{report.name}")
        for report in sorted(part.glob("*.pdf"))
        if report.stat().st_size > LARGEST_REPORT or embedded_evidence(report.read_bytes()) != wanted
    ]


def _made_again(part: Path) -> Mapping[str, bytes] | None:
    """Return what the evidence of a folder says in words; None where this version would say it otherwise."""
    from engine.methods.catalogue import method

    tree = _evidence(part)
    made_by = tree.get("method") if tree is not None else None
    name = made_by.get("id") if isinstance(made_by, dict) else None
    try:
        libraries = method(str(name)).libraries
    except InputRefused:
        libraries = ()
    if tree is None or tree.get("program") != program(libraries):
        return None
    try:
        return described((part / "evidence.json").read_bytes())
    except Exception:  # evidence from anywhere: whatever is wrong with it, it is not ours
        return {}


def _check_words(name: str, part: Path, again: Mapping[str, bytes], said: Set[object]) -> list[EngineError]:
    """Name what is not what the evidence says: the words that people read must be those of the evidence."""
    if not again:
        return [VerificationFailed("bundle.bad_evidence", file=f"{name}/evidence.json")]
    return [
        VerificationFailed("bundle.words_differ", file=f"{name}/{file}")
        for file, content in again.items()
        if f"{name}/{file}" not in said and (part / file).is_file() and (part / file).read_bytes() != content
    ]


def _check_ledger(parts: Mapping[str, Path], ledger: Ledger) -> list[EngineError]:
    try:
        ledger.verify_chain()
    except VerificationFailed as error:
        return [error]
    recorded = (_evidence(next(iter(parts.values()))) or {}).get("ledger", {})
    entry_id, head = str(recorded.get("entry", "")), recorded.get("head")
    if not isinstance(head, dict) or type(head.get("sequence")) is not int or head["sequence"] >= 1 << 62:
        head = {"sequence": -1, "hash": ""}
    entry = ledger.find(entry_id)
    if entry is None or not entry.release_sums:
        return [VerificationFailed("bundle.entry_unknown", entry=entry_id)]
    problems: list[EngineError] = []
    if not ledger.continues(head["sequence"], str(head.get("hash", ""))):
        problems.append(VerificationFailed("bundle.other_ledger", entry=entry_id))
    sums = {RELEASE: entry.release_sums, INTERNAL: entry.internal_sums}
    for name, part in parts.items():
        is_internal = (_evidence(part) or {}).get("audience") == "internal"
        if _sha256(part / SUMS) != sums[INTERNAL if is_internal else RELEASE]:
            problems.append(VerificationFailed("bundle.entry_differs", file=f"{name}/{SUMS}", entry=entry_id))
    return problems


def _evidence(part: Path) -> dict[str, Any] | None:
    try:
        tree = strict_json.loads((part / "evidence.json").read_bytes())
        lines = tree["artefacts"]
        fits = isinstance(lines, list) and isinstance(tree["ledger"], dict)
        named = fits and all(isinstance(line[name], str) for line in lines for name in ("file", "sha256"))
        return dict(tree) if named else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _kept(tree: Mapping[str, Any]) -> list[Mapping[str, str]]:
    """Return the files that stay, as the internal evidence lists them."""
    inside = tree.get("internal")
    lines = inside.get("files", []) if isinstance(inside, dict) else []
    named = isinstance(lines, list) and all(
        isinstance(line, dict) and isinstance(line.get("file"), str) and isinstance(line.get("sha256"), str)
        for line in lines
    )
    return lines if named else []


def _sha256(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
