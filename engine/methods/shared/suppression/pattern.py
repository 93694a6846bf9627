"""A pattern that is sufficient, quickly: cells are hidden until it is, then printed again if possible."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy import sparse

from engine.methods.shared.suppression import solver
from engine.methods.shared.suppression.additive import Mask
from engine.methods.shared.suppression.attacker import Attacker
from engine.methods.shared.suppression.task import TOLERANCE, Floats, Requirement, Task

Tick = Callable[[], None]


class Patterns:
    """Finds sufficient patterns of one task and makes them smaller.

    Notes
    -----
    The heuristic of J. P. Kelly, B. L. Golden and A. A. Assad, "Cell suppression: disclosure protection for
    sensitive tabular data", Networks 22 (1992): for every primary cell and side the cheapest change of cells
    that moves it as far as it has to be moved; the cells that change are hidden and cost nothing afterwards.
    Then, the dearest first, each cell is printed again if all requirements are still met. A requirement is
    looked at again only where the tables that showed it change the cell.
    """

    def __init__(self, task: Task, tick: Tick = lambda: None) -> None:
        self.task, self.tick = task, tick
        self.attacker = Attacker(task)
        self.wanted: list[Requirement] = list(task.requirements)
        self._loose = np.flatnonzero(~task.fixed)
        self._place = np.full(task.size, -1, dtype=np.int64)
        self._place[self._loose] = np.arange(len(self._loose))
        part = task.equations[:, self._loose]
        zero = np.zeros(part.shape[0])
        none = np.zeros(2 * len(self._loose))
        both = sparse.hstack([part, -part], format="csr")  # rises, then falls
        self._cheapest = solver.model(both, rows=(zero, zero), columns=(none, none), costs=none, primal=True)
        solver.aim(self._cheapest, none, most=False)

    def is_possible(self) -> bool:
        """Say whether hiding all that may be hidden is sufficient."""
        return not self.unmet(~self.task.fixed, self.everything())

    def everything(self) -> list[Requirement]:
        """Return all requirements, those against contributors who are alone included."""
        return [*self.task.requirements, *self.task.pairs()]

    def unmet(self, hidden: Mask, among: list[Requirement]) -> list[Requirement]:
        """Return the requirements that a pattern does not meet, each looked at once."""
        self.attacker.look_at(hidden)
        shown: dict[int, list[Mask]] = {}  # by cell, changes that move it as far as contributors must not see
        found = []
        for one in among:
            known = list(one.known)
            if known and any(not moved[known].any() for moved in shown.get(one.cell, ())):
                continue  # what they know does not change there
            self.tick()
            reach = self.attacker.reach(one)
            if not reach.met:
                found.append(one)
            elif one.level >= self.task.against_alone[one.cell]:
                shown.setdefault(one.cell, []).append(reach.moved)
        return found

    def sufficient(self, start: Mask, costs: Floats, *, until: float) -> Mask:
        """Return a sufficient pattern that hides at least the cells of ``start``, made smaller in time.

        Parameters
        ----------
        start
            Hidden to begin with; the cells that must be hidden are added.
        costs
            What each cell costs here, shape (n,).
        until
            On the clock of `time.monotonic`; making it smaller stops there.
        """
        hidden = start | self.task.must
        self._meet(hidden, costs, self.wanted)
        while True:
            self.shrink(hidden, until=until)
            unmet = self.unmet(hidden, self.everything())
            if not unmet:
                return hidden
            self.wanted += [one for one in unmet if one not in self.wanted]
            self._meet(hidden, costs, unmet)

    def _meet(self, hidden: Mask, costs: Floats, among: list[Requirement]) -> None:
        """Hide more cells, in place, until each of these requirements is met."""
        task = self.task
        self.attacker.look_at(hidden)
        for one in sorted(among, key=lambda one: -one.level):
            self.tick()
            if self.attacker.reach(one).met:
                continue
            moved = self._way(one, np.where(hidden, 0.0, costs))
            if moved is None:
                hidden |= ~task.fixed
            else:
                hidden |= moved
            self.attacker.look_at(hidden)

    def _way(self, wanted: Requirement, costs: Floats, within: Mask | None = None) -> Mask | None:
        """Return the cells of the cheapest change that meets a requirement; None where there is none.

        ``within`` are the only cells that may change.
        """
        may = 1.0 if within is None else within[self._loose].astype(float)
        for sign in (1, -1) if wanted.side == 0 else (wanted.side,):
            up, down = self.task.up[self._loose] * may, self.task.down[self._loose] * may
            place = int(self._place[wanted.cell])
            low = np.zeros(2 * len(self._loose))
            known = self._place[list(wanted.known)]
            up[known] = down[known] = 0.0
            up[place], down[place] = (wanted.level, 0.0) if sign > 0 else (0.0, wanted.level)
            low[place if sign > 0 else place + len(self._loose)] = wanted.level
            own = np.tile(costs[self._loose], 2)
            solver.limit(self._cheapest, low, np.concatenate([up, down]))
            solver.aim(self._cheapest, own, most=False)
            if solver.solved(self._cheapest):
                change = solver.values(self._cheapest)
                moved = np.zeros(self.task.size, dtype=bool)
                rise, fall = change[: len(self._loose)], change[len(self._loose) :]
                moved[self._loose[np.abs(rise - fall) > TOLERANCE]] = True
                return moved
        return None

    def shrink(self, hidden: Mask, *, until: float) -> None:
        """Print cells again, in place, the dearest first, while all requirements looked for stay met.

        What shows that a requirement is met is the change that moves the dear cells least, so that most of
        them can be printed again without another look.
        """
        task = self.task
        shows = [self._shown(one, hidden) for one in self.wanted]
        if any(moved is None for moved in shows):
            return
        witnesses = np.array(shows)
        candidates = np.flatnonzero(hidden & ~task.must)
        for cell in candidates[np.argsort(-task.weights[candidates], kind="stable")].tolist():
            if time.monotonic() > until:
                return
            self.tick()
            hidden[cell] = False
            fresh = {}
            for number in np.flatnonzero(witnesses[:, cell]).tolist():
                moved = self._shown(self.wanted[number], hidden)
                if moved is None:
                    hidden[cell] = True
                    break
                fresh[number] = moved
            else:
                for number, moved in fresh.items():
                    witnesses[number] = moved

    def _shown(self, wanted: Requirement, hidden: Mask) -> Mask | None:
        """Return the cells of a cheap change within a pattern that meets a requirement, None without one."""
        moved = self._way(wanted, self.task.weights, within=hidden)
        if moved is None and wanted.side == 0:  # both ways together may be wide enough
            self.attacker.look_at(hidden)
            reach = self.attacker.reach(wanted)
            return reach.moved if reach.met else None
        return moved
