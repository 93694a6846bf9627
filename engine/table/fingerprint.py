"""Fingerprints by which the ledger knows a table again, without keeping a cell."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from engine import arrays
from engine.progress import SILENT, Progress
from engine.short_texts import hash_texts, may_hold_numbers
from engine.table.cells import cells_of
from engine.table.coding import texts_of
from engine.table.encoded import Encoded, differ
from engine.table.table import Table

Hashes = arrays.Words
Gathered: TypeAlias = "tuple[pa.Array, npt.NDArray[np.int32]]"
_NOTHING: Mapping[str, Gathered] = MappingProxyType({})

_KEY = "0123456789123456"  # of pandas, where none is given
_NUMBER = r"^[+-]?(0|[1-9]\d{0,14})(\.\d{1,15})?$"
_PIECE = 1 << 18  # rows at a time: their hashes stay in the processor's cache
_PARTS = 4  # parts of each row
_FEWEST_CELLS = 3  # in a part: fewer say too little
_KEPT = 1 << 17  # parts of rows of a table, about


@dataclass(frozen=True)
class Fingerprints:
    """What a table is known by. Internal: computed from private rows; it never leaves.

    Attributes
    ----------
    fingerprint
        64 hexadecimal digits, of the whole content with the names of the columns.
    rows
        Hashes of parts of rows that stand once in the table (where all rows are repeated: as often as the
        rarest), sorted. They depend on no name, no order, and no
        other row; of a large table on a sample that its own hash puts a part in.
    contents
        One hash of the content of every column that is not constant, whatever its name.
    """

    fingerprint: str
    rows: Hashes
    contents: Hashes


def fingerprints(table: Table, *, progress: Progress = SILENT) -> Fingerprints:
    """Return the fingerprints of a table, which do not depend on the order of its rows or columns.

    Parameters
    ----------
    table
        The table.
    progress
        Asked between pieces of the table whether to stop.

    Notes
    -----
    Each cell is hashed by its content. For the fingerprint it is mixed with the name of its column, the
    cells of a row are added, and of the hashes of the rows the sum and the sum of squares (modulo 2⁶⁴) go
    into SHA-256 with names and size. The content of a column is its sum and sum of squares alike, without
    the name.

    A part of a row is the sum of about half of its cells: cell c belongs to part j if bit j of its own hash
    is set. Which cells make a part is so told by the cells alone, and a column that is renamed or moved
    changes none; one that is added, removed or filled anew leaves every part as it was that holds none of
    its old and new cells: a half, a half, a quarter of them. Parts of fewer than three cells, and those that
    several rows share, tell nobody apart and are left out; where every row was doubled, those that no more
    than two share are the ones that stood once before.

    It recognises the same table again; it is no proof that two tables are the same.
    """
    traced = Tracing()
    traced.add(table, progress)
    return traced.found()


class Tracing:
    """The fingerprints of a table that comes piece by piece, see `fingerprints`; it keeps no cell.

    Examples
    --------
    >>> traced = Tracing()
    >>> for one in ("x", "y"):
    ...     traced.add(Table(pd.DataFrame({"a": [one]})))
    >>> whole = fingerprints(Table(pd.DataFrame({"a": ["x", "y"]})))
    >>> traced.found().fingerprint == whole.fingerprint
    True
    """

    def __init__(self) -> None:
        self._rows, self._shift = 0, 0
        self._total = np.zeros(2, np.uint64)
        self._columns: dict[str, _Content] = {}
        self._kept: list[Hashes] = []
        self._gathered: dict[str, Hashes] = {}

    def add(
        self, table: Table, progress: Progress = SILENT, gathered: Mapping[str, Gathered] = _NOTHING
    ) -> None:
        """Add some rows; every piece has the same columns.

        Parameters
        ----------
        table
            The rows.
        progress
            Asked between pieces of the table whether to stop.
        gathered
            By column, the cells that no piece before had, and where each cell of this one is among all: what
            `Gathering.add` returns. Each is hashed once, however many pieces have it.
        """
        frame = table.rows()
        for name in table.names:
            self._columns.setdefault(name, _Content.of(name))
        self._rows += table.n_rows
        self._thin(max(0, (self._rows * _PARTS // _KEPT).bit_length()))
        encoded = {name: table.encoded(name) for name in table.encodings - gathered.keys()}
        known = {name: (_hashed_distinct(one.distinct), one.places) for name, one in encoded.items()}
        for name, (new, places) in gathered.items():
            before = self._gathered.get(name, np.zeros(1, np.uint64))[:-1]
            self._gathered[name] = np.append(before, _hashed_distinct(new))
            known[name] = self._gathered[name], places
        for start in range(0, table.n_rows, _PIECE):
            progress.step(start / table.n_rows, "table.fingerprint")
            piece = frame.iloc[start : start + _PIECE]
            rows, parts = np.zeros(len(piece), np.uint64), _Parts(len(piece))
            for place, name in enumerate(table.names):
                if name in known:
                    hashes, places = known[name]
                    places = places[start : start + _PIECE]
                    cells, present = hashes.take(places, mode="wrap"), places >= 0
                else:
                    values = piece.iloc[:, place]
                    cells, present = _hash(values), values.notna().to_numpy()
                content = self._columns[name]
                rows += _mix(cells ^ content.seed)
                plain = _mix(cells)
                parts.add(plain, present)
                content.add(plain)
            self._total += _sums(_mix(rows))
            self._kept.append(parts.below(self._shift))

    def _thin(self, shift: int) -> None:
        """Keep a smaller part of what is kept where the table turns out to be larger."""
        if shift > self._shift:
            self._shift = shift
            self._kept = [found[found <= _below(shift)] for found in self._kept]

    def found(self) -> Fingerprints:
        """Return the fingerprints of all rows that were added."""
        about = "\0".join((*sorted(self._columns), str(self._rows), *(str(int(one)) for one in self._total)))
        digest = hashlib.sha256(about.encode()).hexdigest()
        return Fingerprints(digest, _once(self._kept), _contents(self._columns.values()))


class TracingColumns:
    """The fingerprints of a table of which only the distinct cells of each column are known, and how often.

    The content of a column is the same as that of `Tracing`. Of whole rows and parts of them nothing can be
    known: the fingerprint is that of all columns with their names, each by itself.

    Examples
    --------
    >>> traced = TracingColumns(3)
    >>> traced.add("a", pd.Series(["x", "y"]), np.array([2, 1]))
    >>> whole = fingerprints(Table(pd.DataFrame({"a": ["x", "y", "x"]})))
    >>> traced.found().contents.tolist() == whole.contents.tolist()
    True
    """

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._columns: dict[str, _Content] = {}

    def add(self, name: str, cells: pd.Series, often: npt.NDArray[np.int64]) -> None:
        """Add some distinct cells of a column and how many rows have each."""
        content = self._columns.setdefault(name, _Content.of(name))
        if len(cells):
            content.add(_mix(_hash(cells)), often.astype(np.uint64))

    def found(self) -> Fingerprints:
        """Return the fingerprints of all columns."""
        sums = (f"{name}\0{one.sums[0]}\0{one.sums[1]}" for name, one in sorted(self._columns.items()))
        about = "\0".join(("columns", str(self._rows), *sums))
        digest = hashlib.sha256(about.encode()).hexdigest()
        return Fingerprints(digest, np.zeros(0, np.uint64), _contents(self._columns.values()))


@dataclass
class _Content:
    """What is known of a column's cells: their sums, and whether they differ."""

    seed: np.uint64
    sums: Hashes
    first: np.uint64 | None = None
    varies: bool = False

    @staticmethod
    def of(name: str) -> _Content:
        seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
        return _Content(np.uint64(seed), np.zeros(2, np.uint64))

    def add(self, plain: Hashes, often: Hashes | None = None) -> None:
        """Add the hashes of some cells, and how often each stands in the column where alike ones are one."""
        self.sums += _sums(plain, often)
        self.first = plain[0] if self.first is None else self.first
        self.varies |= bool((plain != self.first).any())


