"""What two published tables of the same register tell together: one subtracted from the other, or joined.

What three and more tell is in `engine.methods.shared.suppression.several`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from engine import arrays
from engine.errors import InputRefused
from engine.methods.shared.suppression.audit import Intervals, Published
from engine.numbers import exact
from engine.once import once
from engine.table.coding import text_of

Floats = arrays.Floats
SLACK = 1e-6
MOST_JOINED = 20_000  # combinations of the values of both tables up to which they are joined
_Cell = frozenset[tuple[str, str]]
"""Columns that are not summed, and their values."""
Strangers = Callable[[_Cell], int]
"""How many are counted in a cell of the new table who surely are in none of the old one."""
ALL_VALUES = "\0all"
FEW = 5
"""More or fewer people in all, below which two tables could be of nearly the same ones."""
SIGNS = 4
"""Differences that are hardly all of one sign where people are others; two or three can easily be."""
CLOSER = 0.01
"""Chance for numbers of other people, below which numbers are taken to be too close together."""


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
    conditions
        By which its rows were kept, as steps of preparation; the column alone where no more is known of one.
    """

    frame: pd.DataFrame
    totals: Mapping[str, str]
    least: float
    threshold: float
    off: int = 0
    conditions: Sequence[Mapping[str, Any]] = ()

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """What everybody knows of each line that is not printed exactly: at least, and at most."""
        if not self.off:
            return np.full(len(self.frame), self.least), np.full(len(self.frame), np.inf)
        numbers = self.frame[self.frame.columns[-1]].to_numpy(dtype=np.float64)
        return np.maximum(numbers - self.off + 1, 0.0), numbers + self.off - 1

    @once
    def lines(self) -> dict[_Cell, float | None]:
        """What is printed of every cell, None where it is hidden."""
        return dict.fromkeys(_cells(self)) | self.numbers

    @once
    def numbers(self) -> dict[_Cell, float]:
        """The printed numbers by the cell that they stand for, as `_cells` names it."""
        numbers = self.frame[self.frame.columns[-1]]
        pairs = zip(_cells(self), numbers, numbers.isna(), strict=True)
        return {cell: float(number) for cell, number, is_hidden in pairs if not is_hidden}


def count_nobody(_: _Cell) -> int:
    """Count nobody: where it is not known who is in one table alone."""
    return 0


