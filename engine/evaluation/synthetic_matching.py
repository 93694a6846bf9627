"""How often people are found in invented tables by what identifies them. Stays inside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from engine.evaluation.invented import Sides, kept_columns, origins_of
from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private
from engine.methods.protocol import Method, Rows
from engine.risk.copies import MOST_COMPARED
from engine.risk.matching import Codes, Known, Matched, Strongest, Way, match, strongest
from engine.utility import scattered
from engine.utility.distances import Scale
from engine.utility.intervals import Cells
from engine.views import Cell, NumberView, TableView, Text, percent

ID = "risk.synthetic_matching"
WORDS = f"measures.{ID}"

TOLERANCE = 1 / 20
"""Of the range in which nine of ten amounts lie: how far off a known amount may be."""


class SyntheticMatching(InternalMeasure):
    """Reiter's true and false match rates and the expected match risk, beside those of the original itself.

    Notes
    -----
    Intruders know the identifying columns of people who were used, and seek their rows in all copies
    together: by what was kept to the letter, by amounts within a twentieth of their usual range, by few
    columns; the one who finds most is shown (`engine.risk.matching.strongest`). Where no column is marked as
    identifying, they know those that were kept to the letter. Both cases:
    the intruder knows that they are in, or does not; the population is then the people used and those who
    were kept apart. A row that was drawn as a whole is nobody's, so that in a fully synthetic table no match
    is a right one.
    """

    id = ID
    needs = frozenset({Need.USED, Need.HELD_OUT, Need.RELEASE})
    less_is_better = ("expected",)

    def further_applies(self, subject: Method) -> bool:
        return subject.rows is Rows.SYNTHETIC

    def evaluate(self, context: Private) -> InternalMeasured:
        sides = Sides.of(context)
        kept_of_all = () if sides is None else kept_columns(sides, context.release)
        if sides is None or not (sides.known or kept_of_all):
            return InternalMeasured()
        known = sides.known or kept_of_all
        places = [scale for scale in sides.places() if scale.column.name in known]
        own = _known(sides, sides.used, known, places, None)
        copies = [_known(sides, copy, known, places, own) for copy in sides.copies]
        others = None if sides.unused is None else _known(sides, sides.unused, known, places, own)
        origins = origins_of(context.release) or [np.full(copy.rows, -1) for copy in copies]
        sought = scattered.order(own.rows)[:MOST_COMPARED]
        made = strongest(own, sought, copies, origins, others=others, progress=context.progress)
        itself = strongest(own, sought, [own], [np.arange(own.rows)], others=others)
        found = {
            "in_made": made.known,
            "in_original": itself.known,
            "perhaps_made": made.unknown,
            "perhaps_original": itself.unknown,
        }
        if not set(kept_of_all) <= set(known):
            found["kept_made"] = _by_all_kept(sides, kept_of_all, sought, origins)
        figures = {
            "expected": round(100 * made.known.expected, 3),
            "true": round(100 * made.known.true_rate.share, 2),
        }
        if made.known.false_rate.attacks:  # of nobody who is named there is no share
            figures["false"] = round(100 * made.known.false_rate.share, 2)
        numbers = [
            NumberView(Text(f"{WORDS}.numbers.{name}.label"), value, Text(f"{WORDS}.numbers.{name}"), "%")
            for name, value in figures.items()
        ]
        kept = {name: _as_figures(one) for name, one in found.items()}
        way = {"exact": list(made.way.exact), "near": list(made.way.near), "tried": made.tried}
        return InternalMeasured(
            (*numbers, _table(found, known, made, is_marked=bool(sides.known))),
            figures | {"cases": kept, "way": way},
        )


def _by_all_kept(sides: Sides, kept: tuple[str, ...], sought: Codes, origins: Sequence[Codes]) -> Matched:
    """Seek by every column that was kept, whatever its role."""
    places = sides.places()
    tables = []
    for table in (sides.used, *sides.copies):
        cells = sides.cells(table, places)
        tables.append(Known(cells.names, cells.amounts, dict.fromkeys(cells.amounts, 0.0)))
    return match(tables[0], sought, tables[1:], origins, ways=(Way(exact=kept),))[0]


def _known(
    sides: Sides, table: pd.DataFrame, known: Sequence[str], places: Sequence[Scale], own: Known | None
) -> Known:
    cells = sides.cells(table, places)
    amounts = {name: values for name, values in cells.amounts.items() if name in known}
    within = own.within if own is not None else _tolerances(Cells(amounts, {}))
    return Known(cells.names, amounts, within)


def _tolerances(cells: Cells) -> dict[str, float]:
    found = {}
    for name, values in cells.amounts.items():
        known = values[~np.isnan(values)]
        low, high = np.quantile(known, [0.05, 0.95]) if known.size else (0.0, 0.0)
        found[name] = float(high - low) * TOLERANCE
    return found


def _as_figures(found: Matched) -> dict[str, float | int]:
    return {
        "people": found.true_rate.attacks,
        "true_rate": round(found.true_rate.share, 4),
        "false_rate": round(found.false_rate.share, 4),
        "named": found.false_rate.attacks,
        "expected": round(found.expected, 5),
    }


def _table(found: dict[str, Matched], known: Sequence[str], made: Strongest, *, is_marked: bool) -> TableView:
    rows: list[tuple[Cell, ...]] = []
    for name, one in found.items():
        low, high = one.true_rate.interval
        rows.append(
            (
                Text(f"{WORDS}.views.cases.{name}"),
                Text("views.small_percent", {"percent": 100 * one.expected}),
                percent(one.true_rate.share),
                percent(low, high),
                percent(one.false_rate.share) if one.false_rate.attacks else None,
                one.true_rate.attacks,
            )
        )
    names = ("case", "expected", "true", "interval", "false", "count")
    headings = tuple(Text(f"{WORDS}.views.cases.{name}") for name in names)
    title = Text(f"{WORDS}.views.cases.title")
    kind = "both" if made.way.exact and made.way.near else "exact" if made.way.exact else "near"
    told = {"exact": ", ".join(made.way.exact), "near": ", ".join(made.way.near)}
    told = {name: columns for name, columns in told.items() if columns}
    note = Text(f"{WORDS}.views.cases.{kind}", {"columns": ", ".join(known), "tried": made.tried} | told)
    if not is_marked:
        note = Text(f"{WORDS}.views.cases.unmarked", {"note": note})
    return TableView(title, headings, tuple(rows), note)
