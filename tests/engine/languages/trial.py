"""A trial language of letters that English does not have: whatever stays English is seen."""

from __future__ import annotations

import json
import string
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine import languages, texts

CODE = "xx"
_LETTERS = str.maketrans(
    {
        letter: chr(first + place)
        for first, letters in ((0x430, string.ascii_lowercase), (0x410, string.ascii_uppercase))
        for place, letter in enumerate(letters)
    }
    | {0x201C: "⟨", 0x201D: "⟩"}  # quotation marks
)
MANNERS = """name = "Trial"
decimal = "·"
thousands = "'"
quotes = ["⟨", "⟩"]
plural = "n != 1"
parts_count_down = false
one = "регсон"
many = "реорле"
"""
LONGER = 1.3
"""German is about so much longer than English."""


def disguise(pattern: str) -> str:
    """Return a sentence in other letters; its places stay, the words that a place chooses among do not.

    Examples
    --------
    >>> disguise("{count:row|rows} of {name}")
    '{count:соц|соцт} ое {name}'
    """
    out, at = [], 0
    while at < len(pattern):
        if pattern[at] != "{":
            end = pattern.find("{", at)
            end = len(pattern) if end < 0 else end
            out.append(pattern[at:end].translate(_LETTERS))
        else:
            end = _close(pattern, at)
            out.append(_disguise_inside(pattern[at + 1 : end - 1]))
        at = end
    return "".join(out)


def _close(pattern: str, at: int) -> int:
    depth = 0
    for place in range(at, len(pattern)):
        depth += {"{": 1, "}": -1}.get(pattern[place], 0)
        if depth == 0:
            return place + 1
    raise ValueError(pattern)


def _disguise_inside(place: str) -> str:
    name, colon, form = place.partition(":")
    if texts.CHOICE not in form:
        return "{" + place.replace("@a ", "@").replace("@A person", "@Person") + "}"
    return "{" + name + colon + disguise(form) + "}"


def stretch(sentence: str) -> str:
    """Make a sentence as long as German, in letters that stand out."""
    return sentence + "\u0448" * max(round((LONGER - 1) * len(sentence)), 0)


@contextmanager
def spoken(folder: Path, *, longer: bool = False) -> Iterator[str]:
    """Add the trial language for the time of a test: one folder, and no line of the program."""
    real = languages.texts_folder()
    for one in texts.languages():
        (folder / one).symlink_to(str(real / one))
    made = folder / CODE
    for beginning, place in texts._places("en").items():
        tree = texts._of_file("en", beginning)
        lines = (
            f"{json.dumps(text_id.removeprefix(beginning + '.'))} = {json.dumps(_said(text, longer))}"
            for text_id, text in tree.items()
        )
        target = made / Path(str(place)).relative_to(str(real / "en"))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (made / languages.MANNERS).write_text(MANNERS, encoding="utf-8")
    before = languages.texts_folder
    languages.texts_folder = lambda: folder
    _forget()
    try:
        yield CODE
    finally:
        languages.texts_folder = before
        _forget()


def _said(text: str, longer: bool) -> str:
    said = disguise(text)
    return stretch(said) if longer and said and "{" not in said[-1:] else said


def _forget() -> None:
    for one in (
        texts._places,
        texts._of_file,
        texts.catalogue,
        texts.untold,
        texts.languages,
        languages.find,
    ):
        one.cache_clear()
