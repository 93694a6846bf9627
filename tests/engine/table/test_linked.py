"""Parents of rows by their keys, beside a search row by row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from engine.table.encoded import Encoded
from engine.table.linked import link, link_within


def keys(chance: np.random.Generator, size: int, among: int) -> list[str | None]:
    found = chance.integers(-1, among, size)
    return [None if one < 0 else f"k{one}" for one in found]


def encoded(values: list[str | None]) -> Encoded:
    return Encoded.of(pa.array(values, pa.large_string()))


def test_a_parent_is_the_first_row_with_the_key() -> None:
    chance = np.random.default_rng(1)
    for size in (0, 1, 5, 40):
        children, parents = keys(chance, size, 9), keys(chance, size, 7)
        found = link(encoded(children), encoded(parents))
        wanted = [parents.index(one) if one is not None and one in parents else -1 for one in children]
        assert found.parent.tolist() == wanted
        assert found.orphans == wanted.count(-1)
        assert found.children.tolist() == [wanted.count(at) for at in range(size)]


def test_a_number_that_others_have_too_is_looked_for_among_the_rows_of_the_same_person() -> None:
    chance = np.random.default_rng(2)
    for size in (0, 1, 6, 60):
        children, parents = keys(chance, 2 * size, 5), keys(chance, size, 4)
        whose, theirs = chance.integers(-1, 4, 2 * size), chance.integers(-1, 4, size)
        found = link_within(encoded(children), whose, encoded(parents), theirs, people=4)
        rows = [(person, one) for person, one in zip(theirs, parents, strict=True)]
        wanted = [
            rows.index((person, one)) if person >= 0 and one is not None and (person, one) in rows else -1
            for person, one in zip(whose, children, strict=True)
        ]
        assert found.parent.tolist() == wanted
