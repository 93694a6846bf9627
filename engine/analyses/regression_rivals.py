"""Other ways to a private linear regression, for comparisons alone: nothing here makes a release.

All of them are in idealised arithmetic: ordinary floating point and ordinary random numbers. Some need the
exact least of a function, which no floating point gives. Rows have columns between −1 and 1, the target
last; neighbours have one row more or less. Residuals are clipped at one half where they are clipped.
"""

from __future__ import annotations

import math

import numpy as np

from engine import arrays
from engine.methods.models.monomials import Monomials, largest_change, largest_squared_change
from engine.methods.models.quadratic import solve
from engine.privacy.gaussian import gaussian_level

Floats = arrays.Floats
CLIPPED = 0.5
UNSURE = 0.05
"""How often the noise of a matrix may be larger than adaptive sufficient statistics reckon with."""


def functional(rows: Floats, epsilon: float, delta: float, chance: np.random.Generator) -> Floats:
    """Return weights from noisy products of columns, with a floor under the eigenvalues.

    Parameters
    ----------
    rows
        Shape (n, d + 1).
    epsilon, delta
        δ = 0 for Laplace noise: the functional mechanism (Zhang and others 2012); otherwise Gaussian noise
        (Dwork and others 2014).
    chance
        Draws the noise of the comparison.

    Returns
    -------
    ndarray, shape (d + 1,)
        The intercept first; for every function here.
    """
    monomials = Monomials((0,) * (rows.shape[1] - 1))
    noisy, deviation = _noisy_products(rows, epsilon, delta, chance)
    return solve(*monomials.matrix(noisy), monomials, noise=deviation, penalty=0.0).weights


def functional_as_printed(rows: Floats, epsilon: float, delta: float, chance: np.random.Generator) -> Floats:
    """Return weights by the functional mechanism without a floor."""
    noisy, _ = _noisy_products(rows, epsilon, delta, chance)
    return np.asarray(np.linalg.solve(*Monomials((0,) * (rows.shape[1] - 1)).matrix(noisy)))


def functional_trimmed(rows: Floats, epsilon: float, delta: float, chance: np.random.Generator) -> Floats:
    """Return weights by the functional mechanism with its source's ridge and trimming.

    Notes
    -----
    Zhang and others (2012), section 6: four standard deviations of the noise are added to the diagonal, and
    directions whose eigenvalue is not above 0 even so are left out.
    """
    noisy, deviation = _noisy_products(rows, epsilon, delta, chance)
    gram, cross = Monomials((0,) * (rows.shape[1] - 1)).matrix(noisy)
    values, vectors = np.linalg.eigh(gram + 4 * deviation * np.eye(len(gram)))
    kept = values > 0
    return np.asarray(vectors[:, kept] @ (vectors[:, kept].T @ cross / values[kept]))


def mean(rows: Floats, epsilon: float, delta: float, chance: np.random.Generator) -> Floats:
    """Return weights that predict the mean of the target for everybody, without noise."""
    return np.r_[rows[:, -1].mean(), np.zeros(rows.shape[1] - 1)]


def _noisy_products(
    rows: Floats, epsilon: float, delta: float, chance: np.random.Generator
) -> tuple[Floats, float]:
    """Return the products of columns with noise, and its standard deviation."""
    columns = rows.shape[1] - 1
    monomials = Monomials((0,) * columns)
    whole = np.c_[np.ones(len(rows)), rows]
    products = (whole.T @ whole)[monomials.places] * monomials.weights
    if delta:
        squared = largest_squared_change(numbers=columns, blocks=0, replace_one=False)
        deviation = math.sqrt(squared) / gaussian_level(epsilon, delta)
        return products + chance.normal(scale=deviation, size=products.size), deviation
    scale = largest_change(numbers=columns, blocks=0, replace_one=False) / epsilon
    return products + chance.laplace(scale=scale, size=products.size), scale * math.sqrt(2)


def adaptive(rows: Floats, epsilon: float, delta: float, chance: np.random.Generator) -> Floats:
    """Return weights by adaptive sufficient statistics (AdaSSP), with a ridge that the noise chooses.

    Notes
    -----
    Wang (2018), algorithm 2: a third each for the smallest eigenvalue of X'X, for X'X and for X'y. As printed
    the noise is √ln(6/δ)/(ε/3) times each sensitivity; here it is √3/μ times, which is less and exactly
    (ε, δ) together: the rival at its best.
    """
    design, target = np.c_[np.ones(len(rows)), rows[:, :-1]], rows[:, -1]
    size = design.shape[1]
    scale = math.sqrt(3) / gaussian_level(epsilon, delta)
    gram_noise, cross_noise = size * scale, math.sqrt(size) * scale  # |x|² ≤ size, |y| ≤ 1
    gram = design.T @ design
    least = np.linalg.eigvalsh(gram)[0] + chance.normal(scale=gram_noise)
    least = max(float(least) - gram_noise * math.sqrt(math.log(6 / delta)), 0.0)
    upper = np.triu(chance.normal(scale=gram_noise, size=(size, size)))
    reckoned = gram_noise * math.sqrt(size * math.log(2 * size**2 / UNSURE))
    penalty = max(reckoned - least, 0.0)
    noisy = gram + upper + np.triu(upper, 1).T + penalty * np.eye(size)
    cross = design.T @ target + chance.normal(scale=cross_noise, size=size)
    return np.asarray(np.linalg.solve(noisy, cross))


