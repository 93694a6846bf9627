"""A signature is no forgery, and what only looks like one is."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import NameOID
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    ByteStringObject,
    DictionaryObject,
    FloatObject,
    IndirectObject,
    NameObject,
    NumberObject,
    TextStringObject,
)

from engine import texts
from engine.__main__ import main
from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.release.bundle import Bundle
from engine.release.foreign_signatures import certify, only_signed
from engine.release.verify import verify
from tests.engine.release.conftest import forge_sums

PKCS7 = b"\x30\x82\x01\x00" + b"\x01" * 256


pytestmark = pytest.mark.with_reports


LEFT_OUT: dict[str, Callable[[list[int], int, int], list[int]]] = {
    "the whole file": lambda _, report, size: [0, 1, size - 1, 1],
    "the report": lambda own, report, size: [0, 9, own[2], own[3]],
    "the end of the report": lambda own, report, size: [0, report - 40, own[2], own[3]],
    "all behind the report": lambda own, report, size: [0, report, size - 1, 1],
    "what stands before the signature": lambda own, report, size: [0, report, own[2], own[3]],
    "what stands behind it": lambda own, report, size: [*own[:2], own[2] + 9, own[3] - 9],
    "nothing": lambda own, report, size: [0, own[1], own[1], size - own[1]],
}
"""What a signature is not over: of its own numbers, the length of the report and that of the file."""


def signed(report: bytes, *, edges: tuple[float, ...] = (0, 0, 0, 0), spoil: str = "") -> bytes:
    """Append a field with a signature over the whole file; ``spoil`` names what else is appended."""
    writer = PdfWriter(BytesIO(report), incremental=True)
    page = writer.pages[0]
    value = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Sig"),
            NameObject("/ByteRange"): ArrayObject(map(NumberObject, (0, 10**9, 10**9 + 1, 10**9 + 2))),
            NameObject("/Contents"): ByteStringObject(PKCS7),
        }
    )
    field = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Annot"),
            NameObject("/Subtype"): NameObject("/Widget"),
            NameObject("/FT"): NameObject("/Sig"),
            NameObject("/T"): TextStringObject("Signature"),
            NameObject("/Rect"): ArrayObject(map(FloatObject, edges)),
            NameObject("/V"): writer._add_object(value),
        }
    )
    reference = writer._add_object(field)
    page[NameObject("/Annots")] = ArrayObject([*page.get("/Annots", []), reference])
    form = DictionaryObject({NameObject("/Fields"): ArrayObject([reference])})
    writer.root_object[NameObject("/AcroForm")] = writer._add_object(form)
    if spoil == "page":
        page[NameObject("/Contents")] = ArrayObject()
    if spoil.startswith("/"):
        writer.root_object[NameObject("/Version")] = NameObject(spoil)
    if spoil == "script":
        writer.root_object[NameObject("/OpenAction")] = NameObject("/Nothing")
    out = BytesIO()
    writer.write(out)
    content = bytearray(out.getvalue())
    assert content.startswith(report)
    at = content.index(b"<" + PKCS7.hex().encode(), len(report))
    behind = at + 2 * len(PKCS7) + 2
    numbers = [0, at, behind, len(content) - behind + (5 if spoil == "short" else 0)]
    if spoil in LEFT_OUT:
        numbers = LEFT_OUT[spoil](numbers, len(report), len(content))
    old = b"[ 0 1000000000 1000000001 1000000002 ]"
    assert content.count(old) == 1
    return bytes(content.replace(old, f"[ {' '.join(map(str, numbers))}".encode().ljust(len(old) - 1) + b"]"))


@pytest.mark.parametrize(("name", "version"), [("external", ""), ("internal", ""), ("external", "/2.0")])
def test_a_report_that_was_signed_is_named_and_no_forgery(
    made: Bundle, ledger: Ledger, name: str, version: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the program that signed says that its own part is of a later PDF, as pyHanko does."""
    part = "release" if name == "external" else "internal"
    report = made.folder / part / f"report-{name}.pdf"
    report.write_bytes(signed(report.read_bytes(), spoil=version))
    found = verify(made.folder, ledger=ledger)
    assert found.passed, found.problems
    assert found.signed == (f"{part}/report-{name}.pdf",) and found.compared
    assert main(["verify", str(made.folder), "--ledger", str(ledger.path)]) == 0
    assert texts.text("commands.verify_signed", files=found.signed[0]) in capsys.readouterr().out


