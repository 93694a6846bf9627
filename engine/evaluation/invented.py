"""Invented rows beside the rows they were made from, people not used, and what one could release instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.evaluation.protocol import Private
from engine.methods.protocol import Release, TableArtefact
from engine.table.schema import Column, Role
from engine.utility import scattered
from engine.utility.distances import AMOUNTS, Scale, amounts
from engine.utility.intervals import Cells

KNOWN = (Role.IDENTIFYING, Role.TIME, Role.PLACE)
MOST_OUTCOMES = 3


@dataclass(frozen=True)
class Sides:
    """Tables with the same columns.

    Parameters
    ----------
    copies
        What was released: one table, or several alike.
    used
        The rows that they were made from.
    unused
        Rows of people who had no part; None where nobody was kept apart.
    columns
        Declarations of the columns that all have.
    """

    copies: tuple[pd.DataFrame, ...]
    used: pd.DataFrame
    unused: pd.DataFrame | None
    columns: tuple[Column, ...]

    @staticmethod
    def of(context: Private) -> Sides | None:
        """Take them from what a measure gets; None where no row was released or used."""
        copies, used = released_tables(context.release), context.used.rows()
        if not copies or not len(used) or not all(map(len, copies)):
            return None
        unused = context.held_out.rows() if context.held_out is not None else None
        if unused is not None and not len(unused):
            unused = None
        key = context.schema.person_key  # invented numbers: no row would be a copy by them
        names = [str(name) for name in copies[0] if name in used and (key is None or name != key.name)]
        return Sides(copies, used, unused, tuple(context.schema.column(name) for name in names))

    @property
    def known(self) -> tuple[str, ...]:
        """Columns that identify: what an intruder is taken to know."""
        return tuple(column.name for column in self.columns if column.role in KNOWN)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Columns marked as sensitive."""
        return tuple(column.name for column in self.columns if column.role is Role.SENSITIVE)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Columns that analyses are about: the first sensitive ones, the last column where none is marked."""
        return (self.sensitive or tuple(column.name for column in self.columns[-1:]))[:MOST_OUTCOMES]

    def places(self) -> list[Scale]:
        """Return for every column of names the places of its values in the rows used."""
        return [
            Scale.of_names(self.used[column.name], column)
            for column in self.columns
            if column.kind not in AMOUNTS
        ]

    def cells(self, table: pd.DataFrame, places: Sequence[Scale]) -> Cells:
        """Return a table as numbers."""
        return Cells(
            {one.name: amounts(table[one.name], one) for one in self.columns if one.kind in AMOUNTS},
            {scale.column.name: scale.classes(table[scale.column.name]) for scale in places},
        )


def released_tables(release: Release) -> tuple[pd.DataFrame, ...]:
    """Return the tables of the first artefact that is one."""
    for one in release.artefacts:
        if isinstance(one, TableArtefact):
            return one.frames
    return ()


def is_redrawn(release: Release) -> bool:
    """Say whether each of these tables was drawn with parameters of its own."""
    first = next((one for one in release.artefacts if isinstance(one, TableArtefact)), None)
    return first is not None and first.redrawn


def origins_of(release: Release) -> tuple[npt.NDArray[np.int64], ...]:
    """Return of these tables the row that each row was made from; empty where they are nobody's."""
    first = next((one for one in release.artefacts if isinstance(one, TableArtefact)), None)
    return () if first is None or first.origins is None else (first.origins, *first.further)


def kept_columns(sides: Sides, release: Release) -> tuple[str, ...]:
    """Return the columns in which every released row is as the row that it was made from.

    The dictionary of the release marks them as kept; rows that are nobody's keep nothing.
    """
    origins = origins_of(release)
    if not origins or not (origins[0] >= 0).any():
        return ()
    made = origins[0] >= 0
    own, copy = sides.used.iloc[origins[0][made]], sides.copies[0].loc[made]
    found = []
    for column in sides.columns:
        scale = Scale.of_names(sides.used[column.name], column)
        if (scale.classes(copy[column.name]) == scale.classes(own[column.name])).all():
            found.append(column.name)
    return tuple(found)


def bootstrap_rows(cells: Cells) -> Cells:
    """Return a bootstrap of rows: as close as a table can be that copies everybody."""
    return cells.taken(scattered.bootstrap_places(cells.rows))


def independent(cells: Cells) -> Cells:
    """Return rows with the same columns of which none knows of another: as far as a table may be."""
    streams = {name: stream for stream, name in enumerate([*cells.amounts, *cells.names])}
    return Cells(
        {n: values[scattered.order(cells.rows, streams[n])] for n, values in cells.amounts.items()},
        {n: codes[scattered.order(cells.rows, streams[n])] for n, codes in cells.names.items()},
    )


def stack_columns(cells: Cells, names: Iterable[str]) -> npt.NDArray[np.float64]:
    """Return columns side by side, shape (rows, columns): amounts, and the places of names."""
    return np.column_stack(
        [cells.amounts[n] if n in cells.amounts else cells.names[n].astype(np.float64) for n in names]
    )


def keeps_cells(release: Release) -> bool:
    """Say whether some released cells are original ones, by the dictionary of the table."""
    return any(
        entry.meaning.id in ("datasets.as_it_is", "datasets.partly_invented")
        for one in release.artefacts
        if isinstance(one, TableArtefact)
        for entry in one.dictionary
    )
