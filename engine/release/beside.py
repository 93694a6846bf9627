"""Released rows beside those that they were made from: for the custodian's eyes, and never written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.methods.protocol import Release
from engine.methods.shared.rows import trace_rows, written_cells
from engine.table.schema import Schema
from engine.table.table import Table

MOST_ROWS = 200


@dataclass(frozen=True)
class Beside:
    """Some released rows, the first in their random order, with the original of each.

    Parameters
    ----------
    columns
        Names of the released columns.
    before, after
        Cells as text, row by row; a column that the table does not have is None before.
    rows
        How many rows were released in all.
    """

    columns: tuple[str, ...]
    before: tuple[tuple[str | None, ...], ...]
    after: tuple[tuple[str, ...], ...]
    rows: int

    def changed(self, row: int, column: int) -> bool:
        """Whether a cell reads otherwise than it did; never in a column that the table does not have."""
        before = self.before[row][column]
        return before is not None and before != self.after[row][column]


def pair_with_originals(
    release: Release, used: Mapping[str, Table], schemas: Mapping[str, Schema]
) -> Beside | None:
    """Return released rows beside their originals; None where no row can be said to have one."""
    found, source = trace_rows(release.artefacts), next((name for name in used if name in schemas), None)
    if found is None or source is None:
        return None
    table, origin = found
    original = used[source].rows().iloc[origin[:MOST_ROWS]]
    released, schema = table.frame.head(MOST_ROWS), schemas[source]
    names = [str(name) for name in released.columns]
    nothing: list[str | None] = [None] * len(released)
    before = [
        written_cells(original[name], schema.column(name))
        if name in original.columns and name in schema
        else nothing
        for name in names
    ]
    after = [released[name].fillna("").astype("str").tolist() for name in names]
    return Beside(
        tuple(names), tuple(zip(*before, strict=True)), tuple(zip(*after, strict=True)), len(table.frame)
    )
