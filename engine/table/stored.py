"""A table that memory does not hold: coded pieces of its columns in a private folder on this disk.

Rows keep their order. Each piece is a file of its own (Arrow's own format, texts as places among the
distinct ones of the piece), so that no list of distinct cells grows with the table. Whose a row is stands
beside them in two words that are equal exactly where person keys are: by them all rows of some people at a
time are found again, whatever the number of rows.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from engine import arrays
from engine.errors import InputRefused
from engine.short_texts import LONGEST_SHORT, hash_pairs, number_pairs, words_of
from engine.table.cells import series_of
from engine.table.declared import people_of
from engine.table.encoded import Encoded
from engine.table.schema import Column
from engine.table.table import TEXT, Held, Table, joined_findings

Kept = arrays.Bools
Words = arrays.Words

_TOGETHER = 1 << 20  # rows of the people who are looked at together, about
_BLOCK = 1 << 20
_KEYS, _PEOPLE, _GROUPS, _FULFILS, _KEPT = "keys", "people", "groups", "fulfils", "kept"
_SOMEBODY, _LONG = 1 << 63, 1 << 62


class Stored(Held):
    """A table that answers piece by piece, see `Table.pieces`.

    Parameters
    ----------
    store
        What was written.
    kept
        Which rows are used; None for all.
    """

    tier = "store"

    def __init__(self, store: Store, kept: Kept | None = None) -> None:
        first = store.heads[0]
        super().__init__(first.heading, source=first.source, options=first.options)
        self.findings = joined_findings(store.heads)
        self.n_rows = sum(store.lengths) if kept is None else int(np.count_nonzero(kept))
        self._store, self._kept = store, kept

    def pieces(self, names: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Give the rows of some columns that are used, in their order, one piece at least."""
        start = 0
        for place, length in enumerate(self._store.lengths):
            frame = self._store.piece(place, names, length)
            if self._kept is not None:
                frame = frame[self._kept[start : start + length]].reset_index(drop=True)
            start += length
            yield frame

    def room(self, kind: type[np.generic]) -> npt.NDArray[Any]:
        """Return room for a number of some kind for every row, on the disk."""
        return self._store.room(f"numbers {next(self._store.names)}", kind, self.n_rows)

    def codes(self, code: Callable[[pd.DataFrame], arrays.Integers]) -> arrays.Integers:
        """Return a number for every row from its columns, on the disk."""
        found, start = self.room(np.int64), 0
        for rows in self.pieces(self._store.columns):
            found[start : start + len(rows)] = code(rows)
            start += len(rows)
        return found

    def key_parts(self) -> Iterator[pa.ChunkedArray]:
        """Give the person keys of all rows piece by piece, each once in a piece."""
        return self._store.key_parts()

    def by_person(self) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]]:
        """Give, for some people at a time, the places of all their rows in the store and a number for each.

        Only rows that are used, and nobody's are in none.
        """
        yield from self._store.by_person(self._kept)

    def keep(self, kept: Kept) -> Stored:
        """Return the table with those rows only that fulfil the conditions and are among ``kept``."""
        store = self._store
        for start in range(0, len(kept), _BLOCK):
            fulfils = store.read(_FULFILS, np.bool_, start, min(_BLOCK, len(kept) - start))
            kept[start : start + len(fulfils)] &= fulfils
        return Stored(store, kept)

    def marks(self, value: bool) -> Kept:
        """Return a mark for every row of the store, on the disk."""
        found = self._store.room(f"{_KEPT} {next(self._store.names)}", np.bool_, sum(self._store.lengths))
        found[:] = value
        return found

    def most_rows(self) -> int:
        """Return how many of the rows that are used are one person's, at most."""
        return max((int(np.bincount(people).max(initial=0)) for _, people in self.by_person()), default=0)

    def count_people(self) -> tuple[int, int]:
        """Return how many people the table has, and how many rows that are nobody's."""
        if self._store.counted is None:
            for _ in self._store.by_person(None):
                pass
        assert self._store.counted is not None
        people, rows = self._store.counted
        return people, sum(self._store.lengths) - rows


