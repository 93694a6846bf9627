"""Finds every method below ``engine/methods`` by itself: adding a file adds the method."""

from __future__ import annotations

from functools import cache

import engine.methods as package
from engine.discovery import instance, instances
from engine.errors import InputRefused
from engine.methods.protocol import Method


@cache
def methods() -> tuple[Method, ...]:
    """Return one instance of every method, in the order of their ids.

    Examples
    --------
    >>> [method.id for method in methods() if method.id == "statistics.counts"]
    ['statistics.counts']
    """
    return instances(package, Method)


@cache
def alone(method_id: str) -> Method | None:
    """Return a method from the file of its name: what a release needs is not held up by other files."""
    found: Method | None = instance(package, Method, method_id)
    return found


def method(method_id: str) -> Method:
    """Return a method by its id.

    Raises
    ------
    InputRefused
        ``plan.unknown_method``.
    """
    found = alone(method_id)
    if found is not None:
        return found
    for candidate in methods():
        if candidate.id == method_id:
            return candidate
    known = ", ".join(candidate.id for candidate in methods())
    raise InputRefused("plan.unknown_method", method=method_id, known=known)
