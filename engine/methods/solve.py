"""Which budget an accuracy needs: the forecast read backwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import floor, log10

from engine.methods.budget import LARGEST, SMALLEST
from engine.methods.protocol import Budget, Expected, Method

_DIGITS = 3
_TRIES = 40


def epsilon_for_error(design: Method, *, size: int, limit: float) -> Fraction | None:
    """Return the smallest epsilon for which 95 of 100 errors stay below a limit.

    Parameters
    ----------
    design
        What is to be released. Its own epsilon is ignored; its delta and neighbours are kept.
    size
        Size of the group that the limit is for.
    limit
        Largest error that is acceptable of the first number forecast for that size, in its units, above 0.

    Returns
    -------
    Fraction or None
        Three significant digits, rounded up. None where no epsilon up to 10^12 reaches the limit, or where
        no number is forecast.

    Raises
    ------
    ValueError
        The limit is not above 0.

    Notes
    -----
    The forecast falls as epsilon rises. Errors are nearly proportional to 1/ε, so a proportional guess
    brackets the answer in a few steps; the rest is bisection on three significant digits. Reads no row.

    Examples
    --------
    >>> from engine.methods.catalogue import method
    >>> from engine.table.schema import Column, Domain, Kind, Origin, Schema
    >>> sex = Column("sex", kind=Kind.CATEGORY, domain=Domain(values=("f", "m")))
    >>> sex = replace(sex, domain_origin=Origin.DECLARED)
    >>> counts = method("statistics.counts")
    >>> request = counts.make_request({"people": Schema((sex,))}, {"columns": ["sex"]})
    >>> epsilon_for_error(counts(request), size=20, limit=6)
    Fraction(457, 1000)
    """
    if not limit > 0:
        raise ValueError("a limit is above 0")
    one_size = design.but(sizes=(size,))
    known: dict[Fraction, bool] = {}
    if not foresees(one_size):
        return None

    def error(epsilon: Fraction) -> float:
        return _error(one_size, epsilon)

    def enough(epsilon: Fraction) -> bool:
        if epsilon not in known:
            known[epsilon] = error(epsilon) <= limit
        return known[epsilon]

    low, high = _bracket(error, limit)
    if high is None:
        return None
    first, last = _rank(low), _rank(high)
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (first, middle) if enough(_value(middle)) else (middle, last)
    return _value(last)


def foresees(design: Method) -> bool:
    """Say whether the error of a number is forecast, of the sizes asked for: by declarations alone."""
    return any(error.size in (None, *design.request.sizes) for error in _errors(design, Fraction(1)))


def _errors(design: Method, epsilon: Fraction) -> tuple[Expected, ...]:
    chosen = design.request.budget
    budget = Budget(epsilon) if chosen is None else replace(chosen, epsilon=epsilon)
    return design.but(budget=budget).forecast.errors


def _error(design: Method, epsilon: Fraction) -> float:
    errors = _errors(design, epsilon)
    return next(error.limit for error in errors if error.size in (None, *design.request.sizes))


def _bracket(error: Callable[[Fraction], float], limit: float) -> tuple[Fraction, Fraction | None]:
    """Return an epsilon that is too small (or the smallest there is) and one that is enough."""
    low, guess = SMALLEST, Fraction(1)
    high: Fraction | None = None
    for _ in range(_TRIES):
        found = error(guess)
        if found <= limit:
            high = guess
            factor = Fraction(9, 10) * Fraction(max(found, limit / 1000)) / Fraction(limit)
        else:
            low = guess
            factor = Fraction(11, 10) * min(Fraction(1000), Fraction(found) / Fraction(limit))
        wanted = min(max(guess * factor, SMALLEST), LARGEST)
        wanted = _value(_rank(wanted))
        if (high is not None and wanted <= low) or wanted == guess or (high is not None and high < 2 * low):
            break
        guess = wanted
    return low, high


def _rank(value: Fraction) -> int:
    """Number the positive numbers of three significant digits; rounds up."""
    power = floor(log10(value)) - _DIGITS + 1
    digits = -((-value) // Fraction(10) ** power)
    return power * 900 + digits - 100  # 1000 is the first of the next power


def _value(rank: int) -> Fraction:
    power, digits = divmod(rank, 900)
    return (digits + 100) * Fraction(10) ** power
