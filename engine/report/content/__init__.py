"""What stands in the two reports. The types decide: nothing private fits into the arguments of `external`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from engine.evidence import InternalEvidence, PublicEvidence
from engine.report.content import annex, front, made, price, private, promise, results
from engine.report.content.cover import approved, cover, exactness, label
from engine.report.content.facts import released_columns
from engine.report.content.shared import of_rows, say
from engine.report.document import (
    Bullets,
    Callout,
    Document,
    Facts,
    Headline,
    KeyValues,
    Part,
    Row,
    Section,
    SideBySide,
    unfold,
)
from engine.report.words import cell, word
from engine.views import Label, Text


def external(evidence: PublicEvidence, sum_of_evidence: str = "") -> Document:
    """Return the report for the recipient and the auditor; ``sum_of_evidence`` is the SHA-256 of its bytes.

    Raises
    ------
    TypeError
        Anything but public evidence was given.
    """
    if not isinstance(evidence, PublicEvidence):
        raise TypeError("only public evidence may be reported outside")
    return _document(evidence, None, sum_of_evidence)


def internal(evidence: PublicEvidence, kept: InternalEvidence) -> Document:
    """Return the report that stays: the external one, and what was computed from private rows."""
    return _document(evidence, kept)


def bare(tree: Mapping[str, Any], reason: str) -> Document:
    """Return what stands in place of a report that could not be made: that, and where all of it is."""
    stays = tree["audience"] != "public"
    side = "internal" if stays else "external"
    return Document(
        title=say("cover.untitled"),
        subtitle=say(f"cover.subtitle_{side}", program=str(tree["program"]["name"])),
        audience=say(f"cover.audience_{side}"),
        stays=stays,
        bundle_id=str(tree["bundle_id"]),
        made_at=str(tree["made_at"]),
        cover=(Callout(say("words.failed", reason=reason), care=True),),
        sections=(),
    )


def _document(evidence: PublicEvidence, kept: InternalEvidence | None, sum_of_evidence: str = "") -> Document:
    first = front.front(evidence, sum_of_evidence) if kept is None else cover(evidence, kept)
    inside = () if kept is None else private.describe_measures(kept)
    exact = exactness(evidence) if kept is None else ()
    sections = [_section("results", (*exact, *results.results(evidence), *inside), fresh=True)]
    labelled = label(evidence) if kept is None else ()
    sections.append(_section("promise", (*promise.promise(evidence), *labelled)))
    if kept is None:
        sections.append(_section("criteria", promise.criteria(evidence)))
    else:  # what stands in the external report stands there once
        sections.append(_section("table", private.table_before(kept, of=of_rows(evidence))))
        sections.append(_section("price", price.chapter(kept, bounded=evidence.promise.loss is not None)))
        sections.append(_section("decisions", private.decisions(kept, released_columns(evidence))))
    sections.append(_section("limits", annex.limits(evidence), small=True))
    sections.append(_section("done", made.describe_making(evidence), small=True))
    sections.append(_section("verify", annex.verify(evidence, kept), small=True))
    told = (*first, *unfold(part for section in sections for part in section.parts))
    signed = (approved(),) if kept is None else ()
    last = (*annex.annex(evidence, told, stays=kept is not None), *signed)
    sections.append(_section("annex", last, small=True))
    side = "external" if kept is None else "internal"
    return Document(
        title=evidence.title or say("cover.untitled"),
        subtitle=say(f"cover.subtitle_{side}", program=str(evidence.program["name"])),
        audience=say(f"cover.audience_{side}"),
        stays=kept is not None,
        bundle_id=evidence.bundle_id,
        made_at=evidence.made_at,
        cover=first,
        sections=tuple(_unsaid(sections, first if kept is None else ())),
        is_front=kept is None,
    )


def _unsaid(sections: Iterable[Section], first: tuple[Part, ...]) -> Iterator[Section]:
    """Give the sections without what page one has said: no sentence and no figure stands twice."""
    said = {word(text, "en") for part in first for text in _sentences(part)}
    drawn = [part.view for part in first if isinstance(part, Headline)]
    for section in sections:
        parts = []
        for part in section.parts:
            if isinstance(part, Bullets):
                part = Bullets(tuple(text for text in part.items if word(text, "en") not in said))
            elif isinstance(part, KeyValues):
                part = replace(part, rows=tuple(_rows_unsaid(part.rows, said)))
            if part not in drawn and getattr(part, "items", True) and getattr(part, "rows", True):
                parts.append(part)
        if parts:
            yield replace(section, parts=tuple(parts))


def _rows_unsaid(rows: tuple[Row, ...], said: set[str]) -> Iterator[Row]:
    """Give the rows that say something else; one without a name takes that of the row above it."""
    name: Label = ""
    for row in rows:
        name = row.label or name
        if cell(row.value, "en") not in said:
            yield replace(row, label=name)
            name = ""


def _sentences(part: Part) -> Iterator[Text]:
    """Give the sentences of a part of page one."""
    if isinstance(part, Callout):
        yield part.text
    elif isinstance(part, Facts):
        yield from (fact.what for fact in part.items)
    elif isinstance(part, SideBySide):
        yield from (text for _, texts in part.lists for text in texts)


def _section(name: str, parts: tuple[Part, ...], *, fresh: bool = False, small: bool = False) -> Section:
    return Section(say(f"sections.{name}"), parts, fresh, small)
