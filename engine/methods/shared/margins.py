"""How near a division of a budget comes to what the accountant proves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from engine.errors import InputRefused
from engine.privacy.accounting import total
from engine.privacy.events import Event, Neighbours
from engine.privacy.promise import Loss, Promise, Unit

MARGINS = (1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1)
"""How far below the level of one continuous normal noise a division stays, in the order of trial."""


def smallest_margin(
    events_of: Callable[[float], Event],
    epsilon: Fraction,
    delta: Fraction,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    margins: Sequence[float] = MARGINS,
) -> float | None:
    """Return the first margin with which the accountant accepts events; None where it accepts none.

    Parameters
    ----------
    events_of
        What the ledger would reserve, by the margin.
    epsilon, delta
        What they are to cost at most.
    neighbours
        The relation that they are about.
    margins
        In the order of trial.
    """
    for margin in margins:
        loss = Loss(epsilon, delta, neighbours, events_of(margin))
        try:
            total([Promise("approximate_dp", loss, Unit.ROW, 1)], delta=delta)
        except InputRefused:
            continue
        return margin
    return None
