"""Invented histories from noisy counts: usual whole orders of places, and chains for all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engine import arrays
from engine.methods import option
from engine.methods.budget import budget_problems, is_replace_one, required_budget
from engine.methods.datasets.marginal_model.sampling import uniform
from engine.methods.datasets.whole_orders import Foreseen, Orders
from engine.methods.filling import Judged
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    DictionaryEntry,
    Expected,
    Family,
    Forecast,
    Method,
    Reference,
    Release,
    Rows,
    Shape,
    Source,
    TableArtefact,
)
from engine.methods.shared.cells import MOST_CELLS, Extra, LevelAxis
from engine.methods.shared.histories import (
    DAY,
    GRID,
    HOUR,
    Histories,
    Weighing,
    bounds_of,
    event_problems,
    part_of_time,
    project_table,
    read_histories,
    sequences,
    stay_edges,
)
from engine.methods.shared.promise import promise
from engine.methods.shared.tables import forecast_views
from engine.once import once
from engine.privacy.accuracy import spread_of_sites
from engine.privacy.events import Event, Parallel, Sequential
from engine.privacy.mechanisms import ClearLaplace, LaplaceCounts, threshold_of
from engine.privacy.promise import WEIGHED, Promise
from engine.table.schema import Kind
from engine.views import Text

if TYPE_CHECKING:
    from engine.privacy.noise import Noise
    from engine.table.table import Table

Floats = arrays.Floats
Integers = arrays.Integers

SHARES = {
    "lengths": Fraction(2, 25),
    "starts": Fraction(3, 25),
    "hours": Fraction(2, 25),
    "moves": Fraction(12, 25),
    "stays": Fraction(6, 25),
}
"""Of ε. A move needs most: it has the most cells, and everything hangs on it."""
OF_SEQUENCES = Fraction(1, 5)
"""Of ε, for whole orders; what is left is divided as above."""
PEOPLE_A_STEP = 2700
"""Fewer people for each step of the scale of noise on orders, and none are counted: moves would lose.

Of an invented hospital of 20,000 people and 40 wards: ε = 1, with 4,000 people for each, has moves that are
off by .11 without and .11 with whole orders, ε = 1/2, with 2,000, by .17 and .19.
"""
LEAST_PEOPLE = 680
CLEAR_MOVES = 15
"""Where a move is so many deviations of its noise, moves can spare a fifth, and `LEAST_PEOPLE` are enough.

Of an invented clinic of 6,000 people and 8 places, ε = 1 with 1,200 people for each: .12 and .07.
"""
INVENTED, USUAL_STEPS = Fraction(1, 50), 8
"""Of the people, who may go through orders that noise alone made; and the scales that an order needs about.

