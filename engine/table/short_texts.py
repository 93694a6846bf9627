"""Short texts as numbers: exact, and several times as fast to compare as the texts themselves."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from engine import arrays
from engine.table.cells import Cells

Words = arrays.Words

LONGEST_SHORT = 15
"""Bytes of a text; the sixteenth byte says how many it has."""

_PIECE = 1 << 17  # texts at a time: what is in between stays small


def words_of(cells: Cells) -> tuple[Words, Words] | None:
    """Return two numbers for every text, equal exactly where the texts are.

    Parameters
    ----------
    cells
        Text, shape (n,).

    Returns
    -------
    two arrays of uint64, shape (n,)
        None where a text is missing or has more than `LONGEST_SHORT` bytes.

    Examples
    --------
    >>> first, second = words_of(pa.array(["b", "ab", "b"]))
    >>> (first == first[0]).tolist(), second.tolist() == [1 << 56, 2 << 56, 1 << 56]
    ([True, False, True], True)
    """
    first, second = np.empty(len(cells), np.uint64), np.empty(len(cells), np.uint64)
    start = 0
    for chunk in cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells]:
        for begin in range(0, len(chunk), _PIECE):
            found = _bytes(chunk.slice(begin, _PIECE))
            if found is None:
                return None
            words = found.view("<u8")
            first[start : start + len(words)], second[start : start + len(words)] = words[:, 0], words[:, 1]
            start += len(words)
    return first, second


def _bytes(chunk: pa.Array) -> npt.NDArray[np.uint8] | None:
    """Return the bytes of every text, zeros behind them, and its length."""
    if chunk.null_count or not (pa.types.is_large_string(chunk.type) or pa.types.is_string(chunk.type)):
        return None
    _, ends, content = chunk.buffers()
    wide = np.int64 if pa.types.is_large_string(chunk.type) else np.int32
    if not len(chunk):
        return np.zeros((0, 16), np.uint8)
    offsets = np.frombuffer(ends, wide)[chunk.offset : chunk.offset + len(chunk) + 1]
    sizes = np.diff(offsets)
    longest = int(sizes.max())
    if longest > LONGEST_SHORT:
        return None
    found = np.zeros((len(chunk), 16), np.uint8)
    found[:, LONGEST_SHORT] = sizes
    if longest:
        signs = np.frombuffer(content, np.uint8)
        if int(sizes.min()) == longest:
            found[:, :longest] = signs[offsets[0] : offsets[-1]].reshape(-1, longest)
        else:
            last = offsets[-1] - 1
            for place in range(longest):
                here = signs[np.minimum(offsets[:-1] + place, last)]
                here[sizes <= place] = 0
                found[:, place] = here
    return found


def hash_pairs(words: tuple[Words, Words]) -> Words:
    """Return one number for each pair: equal where the pairs are, and by accident where they are not."""
    with np.errstate(over="ignore"):
        first, second = (words[0] * np.uint64(0xBF58476D1CE4E5B9), words[1] * np.uint64(0x94D049BB133111EB))
        return np.asarray((first ^ (first >> np.uint64(29))) + second)


def number_pairs(words: tuple[Words, Words]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return a number for each pair, equal exactly where the pairs are, and where each number stands first.

    Examples
    --------
    >>> pairs = np.array([5, 7, 5], np.uint64), np.array([1, 1, 1], np.uint64)
    >>> [one.tolist() for one in number_pairs(pairs)]
    [[0, 1, 0], [0, 1]]
    """
    places = pd.factorize(hash_pairs(words))[0].astype(np.int32)
    first = _first(places)
    if any((word != word[first][places]).any() for word in words):  # two pairs share a hash
        places = np.unique(np.stack(words, axis=1), axis=0, return_inverse=True)[1].astype(np.int32).ravel()
        first = _first(places)
    return places, first


def _first(places: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    first = np.empty(int(places.max(initial=-1)) + 1, dtype=np.int64)
    first[places[::-1]] = np.arange(len(places) - 1, -1, -1)  # what is written last stays
    return first
