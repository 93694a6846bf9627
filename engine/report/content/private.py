"""The chapters that stay: made from private rows, or about the custodian's own affairs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from engine import texts
from engine.release.evidence import InternalEvidence
from engine.report.content.chapters import exactly, say, three
from engine.report.content.price import money, price_values
from engine.report.document import Bullets, Heading, KeyValues, Part, Row, Statement
from engine.views import BarsView, TableView, Text

# The label


def left(private: InternalEvidence) -> tuple[Row, ...]:
    """Return what the register of people has spent and has left, for the label."""
    holding = private.holding
    if not holding:
        return ()
    named = Row(say("cover.holding"), str(holding["name"]))
    if holding["epsilon"] is None:  # a register without a budget
        return (named,)
    total, spent = Fraction(str(holding["epsilon"])), Fraction(str(holding["epsilon_spent"]))
    values = {
        "spent": exactly(spent),
        "total": exactly(total),
        "left": exactly(max(total - spent, Fraction(0))),
        "releases": int(holding.get("releases", 1)),
    }
    return (
        named,
        Row(say("cover.left"), say("cover.left_value", **values), three("left", **values)),
    )


def assumption(private: InternalEvidence) -> tuple[Row, ...]:
    """Return the money behind the decision in one line, for the label."""
    price = private.price
    if not price:
        return ()
    constants = price["constants"]
    line = say(
        "cover.money_value",
        people=constants["people"],
        compensation=money(private, exactly(constants["compensation"]) or 0),
        c=exactly(constants["curvature"]),
        budget=money(private, price["budget"]),
    )
    return (Row(say("cover.money"), line, three("budget", **price_values(private))),)


def threshold(private: InternalEvidence) -> tuple[Row, ...]:
    """Return the group sizes before the release in one line, for the label."""
    sizes = private.group_sizes
    if not sizes or "alone" not in sizes:
        return ()
    values = {"alone": int(sizes["alone"]), "people": int(sizes["people"])}
    return (Row(say("cover.groups"), say("cover.groups_value", **values), three("alone", **values)),)


def warnings(private: InternalEvidence) -> tuple[Part, ...]:
    """Warn where the total of the register no longer bounds all that has left."""
    if private.holding and not private.holding.get("bounds_all", True):
        return (Statement(say("cover.unbounded"), care=True),)
    return ()


# The table before the release


def table_before(private: InternalEvidence) -> tuple[Part, ...]:
    """Return what was read, how many rows were used, and who was alone before the release."""
    rows = [Row(say("table.file"), str(private.input.get("file", "")), code=True)]
    for name in ("rows", "rows_used", "people", "rows_without_key"):
        if name in private.input:
            rows.append(Row(say(f"table.{name}"), int(private.input[name]), three(name)))
    if private.input.get("sha256"):
        rows.append(Row(say("table.sha256"), str(private.input["sha256"]), code=True))
    parts: list[Part] = [Heading(say("table.title")), KeyValues("", tuple(rows))]
    return (*parts, *_findings(private), *_group_sizes(private.group_sizes))


def _findings(private: InternalEvidence) -> tuple[Part, ...]:
    sentences = tuple(
        text
        for finding in private.findings
        if (text := _finding(finding, str(private.input.get("file", ""))))
    )
    return (Heading(say("table.findings")), Bullets(sentences)) if sentences else ()


def _finding(finding: Mapping[str, Any], file: str) -> Text | None:
    text_id = f"errors.{finding['code']}.what"
    if not texts.has(text_id):
        return None
    rows = ", ".join(texts.number(row) for row in finding.get("rows", ()))
    return Text(text_id, {"file": file, "column": "", **finding, "rows": rows})


def _group_sizes(sizes: Mapping[str, Any]) -> tuple[Part, ...]:
    if not sizes or "alone" not in sizes:
        return ()
    people = int(sizes["people"])
    rows: list[Row] = [
        Row(
            say("groups.alone"), int(sizes["alone"]), three("alone", alone=int(sizes["alone"]), people=people)
        )
    ]
    for size, count in sizes.get("under", {}).items():
        rows.append(Row(say("groups.under", size=int(size)), int(count), three("under")))
    parts: list[Part] = [
        Heading(say("groups.title")),
        say("groups.intro", columns=list(sizes.get("columns", ()))),
        KeyValues("", tuple(rows)),
    ]
    causes = {str(name): float(count) for name, count in sizes.get("because_of", {}).items()}
    if any(causes.values()):
        labels, values = tuple(causes), tuple(causes.values())
        parts.append(
            BarsView(
                say("groups.causes"), labels, values, say("groups.people"), note=say("groups.causes_note")
            )
        )
    return tuple(parts)


# Decisions


def decisions(private: InternalEvidence) -> tuple[Part, ...]:
    """Return what the custodian decided against a warning or a default, with the reasons."""
    rows = tuple(
        (
            _decision(str(one.get("decision", ""))),
            str(one.get("reason", "")) or None,
            str(one.get("at", one.get("time", ""))) or None,
        )
        for one in private.plan.get("decisions", ())
    )
    reason = str(private.plan.get("purpose", {}).get("reason", ""))
    parts: list[Part] = []
    if reason:
        parts.append(KeyValues("", (Row(say("decisions.purpose"), reason),)))
    if not rows:
        return (*parts, say("decisions.none"))
    names = ("decision", "reason", "when")
    table = TableView("", tuple(say(f"decisions.{name}") for name in names), rows)
    return (*parts, say("decisions.intro"), table)


def _decision(name: str) -> Text | str:
    text = say(f"decisions.kinds.{name}")
    return text if texts.has(text.id) else name
