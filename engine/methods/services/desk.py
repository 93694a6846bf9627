"""What a desk remembers from one visit to the next: declarations, and answers that were paid for.

Nothing here is exact: the state holds no row, no true count and no key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

from engine import strict_json
from engine.methods.protocol import Request
from engine.privacy.promise import Neighbours
from engine.table.schema import Schema

VERSION = 1


@dataclass(frozen=True)
class Answer:
    """One answered question.

    Parameters
    ----------
    key
        Fingerprint of the question, see `engine.methods.services.questions.Question.key`.
    where, by
        How it was written when it was asked first.
    epsilon
        What it cost.
    counts
        With noise, one for each cell of ``by``.
    visit
        The number of the visit that paid for it.
    """

    key: str
    where: str
    by: str | None
    epsilon: Fraction
    counts: tuple[int, ...]
    visit: int


@dataclass(frozen=True)
class Desk:
    """The state of a desk.

    Parameters
    ----------
    declared
        What questions mean: columns, cap and preparation as they were when it was opened.
    epsilon
        What was reserved.
    neighbours
        The relation in which it was.
    questions
        How many may be paid for.
    visits
        How many there have been.
    answers
        In the order in which they were given.
    closed
        Whether it was closed for good.
    """

    declared: Mapping[str, Any]
    epsilon: Fraction
    neighbours: Neighbours
    questions: int
    visits: int = 0
    answers: tuple[Answer, ...] = ()
    closed: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that may be asked about."""
        return tuple(column["name"] for column in self.declared["columns"])

    @property
    def schema(self) -> Schema:
        """The declarations as they were when the desk was opened: of its columns and of who is a person."""
        key = self.declared["person_key"]
        columns = [{"role": "other"} | column for column in self.declared["columns"]]
        columns += [{"name": key[0], "role": "person_key", "kind": "text"}] if key else []
        tree = {"version": 1, "rows_per_person": self.declared["rows_per_person"], "columns": columns}
        return Schema.from_json(tree, file="state")

    @property
    def left(self) -> Fraction:
        """How much of what was reserved no visit that came to an end has spent."""
        return self.epsilon - sum((answer.epsilon for answer in self.answers), Fraction(0))

    def answer(self, key: str) -> Answer | None:
        """Return what was answered to a question."""
        return next((answer for answer in self.answers if answer.key == key), None)

    def visited(self, answers: tuple[Answer, ...]) -> Desk:
        """Return the desk after a visit that paid for these answers."""
        return replace(self, visits=self.visits + 1, answers=(*self.answers, *answers))

    def dumps(self) -> bytes:
        """Return the state as it is kept."""
        tree = {
            "version": VERSION,
            "declared": self.declared,
            "epsilon": str(self.epsilon),
            "neighbours": self.neighbours.value,
            "questions": self.questions,
            "visits": self.visits,
            "answers": [
                vars(answer) | {"epsilon": str(answer.epsilon), "counts": list(answer.counts)}
                for answer in self.answers
            ],
            "closed": self.closed,
        }
        return (json.dumps(tree, indent=1, ensure_ascii=False) + "\n").encode()

    @staticmethod
    def loads(state: bytes | None) -> Desk | None:
        """Read what `dumps` wrote; None where it is something else."""
        try:
            return _desk(strict_json.loads(state or b""))
        except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError):
            return None


def _desk(value: Any) -> Desk | None:
    tree = strict_json.members(value, "", must=("version", *(part.name for part in fields(Desk))))
    if strict_json.whole(tree["version"], "version") != VERSION:
        return None
    neighbours = [one.value for one in Neighbours]
    return Desk(
        _declared(tree["declared"], "declared"),
        strict_json.number(tree["epsilon"], "epsilon"),
        Neighbours(strict_json.word(tree["neighbours"], "neighbours", neighbours)),
        strict_json.whole(tree["questions"], "questions", least=0),
        strict_json.whole(tree["visits"], "visits", least=0),
        strict_json.items(tree["answers"], "answers", _answer),
        strict_json.truth(tree["closed"], "closed"),
    )


def _declared(value: Any, field: str) -> dict[str, Any]:
    names = ("columns", "person_key", "rows_per_person", "preparation")
    tree = strict_json.members(value, field, must=names)
    strict_json.items(tree["columns"], f"{field}.columns", strict_json.named)
    strict_json.items(tree["preparation"], f"{field}.preparation", strict_json.named)
    strict_json.whole(tree["rows_per_person"], f"{field}.rows_per_person", least=1)
    if tree["person_key"] is not None:
        strict_json.items(tree["person_key"], f"{field}.person_key", strict_json.text)
    return tree


def _answer(value: Any, field: str) -> Answer:
    tree = strict_json.members(value, field, must=[part.name for part in fields(Answer)])
    by = tree["by"]
    return Answer(
        strict_json.text(tree["key"], f"{field}.key"),
        strict_json.text(tree["where"], f"{field}.where"),
        None if by is None else strict_json.text(by, f"{field}.by"),
        strict_json.number(tree["epsilon"], f"{field}.epsilon"),
        strict_json.items(tree["counts"], f"{field}.counts", strict_json.whole),
        strict_json.whole(tree["visit"], f"{field}.visit"),
    )


def declared(request: Request, columns: tuple[str, ...]) -> dict[str, Any]:
    """Return what the questions at a desk mean, as JSON values: another meaning is another desk."""
    listed = [request.schema.column(name) for name in columns]
    lines = Schema(tuple(listed)).to_json()["columns"]
    key = request.schema.person_key
    meaning = ("name", "kind", "domain", "domain_origin", "missing", "labels")
    tree = {
        "columns": [{name: line[name] for name in meaning if name in line} for line in lines],
        "person_key": None if key is None else [key.name, *key.missing],
        "rows_per_person": request.rows_per_person,
        "preparation": [dict(step) for step in request.preparation],
    }
    return dict(json.loads(json.dumps(tree)))
