"""Promises without noise, counted again from released files and the rows they were made from.

Nothing here asks the engine what a group, a cell or a pseudonym is: released cells are compared as text,
people are told apart by their key, and what an attacker can work out of a table is found by linear
programming.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from engine.methods.protocol import FileArtefact, ModelArtefact, Release, TableArtefact
from engine.table.schema import Kind, Role
from tests.engine.battery.distributions import CheckFailed
from tests.engine.methods.audit.replay import draft_of, lots
from tests.engine.methods.audit.tables import Bench

LEFT_OUT = ("", "*")
ROUNDING = 1e-9


@dataclass(frozen=True)
class Told:
    """A release, and the rows that it was made from."""

    bench: Bench
    release: Release
    used: pd.DataFrame
    others: dict[str, pd.DataFrame]

    @property
    def terms(self) -> dict[str, Any]:
        """What is promised besides the kind."""
        return dict(self.release.promise.terms)

    @property
    def values(self) -> Any:
        """What was filled in."""
        return self.bench.design.request.values

    @cached_property
    def tables(self) -> list[TableArtefact]:
        """The tables that leave."""
        return [one for one in self.release.artefacts if isinstance(one, TableArtefact)]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The first of them, all cells as text."""
        return self.tables[0].frame.astype("str")

    @cached_property
    def origins(self) -> np.ndarray:
        """The used row that each released row was made from."""
        if self.tables[0].origins is None:
            raise CheckFailed("rows leave of which nobody says where they come from")
        return self.tables[0].origins

    @cached_property
    def people(self) -> list[str]:
        """Whose each released row is."""
        if self.bench.key is None:
            return [str(one) for one in self.origins]
        return as_texts(self.used[self.bench.key].iloc[self.origins])

    def originals(self, column: str) -> list[str]:
        """Return the cells that released rows had, as text; nothing for a missing one."""
        return self.cells(column, self.used[column].iloc[self.origins])

    def cells(self, column: str, rows: pd.Series) -> list[str]:
        """Return cells of a column as text; nothing for a missing one."""
        missing = set(self.bench.design.request.schema.column(column).missing)
        return ["" if cell in missing else cell for cell in as_texts(rows)]

    def groups(self, columns: Sequence[str]) -> dict[tuple[str, ...], list[int]]:
        """Return the released rows that read alike in some columns."""
        found: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for place, cells in enumerate(zip(*(self.frame[name] for name in columns), strict=True)):
            found[cells].append(place)
        return found


def as_texts(cells: pd.Series) -> list[str]:
    """Return cells as text: whole numbers without a point, nothing for what is missing."""
    return ["" if pd.isna(cell) else as_text(cell) for cell in cells.tolist()]


def as_text(cell: Any) -> str:
    """Return one cell as text."""
    return str(int(cell)) if isinstance(cell, float) and cell == int(cell) else str(cell)


def audit(bench: Bench, many: bool) -> None:
    """Make a release and count again what it promises.

    Raises
    ------
    CheckFailed
        It does not hold, or nobody knows how to count it.
    """
    draft = draft_of(bench, bench.rows, lots(3))
    frames = {name: table.rows() for name, table in draft.used.items()}
    told = Told(bench, draft.release, frames[bench.varied], frames)
    kind = draft.release.promise.kind
    if kind not in KINDS:
        raise CheckFailed(f"nobody recounts the promise {kind}")
    unknown = sorted(draft.release.promise.terms.keys() - TERMS.get(kind, frozenset()))
    if unknown:
        raise CheckFailed(f"nobody recounts the terms {', '.join(unknown)} of {kind}")
    refuse_names(told)
    KINDS[kind](told)


def is_counted_up(table: TableArtefact, name: str) -> bool:
    """Whether a column is a key of invented tables: numbers from 1 on that rise from row to row."""
    cells = table.frame[name].astype("str")
    if not cells.str.fullmatch(r"[1-9][0-9]*").all():
        return False
    steps = {after - before for before, after in itertools.pairwise([0, *map(int, cells)])}
    return steps <= {1} if name == table.key else name in table.links and min(steps, default=0) >= 0


