"""The cheapest sufficient pattern, or the best one in time with a bound below which none can lie."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import highspy
import numpy as np
from scipy import sparse

from engine.errors import InputRefused
from engine.methods.shared.suppression import solver
from engine.methods.shared.suppression.additive import Integers, Mask
from engine.methods.shared.suppression.task import TOLERANCE, Floats, Requirement, Task

# --- how far an attacker's interval of a hidden cell reaches, and what would widen it -------------------


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
    changes
        Of all cells in the tables that were looked at, each within the pattern.
    """

    met: bool
    moved: Mask
    cut: Floats | None
    changes: tuple[Floats, ...]


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
        changes: list[Floats] = []
        for sign in (1.0, -1.0) if wanted.side == 0 else (float(wanted.side),):
            change, multipliers = self._furthest(wanted, sign)
            width += sign * change[self._place[wanted.cell]]
            moved[self._loose[np.abs(change) > TOLERANCE]] = True
            changes.append(np.zeros(self.task.size))
            changes[-1][self._loose] = change
            cut[self._loose] += self._coefficients(wanted, sign, multipliers)
            if width >= wanted.level * (1 - TOLERANCE):
                return Reach(True, moved, None, tuple(changes))
        return Reach(False, moved, np.minimum(cut, wanted.level), tuple(changes))

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


ROUNDS_WITHOUT_GAIN = 8
TURNS_WITHOUT_GAIN = 3
SLICE = 8.0  # seconds after which the search looks up, so that it can be stopped
FAR = 0.05  # gap above which patterns out of cuts are tried, and bounds need not be the last ones
NEARLY = 0.01
AT_ONCE = 1.0  # seconds
GOLDEN = (5**0.5 - 1) / 2  # its multiples spread costs evenly, another way each turn
MOST_ENTRIES = 20_000_000  # of the block of all cuts: 160 MB
TO_CUTS = 50  # of the cuts that shares break, so many are added at once


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
        if search.is_hard():
            search.improve()
        else:
            search.complete()
        search.settle()
    return search.found


