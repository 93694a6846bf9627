"""What a table of a bundle cannot do to the spreadsheet that opens it."""

from __future__ import annotations

import pandas as pd
import pytest

from engine.formulas import escape_formula
from engine.methods.protocol import DictionaryEntry, TableArtefact
from engine.release.bundle import dictionary_json, write_artefact
from engine.release.copies import READ
from engine.release.package import fields_of
from engine.table.missing_words import MISSING_WORDS
from engine.views import Text

FORMULAS = (
    *(
        "=1+1",
        " =1+1",
        "\t=1+1",
        "\ufeff=1+1",
        "\u200b=1+1",
        "\u00a0=1+1",
        "\u2060\ufeff=1+1",
        "\x00=1",
        "\x1f=1",
    ),
    *("＝1+1", "\ufeff＝1+1", "﹦1+1", "@SUM(A1)", "＠SUM(A1)", "﹫A1"),
    *(
        "-1+1",
        "+A1",
        "+1+1",
        "-A1",
        "－1+1",
        "＋A1",
        "−1+1",
        "- none",
        "--1",
        "+-1",
        "-2+3+cmd|' /C calc'!A0",
    ),
    *("\tx", "\rx", "\nx", "-5 to <=A1", "-5 to <0+A1"),
)
PLAIN = (
    *(
        "",
        "+",
        "-",
        "-5",
        "+3.5",
        "-.5",
        "-1e-5",
        "-5 to <0",
        "-5 to 0.5",
        "-5 to -1",
        "0 to <1",
        "<-1",
        ">-1",
    ),
    *("f", "(other)", "1=1", "a@b", "a-b", " f", "north - south", "½", "2020-01-01", "'=1"),
)


@pytest.mark.parametrize("cell", FORMULAS)
def test_what_begins_a_formula_is_text(cell: str) -> None:
    assert escape_formula(cell) == f"'{cell}"
    assert escape_formula(escape_formula(cell)) == f"'{cell}"


@pytest.mark.parametrize("cell", PLAIN)
def test_what_begins_none_stays_as_it_is(cell: str) -> None:
    assert escape_formula(cell) == cell


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("a;=1+1;b", "a;'=1+1;b"),
        ("a; =1+1", "a;' =1+1"),
        ("a;@SUM(A1)", "a;'@SUM(A1)"),
        ("\r\n=1", "'\r\n'=1"),
        ("-1\n=1+1", "'-1\n'=1+1"),
        ("pain\n-1+1", "pain\n'-1+1"),
        ("=1;=2", "'=1;'=2"),
        ("a;-5;+3.5;b", "a;-5;+3.5;b"),
        ("a;b\tc", "a;b\tc"),
    ],
)
def test_no_part_begins_a_formula_where_a_semicolon_parts_cells(cell: str, told: str) -> None:
    assert escape_formula(cell) == told
    assert escape_formula(told) == told


def test_no_cell_and_no_heading_of_a_released_table_begins_a_formula(tmp_path) -> None:
    frame = pd.DataFrame({"＝A1": ["f", "\ufeff=1+1"], "count": [-1, 2]})
    write_artefact(tmp_path, TableArtefact("counts", (frame,), ()), "en")
    written = (tmp_path / "counts.csv").read_text(encoding="utf-8")
    assert written == "'＝A1,count\nf,-1\n'\ufeff=1+1,2\n"


@pytest.mark.parametrize("cell", sorted(MISSING_WORDS))
def test_a_value_that_programs_read_as_missing_is_warned_of(cell: str) -> None:
    entries = tuple(DictionaryEntry(name, Text("datasets.as_it_is"), "category") for name in ("a", "b"))
    frame = pd.DataFrame({"a": [cell, "x"], "b": ["y", "x"]}, dtype="str")
    first, second = dictionary_json(TableArtefact("t", (frame,), entries), {})["columns"]
    assert first["not_missing"] == [cell] and f"“{cell}” is a value" in first["meaning"]
    assert set(first["values"]) == {cell, "x"}
    assert "not_missing" not in second and "missing" not in second["meaning"]


def test_the_list_of_such_values_is_that_of_the_program_that_most_recipients_read_with() -> None:
    from pandas._libs.parsers import STR_NA_VALUES

    assert set(STR_NA_VALUES) - {""} == MISSING_WORDS - {"."}


@pytest.mark.parametrize(
    ("kind", "cells", "told"),
    [
        ("integer", ["1", "-2", "007", ""], "integer"),
        ("integer", ["1", "12.5"], "number"),
        ("integer", ["1", "12.5", "abc"], "category"),
        ("integer", ["1", "٢"], "category"),
        ("number", ["1", "1e3", ".5"], "number"),
        ("number", ["1", "inf"], "category"),
        ("number", ["1", "<5"], "category"),
        ("date", ["2020-02-29", ""], "date"),
        ("date", ["2020-02-30"], "category"),
        ("date", ["2020-01-01 12:00"], "category"),
        ("ordinal", ["1", "b"], "ordinal"),
    ],
)
def test_a_column_is_of_the_kind_that_its_cells_are(tmp_path, kind: str, cells: list[str], told: str) -> None:
    """Before, the script beside rows with a part of a number in a column of whole ones stopped there."""
    frame = pd.DataFrame({"a": cells}, dtype="str")
    entry = DictionaryEntry("a", Text("datasets.as_it_is"), kind)
    (found,) = dictionary_json(TableArtefact("t", (frame,), (entry,)), {})["columns"]
    assert found["kind"] == told
    (field,) = fields_of([found])
    for cell in filter(None, cells):
        READ.get(field["type"], str)(cell)
