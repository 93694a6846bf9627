"""Odd files: each is read with what was odd said in words, or refused in words. No cell in any message."""

import os
import random
import threading
import time
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

from engine.errors import Cancelled, InputRefused
from engine.progress import Progress
from engine.table.reading.names import clean_names
from engine.table.reading.options import ReadOptions
from engine.table.reading.readers import detect, read_table
from engine.table.reading.text import Watched
from engine.texts import explain, sentences, text
from tests.ratios import TIMED, slack

SECRET = "Zaphod"


def written(folder: Path, content: bytes | str, name: str = "odd.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(path: Path, **options: object) -> tuple[str, str]:
    """Return code and sentence, and check that the sentence names the file and holds no cell."""
    with pytest.raises(InputRefused) as caught:
        read_table(path, options=ReadOptions(**options) if options else None)
    what, do = explain(caught.value)
    assert path.name in what and do
    assert SECRET not in what + do + str(caught.value) + repr(caught.value)
    return caught.value.code, what


def findings(table) -> dict[str, list]:
    """Return the findings by code, and check that every one can be said without a cell."""
    found: dict[str, list] = {}
    for item in table.findings:
        what, do = sentences(item.code, item.values)
        assert what and do and SECRET not in what + do + repr(item)
        assert table.source in what
        found.setdefault(item.code, []).append(item)
    return found


@pytest.mark.parametrize("content", [b"", b"\n\n\n", b"\xef\xbb\xbf", b" \r\n ", b",,,\n,,,\n"])
def test_empty_file(tmp_path, content):
    assert refused(written(tmp_path, content))[0] == "table.empty_file"


@pytest.mark.parametrize("content", ["name;age\n", "name,age", "\ufeffname\tage\r\n"])
def test_header_only(tmp_path, content):
    assert refused(written(tmp_path, content))[0] == "table.no_rows"


def test_one_row(tmp_path):
    table = read_table(written(tmp_path, f"name,age\n{SECRET},41\n"))
    assert table.n_rows == 1 and table.rows()["age"].tolist() == [41]
    assert findings(table) == {}


def test_one_row_without_header(tmp_path):
    table = read_table(written(tmp_path, "41,1.5\n"))
    assert table.n_rows == 1 and table.names == ("column 1", "column 2")


def test_two_thousand_columns(tmp_path):
    names = ",".join(f"c{place}" for place in range(2000))
    rows = "\n".join(",".join(str(row + place) for place in range(2000)) for row in range(30))
    table = read_table(written(tmp_path, f"{names}\n{rows}\n"))
    assert len(table.names) == 2000 and set(table.storage.values()) == {"integer"}
    assert table.rows()["c1999"].tolist() == list(range(1999, 2029))


@TIMED
def test_more_columns_than_somebody_could_decide_about(tmp_path, timed):
    wide = ",".join(f"c{place}" for place in range(20_000))
    path = written(tmp_path, f"{wide}\n{',1' * 19_999}\n")
    start = time.process_time()
    assert refused(path)[0] == "table.too_many_columns" and "20,000" in refused(path)[1]
    pq.write_table(pa.table({f"c{place}": [1] for place in range(5001)}), tmp_path / "wide.parquet")
    assert refused(tmp_path / "wide.parquet")[0] == "table.too_many_columns"
    assert not timed or time.process_time() - start < 10 * slack()  # it took minutes to look at all of them


def test_as_many_columns_as_are_read_are_named_quickly():
    names, found = clean_names([*map(str, range(2500)), *map(str, range(2500))], 5000, "wide.csv")
    assert len(set(names)) == 5000 and len(found) == 2500


def test_a_row_that_no_sheet_has_is_not_waited_for(tmp_path):
    """All rows before it would be given, empty, one by one: opening such a workbook did not end."""
    made, path = tmp_path / "made.xlsx", tmp_path / "odd.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["name", "age"])
    book.active.append([SECRET, 1])
    book.save(made)
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'<row r="2"', b'<row r="99999999999"'))
    assert refused(path)[0] == "table.excel_damaged"


def test_a_stray_cell_far_away_makes_no_columns(tmp_path):
    book = openpyxl.Workbook()
    for row in (["age", "sex"], [41, "f"], [39, None], [None, "m"]):
        book.active.append(row)
    book.active["XFD1048576"] = SECRET
    book.active["XFA3"] = SECRET
    book.save(tmp_path / "stray.xlsx")
    table = read_table(tmp_path / "stray.xlsx")
    assert (table.names, table.n_rows) == (("age", "sex"), 3)
    assert table.rows()["age"].tolist()[:2] == [41, 39]
    beyond = findings(table)["table.cells_beyond_columns"][0]
    assert (beyond.count, beyond.rows) == (2, (2, 4))


