"""Finds every method below ``engine/methods`` by itself: adding a file adds the method."""

from __future__ import annotations

from functools import cache

import engine.methods as package
from engine.discovery import kind, kinds
from engine.errors import InputRefused
from engine.methods.protocol import Method


@cache
def methods() -> tuple[type[Method], ...]:
    """Return every method, in the order of their ids.

    Examples
    --------
    >>> [method.id for method in methods() if method.id == "statistics.counts"]
    ['statistics.counts']
    """
    return tuple(sorted(kinds(package, Method), key=lambda one: str(one.id)))


@cache
def alone(method_id: str) -> type[Method] | None:
    """Return a method from the file of its name: what a release needs is not held up by other files."""
    found: type[Method] | None = kind(package, Method, method_id)
    return found


def find(method_id: str) -> type[Method] | None:
    """Return a method by its id, None where there is none.

    The whole catalogue is imported only where no file has the name.

    Examples
    --------
    >>> find("statistics.counts").id
    'statistics.counts'
    >>> find("statistics.nothing") is None
    True
    """
    return alone(method_id) or next((one for one in methods() if one.id == method_id), None)


def method(method_id: str) -> type[Method]:
    """Return a method by its id.

    Raises
    ------
    InputRefused
        ``plan.unknown_method``.
    """
    found = find(method_id)
    if found is not None:
        return found
    known = ", ".join(candidate.id for candidate in methods())
    raise InputRefused("plan.unknown_method", method=method_id, known=known)
