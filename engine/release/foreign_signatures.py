"""What a signature adds to a bundle: files beside the sums, and what is appended to a report.

Nothing here says that a signature is good; `engine.release.signature` does, of this program's own. It says
whether what was added has the form of a signature and nothing else, so that a bundle which somebody signed
with a program of theirs is not taken for a forged one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from engine import strict_json
from engine.bounded import PAPER, SUMS, read_bytes
from engine.errors import InputRefused
from engine.release.bundle import RELEASE
from engine.release.signature import SIGNATURE
from engine.report.embedded import has_table

BESIDE = ("SHA256SUMS.p7s", SIGNATURE)
LARGEST_SIGNATURE = 1 << 16
MOST_REVISIONS = 16
_END = re.compile(rb"%%EOF(\r\n|\r|\n)?")
_TABLE = re.compile(
    rb"xref\s{1,2}(?P<lines>(?:\d{1,9} \d{1,6}\s{1,2}(?:\d{10} \d{5} [nf]\s{2})+)+)"
    rb"trailer\s{0,2}(?P<trailer><<(?:[^<>]|<[0-9A-Fa-f]*>)*>>)"
)
_OBJECT = re.compile(rb"(?<!\d)(\d{1,9})\s+(\d+)\s+obj\b")
_STRING = re.compile(rb"\((?:\\.|[^\\()])*\)|<[0-9A-Fa-f\s]*>", re.DOTALL)
_HEXADECIMAL = re.compile(rb"\s*<([0-9A-Fa-f\s]*)>\s*")
_BLANK = re.compile(rb"\r?\n(?:\s|%[^\r\n]*[\r\n])*endstream\s*")
_OF_TRAILER = frozenset(
    (
        *("/Size", "/Root", "/Info", "/Prev", "/ID", "/DocChecksum"),
        *("/Type", "/W", "/Index", "/Filter", "/DecodeParms"),
    )
)
"""Of a table of objects, in words or as a stream; nothing else is in it, above all no second table."""
Line = tuple[int, int, bool]
"""Of such a table: number and place of an object, and whether it is there, as it was first written."""
# What signing writes anew in the two kinds of objects that it has to change. None of it is shown on a page.
_OF_CATALOGUE = frozenset(("/AcroForm", "/Perms", "/DSS", "/Extensions", "/Metadata", "/Version"))
_VERSIONS = frozenset(("/1.4", "/1.5", "/1.6", "/1.7", "/2.0"))
"""Of PDF: what a signature of today is written in may be later than the report."""
_OF_INFO = frozenset(("/ModDate", "/Producer"))
_OF_FIELD = frozenset(
    (
        "/FT",
        "/T",
        "/V",
        "/F",
        "/Rect",
        "/Type",
        "/Subtype",
        "/P",
        "/Ff",
        "/Lock",
        "/SV",
        "/TU",
        "/StructParent",
    )
)
_OF_APPEARANCE = frozenset(("/Type", "/Subtype", "/FormType", "/BBox", "/Matrix", "/Resources", "/Length"))


def is_beside_sums(path: Path) -> bool:
    """Say whether a file has name, size and form of a signature beside the sums."""
    if path.name not in BESIDE or path.stat().st_size > LARGEST_SIGNATURE:
        return False
    content = read_bytes(path, LARGEST_SIGNATURE)
    if path.name.endswith(".p7s"):
        return _is_pkcs7(content)
    try:
        return isinstance(strict_json.loads(content), dict)
    except ValueError:
        return False


def certify(folder: Path, p12: bytes, passphrase: str) -> tuple[Path, str]:
    """Sign the sums of a release with a certificate: ``SHA256SUMS.p7s``, detached CMS (RFC 5652), in DER.

    The sums cover the reports and every file, so that no other signature is needed over them; that it is
    good is checked by the recipient's program, for instance ``openssl cms -verify -binary -inform DER``.

    Parameters
    ----------
    folder
        A bundle, or its folder *release*.
    p12
        Content of a PKCS#12 file with a key (RSA or elliptic curve) and its certificate.

    Returns
    -------
    tuple of Path and str
        The file, and whom the certificate names.

    Raises
    ------
    InputRefused
        ``bundle.no_bundle``; ``signing.certificate``: no such file, another passphrase, no key with its
        certificate, or a kind of key that CMS has no place for; ``signing.certified``: a signature of this
        name is there; ``commands.not_writable``.
    """
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import Encoding, pkcs7, pkcs12

    place = folder / RELEASE if (folder / RELEASE).is_dir() else folder
    target = place / BESIDE[0]
    try:
        sums = read_bytes(place / "SHA256SUMS", SUMS)
    except OSError as error:
        raise InputRefused("bundle.no_bundle", folder=folder.name, file="SHA256SUMS") from error
    try:
        found = pkcs12.load_pkcs12(p12, passphrase.encode() or None)
        if found.key is None or found.cert is None:
            raise ValueError("no key with its certificate")
        made = pkcs7.PKCS7SignatureBuilder().set_data(sums)
        made = made.add_signer(found.cert.certificate, found.key, SHA256())  # type: ignore[arg-type]
        for one in found.additional_certs:
            made = made.add_certificate(one.certificate)
        options = pkcs7.PKCS7Options
        signed = made.sign(Encoding.DER, [options.DetachedSignature, options.Binary])
    except (ValueError, TypeError) as error:
        raise InputRefused("signing.certificate") from error
    try:
        with open(target, "xb") as file:
            file.write(signed)
    except FileExistsError as error:
        raise InputRefused("signing.certified", file=target.name) from error
    except OSError as error:
        reason = error.strerror or ""
        raise InputRefused("commands.not_writable", file=target.name, reason=reason) from error
    return target, found.cert.certificate.subject.rfc4514_string()


def _is_pkcs7(content: bytes) -> bool:
    """Say whether bytes are one whole DER sequence, or PEM of one."""
    if content.startswith((b"-----BEGIN PKCS7-----", b"-----BEGIN CMS-----")):
        return content.rstrip().endswith((b"-----END PKCS7-----", b"-----END CMS-----"))
    if len(content) < 4 or content[0] != 0x30:
        return False
    if content[1] < 0x80:
        return len(content) == 2 + content[1]
    width = content[1] & 0x7F
    return 1 <= width <= 4 and len(content) == 2 + width + int.from_bytes(content[2 : 2 + width], "big")


def strip_signature(signed: Path, sha256: str) -> bytes | None:
    """Return the report as it was recorded, from one to which nothing but a signature was appended since.

    Parameters
    ----------
    signed
        The file as it is.
    sha256
        Of the report as it was recorded.
    """
    before, after = _parted(signed, sha256)
    return before if before is not None and only_signed(before, after) else None


def begins_as_recorded(changed: Path, sha256: str) -> bool:
    """Say whether a report is as it was recorded, and more was appended to it."""
    return _parted(changed, sha256)[0] is not None


def _parted(report: Path, sha256: str) -> tuple[bytes | None, bytes]:
    """Return the beginning of a report that was recorded, if there is one, and all of it."""
    if report.suffix != ".pdf" or report.stat().st_size > PAPER:
        return None, b""
    content = read_bytes(report, PAPER)
    found = (content[:end] for end in _ends(content))
    return next((one for one in found if hashlib.sha256(one).hexdigest() == sha256), None), content


def _ends(content: bytes) -> Iterator[int]:
    """Give the places at which an earlier state of the file may have ended."""
    for count, found in enumerate(_END.finditer(content)):
        if count >= MOST_REVISIONS:
            return
        yield from {found.start() + 5, found.end()} - {len(content)}


def only_signed(before: bytes, after: bytes) -> bool:
    """Say whether a PDF is another one with nothing but an invisible signature over all of it appended.

    Every object of the first has to be what it was, but for the entries in which a signature is hung up. A
    signature that is shown on a page is not one of these: it could cover what the page says. And what was
    appended has to be written so that every reader of PDF reads the same of it.
    """
    if not after.startswith(before) or len(after) == len(before):
        return False
    if not (has_table(before) and has_table(after)):
        return False
    import logging

    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        old, new = PdfReader(BytesIO(before)), PdfReader(BytesIO(after))
        appended = _appended(before, after, new)
        return (
            appended is not None
            and all(_is_said_once(written, _object(new, number)) for number, written in appended.items())
            and _only_signed(old, new, after, appended)
        )
    except Exception:  # a file from anywhere: what cannot be read is no signed report
        return False


def _appended(before: bytes, after: bytes, new: Any) -> dict[int, bytes] | None:
    """Return the text of each appended object, the last of a number; None where tables say otherwise of them.

    Each table names the objects before it, each once and where it stands, frees none, and leads to the table
    before it. So it is one whether a reader goes by tables or looks for objects, and which of two it takes.
    """
    standing = {one.start(): one for one in _OBJECT.finditer(after, len(before))}
    found: dict[int, bytes] = {}
    first, at = _table_place(before), _table_place(after)
    while at != first:
        lines, trailer, written = _table(after, at, new)
        lines = [line for line in lines if line[0]]  # the object 0 is none
        above, numbers = int(trailer["/Prev"]), [number for number, _, _ in lines]
        if len(numbers) > len(set(numbers)) or not _OF_TRAILER.issuperset(trailer) or not first <= above < at:
            return None
        if not _is_said_once(written, trailer):
            return None
        for number, place, is_plain in lines:
            stands = standing.pop(place, None)
            if not is_plain or stands is None or not max(above, len(before) - 1) < place <= at:
                return None
            if (int(stands[1]), int(stands[2])) != (number, 0):
                return None
            found.setdefault(number, after[stands.end() : after.index(b"endobj", stands.end())])
        standing.pop(at, None)  # a table that is an object itself need not name itself
        at = above
    return None if standing else found


def _table_place(pdf: bytes) -> int:
    return int(pdf[pdf.rindex(b"startxref") :].split()[1])


def _table(pdf: bytes, at: int, reader: Any) -> tuple[list[Line], Any, bytes]:
    """Return the lines of the table at a place, what it says beside, and how that is written."""
    from pypdf.generic import read_object

    if (words := _TABLE.match(pdf, at)) is not None:
        trailer = read_object(BytesIO(words["trailer"]), reader)
        return list(_lines_in_words(words["lines"].split())), trailer, words["trailer"]
    head = _OBJECT.match(pdf, at)
    if head is None:
        raise ValueError("no table of objects")
    table = read_object(BytesIO(pdf[head.end() :]), reader)
    return list(_lines_of_stream(table)), table, pdf[head.end() : pdf.index(b"endobj", head.end())]


def _lines_in_words(values: list[bytes]) -> Iterator[Line]:
    while values:
        first, count = int(values[0]), int(values[1])
        rows, values = values[2 : 2 + 3 * count], values[2 + 3 * count :]
        for number, row in enumerate(zip(rows[::3], rows[1::3], rows[2::3], strict=True), first):
            yield number, int(row[0]), row[1:] == (b"00000", b"n")


def _lines_of_stream(table: Any) -> Iterator[Line]:
    widths, data = [int(one) for one in table["/W"]], table.get_data()
    ranges = [int(one) for one in table.get("/Index", (0, table["/Size"]))]
    if sum(widths) < 1 or sum(ranges[1::2]) * sum(widths) != len(data):
        raise ValueError("no table of objects")
    rows = BytesIO(data)
    for first, count in zip(ranges[::2], ranges[1::2], strict=True):
        for number in range(first, first + count):
            kind, place, generation = (int.from_bytes(rows.read(one), "big") for one in widths)
            yield number, place, kind == 1 and generation == 0


def _is_said_once(written: bytes, read: Any) -> bool:
    """Say whether an object has as many names as were read of it: of a name that stands twice one is read."""
    text, is_stream, _ = written.partition(b"stream")
    if is_stream:  # its length is not among what is read of it
        text = text.replace(b"/Length", b"", 1)
    return _STRING.sub(b"", text).count(b"/") == _count_names(read)


def _count_names(value: Any) -> int:
    if isinstance(value, dict):
        return sum(1 + _count_names(one) for one in dict.values(value))
    if isinstance(value, list):
        return sum(map(_count_names, list.__iter__(value)))
    return int(isinstance(value, str) and type(value).__name__ == "NameObject")


def _only_signed(old: Any, new: Any, after: bytes, appended: Mapping[int, bytes]) -> bool:
    root, info = (_number(_raw(old.trailer, name)) for name in ("/Root", "/Info"))
    if any(_plain(_raw(old.trailer, name)) != _plain(_raw(new.trailer, name)) for name in ("/Root", "/Info")):
        return False
    if int(new.trailer["/Size"]) <= max(_numbers(new)):  # what is beyond the size is not there for some
        return False
    catalogue, changed = _object(old, root), _object(new, root)
    form = changed.get("/AcroForm")
    fields = form.get_object().get("/Fields") if form is not None else None
    if "/AcroForm" in catalogue or fields is None or "/XFA" in form.get_object():
        return False
    if changed.get("/Version") != catalogue.get("/Version") and changed.get("/Version") not in _VERSIONS:
        return False
    signatures = {_number(field) for field in fields.get_object()}
    if not signatures or not all(_is_invisible(_object(new, number), appended) for number in signatures):
        return False
    if not any(_covers(_object(new, number), after) for number in signatures):
        return False
    metadata = _number(_raw(catalogue, "/Metadata"))
    pages = {_number(page.indirect_reference) for page in old.pages}
    may_differ = {root: _OF_CATALOGUE, info: _OF_INFO}
    for number in _numbers(old):
        one, other = _object(old, number), _object(new, number)
        if number in pages:
            if not _has_only_more_fields(one, other, signatures):
                return False
        elif number != metadata and _plain(one, may_differ.get(number)) != _plain(
            other, may_differ.get(number)
        ):
            return False
    return True


def _has_only_more_fields(one: Any, other: Any, signatures: set[int]) -> bool:
    leave = frozenset(("/Annots",))
    had, has = ([_number(note) for note in page.get("/Annots", [])] for page in (one, other))
    return (
        _plain(one, leave) == _plain(other, leave)
        and has[: len(had)] == had
        and set(has[len(had) :]) <= signatures
    )


def _is_invisible(field: Any, appended: Mapping[int, bytes]) -> bool:
    """Say whether a field shows nothing, whatever a reader makes of a place without a size.

    There are some, among them those that print, that paint over the whole page what is to be shown in a place
    of no size: so nothing may be there to be painted.
    """
    rectangle = [float(edge) for edge in field.get("/Rect", ())]
    flat = len(rectangle) == 4 and (rectangle[0] == rectangle[2] and rectangle[1] == rectangle[3])
    is_one = field.get("/FT") == "/Sig" and set(field) <= _OF_FIELD | {"/AP"}
    return bool(is_one and flat and ("/AP" not in field or _is_blank(field["/AP"], appended)))


def _is_blank(appearances: Any, appended: Mapping[int, bytes]) -> bool:
    """Say whether nothing stands in the streams that show a field, as they are written: not even packed."""
    for name in appearances:
        written = appended.get(_number(_raw(appearances, name)), b"")
        _, _, content = written.partition(b"stream")
        if not _OF_APPEARANCE.issuperset(appearances[name]) or _BLANK.fullmatch(content) is None:
            return False
    return True


def _covers(field: Any, pdf: bytes) -> bool:
    """Say whether a signature is over the whole file, but for the place where it stands itself."""
    value = field.get("/V")
    signed = value.get_object() if value is not None else {}
    ranges = [int(place) for place in signed.get("/ByteRange", ())]
    if len(ranges) != 4 or ranges[0] != 0 or not 0 < ranges[1] < ranges[2]:
        return False
    left_out = _HEXADECIMAL.fullmatch(pdf[ranges[1] : ranges[2]])
    content = signed.get("/Contents", b"")
    written = content.original_bytes if hasattr(content, "original_bytes") else bytes(content)
    return (
        ranges[2] + ranges[3] == len(pdf)
        and bool(written)
        and left_out is not None
        and bytes.fromhex(left_out[1].decode()) == written
    )


def _numbers(reader: Any) -> set[int]:
    """Return the numbers of all objects of a file."""
    direct = {number for objects in reader.xref.values() for number in objects if number}
    return direct | set(reader.xref_objStm)


def _object(reader: Any, number: int) -> Any:
    from pypdf.generic import IndirectObject

    generation = next((one for one, objects in reader.xref.items() if number in objects), 0)
    return reader.get_object(IndirectObject(number, generation, reader))


def _raw(values: Any, name: str) -> Any:
    """Return a value as it stands: what it refers to as a reference."""
    return dict.get(values, name)


def _number(reference: Any) -> int:
    return int(reference.idnum) if hasattr(reference, "idnum") else -1


def _plain(value: Any, leave: frozenset[str] | None = None) -> Any:
    """Return an object of a PDF as plain values that can be compared; what it refers to as its number."""
    if hasattr(value, "idnum"):
        return ("reference", value.idnum, value.generation)
    if isinstance(value, dict):
        content = getattr(value, "_data", None)
        items: Any = dict.items(value)  # what is referred to stays a reference
        named = {name: _plain(one) for name, one in items if name not in (leave or ())}
        return (named, bytes(content) if isinstance(content, bytes) else None)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return (type(value).__name__, value)
