"""Invented rows from tables that the custodian names: counts of a book's data, refusals, what is forecast."""

from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.protocol import Budget, Context
from engine.privacy.mechanisms import DiscreteLaplace
from engine.table.schema import Kind, Schema
from engine.table.table import Table
from tests.engine.methods.datasets.adult import DATA, TRAINING
from tests.engine.methods.datasets.test_marginals import (
    ALL,
    ALL_STAYS,
    COLUMNS,
    RULES,
    STAYS,
    declared,
    made,
    some_rows,
    stays,
)
from tests.engine.methods.datasets.test_marginals import request_for as request_of
from tests.noise_source import seeded_noise

ID = "datasets.marginals"


def named(*tables):
    return {"tables": "named", "named": [{"columns": list(table)} for table in tables]}


def problems(given, columns=COLUMNS):
    request = request_of({"about_rows": 2000} | given, schema=Schema(columns))
    return method(ID)(request).problems


# --- age and marital status of Adult --------------------------------------------------------------

MARITAL = {  # Chang, Zhuang and Samaraweera, Privacy-Preserving Machine Learning (2023), section 6.3.3
    "Married-civ-spouse": 14976,
    "Never-married": 10683,
    "Divorced": 4443,
    "Separated": 1025,
    "Widowed": 993,
    "Married-spouse-absent": 418,
    "Married-AF-spouse": 23,
}
IN_THEIR_PRIME = 6577  # 44 ≤ age < 55, section 6.3.1
FULL_CELLS = 396
BOOK = (
    declared("age", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(99)),
    declared("marital_status", Kind.CATEGORY, values=tuple(MARITAL)),
)
YEARS = {"edges": {"age": [str(year) for year in range(101)]}}


@cache
def couples():
    rows = pd.read_csv(DATA / "adult.csv.gz", nrows=TRAINING, usecols=["age", "marital_status"])
    return rows.astype({"age": float})


def book_request(**given):
    return request_of(
        {"columns": ["age", "marital_status"], "about_rows": 32_000} | YEARS | given,
        budget=Budget(Fraction(1)),
        schema=Schema(BOOK),
    )


@cache
def book_release(seed):
    request, noise = book_request(**named(["marital_status", "age"])), seeded_noise(seed)
    release = method(ID)(request).run({"people": Table(couples())}, Context(noise, None, Path()))
    assert noise.counted == release.promise.drawn()
    return release


def test_the_rows_are_those_of_the_book():
    rows = couples()
    assert rows["age"].between(44, 54).sum() == IN_THEIR_PRIME
    assert rows["marital_status"].value_counts().to_dict() == MARITAL
    assert len(rows.drop_duplicates()) == FULL_CELLS


def test_both_columns_together_cost_one_epsilon_in_all():
    """Not one for the table and one more for the number of rows; every cell is paid for, empty ones too."""
    promise = method(ID)(book_request(**named(["age", "marital_status"]))).cost
    assert Fraction(999, 1000) < promise.loss.events.epsilon() <= 1
    leaves = [leaf for leaf, _ in promise.loss.events.leaves()]
    assert all(isinstance(leaf, DiscreteLaplace) for leaf in leaves) and len(leaves) == 3
    schedule = method(ID)(book_request(**named(["age", "marital_status"]))).schedule
    assert schedule.cells == (101, 9, 101 * 9)
    assert schedule.together[0] < 2 < schedule.single[0] < schedule.single[1]


@pytest.mark.parametrize("seed", range(3))
def test_counts_of_the_book_are_met_within_their_noise(seed):
    """The noise of 11 ages × 9 cells adds up to a standard deviation of √99 · 1.4 √2 < 20."""
    frame = book_release(seed).artefacts[0].frame
    age = pd.to_numeric(frame["age"])
    assert age.between(44, 54).sum() == pytest.approx(IN_THEIR_PRIME, abs=4 * 20)
    for status, count in MARITAL.items():  # 101 cells: 20 again
        assert (frame["marital_status"] == status).sum() == pytest.approx(count, abs=4 * 20)
    both = frame[["age", "marital_status"]].value_counts()
    assert both["17", "Never-married"] == pytest.approx(393, abs=4 * 2.1)
    assert len(frame) == pytest.approx(TRAINING, abs=100)


