"""The one place that reads counts: of single columns and named tables, then of pairs that the model lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import pi, prod, sqrt

import numpy as np

from engine import arrays
from engine.methods.datasets.marginal_model.agreement import settle
from engine.methods.datasets.marginal_model.coarse import groups, join_rare
from engine.methods.datasets.marginal_model.fitting import Measured, Model
from engine.methods.datasets.marginal_model.junction_tree import (
    Attributes,
    cells_joined,
    cells_with,
    junction_tree,
)
from engine.methods.datasets.marginal_model.possible import Mask, start_model
from engine.methods.datasets.marginal_model.sampling import rows_of
from engine.methods.datasets.marginal_model.schedule import Schedule
from engine.privacy.mechanisms.integers import add_noise
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress

Codes = arrays.Integers
Cells = arrays.Whole
"""Cells of rows, of whatever whole numbers they are."""

MODEL_ROWS = 60_000
MANY_COLUMNS = 20
RARE = 2
"""Times the noise on a cell's row of a pair below which its rows show nothing but that noise.

20,000 people of an invented hospital, ε = 1, ages beside numbers of stays: .030, .029, .027 with 0, 1, 2.
"""
FEW_CLASSES = 10
"""Cells of a target up to which its first tables are made coarse by the rarer ones of them."""
FEWEST_TELLING = 3
"""Cells of another column beside such a target at least: two of equal weight cannot tell a tail.

A class of one in 30 rows beside six scores, 7,200 rows, ε = 1 with a δ: area under the curve by these tables
alone .77, .80, .79, .79, .78 with 2, 3, 4, 5, 8 cells, .71 with 33 (.81 without noise).
"""
BLOCK = 2**15
"""Rows counted at once: so many stay where the processor is quick."""
STEPS, LAST_STEPS, ENOUGH = 40, 100, 0.01
"""Of a fit after each round and after the last, and the gain of ten steps below which it ends.

With many columns twice as many and a tenth. Longer fits follow the noise: 45,000 rows of 14 columns, ε = 1,
pairs off by .0222 (60 steps at the end), .0221 (100), .0232 (240).
"""


@dataclass(frozen=True)
class Candidate:
    """A table that could be measured: columns, and the groups of their cells."""

    attributes: Attributes
    groups: tuple[Codes, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many groups each column has."""
        return tuple(int(group[-1 if len(group) == 1 else np.argmax(group)]) + 1 for group in self.groups)

    def count(self, codes: Cells, weights: Codes | None = None) -> Codes:
        """Return how many rows each cell holds, or what they weigh; every row is in exactly one."""
        sizes = [len(group) for group in self.groups]
        return self.merged(count_cells(codes, self.attributes, sizes, weights))

    def merged(self, fine: Codes) -> Codes:
        """Return the same from how many rows every cell before grouping holds."""
        if fine.size == prod(self.shape):
            return fine
        place = np.zeros((), dtype=np.int64)
        for group, size in zip(self.groups, self.shape, strict=True):
            place = place[..., None] * size + group
        found = np.zeros(prod(self.shape), dtype=np.int64)
        np.add.at(found, place.ravel(), fine)
        return found


@dataclass(frozen=True)
class Learnt:
    """A fitted model, and what it was fitted to: all of it is released information."""

    model: Model
    measured: tuple[Measured, ...]


def count_cells(
    codes: Cells, attributes: Attributes, sizes: Sequence[int], weights: Codes | None = None
) -> Codes:
    """Return how many rows, of shape (columns, rows), are in each cell of some columns, or what they weigh.

    Whole weights: their sums are exact far below 2**53.
    """
    found = np.zeros(prod(sizes), dtype=np.int64)
    for start in range(0, codes.shape[1], BLOCK):
        place = np.zeros(min(BLOCK, codes.shape[1] - start), dtype=np.int64)
        for one, size in zip(attributes, sizes, strict=True):
            place *= size
            place += codes[one, start : start + BLOCK]
        own = None if weights is None else weights[start : start + BLOCK]
        found += np.bincount(place, own, minlength=len(found)).astype(np.int64)
    return found


