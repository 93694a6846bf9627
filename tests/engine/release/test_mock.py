"""The release as it will look, from declarations alone; and whether it can say anything."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement, pairwise
from pathlib import Path

import pandas as pd
import pytest

import engine.release.reading as reading
from engine import texts
from engine.evaluation.numbers import released_numbers
from engine.methods.catalogue import method, methods
from engine.methods.filling import Counted
from engine.methods.kinds import Shape
from engine.methods.protocol import TableArtefact
from engine.methods.shared.cells import Cells, Extra, LevelAxis
from engine.methods.shared.tables import result_views
from engine.release.check import check
from engine.release.choice import choice
from engine.release.examples import plans
from engine.release.levels import reference_size
from engine.release.mock import mock
from engine.release.plan import FileReference
from engine.release.verdict import remedies, verdict
from engine.report.words import word
from engine.table.schema import Column, Domain, Kind
from engine.views import is_weak

EXAMPLES = Path(__file__).parents[3] / "resources" / "examples"
OPENING = [one.id for one in methods() if plans(one)]
RECEIVING = [
    name
    for name in OPENING
    if any(source.required and source.shape is Shape.RECEIVED for source in method(name).reads())
]
"""Methods that read what others protected and signed, which nobody can invent."""


def example(method_id, **changes):
    """Return the first example of a method over a file that does not exist."""
    plan = plans(method(method_id))[0]
    gone = {name: FileReference("gone.csv", file.options) for name, file in plan.files.items()}
    return replace(plan, files=gone, **changes)


@pytest.mark.parametrize("method_id", OPENING)
def test_every_method_shows_its_shape_and_opens_no_file(method_id, monkeypatch):
    def opened(*args, **kwargs):
        raise AssertionError("a row was asked for")

    for name in ("read", "read_all", "read_table", "file_hash"):
        monkeypatch.setattr(reading, name, opened)
    found = mock(example(method_id))
    if method_id in RECEIVING:
        assert found is None
        return
    assert found is not None
    assert found.artefacts


def test_the_shape_is_that_of_the_declared_table():
    plan = example("statistics.counts")
    table = next(one for one in mock(plan).artefacts if one.name == "counts")
    columns = plan.parameters["columns"]
    cells = check(plan).cells
    assert isinstance(table, TableArtefact)
    assert tuple(table.frame.columns) == (*columns, "count", "within_95")
    assert len(table.frame) == cells.size
    assert table.frame[columns].apply(tuple, axis=1).tolist() == list(cells.labels())


def test_the_margins_are_the_true_ones():
    plan = example("statistics.counts")
    forecast = check(plan).forecast
    table = next(one for one in mock(plan).artefacts if one.name == "counts")
    assert set(table.frame["within_95"]) == {forecast.errors[0].limit}


def test_a_plan_that_is_not_complete_has_no_shape():
    assert mock(example("statistics.counts", parameters={})) is None


def test_columns_without_a_declaration_hold_no_value_of_the_table():
    plan = example("datasets.pseudonyms")
    table = mock(plan).artefacts[0].frame
    assert set(table["diag_1"]) == {"diag_1 A", "diag_1 B", "diag_1 C"}


# --- the verdict ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "cells", "limit"), [(7, 4, 1), (7, 4, 2.5), (3, 5, 0), (12, 3, 5), (5, 5, 5)]
)
def test_no_distribution_of_the_rows_fills_more_cells(rows, cells, limit):
    best = 0
    for ends in combinations_with_replacement(range(rows + 1), cells - 1):
        places = (0, *ends, rows)
        counts = [after - before for before, after in pairwise(places)]
        best = max(best, sum(count > limit for count in counts))
    assert Counted(cells, limit, 1).filled_by(rows).above == best


def judged(plan):
    return verdict(plan, check(plan).forecast)


def test_a_useless_release_is_called_so_before_it_is_paid_for():
    plan = example("statistics.counts")
    thin = replace(plan, budget=replace(plan.budget, epsilon=Fraction(1, 200)))
    assert not judged(plan).is_useless
    found = judged(thin)
    assert found.is_useless
    assert found.above == min(found.cells, found.people // (int(found.limit) + 1))


def test_nothing_is_said_where_nobody_declared_how_many_people_there_are():
    plan = example("statistics.counts")
    silent = {name: value for name, value in plan.parameters.items() if name != "people"}
    assert judged(replace(plan, parameters=silent, price=replace(plan.price, people=None))) is None


def test_remedies_are_counted_the_same_way_and_help():
    plan = example("statistics.counts")
    thin = replace(plan, budget=replace(plan.budget, epsilon=Fraction(1, 200)))
    found = remedies(thin)
    assert {one.kind for one in found} == {"without", "level"}
    for one in found:
        assert judged(replace(thin, **one.changes)) == one.verdict
        assert one.verdict.share > judged(thin).share


def at_level(method, epsilon, people=4259):
    plan = example(method)
    return replace(
        plan,
        budget=replace(plan.budget, epsilon=Fraction(epsilon)),
        price=replace(plan.price, people=people),
    )


def of_sums(method, epsilon, people=4259, *, given):
    plan = at_level(method, epsilon, people)
    return replace(plan, parameters={**plan.parameters, **given})


@pytest.mark.parametrize("method", ["models.linear", "services.private_queries"])
def test_a_model_and_a_desk_say_before_they_are_paid_for_whether_they_are_noise(method):
    # Small steps are refused where they would be noise; sums are not, and say so
    at_level = partial(of_sums, given={"fit": "sums"} if method == "models.linear" else {})
    good, bad = judged(at_level(method, 2)), judged(at_level(method, "1/1000"))
    assert bad.is_useless and not good.is_useless and 0 <= bad.share < good.share <= 1
    assert texts.text(bad.said.id, **bad.said.values)
    few = judged(at_level(method, 2, people=5))
    assert few.is_useless and few.share < good.share
    assert judged(at_level(method, 2, people=None)) is None
    better = remedies(at_level(method, "1/1000"))
    assert all(one.verdict.share > bad.share for one in better)


def test_what_is_left_of_a_model_is_what_its_forecast_says():
    plan = at_level("models.linear", 1)
    sized = replace(plan, declared_sizes=(4259,))
    view = check(sized).forecast.views[0]
    assert abs(100 * judged(plan).share - view.rows[0][1]) <= 1


@pytest.mark.parametrize(("respondents", "useless"), [(5, True), (2000, False)])
def test_a_survey_judges_itself_by_the_answers_that_are_expected(respondents, useless):
    plan = example("exchanges.survey")
    plan = replace(plan, parameters={**plan.parameters, "respondents": respondents})
    found = judged(plan)
    expected = check(plan).forecast.errors[0]
    assert found.is_useless is useless
    assert found.said.values["limit"] == pytest.approx(100 * expected.limit)


def test_an_answer_about_everybody_is_judged_by_everybody():
    plan = example("statistics.means")
    alone = replace(plan, parameters={k: v for k, v in plan.parameters.items() if k != "by"})
    assert reference_size(plan) == 20
    assert reference_size(alone) == choice(alone).size == 4259
    whole, group = choice(alone).error, choice(plan).error
    assert whole.size == 4259 and whole.limit < group.limit / 50
    assert {one.size for one in check(alone).forecast.errors} == {4259, None}


# --- numbers that carry no information --------------------------------------------------------------


@pytest.mark.parametrize("method_id", ["statistics.counts", "statistics.margins", "statistics.means"])
def test_numbers_within_their_margin_stand_in_brackets(method_id):
    from engine.views import amount

    plan = example(method_id)
    # So much noise that each number is within its margin with 95 of 100: that none is, never happens.
    plan = replace(plan, budget=replace(plan.budget, epsilon=Fraction(1, 2000)))
    found = mock(plan)
    table = next(view for view in found.views if view.kind == "table" and "totals" not in str(view.title))
    number = next(one for one in released_numbers(found) if one.name == "count")
    at = list(number.artefact.frame.columns).index(number.column)
    for row, value, limit in zip(table.rows, number.values, number.limits, strict=True):
        assert amount(row[at]) == value
        assert is_weak(row[at]) == (limit >= value)  # no count is below zero
    assert any(is_weak(row[at]) for row in table.rows)
    assert table.note.id == "statistics.notes.both"


def test_a_mean_whose_margin_covers_the_declared_range_stands_in_brackets():
    plan = example("statistics.means")
    plan = replace(plan, budget=replace(plan.budget, epsilon=Fraction(1, 500)))
    table = mock(plan).views[0]
    low, high = 1, 14
    weak = [is_weak(row[1]) for row in table.rows]
    covers = []
    for row in table.rows:
        value = row[1].values["value"] if is_weak(row[1]) else row[1]
        covers.append(value - row[2] <= low + 1e-6 and value + row[2] >= high - 1e-6)
    assert weak == covers
    assert any(covers)


COUNTING = [f"statistics.{name}" for name in ("counts", "margins", "histogram", "means")]


@pytest.mark.parametrize("method_id", COUNTING)
def test_readme_and_dictionary_say_when_a_number_carries_no_information(method_id):
    plan = example(method_id)
    found = mock(plan).artefacts[0]
    entry = next(one for one in found.dictionary if one.name == "within_95")
    assert "no information" in texts.text(entry.meaning.id, **entry.meaning.values)
    assert "no information" in " ".join(texts.text(f"promises.{check(plan).cost.kind}.recipient").split())


def test_a_group_without_information_has_no_bar():
    """By hand: a mean of 1 to 14; ± 7 around 8 covers all of it, ± 1 does not."""
    axis = LevelAxis(Column("sex", kind=Kind.CATEGORY, domain=Domain(values=("f", "m"))), Extra.LEFT_OUT)
    frame = pd.DataFrame({"sex": ["f", "m"], "mean": [8.0, 5.0], "within_95": [7.0, 1.0]})
    views = result_views(
        "statistics.means", frame, Cells((axis,)), value="mean", within="within_95", bounds=(1, 14)
    )
    table, bars = views
    assert [is_weak(row[1]) for row in table.rows] == [True, False]
    assert (bars.labels, bars.values, bars.low, bars.high) == (("m",), (5.0,), (4.0,), (6.0,))
    assert bars.note.id == table.note.id == "statistics.notes.both"
    nothing = frame.assign(within_95=20.0)
    only = result_views(
        "statistics.means", nothing, Cells((axis,)), value="mean", within="within_95", bounds=(1, 14)
    )
    assert len(only) == 1, "no empty drawing"


def test_bars_name_their_columns_where_there_are_several():
    counted = next(view for view in mock(example("statistics.counts")).views if view.kind == "bars")
    assert word(counted.labels[0], "en") == "gender: Female · age: [0-10)"


# --- rows that are invented under a privacy level -------------------------------------------------


@pytest.mark.parametrize("method_id", ["datasets.marginals", "datasets.network"])
def test_the_error_of_invented_rows_is_found_by_trying(method_id):
    """It falls with the level; relations are lost where the level is low and people are few."""

    def kept(epsilon, rows):
        plan = example(method_id)
        plan = replace(
            plan,
            budget=replace(plan.budget, epsilon=Fraction(epsilon)),
            parameters={**plan.parameters, "about_rows": rows},
        )
        found = mock(plan)
        assert found.people == rows and found.kept is not None
        return found.kept

    few, many = kept("1/10", 2139), kept(20, 2139)
    assert not few.relates and many.relates
    assert many.one_way < few.one_way and many.two_way < few.two_way / 2
    assert 0.2 < few.apart < 0.5  # there is something to keep


@pytest.mark.parametrize(("tables", "relates"), [("named", True), ("single", False), ("chosen", True)])
def test_tables_that_are_named_are_tried_as_they_are_named(tables, relates):
    """What is said is about the relations that were asked for; without any, that they are lost."""
    plan = example("datasets.marginals")
    given = {"tables": tables} | ({"named": [{"columns": ["age", "A1Cresult"]}]} if tables == "named" else {})
    plan = replace(
        plan,
        budget=replace(plan.budget, epsilon=Fraction(20)),
        parameters={**plan.parameters, "about_rows": 2139, **given},
    )
    found = mock(plan).kept
    assert found.relates == relates and found.is_named == (tables == "named")
    assert found.two_way < 0.1 if relates else found.two_way > 0.9 * found.apart
    if tables == "named":
        few = mock(replace(plan, budget=replace(plan.budget, epsilon=Fraction(1, 50)))).kept
        assert not few.relates and few.two_way > found.two_way


def test_a_number_that_was_invented_for_a_person_is_no_wrong_value():
    """It is another one in every row, as it should be; only columns that say something are compared."""
    plan = example("datasets.linked")
    found = mock(replace(plan, budget=replace(plan.budget, epsilon=Fraction(1_000)))).kept
    assert found.one_way < 0.1 and found.two_way < 0.25


def test_only_rows_invented_under_a_level_are_tried():
    assert mock(example("statistics.counts")).kept is None
    assert mock(example("datasets.imputation")).kept is None
    assert mock(example("datasets.traces")).kept is None  # an invented person has one row, and no history
