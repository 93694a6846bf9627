"""What the custodian holds: a table whose rows are behind one door."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from engine.errors import InputRefused
from engine.notebook import Shown
from engine.table.cells import cells_of
from engine.table.encoded import Encoded
from engine.table.reading.options import ROWS_NAMED, Finding, ReadOptions

INTEGER, NUMBER, DATE, TEXT = "integer", "number", "date", "text"
Tallied: TypeAlias = "tuple[pd.DataFrame, npt.NDArray[np.int64] | None]"


class Table(Shown):
    """Columns, number of rows, how they were read and what was found; the rows only through `rows`.

    Parameters
    ----------
    frame
        One column per variable: int64, float64, datetime64 or ``str``. Missing cells are NaN or NaT.
    source
        Name of the file, for messages.
    options
        How the file was read, every field filled.
    findings
        What the reader noticed. Internal.
    labels
        Value labels by column: code → label, both text.
    titles
        Longer names of columns, as statistics packages keep them.
    missing
        Codes that the file itself declares missing, by column.
    encoded
        Text columns of the frame of which the distinct cells are known already.

    Notes
    -----
    Everything but `rows` and `encoded` is readable by methods that must not see private values; a test
    replaces `rows` by a function that fails. ``repr`` shows names and sizes, never a cell.

    Examples
    --------
    >>> table = Table(pd.DataFrame({"age": [30, 41], "sex": ["f", "m"]}), source="people.csv")
    >>> table
    Table(source='people.csv', rows=2, columns=['age', 'sex'])
    >>> table.storage["age"], table.storage["sex"]
    ('integer', 'text')
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        *,
        source: str = "",
        options: ReadOptions | None = None,
        findings: Sequence[Finding] = (),
        labels: Mapping[str, Mapping[str, str]] | None = None,
        titles: Mapping[str, str] | None = None,
        missing: Mapping[str, tuple[str, ...]] | None = None,
        encoded: Mapping[str, Encoded] | None = None,
    ) -> None:
        if not isinstance(frame.index, pd.RangeIndex) or frame.index.start != 0 or frame.index.step != 1:
            frame = frame.reset_index(drop=True)
        self._frame = frame
        self._encoded: dict[str, Encoded] = dict(encoded or {})
        self.names: tuple[str, ...] = tuple(str(name) for name in frame.columns)
        self.n_rows = len(frame)
        self.storage: Mapping[str, str] = MappingProxyType(
            {name: storage_of(dtype) for name, dtype in zip(self.names, frame.dtypes, strict=True)}
        )
        self.source = source
        self.options = options if options is not None else ReadOptions()
        self.findings: tuple[Finding, ...] = tuple(findings)
        self.labels: Mapping[str, Mapping[str, str]] = MappingProxyType(dict(labels or {}))
        self.titles: Mapping[str, str] = MappingProxyType(dict(titles or {}))
        self.missing: Mapping[str, tuple[str, ...]] = MappingProxyType(dict(missing or {}))

    def rows(self) -> pd.DataFrame:
        """Return the private rows: the only door to them.

        Returns
        -------
        pandas.DataFrame
            A shallow copy: under copy-on-write, what the caller changes stays with the caller.
        """
        return self._frame.copy(deep=False)

    @property
    def heading(self) -> pd.DataFrame:
        """The columns without a row; an empty part of the frame would hold all of its memory."""
        return self._frame.take(np.empty(0, dtype=np.intp))

    def pieces(self, names: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Give the private rows of some columns piece by piece, as whatever holds them has them."""
        yield self.rows()[list(dict.fromkeys(names))]

    def tallied(self, names: Sequence[str]) -> Iterator[Tallied]:
        """Give the private rows of some columns piece by piece, each with how often it stands there.

        For who only adds up: what holds the rows may tell alike ones as one; None where each stands once.
        """
        for frame in self.pieces(names):
            yield frame, None

    def room(self, kind: type[np.generic]) -> npt.NDArray[Any]:
        """Return room for a number of some kind for every row."""
        return np.empty(self.n_rows, kind)

    def encoded(self, name: str) -> Encoded:
        """Return a text column by its distinct cells, which are looked for once. Private like the rows."""
        values = self.rows()[name]
        if name not in self._encoded:
            self._encoded[name] = Encoded.of(cells_of(values))
        return self._encoded[name]

    @property
    def encoded_columns(self) -> Mapping[str, Encoded]:
        """The columns of which the distinct cells are known already. Private like the rows."""
        self.rows()
        return MappingProxyType(self._encoded)

    @property
    def encodings(self) -> frozenset[str]:
        """Names of the columns of which the distinct cells are known already."""
        return frozenset(self._encoded)

    def with_rows(self, frame: pd.DataFrame, *, encoded: Mapping[str, Encoded] | None = None) -> Table:
        """Return a table of other rows or columns that came from the same place."""
        names = {str(name) for name in frame.columns}
        return Table(
            frame,
            source=self.source,
            options=self.options,
            findings=self.findings,
            labels=_only(self.labels, names),
            titles=_only(self.titles, names),
            missing=_only(self.missing, names),
            encoded=encoded,
        )

    def only(self, names: Collection[str]) -> Table:
        """Return the table with some of its columns; names that it does not have are passed over."""
        kept = [name for name in self.names if name in names]
        encoded = {name: one for name, one in self._encoded.items() if name in names}
        return self.with_rows(self._frame[kept], encoded=encoded)

    @staticmethod
    def joined(parts: list[Table]) -> Table:
        """Return the pieces of a table one below the other; the list is emptied, column by column freed.

        Examples
        --------
        >>> Table.joined([Table(pd.DataFrame({"a": [one]})) for one in (1, 2)]).rows()["a"].tolist()
        [1, 2]
        """
        first, n_rows = parts[0], sum(part.n_rows for part in parts)
        if len(parts) == 1:
            return first
        encodings = frozenset.intersection(*(part.encodings for part in parts))
        encoded = {name: Encoded.joined([part.encoded(name) for part in parts]) for name in encodings}
        findings = joined_findings(parts)
        frames = [part.rows() for part in parts]
        parts.clear()
        columns = {
            name: pd.concat([frame.pop(name) for frame in frames], ignore_index=True) for name in first.names
        }
        frame = pd.DataFrame(columns, index=pd.RangeIndex(n_rows), copy=False)
        joined = first.with_rows(frame, encoded=encoded)
        joined.findings = findings
        return joined

    def with_column(self, name: str, values: Any) -> Table:
        """Return the table with one column more, or another one in its place."""
        frame = self.rows()
        frame[name] = values
        return self.with_rows(frame, encoded={at: one for at, one in self._encoded.items() if at != name})

    def with_findings(self, findings: Iterable[Finding]) -> Table:
        """Return the table with more findings."""
        other = self.with_rows(self._frame, encoded=self._encoded)
        other.findings = (*self.findings, *findings)
        return other

    def __contains__(self, name: object) -> bool:
        return name in self.storage

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return f"Table(source={self.source!r}, rows={self.n_rows}, columns={list(self.names)!r})"

    def __getstate__(self) -> object:
        raise TypeError("a table is never serialised: its rows stay where they are")


class Held(Table):
    """A table whose rows are not in memory: who asks for all of them is refused."""

    tier: str = ""
    """What holds them, by a word of its own."""

    def rows(self) -> pd.DataFrame:
        """Refuse: there is no room for them."""
        raise InputRefused("reading.not_in_memory", file=self.source)

    def with_rows(self, frame: pd.DataFrame, *, encoded: Any = None) -> Table:
        """Refuse: what was made of the rows would be made of none."""
        raise InputRefused("reading.not_in_memory", file=self.source)

    def key_parts(self) -> Iterator[pa.ChunkedArray]:
        """Give the person keys of all rows piece by piece, each once in a piece."""
        raise NotImplementedError

    def count_people(self) -> tuple[int, int]:
        """Return how many people the table has, and how many rows that are nobody's."""
        raise NotImplementedError

    def most_rows(self) -> int:
        """Return how many of the rows that are used are one person's, at most."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go what holds the rows."""

    @property
    def about(self) -> dict[str, Any]:
        """What the internal evidence says of how the rows were held, as JSON values."""
        return {"held": self.tier}


def storage_of(dtype: object) -> str:
    """Return how a column is stored: ``integer``, ``number``, ``date`` or ``text``.

    Examples
    --------
    >>> storage_of(pd.Series([0.5]).dtype), storage_of(pd.Series(["a"]).dtype)
    ('number', 'text')
    """
    if pd.api.types.is_bool_dtype(dtype):  # type: ignore[arg-type]
        return TEXT
    if pd.api.types.is_integer_dtype(dtype):  # type: ignore[arg-type]
        return INTEGER
    if pd.api.types.is_float_dtype(dtype):  # type: ignore[arg-type]
        return NUMBER
    if pd.api.types.is_datetime64_any_dtype(dtype):  # type: ignore[arg-type]
        return DATE
    return TEXT


def joined_findings(parts: Sequence[Table]) -> tuple[Finding, ...]:
    """Return what was found in pieces of a table, each finding once; rows are counted within their file."""
    found: dict[object, Finding] = {}
    start = Counter[str]()
    for part in parts:
        for one in part.findings:
            key = (one.code, one.file, one.column, tuple(one.more.items()))
            rows = tuple(start[part.source] + row for row in one.rows)
            said = found.setdefault(key, replace(one, count=0, rows=()))
            found[key] = replace(said, count=said.count + one.count, rows=(*said.rows, *rows)[:ROWS_NAMED])
        start[part.source] += part.n_rows
    return tuple(found.values())


def _only(values: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in names}
