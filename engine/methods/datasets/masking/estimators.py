"""What a recipient does to undo masking on average: corrected moments, distributions and counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine import arrays
from engine.methods.datasets.masking.step import WORDS
from engine.once import once
from engine.views import IntervalsView, Text

Floats = arrays.Floats
NORMAL, LAPLACE, UNIFORM = "normal", "laplace", "uniform"
DISTRIBUTIONS = (NORMAL, LAPLACE, UNIFORM)
BINS = 20
DIGITS = 4  # of a share: more would show beside a bin that holds nobody
_REPEATS = 20
_MOST_TURNS = 500
_STILL = 1e-7
_FINE = 50


# --- added noise ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AddedNoise:
    """Noise that was added to every value, and the step on which the sum was written.

    Parameters
    ----------
    distribution
        One of `DISTRIBUTIONS`, with mean 0.
    spread
        Its standard deviation before rounding, above 0.
    grid
        The step to which sums are rounded.
    """

    distribution: str
    spread: float
    grid: float

    @once
    def variance(self) -> float:
        """The variance of what is added, rounding included.

        For values on the grid it is exact: the noise itself is rounded then. For others it is as near as the
        grid is fine.
        """
        if self.spread > _FINE * self.grid:  # so fine a grid adds its own variance
            return self.spread**2 + self.grid**2 / 12
        reach = int(np.ceil(40 * self.spread / self.grid)) + 1
        steps = np.arange(-reach, reach + 1)
        chances = self.below((steps + 0.5) * self.grid) - self.below((steps - 0.5) * self.grid)
        return float(chances @ (steps * self.grid) ** 2)

    def below(self, value: Any) -> Floats:
        """Return the chance that the noise, before rounding, is at most a value."""
        scaled = np.asarray(value, dtype=np.float64) / self.spread
        if self.distribution == LAPLACE:
            tail = 0.5 * np.exp(-np.abs(scaled) * 2**0.5)
            return np.where(scaled < 0, tail, 1 - tail)
        if self.distribution == UNIFORM:
            return np.clip(0.5 + scaled / (2 * 3**0.5), 0.0, 1.0)
        from scipy.special import ndtr  # on first use: the list of methods is made without it

        return np.asarray(ndtr(scaled))


def of_noise(released: Floats, noise: AddedNoise) -> Mapping[str, tuple[float, float]]:
    """Return moments of values as released, and corrected for the noise that was added.

    Parameters
    ----------
    released
        Values with noise, shape (n,), none missing.

    Returns
    -------
    Mapping
        ``mean`` and ``standard_deviation``: as released, corrected. E[x] = E[z]; Var(x) = Var(z) − Var(e),
        unbiased as a variance.

    Examples
    --------
    >>> found = of_noise(np.array([1.0, 3.0]), AddedNoise("normal", 1.0, 1e-9))
    >>> found["mean"], found["standard_deviation"]
    ((2.0, 2.0), (1.4142135623730951, 1.0))
    """
    mean = float(released.mean())
    variance = float(released.var(ddof=1)) if len(released) > 1 else 0.0
    corrected = max(0.0, variance - noise.variance)
    return {"mean": (mean, mean), "standard_deviation": (variance**0.5, corrected**0.5)}


@dataclass(frozen=True)
class Shape:
    """A distribution found again from values with noise.

    Parameters
    ----------
    edges
        Of the bins, shape (bins + 1,).
    released, shares
        Share of each bin as released (what lies outside counts in the outer bins), and found again.
    errors
        Standard error of each share, by drawing the released values again.
    """

    edges: Floats
    released: Floats
    shares: Floats
    errors: Floats

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values with few digits."""
        parts = {"edges": self.edges, "shares": self.shares, "standard_errors": self.errors}
        return {name: [float(f"{value:.6g}") for value in values] for name, values in parts.items()}

    def view(self, column: str) -> IntervalsView:
        """Show the shares with two standard errors on either side."""
        labels = tuple(
            Text("statistics.labels.up_to", {"low": float(f"{low:.6g}"), "high": float(f"{high:.6g}")})
            for low, high in zip(self.edges[:-1], self.edges[1:], strict=True)
        )
        return IntervalsView(
            Text(f"{WORDS}.views.shape.title", {"column": column}),
            labels,
            tuple(self.shares.round(DIGITS).tolist()),
            tuple(np.maximum(0.0, self.shares - 2 * self.errors).round(DIGITS).tolist()),
            tuple((self.shares + 2 * self.errors).round(DIGITS).tolist()),
            Text(f"{WORDS}.views.shape.axis"),
            Text(f"{WORDS}.views.shape.note"),
        )


