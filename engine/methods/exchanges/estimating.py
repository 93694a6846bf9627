"""From reports to shares, means and distributions, with what they are worth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from engine import arrays
from engine.methods.exchanges.kit import PAIR, SEVERAL, Question
from engine.privacy.accuracy import NORMAL_WITHIN, share_interval
from engine.privacy.channels import Bit, Geometry, Option, Sets, Shares, Signs, Wave

ROUNDS = 100
"""Steps of the estimated distribution at ε 1: fewer do not reach it, more fit it to the lots."""
SAYS_NOTHING = 0.25
"""A share whose interval reaches further to each side, or is unknown, is not printed."""
AT_EASE = 0.05

Array = arrays.Anything


def shares_of(question: Question) -> Shares:
    """Return p and q of a question about shares."""
    assert isinstance(question.channel, Sets | Geometry | Option | Signs)
    return question.channel.shares()


def half_width(question: Question, reports: int, share: float | None = None) -> float:
    """Return within what 95 of 100 estimates of a population's share, or of a mean in its range, lie.

    Parameters
    ----------
    reports
        On this question; 0 gives infinity.
    share
        The true share; by default the one with the largest error. Of a mean, values are spread as widely as
        they can.
    """
    if reports < 1:
        return math.inf
    channel = question.channel
    if isinstance(channel, Wave | Bit):
        slope = float(channel.line()[1]) * (channel.levels - 1)
        variances = channel.variances()
        # Half of the people at each end: their own spread is as wide as it can be
        variance = (variances[0] + variances[-1]) / 2 + slope**2 / 4
        return NORMAL_WITHIN * math.sqrt(variance / reports) / slope
    shares = shares_of(question)
    if share is None:
        middle = (Fraction(1, 2) - shares.other) / shares.gap
        share = float(min(max(middle, Fraction(0)), Fraction(1)))
    of_each = reports / channel.options if isinstance(channel, Option) else reports
    return NORMAL_WITHIN * math.sqrt(shares.variance(share, population=True) / of_each)


def people_needed(question: Question, asked: int = 1, within: float = AT_EASE) -> int:
    """Return how many people it takes until a share of a half is told to ± 5 points, asked one of so many."""
    return asked * math.ceil((half_width(question, 1, 0.5) / within) ** 2)


def margin(error: float, reports: float, shares: Shares) -> float:
    """Return within what 95 of 100 estimates lie of the share among those who answered.

    Notes
    -----
    1.96 standard errors and half a report: counts are whole numbers, and without the half up to 10 of 100
    estimates of small surveys lie outside.
    """
    return NORMAL_WITHIN * error + 1 / (2 * reports * float(shares.gap))


def standard_error(share: float, reports: float, shares: Shares) -> float:
    """Return the standard error from lots; linear below the root, so the estimate may stand for the share."""
    return math.sqrt(max(0.0, shares.variance(share, population=False)) / reports)


def of_population(named: int, reports: int, shares: Shares) -> tuple[float, float]:
    """Return the interval of a population's share: that of Wilson (1927) for c of n, carried back by p and q.

    It is not cut: a share below 0 is none, but where the interval ends is told as it is.
    """
    low, high = share_interval(named, reports)
    other, gap = float(shares.other), float(shares.gap)
    return (low - other) / gap, (high - other) / gap


@dataclass(frozen=True)
class Estimate:
    """One answer: reports on it, how many name it, share, its error, both intervals, and what is shown."""

    answer: str
    reports: int
    named: int
    share: float
    error: float
    margin: float
    low: float
    high: float
    shown: float

    @property
    def says_something(self) -> bool:
        """Whether the interval of the population reaches at most 25 points to each side."""
        return (self.high - self.low) / 2 <= SAYS_NOTHING


def estimates(question: Question, outcomes: Array) -> tuple[Estimate, ...]:
    """Return the estimated share of every answer.

    Notes
    -----
    Shares and intervals are those before projection; what is shown is cut to 0 … 1, and brought to a sum of 1
    where one answer was chosen. Without a report on it an answer has no estimate.
    """
    channel, shares = question.channel, shares_of(question)
    assert isinstance(channel, Sets | Geometry | Option | Signs)
    answers = question.answers
    named = channel.named(outcomes)[: len(answers)]
    asked = channel.asked(outcomes) if isinstance(channel, Option) else np.full(len(answers), len(outcomes))
    raw = [
        float((Fraction(int(c), int(n)) - shares.other) / shares.gap) if n else math.nan
        for c, n in zip(named, asked, strict=True)
    ]
    shown = [min(1.0, max(0.0, one)) for one in raw] if question.kind == SEVERAL else project_shares(raw)
    found = []
    for answer, c, n, share, seen in zip(answers, named.tolist(), asked.tolist(), raw, shown, strict=True):
        if not n:
            nothing = math.nan
            found.append(Estimate(answer, 0, 0, nothing, nothing, nothing, -math.inf, math.inf, nothing))
            continue
        error = standard_error(share, n, shares)
        low, high = of_population(c, n, shares)
        found.append(Estimate(answer, n, c, share, error, margin(error, n, shares), low, high, seen))
    return tuple(found)


def project_shares(shares: list[float]) -> list[float]:
    """Return the nearest shares that are none below 0 and sum to 1: all are lowered alike, then cut.

    Examples
    --------
    >>> project_shares([0.75, 0.5, -0.25])
    [0.625, 0.375, 0.0]
    """
    left = sorted(shares, reverse=True)
    total, lowered = 0.0, 0.0
    for place, share in enumerate(left, 1):
        total += share
        if share - (total - 1) / place > 0:
            lowered = (total - 1) / place
    return [max(0.0, share - lowered) for share in shares]


def margins(question: Question, found: tuple[Estimate, ...]) -> list[tuple[str, float]]:
    """Return the shares of each of the two questions of a pair: sums over the other one."""
    assert question.kind == PAIR
    cells = np.array([one.share for one in found]).reshape(len(question.levels), -1)
    rows = zip(question.levels, cells.sum(axis=1).tolist(), strict=True)
    columns = zip(question.second_levels, cells.sum(axis=0).tolist(), strict=True)
    return [*rows, *columns]


@dataclass(frozen=True)
class Mean:
    """A mean in the units of the question, its error from lots, both intervals."""

    reports: int
    value: float
    error: float
    margin: float
    low: float
    high: float
    range: float

    @property
    def says_something(self) -> bool:
        """Whether the interval reaches at most a quarter of the range to each side."""
        return (self.high - self.low) / 2 <= SAYS_NOTHING * self.range


def mean_of(question: Question, outcomes: Array) -> Mean | None:
    """Return the unbiased mean; None without a report.

    Notes
    -----
    (ȳ − y₀)/s levels above the lowest. The population's error is that of the reports as they came, with one
    more half at each end. Among those who answered it is from lots alone, at the level where that is largest,
    and never above the population's, in which these lots are too.
    """
    channel = question.channel
    assert isinstance(channel, Wave | Bit)
    n = len(outcomes)
    if not n:
        return None
    y0, slope = (float(one) for one in channel.line())
    step, lowest = float(question.step), float(question.lowest)
    y = outcomes[:, 0].astype(float)
    top = channel.layout[1] - 1
    lots = math.sqrt(float(channel.variances().max()) / n) / slope * step
    # A report at each end keeps the variance above 0 where all say the same
    spread = ((y - y.mean()) ** 2).sum() + top**2 / 2
    error = math.sqrt(spread / n / n) / slope * step
    around = NORMAL_WITHIN * error
    value = lowest + step * (float(y.mean()) - y0) / slope
    width = step * (channel.levels - 1)
    half_report = step / (2 * n * slope)
    margin_of_lots = min(NORMAL_WITHIN * lots + half_report, around)
    return Mean(n, value, min(lots, error), margin_of_lots, value - around, value + around, width)


def distribution(question: Question, outcomes: Array) -> Array:
    """Return the distribution over the levels of a wave that the reports speak for.

    Notes
    -----
    Expectation maximisation from equal shares, `ROUNDS`/ε steps. That it ends before the likeliest one is all
    that keeps it from following the lots: neighbours are not averaged, as in Li et al. (2020), section 5.5,
    which spreads what is common at one value. It has no honest interval.
    """
    channel = question.channel
    assert isinstance(channel, Wave)
    matrix = channel.matrix()
    counts = np.bincount(outcomes[:, 0].astype(np.int64), minlength=channel.ends)
    part = counts / counts.sum()
    shares = np.full(channel.levels, 1 / channel.levels)
    for _ in range(steps(question)):
        shares = shares * (matrix @ (part / (shares @ matrix)))
        shares /= shares.sum()
    return np.asarray(shares)


def steps(question: Question) -> int:
    """Return in how many steps a distribution is estimated: the less a report tells, the more it takes."""
    return math.ceil(ROUNDS / question.epsilon)
