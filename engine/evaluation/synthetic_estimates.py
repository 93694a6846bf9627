"""Whether analyses of the invented rows come to what the original says: worst first. Stays inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from engine.evaluation.invented import Sides, bootstrap_rows, independent, is_redrawn, keeps_cells
from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private
from engine.methods.protocol import Method, Release, Rows
from engine.utility.distances import Scale
from engine.utility.intervals import (
    Analysis,
    Cells,
    Floats,
    Question,
    estimate_with_variances,
    intervals,
    overlap,
    questions,
)
from engine.views import Cell, NumberView, TableView, Text

ID = "utility.synthetic_estimates"
WORDS = f"measures.{ID}"
MOST_LINES = 20
MOST_GROUPING = 6


class SyntheticEstimates(InternalMeasure):
    """Overlap of 95 % intervals: means, shares, coefficients of regressions, and outcomes within groups.

    Notes
    -----
    All copies together, combined as a recipient combines them; the interval of one copy where it is alone
    and invents all cells is wider by √2 than that of as many real rows. Which analyses are looked at follows
    from the original alone.

    An estimate whose variance no number can hold, in a column of numbers of 10¹⁵⁴ and more, is left out and
    counted.

    Where a loss is bounded, no interval counts the noise that bounds it: they are too narrow, and the overlap
    says how near estimates are, not how sure. The texts say so then.
    """

    id = ID
    needs = frozenset({Need.USED, Need.HELD_OUT, Need.RELEASE})
    more_is_better = ("kept", "worst")

    def further_applies(self, subject: Method) -> bool:
        return subject.rows is Rows.SYNTHETIC

    def evaluate(self, context: Private) -> InternalMeasured:
        sides = Sides.of(context)
        if sides is None or len(sides.used) < 2:
            return InternalMeasured()
        places = sides.places()
        own = sides.cells(sides.used, places)
        asked = _ask(own, sides)
        context.progress.step(0.2, "run.evaluating")
        copies = [estimate_with_variances(sides.cells(copy, places), asked) for copy in sides.copies]
        real = estimate_with_variances(own, asked)
        told = np.flatnonzero(np.isfinite(intervals(real)).all(axis=1))
        too_large = int((~np.isnan(real).any(axis=1)).sum()) - len(told)
        asked, real = [asked[int(place)] for place in told], real[told]
        uncounted = {"too_large": too_large} if too_large else {}
        if not asked:
            return InternalMeasured(
                tuple(_number(name, value) for name, value in uncounted.items()), uncounted
            )
        sizes = len(sides.used), len(sides.copies[0])
        made = _together([one[told] for one in copies], sizes, context.release)
        lines = {"made": made}
        if sides.unused is not None:
            lines["unused"] = intervals(estimate_with_variances(sides.cells(sides.unused, places), asked))
        lines["again"] = intervals(estimate_with_variances(bootstrap_rows(own), asked))
        lines["independent"] = intervals(estimate_with_variances(independent(own), asked))
        kept = {name: overlap(intervals(real), bounds) for name, bounds in lines.items()}
        figures = {
            "kept": round(100 * float(kept["made"].mean()), 1),
            "worst": round(100 * float(kept["made"].min()), 1),
            "analyses": len(asked),
            **uncounted,
        }
        noisy = "" if context.subject.cost.loss is None else "_noisy"
        ends = {"kept": noisy, "worst": noisy}
        numbers = [_number(name, value, ends.get(name, "")) for name, value in figures.items()]
        beside = _beside(asked, kept)
        note = Text(f"{WORDS}.views.worst.note{noisy}")
        worst = replace(_worst(asked, real, made, kept["made"], places), note=note)
        return InternalMeasured((*numbers, worst, beside), figures | {"by_kind": _by_kind(asked, kept)})


def _number(name: str, value: float, ending: str = "") -> NumberView:
    return NumberView(Text(f"{WORDS}.numbers.{name}.label"), value, Text(f"{WORDS}.numbers.{name}{ending}"))


def _ask(own: Cells, sides: Sides) -> Sequence[Question]:
    names = [name for name in sides.known if name in own.names] or list(own.names)
    return questions(own, sides.outcomes, names[:MOST_GROUPING])


def _together(copies: Sequence[Floats], sizes: tuple[int, int], release: Release) -> Floats:
    """Return the combined intervals: T_p where original cells were kept, T_s where all are invented."""
    from engine.methods.datasets.synthesis.combined import Rule, combine_estimates

    full = Rule.FULL_REDRAWN if is_redrawn(release) else Rule.FULL
    rule = Rule.PARTIAL if keeps_cells(release) else full
    found = np.full((len(copies[0]), 2), np.nan)
    for place in range(len(found)):
        answers = np.array([one[place] for one in copies])
        if np.isfinite(answers).all():
            both = combine_estimates(
                answers[:, 0], answers[:, 1], rule=rule, rows=sizes[0], released_rows=sizes[1]
            )
            found[place] = both.low, both.high
    return found


def _by_kind(asked: Sequence[Question], kept: Mapping[str, Floats]) -> dict[str, dict[str, float]]:
    kinds = np.array([one.analysis for one in asked])
    return {
        str(kind): {
            name: round(100 * float(values[kinds == kind].mean()), 1) for name, values in kept.items()
        }
        for kind in Analysis
        if (kinds == kind).any()
    }


def _beside(asked: Sequence[Question], kept: Mapping[str, Floats]) -> TableView:
    rows: list[tuple[Cell, ...]] = [
        (Text(f"{WORDS}.views.kinds.{kind}"), *(values.get(name) for name in _LINES))
        for kind, values in _by_kind(asked, kept).items()
    ]
    headings = tuple(Text(f"{WORDS}.views.kinds.{name}_heading") for name in ("kind", *_LINES))
    return TableView(
        Text(f"{WORDS}.views.kinds.title"), headings, tuple(rows), Text(f"{WORDS}.views.kinds.note")
    )


_LINES = ("made", "unused", "again", "independent")


def _worst(
    asked: Sequence[Question], real: Floats, made: Floats, kept: Floats, places: Sequence[Scale]
) -> TableView:
    columns = {scale.column.name: scale for scale in places}
    rows: list[tuple[Cell, ...]] = []
    for place in np.argsort(kept, kind="stable")[:MOST_LINES]:
        middle = made[place].mean()
        rows.append(
            (
                _name(asked[place], columns),
                float(f"{real[place, 0]:.4g}"),
                None if np.isnan(middle) else float(f"{middle:.4g}"),
                round(100 * float(kept[place]), 1),
                asked[place].rows,
            )
        )
    headings = tuple(
        Text(f"{WORDS}.views.worst.{name}") for name in ("analysis", "real", "made", "kept", "rows")
    )
    return TableView(Text(f"{WORDS}.views.worst.title"), headings, tuple(rows))


def _name(one: Question, columns: Mapping[str, Scale]) -> Text:
    """Say which estimate it is."""
    words = {"column": one.column, "value": _value(one.column, one.level, columns)}
    kind = "mean" if one.level is None else "share"
    if one.within is None:
        return Text(f"{WORDS}.views.worst.{kind}", words)
    group, value = one.within
    words |= {"group": group, "group_value": _value(group, value, columns)}
    if one.analysis is Analysis.COEFFICIENT:
        kind = f"{kind}_on_{'amount' if value < 0 else 'name'}"
        return Text(f"{WORDS}.views.worst.{kind}", words)
    return Text(f"{WORDS}.views.worst.{kind}_within", words)


def _value(column: str, place: int | None, columns: Mapping[str, Scale]) -> str:
    """Return a value by its place; "–" for an amount and for a missing one."""
    if place is None or place < 0 or column not in columns:
        return "–"
    names = columns[column].places or {}
    return next((name for name, at in names.items() if at == place), "–")
