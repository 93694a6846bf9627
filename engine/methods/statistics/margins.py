"""Several tables of counts over the same people at once, consistent with each other."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engine.methods import option
from engine.methods.budget import budget_problems, required
from engine.methods.filling import Counted
from engine.methods.once import once
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    DictionaryEntry,
    Expected,
    Family,
    Forecast,
    Method,
    Reference,
    Release,
    TableArtefact,
)
from engine.methods.shared.cells import (
    EXTRA_CELLS,
    LEFT_OUT,
    LEVEL_KINDS,
    MOST_CELLS,
    Cells,
    Codes,
    level_axes,
    level_problems,
    unused_name,
)
from engine.methods.shared.counted import NO_NEGATIVES, PEOPLE
from engine.methods.shared.promise import counted_unit, promise
from engine.methods.shared.tables import filling_notes, forecast_views, number_entry, result_views
from engine.methods.statistics.margin_strategy import Columns, Floats, Integers, Strategy, best_strategy
from engine.privacy.accuracy import Accuracy
from engine.privacy.events import Sequential
from engine.privacy.mechanisms import LaplaceCounts
from engine.privacy.promise import Promise
from engine.views import Text

if TYPE_CHECKING:
    from engine.table.table import Table

ALL = "(all)"


class Asked(StrEnum):
    """Which tables are released."""

    TOTALS = "totals"  # the table over all columns, each column by itself, the total
    PAIRS = "pairs"  # every two columns
    SINGLE = "single"  # every column by itself, the total


class Margins(Method):
    """Tables of counts over up to six columns, made consistent by least squares.

    Notes
    -----
    Which tables are measured, and with which shares of ε, follows from the declared numbers of levels
    (`engine.methods.statistics.margin_strategy.best_strategy`). Every measured table gets discrete Laplace
    noise of scale (rows moved)/(share · ε); the losses add up to ε. What is released is estimated from all
    measured tables by weighted least squares and rounded: a row that one table leaves out is left out of all.

    Source: McKenna, Miklau, Hay and Machanavajjhala (2018), section 6.3; Dwork, McSherry, Nissim and Smith
    (2006), example 3 (the noise of each table).
    """

    id = "statistics.margins"
    family = Family.STATISTICS
    promises = ("pure_dp",)
    published = Reference(
        "McKenna, Miklau, Hay, Machanavajjhala: Optimizing error of high-dimensional statistical "
        "queries under differential privacy (2018)",
        "section 6.3, strategies of marginals",
        "arXiv:1808.03537",
    )

    class Options(option.Options):
        columns: option.Names = option.columns(
            minimum=2, maximum=6, column_kinds=LEVEL_KINDS, needs_domain=True
        )
        tables: str = option.choice(*Asked, default=Asked.TOTALS.value)
        extra_cells: str = EXTRA_CELLS
        no_negatives: bool = NO_NEGATIVES
        people: int | None = PEOPLE

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        columns = [self.schema.column(name) for name in self.options.columns]
        found = level_problems(columns, parameter="columns")
        if not found:
            cells = self.cells
            most = max(prod(cells.shape[place] for place in table) for table in self.asked)
            if most > MOST_CELLS:
                values = {"cells": most, "most": MOST_CELLS}
                found.append(Problem(f"{self.id}.too_many_cells", values, "columns"))
        return found + budget_problems(self.request, uses_delta=False)

    @once
    def cells(self) -> Cells:
        """Return the table over all columns."""
        return Cells(level_axes(self.request, self.options.columns))

    @once
    def asked(self) -> tuple[Columns, ...]:
        """Return the tables that are released."""
        places = range(len(self.options.columns))
        wanted = Asked(self.options.tables)
        single = tuple((place,) for place in places)
        if wanted is Asked.PAIRS:
            return tuple(combinations(places, 2))
        return (tuple(places), *single, ()) if wanted is Asked.TOTALS else (*single, ())

    @once
    def strategy(self) -> Strategy:
        """Return which tables are measured, and their shares of ε."""
        return best_strategy(self.cells.shape, self.asked, most_cells=MOST_CELLS)

    @once
    def mechanisms(self) -> dict[Columns, LaplaceCounts]:
        """Return the noise of every measured table."""
        epsilon = required(self.request).epsilon
        shares = self.strategy.shares
        return {table: LaplaceCounts(self.request.units_moved, share * epsilon) for table, share in shares}

    @once
    def cost(self) -> Promise:
        events = tuple(mechanism.event for mechanism in self.mechanisms.values())
        return promise(self.request, events[0] if len(events) == 1 else Sequential(events))

    # --- forecast ----------------------------------------------------------------------------------

    @once
    def forecast(self) -> Forecast:
        errors = []
        for table in self.asked:
            name = Text(f"methods.{self.id}.numbers.count.of", {"table": self._named(table)})
            found = self._accuracy(table)
            errors.append(
                Expected(name, "whole", None, found.median, found.limit, counted_unit(self.request))
            )
        largest = max(self.asked, key=self.strategy.cells)
        limit = self._accuracy(largest).limit
        counted = Counted(self._of(largest).declared, limit, self.request.rows_per_person)
        notes = (self._measured_note, *filling_notes(counted, self.options.people))
        views = forecast_views(self.id, errors)
        return Forecast(tuple(errors), views=views, notes=notes, counted=counted)

    def _of(self, table: Columns) -> Cells:
        """Return the cells of one table."""
        return Cells(tuple(self.cells.axes[place] for place in table))

    def _accuracy(self, table: Columns) -> Accuracy:
        return self.strategy.accuracy(table, scale=self.request.units_moved / required(self.request).epsilon)

    def _named(self, table: Columns) -> str:
        return " × ".join(self.options.columns[place] for place in table) or ALL

    @once
    def _measured_note(self) -> Text:
        shares = self.strategy.shares
        told = "; ".join(f"{self._named(table)}: {100 * share} %" for table, share in shares)
        return Text(f"methods.{self.id}.notes.measured", {"tables": told})

    # --- release -----------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        cells, mechanisms = self.cells, self.mechanisms
        context.progress.step(0.0, "run.reading")
        codes = self._codes(tables[MAIN].rows(), cells)
        measured: dict[Columns, Floats] = {}
        for table, mechanism in mechanisms.items():
            context.progress.step(0.2 + 0.6 * len(measured) / len(mechanisms), "run.noise")
            exact = _counts(codes, table, cells.shape)
            noisy = mechanism.release(exact, context.noise)
            measured[table] = noisy.reshape([cells.shape[place] for place in table]).astype(np.float64)
        context.progress.step(0.9, "run.writing")
        return self._published(measured, cells)

    @staticmethod
    def _codes(frame: pd.DataFrame, cells: Cells) -> Codes:
        """Return the levels of every row that all columns count, shape (columns, rows)."""
        codes = np.array([axis.codes(frame) for axis in cells.axes])
        return codes[:, (codes != LEFT_OUT).all(axis=0)]

    def _published(self, measured: dict[Columns, Floats], cells: Cells) -> Release:
        """Make the artefact from noisy tables: nothing after this line has seen a row."""
        strategy, parts, unit = self.strategy, [], counted_unit(self.request)
        overall = {axis.name: unused_name(ALL, axis.labels) for axis in cells.axes}
        numbers = [
            number_entry(self.id, name, cells, kind="integer", unit=unit) for name in ("count", "within_95")
        ]
        headings = [*cells.names, *(entry.name for entry in numbers)]
        for table in self.asked:
            one = self._of(table)
            counts = np.rint(strategy.estimate(measured, table)).astype(np.int64).ravel()
            shown = np.maximum(counts, 0) if self.options.no_negatives else counts
            limit = self._accuracy(table).limit
            frame = one.frame().assign(**{headings[-2]: shown, headings[-1]: limit})
            for name in set(cells.names) - set(one.names):
                frame[name] = pd.array([overall[name]] * one.size, dtype="str")
            parts.append(frame[headings])
        frame = pd.concat(parts, ignore_index=True)
        dictionary = (*(self._entry(axis.entry, overall[axis.name]) for axis in cells.axes), *numbers)
        notes = [Text(f"statistics.notes.extra_{self.options.extra_cells}")]
        notes += [self._measured_note, Text(f"methods.{self.id}.notes.consistent")]
        notes += [Text("statistics.notes.no_negatives")] if self.options.no_negatives else []
        views = result_views(self.id, frame, cells, value="count", within=None)
        return Release((TableArtefact("tables", (frame,), dictionary),), self.cost, views, tuple(notes))

    @staticmethod
    def _entry(entry: DictionaryEntry, overall: str) -> DictionaryEntry:
        return DictionaryEntry(entry.name, entry.meaning, entry.kind, entry.unit, (*entry.values, overall))


def _counts(codes: Codes, table: Columns, shape: tuple[int, ...]) -> Integers:
    """Return how many rows each cell of one table holds, the last column running fastest."""
    place = np.zeros(codes.shape[1], dtype=np.int64)
    size = 1
    for column in table:
        place = place * shape[column] + codes[column]
        size *= shape[column]
    return np.bincount(place, minlength=size).astype(np.int64)
