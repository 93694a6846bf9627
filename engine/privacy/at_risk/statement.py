"""One question about a mechanism, answered side by side: published, exact, certified."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from engine.errors import InputRefused
from engine.numbers import finite
from engine.privacy.at_risk import discrete_laplace, laplace, mechanisms, published
from engine.privacy.at_risk.inputs import LARGEST_LEVEL, Number, positive, share, whole
from engine.privacy.at_risk.inverse import Inverse
from engine.privacy.at_risk.loss import PrivacyLoss

HAS_A_LEVEL = ("laplace", "discrete_laplace", "randomised_response", "exponential", "permute_and_flip")
PUBLISHED_FOR = ("laplace", "discrete_laplace")
"""Theorem 3 is about the Laplace mechanism; for the discrete one it is the figure that it stands in for."""


@dataclass(frozen=True)
class Exact:
    """The exact answer, one- and two-sided; ``at_the_atom`` as in `Inverse`."""

    one_sided: float
    two_sided: float
    at_the_atom: bool = False
    at_the_atom_two_sided: bool = False


@dataclass(frozen=True)
class Statement:
    """What can be said about the privacy loss of one mechanism.

    Parameters
    ----------
    mechanism, sensitivity, dimensions
        What it is about.
    epsilon0, scale, epsilon, confidence
        What was given; the one that was asked for is None. ``scale`` for Gaussian noise only.
    asked
        ``"epsilon0"``, ``"scale"``, ``"epsilon"`` or ``"confidence"``.
    published
        The source's answer, None where no source gives one; infinite where every level would do.
    exact
        From the distribution of the realised loss.
    delta
        Certified: the mechanism is (ε, δ)-differentially private. 1 − confidence where that was given.
    certified
        The certified answer for that δ, where a level was asked for.
    floor
        Least one-sided confidence of any ε0-differentially private mechanism, where confidence was asked for.
    warnings
        Ids: ``"published_overstates"`` (ε0 above ln 3), ``"at_the_atom"``.
    """

    mechanism: str
    sensitivity: float
    dimensions: int
    epsilon0: float | None
    scale: float | None
    epsilon: float | None
    confidence: float | None
    asked: str
    published: float | None
    exact: Exact
    delta: float
    certified: float | None
    floor: float | None
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the statement as JSON values; infinite levels as null."""
        tree: dict[str, Any] = {}
        for name in ("epsilon0", "scale", "epsilon", "confidence"):
            if getattr(self, name) is not None:
                tree[name] = getattr(self, name)
        tree |= {"dimensions": self.dimensions, "mechanism": self.mechanism.replace("_", "-")}
        tree |= {"sensitivity": self.sensitivity, "asked": self.asked}
        tree["published"] = {self.asked: finite(self.published)}
        tree["exact"] = {
            self.asked: finite(self.exact.one_sided),
            f"{self.asked}_two_sided": finite(self.exact.two_sided),
        }
        tree["certified"] = {"delta": self.delta}
        if self.asked == "confidence":
            tree["floor"] = {"confidence": self.floor}
        else:
            tree["exact"]["at_the_atom"] = self.exact.at_the_atom
            tree["exact"]["at_the_atom_two_sided"] = self.exact.at_the_atom_two_sided
            tree["certified"][self.asked] = finite(self.certified)
        return tree | {"warnings": list(self.warnings)}


