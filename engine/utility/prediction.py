"""What a classifier learns from a table, tested on people who had no part in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine import arrays
from engine.utility.scattered import order

Floats = arrays.Floats
Bools = arrays.Bools

LEAST_LEAF, MOST_LEAVES = 10, 400
LARGEST = 1e30
"""Of a number that is learnt from: 32 bits hold the sum of as many as there are rows."""


@dataclass(frozen=True)
class Predicted:
    """How well an outcome of yes and no is predicted.

    Parameters
    ----------
    area
        Under the curve: .5 for a guess, 1 for always right.
    right
        Share of right answers.
    """

    area: float
    right: float


def measure_prediction(train: Floats, outcome: Bools, test: Floats, truth: Bools) -> Predicted | None:
    """Learn an outcome on some rows and test it on others; None where either has one outcome alone.

    Parameters
    ----------
    train, test
        Shape (rows, columns); names by their places, NaN where an amount is missing.
    outcome, truth
        Shape (rows,).

    Examples
    --------
    >>> x = np.arange(200.0)[:, None]
    >>> measure_prediction(x, x[:, 0] > 99, x, x[:, 0] > 99)
    Predicted(area=1.0, right=1.0)
    """
    if outcome.all() or not outcome.any() or truth.all() or not truth.any():
        return None
    chances = _fit(train, outcome)(test)
    return Predicted(_area(truth, chances), float(((chances >= 0.5) == truth).mean()))


@dataclass(frozen=True)
class Told:
    """How well rows of two tables are told apart.

    Parameters
    ----------
    area
        .5 for not at all.
    error
        Mean squared distance of the chances from one half, as a share of the largest, ¼ (pMSE, 0 to 1).
    """

    area: float
    error: float


def told_apart(made: Floats, unused: Floats) -> Told | None:
    """Say how well a table is told from people who had no part in it; None with fewer than 40 rows.

    Parameters
    ----------
    made, unused
        Shape (rows, columns), in any order. As many rows are taken of the one as of the other.

    Notes
    -----
    Learnt on half of each, tested on the other halves. Against the people whom a table was made from, copies
    in both halves bring the area *below* one half: only people who were not used tell.

    Source of the error: J. Snoke and others, J. Royal Statistical Society A 181 (2018), equation 1.
    """
    count = min(len(made), len(unused))
    if count < 40:
        return None
    halves = []
    for stream, table in enumerate((made, unused)):
        mixed = table[order(len(table), stream)[:count]]
        halves.append((mixed[: count // 2], mixed[count // 2 :]))
    (made_train, made_test), (real_train, real_test) = halves
    is_made = np.repeat([True, False], [len(made_train), len(real_train)])
    chances = _fit(np.concatenate([made_train, real_train]), is_made)
    found = chances(np.concatenate([made_test, real_test]))
    truth = np.repeat([True, False], [len(made_test), len(real_test)])
    return Told(_area(truth, found), float(np.mean((found - 0.5) ** 2) / 0.25))


def _area(truth: Bools, chances: Floats) -> float:
    from sklearn.metrics import roc_auc_score  # on first use

    return float(roc_auc_score(truth, chances))


def _fit(train: Floats, outcome: Bools) -> Callable[[Floats], Floats]:
    """Fit a tree and return what gives the chance of yes.

    One tree, for it is fitted in a moment and the same rows give the same one: all tables are judged alike.
    It goes by the order of numbers alone, so that those too large for 32 bits may be `LARGEST`.
    """
    from sklearn.tree import DecisionTreeClassifier  # on first use

    # Which of two equal splits is taken goes by a lot: always the same one.
    leaf = max(LEAST_LEAF, len(train) // MOST_LEAVES)
    model = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0)
    model.fit(_within_32_bits(train).astype(np.float32), outcome)
    return lambda rows: np.asarray(model.predict_proba(_within_32_bits(rows).astype(np.float32))[:, 1])


def _within_32_bits(rows: Floats) -> Floats:
    return np.asarray(np.clip(rows, -LARGEST, LARGEST))
