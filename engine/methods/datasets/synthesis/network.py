"""One column given others by a small neural network, all columns seen as categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.methods.datasets.synthesis.design import Design, bins
from engine.methods.datasets.synthesis.partition import Leaves, Tree
from engine.methods.datasets.synthesis.regression import blocks, chosen
from engine.methods.datasets.synthesis.variables import Amounts, Codes, Floats, Levels, Variable, values_of

if TYPE_CHECKING:
    from sklearn.neural_network import MLPClassifier

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
            found[rows] = self.model.classes_[chosen(shares, chance)]
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
