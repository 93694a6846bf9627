"""Words in the names of columns and what they say; the words stand in ``resources/code_lists/names``."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Mapping
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
_TELL_ALONE = frozenset(("email", "national_number", "address", "phone", "record_number", "contact"))
"""Direct identifiers whose word is enough; an account or a picture may also be counted or priced."""

_SHORTEST = 4
"""Letters of a word that may be part of a longer one, and of an abbreviation."""

_LONGEST_NAME = 500
"""Letters of a name that are looked at: taking words apart takes the square of their length."""

_QUESTION = re.compile(r"[qv]\d+([a-z]{2,})")
"""A word behind the number of its question: ``q7income``."""

_LETTERS = str.maketrans({"ß": "ss", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "Ae", "đ": "d"})


@lru_cache(maxsize=8192)
def words(name: str) -> tuple[str, ...]:
    """Return the words of a column name in small letters without accents.

    Examples
    --------
    >>> words("PatientNbr"), words("date_de_naissance"), words("Größe"), words("płeć")
    (('patient', 'nbr'), ('date', 'de', 'naissance'), ('grosse',), ('plec',))
    """
    plain = unicodedata.normalize("NFKD", name[:_LONGEST_NAME].translate(_LETTERS))
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
class _Ends:
    """Beginnings or ends of words with their meanings, found by looking up those of a word one by one.

    A table may have tens of thousands of columns: comparing each name with each word takes minutes.
    """

    meanings: Mapping[str, tuple[tuple[int, str], ...]]
    cut: Callable[[str, int], str]
    longest: int

    @staticmethod
    def of(pairs: list[tuple[str, str]], cut: Callable[[str, int], str]) -> _Ends:
        """Return pairs of a beginning or end and its meaning by the former, with their places in the list."""
        meanings: dict[str, tuple[tuple[int, str], ...]] = {}
        for place, (word, meaning) in enumerate(pairs):
            meanings[word] = (*meanings.get(word, ()), (place, meaning))
        return _Ends(meanings, cut, max(map(len, meanings), default=0))

    def of_word(self, word: str) -> list[tuple[int, str]]:
        """Return place and meaning of every one that the word has."""
        sizes = range(1, min(len(word), self.longest) + 1)
        return [pair for size in sizes for pair in self.meanings.get(self.cut(word, size), ())]


def _beginning(word: str, size: int) -> str:
    return word[:size]


def _end(word: str, size: int) -> str:
    return word[-size:]


@dataclass(frozen=True)
class _Group:
    """Words of one group: whole words, beginnings, ends, and those that count only alone.

    ``order`` is the place of every whole word, ``longest`` the size of the longest; ``sorted_`` has the words
    and beginnings with their meanings by the alphabet.
    """

    exact: Mapping[str, str]
    begins: _Ends
    ends: _Ends
    alone: Mapping[str, str]
    order: Mapping[str, int]
    longest: int
    sorted_: list[tuple[str, str]]

    def whole(self, name: str) -> tuple[str, str] | None:
        """Return meaning and word of a name that says nothing else."""
        for whole in _wholes(name):
            meaning = self.exact.get(whole) or self.alone.get(whole)
            if meaning is not None:
                return meaning, whole
        return None

    def word(self, name: str) -> tuple[str, str] | None:
        """Return meaning and word of the first part of a name that is a word of the group."""
        return next(((self.exact[part], part) for part in _parts(name) if part in self.exact), None)

    def stem(self, name: str) -> tuple[str, str] | None:
        """Return meaning and word of the first part of a name that begins or ends as words of the group."""
        for part in _parts(name):
            found = min(self.begins.of_word(part), default=None) or min(self.ends.of_word(part), default=None)
            if found is not None:
                return found[1], part
        return None

    def longest_inside(self, part: str) -> tuple[int, str] | None:
        """Return size and meaning of the longest word, the first of these, that begins or ends a part."""
        for size in range(min(len(part), self.longest), _SHORTEST - 1, -1):
            found = [word for word in (part[:size], part[-size:]) if word in self.order]
            if found:
                return size, self.exact[min(found, key=self.order.__getitem__)]
        return None

    def shortened_to(self, part: str) -> set[str]:
        """Return the meanings of the words and beginnings that begin with a part of a name."""
        found = set()
        for word, meaning in self.sorted_[bisect_left(self.sorted_, (part, "")) :]:
            if not word.startswith(part):
                break
            found.add(meaning)
        return found


def _wholes(name: str) -> tuple[str, ...]:
    """Return a name as one word: as it is, without the number at its end, and without its small words."""
    parts = words(name)
    bare = "".join(part for part in parts if part not in _OF)
    return ("".join(parts), stem_of_series(name).replace(" ", ""), bare)


@lru_cache(maxsize=8192)
def _parts(name: str) -> tuple[str, ...]:
    """Return the strings to look up: neighbours written together, words, words without their number.

    A number stands behind a word, or before it as that of a question.
    """
    parts = words(name)
    together = tuple(first + second for first, second in pairwise(parts))
    bare = tuple(part.rstrip("0123456789") for part in parts)
    asked = tuple(found[1] for part in parts if (found := _QUESTION.fullmatch(part)))
    return tuple(dict.fromkeys(part for part in (*_wholes(name), *together, *parts, *bare, *asked) if part))


@cache
def _groups() -> Mapping[str, _Group]:
    tree = tomllib.loads(
        (files("resources") / "code_lists" / "names" / "column_words.toml").read_text("utf-8")
    )
    return {name: _group(meanings) for name, meanings in tree.items()}


def _group(meanings: Mapping[str, str]) -> _Group:
    pairs = [(word, meaning) for meaning, listed in meanings.items() for word in listed.split()]
    exact = {word: meaning for word, meaning in pairs if word[0] not in "=*" and word[-1] != "*"}
    begins = [(word[:-1], meaning) for word, meaning in pairs if word[-1] == "*"]
    return _Group(
        exact,
        _Ends.of(begins, _beginning),
        _Ends.of([(word[1:], meaning) for word, meaning in pairs if word[0] == "*"], _end),
        {word[1:]: meaning for word, meaning in pairs if word[0] == "="},
        {word: place for place, word in enumerate(exact)},
        max(map(len, exact), default=0),
        sorted([*exact.items(), *begins]),
    )


def found_in(name: str, group: str, how: str = "") -> tuple[str, str] | None:
    """Return the meaning and the word by which a name is known in a group, or None.

    Parameters
    ----------
    name
        Name of a column.
    group
        ``direct``, ``identifying``, ``place``, ``place_alone``, ``sensitive``, ``time``, ``unit``, ``other``.
    how
        ``whole``: the name says nothing else; ``word``: one of its words is known; ``stem``: one begins or
        ends as a known one; empty for any of these, in this order.

    Examples
    --------
    >>> found_in("Geschlecht", "identifying"), found_in("zip_code", "place"), found_in("drug_name", "direct")
    (('sex', 'geschlecht'), ('place', 'zipcode'), None)
    """
    known = _groups()[group]
    for one in (how,) if how else ("whole", "word", "stem"):
        found: tuple[str, str] | None = getattr(known, one)(name)
        if found is not None and not (group == "direct" and _names_a_thing(name, found)):
            return found
    return None


def _names_a_thing(name: str, found: tuple[str, str]) -> bool:
    """Say whether a word for somebody means a thing here: a drug has a name, an account is counted."""
    meaning, word = found
    parts = words(name)
    if meaning in _TELL_ALONE or (word == "".join(parts) and not word.endswith("name")):
        return False
    if meaning == "name":
        place = _groups()["place"].exact
        return any(
            says(part, "thing") or says(part.removesuffix("name"), "thing") or part in place for part in parts
        )
    direct = _groups()["direct"]
    return not all(
        part in direct.exact or part in _OF or part in word or says(part, "person") or says(part, "number")
        for part in parts
    )


def counted_in_each(name: str) -> str:
    """Return the part of a name that says what is counted in each period; the whole name where none is said.

    Examples
    --------
    >>> counted_in_each("hours_per_week"), counted_in_each("Stunden pro Woche"), counted_in_each("week")
    ('hours', 'stunden', 'week')
    >>> counted_in_each("weekly_drinks"), counted_in_each("week_of_birth")
    ('drinks', 'week_of_birth')
    """
    parts, known = words(name), _groups()["amount"].exact
    said = [known.get(part, "") for part in parts]
    for place in range(1, len(parts) - 1):
        if said[place] == "per" and said[place + 1] == "period":
            return " ".join((*parts[:place], *parts[place + 2 :]))
    rest = [part for part, meaning in zip(parts, said, strict=True) if meaning != "each"]
    return " ".join(rest) if rest and len(rest) < len(parts) else name


def unit_of_time(name: str) -> str:
    """Return the word of a name that counts hours, days or months, or nothing: ``months`` of months_since.

    Examples
    --------
    >>> unit_of_time("months_since_visit"), unit_of_time("month"), unit_of_time("daysinhospital")
    ('months', '', 'daysinhospital')
    """
    known = _groups()["amount"]
    units = {word for word, meaning in known.exact.items() if meaning == "units" and len(word) >= _SHORTEST}
    for part in words(name):
        if known.exact.get(part) == "units" or any(part[:size] in units for size in range(4, len(part) - 1)):
            return part
    return ""


def derive_meaning(name: str, group: str) -> tuple[str, str] | None:
    """Return meaning and word of a name made from a known one: its logarithm, its square, that of a husband.

    Examples
    --------
    >>> derive_meaning("lsalary", "sensitive"), derive_meaning("husage", "identifying")
    (('money', 'lsalary'), ('age', 'husage'))
    >>> derive_meaning("huswage", "sensitive")
    ('money', 'huswage')
    """
    known, before, after = _groups()[group], _groups()["before"].exact, _groups()["after"].exact
    for part in _parts(name):
        for place in range(1, len(part) - 1):
            first, rest = part[:place], part[place:]
            made_of = rest if first in before else first if rest in after else ""
            if len(made_of) > 2 and (meaning := _meaning(made_of, known)):
                return meaning, part
    return None


def _meaning(word: str, known: _Group) -> str:
    """Return the meaning of a word, or of one of four letters and more that begins as a known one."""
    begins = known.begins.of_word(word) if len(word) >= _SHORTEST else []
    return known.exact.get(word) or (min(begins)[1] if begins else "")


def short_or_compound(name: str, groups: tuple[str, ...]) -> tuple[str, str, str] | None:
    """Return group, meaning and part of a name that holds a known word, or is short for one; or None.

    Notes
    -----
    A compound begins or ends with a word of at least four letters: ``racegrp``,
    ``polisnummer``; the longest word decides. An abbreviation of at least four letters counts only where all
    words that begin so belong to one group: ``hispan``, ``surg``. A known word is short for nothing: ``Ende``
    is no beginning of an address.

    Examples
    --------
    >>> short_or_compound("racegrp", ("identifying", "sensitive"))
    ('identifying', 'origin', 'racegrp')
    """
    best: tuple[int, str, str, str] | None = None
    short: set[tuple[str, str, str]] = set()
    for part in _parts(name):
        if len(part) < _SHORTEST or says(part, "number"):
            continue
        for group in groups:
            known = _groups()[group]
            inside = known.longest_inside(part)
            if inside is not None and (best is None or inside[0] > best[0]):
                best = inside[0], group, inside[1], part
            if not any(part in one.exact for one in _groups().values()):
                short.update((group, meaning, part) for meaning in known.shortened_to(part))
    if best is not None:
        return best[1:]
    return min(short) if len({group for group, _, _ in short}) == 1 else None


def says(word: str, meaning: str) -> bool:
    """Say whether a word is one for a ``person``, ``number``, ``event``, ``thing``, ``weight``, ``text`` …"""
    single = _groups()["single"]
    if single.exact.get(word) == meaning:
        return True
    return any(said == meaning for ends in (single.begins, single.ends) for _, said in ends.of_word(word))
