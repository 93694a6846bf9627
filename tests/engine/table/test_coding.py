"""Declared cells: the same set whatever the rows hold, and nothing is refused because of a row."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputRefused
from engine.table.coding import cells, codes, dates, levels, numbers, text_of, texts_of
from engine.table.schema import Column, Domain, Kind, Origin
from tests.examples import many

SEX = Column("sex", kind=Kind.CATEGORY, domain=Domain(values=("f", "m")), missing=("?", "-9"))
STAY = Column("stay", kind=Kind.INTEGER, domain=Domain(Fraction(1), Fraction(14)))


def test_by_hand():
    assert cells(SEX) == ("f", "m", "other", "missing")
    assert codes(pd.Series(["m", "f", "x", "", None, "?", " m ", "F"]), SEX).tolist() == [
        1,
        0,
        2,
        3,
        3,
        3,
        1,
        2,
    ]


def test_numeric_storage_and_textual_declaration_agree():
    column = Column("kind", domain=Domain(values=("1", "2.0", "03")), missing=("-9",))
    expected = [0, 1, 2, 3, 4]
    assert codes(pd.Series([1, 2, 3, 7, -9]), column).tolist() == expected
    assert codes(pd.Series([1.0, 2.0, 3.0, 7.5, -9.0]), column).tolist() == expected
    assert codes(pd.Series([1.0, np.nan, np.inf, -np.inf]), column).tolist() == [0, 4, 4, 4]


def test_text_levels_are_not_numbers():
    column = Column("ward", domain=Domain(values=("01", "1")))
    assert codes(pd.Series(["01", "1", "001"]), column).tolist() == [0, 1, 2]


def test_bounds_make_levels_and_clamp():
    assert levels(STAY) == tuple(str(day) for day in range(1, 15))
    assert codes(pd.Series([1, 14, 0, 99, -5]), STAY).tolist() == [0, 13, 0, 13, 0]
    assert codes(pd.Series(["3", "x", "1e400", None]), STAY).tolist() == [2, 15, 15, 15]


def test_a_grid_of_tenths_is_exact():
    column = Column("x", kind=Kind.NUMBER, domain=Domain(Fraction(0), Fraction(1), Fraction(1, 10)))
    values = [round(0.1 * step, 1) for step in range(11)]
    assert levels(column)[3] == "0.3"
    assert codes(pd.Series(values), column).tolist() == list(range(11))


def test_code_list():
    column = Column("sex", domain=Domain(code_list="sex_words"), domain_origin=Origin.CODE_LIST)
    assert levels(column) == ("Female", "Male")


@pytest.mark.parametrize(
    ("column", "code"),
    [
        (Column("a"), "table.no_levels"),
        (Column("a", kind=Kind.NUMBER, domain=Domain(Fraction(0), Fraction(1))), "table.no_levels"),
        (Column("a", kind=Kind.DATE, domain=Domain("2020-01-01", "2021-01-01")), "table.no_levels"),
        (
            Column("a", kind=Kind.INTEGER, domain=Domain(Fraction(0), Fraction(10**9))),
            "table.too_many_levels",
        ),
        (Column("a", domain=Domain(code_list="nowhere")), "table.unknown_code_list"),
    ],
)
def test_a_declaration_without_levels_is_refused(column, code):
    with pytest.raises(InputRefused) as caught:
        levels(column)
    assert caught.value.code == code


cell = st.one_of(
    st.none(), st.text(max_size=4), st.sampled_from(["f", "m", "?", "-9", "nan", "inf", "1e999"])
)


@pytest.mark.guarantee
@settings(max_examples=many(60), deadline=None)
@given(st.lists(cell, max_size=12))
def test_any_text_is_coded_and_cells_do_not_depend_on_it(values):
    before = cells(SEX)
    found = codes(pd.Series(values, dtype="str"), SEX)
    assert cells(SEX) == before
    assert len(found) == len(values) and found.dtype == np.int64
    assert ((found >= 0) & (found < len(before))).all()
    for value, code in zip(values, found.tolist(), strict=True):  # each cell alone decides about itself
        assert codes(pd.Series([value], dtype="str"), SEX).tolist() == [code]


@settings(max_examples=many(60), deadline=None)
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=12))
def test_any_number_is_coded(values):
    found = codes(pd.Series(values, dtype="float64"), STAY)
    assert ((found >= 0) & (found < len(cells(STAY)))).all()
    assert (found[~np.isfinite(np.array(values, dtype=float))] == 15).all()
    read = numbers(pd.Series(values, dtype="float64"), STAY)
    assert not np.isinf(read).any()


def test_numbers_do_not_clamp_and_take_missing_codes():
    column = Column("x", kind=Kind.NUMBER, missing=("-9", "999", "?"))
    assert numbers(pd.Series([1.5, -9, 999, 1e300]), column).tolist()[3] == 1e300
    assert np.isnan(numbers(pd.Series([-9, 999]), column)).all()
    assert np.isnan(numbers(pd.Series(["-9.0", "?", "1,5", "", "inf"]), column)).all()
    assert np.isnan(numbers(pd.Series(pd.to_datetime(["2020-01-01"])), column)).all()


def test_numbers_leaves_the_column_alone():
    values = pd.Series([-9.0, 1.0])
    numbers(values, Column("x", missing=("-9",)))
    assert values.tolist() == [-9.0, 1.0]


def test_dates():
    column = Column("day", kind=Kind.DATE, missing=("1900-01-01",))
    found = dates(pd.Series(["2020-02-29", "2021-02-29", "1900-01-01", None, "2020-01-01 23:59:00"]), column)
    assert found.astype(str).tolist() == ["2020-02-29", "NaT", "NaT", "NaT", "2020-01-01"]
    assert np.isnat(dates(pd.Series([20200101]), column)).all()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (0.1, "0.1"),
        (-0.0, "0"),
        (" a ", "a"),
        (np.int64(7), "7"),
        (np.float64(2.5), "2.5"),
    ],
)
def test_text_of(value, text):
    assert text_of(value) == text


def test_empty_column():
    assert codes(pd.Series([], dtype="str"), SEX).tolist() == []
    assert numbers(pd.Series([], dtype="str"), STAY).tolist() == []


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_many_moments_are_written_as_each_of_them(unit):
    moments = [None, "1970-01-01", "2020-02-29", "2020-02-29T00:00:01", "2262-04-11", "1677-09-22T12:00"]
    moments += [] if unit == "ns" else ["0001-01-01", "0999-12-31", "9999-12-31", "9999-12-31T23:59:59"]
    values = pd.Series(np.array(moments, f"datetime64[{unit}]"))
    for stored in (values, pd.Index(values)):
        assert texts_of(stored) == [text_of(one) for one in stored.tolist()]
    assert texts_of(values)[:3] == ["NaT", "1970-01-01", "2020-02-29"]
