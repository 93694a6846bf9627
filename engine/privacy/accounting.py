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
from engine.privacy.event_json import event_to_json
from engine.privacy.events import Mechanism, exchanged_delta, rounded_up
from engine.privacy.gaussian import concentrated_delta, concentrated_epsilon
from engine.privacy.promise import Loss, Neighbours, Promise

if TYPE_CHECKING:
    from engine.privacy.at_risk.composition import Composition
    from engine.privacy.at_risk.loss import PrivacyLoss

__all__ = ["Total", "as_claimed", "as_neighbours", "certified_delta", "to_replace_one", "total"]

_MOST_COMPOSED = 100_000
_WIDEST = 100.0  # losses of one run beyond which the grid would say less than the plain sum
_ROUNDING = 1e-14  # more than the convolutions of a composition are off by, absolute
_BORNE_OUT = Fraction(99, 100)  # of a level: the noise of every method here costs .9997 of it or more


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


def to_replace_one(promise: Promise) -> Promise:
    """Return what an add/remove promise says about exchanging one unit for another.

    Notes
    -----
    Exchanging is removing and adding, so ε doubles and δ becomes (1 + e^ε)δ, rounded up. There is no way
    back: replace-one takes the number of units as known, add/remove protects it. Source: Dwork and Roth
    (2014), theorem 2.2, and its form with delta in Vadhan (2017), lemma 2.2.

    Raises
    ------
    InputRefused
        ``accounting.unbounded``: nothing bounds the loss.
    """
    loss = _loss(promise)
    if loss.neighbours is Neighbours.REPLACE_ONE:
        return promise
    exchanged = Loss(
        2 * loss.epsilon,
        exchanged_delta(loss.epsilon, loss.delta),
        Neighbours.REPLACE_ONE,
        loss.events.exchanged(),
    )
    return replace(promise, loss=exchanged)


def as_neighbours(promise: Promise, neighbours: Neighbours) -> Promise:
    """Return a promise under another relation between data sets, see `to_replace_one`.

    Raises
    ------
    InputRefused
        ``accounting.neighbours``: replace-one cannot be read as add/remove.
    """
    if neighbours is Neighbours.REPLACE_ONE:
        return to_replace_one(promise)
    if _loss(promise).neighbours is Neighbours.REPLACE_ONE:
        raise InputRefused("accounting.neighbours")
    return promise


def as_claimed(promise: Promise) -> Promise:
    """Return a promise that costs what it states, also where its events would cost less.

    Events say what was drawn only where the program that drew it wrote them down. Of a promise that somebody
    else wrote, with events that cost nothing, a register would count nothing.

    Raises
    ------
    InputRefused
        ``accounting.unbounded``: nothing bounds the loss.

    Examples
    --------
    >>> from engine.privacy.mechanisms import Stated
    >>> from engine.privacy.promise import Unit
    >>> nothing = Loss(Fraction(1), Fraction(0), Neighbours.ADD_REMOVE, Stated("x", Fraction(0)))
    >>> claimed = as_claimed(Promise("pure_dp", nothing, Unit.PERSON, 1))
    >>> total([claimed, claimed], delta=Fraction(0)).epsilon
    Fraction(2, 1)
    """
    loss = _loss(promise)
    if not _costs_less(loss):
        return promise
    from engine.privacy.mechanisms.stated import Stated

    whole = Stated(theorem="claimed", level=loss.epsilon, failure=loss.delta)
    return replace(promise, loss=replace(loss, events=whole))


def _costs_less(loss: Loss) -> bool:
    """Say whether events cost clearly less than is stated: added up, or else by their ρ.

    A method may state what its ρ gives at δ, or the less that is exact: both are no more than that. Pure
    answers have a ρ, too: a service with a δ states of them what squares of levels give.
    """
    leaves, level = loss.events.together(loss.neighbours), _BORNE_OUT * loss.epsilon
    rest, stated, failure = _apart(leaves)
    left = loss.delta - failure
    is_known = bool(rest) and left > 0 and all(leaf.concentrated() is not None for leaf in rest)
    if is_known and stated + _concentrated(rest, left) >= level:
        return False
    added = _add(leaves, loss.neighbours)
    return left > 0 if added is None else added.epsilon < level


