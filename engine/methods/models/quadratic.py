"""The least of a noisy quadratic, and how far the noise moves it. Reads noisy and declared numbers only."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from engine.methods.models.monomials import Floats, Monomials

_ROUNDING = 1e-9  # relative; eigenvalues below it are rounding
_MOST_SWEEPS = 1000
_MOST_EXPLAINED = 0.9


@dataclass(frozen=True)
class Solution:
    """A linear model of coordinates between −1 and 1.

    Parameters
    ----------
    weights
        Coefficients, the intercept first, shape (size,).
    covariance
        Of what the noise adds to them, shape (size, size).
    lifted
        How many eigenvalues were below the floor.
    floor
        The smallest eigenvalue that was let stand.
    """

    weights: Floats
    covariance: Floats
    lifted: int
    floor: float


def solve(
    gram: Floats,
    cross: Floats,
    monomials: Monomials,
    *,
    noise: float,
    penalty: float,
    absolute: float = 0.0,
) -> Solution:
    """Return the least of ω'Gω − 2c'ω + penalty · ((1 − absolute) Σ ω² + absolute Σ |ω|).

    The penalty is on all coefficients but the intercept.

    Parameters
    ----------
    gram, cross
        Noisy X'X, shape (size, size), symmetric, and X'y, shape (size,).
    monomials
        Which cells share their noise.
    noise
        Standard deviation of the noise of a released product, in the units of ``gram`` · 2.
    penalty
        At least 0.
    absolute
        Which share of it is on absolute values: 0 is ridge, 1 the lasso, between them the elastic net.

    Notes
    -----
    Noise can make the quadratic open downwards, so that it has no least value. Eigenvalues below
    2 s √size are lifted to it, where s is the standard deviation of a cell: that is how large the
    eigenvalues of the noise alone are, so what lies below it says nothing. The floor follows from declared
    numbers, and all of this is computed from what was already protected: it costs nothing, and it pulls
    coefficients towards 0.

    The covariance is that of the first-order change G⁻¹(η_c − η_G ω): noise in a product enters two rows of
    the matrix at once.
    """
    size, cell = cross.size, noise / 2
    ridge = (1 - absolute) * penalty
    penalised = gram + ridge * np.diag(np.r_[0.0, np.ones(size - 1)])
    values, vectors = np.linalg.eigh(penalised)
    floor = max(2 * cell * np.sqrt(size), _ROUNDING * max(float(values[-1]), 1.0))
    lifted = np.maximum(values, floor)
    inverse = (vectors / lifted) @ vectors.T
    weights = inverse @ cross
    if absolute * penalty > 0:
        weights = _shrunk((vectors * lifted) @ vectors.T, cross, weights, absolute * penalty)
        inverse = _inverse_of((vectors * lifted) @ vectors.T, weights != 0)
    covariance = inverse @ _move(weights, monomials, cell) @ inverse
    return Solution(weights, covariance, int((values < floor).sum()), floor)


def discriminant(gram: Floats, cross: Floats, monomials: Monomials, *, noise: float) -> Solution:
    """Return the log-odds of two normal distributions with one covariance, from noisy products.

    Parameters
    ----------
    gram, cross
        Noisy X'X, the intercept first, and X's, where s is −1 or 1 by class.
    monomials, noise
        See `solve`.

    Notes
    -----
    With p of the rows in the second class, q = 1 − p and m the mean, b of least squares and
    R² = b'Cov(x, s)/4pq: the log-odds are w'(x − m) + (p − q)D/2 + log(p/q), w = b/(2pq(1 − R²)),
    D = R²/(pq(1 − R²)). R² is kept below `_MOST_EXPLAINED`, and p within 1 and 99 %, as noise has no ends.
    To normal predictors it is what logistic regression tends to.

    Source: R. A. Fisher, The use of multiple measurements in taxonomic problems (1936); B. Efron, The
    efficiency of logistic regression compared to normal discriminant analysis (1975).
    """
    fitted = solve(gram, cross, monomials, noise=noise, penalty=0.0)
    rows = max(float(gram[0, 0]), 1.0)
    mean, balance = gram[0] / rows, float(np.clip(cross[0] / rows, -0.98, 0.98))
    both = (1 - balance**2) / 4  # p q
    explained = fitted.weights[1:] @ (cross[1:] / rows - mean[1:] * balance) / (4 * both)
    left = 1 - float(np.clip(explained, 0.0, _MOST_EXPLAINED))
    scale = 1 / (2 * both * left)
    weights = scale * fitted.weights
    middle = balance * (1 - left) / (2 * both * left) + np.log((1 + balance) / (1 - balance))
    weights[0] = middle - mean[1:] @ weights[1:]
    return replace(fitted, weights=weights, covariance=scale**2 * fitted.covariance)


def discriminant_products(moments: Floats, weights: Floats) -> Floats:
    """Return the means of x s, from which `discriminant` finds weights again; both classes equally often.

    ``moments`` are the means of x x', the 1 first. From D(1 + pqD) = w'Cov(x)w.
    """
    covariance = moments - np.outer(moments[0], moments[0])
    moved = covariance @ weights
    apart = 2 * (np.sqrt(1 + max(float(weights @ moved), 0.0)) - 1)
    return np.asarray(moved / (2 * (1 + apart / 4)))


def _shrunk(gram: Floats, cross: Floats, weights: Floats, penalty: float) -> Floats:
    """Return the least of ω'Gω − 2c'ω + penalty · Σ |ω|, the intercept free, by coordinate descent.

    ``gram`` has only positive eigenvalues, so that every sweep comes closer. All of it was already protected.
    """
    found = weights.copy()
    for _ in range(_MOST_SWEEPS):
        before = found.copy()
        for place in range(found.size):
            pull = cross[place] - gram[place] @ found + gram[place, place] * found[place]
            kept = abs(pull) - (penalty / 2 if place else 0.0)
            found[place] = np.sign(pull) * max(kept, 0.0) / gram[place, place]
        if np.abs(found - before).max() <= _ROUNDING:
            break
    return found


def _inverse_of(gram: Floats, kept: npt.NDArray[np.bool_]) -> Floats:
    """Return the inverse on the coefficients that are not 0; the others do not move."""
    places = np.ix_(kept, kept)
    found = np.zeros_like(gram)
    found[places] = np.linalg.inv(gram[places])
    return found


def _move(weights: Floats, monomials: Monomials, cell: float) -> Floats:
    """Return the covariance of η_c − η_G ω, for noise of standard deviation ``cell`` in every cell."""
    blocks, is_cell = monomials.blocks[:-1], monomials.is_cell[:-1]
    free = (blocks[:, None] != blocks).astype(float)
    # A product with the intercept is a count of its cell: the same draw stands on the diagonal too
    free[0, is_cell] = free[is_cell, 0] = 0.0
    found = free * np.outer(weights, weights)
    squares = np.where(is_cell, 0.0, 2.0 * weights) ** 2  # a square has the whole draw, a cell half of it
    found += np.diag(1.0 + free @ weights**2 + squares)
    cells = np.flatnonzero(is_cell)
    both = weights[cells] + weights[0]
    found[cells, cells] += both**2
    found[0, 0] += float((weights[cells] ** 2).sum())
    found[0, cells] += weights[cells] * both
    found[cells, 0] += weights[cells] * both
    return np.asarray(found * cell**2)


def centre_effects(
    solution: Solution, starts: tuple[int, ...], widths: tuple[int, ...], counts: Floats
) -> Solution:
    """Say the effect of every level as the distance from the average of its block; predictions stay.

    ``counts`` are the (noisy) numbers of rows of every coordinate; those below 0 count as 0.
    """
    shift = np.eye(solution.weights.size)
    for start, width in zip(starts, widths, strict=True):
        if width:
            block = slice(start, start + width)
            known = np.maximum(counts[block], 0.0)
            shares = known / known.sum() if known.sum() > 0 else np.full(width, 1 / width)
            shift[block, block] -= shares
            shift[0, block] += shares
    weights = shift @ solution.weights
    return Solution(weights, shift @ solution.covariance @ shift.T, solution.lifted, solution.floor)
