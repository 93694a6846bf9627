"""Certified δ against dp-accounting's own mechanisms, alone and composed."""

import pytest
from dp_accounting.pld import privacy_loss_distribution as peer

from engine.privacy.at_risk.composition import compose
from engine.privacy.at_risk.mechanisms import discrete_gaussian, discrete_laplace, gaussian, laplace

FINE = 1e-4
PAIRS = {
    "laplace": (
        laplace(epsilon0=0.5),
        lambda: peer.from_laplace_mechanism(2, value_discretization_interval=FINE),
    ),
    "discrete laplace": (
        discrete_laplace(epsilon0=0.6, sensitivity=3),
        lambda: peer.from_discrete_laplace_mechanism(0.2, sensitivity=3, value_discretization_interval=FINE),
    ),
    "gaussian": (
        gaussian(scale=2),
        lambda: peer.from_gaussian_mechanism(2, value_discretization_interval=FINE),
    ),
    "discrete gaussian": (
        discrete_gaussian(scale=3, sensitivity=2),
        lambda: peer.from_discrete_gaussian_mechanism(3, sensitivity=2, value_discretization_interval=FINE),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("count", [1, 6])
def test_delta(name, count):
    loss, make = PAIRS[name]
    theirs = make() if count == 1 else make().self_compose(count)
    ours = loss if count == 1 else compose([(loss, count)])
    for epsilon in (0.1, 0.3, 0.8):
        # The peer rounds up, so it may lie above, by what its interval can add.
        found, bound = ours.delta(epsilon), theirs.get_delta_for_epsilon(epsilon)
        assert found <= bound + 1e-9
        assert found == pytest.approx(bound, rel=2e-3, abs=2e-4)
