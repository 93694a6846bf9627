"""Groups of rows that are close to each other: centres from a noisy grid and noisy steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

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
from engine.methods.models.nearest_centres import COUNTS, GRID, PER_SIDE, SUMS, TURNS, CentresPlan, fit
from engine.methods.models.targets import privacy_told
from engine.methods.once import once
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    MOST_ROUNDS,
    Context,
    Expected,
    Family,
    Forecast,
    Reads,
    Reference,
    Release,
)
from engine.methods.shared.promise import cap_notes, promise
from engine.methods.shared.view import view_of
from engine.privacy.events import Event
from engine.privacy.fixed_point import to_grid
from engine.privacy.promise import Promise
from engine.table import coding
from engine.table.schema import Column, Kind
from engine.views import Cell, TableView, Text, View

if TYPE_CHECKING:
    import pandas as pd

    from engine.table.table import Table

ID = "models.k_means"
WORDS = f"methods.{ID}"
FORMAT = "custos.k_means"


class KMeans(ManySums):
    """k-means: a noisy grid to start from, then noisy steps about published centres.

    Notes
    -----
    See `engine.methods.models.nearest_centres`. Centres are where many rows are; a group is no diagnosis, and
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
        noise = self.plan.sum_noise
        errors = tuple(
            Expected(
                Text(f"{WORDS}.numbers.centre.label"),
                "group",
                size,
                min(200.0, 67.45 * noise / max(size, 1)),
                min(200.0, 196.0 * noise / max(size, 1)),
                " %",
            )
            for size in self.request.sizes
        )
        return Forecast(errors, notes=(*cap_notes(self.request), *noise_notes(self.request, self.sums)))

    def judged(self, people: int | None) -> Judged:
        rows, groups = self.options.about_rows, self.options.groups
        # A centre that may lie anywhere in the half of a range says nothing.
        limit = 1.96 * self.plan.sum_noise
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


def nearest(model: Mapping[str, Any], frame: pd.DataFrame) -> np.ndarray:
    """Return the group of every row, from 0; −1 where a number is missing."""
    apart = np.zeros((len(frame), len(model["rows"])))
    for one in model["columns"]:
        column = Column(str(one["name"]), kind=Kind.NUMBER, missing=tuple(one["missing"]))
        values = np.clip(coding.numbers(frame[one["name"]], column), one["minimum"], one["maximum"])
        half = (one["maximum"] - one["minimum"]) / 2
        apart += ((values[:, None] - np.array(one["centres"])) / half) ** 2
    missing = np.isnan(apart).any(axis=1)
    return np.where(missing, -1, np.argmin(np.where(np.isnan(apart), 0, apart), axis=1))