def refuse_names(told: Told) -> None:
    """Fail where a person key or a direct identifier is in what leaves."""
    schema = told.bench.design.request.schema
    named = [one.name for one in schema.columns if one.role in (Role.PERSON_KEY, Role.DIRECT_IDENTIFIER)]
    hidden = [set(as_texts(told.used[name])) - {""} for name in named if name in told.used]
    for table in told.tables:
        for frame in table.frames:
            if any(name in named and not is_counted_up(table, name) for name in frame.columns):
                raise CheckFailed("a column that names people leaves")
            for name in frame.columns if table.origins is not None else ():
                cells = frame[name].astype("str").tolist()
                own = Counter(told.originals(name)) if name in told.used else Counter()
                for names in hidden:
                    if any(count > own[cell] for cell, count in Counter(cells).items() if cell in names):
                        raise CheckFailed(f"a value that names a person stands in {name}")


# --- groups -------------------------------------------------------------------------------------------


def count_groups(told: Told) -> None:
    """At least k people read alike in the identifying columns, and their sensitive values are as promised."""
    terms = told.terms
    columns = terms["columns"].split(", ")
    for frame in told.tables[0].frames:
        if not set(columns) <= set(frame.columns):
            raise CheckFailed("an identifying column that is promised about does not leave")
    groups = told.groups(columns)
    for rows in groups.values():
        if len({told.people[row] for row in rows}) < terms["k"]:
            raise CheckFailed(f"a group has fewer than {terms['k']} people")
    if "set_k" in terms:
        count_sets(told, columns)
    for column in terms["sensitive"].split(", ") if "sensitive" in terms else ():
        everybody = Counter(told.cells(column, told.used[column]))
        for rows in groups.values():
            found = Counter(told.frame[column].iloc[rows])
            count_values(found, everybody, terms, column)
            if (
                "t" in terms
                and moved(found, everybody, apart(told, column, everybody)) > terms["t"] + ROUNDING
            ):
                raise CheckFailed(f"the values of {column} in a group are farther than t from all")
    if "average_risk" in terms and len(groups) > terms["average_risk"] * len(told.frame):
        raise CheckFailed("the average risk is higher than promised")
    if terms.keys() & {"most_presence", "population_k", "population_risk"}:
        count_population(told, columns, groups)


def count_sets(told: Told, columns: Sequence[str]) -> None:
    """At least k people have the same rows."""
    theirs: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for person, cells in zip(told.people, told.frame[list(columns)].itertuples(index=False), strict=True):
        theirs[person].append(tuple(cells))
    sets = Counter(tuple(sorted(rows)) for rows in theirs.values())
    if min(sets.values(), default=told.terms["set_k"]) < told.terms["set_k"]:
        raise CheckFailed("the rows of a person are those of too few")


def apart(told: Told, column: str, everybody: Counter[str]) -> np.ndarray:
    """Return how far apart two values are, as t is measured: by places in their order, or all one."""
    declared, values = told.bench.design.request.schema.column(column), list(everybody)
    ordered = declared.kind in (Kind.INTEGER, Kind.NUMBER, Kind.DATE, Kind.MOMENT, Kind.ORDINAL)
    if told.values["distance"] != "equal" and ordered:
        listed = (declared.domain.values if declared.domain is not None else None) or ()
        known = sorted(
            (value for value in values if value),
            key=lambda value: (listed.index(value),) if value in listed else sort_key(value),
        )
        place = {
            value: rank for rank, value in enumerate([*known, *(value for value in values if not value)])
        }
        ranks = np.array([place[value] for value in values], dtype=float)
        return np.abs(ranks[:, None] - ranks) / max(len(values) - 1, 1)
    if told.values["distance"] != "equal" and declared.hierarchy is not None and declared.hierarchy.tree:
        raise CheckFailed("nobody recounts distances along a tree")
    return 1.0 - np.eye(len(values))


def sort_key(value: str) -> tuple[float | str, ...]:
    """Return what orders numbers by their size and days by their text."""
    try:
        return (float(value),)
    except ValueError:
        return (value,)


