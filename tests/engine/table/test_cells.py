"""One way to read a cell: by hand, against Python's own readers, and each cell alone as in any company."""

import time
from datetime import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.table import cells
from engine.table.cells import (
    NumberSigns,
    dates_by_pattern,
    dates_of,
    key_cells,
    numbers_by_pattern,
    numbers_of,
)
from engine.table.coding import dates, numbers
from engine.table.declared import as_declared, key_texts, people_of
from engine.table.patterns import date_order_of, is_date, is_grouped, is_number
from engine.table.reading.options import ReadOptions
from engine.table.reading.storage import store
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from tests.examples import many
from tests.ratios import TIMED, slack

NUMBERS = [
    "1", "-1", "+1", "+-1", "0", "00", "007", "1.", ".5", ".", "", " ", " 1", "1 ", "1\u00a0", "1 2", "1.5",
    "1,5", "1.234,5", "1.23,4", "1,234", "1,234.5", "12,34", "1e5", "1E5", "1e+5", "1e", "1e400", "-1e400",
    "1e-400", "1e00005", "inf", "-inf", "nan", "NaN", "infinity", "0x1F", "1_0", "1d5", "١", "9" * 25,
    "9" * 100, "9" * 101, "0." + "1" * 98, "0." + "1" * 99, "12345678901234567", "V27", "?", "2020-01-01",
    "20200101", "True", "1\0",
]  # fmt: skip
DATES = [
    "2020-02-29", "2021-02-29", "2020-2-9", "29.2.2020", "2/29/2020", "1/2/2020", "31/12/2020",
    "13/13/2020", "2020-02-29 23:59", "2020-02-29T23:59:58", "2020-02-29 23:59:58.5",
    "2020-02-29 23:59:58.123456789", "2020-02-29T24:00:00", "2020-02-29 24:00", "2020-02-29 23:60",
    "2020-02-29 10:00:60", "2020-01-01 10:00+01:00", "2020-02-29T23:59:58Z", "20200229", "2020-W09-6",
    "0000-01-01", "0001-01-01", "9999-12-31", "1582-10-10", "10000-01-01", "2020-02-29 ", " 2020-02-29",
    "2020.02-29", "29-02-2020", "1.1.20", "123-1-1", "soon", "", "41", "2262-04-12", "1677-09-21",
    "1/2/2020 3:04", "٢٠٢٠-٠٢-٢٩", "2020-02-29\0", "x" * 50,
]  # fmt: skip
SIGNS = [NumberSigns(*of) for of in ("", ",", (",", "."), (".", ","), (",", " "), (".", "'"))]
CELLS = st.lists(
    st.one_of(
        st.none(),
        st.sampled_from(NUMBERS + DATES),
        st.text("0123456789.,+-eE xX:/T'", max_size=12),
        st.floats().map(repr),
        st.integers(-(10**20), 10**20).map(str),
        st.datetimes().map(str),
    ),
    max_size=12,
)


def same(one, two):
    return np.array_equal(one, two, equal_nan=True)


def chunked(values):
    """The cells as a reader gives them: in pieces, here of one to three cells."""
    pieces = [values[place : place + 1 + place % 3] for place in range(0, len(values), 3)]
    rest = [values[place + 1 + place % 3 : place + 3] for place in range(0, len(values), 3)]
    both = [piece for pair in zip(pieces, rest, strict=True) for piece in pair]
    return pa.chunked_array([pa.array(piece, pa.string()) for piece in both], pa.string())


@settings(max_examples=many(150), deadline=None)
@given(CELLS, st.sampled_from(SIGNS))
@example(["1", "1e400"], NumberSigns())
@example(["1", "0x1F"], NumberSigns())
def test_a_number_is_the_same_alone_and_in_company(values, signs):
    found = numbers_of(pa.array(values, pa.string()), signs)
    alone = np.array([numbers_of(pa.array([value], pa.string()), signs)[0] for value in values])
    assert same(found, alone)
    assert same(found, numbers_of(chunked(values), signs))
    assert same(found, numbers_by_pattern(pa.array(values, pa.string()), signs))


@settings(max_examples=many(150), deadline=None)
@given(CELLS, st.sampled_from([None, "ymd", "dmy", "mdy"]))
@example(["2020-01-01", "0000-01-01"], None)
@example(["2020-01-01 10:00:00", "2020-01-01 10:00+01"], None)
@example(["1500-01-01", "2020-01-01 10:00:00.123456789"], None)
def test_a_date_is_the_same_alone_and_in_company(values, order):
    found = dates_of(pa.array(values, pa.string()), order)
    alone = [dates_of(pa.array([value], pa.string()), order)[0] for value in values]
    assert same(found, np.array(alone, dtype="datetime64[us]"))
    assert same(found, dates_of(chunked(values), order))
    assert same(found, dates_by_pattern(pa.array(values, pa.string()), order))


