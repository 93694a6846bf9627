"""Write ``resources/report/letters.json``: ``python3 packaging/make_letters.py``, after a font was changed.

Which letters the fonts of reports have, and how wide those of the first one are, in whole units:
so a running program opens no font to draw. Needs fontTools, which nothing else does.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FONTS = Path(__file__).resolve().parent.parent / "resources" / "fonts"
MEASURED, FALLBACK = FONTS / "report" / "InterReport-Regular.ttf", FONTS / "DejaVuSans.ttf"
TARGET = FONTS.parent / "report" / "letters.json"


def ranges(codes: Iterable[int]) -> list[list[int]]:
    """Return the first and the last of each unbroken run of numbers.

    Examples
    --------
    >>> ranges([1, 2, 3, 7])
    [[1, 3], [7, 7]]
    """
    found: list[list[int]] = []
    for code in sorted(codes):
        if found and code == found[-1][1] + 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def letters() -> str:
    """Return what the file holds, the same from the same fonts."""
    from fontTools.ttLib import TTFont

    measured: Any = TTFont(MEASURED, lazy=True)
    widths = measured["hmtx"].metrics
    by_width: dict[int, list[int]] = defaultdict(list)
    for code, name in measured.getBestCmap().items():
        by_width[widths[name][0]].append(code)
    tree = {
        "unit": measured["head"].unitsPerEm,
        "widths": {str(width): ranges(codes) for width, codes in sorted(by_width.items())},
        "fallback": ranges(TTFont(FALLBACK, lazy=True).getBestCmap()),
    }
    return json.dumps(tree, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    TARGET.write_text(letters(), encoding="ascii")
