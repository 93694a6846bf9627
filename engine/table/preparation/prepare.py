"""Recorded preparation: steps as plain JSON values, applied in their order, each row or person on its own.

Every step is an object with ``"step"`` and these members (``to`` names the new column; without it the column
is replaced):

- ``{"step": "keep_rows_where", "column": C, "is": "in", "values": [...]}``: also ``not_in``; ``at_least`` and
  ``at_most`` with ``"value"``; ``between`` with ``"minimum"`` and ``"maximum"`` (both included); ``missing``
  and ``not_missing``. A missing cell satisfies ``missing`` and ``not_in`` only.
- ``{"step": "drop_people", "file": "objected.csv", "column": C}``: every row of the people in a list, found
  by the person key; ``column`` names the column of the *list* (else its first), and ``"sha256"`` pins its
  content.
- ``{"step": "age_at", "column": BIRTH, "date": "2020-01-01", "to": C}`` or ``"date_column": D``: completed
  years; ``"minimum"`` and ``"maximum"`` declare the domain.
- ``{"step": "bands", "column": C, "edges": [0, 10, 20], "labels": [...], "to": C2}``: half-open bands; a
  number outside goes to the nearest band. Edges are declared, and so are the bands.
- ``{"step": "recode", "column": C, "map": {"a": "x"}, "others": "keep" | "missing" | "label", "label": "y"}``
  by a list; ``"file"`` instead of ``map`` names a file with two columns, old and new.

Conditions (``keep_rows_where``) are applied to the table as all other steps leave it, whatever their place:
`split` takes them apart because rows of a person are capped *before* any condition, so that one person
changes only the declared number of rows. A condition looks at no other row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.compute as pc

from engine.bounded import sha256
from engine.errors import InputRefused
from engine.numbers import exact
from engine.progress import SILENT, Progress
from engine.table.cells import series_of
from engine.table.coding import dates, filled_texts, holds_code, numbers, text_of, texts_of
from engine.table.declared import key_column, key_texts
from engine.table.preparation.declarations import Step
from engine.table.preparation.steps import band_labels, check, declared_by, made_name, mapping_of
from engine.table.reading.options import Finding, ReadOptions
from engine.table.reading.readers import read_table
from engine.table.schema import Column, Kind, Schema
from engine.table.table import Table


def split(steps: Sequence[Step]) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Take conditions on rows apart from all other steps.

    Returns
    -------
    tuple
        The steps before the cap (changes of columns, people dropped by a list), and the conditions after it.

    Examples
    --------
    >>> split([{"step": "keep_rows_where", "column": "a", "is": "missing"}, {"step": "age_at"}])[0]
    ({'step': 'age_at'},)
    """
    filters = tuple(step for step in steps if step.get("step") == "keep_rows_where")
    return tuple(step for step in steps if step.get("step") != "keep_rows_where"), filters


def prepare(
    table: Table,
    steps: Sequence[Step],
    schema: Schema,
    *,
    base: Path = Path(),
    progress: Progress = SILENT,
) -> tuple[Table, Schema]:
    """Apply recorded steps.

    Parameters
    ----------
    table
        The table as it was read; it is not changed.
    steps
        See the module.
    schema
        Its declarations; new columns are added to it.
    base
        Folder that the files of the steps are relative to.

    Returns
    -------
    tuple of Table and Schema
        The schema declares bands, recoded values and ages as far as the *steps* declare them.

    Raises
    ------
    InputRefused
        ``preparation.*``, or what `read_table` refuses about a list.

    Examples
    --------
    >>> from engine.table.schema import Role
    >>> table = Table(pd.DataFrame({"age": [4, 17, 90]}))
    >>> steps = [{"step": "bands", "column": "age", "edges": [0, 10, 20], "to": "band"}]
    >>> prepared, schema = prepare(table, steps, Schema((Column("age", Role.IDENTIFYING, Kind.INTEGER),)))
    >>> prepared.rows()["band"].tolist(), schema.column("band").domain.values
    (['[0-10)', '[10-20)', '[10-20)'], ('[0-10)', '[10-20)'))
    """
    check(steps, schema, columns=table.names, file=table.source or "table")
    changes, filters = split(steps)
    for place, step in enumerate(steps, 1):
        if step not in changes:
            continue
        progress.step(place / (len(steps) + 1), "table.prepare")
        table, schema = _STEPS[step["step"]](table, step, schema, place, base)
    return filter_rows(table, filters, schema), schema


