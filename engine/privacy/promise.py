"""What a release promises about every single unit of protection.

A `Promise` is declared by a method before anything is read (`Method.cost`), entered in the ledger, and
printed in the evidence. Its loss, where it bounds one, names the events that prove it, so that one accountant
can add up releases of different methods. Its *kind* is a declaration below ``engine/privacy/promises`` with
one file of texts; both are found by themselves.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from engine import strict_json
from engine.errors import InputRefused
from engine.numbers import exact
from engine.privacy.event_json import event_from_json, event_to_json
from engine.privacy.events import Event
from engine.privacy.events import Neighbours as Neighbours

WEIGHED = "histories_weighed"
"""The assumption of a release in which all rows of a person count together, however many."""
WHOLE = "histories_whole"
"""The same where nothing bounds what they tell, so that none counts less."""
ONE_DRAWN = "one_question_drawn"
"""The level of a survey is that of its most telling question: each person answers one, drawn by lot."""

if TYPE_CHECKING:
    from collections import Counter

    from engine.privacy.draw import Draw

Term = int | str | Fraction
_EMPTY: Mapping[str, Term] = {}


class Unit(StrEnum):
    """Who is protected: one row, or all rows of one person up to the declared cap."""

    ROW = "row"
    PERSON = "person"


@dataclass(frozen=True)
class Loss:
    """A bound on the privacy loss, and what proves it.

    Parameters
    ----------
    epsilon
        Exact privacy level, at least 0.
    delta
        Probability mass outside the pure bound, 0 for pure differential privacy.
    neighbours
        The relation between data sets that epsilon is about.
    events
        What ran, or the theorem that holds without noise of ours.
    """

    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours
    events: Event

    def __post_init__(self) -> None:
        if not isinstance(self.events, Event):
            raise InputRefused("accounting.unknown_event")


@dataclass(frozen=True)
class Promise:
    """What is promised about every single unit of protection.

    Parameters
    ----------
    kind
        Id of a `PromiseKind`.
    loss
        None where nothing bounds the privacy loss.
    unit, rows_per_person
        Who is protected, and for a person the cap on rows that the release used.
    terms
        What else is promised, by the names that the kind declares (``k`` of k-anonymity): declared values,
        never counted in the rows.
    assumptions
        Ids of ``resources/texts/LANG/assumptions.toml`` that are printed with it.
    """

    kind: str
    loss: Loss | None
    unit: Unit
    rows_per_person: int
    terms: Mapping[str, Term] = field(default_factory=lambda: _EMPTY, hash=False)
    assumptions: tuple[str, ...] = ()

    def drawn(self) -> Counter[Draw]:
        """Return what the noise door is asked for, draw by draw; empty without a bounded loss."""
        from collections import Counter

        return Counter() if self.loss is None else self.loss.events.drawn()

    @property
    def clears(self) -> bool:
        """Whether of some cells those alone leave that reach a threshold: how many do follows from people."""
        from engine.privacy.mechanisms.clear_counts import ClearCounts

        return any(draw.sampler == ClearCounts.word for draw in self.drawn())

    @property
    def weighs(self) -> bool:
        """Whether all rows of a person count, mostly each less where they are many: no cap leaves any out."""
        return WEIGHED in self.assumptions or WHOLE in self.assumptions

    def to_json(self) -> dict[str, Any]:
        """Return the promise as JSON values; exact fractions as text ``"p/q"``."""
        loss = self.loss
        return {
            "version": 2,
            "kind": self.kind,
            "epsilon": None if loss is None else str(loss.epsilon),
            "delta": None if loss is None else str(loss.delta),
            "neighbours": None if loss is None else loss.neighbours.value,
            "events": None if loss is None else event_to_json(loss.events),
            "unit": self.unit.value,
            "rows_per_person": self.rows_per_person,
            "terms": {
                name: str(term) if isinstance(term, Fraction) else term for name, term in self.terms.items()
            },
            "assumptions": list(self.assumptions),
        }

    @staticmethod
    def from_json(tree: Mapping[str, Any]) -> Promise:
        """Read what `to_json` wrote.

        Raises
        ------
        InputRefused
            ``promise.unknown``: a version, word or event that this version does not know.
        """
        try:
            if strict_json.whole(tree.get("version", 1), "version") not in (1, 2):
                raise ValueError("another version")
            loss = None
            if tree["epsilon"] is not None:
                loss = Loss(
                    exact(tree["epsilon"]),
                    exact(tree["delta"]),
                    Neighbours(tree["neighbours"]),
                    event_from_json(tree["events"]),
                )
            return Promise(
                promise_kind(tree["kind"]).id,
                loss,
                Unit(tree["unit"]),
                strict_json.whole(tree["rows_per_person"], "rows_per_person", least=1),
                # the first version had no terms, nor a number
                dict(strict_json.read_named(tree["terms"] if "version" in tree else {}, "terms")),
                strict_json.items(tree["assumptions"], "assumptions", strict_json.text),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputRefused("promise.unknown") from error


class Status(StrEnum):
    """What a release of a kind of promise is in law, as far as the kind alone can say."""

    BOUNDED = "bounded"  # what is learnt of one person is bounded; the custodian judges
    STATISTICAL = "statistical"  # numbers about many people, without a bound
    PERSONAL = "personal"  # to be treated as personal data


class PromiseKind(ABC):
    """A kind of promise: what distinguishes it for programs. People read its texts.

    Its words stand in ``resources/texts/LANG/promises/ID.toml``: ``name``, ``sentence`` (for who chooses),
    ``recipient`` (for who receives, in README.txt), ``can`` and ``cannot``, ``accounting``, ``must_know``
    (what a recipient has to know), ``status`` (in law), below ``criteria`` ``singling_out``, ``linking`` and
    ``inferring``, and ``label`` and ``what`` below ``terms.NAME``, conditions too; ``statement`` where it
    bounds no loss, or is local. A text may have further forms for releases of which something more holds,
    see `engine.report.content.facts`.
    """

    id: ClassVar[str]
    status: ClassVar[Status]
    """What its releases are in law, as far as the kind can say."""
    bounded: ClassVar[bool]
    """Whether a promise of this kind states a loss."""
    local: ClassVar[bool] = False
    """Whether people protect their own answers before they give them: no table, no noise of ours."""
    terms: ClassVar[tuple[str, ...]] = ()
    """The names of what it states besides."""
    conditions: ClassVar[tuple[str, ...]] = ()
    """The names of what it states further where that was asked for."""
    group_size: ClassVar[str] = ""
    """The name of what says how many look alike at least, which a threshold is about; empty for nothing."""


@cache
def promise_kinds() -> tuple[PromiseKind, ...]:
    """Return one instance of every kind of promise, in the order of their ids.

    Examples
    --------
    >>> [kind.id for kind in promise_kinds() if kind.bounded]
    ['approximate_dp', 'local_dp', 'plausible_deniability', 'pure_dp']
    """
    from engine.discovery import instances
    from engine.privacy import promises

    return instances(promises, PromiseKind)


def promise_kind(kind_id: str) -> PromiseKind:
    """Return a kind of promise by its id; `KeyError` where there is none."""
    return {kind.id: kind for kind in promise_kinds()}[kind_id]