def state(
    *,
    mechanism: str = "laplace",
    epsilon0: Number | str | None = None,
    epsilon: Number | str | None = None,
    confidence: Number | str | None = None,
    scale: Number | str | None = None,
    dimensions: Number | str = 1,
    sensitivity: Number | str = 1,
    answers: Number | str = 2,
) -> Statement:
    """Answer one question about privacy at risk.

    Parameters
    ----------
    mechanism
        One of `engine.privacy.at_risk.mechanisms.MECHANISMS`; hyphens may stand for underscores.
    epsilon0, epsilon, confidence
        Exactly two of them; the third is the answer. For Gaussian noise ``scale`` stands in for ``epsilon0``.
    scale
        Of the noise, in the units of ``sensitivity``; for Laplace noise ε0 = sensitivity / scale.
    dimensions
        k, number of outputs; only the published figure depends on it.
    sensitivity
        Whole number of grid steps for the discrete mechanisms.
    answers
        Randomised response: number of possible answers.

    Returns
    -------
    Statement

    Raises
    ------
    InputRefused
        ``at_risk.two_of_three``, ``at_risk.needs_scale``, ``at_risk.unknown_mechanism`` or a number that
        cannot be used.

    Examples
    --------
    >>> answer = state(epsilon0=1, epsilon=0.6)
    >>> round(answer.published, 6), round(answer.exact.one_sided, 6), round(answer.delta, 6)
    (0.713769, 0.409365, 0.181269)
    """
    word = _word(mechanism)
    family = _family(word, sensitivity, answers)
    k = whole(dimensions, name="dimensions", largest=published.LARGEST_DIMENSIONS)
    own = _own_level(word, epsilon0, scale, family)
    at = None if epsilon is None else positive(epsilon, name="epsilon")
    wanted = None if confidence is None else float(share(confidence, name="confidence"))
    if at is None and own is not None and wanted is not None:
        answer = _epsilon_for(word, own, wanted, k, family)
    elif own is None and at is not None and wanted is not None:
        answer = _own_level_for(word, at, wanted, k, family)
    elif own is not None and at is not None and wanted is None:
        answer = _confidence_at(word, own, at, k, family)
    else:
        raise InputRefused("at_risk.two_of_three")
    levelled = word in HAS_A_LEVEL
    return Statement(
        word,
        float(family.sensitivity),
        k,
        float(own) if own is not None and levelled else None,
        float(own) if own is not None and not levelled else None,
        None if at is None else float(at),
        wanted,
        *answer,
    )


def loss_by_level(
    mechanism: str,
    *,
    epsilon0: Number | str | None = None,
    scale: Number | str | None = None,
    sensitivity: Number | str = 1,
    answers: Number | str = 2,
) -> tuple[PrivacyLoss, Fraction]:
    """Return the privacy loss of a mechanism by its own level, and that level (ε0, or the scale).

    Raises
    ------
    InputRefused
        As `state`; ``at_risk.no_level`` when neither ε0 nor a scale was given.

    Examples
    --------
    >>> loss_by_level("laplace", scale=2)[1]
    Fraction(1, 2)
    """
    word = _word(mechanism)
    family = _family(word, sensitivity, answers)
    own = _own_level(word, epsilon0, scale, family)
    if own is None:
        raise InputRefused("at_risk.no_level")
    return family.make(own), own


def _word(mechanism: str) -> str:
    word = mechanism.replace("-", "_")
    if word not in mechanisms.MECHANISMS:
        known = ", ".join(name.replace("_", "-") for name in mechanisms.MECHANISMS)
        raise InputRefused("at_risk.unknown_mechanism", found=mechanism, expected=known)
    return word


@dataclass(frozen=True)
class _Family:
    """The mechanisms that differ in ε0 (or scale) alone."""

    sensitivity: Fraction
    make: Callable[[Number], PrivacyLoss]


_Answer = tuple[str, float | None, Exact, float, float | None, float | None, tuple[str, ...]]


def _family(word: str, sensitivity: Number | str, answers: Number | str) -> _Family:
    if word.startswith("discrete"):
        size = whole(sensitivity, name="sensitivity")
        if word == "discrete_laplace":
            return _Family(
                Fraction(size), lambda x: mechanisms.discrete_laplace(epsilon0=x, sensitivity=size)
            )
        return _Family(Fraction(size), lambda x: mechanisms.discrete_gaussian(scale=x, sensitivity=size))
    change = positive(sensitivity, name="sensitivity", largest=10**30)
    if word == "gaussian":
        return _Family(change, lambda x: mechanisms.gaussian(scale=x, sensitivity=change))
    if word == "randomised_response":
        count = whole(answers, name="answers")
        return _Family(change, lambda x: mechanisms.randomised_response_at(epsilon0=x, answers=count))
    if word == "exponential":
        return _Family(change, lambda x: mechanisms.exponential(epsilon0=x))
    if word == "permute_and_flip":
        return _Family(change, lambda x: mechanisms.permute_and_flip(epsilon0=x))
    return _Family(change, lambda x: mechanisms.laplace(epsilon0=x))


def _own_level(
    word: str, epsilon0: Number | str | None, scale: Number | str | None, family: _Family
) -> Fraction | None:
    if word not in HAS_A_LEVEL:
        if epsilon0 is not None:
            raise InputRefused("at_risk.needs_scale", mechanism=word.replace("_", "-"))
        return None if scale is None else positive(scale, name="scale", largest=10**12)
    if scale is None:
        return None if epsilon0 is None else positive(epsilon0, name="epsilon0")
    if epsilon0 is not None or word not in PUBLISHED_FOR:
        raise InputRefused("at_risk.scale_or_level")
    width = positive(scale, name="scale", largest=10**30)
    return positive(family.sensitivity / width, name="epsilon0")


