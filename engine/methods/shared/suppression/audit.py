"""What an attacker works out of a published table: rebuilt from the table alone, by another way.

Nothing here sees the real cells or the equations by which they were protected.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from engine import arrays
from engine.errors import InputRefused
from engine.methods.shared.suppression import solver

Floats = arrays.Floats
SLACK = 1e-6
LARGEST = 1e6  # solvers compare to some 1e-7: larger numbers are scaled


@dataclass(frozen=True)
class Intervals:
    """What the attacker works out of each line of the table, shape (lines,).

    Printed lines have their value at both ends. ``high`` is infinite where nothing bounds a cell.
    """

    low: Floats
    high: Floats


class Published:
    """A table as it is published: one line a cell, empty where the cell is hidden.

    Parameters
    ----------
    frame
        Columns that name the cells, and one with the numbers, missing where hidden.
    totals
        For every column that names cells, the word that stands for all of its values.
    value
        Name of the column with the numbers.
    least, most
        What everybody knows of a hidden cell, at least and at most: of all alike, or of each line.
    levels
        Values of columns that are more than lines name, or of columns that none names.
    kept
        Lines, and the values of some columns that they count: everybody knows that conditions chose them.

    Notes
    -----
    The unknowns are the people (or amounts) in every combination of values of all columns, printed or not;
    each is at least 0. A printed line is the sum of the combinations that it covers. An interval is the least
    and the most of such a sum over all tables that give every printed line, found by linear programming. In
    one or two dimensions whole numbers attain both ends; in three, and across linked tables, the interval of
    the whole tables can be narrower, see `whole`.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        *,
        totals: Mapping[str, str],
        value: str,
        least: float | Floats,
        most: float | Floats = np.inf,
        levels: Mapping[str, Sequence[str]] = MappingProxyType({}),
        kept: Sequence[tuple[npt.NDArray[np.bool_], Mapping[str, Collection[str]]]] = (),
    ) -> None:
        self.frame, self.value = frame, value
        self.numbers = frame[value].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
        self.hidden = np.isnan(self.numbers)
        self._covers = _cover(frame, totals, levels, kept)
        self._least, self._most = (np.broadcast_to(one, len(frame)) for one in (least, most))
        self._unit = max(1.0, float(np.nanmax(np.abs(self.numbers), initial=0.0)) / LARGEST)

    def intervals(
        self, tick: Callable[[], None] = lambda: None, *, among: npt.NDArray[np.int64] | None = None
    ) -> Intervals:
        """Return what can be worked out of every line, or of some, by linear programming."""
        return self._ends(np.flatnonzero(self.hidden) if among is None else among, tick, whole=False)

    def whole(self, lines: npt.NDArray[np.int64], tick: Callable[[], None] = lambda: None) -> Intervals:
        """Return what can be worked out of these lines by who knows that all cells are whole numbers."""
        return self._ends(lines, tick, whole=True)

    def knowing(self, lines: npt.NDArray[np.bool_], values: Floats) -> Published:
        """Return the table for somebody who knows the values of these lines."""
        other = copy(self)
        other.numbers = np.array(self.numbers)
        other.numbers[lines] = values
        other.hidden = np.isnan(other.numbers)
        return other

    @property
    def has_numbers_of_nobody(self) -> bool:
        """Whether a line that counts none of the combinations has a number above 0."""
        return bool((self.numbers[np.diff(self._covers.indptr) == 0] > 0).any())

    @property
    def combinations(self) -> int:
        """How many unknowns there are."""
        return int(self._covers.shape[1])

    def _ends(self, lines: npt.NDArray[np.int64], tick: Callable[[], None], *, whole: bool) -> Intervals:
        low: Floats = np.array(self.numbers, dtype=np.float64)
        high: Floats = np.array(self.numbers, dtype=np.float64)
        found, kept = self._model(whole)
        for line in lines:
            aims = np.asarray(self._covers[[line]].toarray()).ravel()
            known = float(aims[~kept] @ self._settled[~kept])  # of what lines of their own settle
            for most in (False, True):
                tick()
                solver.aim(found, aims[kept], most=most)
                end = np.inf
                if solver.solve_again(found):
                    end = solver.objective(found) * self._unit + known
                elif not (most and solver.is_unbounded(found)):
                    is_wrong = solver.contradicts(found)
                    raise InputRefused(f"suppression.{'contradicts' if is_wrong else 'unsolved'}")
                (high if most else low)[line] = end
        return _inwards(low, high, self.hidden) if whole else Intervals(low, high)

    def _model(self, whole: bool) -> tuple[object, npt.NDArray[np.bool_]]:
        """Return the programme over the combinations that are not settled by a line of their own."""
        count = self.combinations
        sizes = np.diff(self._covers.indptr)
        single = np.flatnonzero((sizes == 1) & ~self.hidden)
        self._settled = np.zeros(count)
        kept = np.ones(count, dtype=bool)
        places = self._covers.indices[self._covers.indptr[single]]
        self._settled[places] = self.numbers[single]
        kept[places] = False
        empty = np.flatnonzero((self.numbers == 0) & (sizes > 1))
        for line in empty:  # a sum of nothing below 0 that is 0
            kept[self._covers.indices[self._covers.indptr[line] : self._covers.indptr[line + 1]]] = False
        rest = np.flatnonzero(sizes > 0)
        block = self._covers[rest][:, np.flatnonzero(kept)].tocsr()
        known = np.asarray(self._covers[rest] @ np.where(kept, 0.0, self._settled)).ravel()
        low = np.where(self.hidden[rest], self._least[rest], self.numbers[rest]) - known
        high = np.where(self.hidden[rest], self._most[rest], self.numbers[rest]) - known
        asks = np.diff(block.indptr) > 0
        unknowns = int(kept.sum())
        found = solver.model(
            block[np.flatnonzero(asks)],
            rows=(low[asks] / self._unit, high[asks] / self._unit),
            columns=(np.zeros(unknowns), np.full(unknowns, np.inf)),
            costs=np.zeros(unknowns),
            whole=whole,
            primal=True,
        )
        return found, kept


