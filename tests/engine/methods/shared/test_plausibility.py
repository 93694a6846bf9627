"""Totals are the sums of their parts, whatever their size."""

import numpy as np
import pandas as pd
import pytest

from engine.methods.shared.plausibility import Rules
from engine.table.schema import Column, Kind, Schema

COLUMNS = Schema(tuple(Column(name, kind=Kind.NUMBER) for name in ("a", "b", "total")))


def totals(a, b):
    rules = Rules(COLUMNS, sums=(("total", ("a", "b")),))
    cells = pd.DataFrame({"a": a, "b": b}, dtype="str")
    made = rules.complete(cells)
    assert not rules.broken(made).any()
    return made["total"].tolist()


def test_a_total_is_written_as_people_would_write_it():
    assert totals(["0.1", "2", "", "-0.3", "1000000.1"], ["0.2", "3", "1", "0.1", "0.2"]) == [
        "0.3",
        "5",
        "",
        "-0.2",
        "1000000.3",
    ]


@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1e-3, 1.0, 1e9, 1e15, 1e300])
def test_a_total_of_very_small_or_large_parts_is_their_sum(unit):
    """Milligrams noted in tonnes: six places would leave nothing of them."""
    parts = np.array([[3.0, 1.5], [2.0, 0.25], [7.0, -7.0]]) * unit
    found = totals(*[[repr(one) for one in column.tolist()] for column in parts.T])
    assert np.array(found, dtype=float) == pytest.approx(parts.sum(axis=1), rel=1e-9)


def test_a_total_beyond_all_numbers_is_missing():
    assert totals(["1e308", "1"], ["1e308", "1"]) == ["", "2"]
