"""Excel, Parquet and the files of statistics packages: the same table from each, with labels kept."""

import datetime
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pyreadstat
import pytest
from openpyxl import Workbook

from engine.errors import InputRefused
from engine.table.reading.frames import store_series
from engine.table.reading.options import ReadOptions
from engine.table.reading.readers import detect, read_table
from engine.table.reading.shape import contradictions
from engine.table.schema import Column, Kind, Schema
from engine.table.suggest.suggest import suggest
from engine.texts import explain, sentences

FRAME = pd.DataFrame(
    {
        "patient": [101, 102, 103, 104],
        "sex": [1.0, 2.0, 9.0, 2.0],
        "size": [1.75, np.nan, 1.6, 1.8],
        "town": ["Köln", "Bonn", "", "Köln"],
    }
)
LABELS = {"sex": {1: "male", 2: "female", 9: "unknown"}}


def codes(table):
    for item in table.findings:
        assert all(sentences(item.code, item.values))
    return {item.code for item in table.findings}


def check(table):
    rows = table.rows()
    assert rows["patient"].tolist() == [101, 102, 103, 104] and table.storage["patient"] == "integer"
    assert rows["sex"].tolist() == [1, 2, 9, 2]
    assert rows["size"].tolist()[0] == 1.75 and np.isnan(rows["size"].tolist()[1])
    assert rows["town"].tolist()[0] == "Köln" and pd.isna(rows["town"].tolist()[2])
    assert str(rows["town"].dtype) == "str"


@pytest.mark.parametrize(
    ("days", "order"),
    [
        (["07.08.2024", "30.12.2024"], "dmy"),
        (["07/08/2024", "12/30/2024"], "mdy"),
        (["07.08.2024", "06.05.2024"], None),
        (["07/30/2024", "30/07/2024"], None),
        (["2024-08-07", "2024-12-30"], None),
    ],
)
def test_the_order_of_days_written_as_text_is_found_alike_in_a_workbook_and_in_a_text(tmp_path, days, order):
    """Before, a workbook was read as if nothing told it, and what was found contradicted its rows."""
    frame = pd.DataFrame({"day": days * 20, "n": range(20 * len(days))})
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    frame.to_csv(tmp_path / "a.csv", index=False)
    tables = [read_table(tmp_path / name) for name in ("a.xlsx", "a.csv")]
    assert [table.options.date_order for table in tables] == [order, order]
    assert tables[0].rows()["day"].tolist() == tables[1].rows()["day"].tolist()
    schema = Schema((Column("day", kind=Kind.DATE), Column("n", kind=Kind.INTEGER)))
    for table, name in zip(tables, ("a.xlsx", "a.csv"), strict=True):
        assert not contradictions(tmp_path / name, table.options, schema)


@pytest.mark.parametrize("kind", ["sav", "zsav", "dta", "xpt", "parquet", "xlsx", "csv"])
def test_the_same_table_from_every_format(tmp_path, kind):
    path = tmp_path / f"people.{kind}"
    if kind in ("sav", "zsav"):
        pyreadstat.write_sav(FRAME, str(path), variable_value_labels=LABELS, compress=kind == "zsav")
    elif kind == "dta":
        labels = {"sex": LABELS["sex"]}
        pyreadstat.write_dta(FRAME.astype({"sex": int}), str(path), variable_value_labels=labels)
    elif kind == "xpt":
        pyreadstat.write_xport(FRAME, str(path), table_name="people", file_format_version=8)
    elif kind == "parquet":
        FRAME.to_parquet(path)
    elif kind == "xlsx":
        FRAME.to_excel(path, index=False)
    else:
        FRAME.to_csv(path, index=False)
    table = read_table(path)
    check(table)
    assert detect(path).names[1].lower() == "sex"
    if kind in ("sav", "zsav", "dta"):
        assert table.labels["sex"] == {"1": "male", "2": "female", "9": "unknown"}
        assert {item.column: item.labels for item in suggest(table)}["sex"]["2"] == "female"


def test_portable_spss(tmp_path):
    path = tmp_path / "a.por"
    pyreadstat.write_por(FRAME.drop(columns="town"), str(path))
    table = read_table(path)
    assert table.names == ("PATIENT", "SEX", "SIZE") and table.rows()["PATIENT"].tolist() == [
        101,
        102,
        103,
        104,
    ]


