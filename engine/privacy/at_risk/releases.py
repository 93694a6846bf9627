"""Several releases in one statement: by formula, as published, and composed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from engine.errors import InputRefused
from engine.privacy.at_risk import published
from engine.privacy.at_risk.composition import Composition, compose
from engine.privacy.at_risk.inputs import Number, level, share, whole
from engine.privacy.at_risk.loss import PrivacyLoss
from engine.privacy.at_risk.statement import HAS_A_LEVEL, loss_by_level
from engine.progress import SILENT, Progress


@dataclass(frozen=True)
class Releases:
    """``count`` releases by one mechanism.

    Parameters
    ----------
    mechanism
        The accountant's word for it.
    own
        ε0, for Gaussian noise the scale (at sensitivity 1).
    count
        How many.
    loss
        The privacy loss of one.
    """

    mechanism: str
    own: Fraction
    count: int
    loss: PrivacyLoss


@dataclass(frozen=True)
class ReleasesStatement:
    """What can be said about several releases together.

    Parameters
    ----------
    delta
        At which the levels are read.
    basic, advanced
        ε by formula; None with Gaussian noise, which has no level of its own.
    published
        ε of the source's at-risk form, for equal Laplace releases only. It is not a valid guarantee.
    certified
        ε of the composed privacy loss at δ: the one to use.
    epsilon, confidence, confidence_two_sided, delta_at
        At an ε of interest, None without one: intervals that hold P(loss ≤ ε) and the smallest δ, and a
        lower bound on P(|loss| ≤ ε).
    exact
        Whether nothing was rounded.
    """

    delta: float
    basic: float | None
    advanced: float | None
    published: float | None
    certified: float
    epsilon: float | None
    confidence: tuple[float, float] | None
    confidence_two_sided: float | None
    delta_at: tuple[float, float] | None
    exact: bool

    def to_json(self) -> dict[str, Any]:
        """Return the statement as JSON values."""
        tree: dict[str, Any] = {
            "delta": self.delta,
            "basic": {"epsilon": self.basic},
            "advanced": {"epsilon": self.advanced},
            "published": {"epsilon": self.published, "valid": False},
            "certified": {"epsilon": self.certified},
            "rounded": not self.exact,
        }
        if self.epsilon is not None and self.confidence is not None and self.delta_at is not None:
            tree["epsilon"] = self.epsilon
            tree["exact"] = {
                "confidence": self.confidence[0],
                "confidence_at_most": self.confidence[1],
                "confidence_two_sided": self.confidence_two_sided,
            }
            tree["certified"] |= {"delta": self.delta_at[1], "delta_at_least": self.delta_at[0]}
        return tree


def read_releases(written: str) -> Releases:
    """Read ``MECHANISM:LEVEL`` or ``MECHANISM:LEVEL:COUNT``.

    Parameters
    ----------
    written
        LEVEL is ε0, for Gaussian noise the scale at sensitivity 1.

    Raises
    ------
    InputRefused
        ``at_risk.not_a_release``, or a part that cannot be used.

    Examples
    --------
    >>> found = read_releases("discrete-laplace:0.1:100")
    >>> found.mechanism, found.own, found.count
    ('discrete_laplace', Fraction(1, 10), 100)
    """
    parts = written.split(":")
    if len(parts) not in (2, 3):
        raise InputRefused("at_risk.not_a_release", found=written[:60])
    has_level = parts[0].replace("-", "_") in HAS_A_LEVEL
    loss, own = loss_by_level(parts[0], **{"epsilon0" if has_level else "scale": parts[1]})
    count = whole(parts[2], name="count", largest=10**6) if len(parts) == 3 else 1
    return Releases(loss.mechanism, own, count, loss)


def state_together(
    releases: Sequence[Releases],
    *,
    delta: Number | str = "1e-6",
    epsilon: Number | str | None = None,
    progress: Progress = SILENT,
) -> ReleasesStatement:
    """Return what several releases about the same people lose together.

    Parameters
    ----------
    releases
        Each kind with its count.
    delta
        At which ε is read.
    epsilon
        A level of interest, or None.
    progress
        Told after every different mechanism.

    Raises
    ------
    InputRefused
        As `engine.privacy.at_risk.composition.compose`.

    Examples
    --------
    >>> found = state_together([read_releases("laplace:0.1:100")], delta="0.0001")
    >>> round(found.basic, 2), round(found.advanced, 2), round(found.published, 2), round(found.certified, 2)
    (10.0, 5.34, 0.73, 3.68)
    """
    small = share(delta, name="delta")
    joint: Composition = compose([(x.loss, x.count) for x in releases], progress=progress)
    at = None if epsilon is None else level(epsilon, name="epsilon")
    basic = advanced = printed = None
    if all(x.mechanism in HAS_A_LEVEL for x in releases):
        levels = [(x.own, x.count) for x in releases]
        basic = float(sum(own * count for own, count in levels))
        # √(2 ln(1/δ) Σ ε²) + Σ ε(e^ε − 1): Dwork, Rothblum and Vadhan (2010), theorem III.3
        squares = sum(float(own) ** 2 * count for own, count in levels)
        means = sum(float(own) * math.expm1(float(own)) * count for own, count in levels)
        advanced = math.sqrt(-2 * math.log(small) * squares) + means
        equal = len({x.own for x in releases}) == 1
        if equal and all(x.mechanism in ("laplace", "discrete_laplace") for x in releases):
            count = sum(x.count for x in releases)
            printed = at_risk_as_published(releases[0].own, releases=count, delta=small)
    return ReleasesStatement(
        float(small),
        basic,
        advanced,
        printed,
        joint.epsilon_for_delta(small),
        at,
        None if at is None else joint.confidence_bounds(at),
        None if at is None else joint.confidence_two_sided(at),
        None if at is None else joint.delta_bounds(at),
        joint.rounded == 0,
    )


# --- composition as its source publishes it --------------------------------------------------------------


def at_risk_as_published(
    epsilon0: Number, *, releases: int, delta: Number, epsilon: Number | None = None
) -> float:
    """Return the ε that the source's code gives for n equal Laplace releases at risk. It is not valid.

    Parameters
    ----------
    epsilon0
        Privacy level of each release.
    releases
        n.
    delta
        Between 0 and 1.
    epsilon
        Level at risk of each release, at most ε0; None for the one with the cheapest published price at
        c = 1, which is what the code takes.

    Returns
    -------
    float
        (ε0 − ε) √(ln(1/(1−δ)) / 2n) + n [conf ε(e^ε − 1) + (1 − conf) ε0(e^{ε0} − 1)].

    Notes
    -----
    Shown beside the exact composition only to be comparable with the source: the first term shrinks with n
    where a sum of n losses spreads with √n. For 100 releases at ε0 = .1, δ = 10⁻⁴ it is .73 at the cheapest
    ε and 1.05 at ε = ε0, while the composed privacy loss needs 3.68.

    Source: Dandekar, Basu and Bressan, "Differential privacy at risk", PoPETs 2021, and its published code.

    Examples
    --------
    >>> round(at_risk_as_published(0.1, releases=100, delta=1e-4), 2)
    0.73
    >>> round(at_risk_as_published(0.1, releases=100, delta=1e-4, epsilon=0.1), 2)
    1.05
    """
    full, small = level(epsilon0, name="epsilon0"), float(share(delta, name="delta"))
    count = whole(releases, name="releases", largest=10**9)
    at = _cheapest(full) if epsilon is None else min(level(epsilon, name="epsilon"), full)
    sure = published.confidence(at, epsilon0=full)
    mean = sure * at * math.expm1(at) + (1 - sure) * full * math.expm1(full)
    return (full - at) * math.sqrt(-math.log1p(-small) / (2 * count)) + count * mean


def _cheapest(epsilon0: float) -> float:
    """Return the ε with the smallest published price: 1/ε − ln(1 − (1 − e^ε)/ε²) = 1/ε0."""
    from scipy.optimize import brentq

    def condition(x: float) -> float:
        return 1 / x - math.log1p(math.expm1(x) / x**2) - 1 / epsilon0

    # Positive near 0, where 1/ε outgrows the logarithm; negative at ε0.
    return float(brentq(condition, epsilon0 * 1e-3, epsilon0, xtol=1e-14))
