"""How the rows of a plan are held, said before anything is paid: in memory, grouped, or coded on this disk.

What a method asks of the people's tables is declared (`Method.needs`). Where memory may not suffice, whoever
needs no more than counts and sums of some columns gets them from DuckDB, where it is installed and can read
the files, which groups their cells where they lie (`engine.table.grouped`); who needs no more than answers,
from a coded store (`engine.table.stored`), piece by piece; whoever needs all rows at once is refused, with
the number of rows that fits. The sizes of files and the types of their columns decide, no row does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path

import pyarrow as pa

from engine.errors import InputRefused
from engine.evaluation.catalogue import measure
from engine.memory import physical
from engine.methods.kinds import Reads
from engine.methods.protocol import Method
from engine.release.plan import Plan
from engine.release.reading import columns_used, options_of_reading, paths_of, refuse_sample
from engine.table.grouped import suits
from engine.table.reading.duck import has_duckdb, look_into
from engine.table.reading.options import SERVER_FORMATS, ReadOptions
from engine.table.reading.parquet import kinds_of_parquet, rows_of_parquet
from engine.table.reading.readers import SUFFIXES, names_of
from engine.table.reading.text import can_cut
from engine.table.schema import Schema
from engine.table.server import Address
from engine.utility.sampled import most_that_fits, percent
from engine.views import Text

CELL, ROW = 32, 64
"""Bytes of memory that a cell and a row of a table take while a release is made, about."""
STORED_CELL, STORED_ROW = 8, 56
"""Bytes of disk that they take in a coded store, about."""
SECONDS = {"start": 2.0, "row": 1.5e-6, "cell": 0.3e-6}
"""What a run takes on a usual computer, about: measured, see ``tests/benchmarks``."""
SHARE = 4
"""The part of the memory that a table may take before it goes to the disk: a quarter."""
_LOOKED_AT = 1 << 20


class Tier(StrEnum):
    """Where the rows are while a release is made."""

    MEMORY = "memory"
    STORE = "store"
    GROUPED = "grouped"  # where they lie: another engine groups their cells
    SERVER = "server"  # on a server, which does


@dataclass(frozen=True)
class Served:
    """How one source is held, and about what that takes; rows are None where nobody can tell.

    ``columns`` are those that are looked at, ``stored`` those of them that a store keeps. ``sample`` is the
    share of its people whose rows are kept; None for all.
    """

    source: str
    tier: Tier
    files: int
    size: int
    rows: int | None
    columns: int
    stored: int = 0
    sample: Fraction | None = None
    address: str = ""

    @property
    def kept(self) -> int:
        """Rows that are kept, about."""
        return round((self.rows or 0) * (self.sample or 1))

    @property
    def memory(self) -> int:
        """Bytes that the kept rows would take in memory, about."""
        return self.kept * bytes_of_row(self.columns)

    @property
    def disk(self) -> int:
        """Bytes that it takes on the disk meanwhile, about."""
        a_row = STORED_ROW + STORED_CELL * self.stored
        return self.kept * a_row if self.tier is Tier.STORE else 0

    @property
    def seconds(self) -> int:
        """How long a run takes, about."""
        a_row = SECONDS["row"] + SECONDS["cell"] * self.columns
        return round(SECONDS["start"] + (self.rows or 0) * a_row)

    @property
    def said(self) -> Text:
        """The same in a sentence."""
        size, disk = -(-self.size // 10**6), -(-self.disk // 10**6)
        values: dict[str, object] = {
            "files": self.files,
            "size": size,
            "columns": self.columns,
            "seconds": self.seconds,
        }
        values |= {"rows": self.rows or 0, "disk": disk, "address": self.address}
        which = "unknown" if self.rows is None and self.tier is Tier.MEMORY else self.tier.value
        if self.sample is not None and self.rows is not None:
            which = f"{which}_sample"
            values |= {"kept": self.kept, "share": percent(self.sample)}
        return Text(f"preview.served.{which}", values)

    def to_json(self) -> dict[str, object]:
        """Return it as JSON values."""
        parts = ("source", "files", "size", "rows", "columns", "disk", "seconds")
        more: dict[str, object] = {"address": self.address} if self.address else {}
        if self.sample is not None:
            more |= {"sample": str(self.sample), "kept": self.kept}
        return {"tier": self.tier.value} | {name: getattr(self, name) for name in parts} | more


def is_answered(design: Method) -> bool:
    """Say whether a release asks no more of the people's tables than a coded store answers."""
    further = design.held_out or design.counts_people or design.compares or design.cost.loss is None
    return design.needs is not Reads.ROWS and not further and not design.cost.weighs


def is_grouped(design: Method) -> bool:
    """Say whether a release asks for no more than groups of cells and how often each occurs."""
    order = list(Reads)
    return order.index(design.needs) <= order.index(Reads.COMBINATIONS) and design.slot_of is None


def _can_group(plan: Plan, design: Method, source: str, files: Sequence[tuple[Path, ReadOptions]]) -> bool:
    """Say whether DuckDB is there and tells the cells of files apart as this program does, by their types."""
    has_glob = any(sign in str(path.absolute()) for path, _ in files for sign in "*?[{")
    if not has_duckdb() or has_glob or (len(files) > 1 and files[0][1].format == "duckdb"):
        return False
    kinds = [_kinds_of(*one) for one in files]
    first = kinds[0]
    if first is None or any(one is None or list(one.items()) != list(first.items()) for one in kinds):
        return False
    schema, steps = plan.schemas.get(source, Schema()), plan.steps_of(source)
    key = schema.person_key
    looked = {step.get(name) for step in steps for name in ("column", "date_column", "to")}
    used = {*design.uses.get(source, ()), *filter(None, looked)} & set(first)
    return suits(first, sorted(used), key) and (key is None or key.name not in looked)


