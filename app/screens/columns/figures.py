"""The figures beside one column, in one job. Orders engine calls; computes nothing itself."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from engine.progress import SILENT, Progress
from engine.table.schema import Column, Role, Schema
from engine.views import BarsView

SHOWN_AT = Fraction(1, 2)  # the level at which the error of a count is shown, before one is chosen


@dataclass(frozen=True)
class Figures:
    """A column as bars, group sizes as marked, and group sizes with the column marked the other way."""

    bars: BarsView
    now: Any
    then: Any


@dataclass(frozen=True)
class CapLine:
    """What a cap on the rows of one person does.

    Parameters
    ----------
    cap
        Rows of each person that count at most.
    left_out
        Rows that do not count.
    losing
        People who have more rows than that.
    error
        What 95 of 100 counts of rows stay within at `SHOWN_AT`.
    is_all
        Whether nobody has more rows.
    """

    cap: int
    left_out: int
    losing: int
    error: int
    is_all: bool


def cap_lines(table: Any, schema: Schema, *, progress: Progress = SILENT) -> tuple[CapLine, ...]:
    """Return what each cap would do; none without a person key."""
    from engine.privacy.accuracy import laplace_error
    from engine.risk.cap_figures import CAPS, cap_figures

    if schema.person_key is None:
        return ()
    found = cap_figures(table, schema)
    chosen = schema.rows_per_person
    if not found.most:
        return ()
    caps = sorted({*(cap for cap in (*CAPS, chosen) if cap < found.most), found.most})
    found = cap_figures(table, schema, caps=tuple(caps))
    return tuple(
        CapLine(
            cap,
            found.rows - found.kept[cap],
            found.losing[cap],
            laplace_error(Fraction(cap) / SHOWN_AT, share=0.95),
            cap == found.most > 1,
        )
        for cap in caps
    )


def pictures(
    table: Any, columns: Sequence[Column], *, progress: Progress = SILENT
) -> Mapping[str, tuple[float, ...]]:
    """Return how each column is spread, as heights between 0 and 1: a small picture in its line."""
    from engine.table.summary import column_bars

    found = {}
    for place, column in enumerate(columns):
        progress.step(place / len(columns), "table.suggest")
        if column.role in (Role.PERSON_KEY, Role.DIRECT_IDENTIFIER):
            continue  # every value differs
        values = column_bars(table, column).values
        most = max(values, default=0.0)
        found[column.name] = tuple(value / most for value in values) if most else ()
        time.sleep(0)  # the window comes first: it shares the interpreter with this thread
    return found


def figures(
    table: Any, schema: Schema, column: Column, *, now: Any = None, progress: Progress = SILENT
) -> Figures:
    """Return the figures of a column; ``now`` are group sizes that still hold."""
    from engine.risk.group_sizes import group_sizes
    from engine.table.summary import column_bars, rows_of_people

    is_key = column.role is Role.PERSON_KEY
    bars = rows_of_people(table, column) if is_key else column_bars(table, column)
    if now is None:
        now = group_sizes(table, schema, causes=False, progress=progress.part(0.0, 0.5))
    if is_key or column.role is Role.DIRECT_IDENTIFIER:
        return Figures(bars, now, now)
    other = (
        tuple(name for name in now.columns if name != column.name)
        if column.name in now.columns
        else (*now.columns, column.name)
    )
    then = group_sizes(table, schema, columns=other, causes=False, progress=progress.part(0.5, 1.0))
    return Figures(bars, now, then)
