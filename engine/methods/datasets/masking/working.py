"""The table while it is masked: columns as numbers, days or places of their different values.

A step asks for the form that it works with. Numbers and days become texts where a step needs texts, never
the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.errors import InputRefused
from engine.methods.shared.rows import written_cells
from engine.table import coding
from engine.table.declared import numbered_people
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table

Floats = arrays.Floats
Days = arrays.Dates
Places = arrays.Integers


class Form(StrEnum):
    """What a column is for a step."""

    NUMBERS = "numbers"
    DAYS = "days"
    TEXTS = "texts"


@dataclass(frozen=True)
class Texts:
    """A column by its different texts.

    Parameters
    ----------
    values
        The different texts; some may stand nowhere any more.
    places
        Place of each row's text, −1 for a missing one.
    """

    values: tuple[str, ...]
    places: Places

    def mapped(self, change: Callable[[list[str]], Sequence[str]]) -> Texts:
        """Return the column with every different text changed by itself; an empty one is missing."""
        return self.read_as(list(change(list(self.values))))

    def read_as(self, texts: Sequence[str]) -> Texts:
        """Return the column with other texts in place of its own, in their order."""
        found, values = pd.factorize(np.array(["", *texts], dtype=object))
        return Texts(tuple(values[1:]), np.append(found[1:], 0)[self.places] - 1)

    def written(self) -> npt.NDArray[np.object_]:
        """Return the text of every row, an empty one where it is missing."""
        return np.array([*self.values, ""], dtype=object)[self.places]


Held = Floats | Days | Texts


def form_of(column: Column) -> Form:
    """Return what a column is before the first step, from its declaration alone."""
    if column.kind in (Kind.INTEGER, Kind.NUMBER):
        return Form.NUMBERS
    return Form.DAYS if column.kind is Kind.DATE else Form.TEXTS


def declared_values(column: Column) -> tuple[str, ...] | None:
    """Return the declared values of a column as texts; None where none are declared."""
    try:
        return coding.levels(column) if column.is_declared else None
    except InputRefused:
        return None


def is_identifying(column: Column) -> bool:
    """Say whether somebody could be known by a column."""
    return column.role in (Role.IDENTIFYING, Role.TIME, Role.PLACE)


class Working:
    """Rows that are being masked.

    Parameters
    ----------
    table, schema
        The private rows and what was declared about them.
    columns
        Names of those that leave.
    chance
        The generator of the release; see `engine.methods.protocol.Context`.
    """

    def __init__(
        self, table: Table, schema: Schema, columns: Sequence[str], chance: np.random.Generator
    ) -> None:
        self.schema, self.chance = schema, chance
        self.columns = {name: schema.column(name) for name in columns}
        self.declared = {name: declared_values(column) for name, column in self.columns.items()}
        self.places: Places = np.arange(len(table), dtype=np.int64)
        self._table = table
        self._held: dict[str, Held] = {name: _first(table, column) for name, column in self.columns.items()}
        self.person = numbered_people(table, schema.person_key)

    def __len__(self) -> int:
        return len(self.places)

    @property
    def several_rows(self) -> bool:
        """Whether somebody has more than one row."""
        return self.person is not None

    @property
    def people(self) -> Places:
        """The number of each row's person, from 0; every row is a person where there is no person key."""
        return np.arange(len(self), dtype=np.int64) if self.person is None else self.person

    def identifying(self) -> list[str]:
        """Return the columns that leave by which somebody could be known."""
        return [name for name, column in self.columns.items() if is_identifying(column)]

    # --- columns --------------------------------------------------------------------------------------

    def numbers(self, name: str) -> Floats:
        """Return a column of numbers, NaN where there is none."""
        return cast(Floats, self._held[name])

    def days(self, name: str) -> Days:
        """Return a column of days, NaT where there is none."""
        return cast(Days, self._held[name])

    def days_as_read(self, name: str) -> Days:
        """Return the days of a column as they were before any step, for the rows that are left."""
        return coding.dates(self._table.rows()[name], self.schema.column(name))[self.places]

    def texts(self, name: str) -> Texts:
        """Return a column as texts, whatever it is."""
        held = self._held[name]
        return held if isinstance(held, Texts) else _as_texts(held)

    def ranked(self, name: str) -> Floats | Days | Places:
        """Return what orders the rows by a column: numbers, days, or places in the declared order."""
        held = self._held[name]
        if not isinstance(held, Texts):
            return held
        order = {value: place for place, value in enumerate(self.declared[name] or ())}
        places = np.array([*(order.get(value, -1) for value in held.values), -1], dtype=np.int64)
        return np.asarray(places[held.places])

    def is_missing(self, name: str) -> npt.NDArray[np.bool_]:
        """Return where a column has no value."""
        held = self._held[name]
        return held.places < 0 if isinstance(held, Texts) else np.isnan(held)  # also NaT

    def set(self, name: str, held: Held) -> None:
        """Put another column in place of one."""
        self._held[name] = held

    def leave_out(self, name: str) -> None:
        """Take a column away."""
        del self._held[name], self.columns[name], self.declared[name]

    def take(self, name: str, places: Places) -> None:
        """Give every row of a column the value of the row that ``places`` names."""
        held = self._held[name]
        self._held[name] = (
            Texts(held.values, held.places[places]) if isinstance(held, Texts) else held[places]
        )

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Keep some rows and leave out all others."""
        where = np.flatnonzero(kept)
        for name in self._held:
            self.take(name, where)
        self.places = self.places[where]
        if self.person is not None:
            self.person = np.asarray(pd.factorize(self.person[where])[0], dtype=np.int64)

    # --- chance ---------------------------------------------------------------------------------------

    def alike(self, name: str) -> tuple[Places | None, int]:
        """Return which rows share one draw, and how many draws there are.

        Notes
        -----
        The same value of the same person is changed once: whoever sees it masked several times could
        otherwise average the changes away. None where every row has a draw of its own.
        """
        if self.person is None:
            return None, len(self)
        value = pd.factorize(self.ranked_or_places(name), use_na_sentinel=False)[0]
        pairs = self.person * (int(value.max(initial=0)) + 1) + value
        found, different = pd.factorize(pairs)
        return found.astype(np.int64), len(different)

    def ranked_or_places(self, name: str) -> Floats | Days | Places:
        """Return numbers by which equal values of a column are known."""
        held = self._held[name]
        return held.places if isinstance(held, Texts) else held

    # --- what leaves ------------------------------------------------------------------------------------

    def written(self) -> pd.DataFrame:
        """Return the columns as texts, in the order in which they were chosen."""
        return pd.DataFrame({name: self.texts(name).written() for name in self.columns}, dtype="str")

    def changed(self, name: str) -> float:
        """Return the share of cells of a column that differ from those that were read."""
        before = np.array(written_cells(self._table.rows()[name], self.columns[name]), dtype=object)
        if not len(self):
            return 0.0
        return float((before[self.places] != self.texts(name).written()).mean())


def _first(table: Table, column: Column) -> Held:
    values = table.rows()[column.name]
    form = form_of(column)
    if form is Form.NUMBERS:
        return coding.numbers(values, column)
    if form is Form.DAYS:
        return coding.dates(values, column)
    found, uniques = pd.factorize(values)
    texts = coding.filled_texts(uniques, column)
    return Texts(tuple(texts), found.astype(np.int64)).read_as(texts)


def _as_texts(held: Floats | Days) -> Texts:
    places, different = pd.factorize(held)
    return Texts(tuple(coding.texts_of(different)), places.astype(np.int64))
