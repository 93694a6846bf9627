"""People who answer a survey, with the very steps of the page's script, on numbers of the test's own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.methods.exchanges.responses import RANGE, Kit, Question


def below(count: int, size: int, chance: np.random.Generator) -> np.ndarray:
    """Draw whole numbers below ``count`` from 32-bit words by rejection, as the page does."""
    end = RANGE // count * count
    found = np.empty(0, dtype=np.int64)
    while len(found) < size:
        words = chance.integers(0, RANGE, size=size, dtype=np.int64)
        found = np.append(found, words[words < end] % count)
    return found[:size]


def reported(answers: np.ndarray, question: Question, chance: np.random.Generator) -> np.ndarray:
    """Return the answers (0, 1 …) as the page would report them."""
    tickets = below(question.tickets, len(answers), chance)
    others = (tickets - question.true) // question.other
    return np.where(tickets < question.true, answers, np.where(others < answers, others, others + 1))


def reports(kit: Kit, answers: Sequence[np.ndarray], seed: int) -> list[str]:
    """Return the reports of people, one array of true answers for each question."""
    chance = np.random.default_rng(seed)
    columns = [reported(one, question, chance) for one, question in zip(answers, kit.questions, strict=True)]
    names = chance.integers(0, 2**63, size=len(answers[0]))
    return [
        "-".join(["survey", kit.id, f"{name:016x}", *(str(answer + 1) for answer in row)])
        for name, row in zip(names, zip(*columns, strict=True), strict=True)
    ]
