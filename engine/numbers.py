"""Numbers as they are written: read exactly, written as short as they can be read again."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

_LONGEST = 4000
_SIGNS = str.maketrans(dict.fromkeys("%€£$¥", "") | dict.fromkeys("’ʼ′", "'") | {"\u2212": "-"})
_MONEY = "EUR|CHF|GBP|USD|SEK|DKK|NOK|PLN|CZK|HUF|RON|BGN|Euro|Fr\\.?|kr\\.?|zł|Kč|Ft|lei"
_BEFORE = re.compile(rf"^(?:{_MONEY})\s*(?=[-+.,\d])", re.IGNORECASE)
_AFTER = re.compile(rf"(?:(?<=[\d.,])\s*(?:{_MONEY})|,[-–—]+)$", re.IGNORECASE)
_TIMES = {
    **dict.fromkeys(("k", "tsd", "tsd.", "thousand", "tausend", "mille", "mila"), 1000),
    **dict.fromkeys(("mio", "mio.", "million", "millions", "millionen", "milioni", "miljoen"), 10**6),
}
_FACTOR = re.compile(r"(?<=\d)\s*([A-Za-z]+\.?)$")
_GROUPED = {mark: re.compile(rf"[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+") for mark in ".,' "}
_EXPONENT = re.compile(r"[eE][+-]?([0-9]+)$")
_DECIMAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_WRITTEN = re.compile(rf"{_DECIMAL}|[+-]?[0-9]+/[0-9]+")


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

    Notes
    -----
    The one rule by which a text is a number, here and wherever else one is read: digits 0 to 9 with a point,
    an exponent, or a fraction of two whole numbers. Python itself would also take ``1_0`` for ten, and the
    digits of other scripts.
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool):
        raise ValueError("a truth value is not a number")
    text = str(value).strip()
    exponent = _EXPONENT.search(text)
    if len(text) > _LONGEST or (exponent is not None and len(exponent[1].lstrip("0")) > 3):
        raise ValueError("more digits than any quantity has")  # 1e999999999 would fill the memory
    if _WRITTEN.fullmatch(text) is None:
        raise ValueError("not a number as it is written")
    return Fraction(text)


def whole(value: Any) -> int:
    """Return a whole number, by the rule of `exact`.

    Raises
    ------
    ValueError
        Not a whole number.

    Examples
    --------
    >>> whole(" 12 "), whole("1e3")
    (12, 1000)
    """
    found = exact(value)
    if found.denominator != 1:
        raise ValueError("not a whole number")
    return found.numerator


def nearest(text: str) -> float:
    """Return the float nearest to a decimal number as it is written, by the rule of `exact`.

    Raises
    ------
    ValueError
        Not a decimal number, or too large for a float.

    Examples
    --------
    >>> nearest(" 2.50 "), nearest("1e3")
    (2.5, 1000.0)
    """
    if "/" in text:
        raise ValueError("a fraction is not written as a decimal number")
    try:
        return float(exact(text))
    except OverflowError as error:
        raise ValueError("too large for a float") from error


def readings(text: str) -> tuple[Fraction, ...]:
    """Return every number that a person may have meant, the one with a mark of thousands first.

    Parameters
    ----------
    text
        A number as people write it in any country: points, commas, blanks or apostrophes between thousands,
        a point or a comma before decimals, a fraction, a percent sign, a currency, ``Tsd`` or ``Mio``.

    Returns
    -------
    tuple of Fraction
        None where it is no number; two where it may be either: a single point or comma before three digits.

    Examples
    --------
    >>> readings("250 000"), readings("1.000,50"), readings("2,5"), readings("0.001"), readings("soon")
    ((Fraction(250000, 1),), (Fraction(2001, 2),), (Fraction(5, 2),), (Fraction(1, 1000),), ())
    >>> readings("1.250")
    (Fraction(1250, 1), Fraction(5, 4))
    """
    if len(text) > _LONGEST:
        return ()
    body = _AFTER.sub("", _BEFORE.sub("", " ".join(text.translate(_SIGNS).split()).replace(" / ", "/")))
    factor, times = _FACTOR.search(body), 1
    if factor is not None and factor[1].lower() in _TIMES:
        times, body = _TIMES[factor[1].lower()], body[: factor.start()]
    sign, body = (body[0], body[1:].strip()) if body[:1] in ("+", "-") else ("", body)
    return tuple(dict.fromkeys((-one if sign == "-" else one) * times for one in _unsigned(body)))


def _unsigned(body: str) -> tuple[Fraction, ...]:
    """Return what an unsigned number without units may mean."""
    if not body or not (body[0].isdigit() or body[0] in ".,"):
        return ()
    if not set(body) <= set("0123456789., '"):
        return _exact_or_none(body)  # a fraction, or an exponent
    if " " in body or "'" in body:
        mark = " " if " " in body else "'"
        whole, point, rest = _split_at_last(body, ".,")
        fits = _GROUPED[mark].fullmatch(whole) and (rest.isdigit() or not point)
        return _exact_or_none(f"{whole.replace(mark, '')}{'.' if point else ''}{rest}") if fits else ()
    points, commas = body.count("."), body.count(",")
    if points and commas:
        whole, _, rest = _split_at_last(body, ".,")
        other = "," if body.rindex(".") > body.rindex(",") else "."
        fits = _GROUPED[other].fullmatch(whole) and rest.isdigit()
        return _exact_or_none(f"{whole.replace(other, '')}.{rest}") if fits else ()
    mark = "." if points else ","
    grouped = _GROUPED[mark].fullmatch(body) is not None
    if points + commas > 1:
        return _exact_or_none(body.replace(mark, "")) if grouped else ()
    decimal = _exact_or_none(body.replace(",", "."))
    return (*_exact_or_none(body.replace(mark, "")), *decimal) if grouped else decimal


def _split_at_last(body: str, marks: str) -> tuple[str, str, str]:
    place = max(body.rfind(mark) for mark in marks)
    return (body, "", "") if place < 0 else (body[:place], body[place], body[place + 1 :])


def _exact_or_none(body: str) -> tuple[Fraction, ...]:
    try:
        return (exact(body),)
    except (ValueError, ZeroDivisionError):
        return ()


def surely(text: str) -> Fraction | None:
    """Return the number that a text means, or None where it is none or may be two.

    Examples
    --------
    >>> surely("250'000"), surely("250.000")
    (Fraction(250000, 1), None)
    """
    found = readings(text)
    return found[0] if len(found) == 1 else None


def unmistakable(value: Fraction | int | float | str) -> str:
    """Return a number as it is written so that `surely` reads it back.

    Examples
    --------
    >>> unmistakable(Fraction(9, 8)), unmistakable(Fraction(250000)), unmistakable("1/3")
    ('1.1250', '250000', '1/3')
    """
    plainly = str(shortest_json(exact(value)))
    return plainly if len(readings(plainly)) == 1 else f"{plainly}0"


def shortest_json(value: Fraction) -> int | float | str:
    """Return an exact fraction as the shortest JSON value that `exact` reads back as the same fraction.

    Examples
    --------
    >>> shortest_json(Fraction(1, 10)), shortest_json(Fraction(3)), shortest_json(Fraction(1, 3))
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
    return shortest_json(value) if isinstance(value, Fraction) else value


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
