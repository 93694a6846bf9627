"""What a breach would cost in compensation, as a function of the privacy level."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from engine.errors import InputRefused
from engine.privacy.at_risk.inputs import Number, level, positive, share, whole

LARGEST_AMOUNT = 10**15


@dataclass(frozen=True)
class Cost:
    """The expected compensation at a privacy level.

    Parameters
    ----------
    people
        N, how many people the data are about.
    compensation
        E, per person, if the data were released without protection.
    c
        Steepness of the curve. It cannot be observed: see `calibrated`.
    minimum
        E_min, per person, owed even at perfect privacy; below ``compensation``.
    printed_minimum
        Use the source's own form E_min + E e^{−c/ε}, whose limit exceeds E, in place of the corrected
        E_min + (E − E_min) e^{−c/ε}.

    Raises
    ------
    InputRefused
        ``price.minimum`` or a number that is not positive.

    Notes
    -----
    The form of the curve is an assumption of its source, not a finding about courts. It says nothing about
    whether a claim succeeds, nor about fines or the cost of an incident.

    Source: Dandekar 2019, section 8.4.2.

    Examples
    --------
    >>> round(Cost(people=100, compensation=Fraction(5500)).at(0.5), 2)
    74434.41
    """

    people: int
    compensation: Fraction
    c: Fraction = Fraction(1)
    minimum: Fraction = Fraction(0)
    printed_minimum: bool = False

    def __post_init__(self) -> None:
        people = whole(self.people, name="people", largest=10**11)
        amount = positive(self.compensation, name="compensation", largest=LARGEST_AMOUNT)
        steepness = positive(self.c, name="c")
        least = self.minimum
        if least != 0:
            least = positive(least, name="minimum", largest=LARGEST_AMOUNT)
        if least >= amount:
            raise InputRefused("price.minimum", found=float(least), compensation=float(amount))
        for name, value in (
            ("people", people),
            ("compensation", amount),
            ("c", steepness),
            ("minimum", Fraction(least)),
        ):
            object.__setattr__(self, name, value)

    @property
    def liability(self) -> float:
        """B = N·E, the compensation if the data were released without protection."""
        return float(self.people * self.compensation)

    @property
    def least(self) -> float:
        """The compensation at perfect privacy, N·E_min."""
        return float(self.people * self.minimum)

    @property
    def growth(self) -> float:
        """What lies between perfect privacy and none on this curve."""
        if self.printed_minimum:
            return self.liability
        return float(self.people * (self.compensation - self.minimum))

    def at(self, epsilon: float) -> float:
        """Return E_dp(ε) for all people together; ε may be 0 or infinite."""
        if epsilon <= 0:
            return self.least
        # E_dp(ε) = E_min + (E − E_min) e^{−c/ε}; the printed form has E in place of the bracket.
        return self.least + self.growth * math.exp(-float(self.c) / epsilon)

    def curve(self, epsilons: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return E_dp at every ε of an array; values at or below 0 count as perfect privacy."""
        values = np.asarray(epsilons, dtype=np.float64)
        inside = np.where(values > 0, values, 1.0)
        grown = self.growth * np.exp(-float(self.c) / inside)
        return np.asarray(self.least + np.where(values > 0, grown, 0.0))

    def epsilon_for(self, budget: Number | str) -> float:
        """Return the largest ε whose cost stays within a budget: money turned into a privacy level.

        Returns
        -------
        float
            0 when even perfect privacy costs more, infinite when the budget covers the whole liability.

        Examples
        --------
        >>> cost = Cost(people=100, compensation=Fraction(5500))
        >>> round(cost.epsilon_for(55_000), 2), cost.epsilon_for(550_000)
        (0.43, inf)
        """
        amount = positive(budget, name="budget", largest=LARGEST_AMOUNT)
        spare = amount - self.people * self.minimum  # exact: both may be large and nearly the same
        growth = self.people * (self.compensation - (0 if self.printed_minimum else self.minimum))
        if spare <= 0:
            return 0.0
        if spare >= growth:
            return math.inf
        # ε = c / ln((E − E_min) / (budget − E_min)).
        return float(self.c) / math.log1p(float(growth / spare - 1))

    def calibrated(self, *, epsilon: Number, share_of_liability: Number) -> Cost:
        """Return the same cost with the c that makes one defended point true.

        Parameters
        ----------
        epsilon, share_of_liability
            "At this ε we accept this share of the liability."

        Raises
        ------
        InputRefused
            ``price.calibration``: the share lies at or below the minimum, where no curve passes.

        Examples
        --------
        >>> cost = Cost(people=100, compensation=Fraction(5500))
        >>> round(float(cost.calibrated(epsilon=1, share_of_liability=0.1).c), 6)
        2.302585
        """
        at = level(epsilon, name="calibrate-epsilon")
        accepted = float(share(share_of_liability, name="calibrate-share")) * self.liability - self.least
        if not 0 < accepted < self.growth:
            raise InputRefused("price.calibration", least=self.least / self.liability)
        return replace(self, c=Fraction(repr(-at * math.log(accepted / self.growth))))


@dataclass(frozen=True)
class Band:
    """A cost curve with its uncertainty: lower, central and upper value at every ε."""

    epsilons: npt.NDArray[np.float64]
    lower: npt.NDArray[np.float64]
    central: npt.NDArray[np.float64]
    upper: npt.NDArray[np.float64]


def band(
    cost: Cost,
    epsilons: npt.ArrayLike,
    *,
    c: tuple[Number, Number] | None = None,
    people: tuple[int, int] | None = None,
    compensation: tuple[Number, Number] | None = None,
) -> Band:
    """Return the cost curve with the range that uncertain c, N and E leave open.

    Parameters
    ----------
    cost
        The central curve.
    epsilons
        Where it is drawn.
    c, people, compensation
        Smallest and largest value that are thought possible; None where the central value is certain.

    Returns
    -------
    Band
        The cost rises with N and E and falls with c, so the ends of the ranges give the ends of the band.

    Raises
    ------
    InputRefused
        ``price.range``: a range that has its larger end first or does not hold the central value.

    Examples
    --------
    >>> cost = Cost(people=100, compensation=Fraction(5500))
    >>> drawn = band(cost, [0.5], c=(0.5, 2))
    >>> drawn.lower.round(0).tolist(), drawn.upper.round(0).tolist()
    ([10074.0], [202334.0])
    """
    steepness = _range("c", c, cost.c)
    count = _range("people", people, Fraction(cost.people))
    amount = _range("compensation", compensation, cost.compensation)
    low = replace(cost, people=int(count[0]), compensation=amount[0], c=steepness[1])
    high = replace(cost, people=int(count[1]), compensation=amount[1], c=steepness[0])
    at = np.asarray(epsilons, dtype=np.float64)
    return Band(at, low.curve(at), cost.curve(at), high.curve(at))


def _range(name: str, given: tuple[Number, Number] | None, central: Fraction) -> tuple[Fraction, Fraction]:
    if given is None:
        return central, central
    low, high = (positive(end, name=name, largest=LARGEST_AMOUNT) for end in given)
    if not low <= central <= high:
        raise InputRefused(
            "price.range", option=name, low=float(low), high=float(high), central=float(central)
        )
    return low, high