def moved(found: Counter[str], everybody: Counter[str], apart: np.ndarray) -> float:
    """Return how far shares have to be moved from all people to those of a group: a linear programme."""
    size, total, values = found.total(), everybody.total(), list(everybody)
    many = len(values)
    leaves, comes = np.zeros((many, many, many)), np.zeros((many, many, many))
    for place in range(many):
        leaves[place, place, :], comes[place, :, place] = 1, 1
    shares = [everybody[value] / total for value in values] + [found[value] / size for value in values]
    rows = np.concatenate([leaves.reshape(many, -1), comes.reshape(many, -1)])
    return float(linprog(apart.ravel(), A_eq=rows[:-1], b_eq=shares[:-1]).fun)


def count_values(found: Counter[str], everybody: Counter[str], terms: dict[str, Any], column: str) -> None:
    """Compare the sensitive values of a group with what is promised of them."""
    size, total = found.total(), everybody.total()
    shares = sorted((count / size for count in found.values()), reverse=True)
    wrong = []
    if len(found) < terms.get("distinct_l", 1):
        wrong.append("distinct_l")
    if -sum(share * math.log(share) for share in shares) < math.log(terms.get("entropy_l", 1)) - ROUNDING:
        wrong.append("entropy_l")
    if "recursive_l" in terms:
        rest = sum(shares[int(terms["recursive_l"]) - 1 :])
        if shares[0] >= float(terms["recursive_c"]) * rest:
            wrong.append("recursive_l")
    gains = [count / size / (everybody[value] / total) - 1 for value, count in found.items()]
    if "beta" in terms and max(gains) > float(terms["beta"]) + ROUNDING:
        wrong.append("beta")
    if wrong:
        raise CheckFailed(f"the values of {column} in a group are not as promised: {', '.join(wrong)}")


def count_population(told: Told, columns: Sequence[str], groups: dict[tuple[str, ...], list[int]]) -> None:
    """Count who of the population reads like each group."""
    (source,) = set(told.others) - {told.bench.varied}
    population, schema = told.others[source], told.bench.design.request.schema
    key = told.bench.design.request.schemas[source].person_key
    theirs = as_texts(population[key.name]) if key else [str(one) for one in range(len(population))]
    covers = [covered_by(told, column, as_texts(population[column]), schema) for column in columns]
    risks = []
    for cells, rows in groups.items():
        fits = np.logical_and.reduce([np.array(own[cell]) for own, cell in zip(covers, cells, strict=True)])
        people = len({told.people[row] for row in rows})
        alike = len({theirs[place] for place in np.flatnonzero(fits)})
        if alike == 0 or people / alike > told.terms.get("most_presence", 1):
            raise CheckFailed("presence is surer than promised")
        if alike < told.terms.get("population_k", 0):
            raise CheckFailed("a group of the population is smaller than promised")
        risks += [1 / alike] * people
    if float(np.mean(risks)) > float(told.terms.get("population_risk", 1)) + ROUNDING:
        raise CheckFailed("the average risk in the population is higher than promised")


def covered_by(told: Told, column: str, cells: list[str], schema: Any) -> dict[str, list[bool]]:
    """Return, for every released word of a column, which cells of the population read like it."""
    declared = schema.column(column)
    tree = {} if declared.hierarchy is None else dict(declared.hierarchy.tree)
    words = [{cell, "*", *tree.get(cell, ())} for cell in cells]
    words = [
        one | {""} if cell in declared.missing or not cell else one
        for one, cell in zip(words, cells, strict=True)
    ]
    return {word: [word in one for one in words] for word in set(told.frame[column])}


def count_buckets(told: Told) -> None:
    """No value stands twice in a bucket, which has at least l rows, and its values are those of its rows."""
    sensitive, least = told.terms["sensitive"], told.terms["l"]
    values = told.tables[1].frame.astype("str")
    (bucket,) = set(values.columns) - {sensitive}
    listed: dict[str, list[str]] = defaultdict(list)
    for number, value in zip(values[bucket], values[sensitive], strict=True):
        listed[number].append(value)
    if sensitive in told.frame:
        raise CheckFailed("the sensitive value leaves beside its row")
    true: dict[str, list[str]] = defaultdict(list)
    for number, value in zip(told.frame[bucket], told.originals(sensitive), strict=True):
        true[number].append(value)
    for number, own in listed.items():
        if len(own) < least or len(set(own)) < len(own):
            raise CheckFailed("a bucket has too few values, or one twice")
        if sorted(own) != sorted(true[number]):
            raise CheckFailed("the values of a bucket are not those of its rows")
    if true.keys() != listed.keys():
        raise CheckFailed("a bucket has no values")


