"""The rows of people, cut into groups of at least k from the top, each written as its ranges or nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.methods import option
from engine.methods.datasets.attacks import attack_by_downcoding
from engine.methods.datasets.conditions import Condition, cells_of
from engine.methods.datasets.grouping import (
    WEIGHTS,
    Conditions,
    Grouped,
    Grouping,
    Written,
    conditions,
    grouping_problems,
    promise,
    read_grouping,
    refuse,
    refuse_broken,
)
from engine.methods.datasets.joining import ends_of_groups, steps_between
from engine.methods.datasets.losses import Floats
from engine.methods.datasets.recoding import Codes, Ladder, Members
from engine.methods.datasets.rollup import starts
from engine.methods.datasets.solution import alike_figure, figures_view, losses_view
from engine.methods.kinds import Changes
from engine.methods.parameters import Problem
from engine.methods.protocol import Context, Family, Inside, Method, Reference, Release, Rows, Spends
from engine.methods.shared.rows import leaving
from engine.once import once
from engine.privacy.promise import Promise
from engine.progress import SILENT, Progress
from engine.risk.combinations import dense
from engine.table.hierarchies import ALL, MISSING
from engine.table.table import Table

ID = "datasets.partition"
RANGES, NODES = "ranges", "nodes"
_BAND = re.compile(r"(?P<begin>[\[(][^\[\](),;]+-)(?P<end>[^\[\](),;-]+[\])])")
"""A value that is a range itself, as ``[40-50)``: two of them join to one."""


class _Written(Grouped):
    written: str = option.choice(RANGES, NODES, default=RANGES)
    weights: Mapping[str, Fraction] = WEIGHTS


class Partition(Method):
    """Multidimensional recoding: all people together, cut again and again where both sides keep k people.

    Notes
    -----
    Definition: K. LeFevre, D. DeWitt, R. Ramakrishnan (2006), section 4. Columns with an order are cut
    between two values and written as the range of the group. The others are cut into the groups of the next
    finer step, small ones together, and written as the lowest one that all have; never as a mean. The table
    itself is checked first, and a column in which a group has one value is not cut. Both ends of a range are
    values of people in the group. What somebody knows beyond the identifying attributes is not bounded; which
    cuts were made depends on the rows, with conditions on sensitive values too (minimality: R. Wong et al.,
    2007; downcoding: A. Cohen, 2022).
    """

    id = ID
    family = Family.DATASET
    version = 2  # widths are those of numbers
    promises = ("k_anonymity",)
    spends = Spends.NOTHING
    rows = Rows.COARSER
    changes = (Changes.COARSER, Changes.GROUPED)
    published = Reference(
        "LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity (2006)",
        "section 4",
        "doi:10.1109/ICDE.2006.101",
    )

    class Options(_Written, Conditions):
        pass

    options: Options

    @once
    def further_problems(self) -> list[Problem]:
        return grouping_problems(self.request)

    @once
    def cost(self) -> Promise:
        return promise(self.request)

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        table = next(iter(tables.values()))
        grouping = read_grouping(table, self.request, in_order=self.options.written == RANGES)
        asked = conditions(grouping, table, self.request)
        group = mondrian(
            grouping.codes,
            grouping.members,
            grouping.ladders,
            k=self.options.k,
            ordered=[column.name in grouping.ranged for column in grouping.identifying],
            conditions=asked,
            progress=context.progress.part(0.1, 0.9),
        )
        if group is None:
            raise refuse(grouping, asked, k=self.options.k)
        low, high = ends_of_groups(group, grouping.codes)
        steps = steps_between(grouping.ladders, low, high)
        written, kept = _write(grouping, group, steps, low, high), group >= 0
        refuse_broken(grouping, asked, grouping.alike(written, kept), k=self.options.k, method=ID)
        assert context.chance is not None  # nothing bounds the loss
        rows = grouping.coarser(written, kept)
        artefact = leaving("table", rows, grouping.entries(steps, rows), context.chance)
        on_steps = len(grouping.ranged) < len(grouping.identifying)
        return Release(
            (artefact,),
            self.cost,
            (grouping.steps_view(group, steps),) if on_steps else (),
            inside=_inside(grouping, asked, group, _lose(grouping, group, steps, low, high), written),
        )


def _write(grouping: Grouping, group: Codes, steps: Codes, low: Codes, high: Codes) -> Written:
    """Return what every combination reads: the range of its group, or the lowest value that all have."""
    written = grouping.on_steps(group, np.where(_ranged(grouping)[:, None], 0, steps))
    for place, (column, ladder) in enumerate(zip(grouping.identifying, grouping.ladders, strict=True)):
        if column.name in grouping.ranged:
            texts = [
                _range(ladder.values[first], ladder.values[last])
                for first, last in zip(low[place].tolist(), high[place].tolist(), strict=True)
            ]
            written[column.name] = np.array(texts, dtype=object)[group]
    return written


def _range(low: str, high: str) -> str:
    """Write a range; a missing value stands last, and nothing is between it and the others.

    Examples
    --------
    >>> _range("31", "44"), _range("31", "31"), _range("31", "")
    ('[31, 44]', '31', '*')
    >>> _range("[40-50)", "[60-70)")
    '[40-70)'
    """
    if low == high:
        return low
    first, last = _BAND.fullmatch(low), _BAND.fullmatch(high)
    if first and last:
        return first["begin"] + last["end"]
    return ALL if high == MISSING else f"[{low}, {high}]"


def _ranged(grouping: Grouping) -> np.ndarray:
    return np.array([column.name in grouping.ranged for column in grouping.identifying])


def _lose(grouping: Grouping, group: Codes, steps: Codes, low: Codes, high: Codes) -> Floats:
    """Return the certainty penalty of every cell, shape (columns, combinations)."""
    lost = np.zeros((len(grouping.identifying), len(group)))
    for place, (ladder, ranged) in enumerate(zip(grouping.ladders, _ranged(grouping), strict=True)):
        if ranged:
            lost[place] = ladder.wide(low[place], high[place])[group]
        else:
            lost[place] = ladder.losses[steps[place][group], grouping.codes[:, place]]
    return lost


def _inside(
    grouping: Grouping, asked: Sequence[Condition], group: Codes, lost: Floats, written: Written
) -> Inside:
    sizes = grouping.members.sizes(group)
    weights = np.array([ladder.weight for ladder in grouping.ladders])
    mean = lost[:, grouping.number].mean(axis=1)
    figures = {
        "people": grouping.members.people,
        "left_out": 0,
        "smallest_group": int(sizes.min()),
        "groups": len(sizes),
        "loss": round(float((mean * weights).sum() / weights.sum()), 6),
        **alike_figure(grouping.as_written(asked)),
    }
    finer = attack_by_downcoding(grouping, written, np.zeros(len(grouping.identifying), dtype=np.int64))
    views = (figures_view(figures), figures_view(finer, "downcoding"), losses_view(grouping, lost))
    unknown = grouping.unknown_view()
    attack = {f"downcoding_{name}": value for name, value in finer.items()}
    return Inside(views if unknown is None else (*views, unknown), {**figures, **attack})


# --- cutting from the top --------------------------------------------------------------------------------
# Every group is cut along the column in which it is widest, unless a side would no longer hold; then
# the next column is tried. All groups of a level are worked on at once: combinations stand in one
# array, those of a group next to each other.


_BITS = 62
_DENSE = 8  # cells for one row, up to which counting all of them is faster than sorting the rows


def mondrian(
    codes: Codes,
    members: Members,
    ladders: Sequence[Ladder],
    *,
    k: int,
    ordered: Sequence[bool],
    conditions: Sequence[Condition] = (),
    progress: Progress = SILENT,
) -> Codes | None:
    """Cut people into groups of at least k.

    Parameters
    ----------
    codes
        Shape (combinations of values, columns): places in `Ladder.values`, each combination once.
    members
        Who has which of them.
    ladders
        One per column.
    k
        Least size of a group, in people.
    ordered
        For every column, whether its values are in their order and it is cut between two of them, where both
        sides are most alike in size. Otherwise it is cut into the groups of the next finer step, with those
        of fewer than k together.
    conditions
        What every group has to fulfil beside its size.

    Returns
    -------
    array of int64, shape (combinations,), or None
        The group of every combination, from 0; None where even all together do not hold.

    Notes
    -----
    K. LeFevre, D. DeWitt and R. Ramakrishnan, Mondrian multidimensional k-anonymity, 2006, section 4.1, with
    strict cuts: equal values are never separated. The printed form cuts at the median alone, and does not
    check the table itself.

    Examples
    --------
    >>> from engine.table.hierarchies import Hierarchy
    >>> age = Ladder.of(["41", "43", "57", "58"], Hierarchy())
    >>> people = Members(np.arange(4), np.arange(4))
    >>> mondrian(np.arange(4)[:, None], people, [age], k=2, ordered=[True]).tolist()
    [0, 0, 1, 1]
    """
    cutting = _Cutting(codes, members, ladders, k, ordered, conditions)
    if not len(codes) or not cutting.root_holds():
        return None
    while cutting.open:
        progress.step(1 - cutting.open / len(codes), "datasets.groups")
        cutting.level()
    return cutting.group


class _Cutting:
    def __init__(
        self,
        codes: Codes,
        members: Members,
        ladders: Sequence[Ladder],
        k: int,
        ordered: Sequence[bool],
        conditions: Sequence[Condition],
    ) -> None:
        self.members, self.ladders, self.k = members, tuple(ladders), k
        self.ordered, self.conditions = tuple(ordered), tuple(conditions)
        self.columns = [np.ascontiguousarray(codes[:, place]) for place in range(codes.shape[1])]
        self.weight = np.bincount(members.combination, minlength=len(codes)).astype(np.int64)
        self.group = np.zeros(len(codes), dtype=np.int64)
        self.made = 0
        self.order = np.arange(len(codes))  # open combinations, those of a part next to each other
        self.part = np.zeros(len(codes), dtype=np.int64)  # the part of each, rising

    @property
    def open(self) -> int:
        """How many combinations are in groups that may still be cut."""
        return len(self.order)

    def root_holds(self) -> bool:
        """Say whether all together hold."""
        return self.members.people >= self.k and all(
            one.holds(cells_of(self.group, one)).all() for one in self.conditions
        )

    def level(self) -> None:
        """Cut every open part once, and close those that cannot be cut."""
        first = starts(self.part)
        parts = len(first)
        low, high = self._ends(first)
        steps = steps_between(self.ladders, low, high)
        width = np.array([self._width(place, low, high, steps) for place in range(len(self.columns))])
        turns = np.argsort(-width, axis=0, kind="stable")
        cut = np.zeros(parts, dtype=bool)
        child = np.zeros(len(self.order), dtype=np.int64)
        for turn in turns:
            for place in range(len(self.columns)):
                wanted = ~cut & (turn == place) & (width[place] > 0)
                if wanted.any():
                    self._try(place, wanted, steps[place], cut, child)
        self._close(cut)
        self._reorder(cut, child)

    def _ends(self, first: npt.NDArray[np.intp]) -> tuple[Codes, Codes]:
        sorted_codes = [column[self.order] for column in self.columns]
        return (
            np.array([np.minimum.reduceat(one, first) for one in sorted_codes]),
            np.array([np.maximum.reduceat(one, first) for one in sorted_codes]),
        )

    def _width(self, place: int, low: Codes, high: Codes, steps: Codes) -> npt.NDArray[np.float64]:
        """Return how wide each part is, all values of the column being 1: 0 where it has one value."""
        ladder = self.ladders[place]
        if self.ordered[place]:
            return ladder.weight * ladder.wide(low[place], high[place])
        wide = np.maximum(ladder.losses[steps[place], low[place]], 1e-12)  # of a group with one listed value
        return np.asarray(ladder.weight * np.where(steps[place] > 0, wide, 0.0))

    def _try(
        self,
        place: int,
        wanted: npt.NDArray[np.bool_],
        steps: Codes,
        cut: npt.NDArray[np.bool_],
        child: Codes,
    ) -> None:
        """Cut the wanted parts along a column where all sides hold: sets ``cut`` and ``child``."""
        at = np.flatnonzero(wanted[self.part])
        part, own = self.part[at], self.order[at]
        code = self.columns[place][own]
        if self.ordered[place]:
            side = (code > self._balance(part, code, self.weight[own], len(wanted))[part]).astype(np.int64)
        else:
            side = self._finer(part, self.ladders[place].groups[steps[part] - 1, code], self.weight[own])
        sides = int(side.max()) + 1
        number, count = dense(part * sides + side, len(wanted) * sides)
        holds = self._hold(number, count, own)
        of_side = np.zeros(count, dtype=np.int64)
        of_side[number] = part
        good = np.bincount(of_side, minlength=len(wanted)) > 1
        good[of_side[~holds]] = False
        cut |= wanted & good
        child[at] = np.where(good[part], side, child[at])

    def _hold(self, number: Codes, count: int, own: Codes) -> npt.NDArray[np.bool_]:
        """Say of every side whether it holds."""
        holds = np.bincount(number, self.weight[own], count) >= self.k
        if not self.members.each_once or self.conditions:
            of_all = np.full(len(self.group), -1, dtype=np.int64)
            of_all[own] = number
            if not self.members.each_once:
                inside = of_all[self.members.combination] >= 0
                pairs = arrays.distinct(
                    of_all[self.members.combination[inside]] * self.members.people
                    + self.members.person[inside]
                )
                holds &= np.bincount(pairs // self.members.people, minlength=count) >= self.k
            for condition in self.conditions:
                holds &= condition.holds(cells_of(of_all, condition))
        return np.asarray(holds)

    def _finer(self, part: Codes, child: Codes, weight: Codes) -> Codes:
        """Return a side for every combination: its child on the finer step, small children being one side.

        Where these are fewer than k together, the smallest of the others joins them.
        """
        children = int(child.max()) + 1
        number, cells = dense(part * children + child, (int(part.max()) + 1) * children)
        of_part, of_child = np.zeros(cells, dtype=np.int64), np.zeros(cells, dtype=np.int64)
        of_part[number], of_child[number] = part, child
        size = np.bincount(number, weight, cells)
        small = size < self.k
        rest = np.bincount(of_part, size * small)
        lacks = np.flatnonzero(~small & (rest > 0)[of_part] & (rest < self.k)[of_part])
        lacks = lacks[np.lexsort((of_child[lacks], size[lacks], of_part[lacks]))]
        small[lacks[starts(of_part[lacks])]] = True
        return np.where(small, children, of_child)[number]

    def _balance(self, part: Codes, code: Codes, weight: Codes, parts: int) -> Codes:
        """Return for every part the last value of its lower side, both sides being most alike in size."""
        values = int(code.max()) + 1
        key = part * values + code
        if parts * values <= _DENSE * len(key) + 1024:
            counted = np.bincount(key, weight, parts * values)
            cell = np.flatnonzero(counted)
            size = counted[cell].astype(np.int64)
        else:
            cell, size = _add(key, weight)
        of_part = cell // values
        first = starts(of_part)
        below = np.cumsum(size)
        before = below[first] - size[first]
        total = np.add.reduceat(size, first)
        run = np.repeat(np.arange(len(first)), np.diff(first, append=len(cell)))
        below -= before[run]
        balance = np.minimum(below, total[run] - below)
        best = np.flatnonzero(balance == np.maximum.reduceat(balance, first)[run])
        found = np.zeros(parts, dtype=np.int64)
        last = best[starts(of_part[best])]  # the first of equally good ones
        found[of_part[last]] = cell[last] % values
        return found

    def _close(self, cut: npt.NDArray[np.bool_]) -> None:
        """Make groups of the parts that were not cut."""
        number = np.cumsum(~cut) - 1 + self.made
        stays = cut[self.part]
        self.group[self.order[~stays]] = number[self.part[~stays]]
        self.made += int((~cut).sum())

    def _reorder(self, cut: npt.NDArray[np.bool_], child: Codes) -> None:
        """Put the combinations of every new part next to each other."""
        stays = np.flatnonzero(cut[self.part])
        if not len(stays):
            self.order = self.order[:0]
            return
        sides = int(child.max()) + 1
        number, _ = dense(self.part[stays] * sides + child[stays], len(cut) * sides)
        bits = len(stays).bit_length()
        packed = np.sort(number << bits | np.arange(len(stays)))  # far cheaper than sorting places
        places = packed & ((1 << bits) - 1)
        self.part = dense(packed >> bits, int(number.max()) + 1)[0]
        self.order = self.order[stays[places]]


def _add(key: Codes, weight: Codes) -> tuple[Codes, Codes]:
    """Return equal keys once, rising, with their summed weights."""
    bits = int(weight.max()).bit_length()
    if int(key.max()).bit_length() + bits <= _BITS:
        packed = np.sort(key << bits | weight)
        key, weight = packed >> bits, packed & ((1 << bits) - 1)
    else:
        order = np.argsort(key, kind="stable")
        key, weight = key[order], weight[order]
    first = starts(key)
    return key[first], np.add.reduceat(weight, first)
