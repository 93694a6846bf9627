"""A model that adds up one small curve for each predictor, fitted from noisy sums of what is left over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from engine.methods import option
from engine.methods.budget import (
    NOISE,
    budget_problems,
    is_replace_one,
    noise_notes,
    noise_taken,
    takes_gaussian,
)
from engine.methods.filling import USELESS, Judged, judged_by_need
from engine.methods.models.additive_pairs import (
    PAIRS,
    Pair,
    names_of,
    pair_problems,
    pair_scores,
    pair_views,
    pairs_of,
    written_pairs,
)
from engine.methods.models.additive_rounds import fit_sums
from engine.methods.models.additive_schedule import RESIDUAL_STEPS, TOGETHER_SHARE, Schedule
from engine.methods.models.additive_steps import WITHOUT_NOISE, Fitted, Floats, fit, foreseen_skill
from engine.methods.models.additive_sums import COUNTS as ROWS
from engine.methods.models.additive_sums import LEFT, TABLES, SumsPlan
from engine.methods.models.additive_sums import MOST_CELLS as MOST_TOGETHER
from engine.methods.models.additive_sums import SUMS as BY_CELL
from engine.methods.models.held_out import PERCENT, ScoredModel, fit_budget
from engine.methods.models.leaving import make_artefacts, number_views, privacy_text
from engine.methods.models.limits import FULL, LEVEL, SPREAD, WIDEST, limit_told
from engine.methods.models.linear_model import Effect, effects_picture, effects_table, from_scores
from engine.methods.models.monotone import FALLING, RISING, monotone, monotone_problems
from engine.methods.models.product_sums import STEPS, SUMS
from engine.methods.models.residuals import WHOLE
from engine.methods.models.targets import CLASSES, Target, privacy_told, target_problems
from engine.methods.models.written_cells import cell_labels, read_cells, written_cells
from engine.methods.parameters import Problem
from engine.methods.protocol import LOG_ODDS, MAIN, Context, Expected, Family, Forecast, Reference, Release
from engine.methods.shared.cell_search import CELLS, SEARCH, Grids, search_cells, search_notes, searched
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
from engine.methods.shared.promise import cap_notes
from engine.methods.shared.view import view_of
from engine.once import once
from engine.privacy.accuracy import NORMAL_MEDIAN, NORMAL_WITHIN
from engine.privacy.events import Event
from engine.table.schema import Kind
from engine.views import Text, View

if TYPE_CHECKING:
    from engine.table.table import Table

ID = "models.additive"
WORDS = f"methods.{ID}"
MOST_CELLS = 1_000

LEAST_SKILL = 0.55
"""Of pairs of rows that are told apart, below which a model of classes is refused: chance tells a half."""


class Additive(ScoredModel):
    """Cyclic private additive model: for a number, or for one of two classes.

    Notes
    -----
    Whole histograms of clipped residuals get noise, one predictor after the other, a few rounds; each moves a
    smoothed curve. What a row adds to a histogram is a whole number that depends on the row and on published
    curves alone. H. Nori and others, "Accuracy, interpretability, and differential privacy via explainable
    boosting", ICML 2021, with declared bins, whole-histogram steps and clipping: at half of a probability, of
    a number at a limit that a small part of the budget buys, see `engine.methods.models.limits`.

    Clipping moves effects towards 0, and what scores say of a share in a known way, which probabilities undo:
    `additive_model.unclipped`. Effects are for prediction, not for saying what causes what. Of a column that
    is declared to raise or to lower the prediction, the nearest such curve is taken, after the noise. What
    two predictors do together is in it for pairs that were declared: one more place in the rounds each, for
    the cells of both, coarsened.

    Sums: all that is asked is asked in two rounds, three where cells are searched, so that several sites can
    add it up; see `engine.methods.models.additive_rounds`. Residuals are weighted there instead of clipped.
    """

    id = ID
    summable = True
    family = Family.MODEL
    usual = True
    version = 5  # where the noise hides which columns go together, limits reckon with most that may
    promises = ("pure_dp", "approximate_dp")
    held_out = True
    published = Reference(
        "Nori, Caruana, Bu, Shen, Kulkarni: Accuracy, interpretability, and differential privacy via "
        "explainable boosting (2021)",
        "algorithm 2, with whole histograms and declared bins",
        "arXiv:2106.09680",
    )
    published_by_fit: ClassVar[Mapping[str, Reference]] = {
        SUMS: Reference(
            "Nori, Caruana, Bu, Shen, Kulkarni: Accuracy, interpretability, and differential privacy via "
            "explainable boosting (2021)",
            "the model alone; it was fitted from few sums with noise, which is not published",
            "arXiv:2106.09680",
        )
    }

    class Options(ScoredModel.Options):
        target: str = option.column(
            column_kinds=(Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER, Kind.NUMBER), needs_domain=True
        )
        predictors: option.Names = option.columns(
            minimum=1, maximum=200, column_kinds=CELL_KINDS, needs_domain=True
        )
        about_rows: int = option.integer(minimum=10, maximum=10**9)
        fit: str = option.choice(STEPS, SUMS, default=STEPS)
        noise: str = NOISE
        bins: int = BINS
        cells: str = CELLS
        edges: Mapping[str, option.Edges] = OWN_EDGES
        rising: option.Names = RISING
        falling: option.Names = FALLING
        pairs: option.Records = PAIRS
        held_out_percent: int = PERCENT

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        found = target_problems(self.request, method=ID)
        if found:
            return found
        names = self.options.predictors
        columns = [self.schema.column(name) for name in names]
        found = level_problems([one for one in columns if is_listed(one)], parameter="predictors")
        found += edge_problems(self.request, columns, method=ID, parameter="predictors")
        for cells in () if found else self.cells:
            if cells.size > MOST_CELLS:
                values = {"column": cells.column.name, "cells": cells.size, "most": MOST_CELLS}
                found.append(Problem(f"{ID}.too_many_cells", values, "predictors"))
        found += [] if found else monotone_problems(self.request, self.cells, method=ID)
        found += [] if found else pair_problems(self.request, self.cells, method=ID)
        found += budget_problems(self.request, uses_delta=takes_gaussian(self.request))
        found += [] if found or not self.plan else self._sums_problems(self.plan)
        if found or not self._says_nothing:
            return found
        return [Problem(f"{ID}.nothing_left", {"rows": round(self.schedule.needed_rows)}, "budget")]

    @property
    def _says_nothing(self) -> bool:
        """Whether the release would be noise. Weak curves of classes still rank: only chance is refused.

        Of a number the mean is fitted then, but where the sums of curves are all that is asked for.
        """
        if self.target.is_classes:
            return self.skill < LEAST_SKILL
        return self.plan is not None and self.plan.is_hopeless

    def _sums_problems(self, plan: SumsPlan) -> list[Problem]:
        """Say what stands against a fit from few sums."""
        if self.options.pairs:
            return [Problem(f"{ID}.pairs_in_steps", parameter="pairs")]
        if sum(plan.sizes) > MOST_TOGETHER:
            values = {"cells": sum(plan.sizes), "most": MOST_TOGETHER}
            return [Problem(f"{ID}.too_many_together", values, "predictors")]
        if plan.pairs and not plan.groups:
            return [Problem(f"{ID}.not_told_together", {"columns": len(plan.sizes)}, "fit")]
        return []

    @once
    def skill(self) -> float:
        """Return how many pairs of rows of either class are foreseen to be told apart, of 1."""
        return foreseen_skill(
            self.plan or self.schedule,
            [cells.ordered for cells in self.cells],
            [pair.grid for pair in self.pairs],
        )

    @once
    def taken(self) -> Mapping[str, Any]:
        return {**bins_taken(self.cells), **noise_taken(self.request, self.sums)}

    @property
    def sums(self) -> float:
        return 4 * (len(self.options.predictors) + len(self.options.pairs))

    @once
    def cells(self) -> tuple[ColumnCells, ...]:
        """Return the cells of every predictor: from declarations alone."""
        return columns_as_cells(self.request, self.options.predictors)

    @once
    def pairs(self) -> tuple[Pair, ...]:
        """Return the pairs of predictors that were named."""
        return pairs_of(self.request, self.cells)

    @once
    def plan(self) -> SumsPlan | None:
        """Return the noise of every sum where few are asked for; None where the curves are moved in steps."""
        if self.options.fit == STEPS:
            return None
        budget = fit_budget(self.paid)
        found = SumsPlan(
            _sizes(self.cells, ()),
            budget.epsilon,
            budget.delta,
            self.request.rows_per_person,
            is_replace_one(self.request),
            self.options.about_rows,
            self.target.is_classes,
        )
        grids = searched(self.request, self.cells, budget=budget, rows=self.options.about_rows)
        return replace(found, searched=len(grids))

    @once
    def schedule(self) -> Schedule:
        """Return the noise of every sum, and how many there are, where the curves are moved in steps."""
        plan = self._unsearched
        return replace(plan, searched=len(self.grids), mean_alone=plan.is_hopeless).borne_out()

    @once
    def _unsearched(self) -> Schedule:
        budget = fit_budget(self.paid)
        return Schedule(
            _sizes(self.cells, self.pairs),
            budget.epsilon,
            budget.delta,
            self.request.rows_per_person,
            is_replace_one(self.request),
            self.options.about_rows,
            self.target.is_classes,
            pairs=len(self.pairs),
        )

    @once
    def grids(self) -> Grids:
        """Return the fine grids of the predictors whose cells are searched."""
        budget, rows = fit_budget(self.paid), self.options.about_rows
        if self.plan is None and self._unsearched.is_hopeless:
            return {}
        return searched(self.request, self.cells, budget=budget, rows=rows)

    @once
    def fit_events(self) -> Event:
        return self.plan.division.events if self.plan else self.schedule.events

    @property
    def asks_once(self) -> bool:
        """What is asked last hangs on the curves before."""
        return False

    @property
    def rounds(self) -> tuple[Event, ...]:
        """The rounds of a fit from few sums; a score is one site's."""
        if self.plan is None or self.plan.is_gaussian or self.scores:
            return ()
        return self.plan.rounds

    # --- forecast ----------------------------------------------------------------------------------

    @once
    def forecast(self) -> Forecast:
        schedule = self.plan or self.schedule
        unit = self.target.unit
        needed = schedule.rows_at(schedule.expected_parts)
        errors = []
        for size in self.request.sizes:
            spread = schedule.foreseen(size)
            median, limit = NORMAL_MEDIAN * spread * unit, NORMAL_WITHIN * spread * unit
            label = Text(f"{WORDS}.numbers.effect.label", {"target": self.target.column.name})
            errors.append(Expected(label, "cell", size, median, limit, self.unit_of))
        errors += self.score_errors
        if isinstance(schedule, SumsPlan):
            moved = {"rows": round(needed), "rounds": len(schedule.rounds)}
            notes = [Text(f"{WORDS}.notes.few_sums", moved)]
        else:
            moved = {"rows": round(needed), "rounds": schedule.rounds}
            word = "mean_alone" if schedule.mean_alone else "needed"
            notes = [Text(f"{WORDS}.notes.{word}", moved)]
        if isinstance(schedule, Schedule) and schedule.compared:
            notes.append(Text(f"{WORDS}.notes.together", {"percent": round(100 * TOGETHER_SHARE)}))
        if pairs := self.pairs:
            alone = self.but(values={**self.values, PAIRS.name: ()}).schedule
            told = {
                "pairs": names_of(pair.names for pair in pairs),
                "without": round(alone.rows_at(alone.expected_parts)),
            }
            notes.append(Text(f"{WORDS}.notes.pairs", told))
        return Forecast(
            tuple(errors),
            notes=(
                *cap_notes(self.request),
                *noise_notes(self.request, self.sums),
                *search_notes(self.grids),
                *notes,
            ),
        )

    def judged(self, people: int | None) -> Judged:
        schedule, rows = self.plan or self.schedule, self.options.about_rows
        if schedule.mean_alone:
            return Judged(0.0, Text(f"{WORDS}.judged.mean_alone"))
        if self.target.is_classes:
            share = max(0.0, (self.skill - 0.5) / (WITHOUT_NOISE - 0.5))
            told = {"percent": round(100 * self.skill), "without": round(100 * WITHOUT_NOISE)}
            return Judged(share, Text(f"{WORDS}.judged.{'pairs' if share >= USELESS else 'few_pairs'}", told))
        return judged_by_need(
            schedule.rows_at(schedule.expected_parts), schedule.sizes, rows, f"{WORDS}.judged"
        )

    # --- release -----------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        context.progress.step(0.0, "run.reading")
        view = view_of(tables[MAIN])
        predictors = search_cells(
            view,
            self.cells,
            self.grids,
            self.plan.division if self.plan else self.schedule.search,
            context.noise,
            rows=self.options.about_rows,
            bins=self.options.bins,
        )
        pairs = () if self.plan else pairs_of(self.request, predictors)
        sizes = _sizes(predictors, pairs)
        described = self.target
        target = view.coded(described.column.name, np.int32, described.steps)
        known = target >= -RESIDUAL_STEPS
        codes = [
            *(view.codes([cells])[0][known] for cells in predictors),
            *(pair.codes(view.rows())[known] for pair in pairs),
        ]
        ordered, progress = [cells.ordered for cells in predictors], context.progress.part(0.1, 0.9)
        if self.plan:
            plan = replace(self.plan, sizes=sizes)
            fitted = fit_sums(
                codes, target[known], plan, ordered=ordered, noise=context.noise, progress=progress
            )
            told = self._told_sums(plan, fitted)
        else:
            schedule = replace(self.schedule, sizes=sizes)
            fitted = fit(
                codes,
                target[known],
                schedule,
                ordered=ordered,
                grids=[pair.grid for pair in pairs],
                noise=context.noise,
                progress=progress,
            )
            told = self._told(schedule, fitted)
        model = content(
            monotone(fitted, predictors, self.request),
            predictors,
            described.described,
            unit=described.unit,
            middle=described.middle,
            further=told,
            pairs=pairs,
        )
        return self._released(self.with_score(model, predict, context))

    @once
    def target(self) -> Target:
        """Return what is predicted."""
        return Target(self.schema.column(self.options.target))

    @once
    def unit_of(self) -> str:
        """Return what effects are in: the declared unit of the target, or log-odds for two classes."""
        return LOG_ODDS if self.target.is_classes else self.target.column.unit

    def _told(self, schedule: Schedule, fitted: Fitted) -> dict[str, Any]:
        noise = {
            "distribution": "discrete_gaussian" if schedule.is_gaussian else "discrete_laplace",
            "scale_of_sums": str(schedule.sum_scale / RESIDUAL_STEPS * WHOLE / fitted.parts),
            "scale_of_counts": str(schedule.count_scale),
        }
        if schedule.compared:
            noise["scale_of_together"] = str(schedule.together_scale)
        if schedule.searched:
            noise["scale_of_cells"] = str(schedule.search.scale(SEARCH))
        limit: dict[str, Any] = {"clipping": str(WIDEST)}
        if not self.target.is_classes:
            noise["scale_of_level"] = str(schedule.level_scale / RESIDUAL_STEPS)
        if schedule.mean_alone:
            limit |= {"mean_alone": True}
            del noise["scale_of_sums"]
        if schedule.bought is not None:
            noise["scale_of_spread"] = str(schedule.spread_scale / FULL * WIDEST**2)
            limit = limit_told(fitted.parts, schedule.bought, self.target.unit)
        return {
            "rounds": 0 if schedule.mean_alone else schedule.rounds,
            **limit,
            "needed_rows": round(schedule.rows_at(fitted.parts)),
            "noise": noise,
            **{one.name: one_way for one in (RISING, FALLING) if (one_way := list(self.values[one.name]))},
            "privacy": privacy_told(self.paid),
            "method": {"id": self.id, "version": self.version},
        }

    def _told_sums(self, plan: SumsPlan, fitted: Fitted) -> dict[str, Any]:
        division = plan.division
        noise = {
            "distribution": "discrete_gaussian" if plan.is_gaussian else "discrete_laplace",
            "scale_of_sums": str(division.scale(BY_CELL) / RESIDUAL_STEPS),
            "scale_of_left": str(division.scale(LEFT) / RESIDUAL_STEPS * WHOLE / fitted.parts),
            "scale_of_counts": str(division.scale(ROWS)),
        }
        noise |= {"scale_of_together": str(division.scale(TABLES))} if plan.groups else {}
        noise |= {"scale_of_cells": str(division.scale(SEARCH))} if plan.searched else {}
        limit: dict[str, Any] = {"clipping": "1"}
        if not plan.is_classes:
            noise["scale_of_level"] = str(division.scale(LEVEL) / RESIDUAL_STEPS)
            noise["scale_of_spread"] = str(division.scale(SPREAD) / RESIDUAL_STEPS)
            limit = limit_told(fitted.parts, len(plan.rounds) - 1, self.target.unit)
        return {
            "fit": SUMS,
            "rounds": len(plan.rounds),
            **limit,
            "needed_rows": round(plan.rows_at(fitted.parts)),
            "noise": noise,
            **{one.name: one_way for one in (RISING, FALLING) if (one_way := list(self.values[one.name]))},
            "privacy": privacy_told(self.paid),
            "method": {"id": self.id, "version": self.version},
        }

    def _released(self, model: dict[str, Any]) -> Release:
        """Make the artefacts from the model: nothing after this line has seen a row."""
        shown = list(effects(model, f"{WORDS}.views"))
        axis = Text(f"{WORDS}.views.axis_{model['target']['kind']}", {"target": model["target"]["name"]})
        if unit := self.unit_of:
            axis = Text("models.effects.in_unit", {"heading": axis, "unit": unit})
        told = {
            "needed_rows": model["needed_rows"],
            "rows": max((sum(one["rows"]) for one in model["predictors"]), default=0),
        }
        note = "note_sums" if model.get("fit") == SUMS else "note"
        views: tuple[View, ...] = (
            effects_picture(shown, f"{WORDS}.views", axis),
            effects_table(shown, f"{WORDS}.views", unit=self.unit_of, note=note),
            *pair_views(model, f"{WORDS}.views"),
            *number_views(told, WORDS),
        )
        card = (
            *_card(model),
            privacy_text(self.paid, WORDS),
            Text(f"{WORDS}.card.use_{model['target']['kind']}"),
        )
        return make_artefacts(
            model, self.request, words=WORDS, predict=predict, promise=self.cost, card=card, views=views
        )


