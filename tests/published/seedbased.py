"""Tables 8.3 to 8.5 and 9.1 to 9.4 of a thesis on rows from seeds, in shape, on Adult.

    python tests/published/seedbased.py [--repetitions 3]

V. Bindschaedler, Privacy-preserving seedbased data synthesis, University of Illinois (2018), chapters 8, 9.
The census of 1,494,974 rows and the discharges of six million cannot be passed on: the 48,842 rows of Adult
take their place, so that patterns are compared, not digits. `seedbased.md` holds what was printed. Chapter 9
is done again on simulated discharges by `seedbased_medical.py`.

A third of the rows teaches the model (ε = 1, δ = 10⁻⁹), a third are seeds, a third is kept for tests. Adult
has 14 columns in place of 11: as many are kept of a seed as there, so that ω = 14, 13, 12, 12–14 and 8–14
stand for 11, 10, 9, 9–11 and 5–11. The test of the census: k = 50, ε₀ = 1, r = 4, t = 29.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.methods.datasets.latent_model.moments import Moments  # noqa: E402
from engine.methods.datasets.seeds.learning import COLUMNS, PAIRS, Learning  # noqa: E402
from engine.methods.datasets.seeds.making import make_rows  # noqa: E402
from engine.methods.datasets.seeds.plan import plan_test  # noqa: E402
from engine.privacy.mechanisms import SeededRows  # noqa: E402
from engine.utility.games import advantages, indicators  # noqa: E402
from tests.engine.methods.datasets.on_adult import adult  # noqa: E402
from tests.noise_source import seeded_noise  # noqa: E402

ROWS = 48_842
AGE, MARITAL, RELATIONSHIP, SEX, INCOME = 0, 4, 6, 8, 13
SIXTY = 9  # the first cell of ages from 60
EPSILON, DELTA = Fraction(1), Fraction(1, 10**9)
OMEGAS = {"ω=14": (14, 14), "ω=13": (13, 13), "ω=12": (12, 12), "ω=12–14": (12, 14), "ω=8–14": (8, 14)}
LEVELS = ("1/2", "1", "2", "4", "8")
LAMBDAS = (1e-3, 1e-4, 1e-5, 1e-6)


@dataclass(frozen=True)
class Parts:
    """A third each of the rows, shape (columns, n)."""

    model: np.ndarray
    seeds: np.ndarray
    test: np.ndarray


def parts(seed, *, rows=ROWS):
    """Divide the rows by lot."""
    codes = adult(ROWS)[0]
    mixed = np.random.default_rng(seed).permutation(ROWS)[:rows]
    return Parts(*(codes[:, part] for part in np.array_split(mixed, 3)))


def learnt(kind, own, seed):
    """Learn a model from its part."""
    _, sizes, ordered = adult(ROWS)
    found = Learning(kind, sizes, ordered, EPSILON, DELTA, own.model.shape[1])
    return found.learnt(own.model, seeded_noise(seed))


def drawn(model, seeds, omega, test, seed):
    """Return rows that passed and the first that were tried, shape (columns, n) each."""
    order, back = list(model.order), np.argsort(model.order)
    starts = np.ascontiguousarray(seeds[order].T)
    found = make_rows(model.model(fewest=omega[0], most=omega[1]), starts, test, seeded_noise(seed))
    return found.rows.T[back], found.untested.T[back]


def census_test(rows):
    """The test of chapter 8: (1.13, 7.6e-10) for one row, and nothing of the kind for a table."""
    return SeededRows(50, 29, Fraction(1), Fraction(4), Fraction(1, 20), Fraction(0), count=rows)


def tables(own, seed, *, rows, omegas=OMEGAS):
    """Return by name the tables that chapter 8 compares, shape (columns, rows)."""
    test, pairs = census_test(rows), learnt(PAIRS, own, seed)
    found = {"reals": own.model[:, :rows]}
    found["marginals"] = drawn(learnt(COLUMNS, own, seed), own.seeds, (14, 14), test, seed)[0]
    for name, omega in omegas.items():
        found[name] = drawn(pairs, own.seeds, omega, test, seed)[0]
    return found


# --- tables 8.3 to 8.5 ----------------------------------------------------------------------------


def split(codes):
    """Return what tells the income, and the income."""
    return np.delete(codes, INCOME, axis=0).T, codes[INCOME]


def classifiers(seed):
    """Tree, forest and boosted stumps, as in chapter 8."""
    from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    return {
        "tree": DecisionTreeClassifier(min_samples_leaf=10, random_state=seed),
        "forest": RandomForestClassifier(50, random_state=seed),
        "boosted": AdaBoostClassifier(random_state=seed),
    }


def table_8_3(found, own, seed):
    """Return by table the accuracies and the agreement rates: with those of other real rows."""
    x, truth = split(own.test)
    said = {
        name: [model.fit(*split(codes)).predict(x) for model in classifiers(seed).values()]
        for name, codes in {**found, "others": own.seeds}.items()
    }
    return {
        name: [
            *(100 * (one == truth).mean() for one in said[name]),
            *(100 * (one == other).mean() for one, other in zip(said[name], said["others"], strict=True)),
        ]
        for name in found
    }


def features(codes, fitted):
    """Zeros and ones, each row of length 1 at most."""
    return indicators(split(fitted)[0], [split(codes)[0]])[0] / np.sqrt(13)


def losses(margins, kind):
    """Return the loss of each margin and its derivative: logistic, or Huber's with h = ½."""
    if kind == "regression":
        return np.logaddexp(0, -margins), -1 / (1 + np.exp(np.clip(margins, -500, 500)))
    near = np.abs(1 - margins) <= 0.5
    value = np.where(margins > 1.5, 0, np.where(near, (1.5 - margins) ** 2 / 2, 1 - margins))
    return value, np.where(margins > 1.5, 0, np.where(near, -(1.5 - margins), -1))


