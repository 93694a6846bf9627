"""A declared missing code is missing in whatever form the file writes it, and for whoever reads it."""

import numpy as np
import pandas as pd
import pytest

from engine.methods.datasets.masking.working import Working
from engine.methods.shared.rows import written_cells
from engine.release.plan import FileReference, Plan
from engine.risk.encoding import encode_column
from engine.table import coding
from engine.table.declared import as_declared, codes_read
from engine.table.preparation.prepare import prepare
from engine.table.reading.options import ReadOptions
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from engine.utility.distances import Scale

POINT = ReadOptions(decimal=".", thousands="", date_order="ymd")
COMMA = ReadOptions(decimal=",", thousands=".", date_order="dmy")
ENGLISH = ReadOptions(decimal=".", thousands=",", date_order="mdy")
NUMBERS, WORDS, DAYS = ["1", "20", "30"], ["a", "1", "b"], ["2020-01-05", "2020-02-06", "1999-12-30"]
EURO_DAYS, ENGLISH_DAYS = ["5.1.2020", "6.2.2020", "30.12.1999"], ["1/5/2020", "2/6/2020", "12/30/1999"]
FORMS = [
    *(("999", code, kind, POINT, NUMBERS) for kind in (Kind.INTEGER, Kind.NUMBER)
      for code in ("999", "999.0", "999.00", "0999", "+999", " 999 ", "9.99e2", "999.")),
    *(("-9", code, Kind.NUMBER, POINT, NUMBERS) for code in ("-9", "-9.0", "-9.00", "-09", "-0.9e1")),
    *(("1e3", code, Kind.NUMBER, POINT, NUMBERS) for code in ("1e3", "1000", "1E+3")),
    *((".9", code, Kind.NUMBER, POINT, NUMBERS) for code in (".9", "0.9", "+.90")),
    *(("-9,5", code, Kind.NUMBER, COMMA, NUMBERS) for code in ("-9,5", "-9,50", "-09,5")),
    *(("-9.5", code, Kind.NUMBER, COMMA, NUMBERS) for code in ("-9,5", "-9,50")),
    *(("1.000", code, Kind.INTEGER, COMMA, NUMBERS) for code in ("1.000", "1000", "1000,0")),
    *(("9,999", code, Kind.INTEGER, ENGLISH, NUMBERS) for code in ("9,999", "9999", "9,999.0")),
    *(("1900-01-01", code, Kind.DATE, POINT, DAYS) for code in ("1900-01-01", "1900/1/1")),
    *(("01.01.1900", code, Kind.DATE, COMMA, EURO_DAYS) for code in ("01.01.1900", "1.1.1900", "1900-01-01")),
    *(("02.01.1900", code, Kind.DATE, COMMA, EURO_DAYS) for code in ("2.1.1900", "1900-01-02")),
    *(("1/2/1900", code, Kind.DATE, ENGLISH, ENGLISH_DAYS) for code in ("01/02/1900", "1900-01-02")),
    *(("9999-12-31", code, Kind.DATE, COMMA, EURO_DAYS) for code in ("9999-12-31", "31.12.9999")),
    *(("?", code, kind, POINT, WORDS) for kind in (Kind.CATEGORY, Kind.TEXT, Kind.ORDINAL)
      for code in ("?", " ? ")),
    *(("? ", "?", kind, POINT, WORDS) for kind in (Kind.CATEGORY, Kind.TEXT)),
    *((word, word, Kind.CATEGORY, POINT, WORDS) for word in ("nan", "inf", "-9.0", "01.01.1900")),
]  # fmt: skip
DOMAINS = {
    Kind.INTEGER: Domain(0, 2000),
    Kind.NUMBER: Domain(0, 2000, 1),
    Kind.CATEGORY: Domain(values=("a", "1", "b")),
    Kind.TEXT: Domain(values=("a", "1", "b")),
    Kind.ORDINAL: Domain(values=("a", "1", "b")),
}


