"""What a classifier learns from the invented rows, and whether it tells them from real ones. Stays inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from engine import arrays
from engine.evaluation.invented import Sides, bootstrap_rows, independent, stack_columns
from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private
from engine.methods.protocol import Method, Rows
from engine.utility import scattered
from engine.utility.distances import Scale
from engine.utility.intervals import Cells
from engine.utility.prediction import Predicted, Told, measure_prediction, told_apart
from engine.views import Cell, NumberView, TableView, Text

ID = "utility.synthetic_predictions"
WORDS = f"measures.{ID}"
LINES = ("made", "original", "unused", "again", "independent")

Bools = arrays.Bools


class SyntheticPredictions(InternalMeasure):
    """Learnt on invented rows and tested on people not used; and invented rows told from people not used.

    Notes
    -----
    An outcome is yes or no: a sensitive amount above its median, a sensitive name that is the most frequent
    one. The other lines learn from the original, from people not used, from a bootstrap, and from columns
    that know nothing of each other.
    """

    id = ID
    needs = frozenset({Need.USED, Need.HELD_OUT, Need.RELEASE})
    less_is_better = ("loss", "told_apart")

    def further_applies(self, subject: Method) -> bool:
        return subject.rows is Rows.SYNTHETIC and subject.held_out

    def evaluate(self, context: Private) -> InternalMeasured:
        sides = Sides.of(context)
        if sides is None or sides.unused is None or len(sides.columns) < 2:
            return InternalMeasured()
        places = sides.places()
        own, unused = sides.cells(sides.used, places), sides.cells(sides.unused, places)
        tables = {
            "made": sides.cells(sides.copies[0], places),
            "original": own,
            "again": bootstrap_rows(own),
            "independent": independent(own),
        }
        learnt = {}
        for place, name in enumerate(sides.outcomes):
            context.progress.step(place / (len(sides.outcomes) + 1), "run.evaluating")
            learnt[name] = _learnt(name, sides, places, tables, unused)
        names = [column.name for column in sides.columns]
        apart = {
            n: told_apart(stack_columns(t, names), stack_columns(unused, names)) for n, t in tables.items()
        }
        figures = _figures(learnt, apart)
        numbers = [
            NumberView(Text(f"{WORDS}.numbers.{name}.label"), value, Text(f"{WORDS}.numbers.{name}"))
            for name, value in figures.items()
        ]
        return InternalMeasured((*numbers, _learnt_view(learnt), _apart_view(apart)), figures)


def _learnt(
    name: str, sides: Sides, places: list[Scale], tables: Mapping[str, Cells], unused: Cells
) -> dict[str, Predicted | None]:
    """Learn one outcome from every table; tested on half of the people not used, learnt from the other."""
    is_yes = _outcome(name, tables["original"])
    others = [column.name for column in sides.columns if column.name != name]
    mixed = scattered.order(unused.rows)
    half, test = (unused.taken(part) for part in (mixed[::2], mixed[1::2]))

    def of(cells: Cells) -> Predicted | None:
        return measure_prediction(
            stack_columns(cells, others), is_yes(cells), stack_columns(test, others), is_yes(test)
        )

    return {line: of(cells) for line, cells in {**tables, "unused": half}.items()}


def _outcome(name: str, original: Cells) -> Callable[[Cells], Bools]:
    """Return what makes yes or no of a column: above the median, or the most frequent name."""
    if name in original.names:
        most = int(np.bincount(original.names[name]).argmax())
        return lambda cells: cells.names[name] == most
    values = original.amounts[name]
    known = values[~np.isnan(values)]
    middle = float(np.median(known)) if known.size else 0.0
    return lambda cells: cells.amounts[name] > middle


def _figures(
    learnt: Mapping[str, Mapping[str, Predicted | None]], apart: Mapping[str, Told | None]
) -> dict[str, float]:
    found = {}
    losses = [
        original.area - made.area
        for lines in learnt.values()
        if (made := lines["made"]) is not None and (original := lines["original"]) is not None
    ]
    if losses:
        found["loss"] = round(max(losses), 4)
    told = apart["made"]
    if told is not None:
        found |= {"told_apart": round(told.area, 3), "told_apart_error": round(told.error, 4)}
    real = apart["original"]
    if real is not None:
        found["told_apart_real"] = round(real.area, 3)
    return found


def _learnt_view(learnt: Mapping[str, Mapping[str, Predicted | None]]) -> TableView:
    def loss(lines: Mapping[str, Predicted | None]) -> float:
        made, original = lines["made"], lines["original"]
        return 0.0 if made is None or original is None else made.area - original.area

    rows: list[tuple[Cell, ...]] = []
    for name in sorted(learnt, key=lambda one: loss(learnt[one])):
        for kind in ("area", "right"):
            said = Text(f"{WORDS}.views.learnt.{kind}", {"column": name})
            found = [learnt[name][line] for line in LINES]
            rows.append((said, *(None if one is None else round(getattr(one, kind), 3) for one in found)))
    return _view("learnt", rows, LINES)


def _apart_view(apart: Mapping[str, Told | None]) -> TableView:
    lines = ("made", "original", "again", "independent")
    rows: list[tuple[Cell, ...]] = []
    for kind in ("area", "error"):
        found = [apart[line] for line in lines]
        values = (None if one is None else round(getattr(one, kind), 4) for one in found)
        rows.append((Text(f"{WORDS}.views.apart.{kind}"), *values))
    return _view("apart", rows, lines)


def _view(name: str, rows: list[tuple[Cell, ...]], lines: tuple[str, ...]) -> TableView:
    headings = (
        Text(f"{WORDS}.views.{name}.what"),
        *(Text(f"{WORDS}.views.lines.{line}") for line in lines),
    )
    base = f"{WORDS}.views.{name}"
    return TableView(Text(f"{base}.title"), headings, tuple(rows), Text(f"{base}.note"))
