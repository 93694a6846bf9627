"""People who answer a survey, with the very steps of the page's script, on numbers of the test's own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.methods.exchanges.kit import ALL, Kit, Question
from engine.methods.exchanges.reading import check_digits
from engine.privacy.channels import Bit, Channel


def drawn(truth: tuple[int, ...], channel: Channel, chance: np.random.Generator) -> tuple[int, ...]:
    """Return one outcome: a lot, then outcomes until one is on the side that it named."""
    if isinstance(channel, Bit):
        truth = (channel.levels - 1 if chance.integers(channel.levels - 1) < truth[0] else 0,)
    hit = chance.integers(channel.tickets) < channel.hit
    count, below = channel.layout
    while True:
        if channel.kind == "signs":
            found = tuple(chance.integers(2, size=count).tolist())
        else:
            found = tuple(sorted(chance.choice(below, size=count, replace=False).tolist()))
        if channel.marks(truth, found) == hit:
            return found


def direct(answers: np.ndarray, question: Question, chance: np.random.Generator) -> np.ndarray:
    """Return what randomised response makes of many answers at once."""
    k = question.channel.layout[1]
    others = (answers + chance.integers(1, k, size=len(answers))) % k
    return np.where(
        chance.integers(question.channel.tickets, size=len(answers)) < question.channel.hit, answers, others
    )


def outcomes(answers: Sequence, question: Question, chance: np.random.Generator) -> list[tuple[int, ...]]:
    """Return what people report; an answer is a number, or several of what was ticked."""
    channel = question.channel
    if channel.kind == "sets" and channel.ticks == channel.size == 1:
        return [(one,) for one in direct(np.asarray(answers), question, chance).tolist()]
    return [drawn(filled(one, question), channel, chance) for one in answers]


def filled(answer: int | tuple[int, ...], question: Question) -> tuple[int, ...]:
    """Return an answer as the places that it marks: ticks are filled up."""
    ticked = (int(answer),) if not isinstance(answer, tuple) else answer
    if question.kind != "several_of" or question.channel.kind != "sets":
        return ticked
    k = len(question.levels)
    return (*ticked, *range(k, k + question.channel.ticks - len(ticked)))


def written(kit: Kit, number: int, reported: Sequence[tuple[int, tuple[int, ...]]]) -> str:
    """Return a report as the page writes it: what was drawn for each question that was asked."""
    if kit.version == 1:
        return "-".join(["survey", kit.id, f"{number:016x}", *(str(one[0] + 1) for _, one in reported)])
    body = ""
    for place, numbers in reported:
        body += "" if kit.asked == ALL else f"{place:02x}"
        body += "".join(f"{one:0{kit.questions[place].digits}x}" for one in numbers)
    text = f"survey2-{kit.id}-{number:016x}-{body.ljust(kit.length, '0')}"
    return f"{text}-{check_digits(text)}"


def reports(kit: Kit, answers: Sequence[Sequence], seed: int) -> list[str]:
    """Return the reports of people, one list of true answers for each question."""
    chance = np.random.default_rng(seed)
    every = [outcomes(one, question, chance) for one, question in zip(answers, kit.questions, strict=True)]
    numbers = chance.integers(0, 2**63, size=len(every[0])).tolist()
    asked = chance.integers(len(kit.questions), size=len(numbers)).tolist()
    found = []
    for person, number in enumerate(numbers):
        places = range(len(kit.questions)) if kit.asked == ALL else [asked[person]]
        found.append(written(kit, number, [(place, every[place][person]) for place in places]))
    return found
