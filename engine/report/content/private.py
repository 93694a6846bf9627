"""The chapters that stay: made from private rows, or about the custodian's own affairs."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from engine import texts
from engine.evidence import InternalEvidence
from engine.numbers import exact, exactly
from engine.pricing.beyond import beyond
from engine.privacy.promise import Promise, Unit
from engine.report.content.price import money, price_values, stated
from engine.report.content.results import print_view
from engine.report.content.shared import moment, say, stated_or_not, three
from engine.report.document import Bullets, Callout, Heading, KeyValues, Numbers, Part, Row
from engine.risk.thresholds import CONTROLS, MOTIVES
from engine.texts import plainly
from engine.utility.sampled import percent
from engine.views import BarsView, Cell, Label, NumberView, TableView, Text

# The label


def register_rows(private: InternalEvidence, *, paid: bool) -> tuple[Row, ...]:
    """Return the register and, for a release that pays, what it has spent and has left."""
    holding = private.holding
    if not holding:
        return ()
    rows = [Row(say("cover.holding" if paid else "cover.entered"), str(holding["name"]))]
    if not paid or holding.get("epsilon") is None:
        return tuple(rows)
    total, spent = exactly(holding["epsilon"]) or 0, exactly(holding["epsilon_spent"]) or 0
    values = {
        "spent": plainly(float(spent), up=True),
        "total": total,
        "left": plainly(max(float(total) - float(spent), 0.0), down=True),
        "delta": exactly(holding["delta"]),
        "releases": int(holding.get("releases", 1)),
    }
    line = say("cover.left_delta" if values["delta"] else "cover.left_value", **values)
    return (*rows, Row(say("cover.left"), line, three("left", **values)))


def assumption(private: InternalEvidence) -> tuple[Row, ...]:
    """Return the money behind the decision in one line, for the label."""
    price = private.price
    if not price:
        return ()
    constants = price["constants"]
    line = say(
        "cover.money_value",
        people=constants["people"],
        compensation=stated(private, "compensation"),
        c=exactly(constants["curvature"]),
        epsilon=price["epsilon"],
        budget=money(private, price["budget"]),
    )
    return (Row(say("cover.money"), line, three("budget", **price_values(private))),)


def threshold(private: InternalEvidence, promise: Promise) -> tuple[Row, ...]:
    """Return the group sizes before the release in one line, for the label."""
    sizes = private.group_sizes
    if not sizes or "alone" not in sizes:
        return ()
    values = {"alone": int(sizes["alone"]), "people": int(sizes["people"])}
    whose = "groups_value" if promise.unit is Unit.PERSON else "groups_value_row"
    return (Row(say("cover.groups"), say(f"cover.{whose}", **values)),)


def warnings(private: InternalEvidence) -> tuple[Part, ...]:
    """Warn of what an attack read, and where the register's total no longer bounds all that has left."""
    found = private.inside.get("sentence")
    parts = [Callout(Text(found["id"], found["values"]), care=True)] if found else []
    if private.holding and not private.holding.get("bounds_all", True):
        parts.append(Callout(say("cover.unbounded"), care=True))
    return tuple(parts)


def describe_measures(private: InternalEvidence) -> tuple[Part, ...]:
    """Return what measures computed from private rows: how far the release is from the truth."""
    numbers = tuple(view for view in private.views if isinstance(view, NumberView))
    heading = say("results.inside" if private.input.get("file") else "results.inside_plain")
    parts: list[Part] = [Heading(heading)] if private.views else []
    parts += [Numbers(numbers)] if numbers else []
    for view in private.views:
        parts += print_view(view, "words.shortened_inside")
    return tuple(parts)


# The table before the release


def table_before(private: InternalEvidence, *, of: str) -> tuple[Part, ...]:
    """Return what was read, how many rows were used, and who was alone before the release."""
    others = private.input.get("others", {})
    read = [_read(name, one) for name, one in others.items()]
    first: list[Part] = [_read("", private.input)] if private.input.get("file") else []
    if sample := private.plan.get("sample"):
        first.append(say("table.sample", share=percent(exact(sample))))
    return (*first, *read, *_findings(private), *_group_sizes(private, of))


def _read(title: str, one: Mapping[str, Any]) -> KeyValues:
    rows = [Row(say("table.file"), str(one["file"]), code=True)]
    for name in ("rows", "rows_used", "people", "rows_without_key"):
        if name in one:
            rows.append(Row(say(f"table.{name}"), int(one[name]), three(name)))
    engine, address = (str(one.get(name, "")) for name in ("engine", "address"))
    if "held" in one:
        rows.append(Row(say("table.held"), say(f"table.held_{one['held']}", engine=engine, address=address)))
    rows.append(Row(say("table.sha256"), str(one["sha256"]), code=True))
    return KeyValues(title, tuple(rows))


def _findings(private: InternalEvidence) -> tuple[Part, ...]:
    file = str(private.input.get("file", ""))
    found = (_finding(finding, file) for finding in private.findings)
    sentences = tuple(text for text in found if text is not None)
    return (Heading(say("table.findings")), Bullets(sentences)) if sentences else ()


