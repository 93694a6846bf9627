"""The published confidence against mpmath at twenty-five digits and more, by two other formulas."""

import mpmath as mp
import pytest

from engine.privacy.at_risk import published


def by_density(x, k):
    """Integrate the density 2^{2−k} t^{k−½} K_{k−½}(t) / (√(2π) Γ(k))."""
    half = k - mp.mpf(1) / 2

    def density(t):
        return mp.mpf(2) ** (2 - k) * t**half * mp.besselk(half, t) / (mp.sqrt(2 * mp.pi) * mp.gamma(k))

    return mp.quad(density, [0, mp.mpf(x) / 2, mp.mpf(x)])


def by_hypergeometric(x, k):
    """Evaluate the printed form, without its constant factor."""
    x = mp.mpf(x)
    first = mp.sqrt(mp.pi) * mp.mpf(4) ** k * x * mp.hyp1f2(0.5, mp.mpf(1.5) - k, 1.5, x**2 / 4)
    second = 2 * x ** (2 * k) * mp.gamma(k) * mp.hyp1f2(k, k + mp.mpf(0.5), k + 1, x**2 / 4)
    return first / (mp.gamma(mp.mpf(1.5) - k) * mp.gamma(1.5)) - second / (
        mp.gamma(k + mp.mpf(0.5)) * mp.gamma(k + 1)
    )


@pytest.mark.parametrize("dimensions", [2, 3, 50, 1000])
@pytest.mark.parametrize("epsilon", [0.6, 25.0])
def test_distribution_function(dimensions, epsilon):
    with mp.workdps(25):
        wanted = by_density(epsilon, dimensions)
        found = published.difference_distribution(epsilon, dimensions)
        assert abs(found / wanted - 1) < 1e-11


@pytest.mark.parametrize("dimensions", [1, 2, 3, 50, 1000])
@pytest.mark.parametrize(("epsilon", "epsilon0"), [(0.6, 1.0), (0.001, 0.01), (2.0, 5.0), (9.0, 30.0)])
def test_confidence_and_both_inverses(dimensions, epsilon, epsilon0):
    with mp.workdps(400):
        wanted = float(by_hypergeometric(epsilon, dimensions) / by_hypergeometric(epsilon0, dimensions))
    found = published.confidence(epsilon, epsilon0=epsilon0, dimensions=dimensions)
    assert found == pytest.approx(wanted, rel=1e-9)
    back = published.epsilon(found, epsilon0=epsilon0, dimensions=dimensions)
    assert back == pytest.approx(epsilon, rel=1e-9)
    own = published.epsilon0(epsilon, confidence=found, dimensions=dimensions)
    # Near F = 1 many ε0 share the same confidence to sixteen digits; the confidence itself must come back.
    again = published.confidence(epsilon, epsilon0=min(own, 1e6), dimensions=dimensions)
    assert again == pytest.approx(found, rel=1e-9)


def test_curve_equals_the_single_values():
    grid = [0.01, 0.5, 3.99, 4.5, 20.0, 31.0]
    for dimensions in (1, 2, 77, 1000):
        singles = [published.confidence(e, epsilon0=30, dimensions=dimensions) for e in grid]
        assert published.confidences(grid, epsilon0=30, dimensions=dimensions) == pytest.approx(
            singles, rel=1e-12
        )
