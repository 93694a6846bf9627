"""Columns that follow from another one by its declared groups: found from declarations, never drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from engine.errors import InputRefused
from engine.methods import option
from engine.methods.parameters import Problem
from engine.methods.protocol import Request
from engine.methods.shared.column_cells import CELL_KINDS, is_listed
from engine.once import once
from engine.table import coding
from engine.table.fitting import SHOWN, is_declared_value, list_declared
from engine.table.hierarchies import MISSING
from engine.table.schema import Column, Kind

DAY = len("2020-01-01")
DERIVED = option.records(
    option.column(name="column", column_kinds=CELL_KINDS),
    option.column(name="follows", column_kinds=CELL_KINDS),
    name="derived",
    optional=True,
    maximum=20,
)


@dataclass(frozen=True)
class Derived:
    """A column whose value is the group of another column's value.

    Parameters
    ----------
    column
        It is written, never drawn.
    source
        The column that it follows from: by a step of its hierarchy, or by the meanings of its values.

    Notes
    -----
    The way is the first that gives every declared value of the source a declared value of the column: the
    steps of the hierarchy from the finest on, then the meanings. What is missing stays missing.
    """

    column: Column
    source: Column

    @property
    def otherwise(self) -> str:
        """What stands where the source has no declared value."""
        return coding.written_other(self.column) if is_listed(self.column) else MISSING

    @once
    def reads(self) -> Mapping[str, str]:
        """The value for every declared value of the source; empty where no way fits."""
        ways = _ways(self.source)
        return next((way for way in ways if not _unknown(way, self.column)), {})

    def written(self, source: pd.Series) -> pd.Series:
        """Return the column, given the source as it is written.

        Examples
        --------
        >>> from engine.table.hierarchies import Hierarchy
        >>> from engine.table.schema import Domain, Origin
        >>> listed = [Domain(values=("A1", "A2", "B1")), Domain(values=("A*", "B*"))]
        >>> code, group = [Column(n, kind=Kind.CATEGORY, domain=d, domain_origin=Origin.DECLARED,
        ...     hierarchy=Hierarchy(prefix=(1,))) for n, d in zip(("code", "group"), listed)]
        >>> Derived(group, code).written(pd.Series(["B1", "A2", "C7", ""])).tolist()
        ['B*', 'A*', 'other', '']
        """
        places, uniques = pd.factorize(source)
        reads = {**self.reads, MISSING: MISSING}
        texts = [reads.get(text, self.otherwise) for text in coding.texts_of(uniques)]
        return pd.Series(np.array([*texts, MISSING], dtype=object)[places], index=source.index, dtype="str")


def derived_of(request: Request) -> tuple[Derived, ...]:
    """Return the derived columns that a request states."""
    column = request.schema.column
    return tuple(
        Derived(column(one["column"]), column(one["follows"])) for one in request.values.get("derived") or ()
    )


def derived_problems(request: Request, *, totals: Sequence[str], method: str) -> list[Problem]:
    """Find columns that do not follow from the one that is named, or not from a drawn one.

    Parameters
    ----------
    request
        With the parameter of this module.
    totals
        Columns that are computed in another way.
    method
        Whose words say it: ``derived_twice``, ``derived_of_computed``, ``derived_without_values`` and
        ``derived_no_step``.
    """
    every, found = derived_of(request), []
    names = [one.column.name for one in every]
    for place, one in enumerate(every):
        told = {"column": one.column.name, "follows": one.source.name}
        if one.column.name in (*names[:place], *totals):
            found.append(Problem(f"{method}.derived_twice", told, DERIVED.name))
        elif one.source.name in (*names, *totals):  # itself among them, so that there is no circle
            found.append(Problem(f"{method}.derived_of_computed", told, DERIVED.name))
        elif declared_values(one.source) is None:
            found.append(Problem(f"{method}.derived_without_values", told, DERIVED.name))
        elif not one.reads:
            told["values"] = _show(one)
            found.append(Problem(f"{method}.derived_no_step", told, DERIVED.name))
    return found


def declared_values(column: Column) -> tuple[str, ...] | None:
    """Return every declared value of a column as it is written; None where they cannot be listed.

    Examples
    --------
    >>> from engine.table.schema import Domain
    >>> declared_values(Column("came", kind=Kind.DATE, domain=Domain("2020-02-28", "2020-03-01")))
    ('2020-02-28', '2020-02-29', '2020-03-01')
    """
    domain = column.domain
    if column.kind is not Kind.DATE or domain is None or is_listed(column):
        try:
            levels = coding.levels(column)
        except InputRefused:
            return None
        if column.kind is not Kind.NUMBER or is_listed(column):
            return levels
        return tuple(coding.text_of(float(Fraction(level))) for level in levels)
    if domain.minimum is None or domain.maximum is None:
        return None
    first, last = np.datetime64(str(domain.minimum)), np.datetime64(str(domain.maximum))
    if int((last - first).astype(int)) >= coding.MOST_LEVELS:
        return None
    return tuple(str(day) for day in np.arange(first, last + 1))


def _ways(source: Column) -> list[Mapping[str, str]]:
    """Return how declared values may read: on every step of the hierarchy, and by what they mean."""
    values = declared_values(source) or ()
    steps = source.hierarchy
    found = [] if steps is None else [steps.at(values, step) for step in range(1, steps.height)]
    if values and all(value in source.labels for value in values):
        found.append([source.labels[value] for value in values])
    return [dict(zip(values, way, strict=True)) for way in found]


def _unknown(way: Mapping[str, str], column: Column) -> tuple[str, ...]:
    """Return the values whose group is none of the declared values of a column."""
    known = _known(dict.fromkeys(way.values()), column)
    return tuple(value for value, text in way.items() if text not in known)


def _known(texts: Iterable[str], column: Column) -> set[str]:
    """Return the texts that are declared values, in the form in which rows hold values of the column."""
    if names := list_declared(column):  # all at once: there may be thousands
        return {*map(coding.text_of, names), *map(coding.text_of, column.missing)} & set(texts)
    found = [text for text in texts if is_declared_value(text, column)]
    domain = column.domain
    if domain is None or not found:
        return set(found)
    if column.kind is Kind.DATE:
        low, high = domain.minimum or "0000", domain.maximum or "9999-12-31"
        return {text for text in found if len(text) == DAY and str(low) <= text <= str(high)}
    if column.kind not in (Kind.INTEGER, Kind.NUMBER):
        return set(found)
    numbers = coding.numbers(pd.Series(found, dtype="str"), column)
    fits = np.isfinite(numbers) & ((column.kind is Kind.NUMBER) | (numbers == np.round(numbers)))
    absent = [text in column.missing for text in found]
    return {text for text, fit in zip(found, fits | absent, strict=True) if fit}


def _show(one: Derived) -> str:
    """Return some values of the source without a place, by the way that comes nearest."""
    found = [_unknown(way, one.column) for way in _ways(one.source)]
    fewest = min(found, key=len, default=declared_values(one.source) or ())
    return ", ".join(fewest[:SHOWN]) + ("" if len(fewest) <= SHOWN else " …")
