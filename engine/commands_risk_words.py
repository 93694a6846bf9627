"""Answers of ``at-risk`` and ``price`` as sentences, from the texts of the chosen language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.texts import FALLBACK, number, text


def at_risk_lines(answer: Mapping[str, Any], language: str = FALLBACK) -> list[str]:
    """Return the answer of ``at-risk`` as sentences.

    Examples
    --------
    >>> from engine.privacy.at_risk.statement import state
    >>> lines = at_risk_lines(state(epsilon0=1, epsilon=0.6).to_json())
    >>> lines[0]
    'Mechanism laplace at ε0 = 1: how sure can one be that the privacy loss stays within ε = 0.6?'
    """
    if "releases" in answer:
        return _joint_loss_lines(answer, language)
    asked = answer["asked"]
    given = {name: answer.get(name) for name in ("epsilon0", "scale", "epsilon", "confidence")}
    own = "epsilon0" if given["epsilon0"] is not None else "scale"
    values = {key: value for key, value in given.items() if value is not None}
    values |= {"mechanism": answer["mechanism"], "own": f"{_symbol(own)} = {_written(given[own])}"}
    lines = [text(f"commands.at_risk.asked_{asked}", language=language, **values)]
    exact, certified = answer["exact"], answer["certified"]
    rows = [
        ("published", answer["published"][asked], {"dimensions": answer["dimensions"]}),
        ("exact", exact[asked], {}),
        ("exact_two_sided", exact[f"{asked}_two_sided"], {}),
    ]
    for row, value, more in rows:
        if (
            value is None
            and row == "published"
            and answer["mechanism"] not in ("laplace", "discrete-laplace")
        ):
            lines.append(text("commands.at_risk.no_published", language=language))
            continue
        words = _written(value) if asked == "confidence" else f"{_symbol(asked)} = {_written(value)}"
        lines.append(text(f"commands.at_risk.{row}", language=language, value=words, **more))
    if asked == "confidence":
        delta = _written(certified["delta"])
        lines.append(
            text("commands.at_risk.certified", language=language, delta=delta, epsilon=given["epsilon"])
        )
    else:
        lines.append(
            text(
                "commands.at_risk.certified_level",
                language=language,
                delta=_written(certified["delta"]),
                value=f"{_symbol(asked)} = {_written(certified[asked])}",
            )
        )
    lines += [text(f"commands.at_risk.{warning}", language=language) for warning in answer["warnings"]]
    return lines


def _joint_loss_lines(answer: Mapping[str, Any], language: str) -> list[str]:
    def line(name: str, **values: Any) -> str:
        return text(f"commands.at_risk.{name}", language=language, **values)

    lines = [line("together", releases=", ".join(answer["releases"]), delta=_written(answer["delta"]))]
    for name in ("basic", "advanced", "published"):
        value = answer[name]["epsilon"]
        if value is not None:
            lines.append(line(f"together_{name}", epsilon=_written(value)))
    lines.append(line("together_certified", epsilon=_written(answer["certified"]["epsilon"])))
    if "epsilon" in answer:
        exact, certified = answer["exact"], answer["certified"]
        lines.append(
            line(
                "together_at",
                epsilon=_written(answer["epsilon"]),
                confidence=_written(exact["confidence"]),
                two_sided=_written(exact["confidence_two_sided"]),
                delta=_written(certified["delta"]),
            )
        )
    if answer["rounded"]:
        lines.append(line("together_rounded"))
    return lines


def price_lines(answer: Mapping[str, Any], language: str = FALLBACK) -> list[str]:
    """Return the answer of ``price`` as sentences.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from engine.pricing.cost import Cost
    >>> from engine.pricing.statement import priced
    >>> found = priced(Cost(people=100, compensation=Fraction(5500)), epsilon0="0.5").to_json()
    >>> price_lines(found)[1]
    'Read at the privacy level of the mechanism itself, the price is 74,434.41.'
    """

    def line(key: str, **values: Any) -> str:
        return text(f"commands.price.{key}", language=language, **values)

    if "anchors" in answer:
        return [line("anchor", **_anchor(anchor, line("no_year"))) for anchor in answer["anchors"]]
    if "together" in answer:
        return _joint_price_lines(answer["together"], line) + _other_amounts(answer["liabilities"], line)
    lines = [line("liability", amount=_money(answer["liability"]), c=answer["c"])]
    lines.append(line("budget", amount=_money(answer["exact"]["budget"])))
    for name in ("published", "exact", "exact_two_sided"):
        if answer[name] is None:
            continue
        reading = answer[name]["at_risk"]
        values = {key: _money(reading[key]) for key in ("budget", "saving")}
        lines.append(
            line(
                name,
                epsilon=_written(reading["epsilon"]),
                confidence=_written(reading["confidence"]),
                **values,
            )
        )
    lines.append(line("expected", amount=_money(answer["expected"])))
    lines.append(line("no_gain"))
    halved, doubled = answer["c_halved"]["epsilon"], answer["c_doubled"]["epsilon"]
    lines.append(line("c_moves", halved=_written(halved), doubled=_written(doubled)))
    found = answer["window"]
    if found is not None and found["empty"]:
        lines.append(
            line(
                f"window_{found['reason']}",
                cheapest=_money(found["cheapest"]),
                needed=_needed(found, language),
            )
        )
    elif found is not None:
        lines.append(line("window", lower=_written(found["lower"]), upper=_written(found["upper"])))
    return lines + _further_lines(answer, line)


def _further_lines(answer: Mapping[str, Any], line: Callable[..., str]) -> list[str]:
    lines = []
    if "band" in answer:
        lines.append(line("band", **{name: _money(value) for name, value in answer["band"].items()}))
    if "posterior" in answer:
        found = answer["posterior"]
        lines.append(
            line(
                f"posterior_{found['neighbours']}",
                prior=found["prior"],
                presence=_written(found["presence"]),
                value=_written(found["value"]),
            )
        )
        prices = {name: _money(found[name]) for name in ("price_presence", "price_value")}
        lines.append(line("second_model", **prices))
        if "conclusion" in found:
            end = found["conclusion"]
            name = "conclusion_changes" if end["changes"] else "conclusion_stays"
            lines.append(
                line(
                    name,
                    budget=_money(end["budget"]),
                    first=_written(end["epsilon"]),
                    second=_written(end["epsilon_by_posterior"]),
                )
            )
    if "division" in answer:
        values = {name: _written(value) for name, value in answer["division"].items()}
        lines.append(line("division", **values))
    return lines + _other_amounts(answer.get("liabilities", {}), line)


def _joint_price_lines(joint: Mapping[str, Any], line: Callable[..., str]) -> list[str]:
    lines = [
        line("together", epsilon=_written(joint["epsilon"]), amount=_money(joint["price"])),
        line(
            "together_certified",
            epsilon=_written(joint["epsilon_certified"]),
            delta=_written(joint["delta"]),
            amount=_money(joint["price_certified"]),
        ),
        line("expected", amount=_money(joint["expected"])),
    ]
    if joint["left"] is not None:
        lines.append(line("left" if joint["left"] >= 0 else "exceeded", amount=_money(abs(joint["left"]))))
    return lines


def _other_amounts(amounts: Mapping[str, float | None], line: Callable[..., str]) -> list[str]:
    """Fines and incident cost are named beside the price, never added to it."""
    given = ((name, amounts.get(name)) for name in ("fine", "incident"))
    return [line(name, amount=_money(amount)) for name, amount in given if amount is not None]


def _anchor(anchor: Mapping[str, Any], no_year: str) -> dict[str, str]:
    values = {name: str(anchor[name]) for name in ("name", "jurisdiction", "case", "source", "read", "check")}
    values["amount"] = "" if anchor["amount"] is None else f"{_money(anchor['amount'])} {anchor['currency']}"
    return values | {"year": no_year if anchor["year"] is None else str(anchor["year"])}


def _needed(found: Mapping[str, Any], language: str) -> str:
    for name in ("epsilon0_needed", "scale_needed"):
        if found[name] is not None:
            return text(f"commands.price.{name}", language=language, value=_written(found[name]))
    return ""


def _money(value: float) -> str:
    return f"{value:,.2f}"


def _symbol(name: str) -> str:
    return {"epsilon": "ε", "epsilon0": "ε0", "scale": "scale", "confidence": "confidence"}[name]


def _written(value: float | None) -> str:
    """Write a number for people; None stands for no limit."""
    return "∞" if value is None else number(value)
