"""How an autoencoder is learnt: from rows that a noisy model invented, so that nobody's row is read twice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from engine import arrays
from engine.methods.datasets.latent_model.projection import Projection, normal
from engine.methods.datasets.seeds.learning import Learning
from engine.privacy.events import Event
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress

Codes = arrays.Integers
Floats = arrays.Floats

ROWS = 20_000
"""Invented rows that teach."""
BATCH, EPOCHS = 500, 30
FEWEST_HIDDEN = 6
RATE, LAST_RATE = 0.004, 0.0002
NORMALITY = 0.5
"""C: what it weighs that points of a batch have mean 0 and variance 1."""
LATENT_NOISE = 1.0
"""Variance of the noise on points while it learns."""
_SMALLEST_SPREAD = 1e-6


@dataclass(frozen=True)
class Teaching:
    """How an autoencoder is learnt, from declarations alone.

    Parameters
    ----------
    source
        How the model is learnt that invents the rows which teach.
    dimensions
        Of a point.

    Notes
    -----
    Noisy counts of pairs of columns are paid for, a model is fitted to them, and rows drawn from it teach the
    network: whatever is done with them costs nothing more. On Adult (22,500 people to learn from, ε = 1,
    δ = 10⁻⁹, 3 dimensions) rows drawn from seeds have a mean distance of pairs of columns of .057, those by
    principal components .080. Sums of gradients of people's rows, each cut off, with normal noise (M. Abadi
    et al., "Deep learning with differential privacy", 2016) were tried at the same level: .098 to .104 in
    four settings, worse than columns apart (.087).

    Noise on points while it learns makes near points mean much the same, so that more seeds could have led to
    a row. Without it the distance is .051, but of 500 rows for a table of ε = 4 the test left 125 from seeds,
    with it 451.
    """

    source: Learning
    dimensions: int

    @property
    def about_rows(self) -> int:
        """Roughly how many rows it is learnt from."""
        return self.source.about_rows

    @property
    def event(self) -> Event | None:
        """What the ledger reserves."""
        return self.source.event

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise of a count of one column, the largest."""
        return self.source.deviation

    def learnt(self, codes: Codes, noise: Noise, *, progress: Progress = SILENT) -> Autoencoder:
        """Return the autoencoder of rows, shape (columns, n)."""
        found = self.source.learnt(codes, noise, progress=progress.part(0.0, 0.5))
        columns = len(self.source.sizes)
        rows = found.model(fewest=columns, most=columns).alone(ROWS, noise)[:, np.argsort(found.order)]
        made = teach_autoencoder(
            rows, self.source.sizes, self.dimensions, noise, progress=progress.part(0.5, 1.0)
        )
        return replace(made, relations=found.relations)


def teach_autoencoder(
    rows: Codes, sizes: tuple[int, ...], dimensions: int, noise: Noise, *, progress: Progress = SILENT
) -> Autoencoder:
    """Return the autoencoder of rows that nobody has.

    Parameters
    ----------
    rows
        Shape (n, columns), n at least `BATCH`. They must have been paid for: nothing here adds noise.
    sizes
        Cells of every column.
    dimensions
        Of a point.
    noise
        Starting weights, batches and the noise on points are lots.

    Notes
    -----
    Least −Σ ln p(x | z + ζ) + C Σ ½ (σ² + μ² − 1 − ln σ²), with the mean μ and the variance σ² of each
    coordinate of the points of a batch: V. Bindschaedler (2018), section 6.3.4, with its C, batch, hidden
    layer and rate of learning (section 9.2); the noise ζ is that of D. Kingma and M. Welling (2014), of one
    size for all. Steps: D. Kingma and J. Ba, "Adam" (2015).
    """
    weights = _started(rows, sizes, dimensions, noise)
    places = rows + np.concatenate([[0], np.cumsum(sizes)[:-1]])
    batches = len(rows) // BATCH
    steps = Adam(weights, EPOCHS * batches)
    for epoch in range(EPOCHS):
        progress.step(epoch / EPOCHS, "synthesis.fit")
        order = noise.shuffled(len(rows))
        moved = normal(noise, (len(rows), dimensions)) * sqrt(LATENT_NOISE)
        for place in range(batches):
            these = order[place * BATCH : (place + 1) * BATCH]
            steps.step(gradients(weights, places[these], moved[these], sizes))
    first, second, third, fourth = (Layer(weights[2 * i], weights[2 * i + 1]) for i in range(4))
    found = Autoencoder(sizes, (first, second), (third, fourth), np.zeros((1, dimensions)))
    return Autoencoder(sizes, found.encoder, found.decoder, found.encoded(rows))


