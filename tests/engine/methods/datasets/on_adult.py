"""All rows of Adult in declared cells, and how far pairs of columns of an invented table are off."""

from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

DATA = Path(__file__).parents[3] / "data" / "adult.csv.gz"
AMOUNTS = (1, 1000, 2000, 3000, 4000, 5000, 7500, 10_000, 15_000, 20_000, 50_000)
EDGES = {
    "age": range(20, 95, 5),
    "hours_per_week": range(5, 105, 5),
    "education_num": range(2, 17),
    "capital_gain": AMOUNTS,
    "capital_loss": AMOUNTS,
}
FINER = EDGES | {
    "capital_gain": (1, *range(500, 10_001, 500), 15_000, 20_000, 30_000, 50_000),
    "capital_loss": (1, *range(200, 4_401, 200)),
}
"""With amounts in steps of 500 and 200 dollars: what people earn depends on small differences of them."""


@cache
def adult(n=45_000, *, finer=False):
    """Return cells, shape (14, n), how many there are of each column, and how many have an order."""
    cut = FINER if finer else EDGES
    rows = pd.read_csv(DATA).drop(columns="fnlwgt")
    rows = rows.iloc[np.random.default_rng(5).permutation(len(rows))[:n]]
    codes, sizes, ordered = [], [], []
    for name in rows:
        if name in cut:
            edges = np.array(cut[name])
            codes.append(np.searchsorted(edges, rows[name], side="right"))
            sizes.append(len(edges) + 1)
            ordered.append(len(edges) + 1)
        else:
            found, values = pd.factorize(rows[name].astype(str), sort=True)
            codes.append(found)
            sizes.append(len(values))
            ordered.append(0)
    return np.array(codes), tuple(sizes), tuple(ordered)


def pairs_off(real, made, sizes):
    """Return the mean total variation distance over all pairs of columns."""
    found = []
    for one, other in combinations(range(len(sizes)), 2):
        shares = [
            np.bincount(codes[one] * sizes[other] + codes[other], minlength=sizes[one] * sizes[other])
            / codes.shape[1]
            for codes in (real, made)
        ]
        found.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(found))
