"""Who was left out, by subgroup: counted on the rows that there are."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np

from engine.methods.datasets.grouping import Ladder
from engine.methods.datasets.solution import left_out_view
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Kind, Role


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
