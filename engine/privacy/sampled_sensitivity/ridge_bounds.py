"""How far ridge coefficients move when one record is exchanged: published bounds, and a tighter one."""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.errors import InputRefused
from engine.privacy.sampled_sensitivity.populations import AREA


@dataclass(frozen=True)
class RidgeSensitivityBounds:
    """Bounds on the L1 replace-one sensitivity of ridge coefficients (see `ridge_sensitivity_bounds`).

    Parameters
    ----------
    thesis
        d (1/√λ + 1)/(pλ): what the thesis' authors compute for five attributes.
    loss_values
        (1/√λ + 1) √(d/(pλ)): from strong convexity and the change of the loss.
    gradients
        2√d (1/√λ + 1)/(pλ): from strong convexity and the change of the gradient.
    update
        2√d g (1 + √(p−1)/(2√(pλ))), g = 1/(pλ + 1) for pλ ≥ 1, else 1/(2√(pλ)): from the rank-one update.
    """

    thesis: float
    loss_values: float
    gradients: float
    update: float


def ridge_sensitivity_bounds(
    records: int, attributes: int, *, penalty: float, response_bound: float = 1.0
) -> RidgeSensitivityBounds:
    """Return bounds on how far ridge coefficients can move when one record is exchanged.

    Parameters
    ----------
    records
        Number p ≥ 1 of records; public.
    attributes
        Number d ≥ 1 of predictors, each row of L2 norm at most 1; no intercept.
    penalty
        λ > 0 *per record*: min (1/2p) Σ (y − xβ)² + (λ/2)‖β‖², which is `RidgeQuery` with penalty pλ.
    response_bound
        |y| ≤ this. The coefficients are linear in y, so every bound is a multiple of it.

    Returns
    -------
    RidgeSensitivityBounds
        Four forms; `update` is the one to use.

    Raises
    ------
    InputRefused
        ``sampled_sensitivity.too_few_records``, ``.too_few_columns``, ``.penalty`` or ``.response_bound``.

    Notes
    -----
    *Loss values*: J(β̂) ≤ J(0) gives ‖β̂‖₂ ≤ 1/√λ, so that a record's loss is at most (1/√λ + 1)²/2; the
    two minima differ by λ‖β̂ − β̂'‖² ≤ (1/√λ + 1)²/p; the L1 norm is at most √d times the L2 norm. This is
    the constant that the program published with Ligett et al. (2017) computes.
    *Gradients*: a record's gradient is at most 1/√λ + 1, and pλ‖β̂ − β̂'‖₂ is at most twice that.
    *Update*: β̂ and β̂' each differ from the fit of the p − 1 common records by A⁻¹u (t − u'β)/(1 + u'A⁻¹u),
    where A ≥ pλ, and that fit is at most √(p−1)/(2√(pλ)) long.
    *Thesis*: the factor 5 in the program of the thesis' authors is read as the number of attributes. For
    d ≥ 4 it is at least the bound by gradients and so holds; for fewer it is not proved. It speaks of a
    penalty λ per record, while that program fits ``Ridge(alpha=2λ)`` with an intercept that it leaves
    without noise: no bound of this family covers that fit.

    References
    ----------
    K. Ligett, S. Neel, A. Roth, B. Waggoner, Z. S. Wu, "Accuracy first: selecting a differential privacy
    level for accuracy-constrained ERM", NeurIPS 2017. Thesis, chapter 8 (ridge illustration).

    Examples
    --------
    >>> bounds = ridge_sensitivity_bounds(16_000, 5, penalty=0.01)
    >>> round(bounds.thesis, 5), round(bounds.loss_values, 5), round(bounds.update, 5)
    (0.34375, 1.94454, 0.16666)
    """
    if records < 1:
        raise InputRefused(f"{AREA}.too_few_records", found=records, expected=1)
    if attributes < 1:
        raise InputRefused(f"{AREA}.too_few_columns", found=attributes, expected=1)
    if not 0.0 < penalty < math.inf:
        raise InputRefused(f"{AREA}.penalty", found=penalty)
    if not 0.0 < response_bound < math.inf:
        raise InputRefused(f"{AREA}.response_bound", found=response_bound)
    total = records * penalty
    gradient = 1.0 / math.sqrt(penalty) + 1.0  # (1/√λ + 1)
    step = 1.0 / (total + 1.0) if total >= 1.0 else 1.0 / (2.0 * math.sqrt(total))  # g
    longest = math.sqrt(records - 1) / (2.0 * math.sqrt(total))
    return RidgeSensitivityBounds(
        thesis=response_bound * attributes * gradient / total,
        loss_values=response_bound * gradient * math.sqrt(attributes / total),
        gradients=response_bound * 2.0 * math.sqrt(attributes) * gradient / total,
        update=response_bound * 2.0 * math.sqrt(attributes) * step * (1.0 + longest),
    )
