"""Several tables at once: exact at a large budget, consistent, paid exactly, no look at the rows before."""

from fractions import Fraction

import numpy as np
import pytest

from engine import texts
from engine.methods.catalogue import method
from engine.methods.protocol import Budget
from engine.methods.shared.view import view_of
from engine.privacy.promise import Neighbours
from engine.table.table import Table
from tests.engine.methods.statistics.builders import (
    ADD_REMOVE,
    LARGE,
    REPLACE_ONE,
    first,
    released,
    request,
    table,
)
from tests.engine.methods.statistics.test_family import ROWS, every_text

ID = "statistics.margins"
CASES = [
    {"columns": ["sex", "ward"], "tables": "totals"},
    {"columns": ["sex", "ward", "age"], "tables": "pairs", "extra_cells": "left_out"},
    {"columns": ["ward", "age", "stay"], "tables": "single", "extra_cells": "together", "no_negatives": True},
]


def test_by_hand_at_a_large_budget():
    asked = request(
        {"columns": ["sex", "ward"], "tables": "totals", "extra_cells": "left_out"}, epsilon=LARGE
    )
    rows = table(sex=["f", "f", "m", "m", None], ward=["a", "b", "b", "b", "a"])
    frame = first(released(ID, asked, rows))
    found = {(sex, ward): count for sex, ward, count, _ in frame.itertuples(index=False)}
    assert found[("f", "a")] == found[("f", "b")] == found[("(all)", "a")] == 1
    assert found[("m", "b")] == found[("f", "(all)")] == found[("m", "(all)")] == 2
    assert found[("(all)", "b")] == 3 and found[("(all)", "(all)")] == 4  # the row without a sex is in none
    assert len(frame) == 6 + 2 + 3 + 1 and (frame["within_95"] == 0).all()


@pytest.mark.parametrize("parameters", CASES)
@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE_ONE])
@pytest.mark.parametrize("cap", [None, 3])
def test_the_cost_is_exactly_the_budget(parameters, neighbours, cap):
    asked = request(parameters, epsilon=Fraction(7, 30), neighbours=neighbours, cap=cap)
    assert method(ID)(asked).problems == []
    promise = method(ID)(asked).cost
    moved = (cap or 1) * (2 if neighbours is Neighbours.REPLACE_ONE else 1)
    assert promise.loss.epsilon == promise.loss.events.epsilon() == Fraction(7, 30)
    assert all(mechanism.sensitivity == moved for mechanism in method(ID)(asked).mechanisms.values())
    assert released(ID, asked, table(**ROWS, person=list("vwxyz"))).promise == promise


@pytest.mark.parametrize("parameters", CASES)
def test_nothing_before_the_run_looks_at_rows_and_all_has_texts(parameters, monkeypatch):
    asked = request(parameters)
    release = released(ID, asked, table(**ROWS))
    every_text([release.views, release.notes, release.artefacts[0].dictionary])

    def poisoned(self):
        raise AssertionError("private rows were read")

    monkeypatch.setattr(Table, "rows", poisoned)
    forecast = method(ID)(asked).forecast
    every_text(forecast)
    assert len(forecast.errors) == len(method(ID)(asked).asked)
    with pytest.raises(AssertionError, match="private rows"):
        released(ID, asked, table(**ROWS))


@pytest.mark.parametrize("parameters", CASES)
def test_the_shape_never_depends_on_rows(parameters):
    asked = request(parameters)
    usual, none = (first(released(ID, asked, table(**rows))) for rows in (ROWS, {name: [] for name in ROWS}))
    assert usual.shape == none.shape and usual.dtypes.equals(none.dtypes)
    assert usual.drop(columns="count").equals(none.drop(columns="count"))


def test_totals_agree_with_their_cells_but_for_rounding():
    asked = request({"columns": ["ward", "age"], "tables": "totals"}, epsilon=Fraction(1, 10))
    frame = first(released(ID, asked, table(**ROWS)))
    cells = frame[(frame["ward"] != "(all)") & (frame["age"] != "(all)")]
    for name in ("ward", "age"):
        other = "age" if name == "ward" else "ward"
        totals = frame[(frame[name] != "(all)") & (frame[other] == "(all)")].set_index(name)["count"]
        sums = cells.groupby(name)["count"].sum()
        assert (np.abs(sums - totals) <= (cells[name] == cells[name].iloc[0]).sum() / 2 + 0.5).all()


def test_one_person_moves_a_measured_table_by_no_more_than_stated():
    """Every row of a person in every place: exact counts, all measured tables."""
    asked = request({"columns": ["sex", "ward"], "tables": "totals", "extra_cells": "left_out"})
    cells = method(ID)(asked).cells
    shares = method(ID)(asked).strategy.shares

    rows = [(s, w) for s in ("f", "m", "x", None) for w in ("a", "c", "?", None)]
    base = table(sex=["f", "m"], ward=["b", "c"])
    for sex, ward in rows:
        more = table(sex=["f", "m", sex], ward=["b", "c", ward])
        for columns, _ in shares:
            (before,), (after,) = (view_of(each).margins(cells, [columns]) for each in (base, more))
            assert np.abs(after - before).sum() <= 1


def test_too_many_cells_and_missing_budget_are_refused():
    assert [problem.code for problem in method(ID)(request(CASES[0], epsilon=None)).problems] == [
        "budget.missing"
    ]
    assert [p.code for p in method(ID)(request({"columns": ["sex"], "tables": "single"})).problems] == [
        "parameters.too_small"
    ]
    assert method(ID)(request(CASES[0], delta=Fraction(1, 10))).problems[0].code == "budget.delta_unused"
    assert Budget(Fraction(1)) == request(CASES[0]).budget


def test_declarations_have_their_texts():
    for parameter in method(ID).parameters:
        for name in ("label", "help", *(f"choices.{choice}" for choice in parameter.choices)):
            assert texts.has(f"methods.{ID}.parameters.{parameter.name}.{name}")


def test_counts_set_to_zero_are_not_said_to_add_up():
    rows = table(sex=["f", "m"], ward=["a", "b"])
    for zeroed in (False, True):
        asked = request(
            {"columns": ["sex", "ward"], "tables": "totals", "no_negatives": zeroed}, epsilon=LARGE
        )
        said = " ".join(texts.text(note.id, **note.values) for note in released(ID, asked, rows).notes)
        assert ("cells add up to the totals" in said, "need not add up" in said) == (not zeroed, zeroed)


def test_the_note_of_the_table_names_no_column_that_margins_do_not_have_beside_numbers():
    assert "column" not in texts.text(f"methods.{ID}.views.table.note")
