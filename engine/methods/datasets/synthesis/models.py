"""What can model one column given others, by its name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from engine.methods.datasets.synthesis.design import Design, bins
from engine.methods.datasets.synthesis.partition import Growing, Leaves, Tree, leaves
from engine.methods.datasets.synthesis.regression import blocks, draw_places, linear, logistic
from engine.methods.datasets.synthesis.variables import Amounts, Codes, Floats, Levels, Variable, values_of

if TYPE_CHECKING:
    from sklearn.neural_network import MLPClassifier


class Model(Protocol):
    """The distribution of a column given others, fitted once and drawn from as often as asked."""

    @property
    def beyond(self) -> float:
        """Share of draws that are expected beyond the bounds of the column, and are set to them."""

    def redrawn(self, chance: np.random.Generator) -> Self:
        """Return the model of one copy: with parameters drawn from their posterior where there is one."""

    def draw(self, predictors: list[Floats], n: int, chance: np.random.Generator) -> Floats:
        """Draw one value for each of n rows: the place of a level, or an amount."""


class Learn(Protocol):
    """Fits a column on some rows of a table, given others."""

    def __call__(self, target: Variable, predictors: list[Variable], rows: Codes) -> Model:
        """Return the model."""


class Synthesiser(StrEnum):
    """A kind of model."""

    TREE = "tree"
    LINEAR = "linear"
    RANKS = "ranks"
    FOREST = "forest"
    NETWORK = "network"

    @property
    def is_proper(self) -> bool:
        """Whether parameters are drawn from a posterior for every copy."""
        return self in (Synthesiser.LINEAR, Synthesiser.RANKS)


def learning(kind: Synthesiser, *, smallest: int, chance: np.random.Generator, trees: int = 10) -> Learn:
    """Return what fits a column.

    Parameters
    ----------
    kind
        The kind of model.
    smallest
        Fewest rows of a leaf, of an interval, of a level of a predictor that regressions tell apart.
    chance
        Draws the rows of the trees of a forest, and the order of equal ranks.
    trees
        Of a forest.
    """

    kind = Synthesiser(kind)

    def learn(target: Variable, predictors: list[Variable], rows: Codes) -> Model:
        if kind is Synthesiser.TREE:
            return Tree(target, leaves(target, predictors, rows, smallest=smallest))
        if kind is Synthesiser.NETWORK:
            return network(target, predictors, rows, smallest=smallest)
        if kind is Synthesiser.FOREST:
            return forest(target, predictors, rows, smallest=smallest, trees=trees, chance=chance)
        if isinstance(target, Levels):
            return logistic(target, predictors, rows, smallest=smallest)
        ties = chance if kind is Synthesiser.RANKS else None
        return linear(target, predictors, rows, smallest=smallest, ties=ties)

    return learn


# --- a forest --------------------------------------------------------------------------------------------
# One column given others: donors from the leaves of a tree drawn for each row.


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


# --- a small neural network ------------------------------------------------------------------------------
# One column given others, all columns seen as categories.


HIDDEN = 64
SHOWN = 200_000
"""So many rows are shown to a network, in whole passes: many through a short table."""
FEWEST_PASSES, MOST_PASSES = 4, 20


@dataclass(frozen=True)
class Network:
    """A softmax over levels, or over intervals of amounts from which a donor is drawn.

    Parameters
    ----------
    design, model
        None where there is nothing to predict from, or but one level or interval: then by frequency.
    donors
        The training rows by level or interval.
    """

    target: Variable
    design: Design | None
    model: MLPClassifier | None
    donors: Tree
    beyond: float = 0.0

    def redrawn(self, chance: np.random.Generator) -> Network:
        """Return itself: its weights have no posterior that could be drawn from."""
        return self

    def draw(self, predictors: list[Floats], n: int, chance: np.random.Generator) -> Floats:
        """Draw one value for each of n rows."""
        return self.donors.drawn_in(self._classes(predictors, n, chance), chance)

    def _classes(self, predictors: list[Floats], n: int, chance: np.random.Generator) -> Codes:
        count = self.donors.leaves.count
        if self.model is None or self.design is None:
            return np.asarray(chance.choice(len(count), size=n, p=count / count.sum()))
        found = np.empty(n, dtype=np.int64)
        for rows in blocks(n, len(count)):
            shares = self.model.predict_proba(self.design.matrix([own[rows] for own in predictors]))
            found[rows] = self.model.classes_[draw_places(shares, chance)]
        return found


def network(target: Variable, predictors: list[Variable], rows: Codes, *, smallest: int) -> Network:
    """Train a network with one hidden layer.

    Parameters
    ----------
    target, predictors, rows
        As for a tree.
    smallest
        Fewest rows of an interval of amounts.
    """
    values = values_of(target)[rows]
    order = rows[np.argsort(values, kind="stable")]
    classes = values.astype(np.int64)
    if isinstance(target, Amounts):
        classes = np.searchsorted(bins(values, smallest=smallest), values, side="right")
    count = np.bincount(classes, minlength=target.size if isinstance(target, Levels) else 1)
    donors = Tree(target, Leaves(None, (), order, np.cumsum(count) - count, count))
    seen = np.empty((len(rows), 0))
    if predictors and (count > 0).sum() > 1:
        design = Design.fitted(predictors, rows, smallest=smallest, in_bins=True)
        seen = design.matrix([values_of(one)[rows] for one in predictors])
    if not seen.shape[1]:
        return Network(target, None, None, donors)
    from sklearn.neural_network import MLPClassifier  # on first use: it takes a second to load
    from threadpoolctl import threadpool_limits

    model = MLPClassifier((HIDDEN,), learning_rate_init=0.01)
    # products of so small matrices take longer on several processors, many times longer where these are busy
    with threadpool_limits(1):
        for _ in range(int(np.clip(SHOWN // len(rows), FEWEST_PASSES, MOST_PASSES))):
            model.partial_fit(seen, classes, classes=np.flatnonzero(count))
    return Network(target, design, model, donors)
