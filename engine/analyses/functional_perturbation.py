"""The published experiments of functional perturbation, with exact constants and beside what is released."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import pi, sqrt
from typing import Any

import numpy as np
import pandas as pd

from engine import arrays
from engine.analyses import functional_forms as forms
from engine.analyses.functional_forms import exact_factor, printed_factor
from engine.analyses.protocol import Analysis, Answer, Context
from engine.analyses.shared import INTEGER, NUMBER, line
from engine.methods.catalogue import method as find_method
from engine.methods.models import kernel_classes
from engine.methods.models.kernel_classes import VOTES
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN, Budget, Method, Reference
from engine.privacy.accuracy import NORMAL_WITHIN
from engine.privacy.at_risk.inputs import positive, share
from engine.privacy.noise import Noise
from engine.privacy.promise import Neighbours
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from engine.views import CurveView, TableView, Text

Floats = arrays.Floats
Integers = arrays.Integers

HISTOGRAM, DENSITY, REGRESSION, CLASSES = "histogram", "density", "regression", "classes"
EPSILON, DELTA, ASKED, ROWS = "epsilon", "delta", "asked", "rows"
WAYS = ("plain", "printed", "exact", "output_gaussian", "output_laplace", "released")
SWEEPS: dict[str, tuple[Any, ...]] = {
    EPSILON: (0.1, 0.2, 0.4, 0.8),
    DELTA: (1e-6, 1e-5, 1e-4, 1e-3),
    ASKED: (1, 10, 100, 400),
}
SIZES = {
    HISTOGRAM: (200, 500, 1000, 5000),
    DENSITY: (200, 500, 1000, 5000),
    REGRESSION: (50, 100, 187, 400),
    CLASSES: (30, 75, 200, 600),
}
ATTACKS = 200  # of each form
USUAL = {HISTOGRAM: 5000, DENSITY: 5000, REGRESSION: 187, CLASSES: 75}
BOX = (-3.0, 7.0)
"""Declared for draws from N(2, 1.3)."""
BINS, WIDTH = 20, 0.4
AGES, HEIGHTS = (18.0, 90.0), (125.0, 165.0)
"""Declared for adult women: years and centimetres."""
FLOWERS = ((4.0, 8.0), (2.0, 4.5), (1.0, 7.0), (0.0, 3.0))
"""Declared for sepals and petals, in centimetres."""
SPECIES = (
    ((5.936, 2.770, 4.260, 1.326), (0.516, 0.314, 0.470, 0.198)),
    ((6.588, 2.974, 5.552, 2.026), (0.636, 0.322, 0.552, 0.275)),
)
"""Means and standard deviations of versicolor and virginica, as Fisher (1936) gives them."""
TOGETHER = ((1, 0.53, 0.75, 0.55), (0.53, 1, 0.56, 0.66), (0.75, 0.56, 1, 0.79), (0.55, 0.66, 0.79, 1))
"""How the four go together within versicolor."""


@dataclass(frozen=True)
class Setting:
    """Where on an axis: a privacy level, how many answers are asked for, and of how many rows."""

    epsilon: float
    delta: float
    asked: int
    rows: int

    def noises(self, sensitivity: Mapping[str, float], point: float) -> dict[str, float]:
        """Return the standard deviation of the noise of every published way.

        Parameters
        ----------
        sensitivity
            Of the function, printed and exact.
        point
            How far one row moves one answer.
        """
        return {
            "printed": printed_factor(self.epsilon, self.delta) * sensitivity["printed"],
            "exact": exact_factor(self.epsilon, self.delta) * sensitivity["exact"],
            "output_gaussian": exact_factor(self.epsilon, self.delta) * sqrt(self.asked) * point,
            "output_laplace": sqrt(2) * self.asked * point / self.epsilon,
        }


class FunctionalPerturbation(Analysis):
    """Histogram, kernel density, Gaussian process regression, support vector machine: published and released.

    Notes
    -----
    *Printed* has the constants of the source, *exact* the least noise that is (ε, δ) with sensitivities that
    are attained; both are paths of a Gaussian process, in idealised arithmetic. *Released* is what leaves
    from this program, by the code that makes releases; of heights it is the form of `statistics.means`. Rows
    are invented: no table is read.
    """

    id = "functional_perturbation"
    published = Reference(
        "A. Dandekar, Privacy risk of releasing data and models, NUS 2019",
        "chapter 7, with corrections; Hall, Rinaldo and Wasserman (2013)",
    )
    parameters = (
        Parameter(
            "model",
            ParameterKind.CHOICE,
            default=DENSITY,
            choices=(HISTOGRAM, DENSITY, REGRESSION, CLASSES),
        ),
        Parameter("over", ParameterKind.CHOICE, default=ASKED, choices=(EPSILON, DELTA, ASKED, ROWS)),
        Parameter("epsilon", NUMBER, default="0.4"),
        Parameter("delta", NUMBER, default="0.001"),
        Parameter("asked", INTEGER, default=100, minimum=1, maximum=1000),
        Parameter("rows", INTEGER, optional=True, minimum=20, maximum=20_000),
        Parameter("runs", INTEGER, default=20, minimum=3, maximum=200),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        model, over = values["model"], values["over"]
        at = {
            EPSILON: float(positive(values["epsilon"], name="epsilon")),
            DELTA: float(share(values["delta"], name="delta")),
            ASKED: values["asked"],
            ROWS: values["rows"] or USUAL[model],
        }
        places = SIZES[model] if over == ROWS else SWEEPS[over]
        found: dict[str, list[float]] = {way: [] for way in WAYS}
        for step, place in enumerate(places):
            setting = Setting(**{**at, over: place})
            drawn = [EXPERIMENTS[model](setting, context.chance) for _ in range(values["runs"])]
            for way in WAYS:
                found[way].append(float(np.mean([one[way] for one in drawn])))
            context.progress.step((step + 1) / len(places) * 0.8, "sampled_sensitivity.pairs")
        attacked = attack_forms(Setting(**at), ATTACKS, context.chance)
        breaks = forms.queries_until_it_breaks(0.3, context.chance)
        sensitivity = sensitivities(model, at[ROWS], context.chance)
        figures = {
            "audience": "public",
            "model": model,
            "over": over,
            "places": list(places),
            "errors": found,
            "sensitivity": sensitivity,
            "attack": attacked,
            "path_breaks_at": breaks,
        }
        return Answer(self._views(figures, values["runs"]), figures)

    def _views(self, figures: Mapping[str, Any], runs: int) -> tuple[Any, ...]:
        model, over, errors = figures["model"], figures["over"], figures["errors"]
        guessed = figures["attack"]
        sentences: list[Text] = [
            self.word(f"models.{model}", runs=runs),
            self.word("breaks", query=figures["path_breaks_at"])
            if figures["path_breaks_at"]
            else self.word("holds"),
            self.word("state"),
            self.word("truncated", share=round(guessed["truncated"], 3), bound=round(guessed["bound"], 3)),
        ]
        if model == REGRESSION:
            sentences.append(self.word("isolated"))
        sentences.append(self.word("no_row"))
        axis, unit = self.word(f"axes.{over}"), self.word(f"errors.{model}")
        styles = {"plain": "dotted", "released": "accent"}
        series = tuple(
            line(self.word(f"ways.{way}"), figures["places"], errors[way], styles.get(way, "plain"))
            for way in WAYS
            if way != "output_laplace"  # so far above all others that they would look alike
        )
        headings = (axis, *(self.word(f"ways.{way}") for way in WAYS))
        rows = tuple(
            (place, *(float(f"{errors[way][at]:.3g}") for way in WAYS))
            for at, place in enumerate(figures["places"])
        )
        own = figures["sensitivity"]
        moved = tuple(
            (self.word(f"sensitivity.{name}"), float(f"{own[name]:.4g}"))
            for name in ("printed", "corrected", "exact", "found")
        )
        guesses = tuple(
            (self.word(f"attack.{name}"), round(guessed[name], 3))
            for name in ("truncated", "path", "features", "bound")
        )
        return (
            self.sentences(sentences),
            CurveView(self.word("picture.title"), axis, unit, series),
            TableView(self.word("table.title"), headings, rows, unit),
            TableView(
                self.word("sensitivity.title"),
                (self.word("sensitivity.what"), self.word("sensitivity.size")),
                moved,
                self.word("sensitivity.note"),
            ),
            TableView(
                self.word("attack.title"),
                (self.word("attack.what"), self.word("attack.right")),
                guesses,
                self.word("attack.note", tries=ATTACKS, off=round(NORMAL_WITHIN * sqrt(0.25 / ATTACKS), 2)),
            ),
        )


# --- the four experiments: each returns the error of every way, once -------------------------------------


def histogram(setting: Setting, chance: np.random.Generator) -> dict[str, float]:
    """Return root mean square errors of the density of N(2, 1.3) at places that it draws."""
    low, high = BOX
    rows, asked = (np.clip(chance.normal(2, 1.3, size), low, high) for size in (setting.rows, setting.asked))
    places = np.minimum(((asked - low) / (high - low) * BINS).astype(int), BINS - 1)
    width = (high - low) / BINS
    told = np.histogram(rows, BINS, BOX)[0] / (len(rows) * width)
    moved = {"printed": 2 / (len(rows) * width), "exact": sqrt(2) / (len(rows) * width)}
    return _errors(
        setting,
        _normal(asked),
        told[places],
        moved,
        moved["printed"] / 2,
        lambda: chance.normal(size=BINS)[places],
        _released_density("histogram", setting, rows, asked, chance),
        chance,
    )


def density(setting: Setting, chance: np.random.Generator) -> dict[str, float]:
    """Return the same of a kernel density."""
    rows, asked = (np.clip(chance.normal(2, 1.3, size), *BOX) for size in (setting.rows, setting.asked))
    return _errors(
        setting,
        _normal(asked),
        _kernel_density(rows, asked),
        {
            "printed": sqrt(2) / (len(rows) * sqrt(2 * pi) * WIDTH),
            "exact": forms.density_sensitivity(len(rows), columns=1, width=WIDTH, reach=BOX[1] - BOX[0]),
        },
        1 / (len(rows) * sqrt(2 * pi) * WIDTH),
        lambda: forms.path(asked[:, None], WIDTH, chance),
        _released_density("cosines", setting, rows, asked, chance),
        chance,
    )


def _split(setting: Setting, size: int, chance: np.random.Generator) -> tuple[Integers, Integers]:
    """Return the places of rows that are read, and of others that are asked about."""
    order = chance.permutation(size)
    return order[: setting.rows], order[setting.rows : setting.rows + setting.asked]


def regression(
    setting: Setting, chance: np.random.Generator, women: tuple[Floats, Floats] | None = None
) -> dict[str, float]:
    """Return root mean square errors, in centimetres, of heights by age: of others than those who were read.

    Parameters
    ----------
    women
        Ages and heights; invented ones where none are given.
    """
    ages, heights = women or invent_women(setting.rows + setting.asked, chance)
    own, other = _split(setting, len(ages), chance)
    reach, middle = HEIGHTS[1] - HEIGHTS[0], sum(HEIGHTS) / 2
    heights = np.clip(heights, *HEIGHTS)
    process = _process(ages[own])
    weights = process.weights(ages[other][:, None])
    plain = middle + weights @ (heights[own] - middle)
    found = _errors(
        setting,
        heights[other],
        plain,
        {
            "printed": process.printed_sensitivity(reach, with_signal=False),
            "exact": process.sensitivity(reach),
        },
        reach * float(np.abs(weights).max()),
        lambda: sqrt(process.signal) * forms.path(ages[other][:, None], process.width, chance),
        np.zeros(setting.asked),
        chance,
    )
    told = _binned_means(ages[own], heights[own], setting.epsilon, chance)
    return found | {"released": _rms(np.interp(ages[other], *told) - heights[other])}


def classes(
    setting: Setting, chance: np.random.Generator, flowers: tuple[Floats, Floats] | None = None
) -> dict[str, float]:
    """Return the share of wrong answers of a support vector machine, of other flowers than those read.

    Parameters
    ----------
    flowers
        Rows and −1 or 1; invented ones where none are given.
    """
    rows, signs = flowers or invent_flowers(setting.rows + setting.asked, chance)
    own, other = _split(setting, len(rows), chance)
    ends = np.array(FLOWERS)
    scaled = np.clip((rows - ends.mean(axis=1)) / (np.diff(ends).ravel() / 2), -1, 1)
    width = kernel_classes.WIDTHS["medium"] * sqrt(len(ends))
    told = forms.similarity(scaled[other], scaled[own], width) @ signs[own] / len(own)
    moved = forms.classes_sensitivity(len(own))
    noises = setting.noises({"printed": moved, "exact": moved}, moved)
    drawn = {
        "plain": np.zeros(len(other)),
        "printed": forms.path(scaled[other], width, chance),
        "exact": forms.path(scaled[other], width, chance),
        "output_gaussian": chance.normal(size=len(other)),
        "output_laplace": chance.laplace(scale=sqrt(0.5), size=len(other)),
    }
    found = {
        way: float(np.mean(np.sign(told + noises.get(way, 0.0) * one) != signs[other]))
        for way, one in drawn.items()
    }
    said = released_votes(
        rows[own], signs[own], rows[other], ends=FLOWERS, budget=_budget(setting), chance=chance
    )
    return found | {"released": float(np.mean(np.where(said > 0, 1.0, -1.0) != signs[other]))}


EXPERIMENTS: dict[str, Callable[[Setting, np.random.Generator], dict[str, float]]] = {
    HISTOGRAM: histogram,
    DENSITY: density,
    REGRESSION: regression,
    CLASSES: classes,
}


def sensitivities(model: str, rows: int, chance: np.random.Generator, tries: int = 200) -> dict[str, float]:
    """Return the sensitivities of a model: printed, corrected, exact, and the largest that was found."""
    low, high = BOX
    if model == HISTOGRAM:
        scale = BINS / (rows * (high - low))
        one, other = chance.integers(BINS, size=(2, tries))
        found = float(np.linalg.norm(np.eye(BINS)[one] - np.eye(BINS)[other], axis=1).max())
        own = {"printed": 2 * scale, "corrected": sqrt(2) * scale}
        return own | {"exact": sqrt(2) * scale, "found": found * scale}
    if model == DENSITY:
        peak = 1 / (sqrt(2 * pi) * WIDTH * rows)
        ends = np.append(chance.uniform(low, high, (tries, 2)), [BOX], axis=0)
        alike = np.exp(-(((ends[:, 0] - ends[:, 1]) / WIDTH) ** 2) / 2)
        exact = forms.density_sensitivity(rows, columns=1, width=WIDTH, reach=high - low)
        return {
            "printed": sqrt(2) * peak,
            "corrected": sqrt(2) * peak,
            "exact": exact,
            "found": float(np.sqrt(2 - 2 * alike).max()) * peak,
        }
    if model == CLASSES:
        both = forms.classes_sensitivity(rows)
        features = kernel_classes.drawn_frequencies(50, 4, 0.5) * (2 * pi / kernel_classes.PER_TURN)
        places = chance.uniform(-1, 1, (tries, 2, 4))
        places[0, 1] = places[0, 0]  # the same flower, said to be of the other kind
        angles = places @ features
        moved = np.concatenate([np.cos(angles), np.sin(angles)], axis=2) / sqrt(50)
        found = float(np.linalg.norm(moved[:, 0] + moved[:, 1], axis=1).max())
        return {"printed": both, "corrected": both, "exact": both, "found": found / rows}
    process, reach = _process(invent_women(rows, chance)[0]), HEIGHTS[1] - HEIGHTS[0]
    gram = process.signal * forms.similarity(process.places, process.places, process.width)
    columns = np.linalg.solve(gram + process.noise * np.eye(rows), reach * np.eye(rows))
    found = max(sqrt(float(one @ gram @ one)) for one in columns.T)
    return {
        "printed": process.printed_sensitivity(reach, with_signal=False),
        "corrected": process.printed_sensitivity(reach),
        "exact": process.sensitivity(reach),
        "found": found,
    }


def attack_forms(setting: Setting, times: int, chance: np.random.Generator) -> dict[str, float]:
    """Return how often an attacker says rightly who is in the rows, by form, and what the promise allows."""
    factor = exact_factor(setting.epsilon, setting.delta)
    guess = partial(forms.guess_who, rows=200, width=0.1, factor=factor, asked=40, chance=chance)
    found = {
        form: float(np.mean([guess(form) for _ in range(times)]))
        for form in ("truncated", "path", "features")
    }
    odds = np.exp(setting.epsilon)
    return found | {"bound": float((odds + setting.delta) / (1 + odds))}


# --- parts of the experiments --------------------------------------------------------------------------


def _errors(
    setting: Setting,
    truth: Floats,
    plain: Floats,
    moved: Mapping[str, float],
    point: float,
    drawn: Callable[[], Floats],
    released: Floats,
    chance: np.random.Generator,
) -> dict[str, float]:
    """Return the root mean square error of every way."""
    noises = setting.noises(moved, point)
    answers = {
        "plain": plain,
        "printed": plain + noises["printed"] * drawn(),
        "exact": plain + noises["exact"] * drawn(),
        "output_gaussian": plain + noises["output_gaussian"] * chance.normal(size=len(plain)),
        "output_laplace": plain + noises["output_laplace"] * chance.laplace(scale=sqrt(0.5), size=len(plain)),
        "released": released,
    }
    return {way: _rms(one - truth) for way, one in answers.items()}


def _rms(off: Floats) -> float:
    return float(np.sqrt(np.mean(off**2)))


def _normal(places: Floats) -> Floats:
    return np.asarray(np.exp(-(((places - 2) / 1.3) ** 2) / 2) / (sqrt(2 * pi) * 1.3))


def _kernel_density(rows: Floats, asked: Floats) -> Floats:
    parts = np.array_split(rows, max(1, len(rows) * len(asked) // 10**6))
    found = sum(forms.similarity(asked[:, None], part[:, None], WIDTH).sum(axis=1) for part in parts)
    return np.asarray(found / (len(rows) * sqrt(2 * pi) * WIDTH))


def _process(ages: Floats) -> forms.Regression:
    return forms.Regression(ages[:, None], width=10.0, signal=25.0, noise=400.0)


def invent_women(count: int, chance: np.random.Generator) -> tuple[Floats, Floats]:
    """Return ages, most of them young, and heights that fall a little with age."""
    ages = AGES[0] + (AGES[1] - AGES[0]) * chance.beta(1.2, 2.5, count)
    return ages, 150.5 - 0.06 * (ages - 30) + chance.normal(scale=5.1, size=count)


def invent_flowers(count: int, chance: np.random.Generator) -> tuple[Floats, Floats]:
    """Return flowers of two kinds with Fisher's means, and −1 or 1."""
    signs = np.where(chance.random(count) < 0.5, -1.0, 1.0)
    means, spreads = (np.array([kind[place] for kind in SPECIES]) for place in (0, 1))
    drawn = chance.multivariate_normal(np.zeros(4), np.array(TOGETHER), size=count)
    kind = (signs > 0).astype(int)
    return means[kind] + drawn * spreads[kind], signs


