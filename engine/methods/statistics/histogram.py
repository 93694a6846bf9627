"""How many people lie between declared edges of a number or a date, in groups if wanted."""

from __future__ import annotations

from datetime import date

from engine.methods import option
from engine.methods.parameters import Problem
from engine.methods.protocol import Reference
from engine.methods.shared.cells import (
    BY,
    Cells,
    EdgeAxis,
    Extra,
    Outside,
    level_axes,
    level_problems,
    size_problems,
    written_edges,
)
from engine.methods.shared.counted import CountsMethod
from engine.methods.values import edge_number, to_json
from engine.once import once
from engine.table.schema import Kind


class Histogram(CountsMethod):
    """Counts between declared edges.

    Notes
    -----
    The edges are declared, so a row is in at most one interval and the mechanism is that of the counts.
    Edges taken from the rows (equal frequencies, rounded extremes) would need a budget of their own; they
    are not offered.
    """

    id = "statistics.histogram"
    summable = True
    published = Reference(
        "Dwork, McSherry, Nissim, Smith: Calibrating noise to sensitivity in private data analysis (2006)",
        "example 3, histograms",
        "doi:10.1007/11681878_14",
    )

    class Options(CountsMethod.Options, own_first=True):
        column: str = option.column(column_kinds=(Kind.INTEGER, Kind.NUMBER, Kind.DATE))
        edges: option.Edges = option.edges(minimum=2, maximum=1001)
        outside: str = option.choice(*Outside, default=Outside.SEPARATE.value)
        by: option.Names = BY

    options: Options

    @once
    def further_problems(self) -> list[Problem]:
        by = [self.schema.column(name) for name in self.names]
        found = self.edge_problems
        if self.options.column in self.names:
            found.append(Problem(f"{self.id}.column_twice", {}, "by"))
        found += level_problems(by, parameter="by")
        found = found or size_problems(self.cells, method=self.id, parameter="edges")
        return found + self.noise_problems

    @once
    def edge_problems(self) -> list[Problem]:
        """Say when edges are days and the column numbers, or the other way round."""
        is_date = self.schema.column(self.options.column).kind is Kind.DATE
        days = [isinstance(edge, date) for edge in self.options.edges]
        if is_date and not all(days):
            return [Problem(f"{self.id}.edges_not_days", {}, "edges")]
        if not is_date and any(days):
            return [Problem(f"{self.id}.edges_not_numbers", {}, "edges")]
        return []

    @once
    def names(self) -> list[str]:
        """Return the columns to group by."""
        return list(self.options.by)

    @once
    def cells(self) -> Cells:
        extra = Extra(self.options.extra_cells)
        edges = self.options.edges
        exact = tuple(edge_number(edge) for edge in edges)
        between = EdgeAxis(
            self.schema.column(self.options.column),
            written_edges(to_json(edges)),
            exact,
            Outside(self.options.outside),
            missing=extra is not Extra.LEFT_OUT,
        )
        return Cells((*level_axes(self.request, self.names), between))
