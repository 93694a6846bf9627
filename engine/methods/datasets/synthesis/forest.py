"""One column given others by a forest: donors from the leaves of a tree drawn for each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.methods.datasets.synthesis.partition import Growing, Leaves, Tree
from engine.methods.datasets.synthesis.variables import Amounts, Codes, Floats, Levels, Variable, values_of

PREDICTORS_TRIED = 0.5
"""Share of the predictors that each cut of a tree may be made in."""


@dataclass(frozen=True)
class Forest:
    """Trees, of which one is drawn for each row; the donor is any row of the leaf that it leads to."""

    target: Variable
    trees: tuple[Tree, ...]
    beyond: float = 0.0

    def redrawn(self, chance: np.random.Generator) -> Forest:
        """Return itself: each tree saw a sample of its own."""
        return self

    def draw(self, predictors: list[Floats], n: int, chance: np.random.Generator) -> Floats:
        """Draw one value for each of n rows."""
        found = np.empty(n)
        for tree, rows in _by_tree(self.trees, n, chance):
            found[rows] = tree.draw([own[rows] for own in predictors], len(rows), chance)
        return found


@dataclass(frozen=True)
class Kernel:
    """Trees whose predictions are spread by a normal kernel, or counted as votes.

    Parameters
    ----------
    says
        By tree, what each of its leaves predicts: the mean of the amounts, or the most frequent level.

    Notes
    -----
    The form that A. Dandekar (2019), section 3.3, describes. Predictions are means of leaves, so that amounts
    vary less than the original ones.
    """

    target: Variable
    trees: tuple[Leaves, ...]
    says: tuple[Floats, ...]
    beyond: float = 0.0

    def redrawn(self, chance: np.random.Generator) -> Kernel:
        """Return itself: each tree saw a sample of its own."""
        return self

    def draw(self, predictors: list[Floats], n: int, chance: np.random.Generator) -> Floats:
        """Draw one value for each of n rows."""
        told = np.stack(
            [says[tree.leaf(predictors, n)] for tree, says in zip(self.trees, self.says, strict=True)]
        )
        picked = told[chance.integers(len(told), size=n), np.arange(n)]
        if isinstance(self.target, Levels):
            return picked
        # Silverman, Density Estimation (1986), equation 3.28
        width = 1.06 * told.std(axis=0, ddof=1) * len(told) ** -0.2
        return self.target.placed(picked + width * chance.standard_normal(n))


def forest(
    target: Variable,
    predictors: list[Variable],
    rows: Codes,
    *,
    smallest: int,
    trees: int,
    chance: np.random.Generator,
) -> Forest:
    """Grow trees, each on as many rows drawn with repetition as there are.

    Parameters
    ----------
    target, predictors, rows, smallest
        As for one tree; the fewest rows of a leaf are different ones.
    trees
        How many.
    chance
        Draws the rows of each tree.

    Notes
    -----
    As synthesisers: G. Caiola and J. Reiter, Transactions on Data Privacy 3 (2010). Donors are all training
    rows of a leaf, also those that the tree did not see.
    """
    growing = Growing.on(target, predictors, rows)
    grown = []
    for _ in range(trees if growing.encoders else 1):
        weights = np.bincount(chance.integers(len(rows), size=len(rows)), minlength=len(rows))
        grown.append(growing.leaves(smallest=smallest, weights=weights, tried=PREDICTORS_TRIED))
    return Forest(target, tuple(Tree(target, one) for one in grown))


def kernel(found: Forest) -> Kernel:
    """Return the form of a forest that spreads the predictions of its trees."""
    trees = tuple(tree.leaves for tree in found.trees)
    return Kernel(found.target, trees, tuple(_said(found.target, tree) for tree in trees))


def _said(target: Variable, tree: Leaves) -> Floats:
    leaf = np.repeat(np.arange(len(tree.count)), tree.count)
    values = values_of(target)[tree.rows]
    if isinstance(target, Amounts):
        return np.bincount(leaf, weights=values, minlength=len(tree.count)) / np.maximum(tree.count, 1)
    pairs, counts = np.unique(leaf * target.size + values.astype(np.int64), return_counts=True)
    best = np.lexsort((counts, pairs // target.size))  # the last of each leaf is its most frequent level
    said = np.zeros(len(tree.count))
    said[pairs[best] // target.size] = pairs[best] % target.size
    return said


def _by_tree(trees: tuple[Tree, ...], n: int, chance: np.random.Generator) -> list[tuple[Tree, Codes]]:
    number = chance.integers(len(trees), size=n)
    order = np.argsort(number, kind="stable")
    ends = np.searchsorted(number[order], np.arange(1, len(trees)))
    parts = np.split(order, ends)
    return [(tree, part) for tree, part in zip(trees, parts, strict=True) if len(part)]