def _binned_means(
    ages: Floats, heights: Floats, epsilon: float, chance: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the middles of eight declared bins and noisy means, from two sums of each without a δ."""
    edges = np.linspace(*AGES, 9)
    cells = np.clip(np.searchsorted(edges, ages, side="right") - 1, 0, 7)
    part = (heights - HEIGHTS[0]) / (HEIGHTS[1] - HEIGHTS[0])
    # what a row adds to the two sums of its bin is 1 together: who is exchanged moves 2
    above, below = (
        np.bincount(cells, one, minlength=8) + chance.laplace(scale=2 / epsilon, size=8)
        for one in (part, 1 - part)
    )
    both = above + below
    spread = 2 * sqrt(2) / epsilon
    # a bin says its mean as far as it has more rows than noise, else what all bins say together
    overall = float(np.clip(above.sum() / max(both.sum(), 1.0), 0, 1))
    weight = np.maximum(both, 0.0) ** 2 / (np.maximum(both, 0.0) ** 2 + 16 * spread**2)
    means = weight * np.clip(above / np.maximum(both, 1.0), 0, 1) + (1 - weight) * overall
    return (edges[:-1] + edges[1:]) / 2, HEIGHTS[0] + means * (HEIGHTS[1] - HEIGHTS[0])


def _design(method_id: str, schema: Schema, given: Mapping[str, Any], budget: Budget) -> Any:
    kind: type[Method] = find_method(method_id)
    return kind(kind.make_request({MAIN: schema}, given, budget=budget))


def _budget(setting: Setting, *, pure: bool = False) -> Budget:
    delta = Fraction(0) if pure else Fraction(str(setting.delta))
    return Budget(Fraction(str(setting.epsilon)), delta, Neighbours.REPLACE_ONE)


def _column(name: str, kind: Kind, **domain: Any) -> Column:
    return Column(name, Role.OTHER, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


def _ends(low: float, high: float) -> dict[str, Fraction]:
    return {"minimum": Fraction(str(low)), "maximum": Fraction(str(high))}


def _released_density(
    way: str, setting: Setting, rows: Floats, asked: Floats, chance: np.random.Generator
) -> Floats:
    """Return the density at places as `statistics.density` releases it; as a histogram without a δ."""
    schema = Schema((_column("x", Kind.NUMBER, **_ends(*BOX)),))
    given = {"columns": ["x"], "way": way}
    design = _design("statistics.density", schema, given, _budget(setting, pure=way == HISTOGRAM))
    exact = design.exact(Table(pd.DataFrame({"x": rows})))
    noisy = design.mechanism.release(exact, Noise(chance.bytes))
    value, _ = design.curve(noisy.reshape(design.shape)).at((asked - BOX[0]) / (BOX[1] - BOX[0]))
    return np.asarray(value / (BOX[1] - BOX[0]))


def released_votes(
    rows: Floats,
    signs: Floats,
    asked: Floats,
    *,
    ends: Sequence[tuple[float, float]],
    budget: Budget,
    chance: np.random.Generator,
    similar: str = "medium",
) -> Floats:
    """Return the votes that `models.kernel_classes` has at other rows, by the code that releases them.

    Parameters
    ----------
    rows, signs
        Numbers, shape (n, d), and −1 or 1.
    asked
        Where votes are asked for, shape (m, d).
    ends
        What is declared of every column.
    budget, chance, similar
        Of the release.
    """
    names = [f"c{place}" for place in range(len(ends))]
    columns = [_column(name, Kind.NUMBER, **_ends(*own)) for name, own in zip(names, ends, strict=True)]
    schema = Schema((_column("kind", Kind.CATEGORY, values=("-1", "1")), *columns))
    given = {"target": "kind", "predictors": names, "similar": similar}
    design = _design("models.kernel_classes", schema, given, budget)
    frame = pd.DataFrame(rows, columns=names).assign(kind=[str(int(one)) for one in signs])
    noisy = design.division.noisy(VOTES, design.exact(Table(frame)), Noise(chance.bytes))
    return kernel_classes.votes(design.content(noisy), pd.DataFrame(asked, columns=names))
