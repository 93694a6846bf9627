"""From the files that a plan names to the table that a method gets: read, check, prepare, cap, filter.

Everything that can be refused is refused here on names and declarations, before anything is reserved. What is
odd about rows becomes a finding, never a refusal: whether a release exists must not tell about one row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from engine import arrays
from engine.errors import InputRefused
from engine.memory import give_back
from engine.methods.catalogue import method as find_method
from engine.methods.protocol import MAIN, Method, Service, SlotOf, Source
from engine.once import once
from engine.privacy import contribution
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress
from engine.release.plan import FileReference, Plan
from engine.table.cells import cells_of
from engine.table.declared import as_declared, codes_read, keys_as_declared, people_of
from engine.table.encoded import Gathering
from engine.table.fingerprint import Fingerprints, Tracing
from engine.table.grouped import Asking, Grouped, Grouper, NotGrouped, look
from engine.table.preparation import prepare as preparation
from engine.table.preparation.steps import check as check_steps
from engine.table.preparation.steps import columns_of
from engine.table.reading import shape
from engine.table.reading.duck import Duck
from engine.table.reading.names import clean_names
from engine.table.reading.options import SERVER_FORMATS, Finding, ReadOptions, can_decode
from engine.table.reading.readers import SUFFIXES, detect, names_of, read_pieces, read_table
from engine.table.reading.text import has_quote
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.server import Server
from engine.table.stored import Store, Stored
from engine.table.table import TEXT, Held, Table

NOT_FOUND = "preparation.people_not_found"
_TYPED = frozenset(ending for ending, kind in SUFFIXES.items() if kind not in ("text", "excel", "duckdb"))
# All that a reader would find out from the rows.
# What a plan leaves out of ``multiline`` is said by `options_of_reading`.
_MUST_SAY = {
    "text": tuple(option.name for option in fields(ReadOptions) if option.name not in ("sheet", "missing")),
    "excel": ("sheet", "header", "date_order", "width"),
    "duckdb": ("sheet",),
}


@dataclass(frozen=True)
class PreparedTable:
    """The custodian's table as the plan prepares it, before anything is drawn. Internal.

    ``table`` has every row, ``schema`` declares it after the steps, ``options`` say how it was read;
    ``filters`` are the recorded conditions that are applied after the cap. ``fingerprints`` and ``columns``
    are of the table as it was read: by them the ledger knows it again, whatever was prepared.
    """

    table: Table
    schema: Schema
    filters: tuple[Mapping[str, object], ...]
    file: str
    sha256: str
    rows_read: int
    fingerprints: Fingerprints
    columns: tuple[str, ...]
    options: ReadOptions = field(default_factory=ReadOptions)

    @once
    def people(self) -> npt.NDArray[np.int32] | None:
        """A number for each row's person, see `people_of`; None without a person key, or without its rows."""
        key = self.schema.person_key
        return None if key is None or isinstance(self.table, Held) else people_of(self.table, key).places

    def count_people(self) -> dict[str, int]:
        """Return how many people there are, and how many rows that are nobody's; nothing without a key."""
        if self.schema.person_key is None:
            return {}
        if isinstance(self.table, Held):
            people, nobody = self.table.count_people()
        else:
            assert self.people is not None
            people, nobody = int(self.people.max(initial=-1)) + 1, int((self.people < 0).sum())
        return {"people": people, "rows_without_key": nobody}


