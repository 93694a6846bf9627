"""How near invented rows are, how long they take, how much memory: `invented_rows.md` holds what was printed.

    python tests/published/invented_rows.py [CASE ...]
    python tests/published/invented_rows.py lots

Adult in declared cells (45,000 × 14), its rows repeated to a million, and 46 columns more that are coarser or
noisy copies of the 14. Pairs: the mean total variation distance over all pairs of columns. Seconds are of
processor time, learning and drawing as many rows; every case runs in a process of its own with one thread,
which tells its peak memory. Area: of boosted trees that learn the income from invented rows, tested on 3,842
people who had no part. Where numbers are declared by their bounds alone, the trees learn from invented values
and are tested on values; pairs are counted in the same cells as elsewhere.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.methods.catalogue import method  # noqa: E402
from engine.methods.datasets.bayes_network.learning import learn as network  # noqa: E402
from engine.methods.datasets.bayes_network.shares import Shares  # noqa: E402
from engine.methods.datasets.marginal_model.rounds import learn  # noqa: E402
from engine.methods.datasets.marginal_model.sampling import CODE, rows_of  # noqa: E402
from engine.methods.datasets.marginal_model.schedule import Schedule  # noqa: E402
from engine.methods.protocol import Budget, Context  # noqa: E402
from engine.table.schema import Kind, Schema  # noqa: E402
from engine.table.table import Table  # noqa: E402
from tests.engine.methods.datasets.on_adult import DATA, EDGES, FINER, adult, pairs_off  # noqa: E402
from tests.engine.methods.datasets.test_seedbased import declared  # noqa: E402
from tests.noise_source import seeded_noise  # noqa: E402

MODULE, INCOME = "tests.published.invented_rows", 13
SMALL = Fraction(1, 10**9)
BOUNDS = {
    "age": (17, 90),
    "education_num": (1, 16),
    "capital_gain": (0, 99_999),
    "capital_loss": (0, 5_000),
    "hours_per_week": (1, 99),
}
LOTS = (1, 2, 3, 4, 6, 7, 8, 105, 106, 107)
"""By which people are divided into those who are learnt from and those who are not."""
CUT = {"edges": EDGES, "finer edges": FINER}
CASES = {  # table, ε, δ, repetitions, goals: pairs, seconds, megabytes
    "Adult, ε = 1": ("adult", "1", SMALL, 5, (0.0255, 4, None)),
    "Adult, finer amounts, ε = 1": ("finer", "1", SMALL, 5, (0.0255, 4, None)),
    "Adult, bounds alone, ε = 1": ("bounds", "1", SMALL, 5, (None, None, None)),
    "Adult, frequent values, ε = 1": ("frequent", "1", SMALL, 5, (None, None, None)),
    "Adult, ε = 1/5": ("adult", "1/5", SMALL, 5, (0.050, 4, None)),
    "Adult, ε = 4": ("adult", "4", SMALL, 5, (0.017, 8, None)),
    "Adult, ε = 1, no δ": ("adult", "1", Fraction(0), 5, (0.031, 5, None)),
    "Adult, network, ε = 1, no δ": ("network", "1", Fraction(0), 5, (0.046, 0.5, None)),
    "a million rows, ε = 1": ("million", "1", SMALL, 5, (0.0185, 8, 400)),
    "60 columns, ε = 1": ("wide", "1", SMALL, 5, (0.030, 14, None)),
}


def table(kind):
    """Return cells, as releases keep them, how many there are, and how many have an order."""
    codes, sizes, ordered = adult(finer=kind == "finer")
    codes = codes.astype(CODE)
    chance = np.random.default_rng(6)
    if kind == "million":
        return codes[:, chance.integers(0, codes.shape[1], 10**6)], sizes, ordered
    if kind != "wide":
        return codes, sizes, ordered
    more, cells = [], []
    for place in range(46):
        own, size = codes[place % 14], sizes[place % 14]
        if place % 2:
            size = max(2, size // 2)
            own = own * size // sizes[place % 14]
        else:
            own = np.where(chance.random(own.size) < 0.3, chance.integers(0, size, own.size), own)
        more.append(own)
        cells.append(size)
    return np.vstack([codes, more]).astype(CODE), (*sizes, *cells), (*ordered, *[0] * 46)


def invented(kind, codes, sizes, ordered, *, epsilon, delta, seed):
    """Return as many invented rows."""
    noise, rows = seeded_noise(seed), codes.shape[1]
    if kind == "network":
        return network(codes, Shares(sizes, Fraction(epsilon), 1), ordered=ordered, noise=noise).rows(
            rows, noise
        )
    plan = Schedule(sizes, Fraction(epsilon), delta, 1, 1, rows).borne_out()
    return rows_of(learn(codes, plan, ordered=ordered, noise=noise).model, rows, noise)


def within(low, high, inner):
    """Return declared edges from bound to bound."""
    return [low, *(edge for edge in inner if low < edge < high), high]


def by_bounds(frame, *, kind, epsilon, delta, seed):
    """Return as many invented rows of values: bounds and names are declared, and edges for some kinds."""
    columns = []
    for name in frame:
        if name in BOUNDS:
            low, high = BOUNDS[name]
            columns.append(declared(name, Kind.INTEGER, minimum=Fraction(low), maximum=Fraction(high)))
        else:
            columns.append(declared(name, Kind.CATEGORY, values=tuple(sorted(set(frame[name])))))
    given = {"columns": list(frame), "about_rows": len(frame), "rows": len(frame), "noise": "gaussian"}
    if kind in CUT:
        given["edges"] = {name: within(*BOUNDS[name], inner) for name, inner in CUT[kind].items()}
    marginals = method("datasets.marginals")
    request = marginals.make_request(
        {"people": Schema(tuple(columns))},
        given | {"frequent": kind == "frequent"},
        budget=Budget(Fraction(epsilon), delta),
    )
    context = Context(seeded_noise(seed), None, ROOT)
    made = marginals(request).run({"people": Table(frame)}, context).artefacts[0].frame
    return made.assign(**{name: pd.to_numeric(made[name]) for name in BOUNDS})


def area_of_values(frame, made, tried):
    """Return the area of boosted trees that learn from invented values, with names numbered as of people."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    names = {name: sorted(set(frame[name])) for name in frame if name not in BOUNDS}

    def numbered(rows):
        own = {name: pd.Index(values).get_indexer(rows[name]) for name, values in names.items()}
        return rows.assign(**own).drop(columns="income"), own["income"]

    learning, trying = numbered(made[made["income"].isin(names["income"])]), numbered(tried)
    model = HistGradientBoostingClassifier(max_iter=100, random_state=0).fit(*learning)
    return float(roc_auc_score(trying[1], model.predict_proba(trying[0])[:, 1]))