def objective(rows: Floats, epsilon: float, delta: float, chance: np.random.Generator) -> Floats:
    """Return weights by objective perturbation of the Huber loss.

    Notes
    -----
    Chaudhuri and others (2011) for add/remove: one quarter of ε for the curvature, λ = R²/(e^{ε/4} − 1), the
    rest for the linear term, of density exp(−ε' |b| / (R B)).
    """
    size = rows.shape[1]
    penalty = size / math.expm1(epsilon / 4)
    term = vector_noise(size, math.sqrt(size) * CLIPPED / (0.75 * epsilon), chance)
    return _huber(rows, penalty, term)


def output(rows: Floats, epsilon: float, delta: float, chance: np.random.Generator) -> Floats:
    """Return the least of the Huber loss with a ridge, and noise on the answer.

    Notes
    -----
    Chaudhuri and others (2011): the answer moves by at most R B / λ. λ is such that what ridge and noise cost
    together is least for weights of length one half and uncorrelated columns: from public numbers alone.
    """
    size, squared = rows.shape[1], 0.25
    reach = math.sqrt(size) * CLIPPED / epsilon
    # n/6 · (size · reach / λ)² + λ · squared is least where its derivative is 0
    penalty = (len(rows) / 3 * (size * reach) ** 2 / squared) ** (1 / 3)
    return _huber(rows, penalty, np.zeros(size)) + vector_noise(size, reach / penalty, chance)


def vector_noise(size: int, scale: float, chance: np.random.Generator) -> Floats:
    """Return a vector of density exp(−length / scale): what `Noise.vector` draws exactly on whole numbers."""
    way = chance.normal(size=size)
    return np.asarray(way / np.linalg.norm(way) * chance.gamma(size, scale))


def _huber(rows: Floats, penalty: float, term: Floats) -> Floats:
    """Return the least of Σ Huber loss + penalty/2 · |w|² + term · w, by repeated least squares."""
    design, target = np.c_[np.ones(len(rows)), rows[:, :-1]], rows[:, -1]
    size = design.shape[1]
    weights, gram = np.zeros(size), np.linalg.inv(design.T @ design + penalty * np.eye(size))
    for _ in range(200):
        left = np.clip(target - design @ weights, -CLIPPED, CLIPPED)
        weights = weights + gram @ (design.T @ left - penalty * weights - term)
    return weights


def histogram(rows: Floats, epsilon: float, delta: float, chance: np.random.Generator) -> Floats:
    """Return least squares on the cells of a noisy histogram of all columns (DPME, Lei 2011)."""
    columns = rows.shape[1]
    side = max(2, int((len(rows) / math.sqrt(math.log(len(rows)))) ** (1 / (columns + 2))))
    places = np.minimum(((rows + 1) / 2 * side).astype(int), side - 1)
    counts = np.bincount(places @ side ** np.arange(columns), minlength=side**columns).astype(float)
    counts = np.maximum(counts + chance.laplace(scale=1 / epsilon, size=counts.size), 0)
    cells = np.arange(counts.size)[:, None] // side ** np.arange(columns) % side
    middles = (cells + 0.5) * 2 / side - 1
    design = np.c_[np.ones(len(cells)), middles[:, :-1]]
    gram = design.T @ (design * counts[:, None]) + 1e-6 * np.eye(columns)
    return np.asarray(np.linalg.solve(gram, design.T @ (counts * middles[:, -1])))


def plain(rows: Floats, epsilon: float, delta: float, chance: np.random.Generator) -> Floats:
    """Return the weights of least squares, without noise."""
    return np.asarray(np.linalg.lstsq(np.c_[np.ones(len(rows)), rows[:, :-1]], rows[:, -1], rcond=None)[0])


def error(rows: Floats, weights: Floats) -> float:
    """Return the root mean square error of predictions that are kept between −1 and 1."""
    found = np.clip(np.c_[np.ones(len(rows)), rows[:, :-1]] @ weights, -1, 1)
    return float(np.sqrt(np.mean((found - rows[:, -1]) ** 2)))
