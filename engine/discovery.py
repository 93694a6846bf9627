"""Finds what a package offers by itself: a new file below it is enough."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def instances(package: ModuleType, base: Any) -> tuple[Any, ...]:
    """Return one instance of every concrete class of a kind below a package, in the order of their ids.

    Parameters
    ----------
    package
        Every module of it is imported, and of the packages right below it.
    base
        The kind. Classes that are defined elsewhere (in tests) and abstract ones are passed over.

    Examples
    --------
    >>> from engine import evaluation as package
    >>> from engine.evaluation.protocol import InternalMeasure
    >>> "risk.after" in [measure.id for measure in instances(package, InternalMeasure)]
    True
    """
    return tuple(sorted((one() for one in kinds(package, base)), key=lambda one: str(one.id)))


def kind(package: ModuleType, base: Any, wanted: str) -> Any | None:
    """Return the class with an id from the module of that name alone: no other file is imported.

    Returns
    -------
    type or None
        None where no module below the package has the name, or its class another id; see `kinds`.

    Examples
    --------
    >>> from engine import methods as package
    >>> from engine.methods.protocol import Method
    >>> kind(package, Method, "statistics.counts").id
    'statistics.counts'
    >>> kind(package, Method, "statistics.nothing") is None
    True
    """
    name = f"{package.__name__}.{wanted}"
    try:
        if re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)*", wanted) is None or find_spec(name) is None:
            return None
    except ModuleNotFoundError:  # no package of the first part
        return None
    importlib.import_module(name)
    return next((one for one in _kinds(base, name) if one.id == wanted), None)


def kinds(package: ModuleType, base: Any) -> list[Any]:
    """Return every concrete class of a kind below a package, see `instances`."""
    for name in modules(package):
        importlib.import_module(name)
    return _kinds(base, f"{package.__name__}.")


def modules(package: ModuleType) -> Iterator[str]:
    """Yield the modules of a package and of those right below it: what lies deeper is a part of these."""
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        yield module.name
        if module.ispkg:
            inner = importlib.import_module(module.name)
            yield from (one.name for one in pkgutil.iter_modules(inner.__path__, f"{module.name}."))


def _kinds(parent: Any, below: str) -> list[Any]:
    found: list[Any] = []
    for kind in parent.__subclasses__():
        found += _kinds(kind, below)
        if kind.__module__.startswith(below) and not kind.__abstractmethods__:
            found.append(kind)
    return list(dict.fromkeys(found))  # what has two bases is below both
