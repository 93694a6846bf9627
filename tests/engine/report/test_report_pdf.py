"""The PDF report: what PDF/A-3 asks for, the evidence inside, tags, and no line beyond the margins."""

from __future__ import annotations

import io
import json
import random
import re
import textwrap
from dataclasses import replace

import pikepdf
import pytest
from pypdf import PdfReader

from engine import texts
from engine.evidence import dumps, internal_json, words_of
from engine.methods import catalogue
from engine.report import content, external_document, html, internal_document, pdf, words
from engine.report.document import (
    Bullets,
    Callout,
    Document,
    Folded,
    Heading,
    KeyValues,
    Numbers,
    Row,
    Section,
    Signatures,
)
from engine.report.embedded import embedded_evidence
from engine.report.fonts import settable
from engine.report.theme import resource
from engine.views import BarsView, NumberView, TableView, Text, TextView
from tests.engine.methods import examples_run

LONG = "Krankenhauswiederaufnahmewahrscheinlichkeitsberechnungsgruppe" * 4
POINTS = 72 / 25.4  # a millimetre
SIDE = 20 * POINTS
pytestmark = pytest.mark.with_reports


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


def pages_of(file: bytes) -> list[str]:
    """Return the words of every page, spaces and places to break a word taken together."""
    pages = (page.extract_text() for page in PdfReader(io.BytesIO(file)).pages)
    return [re.sub(r"\s+", " ", page) for page in pages]


def characters(file: bytes) -> str:
    """Return everything that a reader can copy or hear: pages, outline, metadata, texts beside drawings."""
    read = PdfReader(io.BytesIO(file))
    found = [page.extract_text() for page in read.pages]
    found += [str(entry["/Title"]) for entry in flat(read.outline)]
    found += [str(value) for value in (read.metadata or {}).values()]
    with pikepdf.open(io.BytesIO(file)) as opened:
        found.append(
            opened.Root.Metadata.read_bytes().decode().replace("\ufeff", "", 1)
        )  # how a packet begins
        for item in opened.objects:
            if isinstance(item, pikepdf.Dictionary):
                found += [str(item[key]) for key in ("/Alt", "/ActualText", "/E") if key in item]
    return "\n".join(found)


def flat(outline):
    """Give the entries of an outline, those of every level."""
    for entry in outline:
        if isinstance(entry, list):
            yield from flat(entry)
        else:
            yield entry


def places(file: bytes) -> list[tuple[int, float, float, str]]:
    """Return page, left end and baseline of every piece of text."""
    found: list[tuple[int, float, float, str]] = []
    for number, page in enumerate(PdfReader(io.BytesIO(file)).pages):

        def visit(text, whole, own, *_, number=number):
            if text.strip():
                x = own[4] * whole[0] + own[5] * whole[2] + whole[4]
                y = own[4] * whole[1] + own[5] * whole[3] + whole[5]
                found.append((number, x, y, text.strip()))

        page.extract_text(visitor_text=visit)
    return found


def test_metadata_declare_pdf_a_3a(opened, sample):
    with opened.open_metadata(update_docinfo=False, set_pikepdf_as_editor=False) as metadata:
        assert metadata["pdfaid:part"] == "3"
        assert metadata["pdfaid:conformance"] == "A"
        assert metadata["pdfuaid:part"] == "1"
        assert metadata["dc:title"] == sample.public.title
        assert metadata["dc:language"] == {"en"}
        assert metadata["xmp:CreateDate"].startswith("2026-03-12T")
    assert "/Filter" not in opened.Root.Metadata
    assert opened.trailer.ID
    assert not opened.is_encrypted


def test_colours_have_an_output_intent_with_an_srgb_profile(opened):
    (intent,) = opened.Root.OutputIntents
    assert intent.S == "/GTS_PDFA1"
    profile = intent.DestOutputProfile
    assert int(profile.N) == 3
    assert profile.read_bytes()[36:40] == b"acsp"


def fonts(resources):
    yield from resources.get("/Font", {}).values()
    for inner in resources.get("/XObject", {}).values():
        yield from fonts(inner.get("/Resources", {}))


