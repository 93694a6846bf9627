"""What the first screen of a release says: how much can be read, and how good it is. No Qt."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app import words
from app.parts.lines import EFFECTS, alike, ends_with, weakest
from app.words.money import size
from engine.methods.filling import Filling
from engine.methods.protocol import unit_parts
from engine.release.verdict import Came
from engine.views import View

SHOWN = 8


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
    counted = next((one for one in came if one.what in ("effects", "cells")), None)
    if counted is not None:
        what, can, of = counted.what, counted.of - counted.silent, counted.of
    else:
        found = weakest(views)
        if found is None:
            return None
        view, lines = found
        what = "effects" if ends_with(view.title, EFFECTS) else "cells"
        can, of = sum(not one.is_silent for one in lines), len(lines)
    was_foreseen = isinstance(before, Filling) and before.cells == of
    return Readable(what, can, of, before.above if was_foreseen else None)


def widest_margin(views: Sequence[View]) -> float | None:
    """Return the largest margin of the numbers that left, as part 1 shows them; None where none has one.

    A forecast is for a group of a declared size; the numbers that left say how far they are off themselves.
    """
    found = weakest(views)
    if found is None or ends_with(found[0].title, EFFECTS):
        return None
    return max((one.high - one.low) / 2 for one in found[1])


def unit_of_margin(expected: Sequence[Mapping[str, Any]], limit: str) -> str:
    """Return the unit of a margin as it is written: that of all that was foreseen, or of what has it.

    Nothing where kinds of numbers have units of their own and none of them this margin: moves a week, say,
    are no people.

    Examples
    --------
    >>> foreseen = [{"limit": 19, "unit": "people"}, {"limit": 14.2, "unit": "events"}]
    >>> [unit_of_margin(foreseen, one) for one in ("19", "2.1")], unit_of_margin(foreseen[:1], "2.1")
    (['people', ''], 'people')
    """
    units = {unit_parts(one.get("unit") or "")[0].strip(): one for one in reversed(expected)}
    if len(units) == 1:
        return next(iter(units))
    fitting = (one for one in expected if one.get("limit") is not None and size(float(one["limit"])) == limit)
    found = next(fitting, None)
    return "" if found is None else unit_parts(found.get("unit") or "")[0].strip()


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
    lines = [*_held_out(found), *_off(found), *_groups(internal), *_keep(found), *_left_out(found)]
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


def alone(internal: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return how many rows nobody else has by the identifying columns that left, in the table and after."""
    after = internal.get("measures", {}).get("risk.after", {})
    both = [after.get(name, {}).get("alone") for name in ("original", "released")]
    return None if None in both else (both[0], both[1])


def _groups(internal: Mapping[str, Any]) -> Iterator[Measured]:
    both = alone(internal) or ()
    top = max(both, default=0) or 1
    for name, one, tone in zip(("alone_before", "alone_after"), both, ("care", "accent"), strict=False):
        yield Measured(name, words.number(one), one / top, tone)


def _keep(found: Mapping[str, Any]) -> Iterator[Measured]:
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
    return f"{words.percent(share)}\u00a0%"
