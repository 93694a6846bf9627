"""The loss of several mechanisms together, from the composed distribution of the privacy loss.

dp-accounting is imported on first use: it takes more than a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from engine.privacy.events import GAUSSIAN, mechanism_epsilon, rounded_up, squared_sensitivity
from engine.privacy.gaussian import MOST_STEPS
from engine.privacy.guarantee import Mechanism, Noise

_POINTS = 2**20
_MOST_COMPOSED = 100_000
_WIDEST = 100.0


@lru_cache(maxsize=64)
def composed_epsilon(leaves: tuple[Mechanism, ...], delta: Fraction, about: Fraction) -> Fraction | None:
    """Return the epsilon at delta of mechanisms that run one after the other.

    Parameters
    ----------
    leaves
        The mechanisms.
    delta
        Above 0.
    about
        A valid epsilon, for the size of the steps: rounding costs at most 1 % of it.

    Returns
    -------
    Fraction or None
        Rounded up. None where a mechanism has no loss distribution that is certain to hold (discrete Gaussian
        noise on longer shifts), or where the steps would cost more than ``about``.
    """
    leaves = _merged(leaves)
    runs = sum(
        leaf.count * (squared_sensitivity(leaf) if leaf.noise is Noise.DISCRETE_GAUSSIAN else 1)
        for leaf in leaves
    )
    longer = any(
        leaf.noise is Noise.DISCRETE_GAUSSIAN and squared_sensitivity(leaf) > MOST_STEPS for leaf in leaves
    )
    largest = max((_width(leaf) for leaf in leaves), default=0.0)
    if longer or runs > _MOST_COMPOSED or largest > _WIDEST or about == 0:
        return None
    step = min(1e-4, float(about) / (100 * runs))
    step = max(step, largest / _POINTS)
    if step * runs > float(about):  # rounding alone would cost more than the other bounds
        return None
    composed: Any = None
    for leaf in leaves:
        one = _leaf_distribution(leaf, step)
        composed = one if composed is None else composed.compose(one)
    return rounded_up(float(composed.get_epsilon_for_delta(float(delta) * (1 - 1e-9))))


def _leaf_distribution(leaf: Mechanism, step: float) -> Any:
    from dp_accounting.pld import common, privacy_loss_distribution

    if leaf.noise is Noise.GAUSSIAN:
        one = privacy_loss_distribution.from_gaussian_mechanism(
            float(leaf.scale),
            sensitivity=float(rounded_up(float(leaf.sensitivity))),
            value_discretization_interval=step,
            use_connect_dots=False,
        )
        return one.self_compose(leaf.count) if leaf.count > 1 else one
    if leaf.noise is Noise.DISCRETE_GAUSSIAN:
        one = privacy_loss_distribution.from_discrete_gaussian_mechanism(
            float(leaf.scale), sensitivity=1, value_discretization_interval=step
        )
        runs = leaf.count * squared_sensitivity(leaf)
        return one.self_compose(runs) if runs > 1 else one
    epsilon = float(rounded_up(float(mechanism_epsilon(leaf))))
    one = privacy_loss_distribution.from_privacy_parameters(
        common.DifferentialPrivacyParameters(epsilon, 0.0), value_discretization_interval=step
    )
    return one.self_compose(leaf.count) if leaf.count > 1 else one


def _width(leaf: Mechanism) -> float:
    """Return about how far the loss of one run reaches."""
    if leaf.noise in GAUSSIAN:
        ratio = float(leaf.sensitivity / leaf.scale)
        return ratio * ratio / 2 + 12 * ratio
    return float(mechanism_epsilon(leaf))


def _merged(leaves: Sequence[Mechanism]) -> tuple[Mechanism, ...]:
    """Count equal mechanisms once, in one order; the grid does not change a loss."""
    counts: dict[Mechanism, int] = {}
    for leaf in leaves:
        key = replace(leaf, count=1, grid=Fraction(1))
        counts[key] = counts.get(key, 0) + leaf.count
    ordered = sorted(counts, key=lambda leaf: (leaf.noise, leaf.scale, leaf.sensitivity, leaf.monotone))
    return tuple(replace(leaf, count=counts[leaf]) for leaf in ordered if counts[leaf])
