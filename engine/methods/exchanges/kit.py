"""A kit: its questions, how each of them is changed, what its reports look like. Nothing of it is secret."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

from engine import strict_json
from engine.numbers import shortest_json
from engine.pricing.posterior import posterior
from engine.privacy.channels import (
    Bit,
    Channel,
    Geometry,
    Option,
    Sets,
    Signs,
    Wave,
    channel_from_json,
    channel_to_json,
)
from engine.privacy.events import Mechanism
from engine.privacy.mechanisms import RandomisedResponse

ALL, ONE = "all", "one"
"""What one person is asked: every question, or one that is drawn by lot before it is shown."""
ONE_OF, SEVERAL, PAIR, SCALE, NUMBER, DATE, MEAN = KINDS = (
    "one_of", "several_of", "pair", "scale", "number", "date", "mean",
)  # fmt: skip
MEASURED = (SCALE, NUMBER, DATE, MEAN)
"""Kinds whose answers are equally spaced values with a mean."""
LANGUAGES = ("en", "de", "fr")
"""Languages of what a page or form says itself: whole files of words, of which English is the fallback."""
VERSION = 2
NEAR_PROOF = 90  # of 100; who is surer by a report than this has nearly a proof
MOST_PLACES = 4  # of a percentage; as many as are written
PLACES = 2  # hexadecimal digits for the question that was drawn


@dataclass(frozen=True)
class Question:
    """A question, and how its answers are changed.

    Parameters
    ----------
    text, kind, levels
        What is asked, one of `KINDS`, and the possible answers, at least 2.
    channel
        How an answer is changed.
    epsilon
        The declared privacy level: at least that of the channel.
    second_text, second_levels
        Of a pair: the question that is asked with it, and its answers.
    lowest, step
        Of measured answers: the value of the first, and from one to the next; days since 1970 of a date.
    """

    text: str
    kind: str
    levels: tuple[str, ...]
    channel: Channel
    epsilon: Fraction
    second_text: str = ""
    second_levels: tuple[str, ...] = ()
    lowest: Fraction = Fraction(0)
    step: Fraction = Fraction(1)

    @property
    def event(self) -> Mechanism:
        """What protects the answer."""
        channel = self.channel
        if isinstance(channel, Sets) and channel.ticks == channel.size == 1:
            return RandomisedResponse(Fraction(channel.hit, channel.tickets), channel.universe)
        return channel.event

    @property
    def answers(self) -> tuple[str, ...]:
        """What shares are estimated of: of a pair every combination."""
        if self.kind != PAIR:
            return self.levels
        return tuple(f"{one} · {other}" for one in self.levels for other in self.second_levels)

    @property
    def digits(self) -> int:
        """How many hexadecimal digits each number of a report has."""
        return len(f"{self.channel.layout[1] - 1:x}")

    @property
    def length(self) -> int:
        """How many digits a report on this question has."""
        return self.channel.layout[0] * self.digits

    @property
    def moved_by_forged(self) -> Fraction:
        """By how many points one made-up report on it in 100 moves a share, or a mean in its range."""
        channel = self.channel
        if isinstance(channel, Wave | Bit):
            y0, slope = channel.line()
            span = slope * (channel.levels - 1)
            return max(channel.layout[1] - 1 - y0, y0 + span) / span
        assert isinstance(channel, Sets | Geometry | Option | Signs)
        # Whoever makes a report up chooses the option, too
        return channel.shares().moved * (channel.options if isinstance(channel, Option) else 1)

    @property
    def fits(self) -> bool:
        """Whether the channel is one for such answers and keeps the declared level."""
        k, channel = len(self.answers), self.channel
        if self.kind in (ONE_OF, PAIR):
            right = (isinstance(channel, Sets) and (channel.universe, channel.ticks) == (k, 1)) or (
                isinstance(channel, Geometry) and channel.answers == k
            )
        elif self.kind == SEVERAL:
            right = (isinstance(channel, Sets) and channel.universe == k + channel.ticks) or (
                isinstance(channel, Option | Signs) and channel.options == k
            )
        else:
            right = isinstance(channel, Wave | Bit) and channel.levels == k
        both = {bool(self.second_text), bool(self.second_levels), self.kind == PAIR}
        right = right and k > 1 and self.kind in KINDS and len(both) == 1
        return right and channel.fits and self.event_level() <= self.epsilon

    @property
    def reason(self) -> str:
        """The word of why the channel is this one."""
        channel = self.channel
        if not isinstance(channel, Sets) or self.kind == SEVERAL:
            return "ticks" if isinstance(channel, Sets) else channel.kind
        return "direct" if channel.size == 1 else "set"

    def event_level(self) -> Fraction:
        """Return the ε of the channel, rounded up."""
        level = self.event.epsilon()
        assert level is not None
        return level

    def written_value(self, place: float) -> str:
        """Return a value of measured answers as people read it; ``place`` counts from the lowest."""
        value = self.lowest + self.step * Fraction(place)
        if self.kind == DATE:
            return (date(1970, 1, 1) + timedelta(days=round(value))).isoformat()
        return f"{float(value):.4g}"

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "text": self.text,
            "kind": self.kind,
            "levels": list(self.levels),
            "channel": channel_to_json(self.channel),
            "epsilon": str(self.epsilon),
            "second_text": self.second_text,
            "second_levels": list(self.second_levels),
            "lowest": str(self.lowest),
            "step": str(self.step),
        }


def rounded_up(sure: float) -> float:
    """Return a part of 100 rounded up to a tenth, or to as many places as say that it is no certainty.

    Examples
    --------
    >>> [rounded_up(one) for one in (73.106, 99.97, 99.99938, 99.9999999, 100.0)]
    [73.2, 99.97, 99.9994, 100.0, 100.0]
    """
    found = (math.ceil(10**places * sure - 1e-9) / 10**places for places in range(1, MOST_PLACES + 1))
    return next((one for one in found if one < 100), 100.0)


def labels(kind: str, lowest: Fraction, step: Fraction, count: int) -> tuple[str, ...]:
    """Return equally spaced numbers or days as texts."""
    values = (lowest + step * place for place in range(count))
    if kind == DATE:
        return tuple((date(1970, 1, 1) + timedelta(days=int(value))).isoformat() for value in values)
    return tuple(str(shortest_json(value)) for value in values)


@dataclass(frozen=True)
class Kit:
    """What a kit and the collection of its reports have to agree on.

    ``asked`` is `ALL` or `ONE`; ``device`` is what people draw with on paper, empty for a page; ``shared``
    says that many answer on one page. ``languages`` are those of the program's words, the one that is shown
    first at the beginning. ``reason`` is why made-up reports may move it far, empty where they do not or an
    earlier version asked for none; nobody who answers sees it. Kits of ``version`` 1 have randomised
    response alone, and no check digits.
    """

    title: str
    intro: str
    questions: tuple[Question, ...]
    respondents: int
    asked: str = ALL
    waves: int = 1
    device: str = ""
    shared: bool = False
    languages: tuple[str, ...] = LANGUAGES[:1]
    reason: str = ""
    version: int = field(default=VERSION, repr=False)

    @property
    def id(self) -> str:
        """What reports name it by: the start of the SHA-256 of all that people see, and of the lots."""
        if self.version == 1:
            asked: list[Any] = [
                [one.text, one.levels, one.channel.hit, _other(one)] for one in self.questions
            ]
            seen: list[Any] = [self.title, self.intro, asked]
        else:
            tree = [one.to_json() for one in self.questions]
            seen = [self.title, self.intro, self.asked, self.waves, self.device, self.shared, tree]
            if self.languages != LANGUAGES[:1]:
                seen.append(self.languages)
        return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:16]

    @property
    def told(self) -> tuple[Question, ...]:
        """The questions whose ε add up for one person: all, or the most telling where one is drawn."""
        if self.asked == ALL:
            return self.questions
        return (max(self.questions, key=Question.event_level),)

    @property
    def epsilon(self) -> Fraction:
        """The ε of one report, all its answers together."""
        levels = [one.epsilon for one in self.questions]
        return sum(levels, Fraction(0)) if self.asked == ALL else max(levels)

    @property
    def total(self) -> Fraction:
        """The ε of the reports of somebody who answers each time that the survey is made."""
        return self.waves * self.epsilon

    @property
    def sure(self) -> float:
        """How sure, in 100, one report can make somebody who was half sure: see `rounded_up`.

        For all answers at once: between any two sets of answers the odds change by at most e^ε of the whole.
        """
        return rounded_up(100 * posterior(0.5, float(self.epsilon)))

    @property
    def whole(self) -> str:
        """The word of what a whole report can prove: that it is never proof, or that it comes close to it."""
        return "whole" if self.sure <= NEAR_PROOF else "nearly"

    @property
    def sure_of_all(self) -> float:
        """The same, by the reports of somebody who answers each time that the survey is made."""
        return rounded_up(100 * posterior(0.5, float(self.total)))

    @property
    def length(self) -> int:
        """How many digits the answers of a report have."""
        lengths = [one.length for one in self.questions]
        return sum(lengths) if self.asked == ALL else PLACES + max(lengths)

    def moved_by_forged(self, question: Question) -> Fraction:
        """By how many points one made-up report in 100 moves a question: who makes it up chooses which."""
        return question.moved_by_forged * (1 if self.asked == ALL else len(self.questions))

    @property
    def moved(self) -> Fraction:
        """By how many points one made-up report in 100 moves the question that it moves the most."""
        return max(self.moved_by_forged(one) for one in self.questions)

    def people_for(self, reports: int) -> int:
        """Return how many of so many reports are on one question."""
        return reports if self.asked == ALL else reports // len(self.questions)

    def dumps(self) -> bytes:
        """Return the kit as JSON."""
        tree = {
            "version": self.version,
            "title": self.title,
            "intro": self.intro,
            "questions": [one.to_json() for one in self.questions],
            "respondents": self.respondents,
            "asked": self.asked,
            "waves": self.waves,
            "device": self.device,
            "shared": self.shared,
            "languages": list(self.languages),
            "reason": self.reason,
        }
        return (json.dumps(tree, ensure_ascii=False, indent=1) + "\n").encode()

    @staticmethod
    def loads(content: bytes) -> Kit | None:
        """Read what `dumps` wrote, of this version or the first; None where it is no kit.

        What was collected of it, which stands in the same state, is no part of a kit.
        """
        try:
            tree = strict_json.loads(content)
            kit = _second(tree) if isinstance(tree, Mapping) and "version" in tree else _first(tree)
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            return None
        right = kit.asked in (ALL, ONE) and kit.waves >= 1 and kit.version in (1, VERSION)
        right = right and 0 < len(set(kit.languages)) == len(kit.languages)
        return kit if right and kit.questions and all(one.fits for one in kit.questions) else None


def _other(question: Question) -> int:
    """Return the tickets of each other answer, of the first version."""
    return (question.channel.tickets - question.channel.hit) // (len(question.levels) - 1)


def _first(value: Any) -> Kit:
    must = ["title", "intro", "questions", "respondents"]
    tree = strict_json.members(value, "", must=must, may=["collected"])
    return Kit(
        strict_json.text(tree["title"], "title"),
        strict_json.text(tree["intro"], "intro"),
        strict_json.items(tree["questions"], "questions", _first_question),
        strict_json.whole(tree["respondents"], "respondents"),
        version=1,
    )


def _first_question(value: Any, where: str) -> Question:
    tree = strict_json.members(value, where, must=["text", "levels", "true", "other", "epsilon"])
    levels = strict_json.items(tree["levels"], f"{where}.levels", strict_json.text)
    true, other = (strict_json.whole(tree[name], f"{where}.{name}") for name in ("true", "other"))
    channel = Sets(true, true + (len(levels) - 1) * other, len(levels), 1, 1)
    epsilon = strict_json.number(tree["epsilon"], f"{where}.epsilon")
    return Question(strict_json.text(tree["text"], f"{where}.text"), ONE_OF, levels, channel, epsilon)


def _second(value: Mapping[str, Any]) -> Kit:
    names = ["version", "title", "intro", "questions", "respondents", "asked", "waves", "device", "shared"]
    tree = strict_json.members(value, "", must=names, may=["languages", "reason", "collected"])
    if strict_json.whole(tree["version"], "version") != VERSION:
        raise ValueError("another version")
    return Kit(
        strict_json.text(tree["title"], "title"),
        strict_json.text(tree["intro"], "intro"),
        strict_json.items(tree["questions"], "questions", _second_question),
        strict_json.whole(tree["respondents"], "respondents"),
        strict_json.text(tree["asked"], "asked"),
        strict_json.whole(tree["waves"], "waves"),
        strict_json.text(tree["device"], "device"),
        strict_json.truth(tree["shared"], "shared"),
        strict_json.items(tree.get("languages", ["en"]), "languages", _language),
        strict_json.text(tree.get("reason", ""), "reason"),
    )


def _language(value: Any, where: str) -> str:
    return strict_json.word(value, where, LANGUAGES)


def _second_question(value: Any, where: str) -> Question:
    names = (
        "text", "kind", "levels", "channel", "epsilon", "second_text", "second_levels", "lowest", "step",
    )  # fmt: skip
    tree = strict_json.members(value, where, must=names)
    return Question(
        strict_json.text(tree["text"], f"{where}.text"),
        strict_json.word(tree["kind"], f"{where}.kind", KINDS),
        strict_json.items(tree["levels"], f"{where}.levels", strict_json.text),
        channel_from_json(strict_json.read_named(tree["channel"], f"{where}.channel")),
        strict_json.number(tree["epsilon"], f"{where}.epsilon"),
        strict_json.text(tree["second_text"], f"{where}.second_text"),
        strict_json.items(tree["second_levels"], f"{where}.second_levels", strict_json.text),
        strict_json.number(tree["lowest"], f"{where}.lowest"),
        strict_json.number(tree["step"], f"{where}.step"),
    )
