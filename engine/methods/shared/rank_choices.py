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

from engine import arrays
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
        return _add(roots[0])
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
    exchanged = sum((_exchange(step) for step in roots), Fraction(0))
    return max(exchanged, loss_when_added(roots))


def _add(step: RankChoice) -> Fraction:
    own = step.rate * spread_when_added(step.target)
    return own + max((_add(following) for following in step.next), default=Fraction(0))


def _exchange(step: RankChoice) -> Fraction:
    parted = sum((_add(following) for following in step.next), Fraction(0))
    together = max((_exchange(following) for following in step.next), default=Fraction(0))
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


def inherit_errors(roots: tuple[RankChoice, ...]) -> dict[int, Weights]:
    """Return, for every quantile, how much of the error of each step it has.

    Notes
    -----
    A cut that is e ranks too high makes the left half e values larger; a target p there is p·e ranks too
    high, and one in the right half (1 − p)·e.

    Examples
    --------
    >>> left = RankChoice(0, Fraction(1, 2), Fraction(1))
    >>> inherit_errors((RankChoice(1, Fraction(1, 2), Fraction(1), left),))
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
    for weights in inherit_errors(roots).values():
        total += sum(weight**2 * 2 / rates[place] ** 2 for place, weight in weights.items())
        total += _ROUNDED * (len(weights) - 1)
    return total / len(rates)


def choose_quantiles(
    roots: tuple[RankChoice, ...], counts: Integers, *, parts: int, noise: Noise
) -> Integers:
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


# --- how well a candidate is a quantile, in ranks --------------------------------------------------------


Integers = arrays.Integers


def rank_scores(counts: Integers, *, wanted: Fraction) -> Integers:
    """Return the score of every candidate from how many values lie on each.

    Parameters
    ----------
    counts
        Values on each step of the declared grid, shape (candidates,).
    wanted
        The quantile a/d in (0, 1), lowest terms.

    Returns
    -------
    array of int64, shape (candidates,)
        −max(a·n − d·(values ≤ v), d·(values < v) − a·n), n the number of values. −d·t means that t values
        too many stand on its wrong side; d·t that v is the quantile and t values away from ceasing to be.

    Notes
    -----
    The rank utility of Smith (2011), section 4, with the values on v counted on whichever side suits it.
    Where several values coincide on the quantile it scores above 0, so that its neighbours lie further
    behind: a score moves no further for that.

    Examples
    --------
    >>> rank_scores(np.array([1, 1, 1]), wanted=Fraction(1, 2)).tolist()
    [-1, 1, -1]
    """
    up_to = np.cumsum(counts)
    below, wanted_below = up_to - counts, wanted.numerator * counts.sum()
    short, beyond = wanted_below - wanted.denominator * up_to, wanted.denominator * below - wanted_below
    return -np.maximum(short, beyond)


def cut_scores(counts: Integers, *, wanted: Fraction, parts: int) -> Integers:
    """Return the score of every place to cut the values in two: a candidate, and a share of its own values.

    Parameters
    ----------
    counts, wanted
        As in `rank_scores`.
    parts
        S: a cut at candidate v and part s sends (2s + 1)/2S of the values on v to the left.

    Returns
    -------
    array of int64, shape (candidates · parts,), the parts running fastest
        −|2S·d·(values < v) + (2s + 1)·d·(values on v) − 2S·a·n|: −2S·d for every rank off.

    Examples
    --------
    >>> cut_scores(np.array([0, 4]), wanted=Fraction(1, 4), parts=2).tolist()
    [-16, -16, 0, -32]
    """
    on = counts[:, None] * wanted.denominator
    below = (np.cumsum(counts) - counts)[:, None] * (2 * parts * wanted.denominator)
    left = below + on * (2 * np.arange(parts, dtype=np.int64) + 1)
    return -np.abs(left - 2 * parts * wanted.numerator * counts.sum()).ravel()


def cut(counts: Integers, *, place: int, part: int, parts: int) -> tuple[Integers, Integers]:
    """Return the values left and right of a cut of `cut_scores`; both have the values on it.

    Notes
    -----
    ⌊(2s + 1)·m/2S⌋ of the m values on the candidate go to the left. One value more on it makes exactly one
    side larger by one, so a row added is in one side only.

    Examples
    --------
    >>> [side.tolist() for side in cut(np.array([1, 4, 2]), place=1, part=0, parts=2)]
    [[1, 1], [3, 2]]
    """
    left, right = counts[: place + 1].copy(), counts[place:].copy()
    left[-1] = (2 * part + 1) * counts[place] // (2 * parts)
    right[0] -= left[-1]
    return left, right


def spread_when_added(wanted: Fraction) -> Fraction:
    """Return how far apart one row added can move two scores, in ranks: 2·max(p, 1 − p).

    Notes
    -----
    With i = (values on the left of v) − p·n, a row added moves i by −p for the candidates below it, by 1 − p
    for those above it, by something between for its own; so does i of the values up to v. A score −|i|, or
    −max(…) of two such i as in `rank_scores`, moves no further. Some scores rise by max(p, 1 − p) and others
    fall by as much, so no less would do.

    Examples
    --------
    >>> spread_when_added(Fraction(1, 2)), spread_when_added(Fraction(1, 4))
    (Fraction(1, 1), Fraction(3, 2))
    """
    return 2 * max(wanted, 1 - wanted)


def spread_on_a_side(wanted: Fraction, *, above: bool) -> Fraction:
    """Return `spread_when_added` for `rank_scores` where the row added is above (or below) the quantile.

    Notes
    -----
    Above: candidates up to the row move by p at most, up or down; those beyond it, on the quantile's right,
    fall by 1 − p: max(2p, 1) apart. Below: max(2(1 − p), 1), by symmetry. Where the row lies on the quantile
    itself that one rises by p or by 1 − p, whichever edge is nearer, which is the one case or the other.

    Examples
    --------
    >>> spread_on_a_side(Fraction(1, 4), above=True), spread_on_a_side(Fraction(1, 4), above=False)
    (Fraction(1, 1), Fraction(3, 2))
    """
    return max(2 * (wanted if above else 1 - wanted), Fraction(1))


SPREAD_WHEN_EXCHANGED = Fraction(2)
"""A row exchanged moves i by 1 between its two places: scores there rise or fall by that much."""
