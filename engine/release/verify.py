"""Whether a bundle is what it says it is, without the data, and with or without the ledger."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

from engine import strict_json, texts
from engine.bounded import EVIDENCE, PAPER, TooLarge, read_bytes, refuse_large, sha256
from engine.bounded import SUMS as LARGEST_SUMS
from engine.errors import EngineError, InputRefused, VerificationFailed
from engine.ledger import Entry, Ledger
from engine.methods.catalogue import method as find_method
from engine.notebook import Shown
from engine.numbers import exact
from engine.once import once
from engine.release.bundle import (
    AUDITOR,
    AUDITOR_README,
    INTERNAL,
    KEY,
    OWN_FILES,
    PAPERS,
    READERS,
    REGISTER,
    RELEASE,
    SEALED,
    SUMS,
    most_of,
    name_without_language,
    own_files,
    readers_of,
)
from engine.release.foreign_signatures import (
    BESIDE,
    begins_as_recorded,
    is_beside_sums,
    only_signed,
    strip_signature,
)
from engine.release.one_file import as_folder
from engine.release.program import words_digest
from engine.release.readme import describe_files, fingerprint
from engine.release.sealing import begins_sealed
from engine.release.signature import SIGNATURE, Known, Signature, in_groups, read_file
from engine.release.signing import look_up_keys as known_keys

AUDIENCES = {RELEASE: "public", INTERNAL: "internal", AUDITOR: "internal"}
PAID = "paid.csv"
"""What each visit of a desk paid for, as `engine.methods.services.told` writes it."""
_LINE = re.compile(r"([0-9a-f]{64})  ([^/\\\x00-\x1f]+)")


@dataclass(frozen=True)
class Check:
    """One thing that was checked: the id of its sentence, and what is wrong, if anything."""

    id: str
    problems: tuple[EngineError, ...] = ()


@dataclass(frozen=True)
class Verification(Shown):
    """Everything that was checked.

    Parameters
    ----------
    folder, checks
        Its name, and what was checked.
    chain_checked
        False without a ledger: then the files agree with one another, and nothing more is known.
    compared
        Whether README, dictionary and reports were made again from the evidence, and were the same.
    unchecked
        The papers whose words were not checked, with their folders: their evidence does not say that this
        very program made them, and what it makes of it reads otherwise. That is no fault of theirs.
    signed
        The files that are a signature of another program or carry one, with their folders. None was checked.
    fingerprint
        Of SHA256SUMS of the release, to be compared with the custodian's over another way.
    signature
        The genuine signature of the release, None where there is none.
    unsigned
        Name of the folder beside the release, which no signature is about; empty where there is none.
    known_as, known_by
        As what somebody knows the key that signed, or an earlier one that named it, and the fingerprint of
        the key that is known. Both empty for a key that nobody knows: it proves nothing.
    """

    folder: str
    checks: tuple[Check, ...]
    chain_checked: bool
    compared: bool = False
    fingerprint: str = ""
    unchecked: tuple[str, ...] = ()
    signed: tuple[str, ...] = ()
    signature: Signature | None = None
    known_as: str = ""
    known_by: str = ""
    unsigned: str = ""

    @property
    def problems(self) -> tuple[EngineError, ...]:
        """Everything that is wrong, in order."""
        return tuple(problem for check in self.checks for problem in check.problems)

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def verify(
    folder: Path,
    *,
    ledger: Ledger | None = None,
    fingerprints: Mapping[str, str] | None = None,
    revocations: tuple[str, ...] = (),
) -> Verification:
    """Check a bundle's sums, evidence, reports and signature and, with a ledger, its entry.

    Parameters
    ----------
    folder
        The bundle, an auditor's one, or the ``release`` folder alone as a recipient has it; also that in one
        file, see `engine.release.one_file`.
    ledger
        An open `engine.ledger.Ledger`, or None: then the chain is not checked and the result says so.
    fingerprints
        Of keys that are known from elsewhere, each with the name under which it is. Where there are any, the
        release has to be signed with one of them, or with one that such a key named.
    revocations
        Codes of printed revocations: a signature that rests on such a key is believed with the ledger alone.

    Returns
    -------
    Verification
        With every problem, each naming its file.

    Raises
    ------
    InputRefused
        ``bundle.no_bundle``: there is nothing to check; of one file what
        `engine.release.one_file.unpack_release` refuses.

    Notes
    -----
    Sums show that files fit together as they were written. Whoever can replace the whole folder can also
    write fitting sums: only the custodian's ledger shows that this is the release that was paid for.

    Papers are made again from the evidence. Where it names the digest of what made their words and that is
    the digest of this program, a paper that differs is a forgery. Where it names another one, or none as
    earlier versions did, a paper that comes out the same is what the evidence says, and of any other it is
    only said that its words were not checked: whoever changes a paper can change the digest too.
    """
    with as_folder(folder) as place:
        return _verify(place, ledger, fingerprints or {}, revocations)


def _verify(
    folder: Path, ledger: Ledger | None, fingerprints: Mapping[str, str], revocations: tuple[str, ...]
) -> Verification:
    parts = {name: _Part(part) for name, part in _parts(folder).items()}
    beside = (*_check_beside(folder, parts), *_check_keys(folder, parts))
    made_again, unchecked, signed = False, list[str](), list[str]()
    checks = [Check("sums", beside)] if beside else []
    for name, part in parts.items():
        odd = tuple(_odd_entries(name, part.path)) or tuple(_too_large(name, part.path))
        if odd:  # nothing below opens what is no plain file: it may lead elsewhere, or never end
            checks.append(Check("sums", odd))
            continue
        sums = tuple(_check_sums(name, part.path))
        said = {problem.values.get("file") for problem in sums}
        checks.append(Check("sums", sums))
        found = (problem for problem in _check_evidence(name, part) if problem.values["file"] not in said)
        checks.append(Check("evidence", tuple(found)))
        checks.append(Check("reports", tuple(_check_reports(name, part))))
        said |= {problem.values.get("file") for check in checks for problem in check.problems}
        if copies := _copies(part):
            unlike = _check_copies(name, part, copies)
            checks.append(Check("copies", tuple(one for one in unlike if one.values["file"] not in said)))
        said |= {problem.values.get("file") for check in checks for problem in check.problems}
        signed += (f"{name}/{file}" for file in _signed(part.path))
        again, from_here = _made_again(part), _is_from_here(part)
        differ = [file for file in _differing(part.path, again) if f"{name}/{file}" not in said]
        if from_here:
            checks.append(Check("words", tuple(_check_words(name, part.path, again, differ))))
        elif again:
            unchecked += (f"{name}/{file}" for file in differ)
        else:
            unchecked += (f"{name}/{file}" for file in sorted(_papers(part.path)))
        made_again = made_again or bool(again)
    if len(parts) == 2 and not any(_is_odd(check) for check in checks):
        checks.append(Check("evidence", tuple(_check_parts(parts))))
    if ledger is not None and not any(_is_odd(check) for check in checks):
        checks.append(Check("ledger", tuple(_check_ledger(folder, parts, ledger))))
    signature, known = None, Known({})
    if not any(map(_is_odd, checks)):
        known = known_keys(_whole(ledger, checks), fingerprints, revocations)
        paid = _entry_holding(parts, ledger, checks)
        left_signed = paid is not None and ledger is not None and ledger.was_signed(_entry_id(parts))
        signature, wrong = _check_signature(parts, known, paid, left_signed=left_signed)
        if signature is not None or wrong:
            checks.append(Check("signature", tuple(wrong)))
    first = (
        b"" if any(map(_is_odd, checks)) else read_bytes(next(iter(parts.values())).path / SUMS, LARGEST_SUMS)
    )
    return Verification(
        folder.name,
        tuple(checks),
        ledger is not None,
        made_again and not unchecked,
        fingerprint(first),
        tuple(unchecked),
        tuple(signed),
        signature,
        *(known.name_of(signature) if signature is not None else ("", "")),
        next((name for name in parts if name in (INTERNAL, AUDITOR)), ""),
    )


class _Part:
    """One of the two folders, with its evidence as it is written and as it is read: once for all checks."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @once
    def written(self) -> bytes:
        """The bytes of its evidence; none where there is none."""
        try:
            return read_bytes(self.path / "evidence.json", EVIDENCE)
        except (OSError, TooLarge):
            return b""

    @once
    def evidence(self) -> dict[str, Any] | None:
        """What its evidence says; None where it is none."""
        try:
            tree = strict_json.loads(self.written)
            lines = tree["artefacts"]
            fits = isinstance(lines, list) and isinstance(tree["ledger"], dict)
            named = fits and all(isinstance(line[name], str) for line in lines for name in ("file", "sha256"))
            return dict(tree) if named else None
        except (ValueError, KeyError, TypeError):
            return None


