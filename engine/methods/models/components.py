"""What methods share that describe rows by a few combinations of columns: products, noise, and their file."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import arrays
from engine.methods import option
from engine.methods.budget import ManySums, is_replace_one, required_budget
from engine.methods.models.design import bounds_of
from engine.methods.models.leaving import describe_model, number_views, privacy_text
from engine.methods.models.linear_model import LEVELS, NUMBER
from engine.methods.models.monomials import Monomials, largest_change, largest_squared_change
from engine.methods.models.points import PER_SIDE, Points
from engine.methods.models.targets import privacy_told
from engine.methods.protocol import MAIN, Context, Family, Reads, Release
from engine.methods.shared.division import Division, Query
from engine.methods.shared.promise import promise
from engine.methods.shared.view import view_of
from engine.once import once
from engine.privacy.promise import Promise
from engine.table import coding
from engine.table.schema import Column, Domain, Kind
from engine.views import Cell, Text, View

if TYPE_CHECKING:
    import pandas as pd

    from engine.privacy.mechanisms import Integers
    from engine.table.table import Table

FORMAT = "custos.principal_components"
PRODUCTS = "products"
MOST_COORDINATES = 500
"""Up to how many coordinates all products are asked for."""

Floats = arrays.Floats


@dataclass(frozen=True)
class Components:
    """What noisy products of coordinates say.

    Parameters
    ----------
    rows
        Noisy number of rows.
    mean
        Of every coordinate, shape (size,).
    directions
        One row for each component, shape (components, size).
    variances
        Along each, none below 0.
    total
        Of all coordinates together.
    noise
        How large the variance of a direction is by noise alone, about.
    told
        What else the model file says of them.
    """

    rows: float
    mean: Floats
    directions: Floats
    variances: Floats
    total: float
    noise: float
    told: Mapping[str, Any] = field(default_factory=dict)


class FromProducts(ManySums):
    """Combinations of columns between −1 and 1, from products that got noise once."""

    family = Family.MODEL
    promises = ("pure_dp", "approximate_dp")

    class Options(option.Options):
        columns: option.Names
        components: int
        noise: str

    options: Options

    @property
    def words(self) -> str:
        """Where its texts begin."""
        return f"methods.{self.id}"

    @once
    def columns(self) -> list[Column]:
        """Return the columns whose products are asked for, those first that are described."""
        return [self.schema.column(name) for name in self.options.columns]

    @once
    def widths(self) -> tuple[tuple[int, ...], list[int]]:
        """Return for every column 0 where it is a number, else how many cells it has; and its coordinates."""
        widths = tuple(0 if bounds_of(one) else len(coding.cells(one)) for one in self.columns)
        return widths, [max(width, 1) for width in widths]

    @property
    def sums(self) -> float:
        """How many sums a row moves by the same, about."""
        return len(self.options.columns) ** 2 / 2

    @once
    def division(self) -> Division:
        """Return the noise of the products."""
        widths, rows, budget = self.widths[0], self.request.rows_per_person, required_budget(self.paid)
        shape: dict[str, Any] = {
            "numbers": widths.count(0),
            "blocks": sum(width > 0 for width in widths),
            "replace_one": is_replace_one(self.request),
            "target": False,
        }
        step = rows * PER_SIDE**2
        query = Query(
            PRODUCTS,
            largest_change(**shape) * step,
            largest_squared_change(**shape) * step**2,
            1.0,
            together=None if budget.delta else Monomials(widths, target=False).count,
        )
        return Division((query,), budget.epsilon, budget.delta, is_replace_one(self.request)).borne_out()

    @once
    def cost(self) -> Promise:
        kind = "approximate_dp" if required_budget(self.paid).delta else "pure_dp"
        return promise(self.paid, self.division.events, kind=kind)

    @once
    def spread(self) -> float:
        """Return about the largest eigenvalue that the noise alone has: 2 s √size for s of a cell."""
        cell = self.division.deviation(PRODUCTS) / PER_SIDE**2 / 2
        return 2 * cell * sqrt(sum(self.widths[1]))

    @once
    def needs(self) -> Reads:
        return Reads.CODED

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        context.progress.step(0.0, "run.reading")
        view, names = view_of(tables[MAIN]), [column.name for column in self.columns]
        products = Monomials(self.widths[0], target=False)
        parts = (Points.of(part, self.columns) for part in view.parts(names))
        exact = products.sums(chunk for part in parts for chunk in part.dense())
        context.progress.step(0.6, "run.noise")
        noisy = self.division.noisy(PRODUCTS, exact, context.noise)
        context.progress.step(0.9, "run.writing")
        return self.released(self.content(self.components(noisy)))

    def products_of(self, noisy: Integers) -> Floats:
        """Return the matrix of the 1 and all coordinates from noisy products."""
        return Monomials(self.widths[0], target=False).whole(noisy / PER_SIDE**2)

    @abstractmethod
    def components(self, noisy: Integers) -> Components:
        """Return the combinations from noisy products: nothing in it has seen a row."""

    @abstractmethod
    def views(self, model: dict[str, Any]) -> tuple[View, ...]:
        """Return what people see of a finished model."""

    @property
    def steps_said(self) -> tuple[Text, ...]:
        """What the card says of noisy steps, where there were some."""
        return ()

    def content(self, found: Components) -> dict[str, Any]:
        """Return the components as JSON values."""
        described = len(self.options.columns)
        starts = np.cumsum([0, *self.widths[1][:described]])
        columns = []
        for column, first, end in zip(self.columns[:described], starts[:-1], starts[1:], strict=True):
            one: dict[str, Any] = {"name": column.name, "missing": list(column.without_copied().missing)}
            bounds = bounds_of(column)
            if bounds is None:
                one |= {"kind": LEVELS, "levels": list(coding.levels(column))}
            else:
                one |= {"kind": NUMBER, "minimum": bounds.low, "maximum": bounds.high}
            one["means"] = found.mean[first:end].tolist()
            one["weights"] = found.directions[:, first:end].tolist()
            columns.append(one)
        return {
            "format": FORMAT,
            "version": 1,
            "columns": columns,
            "rows": round(found.rows),
            "variances": found.variances.tolist(),
            "variance_of_noise": found.noise,
            "total_variance": found.total,
            **found.told,
            **self.noise_told,
            "privacy": privacy_told(self.paid),
            "method": {"id": self.id, "version": self.version},
        }

    @property
    def noise_told(self) -> dict[str, Any]:
        """What the model file says of the noise."""
        division = self.division
        deviation = f"{division.deviation(PRODUCTS) / PER_SIDE**2:.6g}"
        return {"noise": {"distribution": division.word(PRODUCTS), "deviation_of_products": deviation}}

    def released(self, model: dict[str, Any]) -> Release:
        """Make the artefacts from the model: nothing after this line has seen a row."""
        card = (
            Text(f"{self.words}.card.predicts"),
            *self.steps_said,
            Text(f"{self.words}.card.not_for"),
            privacy_text(self.paid, self.words),
            Text(f"{self.words}.card.use"),
        )
        views = (*self.views(model), *number_views({"rows": model["rows"]}, self.words))
        return describe_model(
            model, self.request, words=self.words, promise=self.cost, card=card, views=views
        )


def component_weights(model: Mapping[str, Any], words: str) -> tuple[tuple[Cell, ...], ...]:
    """Return what each component is made of, a row for every coordinate."""
    rows: list[tuple[Cell, ...]] = []
    for one in model["columns"]:
        labels: list[Cell] = [None]
        if one["kind"] == LEVELS:
            labels = [*one["levels"], Text(f"{words}.views.other"), Text(f"{words}.views.missing")]
        for label, own in zip(labels, np.array(one["weights"]).T.tolist(), strict=True):
            rows.append((one["name"], label, *map(digits, own)))
    return tuple(rows)


def facing(directions: Floats) -> Floats:
    """Return directions, one a row, whose largest entry is above 0: either way round they are the same.

    Examples
    --------
    >>> facing(np.array([[0.6, -0.8], [0.8, 0.6]])).tolist()
    [[-0.6, 0.8], [0.8, 0.6]]
    """
    largest = np.abs(directions).argmax(axis=1)
    return directions * np.sign(directions[np.arange(len(largest)), largest])[:, None]


def spread_along(directions: Floats, covariance: Floats) -> Floats:
    """Return the variance along each of some directions, one a row."""
    found: Floats = np.einsum("ij,jk,ik->i", directions, covariance, directions)
    return found


def digits(value: float) -> float:
    """Return a number with three digits."""
    return float(f"{value:.3g}")


def project(model: Mapping[str, Any], frame: pd.DataFrame) -> Floats:
    """Return where rows lie along the components, shape (n, components): every row, whatever it holds."""
    found = np.zeros((len(frame), len(model["variances"])))
    for one in model["columns"]:
        weights, missing = np.array(one["weights"]), tuple(one["missing"])
        if one["kind"] == LEVELS:
            domain = Domain(values=tuple(one["levels"]))
            column = Column(one["name"], kind=Kind.CATEGORY, domain=domain, missing=missing)
            found += weights.T[coding.codes(frame[one["name"]], column)] - weights @ np.array(one["means"])
            continue
        numbers = coding.numbers(frame[one["name"]], Column(one["name"], kind=Kind.NUMBER, missing=missing))
        middle, half = (one["minimum"] + one["maximum"]) / 2, (one["maximum"] - one["minimum"]) / 2
        scaled = (np.clip(numbers, one["minimum"], one["maximum"]) - middle) / half
        scaled = np.where(np.isnan(scaled), 0.0, scaled)
        found += (scaled - one["means"][0])[:, None] * weights[:, 0]
    return found
