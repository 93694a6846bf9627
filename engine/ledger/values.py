"""The values that the ledger hands out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from engine.errors import InputRefused

UNITS = ("row", "person")
NEIGHBOURS = ("add_remove", "replace_one")
STATES = ("prepared", "reserved", "spent", "complete", "failed", "freed", "withdrawn")
LOSSES = ("bounded", "unbounded", "none")
GROUNDS = ("table", "people", "rows", "contents", "columns", "coincidence")
COINCIDENCE = 1e-3  # shared people are taken as no coincidence where it is less probable than this
FEWEST_ROWS, SMALLEST_SHARE, FEWEST_CONTENTS = 10, 0.02, 2

Compose = Callable[[list[dict[str, Any]]], tuple[Fraction, Fraction]]
"""Guarantees (as their JSON) of releases about the same people → their total (ε, δ), both exact."""


@dataclass(frozen=True)
class Holding:
    """A register of people, named once, with the one budget that all releases about them share.

    Attributes
    ----------
    unit
        ``"row"`` or ``"person"``: whose presence the guarantees of this holding hide.
    neighbours
        ``"add_remove"`` or ``"replace_one"``.
    epsilon, delta
        The budget; ε > 0, 0 ≤ δ < 1. Without ε the register only lists releases that state no loss; one that
        states a loss is refused until a budget is set.
    money, currency
        What the custodian can afford in compensation, or None. The ledger keeps it; what it compares releases
        with is ε and δ.
    """

    id: str
    name: str
    unit: str
    neighbours: str
    epsilon: Fraction | None
    delta: Fraction
    money: Fraction | None
    created: str
    currency: str = ""


@dataclass(frozen=True)
class Entry:
    """One release: what was given, to whom, under which agreement, until when, and what it spent.

    Attributes
    ----------
    loss
        One of `LOSSES`: ``bounded`` by ε and δ; ``unbounded`` where private rows were read without a formal
        guarantee; ``none`` where none were read (post-processing of what has left already, a kit).
    epsilon, delta
        What the release spends; None unless its loss is bounded.
    parent
        The entry that opened the service or exchange of which this is a visit or round, or None.
    questions
        Fingerprints of what the release paid to answer, so that no question is paid for twice.
    state_hash
        SHA-256 of the state that a service was left in, or None.
    folder
        Working folder of the process that holds the entry; empty once it has been put away.
    told
        SHA-256 of what the release told, where the ledger keeps it, see `Ledger.told`.
    state
        One of `STATES`. Every state but ``freed`` counts against the budget.
    running
        Whether the process that holds a reserved or spent entry is still alive on this machine. A reserved or
        spent entry that is not running is *abandoned*: it counts as spent until a person resolves it.
    """

    id: str
    holding: str
    number: int
    parent: str | None
    state: str
    title: str
    plan: str
    recipient: str
    request: str
    agreement: str
    expires: str | None
    approver: str
    loss: str
    unit: str | None
    neighbours: str | None
    guarantee: Mapping[str, Any]
    epsilon: Fraction | None
    delta: Fraction | None
    tables: tuple[str, ...]
    questions: tuple[str, ...]
    folder: str
    reserved_at: str
    spent_at: str | None
    closed_at: str | None
    withdrawn_at: str | None
    reason: str
    release_sums: str | None
    internal_sums: str | None
    state_hash: str | None
    told: str | None
    running: bool

    @property
    def counts(self) -> bool:
        """Whether the entry counts against the budget of its holding."""
        return self.state != "freed"

    @property
    def may_have_left(self) -> bool:
        """Whether there can be a bundle: not where the run itself closed the entry, giving no reason."""
        return self.counts and not (self.state == "failed" and not self.reason)

    @property
    def bounded(self) -> bool:
        """Whether the release spends from a budget: its loss is stated and bounded."""
        return self.epsilon is not None

    @property
    def abandoned(self) -> bool:
        """Whether a person has to resolve the entry: its process ended before it did."""
        return self.state in ("reserved", "spent") and not self.running

    def expired(self, today: date) -> bool:
        """Say whether the recipient's agreement ended before a day."""
        return self.expires is not None and date.fromisoformat(self.expires) < today


@dataclass(frozen=True)
class Status:
    """What has been spent on the people of a holding and what is left.

    Attributes
    ----------
    composed
        True: the totals come from the accountant that was passed. False: ε and δ were added up, which is
        always valid (basic composition) and never smaller than what the accountant says.
    bounds_all
        False as soon as a release that read private rows without formal guarantee may have left: the
        differentially private total then no longer bounds all that has left about these people.
    abandoned
        Entries that count as spent until a person resolves them.
    """

    holding: Holding
    epsilon_spent: Fraction
    delta_spent: Fraction
    composed: bool
    releases: int
    bounds_all: bool
    abandoned: tuple[Entry, ...]

    @property
    def epsilon_left(self) -> Fraction | None:
        """ε budget that is left, never below zero; None for a register without a budget."""
        whole = self.holding.epsilon
        return None if whole is None else max(whole - self.epsilon_spent, Fraction(0))

    @property
    def delta_left(self) -> Fraction:
        """δ budget that is left, never below zero."""
        return max(self.holding.delta - self.delta_spent, Fraction(0))