def fitted(x, y, kind, weight, pull=0.0, shift=None):
    """Return the weights that are least: mean loss, ½ λ |w|², and what objective perturbation adds."""
    from scipy.optimize import minimize

    n, signs = len(y), 2 * y - 1
    extra = np.zeros(x.shape[1]) if shift is None else shift

    def objective(w):
        value, slope = losses(signs * (x @ w), kind)
        penalty = (weight + pull) / 2 * (w @ w) + extra @ w / n
        return value.mean() + penalty, x.T @ (signs * slope) / n + (weight + pull) * w + extra / n

    return minimize(objective, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x


def table_8_4(found, own, seed):
    """Return by line the accuracies of regression and support vectors; λ by the line without privacy."""
    chance = np.random.default_rng(seed)
    x, y = features(own.model, own.model), own.model[INCOME]
    tried, truth = features(own.test, own.model), own.test[INCOME]
    n, d = x.shape

    def right(w):
        return 100 * ((tried @ w > 0) == truth).mean()

    def noise(scale):
        direction = chance.normal(size=d)
        return chance.gamma(d, scale) * direction / np.linalg.norm(direction)

    lines = {name: [] for name in ("not private", "output perturbed", "objective perturbed", *found)}
    for kind, curve in (("regression", 0.25), ("vectors", 1.0)):
        best = max((right(w), weight, w) for weight in LAMBDAS for w in [fitted(x, y, kind, weight)])
        lines["not private"].append(best[0])
        perturbed, objective = [], []
        for weight in LAMBDAS:
            perturbed.append(right(fitted(x, y, kind, weight) + noise(2 / (n * weight * float(EPSILON)))))
            level = float(EPSILON) - np.log(1 + 2 * curve / (n * weight) + (curve / (n * weight)) ** 2)
            pull = 0.0 if level > 0 else curve / (n * np.expm1(float(EPSILON) / 4)) - weight
            level = level if level > 0 else float(EPSILON) / 2
            objective.append(right(fitted(x, y, kind, weight, pull, noise(2 / level))))
        lines["output perturbed"].append(max(perturbed))
        lines["objective perturbed"].append(max(objective))
        for name, codes in found.items():
            w = fitted(features(codes, own.model), codes[INCOME], kind, best[1])
            lines[name].append(right(w))
    return lines


def table_8_5(found, own):
    """Return by table how often the best tree and the best of all five tell it from people, in per cent."""
    told = {name: advantages(own.test.T, codes.T) for name, codes in found.items()}
    return {
        name: [50 + 50 * one["tree"], 50 + 50 * one["boosted"], 50 + 50 * max(one.values())]
        for name, one in told.items()
    }


# --- tables 9.1 to 9.4 ----------------------------------------------------------------------------


def distances(real, codes, sizes):
    """Return mean SD, Hellinger distance and KL of single columns and of pairs (KL: 10⁻⁴ more each)."""
    lines = []
    for width in (1, 2):
        each = []
        for columns in combinations(range(len(sizes)), width):
            size = int(np.prod([sizes[one] for one in columns]))
            p, q = (
                np.bincount(
                    np.ravel_multi_index(one[list(columns)], [sizes[c] for c in columns]), minlength=size
                )
                / one.shape[1]
                for one in (real, codes)
            )
            smooth_p, smooth_q = ((one + 1e-4) / (one + 1e-4).sum() for one in (p, q))
            hellinger = np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2)
            each.append((np.abs(p - q).sum() / 2, hellinger, (smooth_p * np.log(smooth_p / smooth_q)).sum()))
        lines.append(np.mean(each, axis=0))
    return [value for pair in zip(*lines, strict=True) for value in pair]