def _sizes(predictors: Sequence[ColumnCells], pairs: Sequence[Pair]) -> tuple[int, ...]:
    return (*(cells.size for cells in predictors), *(pair.grid.size for pair in pairs))


def _card(model: Mapping[str, Any]) -> tuple[Text, ...]:
    target = model["target"]
    if target["kind"] == CLASSES:
        predicts = Text(
            f"{WORDS}.card.predicts_classes",
            {"target": target["name"], "first": target["values"][0], "second": target["values"][1]},
        )
    else:
        values = {"target": target["name"], "minimum": target["minimum"], "maximum": target["maximum"]}
        predicts = Text(f"{WORDS}.card.predicts_number", values)
    if "mean_alone" in model:
        return (predicts, Text(f"{WORDS}.card.mean_alone"))
    return (predicts, *_declare(model), Text(f"{WORDS}.card.not_for", {"rows": model["needed_rows"]}))


def _declare(model: Mapping[str, Any]) -> Iterator[Text]:
    """Yield what the plan said of the curves and pairs of a model."""
    for way in (RISING.name, FALLING.name):
        if way in model:
            yield Text(f"{WORDS}.card.one_way_{way}", {"columns": ", ".join(model[way])})
    if "pairs" in model:
        yield Text(f"{WORDS}.card.pairs", {"pairs": names_of(one["predictors"] for one in model["pairs"])})


