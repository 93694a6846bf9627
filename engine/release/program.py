"""Which program made a release: its version, those of the libraries that compute in it, and its words."""

from __future__ import annotations

import hashlib
import platform
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from engine.version import __version__

LIBRARIES = ("numpy", "pandas", "pyarrow", "scipy", "dp-accounting", "typst", "pypdf")
PROGRAM = "Custos"
CODE_DIGEST = "engine.sha256"
"""Below ``resources`` where a program was built and has no sources: ``packaging/custos.spec`` writes it."""
_BELOW = re.compile(rb"\bcustos\.(?=(?:app|engine|resources)\b)")
_NO_WORDS = frozenset(("code_lists", "code_systems", "examples", "icons", "pictures", "sample", CODE_DIGEST))


def program(libraries: tuple[str, ...] = (), *, language: str = "en") -> dict[str, Any]:
    """Return name and versions of the program and of what computes in it; a method adds its own.

    ``words`` is the digest of what makes the papers of a bundle, see `words_digest`; ``language`` theirs.
    """
    return {
        "name": PROGRAM,
        "version": _version("custos"),
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in (*LIBRARIES, *libraries)},
        "language": language,
        "words": words_digest(),
    }


@cache
def words_digest() -> str:
    """Return a digest of everything that makes words and figures of papers; empty where it cannot be told.

    Of the engine's code, the texts, templates and fonts, of the libraries and of the Python that run them,
    and of the kind of machine. Two programs with the same digest make the same papers from the same
    evidence; two with different ones may.
    """
    resources = files("resources")
    code = code_digest() or _read(resources / CODE_DIGEST).decode("ascii", "replace").strip()
    if not code:
        return ""
    made_of = [
        code,
        _digest((name, file) for name, file in _walk(resources) if not name.endswith((".py", ".pyc"))),
        *(f"{name} {_version(name)}" for name in LIBRARIES),
        platform.python_implementation(),
        platform.python_version(),
        sys.platform,
        platform.machine(),
    ]
    return hashlib.sha256("\n".join(made_of).encode()).hexdigest()


@cache
def code_digest() -> str:
    """Return a digest of the engine's sources; empty where there are none, as in a program that was built.

    The connector is none of them: it makes no words and no figures, and need not be there.
    """
    found = ((name, file) for name, file in _walk(files("engine")) if not name.startswith("connector/"))
    sources = [(name, file) for name, file in found if name.endswith(".py")]
    return _digest(iter(sources), as_checked_out) if sources else ""


def as_checked_out(source: bytes) -> bytes:
    """Return a module with the names of the checkout: installed, everything lies below one name.

    So the digest of the code is the same where the code is the same; `packaging/make_wheel.py` renames.

    Examples
    --------
    >>> as_checked_out(b"from custos.engine.views import Text")
    b'from engine.views import Text'
    """
    return _BELOW.sub(b"", source)


def _walk(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    """Give every file of a folder by its path, in one order on every system."""
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name == "__pycache__" or (not prefix and entry.name in _NO_WORDS):
            continue
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry


def _digest(
    named: Iterator[tuple[str, Traversable]], change: Callable[[bytes], bytes] = lambda content: content
) -> str:
    whole = hashlib.sha256()
    for name, file in named:
        whole.update(f"{hashlib.sha256(change(file.read_bytes())).hexdigest()}  {name}\n".encode())
    return whole.hexdigest()


def _read(file: Traversable) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


@cache
def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return __version__ if name == "custos" else "absent"
