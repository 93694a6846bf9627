"""Randomised response with whole numbers: how answers are changed, which reports count, what is estimated."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np

from engine import strict_json
from engine.privacy.mechanisms.randomised_response import RandomisedResponse

RANGE = 2**32
"""A browser draws whole numbers below this."""
NORMAL_95 = 1.959963984540054
NORMAL_50 = 0.6744897501960817
LEFT_OUT = ("malformed", "other_kit", "impossible", "repeated", "contradicting")
_CODE = re.compile(r"survey-([0-9a-f]{16})-([0-9a-f]{16})((?:-[1-9][0-9]{0,2})+)")


@dataclass(frozen=True)
class Question:
    """A question, and how its answers are changed.

    Parameters
    ----------
    text, levels
        What is asked, and the possible answers, at least 2.
    true, other
        How many tickets of a lottery keep the true answer, and how many lead to each of the others.
    epsilon
        The declared privacy level: at least ln(true / other).

    Examples
    --------
    >>> question = Question("Smoker?", ("yes", "no"), true=3, other=1, epsilon=Fraction(11, 10))
    >>> question.truth, question.gap
    (Fraction(3, 4), Fraction(1, 2))
    """

    text: str
    levels: tuple[str, ...]
    true: int
    other: int
    epsilon: Fraction

    @property
    def tickets(self) -> int:
        """How many tickets there are, at most `RANGE`."""
        return self.true + (len(self.levels) - 1) * self.other

    @property
    def truth(self) -> Fraction:
        """The probability p of reporting the true answer."""
        return Fraction(self.true, self.tickets)

    @property
    def gap(self) -> Fraction:
        """p − q, with q the probability of each other answer."""
        return Fraction(self.true - self.other, self.tickets)

    @property
    def moved_by_forged(self) -> Fraction:
        """By how many percentage points one made-up report in 100 moves an estimated share, at most.

        A share is (c/n − q) / (p − q): a hundredth of c/n is a hundredth over p − q of it.
        """
        return 1 / self.gap

    @property
    def event(self) -> RandomisedResponse:
        """What protects the answer."""
        return RandomisedResponse(self.truth, len(self.levels))

    def widest_error(self, reports: int) -> float:
        """Return the largest standard error of a share that ``reports`` people can bring about."""
        return max(self.standard_error(Fraction(share), reports) for share in (0, 1))

    def standard_error(self, share: Fraction, reports: int) -> float:
        """Return the standard error of an estimated share, from the lots that the respondents drew.

        Notes
        -----
        Given the true answers, √(π p(1 − p) + (1 − π) q(1 − q)) / (√n (p − q)): a sum of two binomial counts.
        It is linear in π below the root, so the estimate itself may stand for π, below 0 and above 1 too.
        """
        p, q = self.truth, Fraction(self.other, self.tickets)
        variance = share * p * (1 - p) + (1 - share) * q * (1 - q)
        return math.sqrt(variance / reports) / float(self.gap)

    def margin(self, error: float, reports: int) -> float:
        """Return within what 95 of 100 estimates lie, given their standard error.

        Notes
        -----
        1.96 standard errors and half a report: counts are whole numbers, and without the half up to 10 of 100
        estimates of small surveys lie outside.
        """
        return NORMAL_95 * error + 1 / (2 * reports * float(self.gap))


def question_at(text: str, levels: tuple[str, ...], epsilon: Fraction) -> Question:
    """Return a question whose answers are changed as little as ε allows, never less.

    Notes
    -----
    The true answer is kept with probability e^ε / (e^ε + k − 1), each other one comes with 1 / (e^ε + k − 1):
    Kairouz, Oh and Viswanath (2016), equation 13. In tickets: as many for each other answer as the range
    allows, and for the true one the most that still keeps the ratio below e^ε.

    Examples
    --------
    >>> question = question_at("Smoker?", ("yes", "no"), Fraction(1))
    >>> round(float(question.truth), 9), question.event.epsilon() <= 1
    (0.731058579, True)
    """
    odds = Fraction(math.exp(epsilon))
    other = max(1, math.floor(RANGE / (odds + len(levels) - 1)))
    question = Question(text, levels, math.floor(other * odds), other, epsilon)
    while question.event.epsilon() > epsilon or question.tickets > RANGE:
        question = Question(text, levels, question.true - 1, other, epsilon)
    return question


def question_with(text: str, levels: tuple[str, ...], truth: Fraction) -> Question | None:
    """Return a question that keeps the true answer with exactly this probability, or None.

    There is none where the probability is not above that of guessing, where it is 1, or where it has a
    denominator for which a browser's numbers are too small.

    Examples
    --------
    >>> question = question_with("Smoker?", ("yes", "no"), Fraction(3, 4))
    >>> question.true, question.other, float(question.epsilon)
    (3, 1, 1.09861228867)
    """
    k = len(levels)
    if not Fraction(1, k) < truth < 1:
        return None
    true, other = truth.numerator * (k - 1), truth.denominator - truth.numerator
    common = math.gcd(true, other)
    question = Question(text, levels, true // common, other // common, Fraction(0))
    if question.tickets > RANGE:
        return None
    return Question(text, levels, question.true, question.other, question.event.epsilon())


@dataclass(frozen=True)
class Kit:
    """What a kit and the collection of its reports have to agree on; nothing of it is secret."""

    title: str
    intro: str
    questions: tuple[Question, ...]
    respondents: int

    @property
    def id(self) -> str:
        """What reports name it by: the start of the SHA-256 of all that people see, and of the tickets."""
        seen = [
            self.title,
            self.intro,
            [[one.text, one.levels, one.true, one.other] for one in self.questions],
        ]
        return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:16]

    def dumps(self) -> bytes:
        """Return the kit as JSON."""
        tree = asdict(self)
        for question in tree["questions"]:
            question["epsilon"] = str(question["epsilon"])
        return (json.dumps(tree, ensure_ascii=False, indent=1) + "\n").encode()

    @staticmethod
    def loads(content: bytes) -> Kit | None:
        """Read what `dumps` wrote; None where it is no kit."""
        try:
            names = [part.name for part in fields(Kit)]
            tree = strict_json.members(strict_json.loads(content), "", must=names)
            kit = Kit(
                strict_json.text(tree["title"], "title"),
                strict_json.text(tree["intro"], "intro"),
                strict_json.items(tree["questions"], "questions", _question),
                strict_json.whole(tree["respondents"], "respondents"),
            )
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            return None
        fits = kit.questions and all(
            0 < one.other < one.true and len(one.levels) > 1 and one.event.epsilon() <= one.epsilon
            for one in kit.questions
        )
        return kit if fits else None


def _question(value: Any, field: str) -> Question:
    tree = strict_json.members(value, field, must=[part.name for part in fields(Question)])
    return Question(
        strict_json.text(tree["text"], f"{field}.text"),
        strict_json.items(tree["levels"], f"{field}.levels", strict_json.text),
        strict_json.whole(tree["true"], f"{field}.true"),
        strict_json.whole(tree["other"], f"{field}.other"),
        strict_json.number(tree["epsilon"], f"{field}.epsilon"),
    )


@dataclass(frozen=True)
class Received:
    """The reports that count: how many, how often each answer was reported, and why others were left out."""

    reports: int
    given: tuple[tuple[int, ...], ...]
    left_out: Mapping[str, int]


def received(cells: Iterable[object], kit: Kit, *, heading: str = "") -> Received:
    """Count the reports of a kit, whatever stands between them.

    Parameters
    ----------
    cells
        One report each, as the kit's page writes it; anything else is left out and counted.
    kit
        Whose reports they are.
    heading
        A cell that says this is the heading of a file that was appended, and no report.

    Notes
    -----
    A report that came twice counts once. Reports that share a number and say different things are all left
    out, since nobody can tell which one is right: the result does not depend on the order of the rows.
    """
    left_out: Counter[str] = Counter(dict.fromkeys(LEFT_OUT, 0))
    said: dict[str, set[tuple[int, ...]]] = {}
    came: Counter[str] = Counter()
    for text in _lines(cells):
        if heading and text == heading:
            continue
        number, answers, wrong = _read(text, kit)
        if wrong:
            left_out[wrong] += 1
            continue
        came[number] += 1
        said.setdefault(number, set()).add(answers)
    counted = [next(iter(answers)) for answers in said.values() if len(answers) == 1]
    left_out["contradicting"] = sum(came[number] for number, answers in said.items() if len(answers) > 1)
    left_out["repeated"] = sum(came[number] - 1 for number, answers in said.items() if len(answers) == 1)
    given = np.array(counted, dtype=np.int64).reshape(len(counted), len(kit.questions))
    counts = (
        tuple(np.bincount(given[:, place] - 1, minlength=len(question.levels)).tolist())
        for place, question in enumerate(kit.questions)
    )
    return Received(len(counted), tuple(counts), dict(left_out))


def _lines(cells: Iterable[object]) -> Iterator[str]:
    """Give every cell; one that swallowed lines after it, for a quote that nobody closed, line by line."""
    for cell in cells:
        for line in str(cell).splitlines() or [""]:
            yield line.strip().strip('"').strip()


def _read(text: str, kit: Kit) -> tuple[str, tuple[int, ...], str]:
    """Return number and answers of a report, or why it is none of this kit."""
    match = _CODE.fullmatch(text)
    if match is None:
        return "", (), "malformed"
    if match[1] != kit.id:
        return "", (), "other_kit"
    answers = tuple(int(answer) for answer in match[3].split("-")[1:])
    fits = len(answers) == len(kit.questions) and all(
        answer <= len(question.levels) for answer, question in zip(answers, kit.questions, strict=True)
    )
    return match[2], answers, "" if fits else "impossible"


def share(question: Question, given: int, reports: int) -> Fraction:
    """Return the unbiased estimate of how many of those who reported would truly give an answer.

    Notes
    -----
    (c/n − q) / (p − q), with c of n reports saying it. It can lie below 0 or above 1.

    Examples
    --------
    >>> share(Question("Smoker?", ("yes", "no"), 3, 1, Fraction(11, 10)), 40, 100)
    Fraction(3, 10)
    """
    return (Fraction(given, reports) - Fraction(question.other, question.tickets)) / question.gap
