"""Several releases together against brute-force enumeration and closed forms."""

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting.pld.pld_pmf import DensePLDPmf

from engine.errors import Cancelled, InputRefused
from engine.privacy.at_risk import composition
from engine.privacy.at_risk.composition import compose, compose_losses
from engine.privacy.at_risk.loss import PrivacyLoss
from engine.privacy.at_risk.mechanisms import (
    discrete_gaussian,
    discrete_laplace,
    exponential,
    gaussian,
    laplace,
    randomised_response_at,
)
from engine.privacy.at_risk.releases import read_releases, state_together
from engine.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from engine.progress import Progress
from engine.texts import explain


def enumerate_all(losses):
    """Return every combination of atoms: total loss and its probability."""
    values, masses = [], []
    for combination in itertools.product(*(zip(x.losses, x.masses, strict=True) for x in losses)):
        values.append(math.fsum(v for v, _ in combination))
        masses.append(math.prod(m for _, m in combination))
    return np.array(values), np.array(masses)


@pytest.mark.parametrize(
    "losses",
    [
        [discrete_laplace(epsilon0=1)] * 3,
        [discrete_laplace(epsilon0=0.5), discrete_laplace(epsilon0=0.3), discrete_laplace(epsilon0=1.1)],
        [discrete_laplace(epsilon0=0.7, sensitivity=5), discrete_laplace(epsilon0=0.4, sensitivity=3)] * 2,
        [randomised_response_at(epsilon0=0.6, answers=4), discrete_laplace(epsilon0=0.9)] * 3,
    ],
)
def test_few_releases_by_enumeration(losses):
    values, masses = enumerate_all(losses)
    together = compose([(x, 1) for x in losses])
    assert together.rounded == 0
    for epsilon in (0.05, 0.5, 0.7, 1.0, 1.2, 2.4):
        if epsilon >= together.largest:
            continue
        below = masses[values <= epsilon + 1e-9].sum()
        assert together.confidence(epsilon) == pytest.approx(below, abs=1e-12)
        both = masses[np.abs(values) <= epsilon + 1e-9].sum()
        assert together.confidence_two_sided(epsilon) == pytest.approx(both, abs=1e-12)
        delta = (masses * np.maximum(0, -np.expm1(np.minimum(0, epsilon - values)))).sum()
        assert together.delta(epsilon) == pytest.approx(delta, abs=1e-12)
        low, high = together.delta_bounds(epsilon)
        assert low - 1e-12 <= delta <= high + 1e-12


def test_counts_equal_repetition():
    one = discrete_laplace(epsilon0=0.4, sensitivity=3)
    repeated, counted = compose([(one, 1)] * 5), compose([(one, 5)])
    for epsilon in (0.3, 0.8, 1.5):
        assert repeated.delta(epsilon) == pytest.approx(counted.delta(epsilon), abs=1e-12)
        assert repeated.confidence(epsilon) == pytest.approx(counted.confidence(epsilon), abs=1e-12)


def test_gaussian_releases_add_up_to_one_gaussian():
    many, one = compose([(gaussian(scale=10), 100)]), gaussian(scale=1)
    mixed = compose([(gaussian(scale=10), 64), (gaussian(scale=5), 9)])
    for epsilon in (0.5, 1.0, 2.5, 4.0):
        for found in (many, mixed):
            low, high = found.confidence_bounds(epsilon)
            assert low - 1e-9 <= one.confidence(epsilon) <= high + 1e-9 and high - low < 0.002
            low, high = found.delta_bounds(epsilon)
            assert low - 1e-9 <= one.delta(epsilon) <= high + 1e-9
            assert found.delta(epsilon) == pytest.approx(one.delta(epsilon), rel=1e-4)


def test_two_laplace_releases_by_quadrature():
    """The loss of two releases as a double integral over the noise."""
    full, cells = 0.8, 2000
    # Quantiles of the standard Laplace distribution at cell middles: each pair has the same probability.
    u = (np.arange(cells) + 0.5) / cells
    noise = np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u))) / full
    single = full * (np.abs(noise - 1) - np.abs(noise))
    total = single[:, None] + single[None, :]
    together = compose([(laplace(epsilon0=full), 2)])
    for epsilon in (0.1, 0.5, 1.1):
        low, high = together.confidence_bounds(epsilon)
        share = np.mean(total <= epsilon)
        assert low - 1e-3 <= share <= high + 1e-3
        delta = np.mean(np.maximum(0, -np.expm1(np.minimum(0, epsilon - total))))
        assert together.delta(epsilon) == pytest.approx(delta, abs=1e-3)


@pytest.mark.parametrize("epsilon0", [1e-4, 1e-2, 1])
def test_discretisation_shrinks_with_epsilon(epsilon0):
    together = compose([(laplace(epsilon0=epsilon0), 20)])
    assert together.interval * together.rounded < 2e-3 * together.largest
    low, high = together.confidence_bounds(together.largest / 5)
    assert 0 <= high - low < 0.01


def test_sum_of_levels_is_the_end():
    together = compose([(discrete_laplace(epsilon0=0.1), 3)])
    assert together.confidence(0.3) == 1 and together.delta(0.3) == 0
    assert together.confidence(0.2999) < 1
    assert together.epsilon_for_delta(1e-9) <= 0.3 + 1e-12


