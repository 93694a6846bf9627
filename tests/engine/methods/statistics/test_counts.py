"""Counts and histograms by hand, at large budgets, against simulation, and through the battery."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.methods.catalogue import method
from engine.methods.filling import Counted
from engine.methods.protocol import Budget, Context
from engine.methods.shared.cells import LevelAxis
from engine.report.words import cell
from engine.table.schema import Column, Domain, Kind, Origin
from engine.table.table import Table
from tests.engine.battery.checks import failing
from tests.engine.battery.distributions import gaussian_law, laplace_law
from tests.engine.battery.neighbours import added_rows, coded_rows
from tests.engine.battery.subject import Subject
from tests.engine.methods.statistics.builders import (
    ADD_REMOVE,
    LARGE,
    REPLACE_ONE,
    first,
    released,
    request,
    table,
)
from tests.examples import many

ROWS = table(sex=["f", "m", "m", "x", None], ward=["a", "a", "b", "c", "zz"], age=[0, 1, 1, 9, None])


def cells_of(frame):
    return {tuple(row[:-2]): row[-2] for row in frame.itertuples(index=False)}


def test_counts_by_hand():
    asked = request({"columns": ["sex", "ward"], "extra_cells": "separate"}, epsilon=LARGE)
    frame = first(released("statistics.counts", asked, ROWS))
    assert len(frame) == 4 * 5
    found = {cell: count for cell, count in cells_of(frame).items() if count}
    assert found == {
        ("f", "a"): 1,
        ("m", "a"): 1,
        ("m", "b"): 1,
        ("(other)", "c"): 1,
        ("(missing)", "(other)"): 1,
    }
    assert (frame["within_95"] == 0).all()


def test_numbers_outside_declared_bounds_are_clamped():
    asked = request({"columns": ["age"]}, epsilon=LARGE)
    frame = first(released("statistics.counts", asked, ROWS))
    assert frame["age"].tolist() == ["0", "1", "2", "3", "(missing)"]
    assert frame["count"].tolist() == [1, 2, 0, 1, 1]


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ("separate", {"f": 1, "m": 2, "(other)": 1, "(missing)": 1}),
        ("together", {"f": 1, "m": 2, "(other or missing)": 2}),
        ("left_out", {"f": 1, "m": 2}),
    ],
)
def test_undeclared_and_missing_values(extra, expected):
    asked = request({"columns": ["sex"], "extra_cells": extra}, epsilon=LARGE)
    frame = first(released("statistics.counts", asked, ROWS))
    assert dict(zip(frame["sex"], frame["count"], strict=True)) == expected


def test_totals_are_sums_of_the_released_cells():
    asked = request({"columns": ["sex", "ward"], "totals": True})
    release = released("statistics.counts", asked, ROWS)
    frame, totals = (artefact.frame for artefact in release.artefacts)
    for column in ("sex", "ward"):
        part = totals[totals["column"] == column].set_index("value")["total"]
        assert part.to_dict() == frame.groupby(column)["count"].sum().to_dict()
    assert totals["total"].iloc[-1] == frame["count"].sum()
    assert (totals["within_95"] > frame["within_95"].iloc[0]).all()


def test_negative_counts_are_set_to_zero_only_on_request():
    nobody = table(sex=[], ward=[], age=[])
    plain, clipped = (
        first(
            released(
                "statistics.counts",
                request({"columns": ["ward"], "no_negatives": flag}, epsilon=Fraction(1, 9)),
                nobody,
            )
        )
        for flag in (False, True)
    )
    assert plain["count"].min() < 0
    assert (clipped["count"] == plain["count"].clip(lower=0)).all()


def test_empty_cells_get_noise_like_the_others():
    asked, nobody = (
        request({"columns": ["sex", "ward"]}, epsilon=Fraction(1, 10)),
        table(sex=[], ward=[], age=[]),
    )
    draws = np.array(
        [first(released("statistics.counts", asked, nobody, seed=k))["count"] for k in range(200)]
    )
    assert (draws.std(axis=0) > 10).all()


def test_a_column_named_like_a_result():
    count = Column("count", kind=Kind.CATEGORY, domain=Domain(values=("1",)), domain_origin=Origin.DECLARED)
    asked = request({"columns": ["count"]}, columns=(count,), epsilon=LARGE)
    release = released("statistics.counts", asked, table(count=["1", "1"]))
    assert list(first(release).columns) == ["count", "count_", "within_95"]
    assert [entry.name for entry in release.artefacts[0].dictionary] == ["count", "count_", "within_95"]


def test_the_dictionary_holds_declared_values_only():
    release = released("statistics.counts", request({"columns": ["ward"], "extra_cells": "separate"}), ROWS)
    assert release.artefacts[0].dictionary[0].values == ("a", "b", "c", "(other)", "(missing)")
    assert "zz" not in repr(release.artefacts[0].dictionary)


@pytest.mark.parametrize(
    ("cap", "neighbours", "moved"),
    [(None, ADD_REMOVE, 1), (None, REPLACE_ONE, 2), (3, ADD_REMOVE, 3), (3, REPLACE_ONE, 6)],
)
def test_the_noise_grows_with_what_a_person_can_move(cap, neighbours, moved):
    asked = request({"columns": ["sex"]}, epsilon=Fraction(1, 2), cap=cap, neighbours=neighbours)
    events = method("statistics.counts")(asked).cost.loss.events
    assert (events.sensitivity, events.scale) == (moved, 2 * moved)


# --- histograms ----------------------------------------------------------------------------------

STAYS = table(stay=[-1.0, 0.0, 4.9, 5.0, 10.0, 10.1, None, float("inf")])


@pytest.mark.parametrize(
    ("outside", "expected"),
    [("separate", [1, 2, 2, 1, 2]), ("clamped", [3, 3, 2]), ("left_out", [2, 2, 2])],
)
def test_edges_by_hand(outside, expected):
    asked = request({"column": "stay", "edges": [0, 5, 10], "outside": outside}, epsilon=LARGE)
    assert first(released("statistics.histogram", asked, STAYS))["count"].tolist() == expected


def test_labels_say_which_edge_belongs_where():
    asked = request({"column": "stay", "edges": [0, "5", 10]})
    assert first(released("statistics.histogram", asked, STAYS))["stay"].tolist() == [
        "<0",
        "0 to <5",
        "5 to 10",
        ">10",
        "(missing)",
    ]


@pytest.mark.parametrize("outside", ["separate", "left_out"])
def test_intervals_are_said_in_the_language_of_the_paper(outside):
    asked = request({"column": "stay", "edges": [0, "5", 10], "outside": outside})
    view = released("statistics.histogram", asked, STAYS).views[0]
    inside = slice(1, 3) if outside == "separate" else slice(0, 2)
    said = {code: [cell(row[0], code) for row in view.rows[inside]] for code in ("en", "de", "fr")}
    assert said == {
        "en": ["0 to <5", "5 to 10"],
        "de": ["0 bis <5", "5 bis 10"],
        "fr": ["0 à <5", "5 à 10"],
    }


def test_edges_that_are_days():
    days = ["2019-12-31", "2020-01-01", "2020-12-31", "2021-01-01", "2022-01-01", "soon", None]
    asked = request({"column": "when", "edges": ["2020-01-01", "2021-01-01", "2022-01-01"]}, epsilon=LARGE)
    for rows in (table(when=days), table(when=pd.to_datetime(pd.Series(days), errors="coerce"))):
        assert first(released("statistics.histogram", asked, rows))["count"].tolist() == [1, 2, 2, 0, 2]


def test_a_histogram_of_all_values_is_a_count():
    """Edges around every declared level give what the counts give, noise and all."""
    rows = table(age=[0, 1, 1, 3, None])
    histogram = request({"column": "age", "edges": [0, 1, 2, 3, 4], "outside": "clamped"})
    counts = request({"columns": ["age"]})
    same = [
        first(released(name, asked, rows))["count"].tolist()
        for name, asked in (("statistics.histogram", histogram), ("statistics.counts", counts))
    ]
    assert same[0] == same[1]


# --- sensitivity, forecast, battery --------------------------------------------------------------

CELLS = st.one_of(
    st.sampled_from(["f", "m", " m", "x", "", "nan", "1", "1.0"]),
    st.none(),
    st.floats(),
    st.integers(-(2**63), 2**63 - 1),
)


@settings(max_examples=many(150), deadline=None, derandomize=True)
@given(st.lists(CELLS, max_size=12), CELLS, st.integers(0, 12), st.booleans())
def test_one_row_moves_one_count_by_one(column, value, place, replaces):
    """As Python objects, the storage that a mixed column has."""
    cells = method("statistics.counts")(request({"columns": ["sex"]})).cells
    place = min(place, len(column))
    other = [*column[:place], value, *column[place + (1 if replaces and place < len(column) else 0) :]]
    first_counts, second = (
        cells.count(cells.codes(pd.DataFrame({"sex": pd.Series(each, dtype=object)})))
        for each in (column, other)
    )
    assert np.abs(first_counts - second).sum() <= (2 if replaces else 1)


@pytest.mark.parametrize("parameters", [{}, {"noise": "gaussian"}])
def test_the_forecast_against_simulation(parameters):
    """A limit holds in at least 95 of 100 draws, one step less would not; false alarm 1e-6."""
    from scipy.stats import binom

    delta = Fraction(1, 10**6) if parameters else Fraction(0)
    parameters = {"columns": ["sex", "ward", "age"], "extra_cells": "separate"} | parameters
    asked = request(parameters, epsilon=Fraction(1, 5), delta=delta)
    limit = method("statistics.counts")(asked).forecast.errors[0]
    nobody = table(sex=[], ward=[], age=[])
    draws = np.abs(
        [first(released("statistics.counts", asked, nobody, seed=k))["count"] for k in range(200)]
    ).ravel()
    assert draws.size == 200 * 4 * 5 * 5
    for reach, share in ((limit.limit, 0.95), (limit.median, 0.5)):
        assert (draws <= reach).sum() >= binom.ppf(5e-7, draws.size, share)
        assert (draws <= reach - 1).sum() <= binom.ppf(1 - 5e-7, draws.size, share)


@pytest.mark.parametrize(
    ("method_id", "parameters", "cells"),
    [
        ("statistics.counts", {"columns": ["sex", "ward"]}, 6),
        ("statistics.histogram", {"column": "stay", "edges": [0, 5, 10]}, 4),
        ("statistics.margins", {"columns": ["sex", "ward"], "tables": "totals"}, 6),
    ],
)
def test_declared_people_bound_the_cells_worth_having(method_id, parameters, cells):
    """By hand: every cell above the margin takes a row more than it, and no more rows can be there."""
    asked = request(parameters | {"people": 20}, cap=2)
    forecast = method(method_id)(asked).forecast
    note = next(note for note in forecast.notes if note.id == "statistics.notes.filling")
    limit = forecast.errors[0].limit
    assert (note.values["people"], note.values["cells"], note.values["limit"]) == (20, cells, limit)
    assert note.values["above"] == min(cells, 40 // (limit + 1))
    assert all(
        note.id != "statistics.notes.filling"
        for note in method(method_id)(request(parameters)).forecast.notes
    )


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.integers(0, 12))
def test_no_table_fills_more_cells_than_stated(counts, limit):
    found = Counted(len(counts), limit, 1).filled_by(sum(counts))
    assert sum(count > limit for count in counts) <= found.above
    assert 1 - found.share <= sum(count <= limit for count in counts) / len(counts) + 1e-12


def test_undeclared_values_are_left_out_unless_asked_for():
    """A declared list is closed: no cell waits for other values, and missing ones have theirs."""
    asked = request({"columns": ["sex"]}, epsilon=LARGE)
    release = released("statistics.counts", asked, table(sex=["f", "x", None, "m", "f"]))
    assert dict(zip(first(release)["sex"], first(release)["count"], strict=True)) == {
        "f": 2,
        "m": 1,
        "(missing)": 1,
    }
    assert [note.id for note in release.notes] == ["statistics.notes.extra_missing"]


@pytest.mark.parametrize("extra", ["missing", "separate", "together", "left_out"])
def test_cells_are_called_by_the_meaning_of_their_value(extra):
    """Labels of the column; the dictionary says which value each one is."""
    column = Column(
        "sex",
        kind=Kind.CATEGORY,
        domain=Domain(values=("1", "2", "3")),
        domain_origin=Origin.DECLARED,
        labels={"1": "woman", "2": "man"},
    )
    asked = request({"columns": ["sex"], "extra_cells": extra}, epsilon=LARGE, columns=(column,))
    release = released("statistics.counts", asked, table(sex=["1", "1", "2", "3", None]))
    assert (
        dict(zip(first(release)["sex"], first(release)["count"], strict=True)).items()
        >= {
            "woman": 2,
            "man": 1,
            "3": 1,
        }.items()
    )
    assert release.artefacts[0].dictionary[0].values[:3] == ("woman", "man", "3")


def test_values_stay_where_two_have_the_same_meaning():
    column = Column(
        "sex",
        kind=Kind.CATEGORY,
        domain=Domain(values=("1", "2")),
        domain_origin=Origin.DECLARED,
        labels={"1": "person", "2": "person"},
    )
    asked = request({"columns": ["sex"]}, columns=(column,))
    frame = first(released("statistics.counts", asked, table(sex=["1"])))
    assert frame["sex"].tolist() == ["1", "2", "(missing)"]


def test_a_code_list_names_its_codes():
    domain = Domain(code_list="eu_countries")
    axis = LevelAxis(Column("land", kind=Kind.CATEGORY, domain=domain, domain_origin=Origin.DECLARED))
    assert axis.labels[:2] == ("Austria", "Belgium")
    assert axis.entry.values[:2] == ("Austria", "Belgium")  # as the cells read


def declared(*levels):
    return Column("cell", kind=Kind.CATEGORY, domain=Domain(values=levels), domain_origin=Origin.DECLARED)


NUMBER = Column("x", kind=Kind.NUMBER)
PEOPLE, NUMBERS = np.array([0, 1, 1, 2, 2]), np.array([-3.0, 0.0, np.nan, 7.0, 5.0])
ONE_CELL = request({"columns": ["cell"], "extra_cells": "left_out"}, columns=(declared("2"),))
CELLS_APART = request({"columns": ["cell"]}, columns=(declared("0", "1", "2"),))
ONE_INTERVAL = request(
    {"column": "x", "edges": [0, 5], "outside": "left_out", "extra_cells": "left_out"}, columns=(NUMBER,)
)
INTERVALS = request({"column": "x", "edges": [-2, 0, 5]}, columns=(NUMBER,))


def subject(method_id, asked, column, **options):
    """The method on arrays. Where it releases one number, many releases draw from its own mechanism."""
    one, claim = method(method_id), asked.budget.epsilon
    design = one(asked)  # what it decides, it decides before rows
    cells, mechanism = design.cells, design.mechanism

    def answer(data):
        return cells.count(cells.codes(pd.DataFrame({column: data})))

    def release(data, noise):
        context = Context(noise, None, Path("unused"))
        found = design.run({"people": Table(pd.DataFrame({column: data}))}, context)
        return first(found)["count"].to_numpy()

    single = {
        "law": laplace_law(1 / claim),
        "release_often": lambda data, noise, runs: mechanism.release(np.repeat(answer(data), runs), noise),
    }
    return Subject(
        release=release,
        query=answer,
        sensitivity=1,
        step=Fraction(1),
        **{"epsilon": claim if cells.size == 1 else None} | (single if cells.size == 1 else {}) | options,
    )


BATTERY = {
    "count": ("statistics.counts", ONE_CELL, "cell", PEOPLE, coded_rows(3)),
    "counts": ("statistics.counts", CELLS_APART, "cell", PEOPLE, coded_rows(4)),
    "interval": ("statistics.histogram", ONE_INTERVAL, "x", NUMBERS, added_rows()),
    "histogram": ("statistics.histogram", INTERVALS, "x", NUMBERS, added_rows()),
}


@pytest.mark.parametrize("name", BATTERY)
@pytest.mark.guarantee
def test_battery(name):
    method_id, asked, column, rows, neighbours = BATTERY[name]
    one = subject(method_id, asked, column, pair=(rows, rows[:-1]), neighbours=neighbours)
    assert failing(one) == {}


@pytest.mark.guarantee
def test_battery_gaussian():
    asked = replace(
        ONE_CELL,
        values=ONE_CELL.values | {"noise": "gaussian"},
        budget=Budget(Fraction(1), Fraction(1, 10**5)),
    )
    variance = method("statistics.counts")(asked).mechanism.scale ** 2
    options = {"pair": (PEOPLE, PEOPLE[:-1]), "neighbours": coded_rows(3), "law": gaussian_law(variance)}
    assert failing(subject("statistics.counts", asked, "cell", epsilon=None, **options)) == {}


def test_battery_kills_a_budget_spent_twice():
    """A count released for double the epsilon that it claims."""
    double = replace(ONE_CELL, budget=Budget(Fraction(2)))
    options = {"epsilon": Fraction(1), "law": laplace_law(Fraction(1)), "pair": (PEOPLE, PEOPLE[:-1])}
    one = subject("statistics.counts", double, "cell", **options)
    assert {"noise", "audit"} <= set(failing(one, only=("noise", "audit")))
