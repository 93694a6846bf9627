"""Plans that earlier states of the program wrote (the sample, by the number of the commit): they run, or are
refused with the reason and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import texts
from engine.errors import InputRefused
from engine.release.check import check, check_and_foresee
from engine.release.plan import Plan

KEPT = Path(__file__).parent / "earlier"
SAMPLE = Path(__file__).parents[3] / "resources" / "sample"


@pytest.mark.parametrize("commit", [180, 300, 540])
def test_a_plan_that_says_how_its_file_is_read_still_runs(commit):
    plan = Plan.read(KEPT / f"plan-commit-{commit}.json")
    design = check(plan, base=SAMPLE)
    check_and_foresee(plan, design)
    assert design.cost.loss is not None and plan.purpose.title
    assert Plan.loads(plan.dumps()) == plan


@pytest.mark.parametrize("commit", [60, 110])
def test_one_that_does_not_is_refused_with_the_reason(commit):
    plan = Plan.read(KEPT / f"plan-commit-{commit}.json")
    with pytest.raises(InputRefused) as caught:
        check_and_foresee(plan, check(plan, base=SAMPLE))
    what, do = texts.explain(caught.value)
    assert "does not say how" in what and "plan new" in do
