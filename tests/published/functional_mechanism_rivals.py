"""Functional mechanism against DPME and objective perturbation on real tables: makes the table beside it.

    python tests/published/functional_mechanism_rivals.py FOLDER > functional_mechanism_rivals.json

FOLDER holds wine_white.csv, adult.csv and diabetes_encounters.csv. All rivals are in idealised arithmetic:
ordinary floating point, ordinary random numbers. Add/remove neighbours, columns scaled to −1 … 1 by bounds
that were written down by hand, predictions kept within the bounds of the target.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from engine.methods.models.monomials import Monomials, largest_change
from engine.methods.models.quadratic import solve

RUNS, LEVELS = 50, (0.1, 0.4, 0.8, 1.6, 3.2)
WINE = {
    "fixed acidity": (3, 15),
    "volatile acidity": (0, 1.2),
    "citric acid": (0, 1.8),
    "residual sugar": (0, 70),
    "chlorides": (0, 0.4),
    "free sulfur dioxide": (0, 300),
    "total sulfur dioxide": (0, 450),
    "density": (0.98, 1.04),
    "pH": (2.7, 3.9),
    "sulphates": (0, 1.2),
    "alcohol": (8, 15),
    "quality": (0, 10),
}
ADULT = {
    "age": (17, 90),
    "education_num": (1, 16),
    "capital_gain": (0, 100_000),
    "capital_loss": (0, 5000),
    "hours_per_week": (1, 99),
}
STAYS = {
    "num_lab_procedures": (0, 132),
    "num_procedures": (0, 6),
    "num_medications": (0, 81),
    "number_diagnoses": (1, 16),
    "time_in_hospital": (1, 14),
}


def tables(folder):
    """Give the name of each table, and its rows scaled to −1 … 1 with the target last."""
    wine = pd.read_csv(folder / "wine_white.csv", sep=None, engine="python")
    wine.columns = [name.replace("_", " ").lower() for name in wine.columns]
    yield "wine", scaled(wine, {name.lower(): ends for name, ends in WINE.items()})
    yield "adult hours", scaled(pd.read_csv(folder / "adult.csv", skipinitialspace=True), ADULT)
    stays = pd.read_csv(folder / "diabetes_encounters.csv").drop_duplicates("patient_nbr")
    yield "days in hospital", scaled(stays, STAYS)


def scaled(frame, bounds):
    """Return the columns of bounds between −1 and 1."""
    return np.stack(
        [
            np.clip((frame[name].to_numpy(float) - (low + high) / 2) * 2 / (high - low), -1, 1)
            for name, (low, high) in bounds.items()
        ],
        axis=1,
    )


def functional(rows, epsilon, chance, floor=True):
    """Return weights by the functional mechanism, with or without a floor under the eigenvalues."""
    columns = rows.shape[1] - 1
    monomials = Monomials((0,) * columns)
    change = largest_change(numbers=columns, blocks=0, replace_one=False)
    whole = np.c_[np.ones(len(rows)), rows]
    products = (whole.T @ whole)[monomials.places] * monomials.weights
    noisy = products + chance.laplace(scale=change / epsilon, size=products.size)
    gram, cross = monomials.matrix(noisy)
    if not floor:
        return np.linalg.solve(gram, cross)
    return solve(gram, cross, monomials, noise=change / epsilon * math.sqrt(2), penalty=0.0).weights


def raw(rows, epsilon, chance):
    """Return weights by the functional mechanism as printed: no floor."""
    return functional(rows, epsilon, chance, floor=False)


def objective(rows, epsilon, chance):
    """Return weights by objective perturbation of the Huber loss; Chaudhuri and others (2011), add/remove.

    One quarter of ε for the curvature: λ = R²/(e^{ε/4} − 1), the rest for the linear term, of density
    exp(−ε' |b| / (R B)).
    """
    design, target, limit = np.c_[np.ones(len(rows)), rows[:, :-1]], rows[:, -1], 0.5
    size = design.shape[1]
    penalty = size / math.expm1(epsilon / 4)
    way = chance.normal(size=size)
    term = way / np.linalg.norm(way) * chance.gamma(size, math.sqrt(size) * limit / (0.75 * epsilon))
    weights, gram = np.zeros(size), np.linalg.inv(design.T @ design + penalty * np.eye(size))
    for _ in range(200):
        left = np.clip(target - design @ weights, -limit, limit)
        weights = weights + gram @ (design.T @ left - penalty * weights - term)
    return weights


def histogram(rows, epsilon, chance):
    """Return weights from a noisy histogram of all columns (DPME, Lei 2011): least squares on its cells."""
    columns = rows.shape[1]
    side = max(2, int((len(rows) / math.sqrt(math.log(len(rows)))) ** (1 / (columns + 2))))
    places = np.minimum(((rows + 1) / 2 * side).astype(int), side - 1)
    counts = np.bincount(places @ side ** np.arange(columns), minlength=side**columns).astype(float)
    counts = np.maximum(counts + chance.laplace(scale=1 / epsilon, size=counts.size), 0)
    cells = np.arange(counts.size)[:, None] // side ** np.arange(columns) % side
    middles = (cells + 0.5) * 2 / side - 1
    design = np.c_[np.ones(len(cells)), middles[:, :-1]]
    gram = design.T @ (design * counts[:, None]) + 1e-6 * np.eye(columns)
    return np.linalg.solve(gram, design.T @ (counts * middles[:, -1]))


def plain(rows, epsilon, chance):
    """Return the weights of least squares, without noise."""
    return np.linalg.lstsq(np.c_[np.ones(len(rows)), rows[:, :-1]], rows[:, -1], rcond=None)[0]


WAYS = {
    "functional": functional,
    "functional as printed": raw,
    "objective": objective,
    "histogram": histogram,
    "plain": plain,
}


def error(rows, weights):
    """Return the root mean square error of predictions between −1 and 1."""
    found = np.clip(np.c_[np.ones(len(rows)), rows[:, :-1]] @ weights, -1, 1)
    return float(np.sqrt(np.mean((found - rows[:, -1]) ** 2)))


def measured(rows, epsilon, way, runs=RUNS):
    """Return the 20th, 50th and 80th percentile of the error over runs of 80/20."""
    found = []
    for run in range(runs):
        chance = np.random.default_rng([run, round(1000 * epsilon)])
        inside = chance.random(len(rows)) < 0.8
        found.append(error(rows[~inside], WAYS[way](rows[inside], epsilon, chance)))
    return [round(float(one), 4) for one in np.percentile(found, [20, 50, 80])]


def main():
    """Print the table."""
    table = {
        name: {way: {str(level): measured(rows, level, way) for level in LEVELS} for way in WAYS}
        for name, rows in tables(Path(sys.argv[1]))
    }
    print(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
