"""A table as codes: every column is read once, and all that is asked of it afterwards works on the codes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.errors import InputRefused
from engine.once import once
from engine.risk.combinations import Codes, Numbers, dense
from engine.table.cells import read_form
from engine.table.coding import holds_code, text_of, texts_of
from engine.table.declared import people_of, stored_as_declared
from engine.table.encoded import Encoded
from engine.table.hierarchies import MISSING, Hierarchy
from engine.table.reading.options import ReadOptions
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table

IDENTIFYING = (Role.IDENTIFYING, Role.TIME, Role.PLACE)
_KNOWN: WeakKeyDictionary[Table, dict[str, EncodedColumn]] = WeakKeyDictionary()
_KNOWN_PEOPLE: WeakKeyDictionary[Table, tuple[Column, Numbers | None]] = WeakKeyDictionary()
"""What is known of tables that are in use: several screens and measures ask the same columns."""


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """One column as codes. Internal: from private rows.

    Parameters
    ----------
    column
        Its declaration.
    codes
        For every row the place of its value in ``values``.
    values
        The values that occur, in the order of their codes; None stands for a missing one.
    missing
        The code of a missing value, None where none is missing.
    """

    column: Column
    codes: npt.NDArray[np.int32] = field(repr=False)
    values: tuple[object, ...] = field(repr=False)
    missing: int | None = None

    @property
    def size(self) -> int:
        """How many different values there are."""
        return len(self.values)

    @once
    def as_read(self) -> EncodedColumn:
        """The column with values that read alike as one: `flu` and `FLU`, `1`, `01` and `1.0`.

        Notes
        -----
        Whoever knows that somebody's value is `01` or `1` knows the value. So whatever asks how many values a
        group has counts these as one. Which of the spellings stands for all is of no meaning.
        """
        if not any(isinstance(one, str) for one in self.values):
            return self  # numbers and days have one form each
        forms = [None if one is None else read_form(text_of(one)) for one in self.values]
        first: dict[str | None, object] = {}
        for form, value in zip(forms, self.values, strict=True):
            first.setdefault(form, value)
        if len(first) == len(forms):
            return self
        code = {form: place for place, form in enumerate(first)}
        place = np.array([code[form] for form in forms], dtype=np.int32)
        missing = None if self.missing is None else code[None]
        return EncodedColumn(self.column, place[self.codes], tuple(first.values()), missing)

    @once
    def texts(self) -> tuple[str, ...]:
        """The values as text, the empty text for a missing one."""
        return tuple(MISSING if value is None else text_of(value) for value in self.values)

    @once
    def ordered(self) -> bool:
        """Whether the values have an order: numbers, days, and ordered categories with declared values."""
        if self.column.kind is Kind.ORDINAL:
            return self.column.domain is not None and self.column.domain.values is not None
        if self.column.kind is Kind.CATEGORY:
            return False
        present = [value for value in self.values if value is not None]
        return bool(present) and not any(isinstance(value, str) for value in present)

    @once
    def ranks(self) -> npt.NDArray[np.int64]:
        """The place of every code in the order of the values, shape (size,); a missing value comes last."""
        if self.column.kind is Kind.ORDINAL and self.ordered:
            assert self.column.domain is not None and self.column.domain.values is not None
            declared = {value: place for place, value in enumerate(self.column.domain.values)}
            keys: list[tuple[object, ...]] = [
                (text == MISSING, declared.get(text, len(declared)), text) for text in self.texts
            ]
        else:
            keys = [(value is None, 0 if value is None else value) for value in self.values]
        order = sorted(range(self.size), key=lambda code: keys[code])
        found = np.empty(self.size, dtype=np.int64)
        found[order] = np.arange(self.size)
        return found

    def coarser(self, hierarchy: Hierarchy, step: int) -> EncodedColumn:
        """Return the column as it reads on a step of a hierarchy: only the values are read again.

        Examples
        --------
        >>> from fractions import Fraction
        >>> age = encode_column(pd.Series([31, 38, 44]), Column("age"))
        >>> age.coarser(Hierarchy(bands=(Fraction(10),)), 1).values
        ('[30, 40)', '[40, 50)')
        """
        found, values = self.on_step(hierarchy, step)
        missing = values.index(None) if None in values else None
        return replace(self, codes=found[self.codes], values=values, missing=missing)

    def on_step(
        self, hierarchy: Hierarchy, step: int
    ) -> tuple[npt.NDArray[np.int32], tuple[str | None, ...]]:
        """Return for each value its place among those of a step, and these values."""
        found, uniques = pd.factorize(np.array(hierarchy.at(self.texts, step), dtype=object))
        return found.astype(np.int32), tuple(None if value == MISSING else str(value) for value in uniques)


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """Columns as codes, and whose rows they are. Internal: from private rows.

    Parameters
    ----------
    n_rows
        Number of rows.
    columns
        By name.
    people
        A number for each row's person, from 0 without gaps; None where every row is a person.
    weights
        How many people of the population a row stands for; None where no column says so.
    """

    n_rows: int
    columns: Mapping[str, EncodedColumn]
    people: Numbers | None = field(default=None, repr=False)
    weights: npt.NDArray[np.float64] | None = field(default=None, repr=False)

    @property
    def n_people(self) -> int:
        """Number of people; rows where no person key is marked."""
        return self.n_rows if self.people is None else int(self.people.max(initial=-1)) + 1

    def with_role(self, *roles: Role) -> tuple[str, ...]:
        """Return the names of the columns that have one of the roles."""
        return tuple(name for name, found in self.columns.items() if found.column.role in roles)

    @property
    def identifying(self) -> tuple[str, ...]:
        """Names of the columns that somebody else may know."""
        return self.with_role(*IDENTIFYING)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Names of the sensitive columns."""
        return self.with_role(Role.SENSITIVE)

    def with_column(self, changed: EncodedColumn) -> EncodedTable:
        """Return the table with one column replaced, for instance by a coarser one."""
        return replace(self, columns={**self.columns, changed.column.name: changed})


