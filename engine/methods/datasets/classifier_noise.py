"""Rows with noise, made so that a linear classifier can still be learnt from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.errors import InputRefused
from engine.methods import option
from engine.methods.kinds import Changes
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    Context,
    DictionaryEntry,
    Family,
    FileArtefact,
    Forecast,
    Inside,
    Method,
    Reference,
    Release,
    Rows,
    Spends,
)
from engine.methods.shared.promise import promise_without_bound as no_bound
from engine.methods.shared.rows import entry, leaving
from engine.once import once
from engine.privacy.gaussian import continuous_delta
from engine.privacy.promise import Promise
from engine.table import coding
from engine.table.schema import Column, Kind
from engine.table.table import Table
from engine.views import TableView, Text

# --- which noise says least about a value at a given spread: without bounds, and within -----------------

Floats = arrays.Floats
POINTS = 2000
"""Steps of a bounded density: its moments are right to about six digits."""


@dataclass(frozen=True)
class Shape:
    """Noise of one column, independent of the others.

    Parameters
    ----------
    variance
        E[n²].
    information
        Fisher information of a value that is seen with this noise: no unbiased guess of it has a variance
        below its inverse (Cramér and Rao).
    ends, chances
        Of a bounded one: points from end to end, and the chance to lie at most there. Empty for the normal
        one.
    """

    variance: float
    information: float
    ends: Floats
    chances: Floats

    def draw(self, count: int, chance: np.random.Generator) -> Floats:
        """Draw noise."""
        if not len(self.ends):
            return chance.normal(0.0, self.variance**0.5, count)
        return np.interp(chance.random(count), self.chances, self.ends)


def normal_shape(rho: float, weight: float = 1.0) -> Shape:
    """Return the normal noise that minimises w · I(p) + ρ E[n²].

    Parameters
    ----------
    rho
        ρ > 0: how much utility counts.
    weight
        w > 0: how much the privacy of this column counts.

    Notes
    -----
    F. Farokhi, theorem 2.4: V = W^½ / √ρ, which solves V⁻¹ W V⁻¹ = ρ I; here W is diagonal.

    Examples
    --------
    >>> found = normal_shape(4.0)
    >>> found.variance, found.information
    (0.5, 2.0)
    """
    variance = (weight / rho) ** 0.5
    return Shape(variance, 1 / variance, np.zeros(0), np.zeros(0))


def bounded_shape(rho: float, reach: float, weight: float = 1.0) -> Shape:
    """Return the noise from −reach to reach that minimises w · I(p) + ρ E[n²].

    Parameters
    ----------
    rho
        ρ >= 0: how much utility counts.
    reach
        Above 0: no value moves further.
    weight
        w > 0: how much the privacy of this column counts.

    Notes
    -----
    F. Farokhi, theorem 2.6: p = ψ², ψ the ground state of −4 w ψ'' + ρ n² ψ = μ ψ with ψ = 0 at both ends, by
    finite differences. For ρ = 0 it is cos²(π n / 2 reach) / reach; far inside wide ends it is the normal
    one. I(p) = 4 ∫ ψ'².

    Examples
    --------
    >>> found = bounded_shape(0.0, 1.0)  # the variance of cos² is 1/3 − 2/π², its information π²
    >>> round(found.variance, 5), round(found.information, 4)
    (0.13069, 9.8696)
    """
    from scipy.linalg import eigh_tridiagonal

    step = 2 * reach / POINTS
    inner = -reach + step * np.arange(1, POINTS)
    diagonal = 8 * weight / step**2 + rho * inner**2
    beside = np.full(POINTS - 2, -4 * weight / step**2)
    ground = eigh_tridiagonal(diagonal, beside, select="i", select_range=(0, 0))[1][:, 0]
    ground = np.concatenate([[0.0], np.abs(ground), [0.0]])
    ground /= (step * (ground**2).sum()) ** 0.5
    points = np.concatenate([[-reach], inner, [reach]])
    density = ground**2
    chances = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)]) * step
    information = 4 * float((np.diff(ground) ** 2).sum()) / step
    variance = float((density * points**2).sum()) * step
    return Shape(variance, information, points, chances / chances[-1])


ID = "datasets.classifier_noise"
WORDS = f"methods.{ID}"
NORMAL, BOUNDED, SAME = "normal", "bounded", "same_classifier"
RECORD = "classifier.json"
_DRAWN = ("form", (NORMAL, BOUNDED))
_DIGITS = 6  # of the range of a column, that a value with independent noise is written with


class ClassifierNoise(Method):
    """Independent noise that says least of a value at its spread, or noise that a classifier does not see.

    Notes
    -----
    F. Farokhi: the normal noise of theorem 2.4, the bounded one of theorem 2.6, and the one of theorem 2.10
    that leaves a support vector machine exactly what it is. Values are scaled to 0 … 1 by their declared
    bounds, and those beyond are moved to the bound. The level ε that is stated for normal noise is that of
    exact arithmetic: what leaves was drawn in floating point and promises nothing. The noise that is not seen
    hides everything but α'x, which leaves exact. Classes leave as they are.
    """

    id = ID
    family = Family.DATASET
    promises = ("for_classifiers",)
    spends = Spends.NOTHING
    rows = Rows.REAL
    changes = (Changes.PERTURBED,)
    libraries = ("scipy",)
    published = Reference(
        "Farokhi: Privacy-preserving public release of datasets for support vector machine classification",
        "theorems 2.4, 2.6 and 2.10",
        "doi:10.1109/TBDATA.2019.2963391",
    )

    class Options(option.Options):
        columns: option.Names = option.columns(
            minimum=1, maximum=200, column_kinds=(Kind.INTEGER, Kind.NUMBER), needs_domain=True
        )
        label: str = option.column(
            column_kinds=(Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER), needs_domain=True
        )
        form: str = option.choice(NORMAL, BOUNDED, SAME, default=NORMAL)
        rho: Fraction = option.number(minimum=0, maximum=10**12, when=_DRAWN)
        reach: Fraction = option.number(minimum=Fraction(1, 1000), maximum=100, when=("form", (BOUNDED,)))
        weights: Mapping[str, Fraction] = option.number(
            optional=True, minimum=Fraction(1, 10**6), maximum=10**6, each=True, when=_DRAWN
        )
        size: Fraction = option.number(minimum=0, maximum=10**6, when=("form", (SAME,)))
        penalty: Fraction = option.number(default=1, minimum=Fraction(1, 10**4), maximum=10**4)
        kappa: Fraction = option.number(default=Fraction(1, 1000), minimum=Fraction(1, 10**6), maximum=10**3)
        delta: Fraction = option.number(
            default=Fraction(1, 10**5),
            minimum=Fraction(1, 10**12),
            maximum=Fraction(1, 10),
            when=("form", (NORMAL,)),
        )

    options: Options

    @once
    def further_problems(self) -> list[Problem]:
        options, label = self.options, self.options.label
        if label in options.columns:
            return [Problem(f"{ID}.label_twice", {"column": label}, "label")]
        found = len(coding.levels(self.schema.column(label)))
        if found != 2:
            return [Problem(f"{ID}.two_classes", {"column": label, "found": found}, "label")]
        for name in options.columns:
            if bounds(self.schema.column(name)) is None:
                return [Problem(f"{ID}.no_bounds", {"column": name}, "columns")]
        if options.form == NORMAL and options.rho == 0:
            return [Problem(f"{ID}.rho", {}, "rho")]
        strange = [name for name in options.weights or {} if name not in options.columns]
        return [Problem(f"{ID}.strange_weight", {"column": strange[0]}, "weights")] if strange else []

    @once
    def keeps(self) -> tuple[str, ...]:
        return (self.options.label,)  # all others get noise

    @once
    def cost(self) -> Promise:
        return no_bound(self.request, "for_classifiers")

    @once
    def forecast(self) -> Forecast:
        return Forecast(notes=_notes(self))

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        found = _scale(next(iter(tables.values())), self)
        assert context.chance is not None  # nothing bounds the loss
        options, shapes = self.options, shapes_of(self)
        learn = {"penalty": float(options.penalty), "kappa": float(options.kappa)}
        context.progress.step(0.2, "datasets.classifier")
        original = machine(found.rows, found.classes, **learn)
        if shapes is None and not original.exact:
            raise InputRefused(f"{ID}.not_exact")
        noise = (
            unseen_noise(original, found.classes, size=float(options.size), chance=context.chance)
            if shapes is None
            else np.column_stack([shape.draw(len(found.rows), context.chance) for shape in shapes])
        )
        released = found.written(found.rows + noise, exact=shapes is None)
        context.progress.step(0.6, "datasets.classifier")
        seen = machine((released - found.low) / found.width, found.classes, **learn)
        cells = {name: released[:, place] for place, name in enumerate(options.columns)}
        texts = {name: coding.texts_of(column) for name, column in cells.items()}
        frame = pd.DataFrame({**texts, options.label: found.labels}, index=found.origin, dtype="str")
        columns = [self.schema.column(name) for name in options.columns]
        entries = [
            DictionaryEntry(column.name, Text(f"{WORDS}.done.{options.form}"), str(Kind.NUMBER))
            for column in columns
        ]
        entries.append(entry(self.schema.column(options.label), "as_it_is"))
        table = leaving("table", frame, tuple(entries), context.chance)
        views = () if shapes is None else (_view(self, shapes),)
        return Release(
            (table, _record(self, shapes)),
            self.cost,
            views,
            _notes(self),
            inside=_inside(found, original, seen),
        )


@dataclass(frozen=True)
class Scaled:
    """The rows that have all their values, scaled to 0 … 1 by declared bounds.

    Parameters
    ----------
    rows
        Shape (rows, columns).
    classes
        −1 for the first declared value of the label, 1 for the second.
    labels
        The same as texts.
    low, width
        Of the bounds of each column.
    origin
        The row of the table that each was, counted from 0.
    left_out
        Rows with a missing value.
    """

    rows: Floats
    classes: Floats
    labels: npt.NDArray[np.object_]
    low: Floats
    width: Floats
    origin: npt.NDArray[np.int64]
    left_out: int

    def written(self, rows: Floats, *, exact: bool) -> Floats:
        """Return rows in the units of the columns, rounded unless every digit is needed."""
        released = self.low + rows * self.width
        if exact:
            return released
        decimals = (_DIGITS - np.floor(np.log10(self.width))).astype(int)
        # By decimals and not by a step: 3 · 0.1 is 0.30000000000000004.
        columns = [np.round(column, places) for column, places in zip(released.T, decimals, strict=True)]
        return np.column_stack(columns)


def bounds(column: Column) -> tuple[float, float] | None:
    """Return the declared bounds of a column; None where it has none."""
    domain = column.domain
    if domain is None or not isinstance(domain.minimum, Fraction) or not isinstance(domain.maximum, Fraction):
        return None
    return float(domain.minimum), float(domain.maximum)


def shapes_of(design: ClassifierNoise) -> list[Shape] | None:
    """Return the noise of each column, in shares of its range; None where it depends on the rows."""
    options = design.options
    if options.form == SAME:
        return None
    weights = [float((options.weights or {}).get(name, 1)) for name in options.columns]
    rho = float(options.rho)
    if options.form == NORMAL:
        return [normal_shape(rho, weight) for weight in weights]
    reach = float(options.reach)
    made = {weight: bounded_shape(rho, reach, weight) for weight in set(weights)}
    return [made[weight] for weight in weights]


def level_of(shapes: list[Shape], *, rows: int, delta: float) -> float:
    """Return the ε at which normal noise has a δ, for all values of a person at once.

    Notes
    -----
    Two rows differ in each column by at most its range, which is 1. In units of the noise that is a distance
    of √(Σ 1/V_j); the exact δ of Balle and Wang (2018) is turned round.
    """
    from scipy.optimize import brentq

    distance = (rows * sum(1 / shape.variance for shape in shapes)) ** 0.5

    def beyond(epsilon: float) -> float:
        return continuous_delta(scale=1.0, epsilon=epsilon, sensitivity=distance) - delta

    return 0.0 if beyond(0.0) <= 0 else float(brentq(beyond, 0.0, distance * (distance + 20.0)))


def _scale(table: Table, design: ClassifierNoise) -> Scaled:
    rows, schema, names = table.rows(), design.schema, design.options.columns
    ends = np.array([bounds(schema.column(name)) for name in names], dtype=np.float64)
    low, width = ends[:, 0], ends[:, 1] - ends[:, 0]
    values = np.column_stack([coding.numbers(rows[name], schema.column(name)) for name in names])
    label = schema.column(design.options.label)
    codes = coding.codes(rows[label.name], label)
    whole = ~np.isnan(values).any(axis=1) & (codes < 2)
    classes = np.where(codes[whole] == 1, 1.0, -1.0)
    if len(np.unique(classes)) < 2:
        raise InputRefused(f"{ID}.one_class", column=label.name)
    inside = np.clip((values[whole] - low) / width, 0.0, 1.0).astype(np.float64)
    labels = np.array(coding.levels(label), dtype=object)[codes[whole]]
    return Scaled(inside, classes, labels, low, width, np.flatnonzero(whole), int((~whole).sum()))


def _view(design: ClassifierNoise, shapes: list[Shape]) -> TableView:
    """Say how wide the noise of each column is, and how wrong a guess of a value is at least."""
    rows: list[tuple[str | float, ...]] = []
    for name, shape in zip(design.options.columns, shapes, strict=True):
        low, high = bounds(design.schema.column(name)) or (0.0, 1.0)
        wide = high - low
        errors = (shape.variance**0.5, shape.information**-0.5)
        rows.append((name, *(float(f"{wide * error:.4g}") for error in errors)))
    headings = tuple(Text(f"{WORDS}.views.columns.{one}") for one in ("column", "noise", "guess"))
    return TableView(
        Text(f"{WORDS}.views.columns.title"), headings, tuple(rows), Text(f"{WORDS}.views.columns.note")
    )


def _notes(design: ClassifierNoise) -> tuple[Text, ...]:
    options = design.options
    if options.form == SAME:
        return (Text(f"{WORDS}.notes.projection"),)
    if options.form == BOUNDED:
        return (Text(f"{WORDS}.notes.bounded"),)
    level = level_of(shapes_of(design) or [], rows=design.request.rows_per_person, delta=float(options.delta))
    return (Text(f"{WORDS}.notes.level", {"epsilon": float(f"{level:.3g}"), "delta": options.delta}),)


def _record(design: ClassifierNoise, shapes: list[Shape] | None) -> FileArtefact:
    """Return what a program of the recipient needs: how values were scaled, and their noise."""
    options = design.options
    tree: dict[str, Any] = {
        "version": 2,
        "form": options.form,
        "columns": [{"name": name, "bounds": bounds(design.schema.column(name))} for name in options.columns],
        "classes": list(coding.levels(design.schema.column(options.label))),
        "penalty": float(options.penalty),
        "kappa": float(options.kappa),
    }
    if shapes is None:
        tree["size"] = float(options.size)
    else:
        tree["variance_of_scaled"] = [shape.variance for shape in shapes]
        tree["information_of_scaled"] = [shape.information for shape in shapes]
    content = (json.dumps(tree, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
    return FileArtefact(RECORD, "application/json", content, Text(f"{WORDS}.record"))


def _inside(found: Scaled, original: Machine, seen: Machine) -> Inside:
    moved = max(float(np.abs(seen.alpha - original.alpha).max()), abs(seen.beta - original.beta))
    figures = {
        "rows": len(found.rows),
        "left_out": found.left_out,
        "right_before": round(float((original.classes(found.rows) == found.classes).mean()), 4),
        "right_after": round(float((seen.classes(found.rows) == found.classes).mean()), 4),
        "moved": float(f"{moved:.3g}"),
    }
    words = f"{WORDS}.views.inside"
    rows = tuple((Text(f"{words}.{name}"), value) for name, value in figures.items())
    view = TableView(
        Text(f"{words}.title"),
        (Text(f"{words}.figure"), Text(f"{words}.value")),
        rows,
        Text(f"{words}.note"),
    )
    return Inside((view,), figures)


# --- the support vector machine, and noise that leaves it what it is -------------------------------------


_MOST_STEPS, _GAP, _WRONG = 100, 1e-9, 1e-7
_MOST_REPAIRS = 50


@dataclass(frozen=True)
class Machine:
    """The classifier sign(α'x + β), and what proves that it is the one.

    Parameters
    ----------
    alpha, beta
        Minimise ½‖α‖² + ½ κ β² + θ Σ ξ_i so that y_i (α'x_i + β) >= 1 − ξ_i and ξ >= 0.
    multipliers
        λ of the margin conditions, shape (rows,), each from 0 to θ.
    exact
        Whether all conditions of Karush, Kuhn and Tucker hold to nearly the last digit.
    """

    alpha: Floats
    beta: float
    multipliers: Floats
    exact: bool

    def classes(self, rows: Floats) -> npt.NDArray[np.int64]:
        """Return the class of each row, −1 or 1."""
        return np.where(rows @ self.alpha + self.beta >= 0, 1, -1)


def machine(rows: Floats, classes: Floats, *, penalty: float, kappa: float) -> Machine:
    """Find the classifier of a table.

    Parameters
    ----------
    rows
        Shape (rows, columns), of about the size of 1.
    classes
        −1 or 1, both present.
    penalty, kappa
        θ > 0 of rows within the margin, κ > 0 of the constant.

    Notes
    -----
    With x̃ = (x, 1/√κ) and w = (α, √κ β) it is a machine without a constant. Its dual, ½ λ'Qλ − 1'λ over the
    box 0 <= λ <= θ with Q of low rank, is solved by an interior point method (M. Ferris and T. Munson, 2002),
    in a time that grows with the rows. The sets of rows beyond, on and within the margin are then taken as
    true, which leaves linear equations: w = Σ λ_i y_i x̃_i with λ = θ within the margin, 0 beyond, and
    y_i w'x̃_i = 1 on it. Rows whose multiplier or margin contradicts their set change it until none does.

    Examples
    --------
    >>> found = machine(np.array([[0.0], [1.0]]), np.array([-1.0, 1.0]), penalty=100.0, kappa=1e-6)
    >>> found.alpha.round(4).tolist(), round(found.beta, 4), found.exact
    ([2.0], -1.0, True)
    """
    wide = np.column_stack([rows, np.full(len(rows), kappa**-0.5)])
    weights, multipliers, exact = _polish(wide * classes[:, None], penalty)
    return Machine(weights[:-1], float(weights[-1] * kappa**-0.5), multipliers, exact)


def _inside_the_box(
    signed: Floats, penalty: float
) -> tuple[Floats, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Solve the dual nearly; return the multipliers, which rows are on the margin and which within.

    Mehrotra's predictor and corrector: λ and s = θ − λ are the distances to both ends of the box, z and u
    what they are paid with, (Q + D) Δλ = r with D = z/λ + u/s, solved through the few columns of Q.
    """
    rows = len(signed)
    inner, z, u = np.full(rows, penalty / 2), np.ones(rows), np.ones(rows)
    slack = inner.copy()
    for _ in range(_MOST_STEPS):
        wrong = 1 + z - u - signed @ (signed.T @ inner)
        gap = float(inner @ z + slack @ u) / (2 * rows)
        if gap < _GAP * penalty and np.abs(wrong).max() < _WRONG:
            break
        diagonal = z / inner + u / slack
        scaled = signed / diagonal[:, None]
        # The factor of 1 + Z'D⁻¹Z, without squaring what is badly conditioned near the end
        both = np.vstack([np.eye(signed.shape[1]), signed / np.sqrt(diagonal)[:, None]])
        core = np.asarray(np.linalg.qr(both, mode="r")).T
        solve = partial(_solve, diagonal=diagonal, scaled=scaled, core=core)
        first = solve(wrong - z + u)
        first_z, first_u = -z - z * first / inner, -u + u * first / slack
        far = _how_far(inner, first, slack, -first, z, first_z, u, first_u)
        left = float(
            (inner + far * first) @ (z + far * first_z) + (slack - far * first) @ (u + far * first_u)
        )
        aim = gap * (left / (2 * rows * gap)) ** 3
        lower, upper = aim - inner * z - first * first_z, aim - slack * u + first * first_u
        moved = solve(wrong + lower / inner - upper / slack)
        more_z, more_u = (lower - z * moved) / inner, (upper + u * moved) / slack
        far = 0.995 * _how_far(inner, moved, slack, -moved, z, more_z, u, more_u)
        inner, slack = inner + far * moved, slack - far * moved
        z, u = z + far * more_z, u + far * more_u
    within = slack / penalty < u
    return inner, ~within & (inner / penalty >= z), within


def _solve(right: Floats, *, diagonal: Floats, scaled: Floats, core: Floats) -> Floats:
    """Solve (D + ZZ') x = r through the few columns of Z: Woodbury's identity."""
    part = np.linalg.solve(core.T, np.linalg.solve(core, scaled.T @ right))
    return np.asarray(right / diagonal - scaled @ part)


def _how_far(*pairs: Floats) -> float:
    """Return how far one can go until something that has to stay positive is 0, at most 1."""
    far = 1.0
    for value, moved in zip(pairs[::2], pairs[1::2], strict=True):
        falling = moved < 0
        if falling.any():
            far = min(far, float((-value[falling] / moved[falling]).min()))
    return far


def _polish(signed: Floats, penalty: float) -> tuple[Floats, Floats, bool]:
    """Return weights, multipliers, and whether the conditions hold; ``signed`` are the rows times y_i."""
    multipliers, on, within = _inside_the_box(signed, penalty)
    weights = signed.T @ multipliers
    loose = 1e-9 * max(1.0, float(np.abs(signed).max()))  # margins are sums of such sizes
    for _ in range(_MOST_REPAIRS):
        fixed = penalty * signed[within].sum(axis=0)
        edge = signed[on]
        # Rows that depend on each other leave several multipliers: those nearest to the solved ones are taken
        near, added = multipliers[on], np.linalg.lstsq(edge, 1 - edge @ fixed, rcond=None)[0]
        inner = near + np.linalg.lstsq(edge.T, added - edge.T @ near, rcond=None)[0]
        multipliers = np.where(within, penalty, 0.0)
        multipliers[on] = inner
        weights = signed.T @ multipliers
        margins = signed @ weights
        places = np.flatnonzero(on)
        slack = 1e-9 * penalty
        below, above = places[inner < -slack], places[inner > penalty + slack]
        new = np.flatnonzero((within & (margins > 1 + loose)) | (~within & ~on & (margins < 1 - loose)))
        if not (below.size or above.size or new.size):
            held = not on.any() or bool(np.abs(margins[on] - 1).max() < loose)
            return weights, np.clip(multipliers, 0.0, penalty), held
        on[below] = on[above] = False
        within[above], within[new], on[new] = True, False, True
    return weights, multipliers, False


def unseen_noise(found: Machine, classes: Floats, *, size: float, chance: np.random.Generator) -> Floats:
    """Draw noise of a size that leaves the classifier what it is.

    Parameters
    ----------
    found
        Of the rows without noise.
    classes
        −1 or 1, shape (rows,).
    size
        ϑ >= 0: the variance of the noise in every direction that it can take.

    Notes
    -----
    F. Farokhi, theorem 2.10: where α'n_i = 0 for all rows and Σ λ_i y_i n_i = 0, the conditions of the
    classifier hold for x_i + n_i as they did for x_i. n = √ϑ Ψ g with an orthonormal basis Ψ of that space
    has the law of √ϑ g projected onto it, and both projections commute. α'x_i is left exact.
    """
    drawn = chance.standard_normal((len(classes), len(found.alpha))) * size**0.5
    long = float(found.alpha @ found.alpha)
    if long > 0:
        drawn -= np.outer(drawn @ found.alpha, found.alpha) / long
    weights = found.multipliers * classes
    if (total := float(weights @ weights)) > 0:
        drawn -= np.outer(weights, weights @ drawn) / total
    return drawn
