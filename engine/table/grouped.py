"""A table of which another engine groups the raw cells, and every distinct one is read here.

The other engine never parses, recodes or cuts: it is asked which combinations of cells as they are written
occur and how often. What a cell means is decided by the code that reads it from a file, so that a number is
the same wherever the rows lie. Which rows of a person are used is decided there, by lots that fall alike in
every query of a release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from engine import arrays
from engine.table.declared import as_declared, people_of
from engine.table.fingerprint import Fingerprints, TracingColumns
from engine.table.preparation import prepare as preparation
from engine.table.preparation.declarations import Step
from engine.table.preparation.steps import made_name
from engine.table.reading.duck import long_columns, table_of
from engine.table.reading.options import Finding, ReadOptions
from engine.table.schema import Column, Schema
from engine.table.table import Held, Table, Tallied

Cells = Sequence[pa.Array]
_DIGITS = 15  # of a decimal number, which a double keeps


class NotGrouped(Exception):
    """The engine cannot tell the cells of a table apart as this program does."""


class Grouper(Protocol):
    """An engine that was given one relation and answers queries of this program."""

    tier: str
    engine: str
    file: str
    source: str
    rows: int
    cells: Mapping[str, str]
    kinds: Mapping[str, pa.DataType]
    found: Sequence[Finding]
    asked: int
    fetched: int
    count: str
    """What rows are counted with."""

    def answers(self, sql: str, names: Sequence[str], numbers: int = 1) -> Iterator[tuple[Cells, Cells]]:
        """Give the answer of a query piece by piece: cells of some columns, then so many numbers."""

    def shares(self, cell: str) -> Sequence[str]:
        """Return conditions of which each cell fulfils one: many different cells are asked for in parts."""

    def learn(self, name: str, cells: pa.Array, forms: pa.Array) -> str:
        """Return what stands behind FROM for two columns ``cell`` and ``form``, of cells of a column."""

    def lot(self, salt: Sequence[int], columns: Sequence[str]) -> str:
        """Return a number that follows from a salt and some columns."""

    def keep(self, sql: str) -> str:
        """Return what stands behind FROM for the answer of a query that others ask again and again."""

    @property
    def content(self) -> str:
        """What is another one as soon as any row is; nothing where the file tells."""

    def confirm(self) -> None:
        """Refuse rows that are others than when the relation was opened."""

    @property
    def about(self) -> dict[str, Any]:
        """What more the internal evidence says of the engine."""

    def close(self) -> None:
        """Let the relation go."""


def suits(kinds: Mapping[str, pa.DataType], used: Sequence[str], key: Column | None) -> bool:
    """Say whether raw cells of these types are as different to an engine as to this program.

    Examples
    --------
    >>> kinds = {"a": pa.string(), "b": pa.time64("us"), "c": pa.timestamp("ns")}
    >>> suits(kinds, ["a"], None), suits(kinds, ["a", "b"], None), suits(kinds, ["a"], Column("c"))
    (True, False, False)
    """
    if not all(name in kinds and _is_plain(kinds[name]) for name in used):
        return False
    return key is None or (key.name in kinds and _is_key(kinds[key.name]))


def _is_plain(kind: pa.DataType) -> bool:
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(
        one(plain)
        for one in (
            *(pa.types.is_boolean, pa.types.is_integer, pa.types.is_string, pa.types.is_large_string),
            *(pa.types.is_float32, pa.types.is_float64, pa.types.is_date32, pa.types.is_timestamp),
            pa.types.is_decimal128,
        )
    )


def _is_key(kind: pa.DataType) -> bool:
    """Whether two values are two people: some types hold more than is read of them."""
    if pa.types.is_decimal(kind):
        return bool(kind.precision <= _DIGITS)
    if pa.types.is_timestamp(kind):
        return bool(kind.unit != "ns")
    return _is_plain(kind)


@dataclass(frozen=True)
class Asking:
    """What is asked of an engine, and how its answers are read.

    Parameters
    ----------
    grouper
        The engine.
    declared, coded, prepared
        Declarations of the columns as they are read, with their missing codes as they are then written, and
        after all steps.
    changes, filters
        Steps before and after the cap.
    used
        Columns of the relation that the release looks at, in the order of the relation.
    """

    grouper: Grouper
    declared: Schema
    coded: Schema
    prepared: Schema
    changes: tuple[Step, ...]
    filters: tuple[Step, ...]
    base: Path
    options: ReadOptions
    used: tuple[str, ...]
    long: frozenset[str] = frozenset()
    unlike: str = ""
    """Where person keys stand that are written otherwise than in their one form; nowhere where none is."""

    @property
    def key(self) -> Column | None:
        """The person key."""
        return self.declared.person_key

    def told(self) -> str:
        """Return the query for all rows: whose each is as ``p``, and the cells that are used."""
        grouper, key = self.grouper, self.key
        cells = [f"{grouper.cells[name]} AS c{place}" for place, name in enumerate(self.used)]
        if key is None:
            return f"SELECT {', '.join(cells) or '0 AS nothing'} FROM {grouper.source}"
        raw = f"SELECT {', '.join([f'{grouper.cells[key.name]} AS p', *cells])} FROM {grouper.source}"
        if not self.unlike:
            return raw
        columns = ["CASE WHEN learnt.cell IS NULL THEN told.p ELSE learnt.form END AS p"]
        columns += [f"told.c{place}" for place in range(len(self.used))]
        learnt = f"{self.unlike} learnt ON told.p = learnt.cell"
        return f"SELECT {', '.join(columns)} FROM ({raw}) told LEFT JOIN {learnt}"

    def kept(self, cap: int, salt: Sequence[int]) -> str:
        """Return the query for the rows that are used: at most so many of a person.

        The order of a person's rows follows from the salt and those rows alone, whatever the engine's hash
        is worth. Rows that are alike are numbered, so that each of them has a lot of its own.
        """
        cells = [f"c{place}" for place in range(len(self.used))]
        numbered = f"row_number() OVER (PARTITION BY {', '.join(['p', *cells])} ORDER BY p) AS k"
        lots = ", ".join([self.grouper.lot(salt, ["p", *cells, "k"]), *cells, "k"])
        return (
            f"SELECT {', '.join(['p', *cells])} FROM ("
            f"SELECT {', '.join(['p', *cells])}, row_number() OVER (PARTITION BY p ORDER BY {lots}) AS place"
            f" FROM (SELECT {', '.join(['p', *cells])}, {numbered} FROM ({self.told()}) a"
            f" WHERE p IS NOT NULL) b) d WHERE place <= {int(cap)}"
        )

    def needed(
        self, names: Sequence[str], among: Sequence[str] | None = None
    ) -> tuple[list[str], tuple[Step, ...]]:
        """Return the raw columns that prepared ones are made of, and the steps that make them."""
        wanted, steps = {*names, *(step["column"] for step in self.filters)}, list[Step]()
        for step in reversed(self.changes):
            if made_name(step) in wanted:
                steps.insert(0, step)
                wanted |= {step[name] for name in ("column", "date_column") if step.get(name) is not None}
        return [name for name in among or self.used if name in wanted], tuple(steps)

    def read(self, names: Sequence[str], raw: Sequence[str], steps: tuple[Step, ...], cells: Cells) -> Any:
        """Return prepared columns of raw cells, and which rows fulfil the conditions."""
        table = table_of(raw, cells, self.long, options=self.options, file=self.grouper.file)
        if not raw:
            table = Table(pd.DataFrame(index=pd.RangeIndex(1)), source=table.source, options=self.options)
        part, _ = preparation.prepare(as_declared(table, self.declared), steps, self.coded, base=self.base)
        fulfils = preparation.mask(part, self.filters, self.prepared)
        return part.rows()[list(dict.fromkeys(names))], fulfils


class Grouped(Held):
    """A table that answers by groups, see `Table.tallied`.

    Parameters
    ----------
    asking
        What is asked, and of whom.
    cap, salt
        How many rows of a person are used, and by which lots; None for all rows, before any condition.
    """

    def __init__(self, asking: Asking, cap: int | None = None, salt: Sequence[int] = ()) -> None:
        self._asking, self._grouper, self.tier = asking, asking.grouper, asking.grouper.tier
        columns = {name: pd.Series([], dtype="str") for name in asking.grouper.cells}
        super().__init__(pd.DataFrame(columns), source=asking.grouper.file, options=asking.options)
        self._rows = f"({asking.told()})"
        if cap is not None and asking.key is not None:
            self._rows = asking.grouper.keep(asking.kept(cap, salt))
        self.n_rows = asking.grouper.rows if cap is None else self._count_used()

    def capped(self, cap: int, salt: Sequence[int]) -> Grouped:
        """Return the rows that are used: at most so many of a person, then what the conditions leave."""
        return Grouped(self._asking, cap, salt)

    def tallied(self, names: Sequence[str]) -> Iterator[Tallied]:
        """Give the combinations of some columns that occur, each with how many rows have it."""
        asking = self._asking
        raw, steps = asking.needed(names)
        columns = [f"c{asking.used.index(name)}" for name in raw]
        grouped = f" GROUP BY {', '.join(columns)}" if columns else ""
        asked = ", ".join([*columns, f"{self._grouper.count}(*) AS n"])
        is_any = False
        for cells, (often,) in self._grouper.answers(f"SELECT {asked} FROM {self._rows} used{grouped}", raw):
            frame, fulfils = asking.read(names, raw, steps, cells)
            is_any = True
            kept = frame if fulfils.all() else frame[fulfils].reset_index(drop=True)
            yield kept, whole(often)[fulfils]
        if not is_any:  # a table without rows
            none = [pa.array([], self._grouper.kinds[name]) for name in raw]
            frame, _ = asking.read(names, raw, steps, none)
            yield frame.iloc[:0], np.zeros(0, np.int64)

    def pieces(self, names: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Refuse: there are no rows, only how often each combination occurs."""
        self.rows()
        yield from ()

    def room(self, kind: type[np.generic]) -> npt.NDArray[Any]:
        """Refuse: no row has a place."""
        self.rows()
        return np.zeros(0, kind)

    def key_parts(self) -> Iterator[pa.ChunkedArray]:
        """Give the person keys of all rows piece by piece, each once in a piece."""
        asking, grouper = self._asking, self._grouper
        assert asking.key is not None
        cell = grouper.cells[asking.key.name]
        for share in grouper.shares(cell):
            sql = f"SELECT DISTINCT {cell} AS c0 FROM {grouper.source}{where(share)}"
            for cells, _ in grouper.answers(sql, (asking.key.name,), 0):
                yield pa.chunked_array([_people(asking, cells).distinct.cast(pa.large_string())])

    def count_people(self) -> tuple[int, int]:
        """Return how many people the table has, and how many rows that are nobody's."""
        count, told = self._grouper.count, self._asking.told()
        people = nobody = 0
        for share in self._grouper.shares("p"):
            sql = f"SELECT {count}(DISTINCT p) AS n0, {count}(*) - {count}(p) AS n1 FROM ({told}) told"
            ((_, (some, others)),) = self._grouper.answers(f"{sql}{where(share)}", (), 2)
            people, nobody = people + int(some[0].as_py()), nobody + int(others[0].as_py())
        return people, nobody

    def most_rows(self) -> int:
        """Return how many of the rows that are used are one person's, at most."""
        each = f"SELECT {self._grouper.count}(*) AS n FROM {self._rows} used GROUP BY p"
        ((_, (most,)),) = self._grouper.answers(f"SELECT max(n) AS n FROM ({each}) counted", ())
        return int(most[0].as_py() or 0)

    def close(self) -> None:
        """Let the relation go."""
        self._grouper.close()

    @property
    def content(self) -> str:
        """What is another one as soon as any row is; nothing where the file tells."""
        return self._grouper.content

    def confirm(self) -> None:
        """Refuse rows that are others than when they were read."""
        self._grouper.confirm()

    @property
    def about(self) -> dict[str, Any]:
        """What the internal evidence says of how the rows were held."""
        asked = {
            "engine": self._grouper.engine,
            "queries": self._grouper.asked,
            "fetched": self._grouper.fetched,
        }
        return {**super().about, **asked, "known_by": ["people", "contents"], **self._grouper.about}

    def _count_used(self) -> int:
        return sum(int(often.sum()) for _, often in self.tallied(()) if often is not None)