class Store:
    """Files of one table, written piece by piece.

    Parameters
    ----------
    folder
        An empty one that nobody else can read; whoever made it takes it away.
    columns
        Those that are kept.
    key
        The person key; None where no column tells people apart.
    """

    def __init__(self, folder: Path, columns: Sequence[str], key: Column | None) -> None:
        self.heads: list[Table] = []
        self.lengths: list[int] = []
        self.names = iter(range(1 << 62))
        self.counted: tuple[int, int] | None = None
        self.folder, self._key = folder, key
        self._cuts: tuple[int, npt.NDArray[np.int64]] | None = None
        self.columns = tuple(name for name in columns if key is None or name != key.name)

    def add(self, table: Table, fulfils: Kept) -> None:
        """Write some rows, and which of them fulfil the conditions.

        Raises
        ------
        InputRefused
            ``reading.no_disk``.
        """
        try:
            self._add(table, fulfils)
        except OSError as error:
            raise InputRefused("reading.no_disk", reason=error.strerror or "") from error

    def _add(self, table: Table, fulfils: Kept) -> None:
        head = table.with_rows(table.heading)
        head.findings, head.n_rows = table.findings, table.n_rows
        frame, arrays_of = table.rows(), dict[str, pa.Array]()
        for name in self.columns:
            if table.storage[name] == TEXT:
                one = table.encoded(name)
                places = pa.array(one.places, mask=one.places < 0)
                arrays_of[name] = pa.DictionaryArray.from_arrays(places, _plain(one.distinct))
            else:
                arrays_of[name] = pa.array(frame[name].to_numpy())
        written = pa.table(arrays_of) if arrays_of else pa.table({"": pa.nulls(len(frame))})
        with self._new(f"piece {len(self.lengths)}") as file, pa.ipc.new_file(file, written.schema) as out:
            out.write_table(written)
        if self._key is not None:
            self._add_people(people_of(table, self._key))
        with self._new(_FULFILS) as file:
            file.write(np.ascontiguousarray(fulfils).tobytes())
        self.heads.append(head)
        self.lengths.append(table.n_rows)

    def _add_people(self, people: Encoded) -> None:
        keys = _plain(people.distinct)
        words = np.append(_words(keys), np.zeros((1, 2), np.uint64), axis=0)
        with self._new(_PEOPLE) as file:
            file.write(words[people.places].tobytes())
        written = pa.table({_KEYS: keys})
        with self._new(f"{_KEYS} {len(self.lengths)}") as file, pa.ipc.new_file(file, written.schema) as out:
            out.write_table(written)

    def _new(self, name: str) -> IO[bytes]:
        """Open a file for its owner alone, at its end."""
        number = os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return os.fdopen(number, "wb")

    def piece(self, place: int, names: Sequence[str], length: int) -> pd.DataFrame:
        """Return some columns of one piece."""
        with pa.memory_map(str(self.folder / f"piece {place}")) as file:
            whole = pa.ipc.open_file(file).read_all()
            columns = {name: _series(whole.column(name)) for name in dict.fromkeys(names)}
        return pd.DataFrame(columns, index=pd.RangeIndex(length), copy=False)

    def key_parts(self) -> Iterator[pa.ChunkedArray]:
        """Give the person keys of each piece."""
        for place in range(len(self.lengths)):
            with pa.memory_map(str(self.folder / f"{_KEYS} {place}")) as file:
                yield pa.ipc.open_file(file).read_all().column(_KEYS)

    def read(self, name: str, kind: type[np.generic], start: int, count: int, width: int = 1) -> Any:
        """Return some of the numbers of a file, shape (count,) or (count, width)."""
        size = np.dtype(kind).itemsize * width
        found = np.fromfile(self.folder / name, kind, count * width, offset=start * size)
        return found if width == 1 else found.reshape(-1, width)

    def room(self, name: str, kind: type[np.generic], length: int) -> npt.NDArray[Any]:
        """Return numbers that lie in a new file."""
        if not length:
            return np.zeros(0, kind)
        with self._new(name):
            return np.memmap(self.folder / name, kind, "r+", shape=(length,))

    def by_person(self, kept: Kept | None) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]]:
        """Give, for some people at a time, the places of their rows and a number for each.

        Whoever takes all rows of everybody has them counted, too.
        """
        counted = np.zeros(2, np.int64)
        cuts = self.gather_people()
        for group in range(cuts.shape[1] - 1):
            parts = [np.zeros((0, 3), np.uint64)]
            for begin, end in zip(cuts[:, group].tolist(), cuts[:, group + 1].tolist(), strict=True):
                own = self.read(_GROUPS, np.uint64, begin, end - begin, width=3)
                parts.append(own if kept is None else own[kept[own[:, 0].view(np.int64)]])
            found = np.concatenate(parts)
            numbers = number_pairs((found[:, 1], found[:, 2]))[0]
            counted += int(numbers.max(initial=-1)) + 1, len(numbers)
            yield found[:, 0].astype(np.int64), numbers
        if kept is None:
            self.counted = int(counted[0]), int(counted[1])

    def gather_people(self) -> npt.NDArray[np.int64]:
        """Write down once where the rows of some people at a time are: each with its place and its words.

        Returns
        -------
        array of int64, shape (blocks, groups + 1)
            Where in the file the rows of each group begin and end, block by block.

        Raises
        ------
        InputRefused
            ``reading.no_disk``.
        """
        try:
            return self._gather()
        except OSError as error:
            raise InputRefused("reading.no_disk", reason=error.strerror or "") from error

    def _gather(self) -> npt.NDArray[np.int64]:
        rows = sum(self.lengths)
        if self._cuts is not None and self._cuts[0] == rows:
            return self._cuts[1]
        groups, end = -(-rows // _TOGETHER) or 1, 0
        cuts = []
        with self._new(_GROUPS) as file:
            file.truncate(0)
            for start in range(0, rows, _BLOCK):
                own = self.read(_PEOPLE, np.uint64, start, min(_BLOCK, rows - start), width=2)
                places = np.flatnonzero(own[:, 1])  # nobody's have none
                own = own[places]
                group = (_mixed(hash_pairs((own[:, 0], own[:, 1]))) % np.uint64(groups)).astype(np.uint32)
                small = group.astype(np.uint16) if groups <= 1 << 16 else group
                order = np.argsort(small, kind="stable")
                found = np.empty((len(own), 3), np.uint64)
                found[:, 0], found[:, 1:] = (places + start)[order], own[order]
                file.write(found.tobytes())
                cuts.append(end + np.append(0, np.cumsum(np.bincount(group, minlength=groups))))
                end += len(own)
        self._cuts = rows, np.array(cuts, np.int64).reshape(-1, groups + 1)
        return self._cuts[1]


def _plain(cells: pa.Array) -> pa.Array:
    return cells.cast(pa.large_string())


def _series(cells: pa.ChunkedArray) -> pd.Series:
    """Return the cells of a piece as a table holds them, with nothing of the file left in them."""
    if pa.types.is_dictionary(cells.type):
        return series_of(pa.chunked_array([one.dictionary.take(one.indices) for one in cells.chunks]))
    return pd.Series(np.array(cells.to_numpy()), copy=False)


def _mixed(hashes: Words) -> Words:
    with np.errstate(over="ignore"):
        return np.asarray(
            (hashes ^ (hashes >> np.uint64(31))) * np.uint64(0x94D049BB133111EB) >> np.uint64(33)
        )


def _words(keys: pa.Array) -> Words:
    """Return two words for every key, shape (n, 2), equal exactly where the keys are; never two zeros."""
    found = np.zeros((len(keys), 2), np.uint64)
    is_short = pc.less_equal(pc.binary_length(keys), LONGEST_SHORT).to_numpy(zero_copy_only=False)
    short = words_of(keys.filter(pa.array(is_short)))
    assert short is not None
    found[is_short, 0], found[is_short, 1] = short[0], short[1] | np.uint64(_SOMEBODY)
    for place in np.flatnonzero(~is_short):
        digest = hashlib.blake2b(keys[place].as_py().encode(), digest_size=16).digest()
        first, second = np.frombuffer(digest, np.uint64)
        found[place] = first, second | np.uint64(_SOMEBODY | _LONG)
    return found
