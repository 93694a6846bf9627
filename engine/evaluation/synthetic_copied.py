"""What invented rows tell of the people they were made from, and of others. Stays inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.evaluation.invented import Sides, kept_columns
from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private
from engine.methods.protocol import Method, Rows
from engine.risk.copies import (
    MOST_COMPARED,
    Guesses,
    Rate,
    coordinates,
    copied_rows,
    nearest,
    rate_told,
    strongest_guess,
)
from engine.risk.membership import Telling, telling
from engine.utility import scattered
from engine.utility.distances import AMOUNTS, Scale, classes_of
from engine.views import Cell, NumberView, TableView, Text, percent

ID = "risk.synthetic_copied"
WORDS = f"measures.{ID}"
Classes = Mapping[str, arrays.Integers]
Floats = arrays.Floats

MOST_OF_ORIGINAL = 500
"""People not used who are sought in the original itself: it is there to show what a copy would tell."""


class SyntheticCopied(InternalMeasure):
    """Copies of rows, guesses of sensitive values and nearness, for people used and for people not used.

    Notes
    -----
    What is told of people who had no part is knowledge of the population; what is told of members beyond
    that is the leak. The same attacks against the original itself stand beside them.
    """

    id = ID
    needs = frozenset({Need.USED, Need.HELD_OUT, Need.RELEASE})
    less_is_better = ("told", "copies", "membership")
    more_is_better = ("nearness",)

    def further_applies(self, subject: Method) -> bool:
        return subject.rows is Rows.SYNTHETIC

    def evaluate(self, context: Private) -> InternalMeasured:
        sides = Sides.of(context)
        if sides is None:
            return InternalMeasured()
        exact = [Scale.of_names(sides.used[column.name], column) for column in sides.columns]
        kept = kept_columns(sides, context.release)
        rates, tried = _rates(_Tables.of(sides, exact), sides, kept)
        figures: dict[str, Any] = {
            "attacks": {name: list(map(_share, group)) for name, group in rates.items()}
        }
        figures["tried"] = tried
        numbers = _numbers(rates)
        views = [_table(rates, tried)]
        if sides.unused is not None and len(sides.unused) > 3:
            near = _nearness(
                _Tables.of(sides, [Scale.of(sides.used[c.name], c) for c in sides.columns]), sides, kept
            )
            areas = [near[name][0].area for name in ("plain", "kept") if name in near]
            numbers |= {"membership": max(areas), "nearness": near["plain"][1]}
            views.append(membership_view({name: found for name, (found, _) in near.items()}, WORDS))
            figures["nearest"] = {
                name: {"area": round(found.area, 4), "found": round(found.found.share, 4)}
                for name, (found, _) in near.items()
            }
        shown = {name: round(value, 3) for name, value in numbers.items()}
        own = [
            NumberView(Text(f"{WORDS}.numbers.{name}.label"), value, Text(f"{WORDS}.numbers.{name}"))
            for name, value in shown.items()
        ]
        return InternalMeasured((*views, *own), figures | shown)


@dataclass(frozen=True)
class _Tables:
    """Classes by column of the first copy, of the rows used, and of people not used."""

    made: Classes
    own: Classes
    fresh: Classes | None

    @staticmethod
    def of(sides: Sides, scales: Sequence[Scale]) -> _Tables:
        fresh = None if sides.unused is None else classes_of(sides.unused, scales)
        return _Tables(classes_of(sides.copies[0], scales), classes_of(sides.used, scales), fresh)


def _rates(
    tables: _Tables, sides: Sides, kept: Sequence[str]
) -> tuple[dict[str, tuple[Rate | None, ...]], int]:
    """Return by attack its rate for the release, for people not used, and for the original itself.

    Of guesses of one column the strongest is returned; also how many were tried of all together.
    """
    made, own, fresh = tables.made, tables.own, tables.fresh
    known, tried = sides.known, 0

    def copied(columns: Sequence[str]) -> tuple[Rate | None, ...]:
        some = [None if table is None else {n: table[n] for n in columns} for table in (made, fresh, own)]
        assert some[0] is not None and some[2] is not None
        return (
            copied_rows(some[0], some[2]),
            None if some[1] is None else copied_rows(some[1], some[2]),
            copied_rows(some[2], some[2]),
        )

    found: dict[str, tuple[Rate | None, ...]] = {"copies": copied(list(made))}
    if known and len(known) < len(made):
        found["combinations"] = copied(known)
    if kept and len(kept) < len(made):
        found["kept"] = copied(kept)
    for asked in sides.outcomes:
        others = [name for name in made if name != asked]
        for kind, columns in (("told", [name for name in known if name != asked]), ("told_all", others)):
            if columns:
                guesses = Guesses(made, own, fresh, asked)
                told_by, count = strongest_guess(guesses, columns, [n for n in columns if n in kept])
                found[f"{kind}.{asked}"] = (
                    *guesses.by(told_by),
                    rate_told(own, own, known=columns, asked=asked),
                )
                tried += count
    return found, tried


def _numbers(rates: Mapping[str, tuple[Rate | None, ...]]) -> dict[str, float]:
    """Return how much more of members than of others is told and copied: what candidates are compared by."""
    gaps = [
        made.share - fresh.share
        for name, (made, fresh, _) in rates.items()
        if name.startswith("told") and made is not None and fresh is not None
    ]
    made, fresh, _ = rates["copies"]
    numbers = {}
    if made is not None and fresh is not None and fresh.share:
        numbers["copies"] = made.share / fresh.share
    if gaps:
        numbers["told"] = 100 * max(gaps)
    return numbers


def _nearness(tables: _Tables, sides: Sides, kept: Sequence[str]) -> dict[str, tuple[Telling, float]]:
    """Return what nearness to the release tells: plain, less that to people not used, and by kept columns."""
    assert tables.fresh is not None
    made, own, fresh = tables.made, tables.own, tables.fresh
    is_amount = {column.name: column.kind in AMOUNTS for column in sides.columns}
    sizes = {name: int(max(part[name].max(initial=0) for part in (made, own, fresh))) + 1 for name in made}

    def points(
        table: Classes, places: npt.NDArray[np.int64] | None = None, names: Sequence[str] = ()
    ) -> Floats:
        some = {name: table[name] if places is None else table[name][places] for name in names or table}
        return coordinates(some, sizes, is_amount)

    mixed = scattered.order(len(sides.unused if sides.unused is not None else ()))
    half = len(mixed) // 2
    reference = points(fresh, mixed[half:])
    count = min(MOST_COMPARED, half, len(sides.used))
    sought = scattered.order(len(sides.used))[:count], mixed[:count]
    people = points(own, sought[0]), points(fresh, sought[1])
    members, others = (nearest(points(made), one) for one in people)
    usual = [nearest(reference, one) for one in people]
    to_original = nearest(points(own), people[1][:MOST_OF_ORIGINAL])
    ratio = float(members.mean() / others.mean()) if others.mean() > 0 else 1.0
    found = {"plain": (telling(members, others), ratio)}
    if kept and len(kept) < len(made):
        to = points(made, None, kept)
        by_kept = [nearest(to, points(*one, kept)) for one in zip((own, fresh), sought, strict=True)]
        found["kept"] = telling(*by_kept), ratio
    return found | {
        "reference": (telling(members - usual[0], others - usual[1]), ratio),
        "original": (telling(np.zeros(count), to_original), 0.0),  # members are at 0
    }


def _share(rate: Rate | None) -> float | None:
    return None if rate is None else round(rate.share, 4)


def _percent(rate: Rate | None) -> Text | None:
    return None if rate is None else percent(rate.share)


def _table(rates: Mapping[str, tuple[Rate | None, ...]], tried: int) -> TableView:
    """Return the attacks, the one that gives away most beyond what others' data would first."""

    def beyond(name: str) -> float:
        made, fresh, _ = rates[name]
        return (made.share if made else 0.0) - (fresh.share if fresh else 0.0)

    rows: list[tuple[Cell, ...]] = []
    for name in sorted(rates, key=beyond, reverse=True):
        attack, _, column = name.partition(".")
        made = rates[name][0]
        assert made is not None
        said = Text(f"{WORDS}.views.attacks.{attack}", {"column": column})
        rows.append((said, *map(_percent, rates[name]), percent(*made.interval), made.attacks))
    headings = tuple(
        Text(f"{WORDS}.views.attacks.{name}")
        for name in ("attack", "made", "unused", "original", "interval", "count")
    )
    return TableView(
        Text(f"{WORDS}.views.attacks.title"),
        headings,
        tuple(rows),
        Text(f"{WORDS}.views.attacks.{'note' if tried else 'note_no_guess'}", {"tried": tried}),
    )


def membership_view(found: Mapping[str, Telling], base: str) -> TableView:
    """Return what scores tell of membership, a line for each."""
    rows: list[tuple[Cell, ...]] = []
    for name, one in found.items():
        low, high = one.interval
        rows.append(
            (
                Text(f"{base}.views.nearest.{name}"),
                round(one.area, 3),
                Text("views.from_to", {"low": low, "high": high}),
                _percent(one.found),
                percent(*one.found.interval),
                one.found.attacks,
            )
        )
    names = ("score", "area", "area_interval", "found", "found_interval", "count")
    headings = tuple(Text(f"{WORDS}.views.nearest.{name}") for name in names)
    title, note = Text(f"{WORDS}.views.nearest.title"), Text(f"{WORDS}.views.nearest.note")
    return TableView(title, headings, tuple(rows), note)
