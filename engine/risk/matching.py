"""Seeking people in released tables by what is known of them: numbers within a tolerance, ties counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine import arrays
from engine.progress import SILENT, Progress
from engine.risk.copies import Rate, number_rows

Codes = arrays.Integers
Floats = arrays.Floats

MOST_TRIED = 300
"""People by whom columns are chosen to seek by."""
MOST_ADDED = 4

ABSENT = 1e300
"""Stands for a missing amount, so that it agrees with a missing one alone."""


@dataclass(frozen=True)
class Known:
    """What an intruder knows, as columns of a table.

    Parameters
    ----------
    names
        By column, places that are the same in all tables: they agree where they are equal.
    amounts
        By column, NaN where one is missing.
    within
        By amount, how far apart two may be to agree.
    """

    names: Mapping[str, Codes]
    amounts: Mapping[str, Floats]
    within: Mapping[str, float]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter([*self.names.values(), *self.amounts.values()])))


@dataclass(frozen=True)
class Way:
    """A way to seek: which columns have to agree, and how nearly.

    Parameters
    ----------
    exact
        Columns that agree to the letter.
    near
        Columns whose amounts agree within their tolerance, names where they are equal.
    """

    exact: tuple[str, ...] = ()
    near: tuple[str, ...] = ()

    def seen(self, known: Known) -> Known:
        """Return what somebody looks at who seeks in this way."""
        names = {name: known.names[name] for name in self.columns if name in known.names}
        amounts = {name: known.amounts[name] for name in self.columns if name in known.amounts}
        within = {name: 0.0 if name in self.exact else known.within[name] for name in amounts}
        return Known(names, amounts, within)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that have to agree."""
        return self.exact + self.near


@dataclass(frozen=True)
class Matched:
    """How often people are found.

    Parameters
    ----------
    true_rate
        People for whom one row alone is likeliest and is theirs, of all who are sought.
    false_rate
        Of those for whom one row alone is likeliest, the ones for whom it is somebody else's or nobody's.
    expected
        Share who are found on average by picking one of the likeliest rows.
    """

    true_rate: Rate
    false_rate: Rate
    expected: float


def match(
    people: Known,
    sought: Codes,
    released: Sequence[Known],
    origins: Sequence[Codes],
    *,
    others: Known | None = None,
    ways: Sequence[Way] = (),
    progress: Progress = SILENT,
) -> tuple[Matched, Matched]:
    """Seek people in one or several released tables.

    Parameters
    ----------
    people
        The rows that the tables were made from.
    sought
        Places of the people sought among them, shape (targets,).
    released
        The tables: the same columns, places and tolerances.
    origins
        For each table and row the place of the original row that it was made from, −1 for an invented one.
    others
        Rows of the population beyond ``people``; None where nothing is known of it.
    ways
        How to seek, one after the other: the next where the last finds no row at all. Without any, all that
        is known has to agree within its tolerance.

    Returns
    -------
    tuple of Matched
        For an intruder who knows that the person is in the table, and for one who does not: a row is then
        named only where it is likelier than that the person is not there.

    Notes
    -----
    Pr(J = j) = (1/m) Σ_i 1{row j of table i agrees} / N_i, with N_i the rows of table i that agree. An
    intruder who does not know that the person is in divides by max(N_i, F), F the people of the population
    who agree, and takes Pr(nobody) = 1 − Σ_j Pr(J = j). With c rows of the largest probability and I for
    whether the right one is among them: expected Σ I / c, true Σ [c I = 1], false Σ [c (1 − I) = 1] of
    Σ [c = 1]. Ties give no single likeliest row: an unaltered table can have a lower true rate than a
    protected one, and only the expected rate orders them.

    Source: J. P. Reiter and R. Mitra, J. Privacy and Confidentiality 1 (2009), section 2; J. Drechsler and
    J. P. Reiter, Privacy in Statistical Databases (2008), section 3.

    Examples
    --------
    >>> rows = Known({"sex": np.array([0, 0, 1])}, {"age": np.array([30.0, 50.0, 31.0])}, {"age": 2.0})
    >>> match(rows, np.arange(3), [rows], [np.arange(3)])[0].expected
    1.0
    """
    searched = (*released, people, *([others] if others else []))
    ways = ways or (Way(near=(*people.names, *people.amounts)),)
    finders = [[_finder(way.seen(table), way.seen(people)) for table in searched] for way in ways]
    m, known, unknown = len(released), _Tally(), _Tally()
    likeliest: dict[int, tuple[Codes, Codes]] = {}  # of people of whom the same is known
    alike = _alike(people)
    for place, person in enumerate(sought):
        if place % 256 == 0:
            progress.step(place / len(sought), "risk.linkage")
        same = int(alike[person])
        if same not in likeliest:
            found, seeking = _in_turn(finders, m, int(person))
            population = sum(len(find(int(person))) for find in seeking[m:])
            likeliest[same] = _likeliest(found, origins, population)
        known.add(likeliest[same][0], person)
        unknown.add(likeliest[same][1], person)
    return known.of(len(sought)), unknown.of(len(sought))


