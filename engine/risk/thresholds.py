"""Thresholds of group sizes: where they come from, and which a recipient's motive and control suggest.

A group size k stands for a highest probability 1/k of naming the right person among k who look alike. The
program proposes; nothing is taken unless a person says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from math import ceil

MOTIVES = ("none", "curious", "gain")
"""Who would gain from finding a person: nobody known of, the curious, somebody in a dispute or for money."""

PUBLISHED = "published"
CONTROLS = (PUBLISHED, "agreement", "checked", "room")
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
_FIRST_NUMBER = re.compile(r"\s*(\d{1,4})\b(?![.,]\d)(?!\s*%)", re.ASCII)
_PROBABILITY = re.compile(r"\s*0?[.,](\d{1,4})\b(?!\s*%)", re.ASCII)
_PERCENT = re.compile(r"\s*(\d{1,2})(?:[.,](\d{1,2}))?\s*%", re.ASCII)


def propose_threshold(motive: str, control: str) -> int | None:
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
    >>> propose_threshold("none", "published"), propose_threshold("gain", "room")
    (11, 5)
    >>> propose_threshold("", "published")
    """
    if motive not in MOTIVES or control not in CONTROLS:
        return None
    return _RULE[control][MOTIVES.index(motive)]


def group_size(threshold: str) -> int | None:
    """Return the group size that a written threshold begins with, or None.

    Parameters
    ----------
    threshold
        A group size, or a highest probability as 0.09 or 9 %; what follows is not read.

    Returns
    -------
    int or None
        For a probability the smallest group whose 1/k is not above it; 0.33, 0.2, 0.09 and 0.05 are read as
        their sources use them, for groups of 3, 5, 11 and 20.

    Examples
    --------
    >>> group_size("11: as the agency asks for"), group_size("own policy"), group_size("0.09: Policy 0070")
    (11, None, 11)
    """
    if risk := _PROBABILITY.match(threshold):
        return _size_for(risk.group(1))
    if risk := _PERCENT.match(threshold):
        return _size_for(f"{risk.group(1):0>2}{risk.group(2) or ''}")
    found = _FIRST_NUMBER.match(threshold)
    size = int(found.group(1)) if found else 0
    return size if size > 1 else None


def _size_for(decimals: str) -> int | None:
    """Return the group size for a probability, given the digits behind its point."""
    risk = Fraction(int(decimals), 10 ** len(decimals))
    with_precedent = {round(highest_risk(size), 2): size for size in SIZES}
    if not risk:
        return None
    return with_precedent.get(risk, max(2, ceil(1 / risk)))


def highest_risk(size: int) -> Fraction:
    """Return the probability 1/k of naming the right one among k people who look alike.

    Examples
    --------
    >>> round(float(highest_risk(11)), 2)
    0.09
    """
    return Fraction(1, size)
