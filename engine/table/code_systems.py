"""Codes of diseases, medicines and regions, and the groups that their own lists put them into."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

Path = tuple[str, ...]
KEPT = 2**17
"""Paths of codes that are remembered: a list of 70,000 is asked for step by step, and again and again."""


@dataclass(frozen=True)
class CodeSystem:
    """A list of codes whose groups are known.

    Parameters
    ----------
    id
        As it stands in a schema.
    title
        As the field calls it.
    steps
        How many steps of groups it has, without the one above all.
    path
        A code → its group on every step; None for what is no code of the list.
    """

    id: str
    title: str
    steps: int
    path: Callable[[str], Path | None]


@dataclass(frozen=True)
class Ranges:
    """Blocks and chapters of a list of diseases, each a range of categories such as ``E10-E14``."""

    starts: tuple[str, ...]
    ends: tuple[str, ...]
    names: tuple[str, ...]

    @staticmethod
    def of(names: list[str]) -> Ranges:
        """Read ranges; where one lies inside another it comes first."""
        pairs = [(*name.split("-"), name) if "-" in name else (name, name, name) for name in names]
        pairs.sort(key=lambda pair: (pair[0], pair[1]))
        return Ranges(*zip(*pairs, strict=True))

    def find(self, category: str) -> str | None:
        """Return the narrowest range that holds a category.

        Examples
        --------
        >>> Ranges.of(["D37-D48", "D3A"]).find("D3A"), Ranges.of(["D37-D48"]).find("D49")
        ('D3A', None)
        """
        for place in range(bisect_right(self.starts, category) - 1, -1, -1):
            if category <= self.ends[place]:  # of those that begin before it, the last that reaches it
                return self.names[place]
        return None


@cache
def code_systems() -> Mapping[str, CodeSystem]:
    """Return every list of codes by its id.

    Examples
    --------
    >>> code_systems()["icd10"].path("E11.65"), code_systems()["icd9"].path("250.83")
    (('E11', 'E10-E14', 'E00-E90'), ('250', '249-259', '240-279'))
    >>> code_systems()["atc"].path("A10BA02"), code_systems()["nuts"].path("AT130")
    (('A10BA', 'A10B', 'A10', 'A'), ('AT13', 'AT1', 'AT'))
    """
    return {
        "icd10": CodeSystem("icd10", "ICD-10", 3, _diseases("icd10", _category_10)),
        "icd10cm": CodeSystem("icd10cm", "ICD-10-CM", 3, _diseases("icd10cm", _category_10)),
        "icd9": CodeSystem("icd9", "ICD-9-CM", 3, _diseases("icd9", _category_9)),
        "atc": CodeSystem("atc", "ATC", 4, _starts(_ATC, (5, 4, 3, 1))),
        "nuts": CodeSystem("nuts", "NUTS", 3, _starts(_NUTS, (4, 3, 2))),
    }


_ATC = re.compile(r"[A-Z](\d\d([A-Z]([A-Z](\d\d)?)?)?)?")
_NUTS = re.compile(r"[A-Z]{2}[0-9A-Z]{0,3}")
_TEN = re.compile(r"([A-Z][0-9A][0-9A-Z])(\.?[0-9A-Z]{0,4})[*†+!-]?")
_NINE = re.compile(r"(E\d{3}|V\d{2}|\d{3})(\.?\d{0,2})|(\d{1,2})(\.\d{1,2})?")


def _category_10(code: str) -> str | None:
    found = _TEN.fullmatch(code)
    return found[1] if found else None


def _category_9(code: str) -> str | None:
    found = _NINE.fullmatch(code)
    if found is None:
        return None
    return found[1] or found[3].rjust(3, "0")  # a table program cuts the zeros off that a code begins with


@cache
def _ranges(name: str) -> tuple[Ranges, Ranges]:
    """Return blocks and chapters."""
    text = (files("resources") / "code_systems" / f"{name}.toml").read_text(encoding="utf-8")
    chapters: Mapping[str, str] = tomllib.loads(text)["chapters"]
    blocks = [block for listed in chapters.values() for block in listed.split()]
    return Ranges.of(blocks), Ranges.of(list(chapters))


def _diseases(name: str, category_of: Callable[[str], str | None]) -> Callable[[str], Path | None]:
    @lru_cache(maxsize=KEPT)
    def path(code: str) -> Path | None:
        category = category_of(code.strip().upper())
        if category is None:
            return None
        blocks, chapters = _ranges(name)
        chapter = chapters.find(category)
        # Between the blocks of a chapter there is room for codes to come: such a one is a block of its own
        return None if chapter is None else (category, blocks.find(category) or category, chapter)

    return path


def _starts(form: re.Pattern[str], kept: tuple[int, ...]) -> Callable[[str], Path | None]:
    def path(code: str) -> Path | None:
        plain = code.strip().upper()
        return tuple(plain[:count] for count in kept) if form.fullmatch(plain) else None

    return path
