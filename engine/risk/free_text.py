"""What in free text may name somebody: patterns, the register's own names, and how much of it they find.

No pattern finds everything. So what `scan` found comes with how much the same patterns find on invented
notes, tidy ones and ones that were typed in haste, of which it is known what stands in them.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from engine.risk.copies import Rate

LANGUAGES = ("de", "fr", "en")
NAMED, KNOWN = "name", "own"
MARKS = ("mail", "date", "phone", "number", "address", NAMED, KNOWN)
"""What is looked for, in this order: what one pattern has taken is taken out for those after it."""
FEWEST_LETTERS, FEWEST_DIGITS = 3, 5
NOTES_OF_A_KIND = 60

_MONTH = (
    r"(?:jan(?:uar[iy]?|uary|vier|v)?|f[eé]v(?:r(?:ier)?)?|feb(?:ruar|ruary)?|m[äa]r(?:z|ch|s)|avr(?:il)?"
    r"|apr(?:il)?|mai|may|juni?|june|juin|juli?|july|juil(?:let)?|aug(?:ust)?|ao[uû]t|sept?(?:ember|embre)?"
    r"|o[ck]t(?:ober|obre)?|nov(?:ember|embre)?|de[cz](?:ember|embre)?|d[ée]c(?:embre)?)"
)
_TITLE = (
    r"(?:(?:herrn?|frau|dr|prof|mme|mlle|monsieur|madame|mademoiselle|docteur|mr|mrs|ms|miss|doctor)\b\.?"
    r"|(?:hr|fr|m)\.)"
)
_YEAR = r"(?:,?\s?\d{2,4})?"
_OF = r"(?:de\s|du\s|des\s|la\s|le\s|les\s|l['’])*"
_RUE = r"(?:rue|avenue|av\.|boulevard|bd|place|chemin|impasse|quai|route)"
_STREET = (
    r"(?:street|st\.?|road|rd\.?|avenue|ave\.?|lane|close|drive|gardens|square|court|crescent|terrace|mews|grove"
    r"|parade)"
)
_STRASSE = r"(?:stra(?:ß|ss)e|str\.?|weg|gasse|platz|allee|ring|damm|ufer)"
_AM = (
    r"(?:am|beim|zum|zur|im|an\sde[rn]|in\sde[rn]|auf\sde[rm]|unter\sden|hinter\sde[rm])\s(?:[^\W\d_]+\s)?"
    r"[^\W\d_]*(?:markt|bahnhof|anger|berg|hang|graben|tor|dom|kirche|mühle|linden|rain|brunnen|schloss|hof"
    r"|acker|feld|teich|bach|hügel)"
)
_PATTERNS = {
    # begins where a word does: else a long cell without any would be read again from each of its signs
    "mail": r"(?<![^\s@,;:])[^\s@,;:]+@[^\s@,;:]+\.[a-z]{2,}",
    "date": r"(?<!\d)(?:\d{4}-\d{1,2}-\d{1,2}"
    r"|\d{1,2}([./-])\s?\d{1,2}\1\s?(?:\d{4}|\d{2})?(?!\d)|\d{1,2}/\d{1,2}/\d{2,4}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|er|\.)?\s?(?:of\s)?{_MONTH}\b\.?{_YEAR}"
    rf"|{_MONTH}\s?\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s?\d{{4}})?(?!\d))",
    "phone": r"(?<![\d.])(?<!\d\s)(?:(?:\+|00)\d{1,3}[\s()./-]*\d(?:[\s()./-]*\d){6,}"
    r"|\(?0\d{1,5}\)?[\s./-]*\d(?:[\s./-]*\d){5,}|\(\d{3}\)\s?\d{3}-?\d{4})(?!\d)",
    # a long one also where a word is written onto it
    "number": r"(?<!\w)(?:[a-z]{1,3}[\s-]?)?\d(?:[\s.-]?\d){4,}(?:\s?[a-z])?(?!\w)"
    r"|(?<!\d)(?:(?<!\w)[a-z]{1,3}-?)?\d(?:[\s.-]?\d){5,}(?!\d)",
    "address": rf"(?<!\w)(?:[^\W\d_]*{_STRASSE}\s?\d+\s?[a-z]?\b|{_AM}\s?\d+\s?[a-z]?\b"
    rf"|\d{{1,4}},?\s?(?:bis|ter)?,?\s?{_RUE}\s{_OF}[^\W\d_]+|{_RUE}\s{_OF}[^\W\d_]+\s\d{{1,4}}"
    rf"|(?:flat\s\d+,\s)?\d{{1,4}}\s(?:[^\W\d_]+\s){{1,2}}{_STREET}\b)"
    r"(?:,?\s(?:\d{4,5}\s[^\W\d_]+|[a-z]{1,2}\d[a-z\d]?\s?\d[a-z]{2}\b))?",
    # further words only with capitals: the pattern is read without regard to them, save here
    NAMED: rf"(?<!\w){_TITLE}\s?(?:(?:dr|med|prof)\.?\s)*[^\W\d_][\w'’-]+"
    r"(?-i:(?:\s[A-ZÄÖÜÉÈÀÂÊÎÔÛÇŞİ][\w'’-]+){0,2})",
}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_DIGITS = re.compile(r"\d(?:[ .\-/]?\d)*")


@cache
def patterns() -> Mapping[str, re.Pattern[str]]:
    """Return the pattern of every mark but of the register's own words."""
    return {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _PATTERNS.items()}


