"""Reference values of dpmm for a table of invented rows: run by ``make.py`` in an environment of its own.

Adult in declared cells, ε = 1 (five times) and .2 (three times), δ = 10⁻⁹: its MST as it comes, on cells that
are given to it, so that it spends nothing on bounds, and beside it, one after the other in the same process,
the tables of `datasets.marginals`. Printed are the mean total variation distance of pairs of columns and
processor time.
"""

import json
import os
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
from dpmm.models.mst import MSTGM

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.engine.methods.datasets.on_adult import adult, pairs_off
from tests.published.invented_rows import SMALL, invented

REPETITIONS = {"1": 5, "1/5": 3}


def mst(epsilon, seed):
    """Return invented cells of dpmm."""
    codes, sizes, _ = adult()
    names = [f"c{place}" for place in range(len(sizes))]
    model = MSTGM(epsilon=float(Fraction(epsilon)), delta=float(SMALL))
    model.set_random_state(np.random.RandomState(seed))
    model.set_domain(dict(zip(names, map(int, sizes), strict=True)))
    model.fit(pd.DataFrame(dict(zip(names, codes, strict=True))))
    return model.generate(n_records=codes.shape[1])[names].to_numpy().T.astype(np.int64)


def marginals(epsilon, seed):
    """Return invented cells of the program."""
    return invented("adult", *adult(), epsilon=epsilon, delta=SMALL, seed=seed)


def measured(way, epsilon, seed):
    """Return how far pairs are off, and seconds of processor time of all threads and processes."""
    codes, sizes, _ = adult()
    before = sum(os.times()[:4])
    made = way(epsilon, seed)
    taken = sum(os.times()[:4]) - before
    found = round(pairs_off(codes, made, sizes), 5), round(taken, 2)
    print(way.__name__, epsilon, seed, *found, file=sys.stderr, flush=True)
    return found


def main():
    """Print the reference values as JSON."""
    found = {"mst": {}, "marginals": {}}
    for level, repetitions in REPETITIONS.items():
        runs = {way: [] for way in (mst, marginals)}
        for seed in range(repetitions):
            for way, own in runs.items():
                own.append(measured(way, level, seed))
        for way, own in runs.items():
            off, seconds = zip(*own, strict=True)
            found[way.__name__][level] = {"pairs_off": off, "seconds": seconds}
    print(json.dumps(found | {"machine": os.cpu_count(), "measured": time.strftime("%Y-%m-%d")}))


if __name__ == "__main__":
    main()