def read(
    plan: Plan,
    *,
    source: str = MAIN,
    base: Path = Path(),
    progress: Progress = SILENT,
    columns: frozenset[str] | None = None,
    store: Store | None = None,
    grouped: bool = False,
    password: str | None = None,
    sample: Sample | None = None,
) -> PreparedTable:
    """Read one source of a plan and apply the recorded steps that change no number of rows.

    Parameters
    ----------
    plan
        With a file for the source.
    source
        Its name. Several files (``source``, ``source.2`` …) are read one after the other.
    base
        Folder that the plan's paths are relative to.
    columns
        Columns of the file to keep, see `columns_used`; None for all. By the others the ledger knows the
        table again, and no cell of them is kept.
    store
        Where the rows go instead of into memory.
    grouped
        Whether the files are asked for groups of cells instead, see `engine.table.grouped`; where they cannot
        be, the rows go to the store all the same.
    password
        Of the user whom the file of a server names.
    sample
        Whose rows are kept. By those of all others the ledger knows the table again, and no cell is kept.

    Notes
    -----
    Text is kept as written and understood by the declared kinds, each cell on its own
    (`engine.table.declared`): no row decides what another one means. A table without rows is read as such.

    Raises
    ------
    InputRefused
        ``reading.no_file``, ``reading.column_missing``, or whatever the reader or the preparation refuses.
    """
    references = plan.files_of(source)
    if not references:
        raise InputRefused("reading.no_file")
    declared, steps = plan.schemas.get(source, Schema()), plan.steps_of(source)
    traced, parts, digests, names = Tracing(), list[Table](), list[str](), list[tuple[str, ...]]()
    changes, filters = preparation.split(steps)
    first, rows, coded = ReadOptions(), 0, codes_read(declared, ReadOptions())
    # in memory all pieces share one list of keys; on the disk no list grows with the table
    gathering = Gathering() if store is None and sample is None else None
    files = [(one, path) for one in references for path in paths_of(one, base)]
    if grouped and store is not None:
        with suppress(NotGrouped):
            return _read_grouped(plan, source, base, files, store, password)
    for reference, path in files:
        with hash_unchanged(path) as digest:
            for raw in _as_written(path, options_of_reading(reference), declared, progress):
                give_back()
                for name in _needed(steps, declared):
                    if name not in raw:
                        raise InputRefused("reading.column_missing", file=path.name, column=name)
                key = declared.person_key
                gathered = {}
                _encode_levels(raw, declared, columns)
                if (
                    key is not None
                    and key.name in raw
                    and isinstance(raw.rows()[key.name].dtype, pd.StringDtype)
                ):
                    # the longest column to look through: once for all that follows
                    if gathering is None:
                        raw.encoded(key.name)
                    else:
                        gathered = {key.name: gathering.add(cells_of(raw.rows()[key.name]))}
                traced.add(raw, gathered=gathered)
                if not names:
                    first, coded = raw.options, codes_read(declared, raw.options)
                elif set(raw.names) != set(names[0]):  # files of one name may lie in several folders
                    raise InputRefused("reading.other_columns", file=path.name, first=files[0][1].name)
                names.append(raw.names)
                rows += raw.n_rows
                if sample is not None:
                    raw = sample.of(raw, declared)
                part = as_declared(raw if columns is None else raw.only(columns), declared, later=gathered)
                if gathering is not None and key is not None and key.name in part and not gathered:
                    gathering.add(cells_of(part.rows()[key.name]))
                if store is None:
                    parts.append(part)
                else:
                    part, _ = preparation.prepare(part, changes, coded, base=base)
                    store.add(part, preparation.mask(part, filters, plan.prepared(source)))
        digests.append(digest)
    _refuse_unpinned(files, digests)
    if store is None:
        keys = None if gathering is None or declared.person_key is None else gathering.found()
        joined = Table.joined(parts)
        give_back()
        if keys is not None and declared.person_key is not None and declared.person_key.name in joined:
            joined = keys_as_declared(joined, declared.person_key, keys)
        table, _ = preparation.prepare(joined, changes, coded, base=base)
        if sample is not None:  # who is not in the sample may be in the table
            table.findings = tuple(one for one in table.findings if one.code != NOT_FOUND)
    else:
        table = Stored(store)
        if declared.person_key is not None:
            store.gather_people()  # while nothing is spent: the disk may be full
    return PreparedTable(
        table,
        plan.prepared(source),
        tuple(filters),
        ", ".join(Path(reference.path).name for reference in references),
        digest_of(digests),
        rows_read=rows,
        fingerprints=traced.found(),
        columns=names[0],
        options=first,
    )


def _encode_levels(raw: Table, declared: Schema, columns: frozenset[str] | None) -> None:
    """Look for the distinct cells of the columns with levels, once for fingerprints, codes and measures."""
    for name in raw.names:
        if columns is not None and name not in columns:
            continue
        if declared.column(name).kind in (Kind.CATEGORY, Kind.ORDINAL) and raw.storage[name] == TEXT:
            raw.encoded(name)


