"""Invented rows: rules hold, masks do not bias, nothing of the rows or their order leaves by accident."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.methods.catalogue import method
from engine.methods.protocol import Context
from engine.privacy.noise import Noise
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from engine.texts import explain

ID = "datasets.imputation"
SCHEMA = Schema(
    (
        Column("pid", Role.PERSON_KEY),
        Column("came", Role.TIME, Kind.DATE),
        Column("went", Role.TIME, Kind.DATE),
        Column("sex", Role.IDENTIFYING, Kind.CATEGORY),
        Column("diagnosis", Role.SENSITIVE, Kind.CATEGORY),
        Column("age", Role.IDENTIFYING, Kind.INTEGER),
        Column("room", Role.OTHER, Kind.NUMBER),
        Column("drugs", Role.OTHER, Kind.NUMBER),
        Column("bill", Role.OTHER, Kind.NUMBER),
        Column("note", Role.OTHER, Kind.TEXT),
    ),
    rows_per_person=50,
)
RULES = {
    "in_order": [{"first": "came", "second": "went"}],
    "never": [
        {
            "one": {"column": "sex", "is": "in", "values": ["m"]},
            "other": {"column": "diagnosis", "is": "in", "values": ["birth"]},
        }
    ],
    "sums": [{"total": "bill", "parts": ["room", "drugs"]}],
}
ALL = ["came", "went", "sex", "diagnosis", "age", "room", "drugs", "bill"]


def table(rows=1500, seed=1):
    chance = np.random.default_rng(seed)
    came = pd.to_datetime("2020-01-01") + pd.to_timedelta(chance.integers(0, 700, rows), "D")
    sex = chance.choice(["f", "m"], rows)
    birth = (sex == "f") & (chance.random(rows) < 0.3)
    room, drugs = np.round(chance.gamma(2, 100, rows), 2), np.round(chance.gamma(1, 50, rows), 2)
    return Table(
        pd.DataFrame(
            {
                "pid": [f"p{value}" for value in range(rows)],
                "came": came,
                "went": came + pd.to_timedelta(chance.geometric(0.2, rows), "D"),
                "sex": sex,
                "diagnosis": np.where(birth, "birth", chance.choice(["asthma", "fracture"], rows)),
                "age": chance.integers(18, 90, rows).astype(float),
                "room": room,
                "drugs": drugs,
                "bill": np.round(room + drugs, 2),
                "note": "free",
            }
        )
    )


def request_for(given):
    return method(ID).make_request({"people": SCHEMA}, given)


def made(given, rows=None, seed=3):
    found, request = method(ID), request_for(given)
    assert not found(request).problems, found(request).problems
    context = Context(Noise(), np.random.default_rng(seed), Path())
    return found(request).run({"people": rows if rows is not None else table()}, context)


def test_no_row_breaks_a_rule_and_what_was_mended_is_counted():
    release = made({"columns": ALL, "copies": 2, **RULES})
    for frame in release.artefacts[0].frames:
        assert (frame["came"] <= frame["went"]).all()
        assert not ((frame["sex"] == "m") & (frame["diagnosis"] == "birth")).any()
        total = frame["room"].astype(float) + frame["drugs"].astype(float)
        assert np.allclose(frame["bill"].astype(float), total)
    assert release.inside.figures["drawn_again"] > 0
    assert release.inside.figures["original_rows_broken"] == 0


@pytest.mark.parametrize("kind", ["linear", "ranks", "forest", "network"])
def test_every_kind_of_model_keeps_the_rules_and_draws_every_kind_of_column(kind):
    given = {"columns": ALL, "copies": 2, "synthesiser": kind, "estimates": ["age"], **RULES}
    release = made(given, table(400))
    for frame in release.artefacts[0].frames:
        assert (frame["came"] <= frame["went"]).all()
        assert set(frame["diagnosis"]) <= {"asthma", "birth", "fracture"}
        assert abs(frame["age"].astype(float).mean() - 53.5) < 5
    proper = kind in ("linear", "ranks")
    assert release.notes[0].id == f"methods.{ID}.notes.{'full_redrawn' if proper else 'full'}"
    partial = {"synthesis": "partial", "replaced": ["diagnosis"], "synthesiser": kind, "copies": 1}
    assert made({"columns": ALL, **partial}, table(400)).notes[0].id == f"methods.{ID}.notes.partial_alone"


def test_regressions_and_networks_refuse_more_levels_than_they_can_tell_apart():
    rows = Table(pd.DataFrame({"sex": [f"v{place % 300}" for place in range(3000)], "age": np.arange(3000)}))
    made({"columns": ["age", "sex"], "copies": 1}, rows)
    with pytest.raises(InputRefused) as refused:
        made({"columns": ["age", "sex"], "copies": 1, "synthesiser": "linear"}, rows)
    assert refused.value.code == f"{ID}.too_many_levels" and refused.value.values["most"] == 200


def test_rows_are_numbered_anew_and_no_person_key_leaves():
    frame = made({"columns": ALL, "copies": 1}).artefacts[0].frame
    assert list(frame.columns) == ["synthetic_row", *ALL]
    assert frame["synthetic_row"].tolist() == [f"S{place}" for place in range(1, len(frame) + 1)]
    assert all(str(dtype).startswith("str") for dtype in frame.dtypes)


def test_no_column_stands_in_the_order_of_the_rows():
    """Two independent orders of 72 ages agree in about 1 of 72 places; 5 % is beyond 10 standard errors."""
    rows = table()
    frame = made({"columns": ["age", "sex"], "copies": 1}, rows).artefacts[0].frame
    assert (frame["age"].astype(float) == rows.rows()["age"]).mean() < 0.05


@pytest.mark.parametrize(("training", "unbiased"), [("inside", True), ("outside", False)])
def test_a_mask_on_the_column_itself_leaves_the_mean_where_it_was(training, unbiased):
    rows = table(6000)
    mask = {"age": {"column": "age", "is": "at_least", "value": 60}}
    given = {"columns": ["age", "sex"], "synthesis": "partial", "masks": mask, "training": training}
    release = made(given | {"copies": 20}, rows)
    true = rows.rows()["age"]
    means = np.array([frame["age"].astype(float).mean() for frame in release.artefacts[0].frames])
    error = means.std(ddof=1) / np.sqrt(len(means))
    assert bool(abs(means.mean() - true.mean()) < 3 * error) is unbiased


def test_only_the_rows_of_the_mask_are_replaced():
    rows = Table(table(3000).rows().assign(room=np.arange(3000.0)))
    mask = {"age": {"column": "age", "is": "at_least", "value": 80}}
    release = made({"columns": ["age", "room"], "synthesis": "partial", "masks": mask, "copies": 1}, rows)
    frame = release.artefacts[0].frame
    by_room = dict(zip(rows.rows()["room"], rows.rows()["age"], strict=True))
    before = frame["room"].astype(float).map(by_room)
    after = frame["age"].astype(float)
    assert (after[before < 80] == before[before < 80]).all()
    assert (after[before >= 80] >= 80).all() and (after[before >= 80] != before[before >= 80]).any()


def test_copies_differ():
    frames = made({"columns": ["age", "sex", "room"], "copies": 3}).artefacts[0].frames
    assert len({frame.to_csv() for frame in frames}) == 3


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"columns": ["age", "note"]}, "parameters.kind"),
        ({"columns": ["age"]}, "parameters.too_small"),
        ({"columns": ["age", "sex"], "copies": 0}, "parameters.too_small"),
        ({"columns": ["age", "sex"], "synthesis": "partial"}, f"{ID}.nothing_replaced"),
        ({"columns": ["age", "sex"], "order": ["age"]}, f"{ID}.order"),
        ({"columns": ["age", "sex"], "synthesiser": "kernel"}, f"{ID}.kernel"),
        ({"columns": ["age", "sex"], "estimates": ["room"]}, f"{ID}.not_released"),
        ({"columns": ["came", "age"], "in_order": [{"first": "came", "second": "age"}]}, f"{ID}.no_order"),
        (
            {
                "columns": ["age", "sex"],
                "synthesis": "partial",
                "training": "every_row",
                "masks": {"age": {"column": "age", "is": "at_least", "value": 60}},
            },
            f"{ID}.every_row",
        ),
    ],
)
def test_what_cannot_work_is_said_before_a_row_is_read(given, code):
    assert code in [problem.code for problem in method(ID)(request_for(given)).problems]


def test_a_plan_with_the_withdrawn_kind_is_told_which_to_choose():
    (problem,) = method(ID)(request_for({"columns": ["age", "sex"], "synthesiser": "kernel"})).problems
    what, do = explain(problem)
    assert "“kernel”" in what and "“forest”" in do


@pytest.mark.parametrize(
    ("given", "rows", "code"),
    [
        ({"columns": ["age", "sex"]}, 30, "too_few"),
        (
            {
                "columns": ["age", "sex"],
                "synthesis": "partial",
                "masks": {"age": {"column": "age", "is": "at_least", "value": 1}},
            },
            900,
            "mask",
        ),
        (
            {
                "columns": ["age", "sex"],
                "synthesis": "partial",
                "masks": {"age": {"column": "age", "is": "at_least", "value": 500}},
            },
            900,
            "mask",
        ),
        ({"columns": ALL, "in_order": [{"first": "went", "second": "came"}]}, 900, "contradicted"),
    ],
)
def test_what_only_the_rows_tell_is_said_before_anything_is_drawn(given, rows, code):
    with pytest.raises(InputRefused) as refused:
        made(given, table(rows))
    assert refused.value.code == f"{ID}.{code}"


def test_ten_thousand_levels_are_refused_in_words():
    rows = Table(pd.DataFrame({"sex": [f"v{place % 3000}" for place in range(9000)], "age": 1.0}))
    with pytest.raises(InputRefused) as refused:
        made({"columns": ["age", "sex"], "least_people": 1}, rows)
    assert refused.value.code == f"{ID}.too_many_levels"


@pytest.mark.parametrize(
    ("odd", "code"),
    [
        ({"sex": ["f"] * 90}, "one_value"),
        ({"sex": [None] * 90}, "all_missing"),
        ({"age": [50.0] * 90}, "one_value"),
        ({"age": [np.nan] * 90}, "all_missing"),
        ({"sex": [f"v{place}" for place in range(90)]}, "all_rare"),
    ],
)
def test_a_column_that_says_the_same_of_every_row_is_refused_in_words(odd, code):
    frame = pd.DataFrame({"sex": np.resize(["f", "m"], 90), "age": np.arange(90.0) % 30, "room": 1.0} | odd)
    given = {"columns": ["age", "sex"], "copies": 1}
    with pytest.raises(InputRefused) as refused:
        made(given, Table(frame))
    assert refused.value.code == f"{ID}.{code}"
    assert refused.value.values["columns"] == next(iter(odd))
    stays = {"columns": ["age", "sex", "room"], "synthesis": "partial", "replaced": ["age"], "copies": 1}
    if "age" not in odd:  # what is not replaced may say what it likes
        made(stays, Table(frame))


def test_all_columns_without_variety_are_named_together():
    frame = pd.DataFrame({"sex": ["f"] * 90, "diagnosis": ["a"] * 90, "age": np.arange(90.0)})
    with pytest.raises(InputRefused) as refused:
        made({"columns": ["age", "sex", "diagnosis"], "copies": 1}, Table(frame))
    assert refused.value.values["columns"] == "sex, diagnosis"


def test_one_value_with_missing_ones_is_drawn():
    frame = pd.DataFrame({"sex": np.resize(["f", None], 400), "age": np.resize([np.nan, 50.0], 400)})
    drawn = made({"columns": ["age", "sex"], "copies": 1}, Table(frame)).artefacts[0].frame
    assert set(drawn["sex"]) == {"f", ""} and set(drawn["age"]) == {"50", ""}


def declared(name, kind, **domain):
    return Column(name, Role.OTHER, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


def invented(frame, *columns, **given):
    """Return the first copy of a table of a few columns."""
    names = [column.name for column in columns]
    request = method(ID).make_request({"people": Schema(columns)}, {"columns": names, "copies": 1, **given})
    assert not method(ID)(request).problems, method(ID)(request).problems
    context = Context(Noise(), np.random.default_rng(3), Path())
    return method(ID)(request).run({"people": Table(frame)}, context).artefacts[0].frame


GROUP = Column("group", Role.OTHER, Kind.CATEGORY)


@pytest.mark.parametrize(
    "sums",
    [
        [{"total": "bill", "parts": ["bill"]}],
        [{"total": "bill", "parts": ["room"]}, {"total": "room", "parts": ["bill"]}],
        [{"total": "bill", "parts": ["room"]}, {"total": "bill", "parts": ["drugs"]}],
        [{"total": "age", "parts": ["bill"]}, {"total": "bill", "parts": ["room"]}],
    ],
)
def test_a_total_is_never_computed_from_the_original_column_of_another_total(sums):
    found = method(ID)(request_for({"columns": ALL, "sums": sums})).problems
    assert {problem.code for problem in found} == {f"{ID}.total_of_totals"}


def test_a_number_that_few_people_have_does_not_leave_as_it_is():
    incomes = np.random.default_rng(1).integers(0, 10**8, 300)
    frame = pd.DataFrame({"income": incomes, "group": np.resize(["a", "b"], 300)})
    made_rows = invented(frame, Column("income", Role.OTHER, Kind.INTEGER), GROUP)
    assert pd.to_numeric(made_rows["income"]).isin(incomes).mean() < 0.05


def test_rows_of_one_person_make_no_value_common():
    pid = np.repeat(np.arange(300), 10)
    income = np.random.default_rng(1).integers(0, 10**8, 300)[pid]
    frame = pd.DataFrame({"pid": pid, "income": income, "group": np.resize(["a", "b"], 3000)})
    columns = (Column("pid", Role.PERSON_KEY), Column("income", Role.OTHER, Kind.INTEGER), GROUP)
    request = method(ID).make_request(
        {"people": Schema(columns, rows_per_person=10)}, {"columns": ["income", "group"], "copies": 1}
    )
    context = Context(Noise(), np.random.default_rng(3), Path())
    made_rows = method(ID)(request).run({"people": Table(frame)}, context).artefacts[0].frame
    held = pd.to_numeric(made_rows["income"]).isin(income).mean()
    assert held < 0.2  # the ends of a leaf stay in half of the draws


def test_a_number_known_in_fewer_rows_than_a_leaf_is_left_empty():
    known = np.where(np.arange(1000) == 7, 123456.0, np.nan)
    frame = pd.DataFrame({"income": known, "group": np.resize(["a", "b"], 1000)})
    assert set(invented(frame, Column("income", Role.OTHER, Kind.NUMBER), GROUP)["income"]) == {""}


def test_a_mask_of_fewer_rows_than_a_leaf_is_refused():
    frame = pd.DataFrame({"income": np.arange(1000.0), "group": np.resize(["a", "b"], 1000)})
    mask = {"income": {"column": "income", "is": "at_least", "value": 999}}
    with pytest.raises(InputRefused) as caught:
        invented(frame, Column("income", Role.OTHER, Kind.NUMBER), GROUP, synthesis="partial", masks=mask)
    assert caught.value.code == f"{ID}.mask_few"


@pytest.mark.parametrize("step, low", [(Fraction(2), 1), (Fraction(1, 4), 0), (Fraction(4), 0)])
def test_drawn_numbers_are_on_the_declared_steps_within_the_bounds(step, low):
    count = 2000
    high = low + step * count - step / 2
    values = [float(low + step * place) for place in range(count)]
    values[5] = 1e9  # outside
    frame = pd.DataFrame({"x": values, "group": np.resize(["a", "b"], count)})
    made_rows = invented(
        frame, declared("x", Kind.NUMBER, minimum=Fraction(low), maximum=high, step=step), GROUP
    )
    found = pd.to_numeric(made_rows["x"])
    assert found.between(low, float(high)).all()
    assert (((found - low) / float(step)) % 1 == 0).all()


def test_numbers_with_declared_values_are_drawn_from_these_alone():
    frame = pd.DataFrame({"x": np.resize([1, 2, 9], 2000), "group": np.resize(["a", "b"], 2000)})
    made_rows = invented(frame, declared("x", Kind.INTEGER, values=("1", "2", "9")), GROUP)
    assert set(made_rows["x"]) == {"1", "2", "9"}


def test_numbers_too_large_for_single_precision_are_numbers():
    chance = np.random.default_rng(1)
    frame = pd.DataFrame({"x": np.exp(chance.normal(size=500) * 150), "y": chance.normal(size=500) * 1e307})
    numbers = [Column(name, Role.OTHER, Kind.NUMBER) for name in ("x", "y")]
    made_rows = invented(frame, *numbers)
    assert np.isfinite(made_rows[["x", "y"]].astype(float)).all(axis=None)


def test_rows_that_no_draw_can_mend_are_not_left_out_in_numbers():
    chance = np.random.default_rng(1)
    group = np.where(chance.random(1000) < 0.12, "b", "a")
    frame = pd.DataFrame({"x": np.where(group == "b", 5.0, chance.integers(10, 20, 1000)), "group": group})
    only_b = {"column": "group", "is": "in", "values": ["b"]}
    never = [{"one": only_b, "other": {"column": "x", "is": "at_least", "value": 8}}]
    partial = {"synthesis": "partial", "masks": {"x": only_b}, "training": "outside"}
    with pytest.raises(InputRefused) as caught:
        invented(frame, Column("x", Role.OTHER, Kind.NUMBER), GROUP, never=never, **partial)
    assert caught.value.code == f"{ID}.not_mended"


@pytest.mark.parametrize("cap", [1, 2])
def test_intervals_of_rows_that_one_person_may_repeat_are_said_to_be_too_narrow(cap):
    schema, given = replace(SCHEMA, rows_per_person=cap), {"columns": ["age", "room"], "estimates": ["age"]}
    request = method(ID).make_request({"people": schema}, given)
    context = Context(Noise(), np.random.default_rng(3), Path())
    notes = method(ID)(request).run({"people": table(300)}, context).notes
    said = [one for one in notes if one.id == f"methods.{ID}.notes.several_rows"]
    assert [one.values["most"] for one in said] == ([] if cap == 1 else [cap])
