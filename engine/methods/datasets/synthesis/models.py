"""What can model one column given others, by its name."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol, Self

import numpy as np

from engine.methods.datasets.synthesis.forest import forest
from engine.methods.datasets.synthesis.network import network
from engine.methods.datasets.synthesis.partition import Tree, leaves
from engine.methods.datasets.synthesis.regression import linear, logistic
from engine.methods.datasets.synthesis.variables import Codes, Floats, Levels, Variable


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