def learn(
    codes: Cells,
    schedule: Schedule,
    *,
    ordered: Sequence[int],
    noise: Noise,
    impossible: Mapping[Attributes, Mask] | None = None,
    target: int | None = None,
    weights: Codes | None = None,
    known: Mapping[Attributes, arrays.Floats] | None = None,
    progress: Progress = SILENT,
) -> Learnt:
    """Return a model of rows, by noisy tables of single columns and of several.

    Parameters
    ----------
    codes
        Cells of every row, shape (columns, rows).
    schedule
        Which noise everything gets.
    ordered
        Of every column, how many of its first cells have an order.
    noise
        The noise door.
    impossible
        Cells of two columns that no row may be in, by the places of the columns.
    target
        The place of a column whose pairs are measured first, by its declaration alone. As the schedule has a
        target or none.
    weights
        In whole steps, what every row counts; None: each counts as one. What the schedule says of rows is
        then said of steps.
    known
        Shares of all columns that the schedule says are given, and of sets of them that are modelled
        together: from what was released or drawn, so that nothing is paid for them.

    Notes
    -----
    Rows are read by `Candidate.count` alone. Its counts are released with noise, or are scores of a choice;
    nothing else steers a step, so that the cost is that of the schedule whatever the rows are. After McKenna,
    Mullins, Sheldon and Miklau, AIM (2022), algorithm 2; several pairs a round.
    """
    sizes = schedule.sizes
    asked = [*((one,) for one in range(schedule.given, len(sizes))), *(schedule.named or ())]
    tables, scales = [_whole(one, sizes) for one in asked], (*schedule.single, *schedule.together)
    measured = [
        _measure(one, exact, schedule, scale, noise)
        for one, exact, scale in zip(tables, _counts(tables, codes, weights), scales, strict=True)
    ]
    total = _total(measured)
    given = _given(known or {}, total, schedule)
    measured = [*given, *measured]
    model = start_model(sizes, total, impossible or {})
    effort = 2 if len(sizes) > MANY_COLUMNS else 1
    enough = ENOUGH if effort == 1 else ENOUGH / 10
    model.fit(measured, steps=LAST_STEPS, enough=enough)
    if schedule.named is not None:
        settle(model, measured, is_gaussian=schedule.is_gaussian, steps=LAST_STEPS)
        return Learnt(model, tuple(measured))
    if not schedule.pairs:  # a pair would be nothing but noise, so that it has no scale either
        settle(model, measured, is_gaussian=schedule.is_gaussian, steps=LAST_STEPS)
        return Learnt(model, tuple(measured[len(given) :]))
    candidates = _all_pairs(measured, schedule, ordered) if schedule.has_all else []
    candidates = candidates or _candidates(measured, schedule, ordered)
    counts = _counts(candidates, codes, weights)
    star = {pair: pair[1] for pair in schedule.firsts}
    if target is not None and schedule.star > len(schedule.of_slot):
        star = {(min(one, target), max(one, target)): one for one in range(len(sizes)) if one != target}
    if (slot := schedule.slot) is not None:  # else the slot alone: never a table that has more noise
        star |= dict.fromkeys(schedule.of_slot, slot)
    only_single, left = False, schedule.pairs
    while left:
        progress.step(1 - left / schedule.pairs, "synthesis.rounds")
        if star and left == schedule.pairs:
            tables = _star(candidates, star, schedule, target=target, measured=measured, ordered=ordered)
            exact = _counts(tables, codes, weights)
            noisy = [schedule.scale_of(pair) for pair in star]
        else:
            scores = _scores(model, candidates, counts, schedule, noise)
            most = min(left, schedule.batch)
            chosen, only_single = _choose(scores, candidates, model.pairs, schedule, noise, only_single, most)
            tables, exact = [candidates[one] for one in chosen], [counts[one] for one in chosen]
            noisy = [schedule.pair] * len(chosen)
        measured += [
            _measure(one, cells, schedule, scale, noise)
            for one, cells, scale in zip(tables, exact, noisy, strict=True)
        ]
        left -= len(tables)
        model.fit(measured, steps=effort * (STEPS if left else LAST_STEPS), enough=enough)
    settle(model, measured, is_gaussian=schedule.is_gaussian, steps=LAST_STEPS)
    return Learnt(model, tuple(measured[len(given) :]))


