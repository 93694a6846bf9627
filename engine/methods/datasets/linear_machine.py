"""A support vector machine of two classes, solved to the last digit, and noise that leaves it what it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from engine.methods.datasets.noise_shapes import Floats

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
    weights, multipliers, exact = _polished(wide * classes[:, None], penalty)
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
        solve = partial(_solved, diagonal=diagonal, scaled=scaled, core=core)
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


def _solved(right: Floats, *, diagonal: Floats, scaled: Floats, core: Floats) -> Floats:
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


def _polished(signed: Floats, penalty: float) -> tuple[Floats, Floats, bool]:
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