def test_a_workbook_without_names_is_refused_where_it_is_too_wide(tmp_path):
    book = openpyxl.Workbook()
    book.active.append([1, 2])
    book.active["XFD9"] = 3
    book.save(tmp_path / "wide.xlsx")
    assert refused(tmp_path / "wide.xlsx", header=False)[0] == "table.too_many_columns"


def test_duplicate_and_empty_names(tmp_path):
    table = read_table(written(tmp_path, "age,age,,age\n1,2,3,4\n5,6,7,8\n"))
    assert table.names == ("age", "age (2)", "column 3", "age (3)")
    assert table.rows().iloc[0].tolist() == [1, 2, 3, 4]
    assert [item.more["new"] for item in findings(table)["table.name_twice"]] == ["age (2)", "age (3)"]
    assert findings(table)["table.name_empty"][0].more["place"] == 3


def test_ragged_rows(tmp_path):
    rows = [f"{SECRET}{place},{place},x" for place in range(10)]
    rows[2] = f"{SECRET},3"
    rows[5] = f"{SECRET},3,x,too,many"
    rows[7] = f"{SECRET},7,x,,"  # empty cells beyond the last column lose nothing
    table = read_table(written(tmp_path, "name,age,word\n" + "\n".join(rows) + "\n"))
    assert table.n_rows == 9
    found = findings(table)
    assert (found["table.rows_too_short"][0].count, found["table.rows_too_short"][0].rows) == (1, (3,))
    assert (found["table.rows_too_long"][0].count, found["table.rows_too_long"][0].rows) == (1, (6,))
    assert table.rows()["word"].isna().tolist() == [False, False, True] + [False] * 6
    assert table.storage["age"] == "integer"


def test_ragged_rows_in_another_encoding(tmp_path):
    content = "stadt;zahl\nKöln;1\nMünchen\nGrünau;3\n" * 1
    table = read_table(written(tmp_path, content.encode("cp1252")))
    assert table.rows()["stadt"].tolist() == ["Köln", "München", "Grünau"]
    assert findings(table)["table.rows_too_short"][0].rows == (2,)


def test_a_header_that_is_one_name_short(tmp_path):
    table = read_table(written(tmp_path, "age,sex\n1,41,f\n2,50,m\n3,33,f\n"))
    assert table.names == ("age", "sex", "column 3") and table.n_rows == 3
    assert "table.name_empty" in findings(table)


def test_mixed_encodings(tmp_path):
    lines = [b"city,n"] + ["Köln,1".encode()] * 3 + ["München,2".encode("cp1252")] + [b"Bonn,3"]
    table = read_table(written(tmp_path, b"\n".join(lines) + b"\n"))
    assert table.rows()["city"].tolist() == ["Köln"] * 3 + ["München", "Bonn"]
    item = findings(table)["table.mixed_encodings"][0]
    assert item.count in (1, 3) and item.column == "city"


def test_another_encoding_after_the_sample(tmp_path):
    body = b"city,n\n" + b"Bonn,1\n" * 200_000 + "München,2\n".encode("cp1252")
    table = read_table(written(tmp_path, body))
    assert table.rows()["city"].iloc[-1] == "München"
    item = findings(table)["table.mixed_encodings"][0]
    assert (item.count, item.rows) == (1, (200_001,))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "utf-32"])
