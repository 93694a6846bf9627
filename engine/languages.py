"""How a language writes: signs of its numbers, the plural it takes, its words for who is protected.

All of it stands in ``resources/texts/LANG/language.toml``, beside the sentences: a further language is one
folder. English is the language that binds; every other one has its sentences by the ids of the English.
"""

from __future__ import annotations

import gettext
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
