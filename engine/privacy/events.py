"""Trees of events: what a pure one loses exactly, and the mechanisms that a tree is made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from engine.errors import InputRefused
from engine.privacy.guarantee import Event, Mechanism, Neighbours, Noise, Parallel, Sequential

GAUSSIAN = (Noise.GAUSSIAN, Noise.DISCRETE_GAUSSIAN)
_UP = Fraction(1, 10**9)  # relative, added to what was computed in floating point


def pure_epsilon(event: Event, *, neighbours: Neighbours) -> Fraction:
    """Return the exact epsilon of a tree of pure events.

    Parameters
    ----------
    event
        Mechanisms without delta, one after the other or on disjoint people.
    neighbours
        The relation that the sensitivities of the events are about.

    Returns
    -------
    Fraction
        Exact; randomised response, whose loss is a logarithm, is rounded up at the twelfth place.

    Raises
    ------
    InputRefused
        ``accounting.not_pure`` (Gaussian noise), ``accounting.unknown_event``,
        ``accounting.parallel_replace_one``: a person who is exchanged touches two parts.

    Notes
    -----
    Sequential: sum. Parallel: largest, under add/remove only. Sources: Dwork and Roth (2014), theorem 3.16;
    McSherry (2009), theorem 4.

    Examples
    --------
    >>> laplace = Mechanism(Noise.DISCRETE_LAPLACE, Fraction(4), Fraction(1))
    >>> pure_epsilon(Sequential((laplace, laplace)), neighbours=Neighbours.ADD_REMOVE)
    Fraction(1, 2)
    """
    if isinstance(event, Mechanism):
        return event.count * mechanism_epsilon(event)
    if isinstance(event, Sequential | Parallel):
        parts = [pure_epsilon(part, neighbours=neighbours) for part in event.parts]
        if isinstance(event, Sequential):
            return sum(parts, Fraction(0))
        if neighbours is Neighbours.REPLACE_ONE:
            raise InputRefused("accounting.parallel_replace_one")
        return max(parts, default=Fraction(0))
    raise InputRefused("accounting.unknown_event")


def leaves_of(event: Event, neighbours: Neighbours) -> list[Mechanism]:
    """Return mechanisms that, one after the other, lose at least what the tree loses."""
    if isinstance(event, Mechanism):
        check_mechanism(event)
        return [event]
    if isinstance(event, Sequential):
        return [leaf for part in event.parts for leaf in leaves_of(part, neighbours)]
    if not isinstance(event, Parallel):
        raise InputRefused("accounting.unknown_event")
    if neighbours is Neighbours.REPLACE_ONE:
        raise InputRefused("accounting.parallel_replace_one")
    parts = [leaves_of(part, neighbours) for part in event.parts]
    if all(part == parts[0] for part in parts[1:]):
        return parts[0] if parts else []
    if any(leaf.noise in GAUSSIAN for part in parts for leaf in part):
        return [leaf for part in parts for leaf in part]  # no order among curves: their sum holds
    return max(parts, key=lambda part: sum((loss_of(leaf) for leaf in part), Fraction(0)))


def mechanism_epsilon(event: Mechanism) -> Fraction:
    """Return the loss of one run of a pure mechanism."""
    check_mechanism(event)
    if event.noise in (Noise.LAPLACE, Noise.DISCRETE_LAPLACE):
        return event.sensitivity / event.scale  # ε = Δ/b
    if event.noise is Noise.EXPONENTIAL:
        return (1 if event.monotone else 2) * event.sensitivity / event.scale  # ε = 2Δ/s
    if event.noise is Noise.RANDOMISED_RESPONSE:
        if not 0 < event.scale < 1 or event.sensitivity < 2:
            raise InputRefused("accounting.unknown_event")
        odds = event.scale * (event.sensitivity - 1) / (1 - event.scale)  # ε = ln(p(k−1)/(1−p))
        exact = abs(math.log(odds.numerator) - math.log(odds.denominator))
        return Fraction(math.ceil(Fraction(exact) * 10**12 + 1), 10**12)
    if event.noise in GAUSSIAN:
        raise InputRefused("accounting.not_pure")
    raise InputRefused("accounting.unknown_event")


def check_mechanism(event: Mechanism) -> None:
    known = isinstance(event.noise, Noise)
    if not known or event.count < 0 or event.scale <= 0 or event.sensitivity < 0:
        raise InputRefused("accounting.unknown_event")


def loss_of(leaf: Mechanism) -> Fraction:
    return leaf.count * mechanism_epsilon(leaf)


def has_gaussian(leaves: Sequence[Mechanism]) -> bool:
    return any(leaf.noise in GAUSSIAN for leaf in leaves)


def squared_sensitivity(leaf: Mechanism) -> int:
    """Return the squared L2 sensitivity on the integers, which the event holds as a root rounded up."""
    return math.floor(leaf.sensitivity**2)


def rounded_up(value: float) -> Fraction:
    """Return a computed value as a fraction, rounded up."""
    return Fraction(value) * (1 + _UP)
