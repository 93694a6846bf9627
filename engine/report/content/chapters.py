"""The chapters of a report that may leave: made from public evidence alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from engine import texts
from engine.privacy.events import Event
from engine.privacy.promise import Promise, Unit
from engine.release.evidence import PublicEvidence
from engine.report.document import (
    Bullets,
    Heading,
    KeyValues,
    Numbers,
    Part,
    Row,
    Statement,
)
from engine.report.words import plainly
from engine.views import Cell, Label, NumberView, TableView, Text

FIXED = "choices_made_with_sight"


def say(name: str, /, **values: Any) -> Text:
    """Return a text of the report by its short id."""
    return Text(f"report.{name}", values)


def three(name: str, /, **values: Any) -> Text:
    """Return the id of the three texts of a number."""
    return say(f"numbers.{name}", **values)


def exactly(value: Any) -> int | float | None:
    """Return a number from its exact written form ``"p/q"``; None stays None."""
    if value is None:
        return None
    fraction = Fraction(str(value))
    return int(fraction) if fraction.denominator == 1 else float(fraction)


def of_method(evidence: PublicEvidence, name: str) -> Text | None:
    """Return a text of the method by its short id, or None where the method has no such text."""
    text_id = f"methods.{evidence.method['id']}.{name}"
    return Text(text_id) if texts.has(text_id) else None


# What was done


def done(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Say in words what was done: the method, what can and cannot be done with it, how it was set."""
    summary = of_method(evidence, "summary")
    parts: list[Part] = [summary] if summary else []
    can = [text for name in ("recipient_can", "recipient_cannot") if (text := of_method(evidence, name))]
    if can:
        names = (say("done.can"), say("done.cannot"))
        parts.append(KeyValues("", tuple(Row(name, text) for name, text in zip(names, can, strict=False))))
    parts += [settings(evidence), *_preparation(evidence.decided.get("preparation", ()))]
    if evidence.notes:
        parts += [Heading(say("done.notes")), Bullets(tuple(evidence.notes))]
    return (*parts, _files(evidence))


def settings(evidence: PublicEvidence) -> KeyValues:
    """Return the parameters of the method as they were set."""
    rows = [
        Row(of_method(evidence, f"parameters.{name}.label") or name, _setting(evidence, name, value))
        for name, value in evidence.decided.get("parameters", {}).items()
    ]
    source = evidence.method.get("published", {})
    cited = " · ".join(str(source[name]) for name in ("document", "place", "identifier") if source.get(name))
    name = of_method(evidence, "title") or evidence.method["id"]
    head = Row(say("done.method"), name, note=say("done.version", version=str(evidence.method["version"])))
    tail = (Row(say("done.source"), cited),) if cited else ()
    return KeyValues(say("done.settings"), (head, *rows, *tail))


def _setting(evidence: PublicEvidence, name: str, value: Any) -> Cell:
    if isinstance(value, bool) or value is None:
        return say(f"words.{'yes' if value else 'no'}") if value is not None else None
    if isinstance(value, str):
        return of_method(evidence, f"parameters.{name}.choices.{value}") or value
    if isinstance(value, list | tuple):
        return ", ".join(_flat(item) for item in value)
    return _flat(value)


def _flat(value: Any) -> str:
    """Write a nested setting in one line: names and values of a record, items of a list."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_flat(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return " · ".join(_flat(item) for item in value)
    return (
        texts.number(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
    )


def _preparation(steps: Any) -> tuple[Part, ...]:
    if not steps:
        return ()
    rows = tuple((str(step.get("step", "")), step.get("column"), step.get("to")) for step in steps)
    headings = (say("done.step"), say("done.column"), say("done.becomes"))
    return (TableView(say("done.preparation"), headings, rows),)


def _files(evidence: PublicEvidence) -> TableView:
    rows = tuple(
        (
            str(artefact["file"]),
            artefact.get("rows"),
            len(artefact["columns"]) if "columns" in artefact else None,
            str(artefact["media_type"]),
        )
        for artefact in evidence.artefacts
    )
    headings = tuple(say(f"done.{name}") for name in ("file", "rows", "columns", "media_type"))
    return TableView(say("done.files"), headings, rows)


# Columns


def columns(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Say of each column that was used how it was marked, what was declared and what became of it."""
    rows = tuple(
        (
            str(column["name"]),
            say(f"roles.{column['role']}"),
            say(f"kinds_of_column.{column['kind']}"),
            _domain(column.get("domain")),
            say(f"origins.{column.get('domain_origin') or 'none'}"),
            _use(evidence, column),
        )
        for column in evidence.decided.get("columns", ())
    )
    names = ("column", "role", "kind", "declared", "origin", "treatment")
    table = TableView(say("columns.title"), tuple(say(f"columns.{name}") for name in names), rows)
    return (say("columns.intro"), table, say("columns.others"))


def _domain(domain: Mapping[str, Any] | None) -> Cell:
    if not domain:
        return None
    if domain.get("values") is not None:
        values = [str(value) for value in domain["values"]]
        shown = " · ".join(values[:12])
        return say("columns.more_values", values=shown, count=len(values)) if len(values) > 12 else shown
    if domain.get("code_list"):
        return say("columns.code_list", name=str(domain["code_list"]))
    low, high = (_bound(domain.get(name)) for name in ("minimum", "maximum"))
    if domain.get("step") is not None:
        return say("columns.range_step", low=low, high=high, step=_bound(domain["step"]))
    return say("columns.range", low=low, high=high)


def _bound(value: Any) -> Any:
    try:
        return exactly(value)
    except ValueError:
        return str(value)


