"""Rows beside a table that hides something of the same people leave only with a reason, and the reverse."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from engine import texts
from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.privacy import keys
from engine.release import seconded
from engine.release.earlier import read_told, shows_rows
from engine.release.rows_beside import ROWS_BESIDE, beside
from engine.release.run import prepare, run
from engine.table.schema import Column, Domain, Kind, Origin, Role
from tests.engine.methods.examples_run import ran
from tests.engine.methods.statistics.test_protected_table import COUNTS, people_table, plan_for, stays
from tests.engine.release.test_earlier import forget, month

WHY = {"decision": ROWS_BESIDE, "reason": "Both go to the same team."}


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite")


def released(tmp_path, ledger, kind, name, frame, columns=("age", "gender"), **changes):
    path = people_table(frame, tmp_path, f"{name}.csv")
    plan = plan_for(path, {"columns": list(columns), "seconds": 1}, f"Release {name}")
    if kind == "rows":
        ways = method("datasets.pseudonyms")
        parameters = {"columns": list(columns)}
        plan = replace(plan, method=ways.id, method_version=ways.version, parameters=parameters)
    return run(replace(plan, **changes), out=tmp_path / name, ledger=ledger, base=tmp_path)


@pytest.mark.parametrize("kinds", [("table", "rows"), ("rows", "table")], ids="-".join)
def test_whatever_leaves_second_needs_a_reason_that_is_kept(tmp_path, ledger, kinds):
    frame = stays(COUNTS)
    first = released(tmp_path, ledger, kinds[0], "one", frame)
    with pytest.raises(InputRefused) as caught:
        released(tmp_path, ledger, kinds[1], "two", frame, ("age", "gender", "readmitted"))
    (named,) = caught.value.values["titles"]
    assert caught.value.code == "run.rows_beside" and named.values["title"] == "Release one"
    assert "--reason rows_beside" in texts.explain(caught.value)[1] and not (tmp_path / "two").exists()
    assert [one.state for one in ledger.entries()] == ["complete", "freed"]
    made = released(tmp_path, ledger, kinds[1], "two", frame, decisions=(WHY,))
    (told,) = [one for one in ledger.journal() if ROWS_BESIDE in str(one)]
    assert WHY["reason"] in str(told)
    report = (made.folder / "internal" / "report-internal.html").read_text()
    assert WHY["reason"] in report and texts.text(f"report.decisions.kinds.{ROWS_BESIDE}") in report
    if kinds[0] == "rows":  # of rows nothing is kept but the names of their columns
        kept = json.loads(ledger.told(first.entry))
        assert kept["files"] == {} and set(kept["parameters"]) == {"columns"}
        assert {"age", "gender"} <= set(kept["parameters"]["columns"])


def test_what_has_one_column_of_several_in_common_or_other_people_is_not_asked(tmp_path, ledger):
    frame = month(31)
    released(tmp_path, ledger, "table", "one", frame)
    released(tmp_path, ledger, "rows", "two", frame, ("age", "readmitted"))
    others = month(32, 300)
    others["patient_nbr"] += 10**7
    released(tmp_path, ledger, "rows", "three", others)


@pytest.mark.parametrize("kinds", [("table", "rows"), ("rows", "table")], ids="-".join)
@pytest.mark.parametrize(
    "written", [("age", "AGE"), ("age", "A_ge"), ("\u00e2ge", "a\u0302ge"), ("age", "\uff41ge")], ids=ascii
)
def test_a_column_is_the_same_however_another_export_writes_its_name(tmp_path, ledger, kinds, written):
    """Else the same table, exported in capitals, showed in rows what was hidden, and nobody was asked."""
    frame = stays(COUNTS)
    path = people_table(frame, tmp_path, "stays.csv")

    def made(kind, name, age):
        schema = plan_for(path, {}, name).schema
        columns = tuple(replace(one, name=age) if one.name == "age" else one for one in schema.columns)
        schemas = {"people": replace(schema, columns=columns)}
        named = frame.rename(columns={"age": age})
        released(tmp_path, ledger, kind, name, named, (age, "gender"), schemas=schemas)

    made(kinds[0], "one", written[0])
    with pytest.raises(InputRefused, match="rows_beside"):
        made(kinds[1], "two", written[1])


def with_names(tmp_path, ledger, kind, name, frame, names):
    """Release a file some of whose columns have other names."""
    schema = plan_for(people_table(stays(COUNTS), tmp_path, f"{name}.csv"), {}, name).schema
    there = (one for one in schema.columns if one.name in frame)
    columns = tuple(replace(one, name=names.get(one.name, one.name)) for one in there)
    own, schemas = (
        [names.get(one, one) for one in ("age", "gender")],
        {"people": replace(schema, columns=columns)},
    )
    released(tmp_path, ledger, kind, name, frame.rename(columns=names), own, schemas=schemas)


@pytest.mark.parametrize(
    ("kinds", "change"), [(("table", "rows"), "other keys"), (("rows", "table"), "nine in ten rows")]
)
@pytest.mark.guarantee
def test_columns_under_other_names_are_asked_about(tmp_path, ledger, kinds, change):
    """Else the same file with headings of another language showed in rows what was hidden."""
    frame = stays(COUNTS)
    with_names(tmp_path, ledger, kinds[0], "one", frame, {})
    again = frame.copy()
    if change == "other keys":
        again["patient_nbr"] = [str(9_000_000 + row) for row in range(len(again))]
    else:
        again = again[[row % 10 > 0 for row in range(len(again))]]
    with pytest.raises(InputRefused, match="rows_beside"):
        with_names(tmp_path, ledger, kinds[1], "two", again, {"age": "alter", "gender": "geschlecht"})


@pytest.mark.parametrize(
    ("kinds", "names"),
    [(("table", "rows"), {}), (("rows", "table"), {"age": "alter", "gender": "geschlecht"})],
    ids=["same", "others"],
)
@pytest.mark.guarantee
def test_a_narrow_table_under_other_keys_is_asked_about(tmp_path, ledger, kinds, names):
    """No part of its rows tells it, since the key is in all; what its columns hold does."""
    frame = stays(COUNTS).drop(columns=["encounter_id"])
    with_names(tmp_path, ledger, kinds[0], "one", frame, {})
    again = frame.assign(patient_nbr=[str(9_000_000 + row) for row in range(len(frame))])
    with pytest.raises(InputRefused, match="rows_beside"):
        with_names(tmp_path, ledger, kinds[1], "two", again, names)


def test_the_window_can_ask_about_columns_under_other_names_once_the_release_was_refused(tmp_path, ledger):
    frame = stays(COUNTS)
    released(tmp_path, ledger, "table", "one", frame)
    ways = method("datasets.pseudonyms")
    plan = plan_for(tmp_path / "one.csv", {"columns": ["readmitted"]}, "Rows")
    rows = replace(plan, method=ways.id, method_version=ways.version)
    assert not beside(rows, ledger, rows.design, places=())
    assert beside(rows, ledger, rows.design, places=(), was_refused=True)["count"] == 1


def test_another_file_about_the_same_people_is_not_asked_about(tmp_path, ledger):
    """Its columns have other names since they are others."""
    frame = stays(COUNTS)
    with_names(tmp_path, ledger, "table", "one", frame, {})
    other, draw = frame.copy(), random.Random(3)
    other["encounter_id"] = [str(row) for row in range(len(other))]
    for name in ("age", "gender", "readmitted"):  # what somebody else answered
        other[name] = draw.choices(sorted(set(frame[name])), k=len(other))
    names = {"age": "age_of_partner", "gender": "partner", "readmitted": "seen", "encounter_id": "visit"}
    with_names(tmp_path, ledger, "rows", "two", other, names)


@pytest.mark.parametrize("kinds", [("table", "rows"), ("rows", "table")], ids="-".join)
@pytest.mark.guarantee
def test_what_a_table_sums_is_a_column_of_it(tmp_path, ledger, kinds):
    """Rows with a column of its cells and what it sums give the totals that were hidden with a small cell."""
    frame = stays(COUNTS)
    frame["days"] = [str(1 + row % 14) for row in range(len(frame))]
    days = Column("days", Role.SENSITIVE, Kind.INTEGER, Domain(Fraction(1), Fraction(14)), Origin.DECLARED)
    path = people_table(frame, tmp_path, "stays.csv")

    def made(kind, name, columns):
        plan = plan_for(path, {"columns": ["age", "gender"], "of": "days", "seconds": 1}, f"Release {name}")
        schema = plan.schemas["people"]
        plan = replace(plan, schemas={"people": replace(schema, columns=(*schema.columns, days))})
        if kind == "rows":
            ways = method("datasets.pseudonyms")
            parameters = {"columns": list(columns)}
            plan = replace(plan, method=ways.id, method_version=ways.version, parameters=parameters)
        return run(plan, out=tmp_path / name, ledger=ledger, base=tmp_path)

    made(kinds[0], "one", ["age", "days"])
    with pytest.raises(InputRefused, match="rows_beside"):
        made(kinds[1], "two", ["age", "days"])
    if kinds[0] == "table":
        made("rows", "three", ["days", "readmitted"])


def test_a_column_that_was_made_counts_as_its_source(tmp_path, ledger):
    frame = stays(COUNTS)
    released(tmp_path, ledger, "rows", "one", frame)
    step = {"step": "recode", "column": "age", "map": {"[40-50)": "forty"}, "to": "years"}
    with pytest.raises(InputRefused, match="rows_beside"):
        released(tmp_path, ledger, "table", "two", frame, ("years", "gender"), preparation=(step,))


def test_rows_of_which_nothing_is_known_are_found_in_their_folder_or_asked_about(tmp_path, ledger):
    frame = stays(COUNTS)
    first = released(tmp_path, ledger, "rows", "one", frame, ("readmitted",))
    forget(ledger)
    released(tmp_path, ledger, "table", "two", frame)  # its folder lies beside
    assert ledger.told(first.entry) == read_told(first.folder)


def test_what_is_made_at_the_same_moment_or_was_killed_is_asked_about(tmp_path, ledger, monkeypatch):
    frame = stays(COUNTS)
    with monkeypatch.context() as killed:
        killed.setattr("engine.release.run._write", lambda *_: 1 / 0)
        killed.setattr("engine.release.run._close", lambda *_: None)
        with pytest.raises(ZeroDivisionError):
            released(tmp_path, ledger, "rows", "one", frame)
    assert [one.state for one in ledger.entries()] == ["spent"]
    with pytest.raises(InputRefused, match="rows_beside"):
        released(tmp_path, ledger, "table", "two", frame)


def test_features_count_as_the_columns_that_they_are_made_of():
    """They have names of their own, and a table after them is asked about as one before them is."""
    ((plan, folder),) = ran(method("datasets.features"))
    made_of = {*plan.parameters["columns"], plan.parameters["utility"], plan.parameters["hidden"]}
    kept = json.loads(read_told(folder))
    named = {one for one in kept["parameters"]["columns"] if not one.startswith("feature_")}
    assert kept["files"] == {} and named == made_of


def test_which_ways_show_rows_of_people():
    ways = ("datasets.masking", "datasets.k_anonymity", "datasets.imputation", "datasets.marginals")
    assert [shows_rows(method(one)) for one in ways] == [True, True, True, False]
    assert not shows_rows(method("statistics.protected_table"))
    without_noise = ("datasets.communities", "datasets.linked_imputation")
    assert [shows_rows(method(one)) for one in without_noise] == [True, True]
    assert not shows_rows(method("datasets.linked"))


@pytest.mark.guarantee
def test_it_is_asked_before_a_second_person_approves(tmp_path, ledger, monkeypatch):
    monkeypatch.setattr(keys, "_ARGON2", {"iterations": 1, "lanes": 1, "memory_cost": 64})
    released(tmp_path, ledger, "table", "one", stays(COUNTS))
    (holding,) = ledger.holdings()
    seconded.name_person(ledger, holding, name="Ada", role="approve", passphrase="a long passphrase")
    ways = method("datasets.pseudonyms")
    plan = plan_for(tmp_path / "one.csv", {}, "Rows")
    parameters = {"columns": ["age", "gender"]}
    rows = replace(plan, method=ways.id, method_version=ways.version, parameters=parameters)
    with pytest.raises(InputRefused, match="rows_beside"):
        prepare(rows, ledger=ledger, base=tmp_path)
    prepare(replace(rows, decisions=(WHY,)), ledger=ledger, base=tmp_path)
    assert [one.state for one in ledger.entries()] == ["complete", "prepared"]
    assert WHY["reason"] not in str(ledger.journal())  # it is said with the release


def test_the_window_asks_what_the_run_asks(tmp_path, ledger):
    frame = stays(COUNTS)
    released(tmp_path, ledger, "table", "one", frame)
    plan = plan_for(tmp_path / "one.csv", {"columns": ["age"]}, "Rows")
    ways = method("datasets.pseudonyms")
    for columns, count in ((["age", "gender"], 1), (["age"], 0)):
        parameters = {"columns": columns}
        rows = replace(plan, method=ways.id, method_version=ways.version, parameters=parameters)
        assert beside(rows, ledger, rows.design, places=()).get("count", 0) == count
