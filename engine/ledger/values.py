"""The values that the ledger hands out, and exact numbers: fractions in, fractions out, never a float."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from engine.errors import InputRefused

UNITS = ("row", "person")
NEIGHBOURS = ("add_remove", "replace_one")
STATES = ("reserved", "spent", "complete", "failed", "freed", "withdrawn")
LOSSES = ("bounded", "unbounded", "none")

Compose = Callable[[list[dict[str, Any]]], tuple[Fraction, Fraction]]
"""Guarantees (as their JSON) of releases about the same people → their total (ε, δ), both exact."""

_NUMBER = re.compile(r"\+?(\d{1,1000}/\d{1,1000}|(\d{1,300}(\.\d{0,300})?|\.\d{1,300})([eE][+-]?\d{1,3})?)")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_LONGEST_TEXT = 4000
_LONGEST = 3000  # bits of a numerator or denominator: far below what Python refuses to write as text


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
    running: bool

    @property
    def counts(self) -> bool:
        """Whether the entry counts against the budget of its holding."""
        return self.state != "freed"

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
        False as soon as a release that read private rows without formal guarantee is among the entries: the
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
    same_columns
        A table with the same column names (in any order) is attached to the holding.
    """

    holding: Holding
    same_table: bool
    people: int
    people_shared: int
    same_columns: bool

    @property
    def share(self) -> Fraction:
        """Share of the table's people whom the holding knows, 0 to 1."""
        return Fraction(self.people_shared, self.people) if self.people else Fraction(0)

    @property
    def strength(self) -> tuple[bool, int, bool]:
        """Sort key: same table first, then people shared, then same columns."""
        return (self.same_table, self.people_shared, self.same_columns)


@dataclass(frozen=True)
class Head:
    """The last row of the journal: goes into the evidence of each bundle."""

    sequence: int
    hash: str


def exact(value: object, code: str, *, zero: bool = False, below_one: bool = False) -> Fraction:
    """Return a budget as an exact fraction.

    Parameters
    ----------
    value
        Fraction, whole number, Decimal, or text such as ``"1/3"``, ``"0.25"``, ``"1e-6"``. Never a float:
        0.1 as a float is not one tenth.
    code
        Code of the refusal, ``"ledger.bad_epsilon"`` for instance.
    zero, below_one
        Whether zero is allowed, whether one and above are refused.

    Raises
    ------
    InputRefused
        A float, not a number, infinite, negative, zero unless allowed, or with absurdly many digits.

    Examples
    --------
    >>> exact("0.1", "ledger.bad_epsilon") + exact("1/5", "ledger.bad_epsilon")
    Fraction(3, 10)
    """
    found = _fraction(value)
    fits = found is not None and (found > 0 or (zero and found == 0)) and not (below_one and found >= 1)
    if found is None or not fits or max(found.numerator, found.denominator).bit_length() > _LONGEST:
        raise InputRefused(code, found=str(value)[:40])
    return found


def _fraction(value: object) -> Fraction | None:
    if isinstance(value, Fraction) or (isinstance(value, int) and not isinstance(value, bool)):
        return Fraction(value)
    if isinstance(value, Decimal):
        value = str(value)
    if not isinstance(value, str) or _NUMBER.fullmatch(value.strip()) is None:
        return None
    try:
        return Fraction(value.strip())
    except ZeroDivisionError:
        return None


def written(value: Fraction | None) -> str | None:
    """Return ``"p/q"``, the form in which a fraction is stored."""
    return None if value is None else f"{value.numerator}/{value.denominator}"


def at_most(value: Fraction) -> str:
    """Write a fraction in at most nine digits, never more than it is (for what is left).

    Examples
    --------
    >>> at_most(Fraction(1, 3)), at_least(Fraction(1, 3))
    ('0.333333333', '0.333333334')
    """
    return _decimal(value, ROUND_FLOOR)


def at_least(value: Fraction) -> str:
    """Write a fraction in at most nine digits, never less than it is (for what is asked)."""
    return _decimal(value, ROUND_CEILING)


def _decimal(value: Fraction, rounding: str) -> str:
    # One rounding only: the integers of a fraction are exact as decimals. Floor for what is left and ceiling
    # for what is asked, so that a refusal never shows two numbers that seem to fit.
    context = Context(prec=9, rounding=rounding)
    found = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{found:f}" if found == 0 or abs(found) >= Decimal("1e-4") else f"{found:g}"


def words(value: object, field: str, *, required: bool = False) -> str:
    """Return what a person wrote, without blanks around it; refuse what cannot be stored."""
    text = str(value).strip() if isinstance(value, str) else ""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = "\0"
    if not isinstance(value, str) or "\0" in text or len(text) > _LONGEST_TEXT:
        raise InputRefused("ledger.bad_text", field=field, longest=_LONGEST_TEXT)
    if required and not text:
        raise InputRefused(f"ledger.no_{field}")
    return text


def day(value: str | None) -> str | None:
    """Return a day as ISO text, or None for none."""
    if value is None or value == "":
        return None
    try:
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError) as error:
        raise InputRefused("ledger.bad_day") from error


def hexadecimal(value: object, field: str) -> str:
    """Return a SHA-256 in lower-case hexadecimal."""
    if not isinstance(value, str) or _SHA256.fullmatch(value) is None:
        raise InputRefused("ledger.bad_hash", field=field)
    return value.lower()
