"""Whether noise falls as its laws say, with thresholds that were fixed before: a changed constant shows.

Every cell of every law is counted and compared with its exact probability. All of them together give a false
alarm with a chance of at most `ERROR`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from engine.privacy.noise import Noise

ERROR = 1e-6
DRAWS = 200_000
REST = "rest"
Law = Mapping[int | str, float]


@dataclass(frozen=True)
class Drawn:
    """One law: how it is drawn, and the probability of each value; what is left over is `REST`."""

    id: str
    draw: Callable[[Noise, int], NDArray[np.int64]]
    law: Law


def laws() -> tuple[Drawn, ...]:
    """Return every law that is tried, with settings of every kind of branch."""
    found = [
        *(_laplace(scale) for scale in (Fraction(1, 2), Fraction(3, 2), Fraction(20))),
        *(_gaussian(variance) for variance in (Fraction(1, 4), Fraction(9, 4), Fraction(50))),
        _staircase(5, 2, Fraction(1)),
    ]
    for p in (Fraction(1, 3), Fraction(1, 1000), Fraction(7, 8)):
        found.append(_trial("bernoulli", lambda noise, size, p=p: noise.bernoulli(p, size), float(p)))  # type: ignore[misc]
    for gamma in (Fraction(1, 10), Fraction(1), Fraction(5, 2)):
        found.append(
            _trial(
                "exp_minus",
                lambda noise, size, gamma=gamma: noise.bernoulli_exp_minus(gamma, size),  # type: ignore[misc]
                math.exp(-gamma),
            )
        )
    uniform: Law = dict.fromkeys(range(7), 1 / 7)
    found.append(Drawn("uniform", lambda noise, size: noise.uniform_below(7, size), uniform))
    return tuple(found)


def wrong(noise: Noise | None = None, *, draws: int = DRAWS) -> tuple[str, ...]:
    """Return the ids of the laws that what is drawn does not follow.

    Parameters
    ----------
    noise
        The door; a new one where none is given.
    draws
        How many of each law.
    """
    from scipy.stats import binom

    door, tried = noise or Noise(), laws()
    cells = sum(len(one.law) + 1 for one in tried)
    limit = ERROR / (2 * cells)  # both sides of every cell
    found = []
    for one in tried:
        values = one.draw(door, draws).astype(np.int64)
        counts = {value: int((values == value).sum()) for value in one.law}
        law = dict(one.law)
        law[REST], counts[REST] = 1 - sum(law.values()), draws - sum(counts.values())
        for value, p in law.items():
            p = min(max(p, 0.0), 1.0)
            below = binom.cdf(counts[value], draws, p)
            above = binom.sf(counts[value] - 1, draws, p)
            if min(below, above) < limit and not (value == REST and p < 1e-12 and counts[value] == 0):
                found.append(one.id)
                break
    return tuple(dict.fromkeys(found))


def _laplace(scale: Fraction) -> Drawn:
    rate = 1 / float(scale)
    first = math.expm1(rate) / (math.exp(rate) + 1)
    law: Law = {z: first * math.exp(-abs(z) * rate) for z in _near(2 * float(scale))}
    return Drawn("laplace", lambda noise, size: noise.discrete_laplace(scale, size), law)


def _gaussian(variance: Fraction) -> Drawn:
    sigma = math.sqrt(variance)
    reach = math.ceil(40 * max(sigma, 1.0))
    weight = {z: math.exp(-z * z / (2 * float(variance))) for z in range(-reach, reach + 1)}
    whole = math.fsum(weight.values())
    law: Law = {z: weight[z] / whole for z in _near(2 * sigma)}
    return Drawn("gaussian", lambda noise, size: noise.discrete_gaussian(variance, size), law)


def _staircase(wide: int, high: int, epsilon: Fraction) -> Drawn:
    def weight(z: int) -> float:
        stair = 0 if abs(z) < high else 1 + (abs(z) - high) // wide
        return math.exp(-float(epsilon) * stair)

    whole = math.fsum(weight(z) for z in range(-60 * wide, 60 * wide + 1))
    law: Law = {z: weight(z) / whole for z in _near(2 * wide)}
    return Drawn(
        "staircase", lambda noise, size: noise.staircase(wide, high, epsilon=epsilon, size=size), law
    )


def _trial(name: str, draw: Callable[[Noise, int], NDArray[np.bool_]], p: float) -> Drawn:
    return Drawn(name, lambda noise, size: draw(noise, size).astype(np.int64), {1: p})


def _near(reach: float) -> range:
    edge = max(2, math.ceil(reach))
    return range(-edge, edge + 1)
