"""Cells from one noisy count: what is cut and joined, what is searched, and what it costs."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.protocol import MAIN, Budget, Context
from engine.methods.shared.cell_search import (
    CERTAIN,
    EQUAL,
    MOST_CELLS,
    SEARCHED,
    count_cells,
    cut_and_joined,
    fine_of,
)
from engine.methods.shared.column_cells import Intervals, cells_of
from engine.privacy.events import Sequential
from engine.privacy.noise import Noise
from engine.table.schema import Column, Domain, Kind, Origin, Schema
from engine.table.table import Table
from tests.engine.battery.loss import claimed, loss

MODELS = ("models.additive", "models.naive_bayes", "models.tree")
SMALL = Fraction(1, 10**6)


def whole(name: str, low: int, high: int) -> Column:
    domain = Domain(minimum=Fraction(low), maximum=Fraction(high))
    return Column(name, kind=Kind.INTEGER, domain=domain, domain_origin=Origin.DECLARED)


SCHEMA = Schema(
    (
        whole("visits", 0, 365),
        replace(whole("pay", 0, 5000), kind=Kind.NUMBER),
        replace(whole("ill", 0, 1), kind=Kind.CATEGORY, domain=Domain(values=("no", "yes"))),
    )
)


def design(way: str, cells: str, *, epsilon: int = 2, delta: Fraction = SMALL, rows: int = 6000):
    found = method(way)
    given = {"target": "ill", "predictors": ["visits", "pay"], "about_rows": rows, "cells": cells}
    given["noise"] = "gaussian" if delta else "laplace"
    made = found(found.make_request({MAIN: SCHEMA}, given, budget=Budget(Fraction(epsilon), delta)))
    assert not made.problems
    return made


def crowded(rows: int = 6000) -> pd.DataFrame:
    """Nearly all visits are 0 to 3, and they alone tell."""
    lots = np.random.default_rng(3)
    visits = np.where(lots.random(rows) < 0.97, lots.integers(0, 4, rows), lots.integers(0, 366, rows))
    ill = np.where(lots.random(rows) < np.where(visits % 2, 0.8, 0.2), "yes", "no")
    return pd.DataFrame({"visits": visits, "pay": lots.gamma(1, 200, rows).clip(0, 5000), "ill": ill})


@pytest.mark.parametrize("seed", range(20))
def test_cells_cover_the_grid_once_whatever_the_counts_are(seed: int) -> None:
    lots = np.random.default_rng(seed)
    size = int(lots.integers(1, 3000))
    counts = lots.normal(0, 10.0 ** lots.integers(0, 5), size)
    found = cut_and_joined(counts, bins=int(lots.integers(2, 65)), rows=500, deviation=float(lots.random()))
    assert found[0] == 0 and found[-1] == size and list(found) == sorted(set(found))
    assert len(found) <= MOST_CELLS + 1


def test_what_is_certainly_full_is_cut_and_what_is_certainly_sparse_is_joined() -> None:
    lots = np.random.default_rng(1)
    counts = np.zeros(256)
    counts[3], counts[100:110] = 3000, 300
    noisy = counts + lots.normal(0, 5, 256)
    found = cut_and_joined(noisy, bins=16, rows=6000, deviation=5.0)
    assert 3 in found and 4 in found and sum(100 < cut < 110 for cut in found) >= 3
    assert not any(116 < cut < 256 for cut in found)


def test_noise_alone_cuts_and_joins_seldom() -> None:
    """The bound is 1.5 standard deviations: of cells as full as can be left, 7 of 100 are cut by noise."""
    lots, width, cut = np.random.default_rng(2), 16, 0
    for _ in range(50):
        level = 1000 / 16 / width
        noisy = level + lots.normal(0, 20.0, 16 * width)
        cut += len(cut_and_joined(noisy, bins=16, rows=1000, deviation=20.0)) - 17
    assert abs(cut) / (50 * 16) < 0.15 and CERTAIN == 1.5


def test_fine_grids_have_whole_values_and_are_of_declarations_alone() -> None:
    one = fine_of(cells_of(whole("age", 0, 99), bins=16), {})
    assert isinstance(one, Intervals) and one.size - 1 == 100
    assert one.codes(pd.Series([0, 1, 98, 99, None])).tolist() == [0, 1, 98, 99, 100]
    many = fine_of(cells_of(whole("pay", 0, 10**6), bins=16), {})
    assert many is not None and many.size - 1 <= 1024 and all(edge.denominator == 1 for edge in many.edges)
    assert fine_of(cells_of(whole("few", 0, 9), bins=16), {}) is None
    assert fine_of(cells_of(whole("age", 0, 99), bins=16), {"age": ()}) is None
    assert fine_of(cells_of(SCHEMA.column("ill"), bins=16), {}) is None


@pytest.mark.parametrize("way", MODELS)
def test_a_search_is_one_more_event_and_the_rest_pays_for_it(way: str) -> None:
    before, now = design(way, EQUAL), design(way, SEARCHED)
    events = [len(list(one.cost.loss.events.leaves())) for one in (before, now)]
    assert events[1] == events[0] + 1 and before.cost.loss.epsilon == now.cost.loss.epsilon
    assert [note.id for note in now.forecast.notes].count("statistics.notes.cells_searched") == 1
    assert not [note for note in before.forecast.notes if note.id == "statistics.notes.cells_searched"]


@pytest.mark.parametrize("way", MODELS)
@pytest.mark.parametrize(("epsilon", "delta"), [(1, Fraction(0)), (1, SMALL)])
def test_nothing_is_searched_where_it_would_find_nothing(way: str, epsilon: int, delta: Fraction) -> None:
    found = method(way)
    given = {"target": "ill", "predictors": ["visits", "pay"], "about_rows": 100}
    budget = Budget(Fraction(epsilon, 10), delta)
    made = found(found.make_request({MAIN: SCHEMA}, given, budget=budget))
    assert not made.grids
    same = found(found.make_request({MAIN: SCHEMA}, given | {"cells": EQUAL}, budget=budget))
    assert made.fit_events == same.fit_events


@pytest.mark.parametrize("way", MODELS)
def test_searched_cells_tell_what_equal_ones_cannot(way: str) -> None:
    """Equal intervals are 23 visits wide: they cannot tell 0 from 1."""

    def right(cells: str) -> float:
        rows = crowded()
        made = (
            design(way, cells).run({MAIN: Table(rows)}, Context(Noise(), None, Path())).artefacts[0].content
        )
        from engine.methods.models import additive, naive_bayes, tree

        module = {"additive": additive, "naive_bayes": naive_bayes, "tree": tree}[way.split(".")[1]]
        return float((module.predict(made, rows) == rows["ill"]).mean())

    assert right(EQUAL) < 0.6 and right(SEARCHED) > 0.7


def test_a_row_is_counted_once_in_every_fine_grid() -> None:
    grids, rows = design("models.additive", SEARCHED).grids, crowded(50)
    assert set(grids) == {0, 1}
    exact = count_cells(Table(rows), grids)
    ends = np.cumsum([grid.size for grid in grids.values()])
    assert [part.sum() for part in np.split(exact, ends[:-1])] == [50, 50]
    moved = count_cells(Table(rows.iloc[1:]), grids)
    assert np.abs(exact - moved).sum() == 2


@pytest.mark.parametrize(
    ("way", "delta"), [(MODELS[0], Fraction(0)), (MODELS[1], Fraction(0)), (MODELS[1], SMALL)]
)
def test_the_worst_person_uses_what_is_claimed_and_a_search_that_is_not_paid_for_is_noticed(
    way, delta
) -> None:
    made, rows = design(way, SEARCHED, delta=delta), crowded()
    rows.loc[rows["visits"] < 2, "ill"] = "no"
    rows.loc[0, ["visits", "pay", "ill"]] = [0, 0.0, "yes"]

    def run(frame: pd.DataFrame, noise: Noise) -> str:
        found = made.run({MAIN: Table(frame)}, Context(noise, None, Path())).artefacts[0]
        return json.dumps(found.content)

    found = loss(run, rows, rows.iloc[1:], rows=len(rows))
    events = made.cost.loss.events
    share = max(found.shares_of(claimed(events)).values())
    assert 0.995 < share < 1 + 1e-9
    leaves = [leaf for leaf, _ in events.leaves()]
    search = leaves[0] if way == "models.naive_bayes" else leaves[-1]
    free = Sequential(tuple(leaf for leaf in leaves if leaf is not search))
    assert len(leaves) > 1 and max(found.shares_of(claimed(free)).values()) > 1.003
