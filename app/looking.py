"""What somebody should look at in a release that was made, worst first. Reads the evidence; no Qt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

WRONG, CARE, QUIET = "wrong", "care", "quiet"
_ORDER = (WRONG, CARE, QUIET)
EXPECTED, DOUBTFUL = 0.95, 0.85
"""Share of numbers within their margin: what the margin says, and below what somebody should ask why."""
MOST = 0.5


@dataclass(frozen=True)
class Point:
    """One thing to look at: how bad it is, the end of its text ``app.release.point.NAME``, its values."""

    tone: str
    name: str
    values: Mapping[str, Any] = field(default_factory=dict)


def points(facts: Mapping[str, Any]) -> tuple[Point, ...]:
    """Return what stands out, worst first; empty where nothing does."""
    public, internal = facts["public"], facts["internal"]
    found = [*_weak(public), *_off(internal), *_beyond(internal), *_rows(public, internal)]
    if internal.get("holding", {}).get("bounds_all") is False:
        found.append(Point(CARE, "unbounded", {"holding": internal["holding"]["name"]}))
    return tuple(sorted(found, key=lambda one: _ORDER.index(one.tone)))


def _weak(public: Mapping[str, Any]) -> Iterator[Point]:
    """Numbers without information: of the kind of number that fares worst."""
    counted = list(public.get("measures", {}).get("utility.small_groups", {}).values())
    worst = max(counted, key=lambda one: one["guesses"] / max(one["cells"], 1), default=None)
    if worst is not None and worst["guesses"]:
        tone = WRONG if worst["guesses"] > MOST * worst["cells"] else CARE
        yield Point(tone, "weak", {"guesses": worst["guesses"], "cells": worst["cells"]})


def _off(internal: Mapping[str, Any]) -> Iterator[Point]:
    """Fewer numbers within their margin than the margin says. Exact, and so inside only."""
    for one in internal.get("measures", {}).get("utility.released_error", {}).values():
        share = one.get("share_within")
        if share is not None and share < DOUBTFUL:
            yield Point(CARE, "off", {"within": one["within"], "cells": one["cells"]})


def _beyond(internal: Mapping[str, Any]) -> Iterator[Point]:
    from engine.pricing.beyond import beyond

    reasons = {
        one.get("decision"): one.get("reason") for one in internal.get("plan", {}).get("decisions", ())
    }
    for name in beyond(internal.get("price") or {}):
        yield Point(CARE, f"beyond_{name}", {"reason": reasons.get(name) or ""})


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
