"""Choosing among many methods: what a recipient holds, questions in words, which methods fit. No Qt.

Every answer is judged by what a method declares (kinds of promise, whether rows leave) and by the forecast of
its own worked example; no method is named here. An unanswered question rules nothing out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import log
from typing import Any

from app import words
from engine.methods.fitting import NO_ROWS, Lacks, lacks
from engine.methods.kinds import Changes, Held
from engine.methods.protocol import Family, Method, Rows
from engine.privacy.promise import promise_kind
from engine.progress import SILENT, Progress
from engine.release.plan import Plan
from engine.table.schema import Schema

SIZE = 100  # people of the group whose error is asked about
EXACT = ("5", "20")  # the largest errors that can be asked for
QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "who": ("anybody", "agreement", "house"),
    "rows": tuple(rows.value for rows in Rows),
    "how": tuple(one.value for one in Changes),
    "exact": (*EXACT, "any"),
}
ABOVE = {Rows.NONE: 0, Rows.SYNTHETIC: 1, Rows.COARSER: 2, Rows.REAL: 3}


@dataclass(frozen=True)
class Offer:
    """A method, and what its worked example is expected to show before anything is made.

    Parameters
    ----------
    method
        Of the catalogue.
    error
        What 95 of 100 releases of the example stay within, for a group of `SIZE` people; 0 where rows of
        people leave, so that counts are exact; None where nothing is known.
    epsilon
        The level of the example; None where it bounds no loss.
    has_example
        Whether there is one to look at.
    made
        The kind of promise that the example makes; "" where it is not known.
    slack
        Whether the promise needs a slack δ; None where it bounds no loss.
    adds_up
        Whether its example asks the table for no more than which cells occur together, as a server tells.
    """

    method: type[Method]
    error: float | None = None
    epsilon: Any = None
    has_example: bool = False
    made: str = ""
    slack: bool | None = None
    adds_up: bool = False

    @property
    def kind(self) -> str:
        """The kind of promise that is usual for it."""
        return self.made or self.method.promises[0]

    @property
    def bounded(self) -> bool:
        """Whether everything that it can promise bounds the privacy loss."""
        return all(promise_kind(kind).bounded for kind in self.method.promises)


def offers(progress: Progress = SILENT) -> tuple[Offer, ...]:
    """Return every method with what its example forecasts; reads no row and spends nothing."""
    from engine.methods.catalogue import methods

    found = methods()
    made = []
    for place, method in enumerate(found):
        progress.step(place / len(found), "table.prepare")
        made.append(offer(method))
    return tuple(made)


def offer(method: type[Method]) -> Offer:
    """Return a method with what its first example forecasts."""
    from engine.errors import EngineError
    from engine.release.examples import plans
    from engine.release.served import is_answered, is_grouped

    exact = 0.0 if method.rows in (Rows.COARSER, Rows.REAL) else None
    try:
        plan = next(iter(plans(method)), None)
        if plan is None:
            return Offer(method, exact)
        design = plan.design
        loss = design.cost.loss
        errors = [one for one in design.forecast.errors if one.of == "group"]
        adds_up = is_grouped(design) and is_answered(design)
    except EngineError:
        return Offer(method, exact)
    near = [one.limit for one in errors if one.size in (SIZE, None)]
    found = max(near) if near else exact
    if loss is None:
        return Offer(method, found, None, True, design.cost.kind, adds_up=adds_up)
    return Offer(method, found, loss.epsilon, True, design.cost.kind, bool(loss.delta), adds_up)


@dataclass(frozen=True)
class Known:
    """What is known of the price before a way is chosen: a level and its money, or what is left to spend."""

    epsilon: Any = None
    money: float | None = None
    currency: str = "EUR"
    left: Any = None


def known_level(plan: Plan, left: Any = None) -> Known:
    """Return the level that a plan has, or that its money allows, and what claims are modelled for it."""
    from engine.errors import EngineError
    from engine.pricing.statement import cost_of
    from engine.release.levels import epsilon_for_money

    price = plan.price
    try:
        cost = cost_of(price)
        epsilon = plan.budget.epsilon if plan.budget is not None else None
        if epsilon is None and price.budget is not None:
            epsilon = epsilon_for_money(plan, price.budget)
        modelled = None if cost is None or epsilon is None else cost.at(float(epsilon))
    except EngineError:
        return Known(left=left)
    return Known(epsilon, modelled, price.currency, left)


def try_way(method: type[Method], schema: Schema, epsilon: Any, *, progress: Progress = SILENT) -> Any:
    """Return what a way does to people who were invented; None where it asks for more than columns."""
    from engine.release.sketch import sketch

    return sketch(method, schema, epsilon=epsilon, progress=progress)


def ruled_out_by(offer: Offer, answers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the questions whose answers a method does not meet; empty where it fits.

    Examples
    --------
    >>> from engine.methods.catalogue import method
    >>> ruled_out_by(Offer(method("datasets.k_anonymity")), {"rows": "none"})
    ('rows',)
    """
    return tuple(question for question in QUESTIONS if not _meets(offer, question, answers.get(question, "")))


