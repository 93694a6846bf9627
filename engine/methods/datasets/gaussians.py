"""Invented rows from normal distributions in the place of groups of similar rows."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

import numpy as np

from engine import arrays
from engine.methods import option
from engine.methods.budget import budget_problems, is_replace_one, required_budget
from engine.methods.datasets.gaussian_cells.counted import Rows as Read
from engine.methods.datasets.gaussian_cells.learning import learn
from engine.methods.datasets.gaussian_cells.plan import CELLS, MOST_TOGETHER, SPREAD, Plan, Sets, relation_off
from engine.methods.datasets.gaussian_cells.shapes import Model, draw_rows
from engine.methods.datasets.marginal_model.agreement import GAUSSIAN as GAUSSIAN_NOISE
from engine.methods.datasets.marginal_model.agreement import LAPLACE as LAPLACE_NOISE
from engine.methods.datasets.marginal_model.agreement import limits
from engine.methods.datasets.marginal_model.sampling import uniform
from engine.methods.datasets.synthesis.invented import invented_entry, written_rows
from engine.methods.datasets.synthesis.related import CHANCE, Relations, describe_relations, draw_relations
from engine.methods.filling import Judged
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    Expected,
    Family,
    Forecast,
    Method,
    Reference,
    Release,
    Rows,
    TableArtefact,
)
from engine.methods.shared.bounds import bounds_of
from engine.methods.shared.cells import level_problems
from engine.methods.shared.column_cells import ColumnCells, Intervals, Named
from engine.methods.shared.column_cells import bounds_of as declared_bounds
from engine.methods.shared.promise import cap_notes, promise
from engine.once import once
from engine.privacy.accuracy import LAPLACE_MEDIAN, LAPLACE_WITHIN, NORMAL_MEDIAN, NORMAL_WITHIN
from engine.privacy.noise import Noise
from engine.privacy.promise import Promise
from engine.table import coding
from engine.table.schema import Column, Kind
from engine.table.table import Table
from engine.views import Cell, TableView, Text, View

Floats = arrays.Floats

ID = "datasets.gaussians"
WORDS = f"methods.{ID}"
FITTING, GAUSSIAN, LAPLACE = "fitting", "gaussian", "laplace"
TOO_MUCH = 0.5
"""Of a column's standard deviation, by which noise moves a mean that says nothing."""
MOST_CLASSES = 20
MOST_ROWS = 10_000_000
MOST_TIMES = 10
"""A table has at most so many times the rows that were stated, unless a number was asked for."""
NUMBERS = (Kind.INTEGER, Kind.NUMBER)


