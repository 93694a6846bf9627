"""The chapter on the price of the risk: about the custodian's own affairs, so that it stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from engine import texts
from engine.evidence import InternalEvidence
from engine.languages import Written
from engine.numbers import exact, exactly
from engine.pricing.anchors import CHECK
from engine.report.content.shared import day, say, three
from engine.report.document import Heading, KeyValues, Numbers, Part, Row
from engine.texts import plainly
from engine.views import Cell, CurveView, Label, Mark, NumberView, Series, TableView, Text

NO_LIMIT = 0.001  # below, a smallest ε says nothing
SMALL = 100  # below, an amount has hundredths
READINGS = ("exact", "exact_two_sided", "published")


def money(private: InternalEvidence, amount: float) -> Text:
    """Return an amount in the custodian's currency."""
    currency = str(private.price.get("constants", {}).get("currency", ""))
    return say("words.money", currency=currency, amount=in_units(amount))


def stated(private: InternalEvidence, name: str) -> Text:
    """Return an amount that the custodian stated, as it was stated: who works the price out again uses it."""
    constants = private.price["constants"]
    amount = float(exactly(constants[name]) or 0)
    return say("words.money", currency=str(constants["currency"]), amount=_whole_or(amount, amount))


def in_units(amount: float) -> float:
    """Return a modelled amount in whole units, a small one to the hundredth: 2.49 is neither 2 nor nothing.

    Examples
    --------
    >>> in_units(16917.6), in_units(2.494), in_units(3.0)
    (16918, 2.49, 3)
    """
    return round(amount) if abs(amount) >= SMALL else _whole_or(round(float(amount), 2), float(amount))


def _whole_or(shown: float, amount: float) -> float:
    return round(amount) if amount == round(amount) else shown


def chapter(private: InternalEvidence, *, bounded: bool = True) -> tuple[Part, ...]:
    """Return the formula with its constants and sources, what it gives, and how that moves.

    Where nothing bounds the loss there is nothing to price, whatever was stated.
    """
    if not private.price:
        return (say("price.none" if bounded else "price.none_unbounded"),)
    found, constants = private.price, private.price["constants"]
    values, currency = price_values(private), str(constants["currency"])
    numbers = [
        NumberView(say(f"price.{name}"), in_units(found[name]), three(name, **values), currency)
        for name in ("budget", "liability", "expected")
        if found.get(name) is not None
    ]
    if found.get("affordable") is not None:
        level = plainly(found["affordable"], down=True)
        numbers.append(NumberView(say("price.affordable"), level, three("affordable", **values)))
    parts: list[Part] = [say("price.intro"), Numbers(tuple(numbers)), *_window(found), _constants(private)]
    parts += [Heading(say("price.formula")), say("price.formula_text", **values)]
    if found.get("printed") is not None:
        parts.append(say("price.printed", amount=money(private, found["printed"])))
    if any(found.get(name) for name in READINGS):
        parts += [say("price.assumption"), _readings(private)]
    parts += [_sensitivity(private), *_doubt(private), _curve(private), *_second_model(private)]
    return (*parts, *_apart(private, constants))


def _window(found: Mapping[str, Any]) -> tuple[Part, ...]:
    """Say which levels the budget and the accuracy left, or which of the two had to give."""
    allowed = found.get("window")
    if allowed is None:
        return ()
    ends = {name: exactly(allowed[name]) for name in ("lower", "upper")}
    no_limit = found.get("affordable") is None and found["constants"].get("budget") is not None
    if allowed["reason"] is not None:
        return (say(f"price.window_{allowed['reason']}", **ends),)
    if ends["lower"] is not None and ends["lower"] < NO_LIMIT:
        ends["lower"] = None  # every level that anybody would choose is accurate enough
    if no_limit:
        ends["upper"] = None  # an end that the register sets, and not the money
    said = [name for name in ("lower", "upper") if ends[name] is not None]
    own = [say(f"price.window_{'_'.join(said)}", **ends)] if said else []
    return (*own, *([say("price.window_open")] if no_limit else []))


def _doubt(private: InternalEvidence) -> tuple[Part, ...]:
    """Say between which amounts the price lies when the constants are as uncertain as was declared."""
    band, constants = private.price.get("band"), private.price["constants"]
    if band is None:
        return ()
    steepness = _ends(constants, "curvature", factor=2)
    people, amounts = (_ends(constants, name) for name in ("people", "compensation"))
    values = {
        "c_low": plainly(steepness[0]),
        "c_high": plainly(steepness[1]),
        "people_low": round(people[0]),
        "people_high": round(people[1]),
        "compensation_low": money(private, amounts[0]),
        "compensation_high": money(private, amounts[1]),
        "lower": money(private, band["lower"]),
        "upper": money(private, band["upper"]),
    }
    alone = values["people_low"] == values["people_high"] and amounts[0] == amounts[1]
    return (say("price.band_c" if alone else "price.band", **values),)


def _ends(constants: Mapping[str, Any], name: str, *, factor: float = 1.0) -> tuple[float, float]:
    """Return what was said about an uncertain constant; by a factor where nothing was said."""
    central = float(exactly(constants[name]) or 0)
    low, high = (constants.get(f"{name}_{end}") for end in ("low", "high"))
    if low is None and high is None:
        return central / factor, central * factor
    return (
        central if low is None else float(exactly(low) or 0),
        central if high is None else float(exactly(high) or 0),
    )


