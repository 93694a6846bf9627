"""Curves that are declared to rise or to fall: the nearest such curve, made of what was already protected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from engine.methods import option
from engine.methods.models.additive_steps import Curve, Fitted
from engine.methods.parameters import Problem
from engine.methods.protocol import Request
from engine.methods.shared.column_cells import ColumnCells
from engine.table.schema import Column, Kind

RISING = option.columns(name="rising", default=[], optional=True, maximum=200)
FALLING = option.columns(name="falling", default=[], optional=True, maximum=200)


def monotone_problems(request: Request, predictors: Sequence[ColumnCells], *, method: str) -> list[Problem]:
    """Say which columns cannot be declared to rise or to fall: from declarations alone."""
    ordered = {cells.column.name for cells in predictors if cells.ordered > 1 and _ascends(cells.column)}
    rising, falling = (request.values[one.name] for one in (RISING, FALLING))
    found = []
    for name in dict.fromkeys((*rising, *falling)):
        where = RISING.name if name in rising else FALLING.name
        if name not in ordered:
            found.append(Problem(f"{method}.no_order", {"column": name}, where))
        elif name in rising and name in falling:
            found.append(Problem(f"{method}.both_ways", {"column": name}, where))
    return found


def _ascends(column: Column) -> bool:
    """Whether numbers and days that were declared one by one stand in their own order."""
    values = column.domain.values if column.domain is not None else None
    if values is None or column.kind is Kind.ORDINAL:
        return True
    numbers = column.kind in (Kind.INTEGER, Kind.NUMBER)
    return list(values) == sorted(values, key=Fraction if numbers else str)


def monotone(fitted: Fitted, predictors: Sequence[ColumnCells], request: Request) -> Fitted:
    """Return a model with every declared curve replaced by the nearest one that goes that way.

    Notes
    -----
    Nearest in the sum of squares weighted by noisy rows, on the cells that have an order; the average of a
    curve stays. It reads published numbers alone, so it costs nothing. The bands are those from before,
    which a projection makes no wider.
    """
    ways = dict.fromkeys(request.values[RISING.name], 1) | dict.fromkeys(request.values[FALLING.name], -1)
    curves = [
        _project(curve, cells.ordered, ways.get(cells.column.name, 0))
        for curve, cells in zip(fitted.curves, predictors, strict=True)
    ]
    return replace(fitted, curves=tuple(curves))


def _project(curve: Curve, ordered: int, way: int) -> Curve:
    if not way:
        return curve
    from scipy.optimize import isotonic_regression

    nearest = isotonic_regression(
        curve.effects[:ordered], weights=np.maximum(curve.rows[:ordered], 1e-6), increasing=way > 0
    )
    return replace(curve, effects=np.concatenate([nearest.x, curve.effects[ordered:]]))
