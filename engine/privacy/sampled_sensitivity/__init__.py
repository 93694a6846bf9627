"""How far an answer moves between neighbouring data sets that the population really produces.

Implicit privacy at risk samples the sensitivity of a query instead of proving it. The result is a statement
about a population and about the pairs that were drawn; it is never a differential privacy guarantee.

Source: A. Dandekar, "Privacy risk of releasing data and models", NUS 2019, chapter 8, theorems 4 and 5.
"""

from engine.privacy.sampled_sensitivity.bounds import (
    ImplicitConfidence,
    PairsPlan,
    Sides,
    dkw_probability,
    implicit_confidence,
    plan_pairs,
)
from engine.privacy.sampled_sensitivity.distribution import (
    EstimatedNoiseScale,
    InternalSampledSensitivity,
    SampledSensitivity,
    SensitivitySample,
    sampled_noise_scale,
    sampled_sensitivity,
)
from engine.privacy.sampled_sensitivity.noise_and_sample import (
    BothConfidence,
    Eta,
    EtaSource,
    Recalibration,
    authors_eta,
    both_confidence,
    known_eta,
    recalibrate,
)
from engine.privacy.sampled_sensitivity.populations import (
    FittedPopulation,
    Population,
    RecordOrigin,
    SimulatedPopulation,
    TablePopulation,
    fit_gaussian_copula,
)
from engine.privacy.sampled_sensitivity.ridge import RidgeQuery, unit_rows
from engine.privacy.sampled_sensitivity.ridge_bounds import RidgeSensitivityBounds, ridge_sensitivity_bounds

__all__ = [
    "BothConfidence",
    "EstimatedNoiseScale",
    "Eta",
    "EtaSource",
    "FittedPopulation",
    "ImplicitConfidence",
    "InternalSampledSensitivity",
    "PairsPlan",
    "Population",
    "Recalibration",
    "RecordOrigin",
    "RidgeQuery",
    "RidgeSensitivityBounds",
    "SampledSensitivity",
    "SensitivitySample",
    "Sides",
    "SimulatedPopulation",
    "TablePopulation",
    "authors_eta",
    "both_confidence",
    "dkw_probability",
    "fit_gaussian_copula",
    "implicit_confidence",
    "known_eta",
    "plan_pairs",
    "recalibrate",
    "ridge_sensitivity_bounds",
    "sampled_noise_scale",
    "sampled_sensitivity",
    "unit_rows",
]
