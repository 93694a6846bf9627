"""The HTML report: one file, nothing fetched, everything escaped, every drawing with its numbers."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from engine.report import content, html
from engine.report.document import Document, KeyValues, Row, Section
from engine.views import TableView, as_table

HOSTILE = "<script>alert(1)</script> \"quoted\" 'single' & $x$ \x00\n\ud800 end"
ALLOWED = {"href", "id", "class", "lang"}


class Reader(HTMLParser):
    """Collects elements, attributes and words, and checks that elements are closed in order."""

    VOID = ("meta", "br", "link", "img")

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def written(sample):
    return html.render(content.internal(sample.public, sample.kept), evidence=b'{"a": 1}\n').decode()


@pytest.fixture(scope="module")
def every_kind(sample):
    document = Document(
        "Kinds", "all", "x", False, "b", sample.public.made_at, (), (Section("all", sample.every_kind),)
    )
    return html.render(document, evidence=b"{}").decode()


def test_nothing_is_run_and_nothing_is_fetched(written, every_kind):
    for text in (written, every_kind):
        reader = Reader(text)
        assert not {"script", "iframe", "object", "embed", "link", "img", "image", "form"} & {
            n for n, _ in reader.elements
        }
        for _, attributes in reader.elements:
            assert not [name for name in attributes if name.startswith("on")]
            for name in ("src", "href", "xlink:href", "action", "style"):
                value = attributes.get(name) or ""
                assert "//" not in value.removeprefix("data:application/json;base64,") or value.startswith(
                    "data:"
                )
                assert not value.startswith(("http", "javascript"))
        assert "@import" not in text
        assert "http" not in text.replace("http-equiv", "")
        assert "default-src 'none'" in reader.all("meta")[2]["content"]


def test_names_inside_the_file_are_unique_and_every_link_has_its_target(written, every_kind):
    for text in (written, every_kind):
        reader = Reader(text)
        names = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
        assert len(names) == len(set(names))
        links = [a["href"][1:] for _, a in reader.elements if (a.get("href") or "").startswith("#")]
        assert links
        assert set(links) <= set(names)
        assert set(re.findall(r"url\(#([^)]+)\)", text)) <= set(names)


def test_it_says_its_language_and_title(written, sample):
    reader = Reader(written)
    assert reader.all("html") == [{"lang": "en"}]
    assert sample.public.title in reader.words


def test_tables_name_their_columns_and_rows(written):
    reader = Reader(written)
    heads = reader.all("th")
    assert heads
    assert {head.get("scope") for head in heads} == {"col", "row"}


def test_every_drawing_has_words_and_its_numbers_as_a_table(every_kind, sample):
    plotted = [view for view in sample.every_kind if view.kind in html.drawing.PLOTTED]
    figures = re.findall(r"<figure>.*?</figure>", every_kind, re.DOTALL)
    assert len(figures) == len(plotted) == 7
    for view, figure in zip(plotted, figures, strict=True):
        drawings = re.findall(r'<svg[^>]*role="img" aria-label="([^"]+)"', figure)
        assert drawings and all(drawings)
        body = figure[figure.index("<details>") :]
        assert body.count("<tr>") == len(as_table(view).rows) + 1


def test_the_colours_of_drawings_follow_the_page(every_kind):
    drawings = re.findall(r'class="drawing">.*?</svg>', every_kind, re.DOTALL)
    assert len(drawings) == 7
    for drawing in drawings:
        assert "var(--" in drawing
        assert not re.search(r"#[0-9a-f]{6}", drawing.lower())


def test_hostile_words_stay_words(sample):
    table = TableView(HOSTILE, (HOSTILE,), ((HOSTILE,),))
    part = KeyValues(HOSTILE, (Row(HOSTILE, HOSTILE, code=True),))
    document = Document(
        HOSTILE, HOSTILE, HOSTILE, True, HOSTILE, HOSTILE, (part,), (Section(HOSTILE, (table,)),)
    )
    text = html.render(document, evidence=b"{}").decode()
    reader = Reader(text)
    assert not reader.all("script")
    shown = " ".join(reader.words)
    assert shown.count("<script>alert(1)</script>") >= 9
    assert "\x00" not in text


def test_the_evidence_is_inside_byte_by_byte(written):
    found = re.search(r'href="data:application/json;base64,([^"]+)"', written)
    assert found is not None
    assert base64.b64decode(found.group(1)) == b'{"a": 1}\n'


def test_the_same_evidence_gives_the_same_bytes(sample):
    document = content.external(sample.public)
    assert html.render(document, evidence=b"{}") == html.render(document, evidence=b"{}")
    later = replace(document, made_at="2027-01-01T00:00:00+00:00")
    assert html.render(document, evidence=b"{}") != html.render(later, evidence=b"{}")


def test_numbers_are_padded_to_one_decimal_point(sample):
    table = TableView("t", ("n",), ((1.25,), (10,), (3.5,)))
    document = Document("d", "s", "a", False, "b", "m", (), (Section("x", (table,)),))
    cells = re.findall(r'<td class="number">([^<]*)</td>', html.render(document, evidence=b"{}").decode())
    assert cells == ["1.25", "10\u2008\u2007\u2007", "3.5\u2007"]


def test_what_is_said_to_stand_below_stands_below(sample):
    """Two columns are for what is one under the other in either: how to check is a list, as in the PDF."""
    page = html.render(content.external(sample.public, "0" * 64), evidence=b"{}").decode()
    lists = re.findall(r'<dl class="([^"]*)">(.*?)</dl>', page, flags=re.DOTALL)
    (looks,) = [looks for looks, rows in lists if "begins as below" in rows]
    assert looks == "pairs" and any(looks == "pairs across" for looks, _ in lists)


def test_words_in_a_drawing_are_not_cut_where_another_font_makes_them_wider(written):
    assert re.search(r"\.drawing \{[^}]*overflow: visible", written)
