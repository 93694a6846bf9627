"""The rows of people, cut into groups of at least k from the top, each written as its ranges or nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from engine.methods import option
from engine.methods.datasets.attacks import downcoded
from engine.methods.datasets.grouping import (
    WEIGHTS,
    Conditions,
    Grouped,
    Grouping,
    Written,
    conditions,
    grouping_problems,
    promise,
    read,
    refuse,
    refuse_broken,
)
from engine.methods.datasets.joining import between, ends
from engine.methods.datasets.losses import Floats
from engine.methods.datasets.mondrian import mondrian
from engine.methods.datasets.recoding import Codes
from engine.methods.datasets.solution import figures_view, losses_view
from engine.methods.kinds import Changes
from engine.methods.once import once
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    Context,
    Family,
    Inside,
    Method,
    Reference,
    Release,
    Rows,
    Spends,
)
from engine.methods.shared.rows import leaving
from engine.privacy.promise import Promise
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
        grouping = read(table, self.request, in_order=self.options.written == RANGES)
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
        low, high = ends(group, grouping.codes)
        steps = between(grouping.ladders, low, high)
        written, kept = _written(grouping, group, steps, low, high), group >= 0
        refuse_broken(grouping, asked, grouping.alike(written, kept), k=self.options.k, method=ID)
        assert context.chance is not None  # nothing bounds the loss
        rows = grouping.coarser(written, kept)
        artefact = leaving("table", rows, grouping.entries(steps, rows), context.chance)
        on_steps = len(grouping.ranged) < len(grouping.identifying)
        return Release(
            (artefact,),
            self.cost,
            (grouping.steps_view(group, steps),) if on_steps else (),
            inside=_inside(grouping, group, _lost(grouping, group, steps, low, high), written),
        )


def _written(grouping: Grouping, group: Codes, steps: Codes, low: Codes, high: Codes) -> Written:
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


def _lost(grouping: Grouping, group: Codes, steps: Codes, low: Codes, high: Codes) -> Floats:
    """Return the certainty penalty of every cell, shape (columns, combinations)."""
    lost = np.zeros((len(grouping.identifying), len(group)))
    for place, (ladder, ranged) in enumerate(zip(grouping.ladders, _ranged(grouping), strict=True)):
        if ranged:
            lost[place] = ((high[place] - low[place]) / max(1, len(ladder.values) - 1))[group]
        else:
            lost[place] = ladder.losses[steps[place][group], grouping.codes[:, place]]
    return lost


def _inside(grouping: Grouping, group: Codes, lost: Floats, written: Written) -> Inside:
    sizes = grouping.members.sizes(group)
    weights = np.array([ladder.weight for ladder in grouping.ladders])
    mean = lost[:, grouping.number].mean(axis=1)
    figures = {
        "people": grouping.members.people,
        "left_out": 0,
        "smallest_group": int(sizes.min()),
        "groups": len(sizes),
        "loss": round(float((mean * weights).sum() / weights.sum()), 6),
    }
    finer = downcoded(grouping, written, np.zeros(len(grouping.identifying), dtype=np.int64))
    views = (figures_view(figures), figures_view(finer, "downcoding"), losses_view(grouping, lost))
    unknown = grouping.unknown_view()
    attack = {f"downcoding_{name}": value for name, value in finer.items()}
    return Inside(views if unknown is None else (*views, unknown), {**figures, **attack})
