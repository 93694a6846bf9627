"""Which share of the rows is from the model alone, as far as what leaves tells it: no seed is read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine import arrays
from engine.methods.datasets.seeds.making import score
from engine.methods.datasets.seeds.models import SeedModel
from engine.privacy.mechanisms.seeded_rows import SeededRows
from engine.privacy.noise import Noise

Codes = arrays.Integers

TRIES = 512


def share_alone(model: SeedModel, released: Codes, seeds: int, test: SeededRows, noise: Noise) -> float:
    """Return roughly which share of the rows that leave no seed has a part in.

    Parameters
    ----------
    model
        Paid for, or learnt from nobody.
    released
        The rows that leave, shape (rows, columns), as the model made them.
    seeds
        How many there are, from declarations.
    test
        The declared test.
    noise
        The noise door.

    Notes
    -----
    The rows that leave stand for the seeds, and are put to the same test: each crowd without the row's own
    pretended seed, times how many seeds there are for each row that leaves. Where a share p of the tries
    passes, and q tries from the model alone stand beside each seed, q / (q + p) of the rows are from the
    model alone. It reads what leaves and declarations. What left had passed, and few
    rows stand for many seeds, so that it may be off by some thirty points either way.
    """
    tries = min(TRIES, model.batch(released))
    of = released[noise.uniform_below(len(released), tries)]
    crowd = model.crowds(released)(model.made(of, noise), of)
    counts, own = np.array(crowd.counts, dtype=np.float64), (np.arange(tries), crowd.own)
    counts[own] -= 1
    counts *= max(seeds - 1, 0) / max(len(released) - 1, 1)
    counts[own] += 1
    scores = score(replace(crowd, counts=np.floor(counts).astype(np.int64)), test)
    passing = sum(test.chance(int(one)) for one in scores) / tries
    return float(test.alone) / (float(test.alone) + passing)