# --- the model: what is written, and what predicts -------------------------------------------------------


FORMAT = "custos.additive_model"


def content(
    fitted: Fitted,
    predictors: Sequence[ColumnCells],
    target: Mapping[str, Any],
    *,
    unit: float,
    middle: float,
    further: Mapping[str, Any],
    pairs: Sequence[Pair] = (),
) -> dict[str, Any]:
    """Return a model as JSON values: everything that predicts.

    Parameters
    ----------
    fitted
        Intercept and curves.
    predictors
        What the cells of the curves are.
    target
        Name, kind, and its two values or its bounds.
    unit, middle
        What one stands for, and what 0 stands for, in the units of the target; 1 and 0 for classes.
    further
        What else is told: the noise, the privacy level.
    pairs
        Those of predictors that have a table of points.

    Notes
    -----
    score = intercept + Σ effect of the cell of each predictor + Σ effect of the groups of each pair. A number
    is the score, kept within its bounds; what the probability of the second class is `probabilities` says.
    """
    told = []
    for cells, curve in zip(predictors, fitted.curves, strict=True):
        one = written_cells(cells)
        one["effects"] = [float(value) for value in curve.effects * unit]
        one["within_95"] = [float(value) for value in NORMAL_WITHIN * curve.spread * unit]
        one["rows"] = [round(float(value)) for value in curve.rows]
        told.append(one)
    intercept = middle + fitted.intercept * unit
    return {
        "format": FORMAT,
        "version": 1,
        "target": dict(target),
        "intercept": float(intercept),
        "predictors": told,
        **written_pairs(pairs, fitted.pairs, unit=unit),
        **further,
    }


