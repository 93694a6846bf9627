"""How a release was made: law and purpose, method and settings, columns, preparation, what was expected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from engine import texts
from engine.errors import InputRefused
from engine.evidence import PublicEvidence
from engine.methods.conditions import Comparison, Condition, Not, parse, say_condition
from engine.methods.kinds import Family
from engine.numbers import exactly
from engine.report.content.facts import facts_of
from engine.report.content.results import compact
from engine.report.content.shared import (
    method_name,
    named_with_meaning,
    of_form,
    of_method,
    place_of,
    say,
    stated_or_not,
)
from engine.report.document import Bullets, Folded, Heading, KeyValues, Part, Row
from engine.table.code_lists import CodeList, code_lists
from engine.views import Cell, Label, TableView, Text, from_json

MOST_VALUES = 12


def describe_making(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Say how the release was made."""
    summary = of_method(evidence, "summary_outside") or of_form(evidence, "summary")
    parts: list[Part] = [summary] if summary else []
    parts.append(_settings(evidence))
    if tried := evidence.decided.get("tried"):
        parts.append(say("done.tried", count=tried))
    parts += [*_columns(evidence), *_preparation(evidence)]
    if evidence.notes:
        parts += [Heading(say("done.notes")), Bullets(tuple(evidence.notes))]
    meant = tuple(part for entry in evidence.dictionary for part in _dictionary(entry, evidence))
    if meant:
        parts.append(Folded("", meant, say("done.dictionary_elsewhere")))
    return (*parts, *_forecast(evidence), _law(evidence))


def _law(evidence: PublicEvidence) -> KeyValues:
    names = ("legal_basis", "assessment")
    rows = tuple(Row(say(f"done.{name}"), stated_or_not(evidence.purpose, name)) for name in names)
    return KeyValues(say("done.legal"), rows)


def _settings(evidence: PublicEvidence) -> KeyValues:
    """Return the parameters of the method as they were set; what was left empty had no part."""
    rows = []
    for name, value in _take(evidence).items():
        label = _of_parameter(evidence, f"{name}.label") or name
        several = isinstance(value, list | tuple) and value and all(isinstance(one, Mapping) for one in value)
        said: Iterable[Cell] = (_setting(evidence, name, value),)
        if several:
            said = _records(evidence, name, value)
        if isinstance(value, Mapping) and value and all(map(_is_condition, value.values())):
            parts = value.items()
            said = tuple(say("done.part", label=column, value=_plain(one)) for column, one in parts)
        told = [one for one in said if one is not None]
        rows += [Row("" if place else label, one) for place, one in enumerate(told)]
    cited = _cite(evidence)
    version = say("done.version", version=str(evidence.method["version"]))
    head = Row(say("done.method"), method_name(evidence), note=version)
    tail = (Row(say("done.source"), cited),) if cited is not None else ()
    return KeyValues(say("done.settings"), (head, *rows, *tail))


def _cite(evidence: PublicEvidence) -> Text | None:
    """Return where the method is published."""
    source = evidence.method.get("published", {})
    if not source.get("document"):
        return None
    place = place_of(evidence, str(source.get("place") or ""))
    parts = [str(source["document"]), place, str(source.get("identifier") or "")]
    found = [part for part in parts if part]
    said: Label = found[0]
    for part in found[1:]:
        said = say("done.and_then", first=said, second=part)
    return said if isinstance(said, Text) else say("words.list", all=[said])


def _take(evidence: PublicEvidence) -> Mapping[str, Any]:
    """Return the settings as they were taken; those that had no part are None."""
    return {**evidence.decided.get("parameters", {}), **evidence.decided.get("taken", {})}


def _of_parameter(evidence: PublicEvidence, name: str) -> Text | None:
    """Return a text of a parameter: a step of a service has its own, under names the opening has as well."""
    step = evidence.decided.get("step")
    own = of_method(evidence, f"steps.{step}.parameters.{name}") if step else None
    return own or of_method(evidence, f"parameters.{name}")


