"""A person's whole history of events: places in the order of moments, weighed so that none is torn.

Who keeps so many rows of a person tears histories: a move between two kept rows need never have been made.
Here all rows of a person are read, and where a person has more than the cap, each of them counts less, so
that the whole history counts as much as the cap. Weights are whole numbers, on a declared grid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import arrays, texts
from engine.methods.parameters import Problem
from engine.methods.protocol import MAIN, Context
from engine.methods.shared.cells import LEFT_OUT, level_problems
from engine.once import once
from engine.table import coding
from engine.table.encoded import Encoded
from engine.table.schema import Column, Kind
from engine.views import Label, Text

if TYPE_CHECKING:
    import pandas as pd

    from engine.methods.shared.cells import LevelAxis
    from engine.table.schema import Schema
    from engine.table.table import Table

Floats = arrays.Floats
Integers = arrays.Integers

GRID = 5040
"""One event counts as so many steps: every cap up to 10 divides them, and those of many longer histories."""
HOUR = 60
DAY = 24 * HOUR
EVENT_KINDS = (Kind.MOMENT, Kind.DATE)
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MOST_NAMED = 1 << 20
"""Slots that events name, which are looked at together: many long stays of one person take no more memory."""


def minutes_of(values: pd.Series, column: Column) -> tuple[Integers, arrays.Bools]:
    """Return moments as minutes since 1970, and which cells say none within the declared bounds."""
    if column.kind is Kind.MOMENT:
        found = coding.moments(values, column)
    else:
        found = coding.dates(values, column).astype("datetime64[m]")
        low, high = bounds_of(column)
        minutes = found.astype(np.int64)
        found = np.where((minutes < low) | (minutes >= high), np.datetime64("NaT"), found)
    absent = np.isnat(found)
    return np.where(absent, 0, found.astype(np.int64)), np.asarray(absent)


def bounds_of(column: Column) -> tuple[int, int]:
    """Return where declared moments begin and end, in minutes since 1970: the last one is inside.

    Examples
    --------
    >>> from engine.table.schema import Domain
    >>> low, high = bounds_of(Column("day", kind=Kind.DATE, domain=Domain("2020-01-06", "2020-01-12")))
    >>> (high - low) // DAY
    7
    """
    domain = column.domain
    assert domain is not None
    low, high = (np.datetime64(str(one).replace(" ", "T"), "m") for one in (domain.minimum, domain.maximum))
    last = DAY if column.kind is Kind.DATE else 1
    return int(low.astype(np.int64)), int(high.astype(np.int64)) + last


def event_problems(
    schema: Schema, *, place: str, moment: str, left: str | None, stays: Sequence[Any], method: str
) -> list[Problem]:
    """Say which columns of events lack what has to be declared, and whether stays are told in hours."""
    found = level_problems([schema.column(place)], parameter="place")
    for name, chosen in (("moment", moment), ("left", left or moment)):
        column = schema.column(chosen)
        if column.domain is None or column.domain.minimum is None or column.domain.maximum is None:
            found.append(Problem(f"{method}.no_bounds", {"column": column.name}, name))
    if any(isinstance(edge, date) for edge in stays):
        found.append(Problem(f"{method}.not_hours", {}, "stays"))
    return found


def stay_edges(hours: Sequence[Any]) -> Integers:
    """Return the inner edges of stays, in minutes."""
    return np.array([int(Fraction(str(edge)) * HOUR) for edge in hours], dtype=np.int64)


def read_histories(
    tables: Mapping[str, Table],
    context: Context,
    schema: Schema,
    axis: LevelAxis,
    *,
    moment: str,
    left: str | None,
    session: int | None,
    within: tuple[int, int] | None = None,
) -> Histories:
    """Return the histories of everybody: of all rows where these are given, else of those of the table.

    With a ``session``, events at one place that are no more than so many hours apart are one. With bounds,
    ``within``, in minutes and the second not inside, arrivals before or after are no events.
    """
    key = schema.person_key
    assert key is not None, "problems() reports a table without one"
    rows = (context.whole or tables)[MAIN].rows()
    ends = None if left is None else schema.column(left)
    found = Histories.of(rows, key, axis, schema.column(moment), ends, within=within)
    return found if session is None else found.merged(session * HOUR)


@dataclass(frozen=True)
class Weighing:
    """How much an event counts, by how many its person has: ⌊G · top · min(1/cap, 1/length)⌋ steps.

    Parameters
    ----------
    cap
        So many events of a person count whole; in longer histories each counts less.
    top
        A whole history counts so much at most: ``cap``, or 1 where the cap was read off a noisy table, so
        that the noise can be declared before the cap is known.

    Examples
    --------
    >>> Weighing(3, 3).weights(np.array([1, 3, 4, 12])).tolist()
    [5040, 5040, 3780, 1260]
    >>> Weighing(3, 1).weights(np.array([1, 3, 4, 12])).tolist()
    [1680, 1680, 1260, 420]
    """

    cap: int
    top: int

    def weights(self, lengths: Integers) -> Integers:
        """Return what each event of a history of some length counts: ``top · GRID`` together at most."""
        return (GRID * self.top // np.maximum(lengths, self.cap)).astype(np.int64)


@dataclass(frozen=True)
class Histories:
    """Events of people in their order. Whatever it answers about a person follows from their rows alone.

    Parameters
    ----------
    person, place, start, end
        Of every event, ordered by person, arrival, leaving and place: a number of the person, the place's
        cell, the minute of arrival, and of leaving: of the next arrival where no column says it.
    known
        Whether the end is known: not of the last event of somebody whose leaving no column says.
    """

    person: Integers
    place: Integers
    start: Integers
    end: Integers
    known: arrays.Bools

    @staticmethod
    def of(
        frame: pd.DataFrame,
        key: Column,
        axis: LevelAxis,
        moment: Column,
        left: Column | None,
        *,
        within: tuple[int, int] | None = None,
    ) -> Histories:
        """Return the histories of a table; a row without a moment within the bounds is no event."""
        start, out = minutes_of(frame[moment.name], moment)
        if within is not None:
            out = out | (start < within[0]) | (start >= within[1])
        place = axis.codes(frame)
        kept = np.flatnonzero(~out & (place != LEFT_OUT))
        person = _numbered(frame[key.name].iloc[kept])
        told, untold = np.zeros(len(kept), dtype=np.int64), np.ones(len(kept), dtype=bool)
        if left is not None:
            told, untold = minutes_of(frame[left.name].iloc[kept], left)
        # by all that is looked at, so that nothing hangs on the order of rows; of two that arrive on one day,
        # who leaves a place first was there first
        order = np.lexsort((place[kept], told, untold, start[kept], person))
        person, place, start = person[order], place[kept][order], start[kept][order]
        told, untold, last = told[order], untold[order], _lasts(person)
        following = np.append(start[1:], 0)[: len(start)]
        end = np.where(last, start, following)
        end = np.where(untold, end, np.maximum(told, start))
        known = ~last | ~untold
        return Histories(person, place, start, end, known)

    def merged(self, gap: int) -> Histories:
        """Return the histories in which events one after the other at one place are one stay.

        Parameters
        ----------
        gap
            In minutes: a later arrival begins a stay of its own; one within an earlier stay never does.

        Notes
        -----
        Each history goes its own way: one person still moves every table by what its name says at most.
        """
        if not len(self.person):
            return self
        fresh = np.append(True, (self.person[1:] != self.person[:-1]) | (self.place[1:] != self.place[:-1]))
        # the latest end so far at the same place, so that a long stay over several short ones is seen
        low = int(self.end.min())
        wide = int(self.end.max()) - low + 1
        latest = np.maximum.accumulate(np.cumsum(fresh) * wide + self.end - low) % wide + low
        fresh[1:] |= self.start[1:] > latest[:-1] + gap
        starts = np.flatnonzero(fresh)
        ends = np.append(starts[1:], len(fresh)) - 1
        end = np.maximum.reduceat(self.end, starts)
        return Histories(self.person[starts], self.place[starts], self.start[starts], end, self.known[ends])

    @once
    def firsts(self) -> arrays.Bools:
        """Whether an event is the first of its person."""
        return np.append(True, self.person[1:] != self.person[:-1])[: len(self.person)]

    @once
    def lasts(self) -> arrays.Bools:
        """Whether an event is the last of its person."""
        return _lasts(self.person)

    @once
    def lengths(self) -> Integers:
        """How many events each person has, shape (people,)."""
        starts = np.flatnonzero(self.firsts)
        return np.diff(np.append(starts, len(self.person))).astype(np.int64)

    def weights(self, weighing: Weighing) -> Integers:
        """Return what every event counts."""
        return np.repeat(weighing.weights(self.lengths), self.lengths)

    # --- tables: one person moves each by what its name says at most ------------------------------------

    def length_counts(self, longest: int) -> Integers:
        """Return how many people have 1, 2 … events, the last cell for ``longest`` and more: 1 in L1."""
        return np.bincount(np.minimum(self.lengths, longest) - 1, minlength=longest).astype(np.int64)

    def moves(self, places: int, weighing: Weighing) -> Integers:
        """Return moves from every place to the next or the end, shape (places · (places + 1)): top · G."""
        return sum_weights(self._moves(places), self.weights(weighing), places * (places + 1))

    def moves_made(self, places: int, weighing: Weighing) -> tuple[Integers, Integers]:
        """Return the cells of `moves` that somebody is in, rising, and their counts."""
        return sum_weights_there(self._moves(places), self.weights(weighing))

    def _moves(self, places: int) -> Integers:
        following = np.append(self.place[1:], 0)[: len(self.place)]
        return np.asarray(self.place * (places + 1) + np.where(self.lasts, places, following))

    def stays(self, places: int, edges: Integers, weighing: Weighing) -> Integers:
        """Return stays by place and length, the last band for those whose end nobody knows: top · G.

        Parameters
        ----------
        edges
            Inner edges of the bands, rising, in minutes; a band holds its lower edge.
        """
        bands = len(edges) + 2
        band = np.where(self.known, np.searchsorted(edges, self.end - self.start, side="right"), bands - 1)
        return sum_weights(self.place * bands + band, self.weights(weighing), places * bands)

    def arrivals(self, places: int, part: Integers, parts: int, weighing: Weighing) -> Integers:
        """Return arrivals by place and part of the day or week, shape (places · parts): top · G."""
        return sum_weights(self.place * parts + part, self.weights(weighing), places * parts)

    def present(
        self, places: int, *, low: int, slot: int, slots: int, weighing: Weighing, is_one: bool
    ) -> Integers:
        """Return who is where in every slot of the calendar, shape (places · slots): top · G.

        Parameters
        ----------
        low, slot, slots
            Where the first slot begins, how long each is, in minutes, and how many there are.
        is_one
            Whether a person is in one place a slot: the one with the latest arrival counts alone.

        Notes
        -----
        Nobody counts twice in a cell, so that a person moves different cells, each by the same: with
        ``top = cap`` by cap · G in L1, and by √cap · G in L2, where moves may pile up in one cell.
        """
        first = np.clip((self.start - low) // slot, 0, slots - 1)
        last = np.clip((np.maximum(self.end - 1, self.start) - low) // slot, 0, slots - 1)
        times = last - first + 1
        found = np.zeros(places * slots, dtype=np.int64)
        held = np.zeros(0, dtype=np.int64)  # of the person of whom there is more to come: the cells so far
        for events in _parts(times):
            event = np.repeat(np.arange(events.start, events.stop), times[events])
            begins = np.cumsum(times[events]) - times[events]
            within = np.arange(len(event)) - np.repeat(begins, times[events])
            where = (self.person[event] * slots + first[event] + within) * places + self.place[event]
            where = np.concatenate([held, where])
            if is_one:
                # events of a person stand in the order of their moments: the last to name a slot has it
                order = np.argsort(where // places, kind="stable")
                where = where[order[_lasts(where[order] // places)]]
            else:
                where = arrays.distinct(where)
            person = where // (slots * places)
            more = events.stop < len(times) and self.person[events.stop] == self.person[events.stop - 1]
            held = where[person == self.person[events.stop - 1]] if more else held[:0]
            where = where[: len(where) - len(held)]  # they stand in the order of persons
            person = person[: len(where)]
            each = np.bincount(person, minlength=len(self.lengths))
            cells = where % places * slots + where // places % slots
            found += sum_weights(cells, weighing.weights(each)[person], places * slots)
        return found

    def whole(self, places: int, longest: int) -> Integers:
        """Return how many people have each whole sequence of up to ``longest`` places: 1 in L1.

        The last cell is for all longer ones; those before it stand in the order of `sequence_of`.
        """
        cells = self._whole(places, longest)
        return np.bincount(cells, minlength=sequences(places, longest) + 1).astype(np.int64)

    def whole_made(self, places: int, longest: int) -> tuple[Integers, Integers]:
        """Return the sequences of `whole` that somebody has, rising, and how many have each."""
        cells = self._whole(places, longest)
        return sum_weights_there(cells[cells < sequences(places, longest)], None)

    def _whole(self, places: int, longest: int) -> Integers:
        """Return the cell of every person's sequence."""
        starts = np.flatnonzero(self.firsts)
        cells = np.full(len(starts), sequences(places, longest), dtype=np.int64)
        offset = 0
        for length in range(1, longest + 1):
            own = np.flatnonzero(self.lengths == length)
            code = np.zeros(len(own), dtype=np.int64)
            for step in range(length):
                code = code * places + self.place[starts[own] + step]
            cells[own] = offset + code
            offset += places**length
        return cells