def test_a_report_that_was_signed_before_the_sums_is_no_forgery(made: Bundle) -> None:
    report = made.folder / "release" / "report-external.pdf"
    report.write_bytes(signed(report.read_bytes()))
    forge_sums(made.folder / "release")
    found = verify(made.folder / "release")
    assert found.passed and found.signed == ("release/report-external.pdf",)


@pytest.mark.parametrize(
    ("edges", "spoil"),
    [
        ((50, 50, 500, 700), ""),
        ((0, 0, 0, 0), "page"),
        ((0, 0, 0, 0), "script"),
        ((0, 0, 0, 0), "short"),
        ((0, 0, 0, 0), "/9.9"),
    ],
)
def test_what_changes_a_page_behind_a_signature_is_found(
    made: Bundle, edges: tuple[float, ...], spoil: str
) -> None:
    report = made.folder / "release" / "report-external.pdf"
    report.write_bytes(signed(report.read_bytes(), edges=edges, spoil=spoil))
    assert [one.code for one in verify(made.folder).problems] == ["bundle.appended"]
    forge_sums(made.folder / "release")
    assert [one.code for one in verify(made.folder).problems] == ["bundle.words_differ"]


def test_another_report_is_not_told_as_one_that_was_signed(made: Bundle) -> None:
    report = made.folder / "release" / "report-external.pdf"
    content = report.read_bytes()
    for changed in (content[:500] + b"!" + content[501:], content[:-40], b"%" + content, b""):
        report.write_bytes(changed)
        assert "bundle.changed" in [one.code for one in verify(made.folder).problems]


@pytest.mark.guarantee
@pytest.mark.parametrize("part", LEFT_OUT)
def test_a_signature_over_a_part_of_the_file_is_none(made: Bundle, part: str) -> None:
    place = made.folder / "release" / "report-external.pdf"
    report = place.read_bytes()
    assert only_signed(report, signed(report))
    assert not only_signed(report, signed(report, spoil=part))
    place.write_bytes(signed(report, spoil=part))
    assert [one.code for one in verify(made.folder).problems] == ["bundle.appended"]