def _read_grouped(
    plan: Plan,
    source: str,
    base: Path,
    files: Sequence[tuple[FileReference, Path]],
    store: Store,
    password: str | None,
) -> PreparedTable:
    """Read every distinct cell of a source, and leave it to DuckDB or to a server to group them.

    Raises
    ------
    NotGrouped
        DuckDB cannot read all that this program reads of the files, or tells cells apart in another way.
    InputRefused
        ``server.not_grouped``: a server does. Or what `Server` refuses.
    """
    declared, paths = plan.schemas.get(source, Schema()), [path for _, path in files]
    changes, filters = preparation.split(plan.steps_of(source))
    options = options_of_reading(files[0][0])
    with ExitStack() as held, _told_apart(options, paths[0]):
        digests = [held.enter_context(hash_unchanged(path)) for path in paths]
        _refuse_unpinned(files, digests)
        grouper = _open_grouper(paths, options, store, password)
        at_fault = held.enter_context(ExitStack())
        at_fault.callback(grouper.close)
        for name in _needed(plan.steps_of(source), declared):
            if name not in grouper.cells:
                raise InputRefused("reading.column_missing", file=grouper.file, column=name)
        prepared, coded = plan.prepared(source), codes_read(declared, options)
        asking = Asking(grouper, declared, coded, prepared, changes, filters, base, options, ())
        raw = frozenset(asking.needed(store.columns, tuple(grouper.cells))[0])
        asking = replace(asking, used=tuple(name for name in grouper.cells if name in raw))
        asking, fingerprints, findings = look(asking)
        at_fault.pop_all()  # it is asked until the release is made
    table = Grouped(asking)
    table.findings = findings
    return PreparedTable(
        table,
        plan.prepared(source),
        filters,
        ", ".join(Path(reference.path).name for reference in plan.files_of(source)),
        digest_of(digests),
        rows_read=grouper.rows,
        fingerprints=fingerprints,
        columns=tuple(grouper.cells),
        options=options,
    )


def _open_grouper(paths: Sequence[Path], options: ReadOptions, store: Store, password: str | None) -> Grouper:
    if options.format in SERVER_FORMATS:
        return Server(paths[0], password)
    is_database = options.format == "duckdb"
    duck = Duck(paths, is_database=is_database, relation=options.sheet, temporary=store.folder)
    states = [_state(path) for path in paths]
    duck.after = lambda: _refuse_other(paths, states)
    return duck


@contextmanager
def _told_apart(options: ReadOptions, path: Path) -> Iterator[None]:
    """Say that files go to the store instead, or that there is nothing instead of a server."""
    try:
        yield
    except NotGrouped as error:
        if options.format in SERVER_FORMATS:
            raise InputRefused("server.not_grouped", file=path.name) from error
        raise
    except InputRefused as error:
        if error.code == "table.duck_failed":
            raise NotGrouped from error  # a cell that it cannot read is read all the same
        raise


def _refuse_other(paths: Sequence[Path], states: Sequence[tuple[int, ...]]) -> None:
    """Refuse files that are no longer as they were."""
    for path, state in zip(paths, states, strict=True):
        if _state(path) != state:
            raise InputRefused("reading.changed", file=path.name)


def columns_used(plan: Plan, design: Method, source: str) -> frozenset[str] | None:
    """Return the columns of a source that a release and all that is said of it look at; None for all.

    Those with a part in the release, those of steps and conditions, and whatever is marked as more than an
    other column: what is known of people, is sensitive, weighs or names them. Where no column tells people
    apart and nothing bounds what is lost, every column may deny that each row is a person of its own.
    """
    schema = plan.schemas.get(source, Schema())
    if source not in design.request.private or (schema.person_key is None and design.cost.loss is None):
        return None
    looked = {step.get(name) for step in plan.steps_of(source) for name in ("column", "date_column", "to")}
    marked = {column.name for column in schema.columns if column.role not in (Role.OTHER, Role.DROPPED)}
    return frozenset({*design.uses.get(source, ()), *marked, *filter(None, looked)})