def test_encodings(tmp_path, encoding):
    words = "Straße;Größe\n" + "Zülpicher Straße;1,75\nÄußere;2,5\n" * 30
    table = read_table(written(tmp_path, words.encode(encoding)))
    assert table.names == ("Straße", "Größe")
    assert table.rows()["Größe"].tolist() == [1.75, 2.5] * 30
    assert table.rows()["Straße"].iloc[1] == "Äußere" and findings(table) == {}


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("cp1252", "Celik Döring Groß Içöz Jäger Kühn Lüders"),
        ("cp1252", "Mäkinen Hämäläinen sydän päivä ikä Jyväskylä"),
        ("cp1252", "søren Ørsted Århus læge hjerte kø m³"),
        ("cp1252", "français âgé élève Hélène Noël hôpital œdème"),
        ("cp1252", "señor niño corazón Muñoz Ibáñez años"),
        ("cp1252", "coração não João mãe pressão médico"),
        ("cp1252", "età città università perché più lunedì"),
        ("cp1252", "Þórður Guðrún sjúkrahús læknir aldur"),
        ("cp1252", "Müller Genève Hélène Zürich Käthe Besançon"),
        ("cp1252", "kvinna Åsa sjukhus hjärta Öberg ålder"),
        ("cp1250", "Wiśniewski mężczyzna płeć Żółć kobieta oddział"),
        ("cp1250", "muž žena věk Dvořák Růžička pohlaví následek"),
        ("cp1250", "muž žena vek Ľubomír Kováčová nemocničná dĺžka"),
        ("cp1250", "férfi nő kor Szőke Győri kórház időpont"),
        ("cp1250", "muškarac žena Kovačić Đurić bolničko liječenje"),
        ("cp1250", "bărbat vârstă spital Ştefănescu judeţ naştere"),
        ("cp1254", "kadın yaş Gülşen Çağlar İzmir hastanesi doğum"),
        ("cp1257", "vyras moteris amžius Žukauskas Šiauliai gydytoja ligoninė įstaiga"),
        ("cp1257", "vīrietis sieviete vecums Bērziņš slimnīca ārsts"),
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_short_names_in_latin_letters_are_read_as_programs_write_them(tmp_path, encoding, words, seed):
    chance = random.Random(seed)
    cells = [chance.choice(words.split()) for _ in range(200)]
    lines = "".join(f"{row};{cell};A\r\n" for row, cell in enumerate(cells))
    table = read_table(written(tmp_path, ("n;name;x\r\n" + lines).encode(encoding)))
    assert table.rows()["name"].tolist() == cells


@pytest.mark.parametrize(
    ("encoding", "cells"),
    [
        ("cp1252", ("Übergangspflege", "Chirurgie")),  # Ü and b are one character of Big5 and of Johab
        ("cp1252", ("Übergangspflege", "Innere Medizin", "Notaufnahme")),
        ("cp1252", ("Unité", "Maternité")),
        ("cp1250", ("Świętokrzyska", "Łódź")),
        ("big5", ("重症監護病房", "外科門診", "內科門診")),
        ("cp949", ("내과", "외과")),
        ("cp1251", ("кардиология", "хирургия")),
    ],
)
@pytest.mark.parametrize("dates", [False, True])
def test_one_word_in_many_rows_is_not_read_in_another_script(tmp_path, encoding, cells, dates):
    """However often it stands there, it is the evidence of one word."""
    chance = random.Random(5)
    column = [chance.choice(cells) for _ in range(1500)]
    when = "05.01.2026;08.02.2026" if dates else "A;B"
    lines = "".join(f"{70_000 + row};{cell};{when}\r\n" for row, cell in enumerate(column))
    table = read_table(written(tmp_path, ("n;ward;x;y\r\n" + lines).encode(encoding)))
    assert table.rows()["ward"].tolist() == column


@pytest.mark.parametrize(
    ("encoding", "cells"),
    [
        ("cp932", ("糖尿病", "高血圧症", "肺炎")),
        ("cp932", ("加藤", "鈴木", "伊藤")),
        ("cp949", ("내과", "외과", "펲시콜라")),  # with a syllable that Windows added
        ("cp949", ("정형외과", "중환자실", "응급실")),
    ],
)
@pytest.mark.parametrize("count", [20, 40, 400])
def test_a_short_japanese_log_is_not_read_as_korean(tmp_path, encoding, cells, count):
    """Nor a Korean one as Japanese: both are two bytes a sign."""
    chance = random.Random(5)
    column = [chance.choice(cells) for _ in range(count)]
    lines = "".join(f"{1000 + row},{cell},2026/01/05,10:00\r\n" for row, cell in enumerate(column))
    table = read_table(written(tmp_path, ("id,ward,from,to\r\n" + lines).encode(encoding)))
    assert table.rows()["ward"].tolist() == column


def test_greek_is_recognised(tmp_path):
    words = "όνομα;ηλικία\n" + "Αθήνα είναι η πρωτεύουσα;41\nΘεσσαλονίκη και Πάτρα;39\n" * 40
    table = read_table(written(tmp_path, words.encode("iso8859-7")))
    assert table.rows().iloc[0, 0] == "Αθήνα είναι η πρωτεύουσα"


