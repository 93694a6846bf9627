"""How far what is left of a number may reach: a limit that a small part of the budget buys.

Narrower limits need less noise, but where errors are large they bend the fit. How large errors are is asked
once, after the first steps, by one noisy sum; the limit follows from its answer and from declared numbers.
Residuals are counted in units of the limit, so that the noise beside what one row can move is the same for
every limit, and what is asked for does not depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import erf, sqrt
from typing import Any

import numpy as np

from engine import arrays
from engine.methods.models.residuals import RESIDUAL_STEPS, WHOLE
from engine.methods.shared.division import Query
from engine.views import NumberView, Text

SPREAD = "spread"
SPREAD_SHARE = 0.02
"""Of the budget for the sum of squared residuals."""
LEVEL = "level"
LEVEL_SHARE = 0.025
"""Of the budget for the sum of what the fit leaves in the end."""
WIDEST = Fraction(1, 2)
"""Residuals are clipped to ± this: of a probability; of a number, a quarter of its declared range, until a
narrower limit is known."""
REACH = int(WIDEST * RESIDUAL_STEPS)
FULL = 1 << 15
"""What a residual at the widest limit adds to the sum of squares: one, in its steps."""
_DROPPED = 2 * (REACH.bit_length() - 1) - (FULL.bit_length() - 1)
NARROWEST = 32
"""How many times narrower than the widest a limit may be."""
LEAST_MULTIPLE = 1.25


def spread_query(rows: int) -> Query:
    """Return what a person's rows move the sum of squares by.

    Notes
    -----
    A row adds between 0 and `FULL`, whatever it holds: so does its exchange move the sum by at most that.
    """
    return Query(SPREAD, rows * FULL, (rows * FULL) ** 2, SPREAD_SHARE)


def level_query(rows: int) -> Query:
    """Return what a person's rows move the sum of what a fit leaves of a number by, at the widest limit."""
    return Query(LEVEL, rows * REACH, (rows * REACH) ** 2, LEVEL_SHARE)


def level_shift(left: float, *, deviation: float, rows: float) -> float:
    """Return how far predictions are raised, from the noisy sum of what a fit leaves at the widest limit.

    Parameters
    ----------
    left, deviation
        In steps of 2^-15; of its noise.
    rows
        About how many rows there are.

    Notes
    -----
    The mean, less the nearer it is to twice the deviation; within that, as noise alone may have made it,
    predictions stay where they are: the fit knows them better.
    """
    kept = max(0.0, 1 - (2 * deviation / left) ** 2) if left else 0.0
    return kept * left / RESIDUAL_STEPS / max(rows, 1.0)


def squares(left: arrays.Whole) -> arrays.Integers:
    """Return the sum of squares of residuals, in steps of 2^-15 of the widest limit's square; shape (1,).

    Parameters
    ----------
    left
        Whole numbers within ± `REACH`.
    """
    return np.array([(left.astype(np.int64) ** 2 >> _DROPPED).sum()], dtype=np.int64)


def parts_of(squared: float, *, deviation: float, rows: float, multiple: float) -> int:
    """Return the limit, as how many quarters of a residual make one step where it is clipped.

    Parameters
    ----------
    squared
        The noisy sum of squares.
    deviation
        Of its noise; it is added, so that a sum of which little is known leaves the limit wide.
    rows
        About how many rows there are.
    multiple
        The limit is so many typical residuals.

    Returns
    -------
    int
        4 for the widest limit, 2 / limit else; see `limit_of`.
    """
    mean = max((squared + deviation) / FULL, 0.0) * float(WIDEST) ** 2 / max(rows, 1.0)
    wanted = multiple * sqrt(mean)
    narrowest = float(WIDEST) / NARROWEST
    return int(WHOLE * float(WIDEST) / min(max(wanted, narrowest), float(WIDEST)))


def share_inside(multiple: float) -> float:
    """Return which share of normally distributed residuals is within so many standard deviations."""
    return erf(multiple / sqrt(2))


def limit_of(parts: int) -> Fraction:
    """Return the limit, half of the declared range being 1.

    Examples
    --------
    >>> limit_of(WHOLE), limit_of(9)
    (Fraction(1, 2), Fraction(2, 9))
    """
    return WIDEST * WHOLE / parts


def limit_told(parts: int, bought: int, unit: float) -> dict[str, Any]:
    """Return what a released model says of its limit: as JSON values.

    Parameters
    ----------
    parts
        As `parts_of` says.
    bought
        The round before which it was asked for.
    unit
        Half of the declared range.
    """
    limit = limit_of(parts)
    told = {"clipping": str(limit), "limit": float(f"{float(limit) * unit:.4g}")}
    return told | {"limit_bought_before_round": bought}


def limit_card(model: Mapping[str, Any]) -> tuple[Text, ...]:
    """Return what the card of a model says of its limit, where it bought one."""
    if "limit" not in model:
        return ()
    return (
        Text(
            "models.limited",
            {"limit": model["limit"], "percent": round(100 * SPREAD_SHARE), "level": 100 * LEVEL_SHARE},
        ),
    )


def limit_view(model: Mapping[str, Any]) -> tuple[NumberView, ...]:
    """Return the limit as the reports show it, where a model bought one."""
    if "limit" not in model:
        return ()
    return (NumberView(Text("models.numbers.limit.label"), model["limit"], Text("models.numbers.limit")),)