def test_every_font_is_ours_embedded_and_maps_to_unicode(opened):
    found = [font for page in opened.pages for font in fonts(page.Resources)]
    names = set()
    for font in found:
        assert font.Subtype == "/Type0"
        mapping = font.ToUnicode.read_bytes()
        assert not re.search(rb"<[0-9A-Fa-f]+> <0000>", mapping), "a letter without a meaning"
        (descendant,) = font.DescendantFonts
        assert {"/FontFile2", "/FontFile3"} & set(descendant.FontDescriptor.keys())
        names.add(str(descendant.BaseFont).partition("+")[2].partition("-")[0])
    assert names <= {"InterReport", "DejaVuSans", "DejaVuSansMono"}
    assert len(names) >= 2


def test_the_evidence_is_an_associated_file_byte_by_byte(opened, report, evidence):
    (file,) = opened.Root.AF
    assert file.AFRelationship == "/Data"
    assert file.F == file.UF == "evidence.json"
    assert file.EF.F.read_bytes() == evidence
    assert list(opened.attachments) == ["evidence.json"]
    assert embedded_evidence(report) == evidence


def elements(node, kind=None):
    kids = node.get("/K", [])
    kids = kids if isinstance(kids, pikepdf.Array) else [kids]
    for kid in kids:
        if isinstance(kid, pikepdf.Dictionary) and "/S" in kid:
            if kind is None or str(kid.S) == f"/{kind}":
                yield kid
            yield from elements(kid, kind)


def test_the_file_is_tagged_for_screen_readers(opened, sample):
    assert opened.Root.Lang == "en"
    assert opened.Root.MarkInfo.Marked
    assert opened.Root.ViewerPreferences.DisplayDocTitle
    tree = opened.Root.StructTreeRoot
    assert len(list(elements(tree, "H1"))) == len(content.internal(sample.public, sample.kept).sections)
    tables = list(elements(tree, "Table"))
    assert tables
    for table in tables:
        rows = list(elements(table, "TR"))
        assert {str(cell.S) for cell in rows[0].K} == {"/TH"}
        for row in rows[1:]:  # what names a row is read before each of its cells
            first, *others = row.K
            assert str(first.S) == "/TH" and (str(first.A.O), str(first.A.Scope)) == ("/Table", "/Row")
            assert {str(cell.S) for cell in others} <= {"/TD"}
    figures = list(elements(tree, "Figure"))
    assert figures
    for figure in figures:
        assert 20 < len(str(figure.Alt)) < 200


def test_everything_on_a_page_is_tagged_or_marked_as_decoration(opened):
    for page in opened.pages:
        depth = 0
        for _, operator in pikepdf.parse_content_stream(page):
            name = str(operator)
            depth += {"BDC": 1, "BMC": 1, "EMC": -1}.get(name, 0)
            if name in ("Tj", "TJ", "S", "f", "B", "Do"):
                assert depth >= 1, name


def test_chapters_stand_in_the_outline(opened, sample):
    with opened.open_outline() as outline:
        titles = [item.title for item in outline.root]
        assert any(item.children for item in outline.root)
    assert len(titles) >= len(content.internal(sample.public, sample.kept).sections)


def test_the_same_evidence_gives_the_same_bytes(sample, report, evidence):
    again = pdf.render(content.internal(sample.public, sample.kept), evidence=evidence)
    assert again == report


def test_every_kind_of_view_is_written(sample):
    written = pdf.render(document(*sample.every_kind), evidence=b"{}")
    with pikepdf.open(io.BytesIO(written)) as file:
        tree = file.Root.StructTreeRoot
        assert len(list(elements(tree, "Figure"))) == 7
        assert len(list(elements(tree, "Table"))) == 1


def test_no_cell_is_read_as_markup():
    hostile = '#panic() $x$ *bold* _it_ `code` <label> @ref \\ #read("/etc/passwd") = head // no "q"'
    number = NumberView(hostile, hostile, Text("report.numbers.epsilon", {"unit": hostile}), hostile)
    parts = (
        Heading(hostile),
        KeyValues(hostile, (Row(hostile, hostile, code=True), Row(hostile, hostile))),
        Numbers((number,)),
        TableView(hostile, (hostile,), ((hostile,),)),
        BarsView(hostile, ("a",), (1.0,), "n"),
    )
    written = pdf.render(document(*parts, title=hostile), evidence=b'{"a": "#panic()"}')
    plain = "".join(pages_of(written)).replace(" ", "")
    assert plain.count(hostile.replace(" ", "")) >= 9
    assert embedded_evidence(written) == b'{"a": "#panic()"}'


