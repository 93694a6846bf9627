"""Numbers as they are written: read exactly, written as short as they can be read again."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

_LONGEST = 4000
_EXPONENT = re.compile(r"[eE][+-]?([0-9_]+)$")


def exact(value: Any) -> Fraction:
    """Return a number as an exact fraction of what was *written*: 0.1 is one tenth.

    Examples
    --------
    >>> exact(0.1), exact("1/3"), exact(2)
    (Fraction(1, 10), Fraction(1, 3), Fraction(2, 1))

    Raises
    ------
    ValueError
        Not a finite number, or one beyond 1e±999.
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool):
        raise ValueError("a truth value is not a number")
    text = str(value).strip()
    exponent = _EXPONENT.search(text)
    if len(text) > _LONGEST or (exponent is not None and len(exponent[1].lstrip("0")) > 3):
        raise ValueError("more digits than any quantity has")  # 1e999999999 would fill the memory
    return Fraction(text)


def written(value: Fraction) -> int | float | str:
    """Return an exact fraction as the shortest JSON value that `exact` reads back as the same fraction.

    Examples
    --------
    >>> written(Fraction(1, 10)), written(Fraction(3)), written(Fraction(1, 3))
    (0.1, 3, '1/3')
    """
    if value.denominator == 1:
        return value.numerator
    try:
        return float(value) if Fraction(str(float(value))) == value else str(value)
    except OverflowError:
        return str(value)


def plain(value: Any) -> Any:
    """Return an exact number as its JSON value, anything else as it is."""
    return written(value) if isinstance(value, Fraction) else value


def brief(value: float | None) -> float | None:
    """Return what a reader compares: whole numbers, else four digits; None for nothing.

    Examples
    --------
    >>> brief(0.000951306), brief(4258), brief(74434.41), brief(float("nan"))
    (0.0009513, 4258.0, 74434.4, None)
    """
    if value is None or math.isnan(value):
        return None
    if float(value).is_integer():
        return float(value)
    return round(float(value), 1) if abs(value) >= 1000 else float(f"{value:.4g}")


def of_hundred(part: float) -> float:
    """Return a part of a whole as so many of a hundred, with three digits.

    Examples
    --------
    >>> of_hundred(0.014785), of_hundred(1.0)
    (1.48, 100.0)
    """
    return float(f"{100 * part:.3g}")


def finite(value: float | None) -> float | None:
    """Return a number, or None where it is infinite and JSON has no word for it."""
    return value if value is not None and math.isfinite(value) else None


def exactly(value: Any) -> int | float | None:
    """Return a number from its exact written form ``"p/q"``; None stays None."""
    if value is None:
        return None
    fraction = exact(value)
    return int(fraction) if fraction.denominator == 1 else float(fraction)