def test_nul_bytes(tmp_path):
    table = read_table(written(tmp_path, b"name,age\nAn\0na,41\nBob,5\0\n" + b"Cleo,7\n" * 40))
    found = findings(table)["table.nul_bytes"]
    assert [(item.column, item.count, item.rows) for item in found] == [("name", 1, (1,)), ("age", 1, (2,))]
    assert table.rows().iloc[0].tolist() == ["Anna", 41] and table.rows()["age"].iloc[1] == 5


@pytest.mark.parametrize(
    "content", [bytes(range(256)) * 40, os.urandom(5000), b"\x89PNG\r\n\x1a\n" + b"x" * 99]
)
def test_binary_data(tmp_path, content):
    assert refused(written(tmp_path, content))[0] in ("table.not_text", "table.unknown_format")


def test_wrong_decimal_mark(tmp_path):
    lines = ["name,size"] + [f"a,{place}.5" for place in range(50)] + ['a,"1,5"', 'a,"2,5"']
    table = read_table(written(tmp_path, "\n".join(lines)))
    item = findings(table)["table.wrong_decimal_mark"][0]
    assert (item.column, item.count, item.rows) == ("size", 2, (51, 52))
    assert table.rows()["size"].iloc[50] == "1,5"


@pytest.mark.parametrize(
    ("cells", "rows"),
    [
        ("1.000 2.000 1.500", (1, 2, 3)),
        ("800 1.200 2.300 1.000", (2, 3, 4)),
        ("1.000 2.000", None),  # so few may be anything
        ("1.000 2.000 1.500 0.512", None),  # nobody writes thousands so
        ("1.000 2.000 1.500 2.25", None),
        ("1.000 2.000 1.500 1200", None),
    ],
)
def test_decimals_that_may_be_thousands(tmp_path, cells, rows):
    lines = ["name;size", *(f"a;{cell}" for cell in cells.split())]
    table = read_table(written(tmp_path, "\n".join(lines)))
    found = findings(table).get("table.thousands_or_decimals")
    assert (found and found[0].rows) == rows
    assert table.rows()["size"].iloc[0] == float(cells.split()[0])


def test_decimal_mark_given_wrongly(tmp_path):
    path = written(tmp_path, "size;n\n" + "1,5;1\n" * 20)
    assert read_table(path).rows()["size"].tolist() == [1.5] * 20
    table = read_table(path, options=ReadOptions(decimal="."))
    assert table.storage["size"] == "text" and table.rows()["size"].iloc[0] == "1,5"


def test_thousands(tmp_path):
    table = read_table(written(tmp_path, "a;b\n1.234,5;1\n12,25;2\n1.000.000,0;3\n"))
    assert table.rows()["a"].tolist() == [1234.5, 12.25, 1_000_000.0]


def test_a_point_in_a_comma_file_is_not_misread(tmp_path):
    table = read_table(written(tmp_path, "a;b\n" + "1,5;1\n" * 30 + "1.5;2\n"))
    assert table.rows()["a"].tolist() == ["1.5"] * 30 + ["1.5"] or table.storage["a"] == "text"
    assert findings(table)["table.wrong_decimal_mark"][0].rows == (31,)


def test_dates_in_three_orders(tmp_path):
    lines = ["seen", "2020-03-25", "25.03.2020", "03/25/2020", "01/02/2020"]
    table = read_table(written(tmp_path, "\n".join(lines)))
    item = findings(table)["table.dates_in_several_orders"][0]
    assert item.more["orders"] == "dmy, mdy, ymd" and item.rows == (4,)
    assert table.rows()["seen"].tolist() == lines[1:]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["25.03.2020", "01.02.2020"], ["2020-03-25", "2020-02-01"]),
        (["03/25/2020", "01/02/2020"], ["2020-03-25", "2020-01-02"]),
        (["2020-03-25", "2020-1-2"], ["2020-03-25", "2020-01-02"]),
        (["25.03.2020 14:05", "01.02.2020 9:30"], ["2020-03-25T14:05", "2020-02-01T09:30"]),
    ],
)
def test_dates_in_one_order(tmp_path, lines, expected):
    table = read_table(written(tmp_path, "seen\n" + "\n".join(lines)))
    assert table.storage["seen"] == "date"
    assert (table.rows()["seen"].to_numpy() == np.array(expected, dtype="datetime64[us]")).all()


