"""k-anonymity: every released group is large enough, and nothing of the original order or rows leaves."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.methods.datasets import rollup
from engine.methods.protocol import Context
from engine.privacy.noise import Noise, ordinary_generator
from engine.release.plan import Plan
from engine.release.run import run
from engine.release.verify import verify
from engine.table.hierarchies import ALL, Hierarchy
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from engine.texts import explain

ID = "datasets.k_anonymity"
RECODING = [one.name for one in method(ID).parameters].index("recoding")
EXAMPLE = Path(__file__).parents[4] / "resources" / "examples" / f"{ID}.json"
SCHEMA = Schema(
    (
        Column("pid", Role.PERSON_KEY),
        Column("name", Role.DIRECT_IDENTIFIER),
        Column("age", Role.IDENTIFYING, Kind.INTEGER, hierarchy=Hierarchy(bands=(5, 20))),
        Column("town", Role.PLACE, Kind.CATEGORY, hierarchy=Hierarchy(prefix=(2,)), missing=("?",)),
        Column("seen", Role.TIME, Kind.DATE),
        Column("result", Role.SENSITIVE, Kind.NUMBER),
    ),
    rows_per_person=3,
)


def table(rows=400, seed=1):
    chance = np.random.default_rng(seed)
    return Table(
        pd.DataFrame(
            {
                "pid": [f"p{value}" for value in chance.integers(0, rows // 2, rows)],
                "name": [f"Name {value}" for value in range(rows)],
                "age": chance.integers(18, 90, rows).astype(float),
                "town": chance.choice(["8010", "8020", "1010", "?"], rows),
                "seen": pd.to_datetime("2020-01-01") + pd.to_timedelta(chance.integers(0, 700, rows), "D"),
                "result": chance.normal(size=rows),
            }
        )
    )


def made(given, rows=None, tmp_path=Path(), schema=SCHEMA):
    found = method(ID)
    request = found.make_request({"people": schema}, given)
    assert not found(request).problems, found(request).problems
    context = Context(Noise(), ordinary_generator(), tmp_path)
    return found(request).run({"people": rows if rows is not None else table()}, context), request


@pytest.mark.parametrize("k", [2, 5, 20])
@pytest.mark.parametrize("share", [0, 0.1])
def test_every_group_has_k_people(k, share, tmp_path):
    given = {"columns": ["age", "town", "seen", "result"], "k": k, "most_left_out": share}
    release, _ = made(given, tmp_path=tmp_path)
    frame, original = release.artefacts[0].frame, table().rows()
    # Results are all different here, so each released row is found again, and with it its person.
    owner = dict(zip(map(repr, map(float, original["result"])), original["pid"], strict=True))
    people = frame.assign(person=[owner[repr(float(value))] for value in frame["result"]])
    sizes = people.groupby(["age", "town", "seen"], dropna=False)["person"].nunique()
    assert sizes.min() >= k
    left = 1 - people["person"].nunique() / original["pid"].nunique()
    assert left <= share and release.inside.figures["smallest_group"] == sizes.min()


def test_order_names_and_missing_codes_do_not_leave(tmp_path):
    release, _ = made({"columns": ["town", "result"], "k": 2}, tmp_path=tmp_path)
    frame = release.artefacts[0].frame
    assert list(frame.columns) == ["town", "result"] and "?" not in set(frame["town"])
    same = [str(float(value)) for value in table().rows()["result"]]
    assert frame["result"].tolist() != same and sorted(frame["result"]) == sorted(same)
    assert list(frame.index) == list(range(len(frame)))


@pytest.mark.parametrize("rows", [0, 1, 20])
@pytest.mark.parametrize("columns", [["age"], ["age", "town", "seen", "result"]])
@pytest.mark.parametrize("recoding", method(ID).parameters[RECODING].choices)
def test_too_few_people_are_refused_in_words(recoding, columns, rows, tmp_path):
    few = table(20).with_rows(table(20).rows().iloc[:rows])
    with pytest.raises(InputRefused) as caught:
        made({"columns": columns, "k": 30, "recoding": recoding}, few, tmp_path=tmp_path)
    assert "30" in explain(caught.value)[0]


def test_values_that_read_alike_are_one_value(tmp_path):
    schema = Schema((Column("job", Role.IDENTIFYING), Column("result", Role.SENSITIVE)))
    rows = Table(pd.DataFrame({"job": ["a"] * 3, "result": ["x", " x", "x "]}))
    with pytest.raises(InputRefused) as caught:
        made({"columns": ["job", "result"], "k": 2, "distinct_l": 2}, rows, tmp_path, schema)
    assert caught.value.code == "grouping.one_value"


def test_groups_are_counted_again_as_they_read(tmp_path):
    """Whatever made them: here a hierarchy that splits again what a step had put together."""
    tree = {"a": ("*", "a"), "b": ("g", "a"), "": ("a", "b")}
    schema = Schema((Column("job", Role.IDENTIFYING, Kind.CATEGORY, hierarchy=Hierarchy(tree=tree)),))
    rows = Table(pd.DataFrame({"job": ["a", "x", "b", "b", "b"]}))
    with pytest.raises(InputRefused) as caught:
        made({"columns": ["job"], "k": 2, "recoding": "groups"}, rows, tmp_path, schema)
    assert caught.value.code == "run.promise_differs"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"columns": ["result"], "k": 5}, "grouping.nothing_identifying"),
        ({"columns": ["age"], "k": 1}, "parameters.too_small"),
        ({"columns": ["age"]}, "parameters.unfilled"),
        ({"columns": ["pid", "age"], "k": 5}, "parameters.identifier"),
        ({"columns": ["name", "age"], "k": 5}, "parameters.identifier"),
    ],
)
def test_what_is_refused_from_declarations(given, code):
    found = method(ID)
    assert found(found.make_request({"people": SCHEMA}, given)).problems[0].code == code


def test_the_example_is_made_verified_and_true(tmp_path):
    plan = Plan.loads(EXAMPLE.read_text())
    ledger = Ledger(tmp_path / "ledger.sqlite")
    run(plan, out=tmp_path / "out", ledger=ledger, base=EXAMPLE.parent)
    assert verify(tmp_path / "out", ledger=ledger).passed
    frame = pd.read_csv(tmp_path / "out" / "release" / "table.csv", dtype=str, keep_default_na=False)
    assert frame.groupby(["age", "gender", "race"]).size().min() >= 11
    evidence = json.loads((tmp_path / "out" / "release" / "evidence.json").read_text())
    assert evidence["promise"]["kind"] == "k_anonymity" and evidence["promise"]["epsilon"] is None


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"k": 90_000}, "grouping.too_few"),
        ({"k": 90_000, "recoding": "groups", "several_rows": "as_a_set"}, "grouping.too_few"),
        ({"distinct_l": 900}, "grouping.not_fulfilled"),
        ({"k": 300, "average_risk": "0.0001", "most_left_out": 0}, "grouping.too_many_left_out"),
    ],
)
def test_what_cannot_be_made_is_said_before_anything_is_written(given, code, tmp_path):
    plan = Plan.loads(EXAMPLE.read_text())
    plan = replace(plan, parameters={**plan.parameters, **given})
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(InputRefused) as caught:
        run(plan, out=tmp_path / "out", ledger=ledger, base=EXAMPLE.parent)
    assert caught.value.code == code and all(explain(caught.value))
    assert not (tmp_path / "out").exists()
    assert [path.name for path in tmp_path.iterdir() if "ledger" not in path.name] == []


ILL = Schema(
    (
        Column("age", Role.IDENTIFYING, Kind.INTEGER, hierarchy=Hierarchy(bands=(5, 20))),
        Column("town", Role.PLACE, Kind.CATEGORY, hierarchy=Hierarchy(tree={"a": ("x",), "b": ("x",)})),
        Column("ill", Role.SENSITIVE, Kind.CATEGORY),
        Column("same", Role.SENSITIVE, Kind.CATEGORY),
        Column("stage", Role.OTHER, Kind.INTEGER),
    )
)
CONDITIONS = {
    "distinct_l": ({"distinct_l": 3}, lambda found, own: found.distinct >= 3),
    "entropy_l": ({"entropy_l": "2.5"}, lambda found, own: found.entropy >= 2.5 - 1e-9),
    "recursive_l": ({"recursive_l": 2, "recursive_c": 2}, lambda found, own: found.recursive[2] < 2),
    "average_risk": ({"average_risk": "0.05"}, lambda found, own: own.people.mean() >= 20),
}


def ill_people(rows=300, seed=5):
    chance = np.random.default_rng(seed)
    return Table(
        pd.DataFrame(
            {
                "age": chance.integers(20, 70, rows).astype(str),
                "town": chance.choice(["a", "b", "c"], rows),
                "ill": chance.choice(["v", "w", "y", "z"], rows, p=[0.55, 0.25, 0.15, 0.05]),
                "same": ["one"] * rows,
                "stage": np.arange(rows).astype(str),
            }
        )
    )


def made_of(given, rows, tmp_path):
    found = method(ID)
    request = found.make_request({"people": ILL}, given)
    assert not found(request).problems, found(request).problems
    context = Context(Noise(), ordinary_generator(), tmp_path)
    return found(request).run({"people": rows}, context), request


EACH = [
    (name, recoding)
    for name in (*CONDITIONS, "t", "beta")
    for recoding in ("whole_columns", "groups")
    if (name, recoding) != ("average_risk", "groups")  # asked for of whole columns alone
]


@pytest.mark.parametrize(("name", "recoding"), EACH)
def test_conditions_hold_in_the_released_table_and_stand_in_the_promise(name, recoding, tmp_path):
    from engine.risk.encoding import encode
    from engine.risk.groups import group_rows
    from engine.risk.sensitive import closeness, diversity, sensitive_counts

    asked, holds = CONDITIONS.get(name, ({"t": "0.15"} if name == "t" else {"beta": "0.8"}, None))
    given = {"columns": ["age", "town", "ill"], "k": 3, "recoding": recoding, **asked}
    if holds is None:  # measured against everybody, so nobody is left out
        given["most_left_out"] = 0
    release, _ = made_of(given, ill_people(), tmp_path)
    assert name in release.promise.terms and release.promise.terms["k"] == 3
    table = encode(Table(release.artefacts[0].frame), ILL, columns=["age", "town", "ill"])
    groups = group_rows(table, ["age", "town"])
    counts = sensitive_counts(groups, table.columns["ill"])
    assert groups.smallest >= 3
    if holds is not None:
        assert holds(diversity(counts, groups), groups)
    else:
        close = closeness(counts)
        assert close.t <= 0.15 + 1e-9 if name == "t" else close.beta <= 0.8 + 1e-9


@pytest.mark.parametrize("recoding", ["whole_columns", "groups"])
@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"columns": ["age", "same"], "distinct_l": 2}, "grouping.one_value"),
        ({"columns": ["age", "ill"], "distinct_l": 9}, "grouping.not_fulfilled"),
        ({"columns": ["age"], "k": 500}, "grouping.too_few"),
    ],
)
def test_what_no_table_fulfils_is_said(asked, code, recoding, tmp_path):
    from engine.errors import InputRefused
    from engine.texts import explain

    with pytest.raises(InputRefused) as caught:
        made_of({"k": 2, "recoding": recoding, **asked}, ill_people(), tmp_path)
    assert caught.value.code == code and explain(caught.value)[1]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"columns": ["age", "stage"], "k": 2, "t": "0.2"}, "grouping.nothing_sensitive"),
        ({"columns": ["age"], "k": 2, "sensitive": ["ill"], "t": "0.2"}, "grouping.not_released"),
        ({"columns": ["age"], "k": 2, "weights": {"town": 2}}, "grouping.not_released"),
        ({"columns": ["age"], "k": 2, "least_steps": {"town": 1}}, "grouping.not_released"),
        ({"columns": ["age"], "k": 2, "least_steps": {"age": 9}}, "grouping.no_such_step"),
        ({"columns": ["age"], "k": 2, "loss": "target", "target": "ill"}, "grouping.not_released"),
        ({"columns": ["age"], "k": 2, "loss": "target"}, "parameters.unfilled"),
    ],
)
def test_conditions_are_checked_from_declarations(asked, code):
    found = method(ID)
    assert found(found.make_request({"people": ILL}, asked)).problems[0].code == code


@pytest.mark.parametrize("recoding", ["whole_columns", "groups"])
def test_nothing_is_finer_than_the_step_that_was_asked_for(recoding, tmp_path):
    given = {"columns": ["age", "town"], "k": 2, "recoding": recoding}
    finer, _ = made(given, tmp_path=tmp_path)
    coarse, _ = made({**given, "least_steps": {"age": 2}}, tmp_path=tmp_path)
    twenty = set(Hierarchy(bands=(5, 20)).at([str(age) for age in range(18, 90)], 2)) | {ALL}
    ages = [set(one.artefacts[0].frame["age"]) for one in (finer, coarse)]
    assert not ages[0] <= twenty and ages[1] <= twenty
    sizes = coarse.artefacts[0].frame.value_counts()
    assert sizes.min() >= 2


def test_values_that_a_hierarchy_misses_are_named_inside_only(tmp_path):
    release, _ = made_of({"columns": ["age", "town"], "k": 3}, ill_people(), tmp_path)
    named = [view for view in release.inside.views if view.title.id == "grouping.views.unknown.title"]
    count = int((ill_people().rows()["town"] == "c").sum())
    assert named[0].rows == (("town", "c", count),)
    assert all("unknown" not in view.title.id for view in release.views)


def test_groups_that_foretell_a_column(tmp_path):
    """Illness hangs on the town alone: ages go before towns do, whatever else that loses."""
    rows = ill_people()
    frame = rows.rows().assign(ill=["v" if town == "a" else "w" for town in rows.rows()["town"]])
    given = {"columns": ["age", "town", "ill"], "k": 30, "most_left_out": 0}
    schema = Schema(
        tuple(
            replace(one, hierarchy=Hierarchy(tree={"a": ("a",), "b": ("b",), "c": ("b",)}))
            if one.name == "town"
            else one
            for one in ILL.columns
        )
    )
    told, _ = made({**given, "loss": "target", "target": "ill"}, rows.with_rows(frame), tmp_path, schema)
    assert told.inside.figures["loss"] == 0
    groups = told.artefacts[0].frame.groupby(["age", "town"])["ill"]
    assert groups.nunique().max() == 1 and groups.size().min() >= 30


def test_numbers_that_do_not_fit_lose_the_same(tmp_path, monkeypatch):
    """People with several rows in any order: groups of people and of rows are the same groups."""
    given = {"columns": ["age", "town", "seen"], "k": 3, "most_left_out": 0.1}
    fits = made(given, tmp_path=tmp_path)[0].inside.figures
    monkeypatch.setattr(rollup, "_BITS", 0)
    assert made(given, tmp_path=tmp_path)[0].inside.figures == fits


FINER = ("finer", "open_groups", "predicates", "alone")


def view_of(release, name):
    return next(view for view in release.inside.views if view.title.id == f"grouping.views.{name}.title")


def test_the_custodian_sees_why_this_table_and_who_was_left_out(tmp_path):
    given = {"columns": ["age", "town", "ill"], "k": 8, "most_left_out": 0.2, "distinct_l": 2}
    release, _ = made_of(given, ill_people(), tmp_path)
    frame, figures = release.artefacts[0].frame, release.inside.figures
    left_out = len(ill_people().rows()) - len(frame)
    assert figures["left_out"] == left_out > 0 and figures["given_away"] >= 0
    assert sum(line[3] for line in view_of(release, "left_out").rows if line[0] == "town") == left_out
    losses = [line[1] for line in view_of(release, "losses").rows]
    assert sum(losses) / len(losses) == pytest.approx(figures["loss"], abs=1e-4)
    for name, step, out, loss, why in view_of(release, "finer").rows:
        assert step >= 0 and name in ("age", "town")
        if why.id.endswith("leaves_out"):
            assert out > 0.2 * 300 and loss is None
        if why.id.endswith("loses_more"):
            assert out <= 0.2 * 300 and loss >= figures["loss"]


def test_local_recoding_shows_the_attack_on_it(tmp_path):
    release, _ = made_of(
        {"columns": ["age", "town", "ill"], "k": 5, "recoding": "groups"}, ill_people(), tmp_path
    )
    figures = release.inside.figures
    assert 0 <= figures["refinement_right"] <= 1 and 0 <= figures["refinement_known"] <= 1
    assert figures["refinement_fit"] >= figures["smallest_group"]
    assert 0 <= figures["downcoding_alone"] <= figures["downcoding_predicates"]
    rows = ill_people().with_rows(pd.DataFrame({"town": ["a", "b", "c", "c"]}))
    few, _ = made_of({"columns": ["town"], "k": 2, "recoding": "groups"}, rows, tmp_path)
    assert sorted(few.artefacts[0].frame["town"]) == ["c", "c", "x", "x"]  # two towns below x: one each
    shown = [line[1] for line in view_of(few, "downcoding").rows]
    assert shown == [0.5, 1, 2, 2] == [few.inside.figures[f"downcoding_{name}"] for name in FINER]
    assert not any("left_out" in view.title.id for view in release.inside.views)


@pytest.mark.parametrize("words", [("nan", ""), ("inf", ""), ("-inf", "inf"), ("a ", "a"), ("nan", "nan ")])
def test_values_of_a_group_are_counted_as_they_leave(words, tmp_path):
    ill = Column("ill", Role.SENSITIVE, Kind.CATEGORY)
    schema = Schema((Column("sex", Role.IDENTIFYING, Kind.CATEGORY), ill))
    rows = pd.DataFrame({"sex": ["f", "m"] * 60, "ill": "b"})
    rows.loc[rows["sex"] == "f", "ill"] = [words[place % 2] for place in range(60)]
    rows.loc[1::4, "ill"] = "c"
    given = {"columns": ["sex", "ill"], "k": 3, "distinct_l": 2}
    release, _ = made(given, Table(rows), tmp_path, schema)
    frame = release.artefacts[0].frame
    assert len(frame) == 120 and frame.groupby("sex", dropna=False)["ill"].nunique().min() >= 2
    written = {word.strip() for word in words}
    assert set(frame["ill"]) == {"b", "c", *written}
    assert (frame["sex"].nunique() == 2) is (len(written) == 2)  # where two read alike, groups are joined


@pytest.mark.parametrize("asked", [{"distinct_l": 2}, {"entropy_l": "1.5"}, {"recursive_l": 2}])
@pytest.mark.parametrize("spelt", [("1", "01"), ("1", "1.0"), ("+1", "1e0"), ("flu", "FLU"), ("a b", "a  b")])
@pytest.mark.parametrize(
    ("named", "further"),
    [
        ("datasets.k_anonymity", {}),
        ("datasets.k_anonymity", {"recoding": "groups"}),
        ("datasets.partition", {}),
    ],
)
def test_two_spellings_are_no_two_values_of_a_group(named, further, spelt, asked, tmp_path):
    """Who has one of them has the value that both say, and everybody knows it."""
    ill = Column("ill", Role.SENSITIVE, Kind.CATEGORY)
    schema = Schema((Column("sex", Role.IDENTIFYING, Kind.CATEGORY), ill))
    words = {"f": spelt, "m": ("b", "c")}
    sex = ["f", "m"] * 60
    rows = Table(pd.DataFrame({"sex": sex, "ill": [words[one][at // 2 % 2] for at, one in enumerate(sex)]}))
    given = {"columns": ["sex", "ill"], "k": 3, **further, **asked, "t": 1, "beta": 1000}
    request = method(named).make_request({"people": schema}, given)
    release = method(named)(request).run({"people": rows}, Context(Noise(), ordinary_generator(), tmp_path))
    frame = release.artefacts[0].frame
    assert len(frame) == 120 and set(frame["ill"]) == {*spelt, "b", "c"}
    assert frame["sex"].nunique() == 1  # all together: those of one sex would have one value


@pytest.mark.parametrize("named", ["datasets.k_anonymity", "datasets.partition"])
def test_values_that_read_alike_are_told_where_they_are_counted(named, tmp_path):
    ill = Column("ill", Role.SENSITIVE, Kind.CATEGORY)
    schema = Schema((Column("age", Role.IDENTIFYING, Kind.INTEGER), ill))
    words = ("hiv", "HIV", "flu")
    rows = Table(pd.DataFrame({"age": range(90), "ill": [words[place % 3] for place in range(90)]}))
    for given, told in (({"distinct_l": 2}, 2), ({}, None)):
        request = method(named).make_request({"people": schema}, {"columns": ["age", "ill"], "k": 5, **given})
        context = Context(Noise(), ordinary_generator(), tmp_path)
        assert (
            method(named)(request).run({"people": rows}, context).inside.figures.get("alike_values") == told
        )
