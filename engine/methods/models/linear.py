"""A linear model that predicts a number, from noisy coefficients of its squared loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, log, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

from engine.methods import option
from engine.methods.budget import NOISE, budget_problems, noise_notes, required_budget, takes_gaussian
from engine.methods.filling import Judged
from engine.methods.models.descent import DescentPlan, centre_scores, foreseen, plan_of, weak_problems
from engine.methods.models.design import Floats, bounds_of
from engine.methods.models.held_out import PERCENT
from engine.methods.models.invented import SHARE, SPREAD, Foreseen, invent_moments
from engine.methods.models.leaving import make_artefacts, number_views, privacy_text
from engine.methods.models.linear_model import (
    AT_MOST,
    content,
    effects,
    effects_picture,
    effects_table,
    predict,
)
from engine.methods.models.monomials import Monomials
from engine.methods.models.product_sums import STEPS, SUMS, ProductSums
from engine.methods.models.quadratic import Solution, centre_effects, solve
from engine.methods.models.targets import privacy_told
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    Expected,
    Family,
    Forecast,
    Reads,
    Reference,
    Release,
    Request,
)
from engine.methods.shared.promise import cap_notes
from engine.once import once
from engine.privacy.accuracy import NORMAL_MEDIAN, NORMAL_WITHIN
from engine.privacy.events import Event
from engine.table import coding
from engine.table.schema import Column, Kind
from engine.views import TableView, Text, View

if TYPE_CHECKING:
    from engine.privacy.mechanisms.integers import Integers
    from engine.table.table import Table

ID = "models.linear"
WORDS = f"methods.{ID}"
MOST_COEFFICIENTS = 500


class Linear(ProductSums):
    """Linear regression with intercept: noisy gradients, or the functional mechanism with ridge penalty.

    Notes
    -----
    Steps: see `engine.methods.models.descent`; the residual is clipped, so that what is fitted is a Huber
    regression, at a limit that a small part of the budget buys. They explained more than the functional
    mechanism on every table that was tried.

    Sums: the squared loss summed over rows is a polynomial; its coefficients get integer noise, each once;
    whatever is done with the noisy polynomial costs nothing more: a floor under its eigenvalues, the penalty,
    the solution. Sensitivities: `engine.methods.models.monomials`. The published one with an intercept,
    2(d² + 4d + 3), is nearly twice the exact one.

    It does not say which predictor causes what, and its bands tell of the noise alone, not of how few people
    there were; floor, penalty and clamping pull coefficients towards 0.
    """

    id = ID
    summable = True
    family = Family.MODEL
    version = 3  # steps: a mean of what is left; limits that are bounds
    promises = ("pure_dp", "approximate_dp")
    held_out = True
    published = Reference(
        "Zhang, Zhang, Xiao, Yang, Winslett: Functional mechanism: regression analysis under differential "
        "privacy (2012)",
        "algorithm 1, with exact sensitivities",
        "doi:10.14778/2350229.2350253",
    )
    published_by_fit: ClassVar[Mapping[str, Reference]] = {
        STEPS: Reference(
            "Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar, Zhang: Deep learning with differential "
            "privacy (2016)",
            "algorithm 1, with whole passes and clipped residuals",
            "doi:10.1145/2976749.2978318",
        )
    }

    class Options(ProductSums.Options):
        target: str = option.column(column_kinds=(Kind.INTEGER, Kind.NUMBER), needs_domain=True)
        predictors: option.Names = option.columns(
            minimum=1,
            maximum=200,
            column_kinds=(Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER, Kind.NUMBER),
            needs_domain=True,
        )
        about_rows: int = option.integer(minimum=10, maximum=10**9)
        fit: str = option.choice(STEPS, SUMS, default=STEPS)
        noise: str = NOISE
        penalty: Fraction = option.number(default=0, minimum=0, maximum=10**12)
        absolute: Fraction = option.number(default=0, minimum=0, maximum=1)
        held_out_percent: int = PERCENT

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        target, names = self.options.target, self.options.predictors
        if target in names:
            return [Problem(f"{self.id}.predicts_itself", {"column": target}, "predictors")]
        places = {target: "target"} | dict.fromkeys(names, "predictors")
        for name, parameter in places.items():
            if _needs_bounds(self.schema.column(name), parameter) is None:
                return [Problem(f"{self.id}.no_bounds", {"column": name}, parameter)]
        size = self.design.size
        if size > MOST_COEFFICIENTS:
            values = {"coefficients": size, "most": MOST_COEFFICIENTS}
            return [Problem(f"{self.id}.too_many", values, "predictors")]
        found = budget_problems(self.request, uses_delta=takes_gaussian(self.request))
        if found or not self.takes_steps:
            return found
        if self.options.penalty:
            return [Problem(f"{self.id}.no_penalty", parameter="penalty")]
        return weak_problems(self.plan, method=self.id)

    @property
    def sums(self) -> float:
        return 2 * (2 + len(self.options.predictors))

    @once
    def plan(self) -> DescentPlan:
        """Return the noise of every gradient, and how many there are."""
        return plan_of(self.paid, self.design.widths, is_classes=False)

    @once
    def rows_within(self) -> float:
        """Return what the noise moves the number of rows by at most, in 95 of 100 releases."""
        steps = self.takes_steps
        deviation = self.plan.product_noise if steps else self.spread
        # P(|X| ≤ t) = .95: at 1.96 s of normal noise, at b ln 20 with b = s/√2 of Laplace's.
        return deviation * (NORMAL_WITHIN if required_budget(self.paid).delta else log(20) / sqrt(2))

    @once
    def fit_events(self) -> Event:
        """Return what the fit alone costs."""
        return self.plan.division.events if self.takes_steps else self.mechanism.event

    # --- forecast ----------------------------------------------------------------------------------

    @once
    def forecast(self) -> Forecast:
        target = bounds_of(self.schema.column(self.options.target))
        assert target is not None
        found = [(size, self._foreseen(size)) for size in self.request.sizes]
        errors = [
            Expected(
                Text(f"{WORDS}.numbers.{name}.label"),
                name,
                size,
                NORMAL_MEDIAN * error,
                NORMAL_WITHIN * error,
                self.schema.column(self.options.target).unit,
            )
            for name, of in (("prediction", "prediction"), ("coefficient", "effect"))
            for size, expected in found
            for error in [getattr(expected, of) * target.half]
        ]
        errors += self.score_errors
        headings = (Text(f"{WORDS}.kept.rows"), Text(f"{WORDS}.kept.share"))
        rows = tuple((size, round(100 * expected.kept)) for size, expected in found)
        view = TableView(Text(f"{WORDS}.kept.title"), headings, rows, Text(f"{WORDS}.kept.note"))
        main = errors[len(found) - 1] if found else None
        return Forecast(
            tuple(errors), main, (view,), (*cap_notes(self.request), *noise_notes(self.request, self.sums))
        )

    def judged(self, people: int | None) -> Judged | None:
        if people is None:
            return None
        kept = self._foreseen(people).kept
        values = {"people": people, "kept": floor(100 * kept)}
        return Judged(kept, Text(f"{WORDS}.judged", values))

    def _foreseen(self, rows: int) -> Foreseen:
        """Return what to expect of invented rows; see `engine.methods.models.invented`."""
        design = self.design
        moments, weights = invent_moments(design)
        if self.takes_steps:
            left = SPREAD * sqrt(1 - SHARE)
            off, covariance = foreseen(self.plan, rows * moments, weights, left=left)
        else:
            found = solve(
                rows * moments,
                rows * moments @ weights,
                Monomials(design.widths),
                noise=self.spread,
                **self._penalty,
            )
            found, truth = (
                centre_effects(one, design.starts, design.widths, moments[0])
                for one in (found, replace(found, weights=weights))
            )
            off, covariance = found.weights - truth.weights, found.covariance
        return Foreseen.of(off, covariance, moments, SHARE * SPREAD**2)

    # --- release -----------------------------------------------------------------------------------

    @once
    def needs(self) -> Reads:
        return Reads.ROWS if self.scores or not self.takes_steps else Reads.CODED

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        context.progress.step(0.0, "run.reading")
        if self.takes_steps:
            return self._stepped(tables[MAIN], context)
        exact = self.coefficients(tables[MAIN])
        context.progress.step(0.6, "run.noise")
        noisy = self.mechanism.release(exact, context.noise)
        context.progress.step(0.9, "run.writing")
        return self.released(noisy, context)

    def _stepped(self, table: Table, context: Context) -> Release:
        design, plan = self.design, self.plan
        found = centre_scores(design, table, plan, context)
        target = bounds_of(design.target)
        assert target is not None
        told = {"fit": STEPS, **plan.told(found.parts, target.half)}
        return self._written(found.solution, found.counts, told, context)

    def solution(self, noisy: Integers) -> tuple[Solution, Floats]:
        """Return the model from noisy coefficients, and the noisy number of rows of every coordinate."""
        design = self.design
        gram, cross = self.products(noisy)
        found = solve(gram, cross, Monomials(design.widths), noise=self.spread, **self._penalty)
        return centre_effects(found, design.starts, design.widths, gram[0]), gram[0]

    @once
    def _penalty(self) -> dict[str, float]:
        return {name: float(self.values[name]) for name in ("penalty", "absolute")}

    def released(self, noisy: Integers, context: Context | None = None) -> Release:
        """Make the artefacts from noisy coefficients: nothing after this has seen a row but the score."""
        found, counts = self.solution(noisy)
        mechanism = self.mechanism
        told = {
            "fit": SUMS,
            "eigenvalues_lifted": found.lifted,
            "eigenvalue_floor": found.floor,
            "penalty": str(self.options.penalty),
            "penalty_on_absolute_values": str(self.options.absolute),
            "noise": {
                "distribution": mechanism.event.word,
                "scale": str(mechanism.scale),
                "steps_per_side": self.per_side,
            },
        }
        return self._written(found, counts, told, context)

    def _written(
        self, found: Solution, counts: Floats, told: dict[str, Any], context: Context | None
    ) -> Release:
        rows = round(float(counts[0]))
        privacy = {"privacy": privacy_told(self.paid), "method": {"id": self.id, "version": self.version}}
        model = content(self.design, found, {"rows": rows, **told, **privacy})
        model = self.with_score(model, predict, context)
        shown = list(effects(model, f"{WORDS}.views"))
        within = ceil(self.rows_within)
        numbers: dict[str, float] = {
            "rows": rows,
            "rows_within": within,
            "intercept": float(f"{model['intercept']:.4g}"),
        }
        if "eigenvalues_lifted" in model:
            numbers["lifted"] = found.lifted
        axis = Text(f"{WORDS}.views.axis", {"target": model["target"]["name"]})
        unit = self.schema.column(self.options.target).unit
        views: tuple[View, ...] = (
            effects_picture(shown, f"{WORDS}.views", axis),
            effects_table(shown, f"{WORDS}.views", unit=unit, outside=AT_MOST),
            *number_views(numbers, WORDS),
        )
        return make_artefacts(
            model,
            self.request,
            words=WORDS,
            predict=predict,
            promise=self.cost,
            card=_card(model, self.request),
            views=views,
        )


def _card(model: Mapping[str, Any], request: Request) -> tuple[Text, ...]:
    target = model["target"]
    values = {
        "target": target["name"],
        "minimum": target["minimum"],
        "maximum": target["maximum"],
        "predictors": ", ".join(one["name"] for one in model["predictors"]),
    }
    return (
        Text(f"{WORDS}.card.predicts_{model['fit']}", values),
        Text(f"{WORDS}.card.not_for"),
        privacy_text(request, WORDS),
        Text(f"{WORDS}.card.bands"),
        Text(f"{WORDS}.card.use"),
    )


def _needs_bounds(column: Column, parameter: str) -> object | None:
    """Return what a column gives the model, bounds or levels; None where it lacks what it needs."""
    bounds = bounds_of(column)
    is_range = column.domain is not None and column.domain.minimum is not None
    if bounds is not None or parameter == "target" or is_range:
        return bounds
    return coding.levels(column)
