"""Several tables of counts over the same people at once, consistent with each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engine import arrays
from engine.methods import option
from engine.methods.budget import budget_problems, required_budget
from engine.methods.filling import Counted
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    DictionaryEntry,
    Expected,
    Family,
    Forecast,
    Method,
    Reads,
    Reference,
    Release,
    TableArtefact,
)
from engine.methods.shared.cells import (
    EXTRA_CELLS,
    LEVEL_KINDS,
    MOST_CELLS,
    Cells,
    level_axes,
    level_problems,
    unused_name,
)
from engine.methods.shared.counted import NO_NEGATIVES, PEOPLE
from engine.methods.shared.promise import counted_unit, promise
from engine.methods.shared.tables import filling_notes, forecast_views, number_entry, result_views
from engine.methods.shared.view import view_of
from engine.once import once
from engine.privacy.accuracy import Accuracy, laplace_accuracy, spread_of_sum
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
    (`engine.methods.statistics.margins.best_strategy`). Every measured table gets discrete Laplace
    noise of scale (rows moved)/(share · ε); the losses add up to ε. What is released is estimated from all
    measured tables by weighted least squares and rounded: a row that one table leaves out is left out of all.

    Source: McKenna, Miklau, Hay and Machanavajjhala (2018), section 6.3; Dwork, McSherry, Nissim and Smith
    (2006), example 3 (the noise of each table).
    """

    id = "statistics.margins"
    family = Family.STATISTICS
    promises = ("pure_dp",)
    summable = True
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
        epsilon = required_budget(self.request).epsilon
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
        return self.strategy.accuracy(
            table, scale=self.request.units_moved / required_budget(self.request).epsilon
        )

    def _named(self, table: Columns) -> str:
        return " × ".join(self.options.columns[place] for place in table) or ALL

    @once
    def _measured_note(self) -> Text:
        shares = self.strategy.shares
        told = [
            Text("views.named_share", {"name": self._named(table), "percent": 100 * share})
            for table, share in shares
        ]
        return Text(f"methods.{self.id}.notes.measured", {"tables": told})

    # --- release -----------------------------------------------------------------------------------

    @once
    def needs(self) -> Reads:
        return Reads.COUNTS

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        cells, mechanisms = self.cells, self.mechanisms
        context.progress.step(0.0, "run.reading")
        exact = view_of(tables[MAIN]).margins(cells, list(mechanisms))
        measured: dict[Columns, Floats] = {}
        for (table, mechanism), counts in zip(mechanisms.items(), exact, strict=True):
            context.progress.step(0.2 + 0.6 * len(measured) / len(mechanisms), "run.noise")
            noisy = mechanism.release(counts, context.noise)
            measured[table] = noisy.reshape([cells.shape[place] for place in table]).astype(np.float64)
        context.progress.step(0.9, "run.writing")
        return self._published(measured, cells)

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
            estimated = np.clip(strategy.estimate(measured, table), -_FURTHEST, _FURTHEST)
            counts = np.rint(estimated).astype(np.int64).ravel()
            shown = np.maximum(counts, 0) if self.options.no_negatives else counts
            limit = self._accuracy(table).limit
            frame = one.frame().assign(**{headings[-2]: shown, headings[-1]: limit})
            for name in set(cells.names) - set(one.names):
                frame[name] = pd.array([overall[name]] * one.size, dtype="str")
            parts.append(frame[headings])
        frame = pd.concat(parts, ignore_index=True)
        dictionary = (*(self._entry(axis.entry, overall[axis.name]) for axis in cells.axes), *numbers)
        notes = [Text(f"statistics.notes.extra_{self.options.extra_cells}")]
        agree = "consistent_no_negatives" if self.options.no_negatives else "consistent"
        notes += [self._measured_note, Text(f"methods.{self.id}.notes.{agree}")]
        notes += [Text("statistics.notes.no_negatives")] if self.options.no_negatives else []
        views = result_views(self.id, frame, cells, value="count", within=None)
        return Release((TableArtefact("tables", (frame,), dictionary),), self.cost, views, tuple(notes))

    @staticmethod
    def _entry(entry: DictionaryEntry, overall: str) -> DictionaryEntry:
        return DictionaryEntry(entry.name, entry.meaning, entry.kind, entry.unit, (*entry.values, overall))