@dataclass(frozen=True)
class OwnWords:
    """Words and numbers that stand in the register's own columns about whom it is: folded, digits alone."""

    words: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()

    @staticmethod
    def of(cells: Iterable[str]) -> OwnWords:
        """Return the words of some cells.

        Examples
        --------
        >>> own = OwnWords.of(["Müller, Anna", "No 12-345-6"])
        >>> sorted(own.words), sorted(own.numbers)
        (['anna', 'muller'], ['123456'])
        """
        words, numbers = set[str](), set[str]()
        for cell in cells:
            for word in _WORD.findall(cell):
                words |= {one for one in _parts(word) if len(one) >= FEWEST_LETTERS}
            numbers |= {_bare(found) for found in _DIGITS.findall(cell)}
        return OwnWords(frozenset(words), frozenset(one for one in numbers if len(one) >= FEWEST_DIGITS))


def fold_word(word: str) -> str:
    """Return a word without capitals and accents.

    Examples
    --------
    >>> fold_word("Lefèvre"), fold_word("WEIẞ")
    ('lefevre', 'weiss')
    """
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


def _parts(word: str) -> set[str]:
    """Return a word and the parts around its apostrophes, folded."""
    return {fold_word(one) for one in (word, *re.split("['’]", word))}


def _bare(digits: str) -> str:
    return re.sub(r"\D", "", digits)


Found = tuple[str, int, int]
"""A mark, and where it begins and ends."""


def find(note: str, own: OwnWords = OwnWords()) -> list[Found]:
    """Return what in a note may name somebody: each place once.

    Examples
    --------
    >>> [name for name, _, _ in find("Frau Kurz, 12.3.1950, Tel. 044 123 45 67")]
    ['date', 'phone', 'name']
    >>> [name for name, _, _ in find("anna came", OwnWords.of(["Anna"]))], find("anna came")
    (['own'], [])
    """
    found: list[Found] = []
    left = note
    for name, pattern in patterns().items():
        spans = [match.span() for match in pattern.finditer(left)]
        for start, end in spans:
            found.append((name, start, end))
            left = left[:start] + "\n" * (end - start) + left[end:]
    if own.words:
        for one in _WORD.finditer(left):
            if not own.words.isdisjoint(_parts(one.group())):
                found.append((KNOWN, *one.span()))
    if own.numbers:
        found += [(KNOWN, *one.span()) for one in _DIGITS.finditer(left) if _bare(one.group()) in own.numbers]
    return found


@dataclass(frozen=True)
class Scanned:
    """What a scan found, and beside it how much such a scan finds at all: one is never without the other.

    Parameters
    ----------
    notes
        How many notes were read.
    marked
        In how many of them anything was found.
    by_mark
        In how many each mark was found.
    recall
        Of what stands in invented notes, how much the same patterns find.
    alarms
        How many invented notes in which nobody is named they mark.
    """

    notes: int
    marked: int
    by_mark: Mapping[str, int]
    recall: tuple[Recall, ...]
    alarms: Rate


def scan(notes: Iterable[str], own: OwnWords) -> Scanned:
    """Count the notes that hold what may name somebody.

    Examples
    --------
    >>> found = scan(["wound clean", "call Mrs Kurz, 044 123 45 67"], OwnWords())
    >>> found.marked, found.by_mark["phone"], found.by_mark["name"]
    (1, 1, 1)
    """
    by_mark, marked, read = dict.fromkeys(MARKS, 0), 0, 0
    for note in notes:
        names = {name for name, _, _ in find(note, own)}
        read += 1
        marked += bool(names)
        for name in names:
            by_mark[name] += 1
    return Scanned(read, marked, by_mark, recall(), false_alarms())


# --- how much is found: invented notes, of which it is known what stands in them ----------------------


@dataclass(frozen=True)
class Recall:
    """Of what stood in invented notes, how much was found; and how many notes were marked for nothing."""

    kind: str
    language: str
    tidy: Rate
    messy: Rate