class Appended:
    """What is appended to a report by hand: a signature as any other, and what readers may take otherwise."""

    def __init__(self, report: bytes) -> None:
        self.report, self.old = report, PdfReader(BytesIO(report))
        self.size = int(self.old.trailer["/Size"])
        self.root, self.info = (self.old.trailer.raw_get(name).idnum for name in ("/Root", "/Info"))
        self.page = self.old.pages[0].indirect_reference
        self.content = self.old.pages[0].raw_get("/Contents").idnum
        self.catalogue = self.written(self.root)[:-2] + b" /AcroForm %d 0 R " % (self.size + 2)
        self.objects: list[tuple[int, int, bytes]] = []
        self.lines, self.trailer, self.of_root, self.shown = b"", b"", b"0 R", b""

    def written(self, number: int) -> bytes:
        out = BytesIO()
        self.old.get_object(IndirectObject(number, 0, self.old)).write_to_stream(out)
        return out.getvalue().strip()

    def other_pages(self) -> bytes:
        """Append pages that show something else, and return what refers to them."""
        at = self.size + 3
        self.objects += [
            (at, 0, b"<< /Length 25 >>\nstream\n1 0 0 rg 0 0 600 900 re f\nendstream"),
            (
                at + 1,
                0,
                b"<< /Type /Page /MediaBox [0 0 9 9] /Parent %d 0 R /Contents %d 0 R >>" % (at + 2, at),
            ),
            (at + 2, 0, b"<< /Type /Pages /Count 1 /Kids [%d 0 R] >>" % (at + 1)),
        ]
        return b"/Pages %d 0 R " % (at + 2)

    def show(self, content: bytes, *, further: bytes = b"") -> None:
        """Append what shows the field, as large as a page."""
        said = b"/Type /XObject /Subtype /Form /BBox [0 0 600 900] %b" % further
        said += b"" if b"/Length" in further else b" /Length %d" % len(content)
        self.objects.append((self.size + 3, 0, b"<< %b >>\nstream\n%bendstream" % (said, content)))
        self.shown = b"/AP << /N %d 0 R >> " % (self.size + 3)

    def bytes(self) -> bytes:
        first, out, lines = self.size, bytearray(self.report), bytearray(b"xref\n" + self.lines)
        value = b"/ByteRange [0 from_where behind____ to_the_end] /Contents <3003020101>"
        field = b"<< /Type /Annot /Subtype /Widget /FT /Sig /T (S) /Rect [0 0 0 0] /V %d 0 R %b>>" % (
            first,
            self.shown,
        )
        own = [(first, 0, b"<< /Type /Sig %b >>" % value), (first + 1, 0, field)]
        own += [
            (first + 2, 0, b"<< /Fields [%d 0 R] >>" % (first + 1)),
            (self.root, 0, self.catalogue + b">>"),
        ]
        for number, generation, content in [*own, *self.objects]:
            lines += b"%d 1\n%010d %05d n \n" % (number, len(out), generation)
            out += b"%d %d obj\n%b\nendobj\n" % (number, generation, content)
        at, (above,) = len(out), [self.report.rindex(b"startxref")]
        said = b"/Size %d /Info %d 0 R /Root %d %b" % (first + 9, self.info, self.root, self.of_root)
        out += lines + b"trailer\n<< %b /Prev %d %b>>\n" % (
            said,
            int(self.report[above:].split()[1]),
            self.trailer,
        )
        out += b"startxref\n%d\n%%%%EOF\n" % at
        at = out.index(b"<3003020101>", len(self.report))
        for word, place in (
            (b"from_where", at),
            (b"behind____", at + 12),
            (b"to_the_end", len(out) - at - 12),
        ):
            out = out.replace(word, b"%010d" % place)
        return bytes(out)


def another_generation(made: Appended) -> None:
    made.objects.append((made.content, 1, b"<< /Length 0 >>\nstream\n\nendstream"))


def a_root_of_another_generation(made: Appended) -> None:
    made.objects.append((made.root, 1, b"<< /Type /Catalog " + made.other_pages() + b">>"))
    made.of_root = b"1 R"


def freed(made: Appended) -> None:
    made.lines = b"%d 1\n0000000000 00001 f \n" % made.content


def twice_in_one_table(made: Appended) -> None:
    made.lines = b"%d 1\n%010d 00000 n \n" % (made.content, made.old.xref[0][made.content])
    made.objects.append((made.content, 0, b"<< /Length 0 >>\nstream\n\nendstream"))


def a_name_twice(made: Appended) -> None:
    made.catalogue += made.other_pages()


def a_name_twice_written_otherwise(made: Appended) -> None:
    made.catalogue += made.other_pages().replace(b"/Pages", b"/P#61ges")


def a_name_twice_first_empty(made: Appended) -> None:
    page = made.page.idnum
    made.objects.append((page, 0, b"<< /Contents null " + made.written(page)[2:]))


def twice_in_the_trailer(made: Appended) -> None:
    at = made.size + 8
    made.objects.append((at, 0, b"<< /Type /Catalog " + made.other_pages() + b">>"))
    made.trailer = b"/Root %d 0 R " % at


def another_table(made: Appended) -> None:
    made.trailer = b"/XRefStm 9 "


def too_small(made: Appended) -> None:
    made.size, made.catalogue = made.content, made.written(made.root)[:-2]


def one_that_no_table_names(made: Appended) -> None:
    made.trailer = b">>\n%d 0 obj\n<< /Length 0 >>\nstream\n\nendstream\nendobj\ntrailer\n<<" % made.content


def another_page_in_a_field(made: Appended) -> None:
    made.objects.append((made.size + 1, 0, b"<< /Rect [0 0 0 0] /Rect [0 0 600 900] /FT /Sig /V 9 0 R >>"))


def shown_over_the_page(made: Appended) -> None:
    made.show(b"1 0 0 rg 0 0 600 900 re f\n")


