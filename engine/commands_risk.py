"""The commands ``at-risk`` and ``price``: one question in; published, exact and certified answers out."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from engine.commands_risk_words import at_risk_lines, price_lines
from engine.commands_sampled import add_options, asks_about_pairs, pairs_command
from engine.commands_sampled_words import sampled_lines
from engine.errors import InputRefused
from engine.pricing.anchors import Anchor, Anchors, read_anchors
from engine.pricing.cost import LARGEST_AMOUNT, Cost, Liability
from engine.pricing.releases import divide, together
from engine.pricing.statement import Priced, priced
from engine.pricing.trees import (
    band_to_json,
    liability_to_json,
    posterior_to_json,
    shares_to_json,
    together_to_json,
)
from engine.privacy.at_risk.inputs import positive, whole
from engine.privacy.at_risk.mechanisms import MECHANISMS
from engine.privacy.at_risk.several import read_releases, state_together
from engine.privacy.at_risk.statement import state
from engine.texts import text

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
    at_risk = _command(subparsers, common, "at-risk", at_risk_command, _at_risk_lines)
    for name in ("--epsilon0", "--epsilon", "--confidence", "--delta"):
        at_risk.add_argument(name, metavar="NUMBER")
    at_risk.add_argument("--release", action="append", metavar="MECHANISM:LEVEL[:COUNT]")
    add_options(at_risk)
    price = _command(subparsers, common, "price", price_command, price_lines)
    price.add_argument("--epsilon0", metavar="NUMBER")
    for name in ("--people", "--c", "--calibrate-epsilon", "--calibrate-share", "--max-error"):
        price.add_argument(name, metavar="NUMBER")
    for name in ("--compensation", "--minimum", "--budget", "--fine", "--incident"):
        price.add_argument(name, metavar="AMOUNT")
    price.add_argument("--printed-minimum", action="store_true")
    for name in ("--c-range", "--people-range", "--compensation-range"):
        price.add_argument(name, nargs=2, metavar=("LOW", "HIGH"))
    price.add_argument("--prior", metavar="NUMBER", help=text("commands.price.help_prior"))
    price.add_argument("--neighbours", default="add_remove", choices=("add_remove", "replace_one"))
    price.add_argument("--release", action="append", metavar="MECHANISM:LEVEL[:COUNT]")
    price.add_argument("--releases", metavar="NUMBER", help=text("commands.price.help_releases"))
    price.add_argument("--delta", default="1e-6", metavar="NUMBER")
    price.add_argument("--anchor", metavar="NAME", help=text("commands.price.help_anchor"))
    price.add_argument("--anchors", action="store_true", help=text("commands.price.help_anchors"))
    price.add_argument("--anchors-file", metavar="FILE.toml")
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
    if asks_about_pairs(arguments):
        return pairs_command(arguments)
    if arguments.release:
        if any(value is not None for value in (arguments.epsilon0, arguments.confidence, arguments.scale)):
            raise InputRefused("at_risk.release_or_level")
        found = [read_releases(written) for written in arguments.release]
        together = state_together(found, delta=arguments.delta or "1e-6", epsilon=arguments.epsilon)
        return {"releases": arguments.release} | together.to_json()
    if arguments.delta is not None:
        raise InputRefused("at_risk.delta_alone")
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


def _at_risk_lines(answer: Mapping[str, Any], language: str) -> list[str]:
    about_pairs = "pairs" in answer
    return sampled_lines(answer, language) if about_pairs else at_risk_lines(answer, language)


def price_command(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the answer of ``price`` as JSON values.

    Raises
    ------
    InputRefused
        A value cannot be used.
    """
    anchors = read_anchors(None if arguments.anchors_file is None else _existing(arguments.anchors_file))
    if arguments.anchors:
        return {"anchors": [_anchor_to_json(anchor) for anchor in anchors.anchors]}
    cost = _cost(arguments, anchors)
    liability = Liability(
        cost.compensation, _optional(arguments.fine, "fine"), _optional(arguments.incident, "incident")
    )
    tree: dict[str, Any] = {}
    if arguments.release:
        if arguments.epsilon0 is not None or arguments.scale is not None:
            raise InputRefused("at_risk.release_or_level")
        named = [read_releases(written) for written in arguments.release]
        joint = together(
            cost, [(x.loss, x.count) for x in named], delta=arguments.delta, budget=arguments.budget
        )
        tree["together"] = together_to_json(joint)
    else:
        found = priced(
            cost,
            mechanism=arguments.mechanism,
            epsilon0=arguments.epsilon0,
            scale=arguments.scale,
            dimensions=arguments.dimensions,
            sensitivity=arguments.sensitivity,
            answers=arguments.answers,
            budget=arguments.budget,
            max_error=arguments.max_error,
        )
        tree |= found.to_json() | _more(cost, found, arguments)
    return tree | {"liabilities": liability_to_json(liability)}


