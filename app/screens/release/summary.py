"""What the first screen of a release says: what left, weakest first, and how good it is. No Qt."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app import words
from app.words.money import size
from engine import texts
from engine.methods.filling import Filling
from engine.release.verdict import Came
from engine.report.words import cell, margin_columns
from engine.views import TableView, Text, View, amount, is_aside, is_weak

SHOWN = 8
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
    def doubt(self) -> float:
        """How far it may be off, as a part of itself: what says least has most."""
        if self.is_silent or not self.value:
            return math.inf
        return (self.high - self.low) / (2 * abs(self.value))


def weakest(views: Sequence[View]) -> tuple[TableView, tuple[Line, ...]] | None:
    """Return the table whose numbers have margins, and its lines, weakest first; None where none has.

    Effects of a model go before all else, then the table with most lines. Lines for what is missing or was
    not declared stand for completeness only and are left out.
    """
    found = [(view, _lines(view)) for view in views if isinstance(view, TableView)]
    found = [(view, lines) for view, lines in found if lines]
    if not found:
        return None
    view, lines = max(found, key=lambda one: (_ends(one[0].title, EFFECTS), len(one[1])))
    return view, tuple(sorted(lines, key=lambda one: (-one.doubt, abs(one.value))))


def _lines(view: TableView) -> list[Line]:
    places = _places(view)
    if places is None:
        return []
    value, low, high = places
    names = [at for at in range(value) if any(isinstance(row[at], str | Text) for row in view.rows)]
    between = ": " if _ends(view.title, EFFECTS) else ", "
    found = []
    for row in view.rows:
        centre, one, other = amount(row[value]), amount(row[low]), amount(row[high])
        if centre is None or one is None or other is None or any(map(is_aside, row)):
            continue
        centre = float(centre)
        ends = (centre - one, centre + one) if low == high else (float(one), float(other))
        covers = low != high and ends[0] <= 0 <= ends[1]
        name = between.join(cell(row[at], words.language()) for at in names if row[at] is not None)
        found.append(Line(name, centre, *ends, is_weak(row[value]) or covers))
    digits = decimals([(one.high - one.low) / 2 for one in found])
    signed = _ends(view.title, EFFECTS)
    return [_written(one, digits, signed=signed) for one in found]


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
    return [f"{value:,.{digits}f}" for value in values]


def _written(one: Line, digits: int, *, signed: bool) -> Line:
    """Return a line with its number and its margin in the form that all of their list have."""
    value = round(one.value, digits) + 0.0  # not −0
    number = f"{value:{'+' if signed and value else ''},.{digits}f}".replace("-", "−")
    return replace(one, written=number, margin=f"± {(one.high - one.low) / 2:,.{digits}f}")


def _places(view: TableView) -> tuple[int, int, int] | None:
    """Return where the number stands, and its margin (twice the same place) or both ends of its interval."""
    margins = margin_columns(view)
    if margins:
        return margins[0] - 1, margins[0], margins[0]
    low = next((at for at, one in enumerate(view.headings) if _ends(one, _LOW)), 0)
    high = next((at for at, one in enumerate(view.headings) if _ends(one, _HIGH)), 0)
    return (low - 1, low, high) if low > 0 and high > 0 else None


def _ends(label: object, end: str) -> bool:
    return isinstance(label, Text) and label.id.endswith(end)


@dataclass(frozen=True)
class Readable:
    """How many numbers can be read, of how many, and what the forecast had said; None where it had none."""

    what: str
    can: int
    of: int
    forecast: int | None = None

    @property
    def is_poor(self) -> bool:
        """Whether less than all can be read."""
        return self.can < self.of


def readable(views: Sequence[View], came: Sequence[Came], before: Any) -> Readable | None:
    """Return how many of the numbers that left can be read; None where no number has a margin."""
    found = weakest(views)
    silent = next((one for one in came if one.what in ("effects", "cells")), None)
    forecast = before.above if isinstance(before, Filling) else None
    if silent is not None:
        forecast = forecast if isinstance(before, Filling) and before.cells == silent.of else None
        return Readable(silent.what, silent.of - silent.silent, silent.of, forecast)
    if found is None:
        return None
    view, lines = found
    is_effects = _ends(view.title, EFFECTS)
    can = sum(not one.is_silent for one in lines)
    forecast = forecast if isinstance(before, Filling) and before.cells == len(lines) else None
    return Readable("effects" if is_effects else "cells", can, len(lines), forecast)


@dataclass(frozen=True)
class Measured:
    """One thing that was measured on real rows: the end of its text, how it is written, its bar, its tone."""

    name: str
    written: str
    share: float | None = None
    tone: str = "accent"
    values: Mapping[str, Any] = field(default_factory=dict)


MOST_MEASURED = 4


def measured(internal: Mapping[str, Any]) -> tuple[Measured, ...]:
    """Return what was measured on the real rows, in few lines; empty where nothing was."""
    found = internal.get("measures", {})
    lines = [*_held_out(found), *_off(found), *_groups(found), *_kept(found), *_left_out(found)]
    return tuple(lines[:MOST_MEASURED])


def _held_out(found: Mapping[str, Any]) -> Iterator[Measured]:
    """How far a model is off on people who were kept apart, beside who does not look at them."""
    for one in found.get("utility.held_out_score", {}).values():
        errors = {name: one.get(name) for name in ("guess", "error", "without_noise")}
        known = {name: value for name, value in errors.items() if isinstance(value, int | float)}
        written = dict(zip(known, alike(list(known.values())), strict=True))
        top = max(known.values(), default=0) or 1
        for name, value in known.items():
            worse = name == "error" and value >= known.get("guess", math.inf)
            tone = "care" if worse else "accent" if name == "error" else "edge"
            yield Measured(name, written[name], value / top, tone, {"rows": one.get("rows", 0)})
        return  # of one model: the others stand in the tables


def _off(found: Mapping[str, Any]) -> Iterator[Measured]:
    """How many released numbers lie within their margin, and how far the worst is off."""
    every = [one for one in found.get("utility.released_error", {}).values() if one.get("cells")]
    if not every:
        return
    cells, within = sum(one["cells"] for one in every), sum(one.get("within") or 0 for one in every)
    of = words.say("app.release.figure.of", can=within, of=cells)
    yield Measured("within", of, within / cells, "accent" if within >= 0.9 * cells else "care")
    first = every[0]
    for name in ("median", "largest"):
        if isinstance(first.get(name), int | float):
            yield Measured(name, size(first[name]))


def _groups(found: Mapping[str, Any]) -> Iterator[Measured]:
    after = found.get("risk.after", {})
    both = [after.get(name, {}) for name in ("original", "released")]
    if not all("alone" in one for one in both):
        return
    top = max(one["alone"] for one in both) or 1
    for name, one, tone in zip(("alone_before", "alone_after"), both, ("care", "accent"), strict=True):
        yield Measured(name, texts.number(one["alone"]), one["alone"] / top, tone)


def _kept(found: Mapping[str, Any]) -> Iterator[Measured]:
    kept = found.get("utility.synthetic_kept", {})
    for name in ("one_way", "two_way"):
        if isinstance(kept.get(name), int | float):
            share = float(kept[name])
            yield Measured(name, _in_hundred(share), share, "care" if share > POOR else "accent")


POOR = 0.1  # share of invented rows with other values than those of people, from which on it stands out


def _left_out(found: Mapping[str, Any]) -> Iterator[Measured]:
    kept = found.get("utility.rows_kept", {})
    for name in ("left_out", "changed"):
        if isinstance(kept.get(name), int | float):
            yield Measured(name, _in_hundred(float(kept[name])), float(kept[name]))


def _in_hundred(share: float) -> str:
    return f"{100 * share:.2g}\u00a0%" if share else "0\u00a0%"