def _given(known: Mapping[Attributes, arrays.Floats], total: float, schedule: Schedule) -> list[Measured]:
    """Return known shares as tables, as exact as the most exact of those that are measured."""
    scales = (*schedule.single, schedule.pair) if schedule.pairs else schedule.single
    deviation = schedule.deviation(min(scales))
    return [
        Measured(name, _whole(name, schedule.sizes).groups, total * known[name], deviation)
        for name in sorted(known, key=lambda name: (len(name), name))
    ]


def code_table(codes: Cells, size: int, schedule: Schedule, noise: Noise) -> Measured:
    """Return how many rows have each code of one column, with noise, beside the model.

    Parameters
    ----------
    codes
        The code of every row, whatever it holds, from 0 up to but not ``size``.
    """
    return _beside(codes, size, schedule, schedule.code, noise)


def value_table(codes: Cells, size: int, schedule: Schedule, noise: Noise) -> Measured:
    """Return how many rows have each value of one column, with noise, before its cells are known.

    Parameters
    ----------
    codes
        The value of every row, whatever it holds, from 0 up to but not ``size``.
    """
    return _beside(codes, size, schedule, schedule.value, noise)


def _beside(codes: Cells, size: int, schedule: Schedule, scale: Fraction, noise: Noise) -> Measured:
    own = _whole((0,), (size,))
    return _measure(own, own.count(codes[None]), schedule, scale, noise)


def _whole(attributes: Attributes, sizes: Sequence[int]) -> Candidate:
    return Candidate(attributes, tuple(np.arange(sizes[one]) for one in attributes))


def _counts(candidates: Sequence[Candidate], codes: Cells, weights: Codes | None = None) -> list[Codes]:
    """Return what each cell of every candidate holds; each set of columns is counted once."""
    fine: dict[Attributes, Codes] = {}
    for one in candidates:
        if one.attributes not in fine:
            sizes = [len(group) for group in one.groups]
            fine[one.attributes] = count_cells(codes, one.attributes, sizes, weights)
    return [one.merged(fine[one.attributes]) for one in candidates]


def _measure(
    candidate: Candidate, exact: Codes, schedule: Schedule, scale: Fraction, noise: Noise
) -> Measured:
    drawn = (
        noise.discrete_gaussian(scale**2, exact.size)
        if schedule.is_gaussian
        else noise.discrete_laplace(scale, exact.size)
    )
    noisy = add_noise(exact, drawn).astype(np.float64).reshape(candidate.shape)
    return Measured(candidate.attributes, candidate.groups, noisy, schedule.deviation(scale))


def _total(measured: Sequence[Measured]) -> float:
    """Return the number of rows by all tables together, the exact ones weighing more."""
    weights = np.array([1 / (one.counts.size * one.deviation**2) for one in measured])
    sums = np.array([one.counts.sum() for one in measured])
    return max(1.0, float((weights * sums).sum() / weights.sum()))


def _candidates(measured: Sequence[Measured], schedule: Schedule, ordered: Sequence[int]) -> list[Candidate]:
    """Return every pair that a clique has room for, at every resolution, and all single columns.

    But for what is given. Below given columns each pair is offered once, by the finest cells that stand
    against their noise: scores see the differences that coarse cells show, and not what they leave out, so
    that coarse ones would be chosen, of codes of diagnoses for instance, where fine ones come nearer.
    """
    sizes = schedule.sizes
    pairs = [
        (one, other)
        for one, other in combinations(range(len(sizes)), 2)
        if other >= schedule.given and sizes[one] * sizes[other] <= schedule.most_cells
    ]
    found: dict[tuple[Attributes, tuple[int, ...]], Candidate] = {}
    for most in (max(sizes, default=0), *schedule.resolutions):
        coarse = [
            groups(one.counts, max(most, 2), ordered=ordered[one.attributes[0]])
            for one in sorted(
                (one for one in measured if len(one.attributes) == 1), key=lambda one: one.attributes
            )
        ]
        for pair in pairs:
            candidate = Candidate(pair, tuple(coarse[one] for one in pair))
            found.setdefault((pair, candidate.shape), candidate)
    offered = _finest(found.values(), schedule) if schedule.given else list(found.values())
    return [*offered, *(_whole((one,), sizes) for one in range(schedule.given, len(sizes)))]


