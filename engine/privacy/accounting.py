"""What several releases cost together: from the events, not from what their authors claim.

Pure events are added up as exact fractions. As soon as Gaussian noise is among them, or many pure releases
meet a delta, the distribution of the privacy loss is composed (`engine.privacy.at_risk.composition`, which
privacy at risk is read from too) and the smaller valid bound is given. What the accountant does not know is
refused, never counted as zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from engine.errors import InputRefused
from engine.privacy.events import (
    GAUSSIAN,
    has_gaussian,
    leaves_of,
    loss_of,
    mechanism_epsilon,
    pure_epsilon,
    rounded_up,
    squared_sensitivity,
)
from engine.privacy.gaussian import (
    MOST_STEPS,
    SMOOTHING,
    concentrated_delta,
    concentrated_epsilon,
    continuous_delta,
    continuous_stand_in,
    discrete_delta,
)
from engine.privacy.guarantee import (
    Event,
    Guarantee,
    Kind,
    Mechanism,
    Neighbours,
    Noise,
    Parallel,
    Sequential,
)

if TYPE_CHECKING:
    from engine.privacy.at_risk.composition import Composition
    from engine.privacy.at_risk.loss import PrivacyLoss

__all__ = ["Total", "as_neighbours", "certified_delta", "pure_epsilon", "to_replace_one", "total"]

_FORMAL = (Kind.PURE_DP, Kind.APPROXIMATE_DP, Kind.LOCAL_DP)
_MOST_COMPOSED = 100_000
_WIDEST = 100.0  # losses of one run beyond which the grid would say less than the plain sum
_ROUNDING = 1e-14  # more than the convolutions of a composition are off by, absolute


@dataclass(frozen=True)
class Total:
    """What is promised about several releases together.

    Parameters
    ----------
    epsilon, delta
        The joint guarantee.
    method
        ``sum`` (exact), ``loss_distribution`` (composed, rounded up) or ``concentrated``.
    neighbours
        The relation that epsilon is about.
    """

    epsilon: Fraction
    delta: Fraction
    method: str
    neighbours: Neighbours = Neighbours.ADD_REMOVE


def to_replace_one(guarantee: Guarantee) -> Guarantee:
    """Return what an add/remove guarantee says about exchanging one unit for another.

    Notes
    -----
    Exchanging is removing and adding, so ε doubles and δ becomes (1 + e^ε)δ, rounded up. There is no way
    back: replace-one takes the number of units as known, add/remove protects it. Source: Dwork and Roth
    (2014), theorem 2.2, and its form with delta in Vadhan (2017), lemma 2.2.

    Raises
    ------
    InputRefused
        ``accounting.unbounded``: no formal guarantee.
    """
    if guarantee.neighbours is Neighbours.REPLACE_ONE:
        return guarantee
    if guarantee.epsilon is None:
        raise InputRefused("accounting.unbounded")
    return replace(
        guarantee,
        neighbours=Neighbours.REPLACE_ONE,
        epsilon=2 * guarantee.epsilon,
        delta=_exchanged_delta(guarantee.epsilon, guarantee.delta),
        events=None if guarantee.events is None else _exchanged(guarantee.events),
    )


def as_neighbours(guarantee: Guarantee, neighbours: Neighbours) -> Guarantee:
    """Return a guarantee under another relation between data sets, see `to_replace_one`.

    Raises
    ------
    InputRefused
        ``accounting.neighbours``: replace-one cannot be read as add/remove.
    """
    if neighbours is Neighbours.REPLACE_ONE:
        return to_replace_one(guarantee)
    if guarantee.neighbours is Neighbours.REPLACE_ONE:
        raise InputRefused("accounting.neighbours")
    return guarantee


def total(guarantees: Iterable[Guarantee], *, delta: Fraction, neighbours: Neighbours | None = None) -> Total:
    """Return the joint guarantee of releases about the same people.

    Parameters
    ----------
    guarantees
        Of every release so far, in any order.
    delta
        The delta that the holding allows for all of them together; 0 for pure guarantees only.
    neighbours
        The relation to answer for. By default the common one; replace-one where they differ.

    Raises
    ------
    InputRefused
        ``accounting.unbounded`` (a release without formal guarantee), ``accounting.units`` (rows and people
        mixed), ``accounting.neighbours`` (replace-one cannot be read as add/remove),
        ``accounting.delta_needed``, ``accounting.declared`` (a release claims less than its events cost), and
        what `pure_epsilon` refuses.

    Notes
    -----
    Laplace noise, randomised response and choices enter the composed distribution with the losses that they
    have, not with the worst that their epsilon allows. Where they share a lattice nothing is rounded;
    elsewhere each loss is split between two points of a grid of half a million across the range of the sum
    (for more than 32 different mechanisms an eighth of that), so that small budgets are not drowned in
    rounding. Discrete Gaussian noise enters step by step where the squared sensitivity is at most 3 and
    as a little less of continuous noise elsewhere, see `engine.privacy.gaussian.continuous_stand_in`.

    A sum bounds releases however they were chosen. That the composed distribution does is proved for privacy
    levels and mechanisms that do not depend on the answers of earlier releases.

    Source: Koskela, Jälkö and Honkela (2020); Doroshenko et al. (2022); Bun and Steinke (2016).
    """
    listed = list(guarantees)
    common = neighbours or _common(listed)
    if not listed:
        return Total(Fraction(0), Fraction(0), "sum", common)
    if len({guarantee.unit for guarantee in listed}) > 1:
        raise InputRefused("accounting.units")
    converted = [as_neighbours(_checked(guarantee), common) for guarantee in listed]
    leaves = tuple(leaf for one in converted for leaf in leaves_of(_events(one), common))
    stated = _stated(converted, common)
    found = [stated] if stated.delta <= delta else []
    found += _bounds(leaves, delta, common)
    if not found:
        raise InputRefused("accounting.delta_needed")
    return min(found, key=lambda candidate: candidate.epsilon)


def _checked(guarantee: Guarantee) -> Guarantee:
    """Return the guarantee if its events bear it out: it may claim more than they cost, never less."""
    leaves = tuple(leaves_of(_events(guarantee), guarantee.neighbours))
    assert guarantee.epsilon is not None
    if not has_gaussian(leaves):
        short = sum((loss_of(leaf) for leaf in leaves), Fraction(0)) > guarantee.epsilon
    elif len(leaves) == 1 and leaves[0].count == 1:
        short = _gaussian_delta(leaves[0], guarantee.epsilon) > guarantee.delta
    else:
        bounds = _bounds(leaves, guarantee.delta, guarantee.neighbours)
        short = all(bound.epsilon > guarantee.epsilon for bound in bounds)
    if short:
        raise InputRefused("accounting.declared")
    return guarantee


def _events(guarantee: Guarantee) -> Event:
    if guarantee.kind not in _FORMAL or guarantee.epsilon is None or guarantee.events is None:
        raise InputRefused("accounting.unbounded")
    return guarantee.events


def _stated(guarantees: Sequence[Guarantee], common: Neighbours) -> Total:
    """Add up what each release states, pure ones from their events. Dwork and Roth (2014), theorem 3.16."""
    epsilon = delta = Fraction(0)
    for guarantee in guarantees:
        leaves = leaves_of(_events(guarantee), common)
        if has_gaussian(leaves):
            assert guarantee.epsilon is not None
            epsilon, delta = epsilon + guarantee.epsilon, delta + guarantee.delta
        else:
            epsilon += sum((loss_of(leaf) for leaf in leaves), Fraction(0))
    return Total(epsilon, delta, "sum", common)


def _common(guarantees: Sequence[Guarantee]) -> Neighbours:
    used = {guarantee.neighbours for guarantee in guarantees}
    return Neighbours.REPLACE_ONE if Neighbours.REPLACE_ONE in used else Neighbours.ADD_REMOVE


def _bounds(leaves: Sequence[Mechanism], delta: Fraction, common: Neighbours) -> list[Total]:
    """Return the valid bounds at delta that go beyond adding up."""
    several = has_gaussian(leaves) or sum(leaf.count for leaf in leaves) > 1
    if delta <= 0 or not several:
        return []
    pure = [leaf for leaf in leaves if leaf.noise not in GAUSSIAN]
    gaussian = [leaf for leaf in leaves if leaf.noise in GAUSSIAN]
    smallest = _concentrated(leaves, delta)
    if gaussian:  # the pure ones added up, beside the others
        apart = sum((loss_of(leaf) for leaf in pure), Fraction(0)) + _concentrated(gaussian, delta)
        smallest = min(smallest, apart)
    found = [Total(smallest, delta, "concentrated", common)]
    distribution = _composed_epsilon(_merged(leaves), delta)
    if distribution is not None:
        found.append(Total(distribution, delta, "loss_distribution", common))
    return found


def certified_delta(
    leaves: Sequence[Mechanism], epsilon: float, *, loss: PrivacyLoss | Composition | None = None
) -> float:
    """Return a delta that mechanisms, one after the other, have at epsilon: computed, and always valid.

    Parameters
    ----------
    leaves
        The mechanisms.
    epsilon
        Above 0.
    loss
        Of these mechanisms, from `engine.privacy.at_risk.composition.composed`, where it is known already.

    Raises
    ------
    InputRefused
        ``at_risk.…``: a mechanism whose numbers cannot be used.

    Examples
    --------
    >>> two_rows_exchanged = Mechanism(Noise.DISCRETE_GAUSSIAN, Fraction(4), Fraction(3))
    >>> certified_delta([two_rows_exchanged], 1.0) > 0.1
    True
    """
    from engine.privacy.at_risk.composition import composed

    if not any(_is_long(leaf) for leaf in leaves):
        return (loss or composed(leaves)).delta(epsilon)
    if len(leaves) == 1 and leaves[0].count == 1:
        return float(_gaussian_delta(leaves[0], Fraction(epsilon)))
    # The exact loss of such shifts together is not known: that of continuous noise bounds it.
    found = concentrated_delta(rho=float(_rho(leaves)), epsilon=epsilon)
    stood_in = _with_stand_ins(leaves)
    if stood_in is None:
        return found
    known, smoothing = stood_in
    return min(found, composed(known).delta(max(epsilon - smoothing, 1e-12)) * (1 + smoothing))


@lru_cache(maxsize=64)
def _composed_epsilon(leaves: tuple[Mechanism, ...], delta: Fraction) -> Fraction | None:
    """Return the epsilon of the composed loss distribution, rounded up; None where it would say nothing."""
    runs = sum(leaf.count * (3 if leaf.noise in GAUSSIAN else 1) for leaf in leaves)
    usable = float(delta) * (1 - 1e-9) - _ROUNDING
    wide = any(_width(leaf) > _WIDEST for leaf in leaves)
    stood_in = _with_stand_ins(leaves)
    if not leaves or runs > _MOST_COMPOSED or usable <= _ROUNDING or wide or stood_in is None:
        return None
    from engine.privacy.at_risk.composition import composed

    known, smoothing = stood_in
    try:
        epsilon = composed(known).epsilon_for_delta(usable / (1 + smoothing)) + smoothing
    except InputRefused:  # numbers beyond what the distribution can hold: the other bounds stand
        return None
    return rounded_up(epsilon) if math.isfinite(epsilon) else None


def _with_stand_ins(leaves: Sequence[Mechanism]) -> tuple[tuple[Mechanism, ...], float] | None:
    """Return mechanisms whose joint loss is known and bounds that of these, and what to add to ε and to δ."""
    known, smoothing = [], 0.0
    for leaf in leaves:
        if _is_long(leaf):
            scale = continuous_stand_in(
                scale=float(leaf.scale), squared_sensitivity=squared_sensitivity(leaf)
            )
            if scale is None:
                return None
            smoothing += leaf.count * SMOOTHING
            leaf = replace(leaf, noise=Noise.GAUSSIAN, scale=Fraction(scale))
        known.append(leaf)
    return tuple(known), smoothing


def _is_long(leaf: Mechanism) -> bool:
    return leaf.noise is Noise.DISCRETE_GAUSSIAN and squared_sensitivity(leaf) > MOST_STEPS


def _width(leaf: Mechanism) -> float:
    """Return about how far the loss of one run reaches."""
    if leaf.noise in GAUSSIAN:
        ratio = float(leaf.sensitivity / leaf.scale)
        return ratio * ratio / 2 + 12 * ratio
    return float(mechanism_epsilon(leaf))


def _merged(leaves: Sequence[Mechanism]) -> tuple[Mechanism, ...]:
    """Count equal mechanisms once, in one order; the grid changes no loss, and sensitivity 0 has none."""
    counts: dict[Mechanism, int] = {}
    for leaf in leaves:
        if leaf.count and leaf.sensitivity:
            key = replace(leaf, count=1, grid=Fraction(1))
            counts[key] = counts.get(key, 0) + leaf.count
    ordered = sorted(counts, key=lambda leaf: (leaf.noise, leaf.scale, leaf.sensitivity, leaf.monotone))
    return tuple(replace(leaf, count=counts[leaf]) for leaf in ordered)


def _exchanged(event: Event) -> Event:
    """Return events whose loss covers removing one unit and adding another."""
    if isinstance(event, Sequential):
        return Sequential(tuple(_exchanged(part) for part in event.parts))
    if isinstance(event, Parallel):  # the two units may be in two parts, or both in the worst one
        return Sequential(tuple(_exchanged(leaf) for leaf in leaves_of(event, Neighbours.ADD_REMOVE)))
    if event.noise is Noise.RANDOMISED_RESPONSE:
        return replace(event, count=2 * event.count)
    if event.monotone:
        return replace(event, monotone=False)
    return replace(event, sensitivity=2 * event.sensitivity)


def _exchanged_delta(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return (1 + e^ε)δ, rounded up and at most 1."""
    if delta == 0 or epsilon > 500:
        return Fraction(delta > 0)
    return min(Fraction(1), (1 + rounded_up(math.exp(epsilon))) * delta)


def _gaussian_delta(leaf: Mechanism, epsilon: Fraction) -> Fraction:
    if leaf.noise is Noise.GAUSSIAN:
        found = continuous_delta(
            scale=float(leaf.scale), epsilon=float(epsilon), sensitivity=float(leaf.sensitivity)
        )
    else:
        found = discrete_delta(
            scale=float(leaf.scale), epsilon=float(epsilon), squared_sensitivity=squared_sensitivity(leaf)
        )
    return Fraction(found)


def _concentrated(leaves: Sequence[Mechanism], delta: Fraction) -> Fraction:
    """Bound by ρ = Σ Δ²/2σ² (Gaussian) + Σ ε²/2 (pure). Bun and Steinke (2016), propositions 1.4 and 1.6."""
    return rounded_up(concentrated_epsilon(rho=float(_rho(leaves)), delta=float(delta)))


def _rho(leaves: Sequence[Mechanism]) -> Fraction:
    rho = Fraction(0)
    for leaf in leaves:
        if leaf.noise in GAUSSIAN:
            rho += leaf.count * leaf.sensitivity**2 / (2 * leaf.scale**2)
        else:
            rho += leaf.count * mechanism_epsilon(leaf) ** 2 / 2
    return rho
