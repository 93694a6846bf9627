"""Words in the names of columns and what they say; the words stand in ``resources/code_lists/names``."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

# Stems of international nonproprietary names (WHO, The use of stems in the selection of INN, 2018).
DRUG = re.compile(
    r".*(formin|glitazone|gliptin|glipton|examide|glinide|glitol|[ai]bose|pizide|piride|buride|"
    r"(but|az|prop|hex)amide|statin|sartan|pril|olol|cillin|conazole|prazole|mycin|tidine|triptan|mab)"
)


@lru_cache(maxsize=8192)
def words(name: str) -> tuple[str, ...]:
    """Return the words of a column name in small letters without accents.

    Examples
    --------
    >>> words("PatientNbr"), words("date_de_naissance"), words("Größe")
    (('patient', 'nbr'), ('date', 'de', 'naissance'), ('grosse',))
    """
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    split = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", plain)
    return tuple(word.lower() for word in re.split(r"[^A-Za-z0-9]+", split) if word)


@cache
def _groups() -> Mapping[str, Mapping[str, str]]:
    """Return word → meaning for every group of the file."""
    tree = tomllib.loads(
        (files("resources") / "code_lists" / "names" / "column_words.toml").read_text("utf-8")
    )
    return {
        group: {word: meaning for meaning, listed in meanings.items() for word in listed.split()}
        for group, meanings in tree.items()
    }


def found_in(name: str, group: str) -> tuple[str, str] | None:
    """Return the meaning and the word by which a name is known in a group, or None.

    Parameters
    ----------
    name
        Name of a column.
    group
        ``direct``, ``identifying``, ``place``, ``place_alone`` or ``sensitive``.

    Examples
    --------
    >>> found_in("Geschlecht", "identifying"), found_in("zip_code", "place"), found_in("drug_name", "direct")
    (('sex', 'geschlecht'), ('place', 'zipcode'), None)
    """
    parts, known = words(name), _groups()[group]
    for word in ("".join(parts), *parts):
        if word not in known:
            continue
        if word == "name" and not all(
            part == "name" or part in _WHOSE or says(part, "person") for part in parts
        ):
            continue  # the name of a drug or of a ward names no person
        if group == "place_alone" and not all(
            part in known or part == "name" or says(part, "number") for part in parts
        ):
            continue
        return known[word], word
    return None


_WHOSE = frozenset(("full", "last", "first", "family", "given", "middle"))


def says(word: str, meaning: str) -> bool:
    """Say whether a word is one for a ``person``, ``number``, ``event``, ``month`` or survey ``weight``."""
    return _groups()["single"].get(word) == meaning
