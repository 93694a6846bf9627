"""The PDF report: what PDF/A-3 asks for, the evidence inside, tags, and no line beyond the margins."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pikepdf
import pytest

from engine.release.evidence import dumps, internal_json
from engine.release.report import content, pdf, words
from engine.release.report.document import (
    Bullets,
    Document,
    Heading,
    KeyValues,
    Row,
    Section,
    Statement,
)
from engine.views import BarsView, TableView, Text, TextView

LONG = "Krankenhauswiederaufnahmewahrscheinlichkeitsberechnungsgruppe" * 4


@pytest.fixture(scope="module")
def evidence(sample):
    return dumps(internal_json(sample.public, sample.kept))


@pytest.fixture(scope="module")
def report(sample, evidence):
    return pdf.render(content.internal(sample.public, sample.kept), evidence=evidence)


@pytest.fixture
def opened(report):
    with pikepdf.open(io.BytesIO(report)) as file:
        yield file


def document(*parts, title="A title", audience="Internal: stays here") -> Document:
    return Document(
        title, "kind", audience, True, "b0", "2026-03-12T10:58:00+01:00", (), (Section("One", parts),)
    )


def test_metadata_declare_pdf_a_3u(opened, sample):
    assert "/Info" not in opened.trailer
    with opened.open_metadata(update_docinfo=False, set_pikepdf_as_editor=False) as metadata:
        assert metadata["pdfaid:part"] == "3"
        assert metadata["pdfaid:conformance"] == "U"
        assert metadata["dc:title"] == sample.public.title
        dates = {metadata[f"xmp:{name}"] for name in ("CreateDate", "ModifyDate", "MetadataDate")}
        assert dates == {sample.public.made_at}
    assert "/Filter" not in opened.Root.Metadata
    assert opened.trailer.ID
    assert not opened.is_encrypted


def test_colours_have_an_output_intent_with_an_srgb_profile(opened):
    (intent,) = opened.Root.OutputIntents
    assert intent.S == "/GTS_PDFA1"
    profile = intent.DestOutputProfile
    assert int(profile.N) == 3
    content = profile.read_bytes()
    assert content[36:40] == b"acsp"
    assert content[16:20] == b"RGB "


def fonts(file):
    for page in file.pages:
        yield from page.Resources.Font.values()


def test_every_font_is_embedded_and_maps_to_unicode(opened):
    found = list(fonts(opened))
    assert found
    for font in found:
        assert font.Subtype == "/Type0"
        assert "/ToUnicode" in font
        (descendant,) = font.DescendantFonts
        assert descendant.Subtype == "/CIDFontType2"
        program = descendant.FontDescriptor.FontFile2.read_bytes()
        assert program[:4] == b"\x00\x01\x00\x00"
        assert re.match(r"/[A-Z]{6}\+", str(descendant.BaseFont))


def test_every_word_is_set_in_an_embedded_font(opened):
    for page in opened.pages:
        names = set(page.Resources.Font.keys())
        used = {
            str(operands[0])
            for operands, operator in pikepdf.parse_content_stream(page)
            if str(operator) == "Tf"
        }
        assert used <= names
        assert "/XObject" not in page.Resources or not page.Resources.XObject


def test_the_evidence_is_an_associated_file_byte_by_byte(opened, evidence):
    (file,) = opened.Root.AF
    assert file.AFRelationship == "/Data"
    assert file.F == file.UF == "evidence.json"
    assert file.EF.F.read_bytes() == evidence
    assert file.EF.F.Subtype == "/application/json"
    assert int(file.EF.F.Params.Size) == len(evidence)
    assert list(opened.attachments) == ["evidence.json"]


def elements(node, kind=None):
    kids = node.get("/K", [])
    kids = kids if isinstance(kids, pikepdf.Array) else [kids]
    for kid in kids:
        if isinstance(kid, pikepdf.Dictionary) and "/S" in kid:
            if kind is None or str(kid.S) == f"/{kind}":
                yield kid
            yield from elements(kid, kind)


def test_the_file_is_tagged_in_reading_order(opened, sample):
    assert opened.Root.Lang == "en"
    assert opened.Root.MarkInfo.Marked
    assert opened.Root.ViewerPreferences.DisplayDocTitle
    tree = opened.Root.StructTreeRoot
    assert len(list(elements(tree, "H1"))) == 1
    assert len(list(elements(tree, "H2"))) == len(content.internal(sample.public, sample.kept).sections)
    for table in elements(tree, "Table"):
        assert {str(row.S) for row in table.K} == {"/TR"}
        for row in table.K:
            assert {str(cell.S) for cell in row.K} <= {"/TH", "/TD"}
    assert {str(head.A.Scope) for head in elements(tree, "TH")} == {"/Column", "/Row"}
    for figure in elements(tree, "Figure"):
        assert len(str(figure.Alt)) > 20


def test_every_mark_on_a_page_belongs_to_one_element(opened):
    parents = opened.Root.StructTreeRoot.ParentTree.Nums
    numbers = {int(parents[i]): parents[i + 1] for i in range(0, len(parents), 2)}
    for page in opened.pages:
        found = numbers[int(page.StructParents)]
        marks, depth = [], 0
        for operands, operator in pikepdf.parse_content_stream(page):
            name = str(operator)
            if name == "BDC":
                marks.append((str(operands[0]), int(operands[1].MCID)))
            depth += {"BDC": 1, "BMC": 1, "EMC": -1}.get(name, 0)
            assert depth in (0, 1)
            if name in ("Tj", "TJ", "S", "f", "B"):
                assert depth == 1, "content that is neither tagged nor marked as decoration"
        assert [number for _, number in marks] == list(range(len(found)))
        for (kind, number), element in zip(marks, found, strict=True):
            assert str(element.S) == kind
            assert list(element.K) == [number]
            assert element.Pg.objgen == page.objgen


def test_chapters_stand_in_the_outline(opened, sample):
    with opened.open_outline() as outline:
        titles = [item.title for item in outline.root]
    assert titles[0] == sample.public.title
    assert len(titles) == 1 + len(content.internal(sample.public, sample.kept).sections)
    assert titles[1].startswith("1")


def test_the_same_evidence_gives_the_same_bytes(sample, report, evidence):
    again = pdf.render(content.internal(sample.public, sample.kept), evidence=evidence)
    assert again == report


def test_the_label_stands_alone_on_the_first_page(opened):
    pages = [int(element.Pg.objgen[0]) for element in elements(opened.Root.StructTreeRoot, "H2")]
    first, second = opened.pages[0].objgen[0], opened.pages[1].objgen[0]
    assert first not in pages
    assert second in pages


def test_every_kind_of_view_is_written(sample):
    written = pdf.render(document(*sample.every_kind), evidence=b"{}")
    with pikepdf.open(io.BytesIO(written)) as file:
        tree = file.Root.StructTreeRoot
        assert len(list(elements(tree, "Figure"))) == 7
        assert len(list(elements(tree, "Table"))) == 1


class Lines:
    """Remembers where every line of text was put."""

    def __init__(self, monkeypatch) -> None:
        from engine.release.report import paper

        self.found = []
        put = paper.Paper.place

        def place(page, x, baseline, text, kind):
            self.found.append((page.page, x, baseline, page.width_of(text, kind), text))
            put(page, x, baseline, text, kind)

        monkeypatch.setattr(paper.Paper, "place", place)
        self.left, self.right = paper.SIDE, paper.WIDTH - paper.SIDE
        self.top, self.floor, self.foot = paper.TOP, paper.HEIGHT - paper.BOTTOM, paper.HEIGHT - 34

    def check(self):
        assert self.found
        for page, x, baseline, width, text in self.found:
            assert x >= self.left - 0.5, (page, text)
            assert x + width <= self.right + 1, (page, text, x + width - self.right)
            assert self.top < baseline <= self.floor + 0.5 or baseline == self.foot, (page, text)

    def on(self, text):
        return [page for page, _, _, _, found in self.found if found == text]


def test_no_line_leaves_the_margins(sample, evidence, monkeypatch):
    lines = Lines(monkeypatch)
    pdf.render(content.internal(sample.public, sample.kept), evidence=evidence)
    lines.check()


def test_long_words_wide_tables_and_many_rows_stay_inside(monkeypatch):
    lines = Lines(monkeypatch)
    wide = TableView(
        LONG, (LONG, *(f"column number {n}" for n in range(17))), tuple((LONG, *range(17)) for _ in range(3))
    )
    tall = TableView("t", ("name", "text"), ((LONG, " ".join([LONG] * 40)),))
    parts = (
        Heading(LONG),
        KeyValues(LONG, (Row(LONG, LONG, code=True), Row("number", 10**40))),
        wide,
        tall,
        Bullets((Text("errors.plan.unknown_field.what", {"file": LONG, "field": LONG}),)),
        Statement(Text("errors.plan.unknown_field.what", {"file": LONG, "field": LONG})),
        TextView(LONG, (Text("statement.none"),) * 60),
        BarsView(LONG, (LONG, "b"), (1e12, 2.0), LONG),
    )
    pdf.render(document(*parts, title=LONG), evidence=b"{}")
    lines.check()


def test_headings_of_a_long_table_are_repeated_and_no_row_is_lost(monkeypatch):
    lines = Lines(monkeypatch)
    table = TableView("Sixty rows", ("heading here", "count"), tuple((f"row {n}", n) for n in range(60)))
    written = pdf.render(document(table), evidence=b"{}")
    pages = lines.on("heading here")
    assert len(pages) == len(set(pages)) >= 2
    for number in range(60):
        (page,) = lines.on(f"row {number}")
        assert page in pages
    with pikepdf.open(io.BytesIO(written)) as file:
        (tagged,) = elements(file.Root.StructTreeRoot, "Table")
        assert len(tagged.K) == 60 + len(pages)
    lines.check()


def test_numbers_of_a_column_share_one_decimal_point(monkeypatch):
    lines = Lines(monkeypatch)
    pdf.render(document(TableView("t", ("a", "n"), (("x", 1.25), ("y", 1000), ("z", -3.5)))), evidence=b"{}")
    from engine.release.report import paper, tables

    points = set()
    sheet = paper.Paper(title="", language="en", made_at=_time(), footer=("", "", "#"))
    for _, x, _, _, text in lines.found:
        if text in ("1.25", "1,000", "−3.5"):
            points.add(round(x + sheet.width_of(text.split(".")[0], tables.CELL), 3))
    assert len(points) == 1


def _time():
    from datetime import datetime

    return datetime.fromisoformat("2026-03-12T10:58:00+01:00")


def test_a_heading_never_stands_alone_at_the_foot_of_a_page(monkeypatch):
    text = Text("statement.none")
    for count in range(28, 38):
        lines = Lines(monkeypatch)
        parts = (
            *(text,) * count,
            Heading("the heading"),
            TableView("", ("head",), (("first",), ("second",), ("third",))),
        )
        pdf.render(document(*parts), evidence=b"{}")
        assert lines.on("the heading") == lines.on("head")[:1] == lines.on("first"), count
        monkeypatch.undo()


def test_letters_of_other_scripts_are_set_and_missing_ones_are_named():
    from engine.release.report import paper

    sheet = paper.Paper(title="", language="en", made_at=_time(), footer=("", "", "#"))
    assert sheet._runs("Ελλ Ж ε", "plain") == (("plain", "Ελλ Ж ε"),)
    assert sheet._runs("a\u0627", "plain")[1][0] == "fallback"
    assert sheet._runs("中", "plain") == (("plain", "[U+4E2D]"),)
    assert "".join(run for _, run in sheet._runs("שלום", "plain")) == "םולש"


def test_every_page_says_whether_the_file_may_leave(sample, monkeypatch):
    lines = Lines(monkeypatch)
    pdf.render(content.external(sample.public), evidence=b"{}")
    pages = {page for page, *_ in lines.found}
    audience = words.word(Text("report.cover.audience_external"), "en")
    assert set(lines.on(audience)) == pages
    assert len(lines.on(f"Bundle {sample.public.bundle_id}")) == len(pages)


def test_a_later_report_differs_in_its_dates_alone(sample):
    one = content.external(sample.public)
    two = replace(one, made_at="2027-03-12T10:58:00+01:00")
    assert pdf.render(one, evidence=b"{}") != pdf.render(two, evidence=b"{}")
