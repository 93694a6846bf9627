"""The table keeps its rows behind one door and shows no cell."""

import pickle

import pandas as pd
import pytest

from engine.table.reading.options import Finding, ReadOptions
from engine.table.table import Table

SECRET = "Mrs Smith"


class Poisoned(Table):
    """A table whose door is locked."""

    def rows(self) -> pd.DataFrame:
        raise AssertionError("private rows were read")


def test_metadata_is_readable_without_the_door():
    table = Poisoned(pd.DataFrame({"name": [SECRET], "age": [41]}), source="people.csv")
    assert (table.names, table.n_rows, len(table)) == (("name", "age"), 1, 1)
    assert dict(table.storage) == {"name": "text", "age": "integer"}
    assert "age" in table and "height" not in table
    assert repr(table) and table.options == ReadOptions() and table.findings == ()


def test_repr_shows_no_cell():
    table = Table(pd.DataFrame({"name": [SECRET]}))
    assert SECRET not in repr(table) + str(table)


def test_changing_the_rows_changes_no_table():
    table = Table(pd.DataFrame({"age": [41, 50]}))
    rows = table.rows()
    rows.loc[0, "age"] = 99
    rows["new"] = 1
    assert table.rows()["age"].tolist() == [41, 50]
    assert table.names == tuple(table.rows().columns) == ("age",)


def test_a_table_is_never_pickled():
    with pytest.raises(TypeError):
        pickle.dumps(Table(pd.DataFrame({"name": [SECRET]})))


def test_other_rows_keep_what_is_known_about_their_columns():
    table = Table(
        pd.DataFrame({"sex": [1, 2], "age": [41, 50]}),
        labels={"sex": {"1": "male"}},
        titles={"age": "Age in years"},
        missing={"age": ("99",)},
        findings=(Finding("table.empty_rows"),),
    )
    other = table.with_rows(table.rows()[["sex"]].iloc[1:])
    assert other.labels == {"sex": {"1": "male"}} and other.titles == {} and other.missing == {}
    assert other.n_rows == 1 and other.rows().index.tolist() == [0]
    assert other.findings == table.findings


def test_options_over_what_was_found_and_in_json():
    found = ReadOptions(delimiter=",", header=True, quote='"')
    assert ReadOptions(header=False, quote="").over(found) == ReadOptions(
        delimiter=",", header=False, quote=""
    )
    options = ReadOptions(format="text", delimiter="\t", skip_rows=0, missing=("?", "NA"))
    assert ReadOptions.from_json(options.to_json()) == options


@pytest.mark.parametrize(
    "tree",
    [
        {"delimeter": ","},
        {"delimiter": ",,"},
        {"header": "yes"},
        {"skip_rows": -1},
        {"format": "pdf"},
        {"missing": "?"},
    ],
)
def test_bad_options_are_refused(tree):
    from engine.errors import InputRefused
    from engine.texts import explain

    with pytest.raises(InputRefused) as caught:
        ReadOptions.from_json(tree, file="plan.json")
    assert next(iter(tree)) in explain(caught.value)[0]
