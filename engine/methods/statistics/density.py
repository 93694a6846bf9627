"""How one or two numbers are spread: a smooth curve from noisy sums that are public, with its band."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from engine import arrays
from engine.methods import option
from engine.methods.budget import FITTING, budget_problems, is_replace_one, required_budget
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    PERCENT,
    Context,
    DictionaryEntry,
    Expected,
    Family,
    Forecast,
    Method,
    Reads,
    Reference,
    Release,
    TableArtefact,
)
from engine.methods.shared.cells import free_name
from engine.methods.shared.promise import cap_notes, promise
from engine.methods.shared.quantity import Grid, grid_of
from engine.methods.shared.tables import forecast_views
from engine.methods.shared.view import view_of
from engine.once import once
from engine.privacy.accuracy import LAPLACE_WITHIN, NORMAL_MEDIAN, NORMAL_WITHIN, spread_of_sites
from engine.privacy.mechanisms import CountNoise, GaussianCounts, Integers, LaplaceCounts
from engine.privacy.promise import Promise
from engine.table.schema import Kind
from engine.views import CurveView, HeatmapView, Series, Text, View

if TYPE_CHECKING:
    from engine.table.table import Table

Floats = arrays.Floats
HISTOGRAM, COSINES = "histogram", "cosines"
FINE = 1024  # steps of a feature
POINTS, POINTS_OF_TWO = 101, 25
_MOST_SUMS = 10_000


def waves(places: Floats, most: int) -> Floats:
    """Return 1, √2 cos πu, …, √2 cos(most·πu) at places u of a box, shape (places, most + 1).

    Notes
    -----
    Their mean squares over the box are 1 and their products' are 0: of a density on the box, the mean of a
    wave over the people is its coefficient.

    Examples
    --------
    >>> waves(np.array([0.0, 0.5]), 2).round(3).tolist()
    [[1.0, 1.414, 1.414], [1.0, 0.0, -1.414]]
    """
    found = sqrt(2) * np.cos(np.pi * np.outer(places, np.arange(most + 1)))
    found[:, 0] = 1.0
    return np.asarray(found)


@dataclass(frozen=True)
class Curve:
    """A density on a box, from noisy coefficients of waves.

    Parameters
    ----------
    coefficients
        With noise, one axis a column; the first is 1.
    spread
        The standard deviation of the noise of each of them.
    within
        How many standard deviations 95 of 100 draws of their sums stay within.
    """

    coefficients: Floats
    spread: float
    within: float = NORMAL_WITHIN

    @once
    def kept(self) -> int:
        """How many waves of each column are kept: so many that what they tell is more than their noise.

        Notes
        -----
        Stein's unbiased estimate of the mean squared error, from the noisy coefficients alone: what is kept
        costs its variance, what is left out its square, of which the variance is taken off. Nothing is paid.
        """
        gains = 2 * self.spread**2 - self.coefficients**2
        gains.flat[0] = 0.0
        order = np.max(np.indices(gains.shape), axis=0)
        risks = [float(gains[order <= most].sum()) for most in range(max(gains.shape))]
        return int(np.argmin(risks))

    def at(self, *places: Floats) -> tuple[Floats, Floats]:
        """Return the density at places of each side, and how far the one of all waves may be without noise.

        Notes
        -----
        The density is that of the waves that were kept. The one of all waves, with their noise, is d; without
        noise it is within its margin of d in 95 of 100 draws. The distance between both curves is added to
        that margin, so that the band holds whatever was left out.

        A coefficient is a sum divided by the number of rows, which is noisy too: that moves d by (d − 1)
        times as much as one coefficient is moved.
        """
        (value, _), (whole, noise) = (self._drawn(most, places) for most in (self.kept, None))
        margin = self.within * np.sqrt(noise + (self.spread * (whole - 1)) ** 2)
        return value, np.abs(value - whole) + margin

    def _drawn(self, most: int | None, places: tuple[Floats, ...]) -> tuple[Floats, Floats]:
        """Return the density of so many waves of each column, and the variance of its noise."""
        value = self.coefficients[tuple(slice(None if most is None else most + 1) for _ in places)]
        noise = np.full(value.shape, self.spread**2)
        noise.flat[0] = 0.0
        for some in places:  # each turn takes the first axis away and puts one for the places last
            side = waves(some, value.shape[0] - 1)
            value, noise = np.tensordot(value, side, (0, 1)), np.tensordot(noise, side**2, (0, 1))
        return value, noise


class Density(Method):
    """A density of one or two declared numbers from a few noisy sums.

    Notes
    -----
    The features are chosen first, from declarations: intervals of equal length, or waves √2 cos jπu of the
    place u in the declared range (in two columns their products). Noise is added once to their sums, whole
    numbers; everything after that (how many waves are kept, the curve at any place) is worked out from the
    noisy sums. So nothing private is remembered, and any number of further places may be read.

    *Intervals*: a row is in one of them, discrete Laplace noise of scale (rows moved)/ε. *Waves*: a row adds
    its waves, each rounded to 1/1024; for J waves of a column the squares of a row add up to 1 + 2J at most,
    and to (1 + 2J)² for two columns, which is reached at an end of the range. Noise: discrete Gaussian on the
    whole vector.

    Source: Hall, Rinaldo and Wasserman (2013) add a noisy function; on the coefficients of a basis that is
    the Gaussian mechanism. Stein (1981) for how many waves are kept.
    """

    id = "statistics.density"
    version = 2
    summable = True
    family = Family.STATISTICS
    promises = ("pure_dp", "approximate_dp")
    published = Reference(
        "Hall, Rinaldo, Wasserman: Differential privacy for functions and functional data (2013)",
        "section 3, as noise on the coefficients of a finite basis",
        "jmlr:v14/hall13a",
    )

    class Options(option.Options):
        columns: option.Names = option.columns(
            minimum=1, maximum=2, column_kinds=(Kind.INTEGER, Kind.NUMBER), needs_domain=True
        )
        way: str = option.choice(FITTING, HISTOGRAM, COSINES, default=FITTING)
        parts: int = option.integer(default=20, minimum=2, maximum=200, when=("way", (FITTING, HISTOGRAM)))
        waves: int = option.integer(default=8, minimum=1, maximum=40)

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        for name, grid in zip(self.options.columns, self._grids, strict=True):
            if grid is None:
                return [Problem(f"{self.id}.no_bounds", {"column": name}, "columns")]
        if self.sums > _MOST_SUMS:
            parameter = "parts" if self.way == HISTOGRAM else "waves"
            return [Problem(f"{self.id}.too_many", {"features": self.sums, "most": _MOST_SUMS}, parameter)]
        return budget_problems(self.request, uses_delta=self.way == COSINES or self._is_open)

    @once
    def _grids(self) -> tuple[Grid | None, ...]:
        return tuple(grid_of(self.schema.column(name), digits=3) for name in self.options.columns)

    @once
    def grids(self) -> tuple[Grid, ...]:
        """Return the declared range of every column, in whole steps."""
        return tuple(grid for grid in self._grids if grid is not None)

    @property
    def _is_open(self) -> bool:
        """Whether waves may be taken as there is a δ to be spent."""
        budget = self.request.budget
        return self.options.way == FITTING and budget is not None and budget.delta != 0

    @once
    def way(self) -> str:
        """Return from what the curve is made: where that was left open, from what has the smaller error.

        Notes
        -----
        The error is that of the forecast, from declarations alone. Waves need a δ.
        """
        if self.options.way != FITTING:
            return self.options.way
        if not self._is_open or budget_problems(self.request, uses_delta=True):
            return HISTOGRAM
        return min((HISTOGRAM, COSINES), key=lambda way: self._error(way, 1))

    @once
    def taken(self) -> Mapping[str, Any]:
        return {"way": self.way} if self.options.way == FITTING and self.request.budget is not None else {}

    def _shape(self, way: str) -> tuple[int, ...]:
        if way == COSINES:
            return (self.options.waves + 1,) * len(self.options.columns)
        steps = [grid.high - grid.low + 1 for grid in self._grids if grid is not None]
        return tuple(min(self.options.parts, one) for one in steps)

    @once
    def shape(self) -> tuple[int, ...]:
        """Return how many sums there are along each column."""
        return self._shape(self.way)

    @once
    def sums(self) -> int:
        """Return how many sums get noise."""
        return int(np.prod(self.shape))

    @once
    def most_waves(self) -> int:
        """Return how many waves of each column can be kept."""
        return self._most_waves(self.way)

    def _most_waves(self, way: str) -> int:
        return min(self.options.waves, *(size - 1 for size in self._shape(way)))

    @once
    def squared_sensitivity(self) -> int:
        """Return the squared length of what one person adds to the sums of waves, or changes in them.

        Notes
        -----
        A row's waves have length √(1 + 2J) at most in one column, their products √(1 + 2J)²; rounding moves
        each by half a step. Where a person is exchanged the constant wave stays as it is, and the others may
        turn round.
        """
        length, columns = 1 + 2 * self.options.waves, len(self.options.columns)
        sums, rows = (self.options.waves + 1) ** columns, self.request.rows_per_person
        rounding = sqrt(sums) / 2
        if is_replace_one(self.request):
            return ceil((2 * rows * (FINE * sqrt(length**columns - 1) + rounding)) ** 2)
        return ceil((rows * (FINE * sqrt(length**columns) + rounding)) ** 2)

    @once
    def mechanism(self) -> CountNoise:
        """Return the noise that the budget buys."""
        return self._mechanism(self.way)

    def _mechanism(self, way: str) -> CountNoise:
        budget = required_budget(self.request)
        if way == COSINES:
            return GaussianCounts(self.squared_sensitivity, budget.epsilon, budget.delta)
        return LaplaceCounts(self.request.units_moved, budget.epsilon)

    @once
    def cost(self) -> Promise:
        if self.way == COSINES:
            return promise(self.request, self.mechanism.event, kind="approximate_dp")
        budget = replace(required_budget(self.request), delta=Fraction(0))  # what is not used is not spent
        return promise(replace(self.request, budget=budget), self.mechanism.event, kind="pure_dp")

    # --- forecast ----------------------------------------------------------------------------------

    def spread(self, rows: float) -> float:
        """Return the standard deviation of the noise of a coefficient, for so many rows."""
        return self._spread(self.way, rows)

    def _spread(self, way: str, rows: float) -> float:
        scale = float(self._mechanism(way).scale) * spread_of_sites()
        if way == COSINES:
            return scale / (FINE * rows)
        return sqrt(2 * int(np.prod(self._shape(way)))) * scale / rows

    def _error(self, way: str, rows: float) -> float:
        """Return the standard deviation of the density at one place if it were 1 everywhere, in percent."""
        kept = sqrt((self._most_waves(way) + 1) ** len(self.options.columns) - 1)
        return 100 * kept * self._spread(way, rows)

    @property
    def _within(self) -> float:
        """How many standard deviations 95 of 100 sums of noise stay within, or fewer than this."""
        return NORMAL_WITHIN if self.way == COSINES else LAPLACE_WITHIN

    @once
    def forecast(self) -> Forecast:
        label = Text(f"methods.{self.id}.numbers.of_even.label")
        errors = []
        for size in self.request.sizes:
            off = self._error(self.way, max(1, size))
            errors.append(Expected(label, "group", size, NORMAL_MEDIAN * off, self._within * off, PERCENT))
        return Forecast(
            tuple(errors),
            views=forecast_views(self.id, errors),
            notes=(*self._chosen, *cap_notes(self.request)),
        )

    @property
    def _chosen(self) -> tuple[Text, ...]:
        """What was chosen where a δ leaves it open, and how much more noise the other way would have."""
        if not self._is_open:
            return ()
        other = COSINES if self.way == HISTOGRAM else HISTOGRAM
        times = self._error(other, 1) / self._error(self.way, 1)
        return (Text(f"methods.{self.id}.notes.chosen_{self.way}", {"times": float(f"{times:.2g}")}),)

    # --- release -----------------------------------------------------------------------------------

    @once
    def needs(self) -> Reads:
        return Reads.COMBINATIONS

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        context.progress.step(0.0, "run.reading")
        exact = self.exact(tables[MAIN])
        context.progress.step(0.6, "run.noise")
        noisy = self.mechanism.release(exact, context.noise)
        context.progress.step(0.9, "run.writing")
        return self._published(noisy.reshape(self.shape))

    def exact(self, table: Table) -> Integers:
        """Return the exact sums, whole numbers; a row in which a number is missing adds nothing."""
        sides, counts = view_of(table).combinations(self.grids)
        if self.way == HISTOGRAM:
            cells = np.zeros(len(counts), dtype=np.int64)
            for grid, own, size in zip(self.grids, sides, self.shape, strict=True):
                cells = cells * size + own * size // (grid.high - grid.low + 1)
            found = np.zeros(self.sums, dtype=np.int64)
            np.add.at(found, cells, counts)
            return found
        rows = np.ones((len(counts), 1))
        for grid, own in zip(self.grids, sides, strict=True):
            side = waves(own / (grid.high - grid.low), self.options.waves)
            rows = (rows[:, :, None] * side[:, None, :]).reshape(len(counts), rows.shape[1] * side.shape[1])
        whole = np.rint(FINE * rows).astype(np.int64)
        return np.asarray(counts @ whole, dtype=np.int64)

    def curve(self, noisy: Integers) -> Curve:
        """Return the density that noisy sums tell."""
        if self.way == COSINES:
            rows = max(1.0, float(noisy.flat[0]) / FINE)
            found = noisy / (FINE * rows)
        else:
            rows = max(1.0, float(noisy.sum()))
            found = noisy / rows
            for size in self.shape:  # each turn takes the first axis away and puts its waves last
                middles = (np.arange(size) + 0.5) / size
                found = np.tensordot(found, waves(middles, self.most_waves), (0, 0))
        found = np.array(found, dtype=np.float64)
        found.flat[0] = 1.0
        return Curve(found, self.spread(rows), self._within)

    def _published(self, noisy: Integers) -> Release:
        curve = self.curve(noisy)
        count = POINTS if len(self.grids) == 1 else POINTS_OF_TWO
        places = np.linspace(0.0, 1.0, count)
        ends = [(float(grid.low * grid.step), float(grid.high * grid.step)) for grid in self.grids]
        width = float(np.prod([high - low for low, high in ends]))
        value, within = (part / width for part in curve.at(*(places for _ in ends)))
        sides = [low + places * (high - low) for low, high in ends]
        names = list(self.options.columns)
        tables = (
            self._table("density", names, product(*sides), {"density": value, "within_95": within}),
            self._table(
                "coefficients",
                [f"waves of {name}" for name in names],
                product(*(range(size) for size in curve.coefficients.shape)),
                {"coefficient": curve.coefficients},
            ),
        )
        said = {"kept": curve.kept, "most": self.most_waves}
        kept = "kept_all" if curve.kept == self.most_waves else "kept"
        told = (Text(f"methods.{self.id}.notes.{one}", said) for one in (kept, "noise_only", "read"))
        notes = [*self._chosen, *told]
        views = self._views(sides, value, within)
        return Release(tables, self.cost, views, (*notes, *cap_notes(self.request)))

    def _table(
        self, name: str, headings: list[str], places: Any, numbers: Mapping[str, Floats]
    ) -> TableArtefact:
        listed = list(zip(*places, strict=True))
        frame = pd.DataFrame(dict(zip(headings, listed, strict=True)))
        words = f"methods.{self.id}.dictionary"
        entries = [
            DictionaryEntry(heading, Text(f"{words}.{name}_place", {"column": column}), "number", unit)
            for heading, column, unit in zip(
                headings,
                self.options.columns,
                [self.schema.column(one).unit if name == "density" else "" for one in self.options.columns],
                strict=True,
            )
        ]
        for number, values in numbers.items():
            heading = free_name(number, headings)
            frame[heading] = values.ravel()
            entries.append(DictionaryEntry(heading, Text(f"{words}.{number}"), "number"))
        return TableArtefact(name, (frame,), tuple(entries))

    def _views(self, sides: list[Floats], value: Floats, within: Floats) -> tuple[View, ...]:
        words, names = f"methods.{self.id}.views.curve", self.options.columns
        label = Text(f"methods.{self.id}.numbers.density.label")
        if len(sides) == 1:
            x = tuple(sides[0].tolist())
            low, high = (tuple((value + sign * within).tolist()) for sign in (-1, 1))
            band = (Series(Text(f"{words}.low"), x, low), Series(Text(f"{words}.high"), x, high))
            finest = (x[-1] - x[0]) / self.most_waves
            said = {"most": self.most_waves, "width": float(f"{finest:.3g}")}
            note = Text(f"{words}.note", said)
            line = Series(label, x, tuple(value.tolist()), "accent")
            return (CurveView(Text(f"{words}.title"), names[0], label, (line,), band=band, note=note),)
        rows, columns = (
            tuple(Text("views.number", {"value": float(f"{place:.3g}")}) for place in side) for side in sides
        )
        shown = tuple(tuple(row) for row in value.tolist())
        title = Text(f"{words}.title_of_two", {"rows": names[0], "columns": names[1]})
        off = tuple(tuple(row) for row in within.tolist())
        return (HeatmapView(title, rows, columns, shown, Text(f"{words}.note_of_two"), margins=off),)
