"""Finds what a package offers by itself: a new file below it is enough."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import Any


def instances(package: ModuleType, base: Any) -> tuple[Any, ...]:
    """Return one instance of every concrete class of a kind below a package, in the order of their ids.

    Parameters
    ----------
    package
        Every module below it is imported.
    base
        The kind. Classes that are defined elsewhere (in tests) and abstract ones are passed over.

    Examples
    --------
    >>> import engine.methods
    >>> from engine.methods.protocol import Method
    >>> "statistics.counts" in [method.id for method in instances(engine.methods, Method)]
    True
    """
    return tuple(sorted((kind() for kind in kinds(package, base)), key=lambda one: str(one.id)))


def kinds(package: ModuleType, base: Any) -> list[Any]:
    """Return every concrete class of a kind below a package, see `instances`."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    return _kinds(base, f"{package.__name__}.")


def _kinds(parent: Any, below: str) -> list[Any]:
    found: list[Any] = []
    for kind in parent.__subclasses__():
        found += _kinds(kind, below)
        if kind.__module__.startswith(below) and not kind.__abstractmethods__:
            found.append(kind)
    return found
