"""The fonts that reports are set in: which letters they have, and how wide a line of them is.

Read from ``resources/report/letters.json``, which `packaging/make_letters.py` makes of the fonts.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from functools import cache

from engine.report.theme import resource

FAMILIES = ("Inter Report", "DejaVu Sans")
FOLDERS = (("fonts", "report"), ("fonts",))
_BOLD = 1.07  # bold letters are wider by about this
_UNKNOWN = 0.62
_INVISIBLE = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")


@cache
def _font(number: int) -> tuple[frozenset[int], dict[int, float]]:
    """Return the letters of a font and, of the first one, their widths as parts of the size."""
    tree = json.loads(resource("report", "letters.json").read_text(encoding="ascii"))
    if number:
        return frozenset(_codes(tree["fallback"])), {}
    unit = tree["unit"]
    widths = {code: int(width) / unit for width, runs in tree["widths"].items() for code in _codes(runs)}
    return frozenset(widths), widths


def _codes(runs: list[list[int]]) -> Iterator[int]:
    return (code for first, last in runs for code in range(first, last + 1))


def settable(words: str, *, simple: bool = False) -> str:
    """Return words with every letter that no font of the report has written as its number.

    Parameters
    ----------
    words
        Any text.
    simple
        Keep only letters that stand alone, of the first font: what no setting of type can fail on.

    Examples
    --------
    >>> settable("café ε"), settable("中")
    ('café ε', '[U+4E2D]')
    """
    if words.isascii() and words.isprintable():
        return words
    words = unicodedata.normalize("NFC", words)
    return "".join(letter if _has(letter, simple) else f"[U+{ord(letter):04X}]" for letter in words)


def _has(letter: str, simple: bool = False) -> bool:
    if " " <= letter <= "~" or letter == "\n":
        return True
    kind = unicodedata.category(letter)
    if kind in _INVISIBLE or (simple and (kind.startswith("M") or ord(letter) not in _font(0)[0])):
        return False
    return ord(letter) in _font(0)[0] or ord(letter) in _font(1)[0]


def width_of(words: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a line in the unit of its size."""
    widths = _font(0)[1]
    return sum(widths.get(ord(letter), _UNKNOWN) for letter in words) * size * (_BOLD if bold else 1)
