"""Normal distributions in the place of groups of rows, and rows drawn from them: nothing here sees a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np

from engine import arrays
from engine.methods.datasets.bayes_network.learning import project_counts
from engine.methods.datasets.gaussian_cells.plan import Sets
from engine.methods.datasets.latent_model.projection import normal
from engine.methods.datasets.marginal_model.sampling import even_column, uniform
from engine.methods.shared.less_noise import less_noisy
from engine.privacy.noise import Noise

Codes = arrays.Whole
Floats = arrays.Floats
Integers = arrays.Integers

SMALLEST = 1 / 512**2
"""A variance is at least this: two steps in which numbers are read."""
MOST_MEAN = 1 - 2.0**-14
"""A mean is no nearer to an end: a sixteenth of a step."""
ROUNDS = 4
"""So often what a lot adds to a variance is looked at again."""
_MIDDLES = tuple(NormalDist().inv_cdf((place + 0.5) / 256) for place in range(256))
STANDS_OUT = 3
"""Fewer deviations of their noise are no group, and no missing numbers."""


@dataclass(frozen=True)
class Normal:
    """A normal distribution of numbers, brought to the ends −1 and 1 where it goes beyond them.

    Parameters
    ----------
    rows
        About how many it stands for.
    missing
        Share of every column, shape (q,).
    mean
        Of the numbers that leave, shape (q,).
    covariance
        Of the numbers that leave, shape (q, q).
    """

    rows: float
    missing: Floats
    mean: Floats
    covariance: Floats


@dataclass(frozen=True)
class Model:
    """What rows are drawn from.

    Parameters
    ----------
    sets
        Places of the columns of every set.
    total
        About how many rows there are.
    classes
        Share of every class.
    normals
        By set and class.
    stands_out
        By set, of every two of its columns, shape (q, q): their covariance among all rows, in deviations of
        what noise and chance make of columns without a relation.
    """

    sets: Sets
    total: float
    classes: Floats
    normals: tuple[tuple[tuple[Normal, ...], ...], ...]
    stands_out: tuple[Floats, ...] = ()


def model_of(
    sets: Sets,
    sums: list[Floats],
    centres: list[Integers],
    *,
    group_rows: int,
    deviation: float,
    each: int = 1,
) -> Model:
    """Return the model from noisy sums.

    Parameters
    ----------
    sets
        Places of columns.
    sums
        By set, in rows, shape (classes, groups, numbers): see `counted.group_sums`.
    centres
        By set, shape (groups, q).
    group_rows
        Groups with fewer are merged into the nearest of their class.
    deviation
        Of the noise of a number.
    each
        How many rows a person has at most, which may all be alike.
    """
    least = max(float(group_rows), STANDS_OUT * deviation)
    counts = np.mean([one[:, :, 0].sum(axis=1) for one in sums], axis=0)
    total = max(1.0, float(counts.sum()))
    normals, out = [], []
    for columns, own, middles in zip(sets, sums, centres, strict=True):
        everybody = own.sum(axis=(0, 1))
        of_set = []
        for table in own:
            kept = merge_sums(table, middles, least=least)
            if kept[0, 0] < least:  # too few rows for a shape of their own
                kept = everybody[None, :]
            of_set.append(tuple(normal_of(one, len(columns), deviation=deviation) for one in kept))
        normals.append(tuple(of_set))
        everywhere = deviation * sqrt(own.shape[0] * own.shape[1])
        out.append(_stands_out(everybody, len(columns), deviation=everywhere, each=each))
    return Model(sets, total, project_counts(counts, total) / total, tuple(normals), tuple(out))


def merge_sums(table: Floats, centres: Integers, *, least: float) -> Floats:
    """Return the sums of groups; the smallest joins the nearest until none is too small.

    Examples
    --------
    >>> merge_sums(np.array([[60.0], [10.0], [90.0]]), np.array([[0], [8], [9]]), least=50).tolist()
    [[60.0], [100.0]]
    """
    found, kept = table.copy(), list(range(len(table)))
    while len(kept) > 1:
        small = min(kept, key=lambda one: found[one, 0])
        if found[small, 0] >= least:
            break
        kept.remove(small)
        near = min(kept, key=lambda one: int(((centres[one] - centres[small]) ** 2).sum()))
        found[near] += found[small]
    return found[kept]


def normal_of(line: Floats, q: int, *, deviation: float) -> Normal:
    """Return the normal distribution of a group from its noisy sums.

    Notes
    -----
    μ = s / n and Σ = M / n − μ μ', where n counts the rows in which the numbers are not missing, as if they
    were missing independently; none is where their count does not stand out from the noise. A variance is at
    most 1 − μ² for numbers between −1 and 1; less noise by `engine.methods.shared.less_noise`, a covariance
    having that of its product, both sums and the count; negative eigenvalues of the correlations are dropped.
    """
    found = _noisy(line, q, deviation=deviation)
    covariance = less_noisy(found.covariance, (0,) * q, noise=found.noise)
    spread = np.sqrt(np.diag(covariance))
    covariance = possible(covariance / np.outer(spread, spread)) * np.outer(spread, spread)
    return Normal(max(float(line[0]), 0.0), found.missing, found.mean, covariance)


@dataclass(frozen=True)
class _Noisy:
    """Moments as the noise left them, and the standard deviation of the noise of every covariance."""

    missing: Floats
    mean: Floats
    covariance: Floats
    noise: Floats
    rows: float


def _noisy(line: Floats, q: int, *, deviation: float) -> _Noisy:
    rows = max(float(line[0]), 1.0)
    counted = line[1 : 1 + q]
    missing = np.clip(np.where(counted > STANDS_OUT * deviation, counted, 0.0) / rows, 0.0, 1.0)
    known = np.maximum(1 - missing, 1 / rows)
    mean = np.clip(line[1 + q : 1 + 2 * q] / (rows * known), -1.0, 1.0)
    products = np.zeros((q, q))
    products[np.triu_indices(q)] = line[1 + 2 * q :] / rows
    products = np.triu(products) + np.triu(products, 1).T
    both = np.outer(known, known)
    np.fill_diagonal(both, known)
    covariance = products / np.maximum(both, 1 / rows) - np.outer(mean, mean)
    np.fill_diagonal(covariance, np.clip(np.diag(covariance), SMALLEST, np.maximum(1 - mean**2, SMALLEST)))
    lever = np.sqrt(1 + mean**2)
    return _Noisy(missing, mean, covariance, deviation / rows * np.outer(lever, lever), rows)


def _stands_out(line: Floats, q: int, *, deviation: float, each: int) -> Floats:
    """Return covariances in deviations of noise and of chance: of n rows without a relation k σ² τ² / n.

    Of a person with up to k = ``each`` rows, which may all be alike.
    """
    found = _noisy(line, q, deviation=deviation)
    variances = np.diag(found.covariance)
    return np.asarray(
        found.covariance / np.sqrt(found.noise**2 + each * np.outer(variances, variances) / found.rows)
    )


def draw_rows(model: Model, n: int, steps: Floats, noise: Noise) -> tuple[Codes, Floats, Codes]:
    """Draw rows.

    Parameters
    ----------
    model
        Learnt with noise.
    n
        How many.
    steps
        Between values of every column, half a declared range being 1: whoever writes a number takes the step
        below it or the one above, by lot, so that its mean stays.

    Returns
    -------
    classes
        Of every row, in an order by lot, shape (n,).
    numbers
        Between −1 and 1, shape (n, columns).
    missing
        1 where a number is missing, else 0, shape (n, columns).

    Notes
    -----
    Given its class, what a row has in one set does not depend on what it has in another.
    """
    columns, curves = sum(map(len, model.sets)), _curves(model, steps)
    classes = even_column(model.classes[None, :], np.zeros(n, dtype=np.int64), noise)
    numbers, missing = np.zeros((n, columns)), np.zeros((n, columns), dtype=np.int64)
    for of_columns, of_set in zip(model.sets, model.normals, strict=True):
        places = np.array(of_columns)
        width = max(map(len, of_set))
        shares = np.zeros((len(of_set), width))
        for place, normals in enumerate(of_set):
            rows = np.array([one.rows for one in normals])
            shares[place, : len(normals)] = rows / rows.sum() if rows.sum() > 0 else 1 / len(normals)
        group = classes.astype(np.int64) * width + even_column(shares, classes, noise)
        for place, normals in enumerate(of_set):
            for at, one in enumerate(normals):
                mine = np.flatnonzero(group == place * width + at)
                numbers[np.ix_(mine, places)] = next(curves).drawn(len(mine), noise)
                lots = uniform(noise, len(mine) * len(places)).reshape(len(mine), len(places))
                missing[np.ix_(mine, places)] = lots < one.missing
    return classes, numbers, missing


@dataclass(frozen=True)
class _Curve:
    """A normal distribution before it is brought to the ends: places and spreads, and a root of relations."""

    place: Floats
    spread: Floats
    root: Floats

    def drawn(self, n: int, noise: Noise) -> Floats:
        """Draw n points between −1 and 1."""
        found = normal(noise, (n, len(self.place))) @ self.root.T
        return np.clip(self.place + self.spread * found, -1.0, 1.0)


def _curves(model: Model, steps: Floats) -> Iterator[_Curve]:
    """Return what every normal distribution is drawn from, in their order; all are solved for at once.

    By lot to whole steps adds E[u (1 − u)] of a squared step to a variance, where u of one lies above the
    step below; so much less is drawn.
    """
    every = [(of, one) for of, shapes in _each(model) for one in shapes]
    step = np.concatenate([steps[list(places)] for places, _ in every])
    mean = np.clip(np.concatenate([one.mean for _, one in every]), -MOST_MEAN, MOST_MEAN)
    variance = np.concatenate([np.diag(one.covariance) for _, one in every])
    variance = np.minimum(variance, 0.999 * (1 - mean**2))
    by_lot = np.zeros_like(mean)
    for _ in range(ROUNDS):
        place, spread = brought(mean, np.maximum(variance - by_lot, SMALLEST / 4))
        above = (np.clip(place[:, None] + spread[:, None] * _MIDDLES, -1, 1) + 1) / step[:, None] % 1
        by_lot = step**2 * (above * (1 - above)).mean(axis=1)
    ends = np.cumsum([len(one.mean) for _, one in every])[:-1]
    parts = zip(every, np.split(place, ends), np.split(spread, ends), strict=True)
    for (_, one), place, spread in parts:
        relations = correlate_clamped(place, spread, one.covariance)
        yield _Curve(place, spread, np.linalg.cholesky(relations).astype(np.float64))


def _each(model: Model) -> Iterator[tuple[tuple[int, ...], tuple[Normal, ...]]]:
    """Return the columns and the distributions of every set and class."""
    for places, of_set in zip(model.sets, model.normals, strict=True):
        for shapes in of_set:
            yield places, shapes


# --- normal numbers at the ends of declared ranges -------------------------------------------------------
# With moments that were learnt: no row is seen.


HALVINGS = 36
TERMS = 40
"""Of the series of a covariance: enough for what noisy sums can tell."""
WIDEST = 1e3
"""Standard deviation of a normal number that is nearly always brought to one end or the other."""
CLOSEST = 0.999
"""No two columns are nearer to a line."""


def brought(mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Return the normal numbers that have given moments once they are brought between −1 and 1.

    Parameters
    ----------
    mean, variance
        Of the numbers that leave, shape (n,): variances above 0 and at most 1 − μ².

    Returns
    -------
    places, spreads
        Mean and standard deviation before they are brought to the ends.

    Notes
    -----
    A number beyond an end becomes that end, as in the model of J. Tobin (1958). To draw it again instead
    would move the mean of whatever lies near an end: by .8 of a standard deviation for a count of which most
    are 0, however large the budget. The mean rises with the place, and along the curve of equal means the
    variance rises with the spread, from 0 to 1 − μ²: two halvings, one inside the other.

    Examples
    --------
    >>> place, spread = brought(np.array([0.0, -0.9]), np.array([0.04, 0.03]))
    >>> [value.round(3).tolist() for value in moments(place, spread)]
    [[-0.0, -0.9], [0.04, 0.03]]
    """
    low, high = np.full(len(mean), np.log(1e-4)), np.full(len(mean), np.log(WIDEST))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        spread = np.exp(middle)
        more = moments(_place(mean, spread), spread)[1] < variance
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    spread = np.exp((low + high) / 2)
    return _place(mean, spread), spread


