"""Naive Bayes from changed answers, beside a book's figures: `ppml_book_local.md` holds what came.

    python tests/published/ppml_book_local.py

J. M. Chang, D. Zhuang, G. D. Samaraweera, "Privacy-preserving machine learning" (2023), section 5.3, and the
result files beside it. Here every person of Adult answers one pair, drawn by lot: the class, crossed with one
of eleven questions whose answers are declared.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.methods.exchanges.classifying import Classifier, classifier  # noqa: E402
from engine.methods.exchanges.estimating import estimates  # noqa: E402
from engine.methods.exchanges.kit import PAIR, Question  # noqa: E402
from engine.privacy.channels import Sets, for_choice  # noqa: E402
from tests.peers.model_tables import EDGES, adult  # noqa: E402

FITTED, RUNS = 32_561, 6
LEVELS = ("1/2", "1", "2", "4")
BINS = {
    "age": tuple(range(20, 80, 10)),
    "hours_per_week": tuple(range(20, 80, 10)),
    "education_num": (8, 9, 10, 13),
}
LEFT_OUT = ("fnlwgt", "education", "native_country")
# Percent right at ε .45, 1.05, 2, 5 by direct encoding; the larger class; columns
BOOK = {
    "Car": ((73, 82, 88, 91), 70.0, 6),
    "Chess": ((77, 86, 91, 92), 52.2, 36),
    "Mushroom": ((90, 92, 94, 96), 51.8, 22),
    "Connect-4": ((67, 70, 72, 73), 65.8, 42),
}


def spent(columns: int) -> int:
    """Return how many times ε the book's code spends of one person: the label, and every column twice.

    Each column is changed once in each block of a class, with the whole ε, whether the person is of that
    class or not: two people may differ in every report on the class of either.

    Examples
    --------
    >>> spent(36)
    73
    """
    return 1 + 2 * columns


def rows() -> tuple[dict[str, np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    """Return the columns of Adult as whole numbers, and the class."""
    case = adult()
    found = {}
    for name in case.predictors:
        column = case.frame[name]
        if name in LEFT_OUT:
            continue
        cuts = BINS.get(name) or EDGES.get(name, (0,))[1:]
        found[name] = (
            np.digitize(column, cuts) if cuts else np.unique(column.astype(str), return_inverse=True)[1]
        )
    return found, (case.truth > 0).astype(int)


def changed(truths: np.ndarray[Any, Any], channel: Sets, chance: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return what people report: sets of a channel for one of some answers."""
    keys = chance.random((len(truths), channel.universe))
    hit = chance.integers(channel.tickets, size=len(truths)) < channel.hit
    keys[np.arange(len(truths)), truths] = np.where(hit, -1, 2)  # surely among the smallest, or surely not
    return np.sort(np.argsort(keys, axis=1)[:, : channel.size], axis=1)


def fitted(level: str, seed: int, *, every: bool = False, people: int = FITTED) -> Classifier:
    """Return a classifier of one drawn pair a person; with ``every``, of all pairs at the whole ε each."""
    columns, classes = rows()
    chance, epsilon = np.random.default_rng(seed), Fraction(level)
    asked = chance.integers(len(columns), size=people)
    pairs = []
    for place, (name, values) in enumerate(columns.items()):
        count = int(values.max()) + 1
        channel = for_choice(2 * count, epsilon).channel
        assert isinstance(channel, Sets)
        labels = tuple(map(str, range(count)))
        question = Question(name, PAIR, labels, channel, epsilon, "income", ("lower", "higher"))
        own = np.arange(people) if every else np.flatnonzero(asked == place)
        pairs.append(
            (question, estimates(question, changed(2 * values[own] + classes[own], channel, chance)))
        )
    return classifier(pairs)


def right(made: Classifier) -> float:
    """Return percent of right answers on the rows that were not asked."""
    columns, classes = rows()
    scores = np.log(made.prior) + sum(
        np.log(table[columns[name][FITTED:]]) for name, _, table in made.tables
    )  # fmt: skip
    return 100 * float(np.mean(scores.argmax(axis=1) == classes[FITTED:]))


def main() -> None:
    """Print the rows of the table."""
    for level in LEVELS:
        honest = [right(fitted(level, seed)) for seed in range(RUNS)]
        twice = [right(fitted(level, seed, every=True)) for seed in range(RUNS)]
        print(f"| {level} | {np.mean(honest):.1f} | {np.mean(twice):.1f} |")
    print("clear", right(fitted("20", 0, every=True)))


if __name__ == "__main__":
    main()