def _parts(folder: Path) -> dict[str, Path]:
    if (folder / RELEASE / SUMS).is_file():
        inner = {RELEASE: folder / RELEASE}
        stays = INTERNAL if (folder / INTERNAL).exists() else AUDITOR
        return inner | ({stays: folder / stays} if (folder / stays).exists() else {})
    if (folder / SUMS).is_file():
        # a release alone may have been put under any name, those of what stays too, which has no README
        is_release = folder.name in (INTERNAL, AUDITOR) and (folder / "README.txt").exists()
        return {RELEASE if is_release else folder.name: folder}
    raise InputRefused("bundle.no_bundle", folder=folder.name, file=f"{RELEASE}/{SUMS}")


def _check_beside(folder: Path, parts: Mapping[str, _Part]) -> list[EngineError]:
    """Name what a bundle has beside its two folders, and a folder that is a link to another place."""
    if not _is_whole(folder, parts):  # a release folder alone, whatever its name
        return []
    problems: list[EngineError] = []
    beside = {AUDITOR_README, REGISTER} if AUDITOR in parts else {KEY, SEALED}
    if AUDITOR in parts and not _lists_register(folder):
        problems.append(VerificationFailed("bundle.changed", file=REGISTER))
    for entry in sorted(folder.iterdir()):
        if entry.name not in {*parts, *beside}:
            problems.append(VerificationFailed("bundle.not_recorded", file=entry.name))
        elif entry.is_symlink() or (entry.name == SEALED and not begins_sealed(entry)):
            problems.append(VerificationFailed("bundle.not_a_file", file=entry.name))
    return problems


