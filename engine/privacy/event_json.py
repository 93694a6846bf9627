"""Events as JSON values and back; the classes of mechanisms are found by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from functools import cache
from typing import Any, get_type_hints

from engine.discovery import kinds
from engine.numbers import exact
from engine.privacy.events import Event, Mechanism, Parallel, Sequential, Several


@cache
def mechanism_kinds() -> Mapping[str, type[Mechanism]]:
    """Return every class of mechanisms by its word; a new module below ``mechanisms`` is enough.

    Examples
    --------
    >>> "discrete_laplace" in mechanism_kinds()
    True
    """
    from engine.privacy import mechanisms  # on first use: it brings numpy along

    return {kind.word: kind for kind in kinds(mechanisms, Mechanism)}


def event_to_json(event: Event) -> dict[str, Any]:
    """Return an event tree as JSON values; exact fractions as text."""
    if isinstance(event, Several):
        return {event.word: [event_to_json(part) for part in event.parts]}
    assert isinstance(event, Mechanism)
    values = {part.name: getattr(event, part.name) for part in fields(event)}
    return {"mechanism": event.word} | {
        name: str(value) if isinstance(value, Fraction) else value for name, value in values.items()
    }


def event_from_json(tree: Mapping[str, Any]) -> Event:
    """Read an event tree; refuse what is not known instead of counting it as zero."""
    for several in (Sequential, Parallel):
        if several.word in tree:
            return several(tuple(event_from_json(part) for part in tree[several.word]))
    kind = mechanism_kinds()[tree["mechanism"]]
    hints = get_type_hints(kind)
    names = {part.name for part in fields(kind)}
    if set(tree) - {"mechanism"} != names:
        raise ValueError("another set of fields")
    return kind(**{name: _value(tree[name], hints[name]) for name in names})


def _value(value: Any, kind: Any) -> Any:
    if kind is Fraction:
        return exact(value)
    if type(value) is not kind:
        raise TypeError("a value of another kind")
    return value
