"""The values of parameters as people write them: typed into a field, or in a file with one record a line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from engine import strict_json
from engine.bounded import read_text
from engine.errors import InputRefused
from engine.methods.parameters import Parameter, ParameterKind
from engine.numbers import shortest_json, surely

LARGEST_FILE = 10**6  # bytes


def parse_typed(parameter: Parameter, text: str) -> Any:
    """Return what was typed for a parameter as its JSON value; a number that is none stays a text.

    Examples
    --------
    >>> parse_typed(Parameter("epsilon", ParameterKind.NUMBER), "1/3")
    '1/3'
    >>> [parse_typed(Parameter("bound", ParameterKind.NUMBER), one) for one in ("2,5", "1.000")]
    [2.5, '1.000']
    >>> parse_typed(Parameter("edges", ParameterKind.EDGES), "0, 10; 20.5 2021-01-31")
    [0, 10, 20.5, '2021-01-31']
    >>> parse_typed(Parameter("names", ParameterKind.TEXTS), "yes; no; rather not, thank you")
    ['yes', 'no', 'rather not, thank you']
    >>> parse_typed(Parameter("parts", ParameterKind.SHARES), "3/4, 1/4")
    ['3/4', '1/4']
    """
    return _TYPED.get(parameter.kind, str)(text)


def _point(parameter: Parameter, cell: str) -> str:
    """Return a number of a file so that it means one: a program writes a point before decimals."""
    is_number = parameter.kind in (ParameterKind.NUMBER, ParameterKind.INTEGER)
    return f"{cell}0" if is_number and re.fullmatch(r"[-+]?\d+\.\d+", cell.strip()) else cell


def _number(text: str) -> Any:
    """Return the number that is written; what is none, or may be two (1.000), stays a text and is refused."""
    found = surely(text)
    return text if found is None else shortest_json(found)


def _list(text: str) -> list[Any]:
    return [_number(item) for item in re.split(r"[;,\s]+", text) if item]


def _texts(text: str) -> list[str]:
    return [item.strip() for item in text.split(";") if item.strip()]


def _shares(text: str) -> list[Any]:
    return [item if "/" in item else _number(item) for item in re.split(r"[;,\s]+", text) if item]


_TYPED: Mapping[ParameterKind, Callable[[str], Any]] = {
    ParameterKind.NUMBER: _number,
    ParameterKind.INTEGER: _number,
    ParameterKind.TEXTS: _texts,
    ParameterKind.COLUMNS: _texts,
    ParameterKind.EDGES: _list,
    ParameterKind.SHARES: _shares,
}


def read_records(path: Path, parameter: Parameter) -> list[dict[str, Any]]:
    """Return the records of a file: CSV with the names of the fields in its first line, or a JSON list.

    Parameters
    ----------
    path
        UTF-8; the columns of a CSV are parted by the first of semicolon, tab and comma in its first line.
    parameter
        Of records; its fields are the names that are understood.

    Returns
    -------
    list of dict
        JSON values, empty cells left out. They are not checked yet.

    Raises
    ------
    InputRefused
        ``parameters.file_not_read``, ``parameters.file_not_records``, ``parameters.file_field``,
        ``parameters.file_line``, ``document.too_large``. No cell of the file is named.
    """
    try:
        text = read_text(path, LARGEST_FILE, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputRefused("parameters.file_not_read", file=path.name) from error
    is_json = text.lstrip()[:1] in ("[", "{")
    found = _from_json(text, path.name) if is_json else _from_csv(text, parameter, path.name)
    if not found:
        raise InputRefused("parameters.file_not_records", file=path.name)
    return found


def _from_json(text: str, file: str) -> list[dict[str, Any]]:
    try:
        tree = strict_json.loads(text)
    except ValueError as error:
        raise InputRefused("parameters.file_not_records", file=file) from error
    if not isinstance(tree, list) or not all(isinstance(one, dict) for one in tree):
        raise InputRefused("parameters.file_not_records", file=file)
    return tree


def _from_csv(text: str, parameter: Parameter, file: str) -> list[dict[str, Any]]:
    first = text.split("\n", 1)[0]
    mark = next((one for one in ";\t," if one in first), ",")
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=mark, strict=True))
    except csv.Error as error:
        raise InputRefused("parameters.file_not_records", file=file) from error
    fields = {one.name: one for one in parameter.fields}
    names = [name.strip().casefold() for name in rows[0]] if rows else []
    if not names or len(set(names)) < len(names) or not set(names) <= set(fields):
        raise InputRefused("parameters.file_field", file=file, fields=", ".join(fields))
    found = []
    for line, row in enumerate(rows[1:], 2):
        if len(row) > len(names):
            raise InputRefused("parameters.file_line", file=file, line=line, expected=len(names))
        cells = {name: cell.strip() for name, cell in zip(names, row, strict=False) if cell.strip()}
        if cells:
            if mark != ";":  # with semicolons, a comma or a point may be either
                cells = {name: _point(fields[name], cell) for name, cell in cells.items()}
            found.append({name: parse_typed(fields[name], cell) for name, cell in cells.items()})
    return found