class _Search:
    def __init__(self, task: Task, start: float, seconds: float, tell: Callable[[float], None]) -> None:
        self.task, self.start, self.seconds, self.tell = task, start, seconds, tell
        self.patterns = Patterns(task, self._tick)
        self.open = np.flatnonzero(~task.must & ~task.fixed)
        self.cuts = Cuts(task, self.open)
        self.bound = 0.0
        self.hard = False
        self.used: list[Floats] = []  # the cuts of the relaxation
        self.master = _Master(task, self.open)
        self.shares = task.must.astype(float)

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
        if self.patterns.unmet(hidden, self.patterns.wanted):
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
        idle = 0
        while idle < ROUNDS_WITHOUT_GAIN and not self._late() and not self._closed():
            new = self._broken(self.shares, self.patterns.wanted)
            if not new:
                break
            before = self.bound
            self._bind(new)
            idle = 0 if self.bound > before + 0.001 * max(1.0, self.task.cost(self.best)) else idle + 1
        self._take(self.shares > 0.5)  # all shares are often whole in two dimensions

    def is_hard(self) -> bool:
        """Say whether much may be saved and the cheapest whole cells under the cuts are not found at once."""
        if self.found.gap <= FAR or self._late():
            return False
        shares, bound = self._whole(AT_ONCE, near=0.0)
        self.bound = max(self.bound, bound)
        self.hard = shares is None or bound < self.task.cost(shares > 0.5) * (1 - 1e-6)
        return self.hard

    def complete(self) -> None:
        """Complete what the relaxation would hide."""
        for start in (self.shares > 1 - 1e-6, self.task.must):
            if not self._closed() and not self._late():
                self._better(start, self.task.weights * np.maximum(1 - self.shares, 0.01))

    def improve(self) -> None:
        """Make patterns out of cuts, where what was found may be far too dear; half of the time left."""
        until = time.monotonic() + (self.until - time.monotonic()) / 2
        chosen, turn, idle = np.zeros((0, len(self.open)), dtype=bool), 0, 0
        while idle < TURNS_WITHOUT_GAIN and self.found.gap > FAR and time.monotonic() < until:
            before = self.found
            start = np.zeros(len(self.open), dtype=bool)
            if turn % 3 == 2:  # the cheapest of what was chosen before
                among = chosen.any(axis=0) | (self.shares[self.open] > 0.02)
                start = self._cheapest(among, min(until - time.monotonic(), SLICE))
            spread = 1 + 0.4 * np.modf(np.arange(1, len(self.open) + 1) * (turn + 1) * GOLDEN)[0]
            made = self._out_of_cuts(start, spread, until)
            if made is None:
                return
            chosen, turn = np.concatenate([chosen[-5:], made[None]]), turn + 1
            while not self._late() and (broken := self._known(self.shares)):
                self._bind(broken)
            idle = 0 if self.found.gap < before.gap else idle + 1

    def settle(self) -> None:
        """Require whole cells; where the pattern is not sufficient, cut it off and complete it."""
        turn = 0
        while not self._late() and not self._closed():
            left = self.until - time.monotonic()
            near = NEARLY if self.hard and self.found.gap > FAR else 0.0
            shares, bound = self._whole(min(left, SLICE), near=near)
            self.bound = max(self.bound, bound)
            if shares is None:
                continue
            hidden = shares > 0.5
            new = self._known(shares) + self._broken(shares, self.patterns.wanted)
            if not new:
                unmet = self.patterns.unmet(hidden, self.patterns.everything())
                self.patterns.wanted += [one for one in unmet if one not in self.patterns.wanted]
                if not unmet:
                    if self.task.cost(hidden) < self.task.cost(self.best):
                        self.best = hidden
                    continue
                new = self._broken(shares, unmet)
            self.used += new
            if not self.hard:
                self._better(hidden, self.task.weights)
            elif turn % 4 == 0:
                self._out_of_cuts(hidden[self.open], np.ones(len(self.open)), self.until)
            turn += 1

    def _out_of_cuts(self, start: Mask, spread: Floats, until: float) -> Mask | None:
        """Choose cells that meet all cuts until none is broken any more; keep a cheaper pattern."""
        costs = self.task.weights[self.open] * np.maximum(1 - self.shares[self.open], 0.05) * spread
        chosen = start
        while time.monotonic() < until and len(self.cuts.rows) * len(self.open) < MOST_ENTRIES:
            self._tick()
            chosen = self.cuts.cover(chosen, costs)
            hidden = self.task.must.copy()
            hidden[self.open] = chosen
            if self._broken(hidden.astype(float), self.patterns.wanted):
                continue
            known = len(self.patterns.wanted)
            if self._take(hidden) or len(self.patterns.wanted) == known:
                return chosen
        return None

    def _broken(self, shares: Floats, among: list[Requirement]) -> list[Floats]:
        return self.cuts.separate(shares, among, self.patterns.attacker, self._tick)

    def _known(self, shares: Floats) -> list[Floats]:
        """Return the known cuts that a pattern breaks most."""
        short = 1.0 - self.cuts.block @ shares[self.open]
        most = np.argsort(-short, kind="stable")[:TO_CUTS]
        return [self.cuts.rows[row] for row in most[short[most] > 1e-4].tolist()]

    def _bind(self, new: list[Floats]) -> None:
        """Add cuts to the relaxation and solve it."""
        self.used += new
        self.master.add(new)
        if not solver.solve_again(self.master.solver):
            raise InputRefused("suppression.unsolved")
        self.shares = self.master.shares()
        self.bound = max(self.bound, solver.objective(self.master.solver))

    def _cheapest(self, among: Mask, seconds: float) -> Mask:
        """Return a cheap choice of some cells that meets all cuts; none where it was not found in time."""
        shares, _ = _whole(
            self.task, self.open, self.cuts.block, self.best, seconds, near=NEARLY, among=among
        )
        return np.zeros(len(among), dtype=bool) if shares is None else shares[self.open] > 0.5

    def _whole(self, seconds: float, *, near: float) -> tuple[Floats | None, float]:
        used = np.array(self.used).reshape(-1, len(self.open))
        return _whole(self.task, self.open, used, self.best, seconds, near=near)


