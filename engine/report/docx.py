"""A paper to go on writing in, as the bytes of a ``.docx`` file: headings, sentences, tables of two columns.

The few lines of WordprocessingML that these need, and the same bytes from the same paper.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

FIRST_DAY = (1980, 1, 1, 0, 0, 0)
_WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WIDTHS = (3000, 6400)


@dataclass(frozen=True)
class Line:
    """A line of a table: what is asked, and the answer; an empty one is still to be written."""

    label: str
    answer: str


@dataclass(frozen=True)
class Sheet:
    """A paper: its title, sentences above everything, and sections of a heading and lines.

    ``open`` marks what is still to be written, in words: colour alone tells nothing to some readers.
    """

    title: str
    notes: tuple[str, ...]
    sections: tuple[tuple[str, tuple[Line, ...]], ...]
    open: str
    language: str = "en"


def render(sheet: Sheet) -> bytes:
    """Return a paper as the bytes of a ``.docx`` file."""
    body = [_paragraph(sheet.title, "Title"), *(_paragraph(note) for note in sheet.notes)]
    for heading, lines in sheet.sections:
        body += [_paragraph(heading, "Heading1"), _table(lines, sheet.open)]
    parts = {
        "[Content_Types].xml": _content_types(),
        "_rels/.rels": _relations(
            ("officeDocument", f"{_OFFICE}/officeDocument", "word/document.xml"),
            ("core", f"{_PACKAGE}/relationships/metadata/core-properties", "docProps/core.xml"),
        ),
        "docProps/core.xml": _core(sheet),
        "word/_rels/document.xml.rels": _relations(("styles", f"{_OFFICE}/styles", "styles.xml")),
        "word/document.xml": f'<w:document xmlns:w="{_WORDS}"><w:body>{"".join(body)}'
        '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/>'
        '<w:pgMar w:top="1134" w:right="1247" w:bottom="1134" w:left="1247" w:header="567" w:footer="567"'
        ' w:gutter="0"/></w:sectPr></w:body></w:document>',
        "word/styles.xml": _styles(sheet.language),
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as file:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name, FIRST_DAY)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = 0o644 << 16
            file.writestr(entry, (_HEAD + content).encode())
    return written.getvalue()


def _clean(words: str) -> str:
    """Return words without what no XML may hold, nor a lone half of a letter."""
    return escape(_NOT_XML.sub(" ", words))


def _run(words: str, looks: str = "") -> str:
    broken = '</w:t><w:br/><w:t xml:space="preserve">'.join(_clean(words).splitlines() or [""])
    return f'<w:r>{f"<w:rPr>{looks}</w:rPr>" if looks else ""}<w:t xml:space="preserve">{broken}</w:t></w:r>'


def _paragraph(words: str, style: str = "", looks: str = "") -> str:
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}{_run(words, looks)}</w:p>"


def _table(lines: Sequence[Line], unwritten: str) -> str:
    edges = "".join(
        f'<w:{side} w:val="single" w:sz="4" w:space="0" w:color="BFBFBF"/>'
        for side in ("top", "left", "bottom", "right", "insideH", "insideV")
    )
    grid = "".join(f'<w:gridCol w:w="{width}"/>' for width in _WIDTHS)
    rows = "".join(f"<w:tr>{_cells(line, unwritten)}</w:tr>" for line in lines)
    return (
        f'<w:tbl><w:tblPr><w:tblW w:w="{sum(_WIDTHS)}" w:type="dxa"/><w:tblBorders>{edges}</w:tblBorders>'
        '<w:tblLayout w:type="fixed"/><w:tblLook w:val="0080" w:firstColumn="1"/></w:tblPr>'
        f"<w:tblGrid>{grid}</w:tblGrid>{rows}</w:tbl>{_paragraph('')}"
    )


def _cells(line: Line, unwritten: str) -> str:
    if line.answer:
        answer = _paragraph(line.answer)
    else:
        answer = _paragraph(unwritten, looks='<w:b/><w:highlight w:val="yellow"/>')
    cells = (_paragraph(line.label, looks="<w:b/>"), answer)
    return "".join(
        f'<w:tc><w:tcPr><w:tcW w:w="{width}" w:type="dxa"/></w:tcPr>{cell}</w:tc>'
        for width, cell in zip(_WIDTHS, cells, strict=True)
    )


def _content_types() -> str:
    own = "application/vnd.openxmlformats-package"
    overrides = {
        "/word/document.xml": f"{_TYPE}.document.main+xml",
        "/word/styles.xml": f"{_TYPE}.styles+xml",
        "/docProps/core.xml": f"{own}.core-properties+xml",
    }
    named = "".join(f'<Override PartName="{part}" ContentType="{kind}"/>' for part, kind in overrides.items())
    return (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        f'ContentType="{own}.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>'
        f"{named}</Types>"
    )


def _relations(*found: tuple[str, str, str]) -> str:
    lines = "".join(
        f'<Relationship Id="{name}" Type="{kind}" Target="{target}"/>' for name, kind, target in found
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{lines}</Relationships>'


def _core(sheet: Sheet) -> str:
    return (
        f'<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{_clean(sheet.title)}</dc:title>'
        f"<dc:language>{_clean(sheet.language)}</dc:language></cp:coreProperties>"
    )


def _styles(language: str) -> str:
    def style(name: str, shown: str, size: int, before: int, level: str = "") -> str:
        return (
            f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="{shown}"/>'
            f'<w:basedOn w:val="Normal"/><w:next w:val="Normal"/><w:pPr><w:keepNext/>'
            f'<w:spacing w:before="{before}" w:after="80"/>{level}</w:pPr>'
            f'<w:rPr><w:b/><w:sz w:val="{size}"/></w:rPr></w:style>'
        )

    return (
        f'<w:styles xmlns:w="{_WORDS}"><w:docDefaults><w:rPrDefault><w:rPr>'
        '<w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:cs="Calibri"/><w:sz w:val="20"/>'
        f"<w:lang w:val={quoteattr(language)}/></w:rPr></w:rPrDefault><w:pPrDefault><w:pPr>"
        '<w:spacing w:after="60"/></w:pPr></w:pPrDefault></w:docDefaults>'
        '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>'
        + style("Title", "Title", 36, 0)
        + style("Heading1", "heading 1", 26, 240, '<w:outlineLvl w:val="0"/>')
        + "</w:styles>"
    )
