"""How many examples a test tries: few on a commit, as many as it says otherwise, many on demand."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

SCALES = {"commit": 0.25, "all": 1.0, "thorough": 10.0}
LEAST = 10


def many(count: int) -> int:
    """Return how many examples a test makes that says how many are usual.

    ``CUSTOS_EXAMPLES`` is ``commit``, ``all`` (without it) or ``thorough``; ``packaging/check.py`` sets it.
    """
    return max(LEAST, round(count * SCALES[os.environ.get("CUSTOS_EXAMPLES", "all")]))


def few_on_a_commit(cases: Iterable[Any], count: int) -> list[Any]:
    """Return cases of one test, of which a commit tries the first ones and every other set all."""
    import pytest

    lines = [case if isinstance(case, tuple) else (case,) for case in cases]
    later = [pytest.param(*line, marks=pytest.mark.slow) for line in lines[count:]]
    return [*(pytest.param(*line) for line in lines[:count]), *later]
