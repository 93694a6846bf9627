"""Every edit of the study in its order, so that it can be undone and made again. No Qt.

A `Moment` is all that a person has decided; the plan is immutable, so a moment costs nothing. What happens by
itself (a file that was read, a number that was found) belongs to the moment in which it happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace

from app import words
from engine.release.plan import Plan, Purpose
from engine.views import Text

MOST = 300  # moments that are kept
ONE_MOVE = 1.0  # seconds within which the moves of a slider are one edit
_SLIDERS = frozenset({"price", "budget"})


@dataclass(frozen=True)
class Moment:
    """What was decided at a time.

    Parameters
    ----------
    plan, questions, without_table
        As the study holds them.
    place
        The screen on which the edit was made that led here.
    changed
        What that edit changed: fields of the plan, and ``"open_questions"``.
    at
        Seconds by any clock that only moves on.
    """

    plan: Plan = field(default_factory=Plan)
    questions: frozenset[str] = frozenset()
    without_table: bool = False
    place: str = ""
    changed: frozenset[str] = frozenset()
    at: float = 0.0


class History:
    """The moments, and at which of them the study is."""

    def __init__(self, first: Moment) -> None:
        self._moments = [first]
        self._now = 0
        self._ended = True  # the next change begins an edit of its own

    @property
    def now(self) -> Moment:
        """The moment at which the study is."""
        return self._moments[self._now]

    @property
    def undone_next(self) -> Text | None:
        """What `back` would undo, or None at the first moment."""
        if not self._now:
            return None
        return describe_edit(self._moments[self._now - 1], self.now)

    @property
    def made_next(self) -> Text | None:
        """What `forward` would make again, or None at the last moment."""
        if self._now + 1 == len(self._moments):
            return None
        return describe_edit(self.now, self._moments[self._now + 1])

    def end_edit(self) -> None:
        """Let the next change be an edit of its own."""
        self._ended = True

    def record(self, moment: Moment) -> None:
        """Take an edit of a person; what was undone before it is forgotten."""
        del self._moments[self._now + 1 :]
        if self._now and not self._ended:
            self._moments[self._now] = replace(moment, changed=moment.changed | self.now.changed)
        elif self._now and _one_move(self.now, moment):
            self._moments[self._now] = moment
        else:
            self._moments.append(moment)
            del self._moments[:-MOST]
            self._now = len(self._moments) - 1
        self._ended = False

    def amend(self, moment: Moment) -> None:
        """Take what followed by itself: part of the moment at which the study is."""
        self._moments[self._now] = replace(moment, place=self.now.place, changed=self.now.changed)

    def back(self) -> Moment:
        """Go one moment back and return it."""
        self._now -= 1
        self._ended = True
        return self.now

    def forward(self) -> Moment:
        """Go one moment on and return it."""
        self._now += 1
        self._ended = True
        return self.now


def _one_move(last: Moment, next_: Moment) -> bool:
    same = last.changed == next_.changed and last.place == next_.place
    return same and next_.changed <= _SLIDERS and next_.at - last.at < ONE_MOVE


def describe_edit(before: Moment, after: Moment) -> Text:
    """Return what an edit was about: the field, the columns or the setting that it changed."""
    name = next(_differing(before, after), "open_questions")
    if name == "purpose":
        parts = [
            one.name
            for one in fields(Purpose)
            if getattr(before.plan.purpose, one.name) != getattr(after.plan.purpose, one.name)
        ]
        return Text("app.history.field", {"field": Text(f"app.purpose.field.{parts[0]}.label")})
    if name == "parameters" and after.plan.method:
        keys = {*before.plan.parameters, *after.plan.parameters}
        changed = sorted(
            key for key in keys if before.plan.parameters.get(key) != after.plan.parameters.get(key)
        )
        label = f"methods.{after.plan.method}.parameters.{changed[0]}.label"
        return (
            Text("app.history.field", {"field": Text(label)})
            if words.has(label)
            else Text(f"app.history.{name}")
        )
    if name == "schemas":
        columns = _columns(before.plan, after.plan)
        return Text(f"app.history.{_count('column', columns)}", {"count": len(columns), **_one(columns)})
    if name == "open_questions":
        asked = sorted(
            one.removeprefix("column:")
            for one in before.questions ^ after.questions
            if one.startswith("column:")
        )
        return Text(f"app.history.{_count('column', asked)}", {"count": len(asked), **_one(asked)})
    return Text(f"app.history.{name}")


# A method brings its parameters along, a file its columns: the first of these that differs names the edit.
_ORDER = (
    *("files", "method", "candidates", "preparation", "schemas", "parameters", "declared_sizes", "purpose"),
    *("holding", "holding_budget", "decisions", "budget", "price"),
)


def _differing(before: Moment, after: Moment) -> Iterator[str]:
    names = [*_ORDER, *(part.name for part in fields(Plan) if part.name not in _ORDER)]
    return (name for name in names if getattr(before.plan, name) != getattr(after.plan, name))


def _columns(before: Plan, after: Plan) -> list[str]:
    found = []
    for source in {**before.schemas, **after.schemas}:
        old, new = before.schemas.get(source), after.schemas.get(source)
        known = {column.name: column for column in (old.columns if old is not None else ())}
        found += [one.name for one in (new.columns if new is not None else ()) if known.get(one.name) != one]
    return found


def _count(name: str, found: list[str]) -> str:
    return name if len(found) == 1 else f"{name}s" if found else "answer"


def _one(found: list[str]) -> dict[str, str]:
    return {"column": found[0]} if len(found) == 1 else {}
