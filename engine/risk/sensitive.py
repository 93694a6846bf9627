"""What a group gives away about its members without anybody being found: diversity and closeness.

All figures come from one table of counts, groups by values, of which only the cells that occur are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine import arrays
from engine.risk.combinations import Numbers
from engine.risk.encoding import EncodedColumn
from engine.risk.groups import Groups
from engine.table.hierarchies import Hierarchy

Floats = arrays.Floats

_CELLS_AT_ONCE = 1 << 21


@dataclass(frozen=True, eq=False)
class SensitiveCounts:
    """How often each value of a sensitive column occurs in each group. Internal: from private rows.

    Parameters
    ----------
    group, value, count
        One entry for every pair that occurs, by group and in a group by rank of the value.
    start
        Where the entries of each group begin, shape (groups,).
    total
        Rows of every group.
    overall
        How often each value occurs in the whole table, shape (values,).
    column
        The sensitive column.

    Notes
    -----
    Rows are counted, so that the value of a person with several rows counts on each of them. A missing value
    is a value of its own.
    """

    group: Numbers = field(repr=False)
    value: Numbers = field(repr=False)
    count: Numbers = field(repr=False)
    start: Numbers = field(repr=False)
    total: Numbers = field(repr=False)
    overall: Numbers = field(repr=False)
    column: EncodedColumn = field(repr=False)

    @property
    def shares(self) -> Floats:
        """q: each entry's share of its group."""
        return np.asarray(self.count / self.total[self.group])

    @property
    def prior(self) -> Floats:
        """p: each value's share of the whole table."""
        return np.asarray(self.overall / self.overall.sum())


def sensitive_counts(groups: Groups, column: EncodedColumn) -> SensitiveCounts:
    """Count the values of a sensitive column in every group."""
    ranks = column.ranks
    m = column.size
    keys = groups.number * m + ranks[column.codes]
    cells = groups.count * m
    if cells <= 8 * len(keys) + 1024:
        counted = np.bincount(keys, minlength=cells)
        found = np.flatnonzero(counted)
        count = counted[found]
    else:
        keys.sort()
        first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else keys
        found, count = keys[first], np.diff(np.append(first, len(keys)))
    group = found // m if m else found
    start = np.searchsorted(group, np.arange(groups.count))
    overall = np.bincount(ranks[column.codes], minlength=m)
    return SensitiveCounts(group, found - group * m, count, start, groups.rows, overall, column)


def counts_as_read(groups: Groups, column: EncodedColumn, written: SensitiveCounts) -> SensitiveCounts:
    """Count values that read alike as one; where none do, that is what was counted as ``written``."""
    said = column.as_read
    return written if said is column else sensitive_counts(groups, said)


@dataclass(frozen=True)
class Diversity:
    """The least diverse group of a table. Internal: from private rows.

    Parameters
    ----------
    distinct
        l: different values in the group that has the fewest.
    entropy
        l: e to the entropy of the group with the least, so that entropy l-diversity holds up to it.
    recursive
        l → the smallest c for which recursive (c′, l)-diversity holds with every c′ above it; infinite where
        some group has fewer than l values.
    worst_share
        α: the largest share that one value has in any group: how sure somebody can be of it.
    homogeneous_people
        People in groups where all have the same value: it is known without finding the person.
    homogeneous_groups
        How many such groups there are.
    """

    distinct: int
    entropy: float
    recursive: dict[int, float]
    worst_share: float
    homogeneous_people: int
    homogeneous_groups: int


def diversity(counts: SensitiveCounts, groups: Groups, *, recursive: Sequence[int] = (2, 3)) -> Diversity:
    """Return how diverse the least diverse group is.

    Parameters
    ----------
    counts
        From `sensitive_counts`.
    groups
        The same groups.
    recursive
        The l for which recursive (c, l)-diversity is asked, each at least 2.

    Returns
    -------
    Diversity
        Distinct l-diversity alone says little: 785 people with one value and one with another are 2-diverse.

    Notes
    -----
    Source: A. Machanavajjhala et al., l-diversity: privacy beyond k-anonymity, 2007, section 4 (entropy;
    recursive: r₁ < c (r_l + … + r_m), r in falling order).

    Examples
    --------
    >>> import pandas as pd
    >>> from engine.risk.encoding import encode
    >>> from engine.risk.groups import group_rows
    >>> from engine.table.schema import Column, Role, Schema
    >>> from engine.table.table import Table
    >>> people = Table(pd.DataFrame({"age": [1, 1, 1, 2, 2], "ill": ["a", "a", "b", "a", "b"]}))
    >>> table = encode(people, Schema((Column("age", Role.IDENTIFYING), Column("ill", Role.SENSITIVE))))
    >>> groups = group_rows(table)
    >>> found = diversity(sensitive_counts(groups, table.columns["ill"]), groups, recursive=(2,))
    >>> found.distinct, round(found.entropy, 3), found.recursive
    (2, 1.89, {2: 2.0})
    """
    if not len(counts.total):
        return Diversity(0, 0.0, dict.fromkeys(recursive, 0.0), 0.0, 0, 0)
    distinct = distinct_values(counts)
    alone = distinct == 1
    return Diversity(
        distinct=int(distinct.min()),
        entropy=float(np.exp(max(entropies(counts).min(), 0.0))),
        recursive={each: float(recursive_ratios(counts, each).max()) for each in recursive},
        worst_share=float(counts.shares.max()),
        homogeneous_people=int(groups.people[alone].sum()),
        homogeneous_groups=int(alone.sum()),
    )


