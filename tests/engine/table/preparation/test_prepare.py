"""Recorded steps: what each does to rows and to declared domains, and that it looks at no other row."""

import hashlib
import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.table.preparation.declarations import CONDITIONS, STEPS
from engine.table.preparation.prepare import filter_rows, mask, prepare, split
from engine.table.preparation.steps import check, declared_by
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from engine.texts import explain, sentences

FRAME = pd.DataFrame(
    {
        "p": [1, 1, 2, 3, 4],
        "age": [4, 17, 90, -3, np.nan],
        "sex": ["f", "m", "?", None, "x"],
        "born": pd.to_datetime(["2000-02-29", "1999-12-31", "1950-06-15", None, "2030-01-01"]),
        "seen": pd.to_datetime(["2018-02-28", "2018-12-30", "2018-06-15", "2018-01-01", "2018-01-01"]),
    }
)
SCHEMA = Schema(
    (
        Column("p", Role.PERSON_KEY),
        Column("age", Role.IDENTIFYING, Kind.INTEGER, missing=("-3",)),
        Column(
            "sex", Role.IDENTIFYING, Kind.CATEGORY, Domain(values=("f", "m", "x")), Origin.DECLARED, ("?",)
        ),
        Column("born", Role.IDENTIFYING, Kind.DATE),
        Column("seen", Role.TIME, Kind.DATE),
    )
)
TABLE = Table(FRAME, source="people.csv")


def kept(**condition):
    step = {"step": "keep_rows_where", **condition}
    return mask(TABLE, [json.loads(json.dumps(step))], SCHEMA).tolist()


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"column": "sex", "is": "in", "values": ["f", "x"]}, [1, 0, 0, 0, 1]),
        ({"column": "sex", "is": "not_in", "values": ["f"]}, [0, 1, 1, 1, 1]),
        ({"column": "sex", "is": "missing"}, [0, 0, 1, 1, 0]),
        ({"column": "sex", "is": "not_missing"}, [1, 1, 0, 0, 1]),
        ({"column": "age", "is": "at_least", "value": 17}, [0, 1, 1, 0, 0]),
        ({"column": "age", "is": "at_least", "value": 17, "maximum": 20}, [0, 1, 1, 0, 0]),
        ({"column": "age", "is": "at_least", "value": 17, "maximum": "inf"}, [0, 1, 1, 0, 0]),
        ({"column": "age", "is": "at_most", "value": 17, "minimum": 10}, [1, 1, 0, 0, 0]),
        ({"column": "seen", "is": "at_most", "value": "2018-06-15", "minimum": "soon"}, [1, 0, 1, 1, 1]),
        ({"column": "age", "is": "at_most", "value": 17}, [1, 1, 0, 0, 0]),
        ({"column": "age", "is": "between", "minimum": 4, "maximum": 17.5}, [1, 1, 0, 0, 0]),
        ({"column": "age", "is": "in", "values": [4, "17"]}, [1, 1, 0, 0, 0]),
        ({"column": "seen", "is": "at_least", "value": "2018-06-15"}, [0, 1, 1, 0, 0]),
        ({"column": "born", "is": "at_most", "value": "1999-12-31"}, [0, 1, 1, 0, 0]),
    ],
)
def test_conditions(condition, expected):
    assert kept(**condition) == [bool(value) for value in expected]


def test_a_condition_looks_at_no_other_row():
    steps = [{"step": "keep_rows_where", "column": "age", "is": "between", "minimum": 0, "maximum": 50}]
    whole = mask(TABLE, steps, SCHEMA)
    for row in range(TABLE.n_rows):
        alone = TABLE.with_rows(TABLE.rows().iloc[[row]])
        assert mask(alone, steps, SCHEMA).tolist() == [whole[row]]


def test_changes_look_at_no_other_row():
    steps = [
        {"step": "bands", "column": "age", "edges": [0, 18, 65], "to": "band"},
        {
            "step": "recode",
            "column": "sex",
            "map": {"f": "woman"},
            "others": "label",
            "label": "rest",
            "to": "s",
        },
        {"step": "age_at", "column": "born", "date_column": "seen", "to": "years"},
    ]
    whole, schema = prepare(TABLE, steps, SCHEMA)
    for row in range(TABLE.n_rows):
        alone, again = prepare(TABLE.with_rows(TABLE.rows().iloc[[row]]), steps, SCHEMA)
        assert again == schema
        expected = whole.rows().iloc[[row]].reset_index(drop=True)
        pd.testing.assert_frame_equal(alone.rows(), expected)


