"""What somebody should look at in a release that was made, worst first. Reads evidence and verdict; no Qt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import TYPE_CHECKING, Any

from app import words
from engine.methods.filling import USELESS, Judged
from engine.views import Text

if TYPE_CHECKING:
    from engine.release.verdict import Came

WRONG, CARE, QUIET = "wrong", "care", "quiet"
_ORDER = (WRONG, CARE, QUIET)
EXPECTED, RARE = 0.95, 0.001
"""Share of numbers within their margin, as the margin says; how rare fewer must be to be worth a question."""
LITTLE = 0.02
"""Share of a guess's errors that a model takes away, below which it is hardly better than the guess."""


@dataclass(frozen=True)
class Point:
    """One thing to look at: how bad it is, the end of its text ``app.release.point.NAME``, its values."""

    tone: str
    name: str
    values: Mapping[str, Any] = field(default_factory=dict)


def points(facts: Mapping[str, Any], came: Sequence[Came] = ()) -> tuple[Point, ...]:
    """Return what stands out, worst first; empty where nothing does.

    ``came`` says how many of the numbers that leave say nothing.
    """
    public, internal = facts["public"], facts["internal"]
    found = [
        *_attacked(internal),
        *_silent(came),
        *_naming(public),
        *_off(internal),
        *_guessing(internal),
        *_apart(public),
        *_beyond(internal),
        *_rows(public, internal),
    ]
    if internal.get("holding", {}).get("bounds_all") is False:
        found.append(Point(CARE, "unbounded", {"holding": internal["holding"]["name"]}))
    return tuple(sorted(found, key=lambda one: _ORDER.index(one.tone)))


def _attacked(internal: Mapping[str, Any]) -> Iterator[Point]:
    """What an attack read off rows that left under no guarantee, where the method runs one."""
    if said := internal.get("inside", {}).get("sentence"):
        yield Point(CARE, "attacked", {"said": words.label(Text(said["id"], said["values"]))})


def _silent(came: Sequence[Came]) -> Iterator[Point]:
    """Numbers that say nothing: worst where they are most, by the verdict that the preview gives."""
    for one in came:
        name = "effects" if one.what == "effects" else "weak"
        tone = WRONG if one.is_useless else CARE if name == "weak" or one.share < USELESS else QUIET
        yield Point(tone, name, {"guesses": one.silent, "cells": one.of})
        if one.is_useless and isinstance(one.before, Judged):
            yield Point(WRONG, "foreseen", {"said": words.label(one.before.said)})


def _naming(public: Mapping[str, Any]) -> Iterator[Point]:
    """Columns that name people and left for a reason."""
    for note in public.get("notes", ()):
        if note.get("id") == "report.columns.names_people":
            yield Point(WRONG, "names_people", {"column": note["values"]["column"]})


def _off(internal: Mapping[str, Any]) -> Iterator[Point]:
    """Fewer numbers within their margin than luck explains. Exact, and so inside only."""
    for one in internal.get("measures", {}).get("utility.released_error", {}).values():
        cells, within = one.get("cells", 0), one.get("within")
        if cells and within is not None and at_most(within, cells) < RARE:
            yield Point(CARE, "off", {"within": within, "cells": cells})


def at_most(hits: int, of: int) -> float:
    """Return how often at most so many of all numbers lie within their margin, each 95 times of 100.

    >>> round(at_most(8, 10), 3), at_most(10, 10)
    (0.086, 1.0)
    """
    missed = 1 - EXPECTED
    return sum(comb(of, out) * missed**out * EXPECTED ** (of - out) for out in range(of - hits, of + 1))


def _guessing(internal: Mapping[str, Any]) -> Iterator[Point]:
    """Models that predict people who were kept apart no better than who does not look at them."""
    for one in internal.get("measures", {}).get("utility.held_out_score", {}).values():
        if one.get("explained") is not None and one["explained"] < LITTLE:
            by_itself = _says_little(one)  # no more ε would help: that the preview saw no noise was right
            tone = WRONG if one["explained"] <= 0 and not by_itself else CARE
            yield Point(tone, "guessing_by_itself" if by_itself else "guessing", {"rows": one["rows"]})


def _says_little(one: Mapping[str, Any]) -> bool:
    """Say whether a model would be hardly better than a guess without its noise, too."""
    error: float | None = one.get("without_noise")
    guess: float = one.get("guess") or 0.0
    return error is not None and bool(guess) and 1 - (error / guess) ** 2 < LITTLE


def _apart(public: Mapping[str, Any]) -> Iterator[Point]:
    """Noisy tables that the model of invented rows does not agree with."""
    for note in public.get("notes", ()):
        if ".notes.agrees_no" in note.get("id", ""):
            yield Point(CARE, "apart", {name: note["values"][name] for name in ("tables", "off")})


def _beyond(internal: Mapping[str, Any]) -> Iterator[Point]:
    from engine.pricing.beyond import beyond

    reasons = {
        one.get("decision"): one.get("reason") for one in internal.get("plan", {}).get("decisions", ())
    }
    for name in beyond(internal.get("price") or {}):
        said = reasons.get(name) or ""
        yield Point(CARE, f"beyond_{name}{'' if said else '_unsaid'}", {"reason": said} if said else {})


def _rows(public: Mapping[str, Any], internal: Mapping[str, Any]) -> Iterator[Point]:
    """Rows that no number speaks of."""
    read = internal.get("input", {})
    if read.get("rows_without_key"):
        yield Point(CARE, "without_key", {"rows": read["rows_without_key"]})
    left = (read.get("rows") or 0) - (read.get("rows_used") or 0) - (read.get("rows_without_key") or 0)
    if left > 0 and public["method"]["family"] != "exchange":
        yield Point(QUIET, "left_out", {"left": left, "rows": read["rows"]})
    if internal.get("findings"):
        yield Point(QUIET, "findings", {"count": len(internal["findings"])})
