"""What the custodian says about the risk: one ε in the views that people can judge. Never a lone number.

The same statement stands on the budget screen, in the evidence and in both reports.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from engine.pricing.posterior import posterior
from engine.privacy.guarantee import Event, Guarantee, Kind, Mechanism
from engine.privacy.guarantee import Noise as NoiseKind
from engine.table.schema import written

if TYPE_CHECKING:
    from engine.pricing.cost import Cost
    from engine.privacy.at_risk.composition import Composition
    from engine.privacy.at_risk.loss import PrivacyLoss
    from engine.release.plan import Price

WARNING_LEVEL = math.log(3)
PRIOR = 0.5


def odds_factor(epsilon: float) -> float:
    """Return e^ε, the factor by which odds can change; beyond e^700 no number is left to write it with."""
    return math.exp(min(epsilon, 700.0))


def privacy_statement(
    guarantee: Guarantee, *, read_at: Fraction | None = None, readings: bool = True
) -> dict[str, Any]:
    """Return the privacy statement of a guarantee as JSON values.

    Parameters
    ----------
    guarantee
        Declared by the method, with its events.
    read_at
        The ε at which privacy at risk is read; half of the guarantee's where None. It changes no noise.
    readings
        False leaves ``at_risk`` out, as in `price_statement`.

    Returns
    -------
    dict
        ``epsilon``, ``odds_factor``, ``posterior`` (``prior``, ``presence``, ``value``), ``at_risk`` and
        the id of the sentence with its values; only ``kind`` and ``sentence`` without a formal guarantee.
    """
    if guarantee.epsilon is None or guarantee.events is None:
        return {"kind": guarantee.kind.value, "sentence": {"id": "statement.none", "values": {}}}
    epsilon = float(guarantee.epsilon)
    presence = posterior(PRIOR, epsilon)
    value = posterior(PRIOR, epsilon, known_in_table=True, neighbours=guarantee.neighbours)
    tree = {
        "kind": guarantee.kind.value,
        "epsilon": str(guarantee.epsilon),
        "delta": str(guarantee.delta),
        "neighbours": guarantee.neighbours.value,
        "unit": guarantee.unit.value,
        "rows_per_person": guarantee.rows_per_person,
        "odds_factor": odds_factor(epsilon),
        "posterior": {"prior": PRIOR, "presence": presence, "value": value},
        "sentence": {
            "id": f"statement.{guarantee.neighbours.value}.{guarantee.unit.value}"
            + ("_delta" if guarantee.delta else ""),
            "values": {
                "epsilon": epsilon,
                "factor": odds_factor(epsilon),
                "presence": presence,
                "value": value,
                "delta": float(guarantee.delta),
            },
        },
    }
    return tree | {"at_risk": at_risk(guarantee, read_at=read_at)} if readings else tree


def at_risk(guarantee: Guarantee, *, read_at: Fraction | None = None) -> dict[str, Any]:
    """Return privacy at risk of a guarantee: published, exact and certified, read at one ε.

    ``published`` is None where no source gives a form for what runs: theorem 3 (thesis, ch. 8) is about
    one continuous Laplace mechanism, and is shown for Laplace noise alone. ``certified`` is a δ that always
    holds; for integer Gaussian noise on longer shifts, whose exact loss is not known, the ``exact`` figures
    are those of continuous noise. From the guarantee's own ε on there is nothing to read: then it is read at
    half of it.
    """
    from engine.privacy.accounting import certified_delta
    from engine.privacy.at_risk.published import confidence as published_confidence

    assert guarantee.epsilon is not None and guarantee.events is not None
    full = guarantee.epsilon
    at = read_at if read_at is not None and 0 < read_at < full else full / 2
    parts = mechanisms(guarantee.events)
    loss = loss_of(guarantee)
    alone = len(parts) == 1 and parts[0].count == 1
    published = {"confidence": published_confidence(at, epsilon0=full)} if is_laplace(guarantee) else None
    return {
        "mechanism": parts[0].noise.value if alone else "composition",
        "epsilon0": str(full),
        "epsilon": str(at),
        "published": published,
        "exact": {
            "confidence": loss.confidence(at),
            "confidence_two_sided": loss.confidence_two_sided(at),
        },
        "certified": {"delta": certified_delta(parts, float(at), loss=loss)},
        "above_ln3": float(full) > WARNING_LEVEL,
    }


@lru_cache(maxsize=8)
def loss_of(guarantee: Guarantee) -> PrivacyLoss | Composition:
    """Return the privacy loss of what runs; kept, because every view of one choice reads the same."""
    from engine.privacy.at_risk.composition import composed

    assert guarantee.events is not None
    return composed(mechanisms(guarantee.events))


def is_laplace(guarantee: Guarantee) -> bool:
    """Say whether one Laplace mechanism runs, once: what the published form is about."""
    parts = () if guarantee.events is None else mechanisms(guarantee.events)
    laplace = (NoiseKind.LAPLACE, NoiseKind.DISCRETE_LAPLACE)
    return len(parts) == 1 and parts[0].count == 1 and parts[0].noise in laplace


def price_statement(guarantee: Guarantee, price: Price, *, readings: bool = True) -> dict[str, Any]:
    """Return what the release would cost in compensation, in every form, with the constants that made it.

    Parameters
    ----------
    guarantee, price
        Declared by the method, and what was said about money.
    readings
        False leaves out what needs the distribution of the privacy loss: quick while a slider moves.

    Returns
    -------
    dict
        Empty while people or compensation are not said. Else ``constants``, ``budget`` (the price at ε
        itself), ``band`` (what uncertain constants leave open), ``calibration`` (the defended point behind
        c), ``anchor`` (the precedent behind the compensation), ``affordable`` (the largest ε that a stated
        budget covers), ``printed`` (by the curve as printed, where E_min is above 0); with readings also the
        cheapest ones of privacy at risk (``published``, ``exact``, ``exact_two_sided``), ``expected``, and
        ``posterior`` (the second model, and whether its conclusion differs).

    Notes
    -----
    Compensation alone (GDPR Art. 82). Fines and the cost of an incident are repeated as they were said and
    never added. Source: Dandekar 2019, section 8.4.2, with corrected limits.
    """
    cost = cost_of(price)
    if cost is None or guarantee.epsilon is None or guarantee.events is None:
        return {}
    epsilon = float(guarantee.epsilon)
    constants = {part.name: plain(getattr(price, part.name)) for part in fields(price)}
    tree = {
        "constants": constants | {"curvature": plain(cost.c)},
        "epsilon": epsilon,
        "liability": cost.liability,
        "budget": cost.at(epsilon),
        "printed": replace(cost, printed_minimum=True).at(epsilon) if cost.minimum else None,
        "c_halved": replace(cost, c=cost.c / 2).at(epsilon),
        "c_doubled": replace(cost, c=cost.c * 2).at(epsilon),
        "band": _band(cost, price, epsilon),
        "calibration": _calibration(price),
        "anchor": _anchor(price.anchor),
        "affordable": None if price.budget is None else finite(cost.epsilon_for(price.budget)),
    }
    return tree | _readings(guarantee, cost, price) if readings else tree


def _band(cost: Cost, price: Price, epsilon: float) -> dict[str, float]:
    """Return the price with what c, N and E leave open; c is uncertain by a factor of two unless said."""
    from engine.pricing.trees import band_to_json

    def ends(low: Fraction | None, central: Fraction | int, high: Fraction | None) -> Any:
        if low is None and high is None:
            return None
        return (central if low is None else low, central if high is None else high)

    steepness = ends(price.curvature_low, cost.c, price.curvature_high) or (cost.c / 2, cost.c * 2)
    people = ends(price.people_low, cost.people, price.people_high)
    amount = ends(price.compensation_low, cost.compensation, price.compensation_high)
    return band_to_json(cost, epsilon, steepness, people, amount)


def _calibration(price: Price) -> dict[str, Any] | None:
    if price.calibrated_epsilon is None or price.calibrated_share is None:
        return None
    return {"epsilon": plain(price.calibrated_epsilon), "share": plain(price.calibrated_share)}


@lru_cache(maxsize=8)
def _anchor(name: str) -> Mapping[str, Any] | None:
    """Return the precedent of a name: its case, where and when; None for an amount of one's own."""
    from engine.pricing.anchors import read_anchors

    found = next((anchor for anchor in read_anchors().anchors if anchor.name == name), None)
    if found is None:
        return None
    tree = {
        part: getattr(found, part) for part in ("name", "jurisdiction", "case", "year", "source", "check")
    }
    return tree | {"read": found.read.isoformat()}


