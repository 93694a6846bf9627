"""How far a measured time may be from its limit."""

from __future__ import annotations

import os

import pytest


def slack() -> float:
    """Return by how much a limit on times is widened: 1, or what ``CUSTOS_RATIO_SLACK`` says.

    ``packaging/check.py --ratios`` reports what is beyond a limit, measures it again with twice the limit,
    and fails on what is beyond that each time: a computer has other things to do now and then.
    """
    return float(os.environ.get("CUSTOS_RATIO_SLACK", "1"))


# For a test that also says how long something may take: twice the same test, held to the time only when the
# ratios are measured. ``timed`` says which one it is.
TIMED = pytest.mark.parametrize(
    "timed", [pytest.param(False, id="what"), pytest.param(True, id="time", marks=pytest.mark.benchmark)]
)
