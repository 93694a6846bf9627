"""How fast the noise door is: ratios within one run, the least of several interleaved rounds each."""

import time
from fractions import Fraction

import numpy as np
import pytest

from engine.privacy.contribution import keep_rows
from engine.privacy.noise import Noise
from tests.ratios import slack

pytestmark = pytest.mark.benchmark
MILLION = 1_000_000
PI = Fraction(355, 113)


def least(*calls, rounds=5):
    """Return the shortest time of each call in seconds, the calls taking turns."""
    times = [[] for _ in calls]
    for _ in range(rounds):
        for call, taken in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            taken.append(time.perf_counter() - start)
    return [min(taken) for taken in times]


@pytest.fixture(scope="module")
def opendp():
    """Return a maker of opendp's integer noise on that many zeros."""
    dp = pytest.importorskip("opendp.prelude", reason="opendp is the measure")
    dp.enable_features("contrib")

    def make(measurement, metric, scale, size):
        space = dp.vector_domain(dp.atom_domain(T="i64"), size), getattr(dp, metric)(T="i64")
        noisy = space >> getattr(dp.m, measurement)(scale)
        return lambda: noisy([0] * size)

    return make


def test_a_million_discrete_laplace_draws_are_at_least_8_times_as_fast_as_opendp(opendp):
    """Measured in tenths of a million for opendp, whose time grows in proportion."""
    theirs = opendp("then_laplace", "l1_distance", 10.0, MILLION // 10)
    ours, tenth = least(lambda: Noise().discrete_laplace(10, MILLION), theirs, rounds=3)
    print(f"\ndiscrete Laplace: {MILLION / ours / 1e6:.1f} M/s, opendp {MILLION / 10 / tenth / 1e6:.3f} M/s")
    assert 10 * tenth / ours >= 8 / slack()


def test_a_million_discrete_gaussian_draws_are_at_least_8_times_as_fast_as_opendp(opendp):
    theirs = opendp("then_gaussian", "l2_distance", 10.0, MILLION // 10)
    ours, tenth = least(lambda: Noise().discrete_gaussian(100, MILLION), theirs, rounds=3)
    print(f"\ndiscrete Gaussian: {MILLION / ours / 1e6:.1f} M/s, opendp {MILLION / 10 / tenth / 1e6:.3f} M/s")
    assert 10 * tenth / ours >= 8 / slack()


def test_staircase_noise_is_about_as_fast_as_laplace_noise():
    laplace, *stairs = least(
        lambda: Noise().discrete_laplace(1000, MILLION),
        lambda: Noise().staircase(1000, 378, epsilon=1, size=MILLION),
        lambda: Noise().staircase(1000, 120, epsilon=4, size=MILLION),
        rounds=3,
    )
    print("\nstaircase: " + ", ".join(f"{MILLION / one / 1e6:.1f} M/s" for one in stairs))
    assert max(stairs) < 3 * laplace * slack()


def test_a_number_of_a_vector_costs_at_most_fifteen_laplace_draws():
    """Thousands of vectors at a time; of one alone, what a call costs: below two milliseconds."""
    Noise().vector(10**8, 30, size=1)  # its shells are made once
    laplace, many, one = least(
        lambda: Noise().discrete_laplace(10**4, 30 * 4000),
        lambda: Noise().vector(10**8, 30, size=4000),
        lambda: [Noise().vector(10**8, 30, size=1) for _ in range(20)],
        rounds=3,
    )
    print(f"\nvectors of 30: {many / 4000 * 1e6:.0f} µs, one alone {one / 20 * 1e3:.2f} ms")
    assert many < 15 * laplace * slack() and one / 20 < 0.002 * slack()


def test_no_scale_is_much_slower_than_another():
    scales = [Fraction(1, 2), 1, PI, 1000, 2**40, Fraction(2**60 + 33, 2**59 + 1)]
    times = least(*(lambda s=scale: Noise().discrete_laplace(s, MILLION) for scale in scales), rounds=3)
    squared = least(*(lambda s=scale: Noise().discrete_gaussian(s, MILLION) for scale in scales), rounds=3)
    for scale, laplace, gaussian in zip(scales, times, squared, strict=True):
        print(f"\nscale {scale}: Laplace {1 / laplace:.1f} M/s, Gaussian of that variance {1 / gaussian:.1f}")
    assert max(times) < 5 * min(times) * slack() and max(squared) < 5 * min(squared) * slack()


def test_trials_choices_and_lots():
    noise, scores = Noise(), np.arange(100)
    answers = np.zeros(MILLION, dtype=np.int64)
    people = np.random.Generator(np.random.Philox(key=1)).integers(0, 300_000, MILLION)
    response, choice, lots, sort = least(
        lambda: np.where(noise.bernoulli(Fraction(3, 4), MILLION), answers, 1 - answers),
        lambda: [noise.exponential_choice(scores, rate=Fraction(1, 10)) for _ in range(500)],
        lambda: keep_rows(people, cap=2, noise=noise),
        lambda: np.sort(people),
    )
    print(f"\nrandomised response {1 / response:.1f} M rows/s; choice among 100: {500 / choice:,.0f}/s")
    print(f"\na million rows capped: {lots:.3f} s, {lots / sort:.1f} times sorting them")
    assert lots < 30 * sort * slack()


@pytest.mark.parametrize("rows", [1_000, 200_000])
def test_the_time_of_a_choice_does_not_tell_the_scores(rows):
    """One clear winner or none: rejection is drawn in blocks that hardly ever have to be repeated."""
    flat, peaked = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
    peaked[rows // 2] = 10**6
    noise, calls = Noise(), 20_000 // rows + 1
    even, clear = least(
        lambda: [noise.exponential_choice(flat, rate=1) for _ in range(calls)],
        lambda: [noise.exponential_choice(peaked, rate=1) for _ in range(calls)],
        rounds=7,
    )
    without, with_one = 1e3 * even / calls, 1e3 * clear / calls
    print(f"\n{rows} candidates: {without:.2f} ms without a winner, {with_one:.2f} ms with one")
    assert max(clear, even) < 1.5 * min(clear, even) * slack()
