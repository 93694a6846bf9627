"""One column given others by a forest: donors from the leaves of a tree drawn for each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.methods.datasets.synthesis.partition import Growing, Tree
from engine.methods.datasets.synthesis.variables import Codes, Floats, Variable

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


def _by_tree(trees: tuple[Tree, ...], n: int, chance: np.random.Generator) -> list[tuple[Tree, Codes]]:
    number = chance.integers(len(trees), size=n)
    order = np.argsort(number, kind="stable")
    ends = np.searchsorted(number[order], np.arange(1, len(trees)))
    parts = np.split(order, ends)
    return [(tree, part) for tree, part in zip(trees, parts, strict=True) if len(part)]
