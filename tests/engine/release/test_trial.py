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


def test_how_many_were_tried_is_a_count() -> None:
    plan = replace(plans(method("datasets.k_anonymity"))[0], tried=3)
    assert Plan.loads(plan.dumps()).tried == 3
    for wrong in ("-1", "true", '"3"', "0.5"):
        with pytest.raises(Exception, match=r"plan\.bad_field"):
            Plan.loads(plan.dumps().replace('"tried": 3', f'"tried": {wrong}'))
