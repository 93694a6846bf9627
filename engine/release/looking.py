"""The table that a custodian looks at: all rows where memory holds them, else a sample of whole people.

A file, a folder of files with the same columns, or a table on a server. A sample is for the screens alone: no
release is made from it, and nothing that is counted in it is scaled up to the table. What values a column has
is said of all rows: of a server once it was asked for them, see `read_values`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from engine.errors import InputRefused
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress
from engine.release.plan import FileReference
from engine.release.reading import Sample, digest_of, digest_of_server, hash_unchanged, paths_of
from engine.release.served import SHARE, bytes_of_row, most_memory, rows_of
from engine.table.cells import cells_of, series_of
from engine.table.coding import texts_of
from engine.table.grouped import Asking, learn_forms
from engine.table.reading.detect import Detection
from engine.table.reading.duck import long_columns, table_of
from engine.table.reading.names import clean_names
from engine.table.reading.options import SERVER_ENDING, SERVER_FORMATS, Finding, ReadOptions
from engine.table.reading.readers import (
    detect,
    explain_file_errors,
    format_of,
    names_of,
    read_pieces,
    read_table,
)
from engine.table.reading.storage import store
from engine.table.reading.text import has_quote
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.server import Server
from engine.table.suggest.keys import key_candidates
from engine.table.suggest.suggest import Suggestion, suggest
from engine.table.table import INTEGER, NUMBER, Table
from engine.utility.sampled import most_that_fits

ROWS = 200_000
"""Rows of a sample, about: everything on the screens is quick with them."""
MOST_CELLS = 100_000
"""Different cells of a column that are kept of the whole table; of a column with more, none."""
_FIRST = 20_000


@dataclass(frozen=True)
class Part:
    """What a sample is of. Internal.

    Parameters
    ----------
    share
        Of the people.
    column
        Whose values are the people; empty where no column tells them apart, and every row has its own lot.
    rows
        Of the whole table.
    cells
        The different cells of each column in the whole table; a column with too many is absent.
    """

    share: Fraction
    column: str
    rows: int
    cells: Mapping[str, pd.Series] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Looked:
    """A table to look at, how it was read and what it is a part of; ``part`` is None for all of it.

    ``asked`` is what a server was asked for it, see `Server.about`.
    """

    detection: Detection
    table: Table
    digest: str
    part: Part | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)

    def suggestions(self, progress: Progress = SILENT) -> tuple[Suggestion, ...]:
        """Return how columns should be marked; what values they have is said of the whole table or not."""
        found = suggest(self.table, progress=progress)
        return (
            found
            if self.part is None
            else tuple(_of_all(one, self.part.cells, self.detection.options) for one in found)
        )


def look(
    reference: FileReference,
    *,
    key: str = "",
    base: Path = Path(),
    progress: Progress = SILENT,
    password: str | None = None,
) -> Looked:
    """Read a table to look at it.

    Parameters
    ----------
    reference
        Its file or folder.
    key
        Column that says whose a row is, where that is known; else the likeliest one tells people apart.
    base
        Folder that the path is relative to.
    password
        Of the user whom the file of a server names.

    Raises
    ------
    InputRefused
        Whatever the reader or `Server` refuses; ``reading.other_columns``: files of a folder have other
        columns.
    """
    paths = paths_of(reference, base)
    options = ReadOptions.from_json(reference.options, file=paths[0].name)
    if paths[0].suffix.lower() == SERVER_ENDING:
        return _look_at_server(paths[0], options, key, password, progress)
    detection = _detect(paths, options)
    sizes = [rows_of(path, detection.options) for path in paths]
    rows = sum(filter(None, sizes))
    fits = None in sizes or rows * bytes_of_row(len(detection.names)) <= most_memory()
    if not fits or len(paths) > 1:
        return _look_at_pieces(paths, detection, None if fits else rows, key, progress)
    with hash_unchanged(paths[0]) as digest:
        table = read_table(paths[0], options=options, progress=progress)
    # Whether cells run over several lines is known when all were read.
    known = replace(detection.options, multiline=table.options.multiline)
    return Looked(replace(detection, options=known), table, digest)


def _detect(paths: Sequence[Path], options: ReadOptions) -> Detection:
    """Find out how the first file is written; of many, or of a large one, whether each line is a row."""
    with explain_file_errors(paths[0]):
        kind = options.format or format_of(paths[0])
    given = replace(options, format=kind)
    if kind == "parquet":  # says of itself what others are read for
        names = names_of(paths[0], options=given)
        return Detection(given, names=names, width=len(names))
    found = detect(paths[0], options=given)
    is_large = len(paths) > 1 or paths[0].stat().st_size > most_memory() // SHARE
    if kind == "text" and found.options.multiline is None and is_large and not has_quote(paths[0], found):
        found = replace(found, options=replace(found.options, multiline=False))
    return found


def _look_at_pieces(
    paths: Sequence[Path], detection: Detection, rows: int | None, key: str, progress: Progress
) -> Looked:
    """Read files some rows at a time; of more rows than fit, where their number is given, keep a sample."""
    names = clean_names(detection.names, detection.width, paths[0].name)[0]
    written = Schema(tuple(Column(name, kind=Kind.TEXT) for name in names))
    is_text = detection.options.format == "text"
    kept, digests, read, cells = list[Table](), list[str](), 0, _Cells()
    sample = None if rows is None else Sample.drawn(most_that_fits(rows, min(ROWS, rows)))
    for place, path in enumerate(paths):
        share = progress.part(place / len(paths), (place + 1) / len(paths))
        options = detection.options if is_text else replace(detection.options, format=None)
        with hash_unchanged(path) as digest:
            for piece in read_pieces(
                path, options=options, schema=written if is_text else None, progress=share
            ):
                if kept and set(piece.names) != set(kept[0].names):
                    raise InputRefused("reading.other_columns", file=path.name, first=paths[0].name)
                if sample is not None:
                    key = key if kept or key in piece else _likeliest_key(piece, detection.options)
                    cells.add(piece)
                read += piece.n_rows
                kept.append(piece if sample is None else _of_sample(piece, key, sample))
        digests.append(digest)
    file = paths[0].name if len(paths) == 1 else paths[0].parent.name
    table = _stored(Table.joined(_alike(kept)), detection.options, file)
    part = None if sample is None else Part(sample.share, key, read, cells.found)
    return Looked(detection, table, digest_of(digests), part)


def _look_at_server(
    path: Path, options: ReadOptions, key: str, password: str | None, progress: Progress
) -> Looked:
    """Fetch the rows of a table on a server; of more than a sample has, those of some whole people."""
    options = replace(options, format=SERVER_FORMATS[0])
    with _connected(path, password, progress) as (server, file):
        progress.step(0.1, "server.sample")
        names, long = tuple(server.cells), long_columns(server, tuple(server.cells))
        asking = Asking(server, Schema(), Schema(), Schema(), (), (), Path(), options, names, long)
        told, share = asking.told(), None
        if server.rows > ROWS:
            share = most_that_fits(server.rows, ROWS)
            if key not in names:
                key = _likeliest_key(_fetch(asking, server.first(told, _FIRST)), options)
            told = _told_of_sample(asking, server, key, share)
        table = _fetch(asking, told)
        progress.step(0.7, "server.content")
        digest = digest_of_server(file, server.content)
    part = None if share is None else Part(share, key, server.rows)
    table = table.with_findings(server.found)
    detection = Detection(options, names=names, width=len(names))
    return Looked(detection, table, digest, part, server.about)


@contextmanager
def _connected(path: Path, password: str | None, progress: Progress) -> Iterator[tuple[Server, str]]:
    """Give a server to a block that Stop ends, and the digest of the file that names it."""
    progress.step(0.0, "server.connecting")
    with (
        hash_unchanged(path) as digest,
        closing(Server(path, password, progress)) as server,
        server.stopped_by(progress),
    ):
        yield server, digest


def _told_of_sample(asking: Asking, server: Server, key: str, share: Fraction) -> str:
    """Return the query for the rows of a share of the people, or of a share of the rows without a key."""
    cells = ", ".join(f"c{place}" for place in range(len(asking.used)))
    if not key:
        return f"SELECT {cells} FROM ({asking.told()}) told WHERE {server.chance(share)}"
    keyed = learn_forms(replace(asking, declared=Schema((Column(key, Role.PERSON_KEY, Kind.TEXT),))))
    lot = asking.grouper.lot(Noise().random_keys(2).tolist(), ["p"])
    most = int(share * (1 << 64)) - (1 << 63)  # lots are whole numbers of 64 bits
    return f"SELECT {cells} FROM ({keyed.told()}) told WHERE p IS NOT NULL AND {lot} < {most}"


def _fetch(asking: Asking, sql: str) -> Table:
    """Return the rows that a query tells."""
    batches = [cells for cells, _ in asking.grouper.answers(sql, asking.used, 0)]
    columns = [
        pa.concat_arrays([pa.array([], asking.grouper.kinds[name]), *(one[place] for one in batches)])
        for place, name in enumerate(asking.used)
    ]
    return table_of(asking.used, columns, asking.long, options=asking.options, file=asking.grouper.file)


def read_values(
    reference: FileReference,
    looked: Looked,
    *,
    base: Path = Path(),
    password: str | None = None,
    progress: Progress = SILENT,
) -> Looked:
    """Return a sample of a table on a server with the different cells of each column of all its rows.

    Raises
    ------
    InputRefused
        Whatever `Server` refuses; ``reading.not_as_seen``: rows have changed since the sample was drawn.
    """
    (path,) = paths_of(reference, base)
    assert looked.part is not None, "of a table that is all here, all values are"
    found = dict[str, pd.Series]()
    with _connected(path, password, progress) as (server, file):
        if digest_of_server(file, server.content) != looked.digest:
            raise InputRefused("reading.not_as_seen", file=path.name)
        options, names = looked.detection.options, tuple(server.cells)
        long = long_columns(server, names)
        for place, name in enumerate(names):
            progress.step(place / len(names), "server.values")
            asking = Asking(server, Schema(), Schema(), Schema(), (), (), Path(), options, (name,), long)
            different = f"SELECT DISTINCT {server.cells[name]} AS c0 FROM {server.source}"
            values = _fetch(asking, server.first(different, MOST_CELLS + 1)).rows()[name].dropna()
            if len(values) <= MOST_CELLS:
                found[name] = values
        server.confirm()
    return replace(looked, part=replace(looked.part, cells=found), asked=server.about)


def _likeliest_key(piece: Table, options: ReadOptions) -> str:
    """Return the column that tells people apart, as the first rows show it; empty where none does."""
    first = _stored(piece.with_rows(piece.rows().head(_FIRST)), options)
    found = key_candidates(first, suggest(first))
    return found[0].column if found else ""


def _of_sample(piece: Table, key: str, sample: Sample) -> Table:
    if key:
        return sample.of(piece, Schema((Column(key, Role.PERSON_KEY, Kind.TEXT),)))
    return piece.with_rows(piece.rows()[Noise().bernoulli(sample.share, piece.n_rows)])


class _Cells:
    """The different cells of each column, of as many as are kept."""

    def __init__(self) -> None:
        self.found: dict[str, pd.Series] = {}
        self._many: set[str] = set()

    def add(self, piece: Table) -> None:
        """Add those of some rows."""
        frame = piece.rows()
        for name in set(piece.names) - self._many:
            own = frame[name].dropna().drop_duplicates()
            known = pd.concat([self.found[name], own]).drop_duplicates() if name in self.found else own
            self.found[name] = known
            if len(known) > MOST_CELLS:
                self._many.add(name)
                del self.found[name]


def _alike(parts: list[Table]) -> list[Table]:
    """Return pieces that store each column alike: as text, where files differ in more than whole numbers."""
    kinds = {name: {part.storage[name] for part in parts} for name in parts[0].names}
    for name, stored in kinds.items():
        if len(stored) > 1 and not stored <= {INTEGER, NUMBER}:
            parts = [
                part.with_column(name, series_of(pa.array(texts_of(part.rows()[name])))) for part in parts
            ]
    return parts


def _stored(table: Table, options: ReadOptions, file: str = "") -> Table:
    """Return a table of text with each column stored by all of its cells, as one file is when it is read.

    What is noticed in them is noticed in ``file``, be it a folder.
    """
    if options.format != "text":
        return table
    frame, noticed = table.rows(), list[Finding]()
    for name in table.names:
        stored = store(cells_of(frame[name]), name, options=options, file=file or table.source)
        frame[name] = stored.values.reset_index(drop=True)
        noticed += [replace(one, rows=()) for one in stored.findings]  # of which file would they be?
    return table.with_rows(frame).with_findings(noticed)


def _of_all(suggestion: Suggestion, cells: Mapping[str, pd.Series], options: ReadOptions) -> Suggestion:
    """Return a suggestion whose values are those of the whole table, or none where these are not known."""
    name = suggestion.column
    if suggestion.domain is None:
        return suggestion
    if name in cells:
        several = pd.concat([cells[name]] * 5, ignore_index=True)  # what is only once is no category
        (found,) = suggest(_stored(Table(pd.DataFrame({name: several})), options))
        if found.kind is suggestion.kind and found.domain is not None:
            return replace(suggestion, domain=found.domain, proposals=found.proposals)
    return replace(suggestion, domain=None, domain_origin=None, proposals=())