def scores(model: Mapping[str, Any], frame: pd.DataFrame) -> Floats:
    """Return intercept and effects added up for rows, shape (n,)."""
    found = float(model["intercept"]) + pair_scores(model, frame)
    for predictor in model["predictors"]:
        cells = read_cells(predictor)
        found += np.asarray(predictor["effects"], dtype=np.float64)[cells.codes(frame[predictor["name"]])]
    return found


def predict(model: Mapping[str, Any], frame: pd.DataFrame) -> np.ndarray:
    """Return what a model written by `content` predicts for rows, shape (n,): numbers, or classes as text.

    Notes
    -----
    Every row gets an answer, whatever it holds. Of classes it is the one whose probability is above one half.
    """
    return from_scores(model["target"], scores(model, frame))


def probabilities(model: Mapping[str, Any], frame: pd.DataFrame) -> Floats:
    """Return the probability of the second class of a model of classes for rows, shape (n,).

    Examples
    --------
    >>> model = {"intercept": -2.0, "predictors": [], "clipping": "1/2"}
    >>> float(probabilities(model, pd.DataFrame(index=range(1)))[0].round(4))
    0.1925
    """
    return unclip_shares(1 / (1 + np.exp(-scores(model, frame))), float(Fraction(model["clipping"])))


def unclip_shares(fitted: Floats, clipping: float) -> Floats:
    """Return the shares of the second class that lead a fit with clipped residuals to 1/(1 + e^-score).

    Parameters
    ----------
    fitted
        1/(1 + e^-score), shape (n,).
    clipping
        Residuals were clipped to ± this, from ½ to 1.

    Notes
    -----
    Where a share q of rows is of the second class, the fit comes to rest at the p at which clipped residuals
    cancel: q min(1 − p, c) = (1 − q) min(p, c). For p below 1 − c that is q = p / (c + p), above c the same
    of the other class, and between them q = p. (By hand; for c = ½: q = 2p / (1 + 2p).)
    """
    rare = np.minimum(fitted, 1 - fitted)
    true = np.where(rare < 1 - clipping, rare / (clipping + rare), rare)
    return np.asarray(np.where(fitted > 0.5, 1 - true, true), dtype=np.float64)


def effects(model: Mapping[str, Any], words: str) -> Iterator[Effect]:
    """Yield what every cell of a model adds, in the order of the predictors."""
    margin = rows_margin(model)
    for predictor in model["predictors"]:
        name = str(predictor["name"])
        parts = (predictor["effects"], predictor["within_95"], predictor["rows"])
        for label, effect, within, rows in zip(cell_labels(predictor, words), *parts, strict=True):
            yield Effect(name, label, effect, within, is_empty=rows <= margin)


def rows_margin(model: Mapping[str, Any]) -> float:
    """Return what 95 of 100 noisy numbers of rows stay within of the exact ones.

    Examples
    --------
    >>> round(rows_margin({"noise": {"distribution": "discrete_laplace", "scale_of_counts": "10"}}), 1)
    30.0
    """
    noise = model["noise"]
    deviations = NORMAL_WITHIN if noise["distribution"] == "discrete_gaussian" else log(20)
    return deviations * float(Fraction(noise["scale_of_counts"]))
