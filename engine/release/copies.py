"""Copies of released tables that statistics packages open: labelled SPSS and Stata files, and Parquet.

Made on wish from the released CSV and its dictionary alone, so that they say nothing more, and the same in
every making: the time that both packages write into a file is taken out. Whoever checks a bundle reads them
back and compares them with the CSV, cell by cell and label by label.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from engine import texts

COPIES = {
    "sav": "application/x-spss-sav",
    "dta": "application/x-stata-dta",
    "parquet": "application/vnd.apache.parquet",
}
"""Endings and media types of the copies that can be wished for."""
ENDINGS = tuple(f".{ending}" for ending in COPIES)
DESCRIPTIONS = ("healthdcat", "croissant")


def wishes() -> tuple[str, ...]:
    """Return all that can be made on wish: copies, descriptions, and the papers in a further language."""
    return (*COPIES, *DESCRIPTIONS, *texts.languages())


"""What is made beside the tables on wish: copies of other formats, and descriptions for catalogues."""
NO_TIME = {"sav": b"01 Jan 7000:00:00", "dta": b"01 Jan 1970 00:00"}
_SAV_TIME = 92
"""Where a file of SPSS says when it was made, behind fields of fixed length."""
_DTA_TIME = re.compile(rb"(<timestamp>\x11).{17}(</timestamp>)", re.DOTALL)
MOST_BYTES, MOST_OF_LABEL, MOST_OF_NAME = {"sav": 250, "dta": 80}, 120, 32
_CODE = re.compile(r"0|-?[1-9][0-9]{0,8}")
RESERVED = frozenset(
    (
        *("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with", "using"),
        *("byte", "double", "float", "if", "in", "int", "long"),
    )
)
READ: Mapping[str, Callable[[str], Any]] = {"integer": int, "number": float, "date": date.fromisoformat}
Fields = Sequence[Mapping[str, Any]]


def copy_table(content: bytes, fields: Fields, ending: str, *, title: str) -> bytes:
    """Return a released CSV as a file of another format.

    Parameters
    ----------
    content
        The bytes of the CSV.
    fields
        What the data package says of its columns.
    ending
        One of `COPIES`.
    title
        Of the release.

    Raises
    ------
    Exception
        Whatever the format cannot hold: text longer than it knows, whole numbers beyond its exact ones.
    """
    cells = _cells(content, fields)
    made = _parquet(cells, fields) if ending == "parquet" else _package(cells, fields, ending, title)
    if _says_other(made, cells, fields, ending):
        raise ValueError("the format does not hold what the table says")
    return made


def differs(copy: bytes, content: bytes, fields: Fields, ending: str) -> bool:
    """Say whether a copy, read back, says anything else than its CSV: names, cells, labels, meanings."""
    return _says_other(copy, _cells(content, fields), fields, ending)


def _says_other(copy: bytes, cells: Mapping[str, list[Any]], fields: Fields, ending: str) -> bool:
    if ending == "parquet":
        import pyarrow.parquet as parquet

        table = parquet.read_table(io.BytesIO(copy))
        said = {field.name: _plain(field.metadata or {}) for field in table.schema}
        return table.to_pydict() != cells or said != {one["name"]: _plain(_metadata(one)) for one in fields}
    return _read_package(copy, fields, ending) != _as_read(cells, fields, ending)


def _cells(content: bytes, fields: Fields) -> dict[str, list[Any]]:
    """Return the columns of a CSV as what they are; None for an empty cell."""
    heads, *rows = csv.reader(io.StringIO(content.decode("utf-8"), newline=""))
    if heads != [one["name"] for one in fields]:
        raise ValueError("the columns are not those of the dictionary")
    columns = zip(*rows, strict=True) if rows else ((),) * len(heads)
    return {
        one["name"]: [None if cell == "" else READ.get(one["type"], str)(cell) for cell in column]
        for one, column in zip(fields, columns, strict=True)
    }


def _plain(said: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    return {name: value for name, value in said.items() if name in (b"description", b"unit", b"labels")}


def _metadata(field: Mapping[str, Any]) -> dict[bytes, bytes]:
    labels = "; ".join(f"{one['value']} = {one['label']}" for one in field.get("categories", ()))
    said = {"description": field["description"], "unit": field.get("unit", ""), "labels": labels}
    return {name.encode(): text.encode() for name, text in said.items() if text}


def _parquet(cells: Mapping[str, list[Any]], fields: Fields) -> bytes:
    import pyarrow
    import pyarrow.parquet as parquet

    kinds = {"integer": pyarrow.int64(), "number": pyarrow.float64(), "date": pyarrow.date32()}
    columns, heads = [], []
    for field in fields:
        name, kind = field["name"], kinds.get(field["type"], pyarrow.string())
        column = pyarrow.array(cells[name], kind)
        if "categories" in field and field["type"] == "string":
            values = pyarrow.array([one["value"] for one in field["categories"]], kind)
            places = {value: place for place, value in enumerate(values.to_pylist())}
            codes = pyarrow.array([places.get(cell) for cell in cells[name]], pyarrow.int32())
            column = pyarrow.DictionaryArray.from_arrays(codes, values, ordered=field["categoriesOrdered"])
        columns.append(column)
        heads.append(pyarrow.field(name, column.type, metadata=_metadata(field)))
    target = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_arrays(columns, schema=pyarrow.schema(heads)), target)
    return target.getvalue()


# --- SPSS and Stata -----------------------------------------------------------------------------------


def names_of(fields: Fields) -> list[str]:
    """Return names that both packages take, as like those of the columns as they can be, each once.

    Examples
    --------
    >>> names_of([{"name": name} for name in ("age", "Age", "2nd stay", "by", "größe")])
    ['age', 'Age_2', 'v_2nd_stay', 'v_by', 'gr__e']
    """
    names: list[str] = []
    for field in fields:
        name = re.sub(r"[^A-Za-z0-9_]", "_", field["name"])[: MOST_OF_NAME - 5]
        name = name if name[:1].isalpha() and name.casefold() not in RESERVED else f"v_{name}"
        taken, number, wanted = {one.casefold() for one in names}, 2, name
        while name.casefold() in taken:
            name, number = f"{wanted}_{number}", number + 1
        names.append(name)
    return names


def _cut(text: str, most: int) -> str:
    """Return as much of a text as a package keeps: so many bytes, without blanks at the end."""
    return text.encode()[:most].decode(errors="ignore").rstrip()


def _title(field: Mapping[str, Any], name: str, ending: str) -> str:
    unit = f" ({field['unit']})" if field.get("unit") else ""
    own = f"{field['name']}: " if field["name"] != name else ""
    return _cut(f"{own}{field['description']}{unit}", MOST_BYTES[ending])


def _codes(field: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of each value of a category: its own where all are whole numbers, else its place."""
    values = [one["value"] for one in field.get("categories", ())]
    own = all(_CODE.fullmatch(value) for value in values)
    return {value: int(value) if own else place for place, value in enumerate(values, 1)}