def _finding(finding: Mapping[str, Any], file: str) -> Text | None:
    text_id = f"errors.{finding['code']}.what"
    if not texts.has(text_id):
        return None
    return Text(text_id, {"file": file, "column": "", **finding, "rows": list(finding.get("rows", ()))})


def _group_sizes(private: InternalEvidence, of: str) -> tuple[Part, ...]:
    sizes = private.group_sizes
    if not sizes or "alone" not in sizes:
        return ()
    values = {"alone": int(sizes["alone"]), "people": int(sizes["people"])}
    rows: list[Row] = [Row(say(f"groups.alone{of}"), values["alone"], three(f"alone{of}", **values))]
    for size, count in sizes.get("under", {}).items():
        rows.append(Row(say("groups.under", size=int(size)), int(count), three(f"under{of}")))
    purpose = private.plan.get("purpose", {})
    for name, known in (("motive", MOTIVES), ("control", CONTROLS)):
        answer = str(purpose.get(name, "")).strip()
        if answer:
            rows.append(
                Row(say(f"groups.{name}"), say(f"groups.{name}_{answer}") if answer in known else answer)
            )
    rows.append(
        Row(say("groups.threshold"), stated_or_not(purpose, "threshold"), note=say("groups.thresholds"))
    )
    parts: list[Part] = [
        Heading(say("groups.title")),
        say(f"groups.intro{of}", columns=list(sizes.get("columns", ()))),
        KeyValues("", tuple(rows)),
    ]
    causes = {str(name): float(count) for name, count in sizes.get("because_of", {}).items()}
    if any(causes.values()):
        note = say(f"groups.causes_note{of}")
        labels, counts = tuple(causes), tuple(causes.values())
        unit = say(f"groups.people{of}")
        parts.append(BarsView(say(f"groups.causes{of}"), labels, counts, unit, note=note))
    return tuple(parts)


# Decisions


def decisions(private: InternalEvidence, released: Container[str]) -> tuple[Part, ...]:
    """Return why the release was made, and what was decided against a warning, recorded or not.

    ``released`` are the columns that leave: a reason for another one decided nothing.
    """
    every = [one for one in private.plan.get("decisions", ()) if one.get("decision") == "names_people"]
    named = [one for one in every if one.get("column") in released]
    recorded = {str(one.get("decision", "")): one for one in private.plan.get("decisions", ())}
    rows: list[tuple[Cell, ...]] = []
    for name, found in against(private).items():
        one = recorded.pop(name, {})
        at = str(one.get("at", ""))
        reason = str(one.get("reason", ""))
        rows.append((found, reason or say("decisions.no_reason"), moment(at) if at else None))
    for one in (*(one for one in recorded.values() if one not in every), *named):
        at = str(one.get("at", one.get("time", "")))
        said: Label = _decision(_as_taken(one, private.plan), str(one.get("column", "")))
        if one.get("ahead"):  # nobody was asked: whether it was taken, the plan does not tell
            said = say("decisions.ahead", decision=said)
        rows.append(
            (
                said,
                str(one.get("reason", "")) or None,
                moment(at) if at else None,
            )
        )
    parts: list[Part] = []
    reason = str(private.plan.get("purpose", {}).get("reason", ""))
    if reason:
        parts.append(KeyValues("", (Row(say("decisions.purpose"), reason),)))
    if private.price and not against(private) and private.price["constants"].get("budget") is not None:
        parts.append(say("decisions.within"))
    if not rows:
        parts.append(say("decisions.none"))
    if rows:
        names = ("decision", "reason", "when")
        parts.append(TableView("", tuple(say(f"decisions.{name}") for name in names), tuple(rows)))
    return tuple(parts)


def against(private: InternalEvidence) -> dict[str, Text]:
    """Return what the release goes beyond, of what the custodian had stated: money, error, second model."""
    found = beyond(private.price)
    for values in found.values():
        values |= {name: money(private, values[name]) for name in ("price", "budget") if name in values}
        values |= {"lower": plainly(values["lower"], up=True)} if "lower" in values else {}
        values |= {"second": plainly(values["second"], down=True)} if "second" in values else {}
    return {name: say(f"decisions.{name}", **values) for name, values in found.items()}


def _as_taken(decision: Mapping[str, Any], plan: Mapping[str, Any]) -> str:
    """Return the name of a decision; another one where it was about settings that were changed since."""
    name = str(decision.get("decision", ""))
    settings = {part: decision[part] for part in ("method", "parameters") if part in decision}
    return name if all(plan.get(part) == value for part, value in settings.items()) else f"{name}_before"


def _decision(name: str, column: str) -> Text | str:
    named = f"{name}_column" if column and texts.has(say(f"decisions.kinds.{name}_column").id) else name
    text = say(f"decisions.kinds.{named}", column=column)
    return text if texts.has(text.id) else name
