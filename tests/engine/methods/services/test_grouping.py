"""Counting rows in few passes: the same as looking every row up, whatever the cells of the columns are."""

import numpy as np
import pytest

from engine.methods.services import grouping
from engine.methods.services.grouping import Part, Room, count_groups

TURNED = [0, 0, 1, 1, 2, 0]
BACK_AND_FORTH = [2, 0, 1, 0, 3, 1, 2]
MANY = [place % 5 for place in range(40)]


@pytest.mark.parametrize("block", [7, 1 << 20])
@pytest.mark.parametrize(
    "cells",
    [
        ([0],),
        (TURNED, BACK_AND_FORTH),
        (MANY, [0, 1]),
        (list(range(255)),),
        (list(range(256)),),
        (BACK_AND_FORTH, list(range(70)), TURNED),
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
            parts.append(Part(codes, own, int(own.max()) + 1))
            flat = flat * (int(own.max()) + 1) + own[codes]
        size = int(np.prod([part.size for part in parts]))
        room = Room(rows)
        for _ in range(2):  # what stood in the room before makes no difference
            assert (count_groups(parts, room) == np.bincount(flat, minlength=size)).all()