@dataclass(frozen=True)
class Sample:
    """A sample of whole people: everybody has a lot of their own, and all rows of a person go the same way.

    Parameters
    ----------
    share
        Of the people.
    secret
        By which the lots fall, see `contribution.keep_people`.
    """

    share: Fraction
    secret: bytes

    @staticmethod
    def drawn(share: Fraction | None) -> Sample | None:
        """Return a sample of its own for what is only looked at; None where everybody is wished for."""
        return None if share is None else Sample(share, Noise().random_keys(4).tobytes())

    def of(self, table: Table, schema: Schema) -> Table:
        """Return the rows of those who are in it; rows that are nobody's are in none."""
        key = schema.person_key
        assert key is not None, "a sample of people whom nothing tells apart"
        people = people_of(table, key)
        chosen = contribution.keep_people(people.distinct.to_pylist(), share=self.share, secret=self.secret)
        return table.with_rows(table.rows()[np.append(chosen, False)[people.places]])


def refuse_sample(design: Method) -> None:
    """Refuse a sample where nothing tells people apart, and for what is compared with its other releases.

    Raises
    ------
    InputRefused
        ``plan.sample_reads_nobody``, ``plan.sample_compared`` or ``plan.sample_without_key``.
    """
    request = design.request
    if not request.private:
        raise InputRefused("plan.sample_reads_nobody", method=design.id)
    if design.compares or isinstance(design, Service):
        raise InputRefused("plan.sample_compared", method=design.id)
    if any(request.schemas[name].person_key is None for name in request.private if name in request.schemas):
        raise InputRefused("plan.sample_without_key")


def digest_of(parts: Sequence[str]) -> str:
    """Return the digest that names several files, from theirs; that of one is its own."""
    return parts[0] if len(parts) == 1 else hashlib.sha256("".join(sorted(parts)).encode()).hexdigest()


def _refuse_unpinned(files: Sequence[tuple[FileReference, Path]], digests: Sequence[str]) -> None:
    """Refuse files with another content than the plan pins.

    Raises
    ------
    InputRefused
        ``reading.not_as_pinned``.
    """
    for reference, path in files:
        parts = [digest for (one, _), digest in zip(files, digests, strict=True) if one is reference]
        if reference.sha256 and digest_of(parts) != reference.sha256:
            raise InputRefused("reading.not_as_pinned", file=path.name)


def digest_of_server(file: str, content: str) -> str:
    """Return the digest of a table on a server: of the file that names it, and of what its rows are now."""
    return hashlib.sha256(f"{file}/{content}".encode()).hexdigest()


def refuse_unseen(plan: Plan, prepared: Mapping[str, PreparedTable], seen: Mapping[str, str]) -> None:
    """Refuse files with another content than a person has looked at.

    Parameters
    ----------
    seen
        SHA-256 of files when they were looked at, by their paths as the plan names them. That of a table on
        a server is of its file and of its rows, see `digest_of_server`.

    Raises
    ------
    InputRefused
        ``reading.not_as_seen``.
    """
    for source, one in prepared.items():
        looked = [seen[file.path] for file in plan.files_of(source) if file.path in seen]
        if not looked or len(looked) != len(plan.files_of(source)):
            continue
        content = one.table.content if isinstance(one.table, Grouped) else ""
        if digest_of(looked) != (digest_of_server(one.sha256, content) if content else one.sha256):
            raise InputRefused("reading.not_as_seen", file=one.file)


def read_all(
    plan: Plan,
    sources: Sequence[Source],
    *,
    base: Path = Path(),
    progress: Progress = SILENT,
    design: Method | None = None,
    stores: Mapping[str, Store] = MappingProxyType({}),
    grouped: Collection[str] = (),
    password: str | None = None,
    sample: Sample | None = None,
) -> dict[str, PreparedTable]:
    """Read every source that a method declares, by its name; one that is not required may be absent.

    With a design only the columns are kept that it uses. Rows of a source that has a store go there, unless
    it is one of those that are ``grouped``. A sample is of the tables of people, the same people in all of
    them.

    Raises
    ------
    InputRefused
        As `read`; ``reading.changed``: a file of a source is another one, or was added, before all were read.
    """
    wanted = [source for source in sources if source.required or plan.files_of(source.name)]
    before = _states_of(plan, wanted, base)
    found = {
        source.name: read(
            plan,
            source=source.name,
            base=base,
            progress=progress.part(place / len(wanted), (place + 1) / len(wanted)),
            columns=None if design is None else columns_used(plan, design, source.name),
            store=stores.get(source.name),
            grouped=source.name in grouped,
            password=password,
            sample=sample if source.shape.is_private else None,
        )
        for place, source in enumerate(wanted)
    }
    after = _states_of(plan, wanted, base)
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            let_go(found)
            raise InputRefused("reading.changed", file=path.name)
    give_back()  # the text as it was written is gone
    return found


