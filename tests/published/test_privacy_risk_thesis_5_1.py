"""Section 8 of "Privacy risk of releasing data and models": theorem 3, and its correction beside it."""

import math

import numpy as np
import pytest

from engine.privacy.at_risk import laplace, mechanisms, published

PRINTED = {
    1: (0.286764, 0.521546, 0.713769, 0.871149),
    2: (0.221777, 0.436467, 0.639351, 0.827656),
    3: (0.210084, 0.417431, 0.619541, 0.814293),
}


@pytest.mark.parametrize("dimensions", PRINTED)
def test_theorem_3_at_epsilon0_1(dimensions):
    found = [published.confidence(e, epsilon0=1, dimensions=dimensions) for e in (0.2, 0.4, 0.6, 0.8)]
    assert found == pytest.approx(PRINTED[dimensions], abs=5e-7)


def test_fifty_outputs():
    assert published.confidence(0.6, epsilon0=1, dimensions=50) == pytest.approx(0.6006595104, abs=5e-11)


def test_design_finds_the_level_of_the_mechanism():
    assert published.epsilon0(0.4, confidence=0.6) == pytest.approx(0.797323, abs=5e-7)


def test_overlap_lemma():
    # The overlap ∫ min(f, g) of Lap(1/1) and Lap(1/0.6) about the same answer.
    x = np.linspace(-200, 200, 2_000_001)
    wide, narrow = 0.3 * np.exp(-0.6 * np.abs(x)), 0.5 * np.exp(-np.abs(x))
    assert np.trapezoid(np.minimum(wide, narrow), x) == pytest.approx(0.8141, abs=5e-5)


def test_exact_and_certified_beside_it():
    assert mechanisms.laplace(epsilon0=1).confidence(0.6) == pytest.approx(0.409365, abs=5e-7)
    assert mechanisms.laplace(epsilon0=1).confidence_two_sided(0.6) == pytest.approx(0.184701, abs=5e-7)
    assert mechanisms.laplace(epsilon0=1).delta(0.6) == pytest.approx(0.181269, abs=5e-7)
    assert mechanisms.discrete_laplace(epsilon0=1).confidence(0.6) == pytest.approx(0.268941, abs=5e-7)
    assert mechanisms.discrete_laplace(epsilon0=1).confidence_two_sided(0.6) == 0


def test_theorem_3_is_not_the_realised_loss():
    # Two million draws: the published .7138 is far from what the noise does.
    noise = np.random.default_rng(8).laplace(scale=1.0, size=2_000_000)
    loss = np.abs(noise - 1) - np.abs(noise)
    share, both = np.mean(loss <= 0.6), np.mean(np.abs(loss) <= 0.6)
    # Five standard errors of a share near .4 are .0017.
    assert share == pytest.approx(mechanisms.laplace(epsilon0=1).confidence(0.6), abs=0.0018)
    assert both == pytest.approx(mechanisms.laplace(epsilon0=1).confidence_two_sided(0.6), abs=0.0018)
    assert published.confidence(0.6, epsilon0=1) - share > 0.3


def test_theorem_3_as_delta_holds_up_to_ln_3_and_fails_above():
    grid = np.linspace(1e-3, 1 - 1e-6, 4000)

    def overstates(epsilon0):
        claimed = 1 - published.confidences(grid * epsilon0, epsilon0=epsilon0)
        true = np.array([mechanisms.laplace(epsilon0=epsilon0).delta(e) for e in grid * epsilon0])
        return bool((claimed < true - 1e-12).any())

    assert not overstates(math.log(3)) and not overstates(0.5)
    assert overstates(math.log(3) + 0.01) and overstates(2)
    assert 1 - published.confidence(1, epsilon0=2) == pytest.approx(0.2689, abs=5e-5)
    assert mechanisms.laplace(epsilon0=2).delta(1) == pytest.approx(0.3935, abs=5e-5)


def test_one_output_in_closed_form():
    # confidence = (1 − e^{−ε})/(1 − e^{−ε0}) and back, ε = −ln(1 − confidence (1 − e^{−ε0})).
    for epsilon0, epsilon in ((1, 0.6), (0.3, 0.05), (4, 3.9)):
        by_hand = -math.expm1(-epsilon) / -math.expm1(-epsilon0)
        assert published.confidence(epsilon, epsilon0=epsilon0) == pytest.approx(by_hand, rel=1e-13)
        back = -math.log1p(-by_hand * -math.expm1(-epsilon0))
        assert published.epsilon(by_hand, epsilon0=epsilon0) == pytest.approx(back, rel=1e-12)


