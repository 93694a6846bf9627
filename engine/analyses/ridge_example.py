"""The worked example of the source: ridge regression, its sensitivity sampled and bounded, what noise costs.

Columns are put on [0, 1] by their declared bounds and every row of predictors is scaled to unit length.
Noise is scaled once to the proved bound and once to the sampled sensitivity; the second carries no guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.analyses.drawn import MOST, POPULATION
from engine.analyses.protocol import PEOPLE, Analysis, Answer, Context, InternalAnswer
from engine.analyses.shared import INTEGER, NUMBER, POINTS, line, thesis
from engine.errors import InputRefused
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN
from engine.privacy.at_risk import published
from engine.privacy.at_risk.inputs import positive, share
from engine.privacy.at_risk.mechanisms import laplace
from engine.privacy.direct import SimulatedLaplace
from engine.privacy.sampled_sensitivity import (
    RidgeQuery,
    SensitivitySample,
    TablePopulation,
    ridge_sensitivity_bounds,
    sampled_sensitivity,
)
from engine.risk.population_source import PopulationSource
from engine.risk.queries import read_query
from engine.table.schema import Kind
from engine.views import CurveView, Mark, TableView

if TYPE_CHECKING:
    from engine.table.table import Table

NUMBERS = (Kind.INTEGER, Kind.NUMBER)
LEVELS = np.linspace(0.1, 0.99, 10)
TRAINED = Fraction(4, 5)


class RidgeExample(Analysis):
    """Sampled sensitivity against the bounds, and the error of the noisy model against its level."""

    id = "ridge_example"
    published = thesis("chapter 8, ridge illustration")
    sources = (PEOPLE,)
    parameters = (
        Parameter("response", ParameterKind.COLUMN, column_kinds=NUMBERS, needs_domain=True),
        Parameter(
            "predictors",
            ParameterKind.COLUMNS,
            column_kinds=NUMBERS,
            needs_domain=True,
            minimum=1,
            maximum=50,
        ),
        Parameter("population", ParameterKind.CHOICE, default="private", choices=POPULATION.choices[:2]),
        Parameter("penalty", NUMBER, default="0.01"),
        Parameter("pairs", INTEGER, default=2000, minimum=1, maximum=MOST),
        Parameter("records", INTEGER, default=1000, minimum=2, maximum=MOST),
        Parameter("quantile", NUMBER, default="0.9"),
        Parameter("runs", INTEGER, default=50, minimum=1, maximum=1000),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        if MAIN not in context.schemas:
            raise InputRefused("queries.needs_schema")
        source = PopulationSource(values["population"])
        rows = self._rows(values, tables, context)
        penalty = float(positive(values["penalty"], name="penalty"))
        # As many records in the pairs as the models are fitted to.
        records = min(values["records"], int(len(rows) * TRAINED))
        query = RidgeQuery(penalty * records)
        sample = sampled_sensitivity(
            query,
            TablePopulation(rows, origin=source.origin),
            pairs=values["pairs"],
            records=records,
            generator=context.chance,
            progress=context.progress.part(0.0, 0.6),
        )
        bounds = ridge_sensitivity_bounds(records, rows.shape[1] - 1, penalty=penalty)
        sampled = sample.quantile(float(share(values["quantile"], name="quantile")))
        scales = {"bound": bounds.update, "sampled": sampled}
        plain, errors = _errors(rows, penalty, records, scales, values["runs"], context)
        figures = {
            "audience": "internal" if source.origin.internal else "public",
            "rows": len(rows),
            "pairs": sample.pairs,
            "records": records,
            "sensitivity": {
                "sampled": sampled,
                "largest": float(sample.values[-1]),
                "bound": bounds.update,
                "published_bound": bounds.thesis,
            },
            "error_without_noise": plain,
            "epsilon": LEVELS.tolist(),
            "error": {name: found.tolist() for name, found in errors.items()},
            "confidence": {
                "published": published.confidences(LEVELS, epsilon0=1).tolist(),
                "exact": laplace(epsilon0=1).confidences(LEVELS).tolist(),
            },
        }
        views = (
            self.sentences(
                [
                    self.word("moves", **figures["sensitivity"], pairs=sample.pairs, records=records),
                    self.word("error", plain=plain, noisy=float(errors["bound"][-1]), runs=values["runs"]),
                    self.word("stays_inside" if source.origin.internal else "no_guarantee"),
                ]
            ),
            self._distribution(sample, bounds.update),
            self._error_curve(plain, errors),
            self._confidences(figures["confidence"]),
        )
        return InternalAnswer(views, figures) if source.origin.internal else Answer(views, figures)

    def _rows(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> np.ndarray:
        written = f"ridge:{values['response']}~{','.join(values['predictors'])}"
        query = read_query(written, context.schemas[MAIN], records=values["records"])
        if MAIN not in tables:
            raise InputRefused("queries.no_table", found=values["population"])
        rows, _ = query.rows(tables[MAIN].rows())
        if len(rows) < 10:
            raise InputRefused("queries.no_rows")
        return rows

    def _distribution(self, sample: SensitivitySample, bound: float) -> CurveView:
        xs = np.linspace(0.0, max(bound, float(sample.values[-1])), POINTS)
        return CurveView(
            self.word("distribution.title"),
            self.word("distribution.change"),
            self.word("distribution.share"),
            (line(self.word("distribution.sampled"), xs, sample.distribution(xs), "accent"),),
            (Mark(bound, 1.0, self.word("distribution.bound")),),
        )

    def _error_curve(self, plain: float, errors: Mapping[str, np.ndarray]) -> CurveView:
        styles = {"bound": "accent", "sampled": "dashed"}
        series = [line(self.word(f"errors.{name}"), LEVELS, ys, styles[name]) for name, ys in errors.items()]
        series.append(line(self.word("errors.plain"), LEVELS, np.full(LEVELS.size, plain), "dotted"))
        return CurveView(
            self.word("errors.title"), self.word("errors.epsilon"), self.word("errors.rmse"), tuple(series)
        )

    def _confidences(self, found: Mapping[str, list[float]]) -> TableView:
        rows = tuple(zip(LEVELS.round(3).tolist(), found["published"], found["exact"], strict=True))
        headings = tuple(self.word(f"confidences.{name}") for name in ("epsilon", "published", "exact"))
        return TableView(self.word("confidences.title"), headings, rows)


def _errors(
    rows: np.ndarray,
    penalty: float,
    records: int,
    scales: Mapping[str, float],
    runs: int,
    context: Context,
) -> tuple[float, dict[str, np.ndarray]]:
    """Return the error on the fifth held out: without noise, and by scale and level; means of the runs."""
    train = int(len(rows) * TRAINED)
    plain = np.empty(runs)
    noisy = {name: np.empty((runs, LEVELS.size)) for name in scales}
    unit = SimulatedLaplace(1.0)
    for run in range(runs):
        order = context.chance.permutation(len(rows))
        held = rows[order[train:]]
        fitted = RidgeQuery(penalty * records)(rows[order[:records]])
        # One draw, scaled: the curves differ by their scale alone.
        noise = unit.sample(np.zeros((1, fitted.size)), generator=context.chance)[0]
        plain[run] = _rmse(held, fitted)
        for name, scale in scales.items():
            noisy[name][run] = [_rmse(held, fitted + noise * scale / level) for level in LEVELS]
        context.progress.step(0.6 + 0.4 * (run + 1) / runs, "sampled_sensitivity.pairs")
    return float(plain.mean()), {name: found.mean(axis=0) for name, found in noisy.items()}


def _rmse(held: np.ndarray, coefficients: np.ndarray) -> float:
    return math.sqrt(float(np.mean((held[:, :-1] @ coefficients - held[:, -1]) ** 2)))