def test_every_cell_has_noise_of_its_own_and_empty_cells_have_some():
    """One number for all cells would move them alike; cells left out for being empty would stay empty."""
    exact = couples().value_counts()
    off, filled = [], 0
    for seed in range(3):
        found = book_release(seed).artefacts[0].frame
        found = found[found["age"] != ""].astype({"age": float}).value_counts()
        large = [cell for cell, count in exact.items() if count > 100]
        off.append([found.get(cell, 0) - exact[cell] for cell in large])
        filled += len(set(found.index) - set(exact.index))
    off = np.array(off)
    assert (off.std(axis=1) > 1).all() and (np.abs(off.mean(axis=1)) < 1.5).all()
    assert filled > 3 * 20


# --- what is refused ------------------------------------------------------------------------------

WIDE = tuple(declared(name, Kind.CATEGORY, values=tuple(map(str, range(58)))) for name in "abcdefgh")
HUGE = tuple(declared(name, Kind.CATEGORY, values=tuple(map(str, range(440)))) for name in "abcdefgh")


@pytest.mark.parametrize(
    ("columns", "tables", "code", "said"),
    [
        (COLUMNS, [["sex", "age"], ["age", "sex"]], "named_twice", {"table": "sex × age"}),
        (COLUMNS, [["sex", "age"], ["age", "sex", "bmi"]], None, {}),
        (COLUMNS, [ALL], None, {}),
        (WIDE, [["a", "b", "c"]], "named_too_large", {"table": "a × b × c", "cells": 60**3}),
        (
            WIDE,
            [["a", "b"], ["b", "c"], ["a", "c"], ["d", "e"]],
            "named_need_too_large",
            {"table": "a × b × c", "cells": 60**3, "named": ["a × b", "a × c", "b × c"]},
        ),
        (HUGE, ["ab", "bc", "cd", "de", "ef"], None, {}),
        (HUGE, ["ab", "bc", "cd", "de", "ef", "fg"], "named_too_many", {"all": 6 * 442**2 + 442}),
    ],
)
def test_tables_that_cannot_be_measured_are_named_before_anything_is_spent(columns, tables, code, said):
    names = [column.name for column in columns]
    found = problems({"columns": names, **named(*tables)}, columns)
    assert [one.code for one in found] == ([] if code is None else [f"{ID}.{code}"])
    assert code is None or found[0].values | said == dict(found[0].values)


@pytest.mark.parametrize(
    ("table", "columns", "code"),
    [
        (["sex", "height"], ALL, "parameters.no_such_column"),
        (["sex"], ALL, "parameters.too_small"),
        (["sex", "sex"], ALL, "parameters.twice"),
        (["sex", "bmi"], ["sex", "age"], f"{ID}.not_released"),
        (None, ALL, "parameters.unfilled"),
    ],
)
def test_tables_of_columns_that_are_not_there_are_refused(table, columns, code):
    given = named(table) if table else {"tables": "named"}
    assert [one.code for one in problems({"columns": columns, **given})] == [code]


def test_a_total_is_in_no_named_table():
    given = {"columns": ALL_STAYS, **named(["total", "sex"]), "sums": RULES["sums"]}
    assert [one.code for one in problems(given, STAYS)] == [f"{ID}.not_released"]


# --- what is made ---------------------------------------------------------------------------------


@pytest.mark.parametrize("tables", [{"tables": "single"}, named(["sex", "bmi"], ["age", "sex", "seen"])])
def test_what_was_named_is_measured_and_nothing_else(tables):
    release = made(some_rows(), tables, budget=Budget(Fraction(4)))
    told = [row[0] if isinstance(row[0], str) else row[0].id for row in release.views[0].rows]
    # Single years of age and equal parts of the other number are searched
    searched = [f"methods.{ID}.views.{name}" for name in ("values", "parts")]
    assert told == [*ALL, *(["sex × bmi", "sex × age × seen"] if "named" in tables else searched)]
    frame = release.artefacts[0].frame
    frame = frame[(frame["bmi"] != "") & frame["sex"].isin(["f", "m"])]
    means = pd.to_numeric(frame["bmi"]).groupby(frame["sex"]).mean()
    assert (means["m"] - means["f"] > 3.5) == ("named" in tables)


def test_rules_are_kept_beside_named_tables():
    given = {
        "columns": ALL_STAYS,
        "about_rows": 3000,
        **RULES,
        **named(["sex", "pregnant", "ward"], ["came", "ward"]),
    }
    frame = made(stays(), given, schema=Schema(STAYS)).artefacts[0].frame
    assert not ((frame["sex"] == "m") & (frame["pregnant"] == "yes")).any()
    both = frame[(frame["came"] != "") & (frame["went"] != "")]
    assert len(both) and (both["came"] <= both["went"]).all()


