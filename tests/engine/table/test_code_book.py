"""Code books: meanings, units, codes and bounds from a file about the columns, in several shapes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

from engine.errors import InputRefused
from engine.table.code_book import Entry, read_code_book, with_code_book
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema

WIDE = """Variable;Description;Unit;Values;Min;Max;Missing
AGE;Age at admission;years;;0;120;-9
sex;Sex at birth;;1=male; 2=female;;;
"""
WIDE = WIDE.replace("1=male; 2=female", '"1=male; 2=female"')
LONG = """variable,label,code,code label
smoke,Smoking now,0,never
,,1,sometimes
,,9,not asked
visits,Visits in a year,,
"""
SHORT = """name,label,value
group,Arm of the trial,
group,treated,A
group,placebo,B
"""


def write(folder: Path, text: str, name: str = "book.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_line_a_column(tmp_path: Path) -> None:
    book = read_code_book(write(tmp_path, WIDE))
    assert book["AGE"] == Entry("Age at admission", "years", {}, "0", "120", ("-9",))
    assert book["sex"].meaning == "Sex at birth"
    assert book["sex"].labels == {"1": "male", "2": "female"}


@pytest.mark.parametrize(
    ("text", "column", "meaning", "labels"),
    [
        (LONG, "smoke", "Smoking now", {"0": "never", "1": "sometimes", "9": "not asked"}),
        (LONG, "visits", "Visits in a year", {}),
        (SHORT, "group", "Arm of the trial", {"A": "treated", "B": "placebo"}),
    ],
)
def test_a_line_a_code(tmp_path: Path, text: str, column: str, meaning: str, labels: dict[str, str]) -> None:
    found = read_code_book(write(tmp_path, text))[column]
    assert (found.meaning, found.labels) == (meaning, labels)


def test_what_a_statistics_package_keeps_beside_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "people.sav"
    pyreadstat.write_sav(
        pd.DataFrame({"sex": [1.0, 2.0], "age": [30.0, 41.0]}),
        path,
        column_labels={"sex": "Sex at birth", "age": "Age in years"},
        variable_value_labels={"sex": {1.0: "male", 2.0: "female"}},
    )
    book = read_code_book(path)
    assert book["age"] == Entry("Age in years")
    assert book["sex"].labels == {"1": "male", "2": "female"}


def test_a_file_without_names_of_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputRefused) as refused:
        read_code_book(write(tmp_path, "a,b\n1,2\n3,4\n"))
    assert refused.value.code == "table.code_book_headings"
    assert refused.value.values["file"] == "book.csv"


def test_a_book_declares_and_changes_no_role() -> None:
    schema = Schema(
        (
            Column("age", Role.IDENTIFYING, Kind.INTEGER),
            Column("sex", Role.NOT_RECOGNISED, Kind.CATEGORY),
            Column("kept", Role.OTHER, Kind.INTEGER, Domain(minimum=1, maximum=2), Origin.DECLARED),
            Column("other", Role.OTHER),
        )
    )
    book = {
        "AGE": Entry("Age at admission", "years", {}, "0", "120", ("-9",)),
        "sex": Entry("Sex", "", {"1": "male", "2": "female", "9": "unknown"}, missing=("9",)),
        "kept": Entry("Kept", "", {}, "0", "5"),
        "nobody": Entry("No column"),
    }
    told, names = with_code_book(schema, book)
    assert names == ("age", "sex", "kept")
    assert [column.role for column in told.columns] == [column.role for column in schema.columns]
    age = told.column("age")
    assert (age.meaning, age.unit, age.missing) == ("Age at admission", "years", ("-9",))
    assert age.domain == Domain(0, 120) and age.domain_origin is Origin.DECLARED
    assert told.column("sex").domain == Domain(values=("1", "2"))
    assert told.column("kept").domain == Domain(minimum=1, maximum=2)
    assert told.column("other") == schema.column("other")


@pytest.mark.parametrize("low", ["x", "5", "1/0"])
def test_bounds_that_are_none_declare_nothing(low: str) -> None:
    schema = Schema((Column("age", kind=Kind.INTEGER),))
    told, _ = with_code_book(schema, {"age": Entry(minimum=low, maximum="5")})
    assert told.column("age").domain is None
