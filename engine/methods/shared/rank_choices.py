"""Several quantiles of one group: which choices are made on which values, at which rates, at which loss.

Either every quantile is chosen from all values, or the values are cut in two at the middle quantile and each
half goes on by itself: a person is in one half only, so that the loss grows with the depth of the halving and
not with the number of quantiles. What is chosen depends on declarations alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from engine.methods.shared.ranks import (
    SPREAD_WHEN_EXCHANGED,
    Integers,
    cut,
    cut_scores,
    rank_scores,
    spread_on_a_side,
    spread_when_added,
)
from engine.privacy.mechanisms.permute_and_flip import FlipChoice

if TYPE_CHECKING:
    from engine.privacy.noise import Noise

FINEST_TARGET = 10_000  # denominators of a target within a half; a rounding of it is public
MOST_PARTS = 1024
_ROUNDED = 1 / 12  # variance, in ranks, of cutting at a whole number of values


@dataclass(frozen=True)
class RankChoice:
    """One choice among the candidates that are left.

    Parameters
    ----------
    place
        Which of the wanted quantiles it answers.
    target
        The quantile that it looks for among the values that are left, in (0, 1).
    rate
        A candidate t ranks worse than the best is accepted with probability exp(−rate · t).
    left, right
        What is chosen next, from the values on either side of it.
    """

    place: int
    target: Fraction
    rate: Fraction
    left: RankChoice | None = None
    right: RankChoice | None = None

    def unit(self, parts: int) -> int:
        """Return how much of a score one rank is: of `cut_scores` where it cuts, else of `rank_scores`."""
        return self.target.denominator * (2 * parts if self.next else 1)

    def choice(self, *, unit: int) -> FlipChoice:
        """Return the mechanism on scores of which ``unit`` make one rank."""
        spread = spread_when_added(self.target)
        return FlipChoice(unit * spread / 2, self.rate * spread)

    @property
    def next(self) -> tuple[RankChoice, ...]:
        """The steps after it."""
        return tuple(step for step in (self.left, self.right) if step is not None)

    @property
    def depth(self) -> int:
        """How many cuts come one after the other, this one included."""
        return 1 + max(step.depth for step in self.next) if self.next else 0

    def steps(self) -> Iterator[RankChoice]:
        """Give this step and all after it."""
        yield self
        for step in self.next:
            yield from step.steps()

    def rates(self, *, parts: int) -> Iterator[Fraction]:
        """Give the rates on the scores, of this step and all after it."""
        for step in self.steps():
            yield step.rate / step.unit(parts)

    def times(self, factor: Fraction) -> RankChoice:
        """Return the same steps at rates that many times as large."""
        left, right = (None if step is None else step.times(factor) for step in (self.left, self.right))
        return replace(self, rate=factor * self.rate, left=left, right=right)


def loss_when_added(roots: tuple[RankChoice, ...]) -> Fraction:
    """Return the largest privacy loss when one row is added to the values, or removed.

    Notes
    -----
    Permute-and-flip loses at most rate · (largest − smallest change of a score): see
    `engine.privacy.noise.Noise.permute_and_flip`. Given the answer of a step, the row is on one side of the
    cut, and the other side is the same in both data sets. Quantiles that are chosen each by itself are
    ordered: those above the row lose what a row below them costs, the others what a row above them costs, so
    that the sum is largest where the row lies below or above all of them.
    """
    if len(roots) == 1:
        return _added(roots[0])
    return max(
        sum((step.rate * spread_on_a_side(step.target, above=above) for step in roots), Fraction(0))
        for above in (False, True)
    )


def loss_when_exchanged(roots: tuple[RankChoice, ...]) -> Fraction:
    """Return the largest privacy loss when one row is exchanged for another, or for a missing value.

    Notes
    -----
    As long as both rows are on the same side of every cut a step loses twice its rate; from the cut that
    parts them on, one half has a row less and the other a row more.
    """
    exchanged = sum((_exchanged(step) for step in roots), Fraction(0))
    return max(exchanged, loss_when_added(roots))


def _added(step: RankChoice) -> Fraction:
    own = step.rate * spread_when_added(step.target)
    return own + max((_added(following) for following in step.next), default=Fraction(0))


def _exchanged(step: RankChoice) -> Fraction:
    parted = sum((_added(following) for following in step.next), Fraction(0))
    together = max((_exchanged(following) for following in step.next), default=Fraction(0))
    return step.rate * SPREAD_WHEN_EXCHANGED + max(parted, together)


@lru_cache(maxsize=256)
def choices(
    wanted: tuple[Fraction, ...], epsilon: Fraction, *, rows: int, groups: int, replace_one: bool
) -> tuple[RankChoice, ...]:
    """Return the steps that lose exactly ε and whose forecast error in ranks is smaller.

    Parameters
    ----------
    wanted
        Increasing quantiles in (0, 1).
    epsilon
        Privacy level of the whole group's answer.
    rows
        Cap on the rows of one person: as many neighbours lie between two data sets.
    groups
        How many groups are declared: a person who is exchanged may leave one and enter another.
    replace_one
        Whether neighbouring data sets exchange a person.

    Returns
    -------
    tuple of RankChoice
        One root for halving, one for each quantile otherwise.
    """

    def paid(roots: tuple[RankChoice, ...]) -> tuple[RankChoice, ...]:
        loss = loss_when_added(roots)
        if replace_one:
            loss = loss_when_exchanged(roots) if groups == 1 else 2 * loss
        return tuple(step.times(epsilon / (rows * loss)) for step in roots)

    apart = tuple(RankChoice(place, target, Fraction(1)) for place, target in enumerate(wanted))
    found = [paid(apart)]
    if len(wanted) > 1:
        levels = len(wanted).bit_length()
        tree = _halving(wanted, range(len(wanted)), Fraction(0), Fraction(1), Fraction(1), levels)
        found.append(paid((tree,)))
    return min(found, key=_mean_variance)


def _halving(
    wanted: tuple[Fraction, ...],
    places: range,
    low: Fraction,
    high: Fraction,
    share: Fraction,
    levels: int,
) -> RankChoice:
    """Return the steps for some quantiles between two known ones; a path from the root loses ``share``."""
    middle = places[len(places) // 2]
    target = (wanted[middle] - low) / (high - low)
    if target.denominator > FINEST_TARGET:
        nearest = Fraction(round(target * FINEST_TARGET), FINEST_TARGET)
        target = min(max(nearest, Fraction(1, FINEST_TARGET)), 1 - Fraction(1, FINEST_TARGET))
    own = share if len(places) == 1 else share / levels
    sides = (
        (range(places.start, middle), low, wanted[middle]),
        (range(middle + 1, places.stop), wanted[middle], high),
    )
    left, right = (
        _halving(wanted, some, start, end, share - own, levels - 1) if some else None
        for some, start, end in sides
    )
    return RankChoice(middle, target, own / spread_when_added(target), left, right)


Weights = dict[int, float]
"""By the place of a step, how much of its error in ranks another one inherits."""


def inherited(roots: tuple[RankChoice, ...]) -> dict[int, Weights]:
    """Return, for every quantile, how much of the error of each step it has.

    Notes
    -----
    A cut that is e ranks too high makes the left half e values larger; a target p there is p·e ranks too
    high, and one in the right half (1 − p)·e.

    Examples
    --------
    >>> left = RankChoice(0, Fraction(1, 2), Fraction(1))
    >>> inherited((RankChoice(1, Fraction(1, 2), Fraction(1), left),))
    {1: {1: 1.0}, 0: {1: 0.5, 0: 1.0}}
    """
    found: dict[int, Weights] = {}

    def walk(step: RankChoice, low: Weights, high: Weights) -> None:
        p = float(step.target)
        own = {at: (1 - p) * low.get(at, 0.0) + p * high.get(at, 0.0) for at in {**low, **high}}
        own[step.place] = 1.0
        found[step.place] = own
        if step.left is not None:
            walk(step.left, low, own)
        if step.right is not None:
            walk(step.right, own, high)

    for root in roots:
        walk(root, {}, {})
    return found


def _mean_variance(roots: tuple[RankChoice, ...]) -> float:
    """Return the mean variance of the ranks where values are dense: 2/rate² for every step."""
    rates = {step.place: float(step.rate) for root in roots for step in root.steps()}
    total = 0.0
    for weights in inherited(roots).values():
        total += sum(weight**2 * 2 / rates[place] ** 2 for place, weight in weights.items())
        total += _ROUNDED * (len(weights) - 1)
    return total / len(rates)


def chosen(roots: tuple[RankChoice, ...], counts: Integers, *, parts: int, noise: Noise) -> Integers:
    """Choose the quantiles of one group.

    Parameters
    ----------
    roots
        Of `choices`.
    counts
        Values on each candidate, shape (candidates,).
    parts
        Into how many parts the values on one candidate may be cut.

    Returns
    -------
    array of int64, shape (quantiles,)
        Places of the chosen candidates, in increasing order.
    """
    found: dict[int, int] = {}

    def walk(step: RankChoice, values: Integers, first: int) -> None:
        choice = step.choice(unit=step.unit(parts))
        if not step.next:
            scores = rank_scores(values, wanted=step.target)
            found[step.place] = first + choice.choose(scores, noise)
            return
        scores = cut_scores(values, wanted=step.target, parts=parts)
        place, part = divmod(choice.choose(scores, noise), parts)
        found[step.place] = first + place
        left, right = cut(values, place=place, part=part, parts=parts)
        if step.left is not None:
            walk(step.left, left, first)
        if step.right is not None:
            walk(step.right, right, first + place)

    for root in roots:
        walk(root, counts, 0)
    return np.sort(np.array([found[place] for place in sorted(found)], dtype=np.int64))


def parts_for(roots: tuple[RankChoice, ...], *, candidates: int, groups: int, most: int) -> int:
    """Return into how many parts the values on a candidate are cut, so that the work stays bounded.

    Examples
    --------
    >>> wanted = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
    >>> halves = choices(wanted, Fraction(1), rows=1, groups=1, replace_one=False)
    >>> [parts_for(halves, candidates=size, groups=1, most=10**6) for size in (29, 20_000)]
    [1024, 50]
    """
    levels = max(root.depth for root in roots)
    return max(1, min(MOST_PARTS, most // max(1, levels * candidates * groups)))
