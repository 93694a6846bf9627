"""Counts of what people go through: moves from place to place, stays, arrivals, who is where, orders."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from itertools import pairwise
from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engine import arrays
from engine.methods import option
from engine.methods.budget import budget_problems, is_replace_one, required_budget
from engine.methods.filling import Counted
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
    Shape,
    Source,
    TableArtefact,
)
from engine.methods.shared.cells import MOST_CELLS, Extra, LevelAxis
from engine.methods.shared.counted import PEOPLE
from engine.methods.shared.histories import (
    DAY,
    EVENT_KINDS,
    GRID,
    HOUR,
    Histories,
    Weighing,
    bounds_of,
    cap_that_suits,
    event_problems,
    name_in_files,
    names_of_time,
    part_of_time,
    project_table,
    read_histories,
    sequence_of,
    sequences,
    stay_edges,
    threshold_for,
)
from engine.methods.shared.promise import promise
from engine.methods.shared.tables import filling_notes, forecast_views
from engine.once import once
from engine.privacy.accuracy import MOST, Accuracy, laplace_error, sites_that_add
from engine.privacy.events import Sequential
from engine.privacy.mechanisms import ClearLaplace, CountNoise, GaussianCounts, LaplaceCounts
from engine.privacy.promise import WEIGHED, Promise
from engine.table.schema import Kind
from engine.views import Cell, GraphView, HeatmapView, Label, TableView, Text, View, aside, weak

if TYPE_CHECKING:
    from engine.table.table import Table

Floats = arrays.Floats
Integers = arrays.Integers
Listed = tuple[Integers, Integers]
"""Cells of a table and their noisy counts."""

PLACE_KINDS = (Kind.CATEGORY, Kind.ORDINAL)
DECLARED, LENGTHS = "declared", "lengths"
HOURS, WEEKDAYS = "hour", "weekday"
EVERY, CLEAR = "every", "clear"
WEEK = 7 * 24 * HOUR
SHARES = {
    "lengths": Fraction(1, 10),
    "moves": Fraction(2, 5),
    "stays": Fraction(1, 5),
    "arrivals": Fraction(3, 20),
    "present": Fraction(3, 20),
}
"""Of ε, in proportion, for the tables that are asked for; whole sequences have a fifth of all."""
OF_SEQUENCES = Fraction(1, 5)
MOST_EDGES, MOST_LINES, MOST_PLACES = 40, 40, 200
MOST_MOVES, MOST_POSSIBLE = 1_000_000, 500_000_000
"""Cells of moves of which every one leaves, and of moves and orders of which those that stand out do."""
ARROW = " → "


class Flows(Method):
    """Moves, stays, arrivals, presence and whole orders of places, from whole histories.

    Notes
    -----
    Neighbours differ by a whole history. People are counted by all of their events, however many: where one
    has more than the cap c, each event counts c/length (`engine.methods.shared.histories.Weighing`), so
    that a history moves each table of events by c at most in L1, on a grid of whole steps. Tables that count
    people (lengths, whole sequences) move by 1. In presence nobody counts twice in a cell, so that a history
    moves it by c in L1 and by √c in L2. Every table gets exact discrete noise for its share of ε; the losses
    add up. Where the cap is read off the noisy table of lengths, weights are divided by it first, so that
    the noise is declared before it is known. Whole sequences are counted in all cells that there can be, and
    those that stand out of the noise leave: reading nothing after the noise. Where there are too many cells
    for that, moves and orders are drawn by the same law without going through those that nobody is in
    (`engine.privacy.mechanisms.ClearLaplace`).

    Source: Dwork, McSherry, Nissim and Smith (2006), example 3 (noise); Chen, Fung, Desai and Sossou (2012)
    (private sequences of places, there with prefixes and a cut at the cap).
    """

    id = "statistics.flows"
    family = Family.STATISTICS
    promises = ("pure_dp", "approximate_dp")
    version = 2  # whole sequences have the margin of what is chosen to be shown
    sources = (Source(MAIN, Shape.EVENTS),)
    counts_people = True
    summable = True
    published = Reference(
        "Chen, Fung, Desai, Sossou: Differentially private transit data publication (2012)",
        "section 4, counts of sequences of places; here with weights in place of cuts",
        "doi:10.1145/2339530.2339564",
    )

    class Options(option.Options):
        place: str = option.column(column_kinds=PLACE_KINDS, needs_domain=True)
        moment: str = option.column(column_kinds=EVENT_KINDS, needs_domain=True)
        left: str | None = option.column(column_kinds=EVENT_KINDS, optional=True, needs_domain=True)
        observed: option.Edges | None = option.edges(optional=True, minimum=2, maximum=2)
        session: int | None = option.integer(optional=True, minimum=0, maximum=24 * 366, unit="hours")
        cap: str = option.choice(DECLARED, LENGTHS, default=DECLARED)
        listed: str = option.choice(EVERY, CLEAR, default=EVERY)
        by_noise: Fraction = option.number(default=1, minimum=Fraction(1, 1000), maximum=1000)
        longest: int = option.integer(default=20, minimum=2, maximum=1000)
        stays: option.Edges = option.edges(default=[6, 24, 72, 168], minimum=1, maximum=50)
        arrivals: str = option.choice(HOURS, WEEKDAYS, default=HOURS)
        slot: int = option.integer(default=24, minimum=1, maximum=24 * 366, unit="hours")
        slots_counted: int = option.integer(default=3, minimum=0, maximum=10_000)
        one_place: bool = option.boolean(default=False)
        noise: str = option.choice("laplace", "gaussian", default="laplace")
        whole: int = option.integer(default=2, minimum=0, maximum=8)
        people: int | None = PEOPLE

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
        if found or (found := self._window_problems):
            return found
        has_hours = self.schema.column(self.options.moment).kind is Kind.MOMENT
        if not has_hours and self.options.arrivals == HOURS:
            found.append(Problem(f"{self.id}.no_hours", {"column": self.options.moment}, "arrivals"))
        if not has_hours and self.options.slot % 24:
            found.append(Problem(f"{self.id}.no_hours", {"column": self.options.moment}, "slot"))
        is_clear = self.options.listed == CLEAR
        for parameter, name, most in (
            ("slot", "present", MOST_CELLS),
            ("listed", "moves", MOST_POSSIBLE if is_clear else MOST_MOVES),
            ("whole", "whole", MOST_POSSIBLE if is_clear else MOST_CELLS),
        ):
            size = prod(self.shapes.get(name, (0,)))
            if size > most:
                values = {"cells": size, "most": most}
                found.append(Problem(f"{self.id}.too_many_cells", values, parameter))
        found += budget_problems(self.request, uses_delta=self.is_gaussian)
        return found or self._silent

    @property
    def _window_problems(self) -> list[Problem]:
        """Say what is missing for moves a week: bounds of days are often round, and then weeks too many."""
        column = self.schema.column(self.options.moment)
        low, high = declared = bounds_of(column)
        values = {"column": column.name} | _days(declared)
        if self.options.observed is None:
            is_open = column.kind is Kind.DATE
            return [Problem(f"{self.id}.window_open", values, "observed")] if is_open else []
        if not all(isinstance(one, date) for one in self.options.observed):
            return [Problem(f"{self.id}.window_not_days", {}, "observed")]
        first, end = self.bounds
        if first < low // DAY * DAY or end > -(-high // DAY) * DAY:
            return [Problem(f"{self.id}.window_outside", values, "observed")]
        return []

    @once
    def _silent(self) -> list[Problem]:
        """Say when no move could be read even if everybody who leaves a place went the same way."""
        people, limit = self.options.people, self.limit("moves")
        if people is None or people * self.request.rows_per_person > limit * self.axis.declared:
            return []
        values = {"people": people, "places": self.axis.declared, "limit": float(f"{limit:.3g}")}
        return [Problem(f"{self.id}.too_few", values, "people")]

    @once
    def axis(self) -> LevelAxis:
        """Return the places, and one cell for what was not declared: no history is torn by it."""
        return LevelAxis(self.schema.column(self.options.place), Extra.TOGETHER)

    @property
    def places(self) -> int:
        """How many cells of places there are."""
        return len(self.axis.labels)

    @property
    def is_gaussian(self) -> bool:
        """Whether any table has Gaussian noise."""
        return self.options.noise == "gaussian" and self.options.slots_counted > 0

    @once
    def bounds(self) -> tuple[int, int]:
        """Return where the time that is counted begins and ends, in minutes."""
        if self.options.observed is None:
            return bounds_of(self.schema.column(self.options.moment))
        first, last = (np.datetime64(str(one), "m").astype(np.int64) for one in self.options.observed)
        return int(first), int(last) + DAY

    @once
    def weeks(self) -> float:
        """How many weeks are counted."""
        return (self.bounds[1] - self.bounds[0]) / WEEK

    @once
    def slots(self) -> int:
        """How many slots of the calendar there are."""
        low, high = self.bounds
        return -((low - high) // (self.options.slot * HOUR))

    @once
    def edges(self) -> Integers:
        """Return the inner edges of stays, in minutes."""
        return stay_edges(self.options.stays)

    @once
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the cells of every table."""
        places = self.places
        found: dict[str, tuple[int, ...]] = {
            "lengths": (self.options.longest,),
            "moves": (places, places + 1),
            "stays": (places, len(self.edges) + 2),
            "arrivals": (places, 24 if self.options.arrivals == HOURS else 7),
        }
        if self.options.slots_counted:
            found["present"] = (places, self.slots)
        if self.options.whole:
            found["whole"] = (sequences(places, self.options.whole) + 1,)
        return found

    @once
    def kept(self) -> int:
        """In how many slots a person counts whole: no more than there are where each has one place a slot."""
        counted = self.options.slots_counted
        return min(counted, self.slots) if self.options.one_place else counted

    @once
    def mechanisms(self) -> dict[str, CountNoise | ClearLaplace]:
        """Return the noise of every table."""
        budget, factor = required_budget(self.request), 2 if is_replace_one(self.request) else 1
        left = 1 - OF_SEQUENCES if self.options.whole else Fraction(1)
        asked = {name: share for name, share in SHARES.items() if name in self.shapes}
        level = {name: share / sum(asked.values()) * left * budget.epsilon for name, share in asked.items()}
        moved = factor if self.options.cap == LENGTHS else self.request.units_moved
        grid = Fraction(1, GRID)
        found: dict[str, CountNoise | ClearLaplace] = {"lengths": LaplaceCounts(factor, level["lengths"])}
        for name in ("moves", "stays", "arrivals"):
            found[name] = LaplaceCounts(moved * GRID, level[name], grid)
        if not self.options.slots_counted:
            pass
        elif self.is_gaussian:
            squared = factor * self.kept * GRID**2  # of two people, no entry below zero: their squares add up
            found["present"] = GaussianCounts(squared, level["present"], budget.delta, grid)
        else:
            found["present"] = LaplaceCounts(factor * self.kept * GRID, level["present"], grid)
        if self.options.whole:
            found["whole"] = LaplaceCounts(factor, OF_SEQUENCES * budget.epsilon)
        for name in self.clear:
            dense = found[name]
            assert isinstance(dense, LaplaceCounts)
            cells = prod(self.shapes[name]) - (name == "whole")  # without that of all longer ones
            threshold = threshold_for(cells, dense.scale, float(self.options.by_noise))
            found[name] = ClearLaplace(dense.sensitivity, dense.epsilon, dense.grid, threshold, cells)
        return found

    @once
    def clear(self) -> tuple[str, ...]:
        """Return the tables of which those cells alone leave that stand out, drawn without the others."""
        if self.options.listed == EVERY:
            return ()
        return ("moves", "whole") if self.options.whole else ("moves",)

    @once
    def cost(self) -> Promise:
        kind = "approximate_dp" if self.is_gaussian else "pure_dp"
        events = tuple(mechanism.event for mechanism in self.mechanisms.values())
        return promise(self.request, Sequential(events), kind=kind, bounded=WEIGHED)

    # --- forecast ----------------------------------------------------------------------------------

    def unit(self, name: str, cap: int | None = None) -> float:
        """Return what one step of a table stands for; of the cap that was read off where one was."""
        if name in ("lengths", "whole"):
            return 1.0
        return (cap or 1) / GRID if name != "present" and self.options.cap == LENGTHS else 1 / GRID

    def accuracy(self, name: str, *, summed: int = 1) -> Accuracy:
        """Return how far a cell of a table, or a sum of cells, is off, in steps."""
        return self.mechanisms[name].accuracy(summed=summed)

    def limit(self, name: str, cap: int | None = None) -> float:
        """Return the margin of a cell, in events or people."""
        return self.accuracy(name).limit * self.unit(name, cap)

    def limit_of_chosen(self, shown: int) -> int:
        """Return the margin of whole sequences of which so many stand out, in people.

        Notes
        -----
        Those that noise made larger stand out more often, so the margin of any cell would miss too many of
        them. Of N cells of which R are shown, margins at 1 − 0.05 R/N miss 5 % of what is shown on average.

        Source: Benjamini and Yekutieli (2005), the false coverage rate.
        """
        mechanism, cells, sites = (
            self.mechanisms["whole"],
            self.shapes["whole"][0] - 1,
            ceil(sites_that_add()),
        )
        assert isinstance(mechanism, LaplaceCounts | ClearLaplace)
        missed = (1 - MOST) * max(1, shown) / cells
        return sites * laplace_error(mechanism.scale, share=1 - missed / sites)  # each site within its part

    @once
    def threshold(self) -> int:
        """Return from which count on a whole sequence leaves: below one is invented on average."""
        mechanism = self.mechanisms["whole"]
        if isinstance(mechanism, ClearLaplace):
            return mechanism.threshold
        assert isinstance(mechanism, LaplaceCounts)
        return threshold_for(self.shapes["whole"][0], mechanism.scale, float(self.options.by_noise))

    @once
    def forecast(self) -> Forecast:
        word = self.schema.words
        errors = []
        for name in self.mechanisms:
            unit = word.several if name in ("lengths", "whole") else "events"
            one = self.accuracy(name)
            said = Text(f"methods.{self.id}.numbers.{name}.label")
            scale = self.unit(name)
            errors.append(Expected(said, "whole", None, one.median * scale, one.limit * scale, unit))
        counted = Counted(
            self.axis.declared, self.limit("moves"), self.request.rows_per_person, is_listed=False
        )
        notes = [*self._notes(), *filling_notes(counted, self.options.people)]
        views = forecast_views(self.id, errors)
        return Forecast(tuple(errors), errors[1], views, tuple(notes), counted=counted)

    def _notes(self, cap: int | None = None) -> list[Text]:
        """Return what is said beside the tables; of the cap that was read off where one was."""
        word = f"methods.{self.id}.notes"
        weighed = "weighed" if self.options.cap == DECLARED else "per_event" if cap is None else "cap_found"
        found = [Text(f"{word}.{weighed}", {"cap": cap or self.schema.rows_per_person})]
        found.append(Text(f"{word}.noise_alone"))
        found.append(Text(f"{word}.weeks", {"weeks": float(f"{self.weeks:.3g}")} | _days(self.bounds)))
        invented = float(self.options.by_noise)
        if isinstance(mechanism := self.mechanisms["moves"], ClearLaplace):
            least = float(f"{mechanism.threshold * self.unit('moves', cap):.3g}")
            values = {"threshold": least, "cells": mechanism.cells, "invented": invented}
            found.append(Text(f"{word}.clear", values))
        if self.options.whole:
            values = {"threshold": self.threshold, "longest": self.options.whole, "invented": invented}
            found.append(Text(f"{word}.threshold", values))
        return found

    # --- release -----------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        context.progress.step(0.0, "run.reading")
        places, own = self.places, self.options
        histories = read_histories(
            tables,
            context,
            self.schema,
            self.axis,
            moment=own.moment,
            left=own.left,
            session=own.session,
            within=self.bounds,
        )
        noisy: dict[str, Listed] = {}
        context.progress.step(0.5, "run.noise")
        weighing = Weighing(1, 1)
        for name, mechanism in self.mechanisms.items():
            if isinstance(mechanism, ClearLaplace):
                made = (
                    histories.moves_made(places, weighing)
                    if name == "moves"
                    else histories.whole_made(places, own.whole)
                )
                noisy[name] = mechanism.release(*made, context.noise)
                continue
            values = mechanism.release(self._exact(name, histories, weighing), context.noise)
            noisy[name] = (np.arange(len(values)), values)
            if name == "lengths":  # the first: everything after it is weighed by what it says
                weighing = self._weighing(values)
        context.progress.step(0.9, "run.writing")
        return self._released(noisy, weighing.cap)

    def _exact(self, name: str, histories: Histories, weighing: Weighing) -> Integers:
        """Return the exact counts of all cells of a table."""
        places, own = self.places, self.options
        if name == "lengths":
            return histories.length_counts(own.longest)
        if name == "moves":
            return histories.moves(places, weighing)
        if name == "stays":
            return histories.stays(places, self.edges, weighing)
        if name == "arrivals":
            part = part_of_time(histories.start, weekly=own.arrivals == WEEKDAYS)
            return histories.arrivals(places, part, self.shapes[name][1], weighing)
        if name == "whole":
            return histories.whole(places, own.whole)
        return histories.present(
            places,
            low=self.bounds[0],
            slot=own.slot * HOUR,
            slots=self.slots,
            weighing=Weighing(self.kept, self.kept),
            is_one=own.one_place,
        )

    @property
    def asks_once(self) -> bool:
        """A cap that is read off noisy lengths, and cells that stand out, hang on the noise of the site."""
        return self.options.cap == DECLARED and not self.clear

    def _weighing(self, lengths: Integers) -> Weighing:
        """Return how events are weighed: by the declared cap, or by one that follows from noisy lengths."""
        if self.options.cap == LENGTHS:
            noise = self.mechanisms["moves"]
            assert isinstance(noise, LaplaceCounts | ClearLaplace)
            cells = float(prod(self.shapes["moves"]))
            if self.clear:  # no more of them can stand out than there are events
                cells = min(
                    cells, float(project_table(lengths.astype(float)) @ np.arange(1, len(lengths) + 1))
                )
            return Weighing(cap_that_suits(lengths, cells * float(noise.scale) / GRID), 1)
        cap = self.schema.rows_per_person
        return Weighing(cap, cap)

    def _released(self, noisy: Mapping[str, Listed], cap: int) -> Release:
        """Make the artefacts from noisy tables: nothing after this line has seen a row."""
        values: dict[str, Floats] = {
            name: np.asarray(counts * self.unit(name, cap), dtype=np.float64)
            for name, (_, counts) in noisy.items()
        }
        limits = {name: self.limit(name, cap) for name in noisy}
        artefacts = [
            self._table(name, noisy[name][0], values[name], limits[name])
            for name in values
            if name != "whole"
        ]
        notes = [*self._notes(cap), self._counted_note(values["lengths"], cap)]
        moves = self._move_views(noisy["moves"][0], values["moves"], limits["moves"])
        stays, arrivals = (values[name].reshape(self.shapes[name]) for name in ("stays", "arrivals"))
        views = [*moves, self._stays_view(stays, cap)]
        if self.options.whole:
            artefact, view = self._sequences(*noisy["whole"])
            artefacts.append(artefact)
            views.append(view)
        title = Text(f"methods.{self.id}.views.arrivals.title")
        shown = self._largest(arrivals)
        rows = tuple(tuple(max(0.0, round(float(one), 1)) for one in arrivals[place]) for place in shown)
        said = {"limit": float(f"{limits['arrivals']:.3g}"), "shown": len(shown), "all": self.places}
        note = Text(f"methods.{self.id}.views.arrivals.note", said)
        labels = tuple(self.shown[place] for place in shown)
        views.append(HeatmapView(title, labels, self._second("arrivals"), rows, note, said["limit"]))
        return Release(tuple(artefacts), self.cost, tuple(views), tuple(notes))

    def _largest(self, table: Floats) -> list[int]:
        """Return the places with the largest noisy sums, in their order: as many as a view can show."""
        order = np.argsort(-table.sum(axis=1), kind="stable")[:MOST_PLACES]
        return [int(place) for place in np.sort(order)]

    @once
    def shown(self) -> tuple[Label, ...]:
        """Return what the places are called in views; the last one is there for completeness."""
        declared = self.axis.declared
        return (*self.axis.labels[:declared], *map(aside, self.axis.labels[declared:]))

    def _second(self, name: str) -> tuple[Label, ...]:
        """Return the cells of the second side of a table."""
        word = f"methods.{self.id}.labels"
        if name == "moves":
            return (*self.shown, Text(f"{word}.end"))
        if name == "stays":
            hours = [str(edge) for edge in self.options.stays]
            bands = (Text(f"{word}.stay", {"low": low, "high": high}) for low, high in pairwise(hours))
            shortest, longest = {"high": hours[0]}, {"low": hours[-1]}
            ends = (Text(f"{word}.longest", longest), Text(f"{word}.end_unknown"))
            return (Text(f"{word}.shortest", shortest), *bands, *ends)
        if name == "arrivals":
            return names_of_time(weekly=self.options.arrivals == WEEKDAYS)
        starts = self.bounds[0] + np.arange(self.slots) * self.options.slot * HOUR
        return tuple(starts.astype("datetime64[m]").astype(str).tolist())

    def _table(self, name: str, listed: Integers, values: Floats, limit: float) -> TableArtefact:
        """Return one noisy table as it leaves: of the cells that do."""
        if name == "lengths":
            labels = [str(length) for length in range(1, self.options.longest)]
            more = Text(f"methods.{self.id}.labels.more", {"events": str(self.options.longest)})
            columns = {"events": [*labels, name_in_files(more)]}
        else:
            first, second = {
                "moves": ("from", "to"),
                "stays": ("place", "stay"),
                "arrivals": ("place", "part"),
                "present": ("place", "slot"),
            }[name]
            cells = [name_in_files(one) for one in self._second(name)]
            start, end = np.divmod(listed, len(cells))
            columns = {
                first: np.array(self.axis.labels, dtype=object)[start].tolist(),
                second: np.array(cells, dtype=object)[end].tolist(),
            }
        frame = pd.DataFrame({key: pd.array(cells, dtype="str") for key, cells in columns.items()})
        is_whole = name == "lengths"
        frame[name] = values.astype(np.int64) if is_whole else np.round(values, 2)
        frame["within_95"] = int(limit) if is_whole else round(limit, 2)
        if name == "moves":
            frame["a_week"] = np.round(values / self.weeks, 2)
            frame["a_week_within_95"] = round(limit / self.weeks, 2)
        word = f"methods.{self.id}"
        entries = [
            DictionaryEntry(
                key, Text(f"{word}.dictionary.{key}"), "category", values=tuple(dict.fromkeys(cells))
            )
            for key, cells in columns.items()
        ]
        unit = self.schema.words.several if is_whole else "events"
        entries += [
            DictionaryEntry(
                key, Text(f"{word}.numbers.{key}.what"), "integer" if is_whole else "number", unit
            )
            for key in frame.columns[len(columns) :]
        ]
        return TableArtefact(name, (frame,), tuple(entries))

    def _sequences(self, listed: Integers, noisy: Integers) -> tuple[TableArtefact, TableView]:
        """Return the whole sequences that stand out of the noise, the most frequent first."""
        clear = (noisy >= self.threshold) & (listed < self.shapes["whole"][0] - 1)
        limit = self.limit_of_chosen(int(clear.sum()))
        order = np.argsort(-noisy[clear], kind="stable")
        found, counts = listed[clear][order], noisy[clear][order].astype(np.int64)
        names = [
            ARROW.join(self.axis.labels[place] for place in sequence_of(int(one), self.places))
            for one in found
        ]
        frame = pd.DataFrame(
            {"sequence": pd.array(names, dtype="str"), "whole": counts, "within_95": int(limit)}
        )
        word = f"methods.{self.id}"
        entries = (
            DictionaryEntry("sequence", Text(f"{word}.dictionary.sequence"), "category"),
            *(
                DictionaryEntry(key, Text(f"{word}.numbers.{key}.what"), "integer", self.schema.words.several)
                for key in ("whole", "within_95")
            ),
        )
        headings = (
            Text(f"{word}.headings.sequence"),
            *(Text(f"{word}.numbers.{key}.label") for key in ("whole", "within_95")),
        )
        rows = tuple(
            (name, int(count), int(limit))
            for name, count in zip(names[:MOST_LINES], counts.tolist(), strict=False)
        )
        values = {"threshold": self.threshold, "longest": self.options.whole}
        note = Text(f"{word}.views.sequences.note", values | {"invented": float(self.options.by_noise)})
        view = TableView(Text(f"{word}.views.sequences.title"), headings, rows, note)
        return TableArtefact("sequences", (frame,), entries), view

    def _counted_note(self, lengths: Floats, cap: int) -> Text:
        """Say which share of the events the weights keep, by the noisy lengths: it reads nothing new."""
        people = project_table(lengths)
        events = np.arange(1, len(people) + 1)
        total = float(people @ events)
        share = float(people @ np.minimum(events, cap)) / total
        # Whoever has as many events as the last line, or more, is taken for just as many: an upper bound.
        name = "counted_open" if people[-1] > 0 else "counted"
        values = {"percent": round(100 * share), "longest": self.options.longest}
        return Text(f"methods.{self.id}.notes.{name}", values)

    def _move_views(self, listed: Integers, moves: Floats, limit: float) -> list[View]:
        """Return moves a week as a table, as a flow map, and as a graph of where one goes next."""
        word, labels, cells = f"methods.{self.id}", self.shown, self._second("moves")
        order = np.argsort(-moves, kind="stable")[:MOST_LINES]
        starts, ends = np.divmod(listed, len(cells))
        weekly, margin = moves / self.weeks, limit / self.weeks
        rows = []
        for at in order.tolist():
            value = round(float(weekly[at]), 2)
            shown = weak(value) if moves[at] <= limit else value
            rows.append((labels[starts[at]], cells[ends[at]], shown, round(margin, 2)))
        headings = (
            *(Text(f"{word}.headings.{name}") for name in ("from", "to")),
            *(Text(f"{word}.numbers.{name}.label") for name in ("a_week", "a_week_within_95")),
        )
        shown_note = Text(f"{word}.views.moves.note", {"shown": len(rows), "all": moves.size})
        views: list[View] = [TableView(Text(f"{word}.views.moves.title"), headings, tuple(rows), shown_note)]
        clear = [at for at in order.tolist() if moves[at] > limit][:MOST_EDGES]
        leaving = np.bincount(starts, np.maximum(moves, 0), minlength=self.places)
        nodes = list(range(len(cells)))
        if self.places > MOST_PLACES:  # those alone that have an edge
            nodes = sorted({int(side[at]) for side in (starts, ends) for at in clear})
        number = {place: at for at, place in enumerate(nodes)}
        pairs = [(number[int(starts[at])], number[int(ends[at])], at) for at in clear]
        flow = tuple((one, two, round(float(weekly[at]), 2)) for one, two, at in pairs)
        next_ = tuple(
            (one, two, round(100 * float(moves[at] / leaving[starts[at]]), 1)) for one, two, at in pairs
        )
        drawn = tuple(cells[place] for place in nodes)
        for name, edges in (("map", flow), ("next", next_)):
            note = Text(f"{word}.views.{name}.note", {"shown": len(edges), "all": moves.size})
            views.append(GraphView(Text(f"{word}.views.{name}.title"), drawn, edges, note))
        return views

    def _stays_view(self, stays: Floats, cap: int) -> TableView:
        """Return for every place in which band half of the known stays end, with the bands it may be."""
        word, bands = f"methods.{self.id}", self._second("stays")[:-1]
        summed = self.accuracy("stays", summed=len(bands)).limit * self.unit("stays", cap)
        rows: list[tuple[Cell, ...]] = []
        shown = self._largest(stays)
        for place, line in ((self.shown[at], stays[at, :-1]) for at in shown):
            # how far the sum up to a band is above half of all: half of the noise of every band
            above = np.cumsum(line) - line.sum() / 2
            if line.sum() <= summed:
                rows.append((place, Text(f"{word}.labels.too_few"), None, None))
                continue
            first, middle, last = (int(np.argmax(above >= end)) for end in (-summed / 2, 0, summed / 2))
            rows.append((place, bands[middle], bands[first], bands[last]))
        headings = tuple(
            Text(f"{word}.headings.{name}") for name in ("place", "half", "from_band", "to_band")
        )
        note = Text(f"{word}.views.stays.note", {"shown": len(shown), "all": self.places})
        return TableView(Text(f"{word}.views.stays.title"), headings, tuple(rows), note)


def _days(bounds: tuple[int, int]) -> dict[str, str]:
    """Return the first and the last day of some minutes, the end not inside."""
    first, last = (np.datetime64(one, "m").astype("datetime64[D]") for one in (bounds[0], bounds[1] - 1))
    return {"first": str(first), "last": str(last)}
