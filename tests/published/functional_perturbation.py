"""The four experiments of functional perturbation on the tables of the source: `functional_perturbation.md`.

    python tests/published/functional_perturbation.py FOLDER

FOLDER holds howell_kung.csv, which is not part of this project (its licence is not established); iris comes
with scikit-learn. A. Dandekar, Privacy risk of releasing data and models, 2019, chapter 7: what stands beside
ours are its settings and what it says of its curves.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.analyses.functional_perturbation import WAYS, Setting, classes, density, histogram, regression

LEVELS = (0.4, 1.0, 3.0)
Experiment = Callable[[Setting, np.random.Generator], dict[str, float]]


def iris(setting: Setting, chance: np.random.Generator) -> dict[str, float]:
    """Versicolor and virginica: 75 flowers are read, 25 are asked about."""
    from sklearn.datasets import load_iris

    found = load_iris()
    kept = found.target > 0
    return classes(setting, chance, (found.data[kept], np.where(found.target[kept] == 2, 1.0, -1.0)))


def kung(folder: Path) -> Experiment:
    """Return the heights of the 187 adult women by age: 150 are read, the others are asked about."""
    frame = pd.read_csv(folder / "howell_kung.csv", sep=";").query("male == 0 and age >= 18")
    women = frame["age"].to_numpy(float), frame["height"].to_numpy(float)
    return lambda setting, chance: regression(setting, chance, women)


def measured(experiment: Experiment, setting: Setting, runs: int, seed: int = 1) -> dict[str, float]:
    """Return the mean error of every way."""
    chance = np.random.default_rng(seed)
    drawn = [experiment(setting, chance) for _ in range(runs)]
    return {way: float(np.mean([one[way] for one in drawn])) for way in WAYS}


def main() -> None:
    """Print the table."""
    cases: list[tuple[str, Experiment, int, int, tuple[float, ...]]] = [
        ("histogram, N(2, 1.3)", histogram, 5000, 100, LEVELS[:1]),
        ("kernel density, N(2, 1.3)", density, 5000, 100, LEVELS[:1]),
        ("kernel density, N(2, 1.3)", density, 500, 100, LEVELS[:1]),
        ("!Kung heights, cm", kung(Path(sys.argv[1])), 150, 37, LEVELS),
        ("iris, share wrong", iris, 75, 25, LEVELS),
    ]
    print("| experiment | rows | ε |", " | ".join(WAYS), "|")
    print("|---|---|---|" + "---|" * len(WAYS))
    for name, experiment, rows, asked, levels in cases:
        for level in levels:
            found = measured(experiment, Setting(level, 0.001, asked, rows), 60)
            print(f"| {name} | {rows} | {level:g} |", " | ".join(f"{found[way]:.3g}" for way in WAYS), "|")


if __name__ == "__main__":
    main()