def test_missing_codes_of_spss_stay_and_are_named(tmp_path):
    path = tmp_path / "a.sav"
    pyreadstat.write_sav(
        FRAME,
        str(path),
        variable_value_labels=LABELS,
        missing_ranges={"sex": [{"lo": 9, "hi": 9}]},
        column_labels={"sex": "Sex of the patient"},
    )
    table = read_table(path)
    assert table.rows()["sex"].tolist() == [1, 2, 9, 2]
    assert table.missing["sex"] == ("9",) and table.titles["sex"] == "Sex of the patient"
    assert {item.column: item.missing for item in suggest(table)}["sex"] == ("9",)


def test_a_range_of_missing_codes_holds_every_cell_in_it(tmp_path):
    """Before, of a range only codes with a label were missing: the others counted as numbers, unsaid."""
    path = tmp_path / "a.sav"
    frame = pd.DataFrame(
        {"sex": [1.0, 2, -8, 9], "weight": [1.5, -99.5, 0.0, 2.5], "day": pd.to_datetime(["2020-01-01"] * 4)}
    )
    ranges = {
        "sex": [{"lo": -10, "hi": -1}, {"lo": 9, "hi": 9}],
        "weight": [{"lo": float("-inf"), "hi": 0}],
        "day": [{"lo": 0, "hi": 1}],
    }
    pyreadstat.write_sav(frame, str(path), variable_value_labels={"sex": {-7: "none"}}, missing_ranges=ranges)
    table = read_table(path)
    assert table.missing == {"sex": ("-7", "-8", "9"), "weight": ("-99.5", "0")}
    found = {item.column: item for item in suggest(table)}
    assert found["weight"].missing == ("-99.5", "0") and found["weight"].domain.minimum == 1.5


def workbook(rows):
    book = Workbook()
    for row in rows:
        book.active.append(row)
    return book, book.active


def test_what_a_sheet_hides_or_merges_is_said(tmp_path):
    """Before, rows that a filter hid were read, and blank rows and merged cells lost, without a word."""
    book, sheet = workbook([["ward", "n"], ["a", 1], [None, 2], [None, None], ["b", 3], ["b", 4]])
    sheet.merge_cells("A2:A3")
    sheet.row_dimensions[5].hidden = sheet.row_dimensions[9].hidden = True
    sheet["B9"].number_format = "0.00"  # a hidden row with a look and nothing in it
    book.save(tmp_path / "a.xlsx")
    table = read_table(tmp_path / "a.xlsx")
    codes(table)
    said = {one.code: (one.count, one.rows) for one in table.findings}
    assert table.n_rows == 4
    assert said["table.hidden_rows"] == (1, (5,))
    assert said["table.blank_rows"] == (1, (4,))
    assert said["table.merged_cells"] == (1, (2,))


def test_a_sheet_with_a_title_alone_is_not_taken_for_the_table(tmp_path):
    book, _ = workbook([["Export of the ward"]])
    sheet = book.create_sheet("stays")
    sheet.append(["ward", "n"])
    sheet.append(["a", 1])
    book.save(tmp_path / "a.xlsx")
    table = read_table(tmp_path / "a.xlsx")
    assert table.options.sheet == "stays" and table.n_rows == 1
    with pytest.raises(InputRefused) as refused:
        read_table(tmp_path / "a.xlsx", options=ReadOptions(sheet="Sheet"))
    assert refused.value.code == "table.no_rows"


def test_a_plain_sheet_and_one_with_a_merged_title_say_nothing(tmp_path):
    book, sheet = workbook([["Stays of 2020", None, None], ["ward", "n", "m"], ["a", 1, 2], ["b", 2, 3]])
    sheet.merge_cells("A1:C1")
    book.save(tmp_path / "a.xlsx")
    assert not codes(read_table(tmp_path / "a.xlsx"))