class _Master:
    """The relaxation: shares of the cells that may be hidden, the cheapest that all cuts allow."""

    def __init__(self, task: Task, open_cells: np.ndarray) -> None:
        self.task, self.open = task, open_cells
        rows, levels = _bridgeless(task, open_cells)
        count = len(open_cells)
        self.solver = solver.model(
            rows,
            rows=(levels, np.full(rows.shape[0], np.inf)),
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
    task: Task,
    open_cells: np.ndarray,
    cuts: Floats,
    best: Mask,
    seconds: float,
    *,
    near: float = 0.0,
    among: Mask | None = None,
) -> tuple[Floats | None, float]:
    """Return a cheapest choice of whole cells under the cuts, None where time ran out, and the bound.

    ``near`` is how far from the cheapest it may be, ``among`` the only open cells that are hidden.
    """
    rows, low = _bridgeless(task, open_cells)
    block = sparse.vstack([rows, sparse.csr_array(cuts)], format="csr") if len(cuts) else rows
    low = np.concatenate([low, np.ones(len(cuts))])
    count = len(open_cells)
    most = np.ones(count) if among is None else among.astype(np.float64)
    master = solver.model(
        block,
        rows=(low, np.full(len(low), np.inf)),
        columns=(np.zeros(count), most),
        costs=task.weights[open_cells],
        whole=True,
    )
    master.setOptionValue("time_limit", max(0.0, seconds))
    master.setOptionValue("mip_rel_gap", near)
    master.setOptionValue("objective_bound", task.cost(best) + 1e-6)
    master.run()
    bound = float(master.getInfo().mip_dual_bound)
    chosen = np.asarray(master.getSolution().col_value)
    if len(chosen) != count or not master.getInfo().primal_solution_status:
        return None, bound if np.isfinite(bound) else 0.0
    found = task.must.astype(float)
    found[open_cells] = chosen
    return found, bound


# --- patterns from the cuts ------------------------------------------------------------------------------
# Every sufficient pattern meets every cut. So a pattern that meets all known cuts is tried, the cuts
# that it breaks are added, cells are added until it meets them too, and so on until it breaks none. In
# three dimensions this gives cheaper patterns than one way after another does, and the cuts raise the
# bound.


_MET = 1e-9


class Cuts:
    """Cuts c · x ≥ 1 over the cells that may be hidden, each once.

    Parameters
    ----------
    task
        What must be hidden and what is asked.
    open_cells
        The cells that may be hidden and need not be.
    """

    def __init__(self, task: Task, open_cells: Integers) -> None:
        self.task, self.open = task, open_cells
        self.rows: list[Floats] = []
        self._keys: set[bytes] = set()
        self._block = np.zeros((0, len(open_cells)))

    def separate(
        self, shares: Floats, among: list[Requirement], attacker: Attacker, tick: Callable[[], None]
    ) -> list[Floats]:
        """Add the cuts that a pattern breaks, and return them."""
        new = []
        attacker.look_at(shares)
        for one in among:
            tick()
            cut = attacker.reach(one).cut
            if cut is None or cut @ shares >= one.level * (1 - 1e-4):
                continue
            level = one.level - float(cut[self.task.must].sum())
            if level <= 0:
                continue
            row = np.minimum(cut[self.open], level) / level
            if (key := np.round(row, 6).tobytes()) not in self._keys:
                self._keys.add(key)
                new.append(row)
        self.rows += new
        return new

    @property
    def block(self) -> Floats:
        """All cuts, shape (cuts, open cells)."""
        known = len(self._block)
        if known < len(self.rows):
            self._block = np.concatenate([self._block, np.array(self.rows[known:])])
        return self._block

    def cover(self, start: Mask, costs: Floats) -> Mask:
        """Return open cells that meet all cuts, by most of what is missing for the cost; none is superfluous.

        Parameters
        ----------
        start
            Hidden to begin with, shape (open cells,).
        costs
            Of every open cell, above 0.
        """
        block, chosen = self.block, start.copy()
        missing = 1.0 - block @ chosen
        while (short := np.flatnonzero(missing > _MET)).size:
            gains = np.minimum(block[short], missing[short][:, None]).sum(axis=0)
            gains[chosen] = 0.0
            best = int((gains / costs).argmax())
            if not gains[best] > 0:
                return np.ones_like(chosen)
            chosen[best] = True
            missing -= block[:, best]
        weights = self.task.weights[self.open]
        for cell in sorted(np.flatnonzero(chosen).tolist(), key=lambda cell: -weights[cell]):
            if (missing + block[:, cell] <= _MET).all():
                chosen[cell] = False
                missing += block[:, cell]
        return chosen


# --- a first pattern, quickly ----------------------------------------------------------------------------
# Cells are hidden until it is sufficient, then printed again if possible.


Tick = Callable[[], None]