def shown_and_said_to_be_nothing(made: Appended) -> None:
    made.show(b"1 0 0 rg 0 0 600 900 re f\n", further=b"/Length 0")


def shown_behind_a_word(made: Appended) -> None:
    made.show(b"1 0 0 rg 0 0 600 900 re f\nstream\n")


def shown_and_packed(made: Appended) -> None:
    made.show(b"310a72670a30203020363030>\n", further=b"/Filter /ASCIIHexDecode")


def shown_from_a_file(made: Appended) -> None:
    made.show(b"\n", further=b"/F (page)")


def shown_for_a_state(made: Appended) -> None:
    shown_over_the_page(made)
    made.shown = b"/AP << /N << /On %d 0 R >> >> " % (made.size + 3)


def shown_as_the_page_is(made: Appended) -> None:
    made.shown = b"/AP << /N %d 0 R >> " % made.content


READ_OTHERWISE = (
    shown_over_the_page,
    shown_and_said_to_be_nothing,
    shown_behind_a_word,
    shown_and_packed,
    shown_from_a_file,
    shown_for_a_state,
    shown_as_the_page_is,
    another_generation,
    a_root_of_another_generation,
    freed,
    twice_in_one_table,
    a_name_twice,
    a_name_twice_written_otherwise,
    a_name_twice_first_empty,
    twice_in_the_trailer,
    another_table,
    too_small,
    one_that_no_table_names,
    another_page_in_a_field,
)


@pytest.mark.guarantee
def test_what_readers_of_pdf_may_take_otherwise_is_no_signature(made: Bundle) -> None:
    place = made.folder / "release" / "report-external.pdf"
    report, accepted = place.read_bytes(), []
    assert only_signed(report, Appended(report).bytes())
    for nothing in (b"", b"\n", b"% nothing is shown\n"):
        blank = Appended(report)
        blank.show(nothing)
        assert only_signed(report, blank.bytes())
    for read_otherwise in READ_OTHERWISE:
        forged = Appended(report)
        read_otherwise(forged)
        if only_signed(report, forged.bytes()):
            accepted.append(read_otherwise.__name__)
    assert accepted == []
    place.write_bytes(Appended(report).bytes())
    assert verify(made.folder).passed
    place.write_bytes(forged.bytes())
    assert [one.code for one in verify(made.folder).problems] == ["bundle.appended"]


def test_a_forged_report_is_not_saved_by_a_signature(made: Bundle) -> None:
    report = made.folder / "release" / "report-external.pdf"
    content = bytearray(signed(report.read_bytes()))
    content[1000] ^= 1
    report.write_bytes(bytes(content))
    assert not verify(made.folder).passed


def test_anything_else_behind_a_report_is_found(made: Bundle) -> None:
    report = made.folder / "release" / "report-external.pdf"
    report.write_bytes(report.read_bytes() + b"\n% /ByteRange\n%%EOF\n")
    assert not verify(made.folder).passed


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("SHA256SUMS.p7s", PKCS7),
        ("SHA256SUMS.p7s", b"-----BEGIN PKCS7-----\nMAA=\n-----END PKCS7-----\n"),
    ],
)
def test_a_signature_beside_the_sums_is_named_and_no_forgery(
    made: Bundle, ledger: Ledger, name: str, content: bytes
) -> None:
    (made.folder / "release" / name).write_bytes(content)
    found = verify(made.folder, ledger=ledger)
    assert found.passed and found.compared, found.problems
    assert found.signed == (f"release/{name}",)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("SHA256SUMS.p7s", b"patient;sex\n1;f\n"),
        ("SHA256SUMS.p7s", PKCS7 + b"1;f"),
        ("SHA256SUMS.p7s", b""),
        ("signature.json", b"patient;sex\n1;f\n"),
        ("signature.json", b'["a"]'),
        ("README.p7s", PKCS7),
    ],
)
def test_what_is_no_signature_is_not_let_in_under_its_name(made: Bundle, name: str, content: bytes) -> None:
    (made.folder / "release" / name).write_bytes(content)
    assert "bundle.not_recorded" in [one.code for one in verify(made.folder).problems]


