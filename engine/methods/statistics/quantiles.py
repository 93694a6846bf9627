"""Medians and other quantiles on a declared grid, in groups if wanted."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from engine.methods.budget import budget_problems, is_replace_one, required
from engine.methods.parameters import Parameter, ParameterKind, Problem
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
    Request,
    TableArtefact,
)
from engine.methods.statistics.cells import Cells, Extra, LevelAxis, free_name, level_problems, size_problems
from engine.methods.statistics.counts import EXTRA_CELLS, LEVEL_KINDS
from engine.methods.statistics.promise import counted_unit, promise
from engine.methods.statistics.quantity import Grid, grid_of
from engine.methods.statistics.ranks import rank_scores, rank_sensitivity, spread_evenly
from engine.methods.statistics.tables import forecast_views, number_entry, result_views
from engine.methods.values import edge_number
from engine.privacy.events import Sequential
from engine.privacy.mechanisms import ExponentialChoice
from engine.privacy.promise import Promise
from engine.table.schema import Kind
from engine.views import Text

if TYPE_CHECKING:
    from engine.table.table import Table

MOST_CANDIDATES = 20_000
MOST_CHOICES = 2_000_000  # candidates × groups × quantiles: some seconds of exact choices
MOST_DENOMINATOR = 1_000
SHARE = 0.95


class Quantiles(Method):
    """Quantiles by the exponential mechanism over a declared grid.

    Notes
    -----
    P(v) ∝ exp(ε_q · score(v) / 2Δ) with the score of `engine.methods.statistics.ranks.rank_scores`; several
    quantiles share the budget equally. Quantiles of one group are put in order afterwards, which reads
    nothing private and, as ranks increase with values, keeps the accuracy. That is stated in people: how many
    stand on the wrong side of the value.

    Source: McSherry and Talwar (2007), theorem 6; Smith (2011), section 4.
    """

    id = "statistics.quantiles"
    family = Family.STATISTICS
    promises = ("pure_dp",)
    published = Reference(
        "McSherry, Talwar: Mechanism design via differential privacy (2007)",
        "theorem 6, the exponential mechanism",
        "doi:10.1109/FOCS.2007.66",
    )
    parameters = (
        Parameter("value", ParameterKind.COLUMN, column_kinds=(Kind.INTEGER, Kind.NUMBER), needs_domain=True),
        Parameter("quantiles", ParameterKind.EDGES, default=["1/4", "1/2", "3/4"], minimum=1, maximum=20),
        Parameter(
            "by",
            ParameterKind.COLUMNS,
            default=[],
            optional=True,
            maximum=3,
            column_kinds=LEVEL_KINDS,
            needs_domain=True,
        ),
        EXTRA_CELLS,
    )

    # --- declarations ------------------------------------------------------------------------------

    def further_problems(self, request: Request) -> list[Problem]:
        column = request.schema.column(request.values["value"])
        by = [request.schema.column(name) for name in self._get(request, "by") or []]
        found = level_problems(by, parameter="by")
        grid = self._grid(request)
        if grid is None:
            found.append(Problem(f"{self.id}.no_bounds", {"column": column.name}, "value"))
        elif grid.high - grid.low >= MOST_CANDIDATES:
            values = {"steps": grid.high - grid.low + 1, "most": MOST_CANDIDATES, "column": column.name}
            found.append(Problem(f"{self.id}.too_fine", values, "value"))
        wanted = self._wanted(request)
        if any(not 0 < each < 1 or each.denominator > MOST_DENOMINATOR for each in wanted):
            found.append(Problem(f"{self.id}.not_a_quantile", {"most": MOST_DENOMINATOR}, "quantiles"))
        if found:
            return found
        cells = self.cells(request)
        found = size_problems(cells, method=self.id, parameter="by")
        if grid is not None and cells.size * (grid.high - grid.low + 1) * len(wanted) > MOST_CHOICES:
            found.append(Problem(f"{self.id}.too_many_choices", {"cells": cells.size}, "by"))
        return found + budget_problems(request, uses_delta=False)

    def _get(self, request: Request, name: str) -> Any:
        return request.values[name]

    def _wanted(self, request: Request) -> tuple[Fraction, ...]:
        return tuple(edge_number(each) for each in self._get(request, "quantiles"))

    def _grid(self, request: Request) -> Grid | None:
        return grid_of(request.schema.column(self._get(request, "value")), digits=3)

    def cells(self, request: Request) -> Cells:
        """Return the declared groups."""
        extra = Extra(self._get(request, "extra_cells"))
        names = self._get(request, "by") or []
        return Cells(tuple(LevelAxis(request.schema.column(name), extra) for name in names))

    def choices(self, request: Request) -> tuple[ExponentialChoice, ...]:
        """Return one mechanism a quantile; their epsilons add up to exactly the budget."""
        wanted = self._wanted(request)
        share = required(request).epsilon / len(wanted)
        groups = self.cells(request).size
        return tuple(
            ExponentialChoice(
                rank_sensitivity(
                    each,
                    groups=groups,
                    rows=request.rows_per_person,
                    replace_one=is_replace_one(request),
                ),
                share,
                choices=groups,
            )
            for each in wanted
        )

    def cost(self, request: Request) -> Promise:
        events = tuple(choice.event for choice in self.choices(request))
        return promise(request, events[0] if len(events) == 1 else Sequential(events))

    def rank_limit(self, request: Request, candidates: int, *, share: float) -> float:
        """Return how many values stand on the wrong side at most, for all quantiles of a group together."""
        wanted, choices = self._wanted(request), self.choices(request)
        each = 1 - (1 - share) / len(wanted)  # union bound
        return max(
            choice.score_limit(candidates, share=each) / quantile.denominator
            for quantile, choice in zip(wanted, choices, strict=True)
        )

    # --- forecast ----------------------------------------------------------------------------------

    def forecast(self, request: Request) -> Forecast:
        grid, unit = self._grid(request), counted_unit(request)
        assert grid is not None
        candidates = grid.high - grid.low + 1
        label = f"methods.{self.id}.numbers"
        errors = []
        for wanted, choice in zip(self._wanted(request), self.choices(request), strict=True):
            name = Text(f"{label}.value.of", {"quantile": str(wanted)})
            for size in request.sizes:
                median, limit = _even_errors(choice.rate, wanted, max(size, 1), candidates)
                errors.append(
                    Expected(name, "group", size, median * float(grid.step), limit * float(grid.step))
                )
        half, most = (self.rank_limit(request, candidates, share=share) for share in (0.5, SHARE))
        ranks = [Expected(Text(f"{label}.within_95_rank.label"), "whole", None, half, most, unit)]
        errors = [*sorted(errors, key=lambda error: request.sizes.index(error.size or 0))]
        return Forecast(
            (*errors, *ranks),
            views=forecast_views(self.id, (*errors, *ranks)),
            notes=(Text(f"methods.{self.id}.notes.even"), Text(f"methods.{self.id}.notes.rank")),
        )

    # --- release -----------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], request: Request, context: Context) -> Release:
        cells, grid = self.cells(request), self._grid(request)
        assert grid is not None
        candidates = grid.high - grid.low + 1
        context.progress.step(0.0, "run.reading")
        frame = tables[MAIN].rows()
        codes = cells.codes(frame)
        steps, missing = grid.steps(frame)
        inside = (codes >= 0) & ~missing
        place = codes[inside] * candidates + (steps[inside] - grid.low)
        counts = np.bincount(place, minlength=cells.size * candidates).reshape(cells.size, candidates)
        wanted, choices = self._wanted(request), self.choices(request)
        chosen = np.empty((cells.size, len(wanted)), dtype=np.int64)
        for group in range(cells.size):
            context.progress.step(0.1 + 0.8 * group / cells.size, "run.noise")
            for index, (each, choice) in enumerate(zip(wanted, choices, strict=True)):
                scores = rank_scores(counts[group].astype(np.int64), wanted=each)
                chosen[group, index] = choice.choose(scores, context.noise)
        context.progress.step(0.9, "run.writing")
        return self._published(np.sort(chosen, axis=1), cells, grid, request)

    def _published(self, chosen: np.ndarray, cells: Cells, grid: Grid, request: Request) -> Release:
        wanted, candidates = self._wanted(request), grid.high - grid.low + 1
        names = {name: free_name(name, cells.names) for name in ("quantile", "value", "within_95_rank")}
        values = [float((grid.low + int(step)) * grid.step) for step in chosen.ravel()]
        frame = cells.frame()
        frame = frame.loc[np.repeat(np.arange(cells.size), len(wanted))].reset_index(drop=True)
        frame[names["quantile"]] = pd.array([str(each) for each in wanted] * cells.size, dtype="str")
        frame[names["value"]] = values
        frame[names["within_95_rank"]] = self.rank_limit(request, candidates, share=SHARE)
        dictionary = (
            *cells.entries,
            DictionaryEntry(
                names["quantile"],
                Text(f"methods.{self.id}.numbers.quantile.what"),
                "category",
                values=tuple(str(each) for each in wanted),
            ),
            number_entry(self.id, "value", cells, kind="number"),
            number_entry(self.id, "within_95_rank", cells, kind="number", unit=counted_unit(request)),
        )
        views = result_views(self.id, frame, cells, value="value", within=None)
        notes = [Text(f"statistics.notes.extra_{self._get(request, 'extra_cells')}")] if cells.axes else []
        notes += [Text(f"methods.{self.id}.notes.{name}") for name in ("missing", "ordered", "rank")]
        notes.append(
            Text(
                "methods.statistics.quantiles.notes.grid",
                {"column": grid.column.name, "step": float(grid.step)},
            )
        )
        artefact = TableArtefact("quantiles", (frame,), dictionary)
        return Release((artefact,), self.cost(request), views, tuple(notes))


@lru_cache(maxsize=1024)
def _even_errors(rate: Fraction, wanted: Fraction, size: int, candidates: int) -> tuple[int, int]:
    """Return median and 95 % limit of the error, in steps, for simulated values spread evenly on the grid.

    Notes
    -----
    Exact probabilities of the mechanism for those values; the error is the distance to the best candidates.
    """
    scores = rank_scores(spread_evenly(size, candidates), wanted=wanted)
    weights = np.exp(float(rate) * (scores - scores.max()).astype(np.float64))
    best = np.flatnonzero(scores == scores.max())
    places = np.arange(candidates)
    error = np.maximum(0, np.maximum(best[0] - places, places - best[-1]))
    within = np.cumsum(np.bincount(error, weights=weights / weights.sum(), minlength=candidates))
    return tuple(int(np.searchsorted(within, share - 1e-12)) for share in (0.5, SHARE))  # type: ignore[return-value]
