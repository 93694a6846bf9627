"""Small tables made from a worked example, and their neighbours, as files: what is audited reads them itself.

Every table is a part of the table that the example comes with, chosen by a fixed lot. Whatever neighbours
differ in stands at the end of the file, so that the lots of the cap and of the people held out, which the
audit fixes by their place, fall alike for everybody else.
"""

from __future__ import annotations

import csv
import hashlib
import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from engine.methods.protocol import Method, Source
from engine.privacy.promise import Neighbours
from engine.release.check import check
from engine.release.plan import FileReference, Plan
from engine.release.reading import PreparedTable, read_all
from engine.table.schema import Column, Kind

Row = dict[str, str]
Rows = tuple[Row, ...]

ODD = ("", "NaN", "1e308", "-1e308", "unheard of", "inf", "0", "31/02/2020", "-0.0", "١٢")
FURTHEST = ("a person with twelve rows", "a row changed")
"""Neighbours that move answers furthest where a person has several rows, or is exchanged."""
MOVING = (
    "a person less",
    "a person more",
    "the highest of everything",
    "the lowest of everything",
    "odd values from 0",
    "nobody",
    "a cell missing, each with somebody",
    "other people",
)
"""Neighbours that a further choice of a method is tried on: one of each kind."""
KEYS = "9876543"
"""New person keys begin with it: whole numbers that the sample does not have."""


@dataclass(frozen=True)
class Neighbour:
    """A table beside the first one.

    Parameters
    ----------
    name
        What was done.
    rows
        Of the people.
    apart
        How many people came or went; None for a table that is no neighbour at all, of which no loss is
        measured, but whose release has to be the same when the same answers are given.
    moves_places
        Whether rows of others stand elsewhere than before.
    """

    name: str
    rows: Rows
    apart: int | None
    moves_places: bool = False


@dataclass(frozen=True)
class Bench:
    """A worked example of a method over small tables.

    Parameters
    ----------
    method, plan
        The plan reads ``people.csv`` (or by its source's name) in ``folder``.
    folder
        Gets the tables.
    tables
        The rows by source.
    varied
        The source whose rows differ between neighbours: the first private one.
    further
        The other private ones: whose rows differ by all of the people who come or go.
    """

    method: Method
    plan: Plan
    folder: Path
    tables: dict[str, Rows]
    varied: str
    further: tuple[str, ...] = ()
    _designs: list[Method] = field(default_factory=list)
    _prepared: dict[Any, dict[str, PreparedTable]] = field(default_factory=dict)

    @property
    def design(self) -> Method:
        """The plan, checked once."""
        if not self._designs:
            self._designs.append(check(self.plan, base=self.folder))
        return self._designs[0]

    @property
    def rows(self) -> Rows:
        """The rows of the people."""
        return self.tables[self.varied]

    @property
    def key(self) -> str | None:
        """Name of the column that says which person a row is about."""
        found = self.plan.schemas[self.varied].person_key
        return None if found is None else found.name

    def written(self, rows: Rows, folder: Path | None = None) -> None:
        """Write the tables with these rows of the people."""
        for source, kept in (self.tables | {self.varied: rows} | self.beside(rows)).items():
            write(self.plan, source, kept, self.tables[source][0], folder or self.folder)

    def beside(self, rows: Rows) -> dict[str, Rows]:
        """Return the rows of the further tables that belong to the people of these rows, in their order.

        A new person has those of whoever has most, with cells as odd, or as far out, as their own row has.
        """
        found = {}
        for source in self.further:
            key = self.plan.schemas[source].person_key
            assert key is not None and self.key is not None
            theirs: dict[str, list[Row]] = {}
            for row in self.tables[source]:
                theirs.setdefault(row[key.name], []).append(row)
            most = max(theirs.values(), key=len)
            kept = []
            for person in dict.fromkeys(row[self.key] for row in rows):
                own = theirs.get(person, [])
                if person.startswith(KEYS):
                    cells = self._cells_of(source, person[len(KEYS) :])
                    own = [row | cells | {key.name: person} for row in most]
                kept += own
            found[source] = tuple(kept)
        return found

    def _cells_of(self, source: str, number: str) -> Row:
        """Return what new people have in further tables, by their number: ends, odd values, or no more."""
        columns = [one for one in self.plan.schemas[source].columns if one.domain is not None]
        if number == "1":
            return {one.name: declared_end(one, -1) or "" for one in columns}
        if number == "2":
            return {one.name: ODD[at % len(ODD)] for at, one in enumerate(columns)}
        return {}

    def prepared(self, rows: Rows) -> dict[str, PreparedTable]:
        """Read the tables as a run would."""
        known = tuple(tuple(row.values()) for row in rows)
        if known not in self._prepared:
            self.written(rows)
            self._prepared[known] = read_once(self.plan, self.design.sources_read, self.folder)
        return self._prepared[known]

    def of(self, row: Row) -> str:
        """Return whose a row is; a row of its own where no key is marked."""
        return str(id(row)) if self.key is None else row[self.key]