def exposed_cells(
    new: Told, old: Told, strangers: Strangers = count_nobody, *, same_rows: bool = False
) -> list[str]:
    """Name the cells that become too small to be printed by what the other table says.

    Parameters
    ----------
    new, old
        The tables.
    strangers
        Whom the new one counts and the old one surely does not: a difference that hides as many as the
        threshold behind it is that of no few people, however small it is.
    same_rows
        Whether surely all rows of the new one were among those of the old one, before conditions chose.

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
        differ and of which a column reads otherwise, tables of which a column puts its values together in
        another way, tables that conditions chose from the same rows and that no rows give both, or exact
        numbers beside rounded ones that could differ by few people.

    Notes
    -----
    Counts: where both print a cell and the numbers differ by less than the threshold, the difference is a
    small group (who came, or left, or whom a condition takes out). Where all common numbers agree, the tables
    are taken as made from the same rows: joined to one table over the columns of both, the interval of every
    hidden cell that may be small must still reach the threshold. So are the parts of two tables that differ
    elsewhere: a cell that reads the same, with all that both print within it. A number that was rounded or
    changed stands for the whole numbers that it can come from: beside such a table the hidden cells must
    reach the threshold too, and no small number of it may become exact. Sums: joined in the same way, no
    hidden one may become exact. What a printed sum moved by beyond its printed parts is a group too, and no
    small one.

    Where conditions chose the rows, everybody knows of which values: the tables are joined first as two parts
    of the same rows, over the columns of the conditions too. What one of them counts of a cell of the other,
    and what it does not, may be no small group either.
    """
    if strangers is count_nobody and (new.conditions or old.conditions):
        chosen = _join_chosen(new, old)
        if chosen is None and same_rows:
            raise NotComparable  # a column reads otherwise
        if chosen:
            return [name_of(cell) for cell in dict.fromkeys(chosen)]
    new, old = replace(new, conditions=()), replace(old, conditions=())
    numbers, before = new.numbers, old.numbers
    common = [cell for cell in numbers if cell in before]
    gap = {cell: abs(numbers[cell] - before[cell]) for cell in common}
    threshold, slack = max(new.threshold, old.threshold), max(new.off, old.off, 1) - 1
    others = {cell for cell in common if threshold > 0 and strangers(cell) >= threshold}
    moved = [cell for cell in common if gap[cell] > slack or cell in others]
    few = [cell for cell in moved if cell not in others]
    near = [cell for cell in few if gap[cell] + slack < threshold]
    if moved and not near and not slack:
        near = _moved_unseen(new, old, threshold, strangers)
    if near:
        return [name_of(cell) for cell in near]
    if (not common and not slack) or any(gap[cell] - slack < threshold for cell in few):
        raise NotComparable  # nothing says of which rows they are, or by how few people they differ
    apart = [name for name in new.totals if name in old.totals and not _read_alike(new, old, name)]
    if is_regrouped(new, old):
        raise NotComparable  # what groups of the same values have in common, or not, nobody counted
    if not moved:
        found = _join(new, old)
    elif threshold == 0 or not any(common) or apart:
        # A sum may have changed by one person's amount, and under other names the same people may stand.
        raise NotComparable
    else:
        same = [part for part in common if numbers[part] and _is_unchanged(part, moved)]
        more = [part for part in _unchanged_values(new, common, moved) if part not in same]
        found = _join_parts(new, old, same, more) + _join_parts(old, new, same, more)
    return [name_of(cell) for cell in dict.fromkeys(found)]


def resembles(new: Told, old: Told, few: float) -> bool:
    """Say whether two tables of counts could be of nearly the same people, by their numbers alone.

    They could where fewer than ``few`` people make all differences, where as good as nobody is in only one
    of them, where the one could be the other with more people (no number of some columns is smaller), or
    where the numbers over some columns are closer together than those of other people are.
    """
    tables, slack = _both(new, old), max(new.off, old.off, 1) - 1
    if is_moved_by_few(new, old, few):
        return True
    total = tables.get(frozenset(), max(tables.values(), key=len))[:, 0].sum()
    if abs(total) - slack < min(few, FEW):
        return True
    gaps = [one[:, 0] for one in tables.values() if len(one) >= SIGNS]
    has_grown = any(bool((one >= -slack).all() or (one <= slack).all()) for one in gaps)
    return has_grown or any(_is_closer(one, slack) for one in tables.values())


def is_moved_by_few(new: Told, old: Told, few: float) -> bool:
    """Say whether fewer than ``few`` people can make all differences of two tables of counts.

    Each of them who moved is in two cells.
    """
    slack = max(new.off, old.off, 1) - 1
    gaps = [np.maximum(np.abs(one[:, 0]) - slack, 0).sum() for one in _both(new, old).values()]
    return bool(max(gaps, default=0.0) < 2 * few)


def is_explained(new: Told, old: Told, came: int, few: float) -> bool:
    """Say whether people who came and people who left can make the differences of two tables of counts.

    Of ``came`` it is known; how many left follows from the totals. Where more than ``few`` are missing or too
    many, people have other values than before, or a column reads otherwise.
    """
    slack, tables = max(new.off - 1, 0) + max(old.off - 1, 0), _both(new, old)
    whole = tables.get(frozenset())
    left = np.inf if whole is None else came - whole[0, 0] + slack
    return all(
        np.maximum(one[:, 0] - slack, 0).sum() < came + few
        and np.maximum(-one[:, 0] - slack, 0).sum() < left + few
        for one in tables.values()
    )