def strongest(
    people: Known,
    sought: Codes,
    released: Sequence[Known],
    origins: Sequence[Codes],
    *,
    others: Known | None = None,
    progress: Progress = SILENT,
) -> Strongest:
    """Seek people in several ways, and return what the one finds that finds most.

    Parameters
    ----------
    people, sought, released, origins, others
        See `match`.

    Notes
    -----
    Tried: everything within its tolerance; everything to the letter; what was kept to the letter alone, and
    with the rest within its tolerance; everything to the letter, and where nobody reads so what was kept;
    and columns that were replaced beside those kept, one after the other as long as one helps, chosen on at
    most `MOST_TRIED` people. What was kept stands in the dictionary of a release: here it is a column in
    which no row differs from the one that it was made from.
    """
    kept, replaced = _keep(people, released[0], origins[0])
    everything = (*people.names, *people.amounts)
    tried: list[tuple[Way, ...]] = [(Way(near=everything),), (Way(exact=everything),)]
    if kept and replaced:
        tried += [(Way(exact=kept),), (Way(kept, replaced),), (Way(exact=everything), Way(exact=kept))]
    found = [match(people, sought, released, origins, others=others, ways=one) for one in tried]
    if any((origin >= 0).any() for origin in origins) and len(everything) > 1:
        few = sought[:MOST_TRIED]

        def expected(ways: tuple[Way, ...]) -> float:
            return match(people, few, released, origins, ways=ways)[0].expected

        grown, count = _grown(expected, kept, replaced, progress)
        if grown is not None:
            tried.append((grown,))
            found.append(match(people, sought, released, origins, others=others, ways=(grown,)))
    else:
        count = 0
    best, unsure = (max(range(len(found)), key=lambda at: found[at][case].expected) for case in (0, 1))
    return Strongest(found[best][0], found[unsure][1], tried[best][0], len(found) + count)


@dataclass(frozen=True)
class Strongest:
    """What the ways of seeking find that find most.

    Parameters
    ----------
    known, unknown
        By somebody who knows that the person is in the table, and by somebody who does not.
    way
        The columns that had to agree for the first, where it sought in several ways the first of them.
    tried
        How many ways were tried.
    """

    known: Matched
    unknown: Matched
    way: Way
    tried: int


