"""Invented rows with a guarantee: drawn from a model of noisy tables of one and two columns."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from engine.methods.budget import budget_problems, is_replace_one, required
from engine.methods.datasets.marginal_model.rounds import Learnt, learn
from engine.methods.datasets.marginal_model.sampling import rows_of
from engine.methods.datasets.marginal_model.schedule import Schedule
from engine.methods.datasets.synthesis.invented import invented_table
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
    Rows,
)
from engine.methods.shared.cells import level_problems
from engine.methods.shared.column_cells import (
    BINS,
    CELL_KINDS,
    OWN_EDGES,
    ColumnCells,
    columns_as_cells,
    edge_problems,
    is_listed,
)
from engine.methods.shared.promise import cap_notes, counted_unit, promise
from engine.privacy.accuracy import Accuracy, gaussian_accuracy, laplace_accuracy
from engine.privacy.promise import Promise
from engine.table.table import Table
from engine.views import TableView, Text

ID = "datasets.marginals"
WORDS = f"methods.{ID}"
GAUSSIAN, LAPLACE = "gaussian", "laplace"
MOST_CELLS = 5_000
MOST_ROWS = 10_000_000
MOST_TIMES = 10
"""A table has at most so many times the rows that were stated, unless a number was asked for."""


class Marginals(Method):
    """A synthetic table from noisy tables of single columns and of the pairs that matter most.

    Notes
    -----
    Single columns are counted with noise. In a few rounds the pairs that the model so far describes worst are
    chosen by the exponential mechanism and counted with noise; the model of least assumptions that agrees
    with all of them is a junction tree, from which rows are drawn. Everything after the counts is
    post-processing. R. McKenna, B. Mullins, D. Sheldon, G. Miklau, AIM (2022), several pairs a round.

    What two columns have to do with each other beyond the measured pairs is not in the table. Noise in small
    tables drowns pairs: below 30 rows for each standard deviation of their noise only single columns are
    measured, which is said before anything is spent.
    """

    id = ID
    family = Family.DATASET
    promises = ("approximate_dp", "pure_dp")
    rows = Rows.SYNTHETIC
    libraries = ()
    published = Reference(
        "McKenna, Mullins, Sheldon, Miklau: AIM: an adaptive and iterative mechanism for differentially "
        "private synthetic data (2022)",
        "algorithm 2",
        "arXiv:2201.12677",
    )
    parameters = (
        Parameter(
            "columns",
            ParameterKind.COLUMNS,
            minimum=1,
            maximum=100,
            column_kinds=CELL_KINDS,
            needs_domain=True,
        ),
        Parameter("about_rows", ParameterKind.INTEGER, minimum=10, maximum=10**9),
        Parameter("noise", ParameterKind.CHOICE, default=LAPLACE, choices=(LAPLACE, GAUSSIAN)),
        BINS,
        OWN_EDGES,
        Parameter("rows", ParameterKind.INTEGER, optional=True, minimum=1, maximum=MOST_ROWS),
    )

    # --- declarations ------------------------------------------------------------------------------

    def further_problems(self, request: Request) -> list[Problem]:
        columns = [request.schema.column(name) for name in request.values["columns"]]
        found = level_problems([one for one in columns if is_listed(one)], parameter="columns")
        found += edge_problems(request, columns, method=ID, parameter="columns")
        if not found:
            for column, cells in zip(columns, self.cells(request), strict=True):
                if cells.size > MOST_CELLS:
                    values = {"column": column.name, "cells": cells.size, "most": MOST_CELLS}
                    found.append(Problem(f"{ID}.too_many_cells", values, "columns"))
        gaussian = request.values["noise"] == GAUSSIAN
        return found + budget_problems(request, uses_delta=gaussian)

    def cells(self, request: Request) -> tuple[ColumnCells, ...]:
        """Return the cells of every column: from declarations alone."""
        return columns_as_cells(request, request.values["columns"])

    def schedule(self, request: Request) -> Schedule:
        """Return which noise everything gets."""
        budget = required(request)
        return Schedule(
            tuple(cells.size for cells in self.cells(request)),
            budget.epsilon,
            budget.delta,
            request.units_moved,
            request.rows_per_person**2 * (2 if is_replace_one(request) else 1),
            request.values["about_rows"],
        )

    def cost(self, request: Request) -> Promise:
        schedule = self.schedule(request)
        kind = "approximate_dp" if schedule.is_gaussian else "pure_dp"
        return promise(request, schedule.events, kind=kind)

    # --- forecast ----------------------------------------------------------------------------------

    def forecast(self, request: Request) -> Forecast:
        schedule, unit = self.schedule(request), counted_unit(request)
        accuracy = _accuracy(schedule, max(schedule.single))
        single = Text(f"{WORDS}.numbers.count.label")
        errors = [Expected(single, "invented", None, accuracy.median, accuracy.limit, unit)]
        if schedule.pairs:
            pair = _accuracy(schedule, schedule.pair)
            label = Text(f"{WORDS}.numbers.count.pair")
            errors.append(Expected(label, "invented", None, pair.median, pair.limit, unit))
        verdict = "only_single" if schedule.only_single else "little" if _is_thin(schedule) else "pairs"
        told = {"rows": round(schedule.rows_per_deviation, 1), "pairs": schedule.pairs}
        return Forecast(tuple(errors), notes=(*cap_notes(request), Text(f"{WORDS}.notes.{verdict}", told)))

    # --- release -----------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], request: Request, context: Context) -> Release:
        schedule, columns = self.schedule(request), self.cells(request)
        context.progress.step(0.0, "run.reading")
        rows = tables[MAIN].rows()
        codes = np.array([cells.codes(rows[cells.column.name]) for cells in columns])
        learnt = learn(
            codes,
            schedule,
            ordered=[cells.ordered for cells in columns],
            noise=context.noise,
            progress=context.progress.part(0.1, 0.9),
        )
        return self._released(learnt, columns, schedule, request, context)

    def _released(
        self,
        learnt: Learnt,
        columns: tuple[ColumnCells, ...],
        schedule: Schedule,
        request: Request,
        context: Context,
    ) -> Release:
        """Make the artefact from the model: nothing after this line has seen a row."""
        about = request.values["about_rows"]  # much noise could make any number of rows out of none
        most = min(MOST_ROWS, MOST_TIMES * about)
        n = request.values["rows"] or min(most, max(1, round(learnt.model.total)))
        drawn = rows_of(learnt.model, n, context.noise)
        drawn = drawn[:, context.noise.shuffled(n)]
        views = (_measured_view(learnt, request.values["columns"], schedule),)
        artefact = invented_table(columns, drawn, context.noise)
        return Release((artefact,), self.cost(request), views)


def _is_thin(schedule: Schedule) -> bool:
    return schedule.rows_per_deviation < 100


def _accuracy(schedule: Schedule, scale: Fraction) -> Accuracy:
    if schedule.is_gaussian:
        return gaussian_accuracy(scale**2, count=1)
    return laplace_accuracy(scale, count=1)


def _measured_view(learnt: Learnt, names: tuple[str, ...], schedule: Schedule) -> TableView:
    """Say what was measured and how exactly: of released numbers alone."""
    rows = tuple(
        (
            " × ".join(names[place] for place in one.attributes),
            one.counts.size,
            round(1.96 * one.deviation, 1),
        )
        for one in learnt.measured
    )
    headings = tuple(Text(f"{WORDS}.views.measured.{name}") for name in ("table", "cells", "within"))
    return TableView(
        Text(f"{WORDS}.views.measured.title"), headings, rows, Text(f"{WORDS}.views.measured.note")
    )
