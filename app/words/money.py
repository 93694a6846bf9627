"""Amounts of money and levels as people read them."""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction

from app import words
from engine import texts

SIGNS = {"EUR": "€", "GBP": "£", "USD": "$"}
CURRENCIES = ("EUR", "GBP", "USD", "CHF", "SEK", "DKK", "NOK", "PLN", "CZK", "HUF", "RON", "BGN")


def money(amount: float | Fraction | int, currency: str) -> str:
    r"""Write an amount in whole units, small ones in hundredths.

    >>> money(288196.3, "EUR"), money(12.5, "CHF"), money(0.25, "GBP")
    ('€\xa0288,196', 'CHF\xa012.50', '£\xa00.25')
    """
    sign = SIGNS.get(currency, currency)
    value = float(amount)
    written = f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:,.2f}"
    return words.say("app.window.money.written", sign=sign, amount=words.signed(written))


LARGEST = 10**300  # what a float can say


def as_float(value: float | Fraction) -> float:
    """Return a level as a float, however large it is."""
    return float(value) if value < LARGEST else float(LARGEST)


def level(epsilon: float | Fraction, *, up: bool = False, down: bool = False) -> str:
    """Write a privacy level with at least two decimals.

    ``up`` where it is spent, as in every report; ``down`` where it is left.

    >>> level(Fraction(1, 2)), level(Fraction(299, 500)), level(12)
    ('0.50', '0.598', '12.00')
    >>> level(Fraction(99999, 50000), up=True), level(Fraction(99999, 50000), down=True)
    ('2.00', '1.999')
    """
    short = f"{texts.plainly(as_float(epsilon), up=up, down=down):.4g}"
    whole, _, rest = short.partition(".")
    return words.signed(f"{whole}.{rest.ljust(2, '0')}" if "e" not in short else short)


def percent(share: float) -> str:
    r"""Write a share of certainty, rounded up as in every report, and never up to certain.

    >>> percent(0.6225), percent(0.99997), percent(0.5)
    ('62.3\xa0%', '>99.9 %', '50\xa0%')
    """
    if share > 0.999:
        return words.say("app.budget.almost_certain")
    whole, unit, _ = texts.percent_up(share).replace(".0\u00a0", "\u00a0").partition("\u00a0%")
    return words.signed(whole) + unit


def size(value: float) -> str:
    """Write an error with two significant digits, whole where it is large.

    >>> size(6.0), size(0.0533), size(13.4), size(1234.6)
    ('6', '0.053', '13', '1,235')
    """
    if value >= 10:
        return words.signed(f"{value:,.0f}")
    return words.signed(f"{value:.2g}")


def written_day(moment: str, *, time: bool = True) -> str:
    """Write an ISO moment as people do.

    >>> written_day("2026-03-12T10:58:00+01:00"), written_day("2027-12-31", time=False)
    ('12 March 2026, 10:58', '31 December 2027')
    """
    found = datetime.fromisoformat(moment)
    month = words.say(f"report.months.m{found.month}")
    day = words.say("report.words.day", day=str(found.day), month=month, year=str(found.year))
    return f"{day}, {found:%H:%M}" if time else day
