"""Principal components: the directions in which rows differ most, from noisy products of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import arrays
from engine.methods import option
from engine.methods.budget import (
    NOISE,
    ManySums,
    budget_problems,
    is_replace_one,
    noise_notes,
    required_budget,
    takes_gaussian,
)
from engine.methods.models.design import bounds_of
from engine.methods.models.leaving import describe_model, number_views, privacy_text
from engine.methods.models.linear_model import LEVELS, NUMBER
from engine.methods.models.monomials import Monomials, largest_change, largest_squared_change
from engine.methods.models.noisy_power import MEANS, ROUNDS, SQUARES, TURNS, PowerPlan, power
from engine.methods.models.points import PER_SIDE, Points
from engine.methods.models.targets import privacy_told
from engine.methods.once import once
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    POINTS,
    Context,
    Expected,
    Family,
    Forecast,
    Reads,
    Reference,
    Release,
)
from engine.methods.shared.blocks import blocks
from engine.methods.shared.cells import level_problems
from engine.methods.shared.division import Division, Query
from engine.methods.shared.less_noise import less_noisy
from engine.methods.shared.promise import cap_notes, promise
from engine.methods.shared.view import view_of
from engine.privacy.promise import Promise
from engine.table import coding
from engine.table.schema import Column, Domain, Kind
from engine.views import BarsView, Cell, TableView, Text, View

if TYPE_CHECKING:
    import pandas as pd

    from engine.privacy.mechanisms import Integers
    from engine.table.table import Table

ID = "models.pca"
FORMAT = "custos.principal_components"
PRODUCTS = "products"
MOST_COORDINATES, MOST_BY_POWER = 500, 20_000
"""Up to how many coordinates all products are asked for, and up to how many noisy power steps are taken."""

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


class PrincipalComponents(ManySums):
    """Principal components of columns between −1 and 1, from products that got noise once.

    Notes
    -----
    The products of all coordinates and the 1 are asked for, so that centring costs nothing more: covariance =
    M/n − vv'/n², all noisy. Off the diagonal a cell has half of a draw: with Gaussian noise these are the
    weights of the Gaussian orthogonal ensemble or a little better, and √2 better than one variance for every
    cell (Dwork and others 2014 as printed). No product inside a block of levels is asked for, it is 0.

    Above `MOST_COORDINATES` a matrix of all products is too large, and its noise grows with every coordinate:
    noisy power steps are taken instead (`engine.methods.models.noisy_power`), with Gaussian noise alone, as
    Laplace noise of several turns and of so long vectors would leave nothing.

    What cannot be covariance is taken out of the noisy numbers first: `engine.methods.shared.less_noise`.

    The Wishart mechanism that is printed in a book is not private: its noise cannot be negative, so that some
    answers are possible for one of two neighbours alone. Drawing a subspace by the exponential mechanism is
    private, but no bound is known for how long a draw takes. Neither is offered.
    """

    id = ID
    summable = True
    family = Family.MODEL
    promises = ("pure_dp", "approximate_dp")
    published = Reference(
        "Dwork, Talwar, Thakurta, Zhang: Analyze Gauss: optimal bounds for privacy-preserving principal "
        "component analysis (2014)",
        "algorithm 1, with the sensitivity of distinct products",
        "doi:10.1145/2591796.2591883",
    )

    class Options(option.Options):
        columns: option.Names = option.columns(
            minimum=2,
            maximum=200,
            column_kinds=(Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER, Kind.NUMBER),
            needs_domain=True,
        )
        components: int = option.integer(default=2, minimum=1, maximum=20)
        noise: str = NOISE

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        columns = self.columns
        listed = [one for one in columns if bounds_of(one) is None]
        found = level_problems(listed, parameter="columns")
        if found:
            return found
        size = sum(self.widths[1])
        if not self.options.components <= size <= MOST_BY_POWER:
            values = {"coordinates": size, "most": MOST_BY_POWER}
            return [Problem(f"{self.id}.coordinates", values, "columns")]
        if self.takes_steps and not required_budget(self.paid).delta:
            values = {"coordinates": size, "most": MOST_COORDINATES}
            return [Problem(f"{self.id}.needs_gaussian", values, "noise")]
        return budget_problems(self.request, uses_delta=takes_gaussian(self.request))

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

    @once
    def takes_steps(self) -> bool:
        """Whether noisy power steps are taken, because there are too many coordinates for all products."""
        return sum(self.widths[1]) > MOST_COORDINATES

    @property
    def asks_once(self) -> bool:
        return not self.takes_steps

    @property
    def sums(self) -> float:
        """How many sums a row moves by the same, about."""
        return len(self.options.columns) ** 2 / 2

    @once
    def plan(self) -> PowerPlan:
        """Return turns, noise and reach of noisy power steps."""
        budget = required_budget(self.paid)
        return PowerPlan(
            self.widths[0],
            self.options.components,
            budget.epsilon,
            budget.delta,
            self.request.rows_per_person,
            is_replace_one(self.request),
        )

    @once
    def division(self) -> Division:
        """Return the noise of the products, or of the steps."""
        if self.takes_steps:
            return self.plan.division
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
        if self.takes_steps:
            return self.plan.largest_noise
        cell = self.division.deviation(PRODUCTS) / PER_SIDE**2 / 2
        return 2 * cell * sqrt(sum(self.widths[1]))

    @once
    def forecast(self) -> Forecast:
        largest = len(self.columns)
        errors = tuple(
            Expected(
                Text(f"{self.words}.numbers.variance.label"),
                "group",
                size,
                min(100.0, 50 * self.spread / max(size, 1) / largest),
                min(100.0, 100 * self.spread / max(size, 1) / largest),
                POINTS,
            )
            for size in self.request.sizes
        )
        return Forecast(errors, notes=(*cap_notes(self.request), *noise_notes(self.request, self.sums)))

    # --- release -----------------------------------------------------------------------------------

    @once
    def needs(self) -> Reads:
        return Reads.CODED

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        context.progress.step(0.0, "run.reading")
        view, names = view_of(tables[MAIN]), [column.name for column in self.columns]
        if self.takes_steps:
            return self._stepped(Points.of(view, self.columns), context)
        products = Monomials(self.widths[0], target=False)
        parts = (Points.of(part, self.columns) for part in view.parts(names))
        exact = products.sums(chunk for part in parts for chunk in part.dense())
        context.progress.step(0.6, "run.noise")
        noisy = self.division.noisy(PRODUCTS, exact, context.noise)
        context.progress.step(0.9, "run.writing")
        return self._released(self.content(self.components(noisy)))

    def _stepped(self, points: Points, context: Context) -> Release:
        plan = self.plan

        def parts() -> Iterator[Points]:
            return (points.where(rows) for rows in blocks(len(points)))

        found = power(parts, plan, noise=context.noise, progress=context.progress)
        largest = np.abs(found.directions).argmax(axis=1)
        signs = np.sign(found.directions[np.arange(len(largest)), largest])
        told = Components(
            found.rows,
            found.mean,
            found.directions * signs[:, None],
            found.variances,
            found.total,
            plan.largest_noise / found.rows,
        )
        return self._released(self.content(told))

    def products_of(self, noisy: Integers) -> Floats:
        """Return the matrix of the 1 and all coordinates from noisy products."""
        return Monomials(self.widths[0], target=False).whole(noisy / PER_SIDE**2)

    def components(self, noisy: Integers) -> Components:
        """Return the components from noisy products: nothing here has seen a row."""
        products = self.products_of(noisy)
        rows = max(float(products[0, 0]), 1.0)
        mean = np.clip(products[0, 1:] / rows, -1.0, 1.0)
        covariance = products[1:, 1:] / rows - np.outer(mean, mean)
        cell = self.division.deviation(PRODUCTS) / PER_SIDE**2 / 2 / rows
        values, vectors = np.linalg.eigh(less_noisy(covariance, self.widths[0], noise=cell))
        order = np.argsort(-values, kind="stable")[: self.options.components]
        directions = vectors[:, order].T
        signs = np.sign(directions[np.arange(len(order)), np.abs(directions).argmax(axis=1)])
        total = max(float(np.trace(covariance)), 0.0)
        variances = np.maximum(np.einsum("ij,jk,ik->i", directions, covariance, directions), 0.0)
        return Components(rows, mean, directions * signs[:, None], variances, total, self.spread / rows)

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
            **self._noise_told,
            "privacy": privacy_told(self.paid),
            "method": {"id": self.id, "version": self.version},
        }

    @once
    def _noise_told(self) -> dict[str, Any]:
        if self.takes_steps:
            plan = self.plan
            noise = {
                f"deviation_of_{name}": f"{plan.division.deviation(name) / PER_SIDE**bits:.6g}"
                for name, bits in ((MEANS, 1), (TURNS, 2), (SQUARES, 2))
            }
            reach = {
                "clipping": plan.reach / PER_SIDE,
                "clipping_of_squares": plan.reach_of_squares / PER_SIDE,
            }
            return {"rounds": ROUNDS, **reach, "noise": {"distribution": plan.division.word(TURNS), **noise}}
        division = self.division
        deviation = f"{division.deviation(PRODUCTS) / PER_SIDE**2:.6g}"
        return {"noise": {"distribution": division.word(PRODUCTS), "deviation_of_products": deviation}}

    def _released(self, model: dict[str, Any]) -> Release:
        """Make the artefacts from the model: nothing after this line has seen a row."""
        card = (
            Text(f"{self.words}.card.predicts"),
            *([Text(f"{self.words}.card.steps", {"rounds": ROUNDS})] if "rounds" in model else []),
            Text(f"{self.words}.card.not_for"),
            privacy_text(self.paid, self.words),
            Text(f"{self.words}.card.use"),
        )
        views = (*self.views(model), *number_views({"rows": model["rows"]}, self.words))
        return describe_model(
            model, self.request, words=self.words, promise=self.cost, card=card, views=views
        )

    def views(self, model: dict[str, Any]) -> tuple[View, ...]:
        """Return what people see of the components."""
        places = range(1, len(model["variances"]) + 1)
        shares = [one / max(model["total_variance"], 1e-12) for one in model["variances"]]
        labels = tuple(Text(f"{self.words}.views.component", {"place": place}) for place in places)
        headings = tuple(
            Text(f"{self.words}.views.headings.{name}") for name in ("component", "share", "mark")
        )
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (label, _digits(100 * share), Text(f"{self.words}.views.nothing") if is_noise else None)
            for label, share, is_noise in zip(
                labels, shares, (one <= model["variance_of_noise"] for one in model["variances"]), strict=True
            )
        )
        named = (
            Text(f"{self.words}.views.headings.column"),
            Text(f"{self.words}.views.headings.value"),
            *labels,
        )
        return (
            BarsView(
                Text(f"{self.words}.views.shares.title"),
                labels,
                tuple(_digits(100 * min(share, 1.0)) for share in shares),
                Text(f"{self.words}.views.headings.share"),
            ),
            TableView(
                Text(f"{self.words}.views.shares.title"),
                headings,
                rows,
                Text(f"{self.words}.views.shares.note"),
            ),
            TableView(Text(f"{self.words}.views.weights.title"), named, component_weights(model, self.words)),
        )


def component_weights(model: Mapping[str, Any], words: str) -> tuple[tuple[Cell, ...], ...]:
    """Return what each component is made of, a row for every coordinate."""
    rows: list[tuple[Cell, ...]] = []
    for one in model["columns"]:
        labels: list[Cell] = [None]
        if one["kind"] == LEVELS:
            labels = [*one["levels"], Text(f"{words}.views.other"), Text(f"{words}.views.missing")]
        for label, own in zip(labels, np.array(one["weights"]).T.tolist(), strict=True):
            rows.append((one["name"], label, *map(_digits, own)))
    return tuple(rows)


def _digits(value: float) -> float:
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