def _labels(field: Mapping[str, Any]) -> dict[int, str]:
    """Return what each number stands for: the label alone only where the number is the value itself."""
    codes = _codes(field)
    own = {str(code) for code in codes.values()} == set(codes)
    said = {one["value"]: one["label"] for one in field.get("categories", ())}
    full = {value: label if own or label == value else f"{value} = {label}" for value, label in said.items()}
    return {codes[value]: _cut(text, MOST_OF_LABEL) for value, text in full.items()}


def _numbers(cells: Mapping[str, list[Any]], field: Mapping[str, Any]) -> list[Any]:
    """Return the cells of a column as a package keeps them: numbers, days, texts without missing ones."""
    column = cells[field["name"]]
    if "categories" in field:
        codes = _codes(field)
        return [None if cell is None else codes[cell] for cell in column]
    return ["" if cell is None else cell for cell in column] if field["type"] == "string" else column


def _package(cells: Mapping[str, list[Any]], fields: Fields, ending: str, title: str) -> bytes:
    import pandas as pd
    import pyreadstat

    names = names_of(fields)
    columns = {}
    for name, field in zip(names, fields, strict=True):
        found = _numbers(cells, field)
        is_text = field["type"] == "string" and "categories" not in field
        is_whole = "categories" in field
        kind = "Int32" if is_whole else "object" if is_text or field["type"] == "date" else "float64"
        columns[name] = pd.Series(found, dtype=kind)
    options: dict[str, Any] = {
        "file_label": _cut(title, 60),
        "column_labels": [_title(one, name, ending) for name, one in zip(names, fields, strict=True)],
        "variable_value_labels": {
            name: _labels(one) for name, one in zip(names, fields, strict=True) if "categories" in one
        },
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table.{ending}"
        write = pyreadstat.write_sav if ending == "sav" else pyreadstat.write_dta
        write(pd.DataFrame(columns), str(path), **options)
        return _without_time(path.read_bytes(), ending)


def _without_time(made: bytes, ending: str) -> bytes:
    if ending == "sav":
        return made[:_SAV_TIME] + NO_TIME["sav"] + made[_SAV_TIME + len(NO_TIME["sav"]) :]
    return _DTA_TIME.sub(lambda found: found[1] + NO_TIME["dta"] + found[2], made, count=1)


def _as_read(cells: Mapping[str, list[Any]], fields: Fields, ending: str) -> dict[str, Any]:
    """Return what reading a right copy gives."""
    return {
        name: (_numbers(cells, field), _labels(field), _title(field, name, ending))
        for name, field in zip(names_of(fields), fields, strict=True)
    }


def _read_package(copy: bytes, fields: Fields, ending: str) -> dict[str, Any]:
    import pandas as pd
    import pyreadstat

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table.{ending}"
        path.write_bytes(copy)
        read = pyreadstat.read_sav if ending == "sav" else pyreadstat.read_dta
        frame, meta = read(str(path))
    kinds = dict(zip(names_of(fields), fields, strict=True))
    found: dict[str, Any] = {}
    if list(frame.columns) != list(kinds):
        return found
    for name in kinds:
        is_text = kinds[name]["type"] == "string" and "categories" not in kinds[name]
        column = [cell if is_text or not pd.isna(cell) else None for cell in frame[name].tolist()]
        labels = {int(code): label for code, label in meta.variable_value_labels.get(name, {}).items()}
        found[name] = (column, labels, meta.column_names_to_labels.get(name) or "")
    return found
