"""Reference values of dpmm for a table of invented rows: run by ``make.py`` in an environment of its own.

Adult in declared cells, ε = 1 and .2, δ = 10⁻⁹: its MST as it comes, on cells that are given to it, so that
it spends nothing on bounds. Printed are the mean total variation distance of pairs of columns and processor
time.
"""

import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from dpmm.models.mst import MSTGM

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.engine.methods.datasets.on_adult import adult, pairs_off

RUNS = {"1": (0, 1), "1/5": (0,)}


def measured(epsilon, seed):
    """Return how far pairs are off, and seconds of processor time of all processes."""
    codes, sizes, _ = adult()
    names = [f"c{place}" for place in range(len(sizes))]
    model = MSTGM(epsilon=epsilon, delta=1e-9)
    model.set_random_state(np.random.RandomState(seed))
    model.set_domain(dict(zip(names, map(int, sizes), strict=True)))
    before = sum(os.times()[:4])
    model.fit(pd.DataFrame(dict(zip(names, codes, strict=True))))
    made = model.generate(n_records=codes.shape[1])
    taken = sum(os.times()[:4]) - before
    return pairs_off(codes, made[names].to_numpy().T.astype(np.int64), sizes), taken


def main():
    """Print the reference values as JSON."""
    found = {}
    for level, seeds in RUNS.items():
        epsilon = 1.0 if level == "1" else 0.2
        runs = [measured(epsilon, seed) for seed in seeds]
        found[level] = {
            "pairs_off": [round(off, 5) for off, _ in runs],
            "seconds": [round(s, 1) for _, s in runs],
        }
    print(json.dumps({"mst": found, "machine": os.cpu_count(), "measured": time.strftime("%Y-%m-%d")}))


if __name__ == "__main__":
    main()