def _parts(times: Integers) -> Iterator[slice]:
    """Give events one after the other, so many together that they name no more than some slots, or one."""
    until = np.cumsum(times)
    start = 0
    while start < len(times):
        before = int(until[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(until, before + MOST_NAMED, side="right")))
        yield slice(start, stop)
        start = stop


def _lasts(ordered: Integers) -> arrays.Bools:
    """Return which of some ordered numbers are followed by another one, or by none."""
    return np.append(ordered[1:] != ordered[:-1], True)[: len(ordered)]


def sum_weights(cells: Integers, weights: Integers, size: int) -> Integers:
    """Return the sum of whole weights in every cell: exact, as sums stay far below 2**53."""
    return np.bincount(cells, weights, minlength=size).astype(np.int64)


def sum_weights_there(cells: Integers, weights: Integers | None) -> tuple[Integers, Integers]:
    """Return the different cells, rising, and the sum of whole weights in each; of nothing, of ones.

    Examples
    --------
    >>> [part.tolist() for part in sum_weights_there(np.array([7, 2, 7]), np.array([1, 5, 2]))]
    [[2, 7], [5, 3]]
    """
    different, place = np.unique(cells, return_inverse=True)
    return different.astype(np.int64), np.bincount(place, weights, minlength=len(different)).astype(np.int64)


