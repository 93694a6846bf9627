"""The questions about what a table gives away: their figures, and what they refuse."""

import json

import pandas as pd
import pytest

from engine.__main__ import main
from engine.analyses.catalogue import analysis, ask
from engine.errors import InputRefused
from engine.methods.protocol import MAIN
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table

SCHEMA = Schema(
    (
        Column("age", Role.IDENTIFYING, Kind.INTEGER),
        Column("sex", Role.IDENTIFYING, Kind.CATEGORY),
        Column("ill", Role.SENSITIVE, Kind.CATEGORY),
        Column("key", Role.PERSON_KEY),
    )
)
ROWS = pd.DataFrame(
    {
        "age": [30, 30, 30, 41, 41, 52],
        "sex": ["f", "f", "m", "m", "m", "f"],
        "ill": ["a", "b", "a", "b", "b", "a"],
        "key": ["p1", "p2", "p3", "p4", "p5", "p6"],
    }
)


def asked(name, values=None, **tables):
    return ask(analysis(name), values or {}, tables={MAIN: Table(ROWS), **tables}, schemas={MAIN: SCHEMA})


def test_disclosure_answers_as_the_command_does():
    found = asked("disclosure").figures
    assert (found["groups"], found["alone"], found["smallest_group"]) == (4, 2, 1)
    people = Table(pd.concat([ROWS, ROWS], ignore_index=True).assign(key=range(12)))
    beside = asked("disclosure", population=people).figures
    assert beside["journalist_highest"] == 0.5
    with pytest.raises(InputRefused, match=r"risk\.population_twice"):
        asked("disclosure", {"population_size": 100}, population=people)
    with pytest.raises(InputRefused, match=r"risk\.needs_table"):
        ask(analysis("disclosure"), {})


def test_column_sets_by_hand():
    found = {tuple(one["columns"]): one for one in asked("column_sets").figures["sets"]}
    assert found[("age",)]["groups"] == 3 and found[("age",)]["alone"] == 1
    # 15 pairs; by age 3 + 1 agree, by age and sex 1 + 1
    assert found[("age",)]["separation"] == pytest.approx(11 / 15)
    assert found[("age", "sex")]["separation"] == pytest.approx(13 / 15)


def test_linkage_knows_who_is_who_by_the_key():
    other = Table(pd.DataFrame({"age": [30, 52, 41], "sex": ["m", "f", "m"], "key": ["p3", "p1", "p9"]}))
    found = asked("linkage", {"columns": ["age", "sex"]}, intruder=other).figures["exact"]
    # p3 is found; the second is linked to p6, which is wrong; the third has two candidates
    assert (found["found"], found["links"], found["right"]) == (3, 2, 1)
    unnamed = Table(other.rows().drop(columns="key"))
    assert asked("linkage", {"columns": ["age", "sex"]}, intruder=unnamed).figures["exact"]["right"] is None
    itself = asked("linkage", {"columns": ["age", "sex"]}).figures["exact"]
    assert (itself["links"], itself["right"], itself["expected"]) == (2, 2, 4.0)


def test_a_released_table_is_matched_by_key_or_by_order():
    known = {"columns": ["age", "sex"]}
    copy = asked("matching", known, released=Table(ROWS)).figures
    # p3 and p6 are alone; of the others p1 and p2, p4 and p5 share their values
    assert (copy["found"], copy["true_rate"], copy["expected_right"]) == pytest.approx((1, 2 / 6, 4 / 6))
    assert asked("matching", known).figures == copy
    backwards = ROWS.iloc[::-1].reset_index(drop=True)
    assert asked("matching", known, released=Table(backwards)).figures == copy
    unnamed = Table(backwards.drop(columns="key"))
    by_order = asked("matching", known, released=unnamed).figures
    assert by_order["false_rate"] == 1.0 and by_order["true_rate"] == 0
    with pytest.raises(InputRefused, match=r"risk\.other_rows"):
        asked("matching", known, released=Table(unnamed.rows().head(3)))
    with pytest.raises(InputRefused, match=r"table\.no_such_column"):
        asked("matching", known, released=Table(ROWS.drop(columns="age")))
    alike = pd.DataFrame({"age": [30] * 6, "sex": ["f"] * 6, "key": ROWS["key"]})
    nobody = asked("matching", known, released=Table(alike)).figures
    assert nobody["true_rate"] == 0 and nobody["expected_right"] == pytest.approx(2 / 36)


def test_published_tables_by_hand():
    found = asked("published_sums", {"tables": ["sex", "sex=m, age"], "fewest": 2}).figures
    # Of the men one is 30: given alone by his own cell, and no women's cell is small
    assert found["figures"] == 4 and found["people_alone"] == 1
    with pytest.raises(InputRefused, match=r"risk\.published_table"):
        asked("published_sums", {"tables": [" , "]})
    with pytest.raises(InputRefused, match=r"table\.no_such_column"):
        asked("published_sums", {"tables": ["shoe"]})


def test_published_tables_and_links_are_of_rows_whoever_they_belong_to():
    """Somebody with rows in two cells is in both: a set of rows was a cell of its own, called like one."""
    several = Table(ROWS.assign(key=["p1", "p2", "p3", "p1", "p2", "p3"]))
    values = {"tables": ["sex", "age"], "fewest": 2}
    found, alone = (asked("published_sums", values, **given) for given in ({MAIN: several}, {}))
    assert found.figures == alone.figures and found.figures["figures"] == 5
    assert found.views[1].rows == alone.views[1].rows
    known = {"columns": ["age", "sex"]}
    first, second = (
        asked("linkage", known, **given).figures["score"]["links"] for given in ({MAIN: several}, {})
    )
    assert first == second


def test_a_secret_that_every_cell_of_one_gives_away():
    values = {"tables": ["key", "sex"], "secret": "ill=b"}
    found = asked("published_sums", values).figures["reconstruction"]
    assert (found["accuracy"], found["baseline"]) == (1.0, 0.5)
    coarse = asked("published_sums", {"tables": ["sex"], "secret": "ill=b"}).figures["reconstruction"]
    assert coarse["accuracy"] < 1.0


def test_a_second_file_on_the_command_line(capsys, tmp_path):
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    ROWS.head(3).to_csv(tmp_path / "known.csv", index=False)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA.to_json()))
    given = ("linkage", str(tmp_path / "rows.csv"), "--schema", str(tmp_path / "schema.json"))
    given += ("--set", 'columns=["age", "sex"]', "--json")
    assert main(["analyse", *given, "--source", f"intruder={tmp_path / 'known.csv'}"]) == 0
    assert json.loads(capsys.readouterr().out)["exact"]["records"] == 3
    assert main(["analyse", *given, "--source", f"nobody={tmp_path / 'known.csv'}"]) == 2
    assert "nobody" in capsys.readouterr().err


def test_every_rule_without_a_guarantee_is_got_around_and_the_desk_is_not():
    """Right in nearly all runs, where guessing is right in half; noise that is drawn once holds its bound."""
    found = ask(analysis("count_attacks"), {"runs": 100}, tables={}, schemas={})
    attacks = found.figures["attacks"]
    assert not found.stays
    for name in ("size", "refusals", "overlap", "rounding"):
        assert attacks[name]["right"] == 1
    assert attacks["obfuscated"]["right"] > 0.98 and attacks["locked"]["right"] > 0.98
    bound = found.figures["bound"]
    assert abs(bound - 0.731) < 0.001
    assert attacks["desk"]["right"] < bound + 3 * (bound * (1 - bound) / 100) ** 0.5
    assert attacks["overlap"]["counts"] == 19 and attacks["rounding"]["counts"] <= 12
