"""Sums, means and proportions, in groups if wanted."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.methods import option
from engine.methods.budget import budget_problems, is_replace_one, required_budget
from engine.methods.filling import Counted
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    Context,
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
    level_axes,
    level_problems,
    size_problems,
)
from engine.methods.shared.promise import cap_notes, counted_unit, promise
from engine.methods.shared.quantity import WIDEST, Quantity, grid_of
from engine.methods.shared.tables import forecast_views, number_entry, result_frame, result_views
from engine.methods.shared.view import view_of
from engine.methods.statistics.mean_forms import (
    VALUE,
    WITHIN,
    DeclaredNumber,
    Form,
    PlainSum,
    Ratio,
    SumAndCount,
    TwoSums,
    WholeMean,
)
from engine.once import once
from engine.privacy.events import Sequential
from engine.privacy.promise import Promise
from engine.privacy.trials import LARGEST_SCALE
from engine.progress import SILENT, Progress
from engine.table import coding
from engine.table.schema import Kind, Role
from engine.views import Text

if TYPE_CHECKING:
    from engine.privacy.noise import Noise
    from engine.table.table import Table

SUM, MEAN, PROPORTION = "sum", "mean", "proportion"
RATIOS = (MEAN, PROPORTION)
TWO_SUMS, PERTURB, COMPOSE = "two_sums", "perturb", "compose"
MOST_DECLARED = 10**12


class Means(Method):
    """Sums, means and proportions by group; the ways to noise them are in `mean_forms`.

    Notes
    -----
    E[noisy ratio] is not the ratio: a ratio of two Laplace-noised numbers has no mean. Medians and limits are
    given instead.
    """

    id = "statistics.means"
    summable = True
    version = 2
    family = Family.STATISTICS
    held = Held.AVERAGES
    usual = True
    promises = ("pure_dp",)
    published = Reference(
        "S. Srivastava: Utility and privacy guarantees of differential privacy (2016)",
        "chapter 5, composite statistics",
    )

    class Options(option.Options):
        statistic: str = option.choice(SUM, *RATIOS)
        value: str = option.column(
            when=("statistic", (SUM, MEAN)), column_kinds=(Kind.INTEGER, Kind.NUMBER), needs_domain=True
        )
        answer: str = option.column(
            when=("statistic", (PROPORTION,)),
            column_kinds=(Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER),
            needs_domain=True,
        )
        counted: option.Records = option.records(
            option.text(name="value"), minimum=1, maximum=1000, when=("statistic", (PROPORTION,))
        )
        by: option.Names = BY
        strategy: str = option.choice(
            TWO_SUMS, PERTURB, COMPOSE, default=TWO_SUMS, when=("statistic", RATIOS)
        )
        shares: tuple[Fraction, ...] = option.shares(default=["3/5", "2/5"], when=("strategy", (PERTURB,)))
        weight: str | None = option.column(
            optional=True,
            column_kinds=(Kind.INTEGER, Kind.NUMBER),
            column_roles=(Role.WEIGHT,),
            needs_domain=True,
        )
        declared_number: int | None = option.integer(optional=True, minimum=1, maximum=MOST_DECLARED)
        extra_cells: str = EXTRA_CELLS

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        by = [self.schema.column(name) for name in self.options.by]
        found = level_problems(by, parameter="by") + self._quantity_problems
        if self.options.strategy == PERTURB and len(self.options.shares) != 2:
            found.append(Problem(f"{self.id}.two_shares", {}, "shares"))
        found = found or size_problems(self.cells, method=self.id, parameter="by")
        found += budget_problems(self.request, uses_delta=False)
        found = found or self._number_problems
        if not found and any(part.scale > LARGEST_SCALE for part in self.form.parts):
            found.append(Problem(f"{self.id}.too_fine", {}, self._column))
        return found

    @once
    def _number_problems(self) -> list[Problem]:
        """Say when a declared number of rows contradicts what else was chosen."""
        if self.options.declared_number is None:
            return []
        together = [name for name in ("by", "weight") if self.values[name]]
        together += ["strategy"] if self.options.strategy not in (None, TWO_SUMS) else []
        if together:
            return [Problem(f"{self.id}.number_of_everyone", {}, together[0])]
        if is_replace_one(self.request):
            return []
        return [Problem(f"{self.id}.number_is_protected", {}, "declared_number")]

    @once
    def _quantity_problems(self) -> list[Problem]:
        found = []
        if self.options.statistic == PROPORTION:
            answer = self.schema.column(self.options.answer)
            problems = level_problems([answer], parameter="answer")
            if problems:
                return problems
            if None in self._places:
                found.append(Problem(f"{self.id}.not_a_level", {"column": answer.name}, "counted"))
        elif grid_of(self.schema.column(self.options.value)) is None:
            found.append(Problem(f"{self.id}.no_bounds", {"column": self.options.value}, "value"))
        if self.options.weight:
            weight = grid_of(self.schema.column(self.options.weight), digits=3)
            if weight is None or weight.low < 0:
                found.append(Problem(f"{self.id}.weight_bounds", {"column": self.options.weight}, "weight"))
        if found:
            return found
        quantity = self.quantity
        widest = max(abs(quantity.low), abs(quantity.high), 2 * quantity.reach) * quantity.heaviest
        if widest > WIDEST:
            found.append(Problem(f"{self.id}.too_fine", {}, self._column))
        return found

    @once
    def _column(self) -> str:
        return "answer" if self.options.statistic == PROPORTION else "value"

    @once
    def _places(self) -> list[int | None]:
        """Return where each counted value stands among the declared levels."""
        answer = self.schema.column(self.options.answer)
        places = {coding.text_of(level): place for place, level in enumerate(coding.levels(answer))}
        return [places.get(coding.text_of(record["value"])) for record in self.options.counted]

    @once
    def cells(self) -> Cells:
        """Return the declared groups."""
        return Cells(level_axes(self.request, self.options.by))

    @once
    def quantity(self) -> Quantity:
        """Return what is summed, on its grid."""
        weight_name = self.options.weight
        weight = grid_of(self.schema.column(weight_name), digits=3) if weight_name else None
        if self.options.statistic == PROPORTION:
            counted = frozenset(place for place in self._places if place is not None)
            answer = self.schema.column(self.options.answer)
            return Quantity(answer=answer, counted=counted, weight=weight)
        return Quantity(value=grid_of(self.schema.column(self.options.value)), weight=weight)

    @once
    def form(self) -> Form:
        """Return the way in which the request is answered: its noise, its error and its numbers."""
        common: dict[str, Any] = {
            "quantity": self.quantity,
            "epsilon": required_budget(self.request).epsilon,
            "rows": self.request.rows_per_person,
            "replace_one": is_replace_one(self.request),
            "groups": self.cells.size,
        }
        strategy, number = self.options.strategy, self.options.declared_number
        if number is not None:
            return DeclaredNumber(**common, number=number, is_sum=strategy is None)
        if strategy is None:
            return PlainSum(**common)
        if strategy == COMPOSE:
            return WholeMean(**common)
        if strategy == PERTURB:
            return SumAndCount(**common, shares=(self.options.shares[0], self.options.shares[1]))
        return TwoSums(**common)

    @once
    def cost(self) -> Promise:
        form = self.form
        events = tuple(part.event for part in form.parts)
        further = ("declared_number",) if isinstance(form, DeclaredNumber) else ()
        return promise(self.request, events[0] if len(events) == 1 else Sequential(events), further=further)

    @property
    def asks_once(self) -> bool:
        """Finished means are no sums: those of two sites do not add up to anything."""
        return self.options.strategy != COMPOSE

    # --- forecast ----------------------------------------------------------------------------------

    @once
    def measured_in(self) -> str:
        """Return the unit of the column that is added up or averaged; none of a proportion."""
        column = self.form.quantity.value
        return "" if column is None else column.column.unit

    @once
    def forecast(self) -> Forecast:
        form, name, sizes = self.form, self.options.statistic, self.request.sizes
        label = Text(f"methods.{self.id}.numbers.{name}.label")
        errors = [
            Expected(label, "group", size, median, limit, self.measured_in)
            for size, (median, limit) in zip(sizes, form.errors(sizes), strict=True)
        ]
        if form.count_error is not None:
            counted = Text(f"methods.{self.id}.numbers.{form.count_name}.label")
            unit = "" if form.quantity.weight is not None else counted_unit(self.request)
            errors.append(Expected(counted, "whole", None, *form.count_error, unit))
        notes = (*cap_notes(self.request), *self._errors_said(form))
        # A mean says nothing where nobody knows how many rows it rests on.
        limit = None if form.count_error is None or form.quantity.weight is not None else form.count_error[1]
        filled = None if limit is None else Counted(self.cells.declared, limit, self.request.rows_per_person)
        return Forecast(tuple(errors), views=forecast_views(self.id, errors), notes=notes, counted=filled)

    # --- release -----------------------------------------------------------------------------------

    @once
    def needs(self) -> Reads:
        return Reads.SUMS

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        context.progress.step(0.0, "run.reading")
        numbers = self.numbers(tables[MAIN], context.noise, context.progress)
        context.progress.step(0.9, "run.writing")
        return self._published(numbers)

    def numbers(self, table: Table, noise: Noise, progress: Progress = SILENT) -> dict[str, Any]:
        """Return the noisy numbers of every cell by name: the only part that sees rows."""
        sums, counts = view_of(table).sums(self.quantity, self.cells)
        progress.step(0.6, "run.noise")
        return self.form.numbers(sums, counts, noise)

    def _published(self, numbers: dict[str, Any]) -> Release:
        name, cells, form = self.options.statistic, self.cells, self.form
        shown = {name if key == VALUE else key: values for key, values in numbers.items()}
        frame = result_frame(cells, shown)
        kinds = {True: "integer", False: "number"}
        counted = "" if form.quantity.weight is not None else counted_unit(self.request)
        units = dict.fromkeys((name, WITHIN), self.measured_in)
        units |= dict.fromkeys(("count", f"count_{WITHIN}"), counted)
        entries = [
            number_entry(
                self.id,
                column,
                cells,
                kind=kinds[np.issubdtype(kind, np.integer)],
                unit=units.get(column, ""),
            )
            for column, kind in zip(shown, frame.dtypes.iloc[len(cells.names) :], strict=True)
        ]
        bounds = form.ends if form.is_clamped else None
        views = result_views(
            self.id,
            frame,
            cells,
            value=name,
            within=WITHIN,
            bounds=bounds,
            is_signed=form.quantity.value is not None and form.quantity.value.low < 0,
            unit=self.measured_in,
        )
        notes = [Text(f"statistics.notes.extra_{self.options.extra_cells}")] if cells.axes else []
        notes += cap_notes(self.request) + self._numbers_said(form)
        if form.quantity.value is not None:
            values = {"step": float(form.quantity.step), "column": form.quantity.value.column.name}
            notes.append(Text(f"methods.{self.id}.notes.grid", values))
        artefact = TableArtefact(f"{name}s", (frame,), (*cells.entries, *entries))
        return Release((artefact,), self.cost, views, tuple(notes))

    # --- notes -------------------------------------------------------------------------------------

    def _errors_said(self, form: Form) -> list[Text]:
        if isinstance(form, DeclaredNumber):
            return [self._number_said(form)]
        said = ["places"] if isinstance(form, Ratio) else []
        said += ["weights"] if said and form.quantity.weight is not None else []
        return [Text(f"methods.{self.id}.notes.{name}") for name in said]

    def _numbers_said(self, form: Form) -> list[Text]:
        said = ["missing_middle" if isinstance(form, DeclaredNumber) else "missing"]
        said += ["clamped"] if form.is_clamped else []
        found = [Text(f"methods.{self.id}.notes.{name}") for name in said]
        return [*found, self._number_said(form)] if isinstance(form, DeclaredNumber) else found

    def _number_said(self, form: DeclaredNumber) -> Text:
        return Text(f"methods.{self.id}.notes.number", {"number": form.number})
