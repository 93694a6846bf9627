"""What the custodian says about the risk: one ε in the views that people can judge. Never a lone number.

The same statement stands on the budget screen, in the evidence and in both reports.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from engine.errors import InputRefused
from engine.numbers import finite, plain
from engine.pricing.posterior import posterior
from engine.privacy.events import Mechanism
from engine.privacy.mechanisms import DiscreteLaplace, Laplace
from engine.privacy.promise import Loss, Neighbours, Promise, promise_kind

if TYPE_CHECKING:
    from engine.pricing.cost import Cost
    from engine.pricing.price import Price
    from engine.pricing.reading import Curve
    from engine.privacy.at_risk.composition import Composition
    from engine.privacy.at_risk.inputs import Number
    from engine.privacy.at_risk.loss import PrivacyLoss

WARNING_LEVEL = math.log(3)
PRIOR = 0.5


def odds_factor(epsilon: float) -> float:
    """Return e^ε, the factor by which odds can change; beyond e^700 no number is left to write it with."""
    return math.exp(min(epsilon, 700.0))


def privacy_statement(
    promise: Promise, *, read_at: Fraction | None = None, readings: bool = True
) -> dict[str, Any]:
    """Return the privacy statement of a promise as JSON values.

    Parameters
    ----------
    promise
        Declared by the method, with its events.
    read_at
        The ε at which privacy at risk is read; half of what is promised where None. It changes no noise.
    readings
        False leaves ``at_risk`` out, as in `price_statement`.

    Returns
    -------
    dict
        ``epsilon``, ``odds_factor``, ``posterior`` (``prior``, ``presence``, ``value``), ``at_risk`` and
        the id of the sentence with its values; only ``kind`` and ``sentence`` without a formal guarantee.
    """
    loss = promise.loss
    if loss is None:
        sentence = {"id": f"promises.{promise.kind}.statement", "values": dict(promise.terms)}
        return {"kind": promise.kind, "sentence": sentence}
    epsilon = float(loss.epsilon)
    presence = posterior(PRIOR, epsilon)
    value = posterior(PRIOR, epsilon, known_in_table=True, neighbours=loss.neighbours)
    exceed, form = excess_probability(loss), "_delta"
    if exceed == 1:  # only a theorem bounds the loss: what δ alone says
        exceed, form = exceeding_by_a_tenth(loss), "_theorem"
    if not 0 < exceed < 1:
        form = "_slack" if loss.delta else ""
    sentence_id = f"statement.{loss.neighbours.value}.{promise.unit.value}{form}"
    if promise_kind(promise.kind).local:
        sentence_id = f"promises.{promise.kind}.statement"
    tree = {
        "kind": promise.kind,
        "epsilon": str(loss.epsilon),
        "delta": str(loss.delta),
        "neighbours": loss.neighbours.value,
        "unit": promise.unit.value,
        "rows_per_person": promise.rows_per_person,
        "odds_factor": odds_factor(epsilon),
        "posterior": {"prior": PRIOR, "presence": presence, "value": value},
        "sentence": {
            "id": sentence_id,
            "values": {
                "epsilon": epsilon,
                "factor": odds_factor(epsilon),
                "presence": presence,
                "value": value,
                "delta": float(loss.delta),
                "exceed": exceed,
            },
        },
    }
    return tree | {"at_risk": at_risk(promise, read_at=read_at)} if readings else tree


def excess_probability(bounded: Loss) -> float:
    """Return how often the loss goes beyond what its factors say, at most; 0 where δ is 0.

    Notes
    -----
    (ε, δ) bounds no probability of exceeding ε: that follows from the distribution of the loss alone. It is
    read at ε for the declared neighbours, and at 2ε for twice their distance: a value of a person who is
    known to be in the table. The larger of the two; 1 where only a theorem bounds the loss.
    """
    if not bounded.delta:
        return 0.0
    if not has_distribution(bounded):
        return 1.0
    within = [loss_of(bounded).confidence_two_sided(bounded.epsilon)]
    if bounded.neighbours is Neighbours.ADD_REMOVE:
        exchanged = replace(bounded, events=bounded.events.exchanged())
        within.append(loss_of(exchanged).confidence_two_sided(2 * bounded.epsilon))
    return 1 - min(within)


def exceeding_by_a_tenth(bounded: Loss) -> float:
    """Return how often the factors are exceeded by a tenth or more, at most: what ε and δ alone imply.

    Notes
    -----
    On the outcomes S with a loss above ε + t, Q(S) ≤ e^−(ε+t) P(S), so that P(S) − e^ε Q(S) ≤ δ gives
    P(S) ≤ δ / (1 − e^−t): 11 δ at e^t = 1.1. As much again for losses below −(ε + t). A value of a person
    who is known to be in the table is two steps away where one is added or removed: (2ε, (1 + e^ε) δ).
    """
    delta = float(bounded.delta)
    if bounded.neighbours is Neighbours.ADD_REMOVE:
        delta *= 1 + odds_factor(float(bounded.epsilon))
    return min(1.0, 2 * 11 * delta)


def at_risk(promise: Promise, *, read_at: Fraction | None = None) -> dict[str, Any] | None:
    """Return privacy at risk of a promise: published, exact and certified, read at one ε.

    ``published`` is None where no source gives a form for what runs: theorem 3 (thesis, ch. 8) is about
    one continuous Laplace mechanism, and is shown for Laplace noise alone. ``certified`` is a δ that always
    holds; for integer Gaussian noise on longer shifts, whose exact loss is not known, the ``exact`` figures
    are those of continuous noise. From the promised ε on there is nothing to read: then it is read at half
    of it. None where nothing bounds the loss, or only a theorem does, of whose loss no distribution is known.
    """
    from engine.privacy.accounting import certified_delta
    from engine.privacy.at_risk.published import confidence as published_confidence

    bounded = promise.loss
    if bounded is None or not has_distribution(bounded):
        return None
    full = bounded.epsilon
    at = read_at if read_at is not None and 0 < read_at < full else full / 2
    parts = mechanisms(bounded)
    loss = loss_of(bounded)
    alone = len(parts) == 1 and parts[0].count == 1
    published = {"confidence": published_confidence(at, epsilon0=full)} if is_laplace(bounded) else None
    return {
        "mechanism": parts[0].word if alone else "composition",
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
def loss_of(loss: Loss) -> PrivacyLoss | Composition:
    """Return the privacy loss of what runs; kept, because every view of one choice reads the same."""
    from engine.privacy.at_risk.composition import compose_losses

    return compose_losses(mechanisms(loss))


def mechanisms(loss: Loss) -> tuple[Mechanism, ...]:
    """Return mechanisms that, one after the other, lose at least what is promised."""
    return tuple(leaf for leaf in loss.events.together(loss.neighbours) if leaf.count and leaf.reach())


def has_distribution(loss: Loss) -> bool:
    """Say whether the distribution of the privacy loss is known, not only a bound."""
    parts = mechanisms(loss)
    return bool(parts) and all(part.knows_loss and part.loss() is not None for part in parts)


def is_laplace(loss: Loss) -> bool:
    """Say whether one Laplace mechanism runs, once: what the published form is about."""
    parts = mechanisms(loss)
    return len(parts) == 1 and parts[0].count == 1 and isinstance(parts[0], Laplace | DiscreteLaplace)


def price_statement(promise: Promise, price: Price, *, readings: bool = True) -> dict[str, Any]:
    """Return what the release would cost in compensation, in every form, with the constants that made it.

    Parameters
    ----------
    promise, price
        Declared by the method, and what was said about money.
    readings
        False leaves out what needs the distribution of the privacy loss: quick while a slider moves.

    Returns
    -------
    dict
        Empty while people or compensation are not said, and where nothing is lost. Else ``constants``,
        ``budget`` (the price at ε itself), ``band`` (what uncertain constants leave open), ``calibration``
        (the defended point behind c), ``anchor`` (the precedent behind the compensation), ``affordable`` (the
        largest ε that a stated budget covers), ``printed`` (by the curve as printed, where E_min is above 0);
        with readings also the cheapest ones of privacy at risk (``published``, ``exact``,
        ``exact_two_sided``), ``expected``, and ``posterior`` (the second model, and whether its conclusion
        differs).

    Notes
    -----
    Compensation alone (GDPR Art. 82). Fines and the cost of an incident are repeated as they were said and
    never added. Source: Dandekar 2019, section 8.4.2, with corrected limits.
    """
    cost = cost_of(price)
    loss = promise.loss
    if cost is None or loss is None or not loss.epsilon:
        return {}  # an answer that was paid for before is shown again: there is nothing to price
    epsilon = float(loss.epsilon)
    constants = {part.name: plain(getattr(price, part.name)) for part in fields(price)}
    tree = {
        "constants": constants | {"curvature": plain(cost.c)},
        "epsilon": epsilon,
        "liability": cost.liability,
        "budget": cost.at(epsilon),
        "printed": replace(cost, printed_minimum=True).at(epsilon) if cost.minimum else None,
        "c_halved": replace(cost, c=cost.c / 2).at(epsilon),
        "c_doubled": replace(cost, c=cost.c * 2).at(epsilon),
        "band": band_at(cost, epsilon, **ranges(price, cost)),
        "calibration": _calibration(price),
        "anchor": _anchor(price.anchor),
        "affordable": None if price.budget is None else finite(cost.epsilon_for(price.budget)),
    }
    return tree | _readings(loss, cost, price) if readings else tree


def ranges(price: Price, cost: Cost) -> dict[str, tuple[Any, Any]]:
    """Return what is thought possible of c, N and E; c within a factor of two where nothing is said of it."""

    def ends(low: Fraction | None, central: Fraction | int, high: Fraction | None) -> tuple[Any, Any]:
        return (central if low is None else low, central if high is None else high)

    unsaid = price.curvature_low is None and price.curvature_high is None
    steepness = ends(price.curvature_low, cost.c, price.curvature_high)
    return {
        "c": (cost.c / 2, cost.c * 2) if unsaid else steepness,
        "people": ends(price.people_low, cost.people, price.people_high),
        "compensation": ends(price.compensation_low, cost.compensation, price.compensation_high),
    }


def band_at(cost: Cost, epsilon: float, **ranges: Any) -> dict[str, float]:
    """Return the price at one ε with what uncertain constants leave open, see `engine.pricing.cost.band`."""
    from engine.pricing.cost import band

    drawn = band(cost, [epsilon], **ranges)
    return {name: float(getattr(drawn, name)[0]) for name in ("lower", "central", "upper")}


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


def curves(bounded: Loss) -> dict[str, Curve]:
    """Return the confidences that a price can be read by, the published one first where there is one."""
    if not has_distribution(bounded):
        return {}
    return curves_of(loss_of(bounded), bounded.epsilon if is_laplace(bounded) else None)


def curves_of(
    loss: PrivacyLoss | Composition, level: Number | None, *, dimensions: int = 1
) -> dict[str, Curve]:
    """Return the confidences of a privacy loss.

    Parameters
    ----------
    loss
        Of one mechanism, or of several together.
    level
        ε0 where the published form applies: one Laplace mechanism.
    dimensions
        Its number of outputs, for the published form.
    """
    from engine.pricing import reading

    found = [] if level is None else [reading.published_curve(level, dimensions=dimensions)]
    found += [reading.exact_curve(loss), reading.exact_curve(loss, two_sided=True)]
    return {curve.name: curve for curve in found}


def readings(cost: Cost, found: Mapping[str, Curve]) -> dict[str, Any]:
    """Return where the price is cheapest by every confidence; ``published`` is None without a source."""
    from engine.pricing.reading import cheapest_reading

    cheap = {name: asdict(cheapest_reading(cost, curve)) for name, curve in found.items()}
    return {"published": None} | {
        name: tree | {"epsilon": finite(tree["epsilon"])} for name, tree in cheap.items()
    }


def _readings(bounded: Loss, cost: Cost, price: Price) -> dict[str, Any]:
    from engine.pricing.reading import expected_price

    found = curves(bounded)
    second = posterior_to_json(
        cost,
        float(bounded.epsilon),
        PRIOR,
        neighbours=bounded.neighbours.value,
        budget=price.budget,
    )
    mean = expected_price(cost, loss_of(bounded)) if found else None
    return readings(cost, found) | {"expected": mean, "posterior": second}


def posterior_to_json(
    cost: Cost, epsilon: float, prior: Number | str, *, neighbours: str, budget: Number | str | None
) -> dict[str, Any]:
    """Return the posterior at ε, the second model's price, and whether the conclusion changes.

    Parameters
    ----------
    cost
        The first model.
    epsilon
        Privacy level of the release; infinite for Gaussian noise, where the posterior is 1.
    prior
        Belief before the release.
    neighbours
        ``"add_remove"`` or ``"replace_one"``.
    budget
        None compares both models at the price that the first one gives to ε.

    Raises
    ------
    InputRefused
        The prior or the relation cannot be used.
    """
    from engine.pricing.posterior import PosteriorCost, compare
    from engine.privacy.at_risk.inputs import SMALLEST_LEVEL, share

    p = share(prior, name="prior")
    presence = PosteriorCost(cost, p, neighbours=neighbours)
    value = PosteriorCost(cost, p, known_in_table=True, neighbours=neighbours)
    spend = cost.at(epsilon) if budget is None else budget
    # A price of less than any amount that can be said buys no level to compare the two models at.
    comparable = math.isfinite(epsilon) and (budget is not None or cost.at(epsilon) >= SMALLEST_LEVEL)
    tree: dict[str, Any] = {
        "prior": float(p),
        "neighbours": neighbours,
        "presence": posterior(p, epsilon, neighbours=neighbours),
        "value": posterior(p, epsilon, known_in_table=True, neighbours=neighbours),
        "price_presence": presence.at(epsilon),
        "price_value": value.at(epsilon),
    }
    if comparable:
        found = compare(value, epsilon0=epsilon, budget=spend)
        tree["conclusion"] = {
            "budget": found.budget,
            "epsilon": finite(found.first),
            "epsilon_by_posterior": finite(found.second),
            "allowed": found.first_allows,
            "allowed_by_posterior": found.second_allows,
            "changes": found.changes,
        }
    return tree


def refuse_amounts(price: Price) -> None:
    """Refuse amounts that are none, or beyond all money: they are repeated in evidence and reports.

    Raises
    ------
    InputRefused
        ``at_risk.not_positive``, ``at_risk.too_large`` or ``at_risk.too_small`` with the field of the price;
        ``price.currency``: it stands behind amounts in sentences of the program, and no other word may.
    """
    from engine.pricing.cost import LARGEST_AMOUNT
    from engine.privacy.at_risk.inputs import positive

    if price.currency and re.fullmatch("[A-Z]{3}", price.currency) is None:
        raise InputRefused("price.currency", found=price.currency[:40])
    for name in ("fine", "incident", "budget", "register", "largest_error"):
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
