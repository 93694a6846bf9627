"""The mechanisms of the program, one module each: the event, its loss, and where there is one the draw.

A method makes an object such as `LaplaceCounts` from declarations. The same object gives the event that the
ledger reserves, the accuracy that the forecast prints and the noise that the release gets, so that the three
cannot differ.
"""

from engine.privacy.mechanisms.clear_counts import ClearCounts, ClearLaplace, threshold_of
from engine.privacy.mechanisms.discrete_gaussian import ConcentratedCounts, DiscreteGaussian, GaussianCounts
from engine.privacy.mechanisms.discrete_laplace import DiscreteLaplace, LaplaceCounts
from engine.privacy.mechanisms.exponential import Exponential
from engine.privacy.mechanisms.gaussian import Gaussian
from engine.privacy.mechanisms.gaussian_share import GaussianShare
from engine.privacy.mechanisms.integers import Integers, root_above
from engine.privacy.mechanisms.laplace import Laplace
from engine.privacy.mechanisms.laplace_share import LaplaceShare
from engine.privacy.mechanisms.local_response import LocalResponse
from engine.privacy.mechanisms.permute_and_flip import FlipChoice, PermuteAndFlip
from engine.privacy.mechanisms.randomised_response import RandomisedResponse
from engine.privacy.mechanisms.seeded_rows import GeometricThreshold, LaplaceThreshold, SeededRows
from engine.privacy.mechanisms.sparse_vector import AboveThresholds, SparseVector
from engine.privacy.mechanisms.staircase import Staircase, StaircaseNumber
from engine.privacy.mechanisms.stated import Stated
from engine.privacy.mechanisms.vector import Vector, VectorNoise

CountNoise = LaplaceCounts | GaussianCounts

__all__ = [
    "AboveThresholds",
    "ClearCounts",
    "ClearLaplace",
    "ConcentratedCounts",
    "CountNoise",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "FlipChoice",
    "Gaussian",
    "GaussianCounts",
    "GaussianShare",
    "GeometricThreshold",
    "Integers",
    "Laplace",
    "LaplaceCounts",
    "LaplaceShare",
    "LaplaceThreshold",
    "LocalResponse",
    "PermuteAndFlip",
    "RandomisedResponse",
    "SeededRows",
    "SparseVector",
    "Staircase",
    "StaircaseNumber",
    "Stated",
    "Vector",
    "VectorNoise",
    "root_above",
    "threshold_of",
]
