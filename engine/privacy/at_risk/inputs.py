"""The numbers that a person may state: checked once, read as the decimals that were typed."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from engine.errors import InputRefused

Number = int | float | Fraction

LARGEST_LEVEL = 10**6
"""Above this a privacy level says nothing; refusing it keeps every sum below finite."""

SMALLEST_LEVEL = 1e-12

LARGEST_SENSITIVITY = 10**15
"""Whole numbers above this are no longer exact in the formulas."""


def positive(value: Number | str, *, name: str, largest: float = LARGEST_LEVEL) -> Fraction:
    """Return a positive finite number exactly as it was typed.

    Parameters
    ----------
    value
        Number, or its text. A float is read as the shortest decimal that denotes it, so that 0.6 means
        six tenths: some mechanisms have atoms at exactly such values.
    name
        What the person knows it as, for the message.
    largest
        Largest value that is accepted.

    Raises
    ------
    InputRefused
        ``at_risk.not_a_number``, ``at_risk.not_positive`` or ``at_risk.too_large``.

    Examples
    --------
    >>> positive(0.6, name="epsilon")
    Fraction(3, 5)
    """
    exact = _fraction(value, name)
    if exact <= 0:
        raise InputRefused("at_risk.not_positive", option=name, found=str(value))
    if exact > largest:
        raise InputRefused("at_risk.too_large", option=name, found=str(value), largest=int(largest))
    if float(exact) < SMALLEST_LEVEL:
        raise InputRefused("at_risk.too_small", option=name, found=str(value), smallest=str(SMALLEST_LEVEL))
    return exact


def level(value: Number | str, *, name: str) -> float:
    """Return a positive finite number as a float, where no atom depends on its exact value.

    Raises
    ------
    InputRefused
        As `positive`.

    Examples
    --------
    >>> level("0.6", name="epsilon")
    0.6
    """
    # The quick way for curves of many values; everything else is checked and explained by `positive`.
    if type(value) in (float, int) and SMALLEST_LEVEL <= value <= LARGEST_LEVEL:  # type: ignore[operator]
        return float(value)
    return float(positive(value, name=name))


def share(value: Number | str, *, name: str) -> Fraction:
    """Return a number strictly between 0 and 1: a confidence, a δ, a prior.

    Raises
    ------
    InputRefused
        ``at_risk.not_a_number`` or ``at_risk.not_a_share``.

    Examples
    --------
    >>> share("0.95", name="confidence")
    Fraction(19, 20)
    """
    exact = _fraction(value, name)
    if not (0 < exact < 1 and 0.0 < float(exact) < 1.0):
        raise InputRefused("at_risk.not_a_share", option=name, found=str(value))
    return exact


def whole(value: Number | str, *, name: str, largest: int = LARGEST_SENSITIVITY) -> int:
    """Return a whole number of at least 1.

    Raises
    ------
    InputRefused
        ``at_risk.not_a_number``, ``at_risk.not_whole`` or ``at_risk.too_large``.

    Examples
    --------
    >>> whole("3", name="dimensions")
    3
    """
    if type(value) is int and 1 <= value <= largest:
        return value
    exact = _fraction(value, name)
    if exact.denominator != 1 or exact < 1:
        raise InputRefused("at_risk.not_whole", option=name, found=str(value))
    if exact > largest:
        raise InputRefused("at_risk.too_large", option=name, found=str(value), largest=largest)
    return int(exact)


def _fraction(value: Number | str, name: str) -> Fraction:
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool):
        raise InputRefused("at_risk.not_a_number", option=name, found=str(value))
    try:
        # float() first: numpy's floats print as np.float64(…).
        written = repr(float(value)) if isinstance(value, float) else str(value).strip()
        if len(written) > 60:
            raise InputRefused("at_risk.not_a_number", option=name, found=written[:20] + "…")
        decimal = Decimal(written)
    except InvalidOperation as error:
        raise InputRefused("at_risk.not_a_number", option=name, found=str(value)) from error
    if not decimal.is_finite():
        raise InputRefused("at_risk.not_a_number", option=name, found=str(value))
    # An exponent such as 1e999999999 would make an integer of that many digits.
    if decimal and not -400 <= decimal.adjusted() <= 400:
        decimal = Decimal(0 if decimal.adjusted() < 0 else math.copysign(1e300, decimal))
    return Fraction(decimal)
