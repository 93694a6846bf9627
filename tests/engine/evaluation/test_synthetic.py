"""Measures of invented rows: the original, columns apart and a second sample stand where they must."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.evaluation.catalogue import choose_measures, measure, measures
from engine.evaluation.protocol import Private
from engine.methods.catalogue import method
from engine.methods.protocol import Context, Inside, Release, TableArtefact
from engine.privacy.events import Sequential
from engine.privacy.noise import Noise
from engine.privacy.promise import Loss, Neighbours, Promise, Unit
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from engine.utility.games import counts_within
from engine.views import NumberView, TableView, to_json

SCHEMA = Schema(
    (
        Column("age", Role.IDENTIFYING, Kind.INTEGER),
        Column("sex", Role.IDENTIFYING, Kind.CATEGORY),
        Column("ward", Role.PLACE, Kind.CATEGORY),
        Column("ill", Role.SENSITIVE, Kind.CATEGORY),
        Column("cost", Role.SENSITIVE, Kind.NUMBER),
    )
)
KEPT, ESTIMATES = "utility.synthetic_kept", "utility.synthetic_estimates"
PREDICTIONS, COPIED = "utility.synthetic_predictions", "risk.synthetic_copied"
MATCHING, SHADOWS = "risk.synthetic_matching", "risk.synthetic_shadows"
GAMES = "utility.synthetic_games"
SYNTHETIC = (KEPT, ESTIMATES, PREDICTIONS, COPIED, MATCHING)


def people(rows, seed):
    chance = np.random.default_rng(seed)
    age = chance.integers(20, 90, rows)
    ill = np.where(chance.random(rows) < age / 100, "yes", "no")
    return pd.DataFrame(
        {
            "age": age.astype(float),
            "sex": chance.choice(["f", "m"], rows),
            "ward": chance.choice(["a", "b", "c", "d"], rows, p=[0.4, 0.3, 0.2, 0.1]),
            "ill": ill,
            "cost": np.round(10 * age + 300 * (ill == "yes") + chance.normal(0, 40, rows), 1),
        }
    )


def context(made=None, *, rows=800, origins=(), unused=400, **parameters):
    """Return what a measure gets; ``made`` stands for what the method released."""
    used = Table(people(rows, 1))
    way = method("datasets.imputation")
    request = way.make_request({"people": SCHEMA}, {"columns": [c.name for c in SCHEMA.columns]} | parameters)
    if made is None:
        release = way(request).run(
            {"people": used}, Context(Noise(), np.random.default_rng(3), Path("unused"))
        )
    else:
        table = TableArtefact("table", tuple(made), (), *origins)
        release = Release((table,), way(request).cost)
    away = Table(people(unused, 2)) if unused else None
    return Private(way(request), used, SCHEMA, used, release, held_out=away)


def shown(answer):
    return {v.three.id.rsplit(".", 1)[1]: v.value for v in answer.views if isinstance(v, NumberView)}


def lines(answer, name):
    return next(v for v in answer.views if isinstance(v, TableView) and f".{name}." in v.title.id).rows


def released_unchanged(names):
    """Return the figures of some columns that left as they are."""
    table = people(300, 1)[names]
    schema = Schema(tuple(column for column in SCHEMA.columns if column.name in table))
    way = method("datasets.imputation")
    request = way.make_request({"people": schema}, {"columns": list(table)})
    release = Release((TableArtefact("table", (table.copy(),), ()),), way(request).cost)
    subject, used = way(request), Table(table)
    return measure(KEPT).evaluate(Private(subject, used, schema, used, release, held_out=used)).figures


def test_a_table_without_a_number_is_measured_too():
    """Its amounts have no column, and so no rows: the measure stopped with an error of the program."""
    figures = released_unchanged(["sex", "ward", "ill"])
    assert figures["two_way"] == 0 and "correlation" not in figures


def test_nothing_is_said_of_pairs_where_one_column_is_compared():
    assert {name for name in released_unchanged(["ward"]) if "two_way" in name} == set()


def test_the_original_keeps_all_and_columns_apart_keep_no_relation():
    itself = context([people(800, 1)])
    kept = measure(KEPT).evaluate(itself)
    assert (
        kept.figures["two_way"] == 0 and kept.figures["similarity"] == 1 and kept.figures["correlation"] == 0
    )
    beside = kept.figures["beside"]
    assert beside["independent"]["one_way"] == 0
    assert beside["independent"]["two_way"] > beside["unused"]["two_way"] > beside["made"]["two_way"]
    assert beside["independent"]["correlation"] > 0.5


def test_the_original_keeps_every_mean_and_share_and_effect():
    """One copy of the original: its interval is √2 wider by T_s, so that (1 + 1/√2) / 2 of 100 are shared."""
    found = measure(ESTIMATES).evaluate(context([people(800, 1)]))
    assert found.figures["kept"] == pytest.approx(100 * (1 + 0.5**0.5) / 2, abs=0.06)
    assert found.figures["worst"] == found.figures["kept"]
    kinds = found.figures["by_kind"]
    assert set(kinds) == {"mean", "share", "coefficient", "group"}
    assert kinds["coefficient"]["independent"] < 50 < kinds["coefficient"]["again"]
    assert lines(found, "worst")[0][3] <= lines(found, "worst")[-1][3]


@pytest.mark.parametrize("size", [1e150, 1e160, 1e300])
@pytest.mark.parametrize("beside", [True, False])
def test_an_estimate_that_no_number_can_hold_is_counted_and_is_no_figure(size, beside, monkeypatch):
    """A figure that is none would stand in the evidence as nothing, or be taken for the worst of all."""

    def large(rows, seed):
        frame = people_as_they_are(rows, seed)
        frame["cost"] = np.where(np.arange(rows) % 2, size, -size)
        return frame if beside else frame[["cost"]]

    people_as_they_are = people
    monkeypatch.setattr(sys.modules[__name__], "people", large)
    if not beside:
        monkeypatch.setattr(sys.modules[__name__], "SCHEMA", Schema((SCHEMA.column("cost"),)))
    answer = measure(ESTIMATES).evaluate(context([large(800, 1)]))
    is_held = size < 1e154
    assert ("too_large" in answer.figures) == (not is_held)
    assert ("kept" in answer.figures) == (beside or is_held)
    assert shown(answer).get("too_large") == answer.figures.get("too_large")
    json.dumps(answer.figures, allow_nan=False)
    json.dumps(to_json(answer.views), allow_nan=False)
    if "kept" in answer.figures:
        assert answer.figures["worst"] == pytest.approx(100 * (1 + 0.5**0.5) / 2, abs=0.06)


def test_copies_with_parameters_of_their_own_are_combined_as_the_recipient_does():
    """Five copies of the original: by T_s the interval is √1.2 as wide, by that for redrawn ones √1.4."""
    rows = people(800, 1)
    plain = context([rows] * 5)
    (table,) = plain.release.artefacts
    redrawn = replace(plain, release=replace(plain.release, artefacts=(replace(table, redrawn=True),)))
    for one, wide in ((plain, 1.2), (redrawn, 1.4)):
        kept = measure(ESTIMATES).evaluate(one).figures["kept"]
        assert kept == pytest.approx(100 * (1 + wide**-0.5) / 2, abs=0.06)
    drawn = context(rows=300, unused=0, synthesiser="linear", copies=2)
    assert drawn.release.artefacts[0].redrawn and not context(rows=300, unused=0).release.artefacts[0].redrawn


def test_noise_that_no_interval_counts_is_said():
    plain = context([people(800, 1)])
    level = Loss(Fraction(1), Fraction(0), Neighbours.ADD_REMOVE, Sequential(()))
    loss = Promise("pure_dp", level, Unit.ROW, 1)
    noisy = type("Noisy", (type(plain.subject),), {"cost": loss})(plain.subject.request)
    for one, end in ((plain, ""), (replace(plain, subject=noisy), "_noisy")):
        answer = measure(ESTIMATES).evaluate(one)
        threes = {v.title.id.split(".")[-2]: v.three.id for v in answer.views if isinstance(v, NumberView)}
        for name in ("kept", "worst"):
            assert threes[name].endswith(f".{name}{end}")
            for part in ("what", "how", "change"):
                assert texts.has(f"{threes[name]}.{part}")
        worst = next(v for v in answer.views if isinstance(v, TableView))
        assert worst.note.id.endswith(f".note{end}") and texts.has(worst.note.id)


def test_learning_and_telling_apart():
    found = measure(PREDICTIONS).evaluate(context([people(800, 1)]))
    assert found.figures["loss"] == 0.0
    assert 0.4 < found.figures["told_apart"] < 0.6  # half of 400 each: three standard errors are .087
    broken = people(800, 1).assign(cost=np.random.default_rng(1).permutation(people(800, 1)["cost"]))
    worse = measure(PREDICTIONS).evaluate(context([broken]))
    assert worse.figures["loss"] > 0.1 and worse.figures["told_apart"] > 0.7


def test_the_original_is_told_entirely_and_a_second_sample_tells_nobody():
    itself = measure(COPIED).evaluate(context([people(800, 1)])).figures
    assert itself["attacks"]["copies"][0] == itself["attacks"]["copies"][2] > 0.95
    assert itself["nearness"] == 0.0 and itself["membership"] > 0.6
    assert itself["membership"] == pytest.approx(itself["nearest"]["original"]["area"], abs=0.001)
    other = measure(COPIED).evaluate(context([people(800, 3)])).figures
    assert abs(other["membership"] - 0.5) < 0.07  # 200 of each: three standard errors are .087
    assert abs(other["told"]) < 12 and 0.8 < other["nearness"] < 1.2
    assert other["nearest"]["original"]["area"] > 0.6  # the line of the original is in every table of risk


def test_attacks_that_give_most_away_stand_first():
    rows = lines(measure(COPIED).evaluate(context([people(800, 1)])), "attacks")
    gaps = [row[1].values["percent"] - row[2].values["percent"] for row in rows]
    assert gaps == sorted(gaps, reverse=True) and len(rows) == 6


def test_people_are_found_where_rows_are_theirs_and_never_where_they_are_nobodys():
    table, order = people(800, 1), np.random.default_rng(1).permutation(800)
    mixed = table.iloc[order].reset_index(drop=True)
    itself = measure(MATCHING).evaluate(context([mixed], origins=[order]))
    cases = itself.figures["cases"]
    assert cases["in_made"] == cases["in_original"] and cases["in_made"]["expected"] > 0.1
    assert cases["perhaps_made"] == cases["perhaps_original"]
    assert cases["perhaps_made"]["expected"] < cases["in_made"]["expected"]
    invented = measure(MATCHING).evaluate(context([mixed]))
    assert invented.figures["cases"]["in_made"]["expected"] == 0


def test_partly_invented_rows_are_sought_by_their_origin():
    """Everything that identifies is kept: the copies find whom the original finds."""
    found = measure(MATCHING).evaluate(context(synthesis="partial", replaced=["cost"], copies=2))
    cases = found.figures["cases"]
    assert cases["in_made"]["expected"] == pytest.approx(cases["in_original"]["expected"])
    replaced = measure(MATCHING).evaluate(context(synthesis="partial", replaced=["age", "ward"], copies=2))
    assert replaced.figures["expected"] < found.figures["expected"] / 2


@pytest.mark.parametrize("name", SYNTHETIC)
def test_without_people_kept_apart_what_can_be_told_is_told(name):
    answer = measure(name).evaluate(context([people(800, 3)], unused=0))
    assert "failed" not in answer.figures
    assert bool(answer.views) == (name != PREDICTIONS)
    if name == COPIED:
        assert all(row[2] is None for row in lines(answer, "attacks"))


@pytest.mark.parametrize("name", [*SYNTHETIC, SHADOWS, GAMES])
def test_no_table_no_row_and_few_people_cost_no_figure(name):
    empty = context([people(800, 1).head(0)], rows=800)
    for case in (
        replace(empty, release=replace(empty.release, artefacts=())),
        replace(empty, used=Table(people(1, 1).head(0)), release=empty.release),
        context([people(3, 1)], rows=3, unused=2),
    ):
        measure(name).evaluate(case)


def test_shadows_are_asked_on_demand_alone():
    subject = context([people(30, 1)], rows=30).subject
    others = {one.id for one in choose_measures((), subject)}
    assert SHADOWS not in others
    assert {one.id for one in choose_measures((SHADOWS,), subject)} == {
        SHADOWS,
        *others,
    }  # beside all that apply
    assert [one.id for one in choose_measures((SHADOWS, KEPT), subject)] == [SHADOWS, KEPT]
    assert [one.id for one in measures() if one.on_demand] == [SHADOWS, GAMES]


def test_shadows_tell_members_of_a_copy_and_nobody_of_a_second_sample():
    itself = measure(SHADOWS).evaluate(context([people(300, 1)], rows=300, unused=150, copies=1))
    assert itself.figures["shadows"] > 0.65 and itself.figures["runs"] == 12
    other = measure(SHADOWS).evaluate(context([people(300, 3)], rows=300, unused=150, copies=1))
    assert abs(other.figures["shadows"] - 0.5) < 0.1  # 150 of each: three standard errors


def test_figures_that_candidates_are_compared_by_have_words():
    for one in measures():
        for name in (*one.less_is_better, *one.more_is_better):
            assert texts.has(f"measures.{one.id}.numbers.{name}.label"), (one.id, name)


# --- games ----------------------------------------------------------------------------------------


def test_games_put_the_original_near_the_floor_and_columns_apart_far_off():
    itself = measure(GAMES).evaluate(context([people(800, 3)]))
    chance = np.random.default_rng(1)
    apart = people(800, 3).apply(lambda column: chance.permutation(column.to_numpy()))
    far = measure(GAMES).evaluate(context([apart]))
    assert itself.figures["told"] < 0.2 and itself.figures["told_real"] < 0.2
    assert far.figures["told"] > 0.5 and far.figures["within"] > 1.1 * itself.figures["within"]
    assert itself.figures["agreed"] > far.figures["agreed"] + 0.1
    assert abs(itself.figures["accuracy"]) < 0.05 and far.figures["accuracy"] < -0.1
    again = measure(GAMES).evaluate(context([apart]))
    assert again.figures == far.figures and again.views == far.views
    assert "model_loss" not in far.figures  # nothing was tested


def test_the_loss_of_a_test_is_told_from_that_of_the_model():
    """Rows before the test are like people, and the test lets women alone pass; then the other way about."""
    like_people, women = people(800, 5), people(1600, 6).query("sex == 'f'").head(700)
    for before, made, larger in (
        (like_people, women, "filtering_loss"),
        (women, women, "model_loss"),
    ):
        one = context([made])
        release = replace(one.release, inside=Inside(untested=before))
        found = measure(GAMES).evaluate(replace(one, release=release)).figures
        other = ({"model_loss", "filtering_loss"} - {larger}).pop()
        assert found[larger] > 0.4 and found[other] < 0.2


def test_counts_within_groups_by_hand():
    own = {"sex": np.array([0, 0, 0, 1, 1]), "ill": np.array([0, 1, 1, 0, 0])}
    made = {"sex": np.array([0, 0, 0, 0]), "ill": np.array([0, 0, 1, 0])}
    found = counts_within(own, made, ["sex"], least=2)
    assert [(one.group[1], one.of[1], one.rows, one.made) for one in found] == [
        (0, 0, 3, 7500),
        (0, 1, 3, 2500),
        (1, 0, 2, None),
    ]
    assert [one.original for one in found] == pytest.approx([10_000 / 3, 20_000 / 3, 10_000])
    assert found[2].off == found[2].original and found[0].off == pytest.approx(7500 - 10_000 / 3)


def test_a_table_of_names_alone_is_judged_too():
    """No column of amounts, as in a table of codes: correlations are left out, the rest is said."""
    names = Schema(tuple(column for column in SCHEMA.columns if column.kind is Kind.CATEGORY))
    case = context([people(800, 3)])
    case = replace(
        case,
        schema=names,
        used=Table(people(800, 1)[["sex", "ward", "ill"]]),
        release=replace(
            case.release,
            artefacts=(TableArtefact("table", (people(800, 3)[["sex", "ward", "ill"]],), ()),),
        ),
        held_out=None,
    )
    found = measure(KEPT).evaluate(case).figures
    assert 0 < found["two_way"] < 0.1 and "correlation" not in found
