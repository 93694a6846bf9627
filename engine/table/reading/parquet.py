"""Parquet files: each column by the type that the file declares, each cell by itself."""

from __future__ import annotations

import decimal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from engine.errors import InputRefused
from engine.progress import SILENT, Progress
from engine.table.cells import LARGEST_EXACT, series_of
from engine.table.reading.frames import bytes_as_text, cell_as_text, store_series
from engine.table.reading.moments import DAY, from_ticks
from engine.table.reading.names import clean_names, refuse_wide
from engine.table.reading.options import ROWS_NAMED, Finding, ReadOptions
from engine.table.reading.room import NUMBER, Room
from engine.table.reading.storage import Stored
from engine.table.table import Table

EXACT_DIGITS = 15  # whole digits that a double keeps
_PIECE = 1 << 20  # cells at a time: of texts their places only
_NESTED_PIECE = 1 << 10
_ROWS, _CELLS, _BYTES = 1 << 18, 1 << 23, 1 << 28  # of a piece of the table, about
_TICK = {"s": Fraction(10**6), "ms": Fraction(1000), "us": Fraction(1), "ns": Fraction(1, 1000)}
# Whole numbers stay whole beside empty cells.
_NULLABLE = {
    pa.bool_(): pd.BooleanDtype(),
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint8(): pd.UInt8Dtype(),
    pa.uint16(): pd.UInt16Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
}


def read_parquet(path: Path, *, options: ReadOptions, progress: Progress = SILENT) -> Table:
    """Read a Parquet file.

    Notes
    -----
    A date outside the years 1 to 9999 is a missing cell with a finding. Decimals with more whole digits than
    a double keeps stay text, so that two long numbers never become one.
    """
    from pyarrow import parquet

    progress.step(0.1, "table.read")
    with _explain_damage(path):
        begun = _begin(path)
        columns: dict[str, pd.Series] = {}
        findings = list(begun.found)
        with parquet.ParquetFile(path, read_dictionary=_texts(begun.kinds)) as opened:
            for place, (name, leaves) in enumerate(zip(begun.names, _leaves(begun.kinds), strict=True)):
                progress.step(0.1 + 0.9 * place / len(begun.names), "table.read")
                read = _column(opened, begun.kinds.field(place).type, leaves, begun.room)
                stored = column_of(read, name, options=options, file=path.name)
                del read
                columns[name] = stored.values.reset_index(drop=True)
                findings.extend(stored.findings)
    frame = pd.DataFrame(columns, index=pd.RangeIndex(begun.rows), copy=False)
    return Table(frame, source=path.name, options=options, findings=findings)


