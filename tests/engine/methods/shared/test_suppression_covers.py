"""Patterns made out of cuts: they meet all of them, hide nothing for nothing, and hold from outside."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pytest

from engine.methods.shared.suppression import exact
from engine.methods.shared.suppression import exact as pattern
from engine.methods.shared.suppression.additive import Mask
from engine.methods.shared.suppression.exact import Cuts, suppress
from engine.methods.shared.suppression.small_cells import Rules
from engine.methods.shared.suppression.task import Task
from tests.engine.methods.shared.test_suppression import (
    large_task,
    published,
    random_counts,
    task_of,
    too_narrow,
)

SHAPE = (5, 4, 3)


def drawn(seed: int, *, alone: bool = True) -> Task:
    return task_of(random_counts(SHAPE, np.random.default_rng(seed), mean=20), Rules(5, alone=alone))


def searching(task: Task, seconds: float = 60.0) -> exact._Search:
    search = exact._Search(task, time.monotonic(), seconds, lambda share: None)
    assert search.patterns.is_possible()
    return search


def holds(task: Task, hidden: Mask) -> bool:
    table = published(task, SHAPE, hidden, 1)
    return not too_narrow(task, table, table.intervals())


def test_cells_meet_all_cuts_and_none_is_there_for_nothing() -> None:
    task = drawn(0)
    cuts = Cuts(task, np.arange(4))
    cuts.rows += [np.array(row) for row in ([1, 1, 0, 0], [0, 0.5, 0.5, 1], [0.0, 1, 1, 0])]
    costs = np.array([1.0, 1.0, 1.0, 5.0])
    chosen = cuts.cover(np.zeros(4, dtype=bool), costs)
    assert (cuts.block @ chosen >= 1).all() and chosen.tolist() == [False, True, True, False]
    for cell in np.flatnonzero(chosen):
        fewer = chosen.copy()
        fewer[cell] = False
        assert (cuts.block @ fewer < 1).any()
    kept = cuts.cover(np.array([True, False, True, False]), costs)  # what is there already stays if needed
    assert (cuts.block @ kept >= 1).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_pattern_out_of_cuts_holds_from_outside(seed: int) -> None:
    task = drawn(seed, alone=bool(seed % 2))
    search = searching(task)
    search.best = ~task.fixed  # everything: any pattern is cheaper
    first = task.cost(search.best)
    chosen = search._out_of_cuts(
        np.zeros(len(search.open), dtype=bool), np.ones(len(search.open)), search.until
    )
    assert chosen is not None and task.cost(search.best) < first
    hidden = task.must.copy()
    hidden[search.open] = chosen
    assert (hidden == search.best).all() and holds(task, hidden)
    assert not search.patterns.unmet(hidden, search.patterns.everything())
    # Every pattern that holds meets every cut
    for other in (suppress(task, seconds=0.0, exact=False).hidden, ~task.fixed):
        assert (search.cuts.block @ other[search.open] >= 1 - 1e-6).all()


@pytest.mark.parametrize("seed", [0, 2])
def test_what_is_made_out_of_cuts_is_never_dearer_and_the_bound_stays_below(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against the search that goes on until it is proven."""
    task = drawn(seed, alone=False)
    proven = suppress(task, seconds=60)
    assert proven.gap == 0
    monkeypatch.setattr(exact, "FAR", -1.0)  # as if it were always far
    search = searching(task, 4.0)
    search.begin()
    search.relax()
    before = search.found
    search.improve()
    assert before.bound - 1e-6 <= search.found.bound <= proven.cost + 1e-6
    assert proven.cost - 1e-6 <= search.found.cost <= before.cost and holds(task, search.best)


@pytest.mark.benchmark
def test_seven_hundred_cells_in_three_dimensions_are_near_the_cheapest_after_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A minute of processor time each, since others may be at work on the machine; the mean gap."""
    for module in (exact, pattern):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=time.process_time))
    gaps = []
    for seed in (1, 2):
        task = large_task((10, 10, 5), seed)
        found = suppress(task, seconds=60)
        print(f"{task.size} cells, {len(task.primary)} small: cost {found.cost:.0f}, gap {found.gap:.3f}")
        gaps.append(found.gap)
    assert np.mean(gaps) <= 0.2


def test_shares_a_little_below_nothing_are_nothing() -> None:
    search = searching(drawn(0))
    attacker, wanted = search.patterns.attacker, search.patterns.wanted
    shares = np.where(np.arange(search.task.size) % 3 == 0, -1e-6, 0.5)
    attacker.look_at(shares)
    found = [attacker.reach(one) for one in wanted]
    attacker.look_at(shares.clip(min=0))
    assert [one.met for one in found] == [attacker.reach(one).met for one in wanted]


@pytest.mark.parametrize("seed", range(12))
def test_what_is_not_met_is_what_the_attacker_says_of_each_requirement_alone(seed: int) -> None:
    """A change that was found for one cell may only show what it really shows."""
    chance = np.random.default_rng(seed)
    task = task_of(
        random_counts((4, 3, 2), chance, mean=int(chance.integers(1, 12))),
        Rules(int(chance.integers(2, 7)), zeros=bool(seed % 2)),
    )
    patterns = exact.Patterns(task)
    for share in (0.0, 0.3, 0.7, 1.0):
        hidden = task.must | (~task.fixed & (chance.random(task.size) < share))
        found = patterns.unmet(hidden, patterns.everything())
        patterns.attacker.look_at(hidden)
        assert found == [one for one in patterns.everything() if not patterns.attacker.reach(one).met]


def test_a_sparse_table_whose_empty_cells_are_hidden_asks_the_solver_less_than_once_a_cell() -> None:
    """Each of its contributors who are alone against each hidden cell was a question of its own."""
    task = task_of(
        random_counts((12, 2, 5), np.random.default_rng(0), mean=0.9), Rules(2, zeros=True, alone=True)
    )
    asked = []
    patterns = exact.Patterns(task, lambda: asked.append(1))
    met = patterns.unmet(~task.fixed, patterns.everything())
    assert len(patterns.everything()) > 10 * task.size
    assert len(asked) < task.size + len(met)
