"""What a desk remembers from one visit to the next: declarations, numbers that were paid for, questions.

Nothing here is exact: the state holds no row, no true number and no key. The state of the first version is
read, too: its answers were counts of rows, one for each question.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import partial
from math import isqrt
from typing import Any

from engine import strict_json
from engine.errors import InputRefused
from engine.methods.protocol import Request
from engine.methods.services.asked import ABOVE, Query, Terms
from engine.privacy.gaussian import concentrated_budget
from engine.privacy.promise import Neighbours
from engine.table.schema import Schema

VERSION = 2


@dataclass(frozen=True)
class Measurement:
    """Numbers with noise that were paid for at once.

    Parameters
    ----------
    queries
        What they are of: one question or table, or the list that was compared with thresholds.
    epsilon
        What they cost.
    numbers
        With noise, in whole steps; of a list 1 for above, 0 for not, −1 for what was not reached. Empty as
        long as nothing was drawn.
    visit
        The number of the visit that paid for them.
    questions
        How many questions they were paid for as.
    most
        Of a list: after so many above nothing more was said.
    """

    queries: tuple[Query, ...]
    epsilon: Fraction
    numbers: tuple[int, ...] = ()
    visit: int = 0
    questions: int = 1
    most: int = 0

    @property
    def query(self) -> Query:
        """The question, where it is one."""
        return self.queries[0]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        tree = {"queries": [one.to_json() for one in self.queries], "numbers": list(self.numbers)}
        return vars(self) | tree | {"epsilon": str(self.epsilon)}


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
    measured
        What was paid for, in that order.
    asked
        Every question that was answered, once, in the order in which they were asked first.
    closed
        Whether it was closed for good.
    delta
        The δ that was reserved beside ε: with one, noise is Gaussian.
    """

    declared: Mapping[str, Any]
    epsilon: Fraction
    neighbours: Neighbours
    questions: int
    visits: int = 0
    measured: tuple[Measurement, ...] = ()
    asked: tuple[Query, ...] = ()
    closed: bool = False
    delta: Fraction = Fraction(0)

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
    def reserved(self) -> Fraction:
        """What may be taken in all, see `Terms.takes`: ε, or the 2ρ that is (ε, δ)."""
        if not self.delta:
            return self.epsilon
        budget = concentrated_budget(float(self.epsilon), float(self.delta))
        return 2 * Fraction(budget) * (1 - _DOWN)

    @property
    def left(self) -> Fraction:
        """How much of what was reserved no visit that came to an end has taken."""
        return self.reserved - self.terms.takes(one.epsilon for one in self.measured)

    def level(self, taken: Fraction) -> Fraction:
        """Return the level of one measurement that takes so much, rounded down where it is a root."""
        if not self.delta or taken <= 0:
            return taken
        return Fraction(isqrt(int(taken * 10**24)), 10**12)

    def share_of(self, questions: int) -> Fraction:
        """Return the level of each of so many questions that take the same."""
        return self.level(self.reserved / questions)

    @property
    def paid(self) -> int:
        """How many questions were paid for."""
        return sum(one.questions for one in self.measured)

    @property
    def terms(self) -> Terms:
        """What holds for all questions."""
        schema, is_exchange = self.schema, self.neighbours is Neighbours.REPLACE_ONE
        by_person = schema.person_key is not None
        rows = schema.rows_per_person if by_person else 1
        return Terms(schema, rows, is_exchange, by_person, self.delta)

    def visited(self, measured: tuple[Measurement, ...], asked: tuple[Query, ...]) -> Desk:
        """Return the desk after a visit that paid for measurements and answered questions."""
        every = {one.key: one for one in reversed((*self.asked, *asked))}
        known = {one.key for one in self.asked}
        new = tuple(every[key] for key in dict.fromkeys(one.key for one in asked) if key not in known)
        return replace(
            self, visits=self.visits + 1, measured=(*self.measured, *measured), asked=(*self.asked, *new)
        )

    def dumps(self) -> bytes:
        """Return the state as it is kept."""
        tree = {
            "version": VERSION,
            "declared": self.declared,
            "epsilon": str(self.epsilon),
            "neighbours": self.neighbours.value,
            "questions": self.questions,
            "visits": self.visits,
            "measured": [one.to_json() for one in self.measured],
            "asked": [one.to_json() for one in self.asked],
            "closed": self.closed,
            **({"delta": str(self.delta)} if self.delta else {}),
        }
        return (json.dumps(tree, indent=1, ensure_ascii=False) + "\n").encode()

    @staticmethod
    def loads(state: bytes | None) -> Desk | None:
        """Read what `dumps` wrote; None where it is something else."""
        try:
            return _desk(strict_json.loads(state or b""))
        except (AttributeError, InputRefused, KeyError, TypeError, ValueError, ZeroDivisionError):
            return None