def _lists_register(folder: Path) -> bool:
    """Say whether an auditor's bundle holds the register that its own words name with its sum, or neither."""
    words, register = folder / AUDITOR_README, folder / REGISTER
    if any(path.is_symlink() or (path.exists() and not path.is_file()) for path in (words, register)):
        return True  # named as what it is
    try:
        lines = read_bytes(words, PAPER).decode().splitlines()
    except (OSError, TooLarge, UnicodeDecodeError):
        return not register.exists()
    named = [match[1] for line in lines if (match := _LINE.fullmatch(line)) and match[2] == REGISTER]
    return named == ([_sha256(register)] if register.is_file() else [])


def _is_whole(folder: Path, parts: Mapping[str, _Part]) -> bool:
    return RELEASE in parts and parts[RELEASE].path == folder / RELEASE


def _check_keys(folder: Path, parts: Mapping[str, _Part]) -> list[EngineError]:
    """Compare the key folder with what the evidence inside says of it; it may be kept elsewhere."""
    place = folder / KEY
    if not _is_whole(folder, parts) or place.is_symlink() or not place.exists():
        return []
    odd = _odd_entries(KEY, place)
    if odd:
        return odd
    internal = parts.get(INTERNAL)
    inside = (internal.evidence or {}).get("internal") if internal is not None else None
    lines = _list(inside.get("keys", [])) if isinstance(inside, dict) else []
    listed = {line["file"]: line["sha256"] for line in lines}
    present = {path.name for path in place.iterdir()}
    if not listed and not present:
        return [VerificationFailed("bundle.not_recorded", file=KEY)]
    problems: list[EngineError] = []
    for file in sorted(listed.keys() | present):
        if file not in listed:
            problems.append(VerificationFailed("bundle.not_recorded", file=f"{KEY}/{file}"))
        elif file not in present:
            problems.append(VerificationFailed("bundle.missing", file=f"{KEY}/{file}"))
        elif _sha256(place / file) != listed[file]:
            problems.append(VerificationFailed("bundle.changed", file=f"{KEY}/{file}"))
    return problems