def _started(rows: Codes, sizes: tuple[int, ...], dimensions: int, noise: Noise) -> list[Floats]:
    """Return weights drawn by lot, as large as keeps sums of about 1; cells begin with their own shares."""
    hidden, cells = max(FEWEST_HIDDEN, 2 * dimensions), sum(sizes)
    shapes = ((cells, hidden), (hidden, dimensions), (dimensions, hidden), (hidden, cells))
    ones = (len(sizes), hidden, dimensions, 100 * hidden)
    shares = [np.bincount(one, minlength=size) / len(rows) for one, size in zip(rows.T, sizes, strict=True)]
    found = []
    for shape, count in zip(shapes, ones, strict=True):
        found += [normal(noise, shape) / sqrt(count), np.zeros(shape[1])]
    found[-1] = np.log(np.concatenate(shares) + 1 / len(rows))
    return found


def loss(weights: list[Floats], places: Codes, moved: Floats, sizes: tuple[int, ...]) -> float:
    """Return what `gradients` are of: the mean over a batch."""
    forward = _forward(weights, places, moved, sizes)
    likely = np.take_along_axis(forward.shares, places, axis=1)
    mean, spread = forward.points.mean(axis=0), _spread(forward.points)
    normality = ((spread**2 + mean**2 - 1) / 2 - np.log(spread)).sum()
    return float(-np.log(likely).sum(axis=1).mean() + NORMALITY * normality)


def gradients(weights: list[Floats], places: Codes, moved: Floats, sizes: tuple[int, ...]) -> list[Floats]:
    """Return the slope of the loss along every weight.

    Parameters
    ----------
    weights
        W₁, b₁ … W₄, b₄.
    places
        Of the cells of each row among all cells, shape (batch, columns).
    moved
        The noise on the points, shape (batch, dimensions).
    sizes
        Cells of every column.
    """
    n = len(places)
    one = _forward(weights, places, moved, sizes)
    cells = (one.shares - one.cells) / n
    read = (cells @ weights[6].T) * (1 - one.read**2)
    mean, spread = one.points.mean(axis=0), _spread(one.points)
    normality = NORMALITY * (mean + (1 - 1 / spread**2) * (one.points - mean)) / n
    points = read @ weights[4].T + normality
    hidden = (points @ weights[2].T) * (1 - one.hidden**2)
    sides = ((one.cells, hidden), (one.hidden, points), (one.points + moved, read), (one.read, cells))
    return [slope for before, after in sides for slope in (before.T @ after, after.sum(axis=0))]


@dataclass(frozen=True)
class _Forward:
    """A batch on its way: rows of zeros and ones, hidden layer, points, hidden layer, shares."""

    cells: Floats
    hidden: Floats
    points: Floats
    read: Floats
    shares: Floats


def _forward(weights: list[Floats], places: Codes, moved: Floats, sizes: tuple[int, ...]) -> _Forward:
    cells = np.zeros((len(places), sum(sizes)))
    np.put_along_axis(cells, places, 1.0, axis=1)
    hidden = np.tanh(cells @ weights[0] + weights[1])
    points = hidden @ weights[2] + weights[3]
    read = np.tanh((points + moved) @ weights[4] + weights[5])
    return _Forward(cells, hidden, points, read, softmax(read @ weights[6] + weights[7], sizes))


def softmax(values: Floats, sizes: tuple[int, ...]) -> Floats:
    """Return shares of the cells of every column, shape (n, cells of all columns).

    Examples
    --------
    >>> softmax(np.array([[0.0, 0.0, 5.0]]), (2, 1)).tolist()
    [[0.5, 0.5, 1.0]]
    """
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    weights = np.exp(values - np.repeat(np.maximum.reduceat(values, starts, axis=1), sizes, axis=1))
    return weights / np.repeat(np.add.reduceat(weights, starts, axis=1), sizes, axis=1)


