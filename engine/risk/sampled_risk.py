"""Privacy at risk of a query on drawn neighbours: implicit, with the noise, and measured, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from engine.errors import InputRefused
from engine.numbers import finite
from engine.privacy.direct import (
    ShareWithin,
    SimulatedDiscreteLaplace,
    SimulatedGaussian,
    SimulatedLaplace,
    SimulatedMechanism,
    direct_losses,
)
from engine.privacy.sampled_sensitivity import (
    BothConfidence,
    EstimatedNoiseScale,
    Eta,
    ImplicitConfidence,
    Population,
    Recalibration,
    SampledSensitivity,
    SensitivitySample,
    authors_eta,
    both_confidence,
    known_eta,
    recalibrate,
    sampled_noise_scale,
    sampled_sensitivity,
)
from engine.progress import SILENT, Progress

ROUNDING = 1e-9  # relative: by so much a sampled difference of floating-point sums may exceed a proved one


@dataclass(frozen=True)
class Question:
    """What is asked about the pairs.

    Parameters
    ----------
    pairs, records
        n pairs of neighbouring data sets of p records each.
    quantile, tolerance
        γ₂ and ρ, chosen before the pairs are drawn.
    epsilon, epsilon0
        Level at risk and level of the noise; None where they are not asked about.
    confidence
        Wanted confidence, for re-calibration; None where it is not asked about.
    mechanism
        ``laplace``, ``discrete_laplace`` (on answers rounded to whole numbers) or ``gaussian``.
    scale
        Of Gaussian noise, in the units of the answer.
    draws, level
        How many losses are measured, and at which level their limits hold.
    """

    pairs: int
    records: int
    quantile: float
    tolerance: float
    epsilon: Fraction | None = None
    epsilon0: Fraction | None = None
    confidence: Fraction | None = None
    mechanism: str = "laplace"
    scale: Fraction | None = None
    draws: int = 10_000
    level: float = 0.95

    @property
    def norm(self) -> int:
        """Return the norm that the noise is scaled by: L2 for Gaussian noise, else L1."""
        return 2 if self.mechanism == "gaussian" else 1


@dataclass(frozen=True)
class MeasuredNoise:
    """Measured losses of one noise: its scale, and the shares within ε in one and in both directions."""

    scale: float
    one_sided: ShareWithin
    two_sided: ShareWithin
    draws: int


@dataclass(frozen=True)
class SampledRisk:
    """What the pairs say. Made by `sampled_risk`.

    Parameters
    ----------
    sample
        The sampled sensitivities.
    sensitivity
        Δ_S, their quantile γ₂.
    proved
        Δ_f, the proved sensitivity; None where none is known.
    implicit
        Theorem 4, printed and corrected.
    both, recalibrated
        Theorem 5 and its inverse, by where η comes from (``known``, ``authors_heuristic``).
    measured
        Direct figures, for noise scaled to Δ_S (``sampled``), to Δ_f (``proved``) or stated (``stated``).
    noise
        Laplace scale Δ_S/ε₀ and what it really guarantees; None for private rows, which set no noise.
    """

    question: Question
    sample: SensitivitySample
    sensitivity: float
    proved: float | None
    implicit: ImplicitConfidence
    both: Mapping[str, BothConfidence] = field(default_factory=dict)
    recalibrated: Mapping[str, Recalibration] = field(default_factory=dict)
    measured: Mapping[str, MeasuredNoise] = field(default_factory=dict)
    noise: EstimatedNoiseScale | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON values; an infinite level as null."""
        asked, implicit = self.question, self.implicit
        tree: dict[str, Any] = {
            "audience": "internal" if self.sample.origin.internal else "public",
            "origin": self.sample.origin.value,
            "pairs": asked.pairs,
            "records": asked.records,
            "norm": asked.norm,
            "mechanism": asked.mechanism.replace("_", "-"),
            "implicit": {
                "quantile": asked.quantile,
                "tolerance": asked.tolerance,
                "sensitivity": self.sensitivity,
                "median": self.sample.quantile(0.5),
                "largest": float(self.sample.values[-1]),
                "proved": self.proved,
                "published": {
                    "confidence": implicit.printed,
                    "alpha": implicit.corrected_two_sided_probability,
                },
                "exact": {
                    "confidence": implicit.corrected,
                    "probability": implicit.probability,
                    "unconditional": implicit.unconditional,
                },
                "order_statistic": {"confidence": implicit.exact, "probability": implicit.probability},
            },
        }
        for name in ("epsilon", "epsilon0", "confidence", "scale"):
            if getattr(asked, name) is not None:
                tree[name] = float(getattr(asked, name))
        if self.both:
            tree["both"] = {name: _both_to_json(found) for name, found in self.both.items()}
        if self.recalibrated:
            tree["recalibrated"] = {
                name: {
                    "published": {"epsilon0": finite(found.printed)},
                    "exact": {
                        "epsilon0": finite(found.exact_one_sided),
                        "epsilon0_two_sided": finite(found.exact_two_sided),
                    },
                }
                for name, found in self.recalibrated.items()
            }
        if self.measured:
            tree["direct"] = {
                name: {"scale": found.scale, "draws": found.draws}
                | {"one_sided": asdict(found.one_sided), "two_sided": asdict(found.two_sided)}
                for name, found in self.measured.items()
            }
        if self.noise is not None:
            tree["noise"] = {"scale": self.noise.scale, "epsilon0": self.noise.epsilon0}
            tree["noise"] |= {"guarantee": self.noise.kind, "epsilon": self.noise.epsilon}
        return tree


