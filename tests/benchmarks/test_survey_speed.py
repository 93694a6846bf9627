"""A million reports of a survey are read within ten counts of one question, each."""

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from engine.methods.exchanges.kit import Kit, Question
from engine.methods.exchanges.reading import CHECKED_BELOW, read_reports
from engine.privacy.channels import Sets
from tests.engine.methods.exchanges.respondents import reports

pytestmark = pytest.mark.benchmark
ONE = Fraction(1)
YES = Question("?", "one_of", ("yes", "no"), Sets.at(2, 1, 1, ONE), ONE)
LONG = Question("?", "one_of", tuple(map(str, range(20))), Sets.at(20, 1, 5, ONE), ONE)
REPORTS, QUESTIONS = 1_000_000, 20


def lines_of(kit: Kit) -> list[str]:
    """Return reports with a number of their own each, made of a thousand that people drew."""
    few = reports(kit, [np.arange(1000) % len(one.levels) for one in kit.questions], 6)
    begin = f"survey2-{kit.id}-"
    at = len(begin) + 16
    bare = [f"{begin}{number:016x}{few[number % 1000][at:-5]}" for number in range(REPORTS)]
    letters = np.array(bare, dtype="S").view(np.uint8).reshape(REPORTS, -1)
    sums = np.einsum("ij,j->i", letters, np.arange(1, letters.shape[1] + 1))
    return [f"{one}-{check % CHECKED_BELOW:04x}" for one, check in zip(bare, sums.tolist(), strict=True)]


def test_a_million_reports_on_twenty_questions_are_read_fast() -> None:
    """Beside one count of each question: of a table, of answers in a list, and of an array of one question.

    `np.bincount` counts one column of a million whole numbers below 20, once for each of the 20 questions.
    The goal is ten times those of a table, whose rows are people. An array of one question is counted before
    the letters of the reports are even in one place: 8 bytes that lie ready against 157 and their check.
    That ratio only notices when reading becomes slower.
    """
    asked = tuple(replace(YES if place % 2 else LONG, text=str(place)) for place in range(QUESTIONS))
    kit = Kit("Title", "", asked, 100)
    lines = lines_of(kit)
    start = time.process_time()
    found = read_reports(lines, kit)
    took = time.process_time() - start
    assert found.reports == REPORTS and sum(found.left_out.values()) == 0
    table = np.random.default_rng(1).integers(0, 20, size=(REPORTS, QUESTIONS))
    array = table[:, 0].copy()
    times = []
    for columns in (table.T, [array.tolist()] * QUESTIONS, [array] * QUESTIONS):
        start = time.process_time()
        for answers in columns:
            np.bincount(answers, minlength=20)
        times.append(time.process_time() - start)
    assert took < 10 * times[0] and took < 2.5 * times[1] and took < 45 * times[2], (took, times)
