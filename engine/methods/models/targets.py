"""What a model predicts: a number with declared bounds, or which of two declared values a column has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from engine.methods.models.design import Bounds, bounds_of
from engine.methods.models.residuals import RESIDUAL_STEPS, Codes
from engine.methods.parameters import Problem
from engine.methods.protocol import POINTS, Expected, Request
from engine.methods.shared.cells import level_problems
from engine.methods.shared.column_cells import edge_problems, is_listed
from engine.privacy.accuracy import NORMAL_MEDIAN, NORMAL_WITHIN
from engine.table import coding
from engine.table.schema import Column
from engine.views import Text

CLASSES, NUMBER = "classes", "number"
MOST_CLASSES = 50


@dataclass(frozen=True)
class Target:
    """The column that is predicted."""

    column: Column

    @property
    def is_classes(self) -> bool:
        """Whether it is one of two classes, else a number."""
        return is_listed(self.column)

    def steps(self, values: pd.Series) -> Codes:
        """Return the target of every cell in steps of 2^-15; below −1 where it has none, and so no part."""
        if self.is_classes:
            codes = coding.codes(values, self.column)
            return np.where(codes > 1, -2, codes) * np.int64(RESIDUAL_STEPS)
        bounds = self._bounds
        numbers = coding.numbers(values, self.column)
        scaled = np.clip((numbers - bounds.middle) / bounds.half, -1, 1)
        steps = np.where(np.isnan(scaled), -2 * RESIDUAL_STEPS, np.rint(scaled * RESIDUAL_STEPS))
        return steps.astype(np.int64)

    @property
    def unit(self) -> float:
        """What 1 of a score stands for in the units of the target."""
        return 1.0 if self.is_classes else self._bounds.half

    @property
    def middle(self) -> float:
        """What a score of 0 stands for in the units of the target."""
        return 0.0 if self.is_classes else self._bounds.middle

    @property
    def described(self) -> dict[str, Any]:
        """Name, kind, and the two values or the bounds: as JSON values."""
        if self.is_classes:
            return {"name": self.column.name, "kind": CLASSES, "values": list(coding.levels(self.column))}
        bounds = self._bounds
        return {"name": self.column.name, "kind": NUMBER, "minimum": bounds.low, "maximum": bounds.high}

    @property
    def _bounds(self) -> Bounds:
        found = bounds_of(self.column)
        assert found is not None, "problems() reports numbers without bounds"
        return found


def target_problems(request: Request, *, method: str) -> list[Problem]:
    """Say why a column cannot be predicted: it predicts itself, has no two values, or no bounds."""
    column = request.schema.column(request.values["target"])
    values = {"column": column.name}
    if column.name in request.values["predictors"]:
        return [Problem(f"{method}.predicts_itself", values, "predictors")]
    if is_listed(column) and len(coding.levels(column)) != 2:
        return [Problem(f"{method}.two_values", values, "target")]
    if not is_listed(column) and bounds_of(column) is None:
        return [Problem(f"{method}.no_bounds", values, "target")]
    return []


def class_problems(request: Request, *, method: str) -> list[Problem]:
    """Say why a column of declared classes cannot be predicted from cells of others."""
    target, names = request.schema.column(request.values["target"]), request.values["predictors"]
    if target.name in names:
        return [Problem(f"{method}.predicts_itself", {"column": target.name}, "predictors")]
    columns = [request.schema.column(name) for name in names]
    found = level_problems([target], parameter="target")
    found += level_problems([one for one in columns if is_listed(one)], parameter="predictors")
    found += edge_problems(request, columns, method=method, parameter="predictors")
    if not found and not 2 <= len(coding.levels(target)) <= MOST_CLASSES:
        return [Problem(f"{method}.classes", {"column": target.name, "most": MOST_CLASSES}, "target")]
    return found


def share_errors(
    label: Text,
    of: str,
    sizes: Iterable[int],
    *,
    deviation: float,
    most: float = 100.0,
    unit: str = POINTS,
) -> tuple[Expected, ...]:
    """Return how far noise moves what is divided by a number of rows, in hundredths, by that number.

    That is the share of a class among them, for instance.

    Parameters
    ----------
    label
        What the share is called.
    of
        What the rows are those of, as `Expected` says it.
    sizes
        Numbers of rows; a share of none counts as one of a single row.
    deviation
        Standard deviation of the noise of what is divided: of a count, in rows.
    most
        Beyond which nothing can be moved: a share by 100 points.
    unit
        Of the errors.

    Returns
    -------
    tuple of Expected
        Median and 95 % limit of a normal error, each at most ``most``.

    Examples
    --------
    >>> [round(error.limit, 1) for error in share_errors(Text("x"), "cell", [20, 0], deviation=1.0)]
    [9.8, 100.0]
    """
    return tuple(
        Expected(
            label,
            of,
            size,
            min(most, 100 * NORMAL_MEDIAN * deviation / max(size, 1)),
            min(most, 100 * NORMAL_WITHIN * deviation / max(size, 1)),
            unit,
        )
        for size in sizes
    )


def privacy_told(request: Request) -> dict[str, Any]:
    """Return what a released model says of its privacy level: as JSON values."""
    assert request.budget is not None
    return {
        "epsilon": str(request.budget.epsilon),
        "delta": str(request.budget.delta),
        "neighbours": str(request.budget.neighbours),
        "unit": str(request.unit),
        "rows_per_person": request.rows_per_person,
    }