@dataclass(frozen=True)
class Preview:
    """What the ledger would say to a release now; nothing is reserved.

    ``refusal`` is None when the release fits, else the very error that `Ledger.reserve` would raise.
    """

    before: Status
    epsilon_total: Fraction
    delta_total: Fraction
    refusal: InputRefused | None

    @property
    def epsilon_after(self) -> Fraction | None:
        """ε that would be left after the release, never below zero; None for a register without a budget."""
        whole = self.before.holding.epsilon
        return None if whole is None else max(whole - self.epsilon_total, Fraction(0))


@dataclass(frozen=True)
class Service:
    """An entry that was opened once, and what came after it: visits of a desk, rounds of an exchange.

    Attributes
    ----------
    opening
        Reserved the whole budget of the service, and is what counts against the register.
    visits
        In the order of their reservation.
    state_hash
        SHA-256 of the state that the last of them left, or None where none is kept.
    epsilon_spent, delta_spent
        What the visits have drawn together from the budget of the opening.
    underway
        The visit that is neither complete nor closed; no other may begin before it is.
    """

    opening: Entry
    visits: tuple[Entry, ...]
    state_hash: str | None
    epsilon_spent: Fraction
    delta_spent: Fraction
    underway: Entry | None

    @property
    def epsilon_left(self) -> Fraction | None:
        """What further visits can draw; None where the opening states no loss."""
        whole = self.opening.epsilon
        return None if whole is None else max(whole - self.epsilon_spent, Fraction(0))

    @property
    def delta_left(self) -> Fraction | None:
        """δ that further visits can draw."""
        whole = self.opening.delta
        return None if whole is None else max(whole - self.delta_spent, Fraction(0))


@dataclass(frozen=True)
class Match:
    """How a table relates to a known holding.

    Attributes
    ----------
    same_table
        A table with the same order-free fingerprint is attached to the holding.
    people, people_shared
        People in the table, and how many of them the holding knows.
    chance
        At most how probable it is that as many would be shared by coincidence, short numbers being what they
        are; 0 where it is no coincidence, 1 where nothing is shared or all of it is to be expected.
    rows, rows_shared
        Parts of rows that were compared, and how many an attached table has too.
    contents, contents_shared
        Columns that are not constant, and how many an attached table has with the very same content, under
        whatever name.
    columns, columns_shared, same_columns
        Column names, and how many an attached table has too: counted where all names of one table are among
        those of the other, or half of all are shared. ``same_columns``: all of them, and no others.
    further
        Of the holding that the table seems to belong to: the strongest relation of what that one does not
        know, people or parts of rows, to another one.
    """

    holding: Holding
    same_table: bool
    people: int
    people_shared: int
    chance: float
    rows: int
    rows_shared: int
    contents: int
    contents_shared: int
    columns: int
    columns_shared: int
    same_columns: bool
    further: Match | None = None

    @property
    def share(self) -> Fraction:
        """Share of the table's people whom the holding knows, 0 to 1."""
        return Fraction(self.people_shared, self.people) if self.people else Fraction(0)

    @property
    def coincidence(self) -> bool:
        """Whether people are shared who could as well be shared by coincidence."""
        return self.people_shared > 0 and self.chance > COINCIDENCE

    @property
    def grounds(self) -> tuple[str, ...]:
        """Why the table seems to belong to the holding: those of `GROUNDS` that hold, the strongest first."""
        rows_alike = self.rows_shared >= FEWEST_ROWS and self.rows_shared >= SMALLEST_SHARE * self.rows
        holds = {
            "table": self.same_table,
            "people": self.people_shared > 0 and not self.coincidence,
            "rows": rows_alike,
            "contents": self.contents_shared >= FEWEST_CONTENTS,
            "columns": self.columns_shared > 0,
            "coincidence": self.coincidence,
        }
        return tuple(ground for ground in GROUNDS if holds[ground])

    def refusal(self, holding: str) -> InputRefused:
        """Return the question that the match raises where another holding is to be charged, as a refusal."""
        shared = {
            name: getattr(self, name)
            for part in ("rows", "contents", "columns")
            for name in (part, f"{part}_shared")
        }
        return InputRefused(
            f"ledger.known_{self.grounds[0]}",
            holding=holding,
            known=self.holding.name,
            shared=self.people_shared,
            people=self.people,
            chance=float(f"{self.chance:.2g}"),
            **shared,
        )

    @property
    def strength(self) -> tuple[int, int, int, int, int]:
        """Sort key: the strongest ground first, then how much is shared."""
        strongest = len(GROUNDS) - GROUNDS.index(self.grounds[0]) if self.grounds else 0
        people = 0 if self.coincidence else self.people_shared
        return (strongest, people, self.rows_shared, self.contents_shared, self.columns_shared)


@dataclass(frozen=True)
class Head:
    """The last row of the journal: goes into the evidence of each bundle."""

    sequence: int
    hash: str
