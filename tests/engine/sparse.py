"""The probability of what a sparse vector run says, summed over the noise of its threshold."""

import math

import numpy as np
from scipy.special import logsumexp

FAR = 30.0  # e^-30 of the noise lies further away than so many scales


def log_chance(scores, said, *, threshold, each):
    """Return ln P(said) of `engine.privacy.noise.Noise.sparse_vector` over these scores."""
    told = [(int(score), int(one)) for score, one in zip(scores, said, strict=True) if one >= 0]
    first, reach = float(threshold), math.ceil(FAR * max(float(threshold), float(each)))
    places = [score for score, _ in told] + [0]
    shared = np.arange(min(places) - reach, max(places) + reach + 1, dtype=np.float64)
    logs = math.log(math.tanh(1 / (2 * first))) - np.abs(shared) / first
    for score, one in told:
        logs = logs + _log_at_least(shared - score if one else score - shared + 1, float(each))
    return float(logsumexp(logs))


def _log_at_least(limits, scale):
    """Return ln P(Z ≥ limit) of discrete Laplace noise; P(Z < t) is P(Z ≥ 1 − t)."""
    half = math.log1p(math.exp(-1 / scale))
    high = -np.maximum(limits, 1) / scale - half
    low = np.log1p(-np.exp((np.minimum(limits, 0) - 1) / scale - half))
    return np.where(limits > 0, high, low)