# --- cells that were changed ---------------------------------------------------------------------------


def count_masked(told: Told) -> None:
    """Columns without a step are as they were; every other column with a step is not, or is left out."""
    touched = {step["column"] for step in told.values["steps"] if step.get("column")}
    anywhere = any(not step.get("column") for step in told.values["steps"])
    for name in told.frame.columns:
        if name not in told.used:
            continue
        own, original = told.frame[name].tolist(), told.originals(name)
        same = [a == b for a, b in zip(own, original, strict=True)]
        if name in touched and all(same):
            raise CheckFailed(f"a step was to be taken on {name}, which leaves as it is")
        allowed = [
            is_same or (anywhere and cell in LEFT_OUT) for is_same, cell in zip(same, own, strict=True)
        ]
        if name not in touched and not all(allowed):
            raise CheckFailed(f"no step was declared on {name}, which is not as it was")
    for step in told.values["steps"]:
        if step["step"] == "truncate":
            longest = max(map(len, told.frame[step["column"]]))
            if longest > step["keep"]:
                raise CheckFailed("cells are longer than they were to be cut")


def count_classified(told: Told) -> None:
    """Classes are as they were, and no column of values is."""
    label = told.values["label"]
    if told.frame[label].tolist() != told.originals(label):
        raise CheckFailed("classes were changed")
    for name in told.values["columns"]:
        same = np.mean([a == b for a, b in zip(told.frame[name], told.originals(name), strict=True)])
        if same > 0.5:
            raise CheckFailed(f"{name} leaves as it is")


def count_pseudonyms(told: Told) -> None:
    """Each person has one pseudonym of their own that needs the key; other cells are as they were."""
    name = told.values["pseudonym"]
    pairs = set(zip(told.people, told.frame[name], strict=True))
    if not len(pairs) == len(set(told.people)) == len(set(told.frame[name])):
        raise CheckFailed("a person has several pseudonyms, or several have one")
    if {person for person, _ in pairs} & {word for _, word in pairs}:
        raise CheckFailed("a pseudonym is the key of a person")
    for column in told.values["columns"]:
        if told.frame[column].tolist() != told.originals(column):
            raise CheckFailed(f"{column} is not as it was")
    if set(told.frame.columns) != {name, *told.values["columns"]}:
        raise CheckFailed("a column leaves that was not chosen")
    again = draft_of(told.bench, told.bench.rows, lots(4)).release
    other = next(one for one in again.artefacts if isinstance(one, TableArtefact)).frame
    if set(other[name].astype("str")) & set(told.frame[name]):
        raise CheckFailed("another key gives the same pseudonyms")
    secret = [content for content in told.release.inside.keys.values() if len(content) >= 16]
    if not secret:
        raise CheckFailed("there is no key inside")


def count_rules(told: Told) -> None:
    """No declared rule has the declared support and confidence in what leaves."""
    for rule in told.values["rules"]:
        when, then = conditions(rule["when"]), conditions(rule["then"])
        fits = np.logical_and.reduce([told.frame[name].eq(word).to_numpy() for name, word in when])
        both = fits & np.logical_and.reduce([told.frame[name].eq(word).to_numpy() for name, word in then])
        support = both.mean() if len(both) else 0.0
        confidence = both.sum() / fits.sum() if fits.any() else 0.0
        if support >= float(told.values["support"]) and confidence >= float(told.values["confidence"]):
            raise CheckFailed("a rule that was to be hidden is found")
    for name in told.frame.columns:
        pairs = zip(told.frame[name], told.originals(name), strict=True)
        if any(cell not in (original, *LEFT_OUT) for cell, original in pairs):
            raise CheckFailed(f"{name} says what was not so")


