"""What each measure answers, by hand and at its limits, and what none of them may read."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.errors import Cancelled, InputRefused
from engine.evaluation import evaluate as evaluation
from engine.evaluation import released_rows
from engine.evaluation.catalogue import choose_measures, measure, measures
from engine.evaluation.numbers import released_numbers
from engine.evaluation.protocol import (
    Audience,
    InternalMeasure,
    InternalMeasured,
    Need,
    PublicMeasure,
    PublicMeasured,
    Released,
)
from engine.methods.catalogue import methods
from engine.methods.protocol import Family, Inside, Release, Spends, TableArtefact
from engine.privacy.mechanisms import RandomisedResponse
from engine.progress import Progress
from engine.report.words import word
from engine.table.schema import Column, Role, Schema
from engine.table.table import Table
from engine.views import NumberView, TableView, Text, to_json
from tests.engine.evaluation.conftest import CAPPED, PANEL, ROWS, SCHEMA, SEX, STAY, WARD, subject_of

ERROR, GUESSES, SIZES = "utility.released_error", "utility.small_groups", "risk.group_sizes"
CAP = "utility.cap"
STATISTICS = [
    method.id
    for method in methods()
    if method.family is Family.STATISTICS
    and method.spends is not Spends.NOTHING
    and not method.counts_people  # by all of their rows: those below the cap do not answer it
    and method.id != "statistics.density"  # a curve: no number of it is one of a cell of the rows
]  # those with noise: only they have margins
ABOUT_PEOPLE = [one.id for one in methods() if any(source.shape.is_private for source in one.sources)]


def with_counts(context, counts, *, limit=None):
    """Return the context with other released counts: as if the noise had fallen so."""
    first = context.release.artefacts[0]
    frame = first.frame.assign(count=counts)
    if limit is not None:
        frame = frame.assign(within_95=limit)
    only = Release((TableArtefact(first.name, (frame,), first.dictionary),), context.release.promise)
    return replace(context, release=only)


def released(context):
    return Released(context.subject, context.release)


def shown(answer):
    """Values of the key numbers by the last part of their ids."""
    return {
        view.three.id.rsplit(".", 1)[1]: view.value for view in answer.views if isinstance(view, NumberView)
    }


def tables(answer):
    return {view.title.id.split(".")[-2]: view for view in answer.views if isinstance(view, TableView)}


def test_a_public_measure_gets_nothing_of_what_stays(made):
    context = made()
    first = replace(context.release.artefacts[0], origins=np.arange(4), further=(np.arange(4),))
    stays = Inside(figures={"people": 7}, untested=first.frame)
    release = replace(context.release, artefacts=(first,), inside=stays, state=b"told")
    found = Released(context.subject, release).release
    assert found.inside == Inside() and found.inside.untested is None and found.state is None
    (artefact,) = found.artefacts
    assert artefact.origins is None and not artefact.further
    assert artefact.frame is first.frame and found.promise == release.promise


# --- the error of this release ----------------------------------------------------------------------


def test_errors_by_hand(made):
    context = with_counts(made(), [5, 0, 0, -4], limit=3)  # exact: 3, 1, 0, 2
    answer = measure(ERROR).evaluate(context)
    assert answer.figures == {
        "counts.count": {
            "cells": 4,
            "without_exact": 0,
            "median": 1.5,
            "largest": 6.0,
            "within": 3,
            "share_within": 0.75,
        }
    }
    assert shown(answer) == {"median": 1.5, "largest": 6.0, "within": 75.0, "cells": 4}
    worst = tables(answer)["worst"]
    assert worst.headings[:2] == ("sex", "ward")
    assert worst.rows == (
        ("m", "b", -4.0, 2.0, -6.0, 3.0),
        ("f", "a", 5.0, 3.0, 2.0, 3.0),
        ("f", "b", 0.0, 1.0, -1.0, 3.0),
        ("m", "a", 0.0, 0.0, 0.0, 3.0),
    )


@pytest.mark.parametrize("name", STATISTICS)
def test_with_a_huge_budget_there_is_no_error(example, name):
    figures = measure(ERROR).evaluate(example(name, epsilon=Fraction(10**9))).figures
    assert figures
    for found in figures.values():
        assert found["largest"] == pytest.approx(0, abs=1e-6)


def test_any_value_between_two_people_is_a_median(made):
    context = made("statistics.quantiles")
    first = context.release.artefacts[0]
    for values, errors in (([4.0, 11.0], [0, 0]), ([5.5, 2.0], [0.5, 0.5]), ([0.0, 14.0], [3.0, 0])):
        frame = first.frame.assign(value=values)
        release = Release((replace(first, frames=(frame,)),), context.release.promise)
        found = measure(ERROR).evaluate(replace(context, release=release)).figures["quantiles.value"]
        assert (found["largest"], found["median"]) == (max(errors), sum(errors) / 2)


def test_totals_and_counts_beside_means_are_compared_too(made):
    assert set(measure(ERROR).evaluate(made()).figures) == {"counts.count", "totals.total"}
    answer = measure(ERROR).evaluate(made("statistics.means"))
    assert set(answer.figures) == {"means.mean", "means.count"}
    assert [row[1] for row in tables(answer)["summary"].rows] == ["means.csv", "means.csv"]


def test_a_quantile_states_its_limit_in_people_so_that_no_share_is_given(made):
    answer = measure(ERROR).evaluate(made("statistics.quantiles"))
    assert answer.figures["quantiles.value"]["within"] is None
    assert "within" not in shown(answer)
    assert all(row[-1] is None for row in tables(answer)["worst"].rows)


def test_the_capped_rows_are_compared_and_not_the_whole_table(made):
    context = made()
    fewer = Table(ROWS.rows().head(2))  # both f in a
    context = with_counts(replace(context, used=fewer), [2, 0, 0, 0])
    assert measure(ERROR).evaluate(context).figures["counts.count"]["largest"] == 0


def test_the_mean_of_nobody_is_not_compared(made):
    """By hand: f has mean 4 of four people, m has 8.25 of two, other and missing have nobody."""
    context = made("statistics.means", extra_cells="separate")
    first = context.release.artefacts[0]
    frame = first.frame.assign(mean=[5.0, 8.25, 14.0, 0.0], within_95=0.5, count=[4, 3, 2, 1])
    release = Release((replace(first, frames=(frame,)),), context.release.promise)
    answer = measure(ERROR).evaluate(replace(context, release=release))
    mean, count = answer.figures["means.mean"], answer.figures["means.count"]
    assert (mean["cells"], mean["without_exact"], mean["largest"], mean["within"]) == (2, 2, 1.0, 1)
    assert (count["cells"], count["without_exact"], count["largest"]) == (4, 0, 2.0)
    assert [row[0] for row in tables(answer)["worst"].rows] == ["f", "m"]


def test_one_cell(made):
    answer = measure(ERROR).evaluate(made("statistics.means", statistic="sum", by=[]))
    assert answer.figures["sums.sum"]["cells"] == 1
    assert len(tables(answer)["worst"].rows) == 1
    assert len(tables(answer)["worst"].headings) == 4  # nothing names the only cell


@pytest.mark.parametrize("name", STATISTICS)
def test_a_table_without_rows(example, name):
    context = example(name, empty=True)
    assert measure(ERROR).evaluate(context).figures
    assert measure(GUESSES).evaluate(released(context)) is not None


def test_a_release_without_numbers_has_nothing_to_compare(made):
    context = made()
    bare = replace(context, release=Release((), context.release.promise))
    assert measure(ERROR).evaluate(bare) == InternalMeasured()
    assert measure(GUESSES).evaluate(released(bare)) == PublicMeasured()


def test_a_method_that_draws_answers_by_lot_is_not_measured(made):
    subject = made().subject
    lot = RandomisedResponse(Fraction(3, 4), 2)
    local = replace(subject.cost, kind="local_dp", loss=replace(subject.cost.loss, events=lot))
    assert not measure(ERROR).applies(type("Local", (type(subject),), {"cost": local})(subject.request))
    assert measure(ERROR).applies(subject)


# --- numbers no better than a guess -----------------------------------------------------------------


def test_guesses_by_hand(made):
    context = with_counts(made(), [5, -2, 0, 40], limit=[4, 4, 4, 40])
    answer = measure(GUESSES).evaluate(released(context))
    assert answer.figures == {"counts.count": {"cells": 4, "guesses": 3}}  # 40 ± 40 may be zero
    assert shown(answer) == {"guesses": 3, "cells": 4}


def test_all_zero(made):
    context = with_counts(made(), [0, 0, 0, 0])
    assert measure(GUESSES).evaluate(released(context)).figures["counts.count"]["guesses"] == 4


def test_no_cell(made):
    context = made()
    first = context.release.artefacts[0]
    none = TableArtefact(first.name, (first.frame.head(0),), first.dictionary)
    answer = measure(GUESSES).evaluate(
        released(replace(context, release=Release((none,), context.release.promise)))
    )
    assert answer.figures == {"counts.count": {"cells": 0, "guesses": 0}}


def test_several_numbers_stand_in_a_table(made):
    rows = tables(measure(GUESSES).evaluate(released(made("statistics.means"))))["numbers"].rows
    assert {(row[0].id.split(".")[-2], row[1], row[2]) for row in rows} == {
        ("mean", "means.csv", 2),
        ("count", "means.csv", 2),
    }


def test_the_number_that_fares_worst_stands_first(made):
    """A mean far from zero passes although nobody can say whether anybody is in its group."""
    context = made("statistics.means")
    first = context.release.artefacts[0]
    frame = first.frame.assign(mean=[7.0, 7.0], within_95=[6.0, 8.0], count=[1, 2], count_within_95=[9, 9])
    release = Release((replace(first, frames=(frame,)),), context.release.promise)
    answer = measure(GUESSES).evaluate(released(replace(context, release=release)))
    assert shown(answer) == {"guesses": 2, "cells": 2}
    assert [(row[0].id.split(".")[-2], row[3]) for row in tables(answer)["numbers"].rows] == [
        ("count", 2),
        ("mean", 1),
    ]


def test_a_quantile_has_no_margin_of_its_own_scale(made):
    assert measure(GUESSES).evaluate(released(made("statistics.quantiles"))) == PublicMeasured()


# --- group sizes ------------------------------------------------------------------------------------


def test_group_sizes_by_hand(made):
    schema = Schema((SEX, replace(WARD, role=Role.IDENTIFYING), STAY))
    answer = measure(SIZES).evaluate(made(schema=schema))
    assert answer.figures["alone"] == 1  # f in b
    assert answer.figures["under"] == {3: 3, 5: 6, 11: 6, 20: 6}
    assert shown(answer) == {"alone": 1}
    assert [row[1:] for row in tables(answer)["under"].rows] == [
        (3, 50.0),
        (6, 100.0),
        (6, 100.0),
        (6, 100.0),
    ]


def test_nobody_is_told_that_0_are_alone_where_nothing_identifies(made):
    subject = made().subject
    bare = Schema(tuple(replace(column, role=Role.OTHER) for column in SCHEMA.columns))
    request = replace(subject.request, schemas={"people": bare})
    assert not measure(SIZES).applies(type(subject)(request))


def test_group_sizes_of_nobody(made):
    answer = measure(SIZES).evaluate(made(rows=Table(ROWS.rows().head(0))))
    assert answer.figures["people"] == 0
    assert all(row[2] is None for row in tables(answer)["under"].rows)


# --- what every measure holds to --------------------------------------------------------------------


def test_the_catalogue_finds_every_measure_once():
    found = {one.id: one.audience for one in measures()}
    assert [one.id for one in measures()] == sorted(found)
    assert {name: found[name] for name in (SIZES, CAP, ERROR, GUESSES)} == {
        SIZES: Audience.INTERNAL,
        CAP: Audience.INTERNAL,
        ERROR: Audience.INTERNAL,
        GUESSES: Audience.PUBLIC,
    }


def test_audience_and_kind_are_the_same_thing():
    for one in measures():
        assert isinstance(one, PublicMeasure) == (one.audience is Audience.PUBLIC)
        assert isinstance(one, InternalMeasure) == (one.audience is Audience.INTERNAL)
        assert one.audience is not Audience.PUBLIC or one.needs == {Need.RELEASE}


def test_a_public_measure_is_given_no_table():
    assert {part.name for part in fields(Released)} == {"subject", "release", "progress"}


@pytest.mark.parametrize("one", measures(), ids=lambda one: one.id)
def test_a_measure_reads_only_what_it_declares(one, made, example):
    context = made()
    if not one.applies(context.subject):
        context = made(rows=PANEL, schema=CAPPED)
    about = (
        name for name in ABOUT_PEOPLE if one.applies(subject_of(name))
    )  # before it is made: that takes long
    contexts = [context] if one.applies(context.subject) else map(example, about)
    said = []  # an example of one column alone has nothing to say of pairs or of who identifies
    for context in contexts:
        if one.applies(context.subject) and not any(said):
            answers = evaluation.evaluate((one,), context)
            answer = {**answers.public, **answers.internal}[one.id]
            assert "failed" not in answer.figures
            said.append(bool(answer.views))
    assert any(said)


@pytest.mark.parametrize("need", Need)
def test_what_a_measure_does_not_declare_it_does_not_get(need, made):
    class Curious(InternalMeasure):
        id = "curious"
        needs = frozenset(Need) - {need}

        def evaluate(self, context):
            return InternalMeasured((), {"read": repr(getattr(context, need.value).artefacts_or_rows)})

    answer = evaluation.evaluate((Curious(),), made()).internal["curious"]
    assert answer.figures == {"failed": "AttributeError"}
    private = made()
    assert private.only(frozenset(Need)) == private
    assert private.only(frozenset()).people is None


@pytest.mark.parametrize("name", STATISTICS)
def test_every_margin_of_every_statistic_is_found(example, name):
    """A column of the dictionary that states a 95 % limit belongs to a number, unless it counts ranks."""
    context = example(name)
    stated = {
        entry.name
        for artefact in context.release.artefacts
        for entry in artefact.dictionary
        if entry.meaning.id.endswith("within_95.what")
    }
    numbers = released_numbers(context.release)
    assert numbers
    assert {number.limit for number in numbers} - {None} == stated
    for number in numbers:
        assert np.isfinite(number.values).all()
        assert texts.has(number.label.id), number.label.id


def test_a_heading_of_the_custodian_never_passes_for_a_number(made):
    """A column called count is counted by, and one called within_95; the numbers get other headings."""
    columns = (replace(SEX, name="count"), replace(WARD, name="within_95"))
    rows = Table(ROWS.rows().rename(columns={"sex": "count", "ward": "within_95"}))
    context = made(rows=rows, schema=Schema(columns), columns=["count", "within_95"], totals=False)
    (number,) = released_numbers(context.release)
    assert (number.column, number.limit, number.keys) == ("count_", "within_95_", ("count", "within_95"))
    assert measure(ERROR).evaluate(context).figures["counts.count_"]["cells"] == 4


def test_a_failing_measure_costs_no_release_and_tells_no_value(made, monkeypatch):
    def fail(self, context):
        raise ValueError("Mrs Smith")

    monkeypatch.setattr(type(measure(ERROR)), "evaluate", fail)
    answer = evaluation.evaluate((measure(ERROR), measure(GUESSES)), made())
    assert answer.internal[ERROR].figures == {"failed": "ValueError"}
    assert "Smith" not in json.dumps(to_json(answer.internal[ERROR].views))
    assert answer.public[GUESSES].figures["counts.count"]["cells"] == 4


def test_a_public_measure_cannot_hand_out_an_internal_answer(made, monkeypatch):
    private = InternalMeasured((), {"alone": 3})
    monkeypatch.setattr(type(measure(GUESSES)), "evaluate", lambda self, context: private)
    answer = evaluation.evaluate((measure(GUESSES),), made())
    assert answer.public[GUESSES].figures == {"failed": "TypeError"}


def test_stop_stops(made):
    context = replace(made(), progress=Progress(stopped=lambda: True))
    with pytest.raises(Cancelled):
        evaluation.evaluate(measures(), context)


def test_the_second_run_of_the_method_is_told_as_evaluation(made):
    heard = []
    context = replace(made(), progress=Progress(lambda share, stage: heard.append((share, stage))))
    evaluation.evaluate(measures(), context)
    assert {stage for _, stage in heard} == {"run.evaluating"}
    assert [share for share, _ in heard] == sorted(share for share, _ in heard)


def test_a_plan_names_measures_or_gets_all_that_apply(made):
    subject = made().subject
    assert [one.id for one in choose_measures((), subject)] == [SIZES, ERROR, GUESSES]
    assert [one.id for one in choose_measures((GUESSES,), subject)] == [GUESSES]
    assert [one.id for one in choose_measures((GUESSES, SIZES, GUESSES), subject)] == [SIZES, GUESSES]
    with pytest.raises(InputRefused) as refusal:
        choose_measures(("risk.everything",), subject)
    assert refusal.value.code == "evaluation.unknown_measure"
    bare = replace(subject.request, schemas={"people": Schema((Column("ward", Role.OTHER),))})
    with pytest.raises(InputRefused) as refusal:
        choose_measures((SIZES,), type(subject)(bare))
    assert refusal.value.code == "evaluation.does_not_apply"


# --- words ------------------------------------------------------------------------------------------


def used_texts(tree):
    """Every text that an answer names, with its values."""
    if isinstance(tree, Text):
        yield tree
    elif isinstance(tree, tuple):
        for part in tree:
            yield from used_texts(part)
    elif hasattr(tree, "__dataclass_fields__"):
        for part in fields(tree):
            value = getattr(tree, part.name)
            if isinstance(tree, NumberView) and part.name == "three":
                for name in ("what", "how", "change"):
                    yield Text(f"{value.id}.{name}", value.values)
            else:
                yield from used_texts(value)


@pytest.mark.parametrize("name", ABOUT_PEOPLE)
def test_every_text_of_every_answer_can_be_said(example, name):
    context = example(name)
    answers = evaluation.evaluate(choose_measures((), context.subject), context)
    said = [
        texts.text(text.id, **text.values)
        for answer in (*answers.public.values(), *answers.internal.values())
        for text in used_texts(answer.views)
    ]
    assert len(said) > 10


def test_every_number_of_a_measure_has_its_four_texts_and_every_measure_its_title():
    for one in measures():
        base = f"measures.{one.id}"
        assert texts.has(f"{base}.title") and texts.has(f"{base}.summary")
        numbers = {
            key.split(".numbers.")[1].split(".")[0]
            for key in texts.catalogue()
            if key.startswith(f"{base}.numbers.")
        }
        assert numbers
        for number in numbers:
            for part in ("label", "what", "how", "change"):
                assert texts.has(f"{base}.numbers.{number}.{part}"), (number, part)


def test_headings_that_the_annex_explains_ask_for_no_values():
    """A heading carries no values, so the three texts of its number must do without."""
    for one in measures():
        source = inspect.getsource(inspect.getmodule(type(one)))
        headings = {key for key in texts.catalogue() if key.startswith(f"measures.{one.id}.numbers.")}
        for key in headings:
            asked = texts.placeholders(texts.catalogue()[key])
            assert not asked or ".numbers.alone." in key, key
        assert "NumberView" in source


def test_the_words_say_that_another_try_is_paid_for_and_seen():
    catalogue = texts.catalogue()
    for name in ("median", "largest", "error"):
        assert "ledger" in catalogue[f"measures.{ERROR}.numbers.{name}.change"]
    assert "ledger" in catalogue[f"measures.{ERROR}.views.worst.note"]


def test_looking_for_measures_loads_no_library_that_only_some_of_them_compute_with():
    code = (
        "import sys, engine.evaluation.catalogue as found; assert found.measures()\n"
        "print(sorted({'scipy.special', 'scipy.optimize', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_of_invented_rows_with_many_values_the_first_column_is_drawn():
    """Codes are whole numbers or lists of many: nothing of them was drawn."""
    ages = pd.DataFrame({"one": [7] * 40, "age": [*range(1, 41)], "code": [f"c{n % 20}" for n in range(40)]})
    view = released_rows._shares(ages, 1, 0.0, {}, "").views[0]
    assert word(view.labels[0], "en") == "age: 0 to 5"
    for at, label in enumerate(view.labels):
        low, high = float(label.values["low"]), float(label.values["high"])
        is_last = at == len(view.labels) - 1
        inside = (ages["age"] >= low) & ((ages["age"] <= high) if is_last else (ages["age"] < high))
        assert view.values[at] == round(100 * inside.mean())
    codes = released_rows._shares(ages[["code"]], 1, 0.0, {}, "").views[0]
    assert len(codes.labels) == released_rows.MOST_BARS and set(codes.values) == {5.0}
    years = pd.DataFrame({"since": [*range(1990, 2029), "(missing)"]})
    drawn = released_rows._shares(years, 1, 0.0, {}, "").views[0]
    assert word(drawn.labels[0], "de") == "since: 1990 bis 1995" and len(drawn.labels) == 8
    assert not released_rows._shares(ages, 30, 0.05, {}, "").views, "of real rows no rare value is named"


@pytest.mark.parametrize(("low", "high"), [(1, 14), (0, 1), (-3.2, 0.4), (99, 100_000), (5, 6.0001)])
def test_intervals_are_few_and_hold_every_number(low, high):
    edges = released_rows.interval_edges(low, high)
    widths = np.diff(edges)
    assert edges[0] <= low and edges[-1] >= high and 2 <= len(edges) <= released_rows.MOST_VALUES + 2
    assert np.allclose(widths, widths[0])


def test_groups_of_one_size_are_called_so():
    """Classes begin at 1, 2, 5, 10 …: the one from 4 holds groups of 4 alone."""
    drawn = released_rows._groups(np.array([4, 4, 13]), least=4).views[1]
    assert [word(one, "en") for one in drawn.labels] == [
        "groups of 4",
        "groups of 5 to 9",
        "groups of 10 to 19",
    ]
