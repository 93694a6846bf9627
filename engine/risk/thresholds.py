"""Thresholds of group sizes: where they come from, and which a recipient's motive and control suggest.

A group size k stands for a highest probability 1/k of naming the right person among k who look alike. The
program proposes; nothing is taken unless a person says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

MOTIVES = ("none", "curious", "gain")
"""Who would gain from finding a person: nobody known of, the curious, somebody in a dispute or for money."""

CONTROLS = ("published", "agreement", "checked", "room")
"""What holds them back: nothing, an agreement, one that is checked, a room of the custodian's."""

SIZES = (3, 5, 11, 20)
"""Group sizes with precedents (El Emam: 3 and 5 for trusted recipients, 11 for public release in the United
States, 20 for some public patient data; European Medicines Agency, Policy 0070, and Health Canada: 0.09)."""

# A rule of this program, not of a source: less control and more motive ask for a larger group.
_RULE: Mapping[str, tuple[int, int, int]] = {
    "published": (11, 11, 20),
    "agreement": (5, 5, 11),
    "checked": (3, 5, 5),
    "room": (3, 3, 5),
}
_FIRST_NUMBER = re.compile(r"\s*(\d{1,4})\b(?![.,]\d)")


def proposed(motive: str, control: str) -> int | None:
    """Return the group size that two answers suggest.

    Parameters
    ----------
    motive, control
        One of `MOTIVES` and of `CONTROLS`; anything else is no answer.

    Returns
    -------
    int or None
        One of `SIZES`; None unless both are answered.

    Notes
    -----
    The group sizes have published precedents; which answers lead to which is a rule of this program. It is a
    start for a decision and no statement of law.

    Examples
    --------
    >>> proposed("none", "published"), proposed("gain", "room"), proposed("", "published")
    (11, 5, None)
    """
    if motive not in MOTIVES or control not in CONTROLS:
        return None
    return _RULE[control][MOTIVES.index(motive)]


def group_size(threshold: str) -> int | None:
    """Return the group size that a written threshold begins with, or None.

    Examples
    --------
    >>> group_size("11: as the agency asks for"), group_size("own policy"), group_size("0.09")
    (11, None, None)
    """
    found = _FIRST_NUMBER.match(threshold)
    size = int(found.group(1)) if found else 0
    return size if size > 1 else None


def highest_risk(size: int) -> Fraction:
    """Return the probability 1/k of naming the right one among k people who look alike.

    Examples
    --------
    >>> round(float(highest_risk(11)), 2)
    0.09
    """
    return Fraction(1, size)
