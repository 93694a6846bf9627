"""The list of methods without importing one: what each says of itself, as it was last written down.

Importing every method takes .3 s of processor time, and the list asks five short things of each. These stand
in ``resources/methods.json``. A file of a method that is not named there is no mistake: the list is then made
from the methods themselves. ::

    python -m engine.methods.listing                 # writes the file anew
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path

import engine.methods as package
from engine.discovery import modules

NAME = "methods.json"


@dataclass(frozen=True)
class Listed:
    """What the list says of a method."""

    id: str
    version: int
    family: str
    promises: tuple[str, ...]


def listed() -> tuple[Listed, ...]:
    """Return what the list says of every method, in the order of their ids.

    Notes
    -----
    As written down where that names exactly the files that there are; else every method is imported. What
    was written down is compared with the methods by a test, not here.

    Examples
    --------
    >>> next(one for one in listed() if one.id == "statistics.counts").family
    'statistics'
    """
    file = files("resources") / NAME
    if file.is_file():
        written = json.loads(file.read_text(encoding="utf-8"))
        if written["files"] == _names():
            return tuple(Listed(**(one | {"promises": tuple(one["promises"])})) for one in written["methods"])
    return imported()


def imported() -> tuple[Listed, ...]:
    """Return the same from the methods themselves."""
    from engine.methods.catalogue import methods

    return tuple(Listed(one.id, one.version, one.family.value, tuple(one.promises)) for one in methods())


def written() -> str:
    """Return what the file is to hold."""
    lines = {"files": _names(), "methods": [asdict(one) for one in imported()]}
    return json.dumps(lines, indent=1, ensure_ascii=False) + "\n"


def _names() -> list[str]:
    """Return the files that may hold a method, by their names below the package, whatever that is called."""
    return sorted(name.removeprefix(f"{package.__name__}.") for name in modules(package))


if __name__ == "__main__":
    (Path(str(files("resources"))) / NAME).write_text(written(), encoding="utf-8")