Of an invented hospital of 20,000 people, ε = 1, with one and 10 orders that noise made, among 61 and 93: the
50 most frequent are off by .052 and .044, of another hospital by .110 and .091. All else is as near.
"""
MOST_NUMBERED = 2**62
MOST_PEOPLE = 1_000_000
MOST_TIMES = 3
"""So many times the stated people are invented at most, whatever the noise says."""
NOT_KNOWN = 1


class Traces(Method):
    """Invented histories of places, one event after the other, from private tables alone.

    Notes
    -----
    Five tables are counted on whole histories (`engine.methods.shared.histories`): lengths, first place by
    slot of the calendar, first place by hour of the day, moves to the next place or the end, and stays by
    band. The first three move by 1 where one history comes or goes, the others by the cap in weighed events;
    exact discrete noise, and the losses add up. Where people are many, whole orders of places are counted
    too, each history in one: all those that the noisy tables foresee, of which those are kept that noise
    alone would hardly make, the likelier the sooner (`engine.methods.datasets.whole_orders`); with δ also
    those that somebody has and nothing foresees, above a threshold that one person reaches with at most δ.
    What follows reads nothing more: so many invented people go through each order that was kept, and are
    taken out of the other tables; negative counts are brought to the nearest table without any, rows of stays
    are drawn towards all stays by how noisy they are, and all other histories are drawn from the chain. Its
    ends are brought, step by step, to the noisy lengths.

    Source: Chen, Acs and Castelluccia (2012) and Wang and Sinnott (2017) draw traces from private chains; the
    weights in place of a cut, whole orders beside the chain, and ends by lengths, are this program's.
    """

    id = "datasets.traces"
    summable = True
    family = Family.DATASET
    promises = ("pure_dp", "approximate_dp")
    version = 3  # which whole orders are counted follows from the noisy tables
    sources = (Source(MAIN, Shape.EVENTS),)
    rows = Rows.SYNTHETIC
    invented = True
    counts_people = True
    published = Reference(
        "Chen, Acs, Castelluccia: Differentially private sequential data publication via variable-length "
        "n-grams (2012)",
        "section 4, with whole histories weighed in place of cut",
        "doi:10.1145/2382196.2382263",
    )

    class Options(option.Options):
        place: str = option.column(column_kinds=(Kind.CATEGORY, Kind.ORDINAL), needs_domain=True)
        moment: str = option.column(column_kinds=(Kind.MOMENT,), needs_domain=True)
        left: str | None = option.column(column_kinds=(Kind.MOMENT,), optional=True, needs_domain=True)
        session: int | None = option.integer(optional=True, minimum=0, maximum=24 * 366, unit="hours")
        about_people: int = option.integer(minimum=10, maximum=10**9)
        longest: int = option.integer(default=20, minimum=2, maximum=200)
        stays: option.Edges = option.edges(default=[6, 24, 72, 168], minimum=1, maximum=50)
        slot: int = option.integer(default=7, minimum=1, maximum=366, unit="days")
        whole: int = option.integer(default=6, minimum=0, maximum=8)

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        if self.schema.person_key is None:
            return [Problem(f"{self.id}.no_person_key")]
        own = self.options
        found = event_problems(
            self.schema, place=own.place, moment=own.moment, left=own.left, stays=own.stays, method=self.id
        )
        if not found and (size := max(int(np.prod(shape)) for shape in self.shapes.values())) > MOST_CELLS:
            found.append(Problem(f"{self.id}.too_many_cells", {"cells": size, "most": MOST_CELLS}, "slot"))
        found += budget_problems(self.request, uses_delta=self.by_delta)
        if not found and self.by_delta and self.orders is None:
            found += budget_problems(self.request, uses_delta=False)
        if not found and self.signal < 1:
            values = {"people": self.options.about_people, "places": self.axis.declared}
            found.append(Problem(f"{self.id}.too_few", values, "about_people"))
        return found

    @once
    def uses(self) -> Mapping[str, tuple[str, ...]]:
        key = self.schema.person_key
        chosen = (self.request.values.get(name) for name in ("place", "moment", "left"))
        named = (key.name if key else None, *chosen)
        return {MAIN: tuple(name for name in named if name is not None)}

    @once
    def axis(self) -> LevelAxis:
        """Return the places, and one cell for what was not declared: no history is torn by it."""
        return LevelAxis(self.schema.column(self.options.place), Extra.TOGETHER)

    @once
    def bounds(self) -> tuple[int, int]:
        """Return where the declared time begins and ends, in minutes."""
        return bounds_of(self.schema.column(self.options.moment))

    @once
    def edges(self) -> Integers:
        """Return the inner edges of stays, in minutes."""
        return stay_edges(self.options.stays)

    @once
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the cells of every table."""
        places, (low, high) = len(self.axis.labels), self.bounds
        return {
            "lengths": (self.options.longest,),
            "starts": (places, -((low - high) // (self.options.slot * DAY))),
            "hours": (places, 24),
            "moves": (places, places + 1),
            "stays": (places, len(self.edges) + 1 + NOT_KNOWN),
        }

    @once
    def orders(self) -> LaplaceCounts | None:
        """Return the noise of whole orders; None where none are counted, by declared numbers alone."""
        budget, factor = required_budget(self.request), 2 if is_replace_one(self.request) else 1
        if not self.longest_order:
            return None
        found = LaplaceCounts(factor, OF_SEQUENCES * budget.epsilon)
        has_room = self._signal_of(self._weighed(SHARES["moves"] * budget.epsilon)) >= CLEAR_MOVES
        if self.options.about_people < (LEAST_PEOPLE if has_room else PEOPLE_A_STEP) * found.scale:
            return None
        return found

    @once
    def invented_orders(self) -> float:
        """Return how many orders that nobody has noise makes on average: so few that few people go there."""
        if self.orders is None:
            return 0.0
        there = float(INVENTED * self.options.about_people / (USUAL_STEPS * self.orders.scale))
        return max(1.0, float(f"{there:.2g}"))

    @once
    def unforeseen(self) -> ClearLaplace | None:
        """Return the noise of whole orders that the noisy tables do not foresee; None without δ.

        A history is in one order, foreseen or not: both cost what one does. Not of a person who is exchanged,
        who can be in both.
        """
        budget = required_budget(self.request)
        if self.orders is None or not self.by_delta:
            return None
        threshold = threshold_of(self.orders.scale, budget.delta)
        return ClearLaplace(1, self.orders.epsilon, threshold=threshold)

    @once
    def longest_order(self) -> int:
        """Return the length of the longest whole order that is counted."""
        places = len(self.axis.labels)
        lengths = range(1, min(self.options.whole, self.options.longest - 1) + 1)
        return max((one for one in lengths if sequences(places, one) <= MOST_NUMBERED), default=0)

    @property
    def by_delta(self) -> bool:
        """Whether whole orders that nothing foresees leave, too, above a threshold of δ."""
        budget = self.request.budget  # it may hold anything before it was looked at
        has_delta = self.options.whole > 0 and budget is not None and bool(budget.delta)
        return has_delta and not is_replace_one(self.request)

    @property
    def asks_once(self) -> bool:
        """Which whole orders stand out hangs on the noise of the site."""
        return self.orders is None

    @once
    def mechanisms(self) -> dict[str, LaplaceCounts]:
        """Return the noise of every table of which all cells count."""
        epsilon, factor = required_budget(self.request).epsilon, 2 if is_replace_one(self.request) else 1
        epsilon *= 1 if self.orders is None else 1 - OF_SEQUENCES
        found = {}
        for name, share in SHARES.items():
            if name in ("moves", "stays"):
                found[name] = self._weighed(share * epsilon)
            else:
                found[name] = LaplaceCounts(factor, share * epsilon)
        return found

    def _weighed(self, epsilon: Fraction) -> LaplaceCounts:
        """Return the noise of a table of weighed events."""
        return LaplaceCounts(self.request.units_moved * GRID, epsilon, Fraction(1, GRID))

    @once
    def cost(self) -> Promise:
        events: list[Event] = [mechanism.event for mechanism in self.mechanisms.values()]
        if self.unforeseen is not None and self.orders is not None:
            events.append(Parallel((self.orders.event, self.unforeseen.event)))
        elif self.orders is not None:
            events.append(self.orders.event)
        kind = "pure_dp" if self.unforeseen is None else "approximate_dp"
        return promise(self.request, Sequential(tuple(events)), kind=kind, bounded=WEIGHED)

    @once
    def signal(self) -> float:
        """Return how many deviations of its noise a move has on average, were every history full."""
        return self._signal_of(self.mechanisms["moves"])

    def _signal_of(self, mechanism: LaplaceCounts) -> float:
        """Return `signal` were this the noise of moves."""
        cells = int(np.prod(self.shapes["moves"]))
        noise = sqrt(2) * float(mechanism.scale) / GRID
        return self.options.about_people * self.request.rows_per_person / cells / noise

    # --- forecast ----------------------------------------------------------------------------------

    @once
    def forecast(self) -> Forecast:
        errors = []
        for name, mechanism in self.mechanisms.items():
            step = 1 / GRID if name in ("moves", "stays") else 1.0
            one, unit = mechanism.accuracy(), "events" if step < 1 else self.schema.words.several
            said = Text(f"methods.{self.id}.numbers.{name}.label")
            errors.append(Expected(said, "invented", None, one.median * step, one.limit * step, unit))
        if self.orders is not None:
            one, unit = self.orders.accuracy(), self.schema.words.several
            said = Text(f"methods.{self.id}.numbers.orders.label")
            errors.append(Expected(said, "invented", None, one.median, one.limit, unit))
        weighed = Text(f"methods.{self.id}.notes.weighed", {"cap": self.schema.rows_per_person})
        views = forecast_views(self.id, errors)
        relations = "chain" if self.orders is None else "chain_and_orders"
        notes = (weighed, *self._order_notes, Text(f"datasets.relations.{relations}"))
        return Forecast(tuple(errors), errors[3], views, notes)

    @property
    def _order_notes(self) -> list[Text]:
        """Say which whole orders are kept, or that none are."""
        word = f"methods.{self.id}.notes"
        if self.orders is None:
            return [Text(f"{word}.no_orders")] if self.options.whole else []
        values = {"longest": self.longest_order, "invented": self.invented_orders}
        found = [Text(f"{word}.orders", values)]
        if self.unforeseen is not None:
            found.append(Text(f"{word}.unforeseen", {"threshold": self.unforeseen.threshold}))
        return found

    def judged(self, people: int | None) -> Judged:
        share = max(0.0, 1 - 1 / self.signal)
        verdict = "noise" if share < 0.5 else "much" if share < 0.8 else "moves"
        times = {"times": float(f"{self.signal:.3g}")}
        return Judged(share, Text(f"methods.{self.id}.judged.{verdict}", times))

    # --- release -----------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        context.progress.step(0.0, "run.reading")
        places, asked = len(self.axis.labels), self.options
        own = read_histories(
            tables,
            context,
            self.schema,
            self.axis,
            moment=asked.moment,
            left=asked.left,
            session=asked.session,
        )
        first, cap = own.firsts, self.schema.rows_per_person
        weighing, slots = Weighing(cap, cap), self.shapes["starts"][1]
        slot = (own.start[first] - self.bounds[0]) // (self.options.slot * DAY)
        hour = part_of_time(own.start[first], weekly=False)
        exact = {
            "lengths": own.length_counts(self.options.longest),
            "starts": np.bincount(own.place[first] * slots + slot, minlength=places * slots),
            "hours": np.bincount(own.place[first] * 24 + hour, minlength=places * 24),
            "moves": own.moves(places, weighing),
            "stays": own.stays(places, self.edges, weighing),
        }
        context.progress.step(0.5, "run.noise")
        noisy = {
            name: mechanism.release(exact[name].astype(np.int64), context.noise)
            for name, mechanism in self.mechanisms.items()
        }
        shaped = {name: noisy[name].reshape(self.shapes[name]).astype(float) for name in noisy}
        found = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        if self.orders is not None:
            foreseen = Foreseen.of(
                shaped, self.longest_order, self.orders.scale, invented=self.invented_orders
            )
            found = self._whole_orders(own, foreseen, context)
        # nothing after this line has seen a row
        context.progress.step(0.7, "run.writing")
        total = round(float(shaped["lengths"].sum()))
        people = min(max(1, total), MOST_TIMES * self.options.about_people, MOST_PEOPLE)
        kept = Orders.of(*found, places, total=total, people=people)
        starts = project_table(shaped["starts"])
        model = Chain.of(kept.taken_out(shaped, weighing), self._deviation)
        artefact = self._table(model, people - kept.people, kept, starts, context.noise)
        return Release((artefact,), self.cost, notes=self.forecast.notes)

    def _whole_orders(
        self, own: Histories, foreseen: Foreseen, context: Context
    ) -> tuple[Integers, Integers]:
        """Return the whole orders that are kept, and their noisy counts."""
        assert self.orders is not None
        there, counts = own.whole_made(len(self.axis.labels), self.longest_order)
        noisy = self.orders.release(foreseen.counts(there, counts), context.noise)
        cells, kept = foreseen.kept(noisy)
        if self.unforeseen is None:
            return cells, kept
        others = ~foreseen.has(there)
        further, more = self.unforeseen.release(there[others], counts[others], context.noise)
        return np.concatenate([cells, further.astype(np.int64)]), np.concatenate([kept, more])

    def _deviation(self, name: str) -> float:
        """Return the deviation of the noise of a table, of all sites that add some, in steps."""
        return sqrt(2) * float(self.mechanisms[name].scale) * spread_of_sites()

    def _table(self, model: Chain, people: int, kept: Orders, starts: Floats, noise: Noise) -> TableArtefact:
        """Draw histories and write them, ordered by invented person and moment."""
        person, place, start, end = draw(
            model,
            people,
            noise,
            planned=kept.plans,
            starts=starts,
            edges=self.edges,
            bounds=self.bounds,
            slot=self.options.slot * DAY,
        )
        key = self.schema.person_key
        assert key is not None
        labels = np.array([*self.axis.labels[: self.axis.declared], ""], dtype=object)
        columns = {
            key.name: (person + 1).astype(str),
            self.options.place: labels[place],
            self.options.moment: start.astype("datetime64[m]").astype(str),
        }
        if self.options.left is not None:
            columns[self.options.left] = end.astype("datetime64[m]").astype(str)
        frame = pd.DataFrame({name: pd.array(cells, dtype="str") for name, cells in columns.items()})
        word = f"methods.{self.id}.dictionary"
        meanings = ("person", "place", "moment", "left")
        kinds = ("category", "category", "text", "text")
        entries = tuple(
            DictionaryEntry(name, Text(f"{word}.{meaning}"), kind)
            for name, meaning, kind in zip(columns, meanings, kinds, strict=False)
        )
        return TableArtefact("traces", (frame,), entries)


# --- the chain: everything below reads noisy tables alone --------------------------------------------------


@dataclass(frozen=True)
class Chain:
    """Where histories begin, go and end.

    Parameters
    ----------
    ends
        Chance of each length that a history ends there, given that it came so far, shape (longest).
    starts
        Chances of first place and slot, shape (places, slots).
    hours
        Chances of the hour of the first arrival by place, shape (places, 24).
    moves
        Chances of the next place by place, shape (places, places).
    leaving
        Chance of each place that a history ends there, shape (places).
    stays
        Chances of the bands of stays by place, shape (places, bands).
    """

    ends: Floats
    starts: Floats
    hours: Floats
    moves: Floats
    leaving: Floats
    stays: Floats

    @staticmethod
    def of(tables: Mapping[str, Floats], deviation: Callable[[str], float]) -> Chain:
        """Return the chain of noisy tables; ``deviation`` gives that of the noise of a table by its name."""
        lengths = project_table(tables["lengths"].astype(float))
        left = np.cumsum(lengths[::-1])[::-1]
        ends = np.divide(lengths, left, out=np.ones_like(lengths), where=left > 0)
        ends[-1] = 1.0
        moves = project_table(tables["moves"].astype(float))
        all_moves = moves.sum(axis=1)
        leaving = np.divide(moves[:, -1], all_moves, out=np.full(len(moves), 0.5), where=all_moves > 0)
        return Chain(
            ends,
            project_table(tables["starts"].astype(float)),
            shrink_to_mean(tables["hours"].astype(float), deviation("hours")),
            rows_of(moves[:, :-1]),
            np.clip(leaving, 1e-6, 1 - 1e-6),
            shrink_to_mean(tables["stays"][:, :-NOT_KNOWN].astype(float), deviation("stays")),
        )


def rows_of(table: Floats) -> Floats:
    """Return every row as chances; all alike in a row of nothing."""
    sums = table.sum(axis=1, keepdims=True)
    alike = np.full_like(table, 1 / table.shape[1])
    return np.divide(table, sums, out=alike, where=sums > 0)


def shrink_to_mean(table: Floats, deviation: float) -> Floats:
    """Return every row as chances, drawn towards those of all rows by how noisy its sum is."""
    everybody = project_table(table.sum(axis=0))
    everybody = everybody / everybody.sum()
    sums = np.maximum(table.sum(axis=1, keepdims=True), 0.0)
    weight = sums / (sums + deviation * sqrt(table.shape[1]))
    own = rows_of(np.array([project_table(line) for line in table]))
    return np.asarray(weight * own + (1 - weight) * everybody)


def tilt_chances(leaving: Floats, counts: Floats, wanted: float) -> Floats:
    """Return chances of ending by place, odds times one number, so that ``wanted`` of those counted end.

    Examples
    --------
    >>> [round(float(one), 3) for one in tilt_chances(np.array([0.5, 0.2]), np.array([1.0, 1.0]), 0.5)]
    [0.667, 0.333]
    """
    total = counts.sum()
    if total == 0 or wanted >= 1:
        return np.ones_like(leaving)
    odds, low, high = leaving / (1 - leaving), -40.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        ended = odds * np.exp(middle) / (1 + odds * np.exp(middle))
        low, high = (middle, high) if counts @ ended < wanted * total else (low, middle)
    return np.asarray(odds * np.exp(high) / (1 + odds * np.exp(high)))


def choose(chances: Floats, lots: Floats) -> Integers:
    """Return a choice for each row of chances, shape (rows, choices), by lots between 0 and 1."""
    sums = np.cumsum(chances, axis=1)
    return np.asarray((sums < lots[:, None] * sums[:, -1:]).sum(axis=1), dtype=np.int64)


def draw(
    chain: Chain,
    people: int,
    noise: Noise,
    *,
    edges: Integers,
    bounds: tuple[int, int],
    slot: int,
    planned: Integers | None = None,
    starts: Floats | None = None,
) -> tuple[Integers, Integers, Integers, Integers]:
    """Return person, place, arrival and leaving of invented events, by person and moment.

    Parameters
    ----------
    chain, people
        What so many of them follow.
    edges, bounds, slot
        Inner edges of stays, the declared time, and the length of a slot, in minutes.
    planned, starts
        Places of people who follow no chain, filled up with −1, shape (planned people, longest), and by place
        in which slots people begin, shape (places, slots).
    """
    low, high = bounds
    places = len(chain.leaving)
    cumulated = np.cumsum(chain.starts.ravel())
    cell = np.searchsorted(cumulated, uniform(noise, people) * cumulated[-1], side="right")
    place, at = np.divmod(np.minimum(cell, len(cumulated) - 1), chain.starts.shape[1])
    plans = np.full((people, 1), -1, dtype=np.int64)
    if planned is not None and starts is not None and len(planned):
        more = choose(rows_of(starts)[planned[:, 0]], uniform(noise, len(planned)))
        place, at = np.append(place, planned[:, 0]), np.append(at, more)
        plans = np.full((people + len(planned), planned.shape[1]), -1, dtype=np.int64)
        plans[people:] = planned
    free = np.arange(len(place)) < people
    mixed = noise.shuffled(len(place))  # numbers of people say nothing of what they follow
    place, at, plans, free = place[mixed], at[mixed], plans[mixed], free[mixed]
    people = len(place)
    days = slot // DAY
    day = at * days + np.floor(uniform(noise, people) * days).astype(np.int64)
    hour = choose(chain.hours[place], uniform(noise, people))
    begin = low // DAY * DAY
    now = begin + day * DAY + hour * HOUR + np.floor(uniform(noise, people) * HOUR).astype(np.int64)
    now = np.clip(now, low, high - 1)
    person = np.arange(people)
    outer = np.concatenate([[0], edges, [2 * edges[-1]]])
    found = []
    for step, ends in enumerate(chain.ends.tolist()):
        band = choose(chain.stays[place], uniform(noise, len(place)))
        width = outer[band + 1] - outer[band]
        end = now + outer[band] + np.floor(uniform(noise, len(place)) * width).astype(np.int64)
        found.append((person, place, now, np.minimum(end, high - 1)))
        counts = np.bincount(place[free], minlength=places).astype(float)
        chance = tilt_chances(chain.leaving, counts, ends)[place]
        plan = plans[:, step + 1] if step + 1 < plans.shape[1] else np.full(len(place), -1)
        goes = np.where(free, uniform(noise, len(place)) >= chance, plan >= 0) & (end < high)
        person, place, now, plan = person[goes], place[goes], end[goes], plan[goes]
        plans, free = plans[goes], free[goes]
        place = np.where(free, choose(chain.moves[place], uniform(noise, len(place))), plan)
        if not len(person):
            break
    columns = [np.concatenate(parts) for parts in zip(*found, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return columns[0][order], columns[1][order], columns[2][order], columns[3][order]
