"""Medians and other quantiles on a declared grid, in groups if wanted."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

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
    Held,
    Method,
    Reads,
    Reference,
    Release,
    TableArtefact,
)
from engine.methods.shared.cells import (
    BY,
    EXTRA_CELLS,
    Cells,
    free_name,
    level_axes,
    level_problems,
    size_problems,
)
from engine.methods.shared.promise import cap_notes, counted_unit, promise
from engine.methods.shared.quantity import Grid, grid_of
from engine.methods.shared.rank_accuracy import any_limits, even_errors
from engine.methods.shared.rank_choices import RankChoice, choose_quantiles, parts_for
from engine.methods.shared.rank_choices import choices as choices_for
from engine.methods.shared.tables import forecast_views, label_of, number_entry, result_views
from engine.methods.shared.view import view_of
from engine.methods.values import edge_number
from engine.once import once
from engine.privacy.mechanisms.permute_and_flip import PermuteAndFlip, written_rates
from engine.privacy.promise import Promise
from engine.table.schema import Kind
from engine.views import BarsView, Label, Text

if TYPE_CHECKING:
    from engine.table.table import Table

MOST_CANDIDATES = 20_000
MOST_CHOICES = 2_000_000  # candidates × groups × quantiles: some seconds of exact choices
MOST_DENOMINATOR = 1_000
SHARE = 0.95
LIMITS = ("within_95_rank", "within_95_rank_any")


class Quantiles(Method):
    """Quantiles by permute-and-flip over a declared grid: each by itself, or by halving the values.

    Notes
    -----
    A candidate is accepted with probability exp(−rate · ranks that it is worse than the best), one of the
    accepted is drawn. Of several quantiles the middle one cuts the values, and each half goes on with its
    own quantiles; a person is in one half only. Whether halving or separate choices have the smaller error
    follows from declarations (`engine.methods.shared.rank_choices.choices`). Quantiles of one group are
    put in order afterwards, which reads nothing private and, as ranks increase with values, keeps the
    accuracy. That is stated in people: how many stand on the wrong side of the value. Nothing is said of the
    value itself, whose error depends on how far apart the people's values lie.

    The time that a choice takes depends on declared sizes; the exceptions are those of
    `engine.privacy.noise.Noise.permute_and_flip`.

    Source: McKenna and Sheldon (2020); Smith (2011), section 4 (ranks as scores); Kaplan, Schnapp and Stemmer
    (2022), algorithm 1 (halving; there without the values that coincide with a cut).
    """

    id = "statistics.quantiles"
    version = 2
    family = Family.STATISTICS
    held = Held.AVERAGES
    promises = ("pure_dp",)
    published = Reference(
        "McKenna, Sheldon: Permute-and-flip: a new mechanism for differentially private selection (2020)",
        "algorithm 1 and theorem 2",
        "arXiv:2010.12603",
    )

    class Options(option.Options):
        value: str = option.column(column_kinds=(Kind.INTEGER, Kind.NUMBER), needs_domain=True)
        quantiles: option.Edges = option.edges(default=["1/4", "1/2", "3/4"], minimum=1, maximum=20)
        by: option.Names = BY
        extra_cells: str = EXTRA_CELLS

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        column = self.schema.column(self.options.value)
        by = [self.schema.column(name) for name in self.options.by]
        found = level_problems(by, parameter="by")
        grid = self._grid
        if grid is None:
            found.append(Problem(f"{self.id}.no_bounds", {"column": column.name}, "value"))
        elif grid.high - grid.low >= MOST_CANDIDATES:
            values = {"steps": grid.high - grid.low + 1, "most": MOST_CANDIDATES, "column": column.name}
            found.append(Problem(f"{self.id}.too_fine", values, "value"))
        wanted = self._wanted
        if any(not 0 < each < 1 or each.denominator > MOST_DENOMINATOR for each in wanted):
            found.append(Problem(f"{self.id}.not_a_quantile", {"most": MOST_DENOMINATOR}, "quantiles"))
        if found:
            return found
        cells = self.cells
        found = size_problems(cells, method=self.id, parameter="by")
        if grid is not None and cells.size * (grid.high - grid.low + 1) * len(wanted) > MOST_CHOICES:
            found.append(Problem(f"{self.id}.too_many_choices", {"cells": cells.size}, "by"))
        return found + budget_problems(self.request, uses_delta=False)

    @once
    def _wanted(self) -> tuple[Fraction, ...]:
        return tuple(edge_number(each) for each in self.options.quantiles)

    @once
    def _grid(self) -> Grid | None:
        return grid_of(self.schema.column(self.options.value), digits=3)

    @once
    def cells(self) -> Cells:
        """Return the declared groups."""
        return Cells(level_axes(self.request, self.options.by))

    @once
    def choices(self) -> tuple[RankChoice, ...]:
        """Return what is chosen from the values of one group; it loses exactly the budget."""
        return choices_for(
            self._wanted,
            required_budget(self.request).epsilon,
            rows=self.request.rows_per_person,
            groups=self.cells.size,
            replace_one=is_replace_one(self.request),
        )

    @once
    def parts(self) -> int:
        """Return into how many parts the values on one candidate are cut."""
        steps, groups, grid = self.choices, self.cells.size, self._grid
        assert grid is not None
        candidates = grid.high - grid.low + 1
        return parts_for(steps, candidates=candidates, groups=groups, most=MOST_CHOICES)

    @once
    def cost(self) -> Promise:
        parts = self.parts
        rates = [rate for root in self.choices for rate in root.rates(parts=parts)]
        event = PermuteAndFlip(
            required_budget(self.request).epsilon, written_rates(rates), groups=self.cells.size
        )
        return promise(self.request, event)

    def limits(self, candidates: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the 95 % limits in ranks: where values are dense and even, and whatever they are."""
        steps = self.choices
        even = tuple(limit for _, limit in even_errors(steps))
        most = any_limits(steps, candidates=candidates, parts=self.parts, share=SHARE)
        return even, tuple(float(ceil(limit)) for limit in most)

    # --- forecast ----------------------------------------------------------------------------------

    @once
    def forecast(self) -> Forecast:
        grid, unit, steps = self._grid, counted_unit(self.request), self.choices
        assert grid is not None
        candidates = grid.high - grid.low + 1
        label = f"methods.{self.id}.numbers"
        errors = []
        for size in self.request.sizes:
            found = even_errors(steps, size=max(size, 1), candidates=candidates)
            for wanted, (median, limit) in zip(self._wanted, found, strict=True):
                name = Text(f"{label}.within_95_rank.of", {"quantile": str(wanted)})
                errors.append(Expected(name, "group", size, median, limit, unit))
        parts = self.parts
        half, most = (
            max(any_limits(steps, candidates=candidates, parts=parts, share=share)) for share in (0.5, SHARE)
        )
        name = Text(f"{label}.within_95_rank_any.label")
        errors.append(Expected(name, "rank", None, float(ceil(half)), float(ceil(most)), unit))
        return Forecast(
            tuple(errors),
            views=forecast_views(self.id, errors),
            notes=(*cap_notes(self.request), *map(self._note, ("even", "rank", self._way(steps)))),
            counted=Counted(self.cells.declared, float(ceil(most)), self.request.rows_per_person),
        )

    def _note(self, name: str) -> Text:
        return Text(f"methods.{self.id}.notes.{name}")

    @staticmethod
    def _way(steps: tuple[RankChoice, ...]) -> str:
        return "halved" if steps[0].next else "apart"

    # --- release -----------------------------------------------------------------------------------

    @once
    def needs(self) -> Reads:
        return Reads.COUNTS

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        cells, grid = self.cells, self._grid
        assert grid is not None
        context.progress.step(0.0, "run.reading")
        counts = view_of(tables[MAIN]).counts(cells, grid)
        steps, parts = self.choices, self.parts
        found = np.empty((cells.size, len(self._wanted)), dtype=np.int64)
        for group in range(cells.size):
            context.progress.step(0.1 + 0.8 * group / cells.size, "run.noise")
            found[group] = choose_quantiles(steps, counts[group], parts=parts, noise=context.noise)
        context.progress.step(0.9, "run.writing")
        return self._published(found, cells, grid)

    def _drawn(self, places: np.ndarray, cells: Cells, grid: Grid, unit: str) -> BarsView:
        """Return the quantile nearest the middle of every declared group; of all together every one."""
        words, wanted = f"methods.{self.id}.views.bars", self._wanted
        values = (grid.low + places.astype(np.int64)) * float(grid.step)
        axis: Label = self.options.value
        axis = Text("models.effects.in_unit", {"heading": axis, "unit": unit}) if unit else axis
        note = Text(f"{words}.note")
        if not cells.axes:
            labels = tuple(Text(f"{words}.below", {"share": str(one)}) for one in wanted)
            return BarsView(Text(f"{words}.title"), labels, tuple(values[0].tolist()), axis, note=note)
        middle = min(range(len(wanted)), key=lambda place: abs(wanted[place] - Fraction(1, 2)))
        declared = [
            not any(own in cells.asides[name] for name, own in zip(cells.names, cell, strict=True))
            for cell in cells.labels()
        ]
        if not all(declared):
            note = Text(
                "statistics.notes.both", {"first": note, "second": Text("statistics.notes.aside_no_bar")}
            )
        return BarsView(
            Text(f"{words}.title_of_groups", {"share": str(wanted[middle])}),
            tuple(label_of(cell, cells) for cell, own in zip(cells.labels(), declared, strict=True) if own),
            tuple(values[declared, middle].tolist()),
            axis,
            note=note,
        )

    def _published(self, places: np.ndarray, cells: Cells, grid: Grid) -> Release:
        wanted, candidates = self._wanted, grid.high - grid.low + 1
        names = {name: free_name(name, cells.names) for name in ("quantile", "value", *LIMITS)}
        values = [float((grid.low + int(step)) * grid.step) for step in places.ravel()]
        frame = cells.frame()
        frame = frame.loc[np.repeat(np.arange(cells.size), len(wanted))].reset_index(drop=True)
        frame[names["quantile"]] = pd.array([str(each) for each in wanted] * cells.size, dtype="str")
        frame[names["value"]] = values
        for name, limits in zip(LIMITS, self.limits(candidates), strict=True):
            frame[names[name]] = np.tile(limits, cells.size)
        unit = self.schema.column(self.options.value).unit
        dictionary = (
            *cells.entries,
            DictionaryEntry(
                names["quantile"],
                Text(f"methods.{self.id}.numbers.quantile.what"),
                "category",
                values=tuple(str(each) for each in wanted),
            ),
            number_entry(self.id, "value", cells, kind="number", unit=unit),
            *(
                number_entry(self.id, name, cells, kind="number", unit=counted_unit(self.request))
                for name in LIMITS
            ),
        )
        drawn = self._drawn(places, cells, grid, unit)
        views = (*result_views(self.id, frame, cells, value="value", within=None), drawn)
        notes = [Text(f"statistics.notes.extra_{self.options.extra_cells}")] if cells.axes else []
        notes += cap_notes(self.request)
        notes += map(self._note, ("missing", "ordered", "rank", "even", self._way(self.choices)))
        notes.append(
            Text(
                "methods.statistics.quantiles.notes.grid",
                {"column": grid.column.name, "step": float(grid.step)},
            )
        )
        artefact = TableArtefact("quantiles", (frame,), dictionary)
        return Release((artefact,), self.cost, views, tuple(notes))