def _keep(people: Known, released: Known, origin: Codes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns in which every row is as its original, and the others."""
    whose = np.flatnonzero(origin >= 0)
    is_kept = {}
    for name in (*people.names, *people.amounts):
        one, other = (
            table.names[name] if name in table.names else _fill(table.amounts[name])
            for table in (released, people)
        )
        is_kept[name] = bool(len(whose)) and bool((one[whose] == other[origin[whose]]).all())
    kept = tuple(name for name, own in is_kept.items() if own)
    return kept, tuple(name for name, own in is_kept.items() if not own)


def _grown(
    expected: Callable[[tuple[Way, ...]], float],
    kept: tuple[str, ...],
    replaced: tuple[str, ...],
    progress: Progress,
) -> tuple[Way | None, int]:
    """Add replaced columns to those kept as long as somebody finds more, and say how many ways were tried."""
    near: tuple[str, ...] = ()
    best, count = expected((Way(kept),)) if kept else 0.0, 0
    for _ in range(MOST_ADDED):
        progress.step(len(near) / MOST_ADDED, "risk.linkage")
        further = [Way(kept, (*near, name)) for name in replaced if name not in near]
        figures = [expected((way,)) for way in further]
        count += len(further)
        if not figures or max(figures) <= best:
            break
        best, near = max(figures), further[int(np.argmax(figures))].near
    return (Way(kept, near) if near else None), count


def _in_turn(
    finders: Sequence[Sequence[Callable[[int], Codes]]], m: int, person: int
) -> tuple[list[Codes], Sequence[Callable[[int], Codes]]]:
    """Return the rows of every table by the first way that finds any, and what seeks in that way."""
    for seeking in finders:
        found = [find(person) for find in seeking[:m]]
        if any(map(len, found)):
            break
    return found, seeking


@dataclass
class _Tally:
    """People named so far."""

    right: int = 0
    alone: int = 0
    expected: float = 0.0

    def add(self, likeliest: Codes, person: int) -> None:
        """Count a person with the likeliest rows."""
        is_right = bool((likeliest == person).any())
        self.expected += is_right / max(len(likeliest), 1)
        self.alone += len(likeliest) == 1
        self.right += is_right and len(likeliest) == 1

    def of(self, people: int) -> Matched:
        """Return the rates."""
        true, false = Rate(self.right, people), Rate(self.alone - self.right, self.alone)
        return Matched(true, false, self.expected / max(people, 1))


def _likeliest(rows: Sequence[Codes], origins: Sequence[Codes], population: int) -> tuple[Codes, Codes]:
    """Return the likeliest original rows (below 0: an invented one) in both cases: in, and perhaps not in.

    In the second case none are returned where it is likelier that the person is not there.
    """
    names, first = [], 0  # invented rows are different ones in every table
    for found, origin in zip(rows, origins, strict=True):
        mine = origin[found]
        names.append(np.where(mine < 0, -1 - first - found, mine))
        first += len(origin)
    distinct, where = np.unique(np.concatenate(names), return_inverse=True)
    if not len(distinct):
        return distinct, distinct
    cases = []
    for least in (0, population):
        weights = [np.full(len(found), 1.0 / (len(rows) * max(len(found), least, 1))) for found in rows]
        chances = np.bincount(where, weights=np.concatenate(weights))
        is_named = least == 0 or chances.max() > 1 - chances.sum() + 1e-12
        cases.append(distinct[(chances > chances.max() - 1e-12) & is_named])
    return cases[0], cases[1]


def _alike(people: Known) -> Codes:
    """Number what is known of people: equal numbers, equal knowledge."""
    number = np.zeros(people.rows, dtype=np.int64)
    for values in (*people.names.values(), *map(_fill, people.amounts.values())):
        codes = np.unique(values, return_inverse=True)[1]
        number = np.unique(number * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
    return number


def _finder(table: Known, people: Known) -> Callable[[int], Codes]:
    """Return what finds the rows of a table that agree with a person: by a search, not by going through."""
    own, sought = _number(table, people)
    amounts = {name: _fill(values) for name, values in table.amounts.items()}
    asked = {name: _fill(values) for name, values in people.amounts.items()}
    first, *further = list(amounts) or [""]
    order = np.lexsort((amounts[first], own)) if first else np.argsort(own, kind="stable")
    keys = own[order]
    sorted_amounts = {name: values[order] for name, values in amounts.items()}

    def find(person: int) -> Codes:
        low, high = np.searchsorted(keys, [sought[person], sought[person] + 1])
        if first:
            value, part = asked[first][person], sorted_amounts[first][low:high]
            ends = np.searchsorted(part, value - people.within[first], side="left")
            stop = np.searchsorted(part, value + people.within[first], side="right")
            low, high = low + ends, low + stop
        near = np.ones(high - low, dtype=bool)
        for name in further:
            near &= np.abs(sorted_amounts[name][low:high] - asked[name][person]) <= people.within[name]
        return order[low:high][near]

    return find


def _fill(values: Floats) -> Floats:
    return np.where(np.isnan(values), ABSENT, values)


def _number(table: Known, people: Known) -> tuple[Codes, Codes]:
    """Number the combinations of names of both; where they have none, all rows are alike."""
    if not table.names:
        return np.zeros(table.rows, dtype=np.int64), np.zeros(people.rows, dtype=np.int64)
    return number_rows(table.names, people.names)