def total(promises: Iterable[Promise], *, delta: Fraction, neighbours: Neighbours | None = None) -> Total:
    """Return the joint guarantee of releases about the same people.

    Parameters
    ----------
    promises
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
        ``accounting.delta_needed``, ``accounting.declared`` (a release claims less than its events cost),
        ``accounting.parallel_replace_one``.

    Notes
    -----
    Laplace noise, randomised response and choices enter the composed distribution with the losses that they
    have, not with the worst that their epsilon allows. Where they share a lattice nothing is rounded;
    elsewhere each loss is split between two points of a grid of half a million across the range of the sum
    (for more than 32 different mechanisms an eighth of that), so that small budgets are not drowned in
    rounding. Discrete Gaussian noise enters step by step where the squared sensitivity is at most 3 and
    as a little less of continuous noise elsewhere, see `engine.privacy.gaussian.continuous_stand_in`. Levels
    and failures that a theorem states are added up.

    A sum bounds releases however they were chosen. That the composed distribution does is proved for privacy
    levels and mechanisms that do not depend on the answers of earlier releases.

    Source: Koskela, Jälkö and Honkela (2020); Doroshenko et al. (2022); Bun and Steinke (2016).
    """
    listed = list(promises)
    common = neighbours or _common(listed)
    if not listed:
        return Total(Fraction(0), Fraction(0), "sum", common)
    if len({promise.unit for promise in listed}) > 1:
        raise InputRefused("accounting.units")
    losses = [_loss(as_neighbours(_check(promise), common)) for promise in listed]
    together = [loss.events.together(common) for loss in losses]
    stated = _state(losses, together, common)
    found = [stated] if stated.delta <= delta else []
    found += _bounds([leaf for leaves in together for leaf in leaves], delta, common)
    if not found:
        raise InputRefused("accounting.delta_needed")
    return min(found, key=lambda candidate: candidate.epsilon)


def _loss(promise: Promise) -> Loss:
    if promise.loss is None:
        raise InputRefused("accounting.unbounded")
    return promise.loss


def _pure(leaves: Sequence[Mechanism]) -> Fraction | None:
    """Return the sum of pure levels; None where one of them needs a delta."""
    levels = [leaf.epsilon() for leaf in leaves]
    known = [level for level in levels if level is not None]
    return sum(known, Fraction(0)) if len(known) == len(levels) else None


def _check(promise: Promise) -> Promise:
    """Return the promise if its events bear it out: it may claim more than they cost, never less."""
    loss = _loss(promise)
    leaves = loss.events.together(loss.neighbours)
    pure = _pure(leaves)
    if pure is not None:
        holds = pure <= loss.epsilon
    elif len(leaves) == 1 and leaves[0].count == 1:
        pair = leaves[0].stated()  # exact, where δ of a curve is rounded up
        is_stated = pair is not None and pair[0] <= loss.epsilon and pair[1] <= loss.delta
        holds = is_stated or Fraction(leaves[0].delta(loss.epsilon)) <= loss.delta
    else:
        added = _add(leaves, loss.neighbours)
        found = [added] if added is not None and added.delta <= loss.delta else []
        found += _bounds(leaves, loss.delta, loss.neighbours)
        holds = any(bound.epsilon <= loss.epsilon for bound in found)
    if not holds:
        raise InputRefused("accounting.declared")
    return promise


def _add(leaves: Sequence[Mechanism], common: Neighbours) -> Total | None:
    """Add up (ε, δ) of every mechanism; None where one of them has only a curve."""
    pairs = [leaf.stated() for leaf in leaves]
    known = [pair for pair in pairs if pair is not None]
    if len(known) < len(pairs):
        return None
    return Total(
        sum((one for one, _ in known), Fraction(0)),
        sum((two for _, two in known), Fraction(0)),
        "sum",
        common,
    )


def _state(losses: Sequence[Loss], together: Sequence[Sequence[Mechanism]], common: Neighbours) -> Total:
    """Add up what each release states, from its events where they add. Dwork and Roth, theorem 3.16."""
    parts = [
        _add(leaves, common) or Total(loss.epsilon, loss.delta, "sum", common)
        for loss, leaves in zip(losses, together, strict=True)
    ]
    epsilon = sum((part.epsilon for part in parts), Fraction(0))
    return Total(epsilon, sum((part.delta for part in parts), Fraction(0)), "sum", common)


def _common(promises: Sequence[Promise]) -> Neighbours:
    used = {promise.loss.neighbours for promise in promises if promise.loss is not None}
    return Neighbours.REPLACE_ONE if Neighbours.REPLACE_ONE in used else Neighbours.ADD_REMOVE


def _apart(leaves: Sequence[Mechanism]) -> tuple[list[Mechanism], Fraction, Fraction]:
    """Return the mechanisms with a distribution of losses, and Σ ε and Σ δ of those that state both."""
    pairs = {leaf: leaf.stated() for leaf in leaves}
    failing = [leaf for leaf in leaves if (pair := pairs[leaf]) is not None and pair[1] > 0]
    sums = [sum((pairs[leaf][place] for leaf in failing), Fraction(0)) for place in (0, 1)]  # type: ignore[index]
    return [leaf for leaf in leaves if leaf not in failing], sums[0], sums[1]