def _check_parts(parts: Mapping[str, _Part]) -> list[EngineError]:
    """Compare what both folders say of the release: the one inside has all of the other, and more."""
    public, internal = (part.evidence for part in parts.values())
    if public is None or internal is None:  # said already
        return []
    own = {"audience", "internal"}
    kept, left = ({name: tree[name] for name in tree.keys() - own} for tree in (internal, public))
    if kept == left:
        return []
    return [VerificationFailed("bundle.parts_differ", file=f"{[*parts][-1]}/evidence.json")]


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


def _too_large(name: str, part: Path) -> list[EngineError]:
    """Name what is larger than a file of its name ever is; none of it has been opened."""
    problems: list[EngineError] = []
    for path in sorted(part.iterdir()):
        most = most_of(path.name)
        if most is None:  # data, of which only the sum is taken, piece by piece
            continue
        try:
            refuse_large(path, most)
        except TooLarge as error:
            said = error.values | {"file": f"{name}/{path.name}"}
            problems.append(VerificationFailed("bundle.too_large", **said))
    return problems


def _is_odd(check: Check) -> bool:
    """Whether a folder has something in it that is not opened: then nothing of the folder is."""
    return any(problem.code in ("bundle.not_a_file", "bundle.too_large") for problem in check.problems)


def _check_sums(name: str, part: Path) -> list[EngineError]:
    try:
        lines = read_bytes(part / SUMS, LARGEST_SUMS).decode("utf-8").splitlines(keepends=True)
    except (OSError, TooLarge, UnicodeDecodeError):
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
            if name == AUDITOR and name_without_language(file) not in OWN_FILES["internal"]:
                continue  # left with the custodian; the evidence names it with its sum
            problems.append(VerificationFailed("bundle.missing", file=f"{name}/{file}"))
        elif file not in recorded:
            if not is_beside_sums(part / file):
                problems.append(VerificationFailed("bundle.not_recorded", file=f"{name}/{file}"))
        elif _sha256(part / file) != recorded[file] and strip_signature(part / file, recorded[file]) is None:
            code = "appended" if begins_as_recorded(part / file, recorded[file]) else "changed"
            problems.append(VerificationFailed(f"bundle.{code}", file=f"{name}/{file}"))
    return problems


def _signed(part: Path) -> list[str]:
    """Return the files of a folder that are a signature, or that carry one."""
    found = [file for file in BESIDE if file != SIGNATURE and (part / file).is_file()]
    reports = sorted(part.glob("*.pdf"))
    return found + [report.name for report in reports if b"/ByteRange" in read_bytes(report, PAPER)]


def _check_evidence(name: str, of: _Part) -> list[EngineError]:
    tree, part = of.evidence, of.path
    if tree is None:
        return [VerificationFailed("bundle.bad_evidence", file=f"{name}/evidence.json")]
    audience = tree.get("audience")
    if (
        not isinstance(audience, str)
        or audience not in OWN_FILES
        or (name in AUDIENCES and audience != AUDIENCES[name])
    ):
        return [VerificationFailed("bundle.wrong_audience", file=f"{name}/evidence.json")]
    kept = _keep(tree) if audience == "internal" else tree["artefacts"]
    listed = {str(one["file"]): one["sha256"] for one in kept}
    present = {path.name for path in part.iterdir()}
    problems: list[EngineError] = []
    known = listed.keys() | own_files(tree)
    for file in sorted(known | present):
        if file not in present:
            if name == AUDITOR and file in listed:
                continue
            problems.append(VerificationFailed("bundle.missing", file=f"{name}/{file[:100]}"))
        elif file not in known:
            is_signature = is_beside_sums(part / file) and (audience == "public" or file != SIGNATURE)
            if is_signature or (audience == "public" and file in readers_of(tree)):
                continue
            problems.append(VerificationFailed("bundle.not_in_evidence", file=f"{name}/{file}"))
        elif file in listed and _sha256(part / file) != listed[file]:
            problems.append(VerificationFailed("bundle.changed", file=f"{name}/{file}"))
    return problems