def test_exponential_mechanisms_stay_below_their_bound_in_every_pair():
    together = compose([(exponential(epsilon0=0.5), 4)])
    for t in (0.05, 0.25, 0.4):
        a = (math.exp(0.5) - math.exp(t)) / math.expm1(0.5)
        pair = PrivacyLoss("pair", np.array([t - 0.5, t]), np.array([1 - a, a]), None, 0.5)
        values, masses = enumerate_all([pair] * 4)
        for epsilon in (0.2, 0.6, 1.2):
            delta = (masses * np.maximum(0, -np.expm1(np.minimum(0, epsilon - values)))).sum()
            assert together.delta(epsilon) >= delta - 1e-12
            assert together.confidence(epsilon) <= masses[values <= epsilon].sum() + 1e-12
            both = masses[np.abs(values) <= epsilon].sum()
            assert together.confidence_two_sided(epsilon) <= both + 1e-12


def test_events_of_the_accountant():
    alone = compose_losses([Laplace(Fraction(1), Fraction(1))])
    assert isinstance(alone, PrivacyLoss) and alone.confidence(Fraction(3, 5)) == pytest.approx(
        0.409365, abs=1e-6
    )
    several = compose_losses(
        [DiscreteLaplace(Fraction(10), Fraction(1), count=60)]
        + [DiscreteLaplace(Fraction(10), Fraction(1)) for _ in range(40)]
    )
    assert several.rounded == 0 and several.largest == pytest.approx(10)
    assert several.epsilon_for_delta(1e-4) < 4


def test_three_hundred_mixed_releases():
    events = []
    for i in range(50):
        level = Fraction(10 + i, 1000)
        events += [
            Laplace(1 / level, Fraction(1)),
            DiscreteLaplace(1 / level, Fraction(1)),
            DiscreteLaplace(7 / level, Fraction(7)),
            Gaussian(1 / level, Fraction(1)),
            Exponential(2 / level, Fraction(1)),
            DiscreteGaussian(1 / level, Fraction(1)),
        ]
    start = time.perf_counter()
    together = compose_losses(events)
    epsilon = together.epsilon_for_delta(1e-6)
    print(f"\n300 different mechanisms: {time.perf_counter() - start:.2f} s")
    assert together.delta(epsilon) <= 1e-6 * (1 + 1e-6)
    # At least what the Gaussian releases alone need, at most advanced composition of them all.
    alone = compose_losses([event for event in events if "gaussian" in event.word])
    assert alone.epsilon_for_delta(1e-6) < epsilon
    assert math.isinf(together.largest)


def test_refusals_and_stop():
    with pytest.raises(InputRefused) as refused:
        compose([])
    assert all(explain(refused.value))
    with pytest.raises(InputRefused) as refused:
        compose_losses([Laplace(Fraction(i, 7), Fraction(1)) for i in range(1, 303)])
    assert all(explain(refused.value))
    with pytest.raises(Cancelled):
        compose([(laplace(epsilon0=1), 2)], progress=Progress(stopped=lambda: True))


def test_expected_price_needs_the_whole_distribution():
    losses = [discrete_laplace(epsilon0=0.5), discrete_gaussian(scale=2)]
    values, masses = enumerate_all(losses)
    together = compose([(x, 1) for x in losses])
    assert together.expectation(np.abs) == pytest.approx((masses * np.abs(values)).sum(), rel=1e-9)


def test_formulas():
    found = state_together([read_releases("laplace:0.1:1"), read_releases("laplace:0.2")], delta="1e-4")
    assert found.basic == pytest.approx(0.3)
    by_hand = math.sqrt(2 * math.log(1e4) * (0.01 + 0.04)) + 0.1 * math.expm1(0.1) + 0.2 * math.expm1(0.2)
    assert found.advanced == pytest.approx(by_hand)


def test_losses_beyond_what_a_float_can_raise_e_to():
    """A price is worked out over losses of any size: none may be without a confidence."""
    parts = [DiscreteGaussian(Fraction(30), Fraction(1)), Exponential(Fraction(1, 10), Fraction(1))]
    together = compose_losses([*parts, *parts, Exponential(Fraction(1, 7), Fraction(1))])
    found = together.confidences(np.array([0.5, 5.0, 700.0, 720.0, 1e4]))
    assert np.isfinite(found).all()
    assert np.all(np.diff(found) >= 0)
    assert found[-1] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("beyond", [0.0, 1e-12, 1e-3])
def test_what_is_worked_out_at_once_is_what_the_library_works_out_point_by_point(beyond: float) -> None:
    lots = np.random.default_rng(1)
    for size, interval, power in ((1, 1.0, 1), (7, 0.5, 3), (400, 0.5, 9), (2000, 1e-3, 30), (2000, 1e-2, 1)):
        masses, short = lots.random(size) ** power, lots.random(5)
        lowest = -int(lots.integers(0, size))
        one = DensePLDPmf(interval, lowest, masses / masses.sum(), beyond, True)
        two = DensePLDPmf(interval, -2, short / short.sum(), 0.0, True)
        theirs, ours = (
            one.compose(two, tail_mass_truncation=composition.TAIL),
            composition._convolve(one, two),
        )
        assert np.array_equal(theirs._probs, ours._probs)
        assert (theirs._lower_loss, theirs._infinity_mass) == (ours._lower_loss, ours._infinity_mass)
        for delta in (0.0, 1e-15, 1e-9, 1e-4, 0.1, 0.9, 1.0):
            found = composition._epsilon_at(one, delta)
            assert found == pytest.approx(one.get_epsilon_for_delta(delta), rel=1e-12, abs=1e-12), delta