def moments(place: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of normal numbers brought between −1 and 1."""
    from scipy.special import ndtr

    left, right = (-1 - place) / spread, (1 - place) / spread
    below, above, between = ndtr(left), ndtr(-right), ndtr(right) - ndtr(left)
    dense, denser = _density(left), _density(right)
    mean = above - below + place * between + spread * (dense - denser)
    square = above + below + (place**2 + spread**2) * between + 2 * place * spread * (dense - denser)
    square += spread**2 * (left * dense - right * denser)
    return mean, np.maximum(square - mean**2, 0.0)


def correlate_clamped(place: Floats, spread: Floats, covariance: Floats) -> Floats:
    """Return the correlation of normal numbers whose covariance is given once they are brought to the ends.

    Parameters
    ----------
    place, spread
        Of one group, shape (q,).
    covariance
        Of the numbers that leave, shape (q, q).

    Notes
    -----
    With g = clip(μ + σ Z) and a_k = E[g h_k(Z)], h_k the normalised Hermite polynomials, the covariance of
    two columns at correlation r is Σ a_k b_k r^k (G. Mehler, 1866), which rises with r. Correlations of pairs
    that no columns can have together are made possible: see `possible`.
    """
    series = _series(place, spread)
    terms = series[:, None, :] * series[None, :, :]
    low, high = np.full(covariance.shape, -CLOSEST), np.full(covariance.shape, CLOSEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        found = np.zeros_like(middle)
        for power in range(TERMS - 1, -1, -1):
            found = (found + terms[:, :, power]) * middle
        more = found < covariance
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    found = np.where(covariance == 0, 0.0, (low + high) / 2)
    return possible((found + found.T) / 2)


def possible(correlation: Floats) -> Floats:
    """Return correlations that columns can have together: without negative eigenvalues, the diagonal 1 again.

    Examples
    --------
    >>> possible(np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])).round(2).tolist()
    [[1.0, 0.5, -0.5], [0.5, 1.0, 0.5], [-0.5, 0.5, 1.0]]
    """
    found = correlation.copy()
    np.fill_diagonal(found, 1.0)
    values, vectors = np.linalg.eigh(found)
    if values.min() < 1 - CLOSEST**2:
        found = (vectors * np.maximum(values, 1 - CLOSEST**2)) @ vectors.T
        root = np.sqrt(np.diag(found))
        found = found / np.outer(root, root)
    return np.asarray((found + found.T) / 2)


def _place(mean: Floats, spread: Floats) -> Floats:
    """Return where normal numbers of a spread lie if those brought to the ends have a mean."""
    reach = 1 + 10 * spread
    low, high = -reach, reach
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        more = moments(middle, spread)[0] < mean
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return np.asarray((low + high) / 2)


def _series(place: Floats, spread: Floats) -> Floats:
    """Return a_1, …, a_K of every column: by parts, E[g h_k] = E[g' h_(k − 1)] / √k."""
    from scipy.special import ndtr

    left, right = (-1 - place) / spread, (1 - place) / spread
    found = [spread * (ndtr(right) - ndtr(left))]
    ends: Sequence[Floats] = (left, right)
    before, now = [np.zeros_like(left)] * 2, [np.ones_like(left)] * 2  # h_(k − 3) and h_(k − 2)
    for order in range(2, TERMS + 1):
        values = [one * _density(end) for one, end in zip(now, ends, strict=True)]
        found.append(spread * (values[0] - values[1]) / np.sqrt(order * (order - 1)))
        at = order - 2
        after = [
            (end * one - np.sqrt(at) * old) / np.sqrt(at + 1)
            for end, one, old in zip(ends, now, before, strict=True)
        ]
        before, now = now, after
    return np.stack(found, axis=1)


def _density(value: Floats) -> Floats:
    return np.asarray(np.exp(-np.minimum(value**2, 1400.0) / 2) / np.sqrt(2 * np.pi))
