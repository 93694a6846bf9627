"""Each row alone and in company gives the same cells: for every format and every declared kind."""

import csv
import datetime
import decimal
import io
import zlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pyreadstat
import pytest
from openpyxl import Workbook

from engine.errors import InputRefused
from engine.table.declared import as_declared
from engine.table.fingerprint import fingerprints
from engine.table.reading import statistics_packages
from engine.table.reading.options import ReadOptions
from engine.table.reading.readers import detect, read_table
from engine.table.reading.room import Room
from engine.table.schema import Column, Kind, Role, Schema

MIXED = [
    *(
        7,
        7.0,
        7.5,
        0.1,
        -3,
        1e22,
        1e100,
        -1e300,
        2**53 + 1,
        10**18,
        True,
        "7",
        " 7 ",
        "07",
        "7.0",
        "",
        None,
        "x",
        "1e3",
        "-",
    ),
    *(datetime.datetime(2020, 1, 2, 3, 4), datetime.datetime(2020, 1, 2), datetime.date(1890, 5, 6)),
    *("2020-01-02", "03/04/2020", "1,234", "1.234.567", "nan", "inf", datetime.time(12, 30)),
]
WORDS = ["a", "", "7", "07", "2020-01-02", "x" * 300, "é", "-9"]
NUMBERS = [1.0, 7.0, 7.5, np.nan, -1e300, 1e22, 0.1, float(2**53 + 2)]


def declared(path, kind, role, options=None):
    text = Schema(tuple(Column(name, kind=Kind.TEXT) for name in detect(path, options=options).names))
    table = read_table(path, options=options, schema=text)  # as a release reads it
    schema = Schema(tuple(Column(name, role=role, kind=kind) for name in table.names))
    frame = as_declared(table, schema).rows()
    return [[told(value) for value in row] for row in frame.itertuples(index=False)], table.options


def told(value):
    """Write a cell so that equal cells are equal words, missing ones too."""
    return "missing" if pd.isna(value) else repr(value)


def write_excel(path, rows):
    book = Workbook()
    book.active.append(["a", "b"])
    for row in rows:
        book.active.append(row)
    book.save(path)


def write_parquet(path, rows):
    kinds = {
        "int": pa.int64(),
        "small": pa.int8(),
        "unsigned": pa.uint64(),
        "float": pa.float64(),
        "text": pa.string(),
        "truth": pa.bool_(),
        "day": pa.date32(),
        "ns": pa.timestamp("ns"),
        "s": pa.timestamp("s"),
        "money": pa.decimal128(12, 2),
        "key": pa.decimal128(38, 0),
        "list": pa.list_(pa.int64()),
    }
    columns = {name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()}
    pyarrow.parquet.write_table(pa.table(columns), path)


PARQUET = [
    {
        "int": int_,
        "small": small,
        "unsigned": unsigned,
        "float": number,
        "text": text,
        "truth": truth,
        "day": day,
        "ns": stamp,
        "s": stamp,
        "money": None if number is None else decimal.Decimal(str(small or 0)) / 4,
        "key": None if int_ is None else decimal.Decimal(int_),
        "list": None if small is None else [small],
    }
    for int_, small, unsigned, number, text, truth, day, stamp in [
        (1, 1, 1, 1.0, "1", True, datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)),
        (None, None, None, None, None, None, None, None),
        (2**53 + 1, -7, 2**64 - 1, 0.5, "", False, datetime.date(1, 1, 1), datetime.datetime(1990, 1, 1, 5)),
        (-(2**62), 0, 2**63, float("inf"), "07", None, datetime.date(9999, 12, 31), None),
        (7, 5, 0, float("nan"), " x ", True, None, datetime.datetime(2262, 1, 1)),
    ]
]
PACKAGES = [
    {"n": number, "word": word, "day": day}
    for number, word, day in zip(
        NUMBERS, WORDS, [0.0, 1.0, np.nan, 4e12, -1e12, 1e18, 21_000.0, 5.5], strict=True
    )
]
FORMATS = {"sav": {"day": "DATE11"}, "dta": {"day": "%td"}, "xpt": {"day": "DATE9"}}