def _meets(offer: Offer, question: str, answer: str) -> bool:
    method = offer.method
    if not answer:
        return True
    if question == "who":
        return offer.bounded or answer != "anybody"
    if question == "how":
        return answer in method.changes
    if question == "rows":
        return ABOVE[Rows.NONE if method.invented else method.rows] <= ABOVE[Rows(answer)]
    return answer == "any" or (offer.error is not None and offer.error <= float(answer))


def order_offers(found: Sequence[Offer], answers: Mapping[str, str]) -> list[Offer]:
    """Return the fitting first: those that use what was allowed to leave, then the stronger promise.

    Among equals what needs no slack, then the smaller error, then what is usual, then the name decide. Who
    says that real rows may leave with pseudonyms asks for that, though invented rows would be allowed, too.
    """
    rows = answers.get("rows", "")

    def place(offer: Offer) -> tuple[int, int, int, bool, float, bool, str]:
        method, error = offer.method, float("inf") if offer.error is None else offer.error
        asked_for = 0 if not rows else 2 - (method.rows == rows) * (1 + method.usual)
        ruled_out = len(ruled_out_by(offer, answers))
        slack = offer.slack is True
        return ruled_out, asked_for, _strength(offer), slack, error, not method.usual, title(method)

    return sorted(found, key=place)


def _strength(offer: Offer) -> int:
    """Return 0 for a bound on what can be learnt, 1 for another stated property, 2 for no promise."""
    if offer.bounded:
        return 0
    return 1 if any(promise_kind(kind).terms for kind in offer.method.promises) else 2


# --- What a recipient can hold --------------------------------------------------------------------------


@dataclass(frozen=True)
class Thing:
    """Something that a recipient can hold, and the ways that make it.

    Parameters
    ----------
    held
        What it is.
    ways
        All of them, the one to take first.
    default
        What one press takes: the usual way where it fits, else the next best; None where none fits.
    passed
        The usual way, where another one stands in its place.
    against
        The questions whose answers rule the usual way out.
    lacking
        What the table lacks for it.
    missing
        What the table lacks for each of them, by their ids.
    """

    held: Held
    ways: tuple[Offer, ...]
    default: Offer | None
    missing: Mapping[str, Lacks | None]
    passed: Offer | None = None
    against: tuple[str, ...] = ()
    lacking: Lacks | None = None


def things(
    found: Sequence[Offer], answers: Mapping[str, str], schema: Schema, *, on_server: bool = False
) -> tuple[Thing, ...]:
    """Return what a recipient can hold, with the way that is taken at once; what no way makes is left out.

    Of a table ``on_server``, ways that need its rows do not fit.
    """
    made = []
    for held in Held:
        of_it = [one for one in found if one.method.in_hands() is held]
        if of_it:
            made.append(_thing(held, of_it, answers, schema, on_server))
    return tuple(made)


