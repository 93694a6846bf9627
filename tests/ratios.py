"""How far a measured time may be from its limit."""

from __future__ import annotations

import os


def slack() -> float:
    """Return by how much a limit on times is widened: 1, or what ``CUSTOS_RATIO_SLACK`` says.

    ``packaging/check.py --all`` reports what is beyond a limit, measures it again with twice the limit, and
    fails on what is beyond that each time: a computer has other things to do now and then.
    """
    return float(os.environ.get("CUSTOS_RATIO_SLACK", "1"))