def _readings(guarantee: Guarantee, cost: Cost, price: Price) -> dict[str, Any]:
    from engine.pricing import reading
    from engine.pricing.trees import posterior_to_json

    assert guarantee.epsilon is not None
    loss = loss_of(guarantee)
    curves = [reading.exact_curve(loss), reading.exact_curve(loss, two_sided=True)]
    if is_laplace(guarantee):
        curves.insert(0, reading.published_curve(guarantee.epsilon))
    found = {curve.name: asdict(reading.cheapest(cost, curve)) for curve in curves}
    second = posterior_to_json(
        cost,
        float(guarantee.epsilon),
        PRIOR,
        neighbours=guarantee.neighbours.value,
        budget=price.budget,
    )
    return {"published": None} | found | {"expected": reading.expected(cost, loss), "posterior": second}


def refuse_amounts(price: Price) -> None:
    """Refuse amounts that are none, or beyond all money: they are repeated in evidence and reports.

    Raises
    ------
    InputRefused
        ``at_risk.not_positive``, ``at_risk.too_large`` or ``at_risk.too_small`` with the field of the price.
    """
    from engine.pricing.cost import LARGEST_AMOUNT
    from engine.privacy.at_risk.inputs import positive

    for name in ("fine", "incident", "budget", "largest_error"):
        amount = getattr(price, name)
        if amount:  # nothing said, or a fine of nothing
            positive(amount, name=name, largest=LARGEST_AMOUNT)