def _contents(columns: Iterable[_Content]) -> Hashes:
    """Return one hash of every column that is not constant, sorted."""
    varied = np.array([one.sums for one in columns if one.varies], np.uint64).reshape(-1, 2)
    return np.sort(_mix(varied[:, 0]) + varied[:, 1])


class _Parts:
    """Parts of the rows of one piece, cell by cell."""

    def __init__(self, rows: int) -> None:
        self.sums = np.zeros((_PARTS, rows), np.uint64)
        self.cells = np.zeros((_PARTS, rows), np.uint8)

    def add(self, hashes: Hashes, present: npt.NDArray[np.bool_]) -> None:
        """Add a column's cells to the parts that they belong to."""
        for part in range(_PARTS):
            belongs = (hashes >> np.uint64(part) & np.uint64(1)).astype(bool) & present
            self.sums[part] += hashes * belongs
            self.cells[part] += belongs

    def below(self, shift: int) -> Hashes:
        """Return the hashes of all parts that are large enough and below 2^(64 − shift)."""
        found = _mix(self.sums[self.cells >= _FEWEST_CELLS])
        return found[found <= _below(shift)]


def _below(shift: int) -> np.uint64:
    return np.uint64((1 << (64 - shift)) - 1)


def _once(pieces: list[Hashes]) -> Hashes:
    """Return the hashes that occur once, sorted; in a table that repeats every row, as often as is least."""
    found = np.sort(np.concatenate([np.zeros(0, np.uint64), *pieces]))
    if not found.size:
        return found
    starts = np.flatnonzero(np.append(True, found[1:] != found[:-1]))
    counts = np.diff(np.append(starts, found.size))
    return found[starts[counts == counts.min()]]