def parquet_pieces(path: Path, *, options: ReadOptions, progress: Progress = SILENT) -> Iterator[Table]:
    """Read a Parquet file some rows at a time, so that memory does not grow with it; see `read_parquet`.

    Notes
    -----
    Put together the pieces are the table, but for columns of whole numbers: whether they have gaps in all is
    not seen in a piece, so that those with gaps in some pieces only are stored as whole numbers in others.
    """
    from pyarrow import parquet

    with _explain_damage(path):
        begun = _begin(path, in_pieces=True)
        most = max(1, min(_ROWS, _CELLS // len(begun.names)))
        nested = any(pa.types.is_nested(field.type) for field in begun.kinds)
        held: list[list[pa.Array]] = [[] for _ in begun.names]
        found, rows, read, room = begun.found, 0, 0, 0

        def piece() -> Table:
            columns: dict[str, pd.Series] = {}
            findings = list(found)
            for name, cells in zip(begun.names, held, strict=True):
                stored = column_of(pa.chunked_array(cells), name, options=options, file=path.name)
                cells.clear()
                columns[name] = stored.values.reset_index(drop=True)
                findings.extend(stored.findings)
            frame = pd.DataFrame(columns, index=pd.RangeIndex(rows), copy=False)
            return Table(frame, source=path.name, options=options, findings=findings)

        with parquet.ParquetFile(path, read_dictionary=_texts(begun.kinds)) as opened:
            kinds, leaves = [field.type for field in begun.kinds], _leaves(begun.kinds)
            long = [_is_long(opened, kind, own) for kind, own in zip(kinds, leaves, strict=True)]
            for batch in opened.iter_batches(min(most, _NESTED_PIECE) if nested else most):
                if rows and (rows + len(batch) > most or begun.room.taken - room > _BYTES):
                    progress.step(read / begun.rows, "table.read")
                    yield piece()
                    found, rows, room = (), 0, begun.room.taken
                for place, cells in enumerate(held):
                    plain = _plain(batch.column(place), begun.room, in_pieces=True)
                    cells.append(plain.cast(pa.string()) if long[place] else plain)
                rows, read = rows + len(batch), read + len(batch)
            if rows:
                yield piece()


@dataclass(frozen=True)
class _Begun:
    """What a file says of itself, once it may be read."""

    kinds: pa.Schema
    names: tuple[str, ...]
    rows: int
    found: tuple[Finding, ...]
    room: Room


def _begin(path: Path, *, in_pieces: bool = False) -> _Begun:
    """Look at what a file says of itself, and refuse what cannot be read."""
    from pyarrow import parquet

    room = Room(path)
    with parquet.ParquetFile(path) as opened:
        declared, kinds = opened.metadata, opened.schema_arrow
        written = [str(name) for name in kinds.names]
        refuse_wide(len(written), path.name)
        # For every cell, whatever it holds: what repeats itself takes no room in the file.
        room.take(declared.num_rows * len(written) * NUMBER, in_pieces=in_pieces)
        room.refuse(_size_declared(opened), in_pieces=in_pieces)
        names, found = clean_names(written, len(written), path.name)
        if not written:
            raise InputRefused("table.empty_file", file=path.name)
        if declared.num_rows == 0:
            raise InputRefused("table.no_rows", file=path.name)
        return _Begun(kinds, names, declared.num_rows, tuple(found), room)


def _size_declared(opened: Any) -> int:
    """Return the bytes of all values but texts: a cell may hold many of them, and a value may be wide."""
    declared = opened.metadata
    leaves = [opened.schema.column(place) for place in range(declared.num_columns)]
    groups = (declared.row_group(place) for place in range(declared.num_row_groups))
    return sum(
        group.column(place).num_values * max(NUMBER, leaf.length or 0)
        for group in groups
        for place, leaf in enumerate(leaves)
    )


@contextmanager
def _explain_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, PermissionError):
        raise
    except (pa.ArrowException, OSError) as error:
        raise InputRefused("table.damaged", file=path.name, format="parquet") from error


def _is_long(opened: Any, kind: pa.DataType, leaves: range) -> bool:
    """Whether a column of whole numbers is kept as digits, as `store_series` keeps a whole column.

    It is where a number needs more than 63 bits, or where cells are missing and a double loses digits.
    """
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    if plain not in (pa.int64(), pa.uint64()):
        return False
    largest, has_gaps = 0, False
    for batch in opened.reader.iter_batches(
        _PIECE, list(range(opened.num_row_groups)), column_indices=list(leaves), use_threads=True
    ):
        cells = batch.column(0)
        ends = pc.min_max(cells.cast(plain) if pa.types.is_dictionary(cells.type) else cells).as_py()
        largest = max(largest, *(abs(end or 0) for end in ends.values()))
        has_gaps |= cells.null_count > 0
    return is_long(largest, has_gaps=has_gaps)


def is_long(largest: int, *, has_gaps: bool) -> bool:
    """Say whether whole numbers up to so large a one are kept as digits."""
    return largest > (LARGEST_EXACT if has_gaps else 2**63 - 1)


def _texts(kinds: pa.Schema) -> list[str]:
    """Return the columns of texts, which are read as places in a list of different ones."""
    return [field.name for field in kinds if _is_text(field.type)]


def _is_text(kind: pa.DataType) -> bool:
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(
        one(plain)
        for one in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_binary,
            pa.types.is_large_binary,
        )
    )


def _leaves(kinds: pa.Schema) -> list[range]:
    """Return which columns of the file each column of the table is made of: several where it is nested."""
    found, at = [], 0
    for field in kinds:
        count = _leaf_count(field.type)
        found.append(range(at, at + count))
        at += count
    return found


def _leaf_count(kind: pa.DataType) -> int:
    return sum(_leaf_count(kind.field(i).type) for i in range(kind.num_fields)) if kind.num_fields else 1


def _column(opened: Any, kind: pa.DataType, leaves: range, room: Room) -> pa.ChunkedArray:
    """Read one column piece by piece, counting what it takes before its texts are written out."""
    size = _PIECE if not pa.types.is_nested(kind) else _NESTED_PIECE
    groups = list(range(opened.num_row_groups))
    pieces = []
    for batch in opened.reader.iter_batches(size, groups, column_indices=list(leaves), use_threads=True):
        pieces.append(_plain(batch.column(0), room))
    return pa.chunked_array(pieces) if pieces else pa.chunked_array([], kind)


def _plain(cells: pa.Array, room: Room, *, in_pieces: bool = False) -> pa.Array:
    """Return cells of a piece with their texts written out, once what those take has been counted."""
    if pa.types.is_dictionary(cells.type) and _is_text(cells.type):
        lengths = pc.binary_length(cells.dictionary)
        room.take(pc.sum(lengths.take(cells.indices)).as_py() or 0, in_pieces=in_pieces)
        return _written_out(cells)
    if pa.types.is_nested(cells.type) or pa.types.is_fixed_size_binary(cells.type):
        room.take(cells.nbytes, in_pieces=in_pieces)
    return cells