def write_package(path, rows):
    write = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}
    frame = pd.DataFrame(rows, columns=["n", "word", "day"])
    write[path.suffix](frame, str(path), variable_format=FORMATS[path.suffix[1:]])


TEXT = [
    *("7", " 7 ", "07", "7.0", "+7", "", "x", "1e3", "1e400", "-", "0x1F", "nan", "inf", "1,5", "1.234,5"),
    *("1.5", "2020-01-02", "2.1.2020", "3/4/2020", "12/31/2020", "2020-02-30", "1500-01-01", "9999-12-31"),
    *("2020-01-01 10:00:00.123456789", "Köln", "two\nlines", 'with "marks"', "with; marks", "a\\"),
    *("9" * 101, "x" * 300, "nul\0", "\u00a0 7", "=1+1", "?"),
]


def write_text(path, rows):
    lines = io.StringIO()
    csv.writer(lines, delimiter=";", lineterminator="\n").writerows([["a", "b"], *rows])
    path.write_bytes(lines.getvalue().encode("cp1252"))


CASES = {
    "csv": (write_text, [[cell, f"row {place}"] for place, cell in enumerate(TEXT)]),
    "xlsx": (write_excel, [[value, f"row {place}"] for place, value in enumerate(MIXED)]),
    "parquet": (write_parquet, PARQUET),
    "sav": (write_package, PACKAGES),
    "dta": (write_package, PACKAGES),
    "xpt": (write_package, PACKAGES),
}
SAID = {
    "xlsx": ReadOptions(sheet="Sheet", header=True, date_order="dmy"),
    "csv": ReadOptions(
        *("text", ";", "cp1252", True, 0, ",", ".", '"', ""), date_order="dmy", missing=("?",), width=2
    ),
}
DECLARATIONS = [*((kind, Role.OTHER) for kind in Kind), (Kind.TEXT, Role.PERSON_KEY)]


@pytest.mark.parametrize(("kind", "role"), DECLARATIONS)
@pytest.mark.parametrize("ending", CASES)
def test_a_row_alone_is_read_as_in_company(tmp_path, ending, kind, role):
    write, rows = CASES[ending]
    together = tmp_path / f"all.{ending}"
    write(together, rows)
    options = SAID.get(ending)
    whole, options = declared(together, kind, role, options)
    assert len(whole) == len(rows)
    for place, row in enumerate(rows):
        alone = tmp_path / f"one.{ending}"
        write(alone, [row])
        assert declared(alone, kind, role, options)[0] == [whole[place]], (place, kind)


@pytest.mark.parametrize("kind", ["plain", "dictionary"])
def test_a_text_that_is_none_changes_no_other_cell_of_a_parquet_file(tmp_path, kind):
    """Some writers put any bytes into a column of texts."""
    cells = pa.array([b"a", b"M\xfcller", b"", None, b"b"], pa.binary())
    texts = cells.view(pa.string())
    texts = texts.dictionary_encode() if kind == "dictionary" else texts
    pyarrow.parquet.write_table(pa.table({"x": texts}), tmp_path / "people.parquet")
    found = read_table(tmp_path / "people.parquet")
    assert found.rows()["x"].astype(object).where(lambda one: one.notna(), None).tolist() == [
        *("a", "Müller", None, None, "b")
    ]
    assert [(one.code, one.count, one.rows) for one in found.findings] == [
        ("table.cells_undecodable", 1, (2,))
    ]
    fingerprints(found)


