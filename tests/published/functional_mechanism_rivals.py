"""Functional mechanism against DPME and objective perturbation on real tables: makes the table beside it.

    python tests/published/functional_mechanism_rivals.py FOLDER > functional_mechanism_rivals.json

FOLDER holds wine_white.csv, adult.csv, diabetes_encounters.csv and howell_kung.csv, which is not part of this
project (its licence is not established). All rivals are in idealised arithmetic:
ordinary floating point, ordinary random numbers. Add/remove neighbours, columns scaled to −1 … 1 by bounds
that were written down by hand, predictions kept within the bounds of the target.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.analyses import regression_rivals as rivals

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
HEIGHTS = {"weight": (0, 80), "age": (0, 90), "male": (0, 1), "height": (40, 190)}
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
    yield "heights", scaled(pd.read_csv(folder / "howell_kung.csv", sep=";"), HEIGHTS)


def scaled(frame, bounds):
    """Return the columns of bounds between −1 and 1."""
    return np.stack(
        [
            np.clip((frame[name].to_numpy(float) - (low + high) / 2) * 2 / (high - low), -1, 1)
            for name, (low, high) in bounds.items()
        ],
        axis=1,
    )


WAYS = {
    "functional": rivals.functional,
    "functional as printed": rivals.functional_as_printed,
    "objective": rivals.objective,
    "histogram": rivals.histogram,
    "plain": rivals.plain,
}


def measured(rows, epsilon, way, runs=RUNS):
    """Return the 20th, 50th and 80th percentile of the error over runs of 80/20."""
    found = []
    for run in range(runs):
        chance = np.random.default_rng([run, round(1000 * epsilon)])
        inside = chance.random(len(rows)) < 0.8
        found.append(rivals.error(rows[~inside], WAYS[way](rows[inside], epsilon, 0.0, chance)))
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
