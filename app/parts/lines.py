"""Numbers that have a margin, as lines with a band: what they are about, and how both are written. No Qt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app import words
from engine.report.words import cell, margin_columns
from engine.views import TableView, Text, View, amount, is_aside, is_weak

EFFECTS = ".views.effects.title"
_LOW, _HIGH = ".headings.low", ".headings.high"


@dataclass(frozen=True)
class Line:
    """A number that left: what it is about, its band, and how both are written."""

    name: str
    value: float
    low: float
    high: float
    is_silent: bool
    written: str = ""
    margin: str = ""

    @property
    def half(self) -> float:
        """How far it may be off."""
        return (self.high - self.low) / 2

    @property
    def doubt(self) -> float:
        """How far it may be off, as a part of itself: what says least has most."""
        if self.is_silent or not self.value:
            return math.inf
        return self.half / abs(self.value)


def weakest(views: Sequence[View]) -> tuple[TableView, tuple[Line, ...]] | None:
    """Return the table whose numbers have margins, and its lines, weakest first; None where none has.

    Effects of a model go before all else, then the table with most lines. Lines for what is missing or was
    not declared stand for completeness only and are left out.
    """
    found = [(view, lines(view)) for view in views if isinstance(view, TableView)]
    found = [(view, some) for view, some in found if some]
    if not found:
        return None
    view, some = max(found, key=lambda one: (ends_with(one[0].title, EFFECTS), len(one[1])))
    return view, tuple(sorted(some, key=lambda one: (-one.doubt, abs(one.value))))


def lines(view: TableView) -> list[Line]:
    """Return the numbers of a table that have a margin or an interval, in its order; empty where none has."""
    places = _places(view)
    if places is None:
        return []
    value, low, high = places
    names = [at for at in range(value) if any(isinstance(row[at], str | Text) for row in view.rows)]
    between = ": " if ends_with(view.title, EFFECTS) else ", "
    found = []
    for row in view.rows:
        centre, one, other = amount(row[value]), amount(row[low]), amount(row[high])
        if centre is None or one is None or other is None or any(map(is_aside, row)):
            continue
        centre = float(centre)
        ends = (centre - one, centre + one) if low == high else (float(one), float(other))
        covers = low != high and ends[0] <= 0 <= ends[1]
        name = between.join(cell(row[at], words.language()) for at in names if row[at] not in (None, ""))
        found.append(Line(name, centre, *ends, is_weak(row[value]) or covers))
    digits = decimals([one.half for one in found])
    signed = ends_with(view.title, EFFECTS)
    return [_write(one, _enough(one, digits), signed=signed) for one in found]


def alone(line: Line) -> Line:
    """Return a line as it is written where no other stands beside it: with two digits of its own margin."""
    return _write(line, decimals([line.half]), signed=False)


def _enough(line: Line, digits: int) -> int:
    """Return decimals with which a margin is still itself: a share beside counts would be 0 ± 0."""
    return digits if abs(round(line.half, digits) - line.half) <= line.half / 4 else decimals([line.half])


def decimals(margins: Sequence[float]) -> int:
    """Return how many decimals all numbers of a list have: two digits of the margin in the middle.

    >>> decimals([6.0, 6.0]), decimals([0.085, 0.15, 0.61]), decimals([])
    (0, 2, 0)
    """
    known = sorted(one for one in margins if one > 0 and math.isfinite(one))
    if not known or all(float(one).is_integer() for one in known):
        return 0
    return min(max(1 - math.floor(math.log10(known[len(known) // 2])), 0), 6)


def alike(values: Sequence[float]) -> list[str]:
    """Return numbers that are compared, all with as many decimals as three digits of the largest take.

    >>> alike([3.0251, 2.9984]), alike([1234.5, 9.1]), alike([0.0])
    (['3.03', '3.00'], ['1,234', '9'], ['0.00'])
    """
    top = max(map(abs, values), default=0.0)
    digits = min(max(2 - math.floor(math.log10(top)), 0), 6) if top else 2
    return [words.signed(f"{value:,.{digits}f}") for value in values]


def _write(one: Line, digits: int, *, signed: bool) -> Line:
    """Return a line with its number and its margin in the form that all of their list have."""
    value = round(one.value, digits) + 0.0  # not −0
    number = words.signed(f"{value:{'+' if signed and value else ''},.{digits}f}".replace("-", "−"))
    return replace(one, written=number, margin=words.signed(f"± {one.half:,.{digits}f}"))


def _places(view: TableView) -> tuple[int, int, int] | None:
    """Return where the number stands, and its margin (twice the same place) or both ends of its interval."""
    margins = margin_columns(view)
    if margins:
        return margins[0] - 1, margins[0], margins[0]
    low = next((at for at, one in enumerate(view.headings) if ends_with(one, _LOW)), 0)
    high = next((at for at, one in enumerate(view.headings) if ends_with(one, _HIGH)), 0)
    return (low - 1, low, high) if low > 0 and high > 0 else None


def ends_with(label: object, end: str) -> bool:
    return isinstance(label, Text) and label.id.endswith(end)
