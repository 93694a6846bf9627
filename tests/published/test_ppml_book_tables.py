"""Tables of chapters 6 to 8 of a textbook, by the privacy models that they pass and fail.

J. M. Chang, D. Zhuang and G. D. Samaraweera, Privacy-Preserving Machine Learning, 2023.
Only the rows that the claims rest on are built; the values are the printed ones.
"""

import pandas as pd
import pytest

from engine.risk.encoding import encode
from engine.risk.groups import group_rows
from engine.risk.sensitive import (
    closeness,
    diversity,
    equal_distances,
    hierarchical_distances,
    sensitive_counts,
)
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table

STOMACH, RESPIRATORY = ("stomach",), ("respiratory",)
DISEASES = Hierarchy(
    tree={
        "gastric ulcer": STOMACH, "gastritis": STOMACH, "stomach cancer": STOMACH,
        "flu": RESPIRATORY, "bronchitis": RESPIRATORY, "pneumonia": RESPIRATORY,
    }
)  # fmt: skip
BEFORE = [
    "gastric ulcer", "gastritis", "stomach cancer",
    "gastritis", "flu", "bronchitis",
    "bronchitis", "pneumonia", "stomach cancer",
]  # fmt: skip


def encoded(frame, sensitive=None, hierarchy=None):
    columns = [Column(name, Role.IDENTIFYING, Kind.CATEGORY) for name in frame if name != sensitive]
    if sensitive:
        columns.append(Column(sensitive, Role.SENSITIVE, Kind.CATEGORY, hierarchy=hierarchy))
    return encode(Table(pd.DataFrame(frame)), Schema(tuple(columns)))


def test_tables_6_1_to_6_3_before_and_after_generalising():
    before = {"zip": ["33617", "23620", "23622", "33617"], "age": [24, 41, 43, 29]}
    after = {"zip": ["33617", "236**", "236**", "33617"], "age": ["20-29", "40-49", "40-49", "20-29"]}
    assert group_rows(encoded(before)).smallest == 1
    assert group_rows(encoded(after)).smallest == 2


def test_table_6_6_is_not_2_diverse_with_age():
    frame = {
        "zip": ["33***", "33***", "33***", "33***"],
        "age": ["20-29", "20-29", "40-49", "40-49"],
        "disease": ["heart disease", "viral infection", "heart disease", "heart disease"],
    }
    table = encoded(frame, "disease")
    groups = group_rows(table)
    found = diversity(sensitive_counts(groups, table.columns["disease"]), groups)
    assert groups.smallest == 2 and found.distinct == 1 and found.homogeneous_people == 2
    # The remedy of the notes: one band of ages
    joined = encoded({**frame, "age": ["20-49"] * 4}, "disease")
    groups = group_rows(joined)
    assert diversity(sensitive_counts(groups, joined.columns["disease"]), groups).distinct == 2


def test_figure_7_14_is_not_2_anonymous():
    frame = {
        "zip": ["336**", "336**", "336**", "337**", "337**"],
        "age": [">30", "<30", ">30", ">35", ">35"],
        "sex": ["M", "F", "F", "M", "M"],
    }
    found = group_rows(encoded(frame))
    assert found.smallest == 1 and found.alone == 3


def test_figure_8_3_is_2_anonymous_and_not_2_diverse():
    frame = {
        "zip": ["33***", "33***", "34***", "34***"],
        "disease": ["viral infection", "heart disease", "cancer", "cancer"],
    }
    table = encoded(frame, "disease")
    groups = group_rows(table)
    assert groups.smallest == 2
    assert diversity(sensitive_counts(groups, table.columns["disease"]), groups).distinct == 1


@pytest.mark.parametrize(
    ("swapped", "hierarchical", "equal"), [(False, 4 / 9, 4 / 9), (True, 3 / 9, 5 / 9)], ids=["8.7", "8.8"]
)
def test_figures_8_7_and_8_8_regrouping_helps_only_along_the_hierarchy(swapped, hierarchical, equal):
    diseases = list(BEFORE)
    if swapped:  # records 2 and 8
        diseases[1], diseases[7] = diseases[7], diseases[1]
    table = encoded({"group": [1] * 3 + [2] * 3 + [3] * 3, "disease": diseases}, "disease", DISEASES)
    counts = sensitive_counts(group_rows(table), table.columns["disease"])
    assert hierarchical_distances(counts, DISEASES)[0] == pytest.approx(hierarchical)
    assert equal_distances(counts)[0] == pytest.approx(equal)
    assert closeness(counts).distance == "hierarchical"


def income(groups):
    """Return Adult's 48,842 incomes in two groups: the counted one and everybody else."""
    low, high = groups
    total_low, total_high = 37_155, 11_687
    values = (
        ["<=50K"] * low + [">50K"] * high + ["<=50K"] * (total_low - low) + [">50K"] * (total_high - high)
    )
    return {"group": ["one"] * (low + high) + ["rest"] * (48_842 - low - high), "income": values}


def test_the_class_of_adult_that_is_close_by_t_of_a_fifth():
    table = encoded(income((10_248, 677)), "income")
    counts = sensitive_counts(group_rows(table), table.columns["income"])
    assert counts.prior.max() == pytest.approx(0.7607, abs=5e-5)
    assert equal_distances(counts)[0] == pytest.approx(0.177, abs=5e-4)
    assert closeness(counts).t <= 0.2


def test_a_class_of_785_to_1_is_2_diverse_and_sure():
    table = encoded(income((785, 1)), "income")
    groups = group_rows(table)
    found = diversity(sensitive_counts(groups, table.columns["income"]), groups, recursive=(2,))
    assert found.distinct == 2
    assert found.worst_share == pytest.approx(0.999, abs=5e-4)
    assert found.recursive[2] == 785 and found.entropy < 1.01
