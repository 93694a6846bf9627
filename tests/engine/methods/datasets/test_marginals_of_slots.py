"""One row of a person for each value of a slot: less noise on named tables with it, seen by the audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from engine import texts
from engine.methods.catalogue import method
from engine.methods.datasets.marginals import Marginals
from engine.methods.protocol import MAIN, Budget
from engine.privacy.accounting import total
from engine.privacy.promise import Neighbours
from engine.release.examples import plans
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from tests.engine.battery.distributions import CheckFailed
from tests.engine.methods.audit import replay
from tests.engine.methods.audit.tables import bench

WARDS, HOURS = ("A", "B", "C"), tuple(str(hour) for hour in range(24))
DECLARED: Mapping[str, Any] = {"domain_origin": Origin.DECLARED}
SCHEMA = Schema(
    (
        Column("who", Role.PERSON_KEY),
        Column("ward", Role.PLACE, Kind.CATEGORY, Domain(values=WARDS), **DECLARED),
        Column("hour", Role.TIME, Kind.CATEGORY, Domain(values=HOURS), **DECLARED),
        Column("age", Role.OTHER, Kind.INTEGER, Domain(Fraction(0), Fraction(99)), **DECLARED),
    ),
    rows_per_person=16,
)
ASKED: Mapping[str, Any] = {
    "columns": ["ward", "hour", "age"],
    "about_rows": 50_000,
    "noise": "gaussian",
    "tables": "named",
    "named": [{"columns": ["ward", "hour"]}, {"columns": ["ward", "age"]}],
    "slot": "hour",
}


def design(rows: int = 16, neighbours: Neighbours = Neighbours.ADD_REMOVE, **further: object) -> Marginals:
    budget = Budget(Fraction(1), Fraction(1, 10**6), neighbours)
    schema = replace(SCHEMA, rows_per_person=rows)
    return Marginals(Marginals.make_request({MAIN: schema}, {**ASKED, **further}, budget=budget))


def test_only_tables_with_the_slot_have_less_noise() -> None:
    """Of 16 rows √16 in place of 16; tables without the slot can have all of them in one cell."""
    plain, slots = design(slot=None).schedule, design().schedule
    assert slots.together[0] < plain.together[0] / 2.5
    sensitivities = {leaf.sensitivity**2: leaf.count for leaf, _ in slots.events.leaves()}
    assert {round(float(one)): count for one, count in sensitivities.items()}.keys() == {16, 256}
    held = [table for table in ((0,), (1,), (2,), (0, 1), (0, 2)) if 1 in table]
    assert sum(leaf.count for leaf, _ in slots.events.leaves() if leaf.sensitivity < 16) == len(held)


@pytest.mark.parametrize(("rows", "most"), [(2, 2), (16, 16), (500, 25)])
@pytest.mark.parametrize(("neighbours", "factor"), [(Neighbours.ADD_REMOVE, 1), (Neighbours.REPLACE_ONE, 2)])
def test_there_are_no_more_slots_than_declared_and_the_budget_holds(
    rows: int, most: int, neighbours: Neighbours, factor: int
) -> None:
    made = design(rows, neighbours)
    assert made.schedule.slots == factor * most
    assert "one_row_a_slot" in made.cost.assumptions
    assert total([made.cost], delta=Fraction(1, 10**6)).epsilon <= 1


def test_a_slot_has_a_cell_for_each_value_and_leaves() -> None:
    found = design(slot="age").problems  # its values are cut into intervals: two of them are one cell
    assert [(one.code, one.parameter) for one in found] == [("datasets.marginals.slot_not_listed", "slot")]
    assert all(texts.sentences(found[0].code, found[0].values))
    left = [{"columns": ["ward", "age"]}]
    found = design(columns=["ward", "age"], named=left).problems
    assert [(one.code, one.parameter) for one in found] == [("datasets.marginals.not_released", "slot")]
    assert design(tables="chosen", named=None).slot is None  # pairs that are chosen may lack it


def plan_of() -> Any:
    """Return the example with named tables, with up to four rows a person, of which one for each slot."""
    plan = next(one for one in plans(method("datasets.marginals")) if one.parameters.get("named"))
    schema = replace(plan.schemas[MAIN], rows_per_person=4)
    budgets = {
        name: replace(getattr(plan, name), delta=Fraction(1, 10**6)) for name in ("budget", "holding_budget")
    }
    asked = {**plan.parameters, "noise": "gaussian", "slot": "age"}
    return replace(plan, schemas={MAIN: schema}, parameters=asked, **budgets)


@pytest.mark.guarantee
def test_the_audit_sees_whether_it_is_enforced(tmp_path: Path) -> None:
    """A person with twelve rows in one slot counts once; unless that is enforced they move a cell by four."""
    made = bench(method("datasets.marginals"), plan_of(), tmp_path / "kept", people=60)
    replay.audit(made, many=False)
    again = bench(method("datasets.marginals"), plan_of(), tmp_path / "not", people=60)
    with patch.object(Marginals, "slot_of", None), pytest.raises(CheckFailed, match="twelve rows"):
        replay.audit_moves(again)
