"""A second way from ε to money: how much surer an attacker can become."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from engine.errors import InputRefused
from engine.pricing.cost import LARGEST_AMOUNT, Cost
from engine.privacy.at_risk.inputs import Number, level, positive, share


def posterior(
    prior: Number, epsilon: Number, *, known_in_table: bool = False, neighbours: str = "add_remove"
) -> float:
    """Return how sure somebody with a prior belief about one person becomes at most.

    Parameters
    ----------
    prior
        Belief before the release, between 0 and 1.
    epsilon
        Privacy level of the release, pure; at least 0, infinite where nothing bounds the loss.
    known_in_table
        False: the question is whether the person is in the table at all. True: that is known, and the
        question is what value the person has.
    neighbours
        ``"add_remove"`` or ``"replace_one"``. Under add/remove a value is exchanged by removing one record
        and adding another, which costs 2ε.

    Returns
    -------
    float
        p e^l / (1 − p + p e^l), l = ε or 2ε.

    Notes
    -----
    A worst case over outputs and over what else is known; it says nothing about how likely that output is.

    Examples
    --------
    >>> round(posterior(0.5, 1), 4), round(posterior(0.5, 1, known_in_table=True), 4)
    (0.7311, 0.8808)
    """
    p, at = float(share(prior, name="prior")), float(epsilon)
    if not at >= 0:
        raise InputRefused("at_risk.not_positive", option="epsilon", found=str(epsilon))
    return p / (p + (1 - p) * math.exp(-at * _steps(known_in_table, neighbours)))


def epsilon_for_posterior(
    prior: Number, wanted: Number, *, known_in_table: bool = False, neighbours: str = "add_remove"
) -> float:
    """Return the largest ε at which a belief does not rise above a limit: the inverse of `posterior`.

    Returns
    -------
    float
        0 when the limit does not exceed the prior.

    Examples
    --------
    >>> round(epsilon_for_posterior(0.5, 0.7310585786), 6)
    1.0
    """
    p, limit = float(share(prior, name="prior")), float(share(wanted, name="posterior"))
    gain = math.log(limit / (1 - limit)) - math.log(p / (1 - p))
    return max(0.0, gain / _steps(known_in_table, neighbours))


@dataclass(frozen=True)
class PosteriorCost:
    """Compensation in proportion to how much surer an attacker can become.

    Parameters
    ----------
    cost
        The first model, whose people, compensation and minimum are used; its c is not.
    prior
        p, what an attacker is taken to believe beforehand.
    known_in_table, neighbours
        As in `posterior`.

    Notes
    -----
    N [E_min + (E − E_min)(posterior − p)/(1 − p)]: the minimum at ε = 0 and the liability as ε grows. Convex
    while the posterior stays below ½, concave beyond; there is no parameter like c that cannot be observed,
    but the prior has to be chosen. It is a model of this project; no court computes like that.
    """

    cost: Cost
    prior: Fraction
    known_in_table: bool = False
    neighbours: str = "add_remove"

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", share(self.prior, name="prior"))
        _steps(self.known_in_table, self.neighbours)

    def at(self, epsilon: float) -> float:
        """Return the price at ε, which may be 0 or infinite.

        Examples
        --------
        >>> model = PosteriorCost(Cost(people=100, compensation=Fraction(5500)), prior=Fraction(1, 2))
        >>> round(model.at(1), 2), model.at(0), model.at(math.inf)
        (254164.44, 0.0, 550000.0)
        """
        p = float(self.prior)
        loss = epsilon * _steps(self.known_in_table, self.neighbours)
        # (posterior − p)/(1 − p) = p (1 − e^{−l}) / (p + (1 − p) e^{−l}).
        faded = math.exp(-loss)
        gained = p * -math.expm1(-loss) / (p + (1 - p) * faded)
        return self.cost.least + (self.cost.liability - self.cost.least) * gained

    def epsilon_for(self, budget: Number | str) -> float:
        """Return the largest ε whose price stays within a budget; 0 or infinite at the ends.

        Examples
        --------
        >>> model = PosteriorCost(Cost(people=100, compensation=Fraction(5500)), prior=Fraction(1, 2))
        >>> round(model.epsilon_for(254164.44), 6)
        1.0
        """
        amount = float(positive(budget, name="budget", largest=LARGEST_AMOUNT))
        spare = amount - self.cost.least
        whole = self.cost.liability - self.cost.least
        if spare <= 0:
            return 0.0
        if spare >= whole:
            return math.inf
        p = float(self.prior)
        reached = p + (1 - p) * spare / whole
        gain = math.log(reached / (1 - reached)) - math.log(p / (1 - p))
        return gain / _steps(self.known_in_table, self.neighbours)


@dataclass(frozen=True)
class Comparison:
    """Whether the second model leads to another conclusion than the first.

    Parameters
    ----------
    budget
        The amount that both are asked about.
    first, second
        The largest ε that it affords under the exponential curve and under the posterior model.
    first_allows, second_allows
        Whether ε0 is within it.
    changes
        True when one model allows the release and the other does not.
    """

    budget: float
    first: float
    second: float
    first_allows: bool
    second_allows: bool

    @property
    def changes(self) -> bool:
        """Whether the conclusion depends on the model."""
        return self.first_allows != self.second_allows


def compare(model: PosteriorCost, *, epsilon0: Number, budget: Number | str) -> Comparison:
    """Return whether a release at ε0 is affordable under both models.

    Parameters
    ----------
    model
        The posterior model, which carries the first one.
    epsilon0
        Privacy level of the release.
    budget
        What may be spent on compensation.

    Examples
    --------
    >>> model = PosteriorCost(Cost(people=100, compensation=Fraction(5500)), prior=Fraction(1, 2))
    >>> found = compare(model, epsilon0=1, budget=220_000)
    >>> found.first_allows, found.second_allows, found.changes
    (True, False, True)
    """
    own = level(epsilon0, name="epsilon0")
    first, second = model.cost.epsilon_for(budget), model.epsilon_for(budget)
    return Comparison(float(budget), first, second, own <= first, own <= second)


def _steps(known_in_table: bool, neighbours: str) -> int:
    if neighbours not in ("add_remove", "replace_one"):
        raise InputRefused("price.neighbours", found=neighbours)
    return 2 if known_in_table and neighbours == "add_remove" else 1
