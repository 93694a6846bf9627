"""Code books: what columns mean, their units, codes and bounds, from a file that describes the table.

A code book is a declaration: it was written before, and without, the rows. Two kinds are read: a table with a
line for each column or for each code (CSV, Excel), found by its headings; and what statistics packages keep
beside the rows (SPSS, Stata, SAS), of which no row is looked at here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.errors import InputRefused
from engine.numbers import exact
from engine.progress import SILENT, Progress
from engine.table.coding import texts_of
from engine.table.reading.readers import read_table
from engine.table.schema import MOST_LETTERS, Column, Domain, Kind, Origin, Schema
from engine.table.table import Table

HEADINGS: Mapping[str, tuple[str, ...]] = {
    "name": (
        "name",
        "column",
        "columnname",
        "variable",
        "variablename",
        "varname",
        "var",
        "field",
        "fieldname",
    ),
    "label": ("label", "variablelabel", "title"),
    "meaning": ("meaning", "description", "definition", "question"),
    "unit": ("unit", "units"),
    "code": ("code", "value"),
    "code_label": ("codelabel", "codemeaning", "valuelabel", "labelofvalue", "labelofcode", "category"),
    "codes": ("codes", "values", "categories", "choices", "valuelabels", "permittedvalues"),
    "minimum": ("minimum", "min", "lower", "lowest"),
    "maximum": ("maximum", "max", "upper", "highest"),
    "missing": ("missing", "missingcodes", "missingvalues"),
}
"""What a heading may be called, without blanks, signs and capitals."""
_BETWEEN = re.compile(r"\s*[;|\n]\s*")
_PAIR = re.compile(r"\s*(?:=|:|\s-\s)\s*")
_LISTED = (Kind.CATEGORY, Kind.ORDINAL)
_NUMERIC = (Kind.INTEGER, Kind.NUMBER)


@dataclass(frozen=True)
class Entry:
    """What a code book says of one column; what it does not say is empty."""

    meaning: str = ""
    unit: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    minimum: str = ""
    maximum: str = ""
    missing: tuple[str, ...] = ()


def read_code_book(path: str | os.PathLike[str], *, progress: Progress = SILENT) -> Mapping[str, Entry]:
    """Read a code book.

    Parameters
    ----------
    path
        A table about columns (CSV, Excel), or a file of a statistics package.
    progress
        Told where the work is.

    Returns
    -------
    Mapping
        Name of a column → what is said of it, in the order of the file.

    Raises
    ------
    InputRefused
        ``table.code_book_headings``: no heading says which column a line is about, or nothing else is said.
        ``table.*``: the file cannot be read.
    """
    table = read_table(path, progress=progress)
    if table.titles or table.labels:
        return _of_package(table)
    found = {kind: name for kind, name in _headings(table.names).items() if name}
    if "name" not in found or len(found) == 1:
        raise InputRefused("table.code_book_headings", file=Path(path).name, found=", ".join(table.names[:8]))
    cells = {kind: [_text(one) for one in texts_of(table.rows()[name])] for kind, name in found.items()}
    lines = [dict(zip(cells, line, strict=True)) for line in zip(*cells.values(), strict=True)]
    return _entries(lines)


def with_code_book(schema: Schema, book: Mapping[str, Entry]) -> tuple[Schema, tuple[str, ...]]:
    """Return a schema with what a code book says, and the names of the columns that it speaks of.

    Roles stay as they are. Codes become the declared values of a category, bounds those of a number, where
    nothing was declared before.

    Examples
    --------
    >>> schema = Schema((Column("sex", kind=Kind.CATEGORY),))
    >>> told, names = with_code_book(schema, {"SEX": Entry("Sex at birth", labels={"1": "m", "2": "f"})})
    >>> told.column("sex").meaning, told.column("sex").domain.values, names
    ('Sex at birth', ('1', '2'), ('sex',))
    """
    folded: dict[str, list[str]] = {}
    for name in book:
        folded.setdefault(name.casefold(), []).append(name)
    used = []
    for column in schema.columns:
        alike = [column.name] if column.name in book else folded.get(column.name.casefold(), [])
        if len(alike) == 1:
            schema = schema.with_column(_tell(column, book[alike[0]]))
            used.append(column.name)
    return schema, tuple(used)


def read_labels(written: str) -> dict[str, str]:
    """Return the codes of a line such as ``1=male; 2=female``; one without meanings says nothing.

    Examples
    --------
    >>> read_labels("1 = male; 2 = female"), read_labels("male, female")
    ({'1': 'male', '2': 'female'}, {})
    """
    pairs = [_PAIR.split(part, maxsplit=1) for part in _BETWEEN.split(written) if part]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        return {}
    return {code: label for code, label in pairs if code}


def _tell(column: Column, entry: Entry) -> Column:
    labels = {**column.labels, **entry.labels}
    missing = entry.missing or column.missing
    origin = None if entry.missing else column.missing_origin
    told = replace(
        column,
        meaning=entry.meaning or column.meaning,
        unit=entry.unit or column.unit,
        labels=labels,
        missing=missing,
        missing_origin=origin,
    )
    domain = None if told.is_declared else _domain(told, entry)
    return told if domain is None else replace(told, domain=domain, domain_origin=Origin.DECLARED)


def _domain(column: Column, entry: Entry) -> Domain | None:
    codes = tuple(code for code in entry.labels if code not in column.missing)
    if column.kind in _LISTED and len(codes) > 1:
        return Domain(values=codes)
    if column.kind in _NUMERIC and entry.minimum and entry.maximum:
        try:
            low, high = exact(entry.minimum), exact(entry.maximum)
        except (ValueError, ZeroDivisionError):
            return None
        return Domain(low, high) if low < high else None
    return None


def _of_package(table: Table) -> Mapping[str, Entry]:
    return {
        name: Entry(
            _text(table.titles.get(name, "")),
            labels=table.labels.get(name, {}),
            missing=table.missing.get(name, ()),
        )
        for name in table.names
        if name in table.titles or name in table.labels
    }


def _headings(names: Iterable[str]) -> dict[str, str]:
    plain = {re.sub(r"[\W_]+", "", name).casefold(): name for name in names}
    return {
        kind: next((plain[word] for word in words if word in plain), "") for kind, words in HEADINGS.items()
    }


def _entries(lines: Iterable[Mapping[str, str]]) -> Mapping[str, Entry]:
    found: dict[str, Entry] = {}
    name = ""
    for line in lines:
        name = line.get("name") or name  # lines of codes often leave the name out
        if name:
            found[name] = _line(found.get(name, Entry()), line)
    return found


def _line(before: Entry, line: Mapping[str, str]) -> Entry:
    code, label = line.get("code", ""), line.get("label", "")
    labels = {**before.labels, **read_labels(line.get("codes", ""))}
    meaning = line.get("meaning", "")
    if code:
        of_code = line.get("code_label") or label
        if not of_code and "meaning" in line:  # the only words of the line are those of the code
            of_code, meaning = meaning, ""
        labels[code] = of_code or code
        label = label if line.get("code_label") else ""
    missing = tuple(part for part in re.split(r"[\s,;|]+", line.get("missing", "")) if part)
    return Entry(
        before.meaning or meaning or label,
        before.unit or line.get("unit", ""),
        labels,
        before.minimum or line.get("minimum", ""),
        before.maximum or line.get("maximum", ""),
        before.missing or missing,
    )


def _text(cell: str) -> str:
    text = " ".join(str(cell).split())
    return "" if text in ("nan", "NaT", "None", "<NA>") else text[:MOST_LETTERS]