def _use(evidence: PublicEvidence, column: Mapping[str, Any]) -> Cell:
    """Say in which settings of the method a column is named."""
    if column["role"] == "person_key":
        return say("columns.key", count=evidence.promise.rows_per_person)
    named = [
        of_method(evidence, f"parameters.{name}.label") or name
        for name, value in evidence.decided.get("parameters", {}).items()
        if column["name"] in _mentioned(value)
    ]
    return say("columns.used", settings=named) if named else say("columns.described")


def _mentioned(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in (
        value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    ):
        yield from _mentioned(item)


# The guarantee


def guarantee(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Say what is promised about whom, by which mechanism, from which bounds, and what that rests on."""
    promised = evidence.promise
    sentence = evidence.statement.get("sentence")
    parts: list[Part] = [Text(sentence["id"], sentence["values"])] if sentence else []
    parts += [Statement(Text(f"assumptions.{FIXED}")), _promise(promised)]
    if promised.loss is not None:
        parts += [_mechanisms(promised.loss.events), _origin(evidence)]
    others = tuple(Text(f"assumptions.{name}") for name in promised.assumptions if name != FIXED)
    if others:
        parts += [Heading(say("guarantee.assumptions")), Bullets(others)]
    return (*parts, *at_risk(evidence))


def unit_of(promised: Promise) -> Text:
    """Say who is protected."""
    if promised.unit is Unit.PERSON and promised.rows_per_person == 1:
        return say("units.person_one")
    if promised.unit is Unit.PERSON:
        return say("units.person", count=promised.rows_per_person)
    return say("units.row")


def _promise(promised: Promise) -> KeyValues:
    rows = [Row(say("guarantee.kind"), Text(f"promises.{promised.kind}.name"))]
    if promised.loss is not None:
        rows += [
            Row(say("guarantee.epsilon"), exactly(promised.loss.epsilon), three("epsilon")),
            Row(say("guarantee.delta"), exactly(promised.loss.delta), three("delta")),
        ]
    rows += [
        Row(say("guarantee.unit"), unit_of(promised)),
        Row(say("guarantee.rows_per_person"), promised.rows_per_person, three("rows_per_person")),
    ]
    if promised.loss is not None:
        rows.append(Row(say("guarantee.neighbours"), say(f"neighbours.{promised.loss.neighbours.value}")))
    rows += [
        Row(Text(f"promises.{promised.kind}.terms.{name}.label"), exactly(term))
        for name, term in promised.terms.items()
    ]
    return KeyValues(say("guarantee.promise"), tuple(rows))


def _mechanisms(events: Event) -> TableView:
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
    return TableView(say("guarantee.mechanisms"), headings, rows, say("guarantee.mechanisms_note"))


def _origin(evidence: PublicEvidence) -> KeyValues:
    noise = evidence.noise
    return KeyValues(
        say("guarantee.made_of"),
        (
            Row(say("guarantee.bounds"), say(f"bounds.{evidence.decided.get('bounds', 'declared')}")),
            Row(say("guarantee.accountant"), Text(f"promises.{evidence.promise.kind}.accounting")),
            Row(say("guarantee.noise_source"), _known("noise", noise.get("source", ""))),
            Row(say("guarantee.sampler"), _known("noise", noise.get("sampler", ""))),
        ),
    )


def _known(group: str, name: str) -> Label:
    return say(f"{group}.{name}") if texts.has(f"report.{group}.{name}") else name


def at_risk(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Return privacy at risk, published, exact and certified side by side, where there is a guarantee."""
    found = evidence.statement.get("at_risk")
    if not found:
        return ()
    at, full = exactly(found["epsilon"]), exactly(found["epsilon0"])
    values = {"epsilon": at, "epsilon0": full}
    published = found.get("published")
    numbers = [
        NumberView(say("at_risk.published"), plainly(published["confidence"]), three("published", **values))
        if published
        else NumberView(say("at_risk.published"), "–", three("not_published", **values)),
        NumberView(say("at_risk.exact"), plainly(found["exact"]["confidence"]), three("exact", **values)),
        NumberView(
            say("at_risk.two_sided"),
            plainly(found["exact"]["confidence_two_sided"]),
            three("two_sided", **values),
        ),
        NumberView(
            say("at_risk.certified"), plainly(found["certified"]["delta"]), three("certified", **values)
        ),
    ]
    parts: list[Part] = [Heading(say("at_risk.title", **values)), say("at_risk.intro", **values)]
    parts.append(Numbers(tuple(numbers)))
    if found.get("above_ln3"):
        parts.append(Statement(say("at_risk.above_ln3"), care=True))
    return tuple(parts)


# Results


def results(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Return what was released, what was expected before, and what every released column means."""
    parts: list[Part] = [say("results.intro"), *evidence.views]
    if evidence.forecast:
        parts += [Heading(say("results.forecast")), say("results.forecast_intro"), *evidence.forecast]
    for entry in evidence.dictionary:
        parts.append(_dictionary(entry))
    return tuple(parts)


def _dictionary(entry: Mapping[str, Any]) -> Part:
    title = say("results.dictionary", file=str(entry["file"]))
    if "columns" not in entry:
        return KeyValues(title, (Row(say("results.meaning"), str(entry.get("meaning", ""))),))
    rows = tuple(
        (str(line["name"]), str(line.get("meaning", "")), str(line.get("unit", "")) or None)
        for line in entry["columns"]
    )
    return TableView(title, tuple(say(f"results.{name}") for name in ("column", "meaning", "unit")), rows)
