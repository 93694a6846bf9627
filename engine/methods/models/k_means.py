"""Groups of rows that are close to each other: centres from a noisy grid and noisy steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import arrays
from engine.methods import option
from engine.methods.budget import (
    NOISE,
    ManySums,
    budget_problems,
    is_replace_one,
    noise_notes,
    required_budget,
    takes_gaussian,
)
from engine.methods.filling import Judged, judged_by_margin
from engine.methods.models.design import Bounds, bounds_of
from engine.methods.models.leaving import describe_model, number_views, privacy_text
from engine.methods.models.targets import privacy_told, share_errors
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    MOST_ROUNDS,
    Context,
    Family,
    Forecast,
    Reads,
    Reference,
    Release,
)
from engine.methods.shared.blocks import blocks
from engine.methods.shared.division import Division, Query, cover_exchange
from engine.methods.shared.grid_centres import PER_SIDE as PER_SIDE
from engine.methods.shared.grid_centres import centres_of
from engine.methods.shared.promise import cap_notes, promise
from engine.methods.shared.view import view_of
from engine.once import once
from engine.privacy.accuracy import NORMAL_WITHIN
from engine.privacy.events import Event
from engine.privacy.fixed_point import to_grid
from engine.privacy.noise import Noise
from engine.privacy.promise import Promise
from engine.table import coding
from engine.table.schema import Column, Kind
from engine.views import Cell, TableView, Text, View

if TYPE_CHECKING:
    import pandas as pd

    from engine.table.table import Table


# --- a noisy grid to start from, then noisy sums about published centres --------------------------------

Floats = arrays.Floats
Integers = arrays.Integers

GRID, COUNTS, SUMS = "grid", "counts", "sums"
SHARES = {GRID: 0.4, COUNTS: 0.12, SUMS: 0.48}
TURNS = 3
RADIUS = PER_SIDE // 2
"""A row counts as no further from its centre than this: a quarter of a declared range."""
MOST_CELLS = 200_000
FINE = 10
"""From so many cells along each column on, rare rows are spread over cells that hardly stand out."""
_CHUNK = 2**14


@dataclass(frozen=True)
class CentresPlan:
    """Grid, steps and noise: from public numbers alone.

    Parameters
    ----------
    columns, groups
        How many of each.
    epsilon, delta
        Of everything together; δ = 0 for noise of the Laplace kind.
    rows_per_person
        The cap.
    replace_one
        Whether neighbouring tables exchange a person.
    about_rows
        Roughly how many rows there are; public.
    turns
        How many steps follow the grid.

    Notes
    -----
    A row is in one cell of the grid; in every step it is in one group, to whose sum it adds its way from the
    centre, kept within a length of `RADIUS`. Published forms add positions instead of ways, which moves a sum
    by up to √columns, and give count and sum a whole budget each.
    """

    columns: int
    groups: int
    epsilon: Fraction
    delta: Fraction
    rows_per_person: int
    replace_one: bool
    about_rows: int
    turns: int = TURNS

    @once
    def per_side(self) -> int:
        """Cells of the grid along each column."""
        level = Division((), self.epsilon, self.delta, self.replace_one).level
        told = sqrt(SHARES[GRID]) * level if self.delta else SHARES[GRID] * level / sqrt(2)
        rows = self.about_rows / (self.rows_per_person * (2 if self.replace_one else 1))
        wanted = round((rows * told / 5) ** (2 / (2 + self.columns)))
        return int(min(wanted, MOST_CELLS ** (1 / self.columns), PER_SIDE))

    @property
    def needed_rows(self) -> int:
        """Rows from which on the grid has two cells along each column."""
        level = Division((), self.epsilon, self.delta, self.replace_one).level
        told = sqrt(SHARES[GRID]) * level if self.delta else SHARES[GRID] * level / sqrt(2)
        least = 5 / told * 1.5 ** ((2 + self.columns) / 2)
        return ceil(least * self.rows_per_person * (2 if self.replace_one else 1))

    @once
    def division(self) -> Division:
        """How the budget is divided."""
        rows, times = self.rows_per_person, 2 if self.replace_one else 1
        ways = Query(
            SUMS, rows * isqrt(self.columns * RADIUS**2), rows**2 * RADIUS**2, SHARES[SUMS], self.turns
        )
        queries = (
            Query(GRID, times * rows, times * rows**2, SHARES[GRID]),
            Query(COUNTS, times * rows, times * rows**2, SHARES[COUNTS], self.turns),
            cover_exchange(ways, replace_one=self.replace_one),
        )
        return Division(queries, self.epsilon, self.delta, self.replace_one).borne_out()

    @property
    def stands_out(self) -> float:
        """Standard deviations of its noise from which on a cell of the grid counts.

        A higher limit leaves out rare rows far from all others, which weigh most, and a lower one takes noise
        for groups. On fine grids with Gaussian noise the first is worse, otherwise the second.
        """
        return 1.5 if self.delta and self.per_side >= FINE else 2.5

    @property
    def sum_noise(self) -> float:
        """Standard deviation of the noise of a sum, half of a declared range being 1."""
        return self.division.deviation(SUMS) / PER_SIDE

    @property
    def told(self) -> dict[str, str]:
        """What a released model says of the noise."""
        return {
            "distribution": "discrete_gaussian" if self.delta else "discrete_laplace",
            "deviation_of_cells": f"{self.division.deviation(GRID):.6g}",
            "deviation_of_counts": f"{self.division.deviation(COUNTS):.6g}",
            "deviation_of_sums": f"{self.sum_noise:.6g}",
        }


@dataclass(frozen=True)
class Centres:
    """Centres in steps of 1/1024 of half a range, shape (groups, columns), and noisy rows of each."""

    centres: Integers
    rows: Floats


def fit(rows: arrays.Whole, plan: CentresPlan, *, noise: Noise) -> Centres:
    """Find centres of rows.

    Parameters
    ----------
    rows
        In steps of 1/1024 of half a declared range, from −1024 to 1024, shape (n, columns); of any size.
    plan
        Grid, steps, noise.
    """
    grid = plan.division.noisy(GRID, _grid(rows, plan), noise).astype(np.float64)
    centres = _started(grid, plan)
    counts = np.zeros(plan.groups)
    for _ in range(plan.turns):
        exact_counts, exact_sums = _steps(rows, centres)
        counts = plan.division.noisy(COUNTS, exact_counts, noise).astype(np.float64)
        ways = plan.division.noisy(SUMS, exact_sums.ravel(), noise).astype(np.float64)
        enough = counts > 3 * plan.division.deviation(COUNTS)
        moved = centres + ways.reshape(centres.shape) / np.maximum(counts, 1.0)[:, None]
        moved = np.clip(np.rint(moved), -PER_SIDE, PER_SIDE).astype(np.int64)
        centres = np.where(enough[:, None], moved, centres)
    return Centres(centres, counts)


def _grid(rows: arrays.Whole, plan: CentresPlan) -> Integers:
    """Return how many rows are in every cell."""
    side = plan.per_side
    found = np.zeros(side**plan.columns, dtype=np.int64)
    for block in blocks(len(rows)):
        places = np.minimum((rows[block].astype(np.int64) + PER_SIDE) * side // (2 * PER_SIDE), side - 1)
        found += np.bincount(places @ side ** np.arange(plan.columns)[::-1], minlength=found.size)
    return found


def _steps(rows: arrays.Whole, centres: Integers) -> tuple[Integers, Integers]:
    """Return, of the rows nearest to each centre, how many there are and the sum of their ways from it.

    Notes
    -----
    Distances are whole numbers, and a way is cut to length by itself: what a row adds follows from the row
    and the centres alone. Cut numbers are rounded towards 0, so that no way is longer than `RADIUS`. Doubles,
    because products are fast in them: all that is added up are whole numbers below 2^53, exact in any order.
    """
    counts = np.zeros(len(centres), dtype=np.int64)
    sums = np.zeros(centres.shape, dtype=np.int64)
    places = centres.astype(np.float64)
    for block in blocks(len(rows), at_most=_CHUNK):
        chunk = rows[block].astype(np.float64)
        # |row − centre|² without |row|², which is the same for every centre
        own = ((places**2).sum(axis=1) - 2 * chunk @ places.T).argmin(axis=1)
        way = chunk - places[own]
        long = np.sqrt((way * way).sum(axis=1))
        cut = np.trunc(way * np.minimum(1.0, RADIUS / np.maximum(long, 1.0))[:, None])
        counts += np.bincount(own, minlength=len(centres))
        by_column = [np.bincount(own, weights=one, minlength=len(centres)) for one in cut.T]
        sums += np.stack(by_column, axis=1).astype(np.int64)
    return counts, sums


def _started(grid: Floats, plan: CentresPlan) -> Integers:
    """Return centres from a noisy grid."""
    limit = plan.stands_out * plan.division.deviation(GRID)
    return centres_of(grid, limit=limit, per_side=plan.per_side, shape=(plan.groups, plan.columns))


ID = "models.k_means"
WORDS = f"methods.{ID}"
FORMAT = "custos.k_means"


class KMeans(ManySums):
    """k-means: a noisy grid to start from, then noisy steps about published centres.

    Notes
    -----
    See `engine.methods.models.k_means`. Centres are where many rows are; a group is no diagnosis, and
    another choice of columns or bounds gives other groups. With more than six columns find a few components
    first (`models.pca`).
    """

    id = ID
    family = Family.MODEL
    promises = ("pure_dp", "approximate_dp")
    summable = True
    published = Reference(
        "Su, Cao, Li, Bertino, Jin: Differentially private k-means clustering (2016)",
        "the grid and the steps together, sums about the centre",
        "doi:10.1145/2857705.2857708",
    )

    class Options(option.Options):
        columns: option.Names = option.columns(
            minimum=1, maximum=6, column_kinds=(Kind.INTEGER, Kind.NUMBER), needs_domain=True
        )
        groups: int = option.integer(default=4, minimum=2, maximum=20)
        about_rows: int = option.integer(minimum=10, maximum=10**9)
        turns: int = option.integer(default=TURNS, minimum=1, maximum=TURNS)
        noise: str = NOISE

    options: Options

    @once
    def further_problems(self) -> list[Problem]:
        for name in self.options.columns:
            if bounds_of(self.schema.column(name)) is None:
                return [Problem(f"{ID}.no_bounds", {"column": name}, "columns")]
        found = budget_problems(self.request, uses_delta=takes_gaussian(self.request))
        if found:
            return found
        plan = self.plan
        if plan.per_side < 2:
            rows = plan.needed_rows
            return [Problem(f"{ID}.nothing_left", {"rows": rows}, "budget")]
        return []

    @property
    def sums(self) -> float:
        """How many sums a row moves by the same, about."""
        return 1 + self.options.turns * (1 + len(self.options.columns))

    @once
    def plan(self) -> CentresPlan:
        """Return the grid, the steps and their noise."""
        budget = required_budget(self.paid)
        return CentresPlan(
            len(self.options.columns),
            self.options.groups,
            budget.epsilon,
            budget.delta,
            self.request.rows_per_person,
            is_replace_one(self.request),
            self.options.about_rows,
            self.options.turns,
        )

    @property
    def asks_once(self) -> bool:
        """Every step is about the centres of the one before."""
        return False

    @property
    def rounds(self) -> tuple[Event, ...]:
        """A round for the grid, and one for each step."""
        division, turns = self.plan.division, self.options.turns
        if turns >= MOST_ROUNDS or division.is_gaussian:
            return ()
        return (division.asked(GRID), *(division.asked(COUNTS, SUMS) for _ in range(turns)))

    @once
    def cost(self) -> Promise:
        kind = "approximate_dp" if required_budget(self.paid).delta else "pure_dp"
        return promise(self.paid, self.plan.division.events, kind=kind)

    @once
    def forecast(self) -> Forecast:
        label, noise = Text(f"{WORDS}.numbers.centre.label"), self.plan.sum_noise
        errors = share_errors(label, "group", self.request.sizes, deviation=noise, most=200.0, unit=" %")
        return Forecast(errors, notes=(*cap_notes(self.request), *noise_notes(self.request, self.sums)))

    def judged(self, people: int | None) -> Judged:
        rows, groups = self.options.about_rows, self.options.groups
        # A centre that may lie anywhere in the half of a range says nothing.
        limit = NORMAL_WITHIN * self.plan.sum_noise
        return judged_by_margin(limit, rows, f"{WORDS}.judged", groups=groups)

    @once
    def needs(self) -> Reads:
        return Reads.CODED

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        context.progress.step(0.0, "run.reading")
        plan = self.plan
        found = fit(self.places(tables[MAIN]), plan, noise=context.noise)
        context.progress.step(0.9, "run.writing")
        columns = []
        for place, (name, bounds) in enumerate(self._bounds):
            centres = bounds.middle + found.centres[:, place] / PER_SIDE * bounds.half
            ends = {"minimum": bounds.low, "maximum": bounds.high}
            missing = list(self.schema.column(name).without_copied().missing)
            columns.append({"name": name, **ends, "missing": missing, "centres": centres.tolist()})
        model = {
            "format": FORMAT,
            "version": 1,
            "columns": columns,
            "rows": [round(float(max(one, 0.0))) for one in found.rows],
            "noise": plan.told,
            "privacy": privacy_told(self.paid),
            "method": {"id": self.id, "version": self.version},
        }
        return self._released(model)

    def places(self, table: Table) -> np.ndarray:
        """Return rows in steps of 1/1024 of half a range, without those in which a number is missing."""
        view, none = view_of(table), 2 * PER_SIDE + 1

        def step_of(column: Column, bounds: Bounds) -> Callable[[pd.Series], np.ndarray]:
            def steps(values: pd.Series) -> np.ndarray:
                scaled = bounds.scaled(coding.numbers(values, column))
                read, missing = to_grid(scaled, minimum=-1, maximum=1, step=Fraction(1, PER_SIDE))
                return np.where(missing, none, read + PER_SIDE)

            return steps

        reads = {name: step_of(self.schema.column(name), bounds) for name, bounds in self._bounds}
        found = [np.empty((0, len(reads)), dtype=np.int16)]
        for part in view.parts(list(reads)):
            places = np.stack([part.coded(name, np.int16, of) for name, of in reads.items()], axis=1)
            found.append(places[(places != none).all(axis=1)] - np.int16(PER_SIDE))
        return np.concatenate(found)

    @once
    def _bounds(self) -> list[tuple[str, Bounds]]:
        found = [(name, bounds_of(self.schema.column(name))) for name in self.options.columns]
        return [(name, bounds) for name, bounds in found if bounds is not None]

    def _released(self, model: dict[str, Any]) -> Release:
        """Make the artefacts from the model: nothing after this line has seen a row."""
        groups = range(1, len(model["rows"]) + 1)
        headings = (
            Text(f"{WORDS}.views.headings.group"),
            Text(f"{WORDS}.views.headings.rows"),
            *(one["name"] for one in model["columns"]),
        )
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (group, count, *(float(f"{one['centres'][group - 1]:.4g}") for one in model["columns"]))
            for group, count in zip(groups, model["rows"], strict=True)
        )
        title, note = Text(f"{WORDS}.views.centres.title"), Text(f"{WORDS}.views.centres.note")
        views: tuple[View, ...] = (
            TableView(title, headings, rows, note),
            *number_views({"rows": sum(model["rows"])}, WORDS),
        )
        card = (
            Text(f"{WORDS}.card.predicts"),
            Text(f"{WORDS}.card.not_for"),
            privacy_text(self.paid, WORDS),
            Text(f"{WORDS}.card.use"),
        )
        return describe_model(model, self.request, words=WORDS, promise=self.cost, card=card, views=views)


def nearest_groups(model: Mapping[str, Any], frame: pd.DataFrame) -> np.ndarray:
    """Return the group of every row, from 0; −1 where a number is missing."""
    apart = np.zeros((len(frame), len(model["rows"])))
    for one in model["columns"]:
        column = Column(str(one["name"]), kind=Kind.NUMBER, missing=tuple(one["missing"]))
        values = np.clip(coding.numbers(frame[one["name"]], column), one["minimum"], one["maximum"])
        half = (one["maximum"] - one["minimum"]) / 2
        apart += ((values[:, None] - np.array(one["centres"])) / half) ** 2
    missing = np.isnan(apart).any(axis=1)
    return np.where(missing, -1, np.argmin(np.where(np.isnan(apart), 0, apart), axis=1))
