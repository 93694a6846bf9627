"""Ways to a private model of a yes or no, for comparisons alone: nothing here makes a release.

Two are the releases of this program, on plain arrays. The rivals are in idealised arithmetic, see
`engine.analyses.regression_rivals`. Rows have columns between −1 and 1; the last one, the target, is −1 or 1.
A way returns what scores new rows: above 0 means yes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from engine.analyses.regression_rivals import vector_noise
from engine.arrays import Floats
from engine.methods.models import additive_steps, descent
from engine.methods.models.additive_schedule import Schedule
from engine.methods.models.points import PER_SIDE, Points
from engine.methods.models.residuals import RESIDUAL_STEPS
from engine.privacy.gaussian import gaussian_level
from engine.privacy.noise import Noise

Scores = Callable[[Floats], Floats]
CELLS = 12
TYPICAL = 2.0
"""Length of weights that output perturbation reckons with."""


def steps(rows: Floats, epsilon: float, delta: float, chance: np.random.Generator) -> Scores:
    """Return the logistic model of a release."""
    widths = (0,) * (rows.shape[1] - 1)
    plan = descent.DescentPlan(widths, *_level(epsilon, delta), 1, False, len(rows), True)
    points = Points(np.trunc(rows[:, :-1] * PER_SIDE).astype(np.int16), (), widths)
    return _linear(descent.fit(points, _yes(rows), plan, noise=Noise(chance.bytes)).solution.weights)


def additive(rows: Floats, epsilon: float, delta: float, chance: np.random.Generator) -> Scores:
    """Return the additive model of a release, with twelve cells a column."""
    columns = rows.shape[1] - 1
    plan = Schedule((CELLS,) * columns, *_level(epsilon, delta), 1, False, len(rows), True).borne_out()
    found = additive_steps.fit(
        [_cells(rows[:, place]) for place in range(columns)],
        _yes(rows),
        plan,
        ordered=[CELLS] * columns,
        noise=Noise(chance.bytes),
    )

    def scores(new: Floats) -> Floats:
        effects = [curve.effects[_cells(new[:, place])] for place, curve in enumerate(found.curves)]
        return np.asarray(found.intercept + np.sum(effects, axis=0))

    return scores


def functional(rows: Floats, epsilon: float, delta: float, chance: np.random.Generator) -> Scores:
    """Return the least of the noisy second-order Taylor series of the logistic loss, eigenvalues floored.

    Notes
    -----
    Zhang and others (2012), section 5: (½ − y)x and xx'/8 summed over rows. With a columns between −1 and 1,
    the 1 among them, one row moves all distinct coefficients together by at most a²/8 + a/2, which is
    reached; with δ, noise of variance 1 off and 2 on the diagonal and squared length a²/128 + a/4.
    """
    design, signed = _with_one(rows), rows[:, -1]
    active = size = design.shape[1]
    if delta:
        deviation = math.sqrt(active**2 / 128 + active / 4) / gaussian_level(epsilon, delta)
        drawn = np.triu(chance.normal(scale=deviation, size=(size, size)))
        linear = chance.normal(scale=deviation, size=size)
        diagonal = math.sqrt(2)
    else:
        scale = (active**2 / 8 + active / 2) / epsilon
        drawn = np.triu(chance.laplace(scale=scale / 2, size=(size, size)))  # half in either cell
        linear = chance.laplace(scale=scale, size=size)
        diagonal, deviation = 2.0, scale / math.sqrt(2)
    noise = np.triu(drawn, 1) + np.triu(drawn, 1).T + diagonal * np.diag(np.diag(drawn))
    values, vectors = np.linalg.eigh(design.T @ design / 8 + noise)
    lifted = np.maximum(values, 2 * deviation * math.sqrt(size))
    # the gradient of w'Aw − b'w is 2Aw − b
    return _linear(vectors @ ((vectors.T @ (design.T @ signed / 2 + linear)) / (2 * lifted)))


def objective(rows: Floats, epsilon: float, delta: float, chance: np.random.Generator) -> Scores:
    """Return weights by objective perturbation.

    Notes
    -----
    Chaudhuri and others (2011) for add/remove: a row is at most R = √a long and its loss bends by at most
    R²/4. λ = R²/(4(e^{ε/4} − 1)) takes a quarter of ε, the linear term of density exp(−¾ε |b| / R) the rest.
    """
    size = rows.shape[1]
    penalty = size / (4 * math.expm1(epsilon / 4))
    return _linear(_least(rows, penalty, vector_noise(size, math.sqrt(size) / (0.75 * epsilon), chance)))


def output(rows: Floats, epsilon: float, delta: float, chance: np.random.Generator) -> Scores:
    """Return the least of the logistic loss with a ridge, and noise on the answer.

    Notes
    -----
    Chaudhuri and others (2011): the answer moves by at most R/λ. λ is such that what the noise and the ridge
    cost together is least for weights of a typical length, from public numbers alone.
    """
    size = rows.shape[1]
    reach, bend = math.sqrt(size) / epsilon, len(rows) / 40
    # bend/2 · E|noise|² + λ/2 · |w|², with E|noise|² = size (size + 1)(reach/λ)², is least at
    penalty = (2 * bend * size * (size + 1) * reach**2 / TYPICAL**2) ** (1 / 3)
    return _linear(_least(rows, penalty, np.zeros(size)) + vector_noise(size, reach / penalty, chance))


def plain(rows: Floats, epsilon: float, delta: float, chance: np.random.Generator) -> Scores:
    """Return logistic regression without noise."""
    return _linear(_least(rows, 1e-6, np.zeros(rows.shape[1])))


def guess(rows: Floats, epsilon: float, delta: float, chance: np.random.Generator) -> Scores:
    """Return the more frequent answer for everybody, without noise."""
    more = float(np.sign(rows[:, -1].sum() or 1.0))
    return lambda new: np.full(len(new), more)


def error(rows: Floats, scores: Scores) -> float:
    """Return the share of wrong answers."""
    return float(np.mean((scores(rows[:, :-1]) > 0) != (rows[:, -1] > 0)))


def _level(epsilon: float, delta: float) -> tuple[Fraction, Fraction]:
    return Fraction(str(epsilon)), Fraction(str(delta))


def _yes(rows: Floats) -> np.ndarray:
    return (rows[:, -1] > 0).astype(np.int64) * RESIDUAL_STEPS


def _cells(values: Floats) -> np.ndarray:
    return np.clip(((values + 1) / 2 * CELLS).astype(np.int64), 0, CELLS - 1)


def _with_one(rows: Floats) -> Floats:
    return np.c_[np.ones(len(rows)), rows[:, :-1]]


def _linear(weights: Floats) -> Scores:
    return lambda new: np.asarray(weights[0] + new @ weights[1:])


def _least(rows: Floats, penalty: float, term: Floats) -> Floats:
    """Return the least of Σ logistic loss + penalty/2 · |w|² + term · w, by steps that bend bounds."""
    design, yes = _with_one(rows), rows[:, -1] > 0
    size = design.shape[1]
    weights = np.zeros(size)
    for _ in range(100):
        share = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        slope = design.T @ (share - yes) + penalty * weights + term
        bend = (design.T * np.maximum(share * (1 - share), 1e-4)) @ design + penalty * np.eye(size)
        move = np.linalg.solve(bend, slope)
        weights = weights - move * min(1.0, 2.0 / max(float(np.linalg.norm(move)), 1e-12))
        if float(np.linalg.norm(move)) < 1e-9:
            break
    return weights
