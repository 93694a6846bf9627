"""Privacy at risk from the noise and the sampled sensitivity together (theorem 5), and its corrections."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from engine.errors import InputRefused
from engine.privacy.at_risk import laplace, mechanisms, published
from engine.privacy.sampled_sensitivity.bounds import ImplicitConfidence
from engine.privacy.sampled_sensitivity.populations import AREA


class EtaSource(StrEnum):
    """Where η = Δ_f/Δ_S comes from."""

    KNOWN = "known"
    AUTHORS_HEURISTIC = "authors_heuristic"


@dataclass(frozen=True)
class Eta:
    """η = Δ_f/Δ_S, and whether it is known or guessed. Made by `known_eta` or `authors_eta`."""

    value: float
    source: EtaSource


@dataclass(frozen=True)
class BothConfidence:
    """Confidence that the loss stays within ε, for noise of scale Δ_S/ε₀ (see `both_confidence`).

    Parameters
    ----------
    printed
        F_k(ε)/F_k(ηε₀)·γ₂·α, theorem 5.
    exact_one_sided, exact_two_sided
        Corrected: the exact worst case of P(loss ≤ ε), of P(|loss| ≤ ε), times (γ₂ − ρ).
    probability
        With which the corrected ones hold, over the sampled pairs.
    eta
        What the printed form was computed with.
    worst_level
        ηε₀, the level that holds for every pair of neighbours; None where η is a heuristic.
    """

    printed: float
    exact_one_sided: float
    exact_two_sided: float
    probability: float
    eta: Eta
    worst_level: float | None


@dataclass(frozen=True)
class Recalibration:
    """The largest ε₀ that each form allows (see `recalibrate`); None where it allows none."""

    printed: float | None
    exact_one_sided: float | None
    exact_two_sided: float | None


def known_eta(sensitivity: float, sampled: float) -> Eta:
    """Return η = Δ_f/Δ_S for a proved sensitivity.

    Parameters
    ----------
    sensitivity, sampled
        Δ_f and Δ_S, positive, in the same units.

    Raises
    ------
    InputRefused
        ``sampled_sensitivity.not_positive``.

    Examples
    --------
    >>> known_eta(3.0, 2.0).value
    1.5
    """
    return Eta(_positive(sensitivity) / _positive(sampled), EtaSource.KNOWN)


def authors_eta(tolerance: float, sampled: float) -> Eta:
    """Return η as the authors' program guesses it, 1 + 2ρ/Δ_S.

    Parameters
    ----------
    tolerance
        ρ, a probability.
    sampled
        Δ_S in the units of the answer.

    Returns
    -------
    Eta
        Marked `EtaSource.AUTHORS_HEURISTIC`.

    Raises
    ------
    InputRefused
        ``sampled_sensitivity.not_positive``.

    Notes
    -----
    The thesis writes η = 1 + O(ρ/Δ*). Both divide a probability by a sensitivity: the step takes the
    distribution function of S to rise by at most 1 per unit. So η changes with the unit of the answer (euros
    or thousands of euros), and it is no bound on Δ_f/Δ_S.

    Examples
    --------
    >>> round(authors_eta(0.01, 0.15).value, 6), round(authors_eta(0.01, 150.0).value, 6)
    (1.133333, 1.000133)
    """
    return Eta(1.0 + 2.0 * _positive(tolerance) / _positive(sampled), EtaSource.AUTHORS_HEURISTIC)


def both_confidence(
    epsilon: float, *, epsilon0: float, implicit: ImplicitConfidence, eta: Eta, dimensions: int = 1
) -> BothConfidence:
    """Return how sure the privacy loss stays within ε when Laplace noise is scaled to a sampled sensitivity.

    Parameters
    ----------
    epsilon
        ε > 0.
    epsilon0
        ε₀ > 0 of the noise: scale Δ_S/ε₀ on each of the outputs.
    implicit
        From `implicit_confidence` or `SensitivitySample.confidence`.
    eta
        From `known_eta` or `authors_eta`.
    dimensions
        Number k of outputs.

    Returns
    -------
    BothConfidence
        Printed and corrected, under their own names.

    Raises
    ------
    InputRefused
        ``at_risk.…`` for levels or dimensions out of range.

    Notes
    -----
    The printed form inherits two faults: theorem 3 takes two dependent distances as independent, and γ₂·α
    is no bound (`implicit_confidence`). Corrected: with probability α over the sampled pairs, a fresh pair
    has S ≤ Δ_S with probability γ₂ − ρ at least; then the noise is at least as wide as ε₀ asks for, and the
    exact worst case of ε₀ holds. Pairs beyond Δ_S are counted as failures, so η does not enter.

    Source: thesis, theorem 5.

    Examples
    --------
    >>> from engine.privacy.sampled_sensitivity.bounds import implicit_confidence
    >>> found = both_confidence(
    ...     0.6, epsilon0=1.0, implicit=implicit_confidence(15_000, quantile=0.9, tolerance=0.01),
    ...     eta=Eta(1.0, EtaSource.KNOWN))
    >>> round(found.printed, 4), round(found.exact_one_sided, 4), round(found.exact_two_sided, 4)
    (0.5784, 0.3643, 0.1644)
    """
    widened = eta.value * epsilon0
    loss = mechanisms.laplace(epsilon0=epsilon0)
    ratio = published.confidence(epsilon, epsilon0=widened, dimensions=dimensions)
    return BothConfidence(
        printed=ratio * implicit.printed,  # theorem 5 as printed
        exact_one_sided=loss.confidence(epsilon) * implicit.corrected,
        exact_two_sided=loss.confidence_two_sided(epsilon) * implicit.corrected,
        probability=implicit.probability,
        eta=eta,
        worst_level=widened if eta.source is EtaSource.KNOWN else None,
    )


def recalibrate(
    epsilon: float, *, confidence: float, implicit: ImplicitConfidence, eta: Eta, dimensions: int = 1
) -> Recalibration:
    """Return the largest ε₀ whose noise keeps the loss within ε with a wished confidence.

    Parameters
    ----------
    epsilon
        ε > 0.
    confidence
        In (0, 1).
    implicit, eta, dimensions
        As for `both_confidence`.

    Returns
    -------
    Recalibration
        One level for each form. ``inf`` where every ε₀ reaches the confidence; None where none does, because
        the pairs alone allow less (more pairs or a higher quantile are needed).

    Raises
    ------
    InputRefused
        ``at_risk.…`` for numbers out of range.

    Examples
    --------
    >>> from engine.privacy.sampled_sensitivity.bounds import implicit_confidence
    >>> implicit = implicit_confidence(15_000, quantile=0.9, tolerance=0.01)
    >>> found = recalibrate(0.6, confidence=0.5784, implicit=implicit, eta=Eta(1.0, EtaSource.KNOWN))
    >>> round(found.printed, 3), found.exact_one_sided
    (1.0, 0.6)
    """
    from engine.privacy.at_risk.inputs import level, share

    at, wanted = level(epsilon, name="epsilon"), float(share(confidence, name="confidence"))

    def exact(two_sided: bool) -> float | None:
        if wanted >= implicit.corrected:
            return at if wanted == implicit.corrected else None
        return laplace.epsilon0(at, confidence=wanted / implicit.corrected, two_sided=two_sided).value

    printed: float | None = None
    if wanted == implicit.printed:
        printed = at / eta.value
    elif wanted < implicit.printed:
        # F_k(ηε₀) = F_k(ε)·γ₂α/confidence
        widest = published.epsilon0(at, confidence=wanted / implicit.printed, dimensions=dimensions)
        printed = math.inf if math.isinf(widest) else widest / eta.value
    return Recalibration(printed, exact(False), exact(True))


def _positive(value: float) -> float:
    if not 0.0 < value < math.inf:
        raise InputRefused(f"{AREA}.not_positive", found=value)
    return float(value)