# --- which tables to measure, and how to read them -------------------------------------------------------
# A table over some columns is the sum of independent parts, one for each set of its columns: a total,
# what each column adds to it, what each pair adds to those, and so on. Whoever measures a table
# measures all its parts. From the declared numbers of levels alone follows how exactly each part is
# known, for any shares of ε.


Floats = arrays.Floats
Integers = arrays.Integers
Columns = tuple[int, ...]
"""Places of the columns of one table, increasing; () is the total."""

_FURTHEST = 2.0**62  # no count is beyond
SHARES = 840  # shares of ε are multiples of one part in so many: up to eight tables can have equal ones
_STEPS = (140, 28, 7, 1)  # parts that the search moves at a time
_UNKNOWN = 1e-30  # precision of a part that no measured table has


@dataclass(frozen=True)
class Strategy:
    """The tables that are measured, each with its share of ε.

    Parameters
    ----------
    shape
        Levels of every column.
    shares
        By table; they add up to 1.
    """

    shape: tuple[int, ...]
    shares: tuple[tuple[Columns, Fraction], ...]

    def cells(self, table: Columns) -> int:
        """Return how many cells a table has."""
        return prod(self.shape[place] for place in table)

    def weights(self, part: Columns) -> dict[Columns, float]:
        """Return how much each measured table counts in the least-squares estimate of a part; they sum to 1.

        Notes
        -----
        The entries of a part, averaged from table S, have a variance proportional to |S| / share².
        """
        found = {
            table: float(share) ** 2 / self.cells(table)
            for table, share in self.shares
            if set(part) <= set(table)
        }
        total = sum(found.values())
        return {table: weight / total for table, weight in found.items()}

    def estimate(self, measured: Mapping[Columns, Floats], asked: Columns) -> Floats:
        """Return the least-squares estimate of a table from all measured ones.

        Parameters
        ----------
        measured
            The noisy tables, each with one axis a column.
        asked
            A table whose columns are all within one measured table.

        Returns
        -------
        array of float64
            Tables that are estimated from the same measurements agree on what they share.

        Notes
        -----
        Weighted least squares with the inverse variances of the noise as weights, part by part: parts are
        orthogonal, so that each is a weighted mean. Source: McKenna, Miklau, Hay and Machanavajjhala (2018),
        section 6.3 (strategies of marginals); Xiao et al. (2023), theorem 3 (parts).
        """
        found = np.zeros([self.shape[place] for place in asked])
        for part in parts_of(asked):
            for table, weight in self.weights(part).items():
                scale = weight * self.cells(table) / self.cells(asked)
                found = found + scale * _in_table(_part(measured[table], table, part), part, asked)
        return found

    def accuracy(self, asked: Columns, *, scale: Fraction) -> Accuracy:
        """Return the accuracy of a rounded cell of an estimated table, from the noise alone.

        Parameters
        ----------
        scale
            Of the Laplace noise of a table that had the whole budget.

        Notes
        -----
        A cell is a sum of all noise times known numbers; the distribution of the sum is read off its Fourier
        transform. Continuous Laplace noise stands for the discrete one, which lies closer to zero.
        """
        if len(self.shares) == 1:  # cells of one table added up: the sum is known exactly
            (table, share) = self.shares[0]
            return laplace_accuracy(scale / share, count=self.cells(table) // self.cells(asked))
        terms = [
            (abs(coefficient) * float(scale / share), times)
            for table, share in self.shares
            for coefficient, times in self._coefficients(table, asked)
        ]
        median, most = spread_of_sum(tuple(terms))
        # a rounded cell is off by at most L where the sum is within L + 1/2
        return Accuracy(max(0, ceil(median - 0.5)), max(0, ceil(most - 0.5)))

    def _coefficients(self, table: Columns, asked: Columns) -> list[tuple[float, int]]:
        """Return with which numbers the noise of a table's cells enters a cell, and how many cells each."""
        common = [place for place in asked if place in table]
        weights = {part: self.weights(part).get(table, 0.0) for part in parts_of(tuple(common))}
        outside = prod(self.shape[place] for place in table if place not in common)
        found = []
        for same in parts_of(tuple(common)):  # the columns in which the two cells have the same level
            total = 0.0
            for part, weight in weights.items():
                centred = prod((place in same) - 1 / self.shape[place] for place in part)
                averaged = prod(self.shape[place] for place in table if place not in part)
                total += weight * centred / averaged
            times = outside * prod(self.shape[place] - 1 for place in common if place not in same)
            if times and total:
                found.append((total * self.cells(table) / self.cells(asked), times))
        return found


def parts_of(table: Columns) -> list[Columns]:
    """Return all sets of a table's columns, the empty one first.

    Examples
    --------
    >>> parts_of((0, 2))
    [(), (0,), (2,), (0, 2)]
    """
    return [part for size in range(len(table) + 1) for part in combinations(table, size)]


@lru_cache(maxsize=64)
def best_strategy(shape: tuple[int, ...], asked: tuple[Columns, ...], *, most_cells: int) -> Strategy:
    """Return the measured tables and shares with the smallest error of what is asked.

    Parameters
    ----------
    shape
        Declared levels of every column.
    asked
        The tables that will be released.
    most_cells
        Larger tables are not measured.

    Notes
    -----
    The error is the mean over the tables asked for of ln(variance of a cell), so that halving the variance
    of one table is worth as much as halving that of another. Searched from several starts by moving
    parts of the budget from one table to another until nothing is gained. Reads no row.

    Examples
    --------
    >>> best_strategy((10, 10), ((0, 1), (0,), (1,), ()), most_cells=10**5).shares[0][0]
    (0, 1)
    >>> best_strategy((2, 2), ((0, 1),), most_cells=10**5).shares
    (((0, 1), Fraction(1, 1)),)
    """
    tables = [table for table in parts_of(tuple(range(len(shape)))) if _cells(shape, table) <= most_cells]
    cover = np.array([[set(part) <= set(table) for table in tables] for part in tables], dtype=np.float64)
    cells = np.array([_cells(shape, table) for table in tables], dtype=np.float64)
    freedom = np.array([prod(shape[place] - 1 for place in part) for part in tables], dtype=np.float64)
    wanted = [tables.index(table) for table in asked]

    def error(shares: Floats) -> Floats:
        """Mean ln variance for each row of shares, in parts."""
        precision = (shares**2 / cells) @ cover.T
        spread = freedom / np.maximum(precision, _UNKNOWN)
        variances = spread @ cover[:, wanted] / cells[wanted] ** 2
        return np.asarray(np.log(variances).mean(axis=1))

    largest = max(range(len(tables)), key=lambda place: (len(tables[place]), place))
    starts = [np.eye(len(tables))[largest] * SHARES] if all(cover[want, largest] for want in wanted) else []
    starts.append(_evenly(wanted, len(tables)))
    found = [_descend(start, error) for start in starts]
    best = min(found, key=lambda shares: float(error(shares[None])[0]))
    order = sorted(np.flatnonzero(best), key=lambda place: (-len(tables[place]), tables[place]))
    return Strategy(shape, tuple((tables[place], Fraction(int(best[place]), SHARES)) for place in order))


def _evenly(wanted: Sequence[int], size: int) -> Floats:
    shares = np.zeros(size)
    shares[list(wanted)] = SHARES // len(wanted)
    shares[wanted[0]] += SHARES - shares.sum()
    return shares


def _descend(shares: Floats, error: Callable[[Floats], Floats]) -> Floats:
    for step in _STEPS:
        while (givers := np.flatnonzero(shares >= step)).size:  # none where many tables have little each
            moves = np.repeat(shares[None], givers.size * shares.size, axis=0)
            rows = np.arange(len(moves))
            moves[rows, np.repeat(givers, shares.size)] -= step
            moves[rows, np.tile(np.arange(shares.size), givers.size)] += step
            errors = error(moves)
            least = int(np.argmin(errors))
            if not errors[least] < float(error(shares[None])[0]) - 1e-12:
                break
            shares = moves[least]
    return shares


def _cells(shape: tuple[int, ...], table: Columns) -> int:
    return prod(shape[place] for place in table)


def _part(values: Floats, table: Columns, part: Columns) -> Floats:
    """Return the mean over a table's other columns, less the means along its own."""
    others = tuple(axis for axis, place in enumerate(table) if place not in part)
    found = np.asarray(values, dtype=np.float64).mean(axis=others) if others else np.asarray(values, float)
    for axis in range(len(part)):
        found = found - found.mean(axis=axis, keepdims=True)
    return np.asarray(found)


def _in_table(values: Floats, part: Columns, table: Columns) -> Floats:
    """Return a part with one axis for every column of a table, of length 1 where it has none."""
    sizes = iter(values.shape)
    return values.reshape([next(sizes) if place in part else 1 for place in table])
