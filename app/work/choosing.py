"""Choosing among many methods: questions in words, and which methods fit the answers. No Qt.

Every answer is judged by what a method declares (family, kinds of promise, whether rows leave) and by the
forecast of its own worked example; no method is named here. An unanswered question rules nothing out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app import words
from engine.methods.kinds import Changes
from engine.methods.protocol import Family, Method, Rows
from engine.privacy.promise import promise_kind
from engine.progress import SILENT, Progress

SIZE = 100  # people of the group whose error is asked about
EXACT = ("5", "20")  # the largest errors that can be asked for
QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "does": tuple(family.value for family in Family),
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
    """

    method: type[Method]
    error: float | None = None
    epsilon: Any = None
    has_example: bool = False

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

    exact = 0.0 if method.rows in (Rows.COARSER, Rows.REAL) else None
    try:
        plan = next(iter(plans(method)), None)
        if plan is None:
            return Offer(method, exact)
        design = plan.design
        loss = design.cost.loss
        errors = [one for one in design.forecast.errors if one.of == "group"]
    except EngineError:
        return Offer(method, exact)
    near = [one.limit for one in errors if one.size in (SIZE, None)]
    return Offer(method, max(near) if near else exact, None if loss is None else loss.epsilon, True)


def ruled_out_by(offer: Offer, answers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the questions whose answers a method does not meet; empty where it fits.

    Examples
    --------
    >>> from engine.methods.catalogue import method
    >>> ruled_out_by(Offer(method("datasets.k_anonymity")), {"does": "statistics", "rows": "coarser"})
    ('does',)
    """
    return tuple(question for question in QUESTIONS if not _meets(offer, question, answers.get(question, "")))


def _meets(offer: Offer, question: str, answer: str) -> bool:
    method = offer.method
    if not answer:
        return True
    if question == "does":
        return method.family == answer
    if question == "who":
        return offer.bounded or answer != "anybody"
    if question == "how":
        return answer in method.changes
    if question == "rows":
        return ABOVE[Rows.NONE if method.invented else method.rows] <= ABOVE[Rows(answer)]
    return answer == "any" or (offer.error is not None and offer.error <= float(answer))


def ordered(found: Sequence[Offer], answers: Mapping[str, str]) -> list[Offer]:
    """Return the fitting first: those that use what was allowed to leave, then the stronger promise.

    Among equals the smaller error, then what is usual, then the name decide. Who says that real rows may
    leave with pseudonyms asks for that, though invented rows would be allowed, too.
    """
    rows = answers.get("rows", "")

    def place(offer: Offer) -> tuple[int, int, int, float, bool, str]:
        method, error = offer.method, float("inf") if offer.error is None else offer.error
        asked_for = 0 if not rows else 2 - (method.rows == rows) * (1 + method.usual)
        ruled_out = len(ruled_out_by(offer, answers))
        return ruled_out, asked_for, _strength(offer), error, not method.usual, title(method)

    return sorted(found, key=place)


def _strength(offer: Offer) -> int:
    """Return 0 for a bound on what can be learnt, 1 for another stated property, 2 for no promise."""
    if offer.bounded:
        return 0
    return 1 if any(promise_kind(kind).terms for kind in offer.method.promises) else 2


def matches(offer: Offer, wanted: str) -> bool:
    """Say whether every word that is searched for stands in the name, the terms or the texts of a method."""
    parts = wanted.casefold().split()
    text = _searched(offer.method) if parts else ""
    return all(part in text for part in parts)


def is_never_offered(wanted: str) -> bool:
    """Say whether a kind of model is searched for that holds rows of the table, so that none may leave."""
    terms = words.say("app.method.not_offered.terms").casefold().split(", ")
    return any(term in wanted.casefold() for term in terms)


def _searched(method: type[Method]) -> str:
    base = f"methods.{method.id}"
    parts = [method.id, method.published.document, words.say(f"app.method.does.{method.family}")]
    parts += [words.say(f"{base}.{name}") for name in ("title", "summary", "recipient_can")]
    parts += [words.say(f"promises.{kind}.name") for kind in method.promises]
    parts += [kind.replace("_", " ") for kind in method.promises]
    if words.has(f"{base}.aliases"):
        parts.append(words.say(f"{base}.aliases"))
    return " ".join(parts).casefold()


def title(method: type[Method]) -> str:
    """Return the name of a method in words."""
    return words.say(f"methods.{method.id}.title")
