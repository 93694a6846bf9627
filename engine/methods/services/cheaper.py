"""Cheaper ways to what a visit asks: from answers already given, as one table, or less exactly.

Everything here follows from declarations and from released numbers; no row is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice
from typing import Any

import numpy as np

from engine.methods.budget import SMALLEST
from engine.methods.conditions import (
    EVERYBODY,
    MOST_COMPARISONS,
    All,
    AnyOf,
    Comparison,
    Condition,
    Not,
    comparisons,
    parse,
    written,
)
from engine.methods.protocol import Cheaper, Request
from engine.methods.services.asked import ID, Asked, level_of
from engine.methods.services.desk import Desk
from engine.methods.services.questions import NOWHERE, Levels, Question, axis_of, given
from engine.numbers import plain
from engine.privacy.accuracy import laplace_accuracy
from engine.privacy.promise import Unit
from engine.views import Text

MADE_UP, MOST_SAID = 512, 4
MOST_PIECES, MOST_LOOKED_AT = 24, 20
"""So many answers are combined, and for so many new questions: the work grows with the square.

Of each kind, no more than a few ways are said.
"""


@dataclass(frozen=True)
class Piece:
    """Numbers that are there, or will be after the visit.

    Parameters
    ----------
    question
        What they count.
    scale
        Of the noise on each of them.
    lots
        Numbers with the same lots count the same rows of everybody: those of one visit, or of all.
    counts
        With noise; None for those that the visit would bring.
    place
        The number of the question in the visit; 0 for an answer of an earlier one.
    """

    question: Question
    scale: Fraction
    lots: int
    counts: tuple[int, ...] | None = None
    place: int = 0


@dataclass(frozen=True)
class Sum:
    """How a number follows from others: which pieces, their sum where it is known, and how many draws."""

    pieces: tuple[Piece, ...]
    value: int | None
    draws: int

    @property
    def within(self) -> int:
        """What 95 of 100 such sums stay within, at most.

        Discrete Laplace noise is symmetric with one peak, so the error of a sum grows with every scale; the
        largest one stands for all.
        """
        scale = max(piece.scale for piece in self.pieces)
        return laplace_accuracy(scale, count=self.draws).limit


def follows(question: Question, pieces: Sequence[Piece]) -> Sum | None:
    """Return how one number follows from numbers that are there: none, where no two of them give it.

    Parameters
    ----------
    question
        Without a column that is counted apart.
    pieces
        Answers; at most `MOST_PIECES` of them are looked at, the last ones.

    Notes
    -----
    It is compared as `Question.canonical` compares: the sum counts the same rows of every table. The cells
    of one answer that lie in the condition; the two parts of what is asked; the whole without a part.
    """
    if question.by is not None:
        return None
    last = list(pieces)[-MOST_PIECES:]
    for piece in last:
        found = _of_cells(question, piece)
        if found is not None:
            return found
    whole = [piece for piece in last if piece.question.by is None]
    for first, second, sign in _pairs(question, whole):
        if not _is_sum(question, first.question, second.question, sign):
            continue
        value = None
        if first.counts is not None and second.counts is not None:
            value = sign[0] * first.counts[0] + sign[1] * second.counts[0]
        return Sum((first, second), value, 2)
    return None


Sign = tuple[int, int]


def _pairs(question: Question, pieces: Sequence[Piece]) -> Iterator[tuple[Piece, Piece, Sign]]:
    """Give the pairs that may give what is asked, with their signs: those that do so on made-up rows."""
    conditions = [question.condition, *(piece.question.condition for piece in pieces)]
    joint = Question(AnyOf(tuple(conditions)), question.schema)
    wanted, *counted = (mask.astype(np.int8) for mask in joint.over_cells(conditions, MADE_UP))
    for (first, left), (second, right) in combinations(zip(pieces, counted, strict=True), 2):
        if first.lots == second.lots and (first.counts is None) == (second.counts is None):
            for sign in ((1, 1), (1, -1), (-1, 1)):
                if np.array_equal(wanted, sign[0] * left + sign[1] * right):
                    yield first, second, sign


def _of_cells(question: Question, piece: Piece) -> Sum | None:
    """Return the sum of those cells of an answer that make up what is asked."""
    other = piece.question
    axis = None if other.by is None else axis_of(question.schema, other.by)
    if other.by is None or not isinstance(axis, Levels):
        return None
    taken = []
    for cell in range(axis.size):
        here, there = (_canonical(question, _within(one, axis, cell)) for one in (question, other))
        if here is None or there is None or here not in (there, NOWHERE):
            return None
        if here != NOWHERE:
            taken.append(cell)
    if not taken:
        return None
    value = None if piece.counts is None else sum(piece.counts[cell] for cell in taken)
    return Sum((piece,), value, len(taken))


def _within(question: Question, axis: Levels, cell: int) -> Condition:
    """Return what a condition asks of the rows in one cell of a column."""
    name = axis.column.name
    asked = {one for one in comparisons(question.condition) if one.column == name}
    return given(question.condition, {one: cell in axis.cells(one) for one in asked})


def _is_sum(question: Question, first: Question, second: Question, sign: Sign) -> bool:
    """Say whether two counts give a third for every table: two parts of it, or a whole without a part."""
    a, b = first.condition, second.condition
    whole, part = (b, a) if sign == (-1, 1) else (a, b)
    nobody: Condition = All((part, Not(whole)))
    together: Condition = All((whole, Not(part)))
    if sign == (1, 1):
        nobody, together = All((a, b)), AnyOf((a, b))
    return _nobody(question, nobody) and _canonical(question, together) == question.canonical


def _nobody(question: Question, condition: Condition) -> bool:
    return _canonical(question, condition) == NOWHERE


def _canonical(question: Question, condition: Condition) -> str | None:
    """Return the canonical form of a condition, None where working it out takes too long."""
    if len(set(comparisons(condition))) > MOST_COMPARISONS:
        return None
    return Question(condition, question.schema).canonical


@dataclass(frozen=True)
class Table:
    """Questions that differ in the values of one column only, and the one question that answers them all."""

    places: tuple[int, ...]
    column: str
    rest: Condition
    cells: int


def tables(questions: Mapping[int, Question]) -> Iterator[Table]:
    """Give the tables that answer several questions of a visit at once.

    Parameters
    ----------
    questions
        New ones, by their number in the visit.

    Notes
    -----
    No row is in two cells of a table, so that all its numbers together lose what one of them loses.
    """
    alike: dict[tuple[str, str], tuple[Condition, list[int]]] = {}
    for place, question in questions.items():
        for name, rest in _without_one(question):
            key = (name, _canonical(question, rest) or "")
            alike.setdefault(key, (rest, []))[1].append(place)
    for (name, _), (rest, places) in alike.items():
        if len(places) > 1:
            axis = axis_of(questions[places[0]].schema, name)
            yield Table(tuple(places), name, rest, axis.size if isinstance(axis, Levels) else 0)


def _without_one(question: Question) -> Iterator[tuple[str, Condition]]:
    """Give every listed column that a condition compares once, with what else it asks."""
    if question.by is not None:
        return
    condition = question.condition
    parts = condition.parts if isinstance(condition, All) else (condition,)
    for part in parts:
        one = part.part if isinstance(part, Not) else part
        if not isinstance(one, Comparison) or not isinstance(axis_of(question.schema, one.column), Levels):
            continue
        rest = tuple(other for other in parts if other is not part)
        if all(named.column != one.column for other in rest for named in comparisons(other)):
            yield one.column, (EVERYBODY if not rest else rest[0] if len(rest) == 1 else All(rest))


def ways(
    asked: Sequence[Asked], records: Sequence[Mapping[str, Any]], desk: Desk, opened: Request
) -> tuple[Cheaper, ...]:
    """Return how the questions of a visit could cost less: not asked, asked as one table, less exactly.

    Parameters
    ----------
    asked, records
        The questions of the visit, and how they were filled in.
    desk
        What was answered before.
    opened
        The request of the visit, with unit, cap and relation of the opening.
    """
    not_asked = islice(_not_asked(asked, records, desk, opened), MOST_SAID)
    cheapest = sorted(_tables(asked, records), key=lambda way: way.epsilon)[:MOST_SAID]
    return (*not_asked, *cheapest, *_wider(asked, records, opened))


def _way(name: str, left: Sequence[Mapping[str, Any]], epsilon: Fraction, **values: Any) -> Cheaper:
    questions = [{key: plain(value) for key, value in one.items() if value is not None} for one in left]
    given = {"questions": questions} if questions else None
    return Cheaper(Text(f"methods.{ID}.cheaper.{name}", values), epsilon, given)


def _total(asked: Sequence[Asked]) -> Fraction:
    return sum((one.epsilon for one in asked), Fraction(0))


def _new(asked: Sequence[Asked]) -> dict[int, Asked]:
    """Return the questions that cost something by their number, so many as are looked at."""
    new = {place: one for place, one in enumerate(asked, 1) if one.epsilon}
    return dict(list(new.items())[:MOST_LOOKED_AT])


def _not_asked(
    asked: Sequence[Asked], records: Sequence[Mapping[str, Any]], desk: Desk, opened: Request
) -> Iterator[Cheaper]:
    new = _new(asked)
    pieces = _pieces(new, desk, opened)
    for place, one in new.items():
        found = follows(one.question, [piece for piece in pieces if piece.place != place])
        if found is None:
            continue
        left = [*records[: place - 1], *records[place:]]
        epsilon = _total(asked) - one.epsilon
        if found.value is not None:
            yield _way("known", left, epsilon, question=place, value=found.value, within=found.within)
        else:
            others = ", ".join(str(piece.place) for piece in found.pieces)
            yield _way("follows", left, epsilon, question=place, others=others)


def _pieces(new: Mapping[int, Asked], desk: Desk, opened: Request) -> list[Piece]:
    """Return the numbers that are there, and those that the visit would bring."""
    is_drawn = opened.unit is Unit.PERSON  # each visit draws anew which rows of a person count
    moved, schema = Fraction(opened.units_moved), opened.schema
    found = [
        Piece(
            Question(parse(one.where), schema, one.by),
            moved / one.epsilon,
            one.visit if is_drawn else 0,
            one.counts,
        )
        for one in desk.answers
    ]
    now = desk.visits + 1 if is_drawn else 0
    return found + [Piece(one.question, moved / one.epsilon, now, place=place) for place, one in new.items()]


def _tables(asked: Sequence[Asked], records: Sequence[Mapping[str, Any]]) -> Iterator[Cheaper]:
    for table in tables({place: one.question for place, one in _new(asked).items()}):
        levels = [asked[place - 1].epsilon for place in table.places]
        one = {"where": written(table.rest), "by": table.column, "epsilon": max(levels)}
        left = [record for place, record in enumerate(records, 1) if place not in table.places]
        yield _way(
            "table",
            [*left, one],
            _total(asked) - sum(levels) + max(levels),
            questions=", ".join(map(str, table.places)),
            column=table.column,
            cells=table.cells,
        )


def _wider(
    asked: Sequence[Asked], records: Sequence[Mapping[str, Any]], opened: Request
) -> Iterator[Cheaper]:
    """Give the same questions with half of their level, or with twice their margin."""
    less = [
        _less_exact(record, one.epsilon) if one.epsilon else record
        for one, record in zip(asked, records, strict=True)
    ]
    pairs = zip(asked, less, strict=True)
    levels = [level_of(record, opened.units_moved) for one, record in pairs if one.epsilon]
    if sum(levels) < _total(asked):
        yield _way("wider", less, sum(levels, Fraction(0)))


def _less_exact(record: Mapping[str, Any], epsilon: Fraction) -> dict[str, Any]:
    if record["margin"] is not None:
        return {**record, "margin": 2 * record["margin"]}
    return {**record, "epsilon": max(epsilon / 2, SMALLEST)}