def test_a_signature_that_is_larger_than_any_is_not_read(made: Bundle) -> None:
    (made.folder / "release" / "signature.json").write_bytes(b'{"a": "' + b"1" * 70_000 + b'"}')
    assert [one.code for one in verify(made.folder).problems] == ["bundle.too_large"]


def test_a_folder_is_not_changed_by_looking(made: Bundle) -> None:
    before = {path: path.read_bytes() for path in Path(made.folder).glob("*/*")}
    verify(made.folder)
    assert before == {path: path.read_bytes() for path in Path(made.folder).glob("*/*")}
    assert PdfReader(made.folder / "release" / "report-external.pdf").pages


def certificate(kind: str) -> tuple[bytes, bytes]:
    """Return a PKCS#12 file with a passphrase, and its certificate as PEM."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    keys = {
        "rsa": lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048),
        "ec": lambda: ec.generate_private_key(ec.SECP256R1()),
        "ed25519": Ed25519PrivateKey.generate,
    }
    key = keys[kind]()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Sample Hospital")])
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=36500))
    cert = made.sign(key, None if kind == "ed25519" else hashes.SHA256())
    locked = serialization.BestAvailableEncryption(b"opens it")
    return (
        pkcs12.serialize_key_and_certificates(b"one", key, cert, None, locked),
        cert.public_bytes(serialization.Encoding.PEM),
    )


def openssl_says(release: Path, cert: Path) -> bool:
    given = (
        "-binary",
        "-inform",
        "DER",
        "-in",
        release / "SHA256SUMS.p7s",
        "-content",
        release / "SHA256SUMS",
    )
    command = ["openssl", "cms", "-verify", *given, "-CAfile", cert, "-purpose", "any", "-out", os.devnull]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is missing")
@pytest.mark.parametrize("kind", ["rsa", "ec"])
def test_a_certificate_signs_the_sums_and_another_program_says_so(
    kind: str, made: Bundle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release, p12, cert, words = (
        made.folder / "release",
        *(tmp_path / name for name in ("p12", "pem", "words")),
    )
    content, pem = certificate(kind)
    p12.write_bytes(content)
    cert.write_bytes(pem)
    words.write_text("opens it\n")
    command = ["certify", str(made.folder), "--p12", str(p12)]
    assert main(command) == 2 and not (release / "SHA256SUMS.p7s").exists()
    assert "another passphrase" in capsys.readouterr().err
    command += ["--passphrase-file", str(words)]
    assert main(command) == 0 and "Sample Hospital" in capsys.readouterr().out
    assert openssl_says(release, cert)
    assert main(["verify", str(made.folder)]) == 0, "such a signature is no forgery"
    assert main(command) == 2, "a signature that is there is not replaced"
    sums = (release / "SHA256SUMS").read_bytes()
    (release / "SHA256SUMS").write_bytes(sums.replace(b"a", b"b", 1))
    assert not openssl_says(release, cert)
    (release / "SHA256SUMS").write_bytes(sums)
    cert.write_bytes(certificate(kind)[1])
    assert not openssl_says(release, cert), "nor by another certificate"


def test_what_does_not_verify_gets_no_certificate(
    made: Bundle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    p12, words = tmp_path / "p12", tmp_path / "words"
    p12.write_bytes(certificate("ec")[0])
    words.write_text("opens it\n")
    table = next((made.folder / "release").rglob("*.csv"))
    table.write_text(table.read_text() + "1\n")
    command = ["certify", str(made.folder), "--p12", str(p12), "--passphrase-file", str(words)]
    assert main(command) == 1 and table.name in capsys.readouterr().err
    forge_sums(made.folder / "release")
    assert main(command) == 1
    assert not (made.folder / "release" / "SHA256SUMS.p7s").exists()


@pytest.mark.parametrize("given", ["ed25519", "none", "garbage"])
def test_what_cannot_sign_leaves_nothing(given: str, made: Bundle) -> None:
    p12 = {"ed25519": lambda: certificate("ed25519")[0], "none": lambda: b"", "garbage": lambda: b"\x30" * 99}
    with pytest.raises(InputRefused, match=r"signing\.certificate"):
        certify(made.folder, p12[given](), "opens it")
    assert not (made.folder / "release" / "SHA256SUMS.p7s").exists()
