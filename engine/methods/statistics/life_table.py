"""How many are at risk and have the event, interval by interval: a life table with its margins."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod, sqrt

import numpy as np
import pandas as pd

from engine import arrays
from engine.methods import option
from engine.methods.filling import Counted
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    POINTS,
    DictionaryEntry,
    Expected,
    Forecast,
    Reference,
    Release,
    TableArtefact,
)
from engine.methods.shared.cells import (
    BY,
    LEFT_OUT,
    Cells,
    Codes,
    EdgeAxis,
    Extra,
    LevelAxis,
    Outside,
    level_problems,
    size_problems,
    written_edges,
)
from engine.methods.shared.counted import CountsMethod
from engine.methods.shared.promise import cap_notes, counted_unit
from engine.methods.shared.tables import forecast_views, number_entry, result_frame, result_views
from engine.methods.values import edge_number, to_json
from engine.once import once
from engine.privacy.accuracy import (
    LAPLACE_WITHIN,
    NORMAL_MEDIAN,
    NORMAL_WITHIN,
    spread_of_sites,
)
from engine.privacy.mechanisms import CountNoise, Integers, LaplaceCounts
from engine.table import coding
from engine.table.schema import Column, Kind
from engine.views import CurveView, Series, Text, View

Floats = arrays.Floats
HALF, WHOLE = "half", "whole"
MOST_CURVES = 6


@dataclass(frozen=True)
class TimeAxis:
    """Declared intervals of a time, then one cell for whoever was followed beyond the last; nobody before."""

    between: EdgeAxis

    @property
    def name(self) -> str:
        return self.between.name

    @once
    def labels(self) -> tuple[str, ...]:
        return (*self.between.labels, f">{self.between.written[-1]}")

    @property
    def said(self) -> dict[str, Text]:
        """Return the intervals as every language says them, by their labels."""
        return self.between.said

    @property
    def declared(self) -> int:
        return len(self.labels)

    def codes(self, frame: pd.DataFrame) -> Codes:
        apart = EdgeAxis(self.between.column, self.between.written, self.between.edges, missing=False)
        return (
            apart.codes(frame) - 1
        )  # the first is the cell below all edges: `LEFT_OUT`, as are missing ones

    @property
    def entry(self) -> DictionaryEntry:
        return self.between.entry


@dataclass(frozen=True)
class EventAxis:
    """Whether the event came: one of some declared values, or any other declared one."""

    column: Column
    happened: frozenset[int]

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def labels(self) -> tuple[str, ...]:
        return ("yes", "no")

    @property
    def declared(self) -> int:
        return 2

    def codes(self, frame: pd.DataFrame) -> Codes:
        found = coding.codes(frame[self.name], self.column)
        came = np.isin(found, list(self.happened))
        return np.where(found >= len(coding.levels(self.column)), LEFT_OUT, np.where(came, 0, 1))

    @property
    def entry(self) -> DictionaryEntry:
        return DictionaryEntry(
            self.name, Text("statistics.dictionary.group", {"column": self.name}), "category"
        )


@dataclass(frozen=True)
class Survival:
    """A life table of each group, shape (groups, intervals).

    Parameters
    ----------
    at_risk, events
        Whole numbers: who had neither left nor had the event when the interval began, and whose event is
        in it.
    share
        Of everybody, who are still without the event when the interval ends: 1 at most, 0 at least, and never
        more than in the interval before.
    within
        What the noise of 95 of 100 releases moves the share by at most; 1 where nothing is known of it.
    """

    at_risk: Integers
    events: Integers
    share: Floats
    within: Floats


def life_table(
    counts: Integers, after: Integers, *, leaving: float, spread: float = 0.0, times: float = NORMAL_WITHIN
) -> Survival:
    """Return the life table that counts of intervals tell.

    Parameters
    ----------
    counts
        Events, and people who left without one, of each interval, shape (groups, intervals, 2).
    after
        How many were followed beyond the last interval, shape (groups,): of two counts.
    leaving
        Which part of the interval in which they leave people are not at risk: 1/2 in a life table, 0 where
        all of them stay to its end.
    spread
        The standard deviation of the noise of each count; 0 of exact ones.
    times
        How many standard deviations 95 of 100 draws stay within.

    Notes
    -----
    With d_j events, c_j who left and n_j at risk, S_j = Π (1 − d_i/m_i) over i ≤ j, m_i = n_i − leaving c_i.
    The margin is that of the first order in the noise of all counts, which are independent, with m_i less its
    own margin in the denominators: so it also holds among the shares of which something is known, where noise
    has let numbers at risk look large. Where m_i is no more than its margin, nothing is known from there on.
    The shares are put in order last (isotonic regression within 0 and 1).

    Sources: Cutler and Ederer (1958), the actuarial method; Kaplan and Meier (1958), with ``leaving`` 0 and
    intervals of one unit of the time.

    Examples
    --------
    >>> found = life_table(np.array([[[47, 19], [5, 17]]]), np.array([38]), leaving=0.5)
    >>> found.at_risk.tolist(), found.share.round(3).tolist()
    ([[126, 60]], [[0.597, 0.539]])
    """
    events, left = counts[:, :, 0], counts[:, :, 1]
    at_risk = after[:, None] + counts.sum(axis=2)[:, ::-1].cumsum(axis=1)[:, ::-1]
    groups, intervals = events.shape
    share, within = np.ones((groups, intervals)), np.ones((groups, intervals))
    off = times * spread * np.sqrt(2.0 * np.arange(intervals + 1, 1, -1))  # margins of the numbers at risk
    for group in range(groups):
        survived, moved = 1.0, np.zeros((intervals, 2))  # by what one more in each count moves what survives
        moved_after = 0.0
        for place in range(intervals):
            counted = at_risk[group, place] - leaving * left[group, place]
            surely = counted - off[place]
            if surely <= 0:
                share[group, place:], within[group, place:] = survived, float(spread > 0)
                break
            hazard = events[group, place] / counted
            own = np.zeros_like(moved)
            own[place:] = hazard / surely
            own[place] -= 1 / surely, leaving * hazard / surely
            moved = moved * (1 - hazard) + survived * own
            moved_after = moved_after * (1 - hazard) + survived * hazard / surely
            survived *= 1 - hazard
            share[group, place] = survived
            within[group, place] = times * spread * np.sqrt((moved**2).sum() + 2 * moved_after**2)
    return Survival(at_risk, events, _put_in_order(share), np.minimum(within, 1.0))


def _put_in_order(share: Floats) -> Floats:
    """Return shares within 0 and 1 that never rise, as near as there are any."""
    from scipy.optimize import isotonic_regression

    ordered = [isotonic_regression(one, increasing=False).x for one in share]
    return np.clip(np.reshape(ordered, share.shape), 0.0, 1.0)


class LifeTable(CountsMethod):
    """Numbers at risk, events and survival in declared intervals, from noisy counts of events and of leavers.

    Notes
    -----
    A row is in at most one cell: an interval with or without the event, or beyond the last interval. So the
    mechanism is that of the counts. Everything else follows from the noisy counts and reads no row: a number
    at risk is a sum of them, the share without the event a product (`life_table`).

    Someone who leaves without the event (the end of follow-up, a move) says nothing of what came later; that
    leaving has nothing to do with the event is an assumption that no count can check.
    """

    id = "statistics.life_table"
    summable = True
    published = Reference(
        "Cutler, Ederer: Maximum utilization of the life table method in analyzing survival (1958)",
        "table 1, with noise on the counts",
        "doi:10.1016/0021-9681(58)90126-7",
    )

    class Options(option.Options):
        time: str = option.column(column_kinds=(Kind.INTEGER, Kind.NUMBER))
        edges: option.Edges = option.edges(minimum=2, maximum=121)
        event: str = option.column(
            column_kinds=(Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER), needs_domain=True
        )
        happened: option.Records = option.records(option.text(name="value"), minimum=1, maximum=1000)
        by: option.Names = BY
        leaving: str = option.choice(HALF, WHOLE, default=HALF)
        noise: str = option.choice("laplace", "gaussian", default="laplace")

    options: Options  # type: ignore[assignment]  # of the base it asks for the noise alone

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        names = [self.options.time, self.options.event, *self.options.by]
        if len(set(names)) < len(names):
            return [Problem(f"{self.id}.column_twice", {}, "by")]
        if not all(isinstance(edge, Fraction) for edge in self.options.edges):
            return [Problem(f"{self.id}.edges_not_numbers", {}, "edges")]
        found = level_problems([self.schema.column(name) for name in self.options.by], parameter="by")
        found += level_problems([self._event], parameter="event")
        if not found and None in self._places:
            found.append(Problem(f"{self.id}.not_a_level", {"column": self.options.event}, "happened"))
        found = found or size_problems(self.cells, method=self.id, parameter="edges")
        return found + self.noise_problems

    @once
    def _event(self) -> Column:
        return self.schema.column(self.options.event)

    @once
    def _places(self) -> list[int | None]:
        """Return where each value that means the event stands among the declared ones."""
        places = {level: place for place, level in enumerate(coding.levels(self._event))}
        return [places.get(coding.text_of(record["value"])) for record in self.options.happened]

    @once
    def groups(self) -> tuple[LevelAxis, ...]:
        """Return the declared groups; rows of no declared one are left out."""
        return tuple(LevelAxis(self.schema.column(name), Extra.LEFT_OUT) for name in self.options.by)

    @once
    def intervals(self) -> EdgeAxis:
        """Return the declared intervals of the time."""
        edges, column = self.options.edges, self.schema.column(self.options.time)
        exact = tuple(edge_number(edge) for edge in edges)
        return EdgeAxis(column, written_edges(to_json(edges)), exact, Outside.LEFT_OUT, missing=False)

    @once
    def cells(self) -> Cells:
        happened = frozenset(place for place in self._places if place is not None)
        return Cells((*self.groups, TimeAxis(self.intervals), EventAxis(self._event, happened)))

    @once
    def shown(self) -> Cells:
        """Return what the released table has a line for."""
        return Cells((*self.groups, self.intervals))

    # --- forecast ----------------------------------------------------------------------------------

    def survival(self, noisy: Integers, mechanism: CountNoise | None = None) -> Survival:
        """Return the life tables of counts in the order of the cells; exact ones have no mechanism."""
        intervals = len(self.intervals.labels)
        block = noisy.reshape(prod(axis.declared for axis in self.groups), intervals + 1, 2)
        spread, times = 0.0, NORMAL_WITHIN
        if mechanism is not None:
            spread = float(mechanism.scale) * spread_of_sites()
            if isinstance(mechanism, LaplaceCounts):  # no sum of Laplace noises has a wider limit than one
                spread, times = sqrt(2) * spread, LAPLACE_WITHIN
        leaving = 0.5 if self.options.leaving == HALF else 0.0
        return life_table(
            block[:, :-1], block[:, -1].sum(axis=1), leaving=leaving, spread=spread, times=times
        )

    @once
    def forecast(self) -> Forecast:
        mechanism, words = self.mechanism, f"methods.{self.id}.numbers"
        unit, one = counted_unit(self.request), mechanism.accuracy()
        first = mechanism.accuracy(summed=2 * len(self.intervals.labels) + 2)
        errors = [
            Expected(Text(f"{words}.events.label"), "whole", None, one.median, one.limit, unit),
            Expected(Text(f"{words}.at_risk.first"), "whole", None, first.median, first.limit, unit),
        ]
        for size in self.request.sizes:
            off = float(self.survival(self._even(size), mechanism).within[0, -1])
            median = off * NORMAL_MEDIAN / NORMAL_WITHIN
            errors.append(
                Expected(Text(f"{words}.survival.even"), "group", size, 100 * median, 100 * off, POINTS)
            )
        counted = Counted(self.cells.declared, one.limit, self.request.rows_per_person)
        return Forecast(
            tuple(errors),
            views=forecast_views(self.id, errors),
            notes=tuple(cap_notes(self.request)),
            counted=counted,
        )

    def _even(self, size: int) -> Integers:
        """Return counts of groups of which half have the event, evenly over time, and nobody leaves."""
        found = np.zeros(self.cells.shape, dtype=np.int64)
        intervals = len(self.intervals.labels)
        found[..., :-1, 0] = np.diff(np.arange(intervals + 1) * (size // 2) // intervals)
        found[..., -1, 1] = size - size // 2
        return found

    # --- release -----------------------------------------------------------------------------------

    def released(self, noisy: Integers, cells: Cells, mechanism: CountNoise) -> Release:
        found, shown, unit = self.survival(noisy, mechanism), self.shown, counted_unit(self.request)
        intervals = len(self.intervals.labels)
        risks = [mechanism.accuracy(summed=2 * later).limit for later in range(intervals + 1, 1, -1)]
        numbers = {
            "at_risk": (found.at_risk.ravel(), "integer", unit),
            "at_risk_within_95": (np.tile(risks, len(found.at_risk)), "integer", unit),
            "events": (found.events.ravel(), "integer", unit),
            "events_within_95": (mechanism.accuracy().limit, "integer", unit),
            "survival": (found.share.ravel(), "number", ""),
            "within_95": (found.within.ravel(), "number", ""),
        }
        frame = result_frame(shown, {name: values for name, (values, _, _) in numbers.items()})
        dictionary = [
            number_entry(self.id, name, shown, kind=kind, unit=unit)
            for name, (_, kind, unit) in numbers.items()
        ]
        table = result_views(self.id, frame, shown, value="survival", within=None, bounds=(0.0, 1.0))
        notes = [
            Text(f"methods.{self.id}.notes.{name}") for name in ("who", f"leaving_{self.options.leaving}")
        ]
        return Release(
            (TableArtefact("life_table", (frame,), (*shown.entries, *dictionary)),),
            self.cost,
            (*self._curves(found), *table),
            (*notes, *cap_notes(self.request)),
        )

    def _curves(self, found: Survival) -> tuple[View, ...]:
        """Return the share without the event as far as it is known, a picture a group; none of many."""
        if len(found.share) > MOST_CURVES:
            return ()
        words = f"methods.{self.id}.views.curve"
        x = tuple(float(edge) for edge in self.intervals.edges)
        views: list[View] = []
        for group, share, within in zip(Cells(self.groups).labels(), found.share, found.within, strict=True):
            # a line on through what is not known would be read
            known = int(np.argmax(within >= 1)) or len(within)
            share, within = share[:known], within[:known]
            named = {"group": " · ".join(group)}
            title = Text(f"{words}.of_group", named) if group else Text(f"{words}.title")
            low, high = ((1.0, *np.clip(share + way * within, 0, 1).tolist()) for way in (-1, 1))
            drawn = x[: known + 1]
            band = (Series(Text(f"{words}.low"), drawn, low), Series(Text(f"{words}.high"), drawn, high))
            label = Text(f"methods.{self.id}.numbers.survival.label")
            line = Series(label, drawn, (1.0, *share.tolist()), "accent")
            views.append(
                CurveView(title, self.options.time, label, (line,), band=band, note=Text(f"{words}.note"))
            )
        return tuple(views)
