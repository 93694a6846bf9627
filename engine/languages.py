"""How a language writes: signs of its numbers, the plural it takes, its words for who is protected.

All of it stands in ``resources/texts/LANG/language.toml``, beside the sentences: a further language is one
folder. English is the language that binds; every other one has its sentences by the ids of the English.
"""

from __future__ import annotations

import gettext
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

ENGLISH = "en"
MANNERS = "language.toml"
DIGITS = frozenset("0123456789")
_DAY = re.compile(r"(\d{1,4})(\D)(\d{1,2})\2(\d{1,4})(?:[ T]+(\d{1,2}:\d\d))?")
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:T(\d\d:\d\d))?")


class Written(str):
    """A number as English writes it; wherever it is said, it is said with the signs of that language."""

    __slots__ = ()


@dataclass(frozen=True)
class Language:
    """What `language.toml` of a language says.

    Parameters
    ----------
    code
        Two letters.
    name
        What it calls itself.
    decimal, thousands
        Signs of numbers.
    quotes
        The signs before and after what is quoted.
    plural
        Which form a whole number takes, as gettext writes it: an expression of C in ``n``; see `plural_form`.
    parts_count_down
        Whether 1.5 takes the form of 1, as in French; otherwise that of several.
    one, many
        Who is protected where the custodian has not said: one person, several.
    between
        What stands between the parts of a list that may hold commas themselves.
    forms
        Further forms of these words, by the name that a sentence gives them; see `inflect`.
    days
        How days are written in numbers: ``d``, ``m`` and ``y`` with the sign between them; empty: as in
        files, year-month-day, where other orders are read in two ways.
    small_behind_colon
        Whether what goes on behind a colon begins small, as in English and French; German nouns do not.
    reviewed_by
        Who has read the whole as a native reader; empty: nobody.
    """

    code: str
    name: str
    decimal: str
    thousands: str
    quotes: tuple[str, str]
    plural: str
    parts_count_down: bool
    one: str
    many: str
    between: str = "; "
    forms: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    days: str = ""
    small_behind_colon: bool = True
    reviewed_by: str = ""

    def sign_number(self, written: str) -> str:
        """Give a number that is written as in English the signs of this language.

        Examples
        --------
        >>> find("de").sign_number("74,434.41"), find("fr").sign_number("0.5")
        ('74.434,41', '0,5')
        """
        if self.code == ENGLISH:
            return Written(written)
        return written.translate({ord(","): self.thousands, ord("."): self.decimal})

    def read_day(self, written: str) -> str:
        """Return a day, or a day with its time, as files have it; what is none of this language as it stands.

        Examples
        --------
        >>> find("de").read_day("31.1.2020"), find("de").read_day("31.01.2020 8:30")
        ('2020-01-31', '2020-01-31T08:30')
        >>> find("de").read_day("1/2/2020"), find("en").read_day("1/2/2020")
        ('1/2/2020', '1/2/2020')
        """
        found = _DAY.fullmatch(written.strip())
        if found is None or not self.days or found[2] != self.days[1]:
            return written
        parts = dict(zip(self.days[::2], (found[1], found[3], found[4]), strict=True))
        if len(parts["y"]) != 4:
            return written
        day = f"{parts['y']}-{parts['m']:0>2}-{parts['d']:0>2}"
        return f"{day}T{found[5]:0>5}" if found[5] else day

    def write_day(self, iso: str) -> str:
        """Return a day, or a day with its time, as `read_day` reads it; anything else as it stands.

        Examples
        --------
        >>> [find(one).write_day("2020-01-31T08:30") for one in ("de", "fr", "en")]
        ['31.01.2020 08:30', '31/01/2020 08:30', '2020-01-31T08:30']
        """
        found = _ISO.fullmatch(iso)
        if found is None or not self.days:
            return iso
        day = self.days[1].join(found[{"y": 1, "m": 2, "d": 3}[part]] for part in self.days[::2])
        return f"{day} {found[4]}" if found[4] else day

    def quote(self, words: str) -> str:
        """Return words within the quotation marks of this language.

        Examples
        --------
        >>> find("en").quote("Male"), find("de").quote("Male")
        ('“Male”', '„Male“')
        """
        before, after = self.quotes
        return f"{before}{words}{after}"

    def plural_form(self, written: str) -> int:
        """Return the place of the form that goes with a number as it is written.

        Examples
        --------
        >>> [find("en").plural_form(one) for one in ("1", "1.5")]
        [0, 1]
        >>> [find("fr").plural_form(one) for one in ("1,5", "0")]
        [0, 0]
        """
        whole, _, rest = written.replace(self.thousands, "").partition(self.decimal)
        if not whole or not DIGITS.issuperset(whole):
            return _rule(self.plural)(2)
        if rest and not self.parts_count_down:
            return _rule(self.plural)(2)
        return _rule(self.plural)(int(whole))

    def inflect(self, place: str, words: Mapping[str, str]) -> str:
        """Return a word in a form of this language, made from one or several of them by its endings.

        Parameters
        ----------
        place
            The name of the form; ``person`` and ``people`` are the words themselves.
        words
            ``person`` and ``people``.

        Raises
        ------
        KeyError
            The language has no such form: a mistake in a text.

        Examples
        --------
        >>> find("de").inflect("to people", {"person": "Haushalt", "people": "Haushalte"})
        'Haushalten'
        """
        if place in words:
            return words[place]
        form = self.forms[place]
        word = words[form["of"]]
        return word if word.endswith(tuple(form["unless"])) else word + form["ending"]


@cache
def _rule(plural: str) -> Any:
    return gettext.c2py(plural)


def texts_folder() -> Traversable:
    """Return the folder that holds a folder for each language."""
    return files("resources") / "texts"


@cache
def find(code: str) -> Language:
    """Return how a language writes.

    Raises
    ------
    FileNotFoundError
        There is no such language; those that there are: `engine.texts.languages`.
    """
    tree = tomllib.loads((texts_folder() / code / MANNERS).read_text(encoding="utf-8"))
    return Language(code=code, **tree)