class Witnesses:
    """Changes that a pattern allows: one that was found for a cell moves others, and shows theirs as well.

    Notes
    -----
    Without them a table of 2,000 cells of which nearly all are hidden asked the solver 345,000 times.
    """

    def __init__(self, size: int) -> None:
        self._changes = np.zeros((size, min(64, _most_changes(size))))
        self._count = 0

    def add(self, changes: Iterable[Floats]) -> None:
        """Take changes in, as long as there is room."""
        for change in changes:
            size, room = self._changes.shape
            if self._count == _most_changes(size):
                return
            if self._count == room:
                more = np.zeros((size, min(2 * room, _most_changes(size))))
                more[:, :room] = self._changes
                self._changes = more
            self._changes[:, self._count] = change
            self._count += 1

    def meet(self, wanted: Requirement) -> bool:
        """Say whether one of them alone meets a requirement: far enough, and nothing moves that is known."""
        own = self._changes[wanted.cell, : self._count]
        ways = np.abs(own) if wanted.side == 0 else own * wanted.side
        far = np.flatnonzero(ways >= wanted.level * (1 - TOLERANCE))
        known = self._changes[np.ix_(np.array(wanted.known, dtype=np.int64), far)]
        return bool((np.abs(known) <= TOLERANCE).all(axis=0).any())


def _most_changes(size: int) -> int:
    return max(1, MOST_ENTRIES // size)


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
        return next(self._unmet(~self.task.fixed, self.everything()), None) is None

    def everything(self) -> list[Requirement]:
        """Return all requirements, those against contributors who are alone included."""
        return [*self.task.requirements, *self.task.pairs()]

    def unmet(self, hidden: Mask, among: list[Requirement]) -> list[Requirement]:
        """Return the requirements that a pattern does not meet, each looked at once."""
        return list(self._unmet(hidden, among))

    def _unmet(self, hidden: Mask, among: list[Requirement]) -> Iterator[Requirement]:
        self.attacker.look_at(hidden)
        witnesses, up, down = Witnesses(self.task.size), self.task.up, self.task.down
        shown: dict[int, list[Mask]] = {}  # by cell, changes that move it as far as contributors must not see
        for one in among:
            known = list(one.known)
            if known and any(not moved[known].any() for moved in shown.get(one.cell, ())):
                continue  # what they know does not change there
            if witnesses.meet(one):
                continue
            self.tick()
            change = self._change(one, np.ones(self.task.size), hidden)
            if change is not None and -down[one.cell] <= change[one.cell] <= up[one.cell]:
                witnesses.add([change])
                continue
            reach = self.attacker.reach(one)
            if not reach.met:
                yield one
            elif one.level >= self.task.against_alone[one.cell]:
                shown.setdefault(one.cell, []).append(reach.moved)

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
        witnesses = Witnesses(task.size)  # what a pattern allows, one that hides more allows too
        for one in sorted(among, key=lambda one: -one.level):
            if witnesses.meet(one):
                continue
            self.tick()
            reach = self.attacker.reach(one)
            witnesses.add(reach.changes)
            if reach.met:
                continue
            moved = self._way(one, np.where(hidden, 0.0, costs))
            if moved is None:
                hidden |= ~task.fixed
            else:
                hidden |= moved
            self.attacker.look_at(hidden)

    def _way(self, wanted: Requirement, costs: Floats, within: Mask | None = None) -> Mask | None:
        """Return the cells of the cheapest change that meets a requirement; None where there is none."""
        change = self._change(wanted, costs, within)
        return None if change is None else np.abs(change) > TOLERANCE

    def _change(self, wanted: Requirement, costs: Floats, within: Mask | None = None) -> Floats | None:
        """Return the cheapest change that meets a requirement; None where no change alone does.

        ``within`` are the only cells that may change. The cell itself moves as far as is wanted, even where
        everybody knows that it cannot.
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
            if solver.solve_again(self._cheapest):
                values = solver.values(self._cheapest)
                change = np.zeros(self.task.size)
                change[self._loose] = values[: len(self._loose)] - values[len(self._loose) :]
                return change
        return None

    def shrink(self, hidden: Mask, *, until: float) -> None:
        """Print cells again, in place, the dearest first, while all requirements looked for stay met.

        What shows that a requirement is met is the change that moves the dear cells least, so that most of
        them can be printed again without another look.
        """
        task = self.task
        shows: list[Mask] = []
        for one in self.wanted:
            self.tick()
            moved = None if time.monotonic() > until else self._shown(one, hidden)
            if moved is None:
                return
            shows.append(moved)
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
