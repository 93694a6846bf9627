"""What money says about privacy levels, as a picture: their price, their price at risk, which are allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from engine.pricing.anchors import Anchor, read_anchors
from engine.pricing.cost import Cost, band
from engine.pricing.price import AllowedLevels, Price
from engine.pricing.reading import price as priced
from engine.pricing.statement import cost_of, curves, ranges
from engine.privacy.promise import Loss
from engine.views import CurveView, Label, Mark, Series, Text

POINTS = 120
LARGEST_DRAWN = 20.0
ANY_LEVEL = AllowedLevels()
THOUSANDS_FROM = 20_000
MOST_PRECEDENTS = 3
STYLES = {"published": "dashed", "exact": "accent"}


def cost_curve(
    price: Price,
    *,
    epsilon: Fraction,
    loss: Loss | None = None,
    at_risk: Mapping[str, Any] | None = None,
    allowed: AllowedLevels = ANY_LEVEL,
    uncertain: bool = False,
    precedents: Sequence[Anchor] | None = None,
) -> CurveView | None:
    """Return the price of every privacy level as a curve, with the chosen one marked.

    Parameters
    ----------
    price
        What the custodian says about money.
    epsilon
        The chosen level.
    loss
        What the release promises at it; the at-risk curves are drawn where it is given.
    at_risk
        The cheapest readings of the at-risk curves, from `engine.pricing.statement.price_statement`; they
        become marks where they save something.
    allowed
        Becomes the shaded part.
    uncertain
        Add the band that uncertain c, people and compensation leave open.
    precedents
        Their prices at the chosen level become marks; None for those that come with the program.

    Returns
    -------
    CurveView or None
        None while too little was said about money. The at-risk curves end at the chosen level: there they
        read one bound on the same release at every smaller level.

    Notes
    -----
    Source: Dandekar 2019, section 8.4.2.

    Examples
    --------
    >>> said = Price(people=4259, compensation=Fraction(500))
    >>> round(cost_curve(said, epsilon=Fraction("0.598")).marks[0].y)  # thousands
    400
    """
    cost = cost_of(price)
    if cost is None:
        return None
    chosen = float(epsilon)
    end = reach(chosen, allowed)
    unit, axis = _unit(cost.at(end), price.currency)
    xs = np.linspace(end / POINTS, end, POINTS)
    series = [_series("price", xs, cost.curve(xs) / unit, "plain")]
    marks = [Mark(chosen, cost.at(chosen) / unit, Text("choice.marks.chosen", {"epsilon": chosen}))]
    if loss is not None:
        below, cheapest = _at_risk(loss, at_risk or {}, cost, chosen, unit)
        series += below
        marks += cheapest
    anchors = _ship() if precedents is None else precedents
    marks += _precedents(price.currency, cost, chosen, unit, cost.at(end), anchors)
    return CurveView(
        Text("choice.curve.title"),
        Text("choice.axis.epsilon"),
        axis,
        tuple(series),
        tuple(marks),
        _shade(allowed, end),
        Text("choice.curve.window"),
        _band(price, cost, xs, unit) if uncertain else None,
        Text("choice.curve.note"),
    )


def reach(epsilon: float, allowed: AllowedLevels) -> float:
    """Return the largest level on the drawing: the chosen one and the allowed ones with room beside them."""
    ends = [2 * epsilon]
    ends += [1.3 * float(end) for end in (allowed.lower, allowed.upper) if end is not None]
    wanted = min(max(*ends, 0.1), 4 * epsilon + 1, LARGEST_DRAWN)
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(
        next(step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * power >= wanted * 0.999)
    )


@cache
def _ship() -> tuple[Anchor, ...]:
    return read_anchors().anchors


def _series(name: str, xs: np.ndarray, ys: np.ndarray, style: str) -> Series:
    label = Text(f"choice.series.{name}")
    return Series(label, tuple(map(float, xs)), tuple(map(float, ys)), style)


def _at_risk(
    loss: Loss, cheapest: Mapping[str, Any], cost: Cost, epsilon: float, unit: float
) -> tuple[list[Series], list[Mark]]:
    xs = np.linspace(epsilon / POINTS, epsilon, POINTS)
    shown = {name: drawn for name, drawn in curves(loss).items() if name in STYLES}
    series = [
        _series(name, xs, priced(cost, drawn, xs) / unit, STYLES[name]) for name, drawn in shown.items()
    ]
    marks = []
    for name in shown:
        found = cheapest.get(name)
        if found and found["saving"] > 0:
            label = Text(f"choice.marks.{name}", {"epsilon": found["epsilon"]})
            marks.append(Mark(max(found["epsilon"], float(xs[0])), found["budget"] / unit, label))
    return series, marks


def _precedents(
    currency: str, cost: Cost, epsilon: float, unit: float, top: float, anchors: Sequence[Anchor]
) -> list[Mark]:
    """What the release would cost if each person were owed what a court awarded elsewhere."""
    marks: dict[Fraction, Mark] = {}
    for anchor in anchors:
        fits = anchor.quantity == "compensation" and anchor.currency == currency
        if not fits or anchor.amount is None or anchor.amount == cost.compensation:
            continue
        if anchor.amount <= cost.minimum:
            continue
        paid = replace(cost, compensation=anchor.amount).at(epsilon)
        if paid <= top:
            dated = "precedent" if anchor.year else "precedent_undated"
            values = {
                "jurisdiction": anchor.jurisdiction,
                "year": str(anchor.year),
                "amount": anchor.amount,
            }
            label = Text(f"choice.marks.{dated}", values)
            marks.setdefault(anchor.amount, Mark(epsilon, paid / unit, label))
    return list(marks.values())[:MOST_PRECEDENTS]


def _shade(allowed: AllowedLevels, end: float) -> tuple[float, float] | None:
    if allowed.reason is not None or (allowed.lower is None and allowed.upper is None):
        return None
    low = 0.0 if allowed.lower is None else float(allowed.lower)
    high = end if allowed.upper is None else min(float(allowed.upper), end)
    return (low, high) if low < high else None


def _band(price: Price, cost: Cost, xs: np.ndarray, unit: float) -> tuple[Series, Series]:
    drawn = band(cost, xs, **ranges(price, cost))
    return (
        _series("lowest", xs, drawn.lower / unit, "dotted"),
        _series("highest", xs, drawn.upper / unit, "dotted"),
    )


def _unit(top: float, currency: str) -> tuple[float, Label]:
    thousands = top >= THOUSANDS_FROM
    return (1000.0 if thousands else 1.0), Text(
        f"choice.axis.{'thousands' if thousands else 'money'}", {"currency": currency}
    )
