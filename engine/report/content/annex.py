"""The last chapters: what a report does not say, how to check it, and the details for auditors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from engine import texts
from engine.evidence import InternalEvidence, PublicEvidence
from engine.report.content import promise
from engine.report.content.facts import counted_cells, facts_of, own_words, true_ones
from engine.report.content.shared import say, side, stated_or_not, three, unit_word
from engine.report.document import (
    Bullets,
    Explanation,
    Explanations,
    Folded,
    Heading,
    KeyValues,
    Part,
    Row,
    explanations,
)
from engine.views import BarsView, IntervalsView, NumberView, TableView, Text

LIMITS = (
    "stays_personal",
    "stays_personal_too",
    "stays_personal_local",
    "correctness",
    "correctness_local",
    "formal",
    "formal_local",
    "no_guarantee",
    "chosen",
    "margins",
    "margins_row",
    "each_alone",
    "no_dominance",
    "no_dominance_row",
    "other_releases",
    "adaptive",
    "machine",
    "machine_local",
    "machine_shared",
    "machine_paper",
    "not_for",
)
UNCHECKED = (
    "noise",
    "bounds",
    "key",
    "cap",
    "row",
    "page",
    "form",
    "ledger",
    "program",
    "one_report",
    "input",
)
"""In the order in which they are printed; `engine.report.content.facts.PRINTED` says of which releases."""


def limits(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Return what nobody may read into the report, and what nobody can check from its files."""
    facts, cells = facts_of(evidence), counted_cells(evidence)
    values = {"unit": unit_word(evidence), "count": cells, "outside": max(1, round(cells / 20))}
    items = true_ones((f"limits.{name}" for name in LIMITS), facts, **values)
    unchecked = true_ones((f"unchecked.{name}" for name in UNCHECKED), facts)
    return (
        Bullets((own_words(evidence, "status"), *items)),
        Heading(say("unchecked.title")),
        say("unchecked.intro"),
        Bullets(tuple(unchecked)),
    )


def verify(evidence: PublicEvidence, kept: InternalEvidence | None) -> tuple[Part, ...]:
    """Say how to check the files, with and without the program, and what a check cannot show."""
    ways: list[Row] = []
    if kept is None:
        names = ("browser", "custos", "tools", "ledger")
        ways += [Row(say(f"verify.{name}"), say(f"verify.{name}_how")) for name in names]
        spent = "_bounded" if side(evidence.promise) == "bounded" else ""
        ways.append(Row(say("verify.withdrawn"), say(f"verify.withdrawn_how{spent}")))
        withdrawal = str(evidence.purpose.get("withdrawal", "")).strip()
        if withdrawal:
            ways.append(Row(say("verify.withdrawal"), withdrawal))
    else:
        plan = kept.plan.get("purpose", {})
        facts = facts_of(evidence)
        was_read = facts.read or (facts.local and bool(evidence.decided.get("step")))  # reports are counted
        held = "retention_how" if was_read else "retention_how_unread"
        ways.append(
            Row(
                say("verify.retention"),
                say(f"verify.{held}", retention=stated_or_not(plan, "retention")),
            )
        )
        for key in kept.keys:
            locked = "locked" if key.get("locked") else "open"
            ways.append(Row(say("verify.key"), say(f"verify.key_{locked}", file=str(key["file"]))))
    hashes = tuple(
        Row(str(artefact["file"]), str(artefact["sha256"]), code=True) for artefact in evidence.artefacts
    )
    parts: tuple[Part, ...] = (say("verify.intro"), say("verify.fingerprint"), KeyValues("", tuple(ways)))
    if kept is not None:
        return say("verify.elsewhere"), KeyValues("", tuple(ways))
    return (*parts, KeyValues(say("verify.files"), hashes))


