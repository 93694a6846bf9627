"""What releases of rows share: cells as they leave, steps to coarser ones, an order that tells nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.methods.protocol import Artefact, DictionaryEntry, TableArtefact
from engine.table.coding import filled_texts
from engine.table.hierarchies import ALL, USUAL, Hierarchy
from engine.table.schema import Column, Kind
from engine.texts import MOST_QUOTED
from engine.views import Text


def written_cells(values: pd.Series, column: Column) -> list[str]:
    """Return the cells of a column as text: one form for each value, nothing for a missing one."""
    found, uniques = pd.factorize(values)
    return np.array([*filled_texts(uniques, column), ""], dtype=object)[found].tolist()


def leaving(
    name: str,
    frame: pd.DataFrame,
    dictionary: tuple[DictionaryEntry, ...],
    chance: np.random.Generator,
) -> TableArtefact:
    """Return rows of people as a table that leaves, in a random order.

    The index of the frame says which row of the table each was made from; it does not leave.
    """
    order = chance.permutation(len(frame))
    rows = frame.iloc[order].reset_index(drop=True)
    return TableArtefact(name, (rows,), dictionary, np.asarray(frame.index)[order])


def trace_rows(artefacts: Iterable[Artefact]) -> tuple[TableArtefact, npt.NDArray[np.int64]] | None:
    """Return the first table whose rows were each made from a row, and from which; None where none is."""
    for one in artefacts:
        if isinstance(one, TableArtefact) and one.origins is not None:
            return one, one.origins
    return None


def entry(column: Column, meaning: str, **values: object) -> DictionaryEntry:
    """Return the line of the dictionary for a column of rows; ``meaning`` is a text below ``datasets``."""
    return DictionaryEntry(column.name, Text(f"datasets.{meaning}", values), str(column.kind))


def coarser_entry(column: Column, meaning: str, **values: object) -> DictionaryEntry:
    """Return the line of the dictionary for a column made coarser: what it reads is a name, and no number."""
    kind = column.kind if column.kind in (Kind.CATEGORY, Kind.ORDINAL) else Kind.CATEGORY
    return replace(entry(column, meaning, **values), kind=str(kind))


def read_as(cells: Iterable[str]) -> tuple[str, ...]:
    """Return what cells that leave read, in their order: as many as a sentence names, and one more.

    Examples
    --------
    >>> read_as(["[100, 110)", "[90, 100)", "*", "", "[90, 100)"])
    ('[90, 100)', '[100, 110)', '*')
    """
    return tuple(sorted({cell for cell in cells if cell}, key=in_order))[: MOST_QUOTED + 1]


def in_order(cell: str) -> tuple[bool, list[tuple[bool, float, str]]]:
    """Return by what texts are put into an order in which numbers within them count; any value comes last."""
    parts = re.split(r"(\d+(?:\.\d+)?)", cell)
    return cell == ALL, [(not at % 2, float(part) if at % 2 else 0.0, part) for at, part in enumerate(parts)]


def hierarchy_of(column: Column) -> Hierarchy:
    """Return the declared hierarchy, the calendar for dates, else only the step from the value to all."""
    if column.hierarchy is not None:
        return column.hierarchy
    return Hierarchy(calendar=USUAL) if column.kind is Kind.DATE else Hierarchy()