def test_split_and_filtered():
    steps = [
        {"step": "keep_rows_where", "column": "band", "is": "in", "values": ["[0-18)"]},
        {"step": "bands", "column": "age", "edges": [0, 18, 65], "to": "band"},
    ]
    changes, filters = split(steps)
    assert [step["step"] for step in changes + filters] == ["bands", "keep_rows_where"]
    prepared, schema = prepare(TABLE, changes, SCHEMA)
    assert prepared.n_rows == 5
    assert filter_rows(prepared, filters, schema).n_rows == 2
    assert prepare(TABLE, steps, SCHEMA)[0].n_rows == 2  # the same in one go


def test_bands():
    step = {"step": "bands", "column": "age", "edges": [0, 17, "35/2", 65], "to": "band"}
    prepared, schema = prepare(TABLE, [step], SCHEMA)
    # 90 goes to the last band; −3 is a missing code; 17 belongs to the band that it begins.
    found = prepared.rows()["band"]
    assert (
        found.iloc[:3].tolist() == ["[0-17)", "[17-17.5)", "[17.5-65)"]
        and found.isna().tolist()[3:] == [True] * 2
    )
    made = schema.column("band")
    assert made.is_declared and made.kind is Kind.ORDINAL and made.role is Role.IDENTIFYING
    assert made.domain.values == ("[0-17)", "[17-17.5)", "[17.5-65)")
    own = {**step, "edges": [0, 18, 99], "labels": ["child", "adult"]}
    assert prepare(TABLE, [own], SCHEMA)[0].rows()["band"].tolist()[:3] == ["child", "child", "adult"]


def test_recode():
    step = {"step": "recode", "column": "sex", "map": {"f": "woman", "m": "man"}, "to": "word"}
    prepared, schema = prepare(TABLE, [step], SCHEMA)
    assert prepared.rows()["word"].tolist()[::4] == ["woman", "x"]
    assert schema.column("word").domain.values == ("woman", "man", "x")  # the declared values, mapped
    prepared, schema = prepare(TABLE, [{**step, "others": "missing"}], SCHEMA)
    assert prepared.rows()["word"].isna().tolist() == [False, False, True, True, True]
    assert schema.column("word").domain.values == ("woman", "man")
    prepared, schema = prepare(TABLE, [{**step, "others": "label", "label": "rest"}], SCHEMA)
    assert (
        prepared.rows()["word"].tolist()[4] == "rest"
        and prepared.rows()["word"].isna().tolist()[2:4] == [True] * 2
    )
    assert schema.column("word").domain.values == ("woman", "man", "rest")


def test_recode_of_a_column_without_declared_values_declares_none():
    step = {"step": "recode", "column": "age", "map": {"4": "four"}, "to": "a"}
    schema = prepare(TABLE, [step], SCHEMA)[1]
    assert schema.column("a").domain is None
    copied = SCHEMA.with_column(Column("sex", domain=Domain(values=("f",)), domain_origin=Origin.COPIED))
    step = {"step": "recode", "column": "sex", "map": {"f": "w"}}
    assert prepare(TABLE, [step], copied)[1].column("sex").domain is None


def test_recode_by_a_file(tmp_path):
    (tmp_path / "words.csv").write_text("f;woman\nm;man\n01;one\n")
    step = {"step": "recode", "column": "sex", "file": "words.csv", "others": "missing"}
    prepared, schema = prepare(TABLE, [step], SCHEMA, base=tmp_path)
    assert prepared.rows()["sex"].tolist()[:2] == ["woman", "man"]
    assert schema.column("sex").domain.values == ("woman", "man", "one")


def test_age_at_a_date():
    step = {"step": "age_at", "column": "born", "date": "2018-02-28", "to": "years"}
    years = prepare(TABLE, [step], SCHEMA)[0].rows()["years"]
    # Born on 29 February 2000: still 17 on 28 February 2018. Born after the date: no age.
    assert years.tolist()[:3] == [17, 18, 67] and years.isna().tolist()[3:] == [True, True]
    step = {
        "step": "age_at",
        "column": "born",
        "date_column": "seen",
        "to": "years",
        "minimum": 0,
        "maximum": 120,
    }
    prepared, schema = prepare(TABLE, [step], SCHEMA)
    assert prepared.rows()["years"].tolist()[:3] == [17, 18, 68]
    made = schema.column("years")
    assert made.is_declared and made.domain == Domain(Fraction(0), Fraction(120), Fraction(1))


def test_ages_against_dateutil():
    from dateutil.relativedelta import relativedelta

    made = np.random.default_rng(5)
    born = pd.to_datetime("1920-01-01") + pd.to_timedelta(made.integers(0, 36_000, 500), unit="D")
    then = pd.Timestamp("2020-03-01")
    frame = pd.DataFrame({"born": born})
    frame = frame[(frame["born"] <= then) & ~((frame["born"].dt.month == 2) & (frame["born"].dt.day == 29))]
    step = {"step": "age_at", "column": "born", "date": "2020-03-01", "to": "years"}
    found = prepare(Table(frame), [step], Schema((Column("born", kind=Kind.DATE),)))[0].rows()
    expected = [relativedelta(then, day).years for day in found["born"]]
    assert found["years"].tolist() == expected


