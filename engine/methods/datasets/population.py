"""The people of a population that groups are compared with: those somebody could be looking for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from engine import arrays
from engine.errors import InputRefused
from engine.methods.datasets.grouping import Grouping, Written
from engine.methods.datasets.recoding import Codes, Ladder, Members, group_numbers
from engine.methods.datasets.rollup import Rollup, Steps
from engine.methods.shared.rows import hierarchy_of

Floats = arrays.Floats
Holds = arrays.Bools


@dataclass(frozen=True)
class Asked:
    """What has to hold of every group and of all together, against the population.

    Parameters
    ----------
    most_presence
        δ: largest share of the people of the population who read like a group and are in the table (Nergiz,
        Atzori, Clifton 2007, definition 3, its upper end).
    least
        Fewest people of the population who read like a group (Sweeney 2002, k-map).
    most_average
        Largest mean chance of finding a released person in the population: the mean of 1 / such people
        (Dankar and El Emam 2010, marketer risk).
    """

    most_presence: Fraction = Fraction(1)
    least: int = 1
    most_average: Fraction = Fraction(1)


class Population:
    """How many people of the population read like each group of a table.

    Parameters
    ----------
    codes
        Shape (combinations, columns) of the table: places in `Ladder.values`.
    theirs
        The same of the population.
    members
        Who of the population has which combination of ``theirs``.
    ladders
        One per column, with the values of both.
    asked
        What has to hold.
    """

    def __init__(
        self, codes: Codes, theirs: Codes, members: Members, ladders: Sequence[Ladder], asked: Asked
    ) -> None:
        self.codes, self.theirs, self.members, self.ladders = codes, theirs, members, tuple(ladders)
        self.asked = asked
        self._own = Rollup(codes, ladders)
        self._all = Rollup(
            theirs[members.combination],
            ladders,
            further=None if members.each_once else members.person,
            values=1 if members.each_once else members.people,
            distinct=not members.each_once,
        )

    @property
    def monotone(self) -> bool:
        """Whether merging two groups, one of which holds, gives one that holds."""
        return self.asked.most_presence >= 1 and self.asked.most_average >= 1

    @property
    def adds_up(self) -> bool:
        """Whether groups hold together where all of them hold: not where somebody of it has several rows."""
        return self.monotone or self.members.each_once

    def sizes(self, steps: Steps) -> Codes:
        """Return the number of people of the population for every group, in the order of a `Rollup`."""
        sizes = self._all.sizes(steps)
        own, theirs = self._own.keys(steps), self._all.keys(steps)
        if own is None or theirs is None:
            return self._matched(steps, sizes)
        if not len(theirs):
            return np.zeros(len(own), dtype=np.int64)
        place = np.minimum(np.searchsorted(theirs, own), len(theirs) - 1)
        return np.where(theirs[place] == own, sizes[place], 0)

    def sizes_of(self, number: Codes, steps: Steps) -> Codes:
        """Return the same for the groups of `group_numbers`, given the number of each combination."""
        together = group_numbers(np.concatenate([self.codes, self.theirs]), self.ladders, steps)
        sizes = self.members.sizes(together[len(self.codes) :])
        found = np.zeros(int(together.max(initial=-1)) + 1, dtype=np.int64)
        found[: len(sizes)] = sizes
        of_group = np.zeros(int(number.max(initial=-1)) + 1, dtype=np.int64)
        of_group[number] = found[together[: len(self.codes)]]
        return of_group

    def holds(self, people: Codes, theirs: Codes) -> Holds:
        """Say of every group whether it holds, given its people in the table and in the population."""
        most = self.asked.most_presence
        few = people * most.denominator > theirs * most.numerator
        return ~few & (theirs >= self.asked.least) & (theirs > 0)

    def too_risky(self, people: Codes, theirs: Codes) -> bool:
        """Say whether the groups that stay are found too often on average."""
        if self.asked.most_average >= 1:
            return False
        return average_risk(people, theirs) > float(self.asked.most_average) * (1 + 1e-12)

    def _matched(self, steps: Steps, sizes: Codes) -> Codes:
        """Match groups whose numbers do not fit into 62 bits, column by column."""
        digits = []
        for rollup in (self._own, self._all):
            cells = rollup.cells(steps)
            digits.append(cells.digits)
        _, number = np.unique(np.concatenate(digits, axis=1), axis=1, return_inverse=True)
        number = number.reshape(-1)
        found = np.zeros(int(number.max()) + 1, dtype=np.int64)
        found[number[digits[0].shape[1] :]] = sizes
        return found[number[: digits[0].shape[1]]]


def average_risk(people: Codes, theirs: Codes) -> float:
    """Return the mean over people of 1 / people of the population who read alike.

    Examples
    --------
    >>> average_risk(np.array([2, 3]), np.array([4, 30]))
    0.12
    """
    total = int(people.sum())
    risk: Floats = people / np.maximum(1, theirs)
    return float(risk.sum()) / total if total else 0.0


@dataclass(frozen=True, eq=False)
class AgainstPopulation:
    """A population beside a table, so that what leaves can be compared with it once more.

    Parameters
    ----------
    people
        What the search asks.
    cells
        The identifying columns of the population's rows, as text.
    person
        The number of the person of every row of it.
    """

    people: Population
    cells: Mapping[str, Sequence[str]]
    person: Codes

    def figures(self, sizes: Codes, kept: Holds, steps: Steps) -> dict[str, float]:
        """Return what holds in the table that was made, for inside, given its groups in order."""
        sizes, theirs = sizes[kept], self.people.sizes(steps)[kept]
        return {
            "population_people": self.people.members.people,
            "population_least": int(theirs.min()),
            "population_presence": round(float((sizes / theirs).max()), 6),
            "population_average": round(average_risk(sizes, theirs), 6),
        }

    def refuse_broken(
        self, grouping: Grouping, read: Written, alike: Codes, steps: Codes, *, method: str
    ) -> None:
        """Refuse a release that does not hold, counted by what both tables read on the steps of the columns.

        Raises
        ------
        InputRefused
            ``run.promise_differs``.
        """
        kept = alike >= 0
        names = [column.name for column in grouping.identifying]
        texts = {
            column.name: hierarchy_of(column).at(self.cells[column.name], int(step))
            for column, step in zip(grouping.identifying, steps, strict=True)
        }
        everybody = pd.DataFrame(texts).assign(person=self.person).drop_duplicates()
        counted = everybody.groupby(names, sort=False).size().rename("theirs").reset_index()
        groups = pd.DataFrame({name: read[name][kept] for name in names}).assign(group=alike[kept])
        groups = groups.drop_duplicates("group").merge(counted, on=names, how="left").sort_values("group")
        theirs = groups["theirs"].fillna(0).to_numpy(dtype=np.int64)
        last = int(alike.max()) + 1
        people = grouping.members.sizes(np.where(kept, alike, last))[:last]
        if not self.people.holds(people, theirs).all() or self.people.too_risky(people, theirs):
            raise InputRefused("run.promise_differs", method=method, part="promise")

    def refuse(self, grouping: Grouping) -> InputRefused | None:
        """Say why no group can hold, where even all people together do not."""
        people, theirs = grouping.members.people, self.people.members.people
        sizes = np.array([people]), np.array([theirs])
        if self.people.holds(*sizes).all() and not self.people.too_risky(*sizes):
            return None
        return InputRefused("grouping.population", people=people, theirs=theirs)
