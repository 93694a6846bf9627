"""Who was left out, by subgroup: counted on the rows that there are."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np

from engine.methods.datasets.grouping import Ladder
from engine.methods.datasets.recoding import Members
from engine.methods.datasets.solution import LARGE_GROUP, left_out_bands, left_out_view
from engine.report.words import word
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Kind, Role
from engine.views import TableView, Text, TextView


def test_a_value_that_no_row_has_is_in_no_line() -> None:
    """Values come from a population too; of those that only it has nobody can have been left out."""
    values = ("a", "b", "c")
    grouping = SimpleNamespace(
        identifying=(Column("ward", Role.IDENTIFYING, Kind.CATEGORY),),
        ladders=(Ladder.of(values, Hierarchy()),),
        codes=np.array([[0], [2]]),
        number=np.array([0, 0, 0, 1, 1]),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        view = left_out_view(grouping, np.array([-1, 3]))  # type: ignore[arg-type]
    assert view is not None
    assert [line[1:4] for line in view.rows] == [("a", 3, 3), ("c", 2, 0)]
    assert left_out_view(grouping, np.array([0, 3])) is None  # type: ignore[arg-type]


PEOPLE = Text("grouping.views.bands.people")


def bands(wards: str, gone: set[int], *, k: int = 5):
    """Tell outside who was left out of a table of one person a letter."""
    values = tuple(sorted(set(wards)))
    number = np.arange(len(wards))
    grouping = SimpleNamespace(
        identifying=(Column("ward", Role.IDENTIFYING, Kind.CATEGORY),),
        ladders=(Ladder.of(values, Hierarchy()),),
        codes=np.array([[values.index(one)] for one in wards]),
        number=number,
        members=Members(number, number),
    )
    group = np.array([-1 if one in gone else 0 for one in range(len(wards))])
    return left_out_bands(grouping, group, np.zeros((1, 1), dtype=int), k=k, unit=PEOPLE)  # type: ignore[arg-type]


def told(view: TableView) -> dict[str, str]:
    return {word(row[1], "en"): word(row[2], "en").replace("\u00a0", " ") for row in view.rows}


def test_who_was_left_out_is_told_outside_in_bands_and_of_large_groups_alone():
    wards = "a" * 100 + "b" * 100 + "c" * 20 + "d" * 14 + "e" * 10
    view = bands(wards, {*range(8), *range(100, 140), *range(200, 204), *range(220, 234)})
    assert isinstance(view, TableView)
    # 8 of 100; 40 of 100; 4 of 20 are fewer than k; of d, which left altogether, and e together 14 of 24
    assert told(view) == {"a": "5 to 15 %", "b": "more than 30 %", "(other values)": "more than 30 %"}
    assert "d" not in told(view)


def test_what_is_told_of_a_value_needs_a_large_group_and_k_who_are_missing():
    for size in range(1, 40):
        for gone in range(size + 1):
            view = bands("a" * size + "b" * 200, {*range(gone), *range(size, size + 6)})
            lines = told(view) if isinstance(view, TableView) else {}
            assert ("a" in lines or "(other values)" in lines) <= (size >= LARGE_GROUP * 5 and gone >= 5)


def test_nothing_is_told_where_fewer_than_k_are_missing_and_a_sentence_where_no_value_lost_more():
    assert bands("a" * 100, set(range(4))) is None
    even = bands("a" * 200 + "b" * 200, {*range(8), *range(200, 208)})
    assert isinstance(even, TextView) and "more than 5 %" in word(even.paragraphs[0], "en").replace(
        "\u00a0", " "
    )