def test_distance_has_the_printed_density():
    # The density of |X1 − X2| is 2^{2−k} t^{k−½} K_{k−½}(t) / (√(2π) Γ(k)).
    from scipy.integrate import quad
    from scipy.special import gamma, kv

    for k in (1, 2, 3, 7):

        def density(t, k=k):
            return 2 ** (2 - k) * t ** (k - 0.5) * kv(k - 0.5, t) / (math.sqrt(2 * math.pi) * gamma(k))

        by_hand = quad(density, 0, 0.6)[0] / quad(density, 0, 1)[0]
        assert published.confidence(0.6, epsilon0=1, dimensions=k) == pytest.approx(by_hand, rel=1e-8)


def test_characteristic_function_form_up_to_a_thousand_outputs():
    # F_k(ε) = (2/π) ∫ sin(zε)/z (1 + z²)^{−k} dz, to nine digits.
    import mpmath

    for k in (50, 1000):

        def share(epsilon, k=k):
            end = 12 / math.sqrt(k) if k > 100 else 6
            return mpmath.quad(
                lambda z: mpmath.sin(z * epsilon) / z * (1 + z * z) ** -k, [1e-30, end / 4, end]
            )

        by_hand = share(0.6) / share(1)
        found = published.confidence(0.6, epsilon0=1, dimensions=k)
        assert found == pytest.approx(float(by_hand), abs=1e-9)


def test_the_loss_is_the_whole_level_every_other_time():
    from engine.privacy.at_risk.mechanisms import laplace as loss

    for epsilon0 in (0.2, 1, 3):
        below = mechanisms.laplace(epsilon0=epsilon0).confidence(epsilon0 * (1 - 1e-12))
        assert below == pytest.approx(0.5) and mechanisms.laplace(epsilon0=epsilon0).confidence(epsilon0) == 1
        assert loss(epsilon0=epsilon0).masses[-1] == 0.5
    # e^{−ε0/2} sinh(ε/2), the two-sided form as it is printed second.
    assert mechanisms.laplace(epsilon0=1).confidence_two_sided(0.6) == pytest.approx(
        math.exp(-0.5) * math.sinh(0.3)
    )


def test_inverses_are_smallest_levels():
    # One-sided max(0, ε0 + 2 ln(2·conf)) below one half; two-sided by root below ½(1 − e^{−ε0}).
    for wanted in (0.1, 0.35, 0.45):
        by_hand = max(0.0, 1 + 2 * math.log(2 * wanted))
        assert mechanisms.laplace(epsilon0=1).epsilon_for_confidence(wanted).value == pytest.approx(by_hand)
    edge = 0.5 * -math.expm1(-1)
    found = mechanisms.laplace(epsilon0=1).epsilon_for_confidence(0.9 * edge, two_sided=True)
    assert not found.at_the_atom
    assert mechanisms.laplace(epsilon0=1).confidence_two_sided(found.value) == pytest.approx(0.9 * edge)
    assert mechanisms.laplace(epsilon0=1).epsilon_for_confidence(1.1 * edge, two_sided=True).at_the_atom


def test_floor_of_every_mechanism():
    # (1 − e^{−ε})/(e^{ε0} − e^{−ε})
    by_hand = -math.expm1(-0.6) / (math.exp(1) - math.exp(-0.6))
    assert laplace.floor(0.6, epsilon0=1) == pytest.approx(by_hand)
    assert laplace.floor(0.6, epsilon0=1) < mechanisms.discrete_laplace(epsilon0=1).confidence(0.6)


@pytest.mark.guarantee
def test_a_shift_in_several_outputs_is_never_worse():
    """All of Δ in one coordinate is the worst case for any number of outputs: random splits convolved."""
    from engine.privacy.at_risk.composition import compose
    from engine.privacy.at_risk.mechanisms import laplace as loss

    generator = np.random.default_rng(51)
    for outputs in (2, 3, 5):
        for split in generator.dirichlet(np.ones(outputs), size=4):
            parts = compose([(loss(epsilon0=float(share)), 1) for share in split])
            for epsilon in (0.2, 0.6, 0.9):
                assert parts.confidence_bounds(epsilon)[1] >= mechanisms.laplace(epsilon0=1).confidence(
                    epsilon
                )


def test_unreachable_confidences_are_marked_at_the_atom():
    assert (
        mechanisms.laplace(epsilon0=1).epsilon_for_confidence(0.6).at_the_atom
        and mechanisms.laplace(epsilon0=1).epsilon_for_confidence(0.6).value == 1
    )
    assert not mechanisms.laplace(epsilon0=1).epsilon_for_confidence(0.45).at_the_atom
    found = laplace.epsilon0(0.4, confidence=0.6)
    assert found.at_the_atom and found.value == 0.4
