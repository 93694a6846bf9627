"""Text of a table that no spreadsheet takes for a formula."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
"""Pattern of a number in a table that leaves."""
_PLAIN = re.compile(rf"[+-]|{NUMBER}( to <?{NUMBER})?")
_BEHIND = re.compile(r"(?<=[;\r\n])[^;\r\n]+")


def escape_formula(cell: Any) -> Any:
    """Return a cell of a table with an apostrophe before what a spreadsheet could run as a formula.

    Notes
    -----
    Levels and headings come from declarations, and these from files that anybody may have made. Spreadsheets
    look past blanks and characters without width, and take wide forms of the signs as the signs themselves;
    ``+`` and ``-`` begin a formula too. Signs alone, numbers and intervals (``-5 to <0``) stay as they are.
    Where a semicolon is the list separator, as in much of Europe, a spreadsheet parts cells at it whatever
    the quotation marks say, and a line ends a row: what stands behind them is looked at like a cell.

    Examples
    --------
    >>> [escape_formula(cell) for cell in ("=1+1", "@SUM(A1)", "-1+1", "-5 to <0", "+", "-0.5", "a;=1")]
    ["'=1+1", "'@SUM(A1)", "'-1+1", '-5 to <0', '+', '-0.5', "a;'=1"]
    """
    if not isinstance(cell, str) or not cell:
        return cell
    return _BEHIND.sub(lambda part: _guard(part[0]), _guard(cell))


def _guard(cell: str) -> str:
    """Return text with an apostrophe before it where it begins a formula."""
    seen = unicodedata.normalize("NFKC", cell)
    begin = next(
        (place for place, sign in enumerate(seen) if unicodedata.category(sign)[0] not in "CZ"), None
    )
    if begin is None:
        return f"'{cell}" if cell[0] in "\t\r\n" else cell
    is_formula = seen[begin] in "=@" or (seen[begin] in "+-−" and not _PLAIN.fullmatch(seen[begin:]))
    return f"'{cell}" if is_formula or cell[0] in "\t\r\n" else cell