@pytest.mark.parametrize("cell", NUMBERS)
def test_numbers_as_python_reads_them(cell):
    """Python's float reads all that the program reads, to the same double, and some words besides."""
    found = numbers_of(pa.array([cell]))[0]
    plain = cell.strip().isascii() and not set(cell) & set("_xXd\0") and len(cell.strip()) <= 100
    try:
        expected = float(cell) if plain else np.nan
    except ValueError:
        expected = np.nan
    assert same(found, expected if np.isfinite(expected) else np.nan)
    assert is_number(cell) == (not np.isnan(found) or "e400" in cell)  # a form, not a size


@pytest.mark.parametrize(
    ("signs", "cell", "expected"),
    [
        (NumberSigns(","), "1,5", 1.5),
        (NumberSigns(","), "1.5", np.nan),
        (NumberSigns(","), ",5", 0.5),
        (NumberSigns(","), "1,2,3", np.nan),
        (NumberSigns(",", "."), "1.234.567,25", 1234567.25),
        (NumberSigns(",", "."), "1.5", np.nan),
        (NumberSigns(",", "."), "1234,5", 1234.5),
        (NumberSigns(".", ","), "-1,234.5e1", -12345.0),
        (NumberSigns(".", ","), "1,2345", np.nan),
        (NumberSigns(".", ","), ",123", np.nan),
        (NumberSigns(".", "'"), "12'345", 12345.0),
    ],
)
def test_marks_in_numbers(signs, cell, expected):
    assert same(numbers_of(pa.array([cell, "x"]), signs)[0], expected)
    assert same(numbers_of(pa.array([cell]), signs)[0], expected)


@pytest.mark.parametrize(
    ("cell", "order", "expected"),
    [
        ("2020-02-29", None, datetime(2020, 2, 29)),
        ("2020/2/9", "mdy", datetime(2020, 2, 9)),
        ("29.2.2020", None, datetime(2020, 2, 29)),
        ("29.2.2020", "mdy", datetime(2020, 2, 29)),  # the cell tells
        ("1/2/2020", "dmy", datetime(2020, 2, 1)),
        ("1/2/2020", "mdy", datetime(2020, 1, 2)),
        ("1/2/2020", None, None),
        ("1/2/2020", "ymd", None),
        ("2021-02-29", None, None),
        ("2020-02-29 23:59:58.123456789", None, datetime(2020, 2, 29, 23, 59, 58, 123456)),
        ("2020-02-29 3:04", None, datetime(2020, 2, 29, 3, 4)),
        ("2020-02-29T24:00", None, None),
        ("2020-01-01T00:30:00+01:00", None, datetime(2019, 12, 31, 23, 30)),
        ("20200229", None, datetime(2020, 2, 29)),
        ("0001-01-01", None, datetime(1, 1, 1)),
        ("9999-12-31", None, datetime(9999, 12, 31)),
        ("0000-01-01", None, None),
        ("2020.02-29", None, None),
        ("x" * 50, None, None),
    ],
)
def test_dates_by_hand(cell, order, expected):
    found = dates_of(pa.array([cell]), order)[0]
    assert found.astype(datetime) == expected


@pytest.mark.parametrize("cell", DATES)
def test_the_order_of_one_date_is_the_order_that_columns_see(cell):
    found = cells.date_orders(pa.array([cell]))
    alone = date_order_of(cell)
    assert found == (set() if alone is None else {alone})
    assert is_date(cell) or alone is None


def test_a_nanosecond_moves_nobody():
    """One cell with nine decimals of a second leaves dates as they are that no nanosecond clock reaches."""
    column = Column("born", kind=Kind.TEXT)
    others = ["1500-01-01", "2500-12-31", "1950-05-05"]
    alone = dates(pd.Series(others, dtype="str"), column)
    company = dates(pd.Series([*others, "2020-01-01 10:00:00.123456789"], dtype="str"), column)
    assert alone.astype(str).tolist() == others
    assert company[:3].tolist() == alone.tolist() and str(company[3]) == "2020-01-01"


def test_text_that_is_no_declared_date_is_read_in_one_form_only():
    found = dates(pd.Series(["31.12.2020", "1.2.2020", "2020-12-31"]), Column("day"))
    assert found.astype(str).tolist() == ["NaT", "NaT", "2020-12-31"]


@settings(max_examples=many(100), deadline=None)
@given(CELLS)
def test_keys_agree_wherever_they_are_written(values):
    column = key_cells(pa.array(values, pa.string())).to_pylist()
    assert [key or "" for key in column] == key_texts([value or "" for value in values])
    alone = [key_cells(pa.array([value], pa.string()))[0].as_py() for value in values]
    assert column == alone


def test_blanks_around_a_key_are_those_that_python_knows():
    every = [chr(code) for code in range(0x3100) if chr(code).isprintable() or chr(code).isspace()]
    found = key_cells(pa.array([f"{sign}7{sign}" for sign in every])).to_pylist()
    assert [key == "7" for key in found] == [sign.isspace() or sign == "" for sign in every]