def test_unclear_order_is_asked_for(tmp_path):
    path = written(tmp_path, "seen,n\n01/02/2020,1\n03/04/2020,2\n")
    table = read_table(path)
    assert table.storage["seen"] == "text" and "table.date_order_unclear" in findings(table)
    table = read_table(path, options=ReadOptions(date_order="dmy"))
    assert table.rows()["seen"].dt.month.tolist() == [2, 4]


def test_a_day_that_does_not_exist(tmp_path):
    table = read_table(written(tmp_path, "seen\n" + "2020-02-28\n" * 30 + "2021-02-29\n"))
    assert findings(table)["table.cells_not_dates"][0].rows == (31,)
    assert table.rows()["seen"].iloc[30] == "2021-02-29"


def test_carriage_returns_alone():
    path = Path(__file__).parents[3] / "data" / "readmissions_cr_line_ends.csv"
    table = read_table(path)
    assert (table.n_rows, len(table.names), table.options.line_ends) == (300, 4, "\r")
    assert table.options.header is False and table.storage["column 3"] == "integer"
    assert table.rows()["column 1"].iloc[0] == "Caucasian"


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_line_ends(tmp_path, ends):
    table = read_table(written(tmp_path, ends.join(["name,age", "a,1", "b,2", ""])))
    assert table.n_rows == 2 and table.options.line_ends == ends
    assert table.rows()["age"].tolist() == [1, 2]


