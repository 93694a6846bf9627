"""Groups of equal rows on every combination of steps, each made from a finer one that is already known.

A group is one whole number: the places of its values, one digit a column. Making a column coarser changes one
digit, and equal numbers are added up; the rows themselves are read once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.methods.datasets.recoding import Codes, Ladder, group_numbers, shifts

Steps = tuple[int, ...]
_BITS = 62
_MOST_HELD = 8_000_000  # cells, 64 MB: measured, with a quarter searches take half as long again
_MUCH_FEWER = 8  # measured: 4 to 16 are alike, 1 (never) costs four times as much


@dataclass(frozen=True)
class Cells:
    """The cells of one combination of steps, a cell being a group and a further digit.

    Parameters
    ----------
    group
        Number of the group of each cell, from 0, rising.
    further
        The further digit of each cell: a person, a sensitive value, or 0.
    count
        How often the cell occurs.
    digits
        Shape (columns, groups): what each group reads in every column, a place on the step of the ladder.
    """

    group: Codes
    further: Codes
    count: Codes
    digits: Codes

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return self.digits.shape[1]

    def sizes(self) -> Codes:
        """Return the sum of the counts of every group."""
        return np.bincount(self.group, self.count, self.groups).astype(np.int64)

    @staticmethod
    def counted(group: Codes, further: Codes, count: Codes, *, values: int, groups: int) -> Cells:
        """Add up entries, each with a group, a further digit below ``values`` and a count; no digits."""
        key, summed = _sum(group * values + further, count)
        return Cells(key // values, key % values, summed, np.zeros((0, groups), dtype=np.int64))


class Rollup:
    """Makes the cells of any combination of steps.

    Parameters
    ----------
    codes
        Shape (entries, columns): places in `Ladder.values`.
    ladders
        One per column.
    further
        A further digit of each entry that never grows coarser, from 0 to ``values - 1``.
    values
        How many further digits there are.
    count
        How often each entry occurs; once where nothing is said.
    distinct
        Count equal cells once, however often they occur: for people who have several rows.

    Examples
    --------
    >>> from engine.table.hierarchies import Hierarchy
    >>> age = Ladder.of(["41", "43", "57"], Hierarchy(bands=(10,)))
    >>> Rollup(np.array([[0], [1], [2], [2]]), [age]).sizes((1,))
    array([2, 2])
    """

    def __init__(
        self,
        codes: Codes,
        ladders: Sequence[Ladder],
        *,
        further: Codes | None = None,
        values: int = 1,
        count: Codes | None = None,
        distinct: bool = False,
    ) -> None:
        self.ladders, self.values, self.distinct = tuple(ladders), values, distinct
        self._codes = codes
        self._further = np.zeros(len(codes), dtype=np.int64) if further is None else further
        self._count = np.ones(len(codes), dtype=np.int64) if count is None else count
        self._masks = [(1 << ladder.bits) - 1 for ladder in ladders]
        self._further_bits = int(values - 1).bit_length()
        self._bits = int(self._count.sum()).bit_length()
        *self._shifts, end = shifts(ladders, self._bits + self._further_bits)
        self._narrow = end <= _BITS
        self._held: OrderedDict[Steps, int] = OrderedDict()  # → place in the next three
        self._levels = np.zeros((0, len(ladders)), dtype=np.int64)
        self._lengths = np.zeros(0, dtype=np.int64)
        self._packs: list[Codes] = []
        self._total = 0  # cells in all of these
        self._moves: dict[tuple[int, int, int], Codes] = {}
        self._bottom = (0,) * len(ladders)
        # Columns with few values first: these are the last to grow coarser on the way up.
        self._order = sorted(range(len(ladders)), key=lambda place: self._masks[place])

    def cells(self, steps: Steps) -> Cells:
        """Return the cells on a combination of steps."""
        return self._near(steps) if self._narrow else self._far(steps)

    def sizes(self, steps: Steps) -> Codes:
        """Return the sum of the counts of every group, in the order of `cells`."""
        if not self._narrow:
            return self._far(steps).sizes()
        packed = self._packed(steps)
        count = packed & ((1 << self._bits) - 1)
        if self.values == 1:
            return count
        return np.add.reduceat(count, starts(packed >> self._shifts[0]))

    def keys(self, steps: Steps) -> Codes | None:
        """Return one number for what each group reads, rising, alike in all with these ladders.

        None where the numbers do not fit.
        """
        if not self._narrow:
            return None
        group = self._packed(steps) >> self._shifts[0]
        return group[starts(group)]

    def digits(self, steps: Steps, groups: npt.NDArray[np.bool_]) -> Codes:
        """Return what some groups read in every column, shape (columns, groups): places on the step."""
        if not self._narrow:
            return self._far(steps).digits[:, groups]
        packed = self._packed(steps)
        if self.values > 1:
            packed = packed[starts(packed >> self._shifts[0])]
        packed = packed[groups]
        found = [packed >> shift & mask for shift, mask in zip(self._shifts, self._masks, strict=True)]
        return _stack(found, len(packed))

    def _near(self, steps: Steps) -> Cells:
        packed = self._packed(steps)
        group = packed >> self._shifts[0]
        first = starts(group)
        number = np.repeat(np.arange(len(first)), np.diff(first, append=len(packed)))
        further = packed >> self._bits & ((1 << self._further_bits) - 1)
        digits = self.digits(steps, np.ones(len(first), dtype=bool))
        return Cells(number, further, packed & ((1 << self._bits) - 1), digits)

    def _far(self, steps: Steps) -> Cells:
        """Go back to the entries: the numbers of groups of so many values do not fit into 62 bits."""
        number = group_numbers(self._codes, self.ladders, steps)
        wide, count = _sum(number * self.values + self._further, self._count)
        group, further = wide // self.values, wide % self.values
        first = np.unique(number, return_index=True)[1]
        digits = [
            ladder.groups[step][self._codes[first, place]]
            for place, (ladder, step) in enumerate(zip(self.ladders, steps, strict=True))
        ]
        return Cells(
            group, further, np.minimum(count, 1) if self.distinct else count, _stack(digits, len(first))
        )

    def _packed(self, steps: Steps) -> Codes:
        """Return the cells as numbers: group, further digit and, in the last bits, the count; rising."""
        if steps in self._held:
            self._held.move_to_end(steps)
            return self._packs[self._held[steps]]
        if not self._held:
            key = self._further << self._bits
            for place, (shift, ladder) in enumerate(zip(self._shifts, self.ladders, strict=True)):
                key |= ladder.groups[0][self._codes[:, place]] << shift
            self._hold(self._bottom, self._added(key | self._count))
            return self._packed(steps)
        finer, packed = self._finer(steps)
        moved = packed
        for place, (low, high) in enumerate(zip(finer, steps, strict=True)):
            if low != high:
                digit = packed >> self._shifts[place]
                digit &= self._masks[place]
                moved = moved + self._move(place, low, high)[digit]
        found = self._added(moved)
        self._hold(steps, found)
        return found

    def _move(self, place: int, low: int, high: int) -> Codes:
        """Return what a step upwards adds to a cell's number, for every digit of a column."""
        if (place, low, high) not in self._moves:
            ladder = self.ladders[place]
            move = ladder.step_up(low, high) - np.arange(int(ladder.groups[low].max(initial=0)) + 1)
            self._moves[place, low, high] = move << self._shifts[place]
        return self._moves[place, low, high]

    def _added(self, packed: Codes) -> Codes:
        """Sort cells and add up the counts of equal ones."""
        packed.sort(kind="stable")  # runs are sorted already: ten times faster than the default
        runs = starts(packed >> self._bits)
        first = packed[runs]
        if self.distinct:
            return first
        count = packed & ((1 << self._bits) - 1)
        # The group of the first of a run, and the sum of the run's counts in its last bits.
        first -= count[runs]
        first += np.add.reduceat(count, runs)
        return first

    def _finer(self, steps: Steps) -> tuple[Steps, Codes]:
        """Return a combination that is nowhere coarser and has few cells, and its cells."""
        near = [
            below
            for place, step in enumerate(steps)
            if step and (below := (*steps[:place], step - 1, *steps[place + 1 :])) in self._held
        ]
        if near:
            chosen = min(near, key=lambda one: self._lengths[self._held[one]])
            return chosen, self._packs[self._held[chosen]]
        held = len(self._packs)
        fits = np.flatnonzero((self._levels[:held] <= np.array(steps)).all(axis=1))
        least = fits[self._lengths[fits].argmin()]
        if self._lengths[least] * _MUCH_FEWER > self._lengths[0]:
            # On the way from the finest of all: what is made here serves many others.
            place = next(place for place in self._order if steps[place])
            between = (*steps[:place], 0, *steps[place + 1 :])
            if between != self._bottom:
                return between, self._packed(between)
        return tuple(self._levels[least].tolist()), self._packs[least]

    def _hold(self, steps: Steps, packed: Codes) -> None:
        place = len(self._packs)
        if place == len(self._lengths):
            self._levels = np.resize(self._levels, (max(64, 2 * place), len(steps)))
            self._lengths = np.resize(self._lengths, max(64, 2 * place))
        self._held[steps], self._levels[place], self._lengths[place] = place, steps, len(packed)
        self._packs.append(packed)
        self._total += len(packed)
        if self._total > _MOST_HELD + int(self._lengths[0]):
            self._drop()

    def _drop(self) -> None:
        """Forget half of what is held, that which was not used lately; never the finest of all."""
        self._held.move_to_end(self._bottom)
        stay = sorted(self._held.items(), key=lambda item: item[1])
        late = set(list(self._held)[len(self._held) // 2 :])
        stay = [(steps, place) for steps, place in stay if steps in late]
        order = {steps: new for new, (steps, _) in enumerate(stay)}
        places = [place for _, place in stay]
        self._levels[: len(places)], self._lengths[: len(places)] = (
            self._levels[places],
            self._lengths[places],
        )
        self._packs = [self._packs[place] for place in places]
        self._total = sum(map(len, self._packs))
        self._held = OrderedDict((steps, order[steps]) for steps in self._held if steps in late)


def starts(rising: Codes) -> npt.NDArray[np.intp]:
    """Return where each run of equal numbers begins."""
    begins = np.ones(len(rising), dtype=bool)
    np.not_equal(rising[1:], rising[:-1], out=begins[1:])
    return begins.nonzero()[0]


def _sum(key: Codes, count: Codes) -> tuple[Codes, Codes]:
    order = np.argsort(key, kind="stable")
    key, count = key[order], count[order]
    runs = starts(key)
    return key[runs], np.add.reduceat(count, runs)


def _stack(digits: list[Codes], groups: int) -> Codes:
    return np.array(digits, dtype=np.int64).reshape(len(digits), groups)