def sampled_risk(
    query: Any,
    population: Population,
    question: Question,
    *,
    generator: np.random.Generator,
    proved: float | None = None,
    outputs: int = 1,
    progress: Progress = SILENT,
) -> SampledRisk:
    """Return what drawn neighbours say about a query: how far it moves, and what its noise gives away.

    Parameters
    ----------
    query, population
        As for `engine.privacy.sampled_sensitivity.sampled_sensitivity`.
    question
        What is asked.
    generator
        From `engine.privacy.noise.Noise.internal_generator`.
    proved
        Δ_f in the norm of the mechanism, where one is known.
    outputs
        Number k of numbers in an answer, for theorem 3 as printed.
    progress
        Of both rounds of draws.

    Returns
    -------
    SampledRisk
        Internal whenever the population is private.

    Raises
    ------
    InputRefused
        ``queries.mechanism``: no simulation of it. ``queries.scale``: Gaussian noise without its scale.
        ``sampled_sensitivity.…`` and ``direct.…``.

    Notes
    -----
    Nothing here is differential privacy. The losses are measured on pairs of their own, drawn after Δ_S was
    set from the first ones, so that the limit that they give holds for that noise.

    Source: A. Dandekar, "Privacy risk of releasing data and models", NUS 2019, chapter 8, theorems 4 and 5,
    definition 6.

    Examples
    --------
    >>> from engine.privacy.noise import Noise
    >>> from engine.privacy.sampled_sensitivity import RecordOrigin, TablePopulation
    >>> people = TablePopulation(np.array([0.0, 1.0]), origin=RecordOrigin.PUBLIC)
    >>> found = sampled_risk(
    ...     np.sum, people, Question(500, 10, quantile=0.9, tolerance=0.05),
    ...     generator=Noise().internal_generator(), proved=1.0)
    >>> found.sensitivity, round(found.implicit.corrected, 2)
    (1.0, 0.85)
    """
    if question.mechanism not in ("laplace", "discrete_laplace", "gaussian"):
        raise InputRefused("queries.mechanism", found=question.mechanism.replace("_", "-"))
    if (question.mechanism == "gaussian") != (question.scale is not None):
        raise InputRefused("queries.scale")
    sample = sampled_sensitivity(
        query,
        population,
        pairs=question.pairs,
        records=question.records,
        generator=generator,
        norm=question.norm,
        progress=progress.part(0.0, 0.4),
    )
    delta = sample.quantile(question.quantile)
    implicit = sample.confidence(question.quantile, tolerance=question.tolerance)
    if proved is not None and proved < sample.values[-1] <= proved * (1 + ROUNDING):
        proved = float(sample.values[-1])
    scales = _scales(question, delta, proved)
    measured = {}
    for place, (name, scale) in enumerate(scales.items()):
        assert question.epsilon is not None
        losses = direct_losses(
            query,
            population,
            mechanism_named(question.mechanism, scale),
            draws=question.draws,
            records=question.records,
            generator=generator,
            progress=progress.part(0.4 + 0.6 * place / len(scales), 0.4 + 0.6 * (place + 1) / len(scales)),
        )
        one, two = (
            losses.within(float(question.epsilon), level=question.level, two_sided=sides)
            for sides in (False, True)
        )
        measured[name] = MeasuredNoise(scale, one, two, question.draws)
    both, recalibrated = _with_noise(question, implicit, _etas(question, delta, proved), outputs)
    noise = None
    if isinstance(sample, SampledSensitivity) and "sampled" in scales and question.mechanism == "laplace":
        assert question.epsilon0 is not None
        noise = sampled_noise_scale(
            sample,
            quantile=question.quantile,
            epsilon0=float(question.epsilon0),
            known_sensitivity=proved,
        )
    return SampledRisk(question, sample, delta, proved, implicit, both, recalibrated, measured, noise)