def _second_model(private: InternalEvidence) -> tuple[Part, ...]:
    """Return the price by how much surer an attacker can become, and whether it decides otherwise."""
    found = private.price.get("posterior")
    if found is None:
        return ()
    prices = {name: money(private, found[name]) for name in ("price_presence", "price_value")}
    parts: list[Part] = [
        Heading(say("price.second_model")),
        say(
            f"price.second_model_{found['neighbours']}",
            prior=Written(f"{100 * found['prior']:.0f} %"),
            **prices,
        ),
    ]
    end = found.get("conclusion")
    if end is not None:
        first, second = (end[part] for part in ("epsilon", "epsilon_by_posterior"))
        name = "conclusion_changes" if end["changes"] else "conclusion_stays"
        name = "conclusion_open" if first is None and second is None else name
        parts.append(
            say(
                f"price.{name}",
                budget=money(private, end["budget"]),
                first=say("price.any_level") if first is None else plainly(first, down=True),
                second=say("price.any_level") if second is None else plainly(second, down=True),
                epsilon=private.price["epsilon"],
                verdict=say("price.within" if end["allowed"] else "price.above"),
            )
        )
    return tuple(parts)


def price_values(private: InternalEvidence) -> dict[str, Any]:
    constants = private.price["constants"]
    return {
        "people": constants["people"],
        "compensation": stated(private, "compensation"),
        "c": _steepness(constants),
        "minimum": stated(private, "minimum"),
        "epsilon": private.price["epsilon"],
    }


def _constants(private: InternalEvidence) -> KeyValues:
    constants = private.price["constants"]
    rows = [
        Row(say("price.people"), constants["people"], three("people_declared")),
        Row(
            say("price.compensation"),
            stated(private, "compensation"),
            three("compensation"),
            note=_precedent(private),
        ),
        Row(say("price.c"), _steepness(constants), three("c"), note=_origin_of_c(private)),
        Row(say("price.minimum"), stated(private, "minimum"), three("minimum")),
    ]
    if constants.get("budget") is not None:
        rows.append(Row(say("price.set_aside"), stated(private, "budget"), three("set_aside")))
    if constants.get("largest_error") is not None:
        rows.append(
            Row(say("price.largest_error"), exactly(constants["largest_error"]), three("largest_error"))
        )
    return KeyValues(say("price.constants"), tuple(rows))


def _steepness(constants: Mapping[str, Any]) -> float:
    return plainly(float(exactly(constants["curvature"]) or 0))


def _origin_of_c(private: InternalEvidence) -> Text:
    point = private.price.get("calibration")
    if point is None:
        return say("price.c_note")
    return say("price.calibrated", epsilon=exactly(point["epsilon"]), share=exactly(point["share"]))


def _precedent(private: InternalEvidence) -> Text | None:
    """Return where the amount comes from: the case with its year and the day on which its report was read."""
    found, written = private.price.get("anchor"), private.price["constants"].get("anchor")
    if found is None:
        return say("price.anchor", anchor=written) if written else None
    year = say("price.no_year") if found["year"] is None else str(found["year"])
    parts: dict[str, Label] = {"jurisdiction": str(found["jurisdiction"])}
    for name in ("case", "source"):
        parts[name] = texts.say_known(f"anchors.{found['name']}.{name}", str(found[name]))
    check = say("price.lawyer") if found["check"] == CHECK else found["check"]
    return say("price.precedent", year=year, read=day(str(found["read"])), check=check, **parts)


def _readings(private: InternalEvidence) -> TableView:
    """Return the cheapest place to read each bound: published, exact one- and two-sided, side by side."""
    rows: list[tuple[Cell, ...]] = []
    for name in READINGS:
        found = private.price.get(name)
        figures: tuple[Cell, ...] = (None, None, None)
        if found is not None:
            levels = (plainly(found["epsilon"]), plainly(found["confidence"]))
            figures = (*levels, in_units(found["budget"]))
        rows.append((say(f"price.reading_{name}"), *figures))
    currency = str(private.price["constants"]["currency"])
    names = ("reading", "epsilon", "confidence", "amount")
    headings = tuple(say(f"price.heading_{name}", currency=currency) for name in names)
    return TableView(say("price.readings"), headings, tuple(rows), say("price.readings_note"))


def _sensitivity(private: InternalEvidence) -> TableView:
    """Return how the price moves when a constant is halved or doubled and the others stay."""
    found = private.price
    now = in_units(found["budget"])
    linear = (in_units(found["budget"] / 2), now, in_units(found["budget"] * 2))
    rows: list[tuple[Cell, ...]] = [
        (say("price.c"), in_units(found["c_halved"]), now, in_units(found["c_doubled"])),
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
    from engine.pricing.cost import Cost, band

    constants, level = private.price["constants"], float(private.price["epsilon"])
    cost = Cost(
        int(constants["people"]),
        exact(constants["compensation"]),
        exact(constants["curvature"]),
        exact(constants["minimum"]),
    )
    levels = tuple(2 * level * step / 60 for step in range(1, 61))
    people, amounts = (_ends(constants, name) for name in ("people", "compensation"))
    doubt = band(
        cost,
        levels,
        c=_ends(constants, "curvature", factor=2),
        people=(round(people[0]), round(people[1])),
        compensation=amounts,
    )
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
        band=(
            Series(say("price.band_lower"), levels, tuple(map(float, doubt.lower))),
            Series(say("price.band_upper"), levels, tuple(map(float, doubt.upper))),
        ),
        note=say("price.curve_note"),
    )


def _apart(private: InternalEvidence, constants: Mapping[str, Any]) -> tuple[Part, ...]:
    rows = tuple(
        Row(say(f"price.{name}"), stated(private, name), three(name))
        for name in ("fine", "incident")
        if constants.get(name) is not None
    )
    return (KeyValues(say("price.apart"), rows), say("price.apart_note")) if rows else ()
