"""What stands in the two reports. The types decide: nothing private fits into the arguments of `external`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.evidence import InternalEvidence, PublicEvidence
from engine.report.content import annex, made, price, private, promise, results
from engine.report.content.cover import cover
from engine.report.content.shared import of_rows, say
from engine.report.document import Callout, Document, Part, Section


def external(evidence: PublicEvidence) -> Document:
    """Return the report for the recipient and the auditor.

    Raises
    ------
    TypeError
        Anything but public evidence was given.
    """
    if not isinstance(evidence, PublicEvidence):
        raise TypeError("only public evidence may be reported outside")
    return _document(evidence, None)


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


def _document(evidence: PublicEvidence, kept: InternalEvidence | None) -> Document:
    first = cover(evidence, kept)
    inside = () if kept is None else private.measured(kept)
    sections = [_section("results", (*results.results(evidence), *inside), fresh=True)]
    sections.append(_section("promise", promise.promise(evidence)))
    sections.append(_section("criteria", promise.criteria(evidence)))
    if kept is not None:
        sections.append(_section("table", private.table_before(kept, of=of_rows(evidence))))
        sections.append(_section("price", price.chapter(kept)))
        sections.append(_section("decisions", private.decisions(kept)))
    sections.append(_section("limits", annex.limits(evidence)))
    sections.append(_section("done", made.made(evidence)))
    sections.append(_section("verify", annex.verify(evidence, kept)))
    told = (*first, *(part for section in sections for part in section.parts))
    sections.append(_section("annex", annex.annex(evidence, told)))
    side = "external" if kept is None else "internal"
    return Document(
        title=evidence.title or say("cover.untitled"),
        subtitle=say(f"cover.subtitle_{side}", program=str(evidence.program["name"])),
        audience=say(f"cover.audience_{side}"),
        stays=kept is not None,
        bundle_id=evidence.bundle_id,
        made_at=evidence.made_at,
        cover=first,
        sections=tuple(section for section in sections if section.parts),
    )


def _section(name: str, parts: tuple[Part, ...], *, fresh: bool = False) -> Section:
    return Section(say(f"sections.{name}"), parts, fresh)
