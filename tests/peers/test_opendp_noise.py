"""opendp's samplers and ours draw from the same distributions: two-sample tests, false alarms 1e-6."""

from fractions import Fraction

import numpy as np
import pytest

from tests.engine.battery.distributions import CheckFailed, check_same
from tests.noise_source import seeded_noise

dp = pytest.importorskip("opendp.prelude", reason="opendp is the peer")
SIZE = 30_000
SCALES = [Fraction(1, 2), 1, Fraction(355, 113), 1000, 2**40]


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("measurement", ["then_laplace", "then_gaussian"])
def test_agrees_with_opendp(measurement, scale):
    noise = seeded_noise(1)
    if measurement == "then_laplace":
        theirs = opendp_draws("then_laplace", "l1_distance", float(scale))
        own = noise.discrete_laplace(scale, SIZE)
    else:
        theirs = opendp_draws("then_gaussian", "l2_distance", float(scale))
        own = noise.discrete_gaussian(Fraction(scale) ** 2, SIZE)
    check_same(own, theirs)
    check_same(np.abs(own), np.abs(theirs))


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_one_number_with_vector_noise_and_stairs_of_one_step_agree_with_its_laplace_noise(scale):
    theirs = opendp_draws("then_laplace", "l1_distance", float(scale))
    noise = seeded_noise(3)
    for own in (
        noise.vector(Fraction(scale) ** 2, 1, size=SIZE)[:, 0],
        noise.staircase(1, 1, epsilon=1 / Fraction(scale), size=SIZE),
    ):
        check_same(own, theirs)
        check_same(np.abs(own), np.abs(theirs))


def test_would_see_another_scale():
    theirs = opendp_draws("then_laplace", "l1_distance", 10.0)
    with pytest.raises(CheckFailed):
        check_same(seeded_noise(2).discrete_laplace(11, SIZE), theirs)


def opendp_draws(measurement, metric, scale):
    """Return opendp's noise on zeros; its ``int`` has 32 bits, so i64 is said aloud."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64"), SIZE), getattr(dp, metric)(T="i64")
    return np.array((space >> getattr(dp.m, measurement)(scale))([0] * SIZE), dtype=np.int64)
