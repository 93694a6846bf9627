"""Code lists that ship with the program: domains that nobody has to copy from the rows."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from engine import texts
from engine.errors import InputRefused
from engine.views import Label, Text

WORDS = "code_lists"
"""Beginning of the ids of what lists say whose own words are English."""


@dataclass(frozen=True)
class CodeList:
    """Codes in their order, with labels, and who says so."""

    id: str
    title: str
    source: str
    codes: tuple[str, ...]
    labels: Mapping[str, str]

    def named(self) -> Label:
        """What the list is called, in every language; its own name where that is no English."""
        name = f"{WORDS}.{self.id}.title"
        return Text(name) if texts.has(name) else self.title

    def say(self, code: str) -> Label:
        """Return what a code means, in every language; what the list says where that is no English."""
        name = f"{WORDS}.{self.id}.codes.{code}"
        return Text(name) if texts.has(name) else self.labels[code]

    def labels_in(self, language: str) -> dict[str, str]:
        """Return what its codes mean in a language, where the list itself says it in another.

        A column that takes them along is released with them. Nothing for the language of the list.

        Examples
        --------
        >>> code_list("sex_iso_5218").labels_in("de")["1"], code_list("sex_iso_5218").labels_in("en")
        ('männlich', {})
        """
        said = {code: self.say(code) for code in self.codes}
        words = {
            code: texts.text(one.id, language=language) for code, one in said.items() if isinstance(one, Text)
        }
        return words if words.keys() == self.labels.keys() and words != self.labels else {}


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
