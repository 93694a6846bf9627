"""Everything that a table gives away today, in one answer: groups, risks, sensitive columns, causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import InputRefused
from engine.numbers import finite
from engine.progress import SILENT, Progress
from engine.risk.encoding import EncodedTable
from engine.risk.groups import Groups, Missing, group_rows, matching_sizes
from engine.risk.reidentification import (
    THRESHOLDS,
    Reidentification,
    estimate_journalist_risk,
    journalist,
    marketer,
    population_sizes,
    prosecutor,
)
from engine.risk.sensitive import (
    Closeness,
    Diversity,
    Presence,
    closeness,
    counts_as_read,
    diversity,
    presence,
    sensitive_counts,
)
from engine.risk.uniques import LARGEST, MinimalUniques, largest_size, minimal_uniques

if TYPE_CHECKING:
    from engine.risk.population_uniqueness import PopulationUniqueness

GROUP_SIZES = (3, 5, 11, 20)


@dataclass(frozen=True)
class Finding:
    """Something worth a sentence: ``code`` finds it below ``risk.findings``. Internal: from private rows."""

    code: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Population:
    """What the table is a part of.

    Parameters
    ----------
    known
        ``table`` where the people of the population are known, ``size`` where only their number is,
        ``weights`` where every row says how many it stands for.
    people
        Number of people in the population.
    journalist
        The risk against somebody who looks people up in it; an estimate unless the people are known.
    marketer
        The share of people who are linked rightly, likewise.
    presence
        δ-presence, where the people of the population are known.
    not_in_population
        People of the table whom the population does not have.
    """

    known: str
    people: int
    journalist: Reidentification
    marketer: float
    presence: Presence | None = None
    not_in_population: int = 0


@dataclass(frozen=True, eq=False)
class Disclosure:
    """What a table discloses. Internal: from private rows.

    Parameters
    ----------
    rows, people
        Rows of the table, and people; equal where every row is a person.
    missing
        What a missing identifying value was taken for in ``smallest``, ``alone`` and the risks.
    groups
        Groups with a missing value as a value of its own.
    smallest, alone
        Size of the smallest group; people who are told apart from everybody.
    under
        Size k → people who cannot be told apart from fewer than k.
    prosecutor
        Against somebody who knows that the person is in the table.
    marketer
        Share of people linked rightly by somebody who holds these very people.
    population
        The same against a population; None where nothing is known of one.
    uniqueness
        Estimated share of people alone in the population; None where its size is not known.
    diversity, closeness
        By sensitive column.
    uniques
        The smallest sets of columns that single somebody out.
    findings
        What is worth a sentence.
    """

    rows: int
    people: int
    missing: Missing
    groups: Groups
    smallest: int
    alone: int
    under: dict[int, int]
    prosecutor: Reidentification
    marketer: float
    population: Population | None
    uniqueness: PopulationUniqueness | None
    diversity: dict[str, Diversity]
    closeness: dict[str, Closeness]
    uniques: MinimalUniques
    findings: tuple[Finding, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON values; a figure that is infinite is null."""
        tree: dict[str, Any] = {
            "audience": "internal",
            "rows": self.rows,
            "people": self.people,
            "identifying": list(self.groups.columns),
            "missing": self.missing.value,
            "groups": self.groups.count,
            "smallest_group": self.smallest,
            "alone": self.alone,
            "under": {str(k): count for k, count in self.under.items()},
            "distribution": {str(k): count for k, count in self.groups.distribution.items()},
            **_risk("prosecutor", self.prosecutor),
            "marketer": self.marketer,
        }
        if self.population is not None:
            tree |= _risk("journalist", self.population.journalist)
            tree["journalist_marketer"] = self.population.marketer
            tree["journalist_known"] = self.population.known
            tree["population"] = self.population.people
            if self.population.presence is not None:
                tree["presence"] = asdict(self.population.presence)
        if self.uniqueness is not None:
            tree["population_uniqueness"] = asdict(self.uniqueness)
        tree["l_diversity"] = {name: found.distinct for name, found in self.diversity.items()}
        tree["t_closeness"] = {name: found.t for name, found in self.closeness.items()}
        tree["sensitive"] = {name: self._sensitive(name) for name in self.diversity}
        tree["columns"] = self.uniques.contribution
        tree["minimal_uniques"] = {str(size): count for size, count in self.uniques.by_size.items()}
        tree["findings"] = [{"code": one.code, "values": dict(one.values)} for one in self.findings]
        return tree

    def _sensitive(self, name: str) -> dict[str, Any]:
        found = asdict(self.diversity[name]) | asdict(self.closeness[name])
        found["recursive"] = {str(at): finite(c) for at, c in self.diversity[name].recursive.items()}
        return found


def _risk(name: str, risk: Reidentification) -> dict[str, Any]:
    return {
        f"{name}_highest": risk.highest,
        f"{name}_average": risk.average,
        f"{name}_above": {str(threshold): share for threshold, share in risk.above.items()},
    }


