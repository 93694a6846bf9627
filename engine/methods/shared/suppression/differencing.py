"""What two published tables of the same register tell together: one subtracted from the other, or joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from engine import arrays
from engine.errors import InputRefused
from engine.methods.shared.suppression.audit import Published

Floats = arrays.Floats
SLACK = 1e-6
MOST_JOINED = 20_000  # combinations of the values of both tables up to which they are joined
_Cell = frozenset[tuple[str, str]]
"""Columns that are not summed, and their values."""


class NotComparable(ValueError):
    """Nothing that two tables print says what one tells beside the other."""


@dataclass(frozen=True)
class Told:
    """A published table with what everybody knows about it.

    Parameters
    ----------
    frame
        Its columns that name cells, then the numbers, missing where hidden.
    totals
        The word for all values, by column.
    least
        What a hidden cell is at least.
    threshold
        Below which a count is small; 0 for sums, and where no small count was hidden.
    off
        What a printed number differs by less than from the true one, where it was rounded or changed; else 0.
    """

    frame: pd.DataFrame
    totals: Mapping[str, str]
    least: float
    threshold: float
    off: int = 0

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """What everybody knows of each line that is not printed exactly: at least, and at most."""
        if not self.off:
            return np.full(len(self.frame), self.least), np.full(len(self.frame), np.inf)
        numbers = self.frame[self.frame.columns[-1]].to_numpy(dtype=np.float64)
        return np.maximum(numbers - self.off + 1, 0.0), numbers + self.off - 1

    @property
    def numbers(self) -> dict[_Cell, float]:
        """The printed numbers by the cell that they stand for, as `_cells` names it."""
        numbers = self.frame[self.frame.columns[-1]]
        pairs = zip(_cells(self), numbers, numbers.isna(), strict=True)
        return {cell: float(number) for cell, number, is_hidden in pairs if not is_hidden}


def exposed(new: Told, old: Told) -> list[str]:
    """Name the cells that become too small to be printed by what the other table says.

    Returns
    -------
    list of str
        Their values, for people inside. Empty where neither table gives away a small cell of the other.

    Raises
    ------
    InputRefused
        ``suppression.not_joined``: the two would make too large a table to be compared.
    NotComparable
        The tables are of different rows, and nothing printed says of how many people the difference is: sums
        that differ, two tables without a cell in common (other names, other totals), tables whose numbers
        differ and of which a column reads otherwise, or exact numbers beside rounded ones that could differ
        by few people.

    Notes
    -----
    Counts: where both print a cell and the numbers differ by less than the threshold, the difference is a
    small group (who came, or left, or whom a condition takes out). Where all common numbers agree, the tables
    are taken as made from the same rows: joined to one table over the columns of both, the interval of every
    hidden cell that may be small must still reach the threshold. So are the parts of two tables that differ
    elsewhere: a cell that reads the same, with all that both print within it. A number that was rounded or
    changed stands for the whole numbers that it can come from: beside such a table the hidden cells must
    reach the threshold too, and no small number of it may become exact. Sums: joined in the same way, no
    hidden one may become exact. A column whose values were put together differently in the two counts as two
    columns, so that what their overlaps tell is not seen.
    """
    numbers, before = new.numbers, old.numbers
    common = [cell for cell in numbers if cell in before]
    gap = {cell: abs(numbers[cell] - before[cell]) for cell in common}
    threshold, slack = max(new.threshold, old.threshold), max(new.off, old.off, 1) - 1
    moved = [cell for cell in common if gap[cell] > slack]
    near = [cell for cell in moved if gap[cell] + slack < threshold]
    if near:
        return [_named(cell) for cell in near]
    if (not common and not slack) or any(gap[cell] - slack < threshold for cell in moved):
        raise NotComparable  # nothing says of which rows they are, or by how few people they differ
    words = _apart(new, old)
    if not moved:
        found = _joined(new, old, words, same_rows=not slack)
    elif threshold == 0 or not any(common) or not words.keys() <= old.totals.keys():
        # A sum may have changed by one person's amount, and under other names the same people may stand.
        raise NotComparable
    else:
        same = [part for part in common if numbers[part] and _is_unchanged(part, moved)]
        found = _joined(new, _within(old, same), words, same_rows=not slack)
        found += _joined(old, _within(new, same), new.totals, same_rows=not slack)
    return [_named(cell) for cell in dict.fromkeys(found)]


def alike(new: Told, old: Told) -> bool:
    """Say whether two tables of sums look like the same amounts under two names."""
    numbers, before = new.numbers, old.numbers
    common = [cell for cell in numbers if cell in before and numbers[cell]]
    return sum(numbers[cell] == before[cell] for cell in common) * 4 > len(common)


def again(new: Told, old: Told) -> bool:
    """Say whether two rounded or changed tables look like the same rows: together they tell more.

    Raises
    ------
    NotComparable
        Some cells are surely of other people, and at least half look like the same ones once more.
    """
    numbers, before = new.numbers, old.numbers
    gaps = [abs(numbers[cell] - before[cell]) for cell in numbers if cell in before]
    small = [gap for gap in gaps if gap <= new.off + old.off]
    if not any(small):
        return False
    if len(small) < len(gaps) <= 2 * len(small):
        raise NotComparable
    return len(small) == len(gaps)


def _is_unchanged(part: _Cell, moved: Sequence[_Cell]) -> bool:
    """Say whether both tables print the same of a cell and of all in it that both print."""
    return bool(part) and not any(part <= cell for cell in moved)


def _within(told: Told, parts: Sequence[_Cell]) -> Told:
    """Return what a table says of some cells and of all that is in them."""
    lines = [any(part <= cell for part in parts) for cell in _cells(told)]
    return replace(told, frame=told.frame.loc[lines])


def _joined(new: Told, old: Told, second: Mapping[str, str], *, same_rows: bool) -> list[_Cell]:
    """Return the cells that two tables of the same rows expose; ``second`` are the words of `_apart`."""
    totals = {**second, **new.totals}
    both = [_spread(new.frame, new.totals, totals), _spread(_renamed(old, second), second, totals)]
    value = str(new.frame.columns[-1])
    both[1].columns = [*list(both[1].columns[:-1]), value]
    frame = pd.concat(both, ignore_index=True)
    is_near_by = np.repeat([new.off > 0, old.off > 0], [len(new.frame), len(old.frame)])
    frame[value] = frame[value].mask(is_near_by)
    totals = {name: totals[name] for name in frame.columns[:-1]}
    if np.prod([float(frame[name].nunique()) for name in totals]) > MOST_JOINED:
        raise InputRefused("suppression.not_joined", most=MOST_JOINED)
    least, most = (np.concatenate(pair) for pair in zip(new.ends, old.ends, strict=True))
    table = Published(frame, totals=totals, value=value, least=least, most=most)
    try:
        ends = table.intervals()
    except InputRefused as refused:
        if refused.code != "suppression.contradicts":
            raise
        return []  # no table gives both: they are of different rows
    threshold = np.where(np.arange(len(frame)) < len(new.frame), new.threshold, old.threshold)
    width = ends.high - ends.low
    is_near = np.where(threshold > 0, ends.high < threshold - SLACK, width <= SLACK * (1 + np.abs(ends.low)))
    if is_near_by.any():  # small counts show as about none by themselves: together none may become exact
        is_small = (ends.high < max(new.threshold, old.threshold) - SLACK) & (ends.high > SLACK)
        is_exact = np.floor(ends.high + SLACK) <= np.ceil(ends.low - SLACK)
        is_near = np.where(is_near_by, is_small & is_exact & (most > least), is_near)
    rows = frame.loc[table.hidden & is_near, list(totals)].itertuples(index=False, name=None)
    words = list(totals.items())
    return [
        frozenset((name, text) for (name, word), text in zip(words, row, strict=True) if text != word)
        for row in rows
    ]


def _cells(told: Told) -> list[_Cell]:
    """Name every line by the columns that are not summed and their values."""
    names = list(told.totals)
    return [
        frozenset((name, text) for name, text in zip(names, row, strict=True) if text != told.totals[name])
        for row in told.frame[names].itertuples(index=False, name=None)
    ]


def _named(cell: _Cell) -> str:
    return " · ".join(text for _, text in sorted(cell)) or "·"


def _apart(new: Told, old: Told) -> dict[str, str]:
    """Return the words for all values, a column of the old table under another name where it has others."""
    other = {}
    for name, word in old.totals.items():
        here = set(new.frame[name]) - {new.totals[name]} if name in new.totals else set()
        there = set(old.frame[name]) - {word}
        is_same = name not in new.totals or here == there
        other[name if is_same else f"{name} ′"] = word
    return other


def _renamed(old: Told, words: Mapping[str, str]) -> pd.DataFrame:
    return old.frame.set_axis([*words, old.frame.columns[-1]], axis=1)


def _spread(frame: pd.DataFrame, own: Mapping[str, str], totals: Mapping[str, str]) -> pd.DataFrame:
    """Return the lines under the columns of both tables: what a table does not have is summed."""
    columns = {
        name: frame[name].where(frame[name] != own[name], word) if name in own else word
        for name, word in totals.items()
    }
    return pd.DataFrame({**columns, str(frame.columns[-1]): frame[frame.columns[-1]]}, index=frame.index)


def hidden_numbers(texts: pd.Series) -> pd.Series:
    """Return numbers as they are written in a file, missing where the cell is empty."""
    return pd.to_numeric(texts.where(texts != ""), errors="coerce").astype("Float64")