def test_missing_letters_of_stata(tmp_path):
    path = tmp_path / "a.dta"
    frame = pd.DataFrame({"x": [1, "a", 3], "y": [1.0, 2.0, 3.0]})
    pyreadstat.write_dta(frame, str(path), missing_user_values={"x": ["a"]})
    table = read_table(path)
    assert table.rows()["x"].tolist()[1] == "a" and table.missing["x"] == ("a",)


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("a.sav", b"$FL2" + bytes(500)),
        ("a.dta", b"<stata_dta>" + bytes(500)),
        ("a.parquet", b"PAR1" + bytes(500)),
    ],
)
def test_damaged(tmp_path, name, start):
    path = tmp_path / name
    path.write_bytes(start)
    with pytest.raises(InputRefused) as caught:
        read_table(path)
    assert caught.value.code in ("table.package_damaged", "table.damaged")
    assert name in explain(caught.value)[0]


@pytest.mark.parametrize("kind", ["sav", "dta", "parquet"])
def test_truncated(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    frame = pd.concat([FRAME] * 500, ignore_index=True)
    if kind == "parquet":
        frame.to_parquet(path)
    else:
        getattr(pyreadstat, f"write_{kind}")(frame, str(path))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InputRefused) as caught:
        read_table(path)
    assert caught.value.code in ("table.package_damaged", "table.damaged")


def test_sas_file_that_is_damaged(tmp_path):
    path = tmp_path / "a.sas7bdat"
    magic = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
    path.write_bytes(magic + bytes(2000))
    with pytest.raises(InputRefused) as caught:
        read_table(path)
    assert caught.value.code == "table.package_damaged"


def test_excel_kinds_of_cells(tmp_path):
    book = Workbook()
    sheet = book.active
    sheet.append(["id", "day", "mixed", "code", "time", "truth", None])
    sheet.append([1, datetime.date(2020, 2, 29), 5, "007", datetime.datetime(2020, 1, 1, 12, 30), True, None])
    sheet.append([None] * 7)
    sheet.append([2, datetime.date(2021, 1, 1), "five", "012", datetime.datetime(2020, 1, 2), False])
    book.save(tmp_path / "a.xlsx")
    table = read_table(tmp_path / "a.xlsx")
    rows = table.rows()
    assert table.n_rows == 2 and table.names == ("id", "day", "mixed", "code", "time", "truth")
    assert table.storage["day"] == "date" and rows["day"].dt.day.tolist()[0] == 29
    assert rows["mixed"].tolist() == ["5", "five"]
    assert rows["code"].tolist() == ["007", "012"] and rows["truth"].tolist() == ["true", "false"]
    assert rows["id"].tolist() == [1, 2]
    assert rows["time"].iloc[0] == pd.Timestamp("2020-01-01 12:30")


def test_excel_sheets(tmp_path):
    book = Workbook()
    book.active.title = "empty"
    book.create_sheet("people").append(["age"])
    book["people"].append([41])
    book.create_sheet("other").append(["x", "y"])
    book["other"].append([1, 2])
    book.save(tmp_path / "a.xlsx")
    assert detect(tmp_path / "a.xlsx").sheets == ("empty", "people", "other")
    assert read_table(tmp_path / "a.xlsx").options.sheet == "people"
    assert read_table(tmp_path / "a.xlsx", options=ReadOptions(sheet="other")).names == ("x", "y")
    with pytest.raises(InputRefused) as caught:
        read_table(tmp_path / "a.xlsx", options=ReadOptions(sheet="none"))
    assert "people" in explain(caught.value)[0]


TITLE = ("Report of 2020",)


@pytest.mark.parametrize(
    "above",
    [
        (),
        (TITLE,),
        ((None,), TITLE),
        (TITLE, (None,)),
        (TITLE, ("as of May",)),
        (TITLE, (None,), TITLE),
        (("Report", "2020"),),
        (("created", None, None, "May 2020"), TITLE),
        (("people", None, None, "stays"),),
    ],
)
def test_excel_with_title_rows_reads_as_without(tmp_path, above):
    """As a text file does. A plan from before, which says where the names are, reads as it did."""
    columns = ("sex", "age", "note", "days", "ward")
    rows = [
        columns,
        *((("f", age, None, 3, "A"), ("m", age, "x", 4, "B"))[age % 2] for age in range(20, 40)),
    ]
    book = Workbook()
    for row in (*above, *rows):
        book.active.append(row)
    book.active["B30"] = "=1+1"  # below, without a result
    book.save(tmp_path / "a.xlsx")
    table = read_table(tmp_path / "a.xlsx")
    titles = sum(row != (None,) for row in above)
    assert table.names == columns and table.n_rows == 20 and table.options.skip_rows == titles
    assert read_table(tmp_path / "a.xlsx", options=table.options).rows().equals(table.rows())
    pinned = read_table(tmp_path / "a.xlsx", options=ReadOptions(header=True))
    assert pinned.n_rows == 20 + titles and pinned.options.skip_rows == 0


