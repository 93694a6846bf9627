"""A table of invented rows, from cells that were drawn."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from engine import arrays
from engine.methods.datasets.marginal_model.sampling import uniform
from engine.methods.protocol import DictionaryEntry, TableArtefact
from engine.methods.shared.column_cells import ColumnCells, is_listed
from engine.methods.shared.rows import entry
from engine.privacy.noise import Noise
from engine.table import coding
from engine.table.schema import Column

Codes = arrays.Whole
Floats = arrays.Floats


def written_rows(columns: Sequence[ColumnCells], codes: Codes, uniform: Sequence[Floats]) -> pd.DataFrame:
    """Write cells as values.

    Parameters
    ----------
    columns
        Of the table.
    codes
        Cells, shape (columns, n).
    uniform
        Where in its interval every value lies, from 0 up to but not 1, shape (columns, n).
    """
    cells = {
        column.column.name: column.written(code, place)
        for column, code, place in zip(columns, codes, uniform, strict=True)
    }
    return pd.DataFrame(cells, dtype="str")


def invented_rows(columns: Sequence[ColumnCells], drawn: Codes, noise: Noise) -> pd.DataFrame:
    """Write cells, shape (columns, n), as values: of an interval, each of its steps equally likely."""
    return written_rows(columns, drawn, [uniform(noise, drawn.shape[1]) for _ in columns])


def invented_table(columns: Sequence[ColumnCells], drawn: Codes, noise: Noise) -> TableArtefact:
    """Return the table of cells, shape (columns, n)."""
    entries = tuple(invented_entry(column) for column in columns)
    return TableArtefact("table", (invented_rows(columns, drawn, noise),), entries)


def invented_entry(cells: ColumnCells) -> DictionaryEntry:
    """Return what the dictionary says of a drawn column."""
    return entry_with_values(cells.column, "invented")


def entry_with_values(column: Column, meaning: str, **values: object) -> DictionaryEntry:
    """Return the line of the dictionary for a column of invented rows, with the values of its list."""
    found = entry(column, meaning, **values)
    if not is_listed(column):
        return found
    listed = (*coding.levels(column), coding.written_other(column))
    return DictionaryEntry(found.name, found.meaning, found.kind, found.unit, listed)
