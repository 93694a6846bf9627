"""Fake places: the attack by counting every path, figures by hand, and the order that was published."""

from __future__ import annotations

import itertools

import numpy as np

from engine.analyses.catalogue import analysis, ask
from engine.analyses.fake_traces import CLASSES, PLACES, TIMES, WAYS, Town, invent, localise, measured
from engine.risk.trajectories import World


def test_the_attack_gives_every_place_its_probability() -> None:
    """Three places, four times: the sum over every path that what was sent allows."""
    chance = np.random.default_rng(4)
    world = World(chance.dirichlet(np.ones(3)), chance.dirichlet(np.ones(3), 3), np.zeros(3, dtype=np.int64))
    sent = chance.random((5, 4, 3)) < 0.6
    sent[:, :, 0] |= ~sent.any(axis=2)
    found = localise(world, sent)
    for one in range(5):
        expected = np.zeros((4, 3))
        for path in itertools.product(range(3), repeat=4):
            if all(sent[one, time, place] for time, place in enumerate(path)):
                moves = np.prod([world.moves[a, b] for a, b in itertools.pairwise(path)])
                expected[np.arange(4), path] += world.start[path[0]] * moves
        assert np.allclose(found[one], expected / expected.sum(axis=1, keepdims=True), atol=1e-12)


def test_without_fakes_nothing_is_hidden_and_with_all_places_only_moves_tell() -> None:
    town = invent(6, np.random.default_rng(1))
    even = np.full((PLACES, PLACES), 1 / PLACES)
    world = World(even[0], even, np.repeat(np.arange(CLASSES), PLACES // CLASSES))
    asked = np.ones((6, TIMES), dtype=bool)
    alone = measured(world, town, asked, np.zeros((6, 0, TIMES), dtype=np.int64))
    assert (alone.error, alone.places, alone.classes) == (0.0, 1.0, 1.0)
    every = np.tile(np.arange(PLACES)[None, :, None], (6, 1, TIMES))
    among = measured(world, town, asked, every)
    assert np.isclose(among.error, 1 - 1 / PLACES) and (among.places, among.classes) == (PLACES, CLASSES)
    assert among.named <= 0.5 < alone.named, "who sends every place is told from nobody"


def test_days_of_invented_people_are_alike_and_not_the_same() -> None:
    town = invent(50, np.random.default_rng(2))
    assert isinstance(town, Town) and town.today.shape == (50, TIMES)
    assert 0.4 < (town.before == town.today).mean() < 0.95
    assert (town.today[:, :6] // (PLACES // CLASSES) == 0).mean() > 0.95, "nights are at home"


def test_the_order_that_was_published(monkeypatch) -> None:
    """Fakes that move as nobody does hide little, and one's own walk names who asks."""
    monkeypatch.setattr("engine.analyses.catalogue.chance", lambda: np.random.default_rng(1))
    answer = ask(analysis("fake_traces"), {"people": 30})
    assert not answer.stays
    found = {way: answer.figures[way]["10"] for way in WAYS}
    assert found["even"]["error"] < found["visits"]["error"] < found["own_walk"]["error"]
    assert found["own_walk"]["error"] < found["seeds"]["error"]
    assert found["own_walk"]["named"] > 0.9 > 0.6 > found["seeds"]["named"]
    assert found["seeds"]["classes"] < found["walk"]["classes"] - 0.5, "the profile is polluted less"