def encode(
    table: Table,
    schema: Schema,
    *,
    columns: Iterable[str] | None = None,
    people: Codes | None = None,
    beside: bool = False,
) -> EncodedTable:
    """Read every column that matters once.

    Parameters
    ----------
    table
        The table, after preparation.
    schema
        Roles, kinds and missing codes; which rows belong to one person; the weights.
    columns
        Names to encode; by default the identifying and the sensitive ones.
    people
        A number for each row's person, see `engine.table.declared.people_of`, where they are known already.
    beside
        Whether it stands beside the declared table, as a population does, or groups are only counted:
        it needs no person key, and weights are not read.

    Returns
    -------
    EncodedTable
        A cell that is empty or holds a declared missing code is missing, all missing cells of a column alike.

    Raises
    ------
    InputRefused
        ``table.no_such_column``, also for the person key; ``risk.weights``: a weight that is missing, not
        above zero or not a number, or weights whose sum is none.

    Examples
    --------
    >>> people = Table(pd.DataFrame({"age": [30, 30, 41], "sex": ["f", "?", None]}))
    >>> marked = (Column("age", Role.IDENTIFYING), Column("sex", Role.IDENTIFYING, missing=("?",)))
    >>> found = encode(people, Schema(marked))
    >>> found.columns["sex"].values, found.columns["sex"].codes.tolist()
    (('f', None), [0, 1, 1])
    """
    if columns is None:
        columns = [column.name for column in schema.with_role(*IDENTIFYING, Role.SENSITIVE)]
    encoded = {}
    for name in columns:
        if name not in table:
            raise InputRefused("table.no_such_column", file=table.source, column=name)
        encoded[name] = _encoded_once(table, schema.column(name))
    key = schema.person_key
    if key is not None and people is None and not beside and key.name not in table:
        raise InputRefused("table.no_such_column", file=table.source, column=key.name)
    person = _people(table, key) if people is None else _each_somebody(people)
    return EncodedTable(table.n_rows, encoded, person, None if beside else _weights(table, schema))


