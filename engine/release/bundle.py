"""The folder that a release is handed over in: made aside, then renamed, so that no half bundle stays."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import bounded, texts
from engine.bounded import sha256
from engine.errors import InputRefused
from engine.formulas import NUMBER, escape_formula
from engine.methods.protocol import Artefact, DictionaryEntry, DocumentArtefact, ModelArtefact, TableArtefact
from engine.methods.shared.rows import in_order
from engine.notebook import Shown
from engine.release.beside import Beside
from engine.release.copies import ENDINGS
from engine.release.signature import LARGEST, SIGNATURE
from engine.release.synthetic_spread import Spread
from engine.report.html import page
from engine.report.words import cell, is_number, word
from engine.table.code_lists import code_list
from engine.table.missing_words import missing_words
from engine.table.patterns import is_day
from engine.table.reading.options import Finding
from engine.table.schema import Kind
from engine.views import Cell, Label, Text, TextView, View, as_table, to_json

if TYPE_CHECKING:
    import pandas


SUMS = "SHA256SUMS"
_WHOLE, _FINITE = re.compile(r"[+-]?[0-9]+"), re.compile(NUMBER)
RELEASE = "release"
INTERNAL = "internal"
AUDITOR, AUDITOR_README, REGISTER = "auditor", "AUDITOR.txt", "register.json"
"""Of an auditor's bundle: in place of what stays, and beside the folders; see `engine.release.auditor`."""
SEALED = "internal.sealed"
KEY = "key"
"""Kept apart from the two: what tells who is behind the pseudonyms (GDPR Art. 4(5))."""
PRIVATE, PUBLIC = 0o600, 0o644  # nobody else may write either, whatever the umask
STATE = "state"
_MOST_NAMES = 1000
EVIDENCE = "evidence.json"
OWN_FILES = {
    "public": frozenset(
        [SUMS, EVIDENCE, "data-dictionary.json", "README.txt", "verify.html"]
        + [f"report-external.{ending}" for ending in ("pdf", "html")]
    ),
    "internal": frozenset((SUMS, EVIDENCE, "report-internal.pdf", "report-internal.html")),
}
PACKAGE, READ_PYTHON, READ_R = "datapackage.json", "read.py", "read.R"
MODEL_CARD, MODEL_CARD_PDF = "MODEL_CARD.md", "MODEL_CARD.pdf"
CRATE, HEALTH, CROISSANT = "ro-crate-metadata.json", "healthdcat.json", "croissant.json"
READERS = frozenset((PACKAGE, READ_PYTHON, READ_R, MODEL_CARD, MODEL_CARD_PDF, CRATE, HEALTH, CROISSANT))
"""What programs read: some only on wish, beside tables or a model, and not all in earlier versions."""
WORDED = frozenset(
    (
        *("README.txt", "verify.html", "report-external.pdf", "report-external.html"),
        *("report-internal.pdf", "report-internal.html", MODEL_CARD, MODEL_CARD_PDF),
    )
)
"""Papers of which there may be one in each language."""
PAPERS = (OWN_FILES["public"] | OWN_FILES["internal"] | READERS) - {SUMS, EVIDENCE}
_LIMITS = {SUMS: bounded.SUMS, EVIDENCE: bounded.EVIDENCE, SIGNATURE: LARGEST}
_FURTHER = re.compile(r"(.+)\.[a-z]{2}(\.[a-z]+)")
MOST_LISTED = 40
"""Values of a column that the dictionary lists."""


def name_in(paper: str, language: str) -> str:
    """Return the name of a paper that is also there in a further language.

    Examples
    --------
    >>> name_in("report-external.pdf", "de"), name_without_language("report-external.de.pdf")
    ('report-external.de.pdf', 'report-external.pdf')
    """
    stem, dot, ending = paper.rpartition(".")
    return f"{stem}.{language}{dot}{ending}"


def name_without_language(paper: str) -> str:
    """Return the name that a paper has in the first language; of any other file its own."""
    found = _FURTHER.fullmatch(paper)
    plain = f"{found[1]}{found[2]}" if found else paper
    return plain if plain in WORDED else paper


