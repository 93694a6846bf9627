"""Which libraries the connector's files need: each is for one kind of servers, and need not be there."""

from __future__ import annotations

import importlib.util

from engine.table.dialects import DIALECTS

_FURTHER = {"spark": ("grpc", "pyspark"), "trino": ("requests", "trino")}


def missing_driver(module: str) -> str:
    """Return the library that a module of the connector wants and that is not installed; empty where none is.

    Examples
    --------
    >>> missing_driver("engine.table.table")
    ''
    """
    package, _, kind = module.rpartition(".")
    if package != "engine.connector" or kind not in DIALECTS:
        return ""
    wanted = _FURTHER.get(kind, (DIALECTS[kind].package,))
    return next((one for one in wanted if importlib.util.find_spec(one) is None), "")
