"""Invented rows with columns of very many codes: by their groups, refused only where there are none."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.datasets import marginals
from engine.methods.datasets.marginal_model.codes import SEEN
from engine.methods.protocol import Budget, Context
from engine.privacy.promise import Neighbours
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.noise_source import seeded_noise

ID = "datasets.marginals"
CODES = tuple(f"{group:02}.{code:02}" for group in range(100) for code in range(100))
PREFIX = Hierarchy(prefix=(2,))
BUDGET = Budget(Fraction(2))


def declared(name, values, hierarchy=None):
    domain = Domain(values=tuple(values))
    return Column(name, Role.OTHER, Kind.CATEGORY, domain, Origin.DECLARED, ("?",), hierarchy=hierarchy)


CODE, SEX = declared("code", CODES, PREFIX), declared("sex", ("f", "m"))
GROUP = declared("group", [f"{group:02}***" for group in range(100)])
SCHEMA = Schema((CODE, SEX, GROUP))


def request_for(schema=SCHEMA, budget=BUDGET, **given):
    values = {"columns": ["code", "sex"], "about_rows": 20_000} | given
    return method(ID).make_request({"people": schema}, values, budget=budget)


def made(frame, seed=5, **options):
    request = request_for(**options)
    assert not method(ID)(request).problems, method(ID)(request).problems
    noise = seeded_noise(seed)
    release = method(ID)(request).run({"people": Table(frame)}, Context(noise, None, Path()))
    assert noise.counted == release.promise.drawn()
    return release


def some_rows(n=20_000, seed=1):
    """Rows of which few codes of a group are frequent, and in which groups and sexes belong together."""
    chance = np.random.default_rng(seed)
    groups = np.minimum(chance.exponential(12, n).astype(int), 99)
    within = np.minimum(chance.exponential(3, n).astype(int), 99)
    sex = np.where(chance.random(n) < np.where(groups < 8, 0.9, 0.2), "f", "m")
    return pd.DataFrame({"code": np.array(CODES)[groups * 100 + within], "sex": sex, "group": "99***"})


def test_codes_come_out_that_were_declared_and_belong_to_their_group():
    rows = some_rows()
    rows.loc[:999, "code"] = None
    release = made(rows)
    frame = release.artefacts[0].frame
    assert set(frame["code"]) <= {*CODES, "other", ""}
    assert (frame["code"] == "").mean() == pytest.approx(0.05, abs=0.01)
    known = frame[~frame["code"].isin(["other", ""])]
    women = (known["sex"] == "f").groupby(known["code"].str[:2] < "08").mean()
    assert women[True] > 0.75 and women[False] < 0.4
    shares = [table["code"].isin(CODES[:3]).mean() for table in (rows, frame)]
    assert shares[1] == pytest.approx(shares[0], abs=0.02)  # 14 deviations of the noise of three codes
    views = {row[0] if isinstance(row[0], str) else row[0].id: row for row in release.views[0].rows}
    assert views[f"methods.{ID}.views.groups"][1] == 102 and views[f"methods.{ID}.views.codes"][1] == 10_002
    assert [note.values["groups"] for note in release.notes if note.id.endswith("notes.codes")] == [100]
    meanings = {one.name: one.meaning.id for one in release.artefacts[0].dictionary}
    assert meanings == {"code": "datasets.invented_in_group", "sex": "datasets.invented"}


@pytest.mark.parametrize(
    "codes",
    [[], ["00.00"], [None] * 50, ["nowhere"] * 50, ["00.00"] * 50, [" 00.00", "?", "", "nan", "99.99", "1"]],
)
def test_whatever_the_rows_hold_a_table_comes_out(codes):
    frame = pd.DataFrame({"code": pd.Series(codes, dtype="object"), "sex": pd.Series(["f"] * len(codes))})
    found = made(frame, about_rows=50, derived=[], columns=["code", "sex"]).artefacts[0].frame
    assert len(found) >= 1 and set(found["code"]) <= {*CODES, "other", ""}


def test_many_codes_without_groups_are_refused_with_what_helps():
    bare, wide = declared("code", CODES), declared("code", CODES, Hierarchy(prefix=(4,)))
    for column in (bare, wide):
        problems = method(ID)(request_for(schema=Schema((column, SEX)))).problems
        assert [problem.code for problem in problems] == [f"{ID}.too_many_cells"]
        assert problems[0].values["groups"] == 200


def test_the_forecast_says_what_the_noise_of_a_code_is():
    request = request_for()
    forecast, schedule = method(ID)(request).forecast, method(ID)(request).schedule
    expected = {one.quantity.id: one for one in forecast.errors}[f"methods.{ID}.numbers.count.code"]
    assert expected.median == pytest.approx(np.log(2) * float(schedule.code), abs=0.5)  # a whole number
    assert expected.limit == pytest.approx(np.log(20) * float(schedule.code), abs=1)
    note = forecast.notes[-1]
    assert note.id.endswith("notes.codes")
    assert (note.values["codes"], note.values["groups"]) == (10_000, 100)
    without = method(ID)(request_for(columns=["sex", "group"])).forecast
    assert not any("code" in one.id for one in (*without.notes, *(e.quantity for e in without.errors)))


@pytest.mark.parametrize("relation", Neighbours)
def test_people_with_several_rows_and_both_relations_are_paid_for(relation):
    schema = Schema((Column("pid", Role.PERSON_KEY), *SCHEMA.columns), rows_per_person=3)
    budget = Budget(Fraction(2), neighbours=relation)
    one, several = (
        method(ID)(request_for(schema=own, budget=own_budget)).schedule
        for own, own_budget in ((SCHEMA, BUDGET), (schema, budget))
    )
    times = 3 * (2 if relation is Neighbours.REPLACE_ONE else 1)
    assert float(several.code) == pytest.approx(times * float(one.code), rel=1e-5)


def test_rules_about_codes_and_what_follows_from_them_hold_in_every_row():
    never = [
        {
            "one": {"column": "code", "is": "in", "values": list(CODES[:500])},
            "other": {"column": "sex", "is": "in", "values": ["m"]},
        },
        {
            "one": {"column": "group", "is": "in", "values": ["07***"]},
            "other": {"column": "sex", "is": "in", "values": ["f"]},
        },
    ]
    given = {"columns": ["group", "sex", "code"], "never": never, "rows": 5000}
    given["derived"] = [{"column": "group", "follows": "code"}]
    frame = made(some_rows(), **given).artefacts[0].frame
    assert len(frame) == 5000 and list(frame) == ["group", "sex", "code"]
    assert not (frame["code"].isin(CODES[:500]) & (frame["sex"] == "m")).any()
    assert frame["code"].isin(CODES[:500]).any() and (frame["group"] == "07***").any()
    assert not ((frame["group"] == "07***") & (frame["sex"] == "f")).any()
    other, absent = frame["code"] == "other", frame["code"] == ""
    assert (frame["group"][other] == "other").all() and (frame["group"][absent] == "").all()
    rest = frame[~other & ~absent]
    assert (rest["group"] == rest["code"].str[:2] + "***").all()


def off(real, frame, names):
    """Return the total variation distance of some columns together."""
    counts = [table.groupby(names).size() / len(table) for table in (real, frame)]
    return counts[0].sub(counts[1], fill_value=0).abs().sum() / 2


def test_groups_keep_what_all_codes_as_cells_of_the_model_lose(monkeypatch):
    """10,000 codes and a sex: how far groups together with the sex are off; before, and with one level."""
    rows = some_rows()
    by_groups = made(rows).artefacts[0].frame
    monkeypatch.setattr(marginals, "as_coded", lambda cells: cells)
    monkeypatch.setattr(marginals, "MOST_CELLS", 20_000)
    one_level = made(rows).artefacts[0].frame
    for table in (rows, by_groups, one_level):
        table["of"] = table["code"].str[:2]
    pairs = [off(rows, table, ["of", "sex"]) for table in (by_groups, one_level)]
    assert pairs[0] < pairs[1] / 3


def test_seventy_thousand_codes_of_a_system_run():
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    codes = [
        f"{letter}{number:02}.{rest}" for letter in letters for number in range(100) for rest in range(27)
    ]
    column = declared("code", [code for code in codes if code[0] != "U"][:67_500], Hierarchy(codes="icd10cm"))
    chance = np.random.default_rng(0)
    frame = pd.DataFrame({"code": chance.choice(codes, 5000), "sex": chance.choice(["f", "m"], 5000)})
    release = made(frame, schema=Schema((column, SEX)), about_rows=5000)
    assert len(release.artefacts[0].frame) > 3000


def test_the_share_of_a_code_is_said_to_be_as_far_off_as_one_that_is_not_seen():
    release = made(some_rows())
    (_, shares, *_related) = release.views
    rows = {getattr(row[0], "id", row[0]).rpartition(".")[2]: row[1:] for row in shares.rows}
    schedule = method(ID)(request_for()).schedule
    total = shares.note.values["rows"]
    seen = 100 * SEEN * schedule.deviation(schedule.code) / total
    assert rows["codes"][1] > 1.5 * seen > rows["codes"][0]