def _bounds(leaves: Sequence[Mechanism], delta: Fraction, common: Neighbours) -> list[Total]:
    """Return the valid bounds at delta that go beyond adding up."""
    rest, level, failure = _apart(leaves)
    left = delta - failure
    several = _pure(rest) is None or sum(leaf.count for leaf in rest) > 1
    if left <= 0 or not rest or not several:
        return []
    curves = [leaf for leaf in rest if leaf.epsilon() is None]
    smallest = _concentrated(rest, left)
    if curves:  # the pure ones added up, beside the others
        pure = _pure([leaf for leaf in rest if leaf not in curves])
        assert pure is not None
        smallest = min(smallest, pure + _concentrated(curves, left))
    found = [Total(level + smallest, delta, "concentrated", common)]
    distribution = _composed_epsilon(_merge(rest), left)
    if distribution is not None:
        found.append(Total(level + distribution, delta, "loss_distribution", common))
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
        Of these mechanisms, from `engine.privacy.at_risk.composition.compose_losses`, where it is
        known already.

    Raises
    ------
    InputRefused
        ``at_risk.…``: a mechanism whose numbers cannot be used.

    Examples
    --------
    >>> from engine.privacy.mechanisms import DiscreteGaussian
    >>> far = DiscreteGaussian(scale=Fraction(4), sensitivity=Fraction(3))
    >>> round(certified_delta([far], 1.0), 3)
    0.05
    """
    rest, level, failure = _apart(leaves)
    left = epsilon - float(level)
    if left < 0 or (rest and left == 0):
        return 1.0
    found = _certify(rest, left, loss if not level else None) if rest else 0.0
    return min(1.0, found + float(rounded_up(float(failure)))) if failure else found


def _certify(leaves: Sequence[Mechanism], epsilon: float, loss: PrivacyLoss | Composition | None) -> float:
    from engine.privacy.at_risk.composition import compose_losses

    if all(leaf.is_exact for leaf in leaves):
        return (loss or compose_losses(leaves)).delta(epsilon)
    if len(leaves) == 1 and leaves[0].count == 1:
        return leaves[0].delta(Fraction(epsilon))
    # The exact loss of such shifts together is not known: that of continuous noise bounds it.
    found = concentrated_delta(rho=float(_rho(leaves)), epsilon=epsilon)
    stood_in = _with_stand_ins(leaves)
    if stood_in is None:
        return found
    known, smoothing = stood_in
    return min(found, compose_losses(known).delta(max(epsilon - smoothing, 1e-12)) * (1 + smoothing))


@lru_cache(maxsize=1024)
def _composed_epsilon(leaves: tuple[Mechanism, ...], delta: Fraction) -> Fraction | None:
    """Return the epsilon of the composed loss distribution, rounded up; None where it would say nothing."""
    runs = sum(leaf.count * (3 if leaf.epsilon() is None else 1) for leaf in leaves)
    usable = float(delta) * (1 - 1e-9) - _ROUNDING
    wide = any(leaf.reach() > _WIDEST for leaf in leaves)
    stood_in = _with_stand_ins(leaves)
    if not leaves or runs > _MOST_COMPOSED or usable <= _ROUNDING or wide or stood_in is None:
        return None
    from engine.privacy.at_risk.composition import compose_losses

    known, smoothing = stood_in
    try:
        epsilon = compose_losses(known).epsilon_for_delta(usable / (1 + smoothing)) + smoothing
    except InputRefused:  # numbers beyond what the distribution can hold: the other bounds stand
        return None
    return rounded_up(epsilon) if math.isfinite(epsilon) else None


def _with_stand_ins(leaves: Sequence[Mechanism]) -> tuple[tuple[Mechanism, ...], float] | None:
    """Return mechanisms whose joint loss is known and bounds that of these, and what to add to ε and to δ."""
    pairs = [leaf.stand_in() for leaf in leaves]
    known = [pair for pair in pairs if pair is not None]
    if len(known) < len(pairs):
        return None
    return tuple(one for one, _ in known), sum(smoothing for _, smoothing in known)


def _merge(leaves: Sequence[Mechanism]) -> tuple[Mechanism, ...]:
    """Count equal mechanisms once, in one order; what has no loss is left out."""
    counts: dict[Mechanism, int] = {}
    for leaf in leaves:
        if leaf.count and leaf.reach():
            counts[leaf.single()] = counts.get(leaf.single(), 0) + leaf.count
    ordered = sorted(counts, key=lambda leaf: str(event_to_json(leaf)))
    return tuple(replace(leaf, count=counts[leaf]) for leaf in ordered)


def _concentrated(leaves: Sequence[Mechanism], delta: Fraction) -> Fraction:
    """Bound by ρ = Σ Δ²/2σ² (Gaussian) + Σ ε²/2 (pure). Bun and Steinke (2016), propositions 1.4 and 1.6."""
    return rounded_up(concentrated_epsilon(rho=float(_rho(leaves)), delta=float(delta)))


def _rho(leaves: Sequence[Mechanism]) -> Fraction:
    parts = [leaf.concentrated() for leaf in leaves]
    if None in parts:
        raise InputRefused("accounting.unknown_event")
    return sum((part for part in parts if part is not None), Fraction(0))
