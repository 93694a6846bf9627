"""How invented rows from bell curves serve models: `gaussians.md` holds what was printed.

    python tests/published/gaussians.py

The case study of "Privacy-preserving machine learning" (2023), section 6.4, in shape: in scenario 1 a model
learns from original rows (70 %) and is tested on rows invented from the others; in scenario 2 it learns from
rows that were invented from 80 % and is tested on the others. Two tables of numbers with two classes: breast
cancer (569 rows, eight of its columns, from scikit-learn) and white wine (4,898 rows, 11 columns). Bounds are
round numbers about what such quantities are, set by hand.

Area: of logistic regression and of boosted trees, means of three divisions. Relations: the mean difference of
correlations from those of the rows that were held out. Share: the Kolmogorov distance of single columns.
"""

from __future__ import annotations

import sys
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.methods.catalogue import method  # noqa: E402
from engine.methods.protocol import Budget, Context  # noqa: E402
from engine.table.schema import Kind, Schema  # noqa: E402
from engine.table.table import Table  # noqa: E402
from tests.engine.methods.datasets.test_seedbased import declared  # noqa: E402
from tests.noise_source import seeded_noise  # noqa: E402

REPETITIONS = 3
SMALL = Fraction(1, 10**6)
OWN, OTHER = "datasets.gaussians", "datasets.marginals"
CASES = (
    *((OWN, "laplace", epsilon, 50) for epsilon in ("2/5", 1, 4, 20)),
    *((OWN, "laplace", 20, k) for k in (25, 100)),
    *((OWN, "gaussian", epsilon, 50) for epsilon in ("2/5", 1, 4)),
    *((OTHER, noise, epsilon, None) for noise, epsilon in (("laplace", 1), ("gaussian", 1), ("gaussian", 4))),
    (OTHER, "gaussian", 20, None),
)
WINE = {
    "fixed_acidity": (3, 15),
    "volatile_acidity": (0, 1.5),
    "citric_acid": (0, 1.5),
    "residual_sugar": (0, 30),
    "chlorides": (0, 0.2),
    "free_sulfur_dioxide": (0, 120),
    "total_sulfur_dioxide": (0, 300),
    "density": (0.98, 1.01),
    "ph": (2.5, 4),
    "sulphates": (0, 1.5),
    "alcohol": (8, 15),
}
CANCER = {
    "mean radius": (5, 30),
    "mean texture": (5, 40),
    "mean perimeter": (40, 200),
    "mean smoothness": (0.04, 0.18),
    "mean compactness": (0, 0.4),
    "mean concavity": (0, 0.5),
    "mean symmetry": (0.1, 0.35),
    "mean fractal dimension": (0.04, 0.1),
}


def tables():
    """Return by name the rows and their declared bounds."""
    from sklearn.datasets import load_breast_cancer

    cancer = load_breast_cancer(as_frame=True)
    wine = pd.read_csv(ROOT / "tests/data/wine_white.csv.gz")
    good = np.where(wine["quality"] >= 6, "yes", "no")
    return {
        "breast cancer": (
            cancer.data[list(CANCER)].assign(label=np.where(cancer.target, "yes", "no")),
            CANCER,
        ),
        "white wine": (wine[list(WINE)].assign(label=good), WINE),
    }


def invented(name, rows, bounds, epsilon, seed, **given):
    """Return rows that a method invents from rows."""
    columns = [
        declared(one, Kind.NUMBER, minimum=Fraction(str(low)), maximum=Fraction(str(high)))
        for one, (low, high) in bounds.items()
    ]
    label = declared("label", Kind.CATEGORY, values=("no", "yes"))
    is_marginals = name == OTHER
    values = {"columns": [*bounds, *["label"] * is_marginals], "about_rows": round(len(rows), -2)} | given
    delta = SMALL if given.get("noise") == "gaussian" else Fraction(0)
    if not is_marginals:
        values["label"] = "label"
    request = method(name).make_request(
        {"people": Schema((*columns, label))}, values, budget=Budget(Fraction(epsilon), delta)
    )
    assert not method(name)(request).problems, method(name)(request).problems
    context = Context(seeded_noise(seed), None, Path())
    found = method(name)(request).run({"people": Table(rows)}, context).artefacts[0].frame
    found = found[found["label"].isin(["no", "yes"])]
    return found.assign(**{one: pd.to_numeric(found[one]) for one in bounds})


def areas(learnt, tried, columns):
    """Return the areas of a linear model and of boosted trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    if min(learnt["label"].nunique(), tried["label"].nunique()) < 2:
        return 0.5, 0.5
    middle, spread = learnt[columns].mean(), learnt[columns].std().replace(0, 1)
    x, z = (((one[columns] - middle) / spread).fillna(0) for one in (learnt, tried))
    models = (LogisticRegression(max_iter=1000), HistGradientBoostingClassifier(max_iter=30, random_state=0))
    return tuple(
        roc_auc_score(tried["label"] == "yes", one.fit(x, learnt["label"]).predict_proba(z)[:, 1])
        for one in models
    )


def measured(rows, bounds, name, epsilon, **given):
    """Return the means of areas of both scenarios, and of the distances of relations and single columns."""
    from scipy.stats import ks_2samp

    columns, found = list(bounds), []
    upper = np.triu_indices(len(columns), 1)
    for seed in range(REPETITIONS):
        order = np.random.default_rng(seed).permutation(len(rows))
        parts = [np.split(order, [round(share * len(rows))]) for share in (0.7, 0.8)]
        (first, seeds), (most, rest) = (
            [rows.iloc[part].reset_index(drop=True) for part in both] for both in parts
        )
        one = areas(first, invented(name, seeds, bounds, epsilon, seed, **given), columns)
        made = invented(name, most, bounds, epsilon, 100 + seed, **given)
        relations = np.abs(made[columns].corr().fillna(0) - rest[columns].corr()).to_numpy()[upper].mean()
        known = made[columns].fillna(made[columns].mean())
        apart = np.mean([ks_2samp(known[name], rest[name]).statistic for name in columns])
        found.append((*one, *areas(made, rest, columns), relations, apart))
    return np.mean(found, axis=0)


def main():
    """Print every case."""
    print("| table | method | ε | k | 1: linear | trees | 2: linear | trees | relations | single |")
    print("|---" * 10 + "|")
    for table, (rows, bounds) in tables().items():
        for name, noise, epsilon, k in CASES:
            given = {"noise": noise} | ({"group_rows": k} if k else {})
            cells = " | ".join(f"{one:.3f}" for one in measured(rows, bounds, name, epsilon, **given))
            print(f"| {table} | {name}, {noise} | {epsilon} | {k or ''} | {cells} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
