"""A signature is no forgery, and what only looks like one is."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    ByteStringObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NumberObject,
    TextStringObject,
)

from engine import texts
from engine.__main__ import main
from engine.ledger import Ledger
from engine.release.bundle import Bundle
from engine.release.verify import verify
from tests.engine.release.conftest import forge_sums

PKCS7 = b"\x30\x82\x01\x00" + b"\x01" * 256


pytestmark = pytest.mark.with_reports


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
    if spoil == "script":
        writer.root_object[NameObject("/OpenAction")] = NameObject("/Nothing")
    out = BytesIO()
    writer.write(out)
    content = bytearray(out.getvalue())
    assert content.startswith(report)
    size = len(content) + 5 if spoil == "short" else len(content)
    numbers = [0, len(report), len(report) + 1, size - len(report) - 1]
    old = b"[ 0 1000000000 1000000001 1000000002 ]"
    assert content.count(old) == 1
    return bytes(content.replace(old, f"[ {' '.join(map(str, numbers))}".encode().ljust(len(old) - 1) + b"]"))


@pytest.mark.parametrize("name", ["external", "internal"])
def test_a_report_that_was_signed_is_named_and_no_forgery(
    made: Bundle, ledger: Ledger, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    part = "release" if name == "external" else "internal"
    report = made.folder / part / f"report-{name}.pdf"
    report.write_bytes(signed(report.read_bytes()))
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
    [((50, 50, 500, 700), ""), ((0, 0, 0, 0), "page"), ((0, 0, 0, 0), "script"), ((0, 0, 0, 0), "short")],
)
def test_what_changes_a_page_behind_a_signature_is_found(
    made: Bundle, edges: tuple[float, ...], spoil: str
) -> None:
    report = made.folder / "release" / "report-external.pdf"
    report.write_bytes(signed(report.read_bytes(), edges=edges, spoil=spoil))
    assert [one.code for one in verify(made.folder).problems] == ["bundle.changed"]
    forge_sums(made.folder / "release")
    assert [one.code for one in verify(made.folder).problems] == ["bundle.words_differ"]


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
