"""What methods that count rows in declared cells share: parameters, noise, forecast, totals, artefacts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
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
    Method,
    Reads,
    Release,
    TableArtefact,
)
from engine.methods.shared.cells import EXTRA_CELLS, Cells
from engine.methods.shared.promise import cap_notes, counted_unit, promise
from engine.methods.shared.tables import (
    filling_notes,
    forecast_views,
    number_entry,
    result_frame,
    result_views,
    size_view,
    totals_view,
)
from engine.methods.shared.view import view_of
from engine.once import once
from engine.privacy.mechanisms import CountNoise, GaussianCounts, Integers, LaplaceCounts
from engine.privacy.promise import Promise
from engine.views import Text

if TYPE_CHECKING:
    from engine.table.table import Table

NO_NEGATIVES = option.boolean(name="no_negatives", default=False)
PEOPLE = option.integer(name="people", optional=True, minimum=1, maximum=10**10)


class CountsMethod(Method):
    """What counts and histograms share: integer counts of cells, noise on each, totals from the noisy ones.

    Notes
    -----
    A row is in at most one cell, so a person moves the vector of counts by at most ``request.units_moved``
    in L1: the cap on rows, twice under replace-one. For Gaussian noise the squared L2 distance is at most the
    squared cap, twice that under replace-one (all rows of one person in one cell, all of the other's in
    another).
    """

    family = Family.STATISTICS
    promises = ("pure_dp", "approximate_dp")

    class Options(option.Options):
        extra_cells: str = EXTRA_CELLS
        noise: str = option.choice("laplace", "gaussian", default="laplace")
        no_negatives: bool = NO_NEGATIVES
        totals: bool = option.boolean(default=False)
        people: int | None = PEOPLE

    options: Options

    @once
    @abstractmethod
    def cells(self) -> Cells:
        """Return the declared cells; the parameters have been checked."""

    @once
    def mechanism(self) -> CountNoise:
        """Return the noise that the budget buys."""
        budget = required_budget(self.request)
        if self.options.noise == "gaussian":
            squared = self.squared_sensitivity * (2 if is_replace_one(self.request) else 1)
            return GaussianCounts(squared, budget.epsilon, budget.delta)
        return LaplaceCounts(self.request.units_moved, budget.epsilon)

    @property
    def squared_sensitivity(self) -> int:
        """The squared L2 distance by which rows of one person move the counts at most: all in one cell."""
        return self.request.rows_per_person**2

    @once
    def noise_problems(self) -> list[Problem]:
        """Say what is wrong with the budget."""
        return budget_problems(self.request, uses_delta=self.options.noise == "gaussian")

    @once
    def cost(self) -> Promise:
        mechanism = self.mechanism
        pure = isinstance(mechanism, LaplaceCounts)
        kind = "pure_dp" if pure else "approximate_dp"
        further = () if self.slot_of is None else ("one_row_a_slot",)
        return promise(self.request, mechanism.event, kind=kind, further=further)

    @once
    def forecast(self) -> Forecast:
        mechanism = self.mechanism
        unit = counted_unit(self.request)
        one = mechanism.accuracy()
        quantity = Text(f"methods.{self.id}.numbers.count.label")
        errors = [
            Expected(quantity, "group", size, one.median, one.limit, unit) for size in self.request.sizes
        ]
        view = size_view(self.id, errors, axis=quantity)
        if self.options.totals:
            total = mechanism.accuracy(summed=self.cells.size)
            label = Text(f"methods.{self.id}.numbers.total.label")
            errors.append(Expected(label, "whole", None, total.median, total.limit, unit))
        views = (*forecast_views(self.id, errors), view)
        counted = Counted(self.cells.declared, one.limit, self.request.rows_per_person)
        notes = (*cap_notes(self.request), *filling_notes(counted, self.options.people))
        return Forecast(tuple(errors), views=views, notes=notes, counted=counted)

    @once
    def needs(self) -> Reads:
        return Reads.COUNTS

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        cells, mechanism = self.cells, self.mechanism
        context.progress.step(0.0, "run.reading")
        exact = view_of(tables[MAIN]).counts(cells)
        context.progress.step(0.6, "run.noise")
        noisy = mechanism.release(exact, context.noise)
        context.progress.step(0.9, "run.writing")
        return self.released(noisy, cells, mechanism)

    def released(self, noisy: Integers, cells: Cells, mechanism: CountNoise) -> Release:
        """Make the artefacts from noisy counts: nothing after this line has seen a row."""
        unit = counted_unit(self.request)
        shown = np.maximum(noisy, 0) if self.options.no_negatives else noisy
        frame = result_frame(cells, {"count": shown, "within_95": mechanism.accuracy().limit})
        dictionary = (
            *cells.entries,
            number_entry(self.id, "count", cells, kind="integer", unit=unit),
            number_entry(self.id, "within_95", cells, kind="integer", unit=unit),
        )
        artefacts = [TableArtefact("counts", (frame,), dictionary)]
        if self.options.totals:
            artefacts.append(self.totals(noisy, cells, mechanism, unit))
        views = result_views(self.id, frame, cells, value="count", within="within_95")
        if len(artefacts) > 1:
            views = (totals_view(self.id, artefacts[1].frame, cells), *views)
        names = ["extra_" + self.options.extra_cells]
        names += ["no_negatives"] if self.options.no_negatives else []
        notes = [*cap_notes(self.request), *(Text(f"statistics.notes.{name}") for name in names)]
        if self.slot_of is not None:
            notes.append(Text("statistics.notes.one_row_a_slot", {"column": self.values["slot"]}))
        return Release(tuple(artefacts), self.cost, views, tuple(notes))

    def totals(self, noisy: Integers, cells: Cells, mechanism: CountNoise, unit: str) -> TableArtefact:
        """Add the noisy cells up along every axis: free, because it reads nothing new, but less exact."""
        block = noisy.reshape(cells.shape)
        rows = []
        for place, axis in enumerate(cells.axes):
            others = tuple(other for other in range(block.ndim) if other != place)
            limit = mechanism.accuracy(summed=cells.size // cells.shape[place]).limit
            sums = block.sum(axis=others)
            rows += [
                (axis.name, label, int(total), limit) for label, total in zip(axis.labels, sums, strict=True)
            ]
        rows.append(("", "", int(block.sum()), mechanism.accuracy(summed=cells.size).limit))
        frame = pd.DataFrame(rows, columns=["column", "value", "total", "within_95"])
        frame = frame.astype({"column": "str", "value": "str", "total": "int64"})
        entries = [
            DictionaryEntry("column", Text("statistics.dictionary.column"), "category", values=cells.names),
            DictionaryEntry("value", Text("statistics.dictionary.value"), "category"),
        ]
        entries += [
            DictionaryEntry(name, Text(f"methods.{self.id}.numbers.{text}.what"), "integer", unit)
            for name, text in (("total", "total"), ("within_95", "within_95"))
        ]
        return TableArtefact("totals", (frame,), tuple(entries))
