"""Rows that other libraries invent on the tables of the league: run by ``make.py``, prints JSON.

MST and AIM of dpmm, on sixteen equal cells of each number and one cell for each of few whole numbers, which
are given to it, so that it spends nothing on them. Not a test. ::

    python tests/peers/league_rows.py [--seeds 2] [--epsilon 1] [--table visits]
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from league_tables import DELTA, EACH, GRID, Case, Measured, of_rows, peers_measured


def run_tables(case: Case, epsilon: float, seed: int, *, way: str) -> Measured:
    """Measure rows of a model of dpmm."""
    from dpmm.models.aim import AIMGM
    from dpmm.models.mst import MSTGM

    train, test = case.parted(seed)
    cells, sizes, widths = {}, {}, {}
    for name, ends in case.declared.items():
        if isinstance(ends[0], str):
            cells[name], sizes[name] = pd.Index(ends).get_indexer(train[name]), len(ends)
            continue
        low, high = map(float, ends)
        whole = train[name].dtype.kind == "i"
        sizes[name] = int(high - low) + 1 if whole and high - low < EACH else GRID
        widths[name] = (
            1.0 if sizes[name] != GRID or (whole and high - low == GRID - 1) else (high - low) / GRID
        )
        cells[name] = np.clip(((train[name] - low) / widths[name]).astype(int), 0, sizes[name] - 1)
    started = time.process_time()
    model = {"MST": MSTGM, "AIM": AIMGM}[way](epsilon=epsilon, delta=DELTA)
    model.set_random_state(np.random.RandomState(seed))
    model.set_domain(sizes)
    model.fit(pd.DataFrame(cells))
    codes = model.generate(n_records=len(train))
    taken, lots = time.process_time() - started, np.random.default_rng(seed)
    made = {}
    for name, ends in case.declared.items():
        if isinstance(ends[0], str):
            made[name] = np.array(ends, object)[codes[name]]
            continue
        inside = 0.0 if widths[name] == 1.0 else lots.random(len(codes))
        values = float(ends[0]) + (codes[name].to_numpy() + inside) * widths[name]
        made[name] = np.rint(values) if train[name].dtype.kind == "i" else values
    return of_rows(case, train, test, pd.DataFrame(made)) | {"seconds": taken}


def ways_of(case: Case) -> dict[tuple[str, str], Any]:
    """Return what measures a table, by kind of noise and name."""
    if not case.invents:
        return {}
    return {("δ 1e-6", f"dpmm {way}"): partial(run_tables, way=way) for way in ("MST", "AIM")}


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    peers_measured(ways_of)
