"""A table of invented rows, from cells that were drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.methods.datasets.marginal_model.sampling import uniform
from engine.methods.protocol import DictionaryEntry, TableArtefact
from engine.methods.shared.column_cells import ColumnCells, Intervals
from engine.methods.shared.rows import entry
from engine.privacy.noise import Noise
from engine.table import coding

Codes = npt.NDArray[np.int64]


def invented_table(columns: Sequence[ColumnCells], drawn: Codes, noise: Noise) -> TableArtefact:
    """Write cells, shape (columns, n), as values: of an interval, each of its steps equally likely."""
    cells = {
        column.column.name: column.written(codes, uniform(noise, drawn.shape[1]))
        for column, codes in zip(columns, drawn, strict=True)
    }
    frame = pd.DataFrame(cells, dtype="str")
    return TableArtefact("table", (frame,), tuple(_entry(column) for column in columns))


def _entry(cells: ColumnCells) -> DictionaryEntry:
    found = entry(cells.column, "invented")
    if isinstance(cells, Intervals):
        return found
    values = (*coding.levels(cells.column), coding.OTHER)
    return DictionaryEntry(found.name, found.meaning, found.kind, found.unit, values)
