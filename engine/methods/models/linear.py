"""A linear model that predicts a number, from noisy coefficients of its squared loss."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.methods.budget import budget_problems, is_replace_one, required
from engine.methods.filling import Judged
from engine.methods.models.design import Design, Floats, bounds_of
from engine.methods.models.linear_model import content, effects, effects_picture, effects_table, predict
from engine.methods.models.monomials import Monomials, largest_change, largest_squared_change
from engine.methods.models.quadratic import Solution, centred, solve
from engine.methods.parameters import Parameter, ParameterKind, Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    DocumentArtefact,
    Expected,
    Family,
    Forecast,
    Method,
    ModelArtefact,
    Reference,
    Release,
    Request,
)
from engine.methods.shared.promise import cap_notes, promise
from engine.privacy.mechanisms import CountNoise, GaussianCounts, LaplaceCounts
from engine.privacy.promise import Promise, Unit
from engine.table import coding
from engine.table.schema import Column, Kind
from engine.views import NumberView, TableView, Text, View

if TYPE_CHECKING:
    from engine.privacy.mechanisms.integers import Integers
    from engine.table.table import Table

ID = "models.linear"
WORDS = f"methods.{ID}"
MOST_COEFFICIENTS = 500
FINEST, COARSEST = 12, 6  # the grid has 2^this steps on either side of the middle
ROOM = 52  # squared sensitivities stay below two to this power, so that they are exact in doubles

INVENTED_SPREAD = 0.3  # standard deviation of invented columns, half of the declared range being 1
INVENTED_SHARE = 0.3  # share of the invented target's variance that the predictors explain


class Linear(Method):
    """Functional mechanism for linear regression with intercept and ridge penalty.

    Notes
    -----
    The squared loss summed over rows is a polynomial; its coefficients get integer noise, each once, and
    whatever is done with the noisy polynomial costs nothing more: a floor under its eigenvalues, the penalty,
    the solution. Sensitivities: `engine.methods.models.monomials`. The published one with an intercept,
    2(d² + 4d + 3), is nearly twice the exact one.

    It does not say which predictor causes what, and its bands tell of the noise alone, not of how few people
    there were; floor, penalty and clamping pull coefficients towards 0.
    """

    id = ID
    family = Family.MODEL
    promises = ("pure_dp", "approximate_dp")
    held_out = True
    published = Reference(
        "Zhang, Zhang, Xiao, Yang, Winslett: Functional mechanism: regression analysis under differential "
        "privacy (2012)",
        "algorithm 1, with exact sensitivities",
        "doi:10.14778/2350229.2350253",
    )
    parameters = (
        Parameter(
            "target", ParameterKind.COLUMN, column_kinds=(Kind.INTEGER, Kind.NUMBER), needs_domain=True
        ),
        Parameter(
            "predictors",
            ParameterKind.COLUMNS,
            minimum=1,
            maximum=200,
            column_kinds=(Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER, Kind.NUMBER),
            needs_domain=True,
        ),
        Parameter("noise", ParameterKind.CHOICE, default="laplace", choices=("laplace", "gaussian")),
        Parameter("penalty", ParameterKind.NUMBER, default=0, minimum=0, maximum=10**12),
    )

    # --- declarations ------------------------------------------------------------------------------

    def further_problems(self, request: Request) -> list[Problem]:
        target, names = request.values["target"], request.values["predictors"]
        if target in names:
            return [Problem(f"{self.id}.predicts_itself", {"column": target}, "predictors")]
        places = {target: "target"} | dict.fromkeys(names, "predictors")
        for name, parameter in places.items():
            if _needs_bounds(request.schema.column(name), parameter) is None:
                return [Problem(f"{self.id}.no_bounds", {"column": name}, parameter)]
        size = self.design(request).size
        if size > MOST_COEFFICIENTS:
            values = {"coefficients": size, "most": MOST_COEFFICIENTS}
            return [Problem(f"{self.id}.too_many", values, "predictors")]
        return budget_problems(request, uses_delta=request.values["noise"] == "gaussian")

    def design(self, request: Request) -> Design:
        """Return what the coordinates of a row are."""
        schema, values = request.schema, request.values
        return Design(schema.column(values["target"]), tuple(map(schema.column, values["predictors"])))

    def per_side(self, request: Request) -> int:
        """Return the steps of the grid on either side of the middle, a power of two."""
        squared = request.rows_per_person**2 * largest_squared_change(**self._shape(request))
        return int(2 ** min(FINEST, max(COARSEST, (ROOM - squared.bit_length()) // 4)))

    def mechanism(self, request: Request) -> CountNoise:
        """Return the noise that the budget buys, in whole steps of a product."""
        budget, rows, square = required(request), request.rows_per_person, self.per_side(request) ** 2
        if request.values["noise"] == "gaussian":
            squared = largest_squared_change(**self._shape(request)) * (rows * square) ** 2
            return GaussianCounts(squared, budget.epsilon, budget.delta)
        return LaplaceCounts(largest_change(**self._shape(request)) * rows * square, budget.epsilon)

    def _shape(self, request: Request) -> dict[str, Any]:
        widths = self.design(request).widths
        blocks = sum(width > 0 for width in widths)
        return {
            "numbers": len(widths) - blocks,
            "blocks": blocks,
            "replace_one": is_replace_one(request),
        }

    def spread(self, request: Request) -> float:
        """Return the standard deviation of the noise of a product of coordinates between −1 and 1."""
        mechanism = self.mechanism(request)
        scale = float(mechanism.scale) * (1.0 if isinstance(mechanism, GaussianCounts) else np.sqrt(2))
        return float(scale / self.per_side(request) ** 2)

    def cost(self, request: Request) -> Promise:
        kind = "approximate_dp" if request.values["noise"] == "gaussian" else "pure_dp"
        return promise(request, self.mechanism(request).event, kind=kind)

    # --- forecast ----------------------------------------------------------------------------------

    def forecast(self, request: Request) -> Forecast:
        target = bounds_of(request.schema.column(request.values["target"]))
        assert target is not None
        found = [(size, *self._foreseen(request, size)) for size in request.sizes]
        errors = [
            Expected(
                Text(f"{WORDS}.numbers.{name}.label"),
                name,
                size,
                0.6745 * spread[place] * target.half,
                1.96 * spread[place] * target.half,
            )
            for place, name in enumerate(("prediction", "coefficient"))
            for size, *spread in found
        ]
        headings = (Text(f"{WORDS}.kept.rows"), Text(f"{WORDS}.kept.share"))
        rows = tuple((size, round(100 * kept)) for size, _, _, kept in found)
        view = TableView(Text(f"{WORDS}.kept.title"), headings, rows, Text(f"{WORDS}.kept.note"))
        main = errors[len(found) - 1] if found else None
        return Forecast(tuple(errors), main, (view,), tuple(cap_notes(request)))

    def judged(self, request: Request, people: int | None) -> Judged | None:
        if people is None:
            return None
        kept = self._foreseen(request, people)[2]
        values = {"people": people, "kept": floor(100 * kept)}
        return Judged(kept, Text(f"{WORDS}.judged", values))

    def _foreseen(self, request: Request, rows: int) -> tuple[float, float, float]:
        """Return, for invented rows, the error of predictions, of coefficients, and the share of fit kept.

        Predictors are independent, spread as `INVENTED_SPREAD` says, levels equally frequent; each explains
        the same. The first two are root mean squares where the target is between −1 and 1.
        """
        design = self.design(request)
        monomials = Monomials(design.widths)
        moments, weights = _invented(design)
        found = solve(
            rows * moments,
            rows * moments @ weights,
            monomials,
            noise=self.spread(request),
            penalty=float(request.values["penalty"]),
        )
        off = found.weights - weights
        square = float(off @ moments @ off + np.sum(moments * found.covariance))
        apart = np.sqrt(off[1:] ** 2 + np.diag(found.covariance)[1:])
        kept = 1 - square / (INVENTED_SHARE * INVENTED_SPREAD**2)
        return float(np.sqrt(square)), float(np.sqrt(np.mean(apart**2))), max(0.0, kept)

    # --- release -----------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], request: Request, context: Context) -> Release:
        context.progress.step(0.0, "run.reading")
        exact = self.coefficients(tables[MAIN], request)
        context.progress.step(0.6, "run.noise")
        noisy = self.mechanism(request).release(exact, context.noise)
        context.progress.step(0.9, "run.writing")
        return self.released(noisy, request)

    def coefficients(self, table: Table, request: Request) -> Integers:
        """Return the exact coefficients in whole steps: the only part that sees rows."""
        design = self.design(request)
        chunks = design.chunks(table.rows(), per_side=self.per_side(request))
        return Monomials(design.widths).sums(chunks)

    def solution(self, noisy: Integers, request: Request) -> tuple[Solution, Floats]:
        """Return the model from noisy coefficients, and the noisy number of rows of every coordinate."""
        design = self.design(request)
        monomials = Monomials(design.widths)
        gram, cross = monomials.matrix(noisy / self.per_side(request) ** 2)
        penalty = float(request.values["penalty"])
        found = solve(gram, cross, monomials, noise=self.spread(request), penalty=penalty)
        return centred(found, design.starts, design.widths, gram[0]), gram[0]

    def released(self, noisy: Integers, request: Request) -> Release:
        """Make the artefacts from noisy coefficients: nothing after this line has seen a row."""
        found, counts = self.solution(noisy, request)
        rows = round(float(counts[0]))
        model = content(self.design(request), found, self._told(request, found, rows))
        meaning = Text(f"{WORDS}.artefacts.model", {"target": request.values["target"]})
        views = self._views(model, found, rows)
        artefacts = (
            ModelArtefact("model", model, partial(predict, model), request.values["target"], meaning),
            DocumentArtefact("model-card", self._card(model, views), Text(f"{WORDS}.artefacts.card")),
        )
        return Release(artefacts, self.cost(request), views, tuple(cap_notes(request)))

    def _told(self, request: Request, found: Solution, rows: int) -> dict[str, Any]:
        budget, mechanism = required(request), self.mechanism(request)
        return {
            "rows": rows,
            "eigenvalues_lifted": found.lifted,
            "eigenvalue_floor": found.floor,
            "penalty": str(request.values["penalty"]),
            "noise": {
                "distribution": mechanism.event.word,
                "scale": str(mechanism.scale),
                "steps_per_side": self.per_side(request),
            },
            "privacy": {
                "epsilon": str(budget.epsilon),
                "delta": str(budget.delta),
                "neighbours": str(budget.neighbours),
                "unit": str(request.unit),
                "rows_per_person": request.rows_per_person,
            },
            "method": {"id": self.id, "version": self.version},
        }

    def _views(self, model: dict[str, Any], found: Solution, rows: int) -> tuple[View, ...]:
        shown = list(effects(model, f"{WORDS}.views"))
        told = {"rows": rows, "lifted": found.lifted, "intercept": float(f"{model['intercept']:.4g}")}
        axis = Text(f"{WORDS}.views.axis", {"target": model["target"]["name"]})
        return (
            effects_picture(shown, f"{WORDS}.views", axis),
            effects_table(shown, f"{WORDS}.views"),
            *(
                NumberView(Text(f"{WORDS}.numbers.{name}.label"), value, Text(f"{WORDS}.numbers.{name}"))
                for name, value in told.items()
            ),
        )

    def _card(self, model: dict[str, Any], views: tuple[View, ...]) -> tuple[Text | View, ...]:
        target, privacy = model["target"], model["privacy"]
        values = {
            "target": target["name"],
            "minimum": target["minimum"],
            "maximum": target["maximum"],
            "predictors": ", ".join(one["name"] for one in model["predictors"]),
        }
        protection = {"epsilon": privacy["epsilon"], "delta": privacy["delta"]}
        is_row = privacy["unit"] == Unit.ROW
        protection |= {} if is_row else {"rows": privacy["rows_per_person"]}
        texts: tuple[tuple[str, dict[str, Any]], ...] = (
            ("predicts", values),
            ("not_for", {}),
            ("privacy_row" if is_row else "privacy", protection),
            ("bands", {}),
            ("use", {}),
        )
        return (
            Text(f"{WORDS}.card.title", {"target": target["name"]}),
            *(Text(f"{WORDS}.card.{name}", given) for name, given in texts),
            *(view for view in views if isinstance(view, TableView | NumberView)),
        )


def _needs_bounds(column: Column, parameter: str) -> object | None:
    """Return what a column gives the model, bounds or levels; None where it lacks what it needs."""
    bounds = bounds_of(column)
    is_range = column.domain is not None and column.domain.minimum is not None
    if bounds is not None or parameter == "target" or is_range:
        return bounds
    return coding.levels(column)


def _invented(design: Design) -> tuple[Floats, Floats]:
    """Return the second moments of invented rows, and the weights of an invented truth."""
    mean, within, weights = np.zeros(design.size), np.zeros((design.size,) * 2), np.zeros(design.size)
    mean[0] = 1.0
    each = INVENTED_SPREAD * np.sqrt(INVENTED_SHARE / len(design.predictors))
    for width, start in zip(design.widths, design.starts, strict=True):
        if not width:
            within[start, start], weights[start] = INVENTED_SPREAD**2, each / INVENTED_SPREAD
            continue
        declared = slice(start, start + max(width - 2, 1))
        share = 1 / (declared.stop - declared.start)
        mean[declared] = share
        within[declared, declared] = np.diag(np.full(round(1 / share), share)) - share**2
        weights[declared] = each * np.resize([1.0, -1.0], round(1 / share))
    return np.outer(mean, mean) + within, weights
