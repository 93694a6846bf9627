"""What tests of quantiles ask about ranks, beside what the method itself computes."""

import numpy as np

from engine.methods.statistics.rank_choices import rank_scores


def ranks_off(counts, *, wanted):
    """Return how many values stand on the wrong side of every candidate, shape (candidates,)."""
    return np.maximum(0.0, -rank_scores(counts, wanted=wanted) / wanted.denominator)


def spread_evenly(size, candidates):
    """Return the counts of values that lie evenly over the grid, shape (candidates,)."""
    places = ((2 * np.arange(size) + 1) * candidates) // (2 * size)
    return np.bincount(places, minlength=candidates)
