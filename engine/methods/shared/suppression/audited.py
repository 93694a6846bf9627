"""A table whose pattern was found and then tried from outside, before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from engine.errors import InputRefused
from engine.methods.shared.suppression.additive import Integers, Mask
from engine.methods.shared.suppression.audit import Intervals, Published
from engine.methods.shared.suppression.exact import Found, suppress
from engine.methods.shared.suppression.task import TOLERANCE, Floats, Requirement, Task

MOST_WHOLE = 200  # combinations up to which whole numbers are looked for too
MOST_CONTRIBUTORS = 200
ROUNDS = 8


@dataclass(frozen=True)
class Audited:
    """A published table, and what an attacker works out of it.

    Parameters
    ----------
    frame
        As it leaves.
    value
        Name of the column with the numbers.
    found
        The pattern, over all cells of the task.
    lines
        The cell of every line of the frame.
    primary
        Which lines are hidden because of themselves, shape (lines,).
    values
        The true number of every line. Inside only.
    intervals
        What an attacker works out of every line.
    whole
        Whether the intervals are those of whole numbers; otherwise they may be a little too wide in three
        dimensions and across tables.
    contributors
        How many people who are alone in a cell were tried as attackers, and how many there are.
    """

    frame: pd.DataFrame
    value: str
    found: Found
    lines: Integers
    primary: Mask
    values: Floats
    intervals: Intervals
    whole: bool
    contributors: tuple[int, int]

    @property
    def hidden(self) -> Mask:
        """Which lines are hidden."""
        return np.asarray(self.frame[self.value].isna())


def find_audited_pattern(
    task: Task,
    publish: Callable[[Mask], pd.DataFrame],
    totals: Mapping[str, str],
    *,
    seconds: float,
    scale: float = 1.0,
    tell: Callable[[float], None] = lambda share: None,
) -> Audited:
    """Find a pattern, publish it, and try it from outside; hide more where the audit is not content.

    Parameters
    ----------
    task
        What must be hidden.
    publish
        From the hidden cells to the table as it leaves: one line a cell that is not `Task.free`, in order.
    totals
        As in `engine.methods.shared.suppression.audit.Published`.
    seconds, tell
        As in `engine.methods.shared.suppression.exact.suppress`.
    scale
        What 1 in the task is in the published table; other than 1 for sums, which need not be whole.

    Raises
    ------
    InputRefused
        ``suppression.impossible``, or ``suppression.not_held``: the audit found a cell that could be worked
        out more closely than was declared.
    """
    given = task.requirements
    for _ in range(ROUNDS):
        found = suppress(task, seconds=seconds, tell=lambda share: tell(0.9 * share))
        done = _looked_at(task, found, publish(found.hidden), totals, scale, lambda: tell(0.95))
        short = _too_narrow(done, given, scale)
        if not short:
            return done
        if not done.whole or scale != 1:
            break
        task = replace(task, requirements=tuple(_further(one, short) for one in task.requirements))
    raise InputRefused("suppression.not_held", cells=len(short))


def _further(one: Requirement, short: list[tuple[int, int]]) -> Requirement:
    """Ask more of what whole numbers did not attain although fractions did."""
    return replace(one, level=one.level + 1) if (one.cell, one.side) in short else one


def _looked_at(
    task: Task,
    found: Found,
    frame: pd.DataFrame,
    totals: Mapping[str, str],
    scale: float,
    tick: Callable[[], None],
) -> Audited:
    value = str(frame.columns[-1])
    lines = np.flatnonzero(~task.free)
    primary = np.isin(lines, task.primary)
    table = Published(
        frame, totals=totals, value=value, least=scale * float(task.least[lines].max(initial=0))
    )
    spans = len(totals) > 2 or scale != 1  # below three dimensions whole numbers attain the ends
    whole = spans and scale == 1 and table.combinations <= MOST_WHOLE
    intervals = table.whole(np.flatnonzero(table.hidden), tick) if whole else table.intervals(tick)
    tried = _contributors(task, table, totals, scale, tick)
    values = task.values[lines] * scale
    return Audited(frame, value, found, lines, primary, values, intervals, whole or not spans, tried)


def _contributors(
    task: Task, table: Published, totals: Mapping[str, str], scale: float, tick: Callable[[], None]
) -> tuple[int, int]:
    """Try people who are alone in a cell as attackers: none of them may come too near to a primary cell."""
    lines = np.flatnonzero(~task.free)
    primary, needed = np.isin(lines, task.primary), task.against_alone[lines] * scale
    alone = list(task.known().values())
    for cells in alone[:MOST_CONTRIBUTORS]:
        own = np.isin(lines, cells)
        others = np.flatnonzero(primary & ~own)
        ends = table.knowing(own, task.values[lines[own]] * scale).intervals(tick, among=others)
        near = ends.high[others] - ends.low[others] < needed[others] - TOLERANCE * scale
        if near.any():
            raise InputRefused("suppression.not_held", cells=int(near.sum()))
    return min(len(alone), MOST_CONTRIBUTORS), len(alone)


def _too_narrow(done: Audited, given: tuple[Requirement, ...], scale: float) -> list[tuple[int, int]]:
    """Return the cells and sides whose interval does not reach as far as was declared."""
    place = {int(cell): line for line, cell in enumerate(done.lines)}
    short = []
    for one in given:
        line = place[one.cell]
        value, level = float(done.values[line]), one.level * scale
        slack = TOLERANCE * max(scale, level)
        if one.side > 0 and done.intervals.high[line] < value + level - slack:
            short.append((one.cell, one.side))
        if one.side < 0 and done.intervals.low[line] > value - level + slack:
            short.append((one.cell, one.side))
    return short