def measured_values(name, split=5):
    """Return one case of values: pairs in the declared cells of the other cases, and the area on values.

    Parameters
    ----------
    split
        By which lot the people are divided who are learnt from and who are not.
    """
    kind, epsilon, delta, repetitions, _ = CASES.get(name) or (name, "1", SMALL, 2, ())
    rows = pd.read_csv(DATA, keep_default_na=False).drop(columns="fnlwgt")
    rows = rows.iloc[np.random.default_rng(split).permutation(len(rows))].reset_index(drop=True)
    frame, tried = rows[:45_000], rows[45_000:]
    off, seconds, areas = [], [], []
    for seed in range(repetitions):
        began = time.process_time()
        made = by_bounds(frame, kind=kind, epsilon=epsilon, delta=delta, seed=seed)
        seconds.append(time.process_time() - began)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        off.append(pairs_off(*(in_cells(one, frame) for one in (frame, made)), cells_beside(frame)))
        areas.append(area_of_values(frame, made, tried))
    found = {
        "pairs": float(np.mean(off)),
        "seconds": float(np.median(seconds)),
        "area": float(np.mean(areas)),
    }
    errors = {"pairs": float(np.std(off, ddof=1)), "area": float(np.std(areas, ddof=1))}
    return found | {"megabytes": peak, "people": area_of_values(frame, frame, tried), "errors": errors}


