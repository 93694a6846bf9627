"""Hierarchies: how the values of a column grow coarser, from the value itself to one value for all.

Seven forms, each a few words in the schema of a column::

    {"tree": {"Nurse": ["Health", "Service"], "Cook": ["Food", "Service"]}}
    {"bands": [5, 10, 20], "start": 0}          widths, each a multiple of the one before
    {"cuts": [[0, 18, 65, 120], [18, 65]]}      where intervals begin, each list a part of the one before
    {"prefix": [4, 3]}                          how many characters stay, the others become *
    {"suffix": [2]}                             the same from the end
    {"calendar": ["week", "month", "year"]}     days
    {"codes": "icd10"}                          a list of `engine.table.code_systems`

Above all of them stands one value for everybody, ``*``. A value that a form does not know becomes ``*`` on
the first step, and a missing one stays a value of its own until then.
"""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Any

from engine import strict_json
from engine.errors import InputRefused
from engine.numbers import exact, shortest_json
from engine.table.code_systems import code_systems

ALL = "*"
MISSING = ""
WEEK = "week"
USUAL = ("month", "quarter", "half", "year", "decade")
"""How days grow coarser where nobody said it."""
CALENDAR = (WEEK, *USUAL)
MOST_LEVELS = 12
LONGEST_VALUE = 100_000  # characters
LONGEST_PATH = 100
"""Steps of a file, before those that say the same of every value are taken away."""


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
        Words of `CALENDAR`, coarser on every step. Where weeks are among them, a week belongs to the month,
        quarter and year of its Thursday (ISO 8601), as otherwise weeks would cross months.
    cuts
        Where intervals begin, on every step; below the first and from the last on is one interval each.
    suffix
        Characters that stay at the end, fewer on every step.
    codes
        The list of codes whose groups are the steps.
    """

    tree: Mapping[str, tuple[str, ...]] | None = None
    bands: tuple[Fraction, ...] = ()
    start: Fraction = Fraction(0)
    prefix: tuple[int, ...] = ()
    calendar: tuple[str, ...] = ()
    cuts: tuple[tuple[Fraction, ...], ...] = ()
    suffix: tuple[int, ...] = ()
    codes: str = ""

    @property
    def height(self) -> int:
        """The last step, on which everything is ``*``; step 0 is the value itself."""
        if self.codes:
            return 1 + code_systems()[self.codes].steps
        steps = len(next(iter(self.tree.values()), ())) if self.tree is not None else 0
        every = (self.bands, self.prefix, self.calendar, self.cuts, self.suffix)
        return 1 + (steps or max(map(len, every)))

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

    def misses(self, values: Iterable[str]) -> tuple[str, ...]:
        """Return the values that have no place in it, so that their first step is the one for all.

        Examples
        --------
        >>> Hierarchy(codes="icd9").misses(["250.83", "V57", "?", ""])
        ('?',)
        """
        if self.height == 1:
            return ()
        listed = list(values)
        reads = zip(listed, self.at(listed, 1), strict=True)
        placed = self.tree or {}
        return tuple(value for value, read in reads if read == ALL and value not in (*placed, MISSING, ALL))

    def _one(self, value: str, step: int) -> str:
        if self.tree is not None:
            path = self.tree.get(value)
            return ALL if path is None else path[step - 1]
        if self.bands:
            return _band(value, self.bands[step - 1], self.start)
        if self.cuts:
            return _between(value, self.cuts[step - 1])
        if self.prefix:
            kept = self.prefix[step - 1]
            return value[:kept] + ALL * max(0, len(value) - kept)
        if self.suffix:
            kept = self.suffix[step - 1]
            return ALL * max(0, len(value) - kept) + value[-kept:]
        if self.codes:
            path = code_systems()[self.codes].path(value)
            return ALL if path is None else path[step - 1]
        return _period(value, self.calendar[step - 1], by_week=self.calendar[0] == WEEK)

    def to_json(self) -> dict[str, Any]:
        """Return the hierarchy as it stands in a schema."""
        if self.tree is not None:
            return {"tree": {value: list(path) for value, path in self.tree.items()}}
        if self.bands:
            return {
                "bands": [shortest_json(width) for width in self.bands],
                "start": shortest_json(self.start),
            }
        if self.prefix:
            return {"prefix": list(self.prefix)}
        if self.cuts:
            return {"cuts": [[shortest_json(edge) for edge in edges] for edges in self.cuts]}
        if self.suffix:
            return {"suffix": list(self.suffix)}
        if self.codes:
            return {"codes": self.codes}
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
        form = next((one for one in tree if one in _FORMS), "") if isinstance(tree, Mapping) else ""
        where = {"column": column, "file": file}
        try:
            if form:
                strict_json.members(tree, f"{column}.hierarchy", may=(form, *_BESIDE.get(form, ())))
            found = _FORMS[form](tree)
        except strict_json.Wrong as error:
            raise error.refusal(file) from error
        except KeyError as error:
            raise InputRefused("schema.hierarchy_form", **where) from error
        except (TypeError, ValueError, ZeroDivisionError, AttributeError) as error:
            raise InputRefused("schema.hierarchy_bad", form=form, **where) from error
        if found.height > MOST_LEVELS:
            raise InputRefused("schema.hierarchy_high", most=MOST_LEVELS, **where)
        return found


def from_csv(text: str, *, column: str, file: str) -> Hierarchy:
    """Read a tree from delimited text as other tools write it: value; group; coarser group; one line a value.

    A last step that is the same for every value is taken for the one above all. Lines of a value and what
    stands right above it, groups among them, are read too.

    Raises
    ------
    InputRefused
        ``schema.hierarchy_lines``: lines of different length, or a value twice with different groups;
        ``schema.hierarchy_circle``: a group that stands above itself; ``schema.hierarchy_high``.

    Examples
    --------
    >>> from_csv("1;1-2;*\\n2;1-2;*\\n3;3-4;*\\n", column="age", file="age.csv").at(["2", "3"], 1)
    ['1-2', '3-4']
    >>> from_csv("Bonn;North\\nNorth;Land\\nUlm;South\\nSouth;Land\\n", column="c", file="c").at(["Ulm"], 1)
    ['South']
    """
    text = text.removeprefix("\ufeff")
    mark = ";" if text.split("\n", 1)[0].count(";") else "," if "," in text.split("\n", 1)[0] else "\t"
    try:
        lines = [row for row in csv.reader(io.StringIO(text), delimiter=mark) if row]
    except csv.Error as error:
        raise InputRefused("schema.hierarchy_lines", column=column, file=file, row=1) from error
    rows = [[cell.strip() for cell in row] for row in lines]
    tree: dict[str, tuple[str, ...]] = {}
    for number, row in enumerate(rows, start=1):
        path = tuple(row[1:])
        odd = len(row) != len(rows[0]) or max(map(len, row)) > LONGEST_VALUE
        if odd or tree.get(row[0], path) != path:
            raise InputRefused("schema.hierarchy_lines", column=column, file=file, row=number)
        tree[row[0]] = path
    if not tree:
        raise InputRefused("schema.hierarchy_lines", column=column, file=file, row=1)
    if len(rows[0]) > LONGEST_PATH:
        raise InputRefused("schema.hierarchy_high", column=column, file=file, most=MOST_LEVELS)
    if len(rows[0]) == 2:
        above = {value: path[0] for value, path in tree.items() if path[0] != value}
        if set(above) & set(above.values()):
            tree = _climb(above, column=column, file=file)
    while next(iter(tree.values())) and len({path[-1] for path in tree.values()}) == 1:
        tree = {value: path[:-1] for value, path in tree.items()}
    return Hierarchy.from_json({"tree": tree}, column=column, file=file)


def _climb(above: Mapping[str, str], *, column: str, file: str) -> dict[str, tuple[str, ...]]:
    """Return the path of every value and group, given what stands right above each."""
    groups = set(above.values())
    paths: dict[str, list[str]] = {}
    for value in (*above, *groups - set(above)):
        path = [value]
        while path[-1] in above:
            if above[path[-1]] in path:
                raise InputRefused("schema.hierarchy_circle", column=column, file=file, found=path[-1])
            if len(path) > LONGEST_PATH:
                raise InputRefused("schema.hierarchy_high", column=column, file=file, most=MOST_LEVELS)
            path.append(above[path[-1]])
        paths[value] = path if value in groups else path[1:]
    height = max(map(len, paths.values()))
    # A short path waits at its first group, so that what is above stands on the same step for all
    return {value: (*path[:1] * (height - len(path)), *path) for value, path in paths.items()}


def to_csv(hierarchy: Hierarchy, values: Iterable[str] = ()) -> str:
    """Write a hierarchy as delimited text: value; its group on every step; ``*``.

    Parameters
    ----------
    hierarchy
        Of any form.
    values
        The values to write beside those that a tree lists.

    Examples
    --------
    >>> print(to_csv(Hierarchy(bands=(Fraction(5), Fraction(10))), ["3", "7"]), end="")
    3;[0, 5);[0, 10);*
    7;[5, 10);[0, 10);*
    """
    listed = list(dict.fromkeys([*(hierarchy.tree or ()), *values]))
    steps = [hierarchy.at(listed, step) for step in range(hierarchy.height + 1)]
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(zip(*steps, strict=True))
    return text.getvalue()


def in_order(values: Sequence[str], sizes: Sequence[int]) -> Hierarchy:
    """Put neighbours of an order together: so many on the first step, a multiple of it on the next.

    Raises
    ------
    ValueError
        Sizes that are no multiples of the ones before, or below 2; values that stand twice.

    Examples
    --------
    >>> in_order(["none", "mild", "severe", "worst"], [2]).at(["mild", "worst"], 1)
    ['none – mild', 'severe – worst']
    """
    if not sizes or sizes[0] < 2 or any(wide <= low or wide % low for low, wide in pairwise(sizes)):
        raise ValueError("sizes that are no multiples")
    if len(set(values)) < len(values):
        raise ValueError("a value twice")

    def group(place: int, size: int) -> str:
        own = values[place - place % size :][:size]
        return own[0] if len(own) == 1 else f"{own[0]} – {own[-1]}"

    paths = {value: tuple(group(place, size) for size in sizes) for place, value in enumerate(values)}
    return Hierarchy(tree=paths)


def _tree(tree: Mapping[str, Any]) -> Hierarchy:
    listed = strict_json.read_named(tree["tree"], "tree")
    paths = {
        value: strict_json.items(path, f"tree.{value}", strict_json.text) for value, path in listed.items()
    }
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
    widths = strict_json.items(tree["bands"], "bands", strict_json.number)
    if not widths or widths[0] <= 0:
        raise ValueError("no widths")
    if any(wide <= narrow or (wide / narrow).denominator != 1 for narrow, wide in pairwise(widths)):
        raise ValueError("a width that is no multiple of the one before")
    return Hierarchy(bands=widths, start=strict_json.number(tree.get("start", 0), "start"))


def _keep(counts: Any) -> tuple[int, ...]:
    kept = strict_json.items(counts, "kept", strict_json.whole)
    if not kept or kept[-1] < 1 or any(left <= right for left, right in pairwise(kept)):
        raise ValueError("not fewer on every step")
    return kept


def _edges(value: Any, field: str) -> tuple[Fraction, ...]:
    return strict_json.items(value, field, strict_json.number)


def _cuts(tree: Mapping[str, Any]) -> Hierarchy:
    cuts = strict_json.items(tree["cuts"], "cuts", _edges)
    if not cuts or not all(cuts) or any(list(edges) != sorted(set(edges)) for edges in cuts):
        raise ValueError("edges that do not rise")
    if any(not set(coarse) < set(fine) for fine, coarse in pairwise(cuts)):
        raise ValueError("an edge that no finer step has")
    return Hierarchy(cuts=cuts)


def _codes(tree: Mapping[str, Any]) -> Hierarchy:
    if strict_json.text(tree["codes"], "codes") not in code_systems():
        raise ValueError("no list of codes")
    return Hierarchy(codes=tree["codes"])


def _calendar(tree: Mapping[str, Any]) -> Hierarchy:
    words = strict_json.items(tree["calendar"], "calendar", strict_json.text)
    places = [CALENDAR.index(word) for word in words]
    if not places or places != sorted(set(places)):
        raise ValueError("not coarser on every step")
    return Hierarchy(calendar=words)


_BESIDE = {"bands": ("start",)}
_FORMS = {
    "tree": _tree,
    "bands": _bands,
    "cuts": _cuts,
    "prefix": lambda tree: Hierarchy(prefix=_keep(tree["prefix"])),
    "suffix": lambda tree: Hierarchy(suffix=_keep(tree["suffix"])),
    "calendar": _calendar,
    "codes": _codes,
}


def _band(value: str, width: Fraction, start: Fraction) -> str:
    try:
        low = (exact(value) - start) // width * width + start
    except (ValueError, ZeroDivisionError):
        return ALL
    return _interval(low, low + width)


def _between(value: str, edges: tuple[Fraction, ...]) -> str:
    try:
        place = bisect_right(edges, exact(value))
    except (ValueError, ZeroDivisionError):
        return ALL
    if place == 0:
        return f"< {shortest_json(edges[0])}"
    return (
        f"≥ {shortest_json(edges[-1])}" if place == len(edges) else _interval(edges[place - 1], edges[place])
    )


def _interval(low: Fraction, high: Fraction) -> str:
    return f"[{shortest_json(low)}, {shortest_json(high)})"


def _period(value: str, word: str, *, by_week: bool) -> str:
    try:
        day = date.fromisoformat(value[:10])
        day += timedelta(days=4 - day.isoweekday() if by_week else 0)
    except (ValueError, OverflowError):
        return ALL
    if word == WEEK:
        return f"{day.year:04}-W{day.isocalendar().week:02}"
    if word == "month":
        return f"{day.year:04}-{day.month:02}"
    if word == "quarter":
        return f"{day.year:04}-Q{(day.month + 2) // 3}"
    if word == "half":
        return f"{day.year:04}-H{(day.month + 5) // 6}"
    decade = f"{day.year // 10:03}"
    return f"{day.year:04}" if word == "year" else f"{decade}0–{decade}9"
