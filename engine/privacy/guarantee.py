"""What a release promises, and the events that prove it.

A `Guarantee` is declared by a method before anything is read (`Method.cost`), reserved in the ledger, and
printed in the evidence. Its ``events`` say which mechanism ran with which noise, so that one accountant can
add up releases of different methods. An event that the accountant does not know is refused, never ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from engine.errors import InputRefused


class Kind(StrEnum):
    """The family of a guarantee."""

    PURE_DP = "pure_dp"
    APPROXIMATE_DP = "approximate_dp"
    LOCAL_DP = "local_dp"
    PLAUSIBLE_DENIABILITY = "plausible_deniability"
    K_ANONYMITY = "k_anonymity"
    NONE = "none"


class Unit(StrEnum):
    """Who is protected: one row, or all rows of one person up to the declared cap."""

    ROW = "row"
    PERSON = "person"


class Neighbours(StrEnum):
    """Which two data sets are neighbouring: one unit added or removed, or one exchanged for another."""

    ADD_REMOVE = "add_remove"
    REPLACE_ONE = "replace_one"


class Noise(StrEnum):
    """The mechanisms that the accountant knows."""

    LAPLACE = "laplace"
    DISCRETE_LAPLACE = "discrete_laplace"
    GAUSSIAN = "gaussian"
    DISCRETE_GAUSSIAN = "discrete_gaussian"
    RANDOMISED_RESPONSE = "randomised_response"
    EXPONENTIAL = "exponential"


@dataclass(frozen=True)
class Mechanism:
    """One mechanism, run ``count`` times on the same people.

    Parameters
    ----------
    noise
        Which mechanism.
    scale
        Laplace (both): scale b of the noise. Gaussian (both): standard deviation. Exponential: s in
        P(i) ∝ exp(score_i / s). Randomised response: probability of the true answer.
    sensitivity
        Largest change of the whole answer between neighbouring data sets, in the units of the noise (for
        the discrete mechanisms the integer grid): L1 for Laplace, L2 for Gaussian, of one score for the
        exponential mechanism; for randomised response the number of possible answers.
    count
        How many times, one after the other.
    grid
        The value of one integer step of the discrete mechanisms in the units of the answer.
    monotone
        Exponential mechanism only: adding a person never lowers a score, which halves the loss.
    """

    noise: Noise
    scale: Fraction
    sensitivity: Fraction
    count: int = 1
    grid: Fraction = Fraction(1)
    monotone: bool = False


@dataclass(frozen=True)
class Sequential:
    """Parts that read the same people: losses add up."""

    parts: tuple[Event, ...]


@dataclass(frozen=True)
class Parallel:
    """Parts that read disjoint people: the largest loss counts. Valid under add/remove only."""

    parts: tuple[Event, ...]


Event = Mechanism | Sequential | Parallel


@dataclass(frozen=True)
class Guarantee:
    """What is promised about every single unit of protection.

    Parameters
    ----------
    kind
        Family of the guarantee.
    epsilon
        Exact privacy level, None where the loss is unbounded (no formal guarantee).
    delta
        Probability mass outside the pure guarantee, 0 for pure differential privacy.
    unit, rows_per_person
        Who is protected, and for a person the cap on rows that the release used.
    neighbours
        The relation between data sets that epsilon is about.
    assumptions
        Ids of ``resources/texts/LANG/assumptions.toml`` that are printed with it.
    events
        What ran; None only for guarantees that are not differential privacy.
    """

    kind: Kind
    epsilon: Fraction | None
    delta: Fraction
    unit: Unit
    rows_per_person: int
    neighbours: Neighbours
    assumptions: tuple[str, ...] = ()
    events: Event | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the guarantee as JSON values; exact fractions as text ``"p/q"``."""
        return {
            "kind": self.kind.value,
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "delta": str(self.delta),
            "unit": self.unit.value,
            "rows_per_person": self.rows_per_person,
            "neighbours": self.neighbours.value,
            "assumptions": list(self.assumptions),
            "events": None if self.events is None else event_to_json(self.events),
        }

    @staticmethod
    def from_json(tree: Mapping[str, Any]) -> Guarantee:
        """Read what `to_json` wrote.

        Raises
        ------
        InputRefused
            ``guarantee.unknown``: a word or an event that this version does not know.
        """
        try:
            return Guarantee(
                Kind(tree["kind"]),
                None if tree["epsilon"] is None else Fraction(tree["epsilon"]),
                Fraction(tree["delta"]),
                Unit(tree["unit"]),
                int(tree["rows_per_person"]),
                Neighbours(tree["neighbours"]),
                tuple(tree["assumptions"]),
                None if tree["events"] is None else event_from_json(tree["events"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputRefused("guarantee.unknown") from error


def event_to_json(event: Event) -> dict[str, Any]:
    """Return an event tree as JSON values."""
    if isinstance(event, Mechanism):
        tree: dict[str, Any] = {
            "mechanism": event.noise.value,
            "scale": str(event.scale),
            "sensitivity": str(event.sensitivity),
            "count": event.count,
            "grid": str(event.grid),
        }
        return tree | {"monotone": True} if event.monotone else tree
    word = "sequential" if isinstance(event, Sequential) else "parallel"
    return {word: [event_to_json(part) for part in event.parts]}


def event_from_json(tree: Mapping[str, Any]) -> Event:
    """Read an event tree; refuse what is not known instead of counting it as zero."""
    if "mechanism" in tree:
        return Mechanism(
            Noise(tree["mechanism"]),
            Fraction(tree["scale"]),
            Fraction(tree["sensitivity"]),
            int(tree["count"]),
            Fraction(tree["grid"]),
            bool(tree.get("monotone", False)),
        )
    if "sequential" in tree:
        return Sequential(tuple(event_from_json(part) for part in tree["sequential"]))
    if "parallel" in tree:
        return Parallel(tuple(event_from_json(part) for part in tree["parallel"]))
    raise ValueError("unknown event")