def _desk(value: Any) -> Desk | None:
    version = strict_json.whole(value["version"], "version")
    if version not in (1, VERSION):
        return None
    own = list(_MEMBERS)
    if version == 1:
        own = ["answers" if one == "measured" else one for one in _MEMBERS if one != "asked"]
    tree = strict_json.members(value, "", must=("version", *own), may=("delta",) if version > 1 else ())
    neighbours = [one.value for one in Neighbours]
    opened = Desk(
        _declare(tree["declared"], "declared"),
        strict_json.number(tree["epsilon"], "epsilon"),
        Neighbours(strict_json.word(tree["neighbours"], "neighbours", neighbours)),
        strict_json.whole(tree["questions"], "questions", least=0),
        strict_json.whole(tree["visits"], "visits", least=0),
        closed=strict_json.truth(tree["closed"], "closed"),
        delta=_failure(tree),
    )
    schema = opened.schema
    if version == 1:
        read = partial(_first_answer, schema=schema)
        measured = strict_json.items(tree["answers"], "answers", read)
        return replace(opened, measured=measured, asked=tuple(one.query for one in measured))
    measured = strict_json.items(tree["measured"], "measured", partial(_measurement, schema=schema))
    read_query = partial(Query.from_json, schema=schema)
    return replace(opened, measured=measured, asked=strict_json.items(tree["asked"], "asked", read_query))


_MEMBERS = tuple(part.name for part in fields(Desk) if part.name != "delta")
_DOWN = Fraction(1, 10**8)  # below what is computed in floating point, here and by the accountant


def _failure(tree: Mapping[str, Any]) -> Fraction:
    found = Fraction(0) if "delta" not in tree else strict_json.number(tree["delta"], "delta")
    if not 0 <= found < 1:
        raise ValueError("no delta")
    return found


def _declare(value: Any, field: str) -> dict[str, Any]:
    names = ("columns", "person_key", "rows_per_person", "preparation")
    tree = strict_json.members(value, field, must=names)
    strict_json.items(tree["columns"], f"{field}.columns", strict_json.read_named)
    strict_json.items(tree["preparation"], f"{field}.preparation", strict_json.read_named)
    strict_json.whole(tree["rows_per_person"], f"{field}.rows_per_person", least=1)
    if tree["person_key"] is not None:
        strict_json.items(tree["person_key"], f"{field}.person_key", strict_json.text)
    return tree


def _measurement(value: Any, field: str, *, schema: Schema) -> Measurement:
    tree = strict_json.members(value, field, must=[part.name for part in fields(Measurement)])
    found = Measurement(
        strict_json.items(tree["queries"], f"{field}.queries", partial(Query.from_json, schema=schema)),
        strict_json.number(tree["epsilon"], f"{field}.epsilon"),
        strict_json.items(tree["numbers"], f"{field}.numbers", strict_json.whole),
        strict_json.whole(tree["visit"], f"{field}.visit"),
        strict_json.whole(tree["questions"], f"{field}.questions", least=0),
        strict_json.whole(tree["most"], f"{field}.most", least=0),
    )
    return _whole(found)


def _first_answer(value: Any, field: str, *, schema: Schema) -> Measurement:
    """Read an answer of the first version: a count of rows."""
    members = ("key", "where", "by", "epsilon", "counts", "visit")
    tree = strict_json.members(value, field, must=members)
    by = () if tree["by"] is None else (strict_json.text(tree["by"], f"{field}.by"),)
    found = Measurement(
        (Query(schema, where=strict_json.text(tree["where"], f"{field}.where"), by=by),),
        strict_json.number(tree["epsilon"], f"{field}.epsilon"),
        strict_json.items(tree["counts"], f"{field}.counts", strict_json.whole),
        strict_json.whole(tree["visit"], f"{field}.visit"),
    )
    return _whole(found)


def _whole(found: Measurement) -> Measurement:
    """Refuse numbers that are not as many as were measured, and a level that nobody can have paid."""
    _ = [one.key for one in found.queries]  # refuses what the declarations do not know
    listed = len(found.queries) != 1 or found.query.kind == ABOVE
    size = len(found.queries) if listed else found.query.size if found.query.is_linear else found.query.groups
    if found.epsilon <= 0 or len(found.numbers) != size:
        raise ValueError("numbers that do not fit what was measured")
    return found


def declare_meanings(request: Request, columns: tuple[str, ...]) -> dict[str, Any]:
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