class Gaussians(Method):
    """A synthetic table of numbers: sets of columns, groups of rows in each, a normal distribution for each.

    Notes
    -----
    The case study of a book, in a form that is private. There columns were put together and groups of k rows
    made by reading the rows for nothing (MDAV, whose groups may all change with one row), noise was smaller
    than the sensitivity by a factor of the number of rows, and invented rows stood where the original ones
    had. Here groups are about centres from noisy counts, sums of all groups are one question with its exact
    sensitivity (see `Plan`), sets are drawn independently of each other, and the number of rows is noisy. A
    number beyond its declared range is brought to the end, and the moments are those after that: see
    `gaussian_cells.ends.brought`.

    `engine.methods.datasets.marginals` is usually nearer at the same level.
    """

    id = ID
    summable = True
    family = Family.DATASET
    promises = ("pure_dp", "approximate_dp")
    rows = Rows.SYNTHETIC
    invented = True
    published = Reference(
        "Chang, Zhuang, Samaraweera: Privacy-preserving machine learning (2023)",
        "section 6.4, with groups, sensitivities and order of rows made private",
        "isbn:9781617298042",
    )

    class Options(option.Options):
        columns: option.Names = option.columns(minimum=1, maximum=40, column_kinds=NUMBERS, needs_domain=True)
        label: str | None = option.column(
            optional=True, column_kinds=(Kind.CATEGORY, Kind.ORDINAL, *NUMBERS), needs_domain=True
        )
        about_rows: int = option.integer(minimum=10, maximum=10**9)
        group_rows: int = option.integer(default=50, minimum=5, maximum=10**6)
        sets: option.Records = option.records(
            option.columns(name="together", minimum=1, maximum=MOST_TOGETHER, column_kinds=NUMBERS),
            optional=True,
            maximum=40,
        )
        noise: str = option.choice(FITTING, LAPLACE, GAUSSIAN, default=FITTING)
        rows: int | None = option.integer(optional=True, minimum=1, maximum=MOST_ROWS)

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        names, label = self.options.columns, self.options.label
        for column in self.columns:
            if bounds_of(column) is None or not _has_steps(column):
                return [Problem(f"{ID}.no_bounds", {"column": column.name}, "columns")]
        found = self._label_problems if label is not None else []
        together = [name for one in self.options.sets or () for name in one["together"]]
        for name in together:
            if name not in names or together.count(name) > 1:
                found.append(Problem(f"{ID}.sets", {"column": name}, "sets"))
        return found or budget_problems(self.request, uses_delta=_is_gaussian(self))

    @once
    def _label_problems(self) -> list[Problem]:
        label = self.schema.column(str(self.options.label))
        if label.name in self.options.columns:
            return [Problem(f"{ID}.label_twice", {"column": label.name}, "label")]
        found = level_problems([label], parameter="label")
        if not found and len(coding.levels(label)) > MOST_CLASSES:
            values = {"column": label.name, "levels": len(coding.levels(label)), "most": MOST_CLASSES}
            return [Problem(f"{ID}.too_many_classes", values, "label")]
        return found

    @once
    def columns(self) -> list[Column]:
        """Return the numbers."""
        return [self.schema.column(name) for name in self.options.columns]

    @once
    def label(self) -> Named | None:
        """Return the cells of the column that says the class."""
        name = self.options.label
        return None if name is None else Named(self.schema.column(name))

    @once
    def sets(self) -> Sets | None:
        """Return the declared sets, a column in none as one of its own; None where none is declared."""
        given = self.options.sets
        if not given:
            return None
        places = {name: place for place, name in enumerate(self.options.columns)}
        sets = [tuple(sorted(places[name] for name in one["together"])) for one in given]
        named = {place for one in sets for place in one}
        return (*sets, *((place,) for place in places.values() if place not in named))

    @once
    def plan(self) -> Plan:
        """Return which noise everything gets."""
        budget, label = required_budget(self.request), self.label
        return Plan(
            len(self.options.columns),
            1 if label is None else label.size,
            self.sets,
            budget.epsilon,
            budget.delta,
            self.request.rows_per_person,
            is_replace_one(self.request),
            self.options.about_rows,
            self.options.group_rows,
        )

    @once
    def cost(self) -> Promise:
        kind = "approximate_dp" if _is_gaussian(self) else "pure_dp"
        return promise(self.request, self.plan.event, kind=kind)

    @once
    def taken(self) -> Mapping[str, Any]:
        return {"noise": GAUSSIAN if _is_gaussian(self) else LAPLACE}

    @property
    def asks_once(self) -> bool:
        """Several groups have centres that hang on noisy counts of the site itself."""
        return self.plan.groups == 1

    # --- forecast ----------------------------------------------------------------------------------

    @once
    def forecast(self) -> Forecast:
        plan, off = self.plan, _off(self.plan)
        count = plan.deviation(CELLS) * sqrt(plan.groups)
        variance = off * sqrt(1 + SPREAD**2)
        errors = [
            _expected("mean", 100 * off, " %", single=plan.division.word(CELLS) == "discrete_laplace"),
            _expected("covariance", 100 * variance, " %"),
            _expected("spread", 100 * variance / (2 * SPREAD**2), " %"),
        ]
        if plan.is_related:
            errors.append(_expected("relation", 100 * relation_off(off), " %"))
        errors.append(_expected("count", count, "rows"))
        told = {"groups": plan.groups, "rows": round(plan.rows_of_class / plan.groups)}
        notes = [
            *cap_notes(self.request),
            Text(f"{WORDS}.notes.{'groups' if plan.groups > 1 else 'one'}", told),
        ]
        if not plan.is_related and plan.columns > 1:
            notes.append(Text(f"{WORDS}.notes.{'apart' if plan.declared is None else 'declared_apart'}"))
        return Forecast(tuple(errors), notes=tuple(notes))

    def judged(self, people: int | None) -> Judged:
        plan, off = self.plan, _off(self.plan)
        share = max(0.0, 1 - off / SPREAD)
        verdict = "nothing" if share < 0.5 else "groups" if plan.groups > 1 else "one"
        told = {
            "rows": plan.about_rows,
            "epsilon": float(plan.epsilon),
            "off": min(100 * off, 100.0),
            "groups": plan.groups,
        }
        return Judged(share, Text(f"{WORDS}.judged.{verdict}", told))

    # --- release -----------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        plan, label = self.plan, self.label
        context.progress.step(0.0, "run.reading")
        rows = Read.of(tables[MAIN].rows(), self.columns, label.column if label else None)
        model = learn(rows, plan, noise=context.noise, progress=context.progress.part(0.1, 0.9))
        # nothing after this line has seen a row
        most = min(MOST_ROWS, MOST_TIMES * plan.about_rows)
        n = self.options.rows or min(most, max(1, round(model.total)))
        artefact = self._table(model, n, context.noise)
        names = self.options.columns
        notes = _noise_notes(model, names, plan.deviation(CELLS))
        found = _relations(model, is_gaussian=_is_gaussian(self))
        notes += describe_relations(found, names)
        views: tuple[View, ...] = (_sets_view(model, names), *draw_relations(found, names))
        return Release((artefact,), self.cost, views, notes)

    def _table(self, model: Model, n: int, noise: Noise) -> TableArtefact:
        """Write drawn rows: every number as a step of its declared range."""
        ranges = [_one_cell(column) for column in self.columns]
        classes, numbers, missing = draw_rows(model, n, np.array([_step(one) for one in ranges]), noise)
        cells: list[ColumnCells] = [*ranges]
        codes = [*missing.T]
        lots = uniform(noise, numbers.size).reshape(numbers.T.shape)
        places = [_step_by_lot(*one) for one in zip(numbers.T, ranges, lots, strict=True)]
        label = self.label
        if label is not None:
            cells, codes, places = [*cells, label], [*codes, classes], [*places, np.zeros(n)]
        frame = written_rows(cells, np.array(codes, dtype=np.int64), places)
        return TableArtefact("table", (frame,), tuple(map(invented_entry, cells)))


