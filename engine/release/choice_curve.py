"""The cost curve of the budget screen: what each level costs, also at risk, and what is permissible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np

from engine.pricing.anchors import Anchor, read_anchors
from engine.pricing.cost import Cost, band
from engine.pricing.price import Price
from engine.pricing.reading import price
from engine.pricing.statement import cost_of, curves
from engine.release.choice import Choice, choice
from engine.release.levels import LARGEST, window, with_epsilon
from engine.release.plan import Plan
from engine.views import CurveView, Label, Mark, Series, Text

POINTS = 120
THOUSANDS_FROM = 20_000
MOST_PRECEDENTS = 3
STYLES = {"published": "dashed", "exact": "accent"}


def curve(
    plan: Plan,
    *,
    chosen: Choice | None = None,
    readings: bool = True,
    uncertain: bool = False,
    precedents: Sequence[Anchor] | None = None,
) -> CurveView | None:
    """Return the price of every privacy level as a curve, with the chosen one marked.

    Parameters
    ----------
    plan
        With people, compensation and a budget.
    chosen
        What `engine.release.choice.choice` returned for this plan, if it is at hand.
    readings
        False leaves the at-risk curves out: quick while a slider moves.
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
    """
    cost = cost_of(plan.price)
    if cost is None or plan.budget is None:
        return None
    found = chosen if chosen is not None else choice(plan, readings=readings)
    epsilon = float(found.epsilon)
    end = reach(found)
    unit, axis = _unit(cost.at(end), plan.price.currency)
    xs = np.linspace(end / POINTS, end, POINTS)
    series = [_series("price", xs, cost.curve(xs) / unit, "plain")]
    marks = [Mark(epsilon, cost.at(epsilon) / unit, Text("choice.marks.chosen", {"epsilon": epsilon}))]
    if readings:
        below, cheapest = _at_risk(found, cost, epsilon, unit)
        series += below
        marks += cheapest
    anchors = _shipped() if precedents is None else precedents
    marks += _precedents(plan, cost, epsilon, unit, cost.at(end), anchors)
    return CurveView(
        Text("choice.curve.title"),
        Text("choice.axis.epsilon"),
        axis,
        tuple(series),
        tuple(marks),
        _shade(found, end),
        Text("choice.curve.window"),
        _band(plan.price, cost, xs, unit) if uncertain else None,
        Text("choice.curve.note"),
    )


def reach(found: Choice) -> float:
    """Return the largest level on the drawing: the chosen one and the window with room beside them."""
    ends = [2 * float(found.epsilon)]
    ends += [1.3 * float(end) for end in (found.window.lower, found.window.upper) if end is not None]
    wanted = min(max(*ends, 0.1), 4 * float(found.epsilon) + 1, float(LARGEST))
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(
        next(step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * power >= wanted * 0.999)
    )


def calibrated(plan: Plan, *, epsilon: Fraction, share: Fraction) -> Fraction | None:
    """Return the c that makes one defended point true: at this ε we accept this share of the liability.

    Raises
    ------
    InputRefused
        ``price.calibration``, or a number that cannot be used.
    """
    cost = cost_of(plan.price)
    return None if cost is None else cost.calibrated(epsilon=epsilon, share_of_liability=share).c


@cache
def _shipped() -> tuple[Anchor, ...]:
    return read_anchors().anchors


@dataclass(frozen=True)
class WaysOut:
    """What would open an empty window: the money that the accuracy needs, the error that the money buys."""

    money: float | None
    error: float | None


def ways_out(plan: Plan) -> WaysOut:
    """Return what has to give when money and accuracy leave no level; None where neither would help."""
    found, cost = window(plan), cost_of(plan.price)
    money = None if cost is None or found.lower is None else cost.at(float(found.lower))
    if found.upper is None:
        return WaysOut(money, None)
    other = choice(with_epsilon(plan, found.upper), readings=False)
    return WaysOut(money, None if other.error is None else other.error.limit)


def price_of(plan: Plan, epsilon: Fraction) -> float | None:
    """Return what a level would cost in compensation, for instance that of all releases together."""
    cost = cost_of(plan.price)
    return None if cost is None else cost.at(float(epsilon))


def _series(name: str, xs: np.ndarray, ys: np.ndarray, style: str) -> Series:
    label = Text(f"choice.series.{name}")
    return Series(label, tuple(map(float, xs)), tuple(map(float, ys)), style)


def _at_risk(found: Choice, cost: Cost, epsilon: float, unit: float) -> tuple[list[Series], list[Mark]]:
    xs = np.linspace(epsilon / POINTS, epsilon, POINTS)
    loss = found.promise.loss
    if loss is None:
        return [], []
    shown = {name: curve for name, curve in curves(loss).items() if name in STYLES}
    series = [_series(name, xs, price(cost, curve, xs) / unit, STYLES[name]) for name, curve in shown.items()]
    marks = []
    for name in shown:
        cheapest = found.price.get(name)
        if cheapest and cheapest["saving"] > 0:
            label = Text(f"choice.marks.{name}", {"epsilon": cheapest["epsilon"]})
            marks.append(Mark(max(cheapest["epsilon"], float(xs[0])), cheapest["budget"] / unit, label))
    return series, marks


def _precedents(
    plan: Plan, cost: Cost, epsilon: float, unit: float, top: float, anchors: Sequence[Anchor]
) -> list[Mark]:
    """What the release would cost if each person were owed what a court awarded elsewhere."""
    marks: dict[Fraction, Mark] = {}
    for anchor in anchors:
        fits = anchor.quantity == "compensation" and anchor.currency == plan.price.currency
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


def _shade(found: Choice, end: float) -> tuple[float, float] | None:
    allowed = found.window
    if allowed.reason is not None or (allowed.lower is None and allowed.upper is None):
        return None
    low = 0.0 if allowed.lower is None else float(allowed.lower)
    high = end if allowed.upper is None else min(float(allowed.upper), end)
    return (low, high) if low < high else None


def _band(price: Price, cost: Cost, xs: np.ndarray, unit: float) -> tuple[Series, Series]:
    """What is left open by the ranges that were said; c by a factor of two where none was."""
    low = price.curvature_low if price.curvature_low is not None else cost.c / 2
    high = price.curvature_high if price.curvature_high is not None else cost.c * 2
    people = _ends(price.people_low, price.people_high, Fraction(cost.people))
    amounts = _ends(price.compensation_low, price.compensation_high, cost.compensation)
    drawn = band(
        cost,
        xs,
        c=(min(low, cost.c), max(high, cost.c)),
        people=(int(people[0]), int(people[1])),
        compensation=amounts,
    )
    return (
        _series("lowest", xs, drawn.lower / unit, "dotted"),
        _series("highest", xs, drawn.upper / unit, "dotted"),
    )


def _ends(low: Fraction | None, high: Fraction | None, central: Fraction) -> tuple[Fraction, Fraction]:
    return min(low or central, central), max(high or central, central)


def _unit(top: float, currency: str) -> tuple[float, Label]:
    thousands = top >= THOUSANDS_FROM
    return (1000.0 if thousands else 1.0), Text(
        f"choice.axis.{'thousands' if thousands else 'money'}", {"currency": currency}
    )