def _more(cost: Cost, found: Priced, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what was asked for beyond the price of one release: band, second model, division."""
    tree: dict[str, Any] = {}
    ranges = (arguments.c_range, arguments.people_range, arguments.compensation_range)
    if any(ranges):
        tree["band"] = band_to_json(cost, found.epsilon0, *(None if x is None else tuple(x) for x in ranges))
    if arguments.prior is not None:
        tree["posterior"] = posterior_to_json(
            cost, found.epsilon0, arguments.prior, neighbours=arguments.neighbours, budget=arguments.budget
        )
    if arguments.releases is not None:
        if arguments.budget is None:
            raise InputRefused("price.releases_need_budget")
        shares = divide(cost, budget=arguments.budget, releases=arguments.releases, delta=arguments.delta)
        tree["division"] = shares_to_json(shares)
    return tree


def _cost(arguments: argparse.Namespace, anchors: Anchors) -> Cost:
    at, accepted = arguments.calibrate_epsilon, arguments.calibrate_share
    calibrate = at is not None or accepted is not None
    if calibrate and (at is None or accepted is None or arguments.c is not None):
        raise InputRefused("price.calibrate_both")
    if arguments.people is None or (arguments.compensation is None) == (arguments.anchor is None):
        raise InputRefused("price.people_and_compensation")
    if arguments.anchor is None:
        amount = _amount(arguments.compensation, "compensation")
    else:
        anchor = anchors.named(arguments.anchor)
        if anchor.quantity != "compensation" or anchor.amount is None:
            raise InputRefused("price.anchor_quantity", found=anchor.name, quantity=anchor.quantity)
        amount = anchor.amount
    cost = Cost(
        people=whole(arguments.people, name="people", largest=10**11),
        compensation=amount,
        c=Fraction(1) if arguments.c is None else positive(arguments.c, name="c"),
        minimum=_minimum(arguments.minimum),
        printed_minimum=arguments.printed_minimum,
    )
    return cost.calibrated(epsilon=at, share_of_liability=accepted) if calibrate else cost


def _optional(value: str | None, name: str) -> Fraction | None:
    return None if value is None else _amount(value, name)


def _existing(name: str) -> Path:
    path = Path(name)
    if not path.is_file():
        raise InputRefused("price.anchors_missing", file=path.name)
    return path


def _anchor_to_json(anchor: Anchor) -> dict[str, Any]:
    tree = asdict(anchor)
    tree["amount"] = None if anchor.amount is None else float(anchor.amount)
    return tree | {"read": anchor.read.isoformat()}


def _amount(value: str, name: str) -> Fraction:
    return positive(value, name=name, largest=LARGEST_AMOUNT)


def _minimum(value: str | None) -> Fraction:
    if value is None or value.strip() in ("0", "0.0", "0.00"):
        return Fraction(0)
    return _amount(value, "minimum")
