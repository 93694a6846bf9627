"""Invented rows in a moment, with a guarantee without δ: drawn from a noisy network of columns."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

import numpy as np

from engine.methods import option
from engine.methods.budget import budget_problems, required_budget
from engine.methods.datasets.bayes_network.correlation import CorrelationShares
from engine.methods.datasets.bayes_network.learning import Network as Learnt
from engine.methods.datasets.bayes_network.learning import learn
from engine.methods.datasets.bayes_network.shares import MOST_GROUPS, Shares
from engine.methods.datasets.synthesis.invented import invented_table
from engine.methods.datasets.synthesis.misplaced import forecast_misplaced, share_misplaced
from engine.methods.datasets.synthesis.related import describe_relations, draw_relations
from engine.methods.filling import USELESS, Judged
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    Expected,
    Family,
    Forecast,
    Method,
    Reads,
    Reference,
    Release,
    Rows,
)
from engine.methods.shared.cells import level_problems
from engine.methods.shared.column_cells import (
    BINS,
    CELL_KINDS,
    OWN_EDGES,
    ColumnCells,
    bins_taken,
    columns_as_cells,
    edge_problems,
    is_listed,
)
from engine.methods.shared.promise import cap_notes, counted_unit, promise
from engine.methods.shared.view import view_of
from engine.once import once
from engine.privacy.accuracy import LAPLACE_WITHIN, laplace_accuracy
from engine.privacy.promise import Promise
from engine.table.table import Table
from engine.views import TableView, Text, View

ID = "datasets.network"
WORDS = f"methods.{ID}"
CHOSEN, CORRELATION = "chosen", "correlation"
MOST_CELLS = 5_000
MOST_ROWS = 10_000_000
MOST_TIMES = 10
"""A table has at most so many times the rows that were stated, unless a number was asked for."""


class Network(Method):
    """A synthetic table from a Bayesian network whose structure and tables are noisy.

    Notes
    -----
    Single columns are counted with noise. Then, one after the other, a column and up to three parents among
    those before it are chosen by the exponential mechanism; every column is counted together with its
    parents, with noise, and rows are drawn parents first. J. Zhang et al., PrivBayes (2017), with a score in
    whole rows whose sensitivity is below 2 whatever the number of rows is.

    Or parents follow from noisy entropies of columns and pairs, as those that are correlated with a column
    and little with each other: V. Bindschaedler, "Privacy-preserving seedbased data synthesis" (2018),
    section 6.2, in a corrected form (`bayes_network.entropies`), and less exact than choices (measured:
    tests/published/invented_rows.md).

    Faster and coarser than `engine.methods.datasets.marginals`, and no δ is spent. What two columns have to
    do with each other that are no parents of each other is not in the table, except through those between.
    """

    id = ID
    family = Family.DATASET
    promises = ("pure_dp",)
    rows = Rows.SYNTHETIC
    invented = True
    published = Reference(
        "Zhang, Cormode, Procopiuc, Srivastava, Xiao: PrivBayes: private data release via Bayesian networks "
        "(2017)",
        "algorithms 2 and 4",
        "doi:10.1145/3134428",
    )

    class Options(option.Options):
        columns: option.Names = option.columns(
            minimum=1, maximum=60, column_kinds=CELL_KINDS, needs_domain=True
        )
        about_rows: int = option.integer(minimum=10, maximum=10**9)
        structure: str = option.choice(CHOSEN, CORRELATION, default=CHOSEN)
        bins: int = BINS
        edges: Mapping[str, option.Edges] = OWN_EDGES
        rows: int | None = option.integer(optional=True, minimum=1, maximum=MOST_ROWS)

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        columns = [self.schema.column(name) for name in self.options.columns]
        found = level_problems([one for one in columns if is_listed(one)], parameter="columns")
        found += edge_problems(self.request, columns, method=ID, parameter="columns")
        if not found:
            for column, cells in zip(columns, self.cells, strict=True):
                if cells.size > MOST_CELLS:
                    values = {"column": column.name, "cells": cells.size, "most": MOST_CELLS}
                    found.append(Problem(f"{ID}.too_many_cells", values, "columns"))
        return found + budget_problems(self.request, uses_delta=False)

    @once
    def taken(self) -> Mapping[str, Any]:
        return bins_taken(self.cells)

    @once
    def cells(self) -> tuple[ColumnCells, ...]:
        """Return the cells of every column: from declarations alone."""
        return columns_as_cells(self.request, self.options.columns)

    @once
    def shares(self) -> Shares:
        """Return which noise everything gets."""
        sizes = tuple(one.size for one in self.cells)
        epsilon, moved = required_budget(self.request).epsilon, self.request.units_moved
        if self.options.structure == CORRELATION:
            return CorrelationShares(sizes, epsilon, moved, self.options.about_rows)
        return Shares(sizes, epsilon, moved)

    @once
    def cost(self) -> Promise:
        return promise(self.request, self.shares.event, kind="pure_dp")

    # --- forecast ----------------------------------------------------------------------------------

    @once
    def forecast(self) -> Forecast:
        shares = self.shares
        noise = shares.tables if shares.choices else shares.single
        accuracy = laplace_accuracy(noise.scale, count=1)
        label, unit = Text(f"{WORDS}.numbers.count.label"), counted_unit(self.request)
        error = Expected(label, "invented", None, accuracy.median, accuracy.limit, unit)
        off = forecast_misplaced(Text(f"{WORDS}.numbers.share.label"), _off(shares, self.options.about_rows))
        verdict, cells = _verdict(shares, self.options.about_rows)
        note = Text(f"{WORDS}.notes.{verdict}", {"cells": cells})
        return Forecast((error, off), notes=(*cap_notes(self.request), note))

    def judged(self, people: int | None) -> Judged:
        shares, rows = self.shares, self.options.about_rows
        off = _off(shares, rows)[0]
        verdict = "nothing" if 1 - off < USELESS else _verdict(shares, rows)[0]
        told = {"rows": rows, "epsilon": float(shares.epsilon), "off": 100 * off}
        return Judged(1 - off, Text(f"{WORDS}.judged.{verdict}", told))

    # --- release -----------------------------------------------------------------------------------

    @once
    def needs(self) -> Reads:
        return Reads.CODED

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        columns = self.cells
        context.progress.step(0.0, "run.reading")
        learnt = learn(
            np.array(view_of(tables[MAIN]).codes(columns), dtype=np.int64),
            self.shares,
            ordered=tuple(cells.ordered for cells in columns),
            noise=context.noise,
            progress=context.progress.part(0.1, 0.9),
            each=self.request.rows_per_person,
        )
        # nothing after this line has seen a row
        most = min(MOST_ROWS, MOST_TIMES * self.options.about_rows)
        n = self.options.rows or min(most, max(1, round(learnt.total)))
        drawn = learnt.rows(n, context.noise)[:, context.noise.shuffled(n)]
        artefact = invented_table(columns, drawn, context.noise)
        views: tuple[View, ...] = (
            _parents_view(learnt, self.options.columns, self.shares),
            *draw_relations(learnt.relations, self.options.columns),
        )
        return Release(
            (artefact,), self.cost, views, describe_relations(learnt.relations, self.options.columns)
        )


def _verdict(shares: Shares, rows: int) -> tuple[str, int]:
    """Say whether there is room for a column and a parent, and of how many cells."""
    cells, smallest = int(shares.room(rows)), sorted(shares.sizes)[:2]
    is_alone = len(smallest) < 2 or cells < smallest[0] * min(smallest[1], MOST_GROUPS)
    return "alone" if is_alone else "together", cells


def _off(shares: Shares, rows: int) -> tuple[float, float]:
    """Return the share of rows in a wrong cell of a column, which adds up the lines of its table."""
    room = shares.room(rows) if shares.choices else 0
    deviations = [shares.deviation * sqrt(max(1.0, room / size)) for size in shares.sizes]
    return share_misplaced(shares.sizes, deviations, rows)


def _parents_view(learnt: Learnt, names: tuple[str, ...], shares: Shares) -> TableView:
    """Say what was counted together and how exactly: of released numbers alone."""
    within = round(LAPLACE_WITHIN * shares.deviation, 1)
    rows = tuple(
        (names[node.column], ", ".join(names[parent] for parent in node.parents), found.size, within)
        for node, found in zip(learnt.nodes, learnt.shares, strict=True)
    )
    headings = tuple(
        Text(f"{WORDS}.views.parents.{name}") for name in ("column", "parents", "cells", "within")
    )
    return TableView(
        Text(f"{WORDS}.views.parents.title"), headings, rows, Text(f"{WORDS}.views.parents.note")
    )