@pytest.mark.parametrize(
    "written",
    [
        "Ren\u00e9",
        "Rene\u0301",
        "R\u200ben\u00e9",
        "\ufeffRen\u00e9",
        " \u200bRen\u00e9\u00ad ",
        "Ren\u00e9\u200e",
    ],
)
def test_a_key_is_one_person_whatever_nobody_sees_in_it(written):
    assert key_texts([written]) == ["Ren\u00e9"]
    table = Table(pd.DataFrame({"pid": pd.Series([written, "Ren\u00e9", "Rene", "7"], dtype="str")}))
    key = Column("pid", Role.PERSON_KEY)
    assert people_of(as_declared(table, Schema((key,))), key).places.tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("number", ["7\u200b", "\ufeff7.0", "+7.00\u200b"])
def test_a_number_of_a_person_is_one_whatever_nobody_sees_in_it(number):
    assert key_texts([number, "\u200b", " \u200b "]) == ["7", "", ""]


def test_keys_that_look_as_they_did_are_as_they_were():
    """A register knows people by their keys in one form: plain ones, and composed letters, stay."""
    kept = ["P7", "007", "m\u00fcller", "\u4f60\u597d", "a b", "-3", "\u0391"]
    assert key_texts(kept) == kept


@settings(max_examples=many(150), deadline=None)
@given(CELLS, st.sampled_from([ReadOptions(), ReadOptions(decimal=",", date_order="dmy")]))
def test_what_looking_stores_is_what_a_release_reads(values, options):
    """A column looked at says, cell by cell, what a release of the declared kind makes of it."""
    text = pa.array([value or None for value in values], pa.string())
    looked = store(text, "x", options=options).values
    raw = Table(pd.DataFrame({"x": pd.Series(values, dtype="str")}), options=options)
    as_number = as_declared(raw, Schema((Column("x", kind=Kind.NUMBER),))).rows()["x"].to_numpy()
    if looked.dtype.kind in "if":
        assert same(looked.to_numpy(dtype=float), as_number)
    if looked.dtype.kind == "M":
        as_date = as_declared(raw, Schema((Column("x", kind=Kind.DATE),))).rows()["x"].to_numpy()
        assert same(looked.to_numpy().astype("datetime64[D]"), as_date.astype("datetime64[D]"))


def test_the_misfits_that_looking_counts_are_those_that_a_release_leaves_out():
    values = [str(number) for number in range(50)] + ["4x", "?", "1,5", "1e999"]
    stored = store(pa.array(values), "x", options=ReadOptions(decimal="."))
    counts = {item.code: item.count for item in stored.findings}
    left_out = int(np.isnan(numbers_of(pa.array(values))).sum())
    assert counts == {
        "table.wrong_decimal_mark": 1,
        "table.cells_not_numbers": 2,
        "table.missing_code": 1,
    }
    assert left_out == sum(counts.values())


def test_a_hexadecimal_cell_beyond_the_sniffed_ones_is_no_number():
    values = ["7"] * 600 + ["0x1F"]
    stored = store(pa.array(values), "x", options=ReadOptions())
    assert stored.values.dtype == "str"
    assert [item.code for item in stored.findings] == ["table.cells_not_numbers"]


@pytest.mark.parametrize(
    "cell",
    [
        "1" * 300_000 + "x",
        "1," * 150_000,
        "1." * 150_000,
        "1.111" * 60_000,
        " " * 300_000 + "x",
        "-" * 300_000,
    ],
)
@TIMED
def test_long_cells_are_looked_at_in_linear_time(cell, timed):
    start = time.process_time()
    for look in (is_number, lambda text: is_number(text, ","), is_date, date_order_of):
        assert not look(cell)
    assert not is_grouped(cell, ",") and not is_grouped(cell, ".")
    for signs in SIGNS:
        assert np.isnan(numbers_of(pa.array([cell]), signs)).all()
    assert np.isnat(dates_of(pa.array([cell]))).all()
    store(pa.array([cell] * 3), "x", options=ReadOptions(decimal=","))
    numbers(pd.Series([cell]), Column("x", kind=Kind.NUMBER))
    assert not timed or time.process_time() - start < 5 * slack()  # quadratic ways took minutes


def test_person_keys_are_text_in_one_form():
    raw = Table(pd.DataFrame({"p": pd.Series(["7", " 7", "7.0", "+7.", "07", None, " "], dtype="str")}))
    found = as_declared(raw, Schema((Column("p", Role.PERSON_KEY),))).rows()["p"]
    assert found.fillna("").tolist() == ["7", "7", "7", "7", "07", "", ""]


def test_a_value_that_programs_of_recipients_read_as_missing_is_found_on_load():
    stored = store(pa.array(["a", "None", "None", "?", "b"]), "x", options=ReadOptions())
    found = {item.code: (item.count, item.more) for item in stored.findings}
    assert found == {"table.missing_word": (2, {"sign": "None"}), "table.missing_code": (1, {"sign": "?"})}
