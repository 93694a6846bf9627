"""A text column as the places of its distinct cells: what is said of a cell once holds wherever it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from engine.table.cells import Cells


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
