"""Settings tried before a release: for methods without a bound alone, from the rows that would be read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from engine.methods.catalogue import method, methods
from engine.methods.protocol import MAIN, Method, Spends
from engine.privacy.promise import promise_kind
from engine.release.examples import plans
from engine.release.plan import Plan
from engine.release.reading import read_all
from engine.release.trial import can_be_tried, trial
from engine.table.table import Table

TRIED = [one for one in methods() if one.tries]


def table_of(plan: Plan, one: Method) -> Table:
    return read_all(plan, one.reads(), base=Path("resources/examples"))[MAIN].table


def test_some_method_is_tried() -> None:
    assert "datasets.k_anonymity" in {one.id for one in TRIED}


@pytest.mark.parametrize("one", methods(), ids=lambda one: one.id)
def test_only_a_method_without_a_bound_is_tried(one: Method) -> None:
    names = {parameter.name for parameter in one.parameters}
    assert set(one.tries) <= names
    if one.tries:
        assert one.spends is Spends.NOTHING
        assert not any(promise_kind(kind).bounded for kind in one.promises)


@pytest.mark.parametrize("one", TRIED, ids=lambda one: one.id)
def test_the_example_is_tried_and_nothing_is_tried_of_nothing(one: Method) -> None:
    plan = plans(one)[0]
    found = trial(plan, table_of(plan, one))
    assert found is not None and found.answers and found.lines == 0
    for name in one.tries:
        kept = {key: value for key, value in plan.parameters.items() if key != name}
        asked = next(parameter for parameter in one.parameters if parameter.name == name)
        if asked.default is None and not asked.optional:
            assert can_be_tried(replace(plan, parameters=kept)) is None


def test_a_method_that_is_not_tried_is_not() -> None:
    plan = plans(method("statistics.counts"))[0]
    assert can_be_tried(plan) is None


def test_the_first_rows_of_each_person_are_looked_at() -> None:
    plan = plans(method("datasets.k_anonymity"))[0]
    table = table_of(plan, method(plan.method))
    found: Any = trial(plan, table)
    rows = table.rows()
    again = table.with_rows(pd.concat([rows, rows.iloc[::-1]], ignore_index=True))
    twice: Any = trial(plan, again)  # one row a person may leave: the rows that follow change nothing
    assert found.answers == twice.answers
    assert found.answers[0].people == rows["patient_nbr"].nunique()
    assert twice.drawn_anew, "the release draws which of the two rows leaves"
    one_each = table.with_rows(rows.drop_duplicates("patient_nbr"))
    alone: Any = trial(plan, one_each)
    assert not alone.drawn_anew


def test_how_many_were_tried_is_a_count() -> None:
    plan = replace(plans(method("datasets.k_anonymity"))[0], tried=3)
    assert Plan.loads(plan.dumps()).tried == 3
    for wrong in ("-1", "true", '"3"', "0.5"):
        with pytest.raises(Exception, match=r"document\.whole"):
            Plan.loads(plan.dumps().replace('"tried": 3', f'"tried": {wrong}'))


# --- each kind of answer against the rows -----------------------------------------------------------


def example(method_id: str, **parameters: Any) -> tuple[Plan, Table]:
    plan = plans(method(method_id))[0]
    plan = replace(plan, parameters={**plan.parameters, **parameters})
    return plan, table_of(plan, method(method_id))


def test_who_stands_alone_is_counted_after_each_step() -> None:
    steps = [
        {"step": "generalise", "column": "age", "level": 1},
        {"step": "drop", "column": "race"},
        {"step": "suppress_cells", "k": 5},
    ]
    plan, table = example("datasets.masking", steps=steps)
    found: Any = trial(plan, table)
    (standing,) = found.answers
    rows = table.rows().drop_duplicates("patient_nbr").astype("str")
    ladder = plan.schema.column("age").hierarchy
    assert ladder is not None

    def alone(names: list[str], frame: pd.DataFrame) -> int:
        sizes = frame.groupby(names, dropna=False)["patient_nbr"].nunique()
        return int((sizes == 1).sum())

    coarser = rows.assign(age=ladder.at(rows["age"].tolist(), 1))
    assert standing.people == len(rows) and standing.columns == ("age", "gender", "race")
    assert standing.before == alone(["age", "gender", "race"], rows) > 0
    assert [count for _, count in standing.after] == [
        alone(["age", "gender", "race"], coarser),
        alone(["age", "gender"], coarser),
        0,
    ]


def test_a_line_that_is_not_finished_is_left_out_of_the_count() -> None:
    done = {"step": "generalise", "column": "age", "level": 1}
    for wrong in ({"step": "noise", "column": "age"}, {"step": "truncate", "column": "nowhere", "keep": 2}):
        plan, table = example("datasets.masking", steps=[done, wrong])
        found: Any = trial(plan, table)
        assert found.lines == 1 and len(found.answers[0].after) == 1
    plan, table = example("datasets.masking", steps=[])
    nothing: Any = trial(plan, table)
    assert nothing.lines == 0 and nothing.answers[0].after == ()


def test_the_rules_to_be_ticked_are_those_of_the_rows() -> None:
    plan, table = example("datasets.rule_hiding", support=0.2, confidence=0.6, longest=2)
    given = [
        {"when": "readmitted is NO", "then": "race is Caucasian"},
        {"when": "insulin = No", "then": "change = No"},
    ]
    plan = replace(plan, parameters={**plan.parameters, "rules": given})
    found: Any = trial(plan, table)
    (choices,) = found.answers
    rows = table.rows().drop_duplicates("patient_nbr").astype("str").replace("?", pd.NA)
    columns, wanted = plan.parameters["columns"], {}
    for when in columns:
        for then in columns:
            if when == then:
                continue
            both = rows.groupby([when, then]).size()
            for (left, right), count in both.items():
                sure = count / (rows[when] == left).sum()
                if count >= 0.2 * len(rows) and sure >= 0.6:
                    wanted[f"{when} = {left} → {then} = {right}"] = (count, round(sure, 3))
    assert {line[0]: line[1:] for line in choices.rows} == wanted and choices.found == len(wanted) > 5
    ticked = {choices.rows[at][0]: place for at, place in enumerate(choices.taken) if place is not None}
    assert ticked["insulin = No → change = No"] == 1
    for record in choices.records:  # what a tick writes is what the method reads
        one = replace(plan, parameters={**plan.parameters, "rules": [record]})
        assert not method(plan.method)(one.request).problems


def test_the_cells_are_those_that_a_release_would_hide() -> None:
    plan, table = example("statistics.protected_table")
    found: Any = trial(plan, table)
    (shown,) = found.answers
    (cells,) = shown.tables
    rows = table.rows().drop_duplicates("patient_nbr").astype("str")
    counts = pd.crosstab(rows["age"], rows["readmitted"], margins=True, margins_name="(all)")
    for row, line in zip(cells.rows, cells.cells, strict=True):
        for column, cell in zip(cells.columns, line, strict=True):
            assert cell.value == counts.loc[row, column]
            small = 0 < cell.value < 11
            assert (cell.state == "small") == small
            assert cell.state == "printed" or cell.low <= cell.value <= cell.high
            assert not small or cell.high >= 11
    assert shown.threshold == 11 and any(cell.state == "protects" for line in cells.cells for cell in line)


def test_a_table_of_three_columns_is_one_for_each_value_of_the_third() -> None:
    plan, table = example("statistics.protected_table", columns=["gender", "readmitted", "age"])
    found: Any = trial(plan, table)
    (shown,) = found.answers
    assert len(shown.tables) == 11 and shown.tables[0].name == "age: [0-10)"
    assert {len(one.cells) for one in shown.tables} == {3}
    rounded, _ = example("statistics.protected_table", form="controlled_rounding")
    nothing: Any = trial(rounded, table)
    assert nothing.answers == ()
