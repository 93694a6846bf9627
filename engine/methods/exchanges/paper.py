"""The form on paper: people draw with a die or coins, and tick on a strip that is torn off and handed in."""

from __future__ import annotations

import json
from fractions import Fraction
from importlib.resources import files
from typing import Any

from engine.methods.exchanges.kit import Kit
from engine.methods.exchanges.kit_page import say
from engine.privacy.channels import Sets

TEMPLATE = ("kits", "survey.typ")
WORDS = "methods.exchanges.survey.paper."
DIE, LIE, COINS, TWICE = DEVICES = ("die", "lie", "coins", "twice")
"""Ways to draw without a computer; `TWICE` alone is for more than two answers."""
MOST_ANSWERS = 6  # a die has so many sides


def channel_of(device: str, answers: int) -> Sets | None:
    """Return what a device does to an answer, exactly; None where it cannot be used for so many.

    Examples
    --------
    >>> [str(channel_of(device, 2).odds) for device in DEVICES], str(channel_of("twice", 4).odds)
    (['5', '2', '3', '3'], '5')
    """
    if answers > (MOST_ANSWERS if device == TWICE else 2):
        return None
    truth = {
        DIE: Fraction(5, 6),  # 1 is the first answer, 6 the second, all else the true one
        LIE: Fraction(4, 6),  # 1 and 2 are the other answer
        COINS: Fraction(3, 4),  # heads is the true answer, tails one by another coin
        TWICE: Fraction(1, 2) + Fraction(1, 2 * answers),  # 1 to 3 true, else any answer by another throw
    }[device]
    return Sets(truth.numerator, truth.denominator, answers, 1, 1)


def form(kit: Kit) -> bytes:
    """Return the form of a kit as PDF, the same bytes from the same kit.

    Notes
    -----
    There is no place to tick but on the strip, so that nobody hands in a true answer by mistake. Of several
    languages each has its form.
    """
    import typst

    forms = [_form(kit, language) for language in kit.languages]
    fonts = typst.Fonts(
        include_system_fonts=False,
        include_embedded_fonts=False,
        font_paths=[str(files("resources").joinpath("fonts"))],
    )
    return bytes(
        typst.compile(
            files("resources").joinpath(*TEMPLATE).read_bytes(),
            format="pdf",
            font_paths=fonts,
            sys_inputs={"forms": json.dumps(forms, ensure_ascii=False)},
        )
    )


def _form(kit: Kit, language: str) -> dict[str, Any]:
    """Return what the form says in one language."""
    values = {"sure": kit.sure, "code": strip_code(kit)}
    how, headings = (f"how_{kit.device}", "why", kit.whole), ("what_happens", "questions", "strip")
    said = {
        name: say(f"{WORDS}{name}", language, **values) for name in (*how, *headings, "only_here", "typed")
    }
    return {
        "language": language,
        "title": kit.title,
        "intro": [line.strip() for line in kit.intro.splitlines() if line.strip()],
        "how": [said[name] for name in how],
        "headings": [said[name] for name in headings],
        "only_here": said["only_here"],
        "code": strip_code(kit),
        "questions": [{"text": one.text, "answers": list(one.levels)} for one in kit.questions],
        "typed": said["typed"],
    }


def strip_code(kit: Kit) -> str:
    """Return the four characters that a strip is typed in with, before the numbers of what is ticked."""
    return kit.id[:4]