@pytest.mark.parametrize("kind", [pa.binary(), pa.binary(2), pa.large_binary()], ids=str)
def test_bytes_that_are_no_text_stay_different_people(tmp_path, kind):
    """Keys of a database can be bytes: with one sign for all that is no text they were one person."""
    cells = pa.array([b"\xff\xc8", b"\xff\xc9", b"ab", None, b"\xff\xc8"], kind)
    pyarrow.parquet.write_table(pa.table({"key": cells}), tmp_path / "people.parquet")
    found = read_table(tmp_path / "people.parquet")
    assert found.rows()["key"].astype(object).where(lambda one: one.notna(), None).tolist() == [
        *("ÿÈ", "ÿÉ", "ab", None, "ÿÈ")
    ]
    assert [(one.code, one.count, one.rows) for one in found.findings] == [
        ("table.cells_undecodable", 3, (1, 2, 5))
    ]


def recompressed(content: bytes, old: bytes, new: bytes) -> bytes:
    """Return a packed SPSS file of one block with other bytes in it."""
    start = content.index(zlib.compress(b"")[:1] + b"\x9c")
    header, trailer = start - 24, int.from_bytes(content[start - 16 : start - 8], "little")
    packed = zlib.compress(zlib.decompress(content[start:trailer]).replace(old, new))
    end = start + len(packed)
    places = content[header : header + 8] + end.to_bytes(8, "little") + content[start - 8 : start]
    return content[:header] + places + packed + content[trailer:-4] + len(packed).to_bytes(4, "little")


UNDECODABLE = {
    "dta": (lambda frame, path: pyreadstat.write_dta(frame, path), "é", "utf-8"),
    "old.dta": (lambda frame, path: pyreadstat.write_dta(frame, path, version=12), "e", "cp1252"),
    "sav": (lambda frame, path: pyreadstat.write_sav(frame, path), "é", "utf-8"),
    "zsav": (lambda frame, path: pyreadstat.write_sav(frame, path, compress=True), "é", "utf-8"),
    "xpt": (lambda frame, path: pyreadstat.write_xport(frame, path), "é", "utf-8"),
}


@pytest.mark.parametrize("ending", UNDECODABLE)
@pytest.mark.parametrize("pieces", [1, 4])
def test_a_text_in_no_encoding_changes_no_other_cell_of_a_statistics_package(
    tmp_path, monkeypatch, ending, pieces
):
    """One person's name in other bytes must not decide whether there is a release."""
    write, letter, encoding = UNDECODABLE[ending]
    path = tmp_path / f"people.{ending}"
    frame = pd.DataFrame(
        {"name": ["Zo" + letter, "BBBB", "", letter * 3, "Zo" + letter], "n": [1.0, 2.0, np.nan, 4.0, 5.0]}
    )
    write(frame, str(path))
    monkeypatch.setattr(
        statistics_packages, "_widest_row", lambda path, about: Room(path).most // (6 - pieces)
    )
    before = read_table(path)
    content = path.read_bytes()
    change = recompressed if ending == "zsav" else bytes.replace
    path.write_bytes(change(content, b"BBBB", b"B\x81BB"))
    after = read_table(path)
    assert after.names == before.names and after.options == before.options and not before.findings
    assert [(one.code, one.rows, one.count, one.more) for one in after.findings] == [
        ("table.cells_undecodable", (2,), 1, {"encoding": encoding})
    ]
    cells = [
        [[told(value) for value in row] for row in table.rows().itertuples(index=False)]
        for table in (before, after)
    ]
    assert cells[0][1][0] == "'BBBB'" and cells[1][1][0] == repr("B\x81BB")
    cells[0][1][0] = cells[1][1][0]
    assert cells[0] == cells[1]


def test_a_damaged_statistics_package_is_refused_as_before(tmp_path):
    path = tmp_path / "people.sav"
    pyreadstat.write_sav(pd.DataFrame({"name": ["a", "b"] * 500}), str(path))
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(InputRefused) as caught:
        read_table(path)
    assert caught.value.code == "table.package_damaged"
