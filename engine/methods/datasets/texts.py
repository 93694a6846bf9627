"""Short texts that many people have: whole lines as they were written, with how many have them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engine.methods import option
from engine.methods.budget import budget_problems, is_replace_one, required_budget
from engine.methods.filling import Judged
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    DictionaryEntry,
    Expected,
    Family,
    Forecast,
    Method,
    Reference,
    Release,
    TableArtefact,
)
from engine.methods.shared.cells import Extra, LevelAxis, level_problems
from engine.methods.shared.promise import cap_notes, promise
from engine.methods.shared.tables import forecast_views
from engine.once import once
from engine.privacy.accuracy import laplace_below
from engine.privacy.mechanisms import ClearLaplace, threshold_of
from engine.privacy.promise import Promise, Unit
from engine.table.schema import Kind, Role
from engine.views import Cell, TableView, Text

if TYPE_CHECKING:
    from engine.arrays import Integers
    from engine.table.table import Table

ROLES = (Role.IDENTIFYING, Role.SENSITIVE, Role.OTHER, Role.TIME, Role.PLACE)
INVENTED = {"phrases": (400, 1.2), "mixed": (100_000, 1.0), "own_words": (100_000, 0.3)}
"""Invented lines: how many different ones, and how fast they grow rarer, 1/rank^s."""
LEAST_COVERED = 0.05
MOST_LINES = 40
BETWEEN = "\n"  # no line holds it


class Texts(Method):
    """Whole lines above a threshold of people, by code.

    Notes
    -----
    Each person has one line: of several the cap keeps one by lot. The lines that there are get noise, and
    those alone leave that reach the threshold: the one at which a line of one person alone leaves with at
    most δ, for whole numbers (`engine.privacy.mechanisms.ClearCounts`). Lines cannot be listed beforehand,
    so a line that nobody has never leaves, and neither does what one person writes ten times. Ten people
    who write the same are a group: their line may leave.
    """

    id = "datasets.texts"
    family = Family.STATISTICS  # lines with counts, of nobody in particular
    promises = ("approximate_dp",)
    published = Reference(
        "Korolova, Kenthapadi, Mishra, Ntoulas: Releasing search queries and clicks privately (2009)",
        "algorithm 1, with whole numbers and one line each",
        "doi:10.1145/1526709.1526733",
    )

    class Options(option.Options):
        line: str = option.column(column_kinds=(Kind.TEXT, Kind.CATEGORY), column_roles=ROLES)
        code: str | None = option.column(
            column_kinds=(Kind.CATEGORY, Kind.ORDINAL), optional=True, needs_domain=True
        )
        about_people: int = option.integer(minimum=10, maximum=10**9)
        longest: int = option.integer(default=200, minimum=1, maximum=10_000, unit="characters")

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        found = []
        if self.options.code is not None:
            found += level_problems([self.schema.column(self.options.code)], parameter="code")
            if self.options.code == self.options.line:
                found.append(Problem(f"{self.id}.same_column", {"column": self.options.line}, "code"))
        if self.request.unit is Unit.PERSON and self.request.rows_per_person != 1:
            found.append(Problem(f"{self.id}.one_line", {"cap": self.request.rows_per_person}))
        found += budget_problems(self.request, uses_delta=True)
        if not found and self.covered["phrases"] < LEAST_COVERED:
            values = {"people": self.options.about_people, "threshold": self.mechanism.threshold}
            found.append(Problem(f"{self.id}.too_few", values, "about_people"))
        return found

    @once
    def axis(self) -> LevelAxis | None:
        """Return the codes, and one cell for what was not declared or is missing."""
        code = self.options.code
        return None if code is None else LevelAxis(self.schema.column(code), Extra.TOGETHER)

    @once
    def mechanism(self) -> ClearLaplace:
        """Return the noise and the threshold."""
        budget, factor = required_budget(self.request), 2 if is_replace_one(self.request) else 1
        scale = Fraction(factor) / budget.epsilon
        return ClearLaplace(factor, budget.epsilon, threshold=threshold_of(scale, budget.delta))

    @once
    def cost(self) -> Promise:
        return promise(self.request, self.mechanism.event, kind="approximate_dp")

    # --- forecast ----------------------------------------------------------------------------------

    @once
    def covered(self) -> dict[str, float]:
        """Return which share of the people of invented lines have one that leaves."""
        return {
            name: coverage(self.options.about_people, lines, falling, self.mechanism)
            for name, (lines, falling) in INVENTED.items()
        }

    @once
    def forecast(self) -> Forecast:
        one, word = self.mechanism.accuracy(), f"methods.{self.id}"
        unit = self.schema.words.several
        errors = (Expected(Text(f"{word}.numbers.count.label"), "whole", None, one.median, one.limit, unit),)
        headings = (Text(f"{word}.headings.lines"), Text(f"{word}.headings.covered"))
        rows = tuple(
            (Text(f"{word}.covered.{name}"), round(100 * share)) for name, share in self.covered.items()
        )
        note = Text(f"{word}.views.covered.note", {"people": self.options.about_people})
        view = TableView(Text(f"{word}.views.covered.title"), headings, rows, note)
        return Forecast(errors, errors[0], (*forecast_views(self.id, errors), view), tuple(self._notes))

    @once
    def _notes(self) -> list[Text]:
        word = f"methods.{self.id}.notes"
        values = {"threshold": self.mechanism.threshold, "longest": self.options.longest}
        return [*cap_notes(self.request), Text(f"{word}.threshold", values), Text(f"{word}.shared")]

    def judged(self, people: int | None) -> Judged:
        share = self.covered["phrases"]
        values = {name: round(100 * covered) for name, covered in self.covered.items()}
        return Judged(share, Text(f"methods.{self.id}.judged", values))

    # --- release -----------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        context.progress.step(0.0, "run.reading")
        frame = tables[MAIN].rows()
        lines = write_plain_lines(frame[self.options.line])
        kept = np.flatnonzero((lines != "") & (lines.str.len() <= self.options.longest))
        codes = np.zeros(len(frame), dtype=np.int64) if self.axis is None else self.axis.codes(frame)
        written = [str(code) for code in codes[kept].tolist()]
        cells = pd.Series(written, dtype="object") + BETWEEN + lines.iloc[kept].reset_index(drop=True)
        counts = cells.value_counts(sort=False)
        context.progress.step(0.5, "run.noise")
        names = np.array(counts.index.tolist(), dtype=object)
        found, noisy = self.mechanism.release(names, counts.to_numpy().astype(np.int64), context.noise)
        # nothing after this line has seen a row
        context.progress.step(0.9, "run.writing")
        return self._released([cell.partition(BETWEEN) for cell in found.tolist()], noisy)

    def _released(self, cells: list[tuple[str, str, str]], noisy: Integers) -> Release:
        word, limit = f"methods.{self.id}", int(self.mechanism.accuracy().limit)
        order = np.argsort(-noisy, kind="stable").tolist()
        columns: dict[str, list[str]] = {}
        entries = []
        if self.axis is not None:
            columns["code"] = [self.axis.labels[int(cells[at][0])] for at in order]
            values = self.axis.labels
            entries.append(
                DictionaryEntry("code", Text(f"{word}.dictionary.code"), "category", values=values)
            )
        columns["line"] = [cells[at][2] for at in order]
        entries.append(DictionaryEntry("line", Text(f"{word}.dictionary.line"), "text"))
        frame = pd.DataFrame({name: pd.array(values, dtype="str") for name, values in columns.items()})
        frame["count"] = noisy[order].astype(np.int64)
        frame["within_95"] = limit
        unit = self.schema.words.several
        entries += [
            DictionaryEntry(name, Text(f"{word}.numbers.{name}.what"), "integer", unit)
            for name in ("count", "within_95")
        ]
        headings = (
            *(Text(f"{word}.headings.{name}") for name in columns),
            *(Text(f"{word}.numbers.{name}.label") for name in ("count", "within_95")),
        )
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (*line, int(count), limit)
            for line, count in zip(zip(*columns.values(), strict=True), frame["count"].tolist(), strict=True)
        )[:MOST_LINES]
        note = Text(f"{word}.views.lines.note", {"shown": len(rows), "all": len(frame)})
        view = TableView(Text(f"{word}.views.lines.title"), headings, rows, note)
        artefact = TableArtefact("texts", (frame,), tuple(entries))
        return Release((artefact,), self.cost, (view,), tuple(self._notes))


def write_plain_lines(cells: pd.Series) -> pd.Series:
    """Return cells as lines: blanks in a row are one, none at the ends, and nothing for a missing cell.

    Examples
    --------
    >>> write_plain_lines(pd.Series([" a  b\\n", None])).tolist()
    ['a b', '']
    """
    texts = cells.astype("object").map(lambda cell: "" if pd.isna(cell) else " ".join(str(cell).split()))
    return pd.Series(texts, dtype="object")


def coverage(people: int, lines: int, falling: float, mechanism: ClearLaplace) -> float:
    """Return the share of people whose line leaves, where lines grow rarer as 1/rank^falling.

    Notes
    -----
    The number of people with a line is about normal, averaged over nine nodes; the noise is exact.
    """
    ranks = np.arange(1, lines + 1, dtype=np.float64) ** -falling
    shares = ranks / ranks.sum()
    nodes, weights = np.polynomial.hermite_e.hermegauss(9)
    found = 0.0
    for node, weight in zip(nodes.tolist(), (weights / weights.sum()).tolist(), strict=True):
        counts = np.rint(people * shares + node * np.sqrt(people * shares * (1 - shares)))
        there = np.flatnonzero(counts >= 1)
        below = laplace_below(mechanism.scale, mechanism.threshold - 1 - counts[there])
        found += weight * float(shares[there] @ (1 - below))
    return found
