"""Diversity and closeness against their definitions, and the earth mover against a linear program."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from engine.risk.encoding import encode
from engine.risk.groups import group_rows
from engine.risk.sensitive import (
    closeness,
    diversity,
    equal_distances,
    hierarchical_distances,
    ordered_distances,
    presence,
    sensitive_counts,
)
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Domain, Kind, Role, Schema
from engine.table.table import Table
from tests.engine.risk.tables import encoded

TREE = {
    "a": ("x", "left"), "b": ("x", "left"), "c": ("y", "left"), "d": ("z", "right"), "e": ("z", "right"),
}  # fmt: skip


def random_table(seed, values=5, rows=150, kind=Kind.CATEGORY):
    made = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrst"))[:values]
    frame = pd.DataFrame({"q": made.integers(0, 12, rows), "s": made.choice(letters, rows)})
    if kind is Kind.INTEGER:
        frame["s"] = frame["s"].map(ord) ** 2
    table = encoded(frame, ["q"], ["s"], kinds={"s": kind})
    groups = group_rows(table)
    return frame, groups, sensitive_counts(groups, table.columns["s"])


def by_group(frame):
    """Return q of every group, shape (groups, values), and p; values sorted."""
    counts = pd.crosstab(frame["q"], frame["s"]).to_numpy()
    return counts, counts / counts.sum(axis=1, keepdims=True), counts.sum(axis=0) / counts.sum()


def moved(q, p, distance):
    """The earth mover's distance by its definition: a linear program over all flows."""
    m = len(p)
    into = np.zeros((2 * m, m * m))
    for i in range(m):
        into[i, i * m : (i + 1) * m] = 1
        into[m + i, i::m] = 1
    return linprog(distance.ravel(), A_eq=into, b_eq=np.concatenate([q, p]), method="highs").fun


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rows", [30, 150])
def test_diversity_by_definition(seed, rows):
    frame, groups, counts = random_table(seed, rows=rows)
    table, q, _ = by_group(frame)
    found = diversity(counts, groups, recursive=(2, 3, 4))
    assert found.distinct == (table > 0).sum(axis=1).min()
    entropies = [-sum(x * math.log(x) for x in row if x) for row in q]
    assert found.entropy == pytest.approx(math.exp(min(entropies)))
    assert found.worst_share == pytest.approx(q.max())
    alone = (table > 0).sum(axis=1) == 1
    assert found.homogeneous_groups == alone.sum()
    assert found.homogeneous_people == table[alone].sum()
    for at, c in found.recursive.items():
        falling = -np.sort(-table, axis=1)
        tails = falling[:, at - 1 :].sum(axis=1)
        expected = math.inf if (tails == 0).any() else (falling[:, 0] / tails).max()
        assert c == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_distances_are_the_cheapest_flow(seed):
    frame, groups, counts = random_table(seed)
    _, q, p = by_group(frame)
    order = [groups.number[frame.index[frame["q"] == value][0]] for value in sorted(frame["q"].unique())]
    m = len(p)
    equal = 1.0 - np.eye(m)
    steps = np.abs(np.subtract.outer(np.arange(m), np.arange(m))) / (m - 1)
    paths = [("v" + letter, *TREE[letter]) for letter in sorted(TREE)]
    height = np.array(
        [[next((i for i in range(3) if one[i] == two[i]), 3) for two in paths] for one in paths]
    )
    tree = Hierarchy(tree=TREE)
    for distances, ground in (
        (equal_distances(counts), equal),
        (ordered_distances(counts), steps),
        (hierarchical_distances(counts, tree), height / tree.height),
    ):
        expected = [moved(row, p, ground) for row in q]
        assert distances[order] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_closeness_by_definition(seed):
    frame, _, counts = random_table(seed)
    _, q, p = by_group(frame)
    found = closeness(counts)
    assert found.distance == "equal"
    assert found.t == pytest.approx(0.5 * np.abs(q - p).sum(axis=1).max())
    assert found.beta == pytest.approx(((q - p) / p).max())
    assert found.delta == pytest.approx(max(abs(math.log(x)) for x in (q / p).ravel() if x))
    assert found.within_logarithm == bool(((q - p) / p <= -np.log(p) + 1e-12).all())