def _copies(part: _Part) -> list[Mapping[str, Any]]:
    """Return the lines of the evidence about copies of tables; they lie in the folder that leaves."""
    tree = part.evidence or {}
    lines = tree["artefacts"] if tree.get("audience") == "public" else ()
    return [line for line in lines if "copy_of" in line]


def _check_copies(name: str, part: _Part, lines: Sequence[Mapping[str, Any]]) -> list[EngineError]:
    """Read back the copies of tables in other formats, and compare them with their tables."""
    problems: list[EngineError] = []
    for line in lines:
        try:
            fits = not _copy_differs(part, line)
        except Exception:  # a file from anywhere, in a format of somebody else
            fits = False
        if not fits:
            said = {"file": f"{name}/{line['file'][:100]}", "of": str(line["copy_of"])[:100]}
            problems.append(VerificationFailed("bundle.copy_differs", **said))
    return problems


def _copy_differs(part: _Part, line: Mapping[str, Any]) -> bool:
    from engine.evidence import read_public
    from engine.release.copies import differs
    from engine.release.package import data_package

    copy, table = str(line["file"]), str(line["copy_of"])
    if not {copy, table} <= {path.name for path in part.path.iterdir()}:  # nothing else is opened
        return True
    resources = data_package(read_public(part.evidence or {}))["resources"]
    (fields,) = (one["schema"]["fields"] for one in resources if one["path"] == table)
    ending = copy.rpartition(".")[2]
    return differs(read_bytes(part.path / copy), read_bytes(part.path / table), fields, ending)


def _check_reports(name: str, part: _Part) -> list[EngineError]:
    from engine.report.embedded import embedded_evidence

    return [
        VerificationFailed("bundle.evidence_differs", file=f"{name}/{report.name}")
        for report in sorted(part.path.glob("*.pdf"))
        # Of a file that the method made, a form to print, the evidence has the sum
        if name_without_language(report.name) in PAPERS
        and embedded_evidence(read_bytes(report, PAPER)) != part.written
    ]


def _is_from_here(part: _Part) -> bool:
    """Whether the evidence says that this very program made the words: the same code, texts and fonts."""
    made_by = (part.evidence or {}).get("program")
    named = made_by.get("words") if isinstance(made_by, dict) else None
    return bool(named) and named == words_digest()


def _made_again(part: _Part) -> Mapping[str, bytes]:
    """Return what this program makes of the evidence of a folder; nothing where it can make nothing."""
    tree = part.evidence or {}
    made_by = tree.get("program")
    spoken = made_by.get("language", texts.FALLBACK) if isinstance(made_by, dict) else texts.FALLBACK
    if spoken not in texts.languages():
        return {}
    try:
        return describe_files(part.written, language=spoken)
    except Exception:  # evidence from anywhere: whatever is wrong with it, it is not ours
        return {}


def _papers(part: Path) -> Iterator[str]:
    return (path.name for path in part.iterdir() if name_without_language(path.name) in PAPERS)


def _differing(part: Path, again: Mapping[str, bytes]) -> list[str]:
    """Return the papers that read otherwise than what was made again; a signature behind one is not read."""
    return [
        file
        for file, content in again.items()
        if (part / file).is_file() and not _is_same(part / file, content)
    ]


def _is_same(paper: Path, content: bytes) -> bool:
    found = read_bytes(paper, PAPER)
    return found == content or (paper.suffix == ".pdf" and only_signed(content, found))