def _etas(question: Question, delta: float, proved: float | None) -> dict[str, Eta]:
    """Return η where theorem 5 applies: continuous Laplace noise, scaled to a sensitivity that is not 0."""
    if question.mechanism != "laplace" or delta <= 0:
        return {}
    known = {} if proved is None else {"known": known_eta(proved, delta)}
    return known | {"authors_heuristic": authors_eta(question.tolerance, delta)}


def _with_noise(
    question: Question, implicit: ImplicitConfidence, etas: Mapping[str, Eta], outputs: int
) -> tuple[dict[str, BothConfidence], dict[str, Recalibration]]:
    epsilon = None if question.epsilon is None else float(question.epsilon)
    both: dict[str, BothConfidence] = {}
    recalibrated: dict[str, Recalibration] = {}
    for name, eta in etas.items():
        if epsilon is not None and question.epsilon0 is not None:
            both[name] = both_confidence(
                epsilon, epsilon0=float(question.epsilon0), implicit=implicit, eta=eta, dimensions=outputs
            )
        elif epsilon is not None and question.confidence is not None:
            wanted = float(question.confidence)
            recalibrated[name] = recalibrate(
                epsilon, confidence=wanted, implicit=implicit, eta=eta, dimensions=outputs
            )
    return both, recalibrated


def _scales(question: Question, delta: float, proved: float | None) -> dict[str, float]:
    """Return the noise whose losses are measured: by name, its scale in the units of the answer."""
    if question.epsilon is None:
        return {}
    if question.scale is not None:
        return {"stated": float(question.scale)}
    if question.epsilon0 is None:
        return {}
    known = {"sampled": delta, "proved": 0.0 if proved is None else proved}
    return {name: value / float(question.epsilon0) for name, value in known.items() if value > 0}


def mechanism_named(mechanism: str, scale: float) -> SimulatedMechanism:
    """Return the noise of a simulation by its name."""
    kinds = {
        "laplace": SimulatedLaplace,
        "discrete_laplace": SimulatedDiscreteLaplace,
        "gaussian": SimulatedGaussian,
    }
    return kinds[mechanism](scale)


def _both_to_json(found: BothConfidence) -> dict[str, Any]:
    return {
        "eta": found.eta.value,
        "heuristic": found.worst_level is None,
        "published": {"confidence": found.printed},
        "exact": {
            "confidence": found.exact_one_sided,
            "confidence_two_sided": found.exact_two_sided,
            "probability": found.probability,
        },
        "worst_level": found.worst_level,
    }