@pytest.mark.parametrize("content", ["1\n3\n99\n", "patient\n1\n3\n99\n", "1.0;left\n3;left\n99;x\n"])
def test_people_who_objected(tmp_path, content):
    (tmp_path / "objected.csv").write_text(content)
    table, _ = prepare(TABLE, [{"step": "drop_people", "file": "objected.csv"}], SCHEMA, base=tmp_path)
    assert table.rows()["p"].tolist() == [2, 4]  # every row of a person goes
    found = {item.code: item for item in table.findings}
    assert found["preparation.people_dropped"].count == 3
    assert found["preparation.people_dropped"].more["people"] == 2
    assert found["preparation.people_not_found"].count >= 1
    assert all(sentences(item.code, item.values) for item in table.findings)


def test_people_in_a_named_column_and_a_pinned_list(tmp_path):
    content = b"date,number\n2020-01-01,2\n"
    (tmp_path / "objected.csv").write_bytes(content)
    step = {"step": "drop_people", "file": "objected.csv", "column": "number"}
    pinned = {**step, "sha256": hashlib.sha256(content).hexdigest()}
    assert prepare(TABLE, [pinned], SCHEMA, base=tmp_path)[0].rows()["p"].tolist() == [1, 1, 3, 4]
    (tmp_path / "objected.csv").write_bytes(content + b"2020-01-01,3\n")
    assert refused([pinned], base=tmp_path) == "preparation.list_changed"
    assert refused([{**step, "column": "nobody"}], base=tmp_path) == "table.no_such_column"


@pytest.mark.parametrize("entry", ["3", "03", "003.0", "3.0", " 3 ", "+3", "P3"])
@pytest.mark.parametrize(
    "keys", [["3", "1"], ["3.0", "1.0"], ["0003", "0001"], [3, 1], [3.0, 1.0], ["P3", "P1"]]
)
def test_who_objected_is_found_however_the_number_is_written(tmp_path, entry, keys):
    (tmp_path / "objected.csv").write_text(f"nr\n{entry}\n")
    step = {"step": "drop_people", "file": "objected.csv", "column": "nr"}
    table, schema = Table(pd.DataFrame({"p": keys})), Schema((Column("p", Role.PERSON_KEY),))
    left = prepare(table, [step], schema, base=tmp_path)[0].rows()["p"].tolist()
    same_kind = entry.startswith("P") == str(keys[0]).startswith("P")
    assert left == (keys[1:] if same_kind else keys)


def test_where_leading_zeros_tell_people_apart_all_who_may_be_meant_go(tmp_path):
    (tmp_path / "objected.csv").write_text("007\n")
    table = Table(pd.DataFrame({"p": ["007", "7", "008", "0070"]}))
    schema = Schema((Column("p", Role.PERSON_KEY),))
    kept_rows = prepare(table, [{"step": "drop_people", "file": "objected.csv"}], schema, base=tmp_path)[0]
    assert kept_rows.rows()["p"].tolist() == ["008", "0070"]


@pytest.mark.parametrize("keys", [[1, 3, 3], [1.0, 3.0, 3.0], ["1", "3", " 3"], ["1.0", "3.0", "3.00"]])
@pytest.mark.parametrize(("listed", "left"), [("3.0", 1), (" 3", 1), ("3", 1), ("03", 1), ("nobody", 3)])
def test_a_person_of_the_list_is_one_of_the_table_however_both_are_written(tmp_path, keys, listed, left):
    """As people are counted in a release, whatever the column is stored as; "03" means 3 as well."""
    (tmp_path / "objected.csv").write_text(f"{listed}\n")
    table = Table(pd.DataFrame({"p": keys}))
    step = {"step": "drop_people", "file": "objected.csv"}
    after, _ = prepare(table, [step], Schema((Column("p", Role.PERSON_KEY),)), base=tmp_path)
    assert after.n_rows == left
    codes = {item.code for item in after.findings}
    assert ("preparation.people_not_found" in codes) == (left == 3)


