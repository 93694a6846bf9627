"""Additive models from few sums: what is asked, what it costs, and how good it is beside the steps."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.models import additive_rounds
from engine.methods.models.additive_rounds import fit_sums, groups_of
from engine.methods.models.additive_schedule import RESIDUAL_STEPS, Schedule
from engine.methods.models.additive_steps import Fitted, fit
from engine.methods.models.additive_sums import COUNTS, LEFT, SUMS, TABLES, SumsPlan
from engine.methods.models.limits import FULL, LEVEL, REACH, SPREAD
from engine.methods.protocol import MOST_ROUNDS, Budget, Context
from engine.methods.shared.division import Division
from engine.privacy.accounting import total
from engine.privacy.accuracy import noise_of
from engine.privacy.events import Neighbours
from engine.privacy.mechanisms.integers import Integers
from engine.privacy.noise import Noise
from engine.privacy.promise import Loss, Promise, Unit
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table as PeopleTable
from tests.noise_source import seeded_noise

CELLS, SMALL = 16, Fraction(1, 10**6)
SIZES, ORDERED = (6, 4, 3), (5, 0, 3)
Table = tuple[list[Any], Any]


def plan_of(**given: Any) -> SumsPlan:
    told = {"epsilon": Fraction(1), "delta": Fraction(0), "rows_per_person": 1, "replace_one": False}
    return SumsPlan(**{"sizes": SIZES, "about_rows": 3000, "is_classes": True} | told | given)


def some_rows(n: int, seed: int, classes: bool) -> Table:
    chance = np.random.default_rng(seed)
    codes = [chance.integers(0, size, n) for size in SIZES]
    wide = chance.integers(-RESIDUAL_STEPS, RESIDUAL_STEPS + 1, n)
    return codes, np.where(wide > 0, RESIDUAL_STEPS, 0) if classes else wide


def curved(kind: str, n: int, predictors: int, seed: int) -> tuple[Any, Any]:
    """Columns between 0 and 1, a few of them told by curves; ``with`` in the name: columns go together."""
    chance = np.random.default_rng(seed)
    normal = chance.normal(size=(n, predictors))
    if "with" in kind:
        normal = 0.7 * chance.normal(size=(n, 1)) + 0.71 * normal
    x = 1 / (1 + np.exp(-1.2 * normal))
    shapes = (
        lambda u: 2 * (u - 0.5),
        lambda u: 1.2 * np.sin(5 * u),
        lambda u: 5 * (u - 0.5) ** 2 - 0.4,
        lambda u: 1.0 * (u > 0.6),
        lambda u: 0 * u,
    )
    score = sum(shape(x[:, place]) for place, shape in enumerate(shapes[:predictors]))
    if kind.startswith("number"):
        return x, np.rint(np.clip((score + chance.normal(size=n)) / 6, -1, 1) * RESIDUAL_STEPS)
    less = 3.2 if "rare" in kind else 1.0
    return x, (chance.random(n) < 1 / (1 + np.exp(less - 1.3 * score))) * float(RESIDUAL_STEPS)


def cells(x: Any) -> list[Any]:
    return [np.minimum((column * CELLS).astype(int), CELLS - 1) for column in x.T]


def skill(found: Fitted, kind: str, x: Any, target: Any) -> float:
    """Of a number the share of its variance that is explained; of a class how many pairs are told apart."""
    scores = found.intercept + sum(
        curve.effects[own] for curve, own in zip(found.curves, cells(x), strict=True)
    )
    target = target / RESIDUAL_STEPS
    if kind.startswith("number"):
        return float(1 - np.mean((target - scores) ** 2) / np.var(target))
    ranks = np.argsort(np.argsort(scores, kind="stable"), kind="stable") + 1.0
    ones = target.sum()
    return float((ranks[target == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(target) - ones)))


class Several(Noise):
    """The noise of so many sites, each drawing its own."""

    def __init__(self, seed: int, sites: int) -> None:
        self._doors = [seeded_noise(1000 * seed + place) for place in range(sites)]
        super().__init__(self._doors[0]._bytes)

    def discrete_laplace(self, scale: Fraction | int, size: int) -> Integers:
        return np.asarray(sum(one.discrete_laplace(scale, size) for one in self._doors))


KINDS = [("number", 4, 4000), ("number with", 5, 10_000), ("class", 4, 4000), ("class rare with", 5, 20_000)]


@pytest.mark.parametrize(("kind", "predictors", "rows"), KINDS)
@pytest.mark.guarantee
def test_it_is_about_as_good_as_steps_without_a_delta_and_serves_several_sites(
    kind: str, predictors: int, rows: int
) -> None:
    """Fixed draws, ε = 1. Five sites that each add the whole noise keep most of it."""
    x, target = curved(kind, rows, predictors, 1)
    unseen = curved(kind, 20_000, predictors, 2)
    whole = target.astype(np.int64)
    shape = (CELLS,) * predictors
    ends = (Fraction(1), Fraction(0), 1, False, rows, kind.startswith("class"))

    def mean_of(sites: int) -> float:
        with noise_of(sites):
            plan = SumsPlan(shape, *ends)
            found = [
                fit_sums(cells(x), whole, plan, ordered=shape, noise=Several(seed, sites))
                for seed in range(4)
            ]
        return float(np.mean([skill(one, kind, *unseen) for one in found]))

    steps = Schedule(shape, *ends).borne_out()
    beside = [fit(cells(x), whole, steps, ordered=shape, noise=seeded_noise(seed)) for seed in range(4)]
    usual = float(np.mean([skill(one, kind, *unseen) for one in beside]))
    assert mean_of(1) > usual - 0.015
    assert mean_of(5) > usual - (0.1 if kind.startswith("number") else 0.03)


def covered(plan: SumsPlan, codes: list[Any], target: Any, ordered: Sequence[int]) -> float:
    found = [fit_sums(codes, target, plan, ordered=ordered, noise=seeded_noise(seed)) for seed in range(16)]
    effects = np.array([np.concatenate([one.effects for one in each.curves]) for each in found])
    spreads = np.array([np.concatenate([one.spread for one in each.curves]) for each in found])
    return float((np.abs(effects - effects.mean(axis=0)) * np.sqrt(16 / 15) <= 1.96 * spreads).mean())


@pytest.mark.parametrize(("kind", "predictors", "rows"), KINDS[1::2])
@pytest.mark.guarantee
def test_limits_of_effects_hold(kind: str, predictors: int, rows: int) -> None:
    """16 fits of 64 cells and more, fixed draws: how many hold the mean over releases."""
    x, target = curved(kind, rows, predictors, 3)
    shape = (CELLS,) * predictors
    plan = plan_of(sizes=shape, about_rows=rows, is_classes=kind.startswith("class"))
    assert 0.9 < covered(plan, cells(x), target.astype(np.int64), shape) < 0.985


def twins(n: int, seed: int) -> Table:
    """A number by four columns without order, two of which say nearly the same, in codes of no order."""
    chance = np.random.default_rng(seed)
    state = chance.choice(7, n, p=[0.14, 0.005, 0.46, 0.01, 0.32, 0.03, 0.035])
    tied = np.array([3, 0, 4, 1, 2, 0, 5])[state]
    tied = np.where(chance.random(n) < 0.06, chance.integers(0, 6, n), tied)
    sex = np.where(chance.random(n) < 0.85, state == 2, chance.random(n) < 0.5).astype(np.int64)
    work = chance.choice(9, n, p=[0.06, 0.03, 0.067, 0.003, 0.69, 0.035, 0.08, 0.033, 0.002])
    score = (
        0.25 * (state == 2) - 0.2 * (tied == 3) + 0.1 * sex + 0.15 * (work == 5) + 0.3 * chance.normal(size=n)
    )
    whole = np.rint(np.clip(score - 0.1, -1, 1) * RESIDUAL_STEPS).astype(np.int64)
    return [state, tied, sex, work], whole


@pytest.mark.parametrize(("epsilon", "sites"), [(1, 1), (1, 5), (4, 1)])
@pytest.mark.guarantee
def test_columns_that_say_nearly_the_same_are_not_both_given_all_of_it(epsilon: int, sites: int) -> None:
    """Fixed draws: predictions that go further wrong with the last round would be worse than the mean."""
    sizes, (codes, target), unseen = (7, 6, 2, 9), twins(8000, 1), twins(8000, 2)
    with noise_of(sites):
        plan = plan_of(sizes=sizes, epsilon=Fraction(epsilon), about_rows=8000, is_classes=False)
        found = [
            fit_sums(codes, target, plan, ordered=(0,) * 4, noise=Several(seed, sites)) for seed in range(16)
        ]
    whole = unseen[1] / RESIDUAL_STEPS
    told = [
        one.intercept + sum(map(np.take, (own.effects for own in one.curves), unseen[0])) for one in found
    ]
    explained = [1 - np.mean((whole - scores) ** 2) / np.var(whole) for scores in told]
    assert min(explained) > 0.25, explained  # the steps explain .30


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.guarantee
def test_limits_hold_where_columns_say_nearly_the_same(classes: bool) -> None:
    codes, target = twins(8000, 1)
    plan = plan_of(sizes=(7, 6, 2, 9), about_rows=8000, is_classes=classes)
    whole = np.where(target > 0, RESIDUAL_STEPS, 0) if classes else target
    assert 0.92 < covered(plan, codes, whole, (0,) * 4) < 0.99


def test_without_the_tables_of_two_columns_that_go_together_predictions_are_worse(monkeypatch: Any) -> None:
    """What the tables are for: the same with tables as if no column went with another."""
    kind = "number with"
    x, target = curved(kind, 6000, 5, 3)
    x = np.c_[x, x[:, :1], x[:, :1]]  # the first column thrice
    shape, unseen = (CELLS,) * 7, curved(kind, 20_000, 5, 4)
    plan = plan_of(sizes=shape, epsilon=Fraction(10), about_rows=6000, is_classes=False)

    def explained() -> float:
        whole = target.astype(np.int64)
        found = fit_sums(cells(x), whole, plan, ordered=shape, noise=seeded_noise(1))
        return skill(found, kind, np.c_[unseen[0], unseen[0][:, :1], unseen[0][:, :1]], unseen[1])

    known = explained()
    monkeypatch.setattr(additive_rounds, "_count_groups", independent)
    assert known > 0.35 and explained() < known - 0.1, (known, explained())


def independent(codes: Sequence[Any], groups: Sequence[Any]) -> dict[tuple[int, int], Any]:
    counted = [np.bincount(group[own]) for own, group in zip(codes, groups, strict=True)]
    pairs = combinations(range(len(codes)), 2)
    return {(one, other): np.outer(counted[one], counted[other]) // len(codes[0]) for one, other in pairs}


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_row_moves_every_sum_by_what_is_paid_for_at_most(
    monkeypatch: Any, seed: int, classes: bool, exchanged: bool
) -> None:
    """With the same answers, from the first row that goes, or becomes another one; by both lengths."""
    codes, target = some_rows(300, seed, classes)
    plan = plan_of(is_classes=classes, replace_one=exchanged, epsilon=Fraction(3))
    assert plan.groups
    kept: list[list[Any]] = [[], []]
    answers: list[Any] = []
    noisy = Division.noisy
    run = 0

    def heard(self: Division, name: str, sums: Integers, noise: Noise) -> Integers:
        kept[run].append((name, sums.copy()))
        if run == 0:
            answers.append(noisy(self, name, sums, noise))
        return answers[len(kept[run]) - 1]

    monkeypatch.setattr(Division, "noisy", heard)
    fit_sums(codes, target, plan, ordered=ORDERED, noise=seeded_noise(seed))
    run = 1
    if exchanged:
        codes = [np.r_[size - 1 - own[:1], own[1:]] for own, size in zip(codes, SIZES, strict=True)]
        other = RESIDUAL_STEPS - target[:1] if classes else -target[:1]
        fit_sums(codes, np.r_[other, target[1:]], plan, ordered=ORDERED, noise=seeded_noise(seed))
    else:
        fit_sums([own[1:] for own in codes], target[1:], plan, ordered=ORDERED, noise=seeded_noise(seed))
    paid = {query.name: query for query in plan.division.queries}
    asked = [name for name, _ in kept[0]]
    assert asked == [COUNTS, SUMS, TABLES, LEFT] if classes else [COUNTS, SUMS, TABLES, SPREAD, LEFT, LEVEL]
    assert sorted(asked) == sorted(paid) and [name for name, _ in kept[1]] == asked
    for (name, one), (_, other) in zip(*kept, strict=True):
        moved = np.abs(one - other)
        assert moved.sum() <= paid[name].ones and (moved**2).sum() <= paid[name].squared


def test_what_is_paid_for_is_reached() -> None:
    """No more than one row can move: counts and tables once, a class by one half, a number by its range."""
    by_name = {query.name: query for query in plan_of().division.queries}
    assert by_name[COUNTS].ones == 3 and by_name[TABLES].ones == 3
    assert by_name[SUMS].ones == by_name[LEFT].ones == 3 * REACH
    numbers = {query.name: query for query in plan_of(is_classes=False).division.queries}
    assert numbers[SUMS].ones == 3 * RESIDUAL_STEPS and numbers[SPREAD].ones == FULL
    assert sum(query.share for query in numbers.values()) == pytest.approx(1)
    twice = {query.name: query for query in plan_of(rows_per_person=2, replace_one=True).division.queries}
    assert twice[COUNTS].ones == 4 * 3 and twice[SUMS].squared == 4 * 3 * (2 * REACH) ** 2


@pytest.mark.parametrize("delta", [Fraction(0), SMALL])
@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("exchanged", [False, True])
def test_the_parts_cost_no_more_than_the_whole(delta: Fraction, classes: bool, exchanged: bool) -> None:
    plan = plan_of(delta=delta, is_classes=classes, replace_one=exchanged, rows_per_person=2, searched=2)
    relation = Neighbours.REPLACE_ONE if exchanged else Neighbours.ADD_REMOVE
    loss = Loss(plan.epsilon, plan.delta, relation, plan.division.events)
    cost = total([Promise("approximate_dp" if delta else "pure_dp", loss, Unit.ROW, 1)], delta=delta)
    assert float(cost.epsilon) <= 1 + 1e-9
    assert len(plan.rounds) == MOST_ROUNDS


def test_the_order_of_the_rows_changes_no_bit() -> None:
    codes, target = some_rows(500, 3, False)
    order = np.random.default_rng(0).permutation(500)
    plan = plan_of(is_classes=False)
    one = fit_sums(codes, target, plan, ordered=ORDERED, noise=seeded_noise(1))
    moved = [own[order] for own in codes]
    other = fit_sums(moved, target[order], plan, ordered=ORDERED, noise=seeded_noise(1))
    assert one.intercept == other.intercept
    assert all((a.effects == b.effects).all() for a, b in zip(one.curves, other.curves, strict=True))


@pytest.mark.parametrize("rows", [0, 1, 40])
@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("delta", [Fraction(0), SMALL])
def test_whatever_the_rows_are_an_answer_comes_out(rows: int, classes: bool, delta: Fraction) -> None:
    """Also without a row, as for whoever puts the sums of sites in place, and in noise alone."""
    codes, target = some_rows(rows, 1, classes)
    plan = plan_of(is_classes=classes, delta=delta)
    for same in (target, np.full_like(target, 0)):
        found = fit_sums(codes, same, plan, ordered=ORDERED, noise=seeded_noise(rows))
        told = [found.intercept, *(one for curve in found.curves for one in (*curve.effects, *curve.spread))]
        assert np.isfinite(told).all()


@pytest.mark.parametrize("target", ["ill", "cost"])
def test_one_predictor_alone_has_a_model_too(target: str) -> None:
    """No two columns go together then, so no table of two is asked for."""
    chance = np.random.default_rng(1)
    n0 = chance.uniform(0, 9, 3000)
    ill = np.where(chance.random(3000) < n0 / 9, "yes", "no")
    table = PeopleTable(pd.DataFrame({"n0": n0, "ill": ill, "cost": 10 * n0}))
    asked = design_of({"target": target, "predictors": ["n0"]}, PURE)
    assert not asked.problems and len(asked.rounds) == 2
    model = asked.run({"people": table}, Context(seeded_noise(7), None, Path())).artefacts[0]
    said = model.predict(pd.DataFrame({"n0": [0.5, 8.5], "ill": ["no", "no"], "cost": [0.0, 0.0]}))
    assert list(said) == ["no", "yes"] if target == "ill" else said[0] + 40 < said[1]


@pytest.mark.parametrize(("size", "ordered"), [(1, 0), (2, 1), (9, 8), (3, 0), (40, 38)])
def test_groups_are_neighbours(size: int, ordered: int) -> None:
    found = groups_of(size, ordered, 4).tolist()
    assert len(found) == size and found[0] == 0 and max(found) < 4
    assert all(0 <= later - one <= 1 for one, later in pairwise(found))


# --- the method ----------------------------------------------------------------------------------------


def declared(name: str, kind: Kind, **domain: Any) -> Column:
    return Column(name, Role.OTHER, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


NUMBERS = [f"n{place}" for place in range(40)]
COLUMNS = (
    declared("ill", Kind.CATEGORY, values=("no", "yes")),
    declared("cost", Kind.NUMBER, minimum=Fraction(0), maximum=Fraction(100)),
    *(declared(name, Kind.NUMBER, minimum=Fraction(0), maximum=Fraction(9)) for name in NUMBERS),
)


def design_of(given: dict[str, Any], budget: Budget) -> Any:
    way = method("models.additive")
    values = {"target": "ill", "predictors": NUMBERS[:3], "about_rows": 3000, "fit": "sums"} | given
    return way(way.make_request({"people": Schema(COLUMNS)}, values, budget=budget))


PURE = Budget(Fraction(1), Fraction(0))


@pytest.mark.parametrize(
    ("given", "budget", "code"),
    [
        ({"pairs": [{"first": "n0", "second": "n1"}]}, PURE, "pairs_in_steps"),
        ({"predictors": NUMBERS, "about_rows": 10**9}, PURE, "too_many_together"),
        ({"predictors": NUMBERS[:9], "about_rows": 500}, PURE, "not_told_together"),
        ({"target": "cost", "predictors": NUMBERS[:1], "about_rows": 20}, PURE, "nothing_left"),
        (
            {"predictors": NUMBERS[:1], "about_rows": 10},
            Budget(Fraction(1, 1000), Fraction(0)),
            "nothing_left",
        ),
    ],
)
def test_what_cannot_work_is_said_from_declarations_alone(
    given: dict[str, Any], budget: Budget, code: str
) -> None:
    assert f"models.additive.{code}" in [one.code for one in design_of(given, budget).problems]


def test_rounds_are_two_or_three_and_none_with_a_delta_or_a_score() -> None:
    assert len(design_of({"cells": "equal"}, PURE).rounds) == 2
    assert len(design_of({"about_rows": 100_000}, PURE).rounds) == 3  # cells are searched
    assert not design_of({"noise": "gaussian"}, Budget(Fraction(1), SMALL)).rounds
    assert not design_of({"held_out_percent": 10}, PURE).rounds
    assert not design_of({"fit": "steps"}, PURE).rounds