def disclosure(
    table: EncodedTable,
    *,
    missing: Missing = Missing.OWN_VALUE,
    thresholds: Sequence[float] = THRESHOLDS,
    group_sizes: Sequence[int] = GROUP_SIZES,
    population: EncodedTable | None = None,
    population_size: int | None = None,
    recursive: Sequence[int] = (2, 3),
    progress: Progress = SILENT,
) -> Disclosure:
    """Return everything that a table discloses by its identifying columns.

    Parameters
    ----------
    table
        From `engine.risk.encoding.encode`, with the identifying and the sensitive columns.
    missing
        What a missing identifying value does. The sensitive measures and the causes take it for a value of
        its own: their groups must not overlap.
    thresholds
        Probabilities.
    group_sizes
        Sizes k.
    population
        The people that the table is a part of, encoded with the same identifying columns.
    population_size
        Or only how many they are.
    recursive
        The l of recursive (c, l)-diversity.

    Raises
    ------
    InputRefused
        ``risk.nothing_identifying``, ``risk.empty``, and what the single measures refuse.

    Notes
    -----
    Nothing in here may flow into a differentially private method: it is computed from the rows.
    """
    if not table.identifying:
        raise InputRefused("risk.nothing_identifying")
    if not table.n_rows:
        raise InputRefused("risk.empty")
    groups = group_rows(table)
    progress.step(0.1, "risk.group_sizes")
    own = missing is Missing.OWN_VALUE
    sizes = _of_people(table, groups, groups.people) if own else matching_sizes(table)
    context = _population(table, groups, sizes, population, population_size, thresholds)
    sensitive = {name: table.columns[name] for name in table.sensitive}
    counts = {name: sensitive_counts(groups, one) for name, one in sensitive.items()}
    progress.step(0.3, "risk.group_sizes")
    diverse = {
        name: diversity(counts_as_read(groups, one, counts[name]), groups, recursive=recursive)
        for name, one in sensitive.items()
    }
    close = {name: closeness(each) for name, each in counts.items()}
    largest = largest_size(len(table.identifying), table.n_rows)
    uniques = minimal_uniques(table, largest=largest, progress=progress.part(0.4, 0.95))
    size = context.people if context is not None else None
    return Disclosure(
        rows=table.n_rows,
        people=table.n_people,
        missing=missing,
        groups=groups,
        smallest=int(sizes.min()),
        alone=int((sizes == 1).sum()),
        under={k: int((sizes < k).sum()) for k in group_sizes},
        prosecutor=prosecutor(sizes, thresholds=thresholds),
        marketer=marketer(sizes),
        population=context,
        uniqueness=None if size is None else _uniqueness(groups, size),
        diversity=diverse,
        closeness=close,
        uniques=uniques,
        findings=_findings(table, groups, sizes, diverse, context, largest),
    )


def _of_people(table: EncodedTable, groups: Groups, values: np.ndarray) -> np.ndarray:
    """Return a figure of groups for every person."""
    if table.people is None:
        return np.asarray(values[groups.number])
    person_group = np.empty(table.n_people, dtype=np.int64)
    person_group[table.people] = groups.number
    return np.asarray(values[person_group])


def _population(
    table: EncodedTable,
    groups: Groups,
    sizes: np.ndarray,
    population: EncodedTable | None,
    size: int | None,
    thresholds: Sequence[float],
) -> Population | None:
    if population is not None:
        return _known(table, groups, population, thresholds)
    if size is not None:
        if size < table.n_people:
            raise InputRefused("risk.population_size", rows=table.n_people, population=size)
        fraction: float | np.ndarray = table.n_people / size
    elif table.weights is not None and table.people is None:
        totals = groups.sums(table.weights)
        size = max(round(float(table.weights.sum())), table.n_rows)
        fraction = np.minimum(groups.people / totals, 1.0)[groups.number]
    else:
        return None
    risk = estimate_journalist_risk(sizes, fraction, thresholds=thresholds)
    known = "size" if isinstance(fraction, float) else "weights"
    return Population(known, size, risk, risk.average)


def _known(
    table: EncodedTable, groups: Groups, population: EncodedTable, thresholds: Sequence[float]
) -> Population:
    found = population_sizes(table, groups, population)
    absent = int(groups.people[found < groups.people].sum())
    at_least = np.maximum(found, groups.people)  # whoever is in the table is in the population too
    sizes, people = (_of_people(table, groups, each) for each in (groups.people, at_least))
    met = int(found.sum()) == population.n_people
    return Population(
        known="table",
        people=max(population.n_people, table.n_people),
        journalist=journalist(sizes, people, thresholds=thresholds),
        marketer=marketer(people),
        presence=presence(groups.people, at_least, all_met=met),
        not_in_population=absent,
    )


def _uniqueness(groups: Groups, population: int) -> PopulationUniqueness:
    from engine.risk.population_uniqueness import population_uniqueness  # on first use: it brings scipy along

    counted = np.bincount(groups.people)
    sizes = {int(size): int(counted[size]) for size in np.flatnonzero(counted)}
    return population_uniqueness(sizes, population=population)


def _findings(
    table: EncodedTable,
    groups: Groups,
    sizes: np.ndarray,
    diverse: Mapping[str, Diversity],
    context: Population | None,
    largest: int,
) -> tuple[Finding, ...]:
    columns = ", ".join(groups.columns)
    found = []
    if alone := int((sizes == 1).sum()):
        found.append(Finding("alone", {"count": alone, "people": len(sizes), "columns": columns}))
    for name, each in diverse.items():
        if each.homogeneous_people:
            values = {"count": each.homogeneous_people, "people": len(sizes), "column": name}
            found.append(Finding("homogeneous", values))
    for name in groups.columns:
        column = table.columns[name]
        if column.missing is not None:
            count = int((column.codes == column.missing).sum())
            found.append(Finding("missing", {"count": count, "rows": table.n_rows, "column": name}))
    if not diverse:
        found.append(Finding("nothing_sensitive", {}))
    if context is not None and context.not_in_population:
        found.append(Finding("not_in_population", {"count": context.not_in_population}))
    if table.weights is not None and table.people is not None:
        found.append(Finding("weights_unused", {}))
    if largest < min(LARGEST, len(groups.columns)):
        found.append(Finding("fewer_sets", {"columns": len(groups.columns), "largest": largest}))
    return tuple(found)