def test_truncated_excel(tmp_path):
    from openpyxl import Workbook

    book = Workbook()
    for row in range(200):
        book.active.append([SECRET, row])
    book.save(tmp_path / "whole.xlsx")
    content = (tmp_path / "whole.xlsx").read_bytes()
    assert refused(written(tmp_path, content[: len(content) // 2], "cut.xlsx"))[0] == "table.excel_damaged"


def test_a_text_that_is_said_to_be_a_workbook(tmp_path):
    assert refused(written(tmp_path, "a,b\n1,2\n", "a.csv"), format="excel")[0] == "table.excel_damaged"


def test_excel_whose_sheet_is_damaged(tmp_path):
    from openpyxl import Workbook

    book = Workbook()
    book.active.append(["a"])
    book.active.append([1])
    book.save(tmp_path / "whole.xlsx")
    path = tmp_path / "odd.xlsx"
    with zipfile.ZipFile(tmp_path / "whole.xlsx") as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, content[: len(content) // 2] if "sheet1" in name else content)
    assert refused(path)[0] == "table.excel_damaged"


def test_password_protected_excel(tmp_path):
    magic = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
    locked = magic + "EncryptedPackage".encode("utf-16-le") + bytes(100)
    assert refused(written(tmp_path, locked, "locked.xlsx"))[0] == "table.excel_password"
    assert refused(written(tmp_path, magic + bytes(600), "old.xls"))[0] == "table.excel_old"


def test_a_file_that_is_not_there(tmp_path):
    assert refused(tmp_path / "nowhere.csv")[0] == "table.not_found"


class _Acting(Progress):
    """Does something to the file at the first step of reading it."""

    def __init__(self, act):
        super().__init__()
        self.act = act

    def step(self, share, stage):
        if self.act is not None:
            act, self.act = self.act, None
            act()

    def part(self, start, end):
        return self


def test_a_file_that_vanishes_while_read(tmp_path):
    path = written(tmp_path, "a,b\n" + "1,2\n" * 1000)
    with pytest.raises(InputRefused) as caught:
        read_table(path, progress=_Acting(path.unlink))
    assert caught.value.code == "table.not_found"


def test_a_file_that_changes_while_read(tmp_path):
    path = written(tmp_path, "a,b\n" + "1,2\n" * 1000)
    with pytest.raises(InputRefused) as caught:
        read_table(path, progress=_Acting(lambda: path.write_text("a,b\n1,2\n")))
    assert caught.value.code == "table.changed_while_read"


def test_a_drive_that_fails(tmp_path, monkeypatch):
    path = written(tmp_path, "a,b\n1,2\n")

    def fail(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("engine.table.reading.text.Watched.read", fail)
    assert refused(path)[0] == "table.unreadable"


def test_folder(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    assert refused(tmp_path / "folder.csv")[0] == "table.folder"


def test_no_permission(tmp_path, monkeypatch):
    path = written(tmp_path, "a,b\n1,2\n")
    path.chmod(0)
    if os.geteuid() == 0:  # nothing is forbidden to root: let the file system say so

        def forbidden(*_, **__):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", forbidden)
    assert refused(path)[0] == "table.not_permitted"


@pytest.mark.parametrize("name", ["table.xyz", "table", "table.CSV"])
def test_an_unknown_ending_of_a_text_is_read(tmp_path, name):
    assert read_table(written(tmp_path, "a;b\n1;2\n3;4\n", name)).names == ("a", "b")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"%PDF-1.7 " + b"x" * 99, "a.pdf"),
        (b"\x1f\x8b" + bytes(99), "a.csv.gz"),
        (b"PK\x03\x04zip", "a.csv"),
        (b"PK\x03\x04zip", "a.ods"),
    ],
)
def test_other_formats(tmp_path, content, name):
    assert refused(written(tmp_path, content, name))[0] == "table.unknown_format"


@pytest.mark.parametrize("name", ["a.parquet", "a.sav", "a.sas7bdat", "a.xpt", "a.dta"])
def test_an_ending_that_promises_too_much(tmp_path, name):
    assert refused(written(tmp_path, b"name,age\n" * 50, name))[0] == "table.damaged"


def test_a_package_that_its_reader_trips_over_is_damaged(tmp_path):
    """Two columns without a name: the reader of these files then fails in its own code."""
    path = tmp_path / "a.dta"
    pyreadstat.write_dta(pd.DataFrame({"person": [SECRET], "score": [1.0]}), str(path), version=10)
    content = path.read_bytes()
    for name in (b"person\0", b"score\0"):
        at = content.index(name)
        content = content[:at] + bytes(len(name)) + content[at + len(name) :]
    path.write_bytes(content)
    assert refused(path)[0] == "table.package_damaged"


def test_a_very_long_line(tmp_path):
    long_cell = "x" * 3_000_000
    table = read_table(written(tmp_path, f"a,b\n1,{long_cell}\n2,short\n"))
    assert table.n_rows == 2 and table.rows()["b"].str.len().tolist() == [3_000_000, 5]


@pytest.mark.parametrize(("odd", "kept"), [("1," + "x" * 9_000, 301), ("1,2,3", 300)])
def test_a_second_attempt_has_the_file_for_itself(tmp_path, monkeypatch, odd, kept):
    """Arrow reads ahead, and still does when its first attempt has failed: that must take no row away."""

    class Slow:
        def __init__(self, raw):
            self._raw = raw

        def read(self, size):
            time.sleep(0.002)
            return self._raw.read(size)

        def __getattr__(self, name):
            return getattr(self._raw, name)

    def begin(self, raw, *rest):
        made(self, Slow(raw), *rest)

    made = Watched.__init__
    monkeypatch.setattr(Watched, "__init__", begin)
    monkeypatch.setattr("engine.table.reading.text._BLOCK", 1 << 10)
    path = written(tmp_path, f"a,b\n{odd}\n" + "".join(f"{row},short {row:05d}\n" for row in range(300)))
    for _ in range(5):
        table = read_table(path)
        assert table.n_rows == kept
        assert table.rows()["b"].tolist()[-300:] == [f"short {row:05d}" for row in range(300)]


def test_quoted_line_ends_and_delimiters(tmp_path):
    content = 'a,b\n1,"first\nsecond, third"\n2,"say ""hi"""\n'
    table = read_table(written(tmp_path, content))
    assert table.rows()["b"].tolist() == ["first\nsecond, third", 'say "hi"']


def test_a_quoted_line_end_after_the_sample(tmp_path):
    content = "a,b\n" + "1,xxxx\n" * 200_000 + '2,"one\ntwo"\n'
    table = read_table(written(tmp_path, content))
    assert table.n_rows == 200_001 and table.rows()["b"].iloc[-1] == "one\ntwo"


def test_a_quotation_mark_without_its_partner(tmp_path):
    content = "a,b\n" + "1,x\n" * 50 + '2,"open\n' + "3,y\n" * 500
    found = findings(read_table(written(tmp_path, content)))
    assert found["table.cell_with_many_lines"][0].rows == (51,)


def test_formula_like_cells_stay_text(tmp_path):
    cells = ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-", "plain"]
    table = read_table(written(tmp_path, "a\n" + "\n".join(cells) + "\n"))
    assert table.rows()["a"].tolist() == cells
    assert findings(table)["table.formula_like"][0].rows == (1, 2, 3)


def test_cells_that_are_no_numbers(tmp_path):
    lines = ["age"] + [str(place) for place in range(100)] + [SECRET, "?", "?", ""]
    table = read_table(written(tmp_path, "\n".join(lines) + "\n"))
    found = findings(table)
    assert (found["table.cells_not_numbers"][0].count, found["table.cells_not_numbers"][0].rows) == (
        1,
        (101,),
    )
    assert found["table.missing_code"][0].count == 2 and found["table.missing_code"][0].more == {"sign": "?"}
    assert table.storage["age"] == "text"


def test_missing_codes_only_when_asked(tmp_path):
    path = written(tmp_path, "a,b\n1,NA\n?,x\nnan,None\n")
    table = read_table(path)
    assert table.rows()["a"].tolist() == ["1", "?", "nan"] and table.rows()["b"].tolist() == [
        "NA",
        "x",
        "None",
    ]
    table = read_table(path, options=ReadOptions(missing=("?", "NA", "nan")))
    assert table.storage["a"] == "number" and table.rows()["b"].isna().tolist() == [True, False, False]
    assert set(detect(path).missing) == {"?", "NA", "nan", "None"}


def test_nothing_is_lost_in_numbers(tmp_path):
    content = "plz,key,big,plain\n01067,12345678901234567,0.5,1\n50667,,0.25,\n"
    table = read_table(written(tmp_path, content))
    rows = table.rows()
    assert rows["plz"].tolist() == ["01067", "50667"] and findings(table)["table.leading_zeros"][0].count == 1
    assert rows["key"].iloc[0] == "12345678901234567"  # a double would end in 8
    assert rows["big"].tolist() == [0.5, 0.25] and rows["plain"].iloc[0] == 1


def test_title_lines_and_announced_delimiter(tmp_path):
    table = read_table(written(tmp_path, "Export of 2020\n\nname;age\nA;1\nB;2\nC;3\n"))
    assert table.names == ("name", "age") and table.n_rows == 3
    table = read_table(written(tmp_path, "sep=;\nname;age\nA;1\nB;2\n"))
    assert table.names == ("name", "age") and table.n_rows == 2


def test_empty_rows_are_kept_and_said(tmp_path):
    table = read_table(written(tmp_path, "a,b\n1,2\n,\n3,4\n"))
    assert table.n_rows == 3 and findings(table)["table.empty_rows"][0].rows == (2,)


def test_a_single_column_with_gaps(tmp_path):
    table = read_table(written(tmp_path, "age\n1\n\n3\n"))
    assert table.n_rows == 3 and table.rows()["age"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(tmp_path, delimiter):
    rows = ["name,sex,age".replace(",", delimiter), *(f"A{delimiter}f{delimiter}{age}" for age in range(20))]
    path = written(tmp_path, "\n".join(rows), "a.txt")
    assert detect(path).options.delimiter == delimiter
    assert read_table(path).rows()["age"].tolist() == list(range(20))


def test_everything_can_be_overridden(tmp_path):
    path = written(tmp_path, "1;2\n3;4\n")
    assert read_table(path, options=ReadOptions(header=True)).names == ("1", "2")
    assert read_table(path, options=ReadOptions(delimiter=",", header=False)).names == ("column 1",)
    assert read_table(path, options=ReadOptions(skip_rows=1)).n_rows == 1
    quoted = written(tmp_path, "a,b\n'x,y',1\n'z',2\n")
    assert read_table(quoted, options=ReadOptions(quote="'")).rows()["a"].tolist() == ["x,y", "z"]
    assert refused(path, encoding="klingon")[0] == "table.unknown_encoding"


def test_stop_while_reading(tmp_path):
    path = written(tmp_path, "a,b\n" + "1,2\n" * 400_000)
    stop = threading.Event()

    def report(share, stage):
        if share > 0:
            stop.set()

    with pytest.raises(Cancelled):
        read_table(path, progress=Progress(report, stop.is_set))


def test_the_table_remembers_how_it_was_read(tmp_path):
    path = written(tmp_path, "a;b\n1,5;x\n2,5;y\n")
    options = read_table(path).options
    assert (options.format, options.delimiter, options.encoding) == ("text", ";", "utf-8")
    again = read_table(path, options=ReadOptions.from_json(options.to_json()))
    assert again.options == options and again.rows().equals(read_table(path).rows())


@pytest.mark.parametrize(
    ("content", "field", "reason"),
    [
        ("\ufeffa;b\n1;2\n", "encoding", "byte_order_mark"),
        ("Größe;b\n1;2\n", "encoding", "valid_utf8"),
        ("Größe;b\n1;2\n".encode("cp1252"), "encoding", "not_utf8"),
        ("a;b\n1;2\n".encode("utf-16-le"), "encoding", "zero_bytes"),
        ("sep=;\na;b\n1;2\n", "delimiter", "announced"),
        ("Export\na;b\n1;2\n3;4\n", "skip_rows", "title_lines"),
        ("1;2\n3;4\n", "header", "first_row_has_values"),
        ("a;a;a\nb;b;b\n", "header", "first_row_repeats"),
        ("f;m\nm;f\nf;m\n", "header", "first_row_occurs_again"),
        ("sex;town\nf;Bonn\n", "header", "first_row_differs"),
        ("age;town\n41;Bonn\n", "header", "text_over_numbers"),
        ("a;b\n", "header", "only_row"),
        ("a;b\n1,5;2\n", "decimal", "comma_in_numbers"),
        ("a;b\n1.5;2\n", "decimal", "point_in_numbers"),
        ("a;b\n1;2\n", "decimal", "usual"),
    ],
)
def test_what_was_found_out_has_a_reason(tmp_path, content, field, reason):
    found = detect(written(tmp_path, content))
    assert found.reasons[field][0] == reason
    for key, values in found.reasons.values():
        assert text(f"suggestions.detection.{key}", **values)


@pytest.mark.parametrize(
    "content",
    [
        f'[{{"name": "{SECRET}", "n": 1}},\n{{"name": "b"}}]',
        f'{{"name": "{SECRET}", "n": 1}}\n{{"name": "b", "n": 2}}\n',
        f"\ufeff <?xml version='1.0'?>\n<rows><row>{SECRET}</row>\n</rows>",
        f"<html><body><table>\n<tr><td>{SECRET}</td></tr>\n</table></body></html>",
        f"<table border=1>\n<tr><td>{SECRET}</td></tr>\n</table>",
    ],
)
@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.html", "export.txt"])
def test_what_is_no_table_of_lines_is_refused(content, name, tmp_path):
    """Before, its first row was read as names of columns, which leave with a plan."""
    code, _ = refused(written(tmp_path, content, name))
    assert code == "table.unknown_format"


@pytest.mark.parametrize("head", ["[id],[name]", "<lod,value", "ORCID,x", "FEA1,FEA2", "{id},{name}"])
def test_names_with_odd_signs_are_names(head, tmp_path):
    table = read_table(written(tmp_path, f"{head}\n1,2\n3,4\n"))
    assert table.names == tuple(head.split(",")) and table.n_rows == 2


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ('a,b\n1,"x\n2,y\n3,z\n', 1),
        ('a,b\n1,x\n2,"y\n3,z\n', 2),
        ('a,b\n1,"x\n2,y"\n3,"z\n4,q', 2),
    ],
)
def test_a_mark_left_open_to_the_end_of_the_file_is_said(content, rows, tmp_path):
    """Before, the rows behind it were gone without a word where they were fewer than a hundred."""
    table = read_table(written(tmp_path, content))
    assert table.n_rows == rows
    assert findings(table)["table.quote_to_the_end"][0].rows == (rows,)


@pytest.mark.parametrize("content", ['a,b\n1,"x\ny"\n', 'a,b\n1,"x\ny\n"\n\n', 'a,b\n"x\ny",1\n'])
def test_a_text_of_several_lines_that_ends_is_not(content, tmp_path):
    assert "table.quote_to_the_end" not in findings(read_table(written(tmp_path, content)))


@pytest.mark.parametrize("blank", [" ", "\u00a0", "\u202f", "'"])
@pytest.mark.parametrize("kind", ["decimals", "short"])
def test_numbers_with_blanks_between_thousands_are_said(tmp_path, blank, kind):
    """They stay text, which nobody saw: no bound, no mean, a category for each."""
    cells = [f"{1 + row}{blank}{100 + row}" + (",5" if kind == "decimals" else "") for row in range(20)]
    rows = cells + (["950"] * 8 if kind == "short" else [])
    table = read_table(
        written(tmp_path, "name;cost\n" + "".join(f"n{row};{cell}\n" for row, cell in enumerate(rows)))
    )
    (item,) = findings(table)["table.grouped_numbers"]
    assert (item.column, item.count, item.rows[0]) == ("cost", 20, 1)


def test_numbers_of_telephones_are_no_quantities(tmp_path):
    rows = [f"n{row};030 {100 + row} {300 + row}" for row in range(20)]
    table = read_table(written(tmp_path, "name;telephone\n" + "\n".join(rows) + "\n"))
    assert "table.grouped_numbers" not in findings(table)
