"""Sampled sensitivity: the distribution of how far an answer moves between drawn neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import InputRefused
from engine.privacy.sampled_sensitivity.bounds import (
    ImplicitConfidence,
    empirical_quantile,
    implicit_confidence,
)
from engine.privacy.sampled_sensitivity.draws import PairQuery, pair_answers
from engine.privacy.sampled_sensitivity.populations import AREA, Population, RecordOrigin
from engine.progress import SILENT, Progress

STAGE = "sampled_sensitivity.pairs"


@dataclass(frozen=True, eq=False)
class SensitivitySample:
    """Sampled sensitivities of one query, sorted. Made by `sampled_sensitivity`.

    Parameters
    ----------
    values
        Shape (pairs,), ascending, in the units of the answer: ‖f(x) − f(y)‖ of each pair.
    records
        Number p of records in each data set.
    norm
        1 for the L1 norm, 2 for the L2 norm.
    origin
        Where the population's rows come from.
    """

    values: npt.NDArray[np.float64]
    records: int
    norm: int
    origin: RecordOrigin

    @property
    def pairs(self) -> int:
        """Return how many pairs were drawn."""
        return len(self.values)

    def quantile(self, share: float) -> float:
        """Return Δ_S = F_n^{-1}(γ₂), the smallest value that a share γ₂ in (0, 1] of the pairs keep to."""
        return empirical_quantile(self.values, share)

    def distribution(self, at: npt.NDArray[np.float64] | float) -> npt.NDArray[np.float64]:
        """Return F_n, the share of pairs whose sensitivity is at most each of the given values."""
        return np.searchsorted(self.values, np.asarray(at), side="right") / self.pairs

    def confidence(self, share: float, *, tolerance: float) -> ImplicitConfidence:
        """Return `implicit_confidence` of the quantile γ₂ = ``share`` for these pairs."""
        return implicit_confidence(self.pairs, quantile=share, tolerance=tolerance)


@dataclass(frozen=True, eq=False)
class SampledSensitivity(SensitivitySample):
    """A sample from public or simulated rows, or from a model fitted to public rows."""


@dataclass(frozen=True, eq=False)
class InternalSampledSensitivity(SensitivitySample):
    """A sample from the custodian's own rows: an analysis that stays inside and sets no noise."""


@dataclass(frozen=True)
class EstimatedNoiseScale:
    """A Laplace scale that rests on a sample (see `sampled_noise_scale`).

    Parameters
    ----------
    scale
        Δ_S/ε₀, in the units of the answer.
    epsilon0
        The level that the scale would give if Δ_S bounded every neighbour.
    epsilon
        ε₀·Δ_f/Δ_S, the level that really holds for a known Δ_f; None without one.
    kind
        The promise ``pure_dp`` with a known Δ_f, else ``none``: privacy at risk, estimated.
    """

    scale: float
    epsilon0: float
    epsilon: float | None
    kind: str


