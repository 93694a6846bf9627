"""What numbers, dates and signs for missing values look like when they are written as text."""

from __future__ import annotations

import re

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

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
NUMBER_COMMA = re.compile(r"\s*[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?\s*")
GROUPED_COMMA = re.compile(r"\s*[+-]?\d{1,3}(\.\d{3})+(,\d+)?\s*")
GROUPED_POINT = re.compile(r"\s*[+-]?\d{1,3}(,\d{3})+(\.\d+)?\s*")
DATE = re.compile(r"\s*(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?\s*")


def date_order_of(cell: str) -> str | None:
    """Return ``ymd``, ``dmy``, ``mdy``, ``"?"`` where day and month cannot be told apart, None for no date.

    Examples
    --------
    >>> [date_order_of(cell) for cell in ("2020-02-29", "31.12.2020", "12/31/2020", "1/2/2020", "x")]
    ['ymd', 'dmy', 'mdy', '?', None]
    """
    if len(cell) > 40 or not cell[:1].isdigit():
        return None
    match = DATE.fullmatch(cell)
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
