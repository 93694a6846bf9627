"""Principal components: the directions in which rows differ most, from noisy products of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import arrays
from engine.methods import option
from engine.methods.budget import (
    NOISE,
    budget_problems,
    is_replace_one,
    noise_notes,
    required_budget,
    takes_gaussian,
)
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
from engine.methods.models.invented import SPREAD
from engine.methods.models.noisy_power import MEANS, ROUNDS, SQUARES, TURNS, PowerPlan, noisy_components
from engine.methods.models.points import PER_SIDE, Points
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    POINTS,
    Context,
    Expected,
    Forecast,
    Reference,
    Release,
)
from engine.methods.shared.blocks import blocks
from engine.methods.shared.cells import level_problems
from engine.methods.shared.division import Division
from engine.methods.shared.less_noise import less_noisy
from engine.methods.shared.promise import cap_notes
from engine.methods.shared.view import view_of
from engine.once import once
from engine.privacy.accuracy import NORMAL_MEDIAN, NORMAL_WITHIN
from engine.table import coding
from engine.table.schema import Kind
from engine.views import BarsView, Cell, TableView, Text, View

if TYPE_CHECKING:
    from engine.privacy.mechanisms import Integers
    from engine.table.table import Table

ID = "models.pca"
MOST_BY_POWER = 20_000
"""Up to how many coordinates noisy power steps are taken."""

Floats = arrays.Floats


class PrincipalComponents(FromProducts):
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
    published = Reference(
        "Dwork, Talwar, Thakurta, Zhang: Analyze Gauss: optimal bounds for privacy-preserving principal "
        "component analysis (2014)",
        "algorithm 1, with the sensitivity of distinct products",
        "doi:10.1145/2591796.2591883",
    )

    class Options(FromProducts.Options):
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

    @once
    def takes_steps(self) -> bool:
        """Whether noisy power steps are taken, because there are too many coordinates for all products."""
        return sum(self.widths[1]) > MOST_COORDINATES

    @property
    def asks_once(self) -> bool:
        return not self.takes_steps

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
        return self.plan.division if self.takes_steps else super().division

    @once
    def spread(self) -> float:
        return self.plan.largest_noise if self.takes_steps else super().spread

    @property
    def noise_told(self) -> dict[str, Any]:
        if not self.takes_steps:
            return super().noise_told
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

    @property
    def steps_said(self) -> tuple[Text, ...]:
        return (Text(f"{self.words}.card.steps", {"rounds": ROUNDS}),) if self.takes_steps else ()

    @once
    def forecast(self) -> Forecast:
        off = 100 * self.spread / 2 / self.differences  # of a share of one half; of others it is less
        errors = tuple(
            Expected(
                Text(f"{self.words}.numbers.variance.label"),
                "group",
                size,
                min(100.0, NORMAL_MEDIAN * off / max(size, 1)),
                min(100.0, NORMAL_WITHIN * off / max(size, 1)),
                POINTS,
            )
            for size in self.request.sizes
        )
        return Forecast(errors, notes=(*cap_notes(self.request), *noise_notes(self.request, self.sums)))

    @property
    def differences(self) -> float:
        """Return about the variance of all coordinates: numbers as invented ones, levels equally frequent."""
        levels = [len(coding.levels(one)) for one in self.columns if bounds_of(one) is None]
        numbers = len(self.columns) - len(levels)
        return max(SPREAD**2, numbers * SPREAD**2 + sum(1 - 1 / max(one, 1) for one in levels))

    # --- release -----------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        if not self.takes_steps:
            return super().run(tables, context)
        context.progress.step(0.0, "run.reading")
        return self._stepped(Points.of(view_of(tables[MAIN]), self.columns), context)

    def _stepped(self, points: Points, context: Context) -> Release:
        plan = self.plan

        def parts() -> Iterator[Points]:
            return (points.where(rows) for rows in blocks(len(points)))

        found = noisy_components(parts, plan, noise=context.noise, progress=context.progress)
        return self.released(self.content(replace(found, directions=facing(found.directions))))

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
        total = max(float(np.trace(covariance)), 0.0)
        variances = np.maximum(spread_along(directions, covariance), 0.0)
        return Components(rows, mean, facing(directions), variances, total, self.spread / rows)

    def views(self, model: dict[str, Any]) -> tuple[View, ...]:
        """Return what people see of the components."""
        places = range(1, len(model["variances"]) + 1)
        shares = [one / max(model["total_variance"], 1e-12) for one in model["variances"]]
        labels = tuple(Text(f"{self.words}.views.component", {"place": place}) for place in places)
        headings = tuple(
            Text(f"{self.words}.views.headings.{name}") for name in ("component", "share", "mark")
        )
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (label, digits(100 * share), Text(f"{self.words}.views.nothing") if is_noise else None)
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
                tuple(digits(100 * min(share, 1.0)) for share in shares),
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