def distinct_values(counts: SensitiveCounts) -> Numbers:
    """Return how many different values every group has (distinct l-diversity)."""
    return np.diff(np.append(counts.start, len(counts.group)))


def entropies(counts: SensitiveCounts) -> Floats:
    """Return the entropy of every group in nats (Machanavajjhala et al. 2007, definition 4.1)."""
    return (
        np.log(counts.total)
        - _sums(counts, counts.count.astype(np.float64) * np.log(counts.count)) / counts.total
    )


def recursive_ratios(counts: SensitiveCounts, at_least: int) -> Floats:
    """Return r₁ / (r_l + … + r_m) of every group, r in falling order; infinite where it has fewer than l.

    Recursive (c, l)-diversity holds where c is above it.
    """
    first, tail = recursive_parts(counts, at_least)
    return np.divide(first, tail, out=np.full(len(first), np.inf), where=tail > 0)


def recursive_parts(counts: SensitiveCounts, at_least: int) -> tuple[Numbers, Floats]:
    """Return r₁ and r_l + … + r_m of every group, see `recursive_ratios`."""
    falling = counts.count[np.lexsort((-counts.count, counts.group))]
    place = np.arange(len(falling)) - counts.start[counts.group]
    tail = _sums(counts, np.where(place >= at_least - 1, falling, 0.0))
    return falling[counts.start], tail


def largest_gains(counts: SensitiveCounts) -> Floats:
    """Return the largest (q − p) / p of every group: at most β where β-likeness holds."""
    return np.maximum.reduceat(counts.shares / counts.prior[counts.value] - 1.0, counts.start)


@dataclass(frozen=True)
class Closeness:
    """How far the groups are from the whole table. Internal: from private rows.

    Parameters
    ----------
    distance
        ``equal``, ``ordered`` or ``hierarchical``.
    t
        The largest earth mover's distance of any group.
    beta
        The largest relative gain (q − p) / p of any value in any group.
    within_logarithm
        Whether every gain is also at most −ln p, as enhanced β-likeness asks.
    delta
        The largest |ln(q / p)| of a value that occurs in a group.
    """

    distance: str
    t: float
    beta: float
    within_logarithm: bool
    delta: float


def closeness(counts: SensitiveCounts) -> Closeness:
    """Return how far the farthest group is from the whole table, in four senses.

    Parameters
    ----------
    counts
        From `sensitive_counts`.

    Returns
    -------
    Closeness
        The distance follows the column: along its order for numbers, days and ordered categories; along its
        hierarchy where it has a tree; else all values are equally far from each other.

    Notes
    -----
    Source: N. Li, T. Li and S. Venkatasubramanian, t-closeness, 2007, section 4; J. Cao and P. Karras,
    Publishing microdata with a robust privacy guarantee, 2012 (β-likeness); J. Brickell and V. Shmatikov, The
    cost of privacy, 2008 (δ-disclosure, which in full also fails wherever a value is absent from a group;
    ``delta`` is over values that occur).
    """
    distance, measure = distances_of(counts.column)
    each = measure(counts)
    p = counts.prior[counts.value]
    gain = counts.shares / p - 1.0
    return Closeness(
        distance=distance,
        t=float(each.max(initial=0.0)),
        beta=float(max(gain.max(initial=0.0), 0.0)),
        within_logarithm=bool((gain <= -np.log(p) + 1e-12).all()),
        delta=float(np.abs(np.log(counts.shares / p)).max(initial=0.0)),
    )


def distances_of(column: EncodedColumn) -> tuple[str, Callable[[SensitiveCounts], Floats]]:
    """Return the name of the distance that follows the column, see `closeness`, and what computes it."""
    tree = column.column.hierarchy
    if column.ordered:
        return "ordered", ordered_distances
    if tree is None or tree.height == 1:
        return "equal", equal_distances
    nodes = _nodes_of(column, tree)
    return "hierarchical", lambda counts: _along(counts, nodes)


def equal_distances(counts: SensitiveCounts) -> Floats:
    """Return ½ Σ |q − p| of every group: all values are one apart.

    Notes
    -----
    Only the values that occur are visited: the others add ½ Σ p = ½ (1 − Σ_present p).
    """
    p = counts.prior[counts.value]
    return 0.5 * (1.0 + _sums(counts, np.abs(counts.shares - p) - p))


