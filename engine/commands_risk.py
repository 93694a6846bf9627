"""The commands ``at-risk`` and ``price``: one question in; published, exact and certified answers out."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from engine.errors import InputRefused
from engine.privacy.at_risk.inputs import positive, whole
from engine.privacy.at_risk.mechanisms import MECHANISMS
from engine.privacy.at_risk.statement import state
from engine.privacy.price.cost import LARGEST_AMOUNT, Cost
from engine.privacy.price.statement import priced
from engine.texts import FALLBACK, number, text

_NAMES = ", ".join(name.replace("_", "-") for name in MECHANISMS)


def add_commands(subparsers: Any, common: argparse.ArgumentParser) -> None:
    """Add both commands to the parser of ``python -m engine``.

    Parameters
    ----------
    subparsers
        What ``ArgumentParser.add_subparsers()`` returned.
    common
        The arguments that every command has (``--json``, ``--language``).

    Notes
    -----
    Values stay text until the engine reads them: 0.6 then means six tenths, and a bad value is refused with
    the engine's own sentence.
    """
    at_risk = _command(subparsers, common, "at-risk", at_risk_command, at_risk_lines)
    for name in ("--epsilon0", "--epsilon", "--confidence"):
        at_risk.add_argument(name, metavar="NUMBER")
    price = _command(subparsers, common, "price", price_command, price_lines)
    price.add_argument("--people", required=True, metavar="NUMBER")
    price.add_argument("--compensation", required=True, metavar="AMOUNT")
    price.add_argument("--epsilon0", metavar="NUMBER")
    for name in ("--c", "--calibrate-epsilon", "--calibrate-share", "--max-error"):
        price.add_argument(name, metavar="NUMBER")
    for name in ("--minimum", "--budget"):
        price.add_argument(name, metavar="AMOUNT")
    price.add_argument("--printed-minimum", action="store_true")
    for parser in (at_risk, price):
        parser.add_argument("--mechanism", default="laplace", help=_NAMES)
        parser.add_argument("--scale", metavar="NUMBER")
        parser.add_argument("--dimensions", default="1", metavar="NUMBER")
        parser.add_argument("--sensitivity", default="1", metavar="NUMBER")
        parser.add_argument("--answers", default="2", metavar="NUMBER")


def _command(
    subparsers: Any,
    common: argparse.ArgumentParser,
    name: str,
    run: Callable[[argparse.Namespace], dict[str, Any]],
    lines: Callable[[Mapping[str, Any], str], list[str]],
) -> Any:
    words = text(f"commands.{name.replace('-', '_')}.help")
    parser = subparsers.add_parser(name, parents=[common], help=words, description=words)
    parser.set_defaults(command=lambda options: (run(options), 0), lines=lines)
    return parser


def at_risk_command(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the answer of ``at-risk`` as JSON values.

    Raises
    ------
    InputRefused
        Not exactly two of the three were given, or a value cannot be used.
    """
    return state(
        mechanism=arguments.mechanism,
        epsilon0=arguments.epsilon0,
        epsilon=arguments.epsilon,
        confidence=arguments.confidence,
        scale=arguments.scale,
        dimensions=arguments.dimensions,
        sensitivity=arguments.sensitivity,
        answers=arguments.answers,
    ).to_json()


def price_command(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the answer of ``price`` as JSON values.

    Raises
    ------
    InputRefused
        A value cannot be used.
    """
    found = priced(
        _cost(arguments),
        mechanism=arguments.mechanism,
        epsilon0=arguments.epsilon0,
        scale=arguments.scale,
        dimensions=arguments.dimensions,
        sensitivity=arguments.sensitivity,
        answers=arguments.answers,
        budget=arguments.budget,
        max_error=arguments.max_error,
    )
    return found.to_json()


def _cost(arguments: argparse.Namespace) -> Cost:
    at, accepted = arguments.calibrate_epsilon, arguments.calibrate_share
    calibrate = at is not None or accepted is not None
    if calibrate and (at is None or accepted is None or arguments.c is not None):
        raise InputRefused("price.calibrate_both")
    cost = Cost(
        people=whole(arguments.people, name="people", largest=10**11),
        compensation=_amount(arguments.compensation, "compensation"),
        c=Fraction(1) if arguments.c is None else positive(arguments.c, name="c"),
        minimum=_minimum(arguments.minimum),
        printed_minimum=arguments.printed_minimum,
    )
    return cost.calibrated(epsilon=at, share_of_liability=accepted) if calibrate else cost


def _amount(value: str, name: str) -> Fraction:
    return positive(value, name=name, largest=LARGEST_AMOUNT)


def _minimum(value: str | None) -> Fraction:
    if value is None or value.strip() in ("0", "0.0", "0.00"):
        return Fraction(0)
    return _amount(value, "minimum")


def at_risk_lines(answer: Mapping[str, Any], language: str = FALLBACK) -> list[str]:
    """Return the answer of ``at-risk`` as sentences.

    Examples
    --------
    >>> lines = at_risk_lines(state(epsilon0=1, epsilon=0.6).to_json())
    >>> lines[0]
    'Mechanism laplace at ε0 = 1: how sure can one be that the privacy loss stays within ε = 0.6?'
    """
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
    none = "commands.at_risk.no_published" if asked == "confidence" else None
    for row, value, more in rows:
        if (
            value is None
            and row == "published"
            and answer["mechanism"] not in ("laplace", "discrete-laplace")
        ):
            lines.append(text(none or "commands.at_risk.no_published", language=language))
            continue
        written = f"{_symbol(asked)} = {_written(value)}" if asked != "confidence" else _written(value)
        lines.append(text(f"commands.at_risk.{row}", language=language, value=written, **more))
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


def price_lines(answer: Mapping[str, Any], language: str = FALLBACK) -> list[str]:
    """Return the answer of ``price`` as sentences.

    Examples
    --------
    >>> found = priced(Cost(people=100, compensation=Fraction(5500)), epsilon0="0.5").to_json()
    >>> price_lines(found)[1]
    'Read at the privacy level of the mechanism itself, the price is 74,434.41.'
    """

    def line(name: str, **values: Any) -> str:
        return text(f"commands.price.{name}", language=language, **values)

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
    return lines


def _needed(found: Mapping[str, Any], language: str) -> str:
    for name in ("epsilon0_needed", "scale_needed"):
        if found[name] is not None:
            return text(f"commands.price.{name}", language=language, value=found[name])
    return ""


def _symbol(name: str) -> str:
    return {"epsilon": "ε", "epsilon0": "ε0", "scale": "scale", "confidence": "confidence"}[name]


def _written(value: float | None) -> str:
    return "∞" if value is None else number(value)


def _money(value: float) -> str:
    return f"{value:,.2f}"