def filter_rows(table: Table, filters: Sequence[Step], schema: Schema) -> Table:
    """Return the rows that satisfy every condition."""
    if not filters:
        return table
    return table.with_rows(table.rows()[mask(table, filters, schema)])


def mask(table: Table, filters: Sequence[Step], schema: Schema) -> npt.NDArray[np.bool_]:
    """Say for each row whether it satisfies every condition, looking at no other row.

    Returns
    -------
    array of bool, shape (rows,)
    """
    kept = np.ones(table.n_rows, dtype=bool)
    for step in filters:
        kept &= _satisfies(_cells(table, step["column"]), schema.column(step["column"]), step)
    return kept


_ENDS = {"at_least": ("value", None), "at_most": (None, "value"), "between": ("minimum", "maximum")}


def _satisfies(values: pd.Series, column: Column, step: Step) -> npt.NDArray[np.bool_]:
    condition = step["is"]
    if condition in ("in", "not_in", "missing", "not_missing"):
        text = _as_text(values, column)
        absent = text.isna().to_numpy()
        if condition == "missing":
            return np.asarray(absent)
        if condition == "not_missing":
            return np.asarray(~absent)
        inside = text.isin([text_of(value) for value in step["values"]]).to_numpy()
        return np.asarray(inside if condition == "in" else ~inside)
    # Only the ends of this condition: those of another one may stand beside them, and nobody checked them.
    of_low, of_high = _ENDS[condition]
    low, high = (None if name is None else step[name] for name in (of_low, of_high))
    kept = np.ones(len(values), dtype=bool)
    if column.kind is Kind.DATE:
        days = dates(values, column)
        kept &= ~np.isnat(days)
        if low is not None:
            kept &= days >= np.datetime64(str(low), "D")
        if high is not None:
            kept &= days <= np.datetime64(str(high), "D")
        return kept
    read = numbers(values, column)
    kept &= ~np.isnan(read)
    if low is not None:
        kept &= read >= float(exact(low))
    if high is not None:
        kept &= read <= float(exact(high))
    return kept


def _drop_people(table: Table, step: Step, schema: Schema, place: int, base: Path) -> tuple[Table, Schema]:
    key = schema.person_key
    if key is None or key.name not in table:
        raise InputRefused("preparation.no_person_key", place=place)
    # One form on both sides: whoever counts as one person in a release is one in the list.
    absent = {"", *key_texts(key.missing)}
    cells, columns = _column_of_list(step, base)
    listed = set(_bare(pd.Series(cells, dtype="str")).dropna()) - absent
    if not listed:
        raise InputRefused("preparation.list_without_keys", file=Path(step["file"]).name)
    people = _bare(table.rows()[key.name])
    gone = people.isin(listed).to_numpy()
    found = set(people[gone].unique())
    after = table.with_rows(table.rows()[~gone])
    about = {"people": len(found), "list": Path(step["file"]).name}
    notes = [Finding("preparation.people_dropped", table.source, "", int(gone.sum()), more=about)]
    if len(listed) > len(found):
        missing = len(listed) - len(found)
        notes.append(Finding("preparation.people_not_found", table.source, "", missing, more=about))
    if columns > 1:
        notes.append(Finding("preparation.first_of_list", table.source, "", columns, more=about))
    return after.with_findings(notes), schema


def _bare(keys: pd.Series) -> pd.Series:
    """Write person keys in one form without leading zeros: "03", "3.0" and 3 are who objected as "3".

    Where "3" and "03" are two people, both go: it is the list that must be obeyed, and each row by itself.
    """
    return series_of(pc.replace_substring_regex(key_column(keys), r"^(-?)0+(\d+)$", r"\1\2"))


def _age_at(table: Table, step: Step, schema: Schema, place: int, base: Path) -> tuple[Table, Schema]:
    born = _days(table, step["column"], schema)
    if step.get("date_column") is not None:
        then = _days(table, step["date_column"], schema)
    else:
        then = np.full(len(born), np.datetime64(step["date"], "D"))
    return _with_column(table, pd.Series(_years(born, then)), step, declared_by(step, schema))


def _years(born: npt.NDArray[np.datetime64], then: npt.NDArray[np.datetime64]) -> npt.NDArray[np.float64]:
    """Return completed years; who is born on 29 February has the birthday on 1 March of other years."""
    absent = np.isnat(born) | np.isnat(then)
    first, last = (np.where(absent, np.datetime64("2000-01-01"), days) for days in (born, then))
    year_of = [days.astype("datetime64[Y]").astype(int) for days in (first, last)]
    month_of = [days.astype("datetime64[M]").astype(int) % 12 for days in (first, last)]
    day_of = [
        (days - days.astype("datetime64[M]").astype("datetime64[D]")).astype(int) for days in (first, last)
    ]
    before = (month_of[1] < month_of[0]) | ((month_of[1] == month_of[0]) & (day_of[1] < day_of[0]))
    years = (year_of[1] - year_of[0] - before).astype(np.float64)
    years[absent | (years < 0)] = np.nan
    return np.asarray(years)