def _spread(points: Floats) -> Floats:
    return np.asarray(np.maximum(points.std(axis=0), _SMALLEST_SPREAD))


class Adam:
    """Steps along slopes, in whose course the rate of learning falls. D. Kingma and J. Ba (2015)."""

    def __init__(self, weights: list[Floats], steps: int) -> None:
        self._weights, self._steps, self._done = weights, steps, 0
        self._means = [np.zeros_like(one) for one in weights]
        self._squares = [np.zeros_like(one) for one in weights]

    def step(self, slopes: list[Floats]) -> None:
        """Move all weights, in place."""
        self._done += 1
        rate = RATE + (LAST_RATE - RATE) * self._done / self._steps
        for place, slope in enumerate(slopes):
            self._means[place] += 0.1 * (slope - self._means[place])
            self._squares[place] += 0.001 * (slope**2 - self._squares[place])
            mean = self._means[place] / (1 - 0.9**self._done)
            square = self._squares[place] / (1 - 0.999**self._done)
            self._weights[place] -= rate * mean / (np.sqrt(square) + 1e-8)


# --- a small neural network ------------------------------------------------------------------------------
# Rows as points of it, and what each cell is likely to be, given the point of a row.


@dataclass(frozen=True)
class Layer:
    """Weights, shape (in, out), and what is added, shape (out,)."""

    weights: Floats
    bias: Floats

    def of(self, values: Floats) -> Floats:
        """Return values · weights + bias, added up in one order: no line depends on how many there are."""
        found = np.repeat(self.bias[None, :], len(values), axis=0)
        for value, weights in zip(values.T, self.weights, strict=True):
            found += value[:, None] * weights
        return found

    def of_cells(self, places: Codes) -> Floats:
        """Return the same of lines of zeros with ones at some places, shape (n, ones)."""
        found = np.repeat(self.bias[None, :], len(places), axis=0)
        for place in places.T:
            found += self.weights[place]
        return found


@dataclass(frozen=True)
class Autoencoder(Projection):
    """Draws every column anew from what a network says about the point of a seed.

    Parameters
    ----------
    encoder
        From cells to the hidden layer, and from there to points.
    decoder
        From points to the hidden layer, and from there to cells.
    points
        Of rows that nobody has, shape (n, dimensions): where rows from the model alone begin.

    Notes
    -----
    z = tanh(x W₁ + b₁) W₂ + b₂, and the shares of a column are the softmax over its cells of
    tanh(z W₃ + b₃) W₄ + b₄: V. Bindschaedler (2018), section 6.3.4, with one softmax a column in place of one
    logistic function a bit. A seed is read back from its point without noise, as there.

    Nothing that reads a seed multiplies matrices: the order in which such sums are added may depend on how
    many rows there are, and with it the last bit of the share of a row.
    """

    encoder: tuple[Layer, Layer]
    decoder: tuple[Layer, Layer]
    points: Floats

    def encoded(self, seeds: Codes) -> Floats:
        """Return the points of rows, shape (n, dimensions)."""
        first, second = self.encoder
        return second.of(np.tanh(first.of_cells(seeds + np.array(self.starts))))

    def decoded(self, points: Floats) -> Floats:
        """Return the shares of all cells, shape (n, cells of all columns)."""
        first, second = self.decoder
        found = second.of(np.tanh(first.of(points)))
        for start, size in zip(self.starts, self.sizes, strict=True):
            column = found[:, start : start + size]
            column = np.exp(column - column.max(axis=1, keepdims=True))
            found[:, start : start + size] = column / np.cumsum(column, axis=1)[:, -1:]
        return found

    def read_back(self, seeds: Codes) -> Floats:
        return self.decoded(self.encoded(seeds))

    def alone(self, n: int, noise: Noise) -> Codes:
        return self.drawn(self.decoded(self.points[noise.uniform_below(len(self.points), n)]), noise)
