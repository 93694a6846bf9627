"""Estimates over sites: by hand, by simulation with noise, and refused where they say nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.analyses.catalogue import analysis, ask
from engine.analyses.meta_analysis import fixed_effect, heterogeneity, random_effects
from engine.errors import InputRefused

# Variances 1, 2 and 4, values 1, 4 and 7: worked out on paper
VALUES, VARIANCES = (1.0, 4.0, 7.0), (1.0, 2.0, 4.0)


def test_by_hand() -> None:
    same = fixed_effect(VALUES, VARIANCES)
    assert same.estimate == pytest.approx((1 + 2 + 1.75) / 1.75) and same.error == pytest.approx(1.75**-0.5)
    found = heterogeneity(VALUES, VARIANCES)
    mean = 19 / 7
    q = (1 - mean) ** 2 + (4 - mean) ** 2 / 2 + (7 - mean) ** 2 / 4
    assert found.q == pytest.approx(q) and found.share == pytest.approx(100 * (1 - 2 / q))
    assert found.chance == pytest.approx(math.exp(-q / 2))  # two degrees of freedom
    between = (q - 2) / (1.75 - (1 + 0.25 + 0.0625) / 1.75)
    mixed = random_effects(VALUES, VARIANCES)
    assert mixed.spread == pytest.approx(between**0.5)
    weights = [1 / (one + between) for one in VARIANCES]
    centre = sum(w * y for w, y in zip(weights, VALUES, strict=True)) / sum(weights)
    squares = sum(w * (y - centre) ** 2 for w, y in zip(weights, VALUES, strict=True))
    error = (squares / (2 * sum(weights))) ** 0.5
    assert (mixed.estimate, mixed.error) == (pytest.approx(centre), pytest.approx(error))
    assert mixed.high - mixed.estimate == pytest.approx(4.302653 * error, rel=1e-6)  # t, two degrees


def covered(*, sites: int, tau: float, noise: float, told: bool, runs: int = 2_000) -> tuple[float, float]:
    """Return how often the interval of random effects covers the mean over sites, and how often Q alarms."""
    lots = np.random.default_rng(28)
    sampled, inside, alarms = 2.0, 0, 0
    variances = [sampled**2 + (noise**2 if told else 0)] * sites
    for _ in range(runs):
        values = (
            100
            + lots.normal(0, tau, sites)
            + lots.normal(0, sampled, sites)
            + lots.laplace(0, noise / 2**0.5, sites)
        )
        found = random_effects(list(values), variances)
        inside += found.low <= 100 <= found.high
        alarms += heterogeneity(list(values), variances).chance < 0.05
    return inside / runs, alarms / runs


@pytest.mark.parametrize(("sites", "tau"), [(5, 5.0), (5, 0.0), (12, 5.0)])
def test_the_interval_covers_with_the_noise_in_the_variance(sites: int, tau: float) -> None:
    found, _ = covered(sites=sites, tau=tau, noise=3.0, told=True)
    assert 0.93 < found < 0.98


def test_noise_that_nobody_tells_looks_as_if_sites_differed() -> None:
    assert covered(sites=6, tau=0.0, noise=4.0, told=False)[1] > 0.4
    assert covered(sites=6, tau=0.0, noise=4.0, told=True)[1] < 0.10


def test_two_sites_are_refused() -> None:
    sites = [{"name": name, "estimate": 1, "error": 1} for name in ("A", "B")]
    with pytest.raises(InputRefused) as refused:
        ask(analysis("meta_analysis"), {"sites": sites}, tables={}, schemas={})
    assert refused.value.code == "analyses.few_sites"
    with pytest.raises(InputRefused) as refused:
        ask(
            analysis("meta_analysis"),
            {"sites": [*sites, {"name": "C", "estimate": 1, "error": 0}]},
            tables={},
            schemas={},
        )
    assert refused.value.code == "analyses.no_error"


@pytest.mark.parametrize("sites", [3, 6, 20])
@pytest.mark.parametrize("part", [0.2, 0.5, 1.0])
def test_laplace_noise_does_not_look_as_if_sites_differed(sites: int, part: float) -> None:
    """Sites that are alike, of unlike errors, are called unlike in .05 of 5,000 runs, within 4 errors."""
    lots, runs = np.random.default_rng(28), 5_000
    noise = lots.uniform(0.5, 2, sites) * part**0.5
    variances = noise**2 + lots.uniform(0.5, 2, sites) ** 2 * (1 - part)
    normal = lots.normal(0, 1, (runs, sites)) * np.sqrt(variances - noise**2)
    values = normal + lots.laplace(0, 2**-0.5, (runs, sites)) * noise
    fourth = list(3 * noise**4)
    told = [heterogeneity(list(one), list(variances), fourth).chance < 0.05 for one in values]
    untold = [heterogeneity(list(one), list(variances)).chance < 0.05 for one in values]
    assert abs(float(np.mean(told)) - 0.05) < 4 * (0.05 * 0.95 / runs) ** 0.5 + 0.005
    assert np.mean(untold) >= np.mean(told)