def test_which_distance():
    frame = {"q": [1, 1, 2], "s": [3, 10, 3]}
    assert closeness_of(frame, Column("s", Role.SENSITIVE, Kind.INTEGER)).distance == "ordered"
    assert closeness_of(frame, Column("s", Role.SENSITIVE, Kind.CATEGORY)).distance == "equal"
    named = {"q": [1, 1, 2], "s": ["low", "high", "low"]}
    declared = Domain(values=("low", "middle", "high"))
    ordinal = Column("s", Role.SENSITIVE, Kind.ORDINAL, domain=declared)
    assert closeness_of(named, ordinal).distance == "ordered"
    tree = Hierarchy(tree={"low": ("little",), "high": ("much",)})
    assert (
        closeness_of(named, Column("s", Role.SENSITIVE, Kind.CATEGORY, hierarchy=tree)).distance
        == "hierarchical"
    )


def closeness_of(frame, column):
    table = encode(Table(pd.DataFrame(frame)), Schema((Column("q", Role.IDENTIFYING), column)))
    return closeness(sensitive_counts(group_rows(table), table.columns["s"]))


def test_an_ordered_category_follows_its_declared_order():
    frame = {"q": [1, 1, 2, 2], "s": ["high", "low", "middle", "middle"]}
    column = Column("s", Role.SENSITIVE, Kind.ORDINAL, domain=Domain(values=("low", "middle", "high")))
    # p = (¼, ½, ¼); both groups: |cumulated difference| = ¼ and ¼, over two steps
    assert closeness_of(frame, column).t == pytest.approx(0.25)


def test_many_values_and_few_rows_agree_with_the_dense_form():
    made = np.random.default_rng(4)
    frame = pd.DataFrame({"q": made.integers(0, 400, 2000), "s": made.integers(0, 3000, 2000)})
    table = encoded(frame, ["q"], ["s"], kinds={"s": Kind.INTEGER})
    groups = group_rows(table)
    counts = sensitive_counts(groups, table.columns["s"])
    _, q, p = by_group(frame)
    expected = np.abs(np.cumsum(q - p, axis=1)).sum(axis=1) / (len(p) - 1)
    assert ordered_distances(counts).max() == pytest.approx(expected.max())
    assert ordered_distances(counts).sum() == pytest.approx(expected.sum())


def test_one_value_only():
    frame, groups, counts = random_table(1, values=1)
    found = closeness(counts)
    assert (found.t, found.beta, found.delta) == (0.0, 0.0, 0.0)
    assert diversity(counts, groups).homogeneous_people == len(frame)


def test_presence_by_hand():
    found = presence(np.array([1, 3, 2]), np.array([4, 3, 8]), all_met=True)
    assert (found.least, found.most) == (0.25, 1.0)
    assert presence(np.array([1]), np.array([4]), all_met=False).least == 0.0


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        (Kind.INTEGER, ["9", "10", "?"]),
        (Kind.NUMBER, ["9.50", "10.0", "?"]),
        (Kind.DATE, ["2020-02-01", "2021-01-01", "?"]),
    ],
)
def test_a_missing_code_in_words_leaves_numbers_and_dates_in_their_order(kind, written):
    low, high, gone = written
    rows = pd.DataFrame({"g": [1, 1, 2, 2], "s": [low, high, gone, high]}, dtype="str")
    schema = Schema((Column("g", Role.IDENTIFYING), Column("s", Role.SENSITIVE, kind, missing=("?",))))
    table = encode(Table(rows), schema)
    found = closeness(sensitive_counts(group_rows(table), table.columns["s"]))
    # lowest, highest, missing last: cumulated (1, 3, 4)/4 against (1, 2, 2)/2 and (0, 1, 2)/2
    assert (found.distance, found.t) == ("ordered", 0.25)
