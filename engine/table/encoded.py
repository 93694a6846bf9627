"""A text column as the places of its distinct cells: what is said of a cell once holds wherever it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from engine.memory import give_back
from engine.short_texts import Numbering, number_pairs, words_of
from engine.table.cells import Cells

_MANY = 1 << 17  # cells: with fewer, the table of distinct texts stays in the processor's cache
_LOOKED_AT = 1 << 14


@dataclass(frozen=True)
class Encoded:
    """Cells of a column, each distinct one kept once.

    Parameters
    ----------
    distinct
        The distinct cells in the order of their first occurrence, none missing.
    places
        Where each row's cell is in ``distinct``, shape (n,); −1 for a missing one.
    """

    distinct: pa.Array
    places: npt.NDArray[np.int32]

    @staticmethod
    def of(cells: Cells) -> Encoded:
        """Return cells as places of their distinct ones.

        Examples
        --------
        >>> found = Encoded.of(pa.array(["b", None, "a", "b"]))
        >>> found.distinct.to_pylist(), found.places.tolist()
        (['b', 'a'], [0, -1, 1, 0])
        """
        quick = _by_words(cells)
        if quick is not None:
            return quick
        chunks = (
            pc.dictionary_encode(cells).chunks
            if isinstance(cells, pa.ChunkedArray)
            else [pc.dictionary_encode(cells)]
        )
        places = np.empty(len(cells), dtype=np.int32)
        start = 0
        for chunk in chunks:
            found = chunk.indices if chunk.null_count == 0 else pc.fill_null(chunk.indices, -1)
            places[start : start + len(chunk)] = found.to_numpy()
            start += len(chunk)
        # Every chunk has the dictionary of the whole column.
        return Encoded(chunks[0].dictionary if chunks else pa.array([], cells.type), places)

    @staticmethod
    def joined(parts: Sequence[Encoded]) -> Encoded:
        """Return the cells of several pieces of a column, one below the other.

        Examples
        --------
        >>> found = Encoded.joined([Encoded.of(pa.array(["b", "a"])), Encoded.of(pa.array([None, "c", "a"]))])
        >>> found.distinct.to_pylist(), found.places.tolist()
        (['b', 'a', 'c'], [0, 1, -1, 2, 1])
        """
        if len(parts) == 1:
            return parts[0]
        known = Encoded.of(pa.chunked_array([part.distinct for part in parts]))
        places, start = [], 0
        for part in parts:
            own = known.places[start : start + len(part.distinct)]
            places.append(np.append(own, np.int32(-1))[part.places])
            start += len(part.distinct)
        return Encoded(known.distinct, np.concatenate(places))

    def mapped(self, change: Callable[[pa.Array], pa.Array]) -> Encoded:
        """Return the column with every cell changed by itself; the same object where none is.

        Examples
        --------
        >>> found = Encoded.of(pa.array([" b", "b", "a"])).mapped(pc.utf8_trim_whitespace)
        >>> found.distinct.to_pylist(), found.places.tolist()
        (['b', 'a'], [0, 0, 1])
        """
        changed = change(self.distinct)
        if changed.equals(self.distinct):
            return self
        found = Encoded.of(changed)
        return Encoded(found.distinct, np.append(found.places, np.int32(-1))[self.places])

    def cells(self) -> pa.Array:
        """Return the cell of every row, null for a missing one."""
        return self.distinct.take(pa.array(self.places, mask=self.places < 0))


class Gathering:
    """A text column that comes piece by piece, each distinct cell looked at once, in whatever pieces.

    Examples
    --------
    >>> gathering = Gathering()
    >>> for some in (["b", None], ["a", "b"]):
    ...     new, places = gathering.add(pa.array(some, pa.large_string()))
    ...     print(new.to_pylist(), places.tolist())
    ['b'] [0, -1]
    ['a'] [1, 0]
    >>> gathering.found().distinct.to_pylist()
    ['b', 'a']
    """

    def __init__(self) -> None:
        self._numbering: Numbering | None = Numbering()
        self._distinct: list[pa.Array] = []
        self._places: list[npt.NDArray[np.int32]] = []
        self._count = 0

    def add(self, cells: Cells) -> tuple[pa.Array, npt.NDArray[np.int32]]:
        """Add some cells; return those that were not there before, and the place of each among all.

        Once a text was long, what comes from then on is distinct within its piece only.
        """
        is_there = None if cells.null_count == 0 else pc.is_valid(cells)
        filled = cells if is_there is None else cells.filter(is_there)
        words = None if self._numbering is None else words_of(filled)
        if words is None or self._numbering is None:
            self._numbering = None
            own = Encoded.of(cells)
            new, places = own.distinct, np.where(own.places < 0, own.places, own.places + self._count)
        else:
            numbers, firsts = self._numbering.add(words)
            new, places = _together(filled.take(pa.array(firsts))), numbers
            if is_there is not None:
                places = np.full(len(cells), -1, np.int32)
                places[is_there.to_numpy(zero_copy_only=False)] = numbers
        self._distinct.append(new)
        self._places.append(places.astype(np.int32, copy=False))
        self._count += len(new)
        return new, places

    def found(self) -> Encoded:
        """Return the whole column, and keep nothing of it."""
        is_short, self._numbering = self._numbering is not None, None
        if not self._places:
            return Encoded(pa.array([], pa.large_string()), np.zeros(0, np.int32))
        distinct, places = _together(pa.chunked_array(self._distinct)), np.concatenate(self._places)
        self._distinct, self._places = [], []
        if is_short:
            return Encoded(distinct, places)
        known = Encoded.of(distinct)
        return Encoded(known.distinct, np.append(known.places, np.int32(-1))[places])


def _together(cells: Cells) -> pa.Array:
    return cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells


def _by_words(cells: Cells) -> Encoded | None:
    """Do what `Encoded.of` does with many short texts; None where another way is better."""
    if len(cells) < _MANY or cells.null_count or not differ(cells):
        return None
    words = words_of(cells)
    if words is None:
        return None
    places, first = number_pairs(words)
    give_back()
    return Encoded(_together(cells.take(pa.array(first))), places)


def differ(cells: Cells) -> bool:
    """Whether so many of the first cells differ that looking each of them up misses the cache."""
    return pc.count_distinct(cells.slice(0, _LOOKED_AT)).as_py() > _LOOKED_AT // 2