def _all_pairs(measured: Sequence[Measured], schedule: Schedule, ordered: Sequence[int]) -> list[Candidate]:
    """Return every pair by the cells of which more rows are there than noise, and all single columns.

    A cell of fewer rows than the noise on all that it is counted with shows nothing but that noise.
    """
    sizes, mean_noise = schedule.sizes, sqrt(2 / pi) if schedule.is_gaussian else 1 / sqrt(2)
    single = {one.attributes[0]: one.counts for one in measured if len(one.attributes) == 1}
    found = []
    for pair, scale in schedule.of_firsts.items():
        noise = mean_noise * schedule.deviation(scale)
        found.append(
            Candidate(
                pair,
                tuple(
                    join_rare(single[one], RARE * noise * sizes[other], ordered=ordered[one])
                    for one, other in (pair, pair[::-1])
                ),
            )
        )
    return [*found, *(_whole((one,), sizes) for one in range(len(sizes)))]


def _finest(candidates: Iterable[Candidate], schedule: Schedule) -> list[Candidate]:
    """Return of every pair the finest whose noise adds up to no more than all rows, else the coarsest."""
    enough = schedule.about_rows / schedule.deviation(schedule.pair)
    found: dict[Attributes, Candidate] = {}
    for one in sorted(candidates, key=lambda one: prod(one.shape)):
        if one.attributes not in found or prod(one.shape) <= enough:
            found[one.attributes] = one
    return list(found.values())


def _choose(
    scores: Codes,
    candidates: Sequence[Candidate],
    modelled: Sequence[Attributes],
    schedule: Schedule,
    noise: Noise,
    only_single: bool,
    most: int,
) -> tuple[list[int], bool]:
    """Return the places of the pairs of one round, chosen one by one among those that there is room for.

    Notes
    -----
    Where rows are few for the noise, that no pair is worth it competes too, with a score of 0 (elsewhere it
    stopped too soon: at 45,000 rows and ε = .2 the mean distance of pairs was .051 with it, .049 without).
    From then on, and where there is no room for any pair, single columns are measured again: as many choices
    and tables are drawn as are paid for.
    """
    chosen: list[int] = []
    pairs = list(modelled)
    too_large: set[Attributes] = set()  # for good: the graph only grows
    single = [place for place, one in enumerate(candidates) if len(one.attributes) == 1]
    for _ in range(most):
        room = _Room(schedule, pairs, too_large)
        taken = {candidates[one].attributes for one in chosen}
        allowed = [
            place
            for place, one in enumerate(() if only_single else candidates)
            if len(one.attributes) == 2
            and one.attributes not in taken
            and one.attributes not in schedule.of_slot  # measured first, with noise of their own
            and room.has(one.attributes)
        ]
        if allowed:
            offered = np.append(scores[allowed], 0) if schedule.is_thin else scores[allowed]
            found = noise.exponential_choice(offered, rate=schedule.rate)
            only_single = found == len(allowed)
            place = _widest(candidates, single) if only_single else allowed[found]
        else:
            place = single[noise.exponential_choice(scores[single], rate=schedule.rate)]
        chosen.append(place)
        pair = candidates[place].attributes
        if len(pair) == 2 and pair not in pairs:
            pairs.append(pair)
    return chosen, only_single


