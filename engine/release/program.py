"""Which program made a release: its version and those of the libraries that compute in it."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from engine.version import __version__

LIBRARIES = ("numpy", "pandas", "pyarrow", "scipy", "dp-accounting", "typst", "fonttools")
PROGRAM = "Custos"


def program(libraries: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return name and versions of the program and of what computes in it; a method adds its own."""
    return {
        "name": PROGRAM,
        "version": _version("custos"),
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in (*LIBRARIES, *libraries)},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return __version__ if name == "custos" else "absent"
