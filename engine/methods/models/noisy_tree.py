"""A small decision tree from noisy counts: one table of classes by cells for every node and predictor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt

import numpy as np

from engine import arrays
from engine.methods.shared.blocks import blocks, small
from engine.methods.shared.division import Division, Query, joined
from engine.privacy.noise import Noise

Codes = arrays.Whole
Floats = arrays.Floats

LEVELS, LEAVES = "levels", "leaves"
LEAF_SHARE = 0.3


@dataclass(frozen=True)
class TreePlan:
    """What is counted, and with how much noise: from declarations alone.

    Parameters
    ----------
    classes
        How many classes there are.
    sizes
        Cells of every predictor.
    ordered
        How many of the first cells of every predictor have an order.
    depth
        How many questions lead to a leaf.
    epsilon, delta
        Of everything together; δ = 0 for noise of the Laplace kind.
    rows_per_person
        The cap.
    replace_one
        Whether neighbouring tables exchange a person.

    Notes
    -----
    On every level a row is in one node, and in one cell of each predictor's table of that node; at the end it
    is in one leaf. Nodes that ask nothing are counted too, so that what is drawn follows from the plan alone.
    """

    classes: int
    sizes: tuple[int, ...]
    ordered: tuple[int, ...]
    depth: int
    epsilon: Fraction
    delta: Fraction
    rows_per_person: int
    replace_one: bool

    @cached_property
    def division(self) -> Division:
        """How the budget is divided."""
        rows, times, tables = self.rows_per_person, 2 if self.replace_one else 1, len(self.sizes)
        ones, squared = times * rows, times * rows**2
        queries = (
            Query(LEVELS, ones * tables, squared * tables, 1 - LEAF_SHARE, self.depth),
            Query(LEAVES, ones, squared, LEAF_SHARE),
        )
        return Division(queries, self.epsilon, self.delta, self.replace_one).borne_out()


@dataclass(frozen=True)
class Question:
    """Which cells of which predictor lead to the first of two nodes; None where nothing is asked."""

    predictor: int
    first: tuple[int, ...]


@dataclass(frozen=True)
class Tree:
    """A complete binary tree.

    Parameters
    ----------
    questions
        By level and node; a node without one leads all rows to its first child.
    leaves
        Noisy number of rows of every class in every leaf, shape (leaves, classes).
    """

    questions: tuple[tuple[Question | None, ...], ...]
    leaves: Floats


def fit(target: Codes, codes: Sequence[Codes], plan: TreePlan, *, noise: Noise) -> Tree:
    """Grow a tree level by level.

    Parameters
    ----------
    target
        The class of every row; at least ``plan.classes`` where it has none, and so no part.
    codes
        By predictor, the cell of every row.
    """
    seen = (target >= 0) & (target < plan.classes)
    own, inside = target, codes
    if not seen.all():
        own, inside = target[seen], [one[seen] for one in codes]
    nodes, questions = np.zeros(len(own), dtype=small(2**plan.depth)), []
    for level in range(plan.depth):
        exact = _counted(nodes, own, inside, plan.sizes, (2**level, plan.classes))
        noisy = plan.division.noisy(LEVELS, joined(exact), noise).astype(np.float64)
        parts = np.split(noisy, np.cumsum([one.size for one in exact])[:-1])
        tables = [part.reshape(2**level, plan.classes, -1) for part in parts]
        asked = tuple(_best([table[node] for table in tables], plan) for node in range(2**level))
        questions.append(asked)
        for rows in blocks(len(nodes)):
            nodes[rows] = follow(nodes[rows], asked, [one[rows] for one in inside])
    leaves = 2**plan.depth
    (counts,) = _counted(nodes, own, [np.zeros_like(nodes)], (1,), (leaves, plan.classes))
    noisy = plan.division.noisy(LEAVES, counts, noise).astype(np.float64)
    return Tree(tuple(questions), noisy.reshape(leaves, plan.classes))


def _counted(
    nodes: Codes, target: Codes, codes: Sequence[Codes], sizes: Sequence[int], shape: tuple[int, int]
) -> list[arrays.Integers]:
    """Return by predictor how many rows there are of every node, class and cell, in that order."""
    found = [np.zeros(shape[0] * shape[1] * size, dtype=np.int64) for size in sizes]
    for rows in blocks(len(nodes)):
        kinds = nodes[rows].astype(np.int64) * shape[1] + target[rows]
        for counts, own, size in zip(found, codes, sizes, strict=True):
            counts += np.bincount(kinds * size + own[rows], minlength=counts.size)
    return found


def follow(nodes: Codes, asked: Sequence[Question | None], codes: Sequence[Codes]) -> Codes:
    """Return the node of every row one level further down."""
    second = np.zeros(len(nodes), dtype=np.uint8)
    for node, question in enumerate(asked):
        if question is not None:
            here = nodes == node
            second[here] = ~np.isin(codes[question.predictor][here], question.first)
    return 2 * nodes + second


def _best(tables: list[Floats], plan: TreePlan) -> Question | None:
    """Return the question that parts the classes of a node best, from its noisy tables; None where none does.

    A side must have more rows than four standard deviations of the noise of its sum.
    """
    scale, best, found = plan.division.deviation(LEVELS), 0.0, None
    for place, table in enumerate(tables):
        whole = _impurity(table.sum(axis=1))
        for first in _sides(table, plan.ordered[place]):
            inside = np.isin(np.arange(table.shape[1]), first)
            left, right = table[:, inside].sum(axis=1), table[:, ~inside].sum(axis=1)
            certain = [
                side.sum() > 4 * scale * sqrt(plan.classes * cells)
                for side, cells in ((left, inside.sum()), (right, (~inside).sum()))
            ]
            gain = whole - _impurity(left) - _impurity(right)
            # The gain of sums of noise alone grows with their deviation
            if all(certain) and gain - scale * sqrt(table.size) > best:
                best, found = gain - scale * sqrt(table.size), Question(place, first)
    return found


def _impurity(counts: Floats) -> float:
    """Return rows × Gini impurity of noisy class counts."""
    kept = np.maximum(counts, 0.0)
    total = float(kept.sum())
    return total - float((kept**2).sum()) / total if total > 0 else 0.0


def _sides(table: Floats, ordered: int) -> list[tuple[int, ...]]:
    """Return the cells of the first side of every question: the start of an order.

    The order is the declared one; without one, that of the share of the first class. Cells outside a declared
    order, for other and for missing values, are on the second side.
    """
    if ordered < 2:
        kept = np.maximum(table, 0.0)
        order = np.argsort(kept[0] / np.maximum(kept.sum(axis=0), 1e-9), kind="stable")
        return [tuple(sorted(map(int, order[:end]))) for end in range(1, len(order))]
    return [tuple(range(end)) for end in range(1, ordered + (ordered < table.shape[1]))]
