"""How many examples hypothesis makes: few on a commit, as many as a test says otherwise, many on demand."""

from __future__ import annotations

import os

SCALES = {"commit": 0.25, "all": 1.0, "thorough": 10.0}
LEAST = 10


def many(count: int) -> int:
    """Return how many examples a test makes that says how many are usual.

    ``CUSTOS_EXAMPLES`` is ``commit``, ``all`` (without it) or ``thorough``; ``packaging/check.py`` sets it.
    """
    return max(LEAST, round(count * SCALES[os.environ.get("CUSTOS_EXAMPLES", "all")]))
