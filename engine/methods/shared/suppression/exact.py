"""The cheapest sufficient pattern, or the best one in time with a bound below which none can lie."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import highspy
import numpy as np
from scipy import sparse

from engine.errors import InputRefused
from engine.methods.shared.suppression import solver
from engine.methods.shared.suppression.additive import Mask
from engine.methods.shared.suppression.pattern import Patterns
from engine.methods.shared.suppression.task import Floats, Requirement, Task

ROUNDS_WITHOUT_GAIN = 8
SLICE = 8.0  # seconds after which the search looks up, so that it can be stopped


@dataclass(frozen=True)
class Found:
    """A sufficient pattern.

    Parameters
    ----------
    hidden
        The cells that are not printed, shape (n,).
    cost
        Of the cells among them that are not primary.
    bound
        No sufficient pattern costs less.
    """

    hidden: Mask
    cost: float
    bound: float

    @property
    def gap(self) -> float:
        """How much of the cost could be too much, at most: 0 where the pattern is proven to be cheapest."""
        return 0.0 if self.cost <= 0 else max(0.0, 1 - self.bound / self.cost)


def suppress(
    task: Task, *, seconds: float, tell: Callable[[float], None] = lambda share: None, exact: bool = True
) -> Found:
    """Return a sufficient pattern: a quick one first, then the cheapest as far as the time allows.

    Parameters
    ----------
    task
        What must be hidden and what is asked of the pattern.
    seconds
        After which the search ends with the best pattern so far. The quick pattern is always finished.
    tell
        Called often with the share of the time that is gone; what it raises stops the work.
    exact
        False for the quick pattern alone.

    Raises
    ------
    InputRefused
        ``suppression.impossible``: hiding every cell that may be hidden is not enough.

    Notes
    -----
    M. Fischetti, J. J. Salazar-González (2001), section 4: the linear relaxation with cuts of the attacker's
    problem, then whole numbers, with new cuts wherever the pattern that was found is not sufficient.
    """
    search = _Search(task, time.monotonic(), seconds, tell)
    if not search.patterns.is_possible():
        raise InputRefused("suppression.impossible")
    search.begin()
    if exact:
        search.relax()
        search.settle()
    return search.found


class _Search:
    def __init__(self, task: Task, start: float, seconds: float, tell: Callable[[float], None]) -> None:
        self.task, self.start, self.seconds, self.tell = task, start, seconds, tell
        self.patterns = Patterns(task, self._tick)
        self.open = np.flatnonzero(~task.must & ~task.fixed)
        self.cuts: list[Floats] = []
        self.levels: list[float] = []
        self.keys: set[bytes] = set()
        self.bound = 0.0

    @property
    def until(self) -> float:
        return self.start + self.seconds

    @property
    def found(self) -> Found:
        cost = self.task.cost(self.best)
        return Found(self.best, cost, min(self.bound, cost))

    def _tick(self) -> None:
        self.tell(min(1.0, (time.monotonic() - self.start) / max(self.seconds, 1e-9)))

    def _late(self) -> bool:
        self._tick()
        return time.monotonic() >= self.until

    def _closed(self) -> bool:
        return self.bound >= self.task.cost(self.best) * (1 - 1e-9) - 1e-9

    def begin(self) -> None:
        """Find a first pattern; a third of the time goes into making it smaller."""
        until = self.start + self.seconds / 3
        self.best = self.patterns.sufficient(self.task.must, self.task.weights, until=until)

    def _take(self, hidden: Mask) -> bool:
        """Keep a pattern where it is cheaper and sufficient as it is; say whether it is sufficient."""
        if self.task.cost(hidden) >= self.task.cost(self.best):
            return False
        unmet = self.patterns.unmet(hidden, self.patterns.everything())
        self.patterns.wanted += [one for one in unmet if one not in self.patterns.wanted]
        if not unmet:
            self.best = hidden
        return not unmet

    def _better(self, start: Mask, costs: Floats) -> None:
        """Complete a pattern and keep it where it is cheaper."""
        other = self.patterns.sufficient(start, costs, until=self.until)
        if self.task.cost(other) < self.task.cost(self.best):
            self.best = other

    def relax(self) -> None:
        """Solve the relaxation with cuts: its least cost is a bound."""
        master = _Master(self.task, self.open)
        idle, shares = 0, self.task.must.astype(float)
        while idle < ROUNDS_WITHOUT_GAIN and not self._late() and not self._closed():
            if not self._separate(shares, self.patterns.wanted, master):
                break
            if not solver.solved(master.solver):
                raise InputRefused("suppression.unsolved")
            shares = master.shares()
            bound = solver.objective(master.solver)
            idle = 0 if bound > self.bound + 0.001 * max(1.0, self.task.cost(self.best)) else idle + 1
            self.bound = max(self.bound, bound)
        self._take(shares > 0.5)  # all shares are often whole in two dimensions
        for start in (shares > 1 - 1e-6, self.task.must):
            if not self._closed() and not self._late():
                self._better(start, self.task.weights * np.maximum(1 - shares, 0.01))

    def settle(self) -> None:
        """Require whole cells; where the pattern is not sufficient, cut it off and complete it."""
        while not self._late() and not self._closed():
            left = self.until - time.monotonic()
            shares, bound = _whole(self.task, self.open, self.cuts, self.levels, self.best, min(left, SLICE))
            self.bound = max(self.bound, bound)
            if shares is None:
                continue
            hidden = shares > 0.5
            among = self.patterns.wanted
            if not self._separate(hidden.astype(float), among, None):
                unmet = self.patterns.unmet(hidden, self.patterns.everything())
                self.patterns.wanted += [one for one in unmet if one not in self.patterns.wanted]
                if not unmet:
                    if self.task.cost(hidden) < self.task.cost(self.best):
                        self.best = hidden
                    continue
                self._separate(hidden.astype(float), unmet, None)
            self._better(hidden, self.task.weights)

    def _separate(self, shares: Floats, among: list[Requirement], master: _Master | None) -> int:
        """Add the cuts that a pattern breaks; return how many there were."""
        attacker, new = self.patterns.attacker, []
        attacker.look_at(shares)
        for one in among:
            self._tick()
            cut = attacker.reach(one).cut
            if cut is not None and cut @ shares < one.level - 1e-4 * one.level:
                row, level = cut[self.open], one.level - float(cut[self.task.must].sum())
                row = np.minimum(row, level)
                if level > 0 and (key := np.round(row / level, 6).tobytes()) not in self.keys:
                    self.keys.add(key)
                    new.append((row / level, 1.0))
        self.cuts += [row for row, _ in new]
        self.levels += [level for _, level in new]
        if master is not None and new:
            master.add([row for row, _ in new])
        return len(new)


class _Master:
    """The relaxation: shares of the cells that may be hidden, the cheapest that all cuts allow."""

    def __init__(self, task: Task, open_cells: np.ndarray) -> None:
        self.task, self.open = task, open_cells
        rows = _no_cell_alone(task, open_cells)
        count = len(open_cells)
        self.solver = solver.model(
            rows,
            rows=(_alone_levels(task, open_cells), np.full(rows.shape[0], np.inf)),
            columns=(np.zeros(count), np.ones(count)),
            costs=task.weights[open_cells],
        )

    def add(self, cuts: list[Floats]) -> None:
        block = sparse.csr_array(np.array(cuts))
        count = len(cuts)
        self.solver.addRows(
            count,
            np.ones(count),
            np.full(count, highspy.kHighsInf),
            block.nnz,
            block.indptr.astype(np.int32),
            block.indices.astype(np.int32),
            block.data,
        )

    def shares(self) -> Floats:
        found = self.task.must.astype(float)
        found[self.open] = np.clip(solver.values(self.solver), 0, 1)
        return found


def _no_cell_alone(task: Task, open_cells: np.ndarray) -> sparse.csr_array:
    """Rows: in every line a hidden cell needs another hidden one (bridgeless inequalities, section 4.2)."""
    return _bridgeless(task, open_cells)[0]


def _alone_levels(task: Task, open_cells: np.ndarray) -> Floats:
    return _bridgeless(task, open_cells)[1]


def _bridgeless(task: Task, open_cells: np.ndarray) -> tuple[sparse.csr_array, Floats]:
    place = np.full(task.size, -1, dtype=np.int64)
    place[open_cells] = np.arange(len(open_cells))
    must = task.must
    data: list[float] = []
    columns: list[int] = []
    starts, levels = [0], []
    table = task.equations.tocsr()
    for number in range(table.shape[0]):
        line = table.indices[table.indptr[number] : table.indptr[number + 1]]
        always = int(must[line].sum())
        near = place[line[place[line] >= 0]]
        if always >= 2 or (always == 1 and task.free[line].any()):
            continue  # a cell that is printed in no case needs no other
        if always == 1:
            columns += near.tolist()
            data += [1.0] * len(near)
            starts.append(len(data))
            levels.append(1.0)
            continue
        for cell in near:
            columns += near.tolist()
            data += [-1.0 if other == cell else 1.0 for other in near]
            starts.append(len(data))
            levels.append(0.0)
    shape = (len(levels), len(open_cells))
    rows = sparse.csr_array(
        (np.array(data), np.array(columns, dtype=np.int64), np.array(starts)), shape=shape
    )
    return rows, np.array(levels)


def _whole(
    task: Task, open_cells: np.ndarray, cuts: list[Floats], levels: list[float], best: Mask, seconds: float
) -> tuple[Floats | None, float]:
    """Return a cheapest choice of whole cells under the cuts, None where time ran out, and the bound."""
    rows, low = _bridgeless(task, open_cells)
    block = sparse.vstack([rows, sparse.csr_array(np.array(cuts))], format="csr") if cuts else rows
    low = np.concatenate([low, np.array(levels)])
    count = len(open_cells)
    master = solver.model(
        block,
        rows=(low, np.full(len(low), np.inf)),
        columns=(np.zeros(count), np.ones(count)),
        costs=task.weights[open_cells],
        whole=True,
    )
    master.setOptionValue("time_limit", seconds)
    master.setOptionValue("mip_rel_gap", 0.0)
    master.setOptionValue("objective_bound", task.cost(best) + 1e-6)
    master.run()
    bound = float(master.getInfo().mip_dual_bound)
    chosen = np.asarray(master.getSolution().col_value)
    if len(chosen) != count or not master.getInfo().primal_solution_status:
        return None, bound if np.isfinite(bound) else 0.0
    found = task.must.astype(float)
    found[open_cells] = chosen
    return found, bound
