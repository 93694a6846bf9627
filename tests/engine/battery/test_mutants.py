"""Every mutant is killed by the checks that are there for it: the same functions that pass what is right."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from engine.privacy.fixed_point import to_grid
from tests.engine.battery.checks import failing
from tests.engine.battery.distributions import laplace_law
from tests.engine.battery.honest import (
    COUNT,
    EPSILON,
    GAUSSIAN,
    GRID,
    HISTOGRAM,
    MEDIAN,
    PERSONS,
    REACH,
    RESPONSE,
    STEP,
    SUM,
    additive,
    bounded_sum,
    choosing,
    median_scores,
    one_count,
)
from tests.noise_source import seeded_noise


def nan_kept(data):
    """Clamp without looking for what is not a number, as numpy.clip does."""
    with np.errstate(invalid="ignore"):
        return np.array([np.clip(data.astype(np.float64), -2, 5).sum() / float(STEP)])


def nan_kept_and_released(data, noise):
    return nan_kept(data) * float(STEP) + noise.discrete_laplace(20, 1) * float(STEP)


def nan_as_integer(data):
    with np.errstate(invalid="ignore"):
        return np.array([np.rint(np.clip(data.astype(np.float64), -2, 5) * 4).astype(np.int64).sum()])


def learnt_bound(data):
    finite = np.clip(data[np.isfinite(data.astype(np.float64))], -100, 100)
    grid, _ = to_grid(np.minimum(finite, np.median(finite) if finite.size else 0), **GRID)
    return np.array([grid.sum()])


def integers_on_their_own_way(data):
    """Round whole numbers exactly and doubles as they come: a missing cell moves everybody's rounding."""
    if data.dtype.kind == "i":
        return np.array([sum(int(value) // 4 for value in data.tolist())], dtype=object)
    finite = data[np.isfinite(data)]
    return np.array([sum(math.floor(value / 4) for value in finite.tolist())], dtype=object)


def learnt_cells(data):
    return np.unique(data, return_counts=True)[1]


def mean_by_exact_size(data):
    return np.array([bounded_sum(data)[0] / max(len(data), 1)])


def floating_noise(data, noise):
    answer = np.array([0.1 * int(bounded_sum(data)[0])])
    uniform = noise.uniform_below(2**53, 1) / 2**53 - 0.5
    return answer - REACH * np.sign(uniform) * np.log1p(-2 * np.abs(uniform))


def spent_twice(data, noise):
    return np.concatenate([COUNT.release(data, noise), COUNT.release(data, noise)])


def mean_of_two(data, noise):
    """Draw twice and release the mean: the shift stays the same, the noise is smaller."""
    return np.array([COUNT.release(data, noise)[0] + COUNT.release(data, noise)[0]]) // 2


def means_of_two(data, noise, runs):
    answer = int(one_count(data)[0])
    return (2 * answer + noise.discrete_laplace(1, runs) + noise.discrete_laplace(1, runs)) // 2


def noisier_when_many(data, noise):
    return COUNT.release(data, noise) + (noise.discrete_laplace(1, 1) if data.size > 5 else 0)


def scale_from_the_data(data, noise):
    return one_count(data) + noise.discrete_laplace(Fraction(10, max(data.size, 1)), 1)


def noise_from_elsewhere(data, noise):
    return one_count(data) + np.random.default_rng().integers(-5, 5, 1)


def filtered_then_capped(data, noise):
    """Choose among the rows with large values first: more than the cap can change."""
    large = data[data[:, 1] > 0]
    kept = large[:: 1 if len(large) > 5 else 2]
    return np.array([float(np.sum(kept[:, 1]))]) + float(noise.discrete_laplace(80, 1)[0]) * 0.25


def louder_truth(data, noise):
    return np.where(noise.bernoulli(Fraction(9, 10), data.size), data, 1 - data)


MUTANTS = {
    "noise halved": (replace(COUNT, **additive(one_count, Fraction(1, 2))), {"noise", "audit"}),
    "noise halved, law forgotten": (
        replace(COUNT, **additive(one_count, Fraction(1, 2)), law=None),
        {"audit"},
    ),
    "noise halved, sum": (
        replace(SUM, **additive(bounded_sum, Fraction(REACH, 2), step=STEP)),
        {"noise", "audit"},
    ),
    "gaussian noise halved": (
        replace(GAUSSIAN, **additive(one_count, Fraction(30, 4), draw="discrete_gaussian")),
        {"noise"},
    ),
    "sensitivity halved": (
        replace(
            SUM,
            **additive(bounded_sum, Fraction(REACH // 2), step=STEP),
            sensitivity=REACH // 2,
            law=laplace_law(Fraction(REACH // 2)),
        ),
        {"sensitivity", "replay", "audit"},
    ),
    "cap forgotten": (
        replace(PERSONS, sensitivity=REACH, release=lambda data, noise: SUM.release(data[:, 1], noise)),
        {"replay", "audit"},
    ),
    "NaN kept": (
        replace(
            SUM,
            release=nan_kept_and_released,
            release_often=None,
            query=nan_kept,
            law=None,
            step=None,
            epsilon=None,
        ),
        {"sensitivity", "any data"},
    ),
    "NaN cast to an integer": (
        replace(SUM, **additive(nan_as_integer, 20, step=STEP), query=nan_as_integer, law=None, epsilon=None),
        {"sensitivity"},
    ),
    "bound learnt": (
        replace(SUM, **additive(learnt_bound, 20, step=STEP), query=learnt_bound),
        {"sensitivity"},
    ),
    "storage decides": (
        replace(
            SUM, **additive(integers_on_their_own_way, 20), query=integers_on_their_own_way, sensitivity=2**62
        ),
        {"sensitivity"},
    ),
    "cells learnt": (
        replace(
            HISTOGRAM, **(additive(learnt_cells, 1) | {"release_often": None}), query=learnt_cells, law=None
        ),
        {"any data", "replay"},
    ),
    "mean by the exact size": (replace(SUM, query=mean_by_exact_size), {"sensitivity"}),
    "floating-point noise": (
        replace(SUM, release=floating_noise, release_often=None, law=None, epsilon=None),
        {"lattice"},
    ),
    "spent twice": (
        replace(COUNT, release=spent_twice, release_often=None, audit_runs=8_000),
        {"replay", "audit"},
    ),
    "mean of two": (
        replace(COUNT, release=mean_of_two, release_often=means_of_two),
        {"noise", "audit"},
    ),
    "seed fixed": (
        replace(
            COUNT,
            release=lambda data, noise: COUNT.release(data, seeded_noise(0)),
            release_often=None,
            audit_runs=2_000,
        ),
        {"source", "audit", "noise"},
    ),
    "noise from elsewhere": (
        replace(COUNT, release=noise_from_elsewhere, release_often=None, epsilon=None),
        {"source"},
    ),
    "no noise": (
        replace(COUNT, release=lambda data, noise: one_count(data), release_often=None, audit_runs=2_000),
        {"source", "audit", "noise"},
    ),
    "another draw when many": (
        replace(COUNT, release=noisier_when_many, release_often=None, epsilon=None),
        {"replay"},
    ),
    "scale from the data": (
        replace(COUNT, release=scale_from_the_data, release_often=None, epsilon=None),
        {"replay"},
    ),
    "filtered, then capped": (replace(PERSONS, release=filtered_then_capped), {"replay"}),
    "truth told more often": (
        replace(
            RESPONSE,
            release=louder_truth,
            release_often=lambda data, noise, runs: louder_truth(np.repeat(data, runs), noise),
        ),
        {"audit"},
    ),
    "rate doubled": (
        replace(MEDIAN, release=choosing(lambda data: 2 * median_scores(data), EPSILON / 2)),
        {"replay"},
    ),
    "rate four times": (replace(MEDIAN, release=choosing(median_scores, 4 * EPSILON)), {"audit"}),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_kills(name):
    mutant, expected = MUTANTS[name]
    assert set(failing(mutant, only=expected)) == expected