def _star(
    candidates: Sequence[Candidate],
    pairs: Mapping[Attributes, int],
    schedule: Schedule,
    *,
    target: int | None,
    measured: Sequence[Measured],
    ordered: Sequence[int],
) -> list[Candidate]:
    """Return the tables of pairs that are measured first, by declarations and noisy single columns alone.

    Parameters
    ----------
    pairs
        For each, the column of it that is measured once more alone where the model has no room for the pair.
    target
        What is to be predicted; None where nothing is.
    measured
        Single columns.

    Notes
    -----
    Beside a target of few cells: `_telling`. Of every other pair the finest of the offered resolutions whose
    noise adds up to less than half of the rows, else the coarsest.
    """
    single = {one.attributes[0]: one.counts for one in measured if len(one.attributes) == 1}
    found = []
    for pair, alone in pairs.items():
        deviation = schedule.deviation(schedule.scale_of(pair))
        own = {prod(one.shape): one for one in candidates if one.attributes == pair}
        if not own:
            found += [one for one in candidates if one.attributes == (alone,)]
        elif target in pair and pair not in schedule.of_slot and len(single[target]) <= FEW_CLASSES:
            most = _telling(single[target], deviation, columns=len(single) - 1)
            found.append(
                Candidate(
                    pair,
                    tuple(
                        np.arange(len(single[one]))
                        if one == target
                        else groups(
                            single[one], most + (0 < ordered[one] < len(single[one])), ordered=ordered[one]
                        )
                        for one in pair
                    ),
                )
            )
        else:
            fitting = [cells for cells in own if cells < schedule.about_rows / (2 * deviation)]
            found.append(own[max(fitting) if fitting else min(own)])
    return found


def _telling(counts: arrays.Floats, deviation: float, *, columns: int) -> int:
    """Return how many cells of another column tell most of a target, beside the noise on each.

    Parameters
    ----------
    counts
        Of the cells of the target, with noise.
    deviation
        Of the noise on each cell of the two.
    columns
        How many there are beside the target.

    Notes
    -----
    With m rows in a rarer class, noise σ in each of g cells moves its log-odds there by σg/m; over k columns
    that is a variance of k(σg/m)² in their sum. What cells are too coarse for falls with 1/g². Both together
    are least where g² = m/(σ√k), but for a constant near 1. m is the mean over rows of rarer classes, so that
    a class of a few rows does not make all tables coarse.

    Examples
    --------
    >>> _telling(np.array([7000.0, 240]), 23.0, columns=6)
    3
    >>> _telling(np.array([5000.0, 5000]), 23.0, columns=6)
    9
    """
    rarer = np.sort(np.maximum(counts.ravel(), 0))[:-1]
    rows = float((rarer**2).sum() / max(rarer.sum(), 1.0))
    return max(FEWEST_TELLING, round(sqrt(rows / (deviation * sqrt(max(columns, 1))))))


def _widest(candidates: Sequence[Candidate], single: Sequence[int]) -> int:
    """Return the place of the single column with the most cells: its noise adds up to most."""
    return max(single, key=lambda place: prod(candidates[place].shape))


class _Room:
    """Whether the model of some pairs has room for one more: by a bound, else by the tree itself."""

    def __init__(self, schedule: Schedule, pairs: Sequence[Attributes], too_large: set[Attributes]) -> None:
        self._schedule, self._pairs, self._too_large = schedule, pairs, too_large
        self._joined = cells_joined(junction_tree(schedule.sizes, pairs))

    def has(self, pair: Attributes) -> bool:
        """Whether there is room; what has none is added to those that are too large."""
        sizes, most = self._schedule.sizes, self._schedule.most_cells
        if pair in self._too_large:
            return False
        if self._joined.get(pair, 0) > most:
            if len(sizes) > MANY_COLUMNS:  # trees of all pairs would take longer than everything else
                return False
            if not cells_with(sizes, [*self._pairs, pair], most=most):
                self._too_large.add(pair)
                return False
            self._joined[pair] = 0  # so that no resolution of the pair asks again
        return True


def _scores(
    model: Model,
    candidates: Sequence[Candidate],
    counts: Sequence[Codes],
    schedule: Schedule,
    noise: Noise,
) -> Codes:
    """Return for every candidate how far the model is from its rows, less what noise alone would make.

    Notes
    -----
    Whole numbers: a row moves the sum of differences by at most one for each cell that it moves.
    """
    n = MODEL_ROWS
    rows = rows_of(model, n, noise)
    mean_noise = sqrt(2 / pi) if schedule.is_gaussian else 1 / sqrt(2)
    penalty = mean_noise * schedule.deviation(schedule.pair)
    found = []
    for candidate, exact, made in zip(candidates, counts, _counts(candidates, rows), strict=True):
        expected = np.rint(made * (model.total / n)).astype(np.int64)
        score = int(np.abs(exact - expected).sum()) - round(penalty * prod(candidate.shape))
        found.append(score)
    return np.array(found, dtype=np.int64)
