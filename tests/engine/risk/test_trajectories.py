"""Traces made from seeds: the probability by counting every trace, the crowds by hand, and what is kept."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from engine.analyses.catalogue import analysis, ask, example
from engine.analyses.trajectories import crowd_of
from engine.errors import InputRefused
from engine.methods.datasets.seeds.crowds import weigh_crowd
from engine.methods.protocol import MAIN
from engine.risk.trajectories import (
    Coins,
    World,
    draw_trace,
    kept,
    learn_world,
    likeliest,
    logs_of,
    possible_places,
)
from engine.table.table import Table
from tests.engine.risk.test_communities import SCHEMA, log

PLACES, TIMES = 4, 4
EVERY = np.array(list(itertools.product(range(PLACES), repeat=TIMES)))


def small(seed: int, n: int = 6) -> tuple[World, np.ndarray, np.ndarray, np.random.Generator]:
    """Return a world, where traces from some seeds may be, and the seeds."""
    chance = np.random.default_rng(seed)
    moves, start = chance.dirichlet(np.ones(PLACES), PLACES), chance.dirichlet(np.ones(PLACES))
    world = World(start, moves, chance.integers(2, size=PLACES))
    seeds = chance.integers(PLACES, size=(n, TIMES))
    return world, possible_places(world, seeds, Coins.toss(1, TIMES, PLACES, chance)), seeds, chance


def by_hand(world: World, where: np.ndarray) -> np.ndarray:
    """Return the probability of every trace from one seed: of the chain, where that is possible."""
    chances = world.start[EVERY[:, 0]] * where[0, EVERY[:, 0]]
    for time in range(1, TIMES):
        chances = chances * world.moves[EVERY[:, time - 1], EVERY[:, time]] * where[time, EVERY[:, time]]
    return chances / chances.sum()


def test_the_probability_of_every_trace_is_that_of_the_chain_within_what_is_possible() -> None:
    for seed in range(30):
        world, where, _, _ = small(seed)
        found = np.exp(logs_of(world, where, EVERY))
        assert np.abs(found.sum(axis=0) - 1).max() < 1e-12
        expected = np.stack([by_hand(world, one) for one in where], axis=1)
        assert np.allclose(found, expected, atol=1e-12)


def test_traces_are_drawn_with_that_probability() -> None:
    world, where, _, chance = small(3)
    made = draw_trace(world, np.repeat(where[:1], 20_000, axis=0), chance)
    counts = np.bincount(made @ PLACES ** np.arange(TIMES)[::-1], minlength=len(EVERY)) / 20_000
    assert np.abs(counts - by_hand(world, where[0])).sum() / 2 < 0.03  # about .01 by chance
    assert (counts[by_hand(world, where[0]) == 0] == 0).all()


def test_coins_leave_places_of_the_class_and_never_the_real_one_at_its_time_but_from_another() -> None:
    world = World(np.full(4, 0.25), np.full((4, 4), 0.25), np.array([0, 0, 1, 1]))
    seeds = np.array([[0, 0, 2]])
    never = np.zeros((1, 2, 4), dtype=bool)
    coins = Coins(np.array([[True, True, True, False]]), np.ones((1, 3), dtype=bool), ((never, never),))
    found = possible_places(world, seeds, coins)[0]
    assert found[:2].tolist() == [[False, True, False, False]] * 2, "of its class, without itself"
    assert found[2].all(), "all places, where nothing is left"
    earlier = never.copy()
    earlier[0, 1, 1] = True  # at the last time, place 1 of the time before
    merged = possible_places(world, seeds, Coins(coins.kept, coins.removed, ((earlier, never),)))[0]
    assert merged[2].tolist() == [False, True, False, False]


def test_what_is_possible_follows_from_the_seed_and_the_coins_alone() -> None:
    """Otherwise a seed's probability would hang on who else is there."""
    chance = np.random.default_rng(5)
    world, _, seeds, _ = small(5)
    coins = Coins.toss(1, TIMES, PLACES, chance)
    together = possible_places(world, seeds, coins)
    assert all(
        (possible_places(world, seeds[[one]], coins)[0] == together[one]).all() for one in range(len(seeds))
    )