def sequences(places: int, longest: int) -> int:
    """Return how many sequences of 1 to ``longest`` places there are.

    Examples
    --------
    >>> sequences(3, 2)
    12
    """
    return sum(places**length for length in range(1, longest + 1))


def sequence_of(cell: int, places: int) -> tuple[int, ...]:
    """Return the sequence that a cell of `Histories.whole` stands for.

    Examples
    --------
    >>> [sequence_of(cell, 3) for cell in (0, 2, 3, 11)]
    [(0,), (2,), (0, 0), (2, 2)]
    """
    length, found = 1, list[int]()
    while cell >= places**length:
        cell -= places**length
        length += 1
    for _ in range(length):
        cell, place = divmod(cell, places)
        found.insert(0, place)
    return tuple(found)


def part_of_time(minutes: Integers, *, weekly: bool) -> Integers:
    """Return the hour of the day, or the day of the week from Monday on, of minutes since 1970."""
    return (minutes // DAY + 3) % 7 if weekly else minutes // HOUR % 24


def names_of_time(*, weekly: bool) -> tuple[Label, ...]:
    """Return what the parts of `part_of_time` are called in views."""
    if weekly:
        return tuple(Text(f"views.days.{day}") for day in DAYS)
    return tuple(f"{hour:02d}:00" for hour in range(24))


def name_in_files(label: Label) -> str:
    """Return what a label of a view is called in files, which are for machines: the same in every language.

    Examples
    --------
    >>> name_in_files(names_of_time(weekly=True)[0]), name_in_files("07:00")
    ('Monday', '07:00')
    """
    return texts.text(label.id, **label.values) if isinstance(label, Text) else label


def invented_cells(cells: int, scale: Fraction, threshold: int) -> float:
    """Return how many of so many empty cells reach a threshold by noise alone, on average.

    Notes
    -----
    P(X ≥ τ) = α^τ/(1 + α) of discrete Laplace noise, α = e^(−1/scale).
    """
    alpha = np.exp(-1 / float(scale))
    return float(cells * alpha**threshold / (1 + alpha))


def threshold_for(cells: int, scale: Fraction, most: float = 1.0) -> int:
    """Return the smallest count that fewer than ``most`` empty cells reach on average.

    Examples
    --------
    >>> threshold_for(1000, Fraction(1)), round(invented_cells(1000, Fraction(1), 7), 2)
    (7, 0.67)
    """
    alpha = np.exp(-1 / float(scale))
    return max(1, int(np.ceil(float(scale) * np.log(cells / (most * (1 + alpha))) + 1e-9)))


def _numbered(keys: pd.Series) -> Integers:
    """Return a number for the person of every row; which one follows from nothing that is counted."""
    from engine.table.cells import cells_of

    return np.asarray(Encoded.of(cells_of(keys)).places, dtype=np.int64)


def project_table(table: Floats) -> Floats:
    """Return the nearest table without negative numbers, of the same sum, or of 1 where that is lower.

    Examples
    --------
    >>> project_table(np.array([5.0, -1.0, 2.0])).tolist()
    [4.5, 0.0, 1.5]
    """
    flat = table.ravel()
    total = max(float(flat.sum()), 1.0)
    if total <= np.spacing(np.abs(flat).max(initial=0.0)) * 4:
        flat = flat - flat.max()  # the answer is the same, and 1 is more than what is rounded away
    falling = np.sort(flat)[::-1]
    over = (np.cumsum(falling) - total) / np.arange(1, len(flat) + 1)
    last = int(np.flatnonzero(falling > over)[-1])
    return np.asarray(np.maximum(flat - over[last], 0.0).reshape(table.shape))


BIAS, SURVIVES = 0.25, 0.43
"""How far moves are off for what weights leave out, and for noise, of which negatives were taken.

Measured on two invented logs and a real one; they only choose a cap, and promise nothing.
"""


def cap_that_suits(lengths: Integers, noise: float) -> int:
    """Return the cap with which moves are least off, by noisy counts of lengths: it reads nothing more.

    Parameters
    ----------
    lengths
        How many people have 1, 2 … events, with noise.
    noise
        What the noise of all moves together comes to where one event counts: cells × scale.

    Notes
    -----
    A low cap leaves out what long histories do, a high one takes more noise. A set share of
    the events is worse: with many people a higher cap is nearer, with few a lower one.

    Examples
    --------
    >>> few, many = np.array([50, 30, 20, 5]), 1000 * np.array([50, 30, 20, 5])
    >>> cap_that_suits(few, 100.0), cap_that_suits(many, 100.0)
    (2, 4)
    """
    people = project_table(lengths.astype(np.float64))  # without it noise would make long histories of nobody
    events = np.arange(1, len(people) + 1)
    total = float(people @ events)
    kept = np.array([float(people @ np.minimum(events, cap)) for cap in events])
    off = BIAS * (1 - kept / total) + SURVIVES * noise * events / (2 * kept)
    return int(events[np.argmin(off)])