def _is_gaussian(design: Gaussians) -> bool:
    """Whether noise is Gaussian: asked for, or a δ is there, with which it is less for most tables."""
    kind, budget = design.options.noise, design.request.budget
    return bool(kind == GAUSSIAN or (kind == FITTING and budget is not None and budget.delta > 0))


def _one_cell(column: Column) -> Intervals:
    """Return the declared range of a number as one cell."""
    return Intervals(column, declared_bounds(column))


def _step_by_lot(numbers: Floats, cells: Intervals, lots: Floats) -> Floats:
    """Return where in its cell a step of each number is: the one below or above, so that their mean stays.

    Numbers lie between −1 and 1, lots between 0 and 1. To take the nearest would move the mean of a column of
    few steps, or of one whose spread is less than a step.
    """
    first, last, _ = cells.spans[0]
    low, high = map(float, cells.edges)
    values = low + (numbers + 1) / 2 * (high - low)
    places = np.floor((values - float(cells.start)) / float(cells.step) + lots) - first
    count = max(last - first + 1, 1)
    return np.asarray(np.minimum((np.clip(places, 0, count - 1) + 0.5) / count, 1 - 2.0**-53))


def _step(cells: Intervals) -> float:
    """Return the step of a column, half its declared range being 1."""
    low, high = cells.edges
    return float(2 * cells.step / (high - low))


def _has_steps(column: Column) -> bool:
    """Whether a step of the column lies between its bounds."""
    cells = _one_cell(column)
    low, high = cells.edges
    return (high - cells.start) // cells.step >= -((cells.start - low) // cells.step)


def _off(plan: Plan) -> float:
    """Return by how much noise moves the mean of a column in a group, half a range being 1: a deviation."""
    return plan.deviation(CELLS) / (plan.rows_of_class / plan.groups)


def _expected(name: str, deviation: float, unit: str, *, single: bool = False) -> Expected:
    """Say how far off a number is: by one draw of Laplace noise, or by noise that adds up to normal."""
    median = (LAPLACE_MEDIAN if single else NORMAL_MEDIAN) * deviation
    within = (LAPLACE_WITHIN if single else NORMAL_WITHIN) * deviation
    label = Text(f"{WORDS}.numbers.{name}.label")
    largest = 200.0 if unit == " %" else float("inf")
    of = "moment" if unit == " %" else "invented"
    return Expected(label, of, None, min(largest, median), min(largest, within), unit)


def _noise_notes(model: Model, names: tuple[str, ...], deviation: float) -> tuple[Text, ...]:
    """Say of which columns the table tells hardly anything: no row is seen.

    Spreads that stand out of their noise by less than two deviations are mostly noise themselves.
    """
    drowned = []
    for places, of_set in zip(model.sets, model.normals, strict=True):
        lost, rows = np.zeros(len(places)), 0.0
        for one in (one for normals in of_set for one in normals):
            weight = max(one.rows, 1.0)
            variance, off = np.diag(one.covariance), deviation / weight
            unclear = (off > TOO_MUCH * np.sqrt(variance)) | (2 * off * (1 + one.mean**2) > variance)
            lost += weight * unclear
            rows += weight
        drowned += [names[place] for place, share in zip(places, lost / rows, strict=True) if share > 0.5]
    return (Text(f"{WORDS}.notes.drowned", {"columns": ", ".join(drowned)}),) if drowned else ()


def _relations(model: Model, *, is_gaussian: bool) -> Relations:
    """Say of every two columns of a set whether their covariance is more than noise and chance make."""
    most = sqrt(limits(np.ones(1), GAUSSIAN_NOISE if is_gaussian else LAPLACE_NOISE, CHANCE)[0])
    return Relations.of(
        [
            ((one, other), float(abs(out[at, place])) / most)
            for places, out in zip(model.sets, model.stands_out, strict=True)
            for at, one in enumerate(places)
            for place, other in enumerate(places)
            if at < place
        ]
    )


def _sets_view(model: Model, names: tuple[str, ...]) -> TableView:
    """Say which columns go together and in how many groups: of released numbers alone."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (", ".join(names[place] for place in places), sum(map(len, of_set)))
        for places, of_set in zip(model.sets, model.normals, strict=True)
    )
    headings = tuple(Text(f"{WORDS}.views.sets.{name}") for name in ("columns", "groups"))
    note = Text(f"{WORDS}.views.sets.note") if len(rows) > 1 else None
    return TableView(Text(f"{WORDS}.views.sets.title"), headings, rows, note)