def _both(new: Told, old: Told) -> dict[frozenset[str], Floats]:
    """Return, by the columns that are not summed, differences and sums of the counts that both print."""
    numbers, before = new.numbers, old.numbers
    tables: dict[frozenset[str], list[tuple[float, float]]] = {}
    for cell in numbers:
        if cell in before and numbers[cell] + before[cell] > 0:
            pair = (numbers[cell] - before[cell], numbers[cell] + before[cell])
            tables.setdefault(frozenset(dict(cell)), []).append(pair)
    return {columns: np.array(pairs) for columns, pairs in tables.items()}


def _is_closer(pairs: Floats, slack: int) -> bool:
    """Say whether numbers are closer together than by chance: differences and sums of two counts each.

    Of other people a difference has about the sum as its variance; the chances of so small ones are put
    together by Fisher's method.
    """
    from scipy.stats import chi2, norm

    chances = 2 * norm.cdf((np.maximum(np.abs(pairs[:, 0]) - slack, 0) + 0.5) / np.sqrt(pairs[:, 1])) - 1
    return bool(chi2.sf(-2 * np.log(chances).sum(), 2 * len(pairs)) < CLOSER)


def look_alike(new: Told, old: Told) -> bool:
    """Say whether two tables of sums look like the same amounts under two names."""
    numbers, before = new.numbers, old.numbers
    common = [cell for cell in numbers if cell in before and numbers[cell]]
    return sum(numbers[cell] == before[cell] for cell in common) * 4 > len(common)


def show_same_rows(new: Told, old: Told) -> bool:
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


def _unchanged_values(told: Told, common: Sequence[_Cell], moved: Sequence[_Cell]) -> list[_Cell]:
    """Return the values of a column of which both tables print the same wherever both print anything.

    One of them need not print their totals: whoever sees a column change in other values alone takes these
    for unchanged.
    """
    parts = {frozenset((pair,)) for cell in common if told.numbers[cell] for pair in cell}
    return sorted((part for part in parts if _is_unchanged(part, moved)), key=sorted)


def _join_parts(whole: Told, other: Told, same: Sequence[_Cell], more: Sequence[_Cell]) -> list[_Cell]:
    """Return the cells that a table and parts of another one expose; ``more`` of them only seem the same."""
    found = _joined(whole, _within(other, [*same, *more]), {}, ({}, {}))
    if found is not None:
        return found
    each = [_join(whole, _within(other, [*same, part])) for part in more]
    return [*_join(whole, _within(other, same)), *(cell for cells in each for cell in cells)]


def _within(told: Told, parts: Sequence[_Cell]) -> Told:
    """Return what a table says of some cells and of all that is in them."""
    lines = [any(part <= cell for part in parts) for cell in _cells(told)]
    return replace(told, frame=told.frame.loc[lines])


def _moved_unseen(new: Told, old: Told, threshold: float, strangers: Strangers) -> list[_Cell]:
    """Return cells that one table hides and by which, together, a printed sum moved by few people."""
    numbers, before = new.numbers, old.numbers
    moved = {cell: numbers[cell] - before[cell] for cell in numbers if cell in before}
    names = [name for name in new.totals if name in old.totals and _read_alike(new, old, name)]
    found = list[_Cell]()
    for whole, change in moved.items():
        for name in (one for one in names if one not in dict(whole)):
            parts = [whole | {(name, label)} for label in sorted(_labels(new, name))]
            rest = change - sum(moved.get(part, 0.0) for part in parts)
            if not SLACK < abs(rest) < threshold:
                continue
            if strangers(whole) - sum(strangers(part) for part in parts if part in moved) < threshold:
                found += [part for part in parts if part not in moved]
    return list(dict.fromkeys(found))