def _check_words(
    name: str, part: Path, again: Mapping[str, bytes], differ: Sequence[str]
) -> list[EngineError]:
    """Name what is not what the evidence says: the words that people read must be those of the evidence."""
    if not again:
        return [VerificationFailed("bundle.bad_evidence", file=f"{name}/evidence.json")]
    readers = (file for file in again if name_without_language(file) in READERS)
    absent = sorted(file for file in readers if not (part / file).is_file())
    gone = [VerificationFailed("bundle.missing", file=f"{name}/{file}") for file in absent]
    return [*gone, *(VerificationFailed("bundle.words_differ", file=f"{name}/{file}") for file in differ)]


def _check_ledger(folder: Path, parts: Mapping[str, _Part], ledger: Ledger) -> list[EngineError]:
    try:
        ledger.verify_chain()
    except VerificationFailed as error:
        return [error]
    recorded = _record(parts)
    entry_id, head = _entry_id(parts), recorded.get("head")
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
        is_internal = (part.evidence or {}).get("audience") == "internal"
        if _sha256(part.path / SUMS) != sums[INTERNAL if is_internal else RELEASE]:
            problems.append(VerificationFailed("bundle.entry_differs", file=f"{name}/{SUMS}", entry=entry_id))
        if not _is_paid(part, entry, ledger):
            file = f"{name}/evidence.json"
            problems.append(VerificationFailed("bundle.entry_differs", file=file, entry=entry_id))
    register = folder / REGISTER
    if AUDITOR in parts and register.is_file() and not _is_as_told(register, entry_id, ledger):
        problems.append(VerificationFailed("bundle.entry_differs", file=REGISTER, entry=entry_id))
    return problems


def _is_paid(part: _Part, entry: Entry, ledger: Ledger) -> bool:
    """Say whether an entry spent what a release says; a visit also what earlier ones paid for.

    A method reads private tables always or never; where it does not, the loss that it states is another's.
    """
    evidence = part.evidence or {}
    try:
        said = [exact(str(evidence["promise"][name])) for name in ("epsilon", "delta")]
        read = find_method(str(evidence["method"]["id"])).reads("")
    except (KeyError, TypeError, ValueError, ZeroDivisionError, EngineError):
        return True  # no loss is stated, or an earlier version did so otherwise
    if not said[0] or not any(source.shape.is_private for source in read):
        return True
    if entry.parent is not None:
        return _is_drawn(part, entry, ledger)
    if entry.epsilon is None or said[0] > entry.epsilon or said[1] > (entry.delta or 0):
        return False
    return _is_counted(evidence["promise"], entry)


def _is_counted(stated: Mapping[str, Any], entry: Entry) -> bool:
    """Say whether later releases are composed with the very noise that a release says it drew."""
    if stated.get("events") == entry.guarantee.get("events"):
        return True  # as nearly always; of an earlier version, too, whose events nobody reads any more
    from engine.privacy.accounting import as_neighbours
    from engine.privacy.promise import Neighbours, Promise

    try:
        drew = as_neighbours(Promise.from_json(stated), Neighbours(str(entry.neighbours)))
        counted = Promise.from_json(entry.guarantee)
    except (EngineError, ValueError):
        return False
    return drew.loss is not None and counted.loss is not None and drew.loss.events == counted.loss.events


def _is_drawn(part: _Part, entry: Entry, ledger: Ledger) -> bool:
    """Say whether a visit spent what its own list says it paid for; earlier ones paid for the rest of it.

    Visits are counted by the states that they left: one that broke off has the number of the next one.
    """
    place = part.path / PAID
    if not place.is_file():
        return True
    visits = [one.id for one in ledger.service(str(entry.parent)).visits if one.state_hash is not None]
    try:
        own = str(visits.index(entry.id) + 1)
        lines = csv.DictReader(StringIO(read_bytes(place, EVIDENCE).decode(), newline=""))
        each = {line["measurement"]: exact(line["epsilon"]) for line in lines if line["visit"] == own}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError):
        return False
    # with a δ levels are put together in another way, and none of them is more than all of them
    paid = each.values()
    taken = max(paid, default=Fraction(0)) if entry.delta else sum(paid, Fraction(0))
    return taken <= (entry.epsilon or 0)


