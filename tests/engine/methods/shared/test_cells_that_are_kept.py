"""Cells that are kept leave with the value that was read, in the one form that the dictionary tells."""

import json
import re
from datetime import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from engine import texts
from engine.methods.catalogue import methods
from engine.methods.protocol import Family
from engine.methods.shared.rows import written_cells
from engine.table.reading.options import ReadOptions
from engine.table.reading.storage import store
from engine.table.schema import Column, Kind
from tests.engine.methods.examples_run import ran

FORMS = {
    "point": (
        ["100.0", "100", "1.50", "+7", "-0.250", "1e3", " 12.2 ", "0.1", "123456789.125", ""],
        ReadOptions(decimal=".", thousands=""),
    ),
    "comma": (["12,2", "100,0", "1.234,50", "-0,5", "7", ""], ReadOptions(decimal=",", thousands=".")),
    "thousands": (["1,234.50", "12.20", "1,000", "3.0", ""], ReadOptions(decimal=".", thousands=",")),
}
DAYS = {
    "dmy": (["29.02.2020", "1.12.1999", "03.04.2021", ""], "%d.%m.%Y"),
    "mdy": (["02/29/2020", "12/1/1999", "03/14/2021", ""], "%m/%d/%Y"),
    "ymd": (["2020-02-29", "1999/12/01", "2021-3-4", ""], None),
}


def kept(cells, kind, options=None):
    """Return what leaves of cells of a file, nothing having been done to them."""
    stored = store(pa.array([cell or None for cell in cells]), "x", options=options or ReadOptions())
    return written_cells(stored.values, Column("x", kind=kind, missing=("-9",)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [Kind.NUMBER, Kind.CATEGORY, Kind.ORDINAL])
def test_numbers_keep_their_value_and_have_one_form(form, kind):
    cells, options = FORMS[form]
    for cell, left in zip(cells, kept(cells, kind, options), strict=True):
        plain = cell.strip().replace(options.thousands or "\0", "").replace(options.decimal, ".")
        if not plain:
            assert left == ""
            continue
        assert Decimal(left) == Decimal(plain)
        assert re.fullmatch(r"-?(0|[1-9]\d*)(\.\d*[1-9])?", left), left


@pytest.mark.parametrize("order", DAYS)
def test_days_keep_their_value_and_have_one_form(order):
    cells, form = DAYS[order]
    options = ReadOptions(date_order=order)
    for cell, left in zip(cells, kept(cells, Kind.DATE, options), strict=True):
        if not cell:
            assert left == ""
            continue
        read = datetime.strptime(cell, form or ("%Y/%m/%d" if "/" in cell else "%Y-%m-%d"))
        assert left == f"{read:%Y-%m-%d}"


@pytest.mark.parametrize("kind", [Kind.TEXT, Kind.CATEGORY, Kind.ORDINAL])
def test_names_leave_to_the_letter_but_for_blanks_around_them(kind):
    cells = [
        "01",
        "x 1",
        " Ward  B ",
        "1,5 mg",
        "100.0 ml",
        "=SUM(A1)",
        "Ä\u0301",
        "TRUE",
        "é;\"'",
        "a\tb",
        "-9",
    ]
    assert kept(cells, kind) == ["" if cell == "-9" else cell.strip() for cell in cells]


def test_what_the_dictionary_says_is_what_happens():
    said = texts.text("bundle.written")
    (before, after), (comma, point) = re.findall(r"(\d[\d.,]*\d) reads (\d[\d.]*\d)", said)
    assert kept([before, "1"], Kind.NUMBER) == [after, "1"]
    assert kept([comma, "1"], Kind.NUMBER, ReadOptions(decimal=",")) == [point, "1"]


OF_PEOPLE = [one for one in methods() if one.family is Family.DATASET and not one.invented]


@pytest.mark.guarantee
@pytest.mark.parametrize("method", OF_PEOPLE, ids=lambda one: one.id)
def test_every_way_that_keeps_cells_says_how_they_are_written(method):
    """Whatever it keeps: rows with an origin, or columns that the dictionary calls those of the custodian."""
    told = {texts.text("datasets.as_it_is"), texts.text("datasets.partly_invented")}
    for _, bundle in ran(method):
        (found,) = bundle.rglob("data-dictionary.json")
        for table in json.loads(found.read_text("utf-8")):
            meanings = {one["meaning"] for one in table.get("columns", ())}
            if any(meaning.endswith(tuple(told)) for meaning in meanings):
                assert table["written"] == texts.text("bundle.written")