def test_no_line_leaves_the_margins(report):
    for page, left, baseline, text in places(report):
        assert left >= SIDE - 1, (page, text)
        assert 30 < baseline < 842 - 40, (page, text)


def ink(file: bytes, tmp_path) -> list[tuple[int, int, int]]:
    """Return, for each page, its width and the first and last column of points that are not white."""
    import shutil
    import subprocess

    import numpy as np

    if shutil.which("pdftoppm") is None:
        pytest.skip("pdftoppm is not installed")
    (tmp_path / "r.pdf").write_bytes(file)
    subprocess.run(["pdftoppm", "-r", "50", "-gray", tmp_path / "r.pdf", tmp_path / "p"], check=True)
    found = []
    for page in sorted(tmp_path.glob("p-*.pgm")):
        header, size, _, body = page.read_bytes().split(b"\n", 3)
        assert header == b"P5"
        width, height = map(int, size.split())
        dark = np.frombuffer(body, np.uint8).reshape(height, width) < 250
        columns = np.flatnonzero(dark.any(axis=0))
        found.append((width, int(columns[0]), int(columns[-1])))
    return found


def test_long_words_wide_tables_and_many_rows_stay_inside(tmp_path):
    wide = TableView(
        LONG, (LONG, *(f"column number {n}" for n in range(17))), tuple((LONG, *range(17)) for _ in range(3))
    )
    tall = TableView("t", ("name", "text"), ((LONG, " ".join([LONG] * 40)),))
    parts = (
        Heading(LONG),
        KeyValues(LONG, (Row(LONG, LONG * 3, code=True), Row("number", 10**40))),
        wide,
        tall,
        Bullets((Text("errors.plan.unknown_field.what", {"file": LONG, "field": LONG}),)),
        Callout(Text("errors.plan.unknown_field.what", {"file": LONG, "field": LONG})),
        TextView(LONG, (Text("promises.none.statement"),) * 60),
        BarsView(LONG, (LONG, "b"), (1e12, 2.0), LONG),
    )
    for width, first, last in ink(pdf.render(document(*parts, title=LONG), evidence=b"{}"), tmp_path):
        margin = 18 / 210 * width
        assert margin <= first
        assert last <= width - margin


def test_headings_of_a_long_table_are_repeated_and_no_row_is_lost():
    rows = tuple((f"row {n};", "of more than half a line, " * 2, n) for n in range(60))
    table = TableView("Sixty rows", ("heading here", "words", "count"), rows)
    pages = pages_of(pdf.render(document(table), evidence=b"{}"))
    assert len(pages) >= 2
    assert [page.count("heading here") for page in pages] == [1] * len(pages)
    for number in range(60):
        assert sum(page.count(f"row {number};") for page in pages) == 1


@pytest.mark.parametrize(("count", "beside"), [(19, 1), (20, 2), (61, 2), (400, 2)])
def test_a_long_narrow_table_stands_in_two_columns_and_no_row_is_lost(count, beside):
    table = TableView("Rows", ("heading here", "count"), tuple((f"row {n};", n) for n in range(count)))
    pages = pages_of(pdf.render(document(table), evidence=b"{}"))
    assert [page.count("heading here") for page in pages] == [beside] * len(pages)
    for number in range(count):
        assert sum(page.count(f"row {number};") for page in pages) == 1


def test_numbers_of_a_column_share_one_decimal_point():
    table = TableView("t", ("a", "n"), (("x", 1.25), ("y", 1000), ("z", -3.5)))
    found = {text: left for _, left, _, text in places(pdf.render(document(table), evidence=b"{}"))}
    digit = found["−3.5"] - found["1.25"]
    assert found["1,000"] < found["−3.5"] < found["1.25"], "the points stand below each other"
    assert abs(digit) < 8