def encode_column(
    values: pd.Series,
    column: Column,
    *,
    options: ReadOptions = ReadOptions(),  # noqa: B008
    known: Encoded | None = None,
) -> EncodedColumn:
    """Return one column as codes; see `encode`.

    ``options`` say how a file writes its numbers and dates; ``known`` are its distinct cells, where they have
    been looked for.
    """
    found: arrays.Whole
    if known is None:
        found, uniques = pd.factorize(values)
    else:
        found, uniques = known.places, pd.Index(known.distinct.to_pandas(), dtype="str")
    codes = found.astype(np.int32)
    listed: list[object] = uniques.tolist() if hasattr(uniques, "tolist") else list(uniques)
    listed, new = _in_one_form(listed, holds_code(pd.Series(uniques), column, options))
    listed = _by_kind(listed, column, options)
    if new is not None:
        codes = new[codes]  # −1 is the last place, which stands for a missing cell
    absent = codes < 0
    if not absent.any():
        return EncodedColumn(column, codes, tuple(listed))
    codes[absent] = len(listed)
    return EncodedColumn(column, codes, (*listed, None), len(listed))


def _in_one_form(
    values: list[object], is_code: npt.NDArray[np.bool_]
) -> tuple[list[object], npt.NDArray[np.int32] | None]:
    """Take missing ones out of the values, and what reads like another one; say what becomes of each code.

    Blanks around a text are no part of it: a release does not have them, so that they make no other value.
    """
    if values and not is_code.any() and not isinstance(values[0], str):
        return values, None
    texts = [MISSING if gone else text for gone, text in zip(is_code, texts_of(values), strict=True)]
    kept: dict[str, object] = {}
    for text, value in zip(texts, values, strict=True):
        if text != MISSING:
            kept.setdefault(text, value)
    if len(kept) == len(values):
        return values, None
    place = {text: code for code, text in enumerate(kept)}
    new = np.array([*(place.get(text, -1) for text in texts), -1], dtype=np.int32)
    return list(kept.values()), new


def _by_kind(values: list[object], column: Column, options: ReadOptions) -> list[object]:
    """Return texts of a column that is declared as numbers or dates as these, if all are and none coincide.

    A missing code such as “?” makes the reader leave a whole column as text; its values keep their order.
    """
    if not values or column.kind not in (Kind.INTEGER, Kind.NUMBER, Kind.DATE):
        return values
    if not all(isinstance(value, str) for value in values):
        return values
    if column.kind is Kind.DATE and any(":" in str(value) for value in values):
        return values  # a date keeps no time of the day, which may tell people apart
    stored = stored_as_declared(pd.Series(values, dtype="str"), column, options)
    if stored.isna().any() or stored.nunique() < len(values):
        return values
    read: list[object] = stored.tolist()
    tree = column.hierarchy is not None and column.hierarchy.tree is not None
    # a tree names the values as they are written
    return values if tree and texts_of(read) != texts_of(values) else read


def _encoded_once(table: Table, column: Column) -> EncodedColumn:
    """Return a column as codes, as before where it is read alike: roles change, cells do not."""
    known = _KNOWN.setdefault(table, {})
    found = known.get(column.name)
    if found is None or replace(found.column, role=column.role) != column:
        encoded = table.encoded(column.name) if column.name in table.encodings else None
        found = encode_column(table.rows()[column.name], column, options=table.options, known=encoded)
        known[column.name] = found
    elif found.column != column:
        found = replace(found, column=column)
    return found


def _people(table: Table, key: Column | None) -> Numbers | None:
    """Return a number for each row's person, found out once for a key."""
    if key is None or key.name not in table:
        return None
    before = _KNOWN_PEOPLE.get(table)
    if before is None or before[0] != key:
        before = key, _each_somebody(people_of(table, key).places)
        _KNOWN_PEOPLE[table] = before
    return before[1]


def _each_somebody(person: Codes | None) -> Numbers | None:
    """Let every row without a key be a person of its own; None where no person has two rows."""
    if person is None:
        return None
    places = person.astype(np.int64)
    nobody = places < 0
    places[nobody] = places.max(initial=-1) + 1 + np.arange(int(nobody.sum()))
    places, count = dense(places, int(places.max(initial=-1)) + 1)
    return places if count < len(places) else None


def _weights(table: Table, schema: Schema) -> npt.NDArray[np.float64] | None:
    for column in schema.with_role(Role.WEIGHT):
        if column.name not in table:
            raise InputRefused("table.no_such_column", file=table.source, column=column.name)
        weights = pd.to_numeric(table.rows()[column.name], errors="coerce").to_numpy(dtype=np.float64)
        if not (np.isfinite(weights) & (weights > 0)).all() or not math.isfinite(weights.sum()):
            raise InputRefused("risk.weights", column=column.name)
        return weights
    return None