def _is_as_told(register: Path, entry: str, ledger: Ledger) -> bool:
    """Say whether an auditor was told of the register what the ledger said then."""
    from engine.release.charge import tell_register

    try:
        told = strict_json.loads(read_bytes(register, EVIDENCE))
        said = tell_register(ledger, entry, sequence=int(told["head"]["sequence"]))
        return _without_day(told) == _without_day(said)
    except (TooLarge, ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return False


def _without_day(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a ledger said without what hangs on the day, and totals that accountants tighten."""
    holdings = []
    for one in tree["holdings"]:
        left_out = {"spent", "left"} if one["budget"]["delta"] != "0/1" else set()
        kept = {name: value for name, value in one.items() if name not in left_out}
        releases = [{**release, "expired": None} for release in one["releases"]]
        holdings.append(kept | {"releases": releases})
    return {**tree, "written": "", "holdings": holdings}


def _whole(ledger: Ledger | None, checks: Sequence[Check]) -> Ledger | None:
    """Return a ledger whose chain is whole: another names no key."""
    return None if any(check.id == "ledger" and check.problems for check in checks) else ledger


def _entry_holding(parts: Mapping[str, _Part], ledger: Ledger | None, checks: Sequence[Check]) -> str | None:
    """Return the register that a ledger says paid; None where no ledger has been compared."""
    if ledger is None or _whole(ledger, checks) is None:
        return None
    entry = ledger.find(_entry_id(parts))
    return None if entry is None else entry.holding


def _entry_id(parts: Mapping[str, _Part]) -> str:
    return str(_record(parts).get("entry", ""))


def _record(parts: Mapping[str, _Part]) -> Mapping[str, Any]:
    return (next(iter(parts.values())).evidence or {}).get("ledger", {})


def _check_signature(
    parts: Mapping[str, _Part], known: Known, paid: str | None, *, left_signed: bool
) -> tuple[Signature | None, list[EngineError]]:
    """Return the signature of the release if it is genuine and of these very sums, and what is wrong with it.

    ``paid`` is the register that the ledger of the release names: with it, a revoked key is no problem.
    ``left_signed`` is what that ledger says: then a signature that is not there was taken away.
    """
    name, part = next(
        ((name, one) for name, one in parts.items() if (one.evidence or {}).get("audience") != "internal"),
        ("", None),
    )
    file = f"{name}/{SIGNATURE}" if name else SIGNATURE
    try:
        found = None if part is None else read_file(part.path)
    except ValueError:
        return None, [VerificationFailed("bundle.signature_wrong", file=file)]
    if part is None or found is None:
        if part is not None and left_signed:
            return None, [VerificationFailed("bundle.signature_gone", file=file)]
        return None, [VerificationFailed("bundle.signature_missing", file=file)] if known.wanted else []
    is_of_this = found.sums == _sha256(part.path / SUMS) and found.head == _record(parts).get("head")
    if not is_of_this or (paid is not None and found.register != paid):
        return None, [VerificationFailed("bundle.signature_of_another", file=file)]
    said = {"file": file, "fingerprint": in_groups(found.fingerprint)}
    problems: list[EngineError] = []
    is_of_ledger = paid is None or found.fingerprint in known.of_ledger
    if not is_of_ledger or (known.wanted and not known.name_of(found)[1]):
        problems.append(VerificationFailed("bundle.signature_unknown", **said))
    if known.is_revoked(found) and paid is None:
        problems.append(VerificationFailed("bundle.signature_revoked", **said))
    return found, problems


def _keep(tree: Mapping[str, Any]) -> list[Mapping[str, str]]:
    """Return the files that stay, as the internal evidence lists them."""
    inside = tree.get("internal")
    return _list(inside.get("files", [])) if isinstance(inside, dict) else []


def _list(lines: Any) -> list[Mapping[str, str]]:
    """Return lines that name a file and its hash; none where they are something else."""
    named = isinstance(lines, list) and all(
        isinstance(line, dict) and isinstance(line.get("file"), str) and isinstance(line.get("sha256"), str)
        for line in lines
    )
    return lines if named else []


def _sha256(path: Path) -> str:
    return sha256(path) if path.is_file() else ""
