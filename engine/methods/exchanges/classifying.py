"""A classifier from pairs: what answers to several questions say of the one they were crossed with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from engine import arrays
from engine.methods.exchanges.estimating import Estimate, project_shares
from engine.methods.exchanges.kit import PAIR, Question

LEAST_REPORTS = 20_000
"""With fewer, one drawn question a person gains nothing on the most frequent class (census data)."""
SMALLEST = 1e-4  # a probability; 0 would let one answer decide against a class for good
MOST_TOGETHER = 50_000  # combinations of answers that are gone through

Array = arrays.Anything
Pairs = Sequence[tuple[Question, Sequence[Estimate]]]


@dataclass(frozen=True)
class Classifier:
    """Naive Bayes: shares of classes, and of each question the shares of answers within each class.

    Parameters
    ----------
    target, classes
        The question that the others were crossed with, and its answers.
    prior
        The share of each class.
    tables
        By question: answers, and a row each with their probabilities in each class; a column sums to 1.
    """

    target: str
    classes: tuple[str, ...]
    prior: Array
    tables: tuple[tuple[str, tuple[str, ...], Array], ...]

    @property
    def majority(self) -> float:
        """How often the most frequent class is right."""
        return float(self.prior.max())

    def alone(self, place: int) -> float:
        """How often the likeliest class is right, told from one question."""
        return float((self.tables[place][2] * self.prior).max(axis=1).sum())

    @property
    def together(self) -> float | None:
        """How often it is right from all, if answers are independent in each class; None for too many."""
        sizes = [len(answers) for _, answers, _ in self.tables]
        if np.prod(sizes, dtype=float) > MOST_TOGETHER:
            return None
        right = 0.0
        for answers in product(*map(range, sizes)):
            chances = self.prior.copy()
            for place, answer in enumerate(answers):
                chances = chances * self.tables[place][2][answer]
            right += float(chances.max())
        return right

    def rows(self) -> list[tuple[str, str, str, float]]:
        """Return question, answer, class, probability; first the classes themselves."""
        found = [
            (self.target, "", name, float(one)) for name, one in zip(self.classes, self.prior, strict=True)
        ]
        for question, answers, table in self.tables:
            found += [
                (question, answer, name, float(one))
                for answer, line in zip(answers, table, strict=True)
                for name, one in zip(self.classes, line, strict=True)
            ]
        return found


def crossed_pairs(questions: Sequence[Question]) -> tuple[Question, ...]:
    """Return the pairs, if there are several, that were all crossed with the same question."""
    pairs = tuple(one for one in questions if one.kind == PAIR)
    same = {(one.second_text, one.second_levels) for one in pairs}
    return pairs if len(pairs) > 1 and len(same) == 1 else ()


def classifier(pairs: Pairs) -> Classifier:
    """Return the classifier of pairs that were crossed with one question.

    Notes
    -----
    The classes' shares are the mean over pairs, weighed by reports. Each table is moved towards the product
    of its margins, by the part of its distance from it that lots alone explain, and no cell is below 0.
    """
    question = pairs[0][0]
    classes, target = question.second_levels, question.second_text
    weights = np.array([found[0].reports for _, found in pairs], dtype=float)
    cells = [np.array([one.share for one in found]).reshape(-1, len(classes)) for _, found in pairs]
    margin = sum(weight * one.sum(axis=0) for weight, one in zip(weights, cells, strict=True)) / weights.sum()
    prior = np.maximum(SMALLEST, project_shares(np.asarray(margin).tolist()))
    prior /= prior.sum()
    tables = []
    for (one, found), raw in zip(pairs, cells, strict=True):
        rows = np.array(project_shares(raw.sum(axis=1).tolist()))
        alone = np.outer(rows, prior)
        distance = float(((raw - alone) ** 2).sum())
        free = (len(one.levels) - 1) * (len(classes) - 1) / raw.size
        explained = free * sum(two.error**2 for two in found)
        part = min(1.0, explained / distance) if distance else 1.0
        mixed = np.maximum((1 - part) * raw + part * alone, SMALLEST * alone + 1e-12)
        tables.append((one.text, one.levels, mixed / mixed.sum(axis=0)))
    return Classifier(target, classes, prior, tuple(tables))
