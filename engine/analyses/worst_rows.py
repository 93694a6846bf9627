"""Rows of which one fits worst, for the columns of any model: what its noise is audited on."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd

from engine.methods.protocol import Request
from engine.table import coding
from engine.table.schema import Column, Kind

ROWS = 300


def worst_rows(request: Request, *, replaced: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return rows that are alike but for the last person, and the neighbour: without, or with another.

    Parameters
    ----------
    request
        Its schema and its values say the columns; no row is looked at.
    replaced
        Whether neighbours exchange a person.

    Notes
    -----
    Everybody has the upper end of every declared range, or the first declared value, and a target that the
    last person contradicts: then what a fit leaves of the last one is as large as it can be. Without a target
    the last one is at the other end of the first column. The last person has as many rows as may count.
    """
    target = request.values.get("target")
    names = [*request.values.get("predictors", request.values.get("columns", ())), *filter(None, [target])]
    columns = [request.schema.column(name) for name in names]
    ends = {column.name: _ends(column) for column in columns}
    others: dict[str, Any] = {name: high for name, (_, high) in ends.items()}
    last = dict(others)
    apart = target or (names[0] if _is_apart(request) else None)
    if apart is not None:
        low, high = ends[apart]
        last[apart] = high
        others[apart] = _contrary(
            request.schema.column(apart), low, high, is_target=bool(target), both=replaced
        )
    changed = [target] if target else names[:1] + names[2::2]  # what stays the same takes nothing away
    opposite = last | {name: ends[name][0] for name in changed}
    alike = pd.DataFrame(others, index=range(ROWS))
    own = [last] * request.rows_per_person
    table = pd.concat([alike, pd.DataFrame(own)], ignore_index=True)
    if not replaced:
        return table, alike
    return table, pd.concat([alike, pd.DataFrame([opposite] * request.rows_per_person)], ignore_index=True)


def _is_apart(request: Request) -> bool:
    """Say whether somebody far from the others moves more than somebody among them: where groups are made."""
    return "groups" in request.values


def _contrary(column: Column, low: Any, high: Any, *, is_target: bool, both: bool) -> Any:
    """Return what the others have in the column that the last person contradicts.

    Of a number, and of classes where a person is exchanged, both ends in turn, so that neither is learnt.
    """
    if is_target and (both or column.kind in (Kind.INTEGER, Kind.NUMBER)):
        return [low if place % 2 else high for place in range(ROWS)]
    return low


def _ends(column: Column) -> tuple[Any, Any]:
    """Return the lowest and the highest value that a column may have."""
    domain = column.domain
    if domain is None or domain.minimum is None or domain.maximum is None:
        levels = coding.levels(column)
        return levels[-1], levels[0]
    low, high = domain.minimum, domain.maximum
    return (
        (float(low), float(high)) if isinstance(low, Fraction) and isinstance(high, Fraction) else (low, high)
    )
