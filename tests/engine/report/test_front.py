"""Page one: what is counted as released, what is drawn of a table, and that nothing of a drawing is cut."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from pypdf import PdfReader

from engine import texts
from engine.privacy.promise import Promise, Unit
from engine.report import content, html, pdf
from engine.report.content import front, made, private
from engine.report.content.cover import total
from engine.report.content.facts import counted_cells, own_words
from engine.report.content.front import _foremost, _of_table, headline, key_facts
from engine.report.content.results import _intro, print_view
from engine.report.document import Headline
from engine.report.words import cell, word
from engine.views import HIDDEN, CurveView, HeatmapView, IntervalsView, Series, TableView, Text, aside


def facts(evidence) -> dict[str, tuple[str, str]]:
    """Return the facts of page one in words: the value of each, and what it is."""
    return {
        word(one.name, "en"): (cell(one.value, "en"), word(one.what, "en")) for one in key_facts(evidence)
    }


def with_tables(evidence, *views, **rows):
    """Return evidence of these views, whose files have so many rows."""
    artefacts = [{"file": f"{name}.csv", "rows": n, "columns": ["a"]} for name, n in rows.items()]
    return replace(evidence, views=views, artefacts=tuple(artefacts), measures={})


CROSSED = TableView(
    "Table",
    ("ward × arm", "a", "b", "(all)"),
    (("north", 12, Text(HIDDEN), 17), ("south", 30, 5, 35), ("(all)", 42, Text(HIDDEN), 52)),
)


def test_a_hidden_cell_is_no_released_number(sample):
    value, what = facts(with_tables(sample.public, CROSSED, counts=9))["Released numbers"]
    assert value == "7" and "2 further cells are hidden" in what


def test_of_a_table_that_is_shown_in_part_no_number_of_hidden_cells_is_said(sample):
    assert "Released numbers" not in facts(with_tables(sample.public, CROSSED, counts=900))


def test_numbers_of_all_files_are_counted(sample):
    table = TableView("Moves", ("from", "n"), (("a", 1), ("b", 2)))
    value, what = facts(with_tables(sample.public, table, moves=56, present=1274))["Released numbers"]
    assert value == "1,330" and "moves.csv" in what and "present.csv" in what


def test_points_of_a_curve_are_no_numbers_of_groups(sample):
    curve = CurveView("Density", "age", "density", (Series("all", (0.0, 1.0), (0.2, 0.3)),))
    assert "Released numbers" not in facts(with_tables(sample.public, curve, density=101))


def test_numbers_outside_their_margins_are_expected_of_all_kinds_together(sample):
    figures = {"mean": {"guesses": 19, "cells": 20}, "count": {"guesses": 1, "cells": 300}}
    assert counted_cells(replace(sample.public, measures={"utility.small_groups": figures})) == 320


@pytest.mark.parametrize(
    ("rows", "name", "count"),
    [([2300], "Rows", "2,300"), ([500, 500], "Rows in each table", "500"), ([9, 9, 30], "Rows", "48")],
)
def test_rows_of_several_tables_are_those_of_each_only_where_each_has_as_many(sample, rows, name, count):
    promise = Promise("none", None, Unit.PERSON, 1, assumptions=())
    given = replace(sample.public, promise=promise, method={**sample.public.method, "family": "dataset"})
    evidence = with_tables(given, **{f"table-{at}": n for at, n in enumerate(rows)})
    assert facts(evidence)[name][0] == count


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({}, "No condition holds"),
        ({"sensitive": "diagnosis"}, "No condition holds"),
        ({"sensitive": "diagnosis", "distinct_l": 2}, "conditions on diagnosis"),
        ({"sensitive": "diagnosis", "t": "1/5"}, "conditions on diagnosis"),
    ],
)
def test_columns_on_which_groups_fulfil_conditions_are_not_said_to_have_none(sample, terms, said):
    own = {"k": 5, "columns": "age"} | terms
    promise = Promise("k_anonymity", None, Unit.PERSON, 2, terms=own, assumptions=())
    artefacts = ({"file": "table.csv", "rows": 20, "columns": ["age", "diagnosis", "pain"]},)
    evidence = replace(sample.public, promise=promise, artefacts=artefacts)
    assert said in facts(evidence)["Left as they are"][1]


# --- the figure -----------------------------------------------------------------------------------------

QUESTIONS = TableView(
    "Questions",
    ("Level", "Node", "Column", "If so", "If not"),
    ((1, 1, "walk", 1, 2), (3, 3, "pain", 5, 6)),
)
LEAVES = TableView("Leaves", ("Leaf", "Rows", "yes, %"), ((1, 900, 20.0), (2, 30, 70.0)))
ROLES = TableView(
    "Who learns what",
    ("Who", "What they learn", "Level"),
    (("Who gets the result", "The sum of all sites.", 1.0), ("Holder", "Names, and then the result.", 38.1)),
)


def drawn(evidence, *views) -> Headline:
    found = headline(with_tables(evidence, *views, table=2))
    assert found is not None
    return found


def test_a_table_that_says_more_of_a_row_than_numbers_is_no_bars(sample):
    assert drawn(sample.public, QUESTIONS, LEAVES).view.title == "Leaves"


def test_rows_with_a_number_are_named_by_it(sample):
    assert word(drawn(sample.public, LEAVES).finding, "en") == "Largest: Leaf 1, 900; smallest: Leaf 2, 30."


def test_sentences_beside_a_name_are_no_part_of_it(sample):
    said = word(drawn(sample.public, ROLES).finding, "en")
    assert said == "Largest: Holder, 38.1; smallest: Who gets the result, 1."
    both = replace(ROLES, rows=(("Site", "a", 1.0), ("Site", "b", 2.0)))
    assert {word(one, "en") for one in drawn(sample.public, both).view.labels} == {"Site, a", "Site, b"}


def test_bars_of_totals_are_named_so(sample):
    assert word(drawn(sample.public, CROSSED).view.axis, "en") == "total"


@pytest.mark.parametrize("before", [0, 1, 2, 3])
def test_of_a_table_in_which_nothing_left_a_report_is_made(sample, before):
    """Before, of a release of short texts in which no line left there was no report."""
    within = Text("methods.statistics.counts.numbers.within_95.label")
    empty = TableView("Lines", (*"abc"[:before], "count", within), ())
    views = (empty, *(replace(view, rows=()) for view in sample.every_kind if isinstance(view, TableView)))
    for some in (views, *((one,) for one in views)):
        headline(with_tables(sample.public, *some, table=0))
        assert print_view(some[0], "words.shortened_inside")
        assert html.render(content.external(replace(sample.public, views=some)), evidence=b"{}")


@pytest.mark.with_reports
@pytest.mark.parametrize("rows", [1, 2, 12])
def test_nothing_of_a_drawing_is_cut_however_few_rows_it_has(sample, rows):
    """A drawing that was made higher than it is wide enough for lost its right side, values and axis."""
    labels = tuple(f"question {at}" for at in range(rows))
    values = tuple(400.0 + at for at in range(rows))
    low, high = (tuple(value + by for value in values) for by in (-60, 60))
    view = IntervalsView("Answers", labels, values, low, high, "Persons counted")
    first = (Headline(view, Text("report.findings.clear_none", {"all": rows})),)
    file = pdf.render(replace(content.external(sample.public), cover=first, sections=()), evidence=b"{}")
    page = PdfReader(io.BytesIO(file)).pages[0]
    begins: list[float] = []

    def visit(said, outer, inner, *_):
        begins.extend([inner[4] * outer[0] + outer[4]] if said.strip() else [])

    words = page.extract_text(visitor_text=visit)
    assert "question 0" in words and "Persons counted" in words
    assert min(begins) > 0 and max(begins) < float(page.mediabox.width) - 60


# --- what is drawn, and how exact it is ----------------------------------------------------------------

WITHIN = Text("methods.statistics.margins.numbers.within_95.label")
MOVES = TableView(
    "Moves", ("from", "to", "n", WITHIN), (("a", "b", 90.0, 9.0), ("a", "c", 85.0, 9.0), ("b", "c", 3.0, 9.0))
)


def test_properties_of_one_thing_are_no_bars_beside_each_other():
    level = Text("report.words.not_stated")
    plan = TableView("Plan", ("what", "value"), (("seeds", 4500), ("fall", 0.04), ("guarantee", level)))
    assert list(_of_table(plan)) == []
    same = TableView("Who", ("who", "level"), (("centre", 0.5), ("sites", 0.5)))
    assert list(_of_table(same)) == []
    hidden = TableView("Counts", ("ward", "n"), (("a", 4500), ("b", 12), ("c", Text(HIDDEN))))
    assert [bars.labels for bars in _of_table(hidden)] == [("a", "b")]


def test_numbers_with_margins_are_drawn_before_shades_that_have_none(sample):
    shades = HeatmapView("Arrivals", ("a", "b"), ("1", "2"), ((18.0, 1.0), (0.0, 4.0)), margin=15.0)
    drawn = headline(with_tables(sample.public, shades, MOVES, moves=3))
    assert isinstance(drawn.view, IntervalsView) and drawn.view.low[0] == 81.0
    assert word(drawn.finding, "en").startswith("a, b reads largest, 90")
    assert "2 of 3 numbers are clear of zero" in word(drawn.finding, "en")


def test_of_tables_over_some_columns_each_the_numbers_are_named_by_these():
    rows = (("f", "(all)", 60.0, 7.0), ("(all)", "north", 40.0, 7.0), ("(all)", "(all)", 100.0, 9.0))
    table = TableView("Tables", ("sex", "ward", "n", WITHIN), rows)
    (drawn,) = front._of_margins(table)
    assert drawn.labels == ("f", "north")


def with_forecast(evidence, view, of):
    named = {"quantity": "methods.statistics.density.numbers.of_even.label", "unit": "%"}
    sizes = ({"of": of, "size": 5, "limit": 1270.0}, {"of": of, "size": 1000, "limit": 6.35})
    return replace(with_tables(evidence, view), expected=tuple(named | one for one in sizes))


@pytest.mark.parametrize("of", ["group", "cell"])
def test_drawn_margins_say_how_exact_numbers_are_and_no_forecast_for_some_group(sample, of):
    x, y = (0.0, 1.0, 2.0), (0.1, 0.4, 0.2)
    ends = (tuple(one + sign * 0.02 for one in y) for sign in (-1, 1))
    curve = CurveView(
        "t", "age", "Density", (Series("s", x, y),), band=tuple(Series("b", x, e) for e in ends)
    )
    assert facts(with_forecast(sample.public, curve, of))["How exact"][0] == "±\u00a05\u00a0%"
    effects = IntervalsView("t", ("a", "b"), (1.0, 3.0), (0.5, 1.0), (1.5, 5.0), "Effect")
    assert facts(with_forecast(sample.public, effects, of))["How exact"][0] == "±\u00a00.5 to 2"
    bare = CurveView("t", "age", "Density", (Series("s", x, y),))
    assert "1,270" in facts(with_forecast(sample.public, bare, of))["How exact"][0]


def test_a_band_thinner_than_the_line_is_told_in_words():
    x, y = (0.0, 1.0, 2.0), (0.1, 0.4, 0.2)
    for reach, is_told in ((0.0015, True), (0.02, False)):
        ends = (Series("b", x, tuple(one + sign * reach for one in y)) for sign in (-1, 1))
        view = CurveView("t", "age", "Density", (Series("s", x, y),), band=tuple(ends))
        (shown,) = print_view(view)
        assert (shown.note is not None and "0.0015" in word(shown.note, "en")) is is_told


def test_a_total_that_a_slack_makes_smaller_than_one_release_says_why():
    register = {"epsilon": 40, "delta": "1/1000", "epsilon_spent": "0.5555", "releases": 1}
    assert total(register, 1).id.endswith("total_less") and "slack" in word(total(register, 1), "en")
    assert total(register | {"epsilon_spent": "1"}, 1).id.endswith("total_delta")
    assert total(register | {"delta": 0, "epsilon_spent": "1"}, 1).id.endswith("total_value")


def test_a_total_of_levels_says_where_another_release_had_none(sample):
    register = {"epsilon": 40, "delta": 0, "epsilon_spent": "1", "releases": 2, "bounds_all": False}
    assert "nothing bounds what all say together" in word(total(register, 1), "en")
    spent = facts(replace(sample.public, register=register))["Spent so far"]
    assert "nothing bounds what all say together" in spent[1]
    told = facts(replace(sample.public, register=register | {"bounds_all": True}))["Spent so far"]
    assert "nothing bounds" not in told[1]


def test_a_register_without_a_level_has_no_total_of_levels():
    register = {"epsilon": None, "delta": "0", "epsilon_spent": "0", "releases": 3, "bounds_all": False}
    said = word(total(register), "en")
    assert "no formal guarantee" in said and "releases: 3" in said and "None" not in said
    assert "No level was set" in word(total(register | {"bounds_all": True}), "en")


def test_no_column_is_said_to_leave_of_a_release_without_it(sample):
    taken = {"decision": "names_people", "column": "case_no", "reason": "asked for"}
    kept = replace(sample.kept, plan={**sample.kept.plan, "decisions": [taken]})

    def said(columns):
        return [row for part in private.decisions(kept, columns) for row in getattr(part, "rows", ())]

    assert any("case_no" in word(row[0], "en") for row in said(["ward", "case_no"]) if isinstance(row, tuple))
    assert not any("case_no" in word(row[0], "en") for row in said(["ward"]) if isinstance(row, tuple))


def test_columns_of_received_files_are_listed_where_a_setting_names_them(sample):
    column = {"name": "sums", "role": "other", "kind": "text", "source": "shares"}
    decided = {"parameters": {"study": "text"}, "columns": [column]}
    received = replace(sample.public, decided=decided)
    assert made._columns(received) == ()
    assert made._columns(replace(received, decided={**decided, "parameters": {"report": "sums"}}))
    assert made._columns(replace(received, decided={**decided, "rows_per_person": 1}))


# --- the internal report --------------------------------------------------------------------------------


def test_a_long_table_that_stays_is_not_said_to_be_in_a_file_that_leaves():
    table = TableView("Rules", ("Rule", "n"), tuple((f"rule {at}", at) for at in range(100)))
    (shown,) = print_view(table, "words.shortened_inside")
    said = word(shown.note, "en")
    assert "first 60 of 100" in said and "evidence.json" in said and "The file" not in said


def test_a_line_for_missing_values_is_not_drawn_among_the_declared_ones():
    rows = (("f", 3.0), ("m", 2.0), (aside("(missing)"), 9.0))
    (drawn,) = _of_table(TableView("t", ("sex", "value"), rows))
    assert drawn.labels == ("f", "m") and drawn.note is not None
    (whole,) = _of_table(TableView("t", ("sex", "value"), rows[:2]))
    assert whole.labels == ("f", "m") and whole.note is None


# --- figures of page one that were the bound of the promise ---------------------------------------------


def test_a_name_without_a_level_is_the_name_of_its_column(sample):
    """The weights of a direction were not drawn: a number has no level beside its column."""
    headings = ("Column", "Value", "Direction 1")
    weights = TableView(
        "Weights",
        headings,
        (("years", None, 0.8), ("grade", "A", 0.3), ("grade", "B", 0.1), ("pay", None, -0.2)),
    )
    found = drawn(sample.public, weights)
    assert [word(one, "en") for one in found.view.labels] == ["years", "grade, A", "grade, B", "pay"]
    assert word(found.finding, "en") == "Largest: years, 0.8; smallest: pay, −0.2."


def test_of_a_long_table_the_largest_are_drawn_and_what_is_said_is_of_all(sample):
    rows = tuple((f"class {at // 4}", f"reason {at % 4}", at) for at in range(40))
    found = drawn(sample.public, TableView("Rounded", ("class", "reason", "all"), rows))
    assert len(found.view.values) == 12 and min(found.view.values) == 28
    assert "12 largest of 40" in word(found.view.note, "en")
    assert "smallest: class 0, reason 0, 0." in word(found.finding, "en")


def test_a_share_of_a_study_says_why_its_figure_is_the_bound(sample):
    share = replace(sample.public, method={**sample.public.method, "id": front.SHARE}, views=())
    assert any(getattr(part, "id", "") == "report.cover.share" for part in front.front(share))
    assert not any(getattr(part, "id", "") == "report.cover.share" for part in front.front(sample.public))


def test_numbers_whose_margins_are_ranks_are_not_said_to_lie_within_them(sample):
    """Of quantiles report and README said that the exact number is no further away than the margin."""
    view = TableView("Quantiles", ("q", "value", WITHIN), (("1/2", 50.0, 3.0), ("3/4", 70.0, 3.0)))
    ranks = replace(with_tables(sample.public, view), expected=({"of": "rank", "quantity": "q", "limit": 3},))
    assert _intro(ranks) == "intro_rank" and _intro(with_tables(sample.public, view)) == "intro"
    assert own_words(ranks, "recipient").id.endswith("recipient_rank")
    assert own_words(with_tables(sample.public, view), "recipient").id.endswith("recipient")


@pytest.mark.parametrize("limit", ["1", "2"])
@pytest.mark.parametrize(("language", "forms"), [("en", ("stands", "stand")), ("de", ("steht", "stehen"))])
def test_one_on_the_wrong_side_stands_and_two_stand(limit, language, forms):
    said = texts.text("report.cover.exact_rank", language=language, limit=limit, unit="")
    assert forms[limit != "1"] in said.split()


def test_a_value_that_was_not_declared_is_not_said_to_be_left_out_where_it_has_a_cell():
    for name in ("bias", "bias_row"):
        assert "in a cell for others" in texts.text(f"report.guarantee.{name}")


def test_zeros_that_are_exact_are_not_said_to_be_larger_than_their_margin():
    """Of a zero with a margin of 0 it was said that it is larger than its margin."""
    for name in ("guesses", "guesses_worst"):
        assert "where that is above 0" in texts.text(f"report.cover.{name}", n=0, all=2)


@pytest.mark.parametrize("counted", [True, False])
def test_the_largest_counts_are_those_of_most_and_effects_go_either_way(counted):
    """Counts of −25 and −27 were drawn as two of the largest, and 9 and 11 were left out."""
    values = (*range(30, 41), 9.0, 11.0, -25.0, -27.0)
    axis = Text("methods.statistics.counts.numbers.count.label") if counted else "effect"
    ends = (tuple(value + side for value in values) for side in (-60, 60))
    view = IntervalsView("t", tuple(map(str, values)), values, *ends, axis)
    drawn = _foremost(view)
    assert len(drawn.centres) == 12 and (min(drawn.centres) == 11) is counted
    assert drawn.note.id == f"report.front.foremost{'' if counted else '_either_way'}"


@pytest.mark.parametrize("kind", ["pure_dp", "approximate_dp"])
def test_where_rows_are_protected_the_number_of_people_is_not_said_to_be_public(kind):
    for rows in ("", "_rows"):
        assert "or rows) counts as public" in word(Text(f"promises.{kind}.must_know{rows}_replace_one"), "en")