def _kinds_of(path: Path, options: ReadOptions) -> Mapping[str, pa.DataType] | None:
    """Return the types of the columns of a file; None where no engine knows its format."""
    kind = options.format or SUFFIXES.get(path.suffix.lower())
    if kind == "parquet":
        return kinds_of_parquet(path)
    return look_into(path, options).kinds if kind == "duckdb" else None


def served(plan: Plan, design: Method, *, base: Path = Path()) -> Mapping[str, Served]:
    """Return how each source of a plan is held, by its name; reads no more than how the files begin.

    Raises
    ------
    InputRefused
        ``reading.needs_all_rows``: the table is larger than memory, and the method needs all of it at once.
        ``reading.measure_needs_all_rows``: a measure that the plan names does. ``server.only_groups``: the
        method asks a server for more than it tells. Or what `paths_of` and the reader refuse.
    """
    names = [one.name for one in design.sources_read if plan.files_of(one.name)]
    found = {name: _served(plan, design, name, base) for name in names}
    asking = [one for one in plan.measures if measure(one).asks_rows]
    for name, one in found.items():
        if asking and one.tier is not Tier.MEMORY:
            file = Path(plan.files_of(name)[0].path).name
            raise InputRefused("reading.measure_needs_all_rows", file=file, measure=asking[0])
    return found


def _served(plan: Plan, design: Method, source: str, base: Path) -> Served:
    references = plan.files_of(source)
    files = [(path, options_of_reading(one)) for one in references for path in paths_of(one, base)]
    if any(options.format in SERVER_FORMATS for _, options in files):
        return _served_by_server(plan, design, source, files)
    counts = [rows_of(*one) for one in files]
    size = sum(path.stat().st_size for path, _ in files if path.is_file())
    if None in counts:  # or what is wrong with a file is said when it is read
        return Served(source, Tier.MEMORY, len(files), size, None, 0)
    rows = sum(filter(None, counts))
    used = columns_used(plan, design, source)
    columns = len(names_of(files[0][0], options=files[0][1]) if used is None else used)
    sample = plan.sample if source in design.request.private else None
    stored = len(design.uses.get(source, ()))
    found = Served(source, Tier.MEMORY, len(files), size, rows, columns, stored, sample)
    if found.memory <= most_memory():
        return found
    # who is on a list of objections and not in the table is said of the table, not of a part of it
    drops = any(step["step"] == "drop_people" for step in plan.steps_of(source))
    if source in design.request.private and is_answered(design) and not drops:
        by_groups = plan.sample is None and is_grouped(design) and _can_group(plan, design, source, files)
        return replace(found, tier=Tier.GROUPED if by_groups else Tier.STORE)
    if found.memory > SHARE * most_memory():
        most = SHARE * most_memory() // bytes_of_row(columns)
        values = {"file": Path(references[0].path).name, "rows": found.kept, "most": most}
        share = _offered(plan, design, source, rows, most)
        if share is not None:
            raise InputRefused("reading.needs_all_rows_or_sample", **values, share=percent(share))
        raise InputRefused("reading.needs_all_rows", **values)
    return found


def _served_by_server(
    plan: Plan, design: Method, source: str, files: Sequence[tuple[Path, ReadOptions]]
) -> Served:
    """Return how a table on a server is held; nobody is asked for it yet."""
    schema, steps = plan.schemas.get(source, Schema()), plan.steps_of(source)
    key = None if schema.person_key is None else schema.person_key.name
    looked = {step.get(name) for step in steps for name in ("column", "date_column", "to")}
    drops = any(step["step"] == "drop_people" for step in steps)
    asks_groups = source in design.request.private and is_answered(design) and is_grouped(design)
    in_one = len(files) == 1 and plan.sample is None and (key is None or key not in looked)
    if not asks_groups or drops or not in_one:
        raise InputRefused("server.only_groups", file=files[0][0].name)
    address = Address.read(files[0][0])
    return Served(source, Tier.SERVER, 1, 0, None, len(design.uses.get(source, ())), address=address.said)


def _offered(plan: Plan, design: Method, source: str, rows: int, most: int) -> Fraction | None:
    """Return the largest share of the people whose rows fit; None where there can be no sample."""
    try:
        refuse_sample(design)
    except InputRefused:
        return None
    return most_that_fits(rows, most) if source in design.request.private and most > 0 else None


def most_memory() -> int:
    """Return the bytes that a table may take in memory before it goes to the disk where it can."""
    return physical() // SHARE


def bytes_of_row(columns: int) -> int:
    """Return the bytes of memory that a row takes, about."""
    return ROW + CELL * columns


def rows_of(path: Path, options: ReadOptions) -> int | None:
    """Return how many rows a file has, of a text about; None where nobody can tell before it is read."""
    kind = options.format or SUFFIXES.get(path.suffix.lower())
    if not path.is_file():
        return None
    if kind == "parquet":
        return rows_of_parquet(path)
    if kind == "duckdb":
        return look_into(path, options).rows
    if kind != "text" or not can_cut(options):
        return None
    try:
        with path.open("rb") as file:
            looked = file.read(_LOOKED_AT)
    except OSError:
        return None
    return path.stat().st_size * looked.count(b"\n") // max(len(looked), 1)