def _setting(evidence: PublicEvidence, name: str, value: Any) -> Cell:
    if isinstance(value, bool):
        return say(f"words.{'yes' if value else 'no'}")
    if value is None or value == "" or (isinstance(value, Mapping | list | tuple) and not value):
        return None
    if isinstance(value, str):
        return _of_parameter(evidence, f"{name}.choices.{value}") or value
    if isinstance(value, list | tuple):
        return say("words.list", all=[_plain(item) for item in value])
    return _plain(value)


def _records(evidence: PublicEvidence, name: str, records: Sequence[Any]) -> Iterator[Cell]:
    """Give one text a record, each part of it by its label."""
    for record in records:
        parts = [
            say("done.part", label=label or part, value=_choose(evidence, f"{base}.choices", value, part))
            for part, value in record.items()
            if value is not None and value != "" and value != []
            for base in (f"{name}.fields.{part}",)
            for label in (_of_parameter(evidence, f"{base}.label"),)
        ]
        yield say("done.record", parts=parts)


CONDITIONS = frozenset({"where", "part"})
"""Parts of a question that hold a condition as people write it."""


def _choose(evidence: PublicEvidence, choices: str, value: Any, part: str) -> Label:
    """Write a part of a record: a choice by its name, a condition in the words of every language."""
    if isinstance(value, bool):
        return say(f"words.{'yes' if value else 'no'}")
    if part in CONDITIONS and isinstance(value, str):
        with suppress(InputRefused):  # as it stands in evidence that somebody edited
            return say_condition(parse(value))
    named = _of_parameter(evidence, f"{choices}.{value}") if isinstance(value, str) else None
    return named or _plain(value)


def _plain(value: Any) -> Label:
    """Write a setting in one line; a condition in the words of every language."""
    return say_condition(_condition(value)) if _is_condition(value) else _flat(value)


def _is_condition(value: Any) -> bool:
    return isinstance(value, Mapping) and {"column", "is"} <= set(value)


def _flat(value: Any) -> str:
    """Write a nested setting in one line: names and values of a record, items of a list."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_flat(item)}" for name, item in value.items() if item is not None)
    if isinstance(value, list | tuple):
        return " · ".join(_flat(item) for item in value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return texts.number(value) if is_number else str(value)


def _condition(value: Mapping[str, Any]) -> Condition:
    """Return a condition on one column as it is wherever conditions are texts."""
    holds, column = str(value["is"]), str(value["column"])
    ends = [value[name] for name in ("value", "minimum", "maximum") if value.get(name) is not None]
    values = tuple(str(one) for one in (*(value.get("values") or ()), *ends))
    if holds.startswith("not_"):
        return Not(Comparison(column, holds.removeprefix("not_"), values))
    return Comparison(column, holds.replace("_", " "), values)


def _step(step: Mapping[str, Any]) -> Cell:
    """Name a step of the preparation."""
    named = f"report.done.steps.{step.get('step')}"
    return Text(named) if texts.has(named) else str(step.get("step", ""))


def _preparation(evidence: PublicEvidence) -> tuple[Part, ...]:
    steps = evidence.decided.get("preparation", ())
    if not steps:
        return ()
    rows = tuple((_step(step), step.get("column"), step.get("to")) for step in steps)
    headings = (say("done.step"), say("done.column"), say("done.becomes"))
    return (TableView(say("done.preparation"), headings, rows),)


def _name(column: Mapping[str, Any]) -> Cell:
    """Write which column it is: of which table, where that is not the main one, and what was declared."""
    named = named_with_meaning(column)
    source = column.get("source")
    return say("columns.of_source", column=named, source=source) if source else named


def _columns(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Say of each column that was used how it was marked, and what was declared."""
    found = evidence.decided.get("columns", ())
    if not facts_of(evidence).read:  # what was received has columns of its own, and none of people
        found = [column for column in found if list(_settings_of(evidence, column))]
    if not found:
        return ()
    rows = tuple(
        (
            _name(column),
            say(f"roles.{column['role']}"),
            say(f"kinds_of_column.{column['kind']}"),
            _domain(column.get("domain"), column.get("labels", {})),
            say(f"origins.{column.get('domain_origin') or 'none'}"),
            _use(evidence, column),
        )
        for column in found
        if column["role"] != "person_key"
    )
    names = ("column", "role", "kind", "declared", "origin", "treatment")
    table = TableView("", tuple(say(f"columns.{name}") for name in names), rows)
    made_of = "model" if evidence.method["family"] == Family.MODEL else "numbers"
    what = "rows" if facts_of(evidence).rows else made_of
    intro: list[Part] = [Heading(say("columns.title")), say(f"columns.intro_{what}")]
    if any(column["role"] == "person_key" for column in found):
        intro.append(say("columns.key"))
    return (*intro, table)