def annex(evidence: PublicEvidence, before: tuple[Part, ...], *, stays: bool = False) -> tuple[Part, ...]:
    """Return mechanisms, privacy at risk, what every number is, identifiers and versions.

    ``before`` are the parts of the chapters above: the numbers in them are explained here, in the HTML file
    alone in what ``stays``.
    """
    own = (*promise.mechanisms(evidence), *promise.at_risk(evidence))
    told = list(explanations((*before, *own, *_elsewhere(evidence))))
    told += _numbers_of_views(before)
    # A survey says in its own words what its questions and the mechanism have in common.
    said = {item.three.id.rpartition(".")[2] for item in told} & set(promise.LOCAL_NUMBERS)
    told += [
        Explanation(say(f"guarantee.{name}"), None, three(name))
        for name in promise.numbers_of_mechanisms(evidence.promise)
        if name not in said
    ]
    parts: list[Part] = [*own]
    if told:
        found = Explanations(tuple(_once(told)))
        parts.append(Folded(say("annex.numbers"), (found,), say("annex.folded"), always=stays))
    return (*parts, _identity(evidence), _versions(evidence))


def _once(told: Iterable[Explanation]) -> Iterator[Explanation]:
    """Give explanations, those in the same words once: numbers of two tables are explained alike."""
    seen = set()
    for item in told:
        words = tuple(texts.pattern(f"{item.three.id}.{name}") for name in ("what", "how", "change"))
        if words not in seen:
            yield item
        seen.add(words)


def _elsewhere(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Return the key numbers that the first page says in a sentence: they are explained too."""
    views = tuple(view for view in evidence.views if isinstance(view, NumberView))
    return (KeyValues("", tuple(Row(view.title, view.value, view.three) for view in views)),)


def _numbers_of_views(before: tuple[Part, ...]) -> Iterator[Explanation]:
    """Give the three texts of the numbers that views of methods and measures name."""
    told = {item.three.id for item in explanations(before)}
    seen: dict[str, Text] = {}
    for part in before:
        for label in _labels(part):
            if label.id.startswith(("methods.", "measures.")) and label.id.endswith(".label"):
                seen.setdefault(label.id.removesuffix(".label"), label)
    for name, label in seen.items():
        if name not in told and all(texts.has(f"{name}.{one}") for one in ("what", "how", "change")):
            yield Explanation(label, None, Text(name, label.values))


def _labels(part: Part) -> Iterator[Text]:
    if isinstance(part, TableView):
        yield from _within(part.headings)
        yield from _within(cell for row in part.rows for cell in row)
        yield from _within((part.note,))
    elif isinstance(part, BarsView | IntervalsView):
        yield from _within((part.axis,))


def _within(labels: Any) -> Iterator[Text]:
    """Give every text, and the texts among its values."""
    for label in labels:
        if isinstance(label, Text):
            yield label
            for value in label.values.values():
                yield from _within(value if isinstance(value, list | tuple) else (value,))


def _identity(evidence: PublicEvidence) -> KeyValues:
    head = evidence.ledger.get("head", {})
    rows = [Row(say("annex.bundle"), evidence.bundle_id, code=True)]
    if evidence.input_name:
        rows.append(Row(say("annex.input"), evidence.input_name, code=True, note=say("annex.input_note")))
    rows.append(Row(say("annex.entry"), str(evidence.ledger.get("entry", "")), code=True))
    rows.append(
        Row(
            say("annex.head"),
            str(head.get("hash", "")),
            code=True,
            note=say("annex.sequence", sequence=int(head["sequence"])) if "sequence" in head else None,
        )
    )
    return KeyValues(say("annex.identity"), tuple(rows))


def _versions(evidence: PublicEvidence) -> KeyValues:
    program = evidence.program
    tested = "bounded" if side(evidence.promise) == "bounded" else "unbounded"
    libraries = ", ".join(f"{name} {version}" for name, version in program.get("libraries", {}).items())
    named = f"{program['name']} {program['version']}"
    named += f", Python {program['python']}" if program.get("python") else ""
    rows: list[Row] = [Row(say("annex.program"), named)]
    words = str(program.get("words", ""))
    rows += [
        Row(say("annex.build"), words, code=True, note=say("annex.build_note"))
        if words
        else Row(say("annex.build"), say("annex.build_unknown")),
        Row(say("annex.libraries"), libraries),
        Row(say("annex.tested"), say(f"annex.tested_{tested}")),
        Row(say("annex.certified"), say("annex.certified_value")),
    ]
    return KeyValues(say("annex.versions"), tuple(rows))
