"""Naive Bayes: which of some declared values a column has, from noisy counts of class by cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.methods import option
from engine.methods.budget import (
    NOISE,
    budget_problems,
    is_replace_one,
    noise_notes,
    noise_taken,
    takes_gaussian,
)
from engine.methods.filling import Judged, judged_by_margin
from engine.methods.models.class_tables import ClassTables, Rows, TablesPlan, fit, normal, shares
from engine.methods.models.design import Bounds, bounds_of
from engine.methods.models.held_out import PERCENT, ScoredModel, fit_budget
from engine.methods.models.leaving import make_artefacts, number_views, privacy_text
from engine.methods.models.targets import CLASSES, class_problems, privacy_told, share_errors
from engine.methods.models.written_cells import cell_labels, read_cells, written_cells
from engine.methods.parameters import Problem
from engine.methods.protocol import MAIN, Context, Family, Forecast, Reference, Release
from engine.methods.shared.blocks import blocks
from engine.methods.shared.cell_search import CELLS, SEARCHED, Grids, search_cells, search_notes, searched
from engine.methods.shared.column_cells import (
    BINS,
    CELL_KINDS,
    OWN_EDGES,
    ColumnCells,
    bins_taken,
    columns_as_cells,
    is_listed,
)
from engine.methods.shared.promise import cap_notes
from engine.once import once
from engine.privacy.accuracy import NORMAL_WITHIN
from engine.privacy.events import Event
from engine.table import coding
from engine.table.schema import Column, Kind
from engine.views import Cell, TableView, Text, View

if TYPE_CHECKING:
    import pandas as pd

    from engine.table.table import Table

ID = "models.naive_bayes"
WORDS = f"methods.{ID}"
BY_BINS, BY_NORMAL = "bins", "normal"
MOST_COUNTS = 100_000


class NaiveBayes(ScoredModel):
    """Naive Bayes from noisy counts; numbers by intervals, or by a normal density in each class.

    Notes
    -----
    The most likely class is that with the largest share × Π share of the row's cells in it. Published forms
    give every count the whole ε, use the exact size of a class, and a variance sensitivity that is too small
    where u − l > n + 1; here everything a row moves is added up (`engine.methods.models.class_tables`).

    Columns are taken as independent within a class, so that probabilities are bolder than they should be.
    """

    id = ID
    summable = True
    version = 2  # cells are searched where a rough number of rows is said
    family = Family.MODEL
    promises = ("pure_dp", "approximate_dp")
    held_out = True
    published = Reference(
        "Vaidya, Shafiq, Basu, Hong: Differentially private naive Bayes classification (2013)",
        "section III, with one sensitivity for all counts together",
        "doi:10.1109/WI-IAT.2013.80",
    )

    class Options(ScoredModel.Options):
        target: str = option.column(column_kinds=(Kind.CATEGORY, Kind.ORDINAL), needs_domain=True)
        predictors: option.Names = option.columns(
            minimum=1, maximum=200, column_kinds=CELL_KINDS, needs_domain=True
        )
        numbers: str = option.choice(BY_BINS, BY_NORMAL, default=BY_BINS)
        noise: str = NOISE
        bins: int = BINS
        cells: str = CELLS
        about_rows: int | None = option.integer(
            optional=True, minimum=10, maximum=10**9, when=("cells", (SEARCHED,))
        )
        edges: Mapping[str, option.Edges] = OWN_EDGES
        held_out_percent: int = PERCENT

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        found = class_problems(self.request, method=ID)
        if found:
            return found
        classes = len(coding.levels(self.schema.column(self.options.target)))
        counts = classes * sum(cells.size for cells in self.cells)
        if counts > MOST_COUNTS:
            values = {"counts": counts, "most": MOST_COUNTS}
            return [Problem(f"{ID}.too_many_counts", values, "predictors")]
        return budget_problems(self.request, uses_delta=takes_gaussian(self.request))

    @once
    def numbers(self) -> tuple[Column, ...]:
        """Return the predictors that get a normal density."""
        if self.options.numbers == BY_BINS:
            return ()
        own = self.options.edges or {}
        columns = (self.schema.column(name) for name in self.options.predictors if name not in own)
        return tuple(one for one in columns if not is_listed(one) and bounds_of(one) is not None)

    @once
    def taken(self) -> Mapping[str, Any]:
        return {**bins_taken(self.cells), **noise_taken(self.request, self.sums)}

    @property
    def sums(self) -> float:
        return 1 + len(self.options.predictors)

    @once
    def cells(self) -> tuple[ColumnCells, ...]:
        """Return the cells of every other predictor: from declarations alone."""
        normal_ones = {column.name for column in self.numbers}
        names = [name for name in self.options.predictors if name not in normal_ones]
        return columns_as_cells(self.request, names)

    @once
    def plan(self) -> TablesPlan:
        """Return what is counted, and with how much noise."""
        return replace(self._unsearched, searched=len(self.grids))

    @once
    def _unsearched(self) -> TablesPlan:
        budget = fit_budget(self.paid)
        return TablesPlan(
            len(coding.levels(self.schema.column(self.options.target))),
            tuple(cells.size for cells in self.cells),
            len(self.numbers),
            budget.epsilon,
            budget.delta,
            self.request.rows_per_person,
            is_replace_one(self.request),
        )

    @property
    def asks_once(self) -> bool:
        """Cells that are searched, and a score of the model, hang on noisy numbers of the site itself."""
        return not self.grids and not self.scores

    @once
    def grids(self) -> Grids:
        """Return the fine grids of the predictors whose cells are searched."""
        budget, rows = fit_budget(self.paid), self.options.about_rows
        return searched(self.request, self.cells, budget=budget, rows=rows)

    @once
    def fit_events(self) -> Event:
        return self.plan.division.events

    # --- forecast ----------------------------------------------------------------------------------

    @once
    def forecast(self) -> Forecast:
        label, noise = Text(f"{WORDS}.numbers.share.label"), self.plan.count_noise
        errors = share_errors(label, "cell", self.request.sizes, deviation=noise) + self.score_errors
        return Forecast(
            errors,
            notes=(
                *cap_notes(self.request),
                *noise_notes(self.request, self.sums),
                *search_notes(self.grids),
            ),
        )

    def judged(self, people: int | None) -> Judged | None:
        if people is None:
            return None
        classes = len(coding.levels(self.schema.column(self.options.target)))
        limit = NORMAL_WITHIN * self.plan.count_noise
        return judged_by_margin(limit, people, f"{WORDS}.judged", groups=classes)

    # --- release -----------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        context.progress.step(0.0, "run.reading")
        frame = tables[MAIN].rows()
        own = search_cells(
            tables[MAIN],
            self.cells,
            self.grids,
            self.plan.division,
            context.noise,
            rows=self.options.about_rows,
            bins=self.options.bins,
        )
        plan = replace(self.plan, sizes=tuple(cells.size for cells in own))
        parts = (self._read(frame.iloc[rows], own) for rows in blocks(len(frame), at_most=2**14))
        found = fit(parts, plan, noise=context.noise)
        context.progress.step(0.9, "run.writing")
        model = self.with_score(self.content(found, own), predict, context)
        return self._released(model)

    def _read(self, frame: pd.DataFrame, own: tuple[ColumnCells, ...]) -> Rows:
        target = self.schema.column(self.options.target)
        return Rows(
            coding.codes(frame[target.name], target),
            [cells.codes(frame[cells.column.name]) for cells in own],
            [_bounds(column).scaled(coding.numbers(frame[column.name], column)) for column in self.numbers],
        )

    def content(self, found: ClassTables, own: tuple[ColumnCells, ...] | None = None) -> dict[str, Any]:
        """Return the model as JSON values: everything that predicts, made from noisy sums alone."""
        target, noise = self.schema.column(self.options.target), self.plan.count_noise
        by_name: dict[str, dict[str, Any]] = {}
        for cells, counts in zip(own or self.cells, found.cells, strict=True):
            one = written_cells(cells) | {"shares": shares(counts).tolist()}
            by_name[cells.column.name] = one | {"within_95": _within(counts, noise)}
        for column, known, sums in zip(self.numbers, found.known, found.sums, strict=True):
            by_name[column.name] = _written_normal(column, known, sums)
        return {
            "format": FORMAT,
            "version": 1,
            "target": {"name": target.name, "kind": CLASSES, "values": list(coding.levels(target))},
            "shares": shares(found.rows).tolist(),
            "rows": [round(float(max(value, 0.0))) for value in found.rows],
            "predictors": [by_name[name] for name in self.options.predictors],
            "noise": {
                "distribution": "discrete_gaussian" if self.plan.delta else "discrete_laplace",
                "deviation_of_counts": f"{noise:.6g}",
            },
            "privacy": privacy_told(self.paid),
            "method": {"id": self.id, "version": self.version},
        }

    def _released(self, model: dict[str, Any]) -> Release:
        """Make the artefacts from the model: nothing after this line has seen a row."""
        views: tuple[View, ...] = (
            _classes_table(model),
            _shares_table(model),
            *number_views({"rows": sum(model["rows"])}, WORDS),
        )
        card = (
            Text(f"{WORDS}.card.predicts", {"target": model["target"]["name"]}),
            Text(f"{WORDS}.card.not_for"),
            privacy_text(self.paid, WORDS),
            Text(f"{WORDS}.card.use"),
        )
        return make_artefacts(
            model, self.request, words=WORDS, predict=predict, promise=self.cost, card=card, views=views
        )


def _bounds(column: Column) -> Bounds:
    found = bounds_of(column)
    assert found is not None, "a number without bounds is counted by cells"
    return found


def _within(counts: np.ndarray, noise: float) -> list[float]:
    """Return, by class, how far the noise of one count moves its share, in 95 of 100 releases."""
    rows = np.maximum(counts, 0.0).sum(axis=1)
    return [float(min(1.0, NORMAL_WITHIN * noise / max(value, 1.0))) for value in rows]


def _written_normal(column: Column, known: np.ndarray, sums: np.ndarray) -> dict[str, Any]:
    """Return mean and standard deviation by class in the units of the column."""
    bounds = _bounds(column)
    mean, variance = normal(known, sums)
    return {
        "name": column.name,
        "missing": list(column.without_copied().missing),
        "kind": NORMAL,
        "minimum": bounds.low,
        "maximum": bounds.high,
        "means": (bounds.middle + mean * bounds.half).tolist(),
        "deviations": (np.sqrt(variance) * bounds.half).tolist(),
        "known": shares(known)[:, 1].tolist(),
    }


def _percent(share: float) -> float:
    return float(f"{100 * share:.3g}")


def _classes_table(model: Mapping[str, Any]) -> TableView:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (value, count, _percent(share))
        for value, count, share in zip(model["target"]["values"], model["rows"], model["shares"], strict=True)
    )
    headings = tuple(Text(f"{WORDS}.views.headings.{name}") for name in ("class", "rows", "share"))
    return TableView(
        Text(f"{WORDS}.views.classes.title"), headings, rows, Text(f"{WORDS}.views.classes.note")
    )


def _shares_table(model: Mapping[str, Any]) -> TableView:
    """Return the share of every value in every class; of normal densities mean and standard deviation."""
    rows: list[tuple[Cell, ...]] = []
    for predictor in model["predictors"]:
        name = str(predictor["name"])
        if predictor["kind"] == NORMAL:
            for what in ("means", "deviations"):
                words = Text(f"{WORDS}.views.{what}")
                rows.append((name, words, *(float(f"{one:.4g}") for one in predictor[what]), None))
            continue
        margin = _percent(max(predictor["within_95"]))
        labels = cell_labels(predictor, f"{WORDS}.views")
        for label, own in zip(labels, np.array(predictor["shares"]).T.tolist(), strict=True):
            rows.append((name, label, *map(_percent, own), margin))
    headings = (
        *(Text(f"{WORDS}.views.headings.{name}") for name in ("column", "value")),
        *(Text(f"{WORDS}.views.headings.in_class", {"class": one}) for one in model["target"]["values"]),
        Text(f"{WORDS}.views.headings.within"),
    )
    return TableView(
        Text(f"{WORDS}.views.shares.title"), headings, tuple(rows), Text(f"{WORDS}.views.shares.note")
    )


# --- the model: what is written, and what predicts -------------------------------------------------------


FORMAT = "custos.naive_bayes"
NORMAL = "normal"
Floats = arrays.Floats


def log_odds(model: Mapping[str, Any], frame: pd.DataFrame) -> Floats:
    """Return, for every row and class, the logarithm of share × likelihood, shape (n, classes)."""
    found = np.tile(np.log(model["shares"]), (len(frame), 1))
    for predictor in model["predictors"]:
        values = frame[predictor["name"]]
        if predictor["kind"] == NORMAL:
            found += _normal(predictor, values)
        else:
            found += np.log(predictor["shares"]).T[read_cells(predictor).codes(values)]
    return found


def _normal(predictor: Mapping[str, Any], values: pd.Series) -> Floats:
    """Return the logarithm of share × density where the number is known, of the share where it is missing."""
    column = Column(str(predictor["name"]), kind=Kind.NUMBER, missing=tuple(predictor["missing"]))
    numbers = np.clip(coding.numbers(values, column), predictor["minimum"], predictor["maximum"])[:, None]
    mean, deviation = np.array(predictor["means"]), np.array(predictor["deviations"])
    density = -0.5 * ((numbers - mean) / deviation) ** 2 - np.log(deviation * np.sqrt(2 * np.pi))
    known = np.array(predictor["known"])
    return np.where(np.isnan(numbers), np.log(1 - known), np.log(known) + density)


def predict(model: Mapping[str, Any], frame: pd.DataFrame) -> npt.NDArray[Any]:
    """Return the most likely class of every row, as text: every row has one, whatever it holds."""
    return np.array(model["target"]["values"], dtype=object)[log_odds(model, frame).argmax(axis=1)]


def probabilities(model: Mapping[str, Any], frame: pd.DataFrame) -> Floats:
    """Return the probability of every class, shape (n, classes)."""
    odds = log_odds(model, frame)
    raised = np.exp(odds - odds.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
