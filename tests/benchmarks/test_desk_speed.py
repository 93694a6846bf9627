"""Questions to an answer desk on a million rows against a typed filter, in one run."""

import numpy as np
import pandas as pd
import pytest

from engine.methods.services.asked import Query, count_together
from engine.methods.services.planning import plan_for
from engine.methods.services.questions import Coded
from tests.benchmarks.test_crosstable_speed import ROWS, best_of
from tests.engine.methods.services.test_planning import LISTED, SCHEMA, TERMS, TYPICAL, wanted
from tests.ratios import slack


@pytest.mark.benchmark
def test_a_count_takes_three_typed_filters_at_most_and_all_questions_of_a_plan_twice_that():
    """Columns are read once a visit, before. Seen: a count .6 of a filter (two columns), a plan of 20 5.6."""
    chance = np.random.default_rng(1)
    listed = {name: chance.choice(some, ROWS) for name, some in LISTED.items()}
    frame = pd.DataFrame(
        listed | {"age": chance.integers(0, 111, ROWS), "stay": chance.integers(1, 15, ROWS)}
    )
    typed = frame.astype({**dict.fromkeys(LISTED, "category"), "age": "int8", "stay": "int8"})
    rows, asked = Coded(frame), wanted(TYPICAL)
    tables = [one.query for one in plan_for(asked, TERMS, visit=1)]
    one = Query(SCHEMA, where="age >= 65 and sex is f")
    count_together(tables, rows)
    bare = best_of(lambda: int(((typed.age >= 65) & (typed.sex == "f")).sum()))
    count, plan = best_of(lambda: one.numbers(rows)), best_of(lambda: count_together(tables, rows))
    apart = best_of(lambda: [each.query.numbers(rows) for each in asked])
    print(f"filter {bare:.5f} s: count {count / bare:.1f}, plan {plan / bare:.1f}, apart {apart / bare:.1f}")
    assert count <= 3 * bare * slack()
    assert plan <= 2 * 3 * bare * slack() and plan <= apart * slack()
