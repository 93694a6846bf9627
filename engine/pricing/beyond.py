"""What a release goes beyond, of what the custodian had stated: money, error, the second model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.numbers import exactly

OVER_MONEY, OVER_ERROR, SECOND_MODEL = "over_money", "over_error", "second_model"
ASKED = (OVER_MONEY, OVER_ERROR)
"""Those that want a reason before the release."""


def beyond(price: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what a release goes beyond, by the kind of decision that this is, with its figures.

    Parameters
    ----------
    price
        Of the release in every form, with the window of levels that money and error leave; as it is worked
        out before the release, or as the evidence has it.

    Returns
    -------
    dict
        ``over_money``: the modelled claims are above the stated money (``price``, ``budget``).
        ``over_error``: the margin is larger than the stated error (``error``, ``lower``: the level that would
        be needed). ``second_model``: the level is above what the second model allows (``second``).
        Each with ``epsilon``. Empty where no price was stated.
    """
    if not price:
        return {}
    constants, epsilon = price["constants"], float(price["epsilon"])
    found: dict[str, dict[str, Any]] = {}
    money = exactly(constants.get("budget"))
    if money is not None and price["budget"] > money:
        found[OVER_MONEY] = {"price": price["budget"], "budget": money}
    lower = exactly((price.get("window") or {}).get("lower"))
    if lower is not None and epsilon < lower:
        found[OVER_ERROR] = {"error": exactly(constants["largest_error"]), "lower": lower}
    second = ((price.get("posterior") or {}).get("conclusion") or {}).get("epsilon_by_posterior")
    if second is not None and epsilon > second:
        found[SECOND_MODEL] = {"second": second}
    return {name: {"epsilon": epsilon, **values} for name, values in found.items()}