@pytest.mark.parametrize("n", [0, 1])
def test_named_tables_of_hardly_any_rows(n):
    assert len(made(some_rows(5)[:n], named(["sex", "age", "bmi"])).artefacts[0].frame) >= 1


def test_the_release_says_whether_its_model_agrees_with_what_was_measured():
    release = made(some_rows(), named(["sex", "bmi"], ["age", "sex", "seen"]))
    assert [note.id.rsplit(".", 1)[1] for note in release.notes] == ["agrees_yes", "some"]
    assert {row[4].id.rsplit(".", 1)[1] for row in release.views[0].rows} == {"yes"}
    frame = stays()
    frame["pregnant"] = "yes"  # men too, against the rule
    tables = named(["sex", "pregnant"], ["came", "ward"])
    given = {"columns": ALL_STAYS, "about_rows": 3000, "never": RULES["never"], **tables}
    release = made(frame, given, schema=Schema(STAYS))
    note = release.notes[0]
    assert note.id.endswith("agrees_no") and "sex × pregnant" in note.values["tables"]
    assert note.values["off"] > 10 and "came × ward" not in note.values["tables"]


# --- what is forecast -----------------------------------------------------------------------------


def forecast(given, rows, epsilon):
    request = request_of(
        {"columns": ALL, "about_rows": rows} | given, budget=Budget(Fraction(epsilon)), schema=Schema(COLUMNS)
    )
    return method(ID)(request).forecast, method(ID)(request).judged(rows)


def test_the_forecast_says_which_named_tables_are_mostly_noise():
    tables = named(["sex", "age"], ["age", "bmi", "seen"])
    good, said = forecast(tables, 10**6, 1)
    assert good.notes[-1].id.endswith(".named") and said.said.id.endswith("judged.named")
    bad, said = forecast(tables, 5000, "1/2")
    assert bad.notes[-1].id.endswith(".named_noise") and bad.notes[-1].values["noise"] == ["age × bmi × seen"]
    assert said.said.values["noise"] == ["age × bmi × seen"]
    assert said.is_useless  # half of what was asked for is noise
    alone, _ = forecast({"tables": "single"}, 10**6, 1)
    assert [note.id.split(".")[-1] for note in alone.notes] == ["single", "crowded", "parts"]
    assert not alone.views


def test_the_forecast_of_named_tables_is_what_their_noise_does():
    """Counts with the noise of the plan, no model: how far each table is off on average, and its cells."""
    tables = named(["sex", "age"], ["sex", "bmi", "seen"])
    request = request_of({"columns": ALL, "about_rows": 2000} | tables, budget=Budget(Fraction(1, 2)))
    found, schedule = method(ID)(request).forecast, method(ID)(request).schedule
    noise = seeded_noise(1)
    for row, cells, scale in zip(found.views[0].rows, schedule.cells[4:], schedule.together, strict=True):
        drawn = np.abs(noise.discrete_laplace(scale, 200_000))
        assert row[1] == cells
        assert 0.948 < np.mean(drawn <= row[2]) < 0.98
        off = 100 * drawn.mean() * cells / (2 * 2000)
        assert off < row[3] < 1.2 * off  # rather too much: √(2/π) of the deviation for 1/√2
    limit = next(one for one in found.errors if one.quantity.id.endswith("count.named")).limit
    assert np.mean(np.abs(noise.discrete_laplace(max(schedule.together), 200_000)) <= limit) >= 0.95


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_ninety_five_of_a_hundred_cells_lie_as_close_as_is_said(kind):
    """Of tables of 16 and of 272 cells in which nobody is, so that every count is noise."""
    request = request_of(
        {"columns": ["age", "bmi"], "about_rows": 2000, "noise": kind, **named(["age", "bmi"])},
        budget=Budget(Fraction(1, 5), Fraction(1, 10**6) if kind == "gaussian" else Fraction(0)),
    )
    schedule, noise = method(ID)(request).schedule, seeded_noise(3)
    for scale in (*schedule.single, *schedule.together):
        drawn = noise.discrete_gaussian(scale**2, 10_000) if kind == "gaussian" else None
        drawn = noise.discrete_laplace(scale, 10_000) if drawn is None else drawn
        assert 0.942 < np.mean(np.abs(drawn) <= schedule.within(schedule.deviation(scale))) < 0.97
