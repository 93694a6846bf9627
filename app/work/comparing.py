"""Candidates beside one another: the figures in which they differ, and which of them nothing beats. No Qt."""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app import words
from app.words.money import level, size
from engine.views import TableView, Text

TAKEN = "candidate_taken"
MOST_KINDS = 3  # shapes that can be told apart at sight
MOST_FIGURES = 6  # columns of figures that can be read beside one another


@dataclass(frozen=True)
class Figure:
    """One number of every candidate.

    Parameters
    ----------
    label
        In words.
    values
        One for each candidate; None where it has none.
    less_is_better
        True or False where that is known of the number, None where it is a matter of taste.
    write
        How a value is written.
    low
        For a forecast: what half of the releases stay within, where ``values`` says what 95 of 100 do.
    limit
        What was decided about it before: a candidate beyond it may not be chosen. None for nothing.
    limit_is_least
        Whether values below the limit are beyond it, and not those above.
    """

    label: str
    values: tuple[float | None, ...]
    less_is_better: bool | None = None
    write: Callable[[float], str] = size
    low: tuple[float | None, ...] = ()
    limit: float | None = None
    limit_is_least: bool = False

    def allows(self, place: int) -> bool:
        """Whether a candidate keeps to the limit; one without a value breaks none.

        Examples
        --------
        >>> Figure("k", (3, 11, None), limit=5, limit_is_least=True).allows(0)
        False
        """
        value = self.values[place]
        if value is None or self.limit is None:
            return True
        return value >= self.limit if self.limit_is_least else value <= self.limit

    @property
    def differs(self) -> bool:
        """Whether it tells candidates apart."""
        return len({value for value in self.values if value is not None}) > 1

    def written(self, place: int) -> str:
        """Return the value of a candidate as people read it."""
        value = self.values[place]
        return "–" if value is None else self.write(value)


def letter(place: int) -> str:
    """Return the name of a candidate: A, B … Z, AA …

    Examples
    --------
    >>> letter(1), letter(27)
    ('B', 'AB')
    """
    before, last = divmod(place, 26)
    return ("" if not before else letter(before - 1)) + string.ascii_uppercase[last]


def figures(found: Sequence[Any]) -> tuple[Figure, ...]:
    """Return the figures that tell candidates apart: promised, expected or measured."""
    promised = [_epsilon(found), _forecast(found), *_terms(found)]
    judged, others = _measure(found)
    made = [*promised, *judged, *_inside(found), *others]
    return tuple(one for one in made if one.differs)[:MOST_FIGURES]


def variants(plan: Any) -> tuple[dict[str, Any], ...]:
    """Return the candidates that a method proposes beside a plan: those that can be made, each once."""
    from engine.methods.catalogue import method

    way = method(plan.method)
    seen = [plan.request.values]
    found = []
    for change in way.variants:
        parameters = {**plan.parameters, **change}
        request = replace(plan, parameters=parameters).request
        if request.values not in seen and not way(request).problems:
            seen.append(request.values)
            found.append({"method": plan.method, "parameters": parameters})
    return tuple(found)


def why_taken(plan: Any, place: int, *, shown: Sequence[Figure], count: int, said: str) -> dict[str, Any]:
    """Return the decision that one candidate was taken: the custodian's words, and by which figures.

    Parameters
    ----------
    plan
        As it was taken.
    place
        Of the candidate.
    shown
        The figures that it was judged by, as far as there are any.
    count
        How many candidates there were.
    said
        What the custodian says about it; may be empty.
    """
    told = "; ".join(words.pair(one.label, one.written(place)) for one in shown)
    by = words.say(
        f"app.compare.{'taken_by' if told else 'taken'}", name=letter(place), count=count, figures=told
    )
    settings_of = {"method": plan.method, "parameters": dict(plan.parameters)}
    return {"decision": TAKEN, "reason": f"{said} {by}".strip(), "said": said, **settings_of}


