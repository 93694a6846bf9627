"""A table as large as Adult from a network, in a moment."""

import time
from fractions import Fraction

import numpy as np
import pytest

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
