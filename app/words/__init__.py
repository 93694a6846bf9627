"""Every word of the window: ids of ``resources/texts/LANG/app/`` in the language chosen at start.

>>> say("app.window.next")
'Next'
"""

from __future__ import annotations

import re
from fractions import Fraction
from html import escape
from typing import Any

from engine import languages as manners
from engine import texts
from engine.errors import EngineError
from engine.methods.parameters import Problem
from engine.protected import Protected
from engine.views import Label, Text

_language = texts.FALLBACK


def choose_language(language: str) -> None:
    """Use a language from now on; one without texts gives English."""
    global _language
    _language = language if language in texts.languages() else texts.FALLBACK


def language() -> str:
    """Return the language in use."""
    return _language


def languages() -> tuple[str, ...]:
    """Return the languages in which the window speaks, English first."""
    return texts.languages()


def language_name(code: str, *, reviewed: bool = False) -> str:
    """Return what a language calls itself, with who has read it as a native reader where that is wanted.

    >>> language_name("en"), language_name("en", reviewed=True)
    ('English', 'English')
    """
    name = manners.find(code).name
    if not reviewed or code == texts.FALLBACK:
        return name
    return texts.text("app.window.reviewed", language=code, name=name, by=reviewed_by(code))


def reviewed_by(code: str = "") -> str:
    """Return who has read a language as a native reader, that in use where none is named; nobody so far."""
    code = code or _language
    return manners.find(code).reviewed_by or texts.text("app.window.reviewed_by_nobody", language=code)


def speak(protected: Protected) -> bool:
    """Call those who are protected so from now on; return whether that is another word than before."""
    changed = protected != texts.spoken()
    texts.speak(protected)
    return changed


def say(text_id: str, **values: Any) -> str:
    """Return the sentence of an id with its values filled in."""
    return texts.text(text_id, language=_language, **values)


def number(value: float | Fraction, *, digits: int = 6) -> str:
    """Write a number as people who read the language do."""
    return texts.number(value, digits=digits, language=_language)


def small_behind_colon() -> bool:
    """Say whether what goes on behind a colon begins small in the language in use."""
    return manners.find(_language).small_behind_colon


def read_day(written: str) -> str:
    """Return a day typed as the language in use writes it as files have it; anything else as it stands."""
    return manners.find(_language).read_day(written)


def typed_day(iso: str) -> str:
    """Return a day as files have it as the language in use types it; anything else as it stands."""
    return manners.find(_language).write_day(iso)


def percent(share: float, *, digits: int = 2) -> str:
    """Write a part of something in hundredths, without the sign and without powers of ten.

    >>> percent(1.0), percent(0.0249), percent(0.0)
    ('100', '2.5', '0')
    """
    return number(float(f"{100 * share:.{digits}g}"))


def signed(written: str) -> str:
    """Give a number that is written as in English the signs of the language."""
    return manners.find(_language).sign_number(written)


def has(text_id: str) -> bool:
    """Say whether there is a text of this id."""
    return texts.has(text_id, language=_language) or texts.has(text_id)


def label(value: Label) -> str:
    """Return a `Text` as its sentence and the custodian's own words as they are."""
    if not isinstance(value, Text):
        return signed(value) if isinstance(value, manners.Written) else texts.say_cells(value, _language)
    return say(value.id, **value.values)


def pair(name: str, value: object) -> str:
    """Return a name with what it stands for; French has a space before the colon."""
    return say("app.window.pair", name=name, value=str(value))


def explain(error: EngineError | Problem) -> tuple[str, str]:
    """Return what happened and what to do about an error or a problem."""
    return texts.sentences(error.code, error.values, language=_language, in_window=True)


def firm(title: str) -> str:
    """Keep a letter and what is joined to it on one line: no heading breaks within k-anonymity.

    >>> firm("k-anonymity") == "k\u2011anonymity", firm("micro-aggregation")
    (True, 'micro-aggregation')
    """
    return re.sub(r"\b(\w)-(?=\w)", "\\1\u2011", title)


def term(value: Any) -> str:
    """Write what a promise is about, as it is or as the evidence holds it: fractions with four digits.

    >>> term(Fraction(3, 4)), term("3/4"), term(5), term("age, race")
    ('0.75', '0.75', '5', 'age, race')
    """
    if isinstance(value, str) and "/" in value:
        try:
            value = Fraction(value)
        except ValueError:
            return str(value)
    if isinstance(value, Fraction):
        return str(value.numerator) if value.denominator == 1 else signed(f"{float(value):.4g}")
    return number(value) if isinstance(value, int) else str(value)


def tip(sentence: str) -> str:
    """Return plain text for a tip: what looks like HTML in it is shown as it is written.

    A tip draws whatever looks like HTML, pictures from anywhere included, and what it says may come from a
    file that somebody made.
    """
    return f"<qt>{escape(sentence)}</qt>" if "<" in sentence else sentence


_LEVEL = re.compile(r"(?<=\b[εδck]) (= )?(?=\d)")


def _keep_together(found: re.Match[str]) -> str:
    return found.group().replace(" ", "\u00a0")


def paragraphs(sentence: str) -> str:
    r"""Return plain text as HTML that `Prose` shows with air between the lines; ``**word**`` is strong.

    A level stays beside its letter, and a number in one piece: in HTML, Qt lets a line end at every blank but
    U+00A0, also at the narrow one that French writes within numbers.

    >>> "ε\u00a0=\u00a00.5 or ε\u00a02, back 5" in paragraphs("ε = 0.5 or ε 2, back 5")
    True
    >>> "1\u00a0234" in paragraphs("1\u202f234")
    True
    """
    kept = escape(sentence).replace("\u202f", "\u00a0")
    pieces = _LEVEL.sub(_keep_together, kept).split("**")
    strong = "".join(piece if index % 2 == 0 else f"<b>{piece}</b>" for index, piece in enumerate(pieces))
    # 120 % of the face's own line (1.21 of its size for Inter) is 1.45 of its size.
    blocks = strong.split("\n\n")
    last = len(blocks) - 1
    return "".join(
        f'<p style="margin:0 0 {0 if index == last else 8}px 0; line-height:120%">{block}</p>'
        for index, block in enumerate(blocks)
    )
