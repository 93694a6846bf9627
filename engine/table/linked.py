"""Tables that hang together by keys: which row of one is the parent of a row of another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from engine import arrays
from engine.table.encoded import Encoded

Integers = arrays.Integers


@dataclass(frozen=True)
class Links:
    """Parents of the rows of a table.

    Parameters
    ----------
    parent
        Place of the parent of every row, −1 where it has none, shape (rows,).
    parents
        How many rows the other table has.
    """

    parent: Integers
    parents: int

    @property
    def orphans(self) -> int:
        """How many rows have no parent."""
        return int((self.parent < 0).sum())

    @property
    def children(self) -> Integers:
        """How many rows each parent has, shape (parents,)."""
        return np.bincount(self.parent[self.parent >= 0], minlength=self.parents).astype(np.int64)


def link(children: Encoded, parents: Encoded) -> Links:
    """Return the parents of rows: the first row with the same key; a row without a key has none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> keys = Encoded.of(pa.array(["b", "a", "a"]))
    >>> found = link(Encoded.of(pa.array(["a", None, "c", "b"])), keys)
    >>> found.parent.tolist(), found.orphans, found.children.tolist()
    ([1, -1, -1, 0], 2, [1, 1, 0])
    """
    own = np.append(_mapped(children, parents), -1)[children.places]
    return Links(np.append(_firsts(parents.places, len(parents.distinct)), -1)[own], len(parents.places))


def link_within(
    children: Encoded, whose: Integers, parents: Encoded, theirs: Integers, *, people: int
) -> Links:
    """Return the parents of rows among the rows of the same person, by a key that may repeat elsewhere.

    Parameters
    ----------
    children, whose
        Key and person of every row; −1: nobody's.
    parents, theirs
        The same of the rows that are parents.
    people
        How many people there are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> stays = Encoded.of(pa.array(["1", "1", "2"]))
    >>> found = link_within(
    ...     Encoded.of(pa.array(["1", "2", "1"])), np.array([1, 1, 0]), stays, np.array([0, 1, 0]), people=2
    ... )
    >>> found.parent.tolist()
    [1, -1, 0]
    """
    keys = max(len(parents.distinct), 1)
    own = np.append(_mapped(children, parents), -1)[children.places].astype(np.int64)
    place = np.where((own >= 0) & (whose >= 0), whose * keys + own, -1)
    key = parents.places.astype(np.int64)
    there = np.where((key >= 0) & (theirs >= 0), theirs * keys + key, -1)
    known, first = np.unique(there, return_index=True)
    at = np.minimum(np.searchsorted(known, place), max(len(known) - 1, 0))
    fits = (place >= 0) & (known[at] == place) if len(known) else np.zeros(len(place), dtype=bool)
    return Links(np.where(fits, first[at] if len(known) else -1, -1).astype(np.int64), len(there))


def _mapped(children: Encoded, parents: Encoded) -> Integers:
    """Return the place of every distinct key among those of the parents, −1 where it is none."""
    found = pc.index_in(children.distinct, value_set=parents.distinct.cast(children.distinct.type))
    return np.asarray(pc.fill_null(found, -1).to_numpy(zero_copy_only=False), dtype=np.int64)


def _firsts(places: arrays.Whole, distinct: int) -> Integers:
    """Return the first row with every key."""
    found = np.full(distinct, -1, dtype=np.int64)
    rows = np.flatnonzero(places >= 0)[::-1]
    found[places[rows]] = rows
    return found
