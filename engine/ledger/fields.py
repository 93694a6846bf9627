"""What is written into the ledger: exact numbers (never a float), texts, days, hashes."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from engine.errors import InputRefused

_NUMBER = re.compile(
    r"\+?(\d{1,1000}/\d{1,1000}|(\d{1,300}(\.\d{0,300})?|\.\d{1,300})([eE][+-]?\d{1,3})?)", re.ASCII
)
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_LONGEST_TEXT = 4000
_LONGEST = 3000  # bits of a numerator or denominator: far below what Python refuses to write as text


INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_ALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d"
    "\u0432\u043c\u043d\u043a\u0442\u03b1\u03b2\u03b5\u03b6\u03b7\u03b9\u03ba\u03bc\u03bd"
    "\u03bf\u03c1\u03c4\u03c5\u03c7\u2019\u02bc\u2018"
    "\u0262\u026a\u0274\u0280\u028f\u0299\u029c\u029f\u1d00\u1d04\u1d05\u1d07\u1d0a\u1d0b"
    "\u1d0d\u1d0f\u1d18\u1d1b\u1d1c\u1d20\u1d21\u1d22\ua730\ua731\u0251\u0261\u0269\u0131"
    "\u017f\u0237\u01c0",
    "aeopcyxijshdqwbmhktabezhikmnoptyx\u0027\u0027\u0027ginrybhlacdejkmoptuvwzfsagiisjl",
)
"""Letters of other scripts, marks, and Latin letters of phonetics, to what they look like."""


def write_canonical(tree: Mapping[str, Any]) -> str:
    """Return the one JSON text of a tree: keys sorted, no blanks, no NaN."""
    return json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def exact(value: object, code: str, *, zero: bool = False, below_one: bool = False) -> Fraction:
    """Return a budget as an exact fraction.

    Parameters
    ----------
    value
        Fraction, whole number, Decimal, or text such as ``"1/3"``, ``"0.25"``, ``"1e-6"``. Never a float:
        0.1 as a float is not one tenth.
    code
        Code of the refusal, ``"ledger.bad_epsilon"`` for instance.
    zero, below_one
        Whether zero is allowed, whether one and above are refused.

    Raises
    ------
    InputRefused
        A float, not a number, infinite, negative, zero unless allowed, or with absurdly many digits.

    Examples
    --------
    >>> exact("0.1", "ledger.bad_epsilon") + exact("1/5", "ledger.bad_epsilon")
    Fraction(3, 10)
    """
    found = _fraction(value)
    fits = found is not None and (found > 0 or (zero and found == 0)) and not (below_one and found >= 1)
    if found is None or not fits or max(found.numerator, found.denominator).bit_length() > _LONGEST:
        raise InputRefused(code, found=str(value)[:40])
    return found


def _fraction(value: object) -> Fraction | None:
    if isinstance(value, Fraction) or (isinstance(value, int) and not isinstance(value, bool)):
        return Fraction(value)
    if isinstance(value, Decimal):
        value = str(value)
    if not isinstance(value, str) or _NUMBER.fullmatch(value.strip()) is None:
        return None
    try:
        return Fraction(value.strip())
    except ZeroDivisionError:
        return None


def write_fraction(value: Fraction | None) -> str | None:
    """Return ``"p/q"``, the form in which a fraction is stored."""
    return None if value is None else f"{value.numerator}/{value.denominator}"


def write_at_most(value: Fraction) -> str:
    """Write a fraction in at most nine digits, never more than it is (for what is left).

    Examples
    --------
    >>> write_at_most(Fraction(1, 3)), write_at_least(Fraction(1, 3))
    ('0.333333333', '0.333333334')
    """
    return _decimal(value, ROUND_FLOOR)


def write_at_least(value: Fraction) -> str:
    """Write a fraction in at most nine digits, never less than it is (for what is asked)."""
    return _decimal(value, ROUND_CEILING)


def _decimal(value: Fraction, rounding: str) -> str:
    # One rounding only: the integers of a fraction are exact as decimals. Floor for what is left and ceiling
    # for what is asked, so that a refusal never shows two numbers that seem to fit.
    context = Context(prec=9, rounding=rounding)
    found = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{found:f}" if found == 0 or abs(found) >= Decimal("1e-4") else f"{found:g}"


def check_words(value: object, field: str, *, required: bool = False) -> str:
    """Return what a person wrote, without blanks around it; refuse what cannot be stored."""
    text = str(value).strip() if isinstance(value, str) else ""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = "\0"
    if not isinstance(value, str) or "\0" in text or len(text) > _LONGEST_TEXT:
        raise InputRefused("ledger.bad_text", field=field, longest=_LONGEST_TEXT)
    if required and not text:
        raise InputRefused(f"ledger.no_{field}")
    return text


def check_currency(value: object) -> str:
    """Return a currency as it is entered: three capital letters, or nothing said."""
    text = check_words(value, "currency")
    if text and re.fullmatch("[A-Z]{3}", text) is None:
        raise InputRefused("ledger.bad_currency", found=text[:40])
    return text


def write_day(value: str | None) -> str | None:
    """Return a day as ISO text, or None for none."""
    if value is None or value == "":
        return None
    try:
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError) as error:
        raise InputRefused("ledger.bad_day") from error


def hexadecimal(value: object, field: str) -> str:
    """Return a SHA-256 in lower-case hexadecimal."""
    if not isinstance(value, str) or _SHA256.fullmatch(value) is None:
        raise InputRefused("ledger.bad_hash", field=field)
    return value.lower()


def seen_as(name: str) -> str:
    """Return a name by how it looks: capitals, blanks, ways to write a letter and letters that look alike.

    Examples
    --------
    >>> seen_as("Patients\u00a0 B\u200b") == seen_as("p\u0430tients b")
    True
    """
    plain = INVISIBLE.sub("", unicodedata.normalize("NFKC", name)).casefold()
    shown = "".join(sign for sign in plain if unicodedata.category(sign) != "Cf")
    return " ".join(shown.translate(_ALIKE).split())