@pytest.mark.parametrize("listed", ["1,3\n", "\t1\t\n\t3\t\n", "Ada;1\nBea;3\n"])
def test_a_list_of_which_one_column_was_read_says_so(tmp_path, listed):
    (tmp_path / "objected.csv").write_text(listed)
    table = Table(pd.DataFrame({"p": ["1", "2", "3"]}))
    steps = [{"step": "drop_people", "file": "objected.csv"}]
    try:
        after, _ = prepare(table, steps, Schema((Column("p", Role.PERSON_KEY),)), base=tmp_path)
    except InputRefused as error:
        assert error.code == "preparation.list_without_keys"
    else:
        found = {item.code: item for item in after.findings}
        assert after.n_rows > 1 and found["preparation.first_of_list"].count > 1


def refused(steps, schema=SCHEMA, **options):
    with pytest.raises(InputRefused) as caught:
        prepare(TABLE, steps, schema, **options)
    assert all(explain(caught.value))
    return caught.value.code


BANDS = {"step": "bands", "column": "age", "edges": [0, 10, 20], "to": "band"}
RECODE = {"step": "recode", "column": "sex", "map": {"f": "w"}}
KEEP = {"step": "keep_rows_where", "column": "age"}


@pytest.mark.parametrize(
    ("step", "code"),
    [
        ({"step": "explode"}, "preparation.bad_step"),
        ("bands", "preparation.bad_step"),
        ({}, "preparation.bad_step"),
        ({**BANDS, "edges": [0]}, "preparation.bad_value"),
        ({**BANDS, "edges": [0, "x"]}, "preparation.bad_value"),
        ({**BANDS, "edges": [0, float("nan")]}, "preparation.bad_value"),
        ({**BANDS, "edges": [0, 10, 10]}, "preparation.edges_not_increasing"),
        ({**BANDS, "labels": ["a"]}, "preparation.labels_do_not_match"),
        ({**BANDS, "labels": ["a", "a"]}, "preparation.labels_do_not_match"),
        ({**BANDS, "column": "nobody"}, "preparation.no_such_column"),
        ({**BANDS, "to": "sex"}, "preparation.column_exists"),
        ({**BANDS, "column": ""}, "preparation.bad_value"),
        ({**RECODE, "map": {}}, "preparation.bad_value"),
        ({**RECODE, "file": "a.csv"}, "preparation.bad_value"),
        ({**RECODE, "others": "drop"}, "preparation.bad_value"),
        ({**RECODE, "others": "label"}, "preparation.bad_value"),
        ({**KEEP, "is": "like"}, "preparation.bad_value"),
        ({**KEEP, "is": "in"}, "preparation.bad_value"),
        ({**KEEP, "is": "at_least", "value": "x"}, "preparation.bad_value"),
        ({**KEEP, "is": "between", "minimum": 1}, "preparation.bad_value"),
        ({**KEEP, "column": "seen", "is": "at_least", "value": "soon"}, "preparation.bad_value"),
        ({"step": "age_at", "column": "born", "date": "2020-13-01"}, "preparation.bad_value"),
        ({"step": "age_at", "column": "born"}, "preparation.bad_value"),
        ({"step": "drop_people"}, "preparation.bad_value"),
        ({"step": "drop_people", "file": "nowhere.csv"}, "table.not_found"),
    ],
)
def test_refusals(tmp_path, step, code):
    assert refused([step], base=tmp_path) == code


def test_dropping_people_needs_a_person_key(tmp_path):
    (tmp_path / "a.csv").write_text("1\n")
    assert (
        refused([{"step": "drop_people", "file": "a.csv"}], Schema(), base=tmp_path)
        == "preparation.no_person_key"
    )


def test_checking_reads_no_row():
    check([BANDS, RECODE, {**KEEP, "is": "missing"}], SCHEMA)
    assert (
        set(STEPS) == {"keep_rows_where", "drop_people", "age_at", "bands", "recode"} and len(CONDITIONS) == 7
    )


def test_the_table_itself_is_not_changed():
    before = TABLE.rows().copy(deep=True)
    prepare(TABLE, [{**BANDS, "to": "age"} | {"column": "age"}, RECODE], SCHEMA)
    pd.testing.assert_frame_equal(TABLE.rows(), before)


@pytest.mark.parametrize("role", [Role.PERSON_KEY, Role.DIRECT_IDENTIFIER])
@pytest.mark.parametrize("declared", [False, True])
def test_a_copy_of_what_names_somebody_names_somebody(role, declared):
    step = {"step": "recode", "column": "pid", "map": {"zz": "y"}, "others": "keep", "to": "copy"}
    columns = [Column("pid", role), *([Column("copy", Role.OTHER)] if declared else [])]
    made = declared_by(step, Schema(tuple(columns))).column("copy")
    assert made.role is Role.DIRECT_IDENTIFIER
    closed = {**step, "others": "label", "label": "another"}
    if not declared:
        assert declared_by(closed, Schema(tuple(columns))).column("copy").role is Role.IDENTIFYING
