"""What a custodian says about money, and which privacy levels that leaves."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Price:
    """What the custodian said about money; None where nothing was said.

    Compensation (GDPR Art. 82) is per person; fines (Art. 83) and incident cost are totals and never added
    to it. ``curvature`` is the constant c of the cost curve; ``minimum`` is E_min. A defended point ("at
    ``calibrated_epsilon`` we accept ``calibrated_share`` of the liability") stands in place of ``curvature``
    where both parts of it are said. The ``…_low`` and ``…_high`` are what is thought possible of an uncertain
    constant; c is taken as uncertain by a factor of two where nothing is said. ``anchor`` names the precedent
    that the compensation was taken from. ``budget`` is for this release, ``register`` for all releases about
    the people of a new register together.
    """

    currency: str = "EUR"
    people: int | None = None
    compensation: Fraction | None = None
    curvature: Fraction = Fraction(1)
    minimum: Fraction = Fraction(0)
    fine: Fraction | None = None
    incident: Fraction | None = None
    budget: Fraction | None = None
    largest_error: Fraction | None = None
    anchor: str = ""
    bound: Fraction | None = None
    calibrated_epsilon: Fraction | None = None
    calibrated_share: Fraction | None = None
    curvature_low: Fraction | None = None
    curvature_high: Fraction | None = None
    people_low: Fraction | None = None
    people_high: Fraction | None = None
    compensation_low: Fraction | None = None
    compensation_high: Fraction | None = None
    register: Fraction | None = None


@dataclass(frozen=True)
class AllowedLevels:
    """The privacy levels that accuracy and money leave to choose from; None where an end is open.

    ``reason`` says which of the two has to give where no level is left: ``error``, ``money`` or ``both``.
    """

    lower: Fraction | None = None
    upper: Fraction | None = None
    reason: str | None = None
