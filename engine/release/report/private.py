"""The chapters that stay: made from private rows, or about the custodian's own affairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from engine import texts
from engine.release.evidence import InternalEvidence
from engine.release.report.chapters import exactly, say, three
from engine.release.report.document import Bullets, Heading, KeyValues, Numbers, Part, Row, Statement
from engine.release.report.words import plainly
from engine.views import BarsView, Cell, CurveView, Mark, NumberView, Series, TableView, Text

READINGS = ("published", "exact", "exact_two_sided")


def money(private: InternalEvidence, amount: float) -> Text:
    """Return an amount in the custodian's currency."""
    currency = str(private.price.get("constants", {}).get("currency", ""))
    return say("words.money", currency=currency, amount=round(float(amount), 2))


# The label


def left(private: InternalEvidence) -> tuple[Row, ...]:
    """Return what the register of people has spent and has left, for the label."""
    holding = private.holding
    if not holding:
        return ()
    total, spent = Fraction(str(holding["epsilon"])), Fraction(str(holding["epsilon_spent"]))
    values = {
        "spent": exactly(spent),
        "total": exactly(total),
        "left": exactly(max(total - spent, Fraction(0))),
        "releases": int(holding.get("releases", 1)),
    }
    return (
        Row(say("cover.holding"), str(holding["name"])),
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
    return (Row(say("cover.money"), line, three("budget", **_price_values(private))),)


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


# The price of the risk


def price(private: InternalEvidence) -> tuple[Part, ...]:
    """Return the formula with its constants and sources, what it gives, and how that moves."""
    if not private.price:
        return (say("price.none"),)
    found, constants = private.price, private.price["constants"]
    values, currency = _price_values(private), str(constants["currency"])
    numbers = [
        NumberView(say(f"price.{name}"), round(found[name]), three(name, **values), currency)
        for name in ("budget", "liability", "expected")
    ]
    if found.get("affordable") is not None:
        level = plainly(found["affordable"])
        numbers.append(NumberView(say("price.affordable"), level, three("affordable", **values)))
    parts: list[Part] = [say("price.intro"), Numbers(tuple(numbers)), _constants(private)]
    parts += [Heading(say("price.formula")), say("price.formula_text", **values), say("price.assumption")]
    parts += [_readings(private), say("price.reading_is_no_gain"), _sensitivity(private), _curve(private)]
    return (*parts, *_apart(private, constants))


def _price_values(private: InternalEvidence) -> dict[str, Any]:
    constants = private.price["constants"]
    return {
        "people": constants["people"],
        "compensation": money(private, exactly(constants["compensation"]) or 0),
        "c": exactly(constants["curvature"]),
        "minimum": money(private, exactly(constants["minimum"]) or 0),
        "epsilon": private.price["epsilon"],
    }


def _constants(private: InternalEvidence) -> KeyValues:
    constants = private.price["constants"]
    rows = [
        Row(say("price.people"), constants["people"], three("people_declared")),
        Row(
            say("price.compensation"),
            money(private, exactly(constants["compensation"]) or 0),
            three("compensation"),
            note=say("price.anchor", anchor=constants["anchor"]) if constants.get("anchor") else None,
        ),
        Row(say("price.c"), exactly(constants["curvature"]), three("c"), note=say("price.c_note")),
        Row(say("price.minimum"), money(private, exactly(constants["minimum"]) or 0), three("minimum")),
    ]
    if constants.get("budget") is not None:
        rows.append(
            Row(say("price.set_aside"), money(private, exactly(constants["budget"]) or 0), three("set_aside"))
        )
    if constants.get("largest_error") is not None:
        rows.append(
            Row(say("price.largest_error"), exactly(constants["largest_error"]), three("largest_error"))
        )
    return KeyValues(say("price.constants"), tuple(rows))


def _readings(private: InternalEvidence) -> TableView:
    """Return the cheapest place to read each bound: published, exact one- and two-sided, side by side."""
    rows: list[tuple[Cell, ...]] = []
    for name in READINGS:
        found = private.price.get(name)
        figures: tuple[Cell, ...] = (None, None, None, None)
        if found is not None:
            levels = (plainly(found["epsilon"]), plainly(found["confidence"]))
            figures = (*levels, round(found["budget"]), round(found["saving"]))
        rows.append((say(f"price.reading_{name}"), *figures))
    currency = str(private.price["constants"]["currency"])
    names = ("reading", "epsilon", "confidence", "amount", "saving")
    headings = tuple(say(f"price.heading_{name}", currency=currency) for name in names)
    return TableView(say("price.readings"), headings, tuple(rows), say("price.readings_note"))


def _sensitivity(private: InternalEvidence) -> TableView:
    """Return how the price moves when a constant is halved or doubled and the others stay."""
    found = private.price
    now = round(found["budget"])
    linear = (round(found["budget"] / 2), now, round(found["budget"] * 2))
    rows: list[tuple[Cell, ...]] = [
        (say("price.c"), round(found["c_halved"]), now, round(found["c_doubled"])),
        (say("price.people"), *linear),
    ]
    if not exactly(found["constants"]["minimum"]):
        rows.append((say("price.compensation"), *linear))
    currency = str(found["constants"]["currency"])
    names = ("constant", "halved", "now", "doubled")
    headings = tuple(say(f"price.heading_{name}", currency=currency) for name in names)
    return TableView(say("price.sensitivity"), headings, tuple(rows), say("price.sensitivity_note"))


def _curve(private: InternalEvidence) -> CurveView:
    """Draw the price over ε for the declared steepness, its half and its double."""
    from engine.privacy.price.cost import Cost

    constants, level = private.price["constants"], float(private.price["epsilon"])
    cost = Cost(
        int(constants["people"]),
        Fraction(str(constants["compensation"])),
        Fraction(str(constants["curvature"])),
        Fraction(str(constants["minimum"])),
    )
    levels = tuple(2 * level * step / 60 for step in range(1, 61))
    lines = ((Fraction(1, 2), "dashed"), (Fraction(1), "accent"), (Fraction(2), "dotted"))
    series = tuple(
        Series(
            say("price.line", c=plainly(float(cost.c * factor))),
            levels,
            tuple(float(value) for value in replace(cost, c=cost.c * factor).curve(levels)),
            style,
        )
        for factor, style in lines
    )
    return CurveView(
        say("price.curve"),
        say("guarantee.epsilon"),
        say("price.heading_amount", currency=str(constants["currency"])),
        series,
        (Mark(level, cost.at(level), say("price.this_release")),),
        note=say("price.curve_note"),
    )


def _apart(private: InternalEvidence, constants: Mapping[str, Any]) -> tuple[Part, ...]:
    rows = tuple(
        Row(say(f"price.{name}"), money(private, exactly(constants[name]) or 0), three(name))
        for name in ("fine", "incident")
        if constants.get(name) is not None
    )
    return (KeyValues(say("price.apart"), rows), say("price.apart_note")) if rows else ()


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
