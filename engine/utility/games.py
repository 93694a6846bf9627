"""Whether rows of two tables can be told apart, and whether what is learnt from them is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine import arrays
from engine.utility.prediction import LEAST_LEAF, MOST_LEAVES
from engine.utility.scattered import order

Codes = arrays.Integers
Floats = arrays.Floats

CLASSIFIERS = ("tree", "boosted", "regression", "neighbours", "bayes")
MOST_PLAYED = 5_000
"""Rows of either table that a game takes: half to learn, half to test."""
FEWEST_PLAYED = 40
MOST_LEVELS = 30
"""Values of a column that are told apart by classifiers that know no order; the others count as one."""
BOOSTS, NEIGHBOURS, ROUNDS = 60, 15, 300


def advantages(one: Codes, other: Codes) -> dict[str, float] | None:
    """Return by classifier how much better than by a guess it tells whose a row is; None with too few rows.

    Parameters
    ----------
    one, other
        Rows as classes, shape (rows, columns), in any order. As many are taken of the one as of the other.

    Returns
    -------
    dict or None
        By `CLASSIFIERS`: 2 · share of right answers − 1 on rows that it did not learn from, at least 0.

    Notes
    -----
    The game of distinguishing: V. Bindschaedler (2018), definition 5.1. The best classifier there could be
    has as its advantage the total variation distance; that of any other is a lower bound, but for chance.
    The same rows give the same answer.
    """
    from threadpoolctl import threadpool_limits  # on first use; comes with scikit-learn

    count = min(len(one), len(other), MOST_PLAYED)
    if count < FEWEST_PLAYED:
        return None
    picked = [table[order(len(table), stream)[:count]] for stream, table in enumerate((one, other))]
    half = count // 2
    train, test = (
        np.concatenate([rows[part] for rows in picked]) for part in (slice(half), slice(half, None))
    )
    is_one = np.repeat([True, False], half), np.repeat([True, False], count - half)
    plain = train.astype(np.float32), test.astype(np.float32)
    apart = indicators(train, (train, test))
    found = {}
    with threadpool_limits(1):  # for tables this small, threads cost more than they bring
        for name, (model, reads_order) in _classifiers(len(train)).items():
            learn, try_on = plain if reads_order else apart
            right = float((model.fit(learn, is_one[0]).predict(try_on) == is_one[1]).mean())
            found[name] = max(0.0, 2 * right - 1)
    return found


def indicators(fitted: Codes, tables: Sequence[Codes]) -> list[Floats]:
    """Return tables of zeros and ones: one column for every frequent class of the rows fitted.

    Examples
    --------
    >>> indicators(np.array([[0], [2], [2]]), [np.array([[2], [5], [0]])])[0].tolist()
    [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    """
    parts: list[list[Floats]] = [[] for _ in tables]
    for column in range(fitted.shape[1]):
        counts = np.bincount(fitted[:, column])
        most = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
        levels = most[counts[most] > 0]
        for part, table in zip(parts, tables, strict=True):
            part.append((table[:, column, None] == levels).astype(np.float64))
    return [np.concatenate(part, axis=1) for part in parts]


@dataclass(frozen=True)
class Learnt:
    """How well one column is told from the others, each a share of right answers on the same rows.

    Parameters
    ----------
    made, original
        Learnt from invented rows, and from the original.
    most
        The most frequent class of the original, always.
    agreed
        On how many rows the two say the same, right or wrong.
    """

    made: float
    original: float
    most: float
    agreed: float


def learnt(column: int, made: Codes, original: Codes, test: Codes) -> Learnt:
    """Learn a column from the others in two tables, and say what it is in the rows of a third.

    Parameters
    ----------
    column
        Its place.
    made, original, test
        Rows as classes, shape (rows, columns).

    Notes
    -----
    Accuracy by attribute and agreement rate of V. Bindschaedler (2018), section 8.3, with one decision tree
    for each table.
    """
    truth, others = test[:, column], np.delete(test, column, axis=1).astype(np.float32)
    said = []
    for table in (made, original):
        model = _tree(len(table))
        model.fit(np.delete(table, column, axis=1).astype(np.float32), table[:, column])
        said.append(np.asarray(model.predict(others)))
    most = int(np.bincount(original[:, column]).argmax())
    return Learnt(
        float((said[0] == truth).mean()),
        float((said[1] == truth).mean()),
        float((truth == most).mean()),
        float((said[0] == said[1]).mean()),
    )


@dataclass(frozen=True)
class Within:
    """How many of 10,000 rows of a sub-population have a class of another column.

    Parameters
    ----------
    group, of
        Column and class that make the sub-population, and those that are counted.
    rows
        Rows of the sub-population in the original.
    original, made
        Counts for 10,000 rows of it; ``made`` is None where no invented row belongs to it.
    """

    group: tuple[str, int]
    of: tuple[str, int]
    rows: int
    original: float
    made: float | None

    @property
    def off(self) -> float:
        """How far the counts are apart: nobody is counted where no invented row belongs to it."""
        return abs(self.original - (self.made or 0.0))


def counts_within(
    original: Mapping[str, Codes], made: Mapping[str, Codes], groups: Sequence[str], *, least: int
) -> list[Within]:
    """Ask both tables the same counts within sub-populations.

    Parameters
    ----------
    original, made
        Classes by column.
    groups
        Columns whose classes make the sub-populations.
    least
        Rows of the original that a sub-population has at least.

    Notes
    -----
    V. Bindschaedler (2018), section 9.3.3, table 9.4.
    """
    found = []
    for group in groups:
        sizes = np.bincount(original[group])
        for level in np.flatnonzero((sizes >= least) & (sizes < len(original[group]))).tolist():
            own, there = original[group] == level, made[group] == level
            for name in original:
                if name == group:
                    continue
                size = int(max(original[name].max(), made[name].max(initial=0))) + 1
                exact = 10_000 * np.bincount(original[name][own], minlength=size) / own.sum()
                rows = int(there.sum())
                said = 10_000 * np.bincount(made[name][there], minlength=size) / rows if rows else None
                found += [
                    Within(
                        (group, level),
                        (name, value),
                        int(own.sum()),
                        float(exact[value]),
                        None if said is None else float(said[value]),
                    )
                    for value in np.flatnonzero(exact + (0 if said is None else said)).tolist()
                ]
    return found


def _classifiers(rows: int) -> dict[str, tuple[Any, bool]]:
    """Return classifiers whose fit is decided by the rows alone, and whether they read codes in order."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # on first use
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import BernoulliNB
    from sklearn.neighbors import KNeighborsClassifier

    boosted = HistGradientBoostingClassifier(max_iter=BOOSTS, early_stopping=False, random_state=0)
    neighbours = KNeighborsClassifier(min(NEIGHBOURS, rows), algorithm="brute")
    made: dict[str, tuple[Any, bool]] = {
        "tree": (_tree(rows), True),
        "boosted": (boosted, True),
        "regression": (LogisticRegression(max_iter=ROUNDS), False),
        "neighbours": (neighbours, False),
        "bayes": (BernoulliNB(), False),
    }
    return {name: made[name] for name in CLASSIFIERS}


def _tree(rows: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier  # on first use

    return DecisionTreeClassifier(min_samples_leaf=max(LEAST_LEAF, rows // MOST_LEAVES), random_state=0)
