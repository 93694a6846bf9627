"""The further answers about a price as JSON values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from engine.pricing.cost import Cost, Liability, band
from engine.pricing.posterior import PosteriorCost, compare, posterior
from engine.privacy.at_risk.inputs import SMALLEST_LEVEL, Number, share


def liability_to_json(liability: Liability) -> dict[str, float | None]:
    """Return the three amounts side by side; there is no sum on purpose.

    Examples
    --------
    >>> from fractions import Fraction
    >>> liability_to_json(Liability(Fraction(5500)))
    {'compensation_per_person': 5500.0, 'fine': None, 'incident': None}
    """
    return {
        "compensation_per_person": float(liability.compensation),
        "fine": None if liability.fine is None else float(liability.fine),
        "incident": None if liability.incident is None else float(liability.incident),
    }


def band_to_json(
    cost: Cost,
    epsilon: float,
    c: tuple[Any, Any] | None,
    people: tuple[Any, Any] | None,
    compensation: tuple[Any, Any] | None,
) -> dict[str, float]:
    """Return the price at one ε with what uncertain c, N and E leave open.

    Raises
    ------
    InputRefused
        As `engine.pricing.cost.band`.
    """
    drawn = band(cost, [epsilon], c=c, people=people, compensation=compensation)
    return {
        "lower": float(drawn.lower[0]),
        "central": float(drawn.central[0]),
        "upper": float(drawn.upper[0]),
    }


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
            "epsilon": _finite(found.first),
            "epsilon_by_posterior": _finite(found.second),
            "allowed": found.first_allows,
            "allowed_by_posterior": found.second_allows,
            "changes": found.changes,
        }
    return tree


def without_infinities(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return numbers by name as JSON values; an infinite one as null."""
    return {name: None if value is None else _finite(value) for name, value in tree.items()}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