def _states_of(plan: Plan, sources: Iterable[Source], base: Path) -> dict[Path, tuple[int, ...]]:
    """Return every file of some sources as it is now.

    Each file is unchanged while it is read; a row that moves from one to the other meanwhile would be read
    twice or not at all.
    """
    references = (one for source in sources for one in plan.files_of(source.name))
    return {path: _state(path) for one in references for path in paths_of(one, base)}


def confirm(prepared: Mapping[str, PreparedTable]) -> None:
    """Refuse rows that have changed on a server between the queries of a release, before anything leaves.

    Raises
    ------
    InputRefused
        ``server.changed``, or whatever a last query refuses.
    """
    for one in prepared.values():
        if isinstance(one.table, Grouped):
            one.table.confirm()


def let_go(prepared: Mapping[str, PreparedTable]) -> None:
    """Close the files of what is not held in memory: nobody asks it any more."""
    for one in prepared.values():
        if isinstance(one.table, Held):
            one.table.close()


def options_of_reading(reference: FileReference) -> ReadOptions:
    """Return what a plan says about reading a file; the format follows from its name where it is not said.

    A plan that does not say whether cells run over several lines has none that do: every line is a row.

    Raises
    ------
    InputRefused
        ``table.bad_option``.
    """
    options = ReadOptions.from_json(reference.options, file=Path(reference.path).name)
    promised = SUFFIXES.get(Path(reference.path).suffix.lower(), "text")
    options = replace(options, format=options.format or promised)
    if options.format == "text" and options.multiline is None:
        options = replace(options, multiline=False)
    return options


def paths_of(reference: FileReference, base: Path) -> list[Path]:
    """Return the files of a reference: its own, or by their names all tables that lie in its folder.

    Raises
    ------
    InputRefused
        ``reading.empty_folder``: no table lies in it; ``reading.not_readable``.
    """
    path = base / reference.path
    try:
        if not path.is_dir():
            return [path]
        there = sorted(one for one in path.iterdir() if not one.name.startswith((".", "_")))
    except ValueError:  # no file can have such a name
        return [path]
    except OSError as error:
        reason = error.strerror or ""
        raise InputRefused("reading.not_readable", file=path.name[:100], reason=reason) from error
    found = [one for one in there if one.suffix.lower() in SUFFIXES and one.is_file()]
    if not found:
        raise InputRefused("reading.empty_folder", file=path.name, known=", ".join(SUFFIXES))
    return found


def refuse_open(plan: Plan, sources: Sequence[Source]) -> None:
    """Refuse a plan that leaves to its rows how they are read.

    Raises
    ------
    InputRefused
        ``reading.no_file``; ``reading.options_open``: names the options that are not said. `pin_reading` says
        them all. ``table.unknown_encoding`` and ``table.bad_option``: no file can be read like that.
    """
    names = [source.name for source in sources]
    for source in sources:
        if source.required and not plan.files_of(source.name):
            raise InputRefused("reading.no_file")
    for reference in (file for name in names for file in plan.files_of(name)):
        if not reference.path or "\0" in reference.path:
            raise InputRefused("reading.no_file")
        options = options_of_reading(reference)
        _refuse_impossible(options, Path(reference.path).name)
        must = _MUST_SAY.get(str(options.format), ())
        is_open = [name for name in must if getattr(options, name) is None]
        if is_open:
            name = Path(reference.path).name
            raise InputRefused("reading.options_open", file=name, options=", ".join(is_open))