def _written_out(cells: pa.DictionaryArray) -> pa.Array:
    wide = pa.large_string() if pa.types.is_string(cells.type.value_type) else cells.type.value_type
    wide = pa.large_binary() if pa.types.is_binary(wide) else wide
    return cells.dictionary.cast(wide).take(cells.indices)


def names_of_parquet(path: Path) -> tuple[str, ...]:
    """Return the names of the columns, from what the file says about itself."""
    return tuple(kinds_of_parquet(path))


def kinds_of_parquet(path: Path) -> dict[str, pa.DataType]:
    """Return the names of the columns and their types, from what the file says about itself."""
    from pyarrow import parquet

    try:
        kinds = parquet.read_schema(path)
    except pa.ArrowException as error:
        raise InputRefused("table.damaged", file=path.name, format="parquet") from error
    names = [str(name) for name in kinds.names]
    refuse_wide(len(names), path.name)
    return dict(zip(clean_names(names, len(names), path.name)[0], kinds.types, strict=True))


def rows_of_parquet(path: Path) -> int:
    """Return the number of rows, from what the file says about itself."""
    from pyarrow import parquet

    with _explain_damage(path):
        return int(parquet.read_metadata(path).num_rows)


def column_of(column: pa.ChunkedArray, name: str, *, options: ReadOptions, file: str = "") -> Stored:
    """Bring one column into one of the four storages; its type decides how, no row does.

    Examples
    --------
    >>> keys = pa.chunked_array([pa.array([2**60, 2**60 + 1]).cast(pa.decimal128(38, 0))])
    >>> column_of(keys, "key", options=ReadOptions()).values.tolist()
    ['1152921504606846976', '1152921504606846977']
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_fixed_size_binary(kind):
        column = column.cast(pa.large_binary())
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        return _texts_of(pc.cast(column, pa.large_string(), safe=False), name, file)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _texts_of(column, name, file)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _moments(column, name, file)
    if pa.types.is_decimal(kind):
        if kind.precision - kind.scale > EXACT_DIGITS:
            return Stored(_each(column, lambda value: _digits(value)))
        return Stored(pd.Series(column.cast(pa.float64()).to_numpy()))
    if pa.types.is_nested(kind):
        said = Finding("table.nested_values", file, name, len(column))
        return Stored(_each(column, cell_as_text), [said])
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        return Stored(_each(column, str))
    if pa.types.is_null(kind):
        return Stored(pd.Series([None] * len(column), dtype="str"))
    return store_series(column.to_pandas(types_mapper=_NULLABLE.get), name, options=options, file=file)


def _texts_of(column: pa.ChunkedArray, name: str, file: str) -> Stored:
    """Return texts; one whose bytes are none is read as Latin-1, and changes no other cell."""
    try:
        column.validate(full=True)
        return Stored(series_of(_without_empty(column)))
    except pa.ArrowInvalid:
        raw = [cell.as_buffer() for cell in column]
    texts: list[str | None] = []
    lost: list[int] = []
    for place, one in enumerate(raw):
        content = b"" if one is None else one.to_pybytes()
        text, is_text = bytes_as_text(content)
        texts.append(text or None)
        if not is_text:
            lost.append(place)
    rows = tuple(place + 1 for place in lost[:ROWS_NAMED])
    said = Finding("table.cells_undecodable", file, name, len(lost), rows, {"encoding": "utf-8"})
    return Stored(pd.Series(texts, dtype="str"), [said])


def _without_empty(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pc.min(pc.binary_length(column)).as_py() != 0:
        return column
    return pc.if_else(pc.equal(pc.binary_length(column), 0), pa.scalar(None, column.type), column)


def _moments(column: pa.ChunkedArray, name: str, file: str) -> Stored:
    absent = pc.is_null(column).to_numpy()
    if pa.types.is_date32(column.type):
        ticks, tick = column.cast(pa.int32()).cast(pa.int64()), Fraction(DAY)
    elif pa.types.is_date64(column.type):
        ticks, tick = column.cast(pa.int64()), _TICK["ms"]
    else:
        ticks, tick = column.cast(pa.int64()), _TICK[column.type.unit]
    whole = pc.fill_null(ticks, 0).to_numpy().astype(np.int64)
    values, found = from_ticks(whole, absent, tick=tick, name=name, file=file)
    if getattr(column.type, "tz", None) is not None:
        found.append(Finding("table.time_zone", file, name, len(column)))
    return Stored(values, found)


def _digits(value: decimal.Decimal) -> str:
    plain = format(value, "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _each(column: pa.ChunkedArray, write: Any) -> pd.Series:
    """Write every cell as text by itself; one that Python cannot hold is missing."""
    texts: list[str | None] = []
    for cell in column:
        try:
            value = cell.as_py()
            texts.append(None if value is None else write(value) or None)
        except (ValueError, OverflowError):
            texts.append(None)
    return pd.Series(texts, dtype="str")
