"""Private regressions side by side: how far off each predicts at which ε, before one is taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import arrays
from engine.analyses import logistic_rivals
from engine.analyses import regression_rivals as rivals
from engine.analyses.drawn import POPULATION
from engine.analyses.protocol import PEOPLE, Analysis, Answer, Context, InternalAnswer
from engine.analyses.shared import INTEGER, NUMBER, line
from engine.errors import InputRefused
from engine.methods.models.descent import DescentPlan, fit
from engine.methods.models.design import Bounds, bounds_of
from engine.methods.models.invented import SPREAD
from engine.methods.models.points import PER_SIDE, Points
from engine.methods.models.residuals import RESIDUAL_STEPS
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN, Reference
from engine.privacy.at_risk.inputs import share
from engine.privacy.noise import Noise
from engine.risk.population_source import PopulationSource
from engine.table import coding
from engine.table.schema import Column, Kind
from engine.views import Cell, CurveView, TableView, Text, View

if TYPE_CHECKING:
    import pandas as pd

    from engine.table.table import Table

Floats = arrays.Floats
NUMBERS = (Kind.INTEGER, Kind.NUMBER)
LEVELS = (0.1, 0.4, 0.8, 1.6, 3.2)
EXPLAINED = {"weak": 0.1, "medium": 0.3, "strong": 0.6}
LOW, MEDIAN, HIGH = 20, 50, 80
SIMULATED = PopulationSource.SIMULATED
MOST_PREDICTORS = 10
"""A histogram of more columns has too many cells."""

WITH_DELTA = ("steps", "gaussian", "adaptive")
OPEN = ("plain", "guess", "mean")
"""Without noise: shown beside the others."""
IDEALISED = ("functional_trimmed", "functional_as_printed", "adaptive", "objective", "output", "histogram")


class Regressions(Analysis):
    """The ways of this program and their rivals, on invented rows unless own rows are asked for.

    Notes
    -----
    Every run draws the rows anew, fits each way to four fifths of them and predicts the rest: of a response
    of two classes the share of wrong answers counts, of a number the root mean square error. Steps are the
    release's own; sums have the noise of the release, drawn as ordinary numbers; rivals are idealised, which
    can only flatter them. It says nothing of how well any of them protects: that is their ε.
    """

    id = "regressions"
    published = Reference(
        "J. Zhang et al., Functional mechanism: regression analysis under differential privacy (2012)",
        "section 7: error against ε, with the rivals of that time and later ones",
        "doi:10.14778/2350229.2350253",
    )
    sources = (PEOPLE,)
    parameters = (
        Parameter(
            "response",
            ParameterKind.COLUMN,
            column_kinds=(*NUMBERS, Kind.CATEGORY, Kind.ORDINAL),
            needs_domain=True,
        ),
        Parameter(
            "predictors",
            ParameterKind.COLUMNS,
            column_kinds=NUMBERS,
            needs_domain=True,
            minimum=1,
            maximum=MOST_PREDICTORS,
        ),
        Parameter(
            "population",
            ParameterKind.CHOICE,
            default=SIMULATED.value,
            choices=(SIMULATED.value, *POPULATION.choices[:2]),
        ),
        Parameter(
            "effect",
            ParameterKind.CHOICE,
            default="medium",
            choices=tuple(EXPLAINED),
            when=("population", (SIMULATED.value,)),
        ),
        Parameter("records", INTEGER, default=5000, minimum=50, maximum=50_000),
        Parameter("delta", NUMBER, default="0.000001"),
        Parameter("runs", INTEGER, default=10, minimum=3, maximum=100),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        source = PopulationSource(values["population"])
        rows = None if source is SIMULATED else self._rows(values, tables, context)
        response = context.schemas[MAIN].column(values["response"])
        is_classes = _is_classes(response)
        found = self._errors(values, rows, context, is_classes=is_classes)
        unit = 100.0 if is_classes else _bounds(response).half
        bands = {
            name: np.percentile(unit * one, [LOW, MEDIAN, HIGH], axis=0).T.tolist()
            for name, one in found.items()
        }
        inside = source.origin.internal
        figures = {
            "audience": "internal" if inside else "public",
            "population": source.value,
            "response": "classes" if is_classes else "number",
            "rows": values["records"] if rows is None else min(values["records"], len(rows)),
            "epsilon": list(LEVELS),
            "bands": bands,
        }
        views = self._views(figures, values["runs"], inside=inside)
        return InternalAnswer(views, figures) if inside else Answer(views, figures)

    # --- rows ----------------------------------------------------------------------------------------

    def _rows(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Floats:
        """Return the rows of a table between −1 and 1, the response last, without those with a gap."""
        if MAIN not in tables:
            raise InputRefused("queries.no_table", found=values["population"])
        schema, frame = context.schemas[MAIN], tables[MAIN].rows()
        names = (*values["predictors"], values["response"])
        found = np.stack([_scale(schema.column(name), frame[name]) for name in names], axis=1)
        found = found[~np.isnan(found).any(axis=1)]
        if len(found) < 50:
            raise InputRefused("queries.no_rows")
        return found

    def _drawn(
        self, values: Mapping[str, Any], rows: Floats | None, chance: np.random.Generator, *, is_classes: bool
    ) -> Floats:
        """Return as many rows as were asked for: of the table, or invented ones; of classes −1 or 1."""
        if rows is not None:
            return rows[chance.permutation(len(rows))[: values["records"]]]
        columns, explained = len(values["predictors"]), EXPLAINED[values["effect"]]
        inputs = chance.normal(scale=SPREAD, size=(values["records"], columns))
        truth = inputs.sum(axis=1) * np.sqrt(explained / columns)
        rest = chance.normal(scale=SPREAD * np.sqrt(1 - explained), size=len(inputs))
        target = np.where(truth + rest > 0, 1.0, -1.0) if is_classes else truth + rest
        return np.clip(np.c_[inputs, target], -1, 1)

    # --- errors --------------------------------------------------------------------------------------

    def _errors(
        self, values: Mapping[str, Any], rows: Floats | None, context: Context, *, is_classes: bool
    ) -> dict[str, Floats]:
        """Return the error of every way, shape (runs, levels)."""
        delta = float(share(values["delta"], name="delta"))
        error: Callable[[Floats, Any], float] = logistic_rivals.error if is_classes else rivals.error
        ways: dict[str, Callable[..., Any]] = (
            _ways_of_classes(delta)
            if is_classes
            else {
                "steps": partial(_steps, delta=delta),
                "gaussian": partial(rivals.functional, delta=delta),
                "functional": partial(rivals.functional, delta=0.0),
                "functional_trimmed": partial(rivals.functional_trimmed, delta=0.0),
                "functional_as_printed": partial(rivals.functional_as_printed, delta=0.0),
                "adaptive": partial(rivals.adaptive, delta=delta),
                "objective": partial(rivals.objective, delta=0.0),
                "output": partial(rivals.output, delta=0.0),
                "histogram": partial(rivals.histogram, delta=0.0),
                "mean": partial(rivals.mean, delta=0.0),
                "plain": partial(rivals.plain, delta=0.0),
            }
        )
        runs, chance = values["runs"], context.chance
        found = {name: np.empty((runs, len(LEVELS))) for name in ways}
        for run in range(runs):
            drawn = self._drawn(values, rows, chance, is_classes=is_classes)
            inside = np.arange(len(drawn)) < len(drawn) * 4 // 5
            for place, level in enumerate(LEVELS):
                context.progress.step((run + place / len(LEVELS)) / runs, "sampled_sensitivity.pairs")
                for name, way in ways.items():
                    fitted = way(drawn[inside], epsilon=level, chance=chance)
                    found[name][run, place] = error(drawn[~inside], fitted)
        return found

    # --- views ---------------------------------------------------------------------------------------

    def _views(self, figures: Mapping[str, Any], runs: int, *, inside: bool) -> tuple[View, ...]:
        bands = {name: np.array(one) for name, one in figures["bands"].items()}
        private = {name: one[:, 1] for name, one in bands.items() if name not in OPEN}
        at = LEVELS.index(0.8)
        best = min(private, key=lambda name: float(private[name][at]))
        told = {"rows": figures["rows"], "runs": runs}
        sentences = [
            self.word("own" if figures["population"] != SIMULATED.value else "invented", **told),
            self.word(
                f"best_{figures['response']}",
                way=self.word(f"ways.{best}"),
                error=float(private[best][at]),
                epsilon=0.8,
            ),
            self.word("idealised"),
            self.word("stays_inside" if inside else "no_row"),
        ]
        axis = self.word(f"error_{figures['response']}")
        beside = {name: one for name, one in bands.items() if name in OPEN}
        together = self._picture("together", bands, axis)
        each = (self._picture(name, {name: bands[name], **beside}, axis) for name in private)
        return (self.sentences(sentences), together, self._table(bands), *each)

    def _picture(self, title: str, bands: Mapping[str, Floats], axis: Text) -> CurveView:
        """Return medians over ε; of one way alone its band too."""
        series = tuple(
            line(self.word(f"ways.{name}"), LEVELS, one[:, 1], "dotted" if name in OPEN else "plain")
            for name, one in bands.items()
        )
        band = None
        if title in bands:
            low, high = (line(self.word("band"), LEVELS, bands[title][:, place]) for place in (0, 2))
            band = (low, high)
        words = self.word("together") if band is None else self.word(f"ways.{title}")
        return CurveView(words, self.word("epsilon"), axis, series, band=band)

    def _table(self, bands: Mapping[str, Floats]) -> TableView:
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (level, self.word(f"ways.{name}"), *(float(f"{value:.4g}") for value in one[place]))
            for place, level in enumerate(LEVELS)
            for name, one in bands.items()
        )
        headings = tuple(
            self.word(f"headings.{name}") for name in ("epsilon", "way", "low", "median", "high")
        )
        return TableView(self.word("table"), headings, rows, self.word("note"))


def _bounds(column: Column) -> Bounds:
    found = bounds_of(column)
    if found is None:
        raise InputRefused("queries.no_bounds", column=column.name)
    return found


def _is_classes(column: Column) -> bool:
    """Say whether a response is one of two classes."""
    if column.kind in NUMBERS:
        return False
    if len(coding.levels(column)) != 2:
        raise InputRefused("queries.two_values", column=column.name)
    return True


def _scale(column: Column, values: pd.Series) -> Floats:
    """Return a column between −1 and 1, NaN where it is missing; of two classes −1 and 1."""
    if column.kind in NUMBERS:
        return _bounds(column).scaled(coding.numbers(values, column))
    codes = coding.codes(values, column)
    return np.where(codes > 1, np.nan, 2.0 * codes - 1.0)


def _ways_of_classes(delta: float) -> dict[str, Callable[..., Any]]:
    """Return the ways to a model of a yes or no."""
    return {
        "logistic": partial(logistic_rivals.steps, delta=delta),
        "additive": partial(logistic_rivals.additive, delta=delta),
        "taylor_gaussian": partial(logistic_rivals.functional, delta=delta),
        "taylor": partial(logistic_rivals.functional, delta=0.0),
        "objective": partial(logistic_rivals.objective, delta=0.0),
        "output": partial(logistic_rivals.output, delta=0.0),
        "guess": partial(logistic_rivals.guess, delta=0.0),
        "plain": partial(logistic_rivals.plain, delta=0.0),
    }


def _steps(rows: Floats, epsilon: float, delta: float, chance: np.random.Generator) -> Floats:
    """Return weights by the steps of a release, with noise that nobody has to trust."""
    widths = (0,) * (rows.shape[1] - 1)
    level = Fraction(str(epsilon)), Fraction(str(delta))
    plan = DescentPlan(widths, *level, 1, False, len(rows), False)
    points = Points(np.trunc(rows[:, :-1] * PER_SIDE).astype(np.int16), (), widths)
    target = np.rint(rows[:, -1] * RESIDUAL_STEPS).astype(np.int64)
    return fit(points, target, plan, noise=Noise(chance.bytes)).solution.weights