def table_9_1(own, seed, *, rows):
    """Return by table its distances: people, the pairs model and principal components, tested and not."""
    _, sizes, _ = adult(ROWS)
    test = plan_test(rows, epsilon=Fraction(4), delta=Fraction(1, 2**40), ratio=Fraction(1))
    found = {"reals": own.model[:, :rows]}
    found["pairs, tested"], found["pairs"] = drawn(learnt(PAIRS, own, seed), own.seeds, (8, 14), test, seed)
    test = plan_test(rows, epsilon=Fraction(4), delta=Fraction(1, 2**40), ratio=Fraction(2))
    axes = Moments(sizes, EPSILON, DELTA, 5, own.model.shape[1]).learnt(own.model, seeded_noise(seed))
    found["components, tested"], found["components"] = drawn(axes, own.seeds, (14, 14), test, seed)
    return {name: distances(own.test, codes, sizes) for name, codes in found.items()}


def table_9_2():
    """Return by number of rows the planned k, t and ε₀ of (1, 2⁻⁴⁰) over all of them."""
    found = {}
    for rows in (250, 1250, 2500, 5000, 7500, 10_000, 12_500):
        test = plan_test(rows, epsilon=Fraction(1), delta=Fraction(1, 2**40), ratio=Fraction(1))
        found[f"{rows:,}"] = [test.threshold, test.least, float(test.rate)]
    return found


def table_9_3(own, seed, *, rows):
    """Return the loss of the model, and that of the test by level of the table, by the best classifier."""
    pairs = learnt(PAIRS, own, seed)
    found = []
    for level in LEVELS:
        test = plan_test(rows, epsilon=Fraction(level), delta=Fraction(1, 2**40), ratio=Fraction(1))
        passed, tried = drawn(pairs, own.seeds, (8, 14), test, seed)
        if not found:
            found.append(max(advantages(own.test.T, tried.T).values()))
        found.append(max(advantages(tried.T, passed.T).values()))
    return {"pairs": found}


def table_9_4(own, seed, *, rows):
    """Return how many of 10,000 are women, earn more than 50,000 and are above 60: seeds are the divorced.

    Whether somebody is divorced is in no column that the model knows of.
    """
    _, sizes, ordered = adult(ROWS)
    left = [one for one in range(14) if one not in (MARITAL, RELATIONSHIP)]
    cells, order = tuple(sizes[one] for one in left), tuple(ordered[one] for one in left)
    people, teach, noise = own.model.shape[1], own.model[left], seeded_noise(seed)
    pairs = Learning(PAIRS, cells, order, EPSILON, DELTA, people).learnt(teach, noise)
    axes = Moments(cells, EPSILON, DELTA, 3, people).learnt(teach, noise)
    divorced = own.seeds[:, own.seeds[MARITAL] == 0][left]
    lines = {
        "teach the model": teach,
        "divorced, the seeds": divorced,
        "by pairs, 8 of 12 drawn": drawn(pairs, divorced, (8, 8), census_test(rows), seed)[0],
        "by 3 components": drawn(axes, divorced, (12, 12), census_test(rows), seed)[0],
    }
    sex, income, age = (left.index(one) for one in (SEX, INCOME, AGE))
    return {
        name: [10_000 * share.mean() for share in (codes[sex] == 0, codes[income] == 1, codes[age] >= SIXTY)]
        for name, codes in lines.items()
    }


# --- printing -------------------------------------------------------------------------------------

