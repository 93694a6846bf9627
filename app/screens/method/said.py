"""The words about ways to release: a line of the list, and what the right-hand side says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

from app import words
from app.parts.panel import Explanation, Part
from app.screens.method.ways import Way
from app.state import flow
from app.words.money import level, size
from app.work.choosing import Offer, ruled_out_by, title
from engine.methods.protocol import Spends


def way(offer: Offer, answers: dict[str, str]) -> Way:
    """Return a line of the list in words."""
    method = offer.method
    kind = method.promises[0]
    short = f"promises.{kind}.short"
    against = " ".join(
        words.say(f"app.method.ask.{name}.against.{answers[name]}") for name in ruled_out_by(offer, answers)
    )
    return Way(
        method.id,
        title(method),
        words.say(f"methods.{method.id}.summary").split(". ")[0].rstrip(".") + ".",
        words.say(short if words.has(short) else f"promises.{kind}.name"),
        offer.bounded,
        _exactness(offer),
        _cost(offer),
        words.say(f"app.method.spends.{_spends(method)}.account"),
        against,
        offer.has_example,
    )


def which_rule_out(others: Sequence[Offer], answers: Mapping[str, str]) -> str:
    """Say of each answer how many of the ways that do not fit it rules out."""
    counts = {name: sum(name in ruled_out_by(one, answers) for one in others) for name in answers}
    return " ".join(
        words.say(f"app.method.ask.{name}.ruled_out", count=count) for name, count in counts.items() if count
    )


def none_fits(found: Sequence[Offer], answers: Mapping[str, str]) -> str:
    """Say, where no way fits, without which answer the most would, or without which few."""
    ruled_out = [set(ruled_out_by(one, answers)) for one in found]
    for count in range(1, len(answers) + 1):
        without = {some: sum(one <= set(some) for one in ruled_out) for some in combinations(answers, count)}
        best = max(without, key=lambda some: without[some])
        if without[best]:
            break
    asked = [words.say(f"app.method.ask.{name}.question") for name in best]
    if len(asked) == 1:
        return words.say("app.method.none_fits", question=asked[0], count=without[best])
    questions = ", ".join(f"“{one}”" for one in asked)
    return words.say("app.method.none_fits_several", questions=questions, count=without[best])


def _exactness(offer: Offer) -> str:
    if offer.error is None:
        return words.say("app.method.exactness.unknown")
    if not offer.error:
        return words.say("app.method.exactness.rows")
    return words.say(
        "app.method.exactness.within", error=size(offer.error), epsilon=level(offer.epsilon or 0)
    )


def _cost(offer: Offer) -> str:
    if offer.method.spends is Spends.FOLLOWS and offer.epsilon is not None:
        return words.say("app.method.spends.follows.cost_example", epsilon=level(offer.epsilon))
    return words.say(f"app.method.spends.{_spends(offer.method)}.cost")


def _spends(method: Any) -> str:
    """Return which words say what a method costs."""
    return method.spends if flow.spends(method) or method.spends is Spends.NOTHING else "unpaid"


def explanation(offer: Offer, see: Callable[[], None]) -> Explanation:
    """Return what the right-hand side says about a way; ``see`` shows its example."""
    method = offer.method
    base, source = f"methods.{method.id}", method.published
    where = ", ".join(part for part in (source.document, source.place, source.identifier) if part)
    parts = [
        Part(body=words.say(f"{base}.summary")),
        Part(words.say("app.method.guarantee"), words.say(f"promises.{method.promises[0]}.sentence")),
        Part(words.say("app.method.recipient_can"), words.say(f"{base}.recipient_can")),
        Part(words.say("app.method.recipient_cannot"), words.say(f"{base}.recipient_cannot")),
        Part(words.say("app.method.costs"), words.say(f"app.method.spends.{_spends(method)}.sentence")),
    ]
    tables = ", ".join(one.name for one in flow.further_sources(method))
    if tables:
        parts.append(Part(words.say("app.method.needs"), words.say("app.method.needs_tables", tables=tables)))
    if offer.has_example:
        parts.append(
            Part(
                words.say("app.method.example.heading"),
                words.say("app.method.example.help"),
                link=words.say("app.method.example.see"),
                follow=see,
            )
        )
    parts.append(Part(words.say("app.method.source"), where))
    return Explanation(title(method), tuple(parts))
