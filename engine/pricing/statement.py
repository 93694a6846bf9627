"""What one release would cost: published, exact and expected, side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from engine.errors import InputRefused
from engine.pricing.cost import Cost
from engine.pricing.reading import Curve, Reading, cheapest, exact_curve, expected, published_curve
from engine.pricing.window import Accuracy, Window, laplace_accuracy, window
from engine.privacy.at_risk import statement
from engine.privacy.at_risk.inputs import Number, positive, whole
from engine.privacy.at_risk.loss import PrivacyLoss


@dataclass(frozen=True)
class Priced:
    """The price of one release.

    Parameters
    ----------
    cost
        The curve that was used.
    epsilon0
        The mechanism's own level; infinite for Gaussian noise.
    budget
        E_dp(ε0): the price read at ε0 itself.
    published, exact, exact_two_sided
        The cheapest at-risk reading by each confidence; published is None where no source gives one.
    expected
        E[E_dp(|loss|)], the plain expectation over the realised loss.
    windows
        By confidence: the levels that a budget and an accuracy allow; empty when neither was given.
    c_halved, c_doubled
        ε of the leading reading (published where there is one) when c is half or twice as large.
    loss, curves
        What was read, and by confidence how.
    """

    cost: Cost
    epsilon0: float
    budget: float
    published: Reading | None
    exact: Reading
    exact_two_sided: Reading
    expected: float
    windows: dict[str, Window]
    c_halved: Reading
    c_doubled: Reading
    loss: PrivacyLoss
    curves: dict[str, Curve]

    def to_json(self) -> dict[str, Any]:
        """Return the price as JSON values; an infinite level as null."""
        tree: dict[str, Any] = {
            "published": None
            if self.published is None
            else {"budget": self.budget, "at_risk": reading_to_json(self.published)},
            "exact": {"budget": self.budget, "at_risk": reading_to_json(self.exact)},
            "exact_two_sided": {"at_risk": reading_to_json(self.exact_two_sided)},
            "expected": self.expected,
            "window": None,
            "epsilon0": _finite(self.epsilon0),
            "c": float(self.cost.c),
            "form": "printed" if self.cost.printed_minimum else "corrected",
            "liability": self.cost.liability,
            "c_halved": reading_to_json(self.c_halved),
            "c_doubled": reading_to_json(self.c_doubled),
        }
        if self.windows:
            # The first is the published one where a source gives it, else the exact one.
            (_, first), *others = self.windows.items()
            tree["window"] = window_to_json(first)
            tree["window"] |= {name: window_to_json(other) for name, other in others}
        return tree


def priced(
    cost: Cost,
    *,
    mechanism: str = "laplace",
    epsilon0: Number | str | None = None,
    scale: Number | str | None = None,
    dimensions: Number | str = 1,
    sensitivity: Number | str = 1,
    answers: Number | str = 2,
    budget: Number | str | None = None,
    max_error: Number | str | None = None,
) -> Priced:
    """Return what a release by one mechanism would cost in compensation.

    Parameters
    ----------
    cost
        The cost curve.
    mechanism, epsilon0, scale, dimensions, sensitivity, answers
        As in `engine.privacy.at_risk.statement.state`.
    budget
        What may be spent on compensation, for all people together.
    max_error
        Largest expected absolute error, in the units of ``sensitivity``.

    Returns
    -------
    Priced

    Raises
    ------
    InputRefused
        A number or a mechanism cannot be used.

    Notes
    -----
    The at-risk readings choose where one bound on one and the same release is read. No noise changes with
    them, and no privacy is gained.

    Source: Dandekar 2019, section 8.4.2; exact and expected figures by this project.

    Examples
    --------
    >>> found = priced(Cost(people=100, compensation=Fraction(5500)), epsilon0=0.5)
    >>> round(found.budget, 2), round(found.published.saving, 2), round(found.exact.saving, 2)
    (74434.41, 36628.55, 30955.34)
    """
    loss, own = statement.loss_by_level(
        mechanism, epsilon0=epsilon0, scale=scale, sensitivity=sensitivity, answers=answers
    )
    curves: dict[str, Curve] = {}
    if loss.mechanism in statement.PUBLISHED_FOR:
        curves["published"] = published_curve(own, dimensions=whole(dimensions, name="dimensions"))
    curves["exact"] = exact_curve(loss)
    curves["exact_two_sided"] = exact_curve(loss, two_sided=True)
    readings = {name: cheapest(cost, curve) for name, curve in curves.items()}
    leading = next(iter(curves.values()))
    windows: dict[str, Window] = {}
    if budget is not None or max_error is not None:
        accuracy = None
        if max_error is not None:
            accuracy = accuracy_of(loss, own, max_error=max_error, sensitivity=sensitivity)
        windows = {
            name: window(cost, curve, budget=budget, accuracy=accuracy) for name, curve in curves.items()
        }
    return Priced(
        cost,
        loss.largest,
        cost.at(loss.largest),
        readings.get("published"),
        readings["exact"],
        readings["exact_two_sided"],
        expected(cost, loss),
        windows,
        cheapest(replace(cost, c=cost.c / 2), leading),
        cheapest(replace(cost, c=cost.c * 2), leading),
        loss,
        curves,
    )


def accuracy_of(
    loss: PrivacyLoss, own: Fraction, *, max_error: Number | str, sensitivity: Number | str = 1
) -> Accuracy:
    """Return whether one answer of a mechanism is accurate enough, by its expected absolute error.

    Parameters
    ----------
    loss
        Of the mechanism.
    own
        Its ε0, for Gaussian noise its scale.
    max_error, sensitivity
        As in `engine.pricing.window.laplace_accuracy`; grid steps for the discrete mechanisms.

    Raises
    ------
    InputRefused
        ``price.no_error``: the mechanism does not answer with a number.
    """
    if loss.mechanism == "laplace":
        return laplace_accuracy(own, max_error=max_error, sensitivity=sensitivity)
    limit = float(positive(max_error, name="max-error", largest=10**30))
    if loss.mechanism == "discrete_laplace":
        size = whole(sensitivity, name="sensitivity")
        # E|z| = 2q/(1 − q²) = 1/sinh(ε0/D) ≤ T.
        needed = size * math.asinh(1 / limit)
        return Accuracy(float(own) >= needed, epsilon0_needed=needed)
    if loss.mechanism in ("gaussian", "discrete_gaussian"):
        # E|z| = σ √(2/π); the discrete form lies below it.
        widest = limit * math.sqrt(math.pi / 2)
        return Accuracy(float(own) <= widest, scale_needed=widest)
    raise InputRefused("price.no_error", mechanism=loss.mechanism.replace("_", "-"))


def reading_to_json(reading: Reading) -> dict[str, float | None]:
    """Return a reading as JSON values."""
    return {
        "epsilon": _finite(reading.epsilon),
        "confidence": reading.confidence,
        "budget": reading.budget,
        "saving": reading.saving,
    }


def window_to_json(found: Window) -> dict[str, Any]:
    """Return a window as JSON values."""
    return {
        "lower": found.lower,
        "upper": None if found.upper is None else _finite(found.upper),
        "empty": found.empty,
        "reason": found.reason,
        "cheapest": found.cheapest,
        "epsilon0_needed": found.epsilon0_needed,
        "scale_needed": found.scale_needed,
    }


def _finite(value: float) -> float | None:
    return None if math.isinf(value) else value
