"""Hierarchies: the four forms, their way through JSON and text, and what is refused."""

from fractions import Fraction

import pytest

from engine.errors import InputRefused
from engine.table.hierarchies import ALL, Hierarchy, from_csv
from engine.table.schema import Column, Schema
from engine.texts import explain

TREE = {"tree": {"Nurse": ["Health", "Service"], "Cook": ["Food", "Service"], "Smith": ["Metal", "Making"]}}
FORMS = [TREE, {"bands": [5, 10, 20], "start": 0}, {"prefix": [4, 3, 1]}, {"calendar": ["month", "year"]}]
VALUES = {
    "tree": ["Nurse", "Cook", "Smith"],
    "bands": ["-3", "0", "4.99", "17", "1e2"],
    "prefix": ["80331", "80339", "1"],
    "calendar": ["2020-02-29", "1999-12-31"],
}


def of(tree):
    return Hierarchy.from_json(tree, column="c")


@pytest.mark.parametrize("tree", FORMS)
def test_each_form_survives_json_and_a_schema(tree):
    hierarchy = of(tree)
    assert of(hierarchy.to_json()) == hierarchy
    schema = Schema((Column("c", hierarchy=hierarchy),))
    assert Schema.from_json(schema.to_json()).column("c").hierarchy == hierarchy


@pytest.mark.parametrize("tree", FORMS)
def test_every_step_merges_and_never_splits(tree):
    hierarchy = of(tree)
    values = VALUES[next(iter(tree))]
    for step in range(hierarchy.height):
        finer, coarser = hierarchy.at(values, step), hierarchy.at(values, step + 1)
        assert len(set(zip(finer, coarser, strict=True))) == len(set(finer))
    assert set(hierarchy.at(values, hierarchy.height)) == {ALL}


@pytest.mark.parametrize("tree", FORMS)
def test_what_a_form_does_not_know_is_one_for_all_and_missing_stays(tree):
    unknown = ["unknown", ""] if "prefix" not in tree else ["", ""]
    assert of(tree).at(unknown, 1) == ([ALL, ""] if "prefix" not in tree else ["", ""])


def test_by_hand():
    bands = of({"bands": [5, 20], "start": 18})
    assert bands.at(["18", "22.5", "23", "17"], 1) == ["[18, 23)", "[18, 23)", "[23, 28)", "[13, 18)"]
    assert bands.at(["18", "37", "38"], 2) == ["[18, 38)", "[18, 38)", "[38, 58)"]
    days = of({"calendar": ["month", "quarter", "half", "year", "decade"]})
    assert [days.at(["2021-08-09"], step)[0] for step in range(1, 6)] == [
        *("2021-08", "2021-Q3", "2021-H2", "2021", "2020s")
    ]


@pytest.mark.parametrize("tree", FORMS[:1])
def test_delimited_text_of_every_step_is_the_hierarchy(tree):
    hierarchy = of(tree)
    steps = [hierarchy.at(VALUES["tree"], step) for step in range(hierarchy.height + 1)]
    text = "".join(";".join(line) + "\n" for line in zip(*steps, strict=True))
    assert from_csv(text, column="c", file="c.csv") == hierarchy


def test_text_with_byte_order_mark_commas_and_one_step():
    found = from_csv("\ufeffa,x,*\nb,x,*\nc,y,*\n", column="c", file="c.csv")
    assert found.at(["a", "b", "c"], 1) == ["x", "x", "y"] and found.height == 2


@pytest.mark.parametrize(
    "tree",
    [
        {"bands": [5, 12]},
        {"bands": []},
        {"bands": [0]},
        {"bands": ["x"]},
        {"prefix": [2, 3]},
        {"prefix": [0]},
        {"calendar": ["year", "month"]},
        {"calendar": ["week"]},
        {"tree": {"a": ["x"], "b": ["x", "y"]}},
        {"tree": {"a": ["x", "y"], "b": ["x", "z"]}},
        {"tree": {"a": ["*", "x"], "b": ["y", "x"]}},  # unknown values read * on both steps
        {"tree": {"a": ["", "x"], "b": ["y", "x"]}},  # and missing ones nothing
        {"tree": 7},
        {"circle": []},
        {},
        [],
        {"bands": [5 * 2**step for step in range(20)]},
    ],
)
def test_what_is_refused_says_where_and_what_to_do(tree):
    with pytest.raises(InputRefused) as caught:
        of(tree)
    assert all(explain(caught.value))


def test_a_value_may_stay_with_the_unknown_or_the_missing_ones():
    assert of({"tree": {"a": ["*", "*"], "b": ["", ""], "c": ["x", "*"]}}).at(["a", "b", "c"], 2) == [
        "*",
        "",
        "*",
    ]


@pytest.mark.parametrize("text", ["a;x\nb\n", "a;x\na;y\n", "", "\n", f"a;{'x' * 200_000}\n"])
def test_lines_that_contradict_each_other(text):
    with pytest.raises(InputRefused) as caught:
        from_csv(text, column="c", file="c.csv")
    assert caught.value.code == "schema.hierarchy_lines" and all(explain(caught.value))


def test_exact_widths():
    tenths = of({"bands": ["1/10"]})
    assert tenths.bands == (Fraction(1, 10),) and tenths.at(["0.3"], 1) == ["[0.3, 0.4)"]
