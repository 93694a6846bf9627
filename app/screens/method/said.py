"""The words about ways: what a card and a line say, why something does not fit, what stands at the right."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from app import words
from app.parts.panel import Explanation, Part
from app.screens.method.things import Said
from app.screens.method.ways import Way
from app.state import flow
from app.words.money import level, money, size
from app.work.choosing import Known, Offer, Thing, ruled_out_by, title
from engine import texts
from engine.methods.fitting import Lacks
from engine.methods.kinds import Held
from engine.methods.protocol import Spends

BASE = "app.method.things"
INSTANT = 1.0  # seconds that need no figure
WAITING = "…"


@dataclass(frozen=True)
class Tried:
    """What came of ways that were tried on invented people, by their ids; None where nobody can tell."""

    found: Mapping[str, Any]
    of: str = ""  # only what is off in the same is compared

    def off(self, method_id: str) -> float | None:
        """Return how far off a way was, of 1,000."""
        one = self.found.get(method_id)
        return one.off if one is not None and one.of == self.of else None

    def about(self, offers: Sequence[Offer]) -> Tried:
        """Return the same for ways of one kind: compared in what most of them are off in."""
        kinds = [
            one.of for offer in offers if (one := self.found.get(offer.method.id)) and one.off is not None
        ]
        return Tried(self.found, max(kinds, key=kinds.count, default=""))

    def has_all(self, offers: Sequence[Offer]) -> bool:
        """Say whether all of them were tried."""
        return all(one.method.id in self.found for one in offers)

    def seconds(self, method_id: str) -> float | None:
        """Return how long it took."""
        return getattr(self.found.get(method_id), "seconds", None)


# --- a card ---------------------------------------------------------------------------------------------


def card(thing: Thing, known: Known, answers: Mapping[str, str]) -> Said:
    """Return what the card of a thing says."""
    held, shown = f"{BASE}.{thing.held}", thing.default or thing.ways[0]
    others = len(thing.ways) - 1
    if not others:
        other = words.say(f"{BASE}.only")
    else:
        other = words.say(f"{BASE}.other") if others == 1 else words.say(f"{BASE}.others", count=others)
    return Said(
        thing.held,
        words.say(f"{held}.title"),
        words.say(f"{held}.what"),
        promise(shown),
        cost(shown, known),
        other,
        title(shown.method),
        "" if thing.default is not None else _small(why_unfit(thing.against, thing.lacking, answers)),
    )


def promise(offer: Offer) -> str:
    """Return what a way promises, in five words."""
    return words.say(f"promises.{offer.kind or offer.method.promises[0]}.short")


def cost(offer: Offer, known: Known) -> str:
    """Return what a way takes, as ε and in money."""
    method = offer.method
    if method.spends is Spends.NOTHING:
        return words.say(f"{BASE}.nothing")
    if method.spends is Spends.FOLLOWS or not flow.spends(method):
        epsilon = "" if offer.epsilon is None else level(offer.epsilon)
        return words.say(f"app.method.spends.{_spends(method)}.cost_example", epsilon=epsilon)
    if known.epsilon is None:
        if not known.left:
            return words.say(f"{BASE}.no_level")
        return words.say(f"{BASE}.left", left=level(known.left, down=True))
    said = words.say(f"{BASE}.level", epsilon=level(known.epsilon))
    if known.money is not None:
        said += f" · {money(known.money, known.currency)}"
    return said


def why_unfit(against: Sequence[str], lacking: Lacks | None, answers: Mapping[str, str]) -> str:
    """Say why something does not fit: which answers rule it out, or which columns the table lacks."""
    said = [
        words.say(f"app.method.ask.{name}.against.{answers[name]}") for name in against if name in answers
    ]
    if lacking is not None and lacking.rows:
        said.append(words.say(f"{BASE}.lacks_rows"))
    elif lacking is not None:
        kinds = ", ".join(words.say(f"app.kinds.{kind}") for kind in lacking.kinds)
        name = "lacks_one" if lacking.wanted == 1 else "lacks"
        if kinds:
            said.append(words.say(f"{BASE}.{name}", kinds=kinds, count=lacking.wanted))
        else:
            said.append(words.say(f"{BASE}.lacks_any", count=lacking.wanted))
    return " ".join(said)


def _small(sentence: str) -> str:
    """Return a sentence as it goes on behind a colon in the language in use."""
    return sentence[:1].lower() + sentence[1:] if words.small_behind_colon() else sentence


# --- a line ---------------------------------------------------------------------------------------------


def ways(
    offers: Sequence[Offer],
    answers: Mapping[str, str],
    lacking: Mapping[str, Lacks | None],
    tried: Tried,
    *,
    best: str = "",
    name_things: bool = False,
) -> list[Way]:
    """Return lines in words, in their order; ``best`` says by what the first that fits is so."""
    most = max((tried.off(one.method.id) or 0.0 for one in offers), default=0.0)
    made: list[Way] = []
    for offer in offers:
        method = offer.method
        against, lack = ruled_out_by(offer, answers), lacking.get(method.id)
        off, seconds = tried.off(method.id), tried.seconds(method.id)
        unfit = why_unfit(against, lack, answers)
        made.append(
            Way(
                method.id,
                title(method),
                words.say(f"{BASE}.{method.in_hands()}.title") if name_things else "",
                promise(offer),
                _slack(offer),
                words.say(f"methods.{method.id}.keeps"),
                "" if name_things else _off(off, method.id in tried.found),
                None if name_things or off is None or not most else off / most,
                "" if name_things else _seconds(seconds, method.id in tried.found),
                unfit,
                best=words.say(f"app.method.ways.best_{best}") if best and not made and not unfit else "",
                care=offer.slack is True,
                holds=words.say(f"methods.{method.id}.holds"),
            )
        )
    return made


def _slack(offer: Offer) -> str:
    if offer.slack is None:
        return _none()
    return words.say(f"app.method.ways.slack_{'yes' if offer.slack else 'no'}")


def _off(off: float | None, is_tried: bool) -> str:
    if off is None:
        return _none() if is_tried else WAITING
    return size(round(off))


def _seconds(seconds: float | None, is_tried: bool) -> str:
    if seconds is None:
        return _none() if is_tried else WAITING
    if seconds < INSTANT:
        return words.say("app.method.ways.instant")
    return words.say("app.method.ways.takes", seconds=round(seconds))


def why_first(
    offers: Sequence[Offer],
    answers: Mapping[str, str],
    lacking: Mapping[str, Lacks | None],
    tried: Tried,
    by: str,
) -> str:
    """Say why the first line is the first one, by what was compared."""
    fit = [one for one in offers if not ruled_out_by(one, answers) and lacking.get(one.method.id) is None]
    if len(fit) < 2 or fit[0] is not offers[0]:
        return words.say("app.method.ways.why_fits") if fit else ""
    first, others = fit[0], fit[1:]
    said = []
    unbounded = sum(not one.bounded for one in others)
    if first.bounded and unbounded:
        said.append(words.say("app.method.ways.why_bounded", count=unbounded))
    if first.method.usual and by == "usual":
        said.append(words.say("app.method.ways.why_usual"))
    alike = [tried.off(one.method.id) for one in others if one.bounded == first.bounded]
    off = tried.off(first.method.id)
    known = [one for one in alike if one is not None]
    if off is not None and known and off <= min(known):
        said.append(words.say("app.method.ways.why_exact"))
    if by == "seconds" and tried.seconds(first.method.id) is not None:
        said.append(words.say("app.method.ways.why_seconds"))
    return " ".join(said) or words.say("app.method.ways.why_fits")


def sorted_by(
    offers: Sequence[Offer],
    by: str,
    answers: Mapping[str, str],
    lacking: Mapping[str, Lacks | None],
    tried: Tried,
) -> list[Offer]:
    """Return lines best first: those that fit, then by what was asked; a promise is never traded for it."""
    if by == "usual":
        return list(offers)
    figure = tried.off if by == "off" else tried.seconds

    def place(offer: Offer) -> tuple[bool, bool, float]:
        unfit = bool(ruled_out_by(offer, answers)) or lacking.get(offer.method.id) is not None
        found = figure(offer.method.id)
        return unfit, not offer.bounded, float("inf") if found is None else found

    return sorted(offers, key=place)


def what_is_the_same(shown: Sequence[Way]) -> str:
    """Say once what all lines share."""
    if len(shown) < 2:
        return ""
    same = [_small(shown[0].promise)] if len({way.promise for way in shown}) == 1 else []
    if len({way.slack for way in shown}) == 1 and not shown[0].care and shown[0].slack != _none():
        same.append(words.say("app.method.ways.no_slack"))
    return words.say("app.method.ways.same", same=", ".join(same)) if same else ""


def _none() -> str:
    return words.say("app.method.ways.none")


# --- where nothing fits ---------------------------------------------------------------------------------


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
    return words.say("app.method.none_fits_several", questions=asked, count=without[best])


# --- the right-hand side --------------------------------------------------------------------------------


def _spends(method: Any) -> str:
    """Return which words say what a method costs."""
    return method.spends if flow.spends(method) or method.spends is Spends.NOTHING else "unpaid"


def explain_thing(
    thing: Thing, answers: Mapping[str, str], see: Callable[[str], None], open_ways: Callable[[Held], None]
) -> Explanation:
    """Return what the right-hand side says about a thing: of the way that one press takes."""
    shown = thing.default or thing.ways[0]
    method = shown.method
    base = f"methods.{method.id}"
    taken = words.say(f"{BASE}.{'taken' if thing.default is not None else 'usual'}", way=title(method))
    parts = [Part(taken, words.say(f"{base}.summary"))]
    if thing.passed is not None:
        why = why_unfit(thing.against, thing.lacking, answers)
        kept = thing.default is not None
        heading = words.say(f"{BASE}.{'instead' if kept else 'none'}", way=title(thing.passed.method))
        parts.insert(0, Part(heading, why[:1].upper() + why[1:], tone="care"))
    parts += [
        Part(words.say("app.method.guarantee"), words.say(f"promises.{shown.kind}.sentence")),
        *_can_cannot(base),
        Part(words.say("app.method.costs"), words.say(f"app.method.spends.{_spends(method)}.sentence")),
    ]
    if shown.has_example:
        parts.append(_example(lambda: see(method.id)))
    if len(thing.ways) > 1:
        nearest = next(one for one in thing.ways if one is not shown)
        said = words.say(f"methods.{nearest.method.id}.keeps")
        parts.append(
            Part(
                words.say(f"{BASE}.nearest"),
                words.pair(title(nearest.method), f"{said}."),
                link=words.say(f"{BASE}.see"),
                follow=lambda: open_ways(thing.held),
            )
        )
    return Explanation(words.say(f"{BASE}.{thing.held}.title"), tuple(parts))


def explain_briefly(offer: Offer, tell: Callable[[], None]) -> Explanation:
    """Return the promise of a way alone, while somebody reads a short answer; ``tell`` shows all of it."""
    return Explanation(promise(offer), (Part(link=words.say("app.method.about"), follow=tell),))


def explain_off(epsilon: Any) -> Explanation:
    """Return what the figures of the second glance mean, with the level at which ways were tried."""
    base = "app.method.help.off"
    parts = [Part(body=words.say(f"{base}.part1.body", epsilon=level(epsilon)))]
    for name in ("part2", "part3"):
        parts.append(Part(words.say(f"{base}.{name}.heading"), words.say(f"{base}.{name}.body")))
    return Explanation(words.say(f"{base}.title"), tuple(parts))


def _can_cannot(base: str) -> tuple[Part, ...]:
    return tuple(
        Part(words.say(f"app.method.{name}"), words.say(f"{base}.{name}"))
        for name in ("recipient_can", "recipient_cannot")
    )


def _example(see: Callable[[], None]) -> Part:
    heading, body = (words.say(f"app.method.example.{name}") for name in ("heading", "help"))
    return Part(heading, body, link=words.say("app.method.example.see"), follow=see)


def explanation(offer: Offer, see: Callable[[], None]) -> Explanation:
    """Return what the right-hand side says about a way; ``see`` shows its example."""
    method = offer.method
    base, source = f"methods.{method.id}", method.published
    identifier = re.sub(r"([/.:_])", "\\1\u200b", source.identifier)  # may go on in the next line
    place = words.label(texts.say_known(f"places.methods.{method.id}", source.place))
    where = ", ".join(part for part in (source.document, place, identifier) if part)
    parts = [
        Part(body=words.say(f"{base}.summary")),
        Part(words.say("app.method.guarantee"), words.say(f"promises.{offer.kind}.sentence")),
        *_can_cannot(base),
        Part(words.say("app.method.costs"), words.say(f"app.method.spends.{_spends(method)}.sentence")),
    ]
    tables = ", ".join(one.name for one in flow.further_sources(method))
    if tables:
        parts.append(Part(words.say("app.method.needs"), words.say("app.method.needs_tables", tables=tables)))
    if offer.has_example:
        parts.append(_example(see))
    parts.append(Part(words.say("app.method.source"), where))
    return Explanation(title(method), tuple(parts))
