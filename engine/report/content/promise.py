"""What is promised, about whom, and what that means: chapters by the kind of promise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from engine import texts
from engine.evidence import PublicEvidence
from engine.numbers import exactly
from engine.privacy.events import Event
from engine.privacy.promise import ONE_DRAWN, Promise, Unit
from engine.report.content.facts import facts_of, holds, own_words, true_ones
from engine.report.content.shared import of_form, of_promise, say, side, three, unit_word
from engine.report.document import Bullets, Callout, Heading, KeyValues, Numbers, Part, Row
from engine.texts import percent_up, plainly, significant_up
from engine.views import Cell, Label, NumberView, TableView, Text

FIXED = "choices_made_with_sight"
LOCAL_NUMBERS = ("truth", "answers")


def promise(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Say what is promised, what the recipient can and cannot do, and what that rests on."""
    promised = evidence.promise
    parts: list[Part] = []
    if side(promised) == "bounded":
        parts.append(Callout(Text(f"assumptions.{FIXED}")))
    parts += key_numbers(evidence)
    parts.append(KeyValues("", tuple(_rows(evidence))))
    facts = facts_of(evidence)
    assumed = (f"assumptions.{name}" for name in promised.assumptions if name != FIXED)
    others = tuple(Text(name) for name in assumed if holds(name, facts))
    if others:
        bias = tuple(true_ones(("guarantee.bias", "guarantee.bias_visit", "guarantee.bias_row"), facts))
        parts += [Heading(say("guarantee.assumptions")), Bullets((*others, *bias))]
    return tuple(parts)


