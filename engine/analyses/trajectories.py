"""Traces made from seeds: as published, and in the form whose crowds can be tested. How useful is either?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import arrays
from engine.analyses.disclosure import own_table
from engine.analyses.protocol import Analysis, Answer, Context, InternalAnswer
from engine.analyses.shared import EVENTS, read_events
from engine.errors import InputRefused
from engine.methods.datasets.seeds.crowds import Crowd, weigh_crowd
from engine.methods.datasets.seeds.plan import plan_test
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN, Reference, Shape, Source
from engine.privacy.mechanisms.seeded_rows import SeededRows
from engine.risk.trajectories import (
    TOGETHER,
    Coins,
    Kept,
    World,
    as_published,
    draw_trace,
    kept,
    learn_world,
    logs_of,
    possible_places,
)
from engine.views import Cell, TableView, Text

if TYPE_CHECKING:
    from engine.analyses.shared import Events
    from engine.table.table import Table

Floats = arrays.Floats
Integers = arrays.Integers

LEAST_PEOPLE, MOST_PEOPLE, MOST_PLACES = 20, 1_000, 100
DELTA = Fraction(1, 10**6)
PARTS_OF_DAY = 6 * 60  # minutes
PUBLISHED, TESTED, OTHERS, EVEN, SINGLE = "published", "tested", "others", "even", "single"


class TracesFromSeeds(Analysis):
    """Traces made from real ones, by the likeliest path as published and drawn in a form that can be tested.

    Notes
    -----
    V. Bindschaedler (2018), section 6.1, gives no probability of a trace from a seed, which privacy tests
    need. Here, given coins that are tossed before a seed is looked at, a trace is drawn along the chain of
    all moves within the places that the seed leaves possible: that has one. It goes through the weighted test
    of corollary 4.1, as rows of `datasets.seedbased` do. Half of the people say what places have in common,
    the others are seeds. Published of another log, of 20 minutes at 400 places: divergence of visits .384
    from the seeds, .037 of another day, 1.191 of even shares, 4.666 of one place.
    """

    id = "trajectories"
    published = Reference(
        "Bindschaedler: Privacy-preserving seedbased data synthesis (2018)",
        "section 6.1 and table 7.1; tested by corollary 4.1",
        "hdl:2142/101478",
    )
    sources = (Source(MAIN, Shape.EVENTS),)
    parameters = (
        Parameter("place", ParameterKind.COLUMN),
        Parameter("moment", ParameterKind.COLUMN, column_kinds=EVENTS),
        Parameter("visits", ParameterKind.INTEGER, default=6, minimum=2, maximum=50),
        Parameter("classes", ParameterKind.INTEGER, default=3, minimum=1, maximum=50),
        Parameter("epsilon", ParameterKind.NUMBER, default=1, minimum=Fraction(1, 10), maximum=10),
        Parameter("released", ParameterKind.INTEGER, default=50, minimum=1, maximum=1000),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        table, schema = own_table(tables, context)
        columns = (schema.column(values["place"]), schema.column(values["moment"]))
        events = read_events(table, schema, *columns)
        traces, periods = _first(events, values["visits"])
        places = len(events.names)
        if len(traces) < LEAST_PEOPLE or not 1 < places <= MOST_PLACES:
            told = {"people": len(traces), "least": LEAST_PEOPLE, "places": places, "most": MOST_PLACES}
            raise InputRefused("analyses.trajectories_size", visits=values["visits"], **told)
        lot = context.chance.permutation(len(traces))[:MOST_PEOPLE]
        half = len(lot) // 2
        others, seeds = traces[lot[:half]], traces[lot[half:]]
        context.progress.step(0.0, "risk.places")
        world = learn_world(
            others, periods[lot[:half]], places=places, classes=values["classes"], chance=context.chance
        )
        context.progress.step(0.3, "risk.traces")
        made = {PUBLISHED: as_published(world, seeds, context.chance)}
        made[TESTED], crowds = drawn_with_crowds(world, seeds, context.chance)
        context.progress.step(0.9, "risk.traces")
        found = {
            name: (kept(seeds, one, places), float((one != seeds).mean()), int((one == seeds).all(1).sum()))
            for name, one in made.items()
        }
        shape = seeds.shape
        compared = {
            OTHERS: kept(seeds, others, places),
            EVEN: kept(seeds, context.chance.integers(places, size=shape), places),
            SINGLE: kept(seeds, np.full(shape, np.bincount(seeds.ravel()).argmax()), places),
        }
        epsilon = Fraction(str(values["epsilon"]))
        plans = [
            plan_test(n, epsilon=epsilon, delta=DELTA, ratio=Fraction(1)) for n in (1, values["released"])
        ]
        passing = [_passing(plan, crowds, made[TESTED] != seeds) for plan in plans]
        return self._answer(values, events, world, found, compared, crowds, passing)

    def _answer(
        self,
        values: Mapping[str, Any],
        events: Events,
        world: World,
        found: Mapping[str, tuple[Kept, float, int]],
        compared: Mapping[str, Kept],
        crowds: Integers,
        passing: list[Passing],
    ) -> Answer:
        one, many = passing
        classes = int(world.classes.max()) + 1
        figures = {
            "audience": "internal",
            "seeds": len(crowds),
            "classes": classes,
            "crowd": float(np.median(crowds)),
            "one": vars(one),
            "many": vars(many),
            "made": {
                name: {"visits": near.visits, "moves": near.moves, "changed": changed, "copies": copies}
                for name, (near, changed, copies) in found.items()
            },
            "compared": {name: vars(near) for name, near in compared.items()},
        }
        said = {
            "seeds": len(crowds),
            "classes": classes,
            "copies": found[PUBLISHED][2],
            "changed": round(100 * found[PUBLISHED][1]),
            "crowd": int(np.median(crowds)),
            "epsilon": float(values["epsilon"]),
        }
        lines = [
            self.word("said", **said),
            self.word("no_guarantee", **said),
            self.word("crowd", **said),
            *(
                self.word(name, **said, released=released, **passed.values())
                for name, released, passed in (("one", 1, one), ("many", values["released"], many))
                if passed.threshold
            ),
            self.word("lesson"),
            Text("risk.lines.stays"),
        ]
        headings = tuple(
            self.word(f"ways.{name}") for name in ("way", "visits", "moves", "changed", "copies")
        )
        rows: list[tuple[Cell, ...]] = [
            (self.word(f"way.{name}"), *_near(near), round(100 * changed), copies)
            for name, (near, changed, copies) in found.items()
        ]
        rows += [(self.word(f"way.{name}"), *_near(near), None, None) for name, near in compared.items()]
        alike = tuple(
            (number + 1, ", ".join(events.names[one] for one in np.flatnonzero(world.classes == number)))
            for number in range(classes)
        )
        return InternalAnswer(
            (
                self.sentences(lines),
                TableView(self.word("ways.title"), headings, tuple(rows), self.word("ways.note")),
                TableView(
                    self.word("alike.title"),
                    (self.word("alike.class"), self.word("alike.places")),
                    alike,
                    self.word("alike.note"),
                ),
            ),
            figures,
        )


def _near(found: Kept) -> tuple[float, float]:
    return round(found.visits, 3), round(found.moves, 2)


def _first(events: Events, visits: int) -> tuple[Integers, Integers]:
    """Return the first places, and their parts of the day, of everybody with so many visits."""
    lengths = np.bincount(events.person)
    starts = (np.cumsum(lengths) - lengths)[lengths >= visits]
    cells = starts[:, None] + np.arange(visits)
    return events.place[cells], events.minutes[cells] % (24 * 60) // PARTS_OF_DAY


def drawn_with_crowds(
    world: World, seeds: Integers, chance: np.random.Generator
) -> tuple[Integers, Integers]:
    """Return a trace drawn from every seed, and its crowd: how many other seeds weigh in, as likely."""
    made, crowds = [], []
    for start in range(0, len(seeds), TOGETHER):
        coins = Coins.toss(1, seeds.shape[1], len(world.start), chance)
        where = possible_places(world, seeds, coins)
        own = np.arange(start, min(start + TOGETHER, len(seeds)))
        made.append(draw_trace(world, where[own], chance))
        crowds.append(weigh_crowd(crowd_of(logs_of(world, where, made[-1]), own)))
    return np.concatenate(made), np.concatenate(crowds)


def crowd_of(logs: Floats, own: Integers) -> Crowd:
    """Return the crowds of rows of which every seed has a likelihood of its own, shape (rows, seeds)."""
    order = np.argsort(logs, axis=1, kind="stable")
    place = (order == own[:, None]).argmax(axis=1)
    return Crowd(np.ones_like(order), np.take_along_axis(logs, order, axis=1), place)


@dataclass(frozen=True)
class Passing:
    """How many traces pass a test, on average, and how many of their places are not the seed's.

    Threshold 0: no test is enough for so many; nothing is changed where less than one passes.
    """

    threshold: int
    share: float
    changed: float

    def values(self) -> dict[str, Any]:
        """Return what a sentence says of it."""
        return {
            "threshold": self.threshold,
            "percent": round(100 * self.share),
            "places": round(100 * self.changed),
        }


def _passing(plan: SeededRows | None, crowds: Integers, changed: arrays.Bools) -> Passing:
    if plan is None:
        return Passing(0, 0.0, 0.0)
    sure = np.array([plan.chance(int(size)) for size in crowds])
    left = float((sure * changed.mean(axis=1)).sum() / sure.sum()) if sure.sum() >= 1 else 0.0
    return Passing(plan.threshold, float(sure.mean()), left)