def without_taken(decisions: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Return decisions without the one that a candidate was taken."""
    return tuple(one for one in decisions if one.get("decision") != TAKEN)


def beyond(shown: Sequence[Figure], place: int) -> tuple[Figure, ...]:
    """Return the figures in which a candidate is beyond what was decided before."""
    return tuple(one for one in shown if not one.allows(place))


def took(seconds: float | None) -> str:
    """Write how long a candidate took to make; nothing where none was made.

    Examples
    --------
    >>> took(0.2), took(41.6), took(130), took(7300), took(None)
    ('1 s', '42 s', '3 min', '3 h', '')
    """
    if seconds is None:
        return ""
    for unit, length, most in (("seconds", 1, 100), ("minutes", 60, 100 * 60), ("hours", 3600, math.inf)):
        if seconds < most:
            return words.say(f"app.compare.{unit}", count=max(math.ceil(seconds / length), 1))
    return ""


def _epsilon(found: Sequence[Any]) -> Figure:
    losses = [None if one.promise is None else one.promise.loss for one in found]
    values = tuple(None if loss is None else float(loss.epsilon) for loss in losses)
    return Figure(words.say("app.compare.epsilon"), values, True, level, limit=_affordable(found))


def _affordable(found: Sequence[Any]) -> float | None:
    """Return the level that the stated money pays for; None where none was stated."""
    from engine.release.levels import epsilon_for_money

    plan = found[0].plan
    epsilon = None if plan.price.budget is None else epsilon_for_money(plan, plan.price.budget)
    return None if epsilon is None else float(epsilon)


def _forecast(found: Sequence[Any]) -> Figure:
    errors = [_main(one) for one in found]
    named = {words.label(error.quantity) for error in errors if error is not None}
    one = words.say("app.compare.error", quantity=next(iter(named), ""))
    label = one if len(named) == 1 else words.say("app.compare.any_error")
    return Figure(
        label,
        tuple(None if error is None else float(error.limit) for error in errors),
        True,
        size,
        tuple(None if error is None else float(error.median) for error in errors),
        None if (largest := found[0].plan.price.largest_error) is None else float(largest),
    )


def _main(one: Any) -> Any:
    forecast = one.forecast
    if forecast is None:
        return None
    return forecast.main or next(iter(forecast.errors), None)


def _terms(found: Sequence[Any]) -> list[Figure]:
    from engine.privacy.promise import promise_kind
    from engine.risk.thresholds import group_size

    made, threshold = [], found[0].plan.purpose.threshold
    for kind, name in _names(
        (one.promise.kind, one.promise.terms) for one in found if one.promise is not None
    ):
        values = tuple(
            None if one.promise is None or one.promise.kind != kind else _number(one.promise.terms.get(name))
            for one in found
        )
        label = words.say(f"promises.{kind}.terms.{name}.label")
        limit = group_size(threshold) if promise_kind(kind).group_size == name else None
        made.append(Figure(label, values, limit=limit, limit_is_least=True))
    return made


def _measure(found: Sequence[Any]) -> tuple[list[Figure], list[Figure]]:
    """Return the figures that measures judge by, and the others.

    The first two are what is given away and what is kept, so that the picture opens on these.
    """
    from engine.evaluation.catalogue import measure

    judged: dict[tuple[str, str], Figure] = {}
    others = []
    for name, number in _names(part for one in found for part in one.measured.items()):
        label = f"measures.{name}.numbers.{number}.label"
        if not words.has(label):
            continue
        values = tuple(_number(one.measured.get(name, {}).get(number)) for one in found)
        less, more = (number in side for side in (measure(name).less_is_better, measure(name).more_is_better))
        figure = Figure(words.say(label), values, less if less or more else None)
        if not (less or more):
            others.append(figure)
        elif figure.differs:
            judged[name, number] = figure
    return _leading_first(judged), others


def _leading_first(judged: Mapping[tuple[str, str], Figure]) -> list[Figure]:
    """Put the first figure of what is given away and the first of what is kept before all others."""
    from engine.evaluation.catalogue import measure

    def rank(key: tuple[str, str]) -> tuple[int, bool]:
        own = measure(key[0])
        is_kept = key[1] in own.more_is_better
        return (own.more_is_better if is_kept else own.less_is_better).index(key[1]), not is_kept

    def of(side: str) -> list[tuple[str, str]]:
        return sorted((key for key in judged if key[0].startswith(side)), key=rank)

    risks = sorted(of("risk."), key=lambda key: rank(key)[0])
    order = [*risks[:1], *of("utility.")[:1]]
    order += [key for key in sorted(judged, key=lambda key: rank(key)[0]) if key not in order]
    return [judged[key] for key in order]


def _names(parts: Any) -> list[tuple[str, str]]:
    """Return pairs of a group and a name in it, each once, in their order."""
    return list(dict.fromkeys((group, name) for group, named in parts for name in named))


def _inside(found: Sequence[Any]) -> list[Figure]:
    """Return the numbers that a method says about what it made: lines of a name and a number."""
    said = [_lines(one.inside) for one in found]
    labels = dict.fromkeys(label for lines in said for label in lines)
    return [Figure(label, tuple(lines.get(label) for lines in said)) for label in labels]


def _lines(views: Sequence[Any]) -> dict[str, float]:
    found = {}
    for view in views:
        for row in view.rows if isinstance(view, TableView) and len(view.headings) == 2 else ():
            value = _number(row[1])
            if value is not None:
                name = row[0] if row[0] is not None else ""
                found[words.label(name) if isinstance(name, str | Text) else words.number(name)] = value
    return found


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def unbeaten(across: Figure, upwards: Figure) -> tuple[int, ...]:
    """Return the candidates that no other beats in both figures, from the left; none where that is taste.

    Examples
    --------
    >>> unbeaten(Figure("ε", (1, 2, 2), True), Figure("error", (9, 4, 5), True))
    (0, 1)
    """
    if across.less_is_better is None or upwards.less_is_better is None:
        return ()
    signs = (1 if across.less_is_better else -1, 1 if upwards.less_is_better else -1)
    points = {
        place: (signs[0] * left, signs[1] * top)
        for place, (left, top) in enumerate(zip(across.values, upwards.values, strict=True))
        if left is not None and top is not None
    }
    kept = [
        place
        for place, (left, top) in points.items()
        if not any((a <= left and b <= top) and (a, b) != (left, top) for a, b in points.values())
    ]
    return tuple(sorted(kept, key=lambda place: points[place]))


@dataclass(frozen=True)
class Settings:
    """In which settings candidates differ: the names of the settings, and the values of each candidate."""

    labels: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]

    def kinds(self) -> tuple[str, ...]:
        """Return of each candidate the first setting that several share: the picture tells them by shape.

        Examples
        --------
        >>> Settings(("Which", "Trees"), (("partial", "1"), ("full", "2"), ("full", "3"))).kinds()
        ('partial', 'full', 'full')
        """
        for column in zip(*self.values, strict=True):
            if all(column) and 1 < len(set(column)) < len(column) and len(set(column)) <= MOST_KINDS:
                return column
        return ("",) * len(self.values)

    def short(self, place: int) -> str:
        """Return the values of a candidate alone."""
        return " · ".join(value for value in self.values[place] if value) or words.say("app.compare.same")

    def written(self, place: int) -> str:
        """Return the settings of a candidate with their names."""
        pairs = zip(self.labels, self.values[place], strict=True)
        said = [words.pair(label, value) if label else value for label, value in pairs if value]
        return ", ".join(said) or words.say("app.compare.same")


def settings(found: Sequence[Any]) -> Settings:
    """Return in which settings candidates differ; the method comes first where it is one of them."""
    from app.work.choosing import title
    from engine.methods.catalogue import method

    methods = [method(one.plan.method) for one in found]
    several = len({one.id for one in methods}) > 1
    columns: dict[str, list[str]] = {"": [title(one) for one in methods]} if several else {}
    for declared in dict.fromkeys(methods):
        for parameter in declared.parameters:
            given = [
                one.plan.parameters.get(parameter.name) if its is declared else None
                for one, its in zip(found, methods, strict=True)
            ]
            own = [value for value, its in zip(given, methods, strict=True) if its is declared]
            if any(value != own[0] for value in own):
                base = f"methods.{declared.id}.parameters.{parameter.name}"
                column = columns.setdefault(words.say(f"{base}.label"), [""] * len(found))
                for place, (value, its) in enumerate(zip(given, methods, strict=True)):
                    column[place] = _say(value, base) if its is declared else column[place]
    return Settings(tuple(columns), tuple(zip(*columns.values(), strict=True)) or ((),) * len(found))


def _say(value: Any, base: str) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    choice = f"{base}.choices.{value}"
    if words.has(choice):
        return words.say(choice)
    if isinstance(value, bool):
        return words.say("library.yes" if value else "library.no")
    if isinstance(value, int | float):
        return words.number(value)
    return words.say("app.compare.not_set") if value is None else str(value)