def test_a_heading_never_stands_alone_at_the_foot_of_a_page():
    text = Text("promises.none.statement")
    for count in range(30, 46):
        table = TableView("", ("head",), (("first",), ("second",), ("third",)))
        parts = (*(text,) * count, Heading("the heading"), table)
        pages = pages_of(pdf.render(document(*parts), evidence=b"{}"))
        (at,) = [number for number, page in enumerate(pages) if "the heading" in page]
        assert "first" in pages[at], count


def test_no_last_page_holds_a_line_or_two_where_the_pages_before_have_room():
    """Whatever the number of rows: where the last page would hold less than a third row, there is none."""
    several = 0
    for count in range(40, 58):
        rows = tuple(Row(f"row {number};", number) for number in range(count))
        pages = pages_of(pdf.render(document(KeyValues("", rows)), evidence=b"{}"))
        several += len(pages) > 1
        assert len(pages) == 1 or pages[-1].count("row ") > 2, count
        assert sum(page.count("row ") for page in pages) == count
    assert several


@pytest.mark.parametrize(
    ("rows", "letters", "laid_out"),
    [(60, 16, [""]), (560, 16, ["", "dense"]), (300, 400, ["dense", "closest"])],
)
def test_a_document_is_laid_out_no_more_often_than_needed(monkeypatch, rows, letters, laid_out):
    """That takes most of the time: once where it fits, twice where its letters have to be smaller.

    What is far too long is not asked first whether it fits, and nothing is laid out again to be written.
    """
    import typst

    done: list[str] = []
    own = typst.Compiler

    def counted(*given, sys_inputs, **named):
        done.append(sys_inputs["tight"])
        return own(*given, sys_inputs=sys_inputs, **named)

    monkeypatch.setattr(typst, "Compiler", counted)
    monkeypatch.setattr(typst, "compile", None)
    pairs = KeyValues("", tuple(Row(f"row {number}", "words " * (letters // 6)) for number in range(rows)))
    pdf.render(document(pairs), evidence=b"{}")
    assert done == laid_out


def test_only_tags_of_rows_are_written_anew(monkeypatch):
    """The rest is as typst wrote it, and every object is found where the table at the end says."""
    table = TableView("", ("head", "n"), tuple((f"first {number}", number) for number in range(30)))
    looks_like_it = b'{"a": "9 0 obj <</Type/StructElem/S/TR/P 1 0 R/K[8 0 R]>> endobj"}'
    tagged = pdf.render(document(table, Heading("after")), evidence=looks_like_it)
    monkeypatch.setattr(pdf, "_with_row_headers", lambda made: made)
    plain = pdf.render(document(table, Heading("after")), evidence=looks_like_it)
    objects = [re.findall(rb"(?s)(?<=obj\n)(.*?)(?=endobj)", file) for file in (plain, tagged)]
    assert len(objects[0]) == len(objects[1]) > 100
    changed = [pair for pair in zip(*objects, strict=True) if pair[0] != pair[1]]
    assert len(changed) == 30
    assert all(b"/TD" in before and b"/Scope/Row" in after for before, after in changed)
    read = PdfReader(io.BytesIO(tagged), strict=True)
    for number, offset in read.xref[0].items():
        assert tagged[offset:].startswith(b"%d 0 obj" % number)


@pytest.mark.guarantee
def test_contents_never_take_a_page_of_their_own():
    """Whatever stands above them: on page one, all of them, or nowhere."""
    word, on_first = texts.text("report.footer.contents"), []
    chapters = tuple(Section(f"chapter {at}", (Text("promises.none.statement"),), at == 0) for at in range(9))
    for count in range(20, 44, 2):
        cover = (KeyValues("", tuple(Row(f"row {at}", "value") for at in range(count))),)
        one = replace(document(), cover=cover, sections=chapters)
        first, second = pages_of(pdf.render(one, evidence=b"{}"))[:2]
        on_first.append(word in first)
        assert (f"chapter {8} ." in first.replace("\u2060", "")) == (word in first), count
        assert "chapter 8 ." not in second and word not in second, count
    assert any(on_first) and not all(on_first)


def test_a_short_value_below_a_long_heading_has_its_own_width():
    """Where the heading took its share of the page, a value stood on one line and its margin on the next."""
    headings = [
        "Frage",
        "Antwort",
        "Anteil, wie gezeigt",
        "Niedrigster (95 von 100)",
        "Höchster (95 von 100)",
    ]
    asked = "Have you looked at a record that you did not need for your work in the last three months?"
    rows = [[asked, "once or twice", "0,230 ± 0,088", "0,139", "0,325"]]
    assert pdf._widths(headings, rows, [False, False, True, True, True]) == [60, 0, -13, -11, -8]


def test_letters_of_other_scripts_are_set_and_missing_ones_are_named():
    assert settable("Ελλ Ж ε ا שלום") == "Ελλ Ж ε ا שלום"
    assert settable("中") == "[U+4E2D]"
    assert settable("a\x07\ue000\u202e") == "a[U+0007][U+E000][U+202E]"
    (page,) = pages_of(pdf.render(document(Heading("中 Ж")), evidence=b"{}"))
    assert "[U+4E2D] Ж" in page


def test_whatever_stands_in_a_table_the_report_is_written():
    chance = random.Random(5)
    for _ in range(40):
        words_ = "".join(
            chr(chance.choice((chance.randrange(0x110000), chance.randrange(0x3000)))) for _ in range(30)
        )
        table = TableView(words_, (words_,), ((words_,),))
        drawn = BarsView(words_, (words_,), (1.0,), words_)
        row = KeyValues(words_, (Row(words_, words_, code=True),))
        written = pdf.render(document(table, drawn, row, title=words_), evidence=b"{}")
        assert written.startswith(b"%PDF")


def test_every_page_says_whether_the_file_may_leave(sample):
    written = pdf.render(content.external(sample.public), evidence=b"{}")
    audience = words.word(Text("report.cover.audience_external"), "en")
    pages = pages_of(written)
    for number, page in enumerate(pages, 1):
        assert audience in page
        assert f"Bundle {sample.public.bundle_id}" in page
        assert f"Page {number} of {len(pages)}" in page


def test_a_later_report_differs_in_its_dates_alone(sample):
    one = content.external(sample.public)
    two = replace(one, made_at="2027-03-12T10:58:00+01:00")
    assert pdf.render(one, evidence=b"{}") != pdf.render(two, evidence=b"{}")


def test_the_template_asks_for_nothing_from_outside():
    from engine.report.theme import resource

    template = resource("report", "report.typ").read_text(encoding="utf-8")
    for word in ("#import", "#include", "read(", "eval(", "@preview", "http"):
        assert word not in template


def test_the_sample_is_as_short_as_it_should_be(tmp_path):
    from engine.ledger import Ledger
    from engine.release.plan import Plan
    from engine.release.run import run
    from engine.report.theme import resource

    plan = Plan.read(resource("sample", "plan.json"))
    ledger = Ledger(tmp_path / "ledger.sqlite")
    made = run(plan, out=tmp_path / "out", ledger=ledger, base=resource("sample"))
    for file, most in (("release/report-external.pdf", 7), ("internal/report-internal.pdf", 11)):
        pages = pages_of((made.folder / file).read_bytes())
        assert len(pages) <= most, file
        assert all(len(page.split()) > 40 for page in pages), "a page is nearly empty"


def test_where_a_long_word_may_break_no_character_is_copied():
    """A source that is copied out of a report can be looked up."""
    source, listed = "doi:10.1142/S0218488502001648", Text("report.words.list", {"all": [LONG]})
    parts = (
        KeyValues("", (Row("Published in", source), Row(LONG, LONG, note=listed))),
        Heading(LONG),
        BarsView(LONG, ("a", "b"), (1.0, 2.0), LONG),
        TableView(LONG, (LONG, "b", "c", "d"), ((source, 1, 2, 3),)),
        Bullets((listed,)),
    )
    file = pdf.render(document(*parts, title=LONG), evidence=b"{}")
    read = characters(file)
    assert "\u200b" not in read and "\ufeff" not in read
    assert source in read  # whole, on one line
    assert LONG in re.sub(r"\s", "", read)
    assert all(x < 210 * POINTS - SIDE for _, x, _, _ in places(file))


# --- how long a report is: fewer pages than anybody leaves unread ------------------------------------------


def test_what_the_html_has_is_left_out_last_first_where_pages_are_too_many():
    def parts(count):
        rows = tuple(Row(f"row {number}", "value") for number in range(count))
        first, second = (
            Folded(f"heading {name}", (KeyValues("", rows[:60]),), Text("report.annex.folded"))
            for name in ("one", "two")
        )
        return KeyValues("", rows), first, second

    left = texts.text("report.annex.folded")[:40]
    lengths = {}
    for count in (60, 540, 600):
        written = pdf.render(document(*parts(count)), evidence=b"{}")
        plain = " ".join(pages_of(written))
        lengths[count] = (plain.count(left), "heading one" in plain, "heading two" in plain)
        page = html.render(document(*parts(count)), evidence=b"{}").decode()
        assert "heading one" in page and "heading two" in page and left not in page
    assert list(lengths.values()) == [(0, True, True), (1, True, False), (2, False, False)]


@pytest.mark.guarantee
def test_what_is_a_little_too_long_with_all_left_out_is_set_closest():
    """Whatever its length: a last page that holds signatures alone is none."""
    figures = tuple(
        BarsView(f"figure {at}", tuple("abcdef"), tuple(map(float, range(6))), "n") for at in range(4)
    )
    closest = 0
    for count in range(576, 594, 4):
        rows = KeyValues("", tuple(Row(f"row {number}", "value") for number in range(count)))
        written = document(*figures, rows, Signatures(("Custodian", "Approved by")))
        closest += pdf._Laid(_inputs(written, "dense")).pages > 9
        assert len(pages_of(pdf.render(written, evidence=b"{}"))) <= 9, count
    assert closest


def _inputs(one, tight):
    tree = json.dumps(pdf._Parts("en").document(one), ensure_ascii=False)
    return {"document": tree, "evidence": "{}", "tight": tight, "folded": "0"}


LONG_ONES = (
    ("statistics.counts", "en"),
    ("statistics.counts", "de"),
    ("datasets.k_anonymity", "en"),
    ("models.linear", "en"),
    ("statistics.flows", "de"),
    ("statistics.flows", "fr"),
)


@pytest.mark.parametrize(("method_id", "language"), LONG_ONES)
def test_what_leaves_has_six_pages_at_most_and_what_stays_nine(method_id, language):
    (method,) = (one for one in catalogue.methods() if one.id == method_id)
    for _, folder in examples_run.ran(method):
        for part, most in (("release", 6), ("internal", 9)):
            written = (folder / part / "evidence.json").read_bytes()
            document = external_document(written) if part == "release" else internal_document(written)
            with texts.speaking(words_of(json.loads(written)["decided"])):
                made = PdfReader(io.BytesIO(pdf.render(document, evidence=written, language=language)))
            assert len(made.pages) <= most, part
            if part == "release":  # page one is the report: all of it, and nothing of the next chapter
                first, second = (made.pages[at].extract_text() for at in (0, 1))
                check, chapter = (
                    texts.text(f"report.{name}", language=language)
                    for name in ("front.check", "sections.results")
                )
                assert check in first and chapter not in first and chapter in second


@pytest.mark.parametrize(
    "heading",
    [
        "Level ε that holds against them",
        "Das Niveau ε, das vor ihnen hält",
        "Le niveau ε qui tient face à eux",
    ],
)
def test_a_heading_beside_two_columns_of_words_takes_three_lines_as_words_fall(heading):
    """The levels of who learns what had four, as letters were counted and no words."""
    rows = [["Coordinator, holders and other sites together", "What this site sent. " * 4, "7.84"]] * 3
    width = -pdf._widths(["Who", "What they learn", heading], rows, [False, False, True])[2]
    assert 0 < width <= pdf.SHORT
    assert len(textwrap.wrap(heading, width)) <= 3


def test_a_long_heading_above_short_cells_takes_few_lines():
    heading = "Most off (95 of 100), whatever the values of the people are"
    rows = [["a" * 60, "2", "49"]] * 3
    widths = pdf._widths(["gender", "value", heading], rows, [False, True, True])
    assert -widths[2] * pdf.HEADING_LINES >= len(heading)


def test_a_note_stays_with_what_it_is_about():
    template = resource("report/report.typ").read_text(encoding="utf-8")
    for part in ("let tabular(part)", "let drawing(part)"):
        own = template[template.index(part) :].split("\n}\n")[0]
        assert "sticky: part.notes.len() > 0" in own, part