def _sums(hashes: Hashes, often: Hashes | None = None) -> Hashes:
    times = np.uint64(1) if often is None else often
    with np.errstate(over="ignore"):
        first = hashes * times
        return np.array([first.sum(dtype=np.uint64), (hashes * first).sum(dtype=np.uint64)], np.uint64)


def _hash(values: pd.Series) -> Hashes:
    """Hash cells so that 1, 1.0 and "1" agree, and a day and its ISO text, whatever the storage."""
    if pd.api.types.is_numeric_dtype(values.dtype):
        return _hashed_plainly(pd.Series(values.to_numpy(dtype=np.float64, na_value=np.nan) + 0.0))
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        found, uniques = pd.factorize(values)
        return _hashed_texts(pa.array(texts_of(uniques), pa.large_string()))[found]
    cells = cells_of(values)
    if differ(cells):  # looking for those that are alike would take longer than to hash each
        hashes = _hashed_texts(cells.drop_null().combine_chunks())
        if cells.null_count == 0:
            return hashes[:-1]
        of_each: Hashes = np.full(len(cells), hashes[-1])
        of_each[pc.is_valid(cells).to_numpy(zero_copy_only=False)] = hashes[:-1]
        return of_each
    encoded = Encoded.of(cells)
    return _hashed_texts(encoded.distinct)[encoded.places]


def _hashed_distinct(text: pa.Array) -> Hashes:
    """Do the same as `_hashed_texts` with many cells, a piece at a time: what Python holds stays small."""
    pieces = [_hashed_texts(text.slice(start, _PIECE)) for start in range(0, len(text), _PIECE)]
    return np.concatenate([*(piece[:-1] for piece in pieces), _hashed_texts(text.slice(len(text)))])


def _hashed_texts(text: pa.Array) -> Hashes:
    """Hash distinct cells, and at the end a missing one, which is a number that is none."""
    if not may_hold_numbers(text):
        return np.append(hash_texts(text, _KEY), _hashed_plainly(pd.Series([np.nan])))
    fits = pc.match_substring_regex(text, _NUMBER)
    numbers = pc.if_else(fits, text, pa.scalar(None, text.type)).cast(pa.float64())
    read = np.append(numbers.to_numpy(zero_copy_only=False), np.nan) + 0.0
    found = _hashed_plainly(pd.Series(read)).copy()
    words = text.filter(pc.invert(fits))
    if len(words):
        is_word = np.append(~fits.to_numpy(zero_copy_only=False), False)
        found[is_word] = hash_texts(words, _KEY)
    return found


def _hashed_plainly(values: pd.Series) -> npt.NDArray[np.uint64]:
    return np.asarray(pd.util.hash_pandas_object(values, index=False).to_numpy(), dtype=np.uint64)


def _mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread every bit over all others: the finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(values ^ (values >> np.uint64(31)))
