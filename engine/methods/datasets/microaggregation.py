"""The rows of people, with the identifying values of similar ones replaced by what stands for their group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.errors import InputRefused
from engine.methods import option
from engine.methods.datasets.grouping import (
    WEIGHTS,
    Grouped,
    grouping_problems,
    identifying_columns,
    promise,
)
from engine.methods.datasets.recoding import Codes, Ladder
from engine.methods.datasets.solution import figures_view
from engine.methods.kinds import Changes
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    Context,
    DictionaryEntry,
    Family,
    Inside,
    Method,
    Reference,
    Release,
    Rows,
    Spends,
)
from engine.methods.shared.promise import promise_without_bound
from engine.methods.shared.rows import entry, hierarchy_of, leaving, written_cells
from engine.numbers import nearest
from engine.once import once
from engine.privacy.promise import Promise
from engine.progress import SILENT, Progress
from engine.risk.encoding import EncodedColumn, encode_column
from engine.table.coding import text_of
from engine.table.hierarchies import MISSING
from engine.table.schema import Column, Kind
from engine.table.table import Table

ID = "datasets.microaggregation"
TOGETHER, RANKING = "together", "ranking"
_DIGITS = 6


class Microaggregation(Method):
    """Micro-aggregation: groups of k to 2k − 1 similar rows, all of which read alike afterwards.

    Notes
    -----
    Definition: J. Domingo-Ferrer and V. Torra (2005), section 3. Numbers become the mean of the group,
    ordered values its median, others the most frequent; missing where most are. *Together* groups over all
    identifying columns: rows agree with k − 1 others. *Ranking* groups each column by itself: far less
    is lost, every single value stands for at least k rows, but their combination may still be one person's
    alone, so that nothing is promised. Who knows all others of a group can compute the last one's value from
    the mean; a sensitive value that a whole group shares is told about each of them.
    """

    id = ID
    family = Family.DATASET
    promises = ("k_anonymity", "none")
    spends = Spends.NOTHING
    rows = Rows.COARSER
    changes = (Changes.GROUPED,)
    published = Reference(
        "Domingo-Ferrer, Torra: Ordinal, continuous and heterogeneous k-anonymity through microaggregation "
        "(2005)",
        "section 3",
        "doi:10.1007/s10618-005-0007-5",
    )

    class Options(Grouped):
        grouping: str = option.choice(TOGETHER, RANKING, default=TOGETHER)
        weights: Mapping[str, Fraction] = WEIGHTS

    options: Options

    @once
    def further_problems(self) -> list[Problem]:
        if wrong := grouping_problems(self.request):
            return wrong
        return [Problem(f"{ID}.several_rows", {})] if self.request.rows_per_person > 1 else []

    @once
    def cost(self) -> Promise:
        if self.options.grouping == TOGETHER:
            return promise(self.request)
        return promise_without_bound(self.request, "none")

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        rows = next(iter(tables.values())).rows()
        blocks: float | None = None
        k, together = self.options.k, self.options.grouping == TOGETHER
        if len(rows) < k:
            raise InputRefused("grouping.too_few", k=k)
        columns = [self.schema.column(name) for name in self.options.columns]
        weights = self.options.weights
        parts = [
            _part(encode_column(rows[column.name], column), float(weights.get(column.name, 1)))
            for column in identifying_columns(self.request)
        ]
        if together:
            space = _space(parts)
            group = mdav(space, k=k, progress=context.progress.part(0.1, 0.9))
            groups = [group] * len(parts)
            blocks = block_loss(space, k=k)
        else:
            groups = [_rank(part, k) for part in parts]
        cells = {column.name: written_cells(rows[column.name], column) for column in columns}
        cells |= {part.name: part.written(own).tolist() for part, own in zip(parts, groups, strict=True)}
        frame = pd.DataFrame(cells, dtype="str")
        if together and frame.groupby([part.name for part in parts]).size().min() < k:
            raise InputRefused("run.promise_differs", method=ID, part="promise")
        assert context.chance is not None  # nothing bounds the loss
        entries = tuple(_entry(column, parts) for column in columns)
        artefact = leaving("table", frame, entries, context.chance)
        return Release((artefact,), self.cost, inside=_inside(parts, groups, blocks))


@dataclass(frozen=True, eq=False)
class _Part:
    """One identifying column. From private rows.

    Parameters
    ----------
    encoded
        The column.
    stands
        What stands for a group: ``mean``, ``median`` or ``mode``.
    numbers
        Of every row for a mean, its rank for a median, its code for a mode; not a number where missing.
    weight
        How much it counts.
    """

    encoded: EncodedColumn
    stands: str
    numbers: Floats
    weight: float

    @property
    def name(self) -> str:
        return self.encoded.column.name

    def points(self) -> tuple[Floats, tuple[Categories, ...]]:
        """Return the column as points: numbers and ranks in standard deviations, categories in their tree."""
        if self.stands == "mode":
            texts = self.encoded.texts
            ladder = Ladder.of(texts, hierarchy_of(self.encoded.column))
            codes = ladder.place(texts)[self.encoded.codes]
            return np.zeros((0, len(codes))), (Categories(codes, ladder.groups[:-1], self.weight),)
        missing = np.isnan(self.numbers)
        present = self.numbers[~missing]
        spread = float(present.std()) if len(present) else 0.0
        scaled = np.zeros(len(self.numbers))
        if spread:
            scaled[~missing] = (present - present.mean()) / spread
        points = np.array([scaled, missing.astype(np.float64)] if missing.any() else [scaled])
        return points * np.sqrt(self.weight), ()

    def written(self, group: Codes) -> np.ndarray:
        """Return what every row reads, given the group of each: missing where most of the group are."""
        missing = np.isnan(self.numbers)
        size = np.bincount(group)
        gone = np.bincount(group, missing) * 2 > size
        if self.stands == "mean":
            texts = self._means(group, missing, len(size))
        else:
            texts = self._middle(group, len(size))
        return np.where(gone, MISSING, texts)[group]

    def _means(self, group: Codes, missing: np.ndarray, groups: int) -> np.ndarray:
        count = np.maximum(1, np.bincount(group, ~missing, groups))
        means = np.bincount(group, np.where(missing, 0.0, self.numbers), groups) / count
        kind = self.encoded.column.kind
        if kind is Kind.DATE:
            days = np.rint(means).astype("int64").astype("datetime64[D]")
            return np.array([str(day) for day in days], dtype=object)
        if kind is Kind.INTEGER:
            means = np.rint(means)
        return np.array([text_of(float(f"{mean:.{_DIGITS}g}")) for mean in means], dtype=object)

    def _middle(self, group: Codes, groups: int) -> np.ndarray:
        """Return the lower median of ranks, or the most frequent code, of every group."""
        number = np.nan_to_num(self.numbers, nan=-1.0).astype(np.int64)
        order = np.lexsort((number, group))
        order = order[number[order] >= 0]
        own, value = group[order], number[order]
        found = np.zeros(groups, dtype=np.int64)
        if self.stands == "median":
            first, last = (
                np.searchsorted(own, np.arange(groups)),
                np.searchsorted(own, np.arange(1, groups + 1)),
            )
            some = last > first
            found[some] = value[(first + (last - first - 1) // 2)[some]]
            by_rank = np.argsort(self.encoded.ranks)
            found = by_rank[found]
        else:
            size = self.encoded.size
            pairs, count = np.unique(own * size + value, return_counts=True)
            best = np.lexsort((pairs, -count, pairs // size))
            of_group, first = np.unique(pairs[best] // size, return_index=True)
            found[of_group] = pairs[best][first] % size
        return np.array(self.encoded.texts, dtype=object)[found]


def _part(encoded: EncodedColumn, weight: float) -> _Part:
    column, missing = encoded.column, encoded.missing
    if not encoded.ordered:
        own = encoded.codes.astype(np.float64)
        stands = "mode"
    elif column.kind is Kind.ORDINAL or (numbers := _numbers(encoded)) is None:
        own, stands = encoded.ranks[encoded.codes].astype(np.float64), "median"
    else:
        own, stands = numbers[encoded.codes], "mean"
    if missing is not None and stands != "mode":  # as a category it is a value of its own
        own[encoded.codes == missing] = np.nan
    return _Part(encoded, stands, own, weight)


def _numbers(encoded: EncodedColumn) -> Floats | None:
    """Return the number or day that every value is; None where they have an order and no mean, as moments."""
    try:
        listed = [np.nan if value is None else _number(value, encoded.column) for value in encoded.values]
    except ValueError:
        return None
    return np.array(listed, dtype=np.float64)


def _number(value: object, column: Column) -> float:
    if column.kind is Kind.DATE:
        return float(np.datetime64(pd.Timestamp(str(value)), "D").astype("int64"))
    return nearest(str(value))


def _space(parts: list[_Part]) -> Space:
    points = [part.points() for part in parts]
    categories = tuple(one for _, found in points for one in found)
    return Space(np.ascontiguousarray(np.concatenate([numbers for numbers, _ in points])), categories)


def _rank(part: _Part, k: int) -> Codes:
    """Put rows into groups of k by their rank in one column, the last of up to 2k − 1."""
    rank = part.encoded.ranks[part.encoded.codes]
    group = np.empty(len(rank), dtype=np.int64)
    group[np.argsort(rank, kind="stable")] = np.minimum(np.arange(len(rank)) // k, len(rank) // k - 1)
    return group


def _entry(column: Column, parts: list[_Part]) -> DictionaryEntry:
    stands = {part.name: part.stands for part in parts}.get(column.name)
    return entry(column, "as_it_is" if stands is None else f"group_{stands}")


def _inside(parts: list[_Part], groups: list[Codes], blocks: float | None) -> Inside:
    lost = total = 0.0
    for part, group in zip(parts, groups, strict=True):
        inside, everybody = squared_errors(_space([part]), group)
        lost, total = lost + inside, total + everybody
    sizes = [np.bincount(group) for group in groups]
    figures = {
        "people": len(groups[0]),
        "left_out": 0,
        "smallest_group": min(int(size.min()) for size in sizes),
        "largest_group": max(int(size.max()) for size in sizes),
        "groups": max(len(size) for size in sizes),
        "squared_loss": round(lost / total, 6) if total else 0.0,
    }
    if blocks is not None:
        figures["block_loss"] = round(blocks, 3)
    return Inside((figures_view(figures),), figures)


# --- groups by the largest distance to the average -------------------------------------------------------
# Distances are squared and add up over the columns: of numbers, days and ranks the squared difference in
# standard deviations, of categories without an order the height of the lowest common group, from 0 to 1.


Floats = arrays.Floats
EXACT = 200_000  # rows; of more, blocks of similar rows are worked on one after the other
BLOCK = 20_000


@dataclass(frozen=True)
class Categories:
    """A column of categories.

    Parameters
    ----------
    codes
        Of every row, shape (rows,).
    nodes
        Shape (steps, categories): the number of the group of each category on each step but the last, on
        which all are one.
    weight
        How much the column counts.
    """

    codes: Codes
    nodes: Codes
    weight: float = 1.0

    def take(self, rows: Codes) -> Categories:
        """Return some rows."""
        return Categories(self.codes[rows], self.nodes, self.weight)


@dataclass(frozen=True)
class Space:
    """Rows as points.

    Parameters
    ----------
    numbers
        Shape (columns, rows): scaled and weighed.
    categories
        The other columns.
    """

    numbers: Floats
    categories: tuple[Categories, ...] = ()

    @property
    def rows(self) -> int:
        """How many points there are."""
        return self.numbers.shape[1]

    def take(self, rows: Codes) -> Space:
        """Return some rows."""
        return Space(self.numbers[:, rows], tuple(one.take(rows) for one in self.categories))


def mdav(space: Space, *, k: int, progress: Progress = SILENT) -> Codes:
    """Put rows into groups of k to 2k − 1 similar ones.

    Parameters
    ----------
    space
        The rows, at least k of them.
    k
        Least size of a group.

    Returns
    -------
    array of int64, shape (rows,)
        The group of each row, from 0.

    Notes
    -----
    J. Domingo-Ferrer and V. Torra, Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation, 2005, algorithm 3 (MDAV-generic). Equally far rows are taken in their order. The best
    groups are NP-hard to find for more than one column; this is a heuristic.

    Examples
    --------
    >>> mdav(Space(np.array([[0.0, 9.0, 1.0, 8.0, 0.5]])), k=2).tolist()
    [1, 0, 1, 0, 1]
    """
    if space.rows <= EXACT:
        return _groups(space, k, progress)
    group, made = np.zeros(space.rows, dtype=np.int64), 0
    blocks = _blocks(space, max(BLOCK, 2 * k))
    for turn, rows in enumerate(blocks):
        own = _groups(space.take(rows), k, progress.part(turn / len(blocks), (turn + 1) / len(blocks)))
        group[rows] = own + made
        made += int(own.max()) + 1
    return group


def block_loss(space: Space, *, k: int) -> float | None:
    """Measure what working in blocks costs: squared errors with blocks divided by those without.

    Returns
    -------
    float or None
        None where rows are few enough to be worked on together, as `mdav` does then.

    Notes
    -----
    All rows together would take the time that blocks save. So it is measured on every so many rows, as many
    as one block has, cut into as many blocks as the table is, of two groups at least.
    """
    if space.rows <= EXACT:
        return None
    block = max(BLOCK, 2 * k)
    sample = space.take(np.linspace(0, space.rows - 1, block).astype(np.int64))
    least = max(2 * k, block // len(_blocks(space, block)))
    whole, _ = squared_errors(sample, _groups(sample, k, SILENT))
    group, made = np.zeros(block, dtype=np.int64), 0
    for rows in _blocks(sample, least):
        own = _groups(sample.take(rows), k, SILENT)
        group[rows] = own + made
        made += int(own.max()) + 1
    parts, _ = squared_errors(sample, group)
    return parts / whole if whole else 1.0


def _groups(space: Space, k: int, progress: Progress) -> Codes:
    left = _Left(space)
    group, made, every = np.zeros(space.rows, dtype=np.int64), 0, space.rows
    while left.count >= 3 * k:
        progress.step(1 - left.count / every, "datasets.groups")
        far = left.farthest(left.from_mean())
        distance = left.from_point(far)
        other = left.points(left.farthest(distance))
        group[left.remove(left.nearest(distance, k))] = made
        group[left.remove(left.nearest(left.from_points(other), k))] = made + 1
        made += 2
    if left.count >= 2 * k:
        distance = left.from_point(left.farthest(left.from_mean()))
        group[left.remove(left.nearest(distance, k))] = made
        made += 1
    group[left.ids[: left.count]] = made
    return group


class _Left:
    """The rows that are in no group yet: at the front of arrays whose holes are filled from the end."""

    def __init__(self, space: Space) -> None:
        self.count = space.rows
        self.ids = np.arange(space.rows)
        self.numbers = space.numbers.copy()
        self.nodes = [one.nodes for one in space.categories]
        self.weights = [one.weight for one in space.categories]
        self.codes = [one.codes.copy() for one in space.categories]
        self.sums = self.numbers.sum(axis=1)
        self.counts = [
            np.bincount(one.codes, minlength=one.nodes.shape[1]).astype(np.float64)
            for one in space.categories
        ]
        self._out, self._buffer = np.empty(space.rows), np.empty(space.rows)

    def points(self, place: int) -> tuple[Floats, list[int]]:
        """Return one row."""
        return self.numbers[:, place].copy(), [int(codes[place]) for codes in self.codes]

    def from_point(self, place: int) -> Floats:
        """Return the squared distance of every row to one of them."""
        return self.from_points(self.points(place))

    def from_points(self, point: tuple[Floats, list[int]]) -> Floats:
        """Return the squared distance of every row to a point."""
        tables = [
            weight * (nodes != nodes[:, [code]]).mean(axis=0)
            for weight, nodes, code in zip(self.weights, self.nodes, point[1], strict=True)
        ]
        return self._distances(point[0], tables)

    def from_mean(self) -> Floats:
        """Return the squared distance of every row to the mean of all.

        Categories are points of a space in which two are as far apart as their lowest common group is high.
        """
        tables = []
        for weight, nodes, counts in zip(self.weights, self.nodes, self.counts, strict=True):
            table = np.zeros(nodes.shape[1])
            for step in nodes:
                share = np.bincount(step, counts) / self.count
                table += ((share**2).sum() - 2 * share[step] + 1) / 2
            tables.append(weight * table / len(nodes))
        return self._distances(self.sums / self.count, tables)

    def _distances(self, point: Floats, tables: list[Floats]) -> Floats:
        out, buffer = self._out[: self.count], self._buffer[: self.count]
        out[:] = 0.0
        for column, own in zip(self.numbers, point, strict=True):
            np.subtract(column[: self.count], own, out=buffer)
            np.multiply(buffer, buffer, out=buffer)
            out += buffer
        for codes, table in zip(self.codes, tables, strict=True):
            out += table[codes[: self.count]]
        return out

    def farthest(self, distance: Floats) -> int:
        """Return the place of the row with the largest distance, the first in the table of equal ones."""
        places = np.flatnonzero(distance == distance.max())
        return int(places[self.ids[places].argmin()])

    def nearest(self, distance: Floats, k: int) -> npt.NDArray[np.intp]:
        """Return the places of the k rows with the smallest distance, the first of equal ones."""
        pieces = max(64, 4 * k)
        size = len(distance) // pieces
        if size:  # the k-th smallest of the pieces' smallest is a bound: no partition of all
            bound = np.partition(distance[: size * pieces].reshape(pieces, size).min(axis=1), k - 1)[k - 1]
            places = np.flatnonzero(distance <= bound)
        else:
            places = np.arange(len(distance))
        places = places[np.lexsort((self.ids[places], distance[places]))[:k]]
        return np.sort(places)

    def remove(self, places: npt.NDArray[np.intp]) -> Codes:
        """Take rows out; return which rows of the table they are."""
        gone = self.ids[places].copy()
        self.sums -= self.numbers[:, places].sum(axis=1)
        for codes, counts in zip(self.codes, self.counts, strict=True):
            np.subtract.at(counts, codes[places], 1.0)
        left = self.count - len(places)
        holes = places[places < left]
        stay = np.ones(len(places), dtype=bool)
        stay[places[places >= left] - left] = False
        tail = np.arange(left, self.count)[stay]
        self.ids[holes] = self.ids[tail]
        self.numbers[:, holes] = self.numbers[:, tail]
        for codes in self.codes:
            codes[holes] = codes[tail]
        self.count = left
        return gone


def squared_errors(space: Space, group: Codes) -> tuple[float, float]:
    """Return the sum of squared distances to the mean of the group, and to the mean of all."""
    return _square(space, group), _square(space, np.zeros_like(group))


def _square(space: Space, group: Codes) -> float:
    size = np.bincount(group).astype(np.float64)
    total = 0.0
    for column in space.numbers:
        mean = np.bincount(group, column) / size
        total += float(((column - mean[group]) ** 2).sum())
    for one in space.categories:
        for step in one.nodes:
            nodes = int(step.max()) + 1
            found, count = np.unique(group * nodes + step[one.codes], return_counts=True)
            inside = size.sum() - float((count**2 / size[found // nodes]).sum())
            total += one.weight * inside / (2 * len(one.nodes))
    return total


def _blocks(space: Space, most: int) -> list[Codes]:
    """Cut rows into blocks of at most so many, always at the middle of the number that varies most."""
    open_blocks, closed = [np.arange(space.rows)], []
    while open_blocks:
        rows = open_blocks.pop()
        if len(rows) <= most:
            closed.append(rows)
            continue
        keys = [column[rows] for column in space.numbers] + [
            one.codes[rows].astype(np.float64) for one in space.categories
        ]
        widest = max(keys, key=lambda own: float(own.var()))
        order = np.argsort(widest, kind="stable")
        open_blocks += [rows[order[: len(rows) // 2]], rows[order[len(rows) // 2 :]]]
    return closed