def ordered_distances(counts: SensitiveCounts) -> Floats:
    """Return Σ |cumulated q − cumulated p| / (m − 1) of every group: ranks are 1/(m − 1) apart.

    Notes
    -----
    Between two values that occur, cumulated q stays at one level and cumulated p rises, so that the sum over
    the stretch follows from prefix sums of p: the work grows with the values that occur, not with m.
    """
    m = len(counts.overall)
    if m < 2:
        return np.zeros(len(counts.total))
    cumulated = np.cumsum(counts.prior)
    prefix = np.concatenate([[0.0], np.cumsum(cumulated)])
    running = np.cumsum(counts.shares)
    before = running[counts.start] - counts.shares[counts.start]
    level = np.clip(running - before[counts.group], 0.0, 1.0)
    end = np.append(counts.value[1:], m)
    last = np.append(counts.start[1:], len(counts.group)) - 1
    end[last] = m
    found = _sums(counts, _stretch(counts.value, end, level, cumulated, prefix))
    lead = counts.value[counts.start]
    return (found + prefix[lead]) / (m - 1)


def _stretch(start: Numbers, end: Numbers, level: Floats, cumulated: Floats, prefix: Floats) -> Floats:
    """Return Σ |level − cumulated[i]| over start ≤ i < end, where cumulated rises."""
    turn = np.clip(np.searchsorted(cumulated, level), start, end)
    below = level * (turn - start) - (prefix[turn] - prefix[start])
    above = (prefix[end] - prefix[turn]) - level * (end - turn)
    return np.asarray(below + above)


def hierarchical_distances(counts: SensitiveCounts, tree: Hierarchy) -> Floats:
    """Return the earth mover's distance along a hierarchy: values are as far as their common group is high.

    Notes
    -----
    Li et al. 2007, section 4.3: over the inner nodes, height / H times the smaller of what their children
    have too much and too little.
    """
    return _along(counts, _nodes_of(counts.column, tree))


def _nodes_of(column: EncodedColumn, tree: Hierarchy) -> list[Numbers]:
    """Return for every step the number of each value's group, the values in the order of their ranks."""
    texts = [column.texts[code] for code in np.argsort(column.ranks)]
    return [_nodes(tree.at(texts, step)) for step in range(tree.height + 1)]


def _along(counts: SensitiveCounts, steps: Sequence[Numbers]) -> Floats:
    m, groups, top = len(counts.overall), len(counts.total), len(steps) - 1
    found = np.zeros(groups)
    at_once = max(1, _CELLS_AT_ONCE // max(m, 1))
    for first in range(0, groups, at_once):
        last = min(first + at_once, groups)
        entries = slice(counts.start[first], counts.start[last] if last < groups else len(counts.group))
        extra = np.tile(-counts.prior, (last - first, 1))
        extra[counts.group[entries] - first, counts.value[entries]] += counts.shares[entries]
        for height in range(1, top + 1):
            parent = _parents(steps[height - 1], steps[height])
            into = np.zeros((len(parent), int(parent.max()) + 1))
            into[np.arange(len(parent)), parent] = 1.0
            much, little = np.maximum(extra, 0.0) @ into, np.maximum(-extra, 0.0) @ into
            found[first:last] += height / top * np.minimum(much, little).sum(axis=1)
            extra = much - little
    return found


def _nodes(labels: Sequence[str]) -> Numbers:
    places: dict[str, int] = {}
    return np.array([places.setdefault(label, len(places)) for label in labels], dtype=np.int64)


def _parents(children: Numbers, parents: Numbers) -> Numbers:
    found = np.zeros(int(children.max()) + 1, dtype=np.int64)
    found[children] = parents
    return found


def _sums(counts: SensitiveCounts, values: Floats) -> Floats:
    return np.add.reduceat(values, counts.start) if len(values) else np.zeros(0)


@dataclass(frozen=True)
class Presence:
    """δ-presence: how sure one can be that somebody of the population is in the table, at least and at most.

    M. E. Nergiz, M. Atzori and C. Clifton, Hiding the presence of individuals from shared databases, 2007:
    over the groups of the population, people in the table / people in the population.
    """

    least: float
    most: float


def presence(sizes: Numbers, population: Numbers, *, all_met: bool) -> Presence:
    """Return δ-presence.

    Parameters
    ----------
    sizes, population
        By group of the table: people in the table, people in the population.
    all_met
        Whether every group of the population occurs in the table; if not, the least is 0.

    Examples
    --------
    >>> presence(np.array([1, 3]), np.array([2, 4]), all_met=True)
    Presence(least=0.5, most=0.75)
    """
    known = population > 0
    shares = np.minimum(sizes[known] / population[known], 1.0)
    if not len(shares):
        return Presence(0.0, 0.0)
    return Presence(float(shares.min()) if all_met else 0.0, float(shares.max()))