def _refuse_impossible(options: ReadOptions, file: str) -> None:
    """Refuse an encoding that nobody knows, and marks that could not be told from one another."""
    if not can_decode(options.encoding or "utf-8"):
        raise InputRefused("table.unknown_encoding", file=file, found=str(options.encoding)[:100])
    marks = [options.delimiter or ",", options.quote or "", options.escape or ""]
    given = [mark for mark in marks if mark]
    numbers = {options.decimal or ".", options.thousands or ""}
    whole = len(set(given)) == len(given) and not set(given) & set("\r\n\0") and len(numbers) == 2
    if not whole:
        raise InputRefused(
            "table.bad_option", file=file, option="delimiter", known=", ".join(_MUST_SAY["text"])
        )


def contradictions(plan: Plan, base: Path) -> list[InputRefused]:
    """Return what contradicts the files of a plan: options that their first rows do not bear out.

    Notes
    -----
    For checking a plan, on the custodian's screen; a run asks nothing that depends on a row.
    """
    problems: list[InputRefused] = []
    for source, reference in plan.files.items():
        try:
            schema, path = plan.schemas.get(source), paths_of(reference, base)[0]
            options = options_of_reading(reference)
            if options.format in SERVER_FORMATS or not can_decode(options.encoding or "utf-8"):
                continue  # nobody is asked before the run; or refused with the plan
            said = shape.contradictions(path, options_of_reading(reference), schema)
            problems += said or _absent(plan, source, path)
        except InputRefused as error:
            problems.append(error)
    for step in plan.preparation:
        try:
            if isinstance(step.get("file"), str):
                file_hash(base / step["file"])
        except InputRefused as error:
            problems.append(error)
    return problems


def _absent(plan: Plan, source: str, path: Path) -> list[InputRefused]:
    """Name the first column that a file does not have, or has although a step makes it."""
    reference = plan.files[source]
    try:
        plan.prepared(source)
    except InputRefused:
        return []  # what is wrong with a step is said of the plan
    names = names_of(path, options=options_of_reading(reference))
    steps, schema = plan.steps_of(source), plan.schemas.get(source, Schema())
    for name in _needed(steps, schema):
        if name not in names:
            return [InputRefused("reading.column_missing", file=path.name, column=name)]
    try:
        check_steps(steps, schema, columns=names)
    except InputRefused as error:
        return [error]
    return []


def pin_reading(plan: Plan, *, base: Path = Path()) -> Plan:
    """Return the plan with every reading option said, as it is found in the file now.

    Notes
    -----
    What is found out anew in every run follows from the rows of that run: a decimal mark, an encoding or the
    order of dates must not change because one person's row came. A plan that says them all reads every cell
    on its own.

    Raises
    ------
    InputRefused
        ``reading.no_file``, or whatever the reader refuses.
    """
    if not plan.files:
        raise InputRefused("reading.no_file")
    for name, reference in plan.files.items():
        path = paths_of(reference, base)[0]
        options = ReadOptions.from_json(reference.options, file=path.name)
        if path.suffix.lower() not in _TYPED:
            plan = pin_options(plan, _found_out(path, options), name=name)
        elif path != base / reference.path:
            plan = pin_options(plan, replace(options, format=SUFFIXES[path.suffix.lower()]), name=name)
    return plan


def _found_out(path: Path, options: ReadOptions) -> ReadOptions:
    """Return every reading option as it is in a file; where its beginning cannot tell, all of it is read."""
    looked = detect(path, options=options)
    found = looked.options
    if found.format == "duckdb":
        return found
    if found.format == "text" and found.multiline is None and not has_quote(path, looked):
        return replace(found, multiline=False)
    if (found.multiline if found.format == "text" else found.width) is None:
        return read_table(path, options=found).options
    return found


