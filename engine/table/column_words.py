"""Words in the names of columns and what they say; the words stand in ``resources/code_lists/names``."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

# Stems of international nonproprietary names (WHO, The use of stems in the selection of INN, 2018).
DRUG = re.compile(
    r".*(formin|glitazone|gliptin|glipton|examide|glinide|glitol|[ai]bose|pizide|piride|buride|"
    r"(but|az|prop|hex)amide|statin|sartan|pril|olol|cillin|conazole|prazole|mycin|tidine|triptan|mab)"
)
_OF = ("the", "of", "de", "du", "del", "da", "do", "di", "der", "des", "van", "le", "la")
_WHOSE = frozenset(("full", "last", "first", "family", "given", "middle", *_OF))
_TELL_ALONE = frozenset(("email", "national_number", "address", "phone", "record_number", "contact"))
"""Direct identifiers whose word is enough; an account or a picture may also be counted or priced."""

_LETTERS = str.maketrans({"ß": "ss", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "Ae", "đ": "d"})


@lru_cache(maxsize=8192)
def words(name: str) -> tuple[str, ...]:
    """Return the words of a column name in small letters without accents.

    Examples
    --------
    >>> words("PatientNbr"), words("date_de_naissance"), words("Größe"), words("płeć")
    (('patient', 'nbr'), ('date', 'de', 'naissance'), ('grosse',), ('plec',))
    """
    plain = unicodedata.normalize("NFKD", name.translate(_LETTERS))
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    split = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", plain)
    return tuple(word.lower() for word in re.split(r"[^A-Za-z0-9]+", split) if word)


@lru_cache(maxsize=8192)
def stem_of_series(name: str) -> str:
    """Return a name without the number at its end, as in columns of one measurement at several times.

    Examples
    --------
    >>> stem_of_series("bp1"), stem_of_series("visit_3_weight"), stem_of_series("sex")
    ('bp', 'visit weight', 'sex')
    """
    parts = (part if part.isalpha() else part.rstrip("0123456789") for part in words(name))
    return " ".join(part for part in parts if part)


@dataclass(frozen=True)
class _Group:
    """Words of one group: whole words, beginnings, ends, and those that count only alone."""

    exact: Mapping[str, str]
    begins: tuple[tuple[str, str], ...]
    ends: tuple[tuple[str, str], ...]
    alone: Mapping[str, str]

    def of_name(self, name: str) -> tuple[str, str] | None:
        """Return meaning and word of a name that says nothing else."""
        for whole in _wholes(name):
            meaning = self.exact.get(whole) or self.alone.get(whole)
            if meaning is not None:
                return meaning, whole
        return None

    def of_words(self, name: str) -> tuple[str, str] | None:
        """Return meaning and word of the first part of a name that the group knows."""
        for part in _parts(name):
            if part in self.exact:
                return self.exact[part], part
        for part in _parts(name):
            for stem, meaning in self.begins:
                if part.startswith(stem):
                    return meaning, part
            for end, meaning in self.ends:
                if part.endswith(end):
                    return meaning, part
        return None


def _wholes(name: str) -> tuple[str, ...]:
    return ("".join(words(name)), stem_of_series(name).replace(" ", ""))


@lru_cache(maxsize=8192)
def _parts(name: str) -> tuple[str, ...]:
    """Return the strings to look up: neighbours written together, words, words without their number."""
    parts = words(name)
    together = tuple(first + second for first, second in pairwise(parts))
    bare = tuple(part.rstrip("0123456789") for part in parts)
    return tuple(dict.fromkeys(part for part in (*_wholes(name), *together, *parts, *bare) if part))


@cache
def _groups() -> Mapping[str, _Group]:
    tree = tomllib.loads(
        (files("resources") / "code_lists" / "names" / "column_words.toml").read_text("utf-8")
    )
    return {name: _group(meanings) for name, meanings in tree.items()}


def _group(meanings: Mapping[str, str]) -> _Group:
    pairs = [(word, meaning) for meaning, listed in meanings.items() for word in listed.split()]
    return _Group(
        {word: meaning for word, meaning in pairs if word[0] not in "=*" and word[-1] != "*"},
        tuple((word[:-1], meaning) for word, meaning in pairs if word[-1] == "*"),
        tuple((word[1:], meaning) for word, meaning in pairs if word[0] == "*"),
        {word[1:]: meaning for word, meaning in pairs if word[0] == "="},
    )


def found_in(name: str, group: str, *, whole: bool = False) -> tuple[str, str] | None:
    """Return the meaning and the word by which a name is known in a group, or None.

    Parameters
    ----------
    name
        Name of a column.
    group
        ``direct``, ``identifying``, ``place``, ``place_alone``, ``sensitive``, ``time`` or ``other``.
    whole
        Whether the word must be the whole name.

    Examples
    --------
    >>> found_in("Geschlecht", "identifying"), found_in("zip_code", "place"), found_in("drug_name", "direct")
    (('sex', 'geschlecht'), ('place', 'zipcode'), None)
    """
    known = _groups()[group]
    found = known.of_name(name) or (None if whole else known.of_words(name))
    if found is None:
        return None
    parts = words(name)
    if group == "direct" and not _names_a_person(parts, found):
        return None
    if group == "place_alone" and not all(
        part in known.exact or part in known.alone or part in ("name", "type") or says(part, "number")
        for part in parts
    ):
        return None  # a time in hospital is no place
    return found


def _names_a_person(parts: tuple[str, ...], found: tuple[str, str]) -> bool:
    """Say whether nothing in a name makes the word mean something else: a drug has a name, too."""
    meaning, word = found
    if meaning in _TELL_ALONE or word == "".join(parts):
        return True
    direct = _groups()["direct"]
    return all(
        part in direct.exact or part in _WHOSE or part in word or says(part, "person") or says(part, "number")
        for part in parts
    )


def says(word: str, meaning: str) -> bool:
    """Say whether a word is one for a ``person``, ``number``, ``event``, ``month`` or survey ``weight``."""
    return _groups()["single"].exact.get(word) == meaning
