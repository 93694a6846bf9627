"""One row of a person for each value of a slot: less noise, enforced by lot, seen by the audit."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from engine.methods.catalogue import method
from engine.methods.protocol import MAIN, Budget
from engine.methods.shared.cells import LevelAxis
from engine.methods.statistics.counts import Counts
from engine.privacy.promise import Neighbours
from engine.release.examples import plans
from engine.release.make import make
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from tests.engine.battery.distributions import CheckFailed
from tests.engine.methods.audit import replay
from tests.engine.methods.audit.tables import bench
from tests.noise_source import seeded_noise

WARDS, HOURS = ("A", "B"), tuple(str(hour) for hour in range(8))
DECLARED = {"domain_origin": Origin.DECLARED}
SCHEMA = Schema(
    (
        Column("who", Role.PERSON_KEY),
        Column("ward", Role.PLACE, Kind.CATEGORY, Domain(values=WARDS), **DECLARED),
        Column("hour", Role.TIME, Kind.CATEGORY, Domain(values=HOURS), **DECLARED),
    ),
    rows_per_person=8,
)
ASKED = {"columns": ["ward", "hour"], "noise": "gaussian", "slot": "hour"}


def design(rows: int = 8, neighbours: Neighbours = Neighbours.ADD_REMOVE, **further: object):
    budget = Budget(Fraction(1), Fraction(1, 10**6), neighbours)
    schema = replace(SCHEMA, rows_per_person=rows)
    return Counts(Counts.make_request({MAIN: schema}, ASKED | further, budget=budget))


def test_the_noise_is_that_of_different_cells() -> None:
    """Of 8 rows √8 in place of 8; never more slots than there are, with one for what was not declared."""
    wide = design(slot=None).mechanism.squared_sensitivity
    assert (wide, design().mechanism.squared_sensitivity) == (64, 8)
    assert design(rows=500).mechanism.squared_sensitivity == 9
    exchanged = Neighbours.REPLACE_ONE
    assert design(neighbours=exchanged).mechanism.squared_sensitivity == 16
    ratio = design(slot=None).mechanism.accuracy().limit / design().mechanism.accuracy().limit
    assert ratio == pytest.approx(np.sqrt(8), rel=0.05)
    assert "one_row_a_slot" in design().cost.assumptions
    # Laplace noise is no less for it, and it is not asked for there
    assert design(noise="laplace").slot is None


def test_the_slot_has_to_be_counted() -> None:
    found = design(columns=["ward"]).problems
    assert [(one.code, one.parameter) for one in found] == [("statistics.counts.slot_not_counted", "slot")]


def plan_of(slot: str | None):
    """Return the example of counts with up to four rows a person, of which one for each slot."""
    (plan,) = plans(method("statistics.counts"))
    schema = replace(plan.schemas[MAIN], rows_per_person=4)
    budgets = {
        name: replace(getattr(plan, name), delta=Fraction(1, 10**6)) for name in ("budget", "holding_budget")
    }
    asked = {**plan.parameters, "noise": "gaussian"} | ({} if slot is None else {"slot": slot})
    return replace(plan, schemas={MAIN: schema}, parameters=asked, **budgets)


@pytest.mark.guarantee
def test_the_audit_sees_whether_it_is_enforced(tmp_path: Path) -> None:
    """A person with twelve rows in one slot counts once; unless that is enforced they move a cell by four."""
    made = bench(method("statistics.counts"), plan_of("age"), tmp_path / "kept", people=60)
    replay.audit(made, many=False)
    again = bench(method("statistics.counts"), plan_of("age"), tmp_path / "not", people=60)
    with patch.object(Counts, "slot_of", None), pytest.raises(CheckFailed, match="twelve rows"):
        replay.audit_moves(again)


def test_of_several_rows_in_a_slot_one_is_kept_by_lot(tmp_path: Path) -> None:
    """In what is used nobody is twice in a slot; which row it is differs from draw to draw."""
    made = bench(method("statistics.counts"), plan_of("age"), tmp_path / "own", people=400)
    chosen = set()
    for seed in range(6):
        draft = make(made.design, made.prepared(made.rows), seeded_noise(seed), folder=tmp_path)
        used = draft.used[MAIN].rows()
        slots = LevelAxis(made.plan.schemas[MAIN].column("age")).codes(used)
        key = made.key
        assert key is not None
        assert max(Counter(zip(used[key], slots, strict=True)).values()) == 1
        chosen.add(tuple(used["encounter_id"]))
    rows = made.prepared(made.rows)[MAIN].table.rows()
    assert len(used) < len(rows) and len(chosen) > 1