def _join_chosen(new: Told, old: Told) -> list[_Cell] | None:
    """Return the cells that two tables expose whose conditions chose from the same rows; None where none did.

    Rows with other values than the tables have are looked at only where there must be some.
    """
    for others in (False, True):
        levels, kept = _values(new, old, others=others)
        found = _joined(new, old, levels, kept)
        if found is not None:
            return found
    return None


def _values(
    new: Told, old: Told, *, others: bool
) -> tuple[dict[str, list[str]], tuple[dict[str, set[str]], ...]]:
    """Return the values of the columns with conditions, and which of them each table counts."""
    every = [one for one in (*new.conditions, *old.conditions) if "is" in one]
    levels, kept = dict[str, list[str]](), tuple(dict[str, set[str]]() for _ in range(2))
    for told, own in zip((new, old), kept, strict=True):
        for place in (place for place, one in enumerate(told.conditions) if "is" not in one):
            name = f"{_OTHER} {len(levels)} {place}"  # nobody can say any more which of all rows these are
            levels[name], own[name] = [_OTHER, _NONE], {_OTHER}
    for name in dict.fromkeys(str(one["column"]) for one in every):
        shown = [_labels(told, name) if name in told.totals else set() for told in (new, old)]
        levels[name] = sorted(set().union(*shown))
        if others or not levels[name]:
            about = [one for one in every if one["column"] == name]
            levels[name] = sorted({*levels[name], *_named_values(about)})
        for told, own, labels in zip((new, old), kept, shown, strict=True):
            conditions = [one for one in told.conditions if one["column"] == name and "is" in one]
            own[name] = {
                value
                for value in levels[name]
                if (not labels or value in labels) and all(_holds(one, value) for one in conditions)
            }
    return levels, kept


_OTHER, _NONE = "\0other", "\0none"
"""Stand for every value that no condition names, and for none."""


