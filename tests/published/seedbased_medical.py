"""Tables 9.1, 9.3 and 9.4 of a thesis on rows from seeds, in shape, on simulated discharges of hospitals.

    python tests/published/seedbased_medical.py [--repetitions 1]

V. Bindschaedler, Privacy-preserving seedbased data synthesis, University of Illinois (2018), chapter 9. The
six million discharges may not be passed on. `records` simulates a quarter as many with the same 42 columns of
yes and no: sex, death, elective, birth, operation, and 37 kinds of cancer, few of which anybody has. Their
shares are as printed, and what belongs together is made by six kinds of stay that no column tells.
`seedbased_medical.md` holds what was printed. Table 9.2 needs no rows and is in `seedbased.py`.

A third of the rows are seeds, a third is kept for tests, and 100,000 of the others teach the models (ε = 1,
δ = 10⁻⁹; there without protection). Five components and an autoencoder of three dimensions, as there; noisy
tables of a network invent the rows that teach it: those of pairs took minutes for so many columns when this
was measured, and take six seconds now. The whole table has (1, 2⁻⁴⁰) by the test of bins (r = 2), there by
the weighted crowd.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.methods.datasets.latent_model.moments import Moments  # noqa: E402
from engine.methods.datasets.latent_model.projection import normal  # noqa: E402
from engine.methods.datasets.latent_model.teaching import (  # noqa: E402
    Autoencoder,
    Teaching,
)
from engine.methods.datasets.seeds.learning import NETWORK, Learning  # noqa: E402
from engine.methods.datasets.seeds.making import make_rows  # noqa: E402
from engine.methods.datasets.seeds.plan import plan_test  # noqa: E402
from engine.utility.games import advantages  # noqa: E402
from tests.noise_source import seeded_noise  # noqa: E402
from tests.published.seedbased import DELTA, EPSILON, LEVELS, Parts, distances, mean, told  # noqa: E402

ROWS, TEACH = 1_500_000, 100_000
SIZES = (2,) * 42
FEMALE, DIED, ELECTIVE, BIRTH, OPERATION, CANCERS = range(6)  # then 37 kinds of cancer
SHARES = (0.5766, 0.0191, 0.2205, 0.1007)
"""Of all stays: female, died, elective, born there; table 9.4, whose last two headings are exchanged."""
FOR_WOMEN, FOR_MEN = range(13, 17), range(18, 20)
"""Kinds of cancer, by their place among the 37: breast to ovary, prostate and testis."""
SECONDARY = 31


@dataclass(frozen=True)
class Stay:
    """A kind of stay: its share of all, the shares of the first five columns, and how often cancers come."""

    share: float
    female: float
    died: float
    elective: float
    birth: float
    operation: float
    cancer: float
    secondary: float


ALCOHOL = Stay(0.045, 0.2787, 0.0204, 0.0979, 0.0002, 0.05, 0.02, 0.2)
NAMED = (
    ALCOHOL,
    Stay(0.10, 0.49, 0.003, 0.02, 1.0, 0.01, 0.0, 0.0),  # births
    Stay(0.105, 1.0, 0.0001, 0.45, 0.0, 0.33, 0.001, 0.0),  # women who give birth
    Stay(0.12, 0.55, 0.004, 0.85, 0.0, 0.92, 0.10, 0.1),  # planned operations
    Stay(0.05, 0.52, 0.07, 0.35, 0.0, 0.28, 1.0, 0.45),  # cancer
)


def kinds():
    """Return all kinds of stay; the last makes the shares of all together those that were printed."""
    left = 1 - sum(one.share for one in NAMED)
    columns = ("female", "died", "elective", "birth")
    rest = [
        (share - sum(one.share * getattr(one, name) for one in NAMED)) / left
        for share, name in zip(SHARES, columns, strict=True)
    ]
    return (*NAMED, Stay(left, *rest, 0.18, 0.03, 0.2))


def records(n, seed, *, kind=None):
    """Return simulated stays, shape (42, n), of all kinds or of one."""
    chance = np.random.default_rng(seed)
    known = kinds() if kind is None else (kind,)
    weights = np.array([one.share for one in known])
    which = chance.choice(len(known), n, p=weights / weights.sum())
    found = np.zeros((42, n), dtype=np.int64)
    for place, name in enumerate(("female", "died", "elective", "birth", "operation")):
        found[place] = chance.random(n) < np.array([getattr(one, name) for one in known])[which]
    frequent = 1 / np.arange(1, 38)[np.random.default_rng(9).permutation(37)]
    for sex, never in ((1, FOR_MEN), (0, FOR_WOMEN)):
        own = frequent.copy()
        own[[*never, SECONDARY]] = 0
        people = np.flatnonzero(found[FEMALE] == sex)
        ill = people[chance.random(len(people)) < np.array([one.cancer for one in known])[which[people]]]
        found[CANCERS + chance.choice(37, len(ill), p=own / own.sum()), ill] = 1
        spread = chance.random(len(ill)) < np.array([one.secondary for one in known])[which[ill]]
        found[CANCERS + SECONDARY, ill[spread]] = 1
    return found


def parts(seed, *, rows=ROWS):
    """Return a third each of the rows: they are simulated in no order."""
    return Parts(*np.array_split(records(rows, seed), 3, axis=1))


def models(own, seed):
    """Return the two models of chapter 9, learnt with protection."""
    teach = own.model[:, :TEACH]
    people = teach.shape[1]
    source = Learning(NETWORK, SIZES, (0,) * 42, EPSILON, DELTA, people)
    return {
        "PCA-5": Moments(SIZES, EPSILON, DELTA, 5, people).learnt(teach, seeded_noise(seed)),
        "VAE-3": Teaching(source, 3).learnt(teach, seeded_noise(seed)),
    }


def test_of(rows, epsilon=1):
    """Return the test of a whole table of so many rows."""
    return plan_test(rows, epsilon=Fraction(epsilon), delta=Fraction(1, 2**40), ratio=Fraction(2))


def drawn(model, seeds, test, seed):
    """Return rows that passed, the first that were tried, shape (42, rows) each, and what was seen of it."""
    found = make_rows(model, np.ascontiguousarray(seeds.T), test, seeded_noise(seed))
    return found.rows.T, found.untested.T, found


def seedless(model, n, seed):
    """Return rows of points that are normal, with the mean and the spread of those that taught (6.3.3)."""
    noise = seeded_noise(seed)
    if not isinstance(model, Autoencoder):
        return model.alone(n, noise).T
    points = normal(noise, (n, 3)) * model.points.std(axis=0) + model.points.mean(axis=0)
    return model.drawn(model.decoded(points), noise).T


def table_9_1(own, learnt, seed, *, rows):
    """Return by table its distances, and how well the best of five classifiers tells it from people."""
    found = {"reals": own.model[:, :rows]}
    for name, model in learnt.items():
        found[f"PP {name}"], found[name], _ = drawn(model, own.seeds, test_of(rows), seed)
        found[f"{name}, without a seed"] = seedless(model, rows, seed)
    return {
        name: [*distances(own.test, codes, SIZES), max(advantages(own.test.T, codes.T).values())]
        for name, codes in found.items()
    }


def table_9_3(own, learnt, seed, *, rows):
    """Return by model its loss, and that of the test by level of the table, by the best classifier."""
    found = {}
    for name, model in learnt.items():
        line = []
        for level in LEVELS:
            passed, tried, _ = drawn(model, own.seeds, test_of(rows, level), seed)
            line = line or [max(advantages(own.test.T, tried.T).values())]
            line.append(max(advantages(tried.T, passed.T).values()))
        found[name] = line
    return found


def table_9_4(own, learnt, seed, *, rows, seeds=200_000):
    """Return how many of 10,000 are female, died, elective, born there: seeds are stays due to alcohol.

    No column says that a stay is due to alcohol.
    """
    group = records(seeds, seed + 1000, kind=ALCOHOL)
    lines = {"teach the models": own.model, "sub-population": group}
    for name, model in learnt.items():
        lines[f"PP {name}"], lines[name], _ = drawn(model, group, test_of(rows), seed)
    return {
        name: [10_000 * codes[one].mean() for one in (FEMALE, DIED, ELECTIVE, BIRTH)]
        for name, codes in lines.items()
    }


# --- printing -------------------------------------------------------------------------------------

PRINTED = {
    "9.1": {
        "reals": (0.0, 0.001, 0.001, 0.002, 0.0, 0.0, None),
        "PCA-5": (0.001, 0.002, 0.003, 0.006, 0.0, 0.0, None),
        "PP PCA-5": (0.002, 0.003, 0.006, 0.012, 0.001, 0.001, 0.05),
        "PCA-5, without a seed": (None, None, None, None, None, None, 0.24),
        "VAE-3": (0.001, 0.001, 0.003, 0.006, 0.0, 0.0, None),
        "PP VAE-3": (0.003, 0.007, 0.014, 0.026, 0.004, 0.01, None),
    },
    "9.3": {
        "PCA-5": (0.047, 0.099, 0.036, 0.022, 0.017, 0.012),
        "VAE-3": (0.064, 0.136, 0.053, 0.039, 0.035, 0.026),
    },
    "9.4": {
        "teach the models": (5766, 191, 2205, 1007),
        "sub-population": (2787, 204, 979, 2),
        "VAE-3": (2896, 206, 922, 9),
    },
}
HEADINGS = {
    "9.1": ("SD 1", "SD 2", "HEL 1", "HEL 2", "KL 1", "KL 2", "told apart"),
    "9.3": ("model", *(f"test, ε = {level}" for level in LEVELS)),
    "9.4": ("female", "died", "elective", "born there"),
}
FORMS = {"9.1": ".4f", "9.3": ".3f", "9.4": ".0f"}


def measured(seed):
    """Return all tables of one repetition."""
    own = parts(seed)
    learnt = models(own, seed)
    return {
        "9.1": table_9_1(own, learnt, seed, rows=10_000),
        "9.3": table_9_3(own, learnt, seed, rows=10_000),
        "9.4": table_9_4(own, learnt, seed, rows=10_000),
    }


def main():
    """Print the tables."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--repetitions", type=int, default=1)
    given = asked.parse_args()
    runs = [measured(seed) for seed in range(given.repetitions)]
    for name in FORMS:
        lines = mean([run[name] for run in runs])
        print(told(name, lines, HEADINGS[name], PRINTED[name], FORMS[name]))


if __name__ == "__main__":
    main()
