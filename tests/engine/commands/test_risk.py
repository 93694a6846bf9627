"""The command ``risk``: its answer, its sentences and its refusals."""

import json
import re
from pathlib import Path

import pytest

from engine.__main__ import main

ROWS = "age,sex,zip,ill\n31,f,1,a\n31,f,1,b\n31,f,1,a\n44,m,2,b\n44,m,2,b\n70,m,2,a\n"
COLUMNS = [
    {"name": "age", "role": "identifying", "kind": "integer"},
    {"name": "sex", "role": "identifying", "kind": "category"},
    {"name": "ill", "role": "sensitive", "kind": "category"},
]


@pytest.fixture
def table(tmp_path: Path) -> tuple[str, str]:
    file, schema = tmp_path / "people.csv", tmp_path / "schema.json"
    file.write_text(ROWS)
    schema.write_text(json.dumps({"version": 1, "rows_per_person": 1, "columns": COLUMNS}))
    return str(file), str(schema)


def answered(capsys, *arguments):
    assert main(["risk", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments):
    assert main(["risk", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert not re.search(r"[.?!] [A-Z“]", said.err), "one sentence"
    return said.err


def test_the_answer(capsys, table):
    found = answered(capsys, table[0], "--schema", table[1])
    assert (found["rows"], found["groups"], found["smallest_group"], found["alone"]) == (6, 3, 1, 1)
    assert found["prosecutor_highest"] == 1.0
    assert found["prosecutor_average"] == found["marketer"] == 0.5
    assert found["l_diversity"] == {"ill": 1}
    assert found["t_closeness"] == {"ill": 0.5}
    assert set(found["columns"]) == {"age", "sex"}
    assert found["columns"]["age"] == 1.0 and found["columns"]["sex"] == 0.0
    assert {one["code"] for one in found["findings"]} == {"alone", "homogeneous"}
    assert found["findings"][0]["sentence"].startswith("1 of 6 people")
    assert not [name for name in found if name.startswith("journalist")]
    assert found["audience"] == "internal"


def test_a_population(capsys, table, tmp_path):
    people = tmp_path / "everybody.csv"
    people.write_text(ROWS + "70,m,9,c\n70,m,9,c\n44,m,9,c\n")
    found = answered(capsys, table[0], "--schema", table[1], "--population", str(people))
    assert found["journalist_highest"] == pytest.approx(1 / 3)
    sized = answered(capsys, table[0], "--schema", table[1], "--population-size", "600")
    assert sized["journalist_known"] == "size"
    assert sized["population_uniqueness"]["estimate"] is None


def test_a_population_needs_no_weights_of_its_own(capsys, tmp_path):
    (tmp_path / "rows.csv").write_text("age,w\n30,5\n41,5\n")
    (tmp_path / "all.csv").write_text("age\n30\n30\n41\n")
    columns = [
        {"name": "age", "role": "identifying", "kind": "integer"},
        {"name": "w", "role": "weight", "kind": "number"},
    ]
    (tmp_path / "schema.json").write_text(
        json.dumps({"version": 1, "rows_per_person": 1, "columns": columns})
    )
    given = (str(tmp_path / "rows.csv"), "--schema", str(tmp_path / "schema.json"))
    found = answered(capsys, *given, "--population", str(tmp_path / "all.csv"))
    assert (found["journalist_highest"], found["journalist_marketer"]) == (1.0, 0.75)
    assert answered(capsys, *given)["journalist_known"] == "weights"


@pytest.mark.parametrize("weight", ["0", "-1", "many", "", "1e308"])
def test_weights_that_are_none_are_refused(capsys, tmp_path, weight):
    (tmp_path / "rows.csv").write_text(f"age,w\n30,1e308\n41,{weight}\n")
    columns = [
        {"name": "age", "role": "identifying", "kind": "integer"},
        {"name": "w", "role": "weight", "kind": "number"},
    ]
    (tmp_path / "schema.json").write_text(json.dumps({"version": 1, "columns": columns}))
    said = refused(capsys, str(tmp_path / "rows.csv"), "--schema", str(tmp_path / "schema.json"))
    assert "“w” is marked as weight" in said


@pytest.mark.parametrize("role", ["identifying", "sensitive", "person_key", "weight", "other"])
def test_a_column_that_is_not_there_is_refused_whatever_its_role(capsys, table, tmp_path, role):
    columns = [*COLUMNS, {"name": "shoe", "role": role}]
    (tmp_path / "other.json").write_text(json.dumps({"version": 1, "columns": columns}))
    assert "“shoe”" in refused(capsys, table[0], "--schema", str(tmp_path / "other.json"))


def test_thresholds_and_missing_values(capsys, table):
    found = answered(capsys, table[0], "--schema", table[1], "--threshold", "0.4", "--missing", "matches")
    assert found["prosecutor_above"] == {"0.4": 0.5}
    assert found["missing"] == "matches"


def test_in_sentences(capsys, table):
    assert main(["risk", table[0], "--schema", table[1], "--population-size", "100"]) == 0
    said = capsys.readouterr().out
    assert "smallest group has 1" in said and "stays inside" in said and "among 100" in said


def test_who_is_protected_has_the_word_of_the_schema(capsys, table, tmp_path):
    words = {"protected": "household", "protected_many": "households"}
    schema = tmp_path / "households.json"
    schema.write_text(json.dumps({"version": 1, "rows_per_person": 1, "columns": COLUMNS, **words}))
    main(["risk", table[0], "--schema", str(schema)])
    said = capsys.readouterr().out
    assert "6 households make 3 groups" in said and not re.search(r"\b(people|person|patients?)\b", said)
    found = answered(capsys, table[0], "--schema", str(schema))
    assert found["protected"] == {"one": "household", "many": "households"}
    assert "1 of 6 households" in found["findings"][0]["sentence"]


def with_columns(tmp_path, columns):
    schema = tmp_path / "other.json"
    schema.write_text(json.dumps({"version": 1, "columns": columns}))
    return str(schema)


def test_what_is_refused(capsys, table, tmp_path):
    (tmp_path / "bad.json").write_text("{")
    assert "JSON" in refused(capsys, table[0], "--schema", str(tmp_path / "bad.json"))
    absent = [{"name": "shoe size", "role": "identifying", "kind": "integer"}]
    assert "shoe size" in refused(capsys, table[0], "--schema", with_columns(tmp_path, absent))
    nobody = with_columns(tmp_path, [COLUMNS[2]])
    assert "identifying" in refused(capsys, table[0], "--schema", nobody)
    refused(capsys, table[0], "--schema", table[1], "--population-size", "3")
    refused(capsys, table[0], "--schema", table[1], "--population-size", "many")
    refused(capsys, table[0], "--schema", table[1], "--threshold", "7")
    twice = ("--population", table[0], "--population-size", "9")
    refused(capsys, table[0], "--schema", table[1], *twice)
    refused(capsys, "nothing.csv", "--schema", table[1])


@pytest.mark.parametrize(
    "written",
    [
        "2020,sex\n1,m\n1,f\n3,f\n",
        "2020;1,5;sex\n1;2;m\n1;2;f\n3;2;m\n",
        " 2020 ,2020-01-01,sex\n1,1,m\n1,2,f\n3,1,f\n",
    ],
)
def test_a_first_row_with_names_of_the_schema_is_no_row(capsys, tmp_path, written):
    (tmp_path / "rows.csv").write_text(written)
    schema = with_columns(tmp_path, [{"name": "2020", "role": "identifying", "kind": "integer"}])
    found = answered(capsys, str(tmp_path / "rows.csv"), "--schema", schema)
    assert (found["rows"], found["groups"], found["alone"]) == (3, 2, 1)


def test_names_that_fit_more_than_one_column_are_refused(capsys, tmp_path):
    (tmp_path / "rows.csv").write_text("age,age,w\n1,2,1\n3,4,1\n")
    file, age = str(tmp_path / "rows.csv"), {"name": "age", "role": "identifying", "kind": "integer"}
    assert "several columns" in refused(capsys, file, "--schema", with_columns(tmp_path, [age]))
    both = with_columns(tmp_path, [age, {**age, "name": "age (2)"}])
    assert answered(capsys, file, "--schema", both)["groups"] == 2
    for role in ("weight", "person_key"):
        twice = [age, *({"name": name, "role": role, "kind": "number"} for name in ("w", "v"))]
        refused(capsys, file, "--schema", with_columns(tmp_path, twice))
