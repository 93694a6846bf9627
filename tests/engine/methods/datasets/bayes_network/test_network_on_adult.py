"""A table as large as Adult from a network, in a moment."""

import time
from fractions import Fraction

import numpy as np
import pytest

from engine.methods.datasets.bayes_network.correlation import CorrelationShares
from engine.methods.datasets.bayes_network.learning import learn
from engine.methods.datasets.bayes_network.shares import Shares
from tests.engine.methods.datasets.on_adult import adult, pairs_off
from tests.noise_source import seeded_noise


@pytest.mark.slow
def test_a_preview_of_adult():
    codes, sizes, ordered = adult()
    off, taken = {}, []
    for epsilon, seeds in ((Fraction(1), range(5)), (Fraction(4), range(2))):
        found = []
        for seed in seeds:
            start, noise = time.process_time(), seeded_noise(seed)
            network = learn(codes, Shares(sizes, epsilon, 1), ordered=ordered, noise=noise)
            drawn = network.rows(45_000, noise)
            taken.append(time.process_time() - start)
            found.append(pairs_off(codes, drawn, sizes))
        off[epsilon] = float(np.mean(found))
    print(f"pairs off by {off}, {np.median(taken):.2f} s")
    assert off[1] <= 0.046 and off[4] < off[1] and np.median(taken) <= 0.5


@pytest.mark.slow
def test_parents_by_correlation_are_less_exact_than_chosen_ones():
    codes, sizes, ordered = adult()
    found = []
    for seed in range(10):
        noise = seeded_noise(seed)
        shares = CorrelationShares(sizes, Fraction(1), 1, 45_000)
        drawn = learn(codes, shares, ordered=ordered, noise=noise).rows(45_000, noise)
        found.append(pairs_off(codes, drawn, sizes))
    print(f"pairs off by {np.mean(found):.4f}")
    assert 0.046 < np.mean(found) <= 0.060