def _listed(entry: CodeList, labels: Mapping[str, str]) -> Text:
    """Name a code list and what its codes mean: as the custodian says, else as the list does."""
    said: list[Label] = []
    for code in entry.codes:
        meaning = labels.get(code) or entry.say(code)
        is_plain = labels.get(code, entry.labels[code]) == code
        said.append(code if is_plain else say("columns.code", code=code, meaning=meaning))
    shown = say("words.list", all=said[:MOST_VALUES])
    more = say("columns.more_values", values=shown, count=len(said)) if len(said) > MOST_VALUES else shown
    return say("columns.code_list", name=entry.named(), values=more)


def _domain(domain: Mapping[str, Any] | None, labels: Mapping[str, str]) -> Cell:
    """Write what is declared about the values of a column; a value with its label, where it has one."""
    if not domain:
        return None
    if domain.get("values") is not None:
        values = [f"{value} = {labels[value]}" if value in labels else value for value in domain["values"]]
        shown = " · ".join(values[:MOST_VALUES])
        many = len(values) > MOST_VALUES
        return say("columns.more_values", values=shown, count=len(values)) if many else shown
    if domain.get("code_list"):
        entry = code_lists().get(str(domain["code_list"]))
        return str(domain["code_list"]) if entry is None else _listed(entry, labels)
    low, high = (_bind(domain.get(name)) for name in ("minimum", "maximum"))
    if domain.get("step") is not None:
        return say("columns.range_step", low=low, high=high, step=_bind(domain["step"]))
    return say("columns.range", low=low, high=high)


def _bind(value: Any) -> str:
    """Return a bound; years and other short whole numbers stand without a separator."""
    try:
        found = exactly(value)
    except ValueError:
        return str(value)
    if found is None:
        return "–"
    return str(found) if isinstance(found, int) and abs(found) < 10_000 else texts.number(found)


def _use(evidence: PublicEvidence, column: Mapping[str, Any]) -> Cell:
    """Say in which settings of the method a column is named."""
    labels = list(_settings_of(evidence, column))
    return say("words.list", all=labels) if labels else say("columns.described")


def _settings_of(evidence: PublicEvidence, column: Mapping[str, Any]) -> Iterator[Label]:
    """Give the settings that name a column."""
    for name, value in evidence.decided.get("parameters", {}).items():
        if column["name"] in _mention(value):
            yield _of_parameter(evidence, f"{name}.label") or name


def _mention(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for item in inner:
        yield from _mention(item)


def _dictionary(entry: Mapping[str, Any], evidence: PublicEvidence) -> tuple[Part, ...]:
    title = say("done.dictionary", file=str(entry["file"]))
    if "columns" not in entry:
        return (KeyValues("", (Row(str(entry["file"]), _meant(entry)),)),)
    rows = tuple((str(line["name"]), _meant(line), _unit(line)) for line in entry["columns"])
    return (TableView(title, tuple(say(f"done.{name}") for name in ("column", "meaning", "unit")), rows),)


def _unit(line: Mapping[str, Any]) -> Text | None:
    return say("words.unit", unit=str(line["unit"])) if line.get("unit") else None


def _meant(line: Mapping[str, Any]) -> Label:
    """Return what a file or column is; where the papers have several languages, in each of them."""
    says = from_json(line.get("says"))
    return says if isinstance(says, Text) else str(line.get("meaning", ""))


def _forecast(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Return the forecast tables whose rows differ; drawings of them say nothing more."""
    tables = [view for view in evidence.forecast if isinstance(view, TableView)]
    differ = [table for table in tables if len({row[2:] for row in table.rows}) > 1]
    if not differ:
        return ()
    told: tuple[Part, ...] = (say("done.forecast_intro"), *(compact(table) for table in differ))
    return (Folded(say("done.forecast"), told, say("done.forecast_elsewhere")),)
