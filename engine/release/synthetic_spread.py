"""How columns and pairs are spread in the original and in synthetic rows: for the custodian's eyes alone.

Never written. What is kept is a class for each cell, so that any pair can be counted once it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.evaluation.invented import released_tables
from engine.languages import Written
from engine.methods.protocol import Release, Rows
from engine.table import coding
from engine.table.schema import Column, Kind, Schema
from engine.table.table import Table
from engine.utility.distances import AMOUNTS, Scale, amounts
from engine.views import Label, Text

MOST_NAMES = 12
MOST_INTERVALS = 16
TAIL = 0.01  # share of the cells at each end that have one interval together
STEPS = (1, 2, 5, 10)

Codes = arrays.Bytes
Floats = arrays.Floats


@dataclass(frozen=True)
class Classes:
    """The few classes that the cells of a column are counted in.

    Parameters
    ----------
    labels
        Of every class.
    is_amount
        Whether they are intervals in their order; otherwise names.
    original, synthetic
        The class of every cell of the two tables, from 0.
    """

    labels: tuple[Label, ...]
    is_amount: bool
    original: Codes = field(repr=False)
    synthetic: Codes = field(repr=False)


@dataclass(frozen=True)
class Spread:
    """What of two tables is to be seen side by side.

    Parameters
    ----------
    columns
        By name, in their order.
    rows
        Rows of the original that were used, and rows of the first synthetic table.
    copies
        How many synthetic tables there are.
    """

    columns: Mapping[str, Classes]
    rows: tuple[int, int]
    copies: int

    def shares(self, *names: str) -> tuple[Floats, Floats]:
        """Return the shares of rows in each class, or in each pair of classes: original and synthetic.

        Returns
        -------
        two arrays
            Shape (classes,) for one name, (classes of the first, of the second) for two; each sums to 1.
        """
        found = [self.columns[name] for name in names]
        shape = tuple(len(one.labels) for one in found)
        original = _count([one.original for one in found], shape) / self.rows[0]
        return original, _count([one.synthetic for one in found], shape) / self.rows[1]

    def apart(self, *names: str) -> float:
        """Return the total variation distance: the share of rows that would have to be others."""
        original, synthetic = self.shares(*names)
        return float(np.abs(original - synthetic).sum() / 2)

    def by_chance(self, *names: str) -> float:
        """Return the distance to expect where as many rows are drawn from the original at random.

        Notes
        -----
        The mean of |X| for a normal X is √(2/π) times its standard deviation, here √(p (1 − p) / n) for a
        class of share p; half the sum over all classes.
        """
        original, _ = self.shares(*names)
        deviations = np.sqrt(original * (1 - original) / self.rows[1])
        return float(math.sqrt(2 / math.pi) * deviations.sum() / 2)


def spread(
    release: Release, used: Mapping[str, Table], schemas: Mapping[str, Schema], rows: Rows
) -> Spread | None:
    """Return what can be shown of a release beside its original; None where its rows are not synthetic."""
    tables = released_tables(release) if rows is Rows.SYNTHETIC else ()
    source = next((name for name in used if name in schemas), None)
    if not tables or source is None or not len(tables[0]) or not used[source].n_rows:
        return None
    original, synthetic, schema = used[source].rows(), tables[0], schemas[source]
    names = [str(name) for name in synthetic.columns if name in original.columns and name in schema]
    found = {name: _classes(original[name], synthetic[name], schema.column(name)) for name in names}
    return Spread(found, (len(original), len(synthetic)), len(tables)) if found else None


def _count(codes: Sequence[Codes], shape: tuple[int, ...]) -> Floats:
    place = np.zeros(len(codes[0]), dtype=np.int64)
    for one, size in zip(codes, shape, strict=True):
        place = place * size + one
    return np.bincount(place, minlength=math.prod(shape)).reshape(shape).astype(np.float64)


def _classes(original: pd.Series, synthetic: pd.Series, column: Column) -> Classes:
    of = _intervals if column.kind in AMOUNTS else _names
    labels, one, other = of(original, synthetic, column)
    if (one == len(labels)).any() or (other == len(labels)).any():
        labels = (*labels, Text("spread.missing"))
    return Classes(labels, column.kind in AMOUNTS, one.astype(np.uint8), other.astype(np.uint8))


_Placed = tuple[tuple[Label, ...], arrays.Integers, arrays.Integers]


def _names(original: pd.Series, synthetic: pd.Series, column: Column) -> _Placed:
    """Put the names that most rows of both tables have in front, the rest together; missing cells last."""
    scale = Scale.of_names(pd.concat([original, synthetic], ignore_index=True), column)
    names = list(scale.places or ())
    filled = coding.filled_texts(names, column)
    one, other = scale.classes(original), scale.classes(synthetic)
    size = len(names) + 2
    counts = [np.bincount(codes, minlength=size) / len(codes) for codes in (one, other)]
    weight = counts[0] + counts[1]
    known = [place for place in range(len(names)) if filled[place] and weight[place] > 0]
    shown = sorted(known, key=lambda place: (-weight[place], names[place]))
    shown = shown[: MOST_NAMES if len(shown) <= MOST_NAMES else MOST_NAMES - 1]
    if column.kind is Kind.ORDINAL:
        declared = column.domain.values if column.domain is not None else None
        steps = {name: step for step, name in enumerate(declared or ())}
        shown.sort(key=lambda place: steps.get(names[place], len(steps)))
    labels: list[Label] = [names[place] for place in shown]
    others = len(known) - len(shown)
    if others:
        labels.append(Text("summary.others", {"count": others}))
    to = np.full(size, len(shown), dtype=np.int64)
    to[len(names) + 1] = len(labels)
    to[shown] = np.arange(len(shown))
    return tuple(labels), to[one], to[other]


def _intervals(original: pd.Series, synthetic: pd.Series, column: Column) -> _Placed:
    """Cut the range of most cells of both tables into intervals of one round width; the tails are open."""
    one, other = amounts(original, column), amounts(synthetic, column)
    known = np.concatenate([one, other])
    known = known[np.isfinite(known)]
    if not known.size:
        return (), np.zeros(len(one), np.int64), np.zeros(len(other), np.int64)
    edges = _edges(known, whole=column.kind is not Kind.NUMBER)
    last = len(edges) - 2

    def placed(values: Floats) -> npt.NDArray[np.int64]:
        found = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, last)
        return np.where(np.isfinite(values), found, last + 1).astype(np.int64)

    tails = bool(known.min() < edges[0]), bool(known.max() >= edges[-1])
    return _labels(edges, column, tails), placed(one), placed(other)


def _edges(known: Floats, *, whole: bool) -> Floats:
    """Return where intervals begin, and where the last one ends.

    Examples
    --------
    >>> _edges(np.array([4.0, 38.0, 30.0, 42.0]), whole=True)
    array([ 0.,  5., 10., 15., 20., 25., 30., 35., 40., 45.])
    """
    low, high = (float(value) for value in np.quantile(known, (TAIL, 1 - TAIL)))
    if low == high:
        low, high = float(known.min()), float(known.max())
    step = _round_step(high / MOST_INTERVALS - low / MOST_INTERVALS)  # their difference may be infinite
    step = max(step, 1.0) if whole else step
    first = math.floor(low / step)
    with np.errstate(over="ignore"):  # the last one may end beyond the largest number
        return step * np.arange(first, math.floor(high / step) + 2, dtype=np.float64)


def _round_step(least: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is not below; 1 where there is no range.

    Examples
    --------
    >>> _round_step(3.4), _round_step(0.012), _round_step(0.0)
    (5.0, 0.02, 1.0)
    """
    if least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return float(f"{next(step * power for step in STEPS if step * power >= least * (1 - 1e-9)):.6g}")


def _labels(edges: Floats, column: Column, tails: tuple[bool, bool]) -> tuple[Label, ...]:
    written = [_write(edge, column) for edge in edges]
    # Whole numbers and days name the last one of an interval; other numbers name where the next begins.
    ends = [_write(edge - 1, column) for edge in edges] if column.kind is not Kind.NUMBER else written
    labels: list[Label] = [
        start if start == end else Written(f"{start} – {end}")
        for start, end in zip(written[:-1], ends[1:], strict=True)
    ]
    if tails[0]:
        labels[0] = Text("spread.below", {"value": written[1]})
    if tails[1]:
        labels[-1] = Text("spread.from", {"value": written[-2]})
    return tuple(labels)


def _write(value: float, column: Column) -> str:
    if column.kind is Kind.DATE:
        return str(np.datetime64(round(value), "D"))
    return Written(
        f"{round(float(value), 10):,.10g}"
    )  # numpy's own rounding makes the largest numbers infinite
