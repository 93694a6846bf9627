"""Small files that unpack to more than any computer holds: said before it is read, in every format."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pyreadstat
import pytest

from engine import memory
from engine.errors import InputRefused
from engine.table.reading import excel, room, statistics_packages
from engine.table.reading.readers import read_table
from engine.texts import explain

ROOT = Path(__file__).resolve().parents[4]
LONG = "x" * 1000
ROWS = 3000


def parquet_dictionary(folder: Path) -> Path:
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(ROWS, np.int32)), pa.array([LONG]))
    pyarrow.parquet.write_table(pa.table({"a": texts}), folder / "a.parquet")
    return folder / "a.parquet"


def parquet_plain(folder: Path) -> Path:
    table = pa.table({"a": [LONG] * ROWS})
    pyarrow.parquet.write_table(table, folder / "a.parquet", use_dictionary=False, compression="zstd")
    return folder / "a.parquet"


def parquet_bytes(folder: Path) -> Path:
    pyarrow.parquet.write_table(pa.table({"a": [LONG.encode()] * ROWS}), folder / "a.parquet")
    return folder / "a.parquet"


def parquet_lists(folder: Path) -> Path:
    pyarrow.parquet.write_table(pa.table({"a": [[LONG] * 10] * (ROWS // 10)}), folder / "a.parquet")
    return folder / "a.parquet"


def parquet_numbers(folder: Path) -> Path:
    table = pa.table({f"c{place}": np.zeros(ROWS) for place in range(100)})
    pyarrow.parquet.write_table(table, folder / "a.parquet")
    return folder / "a.parquet"


def spss(folder: Path) -> Path:
    frame = pd.DataFrame({"a": [LONG] * ROWS, "n": np.arange(ROWS)})
    pyreadstat.write_sav(frame, folder / "a.zsav", compress=True)
    return folder / "a.zsav"


def stata(folder: Path) -> Path:
    """One text kept apart from the rows, to which every row refers."""
    frame = pd.DataFrame({"a": [LONG] * ROWS, "n": np.arange(ROWS)})
    frame.to_stata(folder / "a.dta", version=118, convert_strl=["a"], write_index=False)
    return folder / "a.dta"


def workbook_texts(folder: Path) -> Path:
    """One text that stands once in the file, and is referred to from every cell."""
    book = openpyxl.Workbook()
    for row in [["a", "b"]] + [[LONG, 1]] * ROWS:
        book.active.append(row)
    book.save(folder / "a.xlsx")
    return folder / "a.xlsx"


def workbook_far(folder: Path) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in range(1, 60):
        sheet.cell(row, 1, "a")
        sheet.cell(row, 4000, 1)
    book.save(folder / "a.xlsx")
    return folder / "a.xlsx"


def short_rows(folder: Path) -> Path:
    header = ",".join(f"c{place}" for place in range(500))
    (folder / "a.csv").write_text(header + "\n" + "1,2\n" * ROWS)
    return folder / "a.csv"


BOMBS = (
    parquet_dictionary, parquet_plain, parquet_bytes, parquet_lists, parquet_numbers,
    spss, stata, workbook_texts, workbook_far, short_rows,
)  # fmt: skip


@pytest.mark.guarantee
@pytest.mark.parametrize("made", BOMBS, ids=lambda made: made.__name__)
def test_what_unpacks_to_too_much_is_said_and_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made
) -> None:
    path = made(tmp_path)
    assert read_table(path).n_rows > 1
    monkeypatch.setattr(room, "FREE", 500_000)
    monkeypatch.setattr(room, "PER_BYTE", 1)
    assert path.stat().st_size < 500_000
    with pytest.raises(InputRefused) as caught:
        read_table(path)
    assert caught.value.code == "table.unpacks_too_large"
    assert caught.value.values["file"] == path.name
    assert caught.value.values["size"] >= caught.value.values["most"]


@pytest.mark.parametrize("made", BOMBS, ids=lambda made: made.__name__)
def test_what_this_computer_does_not_hold_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made
) -> None:
    path = made(tmp_path)
    monkeypatch.setattr(room, "physical", lambda: 400_000)
    with pytest.raises(InputRefused) as caught:
        read_table(path)
    assert caught.value.code == "table.too_large"


def test_a_file_larger_than_the_memory_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n")
    with path.open("r+b") as file:
        file.truncate(memory.physical() + 1)  # a hole: it takes no room on the disk
    with pytest.raises(InputRefused) as caught:
        read_table(path)
    assert caught.value.code == "table.too_large"


@pytest.mark.parametrize("made", [spss, stata])
def test_files_of_the_packages_are_the_same_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made
) -> None:
    path = made(tmp_path)
    whole = read_table(path)
    read = statistics_packages._read
    limits: list[int] = []

    def few(path, options, **further):
        if "row_limit" in further:
            limits.append(further["row_limit"])
        return read(path, options, **further)

    monkeypatch.setattr(statistics_packages, "_read", few)
    monkeypatch.setattr(statistics_packages, "_widest_row", lambda path, about: room.FREE // 700)
    pieces = read_table(path)
    assert len(limits) > 2
    assert pieces.rows().equals(whole.rows()) and pieces.n_rows == ROWS


def test_the_longest_text_of_a_stata_file(tmp_path: Path) -> None:
    for version in (117, 118, 119):
        frame = pd.DataFrame({"a": ["x" * 3000, "y" * 4000, ""]})
        frame.to_stata(tmp_path / "a.dta", version=version, convert_strl=["a"], write_index=False)
        assert 4000 <= statistics_packages.longest_text(tmp_path / "a.dta") <= 4001
    assert read_table(tmp_path / "a.dta").n_rows == 3


def test_an_old_workbook_is_looked_through_piece_by_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(excel, "_PIECE", 64)
    word = "EncryptedPackage".encode("utf-16-le")
    for before in range(56, 200, 7):
        (tmp_path / "a.xlsx").write_bytes(excel.OLE + bytes(before) + word + bytes(99))
        with pytest.raises(InputRefused) as caught:
            read_table(tmp_path / "a.xlsx")
        assert caught.value.code == "table.excel_password"


@pytest.mark.parametrize(
    "cells",
    [
        lambda: pa.FixedSizeListArray.from_arrays(np.zeros(4_000_000), 200_000).cast(pa.list_(pa.float64())),
        lambda: pa.array([b"x" * 16_000] * 2_000, pa.binary(16_000)),
    ],
    ids=["many_in_a_cell", "wide"],
)
def test_values_that_are_no_texts_are_counted_before_they_are_read(
    tmp_path: Path, monkeypatch, cells
) -> None:
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(pa.table({"a": cells()}), path, compression="zstd")
    monkeypatch.setattr(room, "FREE", 8_000_000)
    before, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(pool)
    try:
        with pytest.raises(InputRefused) as caught:
            read_table(path)
    finally:
        pa.set_memory_pool(before)
    assert caught.value.code == "table.unpacks_too_large" and pool.max_memory() < 8_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read as Linux tells it")
def test_looking_at_two_million_long_texts_takes_little_memory(tmp_path: Path) -> None:
    rows = 2_000_000
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([LONG]))
    pyarrow.parquet.write_table(pa.table({"a": texts}), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 300_000
    program = (
        "import resource, sys\n"
        "from engine.__main__ import main\n"
        "status = main(['inspect', sys.argv[1]])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
        "sys.exit(status)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.parquet")],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "MB" in done.stderr and "damaged" not in done.stderr
    # kilobytes: 1,170,000 alone, up to 1,850,000 beside other tests, and 6,000,000 where nothing counts
    assert int(done.stdout.split()[-1]) < 2_500_000


def workbook_with(path, part, old, new):
    """Write a small workbook, with other bytes in one of its parts."""
    book = openpyxl.Workbook()
    book.active.append(["age"])
    book.active.append([41])
    book.save(path)
    with zipfile.ZipFile(path) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    assert old in parts[part]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in parts.items():
            target.writestr(name, content.replace(old, new(old), 1) if name == part else content)


MANY = {
    "types": ("[Content_Types].xml", b"</Types>", b'<Default Extension="a" ContentType="b"/>'),
    "names": ("xl/workbook.xml", b"<definedNames", b'<definedNames><definedName name="a">b</definedName>'),
    "styles": ("xl/styles.xml", b"</cellXfs>", b"<xf/>"),
    "relations": ("xl/_rels/workbook.xml.rels", b"</Relationships>", b'<Relationship Id="a" Type="b"/>'),
    "properties": ("docProps/core.xml", b"</cp:coreProperties>", b"<a/>"),
}


@pytest.mark.parametrize("parts", MANY)
def test_what_a_workbook_holds_beside_cells_is_counted_before_it_is_parsed(tmp_path, parts):
    """A hundred kilobytes of packed styles took a minute, and as many names a third of a gigabyte."""
    part, end, one = MANY[parts]
    path = tmp_path / "people.xlsx"
    workbook_with(path, part, end, lambda old: one * 300_000 + old)
    with pytest.raises(InputRefused) as caught:
        read_table(path)
    assert caught.value.code == "table.excel_beside" and "250,000" in explain(caught.value)[0]


def test_long_attributes_beside_cells_are_counted_too(tmp_path):
    path = tmp_path / "people.xlsx"
    workbook_with(path, "xl/styles.xml", b"</cellXfs>", lambda old: b'<xf a="' + b"x" * 10**7 + b'"/>' + old)
    with pytest.raises(InputRefused) as caught:
        read_table(path)
    assert caught.value.code == "table.excel_beside"


@pytest.mark.parametrize(
    "start",
    [
        b'<!DOCTYPE x [<!ENTITY a "b">]><',
        b"<!-- " + b"x" * 5000 + b' --><!DOCTYPE x [<!ENTITY a "b">]><',
        b'<?xml version="1.0" encoding="cp037"?><',
    ],
)
@pytest.mark.parametrize(
    "part", ["[Content_Types].xml", "xl/styles.xml", "xl/workbook.xml", "xl/worksheets/sheet1.xml"]
)
def test_no_part_of_a_workbook_declares_what_would_be_multiplied(tmp_path, part, start):
    path = tmp_path / "people.xlsx"
    workbook_with(path, part, b"<", lambda old: start)
    with pytest.raises(InputRefused) as caught:
        read_table(path)
    assert caught.value.code == "table.excel_damaged"


@pytest.mark.parametrize(
    "start",
    [
        b'\xef\xbb\xbf<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n<',
        b"<?xml version='1.0'?><!-- made by a program --><?more it?>\n<",
        b" <",
    ],
)
def test_a_workbook_begins_as_other_programs_begin_it(tmp_path, start):
    path = tmp_path / "people.xlsx"
    workbook_with(path, "xl/worksheets/sheet1.xml", b"<", lambda old: start)
    assert read_table(path).rows()["age"].tolist() == [41]


def test_a_workbook_of_many_styles_is_read(tmp_path):
    path = tmp_path / "people.xlsx"
    workbook_with(path, "xl/styles.xml", b"</cellXfs>", lambda old: b"<xf/>" * 65_000 + old)
    assert read_table(path).rows()["age"].tolist() == [41]
