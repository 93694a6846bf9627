"""A model that adds up one small curve for each predictor, fitted from noisy sums of what is left over."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.methods.budget import budget_problems, is_replace_one, required
from engine.methods.models.additive_model import CLASSES, NUMBER, content, effects, predict
from engine.methods.models.additive_schedule import RESIDUAL_STEPS, Schedule
from engine.methods.models.additive_steps import fit
from engine.methods.models.design import Bounds, bounds_of
from engine.methods.models.linear_model import effects_picture, effects_table
from engine.methods.parameters import Parameter, ParameterKind, Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    DocumentArtefact,
    Expected,
    Family,
    Forecast,
    Method,
    ModelArtefact,
    Reference,
    Release,
    Request,
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
from engine.methods.shared.promise import cap_notes, promise
from engine.privacy.promise import Promise, Unit
from engine.table import coding
from engine.table.schema import Column, Kind
from engine.views import NumberView, TableView, Text, View

if TYPE_CHECKING:
    import pandas as pd

    from engine.table.table import Table

ID = "models.additive"
WORDS = f"methods.{ID}"
GAUSSIAN, LAPLACE = "gaussian", "laplace"
MOST_CELLS = 1_000


class Additive(Method):
    """Cyclic private additive model: for a number, or for one of two classes.

    Notes
    -----
    Whole histograms of clipped residuals get noise, one predictor after the other, a few rounds; each moves a
    smoothed curve. What a row adds to a histogram is a whole number that depends on the row and on published
    curves alone. H. Nori and others, "Accuracy, interpretability, and differential privacy via explainable
    boosting", ICML 2021, with declared bins, whole-histogram steps and clipping at half.

    Clipping makes probabilities bolder or shyer in a known way and moves effects towards 0; they are for
    prediction, not for saying what causes what. Relations of two predictors together are not in it.
    """

    id = ID
    family = Family.MODEL
    promises = ("pure_dp", "approximate_dp")
    held_out = True
    published = Reference(
        "Nori, Caruana, Bu, Shen, Kulkarni: Accuracy, interpretability, and differential privacy via "
        "explainable boosting (2021)",
        "algorithm 2, with whole histograms and declared bins",
        "arXiv:2106.09680",
    )
    parameters = (
        Parameter(
            "target",
            ParameterKind.COLUMN,
            column_kinds=(Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER, Kind.NUMBER),
            needs_domain=True,
        ),
        Parameter(
            "predictors",
            ParameterKind.COLUMNS,
            minimum=1,
            maximum=200,
            column_kinds=CELL_KINDS,
            needs_domain=True,
        ),
        Parameter("about_rows", ParameterKind.INTEGER, minimum=10, maximum=10**9),
        Parameter("noise", ParameterKind.CHOICE, default=LAPLACE, choices=(LAPLACE, GAUSSIAN)),
        BINS,
        OWN_EDGES,
    )

    # --- declarations ------------------------------------------------------------------------------

    def further_problems(self, request: Request) -> list[Problem]:
        target, names = request.schema.column(request.values["target"]), request.values["predictors"]
        if target.name in names:
            return [Problem(f"{ID}.predicts_itself", {"column": target.name}, "predictors")]
        if is_listed(target) and len(coding.levels(target)) != 2:
            return [Problem(f"{ID}.two_values", {"column": target.name}, "target")]
        if not is_listed(target) and bounds_of(target) is None:
            return [Problem(f"{ID}.no_bounds", {"column": target.name}, "target")]
        columns = [request.schema.column(name) for name in names]
        found = level_problems([one for one in columns if is_listed(one)], parameter="predictors")
        found += edge_problems(request, columns, method=ID, parameter="predictors")
        for cells in () if found else self.cells(request):
            if cells.size > MOST_CELLS:
                values = {"column": cells.column.name, "cells": cells.size, "most": MOST_CELLS}
                found.append(Problem(f"{ID}.too_many_cells", values, "predictors"))
        found += budget_problems(request, uses_delta=request.values["noise"] == GAUSSIAN)
        if not found and 2 * self.schedule(request).needed_rows > request.values["about_rows"]:
            needed = round(self.schedule(request).needed_rows)
            found.append(Problem(f"{ID}.nothing_left", {"rows": needed}, "budget"))
        return found

    def cells(self, request: Request) -> tuple[ColumnCells, ...]:
        """Return the cells of every predictor: from declarations alone."""
        return columns_as_cells(request, request.values["predictors"])

    def schedule(self, request: Request) -> Schedule:
        """Return the noise of every sum, and how many there are."""
        budget = required(request)
        return Schedule(
            tuple(cells.size for cells in self.cells(request)),
            budget.epsilon,
            budget.delta,
            request.rows_per_person,
            is_replace_one(request),
            request.values["about_rows"],
            is_listed(request.schema.column(request.values["target"])),
        ).borne_out()

    def cost(self, request: Request) -> Promise:
        kind = "approximate_dp" if request.values["noise"] == GAUSSIAN else "pure_dp"
        return promise(request, self.schedule(request).events, kind=kind)

    # --- forecast ----------------------------------------------------------------------------------

    def forecast(self, request: Request) -> Forecast:
        schedule = self.schedule(request)
        unit, _ = self._scale(request)
        needed = schedule.needed_rows
        # Of a cell with so many rows: from the noise of one sum, spread over the curvature of its rows.
        errors = []
        for size in request.sizes:
            spread = np.sqrt(needed / schedule.bend) / max(size, 1)
            median, limit = 0.6745 * spread * unit, 1.96 * spread * unit
            errors.append(Expected(Text(f"{WORDS}.numbers.effect.label"), "cell", size, median, limit))
        note = Text(f"{WORDS}.notes.needed", {"rows": round(needed), "rounds": schedule.rounds})
        return Forecast(tuple(errors), notes=(*cap_notes(request), note))

    # --- release -----------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], request: Request, context: Context) -> Release:
        schedule, predictors = self.schedule(request), self.cells(request)
        context.progress.step(0.0, "run.reading")
        frame = tables[MAIN].rows()
        target = self._target(frame, request)
        known = target >= -RESIDUAL_STEPS
        codes = [cells.codes(frame[cells.column.name])[known] for cells in predictors]
        fitted = fit(
            codes,
            target[known],
            schedule,
            ordered=[cells.ordered for cells in predictors],
            noise=context.noise,
            progress=context.progress.part(0.1, 0.9),
        )
        unit, middle = self._scale(request)
        model = content(
            fitted,
            predictors,
            self._described(request),
            unit=unit,
            middle=middle,
            further=self._told(request, schedule),
        )
        return self._released(model, request)

    def _target(self, frame: pd.DataFrame, request: Request) -> np.ndarray:
        """Return the target of every row in steps of residuals; −2 where it has none, and the row no part."""
        column = request.schema.column(request.values["target"])
        if is_listed(column):
            codes = coding.codes(frame[column.name], column)
            return np.where(codes > 1, -2, codes) * np.int64(RESIDUAL_STEPS)
        bounds = _bounds(column)
        numbers = coding.numbers(frame[column.name], column)
        scaled = np.clip((numbers - bounds.middle) / bounds.half, -1, 1)
        return np.where(np.isnan(scaled), -2 * RESIDUAL_STEPS, np.rint(scaled * RESIDUAL_STEPS)).astype(
            np.int64
        )

    def _scale(self, request: Request) -> tuple[float, float]:
        """Return what 1 and 0 of a score stand for in the units of the target."""
        column = request.schema.column(request.values["target"])
        if is_listed(column):
            return 1.0, 0.0
        bounds = _bounds(column)
        return bounds.half, bounds.middle

    def _described(self, request: Request) -> dict[str, Any]:
        column = request.schema.column(request.values["target"])
        if is_listed(column):
            return {"name": column.name, "kind": CLASSES, "values": list(coding.levels(column))}
        bounds = _bounds(column)
        return {"name": column.name, "kind": NUMBER, "minimum": bounds.low, "maximum": bounds.high}

    def _told(self, request: Request, schedule: Schedule) -> dict[str, Any]:
        budget = required(request)
        return {
            "rounds": schedule.rounds,
            "clipping": str(schedule.clipping),
            "needed_rows": round(schedule.needed_rows),
            "noise": {
                "distribution": "discrete_gaussian" if schedule.is_gaussian else "discrete_laplace",
                "scale_of_sums": str(schedule.sum_scale / RESIDUAL_STEPS),
                "scale_of_counts": str(schedule.count_scale),
            },
            "privacy": {
                "epsilon": str(budget.epsilon),
                "delta": str(budget.delta),
                "neighbours": str(budget.neighbours),
                "unit": str(request.unit),
                "rows_per_person": request.rows_per_person,
            },
            "method": {"id": self.id, "version": self.version},
        }

    def _released(self, model: dict[str, Any], request: Request) -> Release:
        """Make the artefacts from the model: nothing after this line has seen a row."""
        shown = list(effects(model, f"{WORDS}.views"))
        axis = Text(f"{WORDS}.views.axis_{model['target']['kind']}", {"target": model["target"]["name"]})
        told = {
            "needed_rows": model["needed_rows"],
            "rows": max((sum(one["rows"]) for one in model["predictors"]), default=0),
        }
        views: tuple[View, ...] = (
            effects_picture(shown, f"{WORDS}.views", axis),
            effects_table(shown, f"{WORDS}.views"),
            *(
                NumberView(Text(f"{WORDS}.numbers.{name}.label"), value, Text(f"{WORDS}.numbers.{name}"))
                for name, value in told.items()
            ),
        )
        meaning = Text(f"{WORDS}.artefacts.model", {"target": model["target"]["name"]})
        artefacts = (
            ModelArtefact("model", model, partial(predict, model), model["target"]["name"], meaning),
            DocumentArtefact("model-card", _card(model, views), Text(f"{WORDS}.artefacts.card")),
        )
        return Release(artefacts, self.cost(request), views, tuple(cap_notes(request)))


def _card(model: Mapping[str, Any], views: tuple[View, ...]) -> tuple[Text | View, ...]:
    target, privacy = model["target"], model["privacy"]
    if target["kind"] == CLASSES:
        predicts = Text(
            f"{WORDS}.card.predicts_classes",
            {"target": target["name"], "first": target["values"][0], "second": target["values"][1]},
        )
    else:
        values = {"target": target["name"], "minimum": target["minimum"], "maximum": target["maximum"]}
        predicts = Text(f"{WORDS}.card.predicts_number", values)
    is_row = privacy["unit"] == Unit.ROW
    protection = {"epsilon": privacy["epsilon"], "delta": privacy["delta"]}
    protection |= {} if is_row else {"rows": privacy["rows_per_person"]}
    return (
        Text(f"{WORDS}.card.title", {"target": target["name"]}),
        predicts,
        Text(f"{WORDS}.card.not_for", {"rows": model["needed_rows"]}),
        Text(f"{WORDS}.card.{'privacy_row' if is_row else 'privacy'}", protection),
        Text(f"{WORDS}.card.use_{target['kind']}"),
        *(view for view in views if isinstance(view, TableView | NumberView)),
    )


def _bounds(column: Column) -> Bounds:
    found = bounds_of(column)
    assert found is not None, "problems() reports numbers without bounds"
    return found
