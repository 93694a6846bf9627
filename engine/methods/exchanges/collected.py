"""What was collected of a kit before: whether the same reports came again, or those of another time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine import strict_json
from engine.methods.exchanges.kit import Kit
from engine.methods.exchanges.reading import Received

KEPT = 500
"""Numbers of reports that are kept of a collection: the smallest, which are drawn from all of them alike."""
SAME_TIME = 0.95
"""Part of the reports of a time that comes again with it, at least: a few files may have been lost."""
COLLECTED = "collected"


@dataclass(frozen=True)
class Collection:
    """One collection of a kit.

    Parameters
    ----------
    time
        Of the times that the survey was made, the one that it is about, from 1.
    reports
        How many counted.
    least
        The smallest numbers of them, at most `KEPT`. Strips of paper have none.
    """

    time: int
    reports: int
    least: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"time": self.time, "reports": self.reports, "least": list(self.least)}

    def part_among(self, found: Received) -> float:
        """Return which part of its reports is among others; 0 where reports have no numbers."""
        return (
            float(np.isin(np.array(self.least, dtype=np.uint64), found.numbers).mean()) if self.least else 0.0
        )


def collections_of(state: bytes) -> tuple[Collection, ...] | None:
    """Return the collections of a kit from its state, the first one first; None where it is none.

    Examples
    --------
    >>> collections_of(b'{"collected": [{"time": 1, "reports": 3, "least": [5, 7, 12]}]}')
    (Collection(time=1, reports=3, least=(5, 7, 12)),)
    >>> collections_of(b'{}'), collections_of(b'{"collected": 3}')
    ((), None)
    """
    try:
        tree = strict_json.loads(state)
        return strict_json.items(tree.get(COLLECTED, []), COLLECTED, _collection)
    except (AttributeError, TypeError, ValueError):
        return None


def _collection(value: Any, where: str) -> Collection:
    tree = strict_json.members(value, where, must=["time", "reports", "least"])
    return Collection(
        strict_json.whole(tree["time"], f"{where}.time", least=1),
        strict_json.whole(tree["reports"], f"{where}.reports", least=1),
        strict_json.items(tree["least"], f"{where}.least", strict_json.whole),
    )


def collect_again(earlier: tuple[Collection, ...], kit: Kit, found: Received) -> Collection:
    """Return a collection, of the time whose reports came again with it, or of one more.

    Notes
    -----
    Nobody can tell whose reports they are: those of another ward, asked later, are another time, too. Strips
    of paper have no numbers, so that each collection after the first counts as another time.
    """
    same = [one.time for one in earlier if one.part_among(found) >= SAME_TIME]
    time = max(same) if same else max((one.time for one in earlier), default=0) + 1
    least = () if kit.device else tuple(np.sort(found.numbers)[:KEPT].tolist())
    return Collection(time, found.reports, least)


def with_collection(state: bytes, collection: Collection) -> bytes:
    """Return the state with one more collection: the next one begins from it, or the ledger refuses."""
    tree = strict_json.loads(state)
    tree[COLLECTED] = [*tree.get(COLLECTED, []), collection.to_json()]
    return (json.dumps(tree, ensure_ascii=False, indent=1) + "\n").encode()