def _named_values(conditions: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return values that conditions tell apart: those that they name, and some on each side of their ends."""
    named = {text_of(value) for one in conditions for value in one.get("values", ())}
    ends = [one[name] for one in conditions for name in ("value", "minimum", "maximum") if name in one]
    points = sorted({place for place in map(_place, ends) if place is not None})
    between = [(low + high) / 2 for low, high in pairwise(points)]
    around = [points[0] - 1, points[-1] + 1] if points else []
    return {*named, _OTHER, _NONE, *map(str, (*points, *between, *around))}


def _holds(condition: Mapping[str, Any], value: str) -> bool:
    """Say whether a value satisfies a condition, as `engine.table.preparation` has it."""
    kind = condition["is"]
    if kind in ("missing", "not_missing"):
        return (value == _NONE) == (kind == "missing")
    if kind in ("in", "not_in"):
        return (value in {text_of(one) for one in condition["values"]}) == (kind == "in")
    place, ends = _place(value), {"at_least": ("value", ""), "at_most": ("", "value")}
    least, most = (_place(condition.get(name)) for name in ends.get(kind, ("minimum", "maximum")))
    above = least is None or (place is not None and place >= least)
    return place is not None and above and (most is None or place <= most)


def _place(value: Any) -> Fraction | None:
    """Return where a number or a day stands among others; None for what is neither."""
    try:
        return exact(value)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        with suppress(ValueError, TypeError):
            return Fraction(date.fromisoformat(str(value)).toordinal())
    return None


def _join(new: Told, old: Told) -> list[_Cell]:
    """Return the cells that two tables of the same rows expose; none where no rows give both."""
    return _joined(new, old, {}, ({}, {})) or []


def _joined(
    new: Told, old: Told, levels: Mapping[str, Sequence[str]], kept: Sequence[Mapping[str, Collection[str]]]
) -> list[_Cell] | None:
    """Return the cells that two tables expose of which each counts some of the same rows.

    None where no rows give both. ``levels`` are the values of columns with conditions, ``kept`` those that
    each table counts.
    """
    totals = {**dict.fromkeys(levels, ALL_VALUES), **old.totals, **new.totals}
    both = [_spread(one.frame, one.totals, totals) for one in (new, old)]
    value = str(new.frame.columns[-1])
    both[1].columns = [*list(both[1].columns[:-1]), value]
    frame = pd.concat(both, ignore_index=True)
    is_near_by = np.repeat([new.off > 0, old.off > 0], [len(new.frame), len(old.frame)])
    frame[value] = frame[value].mask(is_near_by)
    totals = {name: totals[name] for name in frame.columns[:-1]}
    sizes = [len(levels.get(name, ())) or frame[name].nunique() for name in totals]
    if np.prod([float(size) for size in sizes]) > MOST_JOINED:
        raise InputRefused("suppression.not_joined", most=MOST_JOINED)
    is_new, count = np.arange(len(frame)) < len(new.frame), len(frame)
    least, most = (np.concatenate(pair) for pair in zip(new.ends, old.ends, strict=True))
    fewest = min(new.threshold, old.threshold) if levels else 0.0
    if fewest:  # once more: what the other table counts too of every line
        printed = frame[value].to_numpy(dtype=np.float64, na_value=np.nan)
        again = frame.copy()
        again[value] = pd.NA
        frame = pd.concat([frame, again.astype({value: frame[value].dtype})], ignore_index=True)
        least, most = np.append(least, np.zeros(count)), np.append(most, np.full(count, np.inf))
    of_new = np.append(is_new, np.ones(len(frame) - count, dtype=bool))
    of_old = np.append(~is_new, np.ones(len(frame) - count, dtype=bool))
    parts = [(of_new, kept[0]), (of_old, kept[1])]
    table = Published(frame, totals=totals, value=value, least=least, most=most, levels=levels, kept=parts)
    if table.has_numbers_of_nobody:
        return None
    try:
        ends = table.intervals()
    except InputRefused as refused:
        if refused.code != "suppression.contradicts":
            raise
        return None  # no table gives both: they are of different rows
    is_few = np.zeros(count, dtype=bool)
    if fewest:
        low, high = ends.low[count:], ends.high[count:]
        for few, many in ((low, high), (printed - high, printed - low)):
            is_few |= (few > SLACK) & (many < fewest - SLACK)
        frame, ends = frame[:count], Intervals(ends.low[:count], ends.high[:count])
        least, most = least[:count], most[:count]
    threshold = np.where(is_new, new.threshold, old.threshold)
    width = ends.high - ends.low
    is_near = np.where(threshold > 0, ends.high < threshold - SLACK, width <= SLACK * (1 + np.abs(ends.low)))
    if is_near_by.any():  # small counts show as about none by themselves: together none may become exact
        is_small = (ends.high < max(new.threshold, old.threshold) - SLACK) & (ends.high > SLACK)
        is_exact = np.floor(ends.high + SLACK) <= np.ceil(ends.low - SLACK)
        is_near = np.where(is_near_by, is_small & is_exact & (most > least), is_near)
    is_given_away = (table.hidden[:count] & is_near) | is_few
    rows = frame.loc[is_given_away, list(totals)].itertuples(index=False, name=None)
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


def name_of(cell: _Cell) -> str:
    """Name a cell for people: its values, a dot for all together."""
    return " · ".join(text for _, text in sorted(cell)) or "·"


def _labels(told: Told, name: str) -> set[str]:
    return set(told.frame[name]) - {told.totals[name]}


def _read_alike(new: Told, old: Told, name: str) -> bool:
    return new.totals[name] == old.totals[name] and _labels(new, name) == _labels(old, name)


def is_regrouped(new: Told, old: Told) -> bool:
    """Say whether a column of both puts its values together in another way, and has not just some more."""
    both = [(_labels(new, name), _labels(old, name), name) for name in new.totals if name in old.totals]
    return any(
        new.totals[name] != old.totals[name] or not (here <= there or there <= here)
        for here, there, name in both
    )


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
