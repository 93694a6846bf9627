"""One row of a person for each value of a slot: less noise on tables with it, seen by the audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from engine import texts
from engine.methods.catalogue import method
from engine.methods.datasets.marginal_model.rounds import learn
from engine.methods.datasets.marginals import Marginals
from engine.methods.protocol import MAIN, Budget
from engine.privacy.accounting import total
from engine.privacy.promise import Neighbours
from engine.release.examples import plans
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from tests.engine.battery.distributions import CheckFailed
from tests.engine.methods.audit import replay
from tests.engine.methods.audit.tables import bench
from tests.noise_source import seeded_noise

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


CHOSEN: Mapping[str, Any] = {"tables": "chosen", "named": None, "frequent": False}


@pytest.mark.parametrize("target", [None, "ward", "hour"])
def test_chosen_pairs_with_the_slot_have_less_noise_and_are_known_beforehand(target: str | None) -> None:
    """Which noise a pair gets never hangs on an answer: those with the slot are measured, not chosen."""
    made = design(target=target, about_rows=500_000, **CHOSEN)
    schedule, plain = made.schedule, design(target=target, slot=None, about_rows=500_000, **CHOSEN).schedule
    assert made.problems == [] and schedule.of_slot == ((0, 1), (1, 2))
    assert schedule.pair_of_slot < schedule.pair / 3.5 and schedule.pair_of_slot < plain.pair / 3
    assert schedule.star == (3 if target == "ward" else 2) <= schedule.pairs
    assert total([made.cost], delta=Fraction(1, 10**6)).epsilon <= 1
    sizes = {round(float(leaf.sensitivity**2)) for leaf, _ in schedule.events.leaves()}
    assert {16, 256} <= sizes
    labels = {error.quantity.id.rpartition(".")[2] for error in made.forecast.errors}
    assert "slot" in labels


def test_pairs_with_the_slot_are_measured_even_where_no_others_are_worth_it() -> None:
    """Of 16 rows a person: √16 of noise where 16 would leave single columns alone."""
    made, plain = design(about_rows=5_000, **CHOSEN), design(slot=None, about_rows=5_000, **CHOSEN)
    assert plain.schedule.only_single and not made.schedule.only_single
    assert made.schedule.pairs == made.schedule.star == 2 and made.schedule.choices == 0
    assert total([made.cost], delta=Fraction(1, 10**6)).epsilon <= 1
    assert design(about_rows=1_000, **CHOSEN).schedule.only_single


def test_without_a_delta_a_slot_changes_nothing() -> None:
    """Laplace noise goes by how many rows a person moves, wherever these are."""
    budget = Budget(Fraction(1))
    made = Marginals(
        Marginals.make_request({MAIN: SCHEMA}, ASKED | CHOSEN | {"noise": "laplace"}, budget=budget)
    )
    assert made.problems == [] and made.schedule.pair_of_slot == made.schedule.pair
    assert total([made.cost], delta=0).epsilon <= 1


@pytest.mark.parametrize("target", [None, "ward", "hour"])
@pytest.mark.parametrize("about", [5_000, 500_000])
def test_what_is_drawn_is_what_was_declared(about: int, target: str | None) -> None:
    """However the rows are: also where the model has no room for a pair."""
    made = design(about_rows=about, target=target, **CHOSEN)
    chance = np.random.default_rng(3)
    for sizes in (made.schedule.sizes, (3000, 40, 500)):
        schedule = made.schedule.found(sizes)
        codes = np.array([chance.integers(0, size, 3000) for size in sizes])
        noise = seeded_noise(4)
        own = {"ward": 0, "hour": 1}.get(target or "")
        learn(codes, schedule, ordered=[0, 0, 0], noise=noise, target=own)
        assert +noise.counted == made.schedule.events.drawn(), sizes


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
