"""A model of which of two values a column has, by adding up coefficients, from noisy gradients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import floor
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from engine.methods import option
from engine.methods.budget import NOISE, budget_problems, noise_notes, takes_gaussian
from engine.methods.filling import Judged
from engine.methods.models.descent import DescentPlan, centre_scores, foreseen, plan_of, weak_problems
from engine.methods.models.design import bounds_of
from engine.methods.models.held_out import PERCENT
from engine.methods.models.invented import Foreseen, invent_moments
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
from engine.methods.models.quadratic import centre_effects, discriminant, discriminant_products
from engine.methods.models.targets import privacy_told, target_problems
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    LOG_ODDS,
    MAIN,
    Context,
    Expected,
    Family,
    Forecast,
    Reads,
    Reference,
    Release,
)
from engine.methods.shared.cells import level_problems
from engine.methods.shared.promise import cap_notes
from engine.once import once
from engine.privacy.accuracy import NORMAL_MEDIAN, NORMAL_WITHIN
from engine.privacy.events import Event
from engine.table.schema import Kind
from engine.views import TableView, Text, View

if TYPE_CHECKING:
    from engine.table.table import Table

ID = "models.logistic"
WORDS = f"methods.{ID}"
MOST_COEFFICIENTS = 500
INVENTED_SPREAD = 1.0
"""Standard deviation of invented scores, in log-odds."""


class Logistic(ProductSums):
    """Logistic regression from noisy gradients with weighted residuals.

    Notes
    -----
    See `engine.methods.models.descent`. What a row adds is a whole number: scores are sums of whole numbers
    and the logistic function is a table. Output and objective perturbation (Chaudhuri, Monteleoni and Sarwate
    2011) need the exact least of a loss, which no computer finds; they are not offered.

    Rows that the model is sure of count less than others, down to half as much, so that none reaches further
    than one half: at the true probabilities that adds up to 0 on average, which clipping does not. Steps are
    longer along directions in which rows differ little (`descent.Slopes`). Few steps still leave
    coefficients nearer to 0: they are for prediction, not for odds ratios of a study.

    Sums: products of all coordinates and the class, asked for once, and what they say of two normal
    distributions with one covariance; see `engine.methods.models.quadratic.discriminant`. One round serves
    several sites; the steps explain more where predictors are far from normal.
    """

    id = ID
    summable = True
    family = Family.MODEL
    version = 3  # limits that count what the noise makes of the lengths of steps
    promises = ("pure_dp", "approximate_dp")
    held_out = True
    published = Reference(
        "Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar, Zhang: Deep learning with differential privacy "
        "(2016)",
        "algorithm 1, with whole passes and weighted residuals",
        "doi:10.1145/2976749.2978318",
    )
    published_by_fit: ClassVar[Mapping[str, Reference]] = {
        SUMS: Reference(
            "Efron: The efficiency of logistic regression compared to normal discriminant analysis (1975)",
            "the discriminant, from sums with noise",
            "Journal of the American Statistical Association 70",
        )
    }

    class Options(ProductSums.Options):
        target: str = option.column(column_kinds=(Kind.CATEGORY, Kind.ORDINAL), needs_domain=True)
        predictors: option.Names = option.columns(
            minimum=1,
            maximum=200,
            column_kinds=(Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER, Kind.NUMBER),
            needs_domain=True,
        )
        about_rows: int = option.integer(minimum=10, maximum=10**9)
        fit: str = option.choice(STEPS, SUMS, default=STEPS)
        noise: str = NOISE
        held_out_percent: int = PERCENT

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        found = target_problems(self.request, method=ID)
        columns = [self.schema.column(name) for name in self.options.predictors]
        listed = [column for column in columns if bounds_of(column) is None]
        found = found or level_problems(listed, parameter="predictors")
        if found:
            return found
        if self.design.size > MOST_COEFFICIENTS:
            values = {"coefficients": self.design.size, "most": MOST_COEFFICIENTS}
            return [Problem(f"{ID}.too_many", values, "predictors")]
        found = budget_problems(self.request, uses_delta=takes_gaussian(self.request))
        return found or (weak_problems(self.plan, method=ID) if self.takes_steps else [])

    @property
    def sums(self) -> float:
        return 2 * (2 + len(self.options.predictors))

    @once
    def plan(self) -> DescentPlan:
        """Return the noise of every gradient, and how many there are."""
        return plan_of(self.paid, self.design.widths, is_classes=True)

    @once
    def fit_events(self) -> Event:
        return self.plan.division.events if self.takes_steps else self.mechanism.event

    # --- forecast ----------------------------------------------------------------------------------

    @once
    def forecast(self) -> Forecast:
        found = [(size, self._foreseen(size)) for size in self.request.sizes]
        # A probability moves by at most a quarter of what its log-odds move by.
        errors = [
            Expected(
                Text(f"{WORDS}.numbers.{name}.label"),
                told,
                size,
                NORMAL_MEDIAN * error,
                NORMAL_WITHIN * error,
            )
            for name, told, of, per in (
                ("probability", "prediction", "prediction", 0.25),
                ("coefficient", "coefficient", "effect", 1.0),
            )
            for size, expected in found
            for error in [getattr(expected, of) * per]
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
        return Judged(kept, Text(f"{WORDS}.judged", {"people": people, "kept": floor(100 * kept)}))

    def _foreseen(self, rows: int) -> Foreseen:
        """Return, in log-odds, what to expect of invented rows; see `engine.methods.models.invented`."""
        design = self.design
        moments, weights = invent_moments(design, spread=INVENTED_SPREAD, share=1.0)
        if self.takes_steps:
            off, covariance = foreseen(self.plan, rows * moments, weights)
        else:
            weights = weights - np.eye(design.size)[0] * (moments[0] @ weights)  # both values equally often
            cross = rows * discriminant_products(moments, weights)
            found = discriminant(rows * moments, cross, Monomials(design.widths), noise=self.spread)
            found, truth = (
                centre_effects(one, design.starts, design.widths, moments[0])
                for one in (found, replace(found, weights=weights))
            )
            off, covariance = found.weights - truth.weights, found.covariance
        return Foreseen.of(off, covariance, moments, INVENTED_SPREAD**2)

    # --- release -----------------------------------------------------------------------------------

    @once
    def needs(self) -> Reads:
        return Reads.ROWS if self.scores or not self.takes_steps else Reads.CODED

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        context.progress.step(0.0, "run.reading")
        design = self.design
        if self.takes_steps:
            fitted = centre_scores(design, tables[MAIN], self.plan, context)
            found, counts, fit = fitted.solution, fitted.counts, self.plan.told()
        else:
            exact = self.coefficients(tables[MAIN])
            context.progress.step(0.6, "run.noise")
            noisy = self.mechanism.release(exact, context.noise)
            context.progress.step(0.9, "run.writing")
            gram, cross = self.products(noisy)
            solved = discriminant(gram, cross, Monomials(design.widths), noise=self.spread)
            found, counts = centre_effects(solved, design.starts, design.widths, gram[0]), gram[0]
            fit = {"fit": SUMS, "eigenvalues_lifted": found.lifted, "eigenvalue_floor": found.floor}
        told = {
            "rows": round(float(counts[0])),
            **fit,
            "privacy": privacy_told(self.paid),
            "method": {"id": self.id, "version": self.version},
        }
        model = content(design, found, told)
        return self._released(self.with_score(model, predict, context))

    def _released(self, model: dict[str, Any]) -> Release:
        """Make the artefacts from the model: nothing after this line has seen a row."""
        shown, target = list(effects(model, f"{WORDS}.views")), model["target"]
        numbers = {"rows": model["rows"], "intercept": float(f"{model['intercept']:.4g}")}
        views: tuple[View, ...] = (
            effects_picture(
                shown, f"{WORDS}.views", Text(f"{WORDS}.views.axis", {"second": target["values"][1]})
            ),
            effects_table(shown, f"{WORDS}.views", unit=LOG_ODDS, outside=AT_MOST),
            *number_views(numbers, WORDS),
        )
        named = {"target": target["name"], "first": target["values"][0], "second": target["values"][1]}
        card = (
            Text(f"{WORDS}.card.predicts{'_sums' if model.get('fit') == SUMS else ''}", named),
            Text(f"{WORDS}.card.not_for"),
            privacy_text(self.paid, WORDS),
            Text(f"{WORDS}.card.bands"),
            Text(f"{WORDS}.card.use"),
        )
        return make_artefacts(
            model, self.request, words=WORDS, predict=predict, promise=self.cost, card=card, views=views
        )
