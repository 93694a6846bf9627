"""The privacy loss of several releases together, by composing their privacy-loss distributions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from engine.errors import InputRefused
from engine.once import once
from engine.privacy.at_risk.inputs import Number, level, share, whole
from engine.privacy.at_risk.lattice import MOST_RISES
from engine.privacy.at_risk.loss import Array, PrivacyLoss
from engine.privacy.events import Mechanism
from engine.progress import SILENT, Progress

LARGEST_DISTINCT = 300
"""So many *different* mechanisms are composed at once; equal ones count once, whatever their number."""

POINTS = 1 << 19
"""Grid points across the range in which the sum of the losses lies; an eighth for many mechanisms."""

MANY = 32

EXACT_POINTS = 1 << 20
"""Up to so many points a common lattice of all losses is used as it is, without any rounding."""

TAIL = 1e-15


@dataclass(frozen=True, eq=False)
class Composition:
    """The privacy loss of several releases that read the same people.

    Parameters
    ----------
    largest
        Σ ε0, infinite as soon as Gaussian noise is among them.
    interval
        Distance of the grid points.
    rounded
        How many releases were rounded up to the grid; 0 when all lie on a common lattice.
    step
        That lattice, exactly; None where there is none.

    Notes
    -----
    ``confidence`` is a lower and ``delta`` an upper bound: losses are rounded up for the first, and split
    between the grid points beside them so that both hypotheses keep their mass for the second (Doroshenko et
    al., "Connect the dots", PETS 2022). The exact values lie within the intervals that ``…_bounds`` return.
    The two-sided confidence is that of the worst pair of each mechanism, not a minimum over all neighbours.
    """

    largest: float
    interval: float
    rounded: int
    rounded_up: Callable[[], Any]
    dominating: Any
    bounded_range: bool
    step: Fraction | None = None

    @once
    def worst(self) -> Any:
        """The losses rounded up; made when a confidence is asked for, as an accountant asks for none."""
        return self.rounded_up()

    def rises(self) -> Array | None:
        """Return the numbers of steps at which the confidence may rise; None without or with many steps."""
        if self.step is None:
            return None
        lowest, masses = _content(self.worst)
        most = max(abs(lowest), lowest + masses.size - 1)
        if math.isfinite(self.largest):
            most = min(most, round(self.largest / self.interval) - 1)
        return np.arange(1.0, most + 1) if most <= MOST_RISES else None

    def confidence(self, epsilon: Number) -> float:
        """Return a lower bound on P(loss ≤ ε); exact when nothing was rounded."""
        return self.confidence_bounds(epsilon)[0]

    def confidence_bounds(self, epsilon: Number) -> tuple[float, float]:
        """Return an interval that holds P(loss ≤ ε).

        With an exponential mechanism among the releases the upper end is 1 and the lower end is what the
        certified δ implies: each ε has a worst pair of its own there.
        """
        at = level(epsilon, name="epsilon")
        if self._certain(at):
            return 1.0, 1.0
        if self.bounded_range:
            return max(self._below(self.worst, at), self._imply(at)), 1.0
        shift = self.rounded * self.interval
        return self._below(self.worst, at), self._below(self.worst, at + shift)

    def confidence_two_sided(self, epsilon: Number) -> float:
        """Return P(|loss| ≤ ε) of the worst pair of each mechanism; a lower bound when rounded.

        With an exponential mechanism among the releases, a lower bound from the one-sided confidence.
        """
        at = level(epsilon, name="epsilon")
        if self._certain(at):
            return 1.0
        if self.bounded_range:
            # A loss below −ε is at most e^{−ε} times as likely as under Q, where it counts as one above ε.
            sure = self.confidence(at)
            return max(0.0, sure - math.exp(-at) * (1 - sure))
        # Rounded up by at most n intervals: what lies above −ε after rounding may have lain below before.
        under = self._below(self.worst, -at + self.rounded * self.interval, strictly=self.rounded == 0)
        return max(0.0, self._below(self.worst, at) - under)

    def confidences(self, epsilons: Array, *, two_sided: bool = False) -> Array:
        """Return the (two-sided) confidence at every ε above 0 of an array: quicker than one by one."""
        found = self._all_below(epsilons)
        if self.bounded_range:
            found = np.maximum(found, self._all_implied(epsilons))
            if two_sided:
                found = np.maximum(0.0, found - np.exp(-epsilons) * (1 - found))
        elif two_sided:
            under = -epsilons + self.rounded * self.interval
            found = np.maximum(0.0, found - self._all_below(under, strictly=self.rounded == 0))
        return np.where(epsilons >= self.largest * (1 - 1e-12), 1.0, found)

    @once
    def _sums(self) -> Array:
        """Cumulative masses of the worst pair, with 0 in front."""
        return np.concatenate(([0.0], np.cumsum(_content(self.worst)[1])))

    def _all_below(self, x: Array, *, strictly: bool = False) -> Array:
        steps = x / self.interval
        slack = 1e-9 + 1e-12 * np.abs(steps)
        last = np.ceil(steps - slack) - 1 if strictly else np.floor(steps + slack)
        ranks = np.clip(last - _content(self.worst)[0] + 1, 0, self._sums.size - 1)
        return np.minimum(1.0, self._sums[ranks.astype(np.int64)])

    def delta(self, epsilon: Number) -> float:
        """Return the certified δ: the releases together are (ε, δ)-differentially private."""
        at = level(epsilon, name="epsilon")
        return 0.0 if self._certain(at) else min(1.0, float(self.dominating.get_delta_for_epsilon(at)))

    def delta_bounds(self, epsilon: Number) -> tuple[float, float]:
        """Return an interval that holds the smallest δ; its lower end is 0 where none is known."""
        at = level(epsilon, name="epsilon")
        upper = self.delta(at)
        if self._certain(at) or self.bounded_range:
            return 0.0, upper
        lower = float(self.worst.get_delta_for_epsilon(at + self.rounded * self.interval))
        # What the truncated tails carry is counted as infinite loss above, and as none here.
        return max(0.0, min(lower - float(self.worst.get_delta_for_epsilon(math.inf)), upper)), upper

    def epsilon_for_delta(self, delta: Number) -> float:
        """Return a certified ε at a δ, at most Σ ε0."""
        wanted = float(share(delta, name="delta"))
        return max(0.0, min(self.largest, _epsilon_at(self.dominating, wanted)))

    def expectation(self, function: Any) -> float:
        """Return E[function(loss)] with every loss rounded up; the tails cut off count as the largest."""
        lowest, masses = _content(self.worst)
        losses = (lowest + np.arange(masses.size)) * self.interval
        end = self.largest if math.isfinite(self.largest) else float(losses[-1])
        total = float(masses @ function(np.minimum(losses, self.largest)))
        return total + max(0.0, 1 - float(masses.sum())) * float(function(np.array([end]))[0])

    def _imply(self, at: float) -> float:
        """Return 1 − min over ε < at of δ(ε)/(1 − e^{ε−at}), as (1 − e^{ε−at}) P(loss > at) ≤ δ(ε)."""
        return float(self._all_implied(np.array([at]))[0])

    def _all_implied(self, at: Array) -> Array:
        below = at[:, None] - np.geomspace(1e-3, 50, 200)[None, :]
        losses, over, other, beyond = self._over
        first = np.searchsorted(losses, below, side="right")
        grown = np.exp(np.minimum(below, 700.0))  # further it would overflow; a smaller one is still a bound
        bounds = (over[first] - grown * other[first] + beyond) / -np.expm1(below - at[:, None])
        return np.asarray(np.maximum(0.0, 1 - bounds.min(axis=1)))

    @once
    def _over(self) -> tuple[Array, Array, Array, float]:
        """Losses of the dominating pair, what lies above each in either case, and what is cut off."""
        lowest, masses = _content(self.dominating)
        losses = (lowest + np.arange(masses.size)) * self.interval
        over = np.append(np.cumsum(masses[::-1])[::-1], 0.0)
        other = np.append(np.cumsum((masses * np.exp(-losses))[::-1])[::-1], 0.0)
        return (
            np.asarray(losses),
            np.asarray(over),
            np.asarray(other),
            float(self.dominating.get_delta_for_epsilon(math.inf)),
        )

    def _certain(self, at: float) -> bool:
        return at >= self.largest * (1 - 1e-12)

    def _below(self, composed: Any, x: float, *, strictly: bool = False) -> float:
        lowest, masses = _content(composed)
        steps = x / self.interval
        slack = 1e-9 + 1e-12 * abs(steps)
        last = math.ceil(steps - slack) - 1 if strictly else math.floor(steps + slack)
        return min(1.0, max(0.0, float(masses[: max(0, last - lowest + 1)].sum())))


def compose_losses(parts: Iterable[Mechanism], *, progress: Progress = SILENT) -> PrivacyLoss | Composition:
    """Return the privacy loss of events of the accountant, one after the other.

    Parameters
    ----------
    parts
        Mechanisms of which a distribution of losses is known.
    progress
        Told after every different mechanism.

    Returns
    -------
    PrivacyLoss or Composition
        The first for one single release, with its exact worst case over all neighbours.

    Raises
    ------
    InputRefused
        As `compose`; ``at_risk.no_distribution``: of one of them only a bound is known.
    """
    counts: dict[Mechanism, int] = {}
    for part in parts:
        count = whole(part.count, name="count", largest=10**9)
        counts[part.single()] = counts.get(part.single(), 0) + count
    if len(counts) > LARGEST_DISTINCT:
        raise InputRefused("at_risk.too_many_releases", found=len(counts), largest=LARGEST_DISTINCT)
    losses = []
    for part, count in counts.items():
        found = part.loss()
        if found is None:
            raise InputRefused("at_risk.no_distribution")
        losses.append((found[0], found[1] * count))
    if len(losses) == 1 and losses[0][1] == 1:
        return losses[0][0]
    return compose(losses, progress=progress)


def compose(losses: Sequence[tuple[PrivacyLoss, int]], *, progress: Progress = SILENT) -> Composition:
    """Return the privacy loss of releases, each mechanism with the number of its releases.

    Parameters
    ----------
    losses
        Pairs of a privacy loss and how often it is incurred, at most 300 different ones.
    progress
        Told after every different mechanism.

    Returns
    -------
    Composition

    Raises
    ------
    InputRefused
        ``at_risk.nothing_composed`` or ``at_risk.too_many_releases``.

    Examples
    --------
    >>> from engine.privacy.at_risk.mechanisms import discrete_laplace
    >>> together = compose([(discrete_laplace(epsilon0=0.1), 100)])
    >>> together.rounded, round(together.epsilon_for_delta(1e-4), 2)
    (0, 3.76)
    """
    if not losses:
        raise InputRefused("at_risk.nothing_composed")
    if len(losses) > LARGEST_DISTINCT:
        raise InputRefused("at_risk.too_many_releases", found=len(losses), largest=LARGEST_DISTINCT)
    interval, step = _interval(losses)
    exact = step is not None
    rounded = 0 if exact else sum(count for _, count in losses)
    bounded_range = any(loss.envelope is not None for loss, _ in losses)

    def rounded_up() -> Any:
        return _together(losses, interval, lambda loss: _rounded_up(loss, interval))

    def split(loss: PrivacyLoss) -> tuple[int, Array]:
        return _atoms(loss, interval) if exact else _split(loss, interval)

    dominating = _together(losses, interval, split, progress=progress)
    largest = sum(loss.largest * count for loss, count in losses)
    other = (lambda: dominating) if exact else rounded_up
    return Composition(largest, interval, rounded, other, dominating, bounded_range, step)


def _interval(losses: Sequence[tuple[PrivacyLoss, int]]) -> tuple[float, Fraction | None]:
    """Return the distance of grid points, small against the range of the sum, and the lattice, if any."""
    ranges = [(*loss.range, count) for loss, count in losses]
    total = sum((high - low) * count for low, high, count in ranges)
    # Beyond this distance from its mean the sum has less than TAIL on either side: variance for Gaussian
    # noise (whose range is 24 standard deviations), a quarter of the squared range otherwise (Hoeffding).
    variances = (
        ((high - low) / (24 if math.isinf(loss.largest) else 2)) ** 2 * count
        for (loss, _), (low, high, count) in zip(losses, ranges, strict=True)
    )
    span = min(total, 2 * math.sqrt(-2 * math.log(TAIL) * sum(variances)))
    steps = [loss.step for loss, _ in losses]
    lattice = _common(step for step in steps if step is not None)
    if lattice is not None and None not in steps:
        widest = max(high - low for low, high, _ in ranges)
        if max(span, widest) <= float(lattice) * EXACT_POINTS:
            return float(lattice), lattice
    target = span / (POINTS if len(losses) <= MANY else POINTS // 8)
    # Heavy atoms keep their place when the interval divides their lattice.
    anchors = _common(loss.anchor for loss, _ in losses if loss.anchor is not None)
    if anchors is not None and float(anchors) >= target:
        return float(anchors / math.ceil(float(anchors) / target)), None
    return target, None


def _common(steps: Iterable[Fraction]) -> Fraction | None:
    """Return the largest step whose multiples hold all the given ones."""
    found: Fraction | None = None
    for step in steps:
        if found is None:
            found = step
        else:
            divisor = math.gcd(found.numerator * step.denominator, step.numerator * found.denominator)
            found = Fraction(divisor, found.denominator * step.denominator)
    return found


def _atoms(loss: PrivacyLoss, interval: float) -> tuple[int, Array]:
    """Return the first grid index, and the masses of losses that lie on the grid."""
    index = np.rint(loss.losses / interval).astype(np.int64)
    atoms: Array = np.bincount(index - index[0], weights=loss.masses).astype(np.float64)
    return int(index[0]), atoms


def _edges(loss: PrivacyLoss, interval: float) -> tuple[int, Array]:
    """Return the first grid index and the points of the grid around the losses."""
    low, high = loss.range
    first, last = math.floor(low / interval - 1e-9), math.ceil(high / interval - 1e-9)
    return first, np.arange(first, last + 1, dtype=np.float64) * interval


def _rounded_up(loss: PrivacyLoss, interval: float) -> tuple[int, Array]:
    """Return the first grid index, and the masses of losses that are rounded up to the grid."""
    first, edges = _edges(loss, interval)
    return first, _whole(np.diff(loss.worst_below(edges), prepend=0.0))


def _split(loss: PrivacyLoss, interval: float) -> tuple[int, Array]:
    """Return the first grid index, and the masses split between the points beside each loss."""
    first, edges = _edges(loss, interval)
    mass = np.diff(loss.below(edges), prepend=0.0)
    other = np.diff(loss.below_other(edges), prepend=0.0)
    # In each cell a + b = mass and a e^{−left} + b e^{−right} = other.
    right = np.clip((mass[1:] - other[1:] * np.exp(edges[:-1])) / -math.expm1(-interval), 0.0, mass[1:])
    dots = mass.copy()
    dots[1:] = right
    dots[:-1] += mass[1:] - right
    return first, _whole(dots)


def _whole(masses: Array) -> Array:
    """Return masses that sum to one: what lies above the last edge (less than 1e-30) goes to it."""
    masses[-1] += max(0.0, 1.0 - float(masses.sum()))
    return masses


def _repeat(interval: float, lowest: int, masses: Array, count: int) -> list[Any]:
    from dp_accounting.pld.pld_pmf import DensePLDPmf

    single = DensePLDPmf(interval, lowest, masses, 0.0, True)
    if count <= 8:
        # Measured: the bounds that self_compose looks for cost more than a few convolutions.
        return [single] * count
    return [single.self_compose(count, tail_mass_truncation=TAIL)]


def _together(
    losses: Sequence[tuple[PrivacyLoss, int]],
    interval: float,
    on_grid: Callable[[PrivacyLoss], tuple[int, Array]],
    *,
    progress: Progress = SILENT,
) -> Any:
    """Compose in pairs, shortest first, so that long arrays meet only at the end."""
    parts: list[Any] = []
    for index, (loss, count) in enumerate(losses):
        progress.step(0.8 * index / len(losses), "at_risk.compose")
        parts += _repeat(interval, *on_grid(loss), count)
    progress.step(0.9, "at_risk.compose")
    while len(parts) > 1:
        parts.sort(key=lambda part: part.size)
        pairs = {(id(a), id(b)): (a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)}
        made = {pair: _convolve(a, b) for pair, (a, b) in pairs.items()}  # of equal ones, once
        paired = [made[id(a), id(b)] for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = paired + ([parts[-1]] if len(parts) % 2 else [])
    return parts[0]


def _content(composed: Any) -> tuple[int, Array]:
    """Return lowest index and masses."""
    return int(composed._lower_loss), np.maximum(0.0, np.asarray(composed._probs))


# The library's own `compose` and `get_epsilon_for_delta` go through half a million points one by one, in
# Python; the two below give the same numbers from arrays, fifty times faster.


def _convolve(one: Any, two: Any) -> Any:
    """Return two losses together: the lower tail is moved up, the upper one counts as an infinite loss."""
    from dp_accounting.pld.pld_pmf import DensePLDPmf
    from scipy.signal import fftconvolve

    masses = fftconvolve(one._probs, two._probs)
    first = min(_longest_within(masses, TAIL / 2), masses.size - 1)
    last = max(masses.size - _longest_within(masses[::-1], TAIL / 2), first + 1)
    kept = masses[first:last].copy()
    kept[0] += masses[:first].sum()
    beyond = one._infinity_mass + two._infinity_mass - one._infinity_mass * two._infinity_mass
    lowest = one._lower_loss + two._lower_loss + first
    return DensePLDPmf(one._discretization, lowest, kept, beyond + masses[last:].sum(), True)


def _longest_within(masses: Array, most: float) -> int:
    """Return how many of the first masses add up to no more than so much, up to the first that exceeds it."""
    exceeds = np.cumsum(masses) > most
    place = int(np.argmax(exceeds))
    return place if exceeds[place] else masses.size


def _epsilon_at(composed: Any, delta: float) -> float:
    """Return the smallest ε ≥ 0 with δ(ε) ≤ δ; infinite where there is none.

    From the largest loss down, with the masses A and B of what lies above a loss under both hypotheses, δ(ε)
    is A − e^ε B up to the next loss, so that ε = ln((A − δ)/B) as soon as this is not below the next one.
    """
    if composed._infinity_mass > delta:
        return math.inf
    masses = np.asarray(composed._probs)[::-1]
    losses = (composed._lower_loss + np.arange(masses.size)[::-1]) * composed._discretization
    above = np.cumsum(np.concatenate(([composed._infinity_mass], masses)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        other = np.cumsum(np.concatenate(([0.0], masses * np.exp(-np.maximum(losses, -700.0)))))
        levels = np.where(above > delta, np.log((above - delta) / other), -math.inf)
    # A loss so large that e^-loss is 0 is one at which nothing smaller is known.
    lost = (above[1:] >= delta) & (other[1:] == 0)
    enough = (other[:-1] > 0) & (levels[:-1] >= losses)
    place = int(np.argmax(lost | enough)) if (lost | enough).any() else masses.size
    if place < masses.size and not enough[place]:
        return max(0.0, float(losses[place]))
    return max(0.0, float(levels[place]))
