"""Steps that add or multiply noise, with what a recipient needs to undo it on average.

None of them is differentially private: values are not bounded, and correlated columns let much of the noise
be filtered away.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, log10
from typing import Any

import numpy as np

from engine.methods import option
from engine.methods.datasets.masking.estimators import (
    DISTRIBUTIONS,
    LAPLACE,
    NORMAL,
    UNIFORM,
    AddedNoise,
    of_noise,
    reconstruct_distribution,
)
from engine.methods.datasets.masking.step import COLUMN, COLUMNS, WORDS, MaskingStep, Options, Told, Values
from engine.methods.datasets.masking.working import Floats, Form, Working
from engine.table.schema import Column, Kind
from engine.views import TableView, Text

_FINE = 1000
_SMALLEST = Fraction(1, 10**9)


class Noise(MaskingStep):
    """Independent noise of a declared distribution and spread is added to every value.

    Notes
    -----
    Kim (1986); the recipient undoes it on average by subtracting the variance, and finds the distribution
    again by the method of Agrawal and Srikant (2000).
    """

    id = "noise"
    fields = (
        COLUMN,
        option.choice(*DISTRIBUTIONS, name="distribution", default=NORMAL),
        option.number(name="standard_deviation", minimum=_SMALLEST, maximum=10**12),
    )
    reads = (Form.NUMBERS,)

    def declared(self, values: Values | None, options: Options, column: Column) -> Values | None:
        return None

    def apply(self, working: Working, options: Options) -> Told:
        name, spread = options["column"], float(options["standard_deviation"])
        column = working.columns[name]
        grid = grid_of(column, options["standard_deviation"])
        noise = AddedNoise(options["distribution"], spread, float(grid))
        places, count = working.alike(name)
        drawn = _draw(working.chance, noise, count)
        released = on_grid(working.numbers(name) + (drawn if places is None else drawn[places]), grid)
        working.set(name, released)
        there = released[~np.isnan(released)]
        public: dict[str, Any] = {"grid": float(grid), "variance": noise.variance}
        if not len(there):
            return Told(public)
        found = of_noise(there, noise)
        shape = reconstruct_distribution(there, noise, _range(column, there), chance=working.chance)
        public["reconstruction"] = shape.to_json()
        rows = tuple(
            (Text(f"{WORDS}.views.noise.{figure}"), _short(first), _short(second))
            for figure, (first, second) in found.items()
        )
        headings = tuple(Text(f"{WORDS}.views.noise.{one}") for one in ("figure", "as_released", "corrected"))
        title = Text(f"{WORDS}.views.noise.title", {"column": name})
        corrected = TableView(title, headings, rows, Text(f"{WORDS}.views.noise.note"))
        return Told(public, (corrected, shape.view(name)))


class CorrelatedNoise(MaskingStep):
    """Noise with the correlations of the columns, its variance a share of theirs.

    Notes
    -----
    z = x + e with Cov(e) = share · Cov(x) (Kim 1986), so that Cov(z) = (1 + share) · Cov(x): correlations
    stay, and dividing by 1 + share undoes it, but for what rounding adds.
    """

    id = "correlated_noise"
    fields = (
        COLUMNS,
        option.number(name="relative_variance", minimum=_SMALLEST, maximum=100),
    )
    reads = (Form.NUMBERS,)

    def declared(self, values: Values | None, options: Options, column: Column) -> Values | None:
        return None

    def apply(self, working: Working, options: Options) -> Told:
        names, share = options["columns"], float(options["relative_variance"])
        held = np.column_stack([working.numbers(name) for name in names])
        whole = held[~np.isnan(held).any(axis=1)]
        if len(whole) < 2:
            return Told()
        covariance = np.atleast_2d(np.cov(whole, rowvar=False)) * share
        root = _root(covariance)
        draws = len(working) if not working.several_rows else int(working.people.max()) + 1
        # Few columns: what a library would spread over all processors costs more than it saves
        drawn = np.einsum("ij,jk->ik", working.chance.standard_normal((draws, len(names))), root)
        if working.several_rows:
            drawn = drawn[working.people]
        for place, name in enumerate(names):
            spread = float(np.sqrt(covariance[place, place]))
            grid = grid_of(working.columns[name], Fraction(spread) if spread else Fraction(1))
            working.set(name, on_grid(held[:, place] + drawn[:, place], grid))
        return Told({"covariance_times": 1 + share})


class MultiplicativeNoise(MaskingStep):
    """Every value is multiplied by a positive random number of mean 1.

    Notes
    -----
    Log-normal factors: ln y is normal with variance s² = ln(1 + r²) and mean −s²/2, so that E[y] = 1 and
    E[y²] = 1 + r², r the declared relative standard deviation. E[x] = E[z] and E[x²] = E[z²]/(1 + r²)
    (Kim and Winkler 2003). A zero stays a zero.
    """

    id = "multiplicative_noise"
    fields = (
        COLUMN,
        option.number(name="relative_deviation", minimum=_SMALLEST, maximum=2),
    )
    reads = (Form.NUMBERS,)

    def declared(self, values: Values | None, options: Options, column: Column) -> Values | None:
        return None

    def apply(self, working: Working, options: Options) -> Told:
        name, relative = options["column"], float(options["relative_deviation"])
        held = working.numbers(name)
        variance = np.log1p(relative**2)
        places, count = working.alike(name)
        factors = np.exp(working.chance.normal(-variance / 2, np.sqrt(variance), count))
        there = np.abs(held[~np.isnan(held)])
        usual = float(np.median(there[there > 0])) if (there > 0).any() else 1.0
        grid = grid_of(working.columns[name], Fraction(usual * relative))
        working.set(name, on_grid(held * (factors if places is None else factors[places]), grid))
        return Told({"grid": float(grid), "second_moment_times": 1 + relative**2})


def grid_of(column: Column, spread: Fraction) -> Fraction:
    """Return the step on which masked numbers are written: never finer than a thousandth of the noise.

    Whole numbers stay whole, and numbers with a declared step stay on it.
    """
    if column.domain is not None and column.is_declared and column.domain.step is not None:
        return column.domain.step
    if column.kind is Kind.INTEGER:
        return Fraction(1)
    return Fraction(10) ** floor(log10(spread / _FINE) + 1e-9)


def on_grid(values: Floats, grid: Fraction) -> Floats:
    """Return numbers rounded to multiples of a step."""
    return np.asarray(np.floor(values / float(grid) + 0.5) * float(grid.numerator) / float(grid.denominator))


def _draw(chance: np.random.Generator, noise: AddedNoise, count: int) -> Floats:
    if noise.distribution == LAPLACE:
        return chance.laplace(0.0, noise.spread / 2**0.5, count)
    if noise.distribution == UNIFORM:
        return chance.uniform(-noise.spread * 3**0.5, noise.spread * 3**0.5, count)
    return chance.normal(0.0, noise.spread, count)


def _range(column: Column, released: Floats) -> tuple[float, float]:
    """Return where true values can lie: the declared bounds, else the released ones."""
    domain = column.domain
    if (
        domain is not None
        and column.is_declared
        and isinstance(domain.minimum, Fraction)
        and isinstance(domain.maximum, Fraction)
    ):
        return float(domain.minimum), float(domain.maximum)
    return float(released.min()), float(released.max())


def _root(covariance: Floats) -> Floats:
    """Return a matrix whose product with its transpose is a covariance, which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))).T)


def _short(value: Any) -> float:
    return float(f"{value:.6g}")