def whole(numbers: pa.Array) -> npt.NDArray[np.int64]:
    """Return counts of an engine; one that is no whole number of 64 bits is an error."""
    return np.asarray(numbers.cast(pa.int64()).to_numpy(zero_copy_only=False))


def look(asking: Asking) -> tuple[Asking, Fingerprints, tuple[Finding, ...]]:
    """Read every distinct cell of every column once, before anything is reserved.

    Returns
    -------
    tuple
        What is asked from now on, by what the ledger knows the table again, and what was found.

    Raises
    ------
    NotGrouped
        Cells of a type that the engine tells apart in another way.
    """
    grouper, key = asking.grouper, asking.key
    if not suits(grouper.kinds, asking.used, key):
        raise NotGrouped
    asking = replace(asking, long=long_columns(grouper, tuple(grouper.cells)))
    traced, found = TracingColumns(grouper.rows), {_place(one): one for one in grouper.found}
    forms = _Forms(asking)
    for name, cell in grouper.cells.items():
        is_key = key is not None and name == key.name
        for cells, (often,) in _cells_counted(grouper, name, cell, is_key=is_key):
            table = table_of((name,), cells, asking.long, options=asking.options, file=grouper.file)
            values, times = table.rows()[name], whole(often)
            traced.add(name, values, times)
            for one in table.findings:
                said = found.setdefault(_place(one), replace(one, count=0, rows=()))
                count = said.count + _count(one, cells[0], values, times)
                found[_place(one)] = replace(said, count=count)
            if is_key:
                forms.add(cells)
    return forms.learnt(), traced.found(), tuple(found.values())