PLANTED = ("date", "phone", "number", "address", "mail", "titled", "bare", KNOWN)
"""What stands in invented notes; ``bare`` and ``own`` are names without a title, the latter known names."""


@cache
def recall() -> tuple[Recall, ...]:
    """Return how much is found in invented notes, by kind and language; the same at each call."""
    found = []
    for language in LANGUAGES:
        words = _words(language)
        own = OwnWords.of([*words["first"], *words["last"]])
        for kind in PLANTED:
            rates = []
            for messy in (False, True):
                notes = [invented(language, kind, place, messy=messy) for place in range(NOTES_OF_A_KIND)]
                hits = sum(
                    _is_covered(note, span, find(note, own if kind == KNOWN else OwnWords()))
                    for note, span in notes
                )
                rates.append(Rate(hits, len(notes)))
            found.append(Recall(kind, language, *rates))
    return tuple(found)


@cache
def false_alarms() -> Rate:
    """Return how many invented notes in which nobody is named are marked all the same."""
    notes = [note for language in LANGUAGES for note in _words(language)["clean"]]
    return Rate(sum(bool(find(note)) for note in notes), len(notes))


def invented(language: str, kind: str, place: int, *, messy: bool) -> tuple[str, tuple[int, int]]:
    """Return one invented note, and where in it stands what names somebody; the same at each call.

    Parameters
    ----------
    language, kind
        One of `LANGUAGES`, one of `PLANTED`.
    place
        Its number: another one, another note.
    messy
        Small letters, some blanks left out, and in every second mark two signs exchanged.

    Examples
    --------
    >>> note, (start, end) = invented("en", "titled", 0, messy=False)
    >>> note[start:end] in note
    True
    """
    words = _words(language)

    def lot(what: str, options: Sequence[Any]) -> Any:
        return options[zlib.crc32(f"{language}{kind}{place}{what}".encode()) % len(options)]

    before, _, after = lot("note", words["notes"]).partition("{mark}")
    mark = _mark(words, kind, lot)
    if messy:
        before, mark, after = (
            _hasty(part, f"{place}{kind}{at}") for at, part in enumerate((before, mark, after))
        )
        if place % 2:
            mark = _mistyped(mark, place)
    return before + mark + after, (len(before), len(before) + len(mark))


def _mark(words: Mapping[str, Any], kind: str, lot: Any) -> str:
    """Return what names somebody, of some kind."""
    first, last = lot("first", words["first"]), lot("last", words["last"])
    if kind in ("bare", KNOWN):
        return str(lot("order", (f"{first} {last}", last, f"{last}, {first}", first)))
    if kind == "titled":
        return str(lot("title", words["titles"]) + " " + lot("order", (last, f"{first} {last}")))
    if kind == "mail":
        place = lot("at", ("mail.example", "post.example", "web.example"))
        return f"{fold_word(first)}.{fold_word(last)}@{place}"
    form = str(lot("form", words["addresses" if kind == "address" else f"{kind}s"]))
    month = lot("month", range(12))
    form = form.replace("{street}", lot("street", words["streets"])).replace(
        "{month}", words["months"][month]
    )
    day, year = lot("day", range(1, 29)), lot("year", (*range(1930, 2026), "49", "87"))
    form = form.replace("{d}", str(day)).replace("{m}", str(month + 1)).replace("{y}", str(year))
    digits = (str(lot(f"digit {at}", range(1, 10))) for at in range(len(form)))
    return "".join(next(digits) if sign == "#" else sign for sign in form)


def _hasty(text: str, salt: str) -> str:
    """Return a text in small letters, of whose blanks a third is left out."""
    return "".join(
        sign for at, sign in enumerate(text.lower()) if sign != " " or zlib.crc32(f"{salt}{at}".encode()) % 3
    )


def _mistyped(mark: str, salt: int) -> str:
    """Return a mark with two neighbouring signs exchanged."""
    at = salt % max(1, len(mark) - 1)
    return mark[:at] + mark[at + 1 : at + 2] + mark[at : at + 1] + mark[at + 2 :]


def _is_covered(note: str, span: tuple[int, int], found: Sequence[Found]) -> bool:
    """Say whether all letters and digits of a mark are in what was found: half of a name is a name left."""
    covered = {at for _, start, end in found for at in range(start, end)}
    signs = [at for at in range(*span) if note[at].isalnum()]
    return bool(signs) and all(at in covered for at in signs)


@cache
def _words(language: str) -> Mapping[str, Any]:
    return tomllib.loads((files("resources") / "free_text" / f"{language}.toml").read_text("utf-8"))