def key_numbers(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Return ε in the forms that people can judge, each rounded to the safe side."""
    statement, loss = evidence.statement, evidence.promise.loss
    if loss is None or "posterior" not in statement:
        return ()
    epsilon, posterior, unit = exactly(loss.epsilon), statement["posterior"], unit_word(evidence)
    local = side(evidence.promise) == "local"
    known = ("presence", "value") if loss.neighbours.value == "add_remove" else ("value",)
    known = ("answer",) if local else known
    level = three("epsilon_local" if local else "epsilon", unit=unit)
    found = [
        NumberView(say("guarantee.epsilon"), plainly(float(epsilon or 0), up=True), level),
        NumberView(say("guarantee.odds"), significant_up(statement["odds_factor"]), three("odds", unit=unit)),
    ]
    found += [
        NumberView(
            say(f"guarantee.posterior_{name}"),
            percent_up(posterior["value" if local else name]),
            three(f"posterior_{name}", unit=unit),
        )
        for name in known
    ]
    return (Numbers(tuple(found)),)


def write_term(value: Any) -> Cell:
    """Write what a promise is about: fractions as people read them, names as they are."""
    if isinstance(value, str):
        try:
            value = Fraction(value)
        except ValueError:
            return str(value)
    return exactly(value)


def _rows(evidence: PublicEvidence) -> list[Row]:
    promised = evidence.promise
    rows: list[Row] = []
    if promised.loss is not None:
        about = f"neighbours.{promised.loss.neighbours.value}.{promised.unit.value}"
        about = "neighbours.local" if side(promised) == "local" else about
        rows.append(Row(say("guarantee.neighbours"), say(about)))
        if promised.loss.delta:
            rows.append(Row(say("guarantee.delta"), exactly(promised.loss.delta), three("delta")))
    rows += [
        Row(
            Text(f"promises.{promised.kind}.terms.{name}.label"),
            write_term(term),
            note=Text(f"promises.{promised.kind}.terms.{name}.what"),
        )
        for name, term in promised.terms.items()
    ]
    for name in ("can", "cannot"):
        if (text := can_do(evidence, name)) is not None:
            rows.append(Row(say(f"guarantee.{name}"), text))
    return [*rows, Row(say("guarantee.must_know"), own_words(evidence, "must_know"))]


def can_do(evidence: PublicEvidence, name: str) -> Text | None:
    """Return what a recipient ``can`` or ``cannot`` do, as the method says it or else the promise."""
    return of_form(evidence, f"recipient_{name}") or of_promise(evidence.promise, name)


def criteria(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Answer the three questions of the Article 29 Working Party, and who might try."""
    names = ("singling_out", "linking", "inferring")
    rows = [Row(say(f"criteria.{name}"), own_words(evidence, f"criteria.{name}")) for name in names]
    holds_against = "attacker_any" if evidence.promise.loss is not None else "attacker_none"
    written = str(evidence.purpose.get("attackers", ""))
    rows.append(Row(say("criteria.attacker"), written or say(f"criteria.{holds_against}")))
    if written:
        rows.append(Row("", say(f"criteria.{holds_against}")))
    return (say("criteria.intro"), KeyValues("", tuple(rows)))


def mechanisms(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Return what ran, and what its proof rests on; nothing where nothing bounds the loss."""
    loss = evidence.promise.loss
    if loss is None:
        return ()
    if side(evidence.promise) == "local":
        return (_changes(loss.events, ONE_DRAWN in evidence.promise.assumptions), _origin(evidence))
    note = say("guarantee.mechanisms_note") if evidence.noise else None
    return (_ran(loss.events, note), _origin(evidence))


def _changes(events: Event, one_drawn: bool) -> TableView:
    """Return how people change their answers; of questions by lot the one whose level counts is given."""
    rows = tuple(
        (say(f"mechanisms.{leaf.word}"), *(exactly(getattr(leaf, name, None)) for name in LOCAL_NUMBERS))
        for leaf, _ in events.leaves()
    )
    headings = tuple(say(f"guarantee.{name}") for name in ("mechanism", *LOCAL_NUMBERS))
    if one_drawn:
        return TableView(say("guarantee.changes_drawn"), headings, rows, say("guarantee.changes_drawn_note"))
    return TableView(say("guarantee.changes"), headings, rows)


def _ran(events: Event, note: Text | None) -> TableView:
    rows = tuple(
        (
            say(f"mechanisms.{leaf.word}"),
            *(exactly(getattr(leaf, name, None)) for name in ("scale", "sensitivity", "grid")),
            leaf.count,
            say(f"composition.{'disjoint' if disjoint else 'same'}"),
        )
        for leaf, disjoint in events.leaves()
    )
    names = ("mechanism", "scale", "sensitivity", "grid", "count", "people")
    headings = tuple(say(f"guarantee.{name}") for name in names)
    return TableView(say("guarantee.mechanisms"), headings, rows, note)


def _origin(evidence: PublicEvidence) -> KeyValues:
    noise = evidence.noise
    rows = [Row(say("guarantee.accountant"), Text(f"promises.{evidence.promise.kind}.accounting"))]
    if "bounds" in evidence.decided:
        rows.insert(0, Row(say("guarantee.bounds"), say(f"bounds.{evidence.decided['bounds']}")))
    if noise:
        rows += [
            Row(say("guarantee.noise_source"), _known("noise", noise.get("source", ""))),
            Row(say("guarantee.sampler"), _known("noise", noise.get("sampler", ""))),
        ]
    promised = evidence.promise
    if side(promised) != "local" and promised.unit is Unit.PERSON and not promised.weighs:
        cap = promised.rows_per_person
        rows.append(Row(say("guarantee.rows_per_person"), cap, three("rows_per_person")))
    return KeyValues(say("guarantee.made_of"), tuple(rows))


def _known(group: str, name: str) -> Label:
    return say(f"{group}.{name}") if texts.has(f"report.{group}.{name}") else name


AT_RISK = ("exact", "two_sided", "certified", "published")


def at_risk(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Return privacy at risk: exact and certified first, the published figure last."""
    found = evidence.statement.get("at_risk")
    if not found or ONE_DRAWN in evidence.promise.assumptions:  # the loss of one question is not that of all
        return ()
    values = {"epsilon": exactly(found["epsilon"]), "epsilon0": exactly(found["epsilon0"])}
    published = found.get("published")
    figures = {
        "exact": plainly(found["exact"]["confidence"]),
        "two_sided": plainly(found["exact"]["confidence_two_sided"]),
        "certified": plainly(found["certified"]["delta"], up=True),
        "published": None if published is None else plainly(published["confidence"]),
    }
    rows = tuple(
        Row(
            say(f"at_risk.{name}"),
            figures[name],
            three("not_published" if figures[name] is None else name, **values),
        )
        for name in AT_RISK
    )
    parts: list[Part] = [Heading(say("at_risk.title", **values)), say("at_risk.intro", **values)]
    parts.append(KeyValues("", rows))
    if found.get("above_ln3"):
        parts.append(Callout(say("at_risk.above_ln3"), care=True))
    return tuple(parts)


def numbers_of_mechanisms(promised: Promise) -> tuple[str, ...]:
    """Return the names of the numbers in the table of mechanisms."""
    numbers = {"unbounded": (), "local": LOCAL_NUMBERS, "bounded": ("scale", "sensitivity", "grid", "count")}
    return numbers[side(promised)]
