"""The exact search for the coarseness of whole columns: of all that holds, what loses least.

The combinations form a lattice. Every one that is looked at closes others: what fails closes all finer ones
where the condition says so, what holds closes all that cannot lose less. Nothing open is a proof.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from engine.methods.datasets.conditions import Condition, cells_of
from engine.methods.datasets.losses import ColumnLoss, GroupLoss, Loss, loss_of
from engine.methods.datasets.population import Population
from engine.methods.datasets.recoding import Codes, Ladder, Members, combinations, group_numbers
from engine.methods.datasets.rollup import Rollup, Steps, starts
from engine.methods.datasets.row_sets import RowSets, SetRollup
from engine.progress import SILENT, Progress

MIDDLE = 0.6  # of the open combinations, from fine to coarse: measured, .5 and .7 take as many
SWEEP_AFTER = 0.25  # share of combinations looked at, from which on taking them in order is cheaper
SECONDS_BETWEEN = 0.25  # or so long: of a million rows each takes a while, and Stop waits for it
STEPS_BETWEEN = 16  # combinations between two words on progress: what is left is counted in the lattice


@dataclass(frozen=True)
class Found:
    """The best combination of steps.

    Parameters
    ----------
    steps
        One per column, 0 for the values as they are.
    loss
        What is lost, people left out included.
    left_out
        People in groups that do not hold.
    tried
        How many combinations were looked at, of ``possible``.
    least
        No combination loses less than this: the loss itself where the search came to its end.
    """

    steps: Steps
    loss: float
    left_out: int
    tried: int
    possible: int
    least: float


@dataclass(frozen=True)
class Looked:
    """What one combination of steps gives.

    Parameters
    ----------
    kept
        For every group, whether it holds, in the order of `Rollup.cells`.
    left_out
        People without a group that holds.
    holds
        Whether somebody stays and no more are left out than allowed.
    closes_finer
        Whether no finer combination can hold.
    loss, bound
        Its loss, infinite where it does not hold, and what every coarser combination loses at least.
    """

    kept: npt.NDArray[np.bool_]
    left_out: int
    holds: bool
    closes_finer: bool
    loss: float
    bound: float


class Lattice:
    """All combinations of steps over one table.

    Parameters
    ----------
    codes
        Shape (combinations of values, columns): places in `Ladder.values`.
    members
        Who has which of them.
    ladders
        One per column.
    k
        Least size of a group, in people.
    most_left_out
        How many people may be left out.
    loss
        What is to be least.
    conditions
        What every group has to fulfil beside its size.
    target
        Of what the groups are to say something, where that is the loss: its demands are not asked.
    population
        Whom the groups are compared with, and what has to hold then.
    most_average_risk
        Largest mean chance of finding a person of the released table: its groups / its people.
    """

    def __init__(
        self,
        codes: Codes,
        members: Members,
        ladders: Sequence[Ladder],
        *,
        k: int,
        most_left_out: int = 0,
        loss: Loss = Loss.CERTAINTY,
        conditions: Sequence[Condition] = (),
        target: Condition | None = None,
        population: Population | None = None,
        most_average_risk: Fraction = Fraction(1),
    ) -> None:
        self.most_average_risk, self.population = most_average_risk, population
        self._asks_average = most_average_risk < 1
        self.members, self.ladders, self.k = members, tuple(ladders), k
        self.most_left_out, self.conditions = most_left_out, tuple(conditions)
        self.codes = codes
        rows = np.bincount(members.combination, minlength=len(codes)).astype(np.int64)
        self.of_combination = rows
        self.loss = loss_of(loss, ladders, codes, rows if target is None else target.rows)
        self.bounds = self.loss.bounds() if isinstance(self.loss, ColumnLoss) else np.zeros(self.shape)
        self.sets = RowSets(codes, members, ladders) if members.sets else None
        self.rows = self.people = self._rollup(np.arange(len(codes)), count=rows)
        if not members.each_once:
            self.people = self._rollup(
                members.combination, further=members.person, values=members.people, people=True
            )
        self.spreads = [self._spread(one) for one in self.conditions]
        self.target = None if target is None or loss is not Loss.TARGET else self._spread(target)

    def _spread(self, one: Condition) -> Rollup | SetRollup:
        return self._rollup(one.combination, further=one.value, values=len(one.overall), count=one.count)

    def _rollup(
        self,
        combination: Codes,
        *,
        further: Codes | None = None,
        values: int = 1,
        count: Codes | None = None,
        people: bool = False,
    ) -> Rollup | SetRollup:
        if self.sets is not None:
            return SetRollup(
                self.sets, combination, further=further, values=values, count=count, people=people
            )
        codes = self.codes[combination]
        return Rollup(codes, self.ladders, further=further, values=values, count=count, distinct=people)

    @property
    def inferred(self) -> bool:
        """Whether all finer combinations fail where one fails.

        Some conditions hold for two groups together where they hold for both, but not where they hold for one
        of them: then all rows must be in groups that hold, not only one row of every person.
        """
        people = self.population
        whole = self.members.each_once or self.sets is not None
        if not self.most_left_out and whole and (people is None or people.adds_up):
            return True
        return (
            (people is None or people.monotone)
            and self.most_average_risk >= 1
            and all(one.monotone for one in self.conditions)
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """How many steps each column has."""
        return tuple(len(ladder.groups) for ladder in self.ladders)

    def look(self, steps: Steps) -> Looked:
        """Say what a combination of steps gives."""
        sizes = self.people.sizes(steps)
        large = kept = sizes >= self.k
        for condition, spread in zip(self.conditions, self.spreads, strict=True):
            if kept.any():
                kept = kept & condition.holds(spread.cells(steps))
        if self.sets is not None and kept is not large:
            kept = self.sets.parted(steps).whole(kept)  # nobody leaves with some of their rows
        risky = False
        if self.population is not None and kept.any():
            theirs = self.population.sizes(steps)
            kept = kept & self.population.holds(sizes, theirs)
            risky = self.population.too_risky(sizes[kept], theirs[kept])
        left_out = self.left_out(steps, kept, sizes)
        if self._asks_average:
            alike = sizes[kept] if self.sets is None else self.sets.parted(steps).of_kept(kept)
            risky = risky or len(alike) > self.most_average_risk * int(alike.sum())
        holds = bool(kept.any()) and left_out <= self.most_left_out and not risky
        small = left_out if kept is large else self.left_out(steps, large, sizes)
        closes = not holds and (self.inferred or small > self.most_left_out or not large.any())
        if not holds and not closes and self.members.each_once:
            closes = any(
                condition.rules_out_finer(spread.cells(steps), self.most_left_out)
                for condition, spread in zip(self.conditions, self.spreads, strict=True)
            )
        rows = sizes if self.rows is self.people else self.rows.sizes(steps)
        return Looked(kept, left_out, holds, closes, *self._losses(steps, kept if holds else None, rows))

    def alone(self, steps: Steps) -> int:
        """Return how many people stand alone: with one row at least, or with their set where these count."""
        if self.sets is None:
            return self.people_in(steps, self.people.sizes(steps) == 1)
        return int((self.sets.parted(steps).people == 1).sum())

    def people_in(self, steps: Steps, groups: npt.NDArray[np.bool_]) -> int:
        """Return how many people have a row in some of the groups."""
        if self.members.each_once:
            return int(self.people.sizes(steps)[groups].sum())
        cells = self.people.cells(steps)
        found = cells.further[groups[cells.group]]
        return int(np.count_nonzero(np.bincount(found, minlength=self.members.people)))

    def lost(self, steps: Steps, looked: Looked) -> float:
        """Return the loss of a combination, also of one that does not hold."""
        if looked.holds:
            return looked.loss
        return self._losses(steps, looked.kept, self.rows.sizes(steps))[0]

    def groups(self, steps: Steps) -> Codes:
        """Return the group of every combination of values on some steps, -1 where it does not hold."""
        own = None if self.sets is None else self.sets.parted(steps)
        number = group_numbers(self.codes, self.ladders, steps) if own is None else own.group
        sizes = self.members.sizes(number)
        holds = sizes >= self.k
        if self.population is not None:
            holds &= self.population.holds(sizes, self.population.sizes_of(number, steps))
        for condition in self.conditions:
            holds &= condition.holds(cells_of(number, condition))
        if own is not None:
            holds = own.whole(holds)
        return np.asarray(np.where(holds, np.cumsum(holds) - 1, -1)[number], dtype=np.int64)

    def _losses(self, steps: Steps, kept: npt.NDArray[np.bool_] | None, sizes: Codes) -> tuple[float, float]:
        """Return the loss, infinite where the steps do not hold, and the bound."""
        if self.target is not None:
            cells = self.target.cells(steps)
            rows = cells.sizes()
            sizes = np.array([rows, rows - np.maximum.reduceat(cells.count, starts(cells.group))])
        if not isinstance(self.loss, ColumnLoss):
            return np.inf if kept is None else self.loss.charged(sizes, kept), self.loss.bound(sizes)
        bound = float(self.bounds[steps])
        if kept is None:
            return np.inf, bound
        if kept.all():
            return bound, bound
        digits = self.rows.digits(steps, ~kept)
        return bound + self.loss.charged(steps, digits, sizes[~kept]), bound

    def left_out(self, steps: Steps, kept: npt.NDArray[np.bool_], sizes: Codes) -> int:
        """Return how many people have no group that stays, given which do and their sizes."""
        if kept.all():
            return 0
        if self.members.each_once:
            return int(sizes[~kept].sum())
        return self.members.people - self.people_in(steps, kept)


def search(lattice: Lattice, *, seconds: float | None = None, progress: Progress = SILENT) -> Found | None:
    """Find the combination of steps with the least loss among those that hold.

    Parameters
    ----------
    lattice
        The table, its ladders and what has to hold.
    seconds
        End after so long with the best one so far; `Found.least` then says what is proven.

    Returns
    -------
    Found or None
        None where no combination holds.

    Notes
    -----
    Of the open combinations the one with the largest bound below the best loss is looked at next: what fails
    there closes most. For losses of group sizes, whose bounds are learnt on the way, the middle one is taken.
    A condition that is not monotone where people may be left out closes nothing but by the sizes of groups.

    Examples
    --------
    >>> from engine.table.hierarchies import Hierarchy
    >>> age = Ladder.of(["41", "43", "57"], Hierarchy(bands=(10,)))
    >>> members = Members(np.array([0, 1, 2, 2]), np.arange(4))
    >>> search(Lattice(np.array([[0], [1], [2]]), members, [age], k=2)).steps
    (1,)
    """
    possible = combinations(lattice.ladders)
    walk = _Walk(lattice, lattice.bounds.copy())
    said = time.monotonic()
    last = None if seconds is None else said + seconds
    walk.down_from_the_top()
    while (steps := walk.next()) is not None:
        if not walk.tried % STEPS_BETWEEN or time.monotonic() > said + SECONDS_BETWEEN:
            said = time.monotonic()
            progress.step(1 - walk.left / possible, "datasets.search")
        if last is not None and time.monotonic() > last:
            break
        walk.look(steps)
    if walk.best is None:
        return None
    return replace(walk.best, tried=walk.tried, possible=possible, least=walk.least())


class _Walk:
    """What is known while the search is under way."""

    def __init__(self, lattice: Lattice, bounds: npt.NDArray[np.float64]) -> None:
        self.lattice, self.bounds = lattice, bounds
        self.closed = np.zeros(bounds.shape, dtype=bool)
        self.tried = 0
        self.best: Found | None = None
        self.known: dict[Steps, Looked] = {}
        self._order = None if isinstance(lattice.loss, ColumnLoss) else self._by_estimate(lattice.loss)

    @property
    def left(self) -> int:
        """How many combinations are open."""
        return int((~self.closed).sum())

    def least(self) -> float:
        """Return what every combination loses at least."""
        assert self.best is not None
        return min(self.best.loss, float(self.bounds[~self.closed].min(initial=np.inf)))

    def look(self, steps: Steps) -> Looked:
        """Look at a combination and close what it decides."""
        if steps in self.known:
            return self.known[steps]
        self.tried += 1
        found = self.known[steps] = self.lattice.look(steps)
        self.closed[steps] = True
        if found.closes_finer:
            self.closed[tuple(slice(0, step + 1) for step in steps)] = True
        if self._order is not None:
            coarser = tuple(slice(step, None) for step in steps)
            np.maximum(self.bounds[coarser], found.bound, out=self.bounds[coarser])
        if found.holds and (self.best is None or (found.loss, steps) < (self.best.loss, self.best.steps)):
            self.best = Found(steps, found.loss, found.left_out, 0, 0, 0.0)
        if self.best is not None:
            self.closed |= self.bounds >= self.best.loss
        return found

    def down_from_the_top(self) -> None:
        """Walk to finer combinations along the cheapest step that holds, for a first bound from above."""
        steps = tuple(size - 1 for size in self.lattice.shape)
        found = self.look(steps)
        while found.holds:
            finer = [
                (*steps[:place], step - 1, *steps[place + 1 :]) for place, step in enumerate(steps) if step
            ]
            looked = sorted(((self.look(one), one) for one in finer), key=lambda pair: pair[0].loss)
            better = [pair for pair in looked if pair[0].holds]
            if not better:
                return
            found, steps = better[0]

    def next(self) -> Steps | None:
        """Return the next combination to look at, None when nothing is open."""
        if self._order is None:
            place = int(np.where(self.closed, -np.inf, self.bounds).argmax())
            return None if self.closed.flat[place] else self._steps(place)
        still = self._order[~self.closed.reshape(-1)[self._order]]
        if not len(still):
            return None
        if self.tried > SWEEP_AFTER * self.closed.size:
            return self._steps(int(still.min()))
        return self._steps(int(still[int(len(still) * MIDDLE)]))

    def _steps(self, place: int) -> Steps:
        return tuple(int(step) for step in np.unravel_index(place, self.closed.shape))

    def _by_estimate(self, loss: GroupLoss) -> npt.NDArray[np.intp]:
        """Order combinations from fine to coarse, as if columns had nothing to do with each other."""
        rows, estimate = self.lattice.of_combination, np.zeros(())
        for place, ladder in enumerate(self.lattice.ladders):
            of_value = np.bincount(self.lattice.codes[:, place], rows, ladder.groups.shape[1]) / rows.sum()
            cuts = [loss.cut(np.bincount(groups, of_value).astype(np.float64)) for groups in ladder.groups]
            estimate = np.asarray(estimate[..., None] + np.array(cuts))
        return np.argsort(-estimate.reshape(-1), kind="stable")
