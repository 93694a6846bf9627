"""What numbers, dates and signs for missing values look like when they are written as text."""

from __future__ import annotations

import re
from datetime import date, datetime

MISSING_CODES = (
    *(
        "?",
        ".",
        "-",
        "--",
        "*",
        "NA",
        "N/A",
        "n/a",
        "na",
        "#N/A",
        "#NA",
        "NULL",
        "Null",
        "null",
        "NaN",
        "nan",
    ),
    *("None", "none", "NONE", "missing", "Missing", "MISSING", "unknown", "Unknown", "UNKNOWN", "Unk", "UNK"),
    *("unbekannt", "Unbekannt", "k.A.", "k. A.", "inconnu", "Inconnu", "desconocido", "Desconocido"),
    *("sconosciuto", "Sconosciuto", "onbekend", "Onbekend", "#NULL!", "#VALUE!", "#REF!", "#DIV/0!", "<NA>"),
)
"""Words and signs that often stand for a missing value. Proposed, never applied unasked."""

PLACEHOLDER_DAYS = (
    *("0001-01-01", "1111-11-11", "1753-01-01", "1800-01-01", "1899-12-30", "1899-12-31", "1900-01-01"),
    *("1901-01-01", "1904-01-01", "1960-01-01", "1970-01-01", "2099-12-31", "2100-01-01", "2199-12-31"),
    *("2999-12-31", "3000-01-01", "9999-01-01", "9999-12-31"),
)
"""Days with which calendars of programs begin or end: they often stand for a day that nobody knows."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?)?")
LONGEST = 100
"""Characters of the longest cell that is taken for a number."""
LONGEST_DATE = 40
"""Characters of the longest cell that is taken for a date."""

# Each takes time linear in the length of a cell: no two parts that can share the same digits.
_NUMBER = {
    mark: re.compile(rf"[+-]?(\d+({mark}\d*)?|{mark}\d+)([eE][+-]?\d+)?", re.ASCII) for mark in (r"\.", ",")
}
_GROUPED = {
    ",": re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?", re.ASCII),
    ".": re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", re.ASCII),
}
_DATE = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?", re.ASCII)


def is_number(cell: str, decimal: str = ".") -> bool:
    """Say whether a cell is a number with a decimal point, or with ``decimal=","`` with a comma.

    Examples
    --------
    >>> is_number(" 1.5e3 "), is_number("1,5"), is_number("1,5", ",")
    (True, False, True)
    """
    return (
        len(cell) <= LONGEST and _NUMBER["," if decimal == "," else r"\."].fullmatch(cell.strip()) is not None
    )


def is_grouped(cell: str, decimal: str) -> bool:
    """Say whether a cell is a number with signs between its thousands.

    Examples
    --------
    >>> is_grouped("1.234,5", ","), is_grouped("1,234,567", "."), is_grouped("12,34", ".")
    (True, True, False)
    """
    return len(cell) <= LONGEST and _GROUPED[decimal].fullmatch(cell.strip()) is not None


def is_date(cell: str) -> bool:
    """Say whether a cell has the form of a date: three numbers with the same mark between them.

    Examples
    --------
    >>> is_date("31.12.2020 23:59"), is_date("31.12-2020")
    (True, False)
    """
    if len(cell) > LONGEST_DATE or cell[:1].isalpha():
        return False
    return _DATE.fullmatch(cell.strip()) is not None


def date_order_of(cell: str) -> str | None:
    """Return ``ymd``, ``dmy``, ``mdy``, ``"?"`` where day and month cannot be told apart, None for no date.

    Examples
    --------
    >>> [date_order_of(cell) for cell in ("2020-02-29", "31.12.2020", "12/31/2020", "1/2/2020", "x")]
    ['ymd', 'dmy', 'mdy', '?', None]
    """
    if len(cell) > LONGEST_DATE or cell[:1].isalpha():
        return None
    match = _DATE.fullmatch(cell.strip())
    if match is None:
        return None
    first, second, third = match.group(1), match.group(3), match.group(4)
    if len(first) == 4 and len(third) <= 2:
        return "ymd" if 1 <= int(second) <= 12 and 1 <= int(third) <= 31 else None
    if len(first) > 2 or len(third) != 4:
        return None
    left, right = int(first), int(second)
    if not (1 <= left <= 31 and 1 <= right <= 31) or (left > 12 and right > 12):
        return None
    return "dmy" if left > 12 else "mdy" if right > 12 else "?"


def is_day(value: object) -> bool:
    """Say whether a value is a day of the calendar, written year-month-day and in no other form.

    Examples
    --------
    >>> is_day("2020-02-29"), is_day("2020-02-30"), is_day("2020-W01-1"), is_day(20200229)
    (True, False, False, False)
    """
    if not isinstance(value, str) or _DAY.fullmatch(value) is None:
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def is_moment(value: object) -> bool:
    """Say whether a value is a declared moment: a day, or a day with hour and minute, without a zone.

    Examples
    --------
    >>> is_moment("2020-02-29T23:59"), is_moment("2020-02-29"), is_moment("2020-02-29T25:00")
    (True, True, False)
    """
    if not isinstance(value, str) or _MOMENT.fullmatch(value) is None:
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True