def _cover(
    frame: pd.DataFrame,
    totals: Mapping[str, str],
    more: Mapping[str, Sequence[str]],
    kept: Sequence[tuple[npt.NDArray[np.bool_], Mapping[str, Collection[str]]]],
) -> sparse.csr_array:
    """Say which combinations of values each line covers, shape (lines, combinations)."""
    names = list(totals)
    levels = {name: [one for one in frame[name].unique() if one != totals[name]] for name in names}
    levels.update({name: list(values) for name, values in more.items()})
    grid = pd.MultiIndex.from_product([levels[name] or [totals[name]] for name in names], names=names)
    combinations = grid.to_frame(index=False).assign(combination=np.arange(len(grid)))
    lines = frame[names].assign(line=np.arange(len(frame)))
    kinds = np.column_stack([lines[name].to_numpy() == totals[name] for name in names])
    rows, columns = [], []
    for kind in np.unique(kinds, axis=0):  # lines that are totals of the same columns
        own = lines[(kinds == kind).all(axis=1)]
        by = [name for name, is_total in zip(names, kind, strict=True) if not is_total]
        pairs = own.merge(combinations, on=by, how="inner") if by else own.merge(combinations, how="cross")
        rows.append(pairs["line"].to_numpy())
        columns.append(pairs["combination"].to_numpy())
    where = (np.concatenate(rows), np.concatenate(columns))
    for counted, values in kept:
        is_kept = np.ones(len(combinations), dtype=bool)
        for name, those in values.items():
            is_kept &= combinations[name].isin(list(those)).to_numpy()
        stays = ~counted[where[0]] | is_kept[where[1]]
        where = (where[0][stays], where[1][stays])
    shape = (len(frame), len(combinations))
    found = sparse.csr_array((np.ones(len(where[0])), where), shape=shape)
    found.sort_indices()
    return found


def _inwards(low: Floats, high: Floats, hidden: npt.NDArray[np.bool_]) -> Intervals:
    return Intervals(
        np.where(hidden, np.ceil(low - SLACK), low), np.where(hidden, np.floor(high + SLACK), high)
    )