@pytest.mark.parametrize(
    "rows",
    [
        [("id",), (1, 2, 3), (4, 5, 6)],
        [("a", "b"), ("x",), ("y", "z")],
        [("a",), ("x", "y"), ("y", "z")],
        [("a", None, "c"), ("x", "y", "z")],
        [("a", "b", None, None, None), ("f", "g", "h", "i", "j"), ("x", "y", "z", "u", "v")],
        [("a", None, None, "b", None), ("f", 1, "h", "i", 2), ("x", 3, "z", "u", 4)],
        [(1,), ("a", "b", "c"), ("d", "e", "f"), (2,)],
    ],
)
def test_excel_without_a_clear_title_keeps_every_row(tmp_path, rows):
    book = Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    table = read_table(tmp_path / "a.xlsx")
    assert table.n_rows == len(rows) - bool(table.options.header)


def test_excel_formulas_without_results_are_said(tmp_path):
    book = Workbook()
    for row in (["a", "b"], [1, "=A2*2"], [2, "=A3*2"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")  # openpyxl computes nothing, so no result is saved
    table = read_table(tmp_path / "a.xlsx")
    item = next(item for item in table.findings if item.code == "table.formula_without_value")
    assert (item.column, item.count, item.rows) == ("b", 2, (1, 2))
    assert all(sentences(item.code, item.values))


@pytest.mark.parametrize("rows", [[], [["a", "b"]]])
def test_excel_without_rows(tmp_path, rows):
    book = Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(InputRefused) as caught:
        read_table(tmp_path / "a.xlsx")
    assert caught.value.code == ("table.no_rows" if rows else "table.empty_file")


def test_a_zip_that_is_no_workbook(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as packed:
        packed.writestr("readme.txt", "hello")
    with pytest.raises(InputRefused) as caught:
        read_table(tmp_path / "a.xlsx")
    assert caught.value.code == "table.excel_damaged"


def test_parquet_kinds_of_columns(tmp_path):
    table = pa.table(
        {
            "small": pa.array([1, None, 3], pa.int8()),
            "huge": pa.array([2**60 + 1, None, 5], pa.int64()),
            "unsigned": pa.array([2**64 - 1, 1, 2], pa.uint64()),
            "truth": pa.array([True, None, False]),
            "kind": pa.array(["a", None, "b"]).dictionary_encode(),
            "day": pa.array([datetime.date(2020, 2, 29), None, datetime.date(1890, 1, 1)]),
            "stamp": pa.array([0, 1, None], pa.timestamp("ns", tz="Europe/Berlin")),
            "list": pa.array([[1], None, [2, 3]]),
            "money": pa.array([None, 1, 2], pa.decimal128(10, 2)),
            "code": pa.array(["1", "2", "03"]),
            "endless": pa.array([1.0, np.inf, 2.0]),
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    read = read_table(tmp_path / "a.parquet")
    rows = read.rows()
    assert rows["small"].tolist()[::2] == [1, 3] and read.storage["small"] == "number"
    assert rows["huge"].tolist()[0] == str(2**60 + 1)
    assert rows["unsigned"].tolist()[0] == str(2**64 - 1)
    assert rows["truth"].tolist()[::2] == ["true", "false"] and rows["kind"].tolist()[::2] == ["a", "b"]
    assert read.storage["day"] == "date" and rows["day"].iloc[2] == pd.Timestamp("1890-01-01")
    assert rows["money"].tolist()[1:] == [1.0, 2.0] and rows["code"].tolist() == ["1", "2", "03"]
    assert codes(read) == {"table.time_zone", "table.nested_values", "table.infinite_numbers"}


def test_parquet_without_rows(tmp_path):
    pyarrow.parquet.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "a.parquet")
    with pytest.raises(InputRefused) as caught:
        read_table(tmp_path / "a.parquet")
    assert caught.value.code == "table.no_rows"


def test_an_impossible_date_is_a_missing_cell_and_not_a_refused_file(tmp_path):
    days = pa.array([0, 2**31 - 1, None, -(2**31)], pa.int32()).cast(pa.date32())
    ticks = pa.array([0, 2**62, None, -(2**62)], pa.int64())
    columns = {"day": days, "day64": ticks.cast(pa.date64(), safe=False)}
    columns |= {unit: ticks.cast(pa.timestamp(unit)) for unit in ("ms", "us", "ns")}
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    read = read_table(tmp_path / "a.parquet")
    for name, values in read.rows().items():
        assert values.iloc[0] == pd.Timestamp("1970-01-01"), name
        assert values.isna().tolist()[2], name
        if name != "ns":  # nanoseconds reach no further than the calendar does
            assert values.isna().tolist() == [False, True, True, True], name
    assert codes(read) == {"table.dates_outside"}


@pytest.mark.parametrize("kind", ["sav", "dta", "xpt"])
def test_an_impossible_date_of_a_statistics_package(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    epoch = datetime.date(1582, 10, 14) if kind == "sav" else datetime.date(1960, 1, 1)
    days = float((datetime.date(2010, 1, 1) - epoch).days)
    seconds = 86_400.0 * days
    stamp = seconds * (1000 if kind == "dta" else 1)
    day = seconds if kind == "sav" else days
    frame = pd.DataFrame({"a": [1.0, 2.0], "d": [day, 4e18], "t": [stamp, 1e30]})
    forms = {"d": "%td", "t": "%tc"} if kind == "dta" else {"d": "DATE9", "t": "DATETIME20"}
    write = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta, "xpt": pyreadstat.write_xport}[kind]
    write(frame, str(path), variable_format=forms)
    read = read_table(path)
    for name in ("d", "t"):
        values = read.rows().rename(columns=str.lower)[name]
        assert values.iloc[0] == pd.Timestamp("2010-01-01") and pd.isna(values.iloc[1])
    assert codes(read) == {"table.dates_outside"}


def test_long_decimal_keys_stay_apart(tmp_path):
    keys = pa.array([2**60 + step for step in range(100)], pa.int64()).cast(pa.decimal128(38, 0))
    with_places = keys.cast(pa.decimal256(60, 10))
    pyarrow.parquet.write_table(pa.table({"key": keys, "places": with_places}), tmp_path / "a.parquet")
    rows = read_table(tmp_path / "a.parquet").rows()
    assert rows["key"].nunique() == 100 and rows["key"].tolist() == rows["places"].tolist()


def test_blank_rows_of_a_sheet_are_no_rows(tmp_path):
    def rows_of(last):
        book = Workbook()
        book.active.append(["age"])
        book.active.append([41])
        for _ in range(50):
            book.active.append([None])
        for value in last:
            book.active.append([value])
        book.save(tmp_path / "a.xlsx")
        return read_table(tmp_path / "a.xlsx").rows()["age"].tolist()

    assert rows_of([]) == [41] and rows_of([12]) == [41, 12]


def test_a_workbook_that_unpacks_to_gigabytes_is_refused_at_once(tmp_path):
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/worksheets/sheet1.xml", bytes(310_000_000))
    with pytest.raises(InputRefused) as caught:
        read_table(path)
    assert caught.value.code == "table.excel_too_large" and "310" in explain(caught.value)[0]


def test_excel_that_refers_to_a_text_that_it_has_not(tmp_path):
    book = Workbook()
    book.active.append([1])
    book.active.append([1])
    book.save(tmp_path / "whole.xlsx")
    path = tmp_path / "odd.xlsx"
    with zipfile.ZipFile(tmp_path / "whole.xlsx") as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name).replace(b't="n"', b't="s"'))
    with pytest.raises(InputRefused) as caught:
        read_table(path)
    assert caught.value.code == "table.excel_damaged"


@pytest.mark.parametrize("cells", [[[1], None], [b"ab", {"a": 1}], [(1, 2), {3}], [np.array([1, 2]), "x"]])
def test_cells_that_hold_several_values_are_texts_whatever_holds_them(cells):
    read = store_series(pd.Series(cells), "x", options=ReadOptions(), file="a.parquet")
    assert [finding.code for finding in read.findings] == ["table.nested_values"]
    assert read.values.isna().tolist() == [cell is None for cell in cells]
    assert all(isinstance(text, str) for text in read.values.dropna())