def _bands(table: Table, step: Step, schema: Schema, place: int, base: Path) -> tuple[Table, Schema]:
    source = schema.column(step["column"])
    edges = [exact(edge) for edge in step["edges"]]
    labels = band_labels(step)
    read = numbers(_cells(table, step["column"]), source)
    found = np.searchsorted(np.array([float(edge) for edge in edges]), read, side="right") - 1
    found = np.clip(found, 0, len(labels) - 1)
    found[np.isnan(read)] = len(labels)
    taken = pd.Series([*labels, None], dtype="str").take(found).reset_index(drop=True)
    return _with_column(table, taken, step, declared_by(step, schema))


def _recode(table: Table, step: Step, schema: Schema, place: int, base: Path) -> tuple[Table, Schema]:
    source = schema.column(step["column"])
    if step.get("file") is not None:
        listed = _read_list(step, base)
        frame_of_list = listed.rows()
        if len(listed.names) < 2:
            raise InputRefused("preparation.bad_value", file=listed.source, place=place, name="file")
        old, new = (texts_of(frame_of_list[name].fillna("")) for name in listed.names[:2])
        mapping = dict(zip(old, new, strict=True))
    else:
        mapping = mapping_of(step)
    others = step.get("others", "keep")
    text = _as_text(_cells(table, step["column"]), source)
    mapped = text.map(mapping)
    unknown = mapped.isna() & text.notna()
    if others == "keep":
        mapped = mapped.mask(unknown, text)
    elif others == "label":
        mapped = mapped.mask(unknown, step["label"])
    return _with_column(table, mapped.astype("str"), step, declared_by(step, schema, mapping))


def _with_column(table: Table, values: pd.Series, step: Step, schema: Schema) -> tuple[Table, Schema]:
    made = schema.column(made_name(step))
    values = values.mask(holds_code(values, made)) if made.missing else values
    plain = values.to_numpy() if values.dtype.kind == "f" else values.array
    return table.with_column(made_name(step), plain), schema


def _as_text(values: pd.Series, column: Column) -> pd.Series:
    """Return cells as text in one form, missing codes as NaN."""
    found, uniques = pd.factorize(values)
    texts = [text or None for text in filled_texts(uniques, column)]
    return pd.Series([*texts, None], dtype="str").take(found).reset_index(drop=True)


def _days(table: Table, name: str, schema: Schema) -> npt.NDArray[np.datetime64]:
    return dates(table.rows()[name], schema.column(name))


def _cells(table: Table, name: str) -> pd.Series:
    return table.rows()[name]


def _read_list(step: Step, base: Path) -> Table:
    """Read a list as it is written; its first line counts, for a heading in a list of keys does no harm."""
    path = base / step["file"]
    if "sha256" in step:
        try:
            found = sha256(path)
        except OSError:
            found = step["sha256"]  # the reader says what is wrong with the file
        if found != step["sha256"]:
            raise InputRefused("preparation.list_changed", file=path.name)
    header = bool(step.get("column")) if step["step"] == "drop_people" else False
    options = ReadOptions(header=header) if header else ReadOptions(header=False, skip_rows=0)
    text = Schema(tuple(Column(f"column {place}", kind=Kind.TEXT) for place in range(1, 10)))
    return read_table(path, options=options, schema=text)


def _column_of_list(step: Step, base: Path) -> tuple[list[str], int]:
    """Return the keys of a list, and how many columns it has of which nobody named one."""
    listed = _read_list(step, base)
    name = step.get("column") or listed.names[0]
    if name not in listed:
        raise InputRefused("table.no_such_column", file=listed.source, column=name)
    return texts_of(listed.rows()[name].dropna()), 1 if step.get("column") else len(listed.names)


_Change = Callable[[Table, Step, Schema, int, Path], tuple[Table, Schema]]
_STEPS: dict[str, _Change] = {
    "keep_rows_where": lambda table, step, schema, place, base: (filter_rows(table, (step,), schema), schema),
    "drop_people": _drop_people,
    "age_at": _age_at,
    "bands": _bands,
    "recode": _recode,
}
