"""Counting rows in few passes: the same as looking every row up, whatever the cells of the columns are."""

import numpy as np
import pytest

from engine.methods.services import grouping
from engine.methods.services.grouping import Part, Room, Steps, count_groups

TURNED = [0, 0, 1, 1, 2, 0]
BACK_AND_FORTH = [2, 0, 1, 0, 3, 1, 2]
RISING = [0, 1, 2, 2, 2, 2]
RISING_IN_A_CIRCLE = [1] * 100 + [0, 2, 3, 4] + [1] * 152
ONE_ALONE = [0, 0, 1, 0]
MANY = [place % 5 for place in range(40)]


def size_of(cells):
    """Return how many cells a column has: one more than its numbers are in."""
    return int(cells.max()) + 2


@pytest.mark.parametrize("block", [7, 1 << 20])
@pytest.mark.parametrize(
    "cells",
    [
        ([0],),
        (TURNED, BACK_AND_FORTH),
        (MANY, [0, 1]),
        (list(range(254)),),
        (list(range(255)),),
        (list(range(256)),),
        (BACK_AND_FORTH, list(range(70)), TURNED),
        (RISING, ONE_ALONE, [0, 1, 1]),
        (ONE_ALONE, [1, 1, 0, 1, 1], RISING_IN_A_CIRCLE),
        ([min(place, 200) for place in range(250)], RISING),
        ([max(1, 300 - place) - 1 for place in range(300)], RISING),
        ([min(place, 260) for place in range(400)], [1, 0]),
        ([0] * 250 + [1, 2, 3, 0, 0, 0], [0, 0]),
        (list(range(300)), [place // 150 for place in range(300)]),
        (MANY, list(range(400)), MANY, TURNED, [0, 3, 2, 1]),
    ],
)
def test_groups_are_those_of_every_row_looked_up(cells, block, monkeypatch):
    monkeypatch.setattr(grouping, "_BLOCK", block)
    draw = np.random.default_rng(1)
    for rows in (0, 1, 100, 1001):
        parts, flat = [], np.zeros(rows, dtype=np.int64)
        for own in map(np.array, cells):
            kind = np.uint8 if len(own) <= 256 else np.uint16
            codes = draw.integers(len(own), size=rows).astype(kind)
            parts.append(Part(codes, Steps(own, size_of(own))))
            flat = flat * size_of(own) + own[codes]
        size = int(np.prod([part.steps.size for part in parts]))
        room = Room(rows)
        for _ in range(2):  # what stood in the room before makes no difference
            assert (count_groups(parts, room) == np.bincount(flat, minlength=size)).all()
