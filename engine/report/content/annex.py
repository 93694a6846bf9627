"""The last chapters: what a report does not say, what every number is, hashes, versions, how to verify."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine import texts
from engine.release.evidence import PublicEvidence
from engine.report.content.chapters import say, three
from engine.report.document import (
    Bullets,
    Explanation,
    Explanations,
    Heading,
    KeyValues,
    Part,
    Row,
    explanations,
)
from engine.views import BarsView, IntervalsView, Label, TableView, Text


def limits(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Return what nobody may read into the report."""
    formal = evidence.promise.loss is not None
    names = ["no_verdict", "correctness", *(("formal",) if formal else ("no_guarantee",))]
    names += ["other_releases", "small_groups", "machine", "chosen", "certified"]
    return (Bullets(tuple(say(f"limits.{name}") for name in names)),)


def annex(evidence: PublicEvidence, before: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return what every number is, hashes, versions and how to verify.

    ``before`` are the parts of the chapters above: the numbers in them are explained here.
    """
    told = (*explanations(before), *_numbers_of_method(evidence, before), *_numbers_of_mechanisms(evidence))
    parts: list[Part] = []
    if told:
        parts += [Heading(say("annex.numbers")), Explanations(told)]
    return (*parts, _hashes(evidence), _identity(evidence), _versions(evidence), *_verify())


def _numbers_of_method(evidence: PublicEvidence, before: tuple[Part, ...]) -> Iterator[Explanation]:
    """Give the three texts of the numbers that the views of the method and of the measures name."""
    prefixes = (f"methods.{evidence.method['id']}.numbers.", "measures.")
    told = {item.three.id for item in explanations(before)}
    seen: dict[str, None] = {}
    for part in before:
        for label in _labels(part):
            if isinstance(label, Text) and label.id.startswith(prefixes) and label.id.endswith(".label"):
                seen.setdefault(label.id.removesuffix(".label"))
    for name in seen:
        if name not in told and all(texts.has(f"{name}.{one}") for one in ("what", "how", "change")):
            yield Explanation(Text(f"{name}.label"), None, Text(name))


def _labels(part: Part) -> Iterator[Label]:
    if isinstance(part, TableView):
        yield from part.headings
        for row in part.rows:
            yield from (cell for cell in row if isinstance(cell, Text))
    elif isinstance(part, BarsView | IntervalsView):
        yield part.axis


def _numbers_of_mechanisms(evidence: PublicEvidence) -> Iterator[Explanation]:
    if evidence.promise.loss is not None:
        for name in ("scale", "sensitivity", "grid", "count"):
            yield Explanation(say(f"guarantee.{name}"), None, three(name))


def _hashes(evidence: PublicEvidence) -> KeyValues:
    rows = tuple(
        Row(str(artefact["file"]), str(artefact["sha256"]), code=True) for artefact in evidence.artefacts
    )
    return KeyValues(say("annex.hashes"), rows)


def _identity(evidence: PublicEvidence) -> KeyValues:
    head = evidence.ledger.get("head", {})
    return KeyValues(
        say("annex.identity"),
        (
            Row(say("annex.bundle"), evidence.bundle_id, code=True),
            Row(say("annex.input"), evidence.input_name, code=True, note=say("annex.input_note")),
            Row(say("annex.entry"), str(evidence.ledger.get("entry", "")), code=True),
            Row(say("annex.head"), str(head.get("hash", "")), code=True, note=_sequence(head)),
        ),
    )


def _sequence(head: Mapping[str, Any]) -> Text | None:
    return say("annex.sequence", sequence=int(head["sequence"])) if "sequence" in head else None


def _versions(evidence: PublicEvidence) -> KeyValues:
    program = evidence.program
    libraries = ", ".join(f"{name} {version}" for name, version in program.get("libraries", {}).items())
    rows = [Row(say("annex.program"), f"{program['name']} {program['version']}")]
    if program.get("python"):
        rows.append(Row(say("annex.python"), str(program["python"])))
    rows.append(Row(say("annex.libraries"), libraries))
    return KeyValues(say("annex.versions"), tuple(rows))


def _verify() -> tuple[Part, ...]:
    command = Row(say("annex.command"), "python -m engine verify FOLDER", code=True)
    return (
        Heading(say("annex.verify")),
        say("annex.verify_intro"),
        KeyValues("", (command,)),
    )
