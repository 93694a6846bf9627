"""What kinds of method there are: what for, who decides what they spend, what they read, what leaves."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar


class Family(StrEnum):
    """Grouping on screen only; nothing decides by it."""

    STATISTICS = "statistics"
    DATASET = "dataset"
    MODEL = "model"
    SERVICE = "service"
    EXCHANGE = "exchange"


class Spends(StrEnum):
    """Who decides the privacy level of a release."""

    CHOSEN = "chosen"  # a person, on the budget screen
    FOLLOWS = "follows"  # the parameters
    NOTHING = "nothing"  # nobody: no bounded loss, or only what has been paid for already


class Rows(StrEnum):
    """Whether rows of people leave."""

    NONE = "none"
    SYNTHETIC = "synthetic"  # all or part of their values invented
    COARSER = "coarser"  # made coarser, or masked
    REAL = "real"  # as they are, but for who it is


class Changes(StrEnum):
    """What becomes of the values in rows that leave."""

    COARSER = "coarser"  # a band, a group, a longer time: true, and less of it
    MASKED = "masked"  # left out, cut or replaced, column by column
    GROUPED = "grouped"  # told of several similar people together
    PERTURBED = "perturbed"  # changed at random, so that no single value is sure


class Held(StrEnum):
    """What a recipient holds in their hands: by this, ways of releasing are offered to who knows none."""

    COUNTS = "counts"
    AVERAGES = "averages"
    COARSER = "coarser"  # rows of people, made coarser or alike
    INVENTED = "invented"  # rows that are invented
    REAL = "real"  # rows of people, with another name or with single columns changed
    MODEL = "model"
    ANSWERS = "answers"  # to one question after the other
    SURVEY = "survey"  # answers that were protected where they were given


class Leaving:
    """What leaves of rows, for who chooses among methods."""

    held: ClassVar[Held | None] = None
    """What a recipient holds, where it does not follow from family and rows: see `Method.in_hands`."""

    rows: ClassVar[Rows] = Rows.NONE
    """Whether rows of people leave."""
    invented: ClassVar[bool] = False
    """Whether every value of a row that leaves is drawn from a model, so that no row is anybody's in part."""
    contracted: ClassVar[bool] = False
    """Whether it leaves only under an agreement that the purpose names: see `engine.release.check`."""
    changes: ClassVar[tuple[Changes, ...]] = ()
    """What becomes of their values."""
    usual: ClassVar[bool] = False
    """Whether it is what most people mean who ask for what it puts into their hands: one for each `Held`."""


class Shape(StrEnum):
    """What the rows of a source are."""

    PEOPLE = "people"  # private
    EVENTS = "events"  # private, several rows a person
    PUBLIC = "public"
    RECEIVED = "received"  # protected already by those who sent it

    @property
    def is_private(self) -> bool:
        """Whether the rows are those of the custodian's people, whom the ledger keeps account of."""
        return self in (Shape.PEOPLE, Shape.EVENTS)


class Reads(StrEnum):
    """What a method asks of the people's tables; each may ask for everything before it, too."""

    COUNTS = "counts"
    SUMS = "sums"
    COMBINATIONS = "combinations"
    CODED = "coded"
    ROWS = "rows"
