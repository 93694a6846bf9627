"""Functional perturbation as it is published: noisy functions, their sensitivities and attacks on them.

For comparisons alone: nothing here makes a release. All of it is in ordinary floating point with ordinary
random numbers. Neighbours exchange one row, so that the number of rows is public.

Source: Hall, Rinaldo and Wasserman, "Differential privacy for functions and functional data" (2013); the four
models: Dandekar, "Privacy risk of releasing data and models" (2019), chapter 7, with corrections.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, log, pi, sqrt

import numpy as np

from engine import arrays
from engine.privacy.gaussian import gaussian_level

Floats = arrays.Floats


def printed_factor(epsilon: float, delta: float) -> float:
    """Return noise over sensitivity as printed, √(2 ln(2/δ))/ε: no guarantee above ε = 1, too much below."""
    return sqrt(2 * log(2 / delta)) / epsilon


def exact_factor(epsilon: float, delta: float) -> float:
    """Return the least noise over sensitivity that is (ε, δ): Balle and Wang (2018), theorem 8.

    Examples
    --------
    >>> round(printed_factor(0.4, 0.001), 2), round(exact_factor(0.4, 0.001), 2)
    (9.75, 5.56)
    """
    return 1 / gaussian_level(epsilon, delta)


def similarity(first: Floats, second: Floats, width: float) -> Floats:
    """Return exp(−d²/2h²) of the rows of two sets, shape (first, second)."""
    apart = (first[:, None, :] - second[None, :, :]) / width
    return np.asarray(np.exp(-(apart**2).sum(axis=2) / 2))


# --- noisy functions ---------------------------------------------------------------------------------


@dataclass
class KeptPath:
    """A path of a Gaussian process that is drawn where somebody asks, given all that was drawn before.

    Notes
    -----
    Every value has to be kept as long as the function is asked: the noise is what was said less the function,
    and whoever sees it has the exact function. Kernels that are smooth leave hardly any variance at a place
    between others; below rounding the factor cannot go on (`numpy.linalg.LinAlgError`).
    """

    width: float
    chance: np.random.Generator
    places: Floats | None = None
    drawn: Floats = field(default_factory=lambda: np.zeros(0))
    _factor: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def ask(self, place: Floats) -> float:
        """Return the value at a place, shape (d,); the one that was told before where it was asked before."""
        at = np.atleast_2d(place)
        if self.places is None:
            self.places = np.zeros((0, at.shape[1]))
        same = np.flatnonzero((self.places == at).all(axis=1))
        if same.size:
            return float(self.drawn[same[0]])
        beside = similarity(self.places, at, self.width)[:, 0]
        row = np.linalg.solve(self._factor, beside) if beside.size else beside
        left = 1 - row @ row
        if left <= 0:
            raise np.linalg.LinAlgError("no variance is left at this place")
        mean = row @ np.linalg.solve(self._factor, self.drawn) if beside.size else 0.0
        value = float(mean + sqrt(left) * self.chance.normal())
        size = len(self.drawn)
        factor = np.zeros((size + 1, size + 1))
        factor[:size, :size], factor[size, :size], factor[size, size] = self._factor, row, sqrt(left)
        self._factor, self.places = factor, np.vstack([self.places, at])
        self.drawn = np.append(self.drawn, value)
        return value


def path(places: Floats, width: float, chance: np.random.Generator) -> Floats:
    """Return one path at all places at once, of the kernel exp(−d²/2h²), shape (n,)."""
    gram = similarity(places, places, width)
    values, vectors = np.linalg.eigh(gram)
    return np.asarray(vectors @ (np.sqrt(np.maximum(values, 0.0)) * chance.normal(size=len(places))))


def queries_until_it_breaks(width: float, chance: np.random.Generator, most: int = 400) -> int | None:
    """Return at which query between 0 and 1 a kept path cannot go on; None where it does until the last."""
    kept = KeptPath(width, chance)
    for asked in range(1, most + 1):
        try:
            kept.ask(chance.random(1))
        except np.linalg.LinAlgError:
            return asked
    return None


# --- sensitivities: the largest length of the difference of two functions in their space -----------------


def density_sensitivity(rows: int, *, columns: int, width: float, reach: float) -> float:
    """Return that of a kernel density, of rows that are a distance ``reach`` apart at most."""
    peak = (2 * pi * width**2) ** (-columns / 2)
    return sqrt(2 - 2 * exp(-(reach**2) / (2 * width**2))) * peak / rows


@dataclass(frozen=True)
class Regression:
    """Gaussian process regression of one target at public places.

    Parameters
    ----------
    places
        Shape (n, d).
    width, signal, noise
        Of the kernel κ exp(−d²/2h²), its κ, and the variance of a target around the function.
    """

    places: Floats
    width: float
    signal: float
    noise: float

    def weights(self, asked: Floats) -> Floats:
        """Return what every target adds to the answers, shape (asked, n)."""
        gram = self.signal * similarity(self.places, self.places, self.width)
        beside = self.signal * similarity(asked, self.places, self.width)
        return np.asarray(np.linalg.solve(gram + self.noise * np.eye(len(gram)), beside.T).T)

    def sensitivity(self, reach: float) -> float:
        """Return that of one target anywhere in a range of so much: exactly, and R/2σ at most."""
        gram = self.signal * similarity(self.places, self.places, self.width)
        inverse = np.linalg.inv(gram + self.noise * np.eye(len(gram)))
        return reach * sqrt(float(np.max(np.einsum("ij,jk,ki->i", inverse, gram, inverse))))

    def printed_sensitivity(self, reach: float, *, with_signal: bool = True) -> float:
        """Return R times the largest absolute row sum of M⁻¹; as printed, without √κ, it presumes κ = 1."""
        gram = self.signal * similarity(self.places, self.places, self.width)
        inverse = np.linalg.inv(gram + self.noise * np.eye(len(gram)))
        largest = float(np.abs(inverse).sum(axis=1).max())
        return reach * largest * (sqrt(self.signal) if with_signal else 1.0)


def classes_sensitivity(rows: int, *, weight: float = 1.0, signal: float = 1.0) -> float:
    """Return that of a support vector machine of weight C on the hinge loss; κ is the largest k(x, x)."""
    return 2 * weight * sqrt(signal) / rows


# --- an attack ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Waves:
    """Waves of random frequencies, so that φ(x)·φ(x) = 1: finitely many, chosen before any row."""

    frequencies: Floats

    @classmethod
    def draw(cls, count: int, width: float, chance: np.random.Generator) -> Waves:
        """Return so many pairs for the kernel exp(−d²/2h²) of one column."""
        return cls(chance.normal(size=count) / width)

    def at(self, places: Floats) -> Floats:
        """Return the features of places, shape (n, 2 · count)."""
        angles = np.outer(places, self.frequencies)
        return np.hstack([np.cos(angles), np.sin(angles)]) / sqrt(len(self.frequencies))


def guess_who(
    form: str, *, rows: int, width: float, factor: float, asked: int, chance: np.random.Generator
) -> bool:
    """Return whether an attacker says rightly which of two people is in a density of otherwise known rows.

    Parameters
    ----------
    form
        ``truncated``: waves carry the noise, the function is exact. ``features``: the function is of the
        waves too. ``path``: all values of one path at once.
    factor
        Noise over sensitivity.
    asked
        How many values are asked for.

    Notes
    -----
    The attacker knows the waves and both tables. What lies beside the span of the waves has no noise where
    they carry it all over an exact function; in the span the most likely table is said.
    """
    people = chance.random(rows - 1)
    two, truth = np.array([0.3, 0.7]), int(chance.integers(2))
    places = np.linspace(0, 1, asked)
    waves = Waves.draw(10, width, chance)
    basis, scale = waves.at(places), factor * sqrt(2) / rows
    functions = []
    for one in two:
        table = np.append(people, one)
        if form == "features":
            functions.append(basis @ waves.at(table).mean(axis=0))
        else:
            functions.append(similarity(places[:, None], table[:, None], width).mean(axis=1))
    gram = similarity(places[:, None], places[:, None], width) if form == "path" else basis @ basis.T
    values, vectors = np.linalg.eigh(gram)
    spread = np.sqrt(np.maximum(values, 0.0))
    said = functions[truth] + scale * vectors @ (spread * chance.normal(size=asked))
    # what is below rounding has no noise: a difference there decides, else the likelihood does
    noisy = values > values[-1] * 1e-10
    off = [vectors.T @ (said - one) for one in functions]
    silent = [float(np.linalg.norm(one[~noisy])) for one in off]
    if form == "truncated" and max(silent) > 1e-7:
        return int(silent[1] < silent[0]) == truth
    likely = [float(np.sum((one[noisy] / spread[noisy]) ** 2)) for one in off]
    return int(likely[1] < likely[0]) == truth
