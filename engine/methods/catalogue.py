"""Finds every method below ``engine/methods`` by itself: adding a file adds the method."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

import engine.methods
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
    for module in pkgutil.walk_packages(engine.methods.__path__, "engine.methods."):
        importlib.import_module(module.name)
    return tuple(sorted((kind() for kind in _kinds(Method)), key=lambda method: method.id))


def method(method_id: str) -> Method:
    """Return a method by its id.

    Raises
    ------
    InputRefused
        ``plan.unknown_method``.
    """
    for candidate in methods():
        if candidate.id == method_id:
            return candidate
    known = ", ".join(candidate.id for candidate in methods())
    raise InputRefused("plan.unknown_method", method=method_id, known=known)


def _kinds(parent: Any) -> list[type[Method]]:
    """Every concrete subclass that belongs to the engine (tests may define their own)."""
    found: list[type[Method]] = []
    for kind in parent.__subclasses__():
        found += _kinds(kind)
        if kind.__module__.startswith("engine.methods.") and not kind.__abstractmethods__:
            found.append(kind)
    return found
