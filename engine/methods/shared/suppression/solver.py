"""Linear programmes that are solved many times with small changes, each from where the last one ended."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
from scipy import sparse

from engine import arrays

Floats = arrays.Floats
DUAL, PRIMAL = 1, 4


class _Silent(highspy.Highs):
    """A solver that writes nothing: its first words would stand before what a command answers."""

    def enableCallbacks(self) -> Any:
        """Turn its output off before it can speak: it does while its callbacks are set up."""
        self.setOptionValue("output_flag", False)
        return super().enableCallbacks()


def model(
    matrix: sparse.csr_array,
    *,
    rows: tuple[Floats, Floats],
    columns: tuple[Floats, Floats],
    costs: Floats,
    whole: bool = False,
    primal: bool = False,
) -> Any:
    """Return the programme: least or most of costs · x, with rows[0] ≤ matrix · x ≤ rows[1].

    Parameters
    ----------
    matrix
        Shape (m, n).
    rows, columns
        Least and most of every row (m,) and of every variable (n,); infinite where there is none.
    costs
        Shape (n,).
    whole
        Whether the variables are whole numbers.
    primal
        Better where costs change between solutions; otherwise where limits do or rows are added.
    """
    found = _Silent()
    for name, value in (("threads", 1), ("random_seed", 0)):
        found.setOptionValue(name, value)
    if not whole:
        found.setOptionValue("presolve", "off")  # it would forget where the last one ended
    found.setOptionValue("simplex_strategy", PRIMAL if primal else DUAL)
    programme = highspy.HighsLp()
    programme.num_row_, programme.num_col_ = matrix.shape
    programme.col_cost_ = np.asarray(costs, dtype=np.float64)
    programme.col_lower_, programme.col_upper_ = columns
    programme.row_lower_, programme.row_upper_ = rows
    if whole:
        programme.integrality_ = [highspy.HighsVarType.kInteger] * matrix.shape[1]
    matrix = sparse.csr_array(matrix)
    programme.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    programme.a_matrix_.start_ = matrix.indptr
    programme.a_matrix_.index_ = matrix.indices
    programme.a_matrix_.value_ = matrix.data.astype(np.float64)
    found.passModel(programme)
    return found


def limit(found: Any, low: Floats, high: Floats) -> None:
    """Change the limits of all variables."""
    places = np.arange(len(low), dtype=np.int32)
    found.changeColsBounds(len(low), places, low, high)


def aim(found: Any, costs: Floats, *, most: bool) -> None:
    """Change what is looked for: the most, or the least, of costs · x."""
    found.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)
    found.changeObjectiveSense(highspy.ObjSense.kMaximize if most else highspy.ObjSense.kMinimize)


def solve_again(found: Any) -> bool:
    """Solve from where the last one ended; say whether the optimum was found.

    Now and then numbers go astray on the way from the last solution; then it is solved from nothing.
    """
    found.run()
    if found.getModelStatus() in (highspy.HighsModelStatus.kUnknown, highspy.HighsModelStatus.kSolveError):
        found.clearSolver()
        found.run()
    return found.getModelStatus() in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kModelEmpty)


def is_unbounded(found: Any) -> bool:
    """Say whether what was looked for has no end."""
    status = found.getModelStatus()
    return status in (
        highspy.HighsModelStatus.kUnbounded,
        highspy.HighsModelStatus.kUnboundedOrInfeasible,
    )


def contradicts(found: Any) -> bool:
    """Say whether no values keep all limits."""
    return bool(found.getModelStatus() == highspy.HighsModelStatus.kInfeasible)


def values(found: Any) -> Floats:
    """Return the variables of the solution."""
    return np.asarray(found.getSolution().col_value, dtype=np.float64)


def multipliers(found: Any) -> Floats:
    """Return the dual value of every row."""
    return np.asarray(found.getSolution().row_dual, dtype=np.float64)


def objective(found: Any) -> float:
    """Return what the solution attains."""
    return float(found.getInfo().objective_function_value)