PRINTED = {
    "8.3": {
        "reals": (77.8, 80.4, 79.3, 80.2, 86.4, 92.4),
        "marginals": (57.9, 63.8, 69.2, 58.5, 65.4, 75.6),
        "ω=14": (72.4, 75.3, 78.0, 73.9, 79.0, 83.0),
        "ω=13": (72.3, 75.2, 78.1, 73.8, 78.9, 83.6),
        "ω=12": (72.4, 75.2, 77.5, 73.9, 79.2, 82.4),
        "ω=12–14": (72.3, 75.2, 78.1, 73.7, 79.0, 83.9),
        "ω=8–14": (72.1, 75.2, 78.1, 73.6, 79.2, 83.3),
    },
    "8.4": {
        "not private": (79.9, 78.5),
        "output perturbed": (69.7, 76.2),
        "objective perturbed": (76.3, 78.2),
        "marginals": (68.9, 68.9),
        "ω=14": (77.6, 77.2),
        "ω=13": (77.7, 77.1),
        "ω=12": (77.5, 77.1),
        "ω=12–14": (77.5, 76.9),
        "ω=8–14": (77.7, 77.3),
    },
    "8.5": {
        "reals": (50, None, 50),
        "marginals": (73.2, None, 79.8),
        "ω=14": (58.9, None, 62.3),
        "ω=13": (58.6, None, 61.8),
        "ω=12": (59.8, None, 63.0),
        "ω=12–14": (57.9, None, 60.1),
        "ω=8–14": (58.4, None, 61.4),
    },
    "9.2": {
        "250": (5500, 900, 0.0072),
        "1,250": (12_800, 1700, 0.0031),
        "2,500": (18_400, 2400, 0.0022),
        "5,000": (26_500, 3300, 0.0016),
        "7,500": (32_700, 5000, 0.0013),
        "10,000": (38_000, 5800, 0.0011),
        "12,500": (42_700, 5600, 0.0010),
    },
    "9.3": {"pairs": (0.047, 0.099, 0.036, 0.022, 0.017, 0.012)},
}
HEADINGS = {
    "8.3": ("tree", "forest", "boosted", "agree: tree", "forest", "boosted"),
    "8.4": ("regression", "support vectors"),
    "8.5": ("tree", "boosted trees", "best of five"),
    "9.1": ("SD 1", "SD 2", "HEL 1", "HEL 2", "KL 1", "KL 2"),
    "9.2": ("k", "t", "ε₀"),
    "9.3": ("model", *(f"test, ε = {level}" for level in LEVELS)),
    "9.4": ("women", "above 50,000", "above 60 years"),
}


def told(name, lines, headings, printed, form):
    """Return a table as Markdown, the printed figures below each line that has some."""
    rows = [f"## Table {name}", "", "| | " + " | ".join(headings) + " |"]
    rows.append("|---" * (len(headings) + 1) + "|")
    for line, values in lines.items():
        rows.append(f"| {line} | " + " | ".join(f"{value:{form}}" for value in values) + " |")
        if line in printed:
            cells = ("" if value is None else f"{value:g}" for value in printed[line])
            rows.append("| printed | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def mean(found):
    """Return the means over repetitions, line by line."""
    return {line: np.mean([one[line] for one in found], axis=0) for line in found[0]}


@cache
def measured(seed):
    """Return all tables of one repetition."""
    own = parts(seed)
    found = tables(own, seed, rows=10_000)
    return {
        "8.3": table_8_3(found, own, seed),
        "8.4": table_8_4(found, own, seed),
        "8.5": table_8_5(found, own),
        "9.1": table_9_1(own, seed, rows=1000),
        "9.3": table_9_3(own, seed, rows=1000),
        "9.4": table_9_4(own, seed, rows=2000),
    }


def main():
    """Print the tables."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--repetitions", type=int, default=3)
    given = asked.parse_args()
    runs = [measured(seed) for seed in range(given.repetitions)]
    whole = {name: mean([run[name] for run in runs]) for name in runs[0]} | {"9.2": table_9_2()}
    for name in sorted(whole):
        form = {"9.2": ".5g", "9.4": ".0f"}.get(name, ".1f" if name < "9" else ".4f")
        print(told(name, whole[name], HEADINGS[name], PRINTED.get(name, {}), form))


if __name__ == "__main__":
    main()