def _thing(
    held: Held, found: list[Offer], answers: Mapping[str, str], schema: Schema, on_server: bool
) -> Thing:
    missing = {
        one.method.id: NO_ROWS if on_server and not one.adds_up else lacks(one.method, schema)
        for one in found
    }

    def fits(offer: Offer) -> bool:
        return not ruled_out_by(offer, answers) and missing[offer.method.id] is None

    ordered = order_offers(found, answers)
    ways = sorted(ordered, key=lambda one: (not fits(one), not one.method.usual))  # stable
    usual = next((one for one in found if one.method.usual), ways[0])
    # What several sites or those who answer take part in is nothing that stands in for a table of one's own.
    stands_in = fits(ways[0]) and (ways[0] is usual or ways[0].method.family is not Family.EXCHANGE)
    default = ways[0] if stands_in else None
    if default is usual:
        return Thing(held, tuple(ways), default, missing)
    against = ruled_out_by(usual, answers)
    return Thing(held, tuple(ways), default, missing, usual, against, missing[usual.method.id])


# --- Searching ------------------------------------------------------------------------------------------


NAMED_MOST = 1.5  # times that a word is counted which is part of several names of a way
SAID_IN_A_TEXT = 0.2  # of what a word says of a way where a name or a term holds it
IN_A_COMPOUND = 0.7  # … where it is the end of a longer word: “Fallzahlen” are “zahlen”
PHRASE = 5.0  # what each word of an everyday phrase says, beside about 4 of a word that one way alone holds
OF_ONE_WAY = 2.5  # times that where it means one way, not all that makes such a thing
# … where it is not the usual way to make it. What is predicted decides between models, by other words.
UNUSUAL = {Held.MODEL: 0.85}
WEAK, FAINT = "~", 0.4  # the mark of a phrase that many wishes hold, and times that it says of any way
# The mark of one that asks what no table holds (“have ever …”), unless a column is called like a word of it.
ANEW, HELD = "?", 0.9  # … and what it says then
TITLED = 1000.0  # what it says that somebody types the title of a way, beside all else
BEGUN = 2  # words from which it is begun
NEAR = 0.3  # part of what is meant most from which a way is shown, where somebody says a wish
MANY = 3  # words of which one has to be more than part of a text
GAP = 2  # words that may stand within a phrase: “without their names”


def search(found: Sequence[Offer], wanted: str, columns: Sequence[str] = ()) -> list[Offer]:
    """Return the ways that are meant by what somebody says, what is meant most first.

    A title that is typed, or begun with two words, is that way. What people ever did is asked anew, unless
    one of the ``columns`` of the table is called like it.

    Everyday phrases (“how many”, “without names”) say most. Then come the words themselves: one that few ways
    hold says more than one that many do, and more where it is part of a name or a term than within a text. A
    word that no text holds rules nothing out, and neither do small words: who looks for “how many per the
    ward” means the first two. Accents, endings, and what French elides do not part words. Among equals the
    usual way goes before the others.
    """
    said = _parts(wanted)
    small = set(_folded(words.say("app.method.search_small.aliases")).split())
    parts = list(dict.fromkeys(part for part in said if part not in small)) or said
    if not parts:
        return list(found)
    places = {one.method.id: _places(one.method, words.language()) for one in found}
    met = {part: any(_begins(part, text) for texts in places.values() for text in texts) for part in parts}
    whole = {part: met[part] or part != said[-1] for part in parts}  # the last word is still being typed
    times = {
        part: {name: _told(part, *texts, whole=whole[part]) for name, texts in places.items()}
        for part in parts
    }
    holding = {part: sum(map(bool, of.values())) for part, of in times.items()}
    weight = {part: log(1 + len(found) / held) for part, held in holding.items() if held}
    meant = {name: sum(weight[part] * times[part][name] for part in weight) for name in places}
    is_held = _names_column(parts, columns)
    by_phrase = {one.method.id: _said_of(one.method, said, is_held=is_held) for one in found}
    titled = {one.method.id: TITLED * _is_title(one.method, said) for one in found}
    meant = {name: one + by_phrase[name] + titled[name] for name, one in meant.items()}
    held = {name: sum(bool(times[part][name]) for part in weight) for name in places}
    most = (max(held.values(), default=0), max(meant.values(), default=0.0))
    named = {name: by_phrase[name] + max(of[name] for of in times.values()) for name in meant}
    if not most[1] or (len(parts) >= MANY and max(named.values()) <= SAID_IN_A_TEXT):
        return []
    kept = [
        one
        for one in found
        if held[one.method.id] == most[0] or meant[one.method.id] == most[1] or by_phrase[one.method.id]
    ]
    if max(by_phrase.values()) > 0:  # a wish, not names: few ways are near what is meant
        kept = [one for one in kept if meant[one.method.id] >= NEAR * most[1]]
    return sorted(kept, key=lambda one: (-round(meant[one.method.id], 9), not one.method.usual))


