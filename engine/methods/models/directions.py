"""Directions that tell one label and hide another, from noisy products of columns and labels."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from engine import arrays
from engine.methods import option
from engine.methods.budget import NOISE, budget_problems, noise_notes, takes_gaussian
from engine.methods.models.components import (
    MOST_COORDINATES,
    PRODUCTS,
    Components,
    FromProducts,
    component_weights,
    digits,
    facing,
    spread_along,
)
from engine.methods.models.design import bounds_of
from engine.methods.models.points import PER_SIDE
from engine.methods.parameters import Problem
from engine.methods.protocol import Expected, Forecast, Reference
from engine.methods.shared.cells import level_problems
from engine.methods.shared.less_noise import less_noisy
from engine.methods.shared.promise import cap_notes
from engine.once import once
from engine.privacy.accuracy import NORMAL_MEDIAN, NORMAL_WITHIN
from engine.table import coding
from engine.table.schema import Column, Kind
from engine.views import Cell, TableView, Text, View

Floats = arrays.Floats

TELLING, HIDING = "dca", "mdr"
RIDGE = 0.02
"""Of the largest eigenvalue of the scatter below, which is added to all of them."""
SPREAD = 0.3
"""About the standard deviation of a column, half of its declared range being 1."""
LABELS = (Kind.CATEGORY, Kind.ORDINAL)


@dataclass(frozen=True)
class Scatter:
    """What noisy products say of columns and labels, per row.

    Parameters
    ----------
    rows, mean
        Noisy number of rows, and the mean of every coordinate.
    whole
        Scatter of all rows, shape (size, size).
    between
        Scatter between the classes of every label.
    noise
        Variance of the noise in each of these, of one coordinate.
    """

    rows: float
    mean: Floats
    whole: Floats
    between: list[Floats]
    noise: list[float]


class Directions(FromProducts):
    """Discriminant components (DCA), or directions of discriminant ratio (MDR), for declared labels.

    Notes
    -----
    One question: all products of columns and labels, as for principal components. A label is a block of
    cells, so that its products with the columns are the sums of every class, and with the 1 their numbers.
    Scatter between the classes of the utility label: S_BU = Σ N_l μ_l μ_l' − N μ μ'. DCA takes the first
    L − 1 directions of S_BU beside S̄ + ρI, the scatter of all rows; MDR those beside S_BP + ρI, the scatter
    between classes of the label that is to be hidden.

    The published ρ′ that is taken from S̄ beside S_BU changes the directions a little and is left at 0. The
    published forms read exact rows; a direction that is read off exact sums can be traced back to rows.

    Rows never leave. Whoever has the directions and a row of their own can place it.
    """

    id = "models.directions"
    summable = True
    published = Reference(
        "Chang, Zhuang, Samaraweera: Privacy-preserving machine learning (2023)",
        "chapter 9, from sums with noise",
        "isbn:9781617298042",
    )

    class Options(FromProducts.Options):
        columns: option.Names = option.columns(
            minimum=2, maximum=200, column_kinds=(*LABELS, Kind.INTEGER, Kind.NUMBER), needs_domain=True
        )
        utility: str = option.column(column_kinds=LABELS, needs_domain=True)
        kind: str = option.choice(TELLING, HIDING, default=TELLING)
        hidden: str | None = option.column(when=("kind", (HIDING,)), column_kinds=LABELS, needs_domain=True)
        components: int = option.integer(default=1, minimum=1, maximum=20)
        noise: str = NOISE

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        taken = list(self.options.columns)
        for column, parameter in zip(self.labels, ("utility", "hidden"), strict=False):
            if column.name in taken:
                return [Problem(f"{self.id}.label_twice", {"column": column.name}, parameter)]
            if found := level_problems([column], parameter=parameter):
                return found
            if len(coding.levels(column)) < 2:
                return [Problem(f"{self.id}.one_value", {"column": column.name}, parameter)]
            taken.append(column.name)
        if self.options.components >= (values := len(coding.levels(self.labels[0]))):
            told = {"values": values, "most": values - 1}
            return [Problem(f"{self.id}.too_many_directions", told, "components")]
        found = level_problems(
            [one for one in self.columns[: -len(self.labels)] if bounds_of(one) is None], parameter="columns"
        )
        if not found and (size := sum(self.widths[1])) > MOST_COORDINATES:
            told = {"coordinates": size, "most": MOST_COORDINATES}
            found = [Problem(f"{self.id}.coordinates", told, "columns")]
        return found or budget_problems(self.request, uses_delta=takes_gaussian(self.request))

    @once
    def labels(self) -> list[Column]:
        """Return the label to tell, and that to hide where there is one."""
        names = (self.options.utility, *([self.options.hidden] if self.options.hidden else []))
        return [self.schema.column(name) for name in names]

    @once
    def columns(self) -> list[Column]:
        return [*(self.schema.column(name) for name in self.options.columns), *self.labels]

    @once
    def forecast(self) -> Forecast:
        classes, cell = len(coding.levels(self.labels[0])), self._cell
        errors = tuple(
            Expected(
                Text(f"{self.words}.numbers.mean.label"),
                "group",
                size,
                NORMAL_MEDIAN * off,
                NORMAL_WITHIN * off,
                " %",
            )
            for size in self.request.sizes
            for off in [100 * cell * classes / max(size, 1) / SPREAD]
        )
        return Forecast(errors, notes=(*cap_notes(self.request), *noise_notes(self.request, self.sums)))

    @once
    def _cell(self) -> float:
        """Return the deviation of the noise of a product, half of which lies in either of its cells."""
        return self.division.deviation(PRODUCTS) / PER_SIDE**2 / 2

    # --- release -----------------------------------------------------------------------------------

    def scatter(self, products: Floats) -> Scatter:
        """Return the scatters that noisy products say, per row: nothing here has seen a row."""
        described = len(self.options.columns)
        size, rows = sum(self.widths[1][:described]), max(float(products[0, 0]), 1.0)
        mean = np.clip(products[0, 1 : 1 + size] / rows, -1.0, 1.0)
        covariance = products[1 : 1 + size, 1 : 1 + size] / rows - np.outer(mean, mean)
        whole = less_noisy(covariance, self.widths[0][:described], noise=self._cell / rows)
        between, noise, start = [], [], 1 + size
        for column, width in zip(self.labels, self.widths[1][described:], strict=True):
            cells = slice(start, start + len(coding.levels(column)))
            counts = np.maximum(products[0, cells], max(1.0, NORMAL_WITHIN * 2 * self._cell))
            means = np.clip(products[1 : 1 + size, cells] / counts, -1.0, 1.0)
            apart = (means - (means @ counts / counts.sum())[:, None]) * np.sqrt(counts / rows)
            between.append(apart @ apart.T)
            noise.append(self._cell**2 * float((1 / counts).sum()) / rows)
            start += width
        return Scatter(rows, mean, whole, between, noise)

    def components(self, noisy: Any) -> Components:
        found = self.scatter(self.products_of(noisy))
        below = found.between[-1] if self.options.kind == HIDING else found.whole
        values, vectors = np.linalg.eigh(below)
        # no direction is let stand for less than the noise of a covariance, or it would be found in noise
        floor = max(RIDGE * float(values[-1]), 2 * self._cell * sqrt(len(values)) / found.rows, 1e-9)
        root = vectors / np.sqrt(np.maximum(values, 0.0) + floor)
        ratios, turned = np.linalg.eigh(root.T @ found.between[0] @ root)
        order = np.argsort(-ratios, kind="stable")[: self.options.components]
        directions = (root @ turned[:, order]).T
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        directions = facing(directions)
        variances = np.maximum(spread_along(directions, found.whole), floor)
        shares = [np.clip(spread_along(directions, one) / variances, 0.0, 1.0) for one in found.between]
        classes, size = len(coding.levels(self.labels[0])), found.mean.size
        # the largest eigenvalue of noise, and of chance among so many rows, in so many directions
        by_chance = (sqrt(classes - 1) + sqrt(size)) ** 2 / found.rows
        by_noise = found.noise[0] * (1 + sqrt(size / classes)) ** 2 / variances + by_chance
        total = max(float(np.trace(found.whole)), 0.0)
        told = {
            "kind": self.options.kind,
            "labels": [column.name for column in self.labels],
            "told_of_labels": [one.tolist() for one in shares],
            "told_by_noise": np.minimum(by_noise, 1.0).tolist(),
        }
        return Components(
            found.rows, found.mean, directions, variances, total, self.spread / found.rows, told
        )

    def views(self, model: dict[str, Any]) -> tuple[View, ...]:
        words, places = f"{self.words}.views", range(1, len(model["variances"]) + 1)
        names = [Text(f"{words}.component", {"place": place}) for place in places]
        headings = (
            Text(f"{words}.headings.component"),
            *(Text(f"{words}.headings.told", {"label": name}) for name in model["labels"]),
            Text(f"{words}.headings.mark"),
        )
        told = model["told_of_labels"]
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (
                name,
                *(digits(100 * one[place]) for one in told),
                Text(f"{words}.nothing") if told[0][place] <= model["told_by_noise"][place] else None,
            )
            for place, name in enumerate(names)
        )
        named = (Text(f"{words}.headings.column"), Text(f"{words}.headings.value"), *names)
        return (
            TableView(Text(f"{words}.told.title"), headings, rows, Text(f"{words}.told.note")),
            TableView(Text(f"{words}.weights.title"), named, component_weights(model, self.words)),
        )
