"""Sums, means and proportions, in groups if wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.methods.budget import budget_problems, is_replace_one, required
from engine.methods.parameters import Parameter, ParameterKind, Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    Expected,
    Family,
    Forecast,
    Method,
    Reference,
    Release,
    Request,
    TableArtefact,
)
from engine.methods.statistics.cells import Cells, Extra, LevelAxis, level_problems, size_problems
from engine.methods.statistics.counts import EXTRA_CELLS, LEVEL_KINDS
from engine.methods.statistics.promise import counted_unit, promise
from engine.methods.statistics.quantity import WIDEST, Quantity, grid_of
from engine.methods.statistics.ratio import ratio_errors, ratio_interval
from engine.methods.statistics.sensitivity import means_sensitivity
from engine.methods.statistics.tables import forecast_views, number_entry, result_frame, result_views
from engine.privacy.events import Sequential
from engine.privacy.mechanisms import Integers, LaplaceCounts
from engine.privacy.noise import LARGEST_SCALE
from engine.privacy.promise import Promise
from engine.progress import SILENT, Progress
from engine.table import coding
from engine.table.schema import Kind, Role, exact
from engine.views import Text

if TYPE_CHECKING:
    import pandas as pd

    from engine.privacy.noise import Noise
    from engine.table.table import Table

HALF_RANGE = 10**10  # steps of the grid of a finished mean in half the declared range
SUM, MEAN, PROPORTION = "sum", "mean", "proportion"
PERTURB, COMPOSE = "perturb", "compose"
RATIOS = (MEAN, PROPORTION)


@dataclass(frozen=True)
class Noised:
    """The mechanisms of one request: on the sum and the count, on the sum alone, or on the finished mean."""

    main: LaplaceCounts
    count: LaplaceCounts | None = None

    @property
    def parts(self) -> tuple[LaplaceCounts, ...]:
        return (self.main,) if self.count is None else (self.main, self.count)


class Means(Method):
    """Sums, means and proportions by group, a ratio noised before or after it is formed.

    Notes
    -----
    *Perturb, then compose*: Σ (value − middle of the range), in whole half-steps, and the count are noised
    with shares of ε and divided afterwards. Sensitivities: rows moved × half the range, and rows moved.
    *Compose, then perturb*: the finished means, rounded to 10^10 steps in half the range, are noised as one
    vector; see `engine.methods.statistics.sensitivity.means_sensitivity`. A declared largest weight
    multiplies the first two. Dividing, adding the middle and clamping read nothing private.

    E[noisy ratio] is not the ratio: a ratio of two Laplace-noised numbers has no mean. Medians and limits are
    given instead.
    """

    id = "statistics.means"
    family = Family.STATISTICS
    promises = ("pure_dp",)
    published = Reference(
        "S. Srivastava: Utility and privacy guarantees of differential privacy (2016)",
        "chapter 5, composite statistics",
    )
    parameters = (
        Parameter("statistic", ParameterKind.CHOICE, choices=(SUM, *RATIOS)),
        Parameter(
            "value",
            ParameterKind.COLUMN,
            when=("statistic", (SUM, MEAN)),
            column_kinds=(Kind.INTEGER, Kind.NUMBER),
            needs_domain=True,
        ),
        Parameter(
            "answer",
            ParameterKind.COLUMN,
            when=("statistic", (PROPORTION,)),
            column_kinds=(Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER),
            needs_domain=True,
        ),
        Parameter(
            "counted",
            ParameterKind.RECORDS,
            minimum=1,
            maximum=1000,
            when=("statistic", (PROPORTION,)),
            fields=(Parameter("value", ParameterKind.TEXT),),
        ),
        Parameter(
            "by",
            ParameterKind.COLUMNS,
            default=[],
            optional=True,
            maximum=3,
            column_kinds=LEVEL_KINDS,
            needs_domain=True,
        ),
        Parameter(
            "strategy",
            ParameterKind.CHOICE,
            default=PERTURB,
            choices=(PERTURB, COMPOSE),
            when=("statistic", RATIOS),
        ),
        Parameter("shares", ParameterKind.SHARES, default=["3/5", "2/5"], when=("strategy", (PERTURB,))),
        Parameter(
            "weight",
            ParameterKind.COLUMN,
            optional=True,
            column_kinds=(Kind.INTEGER, Kind.NUMBER),
            column_roles=(Role.WEIGHT,),
            needs_domain=True,
        ),
        EXTRA_CELLS,
    )

    # --- declarations ------------------------------------------------------------------------------

    def further_problems(self, request: Request) -> list[Problem]:
        by = [request.schema.column(name) for name in self._get(request, "by") or []]
        found = level_problems(by, parameter="by") + self._quantity_problems(request)
        if self._is_divided(request) and len(self._get(request, "shares")) != 2:
            found.append(Problem(f"{self.id}.two_shares", {}, "shares"))
        found = found or size_problems(self.cells(request), method=self.id, parameter="by")
        found += budget_problems(request, uses_delta=False)
        if not found and any(part.scale > LARGEST_SCALE for part in self.noised(request).parts):
            found.append(Problem(f"{self.id}.too_fine", {}, self._column(request)))
        return found

    def _quantity_problems(self, request: Request) -> list[Problem]:
        found = []
        if self._get(request, "statistic") == PROPORTION:
            answer = request.schema.column(self._get(request, "answer"))
            problems = level_problems([answer], parameter="answer")
            if problems:
                return problems
            if None in self._places(request):
                found.append(Problem(f"{self.id}.not_a_level", {"column": answer.name}, "counted"))
        elif grid_of(request.schema.column(self._get(request, "value"))) is None:
            found.append(Problem(f"{self.id}.no_bounds", {"column": self._get(request, "value")}, "value"))
        if self._get(request, "weight"):
            weight = grid_of(request.schema.column(self._get(request, "weight")), digits=3)
            if weight is None or weight.low < 0:
                found.append(
                    Problem(f"{self.id}.weight_bounds", {"column": self._get(request, "weight")}, "weight")
                )
        if found:
            return found
        quantity = self.quantity(request)
        widest = max(abs(quantity.low), abs(quantity.high), 2 * quantity.reach) * quantity.heaviest
        if widest > WIDEST:
            found.append(Problem(f"{self.id}.too_fine", {}, self._column(request)))
        return found

    def _get(self, request: Request, name: str) -> Any:
        return request.values[name]

    def _column(self, request: Request) -> str:
        return "answer" if self._get(request, "statistic") == PROPORTION else "value"

    def _is_divided(self, request: Request) -> bool:
        return self._get(request, "statistic") in RATIOS and self._get(request, "strategy") == PERTURB

    def _places(self, request: Request) -> list[int | None]:
        """Return where each counted value stands among the declared levels."""
        answer = request.schema.column(self._get(request, "answer"))
        places = {coding.text_of(level): place for place, level in enumerate(coding.levels(answer))}
        return [places.get(coding.text_of(record["value"])) for record in self._get(request, "counted")]

    def cells(self, request: Request) -> Cells:
        """Return the declared groups."""
        extra = Extra(self._get(request, "extra_cells"))
        names = self._get(request, "by") or []
        return Cells(tuple(LevelAxis(request.schema.column(name), extra) for name in names))

    def quantity(self, request: Request) -> Quantity:
        """Return what is summed, on its grid."""
        weight_name = self._get(request, "weight")
        weight = grid_of(request.schema.column(weight_name), digits=3) if weight_name else None
        if self._get(request, "statistic") == PROPORTION:
            counted = frozenset(place for place in self._places(request) if place is not None)
            answer = request.schema.column(self._get(request, "answer"))
            return Quantity(answer=answer, counted=counted, weight=weight)
        return Quantity(value=grid_of(request.schema.column(self._get(request, "value"))), weight=weight)

    def noised(self, request: Request) -> Noised:
        """Return the noise that the budget buys; its epsilons add up to exactly the budget."""
        epsilon, quantity = required(request).epsilon, self.quantity(request)
        rows = request.units_moved * quantity.heaviest
        grid = quantity.step * quantity.weight_step
        if self._get(request, "statistic") == SUM:
            return Noised(LaplaceCounts(rows * max(abs(quantity.low), abs(quantity.high)), epsilon, grid))
        if self._get(request, "strategy") == COMPOSE:
            sensitivity = means_sensitivity(
                half_range=HALF_RANGE,
                groups=self.cells(request).size,
                rows=request.rows_per_person,
                replace_one=is_replace_one(request),
                weighted=quantity.weight is not None,
            )
            return Noised(LaplaceCounts(sensitivity, epsilon, self._mean_grid(quantity)))
        to_sum, to_count = (exact(share) * epsilon for share in self._get(request, "shares"))
        return Noised(
            LaplaceCounts(rows * quantity.reach, to_sum, grid / 2),
            LaplaceCounts(rows, to_count, quantity.weight_step),
        )

    def _mean_grid(self, quantity: Quantity) -> Fraction:
        return quantity.reach * quantity.step / (2 * HALF_RANGE)

    def cost(self, request: Request) -> Promise:
        events = tuple(part.event for part in self.noised(request).parts)
        return promise(request, events[0] if len(events) == 1 else Sequential(events))

    # --- forecast ----------------------------------------------------------------------------------

    def forecast(self, request: Request) -> Forecast:
        noised, quantity = self.noised(request), self.quantity(request)
        name = self._get(request, "statistic")
        label = Text(f"methods.{self.id}.numbers.{name}.label")
        errors = [
            Expected(label, "group", size, median, limit)
            for size, (median, limit) in zip(
                request.sizes, self._errors(noised, quantity, request), strict=True
            )
        ]
        if noised.count is not None:
            step, one = float(noised.count.grid), noised.count.accuracy()
            counted = Text(f"methods.{self.id}.numbers.{self._count_name(quantity)}.label")
            unit = counted_unit(request) if quantity.weight is None else ""
            errors.append(Expected(counted, "whole", None, one.median * step, one.limit * step, unit))
        names = [] if name == SUM else ["positions"]
        names += ["weights"] if quantity.weight is not None and noised.count is not None else []
        notes = tuple(Text(f"methods.{self.id}.notes.{note}") for note in names)
        return Forecast(tuple(errors), views=forecast_views(self.id, errors), notes=notes)

    def _errors(self, noised: Noised, quantity: Quantity, request: Request) -> list[tuple[float, float]]:
        sizes = request.sizes
        step = float(noised.main.grid)
        if self._get(request, "statistic") == SUM:
            one = noised.main.accuracy()
            return [(one.median * step, one.limit * step)] * len(sizes)
        if noised.count is None:
            found = ratio_errors(noised.main.scale, None, reach=HALF_RANGE, sizes=sizes)
        else:
            typical = (quantity.weight.low + quantity.weight.high) / 2 if quantity.weight else 1.0
            totals = tuple(max(1, round(size * typical)) for size in sizes)
            found = ratio_errors(noised.main.scale, noised.count.scale, reach=quantity.reach, sizes=totals)
            step = float(quantity.step) / 2  # the steps of the weight cancel in the ratio
        return [(error.median * step, error.limit * step) for error in found]

    # --- release -----------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], request: Request, context: Context) -> Release:
        context.progress.step(0.0, "run.reading")
        numbers = self.numbers(tables[MAIN].rows(), request, context.noise, context.progress)
        context.progress.step(0.9, "run.writing")
        return self._published(numbers, self.cells(request), self.quantity(request), request)

    def numbers(
        self, frame: pd.DataFrame, request: Request, noise: Noise, progress: Progress = SILENT
    ) -> dict[str, Any]:
        """Return the noisy numbers of every cell by name: the only part that sees rows."""
        cells, quantity, noised = self.cells(request), self.quantity(request), self.noised(request)
        sums, counts = quantity.sums(frame, cells)
        progress.step(0.6, "run.noise")
        if self._get(request, "statistic") == SUM:
            return self._sum(noised, sums, noise)
        if noised.count is None:
            return self._composed(noised, quantity, sums, counts, noise)
        return self._perturbed(noised, quantity, sums, counts, noise)

    def _sum(self, noised: Noised, sums: Integers, noise: Noise) -> dict[str, Any]:
        step = float(noised.main.grid)
        noisy = noised.main.release(sums, noise)
        return {SUM: noisy * step, "within_95": noised.main.accuracy().limit * step}

    def _composed(
        self, noised: Noised, quantity: Quantity, sums: Integers, counts: Integers, noise: Noise
    ) -> dict[str, Any]:
        finished = finished_means(sums, counts, low=quantity.low, reach=quantity.reach)
        noisy = noised.main.release(finished, noise)
        step = float(noised.main.grid)
        low, high = float(quantity.low * quantity.step), float(quantity.high * quantity.step)
        within = min(noised.main.accuracy().limit * step, high - low)
        return {"value": np.clip(low + noisy * step, low, high), "within_95": within}

    def _perturbed(
        self, noised: Noised, quantity: Quantity, sums: Integers, counts: Integers, noise: Noise
    ) -> dict[str, Any]:
        assert noised.count is not None
        centred = 2 * sums - (quantity.low + quantity.high) * counts
        noisy_sums = noised.main.release(centred, noise).astype(np.float64)
        noisy_counts = noised.count.release(counts, noise)
        # From here on only noisy numbers: the division comes last.
        reach, half = quantity.reach, float(quantity.step) / 2
        ratio = np.clip(noisy_sums / np.maximum(noisy_counts, 1), -reach, reach)
        low, high = ratio_interval(
            noisy_sums,
            noisy_counts.astype(np.float64),
            sum_scale=noised.main.scale,
            count_scale=noised.count.scale,
            reach=reach,
        )
        step = quantity.weight_step
        shown = noisy_counts if step == 1 else noisy_counts * float(step)
        limit = noised.count.accuracy().limit
        return {
            "value": float(quantity.middle) + ratio * half,
            "within_95": np.maximum(high - ratio, ratio - low) * half,
            self._count_name(quantity): shown,
            f"{self._count_name(quantity)}_within_95": limit if step == 1 else limit * float(step),
        }

    def _count_name(self, quantity: Quantity) -> str:
        return "count" if quantity.weight is None else "weight_total"

    def _published(
        self, numbers: dict[str, Any], cells: Cells, quantity: Quantity, request: Request
    ) -> Release:
        name = self._get(request, "statistic")
        frame = result_frame(cells, {name if key == "value" else key: numbers[key] for key in numbers})
        kinds = {True: "integer", False: "number"}
        entries = [
            number_entry(self.id, column, cells, kind=kinds[np.issubdtype(kind, np.integer)])
            for column, kind in zip(
                [name if key == "value" else key for key in numbers],
                frame.dtypes.iloc[len(cells.names) :],
                strict=True,
            )
        ]
        bounds = (
            None
            if name == SUM
            else (
                float(quantity.low * quantity.step),
                float(quantity.high * quantity.step),
            )
        )
        views = result_views(self.id, frame, cells, value=name, within="within_95", bounds=bounds)
        names = [f"statistics.notes.extra_{self._get(request, 'extra_cells')}"] if cells.axes else []
        names.append(f"methods.{self.id}.notes.missing")
        names += [f"methods.{self.id}.notes.clamped"] if name != SUM else []
        notes = [Text(each) for each in names]
        if quantity.value is not None:
            values = {"step": float(quantity.step), "column": quantity.value.column.name}
            notes.append(Text(f"methods.{self.id}.notes.grid", values))
        artefact = TableArtefact(f"{name}s", (frame,), (*cells.entries, *entries))
        return Release((artefact,), self.cost(request), views, tuple(notes))


def finished_means(sums: Integers, counts: Integers, *, low: int, reach: int) -> Integers:
    """Return the exact means rounded to the grid 0 … 2 · HALF_RANGE; an empty group is in the middle.

    Examples
    --------
    >>> finished_means(np.array([3, 0]), np.array([2, 0]), low=1, reach=2).tolist()
    [5000000000, 10000000000]
    """
    found = np.full(len(counts), HALF_RANGE, dtype=np.int64)
    for place in np.flatnonzero(counts):
        above, count = int(sums[place]) - low * int(counts[place]), int(counts[place])
        # round(2N · above / (reach · count)), halves up, in integers
        found[place] = (4 * HALF_RANGE * above + reach * count) // (2 * reach * count)
    return found
