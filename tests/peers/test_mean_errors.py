"""Errors of means and proportions beside those of opendp and diffprivlib, at the same guarantee and epsilon.

The median absolute error of ours is no larger than theirs, and the margin printed with it holds in 95 to 96
of 100 releases of real tables. Errors are drawn: a median of 20,000 Laplace-like errors is known to 1 % (one
standard error), so that 7 % is a false alarm below 1e-6; diffprivlib's of 2,000 to 3 %, so 15 %.
"""

import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from engine.methods.shared.quantity import Grid, Quantity
from engine.methods.statistics.mean_forms import DeclaredNumber, Form, TwoSums
from engine.table.schema import Column, Kind
from tests.noise_source import seeded_noise
from tests.peers.mean_queries import EPSILONS, QUERIES, Query

RUNS = 20_000
DIFFPRIVLIB = json.loads(Path(__file__).with_name("diffprivlib_means.json").read_text(encoding="utf-8"))
CASES = [(name, epsilon) for name in QUERIES for epsilon in EPSILONS]


def quantity(query: Query) -> Quantity:
    return Quantity(value=Grid(Column("x", kind=Kind.NUMBER), query.low, query.high, Fraction(1)))


@cache
def ours(name: str, epsilon: str, form: Callable[[Query, str], Form], seed: int = 1):
    """Return the errors and the margins of many releases, drawn once for all tests."""
    query = QUERIES[name]
    sums, counts = np.full(RUNS, query.total), np.full(RUNS, query.size)
    found = form(query, epsilon).numbers(sums, counts, seeded_noise(seed))
    return np.abs(found["value"] - query.truth), found["within_95"]


def two_sums(query: Query, epsilon: str) -> TwoSums:
    return TwoSums(quantity(query), Fraction(epsilon), rows=1, replace_one=False, groups=1)


def declared(query: Query, epsilon: str) -> DeclaredNumber:
    return DeclaredNumber(
        quantity(query),
        Fraction(epsilon),
        rows=1,
        replace_one=True,
        groups=1,
        number=query.size,
        is_sum=False,
    )


# --- opendp ----------------------------------------------------------------------------------------


def noisy_sums(query: Query, epsilon: float, *, size: int | None, shift: int = 0) -> np.ndarray:
    """Draw opendp's noisy sum of values less ``shift``: the scale is the one that its own map asks for."""
    dp = pytest.importorskip("opendp.prelude", reason="opendp is the peer")
    dp.enable_features("contrib")
    bounds = dp.atom_domain(bounds=(query.low - shift, query.high - shift), T="i64")
    space = dp.vector_domain(bounds, size=size), dp.symmetric_distance()
    summed = space >> dp.t.then_sum()
    distance = 1 if size is None else 2  # symmetric distance counts an exchange twice
    scale = dp.binary_search_param(lambda b: summed >> dp.m.then_laplace(b), d_in=distance, d_out=epsilon)
    return query.total - shift * query.size + draws(dp, scale)


def draws(dp, scale: float) -> np.ndarray:
    space = dp.vector_domain(dp.atom_domain(T="i64"), RUNS), dp.l1_distance(T="i64")
    return np.array((space >> dp.m.then_laplace(scale))([0] * RUNS), dtype=np.int64)


@cache
def noisy_counts(name: str, epsilon: float) -> np.ndarray:
    dp = pytest.importorskip("opendp.prelude", reason="opendp is the peer")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()
    counted = space >> dp.t.then_count(TO="i64")
    scale = dp.binary_search_param(lambda b: counted >> dp.m.then_laplace(b), d_in=1, d_out=epsilon)
    return QUERIES[name].size + draws(dp, scale)


@pytest.mark.slow
@pytest.mark.parametrize("centred", [False, True], ids=["sum", "centred sum"])
@pytest.mark.parametrize(("name", "epsilon"), CASES)
def test_no_less_exact_than_opendps_sum_and_count(name, epsilon, centred):
    """Half of epsilon for each of both; also where its user shifts the values to the middle of the range."""
    query, half = QUERIES[name], float(Fraction(epsilon)) / 2
    shift = (query.low + query.high) // 2 if centred else 0
    theirs = noisy_sums(query, half, size=None, shift=shift) / np.maximum(noisy_counts(name, half), 1) + shift
    theirs = np.abs(np.clip(theirs, query.low, query.high) - query.truth)
    errors, _ = ours(name, epsilon, two_sums)
    print(f"{name}, {epsilon}: {np.median(errors):.4g}, theirs {np.median(theirs):.4g}")
    assert np.median(errors) <= 1.07 * np.median(theirs)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "epsilon"), CASES)
def test_no_less_exact_than_opendp_where_the_number_of_rows_is_public(name, epsilon):
    query = QUERIES[name]
    theirs = noisy_sums(query, float(Fraction(epsilon)), size=query.size) / query.size
    theirs = np.abs(np.clip(theirs, query.low, query.high) - query.truth)
    errors, _ = ours(name, epsilon, declared)
    print(f"{name}, {epsilon}: {np.median(errors):.4g}, theirs {np.median(theirs):.4g}")
    assert np.median(errors) <= 1.07 * np.median(theirs)


# --- diffprivlib -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "epsilon"), CASES)
def test_no_less_exact_than_diffprivlib_where_the_number_of_rows_is_public(name, epsilon):
    errors, _ = ours(name, epsilon, declared)
    assert np.median(errors) <= 1.15 * DIFFPRIVLIB["median_error"][name][epsilon]


# --- what is said about the error ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("form", [two_sums, declared])
@pytest.mark.parametrize(("name", "epsilon"), CASES)
def test_the_margin_holds_on_real_tables(name, epsilon, form):
    """In 94.5 to 96 of 100 releases (false alarm 1e-7); in more where the mean is so near an end of the range
    that it can be missed on one side only, and where noise of a few whole steps cannot hit the share."""
    query = QUERIES[name]
    one = form(query, epsilon)
    errors, margins = ours(name, epsilon, form, seed=7)
    held = int((errors <= margins * (1 + 1e-9)).sum())
    print(f"{name}, {epsilon}: {held / RUNS:.4f}")
    assert held >= binom.ppf(1e-7, RUNS, 0.945)
    scale = float(one.parts[0].scale)
    near_an_end = min(query.total - query.low * query.size, query.high * query.size - query.total) < 3 * scale
    if not near_an_end and scale > 8:
        assert held <= binom.ppf(1 - 1e-7, RUNS, 0.96)


@pytest.mark.parametrize(("name", "epsilon"), CASES)
def test_the_forecast_holds_on_real_tables(name, epsilon):
    """At least 95 of 100 errors stay within the limit for groups of that size, wherever the mean lies."""
    query = QUERIES[name]
    for form in (two_sums, declared):
        ((median, limit),) = form(query, epsilon).errors((query.size,))
        errors, _ = ours(name, epsilon, form, seed=8)
        assert (errors <= limit * (1 + 1e-9)).sum() >= binom.ppf(1e-7, RUNS, 0.95)
        assert (errors <= median * (1 + 1e-9)).sum() >= binom.ppf(1e-7, RUNS, 0.5)
