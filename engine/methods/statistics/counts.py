"""How many people there are in every combination of up to four declared columns."""

from __future__ import annotations

from engine.methods import option
from engine.methods.parameters import Problem
from engine.methods.protocol import Reference
from engine.methods.shared.cells import LEVEL_KINDS, Cells, level_axes, level_problems, size_problems
from engine.methods.shared.counted import CountsMethod
from engine.methods.shared.slots import Slotted
from engine.once import once


class Counts(Slotted, CountsMethod):
    """Counts and cross-tables over up to four columns.

    Notes
    -----
    Discrete Laplace noise of scale (rows moved)/ε on every declared cell, empty or not. Source: Dwork,
    McSherry, Nissim and Smith (2006), example 3; the sampler is that of Canonne, Kamath and Steinke (2020).

    Who is in one place a slot has no two rows in one cell: c rows of a person then move the counts by √c in
    L2, where they move them by c if all may lie in one. Of several rows in a slot one is kept by lot.
    """

    id = "statistics.counts"
    usual = True
    summable = True
    published = Reference(
        "Dwork, McSherry, Nissim, Smith: Calibrating noise to sensitivity in private data analysis (2006)",
        "example 3, histograms",
        "doi:10.1007/11681878_14",
    )

    class Options(CountsMethod.Options, own_first=True):
        columns: option.Names = option.columns(
            minimum=1, maximum=4, column_kinds=LEVEL_KINDS, needs_domain=True
        )
        slot: str | None = option.column(
            optional=True, column_kinds=LEVEL_KINDS, needs_domain=True, when=("noise", ("gaussian",))
        )

    options: Options

    @once
    def further_problems(self) -> list[Problem]:
        columns = [self.schema.column(name) for name in self.options.columns]
        found = level_problems(columns, parameter="columns")
        found = found or size_problems(self.cells, method=self.id, parameter="columns")
        if self.slot is not None and self.slot not in self.options.columns:
            found.append(Problem(f"{self.id}.slot_not_counted", {"column": self.slot}, "slot"))
        return found + self.noise_problems

    @property
    def squared_sensitivity(self) -> int:
        """Each of a person's rows is in a cell of its own where there is one for each value of the slot."""
        cap = self.request.rows_per_person
        return cap**2 if self.slot is None else min(cap, len(self.slots.labels))

    @once
    def cells(self) -> Cells:
        return Cells(level_axes(self.request, self.options.columns))
