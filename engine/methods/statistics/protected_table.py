"""Counts of people as they are, without small cells: these are hidden, and others to keep them so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engine.errors import InputRefused
from engine.methods.parameters import Parameter, ParameterKind, Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    DictionaryEntry,
    Family,
    Method,
    Reference,
    Release,
    Request,
    Spends,
    TableArtefact,
)
from engine.methods.shared.cells import (
    EXTRA_CELLS,
    LEFT_OUT,
    LEVEL_KINDS,
    Cells,
    Codes,
    free_name,
    level_axes,
    level_problems,
    unused_name,
)
from engine.methods.shared.promise import counted_unit
from engine.methods.shared.suppression.additive import Additive, Integers, Mask
from engine.methods.shared.suppression.small_cells import Rules, count_task, single_owners
from engine.privacy.promise import Promise, Unit
from engine.views import Text

if TYPE_CHECKING:
    from engine.methods.shared.suppression.audited import Audited
    from engine.table.table import Table

ID = "statistics.protected_table"
ALL = "(all)"
MOST_CELLS = 20_000
WHOLE, PAIRS = "whole", "pairs"


class ProtectedTable(Method):
    """Tables of counts in which no small cell can be worked out from the printed ones.

    Notes
    -----
    Cells below the threshold are hidden (primary), and others (secondary) until an attacker who knows every
    printed number, the equations between cells and totals, and that counts are whole and not negative, is
    left with an interval for every primary cell that reaches from below the value to the threshold. The
    secondary cells are the cheapest that do this, or the best found in the time, with a proven bound
    (Fischetti and Salazar-González, 2001). Several tables of the same rows are protected together: the
    attacker is taken to know that they come from one table over all their columns. Before anything is
    written, an audit works the intervals out again from the published numbers alone.

    It bounds nothing that depends on other knowledge: an earlier table of the same people, or one that
    differs by a few of them, can be subtracted; several people of one cell who share what they know find the
    rest of it; and zeros and large cells say what they say about everybody in them.
    """

    id = ID
    family = Family.STATISTICS
    promises = ("small_cells",)
    spends = Spends.NOTHING
    libraries = ("highspy", "scipy")
    published = Reference(
        "Fischetti, Salazar-González: Solving the cell suppression problem on tabular data with linear "
        "constraints (2001)",
        "sections 3 and 4",
        "doi:10.1287/mnsc.47.7.1008.9805",
    )
    parameters = (
        Parameter(
            "columns",
            ParameterKind.COLUMNS,
            minimum=1,
            maximum=4,
            column_kinds=LEVEL_KINDS,
            needs_domain=True,
        ),
        Parameter("tables", ParameterKind.CHOICE, default=WHOLE, choices=(WHOLE, PAIRS)),
        EXTRA_CELLS,
        Parameter("threshold", ParameterKind.INTEGER, minimum=2, maximum=10_000),
        Parameter("zeros", ParameterKind.CHOICE, default="printed", choices=("printed", "hidden")),
        Parameter("alone", ParameterKind.BOOLEAN, default=True),
        Parameter("few", ParameterKind.CHOICE, default="people", choices=("people", "cells")),
        Parameter("totals", ParameterKind.BOOLEAN, default=True),
        Parameter("seconds", ParameterKind.INTEGER, default=10, minimum=1, maximum=3600, unit="s"),
    )

    # --- declarations ------------------------------------------------------------------------------

    def further_problems(self, request: Request) -> list[Problem]:
        columns = [request.schema.column(name) for name in request.values["columns"]]
        found = level_problems(columns, parameter="columns")
        if found:
            return found
        size = self.additive(request).size
        if size > MOST_CELLS:
            return [Problem(f"{ID}.too_many_cells", {"cells": size, "most": MOST_CELLS}, "columns")]
        if request.values["tables"] == PAIRS and len(columns) < 3:
            return [Problem(f"{ID}.no_pairs", {}, "tables")]
        return []

    def cells(self, request: Request) -> Cells:
        """Return the table over all columns, without totals."""
        return Cells(level_axes(request, request.values["columns"]))

    def additive(self, request: Request) -> Additive:
        """Return its cells with all totals."""
        return Additive(self.cells(request).shape)

    def rules(self, request: Request) -> Rules:
        """Return what was declared about small cells."""
        values = request.values
        return Rules(
            values["threshold"], values["zeros"] == "hidden", values["alone"], values["few"] == "people"
        )

    def printed(self, request: Request) -> Mask:
        """Say which cells with totals the tables have."""
        places = range(len(request.values["columns"]))
        asked = tuple(combinations(places, 2)) if request.values["tables"] == PAIRS else (tuple(places),)
        return self.additive(request).tables(asked, totals=request.values["totals"])

    def cost(self, request: Request) -> Promise:
        return Promise(
            "small_cells",
            None,
            request.unit,
            request.rows_per_person,
            terms={"threshold": request.values["threshold"]},
            assumptions=("trusted_machine",),
        )

    # --- release -----------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], request: Request, context: Context) -> Release:
        from engine.methods.shared.suppression.audited import audited  # on first use: it brings solvers along

        context.progress.step(0.0, "run.reading")
        counts, people, owners = self._counted(tables[MAIN], request)
        printed = self.printed(request)
        task = count_task(self.additive(request), counts, people, owners, printed, self.rules(request))
        search = context.progress.part(0.1, 0.9)
        try:
            done = audited(
                task,
                lambda hidden: self._frame(counts, printed, hidden, request),
                self._totals(request),
                seconds=float(request.values["seconds"]),
                tell=lambda share: search.step(share, "statistics.cells"),
            )
        except InputRefused as refused:
            if refused.code != "suppression.impossible":
                raise
            raise InputRefused(f"{ID}.impossible", threshold=request.values["threshold"]) from refused
        return self._release(done, request, people[printed])

    def _counted(self, table: Table, request: Request) -> tuple[Integers, Integers, Integers]:
        """Return the rows and the different people of every cell, totals included, and who is alone there."""
        cells, additive = self.cells(request), self.additive(request)
        frame = table.rows()
        codes = cells.codes(frame)
        inner = cells.count(codes)
        counts = additive.with_totals(inner)
        key = request.schema.person_key
        if key is None or request.rows_per_person == 1:
            return counts, counts, single_owners(additive, inner)
        person = pd.factorize(frame[key.name], use_na_sentinel=False)[0]
        return counts, *_different(codes, person, cells, additive)

    def _totals(self, request: Request) -> dict[str, str]:
        return {axis.name: unused_name(ALL, axis.labels) for axis in self.cells(request).axes}

    def _frame(self, counts: Integers, printed: Mask, hidden: Mask, request: Request) -> pd.DataFrame:
        """Return the table as it is published: nothing stands where a cell is hidden."""
        axes = self.cells(request).axes
        words = self._totals(request)
        labels = [np.array([*axis.labels, words[axis.name]], dtype=object) for axis in axes]
        places = np.unravel_index(np.flatnonzero(printed), self.additive(request).shape)
        columns = zip(axes, labels, places, strict=True)
        frame = pd.DataFrame({axis.name: pd.array(own[at], dtype="str") for axis, own, at in columns})
        name = free_name("count", tuple(words))
        frame[name] = pd.array(np.where(hidden, -1, counts)[printed], dtype="Int64")
        frame.loc[hidden[printed], name] = pd.NA
        return frame

    def _release(self, done: Audited, request: Request, people: Integers) -> Release:
        from engine.methods.shared.suppression import shown

        cells, words = self.cells(request), self._totals(request)
        unit = counted_unit(request)
        name = free_name("count", cells.names)
        dictionary = (
            *(replace(axis.entry, values=(*axis.entry.values, words[axis.name])) for axis in cells.axes),
            DictionaryEntry(name, Text(f"methods.{ID}.numbers.count.what"), "integer", unit),
        )
        notes = (
            Text(f"statistics.notes.extra_{request.values['extra_cells']}"),
            Text(f"methods.{ID}.notes.zeros_{request.values['zeros']}"),
            *_cap_notes(request),
        )
        return Release(
            (TableArtefact("counts", (done.frame,), dictionary),),
            self.cost(request),
            shown.outside(ID, done, words),
            notes,
            inside=shown.inside(ID, done, words, people),
        )


def _cap_notes(request: Request) -> list[Text]:
    """Say that rows beyond the cap were left out; nothing where every row is a person."""
    cap = request.rows_per_person
    return [Text(f"methods.{ID}.notes.capped", {"cap": cap})] if request.unit is Unit.PERSON else []


def _different(codes: Codes, person: Codes, cells: Cells, additive: Additive) -> tuple[Integers, Integers]:
    """Return how many different people are in every cell and under every total, and who is alone there."""
    kept = codes != LEFT_OUT
    places = np.array(np.unravel_index(codes[kept], cells.shape)).reshape(len(cells.shape), -1)
    found = np.zeros(additive.size, dtype=np.int64)
    owners = np.zeros(additive.size, dtype=np.int64)
    for kind in np.ndindex(*(2,) * len(cells.shape)):  # 1 where the axis is summed
        own = np.where(np.array(kind)[:, None] == 1, np.array(cells.shape)[:, None], places)
        cell = np.ravel_multi_index(tuple(own), additive.shape)
        pairs = np.unique(np.column_stack([cell, person[kept]]), axis=0)
        found += np.bincount(pairs[:, 0], minlength=additive.size)
        np.add.at(owners, pairs[:, 0], pairs[:, 1])
    return found, np.where(found == 1, owners, -1)