def sampled_sensitivity(
    query: Callable[[npt.NDArray[Any]], Any] | PairQuery,
    population: Population,
    *,
    pairs: int,
    records: int,
    generator: np.random.Generator,
    norm: int = 1,
    progress: Progress = SILENT,
) -> SampledSensitivity | InternalSampledSensitivity:
    """Return how far a query's answer moves between neighbouring data sets drawn from a population.

    Parameters
    ----------
    query
        Takes a data set of shape (records, columns) and returns a number or a vector; or a query such as
        `RidgeQuery` that answers many pairs at once.
    population
        What records are drawn from, independently.
    pairs
        Number n ≥ 1 of pairs; `engine.privacy.sampled_sensitivity.plan_pairs` says how many are needed.
    records
        Number p ≥ 1 of records in each data set: p − 1 common ones and one more in each.
    generator
        Randomness of this simulation. It never makes the noise of a release.
    norm
        1 for mechanisms scaled by L1 (Laplace), 2 by L2 (Gaussian).
    progress
        Told after every piece of about 65,000 drawn records.

    Returns
    -------
    SampledSensitivity or InternalSampledSensitivity
        The second whenever the population's origin is `RecordOrigin.PRIVATE`.

    Raises
    ------
    InputRefused
        ``sampled_sensitivity.too_few_pairs``, ``.too_few_records``, ``.norm``, ``.answer_shape`` when the
        answer is no vector of one length, ``.not_finite`` when it holds NaN or infinity.

    Notes
    -----
    Neighbours here exchange one record (replace-one), and n is public. The sample describes typical pairs
    of the population. It is not a bound on the sensitivity: the worst pair may never be drawn.

    Source: thesis, chapter 8, theorem 4.

    Examples
    --------
    >>> import numpy as np
    >>> from engine.privacy.sampled_sensitivity import RecordOrigin, TablePopulation
    >>> people = TablePopulation(np.array([0.0, 1.0]), origin=RecordOrigin.PUBLIC)
    >>> sample = sampled_sensitivity(
    ...     np.sum, people, pairs=400, records=10, generator=np.random.Generator(np.random.PCG64(7)))
    >>> sample.quantile(1.0)  # two coins differ about every other time, and then by 1
    1.0
    >>> bool(0.3 < sample.distribution(0.5) < 0.7)
    True
    """
    if norm not in (1, 2):
        raise InputRefused(f"{AREA}.norm")
    values = np.concatenate(
        [
            np.linalg.norm(first - second, ord=norm, axis=1)  # S = ‖f(x) − f(y)‖
            for first, second in pair_answers(
                query,
                population,
                pairs=pairs,
                records=records,
                generator=generator,
                progress=progress,
                stage=STAGE,
            )
        ]
    )
    kind = InternalSampledSensitivity if population.origin.internal else SampledSensitivity
    return kind(np.sort(values), records, norm, population.origin)


def sampled_noise_scale(
    sample: SampledSensitivity,
    *,
    quantile: float,
    epsilon0: float,
    known_sensitivity: float | None = None,
) -> EstimatedNoiseScale:
    """Return the Laplace scale that a sampled quantile asks for, and what it really guarantees.

    Parameters
    ----------
    sample
        From `sampled_sensitivity` with a population that is not private, in the L1 norm.
    quantile
        γ₂ in (0, 1].
    epsilon0
        Level ε₀ > 0 to calibrate to.
    known_sensitivity
        A proved bound Δ_f of the query over all neighbours, where there is one.

    Returns
    -------
    EstimatedNoiseScale
        Of kind ``none`` unless ``known_sensitivity`` is given.

    Raises
    ------
    InputRefused
        ``sampled_sensitivity.internal_sample`` for a sample of private rows: its quantile is itself a
        disclosure; ``.level``, ``.norm``, ``.no_spread`` when the quantile is 0, ``.known_sensitivity`` when
        Δ_f is below a sensitivity that was seen.

    Notes
    -----
    A sample never proves a sensitivity, so that noise scaled to it alone carries no differential privacy.

    Examples
    --------
    >>> import numpy as np
    >>> sample = SampledSensitivity(np.array([0.1, 0.2]), 5, 1, RecordOrigin.PUBLIC)
    >>> sampled_noise_scale(sample, quantile=1.0, epsilon0=0.5).kind
    'none'
    """
    if not isinstance(sample, SampledSensitivity):
        raise InputRefused(f"{AREA}.internal_sample")
    if not 0.0 < epsilon0 < float("inf"):
        raise InputRefused(f"{AREA}.level", found=epsilon0)
    if sample.norm != 1:
        raise InputRefused(f"{AREA}.norm")
    delta = sample.quantile(quantile)
    if delta <= 0.0:
        raise InputRefused(f"{AREA}.no_spread")
    if known_sensitivity is None:
        return EstimatedNoiseScale(delta / epsilon0, epsilon0, None, "none")
    if not sample.values[-1] <= known_sensitivity < float("inf"):
        raise InputRefused(f"{AREA}.known_sensitivity", found=known_sensitivity)
    return EstimatedNoiseScale(delta / epsilon0, epsilon0, epsilon0 * known_sensitivity / delta, "pure_dp")
