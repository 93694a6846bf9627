"""Hierarchies: how the values of a column grow coarser, from the value itself to one value for all.

Four forms, each a few words in the schema of a column::

    {"tree": {"Nurse": ["Health", "Service"], "Cook": ["Food", "Service"]}}
    {"bands": [5, 10, 20], "start": 0}          widths, each a multiple of the one before
    {"prefix": [4, 3]}                          how many characters stay, the others become *
    {"calendar": ["month", "quarter", "year"]}  days

Above all of them stands one value for everybody, ``*``. A value that a form does not know becomes ``*`` on
the first step, and a missing one stays a value of its own until then.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import Any

from engine.errors import InputRefused
from engine.numbers import exact, written

ALL = "*"
MISSING = ""
CALENDAR = ("month", "quarter", "half", "year", "decade")
MOST_LEVELS = 12


@dataclass(frozen=True)
class Hierarchy:
    """How one column grows coarser.

    Parameters
    ----------
    tree
        Value → its group on every step, all of the same length, without the last ``*``.
    bands
        Widths of intervals of numbers, each a multiple of the one before.
    start
        Where the first interval begins.
    prefix
        Characters that stay, fewer on every step.
    calendar
        Words of `CALENDAR`, coarser on every step.
    """

    tree: Mapping[str, tuple[str, ...]] | None = None
    bands: tuple[Fraction, ...] = ()
    start: Fraction = Fraction(0)
    prefix: tuple[int, ...] = ()
    calendar: tuple[str, ...] = ()

    @property
    def height(self) -> int:
        """The last step, on which everything is ``*``; step 0 is the value itself."""
        steps = len(next(iter(self.tree.values()), ())) if self.tree is not None else 0
        return 1 + (steps or len(self.bands) or len(self.prefix) or len(self.calendar))

    def at(self, values: Iterable[str], step: int) -> list[str]:
        """Return values as they read on a step.

        Parameters
        ----------
        values
            Cells as text; the empty text is a missing cell.
        step
            From 0 to `height`.

        Examples
        --------
        >>> Hierarchy(bands=(Fraction(5), Fraction(10))).at(["43", "x", ""], 1)
        ['[40, 45)', '*', '']
        >>> Hierarchy(prefix=(2,)).at(["8010", "80"], 1), Hierarchy().at(["a"], 1)
        (['80**', '80'], ['*'])
        """
        if step == 0:
            return list(values)
        if step >= self.height:
            return [ALL for _ in values]
        return [MISSING if value == MISSING else self._one(value, step) for value in values]

    def _one(self, value: str, step: int) -> str:
        if self.tree is not None:
            path = self.tree.get(value)
            return ALL if path is None else path[step - 1]
        if self.bands:
            return _band(value, self.bands[step - 1], self.start)
        if self.prefix:
            kept = self.prefix[step - 1]
            return value[:kept] + ALL * max(0, len(value) - kept)
        return _period(value, self.calendar[step - 1])

    def to_json(self) -> dict[str, Any]:
        """Return the hierarchy as it stands in a schema."""
        if self.tree is not None:
            return {"tree": {value: list(path) for value, path in self.tree.items()}}
        if self.bands:
            return {"bands": [written(width) for width in self.bands], "start": written(self.start)}
        if self.prefix:
            return {"prefix": list(self.prefix)}
        return {"calendar": list(self.calendar)}

    @staticmethod
    def from_json(tree: Any, *, column: str, file: str = "schema") -> Hierarchy:
        """Read a hierarchy of a schema.

        Raises
        ------
        InputRefused
            ``schema.hierarchy_*``: names the column, what is wrong and what to write.

        Examples
        --------
        >>> Hierarchy.from_json({"bands": [5, 10]}, column="age").height
        3
        """
        form = next(iter(tree), "") if isinstance(tree, Mapping) else ""
        where = {"column": column, "file": file}
        try:
            found = _FORMS[form](tree)
        except KeyError as error:
            raise InputRefused("schema.hierarchy_form", **where) from error
        except (TypeError, ValueError, ZeroDivisionError, AttributeError) as error:
            raise InputRefused("schema.hierarchy_bad", form=form, **where) from error
        if found.height > MOST_LEVELS:
            raise InputRefused("schema.hierarchy_high", most=MOST_LEVELS, **where)
        return found


def from_csv(text: str, *, column: str, file: str) -> Hierarchy:
    """Read a tree from delimited text as other tools write it: value; group; coarser group; one line a value.

    A last step that is the same for every value is taken for the one above all.

    Raises
    ------
    InputRefused
        ``schema.hierarchy_lines``: lines of different length, or a value twice with different groups.

    Examples
    --------
    >>> from_csv("1;1-2;*\\n2;1-2;*\\n3;3-4;*\\n", column="age", file="age.csv").at(["2", "3"], 1)
    ['1-2', '3-4']
    """
    text = text.removeprefix("\ufeff")
    mark = ";" if text.split("\n", 1)[0].count(";") else "," if "," in text.split("\n", 1)[0] else "\t"
    try:
        lines = [row for row in csv.reader(io.StringIO(text), delimiter=mark) if row]
    except csv.Error as error:  # a cell longer than any value
        raise InputRefused("schema.hierarchy_lines", column=column, file=file, row=1) from error
    rows = [[cell.strip() for cell in row] for row in lines]
    tree: dict[str, tuple[str, ...]] = {}
    for number, row in enumerate(rows, start=1):
        path = tuple(row[1:])
        if len(row) != len(rows[0]) or tree.get(row[0], path) != path:
            raise InputRefused("schema.hierarchy_lines", column=column, file=file, row=number)
        tree[row[0]] = path
    if not tree:
        raise InputRefused("schema.hierarchy_lines", column=column, file=file, row=1)
    while next(iter(tree.values())) and len({path[-1] for path in tree.values()}) == 1:
        tree = {value: path[:-1] for value, path in tree.items()}
    return Hierarchy.from_json({"tree": tree}, column=column, file=file)


def _tree(tree: Mapping[str, Any]) -> Hierarchy:
    paths = {str(value): tuple(str(group) for group in path) for value, path in tree["tree"].items()}
    if not paths or len({len(path) for path in paths.values()}) != 1:
        raise ValueError("paths of different lengths")
    # An unknown value reads * and a missing one nothing on every step, so these two are no group of others
    steps = range(len(next(iter(paths.values()))))
    above = {(step, group): group for step in steps for group in (ALL, MISSING)}
    for path in paths.values():  # who shares a group shares everything above it
        for step, (group, parent) in enumerate(pairwise(path)):
            if above.setdefault((step, group), parent) != parent:
                raise ValueError("a group in two groups")
    return Hierarchy(tree=paths)


def _bands(tree: Mapping[str, Any]) -> Hierarchy:
    widths = tuple(exact(width) for width in tree["bands"])
    if not widths or widths[0] <= 0:
        raise ValueError("no widths")
    if any(wide <= narrow or (wide / narrow).denominator != 1 for narrow, wide in pairwise(widths)):
        raise ValueError("a width that is no multiple of the one before")
    return Hierarchy(bands=widths, start=exact(tree.get("start", 0)))


def _prefix(tree: Mapping[str, Any]) -> Hierarchy:
    kept = tuple(int(count) for count in tree["prefix"])
    if not kept or kept[-1] < 1 or any(left <= right for left, right in pairwise(kept)):
        raise ValueError("not fewer on every step")
    return Hierarchy(prefix=kept)


def _calendar(tree: Mapping[str, Any]) -> Hierarchy:
    words = tuple(str(word) for word in tree["calendar"])
    places = [CALENDAR.index(word) for word in words]
    if not places or places != sorted(set(places)):
        raise ValueError("not coarser on every step")
    return Hierarchy(calendar=words)


_FORMS = {"tree": _tree, "bands": _bands, "prefix": _prefix, "calendar": _calendar}


def _band(value: str, width: Fraction, start: Fraction) -> str:
    try:
        low = (exact(value) - start) // width * width + start
    except (ValueError, ZeroDivisionError):
        return ALL
    return f"[{written(low)}, {written(low + width)})"


def _period(value: str, word: str) -> str:
    try:
        day = date.fromisoformat(value[:10])
    except ValueError:
        return ALL
    if word == "month":
        return f"{day.year:04}-{day.month:02}"
    if word == "quarter":
        return f"{day.year:04}-Q{(day.month + 2) // 3}"
    if word == "half":
        return f"{day.year:04}-H{(day.month + 5) // 6}"
    return f"{day.year:04}" if word == "year" else f"{day.year // 10:03}0s"