def pin_beside(plan: Plan, *, base: Path = Path()) -> Plan:
    """Return the plan with the digests of what is read beside the private tables.

    Those are its lists, of people who objected, of codes and what they become, and files whose rows are not
    the custodian's people: a population, what was received. What a second person approves is made with these
    very files; private tables are known by their fingerprints in the ledger, and no digest of one is carried.
    One that cannot be read stays as it is: whoever reads it says why.
    """
    steps, files = list(plan.preparation), dict(plan.files)
    for place, step in enumerate(steps):
        if isinstance(step.get("file"), str) and "sha256" not in step:
            with suppress(InputRefused):
                steps[place] = {**step, "sha256": file_hash(base / step["file"])}
    with suppress(InputRefused):
        public = {one.name for one in find_method(plan.method).reads(plan.step) if not one.shape.is_private}
        for name, file in plan.files.items():
            if name.partition(".")[0] in public and not file.sha256:
                with suppress(InputRefused):
                    digest = digest_of([file_hash(path) for path in paths_of(file, base)])
                    files[name] = replace(file, sha256=digest)
    return replace(plan, preparation=tuple(steps), files=files)


def pin_options(plan: Plan, options: ReadOptions, *, name: str = MAIN) -> Plan:
    """Return the plan with the reading options that were found when the custodian looked at a table."""
    reference = plan.files[name]
    if Path(reference.path).suffix.lower() not in _TYPED:
        # Where no cell tells the order of day and month now, none shall tell it later.
        options = replace(options, date_order=options.date_order or "ymd")
    said = FileReference(reference.path, options.to_json())
    return replace(plan, files={**plan.files, name: said})


def _as_written(path: Path, options: ReadOptions, schema: Schema, progress: Progress) -> Iterator[Table]:
    """Read the table with every cell as it is written, in pieces; a table without rows is a table too."""
    found = None
    try:
        if path.suffix.lower() not in _TYPED:
            found = detect(path, options=options)
    except InputRefused:
        pass  # the reader says it again
    names = [] if found is None else clean_names(found.names, found.width, path.name)[0]
    text = Schema(tuple(Column(name, kind=Kind.TEXT) for name in names))
    try:
        yield from read_pieces(path, options=options, schema=text, progress=progress)
    except InputRefused as error:
        bare = options.header is False and options.width is not None
        if error.code != "table.no_rows" and not (error.code == "table.empty_file" and bare):
            raise
        if bare and not names:
            names = clean_names((), options.width or 0, path.name)[0]
        names = names or [column.name for column in schema.columns if column.role is not Role.DROPPED]
        columns = {name: pd.Series([], dtype="str") for name in names}
        notes = (Finding("table.no_rows", path.name),)
        yield Table(pd.DataFrame(columns), source=path.name, options=options, findings=notes)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal, or refuse in words."""
    try:
        if path.exists() and not path.is_file():
            raise InputRefused("table.folder" if path.is_dir() else "table.no_regular_file", file=path.name)
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, ValueError) as error:  # no file can have such a name
        raise InputRefused("reading.not_there", file=path.name[:100]) from error
    except OSError as error:
        raise InputRefused(
            "reading.not_readable", file=path.name[:100], reason=error.strerror or ""
        ) from error


@contextmanager
def hash_unchanged(path: Path) -> Iterator[str]:
    """Give the SHA-256 of a file to a block that reads it.

    Raises
    ------
    InputRefused
        ``reading.changed``: at the end of the block it is another one, or was for a while: one that was
        exchanged and put back has another number or other times.
    """
    before, digest = _state(path), file_hash(path)
    yield digest
    if file_hash(path) != digest or _state(path) != before:
        raise InputRefused("reading.changed", file=path.name)


def _state(path: Path) -> tuple[int, ...]:
    """Return what the file system changes with every writing and renaming; nothing where there is no file."""
    try:
        found = path.stat()
    except (OSError, ValueError):  # said in words by whoever reads it
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def cap_rows(prepared: PreparedTable, noise: Noise, secret: bytes = b"", slot: SlotOf | None = None) -> Table:
    """Return the rows that a method may use: at most the declared number a person, then the conditions.

    Parameters
    ----------
    prepared
        The table.
    noise
        The door.
    secret
        Of the register, where all of its releases by a method use the same rows of a person.
    slot
        Of rows: a person keeps one, by lot, of those in the same slot, before the cap.

    Notes
    -----
    The kept rows of a person are chosen by that person's rows alone, with randomness from the noise door,
    *before* conditions and grouping, so that one person changes at most that many rows of the answer. Rows
    without a person key are left out: nobody can say whose they are.
    """
    if isinstance(prepared.table, Grouped):
        has_key = prepared.schema.person_key is not None
        salt = noise.random_keys(2).tolist() if has_key else ()
        return prepared.table.capped(prepared.schema.rows_per_person, salt)
    if isinstance(prepared.table, Stored):
        return _cap_stored(prepared.table, prepared.schema, noise, slot)
    rows, people, key = prepared.table.rows(), prepared.people, prepared.schema.person_key
    if people is not None and key is not None:
        known, cap = people >= 0, prepared.schema.rows_per_person
        slots, keep = None if slot is None else slot(rows), np.zeros(len(rows), dtype=bool)
        if secret:
            names = people_of(prepared.table, key).distinct.to_pylist()
            keep = contribution.keep_same_rows(people, cap=cap, names=names, secret=secret)
        elif known.all():
            keep = _by_lot(people, slots, cap, noise)
        else:
            keep[known] = _by_lot(people[known], None if slots is None else slots[known], cap, noise)
        rows = rows[keep]
    return filter_source(replace(prepared, table=prepared.table.with_rows(rows)))


def _cap_stored(table: Stored, schema: Schema, noise: Noise, slot: SlotOf | None) -> Stored:
    """Do what `cap_rows` does, all rows of some people at a time."""
    kept = table.marks(value=schema.person_key is None)
    if schema.person_key is not None:
        slots = None if slot is None else table.codes(slot)
        for places, people in table.by_person():
            own = None if slots is None else slots[places]
            kept[places] = _by_lot(people, own, schema.rows_per_person, noise)
    return table.keep(kept)


def _by_lot(people: arrays.Whole, slots: arrays.Whole | None, cap: int, noise: Noise) -> arrays.Bools:
    """Return which rows stay: where there are slots one of a person in each, then at most the cap."""
    kept = np.ones(len(people), dtype=bool)
    if slots is not None:
        both = people.astype(np.int64) * (int(slots.max(initial=0)) + 1) + slots
        kept = contribution.keep_rows(both, cap=1, noise=noise)
        people = people[kept]
    kept[kept] = contribution.keep_rows(people, cap=cap, noise=noise)
    return kept


def of_somebody(prepared: PreparedTable) -> Table:
    """Return all rows that are somebody's and fulfil the conditions, however many a person has."""
    assert prepared.people is not None
    known = prepared.people >= 0
    rows = prepared.table.rows()
    kept = prepared.table if known.all() else prepared.table.with_rows(rows[known])
    return filter_source(replace(prepared, table=kept))