ELIDED = re.compile(r"\b(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)['’]")  # l’année, qu’elle
INVERTED = re.compile(r"-(?:t-)?(?:on|ils?|elles?|nous|vous|ce)\b")  # paie-t-on
LONG = 7  # letters from which the ending of a word is let go
SHORT = 3  # letters up to which a word is met whole or in the plural: “age” is no “agency”
HEAD = 5  # letters of a word from which it can be the end of another one


def _folded(text: str) -> str:
    """Return a text as it is compared: small, without accents, with what French elides left out."""
    parted = unicodedata.normalize("NFKD", ELIDED.sub("", text.casefold()))
    return "".join(sign for sign in parted if not unicodedata.combining(sign))


def _parts(said: str) -> list[str]:
    """Return the words of what somebody says."""
    return re.findall(r"[^\s,.;:?!()“”„«»\"]+", INVERTED.sub("", _folded(said)))


def is_said(method: type[Method], wanted: str) -> bool:
    """Say whether an everyday phrase in what somebody says speaks of a way, not single words alone."""
    return _said_of(method, _parts(wanted)) > 0


def _said_of(method: type[Method], said: Sequence[str], *, is_held: bool = False) -> float:
    """Return how much the everyday phrases in what somebody says speak of a way.

    Where the table ``is_held`` to have what is asked, those that ask anew say little.
    """
    phrases, anew = _phrases(method, words.language())
    met = {one: times for one, times in phrases.items() if _is_said(one, said)}
    asked = max(
        (HELD if is_held else len(one) * times for one, times in met.items() if one in anew), default=0
    )
    return PHRASE * (asked + sum(len(one) * times for one, times in met.items() if one not in anew))


def _names_column(parts: Sequence[str], columns: Sequence[str]) -> bool:
    """Say whether a word of what somebody says is one of a column's name."""
    names = {
        word for name in columns for word in re.findall(r"[^\W\d_]+", _folded(name)) if len(word) > SHORT
    }
    return any(_is_word(name, part) or _is_word(part, name) for name in names for part in parts)


def _is_title(method: type[Method], said: Sequence[str]) -> bool:
    """Say whether somebody types the title of a way, or begins it."""
    name = _parts(title(method))
    return list(said) == name or (len(said) >= BEGUN and name[: len(said)] == list(said))


def _is_said(phrase: tuple[str, ...], said: Sequence[str]) -> bool:
    """Say whether the words of a phrase are said one after the other, with few words between them."""
    at = -1
    for place, word in enumerate(phrase):
        reach = range(at + 1, len(said) if not place else min(at + 2 + GAP, len(said)))
        found = next((one for one in reach if _is_word(word, said[one])), None)
        if found is None:
            return False
        at = found
    return True


def _is_word(word: str, said: str) -> bool:
    """Say whether a word is said, with an ending or within a longer one: “klein” by “kleinen”."""
    if len(word) > LONG and (said.startswith(word) or said.endswith(word)):
        return True
    if len(word) <= SHORT or not said.startswith(word[:HEAD]):
        return said == word
    return said in (word, *(word + end for end in ("e", "s", "n", "en", "er", "es", "em", "ed", "ing")))


