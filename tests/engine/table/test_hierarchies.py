"""Hierarchies: the forms, their way through JSON and text, and what is refused."""

import time
from datetime import date, timedelta
from fractions import Fraction

import pytest

from engine.errors import InputRefused
from engine.table.code_systems import _ranges, code_systems
from engine.table.hierarchies import ALL, Hierarchy, from_csv, in_order, to_csv
from engine.table.schema import Column, Schema
from engine.texts import explain
from tests.ratios import TIMED, slack

TREE = {"tree": {"Nurse": ["Health", "Service"], "Cook": ["Food", "Service"], "Smith": ["Metal", "Making"]}}
FORMS = [
    TREE,
    {"bands": [5, 10, 20], "start": 0},
    {"prefix": [4, 3, 1]},
    {"calendar": ["month", "year"]},
    {"calendar": ["week", "month", "quarter", "half", "year", "decade"]},
    {"cuts": [[0, 5, 18], [5]]},
    {"suffix": [4, 2, 1]},
    *({"codes": name} for name in ("icd10", "icd10cm", "icd9", "atc", "nuts")),
]
VALUES = {
    "tree": ["Nurse", "Cook", "Smith"],
    "bands": ["-3", "0", "4.99", "17", "1e2"],
    "prefix": ["80331", "80339", "1"],
    "calendar": [str(date(2019, 12, 20) + timedelta(days=day)) for day in range(800)],
    "cuts": ["-3", "0", "4.99", "17", "1e2"],
    "suffix": ["80331", "90331", "1"],
    "codes": [
        "E11.65",
        "E119",
        "E08.1",
        "E10",
        "C7A.0",
        "C77",
        "D3A",
        "U071",
        "8",
        "008.1",
        "250.83",
        "V57",
        "A10BA02",
        "A10BA",
        "A10",
        "A",
        "N02BE01",
        "AT130",
        "AT13",
        "DE300",
        "FR1",
    ],
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
    knows_all = "prefix" in tree or "suffix" in tree
    unknown = "" if knows_all else "unknown"
    assert of(tree).at([unknown, ""], 1) == ["" if knows_all else ALL, ""]
    assert of(tree).misses([unknown, "", *VALUES["tree"][:0]]) == (() if knows_all else ("unknown",))


def test_by_hand():
    bands = of({"bands": [5, 20], "start": 18})
    assert bands.at(["18", "22.5", "23", "17"], 1) == ["[18, 23)", "[18, 23)", "[23, 28)", "[13, 18)"]
    assert bands.at(["18", "37", "38"], 2) == ["[18, 38)", "[18, 38)", "[38, 58)"]
    days = of({"calendar": ["month", "quarter", "half", "year", "decade"]})
    assert [days.at(["2021-08-09"], step)[0] for step in range(1, 6)] == [
        *("2021-08", "2021-Q3", "2021-H2", "2021", "2020–2029")
    ]


@pytest.mark.parametrize("tree", FORMS)
def test_delimited_text_of_every_step_is_the_hierarchy(tree):
    """What is written for other tools reads back the same, value by value, whatever the form was."""
    hierarchy, values = of(tree), VALUES[next(iter(tree))]
    text = to_csv(hierarchy, values)
    assert text.count("\n") == len(dict.fromkeys([*(hierarchy.tree or ()), *values]))
    found = from_csv(text, column="c", file="c.csv")
    assert [found.at(values, step) for step in range(hierarchy.height)] == [
        hierarchy.at(values, step) for step in range(hierarchy.height)
    ]
    if hierarchy.tree is not None:
        assert found == hierarchy and to_csv(found) == text


def test_quotes_and_separators_survive_delimited_text():
    tree = of({"tree": {'say "a"': ["x;y"], "b, c": ["x;y"], "d": ["z"]}})
    assert from_csv(to_csv(tree), column="c", file="c.csv") == tree


def test_lines_of_a_value_and_what_is_above_it():
    text = "Bonn;North\nKiel;North\nUlm;South\nNorth;Land\nSouth;Land\nSea;Land\n"
    found = from_csv(text, column="c", file="c.csv")
    assert found.at(["Bonn", "Ulm", "Sea", "North"], 1) == ["North", "South", "Land", "North"]
    assert from_csv("a;a\nb;a\nc;c\n", column="c", file="c.csv").at(["a", "b", "c"], 1) == ["a", "a", "c"]


@TIMED
def test_a_file_with_far_too_many_steps_is_refused_at_once(timed):
    """Ten times the lines take about ten times as long: nobody climbs a ladder that no hierarchy has."""

    def took(lines: int) -> float:
        text = "".join(f"v{place};v{place + 1}\n" for place in range(lines))
        began = time.process_time()
        with pytest.raises(InputRefused) as caught:
            from_csv(text, column="c", file="c.csv")
        assert caught.value.code == "schema.hierarchy_high"
        return time.process_time() - began

    long, short = took(2000), min(took(200) for _ in range(3))
    assert not timed or long < 40 * max(short, 1e-3) * slack()
    with pytest.raises(InputRefused) as caught:
        from_csv(";" * 200_000, column="c", file="c.csv")
    assert caught.value.code == "schema.hierarchy_high" and all(explain(caught.value))


@pytest.mark.parametrize("text", ["a;b\nb;a\n", "a;b\nb;c\nc;d\nd;b\n"])
def test_a_group_above_itself_is_refused(text):
    with pytest.raises(InputRefused) as caught:
        from_csv(text, column="c", file="c.csv")
    assert caught.value.code == "schema.hierarchy_circle" and all(explain(caught.value))


def test_weeks_do_not_cross_months():
    """2020-01-01 is a Wednesday: the week begins in December and belongs to January, as to ISO's 2020."""
    plain, weekly = of({"calendar": ["month", "year"]}), of({"calendar": ["week", "month", "year"]})
    days = ["2019-12-30", "2020-01-05", "2021-01-03", "2020-12-31"]
    assert weekly.at(days, 1) == ["2020-W01", "2020-W01", "2020-W53", "2020-W53"]
    assert weekly.at(days, 2) == ["2020-01", "2020-01", "2020-12", "2020-12"]
    assert weekly.at(days, 3) == ["2020", "2020", "2020", "2020"]
    assert plain.at(days, 1) == ["2019-12", "2020-01", "2021-01", "2020-12"]


def test_intervals_of_different_width():
    ages = of({"cuts": [[0, 18, 40, 65], [18, 65]]})
    assert ages.at(["-1", "0", "39.5", "65", "?"], 1) == ["< 0", "[0, 18)", "[18, 40)", "≥ 65", ALL]
    assert ages.at(["17", "64", "90"], 2) == ["< 18", "[18, 65)", "≥ 65"]


def test_neighbours_of_an_order():
    order = in_order([*"abcdefg"], [2, 4])
    assert order.at([*"aceg"], 1) == ["a – b", "c – d", "e – f", "g"]
    assert order.at([*"aceg"], 2) == ["a – d", "a – d", "e – g", "e – g"]
    assert of(order.to_json()) == order
    for values, sizes in ((["a", "a"], [2]), (["a"], [3, 4]), (["a"], [1]), (["a"], [])):
        with pytest.raises(ValueError):
            in_order(values, sizes)


@pytest.mark.parametrize("name", ["icd10", "icd10cm", "icd9"])
def test_every_block_lies_in_one_chapter(name):
    blocks, chapters = _ranges(name)
    for start, end in zip(blocks.starts, blocks.ends, strict=True):
        assert start <= end and chapters.find(start) == chapters.find(end) is not None
        assert code_systems()[name].path(start)[1] == code_systems()[name].path(end)[1]
    assert len(chapters.names) == {"icd10": 22, "icd10cm": 22, "icd9": 19}[name]


def test_codes_by_hand():
    def path(name, code):
        return code_systems()[name].path(code)

    assert path("icd10", "c50.9") == ("C50", "C50", "C00-D48")
    assert path("icd10", "E08.2") == ("E08", "E08", "E00-E90")  # no block of the list of the WHO holds it
    assert path("icd10cm", "E08.2") == ("E08", "E08-E13", "E00-E89")
    assert path("icd10cm", "C7A.1")[1] == "C7A" and path("icd10cm", "C77.0")[1] == "C76-C80"
    assert path("icd9", "8.45") == path("icd9", "008.45") == ("008", "001-009", "001-139")
    assert path("icd9", "E8780") == ("E878", "E878-E879", "E000-E999")
    assert path("icd9", "V27.0") == ("V27", "V20-V29", "V01-V91")
    assert path("icd9", "745") == ("745", "740-759", "740-759")
    for name, code in (("icd10", "11E"), ("icd9", "2500x"), ("atc", "A1"), ("nuts", "a"), ("atc", "")):
        assert path(name, code) is None


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
        {"calendar": ["fortnight"]},
        {"calendar": ["month", "week"]},
        {"cuts": []},
        {"cuts": [[18, 65], [18, 65]]},
        {"cuts": [[18, 65], [40]]},
        {"cuts": [[65, 18]]},
        {"suffix": [1, 2]},
        {"codes": "icd11"},
        {"codes": ["icd10"]},
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