def conditions(written: Any) -> list[tuple[str, str]]:
    """Return the columns and words of *column is word and …*, as the examples write it."""
    parts = str(written).split(" and ")
    return [tuple(part.replace('"', "").split(" is ", 1)) for part in parts]  # type: ignore[misc]


def claim_nothing(told: Told) -> None:
    """Nothing is promised, and no row is said to be somebody's."""
    promise = told.release.promise
    if promise.terms or promise.loss is not None:
        raise CheckFailed("something is claimed where nothing is promised")
    if any(isinstance(one, ModelArtefact | FileArtefact) and not one.files for one in told.release.artefacts):
        raise CheckFailed("a file without a name leaves")


# --- tables -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """A printed cell: its inner cells, what stands there (None where hidden), what is true, and whose."""

    inner: tuple[int, ...]
    shown: float | None
    true: Fraction
    people: tuple[Fraction, ...]


def cells_of(told: Told) -> tuple[list[Cell], int]:
    """Return the printed cells of a table, and how many inner cells there are."""
    frame, dictionary = told.tables[0].frame, told.tables[0].dictionary
    names, quantity = [one.name for one in dictionary[:-1]], dictionary[-1].name
    total = {one.name: one.values[-1] for one in dictionary[:-1]}
    labels = [[word for word in one.values if word != total[one.name]] for one in dictionary[:-1]]
    inner = {cells: place for place, cells in enumerate(itertools.product(*labels))}
    amounts = theirs_by_cell(told, names, inner)
    found = []
    for row in frame.to_dict("records"):
        choices = [
            own if row[name] == total[name] else [row[name]] for name, own in zip(names, labels, strict=True)
        ]
        places = tuple(inner[cells] for cells in itertools.product(*choices))
        own: Counter[str] = Counter()
        for place in places:
            own.update(amounts[place])
        shown = None if pd.isna(row[quantity]) else float(row[quantity])
        people = tuple(sorted(own.values(), reverse=True))
        found.append(Cell(places, shown, sum(people, Fraction(0)), people))
    return found, len(inner)


def theirs_by_cell(told: Told, names: Sequence[str], inner: dict[tuple[str, ...], int]) -> list[Counter[str]]:
    """Return what every person adds to every inner cell, counted from the used rows."""
    of = told.values["of"]
    keys = (
        as_texts(told.used[told.bench.key]) if told.bench.key else [str(one) for one in range(len(told.used))]
    )
    amounts: list[Counter[str]] = [Counter() for _ in inner]
    columns = []
    for place, name in enumerate(names):
        labels = {cells[place] for cells in inner}
        texts = told.cells(name, told.used[name])
        columns.append([one if one in labels else beside(one, labels) for one in texts])
    given = (
        [Fraction(1)] * len(keys)
        if of is None
        else [Fraction(as_text(one)) if pd.notna(one) else None for one in told.used[of]]
    )
    for person, amount, *cells in zip(keys, given, *columns, strict=True):
        place = inner.get(tuple(cells))
        if place is not None and amount is not None:
            amounts[place][person] += amount
    return amounts


def beside(cell: str, labels: set[str]) -> str:
    """Return the label under which a cell is counted that was not declared, or is missing."""
    named = ("(other)",) if cell else ("(missing)",)
    return next((one for one in (*named, "(other or missing)") if one in labels), cell)


def most_of(cells: list[Cell], size: int, cell: Cell, *, least: float) -> float:
    """Return the largest value that a hidden cell can have for who knows all that is printed.

    Everybody knows that no cell is below 0, and, of a hidden cell, that it is at least ``least``.
    """
    rows, right, above, below = [], [], [], []
    for one in cells:
        line = np.zeros(size)
        line[list(one.inner)] = 1
        if one.shown is not None:
            rows.append(line)
            right.append(one.shown)
        elif least:
            above.append(-line)
            below.append(-least)
    goal = np.zeros(size)
    goal[list(cell.inner)] = -1
    solved = linprog(goal, A_ub=above or None, b_ub=below or None, A_eq=rows or None, b_eq=right or None)
    if solved.status == 3:
        return math.inf
    if solved.status != 0:
        raise CheckFailed("what is printed contradicts itself")
    return -float(solved.fun)