READ: dict[str, dict[str, PreparedTable]] = {}
MOST_READ = 100
"""Tables are small; the choices of one plan, one after the other, read the same dozen."""


def read_once(plan: Plan, sources: Sequence[Source], folder: Path) -> dict[str, PreparedTable]:
    """Read tables as a run would, once for all plans that read the same bytes in the same way.

    Whatever is not about reading (parameters, budget, purpose) is no part of what is compared.
    """
    how = plan.files, plan.schemas, plan.preparation, sources
    content = sorted((path.name, path.read_bytes()) for path in folder.iterdir() if path.is_file())
    key = hashlib.sha256(repr((how, content)).encode()).hexdigest()
    if key not in READ:
        if len(READ) >= MOST_READ:
            del READ[next(iter(READ))]
        READ[key] = read_all(plan, sources, base=folder)
    return READ[key]


def bench(method: Method, plan: Plan, folder: Path, *, people: int) -> Bench:
    """Return the bench of a plan, with so many people of its tables; of none where it reads no people."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {source: shipped(plan, source) for source in plan.files}
    shapes = {source.name: source.shape for source in method.reads(plan.step)}
    private = [name for name in tables if shapes[name.partition(".")[0]].is_private]
    if not private:
        return Bench(method, plan, folder, tables, "")
    varied = private[0]
    local = {name: FileReference(f"{name}.csv", one.options) for name, one in plan.files.items()}
    made = Bench(method, replace(plan, files=local), folder, tables, varied, tuple(private[1:]))
    kept = few(made, people)
    return replace(made, tables=tables | {varied: kept} | made.beside(kept))


def shipped(plan: Plan, source: str) -> Rows:
    """Return the rows of a table that comes with the program."""
    path = posixpath.normpath(f"examples/{plan.files[source].path}")
    return tuple(dict(row) for row in _rows_of(path, plan.files[source].options["delimiter"]))


@cache
def _rows_of(path: str, delimiter: str) -> Rows:
    text = (files("resources") / path).read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines(), delimiter=delimiter))


def few(bench: Bench, people: int) -> Rows:
    """Return the rows of so many people, by a fixed lot, those of each person one after the other."""
    theirs: dict[str, list[Row]] = {}
    for row in bench.rows:
        theirs.setdefault(bench.of(row), []).append(row)
    everybody = list(theirs.values())
    order = np.random.default_rng(7).permutation(len(everybody))[:people]
    return tuple(row for place in sorted(order) for row in everybody[place])


def write(plan: Plan, source: str, rows: Rows, heading: Row, folder: Path) -> None:
    """Write rows as the plan says they are read."""
    options = plan.files[source].options
    with (folder / plan.files[source].path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(heading), delimiter=options["delimiter"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


# --- neighbours ---------------------------------------------------------------------------------------


def neighbours(bench: Bench, *, many: bool = False) -> Iterator[Neighbour]:
    """Yield tables beside that of the bench: few, or with ``many`` more of every kind."""
    last = people_at_the_end(bench)
    for place, person in enumerate(last[: 6 if many else 2]):
        yield Neighbour("a person less", without(bench, person), 1, place > 0)
    somebody = bench.rows[0]
    yield Neighbour("a person more", (*bench.rows, changed(bench, somebody, {}, 0)), 1)
    yield Neighbour("the highest of everything", (*bench.rows, extreme(bench, -1)), 1)
    yield Neighbour("the lowest of everything", (*bench.rows, extreme(bench, 0)), 1)
    crowd = tuple(extreme(bench, -1) for _ in range(12))
    yield Neighbour(FURTHEST[0], bench.rows + crowd if bench.key else bench.rows, 1)
    for place in range(len(ODD) if many else 2):
        yield Neighbour(f"odd values from {place}", (*bench.rows, odd(bench, place)), 1)
    other = changed(bench, bench.rows[0], dict.fromkeys(bench.rows[0], ODD[0]), 3)
    budget = bench.plan.budget
    is_exchange = budget is not None and budget.neighbours is Neighbours.REPLACE_ONE
    yield Neighbour(FURTHEST[1], (*without(bench, last[0]), other), 1 if is_exchange else 2)
    yield Neighbour("nobody", (), None)
    yield Neighbour("a cell missing, each with somebody", (*bench.rows, *without_a_cell(bench)), None)
    yield Neighbour("other people", tuple(others(bench)), None)


def one_of_each(bench: Bench) -> Iterator[Neighbour]:
    """Yield the neighbours that are `MOVING`, of each kind one."""
    seen: set[str] = set()
    for beside in neighbours(bench):
        if beside.name in MOVING and beside.name not in seen:
            seen.add(beside.name)
            yield beside


def people_at_the_end(bench: Bench) -> list[str]:
    """Return the people from the last row on: by row, only the last can go without moving the others."""
    found = list(dict.fromkeys(bench.of(row) for row in reversed(bench.rows)))
    return found if bench.key else found[:1]


def without(bench: Bench, person: str) -> Rows:
    """Return the rows without those of a person."""
    return tuple(row for row in bench.rows if bench.of(row) != person)


def changed(bench: Bench, row: Row, cells: Row, number: int) -> Row:
    """Return a row of a new person with other cells."""
    key = {} if bench.key is None else {bench.key: f"{KEYS}{number}"}
    return row | cells | key


def extreme(bench: Bench, end: int) -> Row:
    """Return a new person whose cells are the first (0) or last (-1) that were declared."""
    ends = {}
    for column in bench.plan.schemas[bench.varied].columns:
        found = declared_end(column, end)
        if found is not None and column.name in bench.rows[0]:
            ends[column.name] = found
    return changed(bench, bench.rows[0], ends, 1)


def declared_end(column: Column, end: int) -> str | None:
    """Return the first or last declared value of a column; None where nothing is declared."""
    domain = column.domain
    if domain is None:
        return None
    if domain.values:
        return domain.values[end]
    edge = domain.minimum if end == 0 else domain.maximum
    if edge is None:
        return None
    return str(edge) if column.kind in (Kind.DATE, Kind.MOMENT) else f"{float(edge):g}"


def odd(bench: Bench, place: int) -> Row:
    """Return a new person whose cells are odd, each in another way."""
    names = [name for name in bench.rows[0] if name != bench.key]
    cells = {name: ODD[(place + 3 * at) % len(ODD)] for at, name in enumerate(names)}
    return changed(bench, bench.rows[0], cells, 2)


def without_a_cell(bench: Bench) -> Iterator[Row]:
    """Yield two new people for every column, who lack it alone: who lacks what is predicted has no part."""
    names = [name for name in bench.rows[0] if name != bench.key]
    for place, (name, cell) in enumerate(product(names, ("", "unheard of"))):
        yield changed(bench, bench.rows[0], {name: cell}, 1000 + place)


def others(bench: Bench) -> Iterator[Row]:
    """Yield rows of as many other people: everybody's columns come from somebody else."""
    names = [name for name in bench.rows[0] if name != bench.key]
    order = np.random.default_rng(5)
    moved = {name: order.permutation(len(bench.rows)) for name in names}
    for place, row in enumerate(bench.rows[: len(bench.rows) // 2]):
        cells = {name: bench.rows[moved[name][place] // 2][name] for name in names}
        yield changed(bench, row, cells, 10 + place)