def column(kind, *missing):
    domain = DOMAINS.get(kind)
    if domain is not None and domain.values is None:
        bounds = {"minimum": 0, "maximum": 2000, **({"step": 1} if kind is Kind.NUMBER else {})}
        tree = {"name": "x", "kind": kind.value, "domain": bounds, "domain_origin": "declared"}
        found = Schema.from_json({"columns": [tree]}).columns[0]
        return Column("x", Role.IDENTIFYING, kind, found.domain, found.domain_origin, missing)
    return Column("x", Role.IDENTIFYING, kind, domain, domain and Origin.DECLARED, missing)


def readings(table, told, schema):
    """Return what everything that reads a column says of each row."""
    cells, one = table.rows()["x"], schema.column("x")
    coded = encode_column(cells, one)
    found = {
        "cells": cells.isna().tolist(),
        "written": written_cells(cells, one),
        "encoded": [coded.values[code] for code in coded.codes],
        "masked": Working(table, schema, ["x"], np.random.default_rng(1)).texts("x").written().tolist(),
        "numbers": coding.numbers(cells, one).tolist(),
        "days": coding.dates(cells, one).astype(str).tolist(),
        "scale": None if one.kind in DAYS_AND_NUMBERS else Scale.of_names(cells, one).classes(cells).tolist(),
    }
    if one.domain is not None:
        found["codes"] = coding.codes(cells, one).tolist()
    for condition in ({"is": "missing"}, {"is": "not_missing"}, {"is": "not_in", "values": ["1", told]}):
        kept, _ = prepare(table, [{"step": "keep_rows_where", "column": "x", **condition}], schema)
        found[str(condition)] = kept.rows().index.tolist()
    if one.kind is Kind.DATE:
        step = {
            "step": "age_at",
            "column": "x",
            "date": "2021-01-01",
            "to": "age",
            "minimum": 0,
            "maximum": 150,
        }
        found["age"] = prepare(table, [step], schema)[0].rows()["age"].tolist()
    return {name: str(value) for name, value in found.items()}


DAYS_AND_NUMBERS = (Kind.DATE, Kind.INTEGER, Kind.NUMBER)


@pytest.mark.parametrize(("said", "cell", "kind", "options", "values"), FORMS)
def test_every_reader_takes_a_declared_code_for_an_empty_cell(said, cell, kind, options, values):
    def read(cells, *missing):
        raw = Table(pd.DataFrame({"x": pd.Series(cells, dtype="str")}), options=options)
        schema = Schema((column(kind, *missing),))
        files = {"people": FileReference("x.csv", options.to_json())}
        prepared = Plan(files=files, schemas={"people": schema}).prepared("people")
        assert prepared == codes_read(schema, options)
        return readings(as_declared(raw, schema), values[0], prepared)

    coded, empty = (read([values[0], one, values[1], one, values[2]], said) for one in (cell, None))
    assert coded == empty
    plain = read([*values], said)
    assert plain == read([*values])  # and no other cell


@pytest.mark.parametrize("kind", [Kind.CATEGORY, Kind.TEXT])
def test_words_are_words_and_only_numbers_can_be_none(kind):
    raw = Table(pd.DataFrame({"x": pd.Series(["nan", "inf", "-inf", "a", None], dtype="str")}))
    cells = as_declared(raw, Schema((Column("x", kind=kind),))).rows()["x"]
    assert written_cells(cells, Column("x", kind=kind)) == ["nan", "inf", "-inf", "a", ""]
    assert encode_column(cells, Column("x", kind=kind)).size == 5
    numbers = Table(pd.DataFrame({"x": [1.0, np.inf, -np.inf, np.nan]}))
    for one in (Kind.NUMBER, Kind.CATEGORY):
        stored = as_declared(numbers, Schema((Column("x", kind=one),))).rows()["x"]
        assert written_cells(stored, Column("x", kind=one)) == ["1", "", "", ""]


@pytest.mark.parametrize(
    ("said", "kind"), [("-9.0", Kind.CATEGORY), ("-9", Kind.TEXT), ("-9.00", Kind.NUMBER)]
)
def test_numbers_of_a_file_with_types_are_missing_however_the_code_is_written(said, kind):
    raw = Table(pd.DataFrame({"x": [1.0, -9.0, 2.5]}))
    one = Column("x", kind=kind, missing=(said,))
    assert written_cells(as_declared(raw, Schema((one,))).rows()["x"], one) == ["1", "", "2.5"]
