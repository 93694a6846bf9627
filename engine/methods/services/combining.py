"""What answers say together: every question from all numbers with noise, by weighted least squares.

Numbers about the same rows are linear in what no question tells apart: how many rows there are in every cell
of the columns that were asked about, and what they add up to. Of all unbiased sums of the numbers the one
with the smallest variance is taken (Gauss and Markov), so that answers agree and get more exact as more is
asked. Weights follow from the questions and the scales of the noise; no row is read, nothing is paid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np

from engine import arrays
from engine.methods.conditions import Comparison, Condition, comparisons
from engine.methods.services.asked import (
    COUNT,
    MEAN,
    PEOPLE,
    QUANTILE,
    SHARE,
    SUM,
    TABLE,
    Query,
    Terms,
    ratio_noise,
)
from engine.methods.services.desk import Measurement
from engine.methods.services.questions import Line, axis_of, truth
from engine.methods.shared.ratio import ratio_and_margin
from engine.privacy.accuracy import gaussian_accuracy, gaussian_spread_of_sum, laplace_accuracy, spread_of_sum
from engine.table import coding
from engine.table.schema import Schema

Floats = arrays.Floats
Integers = arrays.Integers

MOST_ATOMS, MOST_NUMBERS, MOST_ENTRIES = 40_000, 600, 12_000_000
"""So many joint cells, numbers and entries are combined; of what is more, a question keeps its own answer."""
FEW_NUMBERS, NEAR = 200, 8
"""Where all is too much: questions with so few numbers at once, others from so many measurements."""
_TOLERANCE, _ROUNDING, _NOTHING = 1e-6, 1e-10, 1e-9
_PLACES, _FINE = (
    33,
    2049,
)  # of a ratio: where limits are worked out and compared


@dataclass(frozen=True)
class Follows:
    """How the numbers of a question follow from measurements.

    Parameters
    ----------
    weights
        By the place of the measurement: shape (numbers of the question, numbers of the measurement); None
        where they are the very numbers that were measured for it.
    """

    weights: Mapping[int, Floats | None] = field(compare=False)

    @property
    def places(self) -> tuple[int, ...]:
        """The measurements that have a part."""
        return tuple(sorted(self.weights))


@dataclass(frozen=True)
class Answer:
    """The answer to a question: one number a group, what 95 of 100 are within, and from what."""

    values: tuple[float | int, ...]
    within: tuple[float, ...]
    places: tuple[int, ...]


# --- weights ----------------------------------------------------------------------------------------


def follow(
    queries: Sequence[Query], measured: Sequence[Measurement], terms: Terms
) -> tuple[Follows | None, ...]:
    """Return how each question follows from what was measured; None where it does not.

    Parameters
    ----------
    queries
        Of any kind; a quantile and a comparison follow from themselves alone.
    measured
        With or without their numbers.

    Notes
    -----
    Rows of a person are drawn anew in every visit, so that numbers of rows are combined within one visit only
    where a table says whose they are; numbers of people read all rows, and those of all visits are combined.
    """
    found: list[Follows | None] = [None] * len(queries)
    lots: dict[Any, list[int]] = {}

    def spread(at: int, follows: Follows) -> float:
        return float(variances(queries[at], follows, measured, terms).mean())

    for place, one in enumerate(measured):
        if one.query.is_linear and len(one.queries) == 1:
            lots.setdefault(_lot(one.query, terms, one.visit), []).append(place)
    for lot, places in lots.items():
        is_people = lot == PEOPLE
        wanted = [at for at, one in enumerate(queries) if one.is_linear and (one.of == PEOPLE) == is_people]
        for at, known in zip(
            wanted, _solve([queries[at] for at in wanted], places, measured, terms), strict=True
        ):
            before = found[at]
            if known is not None and (before is None or spread(at, known) < spread(at, before) * (1 - 1e-9)):
                found[at] = known
    for at, query in enumerate(queries):
        if not query.is_linear:
            own = next((place for place, one in enumerate(measured) if _has(one, query)), None)
            found[at] = None if own is None else Follows({own: None})
    return tuple(found)


def _has(measurement: Measurement, query: Query) -> bool:
    keys = [one.key for one in measurement.queries]
    if query.key not in keys:
        return False
    # what was not reached in a list was not answered
    return not measurement.numbers or len(keys) == 1 or measurement.numbers[keys.index(query.key)] >= 0


def _lot(query: Query, terms: Terms, visit: int) -> Any:
    if query.of == PEOPLE:
        return PEOPLE
    return visit if terms.by_person else 0


def variances(query: Query, follows: Follows, measured: Sequence[Measurement], terms: Terms) -> Floats:
    """Return the variance of the noise of every number of a question, in squared steps."""
    total = np.zeros(query.size)
    for place, weights in follows.weights.items():
        size = np.ones(query.size) if weights is None else (weights**2).sum(axis=1)
        total += size * (1 if terms.is_gaussian else 2) * _scale(measured[place], terms) ** 2
    return total


def _scale(measurement: Measurement, terms: Terms) -> float:
    return float(measurement.query.noise(measurement.epsilon, terms).scale)


def _solve(
    queries: Sequence[Query], places: Sequence[int], measured: Sequence[Measurement], terms: Terms
) -> list[Follows | None]:
    """Return how questions follow from measurements of the same rows.

    All at once where that is not too much; otherwise those with few numbers at once, and each of the others
    from the few measurements that are nearest to it.
    """
    own = [next((at for at in places if _is_same(measured[at].query, query)), None) for query in queries]
    if len(places) == 1 and None not in own:  # there is nothing to combine
        return [Follows({place: None}) for place in own if place is not None]
    together = _combine(queries, places, measured, terms) if queries else []
    if together is None:
        few = [place for place in places if measured[place].query.size <= FEW_NUMBERS]
        small = [at for at, query in enumerate(queries) if query.size <= FEW_NUMBERS]
        found = _combine([queries[at] for at in small], few, measured, terms) if small else None
        together = [None] * len(queries)
        for at, known in zip(small, found or (), strict=False):
            together[at] = known
        for at in [at for at, known in enumerate(together) if known is None]:
            near = _near(queries[at], places, measured)
            together[at] = (_combine([queries[at]], near, measured, terms) or [None])[0]
    # what was measured is never lost, whatever rounding says
    return [
        Follows({place: None}) if known is None and place is not None else known
        for known, place in zip(together, own, strict=True)
    ]


def _is_same(one: Query, other: Query) -> bool:
    """Say whether two questions have the same numbers in the same order."""
    return (one.key, one.by, one.cuts) == (other.key, other.by, other.cuts)


def _near(query: Query, places: Sequence[int], measured: Sequence[Measurement]) -> list[int]:
    """Return a few measurements that can be combined, those about the columns of the question first."""
    columns = set(query.columns)

    def far(place: int) -> tuple[bool, int, int]:
        other = measured[place].query
        return other.key != query.key, len(set(other.columns) - columns), -place

    kept: list[int] = []
    for place in sorted(places, key=far)[:NEAR]:
        if _fits([query, *(measured[one].query for one in [*kept, place])], len(kept) + 1):
            kept.append(place)
    return sorted(kept)


def _fits(queries: Sequence[Query], measured: int) -> bool:
    numbers = sum(one.size for one in queries[-measured:])
    atoms = _joint_size(queries)
    total = sum(one.size for one in queries)
    return numbers <= MOST_NUMBERS and atoms <= MOST_ATOMS and total * atoms <= MOST_ENTRIES


def _combine(
    queries: Sequence[Query], places: Sequence[int], measured: Sequence[Measurement], terms: Terms
) -> list[Follows | None] | None:
    """Return the best unbiased weights; None where that would be too much work."""
    sources = [measured[place] for place in places]
    every = [*queries, *(one.query for one in sources)]
    if not sources or not _fits(every, len(sources)):
        return None
    wanted, known = _matrix(queries, [one.query for one in sources], terms.schema)
    spread = np.concatenate([np.full(one.query.size, _scale(one, terms)) for one in sources])
    base = (known / spread[:, None]).T  # shape (unknowns, numbers)
    found, off = _least(base, wanted.T)
    weights = (found / spread[:, None]).T
    ends = np.cumsum([0, *(one.query.size for one in sources)])
    result: list[Follows | None] = []
    start = 0
    for query in queries:
        rows = slice(start, start + query.size)
        start += query.size
        if (off[rows] > _TOLERANCE).any():
            result.append(None)
            continue
        parts = {
            place: _clean(weights[rows, first:last])
            for place, first, last in zip(places, ends[:-1], ends[1:], strict=True)
        }
        kept = {place: part for place, part in parts.items() if part.any()}
        only = next(iter(kept.items())) if len(kept) == 1 else None
        if only is not None and _is_same(measured[only[0]].query, query) and _is_identity(only[1]):
            kept = {only[0]: None}  # type: ignore[dict-item]
        result.append(Follows(kept))
    return result


def spread_at(queries: Sequence[Query], tables: Sequence[Query], terms: Terms) -> Callable[[Floats], Floats]:
    """Return a function from the scales of tables to the spread of every number of the questions.

    It is the sum of squares of weights and scales, whatever the noise.
    """
    wanted, known = _matrix(queries, tables, terms.schema)
    sizes = [one.size for one in tables]

    def at(scales: Floats) -> Floats:
        found = _least((known / np.repeat(scales, sizes)[:, None]).T, wanted.T)[0]
        return np.asarray((found**2).sum(axis=0))

    return at


def _least(base: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """Return the shortest u with base·u nearest to what is wanted, and how far it is from that.

    By the eigenvectors of baseᵀ·base, which is small; where noise of very different size makes that inexact,
    by the singular values of the base.
    """
    size = np.maximum(1.0, np.abs(wanted).max(axis=0, initial=0.0))
    values, vectors = np.linalg.eigh(base.T @ base)
    inverse = np.where(values > 1e-11 * values.max(initial=0.0), 1 / np.where(values > 0, values, 1.0), 0.0)
    found: Floats = vectors @ (inverse[:, None] * (vectors.T @ (base.T @ wanted)))
    off = np.abs(base @ found - wanted).max(axis=0, initial=0.0) / size
    if (off > _ROUNDING).any():
        found = np.asarray(np.linalg.lstsq(base, wanted, rcond=1e-12)[0], dtype=np.float64)
        off = np.abs(base @ found - wanted).max(axis=0, initial=0.0) / size
    return found, off


def _is_identity(weights: Floats) -> bool:
    return np.array_equal(weights, np.eye(len(weights)))


def _clean(weights: Floats) -> Floats:
    """Return weights without what rounding left: whole ones whole, and nothing where there is nothing."""
    near = np.round(weights)
    found = np.where(np.abs(weights - near) < _NOTHING, near, weights)
    return np.asarray(found + 0.0)


# --- what questions have in common ------------------------------------------------------------------


def _ask(queries: Sequence[Query]) -> dict[str, tuple[Comparison, ...]]:
    """Return, for every column, the comparisons that cut it."""
    found: dict[str, dict[Comparison, None]] = {}
    for query in queries:
        for name in query.columns:
            found.setdefault(name, {})
        for condition in query.comparisons:
            for one in comparisons(condition):
                found[one.column][one] = None
    for name in {name for query in queries for name in query.by}:
        for one in levels_of(queries[0].schema, name):
            found[name][one] = None
    return {name: tuple(cuts) for name, cuts in found.items()}


def levels_of(schema: Schema, name: str) -> tuple[Comparison, ...]:
    """Return comparisons that tell all declared values of a column apart."""
    column = schema.column(name)
    listed = coding.levels(column)
    if isinstance(axis_of(schema, name), Line):
        return tuple(Comparison(name, "at least", (level,)) for level in listed[1:])
    return (
        *(Comparison(name, "in", (level,)) for level in listed),
        *(Comparison(name, one) for one in ("other", "missing")),
    )


def _joint_size(queries: Sequence[Query]) -> int:
    """Return how many joint cells there are at most, without listing them."""
    size, schema = 1, queries[0].schema
    for name, cuts in _ask(queries).items():
        size *= axis_of(schema, name, cuts).size
    return size


def _matrix(wanted: Sequence[Query], known: Sequence[Query], schema: Schema) -> tuple[Floats, Floats]:
    """Return the numbers of questions as linear maps on the same unknowns, each once."""
    if wanted[0].of == PEOPLE:
        return _people_matrix(wanted, known)
    every = [*wanted, *known]
    atoms = Atoms(schema, _ask(every))
    names = ["", *dict.fromkeys(one.value for one in every if one.value)]
    size = sum(one.size for one in wanted)
    parts = []
    for name in names:
        whole = np.concatenate([atoms.linear(one, name) for one in every])
        parts.append(whole[:, _distinct(whole)])
    joined = np.concatenate(parts, axis=1)
    return joined[:size], joined[size:]


def _distinct(matrix: Floats) -> Integers:
    """Return the places of the columns that differ, without those of nothing."""
    rows = np.arange(1.0, len(matrix) + 1)
    digests = np.round(np.stack([np.cos(rows * 1.6180339) @ matrix, np.sin(rows * rows * 0.7) @ matrix]), 7)
    places = np.unique(digests, axis=1, return_index=True)[1]
    return np.asarray(np.sort(places[np.abs(matrix[:, places]).any(axis=0)]))


def _people_matrix(wanted: Sequence[Query], known: Sequence[Query]) -> tuple[Floats, Floats]:
    """Return numbers of people: how many have such a row is one unknown for each condition."""
    every = [*wanted, *known]
    names: dict[str, int] = {}
    for query in every:
        for question in (query.question, *((query.within,) if query.kind == SHARE else ())):
            names.setdefault(question.canonical, len(names))
    rows = []
    for query in every:
        whole = np.zeros(len(names))
        whole[names[query.question.canonical]] = 1
        if query.kind == SHARE:
            part = np.zeros(len(names))
            part[names[query.within.canonical]] = 1
            rows += [part, whole - part]
        else:
            rows.append(whole)
    matrix = np.array(rows)
    size = sum(one.size for one in wanted)
    return matrix[:size], matrix[size:]


class Atoms:
    """All joint cells of some columns, as far as questions tell them apart."""

    def __init__(self, schema: Schema, asked: Mapping[str, tuple[Comparison, ...]]) -> None:
        self.schema = schema
        axes = {name: axis_of(schema, name, cuts) for name, cuts in asked.items()}
        self.axes = axes
        self.size = int(np.prod([axis.size for axis in axes.values()]))
        self.codes: dict[str, Integers] = {}
        before, after = 1, self.size
        for name, axis in axes.items():
            after //= axis.size
            self.codes[name] = np.tile(np.repeat(np.arange(axis.size), after), before)
            before *= axis.size

    def linear(self, query: Query, part: str) -> Floats:
        """Return the numbers of a question as sums over the cells, shape (numbers, cells).

        Parameters
        ----------
        part
            What is unknown of a cell: empty for how many rows there are, or a column of numbers for what they
            stand above its lower bound, in parts of its range.
        """
        inside = self._holds(query.question.condition)
        if query.value:
            inside = inside & ~self._holds(Comparison(query.value, "missing"))
        groups = self._groups(query)
        cells = (groups[None, :] == np.arange(query.groups)[:, None]) & inside
        rows = cells.astype(np.float64)
        nothing, own = np.zeros_like(rows), part == query.value
        if query.kind in (COUNT, TABLE):
            return nothing if part else rows
        if query.kind == SHARE:
            within = self._holds(query.within.condition)
            both = np.concatenate([rows * within, rows * ~within])
            return np.zeros_like(both) if part else both
        if query.kind == SUM:
            return rows * query.reach if own else nothing if part else rows * query.grid.low
        assert query.kind == MEAN
        if own:
            return np.concatenate([rows, -rows]) * query.reach
        return np.concatenate([nothing, nothing if part else rows * query.reach])

    def _holds(self, condition: Condition) -> Any:
        return truth(condition, self.axes, self.codes, self.size)

    def _groups(self, query: Query) -> Integers:
        flat = np.zeros(self.size, dtype=np.int64)
        for side in query.sides:
            flat = flat * side.size + side.places(self.axes[side.column])[self.codes[side.column]]
        for axis in query.cells.axes:
            flat = flat * len(axis.labels) + self.codes[axis.name]
        return flat


# --- answers ----------------------------------------------------------------------------------------


def answer(query: Query, follows: Follows, measured: Sequence[Measurement], terms: Terms) -> Answer:
    """Return the answer to a question, in its units, with the margin of every group.

    Parameters
    ----------
    measured
        Those that have a part with their numbers.
    """
    if not query.is_linear:
        return _by_itself(query, measured[follows.places[0]], terms, follows.places)
    numbers, sources = _numbers(query, follows, measured), _sources(follows, measured, terms)
    step = float(query.step)
    if not query.is_pair:
        limits = [limit * step for limit in _limits(sources, query.size, terms)]
        values = [_in_units(one, query.step) for one in numbers]
        return Answer(tuple(values), tuple(limits), follows.places)
    above, below = (np.array([float(one) for one in part]) for part in _halves(numbers))
    if len(sources) == 1 and sources[0][1] is None:
        ratio, margin = ratio_and_margin(above, below, ratio_noise(terms)(sources[0][0]))
    else:
        ratio, margin = _combined_ratio(above, below, sources, terms.is_gaussian)
    low, reach = (query.grid.low if query.value else 0) * step, query.reach * step
    return Answer(tuple((low + ratio * reach).tolist()), tuple((margin * reach).tolist()), follows.places)


def limits(
    query: Query, follows: Follows, measured: Sequence[Measurement], terms: Terms
) -> tuple[float, ...]:
    """Return the margin of every number of a question that is no pair, before anything is drawn."""
    sources = _sources(follows, measured, terms)
    return tuple(limit * float(query.step) for limit in _limits(sources, query.size, terms))


def widest(
    query: Query, follows: Follows | None, measured: Sequence[Measurement], terms: Terms
) -> float | None:
    """Return the widest margin of a question; None of what hangs on the answer, or is no sum."""
    if follows is None or query.is_pair or not query.is_linear:
        return None
    return max(limits(query, follows, measured, terms))


Sources = Sequence[tuple[Fraction, "Floats | None"]]


def _sources(follows: Follows, measured: Sequence[Measurement], terms: Terms) -> Sources:
    """Return the scale of the noise of every measurement that has a part, and its weights."""
    return [
        (measured[place].query.noise(measured[place].epsilon, terms).scale, weights)
        for place, weights in sorted(follows.weights.items())
    ]


def _by_itself(query: Query, measurement: Measurement, terms: Terms, places: tuple[int, ...]) -> Answer:
    if query.kind == QUANTILE:
        values = tuple(_in_units(one, query.step) for one in measurement.numbers)
        limit = float(query.rank_limit(measurement.epsilon, terms))
        return Answer(values, (limit,) * len(values), places)
    keys = [one.key for one in measurement.queries]
    return Answer((measurement.numbers[keys.index(query.key)],), (0.0,), places)


def _numbers(query: Query, follows: Follows, measured: Sequence[Measurement]) -> list[float | int]:
    """Return the numbers of a question in steps: whole ones where all weights are."""
    found: list[float | int] = [0] * query.size
    for place, weights in sorted(follows.weights.items()):
        numbers = measured[place].numbers
        if weights is None:
            found = [one + more for one, more in zip(found, numbers, strict=True)]
            continue
        for at, row in enumerate(weights):
            for where in np.flatnonzero(row):
                weight = float(row[where])
                found[at] += (int(weight) if weight.is_integer() else weight) * numbers[where]
    return found


def _halves(numbers: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    return numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]


def _in_units(number: float | int, step: Fraction) -> float | int:
    if isinstance(number, int):
        exact = number * step
        return int(exact) if exact.denominator == 1 else float(exact)
    return round(number * float(step), 12)


def _limits(sources: Sources, size: int, terms: Terms) -> list[float]:
    """Return what 95 of 100 draws of the noise of every number stay within, in steps."""
    if sources and all(weights is None for _, weights in sources):
        return [_limit(((sources[0][0], 1.0, 1),), terms.is_gaussian)] * size
    return [_limit(_terms(sources, at), terms.is_gaussian) for at in range(size)]


def _terms(sources: Sources, at: int) -> tuple[tuple[Fraction, float, int], ...]:
    """Return the noise of a number: scale, size of the weight, how many such draws."""
    found: dict[tuple[Fraction, float], int] = {}
    for scale, weights in sources:
        row = np.zeros(0) if weights is None else np.abs(weights[at])
        for weight, times in zip(*np.unique(np.round(row[row > 0], 9), return_counts=True), strict=True):
            found[scale, float(weight)] = found.get((scale, float(weight)), 0) + int(times)
    return tuple(sorted((scale, weight, times) for (scale, weight), times in found.items()))


@lru_cache(maxsize=4096)
def _limit(terms: tuple[tuple[Fraction, float, int], ...], is_gaussian: bool) -> float:
    if not terms:  # a cell in which nobody can be
        return 0.0
    if len(terms) == 1 and terms[0][1] == 1:
        scale, _, times = terms[0]
        found = (
            gaussian_accuracy(scale**2, count=times) if is_gaussian else laplace_accuracy(scale, count=times)
        )
        return float(found.limit)
    return _round(
        _spread(tuple((float(scale), weight, times) for scale, weight, times in terms), is_gaussian)
    )


def _spread(terms: tuple[tuple[float, float, int], ...], is_gaussian: bool) -> float:
    """Return what 95 of 100 sums of noise stay within: scale, weight, how many such draws."""
    if is_gaussian:  # ¼ covers that the noise is whole
        return gaussian_spread_of_sum(
            tuple((sqrt(one**2 + 0.25) * weight, more) for one, weight, more in terms)
        )[1]
    return spread_of_sum(tuple((scale * weight, times) for scale, weight, times in terms))[1]


def _round(limit: float) -> float:
    """Return a limit with three digits, rounded up."""
    digits = 2 - int(np.floor(np.log10(limit))) if limit > 0 else 0
    return float(np.ceil(limit * 10.0**digits) / 10.0**digits)


def _combined_ratio(
    above: Floats, below: Floats, sources: Sources, is_gaussian: bool
) -> tuple[Floats, Floats]:
    """Return A / (A + B) of combined numbers and its margin, as `ratio_and_margin` does."""
    above, below = np.maximum(above, 0.0), np.maximum(below, 0.0)
    ratios, margins, fine = [], [], np.linspace(0.0, 1.0, _FINE)
    for at, (one, other) in enumerate(zip(above, below, strict=True)):
        total = one + other
        ratio = one / total if total > 0 else 0.5
        limits = _limits_by_place(_pairs(sources, at, len(above)), is_gaussian)
        allowed = np.interp(fine, np.linspace(0.0, 1.0, _PLACES), limits)
        inside = fine[np.abs(fine - ratio) * total <= allowed]
        ratios.append(ratio)
        margins.append(float(np.abs(inside - ratio).max(initial=0.0)) + 1 / (_FINE - 1))
    return np.array(ratios), np.minimum(1.0, np.array(margins))


def _pairs(sources: Sources, at: int, groups: int) -> tuple[tuple[float, float, float, int], ...]:
    """Return the noise of A and B of a group: scale, weight in A, weight in B, how many such draws."""
    found: dict[tuple[float, float, float], int] = {}
    for scale, weights in sources:
        if weights is None:
            continue
        for a, b in np.round(weights[[at, at + groups]].T, 9):
            if a or b:
                key = (float(scale), float(a), float(b))
                found[key] = found.get(key, 0) + 1
    return tuple((*key, times) for key, times in sorted(found.items()))


@lru_cache(maxsize=256)
def _limits_by_place(pairs: tuple[tuple[float, float, float, int], ...], is_gaussian: bool) -> Floats:
    """Return what 95 of 100 draws of the noise of A − p (A + B) stay within, at every place p."""
    found = []
    for place in np.linspace(0.0, 1.0, _PLACES).tolist():
        terms = tuple((scale, abs((1 - place) * a - place * b), times) for scale, a, b, times in pairs)
        found.append(_spread(tuple(one for one in terms if one[1] > 0) or ((1e-9, 1.0, 1),), is_gaussian))
    return np.array(found)