def filter_source(prepared: PreparedTable) -> Table:
    """Return the rows of a source that is not private: all that fulfil the recorded conditions."""
    return preparation.filter_rows(prepared.table, prepared.filters, prepared.schema)


def person_keys(table: Table, schema: Schema) -> pa.ChunkedArray:
    """Return the person keys of a table as text, each once; none where no person key is marked."""
    key = schema.person_key
    if isinstance(table, Held) and key is not None:
        parts = [chunk for part in table.key_parts() for chunk in part.chunks]
        return pa.chunked_array([pc.unique(pa.chunked_array(parts, pa.large_string()))])
    distinct = pa.array([], pa.large_string()) if key is None else people_of(table, key).distinct
    return pa.chunked_array([distinct])


def parts_of_keys(table: Table, schema: Schema) -> Iterator[pa.ChunkedArray]:
    """Give the person keys of a table as text, some at a time, each once among those."""
    if isinstance(table, Held) and schema.person_key is not None:
        yield from table.key_parts()
    else:
        yield person_keys(table, schema)


def apart(keys: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return person keys with letters and accents apart; None where no key is written otherwise then."""
    written = pc.utf8_normalize(keys, form="NFD")
    return None if written.equals(keys) else written


def _needed(steps: Sequence[Mapping[str, Any]], schema: Schema) -> list[str]:
    """Return the columns that the file must have: what is described and kept, and what a step looks at."""
    steps = [step for step in steps if step["step"] != "drop_people"]
    looked = {step.get(name) for step in steps for name in ("column", "date_column")}
    read = columns_of(steps, schema)
    return [
        column.name
        for column in schema.columns
        if column.name in read and (column.role is not Role.DROPPED or column.name in looked)
    ]