def further_languages(evidence: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the languages in which the papers of some evidence were wished for beside the first."""
    decided, program = evidence.get("decided"), evidence.get("program")
    wished = decided.get("also") if isinstance(decided, Mapping) else None
    first = program.get("language") if isinstance(program, Mapping) else None
    known = wished if isinstance(wished, list | tuple) else ()
    return tuple(one for one in texts.languages() if one in known and one != first)


def own_files(evidence: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the files that the program makes beside what is released, or beside what stays."""
    own = OWN_FILES[evidence["audience"]]
    further = (name_in(paper, one) for one in further_languages(evidence) for paper in own & WORDED)
    return own.union(further)


def readers_of(evidence: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of what programs read, which some releases have and others do not."""
    further = further_languages(evidence)
    return READERS.union(name_in(card, one) for card in (MODEL_CARD, MODEL_CARD_PDF) for one in further)


@dataclass(frozen=True)
class Bundle(Shown):
    """A finished bundle: where it is, the ledger entry that paid, and the hashes of both sum files.

    ``views`` show the release and may leave; ``internal_views`` come from private rows: what the table gave
    away before, and how far the release is from it. They are for the screen and stand in the reports too.
    ``beside`` shows released rows beside their originals, ``spread`` how columns and pairs are spread in the
    original and in synthetic rows: both on the screen alone. ``findings`` are what reading and preparing the
    tables found, for the custodian.
    """

    folder: Path
    entry: str
    release_sums: str
    internal_sums: str
    views: tuple[View, ...] = ()
    internal_views: tuple[View, ...] = ()
    beside: Beside | None = field(default=None, repr=False, compare=False)
    spread: Spread | None = field(default=None, repr=False, compare=False)
    findings: tuple[Finding, ...] = field(default=(), repr=False, compare=False)


def check_target(folder: Path) -> None:
    """Refuse a target that cannot become a bundle, before anything is reserved.

    Raises
    ------
    InputRefused
        ``bundle.exists``, ``bundle.link``, ``bundle.inside`` or ``bundle.not_writable``.
    """
    place = folder.absolute()
    try:
        refuse_inside(place)
        with suppress(FileNotFoundError):
            os.lstat(place)  # refuses a name that no file can have
        if place.is_symlink():
            raise InputRefused("bundle.link", folder=folder.name[:100])
        if place.exists() and (not place.is_dir() or any(place.iterdir()) or os.path.ismount(place)):
            raise InputRefused("bundle.exists", folder=folder.name[:100])
        place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        if os.name == "nt" and not place.exists():  # other systems have told by now what name they allow
            place.mkdir()
            place.rmdir()
        with tempfile.TemporaryFile(dir=place.parent):
            pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise InputRefused("bundle.not_writable", folder=folder.name[:100], reason=reason) from error


def refuse_inside(place: Path) -> None:
    """Refuse a place inside a release: what is put there is handed over with it.

    Raises
    ------
    InputRefused
        ``bundle.inside``.
    """
    around = bundle_around(place)
    if around is not None:
        raise InputRefused("bundle.inside", folder=place.name[:100], bundle=around.name[:100])


def bundle_around(place: Path) -> Path | None:
    """Return the outermost folder above a place that is a bundle or a part of one; None where there is none.

    Looked for above the place as it is written and above where links lead.
    """
    above = (*place.absolute().parents, *Path(os.path.realpath(place)).parents)
    found = [folder for folder in above if _is_bundle(folder)]
    return min(found, key=lambda folder: len(folder.parts), default=None)


def _is_bundle(folder: Path) -> bool:
    """Say whether a folder holds a bundle, or is one of its parts under whatever name."""
    parts = (folder / RELEASE / SUMS, folder / INTERNAL / SUMS)
    return any(map(os.path.lexists, parts)) or all(
        os.path.lexists(folder / name) for name in (SUMS, EVIDENCE)
    )


def begin(folder: Path) -> None:
    """Make the two parts of a bundle in a working folder: what stays is for whoever made it alone."""
    (folder / RELEASE).mkdir(mode=0o755)
    (folder / INTERNAL).mkdir(mode=0o700)


def give_name(made: Path, folder: Path) -> Path:
    """Give a finished bundle its name, all at once. What else the working folder holds is taken away first.

    Returns
    -------
    Path
        The name. Where another release took the wanted one meanwhile it is the next that is free
        (``folder-2`` …): this one has been paid for.

    Raises
    ------
    InputRefused
        ``bundle.not_writable``: the place went away.
    """
    try:
        for entry in made.iterdir():
            if entry.name not in (RELEASE, INTERNAL, KEY):
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        made.chmod(0o755)
        return _rename(made, folder)
    except OSError as error:
        raise InputRefused("bundle.not_writable", folder=folder.name, reason=error.strerror or "") from error


def _rename(made: Path, folder: Path) -> Path:
    for number in range(1, _MOST_NAMES + 1):
        place = folder if number == 1 else folder.with_name(f"{folder.name}-{number}")
        try:
            if place.is_dir() and not place.is_symlink():
                place.rmdir()  # nothing but an empty one
            made.rename(place)
            return place
        except OSError:
            if number == _MOST_NAMES or not os.path.lexists(place):
                raise
    raise AssertionError("the last name is returned or refused")


@contextmanager
def explain_disk_errors(folder: Path) -> Iterator[None]:
    """Turn what the disk says while a bundle is written into words.

    Raises
    ------
    InputRefused
        ``bundle.not_writable``.
    """
    try:
        yield
    except OSError as error:
        raise InputRefused("bundle.not_writable", folder=folder.name, reason=error.strerror or "") from error


def write(path: Path, content: bytes) -> str:
    """Write a file to the disk itself and return its SHA-256 in hexadecimal.

    What stays is readable by its owner alone, file by file: a copy in another folder is no more open.

    Raises
    ------
    InputRefused
        ``bundle.not_checkable``: larger than what `engine.release.verify` reads; nothing is written.
    """
    refuse_uncheckable(path.name, len(content))
    is_public = path.parent.name == RELEASE
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, PUBLIC if is_public else PRIVATE), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return hashlib.sha256(content).hexdigest()


def most_of(name: str) -> int | None:
    """Return how many bytes a file of a bundle has at most; None for data, whose sum alone is ever taken."""
    if name in _LIMITS:
        return _LIMITS[name]
    if name.endswith(ENDINGS):
        return bounded.DOCUMENT
    is_paper = name_without_language(name) in PAPERS
    return bounded.PAPER if is_paper or name.endswith(".pdf") else None


def refuse_uncheckable(name: str, size: int) -> None:
    """Refuse a file of a bundle that is larger than whoever checks the bundle reads.

    Raises
    ------
    InputRefused
        ``bundle.not_checkable``.
    """
    most = most_of(name)
    if most is not None and size > most:
        megabytes = {"size": -(-size // 10**6), "most": round(most / 10**6)}
        raise InputRefused("bundle.not_checkable", file=name[:100], **megabytes)


def write_artefact(folder: Path, artefact: Artefact, language: str) -> list[dict[str, Any]]:
    """Write what leaves, and return its lines for the evidence, one for each file."""
    contents: list[tuple[bytes, str, dict[str, Any]]]
    if isinstance(artefact, TableArtefact):
        contents = [
            (_csv(frame), "text/csv", {"rows": len(frame), "columns": list(frame.columns)})
            for frame in artefact.frames
        ]
    elif isinstance(artefact, ModelArtefact):
        contents = [(json_bytes(artefact.content), "application/json", {})]
    elif isinstance(artefact, DocumentArtefact):
        contents = [(document_html(artefact, language=language), "text/html", {})]
    else:
        contents = [(artefact.content, artefact.media_type, {})]
    return [
        {"file": name, "sha256": write(folder / name, content), "media_type": media_type, **shape}
        for name, (content, media_type, shape) in zip(artefact.files, contents, strict=True)
    ]


def _holds_numbers(column: pandas.Series) -> bool:
    """Whether a column is stored as numbers. pandas is loaded here first: no verification needs it."""
    from pandas.api.types import is_numeric_dtype

    return bool(is_numeric_dtype(column))


def _csv(frame: pandas.DataFrame) -> bytes:
    """Return the bytes of a released table, with no line that a reader could take for an empty one.

    In a table of one column a missing cell is a pair of quotation marks, and so is not left out as an empty
    line is; nor may a line be blanks alone, which readers leave out too.
    """
    written = frame.apply(lambda column: column if _holds_numbers(column) else column.map(escape_formula))
    headings = [escape_formula(heading) for heading in frame.columns]
    is_blank = written.shape[1] == 1 and any(
        isinstance(one, str) and one.isspace() for one in (*headings, *written.iloc[:, 0])
    )
    quoting = csv.QUOTE_ALL if is_blank else csv.QUOTE_MINIMAL
    return bytes(written.to_csv(index=False, header=headings, lineterminator="\n", quoting=quoting).encode())


_KEPT = frozenset(f"datasets.{name}" for name in ("as_it_is", "partly_invented", "of_the_bucket", "range"))
"""What the dictionary says of columns with cells of the custodian's table."""


def dictionary_json(
    artefact: Artefact,
    declared: Mapping[str, Mapping[str, Any]],
    *,
    languages: Sequence[str] = (texts.FALLBACK,),
) -> dict[str, Any]:
    """Return the part of the data dictionary about one artefact: what is declared, and what the file shows.

    Parameters
    ----------
    artefact
        What leaves.
    declared
        The columns of the plan by name, as schema JSON: what the custodian says that they mean stands before
        what the release made of them.
    languages
        Of the papers. The English binds; where there are others, ``says`` tells them what to say.
    """
    if not isinstance(artefact, TableArtefact):
        return {"file": artefact.files[0], **meaning(artefact.meaning, languages)}
    several = {"files": list(artefact.files)} if len(artefact.files) > 1 else {}
    written = {"written": texts.text("bundle.written")} if _has_cells_of_people(artefact) else {}
    entries = [replace(entry, kind=_kind(entry, artefact.frames)) for entry in artefact.dictionary]
    released = {entry.name: entry.values or _release(entry, artefact.frames, declared) for entry in entries}
    return {
        "file": artefact.files[0],
        **several,
        **written,
        **_keys_json(artefact),
        "columns": [
            _entry_json(
                replace(entry, values=released[entry.name]),
                declared.get(entry.name, {}),
                _mistaken(entry, artefact.frames),
                languages,
            )
            for entry in entries
        ],
    }


def _keys_json(artefact: TableArtefact) -> dict[str, Any]:
    """Return how a table hangs together with others: its key, and the columns that name rows of these."""
    links = [
        {"column": column, "file": f"{table}.csv", "of": of} for column, (table, of) in artefact.links.items()
    ]
    return {**({"key": artefact.key} if artefact.key else {}), **({"links": links} if links else {})}


def _has_cells_of_people(artefact: TableArtefact) -> bool:
    """Whether cells of the custodian's table leave in rows: they do so in one form for each value."""
    kept = any(entry.meaning.id in _KEPT for entry in artefact.dictionary)
    return kept or artefact.origins is not None


def _kind(entry: DictionaryEntry, frames: Sequence[pandas.DataFrame]) -> str:
    """Return the kind of a column as its cells in the files are, where these are not as was declared.

    Cells that leave as they stand may be others than were declared: a part of a number in a column of whole
    ones, a word among numbers. Who reads by the kind would stop there, or lose the cell.
    """
    narrow = (Kind.INTEGER, Kind.NUMBER, Kind.DATE)
    if entry.values or entry.kind not in narrow:
        return entry.kind
    columns = [frame[entry.name] for frame in frames if not _holds_numbers(frame[entry.name])]
    cells = {str(cell) for column in columns for cell in column.dropna().unique()} - {""}
    if entry.kind == Kind.DATE:
        return entry.kind if all(map(is_day, cells)) else Kind.CATEGORY.value
    if entry.kind == Kind.INTEGER and all(map(_WHOLE.fullmatch, cells)):
        return entry.kind
    return (Kind.NUMBER if all(map(_FINITE.fullmatch, cells)) else Kind.CATEGORY).value


def _release(
    entry: DictionaryEntry, frames: Sequence[pandas.DataFrame], declared: Mapping[str, Mapping[str, Any]]
) -> tuple[str, ...]:
    """Return what a column of names reads in the files, for labels; nothing where the list is long.

    Declared values come in their declared order, others in that of their texts.
    """
    if entry.kind not in (Kind.CATEGORY, Kind.ORDINAL):
        return ()
    cells = {str(cell) for frame in frames for cell in frame[entry.name].dropna().unique()} - {""}
    order = [str(value) for value in (declared.get(entry.name, {}).get("domain") or {}).get("values") or ()]
    known = [value for value in dict.fromkeys(order) if value in cells]
    found = (*known, *sorted(cells.difference(known), key=in_order))
    return found if len(found) <= MOST_LISTED else ()


def files_of(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files that an entry of the dictionary is about."""
    return tuple(map(str, entry.get("files", (entry["file"],))))


def _entry_json(
    entry: DictionaryEntry,
    declared: Mapping[str, Any],
    mistaken: tuple[str, ...],
    languages: Sequence[str],
) -> dict[str, Any]:
    said = entry.meaning
    if declared.get("meaning"):
        said = Text("bundle.meaning", {"declared": declared["meaning"], "meaning": said})
    if mistaken:
        mark = Text("bundle.not_missing", {"values": mistaken})
        said = Text("bundle.both", {"first": said, "second": mark})
    tree = {
        "name": entry.name,
        "kind": entry.kind,
        **meaning(said, languages),
        "unit": entry.unit or declared.get("unit", ""),
        "values": list(entry.values),
        "labels": _labels(entry.values, declared),
        "not_missing": list(mistaken),
    }
    return {name: value for name, value in tree.items() if value}


def _labels(values: Sequence[str], declared: Mapping[str, Any]) -> dict[str, str]:
    """Return what the values of a column mean: as the custodian says, else as the declared code list does."""
    listed = str((declared.get("domain") or {}).get("code_list") or "")
    said = {**(code_list(listed).labels if listed else {}), **declared.get("labels", {})}
    return {value: said[value] for value in values if said.get(value, value) != value}


def _mistaken(entry: DictionaryEntry, frames: Sequence[pandas.DataFrame]) -> tuple[str, ...]:
    """Return the values of a column that are none to other programs, which read them as missing."""
    cells = {
        cell for frame in frames for cell in frame[entry.name].dropna().unique() if isinstance(cell, str)
    }
    return missing_words(cells)


def meaning(text: Text, languages: Sequence[str]) -> dict[str, Any]:
    """Return what a file or column is: the English that binds, and where needed what others say it from."""
    says = {"says": to_json(text)} if any(one != texts.FALLBACK for one in languages) else {}
    return {"meaning": texts.text(text.id, **text.values), **says}


def write_sums(folder: Path) -> str:
    """Write ``SHA256SUMS`` over all of a folder but its signature, and return the hash of that file."""
    names = sorted(path.name for path in folder.iterdir() if path.name not in (SUMS, SIGNATURE))
    lines = [f"{sha256(folder / name)}  {name}\n" for name in names]
    return write(folder / SUMS, "".join(lines).encode())


def json_bytes(tree: Any) -> bytes:
    """Return JSON as the bytes of a file."""
    return (json.dumps(to_json(tree), indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


# --- a document that leaves beside the data, as one plain HTML file ---------------------------------------


def document_html(document: DocumentArtefact, *, language: str = "en") -> bytes:
    """Return a document as the bytes of an HTML file: no script, nothing fetched, UTF-8.

    Views stand as the table of their numbers.
    """
    first, *others = document.parts
    title = _say(first if isinstance(first, Text) else first.title, language)
    body = [f"<h1>{title}</h1>"]
    body += [_part(part, language) for part in (others if isinstance(first, Text) else document.parts)]
    return page(title, body, language=language).encode()


def _part(part: Text | View, language: str) -> str:
    if isinstance(part, Text):
        return f"<p>{_say(part, language)}</p>"
    heading = f"<h2>{_say(part.title, language)}</h2>"
    if isinstance(part, TextView):
        return heading + "".join(f"<p>{_say(text, language)}</p>" for text in part.paragraphs)
    table = as_table(part)
    columns = "".join(f"<th scope=col>{_say(label, language)}</th>" for label in table.headings)
    rows = "".join(f"<tr>{''.join(_cells(row, language))}</tr>" for row in table.rows)
    note = f"<p>{_say(table.note, language)}</p>" if table.note is not None else ""
    inside = f"<table><thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table>"
    return f'{heading}<div class="scroll">{inside}</div>{note}'


def _cells(row: Sequence[Cell], language: str) -> Iterator[str]:
    """Give the cells of a row; one that begins with words is headed by them."""
    for place, one in enumerate(row):
        said, number = _say(one, language), is_number(one)
        if place == 0 and not number:
            yield f'<th scope="row">{said}</th>'
        else:
            yield f'<td class="number">{said}</td>' if number else f"<td>{said}</td>"


def _say(label: Label | Cell, language: str) -> str:
    if label is None:
        return "–"
    if isinstance(label, Text):
        return escape(word(label, language))  # a text may name other texts
    return escape(word(label, language) if isinstance(label, str) else cell(label, language))
