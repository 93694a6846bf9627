"""Fake places beside the real one, for who asks a service: what hides best, on invented people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import arrays
from engine.analyses.protocol import Analysis, Answer, Context
from engine.analyses.shared import INTEGER
from engine.methods.parameters import Parameter
from engine.methods.protocol import Reference
from engine.risk.trajectories import World, as_published, draw_trace, learn_world
from engine.views import BarsView, Cell, TableView

if TYPE_CHECKING:
    from engine.table.table import Table

Floats = arrays.Floats
Integers = arrays.Integers

TIMES, MINUTES = 72, 20  # a day, as published
CLASSES, EACH = 4, 10
PLACES = CLASSES * EACH
"""Homes, places of work, shops and places of leisure."""
FAKES = (1, 5, 10)
EVEN, VISITS, WALK, OWN_WALK, SEEDS = "even", "visits", "walk", "own_walk", "seeds"
WAYS = (EVEN, VISITS, WALK, OWN_WALK, SEEDS)


class FakeTraces(Analysis):
    """How well fake places hide where somebody is from a service that is asked, and what they cost.

    Notes
    -----
    V. Bindschaedler (2018), section 7.4: with every question about the real place, places of fakes are sent
    as well. The service knows where and how everybody moves, and works out by forward and backward
    recursions where somebody is. Its error is the probability that it gives to all other places at times of
    questions. Whoever asks makes the fakes, on their own device: no custodian releases anything by it.
    """

    id = "fake_traces"
    published = Reference(
        "Bindschaedler: Privacy-preserving seedbased data synthesis (2018)", "section 7.4", "hdl:2142/101478"
    )
    parameters = (
        Parameter("people", INTEGER, default=30, minimum=5, maximum=100),
        Parameter("minutes", INTEGER, default=40, minimum=MINUTES, maximum=24 * 60),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        chance, people = context.chance, values["people"]
        town = invent(people, chance)
        asked = chance.random((people, TIMES)) < MINUTES / values["minutes"]
        asked[:, 0] = True  # somebody who asks nothing is no example
        context.progress.step(0.1, "risk.places")
        parts = np.tile(np.arange(TIMES) * 4 // TIMES, (people, 1))
        world = learn_world(town.before, parts, places=PLACES, classes=CLASSES, chance=chance)
        context.progress.step(0.2, "risk.traces")
        found = {}
        for way in WAYS:
            fakes = made(way, world, town, chance)
            found[way] = {number: measured(world, town, asked, fakes[:, :number]) for number in FAKES}
        return self._answer(found)

    def _answer(self, found: Mapping[str, Mapping[int, Measured]]) -> Answer:
        most = FAKES[-1]
        rows: list[tuple[Cell, ...]] = []
        for way in WAYS:
            own = found[way]
            errors = (round(100 * own[number].error) for number in FAKES)
            last = own[most]
            counts = (round(last.places, 1), round(last.classes, 1), round(100 * last.named))
            rows.append((self.word(f"way.{way}"), *errors, *counts))
        columns = ("places", "classes", "named")
        headings = (
            self.word("table.way"),
            *(self.word("table.error", fakes=number) for number in FAKES),
            *(self.word(f"table.{name}", fakes=most) for name in columns),
        )
        hidden = {way: round(100 * found[way][most].error) for way in WAYS}
        kinds = {f"{way}_classes": round(found[way][most].classes, 1) for way in WAYS}
        said = {**hidden, **kinds, "fakes": most, "named": round(100 * found[OWN_WALK][most].named)}
        lines = [self.word(name, **said) for name in ("said", "own", "source", "service", "nobody")]
        bars = BarsView(
            self.word("bars.title", fakes=most),
            tuple(self.word(f"way.{way}") for way in WAYS),
            tuple(100 * found[way][most].error for way in WAYS),
            self.word("bars.axis"),
        )
        figures = {way: {str(n): vars(one) for n, one in own.items()} for way, own in found.items()}
        table = TableView(self.word("table.title"), headings, tuple(rows), self.word("table.note"))
        return Answer((self.sentences(lines), bars, table), figures)


@dataclass(frozen=True)
class Town:
    """Invented people: where each was on a day before, and is on the day of the questions, every 20 minutes.

    Both of shape (people, times). Which class a place has is its number over `EACH`.
    """

    before: Integers
    today: Integers


def invent(people: int, chance: np.random.Generator) -> Town:
    """Return people with a home, a place of work, shops and places of leisure of their own."""
    own = chance.integers(EACH, size=(people, CLASSES)) + np.arange(CLASSES) * EACH
    hours = (0.0, 8.0, 12.0, 12.7, 17.0, 18.0, 20.5)
    then = (0, 1, 2, 1, 2, 3, 0)  # home, work, shop, work, shop, leisure, home
    days = []
    for _ in range(2):
        starts = np.array(hours) + chance.normal(0, 0.4, (people, len(hours)))
        starts[:, 0] = 0
        time = np.arange(TIMES) * MINUTES / 60
        part = (np.sort(starts, axis=1)[:, None, :] <= time[None, :, None]).sum(axis=2) - 1
        other = chance.integers(EACH, size=(people, CLASSES)) + np.arange(CLASSES) * EACH
        is_other = (chance.random((people, CLASSES)) < 0.3) & (np.arange(CLASSES) >= 2)
        places = np.where(is_other, other, own)  # now and then one shops or meets elsewhere
        days.append(np.take_along_axis(places, np.array(then)[part], axis=1))
    return Town(*days)


def made(way: str, world: World, town: Town, chance: np.random.Generator) -> Integers:
    """Return fake traces of everybody, shape (people, fakes, times)."""
    people, most = len(town.before), FAKES[-1]
    shape = (people, most, TIMES)
    if way == EVEN:
        return chance.integers(PLACES, size=shape)
    if way == VISITS:
        shares = np.bincount(town.before.ravel(), minlength=PLACES) / town.before.size
        return chance.choice(PLACES, size=shape, p=shares)
    if way == SEEDS:
        others = (np.arange(people)[:, None] + chance.integers(1, people, (people, most))) % people
        return as_published(world, town.before[others.ravel()], chance).reshape(shape)
    anywhere = np.ones((most, TIMES, PLACES), dtype=bool)
    if way == WALK:
        return np.array([draw_trace(world, anywhere, chance) for _ in range(people)])
    found = []
    for own in town.before:
        counts = np.zeros((PLACES, PLACES))
        np.add.at(counts, (own[:-1], own[1:]), 1)
        moves = counts + 1e-3 * world.moves  # from where nobody knows, as everybody
        start = np.bincount(own[:1], minlength=PLACES).astype(np.float64)
        own_world = World(start, moves / moves.sum(axis=1, keepdims=True), world.classes)
        found.append(draw_trace(own_world, anywhere, chance))
    return np.array(found)


@dataclass(frozen=True)
class Measured:
    """What fakes hide and cost.

    Parameters
    ----------
    error
        The probability that the service gives to places where one is not, on average of questions.
    places, classes
        How many different places and classes of places are sent with a question: bandwidth and pollution.
    named
        The share of people who are recognised by the places that they sent, among all of them.
    """

    error: float
    places: float
    classes: float
    named: float


def measured(world: World, town: Town, asked: arrays.Bools, fakes: Integers) -> Measured:
    """Attack what everybody sent, shape (people, fakes, times), where ``asked``."""
    sent = np.zeros((len(town.today), TIMES, PLACES), dtype=bool)
    everybody, times = np.ogrid[: len(sent), :TIMES]
    sent[everybody, times, town.today] = True
    for fake in range(fakes.shape[1]):
        sent[everybody, times, fakes[:, fake]] = True
    posterior = localise(world, np.where(asked[:, :, None], sent, True))
    right = np.take_along_axis(posterior, town.today[:, :, None], axis=2)[:, :, 0]
    questions = sent[asked]
    classes = questions.reshape(len(questions), CLASSES, EACH).any(axis=2)
    profiles = np.array([np.bincount(one, minlength=PLACES) for one in town.before]) + 0.1
    logs = np.log(profiles / profiles.sum(axis=1, keepdims=True))
    counts = (sent & asked[:, :, None]).sum(axis=1)
    named = (counts @ logs.T).argmax(axis=1) == np.arange(len(sent))
    return Measured(
        float(1 - right[asked].mean()),
        float(questions.sum(axis=1).mean()),
        float(classes.sum(axis=1).mean()),
        float(named.mean()),
    )


def localise(world: World, sent: arrays.Bools) -> Floats:
    """Return how likely everybody is at each place at each time, given among which they are said to be.

    Forward and backward recursions of a hidden Markov chain of all moves; every place sent is as likely to be
    the real one. Shape (people, times, places).
    """
    times = sent.shape[1]
    ahead, behind = sent.astype(np.float64), np.ones(sent.shape)
    ahead[:, 0] *= world.start
    for time in range(times):
        if time:
            ahead[:, time] *= ahead[:, time - 1] @ world.moves
        ahead[:, time] /= ahead[:, time].sum(axis=1, keepdims=True)
    for time in range(times - 2, -1, -1):
        behind[:, time] = (behind[:, time + 1] * sent[:, time + 1]) @ world.moves.T
        behind[:, time] /= behind[:, time].max(axis=1, keepdims=True)
    both = ahead * behind
    return np.asarray(both / both.sum(axis=2, keepdims=True))
