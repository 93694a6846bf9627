"""Theorem 5, printed and corrected."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

from engine.errors import InputRefused
from engine.privacy.direct import SimulatedLaplace, direct_losses
from engine.privacy.sampled_sensitivity import (
    Eta,
    EtaSource,
    SimulatedPopulation,
    authors_eta,
    both_confidence,
    implicit_confidence,
    known_eta,
    recalibrate,
    sampled_sensitivity,
)

FALSE_ALARM = 1e-6
IMPLICIT = implicit_confidence(15_000, quantile=0.9, tolerance=0.01)
ONE = Eta(1.0, EtaSource.KNOWN)


def seeded(seed=1):
    return np.random.Generator(np.random.PCG64(seed))


def test_printed_by_hand():
    eta = authors_eta(0.01, 0.15)
    found = both_confidence(0.6, epsilon0=1.0, implicit=IMPLICIT, eta=eta)
    widened = 1 + 2 * 0.01 / 0.15
    by_hand = (1 - math.exp(-0.6)) / (1 - math.exp(-widened)) * 0.9 * (1 - 2 * math.exp(-3))
    assert found.printed == pytest.approx(by_hand, rel=1e-12)
    assert found.worst_level is None and found.eta.source is EtaSource.AUTHORS_HEURISTIC


def test_corrected_by_hand_and_at_the_ends():
    found = both_confidence(0.6, epsilon0=1.0, implicit=IMPLICIT, eta=known_eta(3.0, 2.0))
    assert found.exact_one_sided == pytest.approx(0.5 * math.exp(-0.2) * 0.89)
    assert found.exact_two_sided == pytest.approx(math.exp(-0.5) * math.sinh(0.3) * 0.89)
    assert found.worst_level == 1.5
    above = both_confidence(1.0, epsilon0=1.0, implicit=IMPLICIT, eta=ONE)
    assert (above.exact_one_sided, above.exact_two_sided) == (IMPLICIT.corrected, IMPLICIT.corrected)
    assert above.printed == IMPLICIT.printed


def test_the_authors_eta_depends_on_the_unit_of_the_answer():
    euros, thousands = authors_eta(0.01, 150.0), authors_eta(0.01, 0.15)
    assert euros.value < 1.001 < 1.13 < thousands.value
    assert known_eta(300.0, 150.0).value == known_eta(0.3, 0.15).value


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_eta_refuses(value):
    for call in (
        lambda: known_eta(value, 1.0),
        lambda: known_eta(1.0, value),
        lambda: authors_eta(0.1, value),
    ):
        with pytest.raises(InputRefused) as refused:
            call()
        assert refused.value.code == "sampled_sensitivity.not_positive"


@pytest.mark.parametrize("dimensions", [1, 2, 5])
@pytest.mark.parametrize("confidence", [0.05, 0.2, 0.4, 0.6, 0.8])
@pytest.mark.parametrize("eta", [ONE, authors_eta(0.01, 0.15)])
def test_recalibration_is_the_inverse(dimensions, confidence, eta):
    found = recalibrate(0.4, confidence=confidence, implicit=IMPLICIT, eta=eta, dimensions=dimensions)

    def at(epsilon0):
        return both_confidence(0.4, epsilon0=epsilon0, implicit=IMPLICIT, eta=eta, dimensions=dimensions)

    for name in ("printed", "exact_one_sided", "exact_two_sided"):
        level = getattr(found, name)
        assert level > 0
        if math.isinf(level):
            assert getattr(at(1e5), name) >= confidence
            continue
        # The largest: it reaches the confidence, and a little more noise budget does not.
        assert getattr(at(level), name) >= confidence * (1 - 1e-9)
        assert getattr(at(level * (1 + 1e-6)), name) < confidence


def test_recalibration_where_the_pairs_allow_no_such_confidence():
    found = recalibrate(0.4, confidence=0.85, implicit=IMPLICIT, eta=ONE)
    assert found.printed is None  # .9·.9004 = .81
    assert found.exact_one_sided == 0.4  # .89 is reached, but only where ε₀ is ε itself
    assert recalibrate(0.4, confidence=0.9, implicit=IMPLICIT, eta=ONE).exact_one_sided is None
    edge = recalibrate(0.4, confidence=IMPLICIT.corrected, implicit=IMPLICIT, eta=ONE)
    assert edge.exact_one_sided == 0.4
    assert (
        recalibrate(
            0.4, confidence=IMPLICIT.printed, implicit=IMPLICIT, eta=Eta(2.0, EtaSource.KNOWN)
        ).printed
        == 0.2
    )


# In simulation: records uniform on [0, 1], the sum as query, so S = |U − V| with density 2(1 − s).


def true_confidence(epsilon, epsilon0, sampled, two_sided):
    def within(s):
        level = epsilon0 * s / sampled
        if level <= epsilon:
            return 1.0
        if two_sided:
            return math.exp(-level / 2) * math.sinh(epsilon / 2)
        return 0.5 * math.exp(-(level - epsilon) / 2)

    kink = min(1.0, epsilon * sampled / epsilon0)
    return sum(
        quad(lambda s: 2 * (1 - s) * within(s), start, end)[0] for start, end in [(0, kink), (kink, 1)]
    )


class UniformPairs:
    """Answers of the sum on pairs of data sets of uniforms: the common records cancel."""

    def answer_pairs(self, population, *, pairs, records, generator):
        yield generator.random((pairs, 1)), generator.random((pairs, 1))


UNIFORM = SimulatedPopulation(lambda generator, count: generator.random((count, 1)))


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("epsilon", [0.3, 0.9])
def test_corrected_forms_hold_at_their_level(epsilon, two_sided):
    generator, repetitions = seeded(4), 300
    pairs, share, tolerance = 100, 0.9, 0.1
    implicit = implicit_confidence(pairs, quantile=share, tolerance=tolerance)
    found = both_confidence(epsilon, epsilon0=1.0, implicit=implicit, eta=ONE)
    claimed = found.exact_two_sided if two_sided else found.exact_one_sided
    failed = 0
    for _ in range(repetitions):
        sample = sampled_sensitivity(UniformPairs(), UNIFORM, pairs=pairs, records=5, generator=generator)
        failed += true_confidence(epsilon, 1.0, sample.quantile(share), two_sided) < claimed
    assert failed <= binom.ppf(1 - FALSE_ALARM, repetitions, 1 - found.probability)


def test_the_simulation_knows_the_truth():
    true = true_confidence(0.5, 1.0, 0.4, False)
    losses = direct_losses(
        UniformPairs(), UNIFORM, SimulatedLaplace(0.4), draws=200_000, records=5, generator=seeded(8)
    )
    found = losses.within(0.5, level=1 - FALSE_ALARM)
    assert found.low <= true <= found.high


class AlwaysOneApart:
    """A query that every pair of neighbours moves by exactly 1, such as the number of the newest record."""

    def answer_pairs(self, population, *, pairs, records, generator):
        yield np.zeros((pairs, 1)), np.ones((pairs, 1))


def test_printed_form_overstates_what_is_measured():
    """Δ_S = Δ_f = 1, so η = 1 is known and α is high: all that is left wrong is theorem 3 itself."""
    implicit = implicit_confidence(15_000, quantile=0.99, tolerance=0.02)
    sample = sampled_sensitivity(AlwaysOneApart(), UNIFORM, pairs=15_000, records=5, generator=seeded())
    assert sample.quantile(0.99) == 1.0
    found = both_confidence(0.6, epsilon0=1.0, implicit=implicit, eta=known_eta(1.0, 1.0))
    losses = direct_losses(
        AlwaysOneApart(), UNIFORM, SimulatedLaplace(1.0), draws=100_000, records=5, generator=seeded(2)
    )
    measured = losses.within(0.6, level=1 - FALSE_ALARM)
    assert measured.high < 0.42 < 0.70 < found.printed
    assert found.exact_one_sided <= measured.low
    assert found.exact_two_sided <= losses.within(0.6, level=1 - FALSE_ALARM, two_sided=True).low
