"""Which figures candidates are judged by, and which candidates a method proposes; no screen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from app import words
from app.work.comparing import figures, settings, unbeaten, variants
from engine.release.compare import Compared
from engine.views import TableView, Text
from tests.app.walking import example_plan

ID = "datasets.imputation"
COPIED, ESTIMATES = "risk.synthetic_copied", "utility.synthetic_estimates"


def test_the_picture_opens_on_what_is_given_away_and_what_is_kept(tmp_path: Path) -> None:
    plan = example_plan(ID, tmp_path)
    found = [
        Compared(plan, measured={COPIED: {"copies": 1.0 + at, "told": told}, ESTIMATES: {"kept": kept}})
        for at, (told, kept) in enumerate(((1.0, 80.0), (4.0, 90.0), (5.0, 85.0)))
    ]
    shown = figures(found)
    assert [one.less_is_better for one in shown] == [True, False, True]
    assert shown[0].values == (1.0, 4.0, 5.0) and shown[1].values == (80.0, 90.0, 85.0)
    assert unbeaten(shown[0], shown[1]) == (0, 1)


def test_a_figure_that_is_the_same_everywhere_tells_nothing(tmp_path: Path) -> None:
    plan = example_plan(ID, tmp_path)
    found = [Compared(plan, measured={COPIED: {"told": 1.0, "copies": at}}) for at in (1.0, 2.0)]
    assert [one.values for one in figures(found)] == [(1.0, 2.0)]


def test_numbers_that_name_lines_of_a_method_are_written_as_names(tmp_path: Path) -> None:
    plan = example_plan(ID, tmp_path)
    lines = [((3, 1.0), (0.5, 7.0)), ((3, 2.0), (0.5, 7.0))]
    headings = (Text("views.value"), Text("views.value"))
    found = [Compared(plan, inside=(TableView("sizes", headings, rows),)) for rows in lines]
    assert [(one.label, one.values) for one in figures(found)] == [("3", (1.0, 2.0))]


def test_a_method_proposes_settings_that_differ_and_can_be_made(tmp_path: Path) -> None:
    plan = example_plan(ID, tmp_path)
    proposed = variants(plan)
    assert 4 <= len(proposed) <= 8
    assert all(one["parameters"] != plan.parameters for one in proposed)
    values = [replace(plan, parameters=one["parameters"]).request for one in proposed]
    assert all(not one.wrong for one in values)
    assert len({str(one.values) for one in values}) == len(values)
    assert variants(example_plan("datasets.k_anonymity", tmp_path)) == ()


def test_full_and_partial_are_proposed_beside_each_other_once_cells_are_named(tmp_path: Path) -> None:
    plan = example_plan(ID, tmp_path)
    columns = list(plan.parameters["columns"])
    partial = replace(plan, parameters={**plan.parameters, "synthesis": "partial", "replaced": columns[:2]})
    assert "full" in [one["parameters"]["synthesis"] for one in variants(partial)]


def test_settings_are_written_as_the_language_writes_numbers(tmp_path: Path) -> None:
    plan = example_plan("datasets.k_anonymity", tmp_path)
    made = [
        Compared(replace(plan, parameters={**plan.parameters, "most_left_out": share}))
        for share in (0.02, 0.5)
    ]
    words.choose_language("fr")
    try:
        assert [settings(made).short(place) for place in (0, 1)] == ["0,02", "0,5"]
    finally:
        words.choose_language("en")
