"""Composition at risk, as published, beside what a hundred Laplace releases really lose."""

import pytest

from engine.privacy.at_risk import releases as bounds
from engine.privacy.at_risk.composition import compose
from engine.privacy.at_risk.mechanisms import laplace
from engine.privacy.at_risk.releases import read_releases, state_together


def test_a_hundred_releases_at_a_tenth():
    exact = compose([(laplace(epsilon0=0.1), 100)])
    # 1.05 is the form read at ε = ε0; the code's own cheapest ε gives .73. Both are far below the truth.
    at_own_level = bounds.at_risk_as_published(0.1, releases=100, delta=1e-4, epsilon=0.1)
    assert at_own_level == pytest.approx(1.05, abs=0.005)
    assert bounds.at_risk_as_published(0.1, releases=100, delta=1e-4) == pytest.approx(0.7311, abs=5e-5)
    assert exact.epsilon_for_delta(1e-4) == pytest.approx(3.68, abs=0.005)
    # At 1.05 the δ is a thousand times the one that was asked for.
    assert exact.delta_bounds(1.05)[0] > 0.1
    stated = state_together([read_releases("laplace:0.1:100")], delta="1e-4")
    assert stated.advanced == pytest.approx(5.34, abs=0.005)
    assert stated.basic == 10