def _confidence_at(word: str, own: Fraction, at: Fraction, k: int, family: _Family) -> _Answer:
    loss = family.make(own)
    printed = published.confidence(at, epsilon0=own, dimensions=k) if word in PUBLISHED_FOR else None
    floor = laplace.floor(at, epsilon0=own) if word in HAS_A_LEVEL else None
    exact = Exact(loss.confidence(at), loss.confidence_two_sided(at))
    return "confidence", printed, exact, loss.delta(at), None, floor, _warnings(word, loss.largest, exact)


def _epsilon_for(word: str, own: Fraction, wanted: float, k: int, family: _Family) -> _Answer:
    loss, delta = family.make(own), 1 - wanted
    printed = published.epsilon(wanted, epsilon0=own, dimensions=k) if word in PUBLISHED_FOR else None
    exact = _pair(*(loss.epsilon_for_confidence(wanted, two_sided=side) for side in (False, True)))
    certified = loss.epsilon_for_delta(delta)
    return "epsilon", printed, exact, delta, certified, None, _warnings(word, loss.largest, exact)


def _own_level_for(word: str, at: Fraction, wanted: float, k: int, family: _Family) -> _Answer:
    delta = 1 - wanted

    def search(holds: Callable[[PrivacyLoss], bool]) -> Inverse:
        def reached(x: float) -> bool:
            return holds(family.make(x))

        if word not in HAS_A_LEVEL:
            return _smallest_scale(reached)
        return _largest_level(float(at), reached, LARGEST_LEVEL if word in PUBLISHED_FOR else 700)

    printed = published.epsilon0(at, confidence=wanted, dimensions=k) if word in PUBLISHED_FOR else None
    if word == "discrete_laplace":
        # Not monotone in ε0 for the loss in either direction: piece by piece.
        size = int(family.sensitivity)
        one, two = (
            discrete_laplace.epsilon0(at, confidence=wanted, sensitivity=size, two_sided=side)
            for side in (False, True)
        )
    else:
        one = search(lambda loss: loss.confidence(at) >= wanted)
        two = search(lambda loss: loss.confidence_two_sided(at) >= wanted)
    certified = search(lambda loss: loss.delta(at) <= delta).value
    exact = _pair(one, two)
    asked = "epsilon0" if word in HAS_A_LEVEL else "scale"
    largest = printed if printed is not None else exact.one_sided
    return asked, printed, exact, delta, certified, None, _warnings(word, largest, exact)


def _largest_level(at: float, holds: Callable[[float], bool], top: float) -> Inverse:
    """Return the largest ε0 > ε for which ``holds``, else ε0 = ε at the atom."""
    if not holds(at * (1 + 1e-9)):
        return Inverse(at, True)
    low, high = at * (1 + 1e-9), 2 * at
    while holds(high):
        low, high = high, 2 * high
        if high > top:
            return Inverse(math.inf, False)
    return Inverse(_settle(low, high, holds), False)


def _smallest_scale(holds: Callable[[float], bool]) -> Inverse:
    """Return the smallest scale from which on ``holds``."""
    high = 1.0
    while not holds(high):
        high *= 2
        if high > LARGEST_LEVEL:
            return Inverse(math.inf, False)
    low = high / 2
    while holds(low) and low > 1e-9:
        low, high = low / 2, low
    return Inverse(_settle(high, low, holds), False)


def _settle(good: float, bad: float, holds: Callable[[float], bool]) -> float:
    for _ in range(100):
        middle = (good + bad) / 2
        if middle in (good, bad):
            break
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good


def _pair(one: Inverse, two: Inverse) -> Exact:
    return Exact(one.value, two.value, one.at_the_atom, two.at_the_atom)


def _warnings(word: str, epsilon0: float, exact: Exact) -> tuple[str, ...]:
    found = []
    if word in PUBLISHED_FOR and epsilon0 > published.OVERSTATES_ABOVE:
        found.append("published_overstates")
    if exact.at_the_atom or exact.at_the_atom_two_sided:
        found.append("at_the_atom")
    return tuple(found)
