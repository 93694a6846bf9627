"""Rules of plausibility: what no drawn row may break, as parameters and as a check of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from engine import arrays
from engine.methods import option
from engine.methods.parameters import Problem
from engine.methods.protocol import Request
from engine.methods.shared.derived import Derived, derived_of
from engine.table import coding
from engine.table.schema import Column, Kind, Schema
from engine.table.table import Table

Rows = arrays.Bools
Floats = arrays.Floats

NUMBERS = (Kind.INTEGER, Kind.NUMBER)
AMOUNTS = (*NUMBERS, Kind.DATE)
IN_ORDER = option.records(
    option.column(name="first", column_kinds=AMOUNTS),
    option.column(name="second", column_kinds=AMOUNTS),
    name="in_order",
    optional=True,
    maximum=20,
)
NEVER = option.records(
    option.condition(name="one"), option.condition(name="other"), name="never", optional=True, maximum=20
)
SUMS = option.records(
    option.column(name="total", column_kinds=NUMBERS),
    option.columns(name="parts", minimum=1, column_kinds=NUMBERS),
    name="sums",
    optional=True,
    maximum=20,
)


@dataclass(frozen=True)
class Rules:
    """What rows keep to.

    Parameters
    ----------
    schema
        What is declared about the columns.
    never
        Pairs of conditions that no row fulfils both.
    in_order
        Pairs of columns: the first is never above the second where both are known.
    sums
        A total and its parts; the total is computed, never drawn.
    derived
        Columns that follow from another one; they are computed before totals are.
    """

    schema: Schema
    never: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]] = ()
    in_order: Sequence[tuple[str, str]] = ()
    sums: Sequence[tuple[str, tuple[str, ...]]] = ()
    derived: Sequence[Derived] = ()

    @property
    def any(self) -> bool:
        """Whether there is any rule."""
        return bool(self.never or self.in_order or self.sums or self.derived)

    @property
    def totals(self) -> tuple[str, ...]:
        """The columns that are sums of others."""
        return tuple(total for total, _ in self.sums)

    @property
    def computed(self) -> tuple[str, ...]:
        """The columns that are computed: totals, and what follows from another column."""
        return (*self.totals, *(one.column.name for one in self.derived))

    def broken(self, cells: pd.DataFrame) -> Rows:
        """Say of each row whether it breaks a rule.

        Parameters
        ----------
        cells
            As they are written.

        Examples
        --------
        >>> columns = (Column("came", kind=Kind.DATE), Column("went", kind=Kind.DATE))
        >>> rules = Rules(Schema(columns), in_order=(("came", "went"),))
        >>> rules.broken(pd.DataFrame({"came": ["2020-01-02"] * 2, "went": ["2020-01-01", ""]})).tolist()
        [True, False]
        """
        from engine.table.preparation.prepare import (
            mask,  # on first use: it brings the readers of files along
        )

        found = np.zeros(len(cells), dtype=bool)
        table = Table(cells)
        for one, other in self.never:
            found |= mask(table, [one, other], self.schema)
        for low, high in self.in_order:
            found |= self._numbers(cells, low) > self._numbers(cells, high)
        for total, parts in self.sums:
            difference = np.abs(self._numbers(cells, total) - self._sum(cells, parts))
            found |= difference > 1e-6 * np.maximum(1, np.abs(self._sum(cells, parts)))
        return found

    def complete(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Return rows with derived columns, and totals computed from their parts; missing where a part is."""
        made = cells.copy()
        for one in self.derived:
            made[one.column.name] = one.written(made[one.source.name])
        for total, parts in self.sums:
            sums = self._sum(made, parts)
            places, uniques = pd.factorize(_in_full(sums))
            texts = np.array([*(coding.text_of(value) for value in uniques.tolist()), ""], dtype=object)
            made[total] = pd.Series(texts[places], dtype="str")
        return made

    def _sum(self, cells: pd.DataFrame, parts: Sequence[str]) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray(np.sum([self._numbers(cells, part) for part in parts], axis=0))

    def _numbers(self, cells: pd.DataFrame, name: str) -> Floats:
        """Return numbers or days; comparisons with what is missing are never true."""
        column = self.schema.column(name)
        if column.kind is not Kind.DATE:
            return coding.numbers(cells[name], column)
        days = coding.dates(cells[name], column)
        return np.where(np.isnat(days), np.nan, days.astype("int64").astype(np.float64))


def _in_full(sums: Floats) -> Floats:
    """Return sums without what adding up in binary leaves, 12 digits or 6 places; NaN for too large ones.

    Examples
    --------
    >>> _in_full(np.array([0.1 + 0.2, 3e-8 + 2e-8, 1e6 / 3, np.inf])).tolist()
    [0.3, 5e-08, 333333.333333, nan]
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        places = np.clip(11 - np.floor(np.log10(np.abs(sums))), 6, 22)
        unit = 10.0**places
        found = np.where(np.abs(sums) < 1e9, np.rint(sums * unit) / unit, sums)
    return np.asarray(np.where(np.isfinite(found), found, np.nan))


def rules_of(request: Request) -> Rules:
    """Return the rules that a request states."""
    values = request.values
    return Rules(
        request.schema,
        [(rule["one"], rule["other"]) for rule in values["never"] or ()],
        [(rule["first"], rule["second"]) for rule in values["in_order"] or ()],
        [(rule["total"], tuple(rule["parts"])) for rule in values["sums"] or ()],
        derived_of(request),
    )


def rule_columns(request: Request) -> list[tuple[str, tuple[str, ...]]]:
    """Return the columns that rules are about, by the parameter that names them."""
    values = request.values
    return [
        ("in_order", tuple(end for rule in values["in_order"] or () for end in rule.values())),
        ("sums", tuple(n for rule in values["sums"] or () for n in (rule["total"], *rule["parts"]))),
        ("never", tuple(one["column"] for rule in values["never"] or () for one in rule.values())),
    ]


def rule_problems(request: Request, *, method: str) -> list[Problem]:
    """Find columns that cannot stand in an order, and totals that would be computed from themselves.

    Parameters
    ----------
    request
        With the parameters of this module.
    method
        Whose words say it: ``no_order`` and ``total_of_totals``.
    """
    sums = request.values["sums"] or ()
    totals = [rule["total"] for rule in sums]
    parts = {part for rule in sums for part in rule["parts"]}
    found = [
        Problem(f"{method}.total_of_totals", {"column": name}, "sums")
        for name in dict.fromkeys(totals)
        if name in parts or totals.count(name) > 1
    ]
    for rule in request.values["in_order"] or ():
        first, second = (request.schema.column(rule[end]) for end in ("first", "second"))
        if not _comparable(first, second) or first == second:
            names = {"first": first.name, "second": second.name}
            found.append(Problem(f"{method}.no_order", names, "in_order"))
    return found


def _comparable(first: Column, second: Column) -> bool:
    """Whether two columns can stand in an order: both days, or both numbers."""
    dates = {column.kind is Kind.DATE for column in (first, second)}
    return len(dates) == 1
