"""Bars of a column: by hand, odd columns, and nothing lost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from engine.report.words import word
from engine.table.schema import Column, Domain, Kind, Origin
from engine.table.summary import MOST_BARS, column_bars, rows_of_people
from engine.table.table import Table
from engine.views import Text


def bars(values: object, kind: Kind, **options: object) -> dict[object, float]:
    table = Table(pd.DataFrame({"x": values}))
    view = column_bars(table, Column("x", kind=kind, **options))  # type: ignore[arg-type]
    return dict(zip([str(label) for label in view.labels], view.values, strict=True))


def test_values_by_hand_most_frequent_first() -> None:
    assert bars(["b", "a", "b", None, "?"], Kind.CATEGORY, missing=("?",)) == {"b": 2.0, "a": 1.0}


def test_declared_steps_stand_in_their_order() -> None:
    table = Table(pd.DataFrame({"x": ["high", "low", "high", "odd", None]}))
    domain = Domain(values=("low", "middle", "high"))
    view = column_bars(table, Column("x", kind=Kind.ORDINAL, domain=domain, domain_origin=Origin.DECLARED))
    assert view.labels == ("low", "middle", "high", Text("summary.not_declared"))
    assert view.values == (1.0, 0.0, 2.0, 1.0)


def test_many_values_are_put_together_without_losing_a_row() -> None:
    table = Table(pd.DataFrame({"x": [f"v{index}" for index in range(30)] * 2}))
    view = column_bars(table, Column("x", kind=Kind.CATEGORY))
    assert len(view.values) == MOST_BARS
    assert sum(view.values) == 60
    assert view.labels[-1] == Text("summary.others", {"count": 23})


def test_whole_numbers_get_whole_intervals() -> None:
    assert bars([1, 2, 3, 14], Kind.INTEGER) == {
        "1 – 2": 2.0, "3 – 4": 1.0, "5 – 6": 0.0, "7 – 8": 0.0, "9 – 10": 0.0, "11 – 12": 0.0, "13 – 14": 1.0,
    }  # fmt: skip


def test_few_whole_numbers_get_a_bar_each() -> None:
    assert bars([0, 0, 1], Kind.INTEGER) == {"0": 2.0, "1": 1.0}


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize(
    "values",
    [[], [None, None], [np.nan], [5, 5], [np.inf, 1.0], ["x"], [1e300, -1e300], [0.1, 0.2]],
    ids=["empty", "nothing", "nan", "equal", "infinite", "text", "huge", "small"],
)
def test_odd_columns_give_an_answer(values: list[object], kind: Kind) -> None:
    found = bars(values, kind)
    assert len(found) <= MOST_BARS
    assert sum(found.values()) <= len(values)


def test_dates_are_counted_by_years() -> None:
    found = bars(pd.to_datetime(["2001-05-01", "2001-06-01", "2003-01-01"]), Kind.DATE)
    assert found == {"2001": 2.0, "2002": 0.0, "2003": 1.0}


def test_people_by_their_rows() -> None:
    keys = [1] * 3 + [2] * 3 + [3] + [None, -9]
    view = rows_of_people(Table(pd.DataFrame({"p": keys})), Column("p", missing=("-9",)))
    assert view.labels == ("1", "2", "3") and view.values == (1.0, 0.0, 2.0)


def test_the_last_bar_takes_everybody_with_more_rows() -> None:
    keys = [1] * 50 + [2]
    view = rows_of_people(Table(pd.DataFrame({"p": keys})), Column("p"), most=4)
    assert view.labels[-1] == Text("summary.or_more", {"rows": 4}) and view.values == (1.0, 0.0, 0.0, 1.0)


def test_ends_of_intervals_are_written_as_a_language_writes_numbers_and_values_stay_as_they_are() -> None:
    numbers = column_bars(Table(pd.DataFrame({"x": [0.0, 7000.0]})), Column("x", kind=Kind.NUMBER))
    values = column_bars(Table(pd.DataFrame({"x": ["1,000"]})), Column("x", kind=Kind.CATEGORY))
    assert [word(view.labels[-1], "de") for view in (numbers, values)] == ["6.125 – 7.000", "1,000"]
