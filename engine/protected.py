"""The custodian's words for who is protected: one of them, several of them, and how a sentence uses both.

A text writes ``{@person}`` and ``{@people}`` where it means those whom a release protects; `engine.texts`
puts the custodian's words there. ``{@a person}`` has the article; a capital begins a sentence: ``{@People}``.
A text that means anybody else (who recommends, who attacks, who answers a survey) writes plain words.

Other languages know neither gender nor case of a word that somebody made up. Their texts use it where it has
one form only (``je {@person}``, ``les {@people}``), or in a form that its ending tells and `engine.languages`
makes (``den {@to people}``); ``{@a person}`` is English alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine import languages

KNOWN = {
    "person": "people",
    "child": "children",
    "man": "men",
    "woman": "women",
    "staff": "staff",
    "Person": "Personen",
    "Patient": "Patienten",
    "Patientin": "Patientinnen",
    "Haushalt": "Haushalte",
    "Kind": "Kinder",
    "Fall": "Fälle",
    "Kunde": "Kunden",
    "Familie": "Familien",
}
"""Plurals that do not follow the rules of English; German ones where the capital tells the language."""
VOWELS = frozenset("aeiou")
SOUNDS_LIKE_YOU = ("uni", "use", "eu", "one")
SILENT_H = ("hour", "honour", "heir")


def several(word: str) -> str:
    """Return what several of them are probably called, by the rules of English: a proposal.

    Examples
    --------
    >>> several("household"), several("family"), several("person"), several("stay"), several("Patient")
    ('households', 'families', 'people', 'stays', 'Patienten')
    """
    head, space, last = word.rpartition(" ")
    if last in KNOWN:
        return head + space + KNOWN[last]
    if last.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if last.endswith("y") and last[-2:-1] not in VOWELS:
        return word[:-1] + "ies"
    return word + "s" if word else ""


def with_article(word: str) -> str:
    """Return a word with its indefinite article.

    Examples
    --------
    >>> with_article("household"), with_article("employee"), with_article("user")
    ('a household', 'an employee', 'a user')
    """
    low = word.lower()
    vowel = low[:1] in VOWELS and not low.startswith(SOUNDS_LIKE_YOU)
    return f"an {word}" if vowel or low.startswith(SILENT_H) else f"a {word}"


@dataclass(frozen=True)
class Protected:
    """What one of those who are protected is called, and several of them.

    Examples
    --------
    >>> Protected("family").said("A person"), Protected("family").said("people")
    ('A family', 'families')
    """

    one: str = "person"
    many: str = ""
    """Empty: as `several` proposes."""

    @property
    def several(self) -> str:
        """What several of them are called."""
        return self.many or several(self.one)

    def said(self, place: str, language: languages.Language | None = None) -> str:
        """Return the word for a place of a text: ``person``, ``people``, ``a person``, or with a capital.

        Parameters
        ----------
        place
            Without its sign.
        language
            Of the text; English when it is not given. Where the custodian named nobody, its own words.

        Raises
        ------
        KeyError
            There is no such place: a mistake in a text.
        """
        spoken = language or languages.find(languages.ENGLISH)
        own = (self.one, self.several) != (Protected().one, Protected().several)
        words = {
            "person": self.one if own else spoken.one,
            "people": self.several if own else spoken.many,
        }
        wanted = place[:1].lower() + place[1:]
        if wanted == "a person" and spoken.code == languages.ENGLISH:
            word = with_article(words["person"])
        else:
            word = spoken.inflect(wanted, words)
        return word if place[:1].islower() else word[:1].upper() + word[1:]


def agreeing(unit: str, written: str, words: Protected) -> str:
    """Return a unit as it stands behind a number that is written so: one person, two people.

    Parameters
    ----------
    unit
        A unit in the plural, with the blank before it; one that is no count stays as it is.
    written
        The number as it is read.
    words
        What those who are protected are called.

    Examples
    --------
    >>> agreeing(" people", "1", Protected()), agreeing(" rows", "1", Protected())
    (' person', ' row')
    >>> agreeing(" families", "1", Protected("family")), agreeing(" people", "2", Protected())
    (' family', ' people')
    """
    if written != "1":
        return unit
    return {f" {words.several}": f" {words.one}", " rows": " row"}.get(unit, unit)


def words_for_protected(one: object, many: object = "") -> Protected:
    """Return the words that a custodian said; what was not said is a person."""
    return Protected(str(one), str(many or "")) if one else Protected()