def in_cells(rows, frame):
    """Return the declared cells of values: what is missing or was not declared has a cell of its own."""
    found = []
    for name in frame:
        if name in EDGES:
            cells = np.searchsorted(np.array(EDGES[name]), rows[name], side="right")
            found.append(np.where(rows[name].isna(), len(EDGES[name]) + 1, cells))
        else:
            values = sorted(set(frame[name]))
            own = pd.Index(values).get_indexer(rows[name])
            found.append(np.where(own < 0, len(values), own))
    return np.array(found)


def cells_beside(frame):
    """Return how many cells every column has in `in_cells`."""
    return tuple(len(EDGES[name]) + 2 if name in EDGES else len(set(frame[name])) + 1 for name in frame)


def area(made, *, finer=False):
    """Return the area under the curve of boosted trees that learnt the income from invented rows.

    Parameters
    ----------
    made
        Cells, shape (14, n).
    finer
        Whether they are those of finer amounts.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    everybody = adult(48_842, finer=finer)[0][:, 45_000:]
    x, tried = (np.delete(codes, INCOME, axis=0).T for codes in (made, everybody))
    model = HistGradientBoostingClassifier(max_iter=100, random_state=0).fit(x, made[INCOME])
    return float(roc_auc_score(everybody[INCOME], model.predict_proba(tried)[:, 1]))


def measured(name):
    """Return one case: pairs, seconds, the area where there is one, and peak megabytes."""
    kind, epsilon, delta, repetitions, _ = CASES[name]
    if kind in ("bounds", "frequent"):
        return measured_values(name)
    codes, sizes, ordered = table(kind)
    off, seconds, areas, peaks = [], [], [], []
    for seed in range(repetitions):
        began = time.process_time()
        made = invented(kind, codes, sizes, ordered, epsilon=epsilon, delta=delta, seed=seed)
        seconds.append(time.process_time() - began)
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        off.append(pairs_off(codes, made, sizes))
        if kind in ("adult", "finer", "network"):
            areas.append(area(made, finer=kind == "finer"))
    return {
        "pairs": float(np.mean(off)),
        "seconds": float(np.median(seconds)),
        "area": float(np.mean(areas)) if areas else None,
        "megabytes": peaks[0],  # before anything else was measured
    }


def lots():
    """Print the area on values over several lots: it depends on who is tried more than on the noise."""
    print(
        "| lot | people |" + "".join(f" {kind} |" for kind in CUT) + "\n|---" + "|---" * (1 + len(CUT)) + "|"
    )
    found = []
    for lot in LOTS:
        cases = [measured_values(kind, lot) for kind in CUT]
        found.append([cases[0]["people"], *(one["area"] for one in cases)])
        print(f"| {lot} | " + " | ".join(f"{area:.4f}" for area in found[-1]) + " |", flush=True)
    print("| mean | " + " | ".join(f"{area:.4f}" for area in np.mean(found, axis=0)) + " |")


def main(names):
    """Print every case beside its goal."""
    alone = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    print("| case | pairs | goal | seconds | goal | area | megabytes | goal |\n" + "|---" * 8 + "|")
    for name in names or CASES:
        goals = ["" if goal is None else f"{goal:g}" for goal in CASES[name][4]]
        code = f"import json; from {MODULE} import measured; print(json.dumps(measured({name!r})))"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=alone, capture_output=True, text=True, check=True
        )
        found = json.loads(done.stdout)
        right = "" if found["area"] is None else f"{found['area']:.4f}"
        cells = (f"{found['pairs']:.4f}", goals[0], f"{found['seconds']:.2f}", goals[1], right)
        print(f"| {name} | " + " | ".join((*cells, f"{found['megabytes']:.0f}", goals[2])) + " |", flush=True)


if __name__ == "__main__":
    lots() if sys.argv[1:] == ["lots"] else main(sys.argv[1:])
