"""Bounds that stand in the rows, rounded outward: the lowest and highest value are somebody's own."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction

from engine.table.schema import Domain, Kind

LONG = 366  # days of a span from which on bounds are whole years


def round_outward(domain: Domain, kind: Kind | None = None) -> Domain:
    """Return a domain whose bounds are the next round ones around those that were seen.

    Numbers are rounded to the first digit of their span, days to months, and to years where they span more
    than one. Lists, moments and a step that no round number fits stay as they are: how many come a week is
    counted over all days between the bounds of a moment.

    Parameters
    ----------
    domain
        As it was seen in the rows.
    kind
        Of the column; a moment may have days for bounds.

    Returns
    -------
    Domain
        The same where its bounds are round.

    Notes
    -----
    A proposal and no protection: it still comes from the rows, and is declared only when the custodian says
    that it would be the same for other people.

    Examples
    --------
    >>> wide = round_outward(Domain(Fraction(18), Fraction(93)))
    >>> int(wide.minimum), int(wide.maximum)
    (10, 100)
    >>> wide = round_outward(Domain("2024-03-05", "2025-02-27"))
    >>> wide.minimum, wide.maximum
    ('2024-03-01', '2025-02-28')
    >>> round_outward(Domain(values=("a", "b"))).values
    ('a', 'b')
    """
    low, high = domain.minimum, domain.maximum
    if kind is Kind.MOMENT:
        return domain
    if isinstance(low, Fraction) and isinstance(high, Fraction) and low < high:
        unit = _unit(high - low)
        lowest, highest = low // unit * unit, -(-high // unit) * unit
        if domain.step and ((low - lowest) % domain.step or (highest - high) % domain.step):
            return domain
        return replace(domain, minimum=lowest, maximum=highest)
    if isinstance(low, str) and isinstance(high, str):
        try:
            first, last = date.fromisoformat(low), date.fromisoformat(high)
        except ValueError:  # they say a time of day
            return domain
        if domain.step:
            return domain
        return replace(domain, minimum=_begin(first, last).isoformat(), maximum=_end(first, last).isoformat())
    return domain


def _unit(span: Fraction) -> Fraction:
    """Return the power of ten that is the first digit of a span."""
    unit = Fraction(1)
    while unit * 10 <= span:
        unit *= 10
    while unit > span:
        unit /= 10
    return unit


def _begin(first: date, last: date) -> date:
    return first.replace(month=1, day=1) if (last - first).days >= LONG else first.replace(day=1)


def _end(first: date, last: date) -> date:
    if (last - first).days >= LONG:
        return last.replace(month=12, day=31)
    after = (last.replace(day=28) + timedelta(days=4)).replace(day=1)
    return after - timedelta(days=1)