def test_crowds_of_seeds_by_hand() -> None:
    """From three seeds with .4, .4 and .1: the weight of others who are less likely, or as likely."""
    logs = np.log(np.array([[0.4, 0.4, 0.1], [0.1, 0.4, 0.4], [0.0001, 0.9, 0.0001]]) + 1e-300)
    crowd = crowd_of(logs, np.array([0, 0, 1]))
    assert (np.diff(crowd.logs, axis=1) >= 0).all()
    assert np.allclose(
        np.take_along_axis(crowd.logs, crowd.own[:, None], axis=1)[:, 0], logs[[0, 1, 2], [0, 0, 1]]
    )
    # 1 + .25 others; from the least likely seed the best is one of those above it; nobody else
    assert weigh_crowd(crowd).tolist() == [1, 1, 0]


def test_the_likeliest_path_stays_within_places_and_is_the_likeliest_without_factors(monkeypatch) -> None:
    monkeypatch.setattr("engine.risk.trajectories.FACTOR", 1.0)
    for seed in range(5):
        world, where, _, chance = small(seed)
        made = likeliest(world, where, chance)
        best = [EVERY[by_hand(world, one).argmax()] for one in where]
        assert (made == np.array(best)).all()


def town(people: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return traces, parts of the day and classes: everybody has one place of each of three classes."""
    chance = np.random.default_rng(seed)
    classes = np.arange(12) % 3
    own = np.array(
        [[chance.choice(np.flatnonzero(classes == one)) for one in range(3)] for _ in range(people)]
    )
    order = np.array([[0, 1, 1, 2, 1, 0], [0, 2, 1, 1, 2, 0]])[chance.integers(2, size=people)]
    return np.take_along_axis(own, order, axis=1), order, classes


def test_places_of_one_kind_are_found_and_what_is_kept_of_traces() -> None:
    traces, parts, classes = town(400, 2)
    chance = np.random.default_rng(1)
    world = learn_world(traces[:200], parts[:200], places=12, classes=3, chance=chance)
    pairs = {(int(one), int(other)) for one, other in zip(world.classes, classes, strict=True)}
    assert len(pairs) == 3, "the same classes, under other numbers"
    seeds = traces[200:]
    coins = Coins.toss(len(seeds), 6, 12, chance)
    made = draw_trace(world, possible_places(world, seeds, coins), chance)
    even = chance.integers(12, size=seeds.shape)
    assert (world.classes[made] == world.classes[seeds]).mean() > 0.5 > (made == seeds).mean()
    assert kept(seeds, made, 12).moves < kept(seeds, even, 12).moves - 0.1
    assert kept(seeds, seeds, 12).visits == 0 == kept(seeds, seeds, 12).moves


def test_the_analysis_says_first_that_the_published_form_has_no_guarantee(monkeypatch) -> None:
    asked = analysis("trajectories")
    filled = example(asked)

    assert filled.table is not None and filled.schema is not None
    table = Table(pd.read_csv(filled.table, dtype="str"))
    monkeypatch.setattr("engine.analyses.catalogue.chance", lambda: np.random.default_rng(1))
    answer = ask(asked, filled.values, tables={MAIN: table}, schemas={MAIN: filled.schema})
    assert answer.stays
    said = [one.id.rpartition(".")[2] for one in answer.views[0].paragraphs]
    assert said.index("no_guarantee") < said.index("crowd")
    made, others = answer.figures["made"], answer.figures["compared"]
    assert made["tested"]["changed"] > 0.8 and others["others"]["visits"] < made["tested"]["visits"]
    assert answer.figures["many"]["threshold"] > answer.figures["one"]["threshold"] > 20
    assert answer.figures["many"]["share"] <= answer.figures["one"]["share"]


def test_a_log_that_is_too_small_is_refused() -> None:
    values = {"place": "ward", "moment": "at", "visits": 5}
    with pytest.raises(InputRefused, match=r"analyses\.trajectories_size"):
        ask(analysis("trajectories"), values, tables={MAIN: log()}, schemas={MAIN: SCHEMA})