def _cells_counted(grouper: Grouper, name: str, cell: str, *, is_key: bool) -> Iterator[tuple[Cells, Cells]]:
    """Give the different cells of a column, and how many rows have each; of person keys some at a time."""
    told = f"SELECT {cell} AS c0 FROM {grouper.source}"
    for share in grouper.shares("c0") if is_key else ("",):
        sql = f"SELECT c0, {grouper.count}(*) AS n FROM ({told}) told{where(share)} GROUP BY c0"
        yield from grouper.answers(sql, (name,))


def where(condition: str) -> str:
    """Return a condition as the part of a query; nothing where there is none."""
    return f" WHERE {condition}" if condition else ""


def learn_forms(asking: Asking) -> Asking:
    """Return what is asked from now on, once every person key is known in its one form."""
    key, forms = asking.key, _Forms(asking)
    if key is not None:
        sql = f"SELECT DISTINCT {asking.grouper.cells[key.name]} AS c0 FROM {asking.grouper.source}"
        for cells, _ in asking.grouper.answers(sql, (key.name,), 0):
            forms.add(cells)
    return forms.learnt()


class _Forms:
    """The person keys that are written otherwise than in their one form."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._unlike, self._forms = list[pa.Array](), list[pa.Array]()

    def add(self, cells: Cells) -> None:
        """Add some different cells of the column."""
        form = _people(self._asking, cells).cells().cast(pa.large_string())
        other = pc.is_null(form)
        if pa.types.is_large_string(cells[0].type):
            other = pc.fill_null(pc.not_equal(form, cells[0]), True)
        else:
            form = pa.nulls(len(form), cells[0].type)
        other = pc.and_(other, pc.is_valid(cells[0]))
        self._unlike.append(cells[0].filter(other))
        self._forms.append(form.filter(other))

    def learnt(self) -> Asking:
        """Return what is asked from now on."""
        key = self._asking.key
        if key is None or not any(map(len, self._unlike)):
            return self._asking
        joined = pa.concat_arrays(self._unlike), pa.concat_arrays(self._forms)
        return replace(self._asking, unlike=self._asking.grouper.learn(key.name, *joined))


def _place(found: Finding) -> tuple[object, ...]:
    return found.code, found.column, *found.more.items()


def _people(asking: Asking, cells: Cells) -> Any:
    assert asking.key is not None
    name = asking.key.name
    table = table_of((name,), cells, asking.long, options=asking.options, file=asking.grouper.file)
    return people_of(table, asking.key)


def _count(found: Finding, raw: pa.Array, values: pd.Series, often: arrays.Integers) -> int:
    """Return how many rows something was found in: cells that are none any more, or the whole column."""
    marks = np.ones(len(often), dtype=bool)
    if found.code == "table.infinite_numbers":
        marks = np.isinf(values.to_numpy())
    elif found.code == "table.dates_outside":
        marks = values.isna().to_numpy() & pc.is_valid(raw).to_numpy(zero_copy_only=False)
    return int(often[marks].sum())