def reconstruct_distribution(
    released: Floats,
    noise: AddedNoise,
    ends: tuple[float, float],
    *,
    chance: np.random.Generator,
    bins: int = BINS,
) -> Shape:
    """Find the distribution of values again to which noise of a known distribution was added.

    Parameters
    ----------
    released
        Values with noise, shape (n,), n >= 1, none missing.
    noise
        What was added.
    ends
        Between which true values lie.
    chance
        For drawing the released values again, which gives the errors.
    bins
        Of equal width, for which shares are given.

    Notes
    -----
    R. Agrawal, R. Srikant, "Privacy-preserving data mining", SIGMOD 2000, section 3, in the form of
    D. Agrawal and C. Aggarwal (2001), which takes the noise over whole bins and is an EM algorithm:

        f(a) ← (1/n) Σ_i  P(z_i | a) f(a) / Σ_t P(z_i | t) f(t)

    from equal shares until they stop changing by a χ² measure. It says nothing of single values, but for
    noise that is narrow against a bin it comes close to telling the bin of each.
    """
    low, high = ends
    high = high if high > low else low + 1.0
    edges = np.linspace(low, high, bins + 1)
    width = (high - low) / bins
    beyond = int(np.clip(np.ceil(4 * noise.spread / width), 1, 200))
    seen = low + width * np.arange(-beyond, bins + beyond + 1)
    seen_ends = np.concatenate([[-np.inf], seen, [np.inf]])
    within = (np.arange(8) + 0.5) / 8  # true values are taken as even within their bin
    values = (edges[:-1, None] + within * width)[:, :, None]
    chances = np.diff(noise.below(seen_ends[None, None, :] - values), axis=2).mean(axis=1)
    counts = np.bincount(np.searchsorted(seen, released, side="right"), minlength=len(seen) + 1)
    again = chance.multinomial(len(released), counts / len(released), size=_REPEATS)
    found = _turn(np.vstack([counts, again]) / len(released), chances)
    shares, errors = found[0], found[1:].std(axis=0, ddof=1)
    inner = np.clip(np.searchsorted(edges, released, side="right") - 1, 0, bins - 1)
    return Shape(edges, np.bincount(inner, minlength=bins) / len(released), shares, errors)


def _turn(seen: Floats, chances: Floats) -> Floats:
    """Return the shares that explain best what was seen, shape (repeats, true bins).

    ``seen`` has shape (repeats, seen bins), ``chances`` is of each seen bin given a true one.
    """
    shares = np.full((len(seen), len(chances)), 1 / len(chances))
    for _ in range(_MOST_TURNS):
        expected = shares @ chances
        ratio = np.divide(seen, expected, out=np.zeros_like(seen), where=expected > 0)
        turned = shares * (ratio @ chances.T)
        moved = ((turned - shares) ** 2 / np.maximum(shares, 1e-12)).sum(axis=1)
        shares = turned
        if moved.max() < _STILL:
            break
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


# --- values that were changed at random ----------------------------------------------------------------


def counts_before(counts: Floats, matrix: Floats, *, drawn_by: Floats | None = None) -> tuple[Floats, Floats]:
    """Estimate how often each value stood in a column before it was changed at random.

    Parameters
    ----------
    counts
        How often each value was released, shape (values,).
    matrix
        Chance that a value (row) is released as another (column); its rows sum to 1.
    drawn_by
        The matrix that was drawn by where ``matrix`` only undoes it; the same where None.

    Returns
    -------
    tuple of arrays, shape (values,)
        The estimate t = (Pᵀ)⁻¹ · counts, which is unbiased and may be below 0, and its standard error.

    Notes
    -----
    P.-P. de Wolf, J. Gouweleeuw, P. Kooiman, L. Willenborg, "Reflections on PRAM" (1998), section 2: given
    the table, E[counts] = Pᵀ · t, and Var(counts) = Σ_k t_k (diag(p_k) − p_k p_kᵀ), p_k row k. The error
    holds where every row is drawn by itself.

    Examples
    --------
    >>> matrix = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> estimate, error = counts_before(np.array([42.0, 18.0]), matrix)
    >>> estimate.round(DIGITS).tolist()
    [45.0, 15.0]
    """
    undo = np.linalg.inv(matrix.T)
    estimate = undo @ counts
    drawn = matrix if drawn_by is None else drawn_by
    true = np.maximum(estimate, 0.0)
    spread = np.diag(drawn.T @ true) - (drawn.T * true) @ drawn
    return estimate, np.sqrt(np.maximum(np.diag(undo @ spread @ undo.T), 0.0))
