"""The figures beside one column, in one job. Orders engine calls; computes nothing itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.progress import SILENT, Progress
from engine.table.schema import Column, Role, Schema
from engine.views import BarsView


@dataclass(frozen=True)
class Figures:
    """A column as bars, group sizes as marked, and group sizes with the column marked the other way."""

    bars: BarsView
    now: Any
    then: Any


def figures(
    table: Any, schema: Schema, column: Column, *, now: Any = None, progress: Progress = SILENT
) -> Figures:
    """Return the figures of a column; ``now`` are group sizes that still hold."""
    from engine.risk.group_sizes import group_sizes
    from engine.table.summary import column_bars, rows_of_people

    is_key = column.role is Role.PERSON_KEY
    bars = rows_of_people(table, column) if is_key else column_bars(table, column)
    if now is None:
        now = group_sizes(table, schema, progress=progress.part(0.0, 0.5))
    if is_key or column.role is Role.DIRECT_IDENTIFIER:
        return Figures(bars, now, now)
    other = (
        tuple(name for name in now.columns if name != column.name)
        if column.name in now.columns
        else (*now.columns, column.name)
    )
    then = group_sizes(table, schema, columns=other, progress=progress.part(0.5, 1.0))
    return Figures(bars, now, then)
