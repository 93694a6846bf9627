"""Code lists that ship with the program: domains that nobody has to copy from the rows."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from engine.errors import InputRefused


@dataclass(frozen=True)
class CodeList:
    """Codes in their order, with labels, and who says so."""

    id: str
    title: str
    source: str
    codes: tuple[str, ...]
    labels: Mapping[str, str]


@cache
def code_lists() -> Mapping[str, CodeList]:
    """Return every code list by its id.

    Examples
    --------
    >>> code_lists()["yes_no"].codes
    ('Yes', 'No')
    """
    folder = files("resources") / "code_lists"
    found = {}
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.name.endswith(".toml"):
            tree = tomllib.loads(entry.read_text(encoding="utf-8"))
            name = entry.name.removesuffix(".toml")
            labels = {str(code): str(label) for code, label in tree["codes"].items()}
            found[name] = CodeList(name, tree["title"], tree["source"], tuple(labels), labels)
    return found


def code_list(name: str, *, column: str = "") -> CodeList:
    """Return one code list.

    Raises
    ------
    InputRefused
        ``table.unknown_code_list``: there is none of this name.
    """
    lists = code_lists()
    if name not in lists:
        raise InputRefused("table.unknown_code_list", column=column, found=name, known=", ".join(lists))
    return lists[name]