def _told(part: str, text: str, *names: str, whole: bool) -> float:
    """Return how much a word says of a way: little where it stands within its text alone."""
    named = sum(_begins(part, name, whole=whole) for name in names)
    if not named and any(_ends(part, name) for name in names):
        return IN_A_COMPOUND
    return min(named, NAMED_MOST) + _begins(part, text, whole=whole) * SAID_IN_A_TEXT


def _ends(part: str, name: str) -> bool:
    """Say whether a word is put together with one of a name as its end."""
    heads = (one for one in name.split() if HEAD <= len(one) <= len(part) - SHORT)
    return any(part.endswith(head) for head in heads)


def _begins(part: str, text: str, *, whole: bool = True) -> bool:
    """Say whether a word of a text begins so: “per” is not “super”, “grouping” is “groups”, “question” is no
    “questionnaire”. It is met ``whole``, unless that is nowhere: then somebody is still typing.
    """
    bare = re.sub(r"(ings?|ed|ies|es|s)$", "", part)
    part = bare if len(bare) > SHORT else part
    stem = part[: len(part) * 4 // 5] if len(part) >= LONG else part
    end = (r"s?\b" if len(part) <= SHORT else r"\w{0,5}\b") if whole else ""
    return re.search(rf"\b{re.escape(stem)}{end}", text) is not None


def told_aside(wanted: str) -> str:
    """Return what is said where no way is meant; empty where one is.

    A kind of model that holds rows never leaves, and who could be recognised is told on another screen: but
    not to somebody who wants that nobody is.
    """
    denied = set(_parts(words.say("app.method.recognised.denied"))) & set(_parts(wanted))
    for name in ("not_offered", *(() if denied else ("recognised",))):
        terms = words.say(f"app.method.{name}.terms").casefold().split(", ")
        if any(term in wanted.casefold() for term in terms):
            return words.say(f"app.method.{name}.sentence")
    return ""


@cache
def _places(method: type[Method], language: str) -> tuple[str, ...]:
    """Return where the words of a way stand: in its texts, its name, its terms, those of what it makes."""
    base, thing = f"methods.{method.id}", f"app.method.things.{method.in_hands()}"
    terms = f"{_say(f'{base}.aliases')} {method.id}"
    usual = words.say(f"{thing}.aliases") if method.usual else ""
    parts = [title(method), terms, usual, method.published.document, words.say(f"{thing}.title")]
    parts += [words.say(f"{base}.{name}") for name in ("summary", "keeps", "recipient_can")]
    parts += [words.say(f"promises.{kind}.name") for kind in method.promises]
    parts += [kind.replace("_", " ") for kind in method.promises]
    return tuple(map(_folded, (" ".join(parts), title(method), terms, usual)))


@cache
def _phrases(
    method: type[Method], language: str
) -> tuple[dict[tuple[str, ...], float], set[tuple[str, ...]]]:
    """Return the everyday phrases that mean a way, with how much, and which of them ask `ANEW`.

    They are its own, and those of what it makes.
    """
    held = method.in_hands()
    of_thing = 1.0 if method.usual else UNUSUAL.get(held, 0.0)
    ids = {f"things.{held}": of_thing, f"ways.{method.id}": OF_ONE_WAY}
    said = {one: _say(f"app.wishes.{one}.aliases") for one in ids}
    phrases, anew = {}, set()
    for one, times in ids.items():
        for phrase in filter(None, map(str.strip, said[one].split(",")) if times else ()):
            parts = tuple(_parts(phrase.rstrip(WEAK + ANEW)))
            phrases[parts] = min(times, 1.0) * FAINT if phrase.endswith(WEAK) else times
            if phrase.endswith(ANEW):
                anew.add(parts)
    return phrases, anew


def _say(text_id: str) -> str:
    return words.say(text_id) if words.has(text_id) else ""


def title(method: type[Method]) -> str:
    """Return the name of a method in words."""
    return words.say(f"methods.{method.id}.title")
