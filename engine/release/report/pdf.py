"""A document as PDF/A-3 with the evidence inside: tagged, searchable, the same bytes from the same input."""

from __future__ import annotations

from datetime import datetime
from xml.sax.saxutils import escape

from engine import texts
from engine.release.report.document import Document
from engine.release.report.words import word
from engine.views import Text

EMBEDDED = "evidence.json"
PROGRAM = "Custos"


def render(document: Document, *, evidence: bytes, language: str = "en") -> bytes:
    """Return a document as the bytes of a PDF.

    Parameters
    ----------
    document
        What stands in it. Its ``made_at`` is the only date in the file.
    evidence
        Embedded byte by byte as ``evidence.json``, an associated file of the document; not empty.
    language
        Of the words, and of the file's language mark.

    Notes
    -----
    The file declares PDF/A-3U: every font is embedded, colours have an output intent, nothing is encrypted
    or fetched. The tests check these; nobody certified the conformance.
    """
    from engine.release.report.paper import Paper
    from engine.release.report.tags import TaggedOutput
    from engine.release.report.writer import Writer

    made_at = datetime.fromisoformat(document.made_at)
    title = word(document.title, language)
    paper = Paper(
        title=title,
        language=language,
        made_at=made_at,
        footer=(
            texts.text("report.footer.bundle", language=language, bundle=document.bundle_id),
            word(document.audience, language),
            texts.text("report.footer.page", language=language, page="#"),
        ),
    )
    paper.set_xmp_metadata(_metadata(title, word(document.subtitle, language), document.made_at, language))
    paper.embed_file(
        bytes=evidence,
        basename=EMBEDDED,
        desc=word(Text("report.footer.evidence"), language),
        mime_type="application/json",
        associated_file_relationship="Data",
        modification_date=made_at,
        compress=True,
    )
    Writer(paper, language).document(document)
    return bytes(paper.output(output_producer_class=TaggedOutput))


def _metadata(title: str, subject: str, made_at: str, language: str) -> str:
    """Return the XMP block: the only place of the metadata, with the declaration of PDF/A-3U."""
    return f"""<x:xmpmeta xmlns:x="adobe:ns:meta/">
  <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
    <rdf:Description rdf:about=""
      xmlns:dc="http://purl.org/dc/elements/1.1/"
      xmlns:xmp="http://ns.adobe.com/xap/1.0/"
      xmlns:pdf="http://ns.adobe.com/pdf/1.3/"
      xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/">
      <pdfaid:part>3</pdfaid:part>
      <pdfaid:conformance>U</pdfaid:conformance>
      <dc:format>application/pdf</dc:format>
      <dc:title><rdf:Alt><rdf:li xml:lang="x-default">{escape(title)}</rdf:li></rdf:Alt></dc:title>
      <dc:description>
        <rdf:Alt><rdf:li xml:lang="x-default">{escape(subject)}</rdf:li></rdf:Alt>
      </dc:description>
      <dc:language><rdf:Bag><rdf:li>{escape(language)}</rdf:li></rdf:Bag></dc:language>
      <xmp:CreatorTool>{PROGRAM}</xmp:CreatorTool>
      <xmp:CreateDate>{escape(made_at)}</xmp:CreateDate>
      <xmp:ModifyDate>{escape(made_at)}</xmp:ModifyDate>
      <xmp:MetadataDate>{escape(made_at)}</xmp:MetadataDate>
      <pdf:Producer>{PROGRAM}, fpdf2</pdf:Producer>
    </rdf:Description>
  </rdf:RDF>
</x:xmpmeta>"""
