"""How far an attacker's interval of a hidden cell reaches, and what would have to be hidden to widen it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.errors import InputRefused
from engine.methods.shared.suppression import solver
from engine.methods.shared.suppression.additive import Mask
from engine.methods.shared.suppression.task import TOLERANCE, Floats, Requirement, Task


@dataclass(frozen=True)
class Reach:
    """What was found about a requirement.

    Parameters
    ----------
    met
        Whether the interval reaches far enough.
    moved
        The cells that differ in the tables that show it, a mask over all cells.
    cut
        Coefficients c of c · x ≥ ``level``, which every sufficient pattern x meets and this one does not;
        None where the requirement is met.
    """

    met: bool
    moved: Mask
    cut: Floats | None


class Attacker:
    """Somebody who knows the equations, the printed cells and between which numbers the others lie.

    Notes
    -----
    M. Fischetti, J. J. Salazar-González, "Solving the cell suppression problem on tabular data with linear
    constraints", Management Science 47 (2001), section 3: y = the change of the cells, M · y = 0 and
    −down_i · x_i ≤ y_i ≤ up_i · x_i. For any multipliers γ of the equations the most of ±y_p is at most
    Σ x_i · max(d_i · up_i, −d_i · down_i), d = ±e_p − Mᵀγ (weak duality), so that this sum is at least the
    level in every sufficient pattern. As x is 0 or 1, a coefficient above the level says no more than the
    level does.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self._loose = np.flatnonzero(~task.fixed)
        self._place = np.full(task.size, -1, dtype=np.int64)
        self._place[self._loose] = np.arange(len(self._loose))
        self._matrix = task.equations[:, self._loose].tocsr()
        self._columns = self._matrix.T.tocsr()
        self._up, self._down = task.up[self._loose], task.down[self._loose]
        none = np.zeros(len(self._loose))
        zero = np.zeros(self._matrix.shape[0])
        self._solver = solver.model(
            self._matrix, rows=(zero, zero), columns=(none, none), costs=none, primal=True
        )
        solver.aim(self._solver, none, most=True)
        self._limits = (none, none)

    def look_at(self, pattern: Floats | Mask) -> None:
        """Take a pattern: 1 for a hidden cell, 0 for a printed one, or something between."""
        # A solver's share of nothing may lie a little below 0, and then no table would be within the limits
        shares = np.asarray(pattern, dtype=np.float64)[self._loose].clip(min=0)
        self._limits = (-self._down * shares, self._up * shares)
        solver.limit(self._solver, *self._limits)

    def reach(self, wanted: Requirement) -> Reach:
        """Say whether the pattern meets a requirement."""
        knows = [int(self._place[cell]) for cell in wanted.known]
        for place in knows:
            self._solver.changeColBounds(place, 0.0, 0.0)
        found = self._ways(wanted)
        for place in knows:
            self._solver.changeColBounds(place, float(self._limits[0][place]), float(self._limits[1][place]))
        return found

    def _ways(self, wanted: Requirement) -> Reach:
        """Look upwards, downwards, or both where only the width counts."""
        moved, cut, width = np.zeros(self.task.size, dtype=bool), np.zeros(self.task.size), 0.0
        for sign in (1.0, -1.0) if wanted.side == 0 else (float(wanted.side),):
            change, multipliers = self._furthest(wanted, sign)
            width += sign * change[self._place[wanted.cell]]
            moved[self._loose[np.abs(change) > TOLERANCE]] = True
            cut[self._loose] += self._coefficients(wanted, sign, multipliers)
            if width >= wanted.level * (1 - TOLERANCE):
                return Reach(True, moved, None)
        return Reach(False, moved, np.minimum(cut, wanted.level))

    def _furthest(self, wanted: Requirement, sign: float) -> tuple[Floats, Floats]:
        """Return the table that is furthest away on one side, as far as the level, and the multipliers."""
        place = int(self._place[wanted.cell])
        low, high = float(self._limits[0][place]), float(self._limits[1][place])
        near = (low, min(high, wanted.level)) if sign > 0 else (max(low, -wanted.level), high)
        self._solver.changeColBounds(place, *near)
        self._solver.changeColCost(place, sign)
        if not solver.solve_again(self._solver):
            raise InputRefused("suppression.unsolved")
        change, multipliers = solver.values(self._solver), solver.multipliers(self._solver)
        self._solver.changeColCost(place, 0.0)
        self._solver.changeColBounds(place, low, high)
        return change, multipliers

    def _coefficients(self, wanted: Requirement, sign: float, multipliers: Floats) -> Floats:
        gap = -np.asarray(self._columns @ multipliers).ravel()
        gap[self._place[wanted.cell]] += sign
        gap[np.abs(gap) < TOLERANCE] = 0.0
        found = np.maximum(gap * self._up, -gap * self._down)
        found[self._place[list(wanted.known)]] = 0.0  # they do not move for who knows them
        return np.asarray(found, dtype=np.float64)