def count_small_cells(told: Told) -> None:
    """What is printed is true and not small, and every small hidden cell can be as large as the threshold."""
    threshold = told.terms["threshold"]
    cells, size = cells_of(told)
    least = 1.0 if told.values["zeros"] == "printed" else 0.0
    for cell in cells:
        if cell.shown is not None:
            if cell.shown != cell.true:
                raise CheckFailed("a printed count is not true")
            if 0 < cell.true < threshold or (cell.true == 0 and least == 0):
                raise CheckFailed("a small count is printed")
        elif 0 < cell.true < threshold and most_of(cells, size, cell, least=least) < threshold - 1e-6:
            raise CheckFailed("a hidden count can be worked out to be below the threshold")


def count_small_sums(told: Told) -> None:
    """No printed sum lets a contributor be estimated, and hidden ones stay as far open as the rule asks."""
    cells, size = cells_of(told)
    for cell in cells:
        missing = too_close(cell, told)
        if cell.shown is not None:
            if abs(cell.shown - float(cell.true)) > ROUNDING:
                raise CheckFailed("a printed sum is not true")
            if missing:
                raise CheckFailed("a sum is printed in which a contributor could be estimated")
        elif missing and most_of(cells, size, cell, least=0.0) < float(cell.true + missing) - 1e-6:
            raise CheckFailed("a hidden sum can be worked out too closely")


def too_close(cell: Cell, told: Told) -> Fraction:
    """Return how much a sum lacks to be safe; 0 where it is."""
    people = [amount for amount in cell.people if amount]
    if not people:
        return Fraction(0)
    first, second = people[0], people[1] if len(people) > 1 else Fraction(0)
    rest, lacks = cell.true - first - second, Fraction(0)
    if told.values["rule"] == "p_percent":
        lacks = Fraction(told.values["p"]) / 100 * first - rest
    elif told.values["rule"] == "dominance":
        largest = sum(people[: told.values["n"]], Fraction(0))
        lacks = largest * 100 / Fraction(told.values["k"]) - cell.true
    if len(people) < told.terms["threshold"]:
        lacks = max(lacks, Fraction(1, 10**6))
    return max(lacks, Fraction(0))


def count_rounded(told: Told) -> None:
    """Every number is a multiple of the base and near the true one."""
    base = told.terms["base"]
    for cell in cells_of(told)[0]:
        if cell.shown is None or cell.shown % base or abs(cell.shown - float(cell.true)) >= base:
            raise CheckFailed("a number is no multiple of the base near the true one")


def count_keyed(told: Told) -> None:
    """Every count is changed by at most the largest change, and not all are as they were."""
    cells = cells_of(told)[0]
    if any(
        cell.shown is None or abs(cell.shown - float(cell.true)) > told.terms["largest"] for cell in cells
    ):
        raise CheckFailed("a count was changed by more than promised")
    if all(cell.shown == float(cell.true) for cell in cells):
        raise CheckFailed("every count is as it was")


KINDS: dict[str, Callable[[Told], None]] = {
    "k_anonymity": count_groups,
    "l_diversity": count_buckets,
    "masked": count_masked,
    "for_classifiers": count_classified,
    "pseudonymous": count_pseudonyms,
    "rules_hidden": count_rules,
    "none": claim_nothing,
    "small_cells": count_small_cells,
    "small_sums": count_small_sums,
    "rounded": count_rounded,
    "cell_keys": count_keyed,
}
"""How the promise of every kind is counted again."""
TERMS: dict[str, frozenset[str]] = {
    "k_anonymity": frozenset(
        (
            *("k", "columns", "set_k", "sensitive", "distinct_l", "entropy_l", "recursive_l", "recursive_c"),
            *("t", "distance", "beta", "average_risk", "most_presence", "population_k", "population_risk"),
        )
    ),
    "l_diversity": frozenset(("l", "sensitive")),
    "small_cells": frozenset(("threshold",)),
    "small_sums": frozenset(("threshold", "rule")),
    "rounded": frozenset(("base",)),
    "cell_keys": frozenset(("largest",)),
}
"""Which terms are counted again."""
