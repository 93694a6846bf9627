"""What stands in the two reports. The types decide: nothing private fits into the arguments of `external`."""

from __future__ import annotations

from engine.release.evidence import InternalEvidence, PublicEvidence
from engine.report.content import annex, chapters, price, private
from engine.report.content.chapters import exactly, say, three
from engine.report.document import (
    Document,
    KeyValues,
    Numbers,
    Part,
    Row,
    Section,
    Signatures,
    Statement,
)
from engine.report.words import plainly
from engine.views import NumberView, Text

PURPOSE = ("recipient", "request_number", "agreement", "expires", "approver")


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


def bare(evidence: PublicEvidence, reason: str, *, stays: bool) -> Document:
    """Return what stands in place of a report that could not be made: that, and where all of it is."""
    side = "internal" if stays else "external"
    return Document(
        title=say("cover.untitled"),
        subtitle=say(f"cover.subtitle_{side}", program=str(evidence.program["name"])),
        audience=say(f"cover.audience_{side}"),
        stays=stays,
        bundle_id=evidence.bundle_id,
        made_at=evidence.made_at,
        cover=(Statement(say("words.failed", reason=reason), care=True),),
        sections=(),
    )


def _document(evidence: PublicEvidence, kept: InternalEvidence | None) -> Document:
    cover = _cover(evidence, kept)
    sections = [
        Section(say("sections.done"), chapters.done(evidence)),
        Section(say("sections.columns"), chapters.columns(evidence) + _before(kept)),
        Section(say("sections.guarantee"), chapters.guarantee(evidence)),
    ]
    if kept is not None:
        sections.append(Section(say("sections.price"), price.chapter(kept)))
    sections.append(Section(say("sections.results"), chapters.results(evidence) + _more_views(kept)))
    if kept is not None:
        sections.append(Section(say("sections.decisions"), private.decisions(kept)))
    sections.append(Section(say("sections.limits"), annex.limits(evidence)))
    told = (*cover, *(part for section in sections for part in section.parts))
    sections.append(Section(say("sections.annex"), annex.annex(evidence, told)))
    side = "external" if kept is None else "internal"
    return Document(
        title=evidence.title or say("cover.untitled"),
        subtitle=say(f"cover.subtitle_{side}", program=str(evidence.program["name"])),
        audience=say(f"cover.audience_{side}"),
        stays=kept is not None,
        bundle_id=evidence.bundle_id,
        made_at=evidence.made_at,
        cover=cover,
        sections=tuple(sections),
    )


def _before(kept: InternalEvidence | None) -> tuple[Part, ...]:
    return () if kept is None else private.table_before(kept)


def _more_views(kept: InternalEvidence | None) -> tuple[Part, ...]:
    return () if kept is None else (*kept.views,)


def _cover(evidence: PublicEvidence, kept: InternalEvidence | None) -> tuple[Part, ...]:
    parts: list[Part] = [*_key_numbers(evidence)]
    if evidence.promise.loss is None:
        sentence = evidence.statement["sentence"]
        parts.append(Statement(Text(sentence["id"], sentence["values"]), care=True))
    parts.append(KeyValues("", tuple(_label(evidence, kept))))
    if kept is not None:
        parts += private.warnings(kept)
    signed = ("custodian", "approver") if kept is None else ("custodian", "approver", "protection_officer")
    return (*parts, Signatures(tuple(say(f"cover.signature_{who}") for who in signed)))


def _key_numbers(evidence: PublicEvidence) -> tuple[Part, ...]:
    statement = evidence.statement
    loss = evidence.promise.loss
    if loss is None or "posterior" not in statement:
        return ()
    epsilon = exactly(loss.epsilon)
    posterior = statement["posterior"]
    known = "value" if loss.neighbours.value == "replace_one" else "presence"
    numbers = (
        NumberView(say("cover.epsilon"), epsilon or 0, three("epsilon", epsilon=epsilon)),
        NumberView(say("cover.delta"), exactly(loss.delta) or 0, three("delta")),
        NumberView(
            say("cover.odds"),
            plainly(statement["odds_factor"], digits=3),
            three("odds", factor=statement["odds_factor"]),
        ),
        NumberView(
            say("cover.posterior"),
            round(100 * posterior[known], 1),
            three(f"posterior_{known}", presence=posterior["presence"], value=posterior["value"]),
            "%",
        ),
    )
    return (Numbers(numbers),)


def _label(evidence: PublicEvidence, kept: InternalEvidence | None) -> list[Row]:
    """Return the label: who is protected, for whom, what leaves, and what it rests on."""
    promised = evidence.promise
    name = chapters.of_method(evidence, "title") or str(evidence.method["id"])
    rows = [
        Row(say("cover.release_kind"), name, note=say("cover.files", count=len(evidence.artefacts))),
        Row(say("cover.guarantee"), Text(f"promises.{promised.kind}.name")),
        Row(say("cover.unit"), chapters.unit_of(promised)),
    ]
    if promised.loss is not None:
        rows.append(Row(say("cover.neighbours"), say(f"neighbours.{promised.loss.neighbours.value}")))
    rows += [
        Row(say(f"cover.{field}"), evidence.purpose[field])
        for field in PURPOSE
        if evidence.purpose.get(field)
    ]
    if kept is not None:
        rows += [*private.left(kept), *private.threshold(kept), *private.assumption(kept)]
    return [
        *rows,
        Row(say("cover.made"), say("cover.made_value", at=evidence.made_at.replace("T", " "))),
        Row(say("cover.bundle"), evidence.bundle_id, code=True),
    ]