def cost_of(price: Price) -> Cost | None:
    """Return the cost curve of what was said about money, or None while too little was said.

    Raises
    ------
    InputRefused
        ``price.calibration``: no curve passes through the defended point.
    """
    from engine.pricing.cost import Cost

    if price.people is None or price.compensation is None:
        return None
    cost = Cost(price.people, price.compensation, price.curvature, price.minimum)
    if price.calibrated_epsilon is None or price.calibrated_share is None:
        return cost
    return cost.calibrated(epsilon=price.calibrated_epsilon, share_of_liability=price.calibrated_share)


def finite(value: float) -> float | None:
    """Return a number, or None where it is infinite and JSON has no word for it."""
    return value if math.isfinite(value) else None


def plain(value: Any) -> Any:
    """Return an exact number of a plan as its JSON value, anything else as it is."""
    return written(value) if isinstance(value, Fraction) else value


def mechanisms(event: Event) -> tuple[Mechanism, ...]:
    """Return every mechanism of an event tree; the parts of a parallel one are counted one by one.

    Counting parallel parts as sequential can only overstate the loss.
    """
    if isinstance(event, Mechanism):
        return (event,)
    return tuple(leaf for part in event.parts for leaf in mechanisms(part))


def is_private(guarantee: Guarantee) -> bool:
    """Say whether the guarantee is differential privacy of one kind or another."""
    return guarantee.kind in (Kind.PURE_DP, Kind.APPROXIMATE_DP, Kind.LOCAL_DP)
